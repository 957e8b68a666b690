// Higher orders with contacts: runs of 1, 2, 3, ... steps with a held active set over the same time
// (step_contact_held.c), combined as those of mechanisms are (step_nodes.c).
//
// Where the set changes within a step, shorter ones are tried. One that is too short to matter is
// made at order 2, across the change, with the laws of contact and impact (step.c), and tells which
// points touch, stick and slide from then on. With errorMax the difference of the last two orders
// chooses the size of steps; otherwise they end on the grid.
#include "dynamics/engines/step/step_contact_state.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

// Growth of chosen steps.
#define STEP_GROWTH 4.0
// Change of the size where the set changes, and after a step of order 2.
#define CHANGE_SHRINKAGE 0.25
#define PLAIN_GROWTH 4.0
// Fraction of the time until another point may touch that a step takes.
#define REACH_PART 0.9
// Fraction of errorMax that a step of order 2 may use, and m/s^2, with which its error is
// estimated; without errorMax, its part of a step of the grid.
#define PLAIN_SHARE 1e-3
#define PLAIN_ACCELERATION 10.0
#define PLAIN_PART 1e-5
// Steps of order 2 in a row before they grow.
#define PLAIN_ROW 64
// m: rounding of points of contact. In shorter steps it hides the fall.
#define PLAIN_FALL 1e-12
// Roundings of a position by which orders may differ, per order: of points of contact, divided by
// the size of short steps.
#define ESTIMATE_ROUNDINGS 64.0

bool rbContactOrder_IsUsed(const rbStepContacts* c)
{
    return c->engine->settings.order > 2 && c->method.row == NULL && c->solvers.substeps == NULL;
}

// ------------------------------------------------------------------------------------------- runs

static int countRuns(const rbStepContacts* c)
{
    RB_ASSERT(c->engine->settings.order > 2 && c->engine->settings.order / 2 <= RB_STEP_RUNS_MAX);
    return c->engine->settings.order / 2;
}

// What is combined as doubles: moving bodies, then energies by cause so far, of contacts and
// mechanisms. Returns the number of bodies.
static int moveResult(rbStepContacts* c, rbByteStream* stream)
{
    int count = 0;
    for (int i = 0; i < c->engine->bodies.count; ++i) {
        rbMechBody* body = rbContactStep_GetBody(c, i);
        if (body != NULL && body->isDynamic) {
            rbStep_MoveBody(body, stream);
            count += 1;
        }
    }
    RB_MOVE(stream, c->accounts.sums);
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        RB_MOVE(stream, c->engine->mechanisms.data[i].node.work);
    }
    return count;
}

// The results of runs; behind them, that of no step, and the combined one.
static rbStepRuns getRuns(rbStepContacts* c)
{
    rbByteStream counting = {0};
    rbStepRuns runs = {.bodyCount = moveResult(c, &counting), .count = countRuns(c)};
    runs.size = (int)(counting.size / sizeof(double));
    rbArray_Reserve(c->order.runs, (runs.count + 2) * runs.size);
    runs.results = c->order.runs.data;
    return runs;
}

// Saves the current state as that of a run.
static double* saveResult(rbStepContacts* c, const rbStepRuns* runs, int run)
{
    RB_ASSERT(run >= 0 && run <= runs->count);
    double* result = runs->results + (ptrdiff_t)run * runs->size;
    rbByteStream saving = {.bytes = (char*)result};
    (void)moveResult(c, &saving);
    return result;
}

// Which rows of joints are at their limits at the start.
static void noteLimits(rbStepContacts* c)
{
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &c->engine->mechanisms.data[i];
        rbCopyElements(mechanism->copies.limits, mechanism->rows.limits, mechanism->m.rowCount,
                       sizeof(rbLimitState));
    }
}

static bool areLimitsSame(const rbStepContacts* c)
{
    bool isSame = true;
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &c->engine->mechanisms.data[i];
        size_t size = (size_t)mechanism->m.rowCount * sizeof(rbLimitState);
        isSame = isSame && memcmp(mechanism->rows.limits, mechanism->copies.limits, size) == 0;
    }
    return isSame;
}

// One run of n steps; false: the active set changes.
static bool makeRun(rbStepContacts* c, const rbStepHost* host, double h, int n)
{
    double start = c->grid.time;
    bool isSame = true;
    RB_ASSERT(h > 0.0 && n >= 1);
    for (int k = 0; k < n && isSame; ++k) {
        isSame = rbHeldStep_Make(c, host, h / (double)n) && areLimitsSame(c);
    }
    RB_ASSERT(!isSame || fabs(c->grid.time - start - h) <= 1e-9 * (fabs(start) + h));
    c->grid.time = start + h;
    return isSame && rbContactStep_IsFinite(c);
}

