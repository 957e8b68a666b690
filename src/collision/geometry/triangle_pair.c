// Closest points of two triangles: the innermost step of all distance queries of meshes.
//
// Two disjoint convex figures have their closest points at a vertex over a face or on two edges.
//
// 1. Heights of the corners over the plane of the other triangle. Their gap is a lower bound of
//    the distance: sufficient to stop early against a limit, together with the gap along the line
//    of centers.
// 2. If the corner of least height lies over the inside of the other face, that bound is
//    attained, and nothing else can be closer. No other vertex over a face needs a test.
// 3. If neither plane separates, an edge may pass through a face: distance 0.
// 4. Otherwise the points lie on two edges. The closest point of A lies inside an edge, or at its
//    end, only if some corner of B is beyond that edge (beyond the plane through the edge along
//    the normal): about half of the edges drop out. The remaining pairs are done two at a time.
//
// Lane 0 holds triangle A and the corners of B, lane 1 triangle B and the corners of A, so that
// swapping the triangles swaps lanes.
//
// Rounding: the points found always lie on the figures, so that an error e of the parameters
// changes the distance d only by e^2 / d. Where d is small, two values must be accurate to
// rounding: the normal (see Face) and the parameters of nearly parallel edges (see edge_lanes.h).
#include "collision/geometry/closest.h"
#include "collision/geometry/edge_lanes.h"

#include <rattleback/base.h>

// Stopping early requires a gap beyond the limit by this relative and this absolute part (of the
// squared extent): (l + e)^2 <= (1 + c) l^2 + (1 + 1 / c) e^2 with e = 3e-15 extents.
#define LIMIT_SLACK (1.0 + 1e-12)
#define EXTENT_SLACK 1e-17

// Squared rounding error of heights, relative to the squared extent.
#define GAP_ROUNDING 1e-28

// Squared area below which a triangle is a sliver, relative to the squared sum of two squared
// edges: height about a thirtieth of the length. Slivers are handled with care, see Face.
#define SLIVER (1.0 / 4096.0)

// Triangle A and the corners of B in lane 0, triangle B and the corners of A in lane 1.
typedef struct FacePair {
    rbLanes3 first, last; // edges from corner 0 to corner 1 and to corner 2
    rbLanePair firstSquare, lastSquare;
    rbLanes3 normal; // first x last, not unit
    rbLanePair normalSquare;
    rbLanes3 offsets[3];   // of the other triangle's corners from corner 0
    rbLanePair heights[3]; // of the other triangle's corners, times the normal's length
    rbLanePair gap;        // least height if the plane separates, otherwise negative
} FacePair;

static inline bool any(rbLaneMask mask)
{
    return (mask | (rbLaneMask){mask[1], mask[0]})[0] != 0;
}

static inline rbLanePair least(rbLanePair a, rbLanePair b, rbLanePair c)
{
    return rbLanePair_Min(rbLanePair_Min(a, b), c);
}

static inline rbLaneMask isSliver(const FacePair* pair)
{
    rbLanePair square = pair->firstSquare + pair->lastSquare;
    return pair->normalSquare < rbLanePair_Both(SLIVER) * square * square;
}

// Squared extent of the two triangles together.
static inline rbLanePair extentOf(const FacePair* pair)
{
    rbLanePair extent =
        rbDot3(pair->offsets[0], pair->offsets[0]) + pair->firstSquare + pair->lastSquare;
    return extent + rbSwapped(extent);
}

