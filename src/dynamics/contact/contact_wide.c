#include "dynamics/contact/contact_wide.h"

#include "base/core/memory.h"

#include <math.h>

// A determinant of t K t below this fraction of its product of diagonals is rounding.
#define DETERMINANT_LEAST 1e-5f

// ------------------------------------------------------------------------------------------- lanes

static inline rbQuad all(float x)
{
    return (rbQuad){x, x, x, x};
}

static inline bool isAny(rbQuadMask mask)
{
    uint64_t halves[2];
    memcpy(halves, &mask, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

static inline rbQuad rootOf(rbQuad x)
{
    return (rbQuad){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])};
}

typedef struct Three {
    rbQuad x, y, z;
} Three;

// Three numbers of four bodies, by lane; the stride is that of bodies.
static inline Three gather(const float* p0, const float* p1, const float* p2, const float* p3)
{
    rbQuad q0 = rbQuad_Load(p0);
    rbQuad q1 = rbQuad_Load(p1);
    rbQuad q2 = rbQuad_Load(p2);
    rbQuad q3 = rbQuad_Load(p3);
    rbQuad low01 = __builtin_shufflevector(q0, q1, 0, 4, 1, 5);
    rbQuad low23 = __builtin_shufflevector(q2, q3, 0, 4, 1, 5);
    rbQuad high01 = __builtin_shufflevector(q0, q1, 2, 6, 3, 7);
    rbQuad high23 = __builtin_shufflevector(q2, q3, 2, 6, 3, 7);
    return (Three){__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                   __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                   __builtin_shufflevector(high01, high23, 0, 1, 4, 5)};
}

static inline void store(float* to, rbQuad q)
{
    memcpy(to, &q, sizeof q);
}

// The inverse; the fourth number of each becomes 0.
static inline void scatter(Three t, float* p0, float* p1, float* p2, float* p3)
{
    rbQuad none = {0.0f, 0.0f, 0.0f, 0.0f};
    rbQuad low01 = __builtin_shufflevector(t.x, t.y, 0, 4, 1, 5);
    rbQuad low23 = __builtin_shufflevector(t.z, none, 0, 4, 1, 5);
    rbQuad high01 = __builtin_shufflevector(t.x, t.y, 2, 6, 3, 7);
    rbQuad high23 = __builtin_shufflevector(t.z, none, 2, 6, 3, 7);
    store(p0, __builtin_shufflevector(low01, low23, 0, 1, 4, 5));
    store(p1, __builtin_shufflevector(low01, low23, 2, 3, 6, 7));
    store(p2, __builtin_shufflevector(high01, high23, 0, 1, 4, 5));
    store(p3, __builtin_shufflevector(high01, high23, 2, 3, 6, 7));
}

static inline rbQuad dot(Three a, const rbQuad b[3])
{
    return a.x * b[0] + a.y * b[1] + a.z * b[2];
}

