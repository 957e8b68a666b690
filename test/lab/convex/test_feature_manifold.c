// Manifolds from closest features: known regions, and the same points as by clipping.
#include "collision/geometry/shape_ops.h"
#include "lab/convex/feature_manifold.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>

static rbQuat turnAbout(rbVec3 axis, double angle)
{
    double s, c;
    rbSinCos(0.5 * angle, &s, &c);
    return (rbQuat){c, s * axis.x, s * axis.y, s * axis.z};
}

static const rbVec3 axisX = {1.0, 0.0, 0.0};
static const rbVec3 axisY = {0.0, 1.0, 0.0};
static const rbVec3 axisZ = {0.0, 0.0, 1.0};

// Upright prism over a regular polygon.
static rbGeometry* makePrism(int corners, double radius, double half)
{
    rbVec3 points[48];
    for (int i = 0; i < corners; ++i) {
        double s, c;
        rbSinCos(2.0 * RB_PI * i / corners, &s, &c);
        points[i] = rbMakeVec3(radius * c, radius * s, -half);
        points[corners + i] = rbMakeVec3(radius * c, radius * s, half);
    }
    rbGeometry* made = rbCreateHull(points, 2 * corners, NULL);
    assert_non_null(made);
    return made;
}

typedef struct Answer {
    rbFeatureResult walk;
    rbFeatureContacts contacts; // all
    rbManifold byFeatures;
    rbManifold byClipping;
} Answer;

static Answer answer(const rbGeometry* a, const rbGeometry* b, rbTransform t, double threshold)
{
    Answer r;
    rbFeatureBody bodies[2];
    rbFeatureBody_Make(a, &bodies[0]);
    rbFeatureBody_Make(b, &bodies[1]);
    r.walk = rbFeatures_Walk(&bodies[0], &bodies[1], t, NULL);
    rbCollectFeatureContacts(&bodies[0], &bodies[1], t, &r.walk, threshold, &r.contacts);
    rbBuildFeatureManifold(a, b, t, &r.walk, threshold, &r.byFeatures);
    rbSeparation s = rbFeatureResult_GetSeparation(&r.walk, bodies[0].radius, bodies[1].radius);
    rbBuildManifold(a, b, t, &s, threshold, &r.byClipping);
    int most = r.contacts.count < 4 ? r.contacts.count : 4;
    assert_int_equal(r.byFeatures.count, most);
    double lowest = INFINITY;
    for (int k = 0; k < r.contacts.count; ++k) {
        const rbManifoldPoint* p = &r.contacts.points[k];
        rbVec3 rest = rbAddScaled(rbSub(p->pointB, p->pointA), -p->distance, r.walk.normal);
        checkBelow(rbLength(rest), 1e-13);
        assert_true(p->distance <= threshold);
        lowest = fmin(lowest, p->distance);
        for (int m = 0; m < k; ++m) {
            assert_true(r.contacts.points[m].featureId != p->featureId);
        }
    }
    assert_int_equal(most == 0, s.distance > threshold);
    if (most > 0) {
        checkNear(lowest, s.distance, 1e-8);
        checkNear(r.byFeatures.points[0].distance, lowest, 1e-8);
    }
    return r;
}

// Is there a point at the same place, on both bodies, within 1e-9?
static const rbManifoldPoint* findPoint(const rbManifoldPoint* points, int count,
                                        const rbManifoldPoint* wanted)
{
    for (int k = 0; k < count; ++k) {
        if (rbDistance(points[k].pointA, wanted->pointA) < 1e-9 &&
            rbDistance(points[k].pointB, wanted->pointB) < 1e-9) {
            return &points[k];
        }
    }
    return NULL;
}

// Clipping found nothing that the features do not have; for four points or fewer both are equal.
static void checkSamePoints(const Answer* r)
{
    for (int k = 0; k < r->byClipping.count; ++k) {
        const rbManifoldPoint* p = &r->byClipping.points[k];
        if (findPoint(r->contacts.points, r->contacts.count, p) == NULL) {
            fail_msg("point %d of %d at (%.12g, %.12g, %.12g) is not among the %d by features", k,
                     r->byClipping.count, p->pointA.x, p->pointA.y, p->pointA.z, r->contacts.count);
        }
    }
    assert_int_equal(r->byClipping.count, r->byFeatures.count);
    for (int k = 0; k < r->contacts.count && r->contacts.count <= 4; ++k) {
        assert_non_null(
            findPoint(r->byClipping.points, r->byClipping.count, &r->contacts.points[k]));
    }
}

