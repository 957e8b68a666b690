// Intersection of boxes: separating axes, and rays between faces as published.
//
// The idea of the rays: if a ray leaves a face outward and the facing face of the other box is
// behind its start, the faces have passed each other. This is also true for a box that is entirely
// behind; hence the variants. Measured on 20,000 random pairs (the test repeats it), the plain
// variant reports intersection for three of four separate boxes, and those that bound the parameter
// miss some intersecting pairs. None replaces the axes.
#include "lab/bounds/volume_rows.h"
#include "lab/rays/ray_settings.h"
#include "lab/rays/swept_box.h"

#include <math.h>

static const char* const testNames[RB_BOXES_TEST_COUNT] = {
    [RB_BOXES_AXES] = "axes",       [RB_BOXES_ALL] = "all",   [RB_BOXES_NEARER] = "nearer",
    [RB_BOXES_BOUNDED] = "bounded", [RB_BOXES_BOTH] = "both", [RB_BOXES_GUARDED] = "guarded",
};
RB_DEFINE_WORDS(rbBoxTest, "test of boxes", RB_BOXES_TEST_COUNT, testNames[index])

rbBoxRecord rbMakeBoxRecord(const rbOrientedBox* box)
{
    RB_ASSERT(!box->isEndless);
    rbBoxRecord record = {.center = box->center, .corner = box->center};
    for (int i = 0; i < 3; ++i) {
        record.edges[i] = rbScale(2.0 * box->half[i], box->axes[i]);
        record.corner = rbAddScaled(record.corner, -box->half[i], box->axes[i]);
    }
    for (int c = 0; c < 8; ++c) {
        record.corners[c] = record.corner;
        for (int i = 0; i < 3; ++i) {
            if ((c >> i & 1) != 0) {
                record.corners[c] = rbAdd(record.corners[c], record.edges[i]);
            }
        }
    }
    for (int f = 0; f < 6; ++f) {
        int axis = f / 2;
        int side = f % 2;
        int u = 1 << (axis + 1) % 3;
        int v = 1 << (axis + 2) % 3;
        int origin = side << axis;
        // Seen along the axis, u to v turns right: outward on the far side, otherwise reversed.
        int around[4] = {origin, origin | (side == 1 ? u : v), origin | u | v,
                         origin | (side == 1 ? v : u)};
        const int corners[6] = {around[0], around[1], around[2], around[0], around[2], around[3]};
        for (int k = 0; k < 6; ++k) {
            record.triangles[2 * f + k / 3][k % 3] = corners[k];
        }
        record.faceCenters[f] =
            rbScale(0.5, rbAdd(record.corners[around[0]], record.corners[around[2]]));
        record.normals[f] = side == 1 ? box->axes[axis] : rbNeg(box->axes[axis]);
    }
    return record;
}

static void storeVolume(const rbOrientedBox* box, double* volume)
{
    rbStore3(volume + RB_OBB_CENTER, box->center);
    rbStore3(volume + RB_OBB_AXES, box->axes[0]);
    rbStore3(volume + RB_OBB_AXES + 3, box->axes[1]);
    rbStore3(volume + RB_OBB_AXES + 6, box->axes[2]);
    rbStore3(volume + RB_OBB_HALF, rbMakeVec3(box->half[0], box->half[1], box->half[2]));
}

bool rbBoxesMeet(const rbOrientedBox* a, const rbOrientedBox* b)
{
    if (a->isEndless || b->isEndless) {
        return true;
    }
    double volumeA[RB_OBB_SIZE];
    double volumeB[RB_OBB_SIZE];
    storeVolume(a, volumeA);
    storeVolume(b, volumeB);
    return !(rbBoundObbs(volumeA, volumeB) > 0.0);
}

// A random point of face f: alternates between its triangles, uniform in area.
static rbVec3 drawPoint(const rbBoxRecord* record, int f, int turn, rbRandom* random)
{
    const int* corners = record->triangles[2 * f + turn % 2];
    rbVec3 p = record->corners[corners[0]];
    double x = rbRandom_Unit(random);
    double y = rbRandom_Unit(random);
    bool isOver = x + y > 1.0;
    x = isOver ? 1.0 - x : x;
    y = isOver ? 1.0 - y : y;
    rbVec3 q = rbAddScaled(p, x, rbSub(record->corners[corners[1]], p));
    return rbAddScaled(q, y, rbSub(record->corners[corners[2]], p));
}

