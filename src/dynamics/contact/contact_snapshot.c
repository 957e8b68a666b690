// Snapshots of the contact finder: everything that later results depend on.
//
// This includes the caches of pairs and the boxes, which decide how long a pair lives: measurements
// with another start agree only to rounding. It excludes shapes, materials and exclusions; they
// must be the same on restore.
#include "base/core/byte_stream.h"
#include "base/core/hash.h"
#include "collision/distance/tree_pair.h"
#include "dynamics/contact/contact_state.h"

#define SNAPSHOT_MAGIC 0x524b3102u

typedef struct Header {
    uint32_t magic;
    int32_t bodyCount;
    int32_t pairCount;
    int32_t current;
    int32_t kept;
    int32_t unused;
    uint64_t shapes; // hash of the geometries of all bodies
    uint64_t size;   // of all
} Header;

static uint64_t hashShapes(const rbContactPairs* pairs)
{
    uint64_t hash = RB_HASH_SEED;
    for (int i = 0; i < pairs->bodies.count; ++i) {
        const rbNearBody* body = &pairs->bodies.data[i];
        uint64_t own = body->geometry != NULL ? body->hash : 0;
        hash = rbHashBytes(hash, &own, sizeof own);
    }
    return hash;
}

static void placeBody(rbContactPairs* pairs, int index)
{
    rbNearBody* body = &pairs->bodies.data[index];
    rbNearBody_Pose(body);
    rbNearBody_Heat(body, &pairs->hots.data[index]);
    body->isJumping = false;
    body->midway.stamp = 0;
    bool isIn = body->geometry != NULL && body->isPlaced && body->traits.isBounded;
    if (isIn) {
        rbBroadPhase_Place(pairs->broad, index, body->box.bounds, NULL);
    } else if (rbBroadPhase_Has(pairs->broad, index)) {
        rbBroadPhase_Remove(pairs->broad, index);
    }
}

static void moveBody(rbContactPairs* pairs, int index, rbByteStream* stream)
{
    rbNearBody* body = &pairs->bodies.data[index];
    RB_MOVE(stream, body->position);
    RB_MOVE(stream, body->orientation);
    RB_MOVE(stream, body->reach);
    RB_MOVE(stream, body->travel);
    RB_MOVE(stream, body->box.bounds);
    RB_MOVE(stream, body->box.room);
    RB_MOVE(stream, body->box.travel);
    RB_MOVE(stream, body->poseStamp);
    RB_MOVE(stream, body->isPlaced);
    RB_MOVE(stream, body->isStale);
    if (stream->isLoading) {
        placeBody(pairs, index);
    }
}

// Loading adds the pair; slot is not used then.
static void movePair(rbContactPairs* pairs, int slot, rbByteStream* stream)
{
    int32_t ids[2] = {-1, -1};
    if (!stream->isLoading) {
        memcpy(ids, pairs->table.entries[slot].ids, sizeof ids);
    }
    RB_MOVE(stream, ids);
    slot = stream->isLoading ? rbContactPairs_AddPair(pairs, ids[0], ids[1]) : slot;
    rbSeparationCache* cache = &pairs->caches.data[slot];
    RB_MOVE(stream, pairs->pairs.data[slot]);
    RB_MOVE(stream, pairs->spans.data[slot]);
    RB_MOVE(stream, cache->opaque);
    // Whether a pair has a front follows from its shapes.
    if (cache->front != NULL) {
        rbFront_Move(cache->front, stream);
    }
}

static void moveFrame(rbContactFrame* frame, rbByteStream* stream)
{
    RB_MOVE(stream, frame->stamp);
    RB_MOVE_ARRAY(stream, frame->contacts);
    RB_MOVE_ARRAY(stream, frame->foundContacts);
    RB_MOVE_ARRAY(stream, frame->points);
    RB_MOVE_ARRAY(stream, frame->foundPoints);
    RB_MOVE_ARRAY(stream, frame->keptPoints);
    RB_MOVE_ARRAY(stream, frame->keptTurnings);
    RB_MOVE_ARRAY(stream, frame->orientations);
}

static void movePairs(rbContactPairs* pairs, int pairCount, rbByteStream* stream)
{
    if (stream->isLoading) {
        for (int i = 0; i < pairCount; ++i) {
            movePair(pairs, -1, stream);
        }
        return;
    }
    // in memory order: their order has no meaning
    for (int slot = 0; slot < pairs->table.end; ++slot) {
        if (pairs->table.entries[slot].ids[0] >= 0) {
            movePair(pairs, slot, stream);
        }
    }
}

// All but the header, which has the numbers of the frames.
static void moveAll(rbContactPairs* pairs, int pairCount, rbByteStream* stream)
{
    RB_MOVE(stream, pairs->dropped);
    RB_MOVE(stream, pairs->search.stamp);
    RB_MOVE(stream, pairs->deepest.depth);
    RB_MOVE(stream, pairs->deepest.bodyA);
    RB_MOVE(stream, pairs->deepest.bodyB);
    for (int i = 0; i < pairs->bodies.count; ++i) {
        moveBody(pairs, i, stream);
    }
    movePairs(pairs, pairCount, stream);
    moveFrame(&pairs->frames[pairs->current], stream);
    if (pairs->kept >= 0 && pairs->kept != pairs->current) {
        moveFrame(&pairs->frames[pairs->kept], stream);
    }
}

size_t rbContactPairs_GetSnapshotSize(const rbContactPairs* pairs)
{
    rbByteStream stream = {.size = sizeof(Header)};
    moveAll((rbContactPairs*)pairs, pairs->table.count, &stream); // counting changes nothing
    return stream.size;
}

void rbContactPairs_TakeSnapshot(const rbContactPairs* pairs, void* bytes)
{
    RB_ASSERT(bytes != NULL);
    Header header = {.magic = SNAPSHOT_MAGIC,
                     .bodyCount = pairs->bodies.count,
                     .pairCount = pairs->table.count,
                     .current = pairs->current,
                     .kept = pairs->kept,
                     .shapes = hashShapes(pairs),
                     .size = rbContactPairs_GetSnapshotSize(pairs)};
    rbByteStream stream = {.bytes = bytes};
    RB_MOVE(&stream, header);
    moveAll((rbContactPairs*)pairs, header.pairCount, &stream); // saving changes nothing
}

// Are the shapes the same, and does the size match?
static bool isOurs(const rbContactPairs* pairs, const Header* header, size_t size)
{
    return header->magic == SNAPSHOT_MAGIC && header->size == size &&
           header->bodyCount == pairs->bodies.count && header->current >= 0 &&
           header->current < RB_CONTACT_FRAMES && header->kept < RB_CONTACT_FRAMES &&
           header->shapes == hashShapes(pairs);
}

bool rbContactPairs_RestoreSnapshot(rbContactPairs* pairs, const void* bytes, size_t size)
{
    Header header = {0};
    rbByteStream stream = {.bytes = (char*)bytes, .isLoading = true};
    if (size < sizeof header) {
        return false;
    }
    RB_MOVE(&stream, header);
    if (!isOurs(pairs, &header, size)) {
        return false;
    }
    for (int slot = 0; slot < pairs->table.end; ++slot) {
        if (pairs->table.entries[slot].ids[0] >= 0) {
            rbContactPairs_RemovePair(pairs, slot);
        }
    }
    pairs->current = header.current;
    pairs->node = header.current;
    pairs->kept = header.kept;
    moveAll(pairs, header.pairCount, &stream);
    RB_ASSERT(stream.size == size);
    return true;
}
