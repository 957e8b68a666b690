// Higher orders with contacts: runs of 1, 2, 3, ... steps with a held active set over the same time
// (step_contact_held.c), combined as those of mechanisms are (step_order.c).
//
// Where the set changes within a step, shorter ones are tried. One that is too short to matter is
// made at order 2, across the change, with the laws of contact and impact (step.c), and tells which
// points touch, stick and slide from then on. With errorMax the difference of the last two orders
// chooses the size of steps; otherwise they end on the grid.
#include "base/math/elementary.h"
#include "dynamics/engines/step/step_contact_state.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

#define BODY_DOUBLES 13
// Growth and shrinkage of chosen steps.
#define STEP_SAFETY 0.9
#define STEP_GROWTH 4.0
#define STEP_SHRINKAGE 0.2
// The same where the set changes, and after a step of order 2.
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

void rbOrderControl_Free(rbOrderControl* order)
{
    rbArray_Free(order->node);
    rbArray_Free(order->shown);
    rbArray_Free(order->runs);
    rbArray_Free(order->sums);
    rbArray_Free(order->limits);
}

bool rbContactOrder_IsUsed(const rbStepEngine* engine)
{
    const rbStepContacts* c = engine->contacts;
    return engine->settings.order > 2 && c->method.row == NULL && c->solvers.substeps == NULL;
}

// ------------------------------------------------------------------------------------------- runs

// The changing state of the engine as bytes: its size, and saving or restoring it.
static size_t moveState(rbStepEngine* engine, rbByteStream stream)
{
    rbStepEngine_Move(engine, &stream);
    return stream.size;
}

#define KEEP(engine, array)                                                           \
    (rbArray_Reserve(array, (int)moveState((engine), (rbByteStream){.bytes = NULL})), \
     (void)moveState((engine), (rbByteStream){.bytes = (array).data}))

#define RECALL(engine, array) \
    ((void)moveState((engine), (rbByteStream){.bytes = (array).data, .isLoading = true}))

static int countRuns(const rbStepEngine* engine)
{
    return engine->settings.order / 2;
}

static double weightOf(int n, int count)
{
    double weight = 1.0;
    RB_ASSERT(n >= 1 && n <= count && count <= RB_STEP_RUNS_MAX);
    for (int k = 1; k <= count; ++k) {
        weight *= k != n ? (double)(n * n) / (double)(n * n - k * k) : 1.0;
    }
    return weight;
}

static double* placeOf(const rbStepEngine* engine, int run, int body)
{
    int index = run * engine->bodies.count + body;
    RB_ASSERT(run >= 0 && body >= 0 && body < engine->bodies.count);
    return engine->contacts->order.runs.data + (ptrdiff_t)BODY_DOUBLES * index;
}

static void putBody(const rbMechBody* body, double* to)
{
    memcpy(to, &body->pose.position, 3 * sizeof(double));
    memcpy(to + 3, &body->velocity, 3 * sizeof(double));
    memcpy(to + 6, &body->momentum, 3 * sizeof(double));
    memcpy(to + 9, &body->pose.orientation, 4 * sizeof(double));
}

static void getBody(const double* from, rbMechBody* body)
{
    memcpy(&body->pose.position, from, 3 * sizeof(double));
    memcpy(&body->velocity, from + 3, 3 * sizeof(double));
    memcpy(&body->momentum, from + 6, 3 * sizeof(double));
    memcpy(&body->pose.orientation, from + 9, 4 * sizeof(double));
    body->pose.orientation = rbNormalizeQuat(body->pose.orientation);
    body->pose.rotation = rbMatFromQuat(body->pose.orientation);
}

#define ACCOUNTS ((int)(sizeof(rbContactAccounts) / sizeof(double)))

static int countSums(const rbStepEngine* engine)
{
    return ACCOUNTS + RB_WORK_COUNT * engine->mechanisms.count;
}

// Energy by cause so far, of contacts and mechanisms.
static void readSums(const rbStepEngine* engine, double* to)
{
    memcpy(to, &engine->contacts->accounts.sums, sizeof(rbContactAccounts));
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        memcpy(to + ACCOUNTS + (ptrdiff_t)RB_WORK_COUNT * i, engine->mechanisms.data[i].node.work,
               RB_WORK_COUNT * sizeof(double));
    }
}

static void writeSums(rbStepEngine* engine, const double* from)
{
    memcpy(&engine->contacts->accounts.sums, from, sizeof(rbContactAccounts));
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        memcpy(mechanism->node.work, from + ACCOUNTS + (ptrdiff_t)RB_WORK_COUNT * i,
               RB_WORK_COUNT * sizeof(double));
        memcpy(mechanism->shownWork, mechanism->node.work, sizeof mechanism->shownWork);
    }
}

