// Spinning toys (E-01 to E-05): the event engine, with exact shapes and with fine meshes, against
// the tables of the specification, section 4.1, and against the motion in 113 bits (toy_truth.h).
// The tables were computed by the program of their author, with friction that is smooth below 1e-4
// m/s; in 113 bits it is Coulomb's law itself, as in the engine.
//
// A mesh is a different body: it stands on facets. Gravity and friction act at corners up to half
// an edge away from the lowest point of the smooth body, which resists rolling with that lever arm:
// at 5,000 faces 0.5 mm for the tippe top, whose initial lever arm is 0.6 mm. The position of the
// poles of the triangle net matters as much: their rings are a flat foot. A table shows how the
// times converge with the number of faces.
#include "toy_truth.h"
#include "toy_worlds.h"
#include "validation.h"

#include <rattleback/output.h>

#include <math.h>

#define POINTS_MAX 16
#define MESHES 3

// A row of a table of the specification.
typedef struct Point {
    double time;
    double value;
} Point;

// One toy.
typedef struct Toy {
    const char* name;
    rbVec3 axis; // the axis whose cosine is tracked
    bool isSpin; // the table lists the vertical spin instead
    double duration;
    double step;               // s, of the samples
    rbToyPole pole;            // of the meshes
    double deviations[MESHES]; // m, of the meshes; 0: the coarsest of 5,000 faces
    int compared;              // the mesh that is compared; the others are only shown
    double crossing;           // cosine or spin whose crossing time is compared
    rbTruth crossingTruth;     // where its true time comes from
    double printed;            // tolerance against the published table
    double exact;              // tolerance against the motion in 113 bits
    int pointCount;
    Point points[POINTS_MAX];
} Toy;

static const Toy tippeTop = {
    .name = "top",
    .axis = {0.0, 0.0, 1.0},
    .duration = 1.0,
    .step = 1e-3,
    .pole = RB_TOY_POLE_X,
    .deviations = {0.0, 1e-5, 1e-6},
    .compared = 0,
    .crossing = 0.0,
    .crossingTruth = RB_TRUTH_OTHER_PROGRAM,
    .printed = 2e-3,
    .exact = 2e-3,
    .pointCount = 11,
    .points = {{0.0, .9950},
               {0.1, .9564},
               {0.2, .8321},
               {0.3, .6043},
               {0.4, .2182},
               {0.5, -.3553},
               {0.6, -.8176},
               {0.7, -.8425},
               {0.8, -.8419},
               {0.9, -.8405},
               {1.0, -.8391}},
};

static const Toy coin = {
    .name = "coin",
    .axis = {0.0, 1.0, 0.0},
    .duration = 1.0,
    .step = 1e-3,
    .deviations = {0.0, 4.5e-10, 1.5e-10},
    .compared = 2,
    .crossing = 0.0,
    .crossingTruth = RB_TRUTH_SECOND_METHOD,
    .printed = 0.015, // the table itself has an error of 0.012: friction smooth below 1e-4 m/s
    .exact = 5e-3,
    .pointCount = 7,
    .points = {{0.0, .995},
               {.15, .950},
               {.2, .656},
               {.25, -.02},
               {.35, -.622},
               {.5, -.734},
               {.65, -.996}},
};

static const Toy egg = {
    .name = "egg",
    .axis = {1.0, 0.0, 0.0},
    .duration = 1.0,
    .step = 1.0 / 600.0,
    .deviations = {0.0, 3e-5, 1e-5},
    .compared = 2,
    .crossing = 0.5,
    .crossingTruth = RB_TRUTH_SECOND_METHOD,
    .printed = 5e-3,
    .exact = 2e-3,
    .pointCount = 6,
    .points = {{0.0, .050},
               {1.0 / 6.0, .210},
               {2.0 / 6.0, .455},
               {3.0 / 6.0, .783},
               {4.0 / 6.0, .958},
               {5.0 / 6.0, .970}},
};

