#include "mesh_reference.h"

#include "base/core/memory.h"
#include "peers/peer_pose.h"

#include <rattleback/vecmath.h>

#include <math.h>

// A triangle and its bounding ball, in the world.
typedef struct rbForceTriangle {
    rbVec3 corners[3];
    rbVec3 center; // m
    double radius;
} rbForceTriangle;

typedef RB_ARRAY(rbForceTriangle) rbForceArray;

// --------------------------------------------------------------------------------------- triangles

static double measurePointSegment(rbVec3 point, rbVec3 a, rbVec3 b)
{
    rbVec3 along = rbSub(b, a);
    double length2 = rbDot(along, along);
    double t = length2 > 0.0 ? rbDot(rbSub(point, a), along) / length2 : 0.0;
    t = fmin(fmax(t, 0.0), 1.0);
    return rbLength(rbSub(point, rbAddScaled(a, t, along)));
}

// The least distance of the end points to the other segment and, if it lies within both, of the
// points where their lines are nearest.
static double measureSegments(const rbVec3 a[2], const rbVec3 b[2])
{
    double least =
        fmin(fmin(measurePointSegment(a[0], b[0], b[1]), measurePointSegment(a[1], b[0], b[1])),
             fmin(measurePointSegment(b[0], a[0], a[1]), measurePointSegment(b[1], a[0], a[1])));
    rbVec3 u = rbSub(a[1], a[0]);
    rbVec3 v = rbSub(b[1], b[0]);
    rbVec3 w = rbSub(b[0], a[0]);
    rbVec3 normal = rbCross(u, v);
    double normal2 = rbDot(normal, normal);
    if (normal2 > 0.0) {
        double s = rbDot(rbCross(w, v), normal) / normal2;
        double t = rbDot(rbCross(w, u), normal) / normal2;
        if (s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0) {
            rbVec3 between = rbSub(rbAddScaled(b[0], t, v), rbAddScaled(a[0], s, u));
            least = fmin(least, rbLength(between));
        }
    }
    return least;
}

// Does the projection of a point onto the plane of a triangle lie inside the triangle?
static bool isOver(rbVec3 point, const rbVec3 corners[3], rbVec3 normal)
{
    for (int i = 0; i < 3; ++i) {
        rbVec3 edge = rbSub(corners[(i + 1) % 3], corners[i]);
        if (rbDot(rbCross(edge, rbSub(point, corners[i])), normal) < 0.0) {
            return false;
        }
    }
    return true;
}

// Corners of one over the interior of the other; 0 if an edge of one crosses the other.
static double measureCorners(const rbVec3 corners[3], const rbVec3 face[3])
{
    rbVec3 normal = rbCross(rbSub(face[1], face[0]), rbSub(face[2], face[0]));
    double length = rbLength(normal);
    if (!(length > 0.0)) {
        return INFINITY; // its edges already cover this case
    }
    normal = rbScale(1.0 / length, normal);
    double least = INFINITY;
    double heights[3];
    for (int i = 0; i < 3; ++i) {
        heights[i] = rbDot(rbSub(corners[i], face[0]), normal);
        if (isOver(corners[i], face, normal)) {
            least = fmin(least, fabs(heights[i]));
        }
    }
    for (int i = 0; i < 3; ++i) {
        int next = (i + 1) % 3;
        if (heights[i] * heights[next] < 0.0) {
            double t = heights[i] / (heights[i] - heights[next]);
            rbVec3 edge = rbSub(corners[next], corners[i]);
            if (isOver(rbAddScaled(corners[i], t, edge), face, normal)) {
                return 0.0;
            }
        }
    }
    return least;
}

static double measureTriangles(const rbForceTriangle* a, const rbForceTriangle* b)
{
    double least =
        fmin(measureCorners(a->corners, b->corners), measureCorners(b->corners, a->corners));
    for (int i = 0; i < 9 && least > 0.0; ++i) {
        rbVec3 edgeA[2] = {a->corners[i / 3], a->corners[(i / 3 + 1) % 3]};
        rbVec3 edgeB[2] = {b->corners[i % 3], b->corners[(i % 3 + 1) % 3]};
        least = fmin(least, measureSegments(edgeA, edgeB));
    }
    return least;
}

// ------------------------------------------------------------------------------------------ meshes

static rbVec3 readVertex(const rbPeerMesh* mesh, int index)
{
    const double* v = mesh->vertices[index];
    return rbMakeVec3(v[0], v[1], v[2]);
}

// Triangles of a body that intersect a ball.
static void collect(const rbPeerMesh* mesh, rbTransform transform, rbVec3 center, double radius,
                    rbForceArray* triangles)
{
    triangles->count = 0;
    for (int i = 0; i < mesh->triangleCount; ++i) {
        rbForceTriangle made = {.radius = 0.0};
        for (int k = 0; k < 3; ++k) {
            made.corners[k] = rbTransformPoint(transform, readVertex(mesh, mesh->triangles[i][k]));
            made.center = rbAddScaled(made.center, 1.0 / 3.0, made.corners[k]);
        }
        for (int k = 0; k < 3; ++k) {
            made.radius = fmax(made.radius, rbLength(rbSub(made.corners[k], made.center)));
        }
        if (rbLength(rbSub(made.center, center)) - made.radius <= radius) {
            rbArray_Push(*triangles, made);
        }
    }
}

// The distance if it is at most the limit, otherwise a value above the limit.
static double measureWithin(const rbPeerMesh* mesh, const rbTransform transforms[2], double limit,
                            rbForceArray near[2])
{
    double radius = 0.0;
    for (int i = 0; i < mesh->vertexCount; ++i) {
        radius = fmax(radius, rbLength(readVertex(mesh, i)));
    }
    collect(mesh, transforms[0], transforms[1].p, radius + limit, &near[0]);
    collect(mesh, transforms[1], transforms[0].p, radius + limit, &near[1]);
    double best = INFINITY;
    for (int i = 0; i < near[0].count && best > 0.0; ++i) {
        const rbForceTriangle* a = &near[0].data[i];
        for (int k = 0; k < near[1].count && best > 0.0; ++k) {
            const rbForceTriangle* b = &near[1].data[k];
            double reach = fmin(best, limit) + a->radius + b->radius;
            rbVec3 between = rbSub(b->center, a->center);
            if (rbDot(between, between) <= reach * reach) {
                best = fmin(best, measureTriangles(a, b));
            }
        }
    }
    return best;
}

double rbMeasureMeshesByForce(const rbPeerMesh* mesh, const rbPeerPair* pair, double guess)
{
    RB_ASSERT(isfinite(guess) && guess >= 0.0);
    rbTransform transforms[2] = {rbReadPeerPose(&pair->a), rbReadPeerPose(&pair->b)};
    rbForceArray near[2] = {{0}, {0}};
    double limit = guess + 1e-6;
    double distance = measureWithin(mesh, transforms, limit, near);
    while (distance > limit) {
        limit = 1.5 * limit + 1e-3;
        distance = measureWithin(mesh, transforms, limit, near);
    }
    rbArray_Free(near[0]);
    rbArray_Free(near[1]);
    return distance;
}
