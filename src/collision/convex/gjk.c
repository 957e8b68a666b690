// GJK distance: the search itself, its bounds, its cache between queries.
//
// State: a simplex of at most four points of the difference D = A - B, its point v nearest to the
// origin, and the best lower bound so far. A support point w along -v yields the support plane
// distance w.v/|v| <= true distance for any direction of v, so errors of v make the bound less
// tight, never invalid. Rounding of supports, rotations and products is below RB_GJK_ROUNDING *
// scale; both bounds are widened by that at the end.
//
// Region tests of the simplex contradict each other once the simplex is small or flat relative to
// rounding. The symptom is that |v| does not shrink; every feature is then tried one by one, and if
// that does not help either the search ends with the bounds it has (G-31).
#include "collision/convex/gjk.h"

#include "base/math/elementary.h"
#include "collision/convex/gjk_boxes.h"
#include "collision/convex/support.h"

#include <float.h>
#include <math.h>

// ------------------------------------------------------------------------------------ simplex

// Nearest point of a simplex by region tests, with trial of all features as the fallback.
//
// Barycentric coordinates only decide which feature is nearest. The nearest point itself is formed
// from the normal of a face, v = n (n.a)/(n.n), or the rejection of an edge, v = (e x a) x e/(e.e):
// sums of weighted vertices lose the direction when the distance approaches rounding (G-19).
//
// For a face the origin is seen from outside of exactly those edges whose opposite weight is
// negative, and the nearest point lies on one of them; the same holds for tetrahedra and faces. So
// no further case distinction is needed, and no assumption about which point was added last.

// Below this sine of the angle between two edges a face has no meaningful normal: the cross product
// carries an error of about DBL_EPSILON times the edges. Only edges are then considered.
#define SINE_MIN (64.0 * DBL_EPSILON)
// Height over base of a tetrahedron below which the side tests are not trusted.
#define FLATNESS_MIN 1e-10

typedef struct Trial {
    const rbCsoPoint* points;
    rbNearest* best;
    bool isCareful; // lengths are those of the convex combination
} Trial;

rbVec3 rbCombine(const rbCsoPoint* points, int count, const double* weights)
{
    rbVec3 sum = rbScale(weights[0], points[0].w);
    for (int i = 1; i < count; ++i) {
        sum = rbAddScaled(sum, weights[i], points[i].w);
    }
    return sum;
}

static inline void takeVertex(const Trial* trial, int i)
{
    rbVec3 a = trial->points[i].w;
    double lengthSquared = rbLengthSquared(a);
    rbNearest* best = trial->best;
    if (lengthSquared < best->lengthSquared) {
        best->v = a;
        best->axis = a;
        best->lengthSquared = lengthSquared;
        best->used = 1U << i;
        best->weights[i] = 1.0;
    }
}

static inline void takeEdge(const Trial* trial, int i, int j)
{
    rbVec3 a = trial->points[i].w;
    rbVec3 e = rbSub(trial->points[j].w, a);
    double ee = rbLengthSquared(e);
    double t = -rbDot(a, e);
    if (t <= 0.0) {
        takeVertex(trial, i);
        return;
    }
    if (t >= ee) {
        takeVertex(trial, j);
        return;
    }
    rbVec3 c = rbCross(e, a);
    double inverse = 1.0 / ee;
    double s = t * inverse;
    double lengthSquared =
        trial->isCareful
            ? rbLengthSquared(rbAdd(rbScale(1.0 - s, a), rbScale(s, trial->points[j].w)))
            : rbLengthSquared(c) * inverse;
    rbNearest* best = trial->best;
    if (lengthSquared < best->lengthSquared) {
        best->v = rbScale(inverse, rbCross(c, e));
        best->axis = best->v;
        best->lengthSquared = lengthSquared;
        best->used = (1U << i) | (1U << j);
        best->weights[i] = 1.0 - s;
        best->weights[j] = s;
    }
}

// A face by its corners, the first of which is the base of its edges.
typedef struct Face {
    int i, j, k;
    rbVec3 a, ab, ac;
    double abSquared, acSquared;
} Face;

