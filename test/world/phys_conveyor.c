// Conveyors: boxes and balls on moving surfaces against closed forms, and the work of the belt.
#include "event_scenes.h"
#include "lab/math/axis_angle.h"

#include <math.h>
#include <stdlib.h>

typedef struct Belt {
    double speed;    // m/s, along x
    double friction; // of both
    double angle;    // rad, of the slope: x goes up
} Belt;

static rbShapeDef makeMaterial(double friction)
{
    rbShapeDef shape = rbDefaultShapeDef();
    shape.material.restitution = 0.0;
    shape.material.friction = friction;
    return shape;
}

// A plane that moves along x; gravity is turned instead of it.
static rbWorld* makeBelt(const Belt* belt, const rbContactSettings* settings, rbBodyId* id)
{
    rbWorldDef def = defineWorld();
    def.gravity = rbMakeVec3(-GRAVITY * sin(belt->angle), 0.0, -GRAVITY * cos(belt->angle));
    def.contact = settings != NULL ? *settings : def.contact;
    def.step.accuracy = def.contact.substeps > 0 ? RB_ACCURACY_GAME : RB_ACCURACY_ENGINEERING;
    rbWorld* world = makeWorld(&def);
    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.type = RB_BODY_STATIC;
    rbShapeDef shape = makeMaterial(belt->friction);
    shape.surfaceVelocity = rbMakeVec3(belt->speed, 0.0, 0.5); // the last does not count
    *id = addSolidOf(world, "belt", rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL), &bodyDef,
                     &shape);
    return world;
}

static rbBodyId addBox(rbWorld* world, const char* name, rbVec3 foot, double friction)
{
    rbShapeDef shape = makeMaterial(friction);
    rbBodyDef def = rbDefaultBodyDef();
    def.position = rbMakeVec3(foot.x, foot.y, foot.z + 0.02);
    return addSolidOf(world, name, rbCreateBox(rbMakeVec3(0.1, 0.1, 0.02), NULL), &def, &shape);
}

static rbVec3 velocityOf(const rbWorld* world, rbBodyId body)
{
    return rbBody_GetState(world, body).linearVelocity;
}

// A box put on a belt: a = mu g until it moves with it at v / (mu g); it has then slid v^2 / (2 mu
// g), of the work of the belt m v^2 one half is its energy and one half is heat.
static void aBoxReachesTheSpeedOfTheBelt(void** state)
{
    (void)state;
    rbContactSettings settings[3] = {rbDefaultContactSettings(), rbDefaultContactSettings(),
                                     rbDefaultContactSettings()};
    settings[1].substeps = 5; // a game's budget
    settings[1].sweepsMax = 10;
    settings[1].tolerance = 1e-4;
    settings[1].velocityTolerance = 1e-4;
    settings[2].contactTime = RB_CONTACT_TIME_INTERPOLATION;
    for (int i = 0; i < 3; ++i) {
        Belt belt = {.speed = 1.0, .friction = 0.4};
        rbBodyId beltId;
        rbWorld* world = makeBelt(&belt, &settings[i], &beltId);
        rbBodyId box = addBox(world, "box", rbMakeVec3(0.0, 0.0, SHELL), belt.friction);
        double mass = rbBody_GetMass(world, box).mass;
        double a = belt.friction * GRAVITY;
        double end = belt.speed / a;
        double near = i == 1 ? settings[1].velocityTolerance : 1e-6;
        advance(world, 0.1);
        checkNear(velocityOf(world, box).x, a * 0.1, near);
        advance(world, 0.2);
        checkNear(rbBody_GetState(world, box).center.x, 0.5 * a * 0.04, 1e-5);
        advance(world, end + 2.0 * STEP);
        checkNear(velocityOf(world, box).x, belt.speed, near);
        advance(world, 1.0);
        checkNear(velocityOf(world, box).x, belt.speed, near);
        double way = belt.speed * 1.0 - 0.5 * belt.speed * end;
        checkNear(rbBody_GetState(world, box).center.x, way, 1e-3 * STEP + 1e-5);
        rbLedger ledger = rbWorld_GetLedger(world);
        double energy = 0.5 * mass * belt.speed * belt.speed;
        checkRelative(ledger.motorWork, 2.0 * energy, 1e-4);
        checkRelative(ledger.frictionWork, -energy, 1e-3);
        checkNear(ledger.energyDrift, 0.0, 1e-9 * energy);
        checkNear(ledger.restWork + ledger.impactWork, 0.0, 1e-4 * energy);
        rbDestroyWorld(world);
    }
}

