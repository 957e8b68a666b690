// Shock propagation of lasting contacts: levels are solved from below and then stand still for
// those above them.
#include "dynamics/contact/contact_stage.h"

// Sweeps of a level.
#define LEVEL_SWEEPS_MAX 300

// Bodies of the contacts in a range stand still for those above.
static void freezeBodies(const rbContactStage* stage, int first, int last)
{
    rbContactRows* rows = stage->rows;
    for (int i = first; i < last; ++i) {
        const rbSweepContact* contact = &rows->contacts.data[i];
        int slots[2] = {contact->slotA, contact->slotB};
        for (int k = 0; k < 2; ++k) {
            if (slots[k] > 0) {
                rbRowsBody* body = &rows->starts.data[slots[k]];
                body->isFrozen = true;
                stage->run->bodies[body->index].isFrozen = true;
            }
        }
    }
}

void rbContactStage_PropagateShock(rbContactStage* stage)
{
    rbContactRows* rows = stage->rows;
    double worst[2] = {0.0, 0.0};
    int worstContact = -1;
    bool isMet = true;
    int end = stage->pack.firstContact + stage->pack.contactCount;
    for (int first = stage->pack.firstContact, last = first; first < end; first = last) {
        while (last < end && rows->contacts.data[last].level == rows->contacts.data[first].level) {
            rbContactRows_Freeze(rows, last++);
        }
        rbSweepTally tally = {.worst = -1};
        bool isDone = false;
        for (int k = 0; k < LEVEL_SWEEPS_MAX && !isDone; ++k) {
            isDone = rbContactStage_Sweep(stage, first, last, &tally);
        }
        bool isLevelMet = stage->solved.isMet;
        isMet = isMet && isLevelMet;
        worst[0] = tally.normalError > worst[0] ? tally.normalError : worst[0];
        worst[1] = tally.tangentError > worst[1] ? tally.tangentError : worst[1];
        worstContact = isLevelMet ? worstContact : stage->solved.worst;
        freezeBodies(stage, first, last);
    }
    for (int i = 0; i < stage->pack.bodyCount; ++i) {
        rbRowsBody* body = &rows->starts.data[stage->pack.firstBody + i];
        stage->run->bodies[body->index].isFrozen = false;
    }
    stage->solved.gapError = worst[0];
    stage->solved.slipError = worst[1];
    stage->solved.worst = worstContact;
    stage->solved.isMet = isMet;
    stage->solved.isShocked = true;
    rbContactRows_Spend(rows, stage->run);
}
