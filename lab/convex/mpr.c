// MPR: portal discovery, portal refinement, and the resulting bounds.
//
// Frame of the search: that of A, shifted so that the center (the interior point V0 of D) is 0. A
// support point is p = a - R b - offset, without the translation of B, so bodies far apart do not
// lose digits; the origin of D is the target q = -V0. In this frame the side tests are triple
// products with the ray, without V0. The ray runs from 0 along q or, for rbMpr_PenetrationAlong,
// from the origin (offset = translation, q = 0) along the given direction.
// for.
//
// The portal (p1, p2, p3) is counter-clockwise seen from outside: (p1 x p2) . ray, (p2 x p3) . ray
// and (p3 x p1) . ray are not negative.
//
// Correctness. A miss is proven by its plane up to rounding, whatever the portal is. A hit is
// proven by weights of 0, p1, p2, p3 that reproduce q within two roundings. If signs of triple
// products are wrong, because the tetrahedron is a sliver or D is flat, this proof fails and GJK
// decides. Directions are not normalized: comparisons with rounding use squares, so a search needs
// no roots and no divisions.
#include "lab/convex/mpr.h"

#include "collision/convex/gjk.h"
#include "collision/convex/support.h"
#include "collision/geometry/polyhedron.h"
#include "lab/convex/minkowski.h"

#include <float.h>
#include <math.h>

// Rounding of supports, rotation, center and product, in units of DBL_EPSILON times the scale. As
// for GJK, and half as much again for subtracting the center and adding radii.
#define ROUNDING_UNITS 24.0

// Corrections of the weights of a hit before giving up.
#define CERTIFY_ROUNDS 3

typedef struct Point {
    rbVec3 p; // seen from the center of the search
    rbVec3 a; // on body A, frame of A
} Point;

// How a part of a search ended.
typedef enum Outcome {
    OUTCOME_MISS,       // the last direction separates the bodies
    OUTCOME_ON_RAY,     // the first point lies on the ray, beyond the target
    OUTCOME_PORTAL,     // the ray crosses the portal (discovery), the target is behind it (hit)
    OUTCOME_DEGENERATE, // signs are dominated by rounding
    OUTCOME_LIMIT       // iteration limit
} Outcome;

typedef struct Search {
    const rbCso* cso;
    rbVec3 offset; // center of A less the rotated center of B
    rbVec3 q;      // the target: the origin of D
    rbVec3 ray;
    double radii;
    double rounding; // m
    double roundingSquared;
    rbVec3 direction; // of the last support
    double height;    // (p - q) . direction of the last support
    double front;     // p1 . n of the last portal normal n
    double certified; // m, known distance of a point of D from the origin
    double weights[3];
    Point points[4];
    Point* last; // last support point
    Point* one;  // the portal
    Point* two;
    Point* three;
    Point* spare;
    int supports;
    int supportMax;
    int filled; // number of points that are set, the first ones
    bool isPolytope;
    bool isAcross; // enclose the line of the ray (of unit length)
} Search;

rbMprSettings rbDefaultMprSettings(void)
{
    return (rbMprSettings){.relativeTolerance = 1e-6, .iterationMax = 100};
}

// ---------------------------------------------------------------------------------- supports

// Any point of the core is safe (a center on the surface of both bodies is detected and left to
// GJK); an interior point is needed for speed. Frames of all shapes except cones and hulls are
// centered; the cone's origin is inside, too, but its center of mass is farther from the surface.
// NOLINTNEXTLINE(misc-no-recursion): sums of sums are few.
rbVec3 rbMpr_GetCenter(const rbConvex* convex)
{
    RB_ASSERT(convex != NULL);
    const rbMinkowskiSum* sum = rbMinkowskiSum_Of(convex);
    if (sum != NULL) {
        return rbAdd(rbMpr_GetCenter(sum->a), rbMpr_GetCenter(sum->b));
    }
    const rbGeometry* geometry = convex->geometry;
    if (geometry->type == RB_SHAPE_HULL) {
        return geometry->polyhedron->supports->center;
    }
    bool isCone = geometry->type == RB_SHAPE_CONE;
    return rbMakeVec3(0.0, 0.0, isCone ? -0.25 * geometry->data.cone.height : 0.0);
}

