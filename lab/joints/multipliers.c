// Lagrange multipliers (B-49) with Baumgarte stabilization (B-51), solved densely.
//
// The rate of a row is C' = J u, with u the velocities of the two bodies. The conditions are
//   C'' = J u' + J' u = -2 alpha C' - beta^2 C          for joints,
//   C'' = -(C' - speed)/h                               for TRAVEL rows without a limit.
// With u' = f - W J^T x, f the accelerations by all other forces, the multipliers x solve
//   (B W B^T) x = J f + J' u + 2 alpha C' + beta^2 C.
// f contains w' = J^-1 (T - w x L): L' = T has no gyroscopic term, but w = J^-1 L has. J' u is the
// derivative of the rows along the current motion, by a five-point difference.
// Without stabilization C'' = 0 also allows C = k1 t + k2: joints drift apart.
#include "base/core/memory.h"
#include "base/math/quaternion.h"
#include "lab/joints/classical_state.h"
#include "lab/joints/row_matrices.h"

#include <math.h>

// Maximum size of the dense matrix (128 MB).
#define DENSE_ROWS_MAX 4000

void rbMultipliers_Create(rbClassical* classical, const rbMechanism* mechanism)
{
    size_t bodies = (size_t)mechanism->bodyCount;
    size_t rows = (size_t)mechanism->rowCount;
    classical->accelerations = rbAllocZero(bodies, sizeof(rbVec3));
    classical->angularAccelerations = rbAllocZero(bodies, sizeof(rbVec3));
    classical->compliance = rbAllocZero(rows, sizeof(double));
    classical->multipliers = rbAllocZero(rows, sizeof(double));
}

void rbMultipliers_Destroy(rbClassical* classical)
{
    size_t bodies = (size_t)classical->bodyCount;
    size_t rows = (size_t)classical->rowCount;
    rbFree(classical->accelerations, bodies * sizeof(rbVec3));
    rbFree(classical->angularAccelerations, bodies * sizeof(rbVec3));
    rbFree(classical->compliance, rows * sizeof(double));
    rbFree(classical->multipliers, rows * sizeof(double));
}

static void writeAccelerations(rbClassical* classical, const rbMechanism* mechanism, double time)
{
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        const rbMechBody* body = &mechanism->bodies[i];
        rbVec3* linear = &classical->accelerations[i];
        rbVec3* angular = &classical->angularAccelerations[i];
        *linear = RB_VEC3_ZERO;
        *angular = RB_VEC3_ZERO;
        if (body->isDynamic) {
            rbVec3 w = rbMechBody_GetSpin(body, &mechanism->masses[i]);
            rbVec3 torque = rbSub(body->torque, rbCross(w, body->momentum));
            *linear = rbScale(body->invMass, body->force);
            *angular = rbMulSV(mechanism->masses[i].invInertia, torque);
        }
    }
    for (int i = 0; i < classical->driven.count; ++i) {
        int body = classical->driven.bodies[i].body;
        rbDriven_GetAcceleration(&classical->driven, i, time, &classical->accelerations[body],
                                 &classical->angularAccelerations[body]);
    }
}

// Velocities or accelerations of the two bodies of a block.
typedef struct PairMotion {
    rbVec3 vA, wA;
    rbVec3 vB, wB;
} PairMotion;

static double getRate(const rbRow* row, const PairMotion* motion)
{
    return rbDot(row->linear, rbSub(motion->vB, motion->vA)) + rbDot(row->angularB, motion->wB) -
           rbDot(row->angularA, motion->wA);
}

static rbRowPose movePose(const rbRowPose* pose, rbVec3 v, rbVec3 w, double t)
{
    rbRowPose moved;
    moved.position = rbAddScaled(pose->position, t, v);
    moved.orientation = rbNormalizeQuat(rbMulQuat(rbQuat_Exp(rbScale(t, w)), pose->orientation));
    moved.rotation = rbMatFromQuat(moved.orientation);
    return moved;
}

// J' u of the rows of a block: d/dt (J(t) u) at constant u. The five points are so close that the
// body rotates by 1e-3 between them, and within a small fraction of the step, which the motion of
// everything else must resolve anyway: the error is about 1e-13 of the value.
static void writeProducts(const rbMechanism* mechanism, const rbRowBlock* block,
                          const PairMotion* motion, double h, double* products)
{
    double spin = rbLength(motion->wA) + rbLength(motion->wB);
    double d = fmin(h / 8.0, 1e-3 / fmax(spin, 1e-300));
    static const double offsets[4] = {-2.0, -1.0, 1.0, 2.0};
    static const double factors[4] = {1.0, -8.0, 8.0, -1.0};
    rbRow rows[RB_BLOCK_ROWS_MAX];
    for (int i = 0; i < block->rowCount; ++i) {
        products[i] = 0.0;
    }
    for (int k = 0; k < 4; ++k) {
        double t = offsets[k] * d;
        rbRowPose poseA =
            movePose(&mechanism->bodies[block->bodyA].pose, motion->vA, motion->wA, t);
        rbRowPose poseB =
            movePose(&mechanism->bodies[block->bodyB].pose, motion->vB, motion->wB, t);
        block->rows(block->data, &poseA, &poseB, rows);
        for (int i = 0; i < block->rowCount; ++i) {
            products[i] += factors[k] * getRate(&rows[i], motion) / (12.0 * d);
        }
    }
}

