// Mass properties against closed forms, moved and combined.
#include "base/math/matrix3.h"
#include "shape_samples.h"

#include <math.h>
#include <string.h>

static void checkSym3(rbSym3 a, rbSym3 b, double tolerance)
{
    checkNear(a.xx, b.xx, tolerance);
    checkNear(a.yy, b.yy, tolerance);
    checkNear(a.zz, b.zz, tolerance);
    checkNear(a.xy, b.xy, tolerance);
    checkNear(a.xz, b.xz, tolerance);
    checkNear(a.yz, b.yz, tolerance);
}

static void checkSame(const rbMassProperties* a, const rbMassProperties* b, double tolerance)
{
    checkRelative(a->volume, b->volume, tolerance);
    checkRelative(a->mass, b->mass, tolerance);
    double size = sqrt((b->inertia.xx + b->inertia.yy + b->inertia.zz) / b->mass);
    checkNear(rbDistance(a->center, b->center), 0.0, tolerance * (size + rbLength(b->center)));
    checkSym3(a->inertia, b->inertia, tolerance * b->mass * size * size);
}

static rbMassProperties getMass(const rbGeometry* g, double density)
{
    rbMassProperties p;
    rbError error = {0};
    assert_int_equal(rbGeometry_GetMass(g, density, &p, &error), RB_STATUS_OK);
    return p;
}

typedef struct Closed {
    rbGeometry* geometry;
    double volume, z, ix, iy, iz; // inertia per mass about the center
} Closed;

// The closed forms of the handbooks, in full lengths where ours use half lengths.
static Closed makeClosed(rbRandom* random, int kind)
{
    rbError error = {0};
    double a = rbRandom_Range(random, 0.1, 2.0);
    double b = rbRandom_Range(random, 0.1, 2.0);
    double c = rbRandom_Range(random, 0.1, 2.0);
    double l = 2.0 * b;
    Closed made = {0};
    if (kind == 0) {
        made = (Closed){rbCreateSphere(a, &error),
                        4.0 * RB_PI * pow(a, 3) / 3.0,
                        0.0,
                        2 * a * a / 5,
                        2 * a * a / 5,
                        2 * a * a / 5};
    } else if (kind == 1) {
        made = (Closed){rbCreateBox(rbMakeVec3(a / 2, b / 2, c / 2), &error),
                        a * b * c,
                        0.0,
                        (b * b + c * c) / 12,
                        (a * a + c * c) / 12,
                        (a * a + b * b) / 12};
    } else if (kind == 2) {
        // cylinder and two half balls, each moved by the parallel axis theorem
        double vc = RB_PI * a * a * l;
        double vs = 2.0 * RB_PI * pow(a, 3) / 3.0;
        double half = 83.0 / 320.0 * a * a + pow(l / 2 + 3 * a / 8, 2);
        double v = vc + 2 * vs;
        double ix = (vc * (a * a / 4 + l * l / 12) + 2 * vs * half) / v;
        double iz = (vc * a * a / 2 + 2 * vs * 2 * a * a / 5) / v;
        made = (Closed){rbCreateCapsule(a, b, &error), v, 0.0, ix, ix, iz};
    } else if (kind == 3) {
        double ix = a * a / 4 + l * l / 12;
        made = (Closed){rbCreateCylinder(a, b, &error), RB_PI * a * a * l, 0.0, ix, ix, a * a / 2};
    } else if (kind == 4) {
        double ix = 3 * (4 * a * a + b * b) / 80;
        made = (Closed){
            rbCreateCone(a, b, &error), RB_PI * a * a * b / 3, -b / 4, ix, ix, 3 * a * a / 10};
    } else {
        made = (Closed){rbCreateEllipsoid(rbMakeVec3(a, b, c), &error),
                        4 * RB_PI * a * b * c / 3,
                        0.0,
                        (b * b + c * c) / 5,
                        (a * a + c * c) / 5,
                        (a * a + b * b) / 5};
    }
    requireOk(made.geometry, &error);
    return made;
}

static rbMassProperties fromClosed(const Closed* c, double density)
{
    double m = density * c->volume;
    rbMassProperties p = {c->volume, m, {0, 0, c->z}, {m * c->ix, m * c->iy, m * c->iz, 0, 0, 0}};
    return p;
}

// B-02
static void primitivesHaveTheirClosedForms(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(11)};
    for (int k = 0; k < rbTest_Count(600, 20000); ++k) {
        Closed closed = makeClosed(&random, k % 6);
        double density = rbRandom_Range(&random, 1.0, 1e4);
        rbMassProperties expected = fromClosed(&closed, density);
        rbMassProperties p = getMass(closed.geometry, density);
        checkSame(&p, &expected, 1e-14);
        rbDestroyGeometry(closed.geometry);
    }
}

// Sum of moved parts in long double: the definition, first about the origin.
typedef struct LongSum {
    long double v, m, c[3], s[3][3]; // s: second moments sum m x x^T + J
} LongSum;