static const Toy against = {
    .name = "rattleback, spin +5",
    .axis = {1.0, 0.0, 0.0},
    .isSpin = true,
    .duration = 2.0,
    .step = 1e-3,
    .deviations = {0.0, 6e-5, 2e-5},
    .compared = 2,
    .crossing = 0.0,
    .crossingTruth = RB_TRUTH_SECOND_METHOD,
    .printed = 0.02,
    .exact = 0.02,
    .pointCount = 3,
    .points = {{0.0, 5.0}, {0.5, 2.17}, {1.0, -3.52}},
};

static const Toy along = {
    .name = "rattleback, spin -5",
    .axis = {1.0, 0.0, 0.0},
    .isSpin = true,
    .duration = 2.0,
    .step = 1e-3,
    .deviations = {0.0, 6e-5, 2e-5},
    .compared = 2,
    .crossing = 0.0,
    .crossingTruth = RB_TRUTH_SECOND_METHOD,
    .printed = 0.02,
    .exact = 0.02,
    .pointCount = 3,
    .points = {{0.0, -5.0}, {1.0, -4.97}, {2.0, -4.50}},
};

// Runs a toy of the engine; false, and a failed row, when it is rejected or stops.
static bool trace(rbValidation* validation, const Toy* row, const rbToy* toy,
                  const rbToySetting* setting, rbToyTrace* result)
{
    rbError error = {0};
    rbToyWorld world = rbMakeToyWorld(toy, setting, &error);
    *result = (rbToyTrace){0};
    if (world.world == NULL) {
        rbValidation_Print(validation, "  %s\n", error.message);
        rbValidation_AddLimit(validation, row->name, NAN, 0.0);
        return false;
    }
    rbTraceToy(&world, row->axis, row->duration, row->step, result);
    if (result->status != RB_STATUS_OK) {
        rbValidation_Print(validation, "  %s\n", rbWorld_GetError(world.world).message);
        rbValidation_AddLimit(validation, row->name, NAN, 0.0);
    }
    const rbEventStatistics* s = &result->statistics;
    double start = result->samples.data[0].energy;
    rbValidation_Print(
        validation,
        "  %s, %s: %d faces, tolerance %.2g m; %lld microcollisions, %lld impacts, %.1f "
        "measurements each; they added %.2g of the energy, which rose by %.2g; drift %.2g; %.2f "
        "s\n",
        row->name, setting->form == RB_TOY_MESH ? "mesh" : "exact", world.faceCount, s->tolerance,
        (long long)s->microcollisions, (long long)s->impacts,
        (double)s->measurements / fmax(1.0, (double)s->collisions), result->microGain / start,
        rbToyTrace_GetRise(result) / start, result->energyDrift / start, result->cpu);
    rbFreeToyWorld(&world);
    return result->status == RB_STATUS_OK;
}

static double valueOf(const Toy* row, const rbToySample* sample)
{
    return row->isSpin ? sample->spin : sample->cosine;
}

static double crossingOf(const Toy* row, const rbToyTrace* result)
{
    return row->isSpin ? rbToyTrace_FindSpin(result, row->crossing)
                       : rbToyTrace_FindCosine(result, row->crossing);
}

// The value in 113 bits.
static double truthOf(const Toy* row, const rbToyMoment* moment)
{
    return row->isSpin ? moment->spin : rbDot(moment->up, row->axis);
}

// Largest difference from the motion in 113 bits at the samples up to the last point of the table,
// half a second with --quick.
static void compareTruth(rbValidation* validation, const Toy* row, const rbToy* toy,
                         const rbToyTrace* result)
{
    double until = row->points[row->pointCount - 1].time;
    until = validation->isQuick ? fmin(until, 0.5) : until;
    int count = (int)(until / row->step + 0.5) + 1;
    size_t size = (size_t)count * sizeof(rbToyMoment);
    rbToyMoment* moments = rbAlloc(size);
    double worst = rbComputeToyTruth(toy, row->step, count, moments) == count ? 0.0 : NAN;
    for (int i = 0; i < count && !isnan(worst); ++i) {
        double value = valueOf(row, rbToyTrace_At(result, moments[i].time));
        worst = rbWorseError(worst, fabs(value - truthOf(row, &moments[i])));
    }
    char text[96];
    (void)snprintf(text, sizeof text, "%s: largest difference up to %.3g s", row->name, until);
    rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
    rbValidation_AddBound(validation, text, worst, row->exact);
    rbFree(moments, size);
}

