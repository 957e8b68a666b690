// Random bodies that fall onto the ground and onto each other, bounce, slide, tip and come to rest:
// where loads end at once, contacts give no energy. In 20,000 falls it rises by more than 1e-3 of
// what there is in four, by at most 6e-3, in steps of up to 1 ms by 1.3e-3.
#include "arrival_scenes.h"
#include "base/core/random.h"

#include <math.h>

#define FALLS 300
#define FALLS_FULL 20000
#define BODIES 3
#define SHAPES 4
#define WHEELS 60
#define ROCKERS 60

static rbGeometry* drawShape(rbRandom* random)
{
    double size = rbRandom_Range(random, 0.05, 0.15);
    double part = rbRandom_Range(random, 0.3, 1.0);
    rbVec3 points[12];
    switch (rbRandom_Index(random, SHAPES)) {
    case 0:
        return rbCreateSphere(size, NULL);
    case 1:
        return rbCreateBox(rbMakeVec3(size, part * size, 0.5 * size), NULL);
    case 2:
        return rbCreateCapsule(part * size, size, NULL);
    default:
        for (int i = 0; i < 12; ++i) {
            double x = size * rbRandom_Symmetric(random);
            double y = size * rbRandom_Symmetric(random);
            points[i] = rbMakeVec3(x, y, size * rbRandom_Symmetric(random));
        }
        return rbCreateHull(points, 12, NULL);
    }
}

static double draw(rbRandom* random)
{
    return (double)rbRandom_Index(random, 5) / 4.0; // 0 and 1, too
}

// Up to three bodies above the ground, with one step and the same material.
static rbWorld* makeFall(uint64_t seed, bool isSmooth, double* step)
{
    static const double steps[] = {5e-4, 1e-3, 2e-3, 4e-3};
    rbRandom random = {seed};
    *step = steps[rbRandom_Index(&random, 4)];
    rbWorldDef def =
        defineArrivals(*step, seed % 4 == 0 ? RB_CONTACT_TIME_INTERPOLATION : RB_CONTACT_TIME_STEP);
    def.contact.law = RB_IMPACT_STRONGE; // Newton's may give energy
    rbWorld* world = makeArrivalWorld(&def);
    double restitution = draw(&random);
    double friction = isSmooth ? 0.0 : draw(&random);
    (void)addGround(world, restitution, friction);
    int count = 1 + (int)rbRandom_Index(&random, BODIES);
    for (int i = 0; i < count; ++i) {
        rbError error = {0};
        rbBodyDef body = rbDefaultBodyDef();
        double w = rbRandom_Symmetric(&random);
        double x = rbRandom_Symmetric(&random);
        double y = rbRandom_Symmetric(&random);
        double z = rbRandom_Symmetric(&random);
        body.position = rbMakeVec3(0.1 * x, 0.1 * y, 0.35 + 0.65 * i);
        body.orientation = rbNormalizeQuat((rbQuat){w, x, y, z});
        body.linearVelocity = rbMakeVec3(y, z, w);
        body.angularVelocity = rbMakeVec3(4.0 * z, 4.0 * w, 4.0 * x);
        rbBodyId id = rbCreateBody(world, &body, &error);
        rbShapeDef shape = rbDefaultShapeDef();
        shape.geometry = rbWorld_AddGeometry(world, drawShape(&random));
        shape.material.restitution = restitution;
        shape.material.friction = friction;
        assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    }
    return world;
}

// The largest rise of the energy, relative to what there is, above its least so far.
static double fall(uint64_t seed, double* step)
{
    rbWorld* world = makeFall(seed, false, step);
    double least = rbWorld_GetLedger(world).energy;
    double rise = 0.0;
    for (int k = 1; *step * k < 1.5; ++k) {
        rbStepReport report = rbWorld_AdvanceTo(world, *step * k);
        assert_true(report.status == RB_STATUS_OK || report.status == RB_STATUS_NUMERICAL);
        rbLedger ledger = rbWorld_GetLedger(world);
        rise = fmax(rise, (ledger.energy - least) / ledger.energyScale);
        least = fmin(least, ledger.energy);
    }
    rbDestroyWorld(world);
    return rise;
}

static void loadsThatEndAtOnceGiveNoEnergy(void** state)
{
    (void)state;
    int count = rbTest_Count(FALLS, FALLS_FULL);
    uint64_t seed = rbTest_Seed(0x10ad);
    double most = 0.0;
    double fine = 0.0;
    int above = 0;
    for (int i = 0; i < count; ++i) {
        double step;
        double rise = fall(seed + (uint64_t)i, &step);
        most = fmax(most, rise);
        fine = fmax(fine, step <= 1e-3 ? rise : 0.0);
        above += rise > 1e-3;
    }
    print_message("%d falls: energy rises by at most %.2g, in steps of 1 ms %.2g; %d above 1e-3\n",
                  count, most, fine, above);
    assert_true(above <= 1 + count / 1000);
    checkBelow(most, 2e-2);
    checkBelow(fine, 5e-3);
}

