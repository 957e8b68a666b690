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
#include "collision/narrowphase/point_distance.h"

#include "collision/geometry/shape_ops.h"

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

rbPointDistance rbMeasurePointBox(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry->type == RB_SHAPE_BOX);
    rbVec3 h = geometry->data.box.halfExtents;
    rbVec3 nearest = rbMax3(rbNeg(h), rbMin3(h, point));
    rbPointDistance r;
    rbVec3 away = rbSub(point, nearest);
    r.distance = rbSplitLength(away, RB_VEC3_ZERO, &r.normal);
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

rbPointDistance rbMeasurePointCapsule(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry->type == RB_SHAPE_CAPSULE);
    double half = geometry->data.capsule.halfLength;
    double beyond = fabs(point.z) > half ? copysign(fabs(point.z) - half, point.z) : 0.0;
    rbPointDistance r;
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

rbPointDistance rbMeasurePointCylinder(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry->type == RB_SHAPE_CYLINDER);
    rbVec3 across;
    double rho =
        rbSplitLength(rbMakeVec3(point.x, point.y, 0.0), rbMakeVec3(1.0, 0.0, 0.0), &across);
    double side = rho - geometry->data.cylinder.radius;
    double cap = fabs(point.z) - geometry->data.cylinder.halfLength;
    double up = copysign(1.0, point.z);
    rbPointDistance r;
    if (side > 0.0 && cap > 0.0) { // the rim
        r.distance = rbSplitLength(lift(across, side, up * cap), across, &r.normal);
    } else if (cap > side) {
        r = (rbPointDistance){cap, {0.0, 0.0, up}};
    } else {
        r = (rbPointDistance){side, across};
    }
    return r;
}

rbPointDistance rbMeasurePointCone(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry->type == RB_SHAPE_CONE);
    double radius = geometry->data.cone.radius;
    double height = geometry->data.cone.height;
    rbVec3 across;
    double rho =
        rbSplitLength(rbMakeVec3(point.x, point.y, 0.0), rbMakeVec3(1.0, 0.0, 0.0), &across);
    double slant = rbLength(rbMakeVec3(radius, height, 0.0));
    double normalRho = height / slant;
    double normalZ = radius / slant;
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
    rbPointDistance r;
    if (-aboveBase >= side && rho <= radius) {
        r = (rbPointDistance){-aboveBase, {0.0, 0.0, -1.0}};
    } else if (!isInside && fromRim < 0.0) {
        r.distance = rbSplitLength(lift(across, rho - radius, aboveBase), sideNormal, &r.normal);
    } else if (!isInside && fromApex > 0.0) {
        r.distance = rbSplitLength(lift(across, rho, -belowApex), sideNormal, &r.normal);
    } else {
        r = (rbPointDistance){side, sideNormal};
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

rbPointDistance rbMeasurePointEllipsoid(const rbGeometry* geometry, rbVec3 point)
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
    double n[3];
    double q[3];
    for (int i = 0; i < 3; ++i) {
        w[i] = copysign(w[i] / length, p[i]);
        n[i] = w[i] * (a[smallest] / a[i]);
        q[i] = a[i] * w[i];
    }
    rbPointDistance r;
    (void)rbSplitLength(rbMakeVec3(n[0], n[1], n[2]), rbMakeVec3(1.0, 0.0, 0.0), &r.normal);
    // along the normal an error of q in the surface has no first-order effect
    r.distance = rbDot(r.normal, rbSub(point, rbMakeVec3(q[0], q[1], q[2])));
    return r;
}
