// What joints hold, and validation of mechanisms before they move: redundant constraints, and PID
// motors whose gain is too large for the step.
//
// A PID motor is sampled once per step and holds its force over the step. With the effective mass
// m, velocity v and distance x from the set point, a step of h gives
//   x+ = x + h v + h^2 f / (2 m),  v+ = v + h f / m,  f = -K (x + T v) - c v,
// with determinant 1 - (K T + c) h / m + K h^2 / (2 m) and an eigenvalue of -1 at K T h = 2 m. (The
// damping c of the joint is implicit and does not affect the latter; nor does the integral.) Beyond
// that, the motor overshoots more with every step. A determinant above 1 makes an oscillation grow:
// the force is half a step late, which derivativeTime h / 2 compensates. For speed, with the
// integral I+ = I + h e, the eigenvalue is -1 at K (h (1 - h / (2 T_N)) + 2 T) = 2 m.
#include "base/math/elementary.h"
#include "world/world_engine.h"
#include "world/world_joint.h"

#include <math.h>

int rbJoint_GetConditionCount(const rbWorld* world, rbJointId jointId)
{
    RB_ASSERT(rbJoint_IsValid(world, jointId));
    const rbJoint* joint = world->joints.data[(int)jointId.index1 - 1];
    return joint->def.isVelocityOnly ? 0 : joint->model.rowCount;
}

int rbJoint_GetHeldParts(const rbWorld* world, rbJointId jointId, rbHeldPart* parts)
{
    RB_ASSERT(rbJoint_IsValid(world, jointId));
    const rbJoint* joint = world->joints.data[jointId.index1 - 1];
    const rbJointModel* model = &joint->model;
    if (joint->def.isVelocityOnly) {
        return 0;
    }
    rbTransform a = rbWorld_GetPrincipal(world, joint->bodyA);
    rbTransform b = rbWorld_GetPrincipal(world, joint->bodyB);
    for (int i = 0; i < model->partCount; ++i) {
        const rbPartModel* part = &model->parts[i];
        parts[i] = (rbHeldPart){
            .type = part->type,
            .anchorA = rbTransformPoint(a, part->pointA),
            .anchorB = rbTransformPoint(b, part->pointB),
            .axisA = rbRotate(a.q, part->axisA),
            .axisB = rbRotate(b.q, part->axisB),
            .relative = rbMulQuat(rbMulQuat(a.q, part->relative), rbConjugate(b.q)),
            .distance = part->distance,
        };
    }
    return model->partCount;
}

int rbWorld_CountRedundantConditions(const rbWorld* world)
{
    RB_ENTER(world);
    const rbStepEngine* engine = rbWorld_GetReadyStepEngine(world);
    return engine != NULL ? rbStepEngine_CountRedundant(engine) : 0;
}

static void validatePosition(const rbFreedomDef* freedom, double h, rbMotorValidation* judgment)
{
    const rbMotorDef* motor = &freedom->motor;
    double mass = judgment->mass;
    double late = motor->gain * (0.5 * h - motor->derivativeTime) - freedom->damping;
    judgment->derivativeTimeMin = fmax(0.5 * h - freedom->damping / motor->gain, 0.0);
    if (late > 0.0 && freedom->friction == 0.0) {
        judgment->growth = rbLog(1.0 + late * h / mass) / (2.0 * h);
    }
    if (motor->derivativeTime > 0.0) {
        judgment->gainMax = 2.0 * mass / (motor->derivativeTime * h);
        judgment->stepMax = 2.0 * mass / (motor->gain * motor->derivativeTime);
    }
}

static void validateSpeed(const rbFreedomDef* freedom, double h, rbMotorValidation* judgment)
{
    const rbMotorDef* motor = &freedom->motor;
    double ahead = motor->integralTime > 0.0 ? 0.5 * h / motor->integralTime : 0.0;
    double lever = h * fmax(1.0 - ahead, 0.0) + 2.0 * motor->derivativeTime;
    judgment->gainMax = lever > 0.0 ? 2.0 * judgment->mass / lever : INFINITY;
    judgment->stepMax = fmax(2.0 * judgment->mass / motor->gain - 2.0 * motor->derivativeTime, 0.0);
}

rbMotorValidation rbJoint_ValidateMotor(const rbWorld* world, rbJointId jointId, int freedom)
{
    RB_ENTER(world);
    rbMotorValidation judgment = {.mass = INFINITY, .gainMax = INFINITY, .stepMax = INFINITY};
    RB_ASSERT(freedom >= 0 && freedom < RB_JOINT_FREEDOMS_MAX);
    const rbStepEngine* engine = rbWorld_GetReadyStepEngine(world);
    if (!rbJoint_IsValid(world, jointId) || engine == NULL) {
        return judgment;
    }
    int index = (int)jointId.index1 - 1;
    const rbJoint* joint = world->joints.data[index];
    if (freedom >= joint->model.freedomCount) {
        return judgment;
    }
    const rbFreedomDef* def = &joint->def.freedoms[freedom];
    judgment.type = def->motor.type;
    if (judgment.type == RB_MOTOR_NONE) {
        return judgment;
    }
    judgment.mass = rbStepEngine_GetFreedomMass(engine, index, freedom);
    bool isServo = judgment.type == RB_MOTOR_POSITION || judgment.type == RB_MOTOR_SPEED;
    if (isServo) {
        judgment.gain = def->motor.gain;
        judgment.derivativeTime = def->motor.derivativeTime;
    }
    if (isServo && isfinite(judgment.mass)) {
        (judgment.type == RB_MOTOR_POSITION ? validatePosition
                                            : validateSpeed)(def, world->def.step.step, &judgment);
    }
    return judgment;
}