static void addLong(LongSum* sum, const Closed* closed, rbTransform t, double density)
{
    rbMassProperties p = fromClosed(closed, density);
    rbMat3 r = rbMatFromQuat(t.q);
    const double axes[3][3] = {
        {r.cx.x, r.cx.y, r.cx.z}, {r.cy.x, r.cy.y, r.cy.z}, {r.cz.x, r.cz.y, r.cz.z}};
    // second moments along the principal axes from the moments of inertia
    long double j[3] = {(p.inertia.yy + p.inertia.zz - p.inertia.xx) / 2.0L,
                        (p.inertia.xx + p.inertia.zz - p.inertia.yy) / 2.0L,
                        (p.inertia.xx + p.inertia.yy - p.inertia.zz) / 2.0L};
    long double c[3] = {axes[2][0] * (long double)closed->z + t.p.x,
                        axes[2][1] * (long double)closed->z + t.p.y,
                        axes[2][2] * (long double)closed->z + t.p.z};
    sum->v += p.volume;
    sum->m += p.mass;
    for (int a = 0; a < 3; ++a) {
        sum->c[a] += p.mass * c[a];
        for (int b = 0; b < 3; ++b) {
            sum->s[a][b] += p.mass * c[a] * c[b];
            for (int k = 0; k < 3; ++k) {
                sum->s[a][b] += j[k] * axes[k][a] * axes[k][b];
            }
        }
    }
}

static rbMassProperties concludeLong(const LongSum* sum)
{
    long double c[3], s[3][3];
    for (int a = 0; a < 3; ++a) {
        c[a] = sum->c[a] / sum->m;
    }
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            s[a][b] = sum->s[a][b] - sum->m * c[a] * c[b];
        }
    }
    rbMassProperties p = {(double)sum->v,
                          (double)sum->m,
                          {(double)c[0], (double)c[1], (double)c[2]},
                          {(double)(s[1][1] + s[2][2]), (double)(s[0][0] + s[2][2]),
                           (double)(s[0][0] + s[1][1]), (double)-s[0][1], (double)-s[0][2],
                           (double)-s[1][2]}};
    return p;
}

// L-06, B-53
static void compoundsAreTheSumOfTheirParts(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(12)};
    for (int k = 0; k < rbTest_Count(500, 10000); ++k) {
        enum {
            COUNT = 7
        };
        rbCompoundChild children[COUNT];
        rbGeometry* owned[COUNT];
        LongSum sum = {0};
        const double inherited = 500.0;
        for (int i = 0; i < COUNT; ++i) {
            Closed closed = makeClosed(&random, rbRandom_Index(&random, 6));
            owned[i] = closed.geometry;
            children[i].geometry = closed.geometry;
            children[i].transform = randomTransform(&random, 3.0);
            children[i].density = i % 3 == 0 ? -(double)i : rbRandom_Range(&random, 1.0, 9000.0);
            double own = i % 3 == 0 ? inherited : children[i].density;
            addLong(&sum, &closed, children[i].transform, own);
        }
        rbError error = {0};
        rbGeometry* compound = rbCreateCompound(children, COUNT, &error);
        requireOk(compound, &error);
        rbMassProperties p = getMass(compound, inherited);
        rbMassProperties expected = concludeLong(&sum);
        checkSame(&p, &expected, 1e-13);
        // as a part of another compound it is only moved
        rbCompoundChild outer = {compound, randomTransform(&random, 2.0), 0.0};
        rbGeometry* nested = rbCreateCompound(&outer, 1, &error);
        requireOk(nested, &error);
        rbMassProperties moved = getMass(nested, inherited);
        expected = rbMassProperties_Transform(&p, outer.transform);
        checkSame(&moved, &expected, 1e-13);
        rbDestroyGeometry(nested);
        rbDestroyGeometry(compound);
        for (int i = 0; i < COUNT; ++i) {
            rbDestroyGeometry(owned[i]);
        }
    }
}

// A rattleback of four quarters of different densities: the sum is known by symmetry.
// L-06
static void densitiesOfPartsTurnThePrincipalAxes(void** state)
{
    (void)state;
    rbError error = {0};
    rbGeometry* box = rbCreateBox(rbMakeVec3(0.5, 0.25, 0.1), &error);
    requireOk(box, &error);
    rbCompoundChild children[4];
    for (int i = 0; i < 4; ++i) {
        double x = (i & 1) != 0 ? 0.5 : -0.5;
        double y = (i & 2) != 0 ? 0.25 : -0.25;
        children[i] =
            (rbCompoundChild){box, {{x, y, 0.0}, RB_QUAT_IDENTITY}, x * y > 0.0 ? 2000.0 : 1000.0};
    }
    rbGeometry* compound = rbCreateCompound(children, 4, &error);
    requireOk(compound, &error);
    rbMassProperties p = getMass(compound, 1.0);
    checkRelative(p.mass, 0.1 * 6000.0, 1e-14);
    checkNear(rbLength(p.center), 0.0, 1e-16);
    // products of inertia: sum of m x y = (200 + 200 - 100 - 100) 0.125
    checkRelative(p.inertia.xy, -25.0, 1e-14);
    rbVec3 moments;
    rbTransform frame;
    rbMassProperties_Principal(&p, &moments, &frame);
    // tan 2a = 2 Ixy / (Ixx - Iyy) with both signs flipped
    double angle = 2.0 * atan2(frame.q.z, frame.q.w);
    checkNear(fabs(tan(2.0 * angle)), fabs(2.0 * p.inertia.xy / (p.inertia.yy - p.inertia.xx)),
              1e-12);
    rbDestroyGeometry(compound);
    rbDestroyGeometry(box);
}

