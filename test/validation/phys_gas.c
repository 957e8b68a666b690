// Gases of hard spheres simulated by the event engine: equation of state, Maxwell's speeds, Haff's
// cooling, jamming. Small versions of the cases gas-*; tolerances are five standard errors.
#include "gas.h"
#include "rb_test.h"

#include <math.h>

#define Z_AT_03 3.983 // molecular dynamics at a packing fraction of 0.3

static rbHardGas makeGas(const rbHardGasDef* def)
{
    rbError error = {0};
    rbHardGas gas = rbCreateHardGas(def, &error);
    if (gas.world == NULL) {
        print_error("no gas: %s\n", error.message);
        fail();
    }
    return gas;
}

// The virial of M collisions scatters by 0.85 Z/sqrt(M) (block averages of the case gas-pressure);
// N spheres in equilibrium have a pressure 1.19/N below that of infinitely many.
static void pressureIsThatOfHardSpheres(void** state)
{
    (void)state;
    rbHardGasDef def = rbDefaultHardGasDef();
    def.edge = 8;
    def.seed = rbTest_Seed(501);
    rbHardGas gas = makeGas(&def);
    double unit = rbHardGas_GetTimeOfCollisions(&gas, 1.0, Z_AT_03);
    assert_int_equal(rbHardGas_MeasurePressure(&gas, 20.0 * unit).status, RB_STATUS_OK);
    rbGasPressure pressure = rbHardGas_MeasurePressure(&gas, rbTest_Count(200, 5000) * unit);
    assert_int_equal(pressure.status, RB_STATUS_OK);
    assert_true(pressure.collisions > 2000);
    double scatter = 0.85 * Z_AT_03 / sqrt((double)pressure.collisions);
    checkNear(pressure.reduced, Z_AT_03 - 1.19 / gas.count, 5.0 * scatter + 1e-3 * Z_AT_03);
    rbDestroyHardGas(&gas);
}

static void elasticGasKeepsEnergyAndMomentum(void** state)
{
    (void)state;
    rbHardGasDef def = rbDefaultHardGasDef();
    def.edge = 6;
    def.seed = rbTest_Seed(502);
    rbHardGas gas = makeGas(&def);
    rbLedger before = rbWorld_GetLedger(gas.world);
    double unit = rbHardGas_GetTimeOfCollisions(&gas, 1.0, Z_AT_03);
    rbLedger after = rbWorld_Advance(gas.world, rbTest_Count(200, 2000) * unit).ledger;
    rbEventStatistics statistics = rbWorld_GetEventStatistics(gas.world);
    // an impact rounds the energy of two spheres by some 1e-16; errors of one sign add up to this
    double rounding = 4e-16 * (double)statistics.collisions * 2.0 / gas.count;
    checkRelative(after.energy, before.energy, rounding);
    double scale = before.mass * def.speed;
    checkNear(rbLength(rbSub(after.momentum, before.momentum)) / scale, 0.0, rounding);
    checkNear(after.energyDrift / before.energy, 0.0, rounding);
    assert_int_equal(statistics.microcollisions + statistics.rests, 0);
    assert_int_equal(statistics.impacts, statistics.collisions);
    checkBelow(statistics.overlapMax, 1e-12);
    rbDestroyHardGas(&gas);
}

// The virial sums impulse times distance of centers: one diameter per collision.
static void virialIsTheSumOverTheJournal(void** state)
{
    (void)state;
    rbHardGasDef def = rbDefaultHardGasDef();
    def.edge = 5;
    def.seed = rbTest_Seed(503);
    def.event.isJournalOff = false;
    rbHardGas gas = makeGas(&def);
    (void)rbWorld_Advance(gas.world, 20.0 * rbHardGas_GetTimeOfCollisions(&gas, 1.0, Z_AT_03));
    int count = 0;
    double sum = 0.0;
    const rbEvent* events = rbWorld_GetEvents(gas.world, &count);
    for (int i = 0; i < count; ++i) {
        assert_int_equal(events[i].kind, RB_EVENT_IMPACT);
        sum += 2.0 * def.radius * rbDot(events[i].impulse, events[i].normal);
    }
    assert_true(count > 500);
    checkRelative(rbWorld_GetEventStatistics(gas.world).virial, sum, 1e-12);
    rbDestroyHardGas(&gas);
}

