// 1. The distance of the bodies is measured. In overlap B is moved out by a translation s, so that
//    all triangles are separate; a distance d along n is then d - n . s for the actual bodies.
// 2. Every pair of triangles within reach yields candidates: for flush faces the corners of the
//    region they share, for others their nearest points if these are a local minimum of the
//    distance.
// 3. Candidates are sorted by depth. The deepest one leads a cluster, which collects all that have
//    its normal and lie in its plane; then the deepest of the rest leads the next.
// 4. Each cluster is reduced to the points of a manifold.
#include "collision/narrowphase/mesh_contacts.h"

#include "collision/narrowphase/manifold.h"
#include "collision/narrowphase/mesh_depth.h"

#include <float.h>
#include <math.h>

// Cosine of the angle up to which faces are flush: 3 degrees, as for convex shapes.
#define FLUSH_COSINE 0.9986
// Cosine and sine of the angle between the normals of one manifold, and of the slope from its
// leader to its points: 0.08 degrees. If facets of a thread or a ring were merged, they would push
// only along the normal of one of them, and bodies would slide into the others.
#define CLUSTER_COSINE 0.999999
#define CLUSTER_SINE 0.0014
// Points closer to each other than this fraction of the region are merged.
#define SAME_POINT 1e-6
// Points closer to contact than this fraction of the size have no direction.
#define TOUCHING 1e-10
// A pair of nearest points is a local minimum if no path along the surface from one of them
// approaches the other by more than this sine.
#define LOCAL_SINE 1e-7
// A separating translation longer than this fraction of the smaller body is not informative about
// the individual contact locations.
#define LOCAL_PART 0.1
// Points that the separating motion exposes although they were not deep: at most this fraction of
// the motion, measured along it, where the motion exceeds rounding.
#define GRAZE_PART 0.01
#define GRAZE_COSINE 0.1
#define DEEP_PART 1e-4 // relative to the size
// Relative to the size: corners of a steep triangle at most this high above its nearest point
// count.
#define STEEP_PART 0.005
// Number of separate places where surfaces cross; one curve may be split into many until the
// traversal has found the pieces that join them.
#define REGION_MAX 64
// And the number of places for which candidates are searched.
#define PLACE_MAX 16
// The depth of a place is searched by doubling, from this fraction of the depth of a lens up to
// twice the lens: for a flat box on a flat floor it is a small fraction.
#define FIRST_PART (1.0 / 64.0)
#define PART_STEPS 8
// Pairs of triangles examined within one reach before a quarter of it is tried, this many times;
// and within the last one.
#define PAIR_MAX 2000
#define LAST_PAIR_MAX 8000
#define REACH_STEPS 5
#define CLIP_MAX 9

// A candidate contact point.
typedef struct Candidate {
    rbManifoldPoint point; // of the actual bodies, without radii
    rbVec3 normal;
    int cluster; // -1: none yet
    bool isKept;
} Candidate;

typedef struct Collector {
    const rbMeshPair* pair;
    rbMat3 rotation;
    rbVec3 offset;       // m, displacement of B
    double threshold;    // m, without radii
    double size;         // m, of the bodies
    bool isLimited;      // restricted to a place with a normal
    rbVec3 lower, upper; // m
    rbVec3 normal;
    int pairsLeft; // remaining pairs to examine
    Candidate* items;
    rbManifoldPoint* chosen; // same size
    int count, capacity;
    bool isDeep;    // the bodies overlap significantly
    double ceiling; // m, height limit of candidates with the bodies moved
} Collector;

// Two triangles with their normals.
typedef struct Faces {
    const rbNearPair* pair;
    rbVec3 normalA, normalB; // unit, or zero if degenerate
    int originA, originB;    // index in the triangles of the shapes
} Faces;

// --------------------------------------------------------------------------------------- clusters

