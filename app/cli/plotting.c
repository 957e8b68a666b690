// The output format "plot": the probes that the scene requests, in up to ten panels, each with its
// name and unit, above the drift of energy and momentum. Without probes: the positions of the first
// bodies of a mechanism, or the spin of the first body. Keeps at most a few thousand samples,
// however long the run is.
//
// Samples are stored column by column. When the storage is full, every second sample is dropped,
// and from then on only every second one is taken, so that the curve keeps an even spacing.
//
// Every probe that the scene requests is drawn, in its order. Which curves share a panel is decided
// at the end, when their ranges are known: values of one unit, none of them flattened by the
// others.
#include "base/core/memory.h"
#include "cli/output_format.h"
#include "io/output/state_stream.h"

#include <rattleback/output.h>

#include <math.h>
#include <string.h>

#define SAMPLES_MAX 4096
#define PANELS_MAX 10 // of probes
#define DRIFT_PANELS_MAX 2
#define COLUMNS_MAX 96
#define CURVES_MAX 6 // in a shared panel
#define LABEL_SIZE 240
#define FLAT_PART 0.04  // of the panel height: a curve that varies by less gets its own panel
#define AWAY_FACTOR 3.0 // a constant may widen a panel by this factor

// The source of the values of a curve.
typedef enum rbPlotSource {
    RB_SOURCE_PROBE,
    RB_SOURCE_SPIN_X,
    RB_SOURCE_SPIN_Y,
    RB_SOURCE_SPIN_Z,
    RB_SOURCE_ENERGY_DRIFT,
    RB_SOURCE_MOMENTUM_DRIFT,
    RB_SOURCE_SPIN_DRIFT,
} rbPlotSource;

typedef struct rbPlotColumn {
    rbPlotSource source;
    int probeColumn; // column of the scene's probes
    int probe;       // likewise; -1: another source
} rbPlotColumn;

typedef struct rbPlotterPanel {
    char label[LABEL_SIZE];
    int columns[CURVES_MAX];
    const char* curves[CURVES_MAX]; // labels; NULL or empty: not in the legend
    int count;
    const char* unit;
    bool isShared; // holds values, and accepts more of the same unit
    double low, high;
} rbPlotterPanel;

typedef struct rbPlotter {
    const rbScene* scene;
    rbBodyId body; // whose spin is drawn when the scene has no probes; null: none
    char bodyName[64];
    rbPlotColumn columns[COLUMNS_MAX];
    int columnCount;
    int leftOut; // probes that did not fit
    int sampleCount;
    int64_t offered;
    int64_t stride;
    double times[SAMPLES_MAX];
    double samples[COLUMNS_MAX][SAMPLES_MAX];
} rbPlotter;

// Readable names of quantities, where they differ from the name in scene files.
static const char* const quantityWords[RB_PROBE_COUNT] = {
    [RB_PROBE_CENTER] = "center of mass",
    [RB_PROBE_ANGULAR_VELOCITY] = "spin",
    [RB_PROBE_ANGULAR_VELOCITY_LOCAL] = "spin, body axes",
    [RB_PROBE_KINETIC] = "kinetic energy",
    [RB_PROBE_POTENTIAL] = "potential energy",
    [RB_PROBE_ANGULAR_MOMENTUM] = "angular momentum",
    [RB_PROBE_ENERGY_DRIFT] = "energy drift",
    [RB_PROBE_IMPACT_WORK] = "work of impacts",
    [RB_PROBE_FRICTION_WORK] = "work of friction",
    [RB_PROBE_MICRO_WORK] = "work of microcollisions",
    [RB_PROBE_REST_WORK] = "work of coming to rest",
    [RB_PROBE_PAIRS] = "near pairs",
    [RB_PROBE_MOTOR_TARGET] = "set point",
    [RB_PROBE_POSITION_ERROR] = "opening",
    [RB_PROBE_ANGLE_ERROR] = "twist",
    [RB_PROBE_POINT_A] = "point A",
    [RB_PROBE_POINT_B] = "point B",
    [RB_PROBE_SPRING_ENERGY] = "energy of springs",
    [RB_PROBE_MOTOR_WORK] = "work of motors",
    [RB_PROBE_DISSIPATION] = "work of damping and friction",
    [RB_PROBE_JOINT_ERROR] = "largest joint error so far",
    [RB_PROBE_JOINT_ANGLE_ERROR] = "largest joint angle error so far",
    [RB_PROBE_SUBSTEPS] = "sub-steps",
    [RB_PROBE_POSITION_ITERATIONS] = "position iterations",
    [RB_PROBE_ACCURACY_ESTIMATE] = "estimated error",
    [RB_PROBE_CONTACTS] = "contact points",
    [RB_PROBE_CONTACT_FORCE] = "force of contacts",
    [RB_PROBE_CONTACT_COLLISIONS] = "collisions",
    [RB_PROBE_CONTACT_SWEEPS] = "sweeps",
    [RB_PROBE_DEEPEST] = "deepest overlap so far",
    [RB_PROBE_FROZEN] = "frozen bodies",
};

