// Steps with springs in the place of contact impulses, see contact_penalty.h. For comparison only.
//
// A step is cut into parts, each a kick, a flight and a kick. Nothing looks ahead: what is fast
// enough passes through thin bodies, as it does in this method.
#include "dynamics/contact/contact_penalty.h"
#include "dynamics/engines/step/step_contact_state.h"

// Impulses of all points over half a part, and what they do to the energy.
static void push(rbStepEngine* engine, const rbStepHost* host, double h, bool isEnd)
{
    rbStepContacts* c = engine->contacts;
    rbPenaltyLaw law = rbMakePenaltyLaw(&c->settings);
    rbContactStep_ShowBodies(engine);
    rbContactStep_OpenBooks(engine, host, c->nodeTime, h, 0.0);
    rbPenaltyLaw_Push(&law, &c->set, c->bodies.data, 0.5 * h, isEnd);
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        rbContactStep_BookLasting(engine, &island, true, false);
    }
    rbContactStep_TakeBodies(engine);
}

static void advancePart(rbStepEngine* engine, const rbStepHost* host, double end)
{
    rbStepContacts* c = engine->contacts;
    double h = end - c->nodeTime;
    push(engine, host, h, false);
    rbContactStep_KickLoose(engine, host, c->nodeTime, 0.5 * h, false);
    rbContactStep_FlyLoose(c, h);
    rbContactStep_PlaceFixed(engine, end);
    c->nodeTime = end;
    rbStepContacts_MakeReady(engine);
    rbContactStep_KickLoose(engine, host, end, 0.5 * h, true);
    push(engine, host, h, true);
}

// Impulses of a whole step like the last part: what the host reads.
static void showForces(rbStepContacts* c, double scale)
{
    for (int i = 0; i < c->set.pointCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            c->set.points[i].impulse[k] *= scale;
        }
    }
}

void rbPenaltyStep_Advance(rbStepEngine* engine, const rbStepHost* host, double end)
{
    rbStepContacts* c = engine->contacts;
    double start = c->nodeTime;
    double h = end - start;
    for (int i = 1; i <= c->parts; ++i) {
        advancePart(engine, host, i < c->parts ? start + h * i / c->parts : end);
    }
    showForces(c, 2.0 * c->parts * engine->settings.step / h);
    engine->statistics.substeps += c->parts - 1;
}

// As far as the forces of the node carry.
void rbPenaltyStep_Look(rbStepEngine* engine, const rbStepHost* host, double time)
{
    rbStepContacts* c = engine->contacts;
    double h = time - c->nodeTime;
    rbContactBooks books = c->books;
    rbContactStep_NoteNode(c);
    push(engine, host, h, false);
    rbContactStep_KickLoose(engine, host, c->nodeTime, 0.5 * h, false);
    rbContactStep_FlyLoose(c, h);
    rbContactStep_KickLoose(engine, host, time, 0.5 * h, false);
    push(engine, host, h, false);
    c->books = books;
}

int rbPenaltyStep_CountParts(const rbContactSettings* settings, double h)
{
    if (settings->method != RB_CONTACT_PENALTY) {
        return 1;
    }
    rbPenaltyLaw law = rbMakePenaltyLaw(settings);
    return rbPenaltyLaw_CountParts(&law, h);
}
