// The oracle and the generators of the pair tests.
#include "pair_support.h"

#include "base/core/memory.h"
#include "collision/geometry/polyhedron.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <float.h>

typedef struct PairRow {
    rbShapeType a, b;
    rbCollideFn* collide;
} PairRow;

static const PairRow pairRows[] = {
    {RB_SHAPE_SPHERE, RB_SHAPE_SPHERE, rbCollideSphereSphere},
    {RB_SHAPE_SPHERE, RB_SHAPE_BOX, rbCollideSphereSolid},
    {RB_SHAPE_SPHERE, RB_SHAPE_CAPSULE, rbCollideSphereSolid},
    {RB_SHAPE_SPHERE, RB_SHAPE_CYLINDER, rbCollideSphereSolid},
    {RB_SHAPE_SPHERE, RB_SHAPE_CONE, rbCollideSphereSolid},
    {RB_SHAPE_SPHERE, RB_SHAPE_ELLIPSOID, rbCollideSphereSolid},
    {RB_SHAPE_SPHERE, RB_SHAPE_PLANE, rbCollideConvexPlane},
    {RB_SHAPE_BOX, RB_SHAPE_BOX, rbCollideBoxBox},
    {RB_SHAPE_BOX, RB_SHAPE_CAPSULE, rbCollideBoxCapsule},
    {RB_SHAPE_CAPSULE, RB_SHAPE_CAPSULE, rbCollideCapsuleCapsule},
    {RB_SHAPE_CAPSULE, RB_SHAPE_PLANE, rbCollideConvexPlane},
    {RB_SHAPE_BOX, RB_SHAPE_PLANE, rbCollideConvexPlane},
    {RB_SHAPE_CYLINDER, RB_SHAPE_PLANE, rbCollideConvexPlane},
    {RB_SHAPE_CONE, RB_SHAPE_PLANE, rbCollideConvexPlane},
    {RB_SHAPE_ELLIPSOID, RB_SHAPE_PLANE, rbCollideConvexPlane},
    {RB_SHAPE_HULL, RB_SHAPE_PLANE, rbCollideConvexPlane},
};

rbSeparation collidePair(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA)
{
    for (size_t i = 0; i < sizeof pairRows / sizeof pairRows[0]; ++i) {
        const PairRow* row = &pairRows[i];
        if (row->a == a->type && row->b == b->type) {
            return row->collide(a, b, transformBtoA);
        }
        if (row->a == b->type && row->b == a->type) {
            rbTransform inverse = rbInvertTransform(transformBtoA);
            rbSeparation seen = row->collide(b, a, inverse);
            return rbFlipSeparation(&seen, inverse);
        }
    }
    fail_msg("no closed form for %s and %s", rbShapeType_Name(a->type), rbShapeType_Name(b->type));
    return (rbSeparation){0};
}

static double randomLength(rbRandom* random)
{
    static const double thin[] = {1e-6, 1e-3, 0.25, 0.5, 1.0, 1.0, 2.0};
    return rbRandom_Index(random, 4) == 0 ? thin[rbRandom_Index(random, 7)]
                                          : rbRandom_Range(random, 0.1, 1.5);
}

rbGeometry* makeRandomShape(rbRandom* random, rbShapeType type)
{
    double x = randomLength(random);
    double y = randomLength(random);
    double z = randomLength(random);
    rbVec3 points[12];
    rbGeometry* made = NULL;
    if (type == RB_SHAPE_SPHERE) {
        made = rbCreateSphere(x, NULL);
    } else if (type == RB_SHAPE_BOX) {
        made = rbCreateBox(rbMakeVec3(x, y, z), NULL);
    } else if (type == RB_SHAPE_CAPSULE) {
        made = rbCreateCapsule(x, rbRandom_Index(random, 8) == 0 ? 0.0 : y, NULL);
    } else if (type == RB_SHAPE_CYLINDER) {
        made = rbCreateCylinder(x, y, NULL);
    } else if (type == RB_SHAPE_CONE) {
        made = rbCreateCone(x, y, NULL);
    } else if (type == RB_SHAPE_ELLIPSOID) {
        y = rbRandom_Index(random, 4) == 0 ? x : y;
        z = rbRandom_Index(random, 4) == 0 ? y : z;
        made = rbCreateEllipsoid(rbMakeVec3(x, y, z), NULL);
    } else if (type == RB_SHAPE_PLANE) {
        rbVec3 normal = rbRandom_Direction(random);
        made = rbCreatePlane(normal, rbRandom_Symmetric(random), NULL);
    } else {
        for (int i = 0; i < 12; ++i) {
            points[i] = rbScale(x + 0.1, rbRandom_Direction(random));
        }
        made = rbCreateHull(points, 12, NULL);
    }
    assert_non_null(made);
    return made;
}

