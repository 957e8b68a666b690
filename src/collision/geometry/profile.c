// Meshes from plane profiles (L-105): prisms and solids of revolution; and the triangles that
// display shapes, most of them solids of revolution too (L-107).
#include "base/core/memory.h"
#include "base/math/elementary.h"
#include "collision/geometry/polygon.h"
#include "collision/geometry/shape_ops.h"

#define SEGMENTS_MAX 1000000

rbMeshDef rbOwnedMesh_GetDef(const rbOwnedMesh* mesh)
{
    RB_ASSERT(mesh != NULL);
    return (rbMeshDef){mesh->vertices, mesh->vertexCount, mesh->faceSizes, mesh->indices,
                       mesh->faceCount};
}

void rbFreeMesh(rbOwnedMesh* mesh)
{
    RB_ASSERT(mesh != NULL);
    rbFree(mesh->vertices, (size_t)mesh->vertexCount * sizeof(rbVec3));
    rbFree(mesh->faceSizes, (size_t)mesh->faceCount * sizeof(int));
    rbFree(mesh->indices, (size_t)mesh->indexCount * sizeof(int));
    *mesh = (rbOwnedMesh){0};
}

void rbAllocMesh(rbOwnedMesh* mesh, int vertexCount, int faceCount, int indexCount)
{
    RB_ASSERT(vertexCount > 0 && faceCount > 0 && indexCount > 0);
    mesh->vertexCount = vertexCount;
    mesh->faceCount = faceCount;
    mesh->indexCount = indexCount;
    mesh->vertices = rbAlloc((size_t)vertexCount * sizeof(rbVec3));
    mesh->faceSizes = rbAlloc((size_t)faceCount * sizeof(int));
    mesh->indices = rbAlloc((size_t)indexCount * sizeof(int));
}

static rbStatus checkProfile(const double (*profile)[2], int count, rbError* error)
{
    RB_INVALID_IF(profile == NULL || count < 3 || count > RB_PROFILE_POINTS_MAX, error,
                  "the profile has %d points; 3 to %d are accepted", count, RB_PROFILE_POINTS_MAX);
    for (int i = 0; i < count; ++i) {
        RB_INVALID_IF(
            !(fabs(profile[i][0]) <= RB_LENGTH_MAX && fabs(profile[i][1]) <= RB_LENGTH_MAX), error,
            "point %d of the profile is (%g, %g); coordinates up to %g m are accepted", i,
            profile[i][0], profile[i][1], RB_LENGTH_MAX);
    }
    int sides[2];
    RB_INVALID_IF(rbFindPolygonCrossing(profile, count, sides), error,
                  "the sides of the profile that start at points %d and %d touch or cross; a "
                  "simple polygon is accepted",
                  sides[0], sides[1]);
    return RB_STATUS_OK;
}

rbStatus rbExtrudeProfile(const double (*profileXY)[2], int count, double height, rbOwnedMesh* mesh,
                          rbError* error)
{
    RB_ASSERT(mesh != NULL);
    *mesh = (rbOwnedMesh){0};
    RB_TRY(checkProfile(profileXY, count, error));
    RB_TRY(rbCheckLength(height, false, "height of the extrusion", error));
    RB_ASSERT(profileXY != NULL);
    bool isReversed = rbGetPolygonArea(profileXY, count) < 0.0;
    rbAllocMesh(mesh, 2 * count, count + 2, 6 * count);
    mesh->faceSizes[0] = count;
    mesh->faceSizes[1] = count;
    for (int i = 0; i < count; ++i) {
        const double* p = profileXY[isReversed ? count - 1 - i : i];
        int next = i + 1 < count ? i + 1 : 0;
        mesh->vertices[i] = rbMakeVec3(p[0], p[1], 0.0);
        mesh->vertices[count + i] = rbMakeVec3(p[0], p[1], height);
        mesh->indices[i] = count - 1 - i;
        mesh->indices[count + i] = count + i;
        int* side = mesh->indices + 2 * (size_t)count + 4 * (size_t)i;
        side[0] = i;
        side[1] = next;
        side[2] = count + next;
        side[3] = count + i;
        mesh->faceSizes[2 + i] = 4;
    }
    return RB_STATUS_OK;
}

