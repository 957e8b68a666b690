// Look-ahead position corrections, velocity corrections and projections, see correct.h.
#include "dynamics/solvers/correct.h"

#include "base/core/memory.h"

#include <float.h>
#include <string.h>

// An iteration that does not bring the error below this part of the last one has not contracted.
#define SLOW_RATIO 0.7
// So many slow iterations in a row end the attempt.
#define SLOW_MAX 3

rbCorrector* rbCreateCorrector(rbSolverType type, const rbMechanism* mechanism)
{
    rbRowSystem system = rbMechanism_GetSystem(mechanism);
    rbCorrector* corrector = rbAllocZero(1, sizeof *corrector);
    if (type == RB_SOLVER_AUTO) {
        type = rbChooseSolver(&system);
    }
    corrector->solver = rbCreateSolver(type, &system);
    corrector->rowCount = mechanism->rowCount;
    corrector->bodyCount = mechanism->bodyCount;
    size_t rows = (size_t)mechanism->rowCount;
    corrector->cutFactors =
        rbAllocZero((size_t)corrector->solver->cutCount, sizeof *corrector->cutFactors);
    corrector->residual = rbAllocZero(rows, sizeof(double));
    corrector->change = rbAllocZero(rows, sizeof(double));
    corrector->lastResidual = rbAllocZero(rows, sizeof(double));
    corrector->lastChange = rbAllocZero(rows, sizeof(double));
    corrector->best = rbAllocZero(rows, sizeof(double));
    corrector->entry = rbAllocZero(rows, sizeof(double));
    corrector->entryMotion =
        rbAllocZero(2 * (size_t)mechanism->bodyCount, sizeof *corrector->entryMotion);
    corrector->history = rbAllocZero(3 * (size_t)RB_MIX_DEPTH * rows, sizeof(double));
    corrector->isStale = rbAllocZero((size_t)mechanism->bodyCount, sizeof(bool));
    return corrector;
}

void rbDestroyCorrector(rbCorrector* corrector)
{
    if (corrector == NULL) {
        return;
    }
    size_t rows = (size_t)corrector->rowCount;
    rbFree(corrector->cutFactors,
           (size_t)corrector->solver->cutCount * sizeof *corrector->cutFactors);
    rbFree(corrector->residual, rows * sizeof(double));
    rbFree(corrector->change, rows * sizeof(double));
    rbFree(corrector->lastResidual, rows * sizeof(double));
    rbFree(corrector->lastChange, rows * sizeof(double));
    rbFree(corrector->best, rows * sizeof(double));
    rbFree(corrector->entry, rows * sizeof(double));
    rbFree(corrector->entryMotion,
           2 * (size_t)corrector->bodyCount * sizeof *corrector->entryMotion);
    rbFree(corrector->history, 3 * (size_t)RB_MIX_DEPTH * rows * sizeof(double));
    rbFree(corrector->isStale, (size_t)corrector->bodyCount * sizeof(bool));
    rbDestroySolver(corrector->solver);
    rbFree(corrector, sizeof *corrector);
}

// The matrix of one block alone, for blocks that are corrected one by one.
static void factorBlock(const rbMechanism* mechanism, const rbRowBlock* block,
                        rbSmallFactor* factor)
{
    double matrix[RB_BLOCK_ROWS_MAX * RB_BLOCK_ROWS_MAX];
    int n = block->rowCount;
    const rbRow* rows = &mechanism->rows[block->firstRow];
    const rbRowMass* massA = &mechanism->masses[block->bodyA];
    const rbRowMass* massB = &mechanism->masses[block->bodyB];
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            matrix[j * n + i] = rbCoupleRows(massA, &rows[i], 1.0, &rows[j], 1.0) +
                                rbCoupleRows(massB, &rows[i], -1.0, &rows[j], -1.0);
        }
    }
    for (int i = 0; i < n; ++i) {
        double compliance = mechanism->compliance[block->firstRow + i];
        if (compliance < INFINITY) {
            matrix[i * n + i] += compliance;
            continue;
        }
        for (int j = 0; j < n; ++j) {
            matrix[j * n + i] = 0.0;
            matrix[i * n + j] = 0.0;
        }
    }
    rbSmallFactor_Make(factor, matrix, n, NULL);
}

