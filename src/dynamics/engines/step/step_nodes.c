// Steps of a mechanism.
//
// Orders: runs of N = 1, 2, 3, ... basic steps over the same time, combined so that the even powers
// of the step in the error cancel, then projected back onto the conditions. Weights of the runs for
// order 2k: c_N = product over j != N, j <= k of N^2 / (N^2 - j^2).
//
// Nodes: steps of the given or chosen size, halved where look-ahead does not contract, stretched
// where they would end on a singular position; trial steps to other times.
#include "base/math/elementary.h"
#include "base/math/matrix3.h"
#include "dynamics/engines/step/step_contact_state.h"

#include <float.h>
#include <string.h>

// ------------------------------------------------------------------------------------------ orders

#define BODY_DOUBLES RB_STEP_BODY_DOUBLES
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

// A body in a copy of the state, as rbStep_MoveBody moves it.
typedef struct BodyCopy {
    rbVec3 position;
    rbVec3 velocity;
    rbVec3 momentum;
    rbQuat orientation;
} BodyCopy;

_Static_assert(sizeof(BodyCopy) == BODY_DOUBLES * sizeof(double), "no padding");

static BodyCopy copyAt(const double* state, int body)
{
    BodyCopy copy;
    memcpy(&copy, state + (size_t)body * BODY_DOUBLES, sizeof copy);
    return copy;
}

void rbStep_MoveBody(rbMechBody* body, rbByteStream* stream)
{
    BodyCopy copy = {body->pose.position, body->velocity, body->momentum, body->pose.orientation};
    RB_MOVE(stream, copy);
    if (stream->isLoading) {
        body->pose = (rbRowPose){copy.position, copy.orientation, rbMatFromQuat(copy.orientation)};
        body->velocity = copy.velocity;
        body->momentum = copy.momentum;
    }
}

void rbStep_Move(rbStepMechanism* mechanism, rbByteStream* stream)
{
    rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->bodyCount; ++i) {
        rbStep_MoveBody(&m->bodies[i], stream);
    }
    size_t size = (size_t)m->rowCount * sizeof(double);
    rbByteStream_Move(stream, m->startErrors, size);
    rbByteStream_Move(stream, mechanism->rows.totals, size);
    rbByteStream_Move(stream, mechanism->rows.guesses, size);
    // rows of joints have no limits
    for (int row = 0; mechanism->traits.hasSoft && row < m->rowCount; ++row) {
        double limit = (double)mechanism->rows.limits[row];
        RB_MOVE(stream, limit);
        mechanism->rows.limits[row] = (rbLimitState)limit;
    }
    mechanism->isRefreshed = mechanism->isRefreshed && !stream->isLoading;
}

void rbStep_Save(rbStepMechanism* mechanism, void* state)
{
    rbStep_Move(mechanism, &(rbByteStream){.bytes = state});
}

void rbStep_Restore(rbStepMechanism* mechanism, void* state)
{
    rbStep_Move(mechanism, &(rbByteStream){.bytes = state, .isLoading = true});
}

// Where guesses begin in a copy of the state, which belong to a single run; limits follow.
static size_t placeOfGuesses(const rbMechanism* m)
{
    return (size_t)m->bodyCount * BODY_DOUBLES + 2 * (size_t)m->rowCount;
}

// Sums over the bodies of a mechanism.
typedef struct Totals {
    double mass;
    rbVec3 center;   // m, of mass
    rbVec3 momentum; // kg m/s
    rbVec3 angular;  // kg m^2/s, about the origin
    double kinetic;  // J
    double energy;   // J, if nothing but constant forces acts
} Totals;

static Totals sumBodies(const rbStepMechanism* mechanism)
{
    Totals sum = {0};
    for (int i = 0; i < mechanism->dynamicCount; ++i) {
        const rbMechBody* body = &mechanism->m.bodies[i];
        rbVec3 orbital = rbCross(body->pose.position, rbScale(body->mass, body->velocity));
        rbVec3 local = rbMulMtV(body->pose.rotation, body->momentum);
        sum.mass += body->mass;
        sum.center = rbAddScaled(sum.center, body->mass, body->pose.position);
        sum.momentum = rbAddScaled(sum.momentum, body->mass, body->velocity);
        sum.angular = rbAdd(sum.angular, rbAdd(orbital, body->momentum));
        double kinetic = 0.5 * body->mass * rbLengthSquared(body->velocity) +
                         0.5 * rbDot(rbMulEach(local, local), body->invMoments);
        sum.kinetic += kinetic;
        sum.energy += kinetic - rbDot(body->force, body->pose.position);
    }
    RB_ASSERT(sum.mass > 0.0);
    sum.center = rbScale(1.0 / sum.mass, sum.center);
    return sum;
}

