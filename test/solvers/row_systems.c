// See row_systems.h.
#include "row_systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void* makeArray(size_t count, size_t size)
{
    void* memory = calloc(count > 0 ? count : 1, size);
    if (!memory) {
        abort();
    }
    return memory;
}

static rbVec3 randomVector(rbRandom* random)
{
    double x = rbRandom_Symmetric(random), y = rbRandom_Symmetric(random);
    return rbMakeVec3(x, y, rbRandom_Symmetric(random));
}

static void randomAxes(rbRandom* random, rbVec3 axes[3])
{
    rbQuat q;
    do {
        q.w = rbRandom_Symmetric(random);
        q.x = rbRandom_Symmetric(random);
        q.y = rbRandom_Symmetric(random);
        q.z = rbRandom_Symmetric(random);
    } while (rbDotQuat(q, q) < 0.01);
    rbMat3 m = rbMatFromQuat(rbNormalizeQuat(q));
    axes[0] = m.cx;
    axes[1] = m.cy;
    axes[2] = m.cz;
}

static rbRowMass randomMass(rbRandom* random, double decades)
{
    rbVec3 e[3], moments = rbMakeVec3(rbRandom_Range(random, 0.05, 0.2), 0.15, 0.2);
    randomAxes(random, e);
    double mass = pow(10.0, decades * (rbRandom_Unit(random) - 0.5));
    rbRowMass result = {.invMass = 1.0 / mass, .isDynamic = true};
    double inv[3] = {1.0 / (mass * moments.x), 1.0 / (mass * moments.y), 1.0 / (mass * moments.z)};
    rbSym3* s = &result.invInertia;
    for (int k = 0; k < 3; ++k) {
        s->xx += inv[k] * e[k].x * e[k].x;
        s->yy += inv[k] * e[k].y * e[k].y;
        s->zz += inv[k] * e[k].z * e[k].z;
        s->xy += inv[k] * e[k].x * e[k].y;
        s->xz += inv[k] * e[k].x * e[k].z;
        s->yz += inv[k] * e[k].y * e[k].z;
    }
    return result;
}

static void refreshView(TestSystem* system)
{
    system->view.masses = system->masses;
    system->view.blocks = system->blocks;
    system->view.rows = system->rows;
    system->view.compliance = system->compliance;
}

TestSystem makeBodies(rbRandom* random, int dynamicCount, double massDecades)
{
    TestSystem system = {.blockCapacity = 4 * dynamicCount + 8};
    size_t bodies = (size_t)dynamicCount + 1, blocks = (size_t)system.blockCapacity;
    system.view.bodyCount = (int)bodies;
    system.masses = makeArray(bodies, sizeof *system.masses);
    system.centers = makeArray(bodies, sizeof *system.centers);
    system.blocks = makeArray(blocks, sizeof *system.blocks);
    system.rows = makeArray(blocks * RB_BLOCK_ROWS_MAX, sizeof *system.rows);
    system.compliance = makeArray(blocks * RB_BLOCK_ROWS_MAX, sizeof *system.compliance);
    for (size_t i = 1; i < bodies; ++i) {
        system.masses[i] = randomMass(random, massDecades);
        system.centers[i] = randomVector(random);
    }
    refreshView(&system);
    return system;
}

static rbRowBlock* startBlock(TestSystem* system, int bodyA, int bodyB, int rowCount)
{
    if (system->view.blockCount >= system->blockCapacity) {
        abort();
    }
    rbRowBlock* block = &system->blocks[system->view.blockCount++];
    *block = (rbRowBlock){
        .bodyA = bodyA, .bodyB = bodyB, .firstRow = system->view.rowCount, .rowCount = rowCount};
    system->view.rowCount += rowCount;
    return block;
}