// What changes of the momentum along the ground, relative to that of 1 m/s: no force without
// friction on flat ground has any of it.
static double slide(uint64_t seed, double* step)
{
    rbWorld* world = makeFall(seed, true, step);
    rbLedger first = rbWorld_GetLedger(world);
    double most = 0.0;
    for (int k = 1; *step * k < 1.5; ++k) {
        (void)rbWorld_AdvanceTo(world, *step * k);
        rbVec3 change = rbSub(rbWorld_GetLedger(world).momentum, first.momentum);
        most = fmax(most, hypot(change.x, change.y) / first.mass);
    }
    rbDestroyWorld(world);
    return most;
}

// A rod that slid over smooth ground lost a hundredth of its speed when its other end landed, in
// steps of 4 ms: what it had fallen too far was taken from all of its motion.
static void smoothGroundTakesNoMomentumAlongIt(void** state)
{
    (void)state;
    int count = rbTest_Count(FALLS, FALLS_FULL);
    uint64_t seed = rbTest_Seed(0x511de);
    double most = 0.0;
    for (int i = 0; i < count; ++i) {
        double step;
        double change = slide(seed + (uint64_t)i, &step);
        if (change > 1e-9) {
            print_message("fall %d, step %g: %.2g\n", i, step, change);
        }
        most = fmax(most, change);
    }
    print_message("%d falls: momentum changes by at most %.2g\n", count, most);
    checkBelow(most, 1e-9);
}

// A wheel rolls against a curb and over it. At the edge w becomes w (1 - 2 h / (3 R)), and then
// gravity takes what the height costs. Returns the relative error of the spin on top.
static double roll(double radius, double height, double speed, double step, double* numerical)
{
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_STEP);
    def.gravity = rbMakeVec3(0.0, 0.0, -9.81);
    rbWorld* world = makeArrivalWorld(&def);
    (void)addGround(world, 0.0, 5.0);
    Flyer curb = {.geometry = rbCreateBox(rbMakeVec3(1.0, 1.0, 0.5 * height), NULL),
                  .position = rbMakeVec3(1.5, 0.0, 0.5 * height),
                  .friction = 5.0,
                  .isStatic = true};
    (void)addFlyer(world, &curb);
    rbError error = {0};
    rbBodyDef body = rbDefaultBodyDef();
    body.position = rbMakeVec3(0.0, 0.0, radius);
    body.linearVelocity = rbMakeVec3(speed, 0.0, 0.0);
    body.angularVelocity = rbMakeVec3(0.0, speed / radius, 0.0);
    rbBodyId wheel = rbCreateBody(world, &body, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateCylinder(radius, 0.1, NULL));
    shape.transform.q = (rbQuat){sqrt(0.5), sqrt(0.5), 0.0, 0.0}; // its axis along y
    shape.material.restitution = 0.0;
    shape.material.friction = 5.0;
    assert_false(RB_IS_NULL(rbCreateShape(world, wheel, &shape, &error)));
    (void)rbWorld_AdvanceTo(world, 1.0 / speed + 1.0);
    rbLedger ledger = rbWorld_GetLedger(world);
    *numerical = fabs(ledger.numericalEnergy) / ledger.energyScale;
    double edge = speed / radius * (1.0 - 2.0 * height / (3.0 * radius));
    double top = sqrt(edge * edge - 4.0 * 9.81 * height / (3.0 * radius * radius));
    double spin = rbBody_GetState(world, wheel).angularVelocity.y;
    rbDestroyWorld(world);
    return fabs(spin / top - 1.0);
}

// The wheel goes on over the curb in the flight of the step in which it meets it, and pays for that
// height after its collision.
static void aWheelPaysForACurb(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0xc0b)};
    double worst = 0.0;
    double most = 0.0;
    for (int i = 0; i < rbTest_Count(WHEELS, FALLS); ++i) {
        double radius = rbRandom_Range(&random, 0.2, 0.4);
        double height = radius * rbRandom_Range(&random, 0.04, 0.12);
        double speed = sqrt(9.81 * height) * rbRandom_Range(&random, 1.6, 2.4); // no jump
        double step = 1e-3 * rbRandom_Range(&random, 0.25, 4.0);
        double numerical;
        double error = roll(radius, height, speed, step, &numerical);
        worst = fmax(worst, error / step);
        most = fmax(most, numerical);
    }
    print_message("spin on top: %.2g of a step in s, numerical energy %.2g\n", worst, most);
    checkBelow(worst, 8.0); // it collides where the step ends
    checkBelow(most, 1e-3);
}

