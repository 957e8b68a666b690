#include "contact_runs.h"

#include "base/core/memory.h"
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ------------------------------------------------------------------------------------ our engine

typedef struct rbOurPile {
    const rbContactScene* scene;
    rbWorld* world;
    double step;
    int64_t stepCount;
    rbPeerBodyState* states; // of all bodies, including static ones
} rbOurPile;

static void destroyOurs(void* state)
{
    rbOurPile* pile = state;
    rbDestroyWorld(pile->world);
    rbFree(pile->states, (size_t)pile->scene->bodyCount * sizeof *pile->states);
    rbFree(pile, sizeof *pile);
}

static void* createOurs(const rbContactScene* scene, const rbContactPeerRow* row, double step)
{
    rbError error = {0};
    rbWorld* world = rbContactScene_CreateWorld(scene, step, row->settings, NULL, &error);
    if (world != NULL && rbWorld_Prepare(world, &error) != RB_STATUS_OK) {
        rbDestroyWorld(world);
        world = NULL;
    }
    if (world == NULL) {
        (void)fprintf(stderr, "rattleback: %s\n", error.message);
        return NULL;
    }
    rbOurPile* pile = rbAlloc(sizeof *pile);
    *pile = (rbOurPile){.scene = scene, .world = world, .step = step};
    pile->states = rbAlloc((size_t)scene->bodyCount * sizeof *pile->states);
    return pile;
}

// A step above its tolerance is not a failure here: the final state is measured.
static bool advanceOurs(void* state)
{
    rbOurPile* pile = state;
    ++pile->stepCount;
    rbStepReport report =
        rbWorld_AdvanceTo(pile->world, rbGetStepTime(pile->stepCount, pile->step));
    return report.status == RB_STATUS_OK || report.status == RB_STATUS_NUMERICAL;
}

static void readOurs(void* state, rbPeerBodyState* states)
{
    rbOurPile* pile = state;
    size_t stride = sizeof *pile->states;
    rbPeerBodyState* all = pile->states;
    rbWorld_ReadField(pile->world, RB_FIELD_POSITION, all->pose.position, stride);
    rbWorld_ReadField(pile->world, RB_FIELD_ORIENTATION, all->pose.quaternion, stride);
    rbWorld_ReadField(pile->world, RB_FIELD_LINEAR_VELOCITY, all->velocity, stride);
    rbWorld_ReadField(pile->world, RB_FIELD_ANGULAR_VELOCITY, all->angularVelocity, stride);
    for (int i = 0; i < pile->scene->movingCount; ++i) {
        states[i] = all[i];
    }
}

static int countOurPoints(void* state)
{
    const rbOurPile* pile = state;
    return rbWorld_GetContactStatistics(pile->world).contactCount;
}

const rbContactPeer rbContactPeerOurs = {
    .library = "rattleback",
    .create = createOurs,
    .advance = advanceOurs,
    .read = readOurs,
    .countPoints = countOurPoints,
    .destroy = destroyOurs,
};

// ------------------------------------------------------------------------------------------- runs

static int compareDurations(const void* a, const void* b)
{
    const double* x = a;
    const double* y = b;
    return (*x > *y) - (*x < *y);
}

rbDurations rbSummarizeDurations(double* durations, int count)
{
    if (count == 0) {
        return (rbDurations){NAN, NAN, NAN};
    }
    qsort(durations, (size_t)count, sizeof *durations, compareDurations);
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += durations[i];
    }
    int rank = (int)ceil(0.99 * count) - 1;
    return (rbDurations){sum / count, durations[rank < 0 ? 0 : rank], durations[count - 1]};
}

static bool areFinite(const rbContactScene* scene, const rbPeerBodyState* states)
{
    for (int i = 0; i < scene->movingCount; ++i) {
        double sum = 0.0;
        for (int k = 0; k < 3; ++k) {
            sum += states[i].pose.position[k] + states[i].velocity[k] +
                   states[i].angularVelocity[k] + states[i].pose.quaternion[k];
        }
        if (!isfinite(sum + states[i].pose.quaternion[3])) {
            return false;
        }
    }
    return true;
}

static void runSteps(const rbContactRun* run, void* state, rbContactRunResult* result)
{
    size_t size = (size_t)run->stepCount * sizeof(double);
    double* durations = rbAlloc(size);
    double used = 0.0;
    int done = 0;
    int timed = 0;
    while (done < run->stepCount && result->end == RB_PILE_DONE) {
        double begin = rbGetCpuTime();
        bool isGood = run->peer->advance(state);
        double duration = rbGetCpuTime() - begin;
        used += duration;
        ++done;
        if (done > run->warmCount) {
            durations[timed++] = duration;
        }
        if (!isGood) {
            result->end = RB_PILE_GAVE_UP;
        } else if (used > run->budget && done < run->stepCount) {
            result->end = RB_PILE_OUT_OF_TIME;
        }
    }
    result->time = done * run->step;
    rbDurations summary = rbSummarizeDurations(durations, timed);
    result->mean = timed > 0 ? summary.mean : used / done;
    result->p99 = summary.p99;
    result->most = summary.most;
    rbFree(durations, size);
}

rbContactRunResult rbRunContacts(const rbContactRun* run)
{
    rbContactRunResult result = {.end = RB_PILE_REFUSED, .mean = NAN, .p99 = NAN, .most = NAN};
    void* state = run->peer->create(run->scene, run->row, run->step);
    if (state == NULL) {
        return result;
    }
    result.end = RB_PILE_DONE;
    runSteps(run, state, &result);
    size_t size = (size_t)run->scene->movingCount * sizeof(rbPeerBodyState);
    rbPeerBodyState* states = rbAlloc(size);
    run->peer->read(state, states);
    if (areFinite(run->scene, states)) {
        result.verdict = rbContactScene_Check(run->scene, states);
    } else {
        result.end = RB_PILE_BLOWN_UP;
    }
    result.pointCount = run->peer->countPoints(state);
    if (run->peer == &rbContactPeerOurs) {
        const rbOurPile* pile = state;
        result.statistics = rbWorld_GetContactStatistics(pile->world);
        result.error = rbWorld_GetError(pile->world);
    }
    rbFree(states, size);
    run->peer->destroy(state);
    return result;
}

const char* rbContactRunResult_Describe(const rbContactRunResult* result, char text[64])
{
    text[0] = '\0';
    if (result->end == RB_PILE_REFUSED) {
        (void)snprintf(text, 64, "refused");
    } else if (result->end == RB_PILE_BLOWN_UP) {
        (void)snprintf(text, 64, "blown up at %.3g s", result->time);
    } else if (result->end == RB_PILE_GAVE_UP) {
        (void)snprintf(text, 64, "gave up at %.3g s", result->time);
    } else if (result->end == RB_PILE_OUT_OF_TIME) {
        (void)snprintf(text, 64, "first %.3g s only", result->time);
    }
    return text;
}
