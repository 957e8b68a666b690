// Random figures: every elementary distance compared with plain formulas over all features,
// evaluated in long double without any pruning.
#include "base/core/random.h"
#include "lab/bounds/facet.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

enum {
    CORNERS_MAX = 12,
};

// ---- the oracle --------------------------------------------------------------------------------

typedef long double Real;

typedef struct Real3 {
    Real x, y, z;
} Real3;

static Real3 realOf(rbVec3 a)
{
    return (Real3){a.x, a.y, a.z};
}

static Real3 subReal(Real3 a, Real3 b)
{
    return (Real3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static Real3 addReal(Real3 a, Real s, Real3 b)
{
    return (Real3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static Real dotReal(Real3 a, Real3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static Real3 crossReal(Real3 a, Real3 b)
{
    return (Real3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static Real lesser(Real a, Real b)
{
    return a < b ? a : b;
}

// Squared distances, all of them.
static Real truthOfPointEdge(Real3 p, Real3 a, Real3 b)
{
    Real3 u = subReal(b, a);
    Real square = dotReal(u, u);
    Real s = square > 0 ? dotReal(subReal(p, a), u) / square : 0;
    s = s < 0 ? 0 : (s > 1 ? 1 : s);
    Real3 d = subReal(p, addReal(a, s, u));
    return dotReal(d, d);
}

// Ends against edges, and the common perpendicular if its feet lie on both.
static Real truthOfEdges(Real3 a, Real3 b, Real3 c, Real3 d)
{
    Real best = lesser(lesser(truthOfPointEdge(a, c, d), truthOfPointEdge(b, c, d)),
                       lesser(truthOfPointEdge(c, a, b), truthOfPointEdge(d, a, b)));
    Real3 u = subReal(b, a);
    Real3 v = subReal(d, c);
    Real3 w = subReal(c, a);
    Real3 n = crossReal(u, v);
    Real square = dotReal(n, n);
    if (square > 0) {
        Real s = dotReal(crossReal(w, v), n) / square;
        Real t = dotReal(crossReal(w, u), n) / square;
        if (s > 0 && s < 1 && t > 0 && t < 1) {
            Real3 e = subReal(addReal(a, s, u), addReal(c, t, v));
            best = lesser(best, dotReal(e, e));
        }
    }
    return best;
}

typedef struct RealFace {
    Real3 corners[CORNERS_MAX];
    int count;
    Real3 normal; // any length
    Real offset;
} RealFace;

static RealFace realTriangle(const rbVec3 t[3])
{
    RealFace face = {.count = 3};
    for (int i = 0; i < 3; ++i) {
        face.corners[i] = realOf(t[i]);
    }
    face.normal = crossReal(subReal(face.corners[1], face.corners[0]),
                            subReal(face.corners[2], face.corners[0]));
    face.offset = dotReal(face.normal, face.corners[0]);
    return face;
}

static RealFace realFace(const rbFacet* facet)
{
    RealFace face = {
        .count = facet->count, .normal = realOf(facet->normal), .offset = facet->offset};
    for (int i = 0; i < facet->count; ++i) {
        face.corners[i] = realOf(facet->corners[i]);
    }
    return face;
}

// Winding number about the line through the point along the normal: sides of the edges seen along
// the normal, crossings of the half plane toward a fixed direction.
static bool isInside(const RealFace* face, Real3 p)
{
    Real3 n = face->normal;
    Real3 some = fabsl(n.x) <= fabsl(n.y) && fabsl(n.x) <= fabsl(n.z)
                     ? (Real3){1, 0, 0}
                     : (fabsl(n.y) <= fabsl(n.z) ? (Real3){0, 1, 0} : (Real3){0, 0, 1});
    Real3 side = crossReal(n, some);
    int winding = 0;
    for (int i = 0; i < face->count; ++i) {
        Real3 a = subReal(face->corners[i], p);
        Real3 b = subReal(face->corners[(i + 1) % face->count], p);
        Real turn = dotReal(n, crossReal(a, b));
        bool isUpA = dotReal(side, a) >= 0;
        bool isUpB = dotReal(side, b) >= 0;
        winding += (!isUpA && isUpB && turn > 0) - (isUpA && !isUpB && turn < 0);
    }
    return winding != 0;
}

static Real truthOfPointFace(Real3 p, const RealFace* face)
{
    Real best = INFINITY;
    for (int i = 0; i < face->count; ++i) {
        best = lesser(best,
                      truthOfPointEdge(p, face->corners[i], face->corners[(i + 1) % face->count]));
    }
    Real square = dotReal(face->normal, face->normal);
    if (square > 0 && isInside(face, p)) {
        Real h = dotReal(face->normal, p) - face->offset;
        best = lesser(best, h * h / square);
    }
    return best;
}

static bool isPierced(const RealFace* face, Real3 p, Real3 q)
{
    Real h = dotReal(face->normal, p) - face->offset;
    Real g = dotReal(face->normal, q) - face->offset;
    if (h == g || (h > 0 && g > 0) || (h < 0 && g < 0)) {
        return false;
    }
    return isInside(face, addReal(p, h / (h - g), subReal(q, p)));
}

static Real truthOfEdgeFace(Real3 p, Real3 q, const RealFace* face)
{
    if (isPierced(face, p, q)) {
        return 0;
    }
    Real best = lesser(truthOfPointFace(p, face), truthOfPointFace(q, face));
    for (int i = 0; i < face->count; ++i) {
        best = lesser(best,
                      truthOfEdges(p, q, face->corners[i], face->corners[(i + 1) % face->count]));
    }
    return best;
}

static Real truthOfFaces(const RealFace* a, const RealFace* b)
{
    Real best = INFINITY;
    for (int i = 0; i < a->count; ++i) {
        best = lesser(best, truthOfEdgeFace(a->corners[i], a->corners[(i + 1) % a->count], b));
    }
    for (int i = 0; i < b->count; ++i) {
        Real3 p = b->corners[i];
        Real3 q = b->corners[(i + 1) % b->count];
        best = isPierced(a, p, q) ? 0 : lesser(best, truthOfPointFace(p, a));
    }
    return best;
}

// ---- random figures ----------------------------------------------------------------------------

static rbVec3 randomVector(rbRandom* random, double size)
{
    return rbMakeVec3(size * rbRandom_Symmetric(random), size * rbRandom_Symmetric(random),
                      size * rbRandom_Symmetric(random));
}

static double randomPower(rbRandom* random, double low, double high)
{
    return pow(10.0, rbRandom_Range(random, low, high));
}

static rbQuat randomRotation(rbRandom* random)
{
    rbQuat q = {rbRandom_Symmetric(random), rbRandom_Symmetric(random), rbRandom_Symmetric(random),
                rbRandom_Symmetric(random) + 1.5};
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return (rbQuat){q.w / length, q.x / length, q.y / length, q.z / length};
}

typedef struct Pair {
    rbVec3 a[3], b[3];
} Pair;

static void translate(rbVec3* points, int count, rbVec3 by)
{
    for (int i = 0; i < count; ++i) {
        points[i] = rbAdd(points[i], by);
    }
}

static rbVec3 weighted(const rbVec3 t[3], double u, double v)
{
    return rbAdd(rbScale(1.0 - u - v, t[0]), rbAdd(rbScale(u, t[1]), rbScale(v, t[2])));
}

static void makeMixed(rbRandom* random, Pair* p)
{
    (void)random;
    (void)p;
}

static void makeApart(rbRandom* random, Pair* p)
{
    translate(p->b, 3, randomVector(random, 4.0));
}

static void makeFlat(rbRandom* random, Pair* p)
{
    double gap = randomPower(random, -4.0, 0.0);
    for (int i = 0; i < 3; ++i) {
        p->a[i].z *= 1e-3;
        p->b[i].z = p->b[i].z * 1e-3 + gap;
    }
}

static void makeCoplanar(rbRandom* random, Pair* p)
{
    double size = rbRandom_Index(random, 2) == 0 ? 1.0 : 0.1; // 0.1: often one inside the other
    for (int i = 0; i < 3; ++i) {
        p->a[i].z = 0.0;
        p->b[i] = rbMakeVec3(size * p->b[i].x, size * p->b[i].y, 0.0);
    }
}

static void makeParallel(rbRandom* random, Pair* p)
{
    double gap = randomPower(random, -12.0, 0.0);
    for (int i = 0; i < 3; ++i) {
        p->a[i].z = 0.0;
        p->b[i].z = gap;
    }
}

static void makeSharing(rbRandom* random, Pair* p)
{
    p->b[0] = p->a[rbRandom_Index(random, 3)];
    if (rbRandom_Index(random, 2) == 0) {
        p->b[1] = p->a[rbRandom_Index(random, 3)];
    }
    if (rbRandom_Index(random, 8) == 0) {
        memcpy(p->b, p->a, sizeof p->b);
    }
}

static void makeTouching(rbRandom* random, Pair* p)
{
    double u = rbRandom_Unit(random);
    p->b[0] = weighted(p->a, u, (1.0 - u) * rbRandom_Unit(random));
}

static void makeBarelyApart(rbRandom* random, Pair* p)
{
    rbVec3 n = rbNormalize(rbCross(rbSub(p->a[1], p->a[0]), rbSub(p->a[2], p->a[0])));
    p->b[0] = rbAddScaled(weighted(p->a, 0.2, 0.7), randomPower(random, -16.0, -1.0), n);
    for (int i = 1; i < 3; ++i) {
        double h = rbDot(n, rbSub(p->b[i], p->a[0]));
        p->b[i] = rbAddScaled(p->b[i], h < 0.0 ? -2.0 * h : 0.0, n);
    }
}

// Corner 2 near the line of the other two, anywhere along it.
static void flatten(rbRandom* random, rbVec3 t[3], double size)
{
    rbVec3 along = rbSub(t[1], t[0]);
    rbVec3 on = rbAddScaled(t[0], rbRandom_Range(random, -0.5, 1.5), along);
    t[2] = rbAddScaled(on, size, randomVector(random, 1.0));
    int first = rbRandom_Index(random, 3);
    rbVec3 kept = t[first];
    t[first] = t[2];
    t[2] = kept;
}

static void makeSliver(rbRandom* random, Pair* p)
{
    flatten(random, p->a, randomPower(random, -12.0, -4.0));
}

static void makeSlivers(rbRandom* random, Pair* p)
{
    flatten(random, p->a, 1e-8);
    flatten(random, p->b, 1e-8);
    translate(p->b, 3, randomVector(random, randomPower(random, -6.0, 0.3)));
}

static void makeNeedles(rbRandom* random, Pair* p)
{
    p->a[2] = rbAddScaled(p->a[1], 1e-8, randomVector(random, 1.0));
    p->b[0] = rbAddScaled(p->b[1], 1e-8, randomVector(random, 1.0));
}

static void makeCollapsed(rbRandom* random, Pair* p)
{
    flatten(random, p->a, 0.0);
    int what = rbRandom_Index(random, 8);
    p->a[1] = (what & 1) != 0 ? p->a[0] : p->a[1];
    p->a[2] = (what & 1) != 0 ? p->a[0] : p->a[2];
    p->b[2] = (what & 2) != 0 ? p->b[1] : p->b[2];
    p->b[0] = (what & 6) == 6 ? p->b[1] : p->b[0];
}

static void makeNearlyParallelEdges(rbRandom* random, Pair* p)
{
    rbVec3 along = rbSub(p->a[1], p->a[0]);
    rbVec3 start = rbAddScaled(p->a[0], 1e-3, randomVector(random, 1.0));
    p->b[0] = rbRandom_Index(random, 2) == 0 ? p->b[0] : start;
    p->b[1] = rbAddScaled(p->b[0], rbRandom_Symmetric(random), along);
    p->b[1] = rbAddScaled(p->b[1], randomPower(random, -17.0, -1.0), randomVector(random, 1.0));
}

// In one plane and inside the other triangle, sometimes with common corners and edges.
static void makeNested(rbRandom* random, Pair* p)
{
    for (int i = 0; i < 3; ++i) {
        double u = rbRandom_Index(random, 3) == 0 ? 0.0 : rbRandom_Unit(random);
        double v = rbRandom_Index(random, 3) == 0 ? 0.0 : rbRandom_Unit(random);
        p->b[i] = weighted(p->a, u, (1.0 - u) * v);
    }
}

static void (*const makers[])(rbRandom*, Pair*) = {
    makeMixed,
    makeApart,
    makeFlat,
    makeCoplanar,
    makeParallel,
    makeSharing,
    makeTouching,
    makeBarelyApart,
    makeSliver,
    makeSlivers,
    makeNeedles,
    makeCollapsed,
    makeNearlyParallelEdges,
    makeNested,
};

static Pair randomPair(rbRandom* random)
{
    Pair p;
    for (int i = 0; i < 3; ++i) {
        p.a[i] = randomVector(random, 1.0);
        p.b[i] = randomVector(random, 1.0);
    }
    makers[rbRandom_Index(random, (int)(sizeof makers / sizeof makers[0]))](random, &p);
    double scale = rbRandom_Index(random, 3) == 0 ? randomPower(random, -12.0, 12.0) : 1.0;
    rbTransform motion = {rbScale(scale, randomVector(random, 1.0)), randomRotation(random)};
    bool isMoved = rbRandom_Index(random, 3) == 0;
    for (int i = 0; i < 3; ++i) {
        p.a[i] = rbScale(scale, p.a[i]);
        p.b[i] = rbScale(scale, p.b[i]);
        if (isMoved) {
            p.a[i] = rbTransformPoint(motion, p.a[i]);
            p.b[i] = rbTransformPoint(motion, p.b[i]);
        }
    }
    return p;
}

static double sizeOf(const rbVec3* points, int count)
{
    double size = 0.0;
    for (int i = 0; i < count; ++i) {
        size = fmax(size, rbLength(points[i]));
    }
    return size;
}

// ---- checks ------------------------------------------------------------------------------------

// The point lies on the named feature of the polygon.
static void checkPart(const rbVec3* corners, const RealFace* face, rbVec3 point, rbFigurePart part,
                      double tolerance)
{
    Real3 p = realOf(point);
    if (part.kind == RB_FIGURE_VERTEX) {
        assert_in_range(part.index, 0, face->count - 1);
        assert_memory_equal(&point, &corners[part.index], sizeof point);
    } else if (part.kind == RB_FIGURE_EDGE) {
        assert_in_range(part.index, 0, face->count - 1);
        Real3 next = face->corners[(part.index + 1) % face->count];
        checkBelow((double)sqrtl(truthOfPointEdge(p, face->corners[part.index], next)), tolerance);
    } else {
        assert_int_equal(part.index, 0);
        checkBelow((double)sqrtl(truthOfPointFace(p, face)), tolerance);
    }
}

static void checkClosest(const rbClosest* closest, Real truth, double tolerance)
{
    checkNear(sqrt(closest->squared), (double)sqrtl(truth), tolerance);
    double squared = rbLengthSquared(rbSub(closest->b, closest->a));
    assert_memory_equal(&squared, &closest->squared, sizeof squared);
}

// ---- triangles ---------------------------------------------------------------------------------

// L-14, L-26
static void trianglesMatchThePlainFormulas(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4101)};
    int count = rbTest_Count(12000, 400000);
    for (int k = 0; k < count; ++k) {
        Pair p = randomPair(&random);
        RealFace a = realTriangle(p.a);
        RealFace b = realTriangle(p.b);
        double size = fmax(sizeOf(p.a, 3), sizeOf(p.b, 3));
        rbClosest closest = rbClosestOfTriangles(p.a, p.b, INFINITY);
        checkClosest(&closest, truthOfFaces(&a, &b), 1.5e-15 * size);
        checkPart(p.a, &a, closest.a, closest.partA, 1.5e-15 * size);
        checkPart(p.b, &b, closest.b, closest.partB, 1.5e-15 * size);
    }
}

// No pair of points of two triangles is closer: this check shares nothing with the formulas.
// L-14
static void noSampledPointsOfTrianglesAreCloser(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4102)};
    int count = rbTest_Count(2000, 100000);
    for (int k = 0; k < count; ++k) {
        Pair p = randomPair(&random);
        double size = fmax(sizeOf(p.a, 3), sizeOf(p.b, 3));
        rbClosest closest = rbClosestOfTriangles(p.a, p.b, INFINITY);
        for (int i = 0; i < 40; ++i) {
            double u = rbRandom_Unit(&random), v = (1.0 - u) * rbRandom_Unit(&random);
            double s = rbRandom_Unit(&random), t = (1.0 - s) * rbRandom_Unit(&random);
            double distance = rbDistance(weighted(p.a, u, v), weighted(p.b, s, t));
            checkBelow(sqrt(closest.squared), distance + 2e-15 * size);
        }
    }
}

// L-26
static void trianglesMeasureTheSameSwappedAndMoved(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4103)};
    int count = rbTest_Count(20000, 1000000);
    for (int k = 0; k < count; ++k) {
        Pair p = randomPair(&random);
        double size = fmax(sizeOf(p.a, 3), sizeOf(p.b, 3));
        rbClosest closest = rbClosestOfTriangles(p.a, p.b, INFINITY);
        rbClosest swapped = rbClosestOfTriangles(p.b, p.a, INFINITY);
        checkNear(sqrt(swapped.squared), sqrt(closest.squared), 2e-15 * size);
        rbTransform motion = {rbScale(size, randomVector(&random, 1.0)), randomRotation(&random)};
        for (int i = 0; i < 3; ++i) {
            p.a[i] = rbTransformPoint(motion, p.a[i]);
            p.b[i] = rbTransformPoint(motion, p.b[i]);
        }
        rbClosest moved = rbClosestOfTriangles(p.a, p.b, INFINITY);
        checkNear(sqrt(moved.squared), sqrt(closest.squared), 1e-14 * size);
    }
}

// L-14
static void trianglesGiveUpOnlyBeyondTheLimit(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4104)};
    int count = rbTest_Count(6000, 300000);
    int givenUp = 0;
    for (int k = 0; k < count; ++k) {
        Pair p = randomPair(&random);
        rbClosest closest = rbClosestOfTriangles(p.a, p.b, INFINITY);
        double nearness = k % 2 == 0 ? 1e-14 : 0.5;
        double limit = closest.squared * (1.0 + nearness * rbRandom_Symmetric(&random));
        rbClosest limited = rbClosestOfTriangles(p.a, p.b, limit);
        if (limited.squared == INFINITY) {
            RealFace a = realTriangle(p.a);
            RealFace b = realTriangle(p.b);
            assert_true(truthOfFaces(&a, &b) >= (Real)limit);
            ++givenUp;
        } else {
            assert_memory_equal(&limited.a, &closest.a, sizeof closest.a);
            assert_memory_equal(&limited.b, &closest.b, sizeof closest.b);
            assert_memory_equal(&limited.squared, &closest.squared, sizeof closest.squared);
        }
    }
    // it must also be useful
    assert_true(givenUp > count / 40);
}

