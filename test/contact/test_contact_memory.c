// The memory of contact points: impulses, sticking, slip.
#include "pair_scene.h"
#include "rb_test.h"

static PairScene scene;

static rbContactPairs* makeOnFloor(rbGeometry* geometry, double height)
{
    clearPairScene(&scene);
    (void)ownGeometry(&scene, geometry);
    rbGeometry* plane = ownGeometry(&scene, rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL));
    (void)addPairBody(&scene, plane, RB_VEC3_ZERO, false);
    (void)addPairBody(&scene, geometry, rbMakeVec3(0.0, 0.0, height), true);
    rbContactSettings settings = rbDefaultContactSettings();
    return makePairs(&scene, &settings);
}

static void finish(rbContactPairs* pairs)
{
    rbDestroyContactPairs(pairs);
    destroyPairScene(&scene);
}

static void stick(rbContactPairs* pairs, const rbContactSet* set)
{
    for (int i = 0; i < set->pointCount; ++i) {
        set->points[i].isSticking = true;
    }
    rbContactPairs_Keep(pairs);
}

static rbVec3 getSlip(const rbContactSet* set, int contact, int point)
{
    const rbContact* c = &set->contacts[contact];
    const rbContactPoint* p = &set->points[c->firstPoint + point];
    return rbAdd(rbScale(p->slip[0], c->tangents[0]), rbScale(p->slip[1], c->tangents[1]));
}

static rbVec3 getTangential(const rbContact* contact, const rbContactPoint* point)
{
    return rbAdd(rbScale(point->impulse[1], contact->tangents[0]),
                 rbScale(point->impulse[2], contact->tangents[1]));
}

// B-93
// A box that slides and turns a little over another one keeps the impulses of its corners, in the
// world; their sums stay the same.
static void impulsesStayWithTheirPoints(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(721)};
    int cases = rbTest_Count(200, 2000);
    for (int n = 0; n < cases; ++n) {
        clearPairScene(&scene);
        rbGeometry* table = ownGeometry(&scene, rbCreateBox(rbMakeVec3(2.0, 2.0, 0.5), NULL));
        rbGeometry* box = ownGeometry(&scene, rbCreateBox(rbMakeVec3(0.4, 0.3, 0.2), NULL));
        (void)addPairBody(&scene, table, rbMakeVec3(0.0, 0.0, -0.5), false);
        (void)addPairBody(&scene, box, rbMakeVec3(0.0, 0.0, 0.2), true);
        turnPairBody(&scene, 1, rbMakeVec3(0.0, 0.0, 1.0), 3.0 * rbRandom_Symmetric(&random));
        scene.places[1].reach = 1e-3;
        rbContactSettings settings = rbDefaultContactSettings();
        rbContactPairs* pairs = makePairs(&scene, &settings);
        rbContactSet set = findContacts(pairs, &scene);
        assert_int_equal(set.pointCount, 4);
        for (int step = 0; step < 10; ++step) {
            rbVec3 corners[4];
            rbVec3 impulses[4];
            for (int i = 0; i < 4; ++i) {
                rbContactPoint* point = &set.points[i];
                point->impulse[0] = 1.0 + rbRandom_Unit(&random);
                point->impulse[1] = rbRandom_Symmetric(&random);
                point->impulse[2] = rbRandom_Symmetric(&random);
                impulses[i] = getTangential(&set.contacts[0], point);
                impulses[i].z = point->impulse[0];
                corners[i] = rbInvRotate(scene.places[1].pose.orientation, point->armB);
            }
            rbContactPairs_Keep(pairs);
            movePairBody(&scene, 1,
                         rbMakeVec3(0.01 * rbRandom_Symmetric(&random),
                                    0.01 * rbRandom_Symmetric(&random), 0.0));
            turnPairBody(&scene, 1, rbMakeVec3(0.0, 0.0, 1.0), 0.02 * rbRandom_Symmetric(&random));
            turnPairBody(&scene, 1, rbRandom_Direction(&random), 1e-6);
            set = findContacts(pairs, &scene);
            assert_int_equal(set.pointCount, 4);
            for (int i = 0; i < 4; ++i) {
                const rbContactPoint* point = &set.points[i];
                rbVec3 here = rbInvRotate(scene.places[1].pose.orientation, point->armB);
                int match = 0;
                for (int j = 1; j < 4; ++j) {
                    match =
                        rbDistance(corners[j], here) < rbDistance(corners[match], here) ? j : match;
                }
                checkNear(point->impulse[0], impulses[match].z, 0.0);
                rbVec3 tangential = getTangential(&set.contacts[0], point);
                checkNear(tangential.x, impulses[match].x, 1e-5);
                checkNear(tangential.y, impulses[match].y, 1e-5);
            }
        }
        finish(pairs);
    }
}

