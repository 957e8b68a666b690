// Shapes with faces: hull, polyhedron, mesh and soup. Their boundary representation, queries and
// rows.
//
// All except hulls have a tree of boxes over their triangles, which answers most queries; the
// results have the same bits as if all triangles were tried in their order.
//
// Inside test: signed crossings along a ray. If the ray touches an edge, another one is tried, and
// finally the winding number: the sum over triangles of the signed solid angle seen from the point,
// which needs no ray. A point within rounding of the surface counts as inside.
#include "collision/geometry/polyhedron.h"

#include "base/core/float_mode.h"
#include "base/core/hash.h"
#include "base/core/memory.h"
#include "base/math/elementary.h"
#include "base/math/matrix3.h"
#include "collision/geometry/half_edge.h"
#include "collision/geometry/polygon.h"

#include <float.h>
#include <string.h>

// --------------------------------------------------------------------------------- construction

rbVec3 rbComputeNewell(const rbVec3* vertices, const int* loop, int count)
{
    RB_ASSERT(count >= 3);
    rbVec3 origin = vertices[loop[0]];
    rbVec3 sum = RB_VEC3_ZERO;
    rbVec3 a = rbSub(vertices[loop[1]], origin);
    for (int i = 2; i < count; ++i) {
        rbVec3 b = rbSub(vertices[loop[i]], origin);
        sum = rbAdd(sum, rbCross(a, b));
        a = b;
    }
    return sum;
}

rbMeshDef rbPolyhedron_GetDef(const rbPolyhedron* polyhedron)
{
    RB_ASSERT(polyhedron != NULL);
    return (rbMeshDef){polyhedron->vertices, polyhedron->vertexCount, polyhedron->faceSizes,
                       polyhedron->indices, polyhedron->faceCount};
}

static void* copyArray(const void* source, int count, size_t size)
{
    void* copy = rbAlloc((size_t)count * size);
    memcpy(copy, source, (size_t)count * size);
    return copy;
}

// Drops the coordinate along which the normal is longest, keeping the orientation.
static void projectLoop(const rbPolyhedron* p, int face, double (*points)[2])
{
    rbVec3 n = p->normals[face];
    rbVec3 size = rbAbs3(n);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    bool isAhead = rbGetComponent(n, axis) > 0.0;
    const int* loop = p->indices + p->faceStarts[face];
    rbVec3 origin = p->vertices[loop[0]];
    for (int i = 0; i < p->faceSizes[face]; ++i) {
        rbVec3 v = rbSub(p->vertices[loop[i]], origin);
        const double kept[4] = {v.y, v.z, v.x, v.y};
        points[i][0] = kept[axis];
        points[i][1] = isAhead ? kept[axis + 1] : -kept[axis + 1];
    }
}

bool rbPolyhedron_IsFaceCrossing(const rbPolyhedron* polyhedron, int face)
{
    RB_ASSERT(face >= 0 && face < polyhedron->faceCount);
    int count = polyhedron->faceSizes[face];
    size_t size = (size_t)count * sizeof(double[2]);
    double(*points)[2] = rbAlloc(size);
    projectLoop(polyhedron, face, points);
    int sides[2];
    bool isCrossing = rbFindPolygonCrossing((const double(*)[2])points, count, sides);
    rbFree(points, size);
    return isCrossing;
}

static void cutIntoTriangles(rbPolyhedron* p)
{
    int largest = 3;
    for (int f = 0; f < p->faceCount; ++f) {
        largest = p->faceSizes[f] > largest ? p->faceSizes[f] : largest;
    }
    p->triangleCount = p->indexCount - 2 * p->faceCount;
    RB_ASSERT(p->triangleCount > 0);
    p->triangles = rbAlloc((size_t)p->triangleCount * sizeof(rbIndex3));
    p->faceOfTriangle = rbAlloc((size_t)p->triangleCount * sizeof(int));
    size_t pointBytes = (size_t)largest * sizeof(double[2]);
    size_t scratchBytes = (size_t)largest * sizeof(int[3]);
    double(*points)[2] = rbAlloc(pointBytes);
    int(*scratch)[3] = rbAlloc(scratchBytes);
    int next = 0;
    for (int f = 0; f < p->faceCount; ++f) {
        int size = p->faceSizes[f];
        const int* loop = p->indices + p->faceStarts[f];
        rbIndex3* triangles = p->triangles + next;
        triangles[0] = (rbIndex3){{0, 1, 2}};
        if (size > 3) {
            projectLoop(p, f, points);
            rbClipEars((const double(*)[2])points, size, scratch, triangles);
        }
        for (int i = 0; i < size - 2; ++i) {
            for (int k = 0; k < 3; ++k) {
                triangles[i].v[k] = loop[triangles[i].v[k]];
            }
            p->faceOfTriangle[next + i] = f;
        }
        next += size - 2;
    }
    RB_ASSERT(next == p->triangleCount);
    rbFree(points, pointBytes);
    rbFree(scratch, scratchBytes);
}

