// Bodies that a scene puts onto each other without a gap, or within the distance at which contacts
// act: they move from the first step as closed forms say.
#include "base/core/random.h"
#include "base/math/elementary.h"
#include "event_scenes.h"

#include <math.h>

#define CASES 60
#define CASES_FULL 3000
#define DURATION 0.4 // s
#define RADIUS 0.1

typedef struct Slope {
    bool isBall;
    double angle;    // rad
    double friction; // of both
    double gap;      // m, at the start
    double step;     // s
} Slope;

// Down a frozen slope: sliding with mu g cos(angle), or rolling where friction suffices.
static double getAcceleration(const Slope* s)
{
    double along = GRAVITY * rbSin(s->angle);
    double sliding = along - s->friction * GRAVITY * rbCos(s->angle);
    double rolling = s->isBall ? 5.0 / 7.0 * along : 0.0;
    return fmax(rolling, sliding);
}

// The velocity along the slope after a time; gravity is turned instead of the plane.
static rbVec3 slide(const Slope* s, double* drift)
{
    rbWorldDef def = defineWorld();
    def.gravity = rbMakeVec3(GRAVITY * rbSin(s->angle), 0.0, -GRAVITY * rbCos(s->angle));
    def.step.step = s->step;
    rbWorld* world = makeWorld(&def);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.material.restitution = 0.0;
    shape.material.friction = s->friction;
    rbBodyDef fixed = rbDefaultBodyDef();
    fixed.type = RB_BODY_STATIC;
    (void)addSolidOf(world, "slope", rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL), &fixed,
                     &shape);
    rbBodyDef body = rbDefaultBodyDef();
    body.position = rbMakeVec3(0.0, 0.0, RADIUS + s->gap);
    rbGeometry* geometry =
        s->isBall ? rbCreateSphere(RADIUS, NULL) : rbCreateBox(rbMakeVec3(0.2, 0.2, RADIUS), NULL);
    rbBodyId id = addSolidOf(world, "body", geometry, &body, &shape);
    advance(world, DURATION);
    rbVec3 velocity = rbBody_GetState(world, id).linearVelocity;
    *drift = rbWorld_GetLedger(world).energyDrift;
    rbDestroyWorld(world);
    return velocity;
}

// A block that stood still for the first step would be too slow by g sin(angle) h.
static void bodiesPutOntoSlopesStartAtOnce(void** state)
{
    (void)state;
    uint64_t seed = rbTest_Seed(0x9a01);
    int count = rbTest_Count(CASES, CASES_FULL);
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        rbRandom random = {seed + (uint64_t)i};
        Slope s = {.isBall = i % 2 == 0,
                   .angle = rbRandom_Range(&random, 0.05, 1.2),
                   .friction = i % 3 == 0 ? 0.0 : rbRandom_Range(&random, 0.0, 1.0),
                   .gap = i % 4 < 2 ? 0.0 : SHELL * rbRandom_Unit(&random),
                   .step = DURATION / (double)(100 + rbRandom_Index(&random, 1500))};
        double drift;
        double asked = getAcceleration(&s) * DURATION;
        double error = fabs(slide(&s, &drift).x - asked);
        worst = fmax(worst, error);
        // friction acts within the shell around a ball: its arm is longer by up to that
        double bound = 1e-5 + (s.isBall ? asked * SHELL / RADIUS : 0.0);
        if (!(error <= bound)) {
            fail_msg("case %d (seed %llu): %s, %g rad, friction %g, gap %g m, steps of %g s: "
                     "%g m/s too fast or too slow",
                     i, (unsigned long long)seed, s.isBall ? "ball" : "box", s.angle, s.friction,
                     s.gap, s.step, error);
        }
        checkNear(drift, 0.0, 1e-9);
    }
    print_message("%d starts, velocities off by at most %.2g m/s\n", count, worst);
}

