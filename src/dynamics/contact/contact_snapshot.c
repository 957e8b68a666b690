// Snapshots of the contact finder: everything that later results depend on.
//
// This includes the caches of pairs and the boxes, which decide how long a pair lives: measurements
// with another start agree only to rounding. It excludes shapes, materials and exclusions; they
// must be the same on restore.
#include "collision/distance/tree_pair.h"
#include "dynamics/contact/contact_state.h"

#include <string.h>

#define SNAPSHOT_MAGIC 0x524b3101u

typedef struct Header {
    uint32_t magic;
    int32_t bodyCount;
    int32_t pairCount;
    int32_t dropped;
    int32_t current;
    int32_t kept;
    uint32_t findStamp;
    int32_t deepestA;
    int32_t deepestB;
    int32_t unused;
    double deepest;
    uint64_t size; // of all
} Header;

typedef struct BodyState {
    uint64_t hash; // of the geometry; 0: none
    rbVec3 position;
    rbQuat orientation;
    double reach;
    double travel;
    rbBounds box;
    double room;
    double travelAtBox;
    uint32_t poseStamp;
    bool isPlaced;
    bool isStale;
} BodyState;

typedef struct PairState {
    int32_t a;
    int32_t b;
    rbContactCandidate pair;
    rbPairSpans spans;
    double cache[sizeof(((rbSeparationCache*)0)->opaque) / sizeof(double)];
    bool hasFront;
} PairState;

typedef struct FrameCounts {
    uint32_t stamp;
    int32_t contacts;
    int32_t points;
    int32_t keptPoints;
    int32_t keptTurnings;
    int32_t orientations;
} FrameCounts;

typedef struct Cursor {
    char* bytes; // NULL: counts only
    size_t size;
} Cursor;

typedef struct Source {
    const char* bytes;
    size_t size;
} Source;

static void put(Cursor* cursor, const void* data, size_t size)
{
    if (cursor->bytes != NULL && size > 0) {
        memcpy(cursor->bytes + cursor->size, data, size);
    }
    cursor->size += size;
}

static void take(Source* source, void* data, size_t size)
{
    if (size > 0) {
        memcpy(data, source->bytes + source->size, size);
    }
    source->size += size;
}

#define PUT_ARRAY(cursor, array) \
    put((cursor), (array).data, (size_t)(array).count * sizeof *(array).data)
#define TAKE_ARRAY(source, array, number)                              \
    ((void)rbArray_Reserve(array, (number)), (array).count = (number), \
     take((source), (array).data, (size_t)(number) * sizeof *(array).data))

// -------------------------------------------------------------------------------------- taking

static void putBody(const rbNearBody* body, Cursor* cursor)
{
    BodyState state;
    memset(&state, 0, sizeof state);
    state.hash = body->geometry != NULL ? body->hash : 0;
    state.position = body->position;
    state.orientation = body->orientation;
    state.reach = body->reach;
    state.travel = body->travel;
    state.box = body->box;
    state.room = body->room;
    state.travelAtBox = body->travelAtBox;
    state.poseStamp = body->poseStamp;
    state.isPlaced = body->isPlaced;
    state.isStale = body->isStale;
    put(cursor, &state, sizeof state);
}

static void putPair(const rbContactPairs* pairs, int slot, Cursor* cursor)
{
    const rbSeparationCache* cache = &pairs->caches.data[slot];
    PairState state;
    memset(&state, 0, sizeof state);
    state.a = pairs->table.entries[slot].ids[0];
    state.b = pairs->table.entries[slot].ids[1];
    state.pair = pairs->pairs.data[slot];
    state.spans = pairs->spans.data[slot];
    memcpy(state.cache, cache->opaque, sizeof state.cache);
    state.hasFront = cache->front != NULL;
    put(cursor, &state, sizeof state);
    if (cache->front != NULL) {
        put(cursor, cache->front, sizeof *cache->front);
        put(cursor, cache->front->entries,
            (size_t)cache->front->count * sizeof *cache->front->entries);
    }
}

static void putFrame(const rbContactFrame* frame, Cursor* cursor)
{
    FrameCounts counts = {frame->stamp,
                          frame->contacts.count,
                          frame->points.count,
                          frame->keptPoints.count,
                          frame->keptTurnings.count,
                          frame->orientations.count};
    put(cursor, &counts, sizeof counts);
    PUT_ARRAY(cursor, frame->contacts);
    PUT_ARRAY(cursor, frame->foundContacts);
    PUT_ARRAY(cursor, frame->points);
    PUT_ARRAY(cursor, frame->foundPoints);
    PUT_ARRAY(cursor, frame->keptPoints);
    PUT_ARRAY(cursor, frame->keptTurnings);
    PUT_ARRAY(cursor, frame->orientations);
}

static void write(const rbContactPairs* pairs, uint64_t size, Cursor* cursor)
{
    Header header;
    memset(&header, 0, sizeof header);
    header.magic = SNAPSHOT_MAGIC;
    header.bodyCount = pairs->bodies.count;
    header.pairCount = pairs->table.count;
    header.dropped = pairs->dropped;
    header.current = pairs->current;
    header.kept = pairs->kept;
    header.findStamp = pairs->findStamp;
    header.deepestA = pairs->deepestA;
    header.deepestB = pairs->deepestB;
    header.deepest = pairs->deepest;
    header.size = size;
    put(cursor, &header, sizeof header);
    for (int i = 0; i < pairs->bodies.count; ++i) {
        putBody(&pairs->bodies.data[i], cursor);
    }
    // in memory order: their order has no meaning
    for (int slot = 0; slot < pairs->table.end; ++slot) {
        if (pairs->table.entries[slot].ids[0] >= 0) {
            putPair(pairs, slot, cursor);
        }
    }
    putFrame(&pairs->frames[pairs->current], cursor);
    if (pairs->kept >= 0 && pairs->kept != pairs->current) {
        putFrame(&pairs->frames[pairs->kept], cursor);
    }
}