// Makes the corner between the two shorter edges the base: differences of distant points would add
// the rounding of their coordinates to a normal that the short edge determines.
static void chooseBase(const Trial* trial, Face* f)
{
    Face old = *f;
    rbVec3 bc = rbSub(trial->points[f->k].w, trial->points[f->j].w);
    double bcSquared = rbLengthSquared(bc);
    if (old.abSquared > bcSquared && old.abSquared >= old.acSquared) {
        *f = (Face){old.k,         old.i,     old.j,         trial->points[old.k].w,
                    rbNeg(old.ac), rbNeg(bc), old.acSquared, bcSquared};
    } else if (old.acSquared > bcSquared) {
        *f = (Face){old.j, old.k,         old.i,     trial->points[old.j].w,
                    bc,    rbNeg(old.ab), bcSquared, old.abSquared};
    }
}

static void takeFace(const Trial* trial, int i, int j, int k)
{
    Face f = {.i = i, .j = j, .k = k, .a = trial->points[i].w};
    f.ab = rbSub(trial->points[j].w, f.a);
    f.ac = rbSub(trial->points[k].w, f.a);
    f.abSquared = rbLengthSquared(f.ab);
    f.acSquared = rbLengthSquared(f.ac);
    rbVec3 n = rbCross(f.ab, f.ac);
    double nn = rbLengthSquared(n);
    bool isFlat = false;
    if (!(nn > RB_NEEDLE * f.abSquared * f.acSquared) || nn < DBL_MIN) {
        chooseBase(trial, &f);
        n = rbCross(f.ab, f.ac);
        nn = rbLengthSquared(n);
        isFlat = !(nn > SINE_MIN * SINE_MIN * f.abSquared * f.acSquared) || nn < DBL_MIN;
    }
    // In the plane -a = wb ab + wc ac; crossed with either edge and dotted with n.
    rbVec3 an = rbCross(f.a, n);
    double wb = rbDot(f.ac, an);
    double wc = -rbDot(f.ab, an);
    double wa = nn - wb - wc;
    if (isFlat || !(wa > 0.0 && wb > 0.0 && wc > 0.0)) {
        if (isFlat || wc <= 0.0) {
            takeEdge(trial, f.i, f.j);
        }
        if (isFlat || wb <= 0.0) {
            takeEdge(trial, f.i, f.k);
        }
        if (isFlat || wa <= 0.0) {
            takeEdge(trial, f.j, f.k);
        }
        return;
    }
    double inverse = 1.0 / nn;
    double height = rbDot(n, f.a) * inverse;
    double lengthSquared = height * height * nn;
    if (trial->isCareful) {
        rbVec3 sum = rbScale(wa * inverse, f.a);
        sum = rbAddScaled(sum, wb * inverse, trial->points[f.j].w);
        sum = rbAddScaled(sum, wc * inverse, trial->points[f.k].w);
        lengthSquared = rbLengthSquared(sum);
    }
    rbNearest* best = trial->best;
    if (lengthSquared < best->lengthSquared) {
        best->v = rbScale(height, n);
        best->axis = n;
        best->lengthSquared = lengthSquared;
        best->used = (1U << f.i) | (1U << f.j) | (1U << f.k);
        best->weights[f.i] = wa * inverse;
        best->weights[f.j] = wb * inverse;
        best->weights[f.k] = wc * inverse;
    }
}

// Corners of the face opposite to each point of a tetrahedron.
static const int faceOpposite[4][3] = {{1, 2, 3}, {2, 0, 3}, {0, 1, 3}, {0, 1, 2}};

static void takeInside(const Trial* trial, const double* s, double det)
{
    rbNearest* best = trial->best;
    double weights[4];
    for (int i = 0; i < 4; ++i) {
        weights[i] = s[i] / det;
    }
    rbVec3 rest = rbCombine(trial->points, 4, weights);
    double lengthSquared = trial->isCareful ? rbLengthSquared(rest) : 0.0;
    if (lengthSquared < best->lengthSquared) {
        best->v = rest;
        best->axis = RB_VEC3_ZERO;
        best->lengthSquared = lengthSquared;
        best->used = 15;
        for (int i = 0; i < 4; ++i) {
            best->weights[i] = weights[i];
        }
    }
}

