// The claims in the scene texts of the theme "contacts", with the settings of the scenes: nothing
// passes through anything, tolerances are met, and the numbers of the texts are reproduced.
#include "dynamics/contact/contact_solver.h"
#include "scene_run.h"

#include <dirent.h>
#include <math.h>

#define PI 3.14159265358979323846
#define GRAVITY 9.81

// All of them. The fast ones also run completely at the level "normal".
static const struct {
    const char* name;
    bool isQuick;
} scenes[] = {
    {"arch", false},
    {"card-house", true},
    {"conveyor", true},
    {"cradle-on-hinges", true},
    {"dominoes", false},
    {"funnel", false},
    {"gear-train", false},
    {"incline-of-ten", false},
    {"jenga", false},
    {"light-gates", true},
    {"linked-rings", false},
    {"marble-run", false},
    {"nut-on-a-bolt", false},
    {"pile-of-shapes", false},
    {"pyramid", false},
    {"ragdolls-on-stairs", false},
    {"rattleback-steps", true},
    {"tippe-top-steps", true},
    {"wrecking-ball", false},
};
#define SCENES (sizeof scenes / sizeof scenes[0])

static Run start(const char* name)
{
    return startRun("contacts", name);
}

// The same with a value of the scene changed.
static Run startWith(const char* name, const char* assignment)
{
    Run run = {.scene = readNamed(name)};
    rbError error = {0};
    assert_int_equal(rbScene_Override(run.scene, assignment, &error), RB_STATUS_OK);
    run.world = makeWorld(run.scene);
    return run;
}

// Ends a run: tolerances met, no overlap beyond them.
static void finish(Run* run)
{
    rbContactStatistics s = rbWorld_GetContactStatistics(run->world);
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    rbContactSettings aim = rbAimContactSettings(&info->contact);
    if (s.deepest > aim.tolerance || s.unmetSteps > 0) {
        print_error("%s: overlap %g m at %g s, %d steps not met\n", info->name, s.deepest,
                    s.deepestTime, (int)s.unmetSteps);
    }
    assert_int_equal(s.unmetSteps, 0);
    assert_int_equal(rbWorld_GetStepStatistics(run->world).unmetSteps, 0);
    checkBelow(s.deepest, aim.tolerance);
    checkBelow(s.gapErrorMax, aim.tolerance);
    checkBelow(s.speedErrorMax, aim.velocityTolerance);
    endRun(run);
}

static void everyContactSceneIsTested(void** state)
{
    (void)state;
    DIR* folder = opendir(RB_SOURCE_DIR "/scenes");
    assert_non_null(folder);
    size_t found = 0;
    for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char name[256];
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)(length - 5), entry->d_name);
        rbScene* scene = readNamed(name);
        const rbSceneInfo* info = rbScene_GetInfo(scene);
        if (strcmp(info->theme, "contacts") == 0) {
            bool isListed = false;
            for (size_t i = 0; i < SCENES; ++i) {
                isListed = isListed || strcmp(scenes[i].name, name) == 0;
            }
            if (!isListed) {
                fail_msg("%s is not listed here", name);
            }
            assert_true(strlen(info->shows) > 20 && strlen(info->why) > 20);
            assert_string_equal(info->name, name);
            found += 1;
        }
        rbDestroyScene(scene);
    }
    (void)closedir(folder);
    assert_int_equal(found, SCENES);
}

// Runs a scene for its whole duration. The energy minus the work put in never grows by more than a
// thousandth of the moving energy plus a lift by the shell.
static void runWhole(const char* name)
{
    Run run = start(name);
    const rbSceneInfo* info = rbScene_GetInfo(run.scene);
    rbLedger first = rbWorld_GetLedger(run.world);
    double least = first.energy;
    double moved = first.kineticLinear + first.kineticAngular;
    double lift = first.mass * GRAVITY * info->contact.shell;
    int frames = 20;
    for (int i = 1; i <= frames; ++i) {
        go(&run, info->duration * i / frames);
        rbLedger ledger = rbWorld_GetLedger(run.world);
        double own = ledger.energy - ledger.motorWork - ledger.work;
        moved = fmax(moved, ledger.kineticLinear + ledger.kineticAngular);
        if (own - least > 1e-3 * moved + lift) {
            print_error("%s: %g J more at %g s\n", name, own - least, rbWorld_GetTime(run.world));
        }
        checkBelow(own - least, 1e-3 * moved + lift);
        least = fmin(least, own);
    }
    finish(&run);
}

static void quickContactScenesKeepTheirTolerances(void** state)
{
    (void)state;
    for (size_t i = 0; i < SCENES; ++i) {
        if (scenes[i].isQuick) {
            runWhole(scenes[i].name);
        }
    }
}

