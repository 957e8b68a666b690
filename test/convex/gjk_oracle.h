// Truth for tests of the distance kernels, in rbWide and without iteration over supports.
//
// Polytopes: every vertex against every face and every edge against every edge, first in double to
// find the candidates, then in rbWide; the slab between the two planes through the nearest points
// proves the answer. Smooth cores: their support functions in rbWide, so that any direction gives a
// lower bound of the distance.
#pragma once

#include "base/core/random.h"
#include "collision/convex/convex.h"
#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"
#include "rb_wide.h"

#include <math.h>

typedef struct Wide3 {
    rbWide x, y, z;
} Wide3;

static inline Wide3 wide(rbVec3 v)
{
    return (Wide3){(rbWide)v.x, (rbWide)v.y, (rbWide)v.z};
}

static inline Wide3 wideSum(Wide3 a, rbWide s, Wide3 b)
{
    return (Wide3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline Wide3 wideSub(Wide3 a, Wide3 b)
{
    return wideSum(a, -1.0L, b);
}

static inline rbWide wideDot(Wide3 a, Wide3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline Wide3 wideCross(Wide3 a, Wide3 b)
{
    return (Wide3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline Wide3 wideMove(const rbCso* cso, Wide3 p)
{
    Wide3 r = wide(cso->translation);
    r = wideSum(r, p.x, wide(cso->rotation.cx));
    r = wideSum(r, p.y, wide(cso->rotation.cy));
    return wideSum(r, p.z, wide(cso->rotation.cz));
}

// -------------------------------------------------------------------------------- polytopes

#define ORACLE_VERTICES_MAX 64
#define ORACLE_EDGES_MAX 192
#define ORACLE_FACES_MAX 128

typedef struct OraclePolytope {
    Wide3 vertices[ORACLE_VERTICES_MAX];
    rbVec3 rough[ORACLE_VERTICES_MAX];
    int edges[ORACLE_EDGES_MAX][2];
    int faces[ORACLE_FACES_MAX][3];
    int vertexCount, edgeCount, faceCount;
} OraclePolytope;

static inline void oracleBox(OraclePolytope* p, rbVec3 half)
{
    static const int quads[6][4] = {{0, 2, 6, 4}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 5, 7, 6}};
    for (int i = 0; i < 8; ++i) {
        p->rough[i] = rbMakeVec3((i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                                 (i & 4) != 0 ? half.z : -half.z);
        for (int bit = 1; bit < 8; bit *= 2) {
            if ((i & bit) == 0) {
                p->edges[p->edgeCount][0] = i;
                p->edges[p->edgeCount++][1] = i | bit;
            }
        }
    }
    p->vertexCount = 8;
    for (int i = 0; i < 6; ++i) {
        for (int half2 = 0; half2 < 2; ++half2) {
            p->faces[p->faceCount][0] = quads[i][0];
            p->faces[p->faceCount][1] = quads[i][1 + half2];
            p->faces[p->faceCount++][2] = quads[i][2 + half2];
        }
    }
}

static inline void oracleHull(OraclePolytope* p, const rbPolyhedron* hull)
{
    p->vertexCount = hull->vertexCount;
    for (int i = 0; i < hull->vertexCount; ++i) {
        p->rough[i] = hull->vertices[i];
    }
    for (int i = 0; i < hull->edgeCount; ++i) {
        p->edges[p->edgeCount][0] = hull->edges[i].v0;
        p->edges[p->edgeCount++][1] = hull->edges[i].v1;
    }
    for (int i = 0; i < hull->triangleCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            p->faces[i][k] = hull->triangles[i].v[k];
        }
    }
    p->faceCount = hull->triangleCount;
}

// False if the core is smooth or has summands. cso NULL: stays in its own frame.
static inline bool oraclePolytope(const rbConvex* convex, const rbCso* cso, OraclePolytope* p)
{
    p->vertexCount = p->edgeCount = p->faceCount = 0;
    const rbGeometry* geometry = convex->geometry;
    if (geometry->type == RB_SHAPE_BOX) {
        oracleBox(p, geometry->data.box.halfExtents);
    } else if (geometry->type == RB_SHAPE_HULL) {
        oracleHull(p, geometry->polyhedron);
    } else if (geometry->type == RB_SHAPE_SPHERE || geometry->type == RB_SHAPE_CAPSULE) {
        double half = geometry->type == RB_SHAPE_CAPSULE ? geometry->data.capsule.halfLength : 0.0;
        p->rough[0] = rbMakeVec3(0.0, 0.0, -half);
        p->rough[1] = rbMakeVec3(0.0, 0.0, half);
        p->vertexCount = 2;
        p->edges[0][0] = 0;
        p->edges[0][1] = 1;
        p->edgeCount = 1;
    } else {
        return false;
    }
    for (int i = 0; i < p->vertexCount; ++i) {
        p->vertices[i] = wide(p->rough[i]);
        if (cso != NULL) {
            p->vertices[i] = wideMove(cso, p->vertices[i]);
        }
        p->rough[i] = rbMakeVec3((double)p->vertices[i].x, (double)p->vertices[i].y,
                                 (double)p->vertices[i].z);
    }
    return true;
}

// Squared distance of a point and a triangle's inside; INFINITY if the foot is outside (the edges
// then have the answer).
static inline double roughPointFace(rbVec3 p, rbVec3 a, rbVec3 b, rbVec3 c)
{
    rbVec3 n = rbCross(rbSub(b, a), rbSub(c, a));
    double nn = rbDot(n, n);
    rbVec3 d = rbSub(p, a);
    double wb = rbDot(rbCross(d, rbSub(c, a)), n);
    double wc = rbDot(rbCross(rbSub(b, a), d), n);
    double slop = -1e-6 * nn;
    double h = rbDot(d, n);
    return nn > 0.0 && wb >= slop && wc >= slop && wb + wc <= nn - slop ? h * h / nn : INFINITY;
}

static inline rbWide widePointFace(Wide3 p, Wide3 a, Wide3 b, Wide3 c, Wide3* foot)
{
    Wide3 ab = wideSub(b, a);
    Wide3 ac = wideSub(c, a);
    Wide3 n = wideCross(ab, ac);
    rbWide nn = wideDot(n, n);
    Wide3 d = wideSub(p, a);
    rbWide wb = wideDot(wideCross(d, ac), n);
    rbWide wc = wideDot(wideCross(ab, d), n);
    if (!(nn > 0.0L && wb >= 0.0L && wc >= 0.0L && wb + wc <= nn)) {
        return INFINITY;
    }
    rbWide h = wideDot(d, n);
    *foot = wideSum(p, -h / nn, n);
    return h * h / nn;
}

static inline double clamp01(double t)
{
    return t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
}

static inline double roughEdges(rbVec3 a, rbVec3 b, rbVec3 c, rbVec3 d)
{
    rbVec3 u = rbSub(b, a);
    rbVec3 v = rbSub(d, c);
    rbVec3 r = rbSub(a, c);
    double uu = rbDot(u, u);
    double vv = rbDot(v, v);
    double uv = rbDot(u, v);
    double det = uu * vv - uv * uv;
    double s = det > 0.0 ? clamp01((uv * rbDot(v, r) - vv * rbDot(u, r)) / det) : 0.0;
    double t = vv > 0.0 ? clamp01((uv * s + rbDot(v, r)) / vv) : 0.0;
    s = uu > 0.0 ? clamp01((uv * t - rbDot(u, r)) / uu) : 0.0;
    t = vv > 0.0 ? clamp01((uv * s + rbDot(v, r)) / vv) : 0.0;
    return rbLengthSquared(rbAddScaled(rbAddScaled(r, s, u), -t, v));
}

static inline rbWide wideClamp01(rbWide t)
{
    return t < 0.0L ? 0.0L : t > 1.0L ? 1.0L : t;
}

static inline rbWide wideEdges(const Wide3 e[4], Wide3* onA, Wide3* onB)
{
    Wide3 u = wideSub(e[1], e[0]);
    Wide3 v = wideSub(e[3], e[2]);
    Wide3 r = wideSub(e[0], e[2]);
    rbWide uu = wideDot(u, u);
    rbWide vv = wideDot(v, v);
    rbWide uv = wideDot(u, v);
    // by the common normal: products of lengths would cancel where the edges are nearly parallel
    Wide3 w = wideCross(u, v);
    rbWide ww = wideDot(w, w);
    rbWide s = ww > 1e-40L * uu * vv ? wideClamp01(wideDot(wideCross(v, r), w) / ww) : 0.0L;
    rbWide t = 0.0L;
    for (int round = 0; round < 3; ++round) {
        t = vv > 0.0L ? wideClamp01((uv * s + wideDot(v, r)) / vv) : 0.0L;
        s = uu > 0.0L ? wideClamp01((uv * t - wideDot(u, r)) / uu) : 0.0L;
    }
    *onA = wideSum(e[0], s, u);
    *onB = wideSum(e[2], t, v);
    Wide3 d = wideSub(*onA, *onB);
    return wideDot(d, d);
}

typedef struct OracleBest {
    rbWide squared;
    Wide3 a, b;
} OracleBest;

static inline void oracleTake(OracleBest* best, rbWide squared, Wide3 a, Wide3 b)
{
    if (squared < best->squared) {
        *best = (OracleBest){squared, a, b};
    }
}

// Vertices of one against faces of the other, those below the limit in rbWide.
static inline void oracleSweepFaces(const OraclePolytope* p, const OraclePolytope* q, double limit,
                                    OracleBest* best, bool isSwapped)
{
    for (int i = 0; i < p->vertexCount; ++i) {
        for (int f = 0; f < q->faceCount; ++f) {
            const int* k = q->faces[f];
            if (roughPointFace(p->rough[i], q->rough[k[0]], q->rough[k[1]], q->rough[k[2]]) <=
                limit) {
                Wide3 foot = {0};
                rbWide squared = widePointFace(p->vertices[i], q->vertices[k[0]], q->vertices[k[1]],
                                               q->vertices[k[2]], &foot);
                oracleTake(best, squared, isSwapped ? foot : p->vertices[i],
                           isSwapped ? p->vertices[i] : foot);
            }
        }
    }
}

// Smallest squared distance over pairs of edges in double (best NULL), or over those below the
// limit in rbWide.
static inline double oracleSweepEdges(const OraclePolytope* p, const OraclePolytope* q,
                                      double limit, OracleBest* best)
{
    double least = INFINITY;
    for (int i = 0; i < p->edgeCount; ++i) {
        for (int j = 0; j < q->edgeCount; ++j) {
            const int* e = p->edges[i];
            const int* f = q->edges[j];
            double rough =
                roughEdges(p->rough[e[0]], p->rough[e[1]], q->rough[f[0]], q->rough[f[1]]);
            least = fmin(least, rough);
            if (best != NULL && rough <= limit) {
                const Wide3 ends[4] = {p->vertices[e[0]], p->vertices[e[1]], q->vertices[f[0]],
                                       q->vertices[f[1]]};
                Wide3 a;
                Wide3 b;
                rbWide squared = wideEdges(ends, &a, &b);
                oracleTake(best, squared, a, b);
            }
        }
    }
    return least;
}

// Distance of two polytopes; 0 where no plane normal to the line of the nearest features separates
// them. slab, the gap between two such planes, proves the distance from below: it is smaller only
// where edges are so parallel that rbWide does not resolve their nearest points.
static inline rbWide oracleDistance(const rbCso* cso, rbWide* slab)
{
    static OraclePolytope p;
    static OraclePolytope q;
    oraclePolytope(cso->a, NULL, &p);
    oraclePolytope(cso->b, cso, &q);
    double least = oracleSweepEdges(&p, &q, 0.0, NULL);
    double limit = least * (1.0 + 1e-6) + 1e-13 * cso->scale * cso->scale;
    OracleBest best = {.squared = INFINITY};
    oracleSweepFaces(&p, &q, limit, &best, false);
    oracleSweepFaces(&q, &p, limit, &best, true);
    oracleSweepEdges(&p, &q, limit, &best);
    *slab = 0.0L;
    if (!(best.squared > 0.0L)) {
        return 0.0L;
    }
    Wide3 n = wideSub(best.b, best.a);
    rbWide length = rbWideSqrt(best.squared);
    rbWide highest = -INFINITY;
    rbWide lowest = INFINITY;
    for (int i = 0; i < p.vertexCount; ++i) {
        highest = rbWideMax(highest, wideDot(wideSub(p.vertices[i], best.a), n));
    }
    for (int i = 0; i < q.vertexCount; ++i) {
        lowest = rbWideMin(lowest, wideDot(wideSub(q.vertices[i], best.a), n));
    }
    if ((lowest - highest) / length < 0.999L * length) {
        return 0.0L;
    }
    *slab = (lowest - highest) / length;
    return length;
}

// ------------------------------------------------------------------------------ smooth cores

static inline rbWide wideSquare(double x)
{
    return (rbWide)x * (rbWide)x;
}

// h(u) = max of x.u over the core in its own frame.
static inline rbWide oracleHeight(const rbConvex* convex, Wide3 u)
{
    const rbShapeData* data = &convex->geometry->data;
    rbWide radial = rbWideSqrt(u.x * u.x + u.y * u.y);
    rbWide height = -INFINITY;
    switch (convex->geometry->type) {
    case RB_SHAPE_SPHERE:
        return 0.0L;
    case RB_SHAPE_CAPSULE:
        return rbWideAbs(u.z) * (rbWide)data->capsule.halfLength;
    case RB_SHAPE_BOX:
        return rbWideAbs(u.x) * (rbWide)data->box.halfExtents.x +
               rbWideAbs(u.y) * (rbWide)data->box.halfExtents.y +
               rbWideAbs(u.z) * (rbWide)data->box.halfExtents.z;
    case RB_SHAPE_CYLINDER:
        return radial * (rbWide)data->cylinder.radius +
               rbWideAbs(u.z) * (rbWide)data->cylinder.halfLength;
    case RB_SHAPE_CONE:
        return rbWideMax(u.z * 0.5L * (rbWide)data->cone.height,
                         radial * (rbWide)data->cone.radius -
                             u.z * 0.5L * (rbWide)data->cone.height);
    case RB_SHAPE_ELLIPSOID:
        return rbWideSqrt(wideSquare(data->ellipsoid.semiAxes.x) * u.x * u.x +
                          wideSquare(data->ellipsoid.semiAxes.y) * u.y * u.y +
                          wideSquare(data->ellipsoid.semiAxes.z) * u.z * u.z);
    case RB_SHAPE_HULL:
        for (int i = 0; i < convex->geometry->polyhedron->vertexCount; ++i) {
            height = rbWideMax(height, wideDot(u, wide(convex->geometry->polyhedron->vertices[i])));
        }
        return height;
    case RB_SHAPE_PLANE:
    case RB_SHAPE_POLYHEDRON:
    case RB_SHAPE_MESH:
    case RB_SHAPE_SOUP:
    case RB_SHAPE_COMPOUND:
    case RB_SHAPE_COUNT:
    default:
        return (rbWide)NAN;
    }
}

// Distance of the support planes normal to a direction from A to B: a lower bound of the distance.
static inline rbWide oraclePlane(const rbCso* cso, Wide3 n)
{
    rbWide length = rbWideSqrt(wideDot(n, n));
    Wide3 u = {n.x / length, n.y / length, n.z / length};
    Wide3 back = {-wideDot(u, wide(cso->rotation.cx)), -wideDot(u, wide(cso->rotation.cy)),
                  -wideDot(u, wide(cso->rotation.cz))};
    return wideDot(u, wide(cso->translation)) - oracleHeight(cso->a, u) -
           oracleHeight(cso->b, back);
}

// How far a point is outside of a core, m, roughly; <= 0 inside.
static inline rbWide oracleExcess(const rbConvex* convex, Wide3 p)
{
    const rbShapeData* data = &convex->geometry->data;
    rbWide radial = rbWideSqrt(p.x * p.x + p.y * p.y);
    rbShapeType type = convex->geometry->type;
    if (type == RB_SHAPE_SPHERE) {
        return rbWideSqrt(wideDot(p, p));
    }
    if (type == RB_SHAPE_CAPSULE) {
        return rbWideMax(radial, rbWideAbs(p.z) - (rbWide)data->capsule.halfLength);
    }
    if (type == RB_SHAPE_BOX) {
        return rbWideMax(rbWideAbs(p.x) - (rbWide)data->box.halfExtents.x,
                         rbWideMax(rbWideAbs(p.y) - (rbWide)data->box.halfExtents.y,
                                   rbWideAbs(p.z) - (rbWide)data->box.halfExtents.z));
    }
    if (type == RB_SHAPE_CYLINDER) {
        return rbWideMax(radial - (rbWide)data->cylinder.radius,
                         rbWideAbs(p.z) - (rbWide)data->cylinder.halfLength);
    }
    if (type == RB_SHAPE_CONE) {
        rbWide half = 0.5L * (rbWide)data->cone.height;
        rbWide radius = (rbWide)data->cone.radius;
        return rbWideMax(-half - p.z, (radial * 2.0L * half + (p.z - half) * radius) /
                                          rbWideSqrt(4.0L * half * half + radius * radius));
    }
    if (type == RB_SHAPE_ELLIPSOID) {
        Wide3 q = {p.x / (rbWide)data->ellipsoid.semiAxes.x,
                   p.y / (rbWide)data->ellipsoid.semiAxes.y,
                   p.z / (rbWide)data->ellipsoid.semiAxes.z};
        Wide3 slope = {q.x / (rbWide)data->ellipsoid.semiAxes.x,
                       q.y / (rbWide)data->ellipsoid.semiAxes.y,
                       q.z / (rbWide)data->ellipsoid.semiAxes.z};
        rbWide gauge = wideDot(q, q) - 1.0L;
        return gauge <= 0.0L ? gauge : gauge / (2.0L * rbWideSqrt(wideDot(slope, slope)));
    }
    const rbPolyhedron* hull = convex->geometry->polyhedron;
    rbWide excess = -INFINITY;
    for (int i = 0; i < hull->faceCount; ++i) {
        excess = rbWideMax(excess, wideDot(p, wide(hull->normals[i])) - (rbWide)hull->offsets[i]);
    }
    return excess;
}

// The point of B in its own frame (the rotation is orthogonal to rounding).
static inline Wide3 wideMoveBack(const rbCso* cso, rbVec3 p)
{
    Wide3 d = wideSub(wide(p), wide(cso->translation));
    return (Wide3){wideDot(d, wide(cso->rotation.cx)), wideDot(d, wide(cso->rotation.cy)),
                   wideDot(d, wide(cso->rotation.cz))};
}

// Raises the lower bound by a pattern search around a direction, down to steps of 1e-12.
static inline rbWide oracleRaise(const rbCso* cso, rbVec3 normal)
{
    rbVec3 side = rbPerpendicular(normal);
    Wide3 axes[2] = {wide(side), wide(rbCross(normal, side))};
    Wide3 n = wide(normal);
    rbWide best = oraclePlane(cso, n);
    rbWide step = 1e-4L;
    while (step > 1e-12L) {
        bool isBetter = false;
        for (int i = 0; i < 4; ++i) {
            Wide3 trial = wideSum(n, i % 2 == 0 ? step : -step, axes[i / 2]);
            rbWide height = oraclePlane(cso, trial);
            if (height > best) {
                best = height;
                n = trial;
                isBetter = true;
            }
        }
        step *= isBetter ? 1.0L : 0.25L;
    }
    return best;
}
