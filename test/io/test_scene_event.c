// Scenes of the event engine: its settings, pairs of materials, growth, probes and tessellations.
#include "scene_support.h"

#include <rattleback/lab_ray_detector.h>

#include <math.h>

#define SCENE(keys) "{\"rattleback\": 1, " keys ", \"bodies\": []}"

// ------------------------------------------------------------------------------------- settings

static void settingsOfTheEventEngineAreRead(void** state)
{
    (void)state;
    rbScene* scene = readText(
        SCENE("\"engine\": \"event\", \"event\": {\"law\": \"poisson\", \"order\": "
              "\"simultaneous\", \"lasting\": \"microcollisions\", \"loop\": \"pairs\", "
              "\"broadPhase\": \"coherent-hash\", \"combineRestitution\": \"min\", "
              "\"combineFriction\": \"mean\", \"tolerance\": 1e-6, \"restTime\": 0.25, "
              "\"contactTime\": 1e-8, \"eventsPerSecond\": 1e6, \"overlap\": \"separate\"}"));
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    const rbEventSettings* event = &info->event;
    assert_string_equal(info->engine, "event");
    assert_int_equal(info->engineType, RB_ENGINE_EVENT);
    assert_int_equal(event->law, RB_IMPACT_POISSON);
    assert_int_equal(event->order, RB_ORDER_SIMULTANEOUS);
    assert_int_equal(event->lasting, RB_LASTING_MICRO);
    assert_int_equal(event->loop, rbEventLoop_Find("pairs"));
    assert_int_equal(event->broadPhase, rbBroadPhaseType_Find("coherent-hash"));
    assert_int_equal(event->combineRestitution, RB_COMBINE_MIN);
    assert_int_equal(event->combineFriction, RB_COMBINE_MEAN);
    checkNear(event->tolerance, 1e-6, 0.0);
    checkNear(event->restTime, 0.25, 0.0);
    checkNear(event->contactTime, 1e-8, 0.0);
    checkNear(event->eventsPerSecond, 1e6, 0.0);
    assert_true(event->isOverlapAllowed);
    rbDestroyScene(scene);
}

static void settingsOfRaysAreRead(void** state)
{
    (void)state;
    rbScene* scene = readText(
        SCENE("\"engine\": \"event\", \"detector\": \"rays\", \"rays\": {\"pattern\": "
              "\"lattice\", \"count\": 7, \"perTriangle\": true, \"edges\": 3, \"oneWay\": "
              "true, \"refineRounds\": 2, \"refineCount\": 9, \"raysMax\": 77, \"tolerance\": "
              "1e-4, \"seed\": 12}"));
    const rbEventSettings* event = &rbScene_GetInfo(scene)->event;
    assert_int_equal(event->detector, rbDetector_Find("rays"));
    rbRaySettings rays = rbEventSettings_GetRays(event);
    assert_int_equal(rays.pattern, RB_RAYS_LATTICE);
    assert_int_equal(rays.count, 7);
    assert_true(rays.isPerTriangle);
    assert_int_equal(rays.edgeCount, 3);
    assert_true(rays.isOneWay);
    assert_int_equal(rays.refineRounds, 2);
    assert_int_equal(rays.refineCount, 9);
    assert_int_equal(rays.raysMax, 77);
    checkNear(rays.tolerance, 1e-4, 0.0);
    assert_true(rays.seed == 12);
    rbDestroyScene(scene);
    scene = readText(SCENE("\"engine\": \"event\""));
    assert_int_equal(rbScene_GetInfo(scene)->event.detector, RB_DETECTOR_EXACT);
    assert_int_equal(rbEventSettings_GetRays(&rbScene_GetInfo(scene)->event).count,
                     rbDefaultRaySettings().count);
    rbDestroyScene(scene);
}

