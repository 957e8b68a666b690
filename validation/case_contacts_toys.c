// Tippe top and rattleback in the step engine against the table of the specification and against
// the motion in 113 bits (toy_truth.h). E-02: a friction pyramid with more and more facets
// approaches the cone.
#include "case_contacts.h"
#include "toy_truth.h"
#include "toy_worlds.h"

#include <rattleback/output.h>

#include <math.h>

#define SAMPLE 1e-3
// The error of sliding tops is proportional to the step: the error of the time of inversion is 1.6
// % at 0.5 ms, 0.3 % at 0.1 ms.
#define STEP 2e-5

static const rbVec3 figure = {0.0, 0.0, 1.0};

// Runs a toy; false, and a failed row, when it is rejected or stops.
static bool trace(rbValidation* validation, const char* name, const rbToy* toy,
                  const rbToySetting* setting, double duration, rbToyTrace* result)
{
    rbError error = {0};
    rbToyWorld world = rbMakeToyWorld(toy, setting, &error);
    *result = (rbToyTrace){0};
    if (world.world == NULL) {
        rbValidation_Print(validation, "  %s: %s\n", name, error.message);
        rbValidation_AddLimit(validation, name, NAN, 0.0);
        return false;
    }
    rbTraceToy(&world, figure, duration, SAMPLE, result);
    bool isSound = result->status == RB_STATUS_OK ||
                   (setting->step > 0.0 && result->status == RB_STATUS_NUMERICAL);
    if (!isSound) {
        rbValidation_Print(validation, "  %s: %s\n", name, rbWorld_GetError(world.world).message);
        rbValidation_AddLimit(validation, name, NAN, 0.0);
    }
    if (setting->step > 0.0) {
        rbContactStatistics s = rbWorld_GetContactStatistics(world.world);
        rbValidation_Print(validation,
                           "    %s: steps of %.2g s, %lld collisions, %lld steps unmet, energy "
                           "rose by %.2g of it; %.2f s\n",
                           name, setting->step, (long long)s.collisions, (long long)s.unmetSteps,
                           rbToyTrace_GetRise(result) / result->samples.data[0].energy,
                           result->cpu);
    }
    rbFreeToyWorld(&world);
    return isSound;
}

// ---------------------------------------------------------------------------------------- the top

// inverts with every friction, earlier with more. The cosine passes through 0 at that moment.
static void runTops(rbValidation* validation)
{
    // the table of the specification, E-02
    static const struct {
        double friction, time;
    } rows[] = {{0.6, 0.393}, {0.5, 0.438}, {0.4, 0.529}, {0.3, 0.699}};
    double last = 0.0;
    double order = 0.0; // largest lead of a smaller friction, s
    int count = validation->isQuick ? 2 : 4;
    for (int i = 0; i < count; ++i) {
        rbToy toy = rbMakeTippeTop(rows[i].friction, 150.0);
        rbToySetting steps = {.form = RB_TOY_EXACT, .step = STEP};
        rbToyTrace a;
        char name[64];
        (void)snprintf(name, sizeof name, "top, friction %.1f", rows[i].friction);
        if (trace(validation, name, &toy, &steps, 1.0, &a)) {
            char text[96];
            double time = rbToyTrace_FindCosine(&a, 0.0);
            (void)snprintf(text, sizeof text, "%s: time of inversion, s", name);
            rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
            rbValidation_AddRelative(validation, text, time, rows[i].time, 0.05);
            rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
            rbAddPileBound(validation, name, "drift of Jellett's integral",
                           rbToyTrace_GetJellettDrift(&a), 1e-2);
            order = rbWorseError(order, last - time);
            last = time;
        }
        rbFreeToyTrace(&a);
    }
    rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
    rbValidation_AddBound(validation, "top: more friction inverts later by, s", order, 0.0);
}

// --------------------------------------------------------------------------------- friction facets

#define FACETS 3

static void drawFacets(rbValidation* validation, const rbToyTrace traces[FACETS + 2])
{
    static const char* const labels[FACETS + 2] = {"event engine", "exact cone", "4 facets",
                                                   "16 facets", "32 facets"};
    RB_ARRAY(double) numbers = {0};
    for (int f = 0; f < FACETS + 2; ++f) {
        for (int i = 0; i < traces[f].samples.count; ++i) {
            rbArray_Push(numbers, traces[f].samples.data[i].time);
        }
        for (int i = 0; i < traces[f].samples.count; ++i) {
            rbArray_Push(numbers, traces[f].samples.data[i].cosine);
        }
    }
    rbPlotSeries series[FACETS + 2];
    const double* next = numbers.data;
    for (int f = 0; f < FACETS + 2; ++f) {
        int count = traces[f].samples.count;
        series[f] = (rbPlotSeries){labels[f], next, next + count, count, RB_PLOT_LINES};
        next += 2 * (size_t)count;
    }
    rbPlotPanel panel = {
        .yLabel = "cosine to the vertical", .series = series, .seriesCount = FACETS + 2};
    rbPlot plot = {.title = "tippe top: facets of the friction pyramid",
                   .xLabel = "time [s]",
                   .panels = &panel,
                   .panelCount = 1};
    char path[512];
    rbError error = {0};
    (void)snprintf(path, sizeof path, "%s/contact-facets.svg", validation->plotFolder);
    rbStatus status = rbPlot_WriteSvg(&plot, path, &error);
    rbValidation_Print(validation, "  %s: %s\n", status == RB_STATUS_OK ? "plot" : "no plot",
                       status == RB_STATUS_OK ? path : error.message);
    rbArray_Free(numbers);
}

