// The store: its lifetime, its bodies, the frame shown, and what is discarded. store_frame.c adds
// frames, store_scene.c creates descriptions.
#include "session/store.h"

#include "session/store_state.h"

#include <string.h>

// ------------------------------------------------------------------------------------------- life

void rbStore_Lock(const rbStore* store)
{
    (void)pthread_mutex_lock(&store->lock->mutex);
}

void rbStore_Unlock(const rbStore* store)
{
    (void)pthread_mutex_unlock(&store->lock->mutex);
}

static void readLinks(rbStore* store, const rbWorld* world)
{
    int jointCount = rbWorld_GetJointCount(world);
    int springCount = rbWorld_GetSpringCount(world);
    rbJointId* joints = rbAlloc((size_t)jointCount * sizeof *joints);
    rbSpringId* springs = rbAlloc((size_t)springCount * sizeof *springs);
    (void)rbWorld_GetJointIds(world, joints, jointCount);
    (void)rbWorld_GetSpringIds(world, springs, springCount);
    for (int i = 0; i < jointCount; ++i) {
        rbStoredLink link = {.joint = joints[i], .isAlive = true};
        rbArray_Push(store->joints, link);
    }
    for (int i = 0; i < springCount; ++i) {
        rbStoredLink link = {.spring = springs[i], .isAlive = true};
        rbArray_Push(store->springs, link);
    }
    rbFree(joints, (size_t)jointCount * sizeof *joints);
    rbFree(springs, (size_t)springCount * sizeof *springs);
}

rbStatus rbStore_FollowBodies(rbStore* store, const rbWorld* world, rbError* error)
{
    int known = rbStore_GetBodyCount(store);
    for (int i = 0; i < known; ++i) {
        rbBodyId bodyId = rbStore_GetBodyId(store, i);
        if (!RB_IS_NULL(bodyId) && !rbBody_IsValid(world, bodyId)) {
            rbStore_DeleteBody(store, i);
        }
    }
    int count = rbWorld_GetBodyCount(world);
    rbBodyId* ids = rbAlloc((size_t)count * sizeof *ids);
    (void)rbWorld_GetBodyIds(world, ids, count);
    bool isDone = true;
    for (int i = 0; i < count && isDone; ++i) {
        isDone = rbStore_FindBody(store, ids[i]) >= 0 ||
                 rbStore_AddBody(store, world, ids[i], error) >= 0;
    }
    rbFree(ids, (size_t)count * sizeof *ids);
    return isDone ? RB_STATUS_OK : RB_STATUS_LIMIT;
}

rbStore* rbCreateStore(const rbScene* scene, const rbWorld* world, rbError* error)
{
    rbStore* store = rbAllocZero(1, sizeof *store);
    store->lock = rbAlloc(sizeof *store->lock);
    (void)pthread_mutex_init(&store->lock->mutex, NULL);
    store->scene = scene;
    store->frameBytesMax = RB_STORE_HISTORY_BYTES;
    store->frameMax = RB_STORE_FRAMES_MAX;
    store->shown = -1;
    store->earliestDrop = INFINITY;
    store->probeCount = rbScene_GetInfo(scene)->columnCount;
    store->columnCount = rbGetStoreColumnCount() + store->probeCount;
    if (rbStore_FollowBodies(store, world, error) != RB_STATUS_OK) {
        rbDestroyStore(store);
        return NULL;
    }
    readLinks(store, world);
    rbStore_Describe(store, world);
    rbStore_TakeFrame(store, world);
    return store;
}

static void freeFrame(rbStoredFrame* frame)
{
    rbFree(frame, frame->bytes);
}

static void freeScratch(rbStore* store)
{
    rbArray_Free(store->ids);
    for (int i = 0; i < 4; ++i) {
        rbArray_Free(store->vectors[i]);
    }
    rbArray_Free(store->quats);
    rbArray_Free(store->masses);
    rbArray_Free(store->contacts);
    rbArray_Free(store->samples);
    rbMessage_Free(&store->scratch);
}

