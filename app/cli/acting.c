#include "cli/acting.h"

#include "base/core/memory.h"
#include "session/action_bodies.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

rbStatus rbActing_Read(rbActing* acting, const char* path, rbError* error)
{
    return rbActions_Read(&acting->actions, path, error);
}

void rbActing_Take(rbActing* acting, const rbRecording* recording)
{
    int count = 0;
    const rbRecordedAction* recorded = rbRecording_GetActions(recording, &count);
    for (int i = 0; i < count; ++i) {
        rbActions_Add(&acting->actions, recorded[i].time, recorded[i].text);
    }
}

void rbActing_Free(rbActing* acting)
{
    rbActions_Free(&acting->actions);
    rbDestroyActor(acting->actor);
    rbFree((void*)acting->bodyNames, (size_t)acting->bodyCount * sizeof *acting->bodyNames);
    rbFree(acting->addedNames, acting->addedSize);
    *acting = (rbActing){.actor = NULL};
}

// ------------------------------------------------------------------------------ who will live

// Walks the actions up to a time. Counts the bodies there will be and, where there is room, stores
// their names.
static int goThrough(rbActing* acting, int start, double end, int* added)
{
    const rbActions* actions = &acting->actions;
    int count = start;
    *added = 0;
    for (int i = 0; i < actions->count && actions->data[i].time <= end; ++i) {
        rbAddedBody body;
        if (rbReadAddedBody(actions->data[i].text, count, &body)) {
            count = body.number >= count ? body.number + 1 : count;
            if (acting->bodyNames != NULL && body.number >= start) {
                char* place = acting->addedNames + (size_t)*added * sizeof body.name;
                memcpy(place, body.name, sizeof body.name);
                acting->bodyNames[body.number] = place;
            }
            *added += 1;
        }
        rbAddedBody_Free(&body);
    }
    return count;
}

// Names by number; names of bodies in the world are borrowed.
static void listBodies(rbActing* acting, const rbWorld* world, double end)
{
    int start = rbWorld_GetBodyCount(world);
    int added = 0;
    int count = goThrough(acting, start, end, &added);
    rbBodyId* ids = rbAlloc((size_t)start * sizeof *ids);
    (void)rbWorld_GetBodyIds(world, ids, start);
    acting->bodyCount = count;
    acting->bodyNames = rbAllocZero((size_t)count, sizeof *acting->bodyNames);
    acting->addedSize = (size_t)added * sizeof(((rbAddedBody*)NULL)->name);
    acting->addedNames = rbAlloc(acting->addedSize);
    for (int i = 0; i < count; ++i) {
        acting->bodyNames[i] = i < start ? rbBody_GetName(world, ids[i]) : "";
    }
    rbFree(ids, (size_t)start * sizeof *ids);
    (void)goThrough(acting, start, end, &added);
}

rbStatus rbActing_Begin(rbActing* acting, const rbScene* scene, const rbWorld* world, double end,
                        rbError* error)
{
    listBodies(acting, world, end);
    if (acting->bodyCount > RB_RECORDING_BODY_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the scene and the actions create %d bodies; the limit is %d",
                           acting->bodyCount, RB_RECORDING_BODY_MAX);
    }
    if (acting->actions.count > 0) {
        acting->actor = rbCreateActor(scene, world);
    }
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------- acting

void rbActing_Note(const rbActing* acting, double step, double end, char* text, size_t capacity)
{
    const rbActions* actions = &acting->actions;
    int between = 0;
    int late = 0;
    double first = 0.0;
    for (int i = 0; i < actions->count; ++i) {
        double time = actions->data[i].time;
        bool isBetween = step > 0.0 && time <= end &&
                         rbGetStepTime((int64_t)floor(time / step + 0.5), step) != time;
        first = isBetween && between == 0 ? time : first;
        between += isBetween ? 1 : 0;
        late += time > end ? 1 : 0;
    }
    text[0] = '\0';
    if (between > 0) {
        (void)snprintf(
            text, capacity,
            "%d of %d actions, the first at t = %.9g s, fall between the steps of %g s:  "
            "steps restart there",
            between, actions->count, first, step);
    }
    if (late > 0) {
        size_t used = strlen(text);
        (void)snprintf(text + used, capacity - used,
                       "%s%d of %d actions lie after the end at %g s and are skipped",
                       used > 0 ? "; " : "", late, actions->count, end);
    }
}

bool rbActing_Advance(rbActing* acting, rbWorld* world, double time, rbStepReport* report,
                      rbError* error)
{
    if (acting->actor == NULL) {
        *report = rbWorld_AdvanceTo(world, time);
        return true;
    }
    rbError inner = {0};
    *report =
        rbAdvanceWithActions(acting->actor, world, &acting->actions, &acting->next, time, &inner);
    if (inner.status == RB_STATUS_OK) {
        return true;
    }
    int index = acting->next < acting->actions.count ? acting->next : acting->actions.count - 1;
    (void)rbError_Set(error, inner.status, "action %d, at t = %.9g s, is refused: %.400s",
                      index + 1, acting->actions.data[index].time, inner.message);
    return false;
}

void rbActing_Follow(const rbActing* acting, rbFrameBuffer* buffer)
{
    int count = acting->actor != NULL ? rbActor_GetBodyCount(acting->actor) : 0;
    for (int i = 0; i < count && i < buffer->bodyCount; ++i) {
        rbFrameBuffer_SetBody(buffer, i, rbActor_GetBody(acting->actor, i));
    }
}

rbStatus rbActing_Write(rbActing* acting, rbRecordingWriter* writer, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    while (acting->written < acting->next && status == RB_STATUS_OK) {
        const rbAction* action = &acting->actions.data[acting->written++];
        rbRecordedAction recorded = {action->time, action->text};
        status = rbRecordingWriter_WriteActions(writer, &recorded, 1, error);
    }
    return status;
}