// Inertia of the whole about its center of mass.
static rbSym3 totalInertia(const rbMechanism* m, rbVec3 center)
{
    rbSym3 inertia = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < m->bodyCount; ++i) {
        const rbMechBody* body = &m->bodies[i];
        rbVec3 r = rbSub(body->pose.position, center);
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

// Adds the motion as one rigid body that has the momentum and the angular momentum about the
// origin; all bodies must be dynamic.
static void addRigidMotion(rbStepMechanism* mechanism, rbVec3 momentum, rbVec3 angular)
{
    rbMechanism* m = &mechanism->m;
    Totals sum = sumBodies(mechanism);
    rbVec3 spin;
    rbVec3 velocity = rbScale(1.0 / sum.mass, momentum);
    rbVec3 own = rbSub(angular, rbCross(sum.center, momentum));
    if (!rbSym3_Solve(totalInertia(m, sum.center), own, &spin)) {
        spin = RB_VEC3_ZERO;
    }
    for (int i = 0; i < m->bodyCount; ++i) {
        rbMechBody* body = &m->bodies[i];
        rbVec3 r = rbSub(body->pose.position, sum.center);
        rbSym3 tensor = rbSym3_FromPrincipal(body->moments, body->pose.rotation);
        body->velocity = rbAdd(body->velocity, rbAdd(velocity, rbCross(spin, r)));
        body->momentum = rbAdd(body->momentum, rbMulSV(tensor, spin));
    }
}

// The result of a run, from 0: its state, work and angular momentum.
static double* runOf(const rbStepMechanism* mechanism, int run)
{
    return mechanism->copies.runs + (size_t)run * (size_t)mechanism->copies.runSize;
}

static void keepRun(rbStepMechanism* mechanism, int run)
{
    RB_ASSERT(run >= 0 && run < RB_STEP_RUNS_MAX);
    double* place = runOf(mechanism, run);
    rbVec3 angular = sumBodies(mechanism).angular;
    rbStep_Save(mechanism, place);
    memcpy(place + mechanism->copies.size, mechanism->work, sizeof mechanism->work);
    memcpy(place + mechanism->copies.size + RB_WORK_COUNT, &angular, sizeof angular);
}

// Continues with the result of a run; returns its angular momentum.
static rbVec3 useRun(rbStepMechanism* mechanism, double* result)
{
    rbVec3 angular;
    rbStep_Restore(mechanism, result);
    memcpy(mechanism->work, result + mechanism->copies.size, sizeof mechanism->work);
    memcpy(&angular, result + mechanism->copies.size + RB_WORK_COUNT, sizeof angular);
    return angular;
}

static double weightOf(int n, int count)
{
    RB_ASSERT(n >= 1 && n <= count && count <= RB_STEP_RUNS_MAX);
    double weight = 1.0;
    for (int k = 1; k <= count; ++k) {
        if (k != n) {
            weight *= (double)(n * n) / (double)(n * n - k * k);
        }
    }
    return weight;
}

// Sums of numbers of the runs.
static void sumRuns(const rbStepRuns* runs, const double* weights, int first, int count,
                    double* sum)
{
    RB_ASSERT(first >= 0 && count >= 0 && first + count <= runs->size);
    memset(sum, 0, (size_t)count * sizeof(double));
    for (int n = 0; n < runs->count; ++n) {
        const double* result = runs->results + (ptrdiff_t)n * runs->size + first;
        for (int k = 0; k < count; ++k) {
            sum[k] += weights[n] * result[k];
        }
    }
}

// m, that a weighted difference of the states of a body means after a time in which speeds keep
// theirs: angles times the size of the body.
static double measureDifference(const rbStepRuns* runs, const double* weights, int place,
                                const rbMechBody* body, double time)
{
    double d[BODY_DOUBLES];
    sumRuns(runs, weights, place * BODY_DOUBLES, BODY_DOUBLES, d);
    BodyCopy copy = copyAt(d, 0);
    double turn = 2.0 * sqrt(rbDotQuat(copy.orientation, copy.orientation));
    double spin = rbLength(copy.momentum) *
                  fmax(body->invMoments.x, fmax(body->invMoments.y, body->invMoments.z));
    return rbLength(copy.position) + body->radius * turn +
           time * (rbLength(copy.velocity) + body->radius * spin);
}

double rbStepRuns_CompareOrders(const rbStepRuns* runs, int place, const rbMechBody* body,
                                double time)
{
    RB_ASSERT(place >= 0 && place < runs->bodyCount);
    double weights[RB_STEP_RUNS_MAX];
    for (int n = 1; n <= runs->count; ++n) {
        double lower = n < runs->count ? weightOf(n, runs->count - 1) : 0.0;
        weights[n - 1] = weightOf(n, runs->count) - lower;
    }
    return measureDifference(runs, weights, place, body, time);
}

void rbStepRuns_Align(const rbStepRuns* runs)
{
    for (int i = 0; i < runs->bodyCount; ++i) {
        const double* first = runs->results + (ptrdiff_t)i * BODY_DOUBLES + 9;
        for (int n = 1; n < runs->count; ++n) {
            double* other = runs->results + (ptrdiff_t)n * runs->size + (first - runs->results);
            double dot = first[0] * other[0] + first[1] * other[1] + first[2] * other[2] +
                         first[3] * other[3];
            for (int k = 0; k < 4 && dot < 0.0; ++k) {
                other[k] = -other[k];
            }
        }
    }
}

void rbStepRuns_Combine(const rbStepRuns* runs, double* sum)
{
    double weights[RB_STEP_RUNS_MAX];
    for (int n = 1; n <= runs->count; ++n) {
        weights[n - 1] = weightOf(n, runs->count);
    }
    sumRuns(runs, weights, 0, runs->size, sum);
    for (int i = 0; i < runs->bodyCount; ++i) {
        rbQuat orientation = rbNormalizeQuat(copyAt(sum, i).orientation);
        memcpy(sum + (ptrdiff_t)i * BODY_DOUBLES + 9, &orientation, sizeof orientation);
    }
}

// m/s^2, by which limited rows that reach or leave their limits within a step may accelerate bodies
// more or less than they do: they act with their limit for an unknown part of it. 0: none does. The
// runs may agree where all are wrong: a row that stops in the last part of each.
static double getKink(const rbStepMechanism* mechanism, int runs)
{
    const rbMechanism* m = &mechanism->m;
    size_t limits = placeOfGuesses(m) + (size_t)m->rowCount;
    double most = 0.0;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        double reach = fmax(m->bodies[block->bodyA].radius, m->bodies[block->bodyB].radius);
        for (int row = block->firstRow; row < block->firstRow + block->rowCount; ++row) {
            bool isKinked = false; // at another limit at the end of a run than at the start
            for (int n = 0; n < runs && m->limits[row] < INFINITY; ++n) {
                size_t place = limits + (size_t)row;
                isKinked = isKinked || runOf(mechanism, n)[place] != mechanism->copies.start[place];
            }
            if (isKinked) {
                bool isTurn = !(rbLengthSquared(m->rows[row].linear) > 0.0);
                double response = rbMechanism_GetResponse(m, block, row);
                most = fmax(most, m->limits[row] * response * (isTurn ? reach : 1.0));
            }
        }
    }
    return most;
}

// m, by which the finest run differs from any other after a time.
static double compareRuns(const rbStepMechanism* mechanism, const rbStepRuns* runs, double time)
{
    double most = 0.0;
    for (int n = 0; n < runs->count - 1; ++n) {
        double weights[RB_STEP_RUNS_MAX] = {0.0};
        weights[n] = 1.0;
        weights[runs->count - 1] = -1.0;
        for (int i = 0; i < mechanism->m.bodyCount; ++i) {
            most = fmax(most, measureDifference(runs, weights, i, &mechanism->m.bodies[i], time));
        }
    }
    return most;
}