static void badSettingsOfRaysAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {SCENE("\"detector\": \"rayz\""), RB_STATUS_INVALID, "did you mean \"rays\"?"},
        {SCENE("\"rays\": {\"count\": -1}"), RB_STATUS_INVALID, "count is -1"},
        {SCENE("\"rays\": {\"count\": 10000001}"), RB_STATUS_INVALID,
         "count is 10000001; expected a number >= 0 and <= 10000000"},
        {SCENE("\"rays\": {\"chordSamples\": 3}"), RB_STATUS_INVALID, "set the angle"},
        {SCENE("\"rays\": {\"pattern\": \"spiral\"}"), RB_STATUS_INVALID,
         "unknown pattern of rays \"spiral\""},
        {SCENE("\"rays\": {\"tolerance\": 0}"), RB_STATUS_INVALID, "tolerance is 0 m"},
        {SCENE("\"rays\": {\"cuont\": 3}"), RB_STATUS_INVALID, "did you mean \"count\"?"},
    };
    CHECK_CASES(cases);
}

// Omitted values are the defaults of a world, and a scene with another engine may have the settings
// too.
static void settingsLeftOutAreThoseOfTheWorld(void** state)
{
    (void)state;
    static const char* const texts[] = {SCENE("\"engine\": \"event\""), SCENE("\"event\": {}"),
                                        SCENE("\"event\": {\"overlap\": \"refuse\"}")};
    rbEventSettings own = rbDefaultWorldDef().event;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        rbScene* scene = readText(texts[i]);
        const rbEventSettings* event = &rbScene_GetInfo(scene)->event;
        assert_int_equal(rbScene_GetInfo(scene)->engineType,
                         i == 0 ? RB_ENGINE_EVENT : RB_ENGINE_STEP);
        assert_int_equal(event->law, own.law);
        assert_int_equal(event->order, own.order);
        assert_int_equal(event->lasting, own.lasting);
        assert_int_equal(event->loop, own.loop);
        assert_int_equal(event->broadPhase, own.broadPhase);
        assert_int_equal(event->combineRestitution, own.combineRestitution);
        assert_int_equal(event->combineFriction, own.combineFriction);
        checkNear(event->tolerance, own.tolerance, 0.0);
        checkNear(event->restTime, own.restTime, 0.0);
        checkNear(event->contactTime, own.contactTime, 0.0);
        checkNear(event->eventsPerSecond, own.eventsPerSecond, 0.0);
        assert_false(event->isOverlapAllowed);
        rbDestroyScene(scene);
    }
}

static void settingsCanBeOverridden(void** state)
{
    (void)state;
    rbScene* scene = readText(SCENE("\"engine\": \"flight\""));
    rbError error = {0};
    assert_int_equal(rbScene_Override(scene, "engine=event", &error), RB_STATUS_OK);
    assert_int_equal(rbScene_Override(scene, "event.law=newton", &error), RB_STATUS_OK);
    assert_int_equal(rbScene_GetInfo(scene)->engineType, RB_ENGINE_EVENT);
    assert_int_equal(rbScene_GetInfo(scene)->event.law, RB_IMPACT_NEWTON);
    assert_int_equal(rbScene_Override(scene, "event.law=hertz", &error), RB_STATUS_INVALID);
    assert_int_equal(rbScene_GetInfo(scene)->event.law, RB_IMPACT_NEWTON);
    rbDestroyScene(scene);
}

