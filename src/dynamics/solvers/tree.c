// Linear-time solver for trees (B-39).
//
// M x = r with M = B W B^T + C is the Schur complement of H [y; x] = [0; -r],
//   H = [ W^-1  -B^T ; -B  -C ],
// y being the change of the bodies' velocities. H has the graph of the mechanism: bodies and joints
// alternate. Joints are eliminated from the leaves to the root. A body with its subtree is
// represented to its parent by V, the inverse of its articulated inertia, 6 x 6: initially W of the
// body, and after a joint c to a child a, with rows B_a on the child and B_b on the body b itself,
//   K = B_a V_a B_a^T + B_b V_b B_b^T + C,   Y = K^+ B_b V_b,   V_b -= V_b B_b^T Y.
// A solve goes up with u, the velocities caused by the joints below, and down with f, the impulses
// of the joints above:
//   up    t = r - B_a u_a - B_b u_b,   x = K^+ t,   u_b += Y^T t
//   down  x -= Y f_b,   f_b += B_b^T x,   f_a = B_a^T x.
// This is block LDL^T of H without fill, for any number of joints at a body. Inverse inertias are
// given and stored: only K is ever inverted. Its pivots are those of the direct solver in this
// order, so that redundant rows are detected alike. (Factoring the 6 x 6 articulated inertias
// instead loses digits by their condition, 1e6 for a light body that carries a heavy one.)
//
// Blocks between the same two nodes form one joint. Bodies that are not dynamic form one node, the
// root of everything attached to it, and take no part in the arithmetic. Blocks that close loops
// are omitted: they are cuts.
#include "base/core/memory.h"
#include "dynamics/solvers/pivoted.h"
#include "dynamics/solvers/solver.h"

#include <math.h>
#include <string.h>

typedef struct Joint {
    int child;    // body; -1: none that is dynamic
    int parent;   // body; -1: not dynamic
    int firstRow; // in the order of joints
    int rowCount;
    size_t factor;      // offset of K's
    bool isChildPlain;  // no joint below the child: V is W, u is zero
    bool isParentPlain; // first joint below the parent
    bool isNatural;     // K was factored with its rows in the given order
} Joint;

// A row of a joint.
typedef struct TreeRow {
    double child[6];  // B_a
    double parent[6]; // B_b
    double pull[6];   // Y
} TreeRow;

typedef struct TreeBody {
    double v[36];
    double u[6];
    double f[6];
} TreeBody;

typedef struct TreeSolver {
    rbSolver base;
    rbRowGraph* graph; // owns the list of cuts
    Joint* joints;     // children before parents
    int jointCount;
    int rowCount;    // without those of cuts
    int* systemRows; // row of the system of each row
    bool* isChildB;  // of each row: the child is B of its block
    TreeRow* rows;
    TreeBody* bodies;
    int* roots; // bodies without a joint above
    int rootCount;
    int bodyCount;
    int blockCount;
    int* cutRows; // rows of the system that are cut
    int cutRowCount;
    double* factors; // of K, per joint
    size_t factorCount;
    double* invPivots; // per row
    int* order;        // per row, within its joint
    double* matrix;    // of the current joint: K,
    double* diagonals; //   its diagonal before elimination,
    double* products;  //   V_a B_a^T and V_b B_b^T of its rows, 12 each
    double* work;
    double* solution; // per row
    int jointRowsMost;
    rbLeastRatio least; // least pivot of the current factorization
} TreeSolver;

// ----------------------------------------------------------------------------------- factorization

