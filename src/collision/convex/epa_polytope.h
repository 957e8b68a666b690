// The polytope of EPA: triangles with neighbors, their distances in one array, growth by a point.
//
// Indices, not pointers; everything lives in one fixed-size scratch block owned by the caller. Edge
// e of a face runs from vertex e to vertex (e + 1) % 3, counter-clockwise seen from outside.
// Deleted faces stay in place: new ones are contiguous, so that their planes are computed two at a
// time, component by component. The nearest face is found by scanning all keys: most queries create
// a few dozen faces, and a heap of so few costs more than it saves (measured: a tenth of a query).
#pragma once

#include "base/core/lanes.h"
#include "collision/convex/convex.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

// Total number of points and faces created. A point costs about 4.7 faces; 3.8 points gain a
// decimal digit on smooth bodies. Differences that are nearly round, or nearly a cylinder, about
// the origin need more and end with STORAGE. sizeof(rbEpaScratch) is 106 kB, of which a query
// touches only the part it uses.
#define RB_EPA_POINTS 256
#define RB_EPA_FACES 1280

// Rounding of a support value and of values computed from it, in units of cso->scale.
#define RB_EPA_SLACK (16.0 * DBL_EPSILON)
// Gap between the bounds of a face that is indistinguishable from rounding.
#define RB_EPA_GAP (4.0 * DBL_EPSILON)
// Height of a triangle, or thickness of a body, below which its normal is meaningless.
#define RB_EPA_FLAT (16.0 * DBL_EPSILON)

// Neighbors of a face; 16 bits for each number, so that a face is written by two stores.
typedef struct rbEpaFace {
    uint64_t vertices; // three, and 1 for an obsolete face
    uint64_t twins;    // beyond edge e: 4 * face + edge
} rbEpaFace;

static inline uint64_t rbEpa_Pack(int a, int b, int c)
{
    return (uint64_t)a | (uint64_t)b << 16 | (uint64_t)c << 32;
}

static inline int rbEpaFace_GetVertex(const rbEpaFace* face, int i)
{
    return (int)(face->vertices >> 16 * i & 0xffff);
}

static inline int rbEpaFace_GetTwin(const rbEpaFace* face, int edge)
{
    return (int)(face->twins >> 16 * edge & 0xffff);
}

static inline bool rbEpaFace_IsObsolete(const rbEpaFace* face)
{
    return face->vertices >> 48 != 0;
}

static inline int rbEpaTwin_Face(int twin)
{
    return twin >> 2;
}

static inline int rbEpaTwin_Edge(int twin)
{
    return twin & 3;
}

// Padding after the last face: planes and keys are written and read in blocks.
#define RB_EPA_ROOM RB_LANES

typedef struct rbEpaScratch {
    // +- square of low / |normal|, sign of low, m^2; INFINITY: the face is obsolete, flat or
    // already processed, or does not exist, like the RB_EPA_ROOM keys after the last face.
    double keys[RB_EPA_FACES + RB_EPA_ROOM];
    // Planes, without square roots: most faces are never used again.
    double normalX[RB_EPA_FACES + RB_EPA_ROOM]; // outward, not unit, m^2
    double normalY[RB_EPA_FACES + RB_EPA_ROOM];
    double normalZ[RB_EPA_FACES + RB_EPA_ROOM];
    // smallest of normal . vertex: no point of the face is nearer than low / |normal|, m^3
    double lows[RB_EPA_FACES + RB_EPA_ROOM];
    // normal . w of a point that sees the face exceeds this: the largest of normal . vertex plus
    // some rounding, m^3; -INFINITY: the face is flat
    double sights[RB_EPA_FACES + RB_EPA_ROOM];
    rbCsoPoint points[RB_EPA_POINTS + 1]; // the one after the last is the next to grow by
    rbEpaFace faces[RB_EPA_FACES];
    uint16_t stack[RB_EPA_FACES];             // twins to visit
    int16_t rim[RB_EPA_POINTS + RB_EPA_ROOM]; // vertices of the horizon
    int pointCount, faceCount;
    int pointLimit, faceLimit;
    double flatHeight; // m, RB_EPA_FLAT of the scale
    double visible;    // m, a face is visible from a point about this far above it
    double keyMax;     // m^2, +- square of a known upper bound of the depth: when the nearest face
                       // is farther away, the search is done
} rbEpaScratch;

typedef enum rbEpaGrowth {
    RB_EPA_GROWN,
    RB_EPA_BROKEN, // the horizon does not close or a face points away from the origin: rounding
    RB_EPA_FULL
} rbEpaGrowth;

// Empties the scratch.
void rbEpaPolytope_Begin(rbEpaScratch* scratch, double scale, int pointLimit, int faceLimit);

// Creates the four faces of points 0 to 3, which must not be coplanar.
void rbEpaPolytope_MakeTetrahedron(rbEpaScratch* scratch);

// Removes the smallest key and returns its live face; -1 if there is none. *key receives the key.
int rbEpaPolytope_TakeNearest(rbEpaScratch* scratch, double* key);

// x times |x|: orders distances without square roots.
static inline double rbEpa_Square(double x)
{
    return x * fabs(x);
}

static inline rbVec3 rbEpaPolytope_GetNormal(const rbEpaScratch* scratch, int face)
{
    return rbMakeVec3(scratch->normalX[face], scratch->normalY[face], scratch->normalZ[face]);
}

// Unit normal and distance of a face that is not flat.
static inline rbVec3 rbEpaPolytope_GetPlane(const rbEpaScratch* scratch, int face, double* distance)
{
    rbVec3 normal = rbEpaPolytope_GetNormal(scratch, face);
    double inverse = 1.0 / rbLength(normal);
    *distance = inverse * scratch->lows[face];
    return rbScale(inverse, normal);
}

// Where to write the next point to grow by.
static inline rbCsoPoint* rbEpaPolytope_NextPoint(rbEpaScratch* scratch)
{
    return &scratch->points[scratch->pointCount];
}

// Adds the next point, which is above the given face; that face counts as visible. No key of a new
// face may fall below keyMin, which is -INFINITY while the origin is outside.
rbEpaGrowth rbEpaPolytope_Grow(rbEpaScratch* scratch, int face, double keyMin);

// Checks: closed, mutual links, every live face with three different vertices. O(faces).
bool rbEpaPolytope_IsValid(const rbEpaScratch* scratch);
