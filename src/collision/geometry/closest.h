// Closest points of points, edges and triangles, all in one frame.
//
// The distance of an answer is the length of the difference of its points, never the root of a
// difference of squares. Figures that meet give 0 and one point on both. Degenerate edges and
// triangles count as the point or edge they are.
#pragma once

#include <rattleback/vecmath.h>

typedef enum rbFigure {
    RB_FIGURE_VERTEX,
    RB_FIGURE_EDGE,
    RB_FIGURE_FACE,
} rbFigure;

// Where on a figure a closest point lies: on corner i, inside the edge from corner i to the next
// one, or inside the face (i = 0).
typedef struct rbFigurePart {
    rbFigure kind;
    int index;
} rbFigurePart;

typedef struct rbClosest {
    rbVec3 a, b;    // m, on the first and on the second figure
    double squared; // m^2, |b - a|^2
    rbFigurePart partA, partB;
} rbClosest;

// Twice the vector area of a triangle.
static inline rbVec3 rbCrossOfCorners(const rbVec3 corners[3])
{
    return rbCross(rbSub(corners[1], corners[0]), rbSub(corners[2], corners[0]));
}

// A point (partA: vertex 0) and an edge (L-19).
rbClosest rbClosestOfPointEdge(rbVec3 point, const rbVec3 edge[2]);

// A point and a triangle.
rbClosest rbClosestOfPointTriangle(rbVec3 point, const rbVec3 triangle[3]);

// Two triangles. May stop early, with squared = INFINITY and no points, as soon as the squared
// distance is proven to be at least limit (INFINITY: never stops early): a triangle pair that
// cannot beat the best known one costs less.
rbClosest rbClosestOfTriangles(const rbVec3 a[3], const rbVec3 b[3], double limit);
