// Look-ahead position corrections and velocity corrections, see correct.h.
#include "dynamics/solvers/correct.h"

#include "base/core/memory.h"
#include "base/math/dot.h"
#include "base/math/matrix3.h"

#include <string.h>

// An iteration that does not reduce the error below this fraction of the last one has not
// contracted.
#define SLOW_RATIO 0.7
// This many slow iterations in a row end the attempt.
#define SLOW_MAX 3
// Block-by-block sweeps must reduce the error below this fraction within this many sweeps.
#define SWEEPS_PER_CHECK 1024
#define SWEEPS_RATIO 0.95
// They have diverged if the least error was below this fraction of the last one.
#define DIVERGED_PART 0.5
// A pivot below this fraction of its diagonal means that conditions are nearly dependent.
#define DELICATE_PIVOT 1e-4

// The state of one correction.
typedef struct Iteration {
    rbCorrector* c; // its memory
    rbMechanism* m; // what it corrects
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
    double sweepError; // of the last sweep where no condition is in a linear system
    int releases;      // limited rows that left their limits
    bool isEarly;      // held rows are not solved for yet: rates are not meaningful for limits
    bool isOfRates;    // of the velocity stage
} Iteration;

// The arrays of a corrector, and how many elements each has.
#define ARRAYS(X)                                      \
    X(cutFactors, corrector->solver->cutCount)         \
    X(residual, corrector->rowCount)                   \
    X(change, corrector->rowCount)                     \
    X(lastResidual, corrector->rowCount)               \
    X(lastChange, corrector->rowCount)                 \
    X(best, corrector->rowCount)                       \
    X(entry, corrector->rowCount)                      \
    X(rows, corrector->rowCount)                       \
    X(compliance, corrector->rowCount)                 \
    X(masses, corrector->bodyCount)                    \
    X(history, 3 * RB_MIX_DEPTH * corrector->rowCount) \
    X(entryMotion, 2 * corrector->bodyCount)           \
    X(poses, corrector->bodyCount)                     \
    X(inertias, corrector->bodyCount)                  \
    X(isStale, corrector->bodyCount)

rbCorrector* rbCreateCorrector(rbSolverType type, const rbMechanism* mechanism)
{
    rbRowSystem system = rbMechanism_GetSystem(mechanism);
    rbCorrector* corrector = rbAllocZero(1, sizeof *corrector);
    corrector->solver = rbCreateSolver(type, &system);
    corrector->rowCount = mechanism->rowCount;
    corrector->bodyCount = mechanism->bodyCount;
#define CREATE(name, count) corrector->name = rbAllocZero((size_t)(count), sizeof *corrector->name);
    ARRAYS(CREATE)
    return corrector;
}

void rbDestroyCorrector(rbCorrector* corrector)
{
    if (corrector == NULL) {
        return;
    }
#define DESTROY(name, count) rbFree(corrector->name, (size_t)(count) * sizeof *corrector->name);
    ARRAYS(DESTROY)
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
    const double* compliance = &mechanism->compliance[block->firstRow];
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            bool isActive = compliance[i] < INFINITY && compliance[j] < INFINITY;
            matrix[j * n + i] = isActive ? rbCoupleRows(massA, &rows[i], 1.0, &rows[j], 1.0) +
                                               rbCoupleRows(massB, &rows[i], -1.0, &rows[j], -1.0)
                                         : 0.0;
        }
        matrix[i * n + i] += compliance[i] < INFINITY ? compliance[i] : 0.0;
    }
    rbSmallFactor_Make(factor, matrix, n);
}

// Whether the matrix is that of the last factors: mostly at the start of a step, where nothing has
// moved since the end of the last one. Takes its data otherwise.
static bool isKnown(rbCorrector* corrector, const rbRowSystem* system)
{
    size_t rows = (size_t)system->rowCount * sizeof *corrector->rows;
    size_t compliance = (size_t)system->rowCount * sizeof *corrector->compliance;
    size_t masses = (size_t)system->bodyCount * sizeof *corrector->masses;
    bool isSame = corrector->factorizations > 0 &&
                  memcmp(corrector->rows, system->rows, rows) == 0 &&
                  memcmp(corrector->compliance, system->compliance, compliance) == 0 &&
                  memcmp(corrector->masses, system->masses, masses) == 0;
    if (!isSame) {
        memcpy(corrector->rows, system->rows, rows);
        memcpy(corrector->compliance, system->compliance, compliance);
        memcpy(corrector->masses, system->masses, masses);
    }
    return isSame;
}

