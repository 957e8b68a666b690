// and the parts of X-19 on joints, springs and motors.
#include "base/core/random.h"
#include "case_mechanisms.h"
#include "mechanism_pairs.h"

#include <math.h>

static const rbVec3 axisY = {0.0, 1.0, 0.0};

static void nameRow(char text[96], const char* what, int type)
{
    (void)snprintf(text, 96, "%s: %s", rbJointType_Name((rbJointType)type), what);
}

// -------------------------------------------------------------------------------------------

// Median of the iterations that a step took, over 4 s at 25 steps per second.
static double getMedianIterations(rbMechanism* m)
{
    enum {
        STEPS = 100,
        MOST = 64
    };
    int histogram[MOST] = {0};
    int64_t before = 0;
    for (int k = 1; k <= STEPS; ++k) {
        if (!rbMechanism_Advance(m, rbGetStepTime(k, 0.04))) {
            return (double)NAN;
        }
        int64_t now = rbWorld_GetStepStatistics(m->world).positionIterations;
        int64_t count = now - before;
        ++histogram[count < MOST ? count : MOST - 1];
        before = now;
    }
    int seen = 0;
    int median = 0;
    while (median < MOST && (seen += histogram[median]) < STEPS / 2) {
        ++median;
    }
    return median;
}

static void runIterations(rbValidation* validation)
{
    for (int type = 0; type < RB_JOINT_COUNT; ++type) {
        char text[96];
        rbPairPlan plan = {.type = (rbJointType)type, .isFree = true};
        rbStepSettings settings = rbMakeStepSettings(0.04, 2);
        settings.tolerance = 1e-6;
        rbMechanism m = rbMakePairWorld(settings, &plan);
        double median = getMedianIterations(&m);
        nameRow(text, "X-01 median of look-ahead iterations", type);
        (void)rbValidateMechanism(validation, &m, rbJointType_Name((rbJointType)type));
        rbValidation_AddLimit(validation, text, median, 2.0);
        rbMechanism_Free(&m);
    }
}

// -------------------------------------------------------------------------------------------

static void runReassembly(rbValidation* validation)
{
    enum {
        STEPS = 500
    };
    rbMechanism m = rbMakeTornChain();
    if (!rbValidateMechanism(validation, &m, "X-10")) {
        rbMechanism_Free(&m);
        return;
    }
    int closedAt = -1;
    double speedMax = 0.0;
    double gap = 0.0;
    for (int k = 1; k <= STEPS; ++k) {
        double angle;
        rbStepReport report = rbWorld_AdvanceTo(m.world, rbGetStepTime(k, 0.01));
        if (report.status != RB_STATUS_OK && report.status != RB_STATUS_NUMERICAL) {
            m.error = rbWorld_GetError(m.world);
            m.error.status = report.status;
            break;
        }
        rbMechanism_GetGaps(&m, &gap, &angle);
        closedAt = gap > 1e-6 ? -1 : closedAt < 0 ? k : closedAt;
        for (int i = 0; i < m.bodyCount; ++i) {
            rbBodyState s = rbMechanism_GetState(&m, i);
            speedMax = rbWorseError(speedMax, rbLength(s.linearVelocity));
        }
    }
    (void)rbValidateMechanism(validation, &m, "X-10");
    rbValidation_AddBound(validation, "X-10 chain pulled apart: final gap, m", gap, 1e-6);
    rbValidation_AddLimit(validation, "X-10 chain pulled apart: steps until it stays closed",
                          closedAt > 0 ? closedAt : STEPS + 1, 200.0);
    // free fall through its own length yields 10 m/s
    rbValidation_AddLimit(validation, "X-10 chain pulled apart: fastest body, m/s", speedMax, 20.0);
    rbMechanism_Free(&m);
}

// -------------------------------------------------------------------------------------------

static rbVec3 makeRandomVector(rbRandom* random, double size)
{
    return rbMakeVec3(size * rbRandom_Symmetric(random), size * rbRandom_Symmetric(random),
                      size * rbRandom_Symmetric(random));
}

static rbQuat makeRandomTurn(rbRandom* random)
{
    rbVec3 axis = rbAdd(makeRandomVector(random, 1.0), rbMakeVec3(0.0, 0.0, 1e-3));
    return rbMakeRotation(axis, rbRandom_Range(random, -RB_PI, RB_PI));
}

