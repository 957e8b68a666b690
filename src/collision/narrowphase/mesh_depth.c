// The initial translation is the shortest that puts a plane between the bodies, over a list of
// directions, or, if that is shorter and a distance query confirms it, one along the normal of the
// place where the surfaces cross.
//
// Descent: B moved by s is separate from A, by d along the unit vector m of the nearest points. If
// both were convex, a plane perpendicular to m would separate them while m . s >= depth = m . s -
// d; the shortest such s is depth m. It is tried, slightly lengthened; if the bodies intersect
// there, B moves toward it as far as d allows, which is safe, and the query is repeated.
#include "collision/narrowphase/mesh_depth.h"

#include "collision/geometry/box_tree_queries.h"

#include <float.h>
#include <math.h>

// Directions whose extents are known: axes of both bodies and of both boxes, line of centers,
// normal of the crossing, sum of the normals.
#define DIRECTION_MAX 16
// Distance queries of the descent.
#define DESCENT_MAX 8
// Maximum number of pairs summed: identical meshes intersect in all of their triangles.
#define PAIR_MAX 4096
// A translation is tried longer by this fraction and by this fraction of the size, so that the
// nearest points of the separated bodies have a direction.
#define STRETCH 1e-3
#define GAP 1e-9
// The descent ends when a step gains less than this fraction.
#define GAIN 1e-3
// Rounding error of positions, relative to the coordinates.
#define ROUNDING (64.0 * DBL_EPSILON)

typedef struct Extent {
    rbVec3 direction; // unit
    double lowA, highA, lowB, highB;
} Extent;

typedef struct Search {
    const rbMeshPair* pair;
    rbMat3 rotation;
    double size;      // m, of the coordinates
    double slack;     // m, of rounding
    long long budget; // pairs of triangles remaining, < 0: no limit
    Extent extents[DIRECTION_MAX];
    int extentCount;
    rbVec3 best;   // m, translation of B that separates the bodies
    double length; // m, of it
    bool hasWitness;
    rbTreePairResult witness; // of the bodies separated by it
    long long triangleTests;
} Search;

// -------------------------------------------------------------------------------------- crossing

rbCrossing rbMakeCrossing(rbVec3 origin)
{
    return (rbCrossing){.origin = origin,
                        .lower = {INFINITY, INFINITY, INFINITY},
                        .upper = {-INFINITY, -INFINITY, -INFINITY}};
}

static rbVec3 crossOf(const rbVec3 corners[3])
{
    return rbCross(rbSub(corners[1], corners[0]), rbSub(corners[2], corners[0]));
}

// Interval of a line along the unit vector t in which a triangle crosses the plane n . x = offset;
// base is a point of the line on that plane and on that of the triangle.
static bool findInterval(const rbVec3* corners, rbVec3 n, double offset, rbVec3 t,
                         double interval[2], rbVec3* base)
{
    double heights[3];
    for (int k = 0; k < 3; ++k) {
        heights[k] = rbDot(n, corners[k]) - offset;
    }
    interval[0] = INFINITY;
    interval[1] = -INFINITY;
    for (int k = 0; k < 3; ++k) {
        int next = (k + 1) % 3;
        if ((heights[k] > 0.0) == (heights[next] > 0.0)) {
            continue;
        }
        double s = heights[k] / (heights[k] - heights[next]);
        rbVec3 x = rbAddScaled(corners[k], s, rbSub(corners[next], corners[k]));
        double along = rbDot(t, x);
        interval[0] = fmin(interval[0], along);
        interval[1] = fmax(interval[1], along);
        *base = x;
    }
    return interval[0] <= interval[1];
}

static void growBounds(rbCrossing* crossing, rbVec3 point)
{
    crossing->lower = rbMin3(crossing->lower, point);
    crossing->upper = rbMax3(crossing->upper, point);
}