// L-20, L-22
static void pointAndTriangleMatchThePlainFormulas(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4105)};
    int count = rbTest_Count(10000, 400000);
    for (int k = 0; k < count; ++k) {
        Pair p = randomPair(&random);
        RealFace b = realTriangle(p.b);
        double size = fmax(sizeOf(p.a, 3), sizeOf(p.b, 3));
        rbClosest closest = rbClosestOfPointTriangle(p.a[0], p.b);
        checkClosest(&closest, truthOfPointFace(realOf(p.a[0]), &b), 1.5e-15 * size);
        checkPart(p.b, &b, closest.b, closest.partB, 1.5e-15 * size);
        assert_memory_equal(&closest.a, &p.a[0], sizeof closest.a);
        assert_int_equal(closest.partA.kind, RB_FIGURE_VERTEX);
    }
}

// ---- edges -------------------------------------------------------------------------------------

static void checkEdgePart(const rbVec3 edge[2], rbVec3 point, rbFigurePart part, double tolerance)
{
    if (part.kind == RB_FIGURE_VERTEX) {
        assert_memory_equal(&point, &edge[part.index], sizeof point);
    } else {
        assert_int_equal(part.kind, RB_FIGURE_EDGE);
        assert_int_equal(part.index, 0);
        Real squared = truthOfPointEdge(realOf(point), realOf(edge[0]), realOf(edge[1]));
        checkBelow((double)sqrtl(squared), tolerance);
    }
}

