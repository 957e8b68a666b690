// Sliding that stops and turns back: a block kicked up a slope, alone or with another on it, and a
// block on a spring over a rough floor, against closed forms. Friction is against both directions
// in the step of the reversal, one after the other.
#include "arrival_scenes.h"
#include "base/core/random.h"

#include <math.h>

#define GRAVITY 9.81
#define SLOPES 200
#define SLOPES_FULL 5000
#define SPRINGS 12
#define SPRINGS_FULL 200

typedef struct Slope {
    double angle; // rad
    double friction;
    double speed;  // m/s, upward
    double height; // m, of the block
    int blocks;    // on top of each other
} Slope;

// The slope is the floor, and gravity is tilted.
static rbWorld* makeSlope(const Slope* slope, double step, rbBodyId* block)
{
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_STEP);
    def.gravity = rbMakeVec3(-GRAVITY * sin(slope->angle), 0.0, -GRAVITY * cos(slope->angle));
    rbWorld* world = makeArrivalWorld(&def);
    (void)addGround(world, 0.0, slope->friction);
    for (int i = 0; i < slope->blocks; ++i) {
        rbVec3 size = rbMakeVec3(0.6, 0.4, 0.5 * slope->height);
        Flyer flyer = {.geometry = rbCreateBox(size, NULL),
                       .position = {0.0, 0.0, (i + 0.5) * slope->height + 1e-5 * (i + 1)},
                       .velocity = {slope->speed, 0.0, 0.0},
                       .friction = i == 0 ? slope->friction : 2.0};
        *block = addFlyer(world, &flyer);
    }
    return world;
}

// How far the block is off along the slope after a time, m.
static double slideBack(const Slope* slope, double step, double time)
{
    rbBodyId block = {0};
    rbWorld* world = makeSlope(slope, step, &block);
    assert_int_equal(rbWorld_AdvanceTo(world, time).status, RB_STATUS_OK);
    double up = GRAVITY * (sin(slope->angle) + slope->friction * cos(slope->angle));
    double down = GRAVITY * (sin(slope->angle) - slope->friction * cos(slope->angle));
    double stop = slope->speed / up;
    double back = fmax(0.0, down) * (time - stop) * (time - stop);
    double truth = 0.5 * (slope->speed * stop - back);
    double error = rbBody_GetState(world, block).center.x - truth;
    rbDestroyWorld(world);
    return fabs(error);
}

static Slope drawSlope(rbRandom* random, bool isHolding)
{
    Slope slope = {.angle = rbRandom_Range(random, 0.2, 0.8),
                   .speed = rbRandom_Range(random, 1.0, 5.0),
                   .height = rbRandom_Range(random, 0.1, 0.2),
                   .blocks = 1 + (int)rbRandom_Index(random, 2)};
    double part = isHolding ? rbRandom_Range(random, 1.05, 1.3) : rbRandom_Range(random, 0.1, 0.9);
    slope.friction = part * tan(slope.angle);
    return slope;
}

// Off by at most what gravity does in a step; the shell, to which a floor is known, is added.
static void checkSlopes(uint64_t salt, bool isHolding)
{
    rbRandom random = {rbTest_Seed(salt)};
    double worst = 0.0;
    for (int i = 0; i < rbTest_Count(SLOPES, SLOPES_FULL); ++i) {
        Slope slope = drawSlope(&random, isHolding);
        double step = 1e-3 * rbRandom_Range(&random, 1.0, 10.0);
        double stop =
            slope.speed / (GRAVITY * (sin(slope.angle) + slope.friction * cos(slope.angle)));
        double time = stop + rbRandom_Range(&random, 0.1, 1.0);
        double error = slideBack(&slope, step, time);
        worst = fmax(worst, error / (GRAVITY * step * step + 1e-5));
        if (!(error <= GRAVITY * step * step + 1e-5)) {
            fail_msg("slope %d: %.3g m off in steps of %.17g s, angle %.17g, friction %.17g, %d "
                     "blocks, speed %.17g, time %.17g",
                     i, error, step, slope.angle, slope.friction, slope.blocks, slope.speed, time);
        }
    }
    print_message("at most %.2g of what gravity does in a step\n", worst);
}

static void whatSlidesBackIsOnTime(void** state)
{
    (void)state;
    checkSlopes(0xbac, false);
}

static void whatFrictionHoldsStaysWhereItStops(void** state)
{
    (void)state;
    checkSlopes(0xb1d, true);
}

// A block on a spring of 100 N/m and 1 kg over a rough floor: half swings about points off the
// middle by what friction holds.
static double swing(double friction, double start, double step, double time)
{
    rbError error = {0};
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_STEP);
    rbWorld* world = makeArrivalWorld(&def);
    (void)addGround(world, 0.0, friction);
    Flyer flyer = {.geometry = rbCreateBox(rbMakeVec3(0.2, 0.2, 0.1), NULL),
                   .position = {start, 0.0, 0.10001},
                   .density = 1.0 / (0.4 * 0.4 * 0.2),
                   .friction = friction};
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyB = addFlyer(world, &flyer);
    spring.anchorA = rbMakeVec3(-2.0, 0.0, 0.10001);
    spring.restLength = 2.0;
    spring.stiffness = 100.0;
    assert_false(RB_IS_NULL(rbCreateSpring(world, &spring, &error)));
    assert_int_equal(rbWorld_AdvanceTo(world, time).status, RB_STATUS_OK);
    double rate = 10.0;
    double middle = friction * GRAVITY / 100.0;
    double x = start;
    int turns = (int)(time * rate / RB_PI);
    for (int i = 0; i < turns; ++i) {
        x = 2.0 * middle - x;
        middle = -middle;
        assert_true(fabs(x) > fabs(middle)); // it does not rest
    }
    double truth = middle + (x - middle) * cos(rate * time - turns * RB_PI);
    double off = fabs(rbBody_GetState(world, spring.bodyB).center.x - truth);
    rbDestroyWorld(world);
    return off;
}