void rbCorrector_Factor(rbCorrector* corrector, const rbMechanism* mechanism)
{
    rbRowSystem system = rbMechanism_GetSystem(mechanism);
    rbSolver* solver = corrector->solver;
    bool isNew = !isKnown(corrector, &system);
    corrector->factorizations += 1;
    if (isNew) {
        solver->ops->factor(solver, &system);
    }
    for (int i = 0; isNew && i < solver->cutCount; ++i) {
        factorBlock(mechanism, &mechanism->blocks[solver->cuts[i]], &corrector->cutFactors[i]);
    }
}

// Clamps changes so that limited rows stay within their limits.
static void clampChange(Iteration* it, int index, double* change)
{
    const rbRowBlock* block = &it->m->blocks[index];
    if (block->kind != RB_ROW_TRAVEL) {
        return;
    }
    for (int i = 0; i < block->rowCount; ++i) {
        int row = block->firstRow + i;
        if (!(it->m->limits[row] < INFINITY) || it->limits[row] != RB_LIMIT_FREE) {
            continue;
        }
        double share = it->correction->isBackward ? 1.0 : 0.5;
        double most = share * it->correction->h * it->m->limits[row];
        double sum = it->m->impulses[row] + change[i];
        if (fabs(sum) > most) {
            it->limits[row] = sum > 0.0 ? RB_LIMIT_HIGH : RB_LIMIT_LOW;
            change[i] = copysign(most, sum) - it->m->impulses[row];
            it->result.isLimitChanged = true;
        }
    }
}

// The square of the impulse of a block with its change.
static double impulseSquare(const rbMechanism* mechanism, const rbRowBlock* block,
                            const double* change)
{
    double square = 0.0;
    for (int i = 0; i < block->rowCount; ++i) {
        double sum = mechanism->impulses[block->firstRow + i] + change[i];
        square += sum * sum;
    }
    return square;
}

// Changes it so that the impulse shrinks by a factor, so that it does not exceed the largest one
// (B-41).
static void shrinkImpulse(Iteration* it, const rbRowBlock* block, double scale, double* change)
{
    for (int i = 0; i < block->rowCount; ++i) {
        double before = it->m->impulses[block->firstRow + i];
        change[i] = scale * (before + change[i]) - before;
    }
    it->isBounded = true;
}

