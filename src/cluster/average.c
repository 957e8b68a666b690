// Averages over the spheres whose centers are in a box: sums are exact, so they are the same bits
// on any number of ranks. What a contact adds to the stress follows from the state: from its
// impulse in the last step and from where its bodies are now.
#include "cluster/law.h"

#include <math.h>
#include <string.h>

typedef enum SumName {
    SUM_MASS,
    SUM_VOLUME,
    SUM_X, // momentum
    SUM_Y,
    SUM_Z,
    SUM_XX, // of the stress, times the volume of the box
    SUM_YY,
    SUM_ZZ,
    SUM_XY,
    SUM_XZ,
    SUM_YZ,
    SUM_COUNT
} SumName;

typedef struct Sums {
    rbExactSum sums[SUM_COUNT];
    int64_t counts[2]; // of bodies, and of contacts of a body with another one
    rbBounds box;
    double inverseStep; // 1/s
} Sums;

static bool isInside(const rbBounds* box, rbVec3 p)
{
    return p.x >= box->lower.x && p.y >= box->lower.y && p.z >= box->lower.z &&
           p.x <= box->upper.x && p.y <= box->upper.y && p.z <= box->upper.z;
}

// The symmetric part of the product of two vectors.
static void addProduct(Sums* s, rbVec3 a, rbVec3 b)
{
    rbExactSum_Add(&s->sums[SUM_XX], a.x * b.x);
    rbExactSum_Add(&s->sums[SUM_YY], a.y * b.y);
    rbExactSum_Add(&s->sums[SUM_ZZ], a.z * b.z);
    rbExactSum_Add(&s->sums[SUM_XY], 0.5 * (a.x * b.y + a.y * b.x));
    rbExactSum_Add(&s->sums[SUM_XZ], 0.5 * (a.x * b.z + a.z * b.x));
    rbExactSum_Add(&s->sums[SUM_YZ], 0.5 * (a.y * b.z + a.z * b.y));
}

// Each body has the part of a contact that its own lever gives: with the normal from a to b, the
// impulse on b and levers r n and -r n both are r n times the impulse, positive in compression.
static void addContact(Sums* s, const rbDomain* domain, const rbNearPair* pair)
{
    const rbGrain* a = &domain->grains.data[pair->a];
    rbVec3 normal;
    if (pair->b < 0) {
        int facet = -1 - pair->b;
        normal = rbNeg(rbWalls_FindClosest(&domain->walls, facet, a->position).normal);
    } else {
        const rbGrain* b = &domain->grains.data[pair->b];
        rbVec3 d = rbDomain_Between(domain, a, b);
        double distance = rbLength(d);
        normal = distance > 0.0 ? rbScale(1.0 / distance, d) : rbMakeVec3(0.0, 0.0, 1.0);
        if (pair->b < domain->ownedCount && isInside(&s->box, b->position)) {
            addProduct(s, rbScale(b->radius * s->inverseStep, normal), pair->impulse);
            ++s->counts[1];
        }
    }
    if (pair->a < domain->ownedCount && isInside(&s->box, a->position)) {
        addProduct(s, rbScale(a->radius * s->inverseStep, normal), pair->impulse);
        s->counts[1] += pair->b >= 0;
    }
}

static void addBody(Sums* s, const rbGrain* grain)
{
    double mass = 1.0 / grain->inverseMass;
    double r = grain->radius;
    ++s->counts[0];
    rbExactSum_Add(&s->sums[SUM_MASS], mass);
    rbExactSum_Add(&s->sums[SUM_VOLUME], 4.0 / 3.0 * RB_PI * r * r * r);
    rbExactSum_Add(&s->sums[SUM_X], mass * grain->velocity.x);
    rbExactSum_Add(&s->sums[SUM_Y], mass * grain->velocity.y);
    rbExactSum_Add(&s->sums[SUM_Z], mass * grain->velocity.z);
    addProduct(s, rbScale(mass, grain->velocity), grain->velocity);
}

// Without what the motion of the center of mass adds.
static rbMat3 stressOf(const double* sums, double mass, rbVec3 v, double volume)
{
    double xx = (sums[SUM_XX] - mass * v.x * v.x) / volume;
    double yy = (sums[SUM_YY] - mass * v.y * v.y) / volume;
    double zz = (sums[SUM_ZZ] - mass * v.z * v.z) / volume;
    double xy = (sums[SUM_XY] - mass * v.x * v.y) / volume;
    double xz = (sums[SUM_XZ] - mass * v.x * v.z) / volume;
    double yz = (sums[SUM_YZ] - mass * v.y * v.z) / volume;
    return (rbMat3){{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}};
}

rbClusterAverage rbCluster_Average(rbCluster* cluster, rbBounds box)
{
    rbDomain* domain = &cluster->domain;
    Sums s = {.box = box, .inverseStep = 1.0 / cluster->def.step};
    rbCluster_Build(cluster);
    // where walls are now, not at the start of the last step
    rbWalls_Move(&domain->walls, rbCluster_GetTime(cluster), cluster->def.step);
    for (int i = 0; i < domain->pairs.count; ++i) {
        const rbNearPair* pair = &domain->pairs.data[i];
        if (pair->color >= 0 && rbLengthSquared(pair->impulse) > 0.0) {
            addContact(&s, domain, pair);
        }
    }
    for (int i = 0; i < domain->ownedCount; ++i) {
        if (isInside(&box, domain->grains.data[i].position)) {
            addBody(&s, &domain->grains.data[i]);
        }
    }
    rbRanks_SumIntegers(cluster->ranks, s.counts, 2);
    rbRanks_SumExact(cluster->ranks, s.sums, SUM_COUNT);
    double sums[SUM_COUNT];
    for (int i = 0; i < SUM_COUNT; ++i) {
        sums[i] = rbExactSum_Round(&s.sums[i]);
    }
    rbVec3 size = rbSub(box.upper, box.lower);
    double volume = size.x * size.y * size.z;
    double mass = sums[SUM_MASS];
    rbClusterAverage average = {
        .count = s.counts[0], .mass = mass, .solidFraction = sums[SUM_VOLUME] / volume};
    if (s.counts[0] > 0) {
        average.velocity = rbMakeVec3(sums[SUM_X] / mass, sums[SUM_Y] / mass, sums[SUM_Z] / mass);
        average.coordination = (double)s.counts[1] / (double)s.counts[0];
        average.stress = stressOf(sums, mass, average.velocity, volume);
    }
    return average;
}
