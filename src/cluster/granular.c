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
        return rbSub(row->wallVelocity, atA);
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

// Velocity of rotation of b relative to a, without that about the normal.
static rbVec3 rollingOf(const rbDomain* domain, const rbRow* row)
{
    rbVec3 spinB = row->b >= 0 ? domain->grains.data[row->b].spin : row->wallSpin;
    rbVec3 spin = rbSub(spinB, domain->grains.data[row->a].spin);
    return rbAddScaled(spin, -rbDot(spin, row->normal), row->normal);
}

// Adds an angular impulse on b, N m s, to one of the two bodies.
static void turnA(rbDomain* domain, const rbRow* row, rbVec3 roll)
{
    rbGrain* a = &domain->grains.data[row->a];
    a->spin = rbAddScaled(a->spin, -a->inverseInertia, roll);
    domain->stamps.data[row->a] = domain->stamp;
}

static void turnB(rbDomain* domain, const rbRow* row, rbVec3 roll)
{
    if (row->b >= 0) {
        rbGrain* b = &domain->grains.data[row->b];
        b->spin = rbAddScaled(b->spin, b->inverseInertia, roll);
        domain->stamps.data[row->b] = domain->stamp;
    }
}

static rbVec3 shorten(rbVec3 v, double limit)
{
    double length = rbLength(v);
    return length > limit ? rbScale(limit / length, v) : v;
}

// Shortens an impulse so that it is in the cone of friction.
static rbVec3 limitToCone(rbVec3 impulse, rbVec3 normal, double friction)
{
    double along = fmax(rbDot(impulse, normal), 0.0);
    rbVec3 across = rbAddScaled(impulse, -rbDot(impulse, normal), normal);
    return rbAddScaled(shorten(across, friction * along), along, normal);
}

// Where a wall is, and how it moves; returns the gap.
static double prepareWall(const rbCluster* cluster, rbRow* row, int* material)
{
    const rbWalls* walls = &cluster->domain.walls;
    const rbGrain* a = &cluster->domain.grains.data[row->a];
    int facet = -1 - row->b;
    rbClosest closest = rbWalls_FindClosest(walls, facet, a->position);
    row->normal = rbNeg(closest.normal);
    row->wallVelocity =
        rbWalls_GetVelocity(walls, facet, &closest, cluster->def.step, &row->wallSpin);
    *material = walls->facets.data[facet].material;
    return closest.distance - a->radius;
}

static double prepareBody(const rbDomain* domain, rbRow* row, int* material)
{
    const rbGrain* a = &domain->grains.data[row->a];
    const rbGrain* b = &domain->grains.data[row->b];
    rbVec3 d = rbDomain_Between(domain, a, b);
    double distance = rbLength(d);
    row->normal = distance > 0.0 ? rbScale(1.0 / distance, d) : rbMakeVec3(0.0, 0.0, 1.0);
    row->radiusB = b->radius;
    *material = (int)b->material;
    return distance - (a->radius + b->radius);
}

static void prepareMasses(const rbDomain* domain, rbRow* row)
{
    const rbGrain* a = &domain->grains.data[row->a];
    double normal = a->inverseMass;
    double tangential = a->inverseMass + a->radius * a->radius * a->inverseInertia;
    double rolling = a->inverseInertia;
    if (row->b >= 0) {
        const rbGrain* b = &domain->grains.data[row->b];
        normal += b->inverseMass;
        tangential += b->inverseMass + b->radius * b->radius * b->inverseInertia;
        rolling += b->inverseInertia;
    }
    row->normalMass = 1.0 / normal;
    row->tangentialMass = 1.0 / tangential;
    row->rollingInertia = 1.0 / rolling;
}

