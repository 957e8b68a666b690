// The event engine with lasting contact: ramps, walls, books, slopes, rolling (E-09, E-10, E-13 to
// E-16). See case_events.c for single collisions.
#include "base/math/elementary.h"
#include "base/math/quaternion.h"
#include "event_worlds.h"
#include "validation.h"

#include <math.h>
#include <time.h>

#define GRAVITY 9.81
#define DEGREE (RB_PI / 180.0)

static const rbVec3 bookHalf = {0.1, 0.075, 0.015};

static rbBodyId addBook(rbWorld* world, const char* name, double angle, double height)
{
    rbQuat frame = rbGetSlopeFrame(angle);
    rbBodyPlan plan = {.name = name,
                       .geometry = rbCreateBox(bookHalf, NULL),
                       .position = rbRotate(frame, rbMakeVec3(0.0, 0.0, bookHalf.z + height)),
                       .orientation = frame,
                       .restitution = 0.3,
                       .friction = 0.5};
    return rbAddPlanned(world, &plan);
}

// The distance of a body along the slope, m.
static double downhill(const rbWorld* world, rbBodyId body, double angle)
{
    rbVec3 along = rbRotate(rbGetSlopeFrame(angle), rbMakeVec3(1.0, 0.0, 0.0));
    return rbDot(along, rbBody_GetState(world, body).center);
}

// ------------------------------------------------------------------------------ E-09: the ramp

// Flights between impacts on the floor, after the ball left the ramp.
static int listFlights(const rbWorld* world, rbBodyId floor, double after, double* times, int most)
{
    int count = 0;
    int found = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    for (int i = 0; i < count && found < most; ++i) {
        bool isFloor =
            events[i].bodyA.index1 == floor.index1 || events[i].bodyB.index1 == floor.index1;
        if (events[i].kind == RB_EVENT_IMPACT && isFloor && events[i].time > after) {
            times[found++] = events[i].time;
        }
    }
    return found;
}

static void runRamp(rbValidation* validation)
{
    const double radius = 0.05;
    rbWorldDef def = rbEventWorldDef(GRAVITY);
    rbWorld* world = rbMakeEventWorld(&def);
    rbBodyId floor = rbAddSlope(world, 0.0, 0.5, 0.4);
    // a wedge, 1 m long, 0.2 m high, starting at x = 1
    const rbVec3 corners[6] = {{1.0, -0.5, 0.0}, {1.0, 0.5, 0.0},  {2.0, -0.5, 0.2},
                               {2.0, 0.5, 0.2},  {2.0, -0.5, 0.0}, {2.0, 0.5, 0.0}};
    rbBodyPlan ramp = {.name = "ramp",
                       .geometry = rbCreateHull(corners, 6, NULL),
                       .isStatic = true,
                       .restitution = 0.5,
                       .friction = 0.4};
    rbBodyPlan ball = {.name = "ball",
                       .geometry = rbCreateSphere(radius, NULL),
                       .position = {0.0, 0.0, radius},
                       .velocity = {4.0, 0.0, 0.0},
                       .spin = {0.0, 4.0 / radius, 0.0},
                       .restitution = 0.5,
                       .friction = 0.4};
    (void)rbAddPlanned(world, &ramp);
    rbBodyId body = rbAddPlanned(world, &ball);
    clock_t start = clock();
    double left = 0.0;
    double highest = 0.0;
    double rise = 0.0;
    double least = INFINITY;
    rbStepReport report = {0};
    for (int k = 1; k <= 300 && report.status == RB_STATUS_OK; ++k) {
        report = rbWorld_AdvanceTo(world, rbGetStepTime(k, 0.01));
        rbVec3 center = rbBody_GetState(world, body).center;
        left = center.x < 2.0 ? report.time : left;
        highest = fmax(highest, center.z - radius);
        least = fmin(least, report.ledger.energy);
        rise = fmax(rise, report.ledger.energy - least);
    }
    double times[64];
    int count = listFlights(world, floor, left, times, 64);
    double ratio = 0.0;
    for (int i = 2; i < count; ++i) {
        ratio = fmax(ratio, (times[i] - times[i - 1]) / (times[i - 1] - times[i - 2]));
    }
    rbBodyState state = rbBody_GetState(world, body);
    rbEventStatistics s = rbWorld_GetEventStatistics(world);
    rbEventSum micro = rbSumEvents(world, RB_EVENT_MICROCOLLISION);
    rbEventSum impacts = rbSumEvents(world, RB_EVENT_IMPACT);
    rbValidation_Print(validation,
                       "  E-09: leaves the ramp at %.2f s, rises %.3f m, %d impacts on the floor, "
                       "then %d microcollisions, which added %.2g J; %.2f s\n",
                       left, highest, count, micro.count, micro.energyGain,
                       (double)(clock() - start) / CLOCKS_PER_SEC);
    rbValidation_Print(validation, "  %s\n", rbWorld_GetError(world).message);
    rbValidation_AddLimit(validation, "E-09: ends early (0: no)", report.status, 0.0);
    rbValidation_AddBound(validation, "E-09: longest flight / previous one",
                          count > 3 ? ratio : NAN, 0.9);
    rbValidation_AddBound(validation, "E-09: height above the floor at 3 s, in tolerances",
                          fabs(state.center.z - radius) / s.tolerance, 3.0);
    rbValidation_AddBound(validation, "E-09: slip at 3 s / speed",
                          fabs(state.linearVelocity.x - radius * state.angularVelocity.y) /
                              state.linearVelocity.x,
                          1e-2);
    double weight = 1000.0 * 4.0 / 3.0 * RB_PI * radius * radius * radius * GRAVITY;
    rbValidation_AddBound(validation, "E-09: largest energy rise in an impact, J", impacts.raiseMax,
                          1e-13);
    rbValidation_AddBound(validation, "E-09: rise of energy / (m g tolerance)",
                          rise / (weight * s.tolerance), 1.0);
    rbDestroyWorld(world);
}

