// Granular contact of spheres on domains: hard contact with Coulomb friction and restitution,
// solved by sweeps over the colors.
//
// A contact asks that its points separate at least with the speed `target` along the normal, and
// limits friction to the cone. For a gap g > 0 the target is -g/h: what closes the gap within the
// step and no more. An overlap is pushed out by a fifth per step, beyond a small part of the radius
// that is allowed: otherwise contacts would come and go. Where bodies approach fast, restitution
// asks for the reflected speed.
//
// Impulses of the last step are the first guess. They depend on what both owners remember only, so
// every owner adds them to its bodies in the order of colors, and one message brings the sum to the
// ghosts; a sweep sends one message per color and neighbor.
#include "base/core/status.h"
#include "base/core/timer.h"
#include "cluster/law.h"

#include <math.h>

// Parts of the largest radius: surfaces that are closer are a contact; overlaps that stay.
#define REACH_PART 0.1
#define SLOP_PART 1e-3
#define PUSH_PART 0.2 // of an overlap per step
// Approaches slower than what gravity gives in this many steps do not rebound: bodies come to rest.
#define REST_STEPS 4.0

static rbStatus check(const rbClusterDef* def, rbError* error)
{
    (void)def;
    (void)error;
    return RB_STATUS_OK;
}

static double getReach(const rbClusterDef* def)
{
    return REACH_PART * def->radiusMax;
}

// Velocity of b relative to a at the contact.
static rbVec3 slipOf(const rbDomain* domain, const rbRow* row)
{
    const rbGrain* a = &domain->grains.data[row->a];
    rbVec3 atA = rbAdd(a->velocity, rbScale(row->radiusA, rbCross(a->spin, row->normal)));
    if (row->b < 0) {
        return rbNeg(atA);
    }
    const rbGrain* b = &domain->grains.data[row->b];
    rbVec3 atB = rbSub(b->velocity, rbScale(row->radiusB, rbCross(b->spin, row->normal)));
    return rbSub(atB, atA);
}

// Adds an impulse on b, N s, to one of the two bodies.
static void pushA(rbDomain* domain, const rbRow* row, rbVec3 impulse)
{
    rbGrain* a = &domain->grains.data[row->a];
    a->velocity = rbAddScaled(a->velocity, -a->inverseMass, impulse);
    a->spin =
        rbAddScaled(a->spin, -a->inverseInertia * row->radiusA, rbCross(row->normal, impulse));
    domain->stamps.data[row->a] = domain->stamp;
}

static void pushB(rbDomain* domain, const rbRow* row, rbVec3 impulse)
{
    if (row->b >= 0) {
        rbGrain* b = &domain->grains.data[row->b];
        b->velocity = rbAddScaled(b->velocity, b->inverseMass, impulse);
        b->spin =
            rbAddScaled(b->spin, -b->inverseInertia * row->radiusB, rbCross(row->normal, impulse));
        domain->stamps.data[row->b] = domain->stamp;
    }
}

// Shortens an impulse so that it is in the cone of friction.
static rbVec3 limitToCone(rbVec3 impulse, rbVec3 normal, double friction)
{
    double along = fmax(rbDot(impulse, normal), 0.0);
    rbVec3 across = rbAddScaled(impulse, -rbDot(impulse, normal), normal);
    double length = rbLength(across);
    double limit = friction * along;
    rbVec3 kept = length > limit ? rbScale(limit / length, across) : across;
    return rbAddScaled(kept, along, normal);
}