// Combines the runs; limits and guesses are those of the finest. Returns the angular momentum.
static rbVec3 combineRuns(rbStepMechanism* mechanism, const rbStepRuns* runs)
{
    const rbMechanism* m = &mechanism->m;
    RB_ASSERT(runs->count > 1 && runs->count <= RB_STEP_RUNS_MAX);
    rbStepRuns_Align(runs);
    mechanism->seen.estimate = 0.0;
    for (int i = 0; i < m->bodyCount; ++i) {
        double off = rbStepRuns_CompareOrders(runs, i, &m->bodies[i], 0.0);
        mechanism->seen.estimate = fmax(mechanism->seen.estimate, off);
    }
    double* sum = runOf(mechanism, RB_STEP_RUNS_MAX);
    rbStepRuns_Combine(runs, sum);
    size_t own = placeOfGuesses(m);
    memcpy(sum + own, runOf(mechanism, runs->count - 1) + own,
           2 * (size_t)m->rowCount * sizeof(double));
    return useRun(mechanism, sum);
}

void rbStep_HoldJoints(const rbMechanism* m, double* compliance)
{
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        for (int k = 0; k < block->rowCount; ++k) {
            compliance[block->firstRow + k] = block->kind == RB_ROW_HOLD ? 0.0 : INFINITY;
        }
    }
}

rbCorrected rbStep_Project(rbStepMechanism* mechanism, int iterationsMax, double damping)
{
    rbMechanism* m = &mechanism->m;
    rbCorrection correction = {
        .h = 1.0,
        .tolerance = PROJECTION_FLOOR * DBL_EPSILON * mechanism->size,
        .floor = rbStep_GetTolerance(mechanism->engine),
        .iterationsMax = iterationsMax,
        .impulseMax = INFINITY,
        .damping = damping,
        .isIterative = mechanism->inner->solver->cutCount > 0,
    };
    rbStep_HoldJoints(m, m->compliance);
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
    (void)mechanism;
    rbStep_PlaceFixed(run->mechanism, time, 1);
    run->mechanism->isForceKnown = false;
    (void)rbStep_Forces(run, time);
}

// A registered method in place of look-ahead impulses.
static bool stepByMethod(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbStepRun copy = *run;
    rbStep_ClearTotals(mechanism);
    rbMechanism_Refresh(&mechanism->m);
    rbStep_SetSpeeds(mechanism, time, time + h);
    rbMethodState* method = mechanism->method;
    method->row->step(method, &mechanism->m, time, h, placeForMethod, &copy);
    rbStep_PlaceFixed(mechanism, time + h, -1);
    rbStep_ContinueErrors(mechanism);
    rbMechanism_Refresh(&mechanism->m);
    mechanism->isRefreshed = true;
    mechanism->engine->statistics.substeps += run->isTrial ? 0 : 1;
    return true;
}

// Springs damped by more than this fraction of critical damping settle by themselves.
#define SWING_DAMPING 0.1
// Oscillations below this fraction of the size do not count.
#define SWING_LEAST 1e-6

// rad/s, of the fastest nearly undamped spring; each taken alone, so a lower bound.
static double springSwing(const rbStepMechanism* mechanism)
{
    const rbMechanism* m = &mechanism->m;
    double fastest = 0.0;
    for (int i = 0; mechanism->traits.hasSoft && i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        if (block->kind != RB_ROW_SPRING || !(block->stiffness > 0.0)) {
            continue;
        }
        double response = rbMechanism_GetResponse(m, block, block->firstRow);
        double swing = sqrt(block->stiffness * response);
        double rate;
        rbMechanism_Rates(m, i, &rate);
        rate = fmax(fabs(rate), fabs(mechanism->rows.drives[block->firstRow].rateBefore));
        bool isCalm = rate <= SWING_LEAST * mechanism->size * swing;
        bool isDamped = block->damping * response > 2.0 * SWING_DAMPING * swing;
        if (!isCalm && !isDamped) {
            fastest = fmax(fastest, swing);
        }
    }
    return fastest;
}

// rad per step, by runs: beyond it combining them makes an undamped spring gain about 1e-6 of its
// energy per step, and the positions at the end alone may hide it.
static const double springTurns[RB_STEP_RUNS_MAX + 1] = {INFINITY, INFINITY, 0.3, 0.6, 0.9, 1.1};

// Runs that differ by more than a fraction of the motion in the step: something oscillates faster
// than the step, and combining them would amplify it.
static bool isUnresolved(const rbStepMechanism* mechanism, double h, int runs)
{
    const rbMechanism* m = &mechanism->m;
    if (h * springSwing(mechanism) > springTurns[runs]) {
        return true;
    }
    double motion = UNRESOLVED_LEAST * mechanism->size;
    for (int i = 0; i < m->bodyCount; ++i) {
        BodyCopy start = copyAt(mechanism->copies.start, i);
        rbQuat p = start.orientation;
        rbQuat q = m->bodies[i].pose.orientation;
        double dot = fabs(p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z);
        double turn = 2.0 * sqrt(fmax(0.0, 2.0 - 2.0 * fmin(dot, 1.0)));
        motion = fmax(motion, rbDistance(start.position, m->bodies[i].pose.position) +
                                  m->bodies[i].radius * turn);
    }
    return mechanism->seen.estimate > UNRESOLVED_PART * motion;
}

// Conditions that cannot be met (motors against joints) yield, so that they do no damage.
static void settleRun(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    double most =
        fmax(CONTRADICTION * mechanism->engine->settings.tolerance, CONTRADICTED * mechanism->size);
    if (!(rbStep_Settle(run, time, h, SETTLE_FIRM) <= most)) {
        rbStep_Restore(mechanism, mechanism->copies.start);
        rbStep_ClearTotals(mechanism);
        (void)rbStep_Settle(run, time, h, SETTLE_SOFT);
    }
}

