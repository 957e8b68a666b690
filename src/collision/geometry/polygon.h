// Plane polygons: simplicity, area, triangulation.
#pragma once

#include "collision/geometry/triangle_sink.h"

// Twice the signed area of the triangle a, b, c: positive if counter-clockwise.
static inline double rbOrient2(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// Signed area, positive if counter-clockwise.
double rbGetPolygonArea(const double (*points)[2], int count);

// Finds two sides that touch without being neighbors, or neighbors that run back over each other;
// side i goes from point i to the next. Sides closer than rounding count as touching. False if the
// polygon is simple. O(n^2) with a quick box test.
bool rbFindPolygonCrossing(const double (*points)[2], int count, int sides[2]);

// A mesh with room for these, to be freed by rbFreeMesh.
void rbAllocMesh(rbOwnedMesh* mesh, int vertexCount, int faceCount, int indexCount);

// Triangulates a polygon of count >= 3 points, counter-clockwise, into count - 2 triangles of
// corners 0 .. count-1 by ear clipping. scratch has one element per corner. False if a corner that
// is not an ear had to be clipped: the polygon is not simple, and the triangles overlap.
bool rbClipEars(const double (*points)[2], int count, int (*scratch)[3], rbIndex3* triangles);