static rbStatus checkAxis(const double (*profile)[2], int count, rbError* error)
{
    for (int i = 0; i < count; ++i) {
        double r = profile[i][0];
        RB_INVALID_IF(r < 0.0, error,
                      "point %d of the profile has the radius %g m; 0 or more is accepted", i, r);
        bool isPinch = r == 0.0 && profile[(i + 1) % count][0] > 0.0 &&
                       profile[(i + count - 1) % count][0] > 0.0;
        RB_INVALID_IF(isPinch, error,
                      "point %d of the profile alone touches the axis, which pinches the solid; "
                      "let a side lie on the axis or keep away from it",
                      i);
    }
    return RB_STATUS_OK;
}

// Where the vertices of each profile point begin, for a counter-clockwise profile.
typedef struct Lathe {
    const double (*profile)[2];
    int count, segments;
    bool isReversed;
    int* firsts; // -1: the point has no vertex
} Lathe;

static const double* getPoint(const Lathe* lathe, int i)
{
    int k = i % lathe->count;
    return lathe->profile[lathe->isReversed ? lathe->count - 1 - k : k];
}

// Numbers the vertices and counts faces and corners.
static void planRevolution(Lathe* lathe, int* vertexCount, int* faceCount, int* indexCount)
{
    *vertexCount = 0;
    *faceCount = 0;
    *indexCount = 0;
    for (int i = 0; i < lathe->count; ++i) {
        bool isPole = getPoint(lathe, i)[0] == 0.0;
        bool isNextPole = getPoint(lathe, i + 1)[0] == 0.0;
        bool wasPole = getPoint(lathe, i + lathe->count - 1)[0] == 0.0;
        bool isUsed = !(isPole && isNextPole && wasPole);
        lathe->firsts[i] = isUsed ? *vertexCount : -1;
        *vertexCount += isUsed ? (isPole ? 1 : lathe->segments) : 0;
        if (!(isPole && isNextPole)) {
            *faceCount += lathe->segments;
            *indexCount += lathe->segments * (isPole || isNextPole ? 3 : 4);
        }
    }
}

static void placeVertices(const Lathe* lathe, rbVec3* vertices)
{
    for (int i = 0; i < lathe->count; ++i) {
        const double* p = getPoint(lathe, i);
        int count = lathe->firsts[i] < 0 ? 0 : (p[0] == 0.0 ? 1 : lathe->segments);
        for (int k = 0; k < count; ++k) {
            double s, c;
            rbSinCos(2.0 * RB_PI * (double)k / (double)lathe->segments, &s, &c);
            vertices[lathe->firsts[i] + k] = rbMakeVec3(p[0] * c, p[0] * s, p[1]);
        }
    }
}

// The faces over one side of the profile. Counter-clockwise in (r, z), the outside is to the right
// of the side, and the loop (this, next angle), (next point) faces it.
static int* addSide(const Lathe* lathe, int i, int* sizes, int* corner)
{
    bool isPole = getPoint(lathe, i)[0] == 0.0;
    bool isNextPole = getPoint(lathe, i + 1)[0] == 0.0;
    int a = lathe->firsts[i];
    int b = lathe->firsts[(i + 1) % lathe->count];
    for (int k = 0; k < lathe->segments; ++k) {
        int next = k + 1 < lathe->segments ? k + 1 : 0;
        sizes[k] = isPole || isNextPole ? 3 : 4;
        *corner++ = isPole ? a : a + k;
        if (!isPole) {
            *corner++ = a + next;
        }
        *corner++ = isNextPole ? b : b + next;
        if (!isNextPole) {
            *corner++ = b + k;
        }
    }
    return corner;
}

