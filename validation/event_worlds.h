// Small worlds for the cases and tests of the event engine.
#pragma once

#include <rattleback/world.h>

// A body with one shape. Zero fields: at the origin, at rest, density 1000, restitution 0, smooth.
typedef struct rbBodyPlan {
    const char* name;
    rbGeometry* geometry; // ownership is transferred
    bool isStatic;
    rbVec3 position;
    rbQuat orientation; // all zero: identity
    rbVec3 velocity;
    rbVec3 spin;
    double restitution;
    double friction;
} rbBodyPlan;

// A world of the event engine with its default settings; change them, then create it.
rbWorldDef rbEventWorldDef(double gravity);
rbWorld* rbMakeEventWorld(const rbWorldDef* def);

// Null id when the library rejects it, which is a bug in the caller.
rbBodyId rbAddPlanned(rbWorld* world, const rbBodyPlan* plan);
// The half space below a plane through the origin, tilted by an angle about -y: downhill is +x.
rbBodyId rbAddSlope(rbWorld* world, double angle, double restitution, double friction);
rbBodyId rbAddBall(rbWorld* world, const char* name, double radius, rbVec3 position,
                   rbVec3 velocity);
// The frame of a slope: x downhill, z along its normal.
rbQuat rbGetSlopeFrame(double angle);

// Journal totals for one kind of event.
typedef struct rbEventSum {
    int count;
    rbVec3 impulse;       // N s, on the second body
    double energyGain;    // J, of the events that raised the energy
    double raiseMax;      // J, the largest of these
    double firstTime;     // s
    double lastTime;      // s
    double approachSpeed; // m/s, of the last
} rbEventSum;

rbEventSum rbSumEvents(const rbWorld* world, rbEventKind kind);