// Several runs as one step, back on its conditions; false: they do not agree, and shorter steps
// may.
static bool finishRuns(const rbStepRun* run, double time, double h, int runs)
{
    RB_ASSERT(runs > 1 && h > 0.0);
    rbStepMechanism* mechanism = run->mechanism;
    const rbStepSettings* settings = &mechanism->engine->settings;
    rbStepRuns results = {mechanism->copies.runs, mechanism->copies.runSize, runs,
                          mechanism->m.bodyCount};
    double* finest = runOf(mechanism, runs - 1); // of order 2, which is stable
    rbVec3 momentum = combineRuns(mechanism, &results);
    mechanism->seen.kink = getKink(mechanism, runs);
    if (mechanism->seen.kink > 0.0 && settings->errorMax > 0.0) {
        // Combining the runs would cancel nothing.
        mechanism->seen.estimate = fmax(compareRuns(mechanism, &results, settings->horizon),
                                        h * mechanism->seen.kink * settings->horizon);
        momentum = useRun(mechanism, finest);
    } else if (isUnresolved(mechanism, h, runs)) {
        if (!run->isSmallest && !run->isForced) {
            return false;
        }
        momentum = useRun(mechanism, finest);
    }
    double turned = 0.5 * h * h * mechanism->seen.kink; // m, that combining has not cancelled
    mechanism->seen.estimate = fmax(mechanism->seen.estimate, turned);
    rbStep_PlaceFixed(mechanism, time + h, -1);
    (void)rbStep_Project(mechanism, PROJECTIONS_MAX, 0.0);
    // Velocities only: nothing soft acts in zero time.
    rbStep_StopRates(run, time + h);
    if (mechanism->traits.isAfloat) {
        // Every run keeps the angular momentum, but the combination is not linear in it: the
        // difference is corrected as a rotation of the whole, which no joint feels.
        rbVec3 off = rbSub(momentum, sumBodies(mechanism).angular);
        addRigidMotion(mechanism, RB_VEC3_ZERO, off);
    }
    return true;
}

// One run of n basic steps; false: one of them did not meet its tolerance.
static bool makeRun(const rbStepRun* run, double time, double h, int n)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbStep_ClearTotals(mechanism);
    for (int k = 0; k < n; ++k) {
        double from = time + h * (double)k / (double)n;
        if (mechanism->node.settleCount > 0) {
            settleRun(run, from, h);
        } else if (!rbStep_Basic(run, from, h / (double)n, k == 0)) {
            return false;
        }
        mechanism->isAnchored = mechanism->isAnchored || k == 0;
    }
    return true;
}

// A step of the given order; false: it was not met, and the state is that of the start.
static bool makeStep(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    if (mechanism->method != NULL) {
        return stepByMethod(run, time, h);
    }
    // Limited impulses and steps of order 1 do not support extrapolation.
    bool isPlain = mechanism->isOpen || mechanism->node.settleCount > 0;
    int runs = isPlain ? 1 : mechanism->engine->settings.order / 2;
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

// ---------------------------------------------------------------------------------------- swinging
// How fast a mechanism oscillates under the forces its joints carry.
//
// A joint that pulls a body at an arm r with a force F holds it upright as a taut string does:
// about an axis across the arm with the stiffness r . F. A rod of length L that pulls with T holds
// both of its ends with T/L. Light links between heavy bodies oscillate so fast that a step, which
// feels these forces only at its start and its end, would be unstable at h w > 2 (B-45: the
// look-ahead does not show it before it is too late).

// Neighbors that oscillate against each other double the stiffness of a rod.
#define NEIGHBORS 2.0

// Square of the frequency of a body under a force at an arm.
static double turnRate(const rbRowMass* mass, rbVec3 arm, rbVec3 force)
{
    double stiffness = rbDot(arm, force);
    if (!mass->isDynamic || !(stiffness > 0.0)) {
        return 0.0;
    }
    rbVec3 unit = rbNormalize(arm);
    rbVec3 n1 = rbPerpendicular(unit);
    rbVec3 n2 = rbCross(unit, n1);
    double response =
        fmax(rbDot(n1, rbMulSV(mass->invInertia, n1)), rbDot(n2, rbMulSV(mass->invInertia, n2)));
    return stiffness * response;
}

// rad/s, upper bound of the fastest oscillation under the forces that joints carried in the step
// of size h just made.
static double swingOf(const rbStepMechanism* mechanism, double h)
{
    RB_ASSERT(h > 0.0);
    // Impulses of both ends together: residuals of look-ahead within its tolerance cancel.
    const rbMechanism* m = &mechanism->m;
    double* squares = mechanism->copies.scratch; // per body
    double most = 0.0;
    for (int i = 0; i < m->bodyCount; ++i) {
        squares[i] = 0.0;
    }
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        if (mechanism->infos[i].role != RB_ROLE_JOINT) {
            continue;
        }
        const rbPartModel* part = ((const rbJointModel*)block->data)->parts;
        rbVec3 force = RB_VEC3_ZERO; // on A
        for (int k = 0; k < block->rowCount; ++k) {
            int row = block->firstRow + k;
            force = rbAddScaled(force, mechanism->rows.totals[row] / h, m->rows[row].linear);
        }
        const rbMechBody* bodyA = &m->bodies[block->bodyA];
        const rbMechBody* bodyB = &m->bodies[block->bodyB];
        rbVec3 rA = rbMulMV(bodyA->pose.rotation, part->pointA);
        rbVec3 rB = rbMulMV(bodyB->pose.rotation, part->pointB);
        squares[block->bodyA] += turnRate(&m->masses[block->bodyA], rA, force);
        squares[block->bodyB] += turnRate(&m->masses[block->bodyB], rB, rbNeg(force));
        // Positive along the row is a pull.
        double pull = mechanism->rows.totals[block->firstRow] / h;
        if (part->distance > 0.0 && pull > 0.0) {
            double stiffness = NEIGHBORS * pull / part->distance;
            squares[block->bodyA] += stiffness * bodyA->invMass;
            squares[block->bodyB] += stiffness * bodyB->invMass;
        }
    }
    for (int i = 0; i < m->bodyCount; ++i) {
        most = fmax(most, squares[i]);
    }
    return sqrt(most);
}

// ------------------------------------------------------------------------------------------- nodes

// Steps without a halving after which a coarser step is tried again.
#define CALM_STEPS 4
// The same after a step that gained energy.
#define WILD_STEPS 250
// A step that gets closer to a singular position than this fraction of the usual pivot is made
// longer or shorter.
#define SINGULAR_PIVOT 1e-6
#define SINGULAR_ATTEMPTS 3
// Steps without look-ahead before it is tried again.
#define SETTLE_STEPS 16
#define SETTLE_STEPS_MAX 1024
// Fraction of the kinetic energy by which the energy may grow in a step.
#define TAME_PART 0.05
// Step times the fastest oscillation; beyond 2 steps are unstable.
#define SWING_MOST 1.5
// Growth and shrinkage of chosen steps.
#define STEP_SAFETY 0.9
#define STEP_GROWTH 2.0
#define STEP_SHRINKAGE 0.2
// Fraction of the largest step below which none is tried.
#define STEP_LEAST 1e-9
// Roundings of a position by which orders may differ, per order.
#define ESTIMATE_ROUNDINGS 4.0
// Fraction of the error allowed in all that a single kink may make.
#define KINK_SHARE 0.004
// The shortest step of a kink moves a body by the square of this many roundings.
#define KINK_ROUNDINGS 8.0