static const char* getQuantityWords(rbProbeQuantity quantity)
{
    const char* words = quantity < RB_PROBE_COUNT ? quantityWords[quantity] : NULL;
    return words != NULL ? words : rbProbeQuantity_Name(quantity);
}

// ----------------------------------------------------------------------------------- what is drawn

static void addColumn(rbPlotter* plotter, rbPlotSource source, int probeColumn, int probe)
{
    RB_ASSERT(plotter->columnCount < COLUMNS_MAX);
    plotter->columns[plotter->columnCount++] =
        (rbPlotColumn){.source = source, .probeColumn = probeColumn, .probe = probe};
}

// Reserves space for the drift columns.
static void addProbe(rbPlotter* plotter, int index)
{
    const rbProbe* probe = rbScene_GetProbe(plotter->scene, index);
    if (plotter->columnCount + probe->columnCount > COLUMNS_MAX - 3) {
        ++plotter->leftOut;
        return;
    }
    for (int k = 0; k < probe->columnCount; ++k) {
        addColumn(plotter, RB_SOURCE_PROBE, probe->firstColumn + k, index);
    }
}

// Without probes, a mechanism shows the positions of its first bodies; any other scene shows the
// spin of its first body.
static void addDefaults(rbPlotter* plotter, const rbWorld* world)
{
    const rbSceneInfo* info = rbScene_GetInfo(plotter->scene);
    if (info->engineTraits.isStepped) {
        for (int i = 0; i < info->probeCount; ++i) {
            if (rbScene_GetProbe(plotter->scene, i)->quantity == RB_PROBE_POSITION) {
                addProbe(plotter, i);
            }
        }
        return;
    }
    int count = rbWorld_GetBodyCount(world);
    rbBodyId* ids = rbAlloc((size_t)count * sizeof *ids);
    (void)rbWorld_GetBodyIds(world, ids, count);
    for (int i = 0; i < count && RB_IS_NULL(plotter->body); ++i) {
        if (rbBody_GetType(world, ids[i]) == RB_BODY_DYNAMIC) {
            plotter->body = ids[i];
        }
    }
    rbFree(ids, (size_t)count * sizeof *ids);
    if (!RB_IS_NULL(plotter->body)) {
        (void)snprintf(plotter->bodyName, sizeof plotter->bodyName, "%s",
                       rbBody_GetName(world, plotter->body));
        addColumn(plotter, RB_SOURCE_SPIN_X, 0, -1);
        addColumn(plotter, RB_SOURCE_SPIN_Y, 0, -1);
        addColumn(plotter, RB_SOURCE_SPIN_Z, 0, -1);
    }
}

