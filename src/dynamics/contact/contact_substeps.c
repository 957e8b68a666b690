#include "dynamics/contact/contact_substeps.h"

#include "base/core/counting_sort.h"
#include "base/core/disjoint_sets.h"
#include "base/core/lanes.h"
#include "base/core/memory.h"
#include "base/core/tasks.h"
#include "dynamics/contact/contact_factor.h"

#include <math.h>
#include <string.h>

// Contacts four at a time: rows of four contacts side by side in single precision, no body twice
// among them, and the visits to them that sub-steps need.
//
// Bodies carry the velocity and displacement that the step has added so far; speeds at the start of
// the step are stored with the points. Spins are scaled as in contact_rows.h: with I^-1 = G G^T a
// body rotates with w0 + G y, and a row is G^T c both for what it measures and for what it moves.
// Immovable bodies have slot 0 and rows of zeros.
//
// In each lane the operations are those of one contact alone, so the grouping of contacts does not
// change the bits. Groups of one color share no body: threads visit them at the same time. Sums are
// over terms in the order of groups and bodies, whoever found them.

#define WIDTH 4

typedef struct WideRow {
    rbQuad a[3];
    rbQuad b[3];
} WideRow;

typedef struct WidePoint {
    WideRow rows[3];       // normal, tangents
    rbQuad impulse[3];     // N s, of a sub-step
    rbQuad total[3];       // N s, of the step
    rbQuad speeds[3];      // m/s: u at the start of the step
    rbQuad gap;            // m, at the start
    rbQuad drift[2];       // m/s, by which a slip is undone where it sticks
    rbQuad invNormal;      // 1 / n K n; 0: inert
    rbQuad invTangents[3]; // (t K t)^-1: 11, 22, 12
    rbQuad slideStep;      // 1 / largest eigenvalue of t K t
    rbQuad friction;
} WidePoint;

typedef struct WideGroup {
    rbQuad axes[3][3]; // normal, tangents
    rbQuad invMassA;
    rbQuad invMassB;
    int slotA[WIDTH];
    int slotB[WIDTH];
    int contacts[WIDTH]; // of the set, -1: none
    int counts[WIDTH];   // points of the lanes
    int firstPoint;      // of the group
    int pointCount;      // of the lane with the most
    int firstPlaced;     // of the sorted contacts
    int placedCount;
} WideGroup;

// One visit to all groups.
typedef struct WidePass {
    float time;         // s, since the start of the step, of the displacements
    float invStep;      // 1/s, of a sub-step
    float rate;         // 1/s, at which overlap is undone
    float partSpeed;    // m/s, at most
    float massScale;    // of a spring and damper instead of a hard stop
    float impulseScale; // likewise
} WidePass;

// G of the bodies of a group: xx, yy, zz, xy, xz, yz.
typedef struct WideFactors {
    rbQuad a[6];
    rbQuad b[6];
} WideFactors;

// Data of a slot that sweeps do not touch.
typedef struct SlotBody {
    rbSym3 factor;     // G of I^-1 = G G^T
    float start[8];    // velocity and scaled spin at the start of the step
    float base[8];     // added, when the small step began: with its kick, without impulses
    float kick[4];     // m/s, of a small step
    float free[4];     // m/s, what kicks alone have added
    float freeMove[4]; // m, by that
    float mass;        // kg
    int index;         // of the host
    bool isDriven;     // of a root: moving obstacles touch the island
    float scale;       // of a root: fraction of the impulses that is kept
} SlotBody;

// Effect of a step's impulses on a body, or the bodies of an island.
typedef struct SlotGain {
    double power;  // of the impulses on the velocities without them
    double energy; // twice what the impulses gave alone
} SlotGain;

// A contact being assigned to a group.
typedef struct Placed {
    int contact;
    int slotA; // as findMovable until it has a slot
    int slotB;
    int key; // color, then number of points, most first; the number until it has a color
} Placed;

struct rbContactSubsteps {
    rbContactSettings settings;
    RB_ARRAY(rbSubstepBody) bodies; // by slot
    RB_ARRAY(SlotBody) starts;      // by slot
    RB_ARRAY(int) roots;            // by slot: islands as disjoint sets
    RB_ARRAY(int) slots;            // by body of the host, 0: none
    RB_ARRAY(uint64_t) taken;       // by slot: colors of its contacts
    RB_ARRAY(SlotGain) gains;       // by slot
    RB_ARRAY(Placed) found;
    RB_ARRAY(Placed) sorted; // by key
    RB_ARRAY(WideGroup) groups;
    RB_ARRAY(WidePoint) points;
    RB_ARRAY(int) colors;            // the first group of each color
    RB_ARRAY(rbSubstepJoint) joints; // of the task
};

// Least groups, and bodies, of a block.
#define GROUPS_LEAST 64
#define BODIES_LEAST 256

// What threads share of a solution.
typedef struct Shared {
    rbContactSubsteps* s;
    const rbSubstepsTask* task;
    const WidePass* pass;
    int first;             // group
    float h;               // s, of a small step
    bool isFirst;          // of the small steps
    rbSubstepsDone* parts; // by block: what its groups left
} Shared;

// A determinant of t K t below this fraction of its product of diagonals is rounding.
#define DETERMINANT_LEAST 1e-5f

// ------------------------------------------------------------------------------------------- lanes

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
    rbQuad q[4] = {rbQuad_Load(p0), rbQuad_Load(p1), rbQuad_Load(p2), rbQuad_Load(p3)};
    rbTransposeQuads(q);
    return (Three){q[0], q[1], q[2]};
}

// The inverse; the fourth number of each becomes 0.
static inline void scatter(Three t, float* p0, float* p1, float* p2, float* p3)
{
    rbQuad q[4] = {t.x, t.y, t.z, rbQuad_All(0.0f)};
    rbTransposeQuads(q);
    rbQuad_Store(p0, q[0]);
    rbQuad_Store(p1, q[1]);
    rbQuad_Store(p2, q[2]);
    rbQuad_Store(p3, q[3]);
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

static inline rbQuad rowDot(const WideRow* r, const WideRow* s)
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
    // displacements of the two bodies
    Three turnedA, turnedB;
    rbQuad along; // m, of the centers of mass along the normal
} Visit;