// All runs as one step; returns the estimate of its error, m. start: the result of no step.
static double combineRuns(rbStepContacts* c, const rbStepRuns* runs, const double* start, double h)
{
    double estimate = 0.0;
    int place = 0;
    rbStepRuns_Align(runs);
    for (int i = 0; i < c->engine->bodies.count; ++i) {
        const rbMechBody* body = rbContactStep_GetBody(c, i);
        if (body != NULL && body->isDynamic) {
            estimate = fmax(estimate, rbStepRuns_CompareOrders(runs, place++, body, h));
        }
    }
    RB_ASSERT(!(estimate < 0.0) && place == runs->bodyCount);
    double* sum = runs->results + (ptrdiff_t)(runs->count + 1) * runs->size;
    rbStepRuns_Combine(runs, sum);
    for (int k = RB_STEP_BODY_DOUBLES * place; k < runs->size; ++k) {
        sum[k] += start[k];
    }
    rbByteStream loading = {.bytes = (char*)sum, .isLoading = true};
    (void)moveResult(c, &loading);
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &c->engine->mechanisms.data[i];
        memcpy(mechanism->shownWork, mechanism->node.work, sizeof mechanism->shownWork);
        mechanism->isRefreshed = false;
        mechanism->isAnchored = false;
    }
    return estimate;
}

// A step of the order asked for; false: the active set changes in it, and the state is invalid.
static bool makeStep(rbStepContacts* c, const rbStepHost* host, double h, double* estimate)
{
    rbStepHost mute = *host;
    mute.journal = NULL;
    mute.node = NULL;
    rbStepRuns runs = getRuns(c);
    const double* start = saveResult(c, &runs, runs.count);
    noteLimits(c);
    rbHeldStep_Plan(c, h / (double)runs.count);
    for (int n = 1; n <= runs.count; ++n) {
        if (n > 1) {
            rbStepEngine_Recall(c->engine, &c->order.node);
        }
        if (!makeRun(c, &mute, h, n)) {
            return false;
        }
        double* result = saveResult(c, &runs, n - 1);
        // the gain of energies: what they were before does not round it
        for (int k = RB_STEP_BODY_DOUBLES * runs.bodyCount; k < runs.size; ++k) {
            result[k] -= start[k];
        }
    }
    *estimate = combineRuns(c, &runs, start, h);
    // contacts at the combined poses, with the impulses of the last run; what sticks has not
    // slipped
    rbStepContacts_MakeReady(c);
    for (int i = 0; i < c->set.pointCount; ++i) {
        memset(c->set.points[i].slip, 0, sizeof c->set.points[i].slip);
    }
    rbStepLimits_Keep(c);
    return true;
}

// -------------------------------------------------------------------------------------- step sizes

// m, by which rounding alone lets the orders differ.
static double getFloor(const rbStepContacts* c)
{
    double size = 1e-3;
    for (int i = 0; i < c->engine->bodies.count; ++i) {
        const rbMechBody* body = rbContactStep_GetBody(c, i);
        if (body != NULL && body->isDynamic) {
            size = fmax(size, rbLength(body->pose.position) + body->radius);
        }
    }
    return ESTIMATE_ROUNDINGS * (double)c->engine->settings.order * DBL_EPSILON * size;
}

// s, of a step of order 2: its error is of the size of an acceleration times its square.
static double getPlainStep(const rbStepContacts* c)
{
    const rbStepSettings* settings = &c->engine->settings;
    double most = PLAIN_PART * settings->step;
    double h = settings->errorMax > 0.0
                   ? sqrt(PLAIN_SHARE * settings->errorMax / PLAIN_ACCELERATION)
                   : most;
    return fmin(fmax(fmin(h, most), sqrt(PLAIN_FALL / PLAIN_ACCELERATION)), settings->step);
}

static void noteEstimate(rbStepContacts* c, double estimate)
{
    RB_ASSERT(!(estimate < 0.0));
    c->order.estimateSum += estimate;
    if (c->engine->settings.errorMax > 0.0) {
        rbStep_CountInaccurate(c->engine, c->grid.time, c->order.estimateSum);
    }
}

static void accept(rbStepContacts* c, double end, double chosen, double estimate)
{
    RB_ASSERT(chosen > 0.0 && end >= c->grid.time);
    c->grid.time = end;
    c->order.chosen = fmin(chosen, c->engine->settings.step);
    c->order.plainCount = 0;
    noteEstimate(c, estimate);
    rbContactStep_CloseAccounts(c);
}

