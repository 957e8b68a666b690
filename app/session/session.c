// Sessions: lifetime, frames and pace.
#include "base/core/timer.h"
#include "session/session_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FRAMES_PER_SECOND 60.0
#define TICK_TIME 0.04      // s, maximum wall time of a tick, where the engine allows
#define PIECE_TIME 0.02     // s, longest wall time aimed at by an advance: half to all of it
#define PACE_WINDOW 0.5     // s of wall time over which the pace is measured
#define LATE_MAX 0.1        // s of wall time: larger delays are not caught up
#define SHORTEST_SHOW 4.0   // s, minimum wall time of a scene
#define LONGEST_SHOW 120.0  // s, maximum
#define SNAPSHOTS_WANTED 20 // in the duration of a scene

// ------------------------------------------------------------------------------------------- pace

double rbChooseSpeed(double duration)
{
    static const double mantissas[] = {1.0, 0.5, 0.2};
    double speed = 1.0;
    double decade = 1.0;
    for (int i = 1; duration / speed < SHORTEST_SHOW && decade > 1e-12; ++i) {
        decade = i % 3 == 0 ? decade / 10.0 : decade;
        speed = decade * mantissas[i % 3];
    }
    decade = 1.0;
    for (int i = 1; duration / speed > LONGEST_SHOW && decade < 1e12; ++i) {
        static const double factors[] = {1.0, 2.0, 5.0};
        decade = i % 3 == 0 ? decade * 10.0 : decade;
        speed = decade * factors[i % 3];
    }
    return speed;
}

static bool isStepEngine(const rbSession* session)
{
    return rbEngineType_GetTraits(rbWorld_GetEngineType(session->world)).isStepped;
}

double rbSession_GetFrameStep(const rbSession* session)
{
    double wanted = session->speed / FRAMES_PER_SECOND;
    if (!isStepEngine(session)) {
        return wanted;
    }
    double step = rbWorld_GetStepSettings(session->world).step;
    return rbGetStepTime((int64_t)fmax(1.0, floor(wanted / step + 0.5)), step);
}

// A time one step after another: on the grid of multiples if the other is.
static double addStep(double time, double step, int64_t count)
{
    double index = floor(time / step + 0.5);
    bool isOnGrid = index < 1e15 && fabs(rbGetStepTime((int64_t)index, step) - time) <= 1e-9 * step;
    return isOnGrid ? rbGetStepTime((int64_t)index + count, step) : time + (double)count * step;
}

static double getNextFrameTime(const rbSession* session)
{
    double now = rbWorld_GetTime(session->world);
    double frameStep = rbSession_GetFrameStep(session);
    if (isStepEngine(session)) {
        double step = rbWorld_GetStepSettings(session->world).step;
        return addStep(now, step, (int64_t)floor(frameStep / step + 0.5));
    }
    double next = addStep(now, frameStep, 1);
    return now < session->stopTime && next > session->stopTime ? session->stopTime : next;
}

void rbSession_RestartPace(rbSession* session)
{
    session->dueTime = rbGetWallTime();
    session->windowWall = session->dueTime;
    session->windowTime = rbStore_GetShownTime(session->store);
}

// A frame is shown; the next is due after its share of the wall time.
static void keepPace(rbSession* session, double simulated)
{
    double now = rbGetWallTime();
    session->dueTime += simulated / session->speed;
    if (session->dueTime < now - LATE_MAX) {
        session->dueTime = now;
    }
    if (now - session->windowWall >= PACE_WINDOW) {
        double time = rbStore_GetShownTime(session->store);
        session->realTimeFactor = (time - session->windowTime) / (now - session->windowWall);
        session->windowWall = now;
        session->windowTime = time;
    }
}

double rbSession_GetPause(const rbSession* session)
{
    bool isIdle = !session->isPlaying && session->stepsLeft == 0;
    return session->isInFrame || session->stepsLeft > 0 || isIdle
               ? 0.0
               : fmax(0.0, session->dueTime - rbGetWallTime());
}

// ------------------------------------------------------------------------------------------ frames

bool rbSession_IsRewound(const rbSession* session)
{
    return rbStore_GetShownTime(session->store) < rbStore_GetEndTime(session->store);
}

void rbSession_ShowState(rbSession* session, bool isBusy)
{
    rbPlayState state = {.isPlaying = session->isPlaying,
                         .speed = session->speed,
                         .frameStep = rbSession_GetFrameStep(session),
                         .realTimeFactor = session->isPlaying ? session->realTimeFactor : 0.0,
                         .isBusy = isBusy,
                         .canAct = true,
                         .isLooping = session->isLooping,
                         .hasEnded = session->hasEnded && !session->isPlaying,
                         .undoCount = session->actions.count,
                         .redoCount = session->undoneGroups.count};
    memcpy(state.sentence, session->sentence, sizeof state.sentence);
    rbStore_SetPlayState(session->store, &state);
}

void rbSession_Say(rbSession* session, const char* sentence)
{
    (void)snprintf(session->sentence, sizeof session->sentence, "%.255s", sentence);
}