// Is the squared distance at least limit, by the gap along a normal or along the line of centers?
static inline bool isBeyond(const FacePair* pair, const rbLanes3 corners[3], double limit)
{
    rbLanePair bound =
        rbLanePair_Both(limit * LIMIT_SLACK) + rbLanePair_Both(EXTENT_SLACK) * extentOf(pair);
    rbLaneMask isGapFar = (pair->gap > rbLanePair_Both(0.0)) & ~isSliver(pair) &
                          (pair->gap * pair->gap >= bound * pair->normalSquare);
    if (any(isGapFar)) {
        return true;
    }
    rbLanes3 sum = rbAdd3(rbAdd3(corners[0], corners[1]), corners[2]);
    rbLanes3 axis = rbSub3(rbSwap3(sum), sum);
    // (corner of the other - corner 0) . (center of the other - center), in both lanes
    rbLanePair p0 = rbDot3(pair->offsets[0], axis), p1 = rbDot3(pair->offsets[1], axis);
    rbLanePair p2 = rbDot3(pair->offsets[2], axis);
    // the least of B's over A's corner 0 plus the least of A's over B's, less the distance between
    // them
    rbLanePair low = least(p0, p1, p2);
    rbLanePair along = low + rbSwapped(low) - p0;
    return any((along > rbLanePair_Both(0.0)) & (along * along >= bound * rbDot3(axis, axis)));
}

// Barycentric weights by [corner][edge], positive inside the edge, normalSquare in sum; edge i
// leads to corner i + 1: weight of corner 2 belongs to edge 0, of corner 1 to edge 2.
static inline void findInside(const FacePair* pair, rbLanePair inside[3][3])
{
    rbLanes3 inward0 = rbCross3(pair->normal, pair->first);
    rbLanes3 inward2 = rbCross3(pair->last, pair->normal);
    for (int i = 0; i < 3; ++i) {
        inside[i][0] = rbDot3(pair->offsets[i], inward0);
        inside[i][2] = rbDot3(pair->offsets[i], inward2);
        inside[i][1] = pair->normalSquare - inside[i][0] - inside[i][2];
    }
}

// The closest pair is corner i of the other triangle and its foot on the lane's face.
static inline rbClosest closestAtVertex(rbVec3 vertex, const FacePair* pair, int lane, int corner)
{
    double ratio = pair->heights[corner][lane] / pair->normalSquare[lane];
    rbVec3 normal = {pair->normal.x[lane], pair->normal.y[lane], pair->normal.z[lane]};
    rbVec3 foot = rbAddScaled(vertex, -ratio, normal);
    rbFigurePart face = {RB_FIGURE_FACE, 0};
    rbFigurePart point = {RB_FIGURE_VERTEX, corner};
    double squared = rbLengthSquared(rbSub(vertex, foot));
    return lane == 0 ? (rbClosest){foot, vertex, squared, face, point}
                     : (rbClosest){vertex, foot, squared, point, face};
}

// A common point of two triangles: where an edge of one passes through the face of the other.
static bool findCrossing(const rbVec3 a[3], const rbVec3 b[3], const rbLanePair heights[3],
                         const rbLanePair inside[3][3], rbClosest* closest)
{
    for (int code = 0; code < 6; ++code) {
        int lane = code & 1;
        int i = code >> 1;
        int next = i == 2 ? 0 : i + 1;
        double h = heights[i][lane], g = heights[next][lane];
        if (!((h < 0.0 && g > 0.0) || (h > 0.0 && g < 0.0))) {
            continue;
        }
        double t = h / (h - g);
        bool isInside = true;
        for (int edge = 0; edge < 3; ++edge) {
            double w = inside[i][edge][lane];
            isInside = isInside && w + t * (inside[next][edge][lane] - w) > 0.0;
        }
        if (isInside) {
            const rbVec3* other = lane == 0 ? b : a;
            rbVec3 point = rbAddScaled(other[i], t, rbSub(other[next], other[i]));
            rbFigurePart face = {RB_FIGURE_FACE, 0};
            rbFigurePart edge = {RB_FIGURE_EDGE, i};
            *closest =
                (rbClosest){point, point, 0.0, lane == 0 ? face : edge, lane == 0 ? edge : face};
            return true;
        }
    }
    return false;
}

// Two edges of a triangle, by their first corners.
static inline rbEdgeLanes twoEdges(const rbVec3 triangle[3], int i, int j)
{
    static const unsigned char next[3] = {1, 2, 0};
    rbLanes3 start = rbJoin3(triangle[i], triangle[j]);
    rbLanes3 along = rbSub3(rbJoin3(triangle[next[i]], triangle[next[j]]), start);
    return (rbEdgeLanes){start, along, rbReciprocal(rbDot3(along, along))};
}

