// Many hard spheres in the periodic box: pressure and speeds of an elastic gas, cooling of an
// inelastic one, and the packing at which growing spheres jam.
#include "gas.h"
#include "validation.h"

#include <math.h>

#define BLOCKS_MAX 64

static bool isGasMade(rbValidation* validation, const rbHardGas* gas, const rbError* error)
{
    if (gas->world == NULL) {
        rbValidation_Print(validation, "  %s\n", error->message);
        rbValidation_AddLimit(validation, "the gas is created", NAN, 0.0);
    }
    return gas->world != NULL;
}

// --------------------------------------------------------------------------------------- pressure

#define PRESSURE_FRACTION 0.3
#define PRESSURE_TRUTH 3.983

// Mean and standard error of the mean of independent values.
static double average(const double* values, int count, double* standardError)
{
    double mean = 0.0;
    double squares = 0.0;
    for (int i = 0; i < count; ++i) {
        mean += values[i] / count;
    }
    for (int i = 0; i < count; ++i) {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    *standardError = sqrt(squares / ((double)count * (count - 1)));
    return mean;
}

// Energy over the first million collisions of a gas.
static void checkEnergy(rbValidation* validation, rbHardGas* gas, int64_t collisions)
{
    double step = rbHardGas_GetTimeOfCollisions(gas, 1.0, PRESSURE_TRUTH);
    double start = rbWorld_GetLedger(gas->world).energy;
    double worst = 0.0;
    rbEventStatistics statistics;
    do {
        rbStepReport report = rbWorld_Advance(gas->world, step);
        worst = rbWorseError(fabs(report.ledger.energy / start - 1.0), worst);
        statistics = rbWorld_GetEventStatistics(gas->world);
        if (report.status != RB_STATUS_OK) {
            worst = NAN;
        }
    } while (statistics.collisions < collisions && !isnan(worst));
    char quantity[96];
    (void)snprintf(quantity, sizeof quantity,
                   "energy over %.2g collisions, largest relative change",
                   (double)statistics.collisions);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbValidation_AddBound(validation, quantity, worst, 1e-13);
    rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
    rbValidation_AddLimit(validation, "microcollisions and bodies held",
                          (double)(statistics.microcollisions + statistics.rests), 0.0);
}

// The statistical error is that of block averages; blocks of 150 collisions per body are
// uncorrelated. The remaining finite-size effect: in equilibrium Z_N = Z + dlnX/dlnphi / (2 N) with
// the compressibility X = 1/(d(phi Z)/dphi), here -1.19/N, 4e-4 for 2744 spheres: not corrected.
static void runPressure(rbValidation* validation)
{
    rbError error = {0};
    rbHardGasDef def = rbDefaultHardGasDef();
    def.fraction = PRESSURE_FRACTION;
    def.edge = validation->isQuick ? 10 : 14;
    rbHardGas gas = rbCreateHardGas(&def, &error);
    if (!isGasMade(validation, &gas, &error)) {
        return;
    }
    checkEnergy(validation, &gas, validation->isQuick ? 100000 : 1000000);
    double values[BLOCKS_MAX];
    int count = validation->isQuick ? 10 : 60;
    int64_t collisions = 0;
    double duration = rbHardGas_GetTimeOfCollisions(&gas, 150.0, PRESSURE_TRUTH);
    for (int i = 0; i < count; ++i) {
        rbGasPressure pressure = rbHardGas_MeasurePressure(&gas, duration);
        values[i] = pressure.status == RB_STATUS_OK ? pressure.reduced : NAN;
        collisions += pressure.collisions;
    }
    double standardError = 0.0;
    double mean = average(values, count, &standardError);
    rbValidation_Print(validation,
                       "  %d spheres, %.3g collisions in %d blocks: Z = %.4f, standard error %.4f "
                       "(%.3f %%)\n",
                       gas.count, (double)collisions, count, mean, standardError,
                       100.0 * standardError / mean);
    if (validation->isQuick) {
        rbValidation_Add(validation, "p V/(N k T) at phi = 0.3, in standard errors",
                         (mean - PRESSURE_TRUTH) / standardError, 0.0, 4.0);
    } else {
        rbValidation_AddRelative(validation, "p V/(N k T) at phi = 0.3", mean, PRESSURE_TRUTH,
                                 1e-3);
        rbValidation_AddLimit(validation, "relative standard error of p V/(N k T)",
                              standardError / mean, 3e-4);
    }
    rbDestroyHardGas(&gas);
}

const rbValidationCase rbCaseGasPressure = {
    .name = "gas-pressure",
    .help = "elastic hard spheres: virial pressure and energy",
    .source = "molecular dynamics of hard spheres at phi = 0.3 (Z = 3.983)",
    .truth = RB_TRUTH_PUBLISHED,
    .run = runPressure,
};

// ---------------------------------------------------------------------------------------- speeds

#define SPEED 10.0
#define SNAPSHOTS 6
#define MOMENTS 4

static void addMoments(const rbHardGas* gas, double sums[MOMENTS])
{
    rbSpeedMoments moments = rbHardGas_GetSpeedMoments(gas);
    sums[0] += moments.mean;
    sums[1] += moments.variance;
    sums[2] += moments.median;
    sums[3] += moments.skewness;
}

// All spheres start with the same speed. The deviation from equilibrium falls by a factor e in 2.4
// collisions per sphere: after 18 it is less than a tenth of a standard error. Then the moments are
// averaged over a few times, 4 collisions per sphere apart; the tolerance is three standard errors
// of one time.
static void runMaxwell(rbValidation* validation)
{
    static const struct {
        const char* name;
        double standardError; // of 64,000 spheres
    } rows[MOMENTS] = {
        {"mean", 0.0154}, {"variance", 0.0868}, {"median", 0.0197}, {"skewness", 0.0097}};
    double a = SPEED / sqrt(3.0);
    const double truths[MOMENTS] = {
        2.0 * a * sqrt(2.0 / RB_PI), a * a * (3.0 - 8.0 / RB_PI), 1.5381722544550522 * a,
        2.0 * sqrt(2.0) * (16.0 - 5.0 * RB_PI) / pow(3.0 * RB_PI - 8.0, 1.5)};
    rbError error = {0};
    rbHardGasDef def = rbDefaultHardGasDef();
    def.edge = validation->isQuick ? 20 : 40;
    def.speed = SPEED;
    rbHardGas gas = rbCreateHardGas(&def, &error);
    if (!isGasMade(validation, &gas, &error)) {
        return;
    }
    double sums[MOMENTS] = {0.0};
    double unit = rbHardGas_GetTimeOfCollisions(&gas, 1.0, PRESSURE_TRUTH);
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < SNAPSHOTS && status == RB_STATUS_OK; ++i) {
        status = rbWorld_AdvanceTo(gas.world, (18.0 + 4.0 * i) * unit).status;
        addMoments(&gas, sums);
    }
    int64_t collisions = rbWorld_GetEventStatistics(gas.world).collisions;
    rbValidation_Print(validation, "  %d spheres of %g m/s, %.1f collisions each\n", gas.count,
                       SPEED, 2.0 * (double)collisions / gas.count);
    for (int i = 0; i < MOMENTS; ++i) {
        double standardError = rows[i].standardError * sqrt(64000.0 / gas.count);
        double value = status == RB_STATUS_OK ? sums[i] / SNAPSHOTS : NAN;
        char quantity[96];
        (void)snprintf(quantity, sizeof quantity, "speeds, %s (error of %.2f standard errors)",
                       rows[i].name, (value - truths[i]) / standardError);
        rbValidation_Add(validation, quantity, value, truths[i], 3.0 * standardError);
    }
    rbDestroyHardGas(&gas);
}

