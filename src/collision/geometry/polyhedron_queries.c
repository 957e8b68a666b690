// Support, bounds, rays, inside test and mass of polyhedral shapes: hull, polyhedron, mesh, soup.
//
// All except hulls have a tree of boxes over their triangles, which answers most queries; the
// results have the same bits as if all triangles were tried in their order.
//
// Inside test: signed crossings along a ray. If the ray touches an edge, another one is tried, and
// finally the winding number: the sum over triangles of the signed solid angle seen from the point,
// which needs no ray. A point within rounding of the surface counts as inside.
#include "base/core/hash.h"
#include "base/core/memory.h"
#include "base/math/elementary.h"
#include "collision/geometry/box_tree_queries.h"
#include "collision/geometry/polyhedron.h"

#include <float.h>

#define SURFACE_TOLERANCE (16.0 * DBL_EPSILON) // of the largest coordinate
#define ATTEMPT_MAX 3                          // rays of an inside test

// The first of a run of corners that is farthest along a direction.
static int findCorner(const rbPolyhedron* p, int first, int end, rbVec3 direction)
{
    RB_ASSERT(first < end && end <= p->indexCount);
    int best = first;
    double largest = rbDot(direction, p->vertices[p->indices[first]]);
    for (int i = first + 1; i < end; ++i) {
        double value = rbDot(direction, p->vertices[p->indices[i]]);
        if (value > largest) {
            largest = value;
            best = i;
        }
    }
    return best;
}

// The same by the tree: of faces that are equally far, the first.
static int findCornerByTree(const rbPolyhedron* p, rbVec3 direction)
{
    rbReachWalk walk;
    rbReachWalk_Start(&walk, p->tree, direction);
    int best = -1;
    int bestFace = p->faceCount;
    double largest = -INFINITY;
    const rbTriangleBlock* block;
    while ((block = rbReachWalk_Next(&walk, largest)) != NULL) {
        for (int lane = 0; lane < RB_BOX_WIDTH && block->origins[lane] >= 0; ++lane) {
            rbVec3 v[3];
            rbTriangleBlock_Get(block, lane, v);
            double value = rbMaxOf(rbMaxOf(rbDot(direction, v[0]), rbDot(direction, v[1])),
                                   rbDot(direction, v[2]));
            if (value < largest) {
                continue;
            }
            int face = p->faceOfTriangle[block->origins[lane]];
            if (value > largest || face < bestFace) {
                best = findCorner(p, p->faceStarts[face], p->faceStarts[face + 1], direction);
                bestFace = face;
                largest = rbDot(direction, p->vertices[p->indices[best]]);
            }
        }
    }
    RB_ASSERT(best >= 0);
    return best;
}

rbVec3 rbSupportOfPolyhedron(const rbGeometry* geometry, rbVec3 direction)
{
    const rbPolyhedron* p = geometry->polyhedron;
    // over corners: a vertex that no face uses is not part of the shape
    int corner = p->tree != NULL ? findCornerByTree(p, direction)
                                 : findCorner(p, 0, p->indexCount, direction);
    return p->vertices[p->indices[corner]];
}

rbBounds rbBoundsOfPolyhedron(const rbGeometry* geometry, rbTransform transform)
{
    const rbPolyhedron* p = geometry->polyhedron;
    rbMat3 m = rbMatFromQuat(transform.q);
    rbVec3 lower = {INFINITY, INFINITY, INFINITY};
    rbVec3 upper = rbNeg(lower);
    if (p->tree != NULL) {
        rbMat3 rows = rbTranspose(m);
        upper =
            rbMakeVec3(rbBoxTree_FindReach(p->tree, rows.cx), rbBoxTree_FindReach(p->tree, rows.cy),
                       rbBoxTree_FindReach(p->tree, rows.cz));
        lower = rbMakeVec3(-rbBoxTree_FindReach(p->tree, rbNeg(rows.cx)),
                           -rbBoxTree_FindReach(p->tree, rbNeg(rows.cy)),
                           -rbBoxTree_FindReach(p->tree, rbNeg(rows.cz)));
    }
    for (int i = 0; p->tree == NULL && i < p->indexCount; ++i) {
        rbVec3 v = rbMulMV(m, p->vertices[p->indices[i]]);
        lower = rbMin3(lower, v);
        upper = rbMax3(upper, v);
    }
    return (rbBounds){rbAdd(lower, transform.p), rbAdd(upper, transform.p)};
}

