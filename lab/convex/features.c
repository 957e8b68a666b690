// The query around the feature walk: start, bounds, and the cache for the next query.
//
// Whatever pair the walk ends with, the upper bound is the distance of two points of the cores and
// the lower bound the gap between support planes along the best known normal, both widened by
// rounding. If they do not agree, the planes rest on points that are nearer, and the walk restarts
// from there.
#include "collision/convex/convex.h"
#include "collision/geometry/shape_ops.h"
#include "lab/convex/feature_walk.h"

#include <float.h>
#include <math.h>

// Rounding error of a product with a support point of a moved body, as for GJK, in units of
// DBL_EPSILON times the size of the pair.
#define ROUNDING_UNITS 16.0
// Bounds this close, relative to the distance, count as converged.
#define RELATIVE_TOLERANCE 1e-13
// Restarts of a walk whose end turns out not to be the closest pair.
#define RESTARTS_MAX 4
// Rounds of rotating a normal away from support points beyond the witness points.
#define POLISH_ROUNDS 8
#define POLISH_SINE 1e-4

// The best separating direction so far.
typedef struct Slab {
    double gap; // m, minimum of B less maximum of A along the normal
    rbVec3 normal;
    int vertices[2]; // support vertices of the planes
    int faceOwner;   // body with a face of this normal, -1: none known
    int face;
} Slab;

static int someVertex(const rbFeatureBody* body, rbFeature f)
{
    return f.kind == RB_FEATURE_VERTEX ? f.index
           : f.kind == RB_FEATURE_EDGE ? body->edges[f.index].v0
                                       : body->faceVertices[body->faceStarts[f.index]];
}

// A direction from A to B in the frame of A, of any length: kept if its slab is the widest.
static void tryNormal(const rbFeatureWalk* w, rbVec3 direction, Slab* best)
{
    double length = rbLength(direction);
    if (!(length > 1e-150)) { // so that the inverse is finite
        return;
    }
    rbVec3 n = rbScale(1.0 / length, direction);
    const rbFeatureBody* a = w->bodies[0];
    const rbFeatureBody* b = w->bodies[1];
    int vertexA = rbFeatureBody_Support(a, n, someVertex(a, w->features[0]));
    int vertexB = rbFeatureBody_Support(b, rbNeg(rbTurnTo(w, 1, n)), someVertex(b, w->features[1]));
    rbVec3 between = rbSub(rbBringTo(w, 0, b->vertices[vertexB]), a->vertices[vertexA]);
    double gap = rbDot(n, between);
    if (gap > best->gap) {
        *best = (Slab){gap, n, {vertexA, vertexB}, -1, -1};
    }
}

static void tryFace(const rbFeatureWalk* w, int i, int face, Slab* best)
{
    RB_ASSERT(face >= 0 && face < w->bodies[i]->faceCount);
    rbVec3 n = w->bodies[i]->normals[face];
    double before = best->gap;
    tryNormal(w, i == 0 ? n : rbNeg(rbTurnTo(w, 0, n)), best);
    if (best->gap > before) {
        best->faceOwner = i;
        best->face = face;
    }
}

// Tries the face at an edge that is on the left as seen from one of its ends.
static void tryFaceAtEdge(const rbFeatureWalk* w, int i, int edge, int from, Slab* best)
{
    const rbEdge* e = &w->bodies[i]->edges[edge];
    if (e->faceLeft >= 0) {
        tryFace(w, i, e->v0 == from ? e->faceLeft : e->faceRight, best);
        return;
    }
    // a segment without faces: any direction perpendicular to it
    rbVec3 along = rbSub(w->bodies[i]->vertices[e->v1], w->bodies[i]->vertices[e->v0]);
    rbVec3 across = rbPerpendicular(rbNormalize(along));
    tryNormal(w, i == 0 ? across : rbTurnTo(w, 0, across), best);
}