// Deepest first; Shell sort, the same order for the same input.
static void sortItems(Candidate* items, int count)
{
    int gap = 1;
    while (gap < count / 3) {
        gap = 3 * gap + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (int i = gap; i < count; ++i) {
            Candidate item = items[i];
            int at = i;
            for (; at >= gap && items[at - gap].point.distance > item.point.distance; at -= gap) {
                items[at] = items[at - gap];
            }
            items[at] = item;
        }
    }
}

static bool belongs(const Candidate* item, const Candidate* leader, double size)
{
    rbVec3 way = rbSub(item->point.pointA, leader->point.pointA);
    return rbDot(item->normal, leader->normal) > CLUSTER_COSINE &&
           fabs(rbDot(way, leader->normal)) <=
               CLUSTER_SINE * rbLength(way) + SAME_POINT * size + fabs(item->point.distance);
}

// Sorts the candidates, assigns each a cluster and returns the number of clusters.
static int formClusters(Collector* c)
{
    sortItems(c->items, c->count);
    for (int i = 0; i < c->count; ++i) {
        c->items[i].cluster = -1;
        c->items[i].isKept = false;
    }
    int clusters = 0;
    for (int i = 0; i < c->count; ++i) {
        if (c->items[i].cluster >= 0) {
            continue;
        }
        for (int j = i; j < c->count; ++j) {
            if (c->items[j].cluster < 0 &&
                (j == i || belongs(&c->items[j], &c->items[i], c->size))) {
                c->items[j].cluster = clusters;
            }
        }
        ++clusters;
    }
    return clusters;
}

// Among the deepest points, moves the one farthest from the center to the front: a corner, which
// the reduction keeps, where all are equally deep.
static void leadWithCorner(Collector* c, int count)
{
    rbVec3 sum = RB_VEC3_ZERO;
    double least = INFINITY;
    for (int i = 0; i < count; ++i) {
        sum = rbAdd(sum, c->chosen[i].pointA);
        least = fmin(least, c->chosen[i].distance);
    }
    rbVec3 middle = rbScale(1.0 / count, sum);
    int first = 0;
    double farthest = -1.0;
    for (int i = 0; i < count; ++i) {
        double far = rbDistance(c->chosen[i].pointA, middle);
        if (c->chosen[i].distance <= least + 1e-9 * c->size && far > farthest) {
            farthest = far;
            first = i;
        }
    }
    rbManifoldPoint swap = c->chosen[0];
    c->chosen[0] = c->chosen[first];
    c->chosen[first] = swap;
}

// Twice the area of three points projected along the normal.
static double areaOf(const rbManifold* m, int i, int j, int k)
{
    rbVec3 a = m->points[i].pointA;
    return rbDot(m->normal, rbCross(rbSub(m->points[j].pointA, a), rbSub(m->points[k].pointA, a)));
}

// Drops the points that span nothing beyond those before them: the reduction selected them only for
// lack of better ones.
static void dropIdle(rbManifold* m, double extent)
{
    double shortest = SAME_POINT * extent;
    if (m->count > 1 && !(rbDistance(m->points[1].pointA, m->points[0].pointA) > shortest)) {
        m->count = 1;
    }
    if (m->count > 2 && !(fabs(areaOf(m, 0, 1, 2)) > shortest * extent)) {
        m->count = 2;
    }
    if (m->count > 3) {
        double sign = areaOf(m, 0, 1, 2) > 0.0 ? -1.0 : 1.0;
        double gain = fmax(sign * areaOf(m, 0, 1, 3),
                           fmax(sign * areaOf(m, 1, 2, 3), sign * areaOf(m, 2, 0, 3)));
        m->count = gain > shortest * extent ? 4 : 3;
    }
}

