#include "cli/action_player.h"

#include "base/core/memory.h"
#include "session/action_bodies.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

rbStatus rbActionPlayer_Read(rbActionPlayer* player, const char* path, rbError* error)
{
    return rbActions_Read(&player->actions, path, error);
}

void rbActionPlayer_Take(rbActionPlayer* player, const rbRecording* recording)
{
    int count = 0;
    const rbRecordedAction* recorded = rbRecording_GetActions(recording, &count);
    for (int i = 0; i < count; ++i) {
        rbActions_Add(&player->actions, recorded[i].time, recorded[i].text);
    }
}

void rbActionPlayer_Free(rbActionPlayer* player)
{
    rbActions_Free(&player->actions);
    rbDestroyActor(player->actor);
    rbFree((void*)player->bodyNames, (size_t)player->bodyCount * sizeof *player->bodyNames);
    rbFree(player->addedNames, player->addedSize);
    *player = (rbActionPlayer){.actor = NULL};
}

// ------------------------------------------------------------------------------ who will live

// Walks the actions up to a time. Counts the bodies there will be and, where there is room, stores
// their names.
static int goThrough(rbActionPlayer* player, int start, double end, int* added)
{
    const rbActions* actions = &player->actions;
    int count = start;
    *added = 0;
    for (int i = 0; i < actions->count && actions->data[i].time <= end; ++i) {
        rbAddedBody body;
        if (rbReadAddedBody(actions->data[i].text, count, &body)) {
            count = body.number >= count ? body.number + 1 : count;
            if (player->bodyNames != NULL && body.number >= start) {
                char* place = player->addedNames + (size_t)*added * sizeof body.name;
                memcpy(place, body.name, sizeof body.name);
                player->bodyNames[body.number] = place;
            }
            *added += 1;
        }
        rbAddedBody_Free(&body);
    }
    return count;
}

// Names by number; names of bodies in the world are borrowed.
static void listBodies(rbActionPlayer* player, const rbWorld* world, double end)
{
    int start = rbWorld_GetBodyCount(world);
    int added = 0;
    int count = goThrough(player, start, end, &added);
    rbBodyId* ids = rbAlloc((size_t)start * sizeof *ids);
    (void)rbWorld_GetBodyIds(world, ids, start);
    player->bodyCount = count;
    player->bodyNames = rbAllocZero((size_t)count, sizeof *player->bodyNames);
    player->addedSize = (size_t)added * sizeof(((rbAddedBody*)NULL)->name);
    player->addedNames = rbAlloc(player->addedSize);
    for (int i = 0; i < count; ++i) {
        player->bodyNames[i] = i < start ? rbBody_GetName(world, ids[i]) : "";
    }
    rbFree(ids, (size_t)start * sizeof *ids);
    (void)goThrough(player, start, end, &added);
}

rbStatus rbActionPlayer_Begin(rbActionPlayer* player, const rbScene* scene, const rbWorld* world,
                              double end, rbError* error)
{
    listBodies(player, world, end);
    if (player->bodyCount > RB_RECORDING_BODY_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the scene and the actions create %d bodies; the limit is %d",
                           player->bodyCount, RB_RECORDING_BODY_MAX);
    }
    if (player->actions.count > 0) {
        player->actor = rbCreateActor(scene, world);
    }
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------- player

void rbActionPlayer_Note(const rbActionPlayer* player, double step, double end, char* text,
                         size_t capacity)
{
    const rbActions* actions = &player->actions;
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

bool rbActionPlayer_Advance(rbActionPlayer* player, rbWorld* world, double time,
                            rbStepReport* report, rbError* error)
{
    if (player->actor == NULL) {
        *report = rbWorld_AdvanceTo(world, time);
        return true;
    }
    rbError inner = {0};
    *report =
        rbAdvanceWithActions(player->actor, world, &player->actions, &player->next, time, &inner);
    if (inner.status == RB_STATUS_OK || inner.status == RB_STATUS_STOPPED) {
        return true;
    }
    int index = player->next < player->actions.count ? player->next : player->actions.count - 1;
    (void)rbError_Set(error, inner.status, "action %d, at t = %.9g s, is refused: %.400s",
                      index + 1, player->actions.data[index].time, inner.message);
    return false;
}

void rbActionPlayer_Follow(const rbActionPlayer* player, rbFrameBuffer* buffer)
{
    int count = player->actor != NULL ? rbActor_GetBodyCount(player->actor) : 0;
    for (int i = 0; i < count && i < buffer->bodyCount; ++i) {
        rbFrameBuffer_SetBody(buffer, i, rbActor_GetBody(player->actor, i));
    }
}

rbStatus rbActionPlayer_Write(rbActionPlayer* player, rbRecordingWriter* writer, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    while (player->written < player->next && status == RB_STATUS_OK) {
        const rbAction* action = &player->actions.data[player->written++];
        rbRecordedAction recorded = {action->time, action->text};
        status = rbRecordingWriter_WriteActions(writer, &recorded, 1, error);
    }
    return status;
}
