// Look-ahead position corrections and velocity corrections, see correct.h.
#include "base/core/memory.h"
#include "base/math/dot.h"
#include "dynamics/solvers/correct_state.h"

#include <float.h>
#include <string.h>

// An iteration that does not reduce the error below this fraction of the last one has not
// contracted.
#define SLOW_RATIO 0.7
// This many slow iterations in a row end the attempt.
#define SLOW_MAX 3
// Block-by-block sweeps must reduce the error below this fraction within this many sweeps.
#define SWEEPS_PER_CHECK 1024
#define SWEEPS_RATIO 0.95
// A pivot below this fraction of its diagonal means that conditions are nearly dependent.
#define DELICATE_PIVOT 1e-4

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
    corrector->poses = rbAllocZero((size_t)mechanism->bodyCount, sizeof *corrector->poses);
    corrector->inertias = rbAllocZero((size_t)mechanism->bodyCount, sizeof *corrector->inertias);
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
    rbFree(corrector->poses, (size_t)corrector->bodyCount * sizeof *corrector->poses);
    rbFree(corrector->inertias, (size_t)corrector->bodyCount * sizeof *corrector->inertias);
    rbFree(corrector->history, 3 * (size_t)RB_MIX_DEPTH * rows * sizeof(double));
    rbFree(corrector->isStale, (size_t)corrector->bodyCount * sizeof(bool));
    rbDestroySolver(corrector->solver);
    rbFree(corrector, sizeof *corrector);
}

// The matrix of a single block, for blocks that are corrected one by one.
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

// The residual of the conditions of a block in the current step, row by row: m or rad. Rows at a
// limit have none.
static void blockResidual(const rbMechanism* mechanism, int index, const rbCorrection* correction,
                          double* residual)
{
    double h = correction->h;
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
            // x = (h/4) k (elongation at the start + at the end) + c (growth of it), or, backward,
            // h k (elongation at the end) + c (growth of it)
            double start = mechanism->startErrors[row] - block->rest;
            double elastic = (correction->isBackward ? 1.0 : 0.25) * h * block->stiffness;
            double early = correction->isBackward ? 0.0 : start;
            double damping = mechanism->startDamping[row];
            double x = elastic * (early + residual[i]) + damping * (residual[i] - start);
            residual[i] = (x - mechanism->impulses[row]) / (elastic + damping);
        } else {
            residual[i] = 0.0;
        }
    }
}

// Clamps changes so that limited rows stay within their limits.
static void clampChange(const rbMechanism* mechanism, int index, const rbCorrection* correction,
                        double* change, rbLimitState* limits, bool* isChanged)
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
        double share = correction->isBackward ? 1.0 : 0.5;
        double most = share * correction->h * mechanism->limits[row];
        double sum = mechanism->impulses[row] + change[i];
        if (fabs(sum) > most) {
            limits[row] = sum > 0.0 ? RB_LIMIT_HIGH : RB_LIMIT_LOW;
            change[i] = copysign(most, sum) - mechanism->impulses[row];
            *isChanged = true;
        }
    }
}

// The factor by which the impulses of all blocks must shrink so that none exceeds the limit (B-41):
// all together, so that they still point to where the joints close.
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

// The same for a single block.
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

// The error of a block: the larger of its translation and its rotation.
static double blockNorm(const rbRowBlock* block, const double* errors)
{
    double squares[2] = {0.0, 0.0};
    for (int i = 0; i < block->rowCount; ++i) {
        squares[(block->angleMask >> i) & 1u] += errors[i] * errors[i];
    }
    return sqrt(squares[0] > squares[1] || isnan(squares[0]) ? squares[0] : squares[1]);
}

// A limited row at its limit, or where no time passes: its residual is not solved for, unless it
// means that the row should be released.
static void validateLimit(rbIteration* it, int row, double* residual)
{
    rbLimitState* limit = &it->limits[row];
    bool letsGo =
        (*limit == RB_LIMIT_HIGH && *residual < 0.0) || (*limit == RB_LIMIT_LOW && *residual > 0.0);
    bool mayGo = it->releases < it->correction->releasesMax && !it->isEarly;
    if (letsGo && mayGo && it->mechanism->limits[row] > 0.0 && it->correction->h > 0.0) {
        it->releases += 1;
        *limit = RB_LIMIT_FREE;
        it->result.isLimitChanged = true;
    }
    *residual = 0.0;
}