static void longContactScenesKeepTheirTolerances(void** state)
{
    (void)state;
    for (size_t i = 0; i < SCENES; ++i) {
        if (!scenes[i].isQuick && rbTest_IsLong()) {
            runWhole(scenes[i].name);
        }
    }
}

// v^2 / 2a of the cubes that the scene probes.
static void cubesBrakeWhereTheyMust(void** state)
{
    (void)state;
    Run run = start("incline-of-ten");
    double angle = 15.0 * PI / 180.0;
    double speed = 5.0 * GRAVITY * sin(angle);
    go(&run, 5.2);
    static const struct {
        const char* column;
        double friction;
    } cubes[] = {{"cube1", 0.535}, {"cube4", 0.64}, {"cube7", 0.745}, {"cube10", 0.85}};
    for (int i = 0; i < 4; ++i) {
        char column[64];
        (void)snprintf(column, sizeof column, "%s.position.x", cubes[i].column);
        double brake = GRAVITY * (cubes[i].friction * cos(angle) - sin(angle));
        double way = (get(&run, column) - 0.50001 * sin(angle)) / cos(angle);
        checkNear(way, speed * speed / (2.0 * brake), 1e-5);
    }
    double before = get(&run, "cube1.position.x");
    go(&run, 5.5);
    checkNear(get(&run, "cube1.position.x"), before, 1e-9);
    finish(&run);
}

// Stands as it is; does not where friction is less than statics requires.
static void checkStands(const char* name, const char* column, double time, const char* slippery)
{
    Run run = start(name);
    double before = get(&run, column);
    go(&run, time);
    checkNear(get(&run, column), before, rbScene_GetInfo(run.scene)->contact.shell);
    finish(&run);
    Run other = startWith(name, slippery);
    (void)rbWorld_AdvanceTo(other.world, 0.3);
    assert_true(get(&other, column) < before - 0.001);
    endRun(&other);
}

static void archAndCardsStandByFriction(void** state)
{
    (void)state;
    checkStands("arch", "stone13.position.z", 0.5, "materials.stone.friction=0.3");
    checkStands("card-house", "top.z", 1.0, "materials.paper.friction=0.15");
}

static void pyramidStands(void** state)
{
    (void)state;
    Run run = start("pyramid");
    assert_int_equal(rbScene_GetInfo(run.scene)->dynamicCount, 210);
    double before = get(&run, "top.z");
    for (int i = 1; i <= 20; ++i) {
        go(&run, i / 60.0);
        checkBelow(fabs(get(&run, "top speed.z")), 1e-6);
    }
    checkNear(get(&run, "top.z"), before, 1e-7);
    finish(&run);
}

// The duration of a run: short, and complete at the levels "long" and "full".
static double getSeconds(const Run* run, double little)
{
    return rbTest_IsLong() ? rbScene_GetInfo(run->scene)->duration : little;
}

// The displacement per turn is the pitch of 30 mm; the thread has some play.
static void nutTurnsDownByItsThread(void** state)
{
    (void)state;
    Run run = start("nut-on-a-bolt");
    double above = get(&run, "nut.position.z");
    double fallen = get(&run, "falling.position.z");
    double rate = 0.0;
    double angle = 0.0;
    double step = 0.005;
    double end = getSeconds(&run, 0.25);
    for (int k = 1; k * step <= end + 1e-9; ++k) {
        go(&run, k * step);
        double now = get(&run, "nut.angularVelocity.z");
        angle += 0.5 * step * (now + rate);
        rate = now;
        if (k == 30) {
            double time = k * step;
            checkNear(fallen - get(&run, "falling.position.z"), 0.5 * GRAVITY * time * time, 1e-9);
        }
    }
    double way = above - get(&run, "nut.position.z");
    assert_true(way > 1e-3);
    checkNear(-way / angle * 2.0 * PI, 0.03, rbTest_IsLong() ? 0.0003 : 0.0015);
    // The left-handed one leans on the thread and stays.
    checkNear(get(&run, "left.position.z"), 0.2052, 5e-4);
    checkBelow(get(&run, "falling.position.z"), -0.0179);
    finish(&run);
}

// More friction than the slope of the thread.
static void nutHoldsByFriction(void** state)
{
    (void)state;
    Run run = startWith("nut-on-a-bolt", "materials.steel.friction=0.2");
    (void)rbWorld_AdvanceTo(run.world, 0.05);
    double settled = get(&run, "nut.position.z");
    (void)rbWorld_AdvanceTo(run.world, getSeconds(&run, 0.1));
    checkNear(get(&run, "nut.position.z"), settled, 1e-5);
    endRun(&run);
}

