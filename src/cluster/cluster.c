// Steps of spheres on the ranks of MPI.
//
// A step: bodies are brought to their owners where they have moved far; gravity; contacts of the
// present positions get colors; a law changes velocities, color by color; all bodies fly. Ghosts
// fly too: their velocity is that of their owner, so their position has the same bits without a
// message (L-114).
#include "base/core/cookie.h"
#include "base/core/timer.h"
#include "cluster/law.h"

#include <math.h>
#include <string.h>

// Cells get new owners if the slowest rank has this much more work than the mean.
#define IMBALANCE_MAX 1.1

static const rbLaw* const laws[] = {&rbLawElastic, &rbLawGranular};
#define LAW_COUNT ((int)(sizeof laws / sizeof laws[0]))

void rbInitClusterDef(rbClusterDef* def, uint32_t abi, size_t size)
{
    if (rbStampDef(def, RB_KIND_CLUSTER, sizeof *def, abi, size)) {
        def->law = "elastic";
        def->partition = "morton";
        def->restitution = 1.0;
        def->sweeps = 4;
        def->balanceInterval = 100;
    }
}

// -----------------------------------------------------------------------------------------
// creation

static rbStatus checkBox(const rbClusterDef* def, rbError* error)
{
    rbVec3 box = def->periodicBox;
    rbVec3 size = rbSub(def->high, def->low);
    RB_INVALID_IF(!rbIsFinite3(box) || !(box.x >= 0.0 && box.y >= 0.0 && box.z >= 0.0), error,
                  "periodicBox must be finite and not negative");
    RB_INVALID_IF(!rbIsFinite3(size) || !(size.x >= 0.0 && size.y >= 0.0 && size.z >= 0.0), error,
                  "the region from low to high must be finite, and high not below low");
    return RB_STATUS_OK;
}

static rbStatus checkDef(const rbClusterDef* def, const rbLaw* law, rbError* error)
{
    RB_TRY(RB_CHECK_COOKIE(def, RB_KIND_CLUSTER, error));
    RB_REFUSE_IF(law == NULL, RB_STATUS_NOT_FOUND, error,
                 "there is no law \"%.40s\"; there are elastic and granular", def->law);
    RB_INVALID_IF(!(def->step > 0.0 && def->step < 1e6), error,
                  "step is %g s; it must be above 0 and below 1e6", def->step);
    RB_INVALID_IF(!(def->radiusMax > 0.0 && def->radiusMax < 1e12), error,
                  "radiusMax is %g m; it must be above 0 and below 1e12", def->radiusMax);
    RB_INVALID_IF(!(def->margin >= 0.0 && def->margin < 1e12), error,
                  "margin is %g m; it must not be negative", def->margin);
    RB_INVALID_IF(!rbIsFinite3(def->gravity), error, "gravity must be finite");
    RB_INVALID_IF(!(def->restitution >= 0.0 && def->restitution <= 1.0), error,
                  "restitution is %g; it must be from 0 to 1", def->restitution);
    RB_INVALID_IF(!(def->friction >= 0.0 && def->friction < 1e6), error,
                  "friction is %g; it must not be negative", def->friction);
    RB_INVALID_IF(!(def->restSpeed >= 0.0 && def->restSpeed < 1e12), error,
                  "restSpeed is %g m/s; it must not be negative", def->restSpeed);
    RB_INVALID_IF(def->sweeps < 1 || def->sweeps > 1000, error,
                  "sweeps is %d; it must be from 1 to 1000", def->sweeps);
    RB_INVALID_IF(def->balanceInterval < 0 || def->partitionInterval < 0, error,
                  "intervals of steps must not be negative");
    RB_INVALID_IF(def->wallCount < 0 || def->wallCount > RB_CLUSTER_WALLS_MAX, error,
                  "wallCount is %d; it must be from 0 to %d", def->wallCount, RB_CLUSTER_WALLS_MAX);
    for (int i = 0; i < def->wallCount; ++i) {
        RB_INVALID_IF(
            !(fabs(rbLength(def->walls[i].normal) - 1.0) < 1e-9) || !isfinite(def->walls[i].offset),
            error, "the normal of wall %d must have length 1, and its offset be finite", i);
    }
    RB_TRY(checkBox(def, error));
    return law->checkFn(def, error);
}

static const rbLaw* findLaw(const char* name)
{
    for (int i = 0; i < LAW_COUNT; ++i) {
        if (strcmp(laws[i]->name, name) == 0) {
            return laws[i];
        }
    }
    return NULL;
}

