// Collision filtering, materials, depth, limits and allocations of the contact finder.
#include "pair_scene.h"
#include "rb_test.h"

static PairScene scene;

// Two unit boxes that touch, on a static floor.
static void makeTwoBoxes(void)
{
    clearPairScene(&scene);
    rbGeometry* box = ownGeometry(&scene, rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL));
    rbGeometry* plane = ownGeometry(&scene, rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL));
    (void)addPairBody(&scene, plane, RB_VEC3_ZERO, false);
    (void)addPairBody(&scene, box, rbMakeVec3(0.0, 0.0, 0.5), true);
    (void)addPairBody(&scene, box, rbMakeVec3(1.0, 0.0, 0.5), true);
}

// B-54
static void excludedPairsDoNotMeetUntilTheyAreCleared(void** state)
{
    (void)state;
    makeTwoBoxes();
    rbContactSettings settings = rbDefaultContactSettings();
    rbContactPairs* pairs = makePairs(&scene, &settings);
    rbContactSet set = findContacts(pairs, &scene);
    assert_int_equal(countContacts(&set, 1, 2), 1);
    rbContactPairs_Exclude(pairs, 2, 1);
    rbContactPairs_Exclude(pairs, 1, 2);
    set = findContacts(pairs, &scene);
    assert_int_equal(countContacts(&set, 1, 2), 0);
    assert_int_equal(countContacts(&set, 0, 1), 1);
    rbContactPairs_ClearExclusions(pairs);
    set = findContacts(pairs, &scene);
    assert_int_equal(countContacts(&set, 1, 2), 1);
    rbDestroyContactPairs(pairs);
    destroyPairScene(&scene);
}

// B-54
static void groupsAndMasksDecideBothWays(void** state)
{
    (void)state;
    makeTwoBoxes();
    rbContactSettings settings = rbDefaultContactSettings();
    rbContactPairs* pairs = makePairs(&scene, &settings);
    scene.shapes[1].groups = 2; // the floor's mask is 1
    scene.shapes[2].mask = 3;
    rbContactPairs_SetShape(pairs, 1, &scene.shapes[1]);
    rbContactPairs_SetShape(pairs, 2, &scene.shapes[2]);
    rbContactSet set = findContacts(pairs, &scene);
    assert_int_equal(countContacts(&set, 0, 1), 0);
    assert_int_equal(countContacts(&set, 0, 2), 1);
    assert_int_equal(countContacts(&set, 1, 2), 1);
    scene.shapes[2].mask = 1; // one of the two masks excludes the other
    rbContactPairs_SetShape(pairs, 2, &scene.shapes[2]);
    set = findContacts(pairs, &scene);
    assert_int_equal(countContacts(&set, 1, 2), 0);
    rbContactPairs_SetShape(pairs, 2, NULL);
    set = findContacts(pairs, &scene);
    assert_int_equal(set.contactCount, 0);
    rbDestroyContactPairs(pairs);
    destroyPairScene(&scene);
}

// B-67
static void materialsCombineByRuleOrByPair(void** state)
{
    (void)state;
    makeTwoBoxes();
    rbMaterial soft = {.density = 1.0,
                       .restitution = 0.2,
                       .friction = 0.8,
                       .stiction = 0.98,
                       .rolling = 0.01,
                       .kind = 3};
    scene.shapes[1].materials = &soft;
    rbContactSettings settings = rbDefaultContactSettings();
    settings.restitutionRule = RB_COMBINE_MAX;
    rbContactPairs* pairs = makePairs(&scene, &settings);
    rbContactSet set = findContacts(pairs, &scene);
    const rbContact* contact = &set.contacts[0];
    assert_int_equal(contact->bodyB, 1);
    checkNear(contact->friction, sqrt(0.5 * 0.8), 1e-15);
    checkNear(contact->stiction, sqrt(0.5 * 0.98), 1e-15);
    checkNear(contact->restitution, 0.5, 0.0);
    checkNear(contact->rolling, 0.01, 0.0);
    assert_int_equal(contact->pairLaw, 0);
    rbMaterialPair pair = {.restitution = 0.1, .friction = 0.3, .law = RB_IMPACT_STRONGE};
    rbContactPairs_SetMaterialPair(pairs, 3, 0, &pair);
    set = findContacts(pairs, &scene); // nothing moved: materials still apply
    contact = &set.contacts[0];
    checkNear(contact->friction, 0.3, 0.0);
    checkNear(contact->stiction, 0.3, 0.0);
    checkNear(contact->restitution, 0.1, 0.0);
    assert_int_equal(contact->pairLaw, 1 + RB_IMPACT_STRONGE);
    rbContactPairs_SetMaterialPair(pairs, 0, 3, NULL);
    set = findContacts(pairs, &scene);
    checkNear(set.contacts[0].friction, sqrt(0.5 * 0.8), 1e-15);
    rbDestroyContactPairs(pairs);
    destroyPairScene(&scene);
}