static void computePlanes(rbPolyhedron* p)
{
    p->normals = rbAlloc((size_t)p->faceCount * sizeof(rbVec3));
    p->offsets = rbAlloc((size_t)p->faceCount * sizeof(double));
    for (int f = 0; f < p->faceCount; ++f) {
        const int* loop = p->indices + p->faceStarts[f];
        rbVec3 n = rbNormalize(rbComputeNewell(p->vertices, loop, p->faceSizes[f]));
        // the mean of the corners is nearest to all of them; taken relative to the first one
        rbVec3 first = p->vertices[loop[0]];
        double sum = 0.0;
        for (int i = 1; i < p->faceSizes[f]; ++i) {
            sum += rbDot(n, rbSub(p->vertices[loop[i]], first));
        }
        p->normals[f] = n;
        p->offsets[f] = rbDot(n, first) + sum / (double)p->faceSizes[f];
    }
}

// Number of edges, or -1 if one belongs to more than two faces or runs the same way in both.
static int countEdges(const rbHalfEdge* halfEdges, int halfEdgeCount)
{
    int count = 0, end = 0;
    for (int i = 0; i < halfEdgeCount; i = end) {
        end = rbGetEdgeEnd(halfEdges, halfEdgeCount, i);
        bool hasTwo = end - i == 2;
        if (end - i > 2 || (hasTwo && halfEdges[i].isForward == halfEdges[i + 1].isForward)) {
            return -1;
        }
        ++count;
    }
    return count;
}

// Omits the edges if the faces are not manifold. A manifold mesh of polygons may become
// non-manifold when it is triangulated: a diagonal can coincide with an existing edge.
static void computeEdges(rbPolyhedron* p)
{
    rbMeshDef def = rbPolyhedron_GetDef(p);
    rbHalfEdge* halfEdges = rbSortHalfEdges(&def, p->indexCount);
    int count = countEdges(halfEdges, p->indexCount);
    if (count < 0) {
        rbFree(halfEdges, (size_t)p->indexCount * sizeof(rbHalfEdge));
        return;
    }
    p->edgeCount = count;
    p->edges = rbAlloc((size_t)count * sizeof(rbEdge));
    p->edgeOfCorner = rbAlloc((size_t)p->indexCount * sizeof(int));
    p->vertexEdgeStarts = rbAllocZero((size_t)p->vertexCount + 1, sizeof(int));
    p->vertexEdges = rbAlloc(2 * (size_t)count * sizeof(int));
    int edge = 0;
    for (int i = 0; i < p->indexCount; ++edge) {
        int end = rbGetEdgeEnd(halfEdges, p->indexCount, i);
        const rbHalfEdge* h = &halfEdges[i];
        rbEdge made = {h->isForward ? h->low : h->high, h->isForward ? h->high : h->low, h->face,
                       end - i == 2 ? h[1].face : -1};
        p->edges[edge] = made;
        ++p->vertexEdgeStarts[h->low + 1];
        ++p->vertexEdgeStarts[h->high + 1];
        for (; i < end; ++i) {
            p->edgeOfCorner[halfEdges[i].corner] = edge;
        }
    }
    rbFree(halfEdges, (size_t)p->indexCount * sizeof(rbHalfEdge));
    for (int v = 0; v < p->vertexCount; ++v) {
        p->vertexEdgeStarts[v + 1] += p->vertexEdgeStarts[v];
    }
    // filled from the back, so that the starts end at their initial values
    int* cursor = copyArray(p->vertexEdgeStarts + 1, p->vertexCount, sizeof(int));
    for (int e = count - 1; e >= 0; --e) {
        p->vertexEdges[--cursor[p->edges[e].v0]] = e;
        p->vertexEdges[--cursor[p->edges[e].v1]] = e;
    }
    rbFree(cursor, (size_t)p->vertexCount * sizeof(int));
}

