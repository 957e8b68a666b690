// Higher orders: runs of N = 1, 2, 3, ... basic steps over the same time, combined so that the even
// powers of the step in the error cancel, then projected back onto the conditions.
//
// Weights of the runs for order 2k: c_N = product over j != N, j <= k of N^2 / (N^2 - j^2).
#include "base/math/matrix3.h"
#include "dynamics/engines/step/step_state.h"

#include <float.h>
#include <string.h>

#define BODY_DOUBLES 13
#define PROJECTIONS_MAX 8
// Runs must agree to this fraction of the motion; motions below the other fraction of the size do
// not count.
#define UNRESOLVED_PART 0.01
#define UNRESOLVED_LEAST 1e-6
// A pivot below this fraction of its diagonal: the position is close to a singular one.
#define PROJECTION_FLOOR 32.0
// Compliance of joints in steps that look-ahead cannot make, relative to their own response; and
// where they contradict each other: errors of this many tolerances remain.
#define SETTLE_FIRM 1e-8
#define SETTLE_SOFT 1e-3
#define CONTRADICTION 100.0
#define CONTRADICTED 1e-5 // of the size, at least

static double* putVec(double* place, rbVec3 v)
{
    place[0] = v.x;
    place[1] = v.y;
    place[2] = v.z;
    return place + 3;
}

static const double* getVec(const double* place, rbVec3* v)
{
    *v = rbMakeVec3(place[0], place[1], place[2]);
    return place + 3;
}

void rbStep_Save(const rbStepMechanism* mechanism, double* state)
{
    const rbMechanism* m = &mechanism->m;
    double* place = state;
    for (int i = 0; i < m->bodyCount; ++i) {
        const rbMechBody* body = &m->bodies[i];
        place = putVec(place, body->pose.position);
        place = putVec(place, body->velocity);
        place = putVec(place, body->momentum);
        memcpy(place, &body->pose.orientation, 4 * sizeof(double));
        place += 4;
    }
    size_t rows = (size_t)m->rowCount;
    memcpy(place, m->startErrors, rows * sizeof(double));
    memcpy(place + rows, mechanism->rows.guesses, rows * sizeof(double));
    memcpy(place + 2 * rows, mechanism->rows.totals, rows * sizeof(double));
    for (size_t row = 0; row < rows; ++row) {
        place[3 * rows + row] = (double)mechanism->rows.limits[row];
    }
}

void rbStep_Restore(rbStepMechanism* mechanism, const double* state)
{
    rbMechanism* m = &mechanism->m;
    const double* place = state;
    for (int i = 0; i < m->bodyCount; ++i) {
        rbMechBody* body = &m->bodies[i];
        place = getVec(place, &body->pose.position);
        place = getVec(place, &body->velocity);
        place = getVec(place, &body->momentum);
        memcpy(&body->pose.orientation, place, 4 * sizeof(double));
        place += 4;
        body->pose.rotation = rbMatFromQuat(body->pose.orientation);
    }
    size_t rows = (size_t)m->rowCount;
    memcpy(m->startErrors, place, rows * sizeof(double));
    memcpy(mechanism->rows.guesses, place + rows, rows * sizeof(double));
    memcpy(mechanism->rows.totals, place + 2 * rows, rows * sizeof(double));
    for (size_t row = 0; row < rows; ++row) {
        mechanism->rows.limits[row] = (rbLimitState)place[3 * rows + row];
    }
    mechanism->isRefreshed = false;
}

rbVec3 rbStep_GetAngularMomentum(const rbMechanism* m)
{
    rbVec3 sum = RB_VEC3_ZERO;
    for (int i = 0; i < m->bodyCount; ++i) {
        const rbMechBody* body = &m->bodies[i];
        if (body->isDynamic) {
            rbVec3 orbital = rbCross(body->pose.position, rbScale(body->mass, body->velocity));
            sum = rbAdd(sum, rbAdd(orbital, body->momentum));
        }
    }
    return sum;
}

// Inertia of the whole about its center of mass.
static rbSym3 totalInertia(const rbMechanism* m, rbVec3* center)
{
    rbSym3 inertia = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    double mass = 0.0;
    *center = RB_VEC3_ZERO;
    for (int i = 0; i < m->bodyCount; ++i) {
        *center = rbAddScaled(*center, m->bodies[i].mass, m->bodies[i].pose.position);
        mass += m->bodies[i].mass;
    }
    *center = rbScale(1.0 / mass, *center);
    for (int i = 0; i < m->bodyCount; ++i) {
        const rbMechBody* body = &m->bodies[i];
        rbVec3 r = rbSub(body->pose.position, *center);
        rbSym3 own = rbSym3_FromPrincipal(body->moments, body->pose.rotation);
        rbSym3 orbital = {r.y * r.y + r.z * r.z,
                          r.x * r.x + r.z * r.z,
                          r.x * r.x + r.y * r.y,
                          -r.x * r.y,
                          -r.x * r.z,
                          -r.y * r.z};
        inertia = rbAddSym(inertia, rbAddSym(own, rbScaleSym(body->mass, orbital)));
    }
    return inertia;
}

