// Observed orders of the step engine for every joint type, with springs, dampers and motors.
//
// Each system runs for 0.5 s with a number of steps that is doubled twice. The reference is the
// motion in 113 bits (pair_truth.h). The error of a run of order 8 with 512 steps is used as the
// rounding of the engine. The order is that of the last two numbers of steps whose errors exceed it
// tenfold.
#include "case_mechanisms.h"
#include "mechanism_pairs.h"
#include "pair_truth.h"

#include <math.h>

#define DURATION 0.5
// Of order 8 with 512 steps and more: rounding, which grows with the whipping of a pendulum.
#define FINE_ERROR 1e-11

typedef rbMechanism rbMakeFn(rbStepSettings settings, const void* plan);

static rbMechanism makePair(rbStepSettings settings, const void* plan)
{
    return rbMakePairWorld(settings, plan);
}

// A system to run with several settings.
typedef struct rbSystem {
    rbMakeFn* make;
    const void* plan;
    int steps; // for order 2, first number; half of it for order 4, an eighth for others
    rbPairTruth truth;
    double noise; // rounding of the engine, m and rad
} rbSystem;

static rbMechanism runSystem(const rbSystem* system, rbStepSettings settings, int steps)
{
    settings.step = DURATION / steps;
    // as far as possible: the remaining error is rounding and appears in the noise
    settings.tolerance = 1e-14;
    rbMechanism m = system->make(settings, system->plan);
    (void)rbMechanism_Advance(&m, DURATION);
    if (m.error.status == RB_STATUS_NUMERICAL) {
        m.error = (rbError){0};
    }
    return m;
}

static double compareWithTruth(const rbMechanism* m, const rbPairTruth* truth)
{
    double worst = m->error.status == RB_STATUS_OK ? 0.0 : (double)NAN;
    for (int i = 0; i < m->bodyCount; ++i) {
        rbBodyState s = rbMechanism_GetState(m, i);
        worst = rbWorseError(worst, rbDistance(s.center, truth->centers[i]));
        worst = rbWorseError(worst, rbGetTurnBetween(s.transform.q, truth->orientations[i]));
    }
    return worst;
}

static bool prepareSystem(rbValidation* validation, rbSystem* system, const char* name)
{
    rbMechanism fine = runSystem(system, rbMakeStepSettings(1.0, 8), 8 * system->steps);
    bool isSound = rbValidateMechanism(validation, &fine, name);
    system->noise = compareWithTruth(&fine, &system->truth);
    rbMechanism_Free(&fine);
    return isSound;
}

typedef struct rbOrderTrial {
    double errors[3];
    double order; // NaN when something failed or all errors are rounding
} rbOrderTrial;

static rbOrderTrial measureOrder(const rbSystem* system, rbStepSettings settings)
{
    rbOrderTrial trial = {.order = (double)NAN};
    int first = settings.order == 2   ? system->steps
                : settings.order == 4 ? system->steps / 2
                                      : system->steps / 8;
    for (int i = 0; i < 3; ++i) {
        rbMechanism m = runSystem(system, settings, first << i);
        trial.errors[i] = compareWithTruth(&m, &system->truth);
        if (i > 0 && trial.errors[i] > 10.0 * system->noise) {
            trial.order = log2(trial.errors[i - 1] / trial.errors[i]);
        }
        rbMechanism_Free(&m);
    }
    return trial;
}

// A row of the table; a loss lowers the expected order and states the reason.
typedef struct rbOrderRow {
    rbPairPlan plan;
    double expected[3]; // for orders 2, 4, 6; 0: nominal, or nothing clear where there is a loss
    const char* loss;   // why the order is lost; NULL: it is not
} rbOrderRow;

static void addOrders(rbValidation* validation, const char* name, const rbOrderRow* row)
{
    // the second body whips on these, which requires finer steps
    static const int fast[RB_JOINT_COUNT] = {
        [RB_JOINT_DISTANCE] = 512, [RB_JOINT_LINE_DISTANCE] = 256};
    int steps = fast[row->plan.type] > 0 ? fast[row->plan.type] : 64;
    char text[96];
    rbSystem system = {.make = makePair,
                       .plan = &row->plan,
                       .steps = steps,
                       .truth = rbComputePairTruth(&row->plan, DURATION)};
    bool isSound = prepareSystem(validation, &system, name);
    if (row->loss != NULL) {
        system.noise = 0.0; // the fine run has errors far above rounding
    } else {
        (void)snprintf(text, sizeof text, "%s, order 8, %d steps: error, m and rad", name,
                       8 * steps);
        rbValidation_AddBound(validation, text, system.noise, FINE_ERROR);
    }
    for (int i = 0; i < 3 && isSound; ++i) {
        int order = 2 + 2 * i;
        rbOrderTrial trial = measureOrder(&system, rbMakeStepSettings(1.0, order));
        (void)snprintf(text, sizeof text, "%s, order %d: %.1e %.1e %.1e", name, order,
                       trial.errors[0], trial.errors[1], trial.errors[2]);
        if (row->loss != NULL && row->expected[i] == 0.0) {
            // no clear power law: the finest error must be smaller than the first
            rbValidation_AddBound(validation, text, trial.errors[2] / trial.errors[0], 1.0);
        } else {
            double expected = row->expected[i] > 0.0 ? row->expected[i] : order;
            rbValidation_Add(validation, text, trial.order, expected, 0.3);
        }
    }
    if (row->loss != NULL) {
        rbValidation_Print(validation, "  %s loses order: %s\n", name, row->loss);
    }
}