const rbValidationCase rbCaseGasMaxwell = {
    .name = "gas-maxwell",
    .help = "elastic hard spheres with equal initial speeds: moments of the speeds at the end",
    .source = "Maxwell's distribution; sampling errors of 64,000 spheres (X-09)",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = runMaxwell,
};

// ----------------------------------------------------------------------------------------- cooling

#define COOLING_FRACTION 0.1
#define COOLING_SAMPLES 40
#define COOLING_REPLICAS 4
#define COOLING_END 100.0 // in cooling times: the temperature falls by 1e4

// Collisions of a sphere per second at a temperature, by Carnahan and Starling's Z.
static double collisionRate(double fraction, double temperature, double diameter)
{
    double f = fraction;
    double z = (1.0 + f + f * f - f * f * f) / ((1.0 - f) * (1.0 - f) * (1.0 - f));
    return 6.0 * (z - 1.0) * sqrt(temperature / RB_PI) / diameter;
}

typedef struct CoolingFit {
    double exponent;
    double time;  // s, tau
    double error; // root mean square of ln T
} CoolingFit;

// The line ln T = c + exponent ln(1 + t/tau) for one tau.
static CoolingFit fitLine(const double* times, const double* logs, int count, double tau)
{
    double x = 0.0;
    double y = 0.0;
    double xx = 0.0;
    double xy = 0.0;
    for (int i = 0; i < count; ++i) {
        x += log1p(times[i] / tau) / count;
        y += logs[i] / count;
    }
    for (int i = 0; i < count; ++i) {
        double d = log1p(times[i] / tau) - x;
        xx += d * d;
        xy += d * (logs[i] - y);
    }
    CoolingFit fit = {.exponent = xy / xx, .time = tau};
    double squares = 0.0;
    for (int i = 0; i < count; ++i) {
        double rest = logs[i] - y - fit.exponent * (log1p(times[i] / tau) - x);
        squares += rest * rest;
    }
    fit.error = sqrt(squares / count);
    return fit;
}

