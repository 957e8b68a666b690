// Manifolds by projection and clipping (B-60, B-61).
//
// The features that face each other are found in both shapes. With n the common normal, the
// incident feature is clipped against the prism over the sides of the reference polygon along n;
// the result is projected along n onto the plane of the reference. A corner of the result is a
// corner of one feature or a crossing of two sides, which identifies it whichever side was the
// reference: the sides that meet in a corner are tracked through the clipping.
#include "collision/narrowphase/manifold.h"

#include "collision/geometry/shape_ops.h"

#include <float.h>

// Cosine of the angle between a face and the normal within which the face is the reference: 3
// degrees. Points beyond exceed the threshold; the limit keeps the projection well conditioned.
#define FLUSH_COSINE 0.9986
// The same from which on the normal is that of the face, and how far the witness of a search may be
// from the point that it stands for, relative to the size of the shape.
#define FACE_COSINE (1.0 - 1e-14)
#define LAG_MOST 1e-6
// The face of B is the reference only if it is better aligned by this much.
#define PREFER_A 1e-6
// Sine of the angle up to which two segments are parallel.
#define PARALLEL_SINE 1e-3
// Points closer to each other than this fraction of the size are merged.
#define SAME_POINT 1e-9
// Of a region: points as deep as the deepest within this fraction of its size, and as far from the
// center, count as equal.
#define SAME_CORNER 1e-8
// Fraction of the size, or of its square: a smaller length or area counts as none.
#define FLAT 1e-6

#define CLIP_MAX (2 * RB_FEATURE_CORNERS_MAX + 4)

// A corner of the clipped feature; side leads to the next corner: >= 0 a side of the incident
// feature, <= -2 side -2 - side of the reference.
typedef struct ClipCorner {
    rbVec3 point;
    int side;
} ClipCorner;

_Static_assert(RB_FEATURE_POINTS_MAX >= CLIP_MAX + 1, "all candidates fit");

// Two bits of kind, then both indices verbatim if they are small, otherwise hashed.
uint32_t rbMakeFeatureId(rbMeeting meeting, int i, int j)
{
    uint32_t top = (uint32_t)meeting << 30;
    if (i >= 0 && i < 0x8000 && j >= 0 && j < 0x8000) {
        return top | (uint32_t)i << 15 | (uint32_t)j;
    }
    uint32_t mixed = (uint32_t)i * 0x9E3779B1u ^ (uint32_t)j * 0x85EBCA77u;
    return top | ((mixed ^ mixed >> 15) & 0x3FFFFFFFu);
}

uint32_t rbFlipFeatureId(uint32_t id)
{
    uint32_t meeting = id >> 30;
    bool isVertex = meeting == RB_MEETING_VERTEX_A || meeting == RB_MEETING_VERTEX_B;
    return isVertex ? id ^ 3u << 30 : id;
}

// Does the feature i of A meet the feature j of B, or vice versa?
static uint32_t makeVertexId(bool isOfA, int vertex, int face)
{
    return rbMakeFeatureId(isOfA ? RB_MEETING_VERTEX_A : RB_MEETING_VERTEX_B, vertex, face);
}

static rbManifoldPoint makePoint(rbVec3 pointA, double distance, rbVec3 normal, uint32_t id)
{
    return (rbManifoldPoint){pointA, rbAddScaled(pointA, distance, normal), distance, id};
}

static void addCandidate(rbFeaturePoints* candidates, rbVec3 pointA, double distance, rbVec3 normal,
                         uint32_t id)
{
    RB_ASSERT(candidates->count <= CLIP_MAX);
    candidates->points[candidates->count++] = makePoint(pointA, distance, normal, id);
}