static void takeTetrahedron(const Trial* trial)
{
    const rbCsoPoint* p = trial->points;
    rbVec3 d = p[3].w;
    rbVec3 da = rbSub(p[0].w, d), db = rbSub(p[1].w, d), dc = rbSub(p[2].w, d);
    rbVec3 nab = rbCross(da, db);
    // -d = (s[0] da + s[1] db + s[2] dc) / det
    double det = rbDot(nab, dc);
    double s[4] = {-rbDot(d, rbCross(db, dc)), -rbDot(d, rbCross(dc, da)), -rbDot(d, nab), 0.0};
    s[3] = det - s[0] - s[1] - s[2];
    if (det < 0.0) {
        det = -det;
        for (int i = 0; i < 4; ++i) {
            s[i] = -s[i];
        }
    }
    bool isFlat =
        !(det * det > FLATNESS_MIN * FLATNESS_MIN * rbLengthSquared(nab) * rbLengthSquared(dc)) ||
        det < DBL_MIN;
    // an origin on a face belongs to the face: it has a normal
    if (det > DBL_MIN && s[0] > 0.0 && s[1] > 0.0 && s[2] > 0.0 && s[3] > 0.0) {
        takeInside(trial, s, det);
        if (!trial->isCareful) {
            return;
        }
    }
    for (int i = 0; i < 4; ++i) {
        if (isFlat || trial->isCareful || s[i] <= 0.0) {
            takeFace(trial, faceOpposite[i][0], faceOpposite[i][1], faceOpposite[i][2]);
        }
    }
}

static void dropUnused(rbNearest* nearest)
{
    for (unsigned i = 0; i < 4; ++i) {
        if ((nearest->used >> i & 1U) == 0) {
            nearest->weights[i] = 0.0;
        }
    }
}

void rbFindNearest(const rbCsoPoint* points, int count, rbNearest* nearest)
{
    RB_ASSERT(count >= 1 && count <= 4);
    Trial trial = {.points = points, .best = nearest, .isCareful = false};
    nearest->used = 0;
    nearest->lengthSquared = INFINITY;
    if (count == 1) {
        takeVertex(&trial, 0);
    } else if (count == 2) {
        takeEdge(&trial, 0, 1);
    } else if (count == 3) {
        takeFace(&trial, 0, 1, 2);
    } else {
        takeTetrahedron(&trial);
    }
    if (nearest->used + 1 != 1U << count) {
        dropUnused(nearest);
    }
    RB_ASSERT(nearest->used != 0 && isfinite(nearest->lengthSquared));
}

void rbFindNearestByTrial(const rbCsoPoint* points, int count, rbNearest* nearest)
{
    RB_ASSERT(count >= 1 && count <= 4);
    Trial trial = {.points = points, .best = nearest, .isCareful = true};
    nearest->lengthSquared = INFINITY;
    for (int i = 0; i < count; ++i) {
        takeVertex(&trial, i);
        for (int j = 0; j < i; ++j) {
            takeEdge(&trial, j, i);
            for (int k = 0; k < j; ++k) {
                takeFace(&trial, k, j, i);
            }
        }
    }
    if (count == 4) {
        takeTetrahedron(&trial);
    }
    dropUnused(nearest);
    // |v| and the length of the combination differ here; callers divide one by the other
    double own = rbLengthSquared(nearest->v);
    nearest->v = own > DBL_MIN ? rbScale(sqrt(nearest->lengthSquared / own), nearest->v)
                               : rbCombine(points, count, nearest->weights);
    RB_ASSERT(nearest->used != 0);
}

// Exact minimization of |sum + t e|^2 along each edge of the simplex, one after another, limited so
// that the weights stay in the simplex.
void rbRefineWeights(const rbCsoPoint* points, int count, double* weights)
{
    RB_ASSERT(count >= 1 && count <= 4);
    for (int i = 0; i < count; ++i) {
        for (int j = i + 1; j < count; ++j) {
            rbVec3 sum = rbCombine(points, count, weights);
            rbVec3 e = rbSub(points[j].w, points[i].w);
            double ee = rbLengthSquared(e);
            if (ee < DBL_MIN) {
                continue;
            }
            double t = -rbDot(sum, e) / ee;
            t = fmax(-weights[j], fmin(weights[i], t));
            if (rbLengthSquared(rbAddScaled(sum, t, e)) < rbLengthSquared(sum)) {
                weights[i] -= t;
                weights[j] += t;
            }
        }
    }
}