void rbStep_AddRigidMotion(rbMechanism* m, rbVec3 momentum, rbVec3 angularMomentum)
{
    rbVec3 center;
    rbVec3 spin;
    rbSym3 inertia = totalInertia(m, &center);
    double mass = 0.0;
    for (int i = 0; i < m->bodyCount; ++i) {
        mass += m->bodies[i].mass;
    }
    RB_ASSERT(mass > 0.0);
    rbVec3 velocity = rbScale(1.0 / mass, momentum);
    rbVec3 own = rbSub(angularMomentum, rbCross(center, momentum));
    if (!rbSym3_Solve(inertia, own, &spin)) {
        spin = RB_VEC3_ZERO;
    }
    for (int i = 0; i < m->bodyCount; ++i) {
        rbMechBody* body = &m->bodies[i];
        rbVec3 r = rbSub(body->pose.position, center);
        rbSym3 tensor = rbSym3_FromPrincipal(body->moments, body->pose.rotation);
        body->velocity = rbAdd(body->velocity, rbAdd(velocity, rbCross(spin, r)));
        body->momentum = rbAdd(body->momentum, rbMulSV(tensor, spin));
    }
}

static void beginRun(rbStepMechanism* mechanism)
{
    for (int i = 0; i < RB_WORK_COUNT; ++i) {
        mechanism->work[i] = 0.0;
    }
    memset(mechanism->rows.totals, 0, (size_t)mechanism->m.rowCount * sizeof(double));
}

static void keepRun(rbStepMechanism* mechanism, int run)
{
    RB_ASSERT(run >= 0 && run < RB_STEP_RUNS_MAX);
    double* place = mechanism->copies.runs + (size_t)run * (size_t)mechanism->copies.runSize;
    rbStep_Save(mechanism, place);
    memcpy(place + mechanism->copies.size, mechanism->work, sizeof mechanism->work);
    (void)putVec(place + mechanism->copies.size + RB_WORK_COUNT,
                 rbStep_GetAngularMomentum(&mechanism->m));
}

static double weightOf(int n, int count)
{
    RB_ASSERT(n >= 1 && n <= count);
    double weight = 1.0;
    for (int k = 1; k <= count; ++k) {
        if (k != n) {
            weight *= (double)(n * n) / (double)(n * n - k * k);
        }
    }
    return weight;
}

// Quaternions are q or -q: those of the runs must agree.
static void alignOrientations(rbStepMechanism* mechanism, int runs)
{
    for (int run = 1; run < runs; ++run) {
        for (int i = 0; i < mechanism->m.bodyCount; ++i) {
            double* first = mechanism->copies.runs + (size_t)i * BODY_DOUBLES + 9;
            double* other = first + (size_t)run * (size_t)mechanism->copies.runSize;
            double dot = first[0] * other[0] + first[1] * other[1] + first[2] * other[2] +
                         first[3] * other[3];
            for (int k = 0; k < 4 && dot < 0.0; ++k) {
                other[k] = -other[k];
            }
        }
    }
}

// How far the last two orders differ: m, angles times the size of the body.
static double compareOrders(const rbStepMechanism* mechanism, int runs)
{
    double most = 0.0;
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        double difference[BODY_DOUBLES] = {0.0};
        for (int n = 1; n <= runs; ++n) {
            double weight = weightOf(n, runs) - (n < runs ? weightOf(n, runs - 1) : 0.0);
            const double* state = mechanism->copies.runs +
                                  (size_t)(n - 1) * (size_t)mechanism->copies.runSize +
                                  (size_t)i * BODY_DOUBLES;
            for (int k = 0; k < BODY_DOUBLES; ++k) {
                difference[k] += weight * state[k];
            }
        }
        rbVec3 shift;
        (void)getVec(difference, &shift);
        double turn = 2.0 * sqrt(difference[9] * difference[9] + difference[10] * difference[10] +
                                 difference[11] * difference[11] + difference[12] * difference[12]);
        most = fmax(most, rbLength(shift) + mechanism->m.bodies[i].radius * turn);
    }
    return most;
}