static inline Three minus(Three a, Three b)
{
    return (Three){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline void addScaled(Three* a, rbQuad s, const rbQuad b[3])
{
    a->x += s * b[0];
    a->y += s * b[1];
    a->z += s * b[2];
}

static inline rbQuad rowDot(const rbWideRow* r, const rbWideRow* s)
{
    return (r->a[0] * s->a[0] + r->a[1] * s->a[1] + r->a[2] * s->a[2]) +
           (r->b[0] * s->b[0] + r->b[1] * s->b[1] + r->b[2] * s->b[2]);
}

// ------------------------------------------------------------------------------------------ groups

// A group being visited.
typedef struct Visit {
    Three spinA, spinB;
    rbQuad speeds[3]; // m/s, added, of the centers of mass along normal and tangents
    rbQuad pushes[3]; // N s, increments of all points
    rbQuad massSum;   // 1/kg
} Visit;

// Displacements of the two bodies of a group.
typedef struct Moves {
    Three turnedA, turnedB;
    rbQuad along; // m, of the centers of mass along the normal
} Moves;

#define GATHER(bodies, slots, member)                                                             \
    gather((bodies)[(slots)[0]].member, (bodies)[(slots)[1]].member, (bodies)[(slots)[2]].member, \
           (bodies)[(slots)[3]].member)
#define SCATTER(three, bodies, slots, member)                                \
    scatter(three, (bodies)[(slots)[0]].member, (bodies)[(slots)[1]].member, \
            (bodies)[(slots)[2]].member, (bodies)[(slots)[3]].member)

static inline Visit beginVisit(const rbWideBody* bodies, const rbWideGroup* group)
{
    Three v = minus(GATHER(bodies, group->slotB, velocity), GATHER(bodies, group->slotA, velocity));
    Visit visit = {
        .spinA = GATHER(bodies, group->slotA, spin),
        .spinB = GATHER(bodies, group->slotB, spin),
        .speeds = {dot(v, group->axes[0]), dot(v, group->axes[1]), dot(v, group->axes[2])},
        .massSum = group->invMassA + group->invMassB};
    return visit;
}

static inline Moves getMoves(const rbWideBody* bodies, const rbWideGroup* group)
{
    Three moved = minus(GATHER(bodies, group->slotB, moved), GATHER(bodies, group->slotA, moved));
    return (Moves){GATHER(bodies, group->slotA, turned), GATHER(bodies, group->slotB, turned),
                   dot(moved, group->axes[0])};
}

static inline void endVisit(const Visit* visit, rbWideBody* bodies, const rbWideGroup* group)
{
    const rbQuad* p = visit->pushes;
    rbQuad push[3];
    for (int i = 0; i < 3; ++i) {
        push[i] = p[0] * group->axes[0][i] + p[1] * group->axes[1][i] + p[2] * group->axes[2][i];
    }
    Three a = GATHER(bodies, group->slotA, velocity);
    Three b = GATHER(bodies, group->slotB, velocity);
    addScaled(&a, -group->invMassA, push);
    addScaled(&b, group->invMassB, push);
    SCATTER(a, bodies, group->slotA, velocity);
    SCATTER(b, bodies, group->slotB, velocity);
    SCATTER(visit->spinA, bodies, group->slotA, spin);
    SCATTER(visit->spinB, bodies, group->slotB, spin);
}

static inline rbQuad getAdded(const Visit* visit, const rbWideRow* row, int axis)
{
    return visit->speeds[axis] + (dot(visit->spinA, row->a) + dot(visit->spinB, row->b));
}

static inline rbQuad getGap(const Moves* moves, const rbWidePoint* point, rbQuad time)
{
    const rbWideRow* row = &point->rows[0];
    return (point->gap + time * point->speeds[0]) +
           (moves->along + (dot(moves->turnedA, row->a) + dot(moves->turnedB, row->b)));
}

static inline void push(Visit* visit, const rbWideRow* row, int axis, rbQuad dp)
{
    addScaled(&visit->spinA, dp, row->a);
    addScaled(&visit->spinB, dp, row->b);
    visit->speeds[axis] += dp * visit->massSum;
    visit->pushes[axis] += dp;
}

// Masses that are zero, or whose reciprocals overflow, make a point inert.
static inline rbQuad reciprocal(rbQuad k, rbQuadMask isThere)
{
    rbQuadMask isFit = isThere & (k > all(1e-30f)) & (k < all(1e30f));
    return rbQuad_Choose(isFit, all(1.0f) / rbQuad_Choose(isFit, k, all(1.0f)), all(0.0f));
}

// G^T (x cross y).
static inline void makeSide(rbQuad to[3], const rbQuad g[6], const rbQuad x[3], const rbQuad y[3])
{
    rbQuad cx = x[1] * y[2] - x[2] * y[1];
    rbQuad cy = x[2] * y[0] - x[0] * y[2];
    rbQuad cz = x[0] * y[1] - x[1] * y[0];
    to[0] = g[0] * cx + g[3] * cy + g[4] * cz;
    to[1] = g[1] * cy + g[5] * cz;
    to[2] = g[2] * cz;
}

static inline void makeRows(const rbWideGroup* group, const rbWideFactors* factors,
                            rbWidePoint* point)
{
    rbWideRow arms = point->rows[0];
    Three u = {point->speeds[0], point->speeds[1], point->speeds[2]};
    for (int t = 0; t < 3; ++t) {
        makeSide(point->rows[t].a, factors->a, group->axes[t], arms.a);
        makeSide(point->rows[t].b, factors->b, arms.b, group->axes[t]);
        point->speeds[t] = dot(u, group->axes[t]);
        point->total[t] = all(0.0f);
    }
}

static inline void weigh(rbWidePoint* point, rbQuad massSum, rbQuadMask isThere)
{
    const rbWideRow* r = point->rows;
    rbQuad k11 = massSum + rowDot(&r[1], &r[1]);
    rbQuad k22 = massSum + rowDot(&r[2], &r[2]);
    rbQuad k12 = rowDot(&r[1], &r[2]);
    rbQuad half = all(0.5f) * (k11 - k22);
    rbQuad largest = all(0.5f) * (k11 + k22) + rootOf(half * half + k12 * k12);
    rbQuad det = k11 * k22 - k12 * k12;
    rbQuadMask isSound = det > all(DETERMINANT_LEAST) * k11 * k22;
    rbQuad invDet = reciprocal(rbQuad_Choose(isSound, det, all(0.0f)), isThere);
    point->invNormal = reciprocal(massSum + rowDot(&r[0], &r[0]), isThere);
    point->slideStep = reciprocal(largest, isThere);
    isSound = invDet > all(0.0f);
    point->invTangents[0] = rbQuad_Choose(isSound, k22 * invDet, point->slideStep);
    point->invTangents[1] = rbQuad_Choose(isSound, k11 * invDet, point->slideStep);
    point->invTangents[2] = -k12 * invDet;
}

void rbWideGroup_Build(const rbWideGroup* group, const rbWideFactors* factors, rbWidePoint* points)
{
    RB_ASSERT(group->pointCount > 0 && group->pointCount <= RB_MANIFOLD_POINTS_MAX);
    rbQuadMask counts;
    memcpy(&counts, group->counts, sizeof counts);
    for (int i = 0; i < group->pointCount; ++i) {
        makeRows(group, factors, &points[i]);
        weigh(&points[i], group->invMassA + group->invMassB, counts > i);
    }
}

// ------------------------------------------------------------------------------------------ visits

// Friction of a point: the impulse that stops it if it lies in the disc; otherwise it slides: the
// projection of T - r u on the disc, see contact_sweep.c.
static inline void visitFriction(Visit* visit, rbWidePoint* point, bool isSoft)
{
    rbQuad u1 = getAdded(visit, &point->rows[1], 1) + point->speeds[1];
    rbQuad u2 = getAdded(visit, &point->rows[2], 2) + point->speeds[2];
    rbQuad s1 = u1;
    rbQuad s2 = u2;
    if (isSoft) {
        s1 += point->drift[0];
        s2 += point->drift[1];
    }
    const rbQuad* m = point->invTangents;
    rbQuad t1 = point->impulse[1] - (m[0] * s1 + m[2] * s2);
    rbQuad t2 = point->impulse[2] - (m[2] * s1 + m[1] * s2);
    rbQuad most = point->friction * point->impulse[0];
    rbQuadMask isOut = t1 * t1 + t2 * t2 > most * most;
    if (isAny(isOut)) {
        rbQuad g1 = point->impulse[1] - point->slideStep * u1;
        rbQuad g2 = point->impulse[2] - point->slideStep * u2;
        rbQuad square = g1 * g1 + g2 * g2;
        rbQuadMask isFar = square > most * most;
        rbQuad length = rootOf(rbQuad_Choose(isFar, square, all(1.0f)));
        rbQuad scale = rbQuad_Choose(isFar, most / length, all(1.0f));
        t1 = rbQuad_Choose(isOut, scale * g1, t1);
        t2 = rbQuad_Choose(isOut, scale * g2, t2);
    }
    push(visit, &point->rows[1], 1, t1 - point->impulse[1]);
    push(visit, &point->rows[2], 2, t2 - point->impulse[2]);
    point->impulse[1] = t1;
    point->impulse[2] = t2;
}

static inline void visitNormal(Visit* visit, const Moves* moves, rbWidePoint* point,
                               const rbWidePass* pass, bool isSoft)
{
    rbQuad u = getAdded(visit, &point->rows[0], 0) + point->speeds[0];
    rbQuad gap = getGap(moves, point, all(pass->time));
    rbQuadMask isOpen = gap > all(0.0f);
    rbQuad p = point->impulse[0];
    rbQuad sum;
    if (isSoft) {
        rbQuad part = rbQuad_Max(all(pass->rate) * gap, all(-pass->partSpeed));
        rbQuad aim = u + rbQuad_Choose(isOpen, all(pass->invStep) * gap, part);
        rbQuad mass = rbQuad_Choose(isOpen, all(1.0f), all(pass->massScale)) * point->invNormal;
        rbQuad kept = rbQuad_Choose(isOpen, p, all(1.0f - pass->impulseScale) * p);
        sum = kept - mass * aim;
    } else {
        rbQuad aim = u + rbQuad_Choose(isOpen, all(pass->invStep) * gap, all(0.0f));
        sum = p - point->invNormal * aim;
    }
    sum = rbQuad_Max(sum, all(0.0f));
    push(visit, &point->rows[0], 0, sum - p);
    point->impulse[0] = sum;
}

static inline void visitGroups(const rbWide* wide, const rbWidePass* pass, bool isSoft)
{
    for (int i = 0; i < wide->groupCount; ++i) {
        const rbWideGroup* group = &wide->groups[i];
        rbWidePoint* points = &wide->points[group->firstPoint];
        Visit visit = beginVisit(wide->bodies, group);
        Moves moves = getMoves(wide->bodies, group);
        for (int k = 0; k < group->pointCount; ++k) {
            visitNormal(&visit, &moves, &points[k], pass, isSoft);
        }
        for (int k = 0; k < group->pointCount; ++k) {
            visitFriction(&visit, &points[k], isSoft);
            for (int t = 0; t < 3 && !isSoft; ++t) {
                points[k].total[t] += points[k].impulse[t];
            }
        }
        endVisit(&visit, wide->bodies, group);
    }
}

void rbWide_Push(const rbWide* wide, const rbWidePass* pass)
{
    visitGroups(wide, pass, true);
}

void rbWide_Relax(const rbWide* wide, const rbWidePass* pass)
{
    visitGroups(wide, pass, false);
}

void rbWide_Act(const rbWide* wide)
{
    for (int i = 0; i < wide->groupCount; ++i) {
        const rbWideGroup* group = &wide->groups[i];
        Visit visit = beginVisit(wide->bodies, group);
        for (int k = 0; k < group->pointCount; ++k) {
            const rbWidePoint* point = &wide->points[group->firstPoint + k];
            for (int t = 0; t < 3; ++t) {
                push(&visit, &point->rows[t], t, point->impulse[t]);
            }
        }
        endVisit(&visit, wide->bodies, group);
    }
}

// ---------------------------------------------------------------------------------------- measures

static double sumOf(rbQuad q)
{
    return ((double)q[0] + (double)q[1]) + ((double)q[2] + (double)q[3]);
}

static double largestOf(rbQuad q)
{
    float low = q[0] > q[1] ? q[0] : q[1];
    float high = q[2] > q[3] ? q[2] : q[3];
    return (double)(low > high ? low : high);
}

rbWideRest rbWide_Measure(const rbWide* wide, const rbWidePass* pass, double restSpeed)
{
    RB_ASSERT(wide->groupCount == 0 || wide->groups != NULL);
    rbWideRest rest = {.worst = -1};
    for (int i = 0; i < wide->groupCount; ++i) {
        const rbWideGroup* group = &wide->groups[i];
        Visit visit = beginVisit(wide->bodies, group);
        Moves moves = getMoves(wide->bodies, group);
        rbQuad deepest = all(0.0f);
        rbQuad fastest = all(0.0f);
        for (int k = 0; k < group->pointCount; ++k) {
            const rbWidePoint* point = &wide->points[group->firstPoint + k];
            rbQuadMask isActing = point->total[0] > all(0.0f);
            rbQuad works[3];
            for (int t = 0; t < 3; ++t) {
                // impulse times the mean of the speeds before and after
                rbQuad after = getAdded(&visit, &point->rows[t], t);
                works[t] = point->total[t] * (point->speeds[t] + all(0.5f) * after);
                if (t == 0) {
                    rbQuad approach =
                        rbQuad_Choose(isActing, -(after + point->speeds[0]), all(0.0f));
                    fastest = rbQuad_Max(fastest, approach);
                }
            }
            rbQuad overlap = -getGap(&moves, point, all(pass->time));
            deepest = rbQuad_Max(deepest,
                                 rbQuad_Choose(point->invNormal > all(0.0f), overlap, all(0.0f)));
            rest.frictionWork += sumOf(works[1] + works[2]);
            rbQuadMask isImpact = point->speeds[0] < all(-(float)restSpeed);
            if (isAny(isImpact)) {
                rest.impactWork += sumOf(rbQuad_Choose(isImpact, works[0], all(0.0f)));
            }
        }
        double overlap = largestOf(deepest);
        double approach = largestOf(fastest);
        rest.approach = approach > rest.approach ? approach : rest.approach;
        if (overlap > rest.overlap) {
            rest.overlap = overlap;
            rest.worst = i;
        }
    }
    return rest;
}