// Support of a core. Corners of boxes follow from the signs; hulls are searched from their own
// table of starts, because directions of successive portals differ much.
static inline rbVec3 supportOfCore(const rbConvex* convex, rbVec3 d)
{
    if (convex->isExtents) {
        rbVec3 e = convex->extents;
        return rbMakeVec3(copysign(e.x, d.x), copysign(e.y, d.y), copysign(e.z, d.z));
    }
    int vertex = -1;
    return rbSupportCore(convex, d, &vertex);
}

// Computes the support point of D along a direction.
static inline void addSupport(Search* s, rbVec3 direction, Point* point)
{
    RB_ASSERT(rbLengthSquared(direction) > 0.0);
    const rbCso* cso = s->cso;
    rbVec3 d = s->isPolytope ? direction : rbBalanceDirection(direction);
    rbVec3 down = rbNeg(rbMulMtV(cso->rotation, d));
    rbVec3 a = supportOfCore(cso->a, d);
    rbVec3 b = rbMulMV(cso->rotation, supportOfCore(cso->b, down));
    if (s->radii > 0.0) {
        double inverse = 1.0 / rbLength(direction);
        a = rbAddScaled(a, cso->a->radius * inverse, direction);
        b = rbAddScaled(b, -cso->b->radius * inverse, direction);
    }
    point->a = a;
    point->p = rbSub(rbSub(a, b), s->offset);
    s->last = point;
    s->direction = direction;
    s->height = rbDot(rbSub(point->p, s->q), direction);
    ++s->supports;
}

// Does the last support plane separate the bodies by more than rounding?
static inline bool isMiss(const Search* s)
{
    return s->height < 0.0 &&
           s->height * s->height > s->roundingSquared * rbLengthSquared(s->direction);
}

// Is a length times |direction| beyond rounding?
static inline bool isBeyondRounding(const Search* s, double product, rbVec3 direction)
{
    return product > 0.0 && product * product > s->roundingSquared * rbLengthSquared(direction);
}

static void swapPoints(Point** a, Point** b)
{
    Point* kept = *a;
    *a = *b;
    *b = kept;
}

// ---------------------------------------------------------------------------------- search

// Search direction of the third point: beyond the plane of the center and the first two. From a
// center near the surface this gives points near the center, and the search is slow; then the line
// of the ray is enclosed, seen along itself: across the edge of the first two.
static inline rbVec3 sideNormal(const Search* s)
{
    return s->isAcross ? rbCross(s->ray, rbSub(s->two->p, s->one->p))
                       : rbCross(s->one->p, s->two->p);
}

// Finds three points whose cone about the center contains the ray.
static Outcome discover(Search* s)
{
    RB_ASSERT(s->supportMax >= 1 && rbIsFinite3(s->q));
    addSupport(s, s->ray, s->one);
    s->filled = 1;
    if (isMiss(s)) {
        return OUTCOME_MISS;
    }
    rbVec3 d = rbCross(s->one->p, s->ray);
    if (rbLengthSquared(d) <= s->roundingSquared * rbLengthSquared(s->ray)) {
        return OUTCOME_ON_RAY;
    }
    if (s->supports >= s->supportMax) {
        return OUTCOME_LIMIT;
    }
    addSupport(s, d, s->two);
    s->filled = 2;
    if (isMiss(s)) {
        return OUTCOME_MISS;
    }
    // the center would lie on the surface
    if (!isBeyondRounding(s, rbDot(s->two->p, s->direction), s->direction)) {
        return OUTCOME_DEGENERATE;
    }
    if (rbDot(rbCross(s->one->p, s->two->p), s->ray) < 0.0) {
        swapPoints(&s->one, &s->two);
    }
    while (s->supports < s->supportMax) {
        d = sideNormal(s);
        // the two points are collinear with the center
        rbVec3 unit = s->isAcross ? s->ray : s->one->p;
        if (rbLengthSquared(d) <= s->roundingSquared * rbLengthSquared(unit)) {
            return OUTCOME_DEGENERATE;
        }
        addSupport(s, d, s->three);
        s->filled = 3;
        if (isMiss(s)) {
            return OUTCOME_MISS;
        }
        rbVec3 across = rbCross(s->three->p, s->ray);
        if (rbDot(across, s->one->p) > 0.0) {
            swapPoints(&s->two, &s->three);
        } else if (rbDot(across, s->two->p) < 0.0) {
            swapPoints(&s->one, &s->three);
        } else {
            return OUTCOME_PORTAL;
        }
    }
    return OUTCOME_LIMIT;
}

