// Validates the parts of a definition beyond geometry: freedoms, motors, prescribed velocities.
#include "dynamics/joints/part_ops.h"

// A number and its accepted range.
typedef struct Number {
    const char* what;
    double value;
    double least;
    bool isLeastIn; // the least value itself is accepted
    bool isInfiniteAllowed;
} Number;

static rbStatus validateNumber(const Number* number, const char* title, rbError* error)
{
    double value = number->value;
    bool isHigh = number->isLeastIn ? value >= number->least : value > number->least;
    bool isBounded = isfinite(value) || (number->isInfiniteAllowed && value > 0.0);
    if (isHigh && isBounded) {
        return RB_STATUS_OK;
    }
    if (number->least == -INFINITY) {
        return rbError_Set(error, RB_STATUS_INVALID, "%s: %s is %g; give a finite number", title,
                           number->what, value);
    }
    return rbError_Set(error, RB_STATUS_INVALID, "%s: %s is %g; give a%s number %s %g%s", title,
                       number->what, value, number->isInfiniteAllowed ? "" : " finite",
                       number->isLeastIn ? "of at least" : "above", number->least,
                       number->isInfiniteAllowed ? ", or infinity for no limit" : "");
}

static rbStatus validateNumbers(const Number* numbers, int count, const char* title, rbError* error)
{
    RB_ASSERT(count > 0);
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        status = validateNumber(&numbers[i], title, error);
    }
    return status;
}

static rbStatus validateSchedule(const rbMotorDef* motor, const char* title, rbError* error)
{
    if (motor->scheduleCount < 0 || motor->scheduleCount > RB_SET_POINTS_MAX ||
        (motor->scheduleCount > 0 && motor->schedule == NULL)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "%s: its motor has %d set points; give 0 to %d with an array", title,
                           motor->scheduleCount, RB_SET_POINTS_MAX);
    }
    for (int i = 0; i < motor->scheduleCount; ++i) {
        const rbSetPoint* point = &motor->schedule[i];
        if (!isfinite(point->time) || !isfinite(point->value)) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "%s: set point %d of its motor is %g at %g s; give finite numbers",
                               title, i + 1, point->value, point->time);
        }
        if (i > 0 && point->time <= point[-1].time) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "%s: set point %d of its motor is at %g s, not after %g s; give set "
                               "points in rising order of time",
                               title, i + 1, point->time, point[-1].time);
        }
    }
    return RB_STATUS_OK;
}

static rbStatus validateMotor(const rbMotorDef* motor, const char* title, rbError* error)
{
    if (motor->type == RB_MOTOR_NONE) {
        return RB_STATUS_OK;
    }
    if ((int)motor->type < 0 || motor->type >= RB_MOTOR_COUNT) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "%s: motor type %d does not exist; see rbMotorType", title,
                           (int)motor->type);
    }
    const Number numbers[] = {
        {"target of its motor", motor->target, -INFINITY, false, false},
        {"forceMax of its motor", motor->forceMax, 0.0, false, true},
        {"gain of its motor", motor->gain, 0.0, false, false},
        {"integralTime of its motor", motor->integralTime, 0.0, true, false},
        {"derivativeTime of its motor", motor->derivativeTime, 0.0, true, false},
        {"window of its motor", motor->window, 0.0, true, false},
    };
    // The velocity row has no controller.
    int count = motor->type == RB_MOTOR_VELOCITY ? 2 : (int)(sizeof numbers / sizeof numbers[0]);
    rbStatus status = validateNumbers(numbers, count, title, error);
    return status == RB_STATUS_OK ? validateSchedule(motor, title, error) : status;
}

static bool isUsed(const rbFreedomDef* freedom)
{
    return freedom->stiffness != 0.0 || freedom->damping != 0.0 || freedom->friction != 0.0 ||
           freedom->motor.type != RB_MOTOR_NONE;
}

static rbStatus validateFreedom(const rbFreedomDef* freedom, const char* title, rbError* error)
{
    const Number numbers[] = {
        {"stiffness", freedom->stiffness, 0.0, true, false},
        {"rest", freedom->rest, -INFINITY, false, false},
        {"damping", freedom->damping, 0.0, true, false},
        {"friction", freedom->friction, 0.0, true, false},
    };
    rbStatus status = validateNumbers(numbers, 4, title, error);
    return status == RB_STATUS_OK ? validateMotor(&freedom->motor, title, error) : status;
}

static rbStatus validateVelocity(const rbJointDef* def, const char* title, rbError* error)
{
    const rbVec3 v = def->linearVelocity;
    const rbVec3 w = def->angularVelocity;
    if (!rbIsFinite3(v) || !rbIsFinite3(w)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "%s: its velocities are [%g, %g, %g] and [%g, %g, %g]; give finite numbers", title, v.x,
            v.y, v.z, w.x, w.y, w.z);
    }
    const Number forceMax = {"forceMax", def->forceMax, 0.0, false, true};
    return validateNumber(&forceMax, title, error);
}

rbStatus rbValidateDrives(const rbJointDef* def, const char* title, int freedomCount,
                          rbError* error)
{
    RB_ASSERT(title != NULL);
    RB_ASSERT(freedomCount >= 0 && freedomCount <= RB_JOINT_FREEDOMS_MAX);
    rbStatus status = def->isVelocityOnly ? validateVelocity(def, title, error) : RB_STATUS_OK;
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX && status == RB_STATUS_OK; ++i) {
        if (i < freedomCount) {
            status = validateFreedom(&def->freedoms[i], title, error);
        } else if (isUsed(&def->freedoms[i])) {
            status = rbError_Set(error, RB_STATUS_INVALID,
                                 "%s: something acts along freedom %d, but this type has %d; use a "
                                 "hinge, prismatic, cylindrical or universal joint",
                                 title, i + 1, freedomCount);
        }
    }
    return status;
}
