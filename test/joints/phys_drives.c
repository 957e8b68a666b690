// Motors and springs on bodies: the force acts along the row, and the position is read from the
// poses. Bodies move here by plain small steps. Nothing enforces the joints, so the scenes are
// those in which that is not necessary.
#include "base/math/quaternion.h"
#include "joint_samples.h"
#include "lab/math/rotations.h"
#include "rb_test.h"

#include <math.h>

typedef struct Body {
    rbRowPose pose;
    rbVec3 velocity, spin;
    double mass, moment; // a ball
} Body;

static Body makeBody(rbVec3 position, double mass, double moment)
{
    Body body = {.mass = mass, .moment = moment};
    body.pose = (rbRowPose){position, RB_QUAT_IDENTITY, rbMatFromQuat(RB_QUAT_IDENTITY)};
    return body;
}

// Impulse x along a row, + on A, - on B.
static void push(Body* a, Body* b, const rbRow* row, double x)
{
    a->velocity = rbAddScaled(a->velocity, x / a->mass, row->linear);
    a->spin = rbAddScaled(a->spin, x / a->moment, row->angularA);
    b->velocity = rbAddScaled(b->velocity, -x / b->mass, row->linear);
    b->spin = rbAddScaled(b->spin, -x / b->moment, row->angularB);
}

static void fly(Body* body, double h)
{
    body->pose = rbMovePose(&body->pose, rbScale(h, body->velocity), rbScale(h, body->spin));
}

static double findRate(const rbRow* row, const Body* a, const Body* b)
{
    return rbDot(row->linear, rbSub(b->velocity, a->velocity)) + rbDot(row->angularB, b->spin) -
           rbDot(row->angularA, a->spin);
}

static rbJointModel makeJoint(rbJointType type, const Body* a, const Body* b, rbVec3 anchorA)
{
    rbJointDef def = {.type = type, .axisA = {1.0, 2.0, 2.0}, .anchorA = anchorA};
    rbJointSide sideA = {"A", {a->pose.position, a->pose.orientation}, RB_TRANSFORM_IDENTITY};
    rbJointSide sideB = {"B", {b->pose.position, b->pose.orientation}, RB_TRANSFORM_IDENTITY};
    rbJointModel model;
    assert_int_equal(rbJointModel_Make(&model, &def, &sideA, &sideB, NULL), RB_STATUS_OK);
    return model;
}

// Drives the first degree of freedom of a joint whose conditions are not disturbed, and returns its
// position.
static double drive(const rbJointModel* model, const rbMotorDef* def, Body* a, Body* b)
{
    const double h = 1e-3;
    rbMotorModel motor;
    rbMotorModel_Make(&motor, def);
    rbMotorState memory = {0};
    double position = 0.0;
    for (int i = 0; i < 10000; ++i) {
        rbRow row;
        rbFreedomModel_Rows(&model->freedoms[0], &a->pose, &b->pose, &row);
        rbFreedomModel_Errors(&model->freedoms[0], &a->pose, &b->pose, &position);
        double rate = findRate(&row, a, b);
        // A positive force increases the position: opposite to the sense of impulses that reduce
        // it.
        push(a, b, &row, -h * rbMotorModel_Force(&motor, &memory, i * h, h, position, rate));
        fly(a, h);
        fly(b, h);
    }
    rbMotorModel_Free(&motor);
    double errors[6];
    rbJointModel_Errors(model, &a->pose, &b->pose, errors);
    for (int k = 0; k < model->rowCount; ++k) {
        checkNear(errors[k], 0.0, 1e-11); // 10,000 steps of rounding
    }
    return position;
}

static rbMotorDef servo(double target)
{
    return (rbMotorDef){.type = RB_MOTOR_POSITION,
                        .gain = 20.0,
                        .derivativeTime = 0.4,
                        .forceMax = 30.0,
                        .target = target};
}