// ------------------------------------------------------------------------------------- search

// Steps of a search in which region tests see no gain, and the relative rounding of |v|^2. Without
// a limit searches run in circles where |v| is only a few units of rounding.
#define STALLS_MAX 16
#define GAIN_ROUNDING (8.0 * DBL_EPSILON)

// Bounds wider than this, relative to the scale, justify another search, and how many.
#define WIDE 1e-11
#define SEARCHES_MAX 9

// A guess is tried where |v| is below this fraction of the scale, and accepted if it lies below
// that fraction of |v|: well-separated bodies are near their answer from the start.
#define GUESS_NEAR 0.2
#define GUESS_SHARE 0.8

// Supports spent on the normal of cores that touch along an edge of the simplex.
#define SETTLE_ROUNDS 16

typedef struct Search {
    const rbCso* cso;
    const rbGjkSettings* settings;
    rbGjkResult* result;
    double rounding;
    double lower;         // best support plane distance, not widened
    double length;        // |v|
    double inverse;       // 1 / |v|: computed early, so that it is ready when a support point is
    double lengthSquared; // of the last nearest point
    rbVec3 v;
    rbVec3 best;          // the v of the lower bound, if that is positive
    double bestInverse;   // 1 / its length, valid while the length exceeds rounding
    rbVec3 axis;          // v, or its direction by other means where |v| is only rounding
    rbVec3 directions[4]; // support directions of the points
    int hints[2];
    int stalls;      // steps without gain so far
    bool isPolytope; // both cores are polytopes, and vertices identify their points
    bool mayGuess;   // at least one hull, both plain polytopes, and the distance is needed in any
                     // case
    bool isInside;   // the origin is in the tetrahedron
} Search;

double rbGjk_GetRounding(const rbCso* cso)
{
    return RB_GJK_ROUNDING * cso->scale;
}

// A direction whose square neither vanishes nor overflows.
static bool isDirection(rbVec3 d)
{
    double largest = fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
    return largest > 1e-100 && largest < 1e100 && rbIsFinite3(d);
}

// Is the last point of the simplex one of those before? Points of polytopes by their vertices.
static bool isRepeated(const Search* search, int count)
{
    const rbCsoPoint* q = &search->result->simplex[count - 1];
    bool isOne = false;
    for (const rbCsoPoint* p = search->result->simplex; p < q && !isOne; ++p) {
        isOne = search->isPolytope ? p->vertexA == q->vertexA && p->vertexB == q->vertexB
                                   : p->w.x == q->w.x && p->w.y == q->w.y && p->w.z == q->w.z;
    }
    return isOne;
}

// Rebuilds the points of the cache on the current cores.
static void readCache(Search* search, const rbGjkCache* cache)
{
    const rbCso* cso = search->cso;
    rbGjkResult* result = search->result;
    RB_ASSERT(result->simplexCount == 0);
    int count = cache->count >= 0 && cache->count <= 4 ? cache->count : 0;
    for (int i = 0; i < count; ++i) {
        rbCsoPoint* point = &result->simplex[result->simplexCount];
        rbVec3 a, b;
        if (rbFindVertex(cso->a, cache->vertexA[i], &a) &&
            rbFindVertex(cso->b, cache->vertexB[i], &b)) {
            point->vertexA = cache->vertexA[i];
            point->vertexB = cache->vertexB[i];
            rbMakeCsoPoint(cso, a, b, point);
        } else if (!search->isPolytope && isDirection(cache->directions[i])) {
            rbFindSupport(cso, cache->directions[i], NULL, point);
            search->directions[result->simplexCount] = cache->directions[i];
            ++result->iterations;
        } else {
            continue;
        }
        ++result->simplexCount; // a repeated point does no harm: the simplex is flat then
    }
}

