// Principal axes of the surface of the convex hull of points (L-36).
//
// Uses the covariance of the surface, not of the points: regions with many small triangles get no
// extra weight. S. Gottschalk, Collision queries using oriented bounding boxes, 2000, with weights
// by area.
//
// A hierarchy needs this once per node, so the hull must be cheap: up to 26 points are used
// directly; of a larger set, only the extreme points along the 13 symmetry axes of a cube, at most
// 26. That costs O(n) and a hull of 26 points at most, 4 to 11 microseconds, and the boxes are 2 %
// larger than those of the whole hull (a test compares). A hull by qhull costs ten times as much
// for small sets, rejects flat ones, and may not be compiled in.
//
// The axes affect only the quality: whatever rounding does to the hull, the box is fitted to the
// points afterward.
#include "base/math/matrix3.h"
#include "lab/bounds/volume_rows.h"

#include <string.h>

#define HULL_POINTS_MAX 26
// A hull of n points has 2 n - 4 triangles; a surface torn by rounding may have some more.
#define HULL_FACES_MAX 96
// Thickness, relative to the size, below which points count as collinear or coplanar.
#define FLATNESS 1e-12

typedef struct SmallHull {
    rbVec3 points[HULL_POINTS_MAX]; // of about unit size, about the origin
    int count;
    int faces[HULL_FACES_MAX][3];
    rbVec3 normals[HULL_FACES_MAX]; // outward, twice the area
    int faceCount;
} SmallHull;

// First and second moments of a surface of triangles.
typedef struct SurfaceSums {
    double area;
    rbVec3 first;
    rbSym3 second;
} SurfaceSums;

static void addOuter(rbSym3* sum, double weight, rbVec3 v)
{
    sum->xx += weight * v.x * v.x;
    sum->yy += weight * v.y * v.y;
    sum->zz += weight * v.z * v.z;
    sum->xy += weight * v.x * v.y;
    sum->xz += weight * v.x * v.z;
    sum->yz += weight * v.y * v.z;
}

static void addTriangle(SurfaceSums* sums, rbVec3 a, rbVec3 b, rbVec3 c)
{
    double area = 0.5 * rbLength(rbCross(rbSub(b, a), rbSub(c, a)));
    rbVec3 s = rbAdd(a, rbAdd(b, c));
    sums->area += area;
    sums->first = rbAddScaled(sums->first, area / 3.0, s);
    double weight = area / 12.0;
    addOuter(&sums->second, weight, s);
    addOuter(&sums->second, weight, a);
    addOuter(&sums->second, weight, b);
    addOuter(&sums->second, weight, c);
}

static rbMat3 axesOfSums(const SurfaceSums* sums)
{
    if (!(sums->area > 0.0)) {
        return RB_MAT3_IDENTITY;
    }
    rbVec3 mean = rbScale(1.0 / sums->area, sums->first);
    rbSym3 covariance = rbScaleSym(1.0 / sums->area, sums->second);
    addOuter(&covariance, -1.0, mean);
    return rbSym3_Diagonalize(covariance).axes;
}

static rbMat3 axesAlong(rbVec3 direction)
{
    rbVec3 u = rbNormalize(direction);
    rbVec3 v = rbPerpendicular(u);
    return (rbMat3){u, v, rbCross(u, v)};
}

// ------------------------------------------------------------------------------------- flat sets

typedef struct PlanePoint {
    double u, v;
} PlanePoint;

static double turn(PlanePoint a, PlanePoint b, PlanePoint c)
{
    return (b.u - a.u) * (c.v - a.v) - (b.v - a.v) * (c.u - a.u);
}

static void sortPlanePoints(PlanePoint* points, int count)
{
    for (int i = 1; i < count; i++) {
        PlanePoint p = points[i];
        int j = i;
        while (j > 0 &&
               (points[j - 1].u > p.u || (points[j - 1].u == p.u && points[j - 1].v > p.v))) {
            points[j] = points[j - 1];
            j--;
        }
        points[j] = p;
    }
}

// Polygon about sorted points by Andrew's chain; counter-clockwise.
static int findPolygon(const PlanePoint* points, int count, PlanePoint* polygon)
{
    int size = 0;
    for (int pass = 0; pass < 2; pass++) {
        int start = size;
        for (int k = 0; k < count; k++) {
            PlanePoint p = points[pass == 0 ? k : count - 1 - k];
            while (size - start >= 2 && turn(polygon[size - 2], polygon[size - 1], p) <= 0.0) {
                size--;
            }
            polygon[size++] = p;
        }
        RB_ASSERT(size <= 2 * HULL_POINTS_MAX);
        size--; // the last point begins the other chain
    }
    return size;
}

