// Going back in time: snapshots, repeated actions, branches, reset.
#include "session/session_state.h"

#include <math.h>
#include <string.h>

// --------------------------------------------------------------------------------------- snapshots

static void freeSnapshot(rbSnapshot* snapshot)
{
    rbFree(snapshot->bytes, snapshot->size);
    snapshot->bytes = NULL;
}

void rbSession_DropSnapshots(rbSession* session, double time, int actionCount)
{
    int kept = 0;
    for (int i = 0; i < session->snapshots.count; ++i) {
        rbSnapshot* snapshot = &session->snapshots.data[i];
        if (snapshot->time > time || snapshot->actionCount > actionCount) {
            freeSnapshot(snapshot);
        } else {
            session->snapshots.data[kept++] = *snapshot;
        }
    }
    session->snapshots.count = kept;
}

// Removes every second snapshot, never the first; from now on they are taken half as often.
static void thinSnapshots(rbSession* session)
{
    int kept = 0;
    for (int i = 0; i < session->snapshots.count; ++i) {
        if (i % 2 == 1) {
            freeSnapshot(&session->snapshots.data[i]);
        } else {
            session->snapshots.data[kept++] = session->snapshots.data[i];
        }
    }
    session->snapshots.count = kept;
    session->snapshotInterval *= 2.0;
}

void rbSession_MaybeSnapshot(rbSession* session)
{
    int count = session->snapshots.count;
    const rbSnapshot* last = count > 0 ? &session->snapshots.data[count - 1] : NULL;
    double time = rbWorld_GetTime(session->world);
    size_t size = rbWorld_GetSnapshotSize(session->world);
    // With an open drag the world has an extra joint.
    if ((last != NULL && time < last->time + session->snapshotInterval) ||
        rbActor_GetDragCount(session->actor) > 0 || size > RB_SNAPSHOT_BYTES / 4) {
        return;
    }
    if (count >= RB_SNAPSHOTS_MAX || ((size_t)count + 1) * size > RB_SNAPSHOT_BYTES) {
        thinSnapshots(session);
    }
    rbSnapshot snapshot = {.time = time,
                           .actionCount = session->actions.count,
                           .structure = session->structure,
                           .bytes = rbAlloc(size),
                           .size = size};
    if (rbWorld_TakeSnapshot(session->world, snapshot.bytes, size, NULL) == RB_STATUS_OK) {
        rbArray_Push(session->snapshots, snapshot);
    } else {
        freeSnapshot(&snapshot);
    }
}

// The latest snapshot of a structure that is not after a time.
static const rbSnapshot* findSnapshot(const rbSession* session, double time, int structure)
{
    const rbSnapshot* found = NULL;
    for (int i = 0; i < session->snapshots.count; ++i) {
        const rbSnapshot* snapshot = &session->snapshots.data[i];
        if (snapshot->time <= time && snapshot->structure == structure) {
            found = snapshot;
        }
    }
    return found;
}

// ----------------------------------------------------------------------------------------
// restoring

// The bodies of the store are now those of a new world.
static void bindBodies(rbSession* session)
{
    int count = rbStore_GetBodyCount(session->store);
    for (int i = 0; i < count; ++i) {
        rbBodyId bodyId = rbActor_GetBody(session->actor, i);
        if (!RB_ID_EQUALS(bodyId, rbStore_GetBodyId(session->store, i))) {
            rbStore_SetBodyId(session->store, i, bodyId);
        }
    }
    rbActor_ReserveBodies(session->actor, count);
}

// Replaces the world by the scene's world at its start.
static bool makeWorldAnew(rbSession* session, rbError* error)
{
    rbWorld* world = rbScene_CreateWorld(session->scene, error);
    if (world == NULL) {
        return false;
    }
    (void)rbWorld_Prepare(world, NULL);
    rbDestroyActor(session->actor);
    rbDestroyWorld(session->world);
    session->world = world;
    session->actor = rbCreateActor(session->scene, world);
    session->structure = 0;
    return true;
}

// Goes from a snapshot, or from the start, to the time, repeating the actions.
static bool doAgain(rbSession* session, const rbSnapshot* snapshot, double time, rbError* error)
{
    int next = 0;
    rbStatus status = RB_STATUS_OK;
    if (snapshot != NULL) {
        status = rbWorld_RestoreSnapshot(session->world, snapshot->bytes, snapshot->size, error);
        rbActor_ForgetAllDrags(session->actor);
        next = snapshot->actionCount;
    }
    int structures = rbActor_CountStructures(session->actor);
    if (status == RB_STATUS_OK) {
        rbError refusal = {0};
        rbStepReport report = rbAdvanceWithActions(session->actor, session->world,
                                                   &session->actions, &next, time, &refusal);
        if (report.status == RB_STATUS_STOPPED) {
            status = rbError_Set(error, report.status,
                                 "going to t = %g s takes too long and was given up at t = %g s; "
                                 "reset to continue",
                                 time, report.time);
        } else if (refusal.status != RB_STATUS_OK) {
            status = rbError_Set(error, report.status, "%.500s", refusal.message);
        }
    }
    rbWorld_ClearEvents(session->world);
    if (rbActor_CountStructures(session->actor) > structures) {
        session->structure = ++session->structureCount;
    }
    return status == RB_STATUS_OK;
}

bool rbSession_Restore(rbSession* session, double time, rbError* error)
{
    session->isInFrame = false;
    rbSession_ShowState(session, true);
    const rbSnapshot* snapshot = findSnapshot(session, time, session->structure);
    if (snapshot == NULL) {
        if (!makeWorldAnew(session, error)) {
            return false;
        }
        snapshot = findSnapshot(session, time, 0);
    }
    bool isDone = doAgain(session, snapshot, time, error);
    bindBodies(session);
    rbSession_ShowParameters(session); // they are as they were then
    return isDone;
}

void rbSession_Branch(rbSession* session)
{
    double time = rbWorld_GetTime(session->world);
    int count = 0;
    while (count < session->actions.count && session->actions.data[count].time <= time) {
        count += 1;
    }
    rbActions_Cut(&session->actions, count);
    rbSession_DropSnapshots(session, time, count);
    rbStore_DropAfter(session->store, time);
    session->drags.count = 0; // open drags belong to another future
    double duration = rbScene_GetInfo(session->scene)->duration;
    session->stopTime = time < duration ? duration : INFINITY;
}

bool rbSession_Reset(rbSession* session, rbError* error)
{
    if (!makeWorldAnew(session, error)) {
        return false;
    }
    session->isInFrame = false;
    session->drags.count = 0;
    session->hasEnded = false;
    rbActions_Cut(&session->actions, 0);
    rbSession_ForgetUndone(session);
    rbSession_DropSnapshots(session, -INFINITY, 0);
    session->snapshotInterval = fmin(1.0, rbScene_GetInfo(session->scene)->duration / 20.0);
    rbStore_DropAfter(session->store, -INFINITY);
    bindBodies(session);
    rbStore_TakeFrame(session->store, session->world);
    rbStore_TakeEvents(session->store, session->world);
    rbSession_MaybeSnapshot(session);
    session->stopTime = rbScene_GetInfo(session->scene)->duration;
    rbError refusal = rbWorld_GetError(session->world);
    rbSession_Say(session, refusal.status != RB_STATUS_OK ? refusal.message : "");
    return true;
}