static void badSettingsAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {SCENE("\"event\": 1"), RB_STATUS_INVALID, "/event: found the number 1"},
        {SCENE("\"event\": {\"lew\": \"newton\"}"), RB_STATUS_INVALID,
         "/event/lew: unknown key \"lew\" in \"event\"; did you mean \"law\"?"},
        {SCENE("\"event\": {\"law\": \"newtons\"}"), RB_STATUS_INVALID,
         "/event/law: unknown law of impact \"newtons\"; did you mean \"newton\"?"},
        {SCENE("\"event\": {\"law\": \"hertz\"}"), RB_STATUS_INVALID,
         "unknown law of impact \"hertz\"; expected newton, poisson or stronge"},
        {SCENE("\"event\": {\"law\": 1}"), RB_STATUS_INVALID, "expected a string"},
        {SCENE("\"event\": {\"order\": \"sequentail\"}"), RB_STATUS_INVALID,
         "did you mean \"sequential\"?"},
        {SCENE("\"event\": {\"lasting\": \"zzzzz\"}"), RB_STATUS_INVALID,
         "/event/lasting: unknown treatment of lasting contact \"zzzzz\"; expected rest, "
         "microcollisions or none"},
        {SCENE("\"event\": {\"loop\": \"pears\"}"), RB_STATUS_INVALID, "did you mean \"pairs\"?"},
        {SCENE("\"event\": {\"broadPhase\": \"sweep-3d\"}"), RB_STATUS_INVALID,
         "/event/broadPhase: unknown broad phase \"sweep-3d\"; did you mean \"sweep-"},
        {SCENE("\"event\": {\"combineFriction\": \"maximum\"}"), RB_STATUS_INVALID,
         "/event/combineFriction: unknown rule of combination \"maximum\""},
        {SCENE("\"event\": {\"overlap\": \"allow\"}"), RB_STATUS_INVALID,
         "unknown treatment of overlaps \"allow\"; expected refuse or separate"},
        {SCENE("\"event\": {\"tolerance\": -1}"), RB_STATUS_INVALID,
         "/event/tolerance: tolerance is -1 m; expected a number >= 0"},
        {SCENE("\"event\": {\"restTime\": 0}"), RB_STATUS_INVALID, "restTime is 0 s"},
        {SCENE("\"event\": {\"contactTime\": -1e-9}"), RB_STATUS_INVALID, "contactTime is -1e-09"},
        {SCENE("\"event\": {\"eventsPerSecond\": -5}"), RB_STATUS_INVALID,
         "eventsPerSecond is -5 1/s"},
    };
    CHECK_CASES(cases);
}

// --------------------------------------------------------------------------- pairs of materials

#define MATERIALS "\"materials\": {\"steel\": {}, \"ice\": {\"friction\": 0.01}, \"felt\": {}}"
#define PAIRS(text) SCENE(MATERIALS ", \"materialPairs\": [" text "]")
#define PAIR(a, b, rest) \
    "{\"materials\": [\"" a "\", \"" b "\"], \"restitution\": 0.3, \"friction\": 0.02" rest "}"

