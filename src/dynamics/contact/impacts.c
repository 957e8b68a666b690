// Several impacts at one instant: sequentially or simultaneously.
#include "base/core/memory.h"
#include "dynamics/contact/hits.h"
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

// All contacts, colliding or not, in the phases of hits.h: compression of all, then restitution.

#define SWEEPS_MAX 20000
#define RESIDUAL_TOLERANCE 1e-14 // of the speeds
#define GAIN_ROUNDING 1e-12      // of speeds: a gain of that times the impulses is rounding

static rbHit makeHit(rbImpactBody* bodies, const rbImpactContact* contact)
{
    rbHit hit = {.frame = rbMakeContactFrame(contact->normal),
                 .friction = contact->friction,
                 .stiction = contact->friction,
                 .restitution = contact->restitution,
                 .law = contact->law,
                 .approach = -rbDot(getVelocity(bodies, contact), contact->normal)};
    for (int i = 0; i < 2; ++i) {
        rbImpactBody* body = &bodies[i == 0 ? contact->a : contact->b];
        hit.sides[i] = (rbHitSide){.velocity = &body->velocity,
                                   .spin = &body->angularVelocity,
                                   .inverseMass = body->inverseMass,
                                   .inverseInertia = &body->inverseInertia,
                                   .arm = rbSub(contact->point, body->center)};
    }
    rbHit_Prepare(&hit);
    return hit;
}

// The friction of a round is a mean over it; where that is positive, it is not friction's.
static void finishContact(rbImpactContact* contact, const rbHit* hit, bool isRaised)
{
    rbVec3 p = hit->p;
    contact->impulse = rbMulMV(hit->frame, p);
    double sum = hit->works[0] + hit->works[1];
    contact->isEnergyRaised = isRaised && sum > 0.0;
    contact->frictionWork = fmin(0.0, hit->works[1]);
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
    static const rbFrictionBound cone = {.facets = 0};
    double speed = getScale(bodies, contacts, count);
    rbHit hits[RB_IMPACT_CONTACTS_MAX];
    rbHitGroup groups[RB_IMPACT_CONTACTS_MAX];
    rbHits all = {.hits = hits,
                  .hitCount = count,
                  .groups = groups,
                  .bound = &cone,
                  .allowed = GAIN_ROUNDING * speed,
                  .tolerance = RESIDUAL_TOLERANCE * speed,
                  .rounding = GAIN_ROUNDING * speed,
                  .sweepsMax = SWEEPS_MAX};
    for (int i = 0; i < count; ++i) {
        const rbImpactContact* contact = &contacts[i];
        bool isOfLast = i > 0 && contact->a == contact[-1].a && contact->b == contact[-1].b;
        all.groupCount += isOfLast ? 0 : 1;
        rbHitGroup* group = &groups[all.groupCount - 1];
        *group = isOfLast ? (rbHitGroup){group->firstHit, group->hitCount + 1} : (rbHitGroup){i, 1};
        hits[i] = makeHit(bodies, contact);
    }
    bool isMet = rbHits_Resolve(&all);
    for (int i = 0; i < count; ++i) {
        finishContact(&contacts[i], &hits[i], all.isRaised);
    }
    return (rbImpactsReport){
        .resolved = (int)all.sweeps, .residual = all.error, .isConverged = isMet};
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