// Cuts off the part on the positive side of the plane normal . x = offset by more than a slack
// (plane: normal, offset, slack), at the plane itself. A segment is not a cycle.
static int clipByPlane(const ClipCorner* in, int count, const double plane[5], int side,
                       ClipCorner* out)
{
    rbVec3 n = {plane[0], plane[1], plane[2]};
    double slack = plane[4];
    bool isCycle = count > 2;
    int kept = 0;
    for (int k = 0; k < count; ++k) {
        const ClipCorner* p = &in[k];
        const ClipCorner* q = &in[(k + 1) % count];
        double above = rbDot(n, p->point) - plane[3], next = rbDot(n, q->point) - plane[3];
        RB_ASSERT(kept + 2 <= CLIP_MAX);
        bool isIn = above <= slack;
        if (isIn) {
            out[kept++] = *p;
        }
        if ((isCycle || k + 1 < count) && isIn != (next <= slack)) {
            double t = rbMinOf(rbMaxOf(above / (above - next), 0.0), 1.0);
            rbVec3 cut = rbAddScaled(p->point, t, rbSub(q->point, p->point));
            // when leaving, the new side runs along the plane; when returning, along the old side
            out[kept++] = (ClipCorner){cut, isIn && isCycle ? side : p->side};
        }
    }
    return kept;
}

// Id of a corner between two sides.
static uint32_t nameCorner(int before, int after, const rbContactFeature* reference,
                           const rbContactFeature* incident, bool isReferenceA)
{
    if (before >= 0 && after >= 0) { // a corner of the incident feature
        return makeVertexId(!isReferenceA, incident->vertexIds[after], reference->faceId);
    }
    if (before < 0 && after < 0) { // one of the reference: the corner its second side starts from
        int i = -2 - before, j = -2 - after;
        int corner = (i + 1) % reference->count == j ? j : i;
        return makeVertexId(isReferenceA, reference->vertexIds[corner], incident->faceId);
    }
    int sideR = reference->edgeIds[-2 - (before < 0 ? before : after)];
    int sideI = incident->edgeIds[before < 0 ? after : before];
    return rbMakeFeatureId(RB_MEETING_CROSSING, isReferenceA ? sideR : sideI,
                           isReferenceA ? sideI : sideR);
}

// Ends of a clipped segment keep their id where they were not cut.
static uint32_t nameEnd(int k, rbVec3 point, const rbContactFeature* reference,
                        const rbContactFeature* incident, bool isReferenceA)
{
    for (int end = 0; end < 2; ++end) {
        rbVec3 c = incident->corners[end];
        if (c.x == point.x && c.y == point.y && c.z == point.z) {
            return makeVertexId(!isReferenceA, incident->vertexIds[end], reference->faceId);
        }
    }
    return rbMakeFeatureId(RB_MEETING_CROSSING, isReferenceA ? reference->faceId : 0x4000 + k,
                           isReferenceA ? 0x4000 + k : reference->faceId);
}

void rbClipFeatures(const rbContactFeature features[2], int side, rbVec3 normal,
                    rbFeaturePoints* candidates)
{
    const rbContactFeature* reference = &features[side];
    const rbContactFeature* incident = &features[1 - side];
    bool isReferenceA = side == 0;
    ClipCorner buffers[2][CLIP_MAX];
    int from = 0;
    int count = incident->count;
    for (int k = 0; k < count; ++k) {
        buffers[0][k] = (ClipCorner){incident->corners[k], k};
    }
    double slope = rbDot(reference->normal, normal);
    rbVec3 outward = slope >= 0.0 ? normal : rbNeg(normal);
    for (int k = 0; k < reference->count && count > 0; ++k) {
        rbVec3 start = reference->corners[k];
        rbVec3 along = rbSub(reference->corners[(k + 1) % reference->count], start);
        rbVec3 n = rbNormalize(rbCross(along, outward));
        // a small tolerance, so that flush sides keep their corners
        double slack = 1e-12 * (rbLength(along) + rbLength(start));
        const double plane[5] = {n.x, n.y, n.z, rbDot(n, start), slack};
        count = clipByPlane(buffers[from], count, plane, -2 - k, buffers[1 - from]);
        from = 1 - from;
    }
    for (int k = 0; k < count; ++k) {
        const ClipCorner* corner = &buffers[from][k];
        rbVec3 offset = rbSub(corner->point, reference->corners[0]);
        double along = rbDot(reference->normal, offset) / slope; // from the reference to the point
        uint32_t id = incident->count == 2
                          ? nameEnd(k, corner->point, reference, incident, isReferenceA)
                          : nameCorner(buffers[from][(k + count - 1) % count].side, corner->side,
                                       reference, incident, isReferenceA);
        rbVec3 foot = rbAddScaled(corner->point, -along, normal);
        addCandidate(candidates, isReferenceA ? foot : corner->point, isReferenceA ? along : -along,
                     normal, id);
    }
}