static void pointsReportGapArmsAndNormal(void** state)
{
    (void)state;
    makeTwoBoxes();
    const double gap = 3e-4;
    scene.places[1].pose.position.z = 0.5 + gap;
    scene.places[2].pose.position = rbMakeVec3(5.0, 0.0, 0.5 + 1e-5);
    scene.places[1].reach = 1e-3;
    rbContactSettings settings = rbDefaultContactSettings();
    rbContactPairs* pairs = makePairs(&scene, &settings);
    rbContactSet set = findContacts(pairs, &scene);
    assert_int_equal(set.contactCount, 2);
    assert_int_equal(set.pointCount, 8);
    checkNear(set.contacts[0].normal.z, 1.0, 1e-15);
    for (int i = 0; i < 8; ++i) {
        const rbContactPoint* point = &set.points[i];
        double truth = (i < 4 ? gap : 1e-5) - settings.shell;
        checkNear(point->gap, truth, 1e-15);
        checkNear(point->armB.z, -0.5 - 0.5 * (truth + settings.shell), 1e-15);
        checkNear(fabs(point->armB.x), 0.5, 1e-15);
        checkNear(point->armA.z, 0.5 * (truth + settings.shell), 1e-15);
        assert_int_equal(point->isClosed, i >= 4);
    }
    scene.places[1].reach = 1e-4; // now the gap is beyond the limit
    set = findContacts(pairs, &scene);
    assert_int_equal(set.contactCount, 1);
    scene.places[1].reach = 1e-3; // and at the same place within it again
    set = findContacts(pairs, &scene);
    assert_int_equal(set.contactCount, 2);
    rbDestroyContactPairs(pairs);
    destroyPairScene(&scene);
}

static void depthIsReported(void** state)
{
    (void)state;
    makeTwoBoxes();
    scene.places[1].pose.position.z = 0.5 - 0.01;
    scene.places[2].pose.position.x = 1.0 - 0.02;
    rbContactSettings settings = rbDefaultContactSettings();
    rbContactPairs* pairs = makePairs(&scene, &settings);
    (void)findContacts(pairs, &scene);
    rbPairsReport report = rbContactPairs_GetReport(pairs);
    checkNear(report.depth, 0.02, 1e-12);
    assert_int_equal(report.bodyA, 1);
    assert_int_equal(report.bodyB, 2);
    scene.places[1].pose.position.z = 0.5 + 0.01;
    scene.places[2].pose.position.x = 1.5;
    // a moving half space is not skipped
    scene.places[0].pose.position.z = 0.05;
    (void)findContacts(pairs, &scene);
    checkNear(rbContactPairs_GetReport(pairs).depth, 0.05, 1e-12);
    rbDestroyContactPairs(pairs);
    destroyPairScene(&scene);
}

