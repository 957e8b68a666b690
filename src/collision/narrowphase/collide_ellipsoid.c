// Two ellipsoids by Newton's method on the support function of their difference.
//
// With P = diag(a^2) and Q = R diag(b^2) R', h(u) = |diag(a) u| + |diag(b) R'u| - t.u is the height
// of A - B along u, and the signed distance is minus its least value over unit vectors. At u the
// support point is w = p + q - t with p = P u / alpha, q = Q u / beta, the gradient on the sphere
// g = w - h u, and the Hessian the tangent part of
//   (P - p p') / alpha + (Q - q q') / beta - h 1.
// For separate ellipsoids, h < 0 makes it positive definite and the minimum unique.
//
// Proof. A ball of the least radius of curvature, a3^2 / a1, rolls freely inside an ellipsoid with
// semi-axes a1 >= a2 >= a3 (Blaschke), so that the ball of radius r, the sum of the two, about
// w - r u lies in A - B: -h(u) <= signed distance <= |w - r u| - r for every u. Both meet at a
// stationary point with h < r, which is then the answer; deeper ones are not decided here.
//
// P and Q themselves are used only for the step: a needle's small squares are lost in the rounding
// of the large ones, so p, q and h are computed from the semi-axes.
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/collide.h"

#include <float.h>

#define NEWTON_STEPS 16
// Largest step on the sphere, rad; a rejected step is reduced by CUT.
#define STEP_MAX 0.7
#define CUT 0.25
// Gradient, over the scale, below which the normal is as accurate as possible.
#define FLAT 1e-13
// Rounding error of h, in units of DBL_EPSILON times the scale.
#define ROUNDING_UNITS 16.0

typedef struct Symmetric {
    double xx, yy, zz, xy, xz, yz;
} Symmetric;

typedef struct Pair {
    rbVec3 axesA, axesB; // m, semi-axes
    rbMat3 rotation;     // of B
    rbVec3 translation;
    Symmetric q; // Q
    double scale;
} Pair;

// The values at a unit vector u.
typedef struct Place {
    rbVec3 u;
    rbVec3 p, q; // support points of A and of B about its center
    double alpha, beta;
    double height;   // h
    rbVec3 gradient; // g
    double slope;    // |g|^2
} Place;

static Pair makePair(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA)
{
    Pair pair = {.axesA = a->data.ellipsoid.semiAxes,
                 .axesB = b->data.ellipsoid.semiAxes,
                 .rotation = rbMatFromQuat(transformBtoA.q),
                 .translation = transformBtoA.p};
    rbVec3 s = rbMulEach(pair.axesB, pair.axesB);
    rbVec3 x = pair.rotation.cx, y = pair.rotation.cy, z = pair.rotation.cz;
    pair.q = (Symmetric){.xx = s.x * x.x * x.x + s.y * y.x * y.x + s.z * z.x * z.x,
                         .yy = s.x * x.y * x.y + s.y * y.y * y.y + s.z * z.y * z.y,
                         .zz = s.x * x.z * x.z + s.y * y.z * y.z + s.z * z.z * z.z,
                         .xy = s.x * x.x * x.y + s.y * y.x * y.y + s.z * z.x * z.y,
                         .xz = s.x * x.x * x.z + s.y * y.x * y.z + s.z * z.x * z.z,
                         .yz = s.x * x.y * x.z + s.y * y.y * y.z + s.z * z.y * z.z};
    pair.scale = a->radius + b->radius + rbLength(transformBtoA.p);
    return pair;
}

static void visit(const Pair* pair, rbVec3 u, Place* place)
{
    rbVec3 a = rbMulEach(pair->axesA, u);
    rbVec3 b = rbMulEach(pair->axesB, rbMulMtV(pair->rotation, u));
    double alpha = rbLength(a);
    double beta = rbLength(b);
    place->u = u;
    place->alpha = alpha;
    place->beta = beta;
    place->p = rbScale(1.0 / alpha, rbMulEach(pair->axesA, a));
    place->q = rbScale(1.0 / beta, rbMulMV(pair->rotation, rbMulEach(pair->axesB, b)));
    place->height = alpha + beta - rbDot(pair->translation, u);
    rbVec3 w = rbSub(rbAdd(place->p, place->q), pair->translation);
    rbVec3 g = rbAddScaled(w, -rbDot(w, u), u);
    place->gradient = g;
    place->slope = rbLengthSquared(g);
}

