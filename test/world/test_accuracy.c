// Levels of accuracy: rows of defaults, single settings that override them, and contradictions.
#include "contact_scenes.h"

#include <string.h>

static void levelsAreRowsOfDefaults(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    assert_int_equal(def.step.accuracy, RB_ACCURACY_ENGINEERING);
    assert_true(def.step.errorMax == 0.0 && def.contact.substeps == 0);
    def.step.halvingsMax = 3; // belongs to no level
    def.contact.partSpeed = 0.5;
    for (int i = 0; i < RB_ACCURACY_COUNT; ++i) {
        rbAccuracy accuracy = (rbAccuracy)i;
        assert_int_equal(rbAccuracy_Find(rbAccuracy_Name(accuracy)), i);
        assert_true(strlen(rbAccuracy_GetPromise(accuracy)) > 20);
        rbWorldDef_SetAccuracy(&def, accuracy);
        assert_int_equal(def.step.accuracy, i);
        assert_true(def.step.halvingsMax == 3 && def.contact.partSpeed == 0.5);
        rbDestroyWorld(makeWorld(&def));
    }
    assert_true(def.step.errorMax == 1e-9 && def.step.order == 8);
    assert_true(def.contact.substeps == 0); // what the level before set is gone
    // The defaults are a level.
    rbWorldDef_SetAccuracy(&def, RB_ACCURACY_ENGINEERING);
    def.step.halvingsMax = rbDefaultWorldDef().step.halvingsMax;
    rbStepSettings own = rbDefaultWorldDef().step;
    assert_memory_equal(&def.step, &own, sizeof own);
    assert_int_equal(rbAccuracy_Find("perfect"), RB_ACCURACY_COUNT);
}

// A level must be what it says, or the report would not be true. The messages name all that
// contradicts, with its values.
static void contradictionsAreRefused(void** state)
{
    (void)state;
    static const char* const expected[] = {
        "step.errorMax is 1e-06 m, and step.accuracy is \"engineering\"; error control belongs to "
        "\"exact\": set step.accuracy to it, or errorMax to 0",
        "contact.substeps is 4, and step.accuracy is \"engineering\"; small steps belong to "
        "\"game\": set step.accuracy to it, or substeps to 0",
        "step.accuracy is \"exact\", and step.errorMax is 0; set a positive one (in C, "
        "rbWorldDef_SetAccuracy sets all that belongs to a level)",
        "contact.substeps is 0, and step.accuracy is \"game\"; \"game\" needs at least 1 (in C, "
        "rbWorldDef_SetAccuracy sets all that belongs to a level)",
        "step.accuracy is \"exact\", and step.order is 2; error control needs order 4 or more",
        "step.accuracy is \"game\"; contact.cone must then be \"exact\", contact.shockAfter 0 and "
        "contact.method \"impulses\"; they are \"pyramid\", 0 and \"impulses\"",
        "step.accuracy: there is no accuracy number 3",
        "step.accuracy is \"game\"; contact.cone must then be \"exact\", contact.shockAfter 0 and "
        "contact.method \"impulses\"; they are \"exact\", 7 and \"impulses\"",
        "step.accuracy is \"game\"; contact.cone must then be \"exact\", contact.shockAfter 0 and "
        "contact.method \"impulses\"; they are \"exact\", 0 and \"penalty\"",
        "contact.substeps is 3, and step.accuracy is \"exact\"; small steps belong to \"game\": "
        "set "
        "step.accuracy to it, or substeps to 0",
    };
    enum {
        CASES = sizeof expected / sizeof expected[0]
    };
    rbWorldDef defs[CASES];
    for (int i = 0; i < CASES; ++i) {
        defs[i] = rbDefaultWorldDef();
    }
    defs[0].step.errorMax = 1e-6;
    defs[1].contact.substeps = 4;
    defs[2].step.accuracy = RB_ACCURACY_EXACT;
    defs[3].step.accuracy = RB_ACCURACY_GAME;
    rbWorldDef_SetAccuracy(&defs[4], RB_ACCURACY_EXACT);
    defs[4].step.order = 2;
    rbWorldDef_SetAccuracy(&defs[5], RB_ACCURACY_GAME);
    defs[5].contact.cone = RB_CONE_PYRAMID;
    defs[6].step.accuracy = RB_ACCURACY_COUNT;
    rbWorldDef_SetAccuracy(&defs[7], RB_ACCURACY_GAME);
    defs[7].contact.shockAfter = 7;
    rbWorldDef_SetAccuracy(&defs[8], RB_ACCURACY_GAME);
    defs[8].contact.method = rbContactMethod_Find("penalty");
    rbWorldDef_SetAccuracy(&defs[9], RB_ACCURACY_EXACT);
    defs[9].contact.substeps = 3;
    for (int i = 0; i < CASES; ++i) {
        rbError error = {0};
        assert_null(rbCreateWorld(&defs[i], &error));
        assert_string_equal(error.message, expected[i]);
    }
}

// Methods that no higher order knows: the message names two bodies and the remedies.
static void exactIsRefusedWithPenalties(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    rbError error = {0};
    rbWorldDef_SetAccuracy(&def, RB_ACCURACY_EXACT);
    def.contact.method = rbContactMethod_Find("penalty");
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    (void)addCube(world, "cube", rbMakeVec3(0.0, 0.0, 1.0));
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_UNSUPPORTED);
    if (strstr(error.message, "bodies \"floor\" and \"cube\" can collide") == NULL ||
        strstr(error.message, "with contact.method \"penalty\" it must be 2") == NULL ||
        strstr(error.message, "{\"enabled\": false}") == NULL) {
        fail_msg("%s", error.message);
    }
    rbDestroyWorld(world);
}

// A world that runs changes its level, which is the same as having had its settings, and a refused
// change leaves no trace.
static void levelsChangeWhileAWorldRuns(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, 0.01));
    advance(world, 0.5);
    uint64_t hash = rbWorld_GetHash(world);
    rbError error = {0};
    rbStepSettings step = rbWorld_GetStepSettings(world);
    step.accuracy = RB_ACCURACY_EXACT; // without an errorMax
    assert_int_equal(rbWorld_SetStepSettings(world, &step, &error), RB_STATUS_INVALID);
    assert_int_equal(rbWorld_GetStepSettings(world).accuracy, RB_ACCURACY_ENGINEERING);
    assert_true(rbWorld_GetHash(world) == hash);
    assert_int_equal(rbWorld_SetAccuracy(world, RB_ACCURACY_EXACT, &error), RB_STATUS_OK);
    advance(world, 0.6);
    assert_int_equal(rbWorld_SetAccuracy(world, RB_ACCURACY_GAME, &error), RB_STATUS_OK);
    assert_int_equal(rbWorld_GetStepSettings(world).accuracy, RB_ACCURACY_GAME);
    assert_int_equal(rbWorld_GetContactSettings(world).substeps, 5);
    advance(world, 1.0);
    checkNear(rbBody_GetState(world, cube).transform.p.z, 0.05, 1e-3);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_accuracy, cmocka_unit_test(levelsAreRowsOfDefaults),
              cmocka_unit_test(contradictionsAreRefused),
              cmocka_unit_test(exactIsRefusedWithPenalties),
              cmocka_unit_test(levelsChangeWhileAWorldRuns));