// The manifold of a cluster; marks the candidates kept.
static rbManifold reduceCluster(Collector* c, int cluster)
{
    rbManifold manifold = {0};
    int count = 0;
    double extent = 0.0;
    for (int i = 0; i < c->count; ++i) {
        const Candidate* item = &c->items[i];
        if (item->cluster != cluster) {
            continue;
        }
        if (count == 0) {
            manifold.normal = item->normal; // of the leader
        }
        rbManifoldPoint point = item->point;
        point.distance = rbDot(manifold.normal, rbSub(point.pointB, point.pointA));
        point.pointB = rbAddScaled(point.pointA, point.distance, manifold.normal);
        point.featureId = (uint32_t)i; // until it is chosen
        if (count == 0 || point.distance <= c->threshold) {
            c->chosen[count++] = point;
            extent = fmax(extent, rbDistance(point.pointA, c->chosen[0].pointA));
        }
    }
    RB_ASSERT(count > 0);
    leadWithCorner(c, count);
    rbReducePoints(c->chosen, count, extent, &manifold);
    dropIdle(&manifold, fmax(extent, 1e-9 * c->size));
    for (int i = 0; i < manifold.count; ++i) {
        Candidate* item = &c->items[manifold.points[i].featureId];
        item->isKept = true;
        manifold.points[i].featureId = item->point.featureId;
    }
    return manifold;
}

// Frees capacity: keeps the manifold points of every cluster, then the deepest points.
static void condense(Collector* c)
{
    int clusters = formClusters(c);
    for (int i = 0; i < clusters; ++i) {
        (void)reduceCluster(c, i);
    }
    int kept = 0;
    for (int i = 0; i < c->count; ++i) {
        if (c->items[i].isKept) {
            c->items[kept++] = c->items[i];
        }
    }
    c->count = kept < c->capacity / 2 ? kept : c->capacity / 2;
}

// ------------------------------------------------------------------------------------- candidates

static bool isInPlace(const Collector* c, rbVec3 point, rbVec3 normal)
{
    return !c->isLimited ||
           (rbDot(normal, c->normal) > 0.5 && point.x >= c->lower.x && point.y >= c->lower.y &&
            point.z >= c->lower.z && point.x <= c->upper.x && point.y <= c->upper.y &&
            point.z <= c->upper.z);
}

// Adds a point of A with the distance of the moved B from it.
static void addCandidate(Collector* c, rbVec3 pointA, double moved, rbVec3 normal, uint32_t id)
{
    double along = rbDot(normal, c->offset);
    double distance = moved - along;
    if (!(distance <= c->threshold) || moved > c->ceiling || !isInPlace(c, pointA, normal)) {
        return;
    }
    // the nearest points of other faces at the rim of an overlap: not deep, and no push is needed
    // there
    if (c->isDeep && along > GRAZE_COSINE * rbLength(c->offset) && distance > -GRAZE_PART * along) {
        return;
    }
    if (c->count == c->capacity) {
        condense(c);
    }
    RB_ASSERT(c->count < c->capacity);
    rbManifoldPoint point = {pointA, rbAddScaled(pointA, distance, normal), distance, id};
    c->items[c->count++] = (Candidate){point, normal, -1, false};
}

static int originOf(const rbPolyhedron* p, int triangle)
{
    return p->tree->blocks[triangle / RB_BOX_WIDTH].origins[triangle % RB_BOX_WIDTH];
}

static int faceOf(const rbPolyhedron* p, int origin)
{
    return p->faceOfTriangle[origin];
}

// Id of the edge between two corners of a triangle, the same from either triangle.
static int nameEdge(const rbPolyhedron* p, int origin, int corner)
{
    unsigned u = (unsigned)p->triangles[origin].v[corner];
    unsigned v = (unsigned)p->triangles[origin].v[(corner + 1) % 3];
    unsigned low = u < v ? u : v;
    unsigned high = u < v ? v : u;
    return (int)((low * 0x9E3779B1u ^ high * 0x85EBCA77u) & 0x7FFFFFFFu);
}

// A corner of the clipped triangle; side leads to the next corner: >= 0 a side of that triangle,
// <= -2 side -2 - side of the reference.
typedef struct ClipCorner {
    rbVec3 point;
    int side;
} ClipCorner;

