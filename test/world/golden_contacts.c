// Touching bodies: the same bits from every compiler and build, on repetition and with any queries
// between the steps; and no allocation after warm-up.
#include "base/core/hash.h"
#include "base/core/random.h"
#include "contact_scenes.h"
#include "lab/math/random3.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STONES 24
#define CELLS 6

// A hilly ground of triangles.
static rbGeometry* makeGround(rbError* error)
{
    rbVec3 points[(CELLS + 1) * (CELLS + 1)];
    int triangles[2 * CELLS * CELLS][3];
    for (int i = 0; i <= CELLS; ++i) {
        for (int k = 0; k <= CELLS; ++k) {
            double height = 0.05 * ((5 * i + 3 * k) % 4);
            points[i * (CELLS + 1) + k] = rbMakeVec3(0.5 * i - 1.5, 0.5 * k - 1.5, height);
        }
    }
    for (int i = 0; i < CELLS; ++i) {
        for (int k = 0; k < CELLS; ++k) {
            int corner = i * (CELLS + 1) + k;
            int cell = 2 * (i * CELLS + k);
            int* first = triangles[cell];
            int* second = triangles[cell + 1];
            first[0] = corner;
            first[1] = corner + CELLS + 1;
            first[2] = corner + CELLS + 2;
            second[0] = corner;
            second[1] = corner + CELLS + 2;
            second[2] = corner + 1;
        }
    }
    rbMeshDef def = {.vertices = points,
                     .vertexCount = (CELLS + 1) * (CELLS + 1),
                     .indices = &triangles[0][0],
                     .faceCount = 2 * CELLS * CELLS};
    return rbCreateSoup(&def, error);
}

static rbGeometry* makeStone(int kind, rbError* error)
{
    static const rbVec3 corners[6] = {{0.12, 0.0, -0.06}, {-0.06, 0.1, -0.06}, {-0.06, -0.1, -0.06},
                                      {0.05, 0.05, 0.09}, {-0.05, 0.02, 0.08}, {0.0, -0.08, 0.05}};
    switch (kind) {
    case 0:
        return rbCreateBox(rbMakeVec3(0.08, 0.1, 0.12), error);
    case 1:
        return rbCreateSphere(0.1, error);
    case 2:
        return rbCreateHull(corners, 6, error);
    case 3:
        return rbCreateCapsule(0.06, 0.08, error);
    case 4:
        return rbCreateCylinder(0.09, 0.07, error);
    default:
        return rbCreateEllipsoid(rbMakeVec3(0.07, 0.09, 0.12), error);
    }
}

// Solver modes.
typedef struct Mode {
    const char* name;
    int substeps;
    int sweepsMax;
    int shockAfter;
    double freezeSpeed;
    rbImpactLaw law;
    uint64_t hash;
} Mode;

static rbBodyId addStone(rbWorld* world, const Mode* mode, int index, rbRandom* random)
{
    rbError error = {0};
    int layer = index / 6;
    int row = index / 3 % 2;
    rbBodyDef def = rbDefaultBodyDef();
    def.position = rbMakeVec3(0.36 * (index % 3) - 0.36 + 0.01 * (index % 5), 0.36 * row - 0.18,
                              0.6 + 0.36 * layer);
    def.orientation = rbRandom_Quat(random);
    def.linearVelocity = rbRandom_Direction(random);
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, makeStone(index % 6, &error));
    shape.material.friction = 0.1 * (index % 7);
    shape.material.restitution = index % 4 == 0 ? 0.0 : 0.2 * (index % 5);
    shape.material.rolling = index % 6 == 1 && mode->sweepsMax > 100 ? 0.001 : 0.0;
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    return id;
}

