// Random pairs of all closed forms: support functions prove every answer from both sides.
//
// The gap along any direction is at most the signed distance, so the gap along the answer's normal
// bounds it from below; two points of the surfaces that far apart (or, in overlap, no better
// direction anywhere) bound it from above.
#include "collision/geometry/shape_ops.h"
#include "lab/math/random3.h"
#include "pair_support.h"
#include "rb_test.h"

#include <math.h>

static const rbShapeType pairs[][2] = {
    {RB_SHAPE_SPHERE, RB_SHAPE_SPHERE},   {RB_SHAPE_SPHERE, RB_SHAPE_BOX},
    {RB_SHAPE_SPHERE, RB_SHAPE_CAPSULE},  {RB_SHAPE_SPHERE, RB_SHAPE_CYLINDER},
    {RB_SHAPE_SPHERE, RB_SHAPE_CONE},     {RB_SHAPE_SPHERE, RB_SHAPE_ELLIPSOID},
    {RB_SHAPE_BOX, RB_SHAPE_BOX},         {RB_SHAPE_BOX, RB_SHAPE_CAPSULE},
    {RB_SHAPE_CAPSULE, RB_SHAPE_CAPSULE}, {RB_SHAPE_SPHERE, RB_SHAPE_PLANE},
    {RB_SHAPE_BOX, RB_SHAPE_PLANE},       {RB_SHAPE_CAPSULE, RB_SHAPE_PLANE},
    {RB_SHAPE_CYLINDER, RB_SHAPE_PLANE},  {RB_SHAPE_CONE, RB_SHAPE_PLANE},
    {RB_SHAPE_ELLIPSOID, RB_SHAPE_PLANE}, {RB_SHAPE_HULL, RB_SHAPE_PLANE},
    {RB_SHAPE_BOX, RB_SHAPE_SPHERE},      {RB_SHAPE_CAPSULE, RB_SHAPE_BOX},
};
#define PAIR_COUNT ((int)(sizeof pairs / sizeof pairs[0]))
#define CURVED_COUNT 9 // the first ones have no plane

typedef struct Case {
    rbGeometry* a;
    rbGeometry* b;
    rbTransform t;
    rbSeparation s;
    double scale;
} Case;

static Case makeCase(rbRandom* random, int pair)
{
    Case c;
    c.a = makeRandomShape(random, pairs[pair][0]);
    c.b = makeRandomShape(random, pairs[pair][1]);
    c.t = makeRandomPose(random, c.a, c.b);
    c.s = collidePair(c.a, c.b, c.t);
    c.scale = pairScale(c.a, c.b, c.t);
    return c;
}

static void freeCase(Case* c)
{
    rbDestroyGeometry(c->a);
    rbDestroyGeometry(c->b);
}

static void explain(const Case* c, int i)
{
    print_error("case %d: %s and %s, p (%.17g %.17g %.17g) q (%.17g %.17g %.17g %.17g)\n"
                "  distance %.17g normal (%.17g %.17g %.17g) gap along it %.17g\n",
                i, rbShapeType_Name(c->a->type), rbShapeType_Name(c->b->type), c->t.p.x, c->t.p.y,
                c->t.p.z, c->t.q.w, c->t.q.x, c->t.q.y, c->t.q.z, c->s.distance, c->s.normal.x,
                c->s.normal.y, c->s.normal.z, (double)gapAlong(c->a, c->b, c->t, c->s.normal));
    rbShapeData d[2] = {c->a->data, c->b->data};
    for (int k = 0; k < 2; ++k) {
        rbVec3 h = d[k].box.halfExtents;
        print_error("  data %.17g %.17g %.17g\n", h.x, h.y, h.z);
    }
}

// The gap along the normal is the distance; points and normal are consistent; points are on the
// surfaces.
static bool isConsistent(const Case* c)
{
    const rbSeparation* s = &c->s;
    double tolerance = 1e-12 * (c->scale > 1.0 ? c->scale : 1.0);
    rbVec3 between = rbSub(s->pointB, s->pointA);
    rbWide gap = gapAlong(c->a, c->b, c->t, s->normal);
    double offA = measureOffSurface(c->a, s->pointA);
    double offB = measureOffSurface(c->b, rbInvTransformPoint(c->t, s->pointB));
    bool fits = s->reason == RB_STOP_CLOSED_FORM && s->lower <= s->distance &&
                s->distance <= s->upper && s->upper - s->lower <= 0x1p-43 * c->scale;
    fits = fits && fabs(rbLength(s->normal) - 1.0) < 1e-14;
    fits = fits && rbLength(rbAddScaled(between, -s->distance, s->normal)) <= tolerance;
    fits = fits && s->lower <= gap && gap <= s->upper;
    return fits && fabs(offA) <= tolerance && fabs(offB) <= tolerance;
}