static rbMat3 axesOfFlat(const SmallHull* hull, rbVec3 origin, rbVec3 along, rbVec3 normal)
{
    rbVec3 n = rbNormalize(normal);
    rbVec3 u = rbNormalize(along);
    rbVec3 v = rbCross(n, u);
    PlanePoint points[HULL_POINTS_MAX];
    PlanePoint polygon[2 * HULL_POINTS_MAX + 2];
    for (int i = 0; i < hull->count; i++) {
        rbVec3 x = rbSub(hull->points[i], origin);
        points[i] = (PlanePoint){rbDot(u, x), rbDot(v, x)};
    }
    sortPlanePoints(points, hull->count);
    int size = findPolygon(points, hull->count, polygon);
    SurfaceSums sums = {0};
    for (int i = 2; i < size; i++) {
        addTriangle(&sums, rbMakeVec3(polygon[0].u, polygon[0].v, 0.0),
                    rbMakeVec3(polygon[i - 1].u, polygon[i - 1].v, 0.0),
                    rbMakeVec3(polygon[i].u, polygon[i].v, 0.0));
    }
    rbMat3 frame = {u, v, n};
    return rbMulMM(frame, axesOfSums(&sums));
}

// --------------------------------------------------------------------------------- hull in space

static void addFace(SmallHull* hull, int a, int b, int c)
{
    RB_ASSERT(hull->faceCount < HULL_FACES_MAX);
    int* face = hull->faces[hull->faceCount];
    face[0] = a;
    face[1] = b;
    face[2] = c;
    rbVec3 p = hull->points[a];
    hull->normals[hull->faceCount] = rbCross(rbSub(hull->points[b], p), rbSub(hull->points[c], p));
    hull->faceCount++;
}

// Replaces the faces visible from the point by a fan from their rim to it. False if there are too
// many.
static bool addPoint(SmallHull* hull, int point)
{
    // bit b of edges[a]: a visible face has the edge ab; of backs[a]: the edge ba
    uint32_t edges[HULL_POINTS_MAX], backs[HULL_POINTS_MAX];
    memset(edges, 0, sizeof edges);
    memset(backs, 0, sizeof backs);
    int kept = 0;
    rbVec3 p = hull->points[point];
    for (int f = 0; f < hull->faceCount; f++) {
        const int* face = hull->faces[f];
        int a = face[0], b = face[1], c = face[2];
        if (rbDot(hull->normals[f], rbSub(p, hull->points[a])) > 16.0 * DBL_EPSILON) {
            edges[a] |= 1u << b;
            edges[b] |= 1u << c;
            edges[c] |= 1u << a;
            backs[b] |= 1u << a;
            backs[c] |= 1u << b;
            backs[a] |= 1u << c;
        } else if (kept++ < f) {
            memcpy(hull->faces[kept - 1], face, sizeof hull->faces[0]);
            hull->normals[kept - 1] = hull->normals[f];
        }
    }
    if (kept == hull->faceCount) {
        return true;
    }
    hull->faceCount = kept;
    for (int a = 0; a < hull->count; a++) {
        uint32_t rim = edges[a] & ~backs[a];
        for (int b = 0; rim != 0; b++, rim >>= 1) {
            if ((rim & 1u) != 0) {
                if (hull->faceCount == HULL_FACES_MAX) {
                    return false;
                }
                addFace(hull, a, b, point);
            }
        }
    }
    return true;
}

static rbMat3 axesOfHull(SmallHull* hull, const int start[4])
{
    int a = start[0], b = start[1], c = start[2], d = start[3];
    const rbVec3* p = hull->points;
    rbVec3 normal = rbCross(rbSub(p[b], p[a]), rbSub(p[c], p[a]));
    if (rbDot(normal, rbSub(p[d], p[a])) > 0.0) {
        int swap = b;
        b = c;
        c = swap;
    }
    hull->faceCount = 0;
    addFace(hull, a, b, c);
    addFace(hull, a, d, b);
    addFace(hull, b, d, c);
    addFace(hull, c, d, a);
    bool isWhole = true;
    for (int i = 0; i < hull->count && isWhole; i++) {
        isWhole = addPoint(hull, i);
    }
    SurfaceSums sums = {0};
    for (int f = 0; f < hull->faceCount; f++) {
        const int* face = hull->faces[f];
        addTriangle(&sums, p[face[0]], p[face[1]], p[face[2]]);
    }
    return axesOfSums(&sums);
}