static rbQuat makeTurn(rbVec3 axis, double angle)
{
    double s, c;
    rbSinCos(0.5 * angle, &s, &c);
    return (rbQuat){c, s * axis.x, s * axis.y, s * axis.z};
}

static rbQuat randomTurn(rbRandom* random)
{
    static const rbVec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    static const double angles[] = {0.0, 0.25 * RB_PI, 0.5 * RB_PI, RB_PI};
    static const double tilts[] = {1e-16, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3};
    int kind = rbRandom_Index(random, 4);
    if (kind == 0) {
        return rbRandom_Quat(random);
    }
    rbVec3 axis = axes[rbRandom_Index(random, 3)];
    double angle =
        kind == 1 ? 2.0 * RB_PI * rbRandom_Unit(random) : angles[rbRandom_Index(random, 4)];
    rbQuat q = makeTurn(axis, angle);
    if (kind == 3) {
        rbVec3 about = rbRandom_Direction(random);
        rbQuat tilt = makeTurn(about, tilts[rbRandom_Index(random, 6)]);
        q = rbNormalizeQuat(rbMulQuat(tilt, q));
    }
    return q;
}

static rbVec3 sizeOf(const rbGeometry* geometry)
{
    rbBounds bounds = rbGeometry_GetBounds(geometry, RB_TRANSFORM_IDENTITY);
    return geometry->type == RB_SHAPE_PLANE ? rbMakeVec3(1.0, 1.0, 1.0) : bounds.upper;
}

static double randomOffset(rbRandom* random, double a, double b)
{
    const double offsets[] = {0.0, a + b, a - b, a, b, rbRandom_Unit(random) * (a + b)};
    double offset = offsets[rbRandom_Index(random, 6)];
    return rbRandom_Index(random, 2) == 0 ? offset : -offset;
}

rbTransform makeRandomPose(rbRandom* random, const rbGeometry* a, const rbGeometry* b)
{
    rbTransform t = {RB_VEC3_ZERO, randomTurn(random)};
    rbVec3 sizeA = sizeOf(a);
    rbVec3 sizeB = sizeOf(b);
    int kind = rbRandom_Index(random, 4);
    if (kind == 0) {
        t.p.x = randomOffset(random, sizeA.x, sizeB.x);
        t.p.y = randomOffset(random, sizeA.y, sizeB.y);
        t.p.z = randomOffset(random, sizeA.z, sizeB.z);
    } else if (kind < 3) {
        double reach = rbLength(sizeA) + rbLength(sizeB);
        double away = reach * rbRandom_Unit(random);
        t.p = rbScale(away, rbRandom_Direction(random));
    } else {
        // a tenth to ten thousandths of the size inside or separated
        double reach = rbLength(sizeA) + rbLength(sizeB);
        rbVec3 n = rbRandom_Direction(random);
        t.p = rbScale(reach, n);
        rbSeparation far = collidePair(a, b, t);
        static const double gaps[] = {0.0, 1e-12, -1e-12, 1e-6, -1e-6, 0.01, -0.01, 0.0};
        double gap = gaps[rbRandom_Index(random, 8)];
        t.p = rbAddScaled(t.p, gap - far.distance, far.normal);
    }
    return t;
}

typedef struct Vec3L {
    rbWide x, y, z;
} Vec3L;

static rbWide maxL(rbWide a, rbWide b)
{
    return a > b ? a : b;
}

