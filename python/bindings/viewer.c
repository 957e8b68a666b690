#include "viewer.h"

#include "server/page_bytes.h"
#include "session/stream.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_STEP (1.0 / 60.0) // s, between frames that are played in real time

struct rbpyViewer {
    rbStore* store;
    double time;   // of the last frame
    int64_t known; // events of the world that the store has
};

struct rbpyClient {
    rbStreamCursor cursor;
    rbMessage message;
};

rbpyViewer* rbpyOpenViewer(rbScene* scene, rbWorld* world, rbError* error)
{
    rbStore* store = rbCreateStore(scene, world, error);
    rbpyViewer* viewer = store != NULL ? calloc(1, sizeof *viewer) : NULL;
    if (viewer == NULL) {
        rbDestroyStore(store);
        return NULL;
    }
    viewer->store = store;
    viewer->time = rbWorld_GetTime(world);
    rbpyViewer_Tell(viewer, true, 1.0, 0.0);
    return viewer;
}

void rbpyCloseViewer(rbpyViewer* viewer)
{
    rbDestroyStore(viewer->store);
    free(viewer);
}

static uint32_t numberOf(const rbpyViewer* viewer, rbBodyId bodyId)
{
    int number = RB_IS_NULL(bodyId) ? -1 : rbStore_FindBody(viewer->store, bodyId);
    return number < 0 ? RB_RECORDED_NO_BODY : (uint32_t)number;
}

// Copies the journal: it stays in the world, where Python reads it.
static void takeEvents(rbpyViewer* viewer, const rbWorld* world)
{
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    for (int64_t i = count < viewer->known ? 0 : viewer->known; i < count; ++i) {
        rbRecordedEvent event = rbMakeRecordedEvent(&events[i], numberOf(viewer, events[i].bodyA),
                                                    numberOf(viewer, events[i].bodyB));
        rbStore_TakeRecordedEvents(viewer->store, &event, 1);
    }
    viewer->known = count;
}

rbStatus rbpyViewer_Take(rbpyViewer* viewer, rbWorld* world, rbError* error)
{
    double time = rbWorld_GetTime(world);
    if (time < viewer->time) {
        rbStore_DropAfter(viewer->store, time);
    }
    rbStatus status = rbStore_FollowBodies(viewer->store, world, error);
    if (status == RB_STATUS_OK) {
        rbStore_TakeFrame(viewer->store, world);
        takeEvents(viewer, world);
        viewer->time = time;
    }
    return status;
}

void rbpyViewer_Tell(rbpyViewer* viewer, bool isPlaying, double speed, double realTimeFactor)
{
    rbPlayState state = {.isPlaying = isPlaying,
                         .speed = speed,
                         .frameStep = FRAME_STEP * speed,
                         .realTimeFactor = realTimeFactor};
    rbStore_SetPlayState(viewer->store, &state);
}

int rbpyViewer_FindBody(rbpyViewer* viewer, const char* name)
{
    rbStore_Lock(viewer->store);
    int number = rbStore_FindBodyByName(viewer->store, name);
    rbStore_Unlock(viewer->store);
    return number;
}

rbpyClient* rbpyAddClient(int number)
{
    rbpyClient* client = calloc(1, sizeof *client);
    if (client != NULL) {
        client->cursor = (rbStreamCursor){.kind = "live", .client = number};
    }
    return client;
}

void rbpyRemoveClient(rbpyClient* client)
{
    rbStreamCursor_Free(&client->cursor);
    rbMessage_Free(&client->message);
    free(client);
}

// Whether there is a message for the client: 0 no, 1 text, 2 binary.
int rbpyClient_Next(rbpyClient* client, rbpyViewer* viewer, double now)
{
    client->cursor.now = now;
    if (!rbStream_Next(viewer->store, &client->cursor, &client->message)) {
        return 0;
    }
    return client->message.isText ? 1 : 2;
}

unsigned char* rbpyClient_GetBytes(rbpyClient* client, size_t* size)
{
    *size = client->message.size;
    return rbMessage_GetBytes(&client->message);
}

void rbpyClient_Select(rbpyClient* client, int body)
{
    rbStreamCursor_Select(&client->cursor, body);
}

void rbpyClient_SetOverlays(rbpyClient* client, bool contacts, bool joints, bool rays)
{
    rbStreamCursor_SetOverlays(&client->cursor, contacts, joints, rays);
}

const unsigned char* rbpyGetPage(size_t* size)
{
    *size = rbPageSize;
    return rbPageBytes;
}
