// Distance queries: validates the input, sets up the search, runs the row of the traversal,
// reports.
#include "lab/distance/search.h"

#include "base/core/cookie.h"
#include "base/core/memory.h"
#include "base/core/words.h"
#include "lab/distance/sequence.h"

#include <float.h>

// A node counts as much larger than another if their radii have at least this ratio: one split
// roughly halves a radius.
#define HYBRID_RATIO 2.0

// Costs of a volume test and an update of the default volume in elementary triangle tests: 109 and
// 24 ns compared with 255 ns. Spheres and boxes cost a tenth of that, fixed directions a third.
#define VOLUME_TEST_COST 0.4
#define VOLUME_UPDATE_COST 0.1

static const struct {
    const char* name;
    rbTraversalFn* run;
} traversals[RB_TRAVERSAL_COUNT] = {
    [RB_TRAVERSAL_NAIVE] = {"naive", rbSearchNaive},
    [RB_TRAVERSAL_INDIFFERENT] = {"indifferent", rbSearchDepthFirst},
    [RB_TRAVERSAL_UPDATE_MINIMAL] = {"update-minimal", rbSearchDepthFirst},
    [RB_TRAVERSAL_LOCAL] = {"local", rbSearchDepthFirst},
    [RB_TRAVERSAL_GLOBAL] = {"global", rbSearchBestFirst},
};

static unsigned openBoth(const rbHierarchyNode* nodeA, const rbHierarchyNode* nodeB)
{
    (void)nodeA;
    (void)nodeB;
    return RB_OPEN_A | RB_OPEN_B;
}

static unsigned openLarger(const rbHierarchyNode* nodeA, const rbHierarchyNode* nodeB)
{
    return nodeA->radius >= nodeB->radius ? RB_OPEN_A : RB_OPEN_B;
}

static unsigned openHybrid(const rbHierarchyNode* nodeA, const rbHierarchyNode* nodeB)
{
    bool isAlike = nodeA->radius <= HYBRID_RATIO * nodeB->radius &&
                   nodeB->radius <= HYBRID_RATIO * nodeA->radius;
    return isAlike ? RB_OPEN_A | RB_OPEN_B : openLarger(nodeA, nodeB);
}

static const struct {
    const char* name;
    unsigned (*choose)(const rbHierarchyNode* nodeA, const rbHierarchyNode* nodeB);
} expansions[RB_EXPANSION_COUNT] = {
    [RB_EXPANSION_BOTH] = {"both", openBoth},
    [RB_EXPANSION_LARGER] = {"larger", openLarger},
    [RB_EXPANSION_HYBRID] = {"hybrid", openHybrid},
};

static const char* const stopNames[RB_SEARCH_COUNT] = {
    [RB_SEARCH_DONE] = "done",
    [RB_SEARCH_QUALITY] = "quality",
    [RB_SEARCH_BUDGET] = "budget",
};
RB_DEFINE_NAME(rbSearchStop, RB_SEARCH_COUNT, stopNames[index])
RB_DEFINE_WORDS(rbTraversal, "traversal", RB_TRAVERSAL_COUNT, traversals[index].name)
RB_DEFINE_WORDS(rbExpansion, "expansion", RB_EXPANSION_COUNT, expansions[index].name)
RB_DEFINE_WORDS(rbSequence, "sequence", RB_SEQUENCE_COUNT,
                rbGetSequenceRow((rbSequence)index)->name)

void rbInitDistanceInput(rbDistanceInput* input, uint32_t abi, size_t size)
{
    if (rbStampDef(input, RB_KIND_DISTANCE, sizeof *input, abi, size)) {
        input->transformBtoA.q.w = 1.0;
        input->traversal = RB_TRAVERSAL_GLOBAL;
        input->expansion = RB_EXPANSION_BOTH;
        input->sequence = RB_SEQUENCE_HEAP;
        input->usesRepresentatives = true;
        input->volumeTestCost = VOLUME_TEST_COST;
        input->volumeUpdateCost = VOLUME_UPDATE_COST;
    }
}

