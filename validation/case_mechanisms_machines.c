// Machines: the heavy top on a ball joint and in gimbals, the centrifugal governor, a heavy ball on
// a light chain.
#include "case_mechanisms.h"
#include "mechanism_reference.h"

#include <math.h>

#define STEP 1e-3

// ------------------------------------------------------------------------------------------- tops

static void runTop(rbValidation* validation, const rbTopPlan* plan, const char* name,
                   const double* truths)
{
    static const char* const speeds[2] = {"slow", "fast"};
    double rates[2];
    rbGetPrecessionRates(plan, rates);
    for (int i = 0; i < 2; ++i) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s, %s", name, speeds[i]);
        if (truths != NULL) {
            char quantity[96];
            (void)snprintf(quantity, sizeof quantity, "%s: rate of the closed form, rad/s", text);
            rbValidation_Add(validation, quantity, rates[i], truths[i], 1e-9);
        }
        rbMechanism m =
            rbMakeTopWorld(rbMakeStepSettings(STEP, RB_MECHANISM_ORDER), plan, rates[i]);
        double axisError = 0.0;
        double turnError = 0.0;
        double energy = m.error.status == RB_STATUS_OK ? rbWorld_GetLedger(m.world).energy : 0.0;
        double angle = 0.0;
        for (int k = 1; k <= rbGetTenths(validation) && rbMechanism_Advance(&m, 0.1 * k); ++k) {
            double time = rbWorld_GetTime(m.world);
            rbBodyState s = rbMechanism_GetState(&m, 0);
            rbQuat truth = rbGetPrecession(plan, rates[i], time);
            rbVec3 axis = rbRotate(truth, rbMakeVec3(0.0, 0.0, 1.0));
            axisError = rbWorseError(axisError, rbDistance(s.center, rbScale(plan->length, axis)));
            turnError = rbWorseError(turnError, rbGetTurnBetween(s.transform.q, truth));
            double seen = atan2(s.center.y, s.center.x);
            angle = seen + 2.0 * RB_PI * round((rates[i] * time - seen) / (2.0 * RB_PI));
        }
        if (rbValidateMechanism(validation, &m, text)) {
            char quantity[96];
            (void)snprintf(quantity, sizeof quantity, "%s: mean rate, rad/s", text);
            rbValidation_Add(validation, quantity, angle / rbWorld_GetTime(m.world), rates[i],
                             1e-8);
            rbAddNamed(validation, text, "center, m", axisError, 1e-8);
            rbAddNamed(validation, text, "orientation, rad", turnError, 1e-8);
            rbAddNamed(validation, text, "energy, relative",
                       fabs(rbWorld_GetLedger(m.world).energy - energy) / energy, 1e-9);
            rbAddClosure(validation, &m, text, 1e-12);
        }
        rbMechanism_Free(&m);
    }
}

static void runTops(rbValidation* validation)
{
    static const double truths[2] = {1.036863055, 18.208145918};
    rbTopPlan plan = {
        .mass = 1.0, .length = 0.5, .i1 = 0.3, .i3 = 0.05, .spin = 100.0, .tilt = RB_PI / 6.0};
    runTop(validation, &plan, "top", truths);
    // the published top has equal moments about its center; a disc also tests the free rotation
    rbTopPlan disc = plan;
    disc.i3 = 0.08;
    runTop(validation, &disc, "disc", NULL);
    disc.isInGimbals = true;
    runTop(validation, &disc, "disc in gimbals", NULL);
}

const rbValidationCase rbCaseHeavyTop = {
    .name = "heavy-top",
    .group = "mechanisms",
    .help = "regular precession of heavy tops on a ball joint and in gimbals, 10 s at 1 ms",
    .source = "closed form: (I1 + b - c) cos(tilt) W^2 - I3 w3 W + m g l = 0",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = runTops,
};

// --------------------------------------------------------------------------------------- governor

