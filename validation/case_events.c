// The event engine on collisions with a known outcome: balls, cradles, spheres, fast and grazing
// bodies, crowds (E-11, E-12, E-17, E-18). Lasting contact is in case_event_contact.c.
#include "base/core/random.h"
#include "event_worlds.h"
#include "lab/math/random3.h"
#include "validation.h"

#include <math.h>
#include <time.h>

// ------------------------------------------------------------------------------- bouncing ball

// Dropped from 1 m with e = 0.8: impacts at t0 (1 + 2 (e + e^2 + ...)), t0 = sqrt(2 / g), all of
// them before t0 (1 + e) / (1 - e).
#define BALL_END 4.063712768871578

static void runBall(rbValidation* validation)
{
    const double e = 0.8;
    rbWorldDef def = rbEventWorldDef(9.81);
    rbWorld* world = rbMakeEventWorld(&def);
    (void)rbAddSlope(world, 0.0, e * e, 0.0); // combined: sqrt(e^2 1)
    (void)rbAddBall(world, "ball", 0.1, rbMakeVec3(0.0, 0.0, 1.1), RB_VEC3_ZERO);
    (void)rbWorld_AdvanceTo(world, 4.5);
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    double t0 = sqrt(2.0 / 9.81);
    double sum = 1.0;
    double power = 1.0;
    double worst = 0.0;
    int bounces = 0;
    for (int i = 0; i < count && events[i].kind == RB_EVENT_IMPACT && bounces < 20; ++i) {
        worst = rbWorseError(worst, fabs(events[i].time / (t0 * sum) - 1.0));
        power *= e;
        sum += 2.0 * power;
        bounces += 1;
    }
    rbValidation_AddBound(validation, "ball: times of the first 20 impacts, relative",
                          bounces == 20 ? worst : NAN, 1e-12);
    rbEventSum impacts = rbSumEvents(world, RB_EVENT_IMPACT);
    rbEventSum lasting = rbSumEvents(world, RB_EVENT_LASTING);
    rbValidation_Print(validation, "  %d impacts before the end\n", impacts.count);
    rbValidation_Add(validation, "ball: end of the bounces, s",
                     lasting.count > 0 ? lasting.firstTime : NAN, BALL_END, 1e-6);
    rbValidation_AddBound(validation, "ball: largest energy rise in an impact, J", impacts.raiseMax,
                          1e-13);
    rbDestroyWorld(world);
}

// -------------------------------------------------------------------------------------- cradle

#define CRADLE 5

// Largest difference of the velocities from the expected ones, m/s.
static double swing(rbImpactOrder order, double gap, const double expected[CRADLE])
{
    rbWorldDef def = rbEventWorldDef(0.0);
    def.event.order = order;
    rbWorld* world = rbMakeEventWorld(&def);
    rbBodyId balls[CRADLE];
    const double radius = 0.02;
    for (int i = 0; i < CRADLE; ++i) {
        rbVec3 position = {i * (2.0 * radius + gap) - (i == 0 ? 0.1 : 0.0), 0.0, 0.0};
        rbVec3 velocity = {i == 0 ? 1.0 : 0.0, 0.0, 0.0};
        static const char* const names[CRADLE] = {"a", "b", "c", "d", "e"};
        balls[i] = rbAddBall(world, names[i], radius, position, velocity);
    }
    rbStepReport report = rbWorld_AdvanceTo(world, 1.0);
    double worst = report.status == RB_STATUS_OK ? 0.0 : NAN;
    for (int i = 0; i < CRADLE; ++i) {
        rbBodyState state = rbBody_GetState(world, balls[i]);
        worst = rbWorseError(worst, fabs(state.linearVelocity.x - expected[i]));
    }
    rbDestroyWorld(world);
    return worst;
}

static void runCradle(rbValidation* validation)
{
    static const double gaps[] = {0.0, 1e-6, 1e-3, 1e-2};
    static const double last[CRADLE] = {0.0, 0.0, 0.0, 0.0, 1.0};
    static const double all[CRADLE] = {-0.6, 0.4, 0.4, 0.4, 0.4};
    for (int i = 0; i < 4; ++i) {
        char text[96];
        (void)snprintf(text, sizeof text, "cradle, gaps %g m, sequential: speeds to 0 0 0 0 1",
                       gaps[i]);
        rbValidation_AddBound(validation, text, swing(RB_ORDER_SEQUENTIAL, gaps[i], last), 1e-9);
    }
    rbValidation_AddBound(validation, "cradle, gaps 0, simultaneous: speeds to -.6 .4 .4 .4 .4",
                          swing(RB_ORDER_SIMULTANEOUS, 0.0, all), 1e-9);
}