void rbCorrector_Factor(rbCorrector* corrector, const rbMechanism* mechanism)
{
    rbRowSystem system = rbMechanism_GetSystem(mechanism);
    rbSolver* solver = corrector->solver;
    solver->ops->factor(solver, &system);
    for (int i = 0; i < solver->cutCount; ++i) {
        factorBlock(mechanism, &mechanism->blocks[solver->cuts[i]], &corrector->cutFactors[i]);
    }
    corrector->factorizations += 1;
}

// What is left of the conditions of a block in the step under way, row by row: m or rad. Rows at a
// limit have none.
static void blockResidual(const rbMechanism* mechanism, int index, double h, double* residual)
{
    const rbRowBlock* block = &mechanism->blocks[index];
    rbMechanism_ErrorsAhead(mechanism, index, residual);
    if (block->kind == RB_ROW_HOLD) {
        return;
    }
    for (int i = 0; i < block->rowCount; ++i) {
        int row = block->firstRow + i;
        if (block->kind == RB_ROW_TRAVEL) {
            residual[i] -= mechanism->speeds[row] * h;
        } else if (mechanism->compliance[row] < INFINITY) {
            // x = (h/4) k (elongation at the start + at the end) + c (growth of it)
            double start = mechanism->startErrors[row] - block->rest;
            double elastic = 0.25 * h * block->stiffness;
            double damping = mechanism->startDamping[row];
            double x = elastic * (start + residual[i]) + damping * (residual[i] - start);
            residual[i] = (x - mechanism->impulses[row]) / (elastic + damping);
        } else {
            residual[i] = 0.0;
        }
    }
}

// Cuts changes so that limited rows stay within their limits.
static void clampChange(const rbMechanism* mechanism, int index, double h, double* change,
                        rbLimitState* limits, bool* isChanged)
{
    const rbRowBlock* block = &mechanism->blocks[index];
    if (block->kind != RB_ROW_TRAVEL) {
        return;
    }
    for (int i = 0; i < block->rowCount; ++i) {
        int row = block->firstRow + i;
        if (!(mechanism->limits[row] < INFINITY) || limits[row] != RB_LIMIT_FREE) {
            continue;
        }
        double most = 0.5 * h * mechanism->limits[row];
        double sum = mechanism->impulses[row] + change[i];
        if (fabs(sum) > most) {
            limits[row] = sum > 0.0 ? RB_LIMIT_HIGH : RB_LIMIT_LOW;
            change[i] = copysign(most, sum) - mechanism->impulses[row];
            *isChanged = true;
        }
    }
}

// Part by which the impulses of all blocks must shrink so that none exceeds the limit (B-41): all
// together, so that they go on pointing to where the joints close.
static double boundImpulses(const rbMechanism* mechanism, const double* change, double most)
{
    double largest = 0.0;
    for (int i = 0; i < mechanism->blockCount; ++i) {
        const rbRowBlock* block = &mechanism->blocks[i];
        double square = 0.0;
        for (int k = block->firstRow; k < block->firstRow + block->rowCount; ++k) {
            double sum = mechanism->impulses[k] + change[k];
            square += sum * sum;
        }
        largest = square > largest ? square : largest;
    }
    return largest > most * most ? most / sqrt(largest) : 1.0;
}

// The same for one block alone.
static bool boundImpulse(const rbMechanism* mechanism, int index, double most, double* change)
{
    const rbRowBlock* block = &mechanism->blocks[index];
    double square = 0.0;
    for (int i = 0; i < block->rowCount; ++i) {
        double sum = mechanism->impulses[block->firstRow + i] + change[i];
        square += sum * sum;
    }
    if (!(square > most * most)) {
        return false;
    }
    double scale = most / sqrt(square);
    for (int i = 0; i < block->rowCount; ++i) {
        double before = mechanism->impulses[block->firstRow + i];
        change[i] = scale * (before + change[i]) - before;
    }
    return true;
}

