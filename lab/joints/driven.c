// Accelerations of bodies that are not dynamic, from their velocities.
#include "lab/joints/driven.h"

#include "base/core/memory.h"

#include <string.h>

static bool isDriven(const rbMechBody* body)
{
    return !body->isDynamic && body->index >= 0;
}

void rbDriven_Make(rbDriven* driven, const rbMechanism* mechanism)
{
    memset(driven, 0, sizeof *driven);
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        driven->count += isDriven(&mechanism->bodies[i]) ? 1 : 0;
    }
    driven->bodies = rbAllocZero((size_t)driven->count, sizeof *driven->bodies);
    int count = 0;
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        if (isDriven(&mechanism->bodies[i])) {
            driven->bodies[count++].body = i;
        }
    }
}

void rbDriven_Free(rbDriven* driven)
{
    rbFree(driven->bodies, (size_t)driven->count * sizeof *driven->bodies);
    memset(driven, 0, sizeof *driven);
}

void rbDriven_Start(rbDriven* driven, rbMechanism* mechanism, double time, double h,
                    rbMechForceFn* forces, void* context)
{
    RB_ASSERT(h > 0.0);
    driven->time = time;
    driven->h = h;
    // Backward, so that the last call leaves the bodies at the start.
    for (int k = driven->count > 0 ? 2 : -1; k >= 0; --k) {
        forces(context, mechanism, time + 0.5 * k * h);
        for (int i = 0; i < driven->count; ++i) {
            rbDrivenBody* entry = &driven->bodies[i];
            const rbMechBody* body = &mechanism->bodies[entry->body];
            entry->velocity[k] = body->velocity;
            entry->angularVelocity[k] = body->angularVelocity;
        }
    }
}

// Derivative of the parabola through v[0], v[1], v[2] at 0, 1/2 and 1.
static rbVec3 slope(const rbVec3* v, double at)
{
    rbVec3 first = rbSub(rbScale(4.0, v[1]), rbAdd(rbScale(3.0, v[0]), v[2]));
    rbVec3 bend = rbSub(rbAdd(v[0], v[2]), rbScale(2.0, v[1]));
    return rbAddScaled(first, 4.0 * at, bend);
}

void rbDriven_GetAcceleration(const rbDriven* driven, int index, double time, rbVec3* linear,
                              rbVec3* angular)
{
    RB_ASSERT(index >= 0 && index < driven->count);
    const rbDrivenBody* body = &driven->bodies[index];
    double at = (time - driven->time) / driven->h;
    *linear = rbScale(1.0 / driven->h, slope(body->velocity, at));
    *angular = rbScale(1.0 / driven->h, slope(body->angularVelocity, at));
}