// A box pushed in many small steps shows the sum of them; the anchors are new in each step.
static void pushedBoxShowsItsSlip(void** state)
{
    (void)state;
    rbContactPairs* pairs = makeOnFloor(rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL), 0.5);
    rbContactSet set = findContacts(pairs, &scene);
    stick(pairs, &set);
    const rbVec3 d = {3e-6, -2e-6, 0.0};
    for (int step = 1; step <= 1000; ++step) {
        movePairBody(&scene, 1, d);
        set = findContacts(pairs, &scene);
        assert_int_equal(set.pointCount, 4);
        for (int i = 0; i < 4; ++i) {
            rbVec3 slip = getSlip(&set, 0, i);
            assert_true(set.points[i].isSticking);
            checkNear(slip.x, step * d.x, 1e-15 * (10 + step));
            checkNear(slip.y, step * d.y, 1e-15 * (10 + step));
        }
        stick(pairs, &set);
        if (step % 10 == 0) { // Keep twice, or Find twice, changes nothing
            set = findContacts(pairs, &scene);
            stick(pairs, &set);
            stick(pairs, &set);
        }
    }
    // a turn about the vertical moves the corners sideways
    turnPairBody(&scene, 1, rbMakeVec3(0.0, 0.0, 1.0), 1e-5);
    rbVec3 before = getSlip(&set, 0, 0);
    rbVec3 arm = set.points[0].armB;
    set = findContacts(pairs, &scene);
    rbVec3 moved = rbSub(getSlip(&set, 0, 0), before);
    checkNear(moved.x, -1e-5 * arm.y, 1e-10);
    checkNear(moved.y, 1e-5 * arm.x, 1e-10);
    // a sliding point forgets
    for (int i = 0; i < 4; ++i) {
        set.points[i].isSticking = false;
    }
    rbContactPairs_Keep(pairs);
    set = findContacts(pairs, &scene);
    checkNear(rbLength(getSlip(&set, 0, 0)), 0.0, 0.0);
    assert_false(set.points[0].isSticking);
    finish(pairs);
}

// A ball of radius r rolls in steps of an angle: no slip except rounding, for any angle that is an
// arc; it is less than (angle)^3 r / 6 by many orders.
static void rollingBallShowsNoSlip(void** state)
{
    (void)state;
    const double r = 0.3;
    const double angles[4] = {0.001, 0.02, 0.1, 0.5};
    for (int n = 0; n < 4; ++n) {
        rbContactPairs* pairs = makeOnFloor(rbCreateSphere(r, NULL), r);
        rbContactSet set = findContacts(pairs, &scene);
        double angle = angles[n];
        for (int step = 1; step <= 50; ++step) {
            stick(pairs, &set);
            turnPairBody(&scene, 1, rbMakeVec3(-0.6, 0.8, 0.0), angle);
            movePairBody(&scene, 1, rbScale(r * angle, rbMakeVec3(0.8, 0.6, 0.0)));
            set = findContacts(pairs, &scene);
            assert_int_equal(set.pointCount, 1);
            // the series of the arc ends at the 14th power of half the angle
            double series = 0.02 * r * angle * pow(0.5 * angle, 14.0);
            checkBelow(rbLength(getSlip(&set, 0, 0)), step * (2e-15 + series));
        }
        // the same with the ball pushed in addition
        stick(pairs, &set);
        rbVec3 before = getSlip(&set, 0, 0);
        turnPairBody(&scene, 1, rbMakeVec3(-0.6, 0.8, 0.0), angle);
        movePairBody(&scene, 1, rbScale(r * angle, rbMakeVec3(0.8, 0.6, 0.0)));
        movePairBody(&scene, 1, rbMakeVec3(0.0, 1e-4, 0.0));
        set = findContacts(pairs, &scene);
        rbVec3 slip = rbSub(getSlip(&set, 0, 0), before);
        checkNear(slip.y, 1e-4, 1e-4 * angle * angle);
        checkNear(slip.x, 0.0, 1e-4 * angle * angle);
        finish(pairs);
    }
}