static void applyChange(rbMechanism* mechanism, int index, const double* change)
{
    const rbRowBlock* block = &mechanism->blocks[index];
    rbMechanism_Apply(mechanism, index, change);
    for (int i = 0; i < block->rowCount; ++i) {
        mechanism->impulses[block->firstRow + i] += change[i];
    }
}

// The state of one correction.
typedef struct Iteration {
    rbCorrector* corrector;
    rbMechanism* mechanism;
    const rbCorrection* correction;
    rbLimitState* limits;
    rbCorrected result;
    double lastError;
    int slowCount;
    int depth; // of the mixing history
    int next;
    bool isMixing;
    bool isBounded; // the impulse of a block was cut in this iteration
    double bestError;
    int releases; // limited rows that left their limits
} Iteration;

// How far a block is off: the larger of its translation and its rotation.
static double blockNorm(const rbRowBlock* block, const double* errors)
{
    double squares[2] = {0.0, 0.0};
    for (int i = 0; i < block->rowCount; ++i) {
        squares[(block->angleMask >> i) & 1u] += errors[i] * errors[i];
    }
    return sqrt(squares[0] > squares[1] || isnan(squares[0]) ? squares[0] : squares[1]);
}

// A limited row at its limit, or where no time passes: its residual is nothing to solve for, unless
// it says that the row should let go.
static void judgeLimit(Iteration* it, int row, double* residual)
{
    rbLimitState* limit = &it->limits[row];
    bool letsGo =
        (*limit == RB_LIMIT_HIGH && *residual < 0.0) || (*limit == RB_LIMIT_LOW && *residual > 0.0);
    bool mayGo = it->releases < it->correction->releasesMax;
    if (letsGo && mayGo && it->mechanism->limits[row] > 0.0 && it->correction->h > 0.0) {
        it->releases += 1;
        *limit = RB_LIMIT_FREE;
        it->result.isLimitChanged = true;
    }
    *residual = 0.0;
}

static void judgeLimits(Iteration* it, int index, double* residual)
{
    const rbRowBlock* block = &it->mechanism->blocks[index];
    if (block->kind != RB_ROW_TRAVEL) {
        return;
    }
    for (int i = 0; i < block->rowCount; ++i) {
        int row = block->firstRow + i;
        if (it->limits[row] != RB_LIMIT_FREE || !(it->mechanism->compliance[row] < INFINITY)) {
            judgeLimit(it, row, &residual[i]);
        }
    }
}

static void noteError(Iteration* it, int index, const double* residual)
{
    double error = blockNorm(&it->mechanism->blocks[index], residual);
    // Written so that NaN counts as an error.
    if (!(error <= it->result.error)) {
        it->result.error = error;
        it->result.block = index;
    }
}

static void lookAheadWhereStale(Iteration* it, int body)
{
    rbMechBody* b = &it->mechanism->bodies[body];
    if (it->corrector->isStale[body] && b->isDynamic) {
        rbMechBody_LookAhead(b, it->correction->h);
        it->corrector->isStale[body] = false;
    }
}

static void markStale(Iteration* it, const rbRowBlock* block)
{
    it->corrector->isStale[block->bodyA] = true;
    it->corrector->isStale[block->bodyB] = true;
}

// Four sums at a time: fixed, so that the bits do not depend on the compiler.
static double dotRows(const double* a, const double* b, size_t n)
{
    double s0 = 0.0;
    double s1 = 0.0;
    double s2 = 0.0;
    double s3 = 0.0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; ++i) {
        s0 += a[i] * b[i];
    }
    return (s0 + s1) + (s2 + s3);
}