// X-09 with fewer spheres.
static void speedsBecomeMaxwellian(void** state)
{
    (void)state;
    rbHardGasDef def = rbDefaultHardGasDef();
    def.edge = rbTest_IsLong() ? 20 : 8;
    def.speed = 10.0;
    def.seed = rbTest_Seed(504);
    rbHardGas gas = makeGas(&def);
    rbSpeedMoments start = rbHardGas_GetSpeedMoments(&gas);
    checkBelow(start.variance, 0.5); // of the drift that was subtracted
    (void)rbWorld_Advance(gas.world, rbHardGas_GetTimeOfCollisions(&gas, 20.0, Z_AT_03));
    rbSpeedMoments moments = rbHardGas_GetSpeedMoments(&gas);
    double scatter = 5.0 * sqrt(64000.0 / gas.count);
    checkNear(moments.mean, 9.2132, 0.0154 * scatter);
    checkNear(moments.variance, 15.1174, 0.0868 * scatter);
    checkNear(moments.median, 8.8806, 0.0197 * scatter);
    checkNear(moments.skewness, 0.4857, 0.0097 * scatter);
    rbDestroyHardGas(&gas);
}

// 1/sqrt(T) grows linearly in time, at the rate of Enskog: (1 - e^2)/6 times the collisions of a
// sphere per second.
static void inelasticGasCoolsByHaff(void** state)
{
    (void)state;
    rbHardGasDef def = rbDefaultHardGasDef();
    def.edge = 8;
    def.fraction = 0.1;
    def.restitution = 0.95;
    def.seed = rbTest_Seed(505);
    rbHardGas gas = makeGas(&def);
    const double z = 1.109 / 0.729; // Carnahan and Starling
    double unit = rbHardGas_GetTimeOfCollisions(&gas, 1.0, z);
    (void)rbWorld_Advance(gas.world, 8.0 * unit); // the lattice melts
    rbHardGas_Rescale(&gas, def.speed);
    double melted = rbWorld_GetTime(gas.world);
    double tau = 6.0 * unit / (1.0 - def.restitution * def.restitution);
    double first = rbHardGas_GetTemperature(&gas);
    double slopes[3];
    const double spans[3] = {1.0, 5.0, 25.0}; // T falls to 1/4, 1/36, 1/676
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(rbWorld_AdvanceTo(gas.world, melted + spans[i] * tau).status,
                         RB_STATUS_OK);
        slopes[i] = (sqrt(first / rbHardGas_GetTemperature(&gas)) - 1.0) / spans[i];
        checkNear(slopes[i], 1.0, 0.1);
    }
    assert_int_equal(rbWorld_GetEventStatistics(gas.world).rests, 0);
    rbDestroyHardGas(&gas);
}

// Fast growth of few spheres: slightly below 0.64, with scatter; never as dense as a crystal.
static void growingSpheresJam(void** state)
{
    (void)state;
    rbHardGasDef def = rbDefaultHardGasDef();
    def.edge = 6;
    def.fraction = 0.2;
    def.growth = 0.05;
    def.seed = rbTest_Seed(506);
    rbHardGas gas = makeGas(&def);
    rbPacking packing = rbHardGas_Compress(&gas, sqrt(3.0), 1e3);
    assert_int_equal(packing.status, RB_STATUS_OK);
    assert_true(packing.reducedPressure >= 1e3);
    checkNear(packing.fraction, 0.635, 0.025);
    checkBelow(rbWorld_GetEventStatistics(gas.world).overlapMax, 1e-11);
    rbDestroyHardGas(&gas);
}

RB_TEST_GROUP(phys_gas, cmocka_unit_test(pressureIsThatOfHardSpheres),
              cmocka_unit_test(elasticGasKeepsEnergyAndMomentum),
              cmocka_unit_test(virialIsTheSumOverTheJournal),
              cmocka_unit_test(speedsBecomeMaxwellian), cmocka_unit_test(inelasticGasCoolsByHaff),
              cmocka_unit_test(growingSpheresJam));
