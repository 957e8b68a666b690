// Mechanisms for the cases and tests of the step engine, built through the public interface only.
#pragma once

#include <rattleback/world.h>

#define RB_MECHANISM_BODIES_MAX 96
#define RB_MECHANISM_JOINTS_MAX 128

// A world of the step engine with the ids of its content. The first failure is kept in error; after
// it all calls do nothing.
typedef struct rbMechanism {
    rbWorld* world;
    rbBodyId bodies[RB_MECHANISM_BODIES_MAX];
    rbJointId joints[RB_MECHANISM_JOINTS_MAX];
    int bodyCount;
    int jointCount;
    rbError error;
} rbMechanism;

// Default settings of the engine with a step, an order and a tolerance of 1e-12.
rbStepSettings rbMakeStepSettings(double step, int order);
rbMechanism rbMakeMechanism(rbStepSettings settings, rbVec3 gravity);
void rbMechanism_Free(rbMechanism* mechanism);
// Advances to a time. False when the engine rejected the world, failed or missed a tolerance.
bool rbMechanism_Advance(rbMechanism* mechanism, double time);

// A body by its mass; the origin of its frame is the center of mass.
typedef struct rbMassPlan {
    double mass;
    rbVec3 moments; // along the axes of its frame
    rbVec3 center;
    rbQuat orientation; // all zero: identity
    rbVec3 velocity;
    rbVec3 spin; // world
} rbMassPlan;

// Index of the body; -1 means the world below.
int rbMechanism_AddBody(rbMechanism* mechanism, const rbMassPlan* plan);
// A rod between two points with the moments of a uniform one, rotating about its first end.
typedef struct rbRodPlan {
    double mass;
    double transverse; // kg m^2
    double axial;      // kg m^2
    rbVec3 from;       // its frame has x along the rod
    rbVec3 to;
    rbVec3 velocity; // of the center
    rbVec3 spin;
} rbRodPlan;

int rbMechanism_AddRod(rbMechanism* mechanism, const rbRodPlan* plan);
// A joint of a type at a world point along a world axis. Index of the joint.
int rbMechanism_AddJoint(rbMechanism* mechanism, rbJointType type, int bodyA, int bodyB,
                         rbVec3 point, rbVec3 axis);
int rbMechanism_AddHinge(rbMechanism* mechanism, int bodyA, int bodyB, rbVec3 point, rbVec3 axis);
int rbMechanism_Add(rbMechanism* mechanism, const rbJointDef* def);
// Null for -1.
rbBodyId rbMechanism_GetBody(const rbMechanism* mechanism, int index);
rbBodyState rbMechanism_GetState(const rbMechanism* mechanism, int index);
// The current position of a point that is fixed to a body at `start` in its frame.
rbVec3 rbMechanism_GetPoint(const rbMechanism* mechanism, int index, rbVec3 local);
// Largest current errors over all joints, measured by the joints themselves.
void rbMechanism_GetGaps(const rbMechanism* mechanism, double* position, double* angle);

// Point masses of 1 kg suspended by distance joints of 1 m from the origin, at angles from straight
// down (toward +x), at rest; gravity 9.81 along -y.
rbMechanism rbMakePendulumWorld(rbStepSettings settings, const double* angles, int count);
// 2 N + 1 rods with hinges; bodies: cranks 0..N, then couplers. Cranks upright, B0 at +1 m/s.
rbMechanism rbMakeFourBarWorld(rbStepSettings settings, int loops);
// Bodies K1..K7 of Andrews' squeezer with ten hinges, at the published start.
rbMechanism rbMakeAndrewsWorld(rbStepSettings settings);
// The five rods; rod i goes from point i to point i + 1.
rbMechanism rbMakeBricardWorld(rbStepSettings settings);
// Bodies: spindle, two balls on their arms, two links, sleeve; at the start of the reference. The
// torque acts as a constant force, or, when isDriven, a motor holds the rate.
rbMechanism rbMakeGovernorWorld(rbStepSettings settings, bool isDriven);
// Ten links of 1 m and 1 kg from the origin along a direction, and a ball of a mass; gravity -z.
rbMechanism rbMakeHeavyChainWorld(rbStepSettings settings, rbVec3 direction, double mass);

// Five suspended links, steps of 10 ms of order 2, 0.15 m apart at every joint. The limit on the
// impulses is ten times the weight of the chain times a step; closing immediately would need 15 N s
// for one link.
rbMechanism rbMakeTornChain(void);

// A symmetric top in regular precession about z, at a tilt in the x-z plane at the start.
typedef struct rbTopPlan {
    double mass;
    double length;    // m, pivot to center
    double i1;        // kg m^2, about the pivot
    double i3;        // kg m^2
    double spin;      // rad/s, about its axis: w3
    double tilt;      // rad
    bool isInGimbals; // otherwise on a ball joint
} rbTopPlan;

// The two rates of regular precession, slow first: solutions of
//   (i1 + b - c) cos(tilt) W^2 - i3 w3 W + m g l = 0, b and c of the inner gimbal ring.
void rbGetPrecessionRates(const rbTopPlan* plan, double rates[2]);
rbMechanism rbMakeTopWorld(rbStepSettings settings, const rbTopPlan* plan, double precession);
// The orientation of the top (its frame has z along its axis) after a time.
rbQuat rbGetPrecession(const rbTopPlan* plan, double precession, double time);

// Quaternion of a rotation about an axis, and the angle between two orientations.
rbQuat rbMakeRotation(rbVec3 axis, double angle);
double rbGetTurnBetween(rbQuat a, rbQuat b);
