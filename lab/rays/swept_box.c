// Boxes around bodies and their swept volumes: see swept_box.h.
#include "lab/rays/swept_box.h"

#include "dynamics/motion/path.h"
#include "lab/math/polynomial.h"

#include <math.h>

// Margin for the rounding of corners, relative to the coordinates.
#define SLACK 1e-12
// Samples per piece that choose the axes of a box; the extents do not depend on them.
#define SCAN_SAMPLES 32

// A right-handed frame whose first axis is along the first vector and whose second is in the plane
// of both. If either is zero or they are parallel, any frame that fits.
static void setAxes(rbOrientedBox* box, rbVec3 first, rbVec3 second)
{
    double length = rbLength(first);
    rbVec3 a = length > 0.0 ? rbScale(1.0 / length, first) : rbMakeVec3(1.0, 0.0, 0.0);
    rbVec3 b = rbAddScaled(second, -rbDot(second, a), a);
    double lateral = rbLength(b);
    if (lateral > 1e-12 * rbLength(second)) {
        // Twice, because the first difference may have canceled.
        b = rbScale(1.0 / lateral, b);
        b = rbNormalize(rbAddScaled(b, -rbDot(b, a), a));
    } else {
        b = rbNormalize(rbPerpendicular(a));
    }
    box->axes[0] = a;
    box->axes[1] = b;
    box->axes[2] = rbCross(a, b);
}

// Extents along the axes: center and half lengths, enlarged by the margin.
static void setExtents(rbOrientedBox* box, const double low[3], const double high[3], double margin)
{
    box->center = RB_VEC3_ZERO;
    double size = 0.0;
    for (int i = 0; i < 3; ++i) {
        box->center = rbAddScaled(box->center, 0.5 * (low[i] + high[i]), box->axes[i]);
        box->half[i] = 0.5 * (high[i] - low[i]) + margin;
        size += fabs(low[i]) + fabs(high[i]) + margin;
    }
    for (int i = 0; i < 3; ++i) {
        box->half[i] += SLACK * size;
    }
}

rbOrientedBox rbBoxSphere(rbVec3 center, double radius)
{
    rbOrientedBox box = {.center = center};
    setAxes(&box, rbMakeVec3(1.0, 0.0, 0.0), rbMakeVec3(0.0, 1.0, 0.0));
    double low[3] = {center.x, center.y, center.z};
    setExtents(&box, low, low, radius);
    return box;
}

// The ends of the longest edge of any face, the first among equals.
static void findLongestEdge(const rbMeshDef* mesh, rbVec3* start, rbVec3* along)
{
    double longest = -1.0;
    int first = 0;
    for (int f = 0; f < mesh->faceCount; ++f) {
        int size = mesh->faceSizes != NULL ? mesh->faceSizes[f] : 3;
        for (int k = 0; k < size; ++k) {
            rbVec3 p = mesh->vertices[mesh->indices[first + k]];
            rbVec3 q = mesh->vertices[mesh->indices[first + (k + 1) % size]];
            double length = rbDistance(p, q);
            if (length > longest) {
                longest = length;
                *start = p;
                *along = rbSub(q, p);
            }
        }
        first += size;
    }
}

bool rbBoxPolytope(const rbMeshDef* mesh, rbTransform transform, rbOrientedBox* box)
{
    RB_ASSERT(mesh->faceCount > 0);
    rbVec3 start = RB_VEC3_ZERO;
    rbVec3 along = RB_VEC3_ZERO;
    findLongestEdge(mesh, &start, &along);
    rbVec3 unit = rbNormalize(along);
    double farthest = -1.0;
    rbVec3 lateral = RB_VEC3_ZERO;
    for (int i = 0; i < mesh->vertexCount; ++i) {
        rbVec3 d = rbSub(mesh->vertices[i], start);
        d = rbAddScaled(d, -rbDot(d, unit), unit);
        if (rbLengthSquared(d) > farthest) {
            farthest = rbLengthSquared(d);
            lateral = d;
        }
    }
    if (!(farthest > 1e-24 * rbLengthSquared(along))) {
        return false;
    }
    *box = (rbOrientedBox){.isEndless = false};
    setAxes(box, rbRotate(transform.q, along), rbRotate(transform.q, lateral));
    double low[3] = {INFINITY, INFINITY, INFINITY};
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < mesh->vertexCount; ++i) {
        rbVec3 p = rbTransformPoint(transform, mesh->vertices[i]);
        for (int k = 0; k < 3; ++k) {
            double x = rbDot(p, box->axes[k]);
            low[k] = fmin(low[k], x);
            high[k] = fmax(high[k], x);
        }
    }
    setExtents(box, low, high, 0.0);
    return true;
}

