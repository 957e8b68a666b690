// Scenes with contacts: their settings, materials, groups, neighbors and probes.
#include "scene_support.h"

#include <rattleback/lab_contact.h>

#include <jansson.h>
#include <math.h>

#define BALL_SHAPE(more) \
    "\"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}" more "}]"
// Two balls of 1 kg in the air, a floor, and the objects under test.
#define SCENE(keys)                                                                            \
    "{\"rattleback\": 1, \"engine\": \"step\", \"bodies\": ["                                  \
    "{\"name\": \"a\", \"mass\": 1, \"position\": [0, 0, 1], " BALL_SHAPE(                     \
        "") "},"                                                                               \
            "{\"name\": \"b\", \"mass\": 1, \"position\": [1, 0, 1], " BALL_SHAPE(             \
                "") "},"                                                                       \
                    "{\"name\": \"floor\", \"type\": \"static\", \"shapes\": [{\"geometry\": " \
                    "{\"type\": "                                                              \
                    "\"plane\", \"normal\": [0, 0, 1]}}]}]" keys "}"
#define CONTACT(keys) SCENE(", \"contact\": {" keys "}")
#define SHAPES(shapes) \
    "{\"rattleback\": 1, \"bodies\": [{\"name\": \"box\", \"shapes\": [" shapes "]}]}"
#define SPHERE "\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}"
#define MATERIAL(keys) SHAPES("{" SPHERE ", \"material\": {" keys "}}")
#define PROBE(keys) SCENE(", \"output\": {\"probes\": [{" keys "}]}")