// Materials of pairs get kinds in the order in which pairs name them; all others share kind 0.
static void materialsOfPairsGetTheirKinds(void** state)
{
    (void)state;
    rbScene* scene = readText(
        "{\"rattleback\": 1, " MATERIALS
        ", \"materialPairs\": [" PAIR("steel", "ice", "") ", " PAIR(
            "ice", "ice",
            ", \"law\": \"newton\"") "], \"bodies\": [{\"name\": \"all\", "
                                     "\"shapes\": ["
                                     "{\"geometry\": {\"type\": \"sphere\", \"radius\": 1}, "
                                     "\"material\": \"steel\"},"
                                     "{\"geometry\": {\"type\": \"sphere\", \"radius\": 1}, "
                                     "\"material\": \"ice\"},"
                                     "{\"geometry\": {\"type\": \"sphere\", \"radius\": 1}, "
                                     "\"material\": \"felt\"},"
                                     "{\"geometry\": {\"type\": \"sphere\", \"radius\": 1}, "
                                     "\"material\": {\"density\": 2}},"
                                     "{\"geometry\": {\"type\": \"sphere\", \"radius\": 1}}]}]}");
    assert_int_equal(rbScene_GetInfo(scene)->materialPairCount, 2);
    rbWorld* world = makeWorld(scene);
    rbBodyId body = rbWorld_FindBody(world, "all");
    static const int kinds[] = {1, 2, 0, 0, 0};
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(rbBody_GetShape(world, body, i).material.kind, kinds[i]);
    }
    checkNear(rbBody_GetShape(world, body, 1).material.friction, 0.01, 0.0);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void badPairsAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {PAIRS("{\"materials\": [\"steel\", \"ice\"], \"restitution\": 1.5, \"friction\": 0}"),
         RB_STATUS_INVALID,
         "/materialPairs/0/restitution: material pair \"steel, ice\": restitution is 1.5; expected "
         "a number >= 0 and <= 1"},
        {PAIRS("{\"materials\": [\"steel\", \"ice\"], \"restitution\": -0.1, \"friction\": 0}"),
         RB_STATUS_INVALID, "restitution is -0.1; expected a number >= 0"},
        {PAIRS("{\"materials\": [\"steel\", \"ice\"], \"restitution\": 1, \"friction\": -1}"),
         RB_STATUS_INVALID,
         "/materialPairs/0/friction: material pair \"steel, ice\": friction is -1; expected"},
        {PAIRS("{\"materials\": [\"steel\", \"ice\"], \"restitution\": 1}"), RB_STATUS_INVALID,
         "a pair of materials needs the key \"friction\""},
        {PAIRS("{\"restitution\": 1, \"friction\": 1}"), RB_STATUS_INVALID,
         "needs the key \"materials\""},
        {PAIRS(PAIR("steel", "icy", "")), RB_STATUS_NOT_FOUND,
         "/materialPairs/0/materials/1: material pair \"steel, icy\": there is no material \"icy\" "
         "in \"materials\"; did you mean \"ice\"?"},
        {PAIRS(PAIR("steel", "ice", ", \"law\": \"strong\"")), RB_STATUS_INVALID,
         "/materialPairs/0/law: material pair \"steel, ice\": unknown law of impact \"strong\"; "
         "did "
         "you mean \"stronge\"?"},
        {PAIRS("{\"materials\": [\"steel\"], \"restitution\": 1, \"friction\": 1}"),
         RB_STATUS_INVALID, "found an array of 1 element; expected two material names"},
        {PAIRS("{\"materials\": [\"steel\", 1], \"restitution\": 1, \"friction\": 1}"),
         RB_STATUS_INVALID, "expected two material names"},
        {PAIRS("{\"materials\": \"steel\", \"restitution\": 1, \"friction\": 1}"),
         RB_STATUS_INVALID, "found the string \"steel\"; expected two material names"},
        {PAIRS("7"), RB_STATUS_INVALID, "/materialPairs/0: found the number 7"},
        {PAIRS(PAIR("steel", "ice", "") ", " PAIR("ice", "steel", "")), RB_STATUS_INVALID,
         "/materialPairs/1: material pair \"ice, steel\": the pair is already given by "
         "/materialPairs/0"},
        {SCENE("\"materialPairs\": {}"), RB_STATUS_INVALID, "expected an array"},
        {SCENE("\"materialPairs\": [" PAIR("a", "b", "") "]"), RB_STATUS_NOT_FOUND,
         "there is no material \"a\""},
        {SCENE("\"materials\": {\"a\": {\"kind\": 1}}"), RB_STATUS_INVALID, "unknown key \"kind\""},
    };
    CHECK_CASES(cases);
}

// At most 63 materials can be in pairs; one more is refused by name.
static void tooManyMaterialsInPairsAreRefused(void** state)
{
    (void)state;
    for (int count = 63; count <= 64; ++count) {
        static char text[20000];
        size_t used = (size_t)snprintf(text, sizeof text, "{\"rattleback\": 1, \"materials\": {");
        for (int i = 0; i < count; ++i) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s\"m%02d\": {}",
                                     i > 0 ? ", " : "", i);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "}, \"materialPairs\": [");
        for (int i = 0; i < count; ++i) {
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "%s{\"materials\": [\"m%02d\", \"m%02d\"], \"restitution\": "
                                     "1, \"friction\": 0}",
                                     i > 0 ? ", " : "", i, i);
        }
        (void)snprintf(text + used, sizeof text - used, "], \"bodies\": []}");
        rbError error = {0};
        rbScene* scene = rbReadSceneText(text, strlen(text), NULL, &error);
        if (count == 63) {
            assert_non_null(scene);
            assert_int_equal(rbScene_GetInfo(scene)->materialPairCount, 63);
        } else {
            assert_null(scene);
            assert_int_equal(error.status, RB_STATUS_LIMIT);
            assert_non_null(
                strstr(error.message, "\"m63\" is number 64 in pairs; the limit is 63"));
        }
        rbDestroyScene(scene);
    }
}

// ------------------------------------------------------------------------------ growth, probes

