// Depth-first traversals: indifferent (L-63), update-minimal (L-64) and local greedy (L-65).
//
// Pairs of nodes wait on a stack of bounded size, so there is no recursion and no allocation. The
// bound of a pair is computed when its parent is opened and compared again when the pair is
// processed: by then the limit may be below it.
//
// Moved volumes: indifferent moves the volume of B for every pair, as published. The others move it
// once, when a node of B is opened, and keep it while pairs with it are waiting. All waiting pairs
// whose node of B has the same level come from one opening of its parent, so a level needs as many
// slots as a node has children. Update-minimal goes further: where the node of A is a leaf and that
// of B is not, it moves the leaf into the frame of B, once, and descends B unmoved.
#include "lab/distance/search.h"

// Opening both nodes adds up to degree^2 - 1 pairs and goes one level down in both trees; opening
// one adds up to degree - 1. The first is the worst case: 63 times 63 pairs, and the roots.
#define STACK_MAX \
    ((RB_HIERARCHY_DEGREE_MAX * RB_HIERARCHY_DEGREE_MAX - 1) * (RB_HIERARCHY_DEPTH_MAX - 1) + 1)

#define SLOT_COUNT (RB_HIERARCHY_DEGREE_MAX * RB_HIERARCHY_DEPTH_MAX)
#define PAIRS_MAX (RB_HIERARCHY_DEGREE_MAX * RB_HIERARCHY_DEGREE_MAX)

// Used instead of a slot: the volume of A was moved into the frame of B.
#define SLOT_OF_A (-1)

typedef struct WaitingPair {
    double bound; // m
    int a, b;
    int slot; // of the moved volume of b; its level is slot / degree
} WaitingPair;

// About 230 kB, of which a query touches only the part it needs.
typedef struct DepthScratch {
    WaitingPair stack[STACK_MAX];
    int count;
    double moved[SLOT_COUNT][RB_VOLUME_SIZE_MAX];
    double movedA[RB_VOLUME_SIZE_MAX];
    rbVolumeMotion inverse; // A to B, update-minimal only
} DepthScratch;

typedef struct PairList {
    WaitingPair pairs[PAIRS_MAX];
    int count;
} PairList;

static void addPair(const rbSearch* search, PairList* list, WaitingPair pair)
{
    if (pair.bound < search->limit) {
        RB_ASSERT(list->count < PAIRS_MAX);
        list->pairs[list->count++] = pair;
    }
}

// The children of a pair, B moved.
static void boundChildren(rbSearch* search, const rbDistanceInput* input, DepthScratch* scratch,
                          const WaitingPair* pair, PairList* list)
{
    bool movesAlways = input->traversal == RB_TRAVERSAL_INDIFFERENT;
    unsigned opening =
        rbChooseOpening(input->expansion, &search->a->nodes[pair->a], &search->b->nodes[pair->b]);
    bool opensB = (opening & RB_OPEN_B) != 0;
    rbNodeRange rangeA = rbGetOpened(search->a, pair->a, (opening & RB_OPEN_A) != 0);
    rbNodeRange rangeB = rbGetOpened(search->b, pair->b, opensB);
    int level = pair->slot / RB_HIERARCHY_DEGREE_MAX;
    for (int j = 0; j < rangeB.count; ++j) {
        int slot = opensB ? (level + 1) * RB_HIERARCHY_DEGREE_MAX + j : pair->slot;
        RB_ASSERT(slot < SLOT_COUNT);
        double* moved = scratch->moved[slot];
        if (opensB && !movesAlways) {
            rbSearch_Move(search, rangeB.first + j, moved);
        }
        for (int i = 0; i < rangeA.count; ++i) {
            if (movesAlways) {
                rbSearch_Move(search, rangeB.first + j, moved);
            }
            int a = rangeA.first + i;
            double bound = rbSearch_Bound(search, moved, rbHierarchy_GetVolume(search->a, a));
            WaitingPair child = {rbMaxOf(bound, pair->bound), a, rangeB.first + j, slot};
            addPair(search, list, child);
        }
    }
}