#define GATHER(bodies, slots, member)                                                             \
    gather((bodies)[(slots)[0]].member, (bodies)[(slots)[1]].member, (bodies)[(slots)[2]].member, \
           (bodies)[(slots)[3]].member)
// Immovable bodies, which groups on other threads read, are not written.
#define TARGET(bodies, slot, member) ((slot) > 0 ? (bodies)[slot].member : unmoved)
#define SCATTER(three, bodies, slots, member)                                              \
    scatter(three, TARGET(bodies, (slots)[0], member), TARGET(bodies, (slots)[1], member), \
            TARGET(bodies, (slots)[2], member), TARGET(bodies, (slots)[3], member))

static inline Visit beginVisit(const rbSubstepBody* bodies, const WideGroup* group)
{
    Three v = minus(GATHER(bodies, group->slotB, velocity), GATHER(bodies, group->slotA, velocity));
    Three moved = minus(GATHER(bodies, group->slotB, moved), GATHER(bodies, group->slotA, moved));
    Visit visit = {
        .spinA = GATHER(bodies, group->slotA, spin),
        .spinB = GATHER(bodies, group->slotB, spin),
        .speeds = {dot(v, group->axes[0]), dot(v, group->axes[1]), dot(v, group->axes[2])},
        .massSum = group->invMassA + group->invMassB,
        .turnedA = GATHER(bodies, group->slotA, turned),
        .turnedB = GATHER(bodies, group->slotB, turned),
        .along = dot(moved, group->axes[0])};
    return visit;
}

static inline void endVisit(const Visit* visit, rbSubstepBody* bodies, const WideGroup* group)
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
    float unmoved[4];
    SCATTER(a, bodies, group->slotA, velocity);
    SCATTER(b, bodies, group->slotB, velocity);
    SCATTER(visit->spinA, bodies, group->slotA, spin);
    SCATTER(visit->spinB, bodies, group->slotB, spin);
}

static inline rbQuad getAdded(const Visit* visit, const WideRow* row, int axis)
{
    return visit->speeds[axis] + (dot(visit->spinA, row->a) + dot(visit->spinB, row->b));
}

static inline rbQuad getGap(const Visit* visit, const WidePoint* point, rbQuad time)
{
    const WideRow* row = &point->rows[0];
    return (point->gap + time * point->speeds[0]) +
           (visit->along + (dot(visit->turnedA, row->a) + dot(visit->turnedB, row->b)));
}

static inline void push(Visit* visit, const WideRow* row, int axis, rbQuad dp)
{
    addScaled(&visit->spinA, dp, row->a);
    addScaled(&visit->spinB, dp, row->b);
    visit->speeds[axis] += dp * visit->massSum;
    visit->pushes[axis] += dp;
}

// Masses that are zero, or whose reciprocals overflow, make a point inert.
static inline rbQuad reciprocal(rbQuad k, rbQuadMask isThere)
{
    rbQuadMask isFit = isThere & (k > rbQuad_All(1e-30f)) & (k < rbQuad_All(1e30f));
    return rbQuad_Choose(isFit, rbQuad_All(1.0f) / rbQuad_Choose(isFit, k, rbQuad_All(1.0f)),
                         rbQuad_All(0.0f));
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

static inline void weigh(WidePoint* point, rbQuad massSum, rbQuadMask isThere)
{
    const WideRow* r = point->rows;
    rbQuad k11 = massSum + rowDot(&r[1], &r[1]);
    rbQuad k22 = massSum + rowDot(&r[2], &r[2]);
    rbQuad k12 = rowDot(&r[1], &r[2]);
    rbQuad half = rbQuad_All(0.5f) * (k11 - k22);
    rbQuad largest = rbQuad_All(0.5f) * (k11 + k22) + rootOf(half * half + k12 * k12);
    rbQuad det = k11 * k22 - k12 * k12;
    rbQuadMask isSound = det > rbQuad_All(DETERMINANT_LEAST) * k11 * k22;
    rbQuad invDet = reciprocal(rbQuad_Choose(isSound, det, rbQuad_All(0.0f)), isThere);
    point->invNormal = reciprocal(massSum + rowDot(&r[0], &r[0]), isThere);
    point->slideStep = reciprocal(largest, isThere);
    isSound = invDet > rbQuad_All(0.0f);
    point->invTangents[0] = rbQuad_Choose(isSound, k22 * invDet, point->slideStep);
    point->invTangents[1] = rbQuad_Choose(isSound, k11 * invDet, point->slideStep);
    point->invTangents[2] = -k12 * invDet;
}

// A component below this fraction of the largest is rounding. Products of such components are
// denormal numbers, which take a hundred times as long.
#define ROUNDING 1e-12f

static inline void dropRounding(rbQuad* components, int count, rbQuad largest)
{
    for (int i = 0; i < count; ++i) {
        rbQuadMask isThere = rbQuad_Abs(components[i]) > rbQuad_All(ROUNDING) * largest;
        components[i] = rbQuad_Choose(isThere, components[i], rbQuad_All(0.0f));
    }
}

// Rows and masses of the points of a group. Input: arms of A and B in rows[0], speeds in world
// axes.
static void buildGroup(const WideGroup* group, const WideFactors* factors, WidePoint* points)
{
    RB_ASSERT(group->pointCount > 0 && group->pointCount <= RB_MANIFOLD_POINTS_MAX);
    rbQuadMask counts;
    memcpy(&counts, group->counts, sizeof counts);
    for (int i = 0; i < group->pointCount; ++i) {
        WidePoint* point = &points[i];
        WideRow arms = point->rows[0];
        Three u = {point->speeds[0], point->speeds[1], point->speeds[2]};
        for (int t = 0; t < 3; ++t) {
            makeSide(point->rows[t].a, factors->a, group->axes[t], arms.a);
            makeSide(point->rows[t].b, factors->b, arms.b, group->axes[t]);
            point->speeds[t] = dot(u, group->axes[t]);
            point->total[t] = rbQuad_All(0.0f);
        }
        weigh(point, group->invMassA + group->invMassB, counts > i);
    }
}

// ------------------------------------------------------------------------------------------ visits

// Friction of a point: the impulse that stops it if it lies in the disc; otherwise it slides: the
// projection of T - r u on the disc, see contact_rows.c.
static inline void visitFriction(Visit* visit, WidePoint* point, bool isSoft)
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
    if (rbQuadMask_Bits(isOut) != 0) {
        rbQuad g1 = point->impulse[1] - point->slideStep * u1;
        rbQuad g2 = point->impulse[2] - point->slideStep * u2;
        rbQuad square = g1 * g1 + g2 * g2;
        rbQuadMask isFar = square > most * most;
        rbQuad length = rootOf(rbQuad_Choose(isFar, square, rbQuad_All(1.0f)));
        rbQuad scale = rbQuad_Choose(isFar, most / length, rbQuad_All(1.0f));
        t1 = rbQuad_Choose(isOut, scale * g1, t1);
        t2 = rbQuad_Choose(isOut, scale * g2, t2);
    }
    push(visit, &point->rows[1], 1, t1 - point->impulse[1]);
    push(visit, &point->rows[2], 2, t2 - point->impulse[2]);
    point->impulse[1] = t1;
    point->impulse[2] = t2;
}

