#include "cluster/flow.h"

#include "base/core/hash.h"
#include "base/core/random.h"
#include "base/core/status.h"
#include "cluster/law.h"

#include <math.h>
#include <string.h>

// Steps between two looks at inlets and outlets: every change costs a search for near pairs.
#define FLOW_INTERVAL 16
// Spheres of an inlet that may come at once, and places that are tried for each.
#define BATCH 128
#define TRIES 8
#define UID_SHIFT 48 // of the number of the inlet, from 1

static bool isInside(const rbBounds* box, rbVec3 p)
{
    return p.x >= box->lower.x && p.y >= box->lower.y && p.z >= box->lower.z &&
           p.x <= box->upper.x && p.y <= box->upper.y && p.z <= box->upper.z;
}

static bool isBox(const rbBounds* box)
{
    rbVec3 size = rbSub(box->upper, box->lower);
    return rbIsFinite3(box->lower) && rbIsFinite3(box->upper) && size.x >= 0.0 && size.y >= 0.0 &&
           size.z >= 0.0;
}

// ---------------------------------------------------------------------------------------- outlets

static int64_t removeBodies(rbCluster* cluster)
{
    rbFlow* flow = &cluster->flow;
    rbDomain* domain = &cluster->domain;
    int64_t counts[RB_FLOW_MAX] = {0};
    rbExactSum masses[RB_FLOW_MAX];
    memset(masses, 0, sizeof masses);
    rbArray_SetCount(domain->isLeaving, domain->ownedCount);
    for (int i = 0; i < domain->ownedCount; ++i) {
        const rbGrain* grain = &domain->grains.data[i];
        int k = 0;
        while (k < flow->outletCount && !isInside(&flow->outlets[k], grain->position)) {
            ++k;
        }
        domain->isLeaving.data[i] = k < flow->outletCount;
        if (k < flow->outletCount) {
            ++counts[k];
            rbExactSum_Add(&masses[k], 1.0 / grain->inverseMass);
        }
    }
    rbRanks_SumIntegers(cluster->ranks, counts, flow->outletCount);
    int64_t total = 0;
    for (int k = 0; k < flow->outletCount; ++k) {
        flow->state.removed[k] += counts[k];
        total += counts[k];
    }
    if (total > 0) {
        rbRanks_SumExact(cluster->ranks, masses, flow->outletCount);
        for (int k = 0; k < flow->outletCount; ++k) {
            rbExactSum_Merge(&flow->state.removedMass[k], &masses[k]);
            rbExactSum_Normalize(&flow->state.removedMass[k]);
        }
    }
    return total;
}

// ----------------------------------------------------------------------------------------- inlets

static rbRandom beginRandom(uint64_t uid, uint64_t salt)
{
    const uint64_t words[2] = {uid, salt};
    return (rbRandom){rbHashBytes(RB_HASH_SEED, words, sizeof words)};
}

// The sphere of a uid, at one of its tries in a step.
static rbGrain makeGrain(const rbCluster* cluster, const rbClusterInlet* inlet, uint64_t uid,
                         int attempt)
{
    rbRandom size = beginRandom(uid, 0);
    double radius = rbRandom_Range(&size, inlet->radiusMin, inlet->radiusMax);
    rbRandom place = beginRandom(uid, (uint64_t)cluster->stepCount * TRIES + (uint64_t)attempt + 1);
    rbVec3 p;
    p.x = rbRandom_Range(&place, inlet->box.lower.x, inlet->box.upper.x);
    p.y = rbRandom_Range(&place, inlet->box.lower.y, inlet->box.upper.y);
    p.z = rbRandom_Range(&place, inlet->box.lower.z, inlet->box.upper.z);
    double mass = 4.0 / 3.0 * RB_PI * radius * radius * radius * inlet->density;
    return (rbGrain){.uid = uid,
                     .material = (uint64_t)inlet->material,
                     .position = rbDomain_Wrap(&cluster->domain, p),
                     .velocity = inlet->velocity,
                     .orientation = RB_QUAT_IDENTITY,
                     .radius = radius,
                     .inverseMass = 1.0 / mass,
                     .inverseInertia = 2.5 / (mass * radius * radius)};
}

static bool overlaps(const rbDomain* domain, const rbGrain* a, const rbGrain* b)
{
    double limit = a->radius + b->radius;
    return rbLengthSquared(rbDomain_Between(domain, a, b)) < limit * limit;
}

// Marks the tries that overlap a wall, or a body of any rank.
static void markTaken(rbCluster* cluster, const rbClusterInlet* inlet, const rbGrain* tries,
                      int count, int64_t* isTaken)
{
    rbDomain* domain = &cluster->domain;
    double reach = inlet->radiusMax + cluster->def.radiusMax;
    rbVec3 margin = rbMakeVec3(reach, reach, reach);
    rbBounds box = {rbSub(inlet->box.lower, margin), rbAdd(inlet->box.upper, margin)};
    bool isPeriodic = rbLengthSquared(cluster->def.periodicBox) > 0.0;
    for (int k = 0; k < count; ++k) {
        rbWalls_FindNear(&domain->walls, tries[k].position, tries[k].radius);
        isTaken[k] = domain->walls.found.count > 0;
    }
    for (int i = 0; i < domain->ownedCount; ++i) {
        const rbGrain* grain = &domain->grains.data[i];
        if (domain->isLeaving.data[i] || (!isPeriodic && !isInside(&box, grain->position))) {
            continue;
        }
        for (int k = 0; k < count; ++k) {
            isTaken[k] = isTaken[k] || overlaps(domain, grain, &tries[k]);
        }
    }
    rbRanks_MaxIntegers(cluster->ranks, isTaken, count);
}