// Replaces one portal point by the last point, so that the ray stays inside.
static void shrinkPortal(Search* s)
{
    RB_ASSERT(s->last == s->spare);
    rbVec3 across = rbCross(s->spare->p, s->ray);
    Point** leaving;
    if (rbDot(across, s->one->p) < 0.0) {
        leaving = rbDot(across, s->two->p) < 0.0 ? &s->one : &s->three;
    } else {
        leaving = rbDot(across, s->three->p) < 0.0 ? &s->two : &s->one;
    }
    swapPoints(leaving, &s->spare);
}

static rbVec3 portalNormal(Search* s)
{
    rbVec3 p = s->one->p;
    rbVec3 n = rbCross(rbSub(s->two->p, p), rbSub(s->three->p, p));
    s->front = rbDot(n, p);
    return n;
}

// Weights of the portal points that give a target on the ray's side of the center: ratios of
// volumes, corrected by the same formula for the residual. The center gets the rest.
static double weigh(Search* s, rbVec3 target)
{
    RB_ASSERT(s->front > 0.0);
    double inverse = 1.0 / s->front;
    rbVec3 sides[3] = {rbCross(s->two->p, s->three->p), rbCross(s->three->p, s->one->p),
                       rbCross(s->one->p, s->two->p)};
    const Point* points[3] = {s->one, s->two, s->three};
    rbVec3 missing = target;
    double best = INFINITY;
    double weights[3] = {0.0, 0.0, 0.0};
    for (int round = 0; round < CERTIFY_ROUNDS; ++round) {
        double sum = 0.0;
        for (int i = 0; i < 3; ++i) {
            weights[i] = fmax(weights[i] + rbDot(sides[i], missing) * inverse, 0.0);
            sum += weights[i];
        }
        double share = sum > 1.0 ? 1.0 / sum : 1.0;
        missing = target;
        for (int i = 0; i < 3; ++i) {
            weights[i] *= share;
            missing = rbAddScaled(missing, -weights[i], points[i]->p);
        }
        double length = rbLengthSquared(missing);
        if (!(length < best)) {
            break;
        }
        best = length;
        for (int i = 0; i < 3; ++i) {
            s->weights[i] = weights[i];
        }
        if (length <= s->roundingSquared) {
            break;
        }
    }
    return best;
}

// Weights of the point where the line of the ray crosses the portal, seen along the ray: components
// along it are removed first, because their rounding would dominate small portals.
static void weighCrossing(Search* s)
{
    const Point* points[3] = {s->one, s->two, s->three};
    double inverse = 1.0 / rbLengthSquared(s->ray);
    rbVec3 seen[3];
    for (int i = 0; i < 3; ++i) {
        rbVec3 p = points[i]->p;
        seen[i] = rbAddScaled(p, -rbDot(p, s->ray) * inverse, s->ray);
    }
    double sum = 0.0;
    for (int i = 0; i < 3; ++i) {
        rbVec3 side = rbCross(seen[(i + 1) % 3], seen[(i + 2) % 3]);
        s->weights[i] = fmax(0.0, rbDot(side, s->ray));
        sum += s->weights[i];
    }
    for (int i = 0; i < 3; ++i) {
        s->weights[i] = sum > 0.0 ? s->weights[i] / sum : 1.0 / 3.0;
    }
}

// Moves the portal outward until the target is behind it.
static Outcome refine(Search* s)
{
    for (;;) {
        rbVec3 n = portalNormal(s);
        if (!(s->front > 0.0)) {
            return OUTCOME_DEGENERATE;
        }
        double gap = rbDot(n, s->q) - s->front;
        if (!isBeyondRounding(s, gap, n)) {
            double residual = weigh(s, s->q);
            if (residual <= 4.0 * s->roundingSquared) {
                s->certified = sqrt(residual);
                return OUTCOME_PORTAL;
            }
            if (gap <= 0.0) {
                return OUTCOME_DEGENERATE;
            }
        }
        if (s->supports >= s->supportMax) {
            return OUTCOME_LIMIT;
        }
        addSupport(s, n, s->spare);
        s->filled = 4;
        if (isMiss(s)) {
            return OUTCOME_MISS;
        }
        if (!isBeyondRounding(s, rbDot(n, s->last->p) - s->front, n)) {
            return OUTCOME_DEGENERATE;
        }
        shrinkPortal(s);
    }
}

