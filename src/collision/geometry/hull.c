// Convex hull of points. qhull finds the triangles; their faces are then made canonical.
//
// The points are sorted and duplicates removed first, and degenerate sets are rejected by our own
// tests, so that qhull receives the same well-formed input whatever the caller's order.
#include "base/core/float_mode.h"
#include "collision/geometry/half_edge.h"
#include "collision/geometry/polygon.h"
#include "collision/geometry/polyhedron.h"

#include <rattleback/shape.h>

#include <stdlib.h>
#include <string.h>

#ifdef RB_QHULL
#include <libqhull_r/libqhull_r.h>
#include <stdio.h>
#endif

// Points within this fraction of the diameter from a plane form one face, far above the rounding of
// rotated coordinates (1e-16) and far below any modeled detail.
#define MERGE_TOLERANCE 1e-11
// Thinner point sets are flat.
#define FLAT_TOLERANCE 1e-9

// --------------------------------------------------------------------------------------- faces

// Coplanar triangles become faces by growing regions from the largest triangle down: its plane is
// the best known one, and every triangle is used once, so that a sliver between two faces joins one
// of them and never merges the two faces.

typedef struct Region {
    int* loop; // into the common array
    int size;
} Region;

typedef struct Sized {
    double area;
    int triangle;
} Sized;

typedef struct Merger {
    const rbVec3* points;
    int pointCount;
    rbIndex3* triangles;
    int triangleCount;
    double tolerance;
    int* twins;    // 3 per triangle: where the same side starts in its neighbor
    int* regionOf; // per triangle, -1 none yet
    Region* regions;
    int regionCount;
    int* loops; // of all regions, one after the other
    int* uses;  // per point: regions whose loop passes it
} Merger;

// Lexicographic.
static int compareLoops(const int* v, int sizeV, const int* w, int sizeW)
{
    for (int i = 0; i < sizeV && i < sizeW; ++i) {
        if (v[i] != w[i]) {
            return v[i] < w[i] ? -1 : 1;
        }
    }
    return sizeV - sizeW;
}

static int compareTriangles(const void* a, const void* b)
{
    return compareLoops(((const rbIndex3*)a)->v, 3, ((const rbIndex3*)b)->v, 3);
}

static int compareSizes(const void* a, const void* b)
{
    const Sized *s = a, *t = b;
    int byArea = (s->area < t->area) - (s->area > t->area);
    return byArea != 0 ? byArea : (s->triangle > t->triangle) - (s->triangle < t->triangle);
}

static int compareRegions(const void* a, const void* b)
{
    const Region *r = a, *s = b;
    return compareLoops(r->loop, r->size, s->loop, s->size);
}

// Orients the triangles outward, rotates each to begin with its smallest index, and sorts them.
static void canonizeTriangles(Merger* m)
{
    rbMeshDef def = {m->points, m->pointCount, NULL, m->triangles[0].v, m->triangleCount};
    bool isInsideOut = rbComputeMeshMass(&def).volume < 0.0;
    for (int t = 0; t < m->triangleCount; ++t) {
        int* v = m->triangles[t].v;
        int first = v[0] < v[1] ? (v[0] < v[2] ? 0 : 2) : (v[1] < v[2] ? 1 : 2);
        int a = v[first], b = v[(first + 1) % 3], c = v[(first + 2) % 3];
        v[0] = a;
        v[1] = isInsideOut ? c : b;
        v[2] = isInsideOut ? b : c;
    }
    qsort(m->triangles, (size_t)m->triangleCount, sizeof(rbIndex3), compareTriangles);
}

static bool findTwins(Merger* m)
{
    rbMeshDef def = {m->points, m->pointCount, NULL, m->triangles[0].v, m->triangleCount};
    int count = 3 * m->triangleCount;
    rbHalfEdge* halfEdges = rbSortHalfEdges(&def, count);
    bool isClosed = true;
    for (int i = 0; i < count && isClosed;) {
        int end = rbGetEdgeEnd(halfEdges, count, i);
        isClosed = end - i == 2 && halfEdges[i].isForward != halfEdges[i + 1].isForward;
        if (isClosed) {
            m->twins[halfEdges[i].corner] = halfEdges[i + 1].corner;
            m->twins[halfEdges[i + 1].corner] = halfEdges[i].corner;
        }
        i = end;
    }
    rbFree(halfEdges, (size_t)count * sizeof(rbHalfEdge));
    return isClosed;
}