static void dryFrictionOnASpringIsOfSecondOrder(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x5f)};
    double errors[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < rbTest_Count(SPRINGS, SPRINGS_FULL); ++i) {
        double friction = rbRandom_Range(&random, 0.05, 0.2);
        double start = rbRandom_Range(&random, 0.3, 0.5);
        double time = rbRandom_Range(&random, 1.0, 2.0);
        for (int k = 0; k < 3; ++k) {
            errors[k] += swing(friction, start, 8e-3 / (1 << (2 * k)), time);
        }
    }
    print_message("8, 2, 0.5 ms: %.2g, %.2g, %.2g m\n", errors[0], errors[1], errors[2]);
    checkBelow(errors[1], errors[0] / 8.0);
    checkBelow(errors[2], errors[1] / 8.0);
}

// Askew down a slope: velocities by their own equations, in small steps.
static rbVec3 slideAskew(double angle, double friction, rbVec3 velocity, double time)
{
    rbVec3 x = RB_VEC3_ZERO;
    rbVec3 v = velocity;
    int count = 20000;
    double h = time / count;
    for (int i = 0; i < count; ++i) { // middle of the step
        for (int half = 0; half < 2; ++half) {
            x = rbAddScaled(x, 0.5 * h, v);
            if (half == 0) {
                double brake = friction * GRAVITY * cos(angle) / rbLength(v);
                rbVec3 a = rbAddScaled(rbMakeVec3(GRAVITY * sin(angle), 0.0, 0.0), -brake, v);
                rbVec3 middle = rbAddScaled(v, 0.5 * h, a);
                brake = friction * GRAVITY * cos(angle) / rbLength(middle);
                a = rbAddScaled(rbMakeVec3(GRAVITY * sin(angle), 0.0, 0.0), -brake, middle);
                v = rbAddScaled(v, h, a);
            }
        }
    }
    return x;
}

typedef enum Bond {
    BOND_JOINT,
    BOND_SPRING,
    BOND_ROLLING, // none; but friction against rolling
    BONDS
} Bond;

static double slideBonded(Bond bond, double step)
{
    double angle = 0.35;
    double friction = 0.3;
    rbVec3 velocity = rbMakeVec3(0.8, 1.2, 0.0);
    rbError error = {0};
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_STEP);
    def.gravity = rbMakeVec3(GRAVITY * sin(angle), 0.0, -GRAVITY * cos(angle));
    rbWorld* world = makeArrivalWorld(&def);
    (void)addGround(world, 0.0, friction);
    rbBodyId ids[2];
    for (int i = 0; i < 2; ++i) {
        rbBodyDef body = rbDefaultBodyDef();
        body.position = rbMakeVec3(0.3 * i, 0.0, 0.01 + 1e-5);
        body.linearVelocity = velocity;
        ids[i] = rbCreateBody(world, &body, &error);
        rbShapeDef shape = rbDefaultShapeDef();
        shape.geometry = rbWorld_AddGeometry(world, rbCreateBox(rbMakeVec3(0.1, 0.2, 0.01), NULL));
        shape.material.friction = friction;
        shape.material.restitution = 0.0;
        shape.material.rolling = bond == BOND_ROLLING ? 1e-3 : 0.0;
        assert_false(RB_IS_NULL(rbCreateShape(world, ids[i], &shape, &error)));
    }
    if (bond == BOND_JOINT) {
        rbJointDef joint = rbDefaultJointDef();
        joint.type = RB_JOINT_FIXED;
        joint.bodyA = ids[0];
        joint.bodyB = ids[1];
        joint.anchorA = rbMakeVec3(0.15, 0.0, 0.0);
        joint.anchorB = rbMakeVec3(-0.15, 0.0, 0.0);
        assert_false(RB_IS_NULL(rbCreateJoint(world, &joint, &error)));
    } else if (bond == BOND_SPRING) {
        rbSpringDef spring = rbDefaultSpringDef();
        spring.bodyA = ids[0];
        spring.bodyB = ids[1];
        spring.restLength = 0.3;
        spring.stiffness = 100.0;
        assert_false(RB_IS_NULL(rbCreateSpring(world, &spring, &error)));
    }
    assert_int_equal(rbWorld_AdvanceTo(world, 0.4).status, RB_STATUS_OK);
    rbVec3 truth = slideAskew(angle, friction, velocity, 0.4);
    rbVec3 off = rbSub(rbBody_GetState(world, ids[0]).center, truth);
    rbDestroyWorld(world);
    return hypot(off.x, off.y);
}

static void slidingThatTurnsKeepsItsOrderWithJoints(void** state)
{
    (void)state;
    for (int bond = 0; bond < BONDS; ++bond) {
        double coarse = slideBonded((Bond)bond, 1e-2);
        double fine = slideBonded((Bond)bond, 2.5e-3);
        print_message("bond %d: %.2g and %.2g m off\n", bond, coarse, fine);
        checkBelow(coarse, 3e-5); // 1e-3 m where friction is against the slip of the end alone
        checkBelow(fine, 5e-6);
    }
}

RB_TEST_GROUP(phys_reversal, cmocka_unit_test(whatSlidesBackIsOnTime),
              cmocka_unit_test(whatFrictionHoldsStaysWhereItStops),
              cmocka_unit_test(dryFrictionOnASpringIsOfSecondOrder),
              cmocka_unit_test(slidingThatTurnsKeepsItsOrderWithJoints));