// Cuts off the part beyond the side of the reference that starts at corner k, as seen along n.
static int clipBySide(const rbVec3 reference[3], int k, rbVec3 n, const ClipCorner* in, int count,
                      ClipCorner* out)
{
    rbVec3 start = reference[k];
    rbVec3 along = rbSub(reference[(k + 1) % 3], start);
    rbVec3 outward = rbNormalize(rbCross(along, n));
    double slack = 1e-12 * (rbLength(along) + rbLength(start)); // so that flush sides keep their
                                                                // corners
    double offset = rbDot(outward, start);
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        const ClipCorner* p = &in[i];
        const ClipCorner* q = &in[(i + 1) % count];
        double above = rbDot(outward, p->point) - offset;
        double next = rbDot(outward, q->point) - offset;
        bool isIn = above <= slack;
        RB_ASSERT(kept + 2 <= CLIP_MAX);
        if (isIn) {
            out[kept++] = *p;
        }
        if (isIn != (next <= slack)) {
            double t = fmin(fmax(above / (above - next), 0.0), 1.0);
            rbVec3 cut = rbAddScaled(p->point, t, rbSub(q->point, p->point));
            out[kept++] = (ClipCorner){cut, isIn ? -2 - k : p->side};
        }
    }
    return kept;
}

// Id of a corner between two sides.
static uint32_t nameCorner(const Collector* c, const Faces* f, int before, int after,
                           bool isReferenceA)
{
    const rbPolyhedron* shapes[2] = {c->pair->a->polyhedron, c->pair->b->polyhedron};
    const int origins[2] = {f->originA, f->originB};
    int r = isReferenceA ? 0 : 1; // reference
    if ((before < 0) == (after < 0)) {
        int i = -2 - before;
        int j = -2 - after;
        int corner = before >= 0 ? after : (i + 1) % 3 == j ? j : i;
        int owner = before >= 0 ? 1 - r : r;
        return rbMakeFeatureId(owner == 0 ? RB_MEETING_VERTEX_A : RB_MEETING_VERTEX_B,
                               shapes[owner]->triangles[origins[owner]].v[corner],
                               faceOf(shapes[1 - owner], origins[1 - owner]));
    }
    int sideR = nameEdge(shapes[r], origins[r], -2 - (before < 0 ? before : after));
    int sideI = nameEdge(shapes[1 - r], origins[1 - r], before < 0 ? after : before);
    return rbMakeFeatureId(RB_MEETING_CROSSING, isReferenceA ? sideR : sideI,
                           isReferenceA ? sideI : sideR);
}

// The corners of the region that two triangles share, projected along the normal n from A to B,
// which is nearly that of the reference.
static void addShared(Collector* c, const Faces* f, rbVec3 n, bool isReferenceA)
{
    const rbVec3* reference = isReferenceA ? f->pair->cornersA : f->pair->cornersB;
    const rbVec3* incident = isReferenceA ? f->pair->cornersB : f->pair->cornersA;
    rbVec3 faceNormal = isReferenceA ? f->normalA : f->normalB;
    ClipCorner buffers[2][CLIP_MAX];
    int from = 0;
    int count = 3;
    for (int k = 0; k < 3; ++k) {
        buffers[0][k] = (ClipCorner){incident[k], k};
    }
    // the sides run counter-clockwise about the cross product of the corners
    rbVec3 cross = rbCross(rbSub(reference[1], reference[0]), rbSub(reference[2], reference[0]));
    rbVec3 up = rbDot(cross, n) >= 0.0 ? n : rbNeg(n);
    for (int k = 0; k < 3 && count > 0; ++k) {
        count = clipBySide(reference, k, up, buffers[from], count, buffers[1 - from]);
        from = 1 - from;
    }
    double slope = rbDot(faceNormal, n);
    for (int k = 0; k < count; ++k) {
        const ClipCorner* corner = &buffers[from][k];
        double along = rbDot(faceNormal, rbSub(corner->point, reference[0])) / slope;
        double height = isReferenceA ? along : -along;
        if (height >= -1e-9 * c->size) { // otherwise they face away from each other
            rbVec3 foot = rbAddScaled(corner->point, -along, n);
            int before = buffers[from][(k + count - 1) % count].side;
            addCandidate(c, isReferenceA ? foot : corner->point, height, n,
                         nameCorner(c, f, before, corner->side, isReferenceA));
        }
    }
}

