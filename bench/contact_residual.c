// The residual of contacts, see contact_residual.h. It shares no code with the solvers: velocities
// are computed anew, and the error of a point is the change that one more impulse at it alone would
// make.
#include "contact_residual.h"

#include "base/core/memory.h"

#include <math.h>

static rbVec3 speedAt(const rbContactBody* body, rbVec3 arm)
{
    return rbAdd(body->velocity, rbCross(body->spin, arm));
}

// Mobility of a point along a direction, 1/kg.
static double mobilityOf(const rbContactBody* body, rbVec3 arm, rbVec3 direction)
{
    rbVec3 turn = rbCross(arm, direction);
    return body->invMass + rbDot(turn, rbMulSV(body->invInertia, turn));
}

static void push(rbContactBody* body, rbVec3 arm, rbVec3 impulse)
{
    body->velocity = rbAddScaled(body->velocity, body->invMass, impulse);
    body->spin = rbAdd(body->spin, rbMulSV(body->invInertia, rbCross(arm, impulse)));
}

static void measurePoint(const rbContact* contact, const rbContactPoint* point,
                         const rbContactBody* a, const rbContactBody* b, rbContactResidual* r)
{
    double k[3];
    double u[3];
    const rbVec3 axes[3] = {contact->normal, contact->tangents[0], contact->tangents[1]};
    rbVec3 speed = rbSub(speedAt(b, point->armB), speedAt(a, point->armA));
    for (int i = 0; i < 3; ++i) {
        k[i] = mobilityOf(a, point->armA, axes[i]) + mobilityOf(b, point->armB, axes[i]);
        u[i] = rbDot(speed, axes[i]) - (i == 0 ? point->target : 0.0);
    }
    const double* x = point->impulse;
    r->normal = fmax(r->normal, u[0] < 0.0 ? -u[0] : fmin(u[0], k[0] * x[0]));
    // the sum of both mobilities bounds the largest of all directions
    double most = k[1] + k[2];
    double t[2] = {x[1] - u[1] / most, x[2] - u[2] / most};
    double radius = contact->friction * fmax(0.0, x[0]);
    double length = hypot(t[0], t[1]);
    double scale = length > radius ? radius / length : 1.0;
    r->tangent = fmax(r->tangent, most * hypot(scale * t[0] - x[1], scale * t[1] - x[2]));
    r->cone = fmax(r->cone, fmax(-x[0], hypot(x[1], x[2]) - radius) * most);
}

rbContactResidual rbMeasureContacts(const rbContactSet* set, const rbContactBody* starts,
                                    const rbContactBody* bodies, int bodyCount)
{
    rbContactResidual r = {0};
    rbContactBody* made = rbAlloc((size_t)bodyCount * sizeof *made);
    for (int i = 0; i < bodyCount; ++i) {
        made[i] = starts[i];
    }
    for (int i = 0; i < set->contactCount; ++i) {
        const rbContact* contact = &set->contacts[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &set->points[k];
            rbVec3 impulse = rbScale(point->impulse[0], contact->normal);
            impulse = rbAddScaled(impulse, point->impulse[1], contact->tangents[0]);
            impulse = rbAddScaled(impulse, point->impulse[2], contact->tangents[1]);
            measurePoint(contact, point, &bodies[contact->bodyA], &bodies[contact->bodyB], &r);
            push(&made[contact->bodyA], point->armA, rbNeg(impulse));
            push(&made[contact->bodyB], point->armB, impulse);
        }
    }
    for (int i = 0; i < bodyCount; ++i) {
        r.balance = fmax(r.balance, rbDistance(made[i].velocity, bodies[i].velocity));
        r.balance = fmax(r.balance, rbDistance(made[i].spin, bodies[i].spin));
    }
    rbFree(made, (size_t)bodyCount * sizeof *made);
    return r;
}
