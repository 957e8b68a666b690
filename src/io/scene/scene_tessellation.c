// Meshes of solids: the surface of a round solid as a grid of revolution with its vertices on the
// surface, that of a flat one by subdividing its triangles.
//
// Round solids. A profile of arcs and lines is divided into pieces about as long as the segments
// around the axis are wide, so that triangles are neither needles nor slivers, and revolved. The
// number of segments is the smallest multiple of four (for the symmetry of the solid) that gives
// the requested number of triangles. Balls and ellipsoids are revolved as the unit ball, about the
// axis along which they are cut: a plane n . x = d of the ellipsoid x = S u is the plane
// (S n) . u = d of the ball.
#include "base/math/elementary.h"
#include "collision/geometry/shape_ops.h"
#include "io/scene/scene_model.h"

#include <stdlib.h>

#define DIVISIONS_MAX 500 // of a piece: revolution compares all pairs of profile edges
#define CUT_MARGIN 1e-9   // of the unit ball: a thinner cap is only rounding

typedef struct Profile {
    rbOutline outline;
    rbVec3 scale;   // of the solid, applied after revolution and rotation
    rbVec3 axes[3]; // the axis of revolution is the last
} Profile;

static void setIdentity(Profile* profile)
{
    profile->scale = (rbVec3){1.0, 1.0, 1.0};
    profile->axes[0] = (rbVec3){1.0, 0.0, 0.0};
    profile->axes[1] = (rbVec3){0.0, 1.0, 0.0};
    profile->axes[2] = (rbVec3){0.0, 0.0, 1.0};
}

// Adds the part of the unit ball below a height along its axis.
static void addBall(Profile* profile, double height)
{
    double rim = sqrt(1.0 - height * height);
    profile->outline.startZ = -1.0;
    profile->outline.radius = height < 0.0 ? rim : 1.0;
    rbOutline_AddArc(&profile->outline,
                     (rbOutlinePiece){.r = rim,
                                      .z = height,
                                      .radius = 1.0,
                                      .angleA = -0.5 * RB_PI,
                                      .angleB = height < 1.0 ? rbAtan2(height, rim) : 0.5 * RB_PI});
    rbOutline_AddLine(&profile->outline, 0.0, height);
}

static rbStatus makeEllipsoid(Profile* profile, rbVec3 semiAxes, const rbSolidCut* cut,
                              rbError* error)
{
    setIdentity(profile);
    profile->scale = semiAxes;
    if (cut == NULL) {
        addBall(profile, 1.0);
        return RB_STATUS_OK;
    }
    double size = rbLength(cut->normal);
    if (!(size > 0.0)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the normal of the cut is zero; give any vector normal to its plane");
    }
    rbVec3 normal = rbScale(1.0 / size, cut->normal);
    rbVec3 scaled = rbMulEach(semiAxes, normal);
    double reach = rbLength(scaled);
    double height = cut->offset / size / reach;
    if (!(fabs(height) <= 1.0 - CUT_MARGIN)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the plane of the cut is %.10g m from the center; the solid extends "
                           "from %.10g to %.10g m there",
                           cut->offset / size, -reach, reach);
    }
    rbVec3 axis = rbScale(1.0 / reach, scaled);
    bool isUpright = fabs(axis.z) > 0.5;
    rbVec3 helper = isUpright ? (rbVec3){1.0, 0.0, 0.0} : (rbVec3){0.0, 0.0, 1.0};
    profile->axes[0] = rbNormalize(rbAddScaled(helper, -rbDot(helper, axis), axis));
    profile->axes[1] = rbCross(axis, profile->axes[0]);
    profile->axes[2] = axis;
    addBall(profile, height);
    return RB_STATUS_OK;
}