// The children of a leaf of A and a node of B in the frame of B.
static void boundAgainstLeaf(rbSearch* search, DepthScratch* scratch, const WaitingPair* pair,
                             PairList* list)
{
    if (pair->slot != SLOT_OF_A) {
        ++search->work.volumeUpdates;
        search->row->move(&scratch->inverse, rbHierarchy_GetVolume(search->a, pair->a),
                          scratch->movedA);
    }
    RB_ASSERT(search->b->nodes[pair->b].childCount > 0);
    rbNodeRange range = rbGetOpened(search->b, pair->b, true);
    for (int j = 0; j < range.count; ++j) {
        int b = range.first + j;
        double bound = rbSearch_Bound(search, scratch->movedA, rbHierarchy_GetVolume(search->b, b));
        WaitingPair child = {rbMaxOf(bound, pair->bound), pair->a, b, SLOT_OF_A};
        addPair(search, list, child);
    }
}

// Nearest first; the sort is stable.
static void sortPairs(PairList* list)
{
    for (int i = 1; i < list->count; ++i) {
        WaitingPair pair = list->pairs[i];
        int j = i;
        for (; j > 0 && list->pairs[j - 1].bound > pair.bound; --j) {
            list->pairs[j] = list->pairs[j - 1];
        }
        list->pairs[j] = pair;
    }
}

static void openPair(rbSearch* search, const rbDistanceInput* input, DepthScratch* scratch,
                     const WaitingPair* pair)
{
    PairList list;
    list.count = 0;
    ++search->work.opened;
    bool isLeafA = search->a->nodes[pair->a].childCount == 0;
    if (input->traversal == RB_TRAVERSAL_UPDATE_MINIMAL && isLeafA) {
        boundAgainstLeaf(search, scratch, pair, &list);
    } else {
        boundChildren(search, input, scratch, pair, &list);
    }
    if (input->traversal == RB_TRAVERSAL_LOCAL) {
        sortPairs(&list);
    }
    RB_ASSERT(scratch->count + list.count <= STACK_MAX);
    for (int i = list.count - 1; i >= 0; --i) { // the first one ends up on top
        scratch->stack[scratch->count++] = list.pairs[i];
    }
}

static void prepareInverse(const rbSearch* search, const rbDistanceInput* input,
                           rbVolumeMotion* inverse)
{
    rbTransform transform = input->transformBtoA;
    transform.q = rbNormalizeQuat(transform.q);
    transform = rbInvertTransform(transform);
    double size = 4.0 * (search->a->mesh->scale + search->b->mesh->scale) +
                  2.0 * rbLargestComponent(input->transformBtoA.p) +
                  2.0 * rbLargestComponent(transform.p);
    search->row->prepare(transform, size, inverse);
}

void rbSearchDepthFirst(rbSearch* search, const rbDistanceInput* input, rbDistanceResult* result)
{
    DepthScratch scratch; // not zeroed: it is large
    if (input->traversal == RB_TRAVERSAL_UPDATE_MINIMAL) {
        prepareInverse(search, input, &scratch.inverse);
    }
    rbSearch_Move(search, 0, scratch.moved[0]);
    double bound = rbSearch_Bound(search, scratch.moved[0], rbHierarchy_GetVolume(search->a, 0));
    scratch.stack[0] = (WaitingPair){bound, 0, 0, 0};
    scratch.count = 1;
    while (scratch.count > 0) {
        WaitingPair pair = scratch.stack[--scratch.count];
        if (pair.bound >= search->limit) {
            continue;
        }
        const rbHierarchyNode* nodeA = &search->a->nodes[pair.a];
        const rbHierarchyNode* nodeB = &search->b->nodes[pair.b];
        if (nodeA->childCount == 0 && nodeB->childCount == 0) {
            rbSearch_MeasureFaces(search, nodeA, nodeB);
            continue;
        }
        if (search->usesRepresentatives) {
            rbSearch_MeasureRepresentatives(search, nodeA, nodeB);
        }
        if (pair.bound < search->limit) {
            openPair(search, input, &scratch, &pair);
        }
    }
    // skipped pairs were no nearer than the limit at that time, which has only decreased since
    result->lower = search->limit;
    result->stop = search->limit < search->best ? RB_SEARCH_QUALITY : RB_SEARCH_DONE;
}