// Least squares in all three: the best of successively finer scans of tau.
static CoolingFit fitCooling(const double* times, const double* logs, int count, double guess)
{
    CoolingFit best = {.error = INFINITY};
    double middle = guess;
    double ratio = 1.2;
    for (int k = 0; k < 12; ++k) {
        for (int i = -10; i <= 10; ++i) {
            CoolingFit fit = fitLine(times, logs, count, middle * pow(ratio, i));
            best = fit.error < best.error ? fit : best;
        }
        middle = best.time;
        ratio = sqrt(ratio);
    }
    return best;
}

// Cools a gas from equilibrium and adds ln T at the times to the sums; returns the status of the
// run.
static rbStatus cool(const rbHardGasDef* def, const double* times, double* logs, rbError* error)
{
    rbHardGas gas = rbCreateHardGas(def, error);
    if (gas.world == NULL) {
        return RB_STATUS_INVALID;
    }
    rbStatus status = RB_STATUS_OK;
    // the lattice melts first; time is measured from then, with the initial speed
    double melting = 4.0 / collisionRate(def->fraction, def->speed * def->speed / 3.0, 1.0);
    status = rbWorld_AdvanceTo(gas.world, melting).status;
    rbHardGas_Rescale(&gas, def->speed);
    for (int i = 0; i < COOLING_SAMPLES && status == RB_STATUS_OK; ++i) {
        status = rbWorld_AdvanceTo(gas.world, melting + times[i]).status;
        logs[i] += log(rbHardGas_GetTemperature(&gas));
    }
    rbDestroyHardGas(&gas);
    return status;
}

