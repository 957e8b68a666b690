// Methods kept for comparison: the table, the common step, and forces of rows that are not joints.
//
// State of a dynamic body: center s, orientation q, velocity v, spin momentum L in world axes;
//   s' = v,   q' = (0, w) q / 2,   v' = F / m,   L' = T,   w = R I^-1 R^T L,
// so gyroscopic terms appear only in w' (see multipliers.c). The length of q has no meaning: w is
// computed from q/|q|, and q is normalized after the step.
#include "lab/joints/classical.h"

#include "base/core/memory.h"
#include "base/math/elementary.h"
#include "lab/joints/classical_state.h"

#include <math.h>
#include <string.h>

#define BODY_UNKNOWNS 13

static const rbClassicalOps* const classicalTable[RB_CLASSICAL_COUNT] = {
    [RB_CLASSICAL_PENALTY] = &rbPenaltyOps,
    [RB_CLASSICAL_MULTIPLIERS] = &rbMultipliersOps,
    [RB_CLASSICAL_BARAFF] = &rbBaraffOps,
    [RB_CLASSICAL_REDUCED] = &rbReducedOps,
};

const rbClassicalOps* rbClassicalOps_Get(rbClassicalMethod method)
{
    RB_ASSERT((unsigned)method < RB_CLASSICAL_COUNT);
    return classicalTable[method];
}

rbStatus rbClassical_Check(rbClassicalMethod method, const rbMechanism* mechanism, rbError* error)
{
    const rbClassicalOps* ops = rbClassicalOps_Get(method);
    return ops->check != NULL ? ops->check(mechanism, error) : RB_STATUS_OK;
}

static int countDynamic(const rbMechanism* mechanism)
{
    int count = 0;
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        count += mechanism->bodies[i].isDynamic ? 1 : 0;
    }
    return count;
}

rbClassical* rbCreateClassical(rbClassicalMethod method, const rbMechanism* mechanism,
                               const rbStepSettings* settings)
{
    if (rbClassical_Check(method, mechanism, NULL) != RB_STATUS_OK) {
        return NULL;
    }
    rbClassical* classical = rbAllocZero(1, sizeof *classical);
    classical->ops = rbClassicalOps_Get(method);
    classical->order = settings->order;
    classical->settings = rbStepSettings_GetClassical(settings);
    classical->bodyCount = mechanism->bodyCount;
    classical->rowCount = mechanism->rowCount;
    if (classical->ops->step == NULL) {
        int count = BODY_UNKNOWNS * countDynamic(mechanism);
        rbRunge_Make(&classical->runge, settings->order, count);
        classical->state = rbAllocZero((size_t)count, sizeof(double));
        rbDriven_Make(&classical->driven, mechanism);
    }
    if (classical->ops->create != NULL) {
        classical->ops->create(classical, mechanism);
    }
    return classical;
}

void rbDestroyClassical(rbClassical* classical)
{
    if (classical == NULL) {
        return;
    }
    if (classical->ops->destroy != NULL) {
        classical->ops->destroy(classical);
    }
    rbFree(classical->state, (size_t)classical->runge.count * sizeof(double));
    rbRunge_Free(&classical->runge);
    rbDriven_Free(&classical->driven);
    rbFree(classical, sizeof *classical);
}

static void putVec3(double* x, rbVec3 v)
{
    x[0] = v.x;
    x[1] = v.y;
    x[2] = v.z;
}

static rbVec3 getVec3(const double* x)
{
    return rbMakeVec3(x[0], x[1], x[2]);
}

static void packBodies(const rbMechanism* mechanism, double* x)
{
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        const rbMechBody* body = &mechanism->bodies[i];
        if (!body->isDynamic) {
            continue;
        }
        putVec3(&x[0], body->pose.position);
        x[3] = body->pose.orientation.w;
        x[4] = body->pose.orientation.x;
        x[5] = body->pose.orientation.y;
        x[6] = body->pose.orientation.z;
        putVec3(&x[7], body->velocity);
        putVec3(&x[10], body->momentum);
        x += BODY_UNKNOWNS;
    }
}

static void unpackBodies(rbMechanism* mechanism, const double* x)
{
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        rbMechBody* body = &mechanism->bodies[i];
        if (!body->isDynamic) {
            continue;
        }
        body->pose.position = getVec3(&x[0]);
        body->pose.orientation = rbNormalizeQuat((rbQuat){x[3], x[4], x[5], x[6]});
        body->pose.rotation = rbMatFromQuat(body->pose.orientation);
        body->velocity = getVec3(&x[7]);
        body->momentum = getVec3(&x[10]);
        x += BODY_UNKNOWNS;
    }
}

static void writeDerivatives(const rbMechanism* mechanism, const double* x, double* derivative)
{
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        const rbMechBody* body = &mechanism->bodies[i];
        if (!body->isDynamic) {
            continue;
        }
        rbVec3 w = rbMechBody_GetSpin(body, &mechanism->masses[i]);
        rbQuat spin = {0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z};
        rbQuat turn = rbMulQuat(spin, (rbQuat){x[3], x[4], x[5], x[6]});
        putVec3(&derivative[0], body->velocity);
        derivative[3] = turn.w;
        derivative[4] = turn.x;
        derivative[5] = turn.y;
        derivative[6] = turn.z;
        putVec3(&derivative[7], rbScale(body->invMass, body->force));
        putVec3(&derivative[10], body->torque);
        x += BODY_UNKNOWNS;
        derivative += BODY_UNKNOWNS;
    }
}

