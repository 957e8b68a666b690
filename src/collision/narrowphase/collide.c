// Closed forms of spheres, boxes, capsules and planes, and of two ellipsoids.
#include "collision/narrowphase/collide.h"

#include "base/math/matrix3.h"
#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"

#include <float.h>

rbSeparation rbMakeClosedForm(double distance, rbVec3 normal, rbVec3 pointA, double scale)
{
    RB_ASSERT(isfinite(distance) && scale >= 0.0);
    RB_ASSERT(fabs(rbLengthSquared(normal) - 1.0) < 1e-10);
    double slack = RB_COLLIDE_SLACK * scale;
    return (rbSeparation){.distance = distance,
                          .lower = distance - slack,
                          .upper = distance + slack,
                          .pointA = pointA,
                          .pointB = rbAddScaled(pointA, distance, normal),
                          .normal = normal,
                          .iterations = 0,
                          .reason = RB_STOP_CLOSED_FORM};
}

rbSeparation rbFlipSeparation(const rbSeparation* separation, rbTransform transformBtoA)
{
    RB_ASSERT(separation->lower <= separation->upper);
    rbSeparation flipped = *separation;
    flipped.pointA = rbInvTransformPoint(transformBtoA, separation->pointB);
    flipped.pointB = rbInvTransformPoint(transformBtoA, separation->pointA);
    flipped.normal = rbNeg(rbInvRotate(transformBtoA.q, separation->normal));
    flipped.faceA = separation->faceB;
    flipped.faceB = separation->faceA;
    return flipped;
}

// Planes against bounded convex shapes by the support of their core (G-16): the center of a sphere,
// an end of the axis of a capsule, any other shape itself.
rbSeparation rbCollideConvexPlane(const rbGeometry* a, const rbGeometry* b,
                                  rbTransform transformBtoA)
{
    RB_ASSERT(b->type == RB_SHAPE_PLANE);
    const rbShapeOps* ops = rbGetShapeOps(a->type);
    RB_ASSERT(ops->isConvex && a->isBounded);
    rbVec3 up = rbRotate(transformBtoA.q, b->data.plane.normal);
    double radius = 0.0;
    rbVec3 lowest = RB_VEC3_ZERO;
    if (ops->family == RB_FAMILY_BALL) {
        radius = a->data.sphere.radius;
    } else if (ops->family == RB_FAMILY_ROD) {
        radius = a->data.capsule.radius;
        lowest.z = -copysign(a->data.capsule.halfLength, up.z);
    } else {
        lowest = ops->support(a, rbScale(-1.0 / rbLargestComponent(up), up));
    }
    double height = rbDot(up, rbSub(lowest, transformBtoA.p)) - b->data.plane.offset;
    double scale =
        radius + rbLength(lowest) + rbLength(transformBtoA.p) + fabs(b->data.plane.offset);
    return rbMakeClosedForm(height - radius, rbNeg(up), rbAddScaled(lowest, -radius, up), scale);
}

// ------------------------------------------------------------------------------------- points

// Signed distance of a point to box, capsule, cylinder, cone and ellipsoid.
//
// Points on the surface count as inside, so that a distance of zero has the normal of a face and
// never that of a vanishing difference. Bodies of revolution are measured in the half plane of the
// point, coordinates rho = sqrt(x^2 + y^2) and z.
//
// Ellipsoid: the nearest point q of x^2/a^2 + y^2/b^2 + z^2/c^2 = 1 satisfies p - q = t grad, so
// q_i = a_i w_i with w_i = r_i z_i / (u + d_i), where z_i = p_i / a_i, r_i = (a_i / a_min)^2, d_i =
// r_i - 1 and u = t / a_min^2 + 1 >= 0 is the largest root of |w(u)| = 1. 1/|w| is increasing and
// concave in u, so Newton's steps on 1/|w| = 1 rise to the root from any start below it. With u
// counted from the pole of the smallest axis the root keeps its relative precision when the point
// is close to the medial plane; on that plane itself u = 0 is possible and the equation gives the
// component of the smallest axis.

// Squares below this lose precision.
#define TINY_LENGTH 1e-140
// Exact scale factor from there to where squares are safe.
#define TINY_FACTOR 0x1p600
// Newton converges in less than 10 steps; far points next to the medial plane of a needle need up
// to 30 before the quadratic phase.
#define ELLIPSOID_STEPS_MAX 100
// Smaller ratios of coordinate to semi-axis count as zero: their reciprocal would overflow.
#define TINY_COORDINATE 1e-290

double rbSplitLength(rbVec3 v, rbVec3 fallback, rbVec3* direction)
{
    double largest = rbLargestComponent(v);
    RB_ASSERT(isfinite(largest));
    if (!(largest > 0.0)) {
        *direction = fallback;
        return 0.0;
    }
    double factor = largest < TINY_LENGTH ? TINY_FACTOR : 1.0;
    rbVec3 w = rbScale(factor, v);
    double length = rbLength(w);
    *direction = rbMakeVec3(w.x / length, w.y / length, w.z / length);
    return length / factor;
}

typedef struct PointDistance {
    double distance; // m, negative inside
    rbVec3 normal;   // outward unit normal at the nearest point of the surface, which is
                     // point - distance * normal
} PointDistance;

typedef PointDistance PointDistanceFn(const rbGeometry* geometry, rbVec3 point);

static PointDistance measurePointBox(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry->type == RB_SHAPE_BOX);
    rbVec3 h = geometry->data.box.halfExtents;
    rbVec3 nearest = rbMax3(rbNeg(h), rbMin3(h, point));
    PointDistance r;
    r.distance = rbSplitLength(rbSub(point, nearest), RB_VEC3_ZERO, &r.normal);
    if (r.distance > 0.0) {
        return r;
    }
    // inside: the nearest face
    const double depths[3] = {h.x - fabs(point.x), h.y - fabs(point.y), h.z - fabs(point.z)};
    const rbVec3 normals[3] = {{copysign(1.0, point.x), 0.0, 0.0},
                               {0.0, copysign(1.0, point.y), 0.0},
                               {0.0, 0.0, copysign(1.0, point.z)}};
    int best = depths[1] < depths[0] ? 1 : 0;
    best = depths[2] < depths[best] ? 2 : best;
    r.distance = -depths[best];
    r.normal = normals[best];
    return r;
}

