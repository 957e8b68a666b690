// Smooth pairs: Newton's method on the support function, certified by the rolling ball.
//
// h is minimized over the unit sphere. At u its gradient there is g = w - h u (w the support point)
// and its Hessian the tangent part of (D^2 h) - h 1, with D^2 h taken from two more support points
// at directions rotated by a small angle. Steps are bounded and must not increase h, so the method
// ends in some stationary point; the bound decides whether it is the global minimum.
//
// The bound (Blaschke). Let a ball of radius r be a summand of D: then for every support point w of
// every unit u the ball about w - r u of radius r lies in D, and the depth is at least
//   r - |w - r u| = h - |g|^2 / (2 (r - h)) - ...   for h < r.
// So one stationary point shallower than r proves itself the global minimum, without a polytope.
// An ellipsoid with semi-axes a1 >= a2 >= a3 has the summand r = a3^2 / a1, its least radius of
// curvature; sums of bodies add their radii.
#include "collision/convex/epa_polytope.h"
#include "collision/geometry/shape_ops.h"

#include <math.h>

// Angle of the difference quotients: an error of 1e-5 of the Hessian, far above rounding.
#define TURN 1e-5
#define NEWTON_STEPS 12
#define HALVINGS 4
// Largest step on the sphere, rad.
#define STEP_MAX 0.5
// After a step this small, the next one would be below rounding.
#define STEP_LAST 1e-8

static double rollingRadiusOf(const rbConvex* convex)
{
    double sum = 0.0;
    for (const rbConvex* part = convex; part != NULL; part = part->plus) {
        if (part->geometry != NULL && part->geometry->type == RB_SHAPE_ELLIPSOID) {
            rbVec3 a = rbMulEach(part->scale, part->geometry->data.ellipsoid.semiAxes);
            double least = fmin(a.x, fmin(a.y, a.z));
            sum += least * least / fmax(a.x, fmax(a.y, a.z));
        }
    }
    return sum;
}

rbEpaBalls rbEpa_GetBalls(const rbCso* cso)
{
    return (rbEpaBalls){rollingRadiusOf(cso->a), rollingRadiusOf(cso->b)};
}

rbEpaProposal rbEpa_Propose(const rbCso* cso, rbVec3 direction, double rollingRadius, int* supports)
{
    RB_ASSERT(fabs(rbLengthSquared(direction) - 1.0) < 1e-6);
    rbEpaProposal p = {.point = rbCso_Support(cso, direction, NULL), .normal = direction};
    ++*supports;
    p.height = rbDot(p.point.w, direction);
    p.lower = -INFINITY;
    if (rollingRadius > 0.0) {
        p.lower = rollingRadius - rbLength(rbAddScaled(p.point.w, -rollingRadius, direction));
    }
    return p;
}

// The Newton step in the tangent plane, or one against the gradient where h is not convex.
static rbVec3 findStep(const rbCso* cso, const rbEpaProposal* p, rbVec3 g, int* supports)
{
    rbVec3 e1 = rbPerpendicular(p->normal);
    rbVec3 e2 = rbCross(p->normal, e1);
    rbVec3 w1 = rbCso_Support(cso, rbAddScaled(p->normal, TURN, e1), NULL).w;
    rbVec3 w2 = rbCso_Support(cso, rbAddScaled(p->normal, TURN, e2), NULL).w;
    *supports += 2;
    rbVec3 d1 = rbScale(1.0 / TURN, rbSub(w1, p->point.w));
    rbVec3 d2 = rbScale(1.0 / TURN, rbSub(w2, p->point.w));
    double j11 = rbDot(e1, d1), j22 = rbDot(e2, d2);
    double j12 = 0.5 * (rbDot(e1, d2) + rbDot(e2, d1));
    double m11 = j11 - p->height, m22 = j22 - p->height;
    double det = m11 * m22 - j12 * j12;
    double g1 = rbDot(e1, g), g2 = rbDot(e2, g);
    double x1, x2;
    if (m11 + m22 > 0.0 && det > 0.0) {
        x1 = -(m22 * g1 - j12 * g2) / det;
        x2 = -(m11 * g2 - j12 * g1) / det;
    } else {
        double size = fmax(j11 + j22, 0.0) + fabs(p->height);
        x1 = size > 0.0 ? -g1 / size : 0.0;
        x2 = size > 0.0 ? -g2 / size : 0.0;
    }
    double length = sqrt(x1 * x1 + x2 * x2);
    if (!isfinite(length)) {
        return RB_VEC3_ZERO;
    }
    double shrink = length > STEP_MAX ? STEP_MAX / length : 1.0;
    return rbAddScaled(rbScale(shrink * x1, e1), shrink * x2, e2);
}

rbEpaProposal rbEpa_Descend(const rbCso* cso, rbVec3 direction, double rollingRadius, int* supports)
{
    RB_ASSERT(rollingRadius >= 0.0);
    rbEpaProposal best = rbEpa_Propose(cso, direction, rollingRadius, supports);
    double rounding = RB_EPA_GAP * cso->scale;
    for (int step = 0; step < NEWTON_STEPS && best.height >= 0.0; ++step) {
        rbVec3 g = rbAddScaled(best.point.w, -best.height, best.normal);
        if (rbLength(g) <= rounding) {
            break;
        }
        rbVec3 x = findStep(cso, &best, g, supports);
        double length = rbLength(x);
        bool hasMoved = false;
        for (int i = 0; i < HALVINGS && length > 0.0 && !hasMoved; ++i) {
            rbVec3 u = rbNormalize(rbAdd(best.normal, x));
            rbEpaProposal next = rbEpa_Propose(cso, u, rollingRadius, supports);
            hasMoved = next.height <= best.height + (length < 1e-4 ? rounding : 0.0);
            if (hasMoved) {
                best = next;
            }
            x = rbScale(0.25, x);
        }
        if (!hasMoved || length < STEP_LAST) {
            break;
        }
    }
    return best;
}