static void applyChange(Iteration* it, int index, const double* change)
{
    const rbRowBlock* block = &it->m->blocks[index];
    rbMechanism_Apply(it->m, index, change);
    for (int i = 0; i < block->rowCount; ++i) {
        it->m->impulses[block->firstRow + i] += change[i];
    }
    it->c->isStale[block->bodyA] = true;
    it->c->isStale[block->bodyB] = true;
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
static void validateLimit(Iteration* it, int row, double* residual)
{
    rbLimitState* limit = &it->limits[row];
    bool letsGo =
        (*limit == RB_LIMIT_HIGH && *residual < 0.0) || (*limit == RB_LIMIT_LOW && *residual > 0.0);
    bool mayGo = it->releases < it->correction->releasesMax && !it->isEarly;
    if (letsGo && mayGo && it->m->limits[row] > 0.0 && it->correction->h > 0.0) {
        it->releases += 1;
        *limit = RB_LIMIT_FREE;
        it->result.isLimitChanged = true;
    }
    *residual = 0.0;
}

// Dry friction (which requires rest) and a velocity motor along one freedom cannot both hold. Where
// the motor holds its speed, the friction is at the limit against it, whatever the rate is before
// the motor has been solved for. True: no further check is needed.
static bool validatePair(Iteration* it, int index, double* residual)
{
    const rbRowBlock* block = &it->m->blocks[index];
    if (!block->isOpposed || !(it->correction->h > 0.0)) {
        return false;
    }
    int motor = it->m->blocks[index + 1].firstRow;
    if (it->limits[motor] != RB_LIMIT_FREE) {
        return false;
    }
    rbLimitState state = it->m->speeds[motor] < 0.0 ? RB_LIMIT_LOW : RB_LIMIT_HIGH;
    if (it->limits[block->firstRow] != state) {
        double most = 0.5 * it->correction->h * it->m->limits[block->firstRow];
        double change = (state == RB_LIMIT_HIGH ? most : -most) - it->m->impulses[block->firstRow];
        RB_ASSERT(block->rowCount == 1);
        it->limits[block->firstRow] = state;
        applyChange(it, index, &change);
        it->result.isLimitChanged = true;
    }
    residual[0] = 0.0;
    return true;
}

static void validateLimits(Iteration* it, int index, double* residual)
{
    const rbRowBlock* block = &it->m->blocks[index];
    if (block->kind != RB_ROW_TRAVEL || validatePair(it, index, residual)) {
        return;
    }
    for (int i = 0; i < block->rowCount; ++i) {
        int row = block->firstRow + i;
        if (it->limits[row] != RB_LIMIT_FREE || !(it->m->compliance[row] < INFINITY)) {
            validateLimit(it, row, &residual[i]);
        }
    }
}

static void noteError(Iteration* it, int index, const double* residual)
{
    double error = blockNorm(&it->m->blocks[index], residual);
    // Written so that NaN counts as an error.
    if (!(error <= it->result.error)) {
        it->result.error = error;
        it->result.block = index;
    }
}

static void lookAheadWhereStale(const Iteration* it, int body)
{
    rbMechBody* b = &it->m->bodies[body];
    if (it->c->isStale[body] && b->isDynamic) {
        rbMechBody_LookAhead(b, it->correction->h);
        it->c->isStale[body] = false;
    }
}

static void lookAhead(const Iteration* it)
{
    for (int i = 0; i < it->m->bodyCount; ++i) {
        lookAheadWhereStale(it, i);
    }
}

// Mixing (Anderson) of an iteration x += f: the combination of the last steps with the least
// residual e, in the norm e.f. Minimizes |f - sum g_j dF_j| over g and subtracts sum g_j (dX_j +
// dF_j) from the change.
static void mixSteps(const Iteration* it, size_t n, const double* dX, const double* dF,
                     const double* dE)
{
    double gram[RB_MIX_DEPTH * RB_MIX_DEPTH] = {0.0};
    double right[RB_MIX_DEPTH] = {0.0};
    double g[RB_MIX_DEPTH];
    size_t size = (size_t)it->depth;
    for (size_t i = 0; i < size; ++i) {
        for (size_t j = 0; j <= i; ++j) {
            double value = 0.5 * (rbDotArrays(&dF[i * n], &dE[j * n], n) +
                                  rbDotArrays(&dF[j * n], &dE[i * n], n));
            gram[j * size + i] = value;
            gram[i * size + j] = value;
        }
        right[i] = rbDotArrays(&dF[i * n], it->c->residual, n);
    }
    rbSmallFactor factor;
    rbSmallFactor_Make(&factor, gram, it->depth);
    rbSmallFactor_Solve(&factor, right, g);
    for (size_t j = 0; j < size; ++j) {
        for (size_t i = 0; i < n; ++i) {
            it->c->change[i] -= g[j] * (dX[j * n + i] + dF[j * n + i]);
        }
    }
}

static void mixChange(Iteration* it)
{
    size_t n = (size_t)it->c->rowCount;
    double* dX = it->c->history;
    double* dF = dX + (size_t)RB_MIX_DEPTH * n;
    double* dE = dF + (size_t)RB_MIX_DEPTH * n;
    if (it->isMixing && it->result.iterations > 0) {
        size_t slot = (size_t)it->next;
        for (size_t i = 0; i < n; ++i) {
            dF[slot * n + i] = it->c->change[i] - it->c->lastChange[i];
            dE[slot * n + i] = it->c->residual[i] - it->c->lastResidual[i];
        }
        it->next = (it->next + 1) % RB_MIX_DEPTH;
        it->depth = it->depth < RB_MIX_DEPTH ? it->depth + 1 : RB_MIX_DEPTH;
    }
    memcpy(it->c->lastChange, it->c->change, n * sizeof(double));
    memcpy(it->c->lastResidual, it->c->residual, n * sizeof(double));
    if (it->depth > 0) {
        mixSteps(it, n, dX, dF, dE);
    }
    memcpy(&dX[(size_t)it->next * n], it->c->change, n * sizeof(double));
    it->isMixing = true;
}

// The error that the spring of a row leaves, of its error ahead: m or rad.
static double springResidual(const Iteration* it, const rbRowBlock* block, int row, double error)
{
    // x = (h/4) k (elongation at the start + at the end) + c (growth of it), or, backward, h k
    // (elongation at the end) + c (growth of it)
    bool isBackward = it->correction->isBackward;
    double start = it->m->startErrors[row] - block->rest;
    double elastic = (isBackward ? 1.0 : 0.25) * it->correction->h * block->stiffness;
    double early = isBackward ? 0.0 : start;
    double damping = it->m->startDamping[row];
    double x = elastic * (early + error) + damping * (error - start);
    return (x - it->m->impulses[row]) / (elastic + damping);
}

// The residual of the conditions of a block in the current step, row by row: m or rad; or the rates
// that have not reached their targets yet. Rows at a limit have none.
static void measureBlock(const Iteration* it, int index, double* residual)
{
    const rbRowBlock* block = &it->m->blocks[index];
    double time = it->isOfRates ? 1.0 : it->correction->h;
    if (it->isOfRates) {
        rbMechanism_Rates(it->m, index, residual);
    } else {
        rbMechanism_ErrorsAhead(it->m, index, residual);
    }
    for (int i = 0; block->kind != RB_ROW_HOLD && i < block->rowCount; ++i) {
        int row = block->firstRow + i;
        if (block->kind == RB_ROW_TRAVEL) {
            residual[i] -= it->m->speeds[row] * time;
        } else if (!(it->m->compliance[row] < INFINITY)) {
            residual[i] = 0.0;
        } else if (it->isOfRates) {
            residual[i] -= it->m->compliance[row] * it->m->impulses[row];
        } else {
            residual[i] = springResidual(it, block, row, residual[i]);
        }
    }
}

// Errors ahead (or rates) of the blocks in the linear system into residual; records the largest.
static void gather(Iteration* it)
{
    int cursor = 0;
    if (!it->isOfRates) {
        lookAhead(it);
    }
    for (int i = 0; i < it->m->blockCount; ++i) {
        const rbRowBlock* block = &it->m->blocks[i];
        double* residual = &it->c->residual[block->firstRow];
        if (cursor < it->c->solver->cutCount && it->c->solver->cuts[cursor] == i) {
            cursor += 1;
            memset(residual, 0, (size_t)block->rowCount * sizeof(double));
            continue;
        }
        measureBlock(it, i, residual);
        validateLimits(it, i, residual);
        noteError(it, i, residual);
    }
}

// Adds change, clamped to the limits, to impulses and velocities.
static void applyChanges(Iteration* it)
{
    double most = it->correction->impulseMax;
    double largest = 0.0;
    for (int i = 0; most < INFINITY && i < it->m->blockCount; ++i) {
        const rbRowBlock* block = &it->m->blocks[i];
        double square = impulseSquare(it->m, block, &it->c->change[block->firstRow]);
        largest = square > largest ? square : largest;
    }
    for (int i = 0; i < it->m->blockCount; ++i) {
        double* change = &it->c->change[it->m->blocks[i].firstRow];
        if (largest > most * most) {
            // All together, so that they still point to where the joints close.
            shrinkImpulse(it, &it->m->blocks[i], most / sqrt(largest), change);
        }
        clampChange(it, i, change);
        applyChange(it, i, change);
    }
}

// Corrects the cut blocks one after another; true if one needed it.
static bool sweepCuts(Iteration* it)
{
    bool isCorrected = false;
    for (int k = 0; k < it->c->solver->cutCount; ++k) {
        int index = it->c->solver->cuts[k];
        const rbRowBlock* block = &it->m->blocks[index];
        double residual[RB_BLOCK_ROWS_MAX], change[RB_BLOCK_ROWS_MAX];
        if (!it->isOfRates) {
            lookAheadWhereStale(it, block->bodyA);
            lookAheadWhereStale(it, block->bodyB);
        }
        measureBlock(it, index, residual);
        validateLimits(it, index, residual);
        noteError(it, index, residual);
        if (blockNorm(block, residual) <= it->correction->tolerance) {
            continue;
        }
        for (int i = 0; !it->isOfRates && i < block->rowCount; ++i) {
            residual[i] /= it->correction->h;
        }
        rbSmallFactor_Solve(&it->c->cutFactors[k], residual, change);
        clampChange(it, index, change);
        double square = impulseSquare(it->m, block, change);
        if (square > it->correction->impulseMax * it->correction->impulseMax) {
            shrinkImpulse(it, block, it->correction->impulseMax / sqrt(square), change);
        }
        applyChange(it, index, change);
        isCorrected = true;
    }
    return isCorrected;
}

// Whether to stop after the errors of an iteration are known.
static bool isHopeless(Iteration* it)
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

static void solveResiduals(Iteration* it)
{
    for (int i = 0; !it->isOfRates && i < it->c->rowCount; ++i) {
        it->c->residual[i] /= it->correction->h;
    }
    it->c->solver->ops->solve(it->c->solver, it->c->residual, it->c->change);
    if (!it->isOfRates) {
        mixChange(it);
    }
}

// Keeps the impulses with the least error so far; those of diverged iterations are useless.
static void keepBest(Iteration* it, const double* impulses)
{
    if (it->result.error < it->bestError) {
        it->bestError = it->result.error;
        memcpy(it->c->best, impulses, (size_t)it->c->rowCount * sizeof(double));
    }
}

// A sweep over all conditions, where none is in a linear system; true if one needed it. Its errors
// are about those of the impulses before it.
static bool sweepAll(Iteration* it)
{
    double* before = it->c->change;
    memcpy(before, it->m->impulses, (size_t)it->c->rowCount * sizeof(double));
    bool isCorrected = sweepCuts(it);
    keepBest(it, before);
    it->sweepError = it->result.error;
    return isCorrected;
}

// Saves impulses, velocities and poses in entry, entryMotion and poses.
static void keepEntry(Iteration* it)
{
    memcpy(it->c->entry, it->m->impulses, (size_t)it->c->rowCount * sizeof(double));
    for (int i = 0; i < it->m->bodyCount; ++i) {
        it->c->entryMotion[2 * (size_t)i] = it->m->bodies[i].velocity;
        it->c->entryMotion[2 * (size_t)i + 1] = it->m->bodies[i].momentum;
        it->c->poses[i] = it->m->bodies[i].pose;
    }
}

static void recallMotion(Iteration* it)
{
    for (int i = 0; i < it->m->bodyCount; ++i) {
        it->m->bodies[i].velocity = it->c->entryMotion[2 * (size_t)i];
        it->m->bodies[i].momentum = it->c->entryMotion[2 * (size_t)i + 1];
    }
}

// Restores the best impulses, starting from the initial state: intermediate impulses may have been
// so large that subtracting them would leave only rounding.
static void recallBest(Iteration* it)
{
    recallMotion(it);
    for (int i = 0; i < it->c->rowCount; ++i) {
        it->c->change[i] = it->c->best[i] - it->c->entry[i];
    }
    for (int i = 0; i < it->m->blockCount; ++i) {
        applyChange(it, i, &it->c->change[it->m->blocks[i].firstRow]);
    }
    memcpy(it->m->impulses, it->c->best, (size_t)it->c->rowCount * sizeof(double));
    it->result.error = 0.0;
    gather(it);
}

// Errors ahead, or rates; true if they require a correction.
static bool measure(Iteration* it)
{
    gather(it);
    if (!it->isOfRates && !it->result.isLimitChanged && it->c->solver->cutCount == 0) {
        keepBest(it, it->m->impulses);
    }
    return !(it->result.error <= it->correction->tolerance);
}

static Iteration begin(rbCorrector* corrector, rbMechanism* mechanism,
                       const rbCorrection* correction, rbLimitState* limits)
{
    return (Iteration){.c = corrector,
                       .m = mechanism,
                       .correction = correction,
                       .limits = limits,
                       .lastError = INFINITY,
                       .bestError = INFINITY};
}

static rbCorrected finish(Iteration* it)
{
    rbCorrected* r = &it->result;
    r->isMet = r->error <= it->correction->tolerance || r->error <= it->correction->floor;
    return *r;
}

// Impulses until the errors are met, no longer shrink, or a limit changes.
static void iterate(Iteration* it)
{
    const rbSolver* solver = it->c->solver;
    const rbCorrection* correction = it->correction;
    bool hasLinear = solver->cutCount < it->m->blockCount;
    // With cuts one more solution would open them again.
    bool mayPolish = correction->isPolished && solver->cutCount == 0;
    for (;;) {
        it->result.error = 0.0;
        it->result.isBounded = it->isBounded;
        it->isBounded = false;
        bool isCorrected = hasLinear && measure(it);
        bool isEarly = it->isEarly;
        it->isEarly = false;
        if (!isCorrected && isEarly && !it->result.isLimitChanged) {
            continue;
        }
        if (it->result.isLimitChanged || it->result.iterations >= correction->iterationsMax ||
            (hasLinear && isHopeless(it))) {
            break;
        }
        bool isPolished = mayPolish && !isCorrected;
        if (hasLinear && (isCorrected || isPolished)) {
            solveResiduals(it);
            applyChanges(it);
        }
        isCorrected = (hasLinear ? sweepCuts(it) : sweepAll(it)) || isCorrected;
        if (!hasLinear && isHopeless(it)) {
            break;
        }
        if (!isCorrected) {
            // Where conditions are nearly dependent, one more solution may do harm.
            if (isPolished && (solver->redundantRows > 0 || solver->pivotLeast < DELICATE_PIVOT)) {
                it->result.error = 0.0;
                gather(it);
            }
            break;
        }
        it->result.iterations += 1;
        if (it->result.isLimitChanged) {
            break;
        }
    }
}

rbCorrected rbCorrectPositions(rbCorrector* corrector, rbMechanism* mechanism,
                               const rbCorrection* correction, rbLimitState* limits)
{
    Iteration it = begin(corrector, mechanism, correction, limits);
    keepEntry(&it);
    memset(corrector->isStale, 1, (size_t)mechanism->bodyCount * sizeof(bool));
    iterate(&it);
    bool hasDiverged = it.bestError < fmax(it.result.error, DIVERGED_PART * it.sweepError);
    if (!it.result.isLimitChanged && hasDiverged) {
        recallBest(&it);
    }
    lookAhead(&it);
    return finish(&it);
}

rbCorrected rbCorrectVelocities(rbCorrector* corrector, rbMechanism* mechanism,
                                const rbCorrection* correction, rbLimitState* limits)
{
    Iteration it = begin(corrector, mechanism, correction, limits);
    it.isOfRates = true;
    it.isEarly = corrector->solver->cutCount == 0;
    iterate(&it);
    return finish(&it);
}

void rbMeasureRows(rbCorrector* corrector, rbMechanism* mechanism, const rbCorrection* correction,
                   bool isOfRates)
{
    Iteration it = begin(corrector, mechanism, correction, NULL);
    it.isOfRates = isOfRates;
    RB_ASSERT(isOfRates || correction->h > 0.0);
    if (!isOfRates) {
        memset(corrector->isStale, 1, (size_t)mechanism->bodyCount * sizeof(bool));
        lookAhead(&it);
    }
    for (int i = 0; i < mechanism->blockCount; ++i) {
        const rbRowBlock* block = &mechanism->blocks[i];
        double* residual = &corrector->residual[block->firstRow];
        measureBlock(&it, i, residual);
        for (int k = 0; k < block->rowCount; ++k) {
            bool isOut = !(mechanism->compliance[block->firstRow + k] < INFINITY);
            residual[k] = isOut ? 0.0 : isOfRates ? residual[k] : residual[k] / correction->h;
        }
    }
}

// ------------------------------------------------------------------------------------ projections
// Corrections that move bodies instead of applying impulses.

// Displacements as velocities over a time h: the same impulses, applied to poses.
static void displace(rbMechanism* mechanism, double h)
{
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        rbMechBody* body = &mechanism->bodies[i];
        if (!body->isDynamic) {
            continue;
        }
        rbVec3 turn = rbScale(h, rbMulSV(mechanism->masses[i].invInertia, body->momentum));
        rbQuat half = {1.0, 0.5 * turn.x, 0.5 * turn.y, 0.5 * turn.z};
        body->pose.position = rbAddScaled(body->pose.position, h, body->velocity);
        body->pose.orientation = rbNormalizeQuat(rbMulQuat(half, body->pose.orientation));
        body->pose.rotation = rbMatFromQuat(body->pose.orientation);
    }
}

