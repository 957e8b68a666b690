#include "peers/peer_mesh_ours.h"

#include "base/core/memory.h"
#include "peers/peer_pose.h"

#include <rattleback/collision.h>

#include <math.h>
#include <string.h>

typedef struct rbMeshOurs {
    rbGeometry* geometry;
    size_t bytes;
    rbSeparationInput* inputs; // one for each pair
    rbTransform* transformsA;  // A to the world, one for each pair
    rbSeparationCache* caches; // one for each slot
    void* scratch;
    int pairCount, slotCount;
} rbMeshOurs;

// A cache that keeps the front of the search, and the end of that front.
static void makeCache(rbSeparationCache* cache)
{
    *cache = (rbSeparationCache){.opaque = {0}, .front = rbCreateFront(RB_FRONT_CAPACITY)};
}

static void freeCache(rbSeparationCache* cache)
{
    rbDestroyFront(cache->front);
}

static void freePairs(rbMeshOurs* state)
{
    for (int i = 0; i < state->slotCount; ++i) {
        freeCache(&state->caches[i]);
    }
    rbFree(state->inputs, (size_t)state->pairCount * sizeof *state->inputs);
    rbFree(state->transformsA, (size_t)state->pairCount * sizeof *state->transformsA);
    rbFree(state->caches, (size_t)state->slotCount * sizeof *state->caches);
    state->pairCount = 0;
    state->slotCount = 0;
}

static void* create(const rbPeerMesh* mesh)
{
    RB_ASSERT(sizeof(rbVec3) == sizeof mesh->vertices[0]);
    rbMeshDef def = {
        .vertices = (const rbVec3*)mesh->vertices,
        .vertexCount = mesh->vertexCount,
        .indices = &mesh->triangles[0][0],
        .faceCount = mesh->triangleCount,
    };
    uint64_t before = rbGetAllocatedBytes();
    rbGeometry* geometry = rbCreateMesh(&def, NULL);
    size_t bytes = (size_t)(rbGetAllocatedBytes() - before);
    if (geometry == NULL) {
        return NULL;
    }
    rbMeshOurs* state = rbAllocZero(1, sizeof *state);
    state->geometry = geometry;
    state->bytes = bytes;
    state->scratch = rbAlloc(rbGetSeparationScratchSize());
    return state;
}

static void destroy(void* data)
{
    rbMeshOurs* state = data;
    freePairs(state);
    rbFree(state->scratch, rbGetSeparationScratchSize());
    rbDestroyGeometry(state->geometry);
    rbFree(state, sizeof *state);
}

static size_t getBytes(const void* data)
{
    return ((const rbMeshOurs*)data)->bytes;
}

static void setPairs(void* data, const rbPeerPair* pairs, int pairCount, int slotCount)
{
    rbMeshOurs* state = data;
    freePairs(state);
    state->pairCount = pairCount;
    state->slotCount = slotCount;
    state->inputs = rbAlloc((size_t)pairCount * sizeof *state->inputs);
    state->transformsA = rbAlloc((size_t)pairCount * sizeof *state->transformsA);
    state->caches = rbAlloc((size_t)slotCount * sizeof *state->caches);
    for (int i = 0; i < pairCount; ++i) {
        rbSeparationInput input = rbDefaultSeparationInput();
        input.isDepthUnwanted = true; // no peer reports one
        input.geometryA = state->geometry;
        input.geometryB = state->geometry;
        state->transformsA[i] = rbReadPeerPose(&pairs[i].a);
        input.transformBtoA =
            rbInvMulTransforms(state->transformsA[i], rbReadPeerPose(&pairs[i].b));
        state->inputs[i] = input;
    }
    for (int i = 0; i < slotCount; ++i) {
        makeCache(&state->caches[i]);
    }
}

static void writePoint(rbTransform transform, rbVec3 point, double target[3])
{
    rbVec3 world = rbTransformPoint(transform, point);
    target[0] = world.x;
    target[1] = world.y;
    target[2] = world.z;
}

static void measure(void* data, int pair, int slot, rbPeerWitness* witness)
{
    rbMeshOurs* state = data;
    rbSeparation separation;
    rbSeparationCache* cache = slot >= 0 ? &state->caches[slot] : NULL;
    rbStatus status =
        rbMeasureSeparation(&state->inputs[pair], cache, state->scratch, &separation, NULL);
    if (status != RB_STATUS_OK) {
        witness->distance = NAN;
        return;
    }
    witness->distance = fmax(0.0, separation.distance);
    writePoint(state->transformsA[pair], separation.pointA, witness->pointA);
    writePoint(state->transformsA[pair], separation.pointB, witness->pointB);
}

static int overlaps(void* data, int pair)
{
    rbMeshOurs* state = data;
    bool answer = false;
    rbStatus status = rbTestOverlap(&state->inputs[pair], 0.0, NULL, &answer, NULL);
    return status == RB_STATUS_OK ? answer : -1;
}

static const rbMeshPeerRow rows[] = {
    {"", create, destroy, getBytes, setPairs, measure, overlaps},
};

const rbMeshPeer rbMeshPeerOurs = {"rattleback", rows, 1};
