// Mechanisms with published or reduced solutions: pendulums, the N-four-bar, Andrews' squeezer,
// Bricard's loop. Steps of 1 ms and order 6, except order 4 for the four-bars and 20 us for the
// squeezer.
#include "case_mechanisms.h"

#include "mechanism_reference.h"

#include <math.h>

#define STEP 1e-3
// 1 ms is fine enough for order 4 here: higher ones only add the rounding of more sub-steps, which
// is amplified when passing the singular position (1e-9 m at order 8 compared with 2e-10 m).
#define FOUR_BAR_ORDER 4

int rbGetTenths(const rbValidation* validation)
{
    return validation->isQuick ? 10 : 100;
}

bool rbValidateMechanism(rbValidation* validation, const rbMechanism* mechanism, const char* name)
{
    bool isSound = mechanism->error.status == RB_STATUS_OK;
    if (!isSound) {
        char quantity[96];
        (void)snprintf(quantity, sizeof quantity, "%s: built and run", name);
        rbValidation_Print(validation, "  %s: %s (%s)\n", name, mechanism->error.message,
                           rbStatus_Text(mechanism->error.status));
        rbValidation_AddLimit(validation, quantity, 1.0, 0.0);
    }
    return isSound;
}

void rbAddNamed(rbValidation* validation, const char* name, const char* quantity, double value,
                double bound)
{
    char text[96];
    (void)snprintf(text, sizeof text, "%s: %s", name, quantity);
    rbValidation_AddBound(validation, text, value, bound);
}

void rbAddClosure(rbValidation* validation, const rbMechanism* mechanism, const char* name,
                  double tolerance)
{
    rbStepStatistics s = rbWorld_GetStepStatistics(mechanism->world);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbAddNamed(validation, name, "largest joint gap, m", s.positionErrorMax, tolerance);
    rbAddNamed(validation, name, "largest joint angle error, rad", s.angleErrorMax, tolerance);
    rbValidation_Print(validation,
                       "  %s: %lld steps, %lld sub-steps, %.2f look-ahead iterations each, %lld "
                       "halved, %lld unmet, %d rows of which %d redundant, estimate %.2g m\n",
                       name, (long long)s.steps, (long long)s.substeps,
                       (double)s.positionIterations / (double)(s.substeps > 0 ? s.substeps : 1),
                       (long long)s.halvings, (long long)s.unmetSteps, s.rowCount, s.redundantRows,
                       s.accuracyEstimate);
}

// -------------------------------------------------------------------------------------- pendulums

static void runPendulum(rbValidation* validation)
{
    static const double start[1] = {-0.5 * RB_PI};
    rbMechanism m = rbMakePendulumWorld(rbMakeStepSettings(STEP, RB_MECHANISM_ORDER), start, 1);
    rbReference r = rbMakePendulumReference(9.81, 0.0, 0.0);
    r.y[0] = -0.5L * acosl(-1.0L);
    double energy = m.error.status == RB_STATUS_OK ? rbWorld_GetLedger(m.world).energy : 0.0;
    double placeError = 0.0;
    double energyError = 0.0;
    for (int k = 1; k <= rbGetTenths(validation) && rbMechanism_Advance(&m, 0.1 * k); ++k) {
        double time = rbWorld_GetTime(m.world);
        rbVec3 p = rbMechanism_GetState(&m, 0).center;
        rbReference_Advance(&r, time);
        rbVec3 truth = {(double)sinl(r.y[0]), (double)-cosl(r.y[0]), 0.0};
        placeError = rbWorseError(placeError, rbDistance(p, truth));
        energyError = rbWorseError(energyError, fabs(rbWorld_GetLedger(m.world).energy - energy));
        if (k == 10) {
            rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
            rbValidation_Add(validation, "pendulum: x(1)", p.x, 0.986291751131875, 1e-9);
            rbValidation_Add(validation, "pendulum: y(1)", p.y, -0.165010853125541, 1e-9);
        } else if (k == 50) {
            rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
            rbValidation_Add(validation, "pendulum: x(5)", p.x, -0.942305435043757, 1e-9);
            rbValidation_Add(validation, "pendulum: y(5)", p.y, -0.334754338414001, 1e-9);
        }
    }
    if (rbValidateMechanism(validation, &m, "pendulum")) {
        rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
        rbAddNamed(validation, "pendulum", "position, against the angle's equation, m", placeError,
                   1e-9);
        rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
        rbAddNamed(validation, "pendulum", "energy, J", energyError, 1e-9);
        rbAddClosure(validation, &m, "pendulum", 1e-12);
    }
    rbMechanism_Free(&m);
}

