// The expansion loop: take the face nearest to the origin, find the support beyond it, stop or
// grow.
//
// The search direction is the outward normal of the face, never the vector to its nearest point:
// that vector flips when the distance is a tiny negative number. Until the origin is enclosed,
// faces have negative distances and the one the origin is farthest outside of comes first; a
// support value below zero then proves that the cores are separate.
//
// Ellipsoids first try Newton's method (epa_smooth.c), which ends most shallow queries; the
// polytope then works with the bound found so far, on the cores without their rolling balls. The
// last direction on smooth bodies is polished by Newton, because a depth good to epsilon leaves a
// normal good to its square root only.
//
// A sphere cap (G-30) is a proposal like Newton's: its height is an upper bound immediately, but it
// ends the search only when the lower bound reaches it.
//
// Tried and dropped: the running minimum of h in the stop test (the returned normal need not be the
// direction that attained it).
#include "collision/convex/epa.h"

#include "collision/convex/support.h"

#include <math.h>

// Steps over coplanar neighbors in search of the triangle that contains the foot point.
#define FOOT_STEPS 32
// Cosine between normals of faces that count as coplanar.
#define COPLANAR (1.0 - 1e-9)
// Acceptance of a sphere through four points: scale-free volume, and the largest height of its foot
// point above the face.
#define CAP_VOLUME 1e-10
#define CAP_RATIO 1.05
// New faces that face away from an enclosed origin by more than this (relative to the scale): a
// fold.
#define FOLD (-1e-12)
// Tangential part of a support point, relative to the scale, up to which it serves as a witness.
#define WITNESS 1e-7
// The search ended before its bounds met, and guesses may have skipped the best direction: start
// again without guesses instead of stopping.
#define SPOILED RB_STOP_COUNT
// A guess grows the polytope if it is higher than the face by this factor.
#define GUESS_GAIN 1.01

typedef struct Search {
    const rbCso* cso;
    const rbEpaSettings* settings;
    rbEpaScratch* scratch;
    double slack, gap;    // m
    rbEpaBalls balls;     // removed from the cores by the polytope
    double off;           // m, sum of their radii
    double rollingRadius; // m, available to Newton's bound
    double lower;         // best lower bound, m
    bool mayCap;          // sphere caps are enabled and can help
    bool mayGuess;        // at least one hull, and both cores are plain polytopes
    bool hasGuessed;      // faces were expanded without a support query
    bool isInside;        // the polytope encloses the origin
    bool isSmooth;        // a core is not a polytope: Newton may help
    // best direction so far
    double height; // h there
    rbVec3 normal;
    rbCsoPoint point; // support point
    int face;         // -1: the support point itself is the witness point
    int iterations, supports;
} Search;

rbEpaSettings rbDefaultEpaSettings(void)
{
    return (rbEpaSettings){.relativeTolerance = 1e-10,
                           .iterationMax = RB_EPA_POINTS,
                           .pointLimit = RB_EPA_POINTS,
                           .faceLimit = RB_EPA_FACES,
                           .enableSphereCap = true,
                           .enableNewton = true};
}

// Weights of the point of a face below the origin; false if the foot of the origin is outside.
static bool findWeights(const rbEpaScratch* scratch, int index, double weights[3])
{
    const rbEpaFace* face = &scratch->faces[index];
    rbVec3 w[3];
    double distance;
    rbVec3 normal = rbEpaPolytope_GetPlane(scratch, index, &distance);
    rbVec3 foot = rbScale(distance, normal);
    for (int i = 0; i < 3; ++i) {
        w[i] = rbSub(scratch->points[rbEpaFace_GetVertex(face, i)].w, foot);
    }
    double sum = 0.0;
    bool isInside = true;
    for (int i = 0; i < 3; ++i) {
        weights[i] = rbDot(normal, rbCross(w[(i + 1) % 3], w[(i + 2) % 3]));
        sum += weights[i];
    }
    for (int i = 0; i < 3; ++i) {
        weights[i] = sum > 0.0 ? weights[i] / sum : 1.0 / 3.0;
        isInside = isInside && weights[i] >= -1e-12;
    }
    return isInside;
}

