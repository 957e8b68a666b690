// Yes or no: separating axes of boxes, the contact function of ellipsoids, portals of all others.
#include "collision/convex/overlap.h"

#include "collision/convex/gjk.h"
#include "collision/convex/support.h"
#include "collision/geometry/polyhedron.h"

#include <math.h>

// ----------------------------------------------------------------------------------------- boxes

// The squared sine of the angle between two edges, below which their common perpendicular is no
// better than a face by 1e-12 of the size, and below which its gap may be lost in rounding.
#define SINE_REDUNDANT 1e-24
#define SINE_VAGUE 1e-4

typedef struct Boxes {
    double halfA[3], halfB[3], center[3]; // m, the center of B in the frame of A
    double r[3][3], sizes[3][3];          // r[i][j]: component i of axis j of B; magnitudes
    double slack;                         // m, rounding
} Boxes;

static const int following[3] = {1, 2, 0};

// Gap along the common perpendicular of edge i of A and edge j of B, times its length.
static double gapOfEdges(const Boxes* p, int i, int j)
{
    int i1 = following[i], i2 = following[i1], j1 = following[j], j2 = following[j1];
    double between = fabs(p->center[i2] * p->r[i1][j] - p->center[i1] * p->r[i2][j]);
    double reachA = p->halfA[i1] * p->sizes[i2][j] + p->halfA[i2] * p->sizes[i1][j];
    double reachB = p->halfB[j1] * p->sizes[i][j2] + p->halfB[j2] * p->sizes[i][j1];
    return between - reachA - reachB;
}

// The largest gap along the normals of the faces, one body after the other.
static double gapOfFaces(const Boxes* p, double enough)
{
    double gap = -INFINITY;
    for (int i = 0; i < 3; ++i) {
        double reach = p->halfB[0] * p->sizes[i][0] + p->halfB[1] * p->sizes[i][1] +
                       p->halfB[2] * p->sizes[i][2];
        gap = fmax(gap, fabs(p->center[i]) - p->halfA[i] - reach);
    }
    for (int j = 0; j < 3 && gap <= enough; ++j) {
        double reach = p->halfA[0] * p->sizes[0][j] + p->halfA[1] * p->sizes[1][j] +
                       p->halfA[2] * p->sizes[2][j];
        double between =
            p->center[0] * p->r[0][j] + p->center[1] * p->r[1][j] + p->center[2] * p->r[2][j];
        gap = fmax(gap, fabs(between) - p->halfB[j] - reach);
    }
    return gap;
}

rbOverlap rbTestBoxes(rbVec3 halfA, rbVec3 halfB, rbTransform transformBtoA, double reach)
{
    rbMat3 m = rbMatFromQuat(transformBtoA.q);
    rbVec3 t = transformBtoA.p;
    Boxes p = {{halfA.x, halfA.y, halfA.z},
               {halfB.x, halfB.y, halfB.z},
               {t.x, t.y, t.z},
               {{m.cx.x, m.cy.x, m.cz.x}, {m.cx.y, m.cy.y, m.cz.y}, {m.cx.z, m.cy.z, m.cz.z}},
               {{fabs(m.cx.x), fabs(m.cy.x), fabs(m.cz.x)},
                {fabs(m.cx.y), fabs(m.cy.y), fabs(m.cz.y)},
                {fabs(m.cx.z), fabs(m.cy.z), fabs(m.cz.z)}},
               0.0};
    // at least the scale of GJK: sums of magnitudes instead of lengths
    p.slack = RB_GJK_ROUNDING * (halfA.x + halfA.y + halfA.z + halfB.x + halfB.y + halfB.z +
                                 fabs(t.x) + fabs(t.y) + fabs(t.z));
    double enough = reach + p.slack;
    double gap = gapOfFaces(&p, enough);
    if (gap > enough) {
        return RB_OVERLAP_APART;
    }
    bool isOpen = gap > 0.0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            // the perpendicular is not longer than 1
            double long1 = gapOfEdges(&p, i, j);
            if (long1 > enough) {
                return RB_OVERLAP_APART;
            }
            double sine = 1.0 - p.r[i][j] * p.r[i][j];
            isOpen = isOpen || (long1 > -p.slack && sine > SINE_REDUNDANT &&
                                (long1 > 0.0 || sine < SINE_VAGUE));
        }
    }
    return isOpen ? RB_OVERLAP_OPEN : RB_OVERLAP_MEETS;
}

// ------------------------------------------------------------------------------------ ellipsoids

// Scaled by the axes of A, so that A is the unit ball, B is the image of a ball under a matrix of
// square S, about r. For weights u + v = 1 the point x = v y, (v I + u S) y = r, minimizes
//   u fA(x) + v fB(x),   fA = |x|^2,   fB = (x - r) . S^-1 (x - r) = u^2 y . S y,
// and the minimum is F = u v y . r. Inside a body its f is at most 1. So F > 1 for any weights
// proves that no point is in both, and fA, fB < 1 that x is. F is concave in v, with the
// derivative fB - fA: Newton's method finds the largest F, where both agree.