// Velocities temporarily hold displacements.
static void lendMotion(rbMechanism* mechanism)
{
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        rbMechBody* body = &mechanism->bodies[i];
        if (body->isDynamic) {
            body->lentVelocity = body->velocity;
            body->lentMomentum = body->momentum;
            body->velocity = RB_VEC3_ZERO;
            body->momentum = RB_VEC3_ZERO;
        }
    }
}

// And are restored, changed by a fraction of the displacement.
static void returnMotion(rbMechanism* mechanism, double part)
{
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        rbMechBody* body = &mechanism->bodies[i];
        if (body->isDynamic) {
            body->velocity = rbAddScaled(body->lentVelocity, part, body->velocity);
            body->momentum = rbAddScaled(body->lentMomentum, part, body->momentum);
        }
    }
}

// Errors of HOLD rows at the current poses into residual.
static void gatherErrors(Iteration* it)
{
    for (int i = 0; i < it->m->blockCount; ++i) {
        const rbRowBlock* block = &it->m->blocks[i];
        double* residual = &it->c->residual[block->firstRow];
        if (block->kind != RB_ROW_HOLD) {
            memset(residual, 0, (size_t)block->rowCount * sizeof(double));
            continue;
        }
        block->errors(block->data, &it->m->bodies[block->bodyA].pose,
                      &it->m->bodies[block->bodyB].pose, residual);
        noteError(it, i, residual);
    }
}