// Of the coplanar faces, finds the one whose triangle contains the foot point by walking over the
// edge the foot is farthest outside of.
static int findFootFace(const Search* s, int start, double weights[3])
{
    const rbEpaScratch* scratch = s->scratch;
    int face = start;
    for (int step = 0; step < FOOT_STEPS; ++step) {
        if (findWeights(scratch, face, weights)) {
            return face;
        }
        int worst = weights[0] < weights[1] ? 0 : 1;
        worst = weights[2] < weights[worst] ? 2 : worst;
        int next = rbEpaTwin_Face(rbEpaFace_GetTwin(&scratch->faces[face], (worst + 1) % 3));
        // a growth that failed leaves invalid twins
        if (next >= scratch->faceCount) {
            break;
        }
        if (rbEpaFace_IsObsolete(&scratch->faces[next]) || !(scratch->sights[next] > -INFINITY)) {
            break;
        }
        double distance;
        rbVec3 normal = rbEpaPolytope_GetPlane(scratch, next, &distance);
        if (distance > s->height - s->off + s->slack || rbDot(normal, s->normal) < COPLANAR) {
            break;
        }
        face = next;
    }
    findWeights(scratch, start, weights);
    return start;
}

static void clampWeights(double weights[3])
{
    double sum = 0.0;
    for (int i = 0; i < 3; ++i) {
        weights[i] = fmin(fmax(weights[i], 0.0), 1.0);
        sum += weights[i];
    }
    for (int i = 0; i < 3; ++i) {
        weights[i] /= sum;
    }
}

static void setWitness(const Search* s, rbEpaResult* result)
{
    if (s->face < 0) {
        result->a = s->point.a;
        result->b = s->point.b;
        return;
    }
    double weights[3];
    const rbEpaFace* face = &s->scratch->faces[findFootFace(s, s->face, weights)];
    clampWeights(weights);
    result->a = RB_VEC3_ZERO;
    result->b = RB_VEC3_ZERO;
    for (int i = 0; i < 3; ++i) {
        const rbCsoPoint* p = &s->scratch->points[rbEpaFace_GetVertex(face, i)];
        result->a = rbAddScaled(result->a, weights[i], p->a);
        result->b = rbAddScaled(result->b, weights[i], p->b);
    }
    result->a = rbAddScaled(result->a, s->balls.a, s->normal);
    result->b = rbAddScaled(result->b, -s->balls.b, s->normal);
}

static rbEpaResult finish(const Search* s, rbStopReason reason)
{
    rbEpaResult result = {.depth = s->height,
                          .lower = fmin(s->lower, s->height) - s->slack,
                          .upper = s->height + s->slack,
                          .normal = s->normal,
                          .iterations = s->iterations,
                          .supports = s->supports,
                          .reason = reason};
    setWitness(s, &result);
    RB_ASSERT(rbIsFinite3(result.a) && rbIsFinite3(result.b));
    RB_ASSERT(fabs(rbLengthSquared(result.normal) - 1.0) < 1e-9);
    return result;
}

// Have the bounds of the best direction converged?
static bool isClosed(const Search* s)
{
    double open = s->height - s->lower;
    return open <= s->settings->relativeTolerance * s->lower || open <= s->gap;
}

static rbStopReason reasonOf(const Search* s)
{
    double open = s->height - s->lower;
    return open <= s->settings->relativeTolerance * s->lower ? RB_STOP_CONVERGED : RB_STOP_ROUNDING;
}

// Faces farther away than the best direction cannot matter.
static double keyMaxOf(const Search* s)
{
    return rbEpa_Square(s->height - s->off + s->slack);
}

// Uses the bounds of a proposal, and its direction if its support point lies below the origin, so
// that it can be the witness; on bodies with edges that need not hold.
static void adopt(Search* s, const rbEpaProposal* proposal)
{
    s->lower = fmax(s->lower, proposal->lower);
    rbVec3 side = rbAddScaled(proposal->point.w, -proposal->height, proposal->normal);
    bool isWitness = rbLength(side) <= WITNESS * s->cso->scale || proposal->height < -s->slack;
    if (proposal->height < s->height && isWitness) {
        s->height = proposal->height;
        s->normal = proposal->normal;
        s->point = proposal->point;
        s->face = -1;
        s->scratch->keyMax = keyMaxOf(s);
    }
}

