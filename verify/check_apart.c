// Distances by separating planes. For two convex shapes and a unit vector n, the gap along n,
//   (least n.x of B) - (largest n.x of A),
// is a lower bound of their distance, and of minus their depth. A plane is found by GJK, or given
// by the normal of a contact; that it separates is computed from the support functions alone.
// Overlap is proved by a tetrahedron of points of the difference A - B around the origin: the ball
// that fits into it is a lower bound of the depth.
// Between recorded times a pair stays apart if its gap is larger than the way both can have made.
#include "verify/checks.h"

#include <stdlib.h>

#define GJK_STEPS 64
#define WALK_MAX 40     // places of a pair between two nodes
#define TOUCH_SAMPLES 4 // of a pair that touches, at least
#define FIRST_JUMP 16.0 // tolerances

// A convex piece of a body, in its frame.
struct rbVPiece {
    uint32_t body, shape, geometry;
    rbVPose pose;  // in the body's frame
    double radius; // of a ball around it; infinite for planes
    bool isConvex; // of the geometry itself; otherwise of its hull
};

static rbV3 supportVertices(const rbVGeometry* g, rbV3 d)
{
    rbV3 best = {0.0, 0.0, 0.0};
    double most = -INFINITY;
    for (uint32_t i = 0; i < g->vertexCount; ++i) {
        double value = dot3(g->vertices[i], d);
        if (value > most) {
            most = value;
            best = g->vertices[i];
        }
    }
    return best;
}

// A point of the geometry that is farthest along d, in its frame.
static rbV3 supportLocal(const rbVGeometry* g, rbV3 d)
{
    double length = length3(d);
    double flat = hypot(d.x, d.y);
    double r = g->numbers[0];
    double h = g->numbers[1];
    rbV3 rim = flat > 0.0 ? make3(r * d.x / flat, r * d.y / flat, 0.0) : make3(0, 0, 0);
    rbV3 ball = length > 0.0 ? scale3(r / length, d) : make3(0, 0, 0);
    switch (g->type) {
    case RB_V_SPHERE:
        return ball;
    case RB_V_BOX:
        return make3(copysign(g->numbers[0], d.x), copysign(g->numbers[1], d.y),
                     copysign(g->numbers[2], d.z));
    case RB_V_CAPSULE:
    case RB_V_CYLINDER:
        return add3(g->type == RB_V_CAPSULE ? ball : rim, make3(0, 0, copysign(h, d.z)));
    case RB_V_CONE: {
        rbV3 base = add3(rim, make3(0, 0, -0.5 * h));
        rbV3 apex = make3(0, 0, 0.5 * h);
        return dot3(base, d) > dot3(apex, d) ? base : apex;
    }
    case RB_V_ELLIPSOID: {
        rbV3 s = {g->numbers[0] * d.x, g->numbers[1] * d.y, g->numbers[2] * d.z};
        double size = length3(s);
        return size > 0.0 ? make3(g->numbers[0] * s.x / size, g->numbers[1] * s.y / size,
                                  g->numbers[2] * s.z / size)
                          : make3(0, 0, 0);
    }
    default:
        return supportVertices(g, d);
    }
}

typedef struct Place {
    const rbVGeometry* geometry;
    rbV3 p; // of the geometry's frame, world
    rbV4 q;
    double rounding; // of a body that grows, m
} Place;

static rbV3 support(const Place* place, rbV3 d)
{
    rbV3 local = supportLocal(place->geometry, turnBack3(place->q, d));
    rbV3 point = add3(place->p, turn3(place->q, local));
    return place->rounding > 0.0 ? addScaled3(point, place->rounding / length3(d), d) : point;
}

typedef struct Simplex {
    rbV3 points[4]; // of B - A
    int count;
} Simplex;

