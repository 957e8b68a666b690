// Contacts of a mesh and a convex shape: the nearby triangles, grouped by direction.
//
// Bodies that overlap or nearly touch are examined a little apart: moved by their depth and GAP of
// the size along the normal, where the distance and direction of a triangle are well defined; the
// displacement is subtracted from the distances at the end.
//
// A face of the convex shape that faces along the normal is clipped by all triangles parallel to
// it. Other triangles are measured. One of these counts if its nearest point is nearest on its
// neighbors as well, so that edges between the triangles of a flat floor do not produce contacts.
// Directions within a small angle form one manifold.
#include "collision/narrowphase/manifold.h"
#include "collision/narrowphase/mesh_convex.h"

#include <math.h>
#include <string.h>

// Triangles examined; if more are within reach, only the nearest.
#define NEAR_MAX 96
#define NARROWINGS 4
// Fraction of the size: places still at most this far apart when overlapping bodies are moved to
// touch count as contacts.
#define BEYOND 0.005
// Flush triangles recorded, to determine whether others are behind them.
#define FLUSH_MAX 256
// Cosine of 3 degrees: faces that are flush.
#define FLUSH_COSINE 0.9986
// Fraction of the size of the pair.
#define GAP 1e-5
// Cosine of 0.08 degrees: directions that count as one. A body rolling over facets must contact the
// next one before it penetrates it.
#define SAME_DIRECTION 0.999999
// Points closer to each other than this fraction of the size are merged.
#define SAME_POINT 1e-8
// Bodies that overlapped before are moved by this multiple of their depth then and by this fraction
// of the size, and the old result is reused if the nearest normal has turned by less than 18
// degrees.
#define AGAIN_DEPTHS 1.5
#define AGAIN_SIZE 5e-3
#define AGAIN_COSINE 0.95
// Candidates of one manifold; if there are more, they are reduced along the way.
#define POINTS_MAX (2 * RB_FEATURE_POINTS_MAX)

typedef struct Region {
    const rbMeshConvex* pair;
    double shapeRadius; // m, of the core, without the rounding radius
    rbVec3 out;         // unit, direction in which the bodies were moved apart
    double moved;       // m, distance by which they were moved
    double threshold;   // m
    double size;        // m, of the pair
    rbMeshNear near[NEAR_MAX];
    bool isUsed[NEAR_MAX];
    int nearCount;
    rbContactFeature face; // of the convex shape along the normal of the separation
    int flush[FLUSH_MAX];  // triangles that clipped it
    double flushDistances[FLUSH_MAX];
    int flushCount;
    rbManifold* manifold; // the manifold that receives the points
    rbManifoldPoint points[POINTS_MAX];
    int count;
} Region;

// Is a point on a triangle?
static bool isOn(const Region* region, rbVec3 point, int triangle)
{
    const rbGeometry* mesh = region->pair->mesh;
    double tolerance = SAME_POINT * region->size;
    rbVec3 corners[3];
    rbGetMeshTriangle(mesh, triangle, corners);
    rbVec3 n = mesh->polyhedron->normals[rbGetMeshFace(mesh, triangle)];
    return fabs(rbDot(n, rbSub(point, corners[0]))) <= tolerance &&
           rbClosestOfPointTriangle(point, corners).squared <= tolerance * tolerance;
}

// Is another triangle that contains the nearest point of this one nearer?
static bool isShadowed(const Region* region, int index)
{
    const rbMeshNear* near = &region->near[index];
    double limit = near->distance - 1e-3 * SAME_POINT * region->size;
    for (int i = 0; i < region->nearCount; ++i) {
        if (region->near[i].distance < limit && isOn(region, near->a, region->near[i].triangle)) {
            return true;
        }
    }
    for (int i = 0; i < region->flushCount; ++i) {
        if (region->flushDistances[i] + region->shapeRadius < limit &&
            isOn(region, near->a, region->flush[i])) {
            return true;
        }
    }
    return false;
}

static rbVec3 directionOf(const Region* region, const rbMeshNear* near)
{
    if (!near->meets) {
        return near->normal;
    }
    // after the displacement they still intersect: use the triangle itself
    rbVec3 n =
        region->pair->mesh->polyhedron->normals[rbGetMeshFace(region->pair->mesh, near->triangle)];
    return region->pair->mesh->isSolid || rbDot(n, region->out) >= 0.0 ? n : rbNeg(n);
}

int rbNameMeshEdge(int v0, int v1)
{
    unsigned low = (unsigned)(v0 < v1 ? v0 : v1), high = (unsigned)(v0 < v1 ? v1 : v0);
    return (int)((low * 0x9E3779B1u ^ high * 0x85EBCA77u) & 0x7FFFFFFFu);
}

