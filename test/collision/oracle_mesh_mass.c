// Mass properties of closed meshes: our signed tetrahedra against surface integrals.
//
// By the divergence theorem V = int x n_x dA, int x dV = 1/2 int x^2 n_x dA, int x^2 dV = 1/3 int
// x^3 n_x dA, int xy dV = 1/2 int x^2 y n_x dA and so on: cubic polynomials over triangles, which a
// rule of four points integrates exactly. In long double, about the first vertex.
#include "collision/geometry/polyhedron.h"
#include "shape_samples.h"

#include <math.h>

typedef long double Real;

typedef struct Integrals {
    Real v, f[3], s[3][3];
} Integrals;

static void addTriangle(Integrals* sums, Real p[3][3])
{
    // barycentric coordinates and weights of the rule of degree 3
    static const Real nodes[4][3] = {
        {1.0L / 3, 1.0L / 3, 1.0L / 3}, {0.6L, 0.2L, 0.2L}, {0.2L, 0.6L, 0.2L}, {0.2L, 0.2L, 0.6L}};
    static const Real weights[4] = {-27.0L / 48, 25.0L / 48, 25.0L / 48, 25.0L / 48};
    Real u[3], w[3];
    for (int k = 0; k < 3; ++k) {
        u[k] = p[1][k] - p[0][k];
        w[k] = p[2][k] - p[0][k];
    }
    // vector area
    const Real n[3] = {(u[1] * w[2] - u[2] * w[1]) / 2, (u[2] * w[0] - u[0] * w[2]) / 2,
                       (u[0] * w[1] - u[1] * w[0]) / 2};
    for (int i = 0; i < 4; ++i) {
        Real x[3];
        for (int k = 0; k < 3; ++k) {
            x[k] = nodes[i][0] * p[0][k] + nodes[i][1] * p[1][k] + nodes[i][2] * p[2][k];
        }
        sums->v += weights[i] * x[0] * n[0];
        for (int a = 0; a < 3; ++a) {
            int b = (a + 1) % 3;
            sums->f[a] += weights[i] * x[a] * x[a] * n[a] / 2;
            sums->s[a][a] += weights[i] * x[a] * x[a] * x[a] * n[a] / 3;
            sums->s[a][b] += weights[i] * x[a] * x[a] * x[b] * n[a] / 2;
        }
    }
}

static rbMassProperties integrateSurface(const rbMeshDef* def)
{
    Integrals sums = {0};
    rbVec3 o = def->vertices[0];
    const int* loop = def->indices;
    for (int f = 0; f < def->faceCount; ++f) {
        int size = def->faceSizes != NULL ? def->faceSizes[f] : 3;
        for (int i = 1; i + 1 < size; ++i) {
            // a different fan from ours: from the last corner
            const int corner[3] = {loop[size - 1], loop[i - 1], loop[i]};
            Real p[3][3];
            for (int k = 0; k < 3; ++k) {
                rbVec3 v = def->vertices[corner[k]];
                p[k][0] = (Real)v.x - o.x;
                p[k][1] = (Real)v.y - o.y;
                p[k][2] = (Real)v.z - o.z;
            }
            addTriangle(&sums, p);
        }
        loop += size;
    }
    Real c[3];
    for (int a = 0; a < 3; ++a) {
        c[a] = sums.f[a] / sums.v;
    }
    Real s[3][3];
    for (int a = 0; a < 3; ++a) {
        int b = (a + 1) % 3;
        s[a][a] = sums.s[a][a] - sums.v * c[a] * c[a];
        s[a][b] = sums.s[a][b] - sums.v * c[a] * c[b];
    }
    rbMassProperties m = {(double)sums.v,
                          (double)sums.v,
                          {(double)(o.x + c[0]), (double)(o.y + c[1]), (double)(o.z + c[2])},
                          {(double)(s[1][1] + s[2][2]), (double)(s[0][0] + s[2][2]),
                           (double)(s[0][0] + s[1][1]), (double)-s[0][1], (double)-s[2][0],
                           (double)-s[1][2]}};
    return m;
}

static void compare(const rbMassProperties* a, const rbMassProperties* b, double tolerance)
{
    checkRelative(a->volume, b->volume, tolerance);
    checkRelative(a->mass, b->mass, tolerance);
    double trace = b->inertia.xx + b->inertia.yy + b->inertia.zz;
    double size = sqrt(trace / b->mass);
    checkNear(rbDistance(a->center, b->center), 0.0,
              tolerance * size + 1e-15 * rbLength(b->center));
    checkNear(a->inertia.xx, b->inertia.xx, tolerance * trace);
    checkNear(a->inertia.yy, b->inertia.yy, tolerance * trace);
    checkNear(a->inertia.zz, b->inertia.zz, tolerance * trace);
    checkNear(a->inertia.xy, b->inertia.xy, tolerance * trace);
    checkNear(a->inertia.xz, b->inertia.xz, tolerance * trace);
    checkNear(a->inertia.yz, b->inertia.yz, tolerance * trace);
}