static void descend(Search* s, rbVec3 direction)
{
    rbEpaProposal p = rbEpa_Descend(s->cso, direction, s->rollingRadius, &s->supports);
    adopt(s, &p);
}

// The direction of the foot point of the sphere through a face and the support point above it.
static bool findCapDirection(const Search* s, int index, double distance, rbVec3 w,
                             rbVec3* direction)
{
    const rbCsoPoint* points = s->scratch->points;
    const rbEpaFace* face = &s->scratch->faces[index];
    rbVec3 b = points[rbEpaFace_GetVertex(face, 0)].w, c = points[rbEpaFace_GetVertex(face, 1)].w;
    rbVec3 d = points[rbEpaFace_GetVertex(face, 2)].w;
    rbVec3 v1 = rbSub(w, b), v2 = rbSub(w, c), v3 = rbSub(w, d);
    // |w|^2 - |b|^2 as a product keeps its precision.
    double d1 = 0.5 * rbDot(v1, rbAdd(w, b)), d2 = 0.5 * rbDot(v2, rbAdd(w, c));
    double d3 = 0.5 * rbDot(v3, rbAdd(w, d));
    rbVec3 v23 = rbCross(v2, v3);
    double det = rbDot(v1, v23);
    if (fabs(det) <= CAP_VOLUME * rbLength(v1) * rbLength(v2) * rbLength(v3)) {
        return false;
    }
    rbVec3 sum = rbScale(d1, v23);
    sum = rbAddScaled(sum, d2, rbCross(v3, v1));
    sum = rbAddScaled(sum, d3, rbCross(v1, v2));
    rbVec3 middle = rbScale(1.0 / det, sum);
    double offset = rbLength(middle);
    double depth = rbDistance(w, middle) - offset;
    if (!(offset > 1e-12 * s->cso->scale) || !(depth >= distance) ||
        depth > fmin(s->height + s->slack, CAP_RATIO * distance)) {
        return false;
    }
    *direction = rbScale(-1.0 / offset, middle);
    return true;
}

// Tries the foot point of a sphere cap; true if the bounds prove it to be the answer.
static bool tryCap(Search* s, int index, double distance, const rbCsoPoint* w)
{
    rbVec3 direction;
    if (!findCapDirection(s, index, distance, w->w, &direction)) {
        return false;
    }
    rbEpaProposal p = rbEpa_Propose(s->cso, direction, s->rollingRadius, &s->supports);
    if (p.height >= 0.0) {
        adopt(s, &p);
    }
    return s->face < 0 && isClosed(s);
}

// A face and the support point found beyond it, without the balls.
typedef struct Sight {
    rbVec3 normal;
    double distance;         // of the face
    double height;           // of the support point
    const rbCsoPoint* point; // the next one in the scratch memory
} Sight;

// Records the direction of a face if it is the best one. A face whose bounds meet replaces an
// older one of the same height within the tolerance, because it contains the foot point.
static void noteFace(Search* s, int index, const Sight* sight, bool isDone)
{
    double height = sight->height + s->off;
    if (height < s->height || (isDone && s->face >= 0)) {
        s->height = height;
        s->normal = sight->normal;
        s->face = index;
        s->scratch->keyMax = keyMaxOf(s);
    }
}

static bool isVertexOf(const Search* s, int index, rbVec3 w)
{
    const rbEpaFace* face = &s->scratch->faces[index];
    bool isOne = false;
    for (int i = 0; i < 3; ++i) {
        rbVec3 v = s->scratch->points[rbEpaFace_GetVertex(face, i)].w;
        isOne = isOne || (v.x == w.x && v.y == w.y && v.z == w.z);
    }
    return isOne;
}

// Records a support below the origin as a separating direction.
static rbStopReason noteApart(Search* s, rbVec3 normal, const rbCsoPoint* w)
{
    s->height = rbDot(w->w, normal) + s->off;
    s->normal = normal;
    s->point = *w;
    s->face = -1;
    return RB_STOP_APART;
}