static inline void visitNormal(Visit* visit, WidePoint* point, const WidePass* pass, bool isSoft)
{
    rbQuad u = getAdded(visit, &point->rows[0], 0) + point->speeds[0];
    rbQuad gap = getGap(visit, point, rbQuad_All(pass->time));
    rbQuadMask isOpen = gap > rbQuad_All(0.0f);
    rbQuad p = point->impulse[0];
    rbQuad sum;
    if (isSoft) {
        rbQuad part = rbQuad_Max(rbQuad_All(pass->rate) * gap, rbQuad_All(-pass->partSpeed));
        rbQuad aim = u + rbQuad_Choose(isOpen, rbQuad_All(pass->invStep) * gap, part);
        rbQuad mass =
            rbQuad_Choose(isOpen, rbQuad_All(1.0f), rbQuad_All(pass->massScale)) * point->invNormal;
        rbQuad kept = rbQuad_Choose(isOpen, p, rbQuad_All(1.0f - pass->impulseScale) * p);
        sum = kept - mass * aim;
    } else {
        rbQuad aim = u + rbQuad_Choose(isOpen, rbQuad_All(pass->invStep) * gap, rbQuad_All(0.0f));
        sum = p - point->invNormal * aim;
    }
    sum = rbQuad_Max(sum, rbQuad_All(0.0f));
    push(visit, &point->rows[0], 0, sum - p);
    point->impulse[0] = sum;
}

// isSoft: normals with springs, and friction that undoes slip. Otherwise without either: removes
// the speed that these added, and adds the impulses to the totals.
static inline void visitGroups(const Shared* shared, rbShare share, bool isSoft)
{
    const rbContactSubsteps* s = shared->s;
    const WidePass* pass = shared->pass;
    for (int i = shared->first + share.begin; i < shared->first + share.end; ++i) {
        const WideGroup* group = &s->groups.data[i];
        WidePoint* points = &s->points.data[group->firstPoint];
        Visit visit = beginVisit(s->bodies.data, group);
        for (int k = 0; k < group->pointCount; ++k) {
            visitNormal(&visit, &points[k], pass, isSoft);
        }
        for (int k = 0; k < group->pointCount; ++k) {
            visitFriction(&visit, &points[k], isSoft);
            for (int t = 0; t < 3 && !isSoft; ++t) {
                points[k].total[t] += points[k].impulse[t];
            }
        }
        endVisit(&visit, s->bodies.data, group);
    }
}

static void visitSoft(void* context, rbShare share)
{
    visitGroups(context, share, true);
}

static void visitHard(void* context, rbShare share)
{
    visitGroups(context, share, false);
}

// Visits all groups, color by color; the last color is of contacts that share bodies.
static void sweep(Shared shared, rbShareFn* visit)
{
    const rbContactSubsteps* s = shared.s;
    for (int color = 0; color + 1 < s->colors.count; ++color) {
        shared.first = s->colors.data[color];
        int count = s->colors.data[color + 1] - shared.first;
        bool isLast = color + 2 == s->colors.count;
        rbRunShares(count, isLast ? count + 1 : GROUPS_LEAST, visit, &shared);
    }
}

