#include "gas.h"

#include "base/core/memory.h"
#include "lab/math/random3.h"

#include <math.h>
#include <stdlib.h>

// Collisions per body between two rescalings of a compression: with fewer, the speed stays closer
// to the target; each rescaling costs as much as one collision of every body.
#define BLOCK_COLLISIONS 20.0
// An interval ends well before the spheres can jam in it, which would take infinitely many
// collisions.
#define BLOCK_PART 0.25
// Maximum number of intervals of a compression.
#define BLOCKS_MAX 100000

rbHardGasDef rbDefaultHardGasDef(void)
{
    rbHardGasDef def = {.radius = 0.5,
                        .edge = 10,
                        .fraction = 0.3,
                        .speed = 1.0,
                        .restitution = 1.0,
                        .event = rbDefaultWorldDef().event,
                        .seed = 1};
    def.event.isJournalOff = true;
    return def;
}

// Random directions at one speed, with the drift removed.
static void drawVelocities(rbHardGas* gas, const rbHardGasDef* def, rbRandom* random)
{
    rbVec3 sum = RB_VEC3_ZERO;
    for (int i = 0; i < gas->count; ++i) {
        gas->velocities[i] = rbScale(def->speed, rbRandom_Direction(random));
        sum = rbAdd(sum, gas->velocities[i]);
    }
    rbVec3 drift = rbScale(1.0 / gas->count, sum);
    for (int i = 0; i < gas->count; ++i) {
        gas->velocities[i] = rbSub(gas->velocities[i], drift);
    }
}

static bool addBody(rbHardGas* gas, const rbHardGasDef* def, const rbShapeDef* shape, int i,
                    rbRandom* random, rbError* error)
{
    double cell = gas->edge / def->edge;
    int row = i / def->edge;
    int layer = row / def->edge;
    rbBodyDef body = rbDefaultBodyDef();
    body.type = RB_BODY_DYNAMIC;
    body.position = rbMakeVec3((i % def->edge + 0.5) * cell - 0.5 * gas->edge,
                               (row % def->edge + 0.5) * cell - 0.5 * gas->edge,
                               (layer + 0.5) * cell - 0.5 * gas->edge);
    body.linearVelocity = gas->velocities[i];
    if (def->spin > 0.0) {
        body.angularVelocity = rbScale(def->spin, rbRandom_Direction(random));
    }
    body.growth = def->growth;
    rbBodyId id = rbCreateBody(gas->world, &body, error);
    return rbBody_IsValid(gas->world, id) &&
           rbCreateShape(gas->world, id, shape, error).index1 != 0;
}

rbHardGas rbCreateHardGas(const rbHardGasDef* def, rbError* error)
{
    rbRandom random = {def->seed};
    rbHardGas gas = {
        .count = def->edge * def->edge * def->edge, .radius = def->radius, .growth = def->growth};
    rbGeometry* geometry =
        def->geometry != NULL ? def->geometry : rbCreateSphere(def->radius, error);
    rbMassProperties mass = {0};
    RB_ASSERT(geometry != NULL && def->edge > 0 && def->fraction > 0.0);
    (void)rbGeometry_GetMass(geometry, 1.0, &mass, error);
    gas.mass = mass.mass;
    gas.edge = cbrt(gas.count * mass.mass / def->fraction);
    gas.velocities = rbAlloc((size_t)gas.count * sizeof(rbVec3));
    drawVelocities(&gas, def, &random);

    rbWorldDef world = rbDefaultWorldDef();
    world.gravity = RB_VEC3_ZERO;
    world.engine = RB_ENGINE_EVENT;
    world.event = def->event;
    world.periodicBox = rbMakeVec3(gas.edge, gas.edge, gas.edge);
    world.bodyCapacity = gas.count;
    gas.world = rbCreateWorld(&world, error);
    if (gas.world == NULL) {
        rbDestroyGeometry(geometry);
        rbDestroyHardGas(&gas);
        return gas;
    }
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(gas.world, geometry);
    shape.material =
        (rbMaterial){.density = 1.0, .restitution = def->restitution, .friction = def->friction};
    bool isMade = true;
    for (int i = 0; isMade && i < gas.count; ++i) {
        isMade = addBody(&gas, def, &shape, i, &random, error);
    }
    if (!isMade || rbWorld_Prepare(gas.world, error) != RB_STATUS_OK) {
        rbDestroyHardGas(&gas);
    }
    return gas;
}

void rbDestroyHardGas(rbHardGas* gas)
{
    rbDestroyWorld(gas->world);
    rbFree(gas->velocities, (size_t)gas->count * sizeof(rbVec3));
    gas->world = NULL;
    gas->velocities = NULL;
}

double rbHardGas_GetFraction(const rbHardGas* gas)
{
    double radius = gas->radius + gas->growth * rbWorld_GetTime(gas->world);
    return gas->count * 4.0 / 3.0 * RB_PI * radius * radius * radius /
           (gas->edge * gas->edge * gas->edge);
}