// Notes which rows of joints are at their limits, or compares with that.
static bool followLimits(rbStepEngine* engine, bool isCompared)
{
    rbOrderControl* order = &engine->contacts->order;
    bool isSame = true;
    int at = 0;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        rbArray_Reserve(order->limits, at + mechanism->m.rowCount);
        for (int row = 0; row < mechanism->m.rowCount; ++row, ++at) {
            int limit = (int)mechanism->rows.limits[row];
            isSame = isSame && (!isCompared || order->limits.data[at] == limit);
            order->limits.data[at] = isCompared ? order->limits.data[at] : limit;
        }
    }
    return isSame;
}

// One run of n steps; false: the active set changes.
static bool makeRun(rbStepEngine* engine, const rbStepHost* host, double h, int n)
{
    double start = engine->contacts->grid.time;
    bool isSame = true;
    RB_ASSERT(h > 0.0 && n >= 1);
    for (int k = 0; k < n && isSame; ++k) {
        isSame = rbHeldStep_Make(engine, host, h / (double)n) && followLimits(engine, true);
    }
    RB_ASSERT(!isSame || fabs(engine->contacts->grid.time - start - h) <= 1e-9 * (fabs(start) + h));
    engine->contacts->grid.time = start + h;
    return isSame && rbContactStep_IsFinite(engine->contacts);
}

static void keepRun(rbStepEngine* engine, int run)
{
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbMechBody* body = rbContactStep_GetBody(engine, i);
        double* place = placeOf(engine, run, i);
        if (body == NULL) {
            continue;
        }
        putBody(body, place);
        const double* first = placeOf(engine, 0, i) + 9;
        double dot = place[9] * first[0] + place[10] * first[1] + place[11] * first[2] +
                     place[12] * first[3];
        for (int k = 9; k < BODY_DOUBLES && dot < 0.0; ++k) {
            place[k] = -place[k]; // of q and -q the nearer
        }
    }
    readSums(engine, engine->contacts->order.sums.data + (ptrdiff_t)(run + 1) * countSums(engine));
}

// m, by which a body differs between the last two orders, after a time in which velocities keep
// their difference.
static double compareOrders(const rbStepEngine* engine, const rbMechBody* body, int runs,
                            double time)
{
    double d[BODY_DOUBLES] = {0.0};
    for (int n = 1; n <= runs; ++n) {
        double weight = weightOf(n, runs) - (n < runs ? weightOf(n, runs - 1) : 0.0);
        const double* place = placeOf(engine, n - 1, body->index);
        for (int k = 0; k < BODY_DOUBLES; ++k) {
            d[k] += weight * place[k];
        }
    }
    double most = fmax(body->invMoments.x, fmax(body->invMoments.y, body->invMoments.z));
    double shift = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    double speed = sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5]);
    double spin = most * sqrt(d[6] * d[6] + d[7] * d[7] + d[8] * d[8]);
    double turn = 2.0 * sqrt(d[9] * d[9] + d[10] * d[10] + d[11] * d[11] + d[12] * d[12]);
    return shift + body->radius * turn + time * (speed + body->radius * spin);
}

// All runs as one step; returns the estimate of its error, m.
static double combineRuns(rbStepEngine* engine, double h)
{
    rbStepContacts* c = engine->contacts;
    int runs = countRuns(engine);
    double estimate = 0.0;
    for (int i = 0; i < engine->bodies.count; ++i) {
        rbMechBody* body = rbContactStep_GetBody(engine, i);
        if (body == NULL || !body->isDynamic) {
            continue;
        }
        estimate = fmax(estimate, compareOrders(engine, body, runs, h));
        double sum[BODY_DOUBLES] = {0.0};
        for (int n = 1; n <= runs; ++n) {
            const double* place = placeOf(engine, n - 1, i);
            for (int k = 0; k < BODY_DOUBLES; ++k) {
                sum[k] += weightOf(n, runs) * place[k];
            }
        }
        getBody(sum, body);
    }
    RB_ASSERT(!(estimate < 0.0));
    int count = countSums(engine);
    double* sums = c->order.sums.data; // at the start, then of the runs
    for (int k = 0; k < count; ++k) {
        double gained = 0.0;
        for (int n = 1; n <= runs; ++n) {
            gained += weightOf(n, runs) * (sums[n * count + k] - sums[k]);
        }
        sums[k] += gained;
    }
    writeSums(engine, sums);
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        engine->mechanisms.data[i].isRefreshed = false;
        engine->mechanisms.data[i].isAnchored = false;
    }
    return estimate;
}

// Contacts at the combined poses, with the impulses of the last run. What sticks has not slipped.
static void findAgain(rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    rbStepContacts_MakeReady(engine);
    for (int i = 0; i < c->set.pointCount; ++i) {
        memset(c->set.points[i].slip, 0, sizeof c->set.points[i].slip);
    }
    rbStepLimits_Keep(engine);
}