// Stones of all kinds fall onto the ground and onto a tower, some of them joined.
static rbWorld* makeHeap(const Mode* mode)
{
    rbError error = {0};
    rbWorldDef worldDef = defineWorld();
    worldDef.step.step = 1.0 / 120.0;
    worldDef.step.tolerance = 1e-6;
    worldDef.step.accuracy = mode->substeps > 0 ? RB_ACCURACY_GAME : RB_ACCURACY_ENGINEERING;
    worldDef.contact.substeps = mode->substeps;
    worldDef.contact.sweepsMax = mode->sweepsMax;
    worldDef.contact.shockAfter = mode->shockAfter;
    worldDef.contact.freezeSpeed = mode->freezeSpeed;
    worldDef.contact.law = mode->law;
    rbWorld* world = makeWorld(&worldDef);
    rbBodyDef ground = rbDefaultBodyDef();
    ground.type = RB_BODY_STATIC;
    rbBodyId groundId = rbCreateBody(world, &ground, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, makeGround(&error));
    if (RB_IS_NULL(rbCreateShape(world, groundId, &shape, &error))) {
        fail_msg("%s", error.message);
    }
    rbBodyDef table = rbDefaultBodyDef();
    table.type = RB_BODY_STATIC;
    table.position = rbMakeVec3(0.9, 0.9, 0.5);
    rbBodyId tableId = rbCreateBody(world, &table, &error);
    Piece top = {.size = {0.4, 0.4, 0.1}, .friction = 0.5};
    assert_false(RB_IS_NULL(addShape(world, tableId, &top, &error)));
    for (int i = 0; i < 4; ++i) {
        (void)addCube(world, NULL, rbMakeVec3(0.9, 0.9, 0.55 + SHELL + i * (0.1 + SHELL)));
    }
    rbRandom random = {20261115};
    rbBodyId last = {0, 0};
    for (int i = 0; i < STONES; ++i) {
        rbBodyId id = addStone(world, mode, i, &random);
        if (i % 8 == 1) {
            rbJointDef joint = rbDefaultJointDef();
            joint.type = RB_JOINT_BALL;
            joint.bodyA = last;
            joint.bodyB = id;
            rbVec3 a = rbBody_GetState(world, last).transform.p;
            rbVec3 b = rbBody_GetState(world, id).transform.p;
            (void)join(world, &joint, rbScale(0.5, rbAdd(a, b)), rbMakeVec3(0.0, 0.0, 1.0));
        }
        last = id;
    }
    return world;
}

static const Mode modes[] = {
    {"to tolerance", 0, 300, 0, 0.0, RB_IMPACT_NEWTON, 0xa5e59d3b4cedf8ecu},
    {"game", 5, 10, 0, 0.0, RB_IMPACT_NEWTON, 0x92a62ee8d897e6fcu},
    {"shock propagation", 0, 300, 8, 0.0, RB_IMPACT_POISSON, 0xae91deadf8faab4bu},
    {"freezing", 0, 100, 0, 0.01, RB_IMPACT_STRONGE, 0x85c646c2d7669b53u},
};
enum {
    MODES = sizeof modes / sizeof modes[0]
};

// Runs until a time, with a number of queries.
static uint64_t runHeap(const Mode* mode, double time, int looks)
{
    rbWorld* world = makeHeap(mode);
    for (int i = 1; i <= looks; ++i) {
        rbStepReport report = rbWorld_AdvanceTo(world, i < looks ? time * i / looks : time);
        if (report.status != RB_STATUS_OK && report.status != RB_STATUS_NUMERICAL) {
            fail_msg("%s", rbWorld_GetError(world).message);
        }
    }
    uint64_t hash = rbWorld_GetHash(world);
    assert_true(isfinite(rbWorld_GetLedger(world).energy));
    assert_true(rbWorld_GetContactStatistics(world).collisions > 0 || mode->substeps > 0);
    rbDestroyWorld(world);
    return hash;
}

static void heapsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    bool isSame = true;
    for (int i = 0; i < MODES; ++i) {
        uint64_t hash = runHeap(&modes[i], 1.5, 1);
        print_message("%s: 0x%016" PRIx64 "\n", modes[i].name, hash);
        isSame = isSame && hash == modes[i].hash;
    }
    assert_true(isSame);
}

static void heapsRepeatWhateverIsLookedAt(void** state)
{
    (void)state;
    for (int i = 0; i < MODES; ++i) {
        uint64_t once = runHeap(&modes[i], 0.7, 1);
        assert_true(runHeap(&modes[i], 0.7, 1) == once);
        assert_true(runHeap(&modes[i], 0.7, 37) == once);
    }
}

#define CLUSTER 9