static void addPart(const rbStepRun* run, double h)
{
    RB_ASSERT(h > 0.0);
    rbStepMechanism* mechanism = run->mechanism;
    double* smallest = &mechanism->engine->statistics.stepSmallest;
    *smallest = run->isTrial ? *smallest : fmin(*smallest, h);
    mechanism->node.estimateSum += mechanism->seen.estimate;
    for (int i = 0; i < RB_WORK_COUNT; ++i) {
        mechanism->node.work[i] += mechanism->work[i];
    }
    for (int row = 0; row < mechanism->m.rowCount; ++row) {
        mechanism->rows.sums[row] += mechanism->rows.totals[row];
    }
}

// Whether the part just made is short enough for the fastest oscillation of the mechanism at its
// end; if not, it is undone.
static bool isSwingResolved(rbStepMechanism* mechanism, double h)
{
    if (mechanism->method != NULL || mechanism->node.settleCount > 0) {
        return true;
    }
    mechanism->node.swing = swingOf(mechanism, h);
    RB_ASSERT(!(mechanism->node.swing < 0.0));
    if (h * mechanism->node.swing <= SWING_MOST) {
        return true;
    }
    rbStep_Restore(mechanism, mechanism->copies.start);
    mechanism->isAnchored = false;
    return false;
}

// A step of size h from a time, halved as often as needed and allowed. LIMIT when that was not
// enough.
static rbStatus makeParts(const rbStepRun* run, double time, double h, int depth)
{
    rbStepEngine* engine = run->mechanism->engine;
    int most = run->isForced ? 0 : engine->settings.halvingsMax;
    RB_ASSERT(h > 0.0 && depth <= most);
    bool isSplit = depth < run->mechanism->node.level && depth < most;
    if (!isSplit) {
        rbStepRun attempt = *run;
        attempt.isSmallest = depth >= most;
        if (makeStep(&attempt, time, h) && (depth >= most || isSwingResolved(run->mechanism, h))) {
            addPart(run, h);
            return RB_STATUS_OK;
        }
        if (depth >= most) {
            return RB_STATUS_LIMIT;
        }
        engine->statistics.halvings += run->isTrial ? 0 : 1;
        run->mechanism->node.level = depth + 1;
        run->mechanism->node.calmCount = 0;
    }
    RB_TRY(makeParts(run, time, 0.5 * h, depth + 1));
    return makeParts(run, time + 0.5 * h, 0.5 * h, depth + 1);
}

static bool isConservative(const rbStepMechanism* mechanism)
{
    return !mechanism->traits.hasSoft && !mechanism->traits.hasPaths &&
           !mechanism->traits.hasLoads && !mechanism->traits.hasTorques && !mechanism->isOpen &&
           mechanism->method == NULL;
}

// Angular momentum about the center of mass.
static rbVec3 ownAngular(const Totals* sum)
{
    return rbSub(sum->angular, rbCross(sum->center, sum->momentum));
}

// A free-floating mechanism in a uniform field keeps its angular momentum, gains the momentum of
// the field, and its center flies freely. Impulses at nearly singular positions may be so large
// that their rounding shows: it is corrected as a motion and a shift of the whole, which no joint
// feels.
static void keepMomentum(rbStepMechanism* mechanism, const Totals* before, double h)
{
    rbMechanism* m = &mechanism->m;
    rbVec3 force = RB_VEC3_ZERO;
    for (int i = 0; i < m->bodyCount; ++i) {
        force = rbAdd(force, m->bodies[i].force);
    }
    RB_ASSERT(mechanism->traits.isAfloat && before->mass > 0.0);
    Totals sum = sumBodies(mechanism);
    rbVec3 mean = rbAddScaled(before->momentum, 0.5 * h, force);
    rbVec3 shift = rbSub(rbAddScaled(before->center, h / sum.mass, mean), sum.center);
    for (int i = 0; i < m->bodyCount; ++i) {
        rbVec3* position = &m->bodies[i].pose.position;
        *position = rbAdd(*position, shift);
    }
    sum = sumBodies(mechanism);
    rbVec3 off = rbSub(rbAddScaled(before->momentum, h, force), sum.momentum);
    rbVec3 turn = rbAdd(rbSub(ownAngular(before), ownAngular(&sum)), rbCross(sum.center, off));
    addRigidMotion(mechanism, off, turn);
}

// J, possible work of the forces in a step on bodies at rest.
static double sumForceEnergy(const rbMechanism* m, double h)
{
    double sum = 0.0;
    for (int i = 0; i < m->bodyCount; ++i) {
        sum += 0.5 * m->bodies[i].invMass * (h * h * rbLengthSquared(m->bodies[i].force));
    }
    RB_ASSERT(!(sum < 0.0));
    return sum;
}

// Removes the energy gained by a step that could not be made otherwise: from all motion, or, for a
// free mechanism, from the motion relative to its rigid-body motion, so that momentum is conserved.
static void tame(rbStepMechanism* mechanism, const Totals* before)
{
    rbMechanism* m = &mechanism->m;
    Totals sum = sumBodies(mechanism);
    double gain = sum.energy - before->energy;
    if (!isConservative(mechanism) || !(gain > 0.0)) {
        return;
    }
    if (mechanism->traits.isAfloat) {
        addRigidMotion(mechanism, rbNeg(sum.momentum), rbNeg(sum.angular));
    }
    double kinetic = sumBodies(mechanism).kinetic;
    RB_ASSERT(!(kinetic < 0.0));
    double scale = gain < kinetic ? sqrt((kinetic - gain) / kinetic) : 0.0;
    for (int i = 0; i < mechanism->dynamicCount; ++i) {
        rbMechBody* body = &m->bodies[i];
        body->velocity = rbScale(scale, body->velocity);
        body->momentum = rbScale(scale, body->momentum);
    }
    if (mechanism->traits.isAfloat) {
        addRigidMotion(mechanism, sum.momentum, sum.angular);
    }
}

