// The translations that keep a pair of convex pieces separated by a plane are a half space. Near a
// translation s that separates the bodies, those of all pairs of pieces within reach form a convex
// polyhedron that contains s; inside it and within reach of s the bodies stay separate, because
// pairs beyond the reach cannot meet. Its point nearest to the origin is the next s. The lengths
// decrease, and where they stop, s is a nonnegative sum of normals of contacts: a local minimum.
#include "collision/narrowphase/mesh_depth.h"

#include "base/core/status.h"
#include "collision/geometry/closest.h"

#include <float.h>
#include <math.h>

// Steps of a descent.
#define STEP_MAX 100
// The first reach, relative to the length, and the next ones, relative to the distance kept.
#define FIRST_REACH 0.05
#define NEXT_REACH 1e3
// The distance kept between the bodies, so that nearest points have a direction: at first a part of
// the gap. Where a step gains less than a part of it, it decreases, down to a fraction of the size.
#define FIRST_KEEP 0.5
#define KEPT_GAIN 0.1
#define KEEP_RATIO 0.1
#define KEEP 1e-10
// Violation of a half space that is rounding, relative to the size.
#define VIOLATION 2e-12
// Exchanges of planes until the nearest point of a polyhedron is found.
#define EXCHANGE_MAX 64
// Positions keep the digits above this fraction of the size, times the rounding of 1.
#define COARSE 8192.0
// Edges at an angle below this count as parallel.
#define PARALLEL 1e-8

// --------------------------------------------------------------------------------- nearest point

// The point nearest to the origin on up to three planes. False if they are parallel, or if it is
// not the nearest point of the half spaces.
static bool solvePlanes(const rbHalfSpace* p, int count, rbVec3* x)
{
    if (count == 1) {
        *x = rbScale(p[0].offset, p[0].normal);
        return p[0].offset >= 0.0;
    }
    rbVec3 cross = rbCross(p[0].normal, p[1].normal);
    double det = rbLengthSquared(cross);
    if (count == 2) {
        double cosine = rbDot(p[0].normal, p[1].normal);
        double u = p[0].offset - cosine * p[1].offset, v = p[1].offset - cosine * p[0].offset;
        *x = rbScale(1.0 / det, rbAdd(rbScale(u, p[0].normal), rbScale(v, p[1].normal)));
        return det > 1e-20 && u >= 0.0 && v >= 0.0;
    }
    rbVec3 second = rbCross(p[1].normal, p[2].normal), third = rbCross(p[2].normal, p[0].normal);
    det = rbDot(p[0].normal, second);
    rbVec3 sum = rbAdd(rbScale(p[0].offset, second), rbScale(p[1].offset, third));
    *x = rbScale(1.0 / det, rbAddScaled(sum, p[2].offset, cross));
    return fabs(det) > 1e-12 && rbDot(*x, second) * det >= 0.0 && rbDot(*x, third) * det >= 0.0 &&
           rbDot(*x, cross) * det >= 0.0;
}

// The nearest point of up to four half spaces; it lies on the last one. Keeps those it lies on.
static bool solveBasis(rbHalfSpace basis[4], int* count, double tolerance, rbVec3* x)
{
    int others = *count - 1;
    for (int mask = 0; mask < 1 << others; ++mask) {
        rbHalfSpace chosen[4] = {basis[others]};
        int size = 1;
        for (int i = 0; i < others; ++i) {
            if ((mask >> i & 1) != 0) {
                chosen[size++] = basis[i];
            }
        }
        rbVec3 point;
        bool isFound = size <= 3 && solvePlanes(chosen, size, &point);
        for (int i = 0; i < others && isFound; ++i) {
            isFound = rbDot(basis[i].normal, point) >= basis[i].offset - tolerance;
        }
        if (isFound) {
            *x = point;
            *count = size;
            for (int i = 0; i < size; ++i) {
                basis[i] = chosen[i];
            }
            return true;
        }
    }
    return false;
}

// The point of the half spaces nearest to the origin. The plane that is violated most joins those
// on which the point lies, so that it moves away from the origin every time. Where rounding ends
// this early, the point is nearer.
static rbVec3 findNearest(const rbHalfSpace* planes, int count, double tolerance)
{
    rbHalfSpace basis[4];
    int basisCount = 0;
    rbVec3 x = RB_VEC3_ZERO;
    for (int k = 0; k < EXCHANGE_MAX; ++k) {
        int worst = -1;
        double violation = tolerance;
        for (int i = 0; i < count; ++i) {
            double missing = planes[i].offset - rbDot(planes[i].normal, x);
            if (missing > violation) {
                violation = missing;
                worst = i;
            }
        }
        if (worst < 0) {
            break;
        }
        RB_ASSERT(basisCount < 4);
        basis[basisCount++] = planes[worst];
        if (!solveBasis(basis, &basisCount, 0.5 * tolerance, &x)) {
            break;
        }
    }
    return x;
}

