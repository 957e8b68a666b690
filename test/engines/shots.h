// Two bodies shot at each other: their properties, their flights, and their distance.
//
// The flights before the first event are read from a twin world without collisions; they are the
// reference for the event engine.
#pragma once

#include "base/core/random.h"

#include <rattleback/rattleback.h>

typedef enum ShotShape {
    SHOT_SPHERE,
    SHOT_ECCENTRIC, // a sphere whose center of mass is elsewhere
    SHOT_BOX,
    SHOT_CAPSULE,
    SHOT_CYLINDER,
    SHOT_CONE,
    SHOT_HULL,
    SHOT_ELLIPSOID,
    SHOT_L_MESH,
    SHOT_TORUS,
    SHOT_COMPOUND,
    SHOT_PLATE, // 1e-4 as thick as wide
    SHOT_ROD,   // spins up to 1000 rad/s
    SHOT_PLANE, // target only
    SHOT_SHAPE_COUNT
} ShotShape;

const char* shotShapeName(ShotShape shape);

typedef enum ShotTarget {
    TARGET_DYNAMIC,
    TARGET_STATIC,
    TARGET_LINE,  // kinematic
    TARGET_CURVE, // kinematic
    TARGET_COUNT
} ShotTarget;

#define SHOT_VARIANTS 6

// Geometries of every kind, shared by the worlds of all shots.
typedef struct ShotPool {
    rbGeometry* geometries[SHOT_SHAPE_COUNT][SHOT_VARIANTS];
    void* scratch;
} ShotPool;

void makeShotPool(ShotPool* pool, rbRandom* random);
void freeShotPool(ShotPool* pool);

// One body of a shot.
typedef struct ShotBody {
    ShotShape shape;
    rbGeometry* geometry; // borrowed
    rbBodyType type;
    rbVec3 position;
    rbQuat orientation;
    rbVec3 velocity;
    rbVec3 spin;
    rbPathType pathType;
    rbVec3 points[3]; // of a path
    rbMassProperties mass;
    bool hasMass;
} ShotBody;

typedef struct Shot {
    ShotBody bodies[2]; // target, projectile
    ShotTarget target;
    double speed;    // m/s, of the projectile against the target
    double duration; // s
    rbVec3 gravity;
    double restitution;
    double friction;
    bool isGrazing;
    double lipschitz;    // m/s: bound of the rate of the distance
    rbImpactOrder order; // sequential
} Shot;

// Makes a random shot; the bodies may overlap at the start or start too near: see isShotUsable.
void drawShot(ShotPool* pool, rbRandom* random, ShotShape projectile, ShotShape target,
              bool isGrazing, Shot* shot);

rbWorld* makeShotWorld(const Shot* shot, rbEngineType engine, rbBodyId ids[2]);

// Signed distance of the two bodies at a time, from the flights in the world.
double measureShot(ShotPool* pool, const Shot* shot, const rbWorld* world, const rbBodyId ids[2],
                   double time);