// Angles from straight down and their rates.
static void getAngles(const rbMechanism* m, double out[4])
{
    rbVec3 place = RB_VEC3_ZERO;
    rbVec3 speed = RB_VEC3_ZERO;
    for (int i = 0; i < 2; ++i) {
        rbBodyState s = rbMechanism_GetState(m, i);
        rbVec3 d = rbSub(s.center, place);
        rbVec3 v = rbSub(s.linearVelocity, speed);
        out[i] = atan2(d.x, -d.y);
        out[2 + i] = d.x * v.y - d.y * v.x;
        place = s.center;
        speed = s.linearVelocity;
    }
}

// The growth of an initial error: the largest over the four state components.
static double getAmplification(const rbReference* start, double time)
{
    const long double small = 1e-12L;
    rbReference r = *start;
    double worst = 0.0;
    rbReference_Advance(&r, time);
    for (int i = 0; i < 4; ++i) {
        rbReference other = *start;
        other.y[i] += small;
        rbReference_Advance(&other, time);
        for (int k = 0; k < 2; ++k) {
            worst = fmax(worst, (double)(fabsl(other.y[k] - r.y[k]) / small));
        }
    }
    return worst;
}

static void runDoublePendulum(rbValidation* validation)
{
    static const double start[2] = {0.5 * RB_PI, 0.5 * RB_PI};
    static const double truths[4] = {-0.62508769980639, -1.03458508568, -3.922279572888,
                                     -1.3030992486963};
    static const char* const names[4] = {"first angle(1)", "second angle(1)", "first rate(1)",
                                         "second rate(1)"};
    static const double zero[4] = {0};
    rbMechanism m = rbMakePendulumWorld(rbMakeStepSettings(STEP, RB_MECHANISM_ORDER), start, 2);
    rbReference r = rbMakeDoublePendulumReference(9.81, zero);
    r.y[0] = r.y[1] = 0.5L * acosl(-1.0L);
    rbReference first = r;
    double energy = m.error.status == RB_STATUS_OK ? rbWorld_GetLedger(m.world).energy : 0.0;
    double placeError = 0.0;
    double energyError = 0.0;
    for (int k = 1; k <= rbGetTenths(validation) && rbMechanism_Advance(&m, 0.1 * k); ++k) {
        rbReference_Advance(&r, rbWorld_GetTime(m.world));
        rbVec3 truth = {(double)(sinl(r.y[0]) + sinl(r.y[1])),
                        (double)(-cosl(r.y[0]) - cosl(r.y[1])), 0.0};
        double error = rbDistance(rbMechanism_GetState(&m, 1).center, truth);
        placeError = rbWorseError(placeError, error);
        energyError = rbWorseError(energyError, fabs(rbWorld_GetLedger(m.world).energy - energy));
        double angles[4];
        getAngles(&m, angles);
        for (int i = 0; i < 4 && k == 10; ++i) {
            char text[96];
            (void)snprintf(text, sizeof text, "double pendulum: %s", names[i]);
            rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
            rbValidation_Add(validation, text, angles[i], truths[i], 1e-9);
        }
    }
    if (rbValidateMechanism(validation, &m, "double pendulum")) {
        rbValidation_Print(validation, "  initial errors grow by a factor of %.1f\n",
                           getAmplification(&first, 0.1 * rbGetTenths(validation)));
        rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
        rbAddNamed(validation, "double pendulum", "end, against reduced equations, m", placeError,
                   1e-9);
        rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
        rbAddNamed(validation, "double pendulum", "energy, J", energyError, 1e-9);
        rbAddClosure(validation, &m, "double pendulum", 1e-12);
    }
    rbMechanism_Free(&m);
}

static void runPendulums(rbValidation* validation)
{
    runPendulum(validation);
    runDoublePendulum(validation);
}

const rbValidationCase rbCasePendulums = {
    .name = "pendulums",
    .group = "mechanisms",
    .help = "pendulum and double pendulum of point masses on distance joints, 10 s at 1 ms",
    .source = "IFToMM A01; equations of the angles, order 20 in long double",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = runPendulums,
};

// --------------------------------------------------------------------------------------- four-bar

typedef struct rbFourBarErrors {
    double place;     // m, of B0 and of the last crank's end
    double placeEven; // m, deviation of the cranks from parallel
    double energy;    // relative to the start
} rbFourBarErrors;