static rbPlotter* createPlotter(const rbScene* scene, const rbWorld* world)
{
    rbPlotter* plotter = rbAllocZero(1, sizeof *plotter);
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    bool hasDrift = false;
    plotter->scene = scene;
    plotter->stride = 1;
    if (info->hasDefaultProbes) {
        addDefaults(plotter, world);
    } else {
        for (int i = 0; i < info->probeCount; ++i) {
            addProbe(plotter, i);
            rbProbeQuantity quantity = rbScene_GetProbe(scene, i)->quantity;
            hasDrift = hasDrift || quantity == RB_PROBE_ENERGY_DRIFT;
        }
    }
    if ((info->dynamicCount > 0 && !hasDrift) || plotter->columnCount == 0) {
        addColumn(plotter, RB_SOURCE_ENERGY_DRIFT, 0, -1);
    }
    bool hasMomenta = info->forceCount == 0 && info->engineTraits.isFlightOnly;
    if (info->dynamicCount > 0 && hasMomenta) {
        addColumn(plotter, RB_SOURCE_MOMENTUM_DRIFT, 0, -1);
        addColumn(plotter, RB_SOURCE_SPIN_DRIFT, 0, -1);
    }
    return plotter;
}

static void destroyPlotter(rbPlotter* plotter)
{
    rbFree(plotter, plotter != NULL ? sizeof *plotter : 0);
}

static void halve(rbPlotter* plotter)
{
    int half = plotter->sampleCount / 2;
    for (ptrdiff_t i = 0; i < half; ++i) {
        plotter->times[i] = plotter->times[2 * i];
        for (int c = 0; c < plotter->columnCount; ++c) {
            plotter->samples[c][i] = plotter->samples[c][2 * i];
        }
    }
    plotter->sampleCount = half;
    plotter->stride *= 2;
}

static void addSample(rbPlotter* plotter, const rbWorld* world, const double* values,
                      const rbTally* tally)
{
    if (plotter->offered++ % plotter->stride != 0) {
        return;
    }
    if (plotter->sampleCount == SAMPLES_MAX) {
        halve(plotter); // the current sample is an even one, because the capacity is even
    }
    rbVec3 spin = {NAN, NAN, NAN};
    if (rbBody_IsValid(world, plotter->body)) {
        spin = rbBody_GetState(world, plotter->body).angularVelocityLocal;
    }
    const double others[] = {[RB_SOURCE_SPIN_X] = spin.x,
                             [RB_SOURCE_SPIN_Y] = spin.y,
                             [RB_SOURCE_SPIN_Z] = spin.z,
                             [RB_SOURCE_ENERGY_DRIFT] = tally->drift.energy,
                             [RB_SOURCE_MOMENTUM_DRIFT] = tally->drift.momentum,
                             [RB_SOURCE_SPIN_DRIFT] = tally->drift.spin};
    int index = plotter->sampleCount++;
    plotter->times[index] = rbWorld_GetTime(world);
    for (int c = 0; c < plotter->columnCount; ++c) {
        const rbPlotColumn* column = &plotter->columns[c];
        plotter->samples[c][index] = column->source == RB_SOURCE_PROBE ? values[column->probeColumn]
                                                                       : others[column->source];
    }
}

// ------------------------------------------------------------------------------------- the panels

typedef struct rbPanelList {
    rbPlotterPanel panels[PANELS_MAX + DRIFT_PANELS_MAX];
    int count;
    int leftOut; // probes that did not fit
} rbPanelList;

static void measureColumn(const rbPlotter* plotter, int column, double* low, double* high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < plotter->sampleCount; ++i) {
        double value = plotter->samples[column][i];
        if (isfinite(value)) {
            *low = fmin(*low, value);
            *high = fmax(*high, value);
        }
    }
}

static bool isSeen(double span, double widest, double height)
{
    return span > 0.0 ? span >= FLAT_PART * height : height <= AWAY_FACTOR * widest;
}

// Whether all curves of a panel and one more are distinguishable from straight lines.
static bool fits(const rbPlotter* plotter, const rbPlotterPanel* panel, int column)
{
    double low = 0.0;
    double high = 0.0;
    double widest = 0.0;
    double spans[CURVES_MAX + 1];
    measureColumn(plotter, column, &low, &high);
    spans[panel->count] = high - low;
    double height = fmax(panel->high, high) - fmin(panel->low, low);
    for (int i = 0; i < panel->count; ++i) {
        measureColumn(plotter, panel->columns[i], &low, &high);
        spans[i] = high - low;
    }
    for (int i = 0; i <= panel->count; ++i) {
        widest = fmax(widest, spans[i]);
    }
    bool isFit = true;
    for (int i = 0; i <= panel->count; ++i) {
        isFit = isFit && isSeen(spans[i], widest, height);
    }
    return isFit;
}