// A step of the order asked for; false: the active set changes in it, and the state is invalid.
static bool makeStep(rbStepEngine* engine, const rbStepHost* host, double h, double* estimate)
{
    rbStepContacts* c = engine->contacts;
    int runs = countRuns(engine);
    rbStepHost mute = *host;
    mute.journal = NULL;
    mute.node = NULL;
    rbArray_Reserve(c->order.runs, runs * engine->bodies.count * BODY_DOUBLES);
    rbArray_Reserve(c->order.sums, (runs + 1) * countSums(engine));
    readSums(engine, c->order.sums.data);
    (void)followLimits(engine, false);
    rbHeldStep_Plan(engine, h / (double)runs);
    for (int n = 1; n <= runs; ++n) {
        if (n > 1) {
            RECALL(engine, c->order.node);
        }
        if (!makeRun(engine, &mute, h, n)) {
            return false;
        }
        keepRun(engine, n - 1);
    }
    *estimate = combineRuns(engine, h);
    findAgain(engine);
    return true;
}

// -------------------------------------------------------------------------------------- step sizes

// m, by which rounding alone lets the orders differ.
static double getFloor(const rbStepEngine* engine)
{
    double size = 1e-3;
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbMechBody* body = rbContactStep_GetBody(engine, i);
        if (body != NULL && body->isDynamic) {
            size = fmax(size, rbLength(body->pose.position) + body->radius);
        }
    }
    return ESTIMATE_ROUNDINGS * (double)engine->settings.order * DBL_EPSILON * size;
}

// s, of a step of order 2: its error is of the size of an acceleration times its square.
static double getPlainStep(const rbStepEngine* engine)
{
    const rbStepSettings* settings = &engine->settings;
    double most = PLAIN_PART * settings->step;
    double h = settings->errorMax > 0.0
                   ? sqrt(PLAIN_SHARE * settings->errorMax / PLAIN_ACCELERATION)
                   : most;
    return fmin(fmax(fmin(h, most), sqrt(PLAIN_FALL / PLAIN_ACCELERATION)), settings->step);
}

static double getFactor(const rbStepEngine* engine, double estimate, double allowed)
{
    double factor = STEP_GROWTH;
    if (estimate > 0.0) {
        double power = 1.0 / (double)(engine->settings.order - 1);
        factor = STEP_SAFETY * rbExp(power * rbLog(allowed / estimate));
    }
    return fmin(STEP_GROWTH, fmax(STEP_SHRINKAGE, factor));
}

static void noteEstimate(rbStepEngine* engine, double estimate)
{
    const rbStepSettings* settings = &engine->settings;
    rbStepContacts* c = engine->contacts;
    rbStepStatistics* s = &engine->statistics;
    RB_ASSERT(!(estimate < 0.0));
    c->order.estimateSum += estimate;
    double time = c->grid.time;
    double most = settings->errorMax * fmax(1.0, time / settings->horizon);
    if (settings->errorMax > 0.0 && c->order.estimateSum > most) {
        s->unmetTime = s->unmetSteps + s->inaccurateSteps == 0 ? time : s->unmetTime;
        s->inaccurateSteps += 1;
    }
}

static void accept(rbStepEngine* engine, double end, double chosen, double estimate)
{
    rbStepContacts* c = engine->contacts;
    c->grid.time = end;
    c->order.chosen = fmin(chosen, engine->settings.step);
    c->order.plainCount = 0;
    noteEstimate(engine, estimate);
    rbContactStep_CloseAccounts(c);
}

// The longest accurate step from the node that is at most as long; where rounding lets no step be
// accurate, that with the least error. False: the active set changes in all but short ones.
static bool tryStep(rbStepEngine* engine, const rbStepHost* host, double longest)
{
    const rbStepSettings* settings = &engine->settings;
    rbStepContacts* c = engine->contacts;
    double begin = c->grid.time;
    double chosen = c->order.chosen;
    double shortest = countRuns(engine) * getPlainStep(engine);
    double h = fmin(chosen, longest);
    bool isWhole = h == longest; // however short
    double kept = isWhole ? chosen : 0.0;
    double least = INFINITY; // of the estimates, and its step
    double hLeast = 0.0;
    h = rbHeldStep_CanHold(engine) ? fmin(h, REACH_PART * rbHeldStep_GetReach(engine)) : 0.0;
    while (h > shortest || (isWhole && h == longest)) {
        double estimate;
        double shrink = CHANGE_SHRINKAGE;
        if (makeStep(engine, host, h, &estimate)) {
            double allowed = fmax(settings->errorMax * h / settings->horizon, getFloor(engine));
            bool isFree = !(settings->errorMax > 0.0);
            shrink = isFree ? STEP_GROWTH : getFactor(engine, estimate, allowed);
            if (isFree || estimate <= allowed || h == hLeast) {
                shrink =
                    h == hLeast ? STEP_GROWTH : shrink; // rounding: shorter steps are no better
                accept(engine, begin + h, fmax(h * shrink, kept), estimate);
                return true;
            }
            bool isWorse = estimate >= least;
            hLeast = isWorse ? hLeast : h;
            least = isWorse ? least : estimate;
            shrink = isWorse || h * shrink <= shortest ? hLeast / h : fmin(shrink, 0.9);
        }
        RECALL(engine, c->order.node);
        h *= shrink;
        h = fabs(h - hLeast) <= DBL_EPSILON * h ? hLeast : h;
    }
    return false;
}