// The state of the limited rows in a copy of the state.
static const double* limitsOf(const rbStepMechanism* mechanism, const double* state)
{
    return state + (size_t)mechanism->m.bodyCount * BODY_DOUBLES +
           3 * (size_t)mechanism->m.rowCount;
}

// Whether a limited row is at another limit at the end of one of the runs than at the start.
static bool isRowKinked(const rbStepMechanism* mechanism, int runs, int row)
{
    double before = limitsOf(mechanism, mechanism->copies.start)[row];
    for (int n = 0; n < runs; ++n) {
        const double* state =
            mechanism->copies.runs + (size_t)n * (size_t)mechanism->copies.runSize;
        if (limitsOf(mechanism, state)[row] != before) {
            return true;
        }
    }
    return false;
}

// m/s^2, by which limited rows that reach or leave their limits within a step may accelerate bodies
// more or less than they do: they act with their limit for an unknown part of it. 0: none does. The
// runs may agree where all are wrong: a row that stops in the last part of each.
static double getKink(const rbStepMechanism* mechanism, int runs)
{
    const rbMechanism* m = &mechanism->m;
    double most = 0.0;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        double reach = fmax(m->bodies[block->bodyA].radius, m->bodies[block->bodyB].radius);
        for (int row = block->firstRow; row < block->firstRow + block->rowCount; ++row) {
            if (m->limits[row] < INFINITY && isRowKinked(mechanism, runs, row)) {
                bool isTurn = !(rbLengthSquared(m->rows[row].linear) > 0.0);
                double response = rbStep_GetResponse(m, block, row);
                most = fmax(most, m->limits[row] * response * (isTurn ? reach : 1.0));
            }
        }
    }
    return most;
}

// m, by which a body differs between two states after a time in which speeds keep their difference.
static double compareBodies(const rbMechBody* body, const double* a, const double* b, double time)
{
    double d[BODY_DOUBLES];
    for (int k = 0; k < BODY_DOUBLES; ++k) {
        d[k] = a[k] - b[k];
    }
    rbVec3 shift, velocity, momentum;
    (void)getVec(getVec(getVec(d, &shift), &velocity), &momentum);
    double turn = 2.0 * sqrt(d[9] * d[9] + d[10] * d[10] + d[11] * d[11] + d[12] * d[12]);
    double spin =
        rbLength(momentum) * fmax(body->invMoments.x, fmax(body->invMoments.y, body->invMoments.z));
    return rbLength(shift) + body->radius * turn +
           time * (rbLength(velocity) + body->radius * spin);
}

// m, by which the finest run differs from any other after a time.
static double compareRuns(const rbStepMechanism* mechanism, int runs, double time)
{
    double most = 0.0;
    const double* last =
        mechanism->copies.runs + (size_t)(runs - 1) * (size_t)mechanism->copies.runSize;
    for (int n = 0; n < runs - 1; ++n) {
        const double* other =
            mechanism->copies.runs + (size_t)n * (size_t)mechanism->copies.runSize;
        for (int i = 0; i < mechanism->m.bodyCount; ++i) {
            size_t place = (size_t)i * BODY_DOUBLES;
            most = fmax(most,
                        compareBodies(&mechanism->m.bodies[i], other + place, last + place, time));
        }
    }
    return most;
}

// Combines the runs; limits and the like are those of the last run.
static void combineRuns(rbStepMechanism* mechanism, int runs, rbVec3* momentum)
{
    rbMechanism* m = &mechanism->m;
    RB_ASSERT(runs > 1 && runs <= RB_STEP_RUNS_MAX);
    alignOrientations(mechanism, runs);
    mechanism->seen.estimate = compareOrders(mechanism, runs);
    int linear = m->bodyCount * BODY_DOUBLES + 3 * m->rowCount;
    const double* last =
        mechanism->copies.runs + (size_t)(runs - 1) * (size_t)mechanism->copies.runSize;
    double* sum =
        mechanism->copies.runs + (size_t)RB_STEP_RUNS_MAX * (size_t)mechanism->copies.runSize;
    memcpy(sum, last, (size_t)mechanism->copies.runSize * sizeof(double));
    memset(sum, 0, (size_t)linear * sizeof(double));
    double work[RB_WORK_COUNT] = {0.0};
    *momentum = RB_VEC3_ZERO;
    for (int n = 1; n <= runs; ++n) {
        const double* state =
            mechanism->copies.runs + (size_t)(n - 1) * (size_t)mechanism->copies.runSize;
        double weight = weightOf(n, runs);
        for (int k = 0; k < linear; ++k) {
            sum[k] += weight * state[k];
        }
        for (int k = 0; k < RB_WORK_COUNT; ++k) {
            work[k] += weight * state[mechanism->copies.size + k];
        }
        rbVec3 own;
        (void)getVec(state + mechanism->copies.size + RB_WORK_COUNT, &own);
        *momentum = rbAddScaled(*momentum, weight, own);
    }
    rbStep_Restore(mechanism, sum);
    // A guess is best taken from the finest run.
    memcpy(mechanism->rows.guesses, last + (size_t)m->bodyCount * BODY_DOUBLES + m->rowCount,
           (size_t)m->rowCount * sizeof(double));
    memcpy(mechanism->work, work, sizeof work);
    for (int i = 0; i < m->bodyCount; ++i) {
        rbRowPose* pose = &m->bodies[i].pose;
        pose->orientation = rbNormalizeQuat(pose->orientation);
        pose->rotation = rbMatFromQuat(pose->orientation);
    }
}