// L-17, L-18, L-19
static void edgesMatchThePlainFormulas(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4106)};
    int count = rbTest_Count(30000, 1000000);
    for (int k = 0; k < count; ++k) {
        Pair p = randomPair(&random);
        double size = fmax(sizeOf(p.a, 2), sizeOf(p.b, 2));
        rbClosest closest = rbClosestOfEdges(p.a, p.b);
        checkClosest(&closest,
                     truthOfEdges(realOf(p.a[0]), realOf(p.a[1]), realOf(p.b[0]), realOf(p.b[1])),
                     1.5e-15 * size);
        checkEdgePart(p.a, closest.a, closest.partA, 1e-15 * size);
        checkEdgePart(p.b, closest.b, closest.partB, 1e-15 * size);
        closest = rbClosestOfPointEdge(p.a[0], p.b);
        checkClosest(&closest, truthOfPointEdge(realOf(p.a[0]), realOf(p.b[0]), realOf(p.b[1])),
                     1.5e-15 * size);
        checkEdgePart(p.b, closest.b, closest.partB, 1e-15 * size);
    }
}

// ---- polygons ----------------------------------------------------------------------------------

typedef struct Polygon {
    rbVec3 corners[CORNERS_MAX];
    rbFacet facet;
} Polygon;

// A star polygon with 3 to 10 corners about a point of the plane z = 0, mapped by a motion.
static void makePolygon(rbRandom* random, const rbTransform* motion, rbVec3 center,
                        Polygon* polygon)
{
    int count = 3 + rbRandom_Index(random, 8);
    for (int i = 0; i < count; ++i) {
        double angle = 2.0 * RB_PI * (i + 0.8 * rbRandom_Unit(random)) / count;
        double radius = rbRandom_Range(random, 0.1, 1.0);
        rbVec3 corner = rbMakeVec3(radius * cos(angle), radius * sin(angle), 0.0);
        polygon->corners[i] = rbTransformPoint(*motion, rbAdd(center, corner));
    }
    polygon->facet.corners = polygon->corners;
    polygon->facet.count = count;
    polygon->facet.normal = rbNormalize(rbRotate(motion->q, rbMakeVec3(0.0, 0.0, 1.0)));
    polygon->facet.offset =
        rbDot(polygon->facet.normal, rbTransformPoint(*motion, rbMakeVec3(0.0, 0.0, 0.0)));
}