// Moves both bodies of a joint, created at random poses, together.
static void runTogether(rbValidation* validation)
{
    int count = validation->isQuick ? 20 : 200;
    rbRandom random = {1906};
    for (int type = 0; type < RB_JOINT_COUNT; ++type) {
        char text[96];
        double worst = 0.0;
        for (int k = 0; k < count; ++k) {
            rbPairPlan plan = {.type = (rbJointType)type, .isFree = true};
            rbMechanism m = rbMakeMechanism(rbMakeStepSettings(0.01, 2), RB_VEC3_ZERO);
            for (int i = 0; i < 2; ++i) {
                rbMassPlan body = {.mass = 1.0,
                                   .moments = {0.1, 0.2, 0.15},
                                   .center = makeRandomVector(&random, 1.0),
                                   .orientation = makeRandomTurn(&random)};
                (void)rbMechanism_AddBody(&m, &body);
            }
            rbAddPairJoint(&m, &plan);
            rbTransform move = {makeRandomVector(&random, 1.0), makeRandomTurn(&random)};
            for (int i = 0; i < 2 && m.error.status == RB_STATUS_OK; ++i) {
                rbTransform now = rbMechanism_GetState(&m, i).transform;
                (void)rbBody_SetState(m.world, m.bodies[i], rbMulTransforms(move, now),
                                      RB_VEC3_ZERO, RB_VEC3_ZERO, &m.error);
            }
            double position = (double)NAN;
            double angle = (double)NAN;
            if (m.error.status == RB_STATUS_OK) {
                rbMechanism_GetGaps(&m, &position, &angle);
            }
            worst = rbWorseError(worst, rbWorseError(position, angle));
            rbMechanism_Free(&m);
        }
        // each coordinate is rounded a few times at sizes up to 4
        nameRow(text, "X-19 error after moving together", type);
        rbValidation_AddBound(validation, text, worst, 1e-14);
    }
}

// Two free bodies and every joint: conservation of momentum; the rates after the velocity
// correction.
static void runMomentum(rbValidation* validation)
{
    for (int type = 0; type < RB_JOINT_COUNT; ++type) {
        char text[96];
        const char* name = rbJointType_Name((rbJointType)type);
        rbPairPlan plan = {
            .type = (rbJointType)type, .load = RB_PAIR_SPRING_DAMPED, .isFree = true};
        rbMechanism m = rbMakePairWorld(rbMakeStepSettings(0.01, 2), &plan);
        if (!rbValidateMechanism(validation, &m, name)) {
            rbMechanism_Free(&m);
            continue;
        }
        rbLedger first = rbWorld_GetLedger(m.world);
        double worst = 0.0;
        for (int k = 1; k <= 200 && rbMechanism_Advance(&m, rbGetStepTime(k, 0.01)); ++k) {
            rbLedger now = rbWorld_GetLedger(m.world);
            worst = rbWorseError(worst, rbDistance(now.momentum, first.momentum));
            worst = rbWorseError(worst, rbDistance(now.angularMomentum, first.angularMomentum));
        }
        (void)rbValidateMechanism(validation, &m, name);
        nameRow(text, "X-19 momentum over 200 steps", type);
        // 200 steps with a few roundings each, of numbers up to 10
        rbValidation_AddBound(validation, text, worst, 1e-12);
        nameRow(text, "X-19 rates after one velocity correction", type);
        rbValidation_AddBound(validation, text, rbWorld_GetStepStatistics(m.world).velocityErrorMax,
                              1e-13);
        rbMechanism_Free(&m);
    }
}

// A damped spring between free bodies may only lose energy.
static void runDampedSpring(rbValidation* validation)
{
    rbPairPlan plan = {.type = RB_JOINT_BALL, .load = RB_PAIR_SPRING_DAMPED, .isFree = true};
    rbMechanism m = rbMakePairWorld(rbMakeStepSettings(0.001, 4), &plan);
    double rise = 0.0;
    double before = m.error.status == RB_STATUS_OK ? rbWorld_GetLedger(m.world).energy : 0.0;
    double first = before;
    for (int k = 1; k <= 1000 && rbMechanism_Advance(&m, rbGetStepTime(k, 0.001)); ++k) {
        double now = rbWorld_GetLedger(m.world).energy;
        rise = rbWorseError(rise, now - before);
        before = now;
    }
    if (rbValidateMechanism(validation, &m, "damped spring")) {
        rbLedger ledger = rbWorld_GetLedger(m.world);
        rbAddNamed(validation, "X-19 damped spring", "largest rise of energy in a step, J", rise,
                   1e-12);
        rbValidation_Print(validation, "  energy %.6g J, after 1 s %.6g J\n", first, before);
        rbAddNamed(validation, "X-19 damped spring", "loss not in the ledger's dissipation, J",
                   fabs(ledger.energyDrift), 1e-6);
    }
    rbMechanism_Free(&m);
}

