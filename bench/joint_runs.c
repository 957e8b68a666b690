#include "joint_runs.h"

#include "base/core/memory.h"
#include "bench.h"

#include <math.h>
#include <stdio.h>

// An energy error of this many times the scale of the scene is an explosion.
#define ENERGY_BLOWN 100.0

// ------------------------------------------------------------------------------------ our engine

typedef struct rbOurs {
    const rbJointScene* scene;
    rbWorld* world;
    double step;
    int64_t stepCount;
} rbOurs;

rbStepSettings rbGetDefaultStepSettings(void)
{
    return rbDefaultWorldDef().step;
}

static void* createOurs(const rbJointScene* scene, const rbJointPeerRow* row, double step)
{
    const rbStepSettings* given = row->settings;
    rbStepSettings settings = *given;
    settings.step = step;
    rbError error = {0};
    rbWorld* world = rbJointScene_CreateWorld(scene, &settings, &error);
    if (world != NULL && rbWorld_Prepare(world, &error) != RB_STATUS_OK) {
        rbDestroyWorld(world);
        world = NULL;
    }
    if (world == NULL) {
        return NULL;
    }
    rbOurs* ours = rbAlloc(sizeof *ours);
    *ours = (rbOurs){.scene = scene, .world = world, .step = step};
    return ours;
}

// A step above its tolerance is not a failure here: the errors are measured.
static bool advanceOurs(void* state, int stepCount)
{
    rbOurs* ours = state;
    ours->stepCount += stepCount;
    rbStepReport report =
        rbWorld_AdvanceTo(ours->world, rbGetStepTime(ours->stepCount, ours->step));
    return report.status == RB_STATUS_OK || report.status == RB_STATUS_NUMERICAL;
}

static void readOurs(void* state, rbPeerBodyState* states)
{
    const rbOurs* ours = state;
    rbJointScene_ReadWorld(ours->scene, ours->world, states);
}

static void destroyOurs(void* state)
{
    rbOurs* ours = state;
    rbDestroyWorld(ours->world);
    rbFree(ours, sizeof *ours);
}

const rbJointPeer rbJointPeerOurs = {
    .library = "rattleback",
    .create = createOurs,
    .advance = advanceOurs,
    .read = readOurs,
    .destroy = destroyOurs,
};

// ------------------------------------------------------------------------------------------- runs

// Adds the errors of the current states to the result. False: not finite or exploded.
static bool judge(const rbJointRun* run, const rbPeerBodyState* states, double energyStart,
                  rbJointRunResult* result)
{
    double gap = rbJointScene_GetGap(run->scene, states);
    double energy = rbJointScene_GetEnergy(run->scene, states);
    double error = fabs(energy - energyStart) / run->scene->energyScale;
    if (!isfinite(gap) || !isfinite(error)) {
        return false;
    }
    result->gap = fmax(result->gap, gap);
    result->energyError = fmax(result->energyError, error);
    return error < ENERGY_BLOWN;
}

static void runSteps(const rbJointRun* run, void* state, rbPeerBodyState* states,
                     rbJointRunResult* result)
{
    double used = 0.0;
    int64_t done = 0;
    int64_t total = llround(run->duration / run->step);
    run->peer->read(state, states);
    double energyStart = rbJointScene_GetEnergy(run->scene, states);
    while (done < total && result->end == RB_RUN_DONE) {
        int64_t left = total - done;
        int count = left < run->stepsPerSample ? (int)left : run->stepsPerSample;
        double begin = rbGetCpuTime();
        bool isGood = run->peer->advance(state, count);
        used += rbGetCpuTime() - begin;
        run->peer->read(state, states);
        done += count;
        if (!judge(run, states, energyStart, result) || !isGood) {
            result->end = RB_RUN_BLOWN_UP;
        } else if (run->budget > 0.0 && used > run->budget && done < total) {
            result->end = RB_RUN_OUT_OF_TIME;
        }
    }
    result->time = (double)done * run->step;
    result->timeFactor = used / result->time;
}

rbJointRunResult rbRunJoints(const rbJointRun* run)
{
    rbJointRunResult result = {
        .end = RB_RUN_REFUSED, .timeFactor = NAN, .gap = NAN, .energyError = NAN};
    void* state = run->peer->create(run->scene, run->row, run->step);
    if (state == NULL) {
        return result;
    }
    result = (rbJointRunResult){.end = RB_RUN_DONE};
    size_t size = (size_t)run->scene->bodyCount * sizeof(rbPeerBodyState);
    rbPeerBodyState* states = rbAlloc(size);
    runSteps(run, state, states, &result);
    if (run->peer == &rbJointPeerOurs) {
        result.statistics = rbWorld_GetStepStatistics(((rbOurs*)state)->world);
    }
    rbFree(states, size);
    run->peer->destroy(state);
    return result;
}

const char* rbJointRunResult_Describe(const rbJointRunResult* result, char text[48])
{
    text[0] = '\0';
    if (result->end == RB_RUN_REFUSED) {
        (void)snprintf(text, 48, "refused");
    } else if (result->end == RB_RUN_BLOWN_UP) {
        (void)snprintf(text, 48, "blown up at %.3g s", result->time);
    } else if (result->end == RB_RUN_OUT_OF_TIME) {
        (void)snprintf(text, 48, "first %.3g s only", result->time);
    }
    return text;
}
