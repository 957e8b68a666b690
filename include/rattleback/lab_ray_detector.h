/// @file
/// The detector "rays" of the event engine, of the laboratory (rbRegisterLaboratory): contact of a
/// pair is predicted by rays shot from the surfaces along the motion (lab_rays.h). It is sampled,
/// so contact is found a little late and what passes between rays is missed. Pairs with a plane or
/// with a body that grows, and contact that lasts, are exact.
#ifndef RATTLEBACK_LAB_RAY_DETECTOR_H
#define RATTLEBACK_LAB_RAY_DETECTOR_H

#include <rattleback/event.h>
#include <rattleback/lab_rays.h>
#include <rattleback/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Whether the detector "rays" is chosen.
RB_API bool rbEventSettings_IsByRays(const rbEventSettings* settings);
/// Sets how the detector "rays" shoots. The settings are copied; they are validated by
/// rbCreateWorld if that detector is chosen.
RB_API void rbEventSettings_SetRays(rbEventSettings* settings, const rbRaySettings* rays);
/// How the detector "rays" shoots; the defaults if nothing was set.
RB_API rbRaySettings rbEventSettings_GetRays(const rbEventSettings* settings);

/// What the detector has done since the world was made.
typedef struct rbRayDetectorStatistics {
    int64_t contactsSampled;  ///< of the collisions: point and normal from a ray
    int64_t contactsMissed;   ///< overlaps that no ray predicted; what follows is exact
    double sampledOverlapMax; ///< m, deepest overlap when a ray declared contact
    double sampledOverlapSum; ///< m, of all sampled contacts: the sum of distances too far
    rbRayCounts rays;         ///< work of the predictions
} rbRayDetectorStatistics;

/// All zero for a world with another engine or detector.
RB_API rbRayDetectorStatistics rbWorld_GetRayStatistics(const rbWorld* world);

/// When and where two bodies will touch, as predicted by rays.
typedef struct rbPredictedContact {
    rbBodyId bodyA; ///< first body
    rbBodyId bodyB; ///< second body
    bool isHit;     ///< they will touch
    double time;    ///< s, of contact
    rbVec3 point;   ///< m
    rbVec3 normal;  ///< unit, from A to B
} rbPredictedContact;
/// Casts the rays of the pair that touches next again from the present poses and passes each one to
/// trace. For the event engine with the detector "rays". Changes nothing. Returns whether a pair is
/// within their reach; predicted (may be NULL) is their prediction.
RB_API bool rbWorld_TraceRays(const rbWorld* world, rbRayTraceFn* trace, void* context,
                              rbPredictedContact* predicted);

#ifdef __cplusplus
}
#endif

#endif