static void growthBelongsToTheEventEngine(void** state)
{
    (void)state;
    rbDestroyScene(readText("{\"rattleback\": 1, \"engine\": \"event\", \"bodies\": [{\"name\": "
                            "\"box\", \"growth\": 0.01" BALL "}]}"));
    rbDestroyScene(readText(BODY(BALL ", \"growth\": 0")));
    static const Case cases[] = {
        {BODY(BALL ", \"growth\": 0.01"), RB_STATUS_INVALID,
         "/bodies/0/growth: body \"box\": bodies grow only with the engine \"event\""},
        {BODY(BALL ", \"growth\": -0.01"), RB_STATUS_INVALID, "growth is -0.01 m/s"},
        {BODY(BALL ", \"growth\": \"fast\""), RB_STATUS_INVALID, "expected a number"},
    };
    CHECK_CASES(cases);
}

static void probesOfTheEventEngineAreMeasured(void** state)
{
    (void)state;
    rbScene* scene = readText(
        "{\"rattleback\": 1, \"bodies\": [{\"name\": \"box\"" BALL "}], \"output\": {\"probes\": ["
        "{\"quantity\": \"impactWork\"}, {\"quantity\": \"frictionWork\"}, "
        "{\"quantity\": \"microWork\"}, {\"quantity\": \"restWork\"}, {\"quantity\": \"impacts\"}, "
        "{\"quantity\": \"microcollisions\"}, {\"quantity\": \"measurements\"}, "
        "{\"quantity\": \"pairs\"}, {\"quantity\": \"resting\"}, {\"quantity\": \"virial\"}, "
        "{\"body\": \"box\", \"quantity\": \"resting\"}]}}");
    int count = 0;
    const rbProbeColumn* columns = rbScene_GetProbeColumns(scene, &count);
    assert_int_equal(count, 11);
    assert_string_equal(columns[0].label, "world.impactWork [J]");
    assert_string_equal(columns[4].label, "world.impacts [1]");
    assert_string_equal(columns[10].name, "box.resting");
    rbWorld* world = makeWorld(scene);
    for (int i = 0; i < count; ++i) {
        checkNear(getColumn(scene, world, columns[i].name), 0.0, 0.0);
    }
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

// -------------------------------------------------------------------------------- tessellations

#define SOLID(keys)                                                                       \
    "{\"rattleback\": 1, \"geometries\": {\"a\": {" keys "}}, \"bodies\": [{\"shapes\": " \
    "[{\"geometry\": \"a\"}]}]}"
#define TESSELLATION(of, rest) SOLID("\"type\": \"tessellation\", \"of\": {" of "}" rest)

// The geometry of the only body of a scene; the world owns it.
static const rbGeometry* getGeometry(const rbWorld* world)
{
    rbBodyId id;
    assert_int_equal(rbWorld_GetBodyIds(world, &id, 1), 1);
    return rbWorld_GetGeometry(world, rbBody_GetShape(world, id, 0).geometry);
}

// Distance of a point outside an ellipsoid, relative to its size.
static double getExcess(rbVec3 p, rbVec3 s)
{
    return sqrt(p.x * p.x / (s.x * s.x) + p.y * p.y / (s.y * s.y) + p.z * p.z / (s.z * s.z)) - 1.0;
}

static rbMeshDef checkMesh(const rbGeometry* geometry, int faceCount)
{
    rbMeshDef def = {0};
    assert_int_equal(rbGeometry_GetType(geometry), RB_SHAPE_MESH);
    assert_true(rbGeometry_GetMesh(geometry, &def));
    rbMeshReport report = rbValidateMesh(&def, NULL, 0);
    if (!report.isValid || !report.isSolid || report.componentCount != 1) {
        char text[512];
        rbMeshReport_Describe(&report, text, sizeof text);
        fail_msg("%s", text);
    }
    assert_true(def.faceCount >= faceCount);
    return def;
}

// Every vertex lies on the surface, the mesh is one closed solid with at least the requested number
// of faces, and its volume is smaller by no more than the deviation of a mesh with that many faces:
// at most a quarter of (edge / radius)^2, with edges about sqrt(8 pi / faces) radii long.
static void tessellationsOfRoundSolidsAreInscribed(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        rbVec3 semiAxes;
        int faceCount;
    } cases[] = {
        {TESSELLATION("\"type\": \"sphere\", \"radius\": 0.5", ""), {0.5, 0.5, 0.5}, 5000},
        {TESSELLATION("\"type\": \"sphere\", \"radius\": 2", ", \"faces\": 4"), {2, 2, 2}, 4},
        {TESSELLATION("\"type\": \"ellipsoid\", \"semiAxes\": [3, 1, 0.2]", ", \"faces\": 1000"),
         {3, 1, 0.2},
         1000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbScene* scene = readText(cases[i].text);
        rbWorld* world = makeWorld(scene);
        const rbGeometry* geometry = getGeometry(world);
        rbMeshDef def = checkMesh(geometry, cases[i].faceCount);
        rbVec3 s = cases[i].semiAxes;
        for (int v = 0; v < def.vertexCount; ++v) {
            checkNear(getExcess(def.vertices[v], s), 0.0, 4e-16);
        }
        rbMassProperties mass;
        assert_int_equal(rbGeometry_GetMass(geometry, 1.0, &mass, NULL), RB_STATUS_OK);
        double whole = 4.0 / 3.0 * RB_PI * s.x * s.y * s.z;
        assert_true(mass.volume < whole);
        if (cases[i].faceCount >= 1000) {
            checkBelow(1.0 - mass.volume / whole, 3.0 * 0.25 * 8.0 * RB_PI / cases[i].faceCount);
            // no more than twice the requested number
            assert_true(def.faceCount < 2 * cases[i].faceCount);
        }
        checkNear(rbLength(mass.center) / rbLength(s), 0.0, 1e-14);
        rbDestroyWorld(world);
        rbDestroyScene(scene);
    }
}

// Half an ellipsoid, cut through its center: half the volume, the centroid at 3/8 of the height, a
// flat lid; and a cap cut obliquely.
static void cutTessellationsHaveAFlatLid(void** state)
{
    (void)state;
    rbScene* scene =
        readText(TESSELLATION("\"type\": \"ellipsoid\", \"semiAxes\": [0.1, 0.02, 0.03]",
                              ", \"faces\": 20000, \"cut\": {\"normal\": [0, 0, 2]}"));
    rbWorld* world = makeWorld(scene);
    rbMeshDef def = checkMesh(getGeometry(world), 20000);
    rbVec3 s = {0.1, 0.02, 0.03};
    int lid = 0;
    for (int v = 0; v < def.vertexCount; ++v) {
        if (def.vertices[v].z == 0.0) {
            lid += 1;
            checkBelow(getExcess(def.vertices[v], s), 4e-16);
        } else {
            assert_true(def.vertices[v].z < 0.0);
            checkNear(getExcess(def.vertices[v], s), 0.0, 4e-16);
        }
    }
    assert_true(lid > 100);
    rbMassProperties mass;
    assert_int_equal(rbGeometry_GetMass(getGeometry(world), 1.0, &mass, NULL), RB_STATUS_OK);
    checkRelative(mass.volume, 2.0 / 3.0 * RB_PI * s.x * s.y * s.z, 1e-3);
    checkRelative(mass.center.z, -3.0 / 8.0 * s.z, 1e-3);
    rbDestroyWorld(world);
    rbDestroyScene(scene);

    scene =
        readText(TESSELLATION("\"type\": \"sphere\", \"radius\": 2",
                              ", \"faces\": 20000, \"cut\": {\"normal\": [1, 2, 2], \"offset\": "
                              "-3}"));
    world = makeWorld(scene);
    def = checkMesh(getGeometry(world), 20000);
    for (int v = 0; v < def.vertexCount; ++v) {
        rbVec3 p = def.vertices[v];
        checkBelow((p.x + 2.0 * p.y + 2.0 * p.z) / 3.0, -1.0 + 1e-15);
        checkBelow(getExcess(p, (rbVec3){2, 2, 2}), 4e-16);
    }
    // a cap of height h = 1: pi h^2 (3 r - h) / 3
    assert_int_equal(rbGeometry_GetMass(getGeometry(world), 1.0, &mass, NULL), RB_STATUS_OK);
    checkRelative(mass.volume, RB_PI * 5.0 / 3.0, 1e-3);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

// The other solids: volumes of the inscribed mesh near those of the solid, flat ones exact. With N
// segments a circle loses a^2/6 of its area, a = 2 pi / N. An arc of radius R cut into steps of the
// angle a is R a^2/12 inside of the surface in the mean, which costs a ball a^2/4 of its volume and
// other solids less. N^2 is at least faces pi R / L for a profile of length L.
#define LOSS(profile, radius, faces) (5.0 * RB_PI / 3.0 * (profile) / (radius) / (faces))
static void tessellationsKeepTheVolume(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        double volume, tolerance;
        int faceCount;
    } cases[] = {
        {TESSELLATION("\"type\": \"capsule\", \"radius\": 0.5, \"length\": 2", ""),
         RB_PI * (0.5 + 1.0 / 6.0), LOSS(2.0 + 0.5 * RB_PI, 0.5, 5000), 5000},
        {TESSELLATION("\"type\": \"capsule\", \"radius\": 0.5, \"length\": 0", ""), RB_PI / 6.0,
         LOSS(0.5 * RB_PI, 0.5, 5000), 5000},
        {TESSELLATION("\"type\": \"cylinder\", \"radius\": 0.5, \"length\": 2", ""), RB_PI / 2.0,
         LOSS(3.0, 0.5, 5000), 5000},
        {TESSELLATION("\"type\": \"cone\", \"radius\": 0.5, \"height\": 1", ""), RB_PI / 12.0, 4e-3,
         5000},
        {TESSELLATION("\"type\": \"cylinder\", \"radius\": 1e-3, \"length\": 100",
                      ", \"faces\": 4000"),
         RB_PI * 1e-4, 1.0 - 2.0 / RB_PI + 1e-12, 4000},
        {TESSELLATION("\"type\": \"box\", \"size\": [1, 2, 3]", ", \"faces\": 4"), 6.0, 1e-14, 12},
        {TESSELLATION("\"type\": \"box\", \"size\": [1, 2, 3]", ""), 6.0, 1e-13, 5000},
        {TESSELLATION("\"type\": \"hull\", \"points\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]",
                      ", \"faces\": 100"),
         1.0 / 6.0, 1e-13, 100},
        {TESSELLATION("\"type\": \"extrusion\", \"height\": 1, \"profile\": "
                      "[[0,0],[2,0],[2,1],[1,1],[1,2],[0,2]]",
                      ", \"faces\": 500"),
         3.0, 1e-13, 500},
        {TESSELLATION("\"type\": \"mesh\", \"file\": \"meshes/star.obj\"", ", \"faces\": 3000"),
         0.0, 0.0, 3000},
        {TESSELLATION("\"type\": \"tessellation\", \"faces\": 100, \"of\": {\"type\": \"sphere\", "
                      "\"radius\": 1}",
                      ", \"faces\": 300"),
         0.0, 0.0, 300},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbScene* scene = readText(cases[i].text);
        rbWorld* world = makeWorld(scene);
        (void)checkMesh(getGeometry(world), cases[i].faceCount);
        rbMassProperties mass;
        assert_int_equal(rbGeometry_GetMass(getGeometry(world), 1.0, &mass, NULL), RB_STATUS_OK);
        if (cases[i].volume > 0.0) {
            checkRelative(mass.volume, cases[i].volume, cases[i].tolerance);
        }
        rbDestroyWorld(world);
        rbDestroyScene(scene);
    }
}

static void badTessellationsAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {SOLID("\"type\": \"tessellation\""), RB_STATUS_INVALID,
         "/geometries/a: geometry \"a\": a tessellation needs the key \"of\""},
        {SOLID("\"type\": \"tessellation\", \"of\": \"a\""), RB_STATUS_INVALID, "contains itself"},
        {SOLID("\"type\": \"tessellation\", \"of\": \"b\""), RB_STATUS_NOT_FOUND,
         "there is no geometry \"b\""},
        {TESSELLATION("\"type\": \"sphere\", \"radius\": 1", ", \"faces\": 3"), RB_STATUS_INVALID,
         "/geometries/a/faces: geometry \"a\": faces is 3; expected a number >= 4 and <= 1000000"},
        {TESSELLATION("\"type\": \"sphere\", \"radius\": 1", ", \"faces\": 1000001"),
         RB_STATUS_INVALID, "faces is 1000001"},
        {TESSELLATION("\"type\": \"plane\", \"normal\": [0, 0, 1]", ""), RB_STATUS_INVALID,
         "a tessellation needs a closed solid; this plane is not one"},
        {TESSELLATION("\"type\": \"mesh\", \"vertices\": [[0,0,0],[1,0,0],[0,1,0]], \"faces\": "
                      "[[0,1,2]]",
                      ""),
         RB_STATUS_INVALID, "this mesh is not one"},
        {TESSELLATION("\"type\": \"compound\", \"parts\": [{\"geometry\": {\"type\": \"sphere\", "
                      "\"radius\": 1}}]",
                      ""),
         RB_STATUS_INVALID, "this compound has parts: tessellate each of them"},
        {TESSELLATION("\"type\": \"box\", \"size\": [1, 1, 1]", ", \"cut\": {\"normal\": [0,0,1]}"),
         RB_STATUS_INVALID, "a box cannot be cut; \"cut\" is only for a sphere or an ellipsoid"},
        {TESSELLATION("\"type\": \"sphere\", \"radius\": 1", ", \"cut\": {}"), RB_STATUS_INVALID,
         "/cut: geometry \"a\": \"cut\" needs the key \"normal\""},
        {TESSELLATION("\"type\": \"sphere\", \"radius\": 1", ", \"cut\": {\"normal\": [0,0,0]}"),
         RB_STATUS_INVALID, "the normal of the cut is zero"},
        {TESSELLATION("\"type\": \"ellipsoid\", \"semiAxes\": [1, 2, 3]",
                      ", \"cut\": {\"normal\": [0, 0, 2], \"offset\": 8}"),
         RB_STATUS_INVALID,
         "the plane of the cut is 4 m from the center; the solid extends from -3 to 3 m there"},
        {TESSELLATION("\"type\": \"sphere\", \"radius\": 1",
                      ", \"cut\": {\"normal\": [0, 0, 1], \"ofset\": 0}"),
         RB_STATUS_INVALID, "did you mean \"offset\"?"},
    };
    CHECK_CASES(cases);
}

