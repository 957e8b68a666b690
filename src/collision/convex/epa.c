// The expansion loop: take the face nearest to the origin, find the support beyond it, stop or
// grow.
//
// The search direction is the outward normal of the face, never the vector to its nearest point:
// that vector flips when the distance is a tiny negative number. Until the origin is enclosed,
// faces have negative distances and the one the origin is farthest outside of comes first; a
// support value below zero then proves that the cores are separate.
//
// Ellipsoids first try Newton's method (below), which ends most shallow queries; the
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
#include "collision/geometry/shape_ops.h"

#include <math.h>

// --------------------------------------------------------------------------------------- start

// From any start points to a tetrahedron of support points, or to the conclusion that the cso is
// flat.
//
// A point set is completed dimension by dimension: the next support is searched perpendicular to
// the points found so far, first toward the origin. Only when no direction leads out of the plane
// (line, point) is the cso flat. The tetrahedron need not contain the origin: the expansion itself,
// which always takes the face the origin is farthest outside of, encloses it or proves it outside,
// with one support per step and without the cycles of a walk that replaces vertices.
//
// GJK leaves the origin on a vertex, an edge or a face of its simplex; those are just faces with
// distance 0, searched along their outward normals.

// The result of the search for a start polytope.
typedef struct Start {
    int dimension;  // of the cso: 3 with points 0 to 3 of the scratch memory in general position,
                    // or less
    bool isApart;   // normal is a separating direction
    rbVec3 normal;  // unit; of a flat cso: direction of least height
    double height;  // h(normal)
    double span[3]; // flat cso: barycentric weights of the origin in the first dimension + 1 points
    int supports;
} Start;

// Radii of balls that are summands of the cores; removing them leaves smaller cores.
typedef struct Balls {
    double a, b; // m, >= 0
} Balls;

// Support point along a unit direction of the difference of the cores without their balls; without
// balls it is that of the cso. Hints would not help: successive directions differ too much.
static rbCsoPoint supportWithout(const rbCso* cso, rbVec3 direction, Balls balls)
{
    rbCsoPoint point = rbCso_Support(cso, direction, NULL);
    if (balls.a + balls.b > 0.0) {
        point.a = rbAddScaled(point.a, -balls.a, direction);
        point.b = rbAddScaled(point.b, balls.b, direction);
        point.w = rbSub(point.a, point.b);
    }
    return point;
}

// Start points closer than this to the span of the others (relative to the scale) are not used:
// fresh supports make a better tetrahedron.
#define START_HEIGHT 1e-7
// A support this far out (square, relative to that of the span) is accepted without further search.
#define GOOD_HEIGHT 1e-6
// Steps of the walk in a flat cso; on polygons it ends after a few.
#define WALK_STEPS 64
// A start is guessed where the origins are closer than this fraction of the sizes, and the cores
// overlap along their line by this fraction of the scale: then GJK would only find a worse start.
#define DEEP_NEAR 0.8
#define DEEP_OVERLAP 0.1

typedef struct Starter {
    const rbCso* cso;
    rbEpaScratch* scratch;
    Start result;
    double slack;
    Balls balls;
} Starter;

// Support along a direction of any length; records a separating one. Lengths are compared by their
// squares: a square root costs as much as half a support.
static rbCsoPoint supportAlong(Starter* s, rbVec3 direction)
{
    direction = s->balls.a + s->balls.b > 0.0 ? rbNormalize(direction) : direction;
    rbCsoPoint point = supportWithout(s->cso, direction, s->balls);
    ++s->result.supports;
    double height = rbDot(point.w, direction);
    double square = rbLengthSquared(direction);
    if (height < 0.0 && height * height > s->slack * s->slack * square && !s->result.isApart) {
        double inverse = 1.0 / sqrt(square);
        s->result.isApart = true;
        s->result.normal = rbScale(inverse, direction);
        s->result.height = inverse * height;
        s->scratch->points[0] = point;
    }
    return point;
}

