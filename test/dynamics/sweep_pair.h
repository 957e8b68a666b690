// Two bodies on known motions: the truth for testing the bounds of their time of contact.
#pragma once

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/math/quaternion.h"
#include "dynamics/motion/flight.h"
#include "dynamics/sweep/sweep.h"
#include "lab/math/random3.h"
#include "rb_test.h"
#include "test/collision/shape_samples.h"

#include <rattleback/collision.h>

#include <math.h>
#include <stdlib.h>

typedef struct Mover {
    rbGeometry* geometry;
    rbTransform local; // of the geometry in the frame of the principal axes
    double reach;      // m, of the core about the center of mass
    double size;       // m, largest distance of a point of the body from its center
    bool isFree;       // in free flight; otherwise moves and rotates steadily
    rbMotionBody body;
    rbFlight flight;
    rbMotionState start;
    double rounding, growth;
} Mover;

static inline rbMotionState stateAt(const Mover* mover, double t)
{
    rbMotionState state = mover->start;
    if (mover->isFree) {
        rbMotionCounts counts = {0};
        rbFlight_Evaluate(&mover->flight, &mover->body, t, &state, &counts);
        return state;
    }
    rbVec3 spin = rbRotate(mover->start.orientation, mover->start.spin);
    state.position = rbAddScaled(state.position, t, state.velocity);
    state.orientation = rbMulQuat(rbQuat_Exp(rbScale(t, spin)), state.orientation);
    return state;
}

static inline rbTransform poseAt(const Mover* mover, double t)
{
    rbMotionState state = stateAt(mover, t);
    return rbMulTransforms((rbTransform){state.position, state.orientation}, mover->local);
}

// The input of the bounds for a mover at a time.
static inline rbSweepBody sweepBodyAt(const Mover* mover, double t)
{
    rbMotionState state = stateAt(mover, t);
    rbSweepBody body = {.pose = poseAt(mover, t),
                        .geometry = mover->geometry,
                        .radius = mover->reach,
                        .rounding = mover->rounding + mover->growth * t,
                        .growth = mover->growth};
    body.motion.center = state.position;
    body.motion.velocity = state.velocity;
    body.motion.horizon = INFINITY;
    if (mover->isFree) {
        body.motion.acceleration = mover->body.acceleration;
        rbSweepMotion_SetFreeSpin(&body.motion, mover->body.moments, state.orientation, state.spin);
    } else {
        rbSweepMotion_SetSteadySpin(&body.motion, rbRotate(state.orientation, state.spin));
    }
    return body;
}

// Call this after start, body and geometry are set.
static inline void startMover(Mover* mover)
{
    mover->reach = rbGetCoreReach(mover->geometry, rbInvTransformPoint(mover->local, RB_VEC3_ZERO));
    rbVec3 center = rbInvTransformPoint(mover->local, RB_VEC3_ZERO);
    mover->size = rbGeometry_IsBounded(mover->geometry)
                      ? rbGeometry_GetRadius(mover->geometry, center) + mover->rounding
                      : 0.0;
    if (mover->isFree) {
        rbFlight_Start(&mover->flight, &mover->body, 0.0, &mover->start);
    }
}

typedef struct Truth {
    void* scratch;
    long long count; // of measurements
} Truth;

static inline rbSeparation measureAt(Truth* truth, const Mover* a, const Mover* b, double t)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    rbTransform poseA = poseAt(a, t);
    input.geometryA = a->geometry;
    input.geometryB = b->geometry;
    input.transformBtoA = rbInvMulTransforms(poseA, poseAt(b, t));
    input.radiusA = fmax(a->rounding + a->growth * t, 0.0);
    input.radiusB = fmax(b->rounding + b->growth * t, 0.0);
    input.isDepthUnwanted = true;
    rbSeparation separation;
    rbError error = {0};
    assert_int_equal(rbMeasureSeparation(&input, NULL, truth->scratch, &separation, &error),
                     RB_STATUS_OK);
    separation.normal = rbRotate(poseA.q, separation.normal); // to the world
    ++truth->count;
    return separation;
}