// Mixes the solution with the last ones (Anderson): the combination of the last steps whose
// residual is least in the energy norm. With dF and dE the differences of solutions and residuals,
// minimise |f - sum g_j dF_j| over g, then dx = f - sum g_j (dX_j + dF_j).
static void mixChange(Iteration* it)
{
    rbCorrector* c = it->corrector;
    size_t n = (size_t)c->rowCount;
    double* dX = c->history;
    double* dF = dX + (size_t)RB_MIX_DEPTH * n;
    double* dE = dF + (size_t)RB_MIX_DEPTH * n;
    if (it->isMixing && it->result.iterations > 0) {
        size_t slot = (size_t)it->next;
        for (size_t i = 0; i < n; ++i) {
            dF[slot * n + i] = c->change[i] - c->lastChange[i];
            dE[slot * n + i] = c->residual[i] - c->lastResidual[i];
        }
        it->next = (it->next + 1) % RB_MIX_DEPTH;
        it->depth = it->depth < RB_MIX_DEPTH ? it->depth + 1 : RB_MIX_DEPTH;
    }
    memcpy(c->lastChange, c->change, n * sizeof(double));
    memcpy(c->lastResidual, c->residual, n * sizeof(double));
    if (it->depth > 0) {
        double gram[RB_MIX_DEPTH * RB_MIX_DEPTH];
        double right[RB_MIX_DEPTH];
        double g[RB_MIX_DEPTH];
        size_t depth = (size_t)it->depth;
        for (size_t i = 0; i < depth; ++i) {
            for (size_t j = 0; j <= i; ++j) {
                double value =
                    0.5 * (dotRows(&dF[i * n], &dE[j * n], n) + dotRows(&dF[j * n], &dE[i * n], n));
                gram[j * depth + i] = value;
                gram[i * depth + j] = value;
            }
            right[i] = dotRows(&dF[i * n], c->residual, n);
        }
        rbSmallFactor factor;
        rbSmallFactor_Make(&factor, gram, it->depth, NULL);
        rbSmallFactor_Solve(&factor, right, g);
        for (size_t j = 0; j < depth; ++j) {
            for (size_t i = 0; i < n; ++i) {
                c->change[i] -= g[j] * (dX[j * n + i] + dF[j * n + i]);
            }
        }
    }
    memcpy(&dX[(size_t)it->next * n], c->change, n * sizeof(double));
    it->isMixing = true;
}

static bool isCut(const rbSolver* solver, int index, int* cursor)
{
    if (*cursor < solver->cutCount && solver->cuts[*cursor] == index) {
        *cursor += 1;
        return true;
    }
    return false;
}

// Errors of the blocks in the linear system.
static void gatherResiduals(Iteration* it)
{
    rbCorrector* c = it->corrector;
    rbMechanism* m = it->mechanism;
    double h = it->correction->h;
    int cursor = 0;
    for (int i = 0; i < m->bodyCount; ++i) {
        lookAheadWhereStale(it, i);
    }
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        double* residual = &c->residual[block->firstRow];
        if (isCut(c->solver, i, &cursor)) {
            memset(residual, 0, (size_t)block->rowCount * sizeof(double));
            continue;
        }
        blockResidual(m, i, h, residual);
        judgeLimits(it, i, residual);
        noteError(it, i, residual);
    }
}

static void applyChanges(Iteration* it)
{
    rbCorrector* c = it->corrector;
    rbMechanism* m = it->mechanism;
    double scale = 1.0;
    if (it->correction->impulseMax < INFINITY) {
        scale = boundImpulses(m, c->change, it->correction->impulseMax);
        it->isBounded = it->isBounded || scale < 1.0;
    }
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        double* change = &c->change[block->firstRow];
        for (int k = 0; scale < 1.0 && k < block->rowCount; ++k) {
            double before = m->impulses[block->firstRow + k];
            change[k] = scale * (before + change[k]) - before;
        }
        clampChange(m, i, it->correction->h, change, it->limits, &it->result.isLimitChanged);
        applyChange(m, i, change);
        markStale(it, block);
    }
}

// Corrects the cut blocks one after the other; true if one needed it.
static bool sweepCuts(Iteration* it)
{
    rbCorrector* c = it->corrector;
    rbMechanism* m = it->mechanism;
    bool isCorrected = false;
    for (int k = 0; k < c->solver->cutCount; ++k) {
        int index = c->solver->cuts[k];
        const rbRowBlock* block = &m->blocks[index];
        double residual[RB_BLOCK_ROWS_MAX];
        double change[RB_BLOCK_ROWS_MAX];
        lookAheadWhereStale(it, block->bodyA);
        lookAheadWhereStale(it, block->bodyB);
        blockResidual(m, index, it->correction->h, residual);
        judgeLimits(it, index, residual);
        noteError(it, index, residual);
        if (blockNorm(block, residual) <= it->correction->tolerance) {
            continue;
        }
        for (int i = 0; i < block->rowCount; ++i) {
            residual[i] /= it->correction->h;
        }
        rbSmallFactor_Solve(&c->cutFactors[k], residual, change);
        clampChange(m, index, it->correction->h, change, it->limits, &it->result.isLimitChanged);
        if (it->correction->impulseMax < INFINITY) {
            it->isBounded =
                boundImpulse(m, index, it->correction->impulseMax, change) || it->isBounded;
        }
        applyChange(m, index, change);
        markStale(it, block);
        isCorrected = true;
    }
    return isCorrected;
}

