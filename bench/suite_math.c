// Elementary functions compared with those of the C library, and elliptic functions.
#include "base/core/random.h"
#include "base/math/elementary.h"
#include "bench.h"
#include "lab/math/elliptic_functions.h"
#include "lab/math/hyperbolic.h"

#include <math.h>

#define ARGUMENT_COUNT 4096
#define SECONDS 0.08 // a row

typedef double rbUnaryFn(double x);

static double atan2Slope(double x)
{
    return rbAtan2(x, 0.7);
}

static double libmAtan2Slope(double x)
{
    return atan2(x, 0.7);
}

// References in the widest available type.
static long double atan2SlopeWide(long double x)
{
    return atan2l(x, (long double)0.7);
}

static const struct {
    const char* name;
    rbUnaryFn* ours;
    rbUnaryFn* libm;
    long double (*wide)(long double x);
    double low, high;
} functions[] = {
    {"sin", rbSin, sin, sinl, -100.0, 100.0},
    {"cos", rbCos, cos, cosl, -100.0, 100.0},
    {"exp", rbExp, exp, expl, -50.0, 50.0},
    {"log", rbLog, log, logl, 1e-3, 1e3},
    {"atan2", atan2Slope, libmAtan2Slope, atan2SlopeWide, -10.0, 10.0},
    {"cbrt", rbCbrt, cbrt, cbrtl, -1e3, 1e3},
};

typedef struct rbMathWork {
    rbUnaryFn* function;
    rbElliptic elliptic;
    double arguments[ARGUMENT_COUNT];
    double results[ARGUMENT_COUNT];
} rbMathWork;

static void evaluate(void* context)
{
    rbMathWork* work = context;
    for (int i = 0; i < ARGUMENT_COUNT; ++i) {
        work->results[i] = work->function(work->arguments[i]);
    }
}

static double measureError(const rbMathWork* work, long double (*wide)(long double x))
{
    double largest = 0.0;
    for (int i = 0; i < ARGUMENT_COUNT; ++i) {
        long double truth = wide(work->arguments[i]);
        double error = (double)fabsl((work->results[i] - truth) / truth);
        largest = isnan(largest) || largest > error ? largest : error; // keeps NaN
    }
    return largest;
}

static void evaluateJacobi(void* context)
{
    rbMathWork* work = context;
    for (int i = 0; i < ARGUMENT_COUNT; ++i) {
        double sn, cn, dn;
        rbElliptic_SnCnDn(&work->elliptic, work->arguments[i], &sn, &cn, &dn);
        work->results[i] = sn + cn + dn;
    }
}

static void evaluateMake(void* context)
{
    rbMathWork* work = context;
    for (int i = 0; i < ARGUMENT_COUNT; ++i) {
        double m = fabs(work->arguments[i]) * 0.01;
        work->results[i] = rbElliptic_Make(m, 1.0 - m).quarter;
    }
}

static void evaluateF(void* context)
{
    rbMathWork* work = context;
    for (int i = 0; i < ARGUMENT_COUNT; ++i) {
        double sine = work->arguments[i] * 0.01;
        work->results[i] = rbEllipticF(sine, sqrt(1.0 - sine * sine), 0.3);
    }
}

static void evaluatePi(void* context)
{
    rbMathWork* work = context;
    for (int i = 0; i < ARGUMENT_COUNT; ++i) {
        double sine = work->arguments[i] * 0.01;
        work->results[i] = rbEllipticPi(-0.4, sine, sqrt(1.0 - sine * sine), 0.3);
    }
}

static const struct {
    const char* name;
    void (*work)(void* context);
} ellipticRows[] = {
    {"sn cn dn", evaluateJacobi},
    {"elliptic parameter", evaluateMake},
    {"elliptic F", evaluateF},
    {"elliptic Pi", evaluatePi},
};

static void fillArguments(rbMathWork* work, double low, double high)
{
    rbRandom random = {11};
    for (int i = 0; i < ARGUMENT_COUNT; ++i) {
        work->arguments[i] = rbRandom_Range(&random, low, high);
    }
}

static void addRow(rbBench* bench, const char* name, const char* engine, double seconds,
                   double errorMax)
{
    rbBenchRow row = {.metric = "time per call",
                      .value = 1e9 * seconds / ARGUMENT_COUNT,
                      .unit = "ns",
                      .result = "number",
                      .errorMax = errorMax};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", name);
    (void)snprintf(row.engine, sizeof row.engine, "%s", engine);
    rbBench_Add(bench, row);
}

static void run(rbBench* bench)
{
    rbMathWork* work = rbAllocZero(1, sizeof *work);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
        fillArguments(work, functions[i].low, functions[i].high);
        work->function = functions[i].ours;
        double seconds = rbBench_Time(evaluate, work, SECONDS);
        addRow(bench, functions[i].name, "rattleback", seconds,
               measureError(work, functions[i].wide));
        work->function = functions[i].libm;
        seconds = rbBench_Time(evaluate, work, SECONDS);
        addRow(bench, functions[i].name, "libm", seconds, measureError(work, functions[i].wide));
    }
    work->elliptic = rbElliptic_Make(0.7, 0.3);
    fillArguments(work, -99.0, 99.0);
    for (size_t i = 0; i < sizeof ellipticRows / sizeof ellipticRows[0]; ++i) {
        double seconds = rbBench_Time(ellipticRows[i].work, work, SECONDS);
        addRow(bench, ellipticRows[i].name, "rattleback", seconds, NAN);
    }
    rbFree(work, sizeof *work);
}

const rbBenchSuite rbSuiteMath = {
    .name = "math",
    .help = "our elementary functions compared with those of the C library; elliptic functions",
    .run = run,
};
