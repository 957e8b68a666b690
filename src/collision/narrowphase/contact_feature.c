// Features of shapes by their rows: see contact_feature.h.
#include "collision/narrowphase/contact_feature.h"

#include "collision/geometry/shape_ops.h"

void rbFindContactFeature(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                          rbContactFeature* feature)
{
    RB_ASSERT(fabs(rbLengthSquared(direction) - 1.0) < 1e-9);
    feature->count = 0;
    feature->faceId = 0;
    feature->normal = direction;
    rbShapeFeatureFn* find = rbGetShapeOps(geometry->type)->feature;
    if (find != NULL) {
        find(geometry, direction, point, feature);
    } else {
        rbContactFeature_Add(feature, point, 0, 0);
    }
    RB_ASSERT(feature->count > 0);
}

void rbMoveContactFeature(rbContactFeature* feature, rbTransform transform)
{
    for (int k = 0; k < feature->count; ++k) {
        feature->corners[k] = rbTransformPoint(transform, feature->corners[k]);
    }
    feature->normal = rbRotate(transform.q, feature->normal);
}