// The longest accurate step from the node that is at most as long; where rounding lets no step be
// accurate, that with the least error. False: the active set changes in all but short ones.
static bool tryStep(rbStepContacts* c, const rbStepHost* host, double longest)
{
    const rbStepSettings* settings = &c->engine->settings;
    double begin = c->grid.time;
    double chosen = c->order.chosen;
    double shortest = countRuns(c) * getPlainStep(c);
    double order = (double)settings->order;
    double h = fmin(chosen, longest);
    bool isWhole = h == longest; // however short
    double kept = isWhole ? chosen : 0.0;
    double least = INFINITY; // of the estimates, and its step
    double hLeast = 0.0;
    h = rbHeldStep_Collect(c) ? fmin(h, REACH_PART * rbHeldStep_GetReach(c)) : 0.0;
    while (h > shortest || (isWhole && h == longest)) {
        double estimate;
        double shrink = CHANGE_SHRINKAGE;
        if (makeStep(c, host, h, &estimate)) {
            double allowed = fmax(settings->errorMax * h / settings->horizon, getFloor(c));
            bool isFree = !(settings->errorMax > 0.0);
            shrink = isFree ? STEP_GROWTH : rbStep_GetGrowth(order, estimate, allowed, STEP_GROWTH);
            if (isFree || estimate <= allowed || h == hLeast) {
                shrink =
                    h == hLeast ? STEP_GROWTH : shrink; // rounding: shorter steps are no better
                accept(c, begin + h, fmax(h * shrink, kept), estimate);
                return true;
            }
            bool isWorse = estimate >= least;
            hLeast = isWorse ? hLeast : h;
            least = isWorse ? least : estimate;
            shrink = isWorse || h * shrink <= shortest ? hLeast / h : fmin(shrink, 0.9);
        }
        rbStepEngine_Recall(c->engine, &c->order.node);
        h *= shrink;
        h = fabs(h - hLeast) <= DBL_EPSILON * h ? hLeast : h;
    }
    return false;
}

// s, of the next step of order 2: where many are needed in a row they grow, and the estimate of the
// error with them.
static double growPlainStep(const rbStepContacts* c)
{
    int doublings = c->order.plainCount / PLAIN_ROW;
    return fmin(ldexp(getPlainStep(c), doublings < 40 ? doublings : 40), c->engine->settings.step);
}

bool rbContactOrder_Step(rbStepContacts* c, const rbStepHost* host, double longest, double latest)
{
    double snap = RB_STEP_SNAP * c->engine->settings.step;
    rbStepEngine_Keep(c->engine, &c->order.node);
    double begin = c->grid.time;
    RB_ASSERT(longest > 0.0);
    bool isHigh = tryStep(c, host, longest);
    if (!isHigh) {
        double h = fmin(growPlainStep(c), longest);
        if (c->grid.time + h <= latest + snap) {
            h = rbContactStep_MakePlain(c, host, h);
            bool isChosen = c->engine->settings.errorMax > 0.0;
            double next = PLAIN_GROWTH * countRuns(c) * growPlainStep(c);
            c->order.plainCount += 1;
            c->order.chosen =
                isChosen ? fmin(next, c->engine->settings.step) : c->engine->settings.step;
            c->statistics.lowOrderSteps += 1;
            noteEstimate(c, PLAIN_ACCELERATION * h * h);
            return true;
        }
    } else if (c->grid.time <= latest + snap) {
        c->engine->statistics.steps += 1;
        // with the impulses of the last of the finest steps
        rbContactStep_BeginTouches(c);
        rbContactStep_AddTouches(c, host, NULL, 1.0);
        rbContactStep_ReportTouches(c, host);
        return true;
    }
    double made = isHigh ? c->grid.time - begin : INFINITY;
    rbStepEngine_Recall(c->engine, &c->order.node);
    c->trial.isFlown = true; // it needs not be tried again for times before its end
    c->trial.step = made;
    return false;
}

// ------------------------------------------------------------------------------------- the advance

void rbContactOrder_Advance(rbStepContacts* c, const rbStepHost* host, double time)
{
    const rbStepSettings* settings = &c->engine->settings;
    double snap = RB_STEP_SNAP * settings->step;
    bool isChosen = settings->errorMax > 0.0;
    bool isMade = true;
    while (isMade && rbContactStep_IsFinite(c)) {
        rbPoll();
        double next = isChosen ? time : c->grid.origin + (double)c->grid.index * settings->step;
        bool isKnown = c->trial.isFlown && c->grid.time + c->trial.step > time + snap;
        if (next > time + snap || time <= c->grid.time + snap || isKnown) {
            break;
        }
        isMade =
            rbContactOrder_Step(c, host, isChosen ? settings->step : next - c->grid.time, time);
        if (!isChosen && isMade && c->grid.time >= next - snap) {
            c->grid.time = next;
            c->grid.index += 1;
            c->order.chosen = settings->step;
        }
    }
    if (time > c->grid.time + snap && rbContactStep_IsFinite(c)) {
        rbContactStep_LookBetween(c, host, time);
    } else {
        c->trial.work = 0.0;
        c->trial.works = (rbStepWork){.between = 0.0};
        rbContactStep_WriteBodies(c, host);
    }
}