// The support needs no unit vector unless balls are removed: its latency hides the square root.
static Sight lookBeyond(Search* s, int index)
{
    rbCsoPoint* point = rbEpaPolytope_NextPoint(s->scratch);
    Sight sight = {.point = point};
    sight.normal = rbEpaPolytope_GetPlane(s->scratch, index, &sight.distance);
    if (s->off > 0.0) {
        *point = rbEpa_Support(s->cso, sight.normal, s->balls);
    } else {
        rbFindSupport(s->cso, rbEpaPolytope_GetNormal(s->scratch, index), NULL, point);
    }
    sight.height = rbDot(point->w, sight.normal);
    ++s->supports;
    return sight;
}

// Classifies a failed growth. If guesses may have skipped the best direction, the search must start
// again without them.
static rbStopReason reasonOfFailure(const Search* s, rbEpaGrowth growth)
{
    rbStopReason reason = growth == RB_EPA_FULL ? RB_STOP_STORAGE : RB_STOP_ROUNDING;
    return s->hasGuessed ? SPOILED : reason;
}

// The lower limit for the key of a new face.
static double keyMinOf(const Search* s)
{
    return s->isInside ? rbEpa_Square(FOLD * s->cso->scale) : -INFINITY;
}

// Grows by a point that is high above a face without searching for the highest: any point of the
// difference that sees the face will do, and most of the first faces are far from the surface.
// False if the guess is not clearly above the face, or not above the origin: a support query must
// then prove that no point is.
static bool growByGuess(Search* s, int index, rbEpaGrowth* growth)
{
    rbCsoPoint* point = rbEpaPolytope_NextPoint(s->scratch);
    rbVec3 normal = rbEpaPolytope_GetNormal(s->scratch, index);
    rbGuessSupport(s->cso, normal, point);
    double height = rbDot(normal, point->w);
    if (!(height > GUESS_GAIN * s->scratch->sights[index] && height > 0.0)) {
        return false;
    }
    s->hasGuessed = true;
    *growth = rbEpaPolytope_Grow(s->scratch, index, keyMinOf(s));
    return true;
}

// Finds the support beyond the nearest face and grows. False, with the reason, if the search ends
// there.
static bool growByFace(Search* s, int index, rbStopReason* reason)
{
    Sight sight = lookBeyond(s, index);
    s->isInside = s->isInside || sight.distance >= 0.0;
    s->lower = s->isInside ? fmax(s->lower, sight.distance + s->off) : s->lower;
    if (sight.height < -s->slack) {
        *reason = noteApart(s, sight.normal, sight.point);
        return false;
    }
    double open = sight.height - sight.distance;
    double reach = s->settings->relativeTolerance * (sight.distance + s->off);
    bool isDone = open <= s->gap || (s->isInside && open <= reach);
    noteFace(s, index, &sight, isDone);
    if (isDone || isVertexOf(s, index, sight.point->w) ||
        (s->mayCap && s->isInside && tryCap(s, index, sight.distance, sight.point))) {
        *reason = reasonOf(s);
        return false;
    }
    rbEpaGrowth growth = rbEpaPolytope_Grow(s->scratch, index, keyMinOf(s));
    *reason = reasonOfFailure(s, growth);
    return growth == RB_EPA_GROWN;
}

// The main loop. Keys and heights of faces exclude the balls.
static rbStopReason expand(Search* s)
{
    rbEpaScratch* scratch = s->scratch;
    s->isInside = false;
    for (; s->iterations < s->settings->iterationMax; ++s->iterations) {
        double key;
        int index = rbEpaPolytope_TakeNearest(scratch, &key);
        if (index < 0 || key > scratch->keyMax) {
            // Every face lies farther away than the best direction: it is the answer, if the origin
            // is inside.
            bool isProven = s->isInside || (index >= 0 && key >= 0.0);
            s->lower = isProven ? fmax(s->lower, s->height) : s->lower;
            return reasonOf(s);
        }
        rbEpaGrowth growth = RB_EPA_GROWN;
        rbStopReason reason;
        s->isInside = s->isInside || key > 0.0;
        if (s->mayGuess && growByGuess(s, index, &growth)) {
            if (growth != RB_EPA_GROWN) {
                return reasonOfFailure(s, growth);
            }
        } else if (!growByFace(s, index, &reason)) {
            return reason;
        }
    }
    return s->hasGuessed ? SPOILED : RB_STOP_ITERATIONS;
}