size_t rbContactPairs_GetSnapshotSize(const rbContactPairs* pairs)
{
    Cursor cursor = {NULL, 0};
    write(pairs, 0, &cursor);
    return cursor.size;
}

void rbContactPairs_TakeSnapshot(const rbContactPairs* pairs, void* bytes)
{
    RB_ASSERT(bytes != NULL);
    Cursor cursor = {bytes, 0};
    write(pairs, rbContactPairs_GetSnapshotSize(pairs), &cursor);
}

// ----------------------------------------------------------------------------------- restoring

// Are the shapes the same, and does the size match?
static bool isOurs(const rbContactPairs* pairs, const void* bytes, size_t size)
{
    Header header;
    Source source = {bytes, 0};
    if (size < sizeof header) {
        return false;
    }
    take(&source, &header, sizeof header);
    if (header.magic != SNAPSHOT_MAGIC || header.size != size ||
        header.bodyCount != pairs->bodies.count || header.current < 0 ||
        header.current >= RB_CONTACT_FRAMES || header.kept >= RB_CONTACT_FRAMES) {
        return false;
    }
    for (int i = 0; i < pairs->bodies.count; ++i) {
        BodyState state;
        take(&source, &state, sizeof state);
        const rbNearBody* body = &pairs->bodies.data[i];
        if (state.hash != (body->geometry != NULL ? body->hash : 0)) {
            return false;
        }
    }
    return true;
}

static void takeBody(rbContactPairs* pairs, int index, Source* source)
{
    BodyState state;
    take(source, &state, sizeof state);
    rbNearBody* body = &pairs->bodies.data[index];
    body->position = state.position;
    body->orientation = state.orientation;
    rbNearBody_Pose(body);
    body->reach = state.reach;
    body->travel = state.travel;
    body->box = state.box;
    body->room = state.room;
    body->travelAtBox = state.travelAtBox;
    body->poseStamp = state.poseStamp;
    body->isPlaced = state.isPlaced;
    body->isStale = state.isStale;
    body->isJumping = false;
    body->midwayStamp = 0;
    bool isIn = body->geometry != NULL && body->isPlaced && body->isBounded;
    if (isIn) {
        rbBroadPhase_Place(pairs->broad, index, body->box, NULL);
    } else if (rbBroadPhase_Has(pairs->broad, index)) {
        rbBroadPhase_Remove(pairs->broad, index);
    }
}

static void takeFront(rbFront* front, Source* source)
{
    rbFront saved;
    take(source, &saved, sizeof saved);
    RB_ASSERT(front->capacity >= saved.count);
    saved.entries = front->entries;
    saved.capacity = front->capacity;
    *front = saved;
    take(source, front->entries, (size_t)saved.count * sizeof *saved.entries);
}

static void takePair(rbContactPairs* pairs, Source* source)
{
    PairState state;
    take(source, &state, sizeof state);
    int slot = rbContactPairs_AddPair(pairs, state.a, state.b);
    rbSeparationCache* cache = &pairs->caches.data[slot];
    pairs->pairs.data[slot] = state.pair;
    pairs->spans.data[slot] = state.spans;
    memcpy(cache->opaque, state.cache, sizeof state.cache);
    RB_ASSERT(state.hasFront == (cache->front != NULL));
    if (state.hasFront) {
        takeFront(cache->front, source);
    }
}

static void takeFrame(rbContactFrame* frame, Source* source)
{
    FrameCounts counts;
    take(source, &counts, sizeof counts);
    frame->stamp = counts.stamp;
    TAKE_ARRAY(source, frame->contacts, counts.contacts);
    TAKE_ARRAY(source, frame->foundContacts, counts.contacts);
    TAKE_ARRAY(source, frame->points, counts.points);
    TAKE_ARRAY(source, frame->foundPoints, counts.points);
    TAKE_ARRAY(source, frame->keptPoints, counts.keptPoints);
    TAKE_ARRAY(source, frame->keptTurnings, counts.keptTurnings);
    TAKE_ARRAY(source, frame->orientations, counts.orientations);
}

bool rbContactPairs_RestoreSnapshot(rbContactPairs* pairs, const void* bytes, size_t size)
{
    if (!isOurs(pairs, bytes, size)) {
        return false;
    }
    Header header;
    Source source = {bytes, 0};
    take(&source, &header, sizeof header);
    for (int slot = 0; slot < pairs->table.end; ++slot) {
        if (pairs->table.entries[slot].ids[0] >= 0) {
            rbContactPairs_RemovePair(pairs, slot);
        }
    }
    pairs->dropped = header.dropped;
    pairs->current = header.current;
    pairs->node = header.current;
    pairs->kept = header.kept;
    pairs->findStamp = header.findStamp;
    pairs->deepest = header.deepest;
    pairs->deepestA = header.deepestA;
    pairs->deepestB = header.deepestB;
    for (int i = 0; i < pairs->bodies.count; ++i) {
        takeBody(pairs, i, &source);
    }
    for (int i = 0; i < header.pairCount; ++i) {
        takePair(pairs, &source);
    }
    takeFrame(&pairs->frames[header.current], &source);
    if (header.kept >= 0 && header.kept != header.current) {
        takeFrame(&pairs->frames[header.kept], &source);
    }
    RB_ASSERT(source.size == size);
    return true;
}