static void writeCache(const Search* search, rbGjkCache* cache)
{
    const rbGjkResult* result = search->result;
    RB_ASSERT(result->simplexCount >= 1 && result->simplexCount <= 4);
    cache->count = result->simplexCount;
    cache->direction = result->normal;
    for (int i = 0; i < result->simplexCount; ++i) {
        cache->vertexA[i] = result->simplex[i].vertexA;
        cache->vertexB[i] = result->simplex[i].vertexB;
        if (!search->isPolytope) {
            cache->directions[i] = search->directions[i];
        }
    }
}

// Support along -v as the point after the last one, and the lower bound it proves.
static void addSupport(Search* search)
{
    rbGjkResult* result = search->result;
    RB_ASSERT(result->simplexCount < 4 && search->length > 0.0);
    rbCsoPoint* point = &result->simplex[result->simplexCount];
    rbVec3 direction = rbNeg(search->v);
    rbFindSupport(search->cso, direction, search->hints, point);
    if (!search->isPolytope) {
        search->directions[result->simplexCount] = direction;
    }
    ++result->iterations;
    double plane = rbDot(point->w, search->v) * search->inverse;
    if (plane > search->lower) {
        search->lower = plane;
        search->best = search->v;
        search->bestInverse = search->inverse;
    }
}

// A point far below v, without a search for the farthest: it advances v as well, but proves no
// bound. False if none is available.
static bool addGuess(Search* search)
{
    rbGjkResult* result = search->result;
    rbCsoPoint* point = &result->simplex[result->simplexCount];
    rbGuessSupport(search->cso, rbNeg(search->v), point);
    if (!(rbDot(point->w, search->v) < GUESS_SHARE * search->lengthSquared)) {
        return false;
    }
    search->hints[0] = point->vertexA;
    search->hints[1] = point->vertexB;
    ++result->iterations;
    return true;
}

// Keeps the points that carry the nearest one; the last ones fill the gaps.
static void acceptNearest(Search* search, const rbNearest* nearest, int count)
{
    rbGjkResult* result = search->result;
    RB_ASSERT(nearest->used != 0 && nearest->used >> count == 0);
    search->isInside = nearest->used == 15;
    search->length = sqrt(nearest->lengthSquared);
    search->inverse = 1.0 / search->length;
    if (search->isInside || search->length <= search->rounding) {
        // where the length of a normal is rounding, the previous direction determines its sign
        unsigned two = nearest->used & (nearest->used - 1); // points but the first
        bool isFace = !search->isInside && (two & (two - 1)) != 0;
        search->axis = !isFace                                 ? search->v
                       : rbDot(nearest->axis, search->v) < 0.0 ? rbNeg(nearest->axis)
                                                               : nearest->axis;
    } else {
        search->axis = nearest->v;
    }
    search->v = nearest->v;
    search->lengthSquared = nearest->lengthSquared;
    int kept = 0;
    if (nearest->used + 1 == 1U << count) { // nothing moves
        for (; kept < count; ++kept) {
            result->weights[kept] = nearest->weights[kept];
        }
    }
    for (int i = kept; i < count; ++i) {
        if ((nearest->used >> i & 1U) == 0) {
            continue;
        }
        if (kept != i) {
            result->simplex[kept] = result->simplex[i];
            if (!search->isPolytope) {
                search->directions[kept] = search->directions[i];
            }
        }
        result->weights[kept] = nearest->weights[i];
        ++kept;
    }
    RB_ASSERT(kept >= 1);
    result->simplexCount = kept;
}

// Region tests may classify an origin near a flat tetrahedron as inside: then its weights do not
// reproduce the origin.
static bool isTrusted(const Search* search, const rbNearest* nearest)
{
    return nearest->used != 15 ||
           rbLengthSquared(nearest->v) <= search->rounding * search->rounding;
}

