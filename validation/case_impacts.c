// Single impacts against the planar table, closed forms and a second solution in higher precision;
// a million random ones against conditions that every impact must satisfy; several simultaneously.
#include "impact_cases.h"
#include "impact_oracle.h"
#include "validation.h"

#include <rattleback/lab_impact.h>

#include <math.h>

#define TOLERANCE 1e-9

// ----------------------------------------------------------------------------- the planar table

static void compareTable(rbValidation* validation)
{
    rbValidation_Print(validation,
                       "  planar body, m = 1, J = 1/3, rotated by 1 rad about the normal\n");
    int count = 0;
    const rbPlanarImpact* rows = rbGetPlanarImpacts(&count);
    for (int i = 0; i < count; ++i) {
        double c = cos(1.0);
        double s = sin(1.0);
        rbImpactInput input = rbMakePlanarInput(&rows[i], 1.0);
        rbImpactResult result;
        rbResolveImpact(&input, &result);
        const struct {
            const char* what;
            double value;
            double truth;
        } columns[] = {
            {"p_t", c * result.impulse.x + s * result.impulse.y, rows[i].pt},
            {"p_n", result.impulse.z, rows[i].pn},
            {"v_t'", c * result.velocity.x + s * result.velocity.y, rows[i].vtAfter},
            {"v_n'", result.velocity.z, rows[i].vnAfter},
            {"energy change", result.normalWork + result.frictionWork, rows[i].energyChange},
        };
        for (size_t j = 0; j < sizeof columns / sizeof columns[0]; ++j) {
            char quantity[96];
            (void)snprintf(quantity, sizeof quantity, "%s: %s", rows[i].name, columns[j].what);
            rbValidation_Add(validation, quantity, columns[j].value, columns[j].truth, TOLERANCE);
        }
    }
}

// --------------------------------------------------------------------------------- closed forms

static void compareClosedForms(rbValidation* validation)
{
    rbRandom random = {1};
    double sphere = 0.0;
    double smooth = 0.0;
    for (int i = 0; i < 10000; ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.0);
        input.law = (rbImpactLaw)(i % 3);
        double e = input.restitution;
        double approach = -input.velocity.z;
        rbImpactResult result;
        rbImpactInput ball = input; // U-6, m = 1
        ball.matrix = (rbSym3){3.5, 3.5, 1.0, 0.0, 0.0, 0.0};
        rbResolveImpact(&ball, &result);
        double slip = hypot(input.velocity.x, input.velocity.y);
        double left = fmax(0.0, slip - 3.5 * input.friction * (1.0 + e) * approach);
        double miss = hypot(hypot(result.velocity.x, result.velocity.y) - left,
                            result.velocity.z - e * approach);
        sphere = rbWorseError(miss / (slip + approach), sphere);

        input.friction = 0.0; // U-7
        rbResolveImpact(&input, &result);
        double p = (1.0 + e) * approach / input.matrix.zz;
        double work = -approach * approach / (2.0 * input.matrix.zz);
        smooth = rbWorseError(fabs(result.impulse.z / p - 1.0), smooth);
        smooth = rbWorseError(fabs(result.compressionWork / work - 1.0), smooth);
    }
    rbValidation_AddBound(validation, "U-6: sphere on a plane, 10000 random", sphere, 1e-14);
    rbValidation_AddBound(validation, "U-7: no friction, 10000 random", smooth, 1e-14);

    double worst = 0.0;
    double least = INFINITY;
    int wrong = 0;
    for (int i = 1; i < 10000; ++i) {
        double angle = 0.5 * RB_PI * i / 10000.0;
        double truth = rbGetRodThreshold(angle);
        rbImpactInput rod = rbMakeRodInput(angle, truth * 0.9999);
        double threshold = rbGetJamThreshold(&rod);
        worst = rbWorseError(fabs(threshold / truth - 1.0), worst);
        least = fmin(least, threshold);
        rbImpactResult result;
        rbResolveImpact(&rod, &result);
        wrong += result.isJam;
        rod.friction = truth * 1.0001;
        rbResolveImpact(&rod, &result);
        wrong += !result.isJam;
    }
    rbValidation_AddBound(validation, "Painleve threshold of the rod, 9999 angles", worst, 1e-13);
    rbValidation_Add(validation, "smallest Painleve threshold", least, 4.0 / 3.0, 1e-7);
    rbValidation_AddBound(validation, "jams reported on the wrong side of it", wrong, 0.0);
}

// ----------------------------------------------------------------------------- higher precision