unsigned rbChooseOpening(rbExpansion expansion, const rbHierarchyNode* nodeA,
                         const rbHierarchyNode* nodeB)
{
    if (nodeA->childCount == 0) {
        return nodeB->childCount == 0 ? 0u : RB_OPEN_B;
    }
    return nodeB->childCount == 0 ? RB_OPEN_A : expansions[expansion].choose(nodeA, nodeB);
}

// ------------------------------------------------------------------------------------ one pair

static void setBest(rbSearch* search, rbVec3 a, rbVec3 b, double squared)
{
    search->bestSquared = squared;
    search->best = sqrt(squared);
    search->limit = search->slope * search->best;
    search->pointA = a;
    search->pointB = b;
}

static rbVec3 moveToA(const rbSearch* search, rbVec3 point)
{
    return rbAdd(rbMulMV(search->rotation, point), search->translation);
}

// The face of B at a place in the frame of A; its corners live until the next call.
static rbFacet moveFacet(rbSearch* search, int place)
{
    rbFacet facet = rbHierarchy_GetFacet(search->b, place);
    for (int i = 0; i < facet.count; ++i) {
        search->moved[i] = moveToA(search, facet.corners[i]);
    }
    facet.corners = search->moved;
    facet.normal = rbMulMV(search->rotation, facet.normal);
    facet.offset += rbDot(facet.normal, search->translation);
    return facet;
}

static void measureFacets(rbSearch* search, int placeA, int placeB, const rbFacet* movedB)
{
    ++search->work.elementaryTests;
    rbFacet facetA = rbHierarchy_GetFacet(search->a, placeA);
    bool areTriangles = facetA.count == 3 && movedB->count == 3;
    rbClosest closest =
        areTriangles ? rbClosestOfTriangles(facetA.corners, movedB->corners, search->bestSquared)
                     : rbClosestOfFacets(&facetA, movedB);
    if (closest.squared < search->bestSquared) {
        setBest(search, closest.a, closest.b, closest.squared);
        search->placeA = placeA;
        search->placeB = placeB;
        search->cornerA = -1;
        search->cornerB = -1;
    }
}

void rbSearch_MeasureFaces(rbSearch* search, const rbHierarchyNode* nodeA,
                           const rbHierarchyNode* nodeB)
{
    for (int j = 0; j < nodeB->faceCount; ++j) {
        int placeB = nodeB->firstFace + j;
        rbFacet facetB = moveFacet(search, placeB);
        for (int i = 0; i < nodeA->faceCount && search->best > 0.0; ++i) {
            measureFacets(search, nodeA->firstFace + i, placeB, &facetB);
        }
    }
}

// The corner of a node farthest in a direction.
static int farthestCorner(const rbHierarchy* hierarchy, const rbHierarchyNode* node,
                          rbVec3 direction)
{
    int best = node->representatives[0];
    double most = rbDot(direction, hierarchy->corners[best]);
    for (int i = 1; i < node->representativeCount; ++i) {
        int corner = node->representatives[i];
        double value = rbDot(direction, hierarchy->corners[corner]);
        if (value > most) {
            most = value;
            best = corner;
        }
    }
    return best;
}

void rbSearch_MeasureRepresentatives(rbSearch* search, const rbHierarchyNode* nodeA,
                                     const rbHierarchyNode* nodeB)
{
    // from the center of A toward that of B, in the frames of both
    rbVec3 direction = rbSub(moveToA(search, nodeB->center), nodeA->center);
    rbVec3 back = rbNeg(rbMulMtV(search->rotation, direction));
    int cornerA = farthestCorner(search->a, nodeA, direction);
    int cornerB = farthestCorner(search->b, nodeB, back);
    rbVec3 a = search->a->corners[cornerA];
    rbVec3 b = moveToA(search, search->b->corners[cornerB]);
    ++search->work.representatives;
    double squared = rbLengthSquared(rbSub(b, a));
    if (squared < search->bestSquared) {
        setBest(search, a, b, squared);
        search->cornerA = cornerA;
        search->cornerB = cornerB;
    }
}

void rbSearchNaive(rbSearch* search, const rbDistanceInput* input, rbDistanceResult* result)
{
    (void)input;
    rbSearch_MeasureFaces(search, &search->a->nodes[0], &search->b->nodes[0]);
    result->lower = search->best;
    result->stop = RB_SEARCH_DONE;
}