// Whether to go on after the errors of an iteration are known.
static bool isHopeless(Iteration* it)
{
    double error = it->result.error;
    if (!isfinite(error)) {
        return true;
    }
    bool isSlow = error > SLOW_RATIO * it->lastError;
    it->slowCount = isSlow ? it->slowCount + 1 : 0;
    it->lastError = fmin(error, it->lastError);
    if (it->correction->isIterative) {
        return false;
    }
    return it->slowCount >= SLOW_MAX;
}

static void solveResiduals(Iteration* it)
{
    rbCorrector* c = it->corrector;
    for (int i = 0; i < c->rowCount; ++i) {
        c->residual[i] /= it->correction->h;
    }
    c->solver->ops->solve(c->solver, c->residual, c->change);
    if (!it->correction->isPlain) {
        mixChange(it);
    }
}

// Keeps the impulses with the least error so far; those of iterations that ran away are no use.
static void keepBest(Iteration* it)
{
    if (it->result.error < it->bestError) {
        it->bestError = it->result.error;
        memcpy(it->corrector->best, it->mechanism->impulses,
               (size_t)it->corrector->rowCount * sizeof(double));
    }
}

static void keepEntry(Iteration* it)
{
    rbCorrector* c = it->corrector;
    const rbMechanism* m = it->mechanism;
    memcpy(c->entry, m->impulses, (size_t)c->rowCount * sizeof(double));
    for (int i = 0; i < m->bodyCount; ++i) {
        c->entryMotion[2 * (size_t)i] = m->bodies[i].velocity;
        c->entryMotion[2 * (size_t)i + 1] = m->bodies[i].momentum;
    }
}

// Goes back to them, from where it began: what came between may have been so large that taking it
// back would leave nothing but rounding.
static void recallBest(Iteration* it)
{
    rbCorrector* c = it->corrector;
    rbMechanism* m = it->mechanism;
    for (int i = 0; i < m->bodyCount; ++i) {
        m->bodies[i].velocity = c->entryMotion[2 * (size_t)i];
        m->bodies[i].momentum = c->entryMotion[2 * (size_t)i + 1];
    }
    for (int i = 0; i < c->rowCount; ++i) {
        c->change[i] = c->best[i] - c->entry[i];
    }
    for (int i = 0; i < m->blockCount; ++i) {
        rbMechanism_Apply(m, i, &c->change[m->blocks[i].firstRow]);
        markStale(it, &m->blocks[i]);
    }
    memcpy(m->impulses, c->best, (size_t)c->rowCount * sizeof(double));
    it->result.error = 0.0;
    gatherResiduals(it);
}

static bool isLinearEmpty(const rbCorrector* corrector, const rbMechanism* mechanism)
{
    return corrector->solver->cutCount == mechanism->blockCount;
}