// Product of the ratios of the axes of both, up to which the inverses below are exact enough.
#define ASPECT_MAX 30.0
// What the values of fA, fB and F must differ by from 1 to prove something.
#define CERTAIN 1e-9
#define WEIGHTS_MAX 12

static double aspectOf(rbVec3 axes)
{
    return fmax(axes.x, fmax(axes.y, axes.z)) / fmin(axes.x, fmin(axes.y, axes.z));
}

rbOverlap rbTestEllipsoids(rbVec3 axesA, rbVec3 axesB, rbTransform transformBtoA)
{
    if (!(aspectOf(axesA) * aspectOf(axesB) <= ASPECT_MAX)) {
        return RB_OVERLAP_OPEN;
    }
    rbVec3 shrink = {1.0 / axesA.x, 1.0 / axesA.y, 1.0 / axesA.z};
    rbMat3 m = rbMatFromQuat(transformBtoA.q);
    // the half axes of B, scaled; S is the sum of their dyadic squares
    rbVec3 a = rbMulEach(shrink, rbScale(axesB.x, m.cx));
    rbVec3 b = rbMulEach(shrink, rbScale(axesB.y, m.cy));
    rbVec3 c = rbMulEach(shrink, rbScale(axesB.z, m.cz));
    rbMat3 s = {rbAddScaled(rbAddScaled(rbScale(a.x, a), b.x, b), c.x, c),
                rbAddScaled(rbAddScaled(rbScale(a.y, a), b.y, b), c.y, c),
                rbAddScaled(rbAddScaled(rbScale(a.z, a), b.z, b), c.z, c)};
    rbVec3 r = rbMulEach(shrink, transformBtoA.p);
    double square = rbLengthSquared(r);
    if (!(square > CERTAIN)) {
        return RB_OVERLAP_MEETS; // the center of B is in A
    }
    // for a ball B of radius k the best weight is k / (1 + k)
    double size = sqrt(rbDot(r, rbMulMV(s, r)) / square);
    double v = size / (1.0 + size), low = 0.0, high = 1.0;
    for (int i = 0; i < WEIGHTS_MAX; ++i) {
        double u = 1.0 - v;
        rbMat3 sum = {rbScale(u, s.cx), rbScale(u, s.cy), rbScale(u, s.cz)};
        sum.cx.x += v;
        sum.cy.y += v;
        sum.cz.z += v;
        // inverse of the symmetric matrix by its adjugate
        rbVec3 yz = rbCross(sum.cy, sum.cz);
        double scale = 1.0 / rbDot(sum.cx, yz);
        rbMat3 inverse = {rbScale(scale, yz), rbScale(scale, rbCross(sum.cz, sum.cx)),
                          rbScale(scale, rbCross(sum.cx, sum.cy))};
        rbVec3 y = rbMulMV(inverse, r), sy = rbMulMV(s, y);
        double yy = rbDot(y, y), ysy = rbDot(y, sy);
        double fA = v * v * yy, fB = u * u * ysy;
        if (u * v * rbDot(y, r) > 1.0 + CERTAIN) {
            return RB_OVERLAP_APART;
        }
        if (fA < 1.0 - CERTAIN && fB < 1.0 - CERTAIN) {
            return RB_OVERLAP_MEETS;
        }
        low = fB > fA ? v : low;
        high = fB > fA ? high : v;
        rbVec3 z = rbMulMV(inverse, rbSub(y, sy)); // minus the derivative of y
        double slope = 2.0 * (v * v * rbDot(y, z) - v * yy - u * ysy - u * u * rbDot(sy, z));
        double next = v - (fB - fA) / slope;
        v = next > low && next < high ? next : 0.5 * (low + high);
    }
    return RB_OVERLAP_OPEN;
}

// --------------------------------------------------------------------------------------- portals

// D is the difference of the cores, grown by the reach, and 0 an inner point of it: is the origin
// in D? The ray from 0 to the origin leaves D through a triangle of its points, the portal, which
// moves outward until the origin is behind it or a plane beyond it is before the origin.

// Distance of a common point from the origin that counts as proven, relative to the scale.
#define MEETING 1e-10
#define SUPPORTS_MAX 40

typedef struct Portal {
    const rbCso* cso;
    double reach, roundingSquared; // m, m^2
    rbVec3 inner;                  // m, the point 0
    rbVec3 one, two, three;        // m, the portal
    bool mayGuess;                 // both cores are polytopes
    int supports;
} Portal;

// A point of D far along a direction: a guess if that is beyond the origin, otherwise the farthest.
// True if even that is before the origin: its plane separates them.
static inline bool findFar(Portal* p, rbVec3 direction, rbVec3* point)
{
    rbCsoPoint found;
    rbVec3 grown =
        p->reach > 0.0 ? rbScale(p->reach / rbLength(direction), direction) : RB_VEC3_ZERO;
    ++p->supports;
    if (p->mayGuess) {
        rbGuessSupport(p->cso, direction, &found);
        *point = rbAdd(found.w, grown);
        if (rbDot(*point, direction) > 0.0) {
            return false;
        }
    }
    rbFindSupport(p->cso, direction, NULL, &found);
    *point = rbAdd(found.w, grown);
    double height = rbDot(*point, direction);
    return height < 0.0 && height * height > p->roundingSquared * rbLengthSquared(direction);
}

