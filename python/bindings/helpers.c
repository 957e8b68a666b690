// Helpers of the Python module. Statuses are those of rbStatus and the two below.
#define _POSIX_C_SOURCE 200809L
#include "helpers.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define NO_WORLD (-1)   // the world was closed
#define UNFINISHED (-2) // call again: Python may look for signals in between
#define PATIENCE 0.03   // s of wall time until then
#define THREADS_MAX 256

// The time after some steps: on the grid of the step if the world is on it, so that many short
// advances reach the same times as one long one.
double rbpyFindEnd(double time, double step, int64_t count)
{
    double index = floor(time / step + 0.5);
    bool isOnGrid = index < 1e15 && fabs(rbGetStepTime((int64_t)index, step) - time) <= 1e-9 * step;
    return isOnGrid ? rbGetStepTime((int64_t)index + count, step) : time + (double)count * step;
}

static double readClock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool isEnd(rbStatus status)
{
    return status == RB_STATUS_LIMIT || status == RB_STATUS_INVALID ||
           status == RB_STATUS_UNSUPPORTED;
}

// Advances in pieces of whole steps, which double, until a little wall time has passed. Pieces do
// not change the bits.
int rbpyAdvanceTo(rbWorld* world, double time, double step)
{
    if (world == NULL) {
        return NO_WORLD;
    }
    double deadline = readClock() + PATIENCE;
    rbStatus total = RB_STATUS_OK;
    for (int64_t count = 1;; count *= 2) {
        double now = rbWorld_GetTime(world);
        double end = rbpyFindEnd(now, step, count);
        rbStatus status = rbWorld_AdvanceTo(world, end < time && end > now ? end : time).status;
        total = status != RB_STATUS_OK ? status : total;
        if (isEnd(status) || rbWorld_GetTime(world) >= time) {
            return (int)total;
        }
        if (readClock() > deadline) {
            return UNFINISHED;
        }
    }
}

int rbpyStep(rbWorld* world, double step, int64_t count)
{
    if (world == NULL) {
        return NO_WORLD;
    }
    double end = rbpyFindEnd(rbWorld_GetTime(world), step, count);
    return (int)rbWorld_AdvanceTo(world, end).status;
}

