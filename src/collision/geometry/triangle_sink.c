// The number of segments: a chord of half angle a deviates by r (1 - cos a) from its circle. A cell
// of a longitude-latitude net that spans half angles a and b is a plane trapezoid with its corners
// on the sphere. Its plane intersects the middle meridian in a chord of the ellipse with semi axes
// r cos a and r; the circle's chord has the distance r cos b from the center, compressing by cos a
// shortens that at most by this factor, hence r (1 - cos a cos b) bounds the deviation. With a = b
// it is r sin^2 a.
#include "collision/geometry/triangle_sink.h"

#include "base/math/elementary.h"
#include "collision/geometry/polygon.h"

#define SEGMENTS_MAX 100000 // a net with more is far beyond RB_TRIANGLES_MAX anyway

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
    rbLatheProfile(profile, count, segments, false, &mesh);
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
    double s = sqrt(square);
    double angle = rbAtan2(s, sqrt(1.0 - square));
    double halfAngle = hasTwoCurvatures ? angle : 2.0 * angle;
    // the tiny factor accounts for the rounding of the vertices themselves
    double wanted = RB_PI / halfAngle * (1.0 + 1e-9);
    if (!(wanted < (double)SEGMENTS_MAX)) {
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
    double longest = semiAxes.x > semiAxes.y ? semiAxes.x : semiAxes.y;
    longest = semiAxes.z > longest ? semiAxes.z : longest;
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
