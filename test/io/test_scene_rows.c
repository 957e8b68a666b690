// Scene keys that are registered at startup.
#include "io/scene/arena.h"
#include "io/scene/reader.h"
#include "scene_support.h"

static double found;

static rbStatus readNumber(const rbSceneRow* row, rbReader* reader, const json_t* value,
                           void* target)
{
    (void)target;
    return rbReadValue(reader, value, &row->key, &found);
}

static void registeredKeysAreRead(void** state)
{
    (void)state;
    static const rbSceneRow row = {
        "step",
        {.name = "spookiness", .kind = RB_VALUE_NUMBER, .high = 2.0, .unit = "m"},
        NULL,
        readNumber};
    rbError error = {0};
    assert_int_equal(rbRegisterSceneRow(&row, &error), RB_STATUS_OK);
    rbScene* scene =
        readText("{\"rattleback\": 1, \"bodies\": [], \"step\": {\"spookiness\": 1.5}}");
    checkNear(found, 1.5, 0.0);
    rbDestroyScene(scene);
    static const char* const bad[][2] = {
        {"{\"spookiness\": 3}", "/step/spookiness: spookiness is 3 m"},
        {"{\"spokiness\": 1}", "did you mean \"spookiness\"?"},
    };
    for (size_t i = 0; i < 2; ++i) {
        char text[200];
        (void)snprintf(text, sizeof text, "{\"rattleback\": 1, \"bodies\": [], \"step\": %s}",
                       bad[i][0]);
        assert_null(rbReadSceneText(text, strlen(text), NULL, &error));
        if (strstr(formatError(&error), bad[i][1]) == NULL) {
            fail_msg("%s", formatError(&error));
        }
    }
}

static void knownKeysAndOtherObjectsAreRefused(void** state)
{
    (void)state;
    static const char* const cases[][3] = {{"step", "tolerance", "there is already a key"},
                                           {"step", "baumgarte", "there is already a key"},
                                           {"", "rays", "there is already a key"},
                                           {"body", "spookiness", "only the scene"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbError error = {0};
        rbSceneRow row = {cases[i][0], {.name = cases[i][1]}, NULL, readNumber};
        assert_int_equal(rbRegisterSceneRow(&row, &error), RB_STATUS_INVALID);
        if (strstr(error.message, cases[i][2]) == NULL) {
            fail_msg("%s", error.message);
        }
    }
}

static void arenasFreeAllTheirBlocks(void** state)
{
    (void)state;
    uint64_t bytes = rbGetAllocatedBytes();
    rbArena arena = {0};
    char* parts[100];
    for (int i = 0; i < 100; ++i) {
        size_t size = (size_t)(1 + (37 * i) % 1000);
        parts[i] = rbArena_Alloc(&arena, size);
        assert_int_equal((uintptr_t)parts[i] % 16, 0);
        memset(parts[i], i, size);
    }
    // No two parts overlap: all still hold their data.
    for (int i = 0; i < 100; ++i) {
        size_t size = (size_t)(1 + (37 * i) % 1000);
        assert_true(parts[i][0] == i && parts[i][size - 1] == i);
    }
    rbArena_Free(&arena);
    assert_int_equal(rbGetAllocatedBytes(), bytes);
}

RB_TEST_GROUP(test_scene_rows, cmocka_unit_test(arenasFreeAllTheirBlocks),
              cmocka_unit_test(registeredKeysAreRead),
              cmocka_unit_test(knownKeysAndOtherObjectsAreRefused));
