// Checks of mechanisms before they move: the effective mass of a motor compared with closed forms,
// the allowed gain and step compared with runs, redundant conditions compared with counting.
#include "rb_test.h"

#include <rattleback/rattleback.h>

#include <math.h>

#define STEP 1e-3

typedef struct Arm {
    rbWorld* world;
    rbJointId joints[2];
} Arm;

static rbBodyId addRod(rbWorld* world, double center, double mass, double moment)
{
    rbError error = {0};
    rbMassProperties properties = {
        .volume = 1.0, .mass = mass, .inertia = {moment, moment, moment, 0.0, 0.0, 0.0}};
    rbBodyDef def = rbDefaultBodyDef();
    def.position = rbMakeVec3(center, 0.0, 0.0);
    def.mass = &properties;
    rbBodyId id = rbCreateBody(world, &def, &error);
    assert_false(RB_IS_NULL(id));
    return id;
}

static rbJointId addHinge(rbWorld* world, rbBodyId bodyA, rbBodyId bodyB, double x,
                          const rbMotorDef* motor)
{
    rbError error = {0};
    rbJointDef def = rbDefaultJointDef();
    def.type = RB_JOINT_HINGE;
    def.bodyA = bodyA;
    def.bodyB = bodyB;
    rbJointDef_SetAnchor(&def, world, rbMakeVec3(x, 0.0, 0.0));
    rbJointDef_SetAxis(&def, world, rbMakeVec3(0.0, 0.0, 1.0));
    if (motor != NULL) {
        def.freedoms[0].motor = *motor;
    }
    rbJointId id = rbCreateJoint(world, &def, &error);
    if (RB_IS_NULL(id)) {
        fail_msg("%s", error.message);
    }
    return id;
}

#define LENGTH 1.0
static const double masses[2] = {3.0, 2.0};
static const double moments[2] = {0.4, 0.25};

// One or two rods of 1 m in a row from the origin, rotating about z; the motor is at the first
// hinge.
static Arm makeArm(int count, const rbMotorDef* motor, rbSolverType solver)
{
    rbWorldDef def = rbDefaultWorldDef();
    rbError error = {0};
    def.engine = RB_ENGINE_STEP;
    def.gravity = RB_VEC3_ZERO;
    def.step.step = STEP;
    def.step.solver = solver;
    Arm arm = {.world = rbCreateWorld(&def, &error)};
    assert_non_null(arm.world);
    rbBodyId none = {0, 0};
    rbBodyId first = addRod(arm.world, 0.5 * LENGTH, masses[0], moments[0]);
    arm.joints[0] = addHinge(arm.world, none, first, 0.0, motor);
    if (count > 1) {
        rbBodyId second = addRod(arm.world, 1.5 * LENGTH, masses[1], moments[1]);
        arm.joints[1] = addHinge(arm.world, first, second, LENGTH, NULL);
    }
    return arm;
}