static void nothingIsAllocatedAfterWarmUp(void** state)
{
    (void)state;
    clearPairScene(&scene);
    rbRandom random = {rbTest_Seed(711)};
    rbGeometry* shapes[3];
    shapes[0] = ownGeometry(&scene, rbCreateBox(rbMakeVec3(0.3, 0.3, 0.3), NULL));
    shapes[1] = ownGeometry(&scene, rbCreateSphere(0.3, NULL));
    shapes[2] = ownGeometry(&scene, rbCreateCylinder(0.3, 0.3, NULL));
    for (int i = 0; i < 200; ++i) {
        rbVec3 p = rbMakeVec3(2.0 * rbRandom_Symmetric(&random), 2.0 * rbRandom_Symmetric(&random),
                              2.0 * rbRandom_Symmetric(&random));
        (void)addPairBody(&scene, shapes[i % 3], p, true);
    }
    rbContactSettings settings = rbDefaultContactSettings();
    rbContactPairs* pairs = makePairs(&scene, &settings);
    uint64_t before = 0;
    for (int step = 0; step < 60; ++step) {
        if (step == 30) {
            before = rbGetAllocationCount();
        }
        // forward and back: capacity that sufficed once still suffices
        double side = step % 2 == 0 ? 1.0 : -1.0;
        for (int i = 0; i < scene.count; ++i) {
            movePairBody(&scene, i, rbMakeVec3(side * 0.1 * (i % 5), side * 0.05 * (i % 3), 0.0));
        }
        (void)findContacts(pairs, &scene);
        rbContactPairs_Keep(pairs);
    }
    assert_true(rbGetAllocationCount() == before);
    rbDestroyContactPairs(pairs);
    destroyPairScene(&scene);
}

// 1000 balls at one point: half a million pairs, more than are kept. No hang, and it is reported.
static void bodiesAtOnePointAreLimited(void** state)
{
    (void)state;
    clearPairScene(&scene);
    rbGeometry* ball = ownGeometry(&scene, rbCreateSphere(0.3, NULL));
    for (int i = 0; i < 1000; ++i) {
        (void)addPairBody(&scene, ball, RB_VEC3_ZERO, true);
    }
    rbContactSettings settings = rbDefaultContactSettings();
    rbContactPairs* pairs = makePairs(&scene, &settings);
    rbContactSet set = findContacts(pairs, &scene);
    rbPairsReport report = rbContactPairs_GetReport(pairs);
    int count = report.pairCount;
    assert_int_equal(count, 110000);
    assert_int_equal(count + report.dropped, 1000 * 999 / 2);
    assert_int_equal(set.contactCount, count);
    for (int i = 0; i < set.contactCount; ++i) {
        checkNear(rbLength(set.contacts[i].normal), 1.0, 1e-12);
        checkNear(set.points[i].gap, -0.6 - settings.shell, 1e-12);
    }
    // once separated, all pairs are known again
    for (int i = 0; i < 1000; ++i) {
        setPairPose(&scene, i, rbMakeVec3(0.6 * i, 0.0, 0.0), RB_QUAT_IDENTITY);
    }
    (void)findContacts(pairs, &scene);
    set = findContacts(pairs, &scene);
    assert_int_equal(rbContactPairs_GetReport(pairs).dropped, 0);
    assert_int_equal(set.contactCount, 999);
    rbDestroyContactPairs(pairs);
    destroyPairScene(&scene);
}

static void namesOfChoicesAreFoundAgain(void** state)
{
    (void)state;
    for (int i = 0; i < RB_CONE_COUNT; ++i) {
        assert_int_equal(rbFrictionCone_Find(rbFrictionCone_Name((rbFrictionCone)i)), i);
    }
    for (int i = 0; i < RB_CONTACT_TIME_COUNT; ++i) {
        assert_int_equal(rbContactTime_Find(rbContactTime_Name((rbContactTime)i)), i);
    }
    assert_int_equal(rbFrictionCone_Find("ice"), RB_CONE_COUNT);
    assert_int_equal(rbContactTime_Find("tea"), RB_CONTACT_TIME_COUNT);
    rbContactSettings settings = rbDefaultContactSettings();
    assert_true(settings.isEnabled && settings.isWarm && !settings.areNeighborsMeeting);
    checkNear(settings.shell, 1e-5, 0.0);
}

RB_TEST_GROUP(test_contact_pairs, cmocka_unit_test(excludedPairsDoNotMeetUntilTheyAreCleared),
              cmocka_unit_test(groupsAndMasksDecideBothWays),
              cmocka_unit_test(materialsCombineByRuleOrByPair),
              cmocka_unit_test(pointsReportGapArmsAndNormal), cmocka_unit_test(depthIsReported),
              cmocka_unit_test(nothingIsAllocatedAfterWarmUp),
              cmocka_unit_test(bodiesAtOnePointAreLimited),
              cmocka_unit_test(namesOfChoicesAreFoundAgain));
