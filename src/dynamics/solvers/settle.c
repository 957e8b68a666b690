// Corrections that move bodies instead of applying impulses: projections, and steps that look-ahead
// cannot make.
#include "base/math/dot.h"
#include "base/math/matrix3.h"
#include "dynamics/solvers/correct_state.h"

#include <string.h>

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
static void gatherErrors(rbIteration* it)
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
        rbIteration_NoteError(it, i, residual);
    }
}

rbCorrected rbProjectPositions(rbCorrector* corrector, rbMechanism* mechanism,
                               const rbCorrection* correction)
{
    rbIteration it = {.corrector = corrector,
                      .mechanism = mechanism,
                      .correction = correction,
                      .lastError = INFINITY};
    const rbSolver* solver = corrector->solver;
    for (;;) {
        it.result.error = 0.0;
        gatherErrors(&it);
        if (it.result.error <= correction->tolerance ||
            it.result.iterations >= correction->iterationsMax || rbIteration_IsHopeless(&it)) {
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
    it.result.isMet =
        it.result.error <= correction->tolerance || it.result.error <= correction->floor;
    return it.result;
}

//--------------------------------------------------------------------------------------------------
// Steps that look-ahead cannot make

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
            const rbRow* r = &m->rows[row];
            double response = rbCoupleRows(&m->masses[block->bodyA], r, 1.0, r, 1.0) +
                              rbCoupleRows(&m->masses[block->bodyB], r, -1.0, r, -1.0);
            m->compliance[row] = softness * response;
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
        rbVec3 impulse = RB_VEC3_ZERO;
        rbVec3 armA = RB_VEC3_ZERO;
        rbVec3 armB = RB_VEC3_ZERO;
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

static void keepSettled(rbIteration* it)
{
    const rbMechanism* m = it->mechanism;
    rbCorrector* c = it->corrector;
    rbIteration_KeepEntry(it);
    for (int i = 0; i < m->bodyCount; ++i) {
        c->poses[i] = m->bodies[i].pose;
    }
}

static void recallSettled(rbIteration* it)
{
    rbMechanism* m = it->mechanism;
    const rbCorrector* c = it->corrector;
    memcpy(m->impulses, c->entry, (size_t)c->rowCount * sizeof(double));
    for (int i = 0; i < m->bodyCount; ++i) {
        rbMechBody* body = &m->bodies[i];
        body->velocity = c->entryMotion[2 * (size_t)i];
        body->momentum = c->entryMotion[2 * (size_t)i + 1];
        body->pose = c->poses[i];
        body->ahead = body->pose;
    }
    it->result.error = 0.0;
    rbIteration_Gather(it);
}

// Moves the bodies by a fraction of the solution for the current residuals.
static void settleOnce(rbIteration* it, double part)
{
    rbCorrector* c = it->corrector;
    rbMechanism* m = it->mechanism;
    double h = it->correction->h;
    for (int i = 0; i < c->rowCount; ++i) {
        c->residual[i] *= part / h;
    }
    c->solver->ops->solve(c->solver, c->residual, c->change);
    lendMotion(m);
    rbIteration_ApplyChanges(it);
    displace(m, h);
    // Taut directions rotated with the bodies: their spin is that of the displacement.
    for (int i = 0; i < m->bodyCount; ++i) {
        rbMechBody* body = &m->bodies[i];
        if (body->isDynamic) {
            rbVec3 spin = rbMulSV(m->masses[i].invInertia, body->momentum);
            rbSym3 inertia = rbSym3_FromPrincipal(body->moments, body->pose.rotation);
            body->momentum = rbMulSV(inertia, spin);
            body->ahead = body->pose;
            c->isStale[i] = false;
        }
    }
    returnMotion(m, 1.0);
}

rbCorrected rbSettlePositions(rbCorrector* corrector, rbMechanism* mechanism,
                              const rbCorrection* correction, rbLimitState* limits)
{
    rbIteration it = {.corrector = corrector, .mechanism = mechanism, .correction = correction};
    size_t rows = (size_t)mechanism->rowCount;
    const double* expected = correction->expected;
    double best = INFINITY;
    double part = 1.0;
    RB_ASSERT(corrector->solver->cutCount == 0);
    it.limits = limits;
    memset(corrector->isStale, 0, (size_t)mechanism->bodyCount * sizeof(bool));
    keepSettled(&it);
    for (;;) {
        it.result.error = 0.0;
        rbIteration_Gather(&it);
        double size = sqrt(rbDotArrays(corrector->residual, corrector->residual, rows));
        if (size < best) {
            best = size;
            part = fmin(1.0, 2.0 * part);
            keepSettled(&it);
        } else {
            part *= 0.5;
            recallSettled(&it);
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
