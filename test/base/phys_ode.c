// Runge-Kutta methods on Kepler's ellipse and other problems with known solutions.
#include "base/math/elementary.h"
#include "lab/math/ode_integrate.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

#define TWO_PI 6.283185307179586

// Motion in a 1/r^2 field: x, y, vx, vy. With these initial values the ellipse has semi-major axis
// 1, eccentricity e, and period 2 pi.
static void kepler(double t, const double* x, double* derivative, void* context)
{
    (void)t;
    (void)context;
    double r2 = x[0] * x[0] + x[1] * x[1];
    double f = -1.0 / (r2 * sqrt(r2));
    derivative[0] = x[2];
    derivative[1] = x[3];
    derivative[2] = f * x[0];
    derivative[3] = f * x[1];
}

static const rbOdeSystem keplerSystem = {4, kepler, NULL};

static void startEllipse(double e, double x[4])
{
    x[0] = 1.0 - e;
    x[1] = 0.0;
    x[2] = 0.0;
    x[3] = sqrt((1.0 + e) / (1.0 - e));
}

static double distance4(const double* a, const double* b)
{
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

// Position at time t by Kepler's equation t = E - e sin E, solved by Newton.
static void ellipseAt(double e, double t, double x[4])
{
    double anomaly = t;
    for (int i = 0; i < 50; ++i) {
        anomaly -= (anomaly - e * sin(anomaly) - t) / (1.0 - e * cos(anomaly));
    }
    double b = sqrt(1.0 - e * e);
    double rate = 1.0 / (1.0 - e * cos(anomaly));
    x[0] = cos(anomaly) - e;
    x[1] = b * sin(anomaly);
    x[2] = -sin(anomaly) * rate;
    x[3] = b * cos(anomaly) * rate;
}

// Error after time 2 with n equal steps of any method.
static double errorOfFixedSteps(const rbOdeMethod* method, int n)
{
    double x[4], truth[4];
    startEllipse(0.6, x);
    rbOdeStepResult step;
    double h = 2.0 / n;
    for (int i = 0; i < n; ++i) {
        rbOde_Step(method, &keplerSystem, i * h, h, x, &step);
        memcpy(x, step.x, sizeof x);
    }
    ellipseAt(0.6, 2.0, truth);
    return distance4(x, truth);
}

// B-07, L-12
static void methodsConvergeWithTheirOrder(void** state)
{
    (void)state;
    for (int m = 0; rbGetOdeMethod(m) != NULL; ++m) {
        const rbOdeMethod* method = rbGetOdeMethod(m);
        int first = method->order == 1 ? 4000 : 80;
        double before = 0.0;
        for (int n = first; n <= 16 * first; n *= 2) {
            double error = errorOfFixedSteps(method, n);
            double order = before > 0.0 ? log2(before / error) : NAN;
            print_message("%-10s %6d steps  error %.3e  order %.2f\n", method->name, n, error,
                          order);
            if (n >= 4 * first && error > 1e-12) {
                checkNear(order, (double)method->order, 0.35);
            }
            before = error;
        }
    }
}

// B-07: the weights of every method satisfy the first order conditions.
static void coefficientsAddUp(void** state)
{
    (void)state;
    for (int m = 0; rbGetOdeMethod(m) != NULL; ++m) {
        const rbOdeMethod* method = rbGetOdeMethod(m);
        double sum = 0.0, first = 0.0, errorSum = 0.0;
        for (int i = 0; i < method->stages; ++i) {
            double row = 0.0;
            for (int j = 0; j < i; ++j) {
                row += method->coupling[i][j];
            }
            checkNear(row, method->node[i], 1e-15);
            sum += method->weight[i];
            first += method->weight[i] * method->node[i];
            errorSum += method->errorWeight[i];
        }
        checkNear(sum, 1.0, 1e-15);
        checkNear(errorSum, 0.0, 1e-16);
        if (method->order >= 2) {
            checkNear(first, 0.5, 1e-15);
        }
        assert_ptr_equal(rbFindOdeMethod(method->name), method);
    }
    assert_null(rbFindOdeMethod("leapfrog"));
    assert_null(rbGetOdeMethod(-1));
}

// L-12: the error over one revolution follows the tolerance, and so does the work.
static void adaptiveStepsReachTheirTolerance(void** state)
{
    (void)state;
    int stepsBefore = 0;
    double tolerance = 1e-2;
    for (int run = 0; run < 5; ++run) {
        tolerance *= 0.01;
        double x[4], truth[4];
        startEllipse(0.6, x);
        startEllipse(0.6, truth);
        rbOdeOptions options = rbDefaultOdeOptions();
        options.relativeTolerance = tolerance;
        options.absoluteTolerance = tolerance;
        options.firstStep = 0.1;
        rbOdeResult r = rbOde_Integrate(&keplerSystem, 0.0, TWO_PI, x, &options);
        double error = distance4(x, truth);
        print_message("tolerance %.0e  error %.2e  steps %d  rejected %d\n", tolerance, error,
                      r.steps, r.rejected);
        assert_int_equal(r.end, RB_ODE_REACHED);
        assert_true(r.t == TWO_PI);
        checkBelow(error, 1000.0 * tolerance);
        assert_true(r.steps > stepsBefore);
        assert_true(r.rejected < r.steps / 3 + 5);
        stepsBefore = r.steps;
    }
}

// NOLINTNEXTLINE(readability-non-const-parameter): an rbOdeCallback may change x
static bool trackSteps(double t, double* x, void* context)
{
    (void)x;
    double* range = context; // last time, smallest, largest step
    double h = t - range[0];
    range[0] = t;
    range[1] = h < range[1] ? h : range[1];
    range[2] = h > range[2] ? h : range[2];
    return true;
}

// L-12: near the closest point steps must be far smaller than elsewhere.
static void stepsShrinkWhereTheMotionIsFast(void** state)
{
    (void)state;
    double x[4], range[3] = {0.0, 1e9, 0.0};
    startEllipse(0.95, x);
    rbOdeOptions options = rbDefaultOdeOptions();
    options.afterStep = trackSteps;
    options.callbackContext = range;
    rbOdeResult r = rbOde_Integrate(&keplerSystem, 0.0, TWO_PI, x, &options);
    assert_int_equal(r.end, RB_ODE_REACHED);
    assert_true(range[2] > 20.0 * range[1]);
}

// L-12: forward and back again.
static void integrationIsReversible(void** state)
{
    (void)state;
    for (int m = 1; rbGetOdeMethod(m) != NULL; ++m) {
        double x[4], start[4];
        startEllipse(0.6, x);
        startEllipse(0.6, start);
        rbOdeOptions options = rbDefaultOdeOptions();
        options.method = rbGetOdeMethod(m);
        options.relativeTolerance = 1e-11;
        options.absoluteTolerance = 1e-11;
        options.firstStep = 1e-3;
        rbOdeResult r = rbOde_Integrate(&keplerSystem, 1.0, 6.0, x, &options);
        assert_int_equal(r.end, RB_ODE_REACHED);
        assert_true(distance4(x, start) > 0.1);
        r = rbOde_Integrate(&keplerSystem, 6.0, 1.0, x, &options);
        assert_int_equal(r.end, RB_ODE_REACHED);
        assert_true(r.t == 1.0 && r.lastStep < 0.0);
        checkBelow(distance4(x, start), 1e-8);
    }
}

// NOLINTNEXTLINE(readability-non-const-parameter): an rbOdeCallback may change x
static bool stopBelowGround(double t, double* x, void* context)
{
    (void)t;
    (void)context;
    return x[0] > 0.0;
}

static void fall(double t, const double* x, double* derivative, void* context)
{
    (void)t;
    (void)context;
    derivative[0] = x[1];
    derivative[1] = -9.81;
}

// L-12: the event callback of an accepted step ends the integration with the state of that step.
static void callbackStopsTheIntegration(void** state)
{
    (void)state;
    rbOdeSystem system = {2, fall, NULL};
    for (int m = 0; rbGetOdeMethod(m) != NULL; ++m) {
        double x[2] = {1.0, 0.0};
        rbOdeOptions options = rbDefaultOdeOptions();
        options.method = rbGetOdeMethod(m);
        options.firstStep = 1e-3;
        options.afterStep = stopBelowGround;
        rbOdeResult r = rbOde_Integrate(&system, 0.0, 10.0, x, &options);
        assert_int_equal(r.end, RB_ODE_STOPPED);
        double impact = sqrt(2.0 / 9.81);
        assert_true(x[0] <= 0.0 && r.t >= impact - 1e-3);
        assert_true(r.t - r.lastStep < impact + 1e-3);
        checkNear(x[1], -9.81 * r.t, 1e-9);
    }
}

static void decay(double t, const double* x, double* derivative, void* context)
{
    (void)t;
    const double* rates = context;
    derivative[0] = -rates[0] * x[0];
    derivative[1] = -rates[1] * x[1];
}

// L-12: the tolerance of each component counts, relative for the large one, absolute for the small.
static void componentsHaveTheirOwnTolerances(void** state)
{
    (void)state;
    double rates[2] = {1.0, 3.0};
    double tolerances[2] = {1e-2, 1e-16};
    rbOdeSystem system = {2, decay, rates};
    rbOdeOptions options = rbDefaultOdeOptions();
    options.relativeTolerance = 0.0;
    options.componentTolerance = tolerances;
    double x[2] = {1e6, 1e-6};
    rbOdeResult r = rbOde_Integrate(&system, 0.0, 2.0, x, &options);
    assert_int_equal(r.end, RB_ODE_REACHED);
    checkNear(x[0], 1e6 * exp(-2.0), 1.0);
    checkNear(x[1], 1e-6 * exp(-6.0), 1e-14);
    options.componentTolerance = NULL;
    options.absoluteTolerance = 0.0;
    options.relativeTolerance = 1e-10;
    double y[2] = {1e6, 1e-200};
    r = rbOde_Integrate(&system, 0.0, 2.0, y, &options);
    assert_int_equal(r.end, RB_ODE_REACHED);
    checkRelative(y[0], 1e6 * exp(-2.0), 1e-8);
    checkRelative(y[1] * 1e200, exp(-6.0), 1e-8);
}

static void blowUp(double t, const double* x, double* derivative, void* context)
{
    (void)t;
    (void)context;
    derivative[0] = x[0] * x[0]; // 1/(1 - t) from x(0) = 1
}

static void constantRate(double t, const double* x, double* derivative, void* context)
{
    (void)t;
    (void)x;
    (void)context;
    derivative[0] = 2.0;
}

// L-12: an unreachable end is reported, with the time that was reached.
static void troubleIsReported(void** state)
{
    (void)state;
    rbOdeSystem system = {1, blowUp, NULL};
    rbOdeOptions options = rbDefaultOdeOptions();
    options.minStep = 1e-6;
    double x[1] = {1.0};
    rbOdeResult r = rbOde_Integrate(&system, 0.0, 2.0, x, &options);
    assert_int_equal(r.end, RB_ODE_TOO_SMALL);
    assert_true(r.t > 0.99 && r.t < 1.0 && isfinite(x[0]));
    checkRelative(x[0], 1.0 / (1.0 - r.t), 1e-3);

    x[0] = 1.0;
    options.minStep = 0.0;
    options.maxSteps = 10;
    r = rbOde_Integrate(&system, 0.0, 0.9, x, &options);
    assert_int_equal(r.end, RB_ODE_TOO_MANY);
    assert_int_equal(r.steps + r.rejected, 10);

    // No error at all: the step grows fivefold each time and the end is reached exactly.
    rbOdeSystem easy = {1, constantRate, NULL};
    options = rbDefaultOdeOptions();
    x[0] = 0.0;
    r = rbOde_Integrate(&easy, 0.0, 1000.0, x, &options);
    assert_int_equal(r.end, RB_ODE_REACHED);
    assert_true(r.steps < 14);
    checkRelative(x[0], 2000.0, 1e-14);
    r = rbOde_Integrate(&easy, 5.0, 5.0, x, &options);
    assert_true(r.end == RB_ODE_REACHED && r.steps == 0);
}

// q' = (0, w) q / 2 with w = (0, 0, 1): a full turn of the quaternion takes 4 pi.
static void spin(double t, const double* x, double* derivative, void* context)
{
    (void)t;
    (void)context;
    derivative[0] = -0.5 * x[3];
    derivative[1] = -0.5 * x[2];
    derivative[2] = 0.5 * x[1];
    derivative[3] = 0.5 * x[0];
}

static bool normalize4(double t, double* x, void* context)
{
    (void)t;
    int* calls = context;
    *calls += 1;
    double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    for (int i = 0; i < 4; ++i) {
        x[i] /= length;
    }
    return true;
}

// B-06, B-07: normalized after each step, the quaternion stays one however coarse the steps are.
static void callbackKeepsQuaternionsNormalized(void** state)
{
    (void)state;
    rbOdeSystem system = {4, spin, NULL};
    double length[2];
    for (int isOn = 0; isOn < 2; ++isOn) {
        int calls = 0;
        double x[4] = {1.0, 0.0, 0.0, 0.0};
        rbOdeOptions options = rbDefaultOdeOptions();
        options.method = rbFindOdeMethod("rk4");
        options.firstStep = 0.5;
        options.afterStep = isOn ? normalize4 : NULL;
        options.callbackContext = &calls;
        rbOdeResult r = rbOde_Integrate(&system, 0.0, 100.0, x, &options);
        assert_int_equal(r.steps, 200);
        assert_int_equal(calls, isOn ? 200 : 0);
        length[isOn] = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
        checkNear(atan2(x[3], x[0]), atan2(sin(50.0), cos(50.0)), 1e-2);
    }
    checkNear(length[1], 1.0, 1e-15);
    assert_true(fabs(length[0] - 1.0) > 1e-4);
}

static void manyUnknowns(double t, const double* x, double* derivative, void* context)
{
    (void)t;
    (void)context;
    for (int i = 0; i < RB_ODE_UNKNOWNS_MAX; ++i) {
        derivative[i] = -0.1 * (i + 1) * x[i];
    }
}

// L-12
static void thirtyTwoUnknownsFit(void** state)
{
    (void)state;
    rbOdeSystem system = {RB_ODE_UNKNOWNS_MAX, manyUnknowns, NULL};
    rbOdeOptions options = rbDefaultOdeOptions();
    double x[RB_ODE_UNKNOWNS_MAX];
    for (int i = 0; i < RB_ODE_UNKNOWNS_MAX; ++i) {
        x[i] = 1.0;
    }
    rbOdeResult r = rbOde_Integrate(&system, 0.0, 1.0, x, &options);
    assert_int_equal(r.end, RB_ODE_REACHED);
    for (int i = 0; i < RB_ODE_UNKNOWNS_MAX; ++i) {
        checkNear(x[i], exp(-0.1 * (i + 1)), 1e-8);
    }
}

RB_TEST_GROUP(
    phys_ode, cmocka_unit_test(methodsConvergeWithTheirOrder), cmocka_unit_test(coefficientsAddUp),
    cmocka_unit_test(adaptiveStepsReachTheirTolerance),
    cmocka_unit_test(stepsShrinkWhereTheMotionIsFast), cmocka_unit_test(integrationIsReversible),
    cmocka_unit_test(callbackStopsTheIntegration),
    cmocka_unit_test(componentsHaveTheirOwnTolerances), cmocka_unit_test(troubleIsReported),
    cmocka_unit_test(callbackKeepsQuaternionsNormalized), cmocka_unit_test(thirtyTwoUnknownsFit));