rbCorrected rbCorrectPositions(rbCorrector* corrector, rbMechanism* mechanism,
                               const rbCorrection* correction, rbLimitState* limits)
{
    Iteration it = {.corrector = corrector,
                    .mechanism = mechanism,
                    .correction = correction,
                    .lastError = INFINITY,
                    .bestError = INFINITY};
    it.limits = limits;
    bool hasLinear = !isLinearEmpty(corrector, mechanism);
    keepEntry(&it);
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        corrector->isStale[i] = true;
    }
    for (;;) {
        it.result.error = 0.0;
        it.result.isBounded = it.isBounded;
        it.isBounded = false;
        bool isCorrected = false;
        if (hasLinear) {
            gatherResiduals(&it);
            isCorrected = !(it.result.error <= correction->tolerance);
            if (!it.result.isLimitChanged && corrector->solver->cutCount == 0) {
                keepBest(&it);
            }
        }
        if (it.result.isLimitChanged || it.result.iterations >= correction->iterationsMax ||
            (hasLinear && isHopeless(&it))) {
            break;
        }
        // With cuts it would open them again.
        bool isPolished =
            correction->isPolished && !isCorrected && corrector->solver->cutCount == 0;
        if (hasLinear && (isCorrected || isPolished)) {
            solveResiduals(&it);
            applyChanges(&it);
        }
        isCorrected = sweepCuts(&it) || isCorrected;
        if (!hasLinear && isHopeless(&it)) {
            break;
        }
        if (!isCorrected) {
            break;
        }
        it.result.iterations += 1;
        if (it.result.isLimitChanged) {
            break;
        }
    }
    if (!it.result.isLimitChanged && it.bestError < it.result.error) {
        recallBest(&it);
    }
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        lookAheadWhereStale(&it, i);
    }
    rbCorrected* r = &it.result;
    r->isMet = r->error <= correction->tolerance || r->error <= correction->floor;
    return it.result;
}

// Rates that are not yet what they should be.
static void blockRates(const rbMechanism* mechanism, int index, double* rates)
{
    const rbRowBlock* block = &mechanism->blocks[index];
    rbMechanism_Rates(mechanism, index, rates);
    if (block->kind == RB_ROW_HOLD) {
        return;
    }
    for (int i = 0; i < block->rowCount; ++i) {
        int row = block->firstRow + i;
        if (block->kind == RB_ROW_TRAVEL) {
            rates[i] -= mechanism->speeds[row];
        } else if (mechanism->compliance[row] < INFINITY) {
            rates[i] -= mechanism->compliance[row] * mechanism->impulses[row];
        } else {
            rates[i] = 0.0;
        }
    }
}

static void gatherRates(Iteration* it)
{
    rbCorrector* c = it->corrector;
    rbMechanism* m = it->mechanism;
    int cursor = 0;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        double* rates = &c->residual[block->firstRow];
        if (isCut(c->solver, i, &cursor)) {
            memset(rates, 0, (size_t)block->rowCount * sizeof(double));
            continue;
        }
        blockRates(m, i, rates);
        judgeLimits(it, i, rates);
        noteError(it, i, rates);
    }
}

static bool sweepCutRates(Iteration* it)
{
    rbCorrector* c = it->corrector;
    rbMechanism* m = it->mechanism;
    bool isCorrected = false;
    for (int k = 0; k < c->solver->cutCount; ++k) {
        int index = c->solver->cuts[k];
        const rbRowBlock* block = &m->blocks[index];
        double rates[RB_BLOCK_ROWS_MAX];
        double change[RB_BLOCK_ROWS_MAX];
        blockRates(m, index, rates);
        judgeLimits(it, index, rates);
        noteError(it, index, rates);
        if (blockNorm(block, rates) <= it->correction->tolerance) {
            continue;
        }
        rbSmallFactor_Solve(&c->cutFactors[k], rates, change);
        clampChange(m, index, it->correction->h, change, it->limits, &it->result.isLimitChanged);
        applyChange(m, index, change);
        isCorrected = true;
    }
    return isCorrected;
}

rbCorrected rbCorrectVelocities(rbCorrector* corrector, rbMechanism* mechanism,
                                const rbCorrection* correction, rbLimitState* limits)
{
    Iteration it = {.corrector = corrector,
                    .mechanism = mechanism,
                    .correction = correction,
                    .lastError = INFINITY};
    it.limits = limits;
    bool hasLinear = !isLinearEmpty(corrector, mechanism);
    for (;;) {
        it.result.error = 0.0;
        bool isCorrected = false;
        if (hasLinear) {
            gatherRates(&it);
            isCorrected = !(it.result.error <= correction->tolerance);
        }
        if (it.result.isLimitChanged || it.result.iterations >= correction->iterationsMax ||
            (hasLinear && isHopeless(&it))) {
            break;
        }
        if (hasLinear && isCorrected) {
            corrector->solver->ops->solve(corrector->solver, corrector->residual,
                                          corrector->change);
            for (int i = 0; i < mechanism->blockCount; ++i) {
                double* change = &corrector->change[mechanism->blocks[i].firstRow];
                clampChange(mechanism, i, correction->h, change, limits, &it.result.isLimitChanged);
                applyChange(mechanism, i, change);
            }
        }
        isCorrected = sweepCutRates(&it) || isCorrected;
        if (!isCorrected || (!hasLinear && isHopeless(&it))) {
            break;
        }
        it.result.iterations += 1;
        if (it.result.isLimitChanged) {
            break;
        }
    }
    it.result.isMet =
        it.result.error <= correction->tolerance || it.result.error <= correction->floor;
    return it.result;
}