void rbMakeTriangleFeature(const rbGeometry* mesh, int origin, const rbVec3 corners[3],
                           rbVec3 normal, rbContactFeature* feature)
{
    const rbPolyhedron* p = mesh->polyhedron;
    const int* v = p->triangles[origin].v;
    bool isBack = rbDot(rbCrossOfCorners(corners), normal) < 0.0;
    feature->count = 3;
    feature->faceId = p->faceOfTriangle[origin];
    feature->normal = normal;
    for (int k = 0; k < 3; ++k) {
        int here = isBack ? 2 - k : k, next = isBack ? (4 - k) % 3 : (k + 1) % 3;
        feature->corners[k] = corners[here];
        feature->vertexIds[k] = v[here];
        feature->edgeIds[k] = rbNameMeshEdge(v[here], v[next]);
    }
}

// A triangle of the mesh as a feature that faces a direction.
static void faceTriangle(const rbGeometry* mesh, int triangle, rbVec3 direction,
                         rbContactFeature* feature)
{
    rbVec3 corners[3];
    rbGetMeshTriangle(mesh, triangle, corners);
    rbVec3 n = mesh->polyhedron->normals[rbGetMeshFace(mesh, triangle)];
    n = rbDot(n, direction) < 0.0 ? rbNeg(n) : n;
    rbMakeTriangleFeature(mesh, rbGetMeshOrigin(mesh, triangle), corners, n, feature);
}

// The relevant points of the region become those of the manifold. Corners of features come first,
// because the first of equals is selected: crossings of a face with the edges of a floor are then
// not selected.
static void reduce(Region* region, rbManifold* manifold)
{
    rbManifoldPoint sorted[POINTS_MAX];
    int count = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < region->count; ++i) {
            bool isCrossing = region->points[i].featureId >> 30 == RB_MEETING_CROSSING;
            if (isCrossing == (pass == 1)) {
                sorted[count++] = region->points[i];
            }
        }
    }
    RB_ASSERT(count == region->count);
    region->count = count > 0 ? rbReduceRegion(sorted, count, 0.0, manifold) : 0;
    memcpy(region->points, sorted, (size_t)region->count * sizeof *sorted);
}

// Adds a point of the moved shapes without their rounding radii, if it counts.
static void addPoint(Region* region, rbManifold* manifold, const rbManifoldPoint* found)
{
    const rbMeshConvex* pair = region->pair;
    rbVec3 n = manifold->normal;
    rbManifoldPoint point = *found;
    point.distance -= pair->radiusMesh + pair->radiusConvex + region->moved * rbDot(region->out, n);
    point.pointA = rbAddScaled(point.pointA, pair->radiusMesh, n);
    point.pointB = rbAddScaled(point.pointA, point.distance, n);
    if (!(point.distance <= region->threshold)) {
        return;
    }
    for (int i = 0; i < region->count; ++i) {
        rbManifoldPoint* other = &region->points[i];
        if (rbDistance(other->pointA, point.pointA) <= SAME_POINT * region->size) {
            *other = other->featureId >> 30 == RB_MEETING_CROSSING ? point : *other;
            return;
        }
    }
    if (region->count == POINTS_MAX) {
        reduce(region, manifold);
    }
    RB_ASSERT(region->count < POINTS_MAX);
    region->points[region->count++] = point;
}

// Clips the face of the convex shape by a triangle parallel to it. True if they share a region.
static bool clipFlush(void* context, int triangle)
{
    Region* region = context;
    const rbGeometry* mesh = region->pair->mesh;
    rbVec3 n = region->out;
    double cosine = rbDot(mesh->polyhedron->normals[rbGetMeshFace(mesh, triangle)], n);
    if (region->face.count < 2 || (mesh->isSolid ? cosine : fabs(cosine)) < FLUSH_COSINE) {
        return false;
    }
    rbSeparation s = {.normal = n};
    rbContactFeature features[2];
    faceTriangle(mesh, triangle, n, &features[0]);
    features[1] = region->face;
    rbFeaturePoints found;
    rbMeetFeatures(features, &s, &found);
    double least = INFINITY;
    for (int i = 0; i < found.count; ++i) {
        least = fmin(least, found.points[i].distance);
    }
    // triangles behind the face are not contacts of it
    if (found.count == 0 || least < -SAME_POINT * region->size) {
        return false;
    }
    for (int i = 0; i < found.count; ++i) {
        addPoint(region, region->manifold, &found.points[i]);
    }
    if (region->flushCount < FLUSH_MAX) {
        region->flush[region->flushCount] = triangle;
        region->flushDistances[region->flushCount++] = least;
    }
    return true;
}