void rbSession_EndFrame(rbSession* session)
{
    session->isInFrame = false;
    rbStore_TakeEvents(session->store, session->world);
    rbStore_TakeFrame(session->store, session->world);
}

void rbSession_Pause(rbSession* session)
{
    if (session->isInFrame) {
        rbSession_EndFrame(session);
    }
    session->isPlaying = false;
    session->stepsLeft = 0;
    session->realTimeFactor = 0.0;
    rbSession_FollowSchedules(session);
}

// The end of the next piece of work: whole steps of the step engine, since interpolating a step
// costs as much as the step.
static double getPieceEnd(const rbSession* session)
{
    double now = rbWorld_GetTime(session->world);
    if (!isStepEngine(session)) {
        return now + session->piece;
    }
    double step = rbWorld_GetStepSettings(session->world).step;
    return addStep(now, step, (int64_t)fmin(1e9, ceil(session->piece / step)));
}

// An advance was stopped. It is tried again, unless it took too long: then it would never end.
static bool retry(rbSession* session, double spent)
{
    if (spent < RB_ADVANCE_BUDGET) {
        return true;
    }
    (void)snprintf(session->sentence, sizeof session->sentence,
                   "an advance took more than %g s of wall time and was given up at t = %g s; go "
                   "back, reset, or undo the last change",
                   RB_ADVANCE_BUDGET, rbWorld_GetTime(session->world));
    return false;
}

// Handles the report of the last advance. False: the simulation cannot continue.
static bool validateReport(rbSession* session, const rbStepReport* report)
{
    rbError error = rbWorld_GetError(session->world);
    if (!isfinite(report->ledger.energy)) {
        rbSession_Say(session, "the state is no longer finite; go back, or reset");
        return false;
    }
    if (report->status == RB_STATUS_OK) {
        return true;
    }
    if (error.status == RB_STATUS_OK && !RB_IS_NULL(report->failedBody)) {
        (void)snprintf(session->sentence, sizeof session->sentence,
                       "body \"%s\" missed the tolerance of its motion before t = %g s",
                       rbBody_GetName(session->world, report->failedBody), report->time);
    } else {
        rbSession_Say(session,
                      error.status != RB_STATUS_OK ? error.message : rbStatus_Text(report->status));
    }
    return report->status == RB_STATUS_NUMERICAL;
}

// Works on the frame until it is complete or the tick is over. False: the engine stopped.
static bool workOnFrame(rbSession* session)
{
    double start = rbGetWallTime();
    double before = start;
    bool isGoing = true;
    while (isGoing && rbWorld_GetTime(session->world) < session->targetTime &&
           before - start < TICK_TIME) {
        double now = rbWorld_GetTime(session->world);
        double end = getPieceEnd(session);
        bool isWhole = !(end < session->targetTime);
        rbStepReport report =
            rbWorld_AdvanceTo(session->world, isWhole ? session->targetTime : end);
        rbStore_TakeEvents(session->store, session->world);
        if (report.status == RB_STATUS_STOPPED) {
            return retry(session, rbGetWallTime() - start);
        }
        isGoing = validateReport(session, &report);
        double after = rbGetWallTime();
        double spent = after - before;
        // a whole frame within the time says nothing about larger pieces
        if (spent > PIECE_TIME) {
            session->piece *= 0.5;
        } else if (spent < 0.5 * PIECE_TIME &&
                   (!isWhole || session->piece < session->targetTime - now)) {
            session->piece *= 2.0;
        }
        // a piece too small to advance the time would never end
        if (rbWorld_GetTime(session->world) == now && isGoing) {
            session->piece = session->targetTime - now;
        }
        before = after;
    }
    return isGoing;
}

// Whether the world has come to the end of the scene's duration.
static bool isAtEnd(const rbSession* session)
{
    double slack = isStepEngine(session) ? 0.5 * rbWorld_GetStepSettings(session->world).step : 0.0;
    return rbWorld_GetTime(session->world) >= session->stopTime - slack;
}

static void endScene(rbSession* session)
{
    session->isPlaying = false;
    session->stopTime = INFINITY;
    session->hasEnded = true;
    rbSession_Say(session, "the scene ends here; press play to continue");
}

// The last frame is shown: begins again in a loop.
static void endOrRepeat(rbSession* session)
{
    if (session->isLooping) {
        (void)rbStore_Show(session->store, -INFINITY);
        rbSession_RestartPace(session);
    } else {
        endScene(session);
    }
    rbSession_ShowState(session, false);
}

// The frame is complete: shows it and handles what is due at its time.
static void finishFrame(rbSession* session, double simulated)
{
    rbSession_EndFrame(session);
    rbSession_MaybeSnapshot(session);
    if (session->stepsLeft > 0) {
        session->stepsLeft -= 1;
    }
    if (session->isPlaying && !session->isLooping && isAtEnd(session)) {
        endScene(session);
    }
    rbSession_FollowSchedules(session);
    keepPace(session, simulated);
    rbSession_ShowState(session, false);
}