// ------------------------------------------------------------------- E-10: a box into a wall

// A box slides under a push, hits a low wall and begins to tip over it.
static void runWall(rbValidation* validation)
{
    const double half = 0.1;
    const double friction = 0.3;
    const double push = 5.0; // m/s^2
    const double way = 0.5;  // m, from the box to the wall
    rbWorldDef def = rbEventWorldDef(GRAVITY);
    rbWorld* world = rbMakeEventWorld(&def);
    (void)rbAddSlope(world, 0.0, 0.0, friction);
    rbBodyPlan wall = {.name = "wall",
                       .geometry = rbCreateBox(rbMakeVec3(0.1, 1.0, 0.05), NULL),
                       .isStatic = true,
                       .position = {half + way + 0.1, 0.0, 0.0},
                       .friction = friction};
    rbBodyPlan box = {.name = "box",
                      .geometry = rbCreateBox(rbMakeVec3(half, half, half), NULL),
                      .position = {0.0, 0.0, half},
                      .velocity = {1.0, 0.0, 0.0},
                      .friction = friction};
    rbBodyId wallId = rbAddPlanned(world, &wall);
    rbBodyId body = rbAddPlanned(world, &box);
    rbForceDef force = rbDefaultForceDef();
    force.body = body;
    force.force = rbMakeVec3(push * rbBody_GetMass(world, body).mass, 0.0, 0.0);
    (void)rbCreateForce(world, &force, NULL);
    // distance = v t + (push - mu g) t^2 / 2
    double a = push - friction * GRAVITY;
    double truth = (sqrt(1.0 + 2.0 * a * way) - 1.0) / a;
    (void)rbWorld_AdvanceTo(world, 0.9 * truth);
    double before = rbLength(rbBody_GetState(world, body).angularVelocity);
    rbStepReport report = rbWorld_AdvanceTo(world, truth + 0.05);
    int count = 0;
    double met = NAN;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    for (int i = 0; i < count && !(met > 0.0); ++i) {
        bool isWall =
            events[i].bodyA.index1 == wallId.index1 || events[i].bodyB.index1 == wallId.index1;
        met = isWall ? events[i].time : met;
    }
    rbValidation_AddRelative(validation, "E-10: time of the second contact, s", met, truth, 1e-3);
    rbValidation_AddBound(validation, "E-10: spin before it, rad/s", before, 0.05);
    rbValidation_AddBound(
        validation, "E-10: minus the spin about the wall after it, rad/s",
        report.status == RB_STATUS_OK ? -rbBody_GetState(world, body).angularVelocity.y : NAN,
        -1.0);
    rbDestroyWorld(world);
}

