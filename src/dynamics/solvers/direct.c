// Sparse direct solver: block LDL^T of M = B W B^T + C (B-34, B-35).
//
// M has a block where two blocks of rows share a dynamic body. Block column j, in the order
// of the pattern, is eliminated with
//   D_j = P L D L^T P^T (pivoted.h),  L_ij = M_ij D_j^+,  M_ik -= L_ij M_kj^T,
// D_j^+ being the inverse on the rows that are kept and zero on the dropped ones. A solve is
//   forward  r_i -= L_ij r_j,   backward  x_j = D_j^+ r_j - sum L_ij^T x_i:
// with D_j^+ folded into L_ij, the dependency from block to block is one product long, and that
// bounds the time of a chain. (Scalar columns throughout, with the triangular solve of D_j between
// the products, took twice the time on chains.) The price: errors grow with the square root of the
// condition of a D_j. M is positive semi-definite, so entries of L stay below 1 / sqrt(relative
// pivot).
//
// Inner loops take the block size as a parameter that is constant for systems of equal blocks; the
// compiler generates a version for each. Blocks of values are row major.
#include "base/core/memory.h"
#include "dynamics/solvers/block_matrix.h"
#include "dynamics/solvers/pivoted.h"
#include "dynamics/solvers/solver.h"

#include <math.h>
#include <string.h>

#if defined(RB_AMD)
#include <suitesparse/amd.h>
#endif

// ----------------------------------------------------------------------------------------- pattern
// The symbolic half: positions of blocks in the factor. Two blocks of rows couple when they
// share a dynamic body. The blocks are put into an order of elimination that keeps the factor
// sparse; columns of L then follow from the elimination tree.

// Coupling of two blocks through a body: assembly iterates over these. A side is 2 * node + (1: the
// body is B of its block).
typedef struct Coupling {
    int body;
    int entry;    // of L
    unsigned row; // side of the later node in the order
    unsigned col; // and of the other
} Coupling;

typedef struct Pattern {
    int nodeCount;  // blocks in the system, in the order of elimination
    int* blocks;    // block of each node
    int blockCount; // of the system, capacity of blocks
    int* starts;    // nodeCount + 1: entries of column j are starts[j] .. starts[j+1]-1
    int* rows;      // node of each entry, ascending within a column
    int entryCount; // strictly below the diagonal
    Coupling* couplings;
    int couplingCount;
} Pattern;

// Sides at each dynamic body, in compressed form: sides[starts[i] .. starts[i+1]-1], ascending.
typedef struct Incidence {
    int bodyCount;
    int* starts; // bodyCount + 2
    int* sides;
    int sideCount;
} Incidence;

static int bodyOf(const rbRowBlock* block, int side)
{
    return side ? block->bodyB : block->bodyA;
}

// Nodes are numbers into nodeBlocks.
static Incidence makeIncidence(const rbRowSystem* system, const int* nodeBlocks, int nodeCount)
{
    Incidence at = {.bodyCount = system->bodyCount};
    at.starts = rbAllocZero((size_t)at.bodyCount + 2, sizeof *at.starts);
    for (int k = 0; k < 2 * nodeCount; ++k) {
        int body = bodyOf(&system->blocks[nodeBlocks[k / 2]], k % 2);
        RB_ASSERT(body >= 0 && body < at.bodyCount);
        at.starts[body + 2] += system->masses[body].isDynamic ? 1 : 0;
    }
    for (int i = 0; i < at.bodyCount; ++i) {
        at.starts[i + 2] += at.starts[i + 1];
    }
    at.sideCount = at.starts[at.bodyCount + 1];
    at.sides = rbAlloc((size_t)at.sideCount * sizeof *at.sides);
    // The start of the next body moves with the end of this one.
    for (int k = 0; k < 2 * nodeCount; ++k) {
        int body = bodyOf(&system->blocks[nodeBlocks[k / 2]], k % 2);
        if (system->masses[body].isDynamic) {
            at.sides[at.starts[body + 1]++] = k;
        }
    }
    return at;
}

