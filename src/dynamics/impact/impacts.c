// Several impacts at one instant: sequentially or simultaneously.
#include "base/core/memory.h"
#include "dynamics/impact/energy_line.h"
#include "dynamics/impact/impact_law.h"
#include "dynamics/impact/impact_words.h"

#include <float.h>
#include <math.h>

static const char* const names[RB_ORDER_COUNT] = {
    [RB_ORDER_SEQUENTIAL] = "sequential", [RB_ORDER_SIMULTANEOUS] = "simultaneous"};

RB_DEFINE_WORDS(rbImpactOrder, "order of impacts", RB_ORDER_COUNT, names[index])

static rbVec3 getVelocity(const rbImpactBody* bodies, const rbImpactContact* contact)
{
    return rbGetRelativeVelocity(&bodies[contact->a], &bodies[contact->b], contact->point);
}

// Speeds of the material points at the contact, the scale of rounding in u.
static double getScale(const rbImpactBody* bodies, const rbImpactContact* contacts, int count)
{
    double scale = 0.0;
    for (int i = 0; i < count; ++i) {
        for (int side = 0; side < 2; ++side) {
            const rbImpactBody* body = &bodies[side == 0 ? contacts[i].a : contacts[i].b];
            double arm = rbDistance(contacts[i].point, body->center);
            double speed = rbLength(body->velocity) + rbLength(body->angularVelocity) * arm;
            scale = speed > scale ? speed : scale;
        }
    }
    return scale;
}

// -------------------------------------------------------------------------------- sequential

#define ROUNDING_FACTOR 16.0 // of an epsilon of the speeds: slower approaches count as rounding

static int findFastest(const rbImpactBody* bodies, const rbImpactContact* contacts, int count,
                       double* speed)
{
    int fastest = -1;
    *speed = 0.0;
    for (int i = 0; i < count; ++i) {
        double approach = -rbDot(getVelocity(bodies, &contacts[i]), contacts[i].normal);
        if (approach > *speed) {
            *speed = approach;
            fastest = i;
        }
    }
    return fastest;
}

static void resolveOne(rbImpactBody* bodies, rbImpactContact* contact)
{
    rbImpactBody* a = &bodies[contact->a];
    rbImpactBody* b = &bodies[contact->b];
    rbMat3 frame = rbMakeContactFrame(contact->normal);
    rbImpactInput input = {
        .matrix = rbMakeCollisionMatrix(a, b, contact->point, &frame),
        .velocity = rbMulMtV(frame, rbGetRelativeVelocity(a, b, contact->point)),
        .restitution = contact->restitution,
        .friction = contact->friction,
        .law = contact->law,
    };
    rbImpactResult result;
    rbResolveImpact(&input, &result);
    rbVec3 impulse = rbMulMV(frame, result.impulse);
    rbApplyContactImpulse(a, b, contact->point, impulse);
    contact->impulse = rbAdd(contact->impulse, impulse);
    contact->history = result.history != 0 ? result.history : contact->history;
    contact->normalWork += result.normalWork;
    contact->frictionWork += result.frictionWork;
    contact->isEnergyRaised = contact->isEnergyRaised || result.isEnergyRaised;
}

static rbImpactsReport resolveSequence(rbImpactBody* bodies, rbImpactContact* contacts, int count)
{
    // Elastic bodies separate after a number of impacts that grows with the square of the number of
    // bodies; inelastic ones approach ever more slowly, by a constant factor per impact, down to
    // rounding.
    int limit = 1000 + 200 * count;
    double rounding = ROUNDING_FACTOR * DBL_EPSILON * getScale(bodies, contacts, count);
    rbImpactsReport report = {0};
    for (;;) {
        int fastest = findFastest(bodies, contacts, count, &report.residual);
        report.isConverged = report.residual <= rounding;
        if (report.isConverged || report.resolved >= limit) {
            return report;
        }
        resolveOne(bodies, &contacts[fastest]);
        report.resolved += 1;
    }
}

// ------------------------------------------------------------------------------ simultaneous