// Values at the times of the table.
static void compareTable(rbValidation* validation, const Toy* row, const rbToyTrace* result)
{
    rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
    for (int i = 0; i < row->pointCount; ++i) {
        char text[96];
        double value = valueOf(row, rbToyTrace_At(result, row->points[i].time));
        (void)snprintf(text, sizeof text, "%s: %s at %.4g s", row->name,
                       row->isSpin ? "vertical spin, rad/s" : "cosine", row->points[i].time);
        rbValidation_Add(validation, text, value, row->points[i].value, row->printed);
    }
}

// A microcollision adds the energy of a hop within the tolerance: the rise must never exceed the
// weight lifted through it.
static void checkEnergy(rbValidation* validation, const Toy* row, const rbToy* toy,
                        const rbToyTrace* result)
{
    char text[96];
    (void)snprintf(text, sizeof text, "%s: rise of energy / (m g tolerance)", row->name);
    double unit = toy->mass * toy->gravity * result->statistics.tolerance;
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbValidation_AddBound(validation, text, rbToyTrace_GetRise(result) / unit, 1.0);
    (void)snprintf(text, sizeof text, "%s: drift of the ledger / energy", row->name);
    rbValidation_AddBound(validation, text,
                          fabs(result->energyDrift) / result->samples.data[0].energy, 1e-11);
    (void)snprintf(text, sizeof text, "%s: measurements per collision", row->name);
    rbValidation_AddLimit(
        validation, text,
        (double)result->statistics.measurements / (double)result->statistics.collisions, 20.0);
}

static rbToySetting meshOf(const Toy* row, int index)
{
    rbToySetting setting = {
        .form = RB_TOY_MESH, .pole = row->pole, .deviation = row->deviations[index]};
    return setting;
}

// The time of the crossing on meshes.
static void compareMeshes(rbValidation* validation, const Toy* row, const rbToy* toy, double truth,
                          rbToyTrace* compared)
{
    for (int i = 0; i < MESHES; ++i) {
        if (i != row->compared && validation->isQuick) {
            continue;
        }
        rbToyTrace result;
        rbToySetting setting = meshOf(row, i);
        if (trace(validation, row, toy, &setting, &result)) {
            char text[96];
            (void)snprintf(text, sizeof text, "%s, mesh: time of passing %.2g, s", row->name,
                           row->crossing);
            double time = crossingOf(row, &result);
            rbValidation_SetTruth(validation, row->crossingTruth);
            if (i == row->compared) {
                rbValidation_AddRelative(validation, text, time, truth, 0.1);
            } else {
                rbValidation_Print(validation, "    passes %.2g at %.4f s, reference %.4f s\n",
                                   row->crossing, time, truth);
            }
        }
        if (i == row->compared) {
            *compared = result;
        } else {
            rbFreeToyTrace(&result);
        }
    }
}