// False if the solid is not a solid of revolution.
static bool makeProfile(Profile* profile, const rbGeometry* geometry, const rbSolidCut* cut,
                        rbStatus* status, rbError* error)
{
    const rbShapeOps* ops = rbGetShapeOps(geometry->type);
    *status = RB_STATUS_OK;
    if (ops->getSemiAxes != NULL) {
        *status = makeEllipsoid(profile, ops->getSemiAxes(geometry), cut, error);
        return true;
    }
    if (ops->outline != NULL) {
        setIdentity(profile);
        ops->outline(geometry, &profile->outline);
        return true;
    }
    return false;
}

// The number of parts of a piece for this many segments around the axis.
static int countDivisions(const Profile* profile, const rbOutlinePiece* piece, int segments)
{
    double width = 2.0 * RB_PI * profile->outline.radius / (double)segments;
    double wanted = floor(piece->length / width + 0.5);
    return wanted < 1.0 ? 1 : wanted > DIVISIONS_MAX ? DIVISIONS_MAX : (int)wanted;
}

// All points of the profile except the first.
static int countPoints(const Profile* profile, int segments)
{
    int points = 0;
    for (int i = 0; i < profile->outline.count; ++i) {
        points += countDivisions(profile, &profile->outline.pieces[i], segments);
    }
    return points;
}

// Writes the points; both ends are on the axis.
static void writePoints(const Profile* profile, int segments, double (*points)[2])
{
    int used = 0;
    double r = 0.0;
    double z = profile->outline.startZ;
    points[used][0] = r;
    points[used++][1] = z;
    for (int i = 0; i < profile->outline.count; ++i) {
        const rbOutlinePiece* piece = &profile->outline.pieces[i];
        int divisions = countDivisions(profile, piece, segments);
        for (int k = 1; k < divisions; ++k) {
            double t = (double)k / (double)divisions;
            double s = 0.0;
            double c = 0.0;
            rbSinCos(piece->angleA + t * (piece->angleB - piece->angleA), &s, &c);
            points[used][0] = piece->isArc ? piece->radius * c : r + t * (piece->r - r);
            points[used++][1] =
                piece->isArc ? piece->center + piece->radius * s : z + t * (piece->z - z);
        }
        r = piece->r;
        z = piece->z;
        points[used][0] = r;
        points[used++][1] = z;
    }
}

static rbGeometry* revolve(const Profile* profile, int faceCount, rbError* error)
{
    RB_ASSERT(profile->outline.count > 0);
    int segments = 4;
    // A ring of quadrilaterals has two triangles per segment; the two ends have one each.
    while (2.0 * (double)segments * ((double)countPoints(profile, segments) - 1.0) < faceCount) {
        segments += 4;
    }
    int count = countPoints(profile, segments) + 1;
    double(*points)[2] = rbAlloc((size_t)count * sizeof *points);
    writePoints(profile, segments, points);
    rbOwnedMesh mesh = {0};
    rbStatus status = rbRevolveProfile((const double(*)[2])points, count, segments, &mesh, error);
    rbFree(points, (size_t)count * sizeof *points);
    if (status != RB_STATUS_OK) {
        return NULL;
    }
    for (int i = 0; i < mesh.vertexCount; ++i) {
        rbVec3 v = mesh.vertices[i];
        rbVec3 turned = rbScale(v.x, profile->axes[0]);
        turned = rbAddScaled(turned, v.y, profile->axes[1]);
        turned = rbAddScaled(turned, v.z, profile->axes[2]);
        mesh.vertices[i] = rbMulEach(profile->scale, turned);
    }
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    rbGeometry* geometry = rbCreateMesh(&def, error);
    rbFreeMesh(&mesh);
    return geometry;
}

// ----------------------------------------------------------------------------------- flat solids

// An edge of a triangle, low < high.
typedef struct Edge {
    int low, high;
} Edge;

static int compareEdges(const void* a, const void* b)
{
    const Edge* edgeA = a;
    const Edge* edgeB = b;
    int order = (edgeA->low > edgeB->low) - (edgeA->low < edgeB->low);
    return order != 0 ? order : (edgeA->high > edgeB->high) - (edgeA->high < edgeB->high);
}