rbCluster* rbCreateCluster(rbRanks* ranks, const rbClusterDef* def, rbError* error)
{
    const rbLaw* law = findLaw(def->law);
    rbCluster* cluster = rbAllocZero(1, sizeof *cluster);
    cluster->ranks = ranks;
    cluster->def = *def;
    cluster->law = law;
    rbStatus status = checkDef(def, law, error);
    if (status == RB_STATUS_OK) {
        rbDomainDef domain = {.low = def->low,
                              .high = def->high,
                              .periodicBox = def->periodicBox,
                              .radiusMax = def->radiusMax,
                              .reach = law->reachFn(def),
                              .partition = def->partition};
        domain.margin = (def->margin > 0.0 ? def->margin : 2.0 * def->radiusMax) + domain.reach;
        status = rbDomain_Init(&cluster->domain, ranks, &domain, error);
        for (int i = 0; i < def->wallCount && status == RB_STATUS_OK; ++i) {
            rbWalls_AddHalfSpace(&cluster->domain.walls, def->walls[i].normal, def->walls[i].offset,
                                 0);
        }
        for (int i = 0; i < RB_CLUSTER_MATERIALS_MAX * RB_CLUSTER_MATERIALS_MAX; ++i) {
            cluster->pairs[i] = (rbClusterPair){def->restitution, def->friction, 0.0};
        }
    }
    if (rbRanks_Agree(ranks, status, error) != RB_STATUS_OK) {
        rbDestroyCluster(cluster);
        return NULL;
    }
    cluster->startTime = rbGetWallTime();
    return cluster;
}

void rbDestroyCluster(rbCluster* cluster)
{
    if (cluster != NULL) {
        rbDomain_Free(&cluster->domain);
        rbArray_Free(cluster->rows);
        rbFree(cluster, sizeof *cluster);
    }
}

rbStatus rbCluster_AddSphere(rbCluster* cluster, const rbClusterSphere* sphere, rbError* error)
{
    unsigned long long uid = sphere->uid;
    RB_INVALID_IF(cluster->isBuilt, error, "spheres must be added before the first step");
    RB_INVALID_IF(sphere->uid >= RB_WALL_UID, error, "uids must be below 2^63");
    RB_INVALID_IF(!(sphere->radius > 0.0 && sphere->radius <= cluster->def.radiusMax), error,
                  "the radius of sphere %llu is %g m; it must be above 0 and at most %g", uid,
                  sphere->radius, cluster->def.radiusMax);
    RB_INVALID_IF(!(sphere->mass > 0.0 && sphere->mass < 1e30), error,
                  "the mass of sphere %llu is %g kg; it must be above 0 and below 1e30", uid,
                  sphere->mass);
    RB_INVALID_IF(!rbIsFinite3(sphere->position) || !rbIsFinite3(sphere->velocity) ||
                      !rbIsFinite3(sphere->spin),
                  error, "position, velocity and spin of sphere %llu must be finite", uid);
    RB_INVALID_IF(sphere->material < 0 || sphere->material >= RB_CLUSTER_MATERIALS_MAX, error,
                  "the material of sphere %llu is %d; it must be from 0 to %d", uid,
                  sphere->material, RB_CLUSTER_MATERIALS_MAX - 1);
    rbQuat q = sphere->orientation;
    bool hasTurn = rbDotQuat(q, q) != 0.0;
    RB_INVALID_IF(hasTurn && !(fabs(rbDotQuat(q, q) - 1.0) < 1e-6), error,
                  "the orientation of sphere %llu is not a unit quaternion", uid);
    rbVec3 position = rbDomain_Wrap(&cluster->domain, sphere->position);
    rbVec3 half = cluster->domain.halfBox;
    RB_INVALID_IF(
        !(fabs(position.x) <= half.x && fabs(position.y) <= half.y && fabs(position.z) <= half.z),
        error, "sphere %llu is further outside of the periodic box than a period", uid);
    rbGrain grain = {.uid = sphere->uid,
                     .position = position,
                     .velocity = sphere->velocity,
                     .spin = sphere->spin,
                     .orientation = hasTurn ? q : RB_QUAT_IDENTITY,
                     .material = (uint64_t)sphere->material,
                     .radius = sphere->radius,
                     .inverseMass = 1.0 / sphere->mass};
    grain.inverseInertia = 2.5 * grain.inverseMass / (sphere->radius * sphere->radius);
    rbDomain_Add(&cluster->domain, &grain);
    return RB_STATUS_OK;
}