// Uphill: a = g (mu cos - sin) until it moves along, then at the speed of the belt, whose motor
// lifts it. A belt that is too smooth lets it slide down.
static void anInclinedBeltCarriesOrSlips(void** state)
{
    (void)state;
    Belt belt = {.speed = 0.8, .friction = 0.6, .angle = 0.3};
    rbBodyId beltId;
    rbWorld* world = makeBelt(&belt, NULL, &beltId);
    rbBodyId box = addBox(world, "box", rbMakeVec3(0.0, 0.0, SHELL), belt.friction);
    double mass = rbBody_GetMass(world, box).mass;
    double a = GRAVITY * (belt.friction * cos(belt.angle) - sin(belt.angle));
    double end = belt.speed / a;
    advance(world, 0.2);
    checkNear(velocityOf(world, box).x, a * 0.2, 1e-6);
    advance(world, 1.0);
    checkNear(velocityOf(world, box).x, belt.speed, 1e-8);
    double start = rbBody_GetState(world, box).center.x;
    checkNear(start, belt.speed * (1.0 - 0.5 * end), 1e-5);
    double before = rbWorld_GetLedger(world).motorWork;
    advance(world, 11.0);
    // ten seconds later it has not crept
    checkNear(rbBody_GetState(world, box).center.x, start + 10.0 * belt.speed, 1e-6);
    double lifted = mass * GRAVITY * sin(belt.angle) * 10.0 * belt.speed;
    rbLedger ledger = rbWorld_GetLedger(world);
    checkRelative(ledger.motorWork - before, lifted, 1e-6);
    checkNear(ledger.energyDrift, 0.0, 1e-9 * lifted);
    rbDestroyWorld(world);

    belt.friction = 0.2;
    world = makeBelt(&belt, NULL, &beltId);
    box = addBox(world, "box", rbMakeVec3(0.0, 0.0, SHELL), belt.friction);
    advance(world, 0.5);
    a = GRAVITY * (belt.friction * cos(belt.angle) - sin(belt.angle));
    assert_true(a < 0.0);
    checkNear(velocityOf(world, box).x, 0.5 * a, 1e-6);
    rbDestroyWorld(world);
}

// A ball put on a belt slides until v + 5/2 v = belt: it rolls backward at 2/7 of its speed.
static void aBallEndsAtTwoSevenths(void** state)
{
    (void)state;
    Belt belt = {.speed = 2.0, .friction = 0.3};
    rbBodyId beltId;
    rbWorld* world = makeBelt(&belt, NULL, &beltId);
    rbShapeDef shape = makeMaterial(belt.friction);
    double radius = 0.1;
    rbBodyId ball = addBall(world, "ball", radius, rbMakeVec3(0.0, 0.0, radius + SHELL), &shape);
    double mass = rbBody_GetMass(world, ball).mass;
    double end = 2.0 / 7.0 * belt.speed / (belt.friction * GRAVITY);
    assert_true(end > 0.19);
    advance(world, 0.15);
    checkNear(velocityOf(world, ball).x, belt.friction * GRAVITY * 0.15, 1e-6);
    advance(world, 1.0);
    rbBodyState now = rbBody_GetState(world, ball);
    checkRelative(now.linearVelocity.x, 2.0 / 7.0 * belt.speed, 1e-4);
    checkRelative(now.angularVelocity.y, -5.0 / 7.0 * belt.speed / radius, 1e-4);
    // J = 2/7 m v; the belt does J v, the ball gets half of that
    rbLedger ledger = rbWorld_GetLedger(world);
    double work = 2.0 / 7.0 * mass * belt.speed * belt.speed;
    checkRelative(ledger.motorWork, work, 1e-3);
    checkRelative(ledger.kineticLinear + ledger.kineticAngular, 0.5 * work, 1e-3);
    checkRelative(ledger.frictionWork, -0.5 * work, 2e-3);
    checkNear(ledger.energyDrift, 0.0, 1e-9 * work);
    rbDestroyWorld(world);
}

