// Vectors two at a time, and closest points of edges two pairs at a time. Plain operations in each
// lane: the same bits on every machine.
#pragma once

#include "base/core/lanes.h"
#include "collision/geometry/closest.h"

// Squares (m^2) up to this count as zero: their reciprocals would overflow.
#define RB_SQUARE_MIN 1e-290

typedef struct rbLanes3 {
    rbLanePair x, y, z;
} rbLanes3;

// Two edges, points start + s along, s in [0, 1].
typedef struct rbEdgeLanes {
    rbLanes3 start, along;
    rbLanePair inverse; // 1 / |along|^2, 0 for no length
} rbEdgeLanes;

// The best pair of edges so far in each lane.
typedef struct rbEdgeBest {
    rbLanePair squared;
    rbLanePair s, t; // parameters on the first and the second edge, in [0, 1]
    rbLaneMask code; // the caller's number of the pair
} rbEdgeBest;

static inline rbLanePair rbClampUnit(rbLanePair x)
{
    return rbLanePair_Min(rbLanePair_Max(x, rbLanePair_Both(0.0)), rbLanePair_Both(1.0));
}

static inline rbLanePair rbSwapped(rbLanePair a)
{
    return (rbLanePair){a[1], a[0]};
}

static inline rbLanes3 rbSwap3(rbLanes3 a)
{
    return (rbLanes3){rbSwapped(a.x), rbSwapped(a.y), rbSwapped(a.z)};
}

static inline rbLanes3 rbJoin3(rbVec3 a, rbVec3 b)
{
    return (rbLanes3){{a.x, b.x}, {a.y, b.y}, {a.z, b.z}};
}

static inline rbLanes3 rbSub3(rbLanes3 a, rbLanes3 b)
{
    return (rbLanes3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline rbLanes3 rbAdd3(rbLanes3 a, rbLanes3 b)
{
    return (rbLanes3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline rbLanes3 rbAddScaled3(rbLanes3 a, rbLanePair s, rbLanes3 b)
{
    return (rbLanes3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline rbLanePair rbDot3(rbLanes3 a, rbLanes3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline rbLanes3 rbCross3(rbLanes3 a, rbLanes3 b)
{
    return (rbLanes3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// 1 / x, or 0 for zero: a parameter along an edge without length is then 0.
static inline rbLanePair rbReciprocal(rbLanePair x)
{
    rbLaneMask isSafe = x > rbLanePair_Both(RB_SQUARE_MIN);
    rbLanePair r = rbLanePair_Both(1.0) / rbLanePair_Choose(isSafe, x, rbLanePair_Both(1.0));
    return rbLanePair_Choose(isSafe, r, rbLanePair_Both(0.0));
}

// Edges p + s u and q + t v, w = q - p. On the lines
//   s = (w x v).(u x v) / |u x v|^2,
// then the best t for that s and the best s for that t, each clamped to [0, 1]: two clamps suffice.
// The products u.u v.v - (u.v)^2 would lose s where the edges are nearly parallel; the cross
// products keep it to rounding over the sine of the angle, which changes the distance by rounding.
// Parallel edges may start from any s.
static inline void rbPassEdges(const rbEdgeLanes* a, const rbEdgeLanes* b, rbLaneMask code,
                               rbEdgeBest* best)
{
    rbLanes3 u = a->along, v = b->along;
    rbLanes3 w = rbSub3(b->start, a->start);
    rbLanePair uv = rbDot3(u, v), uw = rbDot3(u, w);
    rbLanePair uAlong = uv * b->inverse;
    rbLanePair wAlong = rbDot3(v, w) * b->inverse;
    rbLanes3 across = rbCross3(u, v);
    rbLanePair s =
        rbClampUnit(rbDot3(rbCross3(w, v), across) * rbReciprocal(rbDot3(across, across)));
    rbLanePair t = rbClampUnit(s * uAlong - wAlong);
    s = rbClampUnit((t * uv + uw) * a->inverse);
    rbLanes3 difference = rbAddScaled3(rbAddScaled3(w, t, v), -s, u);
    rbLanePair squared = rbDot3(difference, difference);
    rbLaneMask isBetter = squared < best->squared;
    best->squared = rbLanePair_Choose(isBetter, squared, best->squared);
    best->s = rbLanePair_Choose(isBetter, s, best->s);
    best->t = rbLanePair_Choose(isBetter, t, best->t);
    best->code = (isBetter & code) | (~isBetter & best->code);
}

// The point at s in [0, 1] of an edge of a closed polygon. At a corner it equals that corner to the
// bit. Without branches: the case is unpredictable.
static inline rbVec3 rbPointOnEdge(const rbVec3* corners, int edge, int count, double s,
                                   rbFigurePart* part)
{
    int next = edge + 1 == count ? 0 : edge + 1;
    rbVec3 along = rbSub(corners[next], corners[edge]);
    int start = s == 1.0 ? next : edge;
    double rest = s == 1.0 ? 0.0 : s;
    part->kind = rest == 0.0 ? RB_FIGURE_VERTEX : RB_FIGURE_EDGE;
    part->index = start;
    return rbAddScaled(corners[start], rest, along);
}