static void runTypes(rbValidation* validation)
{
    for (int type = 0; type < RB_JOINT_COUNT; ++type) {
        rbOrderRow row = {.plan = {.type = (rbJointType)type}};
        addOrders(validation, rbJointType_Name((rbJointType)type), &row);
    }
}

static void runLoads(rbValidation* validation)
{
    static const rbOrderRow rows[] = {
        {.plan = {RB_JOINT_BALL, RB_PAIR_SPRING, false}},
        {.plan = {RB_JOINT_BALL, RB_PAIR_SPRING_DAMPED, false}},
        {.plan = {RB_JOINT_HINGE, RB_PAIR_FREEDOM, false}},
        {.plan = {RB_JOINT_HINGE, RB_PAIR_FREEDOM_DAMPED, false}},
        {.plan = {RB_JOINT_PRISMATIC, RB_PAIR_FREEDOM, false}},
        {.plan = {RB_JOINT_PRISMATIC, RB_PAIR_FREEDOM_DAMPED, false}},
        {.plan = {RB_JOINT_CYLINDRICAL, RB_PAIR_FREEDOM, false}},
        {.plan = {RB_JOINT_UNIVERSAL, RB_PAIR_FREEDOM, false}},
        {.plan = {RB_JOINT_HINGE, RB_PAIR_TORQUE, false}},
        {.plan = {RB_JOINT_PRISMATIC, RB_PAIR_TORQUE, false}},
        {.plan = {RB_JOINT_HINGE, RB_PAIR_VELOCITY, false}},
        {.plan = {RB_JOINT_HINGE, RB_PAIR_PID, false},
         .expected = {1.0, 1.0, 1.0},
         .loss = "the controller is sampled once per step and its torque held constant"},
        {.plan = {RB_JOINT_PRISMATIC, RB_PAIR_FRICTION, false}},
        {.plan = {RB_JOINT_HINGE, RB_PAIR_STICKING, false},
         .loss = "it stops inside a step, and the forces jump there"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s, %s", rbJointType_Name(rows[i].plan.type),
                       rbPairLoadNames[rows[i].plan.load]);
        addOrders(validation, name, &rows[i]);
    }
}

// ------------------------------------------------------------------------------- heavy top

// An asymmetric heavy top: no closed form, generic.
static rbMassPlan planTop(void)
{
    rbVec3 spin = {2.0, -3.0, 4.0};
    return (rbMassPlan){.mass = 1.0,
                        .moments = {0.05, 0.08, 0.11},
                        .center = {0.3, 0.2, 0.35},
                        .orientation = rbMakeRotation(rbMakeVec3(1.0, 1.0, 2.0), 0.8),
                        .velocity = rbCross(spin, rbMakeVec3(0.3, 0.2, 0.35)),
                        .spin = spin};
}

static rbMechanism makeAsymmetricTop(rbStepSettings settings, const void* plan)
{
    rbMechanism m = rbMakeMechanism(settings, rbMakeVec3(0.0, 0.0, -9.81));
    (void)rbMechanism_AddBody(&m, plan);
    (void)rbMechanism_AddJoint(&m, RB_JOINT_BALL, -1, 0, RB_VEC3_ZERO, rbMakeVec3(0.0, 0.0, 1.0));
    return m;
}

static void runSchemes(rbValidation* validation)
{
    static const struct {
        rbStepScheme scheme;
        int order;
        double expected;
    } rows[] = {{RB_SCHEME_START, 2, 2.0}, {RB_SCHEME_START, 4, 4.0},  {RB_SCHEME_START, 6, 6.0},
                {RB_SCHEME_START, 8, 8.0}, {RB_SCHEME_MIDDLE, 4, 3.0}, {RB_SCHEME_MIDDLE, 6, 3.0}};
    rbMassPlan top = planTop();
    rbSystem system = {.make = makeAsymmetricTop,
                       .plan = &top,
                       .steps = 64,
                       .truth = rbComputeTopTruth(&top, DURATION)};
    (void)prepareSystem(validation, &system, "X-08 heavy top");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rbStepSettings settings = rbMakeStepSettings(1.0, rows[i].order);
        settings.scheme = rows[i].scheme;
        rbOrderTrial trial = measureOrder(&system, settings);
        char text[96];
        (void)snprintf(text, sizeof text, "X-08 heavy top, %s, order %d: %.1e %.1e %.1e",
                       rbStepScheme_Name(rows[i].scheme), rows[i].order, trial.errors[0],
                       trial.errors[1], trial.errors[2]);
        rbValidation_Add(validation, text, trial.order, rows[i].expected, 0.3);
    }
}

static void runOrders(rbValidation* validation)
{
    rbValidation_Print(validation, "  errors after 0.5 s with 1, 2, 4 times 64 (order 2), 32 (4), "
                                   "8 (6) steps, m and rad\n");
    runSchemes(validation);
    runTypes(validation);
    if (!validation->isQuick) {
        runLoads(validation);
    }
}

const rbValidationCase rbCaseJointOrder = {
    .name = "joint-order",
    .group = "mechanisms",
    .help = "orders of convergence for every joint type, springs, dampers and motors",
    .source =
        "equations of motion with multipliers, order 16 in 113 bits; X-08 of the specification",
    .truth = RB_TRUTH_SECOND_METHOD,
    .run = runOrders,
};
