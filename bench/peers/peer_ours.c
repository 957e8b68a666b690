#include "peers/peer_ours.h"

#include "base/core/memory.h"
#include "collision/convex/gjk.h"

#include <rattleback/collision.h>

#include <string.h>

// Methods by name, because a build of the library may lack some; the option of a row is an index.
static const char* const methodNames[] = {"auto", "iterative", "features", "mpr"};
#define METHOD_COUNT (int)(sizeof methodNames / sizeof methodNames[0])

typedef struct rbOursState {
    rbSeparationInput* inputs; // one for each pair
    rbSeparationCache* caches; // one for each slot
    rbConvex body;             // of both shapes
    rbGjkCache* gjkCaches;     // one for each slot
    void* scratch;
    int pairCount, slotCount;
    rbPairMethod methods[METHOD_COUNT]; // the count of all methods: not in this library
} rbOursState;

static double measure(const rbPeerRow* row, void* data, int pair, int slot)
{
    rbOursState* state = data;
    rbSeparationInput* input = &state->inputs[pair];
    input->method = state->methods[row->option];
    if ((int)input->method >= rbPairMethod_GetCount()) {
        return NAN;
    }
    rbSeparation separation;
    rbSeparationCache* cache = slot >= 0 ? &state->caches[slot] : NULL;
    rbStatus status = rbMeasureSeparation(input, cache, state->scratch, &separation, NULL);
    return status == RB_STATUS_OK ? separation.distance : (double)NAN;
}

// The kernel alone, with bodies prepared once: GJK with witnesses and bounds.
static double solveGjk(const rbPeerRow* row, void* data, int pair, int slot)
{
    (void)row;
    rbOursState* state = data;
    rbCso cso = rbCso_Make(&state->body, &state->body, state->inputs[pair].transformBtoA);
    rbGjkResult result;
    rbGjk_Solve(&cso, NULL, slot >= 0 ? &state->gjkCaches[slot] : NULL, &result);
    return rbDot(rbSub(result.b, result.a), result.normal);
}

static double testOverlap(const rbPeerRow* row, void* data, int pair, int slot)
{
    rbOursState* state = data;
    rbSeparationInput* input = &state->inputs[pair];
    input->method = state->methods[row->option];
    if ((int)input->method >= rbPairMethod_GetCount()) {
        return NAN;
    }
    bool overlaps = false;
    rbSeparationCache* cache = slot >= 0 ? &state->caches[slot] : NULL;
    rbStatus status = rbTestOverlap(input, 0.0, cache, &overlaps, NULL);
    double flag = overlaps ? -1.0 : 1.0;
    return status == RB_STATUS_OK ? flag : (double)NAN;
}

static rbTransform makeTransform(const rbPeerPose* pose)
{
    const double* p = pose->position;
    const double* q = pose->quaternion;
    return (rbTransform){{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
}

static void* create(const rbPeerShape* shape, const rbPeerPair* pairs, int pairCount, int slotCount)
{
    rbOursState* state = rbAllocZero(1, sizeof *state);
    state->pairCount = pairCount;
    state->slotCount = slotCount;
    state->inputs = rbAllocZero((size_t)pairCount, sizeof *state->inputs);
    state->caches = rbAllocZero((size_t)slotCount, sizeof *state->caches);
    state->gjkCaches = rbAllocZero((size_t)slotCount, sizeof *state->gjkCaches);
    (void)rbConvex_Make(shape->ours, 0.0, &state->body);
    state->scratch = rbAlloc(rbGetSeparationScratchSize());
    for (int i = 0; i < pairCount; ++i) {
        state->inputs[i] = rbDefaultSeparationInput();
        state->inputs[i].geometryA = shape->ours;
        state->inputs[i].geometryB = shape->ours;
        rbTransform relative =
            rbInvMulTransforms(makeTransform(&pairs[i].a), makeTransform(&pairs[i].b));
        relative.q = rbNormalizeQuat(relative.q);
        state->inputs[i].transformBtoA = relative;
    }
    for (int i = 0; i < METHOD_COUNT; ++i) {
        state->methods[i] = rbPairMethod_Find(methodNames[i]);
    }
    return state;
}

static void forget(void* data)
{
    rbOursState* state = data;
    memset(state->caches, 0, (size_t)state->slotCount * sizeof *state->caches);
    memset(state->gjkCaches, 0, (size_t)state->slotCount * sizeof *state->gjkCaches);
}

static void destroy(void* data)
{
    rbOursState* state = data;
    rbFree(state->inputs, (size_t)state->pairCount * sizeof *state->inputs);
    rbFree(state->caches, (size_t)state->slotCount * sizeof *state->caches);
    rbFree(state->gjkCaches, (size_t)state->slotCount * sizeof *state->gjkCaches);
    rbFree(state->scratch, rbGetSeparationScratchSize());
    rbFree(state, sizeof *state);
}

// The first row of a kind is the one that is compared: the default of the library.
static const rbPeerRow rows[] = {
    {"", RB_PEER_DISTANCE, 0.0, measure, 0},
    {"iterative", RB_PEER_DISTANCE, 0.0, measure, 1},
    {"gjk kernel", RB_PEER_DISTANCE, 0.0, solveGjk, 0},
    {"features", RB_PEER_DISTANCE, 0.0, measure, 2},
    {"", RB_PEER_DEPTH, 0.0, measure, 0},
    {"iterative", RB_PEER_DEPTH, 0.0, measure, 1},
    {"features", RB_PEER_DEPTH, 0.0, measure, 2},
    {"mpr", RB_PEER_DEPTH, 0.0, measure, 3},
    {"", RB_PEER_BOOL, 0.0, testOverlap, 0},
    {"iterative", RB_PEER_BOOL, 0.0, testOverlap, 1},
    {"mpr", RB_PEER_BOOL, 0.0, testOverlap, 3},
};

const rbPeer rbPeerOurs = {"rattleback", rows,   (int)(sizeof rows / sizeof rows[0]),
                           create,       forget, destroy};
