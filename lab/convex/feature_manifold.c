// Contact points of two overlapping faces, and the selection of four of them.
//
// Everything is projected along the common normal n: a corner has two coordinates in the plane
// perpendicular to n and a height along n. The closest points of two elements of parallel faces are
// those that coincide in the plane; for tilted faces this measures along n instead of along the
// connecting line, so that all points share n, as a manifold promises.
#include "lab/convex/feature_manifold.h"

#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/manifold.h"

#include <math.h>

// Points closer to each other or to an edge than this, relative to the face size, coincide.
#define SAME_POINT 1e-9
#define ON_EDGE 1e-12
// Sine of the angle up to which two edges count as parallel, and the sine above which the crossing
// of two edges is used.
#define PARALLEL_SINE 1e-3
#define CROSSING_SINE 1e-9
// A face seen at a smaller sine has no inside.
#define SLANT_MIN 1e-3

typedef struct Corner {
    double x, y; // across the normal
    double z;    // along it
    int vertex;  // ids
    int edge;    // from this corner to the next
} Corner;

// A face, segment or point in the contact frame.
typedef struct Outline {
    int count;
    int face;      // id
    double side;   // +1: counter-clockwise, -1: clockwise, 0: no inside
    rbVec3 normal; // of the face, in the contact frame; zero if there is none
    Corner corners[RB_FEATURE_CORNERS_MAX];
} Outline;

typedef struct Frame {
    rbVec3 origin, ex, ey, n; // frame of A
    double size;              // m, size of the larger face
    double radii[2];
    double threshold;
} Frame;

// -------------------------------------------------------------------------------------- faces

typedef struct FaceSearch {
    const rbFeatureBody* bodies[2];
    rbMat3 rotation;
    rbVec3 n; // frame of A
    int best[2];
    double score;
} FaceSearch;

// The k-th face at a feature, -1 beyond the last one.
static int faceAt(const rbFeatureBody* body, int kind, int index, int k)
{
    if (kind == RB_FEATURE_FACE) {
        return k == 0 ? index : -1;
    }
    if (kind == RB_FEATURE_EDGE) {
        return k == 0 ? body->edges[index].faceLeft : (k == 1 ? body->edges[index].faceRight : -1);
    }
    // for each edge of the vertex the face on its left, seen from the vertex: each face once
    int slot = body->vertexEdgeStarts[index] + k;
    if (slot >= body->vertexEdgeStarts[index + 1]) {
        return -1;
    }
    const rbEdge* edge = &body->edges[body->vertexEdges[slot]];
    return edge->v0 == index ? edge->faceLeft : edge->faceRight;
}

// Prefers faces that are antiparallel to each other and, among equals, to the normal.
static void validateFaces(FaceSearch* search, int faceA, int faceB)
{
    rbVec3 a = faceA >= 0 ? search->bodies[0]->normals[faceA] : search->n;
    rbVec3 b = faceB >= 0 ? rbMulMV(search->rotation, search->bodies[1]->normals[faceB])
                          : rbNeg(search->n);
    double score = rbDot(b, search->n) - rbDot(a, search->n) + rbDot(a, b);
    if (score < search->score) {
        search->score = score;
        search->best[0] = faceA;
        search->best[1] = faceB;
    }
}

static void chooseFaces(FaceSearch* search, const rbFeaturePair* pair)
{
    RB_ASSERT(pair->kindA > RB_FEATURE_NONE && pair->kindA <= RB_FEATURE_FACE);
    RB_ASSERT(pair->kindB > RB_FEATURE_NONE && pair->kindB <= RB_FEATURE_FACE);
    search->best[0] = search->best[1] = -1;
    search->score = INFINITY;
    int faceA = faceAt(search->bodies[0], pair->kindA, pair->indexA, 0);
    for (int i = 0; i == 0 || faceA >= 0; ++i) {
        int faceB = faceAt(search->bodies[1], pair->kindB, pair->indexB, 0);
        for (int k = 0; k == 0 || faceB >= 0; ++k) {
            validateFaces(search, faceA, faceB);
            faceB = faceAt(search->bodies[1], pair->kindB, pair->indexB, k + 1);
        }
        faceA = faceAt(search->bodies[0], pair->kindA, pair->indexA, i + 1);
    }
}

