// Scenes become worlds: values, defaults, masses, copies, probes, overrides, texts, attachments.
#include "base/core/float_mode.h"
#include "io/scene/scene_look.h"
#include "scene_support.h"

#include <fenv.h>
#include <math.h>

// Every scene of the repository has a description, creates a world and runs.
// B-85
static void everySceneRuns(void** state)
{
    (void)state;
    for (size_t i = 0; i < SCENE_COUNT; ++i) {
        rbScene* scene = readNamed(sceneNames[i]);
        const rbSceneInfo* info = rbScene_GetInfo(scene);
        assert_string_equal(info->name, sceneNames[i]);
        assert_true(strlen(info->title) > 10 && strlen(info->shows) > 40 && strlen(info->why) > 40);
        assert_true(strcmp(info->theme, "free flight") == 0 || strcmp(info->theme, "forces") == 0 ||
                    strcmp(info->theme, "paths") == 0 || strcmp(info->theme, "shapes") == 0);
        rbWorld* world = makeWorld(scene);
        assert_int_equal(rbWorld_GetBodyCount(world), info->bodyCount);
        rbStepReport report = rbWorld_AdvanceTo(world, 0.1);
        assert_int_equal(report.status, RB_STATUS_OK);
        double values[256];
        int count = rbScene_EvaluateProbes(scene, world, values, 256);
        assert_int_equal(count, info->columnCount);
        for (int k = 0; k < count; ++k) {
            assert_true(isfinite(values[k]));
        }
        rbDestroyWorld(world);
        rbDestroyScene(scene);
    }
}