static rbRow prepare(rbCluster* cluster, int pairIndex)
{
    rbDomain* domain = &cluster->domain;
    const rbNearPair* pair = &domain->pairs.data[pairIndex];
    const rbGrain* a = &domain->grains.data[pair->a];
    const rbGrain* b = pair->b >= 0 ? &domain->grains.data[pair->b] : NULL;
    rbRow row = {.a = pair->a, .b = pair->b, .pair = pairIndex, .radiusA = a->radius};
    double gap = 0.0;
    double normalInverse = a->inverseMass;
    double tangentialInverse = a->inverseMass + a->radius * a->radius * a->inverseInertia;
    if (b != NULL) {
        rbVec3 d = rbDomain_Between(domain, a, b);
        double distance = rbLength(d);
        row.normal = distance > 0.0 ? rbScale(1.0 / distance, d) : rbMakeVec3(0.0, 0.0, 1.0);
        row.radiusB = b->radius;
        gap = distance - (a->radius + b->radius);
        normalInverse += b->inverseMass;
        tangentialInverse += b->inverseMass + b->radius * b->radius * b->inverseInertia;
    } else {
        const rbHalfSpace* wall = &domain->def.walls[-1 - pair->b];
        row.normal = rbNeg(wall->normal);
        gap = rbDot(wall->normal, a->position) - wall->offset - a->radius;
    }
    row.normalMass = 1.0 / normalInverse;
    row.tangentialMass = 1.0 / tangentialInverse;
    double dt = cluster->def.step;
    double approach = -rbDot(slipOf(domain, &row), row.normal);
    double slop = SLOP_PART * cluster->def.radiusMax;
    row.target = gap > 0.0 ? -gap / dt : PUSH_PART * fmax(-gap - slop, 0.0) / dt;
    double rest = REST_STEPS * dt * rbLength(cluster->def.gravity);
    if (approach > rest && approach * dt > gap) {
        row.target = fmax(row.target, cluster->def.restitution * approach);
    }
    row.impulse = limitToCone(pair->impulse, row.normal, cluster->def.friction);
    cluster->penetrationMax = fmax(cluster->penetrationMax, -gap);
    return row;
}

// One contact of a sweep: the normal impulse, then friction.
static void solveRow(rbDomain* domain, rbRow* row, double friction)
{
    rbVec3 slip = slipOf(domain, row);
    double speed = rbDot(slip, row->normal);
    double along = rbDot(row->impulse, row->normal);
    double wanted = fmax(along + row->normalMass * (row->target - speed), 0.0);
    rbVec3 across = rbAddScaled(row->impulse, -along, row->normal);
    rbVec3 sliding = rbAddScaled(slip, -speed, row->normal);
    across = rbAddScaled(across, -row->tangentialMass, sliding);
    double limit = friction * wanted;
    double length = rbLength(across);
    across = length > limit ? rbScale(limit / length, across) : across;
    rbVec3 impulse = rbAddScaled(across, wanted, row->normal);
    rbVec3 change = rbSub(impulse, row->impulse);
    row->impulse = impulse;
    if (change.x != 0.0 || change.y != 0.0 || change.z != 0.0) {
        pushA(domain, row, change);
        pushB(domain, row, change);
    }
}

static void solve(rbCluster* cluster)
{
    rbDomain* domain = &cluster->domain;
    double start = rbGetThreadTime();
    cluster->rows.count = 0;
    cluster->penetrationMax = 0.0;
    for (int i = 0; i < domain->contacts.count; ++i) {
        rbArray_Push(cluster->rows, prepare(cluster, domain->contacts.data[i]));
    }
    // All rows are prepared before the first impulse. Ghosts get theirs from their owners.
    for (int i = 0; i < cluster->rows.count; ++i) {
        rbRow* row = &cluster->rows.data[i];
        if (row->a < domain->ownedCount) {
            pushA(domain, row, row->impulse);
        }
        if (row->b < domain->ownedCount) {
            pushB(domain, row, row->impulse);
        }
    }
    domain->busyTime += rbGetThreadTime() - start;
    rbDomain_ShareVelocities(domain, -1);
    for (int sweep = 0; sweep < cluster->def.sweeps; ++sweep) {
        for (int c = 0; c < domain->colorCount; ++c) {
            start = rbGetThreadTime();
            for (int i = domain->colorFirst[c]; i < domain->colorFirst[c + 1]; ++i) {
                solveRow(domain, &cluster->rows.data[i], cluster->def.friction);
            }
            domain->busyTime += rbGetThreadTime() - start;
            rbDomain_ShareVelocities(domain, c);
        }
    }
    for (int i = 0; i < cluster->rows.count; ++i) {
        const rbRow* row = &cluster->rows.data[i];
        domain->pairs.data[row->pair].impulse = row->impulse;
    }
}

const rbLaw rbLawGranular = {
    .name = "granular", .checkFn = check, .reachFn = getReach, .solveFn = solve};
