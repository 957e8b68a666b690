// Vertices of a convex polyhedron laid out for support queries.
//
// Small ones are searched exhaustively, coordinate by coordinate, eight vertices at a time; large
// ones by hill climbing along their faces from a vertex that is near the summit for every direction
// of the same sector. Both return a vertex of greatest height. A climb needs a graph without false
// summits: faces that were merged, or vertices left out in merging, bend the surface by the
// tolerance of the merging, and such hulls are searched exhaustively, whatever their size.
#pragma once

#include "base/core/lanes.h"

#include <rattleback/vecmath.h>

#include <math.h>

struct rbPolyhedron;

// Hill climbing is used above this number of vertices.
#define RB_SUPPORT_SEARCH_MAX 48
// Sectors: the outer cells of a cube about the origin with this many cells along each axis. The
// inner ones are never used, but this way a direction finds its cell without a branch.
#define RB_SUPPORT_SPLIT 12
#define RB_SUPPORT_SECTORS (RB_SUPPORT_SPLIT * RB_SUPPORT_SPLIT * RB_SUPPORT_SPLIT)

// Eight vertices coordinate by coordinate.
typedef struct rbVertexBlock {
    _Alignas(16) double x[RB_LANES];
    double y[RB_LANES], z[RB_LANES];
} rbVertexBlock;

typedef struct rbSupportTable {
    rbVec3 center;  // mean of the vertices: inside
    bool isClimbed; // it is large, and no face was merged
    double bend;    // m, bound of the depth of a face's corners below its plane
    int vertexCount, blockCount;
    rbVertexBlock* blocks; // all vertices, the last block padded with copies of the first
    // Neighbors of a vertex, those that share a face with it, in blocks padded with copies of the
    // vertex itself.
    int* starts; // vertexCount + 1, into neighbors
    rbVertexBlock* neighbors;
    int (*neighborIds)[RB_LANES];
    int sectors[RB_SUPPORT_SECTORS]; // a summit in the middle of each sector
} rbSupportTable;

// The table of a polyhedron with edges. The polyhedron must be convex; canClimb: exactly convex.
rbSupportTable* rbCreateSupportTable(const struct rbPolyhedron* polyhedron, bool canClimb);
void rbDestroySupportTable(rbSupportTable* table);

// A vertex of greatest height along a direction that is not zero. Large tables climb to it from a
// guess, or from the given vertex if that is higher; negative: none.
int rbSupportTable_Find(const rbSupportTable* table, rbVec3 direction, int from);

// The cell of a coordinate from -1 to 1; the factor keeps 1 in the last one.
static inline int rbGetSupportCell(double x)
{
    return (int)((0.5 * RB_SUPPORT_SPLIT * (1.0 - 1e-9)) * (x + 1.0));
}

static inline int rbGetSupportSector(rbVec3 d)
{
    double largest = fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
    // a vanishingly short direction gets the sector in the middle
    double inverse = largest > 1e-300 ? 1.0 / largest : 0.0;
    int x = rbGetSupportCell(d.x * inverse), y = rbGetSupportCell(d.y * inverse);
    int z = rbGetSupportCell(d.z * inverse);
    return (x * RB_SUPPORT_SPLIT + y) * RB_SUPPORT_SPLIT + z;
}

// A vertex that is high along a direction, mostly the highest one, without a search. Inline: two
// guesses and the surrounding code can run in parallel.
static inline int rbSupportTable_Guess(const rbSupportTable* table, rbVec3 direction)
{
    return table->sectors[rbGetSupportSector(direction)];
}

static inline rbVec3 rbSupportTable_GetVertex(const rbSupportTable* table, int vertex)
{
    const rbVertexBlock* block = &table->blocks[(unsigned)vertex / RB_LANES];
    unsigned lane = (unsigned)vertex % RB_LANES;
    return rbMakeVec3(block->x[lane], block->y[lane], block->z[lane]);
}