// B-26: two balls on a common shaft. The torque is equal and opposite: each rotates by its share of
// the angle, 1/I, and the shaft stays in place.
static void aRotaryMotorTurnsBothBodiesByTheirShare(void** state)
{
    (void)state;
    Body a = makeBody(RB_VEC3_ZERO, 3.0, 2.0);
    Body b = makeBody(RB_VEC3_ZERO, 1.0, 0.5);
    rbJointModel model = makeJoint(RB_JOINT_HINGE, &a, &b, RB_VEC3_ZERO);
    rbMotorDef def = servo(2.5);
    checkNear(drive(&model, &def, &a, &b), 2.5, 1e-9);
    rbAxisAngle turnA = rbQuat_ToAxisAngle(a.pose.orientation);
    rbAxisAngle turnB = rbQuat_ToAxisAngle(b.pose.orientation);
    rbVec3 axis = rbMakeVec3(1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0);
    checkNear(turnA.angle * rbDot(turnA.axis, axis), -0.5, 1e-9);
    checkNear(turnB.angle * rbDot(turnB.axis, axis), 2.0, 1e-9);
    checkNear(rbLength(a.velocity) + rbLength(b.velocity), 0.0, 0.0);
}

// B-27: two balls on a rail through both centers; each moves by its share, 1/m, and neither
// rotates.
static void aLinearMotorMovesBothBodiesByTheirShare(void** state)
{
    (void)state;
    Body a = makeBody(RB_VEC3_ZERO, 3.0, 2.0);
    Body b = makeBody(rbMakeVec3(0.5, 1.0, 1.0), 1.0, 0.5);
    rbJointModel model = makeJoint(RB_JOINT_PRISMATIC, &a, &b, rbMakeVec3(0.5, 1.0, 1.0));
    rbMotorDef def = servo(-4.0);
    checkNear(drive(&model, &def, &a, &b), -4.0, 1e-9);
    rbVec3 axis = rbMakeVec3(1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0);
    checkNear(rbDot(a.pose.position, axis), 1.0, 1e-9);
    checkNear(rbDot(b.pose.position, axis), 1.5 - 3.0, 1e-9);
    checkNear(rbLength(a.spin) + rbLength(b.spin), 0.0, 1e-12);
}

// B-31, E-04: two balls on a damped spring: the elongation is exp(-t/T) cos, with the reduced mass;
// momentum stays. Steps of 1e-5 s, first order.
static void aDampedSpringDecaysAsItShould(void** state)
{
    (void)state;
    const double stiffness = 40.0;
    const double damping = 1.5;
    const double rest = 1.0;
    const double h = 1e-5;
    Body a = makeBody(RB_VEC3_ZERO, 3.0, 2.0);
    Body b = makeBody(rbMakeVec3(0.0, 1.5, 0.0), 1.0, 0.5);
    rbSpringModel spring = {RB_VEC3_ZERO, RB_VEC3_ZERO};
    double length = 0.0;
    for (int i = 0; i < 200000; ++i) {
        rbRow row;
        rbSpringModel_Rows(&spring, &a.pose, &b.pose, &row);
        rbSpringModel_Errors(&spring, &a.pose, &b.pose, &length);
        double pull = stiffness * (length - rest) + damping * findRate(&row, &a, &b);
        push(&a, &b, &row, h * pull);
        a.pose.position = rbAddScaled(a.pose.position, h, a.velocity);
        b.pose.position = rbAddScaled(b.pose.position, h, b.velocity);
    }
    rbSpringModel_Errors(&spring, &a.pose, &b.pose, &length);
    double reduced = 0.75;
    double decay = damping / (2.0 * reduced);
    double frequency = sqrt(stiffness / reduced - decay * decay);
    double time = 200000 * h;
    double expected = 0.5 * exp(-decay * time) *
                      (cos(frequency * time) + decay / frequency * sin(frequency * time));
    checkNear(length - rest, expected, 1e-5);
    checkNear(rbLength(rbAdd(rbScale(3.0, a.velocity), b.velocity)), 0.0, 1e-12);
}

RB_TEST_GROUP(phys_drives, cmocka_unit_test(aRotaryMotorTurnsBothBodiesByTheirShare),
              cmocka_unit_test(aLinearMotorMovesBothBodiesByTheirShare),
              cmocka_unit_test(aDampedSpringDecaysAsItShould));