static rbVec3 getVectorArea(const Merger* m, int triangle)
{
    return rbComputeNewell(m->points, m->triangles[triangle].v, 3);
}

static bool liesInPlane(const Merger* m, int triangle, rbVec3 n, rbVec3 origin)
{
    bool isIn = true;
    for (int k = 0; k < 3 && isIn; ++k) {
        rbVec3 v = rbSub(m->points[m->triangles[triangle].v[k]], origin);
        isIn = fabs(rbDot(n, v)) <= m->tolerance;
    }
    return isIn;
}

static void growRegion(Merger* m, int seed, int region, int* stack)
{
    rbVec3 n = rbNormalize(getVectorArea(m, seed));
    rbVec3 origin = m->points[m->triangles[seed].v[0]];
    int depth = 0;
    m->regionOf[seed] = region;
    stack[depth++] = seed;
    while (depth > 0) {
        int t = stack[--depth];
        for (int k = 0; k < 3; ++k) {
            int next = m->twins[3 * t + k] / 3;
            if (m->regionOf[next] < 0 && liesInPlane(m, next, n, origin)) {
                m->regionOf[next] = region;
                stack[depth++] = next;
            }
        }
    }
    RB_ASSERT(depth == 0);
}

static void growRegions(Merger* m)
{
    size_t sizedBytes = (size_t)m->triangleCount * sizeof(Sized);
    size_t stackBytes = (size_t)m->triangleCount * sizeof(int);
    Sized* sized = rbAlloc(sizedBytes);
    int* stack = rbAlloc(stackBytes);
    for (int t = 0; t < m->triangleCount; ++t) {
        sized[t] = (Sized){rbLengthSquared(getVectorArea(m, t)), t};
        m->regionOf[t] = -1;
    }
    qsort(sized, (size_t)m->triangleCount, sizeof(Sized), compareSizes);
    for (int i = 0; i < m->triangleCount; ++i) {
        if (m->regionOf[sized[i].triangle] < 0) {
            growRegion(m, sized[i].triangle, m->regionCount++, stack);
        }
    }
    rbFree(sized, sizedBytes);
    rbFree(stack, stackBytes);
}

static bool isBoundary(const Merger* m, int corner)
{
    return m->regionOf[m->twins[corner] / 3] != m->regionOf[corner / 3];
}

static int nextCorner(int corner)
{
    return corner % 3 == 2 ? corner - 2 : corner + 1;
}

// Follows the boundary of a region from a corner; stamps holds for each point the last region
// whose boundary passed it, plus 1. False if it passes a point twice.
static bool traceLoop(Merger* m, Region* region, int start, int* stamps)
{
    int stamp = m->regionOf[start / 3] + 1;
    int corner = start;
    do {
        int vertex = m->triangles[corner / 3].v[corner % 3];
        if (stamps[vertex] == stamp) {
            return false;
        }
        stamps[vertex] = stamp;
        ++m->uses[vertex];
        region->loop[region->size++] = vertex;
        // around the end of this side, through the triangles of the region
        for (corner = nextCorner(corner); !isBoundary(m, corner);) {
            corner = nextCorner(m->twins[corner]);
        }
    } while (corner != start);
    return region->size >= 3;
}

// Boundary loops of all regions; false if one of them is not a single loop.
static bool traceLoops(Merger* m)
{
    int* stamps = rbAllocZero((size_t)m->pointCount, sizeof(int));
    int* free = m->loops;
    bool isGood = true;
    int steps = 0;
    memset(m->regions, 0, (size_t)m->regionCount * sizeof(Region));
    for (int corner = 0; corner < 3 * m->triangleCount && isGood; ++corner) {
        Region* region = &m->regions[m->regionOf[corner / 3]];
        bool isStep = isBoundary(m, corner);
        steps += isStep ? 1 : 0;
        if (isStep && region->size == 0) {
            region->loop = free;
            isGood = traceLoop(m, region, corner, stamps);
            free += region->size;
        }
    }
    rbFree(stamps, (size_t)m->pointCount * sizeof(int));
    return isGood && free - m->loops == steps;
}

