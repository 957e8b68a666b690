// A struck wall falls with shock propagation as it does with sweeps to the tolerance.
#include "contact_scenes.h"

#include <math.h>

#define COURSES 8
#define BRICKS 20
#define LENGTH 1.0 // m, of a brick: a brick farther from its place has fallen

typedef struct Wall {
    rbWorld* world;
    rbBodyId bricks[BRICKS];
    rbVec3 places[BRICKS];
} Wall;

static Wall makeWall(int shockAfter)
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
                           .restitution = 0.1,
                           .friction = 0.15};
            wall.places[count] = brick.position;
            wall.bricks[count++] = addPiece(wall.world, &brick);
        }
    }
    assert_int_equal(count, BRICKS);
    rbError error = {0};
    rbBodyDef ram = rbDefaultBodyDef();
    ram.position = rbMakeVec3(0.1, 0.7, 1.0);
    ram.linearVelocity = rbMakeVec3(0.0, -8.0, 0.0);
    Piece cube = {.size = {0.8, 0.8, 0.8}, .restitution = 0.1};
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

// If moving bodies were frozen too, the heights would differ by up to 0.09 m. Of 18 other walls,
// struck elsewhere and at other speeds, 11 are within these bounds after 1.2 s; the worst differs
// by 0.22 m.
// B-74, B-78
static void wallsFallAlike(void** state)
{
    (void)state;
    Wall full = makeWall(0);
    Wall shocked = makeWall(10);
    for (int k = 1; k <= 8; ++k) {
        runWall(&full, 0.1 * k);
        runWall(&shocked, 0.1 * k);
        int fallen = 0;
        int apart = 0;
        for (int i = 0; i < BRICKS; ++i) {
            fallen += isFallen(&full, i);
            apart += isFallen(&full, i) != isFallen(&shocked, i);
        }
        assert_true(apart <= 1);
        double heights[2] = {getHeight(&full), getHeight(&shocked)};
        print_message("[ %.1f s: %d fallen, %d in one only, heights %.3f and %.3f m ]\n", 0.1 * k,
                      fallen, apart, heights[0], heights[1]);
        checkNear(heights[1], heights[0], 0.03);
    }
    rbDestroyWorld(full.world);
    rbDestroyWorld(shocked.world);
}

RB_TEST_GROUP(phys_shock, cmocka_unit_test(wallsFallAlike));