static void addCorner(const Frame* frame, Outline* outline, rbVec3 p, int vertex, int edge)
{
    RB_ASSERT(outline->count < RB_FEATURE_CORNERS_MAX);
    rbVec3 r = rbSub(p, frame->origin);
    outline->corners[outline->count++] =
        (Corner){rbDot(frame->ex, r), rbDot(frame->ey, r), rbDot(frame->n, r), vertex, edge};
}

// Edge ids of a box as in clipping: the axis and the lower corner.
static int nameEdge(const rbFeatureBody* body, int edge)
{
    return body->vertices == body->corners ? 8 * (edge / 4) + body->edges[edge].v0 : edge;
}

// A face, or the whole of a point or segment. transform NULL: the body is A.
static void makeOutline(const Frame* frame, const rbFeatureBody* body, int face,
                        const rbTransform* transform, Outline* outline)
{
    outline->count = 0;
    outline->face = face >= 0 ? face : 0;
    outline->side = 0.0;
    outline->normal = RB_VEC3_ZERO;
    RB_ASSERT(face < body->faceCount);
    int start = face >= 0 ? body->faceStarts[face] : 0;
    int size = face >= 0 ? body->faceStarts[face + 1] - start : body->vertexCount;
    int kept = size < RB_FEATURE_CORNERS_MAX ? size : RB_FEATURE_CORNERS_MAX;
    for (int k = 0; k < kept; ++k) {
        int corner = start + (int)((long long)k * size / kept);
        int vertex = face >= 0 ? body->faceVertices[corner] : corner;
        rbVec3 p = body->vertices[vertex];
        addCorner(frame, outline, transform != NULL ? rbTransformPoint(*transform, p) : p, vertex,
                  face >= 0 ? nameEdge(body, body->faceEdges[corner]) : 0);
    }
    if (face >= 0) {
        rbVec3 n = body->normals[face];
        n = transform != NULL ? rbRotate(transform->q, n) : n;
        outline->normal = rbMakeVec3(rbDot(frame->ex, n), rbDot(frame->ey, n), rbDot(frame->n, n));
        double z = outline->normal.z;
        outline->side = z > SLANT_MIN ? 1.0 : (z < -SLANT_MIN ? -1.0 : 0.0);
    }
}

static int countSides(const Outline* outline)
{
    return outline->count > 2 ? outline->count : outline->count - 1;
}

static const Corner* nextCorner(const Outline* outline, int k)
{
    return &outline->corners[(k + 1) % outline->count];
}

// ------------------------------------------------------------------------------------- points

// Adds the point at x, y with the heights of A and B there, unless it is too far or already known.
static void addPoint(const Frame* frame, const double at[2], const double heights[2], uint32_t id,
                     rbFeatureContacts* contacts)
{
    double distance = heights[1] - heights[0] - frame->radii[0] - frame->radii[1];
    if (!(distance <= frame->threshold) || contacts->count >= RB_FEATURE_CONTACTS_MAX) {
        return;
    }
    rbVec3 p = rbAddScaled(rbAddScaled(frame->origin, at[0], frame->ex), at[1], frame->ey);
    p = rbAddScaled(p, heights[0] + frame->radii[0], frame->n);
    for (int k = 0; k < contacts->count; ++k) {
        if (rbDistance(contacts->points[k].pointA, p) <= SAME_POINT * frame->size) {
            return;
        }
    }
    contacts->points[contacts->count++] =
        (rbManifoldPoint){p, rbAddScaled(p, distance, frame->n), distance, id};
}

static bool isOver(const Outline* face, const Corner* p, double slack)
{
    for (int k = 0; k < face->count; ++k) {
        const Corner* a = &face->corners[k];
        const Corner* b = nextCorner(face, k);
        double ux = b->x - a->x;
        double uy = b->y - a->y;
        double off = face->side * (ux * (p->y - a->y) - uy * (p->x - a->x));
        if (off < -slack * sqrt(ux * ux + uy * uy)) {
            return false;
        }
    }
    return true;
}