void addBlock(TestSystem* system, int bodyA, int bodyB, rbVec3 point, const rbVec3 axes[3],
              int rowCount)
{
    rbVec3 rA = rbSub(point, system->centers[bodyA]), rB = rbSub(point, system->centers[bodyB]);
    const rbRowBlock* block = startBlock(system, bodyA, bodyB, rowCount);
    for (int k = 0; k < rowCount; ++k) {
        rbRow* row = &system->rows[block->firstRow + k];
        rbVec3 axis = axes[k % 3];
        *row = k < 3 ? (rbRow){axis, rbCross(rA, axis), rbCross(rB, axis)}
                     : (rbRow){RB_VEC3_ZERO, axis, axis};
    }
}

void addHinge(TestSystem* system, int bodyA, int bodyB, rbVec3 point, rbVec3 axis)
{
    rbVec3 first = rbNormalize(rbPerpendicular(axis));
    rbVec3 axes[3] = {first, rbCross(rbNormalize(axis), first), rbNormalize(axis)};
    addBlock(system, bodyA, bodyB, point, axes, 5);
}

static void addRandom(TestSystem* system, rbRandom* random, const SystemOptions* options, int a,
                      int b)
{
    rbVec3 axes[3];
    randomAxes(random, axes);
    rbVec3 point = rbAdd(rbScale(0.5, rbAdd(system->centers[a], system->centers[b])),
                         rbScale(0.3, randomVector(random)));
    int rows = options->rowsMin + rbRandom_Index(random, options->rowsMax - options->rowsMin + 1);
    bool isTurned = rbRandom_Index(random, 2) == 1;
    addBlock(system, isTurned ? b : a, isTurned ? a : b, point, axes, rows);
}

static void connect(TestSystem* system, rbRandom* random, const SystemOptions* options)
{
    int n = options->bodyCount, side = (int)ceil(sqrt((double)n));
    switch (options->shape) {
    case SHAPE_CHAIN:
    case SHAPE_RING:
        for (int i = 1; i <= n; ++i) {
            addRandom(system, random, options, i - 1, i);
        }
        if (options->shape == SHAPE_RING) {
            addRandom(system, random, options, n, 0);
        }
        break;
    case SHAPE_TREE:
        for (int i = 2; i <= n; ++i) {
            addRandom(system, random, options, 1 + rbRandom_Index(random, i - 1), i);
        }
        break;
    case SHAPE_HUB:
        for (int i = 2; i <= n; ++i) {
            addRandom(system, random, options, 1, i);
        }
        break;
    case SHAPE_NET:
        for (int i = 1; i <= n; ++i) {
            if (i % side != 0 && i < n) {
                addRandom(system, random, options, i, i + 1);
            }
            if (i + side <= n) {
                addRandom(system, random, options, i, i + side);
            }
        }
        addRandom(system, random, options, 0, 1);
        addRandom(system, random, options, 0, n);
        break;
    case SHAPE_ANY:
    case SHAPE_COUNT:
    default:
        for (int i = 0; i < 2 * n; ++i) {
            int a = rbRandom_Index(random, n + 1), b = rbRandom_Index(random, n + 1);
            if (a != b) {
                addRandom(system, random, options, a, b);
            }
        }
        break;
    }
}

TestSystem makeSystem(rbRandom* random, const SystemOptions* options)
{
    TestSystem system = makeBodies(random, options->bodyCount, options->massDecades);
    if (options->shape == SHAPE_ANY && options->bodyCount > 3) {
        system.masses[2] = (rbRowMass){0};
    }
    connect(&system, random, options);
    for (int i = 0; i < system.view.rowCount; ++i) {
        double u = rbRandom_Unit(random);
        if (u < options->outShare) {
            system.compliance[i] = INFINITY;
        } else if (u < options->outShare + options->softShare) {
            system.compliance[i] = pow(10.0, rbRandom_Range(random, -6.0, 2.0));
        }
    }
    return system;
}

void freeSystem(TestSystem* system)
{
    free(system->masses);
    free(system->centers);
    free(system->blocks);
    free(system->rows);
    free(system->compliance);
}

