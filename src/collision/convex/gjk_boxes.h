// Warm-started GJK for boxes, segments and points, inline: one support confirms the cached simplex.
//
// Nearly all queries of slowly moving bodies end this way: 99 of 100 where they rotate 0.01 rad
// from query to query. It needs no search and hence none of its bookkeeping, and, with corners at
// +- extents, not the support point but only its height: 60 % of the time of the search for the
// same answer. Exceptional cases are left to the search. Most of the time is spent on instructions,
// not on waiting for square roots and divisions: hence the lanes.
#pragma once

#include "base/core/lanes.h"
#include "collision/convex/gjk.h"

#include <float.h>
#include <limits.h>
#include <math.h>

// Vectors as two lanes and a scalar. The same sums and products in the same order as those of
// rbVec3, hence the same bits except for the sign of zeros in cross products; two thirds of the
// operations, and two registers per vector, which matters where a dozen of them are alive.
typedef struct rbLaneVec {
    rbLanePair xy;
    double z;
} rbLaneVec;

static inline rbLaneVec rbLaneVec_Make(rbVec3 v)
{
    return (rbLaneVec){{v.x, v.y}, v.z};
}

static inline rbVec3 rbLaneVec_Get(rbLaneVec v)
{
    return rbMakeVec3(v.xy[0], v.xy[1], v.z);
}

static inline rbLaneVec rbLaneVec_Add(rbLaneVec a, rbLaneVec b)
{
    return (rbLaneVec){a.xy + b.xy, a.z + b.z};
}

static inline rbLaneVec rbLaneVec_Sub(rbLaneVec a, rbLaneVec b)
{
    return (rbLaneVec){a.xy - b.xy, a.z - b.z};
}

static inline rbLaneVec rbLaneVec_Scale(double s, rbLaneVec a)
{
    return (rbLaneVec){s * a.xy, s * a.z};
}

// a + s b
static inline rbLaneVec rbLaneVec_AddScaled(rbLaneVec a, double s, rbLaneVec b)
{
    return (rbLaneVec){a.xy + s * b.xy, a.z + s * b.z};
}

static inline rbLaneVec rbLaneVec_Abs(rbLaneVec a)
{
    return (rbLaneVec){{fabs(a.xy[0]), fabs(a.xy[1])}, fabs(a.z)};
}

static inline double rbLaneVec_Dot(rbLaneVec a, rbLaneVec b)
{
    rbLanePair products = a.xy * b.xy;
    return products[0] + products[1] + a.z * b.z;
}

static inline double rbLaneVec_LengthSquared(rbLaneVec a)
{
    return rbLaneVec_Dot(a, a);
}

static inline rbLaneVec rbLaneVec_Cross(rbLaneVec a, rbLaneVec b)
{
    rbLanePair turned = a.xy * b.z - a.z * b.xy; // (-y, x) of the product
    return (rbLaneVec){{turned[1], -turned[0]}, a.xy[0] * b.xy[1] - a.xy[1] * b.xy[0]};
}

// The columns of a matrix.
typedef struct rbLaneMat {
    rbLaneVec cx, cy, cz;
} rbLaneMat;

static inline rbLaneMat rbLaneMat_Make(rbMat3 m)
{
    return (rbLaneMat){rbLaneVec_Make(m.cx), rbLaneVec_Make(m.cy), rbLaneVec_Make(m.cz)};
}

static inline rbLaneVec rbLaneMat_Mul(rbLaneMat m, rbLaneVec v)
{
    rbLaneVec sum = rbLaneVec_AddScaled(rbLaneVec_Scale(v.xy[0], m.cx), v.xy[1], m.cy);
    return rbLaneVec_AddScaled(sum, v.z, m.cz);
}

// Transpose times vector.
static inline rbLaneVec rbLaneMat_MulTransposed(rbLaneMat m, rbLaneVec v)
{
    return (rbLaneVec){{rbLaneVec_Dot(m.cx, v), rbLaneVec_Dot(m.cy, v)}, rbLaneVec_Dot(m.cz, v)};
}

// Two plain cores with corners at +- extents, B in the frame of A.
typedef struct rbGjkBoxes {
    rbLaneVec extentsA, extentsB; // m
    rbLaneMat rotation;
    rbLaneVec translation; // m
    double scale;          // m, as of rbCso
} rbGjkBoxes;

