// Frame, matrix and velocities of a contact between two bodies (L-88, L-89, L-97).
#include "base/math/matrix3.h"
#include "dynamics/impact/impact_law.h"

#include <math.h>

rbMat3 rbMakeContactFrame(rbVec3 normal)
{
    RB_ASSERT(fabs(rbLengthSquared(normal) - 1.0) < 1e-6);
    rbVec3 tangent = rbPerpendicular(normal);
    return (rbMat3){tangent, rbCross(normal, tangent), normal};
}

// 1/m E - [r] I^-1 [r], entry by entry: (r x a) . I^-1 (r x b) for axes a, b.
void rbAddToCollisionMatrix(rbSym3* k, double inverseMass, const rbSym3* inverseInertia, rbVec3 arm,
                            const rbMat3* frame)
{
    RB_ASSERT(inverseMass >= 0.0);
    rbVec3 x = rbCross(arm, frame->cx), y = rbCross(arm, frame->cy), z = rbCross(arm, frame->cz);
    rbVec3 ix = rbMulSV(*inverseInertia, x), iy = rbMulSV(*inverseInertia, y);
    rbVec3 iz = rbMulSV(*inverseInertia, z);
    k->xx += inverseMass + rbDot(x, ix);
    k->yy += inverseMass + rbDot(y, iy);
    k->zz += inverseMass + rbDot(z, iz);
    k->xy += rbDot(x, iy);
    k->xz += rbDot(x, iz);
    k->yz += rbDot(y, iz);
}

rbSym3 rbMakeCollisionMatrix(const rbImpactBody* a, const rbImpactBody* b, rbVec3 point,
                             const rbMat3* frame)
{
    RB_ASSERT(rbIsFinite3(point));
    rbSym3 k = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const rbImpactBody* bodies[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        rbAddToCollisionMatrix(&k, bodies[i]->inverseMass, &bodies[i]->inverseInertia,
                               rbSub(point, bodies[i]->center), frame);
    }
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