static void addCurve(const rbPlotter* plotter, rbPlotterPanel* panel, int column, const char* label)
{
    double low = 0.0;
    double high = 0.0;
    RB_ASSERT(panel->count < CURVES_MAX);
    measureColumn(plotter, column, &low, &high);
    panel->low = panel->count > 0 ? fmin(panel->low, low) : low;
    panel->high = panel->count > 0 ? fmax(panel->high, high) : high;
    panel->columns[panel->count] = column;
    panel->curves[panel->count++] = label;
}

// The panel where a value may be drawn next to others, NULL if none.
static rbPlotterPanel* findPanel(const rbPlotter* plotter, rbPanelList* list, int column,
                                 const char* unit)
{
    for (int i = 0; i < list->count; ++i) {
        rbPlotterPanel* panel = &list->panels[i];
        if (panel->isShared && panel->count < CURVES_MAX && strcmp(panel->unit, unit) == 0 &&
            fits(plotter, panel, column)) {
            return panel;
        }
    }
    return NULL;
}

static void addUnit(char* label, const char* unit)
{
    size_t length = strlen(label);
    if (strcmp(unit, "1") != 0) {
        (void)snprintf(label + length, LABEL_SIZE - length, " [%s]", unit);
    }
}

// "joint drive: angle [rad]", or with the scene's name for the probe before it.
static void labelProbe(const rbProbe* probe, const char* unit, char* label)
{
    const char* subject = probe->body != NULL    ? probe->body
                          : probe->joint != NULL ? probe->joint
                                                 : probe->spring;
    const char* kind = probe->body != NULL ? "body" : probe->joint != NULL ? "joint" : "spring";
    const char* words = getQuantityWords(probe->quantity);
    char plain[160];
    (void)snprintf(plain, sizeof plain, "%s.%s", subject != NULL ? subject : "world",
                   rbProbeQuantity_Name(probe->quantity));
    bool isNamed = strcmp(plain, probe->name) != 0;
    if (subject == NULL) {
        (void)snprintf(label, LABEL_SIZE, "%s%s%s", isNamed ? probe->name : "", isNamed ? ": " : "",
                       words);
    } else {
        (void)snprintf(label, LABEL_SIZE, "%s%s%s %s%s %s", isNamed ? probe->name : "",
                       isNamed ? ": " : "", kind, subject, isNamed ? "," : ":", words);
    }
    addUnit(label, unit);
}

// The quantities of the values of a panel, each once.
static void labelShared(const rbPlotter* plotter, rbPlotterPanel* panel)
{
    size_t used = 0;
    for (int i = 0; i < panel->count; ++i) {
        int probe = plotter->columns[panel->columns[i]].probe;
        rbProbeQuantity quantity = rbScene_GetProbe(plotter->scene, probe)->quantity;
        bool isNew = true;
        for (int k = 0; k < i; ++k) {
            int other = plotter->columns[panel->columns[k]].probe;
            isNew = isNew && rbScene_GetProbe(plotter->scene, other)->quantity != quantity;
        }
        if (isNew && used < LABEL_SIZE - 1) {
            used += (size_t)snprintf(panel->label + used, LABEL_SIZE - used, "%s%s",
                                     used > 0 ? ", " : "", getQuantityWords(quantity));
        }
    }
    addUnit(panel->label, panel->unit);
}

// The name of a probe in a legend; "world." would add nothing.
static const char* getShortName(const rbProbe* probe)
{
    static const char world[] = "world.";
    bool isPlain = strncmp(probe->name, world, sizeof world - 1) == 0;
    return isPlain ? probe->name + sizeof world - 1 : probe->name;
}

