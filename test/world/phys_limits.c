// Joint limits: stops that rebound, hold and share, compared with closed forms (B-82).
#include "joint_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRAVITY 9.81

static const rbVec3 axisX = {1.0, 0.0, 0.0};
static const rbVec3 axisY = {0.0, 1.0, 0.0};
static const rbVec3 axisZ = {0.0, 0.0, 1.0};
static const rbVec3 down = {0.0, 0.0, -GRAVITY};

static rbWorld* makeWorld(double step, rbVec3 gravity)
{
    rbWorldDef def = rbDefaultWorldDef();
    rbError error = {0};
    def.engine = RB_ENGINE_STEP;
    def.gravity = gravity;
    def.step.step = step;
    rbWorld* world = rbCreateWorld(&def, &error);
    assert_non_null(world);
    return world;
}

static void prepare(rbWorld* world)
{
    rbError error = {0};
    if (rbWorld_Prepare(world, &error) != RB_STATUS_OK) {
        print_message("%s\n", error.message);
        fail();
    }
}

static rbJointDef defOf(const char* name, rbJointType type, rbBodyId a, rbBodyId b)
{
    rbJointDef def = rbDefaultJointDef();
    def.name = name;
    def.type = type;
    def.bodyA = a;
    def.bodyB = b;
    return def;
}

static const rbBodyId nobody = {0, 0};

// ------------------------------------------------------------------------------------- a pendulum

// addBody: moments about y of 0.02 m. It hangs at 1 m and rotates about y, by a positive angle from
// +x down to -z. The angle is measured from the horizontal.
#define ARM 1.0
#define INERTIA (ARM * ARM + 0.02) // of 1 kg about the axis

static rbJointId makePendulum(rbWorld* world, double stop, double restitution)
{
    rbBodyId bob = addBody(world, "bob", 1.0, rbMakeVec3(ARM, 0.0, 0.0));
    rbJointDef def = defOf("pivot", RB_JOINT_HINGE, nobody, bob);
    def.limits[0] = (rbLimitDef){-0.1, stop, restitution};
    return join(world, &def, RB_VEC3_ZERO, axisY);
}

// B-82
static void pendulumLeavesItsStopAtTheRestitution(void** state)
{
    (void)state;
    static const double parts[] = {1.0, 0.5, 0.25, 0.0};
    for (int i = 0; i < 4; ++i) {
        rbWorld* world = makeWorld(1e-3, down);
        rbJointId joint = makePendulum(world, 1.0, parts[i]);
        prepare(world);
        double expected = sqrt(2.0 * GRAVITY * ARM * sin(1.0) / INERTIA);
        double fastest = 0.0;
        double back = 0.0;
        double exact = 0.0; // where it is at the end of the step in which it hits
        double highest = 0.0;
        for (int k = 0; k < 1200 && back == 0.0; ++k) {
            (void)rbWorld_AdvanceTo(world, 1e-3 * (k + 1));
            rbJointState now = rbJoint_GetState(world, joint);
            fastest = fmax(fastest, now.freedomVelocities[0]);
            highest = fmax(highest, now.freedomPositions[0]);
            bool hasHit = fastest > 0.9 * expected && now.freedomVelocities[0] < 0.5 * fastest;
            back = hasHit ? now.freedomVelocities[0] : 0.0;
            if (hasHit) {
                double rise = 2.0 * GRAVITY * ARM * (sin(1.0) - sin(now.freedomPositions[0]));
                double left = parts[i] * expected * parts[i] * expected - rise / INERTIA;
                exact = -sqrt(fmax(0.0, left));
                break;
            }
        }
        print_message("e %g: before %.6f (exact %.6f), after %.6f, highest %.3g\n", parts[i],
                      fastest, expected, back, highest - 1.0);
        checkNear(back, exact, 1e-5);
        checkNear(fmax(highest - 1.0, 0.0), 0.0, 1e-6);
        rbDestroyWorld(world);
    }
}

// B-82
static void pendulumRestsOnItsStopWithItsTorque(void** state)
{
    (void)state;
    static const double steps[] = {1e-3, 1.0 / 60.0};
    for (int i = 0; i < 2; ++i) {
        rbWorld* world = makeWorld(steps[i], down);
        rbJointId joint = makePendulum(world, 0.0, 0.5);
        prepare(world);
        for (int k = 1; k <= 20; ++k) {
            (void)rbWorld_AdvanceTo(world, 0.1 * k);
            rbJointState now = rbJoint_GetState(world, joint);
            checkNear(now.limitPositions[0], 0.0, 1e-9);
            checkNear(now.freedomVelocities[0], 0.0, 1e-9);
            checkNear(now.limitForces[0], -GRAVITY * ARM, 1e-6);
        }
        rbDestroyWorld(world);
    }
}

