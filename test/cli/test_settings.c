// rattleback settings, and what the documentation has from it.
#include "child.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void settingsAreListedWithDefaultRangeUnitAndMeaning(void** state)
{
    (void)state;
    static const char* const lines[] = {
        "contact: Contacts of the step engine",
        "enabled              true  (true, false)",
        "shell                1e-05 m  (0 to 1)",
        "impulseMax           no limit N s  (> 0)",
        "order                2  (2, 4, 6, 8, 10)",
        "gravity              [0, 0, -9.81] m/s^2  (any number)",
        "overlap              refuse  (refuse, separate)",
    };
    rbChild child = RUN("settings");
    rbExpectSuccess(&child);
    EXPECT_LINES(child.out, lines);
    rbFreeChild(&child);
    child = RUN("settings", "motion");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "degree               8  (1 to 30)"));
    assert_null(strstr(child.out, "contact:"));
    rbFreeChild(&child);
    rbExpectFailure(RUN("settings", "contcat"), 2, "did you mean 'contact'?");
}

// Renewed by make settings-docs.
static void definitionsOfTheSchemaAreGenerated(void** state)
{
    (void)state;
    json_error_t error;
    json_t* schema = json_load_file(RB_SOURCE_DIR "/docs/scene.schema.json", 0, &error);
    json_t* generated = RUN_JSON("settings");
    const char* name = NULL;
    json_t* definition = NULL;
    assert_non_null(schema);
    assert_int_equal(json_object_size(generated), 7 + 7 + 3); // settings, shapes, forces
    json_object_foreach(generated, name, definition)
    {
        if (!json_equal(json_object_get(json_object_get(schema, "$defs"), name), definition)) {
            fail_msg("\"%s\" of docs/scene.schema.json is not what the program says; run make "
                     "settings-docs",
                     name);
        }
    }
    json_decref(generated);
    json_decref(schema);
}

static void tablesOfTheManualAreGenerated(void** state)
{
    (void)state;
    static const char* const names[] = {"world", "motion",  "material", "event",
                                        "step",  "contact", "rays"};
    size_t size = 0;
    char* text = rbReadFile(RB_SOURCE_DIR "/docs/scene-format.md", &size);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        char begin[64];
        (void)snprintf(begin, sizeof begin, "<!-- settings %s -->\n", names[i]);
        const char* table = strstr(text, begin);
        assert_non_null(table);
        table += strlen(begin);
        const char* end = strstr(table, "<!-- end of settings -->");
        assert_non_null(end);
        rbChild child = RUN("settings", names[i], "--markdown");
        rbExpectSuccess(&child);
        if (strlen(child.out) != (size_t)(end - table) ||
            strncmp(child.out, table, (size_t)(end - table)) != 0) {
            fail_msg(
                "the table of \"%s\" in docs/scene-format.md is not what the program says; run "
                "make settings-docs",
                names[i]);
        }
        rbFreeChild(&child);
    }
    free(text);
}

RB_TEST_GROUP(test_settings, SCRATCH_TEST(settingsAreListedWithDefaultRangeUnitAndMeaning),
              SCRATCH_TEST(definitionsOfTheSchemaAreGenerated),
              SCRATCH_TEST(tablesOfTheManualAreGenerated));