double rbRadiusOfPolyhedron(const rbGeometry* geometry, rbVec3 point)
{
    const rbPolyhedron* p = geometry->polyhedron;
    if (p->tree != NULL) {
        return sqrt(rbBoxTree_FindFarthest(p->tree, point));
    }
    double largest = 0.0;
    for (int i = 0; i < p->indexCount; ++i) {
        rbVec3 d = rbSub(p->vertices[p->indices[i]], point);
        largest = rbMaxOf(largest, rbLengthSquared(d));
    }
    return sqrt(largest);
}

// Distance of the origin from the segment a, b.
static double distanceToSegment(rbVec3 a, rbVec3 b)
{
    rbVec3 ab = rbSub(b, a);
    double along = -rbDot(a, ab);
    double whole = rbLengthSquared(ab);
    double s = along <= 0.0 ? 0.0 : (along >= whole ? 1.0 : along / whole);
    return rbLength(rbAddScaled(a, s, ab));
}

// Is the origin within tolerance of the triangle v with unit normal n?
static bool isOnTriangle(const rbVec3 v[3], rbVec3 n, double tolerance)
{
    if (fabs(rbDot(n, v[0])) > tolerance) {
        return false;
    }
    bool isInside = true;
    for (int k = 0; k < 3; ++k) {
        rbVec3 a = v[k];
        rbVec3 b = v[(k + 1) % 3];
        if (distanceToSegment(a, b) <= tolerance) {
            return true;
        }
        isInside = isInside && rbDot(n, rbCross(a, b)) >= 0.0;
    }
    return isInside;
}

// Half the signed solid angle of a triangle seen from the origin (van Oosterom and Strackee 1983).
static double halfSolidAngle(const rbVec3 v[3])
{
    double a = rbLength(v[0]);
    double b = rbLength(v[1]);
    double c = rbLength(v[2]);
    double volume = rbDot(v[0], rbCross(v[1], v[2]));
    double rest = a * b * c + rbDot(v[0], v[1]) * c + rbDot(v[1], v[2]) * a + rbDot(v[2], v[0]) * b;
    return rbAtan2(volume, rest);
}

static bool isInsideByWinding(const rbPolyhedron* p, rbVec3 point)
{
    double tolerance = SURFACE_TOLERANCE * rbMaxOf(p->scale, rbLargestComponent(point));
    double sum = 0.0;
    for (int t = 0; t < p->triangleCount; ++t) {
        rbVec3 v[3];
        for (int k = 0; k < 3; ++k) {
            v[k] = rbSub(p->vertices[p->triangles[t].v[k]], point);
        }
        if (isOnTriangle(v, p->normals[p->faceOfTriangle[t]], tolerance)) {
            return true;
        }
        sum += halfSolidAngle(v);
    }
    return sum > RB_PI; // the full solid angle is 4 pi, a winding number of 1/2 the threshold
}

static bool isInsidePlanes(const rbPolyhedron* p, rbVec3 point)
{
    double tolerance = SURFACE_TOLERANCE * rbMaxOf(p->scale, rbLargestComponent(point));
    for (int f = 0; f < p->faceCount; ++f) {
        if (rbDot(p->normals[f], point) > p->offsets[f] + tolerance) {
            return false;
        }
    }
    return true;
}

// A point and the nearby surface.
typedef struct Touch {
    const rbPolyhedron* polyhedron;
    rbVec3 point;     // m
    double tolerance; // m
} Touch;

