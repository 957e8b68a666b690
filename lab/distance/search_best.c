// Best-first traversal: the global greedy search (L-66) with its running bounds, budget (L-69) and
// quality stop (L-70).
//
// Invariant: the waiting pairs, the measured faces and the pairs skipped because their bound had
// reached the best distance cover all pairs of faces. Hence, in every iteration, the least key is a
// lower bound of the distance unless it exceeds the best one. A key is the larger of the pair's
// bound and that of its parent: volumes need not be nested, so the pair's own bound may be the
// weaker one.
#include "lab/distance/search.h"
#include "lab/distance/sequence.h"

// The cost of opening or measuring a pair.
typedef struct Turn {
    const rbHierarchyNode* nodeA;
    const rbHierarchyNode* nodeB;
    unsigned opening;
    rbNodeRange rangeA, rangeB;
} Turn;

static Turn makeTurn(const rbSearch* search, const rbDistanceInput* input,
                     const rbSequenceEntry* entry)
{
    Turn turn = {.nodeA = &search->a->nodes[entry->a], .nodeB = &search->b->nodes[entry->b]};
    turn.opening = rbChooseOpening(input->expansion, turn.nodeA, turn.nodeB);
    turn.rangeA = rbGetOpened(search->a, entry->a, (turn.opening & RB_OPEN_A) != 0);
    turn.rangeB = rbGetOpened(search->b, entry->b, (turn.opening & RB_OPEN_B) != 0);
    return turn;
}

// Work up to the end of the iteration, in elementary tests.
static double costAfter(const rbSearch* search, const rbDistanceInput* input, const Turn* turn)
{
    double tests = (double)search->work.elementaryTests;
    double volumeTests = (double)search->work.volumeTests;
    double updates = (double)search->work.volumeUpdates;
    if (turn->opening == 0) {
        tests += (double)turn->nodeA->faceCount * turn->nodeB->faceCount;
    } else {
        volumeTests += (double)turn->rangeA.count * turn->rangeB.count;
        updates += turn->rangeB.count;
    }
    return tests + input->volumeTestCost * volumeTests + input->volumeUpdateCost * updates;
}

static void openPair(rbSearch* search, const Turn* turn, double key, rbPairSequence* sequence)
{
    RB_ASSERT(turn->opening != 0);
    ++search->work.opened;
    for (int j = 0; j < turn->rangeB.count; ++j) {
        int b = turn->rangeB.first + j;
        double moved[RB_VOLUME_SIZE_MAX];
        rbSearch_Move(search, b, moved);
        for (int i = 0; i < turn->rangeA.count; ++i) {
            int a = turn->rangeA.first + i;
            double bound = rbSearch_Bound(search, moved, rbHierarchy_GetVolume(search->a, a));
            bound = rbMaxOf(bound, key);
            if (bound < search->limit) {
                rbPairSequence_Push(sequence, bound, a, b);
            }
        }
    }
    if (sequence->count > search->work.queueMax) {
        search->work.queueMax = sequence->count;
    }
}

static void watch(const rbDistanceInput* input, double lower, double upper)
{
    if (input->watcher != NULL) {
        input->watcher(input->watcherContext, lower, upper);
    }
}

// Processes the first pair, or reports why not.
static rbSearchStop takeTurn(rbSearch* search, const rbDistanceInput* input, double lower,
                             rbPairSequence* sequence)
{
    if (isfinite(search->best) && search->best - lower <= input->relativeError * search->best) {
        return RB_SEARCH_QUALITY;
    }
    rbSequenceEntry entry = *sequence->row->first(sequence);
    Turn turn = makeTurn(search, input, &entry);
    if (input->budget > 0.0 && costAfter(search, input, &turn) > input->budget) {
        return RB_SEARCH_BUDGET;
    }
    sequence->row->pop(sequence);
    double before = search->limit;
    if (turn.opening == 0) {
        rbSearch_MeasureFaces(search, turn.nodeA, turn.nodeB);
    } else {
        if (search->usesRepresentatives) {
            rbSearch_MeasureRepresentatives(search, turn.nodeA, turn.nodeB);
        }
        if (entry.key < search->limit) {
            openPair(search, &turn, entry.key, sequence);
        }
    }
    if (search->limit < before) {
        sequence->row->cut(sequence, search->limit);
    }
    return RB_SEARCH_DONE;
}

void rbSearchBestFirst(rbSearch* search, const rbDistanceInput* input, rbDistanceResult* result)
{
    rbPairSequence sequence = rbMakePairSequence(input->sequence);
    if (input->budget > 0.0) {
        // whenever the budget runs out, a pair of points must be known
        rbSearch_MeasureRepresentatives(search, &search->a->nodes[0], &search->b->nodes[0]);
    }
    double moved[RB_VOLUME_SIZE_MAX];
    rbSearch_Move(search, 0, moved);
    double bound = rbSearch_Bound(search, moved, rbHierarchy_GetVolume(search->a, 0));
    if (bound < search->limit) {
        rbPairSequence_Push(&sequence, bound, 0, 0);
        search->work.queueMax = 1;
    }
    result->lower = 0.0;
    result->stop = RB_SEARCH_DONE;
    while (sequence.count > 0 && sequence.row->first(&sequence)->key < search->limit) {
        // keys never decrease: children have at least the key of their parent
        result->lower = sequence.row->first(&sequence)->key;
        watch(input, result->lower, search->best);
        result->stop = takeTurn(search, input, result->lower, &sequence);
        if (result->stop != RB_SEARCH_DONE) {
            break;
        }
    }
    RB_ASSERT(result->lower <= search->best);
    if (result->stop == RB_SEARCH_DONE) {
        result->lower = search->best;
    }
    watch(input, result->lower, search->best);
    rbFreePairSequence(&sequence);
}
