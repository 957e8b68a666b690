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
#include "base/core/disjoint_sets.h"
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
    int systemRow;
    bool isChildB; // the child is B of its block
} TreeRow;

typedef struct TreeBody {
    double v[36], u[6], f[6];
} TreeBody;

// Of the joint that is being factored or solved.
typedef struct JointWork {
    double* matrix;    // K
    double* diagonals; // its diagonal before elimination
    double* products;  // V_a B_a^T and V_b B_b^T of its rows, 12 each
    double* solve;     // of rbPivoted_Solve
    int rowsMost;
} JointWork;

typedef struct TreeSolver {
    rbSolver base;
    int* cuts;
    int blockCount;
    Joint* joints; // children before parents
    int jointCount;
    TreeRow* rows; // in the order of joints, without those of cuts
    int rowCount;
    TreeBody* bodies;
    int bodyCount;
    double* factors; // of K, per joint
    size_t factorCount;
    double* invPivots; // per row
    int* order;        // per row, within its joint
    double* solution;  // per row
    JointWork work;
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
        const rbRow* row = &system->rows[to->systemRow];
        if (isinf(system->compliance[to->systemRow])) {
            memset(to->child, 0, sizeof to->child);
            memset(to->parent, 0, sizeof to->parent);
            ++inactive;
            continue;
        }
        rbVec3 angularChild = to->isChildB ? row->angularB : row->angularA;
        rbVec3 angularParent = to->isChildB ? row->angularA : row->angularB;
        double sign = to->isChildB ? -1.0 : 1.0;
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
        double *below = solver->work.products + 12 * (size_t)j, *above = below + 6;
        double compliance = system->compliance[rows[j].systemRow];
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
        solver->work.diagonals[j] = diagonal;
        for (int i = j; i < n; ++i) {
            solver->work.matrix[j * n + i] =
                dot6(rows[i].child, below) + dot6(rows[i].parent, above);
        }
        solver->work.matrix[j * n + j] += own;
    }
}

// Y, and V of the parent.
RB_FIXED_INLINE void updateParent(TreeSolver* solver, const rbRowSystem* system, const Joint* joint,
                                  const rbPivoted* factor, int n)
{
    TreeRow* rows = solver->rows + joint->firstRow;
    const double* products = solver->work.products;
    double* column = solver->work.diagonals; // no longer needed
    for (int e = 0; e < 6; ++e) {
        for (int i = 0; i < n; ++i) {
            column[i] = products[12 * i + 6 + e];
        }
        rbPivoted_Solve(factor, column, solver->work.solve, n);
        for (int i = 0; i < n; ++i) {
            rows[i].pull[e] = column[i];
        }
    }
    double* v = solver->bodies[joint->parent].v;
    if (joint->isParentPlain) {
        const rbSym3* s = &system->masses[joint->parent].invInertia;
        const double m = system->masses[joint->parent].invMass;
        const double full[36] = {m, 0, 0, 0,     0,     0,     0, m, 0, 0,     0,     0,
                                 0, 0, m, 0,     0,     0,     0, 0, 0, s->xx, s->xy, s->xz,
                                 0, 0, 0, s->xy, s->yy, s->yz, 0, 0, 0, s->xz, s->yz, s->zz};
        memcpy(v, full, sizeof full);
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
                       .size = joint->rowCount,
                       .isNatural = joint->isNatural};
}

// Calls a function with the size of a joint, which for ball joints is a constant.
#define WITH_SIZE(joint, function, ...) \
    ((joint)->rowCount == 3 ? function(__VA_ARGS__, 3) : function(__VA_ARGS__, (joint)->rowCount))