// ---------------------------------------------------------- E-13, E-15: books on a table

static void runBook(rbValidation* validation)
{
    for (int kind = 0; kind < 2; ++kind) {
        rbWorldDef def = rbEventWorldDef(GRAVITY);
        def.event.lasting = kind == 0 ? RB_LASTING_REST : RB_LASTING_MICRO;
        rbWorld* world = rbMakeEventWorld(&def);
        (void)rbAddSlope(world, 0.0, 0.3, 0.5);
        rbBodyId book = addBook(world, "book", 0.0, 0.0);
        double low = INFINITY;
        double high = -INFINITY;
        clock_t start = clock();
        rbStepReport report = {0};
        for (int k = 1; k <= 1000 && report.status == RB_STATUS_OK; ++k) {
            report = rbWorld_AdvanceTo(world, rbGetStepTime(k, 1e-3));
            double z = rbBody_GetState(world, book).center.z;
            low = fmin(low, z);
            high = fmax(high, z);
        }
        rbEventStatistics s = rbWorld_GetEventStatistics(world);
        char text[96];
        rbValidation_Print(
            validation,
            "  E-13: book for 1 s, %s: %lld microcollisions, %s, tolerance %.2g m, "
            "moved sideways %.2g m; %.2f s\n",
            rbLastingContact_Name(def.event.lasting), (long long)s.microcollisions,
            rbBody_IsResting(world, book) ? "held" : "not held", s.tolerance,
            hypot(rbBody_GetState(world, book).center.x, rbBody_GetState(world, book).center.y),
            (double)(clock() - start) / CLOCKS_PER_SEC);
        (void)snprintf(text, sizeof text, "E-13: amplitude in tolerances, lasting \"%s\"",
                       rbLastingContact_Name(def.event.lasting));
        rbValidation_AddBound(validation, text,
                              report.status == RB_STATUS_OK ? (high - low) / s.tolerance : NAN,
                              kind == 0 ? 3.0 : 10.0);
        rbDestroyWorld(world);
    }
    // Without microcollisions the bouncing of a ball never ends.
    rbWorldDef def = rbEventWorldDef(GRAVITY);
    def.event.lasting = RB_LASTING_NONE;
    def.event.eventsPerSecond = 1e5;
    rbWorld* world = rbMakeEventWorld(&def);
    (void)rbAddSlope(world, 0.0, 0.25, 0.0);
    (void)rbAddBall(world, "ball", 0.05, rbMakeVec3(0.0, 0.0, 0.06), RB_VEC3_ZERO);
    rbStepReport report = rbWorld_AdvanceTo(world, 1.0);
    rbValidation_Print(validation, "  E-13: without microcollisions: %s\n",
                       rbWorld_GetError(world).message);
    rbValidation_SetTruth(validation, RB_TRUTH_LIMIT);
    rbValidation_Add(validation, "E-13: without microcollisions the budget stops the run, status",
                     report.status, RB_STATUS_LIMIT, 0.0);
    // dropped 1 cm with e = 0.5: all bounces are over at 3 sqrt(2 h / g)
    rbValidation_Add(validation, "E-13: time at which it stops, s", report.time,
                     3.0 * sqrt(0.02 / GRAVITY), 1e-3 * 20.0);
    rbDestroyWorld(world);
}