// Square of the distance of w from the span of the first points of the scratch.
static double squareOver(const rbEpaScratch* scratch, rbVec3 w)
{
    const rbCsoPoint* p = scratch->points;
    if (scratch->pointCount == 0) {
        return INFINITY;
    }
    rbVec3 r = rbSub(w, p[0].w);
    if (scratch->pointCount == 1) {
        return rbLengthSquared(r);
    }
    rbVec3 axis = rbSub(p[1].w, p[0].w);
    if (scratch->pointCount == 2) {
        return rbLengthSquared(rbCross(axis, r)) / rbLengthSquared(axis);
    }
    rbVec3 n = rbCross(axis, rbSub(p[2].w, p[0].w));
    double height = rbDot(n, r);
    return height * height / rbLengthSquared(n);
}

// Tries directions one after another and keeps the support farthest from the span; true if it lies
// outside of it. good is the square of a distance that ends the search.
static bool addBest(Starter* s, const rbVec3* directions, int count, double good)
{
    rbEpaScratch* scratch = s->scratch;
    rbCsoPoint best = {0};
    double highest = -1.0;
    for (int i = 0; i < count && highest <= good; ++i) {
        rbCsoPoint point = supportAlong(s, directions[i]);
        if (s->result.isApart) {
            return false;
        }
        double height = squareOver(scratch, point.w);
        if (height > highest) {
            highest = height;
            best = point;
        }
    }
    if (!(highest > scratch->flatHeight * scratch->flatHeight)) {
        return false;
    }
    scratch->points[scratch->pointCount++] = best;
    return true;
}

static bool addSecond(Starter* s)
{
    static const rbVec3 axes[6] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1},
                                   {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    rbVec3 toward = rbNeg(s->scratch->points[0].w);
    double good = GOOD_HEIGHT * s->cso->scale * s->cso->scale;
    return (rbLengthSquared(toward) > s->slack * s->slack && addBest(s, &toward, 1, good)) ||
           (!s->result.isApart && addBest(s, axes, 6, good));
}

static bool addThird(Starter* s)
{
    const rbCsoPoint* p = s->scratch->points;
    rbVec3 edge = rbSub(p[1].w, p[0].w);
    double square = rbLengthSquared(edge);
    // From the line to the origin, times the square of the edge.
    rbVec3 out = rbCross(edge, rbCross(edge, p[0].w));
    if (rbLengthSquared(out) <= GOOD_HEIGHT * square * square * square) {
        // Any perpendicular direction will do.
        rbVec3 size = rbAbs3(edge);
        out = size.x <= fmax(size.y, size.z) ? rbMakeVec3(0.0, edge.z, -edge.y)
                                             : rbMakeVec3(edge.y, -edge.x, 0.0);
    }
    rbVec3 side = rbCross(edge, out);
    const rbVec3 directions[4] = {out, side, rbNeg(out), rbNeg(side)};
    return addBest(s, directions, 4, GOOD_HEIGHT * square);
}

static bool addFourth(Starter* s)
{
    const rbCsoPoint* p = s->scratch->points;
    rbVec3 ab = rbSub(p[1].w, p[0].w), ac = rbSub(p[2].w, p[0].w);
    rbVec3 n = rbCross(ab, ac);
    n = rbDot(n, p[0].w) > 0.0 ? rbNeg(n) : n;
    const rbVec3 directions[2] = {n, rbNeg(n)};
    return addBest(s, directions, 2, GOOD_HEIGHT * fmax(rbLengthSquared(ab), rbLengthSquared(ac)));
}

// Makes the sum of weights 1.
static void scaleWeights(double weights[3])
{
    double sum = weights[0] + weights[1] + weights[2];
    for (int i = 0; i < 3; ++i) {
        weights[i] = sum > 0.0 ? weights[i] / sum : 1.0 / 3.0;
    }
}

// Walks to the triangle of a flat cso that contains the origin, or out of the cso.
static void walkPlane(Starter* s, rbVec3 normal)
{
    rbCsoPoint* p = s->scratch->points;
    for (int step = 0; step < WALK_STEPS; ++step) {
        rbVec3 n = rbCross(rbSub(p[1].w, p[0].w), rbSub(p[2].w, p[0].w));
        double area = rbDot(n, normal);
        double worst = s->slack;
        int worstEdge = -1;
        rbVec3 worstOut = normal;
        for (int e = 0; e < 3; ++e) {
            rbVec3 from = p[e].w, edge = rbSub(p[(e + 1) % 3].w, from);
            rbVec3 out = rbNormalize(rbCross(edge, normal));
            out = area < 0.0 ? rbNeg(out) : out;
            double outside = -rbDot(out, from);
            s->result.span[(e + 2) % 3] = fmax(-outside * rbLength(edge) / fabs(area), 0.0);
            if (outside > worst) {
                worst = outside;
                worstEdge = e;
                worstOut = out;
            }
        }
        if (worstEdge < 0) {
            break;
        }
        rbCsoPoint point = supportAlong(s, worstOut);
        if (s->result.isApart) {
            return;
        }
        p[(worstEdge + 2) % 3] = point;
    }
    scaleWeights(s->result.span);
}