// LIMIT when look-ahead does not contract, NUMERICAL when the step gained energy.
static rbStatus makeSteps(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbStepRun own = *run;
    const rbStepSettings* settings = &mechanism->engine->settings;
    rbPoll();
    // If no halvings or few iterations are allowed, the result is accepted.
    own.isForced = run->isForced || settings->halvingsMax == 0 || settings->iterationsMax > 0 ||
                   mechanism->node.settleCount > 0;
    mechanism->seen.pivotWorst = INFINITY;
    mechanism->seen.redundantMost = 0;
    memset(mechanism->rows.sums, 0, (size_t)mechanism->m.rowCount * sizeof(double));
    rbStep_RunMotors(run, time, h);
    (void)rbStep_Forces(run, time);
    Totals before = sumBodies(mechanism);
    double forceEnergy = sumForceEnergy(&mechanism->m, h);
    bool isKept =
        mechanism->traits.isAfloat && mechanism->traits.isFieldUniform && isConservative(mechanism);
    rbStatus status = makeParts(&own, time, h, 0);
    // Joints do no work: if the energy grew by more than forces give, look-ahead has found another
    // configuration that closes them, far from the current one.
    Totals sum = sumBodies(mechanism);
    bool isWild = isConservative(mechanism) &&
                  !(sum.energy - before.energy <= TAME_PART * sum.kinetic + forceEnergy);
    if (mechanism->node.settleCount > 0 || (own.isForced && isWild)) {
        tame(mechanism, &before);
    } else if (status == RB_STATUS_OK && isWild) {
        status = RB_STATUS_NUMERICAL;
    }
    // Twice: a large correction leaves rounding errors.
    for (int k = 0; isKept && status == RB_STATUS_OK && k < 2; ++k) {
        keepMomentum(mechanism, &before, h);
    }
    return status;
}

// The state, and the memory of servos: a trial must not count.
static void moveNode(rbStepMechanism* mechanism, rbByteStream stream)
{
    rbStep_Move(mechanism, &stream);
    RB_MOVE(&stream, mechanism->node);
    rbByteStream_Move(&stream, mechanism->rows.reactions,
                      (size_t)mechanism->m.rowCount * sizeof(double));
    for (int i = 0; i < mechanism->m.blockCount; ++i) {
        const rbBlockInfo* info = &mechanism->infos[i];
        if (info->role == RB_ROLE_FREEDOM) {
            RB_MOVE(&stream, mechanism->engine->joints.data[info->owner].motors[info->freedom]);
        }
    }
    RB_ASSERT(stream.size <= (size_t)mechanism->copies.nodeSize);
}

void rbStep_KeepNode(rbStepMechanism* mechanism)
{
    moveNode(mechanism, (rbByteStream){.bytes = mechanism->copies.kept});
}

void rbStep_RecallNode(rbStepMechanism* mechanism)
{
    moveNode(mechanism, (rbByteStream){.bytes = mechanism->copies.kept, .isLoading = true});
    mechanism->isAnchored = false;
}

static void keepNode(rbStepMechanism* mechanism)
{
    rbStep_KeepNode(mechanism);
    rbStep_MeasureSize(mechanism);
}

// Whether a step reached a position where conditions become dependent that elsewhere are not, at
// its end or between its runs.
static bool isSingular(const rbStepMechanism* mechanism)
{
    return mechanism->seen.redundantMost > mechanism->node.redundantLeast ||
           mechanism->seen.pivotWorst < SINGULAR_PIVOT * mechanism->node.pivotUsual;
}

static void finishNode(rbStepMechanism* mechanism, double time, double h)
{
    rbStepStatistics* s = &mechanism->engine->statistics;
    RB_ASSERT(time > mechanism->grid.time && h > 0.0);
    RB_VALIDATE(rbStepValid_IsMechanism(mechanism));
    mechanism->grid.time = time;
    mechanism->accurate = 0.0;
    for (int row = 0; row < mechanism->m.rowCount; ++row) {
        mechanism->rows.forces[row] = mechanism->rows.sums[row] / h;
    }
    rbStep_FollowFreedoms(mechanism);
    rbStep_CountErrors(mechanism);
    s->steps += 1;
    mechanism->node.calmCount += 1;
    if (mechanism->node.settleCount > 0) {
        mechanism->node.settleCount -= 1;
        s->settledSteps += 1;
    } else {
        mechanism->node.settleSpan = 0;
    }
    if (mechanism->node.calmCount >= CALM_STEPS && mechanism->node.level > 0 &&
        ldexp(h, 1 - mechanism->node.level) * mechanism->node.swing <= SWING_MOST) {
        mechanism->node.level -= 1;
        mechanism->node.calmCount = 0;
    }
}

// The last resort where look-ahead cannot make a step.
static rbStatus settle(const rbStepRun* run, double time, double h)
{
    rbNodeMemory* node = &run->mechanism->node;
    // It is tried again after a while, each time after a longer one.
    int span = 2 * node->settleSpan;
    span = span < SETTLE_STEPS ? SETTLE_STEPS : span > SETTLE_STEPS_MAX ? SETTLE_STEPS_MAX : span;
    node->settleSpan = span;
    RB_ASSERT(span >= SETTLE_STEPS && span <= SETTLE_STEPS_MAX);
    node->settleCount = span;
    node->level = 0;
    return makeSteps(run, time, h);
}

// A step that gained energy is repeated in smaller parts, and larger ones are not tried for a long
// time. False when they are the smallest already.
static bool refine(const rbStepRun* run)
{
    rbStepMechanism* mechanism = run->mechanism;
    int level = mechanism->node.level + 1;
    if (level > mechanism->engine->settings.halvingsMax) {
        return false;
    }
    rbStep_RecallNode(run->mechanism);
    mechanism->node.level = level;
    mechanism->node.calmCount = -WILD_STEPS;
    rbStep_KeepNode(mechanism);
    mechanism->engine->statistics.halvings += run->isTrial ? 0 : 1;
    return true;
}

