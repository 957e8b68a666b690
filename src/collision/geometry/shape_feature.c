#include "collision/geometry/shape_feature.h"

#include "base/math/elementary.h"

#define RIM_CORNERS 8

void rbContactFeature_Add(rbContactFeature* feature, rbVec3 corner, int vertexId, int edgeId)
{
    RB_ASSERT(feature->count < RB_FEATURE_CORNERS_MAX);
    feature->corners[feature->count] = corner;
    feature->vertexIds[feature->count] = vertexId;
    feature->edgeIds[feature->count] = edgeId;
    ++feature->count;
}

void rbContactFeature_AddRim(rbContactFeature* feature, double radius, double z)
{
    double up = z > 0.0 ? 1.0 : -1.0;
    for (int k = 0; k < RIM_CORNERS; ++k) {
        double s, c;
        rbSinCos(2.0 * RB_PI / RIM_CORNERS * k, &s, &c);
        rbContactFeature_Add(feature, rbMakeVec3(radius * c, up * radius * s, z), k, k);
    }
    feature->normal = rbMakeVec3(0.0, 0.0, up);
    feature->faceId = z > 0.0 ? 2 : 1;
}