static void drawToy(rbValidation* validation, const Toy* row, const char* file,
                    const rbToyTrace traces[RB_TOY_FORM_COUNT])
{
    if (validation->plotFolder == NULL) {
        return;
    }
    static const char* const labels[RB_TOY_FORM_COUNT] = {"event engine, exact shape",
                                                          "event engine, mesh"};
    RB_ARRAY(double) numbers = {0};
    for (int f = 0; f < RB_TOY_FORM_COUNT; ++f) {
        for (int i = 0; i < traces[f].samples.count; ++i) {
            rbArray_Push(numbers, traces[f].samples.data[i].time);
        }
        for (int i = 0; i < traces[f].samples.count; ++i) {
            rbArray_Push(numbers, valueOf(row, &traces[f].samples.data[i]));
        }
    }
    double times[POINTS_MAX];
    double values[POINTS_MAX];
    for (int i = 0; i < row->pointCount; ++i) {
        times[i] = row->points[i].time;
        values[i] = row->points[i].value;
    }
    rbPlotSeries series[RB_TOY_FORM_COUNT + 1];
    const double* next = numbers.data;
    for (int f = 0; f < RB_TOY_FORM_COUNT; ++f) {
        int count = traces[f].samples.count;
        series[f] = (rbPlotSeries){labels[f], next, next + count, count, RB_PLOT_LINES};
        next += 2 * (size_t)count;
    }
    series[RB_TOY_FORM_COUNT] =
        (rbPlotSeries){"reference table", times, values, row->pointCount, RB_PLOT_POINTS};
    rbPlotPanel panel = {.yLabel = row->isSpin ? "vertical spin [rad/s]" : "cosine to the vertical",
                         .series = series,
                         .seriesCount = RB_TOY_FORM_COUNT + 1};
    rbPlot plot = {.title = row->name, .xLabel = "time [s]", .panels = &panel, .panelCount = 1};
    char path[512];
    rbError error = {0};
    (void)snprintf(path, sizeof path, "%s/%s.svg", validation->plotFolder, file);
    if (rbPlot_WriteSvg(&plot, path, &error) != RB_STATUS_OK) {
        rbValidation_Print(validation, "  no plot: %s\n", error.message);
    } else {
        rbValidation_Print(validation, "  plot: %s\n", path);
    }
    rbArray_Free(numbers);
}

// Runs one toy completely: exact shape, mesh, plot. `truth` is the published time of the crossing.
static void compareToy(rbValidation* validation, const Toy* row, const rbToy* toy, double truth,
                       const char* file, rbToyTrace traces[RB_TOY_FORM_COUNT])
{
    rbToySetting setting = {.form = RB_TOY_EXACT};
    char text[96];
    (void)snprintf(text, sizeof text, "%s: time of passing %.2g, s", row->name, row->crossing);
    if (trace(validation, row, toy, &setting, &traces[RB_TOY_EXACT])) {
        rbValidation_SetTruth(validation, row->crossingTruth);
        rbValidation_AddRelative(validation, text, crossingOf(row, &traces[RB_TOY_EXACT]), truth,
                                 0.05);
        compareTable(validation, row, &traces[RB_TOY_EXACT]);
        compareTruth(validation, row, toy, &traces[RB_TOY_EXACT]);
        checkEnergy(validation, row, toy, &traces[RB_TOY_EXACT]);
    }
    compareMeshes(validation, row, toy, truth, &traces[RB_TOY_MESH]);
    drawToy(validation, row, file, traces);
}

static void freeTraces(rbToyTrace traces[RB_TOY_FORM_COUNT])
{
    for (int f = 0; f < RB_TOY_FORM_COUNT; ++f) {
        rbFreeToyTrace(&traces[f]);
    }
}

// ------------------------------------------------------------------------------------- the toys