// Greatest value of d . x over the shape, d of any length.
static rbWide supportValue(const rbGeometry* g, Vec3L d)
{
    rbWide across = rbWideSqrt(d.x * d.x + d.y * d.y);
    rbWide length = rbWideSqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    const rbShapeData* data = &g->data;
    if (g->type == RB_SHAPE_SPHERE) {
        return data->sphere.radius * length;
    }
    if (g->type == RB_SHAPE_BOX) {
        rbVec3 h = data->box.halfExtents;
        return h.x * rbWideAbs(d.x) + h.y * rbWideAbs(d.y) + h.z * rbWideAbs(d.z);
    }
    if (g->type == RB_SHAPE_CAPSULE) {
        return data->capsule.radius * length + data->capsule.halfLength * rbWideAbs(d.z);
    }
    if (g->type == RB_SHAPE_CYLINDER) {
        return data->cylinder.radius * across + data->cylinder.halfLength * rbWideAbs(d.z);
    }
    if (g->type == RB_SHAPE_CONE) {
        rbWide half = 0.5L * data->cone.height;
        return maxL(half * d.z, data->cone.radius * across - half * d.z);
    }
    if (g->type == RB_SHAPE_ELLIPSOID) {
        rbVec3 a = data->ellipsoid.semiAxes;
        return rbWideSqrt(a.x * d.x * a.x * d.x + a.y * d.y * a.y * d.y + a.z * d.z * a.z * d.z);
    }
    if (g->type == RB_SHAPE_PLANE) { // along its normal only
        return data->plane.offset * length;
    }
    rbWide best = -INFINITY;
    for (int i = 0; i < g->polyhedron->vertexCount; ++i) {
        rbVec3 v = g->polyhedron->vertices[i];
        best = maxL(best, d.x * v.x + d.y * v.y + d.z * v.z);
    }
    return best;
}

// q^-1 v q in rbWide; q is used unchanged, a unit quaternion to rounding.
static Vec3L turnBack(rbQuat q, rbVec3 v)
{
    rbWide w = q.w, x = -(rbWide)q.x, y = -(rbWide)q.y, z = -(rbWide)q.z;
    rbWide norm = w * w + x * x + y * y + z * z;
    rbWide tx = 2.0L * (y * v.z - z * v.y) / norm;
    rbWide ty = 2.0L * (z * v.x - x * v.z) / norm;
    rbWide tz = 2.0L * (x * v.y - y * v.x) / norm;
    return (Vec3L){v.x + w * tx + (y * tz - z * ty), v.y + w * ty + (z * tx - x * tz),
                   v.z + w * tz + (x * ty - y * tx)};
}

rbWide gapAlong(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA, rbVec3 n)
{
    rbWide length = rbWideSqrt((rbWide)n.x * n.x + (rbWide)n.y * n.y + (rbWide)n.z * n.z);
    Vec3L seen = turnBack(transformBtoA.q, n);
    Vec3L down = {-seen.x, -seen.y, -seen.z};
    rbVec3 p = transformBtoA.p;
    rbWide between = (rbWide)n.x * p.x + (rbWide)n.y * p.y + (rbWide)n.z * p.z;
    Vec3L up = {n.x, n.y, n.z};
    return (between - supportValue(a, up) - supportValue(b, down)) / length;
}

// The same in double with the support functions of the library, fast enough for thousands of
// directions.
static double quickGap(const rbGeometry* a, const rbGeometry* b, const rbTransform* t, rbVec3 n)
{
    rbVec3 pointA = rbGeometry_GetSupport(a, n);
    rbVec3 pointB = rbTransformPoint(*t, rbGeometry_GetSupport(b, rbNeg(rbInvRotate(t->q, n))));
    return rbDot(n, rbSub(pointB, pointA));
}

static double climb(const rbGeometry* a, const rbGeometry* b, const rbTransform* t, rbVec3 n)
{
    double best = quickGap(a, b, t, n);
    double step = 0.1;
    for (int round = 0; round < 150 && step > 1e-8; ++round) {
        rbVec3 u = rbPerpendicular(n);
        rbVec3 v = rbCross(n, u);
        rbVec3 better = n;
        for (int k = 0; k < 8; ++k) {
            double s, c;
            rbSinCos(0.25 * RB_PI * k, &s, &c);
            rbVec3 m = rbNormalize(rbAddScaled(rbAddScaled(n, step * c, u), step * s, v));
            double gap = quickGap(a, b, t, m);
            if (gap > best) {
                best = gap;
                better = m;
            }
        }
        bool moved = better.x != n.x || better.y != n.y || better.z != n.z;
        n = better;
        step *= moved ? 1.0 : 0.5;
    }
    return best;
}

