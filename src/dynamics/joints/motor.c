// Servo motors: names, set points over time, the PID controller (B-26 to B-28).
//
//   force = gain (e + integral / integralTime + derivativeTime de/dt), at most forceMax,
// with the integral of the errors before the current one, as the specification sums them.
#include "base/core/memory.h"
#include "base/core/registered_rows.h"
#include "base/math/elementary.h"
#include "dynamics/joints/joint_model.h"

#include <string.h>

static const char* const names[RB_MOTOR_COUNT] = {
    [RB_MOTOR_NONE] = "none",
    [RB_MOTOR_POSITION] = "position",
    [RB_MOTOR_SPEED] = "speed",
    [RB_MOTOR_VELOCITY] = "velocity",
};

RB_DEFINE_TABLE(rbMotorType, static const rbMotorRow* getRow, RB_MOTOR_COUNT, NULL)
RB_DEFINE_WORDS(rbMotorType, "type of motor", rbMotorType_GetCount(),
                index < RB_MOTOR_COUNT ? names[index] : getRow((rbMotorType)index)->name)

rbStatus rbRegisterMotor(const rbMotorRow* row, rbError* error)
{
    RB_INVALID_IF(row->force == NULL, error, "the motor \"%s\" has no force", row->name);
    return RB_REGISTER_ROW(rbMotorType, "motor", row, error);
}

void rbMotorModel_Make(rbMotorModel* motor, const rbMotorDef* def)
{
    RB_ASSERT(def->scheduleCount >= 0 && def->scheduleCount <= RB_SET_POINTS_MAX);
    RB_ASSERT(def->scheduleCount == 0 || def->schedule != NULL);
    size_t size = (size_t)def->scheduleCount * sizeof(rbSetPoint);
    *motor = (rbMotorModel){.def = *def, .pointCount = def->scheduleCount};
    motor->points = rbAlloc(size);
    if (size > 0) {
        memcpy(motor->points, def->schedule, size);
    }
    motor->def.schedule = motor->points;
}

void rbMotorModel_Free(rbMotorModel* motor)
{
    RB_ASSERT(motor->pointCount >= 0);
    rbFree(motor->points, (size_t)motor->pointCount * sizeof(rbSetPoint));
    *motor = (rbMotorModel){0};
}

// The set point at a time and its slope just after that time.
static double findTarget(const rbMotorModel* motor, double time, double* slope)
{
    const rbSetPoint* points = motor->points;
    *slope = 0.0;
    if (motor->pointCount == 0) {
        return motor->def.target;
    }
    // The number of points that have passed.
    int past = 0, end = motor->pointCount;
    while (past < end) {
        int middle = past + (end - past) / 2;
        past = points[middle].time <= time ? middle + 1 : past;
        end = points[middle].time <= time ? end : middle;
    }
    if (past == 0 || past == motor->pointCount) {
        return points[past == 0 ? 0 : past - 1].value;
    }
    const rbSetPoint* from = &points[past - 1];
    const rbSetPoint* to = &points[past];
    *slope = (to->value - from->value) / (to->time - from->time);
    return from->value + *slope * (time - from->time);
}

double rbMotorModel_Target(const rbMotorModel* motor, double time)
{
    RB_ASSERT(isfinite(time));
    double slope;
    return findTarget(motor, time, &slope);
}

// The integral one step later: exponential decay with the time constant window, constant error over
// the step.
static double integrate(const rbMotorDef* def, double integral, double error, double h)
{
    double ratio = def->window > 0.0 ? h / def->window : 0.0;
    if (ratio < 1e-8) {
        // 1 - exp(-ratio) to rounding, and its limit without a window.
        return integral - integral * ratio + error * h;
    }
    double kept = rbExp(-ratio);
    return integral * kept + error * def->window * (1.0 - kept);
}

double rbMotorModel_Force(const rbMotorModel* motor, rbMotorState* state, double time, double h,
                          double position, double velocity)
{
    const rbMotorDef* def = &motor->def;
    RB_ASSERT(rbMotorType_IsServo(def->type));
    RB_ASSERT(h > 0.0 && isfinite(position) && isfinite(velocity));
    double slope;
    double target = findTarget(motor, time, &slope);
    if (def->type >= RB_MOTOR_COUNT) {
        rbMotorInput input = {time, h, target, slope, position, velocity};
        double asked = getRow(def->type)->force(def, &input, state->memory);
        return fabs(asked) > def->forceMax ? copysign(def->forceMax, asked) : asked;
    }
    double error = target - position, rate = slope - velocity;
    if (def->type == RB_MOTOR_SPEED) {
        // The acceleration is unknown: uses a difference over the time since the last step.
        error = target - velocity;
        double elapsed = state->hasLast ? time - state->lastTime : 0.0;
        rate = elapsed > 0.0 ? (error - state->lastError) / elapsed : 0.0;
    }
    double sum = error + def->derivativeTime * rate;
    if (def->integralTime > 0.0) {
        sum += state->integral / def->integralTime;
    }
    double force = def->gain * sum;
    bool isLimited = fabs(force) > def->forceMax;
    bool isWaiting = isLimited && error * force > 0.0;
    if (def->integralTime > 0.0 && !isWaiting) {
        state->integral = integrate(def, state->integral, error, h);
    }
    state->lastError = error;
    state->lastTime = time;
    state->hasLast = true;
    return isLimited ? copysign(def->forceMax, force) : force;
}
