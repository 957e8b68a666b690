// Ellipsoid about the origin with its axes along x, y, z.
//
// Farthest point from p: maximize |x - p|^2 on sum x_i^2/a_i^2 = 1. The dual function
//   D(L) = L + sum p_i^2 L / (L - a_i^2),   L > max a_i^2,
// is an upper bound for every L and attains the maximum (one quadratic constraint: no duality gap)
// where D'(L) = 1 - sum p_i^2 a_i^2 / (L - a_i^2)^2 = 0, a monotone function. Because D is flat at
// its minimum, the value is exact to rounding even where L is not, and never too small by more.
#include "collision/geometry/ray_span.h"
#include "collision/geometry/shape_ops.h"

// Bisection halves an interval to neighboring doubles in about 60 steps when L is of its size and
// in more when the root is close to the pole; beyond this nothing is gained because D is flat.
#define BISECTIONS 120

rbGeometry* rbCreateEllipsoid(rbVec3 semiAxes, rbError* error)
{
    const double lengths[3] = {semiAxes.x, semiAxes.y, semiAxes.z};
    return rbCreatePrimitive(RB_SHAPE_ELLIPSOID, lengths, error);
}

static rbSolidMass massOfEllipsoid(const rbGeometry* geometry)
{
    rbVec3 a = geometry->data.ellipsoid.semiAxes;
    rbVec3 i = {(a.y * a.y + a.z * a.z) / 5.0, (a.x * a.x + a.z * a.z) / 5.0,
                (a.x * a.x + a.y * a.y) / 5.0};
    return (rbSolidMass){4.0 / 3.0 * RB_PI * a.x * a.y * a.z, 0.0, i};
}

static rbVec3 supportOfEllipsoid(const rbGeometry* geometry, rbVec3 direction)
{
    rbVec3 a = geometry->data.ellipsoid.semiAxes;
    rbVec3 scaled = rbMulEach(a, direction);
    return rbMulEach(a, rbScale(1.0 / rbLength(scaled), scaled));
}

static rbBounds boundsOfEllipsoid(const rbGeometry* geometry, rbTransform transform)
{
    rbVec3 a = geometry->data.ellipsoid.semiAxes;
    rbMat3 m = rbTranspose(rbMatFromQuat(transform.q));
    rbVec3 half = {rbLength(rbMulEach(a, m.cx)), rbLength(rbMulEach(a, m.cy)),
                   rbLength(rbMulEach(a, m.cz))};
    return rbMakeBounds(transform.p, half);
}

static double radiusOfEllipsoid(const rbGeometry* geometry, rbVec3 point)
{
    rbVec3 axes = geometry->data.ellipsoid.semiAxes;
    const double square[3] = {axes.x * axes.x, axes.y * axes.y, axes.z * axes.z};
    const double p2[3] = {point.x * point.x, point.y * point.y, point.z * point.z};
    double pole = rbMaxOf(square[0], rbMaxOf(square[1], square[2]));
    double reach = sqrt(p2[0] * square[0] + p2[1] * square[1] + p2[2] * square[2]);
    double low = pole;
    double high = pole + reach;
    for (int k = 0; k < BISECTIONS && low < high; ++k) {
        double middle = low + 0.5 * (high - low);
        double sum = 0.0;
        for (int i = 0; i < 3; ++i) {
            double gap = middle - square[i];
            sum += p2[i] > 0.0 ? p2[i] * square[i] / (gap * gap) : 0.0;
        }
        bool isLeft = sum > 1.0; // also when the gap is zero and the sum infinite
        if (middle == low || middle == high) {
            break;
        }
        low = isLeft ? middle : low;
        high = isLeft ? high : middle;
    }
    double value = high;
    for (int i = 0; i < 3; ++i) {
        double gap = high - square[i];
        value += p2[i] > 0.0 && gap > 0.0 ? p2[i] * high / gap : 0.0;
    }
    return sqrt(value);
}

static bool containedInEllipsoid(const rbGeometry* geometry, rbVec3 point)
{
    rbVec3 a = geometry->data.ellipsoid.semiAxes;
    return rbLength(rbMakeVec3(point.x / a.x, point.y / a.y, point.z / a.z)) <= 1.0;
}

static bool castRayAtEllipsoid(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit)
{
    // in coordinates divided by the semi axes the ellipsoid is the unit sphere and t is unchanged
    rbVec3 a = geometry->data.ellipsoid.semiAxes;
    rbVec3 o = {ray->origin.x / a.x, ray->origin.y / a.y, ray->origin.z / a.z};
    rbVec3 d = {ray->direction.x / a.x, ray->direction.y / a.y, ray->direction.z / a.z};
    rbRaySpan span = rbWholeLine;
    if (!rbRaySpan_ClipBall(&span, o, d, 1.0, 0) || !rbRaySpan_GetHit(&span, ray, hit)) {
        return false;
    }
    rbVec3 point = rbAddScaled(o, hit->t, d);
    double least = fmin(a.x, fmin(a.y, a.z));
    hit->normal = rbNormalize(
        rbMakeVec3(point.x * least / a.x, point.y * least / a.y, point.z * least / a.z));
    return true;
}

static const rbParameter ellipsoidParameters[] = {
    {RB_SHAPE_LENGTH("semiAxes", 0, 3, "along x, y and z"), .word = "semi-axis"},
};

static rbVec3 getSemiAxesOfEllipsoid(const rbGeometry* geometry)
{
    return geometry->data.ellipsoid.semiAxes;
}

const rbShapeOps rbEllipsoidOps = {
    .name = "ellipsoid",
    .meaning = "About the origin.",
    .family = RB_FAMILY_SMOOTH,
    .isRound = true,
    RB_SHAPE_PARAMETERS(ellipsoidParameters),
    .lengths = {"semi axis x", "semi axis y", "semi axis z"},
    RB_SOLID_PRIMITIVE(Ellipsoid),
    .getSemiAxes = getSemiAxesOfEllipsoid,
};
