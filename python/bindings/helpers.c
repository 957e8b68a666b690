// Helpers of the Python module. Statuses are those of rbStatus and the two below.
#define _GNU_SOURCE // gettid
#include "helpers.h"

#include "base/core/float_mode.h"

#include <rattleback/lab_contact.h>
#include <rattleback/module.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NO_WORLD (-1) // the world was closed
#define BUSY (-2)     // the world is being advanced already
#define ASK_PERIOD 20 // ms between two questions to Python
#define PIECE 20      // ms, of a piece of a long advance: what is lost by a stop
#define THREADS_MAX 256

// Functions of Python. A force and the question return 1 if they raised, a filter -1.
int rbpyForce(const rbForceInput* input, rbVec3* force, rbVec3* torque, void* context);
int rbpyFilter(const rbWorld* world, rbBodyId bodyA, rbBodyId bodyB, void* context);
int rbpyAsk(void);

// The index of a time on the grid of a step; -1: it is not on it.
static int64_t findIndex(double time, double step)
{
    double index = floor(time / step + 0.5);
    bool isOnGrid = index < 1e15 && fabs(rbGetStepTime((int64_t)index, step) - time) <= 1e-9 * step;
    return isOnGrid ? (int64_t)index : -1;
}

// The time after some steps: on the grid of the step if the world is on it, so that many short
// advances reach the same times as one long one.
double rbpyFindEnd(double time, double step, int64_t count)
{
    RB_USE_STANDARD_FLOAT_MODE();
    int64_t index = findIndex(time, step);
    return index >= 0 ? rbGetStepTime(index + count, step) : time + (double)count * step;
}

// Likewise for a single step, from where the last one ended as a rule: then the index is known.
static double findNext(rbpyState* state)
{
    RB_USE_STANDARD_FLOAT_MODE();
    double time = rbWorld_GetTime(state->world);
    int64_t index = time == state->lastTime ? state->lastIndex : findIndex(time, state->step);
    if (index < 0) {
        return time + state->step;
    }
    state->lastIndex = index + 1;
    state->lastTime = rbGetStepTime(index + 1, state->step);
    return state->lastTime;
}

// ------------------------------------------------------------------------------------------ stops
// An advance is stopped when Python has a signal whose handler raises, such as Ctrl-C, or when a
// callback has raised; the library then puts the world back. The exception waits in Python.

// For a call into the library, in one thread of it.
typedef struct Watch {
    atomic_bool* isStopped; // shared by the threads of a call
    int64_t next;           // ms, when Python is asked; INT64_MAX: never
    struct Watch* outer;    // of the call whose callback makes this one
    rbStop before;
} Watch;

static _Thread_local Watch* innermost;