// B: rowCount x 6 bodyCount, + on A and - on B.
static long double* makeRowsDense(const rbRowSystem* system)
{
    size_t columns = 6 * (size_t)system->bodyCount;
    long double* b = makeArray((size_t)system->rowCount * columns, sizeof *b);
    for (int k = 0; k < system->blockCount; ++k) {
        const rbRowBlock* block = &system->blocks[k];
        for (int i = block->firstRow; i < block->firstRow + block->rowCount; ++i) {
            const rbRow* row = &system->rows[i];
            const double a[6] = {row->linear.x,   row->linear.y,   row->linear.z,
                                 row->angularA.x, row->angularA.y, row->angularA.z};
            const double c[6] = {row->linear.x,   row->linear.y,   row->linear.z,
                                 row->angularB.x, row->angularB.y, row->angularB.z};
            for (int e = 0; e < 6 && !isinf(system->compliance[i]); ++e) {
                b[(size_t)i * columns + (size_t)(6 * block->bodyA + e)] += (long double)a[e];
                b[(size_t)i * columns + (size_t)(6 * block->bodyB + e)] -= (long double)c[e];
            }
        }
    }
    return b;
}

// out = W row of one body.
static void applyMass(const rbRowMass* mass, const long double* row, long double* out)
{
    const rbSym3* s = &mass->invInertia;
    const long double inertia[3][3] = {
        {(long double)s->xx, (long double)s->xy, (long double)s->xz},
        {(long double)s->xy, (long double)s->yy, (long double)s->yz},
        {(long double)s->xz, (long double)s->yz, (long double)s->zz}};
    for (int e = 0; e < 3; ++e) {
        out[e] = (long double)mass->invMass * row[e];
        out[3 + e] = inertia[e][0] * row[3] + inertia[e][1] * row[4] + inertia[e][2] * row[5];
    }
}

static bool isZero6(const long double* v)
{
    return v[0] == 0 && v[1] == 0 && v[2] == 0 && v[3] == 0 && v[4] == 0 && v[5] == 0;
}

long double* makeDense(const TestSystem* test)
{
    const rbRowSystem* system = &test->view;
    size_t n = (size_t)system->rowCount, columns = 6 * (size_t)system->bodyCount;
    long double* b = makeRowsDense(system);
    long double* dense = makeArray(n * n, sizeof *dense);
    for (size_t i = 0; i < n; ++i) {
        for (size_t body = 0; body < (size_t)system->bodyCount; ++body) {
            const long double* rowI = b + i * columns + 6 * body;
            if (isZero6(rowI) || !system->masses[body].isDynamic) {
                continue;
            }
            long double w[6];
            applyMass(&system->masses[body], rowI, w);
            for (size_t j = 0; j < n; ++j) {
                const long double* rowJ = b + j * columns + 6 * body;
                for (int e = 0; e < 6; ++e) {
                    dense[i * n + j] += rowJ[e] == 0 ? 0 : w[e] * rowJ[e];
                }
            }
        }
        if (!isinf(system->compliance[i])) {
            dense[i * n + i] += (long double)system->compliance[i];
        }
    }
    free(b);
    return dense;
}

// Gauss-Jordan on the largest diagonal, the matrix being positive semi-definite: y = a^-1 y.
static bool eliminateAll(long double* a, long double* y, int n)
{
    bool* isDone = makeArray((size_t)n, sizeof *isDone);
    bool isRegular = true;
    for (int k = 0; k < n && isRegular; ++k) {
        int p = -1;
        for (int i = 0; i < n; ++i) {
            p = !isDone[i] && (p < 0 || a[i * n + i] > a[p * n + p]) ? i : p;
        }
        isDone[p] = true;
        isRegular = a[p * n + p] > 1e-14L;
        for (int i = 0; i < n && isRegular; ++i) {
            long double ratio = i == p ? 0 : a[i * n + p] / a[p * n + p];
            for (int j = 0; j < n && ratio != 0; ++j) {
                a[i * n + j] -= ratio * a[p * n + j];
            }
            y[i] -= ratio * y[p];
        }
    }
    for (int i = 0; i < n; ++i) {
        y[i] = isRegular ? y[i] / a[i * n + i] : 0;
    }
    free(isDone);
    return isRegular;
}