// Returns the number of dropped rows; least: smallest pivot so far.
RB_FIXED_INLINE int factorJoint(TreeSolver* solver, const rbRowSystem* system, Joint* joint,
                                rbLeastRatio* least, int n)
{
    makeMatrix(solver, system, joint, n);
    rbPivoted factor = factorOf(solver, joint);
    int dropped = rbPivoted_Make(&factor, solver->work.matrix, solver->work.diagonals, least, n);
    joint->isNatural = factor.isNatural;
    if (joint->parent >= 0) {
        updateParent(solver, system, joint, &factor, n);
    }
    return dropped;
}

void rbTreeSolver_Factor(rbSolver* base, const rbRowSystem* system)
{
    TreeSolver* solver = (TreeSolver*)base;
    RB_ASSERT(system->rowCount == base->rowCount);
    RB_ASSERT(system->bodyCount == solver->bodyCount);
    base->redundantRows = 0;
    rbLeastRatio least = {1.0, 1.0};
    for (int c = 0; c < solver->jointCount; ++c) {
        Joint* joint = &solver->joints[c];
        int inactive = gatherRows(solver, system, joint);
        int dropped = WITH_SIZE(joint, factorJoint, solver, system, joint, &least);
        RB_ASSERT(dropped >= inactive);
        base->redundantRows += dropped - inactive;
    }
    base->pivotLeast = least.pivot / least.diagonal;
}

// ------------------------------------------------------------------------------------------- solve