// A block on a wedge that slides on a smooth floor, both put down without a gap: the wedge gives
// way by m g sin cos / (M + m sin^2).
static void aWedgeGivesWayFromTheStart(void** state)
{
    (void)state;
    double angle = 0.5235987755982988;
    double sine = rbSin(angle);
    double cosine = rbCos(angle);
    for (int k = 0; k < 3; ++k) {
        rbWorldDef def = defineWorld();
        def.step.step = 4e-3 / (double)(1 << (2 * k));
        rbWorld* world = makeWorld(&def);
        rbShapeDef shape = rbDefaultShapeDef();
        shape.material.restitution = 0.0;
        shape.material.friction = 0.0;
        rbBodyDef floor = rbDefaultBodyDef();
        floor.type = RB_BODY_STATIC;
        (void)addSolidOf(world, "floor", rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL),
                         &floor, &shape);
        double height = 2.0 * sine / cosine;
        const rbVec3 corners[6] = {{0.0, -0.5, 0.0}, {2.0, -0.5, 0.0}, {0.0, -0.5, height},
                                   {0.0, 0.5, 0.0},  {2.0, 0.5, 0.0},  {0.0, 0.5, height}};
        rbBodyDef wedge = rbDefaultBodyDef();
        rbBodyId wedgeId =
            addSolidOf(world, "wedge", rbCreateHull(corners, 6, NULL), &wedge, &shape);
        rbBodyDef block = rbDefaultBodyDef();
        block.position =
            rbMakeVec3(0.5 + 0.1 * sine, 0.0, height - 0.5 * sine / cosine + 0.1 * cosine);
        block.orientation = (rbQuat){rbCos(0.5 * angle), 0.0, rbSin(0.5 * angle), 0.0};
        rbBodyId blockId = addSolidOf(world, "block", rbCreateBox(rbMakeVec3(0.1, 0.1, 0.1), NULL),
                                      &block, &shape);
        double m = rbBody_GetMass(world, wedgeId).mass;
        double n = rbBody_GetMass(world, blockId).mass;
        double give = n * GRAVITY * sine * cosine / (m + n * sine * sine);
        double fall = (m + n) * GRAVITY * sine * sine / (m + n * sine * sine);
        advance(world, DURATION);
        checkNear(rbBody_GetState(world, wedgeId).linearVelocity.x, -give * DURATION, 1e-5);
        checkNear(rbBody_GetState(world, blockId).linearVelocity.z, -fall * DURATION, 1e-5);
        rbDestroyWorld(world);
    }
}

// Outputs that are not at ends of steps: velocities change evenly within a step. A ball that falls
// is as fast as it should be at any time, not as in the middle of the step.
static void velocitiesBetweenStepsAreThoseOfTheTime(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    def.step.step = 4e-3;
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbShapeDef shape = rbDefaultShapeDef();
    rbBodyId ball = addBall(world, "ball", RADIUS, rbMakeVec3(0.0, 0.0, 2.0), &shape);
    for (int k = 1; k <= 100; ++k) {
        double time = 3.7e-3 * k;
        (void)rbWorld_AdvanceTo(world, time);
        rbBodyState now = rbBody_GetState(world, ball);
        checkNear(now.linearVelocity.z, -GRAVITY * time, 1e-12);
        checkNear(now.center.z, 2.0 - 0.5 * GRAVITY * time * time, 2e-5); // g h^2 / 8
    }
    rbDestroyWorld(world);
}

// A floor that comes up: a ball without gravity leaves it with u' = 2 w - u, wherever in the step
// they meet, and is late by less than a step.
static void aMovingFloorStrikesAtItsPlace(void** state)
{
    (void)state;
    for (int k = 1; k <= 20; ++k) {
        rbWorldDef def = defineWorld();
        def.gravity = RB_VEC3_ZERO;
        def.step.step = 5e-4 * k;
        rbWorld* world = makeWorld(&def);
        rbShapeDef shape = rbDefaultShapeDef();
        shape.material.restitution = 1.0;
        rbBodyDef floor = rbDefaultBodyDef();
        floor.type = RB_BODY_KINEMATIC;
        rbPathDef path = rbDefaultPathDef();
        path.type = RB_PATH_LINE;
        path.speed = 0.7;
        path.direction = rbMakeVec3(0.0, 0.0, 1.0);
        floor.path = &path;
        (void)addSolidOf(world, "floor", rbCreateBox(rbMakeVec3(1.0, 1.0, 0.1), NULL), &floor,
                         &shape);
        rbBodyDef ball = rbDefaultBodyDef();
        ball.position = rbMakeVec3(0.0, 0.0, 0.1 + RADIUS + SHELL + 0.3);
        ball.linearVelocity = rbMakeVec3(0.0, 0.0, -0.5);
        rbBodyId id = addSolidOf(world, "ball", rbCreateSphere(RADIUS, NULL), &ball, &shape);
        advance(world, 0.5);
        rbBodyState now = rbBody_GetState(world, id);
        checkNear(now.linearVelocity.z, 1.9, 1e-9);
        checkNear(now.center.z, 0.5 + SHELL - 0.5 * 0.25 + 1.9 * 0.25, 1.9 * def.step.step + 1e-4);
        checkBelow(rbWorld_GetContactStatistics(world).deepest, 1e-6);
        rbDestroyWorld(world);
    }
}

RB_TEST_GROUP(phys_placed, cmocka_unit_test(bodiesPutOntoSlopesStartAtOnce),
              cmocka_unit_test(aWedgeGivesWayFromTheStart),
              cmocka_unit_test(velocitiesBetweenStepsAreThoseOfTheTime),
              cmocka_unit_test(aMovingFloorStrikesAtItsPlace));