// Nearest point with the new point at the end. False if |v| cannot be made smaller. A rotation of v
// by an angle below 1e-8 does not change |v| in double precision, but moves the support plane of a
// long body: some steps without gain are allowed.
static bool advance(Search* search)
{
    rbGjkResult* result = search->result;
    int count = result->simplexCount + 1;
    rbNearest nearest;
    if (!isRepeated(search, count)) {
        rbFindNearest(result->simplex, count, &nearest);
        double gain = search->lengthSquared - nearest.lengthSquared;
        bool isStalled = gain <= 0.0;
        if (gain >= -GAIN_ROUNDING * search->lengthSquared && isTrusted(search, &nearest) &&
            !(isStalled && search->stalls == STALLS_MAX)) {
            search->stalls += isStalled ? 1 : 0;
            acceptNearest(search, &nearest, count);
            return true;
        }
    }
    // the known length may be too short because of rounding in its normal
    double reached =
        rbLengthSquared(rbCombine(result->simplex, result->simplexCount, result->weights));
    rbFindNearestByTrial(result->simplex, count, &nearest);
    if (nearest.lengthSquared < reached && search->stalls < STALLS_MAX) {
        ++search->stalls;
        acceptNearest(search, &nearest, count);
        return true;
    }
    return false;
}

// First simplex: from the cache if it has one, otherwise one support along the line of the origins.
static void start(Search* search, const rbGjkCache* cache)
{
    rbGjkResult* result = search->result;
    if (cache != NULL) {
        readCache(search, cache);
    }
    bool isFromCache = result->simplexCount > 0;
    if (!isFromCache) {
        rbVec3 t = search->cso->translation;
        bool isCached = cache != NULL && isDirection(cache->direction);
        search->v = isCached         ? rbNeg(cache->direction)
                    : isDirection(t) ? rbNeg(t)
                                     : rbMakeVec3(-1.0, 0.0, 0.0);
        search->length = rbLength(search->v);
        search->inverse = 1.0 / search->length;
        addSupport(search);
        result->simplexCount = 1;
    }
    rbNearest nearest;
    int count = result->simplexCount;
    rbFindNearest(result->simplex, count, &nearest);
    if (!isTrusted(search, &nearest)) {
        rbFindNearestByTrial(result->simplex, count, &nearest);
    }
    if (isFromCache && !(nearest.lengthSquared > search->rounding * search->rounding)) {
        // the simplex touches the origin: the previous direction determines the side
        search->v =
            isDirection(cache->direction) ? rbNeg(cache->direction) : rbMakeVec3(-1.0, 0.0, 0.0);
    }
    acceptNearest(search, &nearest, count);
}

// Improves the bounds until one of the reasons to stop holds.
static rbStopReason run(Search* search)
{
    const rbGjkSettings* settings = search->settings;
    double apart = settings->distanceMax + search->rounding;
    double touch = fmax(settings->distanceMin - search->rounding, search->rounding);
    if (search->lower > apart) {
        return RB_STOP_APART;
    }
    for (int i = 0; i < settings->iterationMax; ++i) {
        if (search->isInside || search->length <= touch) {
            return RB_STOP_TOUCHES;
        }
        double gapMax = fmax(settings->relativeTolerance * search->length, search->rounding);
        if (search->length - search->lower <= gapMax) {
            return RB_STOP_CONVERGED;
        }
        bool isNear = search->length < GUESS_NEAR * search->cso->scale;
        if (!isNear || !search->mayGuess || !addGuess(search)) {
            addSupport(search);
            if (search->lower > apart) {
                return RB_STOP_APART;
            }
            if (search->length - search->lower <= gapMax) {
                return RB_STOP_CONVERGED;
            }
        }
        if (!advance(search)) {
            return RB_STOP_ROUNDING;
        }
    }
    return RB_STOP_ITERATIONS;
}