static Edge makeEdge(int a, int b)
{
    return a < b ? (Edge){a, b} : (Edge){b, a};
}

// Divides every edge of the triangles into parts, hence every triangle into parts^2.
typedef struct Division {
    const rbTriangles* source;
    int parts;
    Edge* edges; // sorted, each once
    int edgeCount;
    rbVec3* vertices; // those of the source, then those of the edges, then those inside
    int* indices;
    int vertexCount, triangleCount;
    int insideCount; // vertices in the interior of one triangle
} Division;

static void findEdges(Division* division)
{
    const rbTriangles* source = division->source;
    int count = 3 * source->triangleCount;
    for (int t = 0; t < source->triangleCount; ++t) {
        const int* v = source->triangles[t];
        for (int i = 0; i < 3; ++i) {
            division->edges[3 * t + i] = makeEdge(v[i], v[(i + 1) % 3]);
        }
    }
    qsort(division->edges, (size_t)count, sizeof(Edge), compareEdges);
    division->edgeCount = 0;
    for (int i = 0; i < count; ++i) {
        if (i == 0 || compareEdges(&division->edges[i], &division->edges[i - 1]) != 0) {
            division->edges[division->edgeCount++] = division->edges[i];
        }
    }
}

// The vertex k parts along the edge from a to b, the same for both adjacent triangles.
static int findEdgeVertex(const Division* division, int a, int b, int k)
{
    int parts = division->parts;
    if (k == 0 || k == parts) {
        return k == 0 ? a : b;
    }
    Edge wanted = makeEdge(a, b);
    const Edge* edge =
        bsearch(&wanted, division->edges, (size_t)division->edgeCount, sizeof wanted, compareEdges);
    RB_ASSERT(edge != NULL);
    int from = a < b ? k : parts - k;
    return division->source->vertexCount + (int)(edge - division->edges) * (parts - 1) + from - 1;
}

// The vertex i parts from corner 0 toward 1 and j toward 2.
static int findVertex(const Division* division, int triangle, int i, int j)
{
    const int* v = division->source->triangles[triangle];
    int parts = division->parts;
    if (j == 0) {
        return findEdgeVertex(division, v[0], v[1], i);
    }
    if (i == 0) {
        return findEdgeVertex(division, v[0], v[2], j);
    }
    if (i + j == parts) {
        return findEdgeVertex(division, v[1], v[2], j);
    }
    int row = j - 1; // rows of parts - 2, parts - 3, ... vertices
    int before = row * (parts - 2) - row * (row - 1) / 2;
    return division->vertexCount - division->source->triangleCount * division->insideCount +
           triangle * division->insideCount + before + i - 1;
}

static void divide(Division* division)
{
    const rbTriangles* source = division->source;
    int parts = division->parts;
    for (int i = 0; i < source->vertexCount; ++i) {
        division->vertices[i] = source->vertices[i];
    }
    for (int e = 0; e < division->edgeCount; ++e) {
        rbVec3 a = source->vertices[division->edges[e].low];
        rbVec3 b = source->vertices[division->edges[e].high];
        for (int k = 1; k < parts; ++k) {
            double t = (double)k / (double)parts;
            division->vertices[source->vertexCount + e * (parts - 1) + k - 1] =
                rbAddScaled(a, t, rbSub(b, a));
        }
    }
    int* index = division->indices;
    for (int t = 0; t < source->triangleCount; ++t) {
        const int* v = source->triangles[t];
        rbVec3 a = source->vertices[v[0]];
        rbVec3 ab = rbSub(source->vertices[v[1]], a);
        rbVec3 ac = rbSub(source->vertices[v[2]], a);
        for (int j = 0; j < parts; ++j) {
            for (int i = 0; i + j < parts; ++i) {
                if (i > 0 && j > 0) {
                    rbVec3 p = rbAddScaled(a, (double)i / (double)parts, ab);
                    division->vertices[findVertex(division, t, i, j)] =
                        rbAddScaled(p, (double)j / (double)parts, ac);
                }
                *index++ = findVertex(division, t, i, j);
                *index++ = findVertex(division, t, i + 1, j);
                *index++ = findVertex(division, t, i, j + 1);
                if (i + j + 1 < parts) {
                    *index++ = findVertex(division, t, i + 1, j);
                    *index++ = findVertex(division, t, i + 1, j + 1);
                    *index++ = findVertex(division, t, i, j + 1);
                }
            }
        }
    }
    RB_ASSERT(index - division->indices == 3 * (ptrdiff_t)division->triangleCount);
}