rbCorrected rbStep_Project(const rbStepRun* run, int iterationsMax, double damping)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbMechanism* m = &mechanism->m;
    rbCorrection correction = {
        .h = 1.0,
        .tolerance = PROJECTION_FLOOR * DBL_EPSILON * mechanism->size,
        .floor = rbStep_GetTolerance(run->engine),
        .iterationsMax = iterationsMax,
        .impulseMax = INFINITY,
        .damping = damping,
        .isIterative = mechanism->inner->solver->cutCount > 0,
    };
    for (int row = 0; row < m->rowCount; ++row) {
        m->compliance[row] = 0.0;
    }
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        for (int k = 0; k < block->rowCount && block->kind != RB_ROW_HOLD; ++k) {
            m->compliance[block->firstRow + k] = INFINITY;
        }
    }
    rbMechanism_Refresh(m);
    rbCorrector_Factor(mechanism->inner, m);
    rbCorrected corrected = rbProjectPositions(mechanism->inner, m, &correction);
    rbMechanism_Refresh(m);
    mechanism->isRefreshed = true;
    return corrected;
}

static void placeForMethod(void* context, rbMechanism* mechanism, double time)
{
    const rbStepRun* run = context;
    double power;
    (void)mechanism;
    rbStep_PlaceFixed(run, time, false);
    run->mechanism->isForceKnown = false;
    rbStep_Forces(run, time, &power);
}

// A registered method in place of look-ahead impulses.
static bool stepByMethod(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbStepRun copy = *run;
    beginRun(mechanism);
    rbMechanism_Refresh(&mechanism->m);
    rbStep_SetSpeeds(run, time, time + h);
    rbMethodState* method = mechanism->method;
    method->row->step(method, &mechanism->m, time, h, placeForMethod, &copy);
    rbStep_PlaceFixed(run, time + h, false);
    rbStep_ContinueErrors(mechanism);
    rbMechanism_Refresh(&mechanism->m);
    mechanism->isRefreshed = true;
    if (!run->isTrial) {
        run->engine->statistics.substeps += 1;
    }
    return true;
}

// rad per step, by runs: beyond it combining them makes an undamped spring gain about 1e-6 of its
// energy per step, and the positions at the end alone may hide it.
static const double springTurns[RB_STEP_RUNS_MAX + 1] = {INFINITY, INFINITY, 0.3, 0.6, 0.9, 1.1};

// Runs that differ by more than a fraction of the motion in the step: something oscillates faster
// than the step, and combining them would amplify it.
static bool isUnresolved(const rbStepMechanism* mechanism, double h, int runs)
{
    const rbMechanism* m = &mechanism->m;
    if (h * rbStep_GetSpringSwing(mechanism) > springTurns[runs]) {
        return true;
    }
    double motion = UNRESOLVED_LEAST * mechanism->size;
    for (int i = 0; i < m->bodyCount; ++i) {
        const double* start = mechanism->copies.start + (size_t)i * BODY_DOUBLES;
        rbVec3 position;
        (void)getVec(start, &position);
        rbQuat q = m->bodies[i].pose.orientation;
        double dot = fabs(start[9] * q.w + start[10] * q.x + start[11] * q.y + start[12] * q.z);
        double turn = 2.0 * sqrt(fmax(0.0, 2.0 - 2.0 * fmin(dot, 1.0)));
        motion = fmax(motion, rbDistance(position, m->bodies[i].pose.position) +
                                  m->bodies[i].radius * turn);
    }
    return mechanism->seen.estimate > UNRESOLVED_PART * motion;
}

