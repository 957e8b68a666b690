// Servo motors on a mass with one degree of freedom: effects of P, I and D, limits, windows, set
// points.
#include "base/core/random.h"
#include "dynamics/joints/joint_model.h"
#include "rb_test.h"

#include <math.h>

typedef struct Plant {
    double position, velocity;
    double load;      // N, constant
    double forceMost; // largest force of the motor so far
    double highest;   // largest position so far
} Plant;

// A mass of 1 kg over a time, semi-implicit steps with the force held.
static void run(Plant* plant, const rbMotorDef* def, rbMotorState* state, double h, double duration)
{
    rbMotorModel motor;
    rbMotorModel_Make(&motor, def);
    int steps = (int)lround(duration / h);
    for (int i = 0; i < steps; ++i) {
        double force =
            rbMotorModel_Force(&motor, state, i * h, h, plant->position, plant->velocity);
        plant->velocity += h * (force + plant->load);
        plant->position += h * plant->velocity;
        plant->forceMost = fmax(plant->forceMost, fabs(force));
        plant->highest = fmax(plant->highest, plant->position);
    }
    rbMotorModel_Free(&motor);
}

static rbMotorDef servo(double gain, double integralTime, double derivativeTime)
{
    return (rbMotorDef){.type = RB_MOTOR_POSITION,
                        .gain = gain,
                        .integralTime = integralTime,
                        .derivativeTime = derivativeTime,
                        .forceMax = INFINITY,
                        .target = 1.0};
}

// B-26, B-27, B-28
static void motorNamesComeBack(void** state)
{
    (void)state;
    for (int type = 0; type < RB_MOTOR_COUNT; ++type) {
        assert_int_equal(rbMotorType_Find(rbMotorType_Name((rbMotorType)type)), type);
    }
    assert_int_equal(rbMotorType_Find("servo"), RB_MOTOR_COUNT);
}

// B-28: at rest gain e balances the load: e = load / gain.
static void proportionAloneLeavesAnOffsetUnderLoad(void** state)
{
    (void)state;
    Plant plant = {.load = -5.0};
    rbMotorState memory = {0};
    rbMotorDef def = servo(100.0, 0.0, 0.2); // damping ratio 1
    run(&plant, &def, &memory, 1e-3, 10.0);
    checkNear(plant.position, 1.0 - 5.0 / 100.0, 1e-12);
    checkNear(plant.velocity, 0.0, 1e-12);
}

// B-28
static void theIntegralRemovesTheOffset(void** state)
{
    (void)state;
    Plant plant = {.load = -5.0};
    rbMotorState memory = {0};
    rbMotorDef def = servo(100.0, 0.5, 0.2);
    run(&plant, &def, &memory, 1e-3, 30.0);
    checkNear(plant.position, 1.0, 1e-12);
    // The integral has converged to the load.
    checkNear(def.gain * memory.integral / def.integralTime, 5.0, 1e-10);
}

// B-28: x'' = K (1 - x - T_V x'): the overshoot is exp(-pi z / sqrt(1 - z^2)), z = T_V sqrt(K)/2.
static void theDerivativeDamps(void** state)
{
    (void)state;
    static const double times[] = {0.02, 0.08, 0.14};
    for (int i = 0; i < 3; ++i) {
        Plant plant = {0};
        rbMotorState memory = {0};
        rbMotorDef def = servo(100.0, 0.0, times[i]);
        run(&plant, &def, &memory, 1e-5, 1.0);
        double ratio = times[i] * sqrt(def.gain) / 2.0;
        double overshoot = exp(-RB_PI * ratio / sqrt(1.0 - ratio * ratio));
        // First order in the step: the force is held for it.
        checkNear(plant.highest - 1.0, overshoot, 2e-4);
    }
}