// Closest points on the edges: bit i of openA for edge i of A, likewise B. One triangle supplies
// two edges at a time, one for each lane, the other one edge after another for both lanes.
static rbClosest closestOfEdges(const rbVec3 a[3], const rbVec3 b[3], int openA, int openB)
{
    static const unsigned char counts[8] = {0, 1, 1, 2, 1, 2, 2, 3};
    static const unsigned char halves[8] = {0, 1, 1, 1, 1, 1, 1, 2};
    RB_ASSERT(openA > 0 && openA < 8 && openB > 0 && openB < 8);
    bool isTurned = counts[openB] * halves[openA] < counts[openA] * halves[openB];
    const rbVec3* singles = isTurned ? b : a;
    const rbVec3* twins = isTurned ? a : b;
    unsigned openSingles = (unsigned)(isTurned ? openB : openA);
    unsigned left = (unsigned)(isTurned ? openA : openB);
    rbEdgeBest best = {.squared = rbLanePair_Both(INFINITY)};
    while (left != 0) {
        int j = __builtin_ctz(left);
        left &= left - 1;
        int k = left != 0 ? __builtin_ctz(left) : j;
        left &= left - 1;
        rbEdgeLanes v = twoEdges(twins, j, k);
        rbLaneMask code = {j, k};
        for (unsigned rest = openSingles; rest != 0; rest &= rest - 1) {
            long long i = __builtin_ctz(rest);
            rbEdgeLanes u = twoEdges(singles, (int)i, (int)i);
            rbPassEdges(&u, &v, code + (rbLaneMask){4 * i, 4 * i}, &best);
        }
    }
    int lane = best.squared[1] < best.squared[0];
    int single = (int)best.code[lane] >> 2;
    int twin = (int)best.code[lane] & 3;
    rbClosest closest;
    closest.a = rbPointOnEdge(a, isTurned ? twin : single, 3,
                              isTurned ? best.t[lane] : best.s[lane], &closest.partA);
    closest.b = rbPointOnEdge(b, isTurned ? single : twin, 3,
                              isTurned ? best.s[lane] : best.t[lane], &closest.partB);
    closest.squared = rbLengthSquared(rbSub(closest.b, closest.a));
    return closest;
}

// A triangle of any shape.
//
// The cross product of two long, nearly parallel edges has a rounding error relative to their
// lengths, also along them, which tilts the plane away from its own corners. Computed with the part
// of the second edge perpendicular to the first (twice, to recover what the first pass loses), the
// normal only rotates about the long edge, and by no more than a change of the corners in the last
// digit would rotate it.
//
// Beyond a sharp corner, points within rounding of both its edges extend for rounding divided by
// the angle: an inside point must also lie between the ends of the longest edge.
typedef struct Face {
    rbVec3 corner; // corner 0
    rbVec3 normal; // not unit, zero for no area
    double normalSquare;
    rbVec3 inward0, inward2; // weights of corner 2 and corner 1, times normalSquare
    rbVec3 start, longest;   // the longest edge
} Face;

static Face makeFace(const rbVec3 triangle[3])
{
    rbVec3 first = rbSub(triangle[1], triangle[0]), last = rbSub(triangle[2], triangle[0]);
    rbVec3 third = rbSub(triangle[2], triangle[1]);
    double firstSquare = rbLengthSquared(first), lastSquare = rbLengthSquared(last);
    double inverse = firstSquare > RB_SQUARE_MIN ? 1.0 / firstSquare : 0.0;
    rbVec3 across = rbAddScaled(last, -rbDot(last, first) * inverse, first);
    across = rbAddScaled(across, -rbDot(across, first) * inverse, first);
    Face face = {.corner = triangle[0], .normal = rbCross(first, across)};
    face.normalSquare = rbLengthSquared(face.normal);
    face.inward0 = rbCross(face.normal, first);
    face.inward2 = rbCross(last, face.normal);
    bool isThird = rbLengthSquared(third) > (firstSquare > lastSquare ? firstSquare : lastSquare);
    face.start = triangle[isThird ? 1 : 0];
    face.longest = isThird ? third : (firstSquare > lastSquare ? first : last);
    return face;
}

