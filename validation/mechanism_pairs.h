// Two bodies and one joint of any type, in generic positions: for orders, iterations and momentum.
#pragma once

#include "mechanism_worlds.h"

// The load in addition to the joint.
typedef enum rbPairLoad {
    RB_PAIR_PLAIN,
    RB_PAIR_SPRING,         // between two points
    RB_PAIR_SPRING_DAMPED,  //
    RB_PAIR_FREEDOM,        // spring on the freedom of the joint
    RB_PAIR_FREEDOM_DAMPED, //
    RB_PAIR_TORQUE,         // motor at its limit: a constant torque or force
    RB_PAIR_VELOCITY,       // motor that holds a speed
    RB_PAIR_PID,            // position motor, sampled once per step
    RB_PAIR_FRICTION,       // dry friction in a freedom that keeps sliding
    RB_PAIR_STICKING,       // dry friction that stops it and releases it
    RB_PAIR_LOAD_COUNT
} rbPairLoad;

extern const char* const rbPairLoadNames[RB_PAIR_LOAD_COUNT];

typedef struct rbPairPlan {
    rbJointType type;
    rbPairLoad load;
    bool isFree; // A does not hang from a ball joint, no gravity
} rbPairPlan;

// The numbers of a pair, for the world and for its reference.
typedef struct rbPairStart {
    rbMassPlan bodies[2];
    rbVec3 gravity;
    rbVec3 point;  // m, anchor of the joint
    rbVec3 offset; // m, from there to B's anchor, of the distance types
    rbVec3 axis;   // of the joint, not unit
    rbVec3 other;  // second axis of double rotation and universal joints, not unit
    rbFreedomDef freedom;
    rbVec3 springs[2];      // m, anchors in the frames of the bodies
    double springLength;    // m, at rest
    double springStiffness; // 0: none
    double springDamping;
} rbPairStart;

rbPairStart rbGetPairStart(const rbPairPlan* plan);

// Bodies 0 (A) and 1 (B); the joint of the type is the last one. Everything rotates at one rate at
// the start, so that velocities are consistent with any joint; where the load involves motion
// (friction, held speed) B also rotates about the axis of the joint or, if prismatic, slides along
// it.
rbMechanism rbMakePairWorld(rbStepSettings settings, const rbPairPlan* plan);
// Adds a joint of a type between bodies 0 and 1 of a mechanism at their current poses.
void rbAddPairJoint(rbMechanism* mechanism, const rbPairPlan* plan);