static void writeBlockRight(rbClassical* classical, const rbMechanism* mechanism,
                            const rbRowBlock* block)
{
    const rbMechBody* a = &mechanism->bodies[block->bodyA];
    const rbMechBody* b = &mechanism->bodies[block->bodyB];
    PairMotion motion = {a->velocity, rbMechBody_GetSpin(a, &mechanism->masses[block->bodyA]),
                         b->velocity, rbMechBody_GetSpin(b, &mechanism->masses[block->bodyB])};
    PairMotion free = {
        classical->accelerations[block->bodyA], classical->angularAccelerations[block->bodyA],
        classical->accelerations[block->bodyB], classical->angularAccelerations[block->bodyB]};
    double alpha = classical->settings.baumgarteAlpha;
    double beta = classical->settings.baumgarteBeta;
    double products[RB_BLOCK_ROWS_MAX];
    double errors[RB_BLOCK_ROWS_MAX];
    writeProducts(mechanism, block, &motion, classical->h, products);
    block->errors(block->data, &a->pose, &b->pose, errors);
    for (int i = 0; i < block->rowCount; ++i) {
        int index = block->firstRow + i;
        const rbRow* row = &mechanism->rows[index];
        double rate = getRate(row, &motion);
        double pull = block->kind == RB_ROW_HOLD ? 2.0 * alpha * rate + beta * beta * errors[i]
                                                 : (rate - mechanism->speeds[index]) / classical->h;
        classical->multipliers[index] = getRate(row, &free) + products[i] + pull;
    }
}

void rbMultipliers_WriteRight(rbClassical* classical, rbMechanism* mechanism, double time)
{
    RB_ASSERT(classical->multipliers != NULL || mechanism->rowCount == 0);
    rbAddSoftForces(mechanism, classical->h, false);
    writeAccelerations(classical, mechanism, time);
    for (int i = 0; i < mechanism->blockCount; ++i) {
        const rbRowBlock* block = &mechanism->blocks[i];
        if (block->kind != RB_ROW_SPRING) {
            writeBlockRight(classical, mechanism, block);
        }
        for (int row = 0; row < block->rowCount; ++row) {
            bool isCondition = rbIsConditionRow(mechanism, block, row);
            classical->compliance[block->firstRow + row] = isCondition ? 0.0 : INFINITY;
            if (!isCondition) {
                classical->multipliers[block->firstRow + row] = 0.0;
            }
        }
    }
}

void rbMultipliers_Apply(const rbClassical* classical, rbMechanism* mechanism)
{
    for (int i = 0; i < mechanism->blockCount; ++i) {
        const rbRowBlock* block = &mechanism->blocks[i];
        for (int row = 0; row < block->rowCount; ++row) {
            rbAddRowForce(mechanism, block, row, classical->multipliers[block->firstRow + row]);
        }
    }
}

// A = L D L^T in place, column by column of the lower triangle. A pivot below RB_PIVOT_DROP of its
// diagonal belongs to a row implied by the previous ones: it is dropped (inverse 0).
static void factorDense(double* a, int n, double* invPivots)
{
    for (int j = 0; j < n; ++j) {
        double* column = &a[(size_t)j * (size_t)n];
        double diagonal = column[j];
        for (int k = 0; k < j; ++k) {
            const double* left = &a[(size_t)k * (size_t)n];
            double factor = left[j] * invPivots[k];
            if (factor == 0.0) {
                continue;
            }
            for (int i = j; i < n; ++i) {
                column[i] -= factor * left[i];
            }
        }
        invPivots[j] = column[j] > RB_PIVOT_DROP * diagonal ? 1.0 / column[j] : 0.0;
    }
}

// Columns hold L D; a dropped row has x = 0.
static void solveDense(const double* a, int n, const double* invPivots, double* x)
{
    for (int j = 0; j < n; ++j) {
        const double* column = &a[(size_t)j * (size_t)n];
        x[j] *= invPivots[j];
        for (int i = j + 1; i < n; ++i) {
            x[i] -= column[i] * x[j];
        }
    }
    for (int j = n - 1; j >= 0; --j) {
        const double* column = &a[(size_t)j * (size_t)n];
        double sum = 0.0;
        for (int i = j + 1; i < n; ++i) {
            sum += column[i] * x[i];
        }
        x[j] -= invPivots[j] * sum;
    }
}

static rbStatus check(const rbMechanism* mechanism, rbError* error)
{
    if (mechanism->rowCount > DENSE_ROWS_MAX) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the method \"multipliers\" solves a dense system of at most %d "
                           "rows, but the mechanism has %d; use \"baraff\" or \"impulses\"",
                           DENSE_ROWS_MAX, mechanism->rowCount);
    }
    return RB_STATUS_OK;
}

static void create(rbClassical* classical, const rbMechanism* mechanism)
{
    size_t n = (size_t)mechanism->rowCount;
    rbMultipliers_Create(classical, mechanism);
    classical->matrix = rbAllocZero(n * n, sizeof(double));
    classical->pivots = rbAllocZero(n, sizeof(double));
}

static void destroy(rbClassical* classical)
{
    size_t n = (size_t)classical->rowCount;
    rbFree(classical->matrix, n * n * sizeof(double));
    rbFree(classical->pivots, n * sizeof(double));
    rbMultipliers_Destroy(classical);
}

static void hold(rbClassical* classical, rbMechanism* mechanism, double time)
{
    int n = mechanism->rowCount;
    rbMultipliers_WriteRight(classical, mechanism, time);
    rbRowSystem system = rbMechanism_GetSystem(mechanism);
    system.compliance = classical->compliance;
    rbRowSystem_Assemble(&system, classical->matrix);
    factorDense(classical->matrix, n, classical->pivots);
    solveDense(classical->matrix, n, classical->pivots, classical->multipliers);
    rbMultipliers_Apply(classical, mechanism);
}

const rbClassicalOps rbMultipliersOps = {
    .name = "multipliers", .check = check, .create = create, .destroy = destroy, .hold = hold};