// Tries the normals of the faces at the features.
static void tryFaces(const rbFeatureWalk* w, Slab* best)
{
    for (int i = 0; i < 2; ++i) {
        const rbFeatureBody* body = w->bodies[i];
        rbFeature f = w->features[i];
        if (f.kind == RB_FEATURE_FACE) {
            tryFace(w, i, f.index, best);
        } else if (f.kind == RB_FEATURE_EDGE) {
            tryFaceAtEdge(w, i, f.index, body->edges[f.index].v0, best);
            tryFaceAtEdge(w, i, f.index, body->edges[f.index].v1, best);
        } else {
            const int* slots = &body->vertexEdgeStarts[f.index];
            for (int k = slots[0]; k < slots[1]; ++k) {
                tryFaceAtEdge(w, i, body->vertexEdges[k], f.index, best);
            }
        }
    }
}

// Tries directions that do not depend on the difference d of the witness points, for features that
// touch or are so close that the difference is dominated by rounding.
static void tryFeatures(const rbFeatureWalk* w, rbVec3 d, Slab* best)
{
    tryFaces(w, best);
    if (w->features[0].kind == RB_FEATURE_EDGE && w->features[1].kind == RB_FEATURE_EDGE) {
        rbVec3 across = rbCross(w->nearest.edges[0], w->nearest.edges[1]);
        tryNormal(w, across, best);
        tryNormal(w, rbNeg(across), best);
    }
    tryNormal(w, d, best);
    if (!isfinite(best->gap)) {
        tryNormal(w, rbMakeVec3(1.0, 0.0, 0.0), best);
    }
}

// The point of a face below p, as a combination of its corners: certainly on the core, even where
// the plane of a hull's face is not exactly that of its corners.
static rbVec3 footOn(const rbFeatureBody* body, int face, rbVec3 p)
{
    const int* loop = body->faceVertices + body->faceStarts[face];
    int count = body->faceStarts[face + 1] - body->faceStarts[face];
    RB_ASSERT(count >= 3);
    rbVec3 n = body->normals[face];
    rbVec3 a = body->vertices[loop[0]];
    int k = 1;
    while (k + 2 < count &&
           rbDot(n, rbCross(rbSub(body->vertices[loop[k + 1]], a), rbSub(p, a))) > 0.0) {
        ++k;
    }
    rbVec3 b = body->vertices[loop[k]];
    rbVec3 c = body->vertices[loop[k + 1]];
    double wa = rbMaxOf(0.0, rbDot(n, rbCross(rbSub(b, p), rbSub(c, p))));
    double wb = rbMaxOf(0.0, rbDot(n, rbCross(rbSub(c, p), rbSub(a, p))));
    double wc = rbMaxOf(0.0, rbDot(n, rbCross(rbSub(a, p), rbSub(b, p))));
    double sum = wa + wb + wc;
    if (!(sum > 0.0)) {
        return a;
    }
    rbVec3 edges = rbAddScaled(rbScale(wb / sum, rbSub(b, a)), wc / sum, rbSub(c, a));
    return rbAdd(a, edges);
}

// Rotates the normal perpendicular to the directions from the witness points to support points
// beyond them, the last two at a time. Helps if they are beyond only by rounding of the normal.
static void polish(const rbFeatureWalk* w, const rbVec3 points[2], Slab* best)
{
    rbVec3 n = best->normal;
    Slab slab = *best;
    rbVec3 u = RB_VEC3_ZERO;
    for (int round = 0; round < POLISH_ROUNDS; ++round) {
        rbVec3 a = w->bodies[0]->vertices[slab.vertices[0]];
        rbVec3 b = rbBringTo(w, 0, w->bodies[1]->vertices[slab.vertices[1]]);
        rbVec3 beyondA = rbSub(a, points[0]);
        rbVec3 beyondB = rbSub(points[1], b);
        rbVec3 v = rbDot(n, beyondA) > rbDot(n, beyondB) ? beyondA : beyondB;
        v = rbNormalize(v);
        rbVec3 across = rbAddScaled(v, -rbDot(v, u), u);
        if (rbLengthSquared(across) > POLISH_SINE * POLISH_SINE) {
            across = rbNormalize(across);
            n = rbAddScaled(n, -rbDot(n, u), u);
            n = rbAddScaled(n, -rbDot(n, across), across);
        } else { // the same direction as before
            n = rbAddScaled(n, -rbDot(n, v), v);
        }
        u = v;
        slab.gap = -INFINITY;
        tryNormal(w, n, &slab);
        if (!isfinite(slab.gap)) {
            return;
        }
        n = slab.normal;
        *best = slab.gap > best->gap ? slab : *best;
    }
}

