// The choice of the finest cells.
//
// If cells are too wide, a cell holds many boxes that are far apart; if too narrow, a box finds
// most cells empty, or large boxes query thousands of small cells. We choose the widest cells in
// which a box of that level shares its cell with at most MATES_MAX others on average. The average
// is over boxes, not over cells: dense clusters are weighted by their boxes, and one box far away
// changes nothing. Widths tried are the common edge times powers of two, so that equal boxes get
// cells of their own size.
#include "lab/broadphase/cell_levels.h"

#include <string.h>

#define MATES_MAX 1.5 // cells of equal boxes with ten partners (1.25) stay as wide as the boxes
#define DOUBLINGS_MAX 40
#define COUNTERS_PER_BOX 4 // few boxes share a counter by coincidence

rbCellLevels rbMakeCellLevels(double base)
{
    // widths of all levels and their inverses must be normal numbers
    double clamped = base < 0x1p-900 ? 0x1p-900 : base;
    clamped = clamped > 0x1p900 ? 0x1p900 : clamped;
    return (rbCellLevels){clamped, 1.0 / clamped};
}

int rbSampleEdges(const rbBounds* boxes, const uint8_t* isIn, int count, int idEnd,
                  double edges[RB_EDGE_SAMPLES])
{
    int stride = count / RB_EDGE_SAMPLES + 1;
    int sampled = 0, seen = 0;
    for (int id = 0; id < idEnd; ++id) {
        if ((isIn != NULL && isIn[id] == 0) || seen++ % stride != 0) {
            continue;
        }
        double edge = rbGetLongestEdge(&boxes[id]);
        int k = sampled++;
        for (; k > 0 && edges[k - 1] > edge; --k) {
            edges[k] = edges[k - 1];
        }
        edges[k] = edge;
    }
    RB_ASSERT(sampled <= RB_EDGE_SAMPLES);
    return sampled;
}

double rbFindCommonEdge(const rbBroadPhase* broad)
{
    double edges[RB_EDGE_SAMPLES] = {0.0};
    int count = rbSampleEdges(broad->boxes, broad->isIn, broad->count, broad->idEnd, edges);
    double largest = 0.0;
    for (int id = 0; id < broad->idEnd; ++id) {
        largest =
            broad->isIn[id] != 0 ? fmax(largest, rbGetLongestEdge(&broad->boxes[id])) : largest;
    }
    double median = count > 0 ? edges[count / 2] : 0.0;
    double high = edges[count > 0 ? count - 1 - count / 20 : 0];
    double common = largest <= 2.0 * median || high <= 0.0 ? largest : high;
    return RB_EDGE_ROOM * common;
}

// Average number of others in the cell of a box, for boxes that fit into cells of a width.
static double countMates(const rbBroadPhase* broad, double width, int* counters, uint64_t mask)
{
    memset(counters, 0, ((size_t)mask + 1) * sizeof *counters);
    double inverse = rbMakeCellLevels(width).inverse;
    int64_t pairs = 0, boxes = 0;
    for (int id = 0; id < broad->idEnd; ++id) {
        const rbBounds* box = &broad->boxes[id];
        if (broad->isIn[id] == 0 || rbGetLongestEdge(box) > width) {
            continue;
        }
        uint64_t h =
            rbHashCell(rbFindCell(box->lower.x, inverse), rbFindCell(box->lower.y, inverse),
                       rbFindCell(box->lower.z, inverse), 0);
        pairs += counters[h & mask]++;
        ++boxes;
    }
    return boxes > 0 ? 2.0 * (double)pairs / (double)boxes : 0.0;
}

double rbChooseCellSize(const rbBroadPhase* broad, rbIdList* counters)
{
    double edge = rbFindCommonEdge(broad);
    if (edge <= 0.0) {
        edge = 1.0; // points only: any initial width works
    }
    int size = 64;
    while (size < COUNTERS_PER_BOX * broad->count && size < INT32_MAX / 4) {
        size *= 2;
    }
    rbIdList_Reserve(counters, size);
    uint64_t mask = (uint64_t)size - 1;
    int tries = 0;
    if (countMates(broad, edge, counters->ids, mask) <= MATES_MAX) {
        while (tries++ < DOUBLINGS_MAX &&
               countMates(broad, 2.0 * edge, counters->ids, mask) <= MATES_MAX) {
            edge *= 2.0;
        }
    } else {
        do {
            edge *= 0.5;
        } while (tries++ < DOUBLINGS_MAX &&
                 countMates(broad, edge, counters->ids, mask) > MATES_MAX);
    }
    RB_ASSERT(edge > 0.0);
    return edge;
}