typedef struct StageContext {
    rbClassical* classical;
    rbMechanism* mechanism;
    rbMechForceFn* forces;
    void* context;
} StageContext;

static void evaluateStage(void* context, double t, const double* x, double* derivative)
{
    StageContext* stage = context;
    rbMechanism* mechanism = stage->mechanism;
    unpackBodies(mechanism, x);
    stage->forces(stage->context, mechanism, t);
    rbMechanism_Refresh(mechanism);
    stage->classical->ops->hold(stage->classical, mechanism, t);
    writeDerivatives(mechanism, x, derivative);
}

void rbClassical_Step(rbClassical* classical, rbMechanism* mechanism, double time, double h,
                      rbMechForceFn* forces, void* context)
{
    RB_ASSERT(h > 0.0);
    RB_ASSERT(mechanism->bodyCount == classical->bodyCount);
    RB_ASSERT(mechanism->rowCount == classical->rowCount);
    classical->h = h;
    if (classical->ops->step != NULL) {
        classical->ops->step(classical, mechanism, time, h, forces, context);
        return;
    }
    StageContext stage = {classical, mechanism, forces, context};
    rbDriven_Start(&classical->driven, mechanism, time, h, forces, context);
    packBodies(mechanism, classical->state);
    rbRunge_Step(&classical->runge, evaluateStage, &stage, time, h, classical->state);
    unpackBodies(mechanism, classical->state);
}

void rbAddRowForce(rbMechanism* mechanism, const rbRowBlock* block, int row, double x)
{
    RB_ASSERT(row >= 0 && row < block->rowCount);
    const rbRow* r = &mechanism->rows[block->firstRow + row];
    rbMechBody* a = &mechanism->bodies[block->bodyA];
    rbMechBody* b = &mechanism->bodies[block->bodyB];
    a->force = rbAddScaled(a->force, x, r->linear);
    a->torque = rbAddScaled(a->torque, x, r->angularA);
    b->force = rbAddScaled(b->force, -x, r->linear);
    b->torque = rbAddScaled(b->torque, -x, r->angularB);
}

double rbGetRowMass(const rbMechanism* mechanism, const rbRowBlock* block, int row)
{
    RB_ASSERT(row >= 0 && row < block->rowCount);
    const rbRow* r = &mechanism->rows[block->firstRow + row];
    double response = 0.0;
    if (mechanism->bodies[block->bodyA].isDynamic) {
        response += rbCoupleRows(&mechanism->masses[block->bodyA], r, 1.0, r, 1.0);
    }
    if (mechanism->bodies[block->bodyB].isDynamic) {
        response += rbCoupleRows(&mechanism->masses[block->bodyB], r, -1.0, r, -1.0);
    }
    return response > 0.0 ? 1.0 / response : 0.0;
}

bool rbIsConditionRow(const rbMechanism* mechanism, const rbRowBlock* block, int row)
{
    RB_ASSERT(row >= 0 && row < block->rowCount);
    bool isUnlimited =
        block->kind == RB_ROW_TRAVEL && mechanism->limits[block->firstRow + row] == INFINITY;
    return block->kind == RB_ROW_HOLD || isUnlimited;
}

// Wraps an angle into [-pi, pi].
static double wrapAngle(double angle)
{
    if (fabs(angle) <= RB_PI) {
        return angle;
    }
    return rbWrapAngle(angle);
}

// Elongation of a SPRING row; raw is its current error.
static double getElongation(const rbMechanism* mechanism, const rbRowBlock* block, int row,
                            double raw)
{
    double start = mechanism->startErrors[block->firstRow + row];
    return block->angleMask != 0 ? start + wrapAngle(raw - start) - block->rest : raw - block->rest;
}

static double getTravelForce(const rbMechanism* mechanism, const rbRowBlock* block, int row,
                             double rate, double h)
{
    int index = block->firstRow + row;
    double limit = mechanism->limits[index];
    double mass = rbGetRowMass(mechanism, block, row);
    double force = mass * (rate - mechanism->speeds[index]) / h;
    return fmax(-limit, fmin(limit, force));
}

void rbAddSoftForces(rbMechanism* mechanism, double h, bool withUnlimited)
{
    RB_ASSERT(h > 0.0);
    double rates[RB_BLOCK_ROWS_MAX];
    double errors[RB_BLOCK_ROWS_MAX] = {0.0};
    for (int i = 0; i < mechanism->blockCount; ++i) {
        const rbRowBlock* block = &mechanism->blocks[i];
        if (block->kind == RB_ROW_HOLD) {
            continue;
        }
        rbMechanism_Rates(mechanism, i, rates);
        if (block->kind == RB_ROW_SPRING) {
            block->errors(block->data, &mechanism->bodies[block->bodyA].pose,
                          &mechanism->bodies[block->bodyB].pose, errors);
        }
        for (int row = 0; row < block->rowCount; ++row) {
            if (block->kind == RB_ROW_SPRING) {
                double elongation = getElongation(mechanism, block, row, errors[row]);
                rbAddRowForce(mechanism, block, row,
                              block->stiffness * elongation + block->damping * rates[row]);
            } else if (withUnlimited || !rbIsConditionRow(mechanism, block, row)) {
                rbAddRowForce(mechanism, block, row,
                              getTravelForce(mechanism, block, row, rates[row], h));
            }
        }
    }
}
