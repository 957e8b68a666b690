// A paddle on a path turns and strikes a ball at rest, elastic and smooth, against closed form: the
// ball leaves along the normal with twice the speed that the paddle has there.
#include "arrival_scenes.h"
#include "base/core/random.h"

#include <math.h>

#define CASES 60
#define CASES_FULL 3000
#define SHELL 1e-5 // m, the default
#define HALF 0.05  // m, of the thickness

// The distance of the ball from the face of the paddle, as a function of its angle.
static double gapAt(rbVec3 ball, double radius, double angle)
{
    return ball.y * cos(angle) - ball.x * sin(angle) - HALF - radius - SHELL;
}

static double findAngle(rbVec3 ball, double radius)
{
    double low = 0.0;
    double high = 1.5;
    while (high - low > 1e-15) {
        double middle = 0.5 * (low + high);
        *(gapAt(ball, radius, middle) > 0.0 ? &low : &high) = middle;
        if (middle == 0.5 * (low + high)) {
            break;
        }
    }
    return low;
}

static rbBodyId addPaddle(rbWorld* world, double rate)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_KINEMATIC;
    rbPathDef path = rbDefaultPathDef();
    path.angularVelocity = rbMakeVec3(0.0, 0.0, rate);
    def.path = &path;
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateBox(rbMakeVec3(1.0, HALF, 0.2), NULL));
    shape.material.restitution = 1.0;
    shape.material.friction = 0.0;
    if (RB_IS_NULL(id) || RB_IS_NULL(rbCreateShape(world, id, &shape, &error))) {
        fail_msg("%s", error.message);
    }
    return id;
}

// How far the ball is off, and its velocity as a part of itself times the arm; both are lengths, m.
static void strike(rbRandom* random, double off[2])
{
    double step = 1e-3 * rbRandom_Range(random, 1.0, 10.0);
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_AUTO);
    def.gravity = RB_VEC3_ZERO;
    rbWorld* world = makeArrivalWorld(&def);
    double rate = rbRandom_Range(random, 0.5, 10.0);
    (void)addPaddle(world, rate);
    double radius = rbRandom_Range(random, 0.02, 0.1);
    double far = rbRandom_Range(random, 0.3, 0.8);
    double angle = rbRandom_Range(random, 0.3, 0.8);
    rbVec3 start = rbMakeVec3(far * cos(angle), far * sin(angle) + HALF + radius, 0.0);
    Flyer ball = {.geometry = rbCreateSphere(radius, NULL), .position = start, .restitution = 1.0};
    rbBodyId id = addFlyer(world, &ball);
    double struck = findAngle(start, radius);
    double time = struck / rate;
    double end = time + rbRandom_Range(random, 0.1, 0.6) / rate; // it would strike again at 1.2
    assert_int_equal(rbWorld_AdvanceTo(world, end).status, RB_STATUS_OK);
    rbVec3 normal = rbMakeVec3(-sin(struck), cos(struck), 0.0);
    double arm = start.x * cos(struck) + start.y * sin(struck); // along the paddle
    rbVec3 velocity = rbScale(2.0 * rate * arm, normal);
    rbBodyState state = rbBody_GetState(world, id);
    off[0] = rbDistance(state.center, rbAddScaled(start, end - time, velocity));
    off[1] = arm * rbDistance(state.linearVelocity, velocity) / rbLength(velocity);
    assert_int_equal(rbWorld_GetContactStatistics(world).collisions, 1);
    checkBelow(rbWorld_GetContactStatistics(world).deepest, SHELL);
    rbDestroyWorld(world);
}

static void paddlesStrikeOnTime(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x9add1e)};
    double worst[2] = {0.0, 0.0};
    for (int i = 0; i < rbTest_Count(CASES, CASES_FULL); ++i) {
        double off[2];
        strike(&random, off);
        worst[0] = fmax(worst[0], off[0]);
        worst[1] = fmax(worst[1], off[1]);
    }
    print_message("[ off by at most %.1e m, velocities by %.1e m ]\n", worst[0], worst[1]);
    // what is within the shell at a node collides there, and leaves twice as fast
    checkBelow(worst[0], 3.0 * SHELL);
    checkBelow(worst[1], 3.0 * SHELL);
}

RB_TEST_GROUP(phys_paddle, cmocka_unit_test(paddlesStrikeOnTime));