// The solid of revolution about z of a simple profile of points (r, z), r >= 0, where no single
// point touches the axis; counter-clockwise unless it is reversed.
static void latheProfile(const double (*profile)[2], int count, int segments, bool isReversed,
                         rbOwnedMesh* mesh)
{
    size_t firstBytes = (size_t)count * sizeof(int);
    Lathe lathe = {profile, count, segments, isReversed, rbAlloc(firstBytes)};
    int vertexCount, faceCount, indexCount;
    planRevolution(&lathe, &vertexCount, &faceCount, &indexCount);
    rbAllocMesh(mesh, vertexCount, faceCount, indexCount);
    placeVertices(&lathe, mesh->vertices);
    int face = 0;
    int* corner = mesh->indices;
    for (int i = 0; i < count; ++i) {
        if (getPoint(&lathe, i)[0] > 0.0 || getPoint(&lathe, i + 1)[0] > 0.0) {
            corner = addSide(&lathe, i, mesh->faceSizes + face, corner);
            face += segments;
        }
    }
    RB_ASSERT(face == faceCount);
    RB_ASSERT(corner - mesh->indices == indexCount);
    rbFree(lathe.firsts, firstBytes);
}

rbStatus rbRevolveProfile(const double (*profileRZ)[2], int count, int segments, rbOwnedMesh* mesh,
                          rbError* error)
{
    RB_ASSERT(mesh != NULL);
    *mesh = (rbOwnedMesh){0};
    RB_TRY(checkProfile(profileRZ, count, error));
    RB_TRY(checkAxis(profileRZ, count, error));
    RB_INVALID_IF(segments < 3 || segments > SEGMENTS_MAX, error,
                  "the revolution has %d segments; 3 to %d are accepted", segments, SEGMENTS_MAX);
    RB_REFUSE_IF((long long)count * segments * 4 > RB_MESH_ELEMENTS_MAX, RB_STATUS_LIMIT, error,
                 "%d points in %d segments produce more than %d corners; use fewer", count,
                 segments, RB_MESH_ELEMENTS_MAX);
    latheProfile(profileRZ, count, segments, rbGetPolygonArea(profileRZ, count) < 0.0, mesh);
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------ for display

// The number of segments: a chord of half angle a deviates by r (1 - cos a) from its circle. A cell
// of a longitude-latitude net that spans half angles a and b is a plane trapezoid with its corners
// on the sphere. Its plane intersects the middle meridian in a chord of the ellipse with semi axes
// r cos a and r; the circle's chord has the distance r cos b from the center, compressing by cos a
// shortens that at most by this factor, hence r (1 - cos a cos b) bounds the deviation. With a = b
// it is r sin^2 a.

#define NET_SEGMENTS_MAX 100000 // a net with more is far beyond RB_TRIANGLES_MAX anyway

int rbTriangleSink_AddVertex(rbTriangleSink* sink, rbVec3 vertex)
{
    if (sink->isOverLimit) {
        return 0;
    }
    RB_ASSERT(rbIsFinite3(vertex));
    rbArray_Push(sink->vertices, vertex);
    return sink->vertices.count - 1;
}

void rbTriangleSink_AddTriangle(rbTriangleSink* sink, int a, int b, int c)
{
    if (rbTriangleSink_Refuses(sink, 1.0)) {
        return;
    }
    RB_ASSERT(a >= 0 && a < sink->vertices.count);
    RB_ASSERT(b >= 0 && b < sink->vertices.count);
    RB_ASSERT(c >= 0 && c < sink->vertices.count);
    rbIndex3 triangle = {{a, b, c}};
    rbArray_Push(sink->triangles, triangle);
}

bool rbTriangleSink_Refuses(rbTriangleSink* sink, double count)
{
    if ((double)sink->triangles.count + count > (double)RB_TRIANGLES_MAX) {
        sink->isOverLimit = true;
    }
    return sink->isOverLimit;
}

// Surface of revolution about z of a profile of points (r, z) listed from bottom to top, r >= 0;
// points with r = 0 are poles.
static void revolve(rbTriangleSink* sink, const double (*profile)[2], int count, int segments)
{
    RB_ASSERT(count >= 2 && segments >= 3);
    if (rbTriangleSink_Refuses(sink, 2.0 * (double)count * (double)segments)) {
        return;
    }
    rbOwnedMesh mesh;
    latheProfile(profile, count, segments, false, &mesh);
    int first = sink->vertices.count;
    for (int i = 0; i < mesh.vertexCount; ++i) {
        rbTriangleSink_AddVertex(sink, mesh.vertices[i]);
    }
    const int* loop = mesh.indices;
    for (int f = 0; f < mesh.faceCount; ++f) {
        for (int k = 2; k < mesh.faceSizes[f]; ++k) {
            rbTriangleSink_AddTriangle(sink, first + loop[0], first + loop[k - 1], first + loop[k]);
        }
        loop += mesh.faceSizes[f];
    }
    rbFreeMesh(&mesh);
}

// Even number of segments, at least 6, so that a circle of the given radius deviates at most by
// deviation from its polygon; with two curvatures, a sphere from its longitude-latitude net of as
// many segments around and half as many from pole to pole. 0 if it would be beyond any limit.
static int countSegments(double radius, double deviation, bool hasTwoCurvatures)
{
    RB_ASSERT(radius > 0.0 && deviation > 0.0);
    double ratio = deviation / radius;
    // half angle a: sin^2 a = ratio, or 2 sin^2 (a/2) = ratio
    double square = hasTwoCurvatures ? ratio : 0.5 * ratio;
    if (square >= 0.75) {
        return 6;
    }
    double angle = rbAtan2(sqrt(square), sqrt(1.0 - square));
    double halfAngle = hasTwoCurvatures ? angle : 2.0 * angle;
    // the tiny factor accounts for the rounding of the vertices themselves
    double wanted = RB_PI / halfAngle * (1.0 + 1e-9);
    if (!(wanted < (double)NET_SEGMENTS_MAX)) {
        return 0;
    }
    int half = (int)floor(0.5 * wanted) + 1;
    return half < 3 ? 6 : 2 * half;
}

void rbTriangleSink_AddRound(rbTriangleSink* sink, double radius, double halfLength,
                             double deviation)
{
    RB_ASSERT(halfLength >= 0.0);
    int segments = countSegments(radius, deviation, true);
    if (segments == 0 || rbTriangleSink_Refuses(sink, (double)segments * (double)segments)) {
        sink->isOverLimit = true;
        return;
    }
    // stacks of each half, so that the equator is a ring; it is doubled if there is a side
    int stacks = (segments / 2 + 1) / 2;
    int middle = halfLength > 0.0 ? 1 : 0;
    int count = 2 * stacks + 1 + middle;
    size_t size = (size_t)count * sizeof(double[2]);
    double(*profile)[2] = rbAlloc(size);
    for (int k = 0; k <= stacks; ++k) {
        double s, c;
        rbSinCos(0.5 * RB_PI * (double)k / (double)stacks, &s, &c);
        double r = k < stacks ? radius * c : 0.0;
        double z = k < stacks ? radius * s : radius;
        profile[stacks - k][0] = r;
        profile[stacks - k][1] = -z - halfLength;
        profile[stacks + middle + k][0] = r;
        profile[stacks + middle + k][1] = z + halfLength;
    }
    revolve(sink, (const double(*)[2])profile, count, segments);
    rbFree(profile, size);
}

void rbTriangleSink_AddEllipsoid(rbTriangleSink* sink, rbVec3 semiAxes, double deviation)
{
    double longest = rbLargestComponent(semiAxes);
    RB_ASSERT(longest > 0.0);
    int first = sink->vertices.count;
    rbTriangleSink_AddRound(sink, 1.0, 0.0, deviation / longest);
    for (int i = first; i < sink->vertices.count; ++i) {
        sink->vertices.data[i] = rbMulEach(semiAxes, sink->vertices.data[i]);
    }
}

void rbTriangleSink_AddLathed(rbTriangleSink* sink, const double (*profile)[2], int count,
                              double radius, double deviation)
{
    int segments = countSegments(radius, deviation, false);
    if (segments == 0) {
        sink->isOverLimit = true;
        return;
    }
    revolve(sink, profile, count, segments);
}
