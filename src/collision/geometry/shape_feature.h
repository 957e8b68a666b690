// A feature of a shape that meets others in contact: a point, a segment or a convex polygon.
#ifndef RB_GEOMETRY_SHAPE_FEATURE_H
#define RB_GEOMETRY_SHAPE_FEATURE_H

#include <rattleback/shape.h>

// Corners of a feature. Larger faces of hulls are thinned out evenly.
#define RB_FEATURE_CORNERS_MAX 32

typedef struct rbContactFeature {
    int count;                              // 1 point, 2 segment, more: polygon, counter-clockwise
    rbVec3 corners[RB_FEATURE_CORNERS_MAX]; // seen from outside
    int vertexIds[RB_FEATURE_CORNERS_MAX];
    int edgeIds[RB_FEATURE_CORNERS_MAX]; // of the side from a corner to the next
    int faceId;
    rbVec3 normal; // unit, of a polygon; otherwise the direction asked for
} rbContactFeature;

// Sine of the angle within which a side or cap still counts as flush; points that are too far apart
// are left out by the threshold of the query anyway.
#define RB_FLUSH_SINE 0.05

void rbContactFeature_Add(rbContactFeature* feature, rbVec3 corner, int vertexId, int edgeId);

// A round cap at a height: an inscribed octagon at fixed places of the rim, so that its ids stay.
// The witness of a query adds the lowest point of the rim where it lies between them.
void rbContactFeature_AddRim(rbContactFeature* feature, double radius, double z);

#endif