// The least height of a cso without volume: along its normal, which is perpendicular to its span.
static void finishFlat(Starter* s)
{
    const rbCsoPoint* p = s->scratch->points;
    s->result.span[0] = 1.0;
    rbVec3 n;
    if (s->result.dimension == 0) {
        n = rbLength(p[0].w) > 0.0 ? rbNormalize(rbNeg(p[0].w)) : rbMakeVec3(0.0, 0.0, 1.0);
    } else if (s->result.dimension == 1) {
        rbVec3 edge = rbSub(p[1].w, p[0].w);
        double t = fmin(fmax(-rbDot(p[0].w, edge) / rbDot(edge, edge), 0.0), 1.0);
        s->result.span[0] = 1.0 - t;
        s->result.span[1] = t;
        rbVec3 axis = rbNormalize(edge);
        rbVec3 offset = rbCross(axis, rbCross(axis, p[0].w));
        n = rbLength(offset) > s->slack ? rbNormalize(offset) : rbPerpendicular(axis);
    } else {
        n = rbNormalize(rbCross(rbSub(p[1].w, p[0].w), rbSub(p[2].w, p[0].w)));
        walkPlane(s, n);
        if (s->result.isApart) {
            return;
        }
    }
    double up = rbDot(supportAlong(s, n).w, n);
    double down = -rbDot(supportAlong(s, rbNeg(n)).w, n);
    if (s->result.isApart) {
        return;
    }
    s->result.normal = up <= down ? n : rbNeg(n);
    s->result.height = fmin(up, down);
}

// The start points are support points of the cso: none are accepted with balls.
static Start findStart(const rbCso* cso, const rbCsoPoint* start, int startCount, Balls balls,
                       rbEpaScratch* scratch)
{
    RB_ASSERT(balls.a >= 0.0 && balls.b >= 0.0);
    RB_ASSERT(startCount == 0 || balls.a + balls.b == 0.0);
    RB_ASSERT(startCount >= 0 && startCount <= 4);
    RB_ASSERT(startCount == 0 || start != NULL);
    RB_ASSERT(scratch->pointCount == 0);
    Starter s = {
        .cso = cso, .scratch = scratch, .slack = RB_EPA_SLACK * cso->scale, .balls = balls};
    for (int i = 0; i < startCount; ++i) {
        double least = START_HEIGHT * cso->scale;
        if (squareOver(scratch, start[i].w) > least * least) {
            scratch->points[scratch->pointCount++] = start[i];
        }
    }
    if (scratch->pointCount == 0) {
        // From the middle of the cso, near -translation, toward the origin.
        rbVec3 toward = cso->translation;
        bool isCentered = !(rbLengthSquared(toward) > 0.0);
        scratch->points[0] = supportAlong(&s, isCentered ? rbMakeVec3(1.0, 0.0, 0.0) : toward);
        scratch->pointCount = 1;
    }
    bool isFull = !s.result.isApart;
    isFull = isFull && (scratch->pointCount >= 2 || addSecond(&s));
    isFull = isFull && (scratch->pointCount >= 3 || addThird(&s));
    isFull = isFull && (scratch->pointCount >= 4 || addFourth(&s));
    s.result.dimension = scratch->pointCount - 1;
    if (!isFull && !s.result.isApart) {
        finishFlat(&s);
    }
    return s.result;
}