static PointDistance measurePointCapsule(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry->type == RB_SHAPE_CAPSULE);
    double half = geometry->data.capsule.halfLength;
    double beyond = fabs(point.z) > half ? copysign(fabs(point.z) - half, point.z) : 0.0;
    PointDistance r;
    // a point of the axis is as far from the side in every direction across
    double toAxis =
        rbSplitLength(rbMakeVec3(point.x, point.y, beyond), rbMakeVec3(1.0, 0.0, 0.0), &r.normal);
    r.distance = toAxis - geometry->data.capsule.radius;
    return r;
}

// A direction of the half plane of a point: across is the unit vector from the axis to the point.
static rbVec3 lift(rbVec3 across, double rho, double z)
{
    return rbMakeVec3(rho * across.x, rho * across.y, z);
}

static PointDistance measurePointCylinder(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry->type == RB_SHAPE_CYLINDER);
    rbVec3 across;
    double rho =
        rbSplitLength(rbMakeVec3(point.x, point.y, 0.0), rbMakeVec3(1.0, 0.0, 0.0), &across);
    double side = rho - geometry->data.cylinder.radius;
    double cap = fabs(point.z) - geometry->data.cylinder.halfLength;
    double up = copysign(1.0, point.z);
    PointDistance r;
    if (side > 0.0 && cap > 0.0) { // the rim
        r.distance = rbSplitLength(lift(across, side, up * cap), across, &r.normal);
    } else if (cap > side) {
        r = (PointDistance){cap, {0.0, 0.0, up}};
    } else {
        r = (PointDistance){side, across};
    }
    return r;
}

static PointDistance measurePointCone(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry->type == RB_SHAPE_CONE);
    double radius = geometry->data.cone.radius, height = geometry->data.cone.height;
    rbVec3 across;
    double rho =
        rbSplitLength(rbMakeVec3(point.x, point.y, 0.0), rbMakeVec3(1.0, 0.0, 0.0), &across);
    double slant = rbLength(rbMakeVec3(radius, height, 0.0));
    double normalRho = height / slant, normalZ = radius / slant;
    rbVec3 sideNormal = lift(across, normalRho, normalZ);
    double belowApex = 0.5 * height - point.z;
    double aboveBase = 0.5 * height + point.z;
    double side = normalRho * rho - normalZ * belowApex;
    // Along the side toward the apex, from the rim and from the apex: each from the differences
    // that define the direction there, so that for small distances the normal stays within the cone
    // of normals.
    double fromRim = normalRho * aboveBase - normalZ * (rho - radius);
    double fromApex = -normalRho * belowApex - normalZ * rho;
    bool isInside = side <= 0.0 && aboveBase >= 0.0;
    PointDistance r;
    if (-aboveBase >= side && rho <= radius) {
        r = (PointDistance){-aboveBase, {0.0, 0.0, -1.0}};
    } else if (!isInside && fromRim < 0.0) {
        r.distance = rbSplitLength(lift(across, rho - radius, aboveBase), sideNormal, &r.normal);
    } else if (!isInside && fromApex > 0.0) {
        r.distance = rbSplitLength(lift(across, rho, -belowApex), sideNormal, &r.normal);
    } else {
        r = (PointDistance){side, sideNormal};
    }
    return r;
}

// The equation |w(u)| = 1 of an ellipsoid and a point in the octant of positive coordinates.
typedef struct Secular {
    double rz[3]; // r_i z_i
    double d[3];
} Secular;

// w at u; returns |w|.
static double evaluateSecular(const Secular* s, double u, double w[3])
{
    for (int i = 0; i < 3; ++i) {
        w[i] = s->rz[i] > 0.0 ? s->rz[i] / (u + s->d[i]) : 0.0;
    }
    return sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

// w of the nearest point, |w| = 1 to rounding. smallest is the index of the smallest axis.
static void solveSecular(const Secular* s, int smallest, double w[3])
{
    double u = 0.0;
    bool hasPole = false; // a term with d = 0 and a point off that plane
    for (int i = 0; i < 3; ++i) {
        u = rbMaxOf(u, s->rz[i] - s->d[i]);
        hasPole = hasPole || (s->d[i] == 0.0 && s->rz[i] > 0.0);
    }
    if (u == 0.0 && !hasPole) {
        double length = evaluateSecular(s, 0.0, w);
        if (length <= 1.0) {
            w[smallest] = sqrt((1.0 - length) * (1.0 + length));
            return;
        }
    }
    double length = evaluateSecular(s, u, w);
    for (int step = 0; step < ELLIPSOID_STEPS_MAX && length > 1.0; ++step) {
        double slope = 0.0;
        for (int i = 0; i < 3; ++i) {
            slope += s->rz[i] > 0.0 ? w[i] * (w[i] / (u + s->d[i])) : 0.0;
        }
        double next = u + (length - 1.0) * (length * length / slope);
        if (!(next > u)) {
            break;
        }
        u = next;
        length = evaluateSecular(s, u, w);
    }
}

static PointDistance measurePointEllipsoid(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry->type == RB_SHAPE_ELLIPSOID);
    rbVec3 semi = geometry->data.ellipsoid.semiAxes;
    const double a[3] = {semi.x, semi.y, semi.z};
    const double p[3] = {point.x, point.y, point.z};
    int smallest = a[1] < a[0] ? 1 : 0;
    smallest = a[2] < a[smallest] ? 2 : smallest;
    Secular secular;
    for (int i = 0; i < 3; ++i) {
        double ratio = a[i] / a[smallest];
        double z = fabs(p[i]) / a[i];
        secular.rz[i] = z < TINY_COORDINATE ? 0.0 : ratio * ratio * z;
        secular.d[i] = (a[i] - a[smallest]) / a[smallest] * (ratio + 1.0);
    }
    double w[3];
    solveSecular(&secular, smallest, w);
    double length = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    RB_ASSERT(length > 0.5 && length < 2.0);
    double n[3], q[3];
    for (int i = 0; i < 3; ++i) {
        w[i] = copysign(w[i] / length, p[i]);
        n[i] = w[i] * (a[smallest] / a[i]);
        q[i] = a[i] * w[i];
    }
    PointDistance r;
    (void)rbSplitLength(rbMakeVec3(n[0], n[1], n[2]), rbMakeVec3(1.0, 0.0, 0.0), &r.normal);
    // along the normal an error of q in the surface has no first-order effect
    r.distance = rbDot(r.normal, rbSub(point, rbMakeVec3(q[0], q[1], q[2])));
    return r;
}