RB_FIXED_INLINE void solveUpJoint(TreeSolver* solver, const Joint* joint, const double* r, int n)
{
    const TreeRow* rows = solver->rows + joint->firstRow;
    double* t = solver->solution + joint->firstRow;
    for (int i = 0; i < n; ++i) {
        t[i] = r[rows[i].systemRow];
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
    rbPivoted_Solve(&factor, t, solver->work.solve, n);
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

void rbTreeSolver_Solve(rbSolver* base, const double* r, double* x)
{
    TreeSolver* solver = (TreeSolver*)base;
    RB_ASSERT(r != NULL && x != NULL);
    for (int c = 0; c < solver->jointCount; ++c) {
        const Joint* joint = &solver->joints[c];
        WITH_SIZE(joint, solveUpJoint, solver, joint, r);
    }
    for (int i = 0; i < solver->bodyCount; ++i) {
        memset(solver->bodies[i].f, 0, sizeof solver->bodies[i].f);
    }
    for (int c = solver->jointCount - 1; c >= 0; --c) {
        const Joint* joint = &solver->joints[c];
        WITH_SIZE(joint, solveDownJoint, solver, joint);
    }
    for (int i = 0; i < base->rowCount; ++i) {
        x[i] = 0.0; // stays so in cuts
    }
    for (int i = 0; i < solver->rowCount; ++i) {
        x[solver->rows[i].systemRow] = solver->solution[i];
    }
}

// ------------------------------------------------------------------------------------------ forest
// The graph of a system (B-36): dynamic bodies are nodes, all others together one more node, the
// ground; blocks between the same two nodes are one edge. Edges are added to a forest in the order
// of their first blocks; one whose ends are already connected closes a loop. So the last joint of a
// ring is cut.

typedef struct Forest {
    int nodeCount; // bodies, and the ground
    int* parents;  // per node; -1: a root, or not in the graph
    int* order;    // nodes of the graph, parents before children, the last child of a node first
    int count;     // of these
} Forest;

static int* makeInts(int count, int value)
{
    int* ints = rbAlloc((size_t)count * sizeof *ints);
    for (int i = 0; i < count; ++i) {
        ints[i] = value;
    }
    return ints;
}

static void freeInts(int* ints, int count)
{
    rbFree(ints, (size_t)count * sizeof *ints);
}

// The node at one side of a block: 0: A, 1: B.
static int nodeOf(const rbRowSystem* system, int block, int side)
{
    int body = side == 0 ? system->blocks[block].bodyA : system->blocks[block].bodyB;
    RB_ASSERT(body >= 0 && body < system->bodyCount);
    return system->masses[body].isDynamic ? body : system->bodyCount;
}

// Visits all nodes of a tree, level by level. Links: 2 * block + side; those of a node are chained.
static void visitTree(Forest* forest, const rbRowSystem* system, int root, const int* firsts,
                      const int* nexts)
{
    int done = forest->count;
    forest->order[forest->count++] = root;
    for (; done < forest->count; ++done) {
        int node = forest->order[done];
        for (int link = firsts[node]; link >= 0; link = nexts[link]) {
            int other = nodeOf(system, link / 2, 1 - link % 2);
            if (other != forest->parents[node]) {
                forest->parents[other] = node;
                forest->order[forest->count++] = other;
            }
        }
    }
}

static Forest makeForest(const rbRowSystem* system)
{
    int n = system->bodyCount + 1;
    Forest forest = {.nodeCount = n, .parents = makeInts(n, -1), .order = makeInts(n, 0)};
    int *sets = makeInts(n, 0), *firsts = makeInts(n, -1);
    int* nexts = makeInts(2 * system->blockCount, -1);
    for (int i = 0; i < n; ++i) {
        sets[i] = i;
    }
    for (int i = 0; i < system->blockCount; ++i) {
        bool isJoined = rbSets_Join(sets, nodeOf(system, i, 0), nodeOf(system, i, 1));
        for (int side = 0; isJoined && side < 2; ++side) {
            int node = nodeOf(system, i, side);
            nexts[2 * i + side] = firsts[node];
            firsts[node] = 2 * i + side;
        }
    }
    visitTree(&forest, system, n - 1, firsts, nexts);
    for (int i = 0; i < n - 1; ++i) {
        if (system->masses[i].isDynamic && forest.parents[i] < 0) {
            visitTree(&forest, system, i, firsts, nexts);
        }
    }
    freeInts(sets, n);
    freeInts(firsts, n);
    freeInts(nexts, 2 * system->blockCount);
    return forest;
}

static void freeForest(Forest* forest)
{
    freeInts(forest->parents, forest->nodeCount);
    freeInts(forest->order, forest->nodeCount);
}

// The end of a block that is the child of the other one; -1: its ends are the same node, -2: it
// closes a loop.
static int findChild(const Forest* forest, const rbRowSystem* system, int block)
{
    int a = nodeOf(system, block, 0), b = nodeOf(system, block, 1);
    return a == b ? -1 : forest->parents[a] == b ? a : forest->parents[b] == a ? b : -2;
}

static int listLoops(const Forest* forest, const rbRowSystem* system, int* blocks)
{
    int count = 0;
    for (int i = 0; i < system->blockCount; ++i) {
        if (findChild(forest, system, i) == -2) {
            if (blocks != NULL) {
                blocks[count] = i;
            }
            ++count;
        }
    }
    return count;
}

int rbFindLoops(const rbRowSystem* system, int* blocks)
{
    Forest forest = makeForest(system);
    int count = listLoops(&forest, system, blocks);
    freeForest(&forest);
    return count;
}

// ---------------------------------------------------------------------------------------- creation

// Joints in their order, children before parents; fills blockJoints, -1: the block is cut.
static void orderJoints(TreeSolver* solver, const rbRowSystem* system, const Forest* forest,
                        int* blockJoints)
{
    int ground = forest->nodeCount - 1;
    int* nodeJoints = makeInts(forest->nodeCount, -1); // from a node to its parent
    for (int k = forest->count - 1; k >= 0; --k) {
        int node = forest->order[k], parent = forest->parents[node];
        if (parent >= 0) {
            nodeJoints[node] = solver->jointCount;
            solver->joints[solver->jointCount++] =
                (Joint){.child = node, .parent = parent == ground ? -1 : parent};
        }
    }
    for (int i = 0; i < system->blockCount; ++i) {
        int child = findChild(forest, system, i);
        if (child >= 0) {
            blockJoints[i] = nodeJoints[child];
        } else if (child == -1) {
            // Between bodies that are not dynamic: there is only compliance.
            blockJoints[i] = solver->jointCount;
            solver->joints[solver->jointCount++] = (Joint){.child = -1, .parent = -1};
        }
    }
    freeInts(nodeJoints, forest->nodeCount);
}

// Numbers the rows joint by joint.
static void placeRows(TreeSolver* solver, const rbRowSystem* system, const int* blockJoints)
{
    for (int i = 0; i < system->blockCount; ++i) {
        const rbRowBlock* block = &system->blocks[i];
        RB_ASSERT(block->rowCount >= 1 && block->rowCount <= RB_BLOCK_ROWS_MAX);
        if (blockJoints[i] >= 0) {
            solver->joints[blockJoints[i]].rowCount += block->rowCount;
        }
    }
    for (int c = 0; c < solver->jointCount; ++c) {
        Joint* joint = &solver->joints[c];
        int n = joint->rowCount;
        joint->firstRow = solver->rowCount;
        joint->factor = solver->factorCount;
        solver->rowCount += n;
        solver->factorCount += (size_t)n * (size_t)n;
        solver->work.rowsMost = n > solver->work.rowsMost ? n : solver->work.rowsMost;
        joint->rowCount = 0;
    }
    for (int i = 0; i < system->blockCount; ++i) {
        const rbRowBlock* block = &system->blocks[i];
        for (int k = 0; blockJoints[i] >= 0 && k < block->rowCount; ++k) {
            Joint* joint = &solver->joints[blockJoints[i]];
            TreeRow* row = &solver->rows[joint->firstRow + joint->rowCount++];
            row->systemRow = block->firstRow + k;
            row->isChildB = joint->child == block->bodyB;
        }
    }
    RB_ASSERT(solver->rowCount <= system->rowCount);
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
#define STRUCTURE(X)                    \
    X(cuts, solver->blockCount)         \
    X(joints, solver->blockCount)       \
    X(bodies, solver->bodyCount)        \
    X(rows, solver->base.rowCount)      \
    X(invPivots, solver->base.rowCount) \
    X(order, solver->base.rowCount)     \
    X(solution, solver->base.rowCount)
// Those whose sizes follow from the joints.
#define WORK(X)                                                   \
    X(factors, solver->factorCount)                               \
    X(work.matrix, solver->work.rowsMost * solver->work.rowsMost) \
    X(work.diagonals, solver->work.rowsMost)                      \
    X(work.products, 12 * solver->work.rowsMost)                  \
    X(work.solve, solver->work.rowsMost)
#define CREATE(name, count) solver->name = rbAllocZero((size_t)(count), sizeof *solver->name);
#define DESTROY(name, count) rbFree(solver->name, (size_t)(count) * sizeof *solver->name);

rbSolver* rbTreeSolver_Create(const rbRowSystem* system)
{
    TreeSolver* solver = rbAllocZero(1, sizeof *solver);
    RB_ASSERT(system->rowCount >= 0);
    solver->base = (rbSolver){.rowCount = system->rowCount, .pivotLeast = 1.0};
    solver->bodyCount = system->bodyCount;
    solver->blockCount = system->blockCount;
    STRUCTURE(CREATE)

    Forest forest = makeForest(system);
    int* blockJoints = makeInts(system->blockCount, -1);
    solver->base.cuts = solver->cuts;
    solver->base.cutCount = listLoops(&forest, system, solver->cuts);
    orderJoints(solver, system, &forest, blockJoints);
    placeRows(solver, system, blockJoints);
    markPlain(solver);
    freeInts(blockJoints, system->blockCount);
    freeForest(&forest);

    RB_ASSERT(solver->jointCount <= system->blockCount);
    WORK(CREATE)
    return &solver->base;
}

void rbTreeSolver_Destroy(rbSolver* base)
{
    TreeSolver* solver = (TreeSolver*)base;
    STRUCTURE(DESTROY)
    WORK(DESTROY)
    rbFree(solver, sizeof *solver);
}