void rbDestroyStore(rbStore* store)
{
    if (store == NULL) {
        return;
    }
    for (int i = 0; i < store->frames.count; ++i) {
        freeFrame(store->frames.data[i].frame);
    }
    for (int i = 0; i < store->bodies.count; ++i) {
        rbFree(store->bodies.data[i].json, store->bodies.data[i].jsonSize);
    }
    for (int i = 0; i < store->geometries.count; ++i) {
        rbStoredGeometry* geometry = &store->geometries.data[i];
        rbDestroyGeometry(geometry->geometry);
        rbFree(geometry->json, geometry->jsonSize);
        rbMessage_Free(&geometry->mesh);
    }
    if (store->whole != NULL) {
        freeFrame(store->whole);
    }
    rbArray_Free(store->frames);
    rbArray_Free(store->bodies);
    rbArray_Free(store->numbers);
    rbArray_Free(store->geometries);
    rbArray_Free(store->joints);
    rbArray_Free(store->springs);
    rbFree(store->events, (size_t)store->eventCapacity * sizeof *store->events);
    rbMessage_Free(&store->head);
    rbMessage_Free(&store->tail);
    rbMessage_Free(&store->parameters);
    freeScratch(store);
    (void)pthread_mutex_destroy(&store->lock->mutex);
    rbFree(store->lock, sizeof *store->lock);
    rbFree(store, sizeof *store);
}

// ----------------------------------------------------------------------------------------- bodies

static void bindNumber(rbStore* store, rbBodyId bodyId, int number)
{
    while (store->numbers.count < (int)bodyId.index1) {
        rbArray_Push(store->numbers, -1);
    }
    store->numbers.data[bodyId.index1 - 1] = number;
}

int rbStore_AddBody(rbStore* store, const rbWorld* world, rbBodyId bodyId, rbError* error)
{
    RB_ASSERT(rbBody_IsValid(world, bodyId));
    rbStoredBody body = {0};
    // Descriptions are created before locking; new geometries are added under the lock.
    if (rbStore_DescribeBody(store, world, bodyId, store->bodies.count, &body, error) !=
        RB_STATUS_OK) {
        return -1;
    }
    rbStore_Lock(store);
    int number = store->bodies.count;
    rbArray_Push(store->bodies, body);
    bindNumber(store, bodyId, number);
    rbStore_Unlock(store);
    return number;
}

void rbStore_SetBodyId(rbStore* store, int number, rbBodyId bodyId)
{
    RB_ASSERT(number >= 0 && number < store->bodies.count);
    rbStore_Lock(store);
    rbStoredBody* body = &store->bodies.data[number];
    body->id = bodyId;
    if (!RB_IS_NULL(bodyId)) {
        bindNumber(store, bodyId, number);
    }
    rbStore_Unlock(store);
}

void rbStore_DeleteBody(rbStore* store, int number)
{
    rbStore_SetBodyId(store, number, (rbBodyId){0});
}

rbBodyId rbStore_GetBodyId(const rbStore* store, int number)
{
    bool isKnown = number >= 0 && number < store->bodies.count;
    return isKnown ? store->bodies.data[number].id : (rbBodyId){0};
}

int rbStore_FindBody(const rbStore* store, rbBodyId bodyId)
{
    if (RB_IS_NULL(bodyId) || bodyId.index1 > (uint32_t)store->numbers.count) {
        return -1;
    }
    int number = store->numbers.data[bodyId.index1 - 1];
    return number >= 0 && RB_ID_EQUALS(store->bodies.data[number].id, bodyId) ? number : -1;
}

int rbStore_GetBodyCount(const rbStore* store)
{
    return store->bodies.count;
}

const char* rbStore_GetBodyName(const rbStore* store, int number)
{
    RB_ASSERT(number >= 0 && number < store->bodies.count);
    return store->bodies.data[number].name;
}

int rbStore_FindBodyByName(const rbStore* store, const char* name)
{
    for (int i = 0; i < store->bodies.count; ++i) {
        const rbStoredBody* body = &store->bodies.data[i];
        if (!RB_IS_NULL(body->id) && strcmp(body->name, name) == 0) {
            return i;
        }
    }
    return -1;
}

rbJointId rbStore_GetJointId(const rbStore* store, int number)
{
    bool isKnown =
        number >= 0 && number < store->joints.count && store->joints.data[number].isAlive;
    return isKnown ? store->joints.data[number].joint : (rbJointId){0};
}

rbSpringId rbStore_GetSpringId(const rbStore* store, int number)
{
    bool isKnown =
        number >= 0 && number < store->springs.count && store->springs.data[number].isAlive;
    return isKnown ? store->springs.data[number].spring : (rbSpringId){0};
}

const rbScene* rbStore_GetScene(const rbStore* store)
{
    return store->scene;
}

// ---------------------------------------------------------------------------------------- history

void rbStore_SetHistory(rbStore* store, size_t bytes, int frameMax)
{
    store->frameBytesMax = bytes > 0 ? bytes : store->frameBytesMax;
    store->frameMax = frameMax > 0 ? frameMax : store->frameMax;
}