static void freeIncidence(Incidence* at)
{
    rbFree(at->starts, ((size_t)at->bodyCount + 2) * sizeof *at->starts);
    rbFree(at->sides, (size_t)at->sideCount * sizeof *at->sides);
}

// Pairs of sides at the same body.
static int countPairs(const Incidence* at)
{
    int count = 0;
    for (int body = 0; body < at->bodyCount; ++body) {
        int n = at->starts[body + 1] - at->starts[body];
        count += n * (n - 1) / 2;
    }
    return count;
}

// orderNodes: the nodes in the order in which to eliminate them. Approximate minimum degree (AMD of
// SuiteSparse), or with RB_AMD off exact minimum degree (block_matrix.h), slower.
#if defined(RB_AMD)

// amd_2 is the part of AMD that works on caller-owned memory; it destroys the lists of neighbors.
static void orderNodes(const rbRowSystem* system, const int* nodeBlocks, int n, const Incidence* at,
                       int* order)
{
    // AMD requires n beyond the edges and is faster with a fifth more.
    int edges = 0, edgesMost = 2 * countPairs(at), roomMost = edgesMost + edgesMost / 5 + n + 1;
    enum {
        LISTS = 8
    };
    int* memory = rbAllocZero((size_t)n * LISTS + (size_t)roomMost, sizeof *memory);
    int *starts = memory, *lengths = starts + n, *next = lengths + n, *head = next + n;
    int *elements = head + n, *degrees = elements + n, *flags = degrees + n, *counts = flags + n;
    int* lists = counts + n;
    for (int i = 0; i < n; ++i) {
        starts[i] = edges;
        flags[i] = i + 1;
        for (int k = 0; k < 2; ++k) {
            int body = bodyOf(&system->blocks[nodeBlocks[i]], k);
            for (int side = at->starts[body]; side < at->starts[body + 1]; ++side) {
                int other = at->sides[side] / 2;
                if (flags[other] != i + 1) {
                    flags[other] = i + 1;
                    lists[edges++] = other;
                }
            }
        }
        lengths[i] = edges - starts[i];
    }
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    amd_2(n, starts, lists, lengths, edges + edges / 5 + n + 1, edges, counts, next, order, head,
          elements, degrees, flags, control, info);
    rbFree(memory, ((size_t)n * LISTS + (size_t)roomMost) * sizeof *memory);
}

#else

static void orderNodes(const rbRowSystem* system, const int* nodeBlocks, int n, const Incidence* at,
                       int* order)
{
    (void)system;
    (void)nodeBlocks;
    rbBlockMatrix matrix = {0};
    for (int i = 0; i < n; ++i) {
        order[i] = i;
    }
    if (n > RB_BLOCK_MATRIX_MAX) {
        return; // as given: its table of bits would be too large
    }
    rbBlockMatrix_Begin(&matrix, n);
    for (int body = 0; body < at->bodyCount; ++body) {
        for (int i = at->starts[body]; i < at->starts[body + 1]; ++i) {
            for (int j = at->starts[body]; j < i; ++j) {
                rbBlockMatrix_Couple(&matrix, at->sides[i] / 2, at->sides[j] / 2);
            }
        }
    }
    rbBlockMatrix_Finish(&matrix);
    for (int i = 0; i < n; ++i) {
        order[matrix.places.data[i]] = i;
    }
    rbBlockMatrix_Free(&matrix);
}

#endif

