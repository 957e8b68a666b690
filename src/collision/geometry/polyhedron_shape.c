// Closed polyhedron with polygonal, possibly non-convex faces.
#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"

rbGeometry* rbCreatePolyhedron(const rbMeshDef* def, rbError* error)
{
    RB_ASSERT(def != NULL);
    unsigned kinds = 0;
    for (int kind = 0; kind < RB_MESH_ISSUE_COUNT; ++kind) {
        kinds |= rbMeshIssueKind_IsError((rbMeshIssueKind)kind) ? 1u << kind : 0u;
    }
    rbMeshReport report;
    if (rbCheckMesh(def, kinds, "polyhedron", &report, error) != RB_STATUS_OK) {
        return NULL;
    }
    return rbFinishGeometry(
        rbAllocMeshGeometry(RB_SHAPE_POLYHEDRON, rbCreateBrep(def, true, false)));
}

// Faces this near (part of the size) to the witness of a polyhedron hold it.
#define FACE_TOLERANCE 1e-7

static bool isConvexLoop(const rbContactFeature* f)
{
    for (int k = 0; k < f->count; ++k) {
        rbVec3 a = rbSub(f->corners[(k + 1) % f->count], f->corners[k]);
        rbVec3 b = rbSub(f->corners[(k + 2) % f->count], f->corners[(k + 1) % f->count]);
        double turn = rbDot(rbCross(a, b), f->normal);
        if (turn < -1e-9 * rbLength(a) * rbLength(b)) {
            return false;
        }
    }
    return true;
}

// The face most nearly perpendicular to the direction; of a non-convex shape among those that hold
// the point.
void rbFeatureOfPolyhedron(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                           rbContactFeature* feature)
{
    const rbPolyhedron* p = geometry->polyhedron;
    RB_ASSERT(p != NULL && p->edges != NULL);
    bool isHull = rbGeometry_IsConvex(geometry);
    int best = -1;
    double largest = -2.0;
    for (int f = 0; f < p->faceCount; ++f) {
        double cosine = rbDot(p->normals[f], direction);
        double off = isHull ? 0.0 : fabs(rbDot(p->normals[f], point) - p->offsets[f]);
        if (cosine > largest && off <= FACE_TOLERANCE * p->scale) {
            largest = cosine;
            best = f;
        }
    }
    if (best < 0) {
        rbContactFeature_Add(feature, point, 0, 0);
        return;
    }
    int size = p->faceSizes[best];
    int kept = size < RB_FEATURE_CORNERS_MAX ? size : RB_FEATURE_CORNERS_MAX;
    for (int k = 0; k < kept; ++k) {
        int corner = p->faceStarts[best] + (int)((long long)k * size / kept);
        int vertex = p->indices[corner];
        rbContactFeature_Add(feature, p->vertices[vertex], vertex, p->edgeOfCorner[corner]);
    }
    feature->normal = p->normals[best];
    feature->faceId = best;
    if (!isHull && !isConvexLoop(feature)) {
        feature->count = 0;
        feature->normal = direction;
        rbContactFeature_Add(feature, point, 0, 0);
    }
}

const rbShapeOps rbPolyhedronOps = {
    .name = "polyhedron",
    .family = RB_FAMILY_TRIANGLES,
    RB_POLYHEDRON_ROW,
    .feature = rbFeatureOfPolyhedron,
};