rbStatus rbCluster_SetPair(rbCluster* cluster, int materialA, int materialB,
                           const rbClusterPair* pair, rbError* error)
{
    int last = RB_CLUSTER_MATERIALS_MAX - 1;
    RB_INVALID_IF(cluster->isBuilt, error, "materials must be set before the first step");
    RB_INVALID_IF(cluster->law != &rbLawGranular, error, "only the law \"granular\" has materials");
    RB_INVALID_IF(materialA < 0 || materialB < 0 || materialA > last || materialB > last, error,
                  "materials are numbered from 0 to %d", last);
    RB_INVALID_IF(!(pair->restitution >= 0.0 && pair->restitution <= 1.0), error,
                  "restitution is %g; it must be from 0 to 1", pair->restitution);
    RB_INVALID_IF(!(pair->friction >= 0.0 && pair->friction < 1e12), error,
                  "friction is %g; it must not be negative", pair->friction);
    RB_INVALID_IF(!(pair->rolling >= 0.0 && pair->rolling < 1e12), error,
                  "rolling is %g m; it must not be negative", pair->rolling);
    cluster->pairs[materialA * RB_CLUSTER_MATERIALS_MAX + materialB] = *pair;
    cluster->pairs[materialB * RB_CLUSTER_MATERIALS_MAX + materialA] = *pair;
    return RB_STATUS_OK;
}

rbStatus rbCluster_AddWall(rbCluster* cluster, const rbWorld* world, rbBodyId bodyId,
                           const int* materials, rbError* error)
{
    RB_INVALID_IF(cluster->isBuilt, error, "walls must be added before the first step");
    RB_INVALID_IF(cluster->law != &rbLawGranular, error,
                  "the law \"%s\" has no walls; use \"granular\"", cluster->law->name);
    RB_INVALID_IF(rbBody_GetType(world, bodyId) == RB_BODY_DYNAMIC, error,
                  "body \"%.60s\" is dynamic; walls are static or kinematic",
                  rbBody_GetName(world, bodyId));
    for (int i = 0; i < rbBody_GetShapeCount(world, bodyId); ++i) {
        RB_INVALID_IF(materials[i] < 0 || materials[i] >= RB_CLUSTER_MATERIALS_MAX, error,
                      "the material of a wall is %d; it must be from 0 to %d", materials[i],
                      RB_CLUSTER_MATERIALS_MAX - 1);
    }
    return rbWalls_AddBody(&cluster->domain.walls, world, bodyId, materials, error);
}

// ---------------------------------------------------------------------------------------------
// step

double rbCluster_GetTime(const rbCluster* cluster)
{
    return (double)cluster->stepCount * cluster->def.step;
}

void rbCluster_Build(rbCluster* cluster)
{
    if (cluster->isBuilt) {
        return;
    }
    rbWalls_Move(&cluster->domain.walls, rbCluster_GetTime(cluster), cluster->def.step);
    rbDomain_Rebuild(&cluster->domain); // to count the bodies of cells
    rbDomain_Repartition(&cluster->domain);
    cluster->isBuilt = true;
}

// The largest work of a rank over the mean.
static double measureImbalance(rbCluster* cluster)
{
    double largest = cluster->domain.busyTime;
    int64_t nanoseconds = (int64_t)(1e9 * largest);
    rbRanks_MaxNumbers(cluster->ranks, &largest, 1);
    rbRanks_SumIntegers(cluster->ranks, &nanoseconds, 1);
    double mean = 1e-9 * (double)nanoseconds / rbRanks_GetCount(cluster->ranks);
    return mean > 0.0 ? largest / mean : 1.0;
}

static bool isDue(int64_t stepCount, int interval)
{
    return interval > 0 && stepCount > 0 && stepCount % interval == 0;
}