// The published values of the tumbling box, through the scene and its probes.
static void tumblingBoxIsThePublishedOne(void** state)
{
    (void)state;
    rbScene* scene = readNamed("tumbling-box");
    rbWorld* world = makeWorld(scene);
    checkNear(getColumn(scene, world, "world.energy"), 360.0 + 0.5 * 17.0928333333333333, 1e-12);
    (void)rbWorld_AdvanceTo(world, 1.0);
    checkNear(getColumn(scene, world, "box.angularVelocityLocal.x"), 3.423798441555, 1e-11);
    checkNear(getColumn(scene, world, "box.angularVelocityLocal.y"), 2.819185438398, 1e-11);
    checkNear(getColumn(scene, world, "box.angularVelocityLocal.z"), 3.928384449467, 1e-11);
    checkNear(fabs(getColumn(scene, world, "box.orientation.w")), 0.713109996529, 1e-11);
    checkNear(getColumn(scene, world, "box.position.z"), 8.0 - 4.9, 1e-14);
    checkNear(getColumn(scene, world, "world.energyDrift"), 0.0, 1e-11);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

// The plate wobbles twice as fast as it spins: I3 = 2 I1 up to the thickness.
static void wobbleOfThePlateIsTwiceItsSpin(void** state)
{
    (void)state;
    rbScene* scene = readNamed("spinning-plate");
    rbWorld* world = makeWorld(scene);
    rbBodyId plate = rbWorld_FindBody(world, "plate");
    rbVec3 moments = rbBody_GetPrincipalMoments(world, plate, NULL);
    checkNear(moments.z / moments.x, 2.0, 2e-4);
    // The axis starts along z and returns after one turn about L, at the time 2 pi I1 / L.
    rbMassProperties mass = rbBody_GetMass(world, plate);
    rbVec3 w = rbBody_GetState(world, plate).angularVelocityLocal;
    double momentum = rbLength(rbMulSV(mass.inertia, w));
    double period = 2.0 * RB_PI * mass.inertia.xx / momentum;
    checkRelative(2.0 * RB_PI / period, 2.0 * w.z, 2e-3);
    rbVec3 axis = rbBody_GetDirectionAt(world, plate, rbMakeVec3(0.0, 0.0, 1.0), period);
    checkNear(axis.x, 0.0, 1e-12);
    checkNear(axis.y, 0.0, 1e-12);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void fallWithDragFollowsTheTextbook(void** state)
{
    (void)state;
    rbScene* scene = readNamed("falling-with-drag");
    rbWorld* world = makeWorld(scene);
    (void)rbWorld_AdvanceTo(world, 2.0);
    checkRelative(getColumn(scene, world, "linear.velocity.z"), -9.81 / 0.7 * (1.0 - exp(-1.4)),
                  1e-9);
    checkRelative(getColumn(scene, world, "quadratic.velocity.z"),
                  -sqrt(9.81 / 0.05) * tanh(2.0 * sqrt(9.81 * 0.05)), 1e-9);
    checkRelative(getColumn(scene, world, "free.velocity.z"), -19.62, 1e-15);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void handleFlipsInWeightlessness(void** state)
{
    (void)state;
    rbScene* scene = readNamed("intermediate-axis");
    rbWorld* world = makeWorld(scene);
    int flips = 0;
    double last = 8.0;
    for (int i = 1; i <= 3000; ++i) {
        (void)rbWorld_AdvanceTo(world, 0.01 * i);
        double now = getColumn(scene, world, "handle.angularVelocityLocal.y");
        if (fabs(now) > 7.0 && now * last < 0.0) {
            flips += 1;
            last = now;
        }
    }
    assert_true(flips >= 4);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void defaultsAreAsDocumented(void** state)
{
    (void)state;
    rbScene* scene = readText(BODY(BALL));
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    assert_string_equal(info->name, "test");
    assert_string_equal(info->title, "");
    assert_string_equal(info->engine, "step");
    assert_true(info->contact.isEnabled);
    checkNear(info->duration, 10.0, 0.0);
    checkNear(info->outputStep, 0.01, 0.0);
    checkNear(info->gravity.z, -9.81, 0.0);
    checkNear(info->motion.tolerance, 1e-12, 0.0);
    assert_int_equal(info->seed, 1);
    assert_true(info->hasDefaultProbes);
    assert_int_equal(info->columnCount, 3 + 4 + 3 + 1 + 3);
    assert_string_equal(rbScene_GetProbe(scene, 0)->name, "box.position");
    assert_string_equal(rbScene_GetProbeColumns(scene, NULL)[3].label, "box.orientation.w [1]");
    rbWorld* world = makeWorld(scene);
    rbMassProperties mass = rbBody_GetMass(world, rbWorld_FindBody(world, "box"));
    checkRelative(mass.mass, 1000.0 * 4.0 / 3.0 * RB_PI * 0.125, 1e-14);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

// Mass alone scales the density of all shapes, inertia included.
// L-06
static void givenMassScalesTheDensity(void** state)
{
    (void)state;
    const char* text =
        "{\"rattleback\": 1, \"materials\": {\"lead\": {\"density\": 11340}}, \"bodies\": ["
        "{\"name\": \"a\", \"mass\": 3, \"shapes\": ["
        "{\"geometry\": {\"type\": \"box\", \"size\": [1, 2, 3]}, \"material\": \"lead\", "
        "\"position\": [1, 0, 0]},"
        "{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.5}, \"position\": [-2, 0, 1]}]},"
        "{\"name\": \"b\", \"shapes\": ["
        "{\"geometry\": {\"type\": \"box\", \"size\": [1, 2, 3]}, \"material\": \"lead\", "
        "\"position\": [1, 0, 0]},"
        "{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.5}, \"position\": [-2, 0, 1]}]}]}";
    rbScene* scene = readText(text);
    rbWorld* world = makeWorld(scene);
    rbMassProperties a = rbBody_GetMass(world, rbWorld_FindBody(world, "a"));
    rbMassProperties b = rbBody_GetMass(world, rbWorld_FindBody(world, "b"));
    double boxMass = 6.0 * 11340.0;
    double ballMass = 1000.0 * 4.0 / 3.0 * RB_PI * 0.125;
    checkRelative(b.mass, boxMass + ballMass, 1e-14);
    checkRelative(b.center.x, (boxMass - 2.0 * ballMass) / b.mass, 1e-14);
    checkNear(a.mass, 3.0, 0.0);
    checkRelative(a.center.x, b.center.x, 1e-14);
    checkRelative(a.inertia.xx / a.mass, b.inertia.xx / b.mass, 1e-14);
    checkRelative(a.inertia.xz / a.mass, b.inertia.xz / b.mass, 1e-14);
    rbShapeDef shape = rbBody_GetShape(world, rbWorld_FindBody(world, "a"), 0);
    checkRelative(shape.material.density, 11340.0 * 3.0 / b.mass, 1e-14);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

// Explicit values are used unchanged.
// L-06
static void explicitInertiaIsTaken(void** state)
{
    (void)state;
    rbScene* scene = readText(BODY(", \"mass\": 2, \"center\": [1, 2, 3], "
                                   "\"inertia\": [3, 4, 5, 0.1, -0.2, 0.3]"));
    rbWorld* world = makeWorld(scene);
    rbMassProperties mass = rbBody_GetMass(world, rbWorld_FindBody(world, "box"));
    checkNear(mass.mass, 2.0, 0.0);
    checkNear(mass.center.y, 2.0, 0.0);
    checkNear(mass.inertia.zz, 5.0, 0.0);
    checkNear(mass.inertia.xz, -0.2, 0.0);
    checkNear(mass.inertia.yz, 0.3, 0.0);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void spinLocalIsInAxesOfTheBody(void** state)
{
    (void)state;
    // A quarter turn about z maps the body's x axis to the world's y axis.
    rbScene* scene = readText(BODY(BALL ", \"spinLocal\": [3, 0, 1], \"orientation\": "
                                        "{\"axis\": [0, 0, 2], \"angle\": 1.5707963267948966}"));
    rbWorld* world = makeWorld(scene);
    rbBodyState body = rbBody_GetState(world, rbWorld_FindBody(world, "box"));
    checkNear(body.angularVelocity.x, 0.0, 1e-15);
    checkNear(body.angularVelocity.y, 3.0, 1e-15);
    checkNear(body.angularVelocity.z, 1.0, 1e-15);
    checkNear(body.angularVelocityLocal.x, 3.0, 1e-15);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void gridOfCopiesIsInOrder(void** state)
{
    (void)state;
    rbScene* scene = readText(
        BODY(BALL ", \"position\": [1, 1, 1], \"repeat\": {\"count\": [4, 3, 2.0], \"spacing\": "
                  "[1, 10, 100]}"));
    assert_int_equal(rbScene_GetInfo(scene)->bodyCount, 24);
    rbWorld* world = makeWorld(scene);
    for (int i = 0; i < 24; ++i) {
        char name[32];
        (void)snprintf(name, sizeof name, "box[%d]", i);
        rbBodyId id = rbWorld_FindBody(world, name);
        assert_false(RB_IS_NULL(id));
        rbVec3 p = rbBody_GetState(world, id).transform.p;
        checkNear(p.x, 1.0 + i % 4, 0.0);
        int iy = i / 4 % 3;
        int iz = i / 12;
        checkNear(p.y, 1.0 + 10.0 * iy, 0.0);
        checkNear(p.z, 1.0 + 100.0 * iz, 0.0);
    }
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

#define SCATTER(seed, others)                                                              \
    "{\"rattleback\": 1, \"seed\": " seed ", \"bodies\": [" others "{\"name\": \"s\"" BALL \
    ", \"position\": [5, 0, 0], \"scatter\": {\"count\": 500, \"box\": "                   \
    "[2, 4, 6], \"speed\": 3, \"spin\": 7}}]}"

static void scatteredCopiesStayInTheirBoxAndFollowTheSeed(void** state)
{
    (void)state;
    const char* texts[] = {SCATTER("1", ""), SCATTER("1", "{\"name\": \"first\"" BALL "},"),
                           SCATTER("2", "")};
    double firsts[3] = {0};
    for (int t = 0; t < 3; ++t) {
        rbScene* scene = readText(texts[t]);
        rbWorld* world = makeWorld(scene);
        rbVec3 mean = RB_VEC3_ZERO;
        for (int i = 0; i < 500; ++i) {
            char name[32];
            (void)snprintf(name, sizeof name, "s[%d]", i);
            rbBodyState body = rbBody_GetState(world, rbWorld_FindBody(world, name));
            rbVec3 p = body.transform.p;
            assert_true(fabs(p.x - 5.0) <= 1.0 && fabs(p.y) <= 2.0 && fabs(p.z) <= 3.0);
            assert_true(rbLength(body.linearVelocity) <= 3.0);
            assert_true(rbLength(body.angularVelocity) <= 7.0 + 1e-12);
            mean = rbAddScaled(mean, 1.0 / 500.0, p);
            firsts[t] = i == 0 ? p.x : firsts[t];
        }
        // Four standard errors of a uniform distribution of width 6 are 0.31.
        checkNear(mean.x, 5.0, 0.11);
        checkNear(mean.z, 0.0, 0.31);
        rbDestroyWorld(world);
        rbDestroyScene(scene);
    }
    assert_true(firsts[0] == firsts[1]);
    assert_true(firsts[0] != firsts[2]);
}

static void forceOnGroupActsOnEveryCopy(void** state)
{
    (void)state;
    rbScene* scene = readText(
        "{\"rattleback\": 1, \"engine\": \"flight\", \"world\": {\"gravity\": [0, 0, 0]}, "
        "\"bodies\": [{\"name\": \"g\", "
        "\"mass\": 2" BALL ", \"repeat\": {\"count\": [3, 1, 1], \"spacing\": [2, 0, 0]}}, "
        "{\"name\": \"other\", \"mass\": 2" BALL "}], \"forces\": [{\"type\": \"constant\", "
        "\"body\": \"g\", \"force\": [4, 0, 0]}, {\"type\": \"constant\", \"body\": \"g[1]\", "
        "\"force\": [4, 0, 0]}]}");
    assert_int_equal(rbScene_GetInfo(scene)->forceCount, 4);
    rbWorld* world = makeWorld(scene);
    (void)rbWorld_AdvanceTo(world, 1.0);
    const char* names[] = {"g[0]", "g[1]", "g[2]", "other"};
    const double speeds[] = {2.0, 4.0, 2.0, 0.0};
    for (int i = 0; i < 4; ++i) {
        rbBodyId id = rbWorld_FindBody(world, names[i]);
        checkNear(rbBody_GetState(world, id).linearVelocity.x, speeds[i], 1e-14);
    }
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

// Each probe against the state and mass of the body.
static void probesMeasureWhatTheySay(void** state)
{
    (void)state;
    rbScene* scene = readText(
        "{\"rattleback\": 1, \"world\": {\"gravity\": [0, 0, -3]}, \"bodies\": [{\"name\": \"b\", "
        "\"mass\": 2, \"position\": [1, 2, 3], \"velocity\": [1, 0, 2], \"spin\": [0.5, 1, 2], "
        "\"shapes\": [{\"geometry\": {\"type\": \"box\", \"size\": [1, 2, 3]}, \"position\": "
        "[0.5, 0, 0]}]}], \"output\": {\"probes\": [{\"body\": \"b\", \"quantity\": \"center\"}, "
        "{\"body\": \"b\", \"quantity\": \"point\", \"point\": [0.5, 1, 0], \"name\": \"tip\"}, "
        "{\"body\": \"b\", \"quantity\": \"energy\"}, {\"body\": \"b\", \"quantity\": \"kinetic\"},"
        "{\"body\": \"b\", \"quantity\": \"momentum\"}, {\"body\": \"b\", \"quantity\": "
        "\"angularMomentum\"}, {\"quantity\": \"energy\"}, {\"quantity\": \"angularMomentum\"}, "
        "{\"quantity\": \"potential\"}]}}");
    rbWorld* world = makeWorld(scene);
    (void)rbWorld_AdvanceTo(world, 0.7);
    rbBodyId id = rbWorld_FindBody(world, "b");
    rbBodyState s = rbBody_GetState(world, id);
    rbMassProperties m = rbBody_GetMass(world, id);
    rbVec3 spinMomentum = rbRotate(s.transform.q, rbMulSV(m.inertia, s.angularVelocityLocal));
    double kinetic = 0.5 * 2.0 * rbLengthSquared(s.linearVelocity) +
                     0.5 * rbDot(s.angularVelocity, spinMomentum);
    rbVec3 about = rbAdd(spinMomentum, rbScale(2.0, rbCross(s.center, s.linearVelocity)));
    checkNear(getColumn(scene, world, "b.center.x"), s.center.x, 0.0);
    checkNear(getColumn(scene, world, "tip.y"),
              rbBody_GetPointAt(world, id, rbMakeVec3(0.5, 1.0, 0.0), 0.7).y, 1e-14);
    checkRelative(getColumn(scene, world, "b.kinetic"), kinetic, 1e-13);
    checkRelative(getColumn(scene, world, "b.energy"), kinetic + 2.0 * 3.0 * s.center.z, 1e-13);
    checkRelative(getColumn(scene, world, "world.energy"), kinetic + 6.0 * s.center.z, 1e-13);
    checkRelative(getColumn(scene, world, "world.potential"), 6.0 * s.center.z, 1e-13);
    checkRelative(getColumn(scene, world, "b.momentum.z"), 2.0 * s.linearVelocity.z, 1e-14);
    checkNear(getColumn(scene, world, "b.angularMomentum.y"), spinMomentum.y, 1e-13);
    checkNear(getColumn(scene, world, "world.angularMomentum.x"), about.x, 1e-12);
    // The probe of a removed body returns NaN, and a small array is not overrun.
    rbDestroyBody(world, id);
    double values[2] = {0.0, -7.0};
    assert_int_equal(rbScene_EvaluateProbes(scene, world, values, 1),
                     rbScene_GetInfo(scene)->columnCount);
    assert_true(isnan(values[0]) && values[1] == -7.0);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

// Three boxes 1 m apart at x = 4, 5, 6 that fall; then without the one in the middle.
static void statisticsAreOfAllCopies(void** state)
{
    (void)state;
    rbScene* scene = readText(
        "{\"rattleback\": 1, \"world\": {\"gravity\": [0, 0, -2]}, \"bodies\": [{\"name\": \"b\", "
        "\"mass\": 3, \"position\": [4, 0, 0], \"velocity\": [3, 0, 0], \"repeat\": {\"count\": "
        "[3,1,1], \"spacing\": [1,0,0]}, \"shapes\": [{\"geometry\": {\"type\": \"sphere\", "
        "\"radius\": 0.1}}]}], \"output\": {\"probes\": ["
        "{\"body\": \"b\", \"quantity\": \"center\", \"statistic\": \"mean\"}, "
        "{\"body\": \"b\", \"quantity\": \"center\", \"statistic\": \"min\"}, "
        "{\"body\": \"b\", \"quantity\": \"center\", \"statistic\": \"max\"}, "
        "{\"body\": \"b\", \"quantity\": \"center\", \"statistic\": \"deviation\"}, "
        "{\"body\": \"b\", \"quantity\": \"kinetic\", \"statistic\": \"sum\"}, "
        "{\"body\": \"b[2]\", \"quantity\": \"speed\", \"statistic\": \"max\"}, "
        "{\"body\": \"b\", \"quantity\": \"mass\", \"statistic\": \"sum\", \"name\": \"m\", "
        "\"within\": [[9, -1, -9], [11.5, 1, 9]]}, "
        "{\"body\": \"b\", \"quantity\": \"mass\", \"statistic\": \"number\", \"name\": \"n\", "
        "\"within\": [[10.5, -1, -9], [11.5, 1, 9]]}, "
        "{\"body\": \"b\", \"quantity\": \"velocity\", \"statistic\": \"mean\", \"name\": \"v\", "
        "\"within\": [[9, -1, -9], [10.5, 1, 9]]}, "
        "{\"body\": \"b[2]\", \"quantity\": \"speed\"}]}}");
    rbWorld* world = makeWorld(scene);
    (void)rbWorld_AdvanceTo(world, 2.0); // 6 m along x, velocity (3, 0, -4)
    checkNear(getColumn(scene, world, "b.center.mean.x"), 11.0, 1e-12);
    checkNear(getColumn(scene, world, "b.center.mean.z"), -4.0, 1e-12);
    checkNear(getColumn(scene, world, "b.center.min.x"), 10.0, 1e-12);
    checkNear(getColumn(scene, world, "b.center.max.x"), 12.0, 1e-12);
    checkNear(getColumn(scene, world, "b.center.deviation.x"), sqrt(2.0 / 3.0), 1e-12);
    checkNear(getColumn(scene, world, "b.center.deviation.y"), 0.0, 0.0);
    checkNear(getColumn(scene, world, "b.kinetic.sum"), 3.0 * 0.5 * 3.0 * 25.0, 1e-10);
    checkNear(getColumn(scene, world, "b[2].speed.max"), 5.0, 1e-12);
    checkNear(getColumn(scene, world, "b[2].speed"), 5.0, 1e-12);
    checkNear(getColumn(scene, world, "m"), 6.0, 1e-12); // b[0] and b[1]
    checkNear(getColumn(scene, world, "n"), 1.0, 0.0);   // b[1]
    checkNear(getColumn(scene, world, "v.z"), -4.0, 1e-12);
    rbDestroyBody(world, rbWorld_FindBody(world, "b[1]"));
    checkNear(getColumn(scene, world, "m"), 3.0, 1e-12);
    checkNear(getColumn(scene, world, "n"), 0.0, 0.0);
    checkNear(getColumn(scene, world, "b.center.deviation.x"), 1.0, 1e-12);
    checkNear(getColumn(scene, world, "b.kinetic.sum"), 75.0, 1e-10);
    rbDestroyBody(world, rbWorld_FindBody(world, "b[0]"));
    rbDestroyBody(world, rbWorld_FindBody(world, "b[2]"));
    assert_true(isnan(getColumn(scene, world, "b.center.mean.x")));
    assert_true(isnan(getColumn(scene, world, "v.z")));
    checkNear(getColumn(scene, world, "b.kinetic.sum"), 0.0, 0.0);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void overridesChangeOneValue(void** state)
{
    (void)state;
    rbScene* scene = readNamed("tumbling-box");
    rbError error = {0};
    static const char* const good[] = {
        "/world/gravity/2=-1.62",
        "bodies.box.spin=[0,1,0]",
        "/bodies/box/mass=2",
        "bodies.0.velocity.1=7",
        "motion.type=rk4",
        "motion.step=0.002",
        "title=The moon",
        "bodies.box.shapes.0.geometry.size=[1, 2, 3]",
        "output.probes=null",
        "duration=2.5",
        "bodies.box.spinLocal=null",
        "contact.enabled=false",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i) {
        rbStatus status = rbScene_Override(scene, good[i], &error);
        if (status != RB_STATUS_OK) {
            fail_msg("%s: %s", good[i], formatError(&error));
        }
    }
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    checkNear(info->gravity.z, -1.62, 0.0);
    checkNear(info->duration, 2.5, 0.0);
    assert_string_equal(info->title, "The moon");
    assert_int_equal(info->motion.type, RB_MOTION_RK4);
    checkNear(info->motion.step, 0.002, 0.0);
    assert_false(info->contact.isEnabled);
    assert_true(info->hasDefaultProbes);
    rbWorld* world = makeWorld(scene);
    rbBodyId id = rbWorld_FindBody(world, "box");
    checkNear(rbBody_GetState(world, id).linearVelocity.y, 7.0, 0.0);
    checkNear(rbBody_GetState(world, id).angularVelocity.y, 1.0, 0.0);
    checkRelative(rbBody_GetMass(world, id).inertia.xx, 2.0 * (4.0 + 9.0) / 12.0, 1e-14);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

// A refused override reports the reason and leaves the scene unchanged.
static void refusedOverridesLeaveTheScene(void** state)
{
    (void)state;
    static const char* const bad[][2] = {
        {"world.gravity", "no \"=\""},
        {"=3", "empty"},
        {"bodies.bax.mass=1", "neither an index"},
        {"bodies.7.mass=1", "0 to 0"},
        {"bodies.box.mass=-1", "positive mass"},
        {"world.gravty=[0,0,0]", "did you mean \"gravity\"?"},
        {"wrld.gravity=[0,0,0]", "did you mean \"world\"?"},
        {"bodies.box.spin=[0,1", "not JSON"},
        {"title.x=1", "inside the string"},
        {"bodies=null", "needs the key \"bodies\""},
        {"engine=steps", "did you mean \"step\"?"},
        {"a..b=1", "empty"},
        {"contact.restSped=1", "did you mean \"restSpeed\"?"},
        {"contcat.restSpeed=1", "did you mean \"contact\"?"},
        {"materials.new.density=1.5e3", "nothing there is named \"new\""},
    };
    rbScene* scene = readNamed("tumbling-box");
    char* before = strdup(rbScene_GetText(scene, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        rbError error = {0};
        assert_int_not_equal(rbScene_Override(scene, bad[i][0], &error), RB_STATUS_OK);
        if (strstr(formatError(&error), bad[i][1]) == NULL) {
            fail_msg("%s: %s", bad[i][0], formatError(&error));
        }
        assert_string_equal(rbScene_GetText(scene, NULL), before);
    }
    free(before);
    rbDestroyScene(scene);
}

// Materials and geometries have names, not keys: a typo would create one that nothing uses.
static void overridesDoNotMakeWhatNothingUses(void** state)
{
    (void)state;
    static const char* const bad[][2] = {
        {"materials.ruogh.friction=0.1", "did you mean \"rough\"?"},
        {"/materials/ruogh/friction=0.1", "did you mean \"rough\"?"},
        {"materials.ruogh={\"friction\": 0.1}", "did you mean \"rough\"?"},
        {"materials.ice=null", "nothing there is named \"ice\""},
        {"geometries.bal.radius=2", "did you mean \"ball\"?"},
    };
    rbScene* scene = readText("{\"rattleback\": 1, \"materials\": {\"rough\": {\"friction\": 1}}, "
                              "\"geometries\": {\"ball\": {\"type\": \"sphere\", \"radius\": 1}}, "
                              "\"bodies\": [{\"shapes\": [{\"geometry\": \"ball\", \"material\": "
                              "\"rough\"}]}]}");
    const char* name = NULL;
    rbError error = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        assert_int_equal(rbScene_Override(scene, bad[i][0], &error), RB_STATUS_NOT_FOUND);
        if (strstr(formatError(&error), bad[i][1]) == NULL) {
            fail_msg("%s: %s", bad[i][0], formatError(&error));
        }
    }
    checkNear(rbScene_GetMaterial(scene, 0, &name)->friction, 1.0, 0.0);
    assert_int_equal(rbScene_Override(scene, "materials.rough.friction=0.1", &error), RB_STATUS_OK);
    checkNear(rbScene_GetMaterial(scene, 0, &name)->friction, 0.1, 0.0);
    rbDestroyScene(scene);
}

// Returns the attachments of a scene.
static const void* supplyAttachment(const char* name, size_t* size, void* context)
{
    const rbScene* scene = context;
    for (int i = 0; i < rbScene_GetInfo(scene)->attachmentCount; ++i) {
        const char* own = NULL;
        const void* bytes = NULL;
        rbScene_GetAttachment(scene, i, &own, &bytes, size);
        if (strcmp(own, name) == 0) {
            return bytes;
        }
    }
    return NULL;
}

// The content of a recording recreates the same world, bit by bit, without the disk.
static void textAndAttachmentsGiveTheSameBits(void** state)
{
    (void)state;
    for (size_t i = 0; i < SCENE_COUNT; ++i) {
        rbScene* scene = readNamed(sceneNames[i]);
        size_t size = 0;
        const char* text = rbScene_GetText(scene, &size);
        rbSceneSource source = {
            .name = "recorded", .folder = "/nowhere", .fileFn = supplyAttachment, .context = scene};
        rbScene* again = rbReadSceneText(text, size, &source, NULL);
        assert_non_null(again);
        assert_string_equal(rbScene_GetText(again, NULL), text);
        rbWorld* worldA = makeWorld(scene);
        rbWorld* worldB = makeWorld(again);
        (void)rbWorld_AdvanceTo(worldA, 0.3);
        (void)rbWorld_AdvanceTo(worldB, 0.3);
        assert_true(rbWorld_GetHash(worldA) == rbWorld_GetHash(worldB));
        rbDestroyWorld(worldA);
        rbDestroyWorld(worldB);
        rbDestroyScene(again);
        rbDestroyScene(scene);
    }
}

static void nothingLeaks(void** state)
{
    (void)state;
    uint64_t before = rbGetAllocatedBytes();
    rbScene* scene = readNamed("shapes");
    assert_int_equal(rbScene_GetInfo(scene)->attachmentCount, 2);
    rbWorld* world = makeWorld(scene);
    assert_int_equal(rbScene_Override(scene, "bodies.box.position=[0,0,9]", NULL), RB_STATUS_OK);
    rbDestroyScene(scene);
    rbDestroyWorld(world);
    rbDestroyScene(readNamed("kinematic-carousel"));
    assert_int_equal(rbGetAllocatedBytes(), before);
}

// Two visuals: what one does not give is the look of its body.
static void checkVisuals(const rbScene* scene)
{
    rbLook look = rbScene_GetLook(scene, "b[1]");
    assert_int_equal(look.texture, RB_TEXTURE_CHECKER);
    checkNear(look.textureSize, 0.5, 0.0);
    assert_string_equal(look.textureColor, "#000000");
    assert_string_equal(rbScene_GetViewGroup(scene, "b[1]"), "load");
    rbVisual first = rbScene_GetVisual(scene, "b[1]", 0);
    rbVisual second = rbScene_GetVisual(scene, "b[1]", 1);
    assert_int_equal(rbGeometry_GetType(first.geometry), RB_SHAPE_BOX);
    assert_int_equal(rbGeometry_GetType(second.geometry), RB_SHAPE_SPHERE);
    assert_string_equal(first.look.color, "#D1495b");
    checkNear(first.look.opacity, 1.0, 0.0);
    assert_int_equal(first.look.texture, RB_TEXTURE_CHECKER);
    checkNear(second.look.opacity, 0.25, 0.0);
    assert_int_equal(second.look.texture, RB_TEXTURE_STRIPES);
    checkNear(second.look.textureSize, 0.1, 0.0);
    assert_string_equal(second.look.textureColor, "");
    checkNear(second.transform.p.y, 2.0, 0.0);
}

// Looks belong to the scene: copies share them, and the world is the same without them.
static void looksDoNotChangeTheWorld(void** state)
{
    (void)state;
    static const char format[] =
        "{\"rattleback\": 1, \"bodies\": [{\"name\": \"b\", %s \"repeat\": "
        "{\"count\": [2, 1, 1], \"spacing\": [1, 0, 0]}, \"shapes\": "
        "[{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}}]}]}";
    static const char* const looks[] = {
        "",
        "\"color\": \"#D1495b\", \"opacity\": 0.25, \"roughness\": 1, \"viewGroup\": \"load\", "
        "\"texture\": {\"type\": \"checker\", \"size\": 0.5, \"color\": \"#000000\"}, "
        "\"visuals\": [{\"geometry\": {\"type\": \"box\", \"size\": [9, 9, 9]}, \"opacity\": 1}, "
        "{\"geometry\": {\"type\": \"sphere\", \"radius\": 2}, \"position\": [1, 2, 3], "
        "\"texture\": {\"type\": \"stripes\"}}],"};
    uint64_t hashes[2];
    for (int i = 0; i < 2; ++i) {
        char text[1024];
        rbError error = {0};
        (void)snprintf(text, sizeof text, format, looks[i]);
        rbScene* scene = rbReadSceneText(text, strlen(text), NULL, &error);
        assert_non_null(scene);
        rbLook look = rbScene_GetLook(scene, "b[1]");
        assert_string_equal(look.color, i == 0 ? "" : "#D1495b");
        assert_int_equal(look.hasOpacity, i);
        checkNear(look.opacity, 0.25 * i, 0.0);
        checkNear(look.roughness, 1.0 * i, 0.0);
        assert_string_equal(rbScene_GetLook(scene, "none").color, "");
        assert_int_equal(rbScene_GetVisualCount(scene, "b[1]"), 2 * i);
        assert_int_equal(rbScene_GetVisualCount(scene, "none"), 0);
        assert_null(rbScene_GetViewGroup(scene, "none"));
        if (i == 1) {
            checkVisuals(scene);
        }
        rbWorld* world = makeWorld(scene);
        (void)rbWorld_AdvanceTo(world, 0.1);
        hashes[i] = rbWorld_GetHash(world);
        rbDestroyWorld(world);
        rbDestroyScene(scene);
    }
    assert_true(hashes[0] == hashes[1]);
}

// Numbers of a file are rounded when they are read, and computed with: not in the mode that a
// library built with fast-math or a program has set.
static void modesOfTheThreadDoNotChangeScenes(void** state)
{
    (void)state;
    static const char text[] =
        "{\"rattleback\": 1, \"engine\": \"step\", \"world\": {\"gravity\": [0.1, 0, -9.81]},\n"
        " \"output\": {\"probes\": [{\"quantity\": \"kinetic\"}]},\n"
        " \"materials\": {\"m\": {\"density\": 123.4}},\n"
        " \"bodies\": [{\"name\": \"a\", \"position\": [0.1, 0.2, 0.7],\n"
        "   \"spin\": [0.3, 1.1, 0.7], \"orientation\": {\"axis\": [1, 2, 3], \"angle\": 0.3},\n"
        "   \"shapes\": [{\"material\": \"m\", \"geometry\":\n"
        "     {\"type\": \"ellipsoid\", \"semiAxes\": [0.1, 0.2, 0.7]}}]}],\n"
        " \"joints\": [{\"type\": \"hinge\", \"bodies\": [\"world\", \"a\"],\n"
        "   \"anchor\": [0.3, 0.1, 0.9], \"axis\": [0.1, 0.7, 0.3]}]}";
    static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    uint64_t expected = 0;
    double energy = 0.0;
    for (int i = 0; i < 5; ++i) { // the standard mode, three roundings, all bits at once
        bool isSet = i == 0   ? true
                     : i == 4 ? rbFloatMode_Set(RB_FLOAT_MODE_BITS) == 0
                              : fesetround(roundings[i - 1]) == 0;
        rbError error = {0};
        rbScene* scene = rbReadSceneText(text, sizeof text - 1, NULL, &error);
        rbWorld* world = scene != NULL ? rbScene_CreateWorld(scene, &error) : NULL;
        rbStatus status = world != NULL ? rbScene_PrepareWorld(scene, world, &error) : error.status;
        double value = 0.0;
        (void)(world != NULL ? rbScene_EvaluateProbes(scene, world, &value, 1) : 0);
        uint64_t after = rbFloatMode_Set(0);
        assert_int_equal(fesetround(FE_TONEAREST), 0);
        assert_string_equal(error.message, "");
        assert_int_equal(status, RB_STATUS_OK);
        assert_true(isSet && (RB_FLOAT_MODE_BITS == 0 || (after != 0) == (i > 0)));
        expected = i == 0 ? rbWorld_GetHash(world) : expected;
        energy = i == 0 ? value : energy;
        assert_true(rbWorld_GetHash(world) == expected);
        assert_true(value == energy && value > 0.0);
        rbDestroyWorld(world);
        rbDestroyScene(scene);
    }
}

RB_TEST_GROUP(test_scene_read, cmocka_unit_test(modesOfTheThreadDoNotChangeScenes),
              cmocka_unit_test(looksDoNotChangeTheWorld), cmocka_unit_test(everySceneRuns),
              cmocka_unit_test(tumblingBoxIsThePublishedOne),
              cmocka_unit_test(wobbleOfThePlateIsTwiceItsSpin),
              cmocka_unit_test(fallWithDragFollowsTheTextbook),
              cmocka_unit_test(handleFlipsInWeightlessness),
              cmocka_unit_test(defaultsAreAsDocumented),
              cmocka_unit_test(givenMassScalesTheDensity), cmocka_unit_test(explicitInertiaIsTaken),
              cmocka_unit_test(spinLocalIsInAxesOfTheBody), cmocka_unit_test(gridOfCopiesIsInOrder),
              cmocka_unit_test(scatteredCopiesStayInTheirBoxAndFollowTheSeed),
              cmocka_unit_test(forceOnGroupActsOnEveryCopy),
              cmocka_unit_test(probesMeasureWhatTheySay),
              cmocka_unit_test(statisticsAreOfAllCopies), cmocka_unit_test(overridesChangeOneValue),
              cmocka_unit_test(refusedOverridesLeaveTheScene),
              cmocka_unit_test(overridesDoNotMakeWhatNothingUses),
              cmocka_unit_test(textAndAttachmentsGiveTheSameBits), cmocka_unit_test(nothingLeaks));
