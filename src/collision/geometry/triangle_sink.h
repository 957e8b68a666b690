// Collects the triangles of a shape for display, up to the limit; creates surfaces of revolution
// from profiles.
#pragma once

#include "base/core/memory.h"

#include <rattleback/shape.h>

typedef struct rbIndex3 {
    int v[3];
} rbIndex3;

typedef struct rbTriangulation {
    double deviation, planeHalfSize;
} rbTriangulation;

typedef struct rbTriangleSink {
    RB_ARRAY(rbVec3) vertices;
    RB_ARRAY(rbIndex3) triangles;
    bool isOverLimit; // more than RB_TRIANGLES_MAX were requested; the content is incomplete
} rbTriangleSink;

// Index of a new vertex, 0 when over the limit.
int rbTriangleSink_AddVertex(rbTriangleSink* sink, rbVec3 vertex);
void rbTriangleSink_AddTriangle(rbTriangleSink* sink, int a, int b, int c);

// Marks the sink as over the limit and returns true if so many more triangles are too many.
bool rbTriangleSink_Refuses(rbTriangleSink* sink, double count);

// Sphere of the given radius swept along z from -halfLength to halfLength (0: a sphere).
void rbTriangleSink_AddRound(rbTriangleSink* sink, double radius, double halfLength,
                             double deviation);

// Ellipsoid; the deviation of the unit sphere is scaled by at most the longest semi-axis.
void rbTriangleSink_AddEllipsoid(rbTriangleSink* sink, rbVec3 semiAxes, double deviation);

// Revolves a straight profile; radius is its largest r.
void rbTriangleSink_AddLathed(rbTriangleSink* sink, const double (*profile)[2], int count,
                              double radius, double deviation);
