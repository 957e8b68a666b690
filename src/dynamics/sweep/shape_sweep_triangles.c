// One triangle, or sphere, that moves along a line against a triangle at rest: the features that
// can touch first, each in closed form.
//
// A contact at the start counts if the features are about to pierce each other: then the moving
// triangle lies on the side from which its motion comes. Features that separate, or have already
// passed each other, do not count.
#include "dynamics/sweep/shape_sweep.h"
#include "dynamics/sweep/sweep.h"

// Sine of the angle of a motion to a plane, and of two edges, below which they count as parallel:
// their contacts are found through the vertices. Quotients lose 12 and 8 digits there.
#define PARALLEL_MOTION 1e-12
#define PARALLEL_EDGES 1e-8
// Fractions of an edge or a triangle by which its border is widened: rounding leaves no gaps there.
#define BORDER 1e-12
// Fractions no farther apart than this count as equal.
#define TIE 1e-13
// Sine of the angle of a motion to the plane of a hint below which quotients are not useful.
#define HINT_LEAST 1e-3

void rbSweepSearch_Offer(rbSweepSearch* search, const rbSweepOffer* offer)
{
    double difference = offer->fraction - search->limit;
    if (search->isHit &&
        (difference > TIE || (difference >= -TIE && offer->rank >= search->rank))) {
        return;
    }
    search->limit = difference < 0.0 ? offer->fraction : search->limit;
    search->isHit = true;
    search->rank = offer->rank;
    search->point = offer->point;
    search->normal = rbNormalize(offer->normal);
    rbSweepSearch_SetHint(search, search->normal);
}

void rbSweepSearch_SetHint(rbSweepSearch* search, rbVec3 normal)
{
    double closing = -rbDot(normal, search->step);
    search->hint = normal;
    search->closing = closing > HINT_LEAST * search->length ? closing : 0.0;
    search->hintCount += 1;
}

double rbSweepSearch_EnterAlong(const rbSweepSearch* search, double low, double high)
{
    if (search->closing == 0.0) {
        return 0.0;
    }
    double t = (low - high - search->slack) / search->closing;
    return t <= search->limit + TIE ? rbMaxOf(t, 0.0) : (double)INFINITY;
}

// Narrows the fractions at which the boxes overlap along an axis.
static inline void enterSlab(double offset, double half, double inverse, double span[2])
{
    if (isinf(inverse)) {
        span[0] = fabs(offset) <= half ? span[0] : (double)INFINITY;
        return;
    }
    double t0 = (offset - half) * inverse;
    double t1 = (offset + half) * inverse;
    span[0] = rbMaxOf(span[0], rbMinOf(t0, t1));
    span[1] = rbMinOf(span[1], rbMaxOf(t0, t1));
}

double rbSweepSearch_EnterBox(const rbSweepSearch* search, rbVec3 offset, rbVec3 halfSize)
{
    double span[2] = {0.0, search->limit + TIE};
    enterSlab(offset.x, halfSize.x + search->slack, search->inverse.x, span);
    enterSlab(offset.y, halfSize.y + search->slack, search->inverse.y, span);
    enterSlab(offset.z, halfSize.z + search->slack, search->inverse.z, span);
    return span[0] <= span[1] ? span[0] : (double)INFINITY;
}

// A triangle and its plane.
typedef struct Facet {
    const rbVec3* corners;
    rbVec3 normal; // along e1 x e2, its length twice the area
    double length; // of the normal
} Facet;

static Facet makeFacet(const rbVec3 corners[3])
{
    rbVec3 normal = rbCross(rbSub(corners[1], corners[0]), rbSub(corners[2], corners[0]));
    return (Facet){corners, normal, rbLength(normal)};
}

// Does the triangle contain a point of its plane? The border belongs to it.
static bool containsPoint(const Facet* facet, rbVec3 point)
{
    const rbVec3* c = facet->corners;
    double least = -BORDER * facet->length * facet->length;
    for (int i = 0; i < 3; ++i) {
        rbVec3 edge = rbSub(c[(i + 1) % 3], c[i]);
        if (rbDot(rbCross(edge, rbSub(point, c[i])), facet->normal) < least) {
            return false;
        }
    }
    return true;
}