// Moves the portal, with the target behind it, to the surface: the support plane is then at most
// tolerance times the depth farther out.
static rbStopReason reachSurface(Search* s, double tolerance)
{
    while (s->supports < s->supportMax) {
        rbVec3 n = portalNormal(s);
        if (!(rbDot(n, s->ray) > 0.0)) {
            return RB_STOP_ROUNDING;
        }
        addSupport(s, n, s->spare);
        double advance = rbDot(n, s->last->p) - s->front;
        if (advance <= tolerance * s->height) {
            return RB_STOP_CONVERGED;
        }
        if (!isBeyondRounding(s, advance, n)) {
            return RB_STOP_ROUNDING;
        }
        shrinkPortal(s);
    }
    return RB_STOP_ITERATIONS;
}

// ---------------------------------------------------------------------------------- answers

static void begin(Search* s, const rbCso* cso, const rbMprSettings* settings)
{
    RB_ASSERT(cso != NULL && isfinite(cso->scale));
    RB_ASSERT(settings->relativeTolerance >= 0.0 && settings->iterationMax >= 1);
    s->cso = cso;
    s->radii = cso->a->radius + cso->b->radius;
    s->rounding = ROUNDING_UNITS * DBL_EPSILON * (cso->scale + s->radii);
    s->roundingSquared = s->rounding * s->rounding;
    s->supports = 0;
    s->supportMax = settings->iterationMax;
    s->filled = 0;
    s->certified = s->rounding; // if the first point is on the ray
    s->isPolytope = cso->a->isPolytope && cso->b->isPolytope;
    s->isAcross = false;
    s->one = &s->points[0];
    s->two = &s->points[1];
    s->three = &s->points[2];
    s->spare = &s->points[3];
}

// Point of B that corresponds to a point of the search.
static rbVec3 pointOnB(const Search* s, rbVec3 a, rbVec3 p)
{
    return rbAdd(rbSub(rbSub(a, p), s->offset), s->cso->translation);
}

// Stores bound, normal and distance of the last support plane.
static void notePlane(const Search* s, rbMprResult* result)
{
    double length = rbLength(s->direction);
    RB_ASSERT(length > 0.0);
    double inverse = 1.0 / length;
    result->normal = rbScale(inverse, s->direction);
    result->distance = -s->height * inverse;
    result->lower = result->distance - s->rounding;
}

// Stores the known point of D nearest to the origin. The centers are points of the cores, so the
// ball of the radii about their difference belongs to D.
static void noteNearest(const Search* s, rbVec3 centerA, rbMprResult* result)
{
    double length = rbLength(s->q);
    double least = length - s->radii;
    rbVec3 a = centerA;
    rbVec3 p = RB_VEC3_ZERO;
    if (s->radii > 0.0 && length > 0.0) {
        a = rbAddScaled(a, s->cso->a->radius / length, s->q);
        p = rbScale(s->radii / length, s->q);
    }
    for (int i = 0; i < s->filled; ++i) {
        double distance = rbDistance(s->points[i].p, s->q);
        if (distance < least) {
            least = distance;
            p = s->points[i].p;
            a = s->points[i].a;
        }
    }
    result->a = a;
    result->b = pointOnB(s, a, p);
    result->upper = least + s->rounding;
}

// Stores the points of the bodies given by the weights; the center has the remainder.
static void noteWeighted(const Search* s, rbVec3 centerA, rbMprResult* result)
{
    const Point* points[3] = {s->one, s->two, s->three};
    rbVec3 a = rbScale(1.0 - (s->weights[0] + s->weights[1] + s->weights[2]), centerA);
    rbVec3 p = RB_VEC3_ZERO;
    for (int i = 0; i < 3; ++i) {
        a = rbAddScaled(a, s->weights[i], points[i]->a);
        p = rbAddScaled(p, s->weights[i], points[i]->p);
    }
    result->a = a;
    result->b = pointOnB(s, a, p);
}

