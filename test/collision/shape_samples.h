// Random geometries of every type for generic tests. Solids of compounds do not overlap; sizes are
// about 1 m, so that tolerances can be absolute.
#pragma once

#include "base/core/random.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/shape.h>

static inline rbVec3 randomVec3(rbRandom* random, double size)
{
    double x = rbRandom_Symmetric(random);
    double y = rbRandom_Symmetric(random);
    double z = rbRandom_Symmetric(random);
    return rbMakeVec3(size * x, size * y, size * z);
}

static inline rbTransform randomTransform(rbRandom* random, double size)
{
    rbTransform t;
    t.p = randomVec3(random, size);
    t.q = rbRandom_Quat(random);
    return t;
}

static inline void requireOk(const void* made, const rbError* error)
{
    if (made == NULL) {
        print_error("not created: %s\n", error->message);
        fail();
    }
}

// A star-shaped polygon about a point, counter-clockwise, radii from 0.4 to 1 times size.
static inline void makeStarProfile(rbRandom* random, double (*profile)[2], int count,
                                   const double center[2], double size)
{
    for (int i = 0; i < count; ++i) {
        double s, c;
        rbSinCos(2.0 * RB_PI * (i + 0.8 * rbRandom_Unit(random)) / count, &s, &c);
        double r = size * rbRandom_Range(random, 0.4, 1.0);
        profile[i][0] = center[0] + r * c;
        profile[i][1] = center[1] + r * s;
    }
}

// A closed, non-convex, star-shaped triangle mesh with a few hundred faces or less.
static inline rbOwnedMesh makeStarMesh(rbRandom* random, double deviation, double roughness)
{
    rbError error = {0};
    rbGeometry* sphere = rbCreateSphere(1.0, &error);
    requireOk(sphere, &error);
    rbTriangles triangles;
    assert_int_equal(rbGeometry_Triangulate(sphere, deviation, 1.0, &triangles, &error),
                     RB_STATUS_OK);
    rbDestroyGeometry(sphere);
    // an owned mesh has the layout of triangles with sizes; created from the copy of a mesh
    // geometry
    for (int i = 0; i < triangles.vertexCount; ++i) {
        double r = 1.0 + roughness * rbRandom_Symmetric(random);
        triangles.vertices[i] = rbScale(r, triangles.vertices[i]);
    }
    rbOwnedMesh mesh = {triangles.vertices,         NULL,
                        &triangles.triangles[0][0], triangles.vertexCount,
                        triangles.triangleCount,    3 * triangles.triangleCount};
    return mesh;
}

static inline rbGeometry* makeMeshSample(rbRandom* random, rbShapeType type)
{
    rbError error = {0};
    rbOwnedMesh mesh;
    double profile[9][2];
    int kind = type == RB_SHAPE_MESH ? 2 : rbRandom_Index(random, 2);
    if (kind == 0) {
        makeStarProfile(random, profile, 9, (const double[2]){0.1, -0.2}, 1.0);
        assert_int_equal(rbExtrudeProfile((const double(*)[2])profile, 9, 0.7, &mesh, &error),
                         RB_STATUS_OK);
    } else if (kind == 1) {
        makeStarProfile(random, profile, 6, (const double[2]){0.9, 0.1}, 0.7);
        assert_int_equal(rbRevolveProfile((const double(*)[2])profile, 6, 7, &mesh, &error),
                         RB_STATUS_OK);
    } else {
        mesh = makeStarMesh(random, 0.2, 0.3);
    }
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    rbGeometry* geometry = type == RB_SHAPE_MESH   ? rbCreateMesh(&def, &error)
                           : type == RB_SHAPE_SOUP ? rbCreateSoup(&def, &error)
                                                   : rbCreatePolyhedron(&def, &error);
    requireOk(geometry, &error);
    rbFreeMesh(&mesh);
    return geometry;
}

static inline rbGeometry* makeHullSample(rbRandom* random, int count)
{
    rbError error = {0};
    rbVec3 points[64];
    assert_true(count <= 64);
    for (int i = 0; i < count; ++i) {
        points[i] = randomVec3(random, 1.0);
    }
    rbGeometry* geometry = rbCreateHull(points, count, &error);
    requireOk(geometry, &error);
    return geometry;
}

static inline rbGeometry* makePrimitiveSample(rbRandom* random, rbShapeType type, rbError* error)
{
    double a = rbRandom_Range(random, 0.3, 1.0);
    double b = rbRandom_Range(random, 0.3, 1.0);
    double c = rbRandom_Range(random, 0.3, 1.0);
    switch ((int)type) {
    case RB_SHAPE_SPHERE:
        return rbCreateSphere(a, error);
    case RB_SHAPE_BOX:
        return rbCreateBox(rbMakeVec3(a, b, c), error);
    case RB_SHAPE_CAPSULE:
        return rbCreateCapsule(0.6 * a, b, error);
    case RB_SHAPE_CYLINDER:
        return rbCreateCylinder(a, b, error);
    case RB_SHAPE_CONE:
        return rbCreateCone(a, 2.0 * b, error);
    case RB_SHAPE_ELLIPSOID:
        return rbCreateEllipsoid(rbMakeVec3(a, b, c), error);
    default:
        return rbCreatePlane(rbScale(a, rbRandom_Direction(random)), b - 0.6, error);
    }
}

// A random geometry of a type.
static inline rbGeometry* makeSample(rbRandom* random, rbShapeType type)
{
    rbError error = {0};
    if (type == RB_SHAPE_HULL) {
        return makeHullSample(random, 20);
    }
    if (type == RB_SHAPE_POLYHEDRON || type == RB_SHAPE_MESH || type == RB_SHAPE_SOUP) {
        return makeMeshSample(random, type);
    }
    if (type != RB_SHAPE_COMPOUND) {
        rbGeometry* geometry = makePrimitiveSample(random, type, &error);
        requireOk(geometry, &error);
        return geometry;
    }
    // three parts in a row, each within 1.75 of its place
    static const rbShapeType parts[3] = {RB_SHAPE_CONE, RB_SHAPE_MESH, RB_SHAPE_BOX};
    rbCompoundChild children[3];
    rbGeometry* owned[3];
    for (int i = 0; i < 3; ++i) {
        owned[i] = makeSample(random, parts[i]);
        children[i].geometry = owned[i];
        children[i].transform = randomTransform(random, 0.1);
        children[i].transform.p.x += 3.8 * (i - 1);
        children[i].density = 0.0;
    }
    rbGeometry* compound = rbCreateCompound(children, 3, &error);
    requireOk(compound, &error);
    for (int i = 0; i < 3; ++i) {
        rbDestroyGeometry(owned[i]);
    }
    return compound;
}
