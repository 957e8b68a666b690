// Signed distance of a point to a solid primitive, in the frame of the primitive.
#pragma once

#include <rattleback/shape.h>

typedef struct rbPointDistance {
    double distance; // m, negative inside
    rbVec3 normal;   // outward unit normal at the nearest point of the surface, which is
                     // point - distance * normal
} rbPointDistance;

typedef rbPointDistance rbPointDistanceFn(const rbGeometry* geometry, rbVec3 point);

rbPointDistanceFn rbMeasurePointBox, rbMeasurePointCapsule, rbMeasurePointCylinder,
    rbMeasurePointCone, rbMeasurePointEllipsoid;

// Length of a vector and its direction, also for lengths whose square underflows; the fallback, a
// unit vector, for the zero vector.
double rbSplitLength(rbVec3 v, rbVec3 fallback, rbVec3* direction);