// Newton from the final direction of the polytope; kept only if it is at least as good and its
// support point lies below the origin, so that it can be the witness.
static void polish(Search* s)
{
    if (s->face < 0 || !s->isSmooth || !s->settings->enableNewton) {
        return;
    }
    rbEpaProposal p = rbEpa_Descend(s->cso, s->normal, s->rollingRadius, &s->supports);
    rbVec3 side = rbAddScaled(p.point.w, -p.height, p.normal);
    if (p.height <= s->height + s->gap && p.height >= s->lower - s->slack &&
        rbLength(side) <= WITNESS * s->cso->scale) {
        s->lower = fmin(s->lower, p.height);
        s->height = INFINITY;
        adopt(s, &p);
    }
}

// A cso without volume: the height of its plane, with the weights of the walk.
static void noteFlat(Search* s, const rbEpaStart* start)
{
    s->height = start->height + s->off;
    s->lower = fmin(start->height, 0.0) + s->off;
    s->normal = start->normal;
    s->face = -1;
    rbCsoPoint sum = {0};
    for (int i = 0; i <= start->dimension && i < 3; ++i) {
        const rbCsoPoint* p = &s->scratch->points[i];
        sum.a = rbAddScaled(sum.a, start->span[i], p->a);
        sum.b = rbAddScaled(sum.b, start->span[i], p->b);
    }
    s->point.a = rbAddScaled(sum.a, s->balls.a, s->normal);
    s->point.b = rbAddScaled(sum.b, -s->balls.b, s->normal);
    s->point.w = rbSub(s->point.a, s->point.b);
}

// For a difference so thin that none of its faces has a normal: the best of the directions
// perpendicular to its longest edge.
static void noteSliver(Search* s)
{
    const rbCsoPoint* p = s->scratch->points;
    rbVec3 edge = rbSub(p[1].w, p[0].w);
    for (int i = 2; i < s->scratch->pointCount; ++i) {
        rbVec3 other = rbSub(p[i].w, p[0].w);
        edge = rbLengthSquared(other) > rbLengthSquared(edge) ? other : edge;
    }
    rbVec3 e1 = rbPerpendicular(rbNormalize(edge));
    rbVec3 e2 = rbNormalize(rbCross(edge, e1));
    const rbVec3 directions[4] = {e1, e2, rbNeg(e1), rbNeg(e2)};
    for (int i = 0; i < 4; ++i) {
        rbEpaProposal proposal = rbEpa_Propose(s->cso, directions[i], 0.0, &s->supports);
        if (proposal.height < s->height) {
            s->height = proposal.height;
            s->normal = proposal.normal;
            s->point = proposal.point;
            s->face = -1;
        }
    }
}

// Start and expansion of the cores without balls.
static rbStopReason runPolytope(Search* s, const rbCsoPoint* start, int startCount,
                                rbEpaBalls balls)
{
    rbEpaScratch* scratch = s->scratch;
    if (s->face >= 0) {
        // A face of an earlier polytope, about to be overwritten; its lower bound remains valid.
        s->height = INFINITY;
        s->face = -1;
    }
    s->balls = balls;
    s->off = balls.a + balls.b;
    rbEpaPolytope_Begin(scratch, s->cso->scale, s->settings->pointLimit, s->settings->faceLimit);
    scratch->keyMax = keyMaxOf(s);
    rbEpaStart found = rbEpa_FindStart(s->cso, start, startCount, balls, scratch);
    s->supports += found.supports;
    if (found.isApart) {
        return noteApart(s, found.normal, &scratch->points[0]);
    }
    if (found.dimension < 3) {
        noteFlat(s, &found);
        return reasonOf(s);
    }
    rbEpaPolytope_MakeTetrahedron(scratch);
    rbStopReason reason = expand(s);
    if (reason != SPOILED && !(s->height < INFINITY)) {
        noteSliver(s);
    }
    if (reason != RB_STOP_APART && reason != SPOILED) {
        polish(s);
    }
    return reason;
}