// Renews the force that draws a stone to the middle and slows it down.
static void drawTogether(rbWorld* world, rbBodyId id, rbForceId* force)
{
    rbBodyState state = rbBody_GetState(world, id);
    rbForceDef def = rbDefaultForceDef();
    double mass = rbBody_GetMass(world, id).mass;
    rbVec3 out = rbSub(state.center, rbMakeVec3(0.0, 0.0, 0.8));
    if (!RB_IS_NULL(*force)) {
        rbDestroyForce(world, *force);
    }
    def.type = RB_FORCE_CONSTANT;
    def.body = id;
    def.force = rbScale(-60.0 * mass, rbAddScaled(out, 0.1, state.linearVelocity));
    *force = rbCreateForce(world, &def, NULL);
    assert_false(RB_IS_NULL(*force));
}

// Stones in free space, pressed together by forces, with nothing that they rest on: what a cluster
// may gain is bounded by its own motion alone. Accounts and statistics count as well as states.
static uint64_t runCluster(const Mode* mode)
{
    rbWorldDef def = defineWorld();
    def.gravity = RB_VEC3_ZERO;
    def.step.step = 1.0 / 240.0;
    def.step.tolerance = 1e-6;
    def.step.accuracy = mode->substeps > 0 ? RB_ACCURACY_GAME : RB_ACCURACY_ENGINEERING;
    def.contact.substeps = mode->substeps;
    def.contact.sweepsMax = mode->sweepsMax;
    def.contact.shockAfter = mode->shockAfter;
    def.contact.freezeSpeed = mode->freezeSpeed;
    def.contact.law = mode->law;
    rbWorld* world = makeWorld(&def);
    rbRandom random = {20261116};
    rbBodyId ids[CLUSTER];
    rbForceId forces[CLUSTER] = {{0, 0}};
    for (int i = 0; i < CLUSTER; ++i) {
        ids[i] = addStone(world, mode, i, &random);
    }
    uint64_t hash = RB_HASH_SEED;
    int most = 0;
    for (int i = 1; i <= 30; ++i) {
        for (int k = 0; k < CLUSTER; ++k) {
            drawTogether(world, ids[k], &forces[k]);
        }
        rbStepReport report = rbWorld_AdvanceTo(world, 0.05 * i);
        if (report.status != RB_STATUS_OK && report.status != RB_STATUS_NUMERICAL) {
            fail_msg("%s", rbWorld_GetError(world).message);
        }
        uint64_t now = rbWorld_GetHash(world);
        int contacts = rbWorld_GetContacts(world, NULL, 0);
        most = contacts > most ? contacts : most;
        rbLedger ledger = rbWorld_GetLedger(world);
        hash = rbHashBytes(hash, &now, sizeof now);
        hash = rbHashDoubles(hash, (const double*)&ledger, sizeof ledger / sizeof(double));
    }
    assert_true(most > 5);
    rbDestroyWorld(world);
    return hash;
}

static void freeClustersHaveTheSameBits(void** state)
{
    (void)state;
    static const uint64_t expected[MODES] = {0x2c474ef409644d05u, 0x6bccbe7f0316364eu,
                                             0xf14cd69862ae6b49u, 0x34bd1c132b378736u};
    int differences = 0;
    for (int i = 0; i < MODES; ++i) {
        uint64_t hash = runCluster(&modes[i]);
        if (hash != expected[i]) {
            print_error("%s: hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u\n", modes[i].name,
                        hash, expected[i]);
            differences += 1;
        }
    }
    assert_int_equal(differences, 0);
}

// What a world is and what it took: states, accounts, and counts of work.
static uint64_t hashWork(uint64_t hash, const rbWorld* world)
{
    rbLedger ledger = rbWorld_GetLedger(world);
    rbStepStatistics step = rbWorld_GetStepStatistics(world);
    rbContactStatistics contact = rbWorld_GetContactStatistics(world);
    const int64_t counts[] = {(int64_t)rbWorld_GetHash(world),
                              step.steps,
                              step.substeps,
                              step.halvings,
                              step.positionIterations,
                              step.velocityIterations,
                              step.factorizations,
                              step.assemblingSteps,
                              step.unmetSteps,
                              step.settledSteps,
                              contact.collisions,
                              contact.contactSum,
                              contact.positionSweeps,
                              contact.velocitySweeps,
                              contact.collisionSweeps,
                              contact.unmetSteps,
                              contact.directStages,
                              contact.dividedSteps,
                              contact.shockedStages,
                              contact.cutSteps,
                              contact.cutTrials,
                              contact.lowOrderSteps};
    uint64_t h = rbHashBytes(hash, counts, sizeof counts);
    return rbHashDoubles(h, (const double*)&ledger, sizeof ledger / sizeof(double));
}

