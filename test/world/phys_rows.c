// Blows through rows of bodies that lie close together, without rebound: as many move together at
// the end of the step as impacts one after the other say.
#include "arrival_scenes.h"
#include "base/core/random.h"

#include <math.h>

#define MOST 60
#define ROWS 60
#define ROWS_FULL 2000
#define PART 0.9 // of the step, in which all must have struck: bodies arrive late by part of a step
#define SPEED 3.0
#define OFF 1e-4 // m/s, of accuracy engineering

typedef struct Row {
    rbWorld* world;
    rbBodyId bodies[MOST]; // by place: the striker first
    double masses[MOST];
    double gaps[MOST]; // m, behind each
    int count;
} Row;

static rbGeometry* makePiece(bool isBox, double size)
{
    return isBox ? rbCreateBox(rbMakeVec3(size, size, size), NULL) : rbCreateSphere(size, NULL);
}

// Bodies along x; they are created from the front, from behind, or mixed.
static Row makeRow(rbRandom* random, double step)
{
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_STEP);
    def.gravity = RB_VEC3_ZERO;
    Row row = {.world = makeArrivalWorld(&def), .count = 2 + (int)(58.0 * rbRandom_Unit(random))};
    double widest = pow(10.0, -6.0 + 3.0 * rbRandom_Unit(random));
    bool isBox = rbRandom_Unit(random) < 0.5;
    int order = (int)(3.0 * rbRandom_Unit(random));
    double places[MOST] = {0.0};
    double sizes[MOST] = {0.0};
    double x = 0.0;
    for (int i = 0; i < row.count; ++i) {
        sizes[i] = 0.1 + 0.4 * rbRandom_Unit(random);
        places[i] = x + (i > 0 ? sizes[i] : 0.0);
        row.gaps[i] = i == 0 ? 0.2 * SPEED * step : widest * rbRandom_Unit(random);
        x = places[i] + sizes[i] + row.gaps[i] + 2e-6; // the shell
    }
    for (int k = 0; k < row.count; ++k) {
        int i = order == 0 ? k : order == 1 ? row.count - 1 - k : (7 * k) % row.count;
        i = order == 2 && row.count % 7 == 0 ? k : i;
        Flyer flyer = {.geometry = makePiece(isBox, sizes[i]),
                       .position = rbMakeVec3(places[i], 0.0, 0.0),
                       .velocity = rbMakeVec3(i == 0 ? SPEED : 0.0, 0.0, 0.0)};
        row.bodies[i] = addFlyer(row.world, &flyer);
        row.masses[i] = sizes[i] * sizes[i] * sizes[i]; // relative
    }
    return row;
}

// The time by which all have struck, and their common speed.
static double strikeAll(const Row* row, double* speed)
{
    double time = 0.0;
    double mass = row->masses[0];
    for (int i = 1; i < row->count; ++i) {
        time += row->gaps[i - 1] * mass / (SPEED * row->masses[0]);
        mass += row->masses[i];
    }
    *speed = SPEED * row->masses[0] / mass;
    return time;
}

static void blowsRunThroughRowsWithinTheStep(void** state)
{
    (void)state;
    uint64_t seed = rbTest_Seed(0x2070);
    int count = rbTest_Count(ROWS, ROWS_FULL);
    int checked = 0;
    int longest = 0;
    double most = 0.0;
    for (int i = 0; i < count; ++i) {
        rbRandom random = {seed + (uint64_t)i};
        double step = i % 2 == 0 ? 1.0 / 60.0 : 1e-3;
        Row row = makeRow(&random, step);
        double speed;
        double time = strikeAll(&row, &speed);
        assert_int_equal(rbWorld_AdvanceTo(row.world, step).status, RB_STATUS_OK);
        for (int k = 0; k < row.count && time < PART * step; ++k) {
            double own = rbBody_GetState(row.world, row.bodies[k]).linearVelocity.x;
            most = fmax(most, fabs(own - speed));
            if (fabs(own - speed) > OFF) {
                fail_msg("row %d (seed %llu): body %d of %d moves with %g, not %g m/s", i,
                         (unsigned long long)seed, k, row.count, own, speed);
            }
        }
        checked += time < PART * step;
        longest = time < PART * step && row.count > longest ? row.count : longest;
        rbDestroyWorld(row.world);
    }
    print_message("%d of %d rows are struck as a whole, the longest has %d bodies; off by at most "
                  "%.2g m/s\n",
                  checked, count, longest, most);
    assert_true(checked > count / 4 && longest > 32);
}

// A column that falls on a floor stands after the step in which it strikes, whatever its gaps.
static void columnsStopAsAWhole(void** state)
{
    (void)state;
    for (int i = 0; i < 18; ++i) {
        int count = 3 + 5 * (i / 3);
        double gap = 1e-5 * (i % 3 == 0 ? 1.0 : i % 3 == 1 ? 10.0 : 100.0);
        rbWorldDef def = defineArrivals(1.0 / 60.0, RB_CONTACT_TIME_STEP);
        def.gravity = rbMakeVec3(0.0, 0.0, -9.81);
        rbWorld* world = makeArrivalWorld(&def);
        (void)addGround(world, 0.0, 0.5);
        rbBodyId boxes[MOST];
        for (int k = 0; k < count; ++k) {
            Flyer box = {.geometry = makePiece(true, 0.5),
                         .friction = 0.5,
                         .position = rbMakeVec3(0.0, 0.0, 0.502 + k * (1.0 + gap)),
                         .velocity = rbMakeVec3(0.0, 0.0, -SPEED)};
            boxes[k] = addFlyer(world, &box);
        }
        assert_int_equal(rbWorld_AdvanceTo(world, 1.0 / 60.0).status, RB_STATUS_OK);
        for (int k = 0; k < count; ++k) {
            checkBelow(rbLength(rbBody_GetState(world, boxes[k]).linearVelocity), OFF);
        }
        rbDestroyWorld(world);
    }
}

RB_TEST_GROUP(phys_rows, cmocka_unit_test(blowsRunThroughRowsWithinTheStep),
              cmocka_unit_test(columnsStopAsAWhole));