// Row i of L has blocks where paths of the elimination tree lead from its neighbors up to i; the
// tree grows with the rows: the parent of j is the first row with a block in column j. Rows are
// processed in ascending order, so that the entries of every column are sorted. pattern->rows NULL:
// only counts.
static void walkRows(Pattern* pattern, const rbRowSystem* system, const Incidence* at, int* parents,
                     int* marks, int* ends)
{
    for (int i = 0; i < pattern->nodeCount; ++i) {
        parents[i] = -1;
        marks[i] = i;
        for (int k = 0; k < 2; ++k) {
            int body = bodyOf(&system->blocks[pattern->blocks[i]], k);
            for (int side = at->starts[body]; side < at->starts[body + 1]; ++side) {
                for (int j = at->sides[side] / 2; j < i && marks[j] != i; j = parents[j]) {
                    marks[j] = i;
                    parents[j] = parents[j] < 0 ? i : parents[j];
                    if (pattern->rows != NULL) {
                        pattern->rows[ends[j]] = i;
                    }
                    ++ends[j];
                }
            }
        }
    }
}

static void makeColumns(Pattern* pattern, const rbRowSystem* system, const Incidence* at)
{
    int n = pattern->nodeCount;
    size_t bytes = (size_t)n * sizeof(int);
    int *parents = rbAlloc(bytes), *marks = rbAlloc(bytes);
    int* ends = rbAllocZero((size_t)n, sizeof *ends);
    walkRows(pattern, system, at, parents, marks, ends);
    pattern->starts = rbAllocZero((size_t)n + 1, sizeof *pattern->starts);
    for (int j = 0; j < n; ++j) {
        pattern->starts[j + 1] = pattern->starts[j] + ends[j];
        ends[j] = pattern->starts[j];
    }
    pattern->entryCount = pattern->starts[n];
    pattern->rows = rbAlloc((size_t)pattern->entryCount * sizeof *pattern->rows);
    walkRows(pattern, system, at, parents, marks, ends);
    rbFree(parents, bytes);
    rbFree(marks, bytes);
    rbFree(ends, bytes);
}

static void makeCouplings(Pattern* pattern, const Incidence* at)
{
    pattern->couplings = rbAlloc((size_t)countPairs(at) * sizeof *pattern->couplings);
    for (int body = 0; body < at->bodyCount; ++body) {
        for (int i = at->starts[body]; i < at->starts[body + 1]; ++i) {
            for (int j = at->starts[body]; j < i; ++j) {
                int row = at->sides[i], col = at->sides[j]; // ascending
                pattern->couplings[pattern->couplingCount++] =
                    (Coupling){body, rbFindEntry(pattern->starts, pattern->rows, row / 2, col / 2),
                               (unsigned)row, (unsigned)col};
            }
        }
    }
}

// Without the blocks that are cut, ascending.
static void makePattern(Pattern* pattern, const rbRowSystem* system, const int* cuts, int cutCount)
{
    *pattern = (Pattern){.blockCount = system->blockCount};
    size_t bytes = (size_t)system->blockCount * sizeof(int);
    pattern->blocks = rbAlloc(bytes);
    int *given = rbAlloc(bytes), *order = rbAllocZero(1, bytes), n = 0;
    for (int i = 0, cut = 0; i < system->blockCount; ++i) {
        RB_ASSERT(system->blocks[i].bodyA != system->blocks[i].bodyB);
        if (cut < cutCount && cuts[cut] == i) {
            ++cut;
        } else {
            given[n++] = i;
        }
    }
    pattern->nodeCount = n;

    Incidence at = makeIncidence(system, given, n);
    if (n > 1) {
        orderNodes(system, given, n, &at, order);
    }
    freeIncidence(&at);
    // Repeats this with renumbered nodes: simpler than permuting lists.
    for (int j = 0; j < n; ++j) {
        pattern->blocks[j] = given[order[j]];
    }
    at = makeIncidence(system, pattern->blocks, n);
    makeColumns(pattern, system, &at);
    makeCouplings(pattern, &at);
    freeIncidence(&at);
    rbFree(given, bytes);
    rbFree(order, bytes);
}

// ------------------------------------------------------------------------------------------ values

typedef struct Node {
    size_t diagonal; // offset of its n x n values
    int row;         // first row in the system
    int size;
} Node;