// The Newton step; one against the gradient where the Hessian is not positive definite.
static rbVec3 findStep(const Pair* pair, const Place* at)
{
    double alpha = 1.0 / at->alpha, beta = 1.0 / at->beta;
    rbVec3 u = at->u, p = at->p, q = at->q, g = at->gradient;
    rbVec3 s = rbMulEach(pair->axesA, pair->axesA);
    const Symmetric* m = &pair->q;
    // The direction u itself gets the mean curvature, so that the matrix can be inverted.
    double mean = 0.5 * (alpha * (s.x + s.y + s.z) + beta * (m->xx + m->yy + m->zz));
    double own = at->height + mean;
    double xx =
        alpha * (s.x - p.x * p.x) + beta * (m->xx - q.x * q.x) - at->height + own * u.x * u.x;
    double yy =
        alpha * (s.y - p.y * p.y) + beta * (m->yy - q.y * q.y) - at->height + own * u.y * u.y;
    double zz =
        alpha * (s.z - p.z * p.z) + beta * (m->zz - q.z * q.z) - at->height + own * u.z * u.z;
    double xy = beta * (m->xy - q.x * q.y) - alpha * p.x * p.y + own * u.x * u.y;
    double xz = beta * (m->xz - q.x * q.z) - alpha * p.x * p.z + own * u.x * u.z;
    double yz = beta * (m->yz - q.y * q.z) - alpha * p.y * p.z + own * u.y * u.z;
    // by cofactors
    rbVec3 c0 = {yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy};
    double det = xx * c0.x + xy * c0.y + xz * c0.z;
    double minor = xx * yy - xy * xy;
    rbVec3 step;
    if (det > 0.0 && minor > 0.0 && xx > 0.0) {
        rbVec3 c1 = {c0.y, xx * zz - xz * xz, xy * xz - xx * yz};
        rbVec3 c2 = {c0.z, c1.z, minor};
        double inverse = -1.0 / det;
        step = rbScale(inverse, rbMakeVec3(rbDot(c0, g), rbDot(c1, g), rbDot(c2, g)));
        step = rbAddScaled(step, -rbDot(step, u), u);
    } else {
        step = rbScale(-1.0 / (mean + fabs(at->height)), g);
    }
    double square = rbLengthSquared(step);
    return square > STEP_MAX * STEP_MAX ? rbScale(STEP_MAX / sqrt(square), step) : step;
}

static rbVec3 unitOf(rbVec3 u, rbVec3 step)
{
    rbVec3 sum = rbAdd(u, step);
    return rbScale(1.0 / rbLength(sum), sum);
}

// Descends from a unit vector; false if the steps run out.
static bool descend(const Pair* pair, rbVec3 start, Place* best, int* iterations)
{
    double rounding = ROUNDING_UNITS * DBL_EPSILON * pair->scale;
    double flat = FLAT * pair->scale;
    visit(pair, start, best);
    rbVec3 step = RB_VEC3_ZERO;
    bool isFresh = false; // the step is valid at this point
    for (int i = 1; i <= NEWTON_STEPS; ++i) {
        if (best->slope <= flat * flat) {
            return true;
        }
        step = isFresh ? rbScale(CUT, step) : findStep(pair, best);
        Place next;
        visit(pair, unitOf(best->u, step), &next);
        ++*iterations;
        isFresh = !(next.height <= best->height);
        if (!isFresh) {
            *best = next;
        } else if (next.height <= best->height + rounding) {
            // at the minimum, h is flat to rounding, but the gradient still discriminates
            *best = next.slope < best->slope ? next : *best;
            return true;
        }
    }
    return false;
}

// Least radius of curvature.
static double rollingRadius(rbVec3 axes)
{
    double least = fmin(axes.x, fmin(axes.y, axes.z));
    return least * least / fmax(axes.x, fmax(axes.y, axes.z));
}

bool rbCollideEllipsoids(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                         rbVec3 start, rbSeparation* separation)
{
    RB_ASSERT(a->type == RB_SHAPE_ELLIPSOID && b->type == RB_SHAPE_ELLIPSOID);
    Pair pair = makePair(a, b, transformBtoA);
    double length = rbLength(start);
    if (!(length > 1e-100 && length < 1e100)) {
        return false;
    }
    Place at;
    int iterations = 0;
    bool hasEnded = descend(&pair, rbScale(1.0 / length, start), &at, &iterations);
    double r = rollingRadius(pair.axesA) + rollingRadius(pair.axesB);
    double rounding = ROUNDING_UNITS * DBL_EPSILON * pair.scale;
    // sqrt((r - h)^2 + g^2) - r, the upper bound, is -h plus the uncertainty due to the gradient
    double reach = r - at.height;
    double open = reach > 0.0 ? at.slope / (reach + sqrt(reach * reach + at.slope)) : INFINITY;
    if (!hasEnded || !(open <= rounding)) {
        return false;
    }
    *separation = (rbSeparation){.distance = -at.height,
                                 .lower = -at.height - rounding,
                                 .upper = -at.height + open + rounding,
                                 .pointA = at.p,
                                 .pointB = rbSub(pair.translation, at.q),
                                 .normal = at.u,
                                 .iterations = iterations,
                                 .reason = RB_STOP_CONVERGED};
    return true;
}