// Finds the sides of two features that are parallel and perpendicular to the normal, as segments.
static bool findSide(const rbContactFeature* feature, rbVec3 point, rbVec3 normal,
                     rbContactFeature* side)
{
    double nearest = INFINITY;
    int sides = feature->count == 2 ? 1 : feature->count;
    for (int k = 0; k < sides; ++k) {
        rbVec3 start = feature->corners[k];
        int next = (k + 1) % feature->count;
        rbVec3 along = rbSub(feature->corners[next], start);
        double length = rbLength(along);
        if (!(length > 0.0) || fabs(rbDot(along, normal)) > PARALLEL_SINE * length) {
            continue;
        }
        double off = rbLength(rbCross(rbSub(point, start), along)) / length;
        if (off < nearest) {
            nearest = off;
            side->count = 2;
            side->corners[0] = start;
            side->corners[1] = feature->corners[next];
            side->vertexIds[0] = feature->vertexIds[k];
            side->vertexIds[1] = feature->vertexIds[next];
            side->edgeIds[0] = side->edgeIds[1] = side->faceId = feature->edgeIds[k];
        }
    }
    return isfinite(nearest);
}

// Parallel segments: the interval they share.
static void overlapSides(const rbContactFeature* a, const rbContactFeature* b, rbVec3 normal,
                         rbFeaturePoints* candidates)
{
    rbVec3 along = rbSub(a->corners[1], a->corners[0]), other = rbSub(b->corners[1], b->corners[0]);
    double length = rbLength(along), lengthB = rbLength(other);
    if (!(length > 0.0 && lengthB > 0.0) ||
        rbLength(rbCross(along, other)) > PARALLEL_SINE * length * lengthB) {
        return;
    }
    rbVec3 u = rbScale(1.0 / length, along);
    double first = rbDot(u, rbSub(b->corners[0], a->corners[0]));
    double last = rbDot(u, rbSub(b->corners[1], a->corners[0]));
    double low = rbMaxOf(0.0, first < last ? first : last);
    double high = first < last ? last : first;
    high = high < length ? high : length;
    if (!(high > low)) {
        return;
    }
    const double ends[2] = {low, high};
    for (int k = 0; k < 2; ++k) {
        double s = ends[k];
        rbVec3 pointA = rbAddScaled(a->corners[0], s, u);
        double t = (s - first) / (last - first);
        rbVec3 pointB = rbAddScaled(b->corners[0], t, other);
        bool isOfA = s == 0.0 || s == length;
        bool isFirst = isOfA ? s == 0.0 : t < 0.5;
        int vertex = (isOfA ? a : b)->vertexIds[isFirst ? 0 : 1];
        addCandidate(candidates, pointA, rbDot(normal, rbSub(pointB, pointA)), normal,
                     makeVertexId(isOfA, vertex, isOfA ? b->faceId : a->faceId));
    }
}

void rbMeetFeatures(const rbContactFeature features[2], const rbSeparation* s,
                    rbFeaturePoints* candidates)
{
    candidates->count = 0;
    const rbContactFeature* a = &features[0];
    const rbContactFeature* b = &features[1];
    if (a->count == 1 || b->count == 1) {
        return;
    }
    double cosineA = a->count > 2 ? rbDot(a->normal, s->normal) : 0.0;
    double cosineB = b->count > 2 ? -rbDot(b->normal, s->normal) : 0.0;
    if (cosineA > FLUSH_COSINE && cosineA + PREFER_A >= cosineB) {
        rbClipFeatures(features, 0, s->normal, candidates);
    } else if (cosineB > FLUSH_COSINE) {
        rbClipFeatures(features, 1, s->normal, candidates);
    } else {
        rbContactFeature sideA, sideB;
        if (findSide(a, s->pointA, s->normal, &sideA) &&
            findSide(b, s->pointB, s->normal, &sideB)) {
            overlapSides(&sideA, &sideB, s->normal, candidates);
        }
    }
}