// Removes points on straight edges (two faces only), numbers the rest and sorts the faces.
static bool writeMesh(Merger* m, rbOwnedMesh* mesh)
{
    int* numbers = m->uses; // becomes the new index, -1 for removed points
    int vertexCount = 0;
    for (int i = 0; i < m->pointCount; ++i) {
        numbers[i] = m->uses[i] >= 3 ? vertexCount++ : -1;
    }
    int indexCount = 0;
    for (int r = 0; r < m->regionCount; ++r) {
        Region* region = &m->regions[r];
        int size = 0, smallest = 0;
        for (int i = 0; i < region->size; ++i) {
            int number = numbers[region->loop[i]];
            if (number >= 0) {
                region->loop[size] = number;
                smallest = number < region->loop[smallest] ? size : smallest;
                ++size;
            }
        }
        if (size < 3) {
            return false;
        }
        region->size = size;
        indexCount += size;
        // the first corner may have been removed: rotate to the smallest again, by three reversals
        const int cuts[3][2] = {{0, smallest}, {smallest, size}, {0, size}};
        for (int c = 0; c < 3; ++c) {
            for (int i = cuts[c][0], j = cuts[c][1] - 1; i < j; ++i, --j) {
                int swapped = region->loop[i];
                region->loop[i] = region->loop[j];
                region->loop[j] = swapped;
            }
        }
    }
    qsort(m->regions, (size_t)m->regionCount, sizeof(Region), compareRegions);
    rbAllocMesh(mesh, vertexCount, m->regionCount, indexCount);
    for (int i = 0; i < m->pointCount; ++i) {
        if (numbers[i] >= 0) {
            mesh->vertices[numbers[i]] = m->points[i];
        }
    }
    int* corner = mesh->indices;
    for (int r = 0; r < m->regionCount; ++r) {
        mesh->faceSizes[r] = m->regions[r].size;
        memcpy(corner, m->regions[r].loop, (size_t)m->regions[r].size * sizeof(int));
        corner += m->regions[r].size;
    }
    return true;
}

bool rbMakeHullFaces(const rbVec3* points, int pointCount, rbIndex3* triangles, int triangleCount,
                     double tolerance, rbOwnedMesh* mesh)
{
    RB_ASSERT(pointCount >= 4 && triangleCount >= 4);
    RB_ASSERT(tolerance > 0.0);
    *mesh = (rbOwnedMesh){0};
    size_t triangleBytes = (size_t)triangleCount * sizeof(int);
    size_t regionBytes = (size_t)triangleCount * sizeof(Region);
    Merger m = {.points = points,
                .pointCount = pointCount,
                .triangles = triangles,
                .triangleCount = triangleCount,
                .tolerance = tolerance,
                .twins = rbAlloc(3 * triangleBytes),
                .regionOf = rbAlloc(triangleBytes),
                .regions = rbAlloc(regionBytes),
                .loops = rbAlloc(3 * triangleBytes),
                .uses = rbAllocZero((size_t)pointCount, sizeof(int))};
    canonizeTriangles(&m);
    bool isGood = findTwins(&m);
    if (isGood) {
        growRegions(&m);
        isGood = traceLoops(&m) && writeMesh(&m, mesh);
    }
    rbFree(m.twins, 3 * triangleBytes);
    rbFree(m.regionOf, triangleBytes);
    rbFree(m.regions, regionBytes);
    rbFree(m.loops, 3 * triangleBytes);
    rbFree(m.uses, (size_t)pointCount * sizeof(int));
    return isGood;
}

// -------------------------------------------------------------------------------------- points

static int comparePoints(const void* a, const void* b)
{
    const rbVec3 *v = a, *w = b;
    int x = (v->x > w->x) - (v->x < w->x), y = (v->y > w->y) - (v->y < w->y);
    return x != 0 ? x : y != 0 ? y : (v->z > w->z) - (v->z < w->z);
}

static rbStatus checkPoints(const rbVec3* points, int count, rbError* error)
{
    RB_INVALID_IF(points == NULL || count < 4, error,
                  "the hull has %d points; at least 4 that do not lie in a plane are accepted",
                  points == NULL ? 0 : count);
    RB_REFUSE_IF(count > RB_HULL_POINTS_MAX, RB_STATUS_LIMIT, error,
                 "the hull has %d points; at most %d are accepted", count, RB_HULL_POINTS_MAX);
    for (int i = 0; i < count; ++i) {
        rbVec3 p = points[i];
        RB_INVALID_IF(!rbIsPlace(p), error,
                      "point %d of the hull is (%g, %g, %g); coordinates up to %g m are accepted",
                      i, p.x, p.y, p.z, RB_LENGTH_MAX);
    }
    return RB_STATUS_OK;
}

