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
    if (!rbContactStep_IsWoken(run->engine->contacts, run->mechanism)) {
        rbStep_KickBasic(run, time, h);
    }
}

static void pushAtStart(rbStepEngine* engine, const rbStepHost* host, double h)
{
    double time = engine->contacts->grid.time;
    rbContactStep_KickLoose(engine, host, time, 0.5 * h, false);
    rbContactStep_EachMechanism(engine, host, rbStep_BeginBasic, h);
}

static void solvePositions(rbStepEngine* engine, const rbStepHost* host, double h, rbStepMiss* miss)
{
    double begun = rbGetThreadTime();
    rbContactStep_SolveAhead(engine, host, h, miss);
    RB_VALIDATE(rbStepValid_AreBodies(engine));
    RB_VALIDATE(rbStepValid_IsSet(engine->contacts));
    RB_VALIDATE(rbStepValid_AreImpulses(engine->contacts));
    RB_VALIDATE(rbStepValid_AreIslands(engine->contacts));
    RB_VALIDATE(rbStepValid_IsFlight(engine->contacts, h));
    engine->contacts->accounts.contactTime += rbGetThreadTime() - begun;
}

static void fly(rbStepEngine* engine, const rbStepHost* host, double h)
{
    rbStepContacts* c = engine->contacts;
    rbContactStep_AddTouches(engine, host, c->stage.before.data, 1.0);
    rbContactStep_TakeBodies(engine);
    rbContactStep_TakeFlights(engine);
    rbContactStep_FlyLoose(engine, h);
    rbContactStep_EachMechanism(engine, host, rbStep_FlyBasic, h);
    rbContactStep_ReturnSpeeds(engine, host, h);
    rbContactStep_BeginMeetings(engine, host, h);
    rbStepLimits_Keep(engine);
    rbContactStep_PlaceFixed(engine, c->grid.time + h);
    RB_ASSERT(c->grid.time + h > c->grid.time);
    c->grid.time += h;
    c->trial.isFlown = false;
}

// Contacts at the end of the flight. What arrived takes part, although it may be slightly open.
static void findEnd(rbStepEngine* engine, double h, bool isAgain)
{
    rbStepContacts* c = engine->contacts;
    rbStepContacts_Find(engine);
    rbContactStep_CloseArrivals(c, h, isAgain);
    if (rbContactStep_MarkIdle(c, 0.0)) {
        rbStepContacts_BuildGraph(c);
    }
}

static void find(rbStepEngine* engine, const rbStepHost* host, double h)
{
    rbStepContacts* c = engine->contacts;
    c->stage.part = rbContactStep_PartOf(engine, h);
    findEnd(engine, h, false);
    rbContactStep_WakeBodies(engine, host, h);
    rbContactRun all = rbContactStep_MakeRun(c, NULL, h);
    rbContactSolver_Prepare(c->solvers.sweeps, &all);
    RB_VALIDATE(rbStepValid_IsSet(c));
    RB_VALIDATE(rbStepValid_AreBodies(engine));
    RB_VALIDATE(rbStepValid_AreIslands(c));
}

// Before the forces of the end act: bodies at rest do not collide.
static void collide(rbStepEngine* engine, const rbStepHost* host, double h, rbStepMiss* miss)
{
    double begun = rbGetThreadTime();
    rbContactStep_KickStriking(engine, host, h);
    rbContactStep_NoteArriving(engine, host);
    bool isAny = rbContactStep_SolveCollisions(engine, host, h, miss);
    RB_VALIDATE(rbStepValid_AreImpulses(engine->contacts));
    engine->contacts->accounts.collisionTime += rbGetThreadTime() - begun;
    if (!isAny) {
        return; // bodies are as they were found
    }
    rbContactStep_TakeBodies(engine);
    if (!rbContactStep_EndMeetings(engine, host, h) && !rbStepContacts_IsFasterThanReach(engine)) {
        return;
    }
    if (engine->contacts->solvers.substeps != NULL) {
        rbStepContacts_MakeReady(engine);
    } else {
        findEnd(engine, h, true);
        if (rbContactStep_UndoMeetings(engine, h)) {
            findEnd(engine, h, true);
        }
        rbContactRun all = rbContactStep_MakeRun(engine->contacts, NULL, h);
        rbContactSolver_Prepare(engine->contacts->solvers.sweeps, &all);
    }
}

static void pushAtEnd(rbStepEngine* engine, const rbStepHost* host, double h)
{
    double time = engine->contacts->grid.time;
    rbContactStep_KickLoose(engine, host, time, 0.5 * h, true);
    rbContactStep_TakeLateKicks(engine, h);
    rbContactStep_EachMechanism(engine, host, kickMoving, h);
}

static void solveVelocities(rbStepEngine* engine, const rbStepHost* host, double h,
                            rbStepMiss* miss)
{
    double begun = rbGetThreadTime();
    rbContactStep_SolveVelocities(engine, host, h, miss);
    RB_VALIDATE(rbStepValid_AreImpulses(engine->contacts));
    RB_VALIDATE(rbStepValid_AreBodies(engine));
    engine->contacts->accounts.contactTime += rbGetThreadTime() - begun;
    rbContactStep_FreezeBodies(engine, host, h);
    rbContactStep_TakeBodies(engine);
}

static void account(rbStepEngine* engine, const rbStepHost* host, double h)
{
    rbContactStep_EachMechanism(engine, host, rbContactStep_EndMechanism, h);
    rbStepLimits_Keep(engine);
    rbContactStep_CloseAccounts(engine->contacts);
    RB_VALIDATE(rbStepValid_AreAccounts(engine->contacts));
    rbContactStep_ReportTouches(engine, host);
}