#define TRUTH_UNTIL 0.8 // s
#define TRUTH_COUNT 801

// Largest error of the cosine up to TRUTH_UNTIL.
static double compareTruth(const rbToyTrace* trace, const rbToyMoment* moments, int count)
{
    double worst = count == TRUTH_COUNT && trace->samples.count >= count ? 0.0 : (double)NAN;
    for (int i = 0; i < count && !isnan(worst); ++i) {
        worst =
            rbWorseError(worst, fabs(trace->samples.data[i].cosine - rbDot(moments[i].up, figure)));
    }
    return worst;
}

// E-02: the curves approach the motion with every refinement; that of 32 facets coincides until 0.8
// s, to within a line width of 0.5 mm in a plot of 2 over 100 mm.
static void runFacets(rbValidation* validation)
{
    static const int facets[FACETS] = {4, 16, 32};
    rbToy toy = rbMakeTippeTop(0.5, 150.0);
    rbToyTrace traces[FACETS + 2];
    bool isRun = true;
    for (int f = 0; f < FACETS + 2; ++f) {
        rbToySetting setting = {.form = RB_TOY_EXACT, .step = f == 0 ? 0.0 : STEP};
        setting.facets = f < 2 ? 0 : facets[f - 2];
        isRun = trace(validation, "top, facets", &toy, &setting, 1.0, &traces[f]) && isRun;
    }
    if (isRun) {
        static rbToyMoment moments[TRUTH_COUNT];
        int count = rbComputeToyTruth(&toy, SAMPLE, TRUTH_COUNT, moments);
        rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
        double before = INFINITY;
        double growth = -INFINITY;
        for (int f = 0; f < FACETS; ++f) {
            double off = compareTruth(&traces[f + 2], moments, count);
            rbValidation_Print(validation, "    %d facets: largest cosine error %.3g\n", facets[f],
                               off);
            growth = rbWorseError(growth, off - before);
            before = off;
        }
        rbValidation_AddBound(validation, "top, facets: error growth with more facets", growth,
                              0.0);
        rbValidation_AddBound(validation, "top, 32 facets: cosine error until 0.8 s", before, 0.01);
        rbValidation_AddBound(validation, "top, exact cone: cosine error until 0.8 s",
                              compareTruth(&traces[1], moments, count), 0.01);
        if (validation->plotFolder != NULL) {
            drawFacets(validation, traces);
        }
    }
    for (int f = 0; f < FACETS + 2; ++f) {
        rbFreeToyTrace(&traces[f]);
    }
}

// ------------------------------------------------------------------------------------- rattleback

// The time of the largest pitching of the long axis.
static double findPitchTime(const rbToyTrace* result)
{
    double most = 0.0;
    double time = 0.0;
    for (int i = 0; i < result->samples.count; ++i) {
        const rbToySample* sample = &result->samples.data[i];
        if (fabs(sample->up.x) > most) {
            most = fabs(sample->up.x);
            time = sample->time;
        }
    }
    return time;
}

// spun against its preferred direction, it reverses.
static void runRattleback(rbValidation* validation)
{
    const char* name = "rattleback, spin +5";
    rbToy toy = rbMakeRattleback(5.0, false);
    rbToySetting steps = {.form = RB_TOY_EXACT, .step = STEP};
    rbToyTrace a;
    rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
    if (trace(validation, name, &toy, &steps, 1.5, &a)) {
        rbValidation_AddRelative(validation, "rattleback, spin +5: time of reversal, s",
                                 rbToyTrace_FindSpin(&a, 0.0),
                                 rbFindToyTruth(&toy, RB_VEC3_ZERO, 0.0, 1.0), 0.05);
        rbValidation_AddRelative(validation, "rattleback, spin +5: time of the largest pitching, s",
                                 findPitchTime(&a),
                                 rbFindToyPitch(&toy, rbMakeVec3(1.0, 0.0, 0.0), 1.0), 0.05);
    }
    rbFreeToyTrace(&a);
    name = "rattleback, spin -5";
    toy = rbMakeRattleback(-5.0, false);
    if (trace(validation, name, &toy, &steps, 1.0, &a)) {
        rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
        rbValidation_AddBound(validation, "rattleback, spin -5: spin at 1 s, rad/s",
                              rbToyTrace_At(&a, 1.0)->spin, -4.0);
    }
    rbFreeToyTrace(&a);
}

static void run(rbValidation* validation)
{
    runTops(validation);
    runFacets(validation);
    runRattleback(validation);
}

const rbValidationCase rbCaseContactToys = {
    .name = "contact-toys",
    .group = "contacts",
    .help = "tippe top, friction facets and rattleback (E-02, X-17, X-18) in the step engine",
    .source = "table of the specification; rolling and sliding with Coulomb's law in 113 bits",
    .truth = RB_TRUTH_SECOND_METHOD,
    .run = run,
};