// Normal where the origin lies on an edge of the simplex. All of D is above the plane of a normal,
// so it is perpendicular to the edge: one angle is unknown. Seen along the edge, the points of D
// form a cone of directions; a normal exists if the cone spans at most half of a circle.
static void settleNormal(Search* search)
{
    rbGjkResult* result = search->result;
    RB_ASSERT(result->simplexCount == 2);
    rbVec3 e = rbNormalize(rbSub(result->simplex[1].w, result->simplex[0].w));
    rbVec3 p = rbNormalize(search->axis);
    rbVec3 q = rbNormalize(rbCross(e, p));
    q = !(rbLengthSquared(q) > 0.5) ? rbPerpendicular(e) : q;
    p = rbCross(q, e);
    double angle = 0.0; // of the axis tried, from p to q
    double low = INFINITY;
    double high = -INFINITY;
    for (int i = 0; i < SETTLE_ROUNDS && high - low < RB_PI + 1e-6; ++i) {
        double sine, cosine;
        rbSinCos(angle, &sine, &cosine);
        rbVec3 axis = rbAddScaled(rbScale(cosine, p), sine, q);
        rbVec3 w = rbCso_Support(search->cso, rbNeg(axis), search->hints).w;
        ++result->iterations;
        if (rbDot(w, axis) >= -2.0 * search->rounding) {
            search->axis = axis;
            return;
        }
        double turn =
            rbAtan2(rbDot(w, rbSub(rbScale(cosine, q), rbScale(sine, p))), rbDot(w, axis));
        low = fmin(low, angle + turn);
        high = fmax(high, angle + turn);
        angle = 0.5 * (low + high);
    }
}

// The witness points and their distance.
static double combineWitnesses(rbGjkResult* result)
{
    rbVec3 a = rbScale(result->weights[0], result->simplex[0].a);
    rbVec3 b = rbScale(result->weights[0], result->simplex[0].b);
    for (int i = 1; i < result->simplexCount; ++i) {
        a = rbAddScaled(a, result->weights[i], result->simplex[i].a);
        b = rbAddScaled(b, result->weights[i], result->simplex[i].b);
    }
    result->a = a;
    result->b = b;
    return rbDistance(a, b);
}

// Witnesses, bounds and normal from the last simplex.
static void finish(Search* search)
{
    rbGjkResult* result = search->result;
    int count = result->simplexCount;
    double reached = combineWitnesses(result);
    double tolerance = fmax(search->settings->relativeTolerance * reached, 2.0 * search->rounding);
    if (reached - search->lower > tolerance && count > 1 && result->reason != RB_STOP_APART) {
        // weights of needle-like faces may need refinement
        rbRefineWeights(result->simplex, count, result->weights);
        reached = combineWitnesses(result);
        if (result->reason == RB_STOP_CONVERGED && reached - search->lower > tolerance) {
            result->reason = RB_STOP_ROUNDING;
        }
    }
    result->upper = reached + search->rounding;
    result->lower = fmax(search->lower - search->rounding, 0.0);
    result->overlaps = search->isInside || search->length <= search->rounding ||
                       (result->lower == 0.0 && result->reason != RB_STOP_APART &&
                        result->reason != RB_STOP_TOUCHES);
    if (search->length <= search->rounding && count == 2) {
        settleNormal(search);
    }
    // the normal proves the lower bound, if there is one
    bool isProven = search->lower > 0.0 && search->length > search->rounding;
    if (isProven && search->bestInverse * search->cso->scale < RB_GJK_NEAR) {
        result->normal = rbScale(-search->bestInverse, search->best);
        return;
    }
    rbVec3 axis = isProven ? search->best : search->axis;
    double length = rbLength(axis);
    if (!(length > 1e-100 && length < 1e100)) {
        double largest = fmax(fabs(axis.x), fmax(fabs(axis.y), fabs(axis.z)));
        axis = largest > 0.0 ? rbMakeVec3(axis.x / largest, axis.y / largest, axis.z / largest)
                             : rbMakeVec3(-1.0, 0.0, 0.0);
        length = rbLength(axis);
    }
    result->normal = rbScale(-1.0 / length, axis);
}

void rbGjk_Search(const rbCso* cso, const rbGjkSettings* settings, rbGjkCache* cache,
                  rbGjkResult* result)
{
    RB_ASSERT(cso != NULL && isfinite(cso->scale));
    RB_ASSERT(settings->relativeTolerance >= 0.0 && settings->iterationMax >= 0);
    RB_ASSERT(settings->distanceMax >= settings->distanceMin);
    result->simplexCount = 0;
    result->iterations = 0;
    result->weights[0] = 1.0;
    Search search;
    search.cso = cso;
    search.settings = settings;
    search.result = result;
    search.rounding = rbGjk_GetRounding(cso);
    search.lower = 0.0;
    search.v = rbMakeVec3(-1.0, 0.0, 0.0);
    search.stalls = 0;
    search.isPolytope = cso->a->isPolytope && cso->b->isPolytope;
    search.mayGuess = search.isPolytope && !(cso->a->isExtents && cso->b->isExtents) &&
                      !(settings->distanceMax < INFINITY);
    search.hints[0] = search.hints[1] = -1;
    start(&search, cache);
    result->reason = run(&search);
    finish(&search);
    if (cache != NULL) {
        writeCache(&search, cache);
    }
    RB_ASSERT(result->lower <= result->upper);
    RB_ASSERT(rbIsFinite3(result->normal));
}