// ------------------------------------------------------------------------------------ spheres

// A sphere against every primitive: the signed distance of its center less its radius. That is also
// the depth when the center is inside, because the obstacle of a convex body and a sphere is the
// body expanded by the radius.

rbSeparation rbCollideSphereSphere(const rbGeometry* a, const rbGeometry* b,
                                   rbTransform transformBtoA)
{
    RB_ASSERT(a->type == RB_SHAPE_SPHERE && b->type == RB_SHAPE_SPHERE);
    double radiusA = a->data.sphere.radius, radiusB = b->data.sphere.radius;
    rbVec3 normal;
    double between = rbSplitLength(transformBtoA.p, rbMakeVec3(0.0, 0.0, 1.0), &normal);
    return rbMakeClosedForm(between - radiusA - radiusB, normal, rbScale(radiusA, normal),
                            between + radiusA + radiusB);
}

rbSeparation rbCollideSphereSolid(const rbGeometry* a, const rbGeometry* b,
                                  rbTransform transformBtoA)
{
    static PointDistanceFn* const measures[RB_SHAPE_COUNT] = {
        [RB_SHAPE_BOX] = measurePointBox,
        [RB_SHAPE_CAPSULE] = measurePointCapsule,
        [RB_SHAPE_CYLINDER] = measurePointCylinder,
        [RB_SHAPE_CONE] = measurePointCone,
        [RB_SHAPE_ELLIPSOID] = measurePointEllipsoid,
    };
    RB_ASSERT(a->type == RB_SHAPE_SPHERE && measures[b->type] != NULL);
    double radius = a->data.sphere.radius;
    // no point of B is farther from its origin
    double size = b->radius;
    if (b->type == RB_SHAPE_CYLINDER) {
        size = b->data.cylinder.radius + b->data.cylinder.halfLength;
    } else if (b->type == RB_SHAPE_CONE) {
        size = b->data.cone.radius + b->data.cone.height;
    }
    rbVec3 center = rbNeg(rbInvRotate(transformBtoA.q, transformBtoA.p));
    PointDistance found = measures[b->type](b, center);
    rbVec3 normal = rbNeg(rbRotate(transformBtoA.q, found.normal));
    return rbMakeClosedForm(found.distance - radius, normal, rbScale(radius, normal),
                            rbLength(center) + radius + size);
}

// ----------------------------------------------------------------------------------- segments

// The distance of two segments is attained between inner points of both or at an end of one of
// them. All five candidates are feasible points, so that a badly conditioned inner one (nearly
// parallel lines) can only lose against an end; and where it wins, the error of its parameters is
// rounding over the sine of the angle, which changes the distance by the square of rounding.

// Points center + s direction, |s| <= half.
typedef struct Segment {
    rbVec3 center;
    rbVec3 direction; // unit
    double half;      // >= 0
} Segment;

typedef struct SegmentPair {
    double s, t; // parameters on the first and the second segment
    rbVec3 pointA, pointB;
    double distance;
} SegmentPair;

static double clampTo(double half, double s)
{
    return s < -half ? -half : (s > half ? half : s);
}

static void keepBetter(SegmentPair* best, const Segment* a, const Segment* b, double s, double t)
{
    SegmentPair pair = {s, t, rbAddScaled(a->center, s, a->direction),
                        rbAddScaled(b->center, t, b->direction), 0.0};
    pair.distance = rbDistance(pair.pointA, pair.pointB);
    if (pair.distance < best->distance) {
        *best = pair;
    }
}

// Exact to rounding for crossing, parallel, collinear and degenerate segments. Where the pair is
// not unique, the first of: inner points, ends of A, ends of B.
static SegmentPair measureSegments(const Segment* a, const Segment* b)
{
    RB_ASSERT(a->half >= 0.0 && b->half >= 0.0);
    SegmentPair best = {.distance = INFINITY};
    rbVec3 between = rbSub(b->center, a->center);
    rbVec3 across = rbCross(a->direction, b->direction);
    double sine2 = rbLengthSquared(across);
    if (sine2 > 0.0) {
        double t = rbDot(rbCross(between, a->direction), across) / sine2;
        if (isfinite(t)) {
            // the nearest point to the clamped one, twice: keeps both feasible and consistent
            t = clampTo(b->half, t);
            rbVec3 toB = rbAddScaled(between, t, b->direction);
            double s = clampTo(a->half, rbDot(toB, a->direction));
            rbVec3 toA = rbSub(rbScale(s, a->direction), between);
            t = clampTo(b->half, rbDot(toA, b->direction));
            keepBetter(&best, a, b, s, t);
        }
    }
    for (int end = -1; end <= 1; end += 2) {
        double s = end * a->half;
        rbVec3 toA = rbSub(rbScale(s, a->direction), between);
        keepBetter(&best, a, b, s, clampTo(b->half, rbDot(toA, b->direction)));
    }
    for (int end = -1; end <= 1; end += 2) {
        double t = end * b->half;
        rbVec3 toB = rbAddScaled(between, t, b->direction);
        keepBetter(&best, a, b, clampTo(a->half, rbDot(toB, a->direction)), t);
    }
    return best;
}