// Rows and columns are scaled to a unit diagonal first, so that pivots can be compared.
bool solveDense(const TestSystem* test, const double* r, double* x)
{
    int n = test->view.rowCount;
    long double* a = makeDense(test);
    long double* y = makeArray((size_t)n, sizeof *y);
    long double* scale = makeArray((size_t)n, sizeof *scale);
    for (int i = 0; i < n; ++i) {
        bool isOut = isinf(test->compliance[i]) != 0;
        a[i * n + i] = isOut ? 1 : a[i * n + i];
        y[i] = isOut ? 0 : (long double)r[i];
        scale[i] = a[i * n + i] > 0 ? 1 / sqrtl(a[i * n + i]) : 0;
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            a[i * n + j] *= scale[i] * scale[j];
        }
        y[i] *= scale[i];
    }
    bool isRegular = eliminateAll(a, y, n);
    for (int i = 0; i < n; ++i) {
        x[i] = (double)(scale[i] * y[i]);
    }
    free(a);
    free(y);
    free(scale);
    return isRegular;
}

double findResidual(const TestSystem* test, const long double* dense, const rbSolver* solver,
                    const double* r, const double* x)
{
    int n = test->view.rowCount;
    double worst = 0.0;
    bool* isCut = makeArray((size_t)n, sizeof *isCut);
    for (int k = 0; k < solver->cutCount; ++k) {
        const rbRowBlock* block = &test->blocks[solver->cuts[k]];
        for (int i = 0; i < block->rowCount; ++i) {
            isCut[block->firstRow + i] = true;
        }
    }
    for (int i = 0; i < n; ++i) {
        long double sum = -(long double)r[i], size = fabsl(sum);
        for (int j = 0; j < n; ++j) {
            sum += dense[i * n + j] * (long double)x[j];
            size += fabsl(dense[i * n + j] * (long double)x[j]);
        }
        if (!isCut[i] && !isinf(test->compliance[i])) {
            double residual = size > 0 ? (double)(fabsl(sum) / size) : 0.0;
            worst = residual >= worst ? residual : worst;
            worst = isnan(residual) ? INFINITY : worst;
        }
    }
    free(isCut);
    return worst;
}

double* randomRight(rbRandom* random, int count)
{
    double* r = makeArray((size_t)count, sizeof *r);
    for (int i = 0; i < count; ++i) {
        r[i] = rbRandom_Symmetric(random);
    }
    return r;
}

double* consistentRight(rbRandom* random, const long double* dense, int count)
{
    double* z = randomRight(random, count);
    double* r = makeArray((size_t)count, sizeof *r);
    for (int i = 0; i < count; ++i) {
        long double sum = 0;
        for (int j = 0; j < count; ++j) {
            sum += dense[i * count + j] * (long double)z[j];
        }
        r[i] = (double)sum;
    }
    free(z);
    return r;
}

SystemOptions randomOptions(rbRandom* random, int bodiesMost, double massDecades)
{
    SystemOptions options = {.shape = (SystemShape)rbRandom_Index(random, SHAPE_COUNT),
                             .bodyCount = 2 + rbRandom_Index(random, bodiesMost - 1),
                             .massDecades = massDecades};
    options.rowsMin = 1 + rbRandom_Index(random, RB_BLOCK_ROWS_MAX);
    options.rowsMax = rbRandom_Index(random, 2) == 0 ? options.rowsMin : RB_BLOCK_ROWS_MAX;
    options.softShare = rbRandom_Index(random, 3) == 0 ? 0.3 : 0.0;
    options.outShare = rbRandom_Index(random, 3) == 0 ? 0.2 : 0.0;
    return options;
}
