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
#include "collision/narrowphase/box_pair.h"

#include "collision/narrowphase/collide.h"
#include "collision/narrowphase/point_distance.h"
#include "collision/narrowphase/segments.h"

#include <float.h>

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

static double componentOf(rbVec3 v, int i)
{
    return i == 0 ? v.x : (i == 1 ? v.y : v.z);
}

static rbVec3 unitVector(int i, double length)
{
    return rbMakeVec3(i == 0 ? length : 0.0, i == 1 ? length : 0.0, i == 2 ? length : 0.0);
}

static rbVec3 fromArray(const double v[3])
{
    return rbMakeVec3(v[0], v[1], v[2]);
}

rbBoxPair rbMakeBoxPair(rbVec3 halfA, rbVec3 halfB, rbTransform transformBtoA)
{
    RB_ASSERT(rbIsFinite3(transformBtoA.p));
    RB_ASSERT(fabs(rbDotQuat(transformBtoA.q, transformBtoA.q) - 1.0) < 1e-10);
    rbMat3 m = rbMatFromQuat(transformBtoA.q);
    rbBoxPair pair = {.halfA = {halfA.x, halfA.y, halfA.z},
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

static double reachAlong(const rbBoxPair* pair, rbVec3 n)
{
    double reach =
        pair->halfA[0] * fabs(n.x) + pair->halfA[1] * fabs(n.y) + pair->halfA[2] * fabs(n.z);
    for (int j = pair->isSegment ? 2 : 0; j < 3; ++j) {
        reach += pair->halfB[j] * fabs(rbDot(n, pair->axesB[j]));
    }
    return reach;
}

static double gapAlong(const rbBoxPair* pair, rbVec3 n)
{
    return rbDot(n, pair->center) - reachAlong(pair, n);
}

// Orients the axis from A to B and measures the gap.
static void finishAxis(const rbBoxPair* pair, Axis* axis)
{
    double between = rbDot(axis->normal, pair->center);
    if (between < 0.0) {
        axis->normal = rbNeg(axis->normal);
        between = -between;
    }
    axis->gap = between - reachAlong(pair, axis->normal);
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
    int count;
    int best;
    double least; // gap below which an axis is irrelevant
} Axes;

// Adds an axis whose gap is known.
static void addAxis(const rbBoxPair* pair, Axes* axes, const Axis* axis)
{
    RB_ASSERT(axes->count < AXES_MAX);
    axes->rows[axes->count] = *axis;
    if (axes->count == 0 || axis->gap > axes->rows[axes->best].gap + TIE * pair->scale) {
        axes->best = axes->count;
        axes->least = axis->gap - NEAR * pair->scale;
    }
    ++axes->count;
}

static void addFaceAxes(const rbBoxPair* pair, Axes* axes)
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
static void addEdgeAxes(const rbBoxPair* pair, int i, Axes* axes)
{
    int i1 = i == 2 ? 0 : i + 1;
    int i2 = i1 == 2 ? 0 : i1 + 1;
    const double center[3] = {pair->center.x, pair->center.y, pair->center.z};
    for (int j = pair->isSegment ? 2 : 0; j < 3; ++j) {
        int j1 = j == 2 ? 0 : j + 1;
        int j2 = j1 == 2 ? 0 : j1 + 1;
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
            finishAxis(pair, &axis);
            addAxis(pair, axes, &axis);
        }
    }
}

static void collectAxes(const rbBoxPair* pair, Axes* axes)
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

// The same pair seen from B.
static rbBoxPair swapPair(const rbBoxPair* pair)
{
    RB_ASSERT(!pair->isSegment);
    rbMat3 m = {pair->axesB[0], pair->axesB[1], pair->axesB[2]};
    rbMat3 inverse = rbTranspose(m);
    rbBoxPair swapped = {.halfA = {pair->halfB[0], pair->halfB[1], pair->halfB[2]},
                         .halfB = {pair->halfA[0], pair->halfA[1], pair->halfA[2]},
                         .axesB = {inverse.cx, inverse.cy, inverse.cz},
                         .center = rbNeg(rbMulMtV(m, pair->center)),
                         .scale = pair->scale};
    return swapped;
}

// Corners of the feature of B that is lowest along n, in cyclic order; 1, 2 or 4.
static int collectLowest(const rbBoxPair* pair, rbVec3 n, rbVec3* corners)
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
        double above = bound[0] * componentOf(p, axis) - bound[1];
        double next = bound[0] * componentOf(q, axis) - bound[1];
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

// Middle of the region that the lowest feature of B and a face of A share. False if they miss each
// other.
static bool witnessOnFace(const rbBoxPair* pair, const Axis* axis, rbVec3* pointA)
{
    rbVec3 buffers[2][CLIP_CORNERS_MAX];
    int count = collectLowest(pair, axis->normal, buffers[0]);
    int from = 0;
    for (int k = 1; k < 3 && count > 0; ++k) {
        int across = (axis->i + k) % 3;
        double limit = pair->halfA[across] + FEATURE * pair->scale;
        for (int side = -1; side <= 1 && count > 0; side += 2) {
            const double bound[2] = {side, limit};
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
    double height = copysign(pair->halfA[axis->i], componentOf(axis->normal, axis->i));
    *pointA = rbAdd(rbSub(mean, unitVector(axis->i, componentOf(mean, axis->i))),
                    unitVector(axis->i, height));
    return true;
}

static bool witnessOnFaceOfB(const rbBoxPair* pair, const Axis* axis, rbVec3* pointA)
{
    rbMat3 m = {pair->axesB[0], pair->axesB[1], pair->axesB[2]};
    rbBoxPair swapped = swapPair(pair);
    rbVec3 n = unitVector(axis->j, -rbDot(axis->normal, pair->axesB[axis->j]));
    n = rbScale(1.0 / fabs(componentOf(n, axis->j)), n);
    Axis seen = {FACE_A, axis->j, -1, n, axis->gap};
    rbVec3 pointB;
    bool isTight = witnessOnFace(&swapped, &seen, &pointB);
    if (isTight) {
        rbVec3 inA = rbAdd(rbMulMV(m, pointB), pair->center);
        *pointA = rbAddScaled(inA, -axis->gap, axis->normal);
    }
    return isTight;
}

// The edges of A and B parallel to their axes i and j; side k of signs chooses among the four.
static rbSegment edgeOfA(const rbBoxPair* pair, int i, const double signs[3])
{
    rbVec3 center =
        rbMakeVec3(signs[0] * pair->halfA[0], signs[1] * pair->halfA[1], signs[2] * pair->halfA[2]);
    center = rbSub(center, unitVector(i, componentOf(center, i)));
    return (rbSegment){center, unitVector(i, 1.0), pair->halfA[i]};
}

static rbSegment edgeOfB(const rbBoxPair* pair, int j, const double signs[3])
{
    rbVec3 center = pair->center;
    for (int k = 0; k < 3; ++k) {
        if (k != j) {
            center = rbAddScaled(center, signs[k] * pair->halfB[k], pair->axesB[k]);
        }
    }
    return (rbSegment){center, pair->axesB[j], pair->halfB[j]};
}

// Where the supporting edges meet once B is moved back by the gap. Returns the distance by which
// they miss.
static double witnessOnEdges(const rbBoxPair* pair, const Axis* axis, rbVec3* pointA)
{
    double signsA[3];
    double signsB[3];
    for (int k = 0; k < 3; ++k) {
        signsA[k] = copysign(1.0, componentOf(axis->normal, k));
        signsB[k] = -copysign(1.0, rbDot(axis->normal, pair->axesB[k]));
    }
    rbSegment a = edgeOfA(pair, axis->i, signsA);
    rbSegment b = edgeOfB(pair, axis->j, signsB);
    b.center = rbAddScaled(b.center, -axis->gap, axis->normal);
    rbSegmentPair found = rbMeasureSegments(&a, &b);
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
static void keepNearer(const rbBoxPair* pair, Nearest* best, rbVec3 pointA, rbVec3 away)
{
    double slack = TIE * pair->scale;
    rbVec3 n;
    double distance = rbSplitLength(away, RB_VEC3_ZERO, &n);
    if (distance > best->least + slack) {
        return;
    }
    double gap = distance > 0.0 ? gapAlong(pair, n) : -INFINITY;
    if (gap > best->gap || best->distance > distance + slack) {
        *best = (Nearest){best->least, distance, gap, pointA, away};
    }
    best->least = distance < best->least ? distance : best->least;
}

static rbVec3 cornerOf(const double half[3], int k)
{
    return rbMakeVec3((k & 1) != 0 ? half[0] : -half[0], (k & 2) != 0 ? half[1] : -half[1],
                      (k & 4) != 0 ? half[2] : -half[2]);
}

// Tests every vertex of each body against the other one.
static void searchVertices(const rbBoxPair* pair, Nearest* best)
{
    rbMat3 m = {pair->axesB[0], pair->axesB[1], pair->axesB[2]};
    rbVec3 halfA = fromArray(pair->halfA);
    rbVec3 halfB = fromArray(pair->halfB);
    for (int k = 0; k < 8; k += pair->isSegment ? 4 : 1) {
        rbVec3 corner = rbAdd(rbMulMV(m, cornerOf(pair->halfB, k)), pair->center);
        rbVec3 nearest = rbMax3(rbNeg(halfA), rbMin3(halfA, corner));
        keepNearer(pair, best, nearest, rbSub(corner, nearest));
    }
    for (int k = 0; k < 8; ++k) {
        rbVec3 corner = cornerOf(pair->halfA, k);
        rbVec3 seen = rbMulMtV(m, rbSub(corner, pair->center));
        rbVec3 nearest = rbMax3(rbNeg(halfB), rbMin3(halfB, seen));
        keepNearer(pair, best, corner, rbMulMV(m, rbSub(nearest, seen)));
    }
}

// Tests every edge of A against every edge of B, skipping those whose gap along n is already too
// large.
static void searchEdges(const rbBoxPair* pair, rbVec3 n, Nearest* best)
{
    static const double sides[4][2] = {{-1.0, -1.0}, {1.0, -1.0}, {-1.0, 1.0}, {1.0, 1.0}};
    rbSegment edgesB[12];
    double bottoms[12];
    int countB = 0;
    for (int j = pair->isSegment ? 2 : 0; j < 3; ++j) {
        for (int k = 0; k < (pair->isSegment ? 1 : 4); ++k) {
            double signs[3] = {0.0, 0.0, 0.0};
            signs[(j + 1) % 3] = sides[k][0];
            signs[(j + 2) % 3] = sides[k][1];
            rbSegment edge = edgeOfB(pair, j, signs);
            bottoms[countB] = rbDot(n, edge.center) - edge.half * fabs(rbDot(n, edge.direction));
            edgesB[countB++] = edge;
        }
    }
    for (int e = 0; e < 12; ++e) {
        int i = e / 4;
        double signs[3] = {0.0, 0.0, 0.0};
        signs[(i + 1) % 3] = sides[e % 4][0];
        signs[(i + 2) % 3] = sides[e % 4][1];
        rbSegment edge = edgeOfA(pair, i, signs);
        double top = rbDot(n, edge.center) + edge.half * fabs(componentOf(n, i));
        for (int k = 0; k < countB; ++k) {
            if (bottoms[k] - top <= best->least + TIGHT * pair->scale) {
                rbSegmentPair found = rbMeasureSegments(&edge, &edgesB[k]);
                keepNearer(pair, best, found.pointA, rbSub(found.pointB, found.pointA));
            }
        }
    }
}

// Separate boxes whose distance no axis attains. A vertex pair is certain when the gap along its
// direction is its distance.
static rbCoreSeparation measureApart(const rbBoxPair* pair, const Axis* axis)
{
    double slack = TIGHT * pair->scale;
    Nearest best = {.least = INFINITY, .distance = INFINITY, .gap = -INFINITY};
    searchVertices(pair, &best);
    rbVec3 normal;
    double distance = rbSplitLength(best.away, axis->normal, &normal);
    if (best.gap < distance - slack) {
        searchEdges(pair, axis->normal, &best);
        distance = rbSplitLength(best.away, axis->normal, &normal);
    }
    RB_ASSERT(distance >= axis->gap - slack);
    // The axis has the more accurate direction; but distances that agree to rounding still allow a
    // lateral displacement of the square root of that, so the whole vector must agree.
    if (rbLength(rbAddScaled(best.away, -axis->gap, axis->normal)) <= slack) {
        return (rbCoreSeparation){axis->gap, axis->normal, best.pointA};
    }
    return (rbCoreSeparation){distance, normal, best.pointA};
}

// The point of A where the bodies touch once B is moved back along the axis by the gap. False if
// the touching features miss each other; then the point is only the best guess.
static bool findWitness(const rbBoxPair* pair, const Axis* axis, rbVec3* pointA)
{
    if (axis->kind == EDGES) {
        return witnessOnEdges(pair, axis, pointA) <= TIGHT * pair->scale;
    }
    return axis->kind == FACE_A ? witnessOnFace(pair, axis, pointA)
                                : witnessOnFaceOfB(pair, axis, pointA);
}

// The result of the best axis if its features meet. Another axis may be equally good to rounding
// and have features that do meet: faces that are parallel up to a tiny angle.
static bool measureByAxes(const rbBoxPair* pair, const Axes* axes, rbCoreSeparation* core)
{
    const Axis* best = &axes->rows[axes->best];
    *core = (rbCoreSeparation){best->gap, best->normal, RB_VEC3_ZERO};
    if (findWitness(pair, best, &core->pointA)) {
        return true;
    }
    for (int k = 0; k < axes->count; ++k) {
        const Axis* other = &axes->rows[k];
        rbVec3 pointA;
        if (other->gap >= best->gap - TIGHT * pair->scale && findWitness(pair, other, &pointA)) {
            *core = (rbCoreSeparation){other->gap, other->normal, pointA};
            return true;
        }
    }
    return false;
}

bool rbMeasureBoxesByAxes(const rbBoxPair* pair, rbCoreSeparation* core)
{
    Axes axes;
    collectAxes(pair, &axes);
    return measureByAxes(pair, &axes, core);
}

rbCoreSeparation rbMeasureBoxes(const rbBoxPair* pair)
{
    Axes axes;
    collectAxes(pair, &axes);
    rbCoreSeparation core;
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