// Anywhere, in one plane, in parallel planes.
static void makePolygons(rbRandom* random, Polygon* a, Polygon* b)
{
    rbTransform motion = {randomVector(random, 1.0), randomRotation(random)};
    if (rbRandom_Index(random, 4) == 0) {
        motion = RB_TRANSFORM_IDENTITY;
    }
    makePolygon(random, &motion, RB_VEC3_ZERO, a);
    int kind = rbRandom_Index(random, 4);
    if (kind < 2) {
        double reach = kind == 0 ? 0.6 : 2.0;
        motion =
            (rbTransform){rbAdd(motion.p, randomVector(random, reach)), randomRotation(random)};
        makePolygon(random, &motion, RB_VEC3_ZERO, b);
        return;
    }
    rbVec3 center = rbMakeVec3(rbRandom_Symmetric(random), rbRandom_Symmetric(random), 0.0);
    double gap = kind == 2 ? 0.0 : randomPower(random, -8.0, 0.0);
    motion.p = rbAddScaled(motion.p, gap, rbRotate(motion.q, rbMakeVec3(0.0, 0.0, 1.0)));
    makePolygon(random, &motion, center, b);
}

// L-24, L-25, L-26
static void polygonsMatchThePlainFormulas(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4107)};
    int count = rbTest_Count(4000, 300000);
    for (int k = 0; k < count; ++k) {
        Polygon a = {0};
        Polygon b = {0};
        makePolygons(&random, &a, &b);
        RealFace faceA = realFace(&a.facet);
        RealFace faceB = realFace(&b.facet);
        rbClosest closest = rbClosestOfFacets(&a.facet, &b.facet);
        checkClosest(&closest, truthOfFaces(&faceA, &faceB), 4e-15);
        checkPart(a.corners, &faceA, closest.a, closest.partA, 4e-15);
        checkPart(b.corners, &faceB, closest.b, closest.partB, 4e-15);
        rbClosest swapped = rbClosestOfFacets(&b.facet, &a.facet);
        checkNear(sqrt(swapped.squared), sqrt(closest.squared), 4e-15);
    }
}