rbCorrected rbProjectPositions(rbCorrector* corrector, rbMechanism* mechanism,
                               const rbCorrection* correction)
{
    Iteration it = begin(corrector, mechanism, correction, NULL);
    const rbSolver* solver = corrector->solver;
    RB_ASSERT(corrector->rowCount == mechanism->rowCount);
    for (;;) {
        it.result.error = 0.0;
        gatherErrors(&it);
        if (it.result.error <= correction->tolerance ||
            it.result.iterations >= correction->iterationsMax || isHopeless(&it)) {
            break;
        }
        lendMotion(mechanism);
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
        displace(mechanism, 1.0);
        returnMotion(mechanism, 0.0);
        it.result.iterations += 1;
    }
    return finish(&it);
}

// -------------------------------------------------------------- steps that look-ahead cannot make

// Smallest fraction of a solution that is tried when the whole solution increased the errors.
#define SETTLE_PART 0.05

static void softenHolds(rbMechanism* m, double softness)
{
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        for (int row = block->firstRow; row < block->firstRow + block->rowCount; ++row) {
            if (block->kind == RB_ROW_SPRING || !(m->compliance[row] < INFINITY)) {
                continue;
            }
            m->compliance[row] = softness * rbMechanism_GetResponse(m, block, row);
        }
    }
}

