#include "collision/geometry/support_table.h"

#include "base/core/lanes.h"
#include "base/core/memory.h"
#include "collision/geometry/polyhedron.h"

#include <math.h>

// A direction through the middle of a sector.
static rbVec3 middleOf(int sector)
{
    double c[3];
    for (int i = 2; i >= 0; --i) {
        int cell = sector % RB_SUPPORT_SPLIT;
        sector /= RB_SUPPORT_SPLIT;
        c[i] = (2.0 * cell + 1.0) / RB_SUPPORT_SPLIT - 1.0;
        c[i] = cell == 0 ? -1.0 : (cell == RB_SUPPORT_SPLIT - 1 ? 1.0 : c[i]);
    }
    return rbMakeVec3(c[0], c[1], c[2]);
}

static void setLane(rbVertexBlock* blocks, int index, rbVec3 v)
{
    rbVertexBlock* block = &blocks[index / RB_LANES];
    block->x[index % RB_LANES] = v.x;
    block->y[index % RB_LANES] = v.y;
    block->z[index % RB_LANES] = v.z;
}

static int blocksFor(int count)
{
    return (count + RB_LANES - 1) / RB_LANES;
}

// The vertices that share a face with one, each once; returns how many.
static int collectNeighbors(const rbPolyhedron* p, int vertex, int* list)
{
    int edgeCount;
    const int* edges = rbPolyhedron_GetVertexEdges(p, vertex, &edgeCount);
    int count = 0;
    for (int e = 0; e < 2 * edgeCount; ++e) {
        const rbEdge* edge = &p->edges[edges[e / 2]];
        int face = e % 2 == 0 ? edge->faceLeft : edge->faceRight;
        const int* loop = p->indices + p->faceStarts[face];
        for (int i = 0; i < p->faceSizes[face]; ++i) {
            bool isNew = loop[i] != vertex;
            for (int k = 0; k < count && isNew; ++k) {
                isNew = list[k] != loop[i];
            }
            if (isNew) {
                list[count++] = loop[i];
            }
        }
    }
    return count;
}

static void fillNeighbors(rbSupportTable* table, const rbPolyhedron* p)
{
    size_t bytes = (size_t)p->vertexCount * sizeof(int);
    int* list = rbAlloc(bytes);
    int next = 0;
    for (int v = 0; v < p->vertexCount; ++v) {
        table->starts[v] = next;
        next += blocksFor(collectNeighbors(p, v, list));
    }
    table->starts[p->vertexCount] = next;
    table->neighbors = rbAlloc((size_t)next * sizeof(rbVertexBlock));
    table->neighborIds = rbAlloc((size_t)next * sizeof(int[RB_LANES]));
    for (int v = 0; v < p->vertexCount; ++v) {
        int count = collectNeighbors(p, v, list);
        int start = table->starts[v];
        for (int i = 0; i < RB_LANES * (table->starts[v + 1] - start); ++i) {
            int neighbor = i < count ? list[i] : v;
            setLane(table->neighbors + start, i, p->vertices[neighbor]);
            table->neighborIds[start + i / RB_LANES][i % RB_LANES] = neighbor;
        }
    }
    rbFree(list, bytes);
}

static inline rbLanePair heightsAt(const rbVertexBlock* block, int pair,
                                   const rbLanePair direction[3])
{
    return ((const rbLanePair*)block->x)[pair] * direction[0] +
           ((const rbLanePair*)block->y)[pair] * direction[1] +
           ((const rbLanePair*)block->z)[pair] * direction[2];
}

// Index of the highest vertex in some blocks, and its height.
static inline int findHighest(const rbVertexBlock* blocks, int count, rbVec3 d, double* height)
{
    const rbLanePair direction[3] = {{d.x, d.x}, {d.y, d.y}, {d.z, d.z}};
    rbPeak peaks[4];
    rbLaneMask places[4];
    for (int k = 0; k < 4; ++k) {
        places[k] = rbPeak_Place(k);
        peaks[k] = (rbPeak){heightsAt(blocks, k, direction), places[k]};
    }
    for (int i = 1; i < count; ++i) {
        for (int k = 0; k < 4; ++k) {
            places[k] += RB_LANES;
            rbPeak_Keep(&peaks[k], heightsAt(blocks + i, k, direction), places[k]);
        }
    }
    return rbPeak_Choose(peaks, height);
}