// First phase: 0 <= p_n complementary to u_n' - target >= 0; friction opposes the velocity after
// it, |p_t| <= mu p_n. Second phase: restitution adds its share of p_n, which is now the least that
// acts, with the target 0 (Glocker and Pfeiffer 1995). Solved contact by contact (projected
// Gauss-Seidel), and the sweeps accelerated as a conjugate gradient method (Silcowitz, Niebe,
// Erleben 2009), because the plain sweep needs time that grows with the square of a chain's length.

#define SWEEPS_MAX 20000
#define RESIDUAL_TOLERANCE 1e-14 // of the speeds
#define GAIN_ROUNDING 1e-12      // of impulses times speeds: a smaller gain is rounding

typedef struct Row {
    rbMat3 frame;
    rbVec3 before;          // u at the start of the phase
    rbVec3 start;           // p there
    rbVec3 p;               // contact frame
    rbVec3 gradient;        // change of the last sweep, negated
    rbVec3 direction;       // of the conjugate step
    double target;          // u_n after the phase
    double least;           // p_n
    double normalShare;     // 1/K33
    double tangentialShare; // 1/(K11 + K22) <= 1/largest eigenvalue of the tangential block
} Row;

// Contacts that are resolved together.
typedef struct Together {
    rbImpactBody* bodies;
    rbImpactContact* contacts;
    int count;
    double tolerance; // m/s
    bool mayGain;     // a law among them may raise the energy
    Row rows[RB_IMPACT_CONTACTS_MAX];
} Together;

static void prepareRow(const rbImpactBody* bodies, const rbImpactContact* contact, Row* row)
{
    rbSym3 k;
    row->frame = rbMakeContactFrame(contact->normal);
    k = rbMakeCollisionMatrix(&bodies[contact->a], &bodies[contact->b], contact->point,
                              &row->frame);
    row->before = rbMulMtV(row->frame, getVelocity(bodies, contact));
    row->target = rbImpactLaw_GetTarget(contact->law, contact->restitution, row->before.z);
    row->normalShare = 1.0 / k.zz;
    row->tangentialShare = 1.0 / rbFindLargest(k.xx, k.yy, k.xy);
    row->p = row->start = RB_VEC3_ZERO;
    row->least = 0.0;
}

static void changeImpulse(rbImpactBody* bodies, const rbImpactContact* contact, Row* row, rbVec3 p)
{
    rbVec3 change = rbMulMV(row->frame, rbSub(p, row->p));
    rbApplyContactImpulse(&bodies[contact->a], &bodies[contact->b], contact->point, change);
    row->p = p;
}

static rbVec3 clampTangential(rbVec3 p, double limit)
{
    double length = sqrt(p.x * p.x + p.y * p.y);
    double factor = length > limit ? limit / length : 1.0;
    return rbMakeVec3(factor * p.x, factor * p.y, p.z);
}

// Solves one contact with the others fixed. Returns the residual as a velocity.
static double relax(rbImpactBody* bodies, const rbImpactContact* contact, Row* row)
{
    rbVec3 u = rbMulMtV(row->frame, getVelocity(bodies, contact));
    rbVec3 p = row->p;
    p.z = fmax(row->least, p.z - row->normalShare * (u.z - row->target));
    double miss = fabs(p.z - row->p.z) / row->normalShare;
    p = clampTangential(p, contact->friction * p.z);
    changeImpulse(bodies, contact, row, p);
    if (contact->friction > 0.0) {
        u = rbMulMtV(row->frame, getVelocity(bodies, contact));
        p.x -= row->tangentialShare * u.x;
        p.y -= row->tangentialShare * u.y;
        p = clampTangential(p, contact->friction * p.z);
        double change = fmax(fabs(p.x - row->p.x), fabs(p.y - row->p.y));
        miss = fmax(miss, change / row->tangentialShare);
        changeImpulse(bodies, contact, row, p);
    }
    return miss;
}