// Distances of points of the difference bound the signed depth from below when the cores are
// separate or the search ended before it enclosed the origin.
static double looseLower(const Search* s)
{
    double nearest = s->cso->scale;
    for (int i = 0; s->off == 0.0 && i < s->scratch->pointCount; ++i) {
        nearest = fmin(nearest, rbLength(s->scratch->points[i].w));
    }
    return -nearest;
}

// Newton first. If its end is not proven, the polytope of the cores without balls either contains
// the origin or leads to a point shallower than the balls, where Newton's result is proven. False
// if rounding or edges prevented all of this.
static bool solveRound(Search* s, rbEpaBalls balls, rbStopReason* reason)
{
    if (rbLength(s->cso->translation) > 0.0) {
        descend(s, rbNormalize(s->cso->translation));
        *reason = s->height < -s->slack ? RB_STOP_APART : reasonOf(s);
        if (*reason == RB_STOP_APART || isClosed(s)) {
            return true;
        }
    }
    *reason = runPolytope(s, NULL, 0, balls);
    if (*reason == RB_STOP_APART) {
        s->height = INFINITY;
        descend(s, s->normal);
        *reason = s->height < -s->slack ? RB_STOP_APART : reasonOf(s);
    }
    return *reason != RB_STOP_ROUNDING || isClosed(s);
}

rbEpaResult rbEpa_Depth(const rbCso* cso, const rbCsoPoint* start, int startCount,
                        const rbEpaSettings* settings, rbEpaScratch* scratch)
{
    RB_ASSERT(cso != NULL && scratch != NULL && settings != NULL);
    RB_ASSERT(settings->relativeTolerance >= 0.0);
    RB_ASSERT(settings->iterationMax >= 1);
    RB_ASSERT(isfinite(cso->scale));
    rbEpaBalls balls = settings->enableNewton ? rbEpa_GetBalls(cso) : (rbEpaBalls){0.0, 0.0};
    Search s = {.cso = cso,
                .settings = settings,
                .scratch = scratch,
                .slack = RB_EPA_SLACK * cso->scale,
                .gap = RB_EPA_GAP * cso->scale,
                .rollingRadius = balls.a + balls.b,
                .isSmooth = !cso->a->isPolytope || !cso->b->isPolytope,
                .mayGuess =
                    cso->a->isPolytope && cso->b->isPolytope && cso->a->isPlain && cso->b->isPlain,
                .lower = -INFINITY,
                .height = INFINITY,
                .face = -1};
    rbEpaPolytope_Begin(scratch, cso->scale, settings->pointLimit, settings->faceLimit);
    rbStopReason reason = RB_STOP_APART;
    if (s.rollingRadius == 0.0 || !solveRound(&s, balls, &reason)) {
        s.mayCap = settings->enableSphereCap && s.isSmooth;
        reason = runPolytope(&s, start, startCount, (rbEpaBalls){0.0, 0.0});
        if (reason == SPOILED) {
            s.mayGuess = s.hasGuessed = false;
            s.iterations = 0;
            reason = runPolytope(&s, start, startCount, (rbEpaBalls){0.0, 0.0});
        }
    }
    if (reason == RB_STOP_APART || !(s.lower > -INFINITY)) {
        s.lower = looseLower(&s);
    }
    return finish(&s, reason);
}

rbSeparation rbEpa_Separation(const rbCso* cso, const rbEpaResult* result)
{
    RB_ASSERT(cso != NULL && result != NULL);
    rbSeparation separation = {
        .distance = -result->depth,
        .lower = -result->upper,
        .upper = -result->lower,
        .pointA = result->a,
        .pointB = result->b,
        .normal = result->normal,
        .iterations = result->iterations,
        .reason = result->reason,
    };
    rbRoundSeparation(&separation, cso->a->radius, cso->b->radius);
    return separation;
}
