// Contact records and the overlap query: the additions of the public functions to the distance.
#include "base/core/memory.h"
#include "collision/convex/epa.h"
#include "lab/math/random3.h"
#include "pair_support.h"
#include "rb_test.h"

#include <rattleback/collision.h>

#include <math.h>
#include <string.h>

static rbSeparationInput inputOf(const rbGeometry* a, const rbGeometry* b, rbTransform t)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a;
    input.geometryB = b;
    input.transformBtoA = t;
    return input;
}

static int findContacts(const rbSeparationInput* input, double threshold, rbManifold* manifolds,
                        int capacity)
{
    rbError error = {0};
    rbContactList list = {.manifolds = manifolds, .capacity = capacity};
    rbStatus status = rbFindContacts(input, threshold, NULL, pairScratch, &list, &error);
    if (status != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    return list.count;
}

// G-05
static void gapsUpToTheThresholdAreContacts(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(0.5, NULL);
    rbManifold m;
    rbSeparationInput input = inputOf(ball, ball, at(1.0 + 0.9e-8, 0.0, 0.0));
    assert_int_equal(findContacts(&input, RB_CONTACT_THRESHOLD, &m, 1), 1);
    checkNear(m.points[0].distance, 0.9e-8, 1e-15);
    checkNear(m.normal.x, 1.0, 0.0);
    input.transformBtoA = at(1.0 + 1.1e-8, 0.0, 0.0);
    assert_int_equal(findContacts(&input, RB_CONTACT_THRESHOLD, &m, 1), 0);
    assert_int_equal(findContacts(&input, 1e-6, &m, 1), 1);
    rbDestroyGeometry(ball);
}

// The point of a contact is halfway between the surfaces.
// G-29
static void contactPointsStandHalfway(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 2.0, 3.0), NULL);
    rbManifold m;
    rbSeparationInput input = inputOf(box, ball, at(1.9, 0.5, -0.25));
    assert_int_equal(findContacts(&input, 0.0, &m, 1), 1);
    assert_int_equal(m.count, 1);
    rbVec3 middle = rbManifoldPoint_GetMiddle(&m.points[0]);
    checkNear(middle.x, 0.95, 1e-15);
    checkNear(middle.y, 0.5, 1e-15);
    checkNear(middle.z, -0.25, 1e-15);
    rbDestroyGeometry(ball);
    rbDestroyGeometry(box);
}

static rbGeometry* makeHullOfBox(double x, double y, double z)
{
    rbVec3 corners[8];
    for (int i = 0; i < 8; ++i) {
        corners[i] =
            rbMakeVec3((i & 1) != 0 ? x : -x, (i & 2) != 0 ? y : -y, (i & 4) != 0 ? z : -z);
    }
    return rbCreateHull(corners, 8, NULL);
}

