// A coin that rolls on its rim in steady precession: energy and position to second order.
#include "arrival_scenes.h"
#include "base/core/random.h"
#include "dynamics/contact/contact_solver.h"

#include <math.h>

#define COINS 12
#define COINS_FULL 200
#define STEPS 5
#define COARSEST 2e-3 // s
#define DURATION 0.25 // s

// Steady rolling without slip, about a vertical axis at the origin.
typedef struct Coin {
    double radius;         // m
    double half;           // m, of the thickness
    double tilt;           // rad, of the axis from the vertical
    double turning;        // rad/s, about the vertical
    rbVec3 position;       // m
    rbVec3 velocity;       // m/s
    rbVec3 spin;           // rad/s
    double radiusOfCircle; // m, signed
} Coin;

// The torque of the contact force about the center equals the change of the angular momentum, which
// turns with the coin.
static Coin drawCoin(rbRandom* random, double shell)
{
    Coin coin = {.radius = rbRandom_Range(random, 0.05, 0.15)};
    coin.half = coin.radius * rbRandom_Range(random, 0.02, 0.1);
    coin.tilt = rbRandom_Range(random, 0.35, 1.2);
    coin.turning = rbRandom_Range(random, 0.6, 1.2) * sqrt(9.81 / coin.radius);
    double a = coin.radius;
    double d = coin.half;
    double s = sin(coin.tilt);
    double c = cos(coin.tilt);
    double w = coin.turning;
    double axial = 0.5 * a * a; // moments of inertia for a mass of 1
    double across = (3.0 * a * a + 4.0 * d * d) / 12.0;
    double side = a * c - d * s; // of the contact point from the center
    double height = a * s + d * c + shell;
    double own = (-height * w * w * side - 9.81 * side - w * w * s * c * (axial - across)) /
                 (w * s * axial + height * w * a);
    coin.radiusOfCircle = -(side + a * own / w);
    coin.position = rbMakeVec3(coin.radiusOfCircle, 0.0, height);
    coin.velocity = rbMakeVec3(0.0, w * coin.radiusOfCircle, 0.0);
    coin.spin = rbMakeVec3(own * s, 0.0, w + own * c);
    return coin;
}

typedef struct Rolled {
    double energyError; // relative
    rbVec3 center;      // m, at the end
    double distance;    // m, of it from where steady precession has it
} Rolled;

static Rolled roll(const Coin* coin, double step, double tolerance)
{
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_STEP);
    def.gravity = rbMakeVec3(0.0, 0.0, -9.81);
    def.contact.tolerance = tolerance;
    def.contact.velocityTolerance = tolerance;
    rbWorld* world = makeArrivalWorld(&def);
    (void)addGround(world, 0.0, 2.0);
    rbError error = {0};
    rbBodyDef body = rbDefaultBodyDef();
    body.position = coin->position;
    body.orientation = (rbQuat){cos(0.5 * coin->tilt), 0.0, sin(0.5 * coin->tilt), 0.0};
    body.linearVelocity = coin->velocity;
    body.angularVelocity = coin->spin;
    rbBodyId id = rbCreateBody(world, &body, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateCylinder(coin->radius, coin->half, NULL));
    shape.material.restitution = 0.0;
    shape.material.friction = 2.0;
    if (RB_IS_NULL(id) || RB_IS_NULL(rbCreateShape(world, id, &shape, &error))) {
        fail_msg("%s", error.message);
    }
    double before = rbWorld_GetLedger(world).energy;
    rbStepReport report = rbWorld_AdvanceTo(world, DURATION);
    assert_int_equal(report.status, RB_STATUS_OK);
    double angle = coin->turning * DURATION;
    rbVec3 truth = {coin->radiusOfCircle * cos(angle), coin->radiusOfCircle * sin(angle),
                    coin->position.z};
    rbVec3 center = rbBody_GetState(world, id).center;
    Rolled rolled = {rbWorld_GetLedger(world).energy / before - 1.0, center,
                     rbDistance(center, truth)};
    rbDestroyWorld(world);
    return rolled;
}

static void coinsRollToSecondOrder(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0xc014)};
    double shell = rbDefaultContactSettings().shell;
    int count = rbTest_Count(COINS, COINS_FULL);
    double energy = 0.0;
    double distance = 0.0;
    double energies[STEPS] = {0.0};
    double moved[STEPS] = {0.0};
    for (int i = 0; i < count; ++i) {
        Coin coin = drawCoin(&random, shell);
        Rolled rolled[STEPS];
        for (int k = STEPS - 1; k >= 0; --k) {
            rolled[k] = roll(&coin, COARSEST / (1 << k), 1e-9);
            energies[k] += fabs(rolled[k].energyError);
            moved[k] += rbDistance(rolled[k].center, rolled[STEPS - 1].center);
        }
        energy = fmax(energy, fabs(rolled[1].energyError));
        distance = fmax(distance, rolled[STEPS - 1].distance);
    }
    for (int k = 0; k + 1 < STEPS; ++k) {
        double order = log2(energies[k] / energies[k + 1]);
        print_message("[ %g s: energy to %.1e on average, order %.2f ]\n", COARSEST / (1 << k),
                      energies[k] / count, order);
        checkNear(order, 2.0, 0.2);
    }
    double order = log2(moved[0] / moved[1]);
    print_message("[ position: order %.2f; energy at 1 ms to %.1e; at the finest step %.1e m from "
                  "steady precession, shell %.0e m ]\n",
                  order, energy, distance, shell);
    checkNear(order, 2.05, 0.25); // compared with the finest
    checkBelow(energy, 2e-4);
    checkBelow(distance, 10.0 * shell);
}

// With the default tolerances: what the curvature takes of the gap in a step exceeds the shell.
static void fastCoinsKeepTheirEnergy(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0xc015)};
    rbContactSettings unset = rbDefaultContactSettings();
    rbContactSettings defaults = rbAimContactSettings(&unset);
    int count = rbTest_Count(COINS, COINS_FULL);
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        Coin coin = drawCoin(&random, defaults.shell);
        worst = fmax(worst, fabs(roll(&coin, 2.0 * COARSEST, defaults.tolerance).energyError));
    }
    print_message("[ at 4 ms: energy to %.1e ]\n", worst);
    checkBelow(worst, 2e-3);
}

RB_TEST_GROUP(phys_rolling, cmocka_unit_test(coinsRollToSecondOrder),
              cmocka_unit_test(fastCoinsKeepTheirEnergy));