// A block of twice its half width by twice its half height that rocks from edge to edge without
// slip and rebound: an inverted pendulum about each edge in turn, and an impact keeps its angular
// momentum about the next edge (Housner).
typedef struct Rocker {
    double width;  // m, half
    double height; // m, half
    double tilt;   // rad, at the start, about the edge at +width
} Rocker;

typedef struct Rocking {
    double angle; // rad, about the current edge
    double rate;  // rad/s
    int side;     // 1: the edge at +width
    double least; // m/s, approach of the impacts so far
} Rocking;

static void rockOn(const Rocker* r, Rocking* at, double time)
{
    double corner = atan2(r->width, r->height);
    double stiffness = 0.75 * 9.81 / sqrt(r->width * r->width + r->height * r->height);
    double kept = 1.0 - 1.5 * sin(corner) * sin(corner);
    int count = (int)ceil(time / 1e-5);
    double h = time / count;
    for (int i = 0; i < count; ++i) { // leapfrog, 1e-9 m off
        at->rate -= 0.5 * h * stiffness * sin(corner - at->angle);
        at->angle += h * at->rate;
        at->rate -= 0.5 * h * stiffness * sin(corner - at->angle);
        if (at->angle < 0.0) { // the part of the step after the impact goes the other way
            at->least = fmin(at->least, -2.0 * r->width * at->rate);
            at->angle *= -kept;
            at->rate *= -kept;
            at->side = -at->side;
        }
    }
}

// Distance of the center from where it should be after a time, by default settings; -1: an impact
// is so slow that it counts as rest.
static double rock(const Rocker* r, double step, double time)
{
    Rocking at = {.angle = r->tilt, .side = 1, .least = INFINITY};
    rockOn(r, &at, time);
    if (at.least < 2.0 * fmax(0.01, 9.81 * step)) {
        return -1.0;
    }
    double corner = atan2(r->width, r->height);
    double length = sqrt(r->width * r->width + r->height * r->height);
    rbWorldDef def = rbDefaultWorldDef();
    def.step.step = step;
    rbWorld* world = makeArrivalWorld(&def);
    (void)addGround(world, 0.0, 2.0);
    rbError error = {0};
    rbBodyDef body = rbDefaultBodyDef();
    body.position = rbMakeVec3(r->width - length * sin(corner - r->tilt), 0.0,
                               length * cos(corner - r->tilt) + 1e-5);
    body.orientation = (rbQuat){cos(0.5 * r->tilt), 0.0, sin(0.5 * r->tilt), 0.0};
    rbBodyId id = rbCreateBody(world, &body, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry =
        rbWorld_AddGeometry(world, rbCreateBox(rbMakeVec3(r->width, 0.15, r->height), NULL));
    shape.material.restitution = 0.0;
    shape.material.friction = 2.0;
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    assert_int_equal(rbWorld_AdvanceTo(world, time).status, RB_STATUS_OK);
    rbVec3 center = rbBody_GetState(world, id).center;
    rbDestroyWorld(world);
    double x = at.side * (r->width - length * sin(corner - at.angle));
    return hypot(center.x - x, center.z - 1e-5 - length * cos(corner - at.angle));
}

// The next edge strikes while the last one bears: steps are cut there, although the time of contact
// is not asked for.
static void rockingBlocksStrikeOnTime(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0xb10c)};
    double worst = 0.0;
    int count = 0;
    int tried = rbTest_Count(ROCKERS, FALLS);
    for (int i = 0; i < tried; ++i) {
        Rocker r = {.width = rbRandom_Range(&random, 0.06, 0.15),
                    .height = rbRandom_Range(&random, 0.3, 0.5)};
        r.tilt = rbRandom_Range(&random, 0.5, 0.8) * atan2(r.width, r.height);
        double step = 1e-3 * rbRandom_Range(&random, 1.0, 4.0);
        double error = rock(&r, step, rbRandom_Range(&random, 1.0, 2.0));
        worst = fmax(worst, error);
        count += error >= 0.0;
    }
    print_message("%d blocks, at most %.2g m off\n", count, worst);
    assert_true(2 * count > tried);
    checkBelow(worst, 2e-4); // the shell, 1e-5 m, and what it grows to
}

RB_TEST_GROUP(phys_loads, cmocka_unit_test(loadsThatEndAtOnceGiveNoEnergy),
              cmocka_unit_test(smoothGroundTakesNoMomentumAlongIt),
              cmocka_unit_test(aWheelPaysForACurb), cmocka_unit_test(rockingBlocksStrikeOnTime));