static void measureFourBar(const rbMechanism* m, int loops, const rbReference* r,
                           rbFourBarErrors* errors)
{
    static const rbVec3 end = {0.5, 0.0, 0.0};
    rbVec3 truth = {(double)sinl(r->y[0]), (double)cosl(r->y[0]), 0.0};
    rbVec3 first = rbMechanism_GetPoint(m, 0, end);
    rbVec3 last = rbSub(rbMechanism_GetPoint(m, loops, end), rbMakeVec3(loops, 0.0, 0.0));
    errors->place = rbWorseError(errors->place, rbDistance(first, truth));
    errors->place = rbWorseError(errors->place, rbDistance(last, truth));
    errors->placeEven = rbWorseError(errors->placeEven, rbDistance(first, last));
    double start = 0.5 * ((loops + 1) / 3.0 + loops) + ((loops + 1) / 2.0 + loops) * 9.81;
    double energy = rbWorld_GetLedger(m->world).energy;
    errors->energy = rbWorseError(errors->energy, fabs(energy - start) / start);
}

static void addFourBarTruth(rbValidation* validation, const rbMechanism* m, int k)
{
    static const struct {
        int k; // in tenths of a second
        const char* names[2];
        double x, y;
    } truths[] = {
        {10, {"N = 2: B0(1) x", "N = 2: B0(1) y"}, -0.195020301949435, -0.980799205662174},
        {20, {"N = 2: B0(2) x", "N = 2: B0(2) y"}, 0.0578157957680114, 0.998327267863455},
        {100, {"N = 2: B0(10) x", "N = 2: B0(10) y"}, 0.328458111540815, 0.944518538178601},
    };
    for (int i = 0; i < 3; ++i) {
        if (truths[i].k == k) {
            rbVec3 p = rbMechanism_GetPoint(m, 0, rbMakeVec3(0.5, 0.0, 0.0));
            rbValidation_SetTruth(validation, RB_TRUTH_OTHER_PROGRAM);
            rbValidation_Add(validation, truths[i].names[0], p.x, truths[i].x, 1e-9);
            rbValidation_Add(validation, truths[i].names[1], p.y, truths[i].y, 1e-9);
        }
    }
}

static void runFourBar(rbValidation* validation, int loops, int tenths)
{
    char name[32];
    (void)snprintf(name, sizeof name, "N = %d", loops);
    rbMechanism m = rbMakeFourBarWorld(rbMakeStepSettings(STEP, FOUR_BAR_ORDER), loops);
    rbReference r = rbMakeFourBarReference(loops, 9.81, 1.0);
    rbFourBarErrors errors = {0};
    for (int k = 1; k <= tenths && rbMechanism_Advance(&m, 0.1 * k); ++k) {
        rbReference_Advance(&r, rbWorld_GetTime(m.world));
        measureFourBar(&m, loops, &r, &errors);
        if (loops == 2) {
            addFourBarTruth(validation, &m, k);
        }
    }
    if (rbValidateMechanism(validation, &m, name)) {
        rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
        rbAddNamed(validation, name, "crank ends, against the equation of the angle, m",
                   errors.place, 1e-9);
        rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
        rbAddNamed(validation, name, "cranks parallel within, m", errors.placeEven, 1e-9);
        rbAddNamed(validation, name, "energy, relative", errors.energy, 1e-10);
        rbAddClosure(validation, &m, name, 1e-12);
    }
    rbMechanism_Free(&m);
}

// A step ends within 1e-9 of the collinear position, where the loop could also fold.
static void runSingularFourBar(rbValidation* validation)
{
    const double step = 0.7143555292929458 / 714.0;
    rbMechanism m = rbMakeFourBarWorld(rbMakeStepSettings(step, FOUR_BAR_ORDER), 2);
    rbReference r = rbMakeFourBarReference(2, 9.81, 1.0);
    rbFourBarErrors errors = {0};
    int count = (int)(0.1 * rbGetTenths(validation) / step);
    for (int k = 102; k <= count && rbMechanism_Advance(&m, rbGetStepTime(k, step)); k += 102) {
        rbReference_Advance(&r, rbWorld_GetTime(m.world));
        measureFourBar(&m, 2, &r, &errors);
        if (k == 714) {
            rbVec3 p = rbMechanism_GetPoint(&m, 0, rbMakeVec3(0.5, 0.0, 0.0));
            rbValidation_Add(validation, "onto the singular position: B0 y", p.y,
                             (double)cosl(r.y[0]), 1e-6);
        }
    }
    if (rbValidateMechanism(validation, &m, "onto the singular position")) {
        rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
        rbAddNamed(validation, "onto the singular position", "crank ends, m", errors.place, 1e-6);
        rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
        rbAddNamed(validation, "onto the singular position", "energy, relative", errors.energy,
                   1e-6);
        rbAddClosure(validation, &m, "onto the singular position", 1e-6);
        rbValidation_Print(validation, "  steps deliberately ended next to it: %lld\n",
                           (long long)rbWorld_GetStepStatistics(m.world).singularSteps);
    }
    rbMechanism_Free(&m);
}