static void runGovernor(rbValidation* validation, bool isDriven)
{
    const rbGovernorTable* t = &rbGovernor;
    const char* name = isDriven ? "driven at a rate" : "driven by a torque";
    rbMechanism m = rbMakeGovernorWorld(rbMakeStepSettings(STEP, RB_MECHANISM_ORDER), isDriven);
    rbReference r = rbMakeGovernorReference();
    double turnError = 0.0;
    double armError = 0.0;
    double drift = 0.0;
    double work = 0.0;
    for (int k = 1; k <= rbGetTenths(validation) && rbMechanism_Advance(&m, 0.1 * k); ++k) {
        double time = rbWorld_GetTime(m.world);
        rbLedger ledger = rbWorld_GetLedger(m.world);
        rbVec3 ball = rbMechanism_GetState(&m, 2).center;
        rbJointState spindle = rbJoint_GetState(m.world, m.joints[0]);
        double arm = atan2(sqrt(ball.x * ball.x + ball.y * ball.y) - t->pivot, -ball.z);
        rbReference_Advance(&r, time);
        double truth = isDriven ? t->rate * time : (double)r.y[0];
        turnError = rbWorseError(turnError, fabs(spindle.freedomPositions[0] - truth));
        armError = rbWorseError(armError, fabs(arm - (double)r.y[1]));
        drift = rbWorseError(drift, fabs(ledger.energyDrift));
        work = isDriven ? ledger.motorWork : ledger.work;
    }
    if (!rbValidateMechanism(validation, &m, name)) {
        rbMechanism_Free(&m);
        return;
    }
    rbValidation_SetTruth(validation, isDriven ? RB_TRUTH_CLOSED_FORM : RB_TRUTH_SECOND_METHOD);
    rbAddNamed(validation, name, "angle of the spindle, rad", turnError, 1e-8);
    if (!isDriven) {
        rbAddNamed(validation, name, "angle of the arms, rad", armError, 1e-8);
        rbValidation_Add(validation, "driven by a torque: work of the drive = torque x turn, J",
                         work, t->torque * (double)r.y[0], 1e-6);
    }
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbAddNamed(validation, name, "energy not accounted for, J", drift, 1e-8);
    rbAddClosure(validation, &m, name, 1e-12);
    rbMechanism_Free(&m);
}

static void runGovernors(rbValidation* validation)
{
    runGovernor(validation, false);
    runGovernor(validation, true);
}

const rbValidationCase rbCaseGovernor = {
    .name = "governor",
    .group = "mechanisms",
    .help = "centrifugal governor with hinged links and a sleeve, 10 s at 1 ms",
    .source = "equations of turn and arm angle, order 20 in long double; balance of energy",
    .truth = RB_TRUTH_SECOND_METHOD,
    .run = runGovernors,
};

// ------------------------------------------------------------------------------------ heavy chain

static void runHeavyChain(rbValidation* validation, rbVec3 direction, const char* name)
{
    double duration = validation->isQuick ? 0.05 : 10.0;
    rbMechanism m =
        rbMakeHeavyChainWorld(rbMakeStepSettings(STEP, RB_MECHANISM_ORDER), direction, 1e6);
    double stretch = 0.0;
    double start = m.error.status == RB_STATUS_OK ? rbWorld_GetLedger(m.world).energy : 0.0;
    double energyError = 0.0;
    double gap = 0.0;
    int count = (int)(100.0 * duration + 0.5);
    for (int k = 1; k <= count && rbMechanism_Advance(&m, 0.01 * k); ++k) {
        double position;
        double angle;
        stretch = rbWorseError(stretch, rbLength(rbMechanism_GetState(&m, 10).center) - 10.0);
        rbMechanism_GetGaps(&m, &position, &angle);
        gap = rbWorseError(gap, position);
        energyError = rbWorseError(energyError, fabs(rbWorld_GetLedger(m.world).energy - start));
    }
    if (rbValidateMechanism(validation, &m, name)) {
        rbAddNamed(validation, name, "elongation beyond ten links, m", stretch, 1e-10);
        rbAddNamed(validation, name, "joint gap, m", gap, 1e-10);
        rbValidation_Print(validation, "  %s: energy error %.2g of m g 10 m\n", name,
                           energyError / (1e6 * 9.81 * 10.0));
        rbAddClosure(validation, &m, name, 1e-10);
    }
    rbMechanism_Free(&m);
}

static void runHeavyChains(rbValidation* validation)
{
    runHeavyChain(validation, rbMakeVec3(0.0, 0.0, -1.0), "hanging");
    runHeavyChain(validation, rbMakeVec3(1.0, 0.0, 0.0), "falling from level");
}

const rbValidationCase rbCaseHeavyChain = {
    .name = "heavy-chain",
    .group = "mechanisms",
    .help = "ten links of 1 kg with a ball of 1e6 kg at the end, 10 s at 1 ms",
    .source = "the chain does not stretch",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = runHeavyChains,
};