bool rbEpa_GuessStart(const rbCso* cso, rbCsoPoint start[4])
{
    const rbConvex *a = cso->a, *b = cso->b;
    double near = DEEP_NEAR * (a->size + b->size);
    rbVec3 t = cso->translation;
    double tt = rbLengthSquared(t);
    bool isFit = a->isPolytope && b->isPolytope && !cso->isExtents;
    if (!isFit || !(tt < near * near)) {
        return false;
    }
    if (!(tt > 1e-6 * near * near)) {
        t = rbMakeVec3(1.0, 0.0, 0.0);
        tt = 1.0;
    }
    double length = sqrt(tt);
    rbGuessSupport(cso, t, &start[0]);
    if (!(rbDot(start[0].w, t) > DEEP_OVERLAP * cso->scale * length)) {
        return false;
    }
    // Around the line at 45 degrees: such a tetrahedron needs a quarter fewer points to grow by
    // than one with the origin in its middle, because the exit direction is among its faces.
    rbVec3 size = rbAbs3(t);
    rbVec3 e =
        size.x <= fmax(size.y, size.z) ? rbMakeVec3(0.0, t.z, -t.y) : rbMakeVec3(t.y, -t.x, 0.0);
    double inverse = 1.0 / rbLength(e);
    rbVec3 f = rbScale(inverse, rbCross(t, e));
    e = rbScale(inverse * length, e);
    rbVec3 back = rbAddScaled(t, -0.5, e);
    rbGuessSupport(cso, rbAdd(t, e), &start[1]);
    rbGuessSupport(cso, rbAddScaled(back, 0.866, f), &start[2]);
    rbGuessSupport(cso, rbAddScaled(back, -0.866, f), &start[3]);
    return true;
}

// -------------------------------------------------------------------------------- smooth pairs

// Smooth pairs: Newton's method on the support function, certified by the rolling ball.
//
// h is minimized over the unit sphere. At u its gradient there is g = w - h u (w the support point)
// and its Hessian the tangent part of (D^2 h) - h 1, with D^2 h taken from two more support points
// at directions rotated by a small angle. Steps are bounded and must not increase h, so the method
// ends in some stationary point; the bound decides whether it is the global minimum.
//
// The bound (Blaschke). Let a ball of radius r be a summand of D: then for every support point w of
// every unit u the ball about w - r u of radius r lies in D, and the depth is at least
//   r - |w - r u| = h - |g|^2 / (2 (r - h)) - ...   for h < r.
// So one stationary point shallower than r proves itself the global minimum, without a polytope.
// An ellipsoid with semi-axes a1 >= a2 >= a3 has the summand r = a3^2 / a1, its least radius of
// curvature; sums of bodies add their radii.

// A direction, the support point there, h and a lower bound of the depth.
typedef struct Proposal {
    rbCsoPoint point;
    rbVec3 normal;
    double height;
    double lower; // by the rolling ball; -INFINITY if there is none
} Proposal;

// Angle of the difference quotients: an error of 1e-5 of the Hessian, far above rounding.
#define TURN 1e-5
#define NEWTON_STEPS 12
#define HALVINGS 4
// Largest step on the sphere, rad.
#define STEP_MAX 0.5
// After a step this small, the next one would be below rounding.
#define STEP_LAST 1e-8

static double rollingRadiusOf(const rbConvex* convex)
{
    bool isEllipsoid = convex->geometry != NULL && convex->geometry->type == RB_SHAPE_ELLIPSOID;
    return isEllipsoid ? rbGetRollingRadius(convex->geometry->data.ellipsoid.semiAxes) : 0.0;
}

// Evaluates one direction.
static Proposal propose(const rbCso* cso, rbVec3 direction, double rollingRadius, int* supports)
{
    RB_ASSERT(fabs(rbLengthSquared(direction) - 1.0) < 1e-6);
    Proposal p = {.point = rbCso_Support(cso, direction, NULL), .normal = direction};
    ++*supports;
    p.height = rbDot(p.point.w, direction);
    p.lower = -INFINITY;
    if (rollingRadius > 0.0) {
        p.lower = rollingRadius - rbLength(rbAddScaled(p.point.w, -rollingRadius, direction));
    }
    return p;
}