static void runStack(rbValidation* validation)
{
    static const char* const names[4] = {"first", "second", "third", "fourth"};
    for (int count = 1; count <= 4; ++count) {
        rbWorldDef def = rbEventWorldDef(GRAVITY);
        def.event.isJournalOff = true;
        rbWorld* world = rbMakeEventWorld(&def);
        (void)rbAddSlope(world, 0.0, 0.3, 0.5);
        rbBodyId last = {0};
        for (int i = 0; i < count; ++i) {
            last = addBook(world, names[i], 0.0, i * 2.0 * bookHalf.z + 1e-3 * (i + 1));
        }
        double energy = rbWorld_GetLedger(world).energy;
        clock_t start = clock();
        rbStepReport report = rbWorld_AdvanceTo(world, 1.0);
        rbEventStatistics s = rbWorld_GetEventStatistics(world);
        rbValidation_Print(validation,
                           "  E-15: %d books, 1 s: %lld impacts, %lld microcollisions, %d of them "
                           "held, %.3f s\n",
                           count, (long long)s.impacts, (long long)s.microcollisions,
                           s.restingCount, (double)(clock() - start) / CLOCKS_PER_SEC);
        char text[96];
        (void)snprintf(text, sizeof text, "E-15: stack of %d, height of the last, m", count);
        rbValidation_Add(validation, text, rbBody_GetState(world, last).center.z,
                         (2 * count - 1) * bookHalf.z, 2.0 * count * s.tolerance);
        (void)snprintf(text, sizeof text, "E-15: stack of %d, energy gained, J", count);
        rbValidation_AddBound(validation, text,
                              report.status == RB_STATUS_OK ? report.ledger.energy - energy : NAN,
                              0.0);
        rbDestroyWorld(world);
    }
}

// ------------------------------------------------------------------------ E-14: the incline

// A point on a slope that hops by microcollisions, with and without the reversal of L-100: its
// creep in one second.
static double creepOfPoint(bool isReversed, double angle, double friction, double tolerance)
{
    double pull = GRAVITY * cos(angle);
    double along = GRAVITY * sin(angle);
    double hop = sqrt(2.0 * pull * tolerance);
    rbVec3 u = {0.0, 0.0, hop};
    double x = 0.0;
    double time = 0.0;
    while (time < 1.0) {
        double flight = 2.0 * u.z / pull;
        x += (u.x + 0.5 * along * flight) * flight;
        rbImpactInput input = {.matrix = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0},
                               .velocity = {u.x + along * flight, 0.0, u.z - pull * flight},
                               .restitution = 1.0, // the average effect of a boost
                               .friction = friction,
                               .law = RB_IMPACT_STRONGE};
        rbImpactResult result;
        if (isReversed) {
            rbMicrocollision micro = {.depth = 0.5, .boostMax = 5.0, .leastSpeed = hop};
            rbResolveMicrocollision(&input, &micro, &result);
        } else {
            rbResolveImpact(&input, &result);
        }
        u = result.velocity;
        time += flight;
    }
    return x;
}

// Acceleration down the slope from the displacement in 1 s.
static double slide(double angle, double friction, rbGeometry* geometry, double height)
{
    rbWorldDef def = rbEventWorldDef(GRAVITY);
    def.event.isJournalOff = true;
    rbWorld* world = rbMakeEventWorld(&def);
    (void)rbAddSlope(world, angle, 0.0, friction);
    rbQuat frame = rbGetSlopeFrame(angle);
    rbBodyPlan plan = {.name = "body",
                       .geometry = geometry,
                       .position = rbRotate(frame, rbMakeVec3(0.0, 0.0, height)),
                       .orientation = frame,
                       .friction = friction};
    rbBodyId body = rbAddPlanned(world, &plan);
    double start = downhill(world, body, angle);
    rbStepReport report = rbWorld_AdvanceTo(world, 1.0);
    double way = downhill(world, body, angle) - start;
    rbDestroyWorld(world);
    return report.status == RB_STATUS_OK ? 2.0 * way : NAN;
}