// Witness points and bounds of the pair of features; kept if better than the previous ones.
static void appraise(const rbFeatureWalk* w, rbFeatureResult* result, Slab* widest)
{
    rbVec3 points[2];
    Slab slab = {.gap = -INFINITY};
    int vertexSide = -1;
    for (int i = 0; i < 2; ++i) {
        bool isFace = w->features[1 - i].kind == RB_FEATURE_FACE;
        if (isFace && w->features[i].kind == RB_FEATURE_EDGE) {
            return; // during the walk: nothing to measure
        }
        vertexSide = isFace ? i : vertexSide;
    }
    if (vertexSide >= 0) {
        int j = 1 - vertexSide;
        rbVec3 p = w->bodies[vertexSide]->vertices[w->features[vertexSide].index];
        rbVec3 foot = footOn(w->bodies[j], w->features[j].index, rbBringTo(w, j, p));
        points[vertexSide] = vertexSide == 0 ? p : rbBringTo(w, 0, p);
        points[j] = j == 0 ? foot : rbBringTo(w, 0, foot);
        tryFace(w, j, w->features[j].index, &slab);
    } else {
        points[0] = w->nearest.points[0];
        points[1] = w->nearest.points[1];
        tryNormal(w, w->nearest.d, &slab);
    }
    rbVec3 d = rbSub(points[1], points[0]);
    double distance = rbLength(d);
    double slack = RELATIVE_TOLERANCE * distance + w->rounding;
    if (!(slab.gap >= distance - slack)) {
        polish(w, points, &slab);
    }
    if (!(slab.gap >= distance - slack)) {
        tryFeatures(w, d, &slab);
    }
    if (slab.gap > result->lower) {
        result->lower = slab.gap;
        result->normal = slab.normal;
        *widest = slab;
    }
    if (distance < result->upper) {
        result->upper = distance;
        result->a = points[0];
        result->b = points[1];
        result->features = (rbFeaturePair){w->features[0].kind, w->features[0].index,
                                           w->features[1].kind, w->features[1].index};
    }
}

static bool isTight(const rbFeatureWalk* w, const rbFeatureResult* result)
{
    return result->lower >= result->upper - RELATIVE_TOLERANCE * result->upper - w->rounding;
}

// Updates the measurement for the current features.
static void remeasure(rbFeatureWalk* w)
{
    if (w->features[0].kind != RB_FEATURE_FACE && w->features[1].kind != RB_FEATURE_FACE) {
        rbMeasureFeatures(w);
        w->features[0] = w->nearest.active[0];
        w->features[1] = w->nearest.active[1];
    }
}

// Evaluates all pairs of a cycle.
static void appraiseCircle(rbFeatureWalk* w, rbFeatureResult* result, Slab* widest)
{
    rbFeature first[2] = {w->features[0], w->features[1]};
    do {
        rbFeature here[2] = {w->features[0], w->features[1]};
        remeasure(w);
        appraise(w, result, widest);
        w->features[0] = here[0];
        w->features[1] = here[1];
        if (rbStepFeatures(w) != RB_WALK_GO_ON || ++result->steps >= RB_WALK_STEPS_MAX) {
            return;
        }
    } while (!rbIsSamePair(first, w->features));
}

// -------------------------------------------------------------------------------------- query

static void startCold(rbFeatureWalk* w)
{
    rbVec3 d = rbSub(rbBringTo(w, 0, w->bodies[1]->center), w->bodies[0]->center);
    if (!(rbLargestComponent(d) > 0.0)) {
        d = rbMakeVec3(1.0, 0.0, 0.0);
    }
    w->features[0] = (rbFeature){RB_FEATURE_VERTEX, rbFeatureBody_Support(w->bodies[0], d, 0)};
    w->features[1] = (rbFeature){RB_FEATURE_VERTEX,
                                 rbFeatureBody_Support(w->bodies[1], rbNeg(rbTurnTo(w, 1, d)), 0)};
}

