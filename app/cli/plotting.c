// Samples lie column by column. When the room is full every second sample is dropped and from then
// on only every second one is taken, so that the curve keeps an even spacing.
#include "cli/plotting.h"

#include "base/core/memory.h"

#include <rattleback/output.h>

#include <string.h>

#define SAMPLES_MAX 4096
#define PROBE_PANELS_MAX 3
#define COLUMNS_MAX 40

// A curve of a panel: where its numbers come from.
typedef struct rbPlotColumn {
    int probeColumn; // of the scene's probes; -1: another source
    char label[80];
} rbPlotColumn;

struct rbPlotter {
    const rbScene* scene;
    rbBodyId body; // whose spin is drawn when the scene has no probes of its own; null: none
    char bodyName[64];
    int panelFirst[PROBE_PANELS_MAX + 3]; // first column of each panel, and the end
    char panelLabels[PROBE_PANELS_MAX + 2][96];
    int panelCount;
    rbPlotColumn columns[COLUMNS_MAX];
    int columnCount;
    bool hasMomenta;
    int sampleCount;
    int64_t offered;
    int64_t stride;
    double times[SAMPLES_MAX];
    double samples[COLUMNS_MAX][SAMPLES_MAX];
};

static void addPanel(rbPlotter* plotter, const char* label)
{
    RB_ASSERT(plotter->panelCount < PROBE_PANELS_MAX + 2);
    (void)snprintf(plotter->panelLabels[plotter->panelCount], sizeof plotter->panelLabels[0], "%s",
                   label);
    plotter->panelFirst[plotter->panelCount++] = plotter->columnCount;
}

static void addColumn(rbPlotter* plotter, const char* label, int probeColumn)
{
    if (plotter->columnCount < COLUMNS_MAX) {
        rbPlotColumn* column = &plotter->columns[plotter->columnCount++];
        column->probeColumn = probeColumn;
        (void)snprintf(column->label, sizeof column->label, "%s", label);
    }
}

// Which probes are drawn when there are several: rotation first, because it is what is hard. Sums
// of the world are left out: the panels of drift show them a million times larger.
static const struct {
    const char* text; // on the axis, after the name of the body
    rbProbeQuantity quantity;
    bool isDullInFlight; // not drawn beside a spin in body axes: a parabola
} drawn[] = {
    {"spin, body axes", RB_PROBE_ANGULAR_VELOCITY_LOCAL, false},
    {"velocity", RB_PROBE_VELOCITY, false},
    {"spin", RB_PROBE_ANGULAR_VELOCITY, false},
    {"orientation", RB_PROBE_ORIENTATION, false},
    {"position", RB_PROBE_POSITION, true},
    {"center", RB_PROBE_CENTER, true},
    {"point", RB_PROBE_POINT, false},
    {"angular momentum", RB_PROBE_ANGULAR_MOMENTUM, true},
    {"momentum", RB_PROBE_MOMENTUM, true},
    {"kinetic energy", RB_PROBE_KINETIC, true},
    {"angle", RB_PROBE_ANGLE, false},
    {"travel", RB_PROBE_TRAVEL, false},
    {"speed", RB_PROBE_SPEED, false},
    {"length", RB_PROBE_LENGTH, false},
    {"tension", RB_PROBE_TENSION, false},
    {"drive", RB_PROBE_DRIVE, false},
    {"set point", RB_PROBE_MOTOR_TARGET, false},
    {"force", RB_PROBE_FORCE, false},
    {"torque", RB_PROBE_TORQUE, false},
    {"point A", RB_PROBE_POINT_A, false},
    {"point B", RB_PROBE_POINT_B, false},
    {"opening", RB_PROBE_POSITION_ERROR, false},
    {"twist", RB_PROBE_ANGLE_ERROR, false},
    {"energy", RB_PROBE_SPRING_ENERGY, false},
    {"largest joint error", RB_PROBE_JOINT_ERROR, false},
    {"largest joint angle error", RB_PROBE_JOINT_ANGLE_ERROR, false},
};

static const char* getSubject(const rbProbe* probe)
{
    return probe->body != NULL     ? probe->body
           : probe->joint != NULL  ? probe->joint
           : probe->spring != NULL ? probe->spring
                                   : "world";
}

static void addProbePanel(rbPlotter* plotter, const rbProbe* probe, const char* text)
{
    int count = 0;
    const rbProbeColumn* columns = rbScene_GetProbeColumns(plotter->scene, &count);
    char label[96];
    const char* unit = columns[probe->firstColumn].unit;
    bool hasUnit = strcmp(unit, "1") != 0;
    (void)snprintf(label, sizeof label, hasUnit ? "%.20s %s [%.12s]" : "%.20s %s",
                   getSubject(probe), text, unit);
    addPanel(plotter, label);
    for (int k = 0; k < probe->columnCount; ++k) {
        const char* name = columns[probe->firstColumn + k].name;
        const char* dot = strrchr(name, '.');
        bool isAlone = probe->columnCount == 1;
        addColumn(plotter, isAlone || dot == NULL ? "" : dot + 1, probe->firstColumn + k);
    }
}

// Mechanisms are too different for one order of interest: the scene's own counts.
static void addPanelsInOrder(rbPlotter* plotter, int probeCount)
{
    for (int i = 0; i < probeCount; ++i) {
        const rbProbe* probe = rbScene_GetProbe(plotter->scene, i);
        for (size_t d = 0; d < sizeof drawn / sizeof drawn[0]; ++d) {
            bool isSum = probe->body == NULL && probe->joint == NULL && probe->spring == NULL &&
                         probe->quantity < RB_PROBE_JOINT_ERROR;
            if (probe->quantity == drawn[d].quantity && !isSum &&
                plotter->panelCount < PROBE_PANELS_MAX) {
                addProbePanel(plotter, probe, drawn[d].text);
            }
        }
    }
}