// ----------------------------------------------------------------------------------- capsules

// Capsules: their axes are segments, the radius is subtracted at the end (G-36).
//
// Crossing axes: the obstacle of two segments is flat, so the exit direction is its normal and the
// depth is the sum of the radii; parallel axes have a whole circle of exit directions.

// Gap between two segments along a unit vector.
static double gapOfAxes(const Segment* a, const Segment* b, rbVec3 n)
{
    return rbDot(n, rbSub(b->center, a->center)) - a->half * fabs(rbDot(n, a->direction)) -
           b->half * fabs(rbDot(n, b->direction));
}

rbSeparation rbCollideCapsuleCapsule(const rbGeometry* a, const rbGeometry* b,
                                     rbTransform transformBtoA)
{
    RB_ASSERT(a->type == RB_SHAPE_CAPSULE && b->type == RB_SHAPE_CAPSULE);
    double radiusA = a->data.capsule.radius, radiusB = b->data.capsule.radius;
    Segment axisA = {RB_VEC3_ZERO, {0.0, 0.0, 1.0}, a->data.capsule.halfLength};
    Segment axisB = {transformBtoA.p, rbMatFromQuat(transformBtoA.q).cz,
                     b->data.capsule.halfLength};
    SegmentPair pair = measureSegments(&axisA, &axisB);
    double scale = axisA.half + axisB.half + radiusA + radiusB + rbLength(transformBtoA.p);
    // perpendicular to an axis at its inner points, more accurately than rounding over the distance
    rbVec3 between = rbSub(pair.pointB, pair.pointA);
    if (fabs(pair.t) < axisB.half) {
        between = rbAddScaled(between, -rbDot(between, axisB.direction), axisB.direction);
    }
    if (fabs(pair.s) < axisA.half) {
        between.z = 0.0;
    }
    // z cross direction of B: perpendicular to both axes
    rbVec3 across;
    double sine = rbSplitLength(rbMakeVec3(-axisB.direction.y, axisB.direction.x, 0.0),
                                rbMakeVec3(1.0, 0.0, 0.0), &across);
    bool isInner = fabs(pair.s) < axisA.half && fabs(pair.t) < axisB.half;
    rbVec3 normal = across;
    double distance = pair.distance;
    // The difference of the points has a direction error of rounding * scale / distance, the cross
    // product one of rounding / sine: the more accurate one is used.
    bool isNoise = distance <= RB_COLLIDE_SLACK * scale;
    if (isNoise || (isInner && sine * scale > distance)) {
        double side = rbDot(across, between);
        normal = side < 0.0 ? rbNeg(across) : across;
        distance = fabs(side);
    } else {
        distance = rbSplitLength(between, across, &normal);
        double along = fmax(fabs(between.z), fabs(rbDot(between, axisB.direction)));
        if (along <= RB_COLLIDE_SLACK * scale && distance < 1e-3 * scale) {
            // Ends that are level with each other to rounding: a difference along the axes that is
            // only rounding tilts the normal of thin capsules. The perpendicular to the axes, if
            // that proves a larger gap.
            rbVec3 level = rbAddScaled(between, -rbDot(between, axisB.direction), axisB.direction);
            level = rbAddScaled(level, -rbDot(level, axisA.direction), axisA.direction);
            rbVec3 n;
            double length = rbSplitLength(level, normal, &n);
            if (length > 0.0 && gapOfAxes(&axisA, &axisB, n) > gapOfAxes(&axisA, &axisB, normal)) {
                normal = n;
                distance = length;
            }
        }
    }
    rbVec3 pointA = rbAddScaled(pair.pointA, radiusA, normal);
    return rbMakeClosedForm(distance - radiusA - radiusB, normal, pointA, scale);
}

// -------------------------------------------------------------------------------------- boxes

// Two boxes, or a box and a segment.
//
// The difference A - B is a zonotope whose facets have the normals of the faces of A and B and the
// cross products of their edges: 15 axes for two boxes, 6 for a box and a segment. The gap along a
// unit vector n from A to B is g(n) = n . center - h_A(n) - h_B(n); the signed distance is its
// greatest value over all n. For overlapping bodies it is attained at one of the axes. For separate
// bodies it is attained there too if the foot of the origin lies in the facet (vertex and face,
// edge and edge); otherwise (vertex and vertex, vertex and edge) it is a distance of a vertex.
//
// Cross products of nearly parallel edges need no special care: g at any unit vector is at most the
// distance, and a direction error of rounding / sine shifts the narrow facet, as wide as the sine,
// only by rounding. Only a product of length zero is skipped.

// Later axes must be better by this fraction of the scale: faces before edges, A before B.
#define TIE (8.0 * DBL_EPSILON)
// Corners of B within this fraction of the scale of the lowest one belong to the touching feature;
// larger than the tie tolerance, so that the feature of a winning axis overlaps the face.
#define FEATURE (8.0 * TIE)
// Witnesses are accepted when they agree with the gap to this fraction of the scale.
#define TIGHT RB_COLLIDE_SLACK

// Axes that the quick estimate finds worse by this fraction of the scale are skipped, unless the
// square of the sine between their edges is below PARALLEL: there its error is larger.
#define NEAR 1e-11
#define PARALLEL 1e-6

#define CLIP_CORNERS_MAX 8
#define AXES_MAX 15

// In the frame of A.
typedef struct BoxPair {
    double halfA[3];
    double halfB[3]; // (0, 0, half length) for a segment
    rbVec3 axesB[3];
    double entries[3][3]; // component i of axis j of B
    rbVec3 center;        // of B
    double scale;         // the reference for rounding errors
    bool isSegment;
} BoxPair;