// Triangles within reach, the bodies being moved. isAgain: their separation is unknown.
static void collectNear(Region* region, const rbMeshQuery* query, bool isAgain)
{
    const rbMeshConvex* pair = region->pair;
    rbMeshQuery wide = *query;
    rbMeshList list = {region->near, NEAR_MAX, 0, clipFlush, region};
    double touching = region->shapeRadius + pair->radiusMesh + pair->radiusConvex +
                      fmax(region->threshold, 0.0) + 2.0 * GAP * region->size;
    double beyond = isAgain ? region->moved : fmin(region->moved, BEYOND * region->size);
    for (int i = 0; i < NARROWINGS; ++i) {
        wide.limit = touching + beyond;
        region->count = region->flushCount = 0;
        rbCollectMesh(&wide, &list);
        if (list.count <= NEAR_MAX) {
            break;
        }
        beyond *= 0.25;
    }
    RB_ASSERT(region->flushCount <= FLUSH_MAX);
    region->nearCount = list.count < NEAR_MAX ? list.count : NEAR_MAX;
}

// The points of one triangle.
static void addTriangle(Region* region, rbManifold* manifold, const rbMeshNear* near)
{
    const rbMeshConvex* pair = region->pair;
    rbVec3 n = manifold->normal;
    rbTransform moved = pair->transform;
    moved.p = rbAddScaled(moved.p, region->moved, region->out);
    rbSeparation s = {.normal = n,
                      .pointA = near->a,
                      .pointB = rbAddScaled(near->b, -region->shapeRadius, n),
                      .distance = rbDot(n, rbSub(near->b, near->a)) - region->shapeRadius};
    rbContactFeature features[2];
    faceTriangle(pair->mesh, near->triangle, n, &features[0]);
    rbFindFeatureOfB(pair->convex, moved, n, s.pointB, &features[1]);
    rbFeaturePoints found;
    rbMeetFeatures(features, &s, &found);
    double lowest = INFINITY;
    for (int i = 0; i < found.count; ++i) {
        // the triangle may rise steeply: points high above its nearest point are not contacts
        if (found.points[i].distance <= s.distance + BEYOND * region->size) {
            addPoint(region, manifold, &found.points[i]);
            lowest = fmin(lowest, found.points[i].distance);
        }
    }
    if (lowest > s.distance + SAME_POINT * region->size) {
        rbManifoldPoint witness = {s.pointA, s.pointB, s.distance, RB_FEATURE_WITNESS};
        addPoint(region, manifold, &witness);
    }
}

// Completes the manifold of one direction with the triangles that were measured.
static void buildManifold(Region* region, rbManifold* manifold)
{
    for (int i = 0; i < region->nearCount; ++i) {
        if (!region->isUsed[i] &&
            rbDot(directionOf(region, &region->near[i]), manifold->normal) >= SAME_DIRECTION) {
            region->isUsed[i] = true;
            addTriangle(region, manifold, &region->near[i]);
        }
    }
    reduce(region, manifold);
}

// The nearest triangle that is in no manifold yet, -1: none.
static int findNext(const Region* region)
{
    int best = -1;
    for (int i = 0; i < region->nearCount; ++i) {
        if (!region->isUsed[i] &&
            (best < 0 || region->near[i].distance < region->near[best].distance)) {
            best = i;
        }
    }
    return best;
}

// Moves the bodies apart and collects the nearby triangles. point: of the convex shape, rounded,
// where it is nearest along out.
static void fillRegion(Region* region, rbVec3 point, bool isAgain)
{
    const rbMeshConvex* pair = region->pair;
    rbConvex core = rbConvex_Of(pair->convex, pair->radiusConvex);
    region->shapeRadius = core.radius - pair->radiusConvex;
    rbVec3 n = region->out;
    rbTransform moved = pair->transform;
    moved.p = rbAddScaled(moved.p, region->moved, n);
    rbMeshQuery query = rbMakeMeshQuery(pair->mesh, &core, moved);
    query.hint = n;
    point = rbAddScaled(point, region->moved + pair->radiusConvex, n);
    rbFindFeatureOfB(pair->convex, moved, n, point, &region->face);
    collectNear(region, &query, isAgain);
    for (int i = 0; i < region->nearCount; ++i) {
        region->isUsed[i] = isShadowed(region, i);
    }
}

// A region about the normal of a manifold; moved: what is left to set.
static void beginRegion(Region* region, const rbMeshConvex* pair, rbManifold* manifold,
                        double threshold)
{
    region->pair = pair;
    region->manifold = manifold;
    region->size = fmin(pair->convex->radius, pair->mesh->polyhedron->tree->radius);
    region->out = manifold->normal;
    region->threshold = threshold;
}

