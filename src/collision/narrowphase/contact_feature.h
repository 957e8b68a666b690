// The feature of a shape that faces a direction: a point, a segment or a convex polygon.
#ifndef RB_NARROWPHASE_CONTACT_FEATURE_H
#define RB_NARROWPHASE_CONTACT_FEATURE_H

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

// The feature that faces a unit direction, at a point of the surface where that matters
// (polyhedra); all in the frame of the shape. Not for planes, meshes, soups and compounds: then the
// point itself.
void rbFindContactFeature(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                          rbContactFeature* feature);

// The same feature in another frame.
void rbMoveContactFeature(rbContactFeature* feature, rbTransform transform);

#endif