// A capsule and a cylinder that lie and roll: both ends of the line, however its points are named.
static void rollingRodsShowNoSlip(void** state)
{
    (void)state;
    const double r = 0.3;
    for (int n = 0; n < 2; ++n) {
        rbContactPairs* pairs =
            makeOnFloor(n == 0 ? rbCreateCapsule(r, 0.5, NULL) : rbCreateCylinder(r, 0.5, NULL), r);
        turnPairBody(&scene, 1, rbMakeVec3(1.0, 0.0, 0.0), 0.5 * RB_PI);
        scene.places[1].reach = 1e-9;
        rbContactSet set = findContacts(pairs, &scene);
        const double angle = 0.1;
        for (int step = 1; step <= 100; ++step) {
            assert_int_equal(set.pointCount, 2);
            for (int i = 0; i < 2; ++i) {
                set.points[i].impulse[0] = set.points[i].armB.y > 0.0 ? 3.0 : 5.0;
            }
            stick(pairs, &set);
            turnPairBody(&scene, 1, rbMakeVec3(0.0, 1.0, 0.0), angle);
            movePairBody(&scene, 1, rbMakeVec3(r * angle, 0.0, 0.0));
            set = findContacts(pairs, &scene);
            assert_int_equal(set.pointCount, 2);
            for (int i = 0; i < 2; ++i) {
                const rbContactPoint* point = &set.points[i];
                assert_true(point->isSticking);
                checkNear(point->impulse[0], point->armB.y > 0.0 ? 3.0 : 5.0, 0.0);
                checkBelow(rbLength(getSlip(&set, 0, i)), step * 4e-15);
            }
        }
        finish(pairs);
    }
}

// A box that moves with a rotating table does not slip; one that stays behind does.
static void boxCarriedAlongDoesNotSlip(void** state)
{
    (void)state;
    clearPairScene(&scene);
    rbGeometry* table = ownGeometry(&scene, rbCreateCylinder(2.0, 0.5, NULL));
    rbGeometry* box = ownGeometry(&scene, rbCreateBox(rbMakeVec3(0.2, 0.2, 0.2), NULL));
    (void)addPairBody(&scene, table, rbMakeVec3(0.0, 0.0, -0.5), true);
    (void)addPairBody(&scene, box, rbMakeVec3(1.0, 0.0, 0.2), true);
    rbContactSettings settings = rbDefaultContactSettings();
    rbContactPairs* pairs = makePairs(&scene, &settings);
    rbContactSet set = findContacts(pairs, &scene);
    const double angle = 0.05;
    for (int step = 1; step <= 100; ++step) {
        assert_int_equal(set.pointCount, 4);
        stick(pairs, &set);
        double around = angle * step;
        rbQuat q = {cos(0.5 * around), 0.0, 0.0, sin(0.5 * around)};
        rbVec3 center = rbMakeVec3(0.1 * step, 0.0, 0.0);
        setPairPose(&scene, 0, rbAdd(center, rbMakeVec3(0.0, 0.0, -0.5)), q);
        setPairPose(&scene, 1, rbAdd(center, rbMakeVec3(cos(around), sin(around), 0.2)), q);
        set = findContacts(pairs, &scene);
        assert_int_equal(set.pointCount, 4);
        for (int i = 0; i < 4; ++i) {
            // coordinates up to 11 m are rounded by 1e-15 m
            checkBelow(rbLength(getSlip(&set, 0, i)), step * 2e-14);
        }
    }
    stick(pairs, &set);
    movePairBody(&scene, 0, rbMakeVec3(1e-3, 0.0, 0.0));
    set = findContacts(pairs, &scene);
    for (int i = 0; i < 4; ++i) {
        checkNear(getSlip(&set, 0, i).x, -1e-3, 2e-12);
    }
    finish(pairs);
}