// E-01, E-02
static void runTippeTop(rbValidation* validation)
{
    static const struct {
        double friction, time;
    } rows[] = {{.6, .393}, {.4, .529}, {.3, .699}, {.1, 2.02}};
    rbToy toy = rbMakeTippeTop(0.5, 150.0);
    rbToyTrace traces[RB_TOY_FORM_COUNT];
    compareToy(validation, &tippeTop, &toy, 0.438, "toy-top", traces);
    const rbToySample* last = rbToyTrace_At(&traces[RB_TOY_EXACT], 1.0);
    const rbToySample* first = rbToyTrace_At(&traces[RB_TOY_EXACT], 0.0);
    rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
    rbValidation_Add(validation, "top: vertical spin at 1 s, rad/s", last->spin, 83.9, 0.1);
    rbValidation_Add(validation, "top: energy at 1 s / initial energy",
                     last->energy / first->energy, 0.418, 0.001);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbValidation_AddBound(validation, "top: drift of Jellett's integral",
                          rbToyTrace_GetJellettDrift(&traces[RB_TOY_EXACT]), 1e-3);
    rbValidation_Print(validation, "  top, mesh of %d faces: Jellett's integral drifts by %.2g\n",
                       traces[RB_TOY_MESH].faceCount,
                       rbToyTrace_GetJellettDrift(&traces[RB_TOY_MESH]));
    freeTraces(traces);
    if (!validation->isQuick) {
        // The integral holds for a smooth sphere: the mesh must be as fine as the tolerance.
        rbToySetting fine = {.form = RB_TOY_MESH, .deviation = 5e-7};
        rbToyTrace result;
        if (trace(validation, &tippeTop, &toy, &fine, &result)) {
            rbValidation_AddBound(validation, "top, finest mesh: drift of Jellett's integral",
                                  rbToyTrace_GetJellettDrift(&result), 1e-2);
            rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
            rbValidation_AddRelative(validation, "top, finest mesh: time of passing 0, s",
                                     crossingOf(&tippeTop, &result), 0.438, 0.1);
        }
        rbFreeToyTrace(&result);
    }
    int count = validation->isQuick ? 3 : 4;
    for (int i = 0; i < count; ++i) {
        rbToySetting setting = {.form = RB_TOY_EXACT};
        Toy row = tippeTop;
        rbToyTrace result;
        char text[96];
        toy = rbMakeTippeTop(rows[i].friction, 150.0);
        row.duration = rows[i].time * 1.2;
        (void)snprintf(text, sizeof text, "top, friction %.1f: time of inversion, s",
                       rows[i].friction);
        if (trace(validation, &row, &toy, &setting, &result)) {
            rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
            rbValidation_AddRelative(validation, text, crossingOf(&row, &result), rows[i].time,
                                     0.05);
        }
        rbFreeToyTrace(&result);
    }
}

static void runSlowTops(rbValidation* validation)
{
    static const double spins[] = {20.0, 40.0, 60.0, 80.0};
    for (int i = 0; i < 4; ++i) {
        rbToy toy = rbMakeTippeTop(0.3, spins[i]);
        rbToySetting setting = {.form = RB_TOY_EXACT};
        Toy row = tippeTop;
        rbToyTrace result;
        char text[96];
        row.duration = validation->isQuick ? 1.0 : 5.0;
        row.step = 5e-3;
        (void)snprintf(text, sizeof text, "top, %.0f rad/s, friction 0.3: largest tilt, 1 - cos",
                       spins[i]);
        if (trace(validation, &row, &toy, &setting, &result)) {
            double least = 1.0;
            for (int k = 0; k < result.samples.count; ++k) {
                least = fmin(least, result.samples.data[k].cosine);
            }
            rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
            rbValidation_AddBound(validation, text, 1.0 - least, 0.02);
        }
        rbFreeToyTrace(&result);
    }
}

// E-03
static void runCoin(rbValidation* validation)
{
    rbToy toy = rbMakeCoin();
    rbToyTrace traces[RB_TOY_FORM_COUNT];
    double truth = rbFindToyTruth(&toy, coin.axis, 0.0, 1.0);
    compareToy(validation, &coin, &toy, truth, "toy-coin", traces);
    for (int f = 0; f < RB_TOY_FORM_COUNT; ++f) {
        double highest = -1.0;
        for (int i = 0; i < traces[f].samples.count; ++i) {
            const rbToySample* sample = &traces[f].samples.data[i];
            highest = sample->time >= 0.35 ? fmax(highest, sample->cosine) : highest;
        }
        rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
        rbValidation_AddBound(validation,
                              f == RB_TOY_EXACT ? "coin: highest hole after 0.35 s"
                                                : "coin, mesh: highest hole after 0.35 s",
                              highest, -0.4);
    }
    freeTraces(traces);
}

