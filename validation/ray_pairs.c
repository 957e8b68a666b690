#include "ray_pairs.h"

#include "base/core/random.h"
#include "lab/math/random3.h"

const char* const rbRayPairKindNames[RB_RAY_PAIR_KIND_COUNT] = {"convex", "mixed", "non-convex"};

// ------------------------------------------------------------------------------------ convex
// shapes

static rbGeometry* makeHull(rbRandom* random, rbError* error)
{
    rbVec3 points[32];
    int count = 6 + rbRandom_Index(random, 27);
    for (int i = 0; i < count; ++i) {
        double size = rbRandom_Range(random, 0.3, 0.6);
        points[i] = rbScale(size, rbRandom_Direction(random));
    }
    return rbCreateHull(points, count, error);
}

static rbVec3 drawExtents(rbRandom* random)
{
    double x = rbRandom_Range(random, 0.15, 0.5);
    double y = rbRandom_Range(random, 0.15, 0.5);
    double z = rbRandom_Range(random, 0.15, 0.5);
    return rbMakeVec3(x, y, z);
}

static rbGeometry* makeConvex(rbRandom* random, int which, rbError* error)
{
    double radius = rbRandom_Range(random, 0.2, 0.4);
    double length = rbRandom_Range(random, 0.2, 0.5);
    switch (which % 7) {
    case 0:
        return rbCreateSphere(radius + 0.1, error);
    case 1:
        return rbCreateBox(drawExtents(random), error);
    case 2:
        return rbCreateCapsule(0.6 * radius, length, error);
    case 3:
        return rbCreateCylinder(radius, length, error);
    case 4:
        return rbCreateCone(radius, 2.0 * length, error);
    case 5:
        return rbCreateEllipsoid(drawExtents(random), error);
    default:
        return makeHull(random, error);
    }
}

// ----------------------------------------------------------------------------------- rough shapes

// An octahedron whose eight faces are raised or dented at their centers: 14 vertices, 24 triangles,
// star-shaped.
static rbGeometry* makeStar(rbRandom* random, rbError* error)
{
    rbVec3 vertices[14];
    int indices[72];
    for (int i = 0; i < 6; ++i) {
        double reach = (i % 2 == 0 ? 1.0 : -1.0) * rbRandom_Range(random, 0.4, 0.6);
        vertices[i] = rbMakeVec3(i / 2 == 0 ? reach : 0.0, i / 2 == 1 ? reach : 0.0,
                                 i / 2 == 2 ? reach : 0.0);
    }
    for (int side = 0; side < 8; ++side) {
        int x = side & 1;
        int y = 2 + (side >> 1 & 1);
        int z = 4 + (side >> 2 & 1);
        bool isMirrored = ((side & 1) + (side >> 1 & 1) + (side >> 2 & 1)) % 2 == 1;
        const int corners[3] = {x, isMirrored ? z : y, isMirrored ? y : z};
        rbVec3 middle = rbAdd(rbAdd(vertices[x], vertices[y]), vertices[z]);
        vertices[6 + side] = rbScale(rbRandom_Range(random, 0.15, 0.9) / 1.8, middle);
        for (int k = 0; k < 3; ++k) {
            indices[9 * side + 3 * k] = corners[k];
            indices[9 * side + 3 * k + 1] = corners[(k + 1) % 3];
            indices[9 * side + 3 * k + 2] = 6 + side;
        }
    }
    const rbMeshDef def = {
        .vertices = vertices, .vertexCount = 14, .indices = indices, .faceCount = 24};
    return rbCreateMesh(&def, error);
}

static rbGeometry* makeMeshOf(rbStatus status, rbOwnedMesh* mesh, rbError* error)
{
    if (status != RB_STATUS_OK) {
        return NULL;
    }
    const rbMeshDef def = rbOwnedMesh_GetDef(mesh);
    rbGeometry* geometry = rbCreateMesh(&def, error);
    rbFreeMesh(mesh);
    return geometry;
}

// A ring with a square hole through it.
static rbGeometry* makeRing(rbRandom* random, rbError* error)
{
    double hole = rbRandom_Range(random, 0.15, 0.3);
    double half = rbRandom_Range(random, 0.08, 0.2);
    const double profile[4][2] = {{hole, -half}, {0.5, -half}, {0.5, half}, {hole, half}};
    rbOwnedMesh mesh = {0};
    return makeMeshOf(rbRevolveProfile(profile, 4, 5, &mesh, error), &mesh, error);
}