// The plain form (L-24) over all edges of both is a second method for the distance of two polygons.
// L-22, L-24, L-26
static void polygonsMatchTheirEdgesAgainstFaces(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4108)};
    int count = rbTest_Count(10000, 300000);
    for (int k = 0; k < count; ++k) {
        Polygon a = {0};
        Polygon b = {0};
        makePolygons(&random, &a, &b);
        double best = INFINITY;
        const Polygon* sides[2] = {&a, &b};
        for (int side = 0; side < 2; ++side) {
            const rbFacet* from = &sides[side]->facet;
            for (int i = 0; i < from->count; ++i) {
                rbVec3 edge[2] = {from->corners[i], from->corners[(i + 1) % from->count]};
                best = fmin(best, rbClosestOfEdgeFacet(edge, &sides[1 - side]->facet).squared);
            }
        }
        checkNear(sqrt(rbClosestOfFacets(&a.facet, &b.facet).squared), sqrt(best), 4e-15);
    }
}

// L-21, L-22, L-23, L-24
static void edgeAndPointAgainstPolygonMatchThePlainFormulas(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4109)};
    int count = rbTest_Count(10000, 300000);
    for (int k = 0; k < count; ++k) {
        Polygon a = {0};
        Polygon b = {0};
        makePolygons(&random, &a, &b);
        RealFace face = realFace(&b.facet);
        rbVec3 edge[2] = {a.corners[0], a.corners[1]};
        Real3 p = realOf(edge[0]);
        Real3 q = realOf(edge[1]);
        rbClosest closest = rbClosestOfEdgeFacet(edge, &b.facet);
        checkClosest(&closest, truthOfEdgeFace(p, q, &face), 4e-15);
        checkEdgePart(edge, closest.a, closest.partA, 4e-15);
        checkPart(b.corners, &face, closest.b, closest.partB, 4e-15);
        closest = rbClosestOfPointFacet(edge[0], &b.facet);
        checkClosest(&closest, truthOfPointFace(p, &face), 4e-15);
        checkPart(b.corners, &face, closest.b, closest.partB, 4e-15);
        rbVec3 point;
        if (rbFacet_CutEdge(&b.facet, edge, &point)) {
            checkBelow((double)truthOfEdgeFace(p, q, &face), 1e-29);
            checkBelow((double)sqrtl(truthOfPointEdge(realOf(point), p, q)), 2e-15);
        } else if (isPierced(&face, p, q)) {
            // only rounding at the boundary or a nearly parallel edge may give another answer
            checkBelow(sqrt(rbClosestOfEdgeFacet(edge, &b.facet).squared), 4e-15);
        }
    }
}