// Distance of the target from the plane spanned by u and v, less the possible rounding error of the
// normal u x v. NaN if u and v are parallel.
static double distanceFromPlane(const Search* s, rbVec3 u, rbVec3 v, rbVec3 target)
{
    rbVec3 n = rbCross(u, v);
    double product = 0.5 * (rbLengthSquared(u) + rbLengthSquared(v)); // >= |u| |v|
    return (rbDot(n, target) - s->rounding * product) / rbLength(n);
}

// Radius of a ball about the origin that fits into the tetrahedron of center and portal, with the
// target behind the portal; 0 if it is within rounding.
static double innerBall(const Search* s)
{
    rbVec3 one = s->one->p;
    rbVec3 two = s->two->p;
    rbVec3 three = s->three->p;
    const double heights[4] = {
        distanceFromPlane(s, one, two, s->q), distanceFromPlane(s, two, three, s->q),
        distanceFromPlane(s, three, one, s->q),
        distanceFromPlane(s, rbSub(three, one), rbSub(two, one), rbSub(s->q, one))};
    double least = INFINITY;
    for (int i = 0; i < 4; ++i) {
        // written so that NaN, from a sliver, gives 0
        least = heights[i] > s->rounding ? fmin(least, heights[i] - s->rounding) : 0.0;
        if (!(least > 0.0)) {
            return 0.0;
        }
    }
    return least;
}

// Lets GJK decide. isDetection: stop as soon as the answer is known.
static void solveByGjk(Search* s, bool isDetection, rbMprResult* result)
{
    const rbCso* cso = s->cso;
    rbGjkSettings settings = rbDefaultGjkSettings();
    if (isDetection) {
        settings.distanceMin = settings.distanceMax = s->radii;
    }
    rbGjkResult found;
    rbGjk_Solve(cso, &settings, NULL, &found);
    s->supports += found.iterations;
    addSupport(s, found.normal, s->one);
    notePlane(s, result);
    double slack = 2.0 * DBL_EPSILON * s->radii;
    result->isFallback = true;
    if (found.lower > 0.0) { // otherwise it says nothing about the signed distance
        result->lower = fmax(result->lower, found.lower - s->radii - slack);
    }
    result->overlaps = !(result->lower > 0.0);
    result->upper = found.upper - s->radii + slack;
    result->distance = fmin(fmax(result->distance, result->lower), result->upper);
    result->travel = fmax(0.0, -result->distance);
    result->reason = found.reason;
    // a common point of overlapping bodies, or points of their surfaces
    double distance = rbDistance(found.a, found.b);
    rbVec3 across =
        distance > s->rounding ? rbScale(1.0 / distance, rbSub(found.b, found.a)) : found.normal;
    double share = isDetection && distance < s->radii ? distance / s->radii : 1.0;
    result->a = rbAddScaled(found.a, share * cso->a->radius, across);
    result->b = rbAddScaled(found.b, -share * cso->b->radius, across);
}

// Sets the center and the target of the search; returns the center of A.
static rbVec3 aimAtOrigin(Search* s)
{
    const rbCso* cso = s->cso;
    rbVec3 centerA = rbMpr_GetCenter(cso->a);
    rbVec3 turned = rbMulMV(cso->rotation, rbMpr_GetCenter(cso->b));
    s->offset = rbSub(centerA, turned);
    s->q = rbSub(cso->translation, s->offset);
    s->ray = s->q;
    return centerA;
}

// The centers coincide: the origin is inside for any ray. The axis of A or B along which D is
// thinnest is the best guess.
static void chooseRay(Search* s)
{
    const rbMat3* r = &s->cso->rotation;
    const rbVec3 axes[6] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, r->cx, r->cy, r->cz};
    double least = INFINITY;
    for (int i = 0; i < 12; ++i) {
        rbVec3 axis = i < 6 ? axes[i] : rbNeg(axes[i - 6]);
        addSupport(s, axis, s->one);
        if (s->height < least) {
            least = s->height;
            s->ray = axis;
        }
    }
}

// Distance of the last support plane from the origin along the ray.
static double travelToPlane(const Search* s)
{
    double along = rbDot(s->direction, s->ray);
    RB_ASSERT(along > 0.0);
    return fmax(0.0, s->height * rbLength(s->ray) / along);
}

