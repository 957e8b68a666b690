// Found contacts compared with a search of all pairs, and the broad-phase rows compared with each
// other.
#include "pair_scene.h"
#include "rb_test.h"

// Shapes of all kinds; returns their number. The half space is last, preceded by the meshes.
#define KINDS 9
#define KIND_MESH 7
#define KIND_PLANE 8

static rbGeometry* makeMesh(void)
{
    static const rbVec3 vertices[5] = {
        {0.0, 0.0, 0.5}, {0.4, 0.0, -0.2}, {0.0, 0.4, -0.2}, {-0.4, 0.0, -0.2}, {0.0, -0.4, -0.2}};
    static const int indices[18] = {0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1, 1, 3, 2, 1, 4, 3};
    rbMeshDef def = {vertices, 5, NULL, indices, 6};
    return rbCreateMesh(&def, NULL);
}

static void makeShapes(PairScene* scene)
{
    const rbVec3 corners[6] = {{0.4, 0.1, 0.0},  {-0.3, 0.2, 0.1},  {0.0, -0.4, 0.0},
                               {0.1, 0.1, 0.45}, {-0.1, 0.1, -0.4}, {0.2, 0.35, 0.1}};
    (void)ownGeometry(scene, rbCreateSphere(0.3, NULL));
    (void)ownGeometry(scene, rbCreateBox(rbMakeVec3(0.3, 0.2, 0.4), NULL));
    (void)ownGeometry(scene, rbCreateCapsule(0.15, 0.3, NULL));
    (void)ownGeometry(scene, rbCreateCylinder(0.25, 0.3, NULL));
    (void)ownGeometry(scene, rbCreateEllipsoid(rbMakeVec3(0.2, 0.3, 0.4), NULL));
    (void)ownGeometry(scene, rbCreateHull(corners, 6, NULL));
    const rbCompoundChild children[2] = {
        {scene->geometries[0], {{0.35, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}, 0.0},
        {scene->geometries[1], {{-0.35, 0.1, 0.0}, {1.0, 0.0, 0.0, 0.0}}, 0.0}};
    (void)ownGeometry(scene, rbCreateCompound(children, 2, NULL));
    (void)ownGeometry(scene, makeMesh());
    (void)ownGeometry(scene, rbCreatePlane(rbMakeVec3(0.1, 0.2, 1.0), -1.2, NULL));
    for (int i = 0; i < KINDS; ++i) {
        assert_non_null(scene->geometries[i]);
    }
}

static void scatter(PairScene* scene, rbRandom* random, int count, double edge)
{
    int plane = addPairBody(scene, scene->geometries[KIND_PLANE], RB_VEC3_ZERO, false);
    assert_int_equal(plane, 0);
    for (int i = 1; i < count; ++i) {
        rbVec3 p = rbMakeVec3(edge * rbRandom_Symmetric(random), edge * rbRandom_Symmetric(random),
                              edge * rbRandom_Symmetric(random));
        int kind = rbRandom_Index(random, KIND_PLANE);
        int body = addPairBody(scene, scene->geometries[kind], p, rbRandom_Unit(random) < 0.8);
        setPairPose(scene, body, p, rbRandom_Quat(random));
        scene->shapes[body].transform.p = rbScale(0.1, rbRandom_Direction(random));
        scene->shapes[body].transform.q = rbRandom_Quat(random);
        scene->places[body].reach = 0.05 * rbRandom_Unit(random);
    }
}

// Most move a little, some jump, some rest.
static void stir(PairScene* scene, rbRandom* random)
{
    for (int i = 1; i < scene->count; ++i) {
        double chance = rbRandom_Unit(random);
        if (!scene->shapes[i].isMoved || chance < 0.2) {
            continue;
        }
        double size = chance < 0.9 ? 0.02 : 0.4;
        movePairBody(scene, i, rbScale(size * rbRandom_Unit(random), rbRandom_Direction(random)));
        turnPairBody(scene, i, rbRandom_Direction(random), 2.0 * size * rbRandom_Symmetric(random));
        scene->places[i].reach = 0.05 * rbRandom_Unit(random);
    }
}

static rbTransform worldOf(const PairScene* scene, int body)
{
    const rbRowPose* pose = &scene->places[body].pose;
    return rbMulTransforms((rbTransform){pose->position, pose->orientation},
                           scene->shapes[body].transform);
}

static bool isExactKind(const PairScene* scene, int body)
{
    return scene->shapes[body].geometry != scene->geometries[KIND_MESH];
}

// The contacts of one pair compared with a measurement without history.
static void checkPair(const PairScene* scene, const rbContactSettings* settings,
                      const rbContactSet* set, int a, int b, void* scratch)
{
    rbManifold manifolds[16];
    rbContactList list = {manifolds, 16, 0};
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = scene->shapes[a].geometry;
    input.geometryB = scene->shapes[b].geometry;
    input.transformBtoA = rbInvMulTransforms(worldOf(scene, a), worldOf(scene, b));
    double threshold = 2.0 * settings->shell + scene->places[a].reach + scene->places[b].reach;
    assert_int_equal(rbFindContacts(&input, threshold, NULL, scratch, &list, NULL), RB_STATUS_OK);
    bool mayMeet = scene->shapes[a].isMoved || scene->shapes[b].isMoved;
    int truth = mayMeet ? list.count : 0;
    if (truth == 0 || !isExactKind(scene, a) || !isExactKind(scene, b)) {
        assert_int_equal(countContacts(set, a, b) > 0, truth > 0);
        return;
    }
    assert_int_equal(countContacts(set, a, b), truth);
    int which = 0;
    for (int i = 0; i < set->contactCount; ++i) {
        const rbContact* contact = &set->contacts[i];
        if (contact->bodyA != a || contact->bodyB != b) {
            continue;
        }
        double least = INFINITY;
        double leastTruth = INFINITY;
        for (int j = 0; j < contact->pointCount; ++j) {
            least = fmin(least, set->points[contact->firstPoint + j].gap);
        }
        for (int j = 0; j < manifolds[which].count; ++j) {
            leastTruth = fmin(leastTruth, manifolds[which].points[j].distance - settings->shell);
        }
        checkNear(least, leastTruth, 1e-9);
        ++which;
    }
}

static void checkOrder(const rbContactSet* set)
{
    int points = 0;
    for (int i = 0; i < set->contactCount; ++i) {
        const rbContact* contact = &set->contacts[i];
        assert_true(contact->bodyA < contact->bodyB);
        assert_int_equal(contact->firstPoint, points);
        points += contact->pointCount;
        if (i > 0) {
            const rbContact* before = contact - 1;
            assert_true(before->bodyA < contact->bodyA ||
                        (before->bodyA == contact->bodyA && before->bodyB <= contact->bodyB));
        }
    }
    assert_int_equal(points, set->pointCount);
}

// B-53, B-62
static void searchFindsWhatAllPairsGive(void** state)
{
    (void)state;
    static PairScene scene;
    rbRandom random = {rbTest_Seed(701)};
    void* scratch = test_malloc(rbGetSeparationScratchSize());
    rbContactSettings settings = rbDefaultContactSettings();
    int scenes = rbTest_Count(6, 60);
    int found = 0;
    for (int n = 0; n < scenes; ++n) {
        clearPairScene(&scene);
        makeShapes(&scene);
        scatter(&scene, &random, 40, 1.4);
        rbContactPairs* pairs = makePairs(&scene, &settings);
        for (int step = 0; step < 20; ++step) {
            rbContactSet set = findContacts(pairs, &scene);
            checkOrder(&set);
            found += set.pointCount;
            for (int a = 0; a < scene.count; ++a) {
                for (int b = a + 1; b < scene.count; ++b) {
                    checkPair(&scene, &settings, &set, a, b, scratch);
                }
            }
            rbContactPairs_Keep(pairs);
            stir(&scene, &random);
        }
        rbDestroyContactPairs(pairs);
        destroyPairScene(&scene);
    }
    assert_true(found > 100 * scenes);
    test_free(scratch);
}

static void fillImpulses(const rbContactSet* set)
{
    for (int i = 0; i < set->pointCount; ++i) {
        set->points[i].impulse[0] = 1.0 + i;
        set->points[i].impulse[1] = 0.25 * i;
        set->points[i].isSticking = i % 3 != 0;
    }
}

static void checkSameSets(const rbContactSet* a, const rbContactSet* b)
{
    assert_int_equal(a->contactCount, b->contactCount);
    assert_int_equal(a->pointCount, b->pointCount);
    for (int i = 0; i < a->contactCount; ++i) {
        const rbContact* p = &a->contacts[i];
        const rbContact* q = &b->contacts[i];
        assert_int_equal(p->bodyA, q->bodyA);
        assert_int_equal(p->bodyB, q->bodyB);
        assert_memory_equal(&p->normal, &q->normal, sizeof p->normal);
    }
    for (int i = 0; i < a->pointCount; ++i) {
        const rbContactPoint* p = &a->points[i];
        const rbContactPoint* q = &b->points[i];
        assert_memory_equal(&p->armA, &q->armA, sizeof p->armA);
        assert_memory_equal(&p->armB, &q->armB, sizeof p->armB);
        assert_memory_equal(&p->gap, &q->gap, sizeof p->gap);
        assert_memory_equal(p->slip, q->slip, sizeof p->slip);
        assert_memory_equal(p->impulse, q->impulse, sizeof p->impulse);
        assert_int_equal(p->isSticking, q->isSticking);
    }
}

// B-55, B-56
static void rowsOfTheBroadPhaseGiveTheSameBits(void** state)
{
    (void)state;
    static PairScene scene;
    rbRandom random = {rbTest_Seed(702)};
    rbContactPairs* rows[RB_BROAD_COUNT + RB_REGISTERED_MAX] = {NULL};
    clearPairScene(&scene);
    makeShapes(&scene);
    scatter(&scene, &random, 60, 1.8);
    for (int row = 0; row < rbBroadPhaseType_GetCount(); ++row) {
        rbContactSettings settings = rbDefaultContactSettings();
        settings.broadPhase = (rbBroadPhaseType)row;
        rows[row] = makePairs(&scene, &settings);
    }
    int steps = rbTest_Count(20, 200);
    for (int step = 0; step < steps; ++step) {
        rbContactSet first = findContacts(rows[0], &scene);
        assert_true(first.contactCount > 0);
        fillImpulses(&first);
        for (int row = 1; row < rbBroadPhaseType_GetCount(); ++row) {
            rbContactSet set = findContacts(rows[row], &scene);
            fillImpulses(&set);
            checkSameSets(&first, &set);
            rbContactPairs_Keep(rows[row]);
        }
        rbContactPairs_Keep(rows[0]);
        stir(&scene, &random);
    }
    for (int row = 0; row < rbBroadPhaseType_GetCount(); ++row) {
        rbDestroyContactPairs(rows[row]);
    }
    destroyPairScene(&scene);
}

// False: the bytes are refused.
static bool loadPairs(rbContactPairs* pairs, void* bytes, size_t size)
{
    RB_GUARD(guard, NULL)
    {
        return false;
    }
    rbByteStream stream = {.bytes = bytes, .capacity = size, .isLoading = true};
    rbContactPairs_Move(pairs, &stream);
    return stream.size == size;
}

// A restored snapshot, in the same finder and in a new one, continues with the same bits.
static void snapshotsGoOnWithTheSameBits(void** state)
{
    (void)state;
    static PairScene scene;
    static PairScene saved;
    rbRandom random = {rbTest_Seed(703)};
    rbContactSettings settings = rbDefaultContactSettings();
    clearPairScene(&scene);
    makeShapes(&scene);
    scatter(&scene, &random, 50, 1.4);
    rbContactPairs* pairs = makePairs(&scene, &settings);
    for (int step = 0; step < 10; ++step) {
        rbContactSet set = findContacts(pairs, &scene);
        fillImpulses(&set);
        rbContactPairs_Keep(pairs);
        stir(&scene, &random);
    }
    (void)findContacts(pairs, &scene); // not kept: two frames matter
    rbByteStream counting = {0};
    rbContactPairs_Move(pairs, &counting);
    size_t size = counting.size;
    void* bytes = test_malloc(size);
    rbContactPairs_Move(pairs, &(rbByteStream){.bytes = bytes});
    saved = scene;
    rbContactPairs* other = makePairs(&scene, &settings);
    assert_false(loadPairs(other, bytes, size - 1));
    assert_true(loadPairs(other, bytes, size));
    rbRandom again = random;
    uint64_t hashes[2] = {0, 0};
    for (int run = 0; run < 2; ++run) {
        random = again;
        scene = saved;
        for (int step = 0; step < 10; ++step) {
            rbContactSet set = findContacts(pairs, &scene);
            fillImpulses(&set);
            if (run == 0) {
                rbContactSet copy = findContacts(other, &scene);
                fillImpulses(&copy);
                checkSameSets(&set, &copy);
                rbContactPairs_Keep(other);
            }
            for (int i = 0; i < set.pointCount; ++i) {
                uint64_t bits[2];
                memcpy(&bits[0], &set.points[i].gap, sizeof bits[0]);
                memcpy(&bits[1], &set.points[i].slip[0], sizeof bits[1]);
                hashes[run] = hashes[run] * 31 + bits[0] + 7 * bits[1];
            }
            rbContactPairs_Keep(pairs);
            stir(&scene, &random);
        }
        assert_true(loadPairs(pairs, bytes, size));
    }
    assert_true(hashes[0] == hashes[1]);
    test_free(bytes);
    rbDestroyContactPairs(pairs);
    rbDestroyContactPairs(other);
    destroyPairScene(&scene);
}

RB_TEST_GROUP(oracle_contact_pairs, cmocka_unit_test(searchFindsWhatAllPairsGive),
              cmocka_unit_test(rowsOfTheBroadPhaseGiveTheSameBits),
              cmocka_unit_test(snapshotsGoOnWithTheSameBits));