static rbRow prepare(rbCluster* cluster, int pairIndex)
{
    rbDomain* domain = &cluster->domain;
    const rbNearPair* pair = &domain->pairs.data[pairIndex];
    const rbGrain* a = &domain->grains.data[pair->a];
    rbRow row = {.a = pair->a, .b = pair->b, .pair = pairIndex, .radiusA = a->radius};
    int material = 0;
    double gap =
        pair->b >= 0 ? prepareBody(domain, &row, &material) : prepareWall(cluster, &row, &material);
    prepareMasses(domain, &row);
    const rbClusterPair* law =
        &cluster->pairs[(int)a->material * RB_CLUSTER_MATERIALS_MAX + material];
    row.friction = law->friction;
    row.rolling = law->rolling;
    double dt = cluster->def.step;
    double approach = -rbDot(slipOf(domain, &row), row.normal);
    double slop = SLOP_PART * cluster->def.radiusMax;
    row.target = gap > 0.0 ? -gap / dt : PUSH_PART * fmax(-gap - slop, 0.0) / dt;
    double rest = fmax(REST_STEPS * dt * rbLength(cluster->def.gravity), cluster->def.restSpeed);
    if (approach > rest && approach * dt > gap) {
        row.target = fmax(row.target, law->restitution * approach);
    }
    row.impulse = limitToCone(pair->impulse, row.normal, row.friction);
    double along = rbDot(row.impulse, row.normal);
    rbVec3 roll = rbAddScaled(pair->roll, -rbDot(pair->roll, row.normal), row.normal);
    row.roll = shorten(roll, row.rolling * along);
    cluster->penetrationMax = fmax(cluster->penetrationMax, -gap);
    return row;
}

// Torque against rolling, up to what the normal impulse allows.
static void solveRolling(rbDomain* domain, rbRow* row, double along)
{
    if (row->rolling <= 0.0) {
        return;
    }
    rbVec3 roll = rbAddScaled(row->roll, -row->rollingInertia, rollingOf(domain, row));
    roll = shorten(roll, row->rolling * along);
    rbVec3 change = rbSub(roll, row->roll);
    row->roll = roll;
    if (change.x != 0.0 || change.y != 0.0 || change.z != 0.0) {
        turnA(domain, row, change);
        turnB(domain, row, change);
    }
}

// One contact of a sweep: the normal impulse, then friction, then rolling.
static void solveRow(rbDomain* domain, rbRow* row)
{
    rbVec3 slip = slipOf(domain, row);
    double speed = rbDot(slip, row->normal);
    double along = rbDot(row->impulse, row->normal);
    double wanted = fmax(along + row->normalMass * (row->target - speed), 0.0);
    rbVec3 across = rbAddScaled(row->impulse, -along, row->normal);
    rbVec3 sliding = rbAddScaled(slip, -speed, row->normal);
    across = shorten(rbAddScaled(across, -row->tangentialMass, sliding), row->friction * wanted);
    rbVec3 impulse = rbAddScaled(across, wanted, row->normal);
    rbVec3 change = rbSub(impulse, row->impulse);
    row->impulse = impulse;
    if (change.x != 0.0 || change.y != 0.0 || change.z != 0.0) {
        pushA(domain, row, change);
        pushB(domain, row, change);
    }
    solveRolling(domain, row, wanted);
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
            turnA(domain, row, row->roll);
        }
        if (row->b < domain->ownedCount) {
            pushB(domain, row, row->impulse);
            turnB(domain, row, row->roll);
        }
    }
    domain->busyTime += rbGetThreadTime() - start;
    rbDomain_ShareVelocities(domain, -1);
    for (int sweep = 0; sweep < cluster->def.sweeps; ++sweep) {
        for (int c = 0; c < domain->colorCount; ++c) {
            start = rbGetThreadTime();
            for (int i = domain->colorFirst[c]; i < domain->colorFirst[c + 1]; ++i) {
                solveRow(domain, &cluster->rows.data[i]);
            }
            domain->busyTime += rbGetThreadTime() - start;
            rbDomain_ShareVelocities(domain, c);
        }
    }
    for (int i = 0; i < cluster->rows.count; ++i) {
        const rbRow* row = &cluster->rows.data[i];
        domain->pairs.data[row->pair].impulse = row->impulse;
        domain->pairs.data[row->pair].roll = row->roll;
    }
}

const rbLaw rbLawGranular = {
    .name = "granular", .checkFn = check, .reachFn = getReach, .solveFn = solve};
