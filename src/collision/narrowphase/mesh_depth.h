// Shortest translations that separate meshes: a local minimum of their length, and a bound below
// which no translation separates.
#pragma once

#include <rattleback/vecmath.h>

#include <stdbool.h>

// The vectors x with normal . x >= offset.
typedef struct rbHalfSpace {
    rbVec3 normal; // unit
    double offset; // m
} rbHalfSpace;

typedef struct rbParting rbParting;

// Convex pieces of the bodies, B moved by a translation: for each pair of pieces that is at most
// reach apart one half space, of translations for which a plane separates the two. Adds them by
// rbParting_Add; false if there are too many.
typedef bool rbPartingFn(rbParting* parting, rbVec3 translation, double reach);

struct rbParting {
    rbPartingFn* collect;
    void* context;
    rbHalfSpace* planes;
    int count, capacity;
    double size; // m, of the bodies
    double keep; // m, distance that is kept between pieces
};

// The pieces are separated by a gap along a unit vector from A to B at a translation. False: there
// is no room for it.
bool rbParting_Add(rbParting* parting, rbVec3 translation, rbVec3 normal, double gap);

// Shortens a translation of B that separates the bodies, by steps along which they stay separate,
// until no step shortens it further: a local minimum of the length.
// gap: m, distance of the bodies at the translation.
rbVec3 rbParting_Shorten(rbParting* parting, rbVec3 translation, double gap);

// No translation shorter than this separates two triangles.
double rbBoundTriangleDepth(const rbVec3 a[3], const rbVec3 b[3]);

// Rounds a position of bodies of a size to about 12 digits, so that positions that differ by
// rounding become equal, as a rule. Returns a bound of the change, m.
double rbCoarsenPosition(double size, rbVec3* position);
