// A struck wall falls with shock propagation as it does with sweeps to the tolerance.
#include "contact_scenes.h"

#include <math.h>

#define COURSES 8
#define BRICKS 20
#define WALLS 6
#define WALLS_FULL 9
#define APART_PART 0.05    // of the bricks may fall in one run only
#define APART_HEIGHT 0.013 // m, of the mean heights, on average
#define DURATION 0.6       // s
#define LENGTH 1.0         // m, of a brick: a brick farther from its place has fallen

typedef struct Wall {
    rbWorld* world;
    rbBodyId bricks[BRICKS];
    rbVec3 places[BRICKS];
} Wall;

// A ram strikes at x and a height, with a speed.
typedef struct Blow {
    double x;
    double height; // m
    double speed;  // m/s
} Blow;

static Wall makeWall(const Blow* blow, double restitution, double friction, int shockAfter)
{
    rbWorldDef def = defineWorld();
    def.step.step = 0.005;
    def.contact.tolerance = 1e-5;
    def.contact.velocityTolerance = 1e-3;
    def.contact.shockAfter = shockAfter;
    Wall wall = {.world = makeWorld(&def)};
    (void)addFloor(wall.world);
    int count = 0;
    for (int i = 0; i < COURSES; ++i) {
        int length = i % 2 == 0 ? 3 : 2;
        for (int k = 0; k < length; ++k) {
            double x = (k - 0.5 * (length - 1)) * (LENGTH + SHELL);
            Piece brick = {.position = {x, 0.0, 0.15 + SHELL + i * (0.3 + SHELL)},
                           .size = {LENGTH, 0.4, 0.3},
                           .restitution = restitution,
                           .friction = friction};
            wall.places[count] = brick.position;
            wall.bricks[count++] = addPiece(wall.world, &brick);
        }
    }
    assert_int_equal(count, BRICKS);
    rbError error = {0};
    rbBodyDef ram = rbDefaultBodyDef();
    ram.position = rbMakeVec3(blow->x, 0.7, blow->height);
    ram.linearVelocity = rbMakeVec3(0.0, -blow->speed, 0.0);
    Piece cube = {.size = {0.8, 0.8, 0.8}, .restitution = restitution};
    rbBodyId id = rbCreateBody(wall.world, &ram, &error);
    assert_false(RB_IS_NULL(addShape(wall.world, id, &cube, &error)));
    return wall;
}

// Exceeding the tolerance is not a failure here.
static void runWall(Wall* wall, double time)
{
    rbStepReport report = rbWorld_AdvanceTo(wall->world, time);
    assert_true(report.status == RB_STATUS_OK || report.status == RB_STATUS_NUMERICAL);
}

static bool isFallen(const Wall* wall, int brick)
{
    rbVec3 now = rbBody_GetState(wall->world, wall->bricks[brick]).transform.p;
    return rbDistance(now, wall->places[brick]) > LENGTH;
}

static double getHeight(const Wall* wall)
{
    double sum = 0.0;
    for (int i = 0; i < BRICKS; ++i) {
        sum += rbBody_GetState(wall->world, wall->bricks[i]).transform.p.z;
    }
    return sum / BRICKS;
}

// Of the energy there was: what no cause explains.
static double getDrift(const Wall* wall)
{
    rbLedger ledger = rbWorld_GetLedger(wall->world);
    return fabs(ledger.energyDrift) / ledger.energyScale;
}

// Walls struck at several places: one alone says little, since its fall is chaotic. Seen in nine:
// heights differ by 0.007 m on average; if moving bodies were frozen too, by 0.020 m.
// B-74, B-78
static void wallsFallAlike(void** state)
{
    (void)state;
    double differences = 0.0;
    double drift = 0.0;
    int apart = 0;
    int fallen = 0;
    int count = rbTest_IsLong() ? WALLS_FULL : WALLS;
    for (int n = 0; n < count; ++n) {
        int row = n / 3;
        Blow blow = {0.1 + 0.25 * (n % 3), 1.0 + 0.35 * row, 8.0 - 1.5 * (n % 2)};
        Wall full = makeWall(&blow, 0.1, 0.15, 0);
        Wall shocked = makeWall(&blow, 0.1, 0.15, 10);
        runWall(&full, DURATION);
        runWall(&shocked, DURATION);
        int own = 0;
        for (int i = 0; i < BRICKS; ++i) {
            fallen += isFallen(&full, i);
            own += isFallen(&full, i) != isFallen(&shocked, i);
        }
        double heights[2] = {getHeight(&full), getHeight(&shocked)};
        drift = fmax(drift, fmax(getDrift(&full), getDrift(&shocked)));
        print_message("[ wall %d: %d in one only, heights %.3f and %.3f m ]\n", n, own, heights[0],
                      heights[1]);
        differences += fabs(heights[1] - heights[0]);
        apart += own;
        rbDestroyWorld(full.world);
        rbDestroyWorld(shocked.world);
    }
    print_message("[ %d bricks of %d fallen, %d in one only, heights differ by %.3f m on average; "
                  "no cause explains %.2g of the energy ]\n",
                  fallen, count * BRICKS, apart, differences / count, drift);
    assert_true(fallen > 0);
    checkBelow(apart, APART_PART * count * BRICKS);
    checkBelow(differences / count, APART_HEIGHT);
    checkBelow(drift, 1e-3);
}

static double getKinetic(const Wall* wall)
{
    rbLedger ledger = rbWorld_GetLedger(wall->world);
    return ledger.kineticLinear + ledger.kineticAngular;
}

// The load of a wall is solved before what strikes it rebounds: that took part in it, as if nothing
// rebounded, where sweeps failed and a solver started anew.
static void anElasticBlowKeepsItsEnergy(void** state)
{
    (void)state;
    double kept = 1.0;
    for (int n = 0; n < 9; ++n) {
        int row = n / 3;
        Blow blow = {0.1 + 0.25 * (n % 3), 1.0 + 0.35 * row, 8.0 - 1.5 * (n % 2)};
        Wall wall = makeWall(&blow, 1.0, 0.0, 0);
        double before = getKinetic(&wall);
        runWall(&wall, 0.04);
        double after = getKinetic(&wall);
        print_message("[ blow %d: %.3f of the kinetic energy is left ]\n", n, after / before);
        kept = fmin(kept, after / before);
        rbDestroyWorld(wall.world);
    }
    checkBelow(1.0 - kept, 0.05); // it gets potential energy, too
}

RB_TEST_GROUP(phys_shock, cmocka_unit_test(wallsFallAlike),
              cmocka_unit_test(anElasticBlowKeepsItsEnergy));