// Rings of 100 mm and 20 mm: neighbors can separate to 160 mm between their centers, no farther.
static void ringsHangAsAChain(void** state)
{
    (void)state;
    Run run = start("linked-rings");
    double end = getSeconds(&run, 0.2);
    for (int k = 1; k <= 10; ++k) {
        go(&run, 0.1 * k * end);
        rbVec3 last = RB_VEC3_ZERO;
        for (int i = 1; i <= 9; ++i) {
            char name[32];
            (void)snprintf(name, sizeof name, "ring%d", i);
            rbBodyId body = rbWorld_FindBody(run.world, name);
            rbVec3 center = rbBody_GetState(run.world, body).center;
            if (i > 1) {
                checkBelow(rbDistance(center, last), 0.16 + 1e-5);
                checkBelow(center.z, last.z - 0.15);
            }
            last = center;
        }
    }
    finish(&run);
}

static void marblesEndInTheTray(void** state)
{
    (void)state;
    Run run = start("marble-run");
    go(&run, 4.0);
    for (int i = 1; i <= 6; ++i) {
        char name[32];
        (void)snprintf(name, sizeof name, "marble%d", i);
        rbVec3 center = rbBody_GetState(run.world, rbWorld_FindBody(run.world, name)).center;
        checkNear(center.z, -0.39, 0.019); // on its floor or jumping slightly
        checkNear(center.x, 0.22, 0.19);
        checkNear(center.y, -0.2, 0.13);
    }
    finish(&run);
}

// The ratio of the teeth, -1/2 and 1, on average; the brake absorbs the work of the motor.
static void gearsRunByTheirTeeth(void** state)
{
    (void)state;
    Run run = start("gear-train");
    double end = getSeconds(&run, 0.6);
    go(&run, 0.25 * end);
    double first = get(&run, "axle1.angle");
    double last = get(&run, "axle3.angle");
    go(&run, end);
    // 4 % of a tooth are play
    checkNear(get(&run, "axle3.angle") - last, get(&run, "axle1.angle") - first, 0.03);
    checkNear(get(&run, "axle1.speed"), 3.0, 1e-6);
    checkNear(get(&run, "axle2.speed"), -1.5, 0.2);
    // what motor, brake and teeth do to each other is booked exactly, also where a motor catches up
    // after a step whose forces acted before an impact: 3e-2 J where shares do not cancel
    checkBelow(fabs(rbWorld_GetLedger(run.world).energyDrift), 1e-9);
    finish(&run);
}

// v / (mu g) until crates move along; 2/7 of the speed for a ball.
static void theBeltCarriesCratesAndRollsABall(void** state)
{
    (void)state;
    Run run = start("conveyor");
    go(&run, 0.25);
    checkNear(get(&run, "light.velocity.x"), 0.25 * 0.4 * GRAVITY, 1e-6);
    checkNear(get(&run, "heavy.velocity.x"), 0.25 * 0.4 * GRAVITY, 1e-6);
    go(&run, 0.257);
    checkNear(get(&run, "light.velocity.x"), 1.0, 1e-6);
    checkNear(get(&run, "heavy.velocity.x"), 1.0, 1e-6);
    go(&run, 1.5);
    checkNear(get(&run, "light.velocity.x"), 1.0, 1e-7);
    checkNear(get(&run, "ball.velocity.x"), 2.0 / 7.0, 1e-4);
    finish(&run);
}

// The gates see the block after s = a t^2 / 2, to a step.
static void gatesTimeTheBlock(void** state)
{
    (void)state;
    Run run = start("light-gates");
    double a = GRAVITY * (0.5 - 0.3 * sqrt(0.75));
    const double ways[2] = {0.2, 0.8};
    int found = 0;
    go(&run, 1.0);
    int count;
    const rbEvent* events = rbWorld_GetEvents(run.world, &count);
    for (int i = 0; i < count; ++i) {
        if (events[i].kind == RB_EVENT_SENSOR_BEGIN && found < 2) {
            checkNear(events[i].time, sqrt(2.0 * ways[found] / a) + 5e-4, 5.1e-4);
        }
        found += events[i].kind == RB_EVENT_SENSOR_BEGIN ? 1 : 0;
    }
    assert_int_equal(found, 2);
    finish(&run);
}

RB_TEST_GROUP(phys_contact_scenes, cmocka_unit_test(everyContactSceneIsTested),
              cmocka_unit_test(quickContactScenesKeepTheirTolerances),
              cmocka_unit_test(longContactScenesKeepTheirTolerances),
              cmocka_unit_test(cubesBrakeWhereTheyMust),
              cmocka_unit_test(archAndCardsStandByFriction), cmocka_unit_test(pyramidStands),
              cmocka_unit_test(nutTurnsDownByItsThread), cmocka_unit_test(nutHoldsByFriction),
              cmocka_unit_test(ringsHangAsAChain), cmocka_unit_test(marblesEndInTheTray),
              cmocka_unit_test(gearsRunByTheirTeeth),
              cmocka_unit_test(theBeltCarriesCratesAndRollsABall),
              cmocka_unit_test(gatesTimeTheBlock));