// B-82
static void sliderFallsOnTheEndOfItsRail(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(1e-3, down);
    rbBodyId body = addBody(world, "slider", 2.0, RB_VEC3_ZERO);
    rbJointDef def = defOf("rail", RB_JOINT_PRISMATIC, nobody, body);
    def.limits[0] = (rbLimitDef){-0.5, 1.0, 0.5};
    rbJointId joint = join(world, &def, rbMakeVec3(0.3, 0.0, 0.0), axisZ);
    prepare(world);
    // Heights of the tops of its jumps: each a quarter of the last one.
    double tops[3] = {0.0, 0.0, 0.0};
    double last = 0.0;
    int leap = -1;
    double lowest = 0.0;
    for (int k = 1; k <= 2500; ++k) {
        (void)rbWorld_AdvanceTo(world, 1e-3 * k);
        rbJointState now = rbJoint_GetState(world, joint);
        double speed = now.freedomVelocities[0];
        leap += last < 0.0 && speed > 0.0 ? 1 : 0;
        if (leap >= 0 && leap < 3) {
            tops[leap] = fmax(tops[leap], now.freedomPositions[0] + 0.5);
        }
        lowest = fmin(lowest, now.freedomPositions[0]);
        last = speed;
    }
    rbJointState now = rbJoint_GetState(world, joint);
    print_message("tops %.6f %.6f %.6f, lowest %.3g, force %.9g\n", tops[0], tops[1], tops[2],
                  lowest + 0.5, now.limitForces[0]);
    checkNear(tops[0], 0.125, 1e-5);
    checkNear(tops[1], 0.03125, 1e-5);
    checkNear(lowest, -0.5, 1e-6);
    checkNear(now.freedomVelocities[0], 0.0, 1e-8);
    checkNear(now.limitForces[0], 2.0 * GRAVITY, 1e-6);
    rbDestroyWorld(world);
}

// --------------------------------------------------------------------------------------- a cone

// A top on a point that leans against a cone about the vertical and is guided around by it: with I
// about the point, I3 about its axis, inclination a, precession W and spin w3 the cone presses with
//   I W^2 sin a cos a - I3 w3 W sin a + m g l sin a.
// B-82
static void topLeansAgainstItsCone(void** state)
{
    (void)state;
    const double lean = 0.5;
    const double precession = 4.0;
    const double spin = 5.0;
    const double arm = 0.4;
    const double side = 0.03 + arm * arm;
    const double own = 0.02;
    rbWorld* world = makeWorld(5e-4, down);
    rbError error = {0};
    rbMassProperties mass = {
        .volume = 1.0, .mass = 1.0, .inertia = {0.03, 0.03, own, 0.0, 0.0, 0.0}};
    rbVec3 axis = rbMakeVec3(sin(lean), 0.0, cos(lean));
    rbBodyDef body = rbDefaultBodyDef();
    body.name = "top";
    body.mass = &mass;
    body.position = rbScale(arm, axis);
    body.orientation = (rbQuat){cos(0.5 * lean), 0.0, sin(0.5 * lean), 0.0};
    // w = W z + (w3 - W cos a) axis
    body.angularVelocity =
        rbAddScaled(rbScale(precession, axisZ), spin - precession * cos(lean), axis);
    body.linearVelocity = rbCross(body.angularVelocity, body.position);
    rbBodyId top = rbCreateBody(world, &body, &error);
    rbJointDef def = defOf("tip", RB_JOINT_BALL, nobody, top);
    def.axisA = axisZ;
    def.axisB = axisZ;
    def.limits[0] = (rbLimitDef){-INFINITY, lean, 0.0};
    rbJointDef_SetAnchor(&def, world, RB_VEC3_ZERO);
    rbJointId joint = rbCreateJoint(world, &def, &error);
    assert_false(RB_IS_NULL(joint));
    prepare(world);
    double pressed =
        (side * precession * precession * cos(lean) - own * spin * precession + GRAVITY * arm) *
        sin(lean);
    double worst = 0.0;
    double worstForce = 0.0;
    for (int k = 1; k <= 200; ++k) {
        (void)rbWorld_AdvanceTo(world, 0.01 * k);
        rbJointState now = rbJoint_GetState(world, joint);
        worst = fmax(worst, fabs(now.limitPositions[0] - lean));
        worstForce = fmax(worstForce, fabs(now.limitForces[0] + pressed));
    }
    rbVec3 at = rbBody_GetState(world, top).transform.p;
    double azimuth = atan2(at.y, at.x);
    double left = remainder(azimuth - precession * 2.0, 2.0 * RB_PI);
    print_message("cone: angle off %.3g rad, torque %.6f off %.3g, azimuth off %.3g\n", worst,
                  pressed, worstForce, left);
    checkNear(worst, 0.0, 2.5e-6);
    checkNear(worstForce, 0.0, 1e-3 * pressed);
    checkNear(left, 0.0, 1e-4);
    rbDestroyWorld(world);
}