// The Newton step in the tangent plane, or one against the gradient where h is not convex.
static rbVec3 findStep(const rbCso* cso, const Proposal* p, rbVec3 g, int* supports)
{
    rbVec3 e1 = rbPerpendicular(p->normal);
    rbVec3 e2 = rbCross(p->normal, e1);
    rbVec3 w1 = rbCso_Support(cso, rbAddScaled(p->normal, TURN, e1), NULL).w;
    rbVec3 w2 = rbCso_Support(cso, rbAddScaled(p->normal, TURN, e2), NULL).w;
    *supports += 2;
    rbVec3 d1 = rbScale(1.0 / TURN, rbSub(w1, p->point.w));
    rbVec3 d2 = rbScale(1.0 / TURN, rbSub(w2, p->point.w));
    double j11 = rbDot(e1, d1), j22 = rbDot(e2, d2);
    double j12 = 0.5 * (rbDot(e1, d2) + rbDot(e2, d1));
    double m11 = j11 - p->height, m22 = j22 - p->height;
    double det = m11 * m22 - j12 * j12;
    double g1 = rbDot(e1, g), g2 = rbDot(e2, g);
    double x1, x2;
    if (m11 + m22 > 0.0 && det > 0.0) {
        x1 = -(m22 * g1 - j12 * g2) / det;
        x2 = -(m11 * g2 - j12 * g1) / det;
    } else {
        double size = fmax(j11 + j22, 0.0) + fabs(p->height);
        x1 = size > 0.0 ? -g1 / size : 0.0;
        x2 = size > 0.0 ? -g2 / size : 0.0;
    }
    double length = sqrt(x1 * x1 + x2 * x2);
    if (!isfinite(length)) {
        return RB_VEC3_ZERO;
    }
    double shrink = length > STEP_MAX ? STEP_MAX / length : 1.0;
    return rbAddScaled(rbScale(shrink * x1, e1), shrink * x2, e2);
}

// Minimizes h from the given unit direction by Newton's method on the sphere. Adds the support
// calls made to *supports.
static Proposal minimize(const rbCso* cso, rbVec3 direction, double rollingRadius, int* supports)
{
    RB_ASSERT(rollingRadius >= 0.0);
    Proposal best = propose(cso, direction, rollingRadius, supports);
    double rounding = RB_EPA_GAP * cso->scale;
    for (int step = 0; step < NEWTON_STEPS && best.height >= 0.0; ++step) {
        rbVec3 g = rbAddScaled(best.point.w, -best.height, best.normal);
        if (rbLength(g) <= rounding) {
            break;
        }
        rbVec3 x = findStep(cso, &best, g, supports);
        double length = rbLength(x);
        bool hasMoved = false;
        for (int i = 0; i < HALVINGS && length > 0.0 && !hasMoved; ++i) {
            rbVec3 u = rbNormalize(rbAdd(best.normal, x));
            Proposal next = propose(cso, u, rollingRadius, supports);
            hasMoved = next.height <= best.height + (length < 1e-4 ? rounding : 0.0);
            if (hasMoved) {
                best = next;
            }
            x = rbScale(0.25, x);
        }
        if (!hasMoved || length < STEP_LAST) {
            break;
        }
    }
    return best;
}

// ----------------------------------------------------------------------------------- expansion

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
    Balls balls;          // removed from the cores by the polytope
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
    for (int i = 0; i < 3; ++i) {
        weights[i] = rbDot(normal, rbCross(w[(i + 1) % 3], w[(i + 2) % 3]));
    }
    scaleWeights(weights);
    return weights[0] >= -1e-12 && weights[1] >= -1e-12 && weights[2] >= -1e-12;
}

// Of the faces that are coplanar or have the same foot point, finds the one whose triangle contains
// it by walking over the edge the foot is farthest outside of.
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
        // a growth that failed leaves invalid twins, and obsolete faces that are as good as others
        if (next >= scratch->faceCount || !(scratch->sights[next] > -INFINITY)) {
            break;
        }
        double distance;
        rbVec3 normal = rbEpaPolytope_GetPlane(scratch, next, &distance);
        rbVec3 apart = rbAddScaled(rbScale(distance, normal), s->off - s->height, s->normal);
        if ((distance > s->height - s->off + s->slack || rbDot(normal, s->normal) < COPLANAR) &&
            rbLength(apart) > WITNESS * s->cso->scale) {
            break;
        }
        face = next;
    }
    findWeights(scratch, start, weights);
    return start;
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
    for (int i = 0; i < 3; ++i) {
        weights[i] = fmin(fmax(weights[i], 0.0), 1.0);
    }
    scaleWeights(weights);
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
static void adopt(Search* s, const Proposal* proposal)
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