void rbContactStep_Begin(rbStepEngine* engine, const rbStepHost* host, double h, rbStepMiss* miss)
{
    RB_ASSERT(h > 0.0 && engine->contacts->stage.part > 0.0);
    RB_VALIDATE(rbStepValid_IsSet(engine->contacts));
    rbContactStep_ScaleGuess(engine, h);
    pushAtStart(engine, host, h);
    solvePositions(engine, host, h, miss);
}

static void finish(rbStepEngine* engine, const rbStepHost* host, double h, rbStepMiss* miss)
{
    RB_ASSERT(h > 0.0 && !(miss->gap < 0.0) && !(miss->speed < 0.0));
    rbContactStep_BeginTouches(engine);
    fly(engine, host, h);
    find(engine, host, h);
    collide(engine, host, h, miss);
    pushAtEnd(engine, host, h);
    solveVelocities(engine, host, h, miss);
    account(engine, host, h);
    rbContactStep_MeasureEnd(engine, miss);
    RB_ASSERT(!(miss->gap < 0.0) && !(miss->overlap < 0.0));
}

// ---------------------------------------------------------------------------------------- the grid

// One step by a registered method.
static bool stepByMethod(rbStepEngine* engine, const rbStepHost* host, double next)
{
    rbStepContacts* c = engine->contacts;
    rbStepMiss miss = {0};
    c->method.row->advance(engine, host, next);
    rbContactStep_CloseAccounts(c);
    c->grid.index += 1;
    rbContactStep_CountStep(engine, &miss, true);
    return true;
}

// The end of the current part of the step, which is a node of the grid for the last one.
static double getNext(const rbStepEngine* engine)
{
    const rbStepContacts* c = engine->contacts;
    double whole = engine->settings.step;
    double node = c->grid.origin + (double)c->grid.index * whole;
    RB_ASSERT(c->parts.done >= 0 && (c->parts.count == 0 || c->parts.done < c->parts.count));
    return rbContactStep_IsInner(c)
               ? node - (c->parts.count - c->parts.done - 1) * (whole / c->parts.count)
               : node;
}

static void endPart(rbStepContacts* c, double next)
{
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
static bool step(rbStepEngine* engine, const rbStepHost* host, double time)
{
    rbStepContacts* c = engine->contacts;
    double snap = RB_STEP_SNAP * engine->settings.step;
    if (c->parts.count == 0) {
        c->parts.count = rbContactStep_CountParts(engine);
        c->statistics.dividedSteps += c->parts.count > 1 ? 1 : 0;
    }
    double next = getNext(engine);
    bool isBeyond = next > time + snap;
    if (isBeyond && (c->method.row != NULL || time <= c->grid.time + snap)) {
        return false;
    }
    if (c->method.row != NULL) {
        return stepByMethod(engine, host, next);
    }
    rbStepMiss miss = {0};
    double h = next - c->grid.time;
    RB_ASSERT(h > 0.0 && c->grid.index > 0);
    rbPairGaps_Note(&c->stage.pairGaps, &c->set, c->foundCount);
    // a game's steps are not cut
    if (isBeyond || c->solvers.substeps == NULL) {
        h = rbContactStep_BeginCut(engine, host, h, isBeyond ? time : next, &miss);
        if (!(h > 0.0)) {
            return false;
        }
    } else {
        rbContactStep_Begin(engine, host, h, &miss);
    }
    bool isEnd = h == next - c->grid.time;
    bool isInner = rbContactStep_IsInner(c);
    finish(engine, host, h, &miss);
    if (isInner) {
        miss = (rbStepMiss){.rebound = miss.rebound}; // tolerances hold at the end of the step
    }
    if (isEnd) {
        endPart(c, next);
    }
    rbContactStep_CountStep(engine, &miss, isEnd && !isInner);
    return true;
}

static int64_t countUnmet(const rbStepEngine* engine)
{
    return engine->contacts->statistics.unmetSteps + engine->statistics.unmetSteps +
           engine->statistics.inaccurateSteps;
}

double rbContactStep_MakePlain(rbStepEngine* engine, const rbStepHost* host, double h)
{
    rbStepContacts* c = engine->contacts;
    rbStepMiss miss = {0};
    c->trial.cuts = 0;
    c->trial.isFlown = false;
    rbPairGaps_Note(&c->stage.pairGaps, &c->set, c->foundCount);
    h = rbContactStep_BeginCut(engine, host, h, c->grid.time + h, &miss);
    RB_ASSERT(h > 0.0);
    finish(engine, host, h, &miss);
    rbContactStep_CountStep(engine, &miss, false);
    return h;
}

rbStatus rbStepContacts_Advance(rbStepEngine* engine, const rbStepHost* host, double time,
                                double* reached)
{
    rbStepContacts* c = engine->contacts;
    int64_t unmet = countUnmet(engine);
    if (rbContactOrder_IsUsed(engine)) {
        rbContactOrder_Advance(engine, host, time);
        *reached = rbContactStep_IsFinite(c) ? time : engine->time;
        engine->time = *reached;
        if (*reached < time) {
            return RB_STATUS_LIMIT;
        }
        return countUnmet(engine) > unmet ? RB_STATUS_NUMERICAL : RB_STATUS_OK;
    }
    while (step(engine, host, time)) {
        if (!rbContactStep_IsFinite(c)) {
            *reached = engine->time;
            return RB_STATUS_LIMIT;
        }
        rbPoll();
    }
    if (time > c->grid.time + RB_STEP_SNAP * engine->settings.step) {
        rbContactStep_LookBetween(engine, host, time);
    } else {
        c->trial.work = 0.0;
        rbContactStep_WriteBodies(engine, host);
    }
    engine->time = time;
    *reached = time;
    return countUnmet(engine) > unmet ? RB_STATUS_NUMERICAL : RB_STATUS_OK;
}