void rbCrossing_Add(rbCrossing* crossing, const rbNearPair* pair)
{
    rbVec3 crossA = crossOf(pair->cornersA);
    rbVec3 crossB = crossOf(pair->cornersB);
    double areaA = rbLength(crossA);
    double areaB = rbLength(crossB);
    ++crossing->count;
    growBounds(crossing, pair->closest.a);
    if (!(areaA > 0.0 && areaB > 0.0)) {
        return;
    }
    rbVec3 nA = rbScale(1.0 / areaA, crossA);
    rbVec3 nB = rbScale(1.0 / areaB, crossB);
    double weight = 0.5 * fmin(areaA, areaB);
    crossing->normals = rbAddScaled(crossing->normals, weight, rbSub(nA, nB));
    rbVec3 t = rbCross(nA, nB);
    double sine = rbLength(t);
    if (!(sine > 1e-9)) {
        return;
    }
    t = rbScale(1.0 / sine, t);
    double a[2];
    double b[2];
    rbVec3 base = RB_VEC3_ZERO;
    rbVec3 other;
    if (!findInterval(pair->cornersB, nA, rbDot(nA, pair->cornersA[0]), t, b, &other) ||
        !findInterval(pair->cornersA, nB, rbDot(nB, pair->cornersB[0]), t, a, &base)) {
        return;
    }
    double low = fmax(a[0], b[0]);
    double high = fmin(a[1], b[1]);
    if (!(low < high)) {
        return;
    }
    double at = rbDot(t, base);
    rbVec3 first = rbAddScaled(base, low - at, t);
    rbVec3 last = rbAddScaled(base, high - at, t);
    growBounds(crossing, first);
    growBounds(crossing, last);
    rbVec3 p = rbSub(first, crossing->origin);
    rbVec3 q = rbSub(last, crossing->origin);
    double length = high - low;
    crossing->area = rbAddScaled(crossing->area, 0.5, rbCross(p, q));
    crossing->moment = rbAddScaled(crossing->moment, 0.5 * length, rbAdd(p, q));
    crossing->length += length;
    crossing->cosine += length * rbDot(nA, nB);
}

void rbCrossing_Join(rbCrossing* crossing, const rbCrossing* other)
{
    crossing->lower = rbMin3(crossing->lower, other->lower);
    crossing->upper = rbMax3(crossing->upper, other->upper);
    crossing->area = rbAdd(crossing->area, other->area);
    crossing->normals = rbAdd(crossing->normals, other->normals);
    crossing->moment = rbAdd(crossing->moment, other->moment);
    crossing->length += other->length;
    crossing->cosine += other->cosine;
    crossing->count += other->count;
}

rbVec3 rbCrossing_GetNormal(const rbCrossing* crossing)
{
    // the area of a curve that is not closed or encloses nothing is arbitrary
    double square = crossing->length * crossing->length;
    if (rbLength(crossing->area) > 1e-6 * square) {
        return rbNormalize(crossing->area);
    }
    return rbNormalize(crossing->normals);
}

// The faces of a lens of two equal caps over a circle of radius r, which meet at the angle theta
// between their outward normals nA and -nB, are 2 r tan(theta / 4) apart. With cosine c = cos(theta
// / 2): tan^2(theta / 4) = (1 - c) / (1 + c).
double rbCrossing_GuessDepth(const rbCrossing* crossing)
{
    if (!(crossing->length > 0.0)) {
        return 0.0;
    }
    double full = fmin(1.0, fmax(-1.0, -crossing->cosine / crossing->length));
    double half = sqrt(0.5 * (1.0 + full));
    double radius = sqrt(rbLength(crossing->area) / RB_PI);
    return 2.0 * radius * sqrt((1.0 - half) / (1.0 + half));
}

// --------------------------------------------------------------------------------------- extents

// Measures the bodies along a direction, in both senses; keeps the translation if it is the
// shortest.
static void tryDirection(Search* search, rbVec3 direction)
{
    double length = rbLength(direction);
    if (!(length > 0.0) || !isfinite(length) || search->extentCount == DIRECTION_MAX) {
        return;
    }
    rbVec3 d = rbScale(1.0 / length, direction);
    const rbMeshPair* pair = search->pair;
    const rbBoxTree* a = pair->a->polyhedron->tree;
    const rbBoxTree* b = pair->b->polyhedron->tree;
    rbVec3 dB = rbMulMtV(search->rotation, d);
    double shift = rbDot(d, pair->transformBtoA.p);
    Extent extent = {d, -rbBoxTree_FindReach(a, rbNeg(d)), rbBoxTree_FindReach(a, d),
                     shift - rbBoxTree_FindReach(b, rbNeg(dB)), shift + rbBoxTree_FindReach(b, dB)};
    search->extents[search->extentCount++] = extent;
    double ahead = fmax(extent.highA - extent.lowB, 0.0);
    double back = fmax(extent.highB - extent.lowA, 0.0);
    double least = fmin(ahead, back) * (1.0 + STRETCH) + GAP * search->size;
    if (least < search->length) {
        search->best = rbScale(ahead <= back ? least : -least, d);
        search->length = rbLength(search->best); // as tryOffset measures it
        search->hasWitness = false;
    }
}