static void checkRuns(uint64_t (*run)(int), const uint64_t* expected, int count)
{
    int differences = 0;
    for (int i = 0; i < count; ++i) {
        uint64_t hash = run(i);
        if (hash != expected[i]) {
            print_error("run %d: hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u\n", i, hash,
                        expected[i]);
            differences += 1;
        }
    }
    assert_int_equal(differences, 0);
}

// Chains and rings of bodies that begin far off their joints, by up to several of their sizes.
static uint64_t runAssembly(int number)
{
    static const double scatters[] = {0.001, 0.05, 0.5, 3.0};
    rbError error = {0};
    rbRandom random = {20261117};
    uint64_t hash = RB_HASH_SEED;
    for (int k = 0; k < 12; ++k) {
        rbWorldDef def = rbDefaultWorldDef();
        def.step.isAssembleAllowed = true;
        def.contact.isEnabled = false;
        rbWorld* world = makeWorld(&def);
        rbBodyId ids[7];
        int count = 2 + k % 6;
        for (int i = 0; i < count; ++i) {
            rbVec3 off = rbScale(scatters[number], rbRandom_Direction(&random));
            ids[i] = addBody(world, NULL, 1.0 + 0.5 * i, rbAdd(rbMakeVec3(0.3 * i, 0.0, 0.0), off));
        }
        for (int i = 0; i < count + (k % 3 == 0 ? 1 : 0); ++i) {
            rbJointDef joint = rbDefaultJointDef();
            joint.type = i % 3 == 1 ? RB_JOINT_HINGE : RB_JOINT_BALL;
            joint.bodyA = i == 0 ? (rbBodyId){0, 0} : ids[i - 1];
            joint.bodyB = i == count ? (rbBodyId){0, 0} : ids[i];
            joint.anchorA.x = i == 0 ? 0.0 : 0.15;
            joint.anchorB.x = i == count ? 0.2 * count : -0.15;
            joint.axisA = rbMakeVec3(0.0, 0.0, 1.0);
            joint.axisB = rbMakeVec3(0.0, 0.28, 0.96);
            assert_false(RB_IS_NULL(rbCreateJoint(world, &joint, &error)));
        }
        error.message[0] = '\0';
        rbStatus status = rbWorld_Prepare(world, &error);
        hash = rbHashBytes(hash, error.message, strlen(error.message));
        hash = rbHashBytes(hash, &status, sizeof status);
        (void)rbWorld_Advance(world, 0.02);
        hash = hashWork(hash, world);
        rbDestroyWorld(world);
    }
    return hash;
}

static void assemblyHasTheSameBits(void** state)
{
    (void)state;
    static const uint64_t expected[] = {0x28f51c9866ec6803u, 0x4626d532f154d136u,
                                        0x948fd26298378fa5u, 0x75bf114e37121ea7u};
    checkRuns(runAssembly, expected, 4);
}

// Rows of balls that a fast one hits: the blow passes many of them within a step.
static uint64_t runRow(int number)
{
    static const double restitutions[] = {1.0, 0.7, 0.0, 1.0, 0.9};
    bool isGame = number == 3;
    rbWorldDef def = defineWorld();
    def.gravity = RB_VEC3_ZERO;
    def.step.step = 1.0 / 60.0;
    if (isGame) {
        rbWorldDef_SetAccuracy(&def, RB_ACCURACY_GAME);
    }
    rbWorld* world = makeWorld(&def);
    int count = number == 4 ? 40 : 18; // so many that the step is divided
    for (int i = 0; i < count; ++i) {
        rbBodyDef body = rbDefaultBodyDef();
        double apart = number == 4 ? 0.1000001 : 0.101;
        body.position = rbMakeVec3(apart * i - (i == 0 ? 0.5 : 0.0), i % 2 == 0 ? 0.0 : 1e-4, 0.0);
        body.linearVelocity.x = i == 0 ? (number == 4 ? 20.0 : 150.0) : 0.0;
        rbBodyId id = rbCreateBody(world, &body, NULL);
        rbShapeDef shape = rbDefaultShapeDef();
        shape.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.05, NULL));
        shape.material.restitution = restitutions[number];
        shape.material.friction = 0.25;
        assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, NULL)));
    }
    uint64_t hash = RB_HASH_SEED;
    for (int i = 1; i <= 3; ++i) {
        (void)rbWorld_AdvanceTo(world, i / 60.0);
        hash = hashWork(hash, world);
    }
    assert_true(number != 4 || rbWorld_GetContactStatistics(world).dividedSteps > 0);
    rbDestroyWorld(world);
    return hash;
}