// Corners on the ray count once: points at the height of a corner on a grid, exactly.
// L-21
static void pointsOfTheGridAreInsideAsTheWindingNumberSays(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4110)};
    int count = rbTest_Count(4000, 200000);
    for (int k = 0; k < count; ++k) {
        int corners = 3 + rbRandom_Index(&random, 8);
        rbVec3 points[CORNERS_MAX];
        for (int i = 0; i < corners; ++i) {
            double angle = 2.0 * RB_PI * i / corners;
            double radius = rbRandom_Range(&random, 2.0, 9.0);
            points[i] = rbMakeVec3(rint(radius * cos(angle)), rint(radius * sin(angle)), 2.0);
        }
        rbFacet facet = {points, corners, {0.0, 0.0, 1.0}, 2.0};
        RealFace face = realFace(&facet);
        for (int i = 0; i < 20; ++i) {
            rbVec3 p =
                rbMakeVec3(rbRandom_Index(&random, 19) - 9, rbRandom_Index(&random, 19) - 9, 2.0);
            bool isOn = false;
            for (int e = 0; e < corners; ++e) {
                isOn = isOn || truthOfPointEdge(realOf(p), face.corners[e],
                                                face.corners[(e + 1) % corners]) < 1e-20L;
            }
            assert_true(isOn || rbFacet_Contains(&facet, p) == isInside(&face, realOf(p)));
        }
    }
}