// Ownership and ghosts for this step. Clocks decide here who owns what, which changes no bit.
static rbStatus settle(rbCluster* cluster, rbError* error)
{
    rbDomain* domain = &cluster->domain;
    int64_t flags[2] = {rbDomain_IsStale(domain), cluster->hasLost};
    rbRanks_MaxIntegers(cluster->ranks, flags, 2);
    if (flags[1] != 0) {
        rbStatus status = RB_STATUS_OK;
        if (cluster->hasLost) {
            status =
                rbError_Set(error, RB_STATUS_NUMERICAL,
                            "sphere %llu moves by more than a period in a step, or its state "
                            "is not finite, at step %lld; use a smaller step",
                            (unsigned long long)cluster->lostUid, (long long)cluster->stepCount);
        }
        return rbRanks_Agree(cluster->ranks, status, error);
    }
    bool isForced = isDue(cluster->stepCount, cluster->def.partitionInterval);
    bool isLook = isDue(cluster->stepCount, cluster->def.balanceInterval);
    if (isForced || (isLook && rbRanks_GetCount(cluster->ranks) > 1 &&
                     measureImbalance(cluster) > IMBALANCE_MAX)) {
        rbDomain_Repartition(domain);
    } else if (flags[0] != 0) {
        rbDomain_Rebuild(domain);
    }
    return RB_STATUS_OK;
}

static void accelerate(rbCluster* cluster)
{
    rbVec3 change = rbScale(cluster->def.step, cluster->def.gravity);
    if (rbLengthSquared(change) > 0.0) {
        rbDomain* domain = &cluster->domain;
        for (int i = 0; i < domain->grains.count; ++i) {
            domain->grains.data[i].velocity = rbAdd(domain->grains.data[i].velocity, change);
        }
    }
}

// Orientation by the derivative of the quaternion, made unit again: it changes nothing else.
static void turn(rbGrain* grain, double dt)
{
    rbQuat w = {0.0, grain->spin.x, grain->spin.y, grain->spin.z};
    rbQuat rate = rbMulQuat(w, grain->orientation);
    double half = 0.5 * dt;
    grain->orientation = rbNormalizeQuat(
        (rbQuat){grain->orientation.w + half * rate.w, grain->orientation.x + half * rate.x,
                 grain->orientation.y + half * rate.y, grain->orientation.z + half * rate.z});
}

static void fly(rbCluster* cluster)
{
    rbDomain* domain = &cluster->domain;
    double dt = cluster->def.step;
    rbVec3 half = domain->halfBox;
    for (int i = 0; i < domain->grains.count; ++i) {
        rbGrain* grain = &domain->grains.data[i];
        grain->position = rbDomain_Wrap(domain, rbAddScaled(grain->position, dt, grain->velocity));
        if (grain->spin.x != 0.0 || grain->spin.y != 0.0 || grain->spin.z != 0.0) {
            turn(grain, dt);
        }
        rbVec3 p = grain->position;
        bool isInside = fabs(p.x) <= half.x && fabs(p.y) <= half.y && fabs(p.z) <= half.z;
        if (i < domain->ownedCount && !(isInside && rbIsFinite3(p))) {
            cluster->hasLost = true;
            cluster->lostUid = grain->uid;
        }
    }
}

static rbStatus makeStep(rbCluster* cluster, rbError* error)
{
    rbDomain* domain = &cluster->domain;
    rbWalls_Move(&domain->walls, rbCluster_GetTime(cluster), cluster->def.step);
    rbFlow_Run(cluster);
    RB_TRY(settle(cluster, error));
    double start = rbGetThreadTime();
    accelerate(cluster);
    rbDomain_FindContacts(domain);
    domain->busyTime += rbGetThreadTime() - start;
    RB_TRY(rbDomain_ColorContacts(domain, error));
    cluster->law->solveFn(cluster);
    start = rbGetThreadTime();
    fly(cluster);
    domain->busyTime += rbGetThreadTime() - start;
    ++cluster->stepCount;
    return RB_STATUS_OK;
}

rbStatus rbCluster_Advance(rbCluster* cluster, int64_t steps, rbError* error)
{
    rbCluster_Build(cluster);
    for (int64_t i = 0; i < steps; ++i) {
        RB_TRY(makeStep(cluster, error));
    }
    return RB_STATUS_OK;
}

// -------------------------------------------------------------------------------------------
// results

typedef enum SumName {
    SUM_KINETIC,
    SUM_POTENTIAL,
    SUM_MOMENTUM_X,
    SUM_MOMENTUM_Y,
    SUM_MOMENTUM_Z,
    SUM_VIRIAL,
    SUM_COUNT
} SumName;