// Does the direction m from a point of an edge lead away from both of its faces?
static bool isLocalAtEdge(const rbPolyhedron* p, int u, int v, rbVec3 m)
{
    int count;
    const int* edges = rbPolyhedron_GetVertexEdges(p, u, &count);
    for (int i = 0; i < count; ++i) {
        const rbEdge* edge = &p->edges[edges[i]];
        if (edge->v0 + edge->v1 != u + v || (edge->v0 != u && edge->v0 != v)) {
            continue;
        }
        rbVec3 along = rbNormalize(rbSub(p->vertices[edge->v1], p->vertices[edge->v0]));
        // into the left face, which runs along the edge, and into the right one
        rbVec3 left = rbCross(p->normals[edge->faceLeft], along);
        if (rbDot(m, left) > LOCAL_SINE) {
            return false;
        }
        return edge->faceRight < 0 ||
               rbDot(m, rbCross(along, p->normals[edge->faceRight])) <= LOCAL_SINE;
    }
    return true; // a diagonal of a face
}

static bool isLocalAtVertex(const rbPolyhedron* p, int vertex, rbVec3 m)
{
    int count;
    const int* edges = rbPolyhedron_GetVertexEdges(p, vertex, &count);
    for (int i = 0; i < count; ++i) {
        const rbEdge* edge = &p->edges[edges[i]];
        int other = edge->v0 == vertex ? edge->v1 : edge->v0;
        rbVec3 way = rbSub(p->vertices[other], p->vertices[vertex]);
        if (rbDot(m, way) > LOCAL_SINE * rbLength(way)) {
            return false;
        }
    }
    return true;
}

// Is a nearest point of a triangle also the nearest one of the surrounding surface? m leads to the
// other body, in the frame of this one.
static bool isLocal(const rbGeometry* geometry, int origin, rbFigurePart part, rbVec3 m)
{
    const rbPolyhedron* p = geometry->polyhedron;
    const int* corners = p->triangles[origin].v;
    if (part.kind == RB_FIGURE_FACE) {
        return !geometry->isSolid || rbDot(p->normals[faceOf(p, origin)], m) > 0.0;
    }
    if (p->edges == NULL) {
        return true;
    }
    return part.kind == RB_FIGURE_EDGE
               ? isLocalAtEdge(p, corners[part.index], corners[(part.index + 1) % 3], m)
               : isLocalAtVertex(p, corners[part.index], m);
}

static uint32_t nameWitness(const Collector* c, const Faces* f)
{
    const rbPolyhedron* a = c->pair->a->polyhedron;
    const rbPolyhedron* b = c->pair->b->polyhedron;
    rbFigurePart partA = f->pair->closest.partA;
    rbFigurePart partB = f->pair->closest.partB;
    if (partA.kind == RB_FIGURE_VERTEX) {
        return rbMakeFeatureId(RB_MEETING_VERTEX_A, a->triangles[f->originA].v[partA.index],
                               faceOf(b, f->originB));
    }
    if (partB.kind == RB_FIGURE_VERTEX) {
        return rbMakeFeatureId(RB_MEETING_VERTEX_B, b->triangles[f->originB].v[partB.index],
                               faceOf(a, f->originA));
    }
    if (partA.kind == RB_FIGURE_EDGE && partB.kind == RB_FIGURE_EDGE) {
        return rbMakeFeatureId(RB_MEETING_CROSSING, nameEdge(a, f->originA, partA.index),
                               nameEdge(b, f->originB, partB.index));
    }
    return rbMakeFeatureId(RB_MEETING_CROSSING, faceOf(a, f->originA), faceOf(b, f->originB));
}

