// Convex bodies as seen by the kernels in this directory: a support mapping of a core and a radius.
//
// A sphere is a point with a radius, a capsule a segment with one; every other shape is its own
// core with radius 0, and any shape can be rounded by adding to the radius. Kernels work on cores
// and add the radii at the end, which is exact: signed distance = that of the cores - radiusA -
// radiusB.
#pragma once

#include <rattleback/collision.h>

#include <float.h>
#include <math.h>

typedef struct rbConvex rbConvex;

// Point of the core farthest along a direction. Polytopes accept any nonzero direction, other cores
// one whose largest component has magnitude 1. vertex passes the index of the last result in as a
// hint and receives that of this one (polytopes; otherwise -1).
typedef rbVec3 rbCoreSupportFn(const rbConvex* convex, rbVec3 direction, int* vertex);

struct rbConvex {
    rbVec3 extents;  // m, half sizes of the core if it is a box, a segment or a point
    int signMask;    // signs that define vertices: bit i for component i
    bool isExtents;  // the core is one of those
    bool isPolytope; // the core has finitely many vertices
    double radius;   // m, of the sphere swept around the core, >= 0
    double size;     // m, largest distance of a point of the core from the origin
    rbCoreSupportFn* support;
    const rbGeometry* geometry; // borrowed; a convex, bounded type. NULL: a hull of points
    const rbVec3* points;       // then these, borrowed; a vertex is an index into them
    int pointCount;
};

// The convex body of a geometry, rounded by a radius >= 0. False for planes, meshes, soups,
// compounds and non-convex shapes.
bool rbConvex_Make(const rbGeometry* geometry, double radius, rbConvex* convex);
// The same of a geometry that has one.
rbConvex rbConvex_Of(const rbGeometry* geometry, double radius);
// The hull of some points, for example a triangle, rounded by a radius. size: no point is farther
// from the origin. A support costs O(count).
void rbConvex_MakePoints(const rbVec3* points, int count, double size, double radius,
                         rbConvex* convex);

// A support point of the difference of cores, in the frame of A.
typedef struct rbCsoPoint {
    rbVec3 w;             // a - b
    rbVec3 a;             // on the core of A
    rbVec3 b;             // on the core of B
    int vertexA, vertexB; // -1 where the core is smooth
} rbCsoPoint;

// The difference A - B of two cores (configuration space obstacle).
typedef struct rbCso {
    const rbConvex* a;
    const rbConvex* b;
    rbMat3 rotation;    // of B in the frame of A
    rbVec3 translation; // of B's origin in the frame of A
    double scale;       // size of A + size of B + |translation|: the reference for rounding errors
    bool isExtents;     // both cores are plain boxes, segments or points
} rbCso;

rbCso rbCso_Make(const rbConvex* a, const rbConvex* b, rbTransform transformBtoA);

// Support point of A - B along any non-zero finite direction (frame of A). hints, two vertex
// indices or NULL, speed up hulls and are updated.
rbCsoPoint rbCso_Support(const rbCso* cso, rbVec3 direction, int hints[2]);

// Vertex of a polytope core without extents by the index that its support returned; false if there
// is none.
bool rbConvex_FindVertex(const rbConvex* convex, int vertex, rbVec3* point);

// The result for bodies from that for their cores: the surfaces move toward each other along the
// normal. Negative radii remove the rounding again. The bounds are widened by the rounding error of
// the sums.
static inline void rbRoundSeparation(rbSeparation* s, double radiusA, double radiusB)
{
    double radii = radiusA + radiusB;
    double rounding = 2.0 * DBL_EPSILON * fabs(radii);
    s->distance -= radii;
    s->lower = s->lower - radii - rounding;
    s->upper = s->upper - radii + rounding;
    s->pointA = rbAddScaled(s->pointA, radiusA, s->normal);
    s->pointB = rbAddScaled(s->pointB, -radiusB, s->normal);
}