// A corner of a cube stands on a face of a box and sinks in along its diagonal: the witness points
// are the corner and its foot on the face, at every place of the face and by every method; also
// where both are hulls, which have no closed form: there the points are composed from the corners
// of faces with barycentric weights.
// G-29
static void cornersInFacesAreTheirOwnWitnesses(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(29)};
    rbGeometry* boxes[2] = {rbCreateBox(rbMakeVec3(1.0, 2.0, 3.0), NULL),
                            makeHullOfBox(1.0, 2.0, 3.0)};
    rbGeometry* cubes[2] = {rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL),
                            makeHullOfBox(0.5, 0.5, 0.5)};
    // The diagonal (-1, -1, -1) of the cube points to -x: half a turn about their bisector.
    rbVec3 diagonal = rbNormalize(rbMakeVec3(-1.0, -1.0, -1.0));
    rbVec3 bisector = rbNormalize(rbAdd(diagonal, rbMakeVec3(-1.0, 0.0, 0.0)));
    rbQuat turn = {0.0, bisector.x, bisector.y, bisector.z};
    for (int i = 0; i < 60; ++i) {
        double depth = rbRandom_Range(&random, 0.001, 0.1);
        rbVec3 corner = {1.0 - depth, rbRandom_Range(&random, -1.2, 1.2),
                         rbRandom_Range(&random, -2.2, 2.2)};
        rbVec3 foot = {1.0, corner.y, corner.z};
        rbTransform pose = {rbAdd(corner, rbMakeVec3(0.5 * sqrt(3.0), 0.0, 0.0)), turn};
        // EPA itself, before witnesses that miss the depth are replaced by better ones.
        static rbEpaScratch scratch;
        rbConvex a;
        rbConvex b;
        assert_true(rbConvex_Make(boxes[1], 0.0, &a) && rbConvex_Make(cubes[1], 0.0, &b));
        rbCso cso = rbCso_Make(&a, &b, pose);
        rbEpaSettings settings = rbDefaultEpaSettings();
        rbEpaResult epa = rbEpa_Depth(&cso, NULL, 0, &settings, &scratch);
        checkBelow(rbDistance(epa.a, foot), 1e-12);
        checkBelow(rbDistance(epa.b, corner), 1e-12);
        rbTransform back = rbInvertTransform(pose);
        for (int k = 0; k < 2 * RB_PAIR_COUNT; ++k) {
            bool isSwapped = k % 2 == 1;
            rbPairMethod method = (rbPairMethod)(k / 2);
            if (i % 2 == 1 && method == RB_PAIR_CLOSED_FORM) {
                continue;
            }
            rbSeparationInput input = isSwapped ? inputOf(cubes[i % 2], boxes[i % 2], back)
                                                : inputOf(boxes[i % 2], cubes[i % 2], pose);
            input.method = method;
            rbSeparation s;
            assert_int_equal(rbMeasureSeparation(&input, NULL, pairScratch, &s, NULL),
                             RB_STATUS_OK);
            rbVec3 inBox = isSwapped ? rbTransformPoint(pose, s.pointB) : s.pointA;
            rbVec3 inCube = isSwapped ? rbTransformPoint(pose, s.pointA) : s.pointB;
            checkNear(s.distance, -depth, 1e-12);
            checkBelow(rbDistance(inBox, foot), 1e-9);
            checkBelow(rbDistance(inCube, corner), 1e-9);
        }
    }
    for (int k = 0; k < 2; ++k) {
        rbDestroyGeometry(cubes[k]);
        rbDestroyGeometry(boxes[k]);
    }
}

// Three balls on a box, two of them in a union inside the union: exactly two contacts.
// G-05, G-15, G-17
static void unionsAppendTheContactsOfAllTheirParts(void** state)
{
    (void)state;
    rbError error = {0};
    rbGeometry* ball = rbCreateSphere(3.0, &error);
    rbGeometry* box = rbCreateBox(rbMakeVec3(5.0, 1.0, 5.0), &error);
    const rbCompoundChild twins[2] = {{ball, at(-3.0, 3.8, 0.0), 1.0},
                                      {ball, at(3.0, 3.8, 0.0), 1.0}};
    rbGeometry* inner = rbCreateCompound(twins, 2, &error);
    const rbCompoundChild parts[2] = {{ball, at(0.0, 6.0, 0.0), 1.0},
                                      {inner, at(0.0, 0.0, 0.0), 1.0}};
    rbGeometry* outer = rbCreateCompound(parts, 2, &error);
    assert_non_null(outer);
    rbManifold found[4];
    for (int method = RB_PAIR_AUTO; method <= RB_PAIR_ITERATIVE; ++method) {
        rbSeparationInput input = inputOf(outer, box, RB_TRANSFORM_IDENTITY);
        input.method = (rbPairMethod)method;
        assert_int_equal(findContacts(&input, RB_CONTACT_THRESHOLD, found, 4), 2);
        for (int i = 0; i < 2; ++i) {
            rbVec3 point = rbManifoldPoint_GetMiddle(&found[i].points[0]);
            checkNear(fabs(point.x), 3.0, 1e-12);
            checkNear(point.y, 0.9, 1e-12);
            checkNear(found[i].points[0].distance, -0.2, 1e-12);
            assert_int_equal(found[i].childA, 1); // of the outermost
        }
        assert_true(found[0].points[0].pointA.x * found[1].points[0].pointA.x < 0.0);
        // more found than stored
        assert_int_equal(findContacts(&input, RB_CONTACT_THRESHOLD, found, 1), 2);
    }
    rbGeometry* all[4] = {outer, inner, box, ball};
    for (int i = 0; i < 4; ++i) {
        rbDestroyGeometry(all[i]);
    }
}