// One step of the grid. Where it would end on a singular position it continues beyond it, and the
// next one ends on the grid again. A node never passes the requested time: then isHeld is set, and
// the step is made when a later time is requested.
static rbStatus stepOnGrid(const rbStepRun* run, double next, double asked, bool* isHeld)
{
    RB_ASSERT(next > run->mechanism->grid.time);
    static const double stretches[SINGULAR_ATTEMPTS] = {1.37, 0.73, 1.19};
    rbStepMechanism* mechanism = run->mechanism;
    rbStepStatistics* s = &mechanism->engine->statistics;
    double time = mechanism->grid.time;
    double h = next - time;
    double end = next;
    double velocityError = s->velocityErrorMax;
    keepNode(mechanism);
    rbStatus status = makeSteps(run, time, h);
    while (status == RB_STATUS_NUMERICAL && refine(run)) {
        status = makeSteps(run, time, h);
    }
    bool isFirm = mechanism->method == NULL && !(mechanism->node.settleCount > 0);
    for (int k = 0; isFirm && k <= SINGULAR_ATTEMPTS; ++k) {
        bool isBad = isSingular(mechanism);
        if (status == RB_STATUS_OK && !isBad) {
            break;
        }
        rbStep_RecallNode(run->mechanism);
        s->velocityErrorMax = velocityError;
        bool isLast = k == SINGULAR_ATTEMPTS;
        h = isLast ? next - time : stretches[k] * (next - time);
        end = isLast ? next : time + h;
        if (end > asked + RB_STEP_SNAP * h) {
            *isHeld = true;
            return RB_STATUS_OK;
        }
        s->singularSteps += isBad ? 1 : 0;
        status = isLast ? settle(run, time, h) : makeSteps(run, time, h);
    }
    // Energy gained with the smallest parts is accepted.
    status = status == RB_STATUS_NUMERICAL ? RB_STATUS_OK : status;
    if (status == RB_STATUS_OK) {
        finishNode(mechanism, end, h);
    }
    return status;
}

// m, by which rounding alone lets the orders differ. Next to a singular position the conditions
// hold a direction of motion only with the root of the lost pivot, so rounding grows by its
// inverse: no smaller step makes it less.
static double estimateFloor(const rbStepMechanism* mechanism)
{
    // The weights of the runs grow with the order.
    double roundings = ESTIMATE_ROUNDINGS * (double)mechanism->engine->settings.order;
    double part = mechanism->seen.pivotWorst / mechanism->node.pivotUsual;
    part = part < 1.0 ? fmax(part, DBL_EPSILON) : 1.0;
    return roundings * DBL_EPSILON * mechanism->size / sqrt(part);
}

// m, the error that a step of size h may have: its share of the time; where it has a kink, a share
// of the whole, since there the error made does not fall faster than the step. In too short a step
// rounding of positions would look like the forces that rows with limits feel.
static double allowedError(const rbStepMechanism* mechanism, double h)
{
    const rbStepSettings* settings = &mechanism->engine->settings;
    double kink = mechanism->seen.kink;
    double shortest = KINK_ROUNDINGS * sqrt(DBL_EPSILON * mechanism->size * kink);
    return fmax((kink > 0.0 ? KINK_SHARE : h / settings->horizon) * settings->errorMax,
                fmax(estimateFloor(mechanism), shortest * settings->horizon));
}

void rbStep_CountInaccurate(rbStepEngine* engine, double time, double errors)
{
    const rbStepSettings* settings = &engine->settings;
    rbStepStatistics* s = &engine->statistics;
    if (errors > settings->errorMax * fmax(1.0, time / settings->horizon)) {
        s->unmetTime = s->unmetSteps + s->inaccurateSteps == 0 ? time : s->unmetTime;
        s->inaccurateSteps += 1;
    }
}

double rbStep_GetGrowth(double order, double error, double allowed, double most)
{
    RB_ASSERT(order > 1.0 && allowed > 0.0 && most >= 1.0);
    // The lower of the two orders has a local error of this power.
    double power = order - 1.0;
    double factor = error > 0.0 ? STEP_SAFETY * rbExp(rbLog(allowed / error) / power) : most;
    return fmin(most, fmax(STEP_SHRINKAGE, factor));
}

// A step where none is accurate enough: that with the least error, or of order 1 when look-ahead
// made none.
static rbStatus stepAnyway(const rbStepRun* run, double h, bool isKnown)
{
    rbStepMechanism* mechanism = run->mechanism;
    double time = mechanism->grid.time;
    rbStatus status = isKnown ? makeSteps(run, time, h) : settle(run, time, h);
    if (status == RB_STATUS_OK) {
        double errors = isKnown ? mechanism->node.estimateSum : INFINITY;
        rbStep_CountInaccurate(mechanism->engine, time + h, errors);
        finishNode(mechanism, time + h, h);
        mechanism->node.settleCount = 0;
        mechanism->chosen = h;
    }
    return status;
}

// Whether a step just made is accurate enough; chooses the size to try next.
static bool isAccurate(rbStepMechanism* mechanism, double h, double error)
{
    const rbStepSettings* settings = &mechanism->engine->settings;
    double allowed = allowedError(mechanism, h);
    // a kink has an error of the first power
    double order = mechanism->seen.kink > 0.0 ? 2.0 : (double)settings->order;
    double counted = error > estimateFloor(mechanism) ? error : 0.0;
    double growth = rbStep_GetGrowth(order, counted, allowed, STEP_GROWTH);
    mechanism->chosen = fmin(h * growth, settings->step);
    return error <= allowed;
}

// One step of a size chosen by the difference of the last two orders; a trial finds the size only.
static rbStatus stepByAccuracy(const rbStepRun* run)
{
    // A node closer to a singular position than others loses more digits. The step stays the last
    // of these if all are close.
    static const double cuts[SINGULAR_ATTEMPTS + 1] = {1.0, 0.73, 0.53, 0.87};
    rbStepMechanism* mechanism = run->mechanism;
    double least = STEP_LEAST * mechanism->engine->settings.step;
    double time = mechanism->grid.time;
    double first = mechanism->chosen;
    double errorLeast = INFINITY;
    double hLeast = 0.0;
    bool isFound = false;
    int cut = 0;
    keepNode(mechanism);
    while (!isFound && mechanism->chosen > least) {
        double h = rbStep_CutAtJump(mechanism, cuts[cut] * mechanism->chosen);
        double sum = mechanism->node.estimateSum;
        bool isMade = makeSteps(run, time, h) == RB_STATUS_OK;
        bool isCut = isMade && isSingular(mechanism) && cut < SINGULAR_ATTEMPTS;
        mechanism->chosen = isMade ? mechanism->chosen : STEP_SHRINKAGE * h;
        if (isMade && !isCut) {
            double error = mechanism->node.estimateSum - sum;
            isFound = isAccurate(mechanism, h, error);
            hLeast = isFound || error < errorLeast ? h : hLeast;
            errorLeast = fmin(error, errorLeast);
        }
        if (isFound && !run->isTrial) {
            mechanism->engine->statistics.singularSteps += cut > 0 ? 1 : 0;
            rbStep_CountInaccurate(mechanism->engine, time + h, mechanism->node.estimateSum);
            finishNode(mechanism, time + h, h);
            return RB_STATUS_OK;
        }
        rbStep_RecallNode(mechanism);
        cut += isCut ? 1 : 0;
    }
    if (run->isTrial) {
        mechanism->chosen = first;
        mechanism->accurate = isFound ? hLeast : first;
        return RB_STATUS_OK;
    }
    return stepAnyway(run, hLeast > 0.0 ? hLeast : first, hLeast > 0.0);
}

