// Closest points of edges and plane polygons, which need not be convex.
//
// Two disjoint polygons are closest at a vertex over a face or on two edges; two polygons intersect
// where an edge of one intersects the other. This includes coplanar ones: there an edge crosses an
// edge or a vertex lies in the other face. After Lennerz's diploma thesis (2000), with its face
// test corrected: see rbClosestOfFacets.
#include "lab/bounds/facet.h"

#include "collision/geometry/edge_lanes.h"

#include <rattleback/base.h>

static const rbFigurePart faceItself = {RB_FIGURE_FACE, 0};

static inline int nextOf(const rbFacet* facet, int i)
{
    return i + 1 == facet->count ? 0 : i + 1;
}

static inline rbEdgeLanes edgeLanes(rbVec3 p0, rbVec3 q0, rbVec3 p1, rbVec3 q1)
{
    rbLanes3 start = rbJoin3(p0, p1);
    rbLanes3 along = rbSub3(rbJoin3(q0, q1), start);
    return (rbEdgeLanes){start, along, rbReciprocal(rbDot3(along, along))};
}

static rbClosest swapSides(rbClosest c)
{
    return (rbClosest){c.b, c.a, c.squared, c.partB, c.partA};
}

static inline double heightOver(const rbFacet* facet, rbVec3 point)
{
    return rbDot(facet->normal, point) - facet->offset;
}

rbClosest rbClosestOfEdges(const rbVec3 a[2], const rbVec3 b[2])
{
    RB_ASSERT(rbIsFinite3(a[0]) && rbIsFinite3(a[1]));
    RB_ASSERT(rbIsFinite3(b[0]) && rbIsFinite3(b[1]));
    rbEdgeLanes u = edgeLanes(a[0], a[1], a[0], a[1]);
    rbEdgeLanes v = edgeLanes(b[0], b[1], b[0], b[1]);
    rbEdgeBest best = {.squared = rbLanePair_Both(INFINITY)};
    rbPassEdges(&u, &v, (rbLaneMask){0, 0}, &best);
    rbClosest closest;
    closest.a = rbPointOnEdge(a, 0, 2, best.s[0], &closest.partA);
    closest.b = rbPointOnEdge(b, 0, 2, best.t[0], &closest.partB);
    closest.squared = rbLengthSquared(rbSub(closest.b, closest.a));
    return closest;
}

// Two coordinates of a vector: those of the largest projection of the polygon.
typedef struct Plane2 {
    double x, y;
} Plane2;

static inline Plane2 dropAxis(rbVec3 a, int axis)
{
    return axis == 0 ? (Plane2){a.y, a.z} : (axis == 1 ? (Plane2){a.z, a.x} : (Plane2){a.x, a.y});
}

// A ray from the point along +x crosses the boundary an odd number of times. An end on the line of
// the ray counts as below it: so a corner is counted once, twice or not at all, as required.
bool rbFacet_Contains(const rbFacet* facet, rbVec3 point)
{
    RB_ASSERT(facet->count >= 3);
    rbVec3 size = rbAbs3(facet->normal);
    int axis = size.x > size.y ? (size.x > size.z ? 0 : 2) : (size.y > size.z ? 1 : 2);
    bool isInside = false;
    Plane2 from = dropAxis(rbSub(facet->corners[facet->count - 1], point), axis);
    for (int i = 0; i < facet->count; ++i) {
        Plane2 to = dropAxis(rbSub(facet->corners[i], point), axis);
        if ((from.y > 0.0) != (to.y > 0.0) && (from.x > 0.0 || to.x > 0.0)) {
            // x of the crossing times (to.y - from.y)
            double turn = from.x * to.y - to.x * from.y;
            bool isRight = from.x > 0.0 && to.x > 0.0;
            isInside ^= isRight || (to.y > from.y ? turn > 0.0 : turn < 0.0);
        }
        from = to;
    }
    return isInside;
}

rbClosest rbClosestOfPointFacet(rbVec3 point, const rbFacet* facet)
{
    RB_ASSERT(rbIsFinite3(point));
    RB_ASSERT(facet->count >= 3);
    rbVec3 foot = rbAddScaled(point, -heightOver(facet, point), facet->normal);
    if (rbFacet_Contains(facet, foot)) {
        return (rbClosest){
            point, foot, rbLengthSquared(rbSub(foot, point)), {RB_FIGURE_VERTEX, 0}, faceItself};
    }
    rbClosest best = {.squared = INFINITY};
    for (int i = 0; i < facet->count; ++i) {
        rbVec3 edge[2] = {facet->corners[i], facet->corners[nextOf(facet, i)]};
        rbClosest closest = rbClosestOfPointEdge(point, edge);
        if (closest.squared < best.squared) {
            best = closest;
            best.partB.index = closest.partB.index == 0 ? i : nextOf(facet, i);
        }
    }
    return best;
}

// Cuts the polygon by an edge with its ends at two heights.
static bool cutAt(const rbFacet* facet, const rbVec3 edge[2], double from, double to, rbVec3* point)
{
    if (from == to || (from > 0.0 && to > 0.0) || (from < 0.0 && to < 0.0)) {
        return false;
    }
    *point = rbAddScaled(edge[0], from / (from - to), rbSub(edge[1], edge[0]));
    return rbFacet_Contains(facet, *point);
}

bool rbFacet_CutEdge(const rbFacet* facet, const rbVec3 edge[2], rbVec3* point)
{
    RB_ASSERT(rbIsFinite3(edge[0]) && rbIsFinite3(edge[1]));
    RB_ASSERT(facet->count >= 3);
    return cutAt(facet, edge, heightOver(facet, edge[0]), heightOver(facet, edge[1]), point);
}