// A point of the difference: rbCsoPoint in lanes.
typedef struct rbCornerPair {
    rbLaneVec w, a, b;
    int vertexA, vertexB;
} rbCornerPair;

// The point of a simplex nearest to the origin, and the corresponding points of the bodies.
typedef struct rbWarmStart {
    rbLaneVec v;
    double lengthSquared;
    rbLaneVec a, b;
} rbWarmStart;

// Bit i of the index is the sign of component i.
static inline rbLaneVec rbPlaceCorner(rbLaneVec extents, int vertex)
{
    static const rbLaneMask signs[4] = {
        {LLONG_MIN, LLONG_MIN}, {0, LLONG_MIN}, {LLONG_MIN, 0}, {0, 0}};
    return (rbLaneVec){(rbLanePair)((rbLaneMask)extents.xy ^ signs[vertex & 3]),
                       (vertex & 4) != 0 ? extents.z : -extents.z};
}

// Point i of the cache at the current poses of the boxes.
static inline rbCornerPair rbPlaceCached(const rbGjkBoxes* pair, const rbGjkCache* cache, int i)
{
    rbCornerPair point;
    point.vertexA = cache->vertexA[i];
    point.vertexB = cache->vertexB[i];
    point.a = rbPlaceCorner(pair->extentsA, point.vertexA);
    rbLaneVec onB = rbPlaceCorner(pair->extentsB, point.vertexB);
    point.b = rbLaneVec_Add(rbLaneMat_Mul(pair->rotation, onB), pair->translation);
    point.w = rbLaneVec_Sub(point.a, point.b);
    return point;
}

static inline void rbStoreCorners(const rbCornerPair* point, double weight, int i,
                                  rbGjkResult* result)
{
    result->simplex[i] = (rbCsoPoint){rbLaneVec_Get(point->w), rbLaneVec_Get(point->a),
                                      rbLaneVec_Get(point->b), point->vertexA, point->vertexB};
    result->weights[i] = weight;
}

// Least w.v of all w of the difference. The rounding error is less than 6 units of DBL_EPSILON |v|
// scale: 2 for the reach of A, 5 for that of B with the rotation, 2 for the product with the
// translation, each relative to its part of the scale, and 1 for the sums.
static inline double rbFindLowest(const rbGjkBoxes* pair, rbLaneVec v)
{
    rbLaneVec inB = rbLaneMat_MulTransposed(pair->rotation, v);
    double reach = rbLaneVec_Dot(pair->extentsA, rbLaneVec_Abs(v)) +
                   rbLaneVec_Dot(pair->extentsB, rbLaneVec_Abs(inB));
    return -rbLaneVec_Dot(pair->translation, v) - reach;
}

// The result if one support proves it, without simplex and weights. The conditions are those of a
// search that ends by CONVERGED after its first support, with a normal and witnesses that need no
// refinement.
static inline bool rbConcludeBoxes(const rbGjkBoxes* pair, const rbGjkSettings* settings,
                                   const rbWarmStart* start, rbGjkResult* result)
{
    double rounding = RB_GJK_ROUNDING * pair->scale;
    double length = sqrt(start->lengthSquared);
    double inverse = 1.0 / length;
    double plane = rbFindLowest(pair, start->v) * inverse;
    double reached = sqrt(rbLaneVec_LengthSquared(rbLaneVec_Sub(start->a, start->b)));
    double gapMax = fmax(settings->relativeTolerance * length, rounding);
    double widthMax = fmax(settings->relativeTolerance * reached, 2.0 * rounding);
    result->iterations = 1;
    result->reason = RB_STOP_CONVERGED;
    result->overlaps = false;
    result->a = rbLaneVec_Get(start->a);
    result->b = rbLaneVec_Get(start->b);
    result->upper = reached + rounding;
    result->lower = plane - rounding;
    result->normal = rbLaneVec_Get(rbLaneVec_Scale(-inverse, start->v));
    return length > fmax(settings->distanceMin, rounding) && length > gapMax && plane > rounding &&
           plane <= settings->distanceMax && length - plane <= gapMax &&
           reached - plane <= widthMax && inverse * pair->scale < RB_GJK_NEAR;
}