// Adds the columns of a probe to a panel, starting at first.
static void placeProbe(const rbPlotter* plotter, rbPanelList* list, int first)
{
    int count = 0;
    const rbProbeColumn* columns = rbScene_GetProbeColumns(plotter->scene, &count);
    const rbProbe* probe = rbScene_GetProbe(plotter->scene, plotter->columns[first].probe);
    const char* unit = columns[probe->firstColumn].unit;
    bool isNumber = probe->columnCount == 1;
    rbPlotterPanel* panel = isNumber ? findPanel(plotter, list, first, unit) : NULL;
    if (panel != NULL) {
        addCurve(plotter, panel, first, getShortName(probe));
        return;
    }
    if (list->count == PANELS_MAX) {
        ++list->leftOut;
        return;
    }
    panel = &list->panels[list->count++];
    *panel = (rbPlotterPanel){.unit = unit, .isShared = isNumber};
    labelProbe(probe, unit, panel->label);
    for (int k = 0; k < probe->columnCount; ++k) {
        const char* dot = strrchr(columns[probe->firstColumn + k].name, '.');
        addCurve(plotter, panel, first + k,
                 isNumber || dot == NULL ? getShortName(probe) : dot + 1);
    }
}

// Curves that are not probes, with their panels.
static const struct {
    const char* panel; // NULL: that of the previous curve
    const char* curve;
} otherCurves[] = {
    [RB_SOURCE_SPIN_X] = {"spin, body axes [rad/s]", "x"},
    [RB_SOURCE_SPIN_Y] = {NULL, "y"},
    [RB_SOURCE_SPIN_Z] = {NULL, "z"},
    [RB_SOURCE_ENERGY_DRIFT] = {"energy drift, relative", ""},
    [RB_SOURCE_MOMENTUM_DRIFT] = {"momentum drift, relative", "linear"},
    [RB_SOURCE_SPIN_DRIFT] = {NULL, "spin"},
};

static void placeOther(const rbPlotter* plotter, rbPanelList* list, int column)
{
    rbPlotSource source = plotter->columns[column].source;
    if (otherCurves[source].panel != NULL) {
        RB_ASSERT(list->count < PANELS_MAX + DRIFT_PANELS_MAX);
        rbPlotterPanel* panel = &list->panels[list->count++];
        *panel = (rbPlotterPanel){.unit = ""};
        bool isSpin = source == RB_SOURCE_SPIN_X;
        (void)snprintf(panel->label, LABEL_SIZE, "%s%s%s", isSpin ? plotter->bodyName : "",
                       isSpin ? " " : "", otherCurves[source].panel);
    }
    addCurve(plotter, &list->panels[list->count - 1], column, otherCurves[source].curve);
}

static void planPanels(const rbPlotter* plotter, rbPanelList* list)
{
    memset(list, 0, sizeof *list);
    list->leftOut = plotter->leftOut;
    for (int c = 0; c < plotter->columnCount; ++c) {
        int probe = plotter->columns[c].probe;
        if (probe < 0) {
            placeOther(plotter, list, c);
        } else if (c == 0 || plotter->columns[c - 1].probe != probe) {
            placeProbe(plotter, list, c);
        }
    }
    for (int i = 0; i < list->count; ++i) {
        rbPlotterPanel* panel = &list->panels[i];
        if (panel->isShared && panel->count > 1) {
            labelShared(plotter, panel);
        } else if (panel->isShared) {
            panel->curves[0] = NULL; // the label names it
        }
    }
}

// Drift at round-off level jumps from sample to sample: draw points, not a curve. Set points are
// dashed, to distinguish them from actual values.
static rbPlotStyle chooseStyle(const rbPlotter* plotter, int column)
{
    const rbPlotColumn* source = &plotter->columns[column];
    if (source->source >= RB_SOURCE_ENERGY_DRIFT) {
        return RB_PLOT_POINTS;
    }
    bool isTarget =
        source->probe >= 0 &&
        rbScene_GetProbe(plotter->scene, source->probe)->quantity == RB_PROBE_MOTOR_TARGET;
    return isTarget ? RB_PLOT_DASHES : RB_PLOT_LINES;
}

