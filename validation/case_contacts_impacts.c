// Collisions in the step engine: balls that bounce forever, cubes that land flat, Newton's cradle
// on hinges.
#include "case_contacts.h"
#include "dynamics/contact/contact_solver.h"

#include <math.h>

#define STEP 1e-3
#define GRAVITY RB_PILE_GRAVITY

// ----------------------------------------------------------------------------------- elastic balls

#define GRID 7

// SimBenchmark: 49 balls of 10 kg with their centers at 5 m and e = 1 keep 24034.5 J for 20 s. The
// tolerance is the best published error.
static void runElasticBalls(rbValidation* validation)
{
    const char* name = "49 elastic balls";
    rbWorldDef def = rbPileWorldDef(STEP);
    rbPile pile = rbMakePile(&def);
    (void)rbPile_AddSlope(&pile, 0.0, 0.0, 1.0);
    for (int i = 0; i < GRID * GRID; ++i) {
        int row = i / GRID;
        rbPilePlan plan = {.geometry = rbCreateSphere(0.1, &pile.error),
                           .mass = 10.0,
                           .position = {i % GRID - 3.0, row - 3.0, 5.0},
                           .restitution = 1.0};
        (void)rbPile_Add(&pile, &plan);
    }
    double truth = GRID * GRID * 10.0 * GRAVITY * 5.0;
    double worst = 0.0;
    int64_t seconds = validation->isQuick ? 4 : 20;
    for (int64_t k = 100; k <= 1000 * seconds && rbPile_Advance(&pile, k); k += 100) {
        worst = rbWorseError(worst, fabs(rbWorld_GetLedger(pile.world).energy - truth));
    }
    if (rbCheckPile(validation, &pile, name)) {
        rbAddPileBound(validation, name, "largest energy error, J of 24034.5", worst, 1.9e-2);
    }
    rbPrintPile(validation, &pile, name);
    rbPile_Free(&pile);
}

// ------------------------------------------------------------------------------------- flat cubes

// A cube of 1 m falls flat from a height and rebounds with e times its speed. The speed is measured
// through the energy, which does not depend on when in a step the cube arrives.
static void runFlatCube(rbValidation* validation, rbImpactLaw law, double restitution,
                        double friction)
{
    const double height = 1.0;
    char name[64];
    (void)snprintf(name, sizeof name, "flat cube, %s, e = %.1f", rbImpactLaw_Name(law),
                   restitution);
    rbWorldDef def = rbPileWorldDef(STEP);
    def.contact.law = law;
    rbPile pile = rbMakePile(&def);
    (void)rbPile_AddSlope(&pile, 0.0, friction, restitution);
    rbPilePlan plan = {.geometry = rbCreateBox(rbMakeVec3(.5, .5, .5), &pile.error),
                       .mass = 1.0,
                       .position = {0.0, 0.0, 0.5 + height + pile.shell},
                       .friction = friction,
                       .restitution = restitution};
    int cube = rbPile_Add(&pile, &plan);
    double speed = sqrt(2.0 * GRAVITY * height);
    int64_t k = (int64_t)(speed / GRAVITY / STEP) + 3;
    (void)rbPile_Advance(&pile, k);
    if (rbCheckPile(validation, &pile, name)) {
        char text[96];
        rbBodyState s = rbPile_GetState(&pile, cube);
        double above = s.center.z - 0.5 - pile.shell;
        double square = s.linearVelocity.z * s.linearVelocity.z + 2.0 * GRAVITY * above;
        double left = restitution > 0.0 ? sqrt(square) : s.linearVelocity.z;
        (void)snprintf(text, sizeof text, "%s: speed after over speed before", name);
        rbValidation_Add(validation, text, left / speed, restitution, 1e-5);
        rbAddPileBound(validation, name, "spin, rad/s", rbLength(s.angularVelocity),
                       rbAimContactSettings(&def.contact).velocityTolerance);
        rbAddPileBound(validation, name, "lateral speed, m/s",
                       hypot(s.linearVelocity.x, s.linearVelocity.y),
                       rbAimContactSettings(&def.contact).velocityTolerance);
    }
    rbPile_Free(&pile);
}

// ----------------------------------------------------------------------------------------- cradle

#define BALLS RB_CRADLE_BALLS

// The angular speed of a ball at its lowest position, from its energy; signed.
static double getLowestRate(const rbPile* pile, int ball)
{
    rbBodyState s = rbPile_GetState(pile, ball);
    double inertia = 0.4 + RB_CRADLE_ROD * RB_CRADLE_ROD;
    double rate = -s.angularVelocity.y;
    double square = rate * rate + 2.0 * GRAVITY * s.center.z / inertia;
    return copysign(sqrt(fmax(0.0, square)), rate);
}

// With the step and the tolerances of X-16.
static rbWorldDef defineCradle(rbContactTime row)
{
    rbWorldDef def = rbPileWorldDef(STEP);
    def.step.tolerance = 1e-6;
    def.step.velocityTolerance = 1e-6;
    def.contact.velocityTolerance = 1e-6;
    def.contact.contactTime = row;
    return def;
}