// G-16, G-36
static void gapAlongTheNormalIsTheDistance(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(301)};
    int count = rbTest_Count(12000, 3000000);
    for (int i = 0; i < count; ++i) {
        Case c = makeCase(&random, i % PAIR_COUNT);
        if (!isConsistent(&c)) {
            explain(&c, i);
            fail();
        }
        freeCase(&c);
    }
}

// G-36, L-115b
static void noDirectionHasALargerGap(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(302)};
    int count = rbTest_Count(900, 250000);
    for (int i = 0; i < count; ++i) {
        Case c = makeCase(&random, i % CURVED_COUNT);
        double found = searchGap(c.a, c.b, c.t, 300);
        if (!(found <= c.s.distance + 1e-12 * (c.scale > 1.0 ? c.scale : 1.0))) {
            explain(&c, i);
            print_error("  the search found %.17g\n", found);
            fail();
        }
        freeCase(&c);
    }
}

// G-36
static void swappingTheShapesChangesNothing(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(303)};
    int count = rbTest_Count(6000, 1000000);
    static const int symmetric[] = {0, 6, 8};
    for (int i = 0; i < count; ++i) {
        Case c = makeCase(&random, symmetric[i % 3]);
        rbSeparation other = collidePair(c.b, c.a, rbInvertTransform(c.t));
        rbSeparation back = rbFlipSeparation(&other, rbInvertTransform(c.t));
        double tolerance = 1e-12 * (c.scale > 1.0 ? c.scale : 1.0);
        // where several directions are best the swapped one may differ, but is equally good
        rbWide gap = gapAlong(c.a, c.b, c.t, back.normal);
        bool fits = fabs(back.distance - c.s.distance) <= tolerance &&
                    rbWideAbs(gap - c.s.distance) <= tolerance;
        if (fits && c.s.distance > 1e-3) { // unique
            fits = rbDistance(back.normal, c.s.normal) <= 1e-11;
        }
        if (!fits) {
            explain(&c, i);
            print_error("  swapped distance %.17g, gap %.17g\n", other.distance, (double)gap);
            fail();
        }
        freeCase(&c);
    }
}

// G-05, G-36
static void movingAlongTheNormalSetsTheDistance(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(304)};
    int count = rbTest_Count(6000, 1000000);
    static const double targets[] = {0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-5, -1e-5, 0.5};
    for (int i = 0; i < count; ++i) {
        Case c = makeCase(&random, i % PAIR_COUNT);
        double target = targets[rbRandom_Index(&random, 8)];
        // outward a signed distance grows like the displacement; inward only up to the depth
        if (c.s.distance <= target) {
            rbTransform moved = c.t;
            moved.p = rbAddScaled(moved.p, target - c.s.distance, c.s.normal);
            double tolerance = 1e-12 * (c.scale > 1.0 ? c.scale : 1.0);
            rbSeparation s = collidePair(c.a, c.b, moved);
            if (!(fabs(s.distance - target) <= tolerance)) {
                explain(&c, i);
                print_error("  moved: %.17g instead of %.17g\n", s.distance, target);
                fail();
            }
        }
        freeCase(&c);
    }
}

static void scalesFromTinyToHugeKeepTheirDigits(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(305)};
    int count = rbTest_Count(4000, 400000);
    for (int i = 0; i < count; ++i) {
        double unit = ldexp(1.0, rbRandom_Index(&random, 60) - 30);
        rbVec3 h = {unit * rbRandom_Range(&random, 0.1, 1.0), unit * rbRandom_Unit(&random) + unit,
                    unit * rbRandom_Range(&random, 1e-6, 1.0)};
        rbGeometry* a = i % 2 == 0 ? rbCreateBox(h, NULL) : rbCreateSphere(h.x, NULL);
        rbGeometry* b = i % 3 == 0 ? rbCreateEllipsoid(h, NULL) : rbCreateBox(h, NULL);
        if (a->type == RB_SHAPE_BOX && b->type == RB_SHAPE_ELLIPSOID) {
            rbDestroyGeometry(a);
            a = rbCreateSphere(h.y, NULL);
        }
        rbTransform t = {
            rbScale(unit * rbRandom_Range(&random, 0.0, 4.0), rbRandom_Direction(&random)),
            rbRandom_Quat(&random)};
        rbSeparation s = collidePair(a, b, t);
        assert_true(rbWideAbs(gapAlong(a, b, t, s.normal) - s.distance) <=
                    RB_COLLIDE_SLACK * pairScale(a, b, t));
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
}

RB_TEST_GROUP(prop_closed_forms, cmocka_unit_test(gapAlongTheNormalIsTheDistance),
              cmocka_unit_test(noDirectionHasALargerGap),
              cmocka_unit_test(swappingTheShapesChangesNothing),
              cmocka_unit_test(movingAlongTheNormalSetsTheDistance),
              cmocka_unit_test(scalesFromTinyToHugeKeepTheirDigits));