// A box held by a wall: the belt pushes it with mu m g for ever; it does not freeze, and when the
// belt stops, it rests.
static void aWallHoldsABoxOnABelt(void** state)
{
    (void)state;
    rbContactSettings settings = rbDefaultContactSettings();
    settings.freezeSpeed = 0.01;
    settings.freezeTime = 0.1;
    Belt belt = {.speed = 0.5, .friction = 0.4};
    rbBodyId beltId;
    rbWorld* world = makeBelt(&belt, &settings, &beltId);
    rbBodyId box = addBox(world, "box", rbMakeVec3(0.0, 0.0, SHELL), belt.friction);
    double mass = rbBody_GetMass(world, box).mass;
    rbBodyDef wallDef = rbDefaultBodyDef();
    wallDef.type = RB_BODY_STATIC;
    wallDef.position = rbMakeVec3(0.2 + SHELL, 0.0, 0.11);
    rbShapeDef smooth = makeMaterial(0.0);
    rbBodyId wall =
        addSolidOf(world, "wall", rbCreateBox(rbMakeVec3(0.1, 0.5, 0.1), NULL), &wallDef, &smooth);
    advance(world, 1.0);
    checkNear(rbBody_GetContactForce(world, box, wall, NULL).x, -belt.friction * mass * GRAVITY,
              1e-5);
    checkNear(rbLength(velocityOf(world, box)), 0.0, 1e-7);
    assert_false(rbBody_IsResting(world, box));
    rbError error = {0};
    assert_int_equal(rbBody_SetSurfaceVelocity(world, beltId, -1, RB_VEC3_ZERO, &error),
                     RB_STATUS_OK);
    advance(world, 2.0);
    assert_true(rbBody_IsResting(world, box));
    // a slow belt wakes it and carries it away from the wall
    assert_int_equal(
        rbBody_SetSurfaceVelocity(world, beltId, 0, rbMakeVec3(-0.005, 0.0, 0.0), &error),
        RB_STATUS_OK);
    double start = rbBody_GetState(world, box).center.x;
    advance(world, 4.0);
    checkNear(rbBody_GetState(world, box).center.x - start, -0.01, 1e-5);
    rbDestroyWorld(world);
}

// Tracks: a body whose own surface moves back drives forward, with its belt or its floor turned.
static void tracksDriveTheirBody(void** state)
{
    (void)state;
    Belt belt = {.speed = 0.0, .friction = 0.5};
    rbBodyId floorId;
    rbWorld* world = makeBelt(&belt, NULL, &floorId);
    assert_int_equal(rbBody_SetSurfaceVelocity(world, floorId, -1, RB_VEC3_ZERO, NULL),
                     RB_STATUS_OK);
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.position = rbMakeVec3(0.0, 0.0, 0.02 + SHELL);
    def.orientation = rbQuat_FromAxisAngle(rbMakeVec3(0.0, 0.0, 1.0), 0.7);
    rbShapeDef shape = makeMaterial(belt.friction);
    shape.surfaceVelocity = rbMakeVec3(-1.0, 0.0, 0.0); // of the body's frame
    rbBodyId tank =
        addSolidOf(world, "tank", rbCreateBox(rbMakeVec3(0.15, 0.1, 0.02), NULL), &def, &shape);
    double mass = rbBody_GetMass(world, tank).mass;
    advance(world, 0.1);
    double a = belt.friction * GRAVITY;
    checkNear(velocityOf(world, tank).x, 0.1 * a * cos(0.7), 1e-6);
    checkNear(velocityOf(world, tank).y, 0.1 * a * sin(0.7), 1e-6);
    advance(world, 1.0);
    // it turns by some 1e-7 rad while its points begin to stick, one after the other
    checkNear(velocityOf(world, tank).x, cos(0.7), 1e-6);
    checkNear(velocityOf(world, tank).y, sin(0.7), 1e-6);
    rbLedger ledger = rbWorld_GetLedger(world);
    checkRelative(ledger.motorWork, mass, 1e-3);
    checkNear(ledger.energyDrift, 0.0, 1e-9 * mass);
    rbVec3 endless = {INFINITY, 0.0, 0.0};
    assert_int_equal(rbBody_SetSurfaceVelocity(world, tank, 0, endless, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "body \"tank\": surfaceVelocity is (inf, 0, 0) m/s"));
    assert_int_equal(rbBody_SetSurfaceVelocity(world, tank, 3, RB_VEC3_ZERO, &error),
                     RB_STATUS_INVALID);
    rbDestroyWorld(world);
}