static void compareHigherPrecision(rbValidation* validation)
{
    int count = validation->isQuick ? 9 : 60;
    rbRandom random = {2};
    double worst[RB_IMPACT_LAW_COUNT] = {0.0};
    double byVelocity = 0.0;
    int again = 0;
    int stiff = 0;
    for (int solved = 0; solved < count;) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.3);
        input.law = (rbImpactLaw)(solved % RB_IMPACT_LAW_COUNT);
        rbImpactTruth truth;
        if (!rbSolveImpactTruth(&input, &truth)) {
            stiff += 1;
            continue;
        }
        rbImpactResult result;
        rbResolveImpact(&input, &result);
        double error = rbGetImpactError(&result, &truth, &input);
        worst[input.law] = rbWorseError(error, worst[input.law]);
        input.slideMethod = rbGetSlideByVelocity();
        rbResolveImpact(&input, &result);
        byVelocity = rbWorseError(rbGetImpactError(&result, &truth, &input), byVelocity);
        again += truth.compressions > 1;
        solved += 1;
    }
    rbValidation_Print(
        validation,
        "  %d random impacts with all axes coupled, against long double (%d too stiff "
        "for it skipped; %d compress twice)\n",
        count, stiff, again);
    for (int i = 0; i < RB_IMPACT_LAW_COUNT; ++i) {
        char quantity[96];
        (void)snprintf(quantity, sizeof quantity, "3-D, %s", rbImpactLaw_Name((rbImpactLaw)i));
        rbValidation_AddBound(validation, quantity, worst[i], TOLERANCE);
    }
    rbValidation_AddBound(validation, "3-D, over velocity and work", byVelocity, TOLERANCE);
}

// -------------------------------------------------------------------------------- a million more

static void checkRandomImpacts(rbValidation* validation)
{
    int count = validation->isQuick ? 100000 : 1000000;
    rbRandom random = {3};
    int raised[RB_IMPACT_LAW_COUNT] = {0};
    double gain[RB_IMPACT_LAW_COUNT] = {0.0};
    int outside = 0;
    int unfit = 0;
    int approaching = 0;
    int inaccurate = 0;
    int jams = 0;
    for (int i = 0; i < count; ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, i % 4 == 0 ? 1.0 : 0.0);
        input.law = (rbImpactLaw)(i % RB_IMPACT_LAW_COUNT);
        rbImpactResult result;
        rbResolveImpact(&input, &result);
        rbImpactCheck check = rbCheckImpact(&input, &result);
        raised[input.law] += !(check.energy <= 1e-12);
        gain[input.law] = rbWorseError(check.energy, gain[input.law]);
        outside += !(check.cone <= 1e-12);
        unfit += !(check.motion <= 1e-12 && check.work <= 1e-12);
        approaching += check.isApproaching;
        inaccurate += result.isInaccurate;
        jams += result.isJam;
    }
    rbValidation_Print(validation,
                       "  %d random impacts, a third per law; %d jam (Painleve)\n"
                       "  Newton's law raised the energy %d times, by up to %.3g of the work of "
                       "compression and friction, which this law allows\n",
                       count, jams, raised[RB_IMPACT_NEWTON], gain[RB_IMPACT_NEWTON]);
    rbValidation_AddBound(validation, "energy raised by poisson", raised[RB_IMPACT_POISSON], 0.0);
    rbValidation_AddBound(validation, "energy raised by stronge", raised[RB_IMPACT_STRONGE], 0.0);
    rbValidation_AddBound(validation, "impulses outside the cone", outside, 0.0);
    rbValidation_AddBound(validation, "u = u0 + K p or the work violated by 1e-12", unfit, 0.0);
    rbValidation_AddBound(validation, "bodies that still approach", approaching, 0.0);
    rbValidation_AddBound(validation, "impacts that missed their tolerance", inaccurate, 0.0);
}

// --------------------------------------------------------------------------- several impacts

static void compareCradle(rbValidation* validation)
{
    static const double truth[RB_ORDER_COUNT][RB_CRADLE_BALLS] = {
        [RB_ORDER_SEQUENTIAL] = {0.0, 0.0, 0.0, 0.0, 1.0},
        [RB_ORDER_SIMULTANEOUS] = {-0.6, 0.4, 0.4, 0.4, 0.4},
    };
    for (int order = 0; order < RB_ORDER_COUNT; ++order) {
        double v[RB_CRADLE_BALLS];
        (void)rbSwingCradle((rbImpactOrder)order, v);
        for (int i = 0; i < RB_CRADLE_BALLS; ++i) {
            char quantity[96];
            (void)snprintf(quantity, sizeof quantity, "cradle, %s: ball %d",
                           rbImpactOrder_Name((rbImpactOrder)order), i + 1);
            rbValidation_Add(validation, quantity, v[i], truth[order][i], 1e-12);
        }
    }
}

static void run(rbValidation* validation)
{
    rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
    compareTable(validation);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    compareClosedForms(validation);
    rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
    compareHigherPrecision(validation);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    checkRandomImpacts(validation);
    compareCradle(validation);
}

const rbValidationCase rbCaseImpacts = {
    .name = "impacts",
    .help = "impacts by Newton, Poisson and Stronge, single and simultaneous",
    .source = "planar table and closed forms; extrapolation in 113 bits; Painleve's rod; cradle",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