// The witness is a point of the manifold if it is nearer than all of them: a rim touches between
// the corners that represent it.
static void addWitness(rbManifold* manifold, const rbManifoldPoint* witness, double size)
{
    int highest = 0;
    for (int i = 0; i < manifold->count; ++i) {
        if (manifold->points[i].distance <= witness->distance + SAME_POINT * size) {
            return;
        }
        highest = manifold->points[i].distance > manifold->points[highest].distance ? i : highest;
    }
    bool isFull = manifold->count == RB_MANIFOLD_POINTS_MAX;
    manifold->points[isFull ? highest : manifold->count++] = *witness;
}

// Appends all manifolds of a region, the first one about the direction in which the bodies were
// moved; witness: the point used if there is no other, NULL: none.
static void buildManifolds(Region* region, const rbManifoldPoint* witness, rbContactList* list)
{
    rbManifold* manifold = region->manifold;
    buildManifold(region, manifold);
    if (witness != NULL && (manifold->count == 0 || witness->distance >= 0.0)) {
        addWitness(manifold, witness, region->size);
    }
    for (int next = findNext(region);; next = findNext(region)) {
        if (manifold->count > 0) {
            rbContactList_Add(list, manifold);
        }
        if (next < 0) {
            return;
        }
        manifold->normal = directionOf(region, &region->near[next]);
        region->count = 0;
        buildManifold(region, manifold);
        region->isUsed[next] = true;
    }
}

void rbFindMeshConvexContacts(const rbMeshConvex* pair, const rbSeparation* separation,
                              double threshold, rbContactList* list)
{
    RB_ASSERT(separation->distance <= threshold && isfinite(threshold));
    RB_ASSERT(fabs(rbLengthSquared(separation->normal) - 1.0) < 1e-9);
    rbManifold manifold = {.normal = separation->normal};
    Region region;
    beginRegion(&region, pair, &manifold, threshold);
    region.moved = fmax(-separation->distance, 0.0) + GAP * region.size;
    fillRegion(&region, separation->pointB, false);
    rbManifoldPoint witness = {
        separation->pointA,
        rbAddScaled(separation->pointA, separation->distance, separation->normal),
        separation->distance, RB_FEATURE_WITNESS};
    if (pair->cache != NULL) {
        pair->cache->directions[0] = separation->normal;
        pair->cache->directions[1].x = fmax(-separation->distance, 0.0);
    }
    buildManifolds(&region, &witness, list);
}

// Distance and direction of the nearest triangle, with the bodies moved. False: not separated.
static bool findNearestOf(const Region* region, double* distance, rbVec3* normal)
{
    *distance = INFINITY;
    for (int i = 0; i < region->nearCount; ++i) {
        const rbMeshNear* near = &region->near[i];
        if (near->meets) {
            return false;
        }
        if (near->distance < *distance) {
            *distance = near->distance;
            *normal = near->normal;
        }
    }
    for (int i = 0; i < region->flushCount; ++i) {
        if (region->flushDistances[i] < *distance) {
            *distance = region->flushDistances[i];
            *normal = region->out;
        }
    }
    return true;
}

bool rbFindMeshConvexAgain(const rbMeshConvex* pair, double threshold, rbContactList* list)
{
    rbGjkCache* cache = pair->cache;
    rbShapeType type = pair->convex->type;
    if (cache == NULL || !(cache->directions[1].x > 0.0) ||
        (type != RB_SHAPE_BOX && type != RB_SHAPE_HULL)) {
        return false;
    }
    double depth = cache->directions[1].x;
    cache->directions[1].x = 0.0;
    rbManifold manifold = {.normal = cache->directions[0]};
    Region region;
    beginRegion(&region, pair, &manifold, threshold);
    region.moved = AGAIN_DEPTHS * depth + AGAIN_SIZE * region.size;
    fillRegion(&region, RB_VEC3_ZERO, true);
    double distance;
    rbVec3 normal;
    if (region.nearCount == NEAR_MAX || !findNearestOf(&region, &distance, &normal)) {
        return false;
    }
    if (!(distance < INFINITY)) {
        return true;
    }
    double cosine = rbDot(normal, region.out);
    double now = region.moved * cosine - distance + pair->radiusMesh + pair->radiusConvex;
    if (cosine < AGAIN_COSINE || !(now > 0.0)) {
        return false;
    }
    cache->directions[0] = normal;
    cache->directions[1].x = now;
    buildManifolds(&region, NULL, list);
    return true;
}