static void tryBoxAxes(Search* search, const rbBoxTree* tree, const rbMat3* rotation)
{
    const rbTiltedNode* root = &tree->tilted[0];
    const float(*axes[3])[RB_BOX_WIDTH] = {root->longAxis, root->wideAxis, root->normal};
    for (int i = 0; i < 3; ++i) {
        rbVec3 axis = {(double)axes[i][0][0], (double)axes[i][1][0], (double)axes[i][2][0]};
        rbVec3 size = rbAbs3(axis);
        double largest = fmax(size.x, fmax(size.y, size.z));
        // an axis of the body was tried already
        if (size.x + size.y + size.z > largest * (1.0 + 1e-6)) {
            tryDirection(search, rbMulMV(*rotation, axis));
        }
    }
}

static void beginSearch(Search* search, const rbMeshPair* pair)
{
    const rbBoxTree* a = pair->a->polyhedron->tree;
    const rbBoxTree* b = pair->b->polyhedron->tree;
    search->pair = pair;
    search->rotation = rbMatFromQuat(pair->transformBtoA.q);
    search->size = a->radius + b->radius;
    search->slack = ROUNDING * (search->size + rbLength(pair->transformBtoA.p) +
                                rbLength(a->origin) + rbLength(b->origin));
    search->budget = -1;
    search->extentCount = 0;
    search->best = RB_VEC3_ZERO;
    search->length = INFINITY;
    search->hasWitness = false;
    search->triangleTests = 0;
    const rbMat3 body = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const rbMat3* frames[2] = {&body, &search->rotation};
    for (int i = 0; i < 2; ++i) {
        tryDirection(search, frames[i]->cx);
        tryDirection(search, frames[i]->cy);
        tryDirection(search, frames[i]->cz);
    }
    tryBoxAxes(search, a, &body);
    tryBoxAxes(search, b, &search->rotation);
    tryDirection(search, rbSub(rbTransformPoint(pair->transformBtoA, b->origin), a->origin));
}

double rbBoundMeshDepth(const rbMeshPair* pair, rbVec3* direction)
{
    Search search;
    beginSearch(&search, pair);
    *direction = rbNormalize(search.best);
    return search.length + search.slack;
}

// --------------------------------------------------------------------------------------- descent

// Can B, moved by an offset, lie inside A, or A inside B? Not if it protrudes somewhere.
static bool mayContain(const Search* search, rbVec3 offset, bool isA)
{
    for (int i = 0; i < search->extentCount; ++i) {
        const Extent* e = &search->extents[i];
        double shift = rbDot(e->direction, offset);
        double low = e->lowB + shift - e->lowA;
        double high = e->highA - (e->highB + shift);
        if (isA ? low < 0.0 || high < 0.0 : low > 0.0 || high > 0.0) {
            return false;
        }
    }
    return true;
}

// For separate surfaces: does one body contain a part of the other? Extents quickly prove that it
// does not contain all of it.
static bool isContained(const Search* search, rbTransform moved, rbVec3 offset)
{
    const rbMeshPair* pair = search->pair;
    bool isWholeA = pair->a->polyhedron->partCount == 1;
    bool isWholeB = pair->b->polyhedron->partCount == 1;
    return ((!isWholeB || mayContain(search, offset, true)) &&
            rbContainsPart(pair->a, pair->b, moved)) ||
           ((!isWholeA || mayContain(search, offset, false)) &&
            rbContainsPart(pair->b, pair->a, rbInvertTransform(moved)));
}

// Is B separate from A when moved by the offset? Keeps the offset if so and if it is the shortest
// so far.
static bool tryOffset(Search* search, rbVec3 offset)
{
    if (search->budget == 0) {
        return false;
    }
    const rbMeshPair* pair = search->pair;
    rbTransform moved = {rbAdd(pair->transformBtoA.p, offset), pair->transformBtoA.q};
    rbTreePairInput input = {
        .a = pair->a->polyhedron->tree,
        .b = pair->b->polyhedron->tree,
        .transformBtoA = moved,
        .limit = INFINITY,
        .budget = search->budget,
        .entries = pair->scratch,
        .capacity = (int)(pair->scratchSize / sizeof(rbTreeEntry)),
    };
    rbTreePairResult found = rbMeasureTrees(&input);
    search->triangleTests += found.triangleTests;
    if (search->budget > 0) {
        search->budget -=
            found.triangleTests < search->budget ? found.triangleTests : search->budget;
    }
    double length = rbLength(offset);
    if (!(found.lower > search->slack) || found.triangleA < 0 ||
        isContained(search, moved, offset)) {
        return false;
    }
    if (length <= search->length) {
        search->best = offset;
        search->length = length;
        search->hasWitness = true;
        search->witness = found;
    }
    return true;
}