// Reads the velocities; their mean, and the mean square about it.
static rbVec3 readVelocities(const rbHardGas* gas, double* square)
{
    rbWorld_ReadField(gas->world, RB_FIELD_LINEAR_VELOCITY, &gas->velocities[0].x, sizeof(rbVec3));
    rbVec3 sum = RB_VEC3_ZERO;
    for (int i = 0; i < gas->count; ++i) {
        sum = rbAdd(sum, gas->velocities[i]);
    }
    rbVec3 drift = rbScale(1.0 / gas->count, sum);
    double squares = 0.0;
    for (int i = 0; i < gas->count; ++i) {
        squares += rbLengthSquared(rbSub(gas->velocities[i], drift));
    }
    *square = squares / gas->count;
    return drift;
}

double rbHardGas_GetTemperature(const rbHardGas* gas)
{
    double square = 0.0;
    (void)readVelocities(gas, &square);
    return square / 3.0;
}

void rbHardGas_Rescale(rbHardGas* gas, double speed)
{
    double square = 0.0;
    rbVec3 drift = readVelocities(gas, &square);
    RB_ASSERT(square > 0.0);
    double factor = speed / sqrt(square);
    for (int i = 0; i < gas->count; ++i) {
        gas->velocities[i] = rbScale(factor, rbSub(gas->velocities[i], drift));
    }
    rbStatus status = rbWorld_WriteField(gas->world, RB_FIELD_LINEAR_VELOCITY,
                                         &gas->velocities[0].x, sizeof(rbVec3), NULL);
    RB_ASSERT(status == RB_STATUS_OK);
    (void)status;
    rbWorld_ClearEvents(gas->world);
}

rbGasPressure rbHardGas_MeasurePressure(rbHardGas* gas, double duration)
{
    RB_ASSERT(duration > 0.0);
    rbEventStatistics before = rbWorld_GetEventStatistics(gas->world);
    double first = rbHardGas_GetTemperature(gas);
    double start = rbWorld_GetTime(gas->world);
    rbStatus status = rbWorld_Advance(gas->world, duration).status;
    rbEventStatistics after = rbWorld_GetEventStatistics(gas->world);
    double time = rbWorld_GetTime(gas->world) - start;
    rbGasPressure pressure = {.status = status, .collisions = after.collisions - before.collisions};
    pressure.temperature = 0.5 * (first + rbHardGas_GetTemperature(gas));
    double energy = 1.5 * gas->count * gas->mass * pressure.temperature;
    pressure.reduced =
        1.0 + (after.virial - before.virial) / (2.0 * energy * time) * (1.0 - 1.0 / gas->count);
    return pressure;
}

// The approach speeds of colliding spheres are Rayleigh's with mean sqrt(pi T), so a collision adds
// d m sqrt(pi T) to the virial on average; Z - 1 = virial/(3 N m T t), and N/2 collisions are one
// per sphere.
double rbHardGas_GetTimeOfCollisions(const rbHardGas* gas, double perBody, double reducedPressure)
{
    double temperature = rbHardGas_GetTemperature(gas);
    double diameter = 2.0 * (gas->radius + gas->growth * rbWorld_GetTime(gas->world));
    double rate = 6.0 * (reducedPressure - 1.0) * sqrt(temperature / RB_PI) / diameter;
    return perBody / rate;
}

static int compareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

rbSpeedMoments rbHardGas_GetSpeedMoments(const rbHardGas* gas)
{
    int n = gas->count;
    double square = 0.0;
    (void)readVelocities(gas, &square);
    double* speeds = rbAlloc((size_t)n * sizeof(double));
    rbSpeedMoments moments = {0};
    for (int i = 0; i < n; ++i) {
        speeds[i] = rbLength(gas->velocities[i]);
        moments.mean += speeds[i] / n;
    }
    double cubes = 0.0;
    for (int i = 0; i < n; ++i) {
        double d = speeds[i] - moments.mean;
        moments.variance += d * d / (n - 1);
        cubes += d * d * d / n;
    }
    moments.skewness = cubes / (moments.variance * sqrt(moments.variance));
    qsort(speeds, (size_t)n, sizeof(double), compareDoubles);
    moments.median = 0.5 * (speeds[(n - 1) / 2] + speeds[n / 2]);
    rbFree(speeds, (size_t)n * sizeof(double));
    return moments;
}

// Near jamming Z = 3/(1 - phi/phiMax): the diameter can still grow by 1/Z of itself.
static double timeToJam(const rbHardGas* gas, double reducedPressure)
{
    double radius = gas->radius + gas->growth * rbWorld_GetTime(gas->world);
    return radius / (gas->growth * reducedPressure);
}

rbPacking rbHardGas_Compress(rbHardGas* gas, double speed, double pressureMax)
{
    rbPacking packing = {.reducedPressure = 4.0};
    for (int i = 0; i < BLOCKS_MAX && packing.reducedPressure < pressureMax; ++i) {
        rbHardGas_Rescale(gas, speed);
        double dt = rbHardGas_GetTimeOfCollisions(gas, BLOCK_COLLISIONS, packing.reducedPressure);
        dt = fmin(dt, BLOCK_PART * timeToJam(gas, packing.reducedPressure));
        rbGasPressure pressure = rbHardGas_MeasurePressure(gas, dt);
        packing.reducedPressure = fmax(pressure.reduced, 1.5);
        packing.collisions += pressure.collisions;
        packing.status = pressure.status;
        if (pressure.status != RB_STATUS_OK) {
            break;
        }
    }
    packing.fraction = rbHardGas_GetFraction(gas);
    packing.time = rbWorld_GetTime(gas->world);
    return packing;
}