// ------------------------------------------------------------------------------- E-18: spheres

// Frictionless spheres: along the normal n the relative velocity is multiplied by -e, the momentum
// is conserved, and the other velocity components stay the same.
static void runSpheres(rbValidation* validation)
{
    rbRandom random = {18};
    double worst[2] = {0.0, 0.0};
    int met = 0;
    int stalled = 0;
    int count = validation->isQuick ? 100 : 1000;
    for (int i = 0; i < count; ++i) {
        double e = i % 2 == 0 ? 1.0 : 0.0;
        rbWorldDef def = rbEventWorldDef(0.0);
        def.event.eventsPerSecond = 1e3; // only one collision is expected
        rbWorld* world = rbMakeEventWorld(&def);
        double r[2] = {rbRandom_Range(&random, 0.05, 0.5), rbRandom_Range(&random, 0.05, 0.5)};
        rbVec3 n = rbRandom_Direction(&random);
        rbVec3 v[2];
        for (int k = 0; k < 2; ++k) {
            v[k] = rbScale(rbRandom_Range(&random, 0.0, 3.0), rbRandom_Direction(&random));
        }
        // in contact after 0.1 s, approaching
        double approach = rbDot(rbSub(v[0], v[1]), n);
        v[0] = approach < 0.5 ? rbAddScaled(v[0], 0.5 - approach, n) : v[0];
        rbVec3 contactA = RB_VEC3_ZERO;
        rbVec3 contactB = rbScale(r[0] + r[1], n);
        rbBodyPlan a = {.name = "a",
                        .geometry = rbCreateSphere(r[0], NULL),
                        .position = rbAddScaled(contactA, -0.1, v[0]),
                        .velocity = v[0],
                        .restitution = e};
        rbBodyPlan b = {.name = "b",
                        .geometry = rbCreateSphere(r[1], NULL),
                        .position = rbAddScaled(contactB, -0.1, v[1]),
                        .velocity = v[1],
                        .restitution = e};
        rbBodyId ids[2] = {rbAddPlanned(world, &a), rbAddPlanned(world, &b)};
        if (rbDistance(a.position, b.position) > r[0] + r[1]) {
            stalled += rbWorld_AdvanceTo(world, 0.2).status == RB_STATUS_OK ? 0 : 1;
            double mass[2] = {r[0] * r[0] * r[0], r[1] * r[1] * r[1]};
            double p =
                (1.0 + e) * rbDot(rbSub(v[0], v[1]), n) * mass[0] * mass[1] / (mass[0] + mass[1]);
            rbVec3 afterA = rbAddScaled(v[0], -p / mass[0], n);
            rbVec3 afterB = rbAddScaled(v[1], p / mass[1], n);
            double error = fmax(rbDistance(rbBody_GetState(world, ids[0]).linearVelocity, afterA),
                                rbDistance(rbBody_GetState(world, ids[1]).linearVelocity, afterB));
            worst[i % 2] = rbWorseError(worst[i % 2], error);
            met += 1;
        }
        rbDestroyWorld(world);
    }
    rbValidation_Print(validation, "  E-18: %d pairs of spheres\n", met);
    rbValidation_AddLimit(validation, "E-18: pairs with more than 1000 events per second", stalled,
                          0.0);
    rbValidation_AddBound(validation, "E-18: elastic spheres, velocities, m/s",
                          met > count / 2 ? worst[0] : NAN, 1e-12);
    rbValidation_AddBound(validation, "E-18: plastic spheres, velocities, m/s",
                          met > count / 2 ? worst[1] : NAN, 1e-12);
}

// ------------------------------------------------------------------------- E-12: thin walls

typedef struct Shot {
    rbGeometry* geometry;
    double reach; // m, extent of the shape toward the wall at the start
    rbVec3 spin;
} Shot;