void rbGjk_Solve(const rbCso* cso, const rbGjkSettings* settings, rbGjkCache* cache,
                 rbGjkResult* result)
{
    const rbGjkSettings defaults = rbDefaultGjkSettings();
    settings = settings != NULL ? settings : &defaults;
    if (cso->isExtents && cache != NULL && settings->iterationMax > 0) {
        rbGjkBoxes pair = {rbLaneVec_Make(cso->a->extents), rbLaneVec_Make(cso->b->extents),
                           rbLaneMat_Make(cso->rotation), rbLaneVec_Make(cso->translation),
                           cso->scale};
        if (rbGjk_ConfirmBoxes(&pair, settings, cache, result)) {
            return;
        }
    }
    rbGjk_Search(cso, settings, cache, result);
}

// Adopts the better results of another search of the same cores.
static void takeBetter(rbGjkResult* best, const rbGjkResult* other)
{
    if (other->lower > best->lower) {
        best->lower = other->lower;
        best->normal = other->normal;
    }
    if (other->upper < best->upper) {
        best->upper = other->upper;
        best->a = other->a;
        best->b = other->b;
    }
    best->iterations += other->iterations;
}

// Nearly parallel and nearly touching features leave the search with useless simplices. Searches
// from nearby directions find others; the bounds of every search hold, so the best of all hold.
void rbGjk_Tighten(const rbCso* cso, const rbGjkSettings* settings, rbGjkResult* result)
{
    if (result->reason != RB_STOP_ROUNDING && result->reason != RB_STOP_ITERATIONS) {
        return;
    }
    static const double turns[SEARCHES_MAX][2] = {{0.0, 0.0},    {1e-3, 0.0},  {-1e-3, 0.0},
                                                  {0.0, 1e-3},   {0.0, -1e-3}, {1e-6, 1e-6},
                                                  {-1e-6, 1e-6}, {0.1, 0.1},   {-0.1, -0.1}};
    for (int i = 0; i < SEARCHES_MAX && result->upper - result->lower > WIDE * cso->scale; ++i) {
        rbVec3 e1 = rbPerpendicular(result->normal);
        rbVec3 e2 = rbCross(result->normal, e1);
        rbGjkCache start = {.direction = rbAddScaled(rbAddScaled(result->normal, turns[i][0], e1),
                                                     turns[i][1], e2)};
        rbGjkResult other;
        rbGjk_Solve(cso, settings, &start, &other);
        takeBetter(result, &other);
    }
}

bool rbGjk_Overlaps(const rbCso* cso, double margin, rbGjkCache* cache)
{
    RB_ASSERT(margin >= 0.0);
    double reach = cso->a->radius + cso->b->radius + margin;
    if (cache != NULL && isDirection(cache->direction)) {
        // the plane that separated them last time often still does
        rbVec3 d = cache->direction;
        rbCsoPoint point = rbCso_Support(cso, d, NULL);
        if (-rbDot(point.w, d) > (reach + rbGjk_GetRounding(cso)) * rbLength(d)) {
            return false;
        }
    }
    rbGjkSettings settings = rbDefaultGjkSettings();
    settings.distanceMin = reach;
    settings.distanceMax = reach;
    rbGjkResult result;
    rbGjk_Search(cso, &settings, cache, &result);
    if (result.lower <= reach && result.upper > reach + 8.0 * rbGjk_GetRounding(cso)) {
        rbGjk_Tighten(cso, &settings, &result);
    }
    return result.lower <= reach;
}
