// One step of all bodies that may touch, as a list of stages, and the grid of such steps.
//
// A step from t to t + h has two halves. The first decides the flight: half of the forces, and
// impulses that hold gaps, sticking points and joints at t + h. Nothing has moved then, so it can
// be undone and begun again with another h, see step_contact_time.c. The second makes it.
#include "base/core/timer.h"
#include "dynamics/engines/step/step_valid.h"

// Mechanisms that woke at the end of the flight have had no first half.
static void kickMoving(const rbStepRun* run, double time, double h)
{
    if (!rbContactStep_IsWoken(run->mechanism->engine->contacts, run->mechanism)) {
        rbStep_KickBasic(run, time, h);
    }
}

static void pushAtStart(rbStepContacts* c, const rbStepHost* host, double h)
{
    double time = c->grid.time;
    rbContactStep_KickLoose(c, host, time, 0.5 * h, false);
    rbContactStep_EachMechanism(c, host, rbStep_BeginBasic, h);
}

static void solvePositions(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    RB_ASSERT(h > 0.0 && c->flight.kinds.count == c->engine->bodies.count + 1);
    double begun = rbGetThreadTime();
    rbContactStep_SolveAhead(c, host, h, miss);
    RB_VALIDATE(rbStepValid_AreBodies(c));
    RB_VALIDATE(rbStepValid_IsSet(c));
    RB_VALIDATE(rbStepValid_AreImpulses(c));
    RB_VALIDATE(rbStepValid_AreIslands(c));
    RB_VALIDATE(rbStepValid_IsFlight(c, h));
    c->accounts.contactTime += rbGetThreadTime() - begun;
}

static void fly(rbStepContacts* c, const rbStepHost* host, double h)
{
    rbContactStep_AddTouches(c, host, c->stage.before.data, 1.0);
    rbContactStep_TakeBodies(c);
    rbContactStep_TakeFlights(c);
    rbContactStep_FlyLoose(c, h);
    rbContactStep_EachMechanism(c, host, rbStep_FlyBasic, h);
    rbContactStep_ReturnSpeeds(c, host, h);
    rbContactStep_BeginMeetings(c, host, h);
    rbStepLimits_Keep(c);
    rbContactStep_PlaceFixed(c, c->grid.time + h, c->stage.kink);
    RB_ASSERT(c->grid.time + h > c->grid.time);
    c->grid.time += h;
    c->trial.isFlown = false;
}

// Contacts at the end of the flight. What arrived takes part, although it may be slightly open.
static void findEnd(rbStepContacts* c, double h, bool isAgain)
{
    rbStepContacts_Find(c);
    rbContactStep_CloseArrivals(c, h, isAgain);
    if (rbContactStep_MarkIdle(c, 0.0)) {
        rbStepContacts_BuildGraph(c);
    }
}

static void find(rbStepContacts* c, const rbStepHost* host, double h)
{
    c->stage.part = rbContactStep_PartOf(c, h);
    findEnd(c, h, false);
    rbContactStep_WakeBodies(c, host, h);
    rbStepContacts_PrepareRows(c, h);
    RB_VALIDATE(rbStepValid_IsSet(c));
    RB_VALIDATE(rbStepValid_AreBodies(c));
    RB_VALIDATE(rbStepValid_AreIslands(c));
}

// Before the forces of the end act: bodies at rest do not collide.
static void collide(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    double begun = rbGetThreadTime();
    rbContactStep_KickStriking(c, host, h);
    rbContactStep_NoteArriving(c, host);
    rbContactStep_SettleLoads(c, host, h, miss);
    bool isAny = rbContactStep_SolveCollisions(c, host, h, miss);
    RB_VALIDATE(rbStepValid_AreImpulses(c));
    c->accounts.collisionTime += rbGetThreadTime() - begun;
    if (!isAny) {
        return; // bodies are as they were found
    }
    rbContactStep_TakeBodies(c);
    if (!rbContactStep_EndMeetings(c, host, h) && !rbStepContacts_IsFasterThanReach(c)) {
        return;
    }
    if (c->solvers.substeps != NULL) {
        rbStepContacts_MakeReady(c);
    } else {
        findEnd(c, h, true);
        if (rbContactStep_UndoMeetings(c, h)) {
            findEnd(c, h, true);
        }
        rbStepContacts_PrepareRows(c, h);
    }
}

static void pushAtEnd(rbStepContacts* c, const rbStepHost* host, double h)
{
    double time = c->grid.time;
    rbContactStep_KickLoose(c, host, time, 0.5 * h, true);
    rbContactStep_TakeLateKicks(c, h);
    rbContactStep_EachMechanism(c, host, kickMoving, h);
}

static void solveVelocities(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    double begun = rbGetThreadTime();
    rbContactStep_SolveVelocities(c, host, h, miss);
    RB_VALIDATE(rbStepValid_AreImpulses(c));
    RB_VALIDATE(rbStepValid_AreBodies(c));
    c->accounts.contactTime += rbGetThreadTime() - begun;
    rbContactStep_FreezeBodies(c, host, h);
    rbContactStep_TakeBodies(c);
}

static void account(rbStepContacts* c, const rbStepHost* host, double h)
{
    rbContactStep_EachMechanism(c, host, rbContactStep_EndMechanism, h);
    rbStepLimits_Keep(c);
    rbContactStep_CloseAccounts(c);
    RB_VALIDATE(rbStepValid_AreAccounts(c));
    rbContactStep_ReportTouches(c, host);
}

void rbContactStep_Begin(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    RB_ASSERT(h > 0.0 && c->stage.part > 0.0);
    RB_VALIDATE(rbStepValid_IsSet(c));
    rbContactStep_ScaleGuess(c, h);
    pushAtStart(c, host, h);
    solvePositions(c, host, h, miss);
}

