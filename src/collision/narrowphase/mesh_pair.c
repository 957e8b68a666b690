// Pairs of shapes made of triangles: distance, depth where they overlap, contacts.
//
// Distance. The search over the trees returns the distance of the surfaces. Whether a solid
// contains the other body, whose surface is then separate from its own, is decided at the nearest
// points: if the surfaces do not intersect, all points of B are on the same side of A.
//
// Depth. The penetration depth of bodies that are not convex, the shortest translation that
// separates them, is not computed. Instead, the result is a separating translation, proven by
// measuring the distance of the bodies moved by it, and shortened by a descent over such
// translations. On a convex body the descent ends in a local minimum of the depth.
//
// That of a query is then shortened to a local minimum (mesh_depth.h), that of contacts is not.
//
// Guaranteed: lower <= signed distance <= upper, where the signed distance is minus the length of
// the shortest translation that separates the bodies; B moved by -lower along the normal is
// separate from A. Not guaranteed: that the depth is the global or the nearest local minimum.
//
// The initial translation is the shortest that puts a plane between the bodies, over a list of
// directions, or, if that is shorter and a distance query confirms it, one along the normal of the
// place where the surfaces cross.
//
// Descent: B moved by s is separate from A, by d along the unit vector m of the nearest points. If
// both were convex, a plane perpendicular to m would separate them while m . s >= depth = m . s -
// d; the shortest such s is depth m. It is tried, slightly lengthened; if the bodies intersect
// there, B moves toward it as far as d allows, which is safe, and the query is repeated.
//
// Contacts. Where the surfaces are separate, the points are the local closest pairs (pairs of
// points that no small shift of either along its surface brings closer) and, where faces are
// parallel within 3 degrees, the corners of the region they share. In overlap the same is computed
// for the bodies separated by the translation found by estimateDepth, and the translation is
// subtracted from the distances.
//
// Points with one normal (within 8 degrees) in one plane form a manifold, wherever they lie in it:
// for a rigid body the contact of two feet on one floor is that of their hull. Of each plane at
// most four points are kept: the deepest, the farthest from it, and the two that span the largest
// area.
//
// 1. The distance of the bodies is measured. In overlap B is moved out by a translation s, so that
//    all triangles are separate; a distance d along n is then d - n . s for the actual bodies.
// 2. Every pair of triangles within reach yields candidates: for flush faces the corners of the
//    region they share, for others their nearest points if these are a local minimum of the
//    distance.
// 3. Candidates are sorted by depth. The deepest one leads a cluster, which collects all that have
//    its normal and lie in its plane; then the deepest of the rest leads the next.
// 4. Each cluster is reduced to the points of a manifold.
#include "collision/narrowphase/mesh_pair.h"

#include "collision/narrowphase/manifold.h"
#include "collision/narrowphase/mesh_convex.h"

#include <float.h>
#include <math.h>

// -------------------------------------------------------------------------------------- crossing

// Sums over pairs of intersecting triangles.
//
// Two closed surfaces cross in closed curves. The part of A inside B and the part of B inside A are
// bounded by the same curves, so both have, up to the sign, the vector area 1/2 sum of p x q over
// the pieces p q of the curves, traversed along nA x nB: the mean normal of the contact, which
// needs no order of the pieces.
typedef struct Crossing {
    rbVec3 origin;       // m, reference point of the area sum
    rbVec3 lower, upper; // m, bounds of the pieces
    rbVec3 area;         // m^2, from A to B
    rbVec3 normals;      // m^2, of the faces, A minus B, weighted by the smaller area
    rbVec3 moment;       // m^2, sum of length times (midpoint - origin)
    double length;       // m, of the curves
    double cosine;       // m, sum of length times nA . nB
    int count;           // pairs
} Crossing;