static bool isOffTriangle(int triangle, const rbVec3 corners[3], void* context)
{
    const Touch* touch = context;
    const rbPolyhedron* p = touch->polyhedron;
    RB_ASSERT(triangle >= 0 && triangle < p->triangleCount);
    rbVec3 v[3] = {rbSub(corners[0], touch->point), rbSub(corners[1], touch->point),
                   rbSub(corners[2], touch->point)};
    return !isOnTriangle(v, p->normals[p->faceOfTriangle[triangle]], touch->tolerance);
}

// A direction that leaves the bounding box of the shape, roughly along the shortest path. No
// coordinate is zero and no two are equal: meshes have many edges in such planes. Further attempts
// use other angles.
static rbVec3 chooseWayOut(const rbPolyhedron* p, rbVec3 point, int attempt)
{
    static const double tilts[ATTEMPT_MAX][2] = {
        {0.2137, 0.1289}, {0.3571, -0.2713}, {-0.1733, 0.4391}};
    RB_ASSERT(attempt >= 0 && attempt < ATTEMPT_MAX);
    const double below[3] = {point.x - p->lower.x, point.y - p->lower.y, point.z - p->lower.z};
    const double above[3] = {p->upper.x - point.x, p->upper.y - point.y, p->upper.z - point.z};
    int axis = 0;
    double shortest = INFINITY;
    double d[3];
    for (int i = 0; i < 3; ++i) {
        double way = rbMinOf(below[i], above[i]);
        axis = way < shortest ? i : axis;
        shortest = rbMinOf(way, shortest);
        d[i] = below[i] < above[i] ? -1.0 : 1.0;
    }
    d[(axis + 1) % 3] *= tilts[attempt][0];
    d[(axis + 2) % 3] *= tilts[attempt][1];
    return rbNormalize(rbMakeVec3(d[0], d[1], d[2]));
}

static bool isInsideByCrossings(const rbPolyhedron* p, rbVec3 point)
{
    Touch touch = {p, point, SURFACE_TOLERANCE * rbMaxOf(p->scale, rbLargestComponent(point))};
    double reach = 2.0 * touch.tolerance;
    rbBounds about = rbMakeBounds(point, rbMakeVec3(reach, reach, reach));
    if (!rbBoxTree_VisitBounds(p->tree, &about, isOffTriangle, &touch)) {
        return true;
    }
    for (int attempt = 0; attempt < ATTEMPT_MAX; ++attempt) {
        rbRay ray = {point, chooseWayOut(p, point, attempt), INFINITY};
        int crossings;
        if (rbBoxTree_CountCrossings(p->tree, &ray, &crossings)) {
            return crossings > 0;
        }
    }
    return isInsideByWinding(p, point);
}

bool rbPolyhedronContains(const rbGeometry* geometry, rbVec3 point)
{
    const rbPolyhedron* p = geometry->polyhedron;
    RB_ASSERT(p != NULL);
    if (!geometry->isSolid) {
        return false;
    }
    // outside the box?
    double slack = SURFACE_TOLERANCE * p->scale;
    rbVec3 beyond = rbMax3(rbSub(p->lower, point), rbSub(point, p->upper));
    if (beyond.x > slack || beyond.y > slack || beyond.z > slack) {
        return false;
    }
    return p->tree == NULL ? isInsidePlanes(p, point) : isInsideByCrossings(p, point);
}