// B-28: the limit holds, and the integral does not wind up at it.
static void theForceStaysWithinItsLimitAndTheIntegralWaits(void** state)
{
    (void)state;
    Plant plant = {.position = -9.0};
    rbMotorState memory = {0};
    rbMotorDef def = servo(100.0, 0.5, 0.4);
    def.forceMax = 8.0;
    rbMotorModel motor;
    rbMotorModel_Make(&motor, &def);
    // Far away the error alone demands 1000 N: nothing is integrated.
    for (int i = 0; i < 100; ++i) {
        checkNear(rbMotorModel_Force(&motor, &memory, 0.0, 1e-3, plant.position, 0.0), 8.0, 0.0);
    }
    checkNear(memory.integral, 0.0, 0.0);
    // At the limit with an error of opposite sign the integral continues, so that it can recover.
    memory.integral = 100.0;
    checkNear(rbMotorModel_Force(&motor, &memory, 0.0, 1e-3, 1.5, 0.0), 8.0, 0.0);
    checkNear(memory.integral, 100.0 - 0.5e-3, 1e-12);
    rbMotorModel_Free(&motor);

    memory = (rbMotorState){0};
    run(&plant, &def, &memory, 1e-3, 20.0);
    checkNear(plant.forceMost, 8.0, 0.0);
    checkNear(plant.position, 1.0, 1e-9);
    // Reference from a separate program. Integrating at the limit makes the same servo run away, to
    // 878 m.
    checkNear(plant.highest, 3.6060903125232, 1e-9);
}

// B-28: the history counts with exp(-age/window): a constant error e gives e w (1 - exp(-t/w)),
// whatever the steps.
static void theWindowForgets(void** state)
{
    (void)state;
    static const double steps[] = {0.5, 1e-2, 1e-3};
    for (int i = 0; i < 3; ++i) {
        rbMotorDef def = servo(1.0, 1.0, 0.0);
        def.window = 0.7;
        rbMotorModel motor;
        rbMotorModel_Make(&motor, &def);
        rbMotorState memory = {0};
        int count = (int)lround(2.0 / steps[i]);
        for (int k = 0; k < count; ++k) {
            rbMotorModel_Force(&motor, &memory, k * steps[i], steps[i], -2.0, 0.0);
        }
        checkNear(memory.integral, 3.0 * 0.7 * (1.0 - exp(-2.0 / 0.7)), 1e-12);
        rbMotorModel_Free(&motor);
    }
    // A window much longer than the run forgets nothing.
    rbMotorDef def = servo(1.0, 1.0, 0.0);
    def.window = 1e12;
    rbMotorModel motor;
    rbMotorModel_Make(&motor, &def);
    rbMotorState memory = {0};
    for (int k = 0; k < 1000; ++k) {
        rbMotorModel_Force(&motor, &memory, k * 1e-3, 1e-3, 0.0, 0.0);
    }
    checkNear(memory.integral, 1.0, 1e-11);
    rbMotorModel_Free(&motor);
}

// B-28: the first force, before there is a history, follows the formula term by term.
static void theForceIsTheFormula(void** state)
{
    (void)state;
    static const rbSetPoint points[] = {{0.0, 0.0}, {2.0, 6.0}};
    rbMotorDef def = servo(10.0, 4.0, 0.5);
    def.schedule = points;
    def.scheduleCount = 2;
    rbMotorModel motor;
    rbMotorModel_Make(&motor, &def);
    rbMotorState memory = {.integral = 2.0};
    // e = 3 - 1, integral/T = 1/2, de/dt = 3 - 0.25.
    double force = rbMotorModel_Force(&motor, &memory, 1.0, 0.1, 1.0, 0.25);
    checkNear(force, 10.0 * (2.0 + 0.5 + 0.5 * 2.75), 1e-14);
    checkNear(memory.integral, 2.2, 1e-15);
    // At a set point the slope is that of the line to come.
    memory = (rbMotorState){0};
    checkNear(rbMotorModel_Force(&motor, &memory, 0.0, 0.1, 0.0, 0.0), 10.0 * 0.5 * 3.0, 1e-14);
    memory = (rbMotorState){0};
    checkNear(rbMotorModel_Force(&motor, &memory, 2.0, 0.1, 6.0, 0.0), 0.0, 0.0);
    rbMotorModel_Free(&motor);

    def.type = RB_MOTOR_SPEED;
    rbMotorModel_Make(&motor, &def);
    memory = (rbMotorState){0};
    checkNear(rbMotorModel_Force(&motor, &memory, 1.0, 0.1, 99.0, 1.0), 20.0, 1e-14);
    // e from 2 to 2.6 in 0.2 s, whatever the next step is.
    force = rbMotorModel_Force(&motor, &memory, 1.2, 0.05, 99.0, 1.0);
    checkNear(force, 10.0 * (2.6 + 0.2 / 4.0 + 0.5 * 3.0), 1e-13);
    rbMotorModel_Free(&motor);
}