RB_FIXED_INLINE double dot6(const double* a, const double* b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// out = W b.
RB_FIXED_INLINE void applyMass(const rbRowMass* mass, const double* b, double* restrict out)
{
    const rbSym3* s = &mass->invInertia;
    out[0] = mass->invMass * b[0];
    out[1] = mass->invMass * b[1];
    out[2] = mass->invMass * b[2];
    out[3] = s->xx * b[3] + s->xy * b[4] + s->xz * b[5];
    out[4] = s->xy * b[3] + s->yy * b[4] + s->yz * b[5];
    out[5] = s->xz * b[3] + s->yz * b[4] + s->zz * b[5];
}

// out = V b; returns b W b, which enters the diagonal of M.
RB_FIXED_INLINE double applyBody(const TreeSolver* solver, const rbRowSystem* system, int body,
                                 bool isPlain, const double* b, double* restrict out)
{
    applyMass(&system->masses[body], b, out);
    double diagonal = dot6(b, out);
    if (!isPlain) {
        const double* v = solver->bodies[body].v;
        for (int e = 0; e < 6; ++e) {
            out[e] = dot6(v + 6 * (size_t)e, b);
        }
    }
    return diagonal;
}

static void fillMass(double* v, const rbRowMass* mass)
{
    const rbSym3* s = &mass->invInertia;
    const double m = mass->invMass;
    const double full[36] = {m, 0, 0, 0,     0,     0,     0, m, 0, 0,     0,     0,
                             0, 0, m, 0,     0,     0,     0, 0, 0, s->xx, s->xy, s->xz,
                             0, 0, 0, s->xy, s->yy, s->yz, 0, 0, 0, s->xz, s->yz, s->zz};
    memcpy(v, full, sizeof full);
}

static void setRow(double* to, rbVec3 linear, rbVec3 angular, double sign)
{
    to[0] = sign * linear.x;
    to[1] = sign * linear.y;
    to[2] = sign * linear.z;
    to[3] = sign * angular.x;
    to[4] = sign * angular.y;
    to[5] = sign * angular.z;
}

// Copies the rows of a joint from the system; returns the number of inactive ones.
static int gatherRows(TreeSolver* solver, const rbRowSystem* system, const Joint* joint)
{
    int inactive = 0;
    for (int i = joint->firstRow; i < joint->firstRow + joint->rowCount; ++i) {
        TreeRow* to = &solver->rows[i];
        const rbRow* row = &system->rows[solver->systemRows[i]];
        if (isinf(system->compliance[solver->systemRows[i]])) {
            *to = (TreeRow){0};
            ++inactive;
            continue;
        }
        rbVec3 angularChild = solver->isChildB[i] ? row->angularB : row->angularA;
        rbVec3 angularParent = solver->isChildB[i] ? row->angularA : row->angularB;
        double sign = solver->isChildB[i] ? -1.0 : 1.0;
        setRow(to->child, row->linear, angularChild, sign);
        setRow(to->parent, row->linear, angularParent, -sign);
    }
    return inactive;
}

// K and the reference values for its pivots.
RB_FIXED_INLINE void makeMatrix(TreeSolver* solver, const rbRowSystem* system, const Joint* joint,
                                int n)
{
    const TreeRow* rows = solver->rows + joint->firstRow;
    for (int j = 0; j < n; ++j) {
        double *below = solver->products + 12 * (size_t)j, *above = below + 6;
        double compliance = system->compliance[solver->systemRows[joint->firstRow + j]];
        double diagonal = isinf(compliance) ? 0.0 : compliance;
        double own = diagonal;
        memset(below, 0, 12 * sizeof *below);
        if (joint->child >= 0) {
            diagonal +=
                applyBody(solver, system, joint->child, joint->isChildPlain, rows[j].child, below);
        }
        if (joint->parent >= 0) {
            diagonal += applyBody(solver, system, joint->parent, joint->isParentPlain,
                                  rows[j].parent, above);
        }
        solver->diagonals[j] = diagonal;
        for (int i = j; i < n; ++i) {
            solver->matrix[j * n + i] = dot6(rows[i].child, below) + dot6(rows[i].parent, above);
        }
        solver->matrix[j * n + j] += own;
    }
}

// Y, and V of the parent.
RB_FIXED_INLINE void updateParent(TreeSolver* solver, const rbRowSystem* system, const Joint* joint,
                                  const rbPivoted* factor, int n)
{
    TreeRow* rows = solver->rows + joint->firstRow;
    const double* products = solver->products;
    double* column = solver->diagonals; // no longer needed
    for (int e = 0; e < 6; ++e) {
        for (int i = 0; i < n; ++i) {
            column[i] = products[12 * i + 6 + e];
        }
        if (joint->isNatural) {
            rbSolveNatural(factor->l, factor->invPivots, column, n);
        } else {
            rbPivoted_Solve(factor, column, column, solver->work);
        }
        for (int i = 0; i < n; ++i) {
            rows[i].pull[e] = column[i];
        }
    }
    double* v = solver->bodies[joint->parent].v;
    if (joint->isParentPlain) {
        fillMass(v, &system->masses[joint->parent]);
    }
    for (int e = 0; e < 6; ++e) {
        for (int g = e; g < 6; ++g) {
            double sum = 0.0;
            for (int i = 0; i < n; ++i) {
                sum += products[12 * i + 6 + e] * rows[i].pull[g];
            }
            double value = v[6 * e + g] - sum;
            v[6 * e + g] = value;
            v[6 * g + e] = value;
        }
    }
}

static rbPivoted factorOf(const TreeSolver* solver, const Joint* joint)
{
    return (rbPivoted){.l = solver->factors + joint->factor,
                       .invPivots = solver->invPivots + joint->firstRow,
                       .order = solver->order + joint->firstRow,
                       .size = joint->rowCount};
}

// Returns the number of dropped rows.
RB_FIXED_INLINE int factorJoint(TreeSolver* solver, const rbRowSystem* system, Joint* joint, int n)
{
    makeMatrix(solver, system, joint, n);
    rbPivoted factor = factorOf(solver, joint);
    rbLeastRatio least = {1.0, 1.0};
    joint->isNatural =
        rbFactorNatural(solver->matrix, solver->diagonals, factor.l, factor.invPivots, n, &least);
    if (!joint->isNatural) {
        rbPivoted_MakeSorted(&factor, solver->matrix, solver->diagonals);
        least = (rbLeastRatio){factor.pivotLeast, 1.0};
    }
    rbLeastRatio_Take(&solver->least, least.pivot, least.diagonal);
    if (joint->parent >= 0) {
        updateParent(solver, system, joint, &factor, n);
    }
    return factor.dropped;
}

void rbTreeSolver_Factor(rbSolver* base, const rbRowSystem* system)
{
    TreeSolver* solver = (TreeSolver*)base;
    RB_ASSERT(system->rowCount == base->rowCount);
    RB_ASSERT(system->bodyCount == solver->bodyCount);
    base->redundantRows = 0;
    solver->least = (rbLeastRatio){1.0, 1.0};
    for (int c = 0; c < solver->jointCount; ++c) {
        Joint* joint = &solver->joints[c];
        int inactive = gatherRows(solver, system, joint), dropped = 0;
        if (joint->rowCount == 3) {
            dropped = factorJoint(solver, system, joint, 3);
        } else {
            dropped = factorJoint(solver, system, joint, joint->rowCount);
        }
        RB_ASSERT(dropped >= inactive);
        base->redundantRows += dropped - inactive;
    }
    base->pivotLeast = solver->least.pivot / solver->least.diagonal;
}

// ------------------------------------------------------------------------------------------- solve

RB_FIXED_INLINE void solveUpJoint(TreeSolver* solver, const Joint* joint, const double* r, int n)
{
    const TreeRow* rows = solver->rows + joint->firstRow;
    double* t = solver->solution + joint->firstRow;
    for (int i = 0; i < n; ++i) {
        t[i] = r[solver->systemRows[joint->firstRow + i]];
        if (!joint->isChildPlain) {
            t[i] -= dot6(rows[i].child, solver->bodies[joint->child].u);
        }
        if (!joint->isParentPlain) {
            t[i] -= dot6(rows[i].parent, solver->bodies[joint->parent].u);
        }
    }
    if (joint->parent >= 0) {
        double* u = solver->bodies[joint->parent].u;
        for (int e = 0; e < 6; ++e) {
            double sum = joint->isParentPlain ? 0.0 : u[e];
            for (int i = 0; i < n; ++i) {
                sum += rows[i].pull[e] * t[i];
            }
            u[e] = sum;
        }
    }
    rbPivoted factor = factorOf(solver, joint);
    if (joint->isNatural) {
        rbSolveNatural(factor.l, factor.invPivots, t, n);
    } else {
        rbPivoted_Solve(&factor, t, t, solver->work);
    }
}

static void solveUp(TreeSolver* solver, const double* r)
{
    for (int c = 0; c < solver->jointCount; ++c) {
        const Joint* joint = &solver->joints[c];
        if (joint->rowCount == 3) {
            solveUpJoint(solver, joint, r, 3);
        } else {
            solveUpJoint(solver, joint, r, joint->rowCount);
        }
    }
}

RB_FIXED_INLINE void solveDownJoint(TreeSolver* solver, const Joint* joint, int n)
{
    const TreeRow* rows = solver->rows + joint->firstRow;
    double* x = solver->solution + joint->firstRow;
    if (joint->parent >= 0) {
        double* f = solver->bodies[joint->parent].f;
        for (int i = 0; i < n; ++i) {
            x[i] -= dot6(rows[i].pull, f);
        }
        for (int e = 0; e < 6; ++e) {
            double sum = f[e];
            for (int i = 0; i < n; ++i) {
                sum += rows[i].parent[e] * x[i];
            }
            f[e] = sum;
        }
    }
    if (!joint->isChildPlain) {
        double* f = solver->bodies[joint->child].f;
        for (int e = 0; e < 6; ++e) {
            double sum = 0.0;
            for (int i = 0; i < n; ++i) {
                sum += rows[i].child[e] * x[i];
            }
            f[e] = sum;
        }
    }
}

static void solveDown(TreeSolver* solver)
{
    for (int k = 0; k < solver->rootCount; ++k) {
        memset(solver->bodies[solver->roots[k]].f, 0, sizeof solver->bodies[0].f);
    }
    for (int c = solver->jointCount - 1; c >= 0; --c) {
        const Joint* joint = &solver->joints[c];
        if (joint->rowCount == 3) {
            solveDownJoint(solver, joint, 3);
        } else {
            solveDownJoint(solver, joint, joint->rowCount);
        }
    }
}

void rbTreeSolver_Solve(rbSolver* base, const double* r, double* x)
{
    TreeSolver* solver = (TreeSolver*)base;
    RB_ASSERT(r != NULL && x != NULL);
    solveUp(solver, r);
    solveDown(solver);
    for (int i = 0; i < solver->rowCount; ++i) {
        x[solver->systemRows[i]] = solver->solution[i];
    }
    for (int i = 0; i < solver->cutRowCount; ++i) {
        x[solver->cutRows[i]] = 0.0;
    }
}

// ---------------------------------------------------------------------------------------- creation

// Edges at each node that are not cut, in compressed form.
typedef struct Forest {
    rbEdgeList edges;
    bool* isCut;   // per edge
    int* starts;   // per node
    int* incident; // edges
    int nodeCount;
} Forest;

static void makeForest(Forest* forest, const rbRowSystem* system, const rbRowGraph* graph)
{
    rbEdgeList_Make(&forest->edges, system);
    const rbEdgeList* edges = &forest->edges;
    size_t nodeCount = (size_t)system->bodyCount + 1, edgeCount = (size_t)edges->edgeCount;
    forest->nodeCount = (int)nodeCount;
    forest->isCut = rbAllocZero(edgeCount, sizeof *forest->isCut);
    for (int k = 0; k < graph->loopCount; ++k) {
        forest->isCut[edges->blockEdges[graph->loopBlocks[k]]] = true;
    }
    forest->starts = rbAllocZero(nodeCount + 1, sizeof *forest->starts);
    forest->incident = rbAllocZero(2 * edgeCount, sizeof *forest->incident);
    for (size_t e = 0; e < edgeCount; ++e) {
        forest->starts[edges->edges[e].small + 1] += forest->isCut[e] ? 0 : 1;
        forest->starts[edges->edges[e].large + 1] += forest->isCut[e] ? 0 : 1;
    }
    for (size_t i = 0; i < nodeCount; ++i) {
        forest->starts[i + 1] += forest->starts[i];
    }
    int* ends = rbAlloc(nodeCount * sizeof *ends);
    memcpy(ends, forest->starts, nodeCount * sizeof *ends);
    for (size_t e = 0; e < edgeCount; ++e) {
        if (!forest->isCut[e]) {
            forest->incident[ends[edges->edges[e].small]++] = (int)e;
            forest->incident[ends[edges->edges[e].large]++] = (int)e;
        }
    }
    rbFree(ends, nodeCount * sizeof *ends);
}

static void freeForest(Forest* forest)
{
    size_t nodeCount = (size_t)forest->nodeCount, edgeCount = (size_t)forest->edges.edgeCount;
    rbFree(forest->isCut, edgeCount * sizeof *forest->isCut);
    rbFree(forest->starts, (nodeCount + 1) * sizeof *forest->starts);
    rbFree(forest->incident, 2 * edgeCount * sizeof *forest->incident);
    rbEdgeList_Free(&forest->edges);
}

// State of the search.
typedef struct Search {
    int* stack;
    int* next;       // per node: position in its list of edges
    int* parentEdge; // per node; -1: root, -2: not visited
    int* edgeJoints; // per edge: its joint; -1: none
} Search;

// All joints below a root, children before parents. Depth-first without recursion: the depth of a
// chain is its length.
static void searchFrom(TreeSolver* solver, const Forest* forest, Search* search, int root)
{
    int depth = 0, ground = forest->nodeCount - 1;
    search->stack[depth++] = root;
    search->parentEdge[root] = -1;
    while (depth > 0) {
        int node = search->stack[depth - 1];
        if (search->next[node] < forest->starts[node + 1]) {
            int edge = forest->incident[search->next[node]++];
            rbGraphEdge ends = forest->edges.edges[edge];
            int other = ends.small == node ? ends.large : ends.small;
            if (edge != search->parentEdge[node]) {
                RB_ASSERT(search->parentEdge[other] == -2);
                search->parentEdge[other] = edge;
                search->stack[depth++] = other;
            }
            continue;
        }
        --depth;
        if (depth > 0) {
            int parent = search->stack[depth - 1];
            search->edgeJoints[search->parentEdge[node]] = solver->jointCount;
            solver->joints[solver->jointCount++] =
                (Joint){.child = node, .parent = parent == ground ? -1 : parent};
        } else if (node != ground) {
            solver->roots[solver->rootCount++] = node;
        }
    }
}

// Joints in their order; fills blockJoints, -1: the block is cut.
static void orderJoints(TreeSolver* solver, const rbRowSystem* system, int* blockJoints)
{
    Forest forest;
    makeForest(&forest, system, solver->graph);
    size_t nodeCount = (size_t)forest.nodeCount, edgeCount = (size_t)forest.edges.edgeCount;
    Search search = {.stack = rbAlloc(nodeCount * sizeof(int)),
                     .next = rbAlloc(nodeCount * sizeof(int)),
                     .parentEdge = rbAlloc(nodeCount * sizeof(int)),
                     .edgeJoints = rbAlloc(edgeCount * sizeof(int))};
    memcpy(search.next, forest.starts, nodeCount * sizeof(int));
    for (size_t i = 0; i < nodeCount; ++i) {
        search.parentEdge[i] = -2;
    }
    for (size_t e = 0; e < edgeCount; ++e) {
        search.edgeJoints[e] = -1;
    }
    searchFrom(solver, &forest, &search, system->bodyCount);
    for (int i = 0; i < system->bodyCount; ++i) {
        if (system->masses[i].isDynamic && search.parentEdge[i] == -2) {
            searchFrom(solver, &forest, &search, i);
        }
    }
    for (int i = 0; i < system->blockCount; ++i) {
        int edge = forest.edges.blockEdges[i];
        if (edge >= 0) {
            blockJoints[i] = search.edgeJoints[edge];
        } else {
            // Between bodies that are not dynamic: there is only compliance.
            blockJoints[i] = solver->jointCount;
            solver->joints[solver->jointCount++] = (Joint){.child = -1, .parent = -1};
        }
    }
    rbFree(search.stack, nodeCount * sizeof(int));
    rbFree(search.next, nodeCount * sizeof(int));
    rbFree(search.parentEdge, nodeCount * sizeof(int));
    rbFree(search.edgeJoints, edgeCount * sizeof(int));
    freeForest(&forest);
}

// Numbers the rows joint by joint.
static void placeRows(TreeSolver* solver, const rbRowSystem* system, const int* blockJoints)
{
    for (int i = 0; i < system->blockCount; ++i) {
        const rbRowBlock* block = &system->blocks[i];
        RB_ASSERT(block->rowCount >= 1 && block->rowCount <= RB_BLOCK_ROWS_MAX);
        if (blockJoints[i] >= 0) {
            solver->joints[blockJoints[i]].rowCount += block->rowCount;
            continue;
        }
        for (int k = 0; k < block->rowCount; ++k) {
            solver->cutRows[solver->cutRowCount++] = block->firstRow + k;
        }
    }
    for (int c = 0; c < solver->jointCount; ++c) {
        Joint* joint = &solver->joints[c];
        size_t n = (size_t)joint->rowCount;
        joint->firstRow = solver->rowCount;
        joint->factor = solver->factorCount;
        solver->rowCount += joint->rowCount;
        solver->factorCount += n * n;
        solver->jointRowsMost =
            joint->rowCount > solver->jointRowsMost ? joint->rowCount : solver->jointRowsMost;
        joint->rowCount = 0;
    }
    for (int i = 0; i < system->blockCount; ++i) {
        const rbRowBlock* block = &system->blocks[i];
        for (int k = 0; blockJoints[i] >= 0 && k < block->rowCount; ++k) {
            Joint* joint = &solver->joints[blockJoints[i]];
            int row = joint->firstRow + joint->rowCount++;
            solver->systemRows[row] = block->firstRow + k;
            solver->isChildB[row] = joint->child == block->bodyB;
        }
    }
    RB_ASSERT(solver->rowCount + solver->cutRowCount == system->rowCount);
}

// Bodies are plain until their first joint from below is processed.
static void markPlain(TreeSolver* solver)
{
    bool* isTouched = rbAllocZero((size_t)solver->bodyCount, sizeof *isTouched);
    for (int c = 0; c < solver->jointCount; ++c) {
        Joint* joint = &solver->joints[c];
        joint->isChildPlain = joint->child < 0 || !isTouched[joint->child];
        joint->isParentPlain = joint->parent < 0 || !isTouched[joint->parent];
        if (joint->parent >= 0) {
            isTouched[joint->parent] = true;
        }
    }
    rbFree(isTouched, (size_t)solver->bodyCount * sizeof *isTouched);
}

// The arrays of a solver, and how many elements each has.
#define STRUCTURE(X)                     \
    X(joints, solver->blockCount)        \
    X(roots, solver->bodyCount)          \
    X(bodies, solver->bodyCount)         \
    X(systemRows, solver->base.rowCount) \
    X(isChildB, solver->base.rowCount)   \
    X(cutRows, solver->base.rowCount)    \
    X(rows, solver->base.rowCount)       \
    X(invPivots, solver->base.rowCount)  \
    X(order, solver->base.rowCount)      \
    X(solution, solver->base.rowCount)
// Those whose sizes follow from the joints.
#define WORK(X)                                              \
    X(factors, solver->factorCount)                          \
    X(matrix, solver->jointRowsMost * solver->jointRowsMost) \
    X(diagonals, solver->jointRowsMost)                      \
    X(products, 12 * solver->jointRowsMost)                  \
    X(work, solver->jointRowsMost)
#define CREATE(name, count) solver->name = rbAllocZero((size_t)(count), sizeof *solver->name);
#define DESTROY(name, count) rbFree(solver->name, (size_t)(count) * sizeof *solver->name);

rbSolver* rbTreeSolver_Create(const rbRowSystem* system)
{
    TreeSolver* solver = rbAllocZero(1, sizeof *solver);
    RB_ASSERT(system->rowCount >= 0);
    size_t blockCount = (size_t)system->blockCount;
    solver->graph = rbCreateRowGraph(system);
    solver->base = (rbSolver){.rowCount = system->rowCount,
                              .cuts = solver->graph->loopBlocks,
                              .cutCount = solver->graph->loopCount,
                              .pivotLeast = 1.0};
    solver->bodyCount = system->bodyCount;
    solver->blockCount = system->blockCount;
    STRUCTURE(CREATE)

    int* blockJoints = rbAlloc(blockCount * sizeof *blockJoints);
    orderJoints(solver, system, blockJoints);
    placeRows(solver, system, blockJoints);
    markPlain(solver);
    rbFree(blockJoints, blockCount * sizeof *blockJoints);

    RB_ASSERT(solver->jointCount <= system->blockCount);
    WORK(CREATE)
    return &solver->base;
}

void rbTreeSolver_Destroy(rbSolver* base)
{
    TreeSolver* solver = (TreeSolver*)base;
    STRUCTURE(DESTROY)
    WORK(DESTROY)
    rbDestroyRowGraph(solver->graph);
    rbFree(solver, sizeof *solver);
}