// Rounding shapes moves the points of a manifold outward, not sideways, and changes no name.
// G-28
static void roundedShapesKeepTheirManifold(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbManifold sharp;
    rbManifold rounded;
    rbSeparationInput input = inputOf(box, box, at(0.5, -0.25, 2.0 - 1e-3));
    assert_int_equal(findContacts(&input, 0.0, &sharp, 1), 1);
    input.radiusA = 0.1;
    input.radiusB = 0.05;
    input.transformBtoA.p.z += 0.15;
    assert_int_equal(findContacts(&input, 0.0, &rounded, 1), 1);
    assert_int_equal(rounded.count, sharp.count);
    assert_int_equal(sharp.count, 4);
    for (int i = 0; i < sharp.count; ++i) {
        checkNear(rounded.points[i].distance, sharp.points[i].distance, 1e-14);
        checkNear(rounded.points[i].pointA.x, sharp.points[i].pointA.x, 1e-14);
        checkNear(rounded.points[i].pointA.z, sharp.points[i].pointA.z + 0.1, 1e-14);
        assert_int_equal(rounded.points[i].featureId, sharp.points[i].featureId);
    }
    rbDestroyGeometry(box);
}

// The overlap query agrees with the distance, by every method that accepts the pair, with margins
// and in compounds.
// B-63
static void overlapIsTheSignOfTheDistance(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(771)};
    static const rbShapeType types[] = {RB_SHAPE_SPHERE,   RB_SHAPE_BOX,  RB_SHAPE_CAPSULE,
                                        RB_SHAPE_CYLINDER, RB_SHAPE_CONE, RB_SHAPE_ELLIPSOID,
                                        RB_SHAPE_HULL};
    int count = rbTest_Count(3000, 100000);
    int hits = 0;
    for (int i = 0; i < count; ++i) {
        rbGeometry* a = makeRandomShape(&random, types[rbRandom_Index(&random, 7)]);
        rbGeometry* part = makeRandomShape(&random, types[rbRandom_Index(&random, 7)]);
        const rbCompoundChild children[2] = {{part, at(0.0, 0.0, 0.0), 1.0},
                                             {part, at(0.3, 0.2, 0.1), 1.0}};
        rbGeometry* b = i % 4 == 0 ? rbCreateCompound(children, 2, NULL) : rbGeometry_Retain(part);
        rbTransform pose = {rbScale(rbRandom_Range(&random, 0.0, 3.0), rbRandom_Direction(&random)),
                            rbRandom_Quat(&random)};
        rbSeparationInput input = inputOf(a, b, pose);
        rbError error = {0};
        rbSeparation s;
        assert_int_equal(rbMeasureSeparation(&input, NULL, pairScratch, &s, &error), RB_STATUS_OK);
        double band = 1e-8 * pairScale(a, part, input.transformBtoA);
        double margin = i % 3 == 0 ? 0.2 : 0.0;
        rbSeparationCache cache = {0};
        for (int method = RB_PAIR_AUTO; method < rbPairMethod_GetCount(); ++method) {
            input.method = (rbPairMethod)method;
            bool overlaps;
            rbStatus status = rbTestOverlap(&input, margin, &cache, &overlaps, &error);
            if (status == RB_STATUS_UNSUPPORTED || fabs(s.distance - margin) < band) {
                continue;
            }
            assert_int_equal(status, RB_STATUS_OK);
            assert_int_equal(overlaps, s.distance <= margin);
            hits += overlaps ? 1 : 0;
        }
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
        rbDestroyGeometry(part);
    }
    assert_true(hits > count / 10);
}

static void mistakesGetAMessage(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(0.5, NULL);
    rbSeparationInput input = inputOf(ball, ball, at(1.0, 0.0, 0.0));
    rbError error = {0};
    bool overlaps;
    assert_int_equal(rbTestOverlap(&input, -1.0, NULL, &overlaps, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "-1"));
    assert_int_equal(rbTestOverlap(&input, NAN, NULL, &overlaps, &error), RB_STATUS_INVALID);
    rbContactList list = {0};
    assert_int_equal(rbFindContacts(&input, NAN, NULL, pairScratch, &list, &error),
                     RB_STATUS_INVALID);
    input.method = (rbPairMethod)99;
    assert_int_equal(rbFindContacts(&input, 0.0, NULL, pairScratch, &list, &error),
                     RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "99"));
    rbDestroyGeometry(ball);
}

RB_TEST_GROUP(test_contacts, TEST_WITH_SCRATCH(gapsUpToTheThresholdAreContacts),
              TEST_WITH_SCRATCH(contactPointsStandHalfway),
              TEST_WITH_SCRATCH(cornersInFacesAreTheirOwnWitnesses),
              TEST_WITH_SCRATCH(unionsAppendTheContactsOfAllTheirParts),
              TEST_WITH_SCRATCH(roundedShapesKeepTheirManifold),
              TEST_WITH_SCRATCH(overlapIsTheSignOfTheDistance),
              TEST_WITH_SCRATCH(mistakesGetAMessage));