// Corners of a triangle that moves by sign * step onto a facet at rest; sign -1 means that B moves,
// as seen from A.
static void sweepCorners(rbSweepSearch* search, const rbVec3 moving[3], const Facet* facet,
                         double sign)
{
    rbVec3 step = rbScale(sign, search->step);
    double speed = rbDot(step, facet->normal);
    if (fabs(speed) <= PARALLEL_MOTION * facet->length * search->length) {
        return;
    }
    // heights against the motion, so that they decrease
    double side = speed > 0.0 ? -1.0 : 1.0;
    double heights[3];
    double touch = search->touch * facet->length;
    double lowest = (double)INFINITY;
    for (int i = 0; i < 3; ++i) {
        heights[i] = side * rbDot(rbSub(moving[i], facet->corners[0]), facet->normal);
        lowest = rbMinOf(lowest, heights[i]);
    }
    for (int i = 0; i < 3; ++i) {
        bool isTouching = heights[i] <= touch;
        if (heights[i] < -touch || (isTouching && lowest < -touch)) {
            continue;
        }
        double t = rbMaxOf(heights[i], 0.0) / fabs(speed);
        if (t > search->limit + TIE || !containsPoint(facet, rbAddScaled(moving[i], t, step))) {
            continue;
        }
        rbVec3 normal = rbScale(side * sign, facet->normal);
        rbSweepOffer offer = {rbMinOf(t, 1.0),
                              (sign > 0.0) != search->isSwapped ? RB_RANK_FACE_B : RB_RANK_FACE_A,
                              sign > 0.0 ? rbAddScaled(moving[i], t, step) : moving[i], normal};
        rbSweepSearch_Offer(search, &offer);
    }
}

// Do all corners lie on one side of the plane through a point: side * height >= -touch?
static bool isOnSide(const rbVec3 corners[3], rbVec3 point, rbVec3 normal, double touch)
{
    for (int i = 0; i < 3; ++i) {
        if (rbDot(rbSub(corners[i], point), normal) < -touch) {
            return false;
        }
    }
    return true;
}

// Edge i of a, moving, onto edge j of b.
static void sweepEdges(rbSweepSearch* search, const rbVec3 a[3], int i, const rbVec3 b[3], int j)
{
    rbVec3 p = a[i];
    rbVec3 q = b[j];
    rbVec3 e = rbSub(a[(i + 1) % 3], p);
    rbVec3 f = rbSub(b[(j + 1) % 3], q);
    rbVec3 g = rbCross(e, f);
    double speed = rbDot(search->step, g);
    double squared = rbLengthSquared(g);
    double sizes = rbLengthSquared(e) * rbLengthSquared(f);
    if (squared <= PARALLEL_EDGES * PARALLEL_EDGES * sizes ||
        speed * speed <=
            PARALLEL_MOTION * PARALLEL_MOTION * squared * search->length * search->length) {
        return;
    }
    if (speed > 0.0) {
        g = rbNeg(g);
        speed = -speed;
    }
    // g is the normal outward of B, height that of A over B
    double height = rbDot(rbSub(p, q), g);
    double t = rbMaxOf(height, 0.0) / -speed;
    if (t > search->limit + TIE) {
        return;
    }
    double touch = search->touch * sqrt(squared);
    if (height <= touch &&
        (height < -touch || !isOnSide(a, p, g, touch) || !isOnSide(b, q, rbNeg(g), touch))) {
        return;
    }
    rbVec3 offset = rbSub(q, rbAddScaled(p, t, search->step));
    double onA = rbDot(rbCross(offset, f), rbCross(e, f)) / squared;
    double onB = rbDot(rbCross(offset, e), rbCross(e, f)) / squared;
    if (onA < -BORDER || onA > 1.0 + BORDER || onB < -BORDER || onB > 1.0 + BORDER) {
        return;
    }
    rbSweepOffer offer = {rbMinOf(t, 1.0), RB_RANK_EDGES, rbAddScaled(q, onB, f), g};
    rbSweepSearch_Offer(search, &offer);
}

