// Same bits: on repetition, at every output step, on every compiler.
#include "event_scenes.h"

#include <inttypes.h>
#include <stdio.h>

// A scene and its duration.
typedef struct Golden {
    const char* name;
    rbWorld* (*make)(void);
    double time;      // s
    uint64_t state;   // hash at the end; 0: not compared
    uint64_t journal; // hash of all events; 0: not compared
} Golden;

static rbWorld* makePile(void)
{
    rbRandom random = {71};
    rbWorldDef def = eventWorldDef(9.81);
    rbWorld* world = makeWorldOf(&def);
    (void)addFloor(world, 0.5, 0.4);
    for (int i = 0; i < 12; ++i) {
        Made made = {.position = rbAdd(latticePlace(i, 3, 2, 0.4), rbMakeVec3(0.0, 0.0, 0.4)),
                     .velocity = rbScale(1.0, rbRandom_Direction(&random)),
                     .spin = rbScale(5.0, rbRandom_Direction(&random)),
                     .orientation = rbRandom_Quat(&random),
                     .restitution = 0.5,
                     .friction = 0.4};
        if (i % 3 == 0) {
            (void)addSphere(world, 0.1, made);
        } else if (i % 3 == 1) {
            (void)addBox(world, 0.1, 0.2, 0.15, made);
        } else {
            (void)addMade(world, &made, rbCreateCapsule(0.05, 0.1, NULL), RB_BODY_DYNAMIC, NULL);
        }
    }
    return world;
}

static rbWorld* makeGas(void)
{
    rbRandom random = {72};
    rbWorldDef def = eventWorldDef(0.0);
    def.periodicBox = rbMakeVec3(4.0, 4.0, 4.0);
    rbWorld* world = makeWorldOf(&def);
    for (int i = 0; i < 64; ++i) {
        rbVec3 at = rbAdd(latticePlace(i, 4, 4, 1.0), rbMakeVec3(-1.5, -1.5, -1.5));
        Made made = {.position = at, .velocity = rbRandom_Direction(&random), .restitution = 1.0};
        (void)addSphere(world, 0.4, made);
    }
    return world;
}

// A ball with a low center of mass, spinning on a plane: lasting contact.
static rbWorld* makeTop(void)
{
    rbWorldDef def = eventWorldDef(9.81);
    rbWorld* world = makeWorldOf(&def);
    (void)addFloor(world, 0.0, 0.5);
    rbMassProperties mass = {.mass = 0.02, .center = {0.0, 0.0, -0.006}};
    mass.inertia.xx = mass.inertia.yy = 131.0 / 350.0 * 0.02 * 0.0004;
    mass.inertia.zz = 0.4 * 0.02 * 0.0004;
    rbBodyDef body = rbDefaultBodyDef();
    body.position = rbMakeVec3(0.0, 0.0, 0.02);
    body.mass = &mass;
    body.orientation = rbNormalizeQuat((rbQuat){1.0, 0.0, 0.05, 0.0});
    body.angularVelocity = rbMakeVec3(0.0, 0.0, 150.0);
    rbBodyId id = rbCreateBody(world, &body, NULL);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.02, NULL));
    shape.material.restitution = 0.0;
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, NULL)));
    return world;
}

static rbGeometry* makeL(double size)
{
    const double profile[6][2] = {{0.0, 0.0},         {size, 0.0},
                                  {size, 0.3 * size}, {0.3 * size, 0.3 * size},
                                  {0.3 * size, size}, {0.0, size}};
    rbOwnedMesh mesh;
    assert_int_equal(rbExtrudeProfile(profile, 6, 0.3 * size, &mesh, NULL), RB_STATUS_OK);
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    rbGeometry* geometry = rbCreateMesh(&def, NULL);
    rbFreeMesh(&mesh);
    return geometry;
}

