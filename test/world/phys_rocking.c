// Bodies that rock on curved surfaces without slip, against the equation of their angle: planks on
// cylinders, which touch along a line, and ellipsoids on a floor. The points of contact move over
// the bodies and approach by their curvature, which is neither an arrival nor a collision.
#include "arrival_scenes.h"
#include "base/core/random.h"

#include <math.h>
#include <string.h>

#define GRAVITY 9.81
#define CASES 40
#define CASES_FULL 1500
#define DURATION 0.5   // s
#define PARTS 20000    // of the reference
#define SHELL 1e-5     // m, the default
#define DENSITY 1000.0 // kg/m^3

// A body of one freedom, its angle: m/2 (k2 + l(angle)) rate^2 + m g height(angle) is constant.
typedef struct Rocker {
    bool isPlank;
    double a;     // m: radius of the cylinder, or the long semi-axis
    double c;     // m: half the thickness, or the short one
    double k2;    // m^2, of gyration
    double angle; // rad, at the start, at rest
} Rocker;

// Height of the center above that of the cylinder or the floor, and where it is along the floor but
// for the way that an ellipsoid has rolled.
static double heightOf(const Rocker* r, double angle)
{
    if (r->isPlank) {
        return (r->a + SHELL + r->c) * cos(angle) + r->a * angle * sin(angle);
    }
    return sqrt(pow(r->a * sin(angle), 2.0) + pow(r->c * cos(angle), 2.0));
}

static double slopeOf(const Rocker* r, double angle)
{
    if (r->isPlank) {
        return r->a * angle * cos(angle) - (r->c + SHELL) * sin(angle);
    }
    return (r->a * r->a - r->c * r->c) * sin(angle) * cos(angle) / heightOf(r, angle);
}

// Square of the distance of the center from the point of contact.
static double leverOf(const Rocker* r, double angle)
{
    double across = r->isPlank ? r->c : heightOf(r, angle);
    double along = r->isPlank ? r->a * angle : slopeOf(r, angle);
    return across * across + along * along;
}

// Rates of the angle, of its rate, and of the way along the floor.
static void differentiate(const Rocker* r, const double y[3], double rates[3])
{
    const double e = 1e-6;
    double leverRate = (leverOf(r, y[0] + e) - leverOf(r, y[0] - e)) / (2.0 * e);
    rates[0] = y[1];
    rates[1] =
        -(GRAVITY * slopeOf(r, y[0]) + 0.5 * leverRate * y[1] * y[1]) / (r->k2 + leverOf(r, y[0]));
    rates[2] = heightOf(r, y[0]) * y[1];
}

// Classical Runge-Kutta. Returns the fastest rate, rad/s.
static double integrate(const Rocker* r, double y[3])
{
    double fastest = 0.0;
    const double h = DURATION / PARTS;
    static const double parts[4] = {0.0, 0.5, 0.5, 1.0};
    static const double weights[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    for (int i = 0; i < PARTS; ++i) {
        double rates[3] = {0.0};
        double next[3] = {y[0], y[1], y[2]};
        for (int s = 0; s < 4; ++s) {
            double at[3];
            for (int k = 0; k < 3; ++k) {
                at[k] = y[k] + parts[s] * h * rates[k];
            }
            differentiate(r, at, rates);
            for (int k = 0; k < 3; ++k) {
                next[k] += weights[s] * h * rates[k];
            }
        }
        memcpy(y, next, sizeof next);
        fastest = fmax(fastest, fabs(y[1]));
    }
    return fastest;
}

static rbVec3 placeOf(const Rocker* r, const double y[3])
{
    double z = heightOf(r, y[0]);
    if (r->isPlank) {
        double x = (r->a + SHELL + r->c) * sin(y[0]) - r->a * y[0] * cos(y[0]);
        return rbMakeVec3(x, 0.0, z);
    }
    return rbMakeVec3(y[2], 0.0, z + SHELL);
}

static rbWorld* makeRocker(Rocker* r, double length, double restitution, double step,
                           rbBodyId* body)
{
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_AUTO);
    def.gravity = rbMakeVec3(0.0, 0.0, -GRAVITY);
    rbWorld* world = makeArrivalWorld(&def);
    rbTransform lying = {.q = {sqrt(0.5), sqrt(0.5), 0.0, 0.0}};
    if (r->isPlank) {
        Flyer log = {.geometry = rbCreateCylinder(r->a, 1.0, NULL),
                     .restitution = restitution,
                     .friction = 5.0,
                     .isStatic = true};
        rbBodyId id = addFlyer(world, &log);
        assert_int_equal(rbBody_SetState(world, id, lying, RB_VEC3_ZERO, RB_VEC3_ZERO, NULL),
                         RB_STATUS_OK);
        r->k2 = (length * length + 4.0 * r->c * r->c) / 12.0;
    } else {
        (void)addGround(world, restitution, 5.0);
        r->k2 = (r->a * r->a + r->c * r->c) / 5.0;
    }
    rbVec3 size = rbMakeVec3(r->isPlank ? 0.5 * length : r->a, 0.15, r->c);
    Flyer rocker = {.geometry =
                        r->isPlank ? rbCreateBox(size, NULL) : rbCreateEllipsoid(size, NULL),
                    .density = DENSITY,
                    .restitution = restitution,
                    .friction = 5.0};
    *body = addFlyer(world, &rocker);
    const double start[3] = {r->angle, 0.0, 0.0};
    rbTransform pose = {.p = placeOf(r, start),
                        .q = {cos(0.5 * r->angle), 0.0, sin(0.5 * r->angle), 0.0}};
    assert_int_equal(rbBody_SetState(world, *body, pose, RB_VEC3_ZERO, RB_VEC3_ZERO, NULL),
                     RB_STATUS_OK);
    return world;
}