// Displacements as velocities over a unit of time: the same impulses, applied to poses.
static void displace(rbMechanism* mechanism)
{
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        rbMechBody* body = &mechanism->bodies[i];
        if (!body->isDynamic) {
            continue;
        }
        rbVec3 turn = rbMulSV(mechanism->masses[i].invInertia, body->momentum);
        rbQuat half = {1.0, 0.5 * turn.x, 0.5 * turn.y, 0.5 * turn.z};
        body->pose.position = rbAdd(body->pose.position, body->velocity);
        body->pose.orientation = rbNormalizeQuat(rbMulQuat(half, body->pose.orientation));
        body->pose.rotation = rbMatFromQuat(body->pose.orientation);
    }
}

// Errors of HOLD rows at the present poses into residual.
static void gatherErrors(Iteration* it)
{
    rbCorrector* c = it->corrector;
    rbMechanism* m = it->mechanism;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        double* residual = &c->residual[block->firstRow];
        if (block->kind != RB_ROW_HOLD) {
            memset(residual, 0, (size_t)block->rowCount * sizeof(double));
            continue;
        }
        block->errors(block->data, &m->bodies[block->bodyA].pose, &m->bodies[block->bodyB].pose,
                      residual);
        noteError(it, i, residual);
    }
}

rbCorrected rbProjectPositions(rbCorrector* corrector, rbMechanism* mechanism,
                               const rbCorrection* correction)
{
    Iteration it = {.corrector = corrector,
                    .mechanism = mechanism,
                    .correction = correction,
                    .lastError = INFINITY};
    const rbSolver* solver = corrector->solver;
    for (;;) {
        it.result.error = 0.0;
        gatherErrors(&it);
        if (it.result.error <= correction->tolerance ||
            it.result.iterations >= correction->iterationsMax || isHopeless(&it)) {
            break;
        }
        // Velocities are lent for the displacements.
        for (int i = 0; i < mechanism->bodyCount; ++i) {
            rbMechBody* body = &mechanism->bodies[i];
            body->aheadVelocity = body->velocity;
            body->aheadAngularVelocity = body->momentum;
            body->velocity = RB_VEC3_ZERO;
            body->momentum = RB_VEC3_ZERO;
        }
        for (int i = 0; correction->damping > 0.0 && i < mechanism->rowCount; ++i) {
            corrector->residual[i] *= correction->damping;
        }
        solver->ops->solve(corrector->solver, corrector->residual, corrector->change);
        for (int k = 0; k < solver->cutCount; ++k) {
            const rbRowBlock* block = &mechanism->blocks[solver->cuts[k]];
            rbSmallFactor_Solve(&corrector->cutFactors[k], &corrector->residual[block->firstRow],
                                &corrector->change[block->firstRow]);
        }
        for (int i = 0; i < mechanism->blockCount; ++i) {
            rbMechanism_Apply(mechanism, i, &corrector->change[mechanism->blocks[i].firstRow]);
        }
        displace(mechanism);
        for (int i = 0; i < mechanism->bodyCount; ++i) {
            rbMechBody* body = &mechanism->bodies[i];
            body->velocity = body->aheadVelocity;
            body->momentum = body->aheadAngularVelocity;
        }
        it.result.iterations += 1;
    }
    it.result.isMet =
        it.result.error <= correction->tolerance || it.result.error <= correction->floor;
    return it.result;
}
