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
#include "collision/convex/epa.h"
#include "collision/convex/support.h"

#include <math.h>

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
    rbEpaStart result;
    double slack;
    rbEpaBalls balls;
} Starter;

// Support along a direction of any length; records a separating one. Lengths are compared by their
// squares: a square root costs as much as half a support.
static rbCsoPoint supportAlong(Starter* s, rbVec3 direction)
{
    if (s->balls.a + s->balls.b > 0.0) {
        direction = rbNormalize(direction);
    }
    rbCsoPoint point = rbEpa_Support(s->cso, direction, s->balls);
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
    if (rbLengthSquared(toward) > s->slack * s->slack && addBest(s, &toward, 1, good)) {
        return true;
    }
    return !s->result.isApart && addBest(s, axes, 6, good);
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
    if (rbDot(n, p[0].w) > 0.0) {
        n = rbNeg(n);
    }
    const rbVec3 directions[2] = {n, rbNeg(n)};
    return addBest(s, directions, 2, GOOD_HEIGHT * fmax(rbLengthSquared(ab), rbLengthSquared(ac)));
}

// Weights of the origin's projection on the segment p0 p1.
static void spanSegment(Starter* s)
{
    rbVec3 a = s->scratch->points[0].w;
    rbVec3 ab = rbSub(s->scratch->points[1].w, a);
    double t = -rbDot(a, ab) / rbDot(ab, ab);
    t = fmin(fmax(t, 0.0), 1.0);
    s->result.span[0] = 1.0 - t;
    s->result.span[1] = t;
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
    double sum = s->result.span[0] + s->result.span[1] + s->result.span[2];
    for (int i = 0; i < 3; ++i) {
        s->result.span[i] = sum > 0.0 ? s->result.span[i] / sum : 1.0 / 3.0;
    }
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
        spanSegment(s);
        rbVec3 axis = rbNormalize(rbSub(p[1].w, p[0].w));
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

rbEpaStart rbEpa_FindStart(const rbCso* cso, const rbCsoPoint* start, int startCount,
                           rbEpaBalls balls, rbEpaScratch* scratch)
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
    bool isFit = a->isPolytope && b->isPolytope && a->isPlain && b->isPlain && !cso->isExtents;
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