static bool isFeatureOf(const rbFeatureBody* body, int kind, int index)
{
    const int counts[4] = {0, body->vertexCount, body->edgeCount, body->faceCount};
    return kind > RB_FEATURE_NONE && kind <= RB_FEATURE_FACE && index >= 0 && index < counts[kind];
}

static void start(rbFeatureWalk* w, const rbFeaturePair* cache)
{
    if (cache == NULL || !isFeatureOf(w->bodies[0], cache->kindA, cache->indexA) ||
        !isFeatureOf(w->bodies[1], cache->kindB, cache->indexB) ||
        (cache->kindA == RB_FEATURE_FACE && cache->kindB == RB_FEATURE_FACE)) {
        startCold(w);
        return;
    }
    w->features[0] = (rbFeature){cache->kindA, cache->indexA};
    w->features[1] = (rbFeature){cache->kindB, cache->indexB};
}

// The planes of a slab narrower than the distance found rest on points that are nearer: restarts
// from the best face at the features, every other time from the vertices of the widest slab.
static void startAgain(rbFeatureWalk* w, int restart, const Slab* widest)
{
    Slab slab = {.gap = -INFINITY, .faceOwner = -1};
    if (restart % 2 == 0) {
        tryFaces(w, &slab);
    }
    slab = slab.faceOwner >= 0 ? slab : *widest;
    for (int i = 0; i < 2; ++i) {
        bool isFace = slab.faceOwner == i;
        w->features[i] = (rbFeature){isFace ? RB_FEATURE_FACE : RB_FEATURE_VERTEX,
                                     isFace ? slab.face : slab.vertices[i]};
    }
}

// Planes of merged faces enclose more than the vertices do: a point below all of them need not be
// inside.
static double bendOf(const rbFeatureBody* body)
{
    return body->supports != NULL ? 2.0 * body->supports->bend : 0.0;
}

// Depth along the face that was reached, or along another face of the features if that is smaller.
static void concludeOverlap(rbFeatureWalk* w, rbFeatureResult* result)
{
    Slab slab = {.gap = -INFINITY};
    if (w->face >= 0) {
        tryFace(w, w->faceOwner, w->face, &slab);
    }
    bool hasVertex =
        w->features[0].kind == RB_FEATURE_VERTEX || w->features[1].kind == RB_FEATURE_VERTEX;
    if (w->face < 0 || !hasVertex) { // a vertex inside already has its nearest face
        tryFeatures(w, RB_VEC3_ZERO, &slab);
    }
    RB_ASSERT(isfinite(slab.gap));
    double gap = slab.gap < 0.0 ? slab.gap : 0.0;
    rbFeature pair[2] = {w->features[0], w->features[1]};
    int owner = slab.faceOwner;
    if (owner >= 0) {
        pair[owner] = (rbFeature){RB_FEATURE_FACE, slab.face};
        pair[1 - owner] = (rbFeature){RB_FEATURE_VERTEX, slab.vertices[1 - owner]};
    }
    result->features = (rbFeaturePair){pair[0].kind, pair[0].index, pair[1].kind, pair[1].index};
    result->overlaps = true;
    result->normal = slab.normal;
    result->distance = gap;
    result->lower = gap - w->rounding;
    result->upper = w->rounding + bendOf(w->bodies[0]) + bendOf(w->bodies[1]);
    // the deepest vertex of the body that does not own the face
    if (owner != 1) {
        result->b = rbBringTo(w, 0, w->bodies[1]->vertices[slab.vertices[1]]);
        result->a = rbAddScaled(result->b, -gap, slab.normal);
    } else {
        result->a = w->bodies[0]->vertices[slab.vertices[0]];
        result->b = rbAddScaled(result->a, gap, slab.normal);
    }
    result->reason = RB_STOP_TOUCHES;
}

