// Shock propagation of lasting contacts: levels are solved from below and then stand still for
// those above them.
//
// Impulses of a level do not act on what stands still: momentum goes into it, and where bodies move
// fast, it also does work on what it pushes. Hence three bounds. A level that does not come nearer
// to its solution (a body between two that close in on it has none) is left as sweeps had it. What
// all levels changed is taken back, by one part for velocities and impulses, until there is no more
// energy than at the start of the stage or after the sweeps. The errors told are those of the end.
#include "dynamics/contact/contact_energy.h"
#include "dynamics/contact/contact_stage.h"

#include <math.h>
#include <string.h>

// Sweeps of a level, and those in which its error must have fallen by a part to go on, unless it is
// within so many times the tolerance.
#define LEVEL_SWEEPS_MAX 300
#define LOOK_SWEEPS 10
#define LEAST_GAIN 0.9
#define NEAR 10

void rbShockMemory_Free(rbShockMemory* memory)
{
    rbArray_Free(memory->bodies);
    rbArray_Free(memory->impulses);
    rbArray_Free(memory->areSticking);
    rbArray_Free(memory->lower);
}

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

static void copyBodies(const rbContactStage* stage, rbSweepBody* to)
{
    const rbSweepBody* from = stage->rows->bodies.data + stage->pack.firstBody;
    memcpy(to, from, (size_t)stage->pack.bodyCount * sizeof *to);
}

static void remember(const rbContactStage* stage)
{
    rbShockMemory* memory = stage->shock;
    const rbRowsPack* pack = &stage->pack;
    rbArray_Reserve(memory->bodies, pack->bodyCount);
    rbArray_Reserve(memory->lower, pack->bodyCount);
    rbArray_Reserve(memory->impulses, 3 * (pack->pointCount + pack->turnCount));
    rbArray_Reserve(memory->areSticking, pack->pointCount);
    copyBodies(stage, memory->bodies.data);
    for (int i = 0; i < pack->pointCount; ++i) {
        const rbSweepPoint* point = &stage->rows->points.data[pack->firstPoint + i];
        memcpy(&memory->impulses.data[(size_t)3 * (size_t)i], point->impulse,
               sizeof point->impulse);
        memory->areSticking.data[i] = point->isSticking;
    }
    for (int i = 0; i < pack->turnCount; ++i) {
        memcpy(&memory->impulses.data[(size_t)3 * (size_t)(pack->pointCount + i)],
               stage->rows->turns.data[pack->firstTurn + i].impulse, 3 * sizeof(double));
    }
}

static void mix(double now[3], const double then[3], double part)
{
    for (int k = 0; k < 3; ++k) {
        now[k] = part > 0.0 ? then[k] + part * (now[k] - then[k]) : then[k];
    }
}

// Impulses of a range of contacts: so much of what has changed since remember() stays.
static void keepPart(const rbContactStage* stage, int first, int last, double part)
{
    const rbShockMemory* memory = stage->shock;
    const rbRowsPack* pack = &stage->pack;
    for (int i = first; i < last; ++i) {
        const rbSweepContact* contact = &stage->rows->contacts.data[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            rbSweepPoint* point = &stage->rows->points.data[k];
            mix(point->impulse, &memory->impulses.data[(size_t)3 * (size_t)(k - pack->firstPoint)],
                part);
            if (!(part > 0.0)) {
                point->isSticking = memory->areSticking.data[k - pack->firstPoint];
            }
        }
        if (contact->turn >= 0) {
            int place = pack->pointCount + contact->turn - pack->firstTurn;
            mix(stage->rows->turns.data[contact->turn].impulse,
                &memory->impulses.data[(size_t)3 * (size_t)place], part);
        }
    }
}

static double getError(const rbSweepTally* tally)
{
    return fmax(tally->normalError, tally->tangentError);
}

// Sweeps over a level until it is met or hopeless. Returns the last of them; false in isGood: the
// level is as it was.
static rbSweepTally solveLevel(rbContactStage* stage, int first, int last, bool* isGood)
{
    copyBodies(stage, stage->shock->lower.data);
    rbSweepTally tally = {.worst = -1};
    double before = INFINITY;
    double looked = INFINITY;
    bool isDone = false;
    stage->areJointsOff = false;
    for (int k = 0; k < LEVEL_SWEEPS_MAX && !isDone; ++k) {
        isDone = rbContactStage_Sweep(stage, first, last, &tally);
        // joints that none of these bodies moves need no sweep each time
        stage->areJointsOff = stage->areJointsMet;
        before = k == 0 ? getError(&tally) : before;
        if (k % LOOK_SWEEPS == LOOK_SWEEPS - 1) {
            double error = getError(&tally);
            if (!(error < LEAST_GAIN * looked) && !(error < NEAR * stage->tolerance)) {
                break;
            }
            looked = error;
        }
    }
    stage->areJointsOff = false;
    *isGood = stage->solved.isMet || getError(&tally) < before;
    if (!*isGood) {
        memcpy(stage->rows->bodies.data + stage->pack.firstBody, stage->shock->lower.data,
               (size_t)stage->pack.bodyCount * sizeof(rbSweepBody));
        keepPart(stage, first, last, 0.0);
        tally.normalError = fmax(tally.normalError, before);
    }
    return tally;
}

