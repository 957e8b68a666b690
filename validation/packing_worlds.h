// Bodies poured into a box with a square base, and measurements of the result: fill fraction,
// overlaps, contacts (G-43).
//
// z is up, the floor is z = 0, the box is centered on the z axis. Bodies are dropped in layers,
// each with a random position and orientation, from a few sizes above the bed.
#pragma once

#include <rattleback/collision.h>
#include <rattleback/contact.h>
#include <rattleback/world.h>

typedef enum rbPouredKind {
    RB_POURED_SPHERES,
    RB_POURED_ELLIPSOIDS, // three equal axes: spheres for the iterative method
    RB_POURED_MIXED,      // spheres and cubes alternating
    RB_POURED_CUBES,
    RB_POURED_COUNT
} rbPouredKind;

const char* rbPouredKind_Name(rbPouredKind kind);

// Create it with rbDefaultPouringDef.
typedef struct rbPouringDef {
    rbPouredKind kind;
    int count;
    double size;     // m: edges of cubes and diameters of spheres
    int side;        // of the base, in sizes
    double friction; // of all pairs
    double settling; // s after the last layer
    uint64_t seed;
    double step; // s
    rbContactSettings contact;
} rbPouringDef;

// 3000 bodies of 1.2 m, base of 12, friction 0.1, no bounce, 60 Hz, 30 sweeps.
rbPouringDef rbDefaultPouringDef(rbPouredKind kind);

typedef struct rbPoured {
    rbPouringDef def;
    rbWorld* world;
    rbBodyId* ids;         // of the bodies that were poured
    rbGeometry* shapes[2]; // of even and odd bodies
    int count;
    int64_t steps;
    rbError error; // the first failure
} rbPoured;

// Pours all bodies and lets them settle; check error first.
rbPoured rbPour(const rbPouringDef* def);
void rbPoured_Free(rbPoured* poured);

// The height below which a given fraction of the centers lie, m.
double rbPoured_GetLevel(const rbPoured* poured, double part);

// A region in the middle of the box.
typedef struct rbPouredSpace {
    double walls; // m, from every wall
    double floor; // m, from the floor up ...
    double top;   // m, ... to this height
} rbPouredSpace;

// The fraction of a region filled by bodies, by the points of a lattice, 20 per size. NAN if there
// is none.
double rbPoured_GetFill(const rbPoured* poured, rbPouredSpace space);

// Bins of the histogram of depths: below 0.1 of a thousandth of the size, and twice as deep from
// bin to bin; the last one has all that is deeper.
#define RB_DEPTH_BINS 12
#define RB_DEPTH_FIRST 1e-4

// Pairs of bodies, and of bodies and walls, as measured by one method.
typedef struct rbPouredContacts {
    int overlapCount;          // pairs of bodies that overlap
    int wallCount;             // pairs of body and wall that overlap
    double mean;               // m, depth over the pairs of bodies
    double meanWithAll;        // m, over both
    double deepest;            // m, of all
    int touchCount;            // pairs of bodies at most the shell apart
    int severalCount;          // those with more than one point
    int depths[RB_DEPTH_BINS]; // overlaps of pairs of bodies by depth
} rbPouredContacts;
rbPouredContacts rbPoured_Measure(const rbPoured* poured, rbPairMethod method);
// The largest difference of depth between two methods, over pairs that overlap by either, m; and
// how many pairs overlap by one of them only.
double rbPoured_CompareMethods(const rbPoured* poured, rbPairMethod one, rbPairMethod other,
                               int* disagreeing);

// Root mean square of the speeds, m/s.
double rbPoured_GetSpeed(const rbPoured* poured);
// Bodies whose center is outside the box.
int rbPoured_CountEscaped(const rbPoured* poured);