double searchGap(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA, int samples)
{
    rbVec3 starts[3] = {{1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    double best[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < samples; ++i) {
        // a spiral of equal areas
        double z = (2.0 * i + 1.0) / samples - 1.0;
        double s, c;
        rbSinCos(2.399963229728653 * i, &s, &c);
        double rho = sqrt(1.0 - z * z);
        rbVec3 n = {rho * c, rho * s, z};
        double gap = quickGap(a, b, &transformBtoA, n);
        int slot = i % 3; // the best of each third of the directions
        if (gap > best[slot]) {
            best[slot] = gap;
            starts[slot] = n;
        }
    }
    double result = -INFINITY;
    for (int k = 0; k < 3; ++k) {
        double found = climb(a, b, &transformBtoA, starts[k]);
        result = found > result ? found : result;
    }
    return result;
}

static double maxOf(double a, double b)
{
    return a > b ? a : b;
}

double measureOffSurface(const rbGeometry* g, rbVec3 p)
{
    const rbShapeData* data = &g->data;
    double rho = sqrt(p.x * p.x + p.y * p.y);
    rbVec3 q = rbAbs3(p);
    if (g->type == RB_SHAPE_SPHERE) {
        return rbLength(p) - data->sphere.radius;
    }
    if (g->type == RB_SHAPE_BOX) {
        rbVec3 h = data->box.halfExtents;
        return maxOf(q.x - h.x, maxOf(q.y - h.y, q.z - h.z));
    }
    if (g->type == RB_SHAPE_CAPSULE) {
        double beyond = maxOf(q.z - data->capsule.halfLength, 0.0);
        return sqrt(rho * rho + beyond * beyond) - data->capsule.radius;
    }
    if (g->type == RB_SHAPE_CYLINDER) {
        return maxOf(rho - data->cylinder.radius, q.z - data->cylinder.halfLength);
    }
    if (g->type == RB_SHAPE_CONE) {
        double r = data->cone.radius;
        double h = data->cone.height;
        double side = (h * rho + r * (p.z - 0.5 * h)) / sqrt(h * h + r * r);
        return maxOf(side, -0.5 * h - p.z);
    }
    if (g->type == RB_SHAPE_ELLIPSOID) {
        // value over gradient: the distance to first order
        rbVec3 a = data->ellipsoid.semiAxes;
        rbVec3 w = {p.x / a.x, p.y / a.y, p.z / a.z};
        rbVec3 gradient = {w.x / a.x, w.y / a.y, w.z / a.z};
        return 0.5 * (rbLengthSquared(w) - 1.0) / rbLength(gradient);
    }
    if (g->type == RB_SHAPE_PLANE) {
        return rbDot(data->plane.normal, p) - data->plane.offset;
    }
    double off = -INFINITY;
    for (int f = 0; f < g->polyhedron->faceCount; ++f) {
        off = maxOf(off, rbDot(g->polyhedron->normals[f], p) - g->polyhedron->offsets[f]);
    }
    return off;
}

double pairScale(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA)
{
    double plane = 0.0;
    double scale = rbLength(transformBtoA.p);
    const rbGeometry* both[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        if (both[i]->type == RB_SHAPE_PLANE) {
            plane += fabs(both[i]->data.plane.offset);
        } else {
            scale += rbGeometry_GetRadius(both[i], RB_VEC3_ZERO);
        }
    }
    return scale + plane;
}

rbTransform at(double x, double y, double z)
{
    return (rbTransform){{x, y, z}, {1.0, 0.0, 0.0, 0.0}};
}

char* pairScratch;

int makePairScratch(void** state)
{
    (void)state;
    pairScratch = rbAlloc(rbGetSeparationScratchSize());
    return 0;
}

int freePairScratch(void** state)
{
    (void)state;
    rbFree(pairScratch, rbGetSeparationScratchSize());
    return 0;
}