// An angle iron.
static rbGeometry* makeAngle(rbRandom* random, rbError* error)
{
    double wall = rbRandom_Range(random, 0.1, 0.25);
    const double profile[6][2] = {{-0.3, -0.3},      {0.4, -0.3},
                                  {0.4, wall - 0.3}, {wall - 0.3, wall - 0.3},
                                  {wall - 0.3, 0.4}, {-0.3, 0.4}};
    rbOwnedMesh mesh = {0};
    return makeMeshOf(rbExtrudeProfile(profile, 6, rbRandom_Range(random, 0.2, 0.6), &mesh, error),
                      &mesh, error);
}

// Two balls on a rod.
static rbGeometry* makeDumbbell(rbRandom* random, rbError* error)
{
    rbGeometry* ball = rbCreateSphere(rbRandom_Range(random, 0.15, 0.3), error);
    rbGeometry* rod = rbCreateCapsule(0.06, 0.4, error);
    rbGeometry* result = NULL;
    if (ball != NULL && rod != NULL) {
        const rbCompoundChild children[3] = {{ball, {{0.0, 0.0, 0.4}, RB_QUAT_IDENTITY}, 0.0},
                                             {rod, {{0.0, 0.0, 0.0}, RB_QUAT_IDENTITY}, 0.0},
                                             {ball, {{0.0, 0.0, -0.4}, RB_QUAT_IDENTITY}, 0.0}};
        result = rbCreateCompound(children, 3, error);
    }
    rbDestroyGeometry(ball);
    rbDestroyGeometry(rod);
    return result;
}

static rbGeometry* makeRough(rbRandom* random, int which, rbError* error)
{
    switch (which % 5) {
    case 0:
    case 1:
        return makeStar(random, error);
    case 2:
        return makeRing(random, error);
    case 3:
        return makeAngle(random, error);
    default:
        return makeDumbbell(random, error);
    }
}

rbRayShapes rbMakeRayShapes(uint64_t seed)
{
    rbRandom random = {seed};
    rbRayShapes result = {0};
    for (int i = 0; i < RB_RAY_SHAPE_COUNT; ++i) {
        result.shapes[i] = i < RB_RAY_CONVEX_COUNT
                               ? makeConvex(&random, i, &result.error)
                               : makeRough(&random, i - RB_RAY_CONVEX_COUNT, &result.error);
    }
    return result;
}

void rbFreeRayShapes(rbRayShapes* shapes)
{
    for (int i = 0; i < RB_RAY_SHAPE_COUNT; ++i) {
        rbDestroyGeometry(shapes->shapes[i]);
    }
}

// --------------------------------------------------------------------------------------------
// pairs

rbRandomPair rbDrawRayPair(const rbRayShapes* shapes, uint64_t number)
{
    rbRandom random = {0x9e3779b97f4a7c15u * (number + 1)};
    rbRandomPair result = {.kind = (rbRayPairKind)rbRandom_Index(&random, RB_RAY_PAIR_KIND_COUNT)};
    double reach = 0.0;
    for (int i = 0; i < 2; ++i) {
        bool isRough = result.kind == RB_RAY_ROUGH_PAIR ||
                       (result.kind == RB_RAY_MIXED_PAIR && i == (int)(number % 2));
        result.shapes[i] = isRough
                               ? RB_RAY_CONVEX_COUNT + rbRandom_Index(&random, RB_RAY_ROUGH_COUNT)
                               : rbRandom_Index(&random, RB_RAY_CONVEX_COUNT);
        const rbGeometry* geometry = shapes->shapes[result.shapes[i]];
        result.pair.geometries[i] = geometry;
        result.pair.starts[i].q = rbRandom_Quat(&random);
        result.pair.starts[i].p = rbScale(5.0, rbRandom_Direction(&random));
        reach += rbGeometry_GetRadius(geometry, RB_VEC3_ZERO);
    }
    // A starts where it will pass the center of B at a distance, after a displacement
    rbVec3 direction = rbRandom_Direction(&random);
    rbVec3 side = rbNormalize(rbCross(direction, rbRandom_Direction(&random)));
    double offset = 0.95 * reach * sqrt(rbRandom_Unit(&random));
    double way = reach * rbRandom_Range(&random, 0.7, 1.6);
    double length = way * rbRandom_Range(&random, 0.5, 1.5);
    rbVec3 middle = rbAddScaled(result.pair.starts[1].p, offset, side);
    result.pair.starts[0].p = rbAddScaled(middle, -way, direction);
    // both move, which must not affect rays and sweeps
    result.pair.duration = 1.0;
    result.pair.velocities[1] = rbRandom_Direction(&random);
    result.pair.velocities[0] = rbAddScaled(result.pair.velocities[1], length, direction);
    return result;
}