// Box along the axes of the frame of the geometry.
static rbOrientedBox boxByFrame(const rbGeometry* geometry, rbTransform transform)
{
    rbBounds bounds = rbGeometry_GetBounds(geometry, RB_TRANSFORM_IDENTITY);
    rbOrientedBox box = {.isEndless = false};
    setAxes(&box, rbRotate(transform.q, rbMakeVec3(1.0, 0.0, 0.0)),
            rbRotate(transform.q, rbMakeVec3(0.0, 1.0, 0.0)));
    rbVec3 lower = bounds.lower;
    rbVec3 upper = bounds.upper;
    double shift[3];
    for (int k = 0; k < 3; ++k) {
        shift[k] = rbDot(transform.p, box.axes[k]);
    }
    double low[3] = {lower.x + shift[0], lower.y + shift[1], lower.z + shift[2]};
    double high[3] = {upper.x + shift[0], upper.y + shift[1], upper.z + shift[2]};
    setExtents(&box, low, high, 0.0);
    return box;
}

rbOrientedBox rbBoxGeometry(const rbGeometry* geometry, rbTransform transform)
{
    rbOrientedBox box = {.isEndless = true};
    if (!rbGeometry_IsBounded(geometry)) {
        return box;
    }
    if (rbGeometry_GetType(geometry) == RB_SHAPE_SPHERE) {
        return rbBoxSphere(transform.p, rbGeometry_GetData(geometry).sphere.radius);
    }
    rbMeshDef mesh;
    if (rbGeometry_GetMesh(geometry, &mesh) && rbBoxPolytope(&mesh, transform, &box)) {
        return box;
    }
    return boxByFrame(geometry, transform);
}

rbOrientedBox rbBoxLine(rbVec3 from, rbVec3 to, double radius)
{
    rbVec3 way = rbSub(to, from);
    if (!(rbLength(way) > 0.0)) {
        return rbBoxSphere(from, radius);
    }
    rbOrientedBox box = {.isEndless = false};
    setAxes(&box, way, RB_VEC3_ZERO);
    double low[3];
    double high[3];
    for (int i = 0; i < 3; ++i) {
        double a = rbDot(from, box.axes[i]);
        double b = rbDot(to, box.axes[i]);
        low[i] = fmin(a, b);
        high[i] = fmax(a, b);
    }
    setExtents(&box, low, high, radius);
    return box;
}

// The smallest and the largest component of a piece along an axis: at its ends or where the
// derivative 3 ((1-u)^2 d0 + 2 u (1-u) d1 + u^2 d2) is zero.
static void includePiece(const rbVec3 b[4], rbVec3 axis, double* low, double* high)
{
    double x[4];
    for (int i = 0; i < 4; ++i) {
        x[i] = rbDot(b[i], axis);
    }
    *low = fmin(*low, fmin(x[0], x[3]));
    *high = fmax(*high, fmax(x[0], x[3]));
    double d0 = x[1] - x[0];
    double d1 = x[2] - x[1];
    double d2 = x[3] - x[2];
    const double derivative[3] = {d0, 2.0 * (d1 - d0), d0 - 2.0 * d1 + d2};
    rbRealRoots roots = rbSolveQuadratic(derivative);
    for (int i = 0; i < roots.count; ++i) {
        double u = roots.x[i];
        if (u > 0.0 && u < 1.0) {
            double v = 1.0 - u;
            double value = v * v * v * x[0] + 3.0 * v * v * u * x[1] + 3.0 * v * u * u * x[2] +
                           u * u * u * x[3];
            *low = fmin(*low, value);
            *high = fmax(*high, value);
        }
    }
}

rbOrientedBox rbBoxCurve(const rbVec3 (*pieces)[4], int pieceCount, double radius)
{
    RB_ASSERT(pieceCount > 0);
    rbVec3 start = pieces[0][0];
    rbVec3 chord = rbSub(pieces[pieceCount - 1][3], start);
    // A closed curve has no chord: uses the direction to its first other point.
    for (int i = 0; i < pieceCount && !(rbLength(chord) > 0.0); ++i) {
        chord = rbSub(rbGetBezierPoint(pieces[i], 0.5), start);
    }
    rbVec3 unit = rbNormalize(chord);
    double farthest = 0.0;
    rbVec3 lateral = RB_VEC3_ZERO;
    for (int i = 0; i < pieceCount * SCAN_SAMPLES; ++i) {
        double u = (double)(i % SCAN_SAMPLES) / SCAN_SAMPLES;
        rbVec3 d = rbSub(rbGetBezierPoint(pieces[i / SCAN_SAMPLES], u), start);
        d = rbAddScaled(d, -rbDot(d, unit), unit);
        if (rbLengthSquared(d) > farthest) {
            farthest = rbLengthSquared(d);
            lateral = d;
        }
    }
    rbOrientedBox box = {.isEndless = false};
    setAxes(&box, chord, lateral);
    double low[3] = {INFINITY, INFINITY, INFINITY};
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < pieceCount; ++i) {
            includePiece(pieces[i], box.axes[k], &low[k], &high[k]);
        }
    }
    setExtents(&box, low, high, radius);
    return box;
}