static void markStale(rbIteration* it, const rbRowBlock* block)
{
    it->corrector->isStale[block->bodyA] = true;
    it->corrector->isStale[block->bodyB] = true;
}

// Puts a block of one row at its limit.
static void putAtLimit(rbIteration* it, int index, rbLimitState state)
{
    const rbRowBlock* block = &it->mechanism->blocks[index];
    double most = 0.5 * it->correction->h * it->mechanism->limits[block->firstRow];
    double change =
        (state == RB_LIMIT_HIGH ? most : -most) - it->mechanism->impulses[block->firstRow];
    RB_ASSERT(block->rowCount == 1);
    it->limits[block->firstRow] = state;
    applyChange(it->mechanism, index, &change);
    markStale(it, block);
}

// Dry friction (which requires rest) and a velocity motor along one freedom cannot both hold. Where
// the motor holds its speed, the friction is at the limit against it, whatever the rate is before
// the motor has been solved for. True: no further check is needed.
static bool validatePair(rbIteration* it, int index, double* residual)
{
    const rbMechanism* m = it->mechanism;
    const rbRowBlock* block = &m->blocks[index];
    if (!block->isOpposed || !(it->correction->h > 0.0)) {
        return false;
    }
    int motor = m->blocks[index + 1].firstRow;
    if (it->limits[motor] != RB_LIMIT_FREE) {
        return false;
    }
    rbLimitState state = m->speeds[motor] < 0.0 ? RB_LIMIT_LOW : RB_LIMIT_HIGH;
    if (it->limits[block->firstRow] != state) {
        putAtLimit(it, index, state);
        it->result.isLimitChanged = true;
    }
    residual[0] = 0.0;
    return true;
}

static void validateLimits(rbIteration* it, int index, double* residual)
{
    const rbRowBlock* block = &it->mechanism->blocks[index];
    if (block->kind != RB_ROW_TRAVEL || validatePair(it, index, residual)) {
        return;
    }
    for (int i = 0; i < block->rowCount; ++i) {
        int row = block->firstRow + i;
        if (it->limits[row] != RB_LIMIT_FREE || !(it->mechanism->compliance[row] < INFINITY)) {
            validateLimit(it, row, &residual[i]);
        }
    }
}

void rbIteration_NoteError(rbIteration* it, int index, const double* residual)
{
    double error = blockNorm(&it->mechanism->blocks[index], residual);
    // Written so that NaN counts as an error.
    if (!(error <= it->result.error)) {
        it->result.error = error;
        it->result.block = index;
    }
}

static void lookAheadWhereStale(rbIteration* it, int body)
{
    rbMechBody* b = &it->mechanism->bodies[body];
    if (it->corrector->isStale[body] && b->isDynamic) {
        rbMechBody_LookAhead(b, it->correction->h);
        it->corrector->isStale[body] = false;
    }
}

// Mixes the solution with the last ones (Anderson): the combination of the last steps with the
// least residual in the energy norm. With dF and dE the differences of solutions and residuals,
// minimize |f - sum g_j dF_j| over g, then dx = f - sum g_j (dX_j + dF_j).
static void mixChange(rbIteration* it)
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
                double value = 0.5 * (rbDotArrays(&dF[i * n], &dE[j * n], n) +
                                      rbDotArrays(&dF[j * n], &dE[i * n], n));
                gram[j * depth + i] = value;
                gram[i * depth + j] = value;
            }
            right[i] = rbDotArrays(&dF[i * n], c->residual, n);
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

// Rates that have not reached their targets yet.
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

static void measureBlock(const rbIteration* it, int index, double* residual)
{
    if (it->isOfRates) {
        blockRates(it->mechanism, index, residual);
    } else {
        blockResidual(it->mechanism, index, it->correction, residual);
    }
}