// E-04
static void runEgg(rbValidation* validation)
{
    rbToy toy = rbMakeEgg();
    rbToyTrace traces[RB_TOY_FORM_COUNT];
    double truth = rbFindToyTruth(&toy, egg.axis, 0.5, 1.0);
    compareToy(validation, &egg, &toy, truth, "toy-egg", traces);
    const rbToySample* late = rbToyTrace_At(&traces[RB_TOY_EXACT], 5.0 / 6.0);
    const rbToySample* first = rbToyTrace_At(&traces[RB_TOY_EXACT], 0.0);
    rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
    rbValidation_Add(validation, "egg: energy at 5/6 s / initial energy",
                     late->energy / first->energy, 0.792, 0.002);
    rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
    rbValidation_AddBound(validation, "egg: time of rising to 0.95, s",
                          rbToyTrace_FindCosine(&traces[RB_TOY_EXACT], 0.95) < 0.0
                              ? NAN
                              : rbToyTrace_FindCosine(&traces[RB_TOY_EXACT], 0.95),
                          1.0);
    rbValidation_AddBound(validation, "egg, mesh: time of rising to 0.95, s",
                          rbToyTrace_FindCosine(&traces[RB_TOY_MESH], 0.95) < 0.0
                              ? NAN
                              : rbToyTrace_FindCosine(&traces[RB_TOY_MESH], 0.95),
                          1.0);
    freeTraces(traces);
}

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

// E-05
static void runRattleback(rbValidation* validation)
{
    rbToy toy = rbMakeRattleback(5.0, false);
    rbToyTrace traces[RB_TOY_FORM_COUNT];
    double truth = rbFindToyTruth(&toy, RB_VEC3_ZERO, 0.0, 1.0);
    compareToy(validation, &against, &toy, truth, "toy-rattleback", traces);
    rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
    rbValidation_AddBound(validation, "rattleback, spin +5: time of reversal, s",
                          rbToyTrace_FindSpin(&traces[RB_TOY_EXACT], 0.0), 1.0);
    rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
    rbValidation_AddRelative(validation, "rattleback, spin +5: time of the largest pitching, s",
                             findPitchTime(&traces[RB_TOY_EXACT]),
                             rbFindToyPitch(&toy, rbMakeVec3(1.0, 0.0, 0.0), 1.0), 0.05);
    for (int f = 0; f < RB_TOY_FORM_COUNT; ++f) {
        rbToy mirror = rbMakeRattleback(-5.0, true);
        rbToySetting setting = meshOf(&against, against.compared);
        setting.form = (rbToyForm)f;
        Toy row = against;
        rbToyTrace result;
        row.name = "mirror, spin -5";
        if (trace(validation, &row, &mirror, &setting, &result)) {
            rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
            rbValidation_AddRelative(
                validation,
                f == RB_TOY_EXACT ? "mirror, spin -5: time of reversal, s"
                                  : "mirror, spin -5, mesh: time of reversal, s",
                rbToyTrace_FindSpin(&result, 0.0), truth, f == RB_TOY_EXACT ? 0.05 : 0.1);
            rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
            rbValidation_AddBound(validation, "mirror, spin -5: minus the spin at 1 s, rad/s",
                                  -rbToyTrace_At(&result, 1.0)->spin, 0.0);
        }
        rbFreeToyTrace(&result);
    }
    freeTraces(traces);

    toy = rbMakeRattleback(-5.0, false);
    rbToySetting setting = {.form = RB_TOY_EXACT};
    rbToyTrace result;
    if (trace(validation, &along, &toy, &setting, &result)) {
        compareTable(validation, &along, &result);
        if (!validation->isQuick) {
            compareTruth(validation, &along, &toy, &result);
        }
        checkEnergy(validation, &along, &toy, &result);
        rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
        rbValidation_AddBound(validation, "rattleback, spin -5: spin at 2 s, rad/s",
                              rbToyTrace_At(&result, 2.0)->spin, -4.0);
    }
    rbFreeToyTrace(&result);
}

static void run(rbValidation* validation)
{
    runTippeTop(validation);
    runSlowTops(validation);
    runCoin(validation);
    runEgg(validation);
    runRattleback(validation);
}

const rbValidationCase rbCaseToys = {
    .name = "toys",
    .help = "tippe top, coin, egg, rattleback and its mirror on the event engine (E-01 to E-05)",
    .source =
        "tables of the specification, 4.1 (its author's program, sources' own claims); rolling "
        "and sliding with Coulomb's law in 113 bits",
    .truth = RB_TRUTH_OTHER_PROGRAM,
    .run = run,
};