// Sorted copy without duplicates, -0 made +0.
static int sortPoints(const rbVec3* points, int count, rbVec3* sorted)
{
    for (int i = 0; i < count; ++i) {
        sorted[i] = rbAdd(points[i], RB_VEC3_ZERO);
    }
    qsort(sorted, (size_t)count, sizeof(rbVec3), comparePoints);
    int kept = 1;
    for (int i = 1; i < count; ++i) {
        if (comparePoints(&sorted[i], &sorted[kept - 1]) != 0) {
            sorted[kept++] = sorted[i];
        }
    }
    return kept;
}

// Size of the point set: its greatest distance from its first point; OK if it spans space.
static rbStatus validateSpread(const rbVec3* points, int count, double* diameter, rbError* error)
{
    rbVec3 origin = points[0];
    rbVec3 along = RB_VEC3_ZERO;
    for (int i = 1; i < count; ++i) {
        rbVec3 d = rbSub(points[i], origin);
        along = rbLengthSquared(d) > rbLengthSquared(along) ? d : along;
    }
    *diameter = rbLength(along);
    RB_INVALID_IF(
        !(*diameter >= RB_LENGTH_MIN), error,
        "the points of the hull coincide within %g m; points that span a volume are accepted",
        *diameter);
    rbVec3 unit = rbScale(1.0 / *diameter, along);
    rbVec3 across = RB_VEC3_ZERO;
    for (int i = 1; i < count; ++i) {
        rbVec3 d = rbCross(unit, rbSub(points[i], origin));
        across = rbLengthSquared(d) > rbLengthSquared(across) ? d : across;
    }
    double width = rbLength(across);
    RB_INVALID_IF(!(width > FLAT_TOLERANCE * *diameter), error,
                  "the points of the hull are collinear: all within %g m of a line; points that "
                  "span a volume are accepted",
                  width);
    rbVec3 normal = rbScale(1.0 / width, across);
    double thickness = 0.0;
    for (int i = 1; i < count; ++i) {
        thickness = rbMaxOf(thickness, fabs(rbDot(normal, rbSub(points[i], origin))));
    }
    RB_INVALID_IF(!(thickness > FLAT_TOLERANCE * *diameter), error,
                  "the points of the hull are coplanar: all within %g m of a plane; points that "
                  "span a volume are accepted",
                  thickness);
    return RB_STATUS_OK;
}

#ifdef RB_QHULL

typedef RB_ARRAY(rbIndex3) TriangleArray;

static void collectTriangles(qhT* qh, TriangleArray* triangles)
{
    facetT* facet;
    vertexT* vertex;
    vertexT** vertexp; // the name that qhull's macros require
    FORALLfacets
    {
        rbIndex3 made = {{0, 0, 0}};
        int count = 0;
        FOREACHvertex_(facet->vertices)
        {
            if (count < 3) {
                made.v[count] = qh_pointid(qh, vertex->point);
            }
            ++count;
        }
        if (facet->toporient) {
            int swapped = made.v[0];
            made.v[0] = made.v[1];
            made.v[1] = swapped;
        }
        if (count == 3) {
            rbArray_Push(*triangles, made);
        }
    }
}

// Hull triangles of sorted points; an empty array if qhull fails.
static rbStatus findTriangles(const rbVec3* points, int count, TriangleArray* triangles,
                              rbError* error)
{
    // relative to the center: qhull's tolerances grow with the coordinates
    rbVec3 lower = points[0], upper = points[0];
    for (int i = 1; i < count; ++i) {
        lower = rbMin3(lower, points[i]);
        upper = rbMax3(upper, points[i]);
    }
    rbVec3 middle = rbAddScaled(lower, 0.5, rbSub(upper, lower));
    double size = rbLargestComponent(rbSub(upper, lower));
    RB_ASSERT(size > 0.0);
    size_t coordBytes = 3 * (size_t)count * sizeof(coordT);
    coordT* coords = rbAlloc(coordBytes);
    for (int i = 0; i < count; ++i) {
        rbVec3 p = rbSub(points[i], middle);
        coordT* coord = coords + 3 * (size_t)i;
        coord[0] = p.x / size;
        coord[1] = p.y / size;
        coord[2] = p.z / size;
    }
    // qhull requires a destination for its messages
    FILE* sink = fopen("/dev/null", "w");
    sink = sink != NULL ? sink : tmpfile();
    if (sink == NULL) {
        rbFree(coords, coordBytes);
        return rbError_Set(error, RB_STATUS_IO, "no temporary file for the messages of qhull");
    }
    qhT* qh = rbAllocZero(1, sizeof *qh);
    char options[] = "qhull Qt Pp";
    qh_zero(qh, sink);
    int code = qh_new_qhull(qh, 3, count, coords, False, options, NULL, sink);
    if (code == 0) {
        collectTriangles(qh, triangles);
    }
    int longBlocks, longBytes;
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &longBlocks, &longBytes);
    rbFree(qh, sizeof *qh);
    rbFree(coords, coordBytes);
    (void)fclose(sink);
    RB_REFUSE_IF(code != 0 || triangles->count < 4, RB_STATUS_NUMERICAL, error,
                 "qhull found no hull of the %d points (code %d)", count, code);
    return RB_STATUS_OK;
}

