#include "collision/geometry/ray_span.h"

static bool cut(rbRaySpan* span, rbRayEnd in, rbRayEnd out)
{
    span->in = in.t > span->in.t ? in : span->in;
    span->out = out.t < span->out.t ? out : span->out;
    return span->in.t <= span->out.t;
}

bool rbRaySpan_ClipSlab(rbRaySpan* span, const double line[2], const double range[2], rbVec3 axis,
                        const int features[2])
{
    RB_ASSERT(range[0] <= range[1]);
    double o = line[0], d = line[1];
    if (d == 0.0) {
        return o >= range[0] && o <= range[1];
    }
    double tLower = (range[0] - o) / d, tUpper = (range[1] - o) / d;
    rbRayEnd lower = {tLower, rbNeg(axis), features[0]};
    rbRayEnd upper = {tUpper, axis, features[1]};
    return d > 0.0 ? cut(span, lower, upper) : cut(span, upper, lower);
}

bool rbRaySpan_Clip(rbRaySpan* span, double tIn, double tOut, int feature)
{
    return cut(span, (rbRayEnd){tIn, RB_VEC3_ZERO, feature},
               (rbRayEnd){tOut, RB_VEC3_ZERO, feature});
}

bool rbRaySpan_ClipBall(rbRaySpan* span, rbVec3 o, rbVec3 d, double radius, int feature)
{
    RB_ASSERT(radius > 0.0);
    double dd = rbDot(d, d);
    double shift = dd > 0.0 ? -rbDot(o, d) / dd : 0.0;
    rbVec3 nearest = rbAddScaled(o, shift, d);
    // (r - |c|)(r + |c|) keeps the precision that r^2 - c^2 loses
    double distance = rbLength(nearest);
    double square = (radius - distance) * (radius + distance);
    if (square < 0.0) {
        return false;
    }
    double half = dd > 0.0 ? sqrt(square / dd) : (double)INFINITY;
    return rbRaySpan_Clip(span, shift - half, shift + half, feature);
}

bool rbRaySpan_GetHit(const rbRaySpan* span, const rbRay* ray, rbRayHit* hit)
{
    RB_ASSERT(span->in.t <= span->out.t);
    const rbRayEnd* end = span->in.t >= 0.0 ? &span->in : &span->out;
    if (!(end->t >= 0.0 && end->t <= ray->tMax) || !isfinite(end->t)) {
        return false;
    }
    hit->t = end->t;
    hit->normal = end->normal;
    hit->feature = end->feature;
    return true;
}
