// Triangle mesh, a solid if it is closed, otherwise a surface; and polygon soup.
#include "collision/geometry/polyhedron.h"

#define BIT(kind) (1u << RB_MESH_ISSUE_##kind)

// Defects that no query could handle.
#define REFUSED                                                                          \
    (BIT(EMPTY) | BIT(TOO_LARGE) | BIT(INDEX) | BIT(NOT_FINITE) | BIT(DEGENERATE_FACE) | \
     BIT(CROSSING_FACE) | BIT(INSIDE_OUT))

rbGeometry* rbCreateMesh(const rbMeshDef* def, rbError* error)
{
    RB_ASSERT(def != NULL);
    rbMeshReport report;
    if (rbCheckMesh(def, REFUSED, "mesh", &report, error) != RB_STATUS_OK) {
        return NULL;
    }
    bool isManifold = report.counts[RB_MESH_ISSUE_EDGE_TWICE] == 0 &&
                      report.counts[RB_MESH_ISSUE_NON_MANIFOLD_EDGE] == 0 &&
                      report.counts[RB_MESH_ISSUE_ORIENTATION] == 0;
    RB_ASSERT(isManifold || !report.isSolid);
    rbPolyhedron* polyhedron = rbCreateBrep(def, isManifold, true);
    rbGeometry* geometry = rbAllocMeshGeometry(RB_SHAPE_MESH, polyhedron);
    geometry->isSolid = report.isSolid;
    return rbFinishGeometry(geometry);
}

const rbShapeOps rbMeshOps = {
    .name = "mesh",
    .family = RB_FAMILY_TRIANGLES,
    RB_POLYHEDRON_ROW,
};

// Polygon soup (L-04): faces without connectivity. No inside and no mass.
#define REFUSED_SOUP                                                                     \
    (BIT(EMPTY) | BIT(TOO_LARGE) | BIT(INDEX) | BIT(NOT_FINITE) | BIT(DEGENERATE_FACE) | \
     BIT(CROSSING_FACE) | BIT(NON_PLANAR_FACE))

rbGeometry* rbCreateSoup(const rbMeshDef* def, rbError* error)
{
    RB_ASSERT(def != NULL);
    rbMeshReport report;
    if (rbCheckMesh(def, REFUSED_SOUP, "soup", &report, error) != RB_STATUS_OK) {
        return NULL;
    }
    rbGeometry* geometry = rbAllocMeshGeometry(RB_SHAPE_SOUP, rbCreateBrep(def, false, false));
    geometry->isSolid = false;
    return rbFinishGeometry(geometry);
}

const rbShapeOps rbSoupOps = {
    .name = "soup",
    .family = RB_FAMILY_TRIANGLES,
    RB_POLYHEDRON_ROW,
};
