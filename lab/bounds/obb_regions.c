// Exact distance of two boxes by classifying edges (L-54, after Meyer).
//
// The six planes of a box divide space into 27 regions, identified by 6 bits. An edge of the other
// box is traced through the regions it visits; in each of them one feature of the box is nearest.
// Then the corners of the box are tested against the faces of the other one. The published method
// stops here and reports a rod through a plate, or a box within a box, as separate; so corners
// inside, and edges of the second box that pass through the first one, are tested as well (U-4).
#include "lab/bounds/volume_rows.h"

// Components by index.
typedef struct Point {
    double x[3];
} Point;

static Point toPoint(rbVec3 v)
{
    return (Point){{v.x, v.y, v.z}};
}

static int codeOf(const Point* point, const Point* half)
{
    int code = 0;
    for (int i = 0; i < 3; i++) {
        code |= (point->x[i] < -half->x[i] ? 1 : 0) << (2 * i);
        code |= (point->x[i] >= half->x[i] ? 2 : 0) << (2 * i);
    }
    return code;
}

// Planes crossed, sorted by parameter.
static void findCrossings(const Point* a, const Point* b, const Point* half, int crossed,
                          rbRegionWalk* walk)
{
    walk->crossingCount = 0;
    for (int plane = 0; plane < 6; plane++) {
        if ((crossed >> plane & 1) == 0) {
            continue;
        }
        int i = plane / 2;
        double place = plane % 2 == 0 ? -half->x[i] : half->x[i];
        double t = (place - a->x[i]) / (b->x[i] - a->x[i]);
        int k = walk->crossingCount++;
        while (k > 0 && walk->crossings[k - 1] > t) {
            walk->crossings[k] = walk->crossings[k - 1];
            walk->planes[k] = walk->planes[k - 1];
            k--;
        }
        walk->crossings[k] = t;
        walk->planes[k] = plane;
    }
}

static void walkRegions(const Point* a, const Point* b, const Point* half, rbRegionWalk* walk)
{
    int code = codeOf(a, half);
    findCrossings(a, b, half, code ^ codeOf(b, half), walk);
    RB_ASSERT(walk->crossingCount <= 6);
    walk->codes[0] = code;
    walk->codeCount = 1;
    for (int k = 0; k < walk->crossingCount; k++) {
        code ^= 1 << walk->planes[k];
        // planes crossed at the same parameter are crossed together
        bool isLast = k + 1 == walk->crossingCount || walk->crossings[k + 1] > walk->crossings[k];
        if (isLast) {
            walk->codes[walk->codeCount++] = code;
        }
    }
    RB_ASSERT(walk->codeCount <= 7);
}

void rbWalkBoxRegions(rbVec3 a, rbVec3 b, rbVec3 half, rbRegionWalk* walk)
{
    RB_ASSERT(walk != NULL);
    Point pointA = toPoint(a), pointB = toPoint(b), pointHalf = toPoint(half);
    walkRegions(&pointA, &pointB, &pointHalf, walk);
}

// An edge of the other box: a + t v, 0 <= t <= 1.
typedef struct Edge {
    Point a, b, v;
} Edge;

static double clampUnit(double t)
{
    return t < 0.0 ? 0.0 : (t > 1.0 ? 1.0 : t);
}

// Squared distance of the edge from a corner, over the axes of the mask 7 or fewer.
static double squaredFromCorner(const Edge* edge, const Point* corner)
{
    double dot = 0.0, square = 0.0;
    for (int i = 0; i < 3; i++) {
        dot += (corner->x[i] - edge->a.x[i]) * edge->v.x[i];
        square += edge->v.x[i] * edge->v.x[i];
    }
    double t = square > 0.0 ? clampUnit(dot / square) : 0.0;
    double squared = 0.0;
    for (int i = 0; i < 3; i++) {
        double d = edge->a.x[i] + t * edge->v.x[i] - corner->x[i];
        squared += d * d;
    }
    return squared;
}

// Squared distance of the edge from the edge of the box along axis j through the given corner. The
// part across the axis is least at t; if the edge is next to the edge of the box at that t, this is
// the distance; otherwise the corner on that side is nearest, because both parts are convex in t.
static double squaredFromBoxEdge(const Edge* edge, Point corner, int j, double half)
{
    int k = (j + 1) % 3, l = (j + 2) % 3;
    double vk = edge->v.x[k], vl = edge->v.x[l];
    double wk = corner.x[k] - edge->a.x[k], wl = corner.x[l] - edge->a.x[l];
    double square = vk * vk + vl * vl;
    double t = 0.0;
    if (square > 0.0) {
        t = clampUnit((wk * vk + wl * vl) / square);
    } else if (edge->v.x[j] != 0.0) {
        t = clampUnit(-edge->a.x[j] / edge->v.x[j]);
    }
    double along = edge->a.x[j] + t * edge->v.x[j];
    if (fabs(along) > half) {
        corner.x[j] = copysign(half, along);
        return squaredFromCorner(edge, &corner);
    }
    double dk = t * vk - wk, dl = t * vl - wl;
    return dk * dk + dl * dl;
}