static inline double heightOver(const Face* face, rbVec3 point)
{
    return rbDot(rbSub(point, face->corner), face->normal);
}

static bool isOver(const Face* face, rbVec3 point)
{
    rbVec3 offset = rbSub(point, face->corner);
    double inside0 = rbDot(offset, face->inward0), inside2 = rbDot(offset, face->inward2);
    double way = rbDot(rbSub(point, face->start), face->longest);
    return inside0 > 0.0 && inside2 > 0.0 && inside0 + inside2 < face->normalSquare && way > 0.0 &&
           way < rbLengthSquared(face->longest);
}

static rbVec3 footOn(const Face* face, rbVec3 point)
{
    return rbAddScaled(point, -heightOver(face, point) / face->normalSquare, face->normal);
}

// Vertices of the first triangle over the face of the second, and edges through it.
static void passFace(const rbVec3 a[3], const Face* face, rbClosest* best)
{
    const rbFigurePart inside = {RB_FIGURE_FACE, 0};
    for (int i = 0; i < 3; ++i) {
        int next = i == 2 ? 0 : i + 1;
        double from = heightOver(face, a[i]), to = heightOver(face, a[next]);
        if (isOver(face, a[i])) {
            rbVec3 foot = footOn(face, a[i]);
            double squared = rbLengthSquared(rbSub(foot, a[i]));
            if (squared < best->squared) {
                *best = (rbClosest){a[i], foot, squared, {RB_FIGURE_VERTEX, i}, inside};
            }
        }
        if ((from < 0.0 && to > 0.0) || (from > 0.0 && to < 0.0)) {
            rbVec3 point = rbAddScaled(a[i], from / (from - to), rbSub(a[next], a[i]));
            if (isOver(face, point)) {
                *best = (rbClosest){point, point, 0.0, {RB_FIGURE_EDGE, i}, inside};
                return;
            }
        }
    }
}

static rbClosest swapSides(rbClosest c)
{
    return (rbClosest){c.b, c.a, c.squared, c.partB, c.partA};
}

// All features against all: triangles of any shape.
static rbClosest closestOfSlivers(const rbVec3 a[3], const rbVec3 b[3])
{
    Face faceA = makeFace(a), faceB = makeFace(b);
    rbClosest best = closestOfEdges(a, b, 7, 7);
    passFace(a, &faceB, &best);
    if (best.squared > 0.0) {
        best = swapSides(best);
        passFace(b, &faceA, &best);
        best = swapSides(best);
    }
    return best;
}

// The remaining cases once stopping early is ruled out.
static rbClosest closestOfFaces(const rbVec3 a[3], const rbVec3 b[3], FacePair* pair)
{
    rbLanePair inside[3][3];
    findInside(pair, inside);
    rbLaneMask over = {0, 0};
    rbLaneMask open = {0, 0};
    for (int i = 0; i < 3; ++i) {
        rbLaneMask bit = {1 << i, 1 << i};
        rbLanePair h = pair->heights[i];
        rbLaneMask isLeast = rbLanePair_Max(h, -h) == pair->gap;
        over |= bit & isLeast &
                (least(inside[i][0], inside[i][1], inside[i][2]) > rbLanePair_Both(0.0));
        open |= bit & ~(least(inside[0][i], inside[1][i], inside[2][i]) > rbLanePair_Both(0.0));
    }
    if (any(over)) {
        int lane = over[0] != 0 ? 0 : 1;
        int corner = __builtin_ctz((unsigned)over[lane]);
        return closestAtVertex(lane == 0 ? b[corner] : a[corner], pair, lane, corner);
    }
    // a gap within rounding separates nothing: one of two coplanar triangles may lie in the other
    rbLaneMask isApart = (pair->gap > rbLanePair_Both(0.0)) &
                         (pair->gap * pair->gap >
                          rbLanePair_Both(GAP_ROUNDING) * extentOf(pair) * pair->normalSquare);
    rbClosest crossing;
    if (!any(isApart) &&
        findCrossing(a, b, pair->heights, (const rbLanePair(*)[3])inside, &crossing)) {
        return crossing;
    }
    // where rounding has closed all edges of a triangle, all are tried
    int openA = open[0] != 0 ? (int)open[0] : 7, openB = open[1] != 0 ? (int)open[1] : 7;
    return closestOfEdges(a, b, openA, openB);
}