// Non-convex meshes thrown at each other, and one on a path.
static rbWorld* makeMeshes(void)
{
    rbWorldDef def = eventWorldDef(9.81);
    rbWorld* world = makeWorldOf(&def);
    (void)addFloor(world, 0.4, 0.3);
    Made first = {.position = {-0.5, 0.0, 0.8},
                  .velocity = {3.0, 0.0, 1.0},
                  .spin = {1.0, 4.0, 2.0},
                  .restitution = 0.6,
                  .friction = 0.3};
    Made second = {.position = {0.5, 0.1, 0.8},
                   .velocity = {-3.0, 0.0, 1.0},
                   .spin = {-3.0, 1.0, 2.0},
                   .restitution = 0.6,
                   .friction = 0.3};
    Made third = {.position = {0.0, -1.0, 0.3}, .restitution = 0.6, .friction = 0.3};
    (void)addMade(world, &first, makeL(0.4), RB_BODY_DYNAMIC, NULL);
    (void)addMade(world, &second, makeL(0.3), RB_BODY_DYNAMIC, NULL);
    rbPathDef path = rbDefaultPathDef();
    path.type = RB_PATH_LINE;
    path.speed = 2.0;
    path.direction = rbMakeVec3(0.0, 1.0, 0.0);
    path.angularVelocity = rbMakeVec3(0.0, 0.0, 3.0);
    rbVec3 half = {0.2, 0.1, 0.1};
    (void)addMade(world, &third, rbCreateBox(half, NULL), RB_BODY_KINEMATIC, &path);
    return world;
}

// The recorded hashes; with 0, runs are only compared with each other.
static const Golden goldens[] = {
    // Changed when bodies of a heap began to return to where they lay (issue 22).
    {"pile", makePile, 0.8, UINT64_C(0x3c5d81d011efd903), UINT64_C(0xa9bc0630c74e2583)},
    {"gas", makeGas, 3.0, UINT64_C(0x4adedec8a60e27b5), UINT64_C(0x20d5a1d9f62a972e)},
    {"top", makeTop, 0.1, UINT64_C(0x3104ec4d48de0949), UINT64_C(0x64a742dacedfd211)},
    {"meshes", makeMeshes, 0.6, UINT64_C(0x8a30d835759145eb), UINT64_C(0xac911ec077437607)},
};

static void run(const Golden* golden, double step, uint64_t* state, uint64_t* journal)
{
    rbWorld* world = golden->make();
    int64_t count = (int64_t)floor(golden->time / step + 0.5);
    for (int64_t k = 1; k <= count; ++k) {
        advanceFine(world, rbGetStepTime(k, step));
    }
    *state = rbWorld_GetHash(world);
    *journal = hashJournal(world);
    rbDestroyWorld(world);
}

static void bitsDoNotDependOnOutputSteps(void** unused)
{
    (void)unused;
    static const double steps[] = {1e-2, 1e-3, 1e-2, 0.1};
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; ++i) {
        const Golden* golden = &goldens[i];
        uint64_t state = 0;
        uint64_t journal = 0;
        run(golden, steps[0], &state, &journal);
        print_message("{\"%s\", ..., UINT64_C(0x%016" PRIx64 "), UINT64_C(0x%016" PRIx64 ")},\n",
                      golden->name, state, journal);
        for (int k = 1; k < 4; ++k) {
            uint64_t stateAgain, journalAgain;
            run(golden, steps[k], &stateAgain, &journalAgain);
            assert_true(stateAgain == state);
            assert_true(journalAgain == journal);
        }
        assert_true(golden->state == 0 || golden->state == state);
        assert_true(golden->journal == 0 || golden->journal == journal);
    }
}

// After the first events the engine allocates only for the journal.
static void engineLeaksNothing(void** unused)
{
    (void)unused;
    uint64_t before = rbGetAllocatedBytes();
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; ++i) {
        uint64_t state, journal;
        run(&goldens[i], 0.1, &state, &journal);
        assert_int_equal(rbGetAllocatedBytes(), before);
    }
}

RB_TEST_GROUP(golden_event, cmocka_unit_test(bitsDoNotDependOnOutputSteps),
              cmocka_unit_test(engineLeaksNothing));