// Drops points above the threshold and duplicate points.
static void filterCandidates(rbFeaturePoints* candidates, double threshold, double tolerance)
{
    int kept = 0;
    for (int k = 0; k < candidates->count; ++k) {
        rbManifoldPoint point = candidates->points[k];
        bool isNew = point.distance <= threshold;
        for (int m = 0; m < kept && isNew; ++m) {
            isNew = rbDistance(candidates->points[m].pointA, point.pointA) > tolerance;
        }
        if (isNew) {
            candidates->points[kept++] = point;
        }
    }
    candidates->count = kept;
}

// Twice the area of a triangle seen along the normal.
static double areaOf(rbVec3 a, rbVec3 b, rbVec3 c, rbVec3 normal)
{
    return rbDot(normal, rbCross(rbSub(b, a), rbSub(c, a)));
}

// The gain of a point over those of a manifold: depth, distance, then area on either side.
static double judgePoint(const rbManifoldPoint* p, const rbManifold* m)
{
    const rbManifoldPoint* chosen = m->points;
    if (m->count == 0) {
        return -p->distance;
    }
    if (m->count == 1) {
        return rbDistance(p->pointA, chosen[0].pointA);
    }
    double area = areaOf(chosen[0].pointA, chosen[1].pointA, p->pointA, m->normal);
    if (m->count == 2) {
        return fabs(area);
    }
    // the area the quadrilateral gains over the triangle: the largest over its sides
    double sign =
        areaOf(chosen[0].pointA, chosen[1].pointA, chosen[2].pointA, m->normal) >= 0.0 ? 1.0 : -1.0;
    double gain = 0.0;
    for (int k = 0; k < 3; ++k) {
        double seen =
            -sign * areaOf(chosen[k].pointA, chosen[(k + 1) % 3].pointA, p->pointA, m->normal);
        gain = rbMaxOf(gain, seen);
    }
    return gain;
}

// The first point when some must be dropped: of those as deep as the deepest within a margin, the
// one farthest from the center; a later one only if it is farther by a margin. Sides of two faces
// that lie along each other cross at an arbitrary point between their ends, which differs in every
// step.
static int findFirst(const rbManifoldPoint* candidates, int count, double deep, double far)
{
    rbVec3 sum = RB_VEC3_ZERO;
    double lowest = INFINITY;
    for (int k = 0; k < count; ++k) {
        sum = rbAdd(sum, candidates[k].pointA);
        lowest = rbMinOf(lowest, candidates[k].distance);
    }
    rbVec3 middle = rbScale(1.0 / count, sum);
    int first = -1;
    double farthest = 0.0;
    for (int k = 0; k < count; ++k) {
        double away = rbDistance(candidates[k].pointA, middle);
        if (candidates[k].distance <= lowest + deep && (first < 0 || away > farthest + far)) {
            first = k;
            farthest = away;
        }
    }
    return first;
}

void rbReducePoints(rbManifoldPoint* candidates, int count, double size, rbManifold* manifold)
{
    RB_ASSERT(count >= 0 && size >= 0.0);
    const double margins[RB_MANIFOLD_POINTS_MAX] = {
        SAME_POINT * size, SAME_POINT * size, SAME_POINT * size * size, SAME_POINT * size * size};
    manifold->count = 0;
    while (manifold->count < RB_MANIFOLD_POINTS_MAX && count > 0) {
        bool isFirst = manifold->count == 0 && count > RB_MANIFOLD_POINTS_MAX;
        int best = isFirst ? findFirst(candidates, count, margins[0], margins[0]) : 0;
        double highest = judgePoint(&candidates[best], manifold);
        for (int k = 1; k < count && !isFirst; ++k) {
            double value = judgePoint(&candidates[k], manifold);
            if (value > highest + margins[manifold->count]) {
                highest = value;
                best = k;
            }
        }
        manifold->points[manifold->count++] = candidates[best];
        --count;
        for (int k = best; k < count; ++k) {
            candidates[k] = candidates[k + 1];
        }
    }
}