// CPU time of single steps made by C, s: what the same steps from Python are compared with.
double rbpyTimeSteps(rbWorld* world, double step, int count)
{
    struct timespec start;
    struct timespec end;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    for (int i = 0; i < count; ++i) {
        (void)rbpyStep(world, step, 1);
    }
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

// Independent jobs, taken by threads in turn.
typedef struct Work {
    void (*doJob)(void* context, int job);
    void* context;
    int count;
    atomic_int next;
} Work;

static void* takeJobs(void* argument)
{
    Work* work = argument;
    int job;
    while ((job = atomic_fetch_add(&work->next, 1)) < work->count) {
        work->doJob(work->context, job);
    }
    return NULL;
}

// The calling thread works, too; where threads cannot be created it does everything.
static void share(Work* work, int threads)
{
    pthread_t others[THREADS_MAX];
    int started = 0;
    int wanted = (threads < work->count ? threads : work->count) - 1;
    while (started < wanted && started < THREADS_MAX &&
           pthread_create(&others[started], NULL, takeJobs, work) == 0) {
        started += 1;
    }
    (void)takeJobs(work);
    for (int i = 0; i < started; ++i) {
        (void)pthread_join(others[i], NULL);
    }
}

typedef struct Steps {
    rbWorld** worlds;
    const double* steps;
    int64_t stepCount;
    int* statuses;
} Steps;

static void stepWorld(void* context, int job)
{
    const Steps* steps = context;
    steps->statuses[job] = rbpyStep(steps->worlds[job], steps->steps[job], steps->stepCount);
}

// Worlds share nothing, so each takes the same steps whatever thread it runs in.
void rbpyStepAll(rbWorld** worlds, int count, const double* steps, int64_t stepCount, int threads,
                 int* statuses)
{
    Steps context = {worlds, steps, stepCount, statuses};
    Work work = {.doJob = stepWorld, .context = &context, .count = count};
    share(&work, threads);
}

static void readStates(const rbWorld* world, double* states)
{
    static const rbBodyField fields[] = {RB_FIELD_POSITION, RB_FIELD_ORIENTATION,
                                         RB_FIELD_LINEAR_VELOCITY, RB_FIELD_ANGULAR_VELOCITY};
    for (int i = 0; i < 4; ++i) {
        rbWorld_ReadField(world, fields[i], states, RBPY_STATE_WIDTH * sizeof(double));
        states += rbBodyField_Width(fields[i]);
    }
}

// One world through all its controls: set points of motors, or forces on all bodies if there are no
// joints. A world that ends early leaves its last state in the rest.
static void rollWorld(void* context, int job)
{
    const rbpyRollout* r = context;
    rbWorld* world = r->worlds[job];
    size_t width = (size_t)r->bodyCount * RBPY_STATE_WIDTH;
    double* states = r->states + (size_t)job * (size_t)(r->horizon + 1) * width;
    const double* controls = r->controls + (size_t)job * (size_t)r->horizon * (size_t)r->inputCount;
    rbStatus status = RB_STATUS_OK;
    readStates(world, states);
    for (int t = 0; t < r->horizon; ++t) {
        for (int i = 0; r->joints != NULL && i < r->inputCount && !isEnd(status); ++i) {
            status = rbJoint_SetMotorTarget(world, r->joints[i], 0, controls[i], NULL);
        }
        if (r->joints == NULL && r->inputCount > 0 && !isEnd(status)) {
            status = rbWorld_WriteField(world, RB_FIELD_FORCE, controls, 0, NULL);
        }
        if (!isEnd(status)) {
            status = (rbStatus)rbpyStep(world, r->step, r->stepCount);
        }
        controls += r->inputCount;
        states += width;
        readStates(world, states);
    }
    r->statuses[job] = (int)status;
}

void rbpyRollOut(rbpyRollout* rollout, int threads)
{
    Work work = {.doJob = rollWorld, .context = rollout, .count = rollout->count};
    share(&work, threads);
}

int rbpyReadBody(const rbWorld* world, rbBodyId bodyId, rbBodyState* state)
{
    if (world == NULL || !rbBody_IsValid(world, bodyId)) {
        return 0;
    }
    *state = rbBody_GetState(world, bodyId);
    return 1;
}

int rbpyReadJoint(const rbWorld* world, rbJointId jointId, rbJointState* state)
{
    if (world == NULL || !rbJoint_IsValid(world, jointId)) {
        return 0;
    }
    *state = rbJoint_GetState(world, jointId);
    return 1;
}

static uint32_t placeOf(rbBodyId bodyId)
{
    return RB_IS_NULL(bodyId) ? RB_RECORDED_NO_BODY : bodyId.index1 - 1u;
}

// Appends the journal of a world that lost no bodies to a recording, as the program does.
rbStatus rbpyWriteEvents(const rbWorld* world, rbRecordingWriter* writer, rbError* error)
{
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        const rbEvent* e = &events[i];
        rbRecordedEvent recorded = {
            .time = e->time,
            .kind = (uint32_t)e->kind,
            .bodyA = placeOf(e->bodyA),
            .bodyB = placeOf(e->bodyB),
            .law = (uint32_t)e->law,
            .history = e->history,
            .energyChange = e->energyChange,
            .values = {e->energyBefore, e->frictionWork, e->approachSpeed, e->point.x, e->point.y,
                       e->point.z, e->normal.x, e->normal.y, e->normal.z, e->impulse.x,
                       e->impulse.y, e->impulse.z},
        };
        status = rbRecordingWriter_WriteEvents(writer, &recorded, 1, error);
    }
    return status;
}