// The first portal. OPEN: found.
static rbOverlap findPortal(Portal* p)
{
    if (findFar(p, rbNeg(p->inner), &p->one)) {
        return RB_OVERLAP_APART;
    }
    rbVec3 n = rbCross(p->one, p->inner);
    if (rbIsZero3(n)) {
        return RB_OVERLAP_MEETS; // the origin is between the two
    }
    if (findFar(p, n, &p->two)) {
        return RB_OVERLAP_APART;
    }
    n = rbCross(rbSub(p->one, p->inner), rbSub(p->two, p->inner));
    if (rbDot(n, p->inner) > 0.0) {
        rbVec3 swapped = p->one;
        p->one = p->two;
        p->two = swapped;
        n = rbNeg(n);
    }
    while (p->supports < SUPPORTS_MAX && !rbIsZero3(n)) {
        if (findFar(p, n, &p->three)) {
            return RB_OVERLAP_APART;
        }
        rbVec3 across = rbCross(p->three, p->inner);
        if (rbDot(p->one, across) < 0.0) {
            p->two = p->three;
        } else if (rbDot(p->two, across) > 0.0) {
            p->one = p->three;
        } else {
            break;
        }
        n = rbCross(rbSub(p->one, p->inner), rbSub(p->two, p->inner));
    }
    return RB_OVERLAP_OPEN;
}

// The origin is behind the portal: weights of the four points that give it are the proof.
static rbOverlap certify(const Portal* p, const double weights[4])
{
    double sum = weights[0] + weights[1] + weights[2] + weights[3];
    double least = fmin(fmin(weights[0], weights[1]), fmin(weights[2], weights[3]));
    rbVec3 point = rbAddScaled(rbScale(weights[0], p->inner), weights[1], p->one);
    point = rbAddScaled(rbAddScaled(point, weights[2], p->two), weights[3], p->three);
    double near = MEETING * p->cso->scale * sum;
    return least >= 0.0 && sum > 0.0 && rbLengthSquared(point) <= near * near ? RB_OVERLAP_MEETS
                                                                              : RB_OVERLAP_OPEN;
}

// Moves the portal outward.
static rbOverlap refinePortal(Portal* p)
{
    while (p->supports < SUPPORTS_MAX) {
        rbVec3 c12 = rbCross(p->one, p->two), c23 = rbCross(p->two, p->three);
        rbVec3 c31 = rbCross(p->three, p->one);
        rbVec3 n = rbAdd(rbAdd(c12, c23), c31);
        double front = rbDot(p->one, c23);
        if (rbIsZero3(n)) {
            break;
        }
        if (front >= 0.0) {
            const double weights[4] = {front, -rbDot(p->inner, c23), -rbDot(p->inner, c31),
                                       -rbDot(p->inner, c12)};
            return certify(p, weights);
        }
        rbVec3 farther;
        if (findFar(p, n, &farther)) {
            return RB_OVERLAP_APART;
        }
        double advance = rbDot(farther, n) - front;
        if (!(advance > 0.0) || advance * advance <= p->roundingSquared * rbLengthSquared(n)) {
            break; // the origin is on the surface, to rounding
        }
        rbVec3 across = rbCross(farther, p->inner);
        if (rbDot(p->one, across) > 0.0) {
            *(rbDot(p->two, across) > 0.0 ? &p->one : &p->three) = farther;
        } else {
            *(rbDot(p->three, across) > 0.0 ? &p->two : &p->one) = farther;
        }
    }
    return RB_OVERLAP_OPEN;
}

// A point inside of a shape of the table.
static rbVec3 innerPointOf(const rbGeometry* geometry)
{
    if (geometry->type == RB_SHAPE_HULL) {
        return geometry->polyhedron->supports->center;
    }
    bool isCone = geometry->type == RB_SHAPE_CONE;
    return rbMakeVec3(0.0, 0.0, isCone ? -0.25 * geometry->data.cone.height : 0.0);
}

rbOverlap rbTestPortal(const rbCso* cso, double reach)
{
    const rbGeometry* a = cso->a->geometry;
    const rbGeometry* b = cso->b->geometry;
    if (a == NULL || b == NULL || a->type >= RB_SHAPE_COUNT || b->type >= RB_SHAPE_COUNT) {
        return RB_OVERLAP_OPEN;
    }
    double rounding = rbGjk_GetRounding(cso) + 2.0 * DBL_EPSILON * reach;
    Portal p = {.cso = cso,
                .reach = reach,
                .roundingSquared = rounding * rounding,
                .mayGuess = cso->a->isPolytope && cso->b->isPolytope};
    rbVec3 innerB = rbAdd(rbMulMV(cso->rotation, innerPointOf(b)), cso->translation);
    p.inner = rbSub(innerPointOf(a), innerB);
    if (rbLengthSquared(p.inner) <= p.roundingSquared) {
        return RB_OVERLAP_MEETS;
    }
    rbOverlap found = findPortal(&p);
    return found == RB_OVERLAP_OPEN ? refinePortal(&p) : found;
}