// Panels for the probes that the scene asks for, up to PROBE_PANELS_MAX.
static void addProbePanels(rbPlotter* plotter)
{
    const rbSceneInfo* info = rbScene_GetInfo(plotter->scene);
    if (info->engineType == RB_ENGINE_STEP) {
        addPanelsInOrder(plotter, info->probeCount);
        return;
    }
    bool isFlight = info->engineType == RB_ENGINE_FLIGHT;
    bool hasSpin = false;
    for (size_t d = 0; d < sizeof drawn / sizeof drawn[0]; ++d) {
        for (int i = 0; i < info->probeCount; ++i) {
            const rbProbe* probe = rbScene_GetProbe(plotter->scene, i);
            hasSpin = hasSpin || (isFlight && probe->quantity == RB_PROBE_ANGULAR_VELOCITY_LOCAL);
            if (probe->quantity == drawn[d].quantity && !(hasSpin && drawn[d].isDullInFlight) &&
                plotter->panelCount < PROBE_PANELS_MAX) {
                addProbePanel(plotter, probe, drawn[d].text);
            }
        }
    }
}

// The spin of the first dynamic body in its own axes.
static void addSpinPanel(rbPlotter* plotter, const rbWorld* world)
{
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
        char label[96];
        (void)snprintf(label, sizeof label, "%.20s spin, body axes [rad/s]",
                       rbBody_GetName(world, plotter->body));
        addPanel(plotter, label);
        addColumn(plotter, "x", -1);
        addColumn(plotter, "y", -1);
        addColumn(plotter, "z", -1);
    }
}

rbPlotter* rbCreatePlotter(const rbScene* scene, const rbWorld* world)
{
    rbPlotter* plotter = rbAllocZero(1, sizeof *plotter);
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    plotter->scene = scene;
    plotter->stride = 1;
    plotter->hasMomenta = info->forceCount == 0 && info->engineType == RB_ENGINE_FLIGHT;
    if (info->hasDefaultProbes) {
        addSpinPanel(plotter, world);
    }
    if (RB_IS_NULL(plotter->body)) {
        addProbePanels(plotter);
    }
    if (info->dynamicCount > 0 || plotter->panelCount == 0) {
        addPanel(plotter, "energy drift, relative");
        addColumn(plotter, "", -1);
    }
    if (info->dynamicCount > 0 && plotter->hasMomenta) {
        addPanel(plotter, "momentum drift, relative");
        addColumn(plotter, "linear", -1);
        addColumn(plotter, "spin", -1);
    }
    plotter->panelFirst[plotter->panelCount] = plotter->columnCount;
    return plotter;
}

void rbDestroyPlotter(rbPlotter* plotter)
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

void rbPlotter_Add(rbPlotter* plotter, const rbWorld* world, const double* values,
                   const rbTally* tally)
{
    if (plotter->offered++ % plotter->stride != 0) {
        return;
    }
    if (plotter->sampleCount == SAMPLES_MAX) {
        halve(plotter); // the sample at hand is an even one, because the room is even
    }
    // the sources that are not probes, in the order in which their panels were added
    double others[6] = {0};
    int count = 0;
    if (!RB_IS_NULL(plotter->body)) {
        rbVec3 spin = rbBody_GetState(world, plotter->body).angularVelocityLocal;
        others[count++] = spin.x;
        others[count++] = spin.y;
        others[count++] = spin.z;
    }
    others[count++] = tally->drift.energy;
    others[count++] = tally->drift.momentum;
    others[count++] = tally->drift.spin;
    int next = 0;
    int index = plotter->sampleCount++;
    plotter->times[index] = rbWorld_GetTime(world);
    for (int c = 0; c < plotter->columnCount; ++c) {
        int probeColumn = plotter->columns[c].probeColumn;
        plotter->samples[c][index] = probeColumn >= 0 ? values[probeColumn] : others[next++];
    }
}

// Drift at round-off jumps from sample to sample: points, not a curve.
static bool isDrift(const rbPlotter* plotter, int column)
{
    int others = RB_IS_NULL(plotter->body) ? 0 : 3;
    return plotter->columns[column].probeColumn < 0 && column >= others;
}

rbStatus rbPlotter_Write(const rbPlotter* plotter, const char* path, rbError* error)
{
    rbPlotSeries series[COLUMNS_MAX];
    size_t panelCount = (size_t)plotter->panelCount;
    rbPlotPanel* panels = rbAllocZero(panelCount, sizeof *panels);
    for (int c = 0; c < plotter->columnCount; ++c) {
        series[c] = (rbPlotSeries){.label = plotter->columns[c].label,
                                   .x = plotter->times,
                                   .y = plotter->samples[c],
                                   .count = plotter->sampleCount,
                                   .style = isDrift(plotter, c) ? RB_PLOT_POINTS : RB_PLOT_LINES};
    }
    for (int p = 0; p < plotter->panelCount; ++p) {
        panels[p] =
            (rbPlotPanel){.yLabel = plotter->panelLabels[p],
                          .series = series + plotter->panelFirst[p],
                          .seriesCount = plotter->panelFirst[p + 1] - plotter->panelFirst[p]};
    }
    const rbSceneInfo* info = rbScene_GetInfo(plotter->scene);
    rbPlot plot = {.title = info->title[0] != '\0' ? info->title : info->name,
                   .xLabel = "time [s]",
                   .panels = panels,
                   .panelCount = plotter->panelCount};
    rbStatus status = rbPlot_WriteSvg(&plot, path, error);
    rbFree(panels, panelCount * sizeof *panels);
    return status;
}