// Keeps the part of the simplex nearest to the origin and returns the nearest point: the best of
// all its faces, edges and corners, by their barycentric coordinates.
static rbV3 reduce(Simplex* s)
{
    static const int sets[15] = {1, 2, 4, 8, 3, 5, 6, 9, 10, 12, 7, 11, 13, 14, 15};
    Simplex best = *s;
    rbV3 nearest = {0, 0, 0};
    double least = INFINITY;
    for (int k = 0; k < 15; ++k) {
        Simplex part = {.count = 0};
        if (sets[k] >> s->count != 0) {
            continue;
        }
        for (int i = 0; i < s->count; ++i) {
            if (sets[k] >> i & 1) {
                part.points[part.count++] = s->points[i];
            }
        }
        rbV3 p = part.points[0];
        bool isInside = true;
        rbV3 e1 = sub3(part.points[1], p);
        if (part.count == 2) {
            double t = -dot3(p, e1) / dot3(e1, e1);
            isInside = t > 0.0 && t < 1.0;
            p = addScaled3(p, t, e1);
        } else if (part.count == 3) {
            rbV3 e2 = sub3(part.points[2], part.points[0]);
            rbV3 n = cross3(e1, e2);
            double area = dot3(n, n);
            double u = -dot3(cross3(p, e2), n) / area;
            double v = -dot3(cross3(e1, p), n) / area;
            isInside = u > 0.0 && v > 0.0 && u + v < 1.0;
            p = scale3(dot3(p, n) / area, n);
        } else if (part.count == 4) {
            rbV3 e2 = sub3(part.points[2], p);
            rbV3 e3 = sub3(part.points[3], p);
            double volume = dot3(e1, cross3(e2, e3));
            double u = -dot3(p, cross3(e2, e3)) / volume;
            double v = -dot3(e1, cross3(p, e3)) / volume;
            double w = -dot3(e1, cross3(e2, p)) / volume;
            isInside = u > 0.0 && v > 0.0 && w > 0.0 && u + v + w < 1.0;
            p = make3(0, 0, 0);
        }
        double size = dot3(p, p);
        if (isInside && size < least) {
            least = size;
            best = part;
            nearest = p;
        }
    }
    *s = best;
    return nearest;
}

// The largest gap found along any vector, from d on. Positive: proved apart. depth receives a lower
// bound of the overlap; of shapes that are apart: minus the distance of two of their points.
static double findGap(const Place* a, const Place* b, rbV3 d, double enough, double* depth)
{
    Simplex s = {.count = 0};
    d = length3(d) > 0.0 ? d : make3(1, 0, 0);
    double best = -INFINITY;
    *depth = -INFINITY;
    for (int i = 0; i < GJK_STEPS; ++i) {
        rbV3 unit = scale3(1.0 / length3(d), d);
        rbV3 point = sub3(support(b, scale3(-1.0, unit)), support(a, unit));
        best = fmax(best, dot3(unit, point));
        if (best > enough) {
            return best;
        }
        s.points[s.count++] = point;
        rbV3 nearest = reduce(&s);
        double size = length3(nearest);
        if (s.count == 4 || !(size > 0.0)) {
            // the ball around the origin that fits into the tetrahedron
            double ball = s.count == 4 ? INFINITY : 0.0;
            for (int k = 0; k < s.count && s.count == 4; ++k) {
                rbV3 p = s.points[(k + 1) % 4];
                rbV3 face = cross3(sub3(s.points[(k + 2) % 4], p), sub3(s.points[(k + 3) % 4], p));
                ball = fmin(ball, fabs(dot3(face, p)) / length3(face));
            }
            *depth = ball;
            return best;
        }
        *depth = -size;
        if (size - best <= 1e-9 * size) {
            return best;
        }
        d = nearest;
    }
    return best;
}

// Largest distance of a point of the geometry from a point, or a bound of it. A primitive has its
// farthest point from its own center in one of these directions.
static double geometryRadius(const rbVGeometry* g, rbV3 from)
{
    static const rbV3 ways[6] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 0, -1}, {1, 1, 1}};
    double far = 0.0;
    for (uint32_t i = 0; i < g->vertexCount; ++i) {
        far = fmax(far, length3(sub3(g->vertices[i], from)));
    }
    for (int i = 0; i < 6 && g->type < RB_V_PLANE; ++i) {
        far = fmax(far, length3(supportLocal(g, ways[i])) + length3(from));
    }
    return g->vertexCount > 0 || g->type < RB_V_PLANE ? far : INFINITY;
}