// Widens the bounds by rounding. If the witness points are within rounding of each other and no
// plane separates the cores, they touch.
static void concludeApart(const rbFeatureWalk* w, rbWalkVerdict verdict, rbFeatureResult* result)
{
    RB_ASSERT(isfinite(result->lower) && isfinite(result->upper));
    RB_ASSERT(fabs(rbLengthSquared(result->normal) - 1.0) < 1e-9);
    bool tight = isTight(w, result);
    result->reason = tight                      ? RB_STOP_CONVERGED
                     : verdict == RB_WALK_LIMIT ? RB_STOP_ITERATIONS
                                                : RB_STOP_ROUNDING;
    result->distance = result->upper;
    result->overlaps = result->upper <= w->rounding && result->lower <= 0.0;
    if (result->overlaps) {
        result->distance = result->lower;
        result->a = rbAddScaled(result->b, -result->distance, result->normal);
        result->reason = RB_STOP_TOUCHES;
    }
    result->lower -= w->rounding;
    result->upper += w->rounding;
}

rbFeatureResult rbFeatures_Walk(const rbFeatureBody* a, const rbFeatureBody* b,
                                rbTransform transformBtoA, rbFeaturePair* cache)
{
    RB_ASSERT(rbIsFinite3(transformBtoA.p) && rbIsFiniteQuat(transformBtoA.q));
    RB_ASSERT(fabs(rbDotQuat(transformBtoA.q, transformBtoA.q) - 1.0) < 1e-9);
    RB_ASSERT(a->vertexCount >= 1 && b->vertexCount >= 1);
    rbFeatureWalk w = {.bodies = {a, b},
                       .rotation = rbMatFromQuat(transformBtoA.q),
                       .translation = transformBtoA.p,
                       .face = -1};
    w.scale = a->size + b->size + rbLength(transformBtoA.p);
    w.rounding = ROUNDING_UNITS * DBL_EPSILON * w.scale;
    rbFeatureResult result = {.lower = -INFINITY, .upper = INFINITY};
    start(&w, cache);
    rbWalkVerdict verdict = RB_WALK_GO_ON;
    Slab widest = {.gap = -INFINITY};
    for (int restart = 0; restart <= RESTARTS_MAX; ++restart) {
        verdict = rbRunFeatureWalk(&w, &result.steps);
        if (verdict == RB_WALK_OVERLAP) {
            break;
        }
        if (verdict == RB_WALK_CIRCLE) {
            appraiseCircle(&w, &result, &widest);
        } else {
            if (verdict == RB_WALK_LIMIT) {
                remeasure(&w);
            }
            appraise(&w, &result, &widest);
        }
        if (verdict == RB_WALK_LIMIT || isTight(&w, &result)) {
            break;
        }
        startAgain(&w, restart, &widest);
    }
    if (verdict == RB_WALK_OVERLAP) {
        concludeOverlap(&w, &result);
    } else {
        if (!isfinite(result.upper)) { // step limit at a pair that cannot be measured
            startCold(&w);
            remeasure(&w);
            appraise(&w, &result, &widest);
        }
        concludeApart(&w, verdict, &result);
    }
    if (cache != NULL && verdict == RB_WALK_OVERLAP) {
        *cache = (rbFeaturePair){w.features[0].kind, w.features[0].index, w.features[1].kind,
                                 w.features[1].index};
    } else if (cache != NULL) {
        *cache = result.features;
    }
    return result;
}

rbSeparation rbFeatureResult_GetSeparation(const rbFeatureResult* result, double radiusA,
                                           double radiusB)
{
    RB_ASSERT(radiusA >= 0.0 && radiusB >= 0.0);
    rbSeparation separation = {.distance = result->distance,
                               .lower = result->lower,
                               .upper = result->upper,
                               .pointA = result->a,
                               .pointB = result->b,
                               .normal = result->normal,
                               .iterations = result->steps,
                               .reason = result->reason};
    rbRoundSeparation(&separation, radiusA, radiusB);
    return separation;
}

rbSeparation rbFeatures_Separation(const rbGeometry* a, const rbGeometry* b,
                                   rbTransform transformBtoA, rbFeaturePair* cache)
{
    rbFeatureBody bodies[2];
    rbFeatureBody_Make(a, &bodies[0]);
    rbFeatureBody_Make(b, &bodies[1]);
    rbFeatureResult result = rbFeatures_Walk(&bodies[0], &bodies[1], transformBtoA, cache);
    return rbFeatureResult_GetSeparation(&result, bodies[0].radius, bodies[1].radius);
}