static Crossing makeCrossing(rbVec3 origin)
{
    return (Crossing){.origin = origin,
                      .lower = {INFINITY, INFINITY, INFINITY},
                      .upper = {-INFINITY, -INFINITY, -INFINITY}};
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

static void growBounds(Crossing* crossing, rbVec3 point)
{
    crossing->lower = rbMin3(crossing->lower, point);
    crossing->upper = rbMax3(crossing->upper, point);
}

static void addPiece(Crossing* crossing, const rbNearPair* pair)
{
    rbVec3 crossA = rbCrossOfCorners(pair->cornersA), crossB = rbCrossOfCorners(pair->cornersB);
    double areaA = rbLength(crossA), areaB = rbLength(crossB);
    ++crossing->count;
    growBounds(crossing, pair->closest.a);
    if (!(areaA > 0.0 && areaB > 0.0)) {
        return;
    }
    rbVec3 nA = rbScale(1.0 / areaA, crossA), nB = rbScale(1.0 / areaB, crossB);
    crossing->normals = rbAddScaled(crossing->normals, 0.5 * fmin(areaA, areaB), rbSub(nA, nB));
    rbVec3 t = rbCross(nA, nB);
    double sine = rbLength(t);
    if (!(sine > 1e-9)) {
        return;
    }
    t = rbScale(1.0 / sine, t);
    double a[2], b[2];
    rbVec3 base = RB_VEC3_ZERO;
    rbVec3 other;
    if (!findInterval(pair->cornersB, nA, rbDot(nA, pair->cornersA[0]), t, b, &other) ||
        !findInterval(pair->cornersA, nB, rbDot(nB, pair->cornersB[0]), t, a, &base)) {
        return;
    }
    double low = fmax(a[0], b[0]), high = fmin(a[1], b[1]);
    if (!(low < high)) {
        return;
    }
    double at = rbDot(t, base);
    rbVec3 first = rbAddScaled(base, low - at, t), last = rbAddScaled(base, high - at, t);
    growBounds(crossing, first);
    growBounds(crossing, last);
    rbVec3 p = rbSub(first, crossing->origin), q = rbSub(last, crossing->origin);
    double length = high - low;
    crossing->area = rbAddScaled(crossing->area, 0.5, rbCross(p, q));
    crossing->moment = rbAddScaled(crossing->moment, 0.5 * length, rbAdd(p, q));
    crossing->length += length;
    crossing->cosine += length * rbDot(nA, nB);
}

static void joinCrossing(Crossing* crossing, const Crossing* other)
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

static rbVec3 normalOf(const Crossing* crossing)
{
    // the area of a curve that is not closed or encloses nothing is arbitrary
    double square = crossing->length * crossing->length;
    return rbLength(crossing->area) > 1e-6 * square ? rbNormalize(crossing->area)
                                                    : rbNormalize(crossing->normals);
}

// The faces of a lens of two equal caps over a circle of radius r, which meet at the angle theta
// between their outward normals nA and -nB, are 2 r tan(theta / 4) apart. With cosine c = cos(theta
// / 2): tan^2(theta / 4) = (1 - c) / (1 + c).
static double guessDepth(const Crossing* crossing)
{
    if (!(crossing->length > 0.0)) {
        return 0.0;
    }
    double full = fmin(1.0, fmax(-1.0, -crossing->cosine / crossing->length));
    double half = sqrt(0.5 * (1.0 + full));
    double radius = sqrt(rbLength(crossing->area) / RB_PI);
    return 2.0 * radius * sqrt((1.0 - half) / (1.0 + half));
}

// ----------------------------------------------------------------------------------- containment

static bool containsPart(const rbGeometry* solid, const rbGeometry* other, rbTransform toSolid)
{
    const rbPolyhedron* p = other->polyhedron;
    for (int i = 0; solid->isSolid && i < p->partCount; ++i) {
        rbVec3 point = rbTransformPoint(toSolid, p->vertices[p->partVertices[i]]);
        if (rbIsInBounds(solid->polyhedron, point) && rbGeometry_Contains(solid, point)) {
            return true;
        }
    }
    return false;
}

// Corners of a one-part body that are tested before the solid is queried for containment.
#define SAMPLE_COUNT 8

// Could the solid contain the other body, of one part? Not if a corner is outside its bounds.
static bool mayContain(const rbGeometry* solid, const rbGeometry* other, rbTransform toSolid)
{
    const rbBoxTree* tree = other->polyhedron->tree;
    for (int i = 0; solid->isSolid && i < SAMPLE_COUNT; ++i) {
        rbVec3 corners[3];
        int block = (int)((long long)i * tree->blockCount / SAMPLE_COUNT);
        rbTriangleBlock_Get(&tree->blocks[block], 0, corners);
        if (!rbIsInBounds(solid->polyhedron, rbTransformPoint(toSolid, corners[0]))) {
            return false;
        }
    }
    return solid->isSolid;
}

// Does the solid contain a part of the other body, whose surface is separate from its own? point:
// of the other body; nearest, triangle: of the solid's surface to it; triangle -1: unknown.
static bool isAround(const rbGeometry* solid, const rbGeometry* other, rbTransform toSolid,
                     rbVec3 point, rbVec3 nearest, int triangle)
{
    return other->polyhedron->partCount > 1 || triangle < 0
               ? containsPart(solid, other, toSolid)
               : mayContain(solid, other, toSolid) && rbIsInMesh(solid, point, nearest, triangle);
}

// Does one of two bodies whose surfaces are separate, according to the search, contain a part of
// the other?
static bool isContained(const rbMeshPair* pair, const rbTreePairResult* found)
{
    rbVec3 a = found->closest.a, b = found->closest.b;
    bool isDone = found->stop == RB_STOP_SURFACES;
    rbTransform toB = rbInvertTransform(pair->transformBtoA);
    return isAround(pair->a, pair->b, pair->transformBtoA, b, a, isDone ? found->triangleA : -1) ||
           isAround(pair->b, pair->a, toB, rbTransformPoint(toB, a), rbTransformPoint(toB, b),
                    isDone ? found->triangleB : -1);
}

// ----------------------------------------------------------------------------------------- depth

// Distance queries of the descent.
#define DESCENT_MAX 8
// Maximum number of pairs summed: identical meshes intersect in all of their triangles.
#define MEETING_MAX 4096
// Translations tried along the normal of a crossing: the depth of a lens, then twice the last one.
#define LENS_TRIES 3
// A translation is tried longer by this fraction and by this fraction of the size, so that the
// nearest points of the separated bodies have a direction.
#define STRETCH 1e-3
#define GAP 1e-9
// The descent ends when a step gains less than this fraction.
#define GAIN 1e-3
// Rounding error of positions, relative to the coordinates.
#define ROUNDING (64.0 * DBL_EPSILON)

typedef struct Search {
    const rbMeshPair* pair;
    rbMat3 rotation;
    double size;      // m, of the coordinates
    double slack;     // m, of rounding
    long long budget; // pairs of triangles remaining, < 0: no limit
    rbVec3 best;      // m, translation of B that separates the bodies
    double length;    // m, of it
    bool hasWitness;
    rbTreePairResult witness; // of the bodies separated by it
    long long triangleTests;
} Search;

// Measures the bodies along a direction, in both senses; keeps the translation if it is the
// shortest. Returns the extent of the thinner body.
static double tryDirection(Search* search, rbVec3 direction)
{
    double length = rbLength(direction);
    if (!(length > 0.0) || !isfinite(length)) {
        return 0.0;
    }
    rbVec3 d = rbScale(1.0 / length, direction);
    const rbMeshPair* pair = search->pair;
    const rbBoxTree* a = pair->a->polyhedron->tree;
    const rbBoxTree* b = pair->b->polyhedron->tree;
    rbVec3 dB = rbMulMtV(search->rotation, d);
    double shift = rbDot(d, pair->transformBtoA.p);
    double lowA = -rbBoxTree_FindReach(a, rbNeg(d)), highA = rbBoxTree_FindReach(a, d);
    double lowB = shift - rbBoxTree_FindReach(b, rbNeg(dB));
    double highB = shift + rbBoxTree_FindReach(b, dB);
    double ahead = fmax(highA - lowB, 0.0), back = fmax(highB - lowA, 0.0);
    double least = fmin(ahead, back) * (1.0 + STRETCH) + GAP * search->size;
    if (least < search->length) {
        search->best = rbScale(ahead <= back ? least : -least, d);
        search->length = rbLength(search->best); // as tryOffset measures it
        search->hasWitness = false;
    }
    return fmin(highA - lowA, highB - lowB);
}

static void tryBoxAxes(Search* search, const rbBoxTree* tree, const rbMat3* rotation)
{
    const rbTiltedNode* root = &tree->tilted[0];
    const rbVec3 axes[3] = {rbPickLane(root->longAxis, 0), rbPickLane(root->wideAxis, 0),
                            rbPickLane(root->normal, 0)};
    for (int i = 0; i < 3; ++i) {
        rbVec3 size = rbAbs3(axes[i]);
        // an axis of the body was tried already
        if (size.x + size.y + size.z > rbLargestComponent(axes[i]) * (1.0 + 1e-6)) {
            (void)tryDirection(search, rbMulMV(*rotation, axes[i]));
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
    search->best = RB_VEC3_ZERO;
    search->length = INFINITY;
    search->hasWitness = false;
    search->triangleTests = 0;
    const rbMat3 body = RB_MAT3_IDENTITY;
    const rbMat3* frames[2] = {&body, &search->rotation};
    for (int i = 0; i < 2; ++i) {
        (void)tryDirection(search, frames[i]->cx);
        (void)tryDirection(search, frames[i]->cy);
        (void)tryDirection(search, frames[i]->cz);
    }
    tryBoxAxes(search, a, &body);
    tryBoxAxes(search, b, &search->rotation);
    (void)tryDirection(search, rbSub(rbTransformPoint(pair->transformBtoA, b->origin), a->origin));
}

// The distance of the surfaces.
static rbTreePairResult searchTrees(const rbMeshPair* pair, double limit, double enough)
{
    rbTreePairInput input = {
        .a = pair->a->polyhedron->tree,
        .b = pair->b->polyhedron->tree,
        .transformBtoA = pair->transformBtoA,
        .limit = limit,
        .enough = enough,
        .relativeError = pair->relativeTolerance,
        .budget = pair->budget > 0 ? pair->budget : -1,
        .entries = pair->scratch,
        .capacity = (int)(pair->scratchSize / sizeof(rbTreeEntry)),
        .front = pair->front,
    };
    return rbMeasureTrees(&input);
}

// Is B separate from A when moved by the offset? Keeps the shortest such offset.
static bool tryOffset(Search* search, rbVec3 offset)
{
    if (search->budget == 0) {
        return false;
    }
    rbMeshPair moved = *search->pair;
    moved.transformBtoA.p = rbAdd(moved.transformBtoA.p, offset);
    moved.relativeTolerance = 0.0;
    moved.budget = search->budget;
    moved.front = NULL;
    rbTreePairResult found = searchTrees(&moved, INFINITY, 0.0);
    search->triangleTests += found.triangleTests;
    if (search->budget > 0) {
        search->budget -=
            found.triangleTests < search->budget ? found.triangleTests : search->budget;
    }
    double length = rbLength(offset);
    if (!(found.lower > search->slack) || found.triangleA < 0 || isContained(&moved, &found)) {
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

static void descend(Search* search)
{
    if (!search->hasWitness) {
        (void)tryOffset(search, search->best); // a plane separates them: finds nearest points
    }
    for (int i = 0; i < DESCENT_MAX && search->hasWitness; ++i) {
        rbVec3 s = search->best;
        double d = search->witness.lower;
        rbVec3 m = rbNormalize(rbSub(search->witness.closest.b, search->witness.closest.a));
        rbVec3 target = stretch(search, m, fmax(rbDot(m, s) - d, 0.0));
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

static bool addMeeting(const rbNearPair* pair, void* context)
{
    Crossing* crossing = context;
    addPiece(crossing, pair);
    return crossing->count < MEETING_MAX;
}

// Visits the pairs of triangles within a distance (0: those that intersect), B moved by an offset;
// false if a visit stopped it.
static bool visitNear(const rbMeshPair* pair, rbVec3 offset, double distance, rbNearPairFn* visit,
                      void* context)
{
    return rbVisitNearPairs(&(rbTreeNearInput){
        .a = pair->a->polyhedron->tree,
        .b = pair->b->polyhedron->tree,
        .transformBtoA = {rbAdd(pair->transformBtoA.p, offset), pair->transformBtoA.q},
        .distance = distance,
        .visit = visit,
        .context = context});
}

// Lengths along the normal of the crossing, shorter ones first, until one separates the bodies.
static void tryCrossing(Search* search, const Crossing* crossing)
{
    rbVec3 n = normalOf(crossing);
    double depth = guessDepth(crossing);
    for (int i = 0; i < LENS_TRIES && depth > 0.0; ++i) {
        rbVec3 offset = stretch(search, n, depth);
        if (rbLength(offset) >= search->length || tryOffset(search, offset)) {
            return;
        }
        depth *= 2.0;
    }
}

// One body inside the other: exits through the nearest wall.
static void tryWall(Search* search, const rbClosest* closest)
{
    rbVec3 line = rbSub(closest->b, closest->a);
    double width = tryDirection(search, line) + rbLength(line);
    if (!(rbLength(line) > 0.0)) {
        return;
    }
    // whichever is inside: B moves from its wall point to that of A
    rbVec3 offset = stretch(search, rbNeg(rbNormalize(line)), width);
    if (rbLength(offset) < search->length) {
        (void)tryOffset(search, offset);
    }
}

static bool addPlane(const rbNearPair* pair, void* context)
{
    double gap = sqrt(pair->closest.squared);
    rbVec3 n = rbScale(1.0 / gap, rbSub(pair->closest.b, pair->closest.a));
    return gap > 0.0 && rbParting_Add(context, n, gap);
}

static bool collectPlanes(rbParting* parting, double reach)
{
    return visitNear(parting->context, parting->translation, reach, addPlane, parting);
}

// Depth of intersecting triangles.
typedef struct Least {
    double depth;
    int pairsLeft;
} Least;

static bool addLeast(const rbNearPair* pair, void* context)
{
    Least* least = context;
    least->depth = fmax(least->depth, rbBoundTriangleDepth(pair->cornersA, pair->cornersB));
    return --least->pairsLeft > 0;
}

// No translation shorter than this separates the bodies. Triangles that intersect must leave each
// other, and balls about one point that lie in the solids.
static double boundDepth(const Search* search, const Crossing* crossing)
{
    const rbMeshPair* pair = search->pair;
    Least least = {0.0, MEETING_MAX};
    (void)visitNear(pair, RB_VEC3_ZERO, 0.0, addLeast, &least);
    rbVec3 a = search->witness.closest.a;
    rbVec3 way = rbSub(rbSub(search->witness.closest.b, search->best), a);
    for (int i = 0; i <= 3 && search->hasWitness; ++i) {
        rbVec3 middle = rbScale(0.5, rbAdd(crossing->lower, crossing->upper));
        rbVec3 p = i == 3 && crossing->count > 0 ? middle : rbAddScaled(a, 0.5 * i, way);
        double depth = rbFindDepthInMesh(pair->a, p) +
                       rbFindDepthInMesh(pair->b, rbInvTransformPoint(pair->transformBtoA, p));
        least.depth = fmax(least.depth, depth);
    }
    return fmax(least.depth - search->slack, 0.0);
}

static void estimateDepth(const rbMeshPair* pair, const rbTreePairResult* found,
                          rbSeparation* separation)
{
    RB_ASSERT(found->triangleA >= 0 && pair->scratch != NULL);
    const rbClosest* closest = &found->closest;
    bool isMeeting = found->stop == RB_STOP_TOUCHES;
    separation->reason = RB_STOP_ESTIMATE;
    Crossing crossing = makeCrossing(closest->a);
    if (isMeeting) {
        (void)visitNear(pair, RB_VEC3_ZERO, 0.0, addMeeting, &crossing);
    }
    if (!pair->a->isSolid && !pair->b->isSolid) {
        // surfaces without an inside
        rbVec3 n = rbNormalize(crossing.normals);
        if (!(rbLength(n) > 0.0)) {
            rbVec3 center =
                rbTransformPoint(pair->transformBtoA, pair->b->polyhedron->tree->origin);
            n = rbNormalize(rbSub(center, pair->a->polyhedron->tree->origin));
        }
        separation->normal = rbLength(n) > 0.0 ? n : rbMakeVec3(0.0, 0.0, 1.0);
        separation->distance = separation->lower = separation->upper = 0.0;
        return;
    }
    Search search;
    beginSearch(&search, pair);
    if (pair->budget > 0) {
        long long left = pair->budget - found->triangleTests;
        search.budget = left > 0 ? left : 0;
    }
    if (isMeeting) {
        (void)tryDirection(&search, normalOf(&crossing));
        (void)tryDirection(&search, crossing.normals);
        tryCrossing(&search, &crossing);
    } else {
        tryWall(&search, closest);
    }
    descend(&search);
    separation->upper = isMeeting ? 0.0 : fmin(0.0, -found->lower);
    if (pair->wish == RB_DEPTH_SHORTEST) {
        // from a separating translation to a local minimum of the length
        rbMeshPair same = *pair;
        rbParting parting = {.collect = collectPlanes,
                             .context = &same,
                             .planes = pair->scratch,
                             .capacity = (int)(pair->scratchSize / sizeof(rbHalfSpace)),
                             .size = search.size,
                             .translation = search.best};
        rbParting_Shorten(&parting, search.hasWitness ? search.witness.lower : 0.0);
        (void)tryOffset(&search, parting.translation);
        separation->upper = fmin(separation->upper, -boundDepth(&search, &crossing));
    }
    rbVec3 n = rbScale(1.0 / search.length, search.best);
    separation->normal = n;
    separation->lower = -(search.length + search.slack);
    separation->upper = fmax(separation->upper, separation->lower);
    separation->distance = separation->lower;
    if (search.hasWitness) {
        const rbClosest* nearest = &search.witness.closest;
        separation->pointA = nearest->a;
        separation->pointB = rbSub(nearest->b, search.best);
        separation->distance = rbDot(n, rbSub(separation->pointB, separation->pointA));
        separation->faceA = rbGetMeshFace(pair->a, search.witness.triangleA);
        separation->faceB = rbGetMeshFace(pair->b, search.witness.triangleB);
    }
    separation->distance = fmax(separation->lower, fmin(separation->upper, separation->distance));
    separation->iterations += (int)fmin((double)search.triangleTests, 1e9);
}

// -------------------------------------------------------------------------------------- distance

void rbMeasureMeshes(const rbMeshPair* pair, rbSeparation* separation)
{
    rbTreePairResult found = searchTrees(pair, INFINITY, 0.0);
    const rbClosest* closest = &found.closest;
    bool hasPair = found.triangleA >= 0;
    double distance = hasPair ? sqrt(closest->squared) : found.lower;
    bool overlaps = found.stop == RB_STOP_TOUCHES || (hasPair && isContained(pair, &found));
    *separation = (rbSeparation){
        .distance = distance,
        .lower = found.lower,
        .upper = found.upper,
        .pointA = closest->a,
        .pointB = closest->b,
        .normal = distance > RB_DIRECTION_MIN
                      ? rbScale(1.0 / distance, rbSub(closest->b, closest->a))
                      : RB_VEC3_ZERO,
        .iterations = (int)(found.triangleTests < INT32_MAX ? found.triangleTests : INT32_MAX),
        .reason = found.stop,
        .faceA = rbGetMeshFace(pair->a, found.triangleA),
        .faceB = rbGetMeshFace(pair->b, found.triangleB),
    };
    if (overlaps && pair->wish == RB_DEPTH_NONE) {
        // bounding spheres of the trees are separated by the sum of their radii
        separation->lower =
            -(pair->a->polyhedron->tree->radius + pair->b->polyhedron->tree->radius);
        separation->upper = separation->distance = 0.0;
        separation->normal = RB_VEC3_ZERO;
        separation->reason = RB_STOP_TOUCHES;
    } else if (overlaps) {
        estimateDepth(pair, &found, separation);
    }
}

bool rbTestMeshes(const rbMeshPair* pair, double margin)
{
    const rbBoxTree* a = pair->a->polyhedron->tree;
    const rbBoxTree* b = pair->b->polyhedron->tree;
    double size = a->radius + b->radius + rbLength(pair->transformBtoA.p) + rbLength(a->origin) +
                  rbLength(b->origin);
    // cases undecided because of rounding count as contact
    double limit = margin + 64.0 * DBL_EPSILON * size;
    rbTreePairResult found = searchTrees(pair, limit, limit);
    return found.triangleA >= 0 || containsPart(pair->a, pair->b, pair->transformBtoA) ||
           containsPart(pair->b, pair->a, rbInvertTransform(pair->transformBtoA));
}

double rbBoundMeshDepth(const rbMeshPair* pair, rbVec3* direction)
{
    Search search;
    beginSearch(&search, pair);
    *direction = rbNormalize(search.best);
    return search.length + search.slack;
}

// -------------------------------------------------------------------------------------- contacts

// Cosine of the angle up to which faces are flush: 3 degrees, as for convex shapes.
#define FLUSH_COSINE 0.9986
// Cosine and sine of the angle between the normals of one manifold, and of the slope from its
// leader to its points: 0.08 degrees. If facets of a thread or a ring were merged, they would push
// only along the normal of one of them, and bodies would slide into the others.
#define CLUSTER_COSINE 0.999999
#define CLUSTER_SINE 0.0014
// Points closer to each other than this fraction of the region are merged.
#define SAME_POINT 1e-6
// Points closer to contact than this fraction of the size have no direction.
#define TOUCHING 1e-10
// A pair of nearest points is a local minimum if no path along the surface from one of them
// approaches the other by more than this sine.
#define LOCAL_SINE 1e-7
// A separating translation longer than this fraction of the smaller body is not informative about
// the individual contact locations.
#define LOCAL_PART 0.1
// Points that the separating motion exposes although they were not deep: at most this fraction of
// the motion, measured along it, where the motion exceeds rounding.
#define GRAZE_PART 0.01
#define GRAZE_COSINE 0.1
#define DEEP_PART 1e-4 // relative to the size
// Relative to the size: corners of a steep triangle count up to here above its nearest point.
#define STEEP_PART 0.005
// Number of separate places where surfaces cross; one curve may be split into many until the
// traversal has found the pieces that join them.
#define REGION_MAX 64
// And the number of places for which candidates are searched.
#define PLACE_MAX 16
// The depth of a place is searched by doubling, from this fraction of the depth of a lens up to
// twice the lens: for a flat box on a flat floor it is a small fraction.
#define FIRST_PART (1.0 / 64.0)
#define PART_STEPS 8
// Pairs of triangles examined within one reach before a quarter of it is tried, this many times;
// and within the last one.
#define PAIR_MAX 2000
#define LAST_PAIR_MAX 8000
#define REACH_STEPS 5

// A candidate contact point.
typedef struct Candidate {
    rbManifoldPoint point; // of the actual bodies, without radii
    rbVec3 normal;
    int cluster; // -1: none yet
    bool isKept;
} Candidate;

typedef struct Collector {
    const rbMeshPair* pair;
    rbMat3 rotation;
    rbVec3 offset;       // m, displacement of B
    double threshold;    // m, without radii
    double size;         // m, of the bodies
    bool isLimited;      // restricted to a place with a normal
    rbVec3 lower, upper; // m
    rbVec3 normal;
    int pairsLeft; // remaining pairs to examine
    Candidate* items;
    rbManifoldPoint* chosen; // same size
    int count, capacity;
    bool isDeep;    // the bodies overlap significantly
    double ceiling; // m, height limit of candidates with the bodies moved
} Collector;

// Two triangles with their normals.
typedef struct Faces {
    const rbNearPair* pair;
    rbVec3 normalA, normalB; // unit, or zero if degenerate
    int originA, originB;    // index in the triangles of the shapes
} Faces;

// --------------------------------------------------------------------------------------- clusters

// Deepest first; Shell sort, the same order for the same input.
static void sortItems(Candidate* items, int count)
{
    int gap = 1;
    while (gap < count / 3) {
        gap = 3 * gap + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (int i = gap; i < count; ++i) {
            Candidate item = items[i];
            int at = i;
            for (; at >= gap && items[at - gap].point.distance > item.point.distance; at -= gap) {
                items[at] = items[at - gap];
            }
            items[at] = item;
        }
    }
}

static bool belongs(const Candidate* item, const Candidate* leader, double size)
{
    rbVec3 way = rbSub(item->point.pointA, leader->point.pointA);
    return rbDot(item->normal, leader->normal) > CLUSTER_COSINE &&
           fabs(rbDot(way, leader->normal)) <=
               CLUSTER_SINE * rbLength(way) + SAME_POINT * size + fabs(item->point.distance);
}

// Sorts the candidates, assigns each a cluster and returns the number of clusters.
static int formClusters(Collector* c)
{
    sortItems(c->items, c->count);
    for (int i = 0; i < c->count; ++i) {
        c->items[i].cluster = -1;
        c->items[i].isKept = false;
    }
    int clusters = 0;
    for (int i = 0; i < c->count; ++i) {
        if (c->items[i].cluster >= 0) {
            continue;
        }
        for (int j = i; j < c->count; ++j) {
            if (c->items[j].cluster < 0 &&
                (j == i || belongs(&c->items[j], &c->items[i], c->size))) {
                c->items[j].cluster = clusters;
            }
        }
        ++clusters;
    }
    return clusters;
}

// The manifold of a cluster; marks the candidates kept.
static rbManifold reduceCluster(Collector* c, int cluster)
{
    rbManifold manifold = {0};
    int count = 0;
    for (int i = 0; i < c->count; ++i) {
        const Candidate* item = &c->items[i];
        if (item->cluster != cluster) {
            continue;
        }
        if (count == 0) {
            manifold.normal = item->normal; // of the leader
        }
        rbManifoldPoint point = item->point;
        point.distance = rbDot(manifold.normal, rbSub(point.pointB, point.pointA));
        point.pointB = rbAddScaled(point.pointA, point.distance, manifold.normal);
        point.featureId = (uint32_t)i; // until it is chosen
        if (count == 0 || point.distance <= c->threshold) {
            c->chosen[count++] = point;
        }
    }
    (void)rbReduceRegion(c->chosen, count, 1e-9 * c->size, &manifold);
    for (int i = 0; i < manifold.count; ++i) {
        Candidate* item = &c->items[manifold.points[i].featureId];
        item->isKept = true;
        manifold.points[i].featureId = item->point.featureId;
    }
    return manifold;
}

// Frees capacity: keeps the manifold points of every cluster, then the deepest points.
static void condense(Collector* c)
{
    int clusters = formClusters(c);
    for (int i = 0; i < clusters; ++i) {
        (void)reduceCluster(c, i);
    }
    int kept = 0;
    for (int i = 0; i < c->count; ++i) {
        if (c->items[i].isKept) {
            c->items[kept++] = c->items[i];
        }
    }
    c->count = kept < c->capacity / 2 ? kept : c->capacity / 2;
}

// ------------------------------------------------------------------------------------- candidates

static bool isInPlace(const Collector* c, rbVec3 point, rbVec3 normal)
{
    return !c->isLimited ||
           (rbDot(normal, c->normal) > 0.5 && point.x >= c->lower.x && point.y >= c->lower.y &&
            point.z >= c->lower.z && point.x <= c->upper.x && point.y <= c->upper.y &&
            point.z <= c->upper.z);
}

// Adds a point of A with the distance of the moved B from it.
static void addCandidate(Collector* c, rbVec3 pointA, double moved, rbVec3 normal, uint32_t id)
{
    double along = rbDot(normal, c->offset);
    double distance = moved - along;
    if (!(distance <= c->threshold) || moved > c->ceiling || !isInPlace(c, pointA, normal)) {
        return;
    }
    // the nearest points of other faces at the rim of an overlap: not deep, they need no push
    if (c->isDeep && along > GRAZE_COSINE * rbLength(c->offset) && distance > -GRAZE_PART * along) {
        return;
    }
    if (c->count == c->capacity) {
        condense(c);
    }
    RB_ASSERT(c->count < c->capacity);
    rbManifoldPoint point = {pointA, rbAddScaled(pointA, distance, normal), distance, id};
    c->items[c->count++] = (Candidate){point, normal, -1, false};
}

// The corners of the region that two triangles share, projected along the normal n from A to B,
// which is nearly that of the reference: A (0) or B.
static void addShared(Collector* c, const Faces* f, rbVec3 n, int reference)
{
    rbContactFeature features[2];
    rbMakeTriangleFeature(c->pair->a, f->originA, f->pair->cornersA, f->normalA, &features[0]);
    rbMakeTriangleFeature(c->pair->b, f->originB, f->pair->cornersB, f->normalB, &features[1]);
    rbFeaturePoints found;
    found.count = 0;
    rbClipFeatures(features, reference, n, &found);
    for (int k = 0; k < found.count; ++k) {
        const rbManifoldPoint* point = &found.points[k];
        if (point->distance >= -1e-9 * c->size) { // otherwise they face away from each other
            addCandidate(c, point->pointA, point->distance, n, point->featureId);
        }
    }
}

// Does the direction m from a point of an edge lead away from both of its faces?
static bool isLocalAtEdge(const rbPolyhedron* p, int u, int v, rbVec3 m)
{
    int count;
    const int* edges = rbPolyhedron_GetVertexEdges(p, u, &count);
    for (int i = 0; i < count; ++i) {
        const rbEdge* edge = &p->edges[edges[i]];
        if (edge->v0 + edge->v1 != u + v || (edge->v0 != u && edge->v0 != v)) {
            continue;
        }
        rbVec3 along = rbNormalize(rbSub(p->vertices[edge->v1], p->vertices[edge->v0]));
        // into the left face, which runs along the edge, and into the right one
        rbVec3 left = rbCross(p->normals[edge->faceLeft], along);
        if (rbDot(m, left) > LOCAL_SINE) {
            return false;
        }
        return edge->faceRight < 0 ||
               rbDot(m, rbCross(along, p->normals[edge->faceRight])) <= LOCAL_SINE;
    }
    return true; // a diagonal of a face
}

static bool isLocalAtVertex(const rbPolyhedron* p, int vertex, rbVec3 m)
{
    int count;
    const int* edges = rbPolyhedron_GetVertexEdges(p, vertex, &count);
    for (int i = 0; i < count; ++i) {
        const rbEdge* edge = &p->edges[edges[i]];
        int other = edge->v0 == vertex ? edge->v1 : edge->v0;
        rbVec3 way = rbSub(p->vertices[other], p->vertices[vertex]);
        if (rbDot(m, way) > LOCAL_SINE * rbLength(way)) {
            return false;
        }
    }
    return true;
}

// Is a nearest point of a triangle also the nearest one of the surrounding surface? m leads to the
// other body, in the frame of this one.
static bool isLocal(const rbGeometry* geometry, int origin, rbFigurePart part, rbVec3 m)
{
    const rbPolyhedron* p = geometry->polyhedron;
    const int* corners = p->triangles[origin].v;
    if (part.kind == RB_FIGURE_FACE) {
        return !geometry->isSolid || rbDot(p->normals[p->faceOfTriangle[origin]], m) > 0.0;
    }
    if (p->edges == NULL) {
        return true;
    }
    return part.kind == RB_FIGURE_EDGE
               ? isLocalAtEdge(p, corners[part.index], corners[(part.index + 1) % 3], m)
               : isLocalAtVertex(p, corners[part.index], m);
}

static uint32_t nameWitness(const Collector* c, const Faces* f)
{
    const rbPolyhedron* a = c->pair->a->polyhedron;
    const rbPolyhedron* b = c->pair->b->polyhedron;
    rbFigurePart partA = f->pair->closest.partA, partB = f->pair->closest.partB;
    if (partA.kind == RB_FIGURE_VERTEX) {
        return rbMakeFeatureId(RB_MEETING_VERTEX_A, a->triangles[f->originA].v[partA.index],
                               b->faceOfTriangle[f->originB]);
    }
    if (partB.kind == RB_FIGURE_VERTEX) {
        return rbMakeFeatureId(RB_MEETING_VERTEX_B, b->triangles[f->originB].v[partB.index],
                               a->faceOfTriangle[f->originA]);
    }
    if (partA.kind == RB_FIGURE_EDGE && partB.kind == RB_FIGURE_EDGE) {
        const int *u = a->triangles[f->originA].v, *v = b->triangles[f->originB].v;
        return rbMakeFeatureId(RB_MEETING_CROSSING,
                               rbNameMeshEdge(u[partA.index], u[(partA.index + 1) % 3]),
                               rbNameMeshEdge(v[partB.index], v[(partB.index + 1) % 3]));
    }
    return rbMakeFeatureId(RB_MEETING_CROSSING, a->faceOfTriangle[f->originA],
                           b->faceOfTriangle[f->originB]);
}

// The nearest points of two triangles that are not flush; where they lie across a face, also the
// other corners of the region: an edge along a face has two.
static void addWitness(Collector* c, const Faces* f)
{
    const rbClosest* closest = &f->pair->closest;
    double distance = sqrt(closest->squared);
    if (!(distance > 0.0)) {
        return;
    }
    rbVec3 m = rbScale(1.0 / distance, rbSub(closest->b, closest->a));
    if (distance < TOUCHING * c->size) {
        // rounding determines the direction of the points
        bool isA = closest->partA.kind == RB_FIGURE_FACE;
        bool isB = closest->partB.kind == RB_FIGURE_FACE;
        m = isA ? f->normalA : isB ? rbNeg(f->normalB) : m;
    }
    if (!isLocal(c->pair->a, f->originA, closest->partA, m) ||
        !isLocal(c->pair->b, f->originB, closest->partB, rbNeg(rbMulMtV(c->rotation, m)))) {
        return;
    }
    bool isAcrossA = rbDot(m, f->normalA) > FLUSH_COSINE;
    bool isAcrossB = rbDot(m, f->normalB) < -FLUSH_COSINE;
    if (isAcrossA || isAcrossB) {
        // the other triangle may rise steeply: points high above the nearest point are not contacts
        c->ceiling = distance + STEEP_PART * c->size;
        addShared(c, f, isAcrossA ? f->normalA : rbNeg(f->normalB), isAcrossA ? 0 : 1);
        c->ceiling = INFINITY;
    }
    addCandidate(c, closest->a, distance, m, nameWitness(c, f));
}

static bool collect(const rbNearPair* pair, void* context)
{
    Collector* c = context;
    Faces f = {.pair = pair,
               .normalA = rbNormalize(rbCrossOfCorners(pair->cornersA)),
               .normalB = rbNormalize(rbCrossOfCorners(pair->cornersB)),
               .originA = rbGetMeshOrigin(c->pair->a, pair->triangleA),
               .originB = rbGetMeshOrigin(c->pair->b, pair->triangleB)};
    // a surface without an inside faces the other body
    rbVec3 way = rbSub(pair->closest.b, pair->closest.a);
    f.normalA = !c->pair->a->isSolid && rbDot(f.normalA, way) < 0.0 ? rbNeg(f.normalA) : f.normalA;
    f.normalB = !c->pair->b->isSolid && rbDot(f.normalB, way) > 0.0 ? rbNeg(f.normalB) : f.normalB;
    if (rbDot(f.normalA, f.normalB) < -FLUSH_COSINE) {
        addShared(c, &f, rbNormalize(rbSub(f.normalA, f.normalB)), 0);
    } else {
        addWitness(c, &f);
    }
    return --c->pairsLeft > 0;
}

// All candidates with B moved by an offset; the surfaces are then at least the nearest distance
// apart. If there are too many, the reach is shortened, which keeps the deepest.
static void collectMoved(Collector* c, rbVec3 offset, double nearest)
{
    c->offset = offset;
    double reach = c->threshold + rbLength(offset);
    if (!(reach >= 0.0)) {
        return;
    }
    bool isComplete = false;
    double part = 1.0;
    for (int step = 0; step < REACH_STEPS && !isComplete; ++step) {
        // beyond the nearest distance by more than rounding
        double beyond = part * fmax(reach - nearest, 0.0) + TOUCHING * c->size;
        c->pairsLeft = step + 1 < REACH_STEPS ? PAIR_MAX : LAST_PAIR_MAX;
        isComplete = visitNear(c->pair, offset, fmin(reach, nearest + beyond), collect, c);
        part *= 0.25;
    }
}

// ---------------------------------------------------------------------------------------- regions

// Separate places where the surfaces cross.
typedef struct Regions {
    Crossing items[REGION_MAX];
    int count;
    int pairsLeft; // remaining pairs to examine
    rbVec3 origin;
} Regions;

static bool doMeet(const Crossing* a, const Crossing* b, double margin)
{
    return a->lower.x - margin <= b->upper.x && b->lower.x - margin <= a->upper.x &&
           a->lower.y - margin <= b->upper.y && b->lower.y - margin <= a->upper.y &&
           a->lower.z - margin <= b->upper.z && b->lower.z - margin <= a->upper.z;
}

static bool addRegion(const rbNearPair* pair, void* context)
{
    Regions* regions = context;
    Crossing piece = makeCrossing(regions->origin);
    addPiece(&piece, pair);
    // pieces of one curve touch, up to rounding
    double margin = 1e-3 * rbDistance(piece.lower, piece.upper);
    int kept = 0;
    for (int i = 0; i < regions->count; ++i) {
        if (doMeet(&regions->items[i], &piece, margin)) {
            joinCrossing(&piece, &regions->items[i]);
        } else {
            regions->items[kept++] = regions->items[i];
        }
    }
    if (kept == REGION_MAX) {
        joinCrossing(&piece, &regions->items[--kept]);
    }
    regions->items[kept++] = piece;
    regions->count = kept;
    return --regions->pairsLeft > 0;
}

// Stops at triangles that meet in the place, or when too many others have been examined.
static bool isElsewhere(const rbNearPair* pair, void* context)
{
    Collector* c = context;
    return --c->pairsLeft > 0 && !isInPlace(c, pair->closest.a, c->normal);
}

// Candidates of one place, B moved along its normal until nothing intersects there. False if a
// translation of a length that separates the bodies everywhere is not enough for that.
static bool collectRegion(Collector* c, const Crossing* region, double most)
{
    double guess = guessDepth(region);
    c->normal = normalOf(region);
    if (!(guess > 0.0) || !(rbLength(c->normal) > 0.0)) {
        return true;
    }
    double depth = FIRST_PART * guess;
    for (int step = 0; step < PART_STEPS; ++step) {
        if (depth >= most) {
            return false;
        }
        c->pairsLeft = PAIR_MAX;
        double margin = depth + fmax(c->threshold, 0.0);
        rbVec3 spread = rbMakeVec3(margin, margin, margin);
        c->lower = rbSub(region->lower, spread);
        c->upper = rbAdd(region->upper, spread);
        rbVec3 offset = rbScale(depth, c->normal);
        if (visitNear(c->pair, offset, 0.0, isElsewhere, c)) {
            collectMoved(c, offset, 0.0);
            return true;
        }
        depth *= 2.0;
    }
    return true;
}

// Finds the places where the surfaces cross. If the separating translation is no longer than the
// sum of their depths, they count as one contact after all.
static void collectRegions(Collector* c, const rbSeparation* overlap)
{
    Regions regions = {.count = 0, .pairsLeft = LAST_PAIR_MAX, .origin = overlap->pointA};
    (void)visitNear(c->pair, RB_VEC3_ZERO, 0.0, addRegion, &regions);
    Crossing all = makeCrossing(regions.origin);
    double deepest = 0.0;
    for (int i = 0; i < regions.count; ++i) {
        joinCrossing(&all, &regions.items[i]);
        deepest = fmax(deepest, guessDepth(&regions.items[i]));
    }
    // coplanar faces provide no depth information
    c->isLimited = -overlap->lower > guessDepth(&all) && deepest > 0.0;
    for (int i = 0; i < regions.count && i < PLACE_MAX && c->isLimited; ++i) {
        c->isLimited = collectRegion(c, &regions.items[i], -overlap->lower);
    }
    if (!c->isLimited) {
        c->count = 0;
        collectMoved(c, rbScale(-overlap->lower, overlap->normal), 0.0);
    }
    c->isLimited = false;
}

// ------------------------------------------------------------------------------------------ query

void rbFindMeshContacts(const rbMeshPair* pair, double threshold, double radiusA, double radiusB,
                        rbContactList* list)
{
    RB_ASSERT(pair->scratch != NULL && list != NULL);
    RB_ASSERT(isfinite(threshold) && radiusA >= 0.0 && radiusB >= 0.0);
    double reach = threshold + radiusA + radiusB;
    rbSeparation s;
    rbMeasureMeshes(pair, &s);
    if (!(s.distance <= reach)) {
        return;
    }
    // from here on the scratch memory holds candidates
    double sizeA = pair->a->polyhedron->tree->radius, sizeB = pair->b->polyhedron->tree->radius;
    Collector c = {.pair = pair,
                   .rotation = rbMatFromQuat(pair->transformBtoA.q),
                   .threshold = reach,
                   .size = sizeA + sizeB,
                   .ceiling = INFINITY,
                   .items = pair->scratch};
    c.capacity = (int)(pair->scratchSize / (sizeof(Candidate) + sizeof(rbManifoldPoint)));
    c.chosen = (rbManifoldPoint*)(c.items + c.capacity);
    RB_ASSERT(c.capacity >= 2);
    bool isOverlap = s.reason == RB_STOP_ESTIMATE;
    c.isDeep = isOverlap && -s.distance > DEEP_PART * c.size;
    if (!isOverlap || -s.lower <= LOCAL_PART * fmin(sizeA, sizeB)) {
        collectMoved(&c, isOverlap ? rbScale(-s.lower, s.normal) : RB_VEC3_ZERO,
                     isOverlap ? 0.0 : s.distance);
    } else {
        collectRegions(&c, &s);
    }
    if (c.count == 0) {
        c.offset = RB_VEC3_ZERO;
        addCandidate(&c, s.pointA, s.distance, s.normal, RB_FEATURE_WITNESS);
    }
    int clusters = formClusters(&c);
    for (int i = 0; i < clusters; ++i) {
        rbManifold manifold = reduceCluster(&c, i);
        rbRoundManifold(&manifold, radiusA, radiusB);
        rbContactList_Add(list, &manifold);
    }
}