typedef struct CradleRun {
    double energies[2]; // J, before and after
    double struck;      // rad/s, of the ball that strikes first, before the impact
    double left;        // rad/s, of the innermost ball set in motion, after the impact
    double stray;       // rad/s, of the balls that should hang still
    int movingCount;
} CradleRun;

static CradleRun runCradle(rbPile* pile, int raised)
{
    CradleRun run = {.energies = {NAN, NAN}, .struck = NAN, .left = NAN};
    int striker = raised - 1;
    int inner = BALLS - raised;
    int after = 0; // steps after the last ball was set in motion
    for (int k = 1; k <= 3000 && after < 20 && rbPile_Advance(pile, k); ++k) {
        bool isStruck = rbPile_GetState(pile, BALLS - 1).linearVelocity.x > 0.1;
        if (!isStruck && after == 0) {
            run.energies[0] = rbWorld_GetLedger(pile->world).energy;
            run.struck = getLowestRate(pile, striker);
        }
        after += isStruck ? 1 : 0;
    }
    run.energies[1] = rbWorld_GetLedger(pile->world).energy;
    run.left = getLowestRate(pile, inner);
    for (int i = 0; i < BALLS; ++i) {
        double rate = getLowestRate(pile, i);
        if (i < inner) {
            run.stray = rbWorseError(run.stray, fabs(rate));
        }
        run.movingCount += fabs(rate) > 0.5 * fabs(run.struck) ? 1 : 0;
    }
    return run;
}

// the time of the first impact by both methods; interpolation needs far fewer trials.
static void compareContactTimes(rbValidation* validation)
{
    int64_t trials[RB_CONTACT_TIME_COUNT] = {0};
    for (int row = RB_CONTACT_TIME_INTERPOLATION; row < RB_CONTACT_TIME_COUNT; ++row) {
        rbWorldDef def = defineCradle((rbContactTime)row);
        rbPile pile = rbMakeCradle(&def, 1, RB_PI / 4.0);
        (void)runCradle(&pile, 1);
        if (rbCheckPile(validation, &pile, "cradle")) {
            rbContactStatistics s = rbWorld_GetContactStatistics(pile.world);
            trials[row] = s.cutTrials;
            rbValidation_Print(validation, "    %s: %d trials for %d steps ended at a contact\n",
                               rbContactTime_Name((rbContactTime)row), (int)s.cutTrials,
                               (int)s.cutSteps);
        }
        rbPile_Free(&pile);
    }
    double ratio = (double)trials[RB_CONTACT_TIME_INTERPOLATION] /
                   fmax(1.0, (double)trials[RB_CONTACT_TIME_BISECTION]);
    rbValidation_AddLimit(validation, "cradle: trials of interpolation / trials of bisection",
                          ratio, 0.5);
}

// as many balls leave as struck, within the published differences.
static void runCradles(rbValidation* validation)
{
    static const double energies[4] = {1.106e-6, 1.451e-6, 1.691e-6, 1.975e-6};
    static const double rates[4] = {1.054e-6, 2.049e-6, 3.273e-6, 3.506e-6};
    for (int raised = 1; raised <= 4; ++raised) {
        char name[32];
        char text[96];
        (void)snprintf(name, sizeof name, "cradle, %d raised", raised);
        rbWorldDef def = defineCradle(RB_CONTACT_TIME_INTERPOLATION);
        rbPile pile = rbMakeCradle(&def, raised, RB_PI / 4.0);
        CradleRun run = runCradle(&pile, raised);
        if (rbCheckPile(validation, &pile, name)) {
            double energy = fabs(run.energies[1] - run.energies[0]);
            rbAddPileBound(validation, name, "energy of the impact, J", energy,
                           energies[raised - 1]);
            (void)snprintf(text, sizeof text, "%s: rate of the innermost ball that leaves, rad/s",
                           name);
            rbValidation_Add(validation, text, run.left, run.struck, rates[raised - 1]);
            (void)snprintf(text, sizeof text, "%s: balls that leave", name);
            rbValidation_Add(validation, text, run.movingCount, raised, 0.0);
            rbValidation_Print(
                validation, "    balls that should stay at rest rotate at %.2g rad/s\n", run.stray);
        }
        rbPrintPile(validation, &pile, name);
        rbPile_Free(&pile);
    }
}

static void run(rbValidation* validation)
{
    static const double restitutions[] = {0.0, 0.3, 0.5, 0.8, 1.0};
    runElasticBalls(validation);
    for (int law = 0; law < RB_IMPACT_LAW_COUNT; ++law) {
        for (int i = 0; i < 5; ++i) {
            runFlatCube(validation, (rbImpactLaw)law, restitutions[i], 0.5);
        }
    }
    runCradles(validation);
    compareContactTimes(validation);
}

const rbValidationCase rbCaseContactImpacts = {
    .name = "contact-impacts",
    .group = "contacts",
    .help = "elastic balls, cubes that land flat, Newton's cradle on hinges, steps of 1 ms",
    .source = "closed forms; SimBenchmark's elastic balls; Bender 2007, table 5.3",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