static rbVec3 stretch(const Search* search, rbVec3 n, double depth)
{
    return rbScale(depth * (1.0 + STRETCH) + GAP * search->size, n);
}

// The translation suggested by the nearest points of the bodies separated by an offset.
static rbVec3 findTarget(const Search* search, rbVec3 offset, const rbTreePairResult* found)
{
    rbVec3 m = rbNormalize(rbSub(found->closest.b, found->closest.a));
    return stretch(search, m, fmax(rbDot(m, offset) - found->lower, 0.0));
}

static void descend(Search* search)
{
    if (!search->hasWitness) {
        (void)tryOffset(search, search->best); // a plane separates them: computes the nearest
                                               // points
    }
    for (int i = 0; i < DESCENT_MAX && search->hasWitness; ++i) {
        rbVec3 s = search->best;
        double d = search->witness.lower;
        rbVec3 target = findTarget(search, s, &search->witness);
        double before = search->length;
        if (rbLength(target) < (1.0 - GAIN) * before && tryOffset(search, target)) {
            continue;
        }
        // safe: shorter than the distance
        rbVec3 way = rbSub(rbLength(target) < before ? target : RB_VEC3_ZERO, s);
        double part = fmin(1.0, 0.98 * d / rbLength(way));
        rbVec3 next = rbAddScaled(s, part, way);
        if (!(rbLength(next) < (1.0 - GAIN) * before) || !tryOffset(search, next)) {
            break;
        }
    }
}

// -------------------------------------------------------------------------------------- estimate

// The crossing and the intersecting triangles, for a second pass.
typedef struct Meeting {
    rbCrossing crossing;
    int (*names)[2];
    int capacity;
} Meeting;

static bool addMeeting(const rbNearPair* pair, void* context)
{
    Meeting* meeting = context;
    int at = meeting->crossing.count;
    meeting->names[at][0] = pair->triangleA;
    meeting->names[at][1] = pair->triangleB;
    rbCrossing_Add(&meeting->crossing, pair);
    return meeting->crossing.count < meeting->capacity;
}

static Meeting findMeeting(const rbMeshPair* pair, rbVec3 origin)
{
    int capacity = (int)(pair->scratchSize / sizeof(int[2]));
    Meeting meeting = {rbMakeCrossing(origin), pair->scratch,
                       capacity < PAIR_MAX ? capacity : PAIR_MAX};
    RB_ASSERT(meeting.capacity >= 1);
    rbTreeNearInput input = {.a = pair->a->polyhedron->tree,
                             .b = pair->b->polyhedron->tree,
                             .transformBtoA = pair->transformBtoA,
                             .visit = addMeeting,
                             .context = &meeting};
    (void)rbVisitNearPairs(&input);
    return meeting;
}

// Overlap of the intersecting triangles along a direction.
static double overlapAlong(const Search* search, const Meeting* meeting, rbVec3 n)
{
    const rbMeshPair* pair = search->pair;
    rbVec3 nB = rbMulMtV(search->rotation, n);
    double shift = rbDot(n, pair->transformBtoA.p);
    double highA = -INFINITY;
    double lowB = INFINITY;
    for (int i = 0; i < meeting->crossing.count; ++i) {
        rbVec3 corners[3];
        int a = meeting->names[i][0];
        int b = meeting->names[i][1];
        rbTriangleBlock_Get(&pair->a->polyhedron->tree->blocks[a / RB_BOX_WIDTH], a % RB_BOX_WIDTH,
                            corners);
        for (int k = 0; k < 3; ++k) {
            highA = fmax(highA, rbDot(n, corners[k]));
        }
        rbTriangleBlock_Get(&pair->b->polyhedron->tree->blocks[b / RB_BOX_WIDTH], b % RB_BOX_WIDTH,
                            corners);
        for (int k = 0; k < 3; ++k) {
            lowB = fmin(lowB, rbDot(nB, corners[k]) + shift);
        }
    }
    return fmax(highA - lowB, 0.0);
}

