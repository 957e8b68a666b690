// Balls that fall into a box in columns: a heap at 60 Hz loses its energy as in steps a tenth as
// long, and flights that are cut short are reported.
#include "arrival_scenes.h"
#include "base/core/random.h"

#include <math.h>

#define SIDE 5
#define BALLS (SIDE * SIDE * SIDE)
#define STEP (1.0 / 60.0) // s
#define SPACING 1.1       // m
#define FEW_SWEEPS 20     // no flight of a heap is solved by so few

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

// Bodies whose flight is cut short count as arrived: they collide, which is late work, and they
// do not overlap.
static void flightsCutShortAreReported(void** state)
{
    (void)state;
    Heap heap = makeHeap(STEP, FEW_SWEEPS);
    double start = rbWorld_GetLedger(heap.world).energy;
    (void)rbWorld_AdvanceTo(heap.world, 80 * STEP);
    rbContactStatistics statistics = rbWorld_GetContactStatistics(heap.world);
    rbLedger ledger = rbWorld_GetLedger(heap.world);
    assert_true(statistics.limitedFlights > 0);
    assert_true(statistics.limitedFlights <= 80); // one heap, however often its flight is checked
    assert_true(statistics.unmetSteps > 0);
    assert_true(statistics.deepest < 1e-3);
    assert_true(ledger.lateWork < 0.0);
    assert_true(ledger.energy < start);
    rbDestroyWorld(heap.world);
}

RB_TEST_GROUP(phys_heaps, cmocka_unit_test(heapsLoseTheirEnergyAsInSmallSteps),
              cmocka_unit_test(flightsCutShortAreReported));
