// Several impacts at one instant: sequentially or simultaneously.
#include "dynamics/impact/impact_words.h"

#include <float.h>
#include <math.h>

static const char* const names[RB_ORDER_COUNT] = {
    [RB_ORDER_SEQUENTIAL] = "sequential",
    [RB_ORDER_SIMULTANEOUS] = "simultaneous",
};

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

// Newton's law for all: w_n = u_n' + e min(u_n, 0) >= 0, p_n >= 0, w_n p_n = 0; friction opposes
// the velocity after the impact, |p_t| <= mu p_n. Solved contact by contact (projected
// Gauss-Seidel), and the sweeps accelerated as a conjugate gradient method (Silcowitz, Niebe,
// Erleben 2009), because the plain sweep needs time that grows with the square of a chain's length.

#define SWEEPS_MAX 20000
#define RESIDUAL_TOLERANCE 1e-14 // of the speeds

typedef struct Row {
    rbMat3 frame;
    rbVec3 before;          // u
    rbVec3 p;               // contact frame
    rbVec3 gradient;        // change of the last sweep, negated
    rbVec3 direction;       // of the conjugate step
    double bounce;          // -e min(u_n, 0)
    double normalShare;     // 1/K33
    double tangentialShare; // 1/(K11 + K22) <= 1/largest eigenvalue of the tangential block
} Row;

static void prepareRow(const rbImpactBody* bodies, const rbImpactContact* contact, Row* row)
{
    rbSym3 k;
    row->frame = rbMakeContactFrame(contact->normal);
    k = rbMakeCollisionMatrix(&bodies[contact->a], &bodies[contact->b], contact->point,
                              &row->frame);
    row->before = rbMulMtV(row->frame, getVelocity(bodies, contact));
    row->bounce = row->before.z < 0.0 ? -contact->restitution * row->before.z : 0.0;
    row->normalShare = 1.0 / k.zz;
    double half = 0.5 * (k.xx - k.yy);
    row->tangentialShare = 1.0 / (0.5 * (k.xx + k.yy) + sqrt(half * half + k.xy * k.xy));
    row->p = row->gradient = row->direction = RB_VEC3_ZERO;
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
    p.z = fmax(0.0, p.z - row->normalShare * (u.z - row->bounce));
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
static double accelerate(rbImpactBody* bodies, const rbImpactContact* contacts, Row* rows,
                         int count, double lastSquare)
{
    double square = 0.0;
    for (int i = 0; i < count; ++i) {
        square += rbLengthSquared(rows[i].gradient);
    }
    double beta = lastSquare > 0.0 ? square / lastSquare : 2.0;
    for (int i = 0; i < count; ++i) {
        Row* row = &rows[i];
        if (beta > 1.0) {
            row->direction = RB_VEC3_ZERO;
            continue;
        }
        rbVec3 p = rbAddScaled(row->p, beta, row->direction);
        row->direction = rbAddScaled(rbNeg(row->gradient), beta, row->direction);
        p.z = fmax(0.0, p.z);
        changeImpulse(bodies, &contacts[i], row, clampTangential(p, contacts[i].friction * p.z));
    }
    return square;
}

static void finishRow(const rbImpactBody* bodies, rbImpactContact* contact, const Row* row)
{
    rbVec3 after = rbMulMtV(row->frame, getVelocity(bodies, contact));
    rbVec3 mean = rbScale(0.5, rbAdd(row->before, after));
    rbVec3 p = row->p;
    contact->impulse = rbMulMV(row->frame, p);
    contact->normalWork = p.z * mean.z;
    contact->frictionWork = p.x * mean.x + p.y * mean.y;
    double tangential = sqrt(p.x * p.x + p.y * p.y);
    bool isSliding = tangential >= contact->friction * p.z * (1.0 - 1e-9);
    rbImpactPhase phase = contact->friction == 0.0 ? RB_PHASE_SMOOTH
                          : isSliding              ? RB_PHASE_SLIDE
                                                   : RB_PHASE_STICK;
    contact->history = p.z > 0.0 ? (uint32_t)phase : 0;
}

static rbImpactsReport resolveTogether(rbImpactBody* bodies, rbImpactContact* contacts, int count)
{
    Row rows[RB_IMPACT_CONTACTS_MAX];
    double tolerance = RESIDUAL_TOLERANCE * getScale(bodies, contacts, count);
    for (int i = 0; i < count; ++i) {
        prepareRow(bodies, &contacts[i], &rows[i]);
    }
    rbImpactsReport report = {0};
    double square = 0.0;
    while (!report.isConverged && report.resolved < SWEEPS_MAX) {
        report.residual = 0.0;
        for (int i = 0; i < count; ++i) {
            rbVec3 before = rows[i].p;
            double miss = relax(bodies, &contacts[i], &rows[i]);
            report.residual = fmax(report.residual, miss);
            rows[i].gradient = rbSub(before, rows[i].p);
        }
        report.resolved += 1;
        report.isConverged = report.residual <= tolerance;
        if (!report.isConverged) {
            square = accelerate(bodies, contacts, rows, count, square);
        }
    }
    for (int i = 0; i < count; ++i) {
        finishRow(bodies, &contacts[i], &rows[i]);
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
    }
    return resolvers[order](bodies, contacts, count);
}
