// Closed polyhedron with polygonal, possibly non-convex faces.
#include "collision/geometry/polyhedron.h"

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

const rbShapeOps rbPolyhedronOps = {
    .name = "polyhedron",
    .mass = rbMassOfPolyhedron,
    .support = rbSupportOfPolyhedron,
    .bounds = rbBoundsOfPolyhedron,
    .radius = rbRadiusOfPolyhedron,
    .contains = rbPolyhedronContains,
    .castRay = rbCastRayAtPolyhedron,
    .triangulate = rbTriangulatePolyhedron,
    .hash = rbHashPolyhedron,
    .release = rbReleasePolyhedron,
};