// NOLINTNEXTLINE(misc-no-recursion): once, with triangles.
rbPolyhedron* rbCreateBrep(const rbMeshDef* def, bool wantIncidence, bool trianglesOnly)
{
    RB_ASSERT(def->vertexCount > 0 && def->faceCount > 0);
    rbPolyhedron* p = rbAllocZero(1, sizeof *p);
    p->vertexCount = def->vertexCount;
    p->faceCount = def->faceCount;
    p->indexCount = (int)rbCountCorners(def);
    p->vertices = copyArray(def->vertices, p->vertexCount, sizeof(rbVec3));
    p->indices = copyArray(def->indices, p->indexCount, sizeof(int));
    p->faceSizes = rbAlloc((size_t)p->faceCount * sizeof(int));
    p->faceStarts = rbAllocZero((size_t)p->faceCount + 1, sizeof(int));
    for (int f = 0; f < p->faceCount; ++f) {
        p->faceSizes[f] = rbGetFaceSize(def, f);
        RB_ASSERT(p->faceSizes[f] >= 3);
        p->faceStarts[f + 1] = p->faceStarts[f] + p->faceSizes[f];
    }
    RB_ASSERT(p->faceStarts[p->faceCount] == p->indexCount);
    computePlanes(p);
    rbBounds bounds = rbBoundPoints(p->vertices, p->indices, p->indexCount);
    p->lower = bounds.lower;
    p->upper = bounds.upper;
    p->scale = rbMaxOf(rbLargestComponent(p->lower), rbLargestComponent(p->upper));
    cutIntoTriangles(p);
    if (trianglesOnly && p->triangleCount != p->faceCount) {
        // every triangle becomes a face
        rbMeshDef cut = {p->vertices, p->vertexCount, NULL, p->triangles[0].v, p->triangleCount};
        rbPolyhedron* triangles = rbCreateBrep(&cut, wantIncidence, true);
        rbDestroyBrep(p);
        return triangles;
    }
    if (wantIncidence) {
        computeEdges(p);
    }
    return p;
}

void rbDestroyBrep(rbPolyhedron* p)
{
    if (p == NULL) {
        return;
    }
    size_t faces = (size_t)p->faceCount, corners = (size_t)p->indexCount;
    rbFree(p->vertices, (size_t)p->vertexCount * sizeof(rbVec3));
    rbFree(p->faceSizes, faces * sizeof(int));
    rbFree(p->indices, corners * sizeof(int));
    rbFree(p->faceStarts, (faces + 1) * sizeof(int));
    rbFree(p->normals, faces * sizeof(rbVec3));
    rbFree(p->offsets, faces * sizeof(double));
    rbFree(p->edges, (size_t)p->edgeCount * sizeof(rbEdge));
    rbFree(p->edgeOfCorner, corners * sizeof(int));
    rbFree(p->vertexEdgeStarts, ((size_t)p->vertexCount + 1) * sizeof(int));
    rbFree(p->vertexEdges, 2 * (size_t)p->edgeCount * sizeof(int));
    rbFree(p->triangles, (size_t)p->triangleCount * sizeof(rbIndex3));
    rbFree(p->faceOfTriangle, (size_t)p->triangleCount * sizeof(int));
    rbDestroySupportTable(p->supports);
    rbDestroyBoxTree(p->tree);
    rbFree(p->partVertices, (size_t)p->partCount * sizeof(int));
    rbFree(p, sizeof *p);
}

// -------------------------------------------------------------------------------------- queries

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