// The next node after the current one.
static double nextNode(rbStepMechanism* mechanism)
{
    double step = mechanism->engine->settings.step;
    if (mechanism->engine->settings.errorMax > 0.0) {
        double h = mechanism->accurate > 0.0 ? mechanism->accurate : mechanism->chosen;
        return mechanism->grid.time + rbStep_CutAtJump(mechanism, h);
    }
    rbStepGrid* grid = &mechanism->grid;
    double next = grid->origin + (double)grid->index * step;
    while (next <= grid->time + RB_STEP_SNAP * step) {
        grid->index += 1;
        next = grid->origin + (double)grid->index * step;
    }
    RB_ASSERT(grid->index > 0);
    double h = next - grid->time;
    double cut = rbStep_CutAtJump(mechanism, h);
    return cut < h ? grid->time + cut : next;
}

static bool isFiniteState(const rbMechanism* m)
{
    for (int i = 0; i < m->bodyCount; ++i) {
        const rbMechBody* body = &m->bodies[i];
        if (!rbIsFinite3(body->pose.position) || !rbIsFinite3(body->velocity) ||
            !rbIsFinite3(body->momentum) || !rbIsFiniteQuat(body->pose.orientation)) {
            return false;
        }
    }
    return true;
}

// A step of size h from the node, in any case.
static rbStatus stepOrSettle(const rbStepRun* run, double h)
{
    keepNode(run->mechanism);
    rbStatus status = makeSteps(run, run->mechanism->grid.time, h);
    if (status == RB_STATUS_LIMIT) {
        rbStep_RecallNode(run->mechanism);
        status = settle(run, run->mechanism->grid.time, h);
    }
    return status;
}

// State at a time after the node without moving the node. False: a kink would make it less accurate
// than the steps are, which are shorter there; the size of the next one is known now.
static bool tryStep(const rbStepRun* run, double time, rbStatus* status)
{
    RB_ASSERT(time > run->mechanism->grid.time);
    rbStepMechanism* mechanism = run->mechanism;
    rbStepRun trial = *run;
    trial.isTrial = true;
    double h = time - mechanism->grid.time;
    double estimate = mechanism->seen.estimate;
    double sum = mechanism->node.estimateSum;
    bool isKnown = !(mechanism->engine->settings.errorMax > 0.0) || mechanism->accurate > 0.0;
    *status = stepOrSettle(&trial, h);
    bool isShown = isKnown || !(mechanism->seen.kink > 0.0) ||
                   mechanism->node.estimateSum - sum <= allowedError(mechanism, h);
    // Energy gained by a trial is discarded.
    *status = *status == RB_STATUS_NUMERICAL ? RB_STATUS_OK : *status;
    *status = *status == RB_STATUS_OK && !isFiniteState(&mechanism->m) ? RB_STATUS_LIMIT : *status;
    if (isShown && *status == RB_STATUS_OK) {
        rbStep_WriteBodies(run->host, &mechanism->m);
    }
    memcpy(mechanism->shownWork, mechanism->node.work, sizeof mechanism->shownWork);
    rbStep_RecallNode(run->mechanism);
    mechanism->seen.estimate = estimate;
    return isShown || stepByAccuracy(&trial) != RB_STATUS_OK;
}

void rbStep_MakeNode(const rbStepRun* run, double time)
{
    double h = time - run->mechanism->grid.time;
    run->mechanism->accurate = 0.0;
    if (h > RB_STEP_SNAP * run->mechanism->engine->settings.step) {
        (void)stepOrSettle(run, h);
        finishNode(run->mechanism, time, h);
    }
}

// Good: the last finite node.
static rbStatus advanceMechanism(const rbStepRun* run, double time, double* good)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbStepEngine* engine = mechanism->engine;
    double snap = RB_STEP_SNAP * engine->settings.step;
    for (;;) {
        *good = mechanism->grid.time;
        double next = nextNode(mechanism);
        bool isHeld = next > time + snap;
        rbStatus status = RB_STATUS_OK;
        if (!isHeld) {
            status = engine->settings.errorMax > 0.0 ? stepByAccuracy(run)
                                                     : stepOnGrid(run, next, time, &isHeld);
        }
        if (!isHeld && (status != RB_STATUS_OK || !isFiniteState(&mechanism->m))) {
            return RB_STATUS_LIMIT;
        }
        if (isHeld && !(time > mechanism->grid.time + snap)) {
            break;
        }
        if (isHeld && tryStep(run, time, &status)) {
            return status;
        }
    }
    memcpy(mechanism->shownWork, mechanism->node.work, sizeof mechanism->shownWork);
    rbStep_WriteBodies(run->host, &mechanism->m);
    return RB_STATUS_OK;
}

rbStatus rbStep_Advance(rbStepEngine* engine, const rbStepHost* host, double time, double* reached)
{
    rbStepStatistics* s = &engine->statistics;
    int64_t unmet = s->unmetSteps + s->inaccurateSteps;
    *reached = time;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStepRun run = {.mechanism = &engine->mechanisms.data[i], .host = host};
        double good;
        if (advanceMechanism(&run, time, &good) != RB_STATUS_OK) {
            engine->failed = i;
            *reached = good;
            return RB_STATUS_LIMIT;
        }
    }
    engine->time = time;
    s->redundantRows = 0;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        // After a step the factors of its end are the anchor's.
        s->redundantRows += engine->mechanisms.data[i].anchor->solver->redundantRows;
    }
    return s->unmetSteps + s->inaccurateSteps > unmet ? RB_STATUS_NUMERICAL : RB_STATUS_OK;
}