// Adds corners of one outline over the inside of the other. isOfA: the corners are those of A.
static void addCornersOverFace(const Frame* frame, const Outline* corners, const Outline* face,
                               bool isOfA, rbFeatureContacts* contacts)
{
    RB_ASSERT(corners->count >= 1 && face->count >= 1);
    if (face->side == 0.0) {
        return;
    }
    RB_ASSERT(fabs(face->normal.z) >= SLANT_MIN);
    for (int k = 0; k < corners->count; ++k) {
        const Corner* p = &corners->corners[k];
        if (!isOver(face, p, ON_EDGE * frame->size)) {
            continue;
        }
        const Corner* o = &face->corners[0];
        rbVec3 n = face->normal;
        double height = o->z - (n.x * (p->x - o->x) + n.y * (p->y - o->y)) / n.z;
        const double at[2] = {p->x, p->y};
        const double heights[2] = {isOfA ? p->z : height, isOfA ? height : p->z};
        addPoint(frame, at, heights,
                 rbMakeFeatureId(isOfA ? RB_MEETING_VERTEX_A : RB_MEETING_VERTEX_B, p->vertex,
                                 face->face),
                 contacts);
    }
}

// Adds corners of one outline over an edge of the other: gives the points of segments, and of
// parallel edges where neither face is flush. A segment may be skewed by PARALLEL_SINE.
static void addCornersOverEdges(const Frame* frame, const Outline* corners, const Outline* other,
                                bool isOfA, rbFeatureContacts* contacts)
{
    bool isWide = corners->count == 2 || other->count == 2;
    for (int k = 0; k < corners->count; ++k) {
        const Corner* p = &corners->corners[k];
        for (int m = 0; m < countSides(other); ++m) {
            const Corner* a = &other->corners[m];
            const Corner* b = nextCorner(other, m);
            double ux = b->x - a->x;
            double uy = b->y - a->y;
            double length = sqrt(ux * ux + uy * uy);
            double along = (p->x - a->x) * ux + (p->y - a->y) * uy;
            double off = fabs(ux * (p->y - a->y) - uy * (p->x - a->x));
            double slack = isWide ? PARALLEL_SINE * length : ON_EDGE * frame->size;
            double end = ON_EDGE * frame->size * length;
            if (!(length > SLANT_MIN * fabs(b->z - a->z)) || off > slack * length || along < -end ||
                along > length * length + end) {
                continue;
            }
            double height = a->z + along / (length * length) * (b->z - a->z);
            const double at[2] = {p->x, p->y};
            const double heights[2] = {isOfA ? p->z : height, isOfA ? height : p->z};
            addPoint(frame, at, heights,
                     rbMakeFeatureId(isOfA ? RB_MEETING_VERTEX_A : RB_MEETING_VERTEX_B, p->vertex,
                                     other->count > 2 ? other->face : 0),
                     contacts);
        }
    }
}

// Adds the crossings of the edges.
static void addCrossings(const Frame* frame, const Outline* a, const Outline* b,
                         rbFeatureContacts* contacts)
{
    for (int i = 0; i < countSides(a); ++i) {
        const Corner* p = &a->corners[i];
        const Corner* pEnd = nextCorner(a, i);
        double ux = pEnd->x - p->x;
        double uy = pEnd->y - p->y;
        for (int k = 0; k < countSides(b); ++k) {
            const Corner* q = &b->corners[k];
            const Corner* qEnd = nextCorner(b, k);
            double vx = qEnd->x - q->x;
            double vy = qEnd->y - q->y;
            double across = ux * vy - uy * vx;
            double lengths = sqrt((ux * ux + uy * uy) * (vx * vx + vy * vy));
            if (!(fabs(across) > CROSSING_SINE * lengths)) {
                continue;
            }
            double rx = q->x - p->x;
            double ry = q->y - p->y;
            double s = (rx * vy - ry * vx) / across;
            double t = (rx * uy - ry * ux) / across;
            if (s < 0.0 || s > 1.0 || t < 0.0 || t > 1.0) {
                continue;
            }
            const double at[2] = {p->x + s * ux, p->y + s * uy};
            const double heights[2] = {p->z + s * (pEnd->z - p->z), q->z + t * (qEnd->z - q->z)};
            addPoint(frame, at, heights, rbMakeFeatureId(RB_MEETING_CROSSING, p->edge, q->edge),
                     contacts);
        }
    }
}