// Spheres that are due, in the order of their counter: the first one without a place waits.
static int64_t insertBodies(rbCluster* cluster, int index)
{
    rbFlow* flow = &cluster->flow;
    rbDomain* domain = &cluster->domain;
    const rbClusterInlet* inlet = &flow->inlets[index];
    double wanted = floor(inlet->rate * (rbCluster_GetTime(cluster) + cluster->def.step));
    wanted = inlet->count > 0 ? fmin(wanted, (double)inlet->count) : wanted;
    int64_t due = (int64_t)wanted - flow->state.inserted[index];
    due = due < BATCH ? due : BATCH;
    if (due <= 0) {
        return 0;
    }
    int count = (int)due * TRIES;
    rbGrain* tries = rbAlloc((size_t)count * sizeof(rbGrain));
    int64_t* isTaken = rbAllocZero((size_t)count, sizeof(int64_t));
    uint64_t first = ((uint64_t)(index + 1) << UID_SHIFT) + (uint64_t)flow->state.inserted[index];
    for (int k = 0; k < count; ++k) {
        tries[k] = makeGrain(cluster, inlet, first + (uint64_t)(k / TRIES), k % TRIES);
    }
    markTaken(cluster, inlet, tries, count, isTaken);
    int64_t inserted = 0;
    int firstNew = domain->incoming.count;
    for (int k = 0; k < count; ++k) {
        bool isFree = isTaken[k] == 0;
        for (int i = firstNew; i < domain->incoming.count && isFree; ++i) {
            isFree = !overlaps(domain, &domain->incoming.data[i], &tries[k]);
        }
        if (isFree) {
            rbArray_Push(domain->incoming, tries[k]);
            ++inserted;
            k += TRIES - 1 - k % TRIES;
        } else if (k % TRIES == TRIES - 1) {
            break;
        }
    }
    rbFree(tries, (size_t)count * sizeof(rbGrain));
    rbFree(isTaken, (size_t)count * sizeof(int64_t));
    flow->state.inserted[index] += inserted;
    return inserted;
}

void rbFlow_Run(rbCluster* cluster)
{
    rbFlow* flow = &cluster->flow;
    rbDomain* domain = &cluster->domain;
    if (flow->inletCount + flow->outletCount == 0 || cluster->stepCount % FLOW_INTERVAL != 0) {
        return;
    }
    int64_t changes = removeBodies(cluster);
    for (int i = 0; i < flow->inletCount; ++i) {
        changes += insertBodies(cluster, i);
    }
    if (rbRanks_GetIndex(cluster->ranks) != 0) {
        domain->incoming.count = 0; // rank 0 brings them in
    }
    if (changes > 0) {
        rbDomain_Rebuild(domain);
    }
    domain->isLeaving.count = 0;
}

// -------------------------------------------------------------------------------------- interface

rbStatus rbCluster_AddInlet(rbCluster* cluster, const rbClusterInlet* inlet, rbError* error)
{
    rbFlow* flow = &cluster->flow;
    RB_INVALID_IF(cluster->isBuilt, error, "inlets must be added before the first step");
    RB_REFUSE_IF(flow->inletCount == RB_FLOW_MAX, RB_STATUS_LIMIT, error,
                 "there are already %d inlets, the limit", RB_FLOW_MAX);
    RB_INVALID_IF(!isBox(&inlet->box) || !rbIsFinite3(inlet->velocity), error,
                  "the box and the velocity of an inlet must be finite, and upper not below lower");
    RB_INVALID_IF(!(inlet->rate > 0.0 && inlet->rate < 1e9), error,
                  "the rate of an inlet is %g 1/s; it must be above 0 and below 1e9", inlet->rate);
    RB_INVALID_IF(!(inlet->radiusMin > 0.0 && inlet->radiusMin <= inlet->radiusMax &&
                    inlet->radiusMax <= cluster->def.radiusMax),
                  error,
                  "the radii of an inlet are %g to %g m; they must ascend, and be at most %g m",
                  inlet->radiusMin, inlet->radiusMax, cluster->def.radiusMax);
    RB_INVALID_IF(!(inlet->density > 0.0 && inlet->density < 1e30), error,
                  "the density of an inlet is %g kg/m^3; it must be above 0 and below 1e30",
                  inlet->density);
    RB_INVALID_IF(inlet->material < 0 || inlet->material >= RB_CLUSTER_MATERIALS_MAX, error,
                  "the material of an inlet is %d; it must be from 0 to %d", inlet->material,
                  RB_CLUSTER_MATERIALS_MAX - 1);
    RB_INVALID_IF(inlet->count < 0, error, "the count of an inlet must not be negative");
    flow->inlets[flow->inletCount++] = *inlet;
    return RB_STATUS_OK;
}

rbStatus rbCluster_AddOutlet(rbCluster* cluster, rbBounds box, rbError* error)
{
    rbFlow* flow = &cluster->flow;
    RB_INVALID_IF(cluster->isBuilt, error, "outlets must be added before the first step");
    RB_REFUSE_IF(flow->outletCount == RB_FLOW_MAX, RB_STATUS_LIMIT, error,
                 "there are already %d outlets, the limit", RB_FLOW_MAX);
    RB_INVALID_IF(!isBox(&box), error,
                  "the box of an outlet must be finite, and upper not below "
                  "lower");
    flow->outlets[flow->outletCount++] = box;
    return RB_STATUS_OK;
}

int64_t rbCluster_GetInserted(const rbCluster* cluster, int inlet)
{
    return cluster->flow.state.inserted[inlet];
}

int64_t rbCluster_GetRemoved(const rbCluster* cluster, int outlet, double* mass)
{
    *mass = rbExactSum_Round(&cluster->flow.state.removedMass[outlet]);
    return cluster->flow.state.removed[outlet];
}