// A few bytes of text must not be able to request all memory.
static void tooManyTessellatedFacesAreRefused(void** state)
{
    (void)state;
#define MILLION(of) "\"type\": \"tessellation\", \"faces\": 1000000, \"of\": {" of "}"
    static const Case cases[] = {
        {SOLID(MILLION(MILLION(MILLION(MILLION(MILLION("\"type\": \"sphere\", \"radius\": 1")))))),
         RB_STATUS_LIMIT, "have 5000000 faces so far; the limit is 4194304"},
    };
    uint64_t count = rbGetAllocationCount();
    CHECK_CASES(cases);
    assert_true(rbGetAllocationCount() - count < 100);
}

RB_TEST_GROUP(test_scene_event, cmocka_unit_test(settingsOfTheEventEngineAreRead),
              cmocka_unit_test(settingsOfRaysAreRead),
              cmocka_unit_test(badSettingsOfRaysAreRefused),
              cmocka_unit_test(settingsLeftOutAreThoseOfTheWorld),
              cmocka_unit_test(settingsCanBeOverridden), cmocka_unit_test(badSettingsAreRefused),
              cmocka_unit_test(materialsOfPairsGetTheirKinds), cmocka_unit_test(badPairsAreRefused),
              cmocka_unit_test(tooManyMaterialsInPairsAreRefused),
              cmocka_unit_test(growthBelongsToTheEventEngine),
              cmocka_unit_test(probesOfTheEventEngineAreMeasured),
              cmocka_unit_test(tessellationsOfRoundSolidsAreInscribed),
              cmocka_unit_test(cutTessellationsHaveAFlatLid),
              cmocka_unit_test(tessellationsKeepTheVolume),
              cmocka_unit_test(badTessellationsAreRefused),
              cmocka_unit_test(tooManyTessellatedFacesAreRefused));