// The convex pieces of a geometry: itself, or the children of a compound.
static bool addPieces(rbVChecker* c, rbVPiece piece, int depth)
{
    const rbVGeometry* g = &c->model.geometries[piece.geometry];
    if (g->type == RB_V_COMPOUND && depth < 16) {
        for (uint32_t i = 0; i < g->childCount; ++i) {
            const rbVChild* child = &g->children[i];
            rbVPiece inner = piece;
            inner.geometry = child->geometry;
            inner.pose.p = add3(piece.pose.p, turn3(piece.pose.q, child->pose.p));
            inner.pose.q = mul4(piece.pose.q, child->pose.q);
            if (!addPieces(c, inner, depth + 1)) {
                return false;
            }
        }
        return true;
    }
    rbVPiece* grown = realloc(c->pieces, (c->pieceCount + 1) * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    c->pieces = grown;
    rbVBody* body = &c->model.bodies[piece.body];
    rbV3 center = turnBack3(piece.pose.q, sub3(body->center, piece.pose.p));
    double far = geometryRadius(g, center);
    body->isBounded = body->isBounded && isfinite(far);
    body->reach = fmax(body->reach, isfinite(far) ? far : 0.0);
    piece.radius = geometryRadius(g, make3(0, 0, 0));
    piece.isConvex = g->type <= RB_V_HULL;
    c->pieces[c->pieceCount++] = piece;
    return true;
}

bool rbVPrepareShapes(rbVChecker* c)
{
    rbVModel* m = &c->model;
    c->firstPiece = rbVMake(m, m->bodyCount + 2, sizeof *c->firstPiece);
    bool isGood = c->firstPiece != NULL;
    for (uint32_t i = 0; i < m->bodyCount && isGood; ++i) {
        rbVBody* body = &m->bodies[i];
        body->isBounded = true;
        for (uint32_t k = 0; k < body->shapeCount && isGood; ++k) {
            const rbVShape* s = &body->shapes[k];
            rbVPiece piece = {i, k, s->geometry, s->pose, 0.0, false};
            isGood = s->isSensor != 0 || addPieces(c, piece, 0);
        }
        c->firstPiece[i + 1] = c->pieceCount;
    }
    return isGood;
}

static Place placeOf(const rbVChecker* c, const rbVPiece* piece, const rbVState* s, double time)
{
    const rbVBody* body = &c->model.bodies[piece->body];
    rbV3 arm = sub3(piece->pose.p, body->center);
    return (Place){.geometry = &c->model.geometries[piece->geometry],
                   .p = add3(s->center, turn3(s->q, arm)),
                   .q = mul4(s->q, piece->pose.q),
                   .rounding = fmax(0.0, body->growth * time)};
}

typedef struct PairGap {
    double gap;   // lower bound of the distance of all pieces
    double depth; // lower bound of the overlap of any two; negative: minus one of the distance
    bool isKnown; // false: a piece is not convex, and its hull meets the other
} PairGap;

// The gap of two pieces; hint: the normal of a contact, or zero.
static void addPieceGap(bool areConvex, const Place* a, const Place* b, rbV3 hint, double enough,
                        PairGap* result)
{
    bool isPlaneA = a->geometry->type == RB_V_PLANE;
    bool isPlaneB = b->geometry->type == RB_V_PLANE;
    double gap;
    double depth = 0.0;
    if (isPlaneA && isPlaneB) {
        return;
    }
    if (isPlaneA || isPlaneB) {
        const Place* plane = isPlaneA ? a : b;
        const Place* other = isPlaneA ? b : a;
        const double* k = plane->geometry->numbers;
        rbV3 n = turn3(plane->q, make3(k[0], k[1], k[2]));
        gap = dot3(n, sub3(support(other, scale3(-1.0, n)), plane->p)) - k[3];
        depth = -gap;
    } else {
        gap = findGap(a, b, length3(hint) > 0.0 ? hint : sub3(b->p, a->p), enough, &depth);
    }
    gap -= 64.0 * EPS * (length3(a->p) + length3(b->p) + 1.0);
    result->gap = fmin(result->gap, gap);
    if (areConvex) {
        result->depth = fmax(result->depth, depth);
    } else if (gap < 0.0) {
        result->isKnown = false;
    }
}

// Two bodies at poses; gaps above enough need no exact value.
typedef struct Meeting {
    uint32_t a, b;
    const rbVState *stateA, *stateB;
    rbV3 hint; // the normal of a contact, or zero
    double enough;
    double time;
} Meeting;

static PairGap pairGap(const rbVChecker* c, const Meeting* m)
{
    PairGap result = {INFINITY, -INFINITY, true};
    for (uint32_t i = c->firstPiece[m->a]; i < c->firstPiece[m->a + 1]; ++i) {
        const rbVPiece* x = &c->pieces[i];
        Place placeA = placeOf(c, x, m->stateA, m->time);
        for (uint32_t k = c->firstPiece[m->b]; k < c->firstPiece[m->b + 1]; ++k) {
            const rbVPiece* y = &c->pieces[k];
            Place placeB = placeOf(c, y, m->stateB, m->time);
            double apart = length3(sub3(placeB.p, placeA.p)) - x->radius - y->radius;
            if (apart > m->enough) {
                continue;
            }
            addPieceGap(x->isConvex && y->isConvex, &placeA, &placeB, m->hint, m->enough, &result);
        }
    }
    return result;
}

static bool areMeeting(const rbVChecker* c, uint32_t a, uint32_t b)
{
    const rbVBody* x = &c->model.bodies[a];
    const rbVBody* y = &c->model.bodies[b];
    if ((x->type != RB_V_DYNAMIC && y->type != RB_V_DYNAMIC) ||
        c->firstPiece[a] == c->firstPiece[a + 1] || c->firstPiece[b] == c->firstPiece[b + 1]) {
        return false;
    }
    const rbVShape* s = &x->shapes[c->pieces[c->firstPiece[a]].shape];
    const rbVShape* t = &y->shapes[c->pieces[c->firstPiece[b]].shape];
    if ((s->groups & t->mask) == 0 || (t->groups & s->mask) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < c->model.jointCount && x->isLinked && y->isLinked; ++i) {
        const rbVJoint* j = &c->model.joints[i];
        if ((j->a == a && j->b == b) || (j->a == b && j->b == a)) {
            return false; // neighbors: not claimed to be apart
        }
    }
    return true;
}

// m, overlap within the claims while a run goes on; in steps, which act at the shell, surfaces do
// not meet.
static double overlapAllowed(const rbVChecker* c)
{
    return c->model.engine == RB_V_EVENT ? c->model.tolerance * (1.0 + 1e-9) : 1e-12;
}

// Ball of a body, as far as it reaches in this interval.
static double ballOf(const rbVChecker* c, uint32_t i)
{
    const rbVBody* body = &c->model.bodies[i];
    return body->reach + fmax(0.0, body->growth * c->time);
}

double rbVGetSpinMax(const rbVBody* b, const rbVState* s, double span)
{
    // the energy of rotation is kept: w^2 <= 2 E times the largest moment of the inverse
    const rbVSym* j = &b->inverse;
    double most = fmax(
        fabs(j->xx) + fabs(j->xy) + fabs(j->xz),
        fmax(fabs(j->xy) + fabs(j->yy) + fabs(j->yz), fabs(j->xz) + fabs(j->yz) + fabs(j->zz)));
    rbV3 w = turnBack3(s->q, s->w);
    return b->type != RB_V_DYNAMIC ? length3(s->w)
                                   : sqrt(fmax(0.0, dot3(w, mulSym(&b->inertia, w))) * most) +
                                         length3(b->torque) * most * span;
}

void rbVAddLeg(rbVChecker* c, uint32_t index, double time, bool isHeld)
{
    rbVTrack* t = &c->tracks[index];
    if (t->legCount == t->legCapacity) {
        uint32_t capacity = 2 * t->legCapacity + 4;
        rbVLeg* grown = realloc(t->legs, capacity * sizeof *grown);
        if (grown == NULL) {
            return; // the pairs of this body are then at other places, and fail
        }
        t->legs = grown;
        t->legCapacity = capacity;
    }
    t->legs[t->legCount++] = (rbVLeg){time, t->now, isHeld};
}

// A body that flies through its legs.
typedef struct Walker {
    uint32_t body, next;
    rbVFlight flight;
    rbVState state;
    rbV3 pull;    // m/s^2
    double until; // s, when the leg ends
} Walker;

static void walkTo(const rbVChecker* c, Walker* w, double time)
{
    const rbVBody* body = &c->model.bodies[w->body];
    const rbVTrack* t = &c->tracks[w->body];
    w->until = INFINITY;
    w->state = t->now;
    if (body->type != RB_V_DYNAMIC) {
        return;
    }
    for (; w->next < t->legCount && t->legs[w->next].time <= time; ++w->next) {
        const rbVLeg* leg = &t->legs[w->next];
        rbVFlight_Begin(&w->flight, body, leg->time, &leg->state, leg->isHeld);
    }
    rbVFlight_Advance(&w->flight, body, time);
    w->state = rbVFlight_Get(&w->flight, body);
    w->pull = w->flight.isHeld ? make3(0, 0, 0) : body->acceleration;
    w->until = w->next < t->legCount ? t->legs[w->next].time : INFINITY;
}

// Bounds of the motion of a body within its leg: m/s of any point apart from its center.
static double turnSpeed(const rbVChecker* c, const Walker* w, double span)
{
    const rbVBody* b = &c->model.bodies[w->body];
    return rbVGetSpinMax(b, &w->state, span) * ballOf(c, w->body) + fmax(0.0, b->growth);
}

// Follows a pair from node to node: from each place as far as its gap is larger than the way both
// can make. Where it touches, a few places are looked at: sampled. A proved overlap fails.
static rbVClass walkPair(rbVChecker* c, uint32_t a, uint32_t b)
{
    Walker x = {.body = a};
    Walker y = {.body = b};
    double t = c->lastNode;
    double least = (c->time - t) / TOUCH_SAMPLES;
    double allowed = overlapAllowed(c);
    double jump = FIRST_JUMP * c->model.tolerance; // m, of a pair that touches: it grows
    bool isSampled = false;
    for (int i = 0; i < WALK_MAX && t < c->time; ++i) {
        walkTo(c, &x, t);
        walkTo(c, &y, t);
        double next = fmin(c->time, fmin(x.until, y.until));
        double span = next - t;
        double rate =
            length3(sub3(y.state.v, x.state.v)) + turnSpeed(c, &x, span) + turnSpeed(c, &y, span);
        double pull = length3(sub3(y.pull, x.pull));
        double way = span * (rate + 0.5 * pull * span);
        PairGap g = pairGap(c, &(Meeting){a, b, &x.state, &y.state, {0, 0, 0}, way, t});
        if (g.isKnown && g.depth > allowed) {
            RB_V_CHECK(c, BETWEEN, CERTIFIED, a, b, g.depth, allowed,
                       "overlap since the last node, m");
            return RB_V_FAILED;
        }
        double gap = fmax(0.0, g.gap);
        double length = 2.0 * gap / (rate + sqrt(rate * rate + 2.0 * pull * gap) + 1e-300);
        if (gap >= way && -g.gap <= allowed) {
            t = next;
        } else if (gap > 4.0 * c->model.tolerance) {
            t = fmin(next, t + length);
            jump = FIRST_JUMP * c->model.tolerance;
        } else {
            isSampled = true;
            t += fmin(least, jump / rate);
            jump *= 4.0;
        }
    }
    return isSampled || t < c->time ? RB_V_SAMPLED : RB_V_CERTIFIED;
}

// m, contacts of the step engine act within it.
static double nearOf(const rbVChecker* c)
{
    return c->model.engine == RB_V_STEP ? 2.0 * c->model.shell + c->model.tolerance : 0.0;
}

static void checkOverlap(rbVChecker* c, rbVClaim claim, const Meeting* m, PairGap g)
{
    double allowed = overlapAllowed(c);
    bool isProved = g.isKnown && g.depth > allowed && c->model.engine == RB_V_EVENT &&
                    c->model.isExactDetector != 0;
    if (-g.gap <= allowed || isProved) {
        rbVChecker_Find(c, &(rbVFinding){claim, RB_V_CERTIFIED, m->a, m->b,
                                         isProved ? g.depth : -g.gap, allowed, "overlap, m"});
    } else {
        rbVChecker_Skip(c, claim, "bodies whose hulls meet, or that nearly touch");
    }
}

static void checkPair(rbVChecker* c, uint32_t a, uint32_t b)
{
    const rbVBody* x = &c->model.bodies[a];
    const rbVBody* y = &c->model.bodies[b];
    const rbVState* sa = &c->tracks[a].now;
    const rbVState* sb = &c->tracks[b].now;
    double way = c->tracks[a].span.way + c->tracks[b].span.way + 2.0 * nearOf(c);
    if (x->isBounded && y->isBounded &&
        length3(sub3(sb->center, sa->center)) - ballOf(c, a) - ballOf(c, b) > way) {
        return;
    }
    Meeting m = {a, b, sa, sb, make3(0, 0, 0), way, c->time};
    PairGap g = pairGap(c, &m);
    checkOverlap(c, RB_V_CLAIM_APART, &m, g);
    c->deepest = fmax(c->deepest, g.isKnown ? g.depth : 0.0);
    if (g.gap > way) {
        RB_V_CHECK(c, BETWEEN, CERTIFIED, a, b, way, g.gap, "");
        return;
    }
    c->tracks[a].load.isNear = c->tracks[b].load.isNear = true;
    bool isFollowed = c->model.engine == RB_V_EVENT && c->model.isExactDetector != 0 && g.isKnown &&
                      x->type != RB_V_KINEMATIC && y->type != RB_V_KINEMATIC &&
                      rbVIsIntegrable(x) && rbVIsIntegrable(y);
    rbVClass class = isFollowed ? walkPair(c, a, b) : RB_V_SAMPLED;
    c->report->counts[RB_V_CLAIM_BETWEEN][class] += class != RB_V_FAILED;
}

// Bodies sorted by the lower ends of their intervals along x.
typedef struct Interval {
    double low, high;
    uint32_t body;
} Interval;

static int compareIntervals(const void* a, const void* b)
{
    const Interval* x = a;
    const Interval* y = b;
    return x->low < y->low ? -1 : (x->low > y->low ? 1 : (x->body < y->body ? -1 : 1));
}

void rbVCheckApart(rbVChecker* c)
{
    const rbVModel* m = &c->model;
    if (m->engine == RB_V_FLIGHT || (m->engine == RB_V_STEP && !m->hasContacts)) {
        return;
    }
    Interval* list = malloc((m->bodyCount + 1) * sizeof *list);
    if (list == NULL || length3(m->periodic) > 0.0) {
        RB_V_SKIP(c, APART, "bodies in a periodic box, or no memory");
        free(list);
        return;
    }
    for (uint32_t i = 0; i < m->bodyCount; ++i) {
        const rbVState* s = &c->tracks[i].now;
        double reach = ballOf(c, i) + c->tracks[i].span.way + nearOf(c);
        bool isBounded = m->bodies[i].isBounded;
        list[i] = (Interval){isBounded ? s->center.x - reach : -INFINITY,
                             isBounded ? s->center.x + reach : INFINITY, i};
    }
    qsort(list, m->bodyCount, sizeof *list, compareIntervals);
    for (uint32_t i = 0; i < m->bodyCount; ++i) {
        for (uint32_t k = i + 1; k < m->bodyCount && list[k].low <= list[i].high; ++k) {
            uint32_t a = list[i].body < list[k].body ? list[i].body : list[k].body;
            uint32_t b = list[i].body < list[k].body ? list[k].body : list[i].body;
            if (areMeeting(c, a, b)) {
                checkPair(c, a, b);
            }
        }
    }
    free(list);
}

// m, how far any point of a body can have moved since the last node, by its largest speed since.
void rbVMeasureWay(rbVChecker* c, uint32_t i, double span)
{
    const rbVBody* body = &c->model.bodies[i];
    rbVSpan* s = &c->tracks[i].span;
    const rbVState* now = &c->tracks[i].now;
    double spin = rbVGetSpinMax(body, now, span);
    double speed = fmax(s->speed, length3(now->v)) + fmax(s->spin, spin) * body->reach;
    double pull = body->type == RB_V_DYNAMIC ? length3(body->acceleration) : 0.0;
    s->way = body->type == RB_V_STATIC ? 0.0 : span * (speed + pull * span);
    s->speed = length3(now->v);
    s->spin = spin;
}

// A pair that pushes touches: two of its points prove that. It is never farther apart than far.
static void checkClosed(rbVChecker* c, rbVClaim claim, const Meeting* m, PairGap g, double closed,
                        double far)
{
    rbVClass class = -g.depth <= closed ? RB_V_CERTIFIED : RB_V_SAMPLED;
    rbVChecker_Find(c, &(rbVFinding){claim, class, m->a, m->b, g.gap, far,
                                     "gap of bodies that push each other, m"});
}

void rbVCheckTouch(rbVChecker* c, const rbVEvent* e, const rbVState states[2])
{
    double closed = c->model.tolerance * 4.0 + 1e-9;
    if (c->model.isExactDetector == 0 || length3(c->model.periodic) > 0.0) {
        RB_V_SKIP(c, TOUCH, "contacts found by rays, or in a periodic box");
        return;
    }
    Meeting m = {e->a, e->b, &states[0], &states[1], e->normal, closed, c->time};
    PairGap g = pairGap(c, &m);
    checkClosed(c, RB_V_CLAIM_TOUCH, &m, g, closed, closed);
    checkOverlap(c, RB_V_CLAIM_TOUCH, &m, g);
}

// A pair that pushes in a step is closed at its start or end, to the second order of the step: it
// leaves the tangent by half of (wA + wB)(wA rA + wB rB + 2 u) h^2, the line by a change of u. If
// it collides in between it can be as open as it can have moved, also by the pushes of the step: a
// push moves a point by up to four times P/m, as at the end of a rod. isKnown: its others are.
void rbVCheckPushing(rbVChecker* c, const rbVContact* p, bool isKnown)
{
    const rbVTrack* a = &c->tracks[p->a];
    const rbVTrack* b = &c->tracks[p->b];
    double h = c->time - c->nodeTime;
    rbV3 now = sub3(rbVPointVelocity(&b->now, p->point), rbVPointVelocity(&a->now, p->point));
    rbV3 then = sub3(rbVPointVelocity(&b->node, p->point), rbVPointVelocity(&a->node, p->point));
    double turnA = h * fmax(length3(a->now.w), length3(a->node.w));
    double turnB = h * fmax(length3(b->now.w), length3(b->node.w));
    double slide = h * fmax(length3(now), length3(then));
    double bend = h * length3(sub3(now, then)) +
                  (turnA + turnB) * (turnA * ballOf(c, p->a) + turnB * ballOf(c, p->b) + slide);
    double pushed = a->load.size * c->model.bodies[p->a].inverseMass +
                    b->load.size * c->model.bodies[p->b].inverseMass;
    double way = (a->span.way + b->span.way) * h / (c->time - c->lastNode) + 4.0 * h * h * pushed;
    double closed = c->model.shell + c->model.tolerance;
    bool isRough = a->load.isStruck || b->load.isStruck || c->model.accuracy == 0;
    double far = closed + (isRough ? way : bend);
    if (!c->hasNode || length3(c->model.periodic) > 0.0) {
        return;
    }
    // one of several points can have opened; small steps state gaps along a line
    if (c->model.accuracy != 0) {
        RB_V_CHECK(c, CONTACT, SAMPLED, p->a, p->b, p->gap, closed + way, "gap of a contact, m");
    }
    Meeting m = {p->a, p->b, &a->now, &b->now, p->normal, far, c->time};
    if (isKnown) {
        return;
    }
    PairGap g = pairGap(c, &m);
    if (g.gap > closed) {
        Meeting start = {p->a, p->b, &a->node, &b->node, p->normal, far, c->nodeTime};
        PairGap before = pairGap(c, &start);
        g = before.gap < g.gap ? before : g;
    }
    checkClosed(c, RB_V_CLAIM_CONTACT, &m, g, closed, far);
}