// The nearest points of two triangles that are not flush; where they lie across a face, also the
// other corners of the region: an edge along a face has two.
static void addWitness(Collector* c, const Faces* f)
{
    const rbClosest* closest = &f->pair->closest;
    double distance = sqrt(closest->squared);
    if (!(distance > 0.0)) {
        return;
    }
    rbVec3 m = rbScale(1.0 / distance, rbSub(closest->b, closest->a));
    if (distance < TOUCHING * c->size) {
        // rounding determines the direction of the points
        bool isA = closest->partA.kind == RB_FIGURE_FACE;
        bool isB = closest->partB.kind == RB_FIGURE_FACE;
        m = isA ? f->normalA : isB ? rbNeg(f->normalB) : m;
    }
    if (!isLocal(c->pair->a, f->originA, closest->partA, m) ||
        !isLocal(c->pair->b, f->originB, closest->partB, rbNeg(rbMulMtV(c->rotation, m)))) {
        return;
    }
    bool isAcrossA = rbDot(m, f->normalA) > FLUSH_COSINE;
    bool isAcrossB = rbDot(m, f->normalB) < -FLUSH_COSINE;
    if (isAcrossA || isAcrossB) {
        // the other triangle may rise steeply: points high above the nearest point are not contacts
        c->ceiling = distance + STEEP_PART * c->size;
        addShared(c, f, isAcrossA ? f->normalA : rbNeg(f->normalB), isAcrossA);
        c->ceiling = INFINITY;
    }
    addCandidate(c, closest->a, distance, m, nameWitness(c, f));
}

static bool collect(const rbNearPair* pair, void* context)
{
    Collector* c = context;
    const rbVec3* a = pair->cornersA;
    const rbVec3* b = pair->cornersB;
    Faces f = {.pair = pair,
               .normalA = rbNormalize(rbCross(rbSub(a[1], a[0]), rbSub(a[2], a[0]))),
               .normalB = rbNormalize(rbCross(rbSub(b[1], b[0]), rbSub(b[2], b[0]))),
               .originA = originOf(c->pair->a->polyhedron, pair->triangleA),
               .originB = originOf(c->pair->b->polyhedron, pair->triangleB)};
    // a surface without an inside faces the other body
    rbVec3 way = rbSub(pair->closest.b, pair->closest.a);
    if (!c->pair->a->isSolid && rbDot(f.normalA, way) < 0.0) {
        f.normalA = rbNeg(f.normalA);
    }
    if (!c->pair->b->isSolid && rbDot(f.normalB, way) > 0.0) {
        f.normalB = rbNeg(f.normalB);
    }
    if (rbDot(f.normalA, f.normalB) < -FLUSH_COSINE) {
        addShared(c, &f, rbNormalize(rbSub(f.normalA, f.normalB)), true);
    } else {
        addWitness(c, &f);
    }
    return --c->pairsLeft > 0;
}

// The search of near pairs with B moved by an offset.
static rbTreeNearInput makeSearch(const rbMeshPair* pair, rbVec3 offset, rbNearPairFn* visit,
                                  void* context)
{
    return (rbTreeNearInput){
        .a = pair->a->polyhedron->tree,
        .b = pair->b->polyhedron->tree,
        .transformBtoA = {rbAdd(pair->transformBtoA.p, offset), pair->transformBtoA.q},
        .visit = visit,
        .context = context};
}