static void prepare(const Arm* arm)
{
    rbError error = {0};
    if (rbWorld_Prepare(arm->world, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
}

static rbMotorDef makeMotor(rbMotorType type, double gain, double derivativeTime)
{
    rbMotorDef motor = rbDefaultJointDef().freedoms[0].motor;
    motor.type = type;
    motor.gain = gain;
    motor.derivativeTime = derivativeTime;
    motor.target = 1e-3;
    return motor;
}

// B-26: one rod: I + m l^2 / 4. Two in a row, the second free: with the angles of the rods q1, q2
// the mass matrix is M11 = I1 + (m1/4 + m2) l^2, M12 = m2 l^2 / 2, M22 = I2 + m2 l^2 / 4, and the
// effective mass for a torque on the first is M11 - M12^2 / M22.
static void motorsFeelTheMassOfTheMechanism(void** state)
{
    (void)state;
    static const rbSolverType solvers[] = {RB_SOLVER_AUTO, RB_SOLVER_ITERATIVE, RB_SOLVER_TREE};
    rbMotorDef motor = makeMotor(RB_MOTOR_POSITION, 1.0, 0.1);
    for (int i = 0; i < 3; ++i) {
        Arm one = makeArm(1, &motor, solvers[i]);
        Arm two = makeArm(2, &motor, solvers[i]);
        prepare(&one);
        prepare(&two);
        rbMotorValidation a = rbJoint_ValidateMotor(one.world, one.joints[0], 0);
        checkNear(a.mass, moments[0] + 0.25 * masses[0], 1e-12);
        double m11 = moments[0] + 0.25 * masses[0] + masses[1];
        double m12 = 0.5 * masses[1];
        double m22 = moments[1] + 0.25 * masses[1];
        rbMotorValidation b = rbJoint_ValidateMotor(two.world, two.joints[0], 0);
        checkNear(b.mass, m11 - m12 * m12 / m22, 1e-12);
        assert_int_equal(rbJoint_ValidateMotor(two.world, two.joints[1], 0).type, RB_MOTOR_NONE);
        rbDestroyWorld(one.world);
        rbDestroyWorld(two.world);
    }
}

// Largest distance from the set point, or of the speed from it, in the last part of a run.
static double runMotor(const rbMotorDef* motor, int count)
{
    Arm arm = makeArm(count, motor, RB_SOLVER_AUTO);
    double worst = 0.0;
    for (int i = 1; i <= 400; ++i) {
        (void)rbWorld_AdvanceTo(arm.world, i * STEP);
        rbJointState now = rbJoint_GetState(arm.world, arm.joints[0]);
        double value = motor->type == RB_MOTOR_POSITION ? now.freedomVelocities[0]
                                                        : now.freedomVelocities[0] - motor->target;
        worst = i > 300 ? fmax(worst, fabs(value)) : worst;
    }
    rbDestroyWorld(arm.world);
    return worst;
}

// B-26, B-27: just below the largest gain the motor settles, just above it becomes unstable.
static void gainsBeyondTheLargestGoWild(void** state)
{
    (void)state;
    static const struct {
        rbMotorType type;
        double derivativeTime; // s
        int count;             // of rods
    } rows[] = {{RB_MOTOR_POSITION, 0.05, 1},
                {RB_MOTOR_POSITION, 0.05, 2},
                {RB_MOTOR_SPEED, 0.0, 1},
                {RB_MOTOR_SPEED, 0.0, 2},
                {RB_MOTOR_SPEED, 0.0004, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rbMotorDef motor = makeMotor(rows[i].type, 1.0, rows[i].derivativeTime);
        Arm arm = makeArm(rows[i].count, &motor, RB_SOLVER_AUTO);
        prepare(&arm);
        double gainMax = rbJoint_ValidateMotor(arm.world, arm.joints[0], 0).gainMax;
        rbDestroyWorld(arm.world);
        motor.gain = 0.93 * gainMax;
        checkBelow(runMotor(&motor, rows[i].count), 1e-3);
        motor.gain = 1.07 * gainMax;
        assert_true(runMotor(&motor, rows[i].count) > 1.0);
        // The step required by the gain is the one at which that gain is the largest.
        arm = makeArm(rows[i].count, &motor, RB_SOLVER_AUTO);
        prepare(&arm);
        rbMotorValidation judgment = rbJoint_ValidateMotor(arm.world, arm.joints[0], 0);
        assert_true(judgment.gain > judgment.gainMax && judgment.stepMax < STEP);
        rbDestroyWorld(arm.world);
    }
}

// Without a derivative part the oscillation grows at the reported rate.
static void lateForcesGrowAtTheReportedRate(void** state)
{
    (void)state;
    rbMotorDef motor = makeMotor(RB_MOTOR_POSITION, 20000.0, 0.0);
    Arm arm = makeArm(1, &motor, RB_SOLVER_AUTO);
    prepare(&arm);
    rbMotorValidation judgment = rbJoint_ValidateMotor(arm.world, arm.joints[0], 0);
    checkNear(judgment.derivativeTimeMin, 0.5 * STEP, 1e-15);
    assert_true(judgment.growth > 1.0);
    double peaks[2] = {0.0, 0.0};
    for (int i = 1; i <= 600; ++i) {
        (void)rbWorld_AdvanceTo(arm.world, i * STEP);
        double speed = fabs(rbJoint_GetState(arm.world, arm.joints[0]).freedomVelocities[0]);
        peaks[i > 300] = fmax(peaks[i > 300], speed);
    }
    checkNear(log(peaks[1] / peaks[0]) / 0.3, judgment.growth, 0.05 * judgment.growth);
    rbDestroyWorld(arm.world);
    motor.derivativeTime = 0.55 * STEP;
    arm = makeArm(1, &motor, RB_SOLVER_AUTO);
    prepare(&arm);
    assert_true(rbJoint_ValidateMotor(arm.world, arm.joints[0], 0).growth == 0.0);
    rbDestroyWorld(arm.world);
}

// A second hinge on the same axis is redundant, one next to it holds the rod.
static void redundantConditionsAreCounted(void** state)
{
    (void)state;
    const rbSolverType solvers[] = {RB_SOLVER_AUTO, RB_SOLVER_ITERATIVE, rbSolverType_Find("cut")};
    rbBodyId none = {0, 0};
    rbMotorDef motor = makeMotor(RB_MOTOR_VELOCITY, 0.0, 0.0);
    for (int i = 0; i < 3; ++i) {
        Arm arm = makeArm(1, &motor, solvers[i]);
        assert_int_equal(rbWorld_CountRedundantConditions(arm.world), 0); // not prepared
        prepare(&arm);
        assert_int_equal(rbWorld_CountRedundantConditions(arm.world), 0);
        assert_true(isfinite(rbJoint_ValidateMotor(arm.world, arm.joints[0], 0).mass));
        rbBodyId rod = rbJoint_GetBodyB(arm.world, arm.joints[0]);
        (void)addHinge(arm.world, none, rod, 0.0, NULL);
        prepare(&arm);
        assert_int_equal(rbWorld_CountRedundantConditions(arm.world), 5);
        assert_true(isfinite(rbJoint_ValidateMotor(arm.world, arm.joints[0], 0).mass));
        // Fifteen conditions of rank six: the motor cannot move anything.
        (void)addHinge(arm.world, none, rod, LENGTH, NULL);
        prepare(&arm);
        assert_int_equal(rbWorld_CountRedundantConditions(arm.world), 9);
        assert_true(isinf(rbJoint_ValidateMotor(arm.world, arm.joints[0], 0).mass));
        rbDestroyWorld(arm.world);
    }
}

RB_TEST_GROUP(test_world_validation, cmocka_unit_test(motorsFeelTheMassOfTheMechanism),
              cmocka_unit_test(gainsBeyondTheLargestGoWild),
              cmocka_unit_test(lateForcesGrowAtTheReportedRate),
              cmocka_unit_test(redundantConditionsAreCounted));