static void finish(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    RB_ASSERT(h > 0.0 && !(miss->gap < 0.0) && !(miss->speed < 0.0));
    rbContactStep_BeginTouches(c);
    fly(c, host, h);
    find(c, host, h);
    collide(c, host, h, miss);
    pushAtEnd(c, host, h);
    solveVelocities(c, host, h, miss);
    account(c, host, h);
    rbContactStep_MeasureEnd(c, miss);
    RB_ASSERT(!(miss->gap < 0.0) && !(miss->overlap < 0.0));
}

// ---------------------------------------------------------------------------------------- the grid

// One step by a registered method.
static bool stepByMethod(rbStepContacts* c, const rbStepHost* host, double next)
{
    RB_ASSERT(next > c->grid.time);
    rbStepMiss miss = {0};
    c->method.row->advance(c, host, next);
    rbContactStep_CloseAccounts(c);
    c->grid.index += 1;
    rbContactStep_CountStep(c, &miss, true);
    return true;
}

// The end of the current part of the step, which is a node of the grid for the last one.
static double getNext(const rbStepContacts* c)
{
    double whole = c->engine->settings.step;
    double node = c->grid.origin + (double)c->grid.index * whole;
    RB_ASSERT(c->parts.done >= 0 && (c->parts.count == 0 || c->parts.done < c->parts.count));
    return rbContactStep_IsInner(c)
               ? node - (c->parts.count - c->parts.done - 1) * (whole / c->parts.count)
               : node;
}

static void endPart(rbStepContacts* c, double next)
{
    RB_ASSERT(c->parts.done < c->parts.count && c->grid.index > 0);
    c->grid.time = next;
    c->parts.done += 1;
    if (c->parts.done >= c->parts.count) {
        c->parts.count = 0;
        c->parts.done = 0;
        c->grid.index += 1;
        c->trial.cuts = 0;
    }
}

// One step from the node, to the next one of the grid, the end of a part or a cut; false: it would
// end after the time.
static bool step(rbStepContacts* c, const rbStepHost* host, double time)
{
    double snap = RB_STEP_SNAP * c->engine->settings.step;
    if (c->parts.count == 0) {
        c->parts.count = rbContactStep_CountParts(c);
        c->statistics.dividedSteps += c->parts.count > 1 ? 1 : 0;
    }
    double next = getNext(c);
    bool isBeyond = next > time + snap;
    if (isBeyond && (c->method.row != NULL || time <= c->grid.time + snap)) {
        return false;
    }
    if (c->method.row != NULL) {
        return stepByMethod(c, host, next);
    }
    rbStepMiss miss = {0};
    double h = next - c->grid.time;
    RB_ASSERT(h > 0.0 && c->grid.index > 0);
    rbPairGaps_Note(&c->stage.pairGaps, &c->set, c->found.contactCount);
    // a game's steps are not cut
    if (isBeyond || c->solvers.substeps == NULL) {
        h = rbContactStep_BeginCut(c, host, h, isBeyond ? time : next, &miss);
        if (!(h > 0.0)) {
            return false;
        }
    } else {
        rbContactStep_Begin(c, host, h, &miss);
    }
    bool isEnd = h == next - c->grid.time;
    bool isInner = rbContactStep_IsInner(c);
    finish(c, host, h, &miss);
    if (isInner) {
        miss = (rbStepMiss){.rebound = miss.rebound}; // tolerances hold at the end of the step
    }
    if (isEnd) {
        endPart(c, next);
    }
    rbContactStep_CountStep(c, &miss, isEnd && !isInner);
    return true;
}

static int64_t countUnmet(const rbStepContacts* c)
{
    return c->statistics.unmetSteps + c->engine->statistics.unmetSteps +
           c->engine->statistics.inaccurateSteps;
}

double rbContactStep_MakePlain(rbStepContacts* c, const rbStepHost* host, double h)
{
    rbStepMiss miss = {0};
    c->trial.cuts = 0;
    c->trial.isFlown = false;
    rbPairGaps_Note(&c->stage.pairGaps, &c->set, c->found.contactCount);
    h = rbContactStep_BeginCut(c, host, h, c->grid.time + h, &miss);
    RB_ASSERT(h > 0.0);
    finish(c, host, h, &miss);
    rbContactStep_CountStep(c, &miss, false);
    return h;
}

rbStatus rbStepContacts_Advance(rbStepContacts* c, const rbStepHost* host, double time,
                                double* reached)
{
    RB_ASSERT(time >= c->engine->time);
    int64_t unmet = countUnmet(c);
    if (rbContactOrder_IsUsed(c)) {
        rbContactOrder_Advance(c, host, time);
        *reached = rbContactStep_IsFinite(c) ? time : c->engine->time;
        c->engine->time = *reached;
        if (*reached < time) {
            return RB_STATUS_LIMIT;
        }
        return countUnmet(c) > unmet ? RB_STATUS_NUMERICAL : RB_STATUS_OK;
    }
    while (step(c, host, time)) {
        if (!rbContactStep_IsFinite(c)) {
            *reached = c->engine->time;
            return RB_STATUS_LIMIT;
        }
        rbPoll();
    }
    if (time > c->grid.time + RB_STEP_SNAP * c->engine->settings.step) {
        rbContactStep_LookBetween(c, host, time);
    } else {
        c->trial.work = 0.0;
        rbContactStep_WriteBodies(c, host);
    }
    c->engine->time = time;
    *reached = time;
    return countUnmet(c) > unmet ? RB_STATUS_NUMERICAL : RB_STATUS_OK;
}
