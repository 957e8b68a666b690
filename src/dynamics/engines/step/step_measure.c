// What contacts are like at the end of a step, see step_measure.h.
#include "dynamics/engines/step/step_measure.h"

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

void rbPairGaps_Note(rbPairGaps* gaps, const rbContactSet* set, int contactCount)
{
    gaps->list.count = 0;
    for (int i = 0; i < contactCount; ++i) {
        const rbContact* contact = &set->contacts[i];
        rbPairGap own = {contact->bodyA, contact->bodyB, rbFindLeastGap(set, contact)};
        rbPairGap* last = gaps->list.count > 0 ? &gaps->list.data[gaps->list.count - 1] : NULL;
        if (last != NULL && last->bodyA == own.bodyA && last->bodyB == own.bodyB) {
            last->gap = fmin(last->gap, own.gap);
        } else {
            RB_ASSERT(last == NULL || last->bodyA < own.bodyA ||
                      (last->bodyA == own.bodyA && last->bodyB < own.bodyB));
            rbArray_Push(gaps->list, own);
        }
    }
}

// The gap that a pair had at the start; INFINITY: it was not near.
static double findGap(const rbPairGaps* gaps, int bodyA, int bodyB)
{
    int low = 0;
    int high = gaps->list.count;
    while (low < high) {
        int middle = (low + high) / 2;
        const rbPairGap* own = &gaps->list.data[middle];
        bool isBefore = own->bodyA < bodyA || (own->bodyA == bodyA && own->bodyB < bodyB);
        low = isBefore ? middle + 1 : low;
        high = isBefore ? high : middle;
    }
    bool isFound = low < gaps->list.count && gaps->list.data[low].bodyA == bodyA &&
                   gaps->list.data[low].bodyB == bodyB;
    return isFound ? gaps->list.data[low].gap : INFINITY;
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
    double response = respond(&bodies[contact->bodyA], point->armA, contact->normal) +
                      respond(&bodies[contact->bodyB], point->armB, contact->normal);
    double error = fmax(0.0, outside * response);
    if (point->isClosed) {
        error = fmax(error, -along);
        if (point->isSticking && p[0] > 0.0 && along <= tolerance) {
            error = fmax(error, rbLength(rbAddScaled(u, -along, contact->normal)));
        }
    }
    return error;
}

double rbMeasureSpeeds(const rbContactSet* set, const int* order, int orderCount,
                       const rbContactBody* bodies, double tolerance)
{
    double error = 0.0;
    for (int i = 0; i < orderCount; ++i) {
        const rbContact* contact = &set->contacts[order != NULL ? order[i] : i];
        bool isIn = rbContactBody_IsMoved(&bodies[contact->bodyA]) ||
                    rbContactBody_IsMoved(&bodies[contact->bodyB]);
        for (int k = 0; isIn && k < contact->pointCount; ++k) {
            const rbContactPoint* point = &set->points[contact->firstPoint + k];
            error = fmax(error, measurePoint(contact, point, bodies, tolerance));
        }
    }
    return error;
}

double rbMeasureOverlap(const rbContactSet* set, int contactCount, const rbPairGaps* start)
{
    double deepest = 0.0;
    for (int i = 0; i < contactCount; ++i) {
        const rbContact* contact = &set->contacts[i];
        double depth = -rbFindLeastGap(set, contact);
        if (depth > deepest && depth > -findGap(start, contact->bodyA, contact->bodyB)) {
            deepest = depth;
        }
    }
    return deepest;
}