// From a portal with the target behind it to the surface: stores plane, travel and witness points.
static void notePenetration(Search* s, rbVec3 centerA, double tolerance, rbMprResult* result)
{
    result->reason = reachSurface(s, tolerance);
    if (!(rbDot(s->direction, s->ray) > 0.0)) {
        addSupport(s, s->ray, s->spare);
        result->reason = RB_STOP_ROUNDING;
    }
    notePlane(s, result);
    result->travel = travelToPlane(s);
    weighCrossing(s);
    noteWeighted(s, centerA, result);
}

// Common start of all queries: is the origin in D? The search is left in its final state; a miss
// and an unfinished search are stored in the result.
static Outcome decide(Search* s, rbVec3 centerA, rbMprResult* result)
{
    Outcome outcome = discover(s);
    if (outcome == OUTCOME_PORTAL) {
        outcome = refine(s);
    }
    if (outcome == OUTCOME_MISS || outcome == OUTCOME_LIMIT) {
        result->overlaps = outcome == OUTCOME_LIMIT;
        result->reason = result->overlaps ? RB_STOP_ITERATIONS : RB_STOP_APART;
        notePlane(s, result);
        noteNearest(s, centerA, result);
    } else {
        result->upper = s->radii > 0.0 ? rbLength(s->q) - s->radii + s->rounding : INFINITY;
    }
    return outcome;
}

static void close(const Search* s, rbMprResult* result)
{
    result->iterations = s->supports;
    result->upper = fmax(result->upper, result->distance);
    RB_ASSERT(result->lower <= result->distance && result->distance <= result->upper);
    RB_ASSERT(result->overlaps || result->lower > 0.0);
    RB_ASSERT(rbIsFinite3(result->normal) && rbIsFinite3(result->a) && rbIsFinite3(result->b));
}

bool rbMpr_Overlaps(const rbCso* cso)
{
    rbMprSettings settings = rbDefaultMprSettings();
    Search s;
    begin(&s, cso, &settings);
    aimAtOrigin(&s);
    if (rbLengthSquared(s.q) <= s.roundingSquared) {
        return true;
    }
    Outcome outcome = discover(&s);
    if (outcome == OUTCOME_PORTAL) {
        outcome = refine(&s);
    }
    // a yes or no cannot express "undecided"
    if (outcome == OUTCOME_DEGENERATE || outcome == OUTCOME_LIMIT) {
        rbMprResult result;
        solveByGjk(&s, true, &result);
        return result.overlaps;
    }
    return outcome != OUTCOME_MISS;
}

rbMprResult rbMpr_Detect(const rbCso* cso, const rbMprSettings* settings)
{
    rbMprSettings defaults = rbDefaultMprSettings();
    Search s;
    begin(&s, cso, settings != NULL ? settings : &defaults);
    rbVec3 centerA = aimAtOrigin(&s);
    rbMprResult result = {.overlaps = true, .upper = INFINITY, .reason = RB_STOP_TOUCHES};
    if (rbLengthSquared(s.q) <= s.roundingSquared) {
        addSupport(&s, rbMakeVec3(1.0, 0.0, 0.0), s.one);
        notePlane(&s, &result);
        result.a = centerA;
        result.b = pointOnB(&s, centerA, RB_VEC3_ZERO);
        result.upper = rbLength(s.q) - s.radii + s.rounding;
        close(&s, &result);
        return result;
    }
    Outcome outcome = decide(&s, centerA, &result);
    if (outcome == OUTCOME_DEGENERATE) {
        solveByGjk(&s, true, &result);
    } else if (outcome == OUTCOME_PORTAL) {
        notePlane(&s, &result);
        noteWeighted(&s, centerA, &result);
        result.upper = fmin(result.upper, s.certified + s.rounding);
    } else if (outcome == OUTCOME_ON_RAY) {
        notePlane(&s, &result);
        // the point on the segment from the center to the first point that is the target
        double share = fmin(1.0, rbDot(s.q, s.one->p) / rbLengthSquared(s.one->p));
        result.a = rbAddScaled(centerA, share, rbSub(s.one->a, centerA));
        result.b = pointOnB(&s, result.a, rbScale(share, s.one->p));
        result.upper = fmin(result.upper, s.certified + s.rounding);
    }
    close(&s, &result);
    return result;
}