static bool hasPoint(const rbFeatureContacts* m, double x, double y, double distance)
{
    for (int k = 0; k < m->count; ++k) {
        const rbManifoldPoint* p = &m->points[k];
        if (fabs(p->pointA.x - x) < 1e-10 && fabs(p->pointA.y - y) < 1e-10 &&
            fabs(p->distance - distance) < 1e-10) {
            return true;
        }
    }
    return false;
}

// B-60
static void stackedBoxesTouchInTheCornersOfTheirOverlap(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbGeometry* small = rbCreateBox(rbMakeVec3(0.5, 0.25, 1.0), NULL);
    const double gaps[] = {0.0, 1e-3, -0.01};
    for (int i = 0; i < 3; ++i) {
        double g = gaps[i];
        rbTransform t = {{0.5, -0.25, 2.0 + g}, RB_QUAT_IDENTITY};
        // [-1, 1]^2 and [-0.5, 1.5] x [-1.25, 0.75] share [-0.5, 1] x [-1, 0.75]
        Answer r = answer(box, box, t, 0.01);
        assert_int_equal(r.contacts.count, 4);
        assert_true(hasPoint(&r.contacts, -0.5, -1.0, g) && hasPoint(&r.contacts, 1.0, -1.0, g));
        assert_true(hasPoint(&r.contacts, 1.0, 0.75, g) && hasPoint(&r.contacts, -0.5, 0.75, g));
        checkSamePoints(&r);
        t.p = rbMakeVec3(0.25, 0.25, 2.0 + g);
        r = answer(box, small, t, 0.01);
        assert_int_equal(r.contacts.count, 4);
        assert_true(hasPoint(&r.contacts, -0.25, 0.0, g) && hasPoint(&r.contacts, 0.75, 0.5, g));
        checkSamePoints(&r);
        // exactly on each other
        t.p = rbMakeVec3(0.0, 0.0, 2.0 + g);
        r = answer(box, box, t, 0.01);
        assert_int_equal(r.contacts.count, 4);
        checkSamePoints(&r);
    }
    rbTransform far = {{0.5, -0.25, 2.02}, RB_QUAT_IDENTITY};
    assert_int_equal(answer(box, box, far, 0.01).contacts.count, 0);
    rbDestroyGeometry(box);
    rbDestroyGeometry(small);
}

// ----------------------------------------------------------------------------- random regions

typedef struct Flat {
    int count;
    double x[96], y[96];
} Flat;

// Keeps what is left of the line from (ax, ay) to (bx, by).
static Flat cutFlat(const Flat* in, double ax, double ay, double bx, double by)
{
    Flat out = {0};
    for (int k = 0; k < in->count; ++k) {
        int n = (k + 1) % in->count;
        double here = (bx - ax) * (in->y[k] - ay) - (by - ay) * (in->x[k] - ax);
        double next = (bx - ax) * (in->y[n] - ay) - (by - ay) * (in->x[n] - ax);
        if (here >= 0.0) {
            out.x[out.count] = in->x[k];
            out.y[out.count++] = in->y[k];
        }
        if ((here >= 0.0) != (next >= 0.0)) {
            double s = here / (here - next);
            out.x[out.count] = in->x[k] + s * (in->x[n] - in->x[k]);
            out.y[out.count++] = in->y[k] + s * (in->y[n] - in->y[k]);
        }
    }
    return out;
}

static double areaOfFlat(const Flat* f)
{
    double sum = 0.0;
    for (int k = 0; k < f->count; ++k) {
        int n = (k + 1) % f->count;
        sum += f->x[k] * f->y[n] - f->x[n] * f->y[k];
    }
    return 0.5 * sum;
}

// Hull of the points seen from above, by gift wrapping: area.
static double areaOfContacts(const rbFeatureContacts* c)
{
    double sum = 0.0;
    for (int i = 0; i < c->count; ++i) {
        for (int j = 0; j < c->count; ++j) {
            rbVec3 p = c->points[i].pointA;
            rbVec3 q = c->points[j].pointA;
            bool isSide = i != j;
            for (int k = 0; k < c->count && isSide; ++k) {
                rbVec3 o = c->points[k].pointA;
                double left = (q.x - p.x) * (o.y - p.y) - (q.y - p.y) * (o.x - p.x);
                double along = (q.x - p.x) * (o.x - p.x) + (q.y - p.y) * (o.y - p.y);
                double length2 = (q.x - p.x) * (q.x - p.x) + (q.y - p.y) * (q.y - p.y);
                // everything is left of a side; on its line, only between its ends
                isSide = left > -1e-11 &&
                         (left > 1e-11 || k == i || k == j || (along > 0.0 && along < length2));
            }
            sum += isSide ? p.x * q.y - q.x * p.y : 0.0;
        }
    }
    return 0.5 * sum;
}