rbVec3 rbPolyhedron_FindFarthest(const rbPolyhedron* p, rbVec3 direction, int* face)
{
    rbReachWalk walk;
    rbReachWalk_Start(&walk, p->tree, direction);
    int best = -1;
    *face = p->faceCount;
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
            int other = p->faceOfTriangle[block->origins[lane]];
            if (value > largest || other < *face) {
                best = findCorner(p, p->faceStarts[other], p->faceStarts[other + 1], direction);
                *face = other;
                largest = rbDot(direction, p->vertices[p->indices[best]]);
            }
        }
    }
    RB_ASSERT(best >= 0);
    return p->vertices[p->indices[best]];
}

static rbVec3 supportOfPolyhedron(const rbGeometry* geometry, rbVec3 direction)
{
    const rbPolyhedron* p = geometry->polyhedron;
    // over corners: a vertex that no face uses is not part of the shape
    int face;
    return p->tree != NULL ? rbPolyhedron_FindFarthest(p, direction, &face)
                           : p->vertices[p->indices[findCorner(p, 0, p->indexCount, direction)]];
}

static rbBounds boundsOfPolyhedron(const rbGeometry* geometry, rbTransform transform)
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

static double radiusOfPolyhedron(const rbGeometry* geometry, rbVec3 point)
{
    const rbPolyhedron* p = geometry->polyhedron;
    double largest = 0.0;
    for (int i = 0; i < p->indexCount; ++i) {
        largest = rbMaxOf(largest, rbLengthSquared(rbSub(p->vertices[p->indices[i]], point)));
    }
    return sqrt(largest);
}