static rbStopReason descend(Search* s, rbVec3 direction)
{
    Proposal p = minimize(s->cso, direction, s->rollingRadius, &s->supports);
    adopt(s, &p);
    return s->height < -s->slack ? RB_STOP_APART : reasonOf(s);
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
    Proposal p = propose(s->cso, direction, s->rollingRadius, &s->supports);
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
        *point = supportWithout(s->cso, sight.normal, s->balls);
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
    return s->hasGuessed ? SPOILED : growth == RB_EPA_FULL ? RB_STOP_STORAGE : RB_STOP_ROUNDING;
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

// Finds the support beyond the nearest face and grows. False, with the reason: the search ends.
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
    // The best direction. A face whose bounds meet replaces an older one of the same height within
    // the tolerance, because it contains the foot point.
    if (sight.height + s->off < s->height || (isDone && s->face >= 0)) {
        s->height = sight.height + s->off;
        s->normal = sight.normal;
        s->face = index;
        s->scratch->keyMax = keyMaxOf(s);
    }
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
            // Every face is farther than the best direction: the answer, if the origin is inside.
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
    Proposal p = minimize(s->cso, s->normal, s->rollingRadius, &s->supports);
    rbVec3 side = rbAddScaled(p.point.w, -p.height, p.normal);
    if (p.height <= s->height + s->gap && p.height >= s->lower - s->slack &&
        rbLength(side) <= WITNESS * s->cso->scale) {
        s->lower = fmin(s->lower, p.height);
        s->height = INFINITY;
        adopt(s, &p);
    }
}

// A cso without volume: the height of its plane, with the weights of the walk.
static void noteFlat(Search* s, const Start* start)
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
        Proposal proposal = propose(s->cso, directions[i], 0.0, &s->supports);
        if (proposal.height < s->height) {
            s->height = proposal.height;
            s->normal = proposal.normal;
            s->point = proposal.point;
            s->face = -1;
        }
    }
}

// Start and expansion of the cores without balls.
static rbStopReason runPolytope(Search* s, const rbCsoPoint* start, int startCount, Balls balls)
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
    Start found = findStart(s->cso, start, startCount, balls, scratch);
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
static bool solveRound(Search* s, Balls balls, rbStopReason* reason)
{
    if (rbLength(s->cso->translation) > 0.0) {
        *reason = descend(s, rbNormalize(s->cso->translation));
        if (*reason == RB_STOP_APART || isClosed(s)) {
            return true;
        }
    }
    *reason = runPolytope(s, NULL, 0, balls);
    if (*reason == RB_STOP_APART) {
        s->height = INFINITY;
        *reason = descend(s, s->normal);
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
    Balls balls = {0.0, 0.0}; // radii of balls that roll freely inside ellipsoids
    if (settings->enableNewton) {
        balls = (Balls){rollingRadiusOf(cso->a), rollingRadiusOf(cso->b)};
    }
    Search s = {.cso = cso,
                .settings = settings,
                .scratch = scratch,
                .slack = RB_EPA_SLACK * cso->scale,
                .gap = RB_EPA_GAP * cso->scale,
                .rollingRadius = balls.a + balls.b,
                .isSmooth = !cso->a->isPolytope || !cso->b->isPolytope,
                .mayGuess = cso->a->isPolytope && cso->b->isPolytope,
                .lower = -INFINITY,
                .height = INFINITY,
                .face = -1};
    rbEpaPolytope_Begin(scratch, cso->scale, settings->pointLimit, settings->faceLimit);
    rbStopReason reason = RB_STOP_APART;
    if (s.rollingRadius == 0.0 || !solveRound(&s, balls, &reason)) {
        s.mayCap = settings->enableSphereCap && s.isSmooth;
        reason = runPolytope(&s, start, startCount, (Balls){0.0, 0.0});
        if (reason == SPOILED) {
            s.mayGuess = s.hasGuessed = false;
            s.iterations = 0;
            reason = runPolytope(&s, start, startCount, (Balls){0.0, 0.0});
        }
    }
    s.lower = reason == RB_STOP_APART || !(s.lower > -INFINITY) ? looseLower(&s) : s.lower;
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