static void runFourBars(rbValidation* validation)
{
    runFourBar(validation, 2, rbGetTenths(validation));
    runFourBar(validation, 40, rbGetTenths(validation) / (validation->isQuick ? 4 : 1));
    runSingularFourBar(validation);
}

const rbValidationCase rbCaseFourBar = {
    .name = "four-bar",
    .group = "mechanisms",
    .help = "N-four-bar, N = 2 and 40, 10 s at 1 ms, and a step onto the singular position",
    .source = "IFToMM A02; equation of the angle, order 20 in long double",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = runFourBars,
};

// --------------------------------------------------------------------------------------- squeezer

// Angles of the bodies about z, followed over full turns.
static void followAngles(const rbMechanism* m, double angles[7])
{
    for (int i = 0; i < 7; ++i) {
        rbQuat q = rbMechanism_GetState(m, i).transform.q;
        double angle = 2.0 * atan2(q.z, q.w);
        angles[i] = angle + 2.0 * RB_PI * round((angles[i] - angle) / (2.0 * RB_PI));
    }
}

static void getCoordinates(const double angles[7], double q[7])
{
    q[0] = angles[0];
    q[1] = angles[1] - angles[0];
    q[2] = angles[2];
    q[3] = angles[3] - angles[4];
    q[4] = angles[4];
    q[5] = angles[5] - angles[6];
    q[6] = angles[6];
}

static void runSqueezer(rbValidation* validation)
{
    const double* start = rbAndrews.start;
    long double q[7];
    long double gaps[6];
    double gap = 0.0;
    for (int i = 0; i < 7; ++i) {
        q[i] = start[i];
    }
    rbGetAndrewsGaps(q, gaps);
    for (int i = 0; i < 6; ++i) {
        gap = fmax(gap, (double)fabsl(gaps[i]));
    }
    rbValidation_AddBound(validation, "loops closed by the published start, m", gap, 1e-12);
    rbMechanism m = rbMakeAndrewsWorld(rbMakeStepSettings(2e-5, RB_MECHANISM_ORDER));
    rbReference r = rbMakeAndrewsReference();
    r.bound = 1e-15L;
    double angles[7] = {start[0], start[0] + start[1], start[2], start[3] + start[4],
                        start[4], start[5] + start[6], start[6]};
    double now[7] = {0};
    double error = 0.0;
    for (int k = 1; k <= 300 && rbMechanism_Advance(&m, rbGetStepTime(k, 1e-4)); ++k) {
        followAngles(&m, angles);
        if (k % 10 == 0) {
            rbReference_Advance(&r, rbWorld_GetTime(m.world));
            getCoordinates(angles, now);
            for (int i = 0; i < 7; ++i) {
                error = rbWorseError(error, fabs(now[i] - (double)r.y[i]));
            }
        }
    }
    if (rbValidateMechanism(validation, &m, "squeezer")) {
        for (int i = 0; i < 7; ++i) {
            char text[96];
            (void)snprintf(text, sizeof text, "q%d(0.03)", i + 1);
            rbValidation_Add(validation, text, now[i], rbAndrews.end[i], 1e-6);
        }
        rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
        rbAddNamed(validation, "squeezer", "angles over 0.03 s, against index-1 equations, rad",
                   error, 1e-6);
        rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
        rbAddNamed(validation, "squeezer", "energy not accounted for, J",
                   fabs(rbWorld_GetLedger(m.world).energyDrift), 1e-6);
        rbAddClosure(validation, &m, "squeezer", 1e-12);
    }
    rbMechanism_Free(&m);
}

const rbValidationCase rbCaseSqueezer = {
    .name = "squeezer",
    .group = "mechanisms",
    .help = "Andrews' squeezing mechanism, 0.03 s in steps of 20 us",
    .source = "Test Set for IVP Solvers; its equations, order 20 in long double",
    .truth = RB_TRUTH_PUBLISHED,
    .run = runSqueezer,
};