// B-26, B-27, B-28
static void aSpeedMotorReachesItsSpeedUnderLoad(void** state)
{
    (void)state;
    Plant plant = {.load = -2.0};
    rbMotorState memory = {0};
    rbMotorDef def = servo(10.0, 0.4, 0.0);
    def.type = RB_MOTOR_SPEED;
    def.target = 3.0;
    run(&plant, &def, &memory, 1e-3, 20.0);
    checkNear(plant.velocity, 3.0, 1e-12);
}

// Straight lines, found by testing every point.
static double findTargetSlowly(const rbSetPoint* points, int count, double time)
{
    double value = points[0].value;
    for (int i = 0; i < count; ++i) {
        if (time >= points[i].time) {
            value = points[i].value;
            if (i + 1 < count && time < points[i + 1].time) {
                double part = (time - points[i].time) / (points[i + 1].time - points[i].time);
                value += part * (points[i + 1].value - points[i].value);
            }
        }
    }
    return value;
}

// B-28
static void setPointsAreJoinedByStraightLines(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(630)};
    for (int i = 0; i < rbTest_Count(2000, 100000); ++i) {
        rbSetPoint points[20];
        int count = 1 + rbRandom_Index(&random, 20);
        double time = rbRandom_Range(&random, -2.0, 2.0);
        for (int k = 0; k < count; ++k) {
            points[k] = (rbSetPoint){time, rbRandom_Symmetric(&random)};
            time += rbRandom_Range(&random, 0.01, 1.0);
        }
        rbMotorDef def = servo(1.0, 0.0, 0.0);
        def.schedule = points;
        def.scheduleCount = count;
        rbMotorModel motor;
        rbMotorModel_Make(&motor, &def);
        for (int k = 0; k < 20; ++k) {
            double when = k < count ? points[k].time : rbRandom_Range(&random, -4.0, 15.0);
            checkNear(rbMotorModel_Target(&motor, when), findTargetSlowly(points, count, when),
                      1e-14);
        }
        // The schedule is a copy.
        double before = rbMotorModel_Target(&motor, points[0].time);
        points[0].value += 1.0;
        checkNear(rbMotorModel_Target(&motor, points[0].time), before, 0.0);
        rbMotorModel_Free(&motor);
    }
    rbMotorDef def = servo(1.0, 0.0, 0.0);
    rbMotorModel motor;
    rbMotorModel_Make(&motor, &def);
    checkNear(rbMotorModel_Target(&motor, 5.0), 1.0, 0.0);
    rbMotorModel_Free(&motor);
}

static void motorsGiveTheirMemoryBack(void** state)
{
    (void)state;
    static const rbSetPoint points[] = {{0.0, 0.0}, {2.0, 6.0}};
    uint64_t before = rbGetAllocatedBytes();
    rbMotorDef def = servo(1.0, 0.0, 0.0);
    def.schedule = points;
    def.scheduleCount = 2;
    rbMotorModel motor;
    rbMotorModel_Make(&motor, &def);
    assert_true(rbGetAllocatedBytes() > before);
    rbMotorModel_Free(&motor);
    rbMotorModel_Free(&motor); // calling it twice is fine
    assert_true(rbGetAllocatedBytes() == before);
}

RB_TEST_GROUP(phys_motor, cmocka_unit_test(motorNamesComeBack),
              cmocka_unit_test(proportionAloneLeavesAnOffsetUnderLoad),
              cmocka_unit_test(theIntegralRemovesTheOffset), cmocka_unit_test(theDerivativeDamps),
              cmocka_unit_test(theForceStaysWithinItsLimitAndTheIntegralWaits),
              cmocka_unit_test(theWindowForgets), cmocka_unit_test(theForceIsTheFormula),
              cmocka_unit_test(aSpeedMotorReachesItsSpeedUnderLoad),
              cmocka_unit_test(setPointsAreJoinedByStraightLines),
              cmocka_unit_test(motorsGiveTheirMemoryBack));