rbClosest rbClosestOfTriangles(const rbVec3 a[3], const rbVec3 b[3], double limit)
{
    RB_ASSERT(rbIsFinite3(a[0]) && rbIsFinite3(a[1]) && rbIsFinite3(a[2]));
    RB_ASSERT(rbIsFinite3(b[0]) && rbIsFinite3(b[1]) && rbIsFinite3(b[2]));
    RB_ASSERT(limit >= 0.0);
    rbLanes3 corners[3] = {rbJoin3(a[0], b[0]), rbJoin3(a[1], b[1]), rbJoin3(a[2], b[2])};
    FacePair pair;
    pair.first = rbSub3(corners[1], corners[0]);
    pair.last = rbSub3(corners[2], corners[0]);
    pair.firstSquare = rbDot3(pair.first, pair.first);
    pair.lastSquare = rbDot3(pair.last, pair.last);
    pair.normal = rbCross3(pair.first, pair.last);
    pair.normalSquare = rbDot3(pair.normal, pair.normal);
    for (int i = 0; i < 3; ++i) {
        pair.offsets[i] = rbSub3(rbSwap3(corners[i]), corners[0]);
        pair.heights[i] = rbDot3(pair.offsets[i], pair.normal);
    }
    const rbLanePair* h = pair.heights;
    pair.gap = rbLanePair_Max(least(h[0], h[1], h[2]), least(-h[0], -h[1], -h[2]));
    if (isBeyond(&pair, corners, limit)) {
        return (rbClosest){.squared = INFINITY};
    }
    return any(isSliver(&pair)) ? closestOfSlivers(a, b) : closestOfFaces(a, b, &pair);
}

rbClosest rbClosestOfPointEdge(rbVec3 point, const rbVec3 edge[2])
{
    RB_ASSERT(rbIsFinite3(point));
    RB_ASSERT(rbIsFinite3(edge[0]) && rbIsFinite3(edge[1]));
    rbVec3 along = rbSub(edge[1], edge[0]);
    double square = rbLengthSquared(along);
    double way = rbDot(rbSub(point, edge[0]), along);
    double s = square > RB_SQUARE_MIN && way > 0.0 ? (way < square ? way / square : 1.0) : 0.0;
    rbClosest closest = {.a = point, .partA = {RB_FIGURE_VERTEX, 0}};
    closest.b = rbPointOnEdge(edge, 0, 2, s, &closest.partB);
    closest.squared = rbLengthSquared(rbSub(closest.b, closest.a));
    return closest;
}

rbClosest rbClosestOfPointTriangle(rbVec3 point, const rbVec3 triangle[3])
{
    RB_ASSERT(rbIsFinite3(point));
    Face face = makeFace(triangle);
    if (isOver(&face, point)) {
        rbVec3 foot = footOn(&face, point);
        return (rbClosest){point,
                           foot,
                           rbLengthSquared(rbSub(foot, point)),
                           {RB_FIGURE_VERTEX, 0},
                           {RB_FIGURE_FACE, 0}};
    }
    rbClosest best = {.squared = INFINITY};
    for (int i = 0; i < 3; ++i) {
        int next = i == 2 ? 0 : i + 1;
        rbClosest closest = rbClosestOfPointEdge(point, (rbVec3[2]){triangle[i], triangle[next]});
        if (closest.squared < best.squared) {
            best = closest;
            best.partB.index = closest.partB.index == 0 ? i : next;
        }
    }
    return best;
}