// One ball rolls over another that is held: it rotates by (1 + R/r) times the angle of its orbit.
static void ballRollsOverBallWithoutSlip(void** state)
{
    (void)state;
    const double big = 1.0;
    const double small = 0.25;
    clearPairScene(&scene);
    rbGeometry* a = ownGeometry(&scene, rbCreateSphere(big, NULL));
    rbGeometry* b = ownGeometry(&scene, rbCreateSphere(small, NULL));
    (void)addPairBody(&scene, b, rbMakeVec3(0.0, 0.0, big + small), true);
    (void)addPairBody(&scene, a, RB_VEC3_ZERO, false);
    rbContactSettings settings = rbDefaultContactSettings();
    rbContactPairs* pairs = makePairs(&scene, &settings);
    rbContactSet set = findContacts(pairs, &scene);
    for (int step = 1; step <= 30; ++step) {
        stick(pairs, &set);
        double around = 0.01 * step;
        double turn = around * (1.0 + big / small);
        rbQuat q = {cos(0.5 * turn), 0.0, sin(0.5 * turn), 0.0};
        setPairPose(&scene, 0, rbScale(big + small, rbMakeVec3(sin(around), 0.0, cos(around))), q);
        set = findContacts(pairs, &scene);
        assert_int_equal(set.pointCount, 1);
        checkBelow(rbLength(getSlip(&set, 0, 0)), step * 4e-14);
    }
    finish(pairs);
}

// A box that rocks over its edge: four corners, two, four. The remaining ones keep their memory.
static void cornersThatStayRemember(void** state)
{
    (void)state;
    rbContactPairs* pairs = makeOnFloor(rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL), 0.5);
    scene.places[1].reach = 1e-6;
    rbContactSet set = findContacts(pairs, &scene);
    for (int i = 0; i < 4; ++i) {
        set.points[i].impulse[0] = 2.5;
    }
    stick(pairs, &set);
    for (int step = 0; step < 8; ++step) {
        turnPairBody(&scene, 1, rbMakeVec3(1.0, 0.0, 0.0), step % 2 == 0 ? 1e-4 : -1e-4);
        scene.places[1].pose.position.z = step % 2 == 0 ? 0.5 + 0.5e-4 : 0.5;
        set = findContacts(pairs, &scene);
        assert_int_equal(set.pointCount, step % 2 == 0 ? 2 : 4);
        int remembered = 0;
        for (int i = 0; i < set.pointCount; ++i) {
            remembered += (int)(set.points[i].impulse[0] == 2.5);
        }
        assert_int_equal(remembered, 2);
        stick(pairs, &set);
    }
    finish(pairs);
}

// A flat floor of triangles: names change at their edges; the corners of a box that slides over it
// keep their impulses by proximity.
static void slidingOverTrianglesForgetsNothing(void** state)
{
    (void)state;
    enum {
        CELLS = 8
    };
    static rbVec3 vertices[(CELLS + 1) * (CELLS + 1)];
    static int indices[6 * CELLS * CELLS];
    int n = 0;
    for (int i = 0; i <= CELLS; ++i) {
        for (int j = 0; j <= CELLS; ++j) {
            vertices[i * (CELLS + 1) + j] = rbMakeVec3(0.25 * i - 1.0, 0.25 * j - 1.0, 0.0);
        }
    }
    for (int i = 0; i < CELLS; ++i) {
        for (int j = 0; j < CELLS; ++j) {
            int v = i * (CELLS + 1) + j;
            const int corners[6] = {v, v + CELLS + 1, v + CELLS + 2, v, v + CELLS + 2, v + 1};
            memcpy(&indices[n], corners, sizeof corners);
            n += 6;
        }
    }
    rbMeshDef def = {vertices, (CELLS + 1) * (CELLS + 1), NULL, indices, 2 * CELLS * CELLS};
    clearPairScene(&scene);
    rbGeometry* floor = ownGeometry(&scene, rbCreateMesh(&def, NULL));
    rbGeometry* box = ownGeometry(&scene, rbCreateBox(rbMakeVec3(0.2, 0.2, 0.2), NULL));
    (void)addPairBody(&scene, floor, RB_VEC3_ZERO, false);
    (void)addPairBody(&scene, box, rbMakeVec3(-0.7, -0.6, 0.2 + 1e-5), true);
    turnPairBody(&scene, 1, rbMakeVec3(0.0, 0.0, 1.0), 0.3);
    rbContactSettings settings = rbDefaultContactSettings();
    rbContactPairs* pairs = makePairs(&scene, &settings);
    rbContactSet set = findContacts(pairs, &scene);
    int forgotten = 0;
    for (int step = 0; step < 400; ++step) {
        assert_int_equal(set.pointCount, 4);
        for (int i = 0; i < 4; ++i) {
            set.points[i].impulse[0] = 2.5;
        }
        rbContactPairs_Keep(pairs);
        movePairBody(&scene, 1, rbMakeVec3(3e-3, 2.7e-3, 0.0));
        set = findContacts(pairs, &scene);
        for (int i = 0; i < set.pointCount; ++i) {
            forgotten += (int)(set.points[i].impulse[0] != 2.5);
        }
    }
    assert_int_equal(forgotten, 0);
    finish(pairs);
}

