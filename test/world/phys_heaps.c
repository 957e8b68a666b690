// Balls that fall into a box in columns: a heap at 60 Hz loses its energy as in steps a tenth as
// long, steps are divided while balls strike, and what few sweeps leave is reported.
#include "arrival_scenes.h"
#include "base/core/random.h"

#include <math.h>
#include <stdlib.h>

#define SIDE 5
#define BALLS (SIDE * SIDE * SIDE)
#define STEP (1.0 / 60.0) // s
#define SPACING 1.1       // m
#define FEW_SWEEPS 5      // no heap is solved by so few

typedef struct Heap {
    rbWorld* world;
    rbBodyId balls[BALLS];
} Heap;

typedef struct Motion {
    double height; // m, mean
    double speed;  // m/s, mean
} Motion;

static void addWall(rbWorld* world, rbVec3 normal, double offset)
{
    Flyer wall = {
        .geometry = rbCreatePlane(normal, offset, NULL), .friction = 0.5, .isStatic = true};
    (void)addFlyer(world, &wall);
}

static Heap makeHeap(double step, int sweepsMax)
{
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_STEP);
    def.gravity = rbMakeVec3(0.0, 0.0, -9.81);
    def.contact.tolerance = 1e-5;
    def.contact.velocityTolerance = 1e-4;
    def.contact.sweepsMax = sweepsMax;
    Heap heap = {.world = makeArrivalWorld(&def)};
    (void)addGround(heap.world, 0.0, 0.5);
    double reach = 0.5 * (SPACING * SIDE + 0.4);
    for (int sign = -1; sign <= 1; sign += 2) {
        addWall(heap.world, rbMakeVec3(sign, 0.0, 0.0), -reach);
        addWall(heap.world, rbMakeVec3(0.0, sign, 0.0), -reach);
    }
    rbRandom random = {1};
    for (int i = 0; i < BALLS; ++i) {
        double middle = 0.5 * (SIDE - 1);
        double x = (i % SIDE - middle) * SPACING + 0.02 * rbRandom_Symmetric(&random);
        double y = (i / SIDE % SIDE - middle) * SPACING + 0.02 * rbRandom_Symmetric(&random);
        int layer = i / (SIDE * SIDE);
        double z = 2.0 + 1.5 * layer;
        Flyer ball = {.geometry = rbCreateSphere(0.5, NULL),
                      .position = rbMakeVec3(x, y, z),
                      .friction = 0.5};
        heap.balls[i] = addFlyer(heap.world, &ball);
    }
    return heap;
}

static Motion measure(const Heap* heap)
{
    Motion motion = {0.0, 0.0};
    for (int i = 0; i < BALLS; ++i) {
        rbBodyState state = rbBody_GetState(heap->world, heap->balls[i]);
        motion.height += state.center.z / BALLS;
        motion.speed += rbLength(state.linearVelocity) / BALLS;
    }
    return motion;
}

// A blow runs down a column within a step. Where it took a step from ball to ball, balls kept their
// speed and hung in the air: 2.2 and 1.7 times the speed here.
static void heapsLoseTheirEnergyAsInSmallSteps(void** state)
{
    (void)state;
    Heap heap = makeHeap(STEP, 2000);
    Heap fine = makeHeap(0.1 * STEP, 2000);
    for (int step = 70; step <= 80; step += 10) {
        (void)rbWorld_AdvanceTo(heap.world, step * STEP);
        (void)rbWorld_AdvanceTo(fine.world, step * STEP);
        Motion motion = measure(&heap);
        Motion expected = measure(&fine);
        assert_true(motion.speed < 1.4 * expected.speed);
        assert_true(fabs(motion.height - expected.height) < 0.1);
    }
    assert_int_equal(rbWorld_GetContactStatistics(heap.world).unmetSteps, 0);
    rbDestroyWorld(heap.world);
    rbDestroyWorld(fine.world);
}

// Steps are divided from the first blow within a heap on, not while balls fall.
static void stepsAreDividedWhileBallsStrike(void** state)
{
    (void)state;
    Heap heap = makeHeap(STEP, 2000);
    (void)rbWorld_AdvanceTo(heap.world, 20 * STEP);
    assert_int_equal(rbWorld_GetContactStatistics(heap.world).dividedSteps, 0);
    (void)rbWorld_AdvanceTo(heap.world, 70 * STEP);
    int64_t divided = rbWorld_GetContactStatistics(heap.world).dividedSteps;
    assert_in_range(divided, 6, 50);
    rbDestroyWorld(heap.world);
}

// The parts of a step are state: a world restored within a divided step goes on with the same bits.
static void dividedStepsGoOnFromSnapshots(void** state)
{
    (void)state;
    Heap heap = makeHeap(STEP, 2000);
    Heap other = makeHeap(STEP, 2000);
    for (int i = 0; i < 5; ++i) {
        double time = (60.3 + 1.7 * i) * STEP; // between nodes
        (void)rbWorld_AdvanceTo(heap.world, time);
        size_t size = rbWorld_GetSnapshotSize(heap.world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(heap.world, bytes, size, NULL), RB_STATUS_OK);
        (void)rbWorld_AdvanceTo(heap.world, time + 3.0 * STEP);
        uint64_t hash = rbWorld_GetHash(heap.world);
        assert_int_equal(rbWorld_RestoreSnapshot(heap.world, bytes, size, NULL), RB_STATUS_OK);
        (void)rbWorld_AdvanceTo(heap.world, time + 3.0 * STEP);
        assert_true(rbWorld_GetHash(heap.world) == hash);
        assert_int_equal(rbWorld_RestoreSnapshot(heap.world, bytes, size, NULL), RB_STATUS_OK);
        free(bytes);
    }
    assert_true(rbWorld_GetContactStatistics(heap.world).dividedSteps > 5);
    // outputs within steps change no bits
    (void)rbWorld_AdvanceTo(heap.world, 72 * STEP);
    (void)rbWorld_AdvanceTo(other.world, 72 * STEP);
    assert_true(rbWorld_GetHash(heap.world) == rbWorld_GetHash(other.world));
    rbDestroyWorld(heap.world);
    rbDestroyWorld(other.world);
}

// Too few sweeps: overlaps and speeds that are left are reported, and energy falls.
static void heapsThatAreNotSolvedAreReported(void** state)
{
    (void)state;
    Heap heap = makeHeap(STEP, FEW_SWEEPS);
    double start = rbWorld_GetLedger(heap.world).energy;
    (void)rbWorld_AdvanceTo(heap.world, 80 * STEP);
    rbContactStatistics statistics = rbWorld_GetContactStatistics(heap.world);
    assert_true(statistics.unmetSteps > 0);
    assert_true(rbWorld_GetLedger(heap.world).energy < start);
    rbDestroyWorld(heap.world);
}

RB_TEST_GROUP(phys_heaps, cmocka_unit_test(heapsLoseTheirEnergyAsInSmallSteps),
              cmocka_unit_test(stepsAreDividedWhileBallsStrike),
              cmocka_unit_test(dividedStepsGoOnFromSnapshots),
              cmocka_unit_test(heapsThatAreNotSolvedAreReported));