// Whether the line from a point along a direction hits face f, and where. The two triangles of a
// face form a rectangle.
static bool meetFace(const rbOrientedBox* box, const rbBoxRecord* record, int f, rbVec3 start,
                     rbVec3 along, double* t)
{
    rbVec3 normal = record->normals[f];
    double slope = rbDot(along, normal);
    if (fabs(slope) < 1e-12) {
        return false;
    }
    *t = rbDot(rbSub(record->faceCenters[f], start), normal) / slope;
    rbVec3 d = rbSub(rbAddScaled(start, *t, along), record->faceCenters[f]);
    int u = (f / 2 + 1) % 3;
    int v = (f / 2 + 2) % 3;
    return fabs(rbDot(d, box->axes[u])) <= box->half[u] &&
           fabs(rbDot(d, box->axes[v])) <= box->half[v];
}

typedef struct Boxes {
    const rbOrientedBox* a; // casts the rays
    const rbOrientedBox* b;
    rbBoxRecord recordA, recordB;
    bool isNearer;
    bool isBounded;
    int rays;
    rbRandom* random;
} Boxes;

static bool castFaces(const Boxes* boxes, int i, int j)
{
    double thickness = 2.0 * boxes->a->half[i / 2];
    // Touching does not count: the least depth that does, relative to the size of the boxes.
    double least =
        1e-9 * (rbLength(boxes->recordA.edges[i / 2]) + rbLength(boxes->recordB.edges[j / 2]));
    for (int k = 0; k < boxes->rays; ++k) {
        rbVec3 start = drawPoint(&boxes->recordA, i, k, boxes->random);
        double t;
        if (meetFace(boxes->b, &boxes->recordB, j, start, boxes->recordA.normals[i], &t) &&
            t < -least && (!boxes->isBounded || t > -thickness)) {
            return true;
        }
    }
    return false;
}

// The pairs of faces that face each other: for each axis of A and axis of B two pairs, one of each
// side.
static bool castAll(const Boxes* boxes)
{
    const rbBoxRecord* a = &boxes->recordA;
    const rbBoxRecord* b = &boxes->recordB;
    for (int p = 0; p < 3; ++p) {
        for (int q = 0; q < 3; ++q) {
            double slope = rbDot(boxes->a->axes[p], boxes->b->axes[q]);
            if (slope == 0.0) {
                continue;
            }
            int facing = slope < 0.0 ? 1 : 0; // side of B that faces the far side of A
            const int pairs[2][2] = {{2 * p + 1, 2 * q + facing}, {2 * p, 2 * q + 1 - facing}};
            double first = rbDistance(a->faceCenters[pairs[0][0]], b->faceCenters[pairs[0][1]]);
            double second = rbDistance(a->faceCenters[pairs[1][0]], b->faceCenters[pairs[1][1]]);
            for (int k = 0; k < 2; ++k) {
                bool isFarther = k == 0 ? first > second : second >= first;
                if (!(boxes->isNearer && isFarther) && castFaces(boxes, pairs[k][0], pairs[k][1])) {
                    return true;
                }
            }
        }
    }
    return false;
}

static bool holdsPoint(const rbOrientedBox* box, rbVec3 point)
{
    rbVec3 d = rbSub(point, box->center);
    for (int i = 0; i < 3; ++i) {
        if (!(fabs(rbDot(d, box->axes[i])) < box->half[i])) {
            return false;
        }
    }
    return true;
}

static bool holdsCorner(const rbOrientedBox* box, const rbBoxRecord* other)
{
    for (int c = 0; c < 8; ++c) {
        if (holdsPoint(box, other->corners[c])) {
            return true;
        }
    }
    return holdsPoint(box, other->center);
}

bool rbBoxesMeetByRays(const rbOrientedBox* a, const rbOrientedBox* b, rbBoxTest test, int rays,
                       rbRandom* random)
{
    RB_ASSERT((unsigned)test < RB_BOXES_TEST_COUNT && rays > 0);
    if (test == RB_BOXES_AXES || a->isEndless || b->isEndless) {
        return rbBoxesMeet(a, b);
    }
    // Concentric boxes have no nearer faces.
    double size = a->half[0] + a->half[1] + a->half[2];
    if (rbDistance(a->center, b->center) < 1e-9 * size) {
        return true;
    }
    Boxes boxes = {.a = a,
                   .b = b,
                   .recordA = rbMakeBoxRecord(a),
                   .recordB = rbMakeBoxRecord(b),
                   .isNearer = test == RB_BOXES_NEARER,
                   .isBounded = test != RB_BOXES_ALL && test != RB_BOXES_NEARER,
                   .rays = rays,
                   .random = random};
    if (test == RB_BOXES_GUARDED &&
        (holdsCorner(a, &boxes.recordB) || holdsCorner(b, &boxes.recordA))) {
        return true;
    }
    if (castAll(&boxes)) {
        return true;
    }
    if (test != RB_BOXES_BOTH && test != RB_BOXES_GUARDED) {
        return false;
    }
    Boxes swapped = boxes;
    swapped.a = b;
    swapped.b = a;
    swapped.recordA = boxes.recordB;
    swapped.recordB = boxes.recordA;
    return castAll(&swapped);
}