// Applies the impulses of all points once.
static void actWide(void* context, rbShare share)
{
    const Shared* shared = context;
    const rbContactSubsteps* s = shared->s;
    for (int i = shared->first + share.begin; i < shared->first + share.end; ++i) {
        const WideGroup* group = &s->groups.data[i];
        Visit visit = beginVisit(s->bodies.data, group);
        for (int k = 0; k < group->pointCount; ++k) {
            const WidePoint* point = &s->points.data[group->firstPoint + k];
            for (int t = 0; t < 3; ++t) {
                push(&visit, &point->rows[t], t, point->impulse[t]);
            }
        }
        endVisit(&visit, s->bodies.data, group);
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

// Remaining errors at the end of a step, and the works of friction and of normals that approached
// faster than restSpeed.
static void measureGroups(void* context, rbShare share)
{
    const Shared* shared = context;
    const rbContactSubsteps* s = shared->s;
    rbSubstepsDone done = {.solved = {.worst = -1}};
    for (int i = share.begin; i < share.end; ++i) {
        const WideGroup* group = &s->groups.data[i];
        Visit visit = beginVisit(s->bodies.data, group);
        rbQuad deepest = rbQuad_All(0.0f);
        rbQuad fastest = rbQuad_All(0.0f);
        for (int k = 0; k < group->pointCount; ++k) {
            const WidePoint* point = &s->points.data[group->firstPoint + k];
            rbQuadMask isActing = point->total[0] > rbQuad_All(0.0f);
            rbQuad works[3];
            for (int t = 0; t < 3; ++t) {
                // impulse times the mean of the speeds before and after
                rbQuad after = getAdded(&visit, &point->rows[t], t);
                works[t] = point->total[t] * (point->speeds[t] + rbQuad_All(0.5f) * after);
                if (t == 0) {
                    rbQuad approach =
                        rbQuad_Choose(isActing, -(after + point->speeds[0]), rbQuad_All(0.0f));
                    fastest = rbQuad_Max(fastest, approach);
                }
            }
            rbQuad overlap = -getGap(&visit, point, rbQuad_All(shared->pass->time));
            deepest = rbQuad_Max(deepest, rbQuad_Choose(point->invNormal > rbQuad_All(0.0f),
                                                        overlap, rbQuad_All(0.0f)));
            rbQuadMask isImpact = point->speeds[0] < rbQuad_All(-(float)shared->task->restSpeed);
            done.frictionWork += sumOf(works[1] + works[2]);
            done.impactWork += sumOf(rbQuad_Choose(isImpact, works[0], rbQuad_All(0.0f)));
        }
        done.approach = fmax(done.approach, largestOf(fastest));
        if (largestOf(deepest) > done.solved.gapError) {
            done.solved.gapError = largestOf(deepest);
            done.solved.worst = group->contacts[0];
        }
    }
    shared->parts[share.block] = done;
}

static void measureWide(Shared* shared, rbSubstepsDone* done)
{
    int count = shared->s->groups.count;
    rbSubstepsDone parts[RB_BLOCKS_MAX];
    shared->parts = parts;
    rbRunShares(count, GROUPS_LEAST, measureGroups, shared);
    for (int i = 0; i < rbGetBlockCount(count, rbGetBlockSize(count, GROUPS_LEAST)); ++i) {
        const rbSubstepsDone* part = &parts[i];
        bool isDeeper = part->solved.gapError > done->solved.gapError;
        done->frictionWork += part->frictionWork;
        done->impactWork += part->impactWork;
        done->approach = fmax(done->approach, part->approach);
        done->solved.gapError = isDeeper ? part->solved.gapError : done->solved.gapError;
        done->solved.worst = isDeeper ? part->solved.worst : done->solved.worst;
    }
}

// --------------------------------------------------------------------------------------- sub-steps

// Number of sweeps of a small step.
#define SWEEPS_EACH 2
// The springs: their frequency relative to the rate of small steps, and the damping ratio.
#define SPRING_PART 0.125
#define SPRING_DAMPING 10.0
// The fraction of a slip that a step undoes.
#define SLIP_PART 0.1
// Contacts of a body get different colors; if a body has more than this many, the others are
// visited one by one.
#define COLORS 64

#define KEYS ((COLORS + 1) * RB_MANIFOLD_POINTS_MAX)

rbContactSubsteps* rbCreateContactSubsteps(const rbContactSettings* settings)
{
    RB_ASSERT(settings != NULL && settings->substeps > 0);
    rbContactSubsteps* substeps = rbAllocZero(1, sizeof *substeps);
    substeps->settings = rbAimContactSettings(settings);
    return substeps;
}

void rbDestroyContactSubsteps(rbContactSubsteps* substeps)
{
    if (substeps == NULL) {
        return;
    }
    rbArray_FreeAll(substeps->bodies, substeps->starts, substeps->roots, substeps->slots);
    rbArray_FreeAll(substeps->found, substeps->sorted, substeps->groups, substeps->points);
    rbArray_FreeAll(substeps->colors, substeps->joints, substeps->taken, substeps->gains);
    rbFree(substeps, sizeof *substeps);
}

bool rbContactSubsteps_CanSolve(const rbContactRun* run, int contact, double restSpeed)
{
    RB_ASSERT(contact >= 0 && contact < run->set->contactCount && restSpeed >= 0.0);
    const rbContact* c = &run->set->contacts[contact];
    if (c->rolling > 0.0 || c->spinning > 0.0 || c->hasBelt) {
        return false;
    }
    for (int k = 0; c->restitution > 0.0 && k < c->pointCount; ++k) {
        const rbContactPoint* point = &run->set->points[c->firstPoint + k];
        double u = rbContact_NormalSpeed(run->bodies, c, point);
        if (!point->isClosed && u < -restSpeed && point->gap + run->h * u < 0.0) {
            return false;
        }
    }
    return true;
}

// ----------------------------------------------------------------------------------------- packing

// The body of the host + 1; 0: it is immovable, -1: and moves.
static int findMovable(const rbSubstepsTask* task, int index)
{
    RB_ASSERT(index >= 0);
    const rbContactBody* body = &task->run->bodies[index];
    bool isMoving = rbLengthSquared(body->velocity) > 0.0 || rbLengthSquared(body->spin) > 0.0;
    return rbContactBody_IsMovable(body) ? index + 1 : isMoving ? -1 : 0;
}

// The slot of a body that findMovable has found; 0: none.
static int addSlot(rbContactSubsteps* s, int index1)
{
    if (index1 <= 0) {
        return 0;
    }
    rbArray_Fill(s->slots, index1, 0);
    int* slot = &s->slots.data[index1 - 1];
    if (*slot == 0) {
        *slot = s->starts.count;
        rbArray_Push(s->roots, *slot);
        rbArray_Push(s->taken, 0);
        rbArray_Push(s->starts, (SlotBody){.index = index1 - 1});
    }
    return *slot;
}

// The bodies of slots, as they are at the start of the step.
static void fillSlots(void* context, rbShare share)
{
    const Shared* shared = context;
    const rbContactSubsteps* s = shared->s;
    double part = 1.0 / (double)s->settings.substeps;
    for (int i = share.begin; i < share.end; ++i) {
        SlotBody* start = &s->starts.data[i];
        if (i == 0) {
            s->bodies.data[0] = (rbSubstepBody){.velocity = {0.0f}};
            continue;
        }
        const rbContactBody* body = &shared->task->run->bodies[start->index];
        rbVec3 kick = shared->task->kicks[start->index];
        rbVec3 v = body->velocity;
        start->factor = rbFactorInertia(&body->invInertia);
        rbVec3 y = rbSolveFactor(&start->factor, body->spin);
        const float speeds[8] = {(float)v.x, (float)v.y, (float)v.z, 0.0f,
                                 (float)y.x, (float)y.y, (float)y.z, 0.0f};
        const float kicks[4] = {(float)(part * kick.x), (float)(part * kick.y),
                                (float)(part * kick.z), 0.0f};
        rbSubstepBody added = {
            .velocity = {(float)(-0.5 * kick.x), (float)(-0.5 * kick.y), (float)(-0.5 * kick.z)}};
        memcpy(start->start, speeds, sizeof speeds);
        memcpy(start->kick, kicks, sizeof kicks);
        memcpy(start->free, added.velocity, sizeof start->free);
        memset(start->freeMove, 0, sizeof start->freeMove);
        start->mass = body->invMass > 0.0 ? (float)(1.0 / body->invMass) : 0.0f;
        s->bodies.data[i] = added;
    }
}

// Bodies that touch, or that a joint connects, belong to one island; isDriven: one is a moving
// obstacle.
static void unite(rbContactSubsteps* s, int slotA, int slotB, bool isDriven)
{
    int a = rbSets_Find(s->roots.data, slotA > 0 ? slotA : slotB);
    int b = rbSets_Find(s->roots.data, slotB > 0 ? slotB : slotA);
    isDriven = isDriven || s->starts.data[a].isDriven || s->starts.data[b].isDriven;
    (void)rbSets_Join(s->roots.data, a, b);
    s->starts.data[a < b ? a : b].isDriven = isDriven;
}

// The first color that neither body has; COLORS: there is none.
static int chooseColor(rbContactSubsteps* s, int slotA, int slotB)
{
    s->taken.data[0] = 0; // immovable bodies have all
    uint64_t taken = s->taken.data[slotA] | s->taken.data[slotB];
    if (taken == UINT64_MAX) {
        return COLORS;
    }
    int color = __builtin_ctzll(~taken);
    RB_ASSERT(color < COLORS);
    s->taken.data[slotA] |= (uint64_t)1 << color;
    s->taken.data[slotB] |= (uint64_t)1 << color;
    return color;
}

// The contacts of the run, in its order.
static void listContacts(void* context, rbShare share)
{
    const Shared* shared = context;
    const rbContactRun* run = shared->task->run;
    for (int i = share.begin; i < share.end; ++i) {
        int index = rbContactRun_GetContact(run, i);
        const rbContact* contact = &run->set->contacts[index];
        RB_ASSERT(contact->pointCount <= RB_MANIFOLD_POINTS_MAX);
        shared->s->found.data[i] =
            (Placed){index, findMovable(shared->task, contact->bodyA),
                     findMovable(shared->task, contact->bodyB), contact->pointCount};
    }
}

static void placeContacts(Shared* shared)
{
    rbContactSubsteps* s = shared->s;
    int starts[KEYS + 1];
    int contactCount = rbContactRun_GetCount(shared->task->run);
    rbArray_Reserve(s->found, contactCount);
    rbRunShares(contactCount, BODIES_LEAST, listContacts, shared);
    s->found.count = 0;
    for (int i = 0; i < contactCount; ++i) {
        Placed placed = s->found.data[i];
        bool isDriven = placed.slotA < 0 || placed.slotB < 0;
        if ((placed.slotA <= 0 && placed.slotB <= 0) || placed.key == 0) {
            continue;
        }
        placed.slotA = addSlot(s, placed.slotA);
        placed.slotB = addSlot(s, placed.slotB);
        unite(s, placed.slotA, placed.slotB, isDriven);
        int color = chooseColor(s, placed.slotA, placed.slotB);
        placed.key = color * RB_MANIFOLD_POINTS_MAX + RB_MANIFOLD_POINTS_MAX - placed.key;
        s->found.data[s->found.count++] = placed;
    }
    rbArray_SetCount(s->sorted, s->found.count);
    RB_SORT_BY(key, s->found.data, s->sorted.data, s->found.count, starts, KEYS);
}

// Three numbers, or the six of a factor.
static void setLane(rbQuad* to, int lane, const double* values, int count)
{
    RB_ASSERT(lane >= 0 && lane < WIDTH);
    for (int i = 0; i < count; ++i) {
        to[i][lane] = (float)values[i];
    }
}

// Arms and speeds in world axes, from which buildGroup makes rows.
static void packPoint(const rbSubstepsTask* task, const rbContact* contact, int k, double part,
                      WidePoint* to, int lane)
{
    const rbContactRun* run = task->run;
    const rbContactPoint* from = &run->set->points[contact->firstPoint + k];
    rbVec3 u = rbContact_RelativeVelocity(run->bodies, contact, from);
    double drift = SLIP_PART / run->h;
    setLane(to->rows[0].a, lane, &from->armA.x, 3);
    setLane(to->rows[0].b, lane, &from->armB.x, 3);
    setLane(to->speeds, lane, &u.x, 3);
    for (int t = 0; t < 3; ++t) {
        to->impulse[t][lane] = (float)(part * from->impulse[t]);
    }
    to->gap[lane] = (float)from->gap;
    to->drift[0][lane] = (float)(drift * from->slip[0]);
    to->drift[1][lane] = (float)(drift * from->slip[1]);
    to->friction[lane] = (float)rbContactPoint_ChooseFriction(from, contact, run->set, run->bodies);
}

static void packLane(const rbContactSubsteps* s, const rbSubstepsTask* task, const Placed* placed,
                     WideGroup* group, WideFactors* factors, int lane)
{
    const rbContact* contact = &task->run->set->contacts[placed->contact];
    RB_ASSERT(contact->pointCount <= group->pointCount);
    RB_ASSERT(placed->slotA < s->starts.count && placed->slotB < s->starts.count);
    const rbContactBody* bodies = task->run->bodies;
    setLane(group->axes[0], lane, &contact->normal.x, 3);
    setLane(group->axes[1], lane, &contact->tangents[0].x, 3);
    setLane(group->axes[2], lane, &contact->tangents[1].x, 3);
    setLane(factors->a, lane, &s->starts.data[placed->slotA].factor.xx, 6);
    setLane(factors->b, lane, &s->starts.data[placed->slotB].factor.xx, 6);
    group->slotA[lane] = placed->slotA;
    group->slotB[lane] = placed->slotB;
    group->contacts[lane] = placed->contact;
    group->counts[lane] = contact->pointCount;
    group->invMassA[lane] = placed->slotA > 0 ? (float)bodies[contact->bodyA].invMass : 0.0f;
    group->invMassB[lane] = placed->slotB > 0 ? (float)bodies[contact->bodyB].invMass : 0.0f;
    // impulses come in as halves, of a step
    double part = 2.0 / (double)s->settings.substeps;
    for (int k = 0; k < contact->pointCount; ++k) {
        packPoint(task, contact, k, part, &s->points.data[group->firstPoint + k], lane);
    }
}

// Which contacts and points groups have, and the first group of each color. Contacts of one color
// share groups; those that have none are alone.
static void listGroups(rbContactSubsteps* s)
{
    s->groups.count = 0;
    s->points.count = 0;
    s->colors.count = 0;
    for (int first = 0, end = 0; first < s->sorted.count; first = end) {
        int key = s->sorted.data[first].key;
        int color = key / RB_MANIFOLD_POINTS_MAX;
        int most = color < COLORS ? first + WIDTH : first + 1;
        while (end < most && end < s->sorted.count &&
               s->sorted.data[end].key / RB_MANIFOLD_POINTS_MAX == color) {
            ++end;
        }
        WideGroup group = {.contacts = {-1, -1, -1, -1}, // the rest is packed
                           .firstPoint = s->points.count,
                           .pointCount = RB_MANIFOLD_POINTS_MAX - key % RB_MANIFOLD_POINTS_MAX,
                           .firstPlaced = first,
                           .placedCount = end - first};
        rbArray_Fill(s->colors, color + 1, s->groups.count);
        rbArray_Push(s->groups, group);
        s->points.count += group.pointCount;
    }
    rbArray_Fill(s->colors, COLORS + 2, s->groups.count);
    RB_ASSERT(s->colors.count == COLORS + 2);
    rbArray_Reserve(s->points, s->points.count);
}

static void packGroups(void* context, rbShare share)
{
    const Shared* shared = context;
    const rbContactSubsteps* s = shared->s;
    for (int i = share.begin; i < share.end; ++i) {
        WideGroup* group = &s->groups.data[i];
        const Placed* placed = &s->sorted.data[group->firstPlaced];
        WideFactors factors = {0};
        WidePoint* points = &s->points.data[group->firstPoint];
        if (group->placedCount < WIDTH || placed[group->placedCount - 1].key != placed[0].key) {
            memset(points, 0, (size_t)group->pointCount * sizeof *points);
        }
        for (int k = 0; k < group->placedCount; ++k) {
            packLane(s, shared->task, &placed[k], group, &factors, k);
        }
        dropRounding(group->axes[0], 9, rbQuad_All(1.0f));
        dropRounding(&factors.a[3], 3, factors.a[0] + factors.a[1] + factors.a[2]);
        dropRounding(&factors.b[3], 3, factors.b[0] + factors.b[1] + factors.b[2]);
        buildGroup(group, &factors, points);
    }
}

// Of a cache, with the rows of a hinge.
#define ROW_LINES 6

static void packJoints(rbContactSubsteps* s, const rbSubstepsTask* task)
{
    double part = task->run->h / (double)s->settings.substeps;
    rbArray_SetCount(s->joints, task->jointCount);
    for (int i = 0; i < task->jointCount; ++i) {
        const rbSubstepsJoint* from = &task->joints[i];
        // rows of a joint soon to come: those of each mechanism are elsewhere
        const char* soon = (const char*)task->joints[i + 2 < task->jointCount ? i + 2 : i].rows;
        for (int line = 0; line < ROW_LINES; ++line) {
            __builtin_prefetch(soon + (ptrdiff_t)64 * line);
        }
        rbSubstepSide sides[2] = {{0}};
        for (int k = 0; k < 2; ++k) {
            int body = from->bodies[k];
            int slot = body < s->slots.count ? s->slots.data[body] : 0;
            if (slot > 0) {
                sides[k] = (rbSubstepSide){slot, task->run->bodies[body].invMass,
                                           s->starts.data[slot].factor, task->kicks[body]};
            }
        }
        rbSubstepJoint* joint = &s->joints.data[i];
        rbSubstepJoint_Make(joint, from->rows, from->rowCount, sides);
        for (int k = 0; k < from->rowCount; ++k) {
            joint->impulses[k] = (float)(part * from->reactions[k]);
        }
    }
}

static void pack(Shared* shared)
{
    rbContactSubsteps* s = shared->s;
    for (int i = 1; i < s->starts.count; ++i) {
        s->slots.data[s->starts.data[i].index] = 0;
    }
    s->starts.count = 0;
    s->roots.count = 0;
    s->taken.count = 0;
    rbArray_Push(s->roots, 0);
    rbArray_Push(s->taken, 0);
    rbArray_Push(s->starts, (SlotBody){.index = -1});
    placeContacts(shared);
    // the bodies of joints get slots, and belong to one island
    const rbSubstepsTask* task = shared->task;
    for (int i = 0; i < task->jointCount; ++i) {
        int a = findMovable(task, task->joints[i].bodies[0]);
        int b = findMovable(task, task->joints[i].bodies[1]);
        RB_ASSERT(a > 0 || b > 0);
        int slot = addSlot(s, a); // compilers differ in the order of arguments
        unite(s, slot, addSlot(s, b), a < 0 || b < 0);
    }
    listGroups(s);
    rbArray_SetCount(s->bodies, s->starts.count);
    rbRunShares(s->starts.count, BODIES_LEAST, fillSlots, shared);
    rbRunShares(s->groups.count, GROUPS_LEAST, packGroups, shared);
    packJoints(s, task);
}

// ------------------------------------------------------------------------------------- small steps

// Forces, and the impulses of the last small step again: their effect on the bodies is known.
// isFirst: those of the last step act.
static void beginSmall(void* context, rbShare share)
{
    const Shared* shared = context;
    const rbContactSubsteps* s = shared->s;
    bool isFirst = shared->isFirst;
    for (int i = share.begin; i < share.end; ++i) {
        rbSubstepBody* body = &s->bodies.data[i];
        SlotBody* own = &s->starts.data[i];
        for (int k = 0; k < 4; ++k) {
            float pushed = isFirst ? 0.0f : body->velocity[k] - own->base[k];
            float turned = isFirst ? 0.0f : body->spin[k] - own->base[4 + k];
            own->base[k] = body->velocity[k] + own->kick[k];
            own->base[4 + k] = body->spin[k];
            body->velocity[k] = own->base[k] + pushed;
            body->spin[k] = own->base[4 + k] + turned;
            own->free[k] += own->kick[k];
        }
    }
}

static void findGains(void* context, rbShare share)
{
    const rbContactSubsteps* s = ((const Shared*)context)->s;
    for (int i = share.begin; i < share.end; ++i) {
        const rbSubstepBody* body = &s->bodies.data[i];
        const SlotBody* own = &s->starts.data[i];
        SlotGain gain = {0.0, 0.0};
        for (int k = 0; k < 4; ++k) {
            double pushed = (double)body->velocity[k] - (double)own->free[k];
            double turned = (double)body->spin[k];
            double free = (double)own->start[k] + (double)own->free[k];
            gain.power += (double)own->mass * pushed * free + turned * (double)own->start[4 + k];
            gain.energy += (double)own->mass * pushed * pushed + turned * turned;
        }
        s->gains.data[i] = gain;
    }
}

// The fraction of a step's impulses by which islands gain no energy: with the fraction s they gain
// s power + s^2 energy / 2. Moving obstacles do work: there it is 1.
static bool chooseScales(Shared* shared)
{
    rbContactSubsteps* s = shared->s;
    int count = s->starts.count;
    bool areWhole = true;
    rbArray_Reserve(s->gains, count);
    rbRunShares(count, BODIES_LEAST, findGains, shared);
    SlotGain* gains = s->gains.data;
    for (int i = 1; i < count; ++i) {
        int root = rbSets_Find(s->roots.data, i); // the smallest
        gains[root].power += root < i ? gains[i].power : 0.0;
        gains[root].energy += root < i ? gains[i].energy : 0.0;
    }
    for (int i = 1; i < count; ++i) {
        if (s->roots.data[i] == i) {
            bool isBound =
                !s->starts.data[i].isDriven && gains[i].power + 0.5 * gains[i].energy > 0.0;
            double scale = isBound ? -2.0 * gains[i].power / gains[i].energy : 1.0;
            s->starts.data[i].scale = scale > 0.0 ? (float)scale : 0.0f;
            areWhole = areWhole && !isBound;
        }
    }
    return areWhole;
}

static void scaleTotals(rbContactSubsteps* s)
{
    for (int i = 0; i < s->groups.count; ++i) {
        const WideGroup* group = &s->groups.data[i];
        rbQuad scales = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int lane = 0; lane < WIDTH && group->contacts[lane] >= 0; ++lane) {
            int slot = group->slotA[lane] > 0 ? group->slotA[lane] : group->slotB[lane];
            scales[lane] = s->starts.data[rbSets_Find(s->roots.data, slot)].scale;
        }
        for (int k = group->firstPoint; k < group->firstPoint + group->pointCount; ++k) {
            for (int t = 0; t < 3; ++t) {
                s->points.data[k].total[t] *= scales;
            }
        }
    }
    for (int i = 0; i < s->joints.count; ++i) {
        rbSubstepJoint* joint = &s->joints.data[i];
        int slot = joint->slots[0] > 0 ? joint->slots[0] : joint->slots[1];
        float scale = s->starts.data[rbSets_Find(s->roots.data, slot)].scale;
        for (int k = 0; k < joint->rowCount; ++k) {
            joint->totals[k] *= scale;
        }
    }
}

// Contacts without rebound dissipate energy. Where few sweeps have not removed the energy of the
// springs (hundreds of bodies in one place), only the fraction of the impulses is kept that adds
// none. Nothing more is required: a heap that rebounds by the weight of a step must still carry
// itself.
static void boundEnergy(Shared* shared)
{
    rbContactSubsteps* s = shared->s;
    if (chooseScales(shared)) {
        return;
    }
    scaleTotals(s);
    for (int i = 1; i < s->bodies.count; ++i) {
        rbSubstepBody* body = &s->bodies.data[i];
        const SlotBody* own = &s->starts.data[i];
        float scale = s->starts.data[rbSets_Find(s->roots.data, i)].scale;
        for (int k = 0; k < 4 && scale != 1.0f; ++k) {
            body->velocity[k] = own->free[k] + scale * (body->velocity[k] - own->free[k]);
            body->spin[k] *= scale;
        }
    }
}

static void fly(void* context, rbShare share)
{
    const Shared* shared = context;
    const rbContactSubsteps* s = shared->s;
    float h = shared->h;
    for (int i = share.begin; i < share.end; ++i) {
        rbSubstepBody* body = &s->bodies.data[i];
        SlotBody* own = &s->starts.data[i];
        for (int k = 0; k < 4; ++k) {
            own->freeMove[k] += h * own->free[k];
            body->moved[k] += h * body->velocity[k];
            body->turned[k] += h * body->spin[k];
        }
    }
}

static rbVec3 widen(const float from[3], double scale)
{
    return rbMakeVec3(scale * (double)from[0], scale * (double)from[1], scale * (double)from[2]);
}

static rbVec3 turnOf(const SlotBody* start, const float y[3], double scale)
{
    double wide[3] = {scale * (double)y[0], scale * (double)y[1], scale * (double)y[2]};
    return rbMulFactor(&start->factor, wide);
}

// Whether no impulse has acted on a body.
static bool isUntouched(const rbSubstepBody* body, const SlotBody* start)
{
    bool isSame = true;
    for (int k = 0; k < 3; ++k) {
        isSame = isSame && body->velocity[k] == start->free[k] && body->spin[k] == 0.0f &&
                 body->moved[k] == start->freeMove[k] && body->turned[k] == 0.0f;
    }
    return isSame;
}

// Returns the work of contacts, the change of kinetic energy not due to the kicks, J.
static double finishBody(const void* context, int slot)
{
    const Shared* shared = context;
    const rbContactSubsteps* s = shared->s;
    const rbSubstepsTask* task = shared->task;
    double perStep = 1.0 / task->run->h;
    const rbSubstepBody* body = &s->bodies.data[slot];
    const SlotBody* start = &s->starts.data[slot];
    if (slot == 0 || isUntouched(body, start)) {
        return 0.0; // it flies as if alone
    }
    rbContactBody* shown = &task->run->bodies[start->index];
    rbContactBody* flight = &task->flights[start->index];
    rbVec3 kick = task->kicks[start->index];
    rbVec3 flown = rbAdd(shown->velocity, widen(body->moved, perStep));
    rbVec3 added = rbAddScaled(widen(body->velocity, 1.0), -0.5, kick);
    rbVec3 y = widen(body->spin, 1.0);
    if (!rbIsFinite3(flown) || !rbIsFinite3(added) || !rbIsFinite3(y)) {
        return 0.0; // numbers beyond single precision: it flies on
    }
    rbVec3 before = rbSolveFactor(&start->factor, shown->spin);
    rbVec3 mean = rbAddScaled(shown->velocity, 0.5, added);
    double mass = shown->invMass > 0.0 ? 1.0 / shown->invMass : 0.0;
    double work = mass * (rbDot(rbAdd(added, kick), mean) - rbDot(kick, flown)) +
                  rbDot(y, rbAddScaled(before, 0.5, y));
    flight->velocity = flown;
    flight->spin = rbAdd(shown->spin, turnOf(start, body->turned, perStep));
    shown->velocity = rbAdd(shown->velocity, added);
    shown->spin = rbAdd(shown->spin, turnOf(start, body->spin, 1.0));
    return work;
}

static void finishPoints(void* context, rbShare share)
{
    const Shared* shared = context;
    const rbContactSubsteps* s = shared->s;
    const rbContactSet* set = shared->task->run->set;
    for (int i = share.begin; i < share.end; ++i) {
        const WideGroup* group = &s->groups.data[i];
        for (int lane = 0; lane < WIDTH && group->contacts[lane] >= 0; ++lane) {
            const rbContact* contact = &set->contacts[group->contacts[lane]];
            for (int k = 0; k < contact->pointCount; ++k) {
                const WidePoint* from = &s->points.data[group->firstPoint + k];
                rbContactPoint* to = &set->points[contact->firstPoint + k];
                double p[3] = {(double)from->impulse[0][lane], (double)from->impulse[1][lane],
                               (double)from->impulse[2][lane]};
                double most = (double)from->friction[lane] * p[0];
                // strictly inside: a sliding point is on the rim except for rounding
                to->isSticking = p[1] * p[1] + p[2] * p[2] < (1.0 - 1e-5) * most * most;
                for (int t = 0; t < 3; ++t) {
                    to->impulse[t] = (double)from->total[t][lane];
                }
            }
        }
    }
}

static WidePass makePass(const rbContactSettings* settings, double dt)
{
    double omega = 2.0 * 3.14159265358979323846 * SPRING_PART / dt;
    RB_ASSERT(isfinite(omega));
    double a1 = 2.0 * SPRING_DAMPING + dt * omega;
    double a2 = dt * omega * a1;
    return (WidePass){.invStep = (float)(1.0 / dt),
                      .rate = (float)(omega / a1),
                      .partSpeed = (float)settings->partSpeed,
                      .massScale = (float)(a2 / (1.0 + a2)),
                      .impulseScale = (float)(1.0 / (1.0 + a2))};
}

rbSubstepsDone rbContactSubsteps_Solve(rbContactSubsteps* substeps, const rbSubstepsTask* task)
{
    const rbContactSettings* settings = &substeps->settings;
    RB_ASSERT(task->run->set != NULL && task->run->h > 0.0);
    RB_ASSERT(task->kicks != NULL && task->flights != NULL && task->restSpeed >= 0.0);
    RB_ASSERT(task->jointCount == 0 || task->joints != NULL);
    int count = settings->substeps;
    double dt = task->run->h / (double)count;
    rbSubstepsDone done = {.solved = {.sweeps = SWEEPS_EACH * count, .worst = -1}};
    WidePass pass = makePass(settings, dt);
    Shared shared = {.s = substeps, .task = task, .pass = &pass, .h = (float)dt};
    pack(&shared);
    int bodyCount = substeps->bodies.count;
    rbSubstepJoint* joints = substeps->joints.data;
    int jointCount = substeps->joints.count;
    for (int i = 0; i < count; ++i) {
        shared.isFirst = i == 0;
        rbRunShares(bodyCount, BODIES_LEAST, beginSmall, &shared);
        if (i == 0) {
            sweep(shared, actWide);
            rbPushSubstepJoints(joints, jointCount, substeps->bodies.data);
        }
        pass.time = (float)(dt * (double)i);
        sweep(shared, visitSoft);
        rbVisitSubstepJoints(joints, jointCount, substeps->bodies.data,
                             &(rbSubstepJointPass){.invStep = pass.invStep});
        rbRunShares(bodyCount, BODIES_LEAST, fly, &shared);
        pass.time = (float)(dt * (double)(i + 1));
        sweep(shared, visitHard);
        // the first half of the kicks was there before
        double freePart = (double)(i + 1) / (double)count - 0.5;
        rbVisitSubstepJoints(joints, jointCount, substeps->bodies.data,
                             &(rbSubstepJointPass){.freePart = (float)freePart});
    }
    boundEnergy(&shared);
    measureWide(&shared, &done);
    done.solved.isMet =
        done.solved.gapError <= settings->tolerance && done.approach <= settings->velocityTolerance;
    rbRunShares(substeps->groups.count, GROUPS_LEAST, finishPoints, &shared);
    for (int i = 0; i < jointCount; ++i) {
        for (int k = 0; k < joints[i].rowCount; ++k) {
            task->joints[i].reactions[k] = (double)joints[i].totals[k] / task->run->h;
        }
    }
    RB_ASSERT(done.solved.gapError >= 0.0 && done.approach >= 0.0);
    done.work = rbRunElements(bodyCount, BODIES_LEAST, finishBody, &shared).sum;
    return done;
}