// L-26
static void trianglesMatchTheTestOfPolygons(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4111)};
    int count = rbTest_Count(40000, 1000000);
    int compared = 0;
    for (int k = 0; k < count; ++k) {
        Pair p = randomPair(&random);
        rbFacet facets[2];
        bool isFat = true;
        double size = fmax(sizeOf(p.a, 3), sizeOf(p.b, 3));
        for (int side = 0; side < 2; ++side) {
            const rbVec3* t = side == 0 ? p.a : p.b;
            rbVec3 u = rbSub(t[1], t[0]);
            rbVec3 v = rbSub(t[2], t[0]);
            rbVec3 n = rbCross(u, v);
            // the plane of a sliver is only as accurate as its normal
            isFat = isFat && rbLength(n) > 0.1 * rbLength(u) * rbLength(v);
            n = rbNormalize(n);
            facets[side] = (rbFacet){t, 3, n, rbDot(n, t[0])};
        }
        if (isFat) {
            double distance = sqrt(rbClosestOfTriangles(p.a, p.b, INFINITY).squared);
            checkNear(sqrt(rbClosestOfFacets(&facets[0], &facets[1]).squared), distance,
                      1e-14 * size);
            ++compared;
        }
    }
    assert_true(compared > count / 4);
}

RB_TEST_GROUP(prop_closest, cmocka_unit_test(trianglesMatchThePlainFormulas),
              cmocka_unit_test(noSampledPointsOfTrianglesAreCloser),
              cmocka_unit_test(trianglesMeasureTheSameSwappedAndMoved),
              cmocka_unit_test(trianglesGiveUpOnlyBeyondTheLimit),
              cmocka_unit_test(pointAndTriangleMatchThePlainFormulas),
              cmocka_unit_test(edgesMatchThePlainFormulas),
              cmocka_unit_test(polygonsMatchThePlainFormulas),
              cmocka_unit_test(polygonsMatchTheirEdgesAgainstFaces),
              cmocka_unit_test(edgeAndPointAgainstPolygonMatchThePlainFormulas),
              cmocka_unit_test(pointsOfTheGridAreInsideAsTheWindingNumberSays),
              cmocka_unit_test(trianglesMatchTheTestOfPolygons));