// --------------------------------------------------------------------------------------- input

static rbStatus validateNumbers(const rbDistanceInput* input, rbError* error)
{
    if (!(input->relativeError >= 0.0 && input->relativeError < 1.0)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the relative error is %g; 0 to less than 1 are accepted",
                           input->relativeError);
    }
    if (!(input->budget >= 0.0)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the budget is %g elementary tests; 0 (none) and more are accepted",
                           input->budget);
    }
    if (!(input->volumeTestCost >= 0.0) || !(input->volumeUpdateCost >= 0.0)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "a volume test costs %g and an update %g elementary tests; 0 and more are accepted",
            input->volumeTestCost, input->volumeUpdateCost);
    }
    if (input->budget > 0.0 && input->traversal != RB_TRAVERSAL_GLOBAL) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "a budget of %g needs the traversal global; %s has no lower bound "
                           "before it ends",
                           input->budget, rbTraversal_Name(input->traversal));
    }
    return RB_STATUS_OK;
}

static rbStatus validatePose(rbTransform transform, rbError* error)
{
    rbVec3 p = transform.p;
    if (!(fabs(p.x) <= RB_LENGTH_MAX && fabs(p.y) <= RB_LENGTH_MAX && fabs(p.z) <= RB_LENGTH_MAX)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the position of B is (%g, %g, %g); coordinates up to %g m are accepted",
                           p.x, p.y, p.z, RB_LENGTH_MAX);
    }
    double square = rbDotQuat(transform.q, transform.q);
    if (!(fabs(square - 1.0) <= 2e-6)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the orientation of B must be a unit quaternion; its length is %g",
                           sqrt(square));
    }
    return RB_STATUS_OK;
}

static rbStatus validateInput(const rbDistanceInput* input, rbError* error)
{
    rbStatus status = RB_CHECK_COOKIE(input, RB_KIND_DISTANCE, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (input->a == NULL || input->b == NULL) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "hierarchy %s is NULL; see the error of its creation",
                           input->a == NULL ? "A" : "B");
    }
    if (input->a->row != input->b->row) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "A has volumes of the kind %s and B %s; both must have the same",
                           input->a->row->name, input->b->row->name);
    }
    if ((unsigned)input->traversal >= RB_TRAVERSAL_COUNT ||
        (unsigned)input->expansion >= RB_EXPANSION_COUNT ||
        (unsigned)input->sequence >= RB_SEQUENCE_COUNT) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "traversal %d, expansion %d or sequence %d is unknown; below %d, %d and %d are "
            "accepted",
            (int)input->traversal, (int)input->expansion, (int)input->sequence,
            (int)RB_TRAVERSAL_COUNT, (int)RB_EXPANSION_COUNT, (int)RB_SEQUENCE_COUNT);
    }
    status = validatePose(input->transformBtoA, error);
    return status == RB_STATUS_OK ? validateNumbers(input, error) : status;
}

// ---------------------------------------------------------------------------------- set up, end

static void startSearch(rbSearch* search, const rbDistanceInput* input)
{
    rbTransform transform = input->transformBtoA;
    transform.q = rbNormalizeQuat(transform.q);
    search->a = input->a;
    search->b = input->b;
    search->row = input->a->row;
    search->rotation = rbMatFromQuat(transform.q);
    search->translation = transform.p;
    search->slope = input->traversal == RB_TRAVERSAL_GLOBAL ? 1.0 : 1.0 - input->relativeError;
    search->usesRepresentatives = input->usesRepresentatives;
    search->best = INFINITY;
    search->bestSquared = INFINITY;
    search->limit = INFINITY;
    search->pointA = RB_VEC3_ZERO;
    search->pointB = RB_VEC3_ZERO;
    search->placeA = -1;
    search->placeB = -1;
    search->cornerA = -1;
    search->cornerB = -1;
    search->work = (rbDistanceWork){0};
    search->moved = search->buffer;
    if (input->b->cornersMax > RB_SEARCH_CORNERS) {
        search->moved = rbAlloc((size_t)input->b->cornersMax * sizeof(rbVec3));
    }
    if (input->traversal != RB_TRAVERSAL_NAIVE) {
        // volumes extend a little beyond the vertices, moved boxes up to sqrt(3) times as far
        double size = 4.0 * (input->a->mesh->scale + input->b->mesh->scale) +
                      2.0 * rbLargestComponent(transform.p);
        search->row->prepare(transform, size, &search->motion);
    }
}