// --------------------------------------------------------------------------------------- motors

// B-82
static void motorDrivesIntoItsStopAndHolds(void** state)
{
    (void)state;
    static const rbMotorType types[] = {RB_MOTOR_VELOCITY, RB_MOTOR_POSITION, RB_MOTOR_SPEED};
    for (int i = 0; i < 3; ++i) {
        rbWorld* world = makeWorld(1e-3, RB_VEC3_ZERO);
        rbBodyId arm = addBody(world, "arm", 1.0, axisX);
        rbJointDef def = defOf("drive", RB_JOINT_HINGE, nobody, arm);
        def.freedoms[0].motor.type = types[i];
        def.freedoms[0].motor.gain = 100.0;
        def.freedoms[0].motor.target = 2.0;
        def.freedoms[0].motor.forceMax = 3.0;
        def.limits[0] = (rbLimitDef){-1.0, 0.5, 0.0};
        rbJointId joint = join(world, &def, RB_VEC3_ZERO, axisY);
        prepare(world);
        (void)rbWorld_AdvanceTo(world, 2.0);
        rbJointState now = rbJoint_GetState(world, joint);
        print_message("motor %d: at %.9f rate %.3g stop %.9f motor %.9f\n", i,
                      now.freedomPositions[0], now.freedomVelocities[0], now.limitForces[0],
                      now.freedomForces[0]);
        checkNear(now.freedomPositions[0], 0.5, 1e-6);
        checkNear(now.freedomVelocities[0], 0.0, 1e-8);
        checkNear(now.limitForces[0], -3.0, 1e-6);
        checkNear(now.freedomForces[0], 3.0, 1e-6);
        rbDestroyWorld(world);
    }
}

// --------------------------------------------------------------------------------------- a chain

// Ten links of 1 kg that extend from the wall and sag until all hinges are at their stops; each
// stop then carries the moment of all links beyond it.
// B-82
static void chainSagsOntoItsStops(void** state)
{
    (void)state;
    enum {
        COUNT = 10
    };
    const double bend = 0.1;
    rbWorld* world = makeWorld(2e-3, down);
    rbJointId joints[COUNT];
    rbBodyId before = nobody;
    rbBodyId links[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        links[i] = addBody(world, NULL, 1.0, rbMakeVec3(0.1 + 0.2 * i, 0.0, 0.0));
        rbJointDef def = defOf(NULL, RB_JOINT_HINGE, before, links[i]);
        def.limits[0] = (rbLimitDef){-bend, bend, 0.0};
        joints[i] = join(world, &def, rbMakeVec3(0.2 * i, 0.0, 0.0), axisY);
        before = links[i];
    }
    prepare(world);
    (void)rbWorld_AdvanceTo(world, 2.0);
    double worstRate = 0.0;
    double worstForce = 0.0;
    double worstAngle = 0.0;
    for (int i = 0; i < COUNT; ++i) {
        rbJointState now = rbJoint_GetState(world, joints[i]);
        double moment = 0.0;
        for (int k = i; k < COUNT; ++k) {
            moment += GRAVITY * (rbBody_GetState(world, links[k]).transform.p.x - now.pointB.x);
        }
        worstRate = fmax(worstRate, fabs(now.freedomVelocities[0]));
        worstAngle = fmax(worstAngle, fabs(now.limitPositions[0] - bend));
        worstForce = fmax(worstForce, fabs(now.limitForces[0] + moment));
    }
    print_message("chain: rate %.3g, angle off %.3g, moment off %.3g; excess %.3g\n", worstRate,
                  worstAngle, worstForce, rbWorld_GetContactStatistics(world).limitExcess);
    checkNear(worstRate, 0.0, 1e-7);
    checkNear(worstAngle, 0.0, 1e-6);
    checkNear(worstForce, 0.0, 1e-6);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(phys_limits, cmocka_unit_test(pendulumLeavesItsStopAtTheRestitution),
              cmocka_unit_test(pendulumRestsOnItsStopWithItsTorque),
              cmocka_unit_test(sliderFallsOnTheEndOfItsRail),
              cmocka_unit_test(topLeansAgainstItsCone),
              cmocka_unit_test(motorDrivesIntoItsStopAndHolds),
              cmocka_unit_test(chainSagsOntoItsStops));