static void runIncline(rbValidation* validation)
{
    static const struct {
        const char* name;
        rbLastingContact lasting;
        double restTime, bound; // in tolerances; INFINITY: only shown
    } rows[] = {{"held when calm", RB_LASTING_REST, 0.1, 10.0},
                {"never held", RB_LASTING_REST, 1e9, 10.0},
                {"single microcollisions only", RB_LASTING_MICRO, 0.1, INFINITY}};
    double angle = 20.0 * DEGREE;
    for (int i = 0; i < 3; ++i) {
        rbWorldDef def = rbEventWorldDef(GRAVITY);
        def.event.lasting = rows[i].lasting;
        def.event.restTime = rows[i].restTime;
        def.event.isJournalOff = true;
        rbWorld* world = rbMakeEventWorld(&def);
        (void)rbAddSlope(world, angle, 0.3, 0.5);
        rbBodyId book = addBook(world, "book", angle, 0.0);
        double start = downhill(world, book, angle);
        clock_t begin = clock();
        double duration = isfinite(rows[i].bound) ? 10.0 : 1.0;
        rbStepReport report = rbWorld_AdvanceTo(world, duration);
        double way = downhill(world, book, angle) - start;
        rbEventStatistics s = rbWorld_GetEventStatistics(world);
        rbValidation_Print(
            validation,
            "  E-14: book at tan phi %.3f, mu 0.5, %s: %lld microcollisions in %g s, "
            "creeps %.3g m; %.2f s\n",
            tan(angle), rows[i].name, (long long)s.microcollisions, duration, way,
            (double)(clock() - begin) / CLOCKS_PER_SEC);
        if (isfinite(rows[i].bound)) {
            char text[96];
            (void)snprintf(text, sizeof text, "E-14: creep in 10 s in tolerances, %s",
                           rows[i].name);
            rbValidation_AddBound(validation, text,
                                  report.status == RB_STATUS_OK ? fabs(way) / s.tolerance : NAN,
                                  rows[i].bound);
        }
        rbDestroyWorld(world);
    }
    rbValidation_Print(
        validation,
        "  E-14: a point that hops to a height of 1e-6 m creeps %.2g m in 1 s with L-100, "
        "%.2g m without\n",
        creepOfPoint(true, angle, 0.5, 1e-6), creepOfPoint(false, angle, 0.5, 1e-6));
    // The reversal starts one hop late: the creep comes from that hop only.
    double hop = 2.0 * sqrt(2.0 * GRAVITY * rbCos(angle) * 1e-6) / (GRAVITY * rbCos(angle));
    rbValidation_AddBound(validation, "E-14: creep of a point with L-100 / one hop",
                          fabs(creepOfPoint(true, angle, 0.5, 1e-6)) /
                              (0.5 * GRAVITY * rbSin(angle) * hop * hop),
                          2.0);
    rbValidation_AddRelative(validation, "E-14: block, 30 degrees, mu 0.3: acceleration, m/s^2",
                             slide(30.0 * DEGREE, 0.3, rbCreateBox(bookHalf, NULL), bookHalf.z),
                             2.356287236662396, 1e-2);
    rbValidation_AddRelative(validation, "sphere rolling, 30 degrees, mu 0.3: acceleration, m/s^2",
                             slide(30.0 * DEGREE, 0.3, rbCreateSphere(0.05, NULL), 0.05),
                             3.503571428571, 1e-2);
    // Near the friction angle the acceleration is a small difference: 1 % of g sin phi.
    double steep = rbAtan2(1.0, 2.0);
    double unit = 0.01 * GRAVITY * rbSin(steep);
    rbValidation_Add(validation, "block at tan phi = 0.5, mu 0.51: acceleration, m/s^2",
                     slide(steep, 0.51, rbCreateBox(bookHalf, NULL), bookHalf.z), 0.0, 0.01 * unit);
    rbValidation_Add(validation, "block at tan phi = 0.5, mu 0.49: acceleration, m/s^2",
                     slide(steep, 0.49, rbCreateBox(bookHalf, NULL), bookHalf.z),
                     GRAVITY * (rbSin(steep) - 0.49 * rbCos(steep)), unit);
}

// ------------------------------------------------------------------- E-16 and the bowling ball