// L-07
static void principalFramesDiagonalizeTheInertia(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(13)};
    for (int k = 0; k < rbTest_Count(2000, 50000); ++k) {
        Closed closed = makeClosed(&random, k % 6);
        rbMassProperties body = fromClosed(&closed, 100.0);
        rbMassProperties p = rbMassProperties_Transform(&body, randomTransform(&random, 3.0));
        rbVec3 moments;
        rbTransform frame;
        rbMassProperties_Principal(&p, &moments, &frame);
        checkNear(rbDotQuat(frame.q, frame.q), 1.0, 1e-14);
        checkNear(rbDistance(frame.p, p.center), 0.0, 0.0);
        rbMassProperties back = {
            p.volume, p.mass, RB_VEC3_ZERO, {moments.x, moments.y, moments.z, 0.0, 0.0, 0.0}};
        back = rbMassProperties_Transform(&back, frame);
        checkSame(&back, &p, 2e-14);
        // a diagonal one stays unchanged
        rbMassProperties_Principal(&body, &moments, &frame);
        assert_true(frame.q.w == 1.0 && frame.q.x == 0.0 && frame.q.y == 0.0 && frame.q.z == 0.0);
        assert_true(moments.x == body.inertia.xx && moments.y == body.inertia.yy &&
                    moments.z == body.inertia.zz);
        rbDestroyGeometry(closed.geometry);
    }
}

static void impossibleInertiaIsRefusedWithItsMoments(void** state)
{
    (void)state;
    rbError error = {0};
    rbMassProperties good = {1.0, 2.0, {0, 0, 0}, {1.0, 2.0, 2.5, 0, 0, 0}};
    assert_int_equal(rbMassProperties_Validate(&good, &error), RB_STATUS_OK);
    rbMassProperties plate = {1.0, 2.0, {0, 0, 0}, {1.0, 2.0, 3.0, 0, 0, 0}};
    assert_int_equal(rbMassProperties_Validate(&plate, &error), RB_STATUS_OK);
    rbMassProperties bad = good;
    bad.inertia.zz = 3.001;
    assert_int_equal(rbMassProperties_Validate(&bad, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "3.001"));
    // the same in another frame
    rbTransform turned = {{1, 2, 3}, rbNormalizeQuat((rbQuat){0.3, 0.5, -0.7, 0.1})};
    bad = rbMassProperties_Transform(&bad, turned);
    assert_int_equal(rbMassProperties_Validate(&bad, &error), RB_STATUS_INVALID);
    plate = rbMassProperties_Transform(&plate, turned);
    assert_int_equal(rbMassProperties_Validate(&plate, &error), RB_STATUS_OK);
    bad = good;
    bad.inertia.xy = 1.5; // determinant below zero
    assert_int_equal(rbMassProperties_Validate(&bad, &error), RB_STATUS_INVALID);
    bad = good;
    bad.mass = 0.0;
    assert_int_equal(rbMassProperties_Validate(&bad, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "mass"));
    bad = good;
    bad.inertia.yz = NAN;
    assert_int_equal(rbMassProperties_Validate(&bad, &error), RB_STATUS_INVALID);
}

static void inertiaAboutAPointIsThatOfParallelAxes(void** state)
{
    (void)state;
    // two point-like balls at +-1 on x: about a point at (0,0,2) the distances are known
    rbMassProperties a = {1e-9, 3.0, {1, 0, 0}, {1e-9, 1e-9, 1e-9, 0, 0, 0}};
    rbMassProperties b = {1e-9, 3.0, {-1, 0, 0}, {1e-9, 1e-9, 1e-9, 0, 0, 0}};
    rbMassProperties sum = rbMassProperties_Add(&a, &b);
    checkNear(sum.inertia.xx, 2e-9, 1e-20);
    checkNear(sum.inertia.yy, 6.0, 1e-8);
    rbSym3 about = rbMassProperties_GetInertiaAbout(&sum, rbMakeVec3(0, 0, 2));
    checkNear(about.xx, 24.0, 1e-8);
    checkNear(about.yy, 30.0, 1e-8);
    checkNear(about.zz, 6.0, 1e-8);
}

RB_TEST_GROUP(test_mass_properties, cmocka_unit_test(primitivesHaveTheirClosedForms),
              cmocka_unit_test(compoundsAreTheSumOfTheirParts),
              cmocka_unit_test(densitiesOfPartsTurnThePrincipalAxes),
              cmocka_unit_test(principalFramesDiagonalizeTheInertia),
              cmocka_unit_test(impossibleInertiaIsRefusedWithItsMoments),
              cmocka_unit_test(inertiaAboutAPointIsThatOfParallelAxes));