// All candidates with B moved by an offset; the surfaces are then at least the nearest distance
// apart. If there are too many, the reach is shortened, which keeps the deepest.
static void collectMoved(Collector* c, rbVec3 offset, double nearest)
{
    c->offset = offset;
    double reach = c->threshold + rbLength(offset);
    if (!(reach >= 0.0)) {
        return;
    }
    rbTreeNearInput input = makeSearch(c->pair, offset, collect, c);
    bool isComplete = false;
    double part = 1.0;
    for (int step = 0; step < REACH_STEPS && !isComplete; ++step) {
        // beyond the nearest distance by more than rounding
        double beyond = part * fmax(reach - nearest, 0.0) + TOUCHING * c->size;
        input.distance = fmin(reach, nearest + beyond);
        c->pairsLeft = step + 1 < REACH_STEPS ? PAIR_MAX : LAST_PAIR_MAX;
        isComplete = rbVisitNearPairs(&input).isComplete;
        part *= 0.25;
    }
}

// ---------------------------------------------------------------------------------------- regions

// Separate places where the surfaces cross.
typedef struct Regions {
    rbCrossing items[REGION_MAX];
    int count;
    int pairsLeft; // remaining pairs to examine
    rbVec3 origin;
} Regions;

static bool overlaps(const rbCrossing* a, const rbCrossing* b, double margin)
{
    return a->lower.x - margin <= b->upper.x && b->lower.x - margin <= a->upper.x &&
           a->lower.y - margin <= b->upper.y && b->lower.y - margin <= a->upper.y &&
           a->lower.z - margin <= b->upper.z && b->lower.z - margin <= a->upper.z;
}

static bool addRegion(const rbNearPair* pair, void* context)
{
    Regions* regions = context;
    rbCrossing piece = rbMakeCrossing(regions->origin);
    rbCrossing_Add(&piece, pair);
    // pieces of one curve touch, up to rounding
    double margin = 1e-3 * rbDistance(piece.lower, piece.upper);
    int kept = 0;
    for (int i = 0; i < regions->count; ++i) {
        if (overlaps(&regions->items[i], &piece, margin)) {
            rbCrossing_Join(&piece, &regions->items[i]);
        } else {
            regions->items[kept++] = regions->items[i];
        }
    }
    if (kept == REGION_MAX) {
        rbCrossing_Join(&piece, &regions->items[--kept]);
    }
    regions->items[kept++] = piece;
    regions->count = kept;
    return --regions->pairsLeft > 0;
}

// Stops at triangles that meet in the place, or when too many others have been examined.
static bool isElsewhere(const rbNearPair* pair, void* context)
{
    Collector* c = context;
    return --c->pairsLeft > 0 && !isInPlace(c, pair->closest.a, c->normal);
}

// Candidates of one place, B moved along its normal until nothing intersects there.
static void collectRegion(Collector* c, const rbCrossing* region)
{
    double guess = rbCrossing_GuessDepth(region);
    c->normal = rbCrossing_GetNormal(region);
    if (!(guess > 0.0) || !(rbLength(c->normal) > 0.0)) {
        return;
    }
    double depth = FIRST_PART * guess;
    for (int step = 0; step < PART_STEPS; ++step) {
        c->pairsLeft = PAIR_MAX;
        double margin = depth + fmax(c->threshold, 0.0);
        rbVec3 spread = rbMakeVec3(margin, margin, margin);
        c->lower = rbSub(region->lower, spread);
        c->upper = rbAdd(region->upper, spread);
        rbVec3 offset = rbScale(depth, c->normal);
        rbTreeNearInput input = makeSearch(c->pair, offset, isElsewhere, c);
        if (rbVisitNearPairs(&input).isComplete) {
            collectMoved(c, offset, 0.0);
            return;
        }
        depth *= 2.0;
    }
}