static void endSearch(rbSearch* search)
{
    if (search->moved != search->buffer) {
        rbFree(search->moved, (size_t)search->b->cornersMax * sizeof(rbVec3));
    }
}

// Measures the faces of the last closest pair again: every traversal would find the same distance
// for them, to the bit, so the cached pair changes the work and not the answer.
static void recall(rbSearch* search, const rbPairMemory* memory)
{
    const rbHierarchy* bodies[2] = {search->a, search->b};
    const int faces[2] = {memory->faceA, memory->faceB};
    int places[2];
    for (int k = 0; k < 2; ++k) {
        if (faces[k] < 0 || faces[k] >= bodies[k]->faceCount) {
            return;
        }
        places[k] = bodies[k]->placeOfFace[faces[k]];
    }
    rbFacet facetB = moveFacet(search, places[1]);
    measureFacets(search, places[0], places[1], &facetB);
}

static void report(rbSearch* search, rbPairMemory* memory, rbDistanceResult* result)
{
    if (search->cornerA >= 0) {
        search->placeA = rbHierarchy_FindPlaceOfCorner(search->a, search->cornerA);
        search->placeB = rbHierarchy_FindPlaceOfCorner(search->b, search->cornerB);
    }
    RB_ASSERT(search->placeA >= 0 && search->placeB >= 0);
    RB_ASSERT(result->lower <= search->best);
    result->distance = search->best;
    result->pointA = search->pointA;
    result->pointB = search->pointB;
    result->faceA = search->a->faces[search->placeA];
    result->faceB = search->b->faces[search->placeB];
    result->work = search->work;
    if (memory != NULL) {
        memory->isSet = true;
        memory->localA = result->pointA;
        memory->localB = rbMulMtV(search->rotation, rbSub(result->pointB, search->translation));
        memory->faceA = result->faceA;
        memory->faceB = result->faceB;
    }
}

rbStatus rbMeasureDistance(const rbDistanceInput* input, rbDistanceResult* result, rbError* error)
{
    RB_ASSERT(input != NULL);
    RB_ASSERT(result != NULL);
    rbStatus status = validateInput(input, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbSearch search;
    startSearch(&search, input);
    if (input->memory != NULL && input->memory->isSet && input->traversal != RB_TRAVERSAL_NAIVE) {
        recall(&search, input->memory);
    }
    *result = (rbDistanceResult){0};
    traversals[input->traversal].run(&search, input, result);
    report(&search, input->memory, result);
    endSearch(&search);
    return RB_STATUS_OK;
}

rbStatus rbTestSurfaces(const rbDistanceInput* input, bool* meet, rbDistanceWork* work,
                        rbError* error)
{
    RB_ASSERT(input != NULL);
    RB_ASSERT(meet != NULL);
    rbStatus status = validateInput(input, error);
    if (status == RB_STATUS_OK && input->budget > 0.0) {
        status = rbError_Set(error, RB_STATUS_INVALID,
                             "the budget is %g; a test of surfaces has none, 0 is accepted",
                             input->budget);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbDistanceInput plain = *input;
    plain.relativeError = 0.0;
    plain.usesRepresentatives = false;
    plain.memory = NULL;
    plain.watcher = NULL;
    rbSearch search;
    startSearch(&search, &plain);
    // a limit below every positive distance: only bounds and faces of distance 0 matter
    search.best = DBL_MIN;
    search.bestSquared = DBL_MIN;
    search.limit = DBL_MIN;
    rbDistanceResult result = {0};
    traversals[plain.traversal].run(&search, &plain, &result);
    *meet = search.best == 0.0;
    if (work != NULL) {
        *work = search.work;
    }
    endSearch(&search);
    return RB_STATUS_OK;
}