// An arm of 1 m and 1 kg on a hinge about y, held level against gravity.
static rbMechanism makeArm(rbStepSettings settings, const rbFreedomDef* freedom)
{
    rbMechanism m = rbMakeMechanism(settings, rbMakeVec3(0.0, 0.0, -9.81));
    rbRodPlan rod = {
        .mass = 1.0, .transverse = 1.0 / 12.0, .axial = 1.0 / 600.0, .to = {1.0, 0.0, 0.0}};
    (void)rbMechanism_AddRod(&m, &rod);
    rbJointDef def = rbDefaultJointDef();
    def.type = RB_JOINT_HINGE;
    def.bodyB = rbMechanism_GetBody(&m, 0);
    def.axisA = axisY;
    def.axisB = axisY;
    def.anchorB = rbMakeVec3(-0.5, 0.0, 0.0);
    def.freedoms[0] = *freedom;
    (void)rbMechanism_Add(&m, &def);
    return m;
}

static void runArms(rbValidation* validation)
{
    rbFreedomDef servo = {.motor = {.type = RB_MOTOR_POSITION,
                                    .gain = 60.0,
                                    .integralTime = 0.5,
                                    .derivativeTime = 0.15,
                                    .forceMax = 200.0,
                                    .target = 0.8}};
    rbMechanism m = makeArm(rbMakeStepSettings(0.001, 2), &servo);
    if (rbMechanism_Advance(&m, 10.0)) {
        rbJointState s = rbJoint_GetState(m.world, m.joints[0]);
        rbValidation_Add(validation, "X-19 PID hinge: angle after 10 s, rad", s.freedomPositions[0],
                         0.8, 1e-6);
        rbValidation_Add(validation, "X-19 PID hinge: torque against gravity, N m",
                         fabs(s.freedomForces[0]), 0.5 * 9.81 * cos(0.8), 1e-5);
    }
    (void)rbValidateMechanism(validation, &m, "PID hinge");
    rbMechanism_Free(&m);
    // the friction exceeds the weight: it stays
    rbFreedomDef brake = {.friction = 6.0};
    m = makeArm(rbMakeStepSettings(0.001, 2), &brake);
    if (rbMechanism_Advance(&m, 2.0)) {
        rbJointState s = rbJoint_GetState(m.world, m.joints[0]);
        rbValidation_Add(validation, "friction above the weight: angle after 2 s, rad",
                         s.freedomPositions[0], 0.0, 1e-9);
        rbValidation_Add(validation, "friction above the weight: torque, N m",
                         fabs(s.freedomForces[0]), 0.5 * 9.81, 1e-6);
    }
    (void)rbValidateMechanism(validation, &m, "brake");
    rbMechanism_Free(&m);
}

// Every solver finds the same motion of a four-bar (loops) and of a chain (a tree).
static void runSolvers(rbValidation* validation)
{
    rbStepSettings settings = rbMakeStepSettings(0.005, 2);
    settings.tolerance = 1e-11;
    settings.solver = RB_SOLVER_DIRECT;
    rbVec3 level = {1.0, 0.2, -0.3};
    rbMechanism chain = rbMakeHeavyChainWorld(settings, level, 1.0);
    (void)rbMechanism_Advance(&chain, 0.5);
    (void)rbValidateMechanism(validation, &chain, "chain, direct");
    for (int solver = 0; solver < rbSolverType_GetCount(); ++solver) {
        char text[96];
        settings.solver = (rbSolverType)solver;
        rbMechanism m = rbMakeHeavyChainWorld(settings, level, 1.0);
        (void)rbMechanism_Advance(&m, 0.5);
        (void)snprintf(text, sizeof text, "X-19 chain by solver %s",
                       rbSolverType_Name((rbSolverType)solver));
        if (rbValidateMechanism(validation, &m, text)) {
            double error = 0.0;
            for (int i = 0; i < m.bodyCount; ++i) {
                error = rbWorseError(error, rbDistance(rbMechanism_GetState(&m, i).center,
                                                       rbMechanism_GetState(&chain, i).center));
            }
            // the tolerance of 1e-11 over 100 steps; the iterative solver also stops its rates
            // early
            double bound = solver == RB_SOLVER_ITERATIVE ? 1e-7 : 1e-8;
            rbValidation_SetTruth(validation, RB_TRUTH_OWN_METHOD);
            rbAddNamed(validation, text, "against direct, m", error, bound);
        }
        rbMechanism_Free(&m);
    }
    rbMechanism_Free(&chain);
}

static void runChecks(rbValidation* validation)
{
    runIterations(validation);
    runReassembly(validation);
    runTogether(validation);
    runMomentum(validation);
    runDampedSpring(validation);
    runArms(validation);
    runSolvers(validation);
}

const rbValidationCase rbCaseJointChecks = {
    .name = "joint-checks",
    .group = "mechanisms",
    .help = "iterations, reassembly, momentum, rates, springs and servos for every joint type",
    .source = "X-01, X-10, X-19 of the specification",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = runChecks,
};
