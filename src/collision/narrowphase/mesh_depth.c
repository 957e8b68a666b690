// The translations that keep a pair of convex pieces separated by a plane are a half space. Near a
// translation s that separates the bodies, those of all pairs of pieces within reach form a convex
// polyhedron that contains s; inside it and within reach of s the bodies stay separate, because
// pairs beyond the reach cannot meet. Its point nearest to the origin is the next s. The lengths
// decrease, and where they stop, s is a nonnegative sum of normals of contacts: a local minimum.
#include "collision/narrowphase/mesh_depth.h"

#include "collision/geometry/closest.h"

#include <rattleback/base.h>

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
    // of two planes: also on the plane through the origin across both
    rbVec3 first = rbCross(p[0].normal, p[1].normal);
    rbVec3 last = count == 2 ? first : p[2].normal;
    double offset = count == 2 ? 0.0 : p[2].offset;
    rbVec3 second = rbCross(p[1].normal, last), third = rbCross(last, p[0].normal);
    double det = rbDot(p[0].normal, second);
    rbVec3 sum = rbAdd(rbScale(p[0].offset, second), rbScale(p[1].offset, third));
    *x = rbScale(1.0 / det, rbAddScaled(sum, offset, first));
    return fabs(det) > 1e-18 && rbDot(*x, second) * det >= 0.0 && rbDot(*x, third) * det >= 0.0 &&
           (count == 2 || rbDot(*x, first) * det >= 0.0);
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
static rbVec3 findNearest(const rbParting* parting)
{
    double tolerance = VIOLATION * parting->size;
    rbHalfSpace basis[4];
    int basisCount = 0;
    rbVec3 x = RB_VEC3_ZERO;
    for (int k = 0; k < EXCHANGE_MAX; ++k) {
        int worst = -1;
        double violation = tolerance;
        for (int i = 0; i < parting->count; ++i) {
            double missing = parting->planes[i].offset - rbDot(parting->planes[i].normal, x);
            if (missing > violation) {
                violation = missing;
                worst = i;
            }
        }
        if (worst < 0) {
            break;
        }
        RB_ASSERT(basisCount < 4);
        basis[basisCount++] = parting->planes[worst];
        if (!solveBasis(basis, &basisCount, 0.5 * tolerance, &x)) {
            break;
        }
    }
    return x;
}

// --------------------------------------------------------------------------------------- descent

bool rbParting_Add(rbParting* parting, rbVec3 normal, double gap)
{
    if (parting->count == parting->capacity) {
        return false;
    }
    double offset = rbDot(normal, parting->translation) - fmax(gap - parting->keep, 0.0);
    parting->planes[parting->count++] = (rbHalfSpace){normal, offset};
    return true;
}

void rbParting_Shorten(rbParting* parting, double gap)
{
    double keepLast = KEEP * parting->size, reach = FIRST_REACH * rbLength(parting->translation);
    parting->keep = fmax(keepLast, FIRST_KEEP * gap);
    for (int i = 0; i < STEP_MAX; ++i) {
        double length = rbLength(parting->translation);
        parting->count = 0;
        if (!parting->collect(parting, reach)) {
            reach *= 0.25;
            continue;
        }
        rbVec3 step = rbSub(findNearest(parting), parting->translation);
        double far = rbLength(step), most = 0.99 * reach;
        step = far > most ? rbScale(most / far, step) : step;
        double part = 1.0; // of the step that stays in the half spaces
        for (int k = 0; k < parting->count; ++k) {
            const rbHalfSpace* plane = &parting->planes[k];
            double approach = -rbDot(plane->normal, step);
            double room = fmax(rbDot(plane->normal, parting->translation) - plane->offset, 0.0);
            part = approach * part > room + VIOLATION * parting->size ? room / approach : part;
        }
        rbVec3 next = rbAddScaled(parting->translation, part, step);
        double gain = length - rbLength(next);
        parting->translation = gain > 0.0 ? next : parting->translation;
        if (far > most) {
            reach = fmin(4.0 * reach, length);
        } else if (gain < KEPT_GAIN * parting->keep) {
            if (parting->keep == keepLast) {
                return;
            }
            parting->keep = fmax(keepLast, KEEP_RATIO * parting->keep);
            reach = fmin(reach, NEXT_REACH * parting->keep);
        }
    }
}

// ------------------------------------------------------------------------------------- triangles

// Two convex figures meet after every translation shorter than their overlaps along the normals of
// the faces of their Minkowski difference.
double rbBoundTriangleDepth(const rbVec3 a[3], const rbVec3 b[3])
{
    double longest = 0.0, depth = INFINITY;
    rbVec3 edges[2][3];
    for (int i = 0; i < 3; ++i) {
        edges[0][i] = rbSub(a[(i + 1) % 3], a[i]);
        edges[1][i] = rbSub(b[(i + 1) % 3], b[i]);
        longest = fmax(longest, fmax(rbLength(edges[0][i]), rbLength(edges[1][i])));
    }
    for (int i = 0; i < 11 && depth > 0.0; ++i) {
        bool isNormal = i >= 9; // of A, of B
        rbVec3 u = isNormal ? edges[i - 9][0] : edges[0][i / 3];
        rbVec3 v = isNormal ? edges[i - 9][1] : edges[1][i % 3];
        rbVec3 d = rbCross(u, v);
        double length = rbLength(d);
        if (!(length > PARALLEL * rbLength(u) * rbLength(v))) {
            depth = isNormal ? 0.0 : depth; // nearly a segment
            continue;
        }
        double x[3] = {rbDot(d, a[0]), rbDot(d, a[1]), rbDot(d, a[2])};
        double y[3] = {rbDot(d, b[0]), rbDot(d, b[1]), rbDot(d, b[2])};
        double ahead = fmax(x[0], fmax(x[1], x[2])) - fmin(y[0], fmin(y[1], y[2]));
        double back = fmax(y[0], fmax(y[1], y[2])) - fmin(x[0], fmin(x[1], x[2]));
        depth = fmin(depth, fmin(ahead, back) / length);
    }
    // edges counted as parallel, and rounding of the others, change it by less than this
    return fmax(depth - 4.0 * PARALLEL * longest, 0.0);
}