static void addBody(const rbCluster* cluster, const rbGrain* grain, rbExactSum* sums)
{
    double mass = 1.0 / grain->inverseMass;
    double inertia = 1.0 / grain->inverseInertia;
    rbExactSum_Add(&sums[SUM_KINETIC], 0.5 * mass * rbLengthSquared(grain->velocity));
    rbExactSum_Add(&sums[SUM_KINETIC], 0.5 * inertia * rbLengthSquared(grain->spin));
    rbExactSum_Add(&sums[SUM_POTENTIAL], -mass * rbDot(cluster->def.gravity, grain->position));
    rbExactSum_Add(&sums[SUM_MOMENTUM_X], mass * grain->velocity.x);
    rbExactSum_Add(&sums[SUM_MOMENTUM_Y], mass * grain->velocity.y);
    rbExactSum_Add(&sums[SUM_MOMENTUM_Z], mass * grain->velocity.z);
}

// Contacts of this rank that it counts: those whose lower uid is ours.
static int64_t countContacts(const rbDomain* domain)
{
    int64_t count = 0;
    for (int i = 0; i < domain->pairs.count; ++i) {
        const rbNearPair* pair = &domain->pairs.data[i];
        count += pair->color >= 0 && pair->a < domain->ownedCount;
    }
    return count;
}

rbClusterReport rbCluster_GetReport(rbCluster* cluster)
{
    rbDomain* domain = &cluster->domain;
    rbCluster_Build(cluster);
    rbClusterReport report = {.time = (double)cluster->stepCount * cluster->def.step,
                              .steps = cluster->stepCount,
                              .colors = domain->colorCount,
                              .rebuilds = domain->rebuilds,
                              .repartitions = domain->repartitions};
    rbTraffic traffic = rbRanks_GetTraffic(cluster->ranks);
    rbExactSum sums[SUM_COUNT] = {0};
    for (int i = 0; i < domain->ownedCount; ++i) {
        addBody(cluster, &domain->grains.data[i], sums);
    }
    sums[SUM_VIRIAL] = cluster->virial;
    rbRanks_SumExact(cluster->ranks, sums, SUM_COUNT);
    double wall = rbGetWallTime() - cluster->startTime;
    int64_t counts[] = {domain->ownedCount,    domain->grains.count - domain->ownedCount,
                        countContacts(domain), cluster->collisions,
                        domain->migrations,    traffic.messages,
                        traffic.bytes,         (int64_t)(1e9 * traffic.waitTime),
                        (int64_t)(1e9 * wall)};
    rbRanks_SumIntegers(cluster->ranks, counts, (int)(sizeof counts / sizeof counts[0]));
    report.bodies = counts[0];
    report.ghosts = counts[1];
    report.contacts = counts[2];
    report.collisions = counts[3];
    report.migrations = counts[4];
    report.messages = counts[5];
    report.messageBytes = counts[6];
    report.waitPart = counts[8] > 0 ? (double)counts[7] / (double)counts[8] : 0.0;
    report.collectives = traffic.collectives;
    report.kinetic = rbExactSum_Round(&sums[SUM_KINETIC]);
    report.potential = rbExactSum_Round(&sums[SUM_POTENTIAL]);
    report.virial = rbExactSum_Round(&sums[SUM_VIRIAL]);
    report.momentum =
        rbMakeVec3(rbExactSum_Round(&sums[SUM_MOMENTUM_X]), rbExactSum_Round(&sums[SUM_MOMENTUM_Y]),
                   rbExactSum_Round(&sums[SUM_MOMENTUM_Z]));
    report.penetrationMax = cluster->penetrationMax;
    rbRanks_MaxNumbers(cluster->ranks, &report.penetrationMax, 1);
    report.imbalance = measureImbalance(cluster);
    report.hash = rbDomain_Hash(domain);
    return report;
}

rbClusterSphere* rbCluster_Gather(rbCluster* cluster, int* count)
{
    rbGrain* grains = NULL;
    rbDomain_Gather(&cluster->domain, &grains, count);
    rbClusterSphere* spheres = rbAlloc((size_t)*count * sizeof *spheres);
    for (int i = 0; i < *count; ++i) {
        spheres[i] = (rbClusterSphere){.uid = grains[i].uid,
                                       .position = grains[i].position,
                                       .velocity = grains[i].velocity,
                                       .spin = grains[i].spin,
                                       .radius = grains[i].radius,
                                       .mass = 1.0 / grains[i].inverseMass,
                                       .orientation = grains[i].orientation,
                                       .material = (int)grains[i].material};
    }
    rbFree(grains, (size_t)*count * sizeof(rbGrain));
    return spheres;
}

void rbFreeSpheres(rbClusterSphere* spheres, int count)
{
    rbFree(spheres, (size_t)count * sizeof *spheres);
}