// Drops the points that span nothing beyond those before them: they were selected only for lack of
// better ones.
static void dropIdle(rbManifold* m, double size)
{
    const double least[RB_MANIFOLD_POINTS_MAX] = {0.0, FLAT * size, FLAT * size * size,
                                                  FLAT * size * size};
    int count = m->count < RB_MANIFOLD_POINTS_MAX ? m->count : RB_MANIFOLD_POINTS_MAX;
    for (m->count = 1; m->count < count; ++m->count) {
        if (!(judgePoint(&m->points[m->count], m) > least[m->count])) {
            return;
        }
    }
}

int rbReduceRegion(rbManifoldPoint* points, int count, double sizeMin, rbManifold* manifold)
{
    RB_ASSERT(count > 0 && sizeMin >= 0.0);
    double size = sizeMin;
    for (int i = 1; i < count; ++i) {
        size = rbMaxOf(size, rbDistance(points[i].pointA, points[0].pointA));
    }
    RB_ASSERT(isfinite(size));
    // it is selected first: a corner of the region, not a vertex of a floor inside it
    int corner = findFirst(points, count, SAME_CORNER * size, SAME_CORNER * size);
    rbManifoldPoint first = points[corner];
    points[corner] = points[0];
    points[0] = first;
    rbReducePoints(points, count, size, manifold);
    dropIdle(manifold, size);
    rbCopyElements(points, manifold->points, manifold->count, sizeof *points);
    return manifold->count;
}

// The feature that faces a unit direction, at a point of the surface where that matters
// (polyhedra); all in the frame of the shape. For planes, meshes, soups and compounds it is the
// point itself.
static void findFeature(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                        rbContactFeature* feature)
{
    RB_ASSERT(fabs(rbLengthSquared(direction) - 1.0) < 1e-9);
    feature->count = 0;
    feature->faceId = 0;
    feature->normal = direction;
    rbShapeFeatureFn* find = rbGetShapeOps(geometry->type)->feature;
    if (find != NULL) {
        find(geometry, direction, point, feature);
    } else {
        rbContactFeature_Add(feature, point, 0, 0);
    }
    RB_ASSERT(feature->count > 0);
}

void rbFindFeatureOfB(const rbGeometry* b, rbTransform transformBtoA, rbVec3 normal, rbVec3 point,
                      rbContactFeature* feature)
{
    findFeature(b, rbNeg(rbInvRotate(transformBtoA.q, normal)),
                rbInvTransformPoint(transformBtoA, point), feature);
    for (int k = 0; k < feature->count; ++k) {
        feature->corners[k] = rbTransformPoint(transformBtoA, feature->corners[k]);
    }
    feature->normal = rbRotate(transformBtoA.q, feature->normal);
}

void rbRoundManifold(rbManifold* manifold, double radiusA, double radiusB)
{
    for (int i = 0; i < manifold->count; ++i) {
        rbManifoldPoint* point = &manifold->points[i];
        point->pointA = rbAddScaled(point->pointA, radiusA, manifold->normal);
        point->pointB = rbAddScaled(point->pointB, -radiusB, manifold->normal);
        point->distance -= radiusA + radiusB;
    }
}