typedef struct CoreSeparation {
    double distance; // signed
    rbVec3 normal;   // unit, from A to B
    rbVec3 pointA;   // on A; the one on B is pointA + distance * normal
} CoreSeparation;

typedef enum AxisKind {
    FACE_A,
    FACE_B,
    EDGES
} AxisKind;

typedef struct Axis {
    AxisKind kind;
    int i, j; // axis of A, axis of B
    rbVec3 normal;
    double gap;
} Axis;

static rbVec3 unitVector(int i, double length)
{
    return rbMakeVec3(i == 0 ? length : 0.0, i == 1 ? length : 0.0, i == 2 ? length : 0.0);
}

static rbVec3 fromArray(const double v[3])
{
    return rbMakeVec3(v[0], v[1], v[2]);
}

static BoxPair makeBoxPair(rbVec3 halfA, rbVec3 halfB, rbTransform transformBtoA)
{
    RB_ASSERT(rbIsFinite3(transformBtoA.p));
    RB_ASSERT(fabs(rbDotQuat(transformBtoA.q, transformBtoA.q) - 1.0) < 1e-10);
    rbMat3 m = rbMatFromQuat(transformBtoA.q);
    BoxPair pair = {.halfA = {halfA.x, halfA.y, halfA.z},
                    .halfB = {halfB.x, halfB.y, halfB.z},
                    .axesB = {m.cx, m.cy, m.cz},
                    .center = transformBtoA.p,
                    .isSegment = halfB.x == 0.0 && halfB.y == 0.0};
    const rbVec3* b = pair.axesB;
    for (int j = 0; j < 3; ++j) {
        pair.entries[0][j] = b[j].x;
        pair.entries[1][j] = b[j].y;
        pair.entries[2][j] = b[j].z;
    }
    pair.scale = rbLength(halfA) + rbLength(halfB) + rbLength(transformBtoA.p);
    return pair;
}

static double reachAlong(const BoxPair* pair, rbVec3 n)
{
    double reach =
        pair->halfA[0] * fabs(n.x) + pair->halfA[1] * fabs(n.y) + pair->halfA[2] * fabs(n.z);
    for (int j = pair->isSegment ? 2 : 0; j < 3; ++j) {
        reach += pair->halfB[j] * fabs(rbDot(n, pair->axesB[j]));
    }
    return reach;
}

// Unit vector along e_i x b, false if they are exactly parallel.
static bool crossWithAxis(int i, rbVec3 b, rbVec3* n)
{
    rbVec3 across = i == 0   ? rbMakeVec3(0.0, -b.z, b.y)
                    : i == 1 ? rbMakeVec3(b.z, 0.0, -b.x)
                             : rbMakeVec3(-b.y, b.x, 0.0);
    double square = rbLengthSquared(across);
    if (square < 1e-24) { // rare: where squares may underflow
        return rbSplitLength(across, RB_VEC3_ZERO, n) > 0.0;
    }
    *n = rbScale(1.0 / sqrt(square), across);
    return true;
}

// The axes whose gaps are within NEAR of the best one, including the best one; at most AXES_MAX.
typedef struct Axes {
    Axis rows[AXES_MAX];
    int count, best;
    double least; // gap below which an axis is irrelevant
} Axes;

// Adds an axis whose gap is known.
static void addAxis(const BoxPair* pair, Axes* axes, const Axis* axis)
{
    RB_ASSERT(axes->count < AXES_MAX);
    axes->rows[axes->count] = *axis;
    if (axes->count == 0 || axis->gap > axes->rows[axes->best].gap + TIE * pair->scale) {
        axes->best = axes->count;
        axes->least = axis->gap - NEAR * pair->scale;
    }
    ++axes->count;
}

static void addFaceAxes(const BoxPair* pair, Axes* axes)
{
    const double center[3] = {pair->center.x, pair->center.y, pair->center.z};
    for (int i = 0; i < 3; ++i) {
        const double* row = pair->entries[i];
        double gap = fabs(center[i]) - pair->halfA[i] -
                     (pair->halfB[0] * fabs(row[0]) + pair->halfB[1] * fabs(row[1]) +
                      pair->halfB[2] * fabs(row[2]));
        if (gap >= axes->least) {
            Axis axis = {FACE_A, i, -1, unitVector(i, copysign(1.0, center[i])), gap};
            addAxis(pair, axes, &axis);
        }
    }
    for (int j = 0; j < 3 && !pair->isSegment; ++j) {
        rbVec3 n = pair->axesB[j];
        double between = rbDot(n, pair->center);
        double gap =
            fabs(between) - pair->halfB[j] -
            (pair->halfA[0] * fabs(n.x) + pair->halfA[1] * fabs(n.y) + pair->halfA[2] * fabs(n.z));
        if (gap >= axes->least) {
            Axis axis = {FACE_B, -1, j, between < 0.0 ? rbNeg(n) : n, gap};
            addAxis(pair, axes, &axis);
        }
    }
}

// Products of an edge of A with the edges of B. The gap along e_i x b_j, times its length, follows
// from the entries of the rotation alone; that is accurate enough to skip most of them unless they
// are nearly parallel.
static void addEdgeAxes(const BoxPair* pair, int i, Axes* axes)
{
    int i1 = i == 2 ? 0 : i + 1, i2 = i1 == 2 ? 0 : i1 + 1;
    const double center[3] = {pair->center.x, pair->center.y, pair->center.z};
    for (int j = pair->isSegment ? 2 : 0; j < 3; ++j) {
        int j1 = j == 2 ? 0 : j + 1, j2 = j1 == 2 ? 0 : j1 + 1;
        double r1 = pair->entries[i1][j], r2 = pair->entries[i2][j];
        double square = r1 * r1 + r2 * r2;
        double reach = pair->halfA[i1] * fabs(r2) + pair->halfA[i2] * fabs(r1) +
                       pair->halfB[j1] * fabs(pair->entries[i][j2]) +
                       pair->halfB[j2] * fabs(pair->entries[i][j1]);
        double gap = fabs(center[i2] * r1 - center[i1] * r2) - reach;
        if (square > PARALLEL && gap < axes->least * sqrt(square)) {
            continue;
        }
        Axis axis = {.kind = EDGES, .i = i, .j = j};
        if (crossWithAxis(i, pair->axesB[j], &axis.normal)) {
            // from A to B
            double between = rbDot(axis.normal, pair->center);
            axis.normal = between < 0.0 ? rbNeg(axis.normal) : axis.normal;
            between = between < 0.0 ? -between : between;
            axis.gap = between - reachAlong(pair, axis.normal);
            addAxis(pair, axes, &axis);
        }
    }
}