// Finds the places where the surfaces cross. If the separating translation is no longer than the
// sum of their depths, they count as one contact after all.
static void collectRegions(Collector* c, const rbSeparation* overlap)
{
    const rbMeshPair* pair = c->pair;
    Regions regions = {.count = 0, .pairsLeft = LAST_PAIR_MAX, .origin = overlap->pointA};
    rbTreeNearInput input = {.a = pair->a->polyhedron->tree,
                             .b = pair->b->polyhedron->tree,
                             .transformBtoA = pair->transformBtoA,
                             .visit = addRegion,
                             .context = &regions};
    (void)rbVisitNearPairs(&input);
    rbCrossing all = rbMakeCrossing(regions.origin);
    double deepest = 0.0;
    for (int i = 0; i < regions.count; ++i) {
        rbCrossing_Join(&all, &regions.items[i]);
        deepest = fmax(deepest, rbCrossing_GuessDepth(&regions.items[i]));
    }
    // coplanar faces provide no depth information
    if (-overlap->lower <= rbCrossing_GuessDepth(&all) || !(deepest > 0.0)) {
        collectMoved(c, rbScale(-overlap->lower, overlap->normal), 0.0);
        return;
    }
    c->isLimited = true;
    for (int i = 0; i < regions.count && i < PLACE_MAX; ++i) {
        collectRegion(c, &regions.items[i]);
    }
    c->isLimited = false;
}

// ------------------------------------------------------------------------------------------ query

static Collector makeCollector(const rbMeshPair* pair, double threshold)
{
    const rbBoxTree* a = pair->a->polyhedron->tree;
    const rbBoxTree* b = pair->b->polyhedron->tree;
    Collector c = {.pair = pair,
                   .rotation = rbMatFromQuat(pair->transformBtoA.q),
                   .threshold = threshold,
                   .size = a->radius + b->radius,
                   .ceiling = INFINITY};
    c.capacity = (int)(pair->scratchSize / (sizeof(Candidate) + sizeof(rbManifoldPoint)));
    RB_ASSERT(c.capacity >= 2);
    c.items = pair->scratch;
    c.chosen = (rbManifoldPoint*)(c.items + c.capacity);
    return c;
}

// Moves the points outward to the rounded surfaces.
static void emit(const rbManifold* manifold, double radiusA, double radiusB, rbContactList* list)
{
    if (list->count < list->capacity) {
        rbManifold* stored = &list->manifolds[list->count];
        *stored = *manifold;
        for (int i = 0; i < stored->count; ++i) {
            rbManifoldPoint* point = &stored->points[i];
            point->pointA = rbAddScaled(point->pointA, radiusA, stored->normal);
            point->pointB = rbAddScaled(point->pointB, -radiusB, stored->normal);
            point->distance -= radiusA + radiusB;
        }
    }
    ++list->count;
}

void rbFindMeshContacts(const rbMeshPair* pair, double threshold, double radiusA, double radiusB,
                        rbContactList* list)
{
    RB_ASSERT(pair->scratch != NULL && list != NULL);
    RB_ASSERT(isfinite(threshold) && radiusA >= 0.0 && radiusB >= 0.0);
    double reach = threshold + radiusA + radiusB;
    rbSeparation s;
    rbMeasureMeshes(pair, &s);
    if (!(s.distance <= reach)) {
        return;
    }
    // from here on the scratch memory holds candidates
    Collector c = makeCollector(pair, reach);
    double smaller = fmin(pair->a->polyhedron->tree->radius, pair->b->polyhedron->tree->radius);
    bool isOverlap = s.reason == RB_STOP_ESTIMATE;
    c.isDeep = isOverlap && -s.distance > DEEP_PART * c.size;
    if (!isOverlap || -s.lower <= LOCAL_PART * smaller) {
        collectMoved(&c, isOverlap ? rbScale(-s.lower, s.normal) : RB_VEC3_ZERO,
                     isOverlap ? 0.0 : s.distance);
    } else {
        collectRegions(&c, &s);
    }
    if (c.count == 0) {
        c.offset = RB_VEC3_ZERO;
        addCandidate(&c, s.pointA, s.distance, s.normal, RB_FEATURE_WITNESS);
    }
    int clusters = formClusters(&c);
    for (int i = 0; i < clusters; ++i) {
        rbManifold manifold = reduceCluster(&c, i);
        emit(&manifold, radiusA, radiusB, list);
    }
}