// Squared distance of the edge from the face on one side of axis i, if its lower end lies over it.
static double squaredFromFace(const Edge* edge, const Point* half, int i, double sign)
{
    const Point* end = sign * edge->a.x[i] <= sign * edge->b.x[i] ? &edge->a : &edge->b;
    double height = sign * end->x[i] - half->x[i];
    int k = (i + 1) % 3, l = (i + 2) % 3;
    bool isOver = height >= 0.0 && fabs(end->x[k]) <= half->x[k] && fabs(end->x[l]) <= half->x[l];
    return isOver ? height * height : (double)INFINITY;
}

// Squared distance of the edge from the feature that owns a region; 0 for the inside.
static double squaredInRegion(const Edge* edge, const Point* half, int code)
{
    Point corner;
    int freeAxis = 0, boundAxis = 0, boundCount = 0;
    for (int i = 0; i < 3; i++) {
        int bits = code >> (2 * i) & 3;
        corner.x[i] = (bits & 1) != 0 ? -half->x[i] : half->x[i];
        if (bits == 0) {
            freeAxis = i;
        } else {
            boundAxis = i;
            boundCount++;
        }
    }
    if (boundCount == 0) {
        return 0.0;
    }
    if (boundCount == 1) {
        double sign = (code >> (2 * boundAxis) & 1) != 0 ? -1.0 : 1.0;
        return squaredFromFace(edge, half, boundAxis, sign);
    }
    if (boundCount == 2) {
        return squaredFromBoxEdge(edge, corner, freeAxis, half->x[freeAxis]);
    }
    return squaredFromCorner(edge, &corner);
}

static double squaredFromEdge(const Point* a, const Point* b, const Point* half)
{
    rbRegionWalk walk;
    walkRegions(a, b, half, &walk);
    Edge edge = {*a, *b, {{b->x[0] - a->x[0], b->x[1] - a->x[1], b->x[2] - a->x[2]}}};
    double squared = INFINITY;
    for (int i = 0; i < walk.codeCount && squared > 0.0; i++) {
        double s = squaredInRegion(&edge, half, walk.codes[i]);
        squared = s < squared ? s : squared;
    }
    return squared;
}

static rbVec3 cornerOf(rbVec3 half, int index)
{
    return rbMakeVec3((index & 1) != 0 ? half.x : -half.x, (index & 2) != 0 ? half.y : -half.y,
                      (index & 4) != 0 ? half.z : -half.z);
}

// Squared distance of a point from a face it lies over, 0 inside, INFINITY in other regions.
static double squaredFromPoint(const Point* point, const Point* half)
{
    int code = codeOf(point, half);
    if (code == 0) {
        return 0.0;
    }
    if ((code & (code - 1)) != 0) {
        return INFINITY;
    }
    int i = (code & 3) != 0 ? 0 : ((code & 12) != 0 ? 1 : 2);
    double height = fabs(point->x[i]) - half->x[i];
    return height * height;
}

// Does the segment pass through the inside?
static bool passesInside(const Point* a, const Point* b, const Point* half)
{
    if ((codeOf(a, half) & codeOf(b, half)) != 0) {
        return false;
    }
    rbRegionWalk walk;
    walkRegions(a, b, half, &walk);
    for (int i = 0; i < walk.codeCount; i++) {
        if (walk.codes[i] == 0) {
            return true;
        }
    }
    return false;
}

double rbMeasureObbGap(const rbObbPair* pair)
{
    RB_ASSERT(pair != NULL);
    Point halfA = toPoint(pair->halfA), halfB = toPoint(pair->halfB);
    Point cornersA[8], cornersB[8]; // each in the frame of the other box
    for (int i = 0; i < 8; i++) {
        rbVec3 a = rbMulMV(pair->axesA, cornerOf(pair->halfA, i));
        rbVec3 b = rbSub(cornerOf(pair->halfB, i), pair->p);
        cornersA[i] = toPoint(rbAdd(pair->p, a));
        cornersB[i] = toPoint(rbMulMtV(pair->axesA, b));
    }
    double squared = INFINITY;
    for (int i = 0; i < 8 && squared > 0.0; i++) {
        double s = squaredFromPoint(&cornersB[i], &halfA);
        squared = s < squared ? s : squared;
    }
    // the edge along axis k from every corner at the lower end of it
    for (int k = 0; k < 24 && squared > 0.0; k++) {
        int corner = k & 7, other = corner | 1 << (k >> 3);
        if (other == corner) {
            continue;
        }
        double s = squaredFromEdge(&cornersA[corner], &cornersA[other], &halfB);
        squared = s < squared ? s : squared;
        if (passesInside(&cornersB[corner], &cornersB[other], &halfA)) {
            squared = 0.0;
        }
    }
    return sqrt(squared);
}