static void contactsAreOnUnlessTheSceneTurnsThemOff(void** state)
{
    (void)state;
    const struct {
        const char* text;
        bool isEnabled;
    } cases[] = {{SCENE(""), true}, {CONTACT(""), true}, {CONTACT("\"enabled\": false"), false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbScene* scene = readText(cases[i].text);
        assert_int_equal(rbScene_GetInfo(scene)->contact.isEnabled, cases[i].isEnabled);
        rbDestroyScene(scene);
    }
    assert_true(rbDefaultWorldDef().contact.isEnabled);
    assert_int_equal(rbDefaultWorldDef().engine, RB_ENGINE_STEP);
}

static void settingsOfContactsAreRead(void** state)
{
    (void)state;
    rbScene* scene = readText(
        CONTACT("\"method\": \"penalty\", \"penaltyDepth\": 2e-4, \"penaltyDamping\": 0.3, "
                "\"broadPhase\": \"sweep-1d\", \"shell\": 1e-4, \"tolerance\": 2e-6, "
                "\"velocityTolerance\": 3e-6, \"restSpeed\": 0.04, \"sweepsMax\": 7, "
                "\"warmStart\": false, \"shockAfter\": 5, \"law\": \"stronge\", \"cone\": "
                "\"pyramid\", \"facets\": 16, \"contactTime\": \"bisection\", "
                "\"combineFriction\": \"min\", \"combineRestitution\": \"max\", \"partSpeed\": "
                "0.5, \"overlap\": \"separate\", \"neighbors\": true, \"freezeSpeed\": 0.01, "
                "\"freezeTime\": 2"));
    const rbContactSettings* s = &rbScene_GetInfo(scene)->contact;
    const int words[][2] = {{(int)s->method, (int)rbContactMethod_Find("penalty")},
                            {(int)s->broadPhase, (int)rbBroadPhaseType_Find("sweep-1d")},
                            {(int)s->law, RB_IMPACT_STRONGE},
                            {(int)s->cone, RB_CONE_PYRAMID},
                            {(int)s->contactTime, RB_CONTACT_TIME_BISECTION},
                            {(int)s->frictionRule, RB_COMBINE_MIN},
                            {(int)s->restitutionRule, RB_COMBINE_MAX},
                            {s->sweepsMax, 7},
                            {s->shockAfter, 5},
                            {s->facets, 16},
                            {s->isWarm, 0},
                            {s->isOverlapAllowed, 1},
                            {s->areNeighborsMeeting, 1},
                            {s->isEnabled, 1}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        assert_int_equal(words[i][0], words[i][1]);
    }
    rbPenaltySettings penalty = rbContactSettings_GetPenalty(s);
    const double numbers[][2] = {{s->shell, 1e-4},      {s->tolerance, 2e-6},
                                 {s->restSpeed, 0.04},  {s->velocityTolerance, 3e-6},
                                 {s->partSpeed, 0.5},   {s->freezeSpeed, 0.01},
                                 {s->freezeTime, 2.0},  {penalty.depth, 2e-4},
                                 {penalty.damping, 0.3}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        assert_true(numbers[i][0] == numbers[i][1]);
    }
    rbDestroyScene(scene);
}

static void emptyContactsHaveTheDefaults(void** state)
{
    (void)state;
    rbScene* scene = readText(CONTACT(""));
    rbContactSettings expected = rbDefaultContactSettings();
    const rbContactSettings* found = &rbScene_GetInfo(scene)->contact;
    assert_int_equal(found->method, expected.method);
    assert_int_equal(found->broadPhase, expected.broadPhase);
    assert_int_equal(found->sweepsMax, expected.sweepsMax);
    assert_int_equal(found->shockAfter, expected.shockAfter);
    assert_int_equal(found->isWarm, expected.isWarm);
    assert_int_equal(found->law, expected.law);
    assert_int_equal(found->cone, expected.cone);
    assert_int_equal(found->facets, expected.facets);
    assert_int_equal(found->contactTime, expected.contactTime);
    assert_int_equal(found->isOverlapAllowed, expected.isOverlapAllowed);
    assert_int_equal(found->areNeighborsMeeting, expected.areNeighborsMeeting);
    assert_true(found->shell == expected.shell && found->tolerance == expected.tolerance);
    assert_true(found->restSpeed == expected.restSpeed);
    assert_true(found->partSpeed == expected.partSpeed);
    assert_true(found->freezeSpeed == expected.freezeSpeed);
    rbDestroyScene(scene);
}

// Scenes in recordings keep the keys that they were written with.
static void formerNamesOfKeysAreRead(void** state)
{
    (void)state;
    rbScene* scene = readText(CONTACT("\"neighbours\": true"));
    assert_true(rbScene_GetInfo(scene)->contact.areNeighborsMeeting);
    rbDestroyScene(scene);
    static const Case cases[] = {
        {CONTACT("\"neighbours\": true, \"neighbors\": false"), RB_STATUS_INVALID,
         "/contact/neighbours: \"neighbours\" is the former name of \"neighbors\""},
        {CONTACT("\"neighbour\": true"), RB_STATUS_INVALID, "did you mean \"neighbors\"?"},
    };
    CHECK_CASES(cases);
}

static void badSettingsOfContactsAreExplained(void** state)
{
    (void)state;
    const Case cases[] = {
        {CONTACT("\"sweeps\": 4"), RB_STATUS_INVALID, "did you mean \"sweepsMax\""},
        {CONTACT("\"tolerance\": -1"), RB_STATUS_INVALID, "/contact/tolerance"},
        {CONTACT("\"shell\": -1e-5"), RB_STATUS_INVALID, "/contact/shell"},
        {CONTACT("\"sweepsMax\": 0"), RB_STATUS_INVALID, "/contact/sweepsMax"},
        {CONTACT("\"facets\": 2"), RB_STATUS_INVALID, "/contact/facets"},
        {CONTACT("\"law\": \"newtom\""), RB_STATUS_INVALID, "did you mean \"newton\""},
        {CONTACT("\"method\": \"springs\""), RB_STATUS_INVALID, "unknown method of contact"},
        {CONTACT("\"penaltyDepth\": 0"), RB_STATUS_INVALID, "/contact/penaltyDepth"},
        {CONTACT("\"penaltyDamping\": 2"), RB_STATUS_INVALID, "/contact/penaltyDamping"},
        {CONTACT("\"cone\": \"cube\""), RB_STATUS_INVALID, "unknown cone of friction"},
        {CONTACT("\"contactTime\": \"bisect\""), RB_STATUS_INVALID, "/contact/contactTime"},
        {CONTACT("\"overlap\": true"), RB_STATUS_INVALID, "/contact/overlap"},
        {CONTACT("\"partSpeed\": 0"), RB_STATUS_INVALID, "/contact/partSpeed"},
        {SCENE(", \"contact\": 1"), RB_STATUS_INVALID, "/contact"},
        {MATERIAL("\"friction\": 0.5, \"stiction\": 0.4"), RB_STATUS_INVALID,
         "stiction 0.4 is less than friction 0.5"},
        {MATERIAL("\"friction\": 0.5, \"stiction\": -2"), RB_STATUS_INVALID,
         "stiction is -2; expected a number >= -1"},
        {MATERIAL("\"rolling\": -1"), RB_STATUS_INVALID, "/bodies/0/shapes/0/material/rolling"},
        {SHAPES("{" SPHERE ", \"groups\": 4294967296}"), RB_STATUS_INVALID,
         "/bodies/0/shapes/0/groups"},
        {SHAPES("{" SPHERE ", \"groups\": 2}, {" SPHERE ", \"groups\": 3}"), RB_STATUS_INVALID,
         "groups is 3, but that of the first shape is 2"},
        {SHAPES("{" SPHERE "}, {" SPHERE ", \"mask\": 3}"), RB_STATUS_INVALID,
         "/bodies/0/shapes/1/mask"},
        {PROBE("\"body\": \"a\", \"quantity\": \"velocity\", \"with\": \"b\""), RB_STATUS_INVALID,
         "\"with\" is only for contacts and contactForce of a body"},
        {PROBE("\"quantity\": \"contacts\", \"with\": \"b\""), RB_STATUS_INVALID,
         "/output/probes/0/with"},
        {PROBE("\"body\": \"a\", \"quantity\": \"contacts\", \"with\": \"c\""), RB_STATUS_NOT_FOUND,
         "there is no body \"c\""},
        {PROBE("\"quantity\": \"contactForce\""), RB_STATUS_INVALID,
         "\"contactForce\" is a quantity of one body"},
        {PROBE("\"body\": \"a\", \"quantity\": \"deepest\""), RB_STATUS_INVALID,
         "\"deepest\" is a quantity of the whole world"},
    };
    CHECK_CASES(cases);
}

static void materialsAndGroupsReachTheWorld(void** state)
{
    (void)state;
    rbScene* scene = readText(
        SHAPES("{" SPHERE ", \"groups\": 6, \"mask\": 1, \"material\": {\"friction\": 0.3, "
               "\"stiction\": 0.4, \"rolling\": 0.01, \"spinning\": 0.02}}, {" SPHERE
               ", \"groups\": 6, \"mask\": 1}"));
    rbWorld* world = makeWorld(scene);
    rbBodyId box = rbWorld_FindBody(world, "box");
    rbShapeDef first = rbBody_GetShape(world, box, 0);
    rbShapeDef second = rbBody_GetShape(world, box, 1);
    assert_int_equal(first.groups, 6);
    assert_int_equal(first.mask, 1);
    assert_true(first.material.stiction == 0.4);
    assert_true(first.material.rolling == 0.01);
    assert_true(first.material.spinning == 0.02);
    assert_true(second.material.stiction == -1.0);
    assert_true(second.material.rolling == 0.0);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void ordersAndBoxesThatContactsDoNotKnowAreRefused(void** state)
{
    (void)state;
    const struct {
        const char* text;
        const char* expected;
    } cases[] = {
        {SCENE(", \"step\": {\"order\": 4}, \"contact\": {\"method\": \"penalty\"}"),
         "step.order is 4"},
        {SCENE(", \"step\": {\"method\": \"penalty\"}"), "step.method is \"penalty\""},
        {SCENE(", \"world\": {\"periodicBox\": [9, 9, 9]}"), "periodic box"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbError error = {0};
        rbScene* scene = readText(cases[i].text);
        rbWorld* world = rbScene_CreateWorld(scene, &error);
        assert_non_null(world);
        assert_int_equal(rbScene_PrepareWorld(scene, world, &error), RB_STATUS_UNSUPPORTED);
        if (strstr(error.message, cases[i].expected) == NULL ||
            strstr(error.message, "\"contact\": {\"enabled\": false}") == NULL) {
            fail_msg("%s", error.message);
        }
        rbDestroyWorld(world);
        rbDestroyScene(scene);
    }
}

// A ball lies on the floor, another flies; the probes report which.
static void probesMeasureContacts(void** state)
{
    (void)state;
    rbScene* scene = readText(
        SCENE(", \"duration\": 1, \"contact\": {}, \"output\": {\"probes\": [{\"quantity\": "
              "\"contacts\"}, {\"quantity\": \"deepest\"}, {\"quantity\": \"contactSweeps\"}, "
              "{\"quantity\": \"contactCollisions\"}, {\"quantity\": \"frozen\"}, {\"body\": "
              "\"a\", \"quantity\": \"contacts\"}, {\"body\": \"a\", \"quantity\": "
              "\"contactForce\", \"with\": \"floor\"}, {\"body\": \"a\", \"quantity\": "
              "\"contactForce\", \"with\": \"b\"}, {\"body\": \"b\", \"quantity\": "
              "\"contactForce\"}]}"));
    rbError error = {0};
    assert_int_equal(rbScene_Override(scene, "bodies.a.position=[0,0,0.10001]", &error),
                     RB_STATUS_OK);
    rbWorld* world = makeWorld(scene);
    assert_int_equal(rbWorld_AdvanceTo(world, 0.2).status, RB_STATUS_OK);
    uint64_t before = rbGetAllocatedBytes();
    assert_true(getColumn(scene, world, "world.contacts") == 1.0);
    assert_true(getColumn(scene, world, "a.contacts") == 1.0);
    checkBelow(getColumn(scene, world, "world.deepest"), 1e-6);
    assert_true(getColumn(scene, world, "world.contactSweeps") > 0.0);
    assert_true(getColumn(scene, world, "world.contactCollisions") == 0.0);
    assert_true(getColumn(scene, world, "world.frozen") == 0.0);
    checkNear(getColumn(scene, world, "a.contactForce.with.floor.z"), 9.81, 1e-6);
    checkNear(getColumn(scene, world, "a.contactForce.with.b.z"), 0.0, 1e-300);
    checkNear(getColumn(scene, world, "b.contactForce.z"), 0.0, 1e-300);
    assert_int_equal(rbGetAllocatedBytes(), before);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

RB_TEST_GROUP(test_scene_contacts, cmocka_unit_test(contactsAreOnUnlessTheSceneTurnsThemOff),
              cmocka_unit_test(settingsOfContactsAreRead),
              cmocka_unit_test(emptyContactsHaveTheDefaults),
              cmocka_unit_test(formerNamesOfKeysAreRead),
              cmocka_unit_test(badSettingsOfContactsAreExplained),
              cmocka_unit_test(materialsAndGroupsReachTheWorld),
              cmocka_unit_test(ordersAndBoxesThatContactsDoNotKnowAreRefused),
              cmocka_unit_test(probesMeasureContacts));