// Launches a body along x at a wall; returns the error of the time of the first impact times the
// speed, m. NAN: it passed through the wall.
static double shoot(const Shot* shot, double speed, double thickness)
{
    rbWorldDef def = rbEventWorldDef(0.0);
    rbWorld* world = rbMakeEventWorld(&def);
    rbBodyPlan wall = {.name = "wall",
                       .geometry = rbCreateBox(rbMakeVec3(0.5 * thickness, 1.0, 1.0), NULL),
                       .isStatic = true,
                       .restitution = 1.0};
    rbBodyPlan ball = {.name = "shot",
                       .geometry = shot->geometry,
                       .position = {-1.0, 0.1, 0.2},
                       .velocity = {speed, 0.0, 0.0},
                       .spin = shot->spin,
                       .restitution = 1.0};
    (void)rbAddPlanned(world, &wall);
    rbBodyId body = rbAddPlanned(world, &ball);
    rbStepReport report = rbWorld_AdvanceTo(world, 1.5 / speed);
    rbEventSum impacts = rbSumEvents(world, RB_EVENT_IMPACT);
    double path = 1.0 - 0.5 * thickness - shot->reach;
    double error = impacts.count > 0 ? fabs(impacts.firstTime * speed - path) : NAN;
    bool isThrough = rbBody_GetState(world, body).center.x > 0.0;
    rbDestroyWorld(world);
    return isThrough || report.status != RB_STATUS_OK ? NAN : error;
}