int rbStore_FindFrame(const rbStore* store, uint64_t number)
{
    int low = 0;
    int high = store->frames.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (store->frames.data[middle].frame->number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The first frame after a time.
static int findTime(const rbStore* store, double time)
{
    int low = 0;
    int high = store->frames.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (store->frames.data[middle].frame->time <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// A frame or two ahead is playing; anything else is a jump.
#define JUMP_FRAMES 4

void rbStore_ShowFrame(rbStore* store, int index)
{
    bool isPlaying = index > store->shown && index - store->shown <= JUMP_FRAMES;
    if (index != store->shown && !isPlaying) {
        ++store->jumpVersion;
    }
    store->shown = index;
    ++store->shownVersion;
}

int64_t rbStore_FindNearest(const rbStore* store, double time)
{
    int after = findTime(store, time);
    int before = after - 1;
    int count = store->frames.count;
    if (before >= 0 && after < count &&
        time - store->frames.data[before].frame->time <=
            store->frames.data[after].frame->time - time) {
        return before;
    }
    return after < count ? after : count - 1;
}

bool rbStore_Show(rbStore* store, double time)
{
    int64_t index = rbStore_FindNearest(store, time);
    if (index < 0) {
        return false;
    }
    if (index != store->shown) {
        rbStore_Lock(store);
        rbStore_ShowFrame(store, (int)index);
        rbStore_Unlock(store);
    }
    return true;
}

void rbStore_DropAfter(rbStore* store, double time)
{
    int keep = findTime(store, time);
    int count = store->frames.count;
    rbStore_Lock(store);
    store->frames.count = keep;
    if (store->shown >= keep) {
        store->shown = keep - 1;
        ++store->shownVersion;
        ++store->jumpVersion;
    }
    while (store->eventEnd > store->eventFirst &&
           store->events[(store->eventEnd - 1) % RB_STORE_EVENTS_MAX].time > time) {
        --store->eventEnd;
    }
    double* drop = &store->drops[store->dropCount++ % RB_STORE_DROPS_KEPT];
    if (store->dropCount > RB_STORE_DROPS_KEPT && *drop < store->earliestDrop) {
        store->earliestDrop = *drop;
    }
    *drop = time;
    rbStore_Unlock(store);
    for (int i = keep; i < count; ++i) {
        // No reader can hold a frame without the lock.
        store->frameBytes -= store->frames.data[i].frame->bytes;
        freeFrame(store->frames.data[i].frame);
    }
}

double rbStore_GetEndTime(const rbStore* store)
{
    int count = store->frames.count;
    return count > 0 ? store->frames.data[count - 1].frame->time : 0.0;
}

double rbStore_GetShownTime(const rbStore* store)
{
    return store->shown >= 0 ? store->frames.data[store->shown].frame->time : 0.0;
}

double rbStore_GetFrameTime(const rbStore* store, int64_t index)
{
    RB_ASSERT(index >= 0 && index < store->frames.count);
    return store->frames.data[index].frame->time;
}

int64_t rbStore_GetFrameSource(const rbStore* store, int64_t index)
{
    RB_ASSERT(index >= 0 && index < store->frames.count);
    return store->frames.data[index].frame->source;
}

int64_t rbStore_GetFrameCount(const rbStore* store)
{
    return store->frames.count;
}

bool rbStore_ReadFrame(const rbStore* store, int64_t index, rbFrame* frame)
{
    if (index < 0 || index >= store->frames.count) {
        return false;
    }
    const rbStoredFrame* stored = store->frames.data[index].frame;
    *frame = (rbFrame){.time = stored->time,
                       .bodyCount = stored->bodyCount,
                       .positions = stored->positions,
                       .orientations = stored->orientations,
                       .linearVelocities = stored->linearVelocities,
                       .angularVelocities = stored->angularVelocities,
                       .ledger = stored->ledger};
    return true;
}

// ----------------------------------------------------------------------------------------- events

int64_t rbStore_GetEventCount(const rbStore* store)
{
    return store->eventEnd - store->eventFirst;
}

bool rbStore_ReadEvents(const rbStore* store, int64_t first, int count, rbRecordedEvent* events)
{
    if (first < 0 || count < 0 || first + count > rbStore_GetEventCount(store)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        events[i] = store->events[(store->eventFirst + first + i) % RB_STORE_EVENTS_MAX];
    }
    return true;
}

// ------------------------------------------------------------------------------------------ state

void rbStore_SetPlayState(rbStore* store, const rbPlayState* state)
{
    rbStore_Lock(store);
    store->play = *state;
    store->play.sentence[sizeof store->play.sentence - 1] = '\0';
    ++store->playVersion;
    rbStore_Unlock(store);
}

void rbStore_SetParameters(rbStore* store, const char* json)
{
    rbStore_Lock(store);
    rbMessage_Clear(&store->parameters, true);
    rbMessage_Text(&store->parameters, json);
    ++store->parametersVersion;
    rbStore_Unlock(store);
}
