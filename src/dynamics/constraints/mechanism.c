// Poses, rates and impulses of a mechanism.
#include "dynamics/constraints/mechanism.h"

#include "base/math/elementary.h"
#include "base/math/matrix3.h"

rbRowSystem rbMechanism_GetSystem(const rbMechanism* mechanism)
{
    return (rbRowSystem){.bodyCount = mechanism->bodyCount,
                         .masses = mechanism->masses,
                         .blockCount = mechanism->blockCount,
                         .blocks = mechanism->blocks,
                         .rowCount = mechanism->rowCount,
                         .rows = mechanism->rows,
                         .compliance = mechanism->compliance};
}

// s + f a a^T
static inline void addSquare(rbSym3* s, double f, rbVec3 a)
{
    s->xx += f * a.x * a.x;
    s->yy += f * a.y * a.y;
    s->zz += f * a.z * a.z;
    s->xy += f * a.x * a.y;
    s->xz += f * a.x * a.z;
    s->yz += f * a.y * a.z;
}

static void refreshMass(const rbMechBody* body, rbRowMass* mass)
{
    const rbTurn* turn = &body->turn;
    rbSym3 inverse = {turn->invMoment, turn->invMoment, turn->invMoment, 0.0, 0.0, 0.0};
    if (turn->difference3 != 0.0) {
        addSquare(&inverse, turn->difference3, rbMat3_GetColumn(body->pose.rotation, turn->axis3));
    }
    if (turn->difference2 != 0.0) {
        addSquare(&inverse, turn->difference2, rbMat3_GetColumn(body->pose.rotation, turn->axis2));
    }
    mass->invMass = body->invMass;
    mass->invInertia = inverse;
}

void rbMechanism_Refresh(rbMechanism* mechanism)
{
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        if (mechanism->masses[i].isDynamic) {
            refreshMass(&mechanism->bodies[i], &mechanism->masses[i]);
        }
    }
    for (int i = 0; i < mechanism->blockCount; ++i) {
        const rbRowBlock* block = &mechanism->blocks[i];
        block->rows(block->data, &mechanism->bodies[block->bodyA].pose,
                    &mechanism->bodies[block->bodyB].pose, &mechanism->rows[block->firstRow]);
    }
}

rbVec3 rbMechBody_GetSpin(const rbMechBody* body, const rbRowMass* mass)
{
    return body->isDynamic ? rbMulSV(mass->invInertia, body->momentum) : body->angularVelocity;
}

void rbMechBody_LookAhead(rbMechBody* body, double h)
{
    RB_ASSERT(body->isDynamic && h >= 0.0);
    body->ahead.position = rbAddScaled(body->pose.position, h, body->velocity);
    body->ahead.orientation = rbTurn_Step(&body->turn, body->pose.orientation, body->momentum, h);
    body->ahead.rotation = rbMatFromQuat(body->ahead.orientation);
}

void rbMechanism_LookAhead(rbMechanism* mechanism, double h)
{
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        if (mechanism->bodies[i].isDynamic) {
            rbMechBody_LookAhead(&mechanism->bodies[i], h);
        }
    }
}

void rbMechanism_ErrorsAhead(const rbMechanism* mechanism, int index, double* errors)
{
    RB_ASSERT(index >= 0 && index < mechanism->blockCount);
    const rbRowBlock* block = &mechanism->blocks[index];
    block->errors(block->data, &mechanism->bodies[block->bodyA].ahead,
                  &mechanism->bodies[block->bodyB].ahead, errors);
    const double* start = &mechanism->startErrors[block->firstRow];
    if (block->kind == RB_ROW_HOLD) {
        for (int i = 0; mechanism->leftover > 0.0 && i < block->rowCount; ++i) {
            errors[i] -= mechanism->leftover * start[i];
        }
        return;
    }
    // Continued from the start of the step; SPRING rows from the rest position.
    double rates[RB_BLOCK_ROWS_MAX] = {0.0};
    if (block->isFar) {
        rbMechanism_Rates(mechanism, index, rates);
    }
    for (int i = 0; i < block->rowCount; ++i) {
        double change = errors[i] - start[i];
        bool isAngle = ((block->angleMask >> i) & 1u) != 0;
        // The turn nearest to the requested travel, unless a motor is too weak for that.
        double turn = block->kind == RB_ROW_TRAVEL ? mechanism->speeds[block->firstRow + i] : 0.0;
        bool isWeak = block->isFar && fabs(rates[i] - turn) * mechanism->duration > 0.5 * RB_PI;
        turn = mechanism->duration * (isWeak ? rates[i] : turn);
        change = isAngle ? turn + rbWrapAngle(change - turn) : change;
        errors[i] = block->kind == RB_ROW_TRAVEL ? change : start[i] + change - block->rest;
    }
}

void rbMechanism_Rates(const rbMechanism* mechanism, int index, double* rates)
{
    RB_ASSERT(index >= 0 && index < mechanism->blockCount);
    const rbRowBlock* block = &mechanism->blocks[index];
    const rbMechBody* bodyA = &mechanism->bodies[block->bodyA];
    const rbMechBody* bodyB = &mechanism->bodies[block->bodyB];
    rbVec3 v = rbSub(bodyB->velocity, bodyA->velocity);
    rbVec3 wA = rbMechBody_GetSpin(bodyA, &mechanism->masses[block->bodyA]);
    rbVec3 wB = rbMechBody_GetSpin(bodyB, &mechanism->masses[block->bodyB]);
    for (int i = 0; i < block->rowCount; ++i) {
        const rbRow* row = &mechanism->rows[block->firstRow + i];
        rates[i] = rbDot(row->linear, v) + rbDot(row->angularB, wB) - rbDot(row->angularA, wA);
    }
}

double rbMechanism_GetResponse(const rbMechanism* mechanism, const rbRowBlock* block, int row)
{
    const rbRow* r = &mechanism->rows[row];
    return rbCoupleRows(&mechanism->masses[block->bodyA], r, 1.0, r, 1.0) +
           rbCoupleRows(&mechanism->masses[block->bodyB], r, -1.0, r, -1.0);
}

void rbMechanism_Apply(rbMechanism* mechanism, int index, const double* x)
{
    RB_ASSERT(index >= 0 && index < mechanism->blockCount);
    const rbRowBlock* block = &mechanism->blocks[index];
    rbVec3 p = RB_VEC3_ZERO, lA = RB_VEC3_ZERO, lB = RB_VEC3_ZERO;
    for (int i = 0; i < block->rowCount; ++i) {
        const rbRow* row = &mechanism->rows[block->firstRow + i];
        p = rbAddScaled(p, x[i], row->linear);
        lA = rbAddScaled(lA, x[i], row->angularA);
        lB = rbAddScaled(lB, x[i], row->angularB);
    }
    rbMechBody* bodyA = &mechanism->bodies[block->bodyA];
    rbMechBody* bodyB = &mechanism->bodies[block->bodyB];
    if (bodyA->isDynamic) {
        bodyA->velocity = rbAddScaled(bodyA->velocity, bodyA->invMass, p);
        bodyA->momentum = rbAdd(bodyA->momentum, lA);
    }
    if (bodyB->isDynamic) {
        bodyB->velocity = rbAddScaled(bodyB->velocity, -bodyB->invMass, p);
        bodyB->momentum = rbSub(bodyB->momentum, lB);
    }
}