static void runForce(rbValidation* validation)
{
    rbWorldDef def = rbEventWorldDef(GRAVITY);
    def.event.lasting = RB_LASTING_MICRO;
    rbWorld* world = rbMakeEventWorld(&def);
    (void)rbAddSlope(world, 0.0, 0.5, 0.3);
    rbBodyPlan plan = {.name = "ball",
                       .geometry = rbCreateSphere(0.05, NULL),
                       .position = {0.0, 0.0, 0.05},
                       .restitution = 0.5,
                       .friction = 0.3};
    rbBodyId body = rbAddPlanned(world, &plan);
    (void)rbWorld_AdvanceTo(world, 0.2);
    rbWorld_ClearEvents(world);
    rbStepReport report = rbWorld_AdvanceTo(world, 1.2);
    rbEventSum micro = rbSumEvents(world, RB_EVENT_MICROCOLLISION);
    rbEventSum impacts = rbSumEvents(world, RB_EVENT_IMPACT);
    double force = micro.impulse.z + impacts.impulse.z; // over one second
    rbValidation_Print(validation, "  E-16: %d microcollisions and %d impacts in 1 s\n",
                       micro.count, impacts.count);
    rbValidation_AddRelative(validation, "E-16: mean force of the impulses, N",
                             report.status == RB_STATUS_OK ? fabs(force) : NAN,
                             rbBody_GetMass(world, body).mass * GRAVITY, 1e-2);
    rbDestroyWorld(world);
}

// v0 = 7 m/s, mu = 0.2: rolls after 2 v0 / (7 mu g) s at 5 m/s.
static void runBowling(rbValidation* validation)
{
    static const double tolerances[] = {1e-5, 1e-6, 1e-7};
    const double rollTime = 1.019367991845;
    const double rollWay = 6.116207951070;
    const double radius = 0.1085;
    double before = INFINITY;
    int most = validation->isQuick ? 2 : 3;
    for (int i = 0; i < most; ++i) {
        rbWorldDef def = rbEventWorldDef(GRAVITY);
        def.event.tolerance = tolerances[i];
        def.event.isJournalOff = true;
        rbWorld* world = rbMakeEventWorld(&def);
        (void)rbAddSlope(world, 0.0, 0.0, 0.2);
        rbBodyPlan plan = {.name = "ball",
                           .geometry = rbCreateSphere(radius, NULL),
                           .position = {0.0, 0.0, radius},
                           .velocity = {7.0, 0.0, 0.0},
                           .friction = 0.2};
        rbBodyId ball = rbAddPlanned(world, &plan);
        clock_t start = clock();
        (void)rbWorld_AdvanceTo(world, 0.5);
        rbBodyState half = rbBody_GetState(world, ball);
        rbStepReport report = rbWorld_AdvanceTo(world, 1.2);
        rbBodyState state = rbBody_GetState(world, ball);
        double slip = half.linearVelocity.x - radius * half.angularVelocity.y;
        double time = 0.5 + slip / (3.5 * 0.2 * GRAVITY);
        double way = state.center.x - 5.0 * (1.2 - rollTime);
        rbEventStatistics s = rbWorld_GetEventStatistics(world);
        rbValidation_Print(validation,
                           "  bowling, tolerance %g m: %lld microcollisions, %.2f s: rolls at "
                           "%.9f s, %.9f m/s, after %.9f m; errors %.2g s, %.2g m/s, %.2g m\n",
                           tolerances[i], (long long)s.microcollisions,
                           (double)(clock() - start) / CLOCKS_PER_SEC, time, state.linearVelocity.x,
                           way, time - rollTime, state.linearVelocity.x - 5.0, way - rollWay);
        double worst = fmax(fabs(time - rollTime), fabs(way - rollWay));
        worst = fmax(worst, fabs(state.linearVelocity.x - 5.0));
        worst = report.status == RB_STATUS_OK ? worst : NAN;
        char text[96];
        (void)snprintf(text, sizeof text, "bowling, tolerance %g m: largest error, s, m/s, m",
                       tolerances[i]);
        rbValidation_AddBound(validation, text, worst, fmin(before, 1e-2));
        before = worst;
        rbDestroyWorld(world);
    }
}

static void run(rbValidation* validation)
{
    runRamp(validation);
    runWall(validation);
    runBook(validation);
    runStack(validation);
    runIncline(validation);
    runForce(validation);
    runBowling(validation);
}

const rbValidationCase rbCaseEventContact = {
    .name = "event-contact",
    .help = "lasting contact: ramp, wall, books, slopes, rolling (E-09, E-10, E-13 to E-16)",
    .source = "closed forms; Coulomb's law",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
