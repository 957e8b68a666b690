// Energy, momentum, and the journal of the events that changed them.
#include "base/core/tasks.h"
#include "base/core/words.h"
#include "world/world_engine.h"
#include "world/world_joint.h"

#include <math.h>

double rbWorld_BodyEnergy(const rbWorld* world, int index, double parts[3])
{
    double linear = 0.0, angular = 0.0, potential = 0.0;
    if (world->bodies.data[index].hasMass) {
        const rbMotionState* s = &world->states.data[index];
        const rbMotionBody* motion = &world->motions.data[index];
        linear = 0.5 * motion->mass * rbLengthSquared(s->velocity);
        angular = 0.5 * rbDot(rbMulEach(motion->moments, s->spin), s->spin);
        potential = -motion->mass * rbDot(world->def.gravity, s->position);
        rbForceCursor cursor = {0};
        while (rbWorld_NextForce(world, index, &cursor)) {
            if (cursor.row->potential != NULL) {
                potential += cursor.row->potential(cursor.def, motion->mass, s->position);
            }
        }
    }
    if (parts != NULL) {
        parts[0] = linear;
        parts[1] = angular;
        parts[2] = potential;
    }
    return linear + angular + potential;
}

// Least bodies of a block: sums are rounded by block.
#define BODIES_LEAST 1024

typedef struct Sums {
    const rbWorld* world;
    rbLedger parts[RB_BLOCKS_MAX];
} Sums;

static void sumBodies(void* context, rbShare share)
{
    Sums* sums = context;
    const rbWorld* world = sums->world;
    rbLedger ledger = {0};
    for (int i = share.begin; i < share.end; ++i) {
        if (!world->bodies.data[i].hasMass) {
            continue;
        }
        double parts[3];
        (void)rbWorld_BodyEnergy(world, i, parts);
        const rbMotionState* s = &world->states.data[i];
        const rbMotionBody* motion = &world->motions.data[i];
        rbVec3 momentum = rbScale(motion->mass, s->velocity);
        rbVec3 spin = rbRotate(s->orientation, rbMulEach(motion->moments, s->spin));
        ledger.kineticLinear += parts[0];
        ledger.kineticAngular += parts[1];
        ledger.potential += parts[2];
        ledger.work += s->work;
        ledger.mass += motion->mass;
        // to lift it by its radius, or by its radius of gyration if it has no shape
        rbVec3 m = motion->moments;
        double gyration = sqrt(fmax(m.x, fmax(m.y, m.z)) / motion->mass);
        ledger.energyScale += motion->mass * fmax(world->bodies.data[i].radius, gyration) *
                              rbLength(motion->acceleration);
        ledger.momentum = rbAdd(ledger.momentum, momentum);
        ledger.spinMomentum = rbAdd(ledger.spinMomentum, spin);
        ledger.angularMomentum =
            rbAdd(ledger.angularMomentum, rbAdd(spin, rbCross(s->position, momentum)));
    }
    sums->parts[share.block] = ledger;
}

rbLedger rbWorld_GetLedger(const rbWorld* world)
{
    Sums sums = {.world = world};
    int count = world->bodies.count;
    rbRunShares(count, BODIES_LEAST, sumBodies, &sums);
    rbLedger ledger = sums.parts[0];
    for (int i = 1; i < rbGetBlockCount(count, rbGetBlockSize(count, BODIES_LEAST)); ++i) {
        for (size_t k = 0; k < sizeof ledger / sizeof(double); ++k) {
            ((double*)&ledger)[k] += ((const double*)&sums.parts[i])[k];
        }
    }
    rbEngineAccounts accounts = rbWorld_GetAccounts(world);
    ledger.work += world->externalWork;
    ledger.work += accounts.step.load;
    ledger.springEnergy = rbWorld_GetElasticEnergy(world, RB_ALL_BODIES);
    ledger.energy = ledger.kineticLinear + ledger.kineticAngular + ledger.potential;
    ledger.energy += ledger.springEnergy;
    ledger.impactWork = accounts.event.impact + accounts.step.impact;
    ledger.frictionWork = accounts.event.friction + accounts.step.friction;
    ledger.microWork = accounts.event.micro;
    ledger.motorWork = accounts.step.motor;
    ledger.dissipation = accounts.step.dissipation;
    ledger.partedWork = accounts.step.parted;
    ledger.settledWork = accounts.event.rest + accounts.step.settled;
    ledger.truncatedWork = accounts.step.truncated;
    ledger.lateWork = accounts.step.late;
    ledger.numericalEnergy =
        ledger.partedWork + ledger.settledWork + ledger.truncatedWork + ledger.lateWork;
    ledger.assemblyWork = accounts.step.assembly + accounts.assemble;
    ledger.restWork = ledger.numericalEnergy + accounts.step.between + ledger.assemblyWork;
    ledger.energyDrift = ledger.energy - ledger.work - ledger.impactWork - ledger.frictionWork -
                         ledger.microWork - ledger.motorWork - ledger.dissipation -
                         ledger.restWork - world->energyReference;
    ledger.numericalEnergy += ledger.energyDrift;
    ledger.energyScale += ledger.kineticLinear + ledger.kineticAngular + ledger.springEnergy;
    ledger.energyScale += fabs(ledger.work) + fabs(ledger.impactWork) + fabs(ledger.frictionWork) +
                          fabs(ledger.motorWork) + fabs(ledger.dissipation) +
                          fabs(ledger.assemblyWork);
    return ledger;
}

static const char* const eventNames[RB_EVENT_COUNT] = {
    [RB_EVENT_IMPULSE] = "impulse",
    [RB_EVENT_SET_STATE] = "set state",
    [RB_EVENT_FALLBACK] = "motion fallback",
    [RB_EVENT_TOLERANCE] = "tolerance missed",
    [RB_EVENT_IMPACT] = "impact",
    [RB_EVENT_MICROCOLLISION] = "microcollision",
    [RB_EVENT_LASTING] = "lasting contact",
    [RB_EVENT_REST] = "rest",
    [RB_EVENT_WAKE] = "wake",
    [RB_EVENT_PARTED] = "parted",
    [RB_EVENT_SENSOR_BEGIN] = "sensor begin",
    [RB_EVENT_SENSOR_END] = "sensor end",
};
RB_DEFINE_NAME(rbEventKind, RB_EVENT_COUNT, eventNames[index])

void rbWorld_AddEvent(rbWorld* world, rbEventKind kind, int index, double energyChange)
{
    rbEvent event = {.time = world->time,
                     .kind = kind,
                     .bodyA = rbWorld_BodyIdOf(world, index),
                     .energyChange = energyChange};
    rbArray_Push(world->events, event);
}

void rbWorld_ClearEvents(rbWorld* world)
{
    world->events.count = 0;
    world->flightStarts.count = 0;
}