static void collectAxes(const BoxPair* pair, Axes* axes)
{
    // the first face always counts: nothing is worse than -INFINITY
    axes->count = axes->best = 0;
    axes->least = -INFINITY;
    axes->rows[0] = (Axis){FACE_A, 0, -1, {1.0, 0.0, 0.0}, -INFINITY};
    addFaceAxes(pair, axes);
    for (int i = 0; i < 3; ++i) {
        addEdgeAxes(pair, i, axes);
    }
}

// Corners of the feature of B that is lowest along n, in cyclic order; 1, 2 or 4.
static int collectLowest(const BoxPair* pair, rbVec3 n, rbVec3* corners)
{
    rbVec3 middle = pair->center;
    rbVec3 spans[3];
    int spanCount = 0;
    for (int j = 0; j < 3; ++j) {
        double rise = rbDot(n, pair->axesB[j]) * pair->halfB[j];
        rbVec3 half = rbScale(pair->halfB[j], pair->axesB[j]);
        if (pair->halfB[j] > 0.0 && fabs(rise) <= FEATURE * pair->scale && spanCount < 2) {
            spans[spanCount++] = half;
        } else {
            middle = rise > 0.0 ? rbSub(middle, half) : rbAdd(middle, half);
        }
    }
    static const double signs[4][2] = {{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}};
    int count = spanCount == 2 ? 4 : spanCount + 1;
    for (int k = 0; k < count; ++k) {
        corners[k] = middle;
        for (int m = 0; m < spanCount; ++m) {
            corners[k] = rbAddScaled(corners[k], signs[k][m], spans[m]);
        }
    }
    return count;
}

// Cuts off the part of a polygon (or segment or point) with sign * coordinate axis > limit.
static int clipCorners(const rbVec3* in, int count, int axis, const double bound[2], rbVec3* out)
{
    int kept = 0;
    for (int k = 0; k < count; ++k) {
        rbVec3 p = in[k];
        rbVec3 q = in[(k + 1) % count];
        double above = bound[0] * rbGetComponent(p, axis) - bound[1];
        double next = bound[0] * rbGetComponent(q, axis) - bound[1];
        if (above <= 0.0) {
            out[kept++] = p;
        }
        // a segment is not a cycle: its return side would produce the cut twice
        bool isSide = count > 2 || k + 1 < count;
        if (isSide && (above <= 0.0) != (next <= 0.0)) {
            out[kept++] = rbAddScaled(p, above / (above - next), rbSub(q, p));
        }
        RB_ASSERT(kept <= CLIP_CORNERS_MAX);
    }
    return kept;
}

// Middle of the region that the lowest feature of B and a face of A share; false: there is none.
static bool witnessOnFace(const BoxPair* pair, const Axis* axis, rbVec3* pointA)
{
    rbVec3 buffers[2][CLIP_CORNERS_MAX];
    int count = collectLowest(pair, axis->normal, buffers[0]);
    int from = 0;
    for (int k = 1; k < 3 && count > 0; ++k) {
        int across = (axis->i + k) % 3;
        for (int side = -1; side <= 1 && count > 0; side += 2) {
            const double bound[2] = {side, pair->halfA[across] + FEATURE * pair->scale};
            count = clipCorners(buffers[from], count, across, bound, buffers[1 - from]);
            from = 1 - from;
        }
    }
    if (count == 0) {
        return false;
    }
    rbVec3 half = fromArray(pair->halfA);
    rbVec3 sum = RB_VEC3_ZERO;
    for (int k = 0; k < count; ++k) {
        sum = rbAdd(sum, rbMax3(rbNeg(half), rbMin3(half, buffers[from][k])));
    }
    rbVec3 mean = rbScale(1.0 / count, sum);
    // on the face exactly
    double height = copysign(pair->halfA[axis->i], rbGetComponent(axis->normal, axis->i));
    *pointA = rbAdd(rbSub(mean, unitVector(axis->i, rbGetComponent(mean, axis->i))),
                    unitVector(axis->i, height));
    return true;
}

static bool witnessOnFaceOfB(const BoxPair* pair, const Axis* axis, rbVec3* pointA)
{
    RB_ASSERT(!pair->isSegment);
    rbMat3 m = {pair->axesB[0], pair->axesB[1], pair->axesB[2]};
    rbMat3 inverse = rbTranspose(m);
    BoxPair swapped = {.halfA = {pair->halfB[0], pair->halfB[1], pair->halfB[2]},
                       .halfB = {pair->halfA[0], pair->halfA[1], pair->halfA[2]},
                       .axesB = {inverse.cx, inverse.cy, inverse.cz},
                       .center = rbNeg(rbMulMtV(m, pair->center)),
                       .scale = pair->scale};
    rbVec3 n = unitVector(axis->j, -rbDot(axis->normal, pair->axesB[axis->j]));
    n = rbScale(1.0 / fabs(rbGetComponent(n, axis->j)), n);
    Axis seen = {FACE_A, axis->j, -1, n, axis->gap};
    rbVec3 pointB;
    bool isTight = witnessOnFace(&swapped, &seen, &pointB);
    if (isTight) {
        *pointA = rbAddScaled(rbAdd(rbMulMV(m, pointB), pair->center), -axis->gap, axis->normal);
    }
    return isTight;
}