// Outline of the top (z > 0) or bottom of an upright shape, moved by t, counter-clockwise.
static Flat outlineOf(const rbGeometry* g, rbTransform t)
{
    Flat f = {0};
    if (g->type == RB_SHAPE_BOX) {
        static const double signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
        rbVec3 h = g->data.box.halfExtents;
        for (int k = 0; k < 4; ++k) {
            rbVec3 p = rbTransformPoint(t, rbMakeVec3(signs[k][0] * h.x, signs[k][1] * h.y, 0.0));
            f.x[f.count] = p.x;
            f.y[f.count++] = p.y;
        }
        return f;
    }
    const rbPolyhedron* p = g->polyhedron;
    for (int face = 0; face < p->faceCount; ++face) {
        if (p->normals[face].z > 0.5) {
            for (int k = p->faceStarts[face]; k < p->faceStarts[face + 1]; ++k) {
                rbVec3 v = rbTransformPoint(t, p->vertices[p->indices[k]]);
                f.x[f.count] = v.x;
                f.y[f.count++] = v.y;
            }
        }
    }
    return f;
}

static rbGeometry* randomUpright(rbRandom* random)
{
    if (rbRandom_Index(random, 2) == 0) {
        double x = rbRandom_Range(random, 0.3, 1.2);
        double y = rbRandom_Range(random, 0.3, 1.2);
        return rbCreateBox(rbMakeVec3(x, y, 0.5), NULL);
    }
    return makePrism(3 + rbRandom_Index(random, 7), rbRandom_Range(random, 0.3, 1.2), 0.5);
}