static inline bool rbConfirmEdge(const rbGjkBoxes* pair, const rbGjkSettings* settings,
                                 const rbGjkCache* cache, rbGjkResult* result)
{
    rbCornerPair p = rbPlaceCached(pair, cache, 0), q = rbPlaceCached(pair, cache, 1);
    rbLaneVec e = rbLaneVec_Sub(q.w, p.w);
    double ee = rbLaneVec_LengthSquared(e);
    double t = -rbLaneVec_Dot(p.w, e);
    if (!(t > 0.0 && t < ee)) {
        return false;
    }
    rbLaneVec c = rbLaneVec_Cross(e, p.w);
    double inverse = 1.0 / ee;
    double wq = t * inverse;
    double wp = 1.0 - wq;
    rbWarmStart start = {.v = rbLaneVec_Scale(inverse, rbLaneVec_Cross(c, e)),
                         .lengthSquared = rbLaneVec_LengthSquared(c) * inverse,
                         .a = rbLaneVec_AddScaled(rbLaneVec_Scale(wp, p.a), wq, q.a),
                         .b = rbLaneVec_AddScaled(rbLaneVec_Scale(wp, p.b), wq, q.b)};
    result->simplexCount = 2;
    rbStoreCorners(&p, wp, 0, result);
    rbStoreCorners(&q, wq, 1, result);
    return rbConcludeBoxes(pair, settings, &start, result);
}

// The arithmetic of a face as in rbFindNearest; needles are left to the search.
static inline bool rbConfirmFace(const rbGjkBoxes* pair, const rbGjkSettings* settings,
                                 const rbGjkCache* cache, rbGjkResult* result)
{
    rbCornerPair p = rbPlaceCached(pair, cache, 0), q = rbPlaceCached(pair, cache, 1);
    rbCornerPair r = rbPlaceCached(pair, cache, 2);
    rbLaneVec pq = rbLaneVec_Sub(q.w, p.w), pr = rbLaneVec_Sub(r.w, p.w);
    rbLaneVec n = rbLaneVec_Cross(pq, pr);
    double nn = rbLaneVec_LengthSquared(n);
    rbLaneVec pn = rbLaneVec_Cross(p.w, n);
    double wq = rbLaneVec_Dot(pr, pn);
    double wr = -rbLaneVec_Dot(pq, pn);
    double wp = nn - wq - wr;
    if (!(wp > 0.0 && wq > 0.0 && wr > 0.0 && nn >= DBL_MIN &&
          nn > RB_NEEDLE * rbLaneVec_LengthSquared(pq) * rbLaneVec_LengthSquared(pr))) {
        return false;
    }
    double inverse = 1.0 / nn;
    double height = rbLaneVec_Dot(n, p.w) * inverse;
    wp *= inverse;
    wq *= inverse;
    wr *= inverse;
    rbLaneVec a = rbLaneVec_AddScaled(rbLaneVec_Scale(wp, p.a), wq, q.a);
    rbLaneVec b = rbLaneVec_AddScaled(rbLaneVec_Scale(wp, p.b), wq, q.b);
    rbWarmStart start = {.v = rbLaneVec_Scale(height, n),
                         .lengthSquared = height * height * nn,
                         .a = rbLaneVec_AddScaled(a, wr, r.a),
                         .b = rbLaneVec_AddScaled(b, wr, r.b)};
    result->simplexCount = 3;
    rbStoreCorners(&p, wp, 0, result);
    rbStoreCorners(&q, wq, 1, result);
    rbStoreCorners(&r, wr, 2, result);
    return rbConcludeBoxes(pair, settings, &start, result);
}

// The result of rbGjk_Solve, if the edge or face of the cache is still the nearest feature and one
// support proves it. False: the result is undefined and the cache unchanged.
static inline bool rbGjk_ConfirmBoxes(const rbGjkBoxes* pair, const rbGjkSettings* settings,
                                      rbGjkCache* cache, rbGjkResult* result)
{
    RB_ASSERT(settings->iterationMax > 0);
    const int* a = cache->vertexA;
    const int* b = cache->vertexB;
    bool isConfirmed = false;
    if (cache->count == 3 && (unsigned)(a[0] | a[1] | a[2] | b[0] | b[1] | b[2]) < 8) {
        isConfirmed = rbConfirmFace(pair, settings, cache, result);
    } else if (cache->count == 2 && (unsigned)(a[0] | a[1] | b[0] | b[1]) < 8) {
        isConfirmed = rbConfirmEdge(pair, settings, cache, result);
    }
    if (isConfirmed) {
        cache->direction = result->normal; // the points stay
        RB_ASSERT(result->lower <= result->upper);
        RB_ASSERT(rbIsFinite3(result->normal));
    }
    return isConfirmed;
}