// An impulse that pulls at an arm resists rotation like a moment of inertia: perpendicular to the
// arm.
static void addTaut(rbSym3* inertia, rbVec3 arm, rbVec3 impulse, double h)
{
    double pull = h * rbDot(arm, impulse);
    double square = rbLengthSquared(arm);
    if (pull > 0.0 && square > 0.0) {
        double f = -pull / square;
        rbSym3 across = {pull + f * arm.x * arm.x, pull + f * arm.y * arm.y,
                         pull + f * arm.z * arm.z, f * arm.x * arm.y,
                         f * arm.x * arm.z,        f * arm.y * arm.z};
        *inertia = rbAddSym(*inertia, across);
    }
}

// Adds the resistance of the joint impulses: the curvature of the conditions, without which the
// iteration overshoots. It keeps light bodies in taut chains from being displaced far where heavy
// ones should move. Arms follow from rows r x g perpendicular to directions g: over n of them, sum
// g x (r x g) is n - 1 times the part of r within their span.
static void stiffenBodies(rbCorrector* c, rbMechanism* m, const double* impulses, double h)
{
    for (int i = 0; i < m->bodyCount; ++i) {
        c->inertias[i] = rbSym3_FromPrincipal(m->bodies[i].moments, m->bodies[i].pose.rotation);
    }
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        rbVec3 impulse = RB_VEC3_ZERO, armA = RB_VEC3_ZERO, armB = RB_VEC3_ZERO;
        int count = 0;
        for (int k = 0; k < block->rowCount && block->kind == RB_ROW_HOLD; ++k) {
            const rbRow* row = &m->rows[block->firstRow + k];
            if (((block->angleMask >> k) & 1u) == 0) {
                impulse = rbAddScaled(impulse, impulses[block->firstRow + k], row->linear);
                armA = rbAdd(armA, rbCross(row->linear, row->angularA));
                armB = rbAdd(armB, rbCross(row->linear, row->angularB));
                count += 1;
            }
        }
        if (count > 1) {
            double scale = 1.0 / (double)(count - 1);
            addTaut(&c->inertias[block->bodyA], rbScale(scale, armA), impulse, h);
            addTaut(&c->inertias[block->bodyB], rbScale(scale, armB), rbNeg(impulse), h);
        }
    }
    for (int i = 0; i < m->bodyCount; ++i) {
        rbSym3 inverse;
        if (m->masses[i].isDynamic && rbSym3_Invert(c->inertias[i], &inverse)) {
            m->masses[i].invInertia = inverse;
        }
    }
}