// A box slides over the rim of a table: its corners become edge crossings, which have other names.
// They inherit the memory of the nearest corner.
static void pointsOfOtherNamesInheritByNearness(void** state)
{
    (void)state;
    clearPairScene(&scene);
    rbGeometry* table = ownGeometry(&scene, rbCreateBox(rbMakeVec3(2.0, 2.0, 0.5), NULL));
    rbGeometry* box = ownGeometry(&scene, rbCreateBox(rbMakeVec3(0.4, 0.3, 0.2), NULL));
    (void)addPairBody(&scene, table, rbMakeVec3(0.0, 0.0, -0.5), false);
    (void)addPairBody(&scene, box, rbMakeVec3(1.5, 0.0, 0.2), true);
    turnPairBody(&scene, 1, rbMakeVec3(0.0, 0.0, 1.0), 0.3);
    rbContactSettings settings = rbDefaultContactSettings();
    rbContactPairs* pairs = makePairs(&scene, &settings);
    rbContactSet set = findContacts(pairs, &scene);
    int fresh = 0;
    for (int step = 0; step < 400; ++step) {
        assert_int_equal(set.pointCount, 4);
        rbVec3 old[4];
        for (int i = 0; i < 4; ++i) {
            old[i] = set.points[i].armA;
            set.points[i].impulse[0] = 2.5;
        }
        rbContactPairs_Keep(pairs);
        movePairBody(&scene, 1, rbMakeVec3(1e-3, 0.0, 0.0));
        set = findContacts(pairs, &scene);
        for (int i = 0; i < set.pointCount; ++i) {
            double nearest = INFINITY;
            for (int j = 0; j < 4; ++j) {
                nearest = fmin(nearest, rbDistance(old[j], set.points[i].armA));
            }
            bool isFresh = set.points[i].impulse[0] != 2.5;
            fresh += (int)isFresh;
            assert_false(isFresh && nearest < 2e-3);
        }
    }
    assert_true(fresh <= 4);
    finish(pairs);
}

// A shape that is registered again keeps its memory; another one does not.
static void shapesRegisteredAgainKeepTheirMemory(void** state)
{
    (void)state;
    rbContactPairs* pairs = makeOnFloor(rbCreateSphere(0.5, NULL), 0.5);
    rbContactSet set = findContacts(pairs, &scene);
    set.points[0].impulse[0] = 7.0;
    rbContactPairs_Keep(pairs);
    rbMaterial slick = scene.material;
    slick.friction = 0.0;
    scene.shapes[1].materials = &slick;
    rbContactPairs_SetShape(pairs, 1, &scene.shapes[1]);
    set = findContacts(pairs, &scene);
    checkNear(set.points[0].impulse[0], 7.0, 0.0);
    checkNear(set.contacts[0].friction, 0.0, 0.0);
    scene.shapes[1].groups = 3;
    rbContactPairs_SetShape(pairs, 1, &scene.shapes[1]);
    set = findContacts(pairs, &scene);
    assert_int_equal(set.pointCount, 1);
    checkNear(set.points[0].impulse[0], 0.0, 0.0);
    finish(pairs);
}

RB_TEST_GROUP(test_contact_memory, cmocka_unit_test(impulsesStayWithTheirPoints),
              cmocka_unit_test(pushedBoxShowsItsSlip), cmocka_unit_test(rollingBallShowsNoSlip),
              cmocka_unit_test(rollingRodsShowNoSlip), cmocka_unit_test(boxCarriedAlongDoesNotSlip),
              cmocka_unit_test(ballRollsOverBallWithoutSlip),
              cmocka_unit_test(cornersThatStayRemember),
              cmocka_unit_test(slidingOverTrianglesForgetsNothing),
              cmocka_unit_test(pointsOfOtherNamesInheritByNearness),
              cmocka_unit_test(shapesRegisteredAgainKeepTheirMemory));