// The edge of a box parallel to its axis i; side k of signs chooses among the four.
static Segment edgeOf(rbVec3 center, const rbVec3 axes[3], const double half[3], int i,
                      const double signs[3])
{
    for (int k = 0; k < 3; ++k) {
        if (k != i) {
            center = rbAddScaled(center, signs[k] * half[k], axes[k]);
        }
    }
    return (Segment){center, axes[i], half[i]};
}

// Where the supporting edges meet once B is moved back by the gap. Returns by how much they miss.
static double witnessOnEdges(const BoxPair* pair, const Axis* axis, rbVec3* pointA)
{
    static const rbVec3 axesA[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    double signsA[3], signsB[3];
    for (int k = 0; k < 3; ++k) {
        signsA[k] = copysign(1.0, rbGetComponent(axis->normal, k));
        signsB[k] = -copysign(1.0, rbDot(axis->normal, pair->axesB[k]));
    }
    Segment a = edgeOf(RB_VEC3_ZERO, axesA, pair->halfA, axis->i, signsA);
    Segment b = edgeOf(pair->center, pair->axesB, pair->halfB, axis->j, signsB);
    b.center = rbAddScaled(b.center, -axis->gap, axis->normal);
    SegmentPair found = measureSegments(&a, &b);
    *pointA = found.pointA;
    return found.distance;
}

// away, from A to B, is computed where it is exact: a component along a face or an edge vanishes
// only in the frame of the body that has it, and small gaps need that for their direction.
typedef struct Nearest {
    double least;    // of all distances found
    double distance; // of the kept pair
    double gap;      // along its direction
    rbVec3 pointA, away;
} Nearest;

// Nearly parallel edges have many pairs whose distances agree to rounding but whose directions do
// not: among them the one whose direction proves the largest gap is kept.
static void keepNearer(const BoxPair* pair, Nearest* best, rbVec3 pointA, rbVec3 away)
{
    double slack = TIE * pair->scale;
    rbVec3 n;
    double distance = rbSplitLength(away, RB_VEC3_ZERO, &n);
    if (distance > best->least + slack) {
        return;
    }
    double gap = distance > 0.0 ? rbDot(n, pair->center) - reachAlong(pair, n) : -INFINITY;
    if (gap > best->gap || best->distance > distance + slack) {
        *best = (Nearest){best->least, distance, gap, pointA, away};
    }
    best->least = distance < best->least ? distance : best->least;
}

// Tests every vertex of each body against the other one.
static void searchVertices(const BoxPair* pair, Nearest* best)
{
    rbMat3 m = {pair->axesB[0], pair->axesB[1], pair->axesB[2]};
    rbVec3 halfA = fromArray(pair->halfA), halfB = fromArray(pair->halfB);
    for (int k = 0; k < 8; k += pair->isSegment ? 4 : 1) {
        rbVec3 corner = rbAdd(rbMulMV(m, rbGetBoxCorner(halfB, k)), pair->center);
        rbVec3 nearest = rbMax3(rbNeg(halfA), rbMin3(halfA, corner));
        keepNearer(pair, best, nearest, rbSub(corner, nearest));
    }
    for (int k = 0; k < 8; ++k) {
        rbVec3 corner = rbGetBoxCorner(halfA, k);
        rbVec3 seen = rbMulMtV(m, rbSub(corner, pair->center));
        rbVec3 nearest = rbMax3(rbNeg(halfB), rbMin3(halfB, seen));
        keepNearer(pair, best, corner, rbMulMV(m, rbSub(nearest, seen)));
    }
}

// Separate boxes whose distance no axis attains: then a vertex does. Nearest edges are attained by
// their common perpendicular, which is one of the axes.
static CoreSeparation measureApart(const BoxPair* pair, const Axis* axis)
{
    double slack = TIGHT * pair->scale;
    Nearest best = {.least = INFINITY, .distance = INFINITY, .gap = -INFINITY};
    searchVertices(pair, &best);
    rbVec3 normal;
    double distance = rbSplitLength(best.away, axis->normal, &normal);
    RB_ASSERT(distance >= axis->gap - slack);
    // The axis has the more accurate direction; but distances that agree to rounding still allow a
    // lateral displacement of the square root of that, so the whole vector must agree.
    if (rbLength(rbAddScaled(best.away, -axis->gap, axis->normal)) <= slack) {
        return (CoreSeparation){axis->gap, axis->normal, best.pointA};
    }
    return (CoreSeparation){distance, normal, best.pointA};
}

// The point of A where the bodies touch once B is moved back along the axis by the gap. False if
// the touching features miss each other; then the point is only the best guess.
static bool findWitness(const BoxPair* pair, const Axis* axis, rbVec3* pointA)
{
    return axis->kind == EDGES    ? witnessOnEdges(pair, axis, pointA) <= TIGHT * pair->scale
           : axis->kind == FACE_A ? witnessOnFace(pair, axis, pointA)
                                  : witnessOnFaceOfB(pair, axis, pointA);
}

// The result of the best axis if its features meet. Another axis may be equally good to rounding
// and have features that do meet: faces that are parallel up to a tiny angle.
static bool measureByAxes(const BoxPair* pair, const Axes* axes, CoreSeparation* core)
{
    const Axis* best = &axes->rows[axes->best];
    *core = (CoreSeparation){best->gap, best->normal, RB_VEC3_ZERO};
    if (findWitness(pair, best, &core->pointA)) {
        return true;
    }
    for (int k = 0; k < axes->count; ++k) {
        const Axis* other = &axes->rows[k];
        rbVec3 pointA;
        if (other->gap >= best->gap - TIGHT * pair->scale && findWitness(pair, other, &pointA)) {
            *core = (CoreSeparation){other->gap, other->normal, pointA};
            return true;
        }
    }
    return false;
}

static CoreSeparation measureBoxes(const BoxPair* pair)
{
    Axes axes;
    collectAxes(pair, &axes);
    CoreSeparation core;
    if (measureByAxes(pair, &axes, &core)) {
        return core;
    }
    const Axis* best = &axes.rows[axes.best];
    if (best->gap > 0.0) {
        return measureApart(pair, best);
    }
    if (best->kind != EDGES) { // missed by rounding only: a corner of A
        rbVec3 n = best->normal;
        core.pointA = rbMakeVec3(copysign(pair->halfA[0], n.x), copysign(pair->halfA[1], n.y),
                                 copysign(pair->halfA[2], n.z));
    } else {
        (void)findWitness(pair, best, &core.pointA);
    }
    return core;
}

// Box against box (G-36).
rbSeparation rbCollideBoxBox(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA)
{
    RB_ASSERT(a->type == RB_SHAPE_BOX && b->type == RB_SHAPE_BOX);
    BoxPair pair = makeBoxPair(a->data.box.halfExtents, b->data.box.halfExtents, transformBtoA);
    CoreSeparation core = measureBoxes(&pair);
    return rbMakeClosedForm(core.distance, core.normal, core.pointA, pair.scale);
}

bool rbCollideBoxesByAxes(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                          rbSeparation* separation)
{
    RB_ASSERT(a->type == RB_SHAPE_BOX && b->type == RB_SHAPE_BOX);
    BoxPair pair = makeBoxPair(a->data.box.halfExtents, b->data.box.halfExtents, transformBtoA);
    Axes axes;
    collectAxes(&pair, &axes);
    CoreSeparation core;
    if (!measureByAxes(&pair, &axes, &core)) {
        return false;
    }
    *separation = rbMakeClosedForm(core.distance, core.normal, core.pointA, pair.scale);
    return true;
}

rbSeparation rbCollideBoxCapsule(const rbGeometry* a, const rbGeometry* b,
                                 rbTransform transformBtoA)
{
    RB_ASSERT(a->type == RB_SHAPE_BOX && b->type == RB_SHAPE_CAPSULE);
    rbVec3 axis = {0.0, 0.0, b->data.capsule.halfLength};
    BoxPair pair = makeBoxPair(a->data.box.halfExtents, axis, transformBtoA);
    CoreSeparation core = measureBoxes(&pair);
    double radius = b->data.capsule.radius;
    return rbMakeClosedForm(core.distance - radius, core.normal, core.pointA, pair.scale + radius);
}

// --------------------------------------------------------------------------------- ellipsoids

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

#define NEWTON_STEPS 16
// Largest step on the sphere, rad; a rejected step is reduced by CUT.
#define STEP_MAX 0.7
#define CUT 0.25
// Gradient, over the scale, below which the normal is as accurate as possible.
#define FLAT 1e-13
// Rounding error of h, in units of DBL_EPSILON times the scale.
#define ROUNDING_UNITS 16.0

typedef struct EllipsoidPair {
    rbVec3 axesA, axesB; // m, semi-axes
    rbMat3 rotation;     // of B
    rbVec3 translation;
    rbSym3 q; // Q
    double scale;
} EllipsoidPair;

// The values at a unit vector u.
typedef struct Place {
    rbVec3 u;
    rbVec3 p, q; // support points of A and of B about its center
    double alpha, beta;
    double height;   // h
    rbVec3 gradient; // g
    double slope;    // |g|^2
} Place;

static void visit(const EllipsoidPair* pair, rbVec3 u, Place* place)
{
    rbVec3 a = rbMulEach(pair->axesA, u);
    rbVec3 b = rbMulEach(pair->axesB, rbMulMtV(pair->rotation, u));
    double alpha = rbLength(a), beta = rbLength(b);
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
static rbVec3 findStep(const EllipsoidPair* pair, const Place* at)
{
    double alpha = 1.0 / at->alpha, beta = 1.0 / at->beta;
    rbVec3 u = at->u, p = at->p, q = at->q, g = at->gradient;
    rbVec3 s = rbMulEach(pair->axesA, pair->axesA);
    const rbSym3* m = &pair->q;
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
        step = rbScale(-1.0 / det, rbMakeVec3(rbDot(c0, g), rbDot(c1, g), rbDot(c2, g)));
        step = rbAddScaled(step, -rbDot(step, u), u);
    } else {
        step = rbScale(-1.0 / (mean + fabs(at->height)), g);
    }
    double square = rbLengthSquared(step);
    return square > STEP_MAX * STEP_MAX ? rbScale(STEP_MAX / sqrt(square), step) : step;
}

// Descends from a unit vector; false if the steps run out.
static bool descend(const EllipsoidPair* pair, rbVec3 start, Place* best, int* iterations)
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
        rbVec3 u = rbAdd(best->u, step);
        Place next;
        visit(pair, rbScale(1.0 / rbLength(u), u), &next);
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

bool rbCollideEllipsoids(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                         rbVec3 start, rbSeparation* separation)
{
    RB_ASSERT(a->type == RB_SHAPE_ELLIPSOID && b->type == RB_SHAPE_ELLIPSOID);
    EllipsoidPair pair = {.axesA = a->data.ellipsoid.semiAxes,
                          .axesB = b->data.ellipsoid.semiAxes,
                          .rotation = rbMatFromQuat(transformBtoA.q),
                          .translation = transformBtoA.p,
                          .scale = a->radius + b->radius + rbLength(transformBtoA.p)};
    pair.q = rbSym3_FromPrincipal(rbMulEach(pair.axesB, pair.axesB), pair.rotation);
    double length = rbLength(start);
    if (!(length > 1e-100 && length < 1e100)) {
        return false;
    }
    Place at;
    int iterations = 0;
    bool hasEnded = descend(&pair, rbScale(1.0 / length, start), &at, &iterations);
    double r = rbGetRollingRadius(pair.axesA) + rbGetRollingRadius(pair.axesB);
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
