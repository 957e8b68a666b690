// Bodies of triangles that move against each other: which pairs of triangles are looked at.
#include "collision/geometry/box_tree_queries.h"
#include "dynamics/sweep/shape_sweep.h"

// Corner i of a box has the signs of the bits of i: x, y, z. Counter-clockwise from outside.
static const rbIndex3 boxTriangles[12] = {
    {{0, 4, 6}}, {{0, 6, 2}}, {{1, 3, 7}}, {{1, 7, 5}}, {{0, 1, 5}}, {{0, 5, 4}},
    {{2, 6, 7}}, {{2, 7, 3}}, {{0, 2, 3}}, {{0, 3, 1}}, {{4, 5, 7}}, {{4, 7, 6}},
};

bool rbSweepSide_Init(rbSweepSide* side, const rbGeometry* geometry)
{
    *side = (rbSweepSide){0};
    if (geometry->type == RB_SHAPE_BOX) {
        rbVec3 h = geometry->data.box.halfExtents;
        for (int i = 0; i < 8; ++i) {
            side->corners[i] = rbMakeVec3((i & 1) != 0 ? h.x : -h.x, (i & 2) != 0 ? h.y : -h.y,
                                          (i & 4) != 0 ? h.z : -h.z);
        }
        side->vertices = side->corners;
        side->triangles = boxTriangles;
        side->count = 12;
        return true;
    }
    const rbPolyhedron* polyhedron = geometry->polyhedron;
    if (polyhedron == NULL) {
        return false;
    }
    side->tree = polyhedron->tree;
    side->vertices = polyhedron->vertices;
    side->triangles = polyhedron->triangles;
    side->count = polyhedron->triangleCount;
    return true;
}

static void getTriangle(const rbSweepSide* side, int index, rbVec3 corners[3])
{
    for (int k = 0; k < 3; ++k) {
        corners[k] = side->vertices[side->triangles[index].v[k]];
    }
}

// All pairs.
void rbSweepSides(rbSweepSearch* search, const rbSweepSide* a, rbTransform poseA,
                  const rbSweepSide* b)
{
    for (int i = 0; i < a->count; ++i) {
        rbVec3 moving[3];
        getTriangle(a, i, moving);
        for (int k = 0; k < 3; ++k) {
            moving[k] = rbTransformPoint(poseA, moving[k]);
        }
        for (int j = 0; j < b->count; ++j) {
            rbVec3 standing[3];
            getTriangle(b, j, standing);
            rbSweepTriangles(search, moving, standing);
        }
    }
}

void rbSweepBall(rbSweepSearch* search, rbVec3 center, double radius, const rbSweepSide* b)
{
    for (int i = 0; i < b->count; ++i) {
        rbVec3 corners[3];
        getTriangle(b, i, corners);
        rbSweepBallTriangle(search, center, radius, corners);
    }
}