// Searches end when the distance has converged, and it is of second order in the place: the witness
// on a curved surface lags behind its lowest point, by 1e-9 of the size where the distance is good
// to rounding. Over a face the lowest point is the support point along the normal of the face.
static void lowerWitness(const rbGeometry* shape, rbTransform toA,
                         const rbContactFeature features[2], int own, rbSeparation* s)
{
    const rbContactFeature* face = &features[1 - own];
    bool isFlat = face->count > 2 && fabs(rbDot(face->normal, s->normal)) >= FACE_COSINE;
    if (features[own].count != 1 || !isFlat || rbGetShapeOps(shape->type)->support == NULL) {
        return;
    }
    rbVec3 outward = own == 0 ? s->normal : rbNeg(s->normal);
    rbVec3 lowest =
        rbTransformPoint(toA, rbGeometry_GetSupport(shape, rbInvRotate(toA.q, outward)));
    rbVec3 witness = own == 0 ? s->pointA : s->pointB;
    double distance = rbDot(outward, rbSub(face->corners[0], lowest));
    double lag = LAG_MOST * rbDistance(lowest, toA.p);
    if (!(rbDistance(lowest, witness) <= lag && fabs(distance - s->distance) <= lag)) {
        return; // another point, not the same one more exactly
    }
    s->pointA = own == 0 ? lowest : rbAddScaled(lowest, -distance, s->normal);
    s->pointB = own == 0 ? rbAddScaled(lowest, distance, s->normal) : lowest;
    s->distance = distance;
}

void rbBuildManifold(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                     const rbSeparation* measured, double threshold, rbManifold* manifold)
{
    RB_ASSERT(isfinite(measured->distance) && isfinite(threshold));
    rbSeparation s = *measured;
    rbVec3 n = s.normal;
    *manifold = (rbManifold){.normal = n, .childA = s.childA, .childB = s.childB};
    if (!(s.distance <= threshold)) {
        return;
    }
    bool isPlaneA = a->type == RB_SHAPE_PLANE;
    bool isPlane = isPlaneA || b->type == RB_SHAPE_PLANE;
    if (!isPlane && (a->type == RB_SHAPE_SPHERE || b->type == RB_SHAPE_SPHERE)) {
        // the only feature of a sphere
        manifold->points[0] = makePoint(s.pointA, s.distance, n, RB_FEATURE_WITNESS);
        manifold->count = 1;
        return;
    }
    rbContactFeature features[2];
    findFeature(a, n, s.pointA, &features[0]);
    rbFindFeatureOfB(b, transformBtoA, n, s.pointB, &features[1]);
    lowerWitness(a, RB_TRANSFORM_IDENTITY, features, 0, &s);
    lowerWitness(b, transformBtoA, features, 1, &s);
    rbFeaturePoints candidates;
    candidates.count = 0;
    if (isPlane) {
        const rbContactFeature* feature = &features[isPlaneA ? 1 : 0];
        rbVec3 onPlane = isPlaneA ? s.pointA : s.pointB;
        for (int k = 0; k < feature->count; ++k) {
            rbVec3 corner = feature->corners[k];
            double along = rbDot(n, rbSub(corner, onPlane)); // from the plane along the normal
            rbVec3 pointA = isPlaneA ? rbAddScaled(corner, -along, n) : corner;
            addCandidate(&candidates, pointA, isPlaneA ? along : -along, n,
                         makeVertexId(!isPlaneA, feature->vertexIds[k], 0));
        }
    } else {
        rbMeetFeatures(features, &s, &candidates);
    }
    double size = 0.0;
    for (int k = 0; k < candidates.count; ++k) {
        size = rbMaxOf(size, rbDistance(candidates.points[k].pointA, candidates.points[0].pointA));
    }
    filterCandidates(&candidates, threshold, SAME_POINT * size);
    // the witness itself if the features do not include it
    double lowest = INFINITY;
    for (int k = 0; k < candidates.count; ++k) {
        lowest = rbMinOf(candidates.points[k].distance, lowest);
    }
    // (features may be points: their extent does not indicate rounding)
    double rounding =
        64.0 * DBL_EPSILON * (rbLength(s.pointA) + rbLength(transformBtoA.p) + fabs(s.distance));
    if (candidates.count == 0 || lowest > s.distance + 1e-9 * size + rounding) {
        addCandidate(&candidates, s.pointA, s.distance, n, RB_FEATURE_WITNESS);
    }
    rbReducePoints(candidates.points, candidates.count, size, manifold);
    RB_ASSERT(manifold->count > 0);
}
