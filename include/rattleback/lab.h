/// @file
/// The laboratory: methods from the literature kept for comparison and teaching, in a separate
/// library (component lab) on top of the core.
///
/// Once registered, its methods can be selected by name wherever the core accepts one: in scenes,
/// settings and program options. Everyday simulation needs none of them; only large gases of the
/// event engine gain ("hash" below).
#ifndef RATTLEBACK_LAB_H
#define RATTLEBACK_LAB_H

#include <rattleback/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Adds all methods of the laboratory to the tables of the core; the Find function of a table gives
/// their numbers:
/// - pair methods "mpr", fast detection by portals, and "features", a walk to the closest features
///   of boxes, hulls, spheres and capsules. In overlap their depths, normals and points are
///   estimates; the bounds hold;
/// - broad phases "naive", every box against every other, "hash", by cells, "sweep-1d" and
///   "sweep-2d", by sorted ends, and "coherent-hash", by counters of shared cells. RB_BROAD_AUTO
///   then picks "naive" for a few dozen boxes and "hash" for many of similar size, which makes
///   swarms of many bodies up to a third faster;
/// - the detector "rays" of the event engine (lab_ray_detector.h; rbDetector_Find);
/// - its loops "pairs", a heap of pairs and a global interval (L-79, L-86), and "all-pairs", the
///   same for all pairs, near or not (rbEventLoop_Find): an event visits all bodies;
/// - the step methods and the solver of lab_joints.h and the contact method of lab_contact.h;
/// - rbContactSettings.isReacting, contacts with the reaction of joints.
///
/// Call it from one thread before the first world is created; further calls change nothing. Does
/// not allocate. Fails, with a message, only if rows registered earlier have one of its names or
/// fill a table. error may be NULL.
RB_API rbStatus rbRegisterLaboratory(rbError* error);

#ifdef __cplusplus
}
#endif

#endif
