// Journal entries of steps with contacts: collisions, and bodies that freeze or wake.
#include "dynamics/engines/step/step_contact_state.h"

// Kinetic energy of an island before the stage.
static double energyThen(const rbStepEngine* engine, const rbContactIsland* island)
{
    const rbStepContacts* c = engine->contacts;
    double sum = 0.0;
    for (int i = 0; i < island->bodyCount; ++i) {
        const rbMechBody* body = rbContactStep_GetBody(engine, island->bodies[i]);
        const rbContactBody* then = &c->accounts.opened.data[island->bodies[i]];
        rbVec3 spin = rbMulMtV(body->pose.rotation, then->spin);
        sum += 0.5 * body->mass * rbLengthSquared(then->velocity) +
               0.5 * rbDot(body->moments, rbMulEach(spin, spin));
    }
    return sum;
}

void rbContactStep_ReportCollisions(const rbStepEngine* engine, const rbStepHost* host,
                                    const rbContactIsland* island, const rbCollisionNote* notes,
                                    int count)
{
    const rbStepContacts* c = engine->contacts;
    double energyBefore = count > 0 ? energyThen(engine, island) : 0.0;
    for (int i = 0; i < count; ++i) {
        const rbCollisionNote* note = &notes[i];
        const rbContact* contact = &c->set.contacts[note->contact];
        // Reaching a limit of a joint is not an impact of two bodies.
        if (note->contact >= c->foundCount) {
            continue;
        }
        const rbMechBody* bodyA = rbContactStep_GetBody(engine, contact->bodyA);
        rbEvent event = {.time = c->grid.time,
                         .kind = RB_EVENT_IMPACT,
                         .bodyA = rbEngineBody(contact->bodyA),
                         .bodyB = rbEngineBody(contact->bodyB),
                         .law = note->law,
                         .history = note->history,
                         .energyChange = note->normalWork + note->frictionWork,
                         .energyBefore = energyBefore,
                         .frictionWork = note->frictionWork,
                         .point = rbAdd(bodyA->pose.position, note->arm),
                         .normal = contact->normal,
                         .impulse = note->impulse,
                         .approachSpeed = note->approachSpeed};
        host->journal(host->context, &event);
    }
}

void rbContactStep_ReportFrozen(const rbStepEngine* engine, const rbStepHost* host, int body,
                                bool isWoken, double energyChange)
{
    if (host->journal != NULL) {
        rbEvent event = {.time = engine->contacts->grid.time,
                         .kind = isWoken ? RB_EVENT_WAKE : RB_EVENT_REST,
                         .bodyA = rbEngineBody(body),
                         .energyChange = energyChange};
        host->journal(host->context, &event);
    }
}