static void checkCooling(rbValidation* validation, double restitution)
{
    rbError error = {0};
    rbHardGasDef def = rbDefaultHardGasDef();
    def.fraction = COOLING_FRACTION;
    def.restitution = restitution;
    double rate = collisionRate(def.fraction, def.speed * def.speed / 3.0, 2.0 * def.radius);
    double tau = 6.0 / ((1.0 - restitution * restitution) * rate);
    double times[COOLING_SAMPLES];
    double logs[COOLING_SAMPLES] = {0};
    for (int i = 0; i < COOLING_SAMPLES; ++i) {
        times[i] = tau * (pow(COOLING_END, (double)i / (COOLING_SAMPLES - 1)) - 1.0);
    }
    int replicas = validation->isQuick ? 1 : COOLING_REPLICAS;
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < replicas && status == RB_STATUS_OK; ++i) {
        def.seed = 1 + (uint64_t)i;
        status = cool(&def, times, logs, &error);
    }
    for (int i = 0; i < COOLING_SAMPLES; ++i) {
        logs[i] = status == RB_STATUS_OK ? logs[i] / replicas : NAN;
    }
    CoolingFit fit = fitCooling(times, logs, COOLING_SAMPLES, tau);
    rbValidation_Print(validation,
                       "  e = %g, %d spheres, %d runs: T falls by %.3g; tau = %.2f s, by Enskog's "
                       "rate %.2f s; ln T error %.3f rms\n",
                       restitution, def.edge * def.edge * def.edge, replicas,
                       exp(logs[0] - logs[COOLING_SAMPLES - 1]), fit.time, tau, fit.error);
    char quantity[96];
    (void)snprintf(quantity, sizeof quantity, "exponent of T/T0 = (1 + t/tau)^x, e = %g",
                   restitution);
    rbValidation_Add(validation, quantity, fit.exponent, -2.0, 0.05);
}

static void runHaff(rbValidation* validation)
{
    checkCooling(validation, 0.95);
    checkCooling(validation, 0.9);
}

const rbValidationCase rbCaseGasHaff = {
    .name = "gas-haff",
    .help = "inelastic hard spheres cool: Haff's law, in a box too small for clusters",
    .source = "Haff 1983: T = T0/(1 + t/tau)^2",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = runHaff,
};

// ----------------------------------------------------------------------------------------- packing

#define PACKING_GROWTH 0.03 // of the diameter, relative to the thermal speed sqrt(kT/m)
#define PACKING_PRESSURE 1e4
#define PACKING_RUNS 3

// Lubachevsky and Stillinger. The number depends on the protocol: slower growth yields more (0.642
// to 0.644 at 0.01, 0.647 at 0.003, crystals far below that), faster growth less. The run ends at a
// reduced pressure where the fraction is below jamming by about 3/Z of itself, 2e-4.
static void runPacking(rbValidation* validation)
{
    double values[PACKING_RUNS];
    int runs = validation->isQuick ? 1 : PACKING_RUNS;
    rbError error = {0};
    for (int i = 0; i < runs; ++i) {
        rbHardGasDef def = rbDefaultHardGasDef();
        def.fraction = 0.2;
        def.edge = validation->isQuick ? 8 : 10;
        def.growth = 0.5 * PACKING_GROWTH;
        def.seed = 1 + (uint64_t)i;
        rbHardGas gas = rbCreateHardGas(&def, &error);
        if (!isGasMade(validation, &gas, &error)) {
            return;
        }
        rbPacking packing = rbHardGas_Compress(&gas, sqrt(3.0), PACKING_PRESSURE);
        values[i] = packing.status == RB_STATUS_OK ? packing.fraction : NAN;
        rbValidation_Print(validation, "  %d spheres, %.3g collisions: %.4f at Z = %.3g\n",
                           gas.count, (double)packing.collisions, packing.fraction,
                           packing.reducedPressure);
        rbDestroyHardGas(&gas);
    }
    double mean = 0.0;
    for (int i = 0; i < runs; ++i) {
        mean += values[i] / runs;
    }
    rbValidation_Add(validation, "packing fraction of growing spheres", mean, 0.64, 0.005);
}

const rbValidationCase rbCaseGasPacking = {
    .name = "gas-packing",
    .help = "random close packing by slowly growing spheres",
    .source = "random close packing of equal spheres, 0.64",
    .truth = RB_TRUTH_PUBLISHED,
    .run = runPacking,
};
