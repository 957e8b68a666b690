// What contacts are like at the end of a step, see step_measure.h.
#include "dynamics/engines/step/step_measure.h"

#include "base/core/tasks.h"
#include "base/math/matrix3.h"

#include <math.h>

double rbFindLeastGap(const rbContactSet* set, const rbContact* contact)
{
    double least = INFINITY;
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        least = fmin(least, set->points[k].gap);
    }
    return least;
}

// Least contacts of a block.
#define CONTACTS_LEAST 256

// What blocks measure.
typedef struct Measured {
    const rbContactSet* set;
    const int* order;
    const rbContactBody* bodies;
    double tolerance;
    const rbContactSet* start;
    double* deepest; // m, by block
    int blockSize;
} Measured;

int rbFindPair(const rbContactSet* set, int bodyA, int bodyB, int* end)
{
    RB_ASSERT(bodyA < bodyB);
    int low = 0;
    int high = set->contactCount;
    while (low < high) {
        int middle = (low + high) / 2;
        const rbContact* contact = &set->contacts[middle];
        bool isBefore =
            contact->bodyA < bodyA || (contact->bodyA == bodyA && contact->bodyB < bodyB);
        low = isBefore ? middle + 1 : low;
        high = isBefore ? high : middle;
    }
    *end = low;
    while (*end < set->contactCount && set->contacts[*end].bodyA == bodyA &&
           set->contacts[*end].bodyB == bodyB) {
        *end += 1;
    }
    return low;
}

// The gap that a pair had at the start; INFINITY: it was not near.
static double findGap(const rbContactSet* start, int bodyA, int bodyB)
{
    double least = INFINITY;
    int end;
    for (int i = rbFindPair(start, bodyA, bodyB, &end); i < end; ++i) {
        least = fmin(least, rbFindLeastGap(start, &start->contacts[i]));
    }
    return least;
}

// Speed along the normal that a unit impulse there gives, 1/kg.
static double respond(const rbContactBody* body, rbVec3 arm, rbVec3 normal)
{
    rbVec3 lever = rbCross(arm, normal);
    return rbContactBody_IsMoved(body)
               ? body->invMass + rbDot(lever, rbMulSV(body->invInertia, lever))
               : 0.0;
}

static double measurePoint(const rbContact* contact, const rbContactPoint* point,
                           const rbContactBody* bodies, double tolerance)
{
    rbVec3 u = rbContact_RelativeVelocity(bodies, contact, point);
    double along = rbDot(u, contact->normal);
    const double* p = point->impulse;
    double tangential = sqrt(p[1] * p[1] + p[2] * p[2]);
    double outside = fmax(-p[0], tangential - contact->stiction * p[0]);
    double error = 0.0;
    if (outside > 0.0) {
        error = outside * (respond(&bodies[contact->bodyA], point->armA, contact->normal) +
                           respond(&bodies[contact->bodyB], point->armB, contact->normal));
    }
    if (point->isClosed) {
        error = fmax(error, point->target - along);
        if (point->isSticking && p[0] > 0.0 && along <= tolerance) {
            error = fmax(error, rbLength(rbAddScaled(u, -along, contact->normal)));
        }
    }
    return error;
}

static double measureSpeed(const void* context, int index)
{
    const Measured* m = context;
    const rbContact* contact = &m->set->contacts[m->order != NULL ? m->order[index] : index];
    bool isIn = rbContactBody_IsMoved(&m->bodies[contact->bodyA]) ||
                rbContactBody_IsMoved(&m->bodies[contact->bodyB]);
    double error = 0.0;
    for (int k = 0; isIn && k < contact->pointCount; ++k) {
        const rbContactPoint* point = &m->set->points[contact->firstPoint + k];
        error = fmax(error, measurePoint(contact, point, m->bodies, m->tolerance));
    }
    return error;
}

double rbMeasureSpeeds(const rbContactSet* set, const int* order, int orderCount,
                       const rbContactBody* bodies, double tolerance)
{
    RB_ASSERT(orderCount >= 0 && !(tolerance < 0.0));
    Measured all = {.set = set, .order = order, .bodies = bodies, .tolerance = tolerance};
    return rbRunElements(orderCount, CONTACTS_LEAST, measureSpeed, &all).largest;
}

// The deepest so far of its block: few are looked up.
static double measureOverlap(const void* context, int index)
{
    const Measured* m = context;
    const rbContact* contact = &m->set->contacts[index];
    double* deepest = &m->deepest[index / m->blockSize];
    double depth = -rbFindLeastGap(m->set, contact);
    if (depth > *deepest && depth > -findGap(m->start, contact->bodyA, contact->bodyB)) {
        *deepest = depth;
    }
    return *deepest;
}

double rbMeasureOverlap(const rbContactSet* set, const rbContactSet* start)
{
    double deepest[RB_BLOCKS_MAX] = {0.0};
    int blockSize = rbGetBlockSize(set->contactCount, CONTACTS_LEAST);
    Measured all = {.set = set, .start = start, .deepest = deepest, .blockSize = blockSize};
    return rbRunElements(set->contactCount, CONTACTS_LEAST, measureOverlap, &all).largest;
}