// Steps along the conjugate direction after a sweep; a growing gradient restarts it. Returns the
// square of the gradient.
static double accelerate(Together* all, double lastSquare)
{
    double square = 0.0;
    for (int i = 0; i < all->count; ++i) {
        square += rbLengthSquared(all->rows[i].gradient);
    }
    double beta = lastSquare > 0.0 ? square / lastSquare : 2.0;
    for (int i = 0; i < all->count; ++i) {
        Row* row = &all->rows[i];
        const rbImpactContact* contact = &all->contacts[i];
        if (beta > 1.0) {
            row->direction = RB_VEC3_ZERO;
            continue;
        }
        rbVec3 p = rbAddScaled(row->p, beta, row->direction);
        row->direction = rbAddScaled(rbNeg(row->gradient), beta, row->direction);
        p.z = fmax(row->least, p.z);
        changeImpulse(all->bodies, contact, row, clampTangential(p, contact->friction * p.z));
    }
    return square;
}

// One phase.
static void solvePhase(Together* all, rbImpactsReport* report)
{
    double square = 0.0;
    double residual = INFINITY;
    for (int i = 0; i < all->count; ++i) {
        all->rows[i].gradient = all->rows[i].direction = RB_VEC3_ZERO;
    }
    for (int sweep = 0; sweep < SWEEPS_MAX && !(residual <= all->tolerance); ++sweep) {
        rbPoll();
        square = sweep > 0 ? accelerate(all, square) : square;
        residual = 0.0;
        for (int i = 0; i < all->count; ++i) {
            Row* row = &all->rows[i];
            rbVec3 before = row->p;
            residual = fmax(residual, relax(all->bodies, &all->contacts[i], row));
            row->gradient = rbSub(before, row->p);
        }
        report->resolved += 1;
    }
    report->residual = fmax(report->residual, residual);
}

// Energy of the phase over the part of its impulses.
static rbEnergyLine drawLine(const Together* all)
{
    rbEnergyLine line = {0};
    for (int i = 0; i < all->count; ++i) {
        const Row* row = &all->rows[i];
        rbVec3 p = rbSub(row->p, row->start);
        rbVec3 after = rbMulMtV(row->frame, getVelocity(all->bodies, &all->contacts[i]));
        line.slope += rbDot(p, row->before);
        line.square += 0.5 * rbDot(p, rbSub(after, row->before));
    }
    return line;
}

// Ends a phase that may raise the energy by no more than room, unless by a law. Returns the rise.
static double endPhase(Together* all, double room)
{
    rbEnergyLine line = drawLine(all);
    double part = all->mayGain ? 1.0 : rbEnergyLine_FindPart(&line, room);
    for (int i = 0; i < all->count && part < 1.0; ++i) {
        Row* row = &all->rows[i];
        rbVec3 p = rbAddScaled(row->start, part, rbSub(row->p, row->start));
        changeImpulse(all->bodies, &all->contacts[i], row, p);
    }
    line = drawLine(all);
    for (int i = 0; i < all->count; ++i) {
        Row* row = &all->rows[i];
        rbImpactContact* contact = &all->contacts[i];
        rbVec3 after = rbMulMtV(row->frame, getVelocity(all->bodies, contact));
        rbVec3 mean = rbScale(0.5, rbAdd(row->before, after));
        rbVec3 p = rbSub(row->p, row->start);
        contact->normalWork += p.z * mean.z;
        contact->frictionWork += p.x * mean.x + p.y * mean.y;
        row->before = after;
        row->start = row->p;
    }
    return rbEnergyLine_GetRise(&line);
}

// Adds the impulses of restitution. Returns the most energy that they may return.
static double beginRestitution(Together* all)
{
    double room = 0.0;
    for (int i = 0; i < all->count; ++i) {
        Row* row = &all->rows[i];
        const rbImpactContact* contact = &all->contacts[i];
        double share = rbImpactLaw_GetShare(contact->law, contact->restitution);
        row->least = share > 0.0 ? (1.0 + share) * row->p.z : 0.0;
        room += rbImpactLaw_GetReturn(contact->law, contact->restitution, contact->normalWork);
        rbVec3 p = rbMakeVec3(row->p.x, row->p.y, fmax(row->least, row->p.z));
        changeImpulse(all->bodies, contact, row, p);
    }
    return room;
}

