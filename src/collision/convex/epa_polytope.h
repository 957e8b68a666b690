// The polytope of EPA: triangles with neighbours, their distances in one array, growth by a point.
//
// Indices, not pointers; everything lives in one fixed-size scratch of the caller. Edge e of a face
// runs from vertex e to vertex (e + 1) % 3, counter-clockwise seen from outside. Deleted faces stay
// where they are. The nearest face is found by looking through all keys: most queries make some
// tens of faces, and a heap of so few costs more than it saves (measured: a tenth of a query).
#ifndef RB_CONVEX_EPA_POLYTOPE_H
#define RB_CONVEX_EPA_POLYTOPE_H

#include "collision/convex/convex.h"

#include <float.h>
#include <stdint.h>

// Points and faces ever made. A point costs about 4.7 faces; 3.8 points win a decimal on smooth
// bodies. Differences that are nearly round, or nearly a cylinder, about the origin need more and
// end with STORAGE. sizeof(rbEpaScratch) is 124 kB, of which a query touches what it uses.
#define RB_EPA_POINTS 256
#define RB_EPA_FACES 1280

// Rounding of a support value and of what is computed from it, in units of cso->scale.
#define RB_EPA_SLACK (16.0 * DBL_EPSILON)
// Gap between the bounds of a face that cannot be told from rounding.
#define RB_EPA_GAP (4.0 * DBL_EPSILON)
// Height of a triangle, or thickness of a body, below which its normal means nothing.
#define RB_EPA_FLAT (16.0 * DBL_EPSILON)

// Planes are kept without roots: most faces are never looked at again.
typedef struct rbEpaFace {
    rbVec3 normal; // outward, not unit, m^2
    double low;  // smallest of normal . vertex: no point of the face is nearer than low / |normal|
    double high; // largest of normal . vertex: what a visible point exceeds; -INFINITY if flat
    int16_t vertices[3];
    int16_t twins[3]; // beyond edge e: 4 * face + edge
    bool isObsolete;
} rbEpaFace;

static inline int rbEpaTwin_Face(int twin)
{
    return twin >> 2;
}

static inline int rbEpaTwin_Edge(int twin)
{
    return twin & 3;
}

typedef struct rbEpaScratch {
    // +- square of low / |normal|, sign of low, m^2; INFINITY: the face is obsolete, flat or looked
    // at already. Filled up to a multiple of 8 when searched.
    _Alignas(16) double keys[RB_EPA_FACES + 8];
    rbCsoPoint points[RB_EPA_POINTS];
    rbEpaFace faces[RB_EPA_FACES];
    int16_t stack[RB_EPA_FACES]; // twins to visit
    int16_t rim[RB_EPA_FACES];   // twins beyond the horizon
    int pointCount, faceCount;
    int pointLimit, faceLimit;
    double flatHeight; // m, RB_EPA_FLAT of the scale
    double visible;    // m, a face is visible from a point about this far above it
    double keyMax;     // m^2, +- square of a known upper bound of the depth: when the nearest face
                       // is beyond, nothing is left to find
} rbEpaScratch;

typedef enum rbEpaGrowth {
    RB_EPA_GROWN,
    RB_EPA_BROKEN, // the horizon does not close or a face looks away from the origin: rounding
    RB_EPA_FULL
} rbEpaGrowth;

// Empties the scratch.
void rbEpaPolytope_Begin(rbEpaScratch* scratch, double scale, int pointLimit, int faceLimit);

// Makes the four faces of points 0 to 3, which must not be coplanar.
void rbEpaPolytope_MakeTetrahedron(rbEpaScratch* scratch);

// The live face with the smallest key, which becomes INFINITY; -1 if there is none. *key is what
// it was.
int rbEpaPolytope_TakeNearest(rbEpaScratch* scratch, double* key);

// x with its sign times its size: the order of distances without roots.
static inline double rbEpa_Square(double x)
{
    return x * fabs(x);
}

// Unit normal and distance of a face that is not flat.
static inline rbVec3 rbEpaFace_GetPlane(const rbEpaFace* face, double* distance)
{
    double inverse = 1.0 / rbLength(face->normal);
    *distance = inverse * face->low;
    return rbScale(inverse, face->normal);
}

// Adds a point above the given face, which counts as visible. keyMin is what the key of no new face
// may fall below, -INFINITY while the origin is outside.
rbEpaGrowth rbEpaPolytope_Grow(rbEpaScratch* scratch, int face, const rbCsoPoint* point,
                               double keyMin);

// Closed, linked both ways, every live face with three different vertices. O(faces).
bool rbEpaPolytope_IsValid(const rbEpaScratch* scratch);

// ------------------------------------------------------------------------- start (epa_start.c)

// What the search for a start polytope found.
typedef struct rbEpaStart {
    int dimension;  // of the cso: 3 with points 0 to 3 of the scratch in general position, or less
    bool isApart;   // normal is a separating direction
    rbVec3 normal;  // unit; of a flat cso: direction of least height
    double height;  // h(normal)
    double span[3]; // flat cso: barycentric weights of the origin in the first dimension + 1 points
    int supports;
} rbEpaStart;

// Radii of balls that are summands of the cores; taken off, they leave smaller cores.
typedef struct rbEpaBalls {
    double a, b; // m, >= 0
} rbEpaBalls;

// Support point along a unit direction of the difference of the cores without their balls; without
// balls it is that of the cso. Hints would not help: successive directions differ much.
static inline rbCsoPoint rbEpa_Support(const rbCso* cso, rbVec3 direction, rbEpaBalls balls)
{
    rbCsoPoint point = rbCso_Support(cso, direction, NULL);
    if (balls.a + balls.b > 0.0) {
        point.a = rbAddScaled(point.a, -balls.a, direction);
        point.b = rbAddScaled(point.b, balls.b, direction);
        point.w = rbSub(point.a, point.b);
    }
    return point;
}

// The start points are support points of the cso: none are accepted with balls.
rbEpaStart rbEpa_FindStart(const rbCso* cso, const rbCsoPoint* start, int startCount,
                           rbEpaBalls balls, rbEpaScratch* scratch);

// --------------------------------------------------------------------- smooth pairs (epa_smooth.c)

// A direction, the support point there, h and a lower bound of the depth.
typedef struct rbEpaProposal {
    rbCsoPoint point;
    rbVec3 normal;
    double height;
    double lower; // by the rolling ball; -INFINITY if there is none
} rbEpaProposal;

// Radii of balls that roll freely inside the cores: 0 unless a core is an ellipsoid.
rbEpaBalls rbEpa_GetBalls(const rbCso* cso);

// Minimises h from the given unit direction by Newton's method on the sphere. Adds the support
// calls made to *supports.
rbEpaProposal rbEpa_Descend(const rbCso* cso, rbVec3 direction, double rollingRadius,
                            int* supports);

// Evaluates one direction.
rbEpaProposal rbEpa_Propose(const rbCso* cso, rbVec3 direction, double rollingRadius,
                            int* supports);

#endif
