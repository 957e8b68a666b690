// Frame, matrix and velocities of a contact between two bodies (L-88, L-89, L-97).
#include "base/math/matrix3.h"

#include <rattleback/impact.h>

#include <math.h>

rbMat3 rbMakeContactFrame(rbVec3 normal)
{
    RB_ASSERT(fabs(rbLengthSquared(normal) - 1.0) < 1e-6);
    rbVec3 tangent = rbPerpendicular(normal);
    rbMat3 frame = {tangent, rbCross(normal, tangent), normal};
    return frame;
}

// Adds 1/m E - [r] I^-1 [r] of one body, entry by entry: (r x a) . I^-1 (r x b) for axes a, b.
static void addBody(rbSym3* k, const rbImpactBody* body, rbVec3 point, const rbMat3* frame)
{
    rbVec3 r = rbSub(point, body->center);
    rbVec3 x = rbCross(r, frame->cx);
    rbVec3 y = rbCross(r, frame->cy);
    rbVec3 z = rbCross(r, frame->cz);
    rbVec3 ix = rbMulSV(body->inverseInertia, x);
    rbVec3 iy = rbMulSV(body->inverseInertia, y);
    rbVec3 iz = rbMulSV(body->inverseInertia, z);
    k->xx += body->inverseMass + rbDot(x, ix);
    k->yy += body->inverseMass + rbDot(y, iy);
    k->zz += body->inverseMass + rbDot(z, iz);
    k->xy += rbDot(x, iy);
    k->xz += rbDot(x, iz);
    k->yz += rbDot(y, iz);
}

rbSym3 rbMakeCollisionMatrix(const rbImpactBody* a, const rbImpactBody* b, rbVec3 point,
                             const rbMat3* frame)
{
    RB_ASSERT(a->inverseMass >= 0.0 && b->inverseMass >= 0.0);
    RB_ASSERT(rbIsFinite3(point));
    rbSym3 k = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    addBody(&k, a, point, frame);
    addBody(&k, b, point, frame);
    return k;
}

static rbVec3 getPointVelocity(const rbImpactBody* body, rbVec3 point)
{
    return rbAdd(body->velocity, rbCross(body->angularVelocity, rbSub(point, body->center)));
}

rbVec3 rbGetRelativeVelocity(const rbImpactBody* a, const rbImpactBody* b, rbVec3 point)
{
    return rbSub(getPointVelocity(b, point), getPointVelocity(a, point));
}

static void applyImpulse(rbImpactBody* body, rbVec3 point, rbVec3 impulse)
{
    rbVec3 torque = rbCross(rbSub(point, body->center), impulse);
    body->velocity = rbAddScaled(body->velocity, body->inverseMass, impulse);
    body->angularVelocity = rbAdd(body->angularVelocity, rbMulSV(body->inverseInertia, torque));
}

void rbApplyContactImpulse(rbImpactBody* a, rbImpactBody* b, rbVec3 point, rbVec3 impulse)
{
    RB_ASSERT(rbIsFinite3(impulse));
    applyImpulse(b, point, impulse);
    applyImpulse(a, point, rbNeg(impulse));
}

double rbGetKineticEnergy(const rbImpactBody* body)
{
    if (body->inverseMass == 0.0) {
        return 0.0;
    }
    double energy = 0.5 * rbLengthSquared(body->velocity) / body->inverseMass;
    rbVec3 momentum = RB_VEC3_ZERO;
    if (rbSym3_Solve(body->inverseInertia, body->angularVelocity, &momentum)) {
        energy += 0.5 * rbDot(body->angularVelocity, momentum);
    } else {
        // An axis about which impulses do not rotate the body contributes nothing either.
        rbEigen3 eigen = rbSym3_Diagonalize(body->inverseInertia);
        rbVec3 w = rbMulMtV(eigen.axes, body->angularVelocity);
        energy += eigen.values.x > 0.0 ? 0.5 * w.x * w.x / eigen.values.x : 0.0;
        energy += eigen.values.y > 0.0 ? 0.5 * w.y * w.y / eigen.values.y : 0.0;
        energy += eigen.values.z > 0.0 ? 0.5 * w.z * w.z / eigen.values.z : 0.0;
    }
    return energy;
}
