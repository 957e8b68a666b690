// Convex hull of points. qhull finds the triangles; hull_faces.c makes the result canonical.
//
// The points are sorted and duplicates removed first, and degenerate sets are rejected by our own
// tests, so that qhull receives the same well-formed input whatever the caller's order.
#include "collision/geometry/hull_faces.h"
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

static int comparePoints(const void* a, const void* b)
{
    const rbVec3* v = a;
    const rbVec3* w = b;
    if (v->x != w->x) {
        return v->x < w->x ? -1 : 1;
    }
    if (v->y != w->y) {
        return v->y < w->y ? -1 : 1;
    }
    return v->z < w->z ? -1 : (v->z > w->z ? 1 : 0);
}

static rbStatus checkPoints(const rbVec3* points, int count, rbError* error)
{
    if (points == NULL || count < 4) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the hull has %d points; at least 4 that do not lie in a plane are accepted",
            points == NULL ? 0 : count);
    }
    if (count > RB_HULL_POINTS_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the hull has %d points; at most %d are accepted", count,
                           RB_HULL_POINTS_MAX);
    }
    for (int i = 0; i < count; ++i) {
        rbVec3 p = points[i];
        if (!(fabs(p.x) <= RB_LENGTH_MAX && fabs(p.y) <= RB_LENGTH_MAX &&
              fabs(p.z) <= RB_LENGTH_MAX)) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "point %d of the hull is (%g, %g, %g); coordinates up to %g m are "
                               "accepted",
                               i, p.x, p.y, p.z, RB_LENGTH_MAX);
        }
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
    if (!(*diameter >= RB_LENGTH_MIN)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the points of the hull coincide within %g m; points that span a volume are "
            "accepted",
            *diameter);
    }
    rbVec3 unit = rbScale(1.0 / *diameter, along);
    rbVec3 across = RB_VEC3_ZERO;
    for (int i = 1; i < count; ++i) {
        rbVec3 d = rbCross(unit, rbSub(points[i], origin));
        across = rbLengthSquared(d) > rbLengthSquared(across) ? d : across;
    }
    double width = rbLength(across);
    if (!(width > FLAT_TOLERANCE * *diameter)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the points of the hull are collinear: all within %g m of a line; points "
            "that span a volume are accepted",
            width);
    }
    rbVec3 normal = rbScale(1.0 / width, across);
    double thickness = 0.0;
    for (int i = 1; i < count; ++i) {
        thickness = rbMaxOf(thickness, fabs(rbDot(normal, rbSub(points[i], origin))));
    }
    if (!(thickness > FLAT_TOLERANCE * *diameter)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the points of the hull are coplanar: all within %g m of a plane; points "
            "that span a volume are accepted",
            thickness);
    }
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
    rbVec3 lower = points[0];
    rbVec3 upper = points[0];
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
    if (sink == NULL) {
        sink = tmpfile();
    }
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
    if (code != 0 || triangles->count < 4) {
        return rbError_Set(error, RB_STATUS_NUMERICAL,
                           "qhull found no hull of the %d points (code %d)", count, code);
    }
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
    rbStatus status = findTriangles(points, count, &triangles, error);
    rbOwnedMesh mesh = {0};
    rbGeometry* geometry = NULL;
    if (status == RB_STATUS_OK) {
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
            (void)rbError_Set(
                error, RB_STATUS_NUMERICAL,
                "the faces of the hull of %d points are too thin to be distinguished; "
                "remove points that nearly coincide",
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
    (void)rbError_Set(
        error, RB_STATUS_UNSUPPORTED,
        "convex hulls need qhull, which this library was built without; give the faces as "
        "a polyhedron");
    return NULL;
}

#endif

rbGeometry* rbCreateHull(const rbVec3* points, int count, rbError* error)
{
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

const rbShapeOps rbHullOps = {
    .name = "hull",
    .family = RB_FAMILY_HULL,
    .isConvex = true,
    RB_POLYHEDRON_ROW,
    .feature = rbFeatureOfPolyhedron,
};
