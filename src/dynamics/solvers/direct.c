// Sparse direct solver: block LDL^T of M = B W B^T + C (B-34, B-35).
//
// M has a block where two blocks of rows share a dynamic body. Block column j, in the order of
// pattern.h, is eliminated with
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
#include "dynamics/solvers/pattern.h"
#include "dynamics/solvers/pivoted.h"
#include "dynamics/solvers/solver.h"

#include <math.h>
#include <string.h>

typedef struct Node {
    size_t diagonal; // offset of its n x n values
    int row;         // first row in the system
    int size;
} Node;

typedef struct RowRange {
    int first;
    int count;
} RowRange;

typedef struct DirectSolver {
    rbSolver base;
    rbPattern pattern;
    rbRowGraph* graph; // of the cut solver: owns the list of cuts
    Node* nodes;
    RowRange* cutRows; // rows of each cut
    size_t* offsets;   // of the values of entries
    double* values;    // of entries: M, then L
    size_t valueCount;
    double* diagonals; // of nodes: D, column major
    double* factors;   // of D
    size_t diagonalCount;
    double* invPivots; // per row of the system
    int* order;        // per row, within its block
    bool* isPivoted;   // per node: its rows are permuted
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
                            const rbPatternCoupling* coupling, double invMass, int uniform)
{
    const Node *row = &solver->nodes[coupling->rowNode], *col = &solver->nodes[coupling->colNode];
    int rowSize = uniform ? uniform : row->size, colSize = uniform ? uniform : col->size;
    const rbRow *rowRows = rows + row->row, *colRows = rows + col->row;
    const double* response = solver->responses + 6 * (size_t)col->row + (coupling->isColB ? 3 : 0);
    double sign = coupling->sign, linearScale = sign * invMass;
    for (int a = 0; a < rowSize; ++a) {
        const double* linear = &rowRows[a].linear.x;
        const double* angular = angularOf(&rowRows[a], coupling->isRowB);
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

RB_FIXED_INLINE void assemble(DirectSolver* solver, const rbRowSystem* system, const rbRow* rows,
                              int uniform)
{
    const rbPattern* pattern = &solver->pattern;
    for (int j = 0; j < pattern->nodeCount; ++j) {
        assembleDiagonal(solver, system, rows, j, uniform);
    }
    if (solver->valueCount > 0) {
        memset(solver->values, 0, solver->valueCount * sizeof *solver->values);
    }
    for (int k = 0; k < pattern->couplingCount; ++k) {
        const rbPatternCoupling* coupling = &pattern->couplings[k];
        size_t offset = uniform ? (size_t)coupling->entry * (size_t)(uniform * uniform)
                                : solver->offsets[coupling->entry];
        couple(solver->values + offset, solver, rows, coupling,
               system->masses[coupling->body].invMass, uniform);
    }
}

// The rows, with zeros for inactive ones, and the number of inactive ones.
static const rbRow* takeRows(DirectSolver* solver, const rbRowSystem* system, int* inactive)
{
    const rbPattern* pattern = &solver->pattern;
    int count = 0;
    for (int j = 0; j < pattern->nodeCount; ++j) {
        const Node* node = &solver->nodes[j];
        for (int a = 0; a < node->size; ++a) {
            count += isinf(system->compliance[node->row + a]) ? 1 : 0;
        }
    }
    *inactive = count;
    if (count == 0) {
        return system->rows;
    }
    memcpy(solver->rows, system->rows, (size_t)system->rowCount * sizeof *solver->rows);
    for (int i = 0; i < system->rowCount; ++i) {
        if (isinf(system->compliance[i])) {
            solver->rows[i] = (rbRow){0};
        }
    }
    return solver->rows;
}

// ----------------------------------------------------------------------------------- factorization

static void solvePivoted(const DirectSolver* solver, const Node* node, double* x)
{
    double work[RB_BLOCK_ROWS_MAX];
    rbPivoted factor = {.l = solver->factors + node->diagonal,
                        .invPivots = solver->invPivots + node->row,
                        .order = solver->order + node->row,
                        .size = node->size};
    rbPivoted_Solve(&factor, x, x, work);
}

// Factors D of a node; returns the number of dropped rows.
RB_FIXED_INLINE int factorDiagonal(DirectSolver* solver, int index, rbLeastRatio* least,
                                   int uniform)
{
    const Node* node = &solver->nodes[index];
    const double* matrix = solver->diagonals + node->diagonal;
    const double* originals = solver->originals + node->row;
    rbPivoted factor = {.l = solver->factors + node->diagonal,
                        .invPivots = solver->invPivots + node->row,
                        .order = solver->order + node->row,
                        .size = node->size};
    int n = uniform ? uniform : node->size;
    rbLeastRatio before = *least;
    solver->isPivoted[index] =
        !rbFactorNatural(matrix, originals, factor.l, factor.invPivots, n, least);
    if (!solver->isPivoted[index]) {
        return 0;
    }
    *least = before;
    rbPivoted_MakeSorted(&factor, matrix, originals);
    rbLeastRatio_Take(least, factor.pivotLeast, 1.0);
    return factor.dropped;
}

// to (rows x cols, row major) -= l (rows x inner) m^T (m: cols x inner).
RB_FIXED_INLINE void subtractProduct(double* restrict to, const double* restrict l,
                                     const double* restrict m, int rows, int cols, int inner)
{
    for (int a = 0; a < rows; ++a) {
        for (int b = 0; b < cols; ++b) {
            const double *rowL = l + (size_t)a * (size_t)inner,
                         *rowM = m + (size_t)b * (size_t)inner;
            double sum = rowL[0] * rowM[0];
            for (int c = 1; c < inner; ++c) {
                sum += rowL[c] * rowM[c];
            }
            to[a * cols + b] -= sum;
        }
    }
}

// The same on the lower half of a column major square.
RB_FIXED_INLINE void subtractSquare(double* restrict to, const double* restrict l,
                                    const double* restrict m, int rows, int inner)
{
    for (int b = 0; b < rows; ++b) {
        for (int a = b; a < rows; ++a) {
            const double *rowL = l + (size_t)a * (size_t)inner,
                         *rowM = m + (size_t)b * (size_t)inner;
            double sum = rowL[0] * rowM[0];
            for (int c = 1; c < inner; ++c) {
                sum += rowL[c] * rowM[c];
            }
            to[b * rows + a] -= sum;
        }
    }
}

RB_FIXED_INLINE size_t offsetOf(const DirectSolver* solver, int entry, int uniform)
{
    return uniform ? (size_t)entry * (size_t)(uniform * uniform) : solver->offsets[entry];
}

// L_ij = M_ij D_j^+ for all of column j; M_ij are kept in solver->column.
RB_FIXED_INLINE void scaleColumn(DirectSolver* solver, int j, int uniform)
{
    const rbPattern* pattern = &solver->pattern;
    const Node* node = &solver->nodes[j];
    int n = uniform ? uniform : node->size;
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
        if (solver->isPivoted[j]) {
            solvePivoted(solver, node, values + a * (size_t)n);
        } else {
            rbSolveNatural(solver->factors + node->diagonal, solver->invPivots + node->row,
                           values + a * (size_t)n, n);
        }
    }
}

// Subtracts column j from the columns after it.
RB_FIXED_INLINE void spreadColumn(DirectSolver* solver, int j, int uniform)
{
    const rbPattern* pattern = &solver->pattern;
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
    const rbRow* rows = takeRows(solver, system, &inactive);
    assemble(solver, system, rows, uniform);
    for (int j = 0; j < solver->pattern.nodeCount; ++j) {
        dropped += factorDiagonal(solver, j, &least, uniform);
        scaleColumn(solver, j, uniform);
        spreadColumn(solver, j, uniform);
    }
    // Inactive rows are zero, so that they are among the dropped ones.
    RB_ASSERT(dropped >= inactive);
    solver->base.redundantRows = dropped - inactive;
    solver->base.pivotLeast = least.pivot / least.diagonal;
}

static void factor1(DirectSolver* solver, const rbRowSystem* system)
{
    factorWith(solver, system, 1);
}

static void factor3(DirectSolver* solver, const rbRowSystem* system)
{
    factorWith(solver, system, 3);
}

static void factor5(DirectSolver* solver, const rbRowSystem* system)
{
    factorWith(solver, system, 5);
}

static void factorAny(DirectSolver* solver, const rbRowSystem* system)
{
    factorWith(solver, system, 0);
}

// ------------------------------------------------------------------------------------------- solve

RB_FIXED_INLINE void solveWith(const DirectSolver* solver, double* x, int uniform)
{
    const rbPattern* pattern = &solver->pattern;
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
        if (solver->isPivoted[j]) {
            solvePivoted(solver, &nodes[j], to);
        } else {
            rbSolveNatural(solver->factors + nodes[j].diagonal, solver->invPivots + nodes[j].row,
                           to, n);
        }
        for (int p = pattern->starts[j]; p < pattern->starts[j + 1]; ++p) {
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

static void solve1(const DirectSolver* solver, double* x)
{
    solveWith(solver, x, 1);
}

// r -= L z.
RB_FIXED_INLINE rbVec3 forward3(const double* l, rbVec3 r, rbVec3 z)
{
    return (rbVec3){r.x - (l[0] * z.x + l[1] * z.y + l[2] * z.z),
                    r.y - (l[3] * z.x + l[4] * z.y + l[5] * z.z),
                    r.z - (l[6] * z.x + l[7] * z.y + l[8] * z.z)};
}

// x -= L^T z.
RB_FIXED_INLINE rbVec3 backward3(const double* l, rbVec3 x, rbVec3 z)
{
    return (rbVec3){x.x - (l[0] * z.x + l[3] * z.y + l[6] * z.z),
                    x.y - (l[1] * z.x + l[4] * z.y + l[7] * z.z),
                    x.z - (l[2] * z.x + l[5] * z.y + l[8] * z.z)};
}

RB_FIXED_INLINE rbVec3 load3(const double* x)
{
    return (rbVec3){x[0], x[1], x[2]};
}

RB_FIXED_INLINE void store3(double* x, rbVec3 v)
{
    x[0] = v.x;
    x[1] = v.y;
    x[2] = v.z;
}

RB_FIXED_INLINE rbVec3 solveDiagonal3(const DirectSolver* solver, int j, const double* x)
{
    const Node* node = &solver->nodes[j];
    const double* l = solver->factors + node->diagonal;
    const double* inv = solver->invPivots + node->row;
    double y1 = x[1] - l[1] * x[0];
    double y2 = x[2] - l[2] * x[0] - l[5] * y1;
    double z = y2 * inv[2];
    double y = y1 * inv[1] - l[5] * z;
    return (rbVec3){x[0] * inv[0] - l[1] * y - l[2] * z, y, z};
}

// The next node is mostly the first one below (node j + 1 is the parent of j in the tree of
// elimination): its part of x stays in registers, since a load would wait for the preceding store.
static void solve3(const DirectSolver* solver, double* x)
{
    const rbPattern* pattern = &solver->pattern;
    const Node* nodes = solver->nodes;
    const double* values = solver->values;
    int n = pattern->nodeCount, held = -1;
    rbVec3 z = RB_VEC3_ZERO;
    for (int j = 0; j < n; ++j) {
        z = held == j ? z : load3(x + nodes[j].row);
        int first = pattern->starts[j];
        for (int p = pattern->starts[j + 1] - 1; p > first; --p) {
            double* to = x + nodes[pattern->rows[p]].row;
            store3(to, forward3(values + 9 * (size_t)p, load3(to), z));
        }
        if (first < pattern->starts[j + 1]) {
            held = pattern->rows[first];
            double* to = x + nodes[held].row;
            z = forward3(values + 9 * (size_t)first, load3(to), z);
            store3(to, z);
        }
    }
    held = -1;
    for (int j = n - 1; j >= 0; --j) {
        double* to = x + nodes[j].row;
        if (solver->isPivoted[j]) {
            solvePivoted(solver, &nodes[j], to);
        }
        rbVec3 sum = solver->isPivoted[j] ? load3(to) : solveDiagonal3(solver, j, to);
        int first = pattern->starts[j];
        for (int p = pattern->starts[j + 1] - 1; p > first; --p) {
            sum = backward3(values + 9 * (size_t)p, sum, load3(x + nodes[pattern->rows[p]].row));
        }
        if (first < pattern->starts[j + 1]) {
            int row = pattern->rows[first];
            z = held == row ? z : load3(x + nodes[row].row);
            sum = backward3(values + 9 * (size_t)first, sum, z);
        }
        z = sum;
        held = j;
        store3(to, z);
    }
}

static void solve5(const DirectSolver* solver, double* x)
{
    solveWith(solver, x, 5);
}

static void solveAny(const DirectSolver* solver, double* x)
{
    solveWith(solver, x, 0);
}

//--------------------------------------------------------------------------------------------------
// Versions for equal blocks: 1 (rods), 3 (ball joints), 5 (hinges); all others are general.

typedef struct Version {
    void (*factor)(DirectSolver* solver, const rbRowSystem* system);
    void (*solve)(const DirectSolver* solver, double* x);
} Version;

static const Version versions[RB_BLOCK_ROWS_MAX + 1] = {
    [0] = {factorAny, solveAny},
    [1] = {factor1, solve1},
    [3] = {factor3, solve3},
    [5] = {factor5, solve5},
};

void rbDirectSolver_Factor(rbSolver* solver, const rbRowSystem* system)
{
    DirectSolver* direct = (DirectSolver*)solver;
    RB_ASSERT(system->rowCount == solver->rowCount);
    RB_ASSERT(system->blockCount == direct->pattern.blockCount);
    versions[direct->uniform].factor(direct, system);
}

void rbDirectSolver_Solve(rbSolver* solver, const double* r, double* x)
{
    const DirectSolver* direct = (const DirectSolver*)solver;
    RB_ASSERT(r != NULL && x != NULL);
    if (x != r && solver->rowCount > 0) {
        memcpy(x, r, (size_t)solver->rowCount * sizeof *x);
    }
    versions[direct->uniform].solve(direct, x);
    if (direct->graph) {
        for (int k = 0; k < solver->cutCount; ++k) {
            const RowRange* cut = &direct->cutRows[k];
            memset(x + cut->first, 0, (size_t)cut->count * sizeof *x);
        }
    }
}

// ---------------------------------------------------------------------------------------- creation

static void placeNodes(DirectSolver* solver, const rbRowSystem* system)
{
    const rbPattern* pattern = &solver->pattern;
    solver->nodes = rbAllocZero((size_t)pattern->nodeCount, sizeof *solver->nodes);
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
    solver->uniform = versions[solver->uniform].factor ? solver->uniform : 0;
}

static void placeEntries(DirectSolver* solver)
{
    const rbPattern* pattern = &solver->pattern;
    size_t longest = 0;
    solver->offsets = rbAlloc((size_t)pattern->entryCount * sizeof *solver->offsets);
    for (int j = 0; j < pattern->nodeCount; ++j) {
        size_t begin = solver->valueCount;
        for (int p = pattern->starts[j]; p < pattern->starts[j + 1]; ++p) {
            solver->offsets[p] = solver->valueCount;
            solver->valueCount +=
                (size_t)(solver->nodes[j].size * solver->nodes[pattern->rows[p]].size);
        }
        size_t length = solver->valueCount - begin;
        longest = length > longest ? length : longest;
    }
    solver->columnRoom = longest;
    solver->values = rbAllocZero(solver->valueCount, sizeof *solver->values);
    solver->column = rbAllocZero(longest, sizeof *solver->column);
}

// The arrays for values, and how many elements each has.
#define ARRAYS(X)                           \
    X(diagonals, solver->diagonalCount)     \
    X(factors, solver->diagonalCount)       \
    X(isPivoted, solver->pattern.nodeCount) \
    X(invPivots, solver->base.rowCount)     \
    X(order, solver->base.rowCount)         \
    X(originals, solver->base.rowCount)     \
    X(responses, 6 * solver->base.rowCount) \
    X(rows, solver->base.rowCount)
#define CREATE(name, count) solver->name = rbAllocZero((size_t)(count), sizeof *solver->name);
#define DESTROY(name, count) rbFree(solver->name, (size_t)(count) * sizeof *solver->name);

static DirectSolver* createDirect(const rbRowSystem* system, rbRowGraph* graph)
{
    DirectSolver* solver = rbAllocZero(1, sizeof *solver);
    RB_ASSERT(system->rowCount >= 0);
    RB_ASSERT(system->blockCount >= 0);
    solver->base = (rbSolver){.rowCount = system->rowCount, .pivotLeast = 1.0};
    solver->graph = graph;
    bool* isCut = rbAllocZero((size_t)system->blockCount, sizeof *isCut);
    if (graph) {
        solver->base.cuts = graph->loopBlocks;
        solver->base.cutCount = graph->loopCount;
        solver->cutRows = rbAlloc((size_t)graph->loopCount * sizeof *solver->cutRows);
        for (int k = 0; k < graph->loopCount; ++k) {
            const rbRowBlock* block = &system->blocks[graph->loopBlocks[k]];
            isCut[graph->loopBlocks[k]] = true;
            solver->cutRows[k] = (RowRange){.first = block->firstRow, .count = block->rowCount};
        }
    }
    rbPattern_Make(&solver->pattern, system, isCut);
    rbFree(isCut, (size_t)system->blockCount * sizeof *isCut);
    placeNodes(solver, system);
    placeEntries(solver);
    ARRAYS(CREATE)
    return solver;
}

rbSolver* rbDirectSolver_Create(const rbRowSystem* system)
{
    return &createDirect(system, NULL)->base;
}

rbSolver* rbDirectSolver_CreateOfTree(const rbRowSystem* system)
{
    return &createDirect(system, rbCreateRowGraph(system))->base;
}

void rbDirectSolver_Destroy(rbSolver* base)
{
    DirectSolver* solver = (DirectSolver*)base;
    rbFree(solver->offsets, (size_t)solver->pattern.entryCount * sizeof *solver->offsets);
    rbFree(solver->values, solver->valueCount * sizeof *solver->values);
    rbFree(solver->column, solver->columnRoom * sizeof *solver->column);
    rbFree(solver->nodes, (size_t)solver->pattern.nodeCount * sizeof *solver->nodes);
    rbFree(solver->cutRows, (size_t)base->cutCount * sizeof *solver->cutRows);
    ARRAYS(DESTROY)
    rbPattern_Free(&solver->pattern);
    rbDestroyRowGraph(solver->graph);
    rbFree(solver, sizeof *solver);
}
