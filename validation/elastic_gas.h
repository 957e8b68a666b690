// Rigid bodies in a cube that bounce off each other and off six walls without friction and without
// loss: the driver of the shadow test. No engine: explicit steps and one impulse per
// contact.
#pragma once

#include "base/core/memory.h"
#include "base/core/random.h"

#include <rattleback/shape.h>

typedef struct rbGasBody {
    const rbGeometry* geometry; // borrowed
    rbTransform shapeToBody;    // the body frame is the principal frame at the center of mass
    double radius;              // m, of the bounding sphere of the shape about the center
    double inverseMass;         // 1/kg
    rbVec3 inverseInertia;      // 1/(kg m^2), principal
    rbTransform pose;           // of the body frame in the world
    rbVec3 velocity;            // m/s
    rbVec3 spin;                // angular momentum in the world frame, kg m^2/s
} rbGasBody;

typedef struct rbGasPair {
    int a, b; // bodies; b is -1 - wall for a body at a wall
} rbGasPair;

#define RB_GAS_WALLS 6

typedef struct rbGas {
    rbGasBody* bodies;
    int count;
    double half;  // m, half the edge of the cube about the origin
    double reach; // bodies are candidates within this factor of their radii
    rbGeometry* walls[RB_GAS_WALLS];
    RB_ARRAY(rbGasPair) pairs; // candidates of the last search
    RB_ARRAY(int) cells;       // first body of a cell, -1 if none
    RB_ARRAY(int) next;        // next body of the same cell
} rbGas;

typedef struct rbGasDef {
    const rbGeometry* const* shapes; // assigned to the bodies cyclically
    int shapeCount;
    int count;
    double fraction; // of the cube filled by the bounding spheres of the bodies; below 0.3
    double reach;    // >= 1
    double speed;    // m/s, typical
} rbGasDef;

// Places the bodies at random so that no two can touch.
rbGas rbCreateGas(const rbGasDef* def, rbRandom* random);
void rbDestroyGas(rbGas* gas);

// Moves all bodies freely by a step.
void rbGas_Advance(rbGas* gas, double dt);
// Fills pairs with all that can touch, by bounding spheres on a grid.
void rbGas_FindPairs(rbGas* gas);
// Reflects the approach of two bodies at a point along a unit normal from a to b; NULL for a wall.
// Separating bodies are not changed.
void rbBounce(rbGasBody* a, rbGasBody* b, rbVec3 point, rbVec3 normal);

// Pose of the shape in the world.
rbTransform rbGasBody_GetShapePose(const rbGasBody* body);
double rbGas_GetEnergy(const rbGas* gas);
