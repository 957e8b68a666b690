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

// What is wanted where a mesh overlaps another shape.
typedef enum rbDepthWish {
    RB_DEPTH_SHORTEST, // shortened to a local minimum
    RB_DEPTH_ROUGH,    // the first estimate is enough
    RB_DEPTH_NONE      // of surfaces that intersect: the reason TOUCHES, nothing else
} rbDepthWish;

typedef struct rbParting rbParting;

// Convex pieces of the bodies, B moved by the translation: calls rbParting_Add for each pair of
// pieces that are at most reach apart. False if there are too many.
typedef bool rbPartingFn(rbParting* parting, double reach);

struct rbParting {
    rbPartingFn* collect;
    void* context;
    rbHalfSpace* planes; // translations for which planes separate the pieces
    int count, capacity;
    double size;        // m, of the bodies
    double keep;        // m, distance that is kept between pieces
    rbVec3 translation; // m, of B; separates the bodies
};

// A gap between two pieces along a unit vector from A to B. False: there are too many.
bool rbParting_Add(rbParting* parting, rbVec3 normal, double gap);

// Shortens the translation, after which the bodies are a gap apart, by steps along which they stay
// separate, until none shortens it further: a local minimum of the length.
void rbParting_Shorten(rbParting* parting, double gap);

// No translation shorter than this separates two triangles.
double rbBoundTriangleDepth(const rbVec3 a[3], const rbVec3 b[3]);
