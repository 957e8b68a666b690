// Steps in which many bodies strike each other, in parts.
//
// One long step of a falling heap is a hard problem: a blow runs through it, and at the end of a
// flight of several centimeters nothing may overlap. Short parts are easy for sweeps: as far as a
// body falls in a part is within the tolerance, so little of the impulses is left to be found. Only
// the end of the step has to meet the tolerances, so in all parts but the last a few sweeps are
// enough; what they leave the next part corrects. 1000 falling spheres, mixed bodies and cubes on
// terrain at 60 Hz, 1e-5 m and 1e-4 m/s, the first 120 steps, took 240, 1400 and 990 ms a step as a
// whole, with up to 0.16 m of overlap and every second step of the last half above its tolerance.
#include "dynamics/engines/step/step_valid.h"

// What the division was tuned by: 1000 spheres, mixed bodies and cubes on terrain at 60 Hz.
static const struct {
    int bodiesMany;  // islands of more; with 16 5 to 10 % faster
    int bodiesLarge; // islands of more are divided while anything moves in them: as a whole nearly
                     // settled spheres take 0.7 s a step and leave 4e-5 m, in parts 0.27 s
    double slowest;  // of the rest speed, that counts there; at rest nothing is as fast
    int partsMax;    // 12 are common; with 6 and 3 nearly settled heaps miss more steps
} tuning = {32, 64, 0.1, 32};

// Whether something strikes in the island within a step.
static bool isStruck(const rbStepContacts* c, const rbContactIsland* island)
{
    double slowest =
        (island->bodyCount > tuning.bodiesLarge ? tuning.slowest : 1.0) * c->settings.restSpeed;
    bool isAny = false;
    for (int i = 0; i < island->contactCount && !isAny; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            double speed = rbContactStep_NormalSpeed(c, contact, &c->set.points[k]);
            isAny = isAny || speed < -slowest;
        }
    }
    return isAny;
}

// Islands as those of the position stage of a whole step.
static void markIdle(rbStepContacts* c, double h)
{
    if (rbContactStep_MarkIdle(c, h)) {
        rbStepContacts_PrepareSet(c);
    }
}

int rbContactStep_CountParts(rbStepContacts* c)
{
    bool isOne = c->method.row != NULL || c->solvers.substeps != NULL;
    if (isOne || c->set.contactCount <= tuning.bodiesMany) {
        return 1;
    }
    double whole = c->engine->settings.step;
    bool isAny = false;
    rbContactStep_ShowBodies(c);
    markIdle(c, whole);
    for (int i = 0; i < c->islandCount && !isAny; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        isAny = island.bodyCount > tuning.bodiesMany && isStruck(c, &island);
    }
    markIdle(c, 0.0);
    // The rest speed is what forces add in a step.
    double acceleration = c->settings.restSpeed / whole;
    double parts = ceil(whole / sqrt(2.0 * c->allowed.gap / acceleration));
    return isAny ? (int)fmax(1.0, fmin(parts, tuning.partsMax)) : 1;
}