rbMprResult rbMpr_Penetration(const rbCso* cso, const rbMprSettings* settings)
{
    rbMprSettings defaults = rbDefaultMprSettings();
    const rbMprSettings* used = settings != NULL ? settings : &defaults;
    Search s;
    begin(&s, cso, used);
    rbVec3 centerA = aimAtOrigin(&s);
    rbMprResult result = {.overlaps = true, .upper = INFINITY, .reason = RB_STOP_CONVERGED};
    if (rbLengthSquared(s.q) <= s.roundingSquared) {
        chooseRay(&s);
    }
    Outcome outcome = decide(&s, centerA, &result);
    if (outcome == OUTCOME_DEGENERATE) {
        solveByGjk(&s, false, &result);
    } else if (outcome == OUTCOME_PORTAL) {
        double ball = innerBall(&s);
        notePenetration(&s, centerA, used->relativeTolerance, &result);
        ball = fmax(ball, innerBall(&s));
        result.upper = fmin(result.upper, ball > 0.0 ? -ball : s.certified + s.rounding);
    } else if (outcome == OUTCOME_ON_RAY) {
        notePlane(&s, &result);
        result.travel = travelToPlane(&s);
        result.a = s.one->a;
        result.b = pointOnB(&s, s.one->a, s.one->p);
        result.upper = fmin(result.upper, s.certified + s.rounding);
    }
    close(&s, &result);
    return result;
}

rbMprResult rbMpr_PenetrationAlong(const rbCso* cso, rbVec3 direction,
                                   const rbMprSettings* settings)
{
    RB_ASSERT(rbIsFinite3(direction));
    double largest = rbLargestComponent(direction);
    if (!(largest > 0.0)) {
        return rbMpr_Penetration(cso, settings);
    }
    rbMprResult result = rbMpr_Detect(cso, settings);
    if (!result.overlaps) {
        return result;
    }
    bool isUndecided = result.reason == RB_STOP_ITERATIONS;
    rbMprSettings defaults = rbDefaultMprSettings();
    const rbMprSettings* used = settings != NULL ? settings : &defaults;
    Search s;
    begin(&s, cso, used);
    s.supports = result.iterations;
    s.supportMax += result.iterations;
    s.offset = cso->translation;
    s.q = RB_VEC3_ZERO;
    s.ray = rbNormalize(
        rbMakeVec3(direction.x / largest, direction.y / largest, direction.z / largest));
    s.isAcross = true;
    Outcome outcome = discover(&s);
    if (outcome == OUTCOME_PORTAL) {
        notePenetration(&s, result.a, used->relativeTolerance, &result);
    } else if (outcome == OUTCOME_ON_RAY) {
        notePlane(&s, &result);
        result.travel = travelToPlane(&s);
        result.a = s.one->a;
        result.b = pointOnB(&s, s.one->a, s.one->p);
        result.reason = RB_STOP_CONVERGED;
    } else if (isBeyondRounding(&s, s.height, s.direction)) {
        // No portal, but deep: the support plane perpendicular to the ray is always a valid answer.
        addSupport(&s, s.ray, s.one);
        notePlane(&s, &result);
        result.travel = travelToPlane(&s);
        result.a = s.one->a;
        result.b = pointOnB(&s, s.one->a, s.one->p);
        result.reason = outcome == OUTCOME_LIMIT ? RB_STOP_ITERATIONS : RB_STOP_ROUNDING;
    } else {
        notePlane(&s, &result);
        result.travel = 0.0;
        result.reason = RB_STOP_ROUNDING;
    }
    result.reason = isUndecided ? RB_STOP_ITERATIONS : result.reason;
    close(&s, &result);
    return result;
}

rbSeparation rbMpr_Separation(const rbMprResult* result)
{
    RB_ASSERT(result != NULL);
    RB_ASSERT(result->lower <= result->distance && result->distance <= result->upper);
    rbVec3 middle = rbScale(0.5, rbAdd(result->a, result->b));
    double half = 0.5 * result->distance;
    return (rbSeparation){
        .distance = result->distance,
        .lower = result->lower,
        .upper = result->upper,
        .pointA = rbAddScaled(middle, -half, result->normal),
        .pointB = rbAddScaled(middle, half, result->normal),
        .normal = result->normal,
        .iterations = result->iterations,
        .reason = result->reason,
    };
}
