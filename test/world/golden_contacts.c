// Touching bodies: the same bits from every compiler and build, on repetition and with any queries
// between the steps; and no allocation after warm-up.
#include "base/core/random.h"
#include "contact_scenes.h"
#include "lab/math/random3.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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
    {"to tolerance", 0, 300, 0, 0.0, RB_IMPACT_NEWTON, 0xe0928a9f91c737b4u},
    {"game", 5, 10, 0, 0.0, RB_IMPACT_NEWTON, 0x1f97e3ac65edd905u},
    {"shock propagation", 0, 300, 8, 0.0, RB_IMPACT_POISSON, 0x4058ecb99a2753a1u},
    {"freezing", 0, 100, 0, 0.01, RB_IMPACT_STRONGE, 0x9f4ef228b484d4fdu},
};
#define MODES ((int)(sizeof modes / sizeof modes[0]))

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
              cmocka_unit_test(contactsAllocateNothing));