// An edge through a face. If an end of the edge lies in the face, the point is that vertex.
static rbClosest crossingAt(const rbVec3 edge[2], rbVec3 point, double from, double to)
{
    rbFigurePart part = {RB_FIGURE_EDGE, 0};
    if (from == 0.0 || to == 0.0) {
        int end = from == 0.0 ? 0 : 1;
        part = (rbFigurePart){RB_FIGURE_VERTEX, end};
        point = edge[end];
    }
    return (rbClosest){point, point, 0.0, part, faceItself};
}

rbClosest rbClosestOfEdgeFacet(const rbVec3 edge[2], const rbFacet* facet)
{
    RB_ASSERT(rbIsFinite3(edge[0]) && rbIsFinite3(edge[1]));
    RB_ASSERT(facet->count >= 3);
    double heights[2] = {heightOver(facet, edge[0]), heightOver(facet, edge[1])};
    rbVec3 point;
    if (cutAt(facet, edge, heights[0], heights[1], &point)) {
        return crossingAt(edge, point, heights[0], heights[1]);
    }
    rbClosest best = rbClosestOfPointFacet(edge[0], facet);
    rbClosest end = rbClosestOfPointFacet(edge[1], facet);
    if (end.squared < best.squared) {
        best = end;
        best.partA.index = 1;
    }
    for (int i = 0; i < facet->count; ++i) {
        rbVec3 other[2] = {facet->corners[i], facet->corners[nextOf(facet, i)]};
        rbClosest closest = rbClosestOfEdges(edge, other);
        if (closest.squared < best.squared) {
            best = closest;
            if (best.partB.kind == RB_FIGURE_EDGE || best.partB.index == 0) {
                best.partB.index = i;
            } else {
                best.partB.index = nextOf(facet, i);
            }
        }
    }
    return best;
}

// Vertices of a over the face of b and edges of a through it. Only the lower end of an edge counts:
// if it lies outside the outline of the face while the upper one lies over the face, the edge
// passes the boundary of the face at a smaller height, and that is a pair of edges; likewise for an
// edge that crosses the plane outside the face. Every vertex is an end of an edge of even index,
// hence every second edge suffices.
static bool passFace(const rbFacet* a, const rbFacet* b, rbClosest* best)
{
    double from = heightOver(b, a->corners[0]);
    for (int i = 0; i < a->count; ++i) {
        int next = nextOf(a, i);
        double to = heightOver(b, a->corners[next]);
        rbVec3 edge[2] = {a->corners[i], a->corners[next]};
        bool isCrossing = from != to && (from <= 0.0 || to <= 0.0) && (from >= 0.0 || to >= 0.0);
        if (isCrossing) {
            rbVec3 point;
            if (cutAt(b, edge, from, to, &point)) {
                *best = crossingAt(edge, point, from, to);
                bool isEnd = best->partA.kind == RB_FIGURE_VERTEX && best->partA.index == 1;
                best->partA.index = isEnd ? next : i;
                return true;
            }
        } else if (i % 2 == 0) {
            int lower = fabs(from) <= fabs(to) ? i : next;
            double height = lower == i ? from : to;
            rbVec3 foot = rbAddScaled(a->corners[lower], -height, b->normal);
            double squared = rbLengthSquared(rbSub(foot, a->corners[lower]));
            if (squared < best->squared && rbFacet_Contains(b, foot)) {
                *best = (rbClosest){
                    a->corners[lower], foot, squared, {RB_FIGURE_VERTEX, lower}, faceItself};
            }
        }
        from = to;
    }
    return best->squared == 0.0;
}

static rbClosest passAllEdges(const rbFacet* a, const rbFacet* b)
{
    rbEdgeBest best = {.squared = rbLanePair_Both(INFINITY)};
    for (int j = 0; j < b->count; j += 2) {
        // two edges of b together; an odd last one twice
        int k = j + 1 < b->count ? j + 1 : j;
        rbEdgeLanes v = edgeLanes(b->corners[j], b->corners[nextOf(b, j)], b->corners[k],
                                  b->corners[nextOf(b, k)]);
        for (int i = 0; i < a->count; ++i) {
            rbVec3 start = a->corners[i];
            rbVec3 end = a->corners[nextOf(a, i)];
            rbEdgeLanes u = edgeLanes(start, end, start, end);
            long long row = (long long)i * b->count;
            rbPassEdges(&u, &v, (rbLaneMask){row + j, row + k}, &best);
        }
    }
    int lane = best.squared[1] < best.squared[0];
    long long code = best.code[lane];
    rbClosest closest;
    closest.a =
        rbPointOnEdge(a->corners, (int)(code / b->count), a->count, best.s[lane], &closest.partA);
    closest.b =
        rbPointOnEdge(b->corners, (int)(code % b->count), b->count, best.t[lane], &closest.partB);
    closest.squared = rbLengthSquared(rbSub(closest.b, closest.a));
    return closest;
}

rbClosest rbClosestOfFacets(const rbFacet* a, const rbFacet* b)
{
    RB_ASSERT(a->count >= 3 && b->count >= 3);
    rbClosest best = {.squared = INFINITY};
    if (passFace(a, b, &best)) {
        return best;
    }
    rbClosest swapped = swapSides(best);
    if (passFace(b, a, &swapped)) {
        return swapSides(swapped);
    }
    best = swapSides(swapped);
    rbClosest closest = passAllEdges(a, b);
    return closest.squared < best.squared ? closest : best;
}