static double sizeOf(const Outline* outline)
{
    double size = 0.0;
    const Corner* a = &outline->corners[0];
    for (int k = 1; k < outline->count; ++k) {
        const Corner* b = &outline->corners[k];
        double dx = b->x - a->x;
        double dy = b->y - a->y;
        double dz = b->z - a->z;
        size = rbMaxOf(size, sqrt(dx * dx + dy * dy + dz * dz));
    }
    return size;
}

void rbCollectFeatureContacts(const rbFeatureBody* a, const rbFeatureBody* b,
                              rbTransform transformBtoA, const rbFeatureResult* walk,
                              double threshold, rbFeatureContacts* contacts)
{
    RB_ASSERT(isfinite(walk->distance) && isfinite(threshold));
    RB_ASSERT(fabs(rbLengthSquared(walk->normal) - 1.0) < 1e-9);
    contacts->count = 0;
    contacts->normal = walk->normal;
    double distance = walk->distance - a->radius - b->radius;
    if (!(distance <= threshold)) {
        return;
    }
    FaceSearch search = {
        .bodies = {a, b}, .rotation = rbMatFromQuat(transformBtoA.q), .n = walk->normal};
    chooseFaces(&search, &walk->features);
    Frame frame = {.origin = walk->a,
                   .n = walk->normal,
                   .ex = rbPerpendicular(walk->normal),
                   .radii = {a->radius, b->radius},
                   .threshold = threshold};
    frame.ey = rbCross(frame.n, frame.ex);
    Outline outlineA;
    Outline outlineB;
    makeOutline(&frame, a, search.best[0], NULL, &outlineA);
    makeOutline(&frame, b, search.best[1], &transformBtoA, &outlineB);
    frame.size = rbMaxOf(sizeOf(&outlineA), sizeOf(&outlineB));
    if (outlineA.count > 1 && outlineB.count > 1) {
        addCornersOverFace(&frame, &outlineA, &outlineB, true, contacts);
        addCornersOverFace(&frame, &outlineB, &outlineA, false, contacts);
        addCornersOverEdges(&frame, &outlineA, &outlineB, true, contacts);
        addCornersOverEdges(&frame, &outlineB, &outlineA, false, contacts);
        addCrossings(&frame, &outlineA, &outlineB, contacts);
    }
    double lowest = INFINITY;
    for (int k = 0; k < contacts->count; ++k) {
        double here = contacts->points[k].distance;
        lowest = here < lowest ? here : lowest;
    }
    if (lowest > distance + SAME_POINT * frame.size && contacts->count < RB_FEATURE_CONTACTS_MAX) {
        rbVec3 pointA = rbAddScaled(walk->a, a->radius, walk->normal);
        contacts->points[contacts->count++] = (rbManifoldPoint){
            pointA, rbAddScaled(pointA, distance, walk->normal), distance, RB_FEATURE_WITNESS};
    }
}

void rbBuildFeatureManifold(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                            const rbFeatureResult* walk, double threshold, rbManifold* manifold)
{
    rbFeatureBody bodies[2];
    rbFeatureBody_Make(a, &bodies[0]);
    rbFeatureBody_Make(b, &bodies[1]);
    rbFeatureContacts contacts;
    rbCollectFeatureContacts(&bodies[0], &bodies[1], transformBtoA, walk, threshold, &contacts);
    RB_ASSERT(contacts.count >= 0 && contacts.count <= RB_FEATURE_CONTACTS_MAX);
    *manifold = (rbManifold){.normal = walk->normal};
    double size = 0.0;
    for (int k = 1; k < contacts.count; ++k) {
        size = rbMaxOf(size, rbDistance(contacts.points[k].pointA, contacts.points[0].pointA));
    }
    rbReducePoints(contacts.points, contacts.count, size, manifold);
}