// All triangles of a hull.
static bool castAtAll(const rbPolyhedron* p, const rbRay* ray, rbRayWish wish, rbTreeHit* hit)
{
    rbRayView view = rbMakeRayView(ray);
    *hit = (rbTreeHit){ray->tMax, -1, -1};
    for (int t = 0; t < p->triangleCount; ++t) {
        const int* v = p->triangles[t].v;
        rbVec3 corners[3] = {p->vertices[v[0]], p->vertices[v[1]], p->vertices[v[2]]};
        rbVec3 normal = p->normals[p->faceOfTriangle[t]];
        if (wish == RB_RAY_FRONT && !(rbDot(normal, ray->direction) < 0.0)) {
            continue;
        }
        double s = rbRayView_Meet(&view, corners, normal);
        if (s >= 0.0 && (s < hit->t || (hit->triangle < 0 && s <= hit->t))) {
            *hit = (rbTreeHit){s, t, p->faceOfTriangle[t]};
        }
    }
    return hit->triangle >= 0;
}

bool rbPolyhedron_CastRay(const rbGeometry* geometry, const rbRay* ray, rbRayWish wish,
                          rbRayHit* hit)
{
    const rbPolyhedron* p = geometry->polyhedron;
    RB_ASSERT(p != NULL && ray != NULL && hit != NULL);
    rbTreeHit found;
    bool isHit = p->tree != NULL ? rbBoxTree_CastRay(p->tree, p->normals, ray, wish, &found)
                                 : castAtAll(p, ray, wish, &found);
    if (!isHit) {
        return false;
    }
    RB_ASSERT(found.t >= 0.0 && found.t <= ray->tMax);
    hit->t = found.t;
    hit->normal = p->normals[found.face];
    hit->feature = found.face;
    return true;
}

bool rbCastRayAtPolyhedron(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit)
{
    return rbPolyhedron_CastRay(geometry, ray, RB_RAY_FIRST, hit);
}

void rbTriangulatePolyhedron(const rbGeometry* geometry, const rbTriangulation* settings,
                             rbTriangleSink* sink)
{
    (void)settings;
    const rbPolyhedron* p = geometry->polyhedron;
    if (rbTriangleSink_Refuses(sink, (double)p->triangleCount)) {
        return;
    }
    int first = sink->vertices.count;
    for (int i = 0; i < p->vertexCount; ++i) {
        rbTriangleSink_AddVertex(sink, p->vertices[i]);
    }
    for (int t = 0; t < p->triangleCount; ++t) {
        const int* v = p->triangles[t].v;
        rbTriangleSink_AddTriangle(sink, first + v[0], first + v[1], first + v[2]);
    }
}

rbStatus rbMassOfPolyhedron(const rbGeometry* geometry, double density,
                            rbMassProperties* properties, rbError* error)
{
    if (!geometry->isSolid) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "the %s encloses no volume (it is open, not manifold or a soup) and has "
                           "no mass; close it or state the mass of the body",
                           rbShapeType_Name(geometry->type));
    }
    rbMeshDef def = rbPolyhedron_GetDef(geometry->polyhedron);
    *properties = rbComputeMeshMass(&def);
    RB_ASSERT(properties->volume > 0.0);
    rbSym3 i = properties->inertia;
    properties->mass = density * properties->volume;
    properties->inertia = (rbSym3){density * i.xx, density * i.yy, density * i.zz,
                                   density * i.xy, density * i.xz, density * i.yz};
    return RB_STATUS_OK;
}

uint64_t rbHashPolyhedron(const rbGeometry* geometry, uint64_t hash)
{
    const rbPolyhedron* p = geometry->polyhedron;
    uint64_t h = hash;
    for (int i = 0; i < p->vertexCount; ++i) {
        h = rbHashVec3(h, p->vertices[i]);
    }
    // int has 32 bits and two's complement everywhere we build; bytes would depend on their order
    for (int i = 0; i < p->indexCount; ++i) {
        double index = (double)p->indices[i];
        h = rbHashDoubles(h, &index, 1);
    }
    for (int f = 0; f < p->faceCount; ++f) {
        double size = (double)p->faceSizes[f];
        h = rbHashDoubles(h, &size, 1);
    }
    return h;
}

void rbReleasePolyhedron(rbGeometry* geometry)
{
    rbDestroyBrep(geometry->polyhedron);
    geometry->polyhedron = NULL;
}