// Moves the bodies by a fraction of the solution for the current residuals.
static void settleOnce(Iteration* it, double part)
{
    double h = it->correction->h;
    for (int i = 0; i < it->c->rowCount; ++i) {
        it->c->residual[i] *= part / h;
    }
    it->c->solver->ops->solve(it->c->solver, it->c->residual, it->c->change);
    lendMotion(it->m);
    applyChanges(it);
    displace(it->m, h);
    // Taut directions rotated with the bodies: their spin is that of the displacement.
    for (int i = 0; i < it->m->bodyCount; ++i) {
        rbMechBody* body = &it->m->bodies[i];
        if (body->isDynamic) {
            rbVec3 spin = rbMulSV(it->m->masses[i].invInertia, body->momentum);
            rbSym3 inertia = rbSym3_FromPrincipal(body->moments, body->pose.rotation);
            body->momentum = rbMulSV(inertia, spin);
            body->ahead = body->pose;
            it->c->isStale[i] = false;
        }
    }
    returnMotion(it->m, 1.0);
}

rbCorrected rbSettlePositions(rbCorrector* corrector, rbMechanism* mechanism,
                              const rbCorrection* correction, rbLimitState* limits)
{
    Iteration it = begin(corrector, mechanism, correction, limits);
    size_t rows = (size_t)mechanism->rowCount;
    const double* expected = correction->expected;
    double best = INFINITY;
    double part = 1.0;
    RB_ASSERT(corrector->solver->cutCount == 0);
    memset(corrector->isStale, 0, (size_t)mechanism->bodyCount * sizeof(bool));
    keepEntry(&it);
    for (;;) {
        it.result.error = 0.0;
        gather(&it);
        double size = sqrt(rbDotArrays(corrector->residual, corrector->residual, rows));
        if (size < best) {
            best = size;
            part = fmin(1.0, 2.0 * part);
            keepEntry(&it);
        } else {
            part *= 0.5;
            memcpy(mechanism->impulses, corrector->entry, rows * sizeof(double));
            recallMotion(&it);
            for (int i = 0; i < mechanism->bodyCount; ++i) {
                rbMechBody* body = &mechanism->bodies[i];
                body->pose = corrector->poses[i];
                body->ahead = body->pose;
            }
            it.result.error = 0.0;
            gather(&it);
        }
        bool isDone = it.result.error <= correction->tolerance;
        if (it.result.isLimitChanged || isDone || part < SETTLE_PART ||
            it.result.iterations >= correction->iterationsMax) {
            break;
        }
        rbMechanism_Refresh(mechanism);
        stiffenBodies(corrector, mechanism, expected, correction->h);
        expected = mechanism->impulses;
        softenHolds(mechanism, correction->softness);
        rbCorrector_Factor(corrector, mechanism);
        settleOnce(&it, part);
        it.result.iterations += 1;
    }
    it.result.isMet = it.result.error <= correction->tolerance;
    return it.result;
}