// The friction of a round is a mean over it; where that is positive, it is not friction's.
static void finishRow(rbImpactContact* contact, const Row* row, bool isRaised)
{
    rbVec3 p = row->p;
    contact->impulse = rbMulMV(row->frame, p);
    double sum = contact->normalWork + contact->frictionWork;
    contact->isEnergyRaised = isRaised && sum > 0.0;
    contact->frictionWork = fmin(0.0, contact->frictionWork);
    contact->normalWork = sum - contact->frictionWork;
    double tangential = sqrt(p.x * p.x + p.y * p.y);
    bool isSliding = tangential >= contact->friction * p.z * (1.0 - 1e-9);
    uint32_t phase = contact->friction == 0.0 ? RB_PHASE_SMOOTH
                     : isSliding              ? RB_PHASE_SLIDE
                                              : RB_PHASE_STICK;
    phase |= contact->isEnergyRaised ? (uint32_t)RB_PHASE_GAINS << 4 : 0;
    contact->history = p.z > 0.0 ? phase : 0;
}

static rbImpactsReport resolveTogether(rbImpactBody* bodies, rbImpactContact* contacts, int count)
{
    double speed = getScale(bodies, contacts, count);
    Together all = {.bodies = bodies,
                    .contacts = contacts,
                    .count = count,
                    .tolerance = RESIDUAL_TOLERANCE * speed};
    bool hasRestitution = false;
    double rounding = 0.0;
    for (int i = 0; i < count; ++i) {
        const rbImpactContact* contact = &contacts[i];
        all.mayGain = all.mayGain || rbGetImpactLaw(contact->law)->mayGain;
        hasRestitution =
            hasRestitution || rbImpactLaw_GetShare(contact->law, contact->restitution) > 0.0;
        prepareRow(bodies, contact, &all.rows[i]);
    }
    rbImpactsReport report = {0};
    solvePhase(&all, &report);
    double rise = endPhase(&all, 0.0);
    if (hasRestitution) {
        double room = beginRestitution(&all);
        solvePhase(&all, &report);
        rise += endPhase(&all, fmin(room, fmax(0.0, -rise)));
    }
    report.isConverged = report.residual <= all.tolerance;
    for (int i = 0; i < count; ++i) {
        rounding += GAIN_ROUNDING * speed * rbLength(all.rows[i].p);
    }
    RB_ASSERT(all.mayGain || rise <= rounding);
    for (int i = 0; i < count; ++i) {
        finishRow(&contacts[i], &all.rows[i], rise > rounding);
    }
    return report;
}

typedef rbImpactsReport ResolveFn(rbImpactBody* bodies, rbImpactContact* contacts, int count);

static ResolveFn* const resolvers[RB_ORDER_COUNT] = {
    [RB_ORDER_SEQUENTIAL] = resolveSequence,
    [RB_ORDER_SIMULTANEOUS] = resolveTogether,
};

rbImpactsReport rbResolveImpacts(rbImpactBody* bodies, rbImpactContact* contacts, int count,
                                 rbImpactOrder order)
{
    RB_ASSERT(count >= 0 && count <= RB_IMPACT_CONTACTS_MAX);
    RB_ASSERT((int)order >= 0 && order < RB_ORDER_COUNT);
    for (int i = 0; i < count; ++i) {
        rbImpactContact* contact = &contacts[i];
        RB_ASSERT(contact->a != contact->b);
        RB_ASSERT(contact->restitution >= 0.0);
        RB_ASSERT(contact->friction >= 0.0);
        contact->impulse = RB_VEC3_ZERO;
        contact->history = 0;
        contact->normalWork = contact->frictionWork = 0.0;
        contact->isEnergyRaised = false;
    }
    return resolvers[order](bodies, contacts, count);
}
