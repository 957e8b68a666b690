/// @file
/// The detector "rays" of the event engine, part of the laboratory (rbRegisterLaboratory): predicts
/// the contact of a pair by rays cast from the surfaces along the motion (lab_rays.h). It samples,
/// so contact is found a little late, and what passes between rays is missed. Lasting contact, and
/// pairs with a plane or a growing body, are handled exactly.
#ifndef RATTLEBACK_LAB_RAY_DETECTOR_H
#define RATTLEBACK_LAB_RAY_DETECTOR_H

#include <rattleback/event.h>
#include <rattleback/lab_rays.h>
#include <rattleback/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Whether the detector "rays" is selected.
RB_API bool rbEventSettings_IsByRays(const rbEventSettings* settings);
/// Sets the ray settings of the detector "rays". They are copied; rbCreateWorld validates them if
/// that detector is selected.
RB_API void rbEventSettings_SetRays(rbEventSettings* settings, const rbRaySettings* rays);
/// Ray settings of the detector "rays"; the defaults if none were set.
RB_API rbRaySettings rbEventSettings_GetRays(const rbEventSettings* settings);

/// Work of the detector since the world was created.
typedef struct rbRayDetectorStatistics {
    int64_t contactsSampled;  ///< collisions with point and normal from a ray
    int64_t contactsMissed;   ///< overlaps that no ray predicted; handled exactly from then on
    double sampledOverlapMax; ///< m, deepest overlap when a ray declared contact
    double sampledOverlapSum; ///< m, sum of the overlaps of all sampled contacts
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
/// Casts the rays of the pair that touches next again from the current poses and passes each one to
/// trace. For the event engine with the detector "rays". Changes nothing. Returns whether a pair is
/// within reach; predicted (may be NULL) receives the prediction.
RB_API bool rbWorld_TraceRays(const rbWorld* world, rbRayTraceFn* trace, void* context,
                              rbPredictedContact* predicted);

#ifdef __cplusplus
}
#endif

#endif