// The finest run alone, of order 2, which is stable.
static void useFinestRun(rbStepMechanism* mechanism, int runs, rbVec3* momentum)
{
    const double* last =
        mechanism->copies.runs + (size_t)(runs - 1) * (size_t)mechanism->copies.runSize;
    rbStep_Restore(mechanism, last);
    memcpy(mechanism->work, last + mechanism->copies.size, sizeof mechanism->work);
    (void)getVec(last + mechanism->copies.size + RB_WORK_COUNT, momentum);
}

// Conditions that cannot be met (motors against joints) yield, so that they do no damage.
static bool settle(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    double most =
        fmax(CONTRADICTION * run->engine->settings.tolerance, CONTRADICTED * mechanism->size);
    if (!(rbStep_Settle(run, time, h, SETTLE_FIRM) <= most)) {
        rbStep_Restore(mechanism, mechanism->copies.start);
        beginRun(mechanism);
        (void)rbStep_Settle(run, time, h, SETTLE_SOFT);
    }
    return true;
}

// Several runs as one step, back on its conditions; false: they do not agree, and shorter steps
// may.
static bool finishRuns(const rbStepRun* run, double time, double h, int runs)
{
    rbStepMechanism* mechanism = run->mechanism;
    const rbStepSettings* settings = &run->engine->settings;
    rbVec3 momentum;
    combineRuns(mechanism, runs, &momentum);
    mechanism->seen.kink = settings->errorMax > 0.0 ? getKink(mechanism, runs) : 0.0;
    if (mechanism->seen.kink > 0.0) {
        // Combining the runs would cancel nothing.
        double horizon = settings->horizon;
        mechanism->seen.estimate =
            fmax(compareRuns(mechanism, runs, horizon), h * mechanism->seen.kink * horizon);
        useFinestRun(mechanism, runs, &momentum);
    } else if (isUnresolved(mechanism, h, runs)) {
        if (!run->isSmallest && !run->isForced) {
            return false;
        }
        useFinestRun(mechanism, runs, &momentum);
    }
    rbStep_PlaceFixed(run, time + h, false);
    (void)rbStep_Project(run, PROJECTIONS_MAX, 0.0);
    rbStep_ContinueErrors(mechanism);
    rbStep_SetSpeeds(run, time + h, time + h);
    // Velocities only: nothing soft acts in zero time.
    rbStep_StopRates(run, 0.0, mechanism->inner);
    if (mechanism->traits.isAfloat) {
        // Every run keeps the angular momentum, but the combination is not linear in it: the
        // difference is corrected as a rotation of the whole, which no joint feels.
        rbVec3 off = rbSub(momentum, rbStep_GetAngularMomentum(&mechanism->m));
        rbStep_AddRigidMotion(&mechanism->m, RB_VEC3_ZERO, off);
    }
    return true;
}

// One run of n basic steps; false: one of them did not meet its tolerance.
static bool makeRun(const rbStepRun* run, double time, double h, int n)
{
    rbStepMechanism* mechanism = run->mechanism;
    bool isSettled = mechanism->node.settleCount > 0;
    beginRun(mechanism);
    for (int k = 0; k < n; ++k) {
        double from = time + h * (double)k / (double)n;
        if (!(isSettled ? settle(run, from, h) : rbStep_Basic(run, from, h / (double)n, k == 0))) {
            return false;
        }
        mechanism->isAnchored = mechanism->isAnchored || k == 0;
    }
    return true;
}

bool rbStep_Make(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    if (mechanism->method != NULL) {
        return stepByMethod(run, time, h);
    }
    // Limited impulses and steps of order 1 do not support extrapolation.
    bool isPlain = mechanism->isOpen || mechanism->node.settleCount > 0;
    int runs = isPlain ? 1 : run->engine->settings.order / 2;
    RB_ASSERT(runs >= 1 && runs <= RB_STEP_RUNS_MAX && h > 0.0);
    rbStep_Save(mechanism, mechanism->copies.start);
    bool isMade = makeRun(run, time, h, 1);
    for (int n = 2; isMade && n <= runs; ++n) {
        keepRun(mechanism, n - 2);
        rbStep_Restore(mechanism, mechanism->copies.start);
        isMade = makeRun(run, time, h, n);
    }
    if (isMade && runs > 1) {
        keepRun(mechanism, runs - 1);
        isMade = finishRuns(run, time, h, runs);
    }
    if (!isMade) {
        rbStep_Restore(mechanism, mechanism->copies.start);
        return false;
    }
    // The factors of the end are those of the next start.
    rbCorrector* other = mechanism->anchor;
    mechanism->anchor = mechanism->inner;
    mechanism->inner = other;
    mechanism->isAnchored = !mechanism->traits.hasSoft;
    return true;
}