static void rowsPassBlowsInTheSameBits(void** state)
{
    (void)state;
    static const uint64_t expected[] = {0x8133c2ab5701be94u, 0xf795525a29762b38u,
                                        0xfac3f984ac9cc60cu, 0x57850652085fd1a0u,
                                        0x913db5bfde8f45c4u};
    checkRuns(runRow, expected, 5);
}

// A box that tips and slides and a ball that rolls against it, at several orders: contacts that
// hold, some that come near, and changes between.
static uint64_t runRocking(int number)
{
    static const int orders[] = {2, 4, 8};
    rbError error = {0};
    rbWorldDef def = defineWorld();
    def.step.step = 0.01;
    def.step.order = orders[number];
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    for (int i = 0; i < 2; ++i) {
        rbBodyDef body = rbDefaultBodyDef();
        double tilt = 0.1;
        bool isBall = i == 1;
        body.orientation = rbNormalizeQuat((rbQuat){1.0, 0.0, isBall ? 0.0 : tilt, 0.02 * i});
        body.position = rbMakeVec3(0.5 * i, 0.0, isBall ? 0.1 : 0.23);
        body.linearVelocity.x = isBall ? -1.5 : 0.1;
        body.angularVelocity.y = isBall ? -15.0 : 0.0;
        rbBodyId id = rbCreateBody(world, &body, &error);
        rbShapeDef shape = rbDefaultShapeDef();
        rbGeometry* geometry =
            isBall ? rbCreateSphere(0.1, &error) : rbCreateBox(rbMakeVec3(0.1, 0.15, 0.2), &error);
        shape.geometry = rbWorld_AddGeometry(world, geometry);
        shape.material.friction = 0.5;
        assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    }
    uint64_t hash = RB_HASH_SEED;
    for (int i = 1; i <= 12; ++i) {
        (void)rbWorld_AdvanceTo(world, 0.04 * i);
        hash = hashWork(hash, world);
    }
    rbDestroyWorld(world);
    return hash;
}

static void rockingHasTheSameBitsAtEveryOrder(void** state)
{
    (void)state;
    static const uint64_t expected[] = {0xbacb0fe7c6f590d8u, 0x3bd4bf889e750391u,
                                        0x31b34b62e66ac2eau};
    checkRuns(runRocking, expected, 3);
}

// The same second of a falling heap twice: contacts appear and disappear in every step, and the
// second time their memory is already allocated.
static void contactsAllocateNothing(void** state)
{
    (void)state;
    for (int i = 0; i < MODES; ++i) {
        rbWorld* world = makeHeap(&modes[i]);
        rbError error = {0};
        (void)rbWorld_AdvanceTo(world, 0.1);
        size_t size = rbWorld_GetSnapshotSize(world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
        uint64_t made = 0;
        for (int round = 0; round < 2; ++round) {
            assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_OK);
            uint64_t before = rbGetAllocationCount();
            for (int k = 1; k <= 120; ++k) {
                rbWorld_ClearEvents(world);
                (void)rbWorld_AdvanceTo(world, 0.1 + k / 120.0);
            }
            made = rbGetAllocationCount() - before;
        }
        print_message("%s: %d allocations in 120 steps\n", modes[i].name, (int)made);
        assert_int_equal(made, 0);
        free(bytes);
        rbDestroyWorld(world);
    }
}

RB_TEST_GROUP(golden_contacts, cmocka_unit_test(heapsHaveTheSameBitsEverywhere),
              cmocka_unit_test(heapsRepeatWhateverIsLookedAt),
              cmocka_unit_test(freeClustersHaveTheSameBits),
              cmocka_unit_test(contactsAllocateNothing), cmocka_unit_test(assemblyHasTheSameBits),
              cmocka_unit_test(rowsPassBlowsInTheSameBits),
              cmocka_unit_test(rockingHasTheSameBitsAtEveryOrder));