// A column on a belt that starts slowly enough not to throw it over: all boxes move along, the
// island is solved as a whole.
static void aColumnRidesAlong(void** state)
{
    (void)state;
    static const char* const names[8] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    Belt belt = {.speed = 0.5, .friction = 0.05};
    rbBodyId beltId;
    rbWorld* world = makeBelt(&belt, NULL, &beltId);
    rbBodyId boxes[8];
    for (int i = 0; i < 8; ++i) {
        boxes[i] = addBox(world, names[i], rbMakeVec3(0.0, 0.0, SHELL + i * (0.04 + SHELL)),
                          i == 0 ? belt.friction : 1.0);
    }
    double mass = 8.0 * rbBody_GetMass(world, boxes[0]).mass;
    advance(world, 0.5);
    for (int i = 0; i < 8; ++i) {
        checkNear(velocityOf(world, boxes[i]).x, 0.5 * belt.friction * GRAVITY, 1e-5);
    }
    advance(world, 1.5);
    for (int i = 0; i < 8; ++i) {
        checkNear(velocityOf(world, boxes[i]).x, belt.speed, 1e-6);
    }
    assert_true(rbWorld_GetContactStatistics(world).directStages > 0);
    rbLedger ledger = rbWorld_GetLedger(world);
    checkRelative(ledger.motorWork, mass * belt.speed * belt.speed, 1e-3);
    checkNear(ledger.energyDrift, 0.0, 1e-6 * mass);
    rbDestroyWorld(world);
}

static void otherEnginesRefuseConveyors(void** state)
{
    (void)state;
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        rbWorldDef def = rbDefaultWorldDef();
        def.engine = (rbEngineType)engine;
        def.contact.isEnabled = false;
        rbWorld* world = makeWorld(&def);
        rbBodyId floor = addFloor(world);
        rbError error = {0};
        assert_int_equal(
            rbBody_SetSurfaceVelocity(world, floor, 0, rbMakeVec3(1.0, 0.0, 0.0), &error),
            RB_STATUS_OK);
        assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_UNSUPPORTED);
        assert_non_null(strstr(error.message, "body \"floor\" has a surfaceVelocity of (1, 0, 0)"));
        rbDestroyWorld(world);
    }
}

// Bodies fall on random belts: the energy account closes, and friction of balls over the belt never
// gives energy. (That of other shapes may: their normal impulses turn the slip.)
static void energyClosesOnRandomBelts(void** state)
{
    (void)state;
    int count = rbTest_Count(20, 1000);
    for (int i = 0; i < count; ++i) {
        rbRandom random = {rbTest_Seed(531) + (uint64_t)i};
        Belt belt = {.speed = 2.0 * rbRandom_Symmetric(&random),
                     .friction = rbRandom_Unit(&random),
                     .angle = 0.3 * rbRandom_Symmetric(&random)};
        rbBodyId beltId;
        rbWorld* world = makeBelt(&belt, NULL, &beltId);
        rbShapeDef shape = makeMaterial(rbRandom_Unit(&random));
        for (int k = 0; k < 3; ++k) {
            static const char* const names[3] = {"a", "b", "c"};
            rbBodyDef def = rbDefaultBodyDef();
            def.position = rbMakeVec3(0.4 * k, 0.0, 0.25);
            def.angularVelocity = anyVector(&random, 3.0);
            rbGeometry* geometry =
                i % 2 == 0 ? rbCreateSphere(0.1, NULL) : makeAnyGeometry(&random);
            (void)addSolidOf(world, names[k], geometry, &def, &shape);
        }
        rbStepReport report = rbWorld_AdvanceTo(world, 1.0);
        const rbLedger* ledger = &report.ledger;
        double size = fabs(ledger->motorWork) + fabs(ledger->frictionWork) +
                      fabs(ledger->impactWork) + ledger->kineticLinear + ledger->kineticAngular;
        checkBelow(fabs(ledger->energyDrift), 1e-3 * size);
        if (i % 2 == 0) {
            checkBelow(ledger->frictionWork, 1e-9 * size);
        }
        rbDestroyWorld(world);
    }
}

RB_TEST_GROUP(phys_conveyor, cmocka_unit_test(aBoxReachesTheSpeedOfTheBelt),
              cmocka_unit_test(anInclinedBeltCarriesOrSlips),
              cmocka_unit_test(aBallEndsAtTwoSevenths), cmocka_unit_test(aWallHoldsABoxOnABelt),
              cmocka_unit_test(tracksDriveTheirBody), cmocka_unit_test(aColumnRidesAlong),
              cmocka_unit_test(otherEnginesRefuseConveyors),
              cmocka_unit_test(energyClosesOnRandomBelts));
