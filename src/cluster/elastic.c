// The parallel gas (G-44): spheres that overlap and approach exchange momentum along the line of
// centers, Newton with restitution 1. One pass over the colors a step.
//
// Overlap at the end of a step is seen a step too late at most, so the distance of a collision is
// that of the diameter less half a step of approach: pressure is first order in the step.
#include "base/core/status.h"
#include "base/core/timer.h"
#include "cluster/law.h"

static rbStatus check(const rbClusterDef* def, rbError* error)
{
    RB_INVALID_IF(
        rbLengthSquared(def->gravity) > 0.0, error,
        "the law \"elastic\" is a gas without gravity; set it to zero, or use \"granular\"");
    RB_INVALID_IF(def->wallCount > 0, error,
                  "the law \"elastic\" has no walls; use a periodic box, or \"granular\"");
    return RB_STATUS_OK;
}

static double getReach(const rbClusterDef* def)
{
    (void)def;
    return 0.0;
}

// The impulse is 2 mu (v.d)/(d.d) d: no unit vector, hence no rounding of its length.
static void collide(rbCluster* cluster, const rbNearPair* pair)
{
    rbDomain* domain = &cluster->domain;
    rbGrain* a = &domain->grains.data[pair->a];
    rbGrain* b = &domain->grains.data[pair->b];
    rbVec3 d = rbDomain_Between(domain, a, b);
    double approach = rbDot(rbSub(b->velocity, a->velocity), d);
    double square = rbLengthSquared(d);
    if (!(approach < 0.0 && square > 0.0)) {
        return;
    }
    double reduced = 1.0 / (a->inverseMass + b->inverseMass);
    rbVec3 impulse = rbScale(-2.0 * reduced * approach / square, d); // N s, on b
    a->velocity = rbAddScaled(a->velocity, -a->inverseMass, impulse);
    b->velocity = rbAddScaled(b->velocity, b->inverseMass, impulse);
    domain->stamps.data[pair->a] = domain->stamp;
    domain->stamps.data[pair->b] = domain->stamp;
    if (pair->a < domain->ownedCount) {
        ++cluster->collisions;
        rbExactSum_Add(&cluster->virial, rbDot(d, impulse));
    }
}

static void solve(rbCluster* cluster)
{
    rbDomain* domain = &cluster->domain;
    for (int c = 0; c < domain->colorCount; ++c) {
        double start = rbGetThreadTime();
        for (int i = domain->colorFirst[c]; i < domain->colorFirst[c + 1]; ++i) {
            collide(cluster, &domain->pairs.data[domain->contacts.data[i]]);
        }
        domain->busyTime += rbGetThreadTime() - start;
        rbDomain_ShareVelocities(domain, c);
    }
}

const rbLaw rbLawElastic = {
    .name = "elastic", .checkFn = check, .reachFn = getReach, .solveFn = solve};