static rbGeometry* divideTriangles(const rbTriangles* source, int faceCount, rbError* error)
{
    RB_ASSERT(source->triangleCount > 0);
    Division division = {.source = source, .parts = 1};
    while ((double)source->triangleCount * division.parts * division.parts < (double)faceCount) {
        division.parts += 1;
    }
    int parts = division.parts;
    size_t edgeSize = 3 * (size_t)source->triangleCount * sizeof(Edge);
    division.edges = rbAlloc(edgeSize);
    findEdges(&division);
    division.insideCount = (parts - 1) * (parts - 2) / 2;
    division.vertexCount = source->vertexCount + division.edgeCount * (parts - 1) +
                           source->triangleCount * division.insideCount;
    division.triangleCount = source->triangleCount * parts * parts;
    size_t vertexSize = (size_t)division.vertexCount * sizeof(rbVec3);
    size_t indexSize = 3 * (size_t)division.triangleCount * sizeof(int);
    division.vertices = rbAlloc(vertexSize);
    division.indices = rbAlloc(indexSize);
    divide(&division);
    rbMeshDef def = {division.vertices, division.vertexCount, NULL, division.indices,
                     division.triangleCount};
    rbGeometry* geometry = rbCreateMesh(&def, error);
    rbFree(division.vertices, vertexSize);
    rbFree(division.indices, indexSize);
    rbFree(division.edges, edgeSize);
    return geometry;
}

static rbGeometry* tessellateFlat(const rbGeometry* solid, int faceCount, rbError* error)
{
    rbTriangles triangles = {0};
    // Flat solids are exact for any deviation.
    if (rbGeometry_Triangulate(solid, 1.0, 1.0, &triangles, error) != RB_STATUS_OK) {
        return NULL;
    }
    rbGeometry* geometry = divideTriangles(&triangles, faceCount, error);
    rbFreeTriangles(&triangles);
    return geometry;
}

rbGeometry* rbTessellate(const rbGeometry* solid, int faceCount, const rbSolidCut* cut,
                         rbError* error)
{
    RB_ASSERT(solid != NULL);
    RB_ASSERT(faceCount > 0);
    rbShapeType type = rbGeometry_GetType(solid);
    const char* name = rbShapeType_Name(type);
    if (cut != NULL && rbGetShapeOps(type)->getSemiAxes == NULL) {
        (void)rbError_Set(error, RB_STATUS_INVALID,
                          "a %s cannot be cut; \"cut\" is only for a sphere or an ellipsoid", name);
        return NULL;
    }
    if (type == RB_SHAPE_COMPOUND || !rbGeometry_IsBounded(solid) || !rbGeometry_IsSolid(solid)) {
        (void)rbError_Set(
            error, RB_STATUS_INVALID, "a tessellation needs a closed solid; this %s %s", name,
            type == RB_SHAPE_COMPOUND ? "has parts: tessellate each of them" : "is not one");
        return NULL;
    }
    Profile profile = {0};
    rbStatus status = RB_STATUS_OK;
    if (makeProfile(&profile, solid, cut, &status, error)) {
        return status == RB_STATUS_OK ? revolve(&profile, faceCount, error) : NULL;
    }
    return tessellateFlat(solid, faceCount, error);
}