typedef struct DirectSolver {
    rbSolver base;
    Pattern pattern;
    Node* nodes;
    bool* isCut;     // per row of the system
    size_t* offsets; // of the values of entries
    double* values;  // of entries: M, then L
    size_t valueCount;
    double* diagonals; // of nodes: D, column major
    double* factors;   // of D
    size_t diagonalCount;
    double* invPivots; // per row of the system
    int* order;        // per row, within its block
    bool* isNatural;   // per node: its rows keep their order
    double* originals; // per row: diagonal of M before the elimination
    double* responses; // per row: invInertia * angularA, invInertia * angularB
    rbRow* rows;       // copy with zeros for inactive rows; used if there are any
    double* column;    // M_ij of the current column
    size_t columnRoom;
    int uniform; // size of all blocks, 0: they differ
} DirectSolver;

// ---------------------------------------------------------------------------------------- assembly

RB_FIXED_INLINE double dot3(const double* a, const double* b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

RB_FIXED_INLINE const double* angularOf(const rbRow* row, bool isB)
{
    return isB ? &row->angularB.x : &row->angularA.x;
}

// values += sign (invMass linear_a . linear_b + angular_a . response_b).
RB_FIXED_INLINE void couple(double* restrict values, const DirectSolver* solver, const rbRow* rows,
                            const Coupling* coupling, double invMass, int uniform)
{
    const Node *row = &solver->nodes[coupling->row / 2], *col = &solver->nodes[coupling->col / 2];
    bool isRowB = coupling->row % 2 == 1, isColB = coupling->col % 2 == 1;
    int rowSize = uniform ? uniform : row->size, colSize = uniform ? uniform : col->size;
    const rbRow *rowRows = rows + row->row, *colRows = rows + col->row;
    const double* response = solver->responses + 6 * (size_t)col->row + (isColB ? 3 : 0);
    double sign = isRowB == isColB ? 1.0 : -1.0, linearScale = sign * invMass;
    for (int a = 0; a < rowSize; ++a) {
        const double* linear = &rowRows[a].linear.x;
        const double* angular = angularOf(&rowRows[a], isRowB);
        for (int b = 0; b < colSize; ++b) {
            values[a * colSize + b] += linearScale * dot3(linear, &colRows[b].linear.x) +
                                       sign * dot3(angular, response + 6 * (size_t)b);
        }
    }
}

// The diagonal block of a node, lower half, and its responses.
RB_FIXED_INLINE void assembleDiagonal(DirectSolver* solver, const rbRowSystem* system,
                                      const rbRow* allRows, int index, int uniform)
{
    const Node* node = &solver->nodes[index];
    const rbRowBlock* block = &system->blocks[solver->pattern.blocks[index]];
    const rbRowMass *massA = &system->masses[block->bodyA], *massB = &system->masses[block->bodyB];
    int n = uniform ? uniform : node->size;
    const rbRow* rows = allRows + node->row;
    double* responses = solver->responses + 6 * (size_t)node->row;
    double* values = solver->diagonals + node->diagonal;
    double invMass = massA->invMass + massB->invMass;
    for (int b = 0; b < n; ++b) {
        rbVec3 responseA = rbMulSV(massA->invInertia, rows[b].angularA);
        rbVec3 responseB = rbMulSV(massB->invInertia, rows[b].angularB);
        memcpy(responses + 6 * (size_t)b, &responseA, sizeof responseA);
        memcpy(responses + 6 * (size_t)b + 3, &responseB, sizeof responseB);
        for (int a = b; a < n; ++a) {
            double value = invMass * rbDot(rows[a].linear, rows[b].linear) +
                           rbDot(rows[a].angularA, responseA) + rbDot(rows[a].angularB, responseB);
            values[b * n + a] = value;
        }
        double compliance = system->compliance[node->row + b];
        values[b * n + b] += isinf(compliance) ? 0.0 : compliance;
        solver->originals[node->row + b] = values[b * n + b];
    }
}

RB_FIXED_INLINE size_t offsetOf(const DirectSolver* solver, int entry, int uniform)
{
    return uniform ? (size_t)entry * (size_t)(uniform * uniform) : solver->offsets[entry];
}

RB_FIXED_INLINE void assemble(DirectSolver* solver, const rbRowSystem* system, const rbRow* rows,
                              int uniform)
{
    const Pattern* pattern = &solver->pattern;
    for (int j = 0; j < pattern->nodeCount; ++j) {
        assembleDiagonal(solver, system, rows, j, uniform);
    }
    if (solver->valueCount > 0) {
        memset(solver->values, 0, solver->valueCount * sizeof *solver->values);
    }
    for (int k = 0; k < pattern->couplingCount; ++k) {
        const Coupling* coupling = &pattern->couplings[k];
        couple(solver->values + offsetOf(solver, coupling->entry, uniform), solver, rows, coupling,
               system->masses[coupling->body].invMass, uniform);
    }
}

// The rows, with zeros for inactive ones, and the number of inactive ones.
static const rbRow* takeRows(DirectSolver* solver, const rbRowSystem* system, int* inactive)
{
    *inactive = 0;
    for (int i = 0; i < system->rowCount; ++i) {
        if (isinf(system->compliance[i]) && !solver->isCut[i]) {
            if (*inactive == 0) {
                memcpy(solver->rows, system->rows, (size_t)system->rowCount * sizeof(rbRow));
            }
            solver->rows[i] = (rbRow){0};
            *inactive += 1;
        }
    }
    return *inactive > 0 ? solver->rows : system->rows;
}

// ----------------------------------------------------------------------------------- factorization

static rbPivoted factorOf(const DirectSolver* solver, int index)
{
    const Node* node = &solver->nodes[index];
    return (rbPivoted){.l = solver->factors + node->diagonal,
                       .invPivots = solver->invPivots + node->row,
                       .order = solver->order + node->row,
                       .size = node->size,
                       .isNatural = solver->isNatural[index]};
}

// x = D^+ x of a node.
RB_FIXED_INLINE void solveDiagonal(const DirectSolver* solver, int index, double* x, int n)
{
    double work[RB_BLOCK_ROWS_MAX];
    rbPivoted factor = factorOf(solver, index);
    rbPivoted_Solve(&factor, x, work, n);
}

// Factors D of a node; returns the number of dropped rows.
RB_FIXED_INLINE int factorDiagonal(DirectSolver* solver, int index, rbLeastRatio* least,
                                   int uniform)
{
    const Node* node = &solver->nodes[index];
    rbPivoted factor = factorOf(solver, index);
    int dropped =
        rbPivoted_Make(&factor, solver->diagonals + node->diagonal, solver->originals + node->row,
                       least, uniform ? uniform : node->size);
    solver->isNatural[index] = factor.isNatural;
    return dropped;
}

// Row a of l times row b of m.
RB_FIXED_INLINE double dotRows(const double* l, int a, const double* m, int b, int inner)
{
    const double *rowL = l + (size_t)a * (size_t)inner, *rowM = m + (size_t)b * (size_t)inner;
    double sum = rowL[0] * rowM[0];
    for (int c = 1; c < inner; ++c) {
        sum += rowL[c] * rowM[c];
    }
    return sum;
}

// to (rows x cols, row major) -= l (rows x inner) m^T (m: cols x inner).
RB_FIXED_INLINE void subtractProduct(double* restrict to, const double* restrict l,
                                     const double* restrict m, int rows, int cols, int inner)
{
    for (int a = 0; a < rows; ++a) {
        for (int b = 0; b < cols; ++b) {
            to[a * cols + b] -= dotRows(l, a, m, b, inner);
        }
    }
}

// The same on the lower half of a column major square.
RB_FIXED_INLINE void subtractSquare(double* restrict to, const double* restrict l,
                                    const double* restrict m, int rows, int inner)
{
    for (int b = 0; b < rows; ++b) {
        for (int a = b; a < rows; ++a) {
            to[b * rows + a] -= dotRows(l, a, m, b, inner);
        }
    }
}

// L_ij = M_ij D_j^+ for all of column j; M_ij are kept in solver->column.
RB_FIXED_INLINE void scaleColumn(DirectSolver* solver, int j, int uniform)
{
    const Pattern* pattern = &solver->pattern;
    int n = uniform ? uniform : solver->nodes[j].size;
    int first = pattern->starts[j], last = pattern->starts[j + 1];
    if (first == last) {
        return;
    }
    size_t begin = offsetOf(solver, first, uniform);
    size_t end = offsetOf(solver, last - 1, uniform) +
                 (size_t)(n * (uniform ? uniform : solver->nodes[pattern->rows[last - 1]].size));
    double* values = solver->values + begin;
    size_t rowCount = (end - begin) / (size_t)n;
    memcpy(solver->column, values, (end - begin) * sizeof *values);
    for (size_t a = 0; a < rowCount; ++a) {
        solveDiagonal(solver, j, values + a * (size_t)n, n);
    }
}

// Subtracts column j from the columns after it.
RB_FIXED_INLINE void spreadColumn(DirectSolver* solver, int j, int uniform)
{
    const Pattern* pattern = &solver->pattern;
    int inner = uniform ? uniform : solver->nodes[j].size;
    int first = pattern->starts[j], last = pattern->starts[j + 1];
    size_t begin = first < last ? offsetOf(solver, first, uniform) : 0;
    for (int p = first; p < last; ++p) {
        int k = pattern->rows[p];
        const Node* node = &solver->nodes[k];
        int cols = uniform ? uniform : node->size;
        size_t from = offsetOf(solver, p, uniform);
        const double* m = solver->column + (from - begin);
        subtractSquare(solver->diagonals + node->diagonal, solver->values + from, m, cols, inner);
        // The rows of column j below k are among those of column k, both ascending.
        int to = pattern->starts[k];
        for (int q = p + 1; q < last; ++q) {
            int i = pattern->rows[q];
            while (pattern->rows[to] != i) {
                ++to;
            }
            subtractProduct(solver->values + offsetOf(solver, to, uniform),
                            solver->values + offsetOf(solver, q, uniform), m,
                            uniform ? uniform : solver->nodes[i].size, cols, inner);
        }
    }
}

RB_FIXED_INLINE void factorWith(DirectSolver* solver, const rbRowSystem* system, int uniform)
{
    int inactive = 0, dropped = 0;
    rbLeastRatio least = {1.0, 1.0};
    assemble(solver, system, takeRows(solver, system, &inactive), uniform);
    for (int j = 0; j < solver->pattern.nodeCount; ++j) {
        rbPoll();
        dropped += factorDiagonal(solver, j, &least, uniform);
        scaleColumn(solver, j, uniform);
        spreadColumn(solver, j, uniform);
    }
    // Inactive rows are zero, so that they are among the dropped ones.
    RB_ASSERT(dropped >= inactive);
    solver->base.redundantRows = dropped - inactive;
    solver->base.pivotLeast = least.pivot / least.diagonal;
}

// ------------------------------------------------------------------------------------------- solve

RB_FIXED_INLINE void solveWith(const DirectSolver* solver, double* x, int uniform)
{
    const Pattern* pattern = &solver->pattern;
    const Node* nodes = solver->nodes;
    for (int j = 0; j < pattern->nodeCount; ++j) {
        int n = uniform ? uniform : nodes[j].size;
        const double* from = x + nodes[j].row;
        for (int p = pattern->starts[j]; p < pattern->starts[j + 1]; ++p) {
            const Node* node = &nodes[pattern->rows[p]];
            const double* l = solver->values + offsetOf(solver, p, uniform);
            subtractProduct(x + node->row, l, from, uniform ? uniform : node->size, 1, n);
        }
    }
    for (int j = pattern->nodeCount - 1; j >= 0; --j) {
        int n = uniform ? uniform : nodes[j].size;
        double* to = x + nodes[j].row;
        solveDiagonal(solver, j, to, n);
        int first = pattern->starts[j], last = pattern->starts[j + 1] - 1;
        for (int k = 0; k <= last - first; ++k) {
            // Blocks of three rows take the first entry, mostly the node just solved, last: the
            // others need not wait for it.
            int p = uniform == 3 ? last - k : first + k;
            const Node* node = &nodes[pattern->rows[p]];
            const double* l = solver->values + offsetOf(solver, p, uniform);
            const double* from = x + node->row;
            int rows = uniform ? uniform : node->size;
            for (int b = 0; b < n; ++b) {
                double sum = l[b] * from[0];
                for (int a = 1; a < rows; ++a) {
                    sum += l[a * n + b] * from[a];
                }
                to[b] -= sum;
            }
        }
    }
}

// ---------------------------------------------------------------------------------------- versions

// Calls a function with the size of all blocks as a constant: 1 (rods), 3 (ball joints), 5
// (hinges); 0: all others.
#define WITH_SIZE(uniform, function, ...)        \
    ((uniform) == 1   ? function(__VA_ARGS__, 1) \
     : (uniform) == 3 ? function(__VA_ARGS__, 3) \
     : (uniform) == 5 ? function(__VA_ARGS__, 5) \
                      : function(__VA_ARGS__, 0))

void rbDirectSolver_Factor(rbSolver* solver, const rbRowSystem* system)
{
    DirectSolver* direct = (DirectSolver*)solver;
    RB_ASSERT(system->rowCount == solver->rowCount);
    RB_ASSERT(system->blockCount == direct->pattern.blockCount);
    WITH_SIZE(direct->uniform, factorWith, direct, system);
}

void rbDirectSolver_Solve(rbSolver* solver, const double* r, double* x)
{
    const DirectSolver* direct = (const DirectSolver*)solver;
    RB_ASSERT(r != NULL && x != NULL);
    if (x != r && solver->rowCount > 0) {
        memcpy(x, r, (size_t)solver->rowCount * sizeof *x);
    }
    WITH_SIZE(direct->uniform, solveWith, direct, x);
    for (int i = 0; solver->cutCount > 0 && i < solver->rowCount; ++i) {
        x[i] = direct->isCut[i] ? 0.0 : x[i];
    }
}

// ---------------------------------------------------------------------------------------- creation

static void placeNodes(DirectSolver* solver, const rbRowSystem* system)
{
    const Pattern* pattern = &solver->pattern;
    solver->uniform = pattern->nodeCount > 0 ? system->blocks[pattern->blocks[0]].rowCount : 0;
    for (int j = 0; j < pattern->nodeCount; ++j) {
        const rbRowBlock* block = &system->blocks[pattern->blocks[j]];
        RB_ASSERT(block->rowCount >= 1 && block->rowCount <= RB_BLOCK_ROWS_MAX);
        RB_ASSERT(block->firstRow >= 0 && block->firstRow + block->rowCount <= system->rowCount);
        solver->nodes[j] = (Node){
            .diagonal = solver->diagonalCount, .row = block->firstRow, .size = block->rowCount};
        solver->diagonalCount += (size_t)(block->rowCount * block->rowCount);
        solver->uniform = block->rowCount == solver->uniform ? solver->uniform : 0;
    }
    bool hasVersion = solver->uniform == 1 || solver->uniform == 3 || solver->uniform == 5;
    solver->uniform = hasVersion ? solver->uniform : 0;
}

static void placeEntries(DirectSolver* solver)
{
    const Pattern* pattern = &solver->pattern;
    for (int j = 0; j < pattern->nodeCount; ++j) {
        size_t begin = solver->valueCount;
        for (int p = pattern->starts[j]; p < pattern->starts[j + 1]; ++p) {
            solver->offsets[p] = solver->valueCount;
            solver->valueCount +=
                (size_t)(solver->nodes[j].size * solver->nodes[pattern->rows[p]].size);
        }
        size_t length = solver->valueCount - begin;
        solver->columnRoom = length > solver->columnRoom ? length : solver->columnRoom;
    }
}

// The arrays of a solver, and how many elements each has.
#define STRUCTURE(X)                    \
    X(isCut, solver->base.rowCount)     \
    X(nodes, solver->pattern.nodeCount) \
    X(offsets, solver->pattern.entryCount)
// Those for values.
#define ARRAYS(X)                           \
    X(values, solver->valueCount)           \
    X(column, solver->columnRoom)           \
    X(diagonals, solver->diagonalCount)     \
    X(factors, solver->diagonalCount)       \
    X(isNatural, solver->pattern.nodeCount) \
    X(invPivots, solver->base.rowCount)     \
    X(order, solver->base.rowCount)         \
    X(originals, solver->base.rowCount)     \
    X(responses, 6 * solver->base.rowCount) \
    X(rows, solver->base.rowCount)
#define CREATE(name, count) solver->name = rbAllocZero((size_t)(count), sizeof *solver->name);
#define DESTROY(name, count) rbFree(solver->name, (size_t)(count) * sizeof *solver->name);

#define LOOPS (-1)

// Omits the first blocks of the system, that many, or those that close loops.
static rbSolver* createDirect(const rbRowSystem* system, int cutCount)
{
    DirectSolver* solver = rbAllocZero(1, sizeof *solver);
    RB_ASSERT(system->rowCount >= 0);
    RB_ASSERT(system->blockCount >= 0);
    int* cuts = rbAlloc((size_t)system->blockCount * sizeof *cuts);
    for (int i = 0; i < cutCount; ++i) {
        cuts[i] = i;
    }
    cutCount = cutCount == LOOPS ? rbFindLoops(system, cuts) : cutCount;
    RB_ASSERT(cutCount >= 0 && cutCount <= system->blockCount);
    solver->base = (rbSolver){
        .rowCount = system->rowCount, .cuts = cuts, .cutCount = cutCount, .pivotLeast = 1.0};
    makePattern(&solver->pattern, system, cuts, cutCount);
    STRUCTURE(CREATE)
    for (int k = 0; k < cutCount; ++k) {
        const rbRowBlock* block = &system->blocks[cuts[k]];
        memset(solver->isCut + block->firstRow, 1, (size_t)block->rowCount * sizeof(bool));
    }
    placeNodes(solver, system);
    placeEntries(solver);
    ARRAYS(CREATE)
    return &solver->base;
}

rbSolver* rbDirectSolver_Create(const rbRowSystem* system)
{
    return createDirect(system, 0);
}

rbSolver* rbDirectSolver_CreateOfTree(const rbRowSystem* system)
{
    return createDirect(system, LOOPS);
}

rbSolver* rbDirectSolver_CreateEmpty(const rbRowSystem* system)
{
    return createDirect(system, system->blockCount);
}

void rbDirectSolver_Destroy(rbSolver* base)
{
    DirectSolver* solver = (DirectSolver*)base;
    const Pattern* pattern = &solver->pattern;
    STRUCTURE(DESTROY)
    ARRAYS(DESTROY)
    rbFree((int*)base->cuts, (size_t)pattern->blockCount * sizeof *base->cuts);
    rbFree(pattern->blocks, (size_t)pattern->blockCount * sizeof *pattern->blocks);
    rbFree(pattern->starts, (size_t)(pattern->nodeCount + 1) * sizeof *pattern->starts);
    rbFree(pattern->rows, (size_t)pattern->entryCount * sizeof *pattern->rows);
    rbFree(pattern->couplings, (size_t)pattern->couplingCount * sizeof *pattern->couplings);
    rbFree(solver, sizeof *solver);
}