// ---------------------------------------------------------------------------------------- points

// Heights along the 13 axes of a cube, not normalized: only the extremes matter.
static void findHeights(rbVec3 p, double heights[13])
{
    double sum = p.x + p.y, difference = p.x - p.y;
    heights[0] = p.x;
    heights[1] = p.y;
    heights[2] = p.z;
    heights[3] = sum;
    heights[4] = difference;
    heights[5] = p.x + p.z;
    heights[6] = p.x - p.z;
    heights[7] = p.y + p.z;
    heights[8] = p.y - p.z;
    heights[9] = sum + p.z;
    heights[10] = sum - p.z;
    heights[11] = difference + p.z;
    heights[12] = difference - p.z;
}

static int findExtremes(const rbVec3* points, int count, rbVec3 base, int* extremes)
{
    double lows[13], highs[13], heights[13];
    int lowest[13] = {0}, highest[13] = {0};
    findHeights(rbSub(points[0], base), lows);
    memcpy(highs, lows, sizeof highs);
    for (int i = 1; i < count; i++) {
        findHeights(rbSub(points[i], base), heights);
        for (int k = 0; k < 13; k++) {
            if (heights[k] < lows[k]) {
                lows[k] = heights[k];
                lowest[k] = i;
            }
            if (heights[k] > highs[k]) {
                highs[k] = heights[k];
                highest[k] = i;
            }
        }
    }
    int size = 0;
    for (int k = 0; k < 26; k++) {
        int index = k < 13 ? lowest[k] : highest[k - 13];
        int j = 0;
        while (j < size && extremes[j] != index) {
            j++;
        }
        if (j == size) {
            extremes[size++] = index;
        }
    }
    return size;
}

static void gatherPoints(const rbVec3* points, int count, SmallHull* hull)
{
    rbBounds bounds = rbFindPointBounds(points, count);
    rbVec3 base = rbAddScaled(rbScale(0.5, bounds.lower), 0.5, bounds.upper);
    double size = rbLength(rbSub(bounds.upper, base));
    double scale = size > 0.0 ? 1.0 / size : 0.0;
    int extremes[HULL_POINTS_MAX];
    bool isFew = count <= HULL_POINTS_MAX;
    hull->count = isFew ? count : findExtremes(points, count, base, extremes);
    RB_ASSERT(hull->count >= 1 && hull->count <= HULL_POINTS_MAX);
    for (int i = 0; i < hull->count; i++) {
        hull->points[i] = rbScale(scale, rbSub(points[isFew ? i : extremes[i]], base));
    }
}

static int findFarthest(const SmallHull* hull, rbVec3 from)
{
    int best = 0;
    double bestSquared = -1.0;
    for (int i = 0; i < hull->count; i++) {
        double squared = rbLengthSquared(rbSub(hull->points[i], from));
        if (squared > bestSquared) {
            bestSquared = squared;
            best = i;
        }
    }
    return best;
}

rbMat3 rbFindHullAxes(const rbVec3* points, int count)
{
    RB_ASSERT(points != NULL);
    RB_ASSERT(count >= 1);
    SmallHull hull;
    hull.points[0] = RB_VEC3_ZERO;
    gatherPoints(points, count, &hull);
    const rbVec3* p = hull.points;
    int start[4] = {0};
    start[0] = findFarthest(&hull, p[0]);
    rbVec3 origin = p[start[0]];
    start[1] = findFarthest(&hull, origin);
    rbVec3 along = rbSub(p[start[1]], origin);
    if (!(rbLengthSquared(along) > 0.0)) {
        return RB_MAT3_IDENTITY; // a single point
    }
    rbVec3 normal = RB_VEC3_ZERO;
    for (int i = 0; i < hull.count; i++) {
        rbVec3 n = rbCross(along, rbSub(p[i], origin));
        if (rbLengthSquared(n) > rbLengthSquared(normal)) {
            normal = n;
            start[2] = i;
        }
    }
    double length = rbLength(normal);
    if (!(length > FLATNESS)) {
        return axesAlong(along);
    }
    double height = 0.0;
    for (int i = 0; i < hull.count; i++) {
        double h = fabs(rbDot(normal, rbSub(p[i], origin)));
        if (h > height) {
            height = h;
            start[3] = i;
        }
    }
    return height > FLATNESS * length ? axesOfHull(&hull, start)
                                      : axesOfFlat(&hull, origin, along, normal);
}
