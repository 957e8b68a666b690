// Polygon soup (L-04): faces without connectivity. No inside and no mass.
#include "collision/geometry/polyhedron.h"

#define BIT(kind) (1u << RB_MESH_ISSUE_##kind)

#define REFUSED                                                                          \
    (BIT(EMPTY) | BIT(TOO_LARGE) | BIT(INDEX) | BIT(NOT_FINITE) | BIT(DEGENERATE_FACE) | \
     BIT(CROSSING_FACE) | BIT(NON_PLANAR_FACE))

rbGeometry* rbCreateSoup(const rbMeshDef* def, rbError* error)
{
    RB_ASSERT(def != NULL);
    rbMeshReport report;
    if (rbCheckMesh(def, REFUSED, "soup", &report, error) != RB_STATUS_OK) {
        return NULL;
    }
    rbGeometry* geometry = rbAllocMeshGeometry(RB_SHAPE_SOUP, rbCreateBrep(def, false, false));
    geometry->isSolid = false;
    return rbFinishGeometry(geometry);
}

const rbShapeOps rbSoupOps = {
    .name = "soup",
    .family = RB_FAMILY_TRIANGLES,
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