// s, of the next step of order 2: where many are needed in a row they grow, and the estimate of the
// error with them.
static double growPlainStep(const rbStepEngine* engine)
{
    int doublings = engine->contacts->order.plainCount / PLAIN_ROW;
    return fmin(ldexp(getPlainStep(engine), doublings < 40 ? doublings : 40),
                engine->settings.step);
}

// One step from the node, not beyond the latest time; false: none was made.
static bool step(rbStepEngine* engine, const rbStepHost* host, double longest, double latest)
{
    rbStepContacts* c = engine->contacts;
    double snap = RB_STEP_SNAP * engine->settings.step;
    KEEP(engine, c->order.node);
    double begin = c->grid.time;
    RB_ASSERT(longest > 0.0);
    bool isHigh = tryStep(engine, host, longest);
    if (!isHigh) {
        double h = fmin(growPlainStep(engine), longest);
        if (c->grid.time + h <= latest + snap) {
            h = rbContactStep_MakePlain(engine, host, h);
            bool isChosen = engine->settings.errorMax > 0.0;
            double next = PLAIN_GROWTH * countRuns(engine) * growPlainStep(engine);
            c->order.plainCount += 1;
            c->order.chosen = isChosen ? fmin(next, engine->settings.step) : engine->settings.step;
            c->statistics.lowOrderSteps += 1;
            noteEstimate(engine, PLAIN_ACCELERATION * h * h);
            return true;
        }
    } else if (c->grid.time <= latest + snap) {
        engine->statistics.steps += 1;
        // with the impulses of the last of the finest steps
        rbContactStep_BeginTouches(engine);
        rbContactStep_AddTouches(engine, host, NULL, 1.0);
        rbContactStep_ReportTouches(engine, host);
        return true;
    }
    double made = isHigh ? c->grid.time - begin : INFINITY;
    RECALL(engine, c->order.node);
    c->trial.isFlown = true; // it needs not be tried again for times before its end
    c->trial.step = made;
    return false;
}

// -------------------------------------------------------------------------------------- the
// advance

// States at a time after the node, without moving it.
static void show(rbStepEngine* engine, const rbStepHost* host, double time)
{
    rbStepContacts* c = engine->contacts;
    double snap = RB_STEP_SNAP * engine->settings.step;
    rbStepHost mute = *host;
    mute.journal = NULL;
    mute.node = NULL;
    bool isFlown = c->trial.isFlown;
    double made = c->trial.step;
    KEEP(engine, c->order.shown);
    double before = rbContactStep_GetEnergy(engine, host);
    while (time > c->grid.time + snap) {
        if (!step(engine, &mute, time - c->grid.time, time)) {
            break;
        }
    }
    double work = rbContactStep_GetEnergy(engine, host) - before;
    rbContactStep_WriteBodies(engine, host);
    RECALL(engine, c->order.shown);
    c->trial.work = work;
    c->trial.isFlown = isFlown;
    c->trial.step = made;
}

void rbContactOrder_Advance(rbStepEngine* engine, const rbStepHost* host, double time)
{
    rbStepContacts* c = engine->contacts;
    const rbStepSettings* settings = &engine->settings;
    double snap = RB_STEP_SNAP * settings->step;
    bool isChosen = settings->errorMax > 0.0;
    bool isMade = true;
    while (isMade && rbContactStep_IsFinite(c)) {
        double next = isChosen ? time : c->grid.origin + (double)c->grid.index * settings->step;
        bool isKnown = c->trial.isFlown && c->grid.time + c->trial.step > time + snap;
        if (next > time + snap || time <= c->grid.time + snap || isKnown) {
            break;
        }
        isMade = step(engine, host, isChosen ? settings->step : next - c->grid.time, time);
        if (!isChosen && isMade && c->grid.time >= next - snap) {
            c->grid.time = next;
            c->grid.index += 1;
            c->order.chosen = settings->step;
        }
    }
    if (time > c->grid.time + snap && rbContactStep_IsFinite(c)) {
        show(engine, host, time);
    } else {
        c->trial.work = 0.0;
        rbContactStep_WriteBodies(engine, host);
    }
}