static int search(const rbSupportTable* table, rbVec3 direction)
{
    double height;
    int vertex = findHighest(table->blocks, table->blockCount, direction, &height);
    return vertex < table->vertexCount ? vertex : 0; // the rest are copies of the first
}

// Climbs from a vertex whose height is known.
static int climbFrom(const rbSupportTable* table, rbVec3 direction, int here, double highest)
{
    for (;;) {
        int start = table->starts[here];
        double height;
        int lane = findHighest(table->neighbors + start, table->starts[here + 1] - start, direction,
                               &height);
        if (!(height > highest)) {
            return here;
        }
        highest = height;
        here = table->neighborIds[start + lane / RB_LANES][lane % RB_LANES];
    }
}

// Not inlined: searches would pay for its frame.
__attribute__((noinline)) static int climb(const rbSupportTable* table, rbVec3 direction, int from)
{
    int here = rbSupportTable_Guess(table, direction);
    double highest = rbDot(direction, rbSupportTable_GetVertex(table, here));
    if (from >= 0 && from < table->vertexCount) {
        double height = rbDot(direction, rbSupportTable_GetVertex(table, from));
        here = height >= highest ? from : here;
        highest = height >= highest ? height : highest;
    }
    return climbFrom(table, direction, here, highest);
}

int rbSupportTable_Find(const rbSupportTable* table, rbVec3 direction, int from)
{
    return table->isClimbed ? climb(table, direction, from) : search(table, direction);
}

rbSupportTable* rbCreateSupportTable(const rbPolyhedron* p, bool canClimb)
{
    RB_ASSERT(p->edgeCount > 0 && p->vertexCount >= 4);
    rbSupportTable* table = rbAllocZero(1, sizeof *table);
    table->isClimbed = canClimb && p->vertexCount > RB_SUPPORT_SEARCH_MAX;
    table->vertexCount = p->vertexCount;
    table->blockCount = blocksFor(p->vertexCount);
    table->blocks = rbAlloc((size_t)table->blockCount * sizeof(rbVertexBlock));
    table->starts = rbAlloc(((size_t)p->vertexCount + 1) * sizeof(int));
    for (int i = 0; i < RB_LANES * table->blockCount; ++i) {
        setLane(table->blocks, i, p->vertices[i < p->vertexCount ? i : 0]);
    }
    for (int i = 0; i < p->vertexCount; ++i) {
        table->center = rbAddScaled(table->center, 1.0 / p->vertexCount, p->vertices[i]);
    }
    for (int f = 0; f < p->faceCount; ++f) {
        for (int k = p->faceStarts[f]; k < p->faceStarts[f + 1]; ++k) {
            double height = rbDot(p->normals[f], p->vertices[p->indices[k]]);
            table->bend = fmax(table->bend, p->offsets[f] - height);
        }
    }
    fillNeighbors(table, p);
    // the summit of a sector is near that of the last one
    int summit = search(table, middleOf(0));
    for (int s = 0; s < RB_SUPPORT_SECTORS; ++s) {
        rbVec3 d = middleOf(s);
        RB_ASSERT(rbLargestComponent(d) < 1.0 || rbGetSupportSector(d) == s);
        summit = climbFrom(table, d, summit, rbDot(d, rbSupportTable_GetVertex(table, summit)));
        table->sectors[s] = summit;
    }
    return table;
}

void rbDestroySupportTable(rbSupportTable* table)
{
    if (table == NULL) {
        return;
    }
    size_t count = (size_t)table->starts[table->vertexCount];
    rbFree(table->blocks, (size_t)table->blockCount * sizeof(rbVertexBlock));
    rbFree(table->neighbors, count * sizeof(rbVertexBlock));
    rbFree(table->neighborIds, count * sizeof(int[RB_LANES]));
    rbFree(table->starts, ((size_t)table->vertexCount + 1) * sizeof(int));
    rbFree(table, sizeof *table);
}
