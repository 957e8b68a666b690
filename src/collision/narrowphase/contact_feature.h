// The feature of a shape that faces a direction: a point, a segment or a convex polygon.
#ifndef RB_NARROWPHASE_CONTACT_FEATURE_H
#define RB_NARROWPHASE_CONTACT_FEATURE_H

#include "collision/geometry/shape_feature.h"

// The feature that faces a unit direction, at a point of the surface where that matters
// (polyhedra); all in the frame of the shape. For planes, meshes, soups and compounds it is the
// point itself.
void rbFindContactFeature(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                          rbContactFeature* feature);

// The same feature in another frame.
void rbMoveContactFeature(rbContactFeature* feature, rbTransform transform);

#endif