static rbStatus writePlot(const rbPlotter* plotter, const char* path, rbError* error)
{
    const rbSceneInfo* info = rbScene_GetInfo(plotter->scene);
    rbPanelList* list = rbAlloc(sizeof *list);
    rbPlotPanel panels[PANELS_MAX + DRIFT_PANELS_MAX] = {0};
    rbPlotSeries series[PANELS_MAX + DRIFT_PANELS_MAX][CURVES_MAX] = {0};
    char xLabel[96] = "time [s]";
    planPanels(plotter, list);
    for (int p = 0; p < list->count; ++p) {
        const rbPlotterPanel* panel = &list->panels[p];
        for (int k = 0; k < panel->count; ++k) {
            int c = panel->columns[k];
            series[p][k] = (rbPlotSeries){.label = panel->curves[k],
                                          .x = plotter->times,
                                          .y = plotter->samples[c],
                                          .count = plotter->sampleCount,
                                          .style = chooseStyle(plotter, c)};
        }
        panels[p] =
            (rbPlotPanel){.yLabel = panel->label, .series = series[p], .seriesCount = panel->count};
    }
    if (list->leftOut > 0) {
        (void)snprintf(xLabel, sizeof xLabel, "time [s]     (%d more probe%s: --csv has all)",
                       list->leftOut, list->leftOut == 1 ? "" : "s");
    }
    rbPlot plot = {.title = info->title[0] != '\0' ? info->title : info->name,
                   .xLabel = xLabel,
                   .panels = panels,
                   .panelCount = list->count};
    rbStatus status = rbPlot_WriteSvg(&plot, path, error);
    rbFree(list, sizeof *list);
    return status;
}

// ------------------------------------------------------------------------------------ the format

static bool checkPlot(const rbArguments* arguments)
{
    const char* path = rbArguments_Get(arguments, "--plot");
    size_t length = path != NULL ? strlen(path) : 0;
    if (path != NULL && (length < 4 || strcmp(path + length - 4, ".svg") != 0)) {
        (void)rbFail("--plot is '%s'; the name must end in .svg", path);
        return false;
    }
    return true;
}

// The samples so far.
static void movePlotter(rbPlotter* plotter, rbStateStream* stream)
{
    rbStateStream_Int(stream, &plotter->sampleCount, 0, SAMPLES_MAX);
    rbStateStream_Integer(stream, &plotter->offered, 0, INT64_MAX);
    rbStateStream_Integer(stream, &plotter->stride, 1, INT64_MAX / 2);
    size_t count = (size_t)plotter->sampleCount;
    rbStateStream_Numbers(stream, plotter->times, count);
    for (int c = 0; c < plotter->columnCount; ++c) {
        rbStateStream_Numbers(stream, plotter->samples[c], count);
    }
}

static void* openPlot(const rbOutputRun* run, const char* path, rbError* error)
{
    (void)path;
    (void)error;
    rbPlotter* plotter = createPlotter(run->scene, run->world);
    if (run->state != NULL) {
        movePlotter(plotter, run->state);
    }
    return plotter;
}

static rbStatus savePlot(void* writer, rbStateStream* stream, rbError* error)
{
    (void)error;
    movePlotter(writer, stream);
    return RB_STATUS_OK;
}

static rbStatus writePlotFrame(void* writer, const rbOutputRun* run, rbError* error)
{
    (void)error;
    addSample(writer, run->world, run->values + 1, run->tally);
    return RB_STATUS_OK;
}

static void abandonPlot(void* writer)
{
    destroyPlotter(writer);
}

static rbStatus finishPlot(void* writer, const rbOutputRun* run, rbError* error)
{
    rbStatus status = writePlot(writer, rbArguments_Get(run->arguments, "--plot"), error);
    destroyPlotter(writer);
    return status;
}

const rbOutputFormat rbPlotFormat = {
    .kind = "plot",
    .option = {"--plot", "FILE",
               "plots (.svg) the probes of the scene (without probes, the spin) and the drift"},
    .needsProbes = true,
    .check = checkPlot,
    .open = openPlot,
    .writeFrame = writePlotFrame,
    .finish = finishPlot,
    .abandon = abandonPlot,
    .save = savePlot,
};