void rbSweepTriangles(rbSweepSearch* search, const rbVec3 a[3], const rbVec3 b[3])
{
    rbVec3 lowerA = rbMin3(a[0], rbMin3(a[1], a[2]));
    rbVec3 upperA = rbMax3(a[0], rbMax3(a[1], a[2]));
    rbVec3 lowerB = rbMin3(b[0], rbMin3(b[1], b[2]));
    rbVec3 upperB = rbMax3(b[0], rbMax3(b[1], b[2]));
    rbVec3 offset = rbScale(0.5, rbSub(rbAdd(lowerB, upperB), rbAdd(lowerA, upperA)));
    rbVec3 half = rbScale(0.5, rbAdd(rbSub(upperB, lowerB), rbSub(upperA, lowerA)));
    if (isinf(rbSweepSearch_EnterBox(search, offset, half))) {
        return;
    }
    Facet facetA = makeFacet(a);
    Facet facetB = makeFacet(b);
    sweepCorners(search, a, &facetB, 1.0);
    sweepCorners(search, b, &facetA, -1.0);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            sweepEdges(search, a, i, b, j);
        }
    }
}

// ----------------------------------------------------------------------------------------- balls

// The contact point of a sphere, from its center at contact.
static void offerBall(rbSweepSearch* search, double t, rbVec3 center, rbVec3 point)
{
    rbSweepOffer offer = {rbMinOf(t, 1.0), RB_RANK_EDGES, point,
                          rbSub(rbAddScaled(center, t, search->step), point)};
    rbSweepSearch_Offer(search, &offer);
}

// The cylinder of the radius about an edge: |(m + t w) x f|^2 = r^2 f^2, its smaller root.
static void sweepBallEdge(rbSweepSearch* search, rbVec3 center, double radius, const rbVec3 edge[2])
{
    rbVec3 f = rbSub(edge[1], edge[0]);
    rbVec3 m = rbCross(rbSub(center, edge[0]), f);
    rbVec3 w = rbCross(search->step, f);
    double reach = radius * rbLength(f);
    double b = rbDot(m, w);
    if (b >= 0.0) {
        return;
    }
    double depth = reach - rbLength(m);
    if (depth > search->touch * rbLength(f)) {
        return; // within the cylinder at the start, beyond the ends of the edge: a corner touches
                // first
    }
    // b^2 - w^2 c without cancellation, by Lagrange's identity
    double discriminant = reach * reach * rbLengthSquared(w) - rbLengthSquared(rbCross(m, w));
    if (discriminant < 0.0) {
        return;
    }
    double c = rbLengthSquared(m) - reach * reach;
    double t = rbMaxOf(c, 0.0) / (sqrt(discriminant) - b);
    if (t > search->limit + TIE) {
        return;
    }
    rbVec3 offset = rbSub(rbAddScaled(center, t, search->step), edge[0]);
    double along = rbDot(offset, f) / rbLengthSquared(f);
    if (along >= 0.0 && along <= 1.0) {
        offerBall(search, t, center, rbAddScaled(edge[0], along, f));
    }
}

void rbSweepBallTriangle(rbSweepSearch* search, rbVec3 center, double radius, const rbVec3 b[3])
{
    Facet facet = makeFacet(b);
    double speed = rbDot(search->step, facet.normal);
    if (fabs(speed) > PARALLEL_MOTION * facet.length * search->length) {
        rbVec3 normal = rbScale((speed > 0.0 ? -1.0 : 1.0) / facet.length, facet.normal);
        double height = rbDot(rbSub(center, b[0]), normal) - radius;
        double t = rbMaxOf(height, 0.0) * facet.length / fabs(speed);
        if (height >= -search->touch && t <= search->limit + TIE) {
            rbVec3 middle = rbAddScaled(center, t, search->step);
            rbSweepOffer offer = {rbMinOf(t, 1.0), RB_RANK_FACE_B,
                                  rbAddScaled(middle, -radius, normal), normal};
            if (containsPoint(&facet, offer.point)) {
                rbSweepSearch_Offer(search, &offer);
            }
        }
    }
    for (int i = 0; i < 3; ++i) {
        const rbVec3 edge[2] = {b[i], b[(i + 1) % 3]};
        sweepBallEdge(search, center, radius, edge);
        double t = rbSweepFreeSpheres(rbSub(center, b[i]), search->step, radius);
        if (t <= search->limit + TIE) {
            offerBall(search, t, center, b[i]);
        }
    }
}