// B-60
static void facesOnFacesCoverTheIntersectionOfTheirOutlines(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(601)};
    int count = rbTest_Count(1500, 30000);
    int compared = 0;
    static const double gaps[] = {0.0, 1e-6, 1e-3, -1e-4};
    for (int i = 0; i < count; ++i) {
        rbGeometry* a = randomUpright(&random);
        rbGeometry* b = randomUpright(&random);
        double angle = rbRandom_Index(&random, 3) == 0 ? 0.5 * RB_PI * rbRandom_Index(&random, 4)
                                                       : 2.0 * RB_PI * rbRandom_Unit(&random);
        double x = 0.6 * rbRandom_Symmetric(&random);
        double y = 0.6 * rbRandom_Symmetric(&random);
        rbTransform t = {{x, y, 1.0 + gaps[i % 4]}, turnAbout(axisZ, angle)};
        Answer r = answer(a, b, t, 0.01);
        Flat region = outlineOf(a, RB_TRANSFORM_IDENTITY);
        Flat other = outlineOf(b, t);
        for (int k = 0; k < other.count; ++k) {
            int n = (k + 1) % other.count;
            region = cutFlat(&region, other.x[k], other.y[k], other.x[n], other.y[n]);
        }
        double area = areaOfFlat(&region);
        // overlap is sometimes found through a side face: then that is the normal
        if (region.count >= 3 && area > 1e-3 && r.walk.normal.z > 0.99) {
            ++compared;
            checkSamePoints(&r);
            checkNear(areaOfContacts(&r.contacts), area, 1e-9);
            rbVec3 low = {INFINITY, INFINITY, 0.0};
            rbVec3 high = {-INFINITY, -INFINITY, 0.0};
            for (int k = 0; k < r.contacts.count; ++k) {
                low = rbMin3(low, r.contacts.points[k].pointA);
                high = rbMax3(high, r.contacts.points[k].pointA);
                checkNear(r.contacts.points[k].distance, gaps[i % 4], 1e-12);
            }
            double bounds[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
            for (int k = 0; k < region.count; ++k) {
                bounds[0] = fmin(bounds[0], region.x[k]);
                bounds[1] = fmin(bounds[1], region.y[k]);
                bounds[2] = fmax(bounds[2], region.x[k]);
                bounds[3] = fmax(bounds[3], region.y[k]);
            }
            checkNear(low.x, bounds[0], 1e-9);
            checkNear(low.y, bounds[1], 1e-9);
            checkNear(high.x, bounds[2], 1e-9);
            checkNear(high.y, bounds[3], 1e-9);
        }
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    assert_true(compared > count / 2);
}

// A box or prism stands on one of its edges on the face of another.
// B-60
static void edgesOnFacesHaveTheTwoEndsOfTheirOverlap(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(602)};
    int count = rbTest_Count(1500, 30000);
    int compared = 0;
    int more = 0;
    for (int i = 0; i < count; ++i) {
        rbGeometry* a = randomUpright(&random);
        rbGeometry* b = rbCreateBox(rbMakeVec3(rbRandom_Range(&random, 0.3, 1.2), 0.5, 0.5), NULL);
        // turned about x by 30 to 60 degrees: the lowest edge is along x
        double tilt = rbRandom_Range(&random, RB_PI / 6.0, RB_PI / 3.0);
        double s, c;
        rbSinCos(tilt, &s, &c);
        double height = 0.5 * (s + c);
        rbQuat turn = rbMulQuat(turnAbout(axisZ, 2.0 * RB_PI * rbRandom_Unit(&random)),
                                turnAbout(axisX, tilt));
        rbTransform t = {{0.2 * rbRandom_Symmetric(&random), 0.2 * rbRandom_Symmetric(&random),
                          0.5 + height + 1e-4},
                         rbNormalizeQuat(turn)};
        Answer r = answer(a, b, t, 2e-4);
        if (r.walk.normal.z > 0.999999) {
            checkSamePoints(&r);
            // more where an end is within the threshold of a corner of the face
            assert_in_range(r.contacts.count, 2, 4);
            more += r.contacts.count > 2 ? 1 : 0;
            ++compared;
        }
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    assert_true(compared > count / 2 && more <= 2 + count / 100);
}

// B-60
static void parallelEdgesShareAnInterval(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(603)};
    int count = rbTest_Count(1000, 20000);
    double high = sqrt(2.0);
    rbGeometry* cube = rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL);
    for (int i = 0; i < count; ++i) {
        rbGeometry* a = rbCreateBox(rbMakeVec3(rbRandom_Range(&random, 0.3, 1.2), 0.5, 0.5), NULL);
        rbGeometry* b = rbCreateBox(rbMakeVec3(rbRandom_Range(&random, 0.3, 1.2), 0.5, 0.5), NULL);
        double ax = a->data.box.halfExtents.x;
        double bx = b->data.box.halfExtents.x;
        double shift = (ax + bx - 0.01) * rbRandom_Symmetric(&random);
        rbTransform worldA = {RB_VEC3_ZERO, turnAbout(axisX, 0.25 * RB_PI)};
        rbTransform worldB = {{shift, 0.0, high + 1e-3}, turnAbout(axisX, 0.25 * RB_PI)};
        Answer r = answer(a, b, rbInvMulTransforms(worldA, worldB), 0.002);
        double low = fmax(-ax, shift - bx);
        double up = fmin(ax, shift + bx);
        assert_int_equal(r.contacts.count, 2);
        double first = r.contacts.points[0].pointA.x;
        double last = r.contacts.points[1].pointA.x;
        checkNear(fmin(first, last), low, 1e-9);
        checkNear(fmax(first, last), up, 1e-9);
        checkNear(r.contacts.points[0].distance, 1e-3, 1e-12);
        checkSamePoints(&r);
        // crossed: one point
        worldB.q = turnAbout(axisY, 0.25 * RB_PI);
        worldB.p.x = (ax - 0.01) * rbRandom_Symmetric(&random);
        worldB.p.y = 0.4 * rbRandom_Symmetric(&random);
        r = answer(a, cube, rbInvMulTransforms(worldA, worldB), 0.002);
        assert_int_equal(r.contacts.count, 1);
        checkNear(r.contacts.points[0].pointA.x, worldB.p.x, 1e-9);
        checkSamePoints(&r);
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    rbDestroyGeometry(cube);
}

// B-59, B-60
static void capsulesAndSpheresTakePart(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbGeometry* capsule = rbCreateCapsule(0.5, 2.0, NULL);
    rbGeometry* ball = rbCreateSphere(0.5, NULL);
    rbTransform lying = {{0.25, 0.0, 1.501}, turnAbout(axisY, 0.5 * RB_PI)};
    Answer r = answer(box, capsule, lying, 0.01);
    assert_int_equal(r.contacts.count, 2);
    assert_true(hasPoint(&r.contacts, 1.0, 0.0, 1e-3) && hasPoint(&r.contacts, -1.0, 0.0, 1e-3));
    checkSamePoints(&r);
    // parallel capsules share z from -1 to 2
    rbTransform beside = {{1.0 + 1e-3, 0.0, 1.0}, RB_QUAT_IDENTITY};
    r = answer(capsule, capsule, beside, 0.01);
    assert_int_equal(r.contacts.count, 2);
    double z0 = r.contacts.points[0].pointA.z;
    double z1 = r.contacts.points[1].pointA.z;
    checkNear(fabs(z0 - z1), 3.0, 1e-12);
    checkNear(z0 + z1, 1.0, 1e-12);
    checkSamePoints(&r);
    // upright on the face, and a ball: the witness
    rbTransform standing = {{0.25, 0.5, 3.501}, RB_QUAT_IDENTITY};
    r = answer(box, capsule, standing, 0.01);
    assert_int_equal(r.contacts.count, 1);
    checkSamePoints(&r);
    standing.p.z = 1.501;
    r = answer(box, ball, standing, 0.01);
    assert_int_equal(r.contacts.count, 1);
    assert_true(hasPoint(&r.contacts, 0.25, 0.5, 1e-3));
    checkSamePoints(&r);
    rbDestroyGeometry(box);
    rbDestroyGeometry(capsule);
    rbDestroyGeometry(ball);
}