void rbIteration_Gather(rbIteration* it)
{
    rbCorrector* c = it->corrector;
    rbMechanism* m = it->mechanism;
    int cursor = 0;
    for (int i = 0; !it->isOfRates && i < m->bodyCount; ++i) {
        lookAheadWhereStale(it, i);
    }
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        double* residual = &c->residual[block->firstRow];
        if (isCut(c->solver, i, &cursor)) {
            memset(residual, 0, (size_t)block->rowCount * sizeof(double));
            continue;
        }
        measureBlock(it, i, residual);
        validateLimits(it, i, residual);
        rbIteration_NoteError(it, i, residual);
    }
}

void rbIteration_ApplyChanges(rbIteration* it)
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
        clampChange(m, i, it->correction, change, it->limits, &it->result.isLimitChanged);
        applyChange(m, i, change);
        markStale(it, block);
    }
}

// Corrects the cut blocks one after another; true if one needed it.
static bool sweepCuts(rbIteration* it)
{
    rbCorrector* c = it->corrector;
    rbMechanism* m = it->mechanism;
    bool isCorrected = false;
    for (int k = 0; k < c->solver->cutCount; ++k) {
        int index = c->solver->cuts[k];
        const rbRowBlock* block = &m->blocks[index];
        double residual[RB_BLOCK_ROWS_MAX];
        double change[RB_BLOCK_ROWS_MAX];
        if (!it->isOfRates) {
            lookAheadWhereStale(it, block->bodyA);
            lookAheadWhereStale(it, block->bodyB);
        }
        measureBlock(it, index, residual);
        validateLimits(it, index, residual);
        rbIteration_NoteError(it, index, residual);
        if (blockNorm(block, residual) <= it->correction->tolerance) {
            continue;
        }
        for (int i = 0; !it->isOfRates && i < block->rowCount; ++i) {
            residual[i] /= it->correction->h;
        }
        rbSmallFactor_Solve(&c->cutFactors[k], residual, change);
        clampChange(m, index, it->correction, change, it->limits, &it->result.isLimitChanged);
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

// Whether to continue after the errors of an iteration are known.
bool rbIteration_IsHopeless(rbIteration* it)
{
    double error = it->result.error;
    if (!isfinite(error)) {
        return true;
    }
    if (it->correction->isIterative) {
        // Sweeps are slow by nature, but must not continue forever.
        if (it->result.iterations % SWEEPS_PER_CHECK != 0) {
            return false;
        }
        bool isStuck = error > SWEEPS_RATIO * it->lastError;
        it->lastError = error;
        return isStuck;
    }
    bool isSlow = error > SLOW_RATIO * it->lastError;
    it->slowCount = isSlow ? it->slowCount + 1 : 0;
    it->lastError = fmin(error, it->lastError);
    return it->slowCount >= SLOW_MAX;
}

static void solveResiduals(rbIteration* it)
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

// Keeps the impulses with the least error so far; those of diverged iterations are useless.
static void keepBest(rbIteration* it)
{
    if (it->result.error < it->bestError) {
        it->bestError = it->result.error;
        memcpy(it->corrector->best, it->mechanism->impulses,
               (size_t)it->corrector->rowCount * sizeof(double));
    }
}

void rbIteration_KeepEntry(rbIteration* it)
{
    rbCorrector* c = it->corrector;
    const rbMechanism* m = it->mechanism;
    memcpy(c->entry, m->impulses, (size_t)c->rowCount * sizeof(double));
    for (int i = 0; i < m->bodyCount; ++i) {
        c->entryMotion[2 * (size_t)i] = m->bodies[i].velocity;
        c->entryMotion[2 * (size_t)i + 1] = m->bodies[i].momentum;
    }
}

// Restores them, starting from the initial state: intermediate impulses may have been so large that
// subtracting them would leave only rounding.
static void recallBest(rbIteration* it)
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
    rbIteration_Gather(it);
}

static bool isDelicate(const rbSolver* solver)
{
    return solver->redundantRows > 0 || solver->pivotLeast < DELICATE_PIVOT;
}

// Where conditions are nearly dependent, one more solution may do harm.
static void checkPolish(rbIteration* it, bool isPolished)
{
    if (isPolished && isDelicate(it->corrector->solver)) {
        it->result.error = 0.0;
        rbIteration_Gather(it);
    }
}

// Errors ahead; true if they require a correction.
static bool measure(rbIteration* it)
{
    rbIteration_Gather(it);
    if (!it->result.isLimitChanged && it->corrector->solver->cutCount == 0) {
        keepBest(it);
    }
    return !(it->result.error <= it->correction->tolerance);
}

static bool isLinearEmpty(const rbCorrector* corrector, const rbMechanism* mechanism)
{
    return corrector->solver->cutCount == mechanism->blockCount;
}

rbCorrected rbCorrectPositions(rbCorrector* corrector, rbMechanism* mechanism,
                               const rbCorrection* correction, rbLimitState* limits)
{
    rbIteration it = {.corrector = corrector,
                      .mechanism = mechanism,
                      .correction = correction,
                      .lastError = INFINITY,
                      .bestError = INFINITY};
    it.limits = limits;
    bool hasLinear = !isLinearEmpty(corrector, mechanism);
    rbIteration_KeepEntry(&it);
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        corrector->isStale[i] = true;
    }
    // With cuts this would open them again.
    bool mayPolish = correction->isPolished && corrector->solver->cutCount == 0;
    for (;;) {
        it.result.error = 0.0;
        it.result.isBounded = it.isBounded;
        it.isBounded = false;
        bool isCorrected = hasLinear && measure(&it);
        if (it.result.isLimitChanged || it.result.iterations >= correction->iterationsMax ||
            (hasLinear && rbIteration_IsHopeless(&it))) {
            break;
        }
        bool isPolished = mayPolish && !isCorrected;
        if (hasLinear && (isCorrected || isPolished)) {
            solveResiduals(&it);
            rbIteration_ApplyChanges(&it);
        }
        isCorrected = sweepCuts(&it) || isCorrected;
        if (!hasLinear && rbIteration_IsHopeless(&it)) {
            break;
        }
        if (!isCorrected) {
            checkPolish(&it, isPolished);
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

rbCorrected rbCorrectVelocities(rbCorrector* corrector, rbMechanism* mechanism,
                                const rbCorrection* correction, rbLimitState* limits)
{
    rbIteration it = {.corrector = corrector,
                      .mechanism = mechanism,
                      .correction = correction,
                      .lastError = INFINITY,
                      .isOfRates = true};
    it.limits = limits;
    bool hasLinear = !isLinearEmpty(corrector, mechanism);
    it.isEarly = corrector->solver->cutCount == 0;
    for (;;) {
        it.result.error = 0.0;
        bool isCorrected = false;
        if (hasLinear) {
            rbIteration_Gather(&it);
            isCorrected = !(it.result.error <= correction->tolerance);
        }
        bool isValidated = !it.isEarly;
        it.isEarly = false;
        if (!isCorrected && !isValidated && !it.result.isLimitChanged) {
            continue;
        }
        if (it.result.isLimitChanged || it.result.iterations >= correction->iterationsMax ||
            (hasLinear && rbIteration_IsHopeless(&it))) {
            break;
        }
        if (hasLinear && isCorrected) {
            corrector->solver->ops->solve(corrector->solver, corrector->residual,
                                          corrector->change);
            rbIteration_ApplyChanges(&it);
        }
        isCorrected = sweepCuts(&it) || isCorrected;
        if (!isCorrected || (!hasLinear && rbIteration_IsHopeless(&it))) {
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

void rbMeasureRows(rbCorrector* corrector, rbMechanism* mechanism, const rbCorrection* correction,
                   bool isOfRates)
{
    rbIteration it = {.corrector = corrector,
                      .mechanism = mechanism,
                      .correction = correction,
                      .isOfRates = isOfRates};
    RB_ASSERT(isOfRates || correction->h > 0.0);
    for (int i = 0; !isOfRates && i < mechanism->bodyCount; ++i) {
        corrector->isStale[i] = true;
        lookAheadWhereStale(&it, i);
    }
    for (int i = 0; i < mechanism->blockCount; ++i) {
        const rbRowBlock* block = &mechanism->blocks[i];
        double* residual = &corrector->residual[block->firstRow];
        measureBlock(&it, i, residual);
        for (int k = 0; k < block->rowCount; ++k) {
            bool isOut = !(mechanism->compliance[block->firstRow + k] < INFINITY);
            residual[k] = isOut ? 0.0 : residual[k];
        }
        for (int k = 0; !isOfRates && k < block->rowCount; ++k) {
            residual[k] /= correction->h;
        }
    }
}