// ---------------------------------------------------------------------------------------- Bricard

// Largest gap of the six revolutes, from the poses alone: distance of points, angle of axes.
static void measureBricard(const rbMechanism* m, double* gap, double* tilt)
{
    for (int joint = 0; joint < 6; ++joint) {
        rbVec3 points[2] = {rbBricardPoints[joint], rbBricardPoints[joint]};
        rbVec3 axes[2] = {rbBricardAxes[joint], rbBricardAxes[joint]};
        for (int side = 0; side < 2; ++side) {
            int rod = joint - 1 + side;
            if (rod < 0 || rod > 4) {
                continue; // the world
            }
            rbTransform now = rbMechanism_GetState(m, rod).transform;
            rbVec3 along = rbSub(rbBricardPoints[rod + 1], rbBricardPoints[rod]);
            rbVec3 center = rbAddScaled(rbBricardPoints[rod], 0.5, along);
            rbQuat start = rbNormalizeQuat((rbQuat){1.0 + along.x, 0.0, -along.z, along.y});
            start = along.x < -0.5 ? (rbQuat){0.0, 0.0, 0.0, 1.0} : start;
            rbTransform moved =
                rbMulTransforms(now, rbInvertTransform((rbTransform){center, start}));
            points[side] = rbTransformPoint(moved, points[side]);
            axes[side] = rbRotate(moved.q, axes[side]);
        }
        *gap = rbWorseError(*gap, rbDistance(points[0], points[1]));
        *tilt = rbWorseError(*tilt, rbLength(rbCross(axes[0], axes[1])));
    }
}

static void runBricard(rbValidation* validation)
{
    rbMechanism m = rbMakeBricardWorld(rbMakeStepSettings(STEP, RB_MECHANISM_ORDER));
    rbReference r = rbMakeBricardReference();
    double energyError = 0.0;
    double placeError = 0.0;
    double gap = 0.0;
    double tilt = 0.0;
    for (int k = 1; k <= rbGetTenths(validation) && rbMechanism_Advance(&m, 0.1 * k); ++k) {
        rbReference_Advance(&r, rbWorld_GetTime(m.world));
        rbVec3 truth = rbGetBricardPoint(&r, 3);
        rbVec3 p = rbMechanism_GetPoint(&m, 2, rbMakeVec3(0.5, 0.0, 0.0));
        placeError = rbWorseError(placeError, rbDistance(p, truth));
        energyError = rbWorseError(energyError, fabs(rbWorld_GetLedger(m.world).energy + 29.43));
        measureBricard(&m, &gap, &tilt);
        if (k == 10 || k == 20 || k == 50 || k == 100) {
            char text[96];
            (void)snprintf(text, sizeof text, "P3(%d) x", k / 10);
            rbValidation_Add(validation, text, p.x, truth.x, 1e-9);
            (void)snprintf(text, sizeof text, "P3(%d) y", k / 10);
            rbValidation_Add(validation, text, p.y, truth.y, 1e-9);
            (void)snprintf(text, sizeof text, "P3(%d) z", k / 10);
            rbValidation_Add(validation, text, p.z, truth.z, 1e-9);
        }
    }
    if (rbValidateMechanism(validation, &m, "bricard")) {
        rbAddNamed(validation, "bricard", "P3, against one equation of motion, m", placeError,
                   1e-9);
        rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
        rbAddNamed(validation, "bricard", "energy, J", energyError, 1e-9);
        rbAddNamed(validation, "bricard", "gap of the revolutes, from the poses, m", gap, 1e-12);
        rbAddNamed(validation, "bricard", "angle between axes, from the poses, rad", tilt, 1e-12);
        rbAddClosure(validation, &m, "bricard", 1e-12);
        rbAddNamed(validation, "bricard", "redundant rows - 1",
                   fabs(rbWorld_GetStepStatistics(m.world).redundantRows - 1.0), 0.0);
    }
    rbMechanism_Free(&m);
}

const rbValidationCase rbCaseBricard = {
    .name = "bricard",
    .group = "mechanisms",
    .help = "Bricard's loop of six revolutes, one redundant condition, 10 s at 1 ms",
    .source = "IFToMM A04; our own reduction to one freedom, order 20 in long double",
    .truth = RB_TRUTH_SECOND_METHOD,
    .run = runBricard,
};