// ms. The coarse clock costs a few nanoseconds and is exact to some milliseconds.
static int64_t readClock(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
    clockid_t clock = CLOCK_MONOTONIC_COARSE;
#else
    clockid_t clock = CLOCK_MONOTONIC;
#endif
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Python runs handlers of signals in its main thread only. Asking in others would be a wait for the
// GIL in vain. The thread that a fork leaves is the main one.
static _Thread_local int mainThread; // 1: yes, -1: no, 0: unknown

static bool isMainThread(void)
{
    if (mainThread == 0) {
#ifdef __linux__
        mainThread = gettid() == getpid() ? 1 : -1;
#else
        mainThread = 1;
#endif
    }
    return mainThread > 0;
}

void rbpyAfterFork(void)
{
    mainThread = 0;
}

// Python looks for signals as it enters the function.
static bool askPython(Watch* watch)
{
    int64_t now = readClock();
    if (now >= watch->next) {
        watch->next = now + ASK_PERIOD;
        if (rbpyAsk() != 0) {
            atomic_store(watch->isStopped, true);
        }
    }
    return atomic_load_explicit(watch->isStopped, memory_order_relaxed);
}

static bool mustStop(void* context)
{
    Watch* watch = context;
    return atomic_load_explicit(watch->isStopped, memory_order_relaxed) ||
           (watch->next != INT64_MAX && askPython(watch));
}

static void beginWatch(Watch* watch, atomic_bool* isStopped, bool isAsking)
{
    watch->isStopped = isStopped;
    watch->next = isAsking ? readClock() + ASK_PERIOD : INT64_MAX;
    watch->outer = innermost;
    watch->before = rbUseStop((rbStop){mustStop, watch});
    innermost = watch;
}

static void endWatch(const Watch* watch)
{
    innermost = watch->outer;
    (void)rbUseStop(watch->before);
}

// Meanwhile nothing stops: a query that the callback makes must not return past Python.
static rbStop enterPython(void)
{
    return rbUseStop((rbStop){0});
}

static void leavePython(rbStop before, bool hasRaised)
{
    (void)rbUseStop(before);
    if (hasRaised && innermost != NULL) {
        atomic_store(innermost->isStopped, true);
    }
}

static bool isStopping(void)
{
    return innermost != NULL && atomic_load_explicit(innermost->isStopped, memory_order_relaxed);
}

void rbpyCallForce(const rbForceInput* input, rbVec3* force, rbVec3* torque, void* context)
{
    if (!isStopping()) {
        rbStop before = enterPython();
        int answer = rbpyForce(input, force, torque, context);
        leavePython(before, answer != 0);
    }
}

bool rbpyCallFilter(const rbWorld* world, rbBodyId bodyA, rbBodyId bodyB, void* context)
{
    if (isStopping()) {
        return true;
    }
    rbStop before = enterPython();
    int answer = rbpyFilter(world, bodyA, bodyB, context);
    leavePython(before, answer < 0);
    return answer != 0;
}

// Whether the world is free: neither in another thread, nor in one of its own callbacks, nor copied
// by fork() in the midst of an advance.
static bool takeWorld(rbpyState* state)
{
    return __atomic_exchange_n(&state->isMoving, 1, __ATOMIC_ACQUIRE) == 0;
}

static void giveBack(rbpyState* state)
{
    __atomic_store_n(&state->isMoving, 0, __ATOMIC_RELEASE);
}

// ---------------------------------------------------------------------------------------- advances

static bool isEnd(rbStatus status)
{
    return status != RB_STATUS_OK && status != RB_STATUS_NUMERICAL;
}

// The library computes in the standard mode and says that it was another.
static rbStatus advanceTo(rbpyState* state, double time)
{
    rbStepReport report = rbWorld_AdvanceTo(state->world, time);
    state->isModeOdd |= report.isFloatModeOdd ? 1 : 0;
    return report.status;
}

// The status that Python gets; it warns once about a nonstandard floating-point mode.
static int tell(rbpyState* state, rbStatus status)
{
    bool isNews = state->isModeOdd > state->isModeTold;
    state->isModeTold = state->isModeOdd;
    return (int)status + (isNews ? RBPY_MODE_ODD : 0);
}

// In pieces of whole steps, of which a stop undoes the last. Pieces do not change the bits.
static rbStatus advanceInPieces(rbpyState* state, double time, int64_t pieceMax)
{
    rbStatus total = RB_STATUS_OK;
    int64_t count = 1;
    while (true) {
        int64_t start = readClock();
        double now = rbWorld_GetTime(state->world);
        double end = rbpyFindEnd(now, state->step, count);
        rbStatus status = advanceTo(state, end < time && end > now ? end : time);
        total = status != RB_STATUS_OK ? status : total;
        if (isEnd(status) || rbWorld_GetTime(state->world) >= time) {
            return total;
        }
        int64_t spent = readClock() - start;
        if (spent <= PIECE / 4 && count < pieceMax) {
            count *= 2;
        } else if (spent > PIECE && count > 1) {
            count /= 2;
        }
    }
}

int rbpyAdvanceTo(rbpyState* state, double time, int64_t pieceMax)
{
    if (state->world == NULL || !takeWorld(state)) {
        return state->world == NULL ? NO_WORLD : BUSY;
    }
    Watch watch;
    atomic_bool isStopped = false;
    beginWatch(&watch, &isStopped, isMainThread());
    int status = tell(state, advanceInPieces(state, time, pieceMax));
    endWatch(&watch);
    giveBack(state);
    return status;
}

int rbpyStep(rbpyState* state)
{
    if (state->world == NULL || !takeWorld(state)) {
        return state->world == NULL ? NO_WORLD : BUSY;
    }
    Watch watch;
    atomic_bool isStopped = false;
    beginWatch(&watch, &isStopped, isMainThread());
    int status = tell(state, advanceTo(state, findNext(state)));
    endWatch(&watch);
    giveBack(state);
    return status;
}

// CPU time of steps as a program in C makes them, s: what steps from Python are compared with.
double rbpyTimeSteps(rbWorld* world, double step, int count)
{
    struct timespec start;
    struct timespec end;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    for (int i = 0; i < count; ++i) {
        (void)rbWorld_Advance(world, step);
    }
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

// ------------------------------------------------------------------------------------ many worlds

// Independent jobs, taken by threads in turn. A job that a stop keeps from starting is left out.
typedef struct Work {
    void (*doJob)(void* context, int job);
    void* context;
    int count;
    atomic_int next;
    atomic_bool isStopped;
    pthread_mutex_t mutex;
    pthread_cond_t hasEnded;
    int running; // other threads, under the mutex
} Work;

static void takeJobs(Work* work)
{
    int job;
    while (!atomic_load(&work->isStopped) &&
           (job = atomic_fetch_add(&work->next, 1)) < work->count) {
        work->doJob(work->context, job);
    }
}

static void* runThread(void* argument)
{
    Work* work = argument;
    Watch watch;
    beginWatch(&watch, &work->isStopped, false);
    takeJobs(work);
    endWatch(&watch);
    (void)pthread_mutex_lock(&work->mutex);
    work->running -= 1;
    (void)pthread_cond_signal(&work->hasEnded);
    (void)pthread_mutex_unlock(&work->mutex);
    return NULL;
}

// Until the other threads have ended, Python is asked for signals.
static void waitForThreads(Work* work, Watch* watch)
{
    (void)pthread_mutex_lock(&work->mutex);
    while (work->running > 0) {
        struct timespec limit;
        (void)clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_nsec += (int64_t)ASK_PERIOD * 1000000;
        limit.tv_sec += limit.tv_nsec / 1000000000;
        limit.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&work->hasEnded, &work->mutex, &limit);
        if (work->running > 0) {
            (void)pthread_mutex_unlock(&work->mutex);
            (void)mustStop(watch);
            (void)pthread_mutex_lock(&work->mutex);
        }
    }
    (void)pthread_mutex_unlock(&work->mutex);
}

// The calling thread works, too; where threads cannot be created it does everything. Returns
// whether it was stopped.
static int share(Work* work, int threads)
{
    pthread_t others[THREADS_MAX];
    int wanted = (threads < work->count ? threads : work->count) - 1;
    int started = 0;
    Watch watch;
    (void)pthread_mutex_init(&work->mutex, NULL);
    (void)pthread_cond_init(&work->hasEnded, NULL);
    (void)pthread_mutex_lock(&work->mutex);
    while (started < wanted && started < THREADS_MAX &&
           pthread_create(&others[started], NULL, runThread, work) == 0) {
        started += 1;
    }
    work->running = started;
    (void)pthread_mutex_unlock(&work->mutex);
    beginWatch(&watch, &work->isStopped, isMainThread());
    takeJobs(work);
    waitForThreads(work, &watch);
    endWatch(&watch);
    for (int i = 0; i < started; ++i) {
        (void)pthread_join(others[i], NULL);
    }
    (void)pthread_cond_destroy(&work->hasEnded);
    (void)pthread_mutex_destroy(&work->mutex);
    return atomic_load(&work->isStopped) ? 1 : 0;
}

static void stepWorld(void* context, int job)
{
    const rbpyWorlds* w = context;
    rbpyState* state = w->states[job];
    double end = rbpyFindEnd(rbWorld_GetTime(state->world), state->step, w->stepCount);
    w->statuses[job] = tell(state, advanceTo(state, end));
}

static void advanceWorld(void* context, int job)
{
    const rbpyWorlds* w = context;
    w->statuses[job] = tell(w->states[job], advanceTo(w->states[job], w->time));
}

// Returns whether a stop was asked for, or BUSY if one of the worlds is: then none moves.
static int moveAll(rbpyWorlds* worlds, void (*doJob)(void* context, int job), int threads)
{
    Work work = {.doJob = doJob, .context = worlds, .count = worlds->count};
    int taken = 0;
    while (taken < worlds->count && takeWorld(worlds->states[taken])) {
        worlds->statuses[taken] = RB_STATUS_STOPPED;
        taken += 1;
    }
    int answer = taken < worlds->count ? BUSY : share(&work, threads);
    for (int i = 0; i < taken; ++i) {
        giveBack(worlds->states[i]);
    }
    return answer;
}

// Worlds share nothing, so each takes the same steps whatever thread it runs in.
int rbpyStepAll(rbpyWorlds* worlds, int threads)
{
    return moveAll(worlds, stepWorld, threads);
}

int rbpyAdvanceAll(rbpyWorlds* worlds, int threads)
{
    return moveAll(worlds, advanceWorld, threads);
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
            double end = rbpyFindEnd(rbWorld_GetTime(world), r->step, r->stepCount);
            status = rbWorld_AdvanceTo(world, end).status;
        }
        controls += r->inputCount;
        states += width;
        readStates(world, states);
    }
    r->statuses[job] = (int)status;
}

// The worlds belong to the rollout. Returns whether a stop was asked for.
int rbpyRollOut(rbpyRollout* rollout, int threads)
{
    Work work = {.doJob = rollWorld, .context = rollout, .count = rollout->count};
    return share(&work, threads);
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

const void* rbpyFindFile(const char* name, size_t* size, void* files)
{
    const rbpyFiles* f = files;
    for (int i = 0; i < f->count; ++i) {
        if (strcmp(f->names[i], name) == 0) {
            *size = f->sizes[i];
            return f->bytes[i];
        }
    }
    return NULL;
}

rbStatus rbpyLoadModule(const char* path, rbError* error)
{
    rbSetModuleContactLaws(rbRegisterContactLaw);
    return rbLoadModule(path, error);
}

size_t rbpyDescribeModules(char* text, size_t capacity)
{
    return rbDescribeModules(text, capacity);
}
