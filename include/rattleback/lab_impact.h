/// @file
/// The sliding phase of an impact integrated over normal velocity and normal work (L-95), for
/// comparison with the core, which uses the normal impulse: results agree to about 1e-10.
#ifndef RATTLEBACK_LAB_IMPACT_H
#define RATTLEBACK_LAB_IMPACT_H

#include <rattleback/impact.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The method for rbImpactInput.slideMethod: over u.z in compression and the normal work in
/// restitution, with bridging; it falls back to p.z where these do not grow. Takes about six times
/// as long. Never NULL; lives as long as the program.
RB_API const rbSlideMethod* rbGetSlideByVelocity(void);

#ifdef __cplusplus
}
#endif

#endif