static rbOwnedMesh makeRandomMesh(rbRandom* random, int kind)
{
    rbOwnedMesh mesh = {0};
    rbError error = {0};
    double profile[24][2];
    int count = 5 + rbRandom_Index(random, 19);
    if (kind == 0) {
        mesh = makeStarMesh(random, rbRandom_Range(random, 0.005, 0.3), 0.5);
    } else if (kind == 1) {
        makeStarProfile(random, profile, count, (const double[2]){0.3, 0.2}, 1.0);
        assert_int_equal(rbExtrudeProfile((const double(*)[2])profile, count,
                                          rbRandom_Range(random, 0.01, 2.0), &mesh, &error),
                         RB_STATUS_OK);
    } else {
        makeStarProfile(random, profile, count, (const double[2]){1.1, 0.2}, 1.0);
        assert_int_equal(rbRevolveProfile((const double(*)[2])profile, count,
                                          3 + rbRandom_Index(random, 40), &mesh, &error),
                         RB_STATUS_OK);
    }
    return mesh;
}

// L-05, B-02
static void tetrahedraAgreeWithSurfaceIntegrals(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(21)};
    for (int k = 0; k < rbTest_Count(200, 1000); ++k) {
        rbError error = {0};
        rbGeometry* g = NULL;
        if (k % 4 == 3) {
            g = makeHullSample(&random, 8 + rbRandom_Index(&random, 50));
        } else {
            rbOwnedMesh mesh = makeRandomMesh(&random, k % 4);
            // moved up to a thousand sizes away, and rotated
            rbTransform t = randomTransform(&random, k % 8 < 4 ? 3.0 : 1000.0);
            for (int i = 0; i < mesh.vertexCount; ++i) {
                mesh.vertices[i] = rbTransformPoint(t, mesh.vertices[i]);
            }
            rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
            g = k % 2 == 0 ? rbCreateMesh(&def, &error) : rbCreatePolyhedron(&def, &error);
            requireOk(g, &error);
            rbFreeMesh(&mesh);
        }
        rbMeshDef stored;
        assert_true(rbGeometry_GetMesh(g, &stored));
        rbMassProperties expected = integrateSurface(&stored);
        rbMassProperties p;
        assert_int_equal(rbGeometry_GetMass(g, 1.0, &p, &error), RB_STATUS_OK);
        compare(&p, &expected, 1e-11);
        rbDestroyGeometry(g);
    }
}

// L-05
static void boxesAndTetrahedraAreExact(void** state)
{
    (void)state;
    static const rbVec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int faces[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    rbMeshDef tetra = {corners, 4, NULL, faces, 4};
    rbMassProperties p = rbComputeMeshMass(&tetra);
    checkNear(p.volume, 1.0 / 6.0, 1e-16);
    checkNear(p.center.x, 0.25, 1e-16);
    checkNear(p.center.y, 0.25, 1e-16);
    checkNear(p.center.z, 0.25, 1e-16);
    checkNear(p.inertia.xx, 1.0 / 80.0, 1e-16);  // 2 (1/60 - 1/96)
    checkNear(p.inertia.xy, 1.0 / 480.0, 1e-16); // -(1/120 - 1/96)
    // a box far away
    rbError error = {0};
    const double square[4][2] = {{1e6, 1e6}, {1e6 + 2, 1e6}, {1e6 + 2, 1e6 + 3}, {1e6, 1e6 + 3}};
    rbOwnedMesh mesh;
    assert_int_equal(rbExtrudeProfile(square, 4, 4.0, &mesh, &error), RB_STATUS_OK);
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    p = rbComputeMeshMass(&def);
    checkRelative(p.volume, 24.0, 1e-15);
    checkRelative(p.inertia.xx, 24.0 / 12.0 * 25.0, 1e-15);
    checkRelative(p.inertia.zz, 24.0 / 12.0 * 13.0, 1e-15);
    checkNear(p.inertia.xy, 0.0, 1e-13);
    checkNear(p.center.x, 1e6 + 1.0, 1e-9);
    rbFreeMesh(&mesh);
}

RB_TEST_GROUP(oracle_mesh_mass, cmocka_unit_test(tetrahedraAgreeWithSurfaceIntegrals),
              cmocka_unit_test(boxesAndTetrahedraAreExact));