// Of a point that is not on the surface.
static bool isInsideByWinding(const rbPolyhedron* p, rbVec3 point)
{
    double sum = 0.0;
    for (int t = 0; t < p->triangleCount; ++t) {
        rbVec3 v[3];
        for (int k = 0; k < 3; ++k) {
            v[k] = rbSub(p->vertices[p->triangles[t].v[k]], point);
        }
        // half the signed solid angle of the triangle (van Oosterom and Strackee 1983)
        double a = rbLength(v[0]), b = rbLength(v[1]), c = rbLength(v[2]);
        double rest =
            a * b * c + rbDot(v[0], v[1]) * c + rbDot(v[1], v[2]) * a + rbDot(v[2], v[0]) * b;
        sum += rbAtan2(rbDot(v[0], rbCross(v[1], v[2])), rest);
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
    double tolerance = SURFACE_TOLERANCE * rbMaxOf(p->scale, rbLargestComponent(point));
    if (rbBoxTree_IsNear(p->tree, p->normals, point, tolerance)) {
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

static bool polyhedronContains(const rbGeometry* geometry, rbVec3 point)
{
    const rbPolyhedron* p = geometry->polyhedron;
    RB_ASSERT(p != NULL);
    if (!geometry->isSolid) {
        return false;
    }
    // outside the box?
    double slack = SURFACE_TOLERANCE * p->scale;
    rbVec3 beyond = rbMax3(rbSub(p->lower, point), rbSub(point, p->upper));
    bool isOutside = beyond.x > slack || beyond.y > slack || beyond.z > slack;
    return !isOutside &&
           (p->tree == NULL ? isInsidePlanes(p, point) : isInsideByCrossings(p, point));
}

// All triangles of a hull.
static bool castAtAll(const rbPolyhedron* p, const rbRay* ray, rbRayWish wish, rbTreeHit* hit)
{
    rbRayView view = rbMakeRayView(ray);
    *hit = (rbTreeHit){ray->tMax, -1, -1, RB_VEC3_ZERO};
    for (int t = 0; t < p->triangleCount; ++t) {
        const int* v = p->triangles[t].v;
        rbVec3 corners[3] = {p->vertices[v[0]], p->vertices[v[1]], p->vertices[v[2]]};
        rbVec3 normal = p->normals[p->faceOfTriangle[t]];
        if (wish == RB_RAY_FRONT && !(rbDot(normal, ray->direction) < 0.0)) {
            continue;
        }
        double s = rbRayView_Meet(&view, corners, normal);
        if (s >= 0.0 && (s < hit->t || (hit->triangle < 0 && s <= hit->t))) {
            *hit = (rbTreeHit){s, t, p->faceOfTriangle[t], normal};
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
    bool isHit = p->tree != NULL
                     ? rbBoxTree_CastRay(p->tree, rbPolyhedron_GetNormals(p), ray, wish, &found)
                     : castAtAll(p, ray, wish, &found);
    if (!isHit) {
        return false;
    }
    RB_ASSERT(found.t >= 0.0 && found.t <= ray->tMax);
    hit->t = found.t;
    hit->normal = found.normal;
    hit->feature = found.face;
    return true;
}

static void triangulatePolyhedron(const rbGeometry* geometry, const rbTriangulation* settings,
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

static rbStatus massOfPolyhedron(const rbGeometry* geometry, double density,
                                 rbMassProperties* properties, rbError* error)
{
    RB_REFUSE_IF(!geometry->isSolid, RB_STATUS_UNSUPPORTED, error,
                 "the %s encloses no volume (it is open, not manifold or a soup) and has no mass; "
                 "close it, or give the body a mass and inertia",
                 rbShapeType_Name(geometry->type));
    rbMeshDef def = rbPolyhedron_GetDef(geometry->polyhedron);
    *properties = rbComputeMeshMass(&def);
    RB_ASSERT(properties->volume > 0.0);
    properties->mass = density * properties->volume;
    properties->inertia = rbScaleSym(density, properties->inertia);
    return RB_STATUS_OK;
}

static uint64_t hashPolyhedron(const rbGeometry* geometry, uint64_t hash)
{
    const rbPolyhedron* p = geometry->polyhedron;
    for (int i = 0; i < p->vertexCount; ++i) {
        hash = rbHashVec3(hash, p->vertices[i]);
    }
    // int has 32 bits and two's complement everywhere we build; bytes would depend on their order
    for (int i = 0; i < p->indexCount; ++i) {
        double index = (double)p->indices[i];
        hash = rbHashDoubles(hash, &index, 1);
    }
    for (int f = 0; f < p->faceCount; ++f) {
        double size = (double)p->faceSizes[f];
        hash = rbHashDoubles(hash, &size, 1);
    }
    return hash;
}

static void releasePolyhedron(rbGeometry* geometry)
{
    rbDestroyBrep(geometry->polyhedron);
    geometry->polyhedron = NULL;
}

// Faces this near (part of the size) to the witness of a polyhedron hold it.
#define FACE_TOLERANCE 1e-7

static bool isConvexLoop(const rbContactFeature* f)
{
    for (int k = 0; k < f->count; ++k) {
        rbVec3 a = rbSub(f->corners[(k + 1) % f->count], f->corners[k]);
        rbVec3 b = rbSub(f->corners[(k + 2) % f->count], f->corners[(k + 1) % f->count]);
        if (rbDot(rbCross(a, b), f->normal) < -1e-9 * rbLength(a) * rbLength(b)) {
            return false;
        }
    }
    return true;
}

// The face most nearly perpendicular to the direction; if not convex, of those with the point.
static void featureOfPolyhedron(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                                rbContactFeature* feature)
{
    const rbPolyhedron* p = geometry->polyhedron;
    RB_ASSERT(p != NULL && p->edges != NULL);
    bool isHull = rbGeometry_IsConvex(geometry);
    int best = -1;
    double largest = -2.0;
    for (int f = 0; f < p->faceCount; ++f) {
        double cosine = rbDot(p->normals[f], direction);
        double off = isHull ? 0.0 : fabs(rbDot(p->normals[f], point) - p->offsets[f]);
        if (cosine > largest && off <= FACE_TOLERANCE * p->scale) {
            largest = cosine;
            best = f;
        }
    }
    if (best < 0) {
        rbContactFeature_Add(feature, point, 0, 0);
        return;
    }
    int size = p->faceSizes[best];
    int kept = size < RB_FEATURE_CORNERS_MAX ? size : RB_FEATURE_CORNERS_MAX;
    for (int k = 0; k < kept; ++k) {
        int corner = p->faceStarts[best] + (int)((long long)k * size / kept);
        int vertex = p->indices[corner];
        rbContactFeature_Add(feature, p->vertices[vertex], vertex, p->edgeOfCorner[corner]);
    }
    feature->normal = p->normals[best];
    feature->faceId = best;
    if (!isHull && !isConvexLoop(feature)) {
        feature->count = 0;
        feature->normal = direction;
        rbContactFeature_Add(feature, point, 0, 0);
    }
}

// --------------------------------------------------------------------------------------- shapes

#define BIT(kind) (1u << RB_MESH_ISSUE_##kind)

// Defects that no query could handle.
#define UNUSABLE                                                                         \
    (BIT(EMPTY) | BIT(TOO_LARGE) | BIT(INDEX) | BIT(NOT_FINITE) | BIT(DEGENERATE_FACE) | \
     BIT(CROSSING_FACE))

// A shape with a tree, of a mesh without certain kinds of defects.
static rbGeometry* createFromMesh(rbShapeType type, const rbMeshDef* def, unsigned kinds,
                                  rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    RB_ASSERT(def != NULL);
    rbMeshReport report;
    if (rbCheckMesh(def, kinds, rbShapeType_Name(type), &report, error) != RB_STATUS_OK) {
        return NULL;
    }
    bool isSoup = type == RB_SHAPE_SOUP;
    bool isManifold = report.counts[RB_MESH_ISSUE_EDGE_TWICE] == 0 &&
                      report.counts[RB_MESH_ISSUE_NON_MANIFOLD_EDGE] == 0 &&
                      report.counts[RB_MESH_ISSUE_ORIENTATION] == 0;
    RB_ASSERT(isManifold || !report.isSolid);
    rbPolyhedron* p = rbCreateBrep(def, isManifold && !isSoup, type == RB_SHAPE_MESH);
    rbMeshDef own = rbPolyhedron_GetDef(p);
    p->partVertices = rbFindMeshParts(&own, &p->partCount);
    p->tree = rbCreateBoxTree(p->vertices, p->triangles, p->faceOfTriangle, p->triangleCount);
    rbGeometry* geometry = rbAllocGeometry(type);
    geometry->polyhedron = p;
    geometry->isSolid = report.isSolid && !isSoup;
    return rbFinishGeometry(geometry);
}

rbGeometry* rbCreatePolyhedron(const rbMeshDef* def, rbError* error)
{
    unsigned kinds = 0;
    for (int kind = 0; kind < RB_MESH_ISSUE_COUNT; ++kind) {
        kinds |= rbMeshIssueKind_IsError((rbMeshIssueKind)kind) ? 1u << kind : 0u;
    }
    return createFromMesh(RB_SHAPE_POLYHEDRON, def, kinds, error);
}

rbGeometry* rbCreateMesh(const rbMeshDef* def, rbError* error)
{
    return createFromMesh(RB_SHAPE_MESH, def, UNUSABLE | BIT(INSIDE_OUT), error);
}

// Polygon soup (L-04): faces without connectivity. No inside and no mass.
rbGeometry* rbCreateSoup(const rbMeshDef* def, rbError* error)
{
    return createFromMesh(RB_SHAPE_SOUP, def, UNUSABLE | BIT(NON_PLANAR_FACE), error);
}

#define POLYHEDRON_ROW                                                                      \
    .mass = massOfPolyhedron, .support = supportOfPolyhedron, .bounds = boundsOfPolyhedron, \
    .radius = radiusOfPolyhedron, .contains = polyhedronContains,                           \
    .triangulate = triangulatePolyhedron, .hash = hashPolyhedron, .release = releasePolyhedron

const rbShapeOps rbHullOps = {
    .name = "hull",
    .family = RB_FAMILY_HULL,
    .isConvex = true,
    POLYHEDRON_ROW,
    .feature = featureOfPolyhedron,
};

const rbShapeOps rbPolyhedronOps = {
    .name = "polyhedron",
    .family = RB_FAMILY_TRIANGLES,
    POLYHEDRON_ROW,
    .feature = featureOfPolyhedron,
};

const rbShapeOps rbMeshOps = {
    .name = "mesh",
    .family = RB_FAMILY_TRIANGLES,
    POLYHEDRON_ROW,
};

const rbShapeOps rbSoupOps = {
    .name = "soup",
    .family = RB_FAMILY_TRIANGLES,
    POLYHEDRON_ROW,
};
