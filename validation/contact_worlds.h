// Bodies that touch, for the cases and tests of the step engine, through the public interface only.
//
// z is up. Contacts of this engine act `shell` outside the surfaces: bodies that must be at rest
// from the start are that far apart.
#pragma once

#include <rattleback/contact.h>
#include <rattleback/world.h>

#define RB_PILE_BODIES_MAX 256

// A world of the step engine with the ids of its content. The first failure is kept in error; after
// it all calls do nothing.
typedef struct rbPile {
    rbWorld* world;
    double step;  // s
    double shell; // m
    rbBodyId bodies[RB_PILE_BODIES_MAX];
    rbVec3 starts[RB_PILE_BODIES_MAX]; // m, centers, see rbPile_NoteStart
    rbQuat turns[RB_PILE_BODIES_MAX];
    int count;
    int64_t unmet; // advances that missed a tolerance
    rbError error;
} rbPile;

// Contacts are on, with default settings; change them, then create the world.
rbWorldDef rbPileWorldDef(double step);
rbPile rbMakePile(const rbWorldDef* def);
void rbPile_Free(rbPile* pile);

// A body with one shape. Zero fields: at the origin, at rest, density 1000, no bounce, smooth.
typedef struct rbPilePlan {
    rbGeometry* geometry; // ownership is transferred
    bool isStatic;
    double mass; // kg, distributed uniformly over the shape; 0: from density 1000
    rbVec3 position;
    rbQuat orientation; // all zero: identity
    rbVec3 velocity;
    rbVec3 spin;
    double friction;
    double restitution;
    int kind; // of material
} rbPilePlan;

// Index of the body; -1 when it was rejected.
int rbPile_Add(rbPile* pile, const rbPilePlan* plan);
// The half space below a plane through the origin, tilted by an angle about y: downhill is +x.
int rbPile_AddSlope(rbPile* pile, double angle, double friction, double restitution);
// A position over that slope: x downhill, y across, height above it, from the origin.
rbVec3 rbGetSlopePlace(double angle, double x, double y, double height);
rbQuat rbGetSlopeTurn(double angle);
// A box of half extents whose lower side is at a height.
int rbPile_AddBox(rbPile* pile, rbVec3 halfExtents, rbVec3 footing, double friction, double mass);

// Advances to the k-th step. False when the engine rejected the world or stopped; a missed
// tolerance is only counted.
bool rbPile_Advance(rbPile* pile, int64_t k);
rbBodyState rbPile_GetState(const rbPile* pile, int index);

// Records the centers and orientations from which displacements are measured.
void rbPile_NoteStart(rbPile* pile);
// Largest displacement since then of any point within a radius of a center, over all dynamic
// bodies; m.
double rbPile_GetDisplacement(const rbPile* pile, double radius);
// The largest speed of a center, or of a point rotating at a radius, over all dynamic bodies; m/s.
double rbPile_GetSpeed(const rbPile* pile, double radius);

// ------------------------------------------------------------------------------------------ piles

// Boxes stacked on each other, 1 m cubes of 1000 kg, friction 0.5.
rbPile rbMakeColumn(const rbWorldDef* def, int height);
// A flat pyramid of 1 m cubes, rows of `rows` to 1, 1.05 m apart.
rbPile rbMakePyramid(const rbWorldDef* def, int rows);
// A cube of 1 m on a slope.
rbPile rbMakeSlopeBlock(const rbWorldDef* def, double angle, double friction);
// A half ring of stones, 1 m wide, between two radii, on the ground.
rbPile rbMakeArch(const rbWorldDef* def, int stones, double friction);
// Cards of 88 x 63 x 0.3 mm and 1.8 g in three stories of 3, 2 and 1 pairs that lean 15 degrees;
// between the stories long cards lie flat.
rbPile rbMakeCardHouse(const rbWorldDef* def, double friction);
// A cube of 1 m and `heavy` kg on top of one of `light` kg.
rbPile rbMakeHeavyOnLight(const rbWorldDef* def, double heavy, double light);

#define RB_CRADLE_BALLS 5
#define RB_CRADLE_ROD 5.0 // m, hinge to center; the source does not state it

// balls of 1 m and 1 kg, e = 1, side by side, each rotating about a hinge above it that is
// fixed to the world; the first `raised` ones are raised by an angle. Lowest centers are at z = 0.
rbPile rbMakeCradle(const rbWorldDef* def, int raised, double angle);