static void simulate(rbSession* session)
{
    if (!session->isInFrame) {
        rbSession_MoveDrags(session);
        session->targetTime = getNextFrameTime(session);
        session->isInFrame = true;
    }
    if (!workOnFrame(session)) {
        rbSession_Pause(session);
        rbSession_ShowState(session, false);
    } else if (!(rbWorld_GetTime(session->world) < session->targetTime)) {
        finishFrame(session, session->targetTime - rbStore_GetShownTime(session->store));
    }
}

// The first frame of the history whose time is not before one; the last if there is none.
static double findFrameTime(const rbStore* store, double time)
{
    int64_t low = 0;
    int64_t high = rbStore_GetFrameCount(store) - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (rbStore_GetFrameTime(store, middle) < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return rbStore_GetFrameTime(store, low);
}

static void showRecorded(rbSession* session)
{
    double shown = rbStore_GetShownTime(session->store);
    double way = session->stepsLeft > 0 ? 0.0 : rbSession_GetFrameStep(session);
    double next = findFrameTime(session->store, nextafter(shown + way * (1.0 - 1e-9), INFINITY));
    (void)rbStore_Show(session->store, next);
    if (session->stepsLeft > 0) {
        session->stepsLeft -= 1;
    }
    keepPace(session, next - shown);
    rbSession_ShowState(session, false);
}

bool rbSession_Tick(rbSession* session)
{
    if (!session->isPlaying && session->stepsLeft == 0) {
        return false;
    }
    // half a millisecond early is in time
    if (!session->isInFrame && session->stepsLeft == 0 &&
        session->dueTime > rbGetWallTime() + 5e-4) {
        return true;
    }
    if (rbSession_IsRewound(session)) {
        showRecorded(session);
    } else if (session->isPlaying && !session->isInFrame && isAtEnd(session)) {
        endOrRepeat(session);
    } else {
        simulate(session);
    }
    return session->isPlaying || session->stepsLeft > 0;
}

// -------------------------------------------------------------------------------------------- life

static rbSession* makeSession(rbScene* scene, rbWorld* world, rbError* error)
{
    rbError refusal = {0};
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    rbStatus status = rbScene_PrepareWorld(scene, world, &refusal);
    rbSession* session = rbAllocZero(1, sizeof *session);
    session->scene = scene;
    session->world = world;
    session->actor = rbCreateActor(scene, world);
    session->store = rbCreateStore(scene, world, error);
    session->speed = rbChooseSpeed(info->duration);
    session->stopTime = info->duration;
    session->snapshotInterval = fmin(1.0, info->duration / SNAPSHOTS_WANTED);
    session->piece = 1e-3 * session->speed / FRAMES_PER_SECOND;
    if (session->store == NULL) {
        return session;
    }
    rbStore_TakeEvents(session->store, world);
    rbSession_RestartPace(session);
    if (status != RB_STATUS_OK) {
        rbSession_Say(session, refusal.message);
    } else {
        rbSession_MaybeSnapshot(session);
    }
    rbSession_ShowParameters(session);
    rbSession_ShowState(session, false);
    return session;
}

rbSession* rbCreateSession(rbScene* scene, rbError* error)
{
    RB_ASSERT(scene != NULL);
    rbWorld* world = rbScene_CreateWorld(scene, error);
    if (world == NULL) {
        rbDestroyScene(scene);
        return NULL;
    }
    rbSession* session = makeSession(scene, world, error);
    if (session->store == NULL) {
        rbDestroySession(session);
        return NULL;
    }
    return session;
}

void rbDestroySession(rbSession* session)
{
    if (session == NULL) {
        return;
    }
    rbSession_SetRecordingPath(session, NULL);
    rbSession_DropSnapshots(session, -INFINITY, 0);
    rbArray_Free(session->snapshots);
    rbArray_Free(session->drags);
    rbActions_Free(&session->actions);
    rbActions_Free(&session->undone);
    rbArray_Free(session->undoneGroups);
    rbDestroyStore(session->store);
    rbDestroyActor(session->actor);
    rbDestroyWorld(session->world);
    rbDestroyScene(session->scene);
    rbFree(session, sizeof *session);
}

rbStore* rbSession_GetStore(rbSession* session)
{
    return session->store;
}

const rbScene* rbSession_GetScene(const rbSession* session)
{
    return session->scene;
}

const rbWorld* rbSession_GetWorld(const rbSession* session)
{
    return session->world;
}

const rbActions* rbSession_GetActions(const rbSession* session)
{
    return &session->actions;
}

void rbSession_SetRecordingPath(rbSession* session, const char* path)
{
    if (session->recordingPath != NULL) {
        rbFree(session->recordingPath, strlen(session->recordingPath) + 1);
        session->recordingPath = NULL;
    }
    if (path != NULL) {
        size_t size = strlen(path) + 1;
        session->recordingPath = rbAlloc(size);
        memcpy(session->recordingPath, path, size);
    }
}