// Lengths along the normal of the crossing, shorter ones first, until one separates the bodies.
static void tryCrossing(Search* search, const Meeting* meeting)
{
    rbVec3 n = rbCrossing_GetNormal(&meeting->crossing);
    if (!(rbLength(n) > 0.0)) {
        return;
    }
    double overlap = overlapAlong(search, meeting, n);
    double lens = rbCrossing_GuessDepth(&meeting->crossing);
    double guesses[3] = {fmin(overlap, lens), fmax(overlap, lens), 2.0 * fmax(overlap, lens)};
    for (int i = 0; i < 3; ++i) {
        rbVec3 offset = stretch(search, n, 1.05 * guesses[i]);
        if (rbLength(offset) >= search->length || tryOffset(search, offset)) {
            return;
        }
    }
}

// One body inside the other: exits through the nearest wall.
static void tryWall(Search* search, const rbClosest* closest)
{
    rbVec3 line = rbSub(closest->b, closest->a);
    tryDirection(search, line);
    if (!(rbLength(line) > 0.0)) {
        return;
    }
    const Extent* e = &search->extents[search->extentCount - 1];
    rbVec3 n = rbNormalize(line);
    double width = fmin(e->highA - e->lowA, e->highB - e->lowB) + rbLength(line);
    // whichever is inside: B moves from its wall point to that of A
    rbVec3 offset = stretch(search, rbNeg(n), width);
    if (rbLength(offset) < search->length) {
        (void)tryOffset(search, offset);
    }
}

// Face of a triangle of the tree.
static int faceOf(const rbGeometry* geometry, int triangle)
{
    const rbPolyhedron* p = geometry->polyhedron;
    int origin = p->tree->blocks[triangle / RB_BOX_WIDTH].origins[triangle % RB_BOX_WIDTH];
    return p->faceOfTriangle[origin];
}

// Surfaces without an inside.
static void setNoDepth(const rbMeshPair* pair, const rbCrossing* crossing, rbSeparation* separation)
{
    rbVec3 n = rbNormalize(crossing->normals);
    if (!(rbLength(n) > 0.0)) {
        rbVec3 center = rbTransformPoint(pair->transformBtoA, pair->b->polyhedron->tree->origin);
        n = rbNormalize(rbSub(center, pair->a->polyhedron->tree->origin));
    }
    separation->normal = rbLength(n) > 0.0 ? n : rbMakeVec3(0.0, 0.0, 1.0);
    separation->distance = separation->lower = separation->upper = 0.0;
}

void rbEstimateMeshDepth(const rbMeshPair* pair, const rbTreePairResult* found,
                         rbSeparation* separation)
{
    RB_ASSERT(found->triangleA >= 0 && pair->scratch != NULL);
    const rbClosest* closest = &found->closest;
    bool isMeeting = found->stop == RB_TREE_MEETS;
    separation->reason = RB_STOP_ESTIMATE;
    Meeting meeting = {rbMakeCrossing(closest->a), NULL, 0};
    if (isMeeting) {
        meeting = findMeeting(pair, closest->a);
    }
    if (!pair->a->isSolid && !pair->b->isSolid) {
        setNoDepth(pair, &meeting.crossing, separation);
        return;
    }
    Search search;
    beginSearch(&search, pair);
    if (pair->budget > 0) {
        long long left = pair->budget - found->triangleTests;
        search.budget = left > 0 ? left : 0;
    }
    if (isMeeting) {
        tryDirection(&search, rbCrossing_GetNormal(&meeting.crossing));
        tryDirection(&search, meeting.crossing.normals);
        tryCrossing(&search, &meeting);
    } else {
        tryWall(&search, closest);
    }
    descend(&search);
    rbVec3 n = rbScale(1.0 / search.length, search.best);
    separation->normal = n;
    separation->lower = -(search.length + search.slack);
    separation->upper = isMeeting ? 0.0 : fmin(0.0, -found->lower);
    separation->distance = separation->lower;
    if (search.hasWitness) {
        const rbClosest* nearest = &search.witness.closest;
        separation->pointA = nearest->a;
        separation->pointB = rbSub(nearest->b, search.best);
        separation->distance = rbDot(n, rbSub(separation->pointB, separation->pointA));
        separation->faceA = faceOf(pair->a, search.witness.triangleA);
        separation->faceB = faceOf(pair->b, search.witness.triangleB);
    }
    separation->distance = fmax(separation->lower, fmin(separation->upper, separation->distance));
    separation->iterations += (int)fmin((double)search.triangleTests, 1e9);
}