// Part of the changes since remember() that leaves no more energy than there was before the stage
// or then.
static double findPart(const rbContactStage* stage)
{
    rbEnergyLine sweeps = {0};
    rbEnergyLine levels = {0};
    for (int i = 0; i < stage->pack.bodyCount; ++i) {
        const rbSweepBody* now = &stage->rows->bodies.data[stage->pack.firstBody + i];
        const rbSweepBody* then = &stage->shock->bodies.data[i];
        const rbRowsBody* start = &stage->rows->starts.data[stage->pack.firstBody + i];
        double mass = now->invMass > 0.0 ? 1.0 / now->invMass : 0.0;
        rbVec3 v0 = start->velocity;
        rbVec3 v1 = rbAdd(v0, rbSweepBody_Velocity(then));
        rbVec3 v2 = rbAdd(v0, rbSweepBody_Velocity(now));
        rbVec3 y0 = rbSolveFactor(&start->factor, start->spin);
        rbVec3 y1 = rbAdd(y0, rbMakeVec3(then->spin[0], then->spin[1], then->spin[2]));
        rbVec3 y2 = rbAdd(y0, rbMakeVec3(now->spin[0], now->spin[1], now->spin[2]));
        rbEnergyLine_Add(&sweeps, mass, v0, v1);
        rbEnergyLine_Add(&sweeps, 1.0, y0, y1);
        rbEnergyLine_Add(&levels, mass, v1, v2);
        rbEnergyLine_Add(&levels, 1.0, y1, y2);
    }
    double rise = rbEnergyLine_GetRise(&sweeps);
    return rbEnergyLine_FindPart(&levels, rise < 0.0 ? -rise : 0.0);
}

// Energy is no more than it was; errors in between are at most those of the mixture.
static double boundEnergy(const rbContactStage* stage)
{
    double part = findPart(stage);
    if (part < 1.0) {
        for (int i = 0; i < stage->pack.bodyCount; ++i) {
            rbSweepBody* now = &stage->rows->bodies.data[stage->pack.firstBody + i];
            const rbSweepBody* then = &stage->shock->bodies.data[i];
            mix(now->velocity, then->velocity, part);
            mix(now->spin, then->spin, part);
        }
        keepPart(stage, stage->pack.firstContact,
                 stage->pack.firstContact + stage->pack.contactCount, part);
    }
    return part;
}

void rbContactStage_PropagateShock(rbContactStage* stage)
{
    rbContactRows* rows = stage->rows;
    double worst[2] = {0.0, 0.0};
    double swept[2] = {stage->solved.gapError, stage->solved.slipError};
    int worstContact = -1;
    bool isMet = true;
    remember(stage);
    int end = stage->pack.firstContact + stage->pack.contactCount;
    for (int first = stage->pack.firstContact, last = first; first < end; first = last) {
        while (last < end && rows->contacts.data[last].level == rows->contacts.data[first].level) {
            rbContactRows_Freeze(rows, last++);
        }
        bool isGood = true;
        rbSweepTally tally = solveLevel(stage, first, last, &isGood);
        bool isLevelMet = isGood && stage->solved.isMet;
        isMet = isMet && isLevelMet;
        worst[0] = fmax(worst[0], tally.normalError);
        worst[1] = fmax(worst[1], tally.tangentError);
        worstContact = isLevelMet ? worstContact : stage->solved.worst;
        freezeBodies(stage, first, last);
    }
    for (int i = 0; i < stage->pack.bodyCount; ++i) {
        rbRowsBody* body = &rows->starts.data[stage->pack.firstBody + i];
        stage->run->bodies[body->index].isFrozen = false;
    }
    double part = boundEnergy(stage);
    stage->solved.gapError = part * worst[0] + (1.0 - part) * swept[0];
    stage->solved.slipError = part * worst[1] + (1.0 - part) * swept[1];
    stage->solved.worst = worstContact;
    stage->solved.isMet =
        (isMet && part == 1.0) ||
        (part < 1.0 && fmax(stage->solved.gapError, stage->solved.slipError) <= stage->tolerance);
    stage->solved.isShocked = true;
    rbContactRows_Spend(rows, stage->run);
}