// Moves planes out to the farthest vertex in their direction: the normal of a sliver is uncertain
// and its plane would otherwise cut off vertices by rounding. The search climbs from vertex to
// vertex and ends at the farthest one because the hull is convex.
static void supportAllVertices(rbPolyhedron* p)
{
    for (int f = 0; f < p->faceCount; ++f) {
        rbVec3 n = p->normals[f];
        int vertex = p->indices[p->faceStarts[f]];
        double highest = rbDot(n, p->vertices[vertex]);
        for (int from = -1; from != vertex;) {
            from = vertex;
            int edgeCount;
            const int* edges = rbPolyhedron_GetVertexEdges(p, from, &edgeCount);
            for (int i = 0; i < edgeCount; ++i) {
                const rbEdge* edge = &p->edges[edges[i]];
                int other = edge->v0 == from ? edge->v1 : edge->v0;
                double height = rbDot(n, p->vertices[other]);
                if (height > highest) { // strictly, so that the walk ends
                    highest = height;
                    vertex = other;
                }
            }
        }
        RB_ASSERT(highest >= rbDot(n, p->vertices[p->indices[p->faceStarts[f]]]));
        p->offsets[f] = rbMaxOf(p->offsets[f], highest);
    }
}

static rbGeometry* makeHull(const rbVec3* points, int count, double diameter, rbError* error)
{
    TriangleArray triangles = {0};
    rbOwnedMesh mesh = {0};
    rbGeometry* geometry = NULL;
    if (findTriangles(points, count, &triangles, error) == RB_STATUS_OK) {
        bool isGood = rbMakeHullFaces(points, count, triangles.data, triangles.count,
                                      MERGE_TOLERANCE * diameter, &mesh);
        rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
        if (isGood && rbValidateMesh(&def, NULL, 0).isValid) {
            geometry = rbAllocGeometry(RB_SHAPE_HULL);
            geometry->polyhedron = rbCreateBrep(&def, true, false);
            supportAllVertices(geometry->polyhedron);
            bool isExact = def.faceCount == triangles.count; // no faces were merged
            geometry->polyhedron->supports = rbCreateSupportTable(geometry->polyhedron, isExact);
            (void)rbFinishGeometry(geometry);
        } else {
            (void)rbError_Set(error, RB_STATUS_NUMERICAL,
                              "the faces of the hull of %d points are too thin to be "
                              "distinguished; remove points that nearly coincide",
                              count);
        }
    }
    rbFreeMesh(&mesh);
    rbArray_Free(triangles);
    return geometry;
}

#else

static rbGeometry* makeHull(const rbVec3* points, int count, double diameter, rbError* error)
{
    (void)points;
    (void)count;
    (void)diameter;
    (void)rbError_Set(error, RB_STATUS_UNSUPPORTED,
                      "convex hulls need qhull, which this library was built without; give the "
                      "faces as a polyhedron");
    return NULL;
}

#endif

rbGeometry* rbCreateHull(const rbVec3* points, int count, rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    if (checkPoints(points, count, error) != RB_STATUS_OK) {
        return NULL;
    }
    size_t size = (size_t)count * sizeof(rbVec3);
    rbVec3* sorted = rbAlloc(size);
    int kept = sortPoints(points, count, sorted);
    double diameter = 0.0;
    rbGeometry* geometry = NULL;
    if (validateSpread(sorted, kept, &diameter, error) == RB_STATUS_OK) {
        geometry = makeHull(sorted, kept, diameter, error);
    }
    rbFree(sorted, size);
    return geometry;
}