// The part of a step from a point of the half spaces that stays in them.
static double findPart(const rbParting* parting, rbVec3 from, rbVec3 step)
{
    const rbHalfSpace* planes = parting->planes;
    double part = 1.0;
    for (int i = 0; i < parting->count; ++i) {
        double approach = -rbDot(planes[i].normal, step);
        double room = fmax(rbDot(planes[i].normal, from) - planes[i].offset, 0.0);
        bool isBeyond = approach * part > room + VIOLATION * parting->size;
        part = isBeyond ? room / approach : part;
    }
    return part;
}

// --------------------------------------------------------------------------------------- descent

bool rbParting_Add(rbParting* parting, rbVec3 translation, rbVec3 normal, double gap)
{
    if (parting->count == parting->capacity) {
        return false;
    }
    double room = fmax(gap - parting->keep, 0.0);
    parting->planes[parting->count++] = (rbHalfSpace){normal, rbDot(normal, translation) - room};
    return true;
}

rbVec3 rbParting_Shorten(rbParting* parting, rbVec3 translation, double gap)
{
    double keepLast = KEEP * parting->size, reach = FIRST_REACH * rbLength(translation);
    parting->keep = fmax(keepLast, FIRST_KEEP * gap);
    for (int i = 0; i < STEP_MAX; ++i) {
        double length = rbLength(translation);
        parting->count = 0;
        if (!parting->collect(parting, translation, reach)) {
            reach *= 0.25;
            continue;
        }
        rbVec3 nearest = findNearest(parting->planes, parting->count, VIOLATION * parting->size);
        rbVec3 step = rbSub(nearest, translation);
        double far = rbLength(step), most = 0.99 * reach;
        step = far > most ? rbScale(most / far, step) : step;
        double part = findPart(parting, translation, step);
        rbVec3 next = rbAddScaled(translation, part, step);
        double gain = length - rbLength(next);
        if (gain > 0.0) {
            translation = next;
        }
        if (far > most) {
            reach = fmin(4.0 * reach, length);
        } else if (gain < KEPT_GAIN * parting->keep) {
            if (parting->keep == keepLast) {
                return translation;
            }
            parting->keep = fmax(keepLast, KEEP_RATIO * parting->keep);
            reach = fmin(reach, NEXT_REACH * parting->keep);
        }
    }
    return translation;
}

// ------------------------------------------------------------------------------------- triangles

// Two convex figures meet after every translation shorter than their overlap along each normal of
// the faces of their Minkowski difference.
static double overlapAlong(const rbVec3 a[3], const rbVec3 b[3], rbVec3 d)
{
    double x[3] = {rbDot(d, a[0]), rbDot(d, a[1]), rbDot(d, a[2])};
    double y[3] = {rbDot(d, b[0]), rbDot(d, b[1]), rbDot(d, b[2])};
    double ahead = fmax(x[0], fmax(x[1], x[2])) - fmin(y[0], fmin(y[1], y[2]));
    double back = fmax(y[0], fmax(y[1], y[2])) - fmin(x[0], fmin(x[1], x[2]));
    return fmin(ahead, back);
}

double rbBoundTriangleDepth(const rbVec3 a[3], const rbVec3 b[3])
{
    rbVec3 normals[2] = {rbCrossOfCorners(a), rbCrossOfCorners(b)};
    rbVec3 edgesA[3], edgesB[3];
    double longest = 0.0, depth = INFINITY;
    for (int i = 0; i < 3; ++i) {
        edgesA[i] = rbSub(a[(i + 1) % 3], a[i]);
        edgesB[i] = rbSub(b[(i + 1) % 3], b[i]);
        longest = fmax(longest, fmax(rbLength(edgesA[i]), rbLength(edgesB[i])));
    }
    for (int i = 0; i < 2; ++i) {
        double length = rbLength(normals[i]);
        if (!(length > 0.0)) {
            return 0.0;
        }
        depth = fmin(depth, overlapAlong(a, b, rbScale(1.0 / length, normals[i])));
    }
    for (int i = 0; i < 9 && depth > 0.0; ++i) {
        rbVec3 u = edgesA[i / 3], v = edgesB[i % 3], d = rbCross(u, v);
        double length = rbLength(d);
        if (length > PARALLEL * rbLength(u) * rbLength(v)) {
            depth = fmin(depth, overlapAlong(a, b, rbScale(1.0 / length, d)));
        }
    }
    // edges counted as parallel, and rounding of the others, change it by less than this
    return fmax(depth - 4.0 * PARALLEL * longest, 0.0);
}

// ------------------------------------------------------------------------------------- positions

double rbCoarsenPosition(double size, rbVec3* position)
{
    // the sum has no digits below 1e-12 of the size
    double large = COARSE * size;
    rbVec3 from = *position, shift = {large, large, large};
    *position = rbSub(rbAdd(from, shift), shift);
    return rbDistance(from, *position) + DBL_EPSILON * size;
}