static void runShots(rbValidation* validation)
{
    double worst[2] = {0.0, 0.0};
    int shots = 0;
    static const double speeds[] = {1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6};
    static const double walls[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
    for (int i = 0; i < 7; ++i) {
        for (int k = 0; k < 5; ++k) {
            Shot ball = {.geometry = rbCreateSphere(0.001, NULL), .reach = 0.001};
            Shot box = {.geometry = rbCreateBox(rbMakeVec3(0.002, 0.001, 0.001), NULL),
                        .reach = 0.002};
            worst[0] = rbWorseError(worst[0], shoot(&ball, speeds[i], walls[k]));
            worst[1] = rbWorseError(worst[1], shoot(&box, speeds[i], walls[k]));
            shots += 2;
        }
    }
    // Sampling every 1/60 s detects a body only while it overlaps the wall.
    rbValidation_Print(validation,
                       "  E-12: %d bodies at 1 to 1e6 m/s, walls of 1e-2 to 1e-6 m; sampling every "
                       "1/60 s misses most of them from %.2g m/s on\n",
                       shots, (0.002 + 1e-2) * 60.0);
    rbValidation_AddBound(validation, "E-12: ball, position of the impact, m", worst[0],
                          1.1e-5 * 2e-3);
    rbValidation_AddBound(validation, "E-12: box, position of the impact, m", worst[1],
                          1.1e-5 * 5e-3);
}

// ------------------------------------------------------------------------------ E-17: grazing

// Two spheres of radius 0.1 pass with their centers 0.2 (1 + excess) apart.
static bool graze(double excess, bool isFalling)
{
    rbWorldDef def = rbEventWorldDef(isFalling ? 10.0 : 0.0);
    rbWorld* world = rbMakeEventWorld(&def);
    if (isFalling) {
        // The apex of a throw is 0.1 (1 + excess) below a ceiling: v = sqrt(2 g h).
        rbBodyPlan ceiling = {.name = "ceiling",
                              .geometry = rbCreatePlane(rbMakeVec3(0.0, 0.0, -1.0), -1.0, NULL),
                              .isStatic = true,
                              .restitution = 1.0};
        double rise = 0.9 - 0.1 * excess;
        (void)rbAddPlanned(world, &ceiling);
        (void)rbAddBall(world, "ball", 0.1, RB_VEC3_ZERO,
                        rbMakeVec3(1.0, 0.0, sqrt(2.0 * 10.0 * rise)));
    } else {
        (void)rbAddBall(world, "a", 0.1, rbMakeVec3(-1.0, 0.0, 0.2 * (1.0 + excess)),
                        rbMakeVec3(3.0, 0.0, 0.0));
        (void)rbAddBall(world, "b", 0.1, RB_VEC3_ZERO, RB_VEC3_ZERO);
    }
    (void)rbWorld_AdvanceTo(world, 0.8);
    bool isMet = rbWorld_GetEventStatistics(world).collisions > 0;
    rbDestroyWorld(world);
    return isMet;
}

static void runGrazing(rbValidation* validation)
{
    int wrong = 0;
    int tries = 0;
    double excess = 1e-14;
    for (int i = 0; i < 11; ++i) {
        excess *= 10.0;
        for (int k = 0; k < 2; ++k) {
            wrong += graze(-excess, k == 1) ? 0 : 1;
            wrong += graze(excess, k == 1) ? 1 : 0;
            tries += 2;
        }
    }
    rbValidation_Print(validation, "  E-17: %d passes that overlap or miss by 1e-13 to 1e-3\n",
                       tries);
    rbValidation_AddBound(validation, "E-17: grazing passes misclassified", wrong, 0.0);
}

// -------------------------------------------------------------------------------- E-11: coins

typedef struct Crowd {
    double measurements; // per collision
    double bounds;       // per collision
    double collisions;
    double cpu; // s
} Crowd;

// Coins dropped from a loose grid.
static Crowd dropCoins(int count, rbEventLoop loop, rbBroadPhaseType broadPhase)
{
    rbWorldDef def = rbEventWorldDef(9.81);
    def.event.loop = loop;
    def.event.broadPhase = broadPhase;
    def.event.isJournalOff = true;
    rbWorld* world = rbMakeEventWorld(&def);
    (void)rbAddSlope(world, 0.0, 0.5, 0.3);
    rbRandom random = {11};
    int side = (int)ceil(sqrt((double)count / 2.0));
    for (int i = 0; i < count; ++i) {
        char name[16];
        (void)snprintf(name, sizeof name, "coin%d", i);
        int layer = i / (side * side);
        int column = i % (side * side) % side;
        int row = i % (side * side) / side;
        rbBodyPlan plan = {.name = name,
                           .geometry = rbCreateCylinder(0.0125, 0.001, NULL),
                           .position = {0.03 * column, 0.03 * row, 0.03 + 0.03 * layer},
                           .orientation = rbRandom_Quat(&random),
                           .restitution = 0.5,
                           .friction = 0.3};
        (void)rbAddPlanned(world, &plan);
    }
    clock_t start = clock();
    (void)rbWorld_AdvanceTo(world, 0.15);
    rbEventStatistics s = rbWorld_GetEventStatistics(world);
    double collisions = fmax(1.0, (double)s.collisions);
    Crowd crowd = {(double)s.measurements / collisions, (double)s.bounds / collisions,
                   (double)s.collisions, (double)(clock() - start) / CLOCKS_PER_SEC};
    rbDestroyWorld(world);
    return crowd;
}

static void runCoins(rbValidation* validation)
{
    static const int counts[] = {10, 30, 100, 300};
    Crowd near[4];
    int most = validation->isQuick ? 2 : 4;
    for (int i = 0; i < most; ++i) {
        near[i] = dropCoins(counts[i], RB_LOOP_BODIES, RB_BROAD_AUTO);
        rbValidation_Print(validation,
                           "  E-11: %d coins, near pairs: %.0f collisions, %.1f measurements and "
                           "%.1f bounds each, %.2f s\n",
                           counts[i], near[i].collisions, near[i].measurements, near[i].bounds,
                           near[i].cpu);
        if (counts[i] > 30) {
            continue;
        }
        Crowd every =
            dropCoins(counts[i], rbEventLoop_Find("all-pairs"), rbBroadPhaseType_Find("naive"));
        rbValidation_Print(validation,
                           "        every pair: %.0f collisions, %.1f measurements and %.1f bounds "
                           "each, %.2f s\n",
                           every.collisions, every.measurements, every.bounds, every.cpu);
    }
    rbValidation_AddLimit(validation, "E-11: measurements per collision, most coins / 10 coins",
                          near[most - 1].measurements / near[0].measurements, 2.0);
}

static void run(rbValidation* validation)
{
    runBall(validation);
    runCradle(validation);
    runSpheres(validation);
    runShots(validation);
    runGrazing(validation);
    runCoins(validation);
}

const rbValidationCase rbCaseEvents = {
    .name = "events",
    .help = "bouncing ball, cradle, spheres, thin walls, grazing, coins (E-11, E-12, E-17, E-18)",
    .source = "closed forms",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