// Faces tilted by up to 0.02 rad: the points within the threshold, the same as by clipping.
// B-60
static void tiltedFacesKeepTheNearPoints(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(604)};
    int count = rbTest_Count(1500, 30000);
    int compared = 0;
    for (int i = 0; i < count; ++i) {
        rbGeometry* a = randomUpright(&random);
        rbGeometry* b = randomUpright(&random);
        rbQuat tilt = turnAbout(rbRandom_Direction(&random), 0.02 * rbRandom_Unit(&random));
        rbQuat turn = turnAbout(axisZ, 2.0 * RB_PI * rbRandom_Unit(&random));
        double x = 0.6 * rbRandom_Symmetric(&random);
        double y = 0.6 * rbRandom_Symmetric(&random);
        rbTransform t = {{x, y, 1.03}, rbNormalizeQuat(rbMulQuat(tilt, turn))};
        Answer r = answer(a, b, t, 0.05);
        bool isFaced =
            r.walk.features.kindA == RB_FEATURE_FACE || r.walk.features.kindB == RB_FEATURE_FACE;
        if (isFaced && !r.walk.overlaps && fabs(r.walk.normal.z) > 0.99) {
            ++compared;
            checkSamePoints(&r);
        }
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    assert_true(compared > count / 2);
}

// B-60
static void idsStayUnderTinyMotion(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(605)};
    int count = rbTest_Count(500, 10000);
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 0.7, 0.5), NULL);
    rbGeometry* small = makePrism(4, 0.3, 0.5);
    for (int i = 0; i < count; ++i) {
        double x = 0.3 * rbRandom_Symmetric(&random);
        double y = 0.2 * rbRandom_Symmetric(&random);
        rbTransform t = {{x, y, 1.001}, turnAbout(axisZ, rbRandom_Range(&random, 0.1, 1.4))};
        rbTransform moved = t;
        moved.p = rbAddScaled(moved.p, 1e-8, rbRandom_Direction(&random));
        moved.q = rbNormalizeQuat(rbMulQuat(turnAbout(rbRandom_Direction(&random), 1e-8), t.q));
        Answer before = answer(box, small, t, 0.02);
        Answer after = answer(box, small, moved, 0.02);
        assert_int_equal(before.byFeatures.count, 4);
        assert_int_equal(after.byFeatures.count, 4);
        int found = 0;
        for (int k = 0; k < 16; ++k) {
            const rbManifoldPoint* p = &before.byFeatures.points[k / 4];
            const rbManifoldPoint* q = &after.byFeatures.points[k % 4];
            if (p->featureId == q->featureId) {
                ++found;
                checkBelow(rbDistance(p->pointA, q->pointA), 1e-6);
            }
            // clipping has the same names
            const rbManifoldPoint* c = &before.byClipping.points[k % 4];
            if (rbDistance(p->pointA, c->pointA) < 1e-9) {
                assert_int_equal(p->featureId, c->featureId);
            }
        }
        assert_int_equal(found, 4);
    }
    rbDestroyGeometry(box);
    rbDestroyGeometry(small);
}

RB_TEST_GROUP(test_feature_manifold, cmocka_unit_test(stackedBoxesTouchInTheCornersOfTheirOverlap),
              cmocka_unit_test(facesOnFacesCoverTheIntersectionOfTheirOutlines),
              cmocka_unit_test(edgesOnFacesHaveTheTwoEndsOfTheirOverlap),
              cmocka_unit_test(parallelEdgesShareAnInterval),
              cmocka_unit_test(capsulesAndSpheresTakePart),
              cmocka_unit_test(tiltedFacesKeepTheNearPoints),
              cmocka_unit_test(idsStayUnderTinyMotion));