// How far the center is off at the end, over the square of the angle of the fastest step times the
// size, plus the shell; where a body touches with a flat side, over that times its radius of
// curvature. Nothing collides, and no impact takes energy.
static double rock(Rocker* r, double length, double restitution, double step)
{
    rbBodyId body = {0};
    rbWorld* world = makeRocker(r, length, restitution, step, &body);
    double y[3] = {r->angle, 0.0, 0.0};
    double turn = step * integrate(r, y);
    assert_int_equal(rbWorld_AdvanceTo(world, DURATION).status, RB_STATUS_OK);
    double off = rbDistance(rbBody_GetState(world, body).center, placeOf(r, y));
    assert_int_equal(rbWorld_GetContactStatistics(world).collisions, 0);
    checkNear(rbWorld_GetLedger(world).impactWork, 0.0, 0.0);
    rbDestroyWorld(world);
    double bend = r->isPlank ? 1.0 : pow(r->a / r->c, 2.0); // of the flat side
    return off / (bend * (turn * turn * r->a + SHELL));
}

// Not derived: three seeds of 1500 planks and 1500 ellipsoids reach 0.85.
#define OFF_MOST 1.0

static void planksRockOnCylinders(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x70c4)};
    double worst = 0.0;
    for (int i = 0; i < rbTest_Count(CASES, CASES_FULL); ++i) {
        double radius = rbRandom_Range(&random, 0.2, 2.0);
        double angle = rbRandom_Range(&random, 0.05, 0.5);
        Rocker plank = {.isPlank = true,
                        .a = radius,
                        .c = rbRandom_Range(&random, 0.02, 0.2) * radius,
                        .angle = angle};
        double length = radius * rbRandom_Range(&random, 2.5, 4.0) * angle + 8.0 * plank.c;
        double step = 1e-3 * rbRandom_Range(&random, 1.0, 10.0);
        worst = fmax(worst, rock(&plank, length, rbRandom_Range(&random, 0.0, 1.0), step));
    }
    print_message("[ planks: at most %.2f ]\n", worst);
    checkBelow(worst, OFF_MOST);
}

static void ellipsoidsRock(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x70c5)};
    double worst = 0.0;
    for (int i = 0; i < rbTest_Count(CASES, CASES_FULL); ++i) {
        double a = rbRandom_Range(&random, 0.05, 0.3);
        Rocker ellipsoid = {.a = a,
                            .c = rbRandom_Range(&random, 0.2, 0.9) * a,
                            .angle = rbRandom_Range(&random, 0.1, 1.3)};
        // its point of contact moves over it by a^2 / c times the angle: a part of its size
        ellipsoid.k2 = (a * a + ellipsoid.c * ellipsoid.c) / 5.0;
        double y[3] = {ellipsoid.angle, 0.0, 0.0};
        double turn = rbRandom_Range(&random, 0.01, 0.15) * ellipsoid.c / a;
        double step = fmin(0.01, turn / integrate(&ellipsoid, y));
        worst = fmax(worst, rock(&ellipsoid, 0.0, rbRandom_Range(&random, 0.0, 1.0), step));
    }
    print_message("[ ellipsoids: at most %.2f ]\n", worst);
    checkBelow(worst, OFF_MOST);
}

RB_TEST_GROUP(phys_rocking, cmocka_unit_test(planksRockOnCylinders),
              cmocka_unit_test(ellipsoidsRock));
