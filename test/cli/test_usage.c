// The command line: help, version, listing, mistakes and the suggested corrections.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const verbs[] = {"run",      "check", "info", "distance", "replay",
                                    "validate", "bench", "view", "rays",     "settings"};

static void everyVerbHasHelpWithExamples(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; ++i) {
        rbChild child = RUN(verbs[i], "--help");
        rbExpectSuccess(&child);
        char example[64];
        (void)snprintf(example, sizeof example, "rattleback %s ", verbs[i]);
        const char* examples = strstr(child.out, "Examples:");
        assert_non_null(examples);
        assert_non_null(strstr(examples, example));
        assert_non_null(strstr(child.out, "--json"));
        rbFreeChild(&child);
    }
    rbChild child = RUN("--help");
    rbExpectSuccess(&child);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; ++i) {
        assert_non_null(strstr(child.out, verbs[i]));
    }
    rbFreeChild(&child);
    child = RUN("--version");
    rbExpectSuccess(&child);
    assert_memory_equal(child.out, "rattleback ", 11);
    rbFreeChild(&child);
}

static void unknownWordsGetTheNearestKnownOne(void** state)
{
    (void)state;
    rbExpectFailure(RUN("rnu", "tumbling-box"), 2, "did you mean 'run'?");
    rbExpectFailure(RUN("simulate"), 2, "--help");
    rbExpectFailure(RUN("run", "tumbling-box", "--durations", "3"), 2, "did you mean --duration?");
    rbExpectFailure(RUN("run", "tumbling-box", "--zzz"), 2, "has no option --zzz");
    rbExpectFailure(RUN("run", "tumblingbox"), 2, "did you mean tumbling-box?");
    rbExpectFailure(RUN("run", "tumbling-box", "--engine", "flihgt"), 2, "flight");
    rbExpectFailure(RUN("validate", "tumbling-bx"), 2, "did you mean tumbling-box");
    rbExpectFailure(RUN("bench", "flights"), 2, "did you mean flight");
    rbExpectFailure(RUN("run", "tumbling-box", "--set", "world.gravty=1"), 2, "gravity");
}

static void wrongUseIsExplained(void** state)
{
    (void)state;
    rbExpectFailure(RUN("run"), 2, "run needs SCENE");
    rbExpectFailure(RUN("run", "a", "b"), 2, "extra word 'b'");
    rbExpectFailure(RUN("run", "tumbling-box", "--dt"), 2, "--dt needs a value");
    rbExpectFailure(RUN("run", "tumbling-box", "--quiet=1"), 2, "does not accept a value");
    rbExpectFailure(RUN("run", "tumbling-box", "--dt", "nan"), 2, "not a finite number");
    rbExpectFailure(RUN("run", "tumbling-box", "--dt", "1e999"), 2, "not a finite number");
    rbExpectFailure(RUN("run", "tumbling-box", "--dt", "0.1s"), 2, "'0.1s'");
    rbExpectFailure(RUN("run", "tumbling-box", "--dt", "-1"), 2, "must be between");
    rbExpectFailure(RUN("run", "tumbling-box", "--duration", "0"), 2, "must be between");
    rbExpectFailure(RUN("run", "tumbling-box", "--dt", "1e-12"), 2, "the limit is 1e9");
    rbExpectFailure(RUN("run", "tumbling-box", "--csv", "-", "--json"), 2, "standard output");
    rbExpectFailure(RUN("run", "tumbling-box", "--plot", "x.png"), 2, ".svg");
    rbExpectFailure(RUN("run", "no/such/scene.json"), 2, "no/such/scene.json");
    rbExpectFailure(RUN("replay", "no.rbr"), 2, "no.rbr");
    rbExpectFailure(RUN("info", "no.stl"), 2, "no.stl");
}

// G-02a: several processes of a launcher would each do all the work; only the first says so. Help,
// and a launcher of one process, are no reason to refuse.
static void launchersOfSeveralProcessesAreRefused(void** state)
{
    (void)state;
    const char* const words[] = {"check", "tumbling-box", NULL};
    const char* const settings[] = {"OMPI_COMM_WORLD_SIZE=4", "PMI_SIZE=2", "SLURM_NTASKS=64"};
    const char* const needles[] = {"OMPI_COMM_WORLD_SIZE says that 4 processes were started",
                                   "PMI_SIZE says that 2 processes",
                                   "SLURM_NTASKS says that 64 processes"};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; ++i) {
        const rbChildOptions options = {.environment = settings[i]};
        rbExpectFailure(rbRunProgramWith(words, &options), 2, needles[i]);
        rbChild help = rbRunProgramWith((const char* const[]){"run", "--help", NULL}, &options);
        rbExpectSuccess(&help);
        rbFreeChild(&help);
    }
    const char* const harmless[] = {"OMPI_COMM_WORLD_SIZE=1", "SLURM_NTASKS=", "PMI_SIZE=two"};
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; ++i) {
        const rbChildOptions options = {.environment = harmless[i]};
        rbChild child = rbRunProgramWith(words, &options);
        assert_int_equal(child.exitCode, 0);
        rbFreeChild(&child);
    }
}

static void listingShowsEveryScene(void** state)
{
    (void)state;
    rbChild child = RUN(NULL);
    rbExpectSuccess(&child);
    DIR* directory = opendir(RB_SOURCE_DIR "/scenes");
    assert_non_null(directory);
    int count = 0;
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const char* dot = strstr(entry->d_name, ".json");
        if (dot != NULL) {
            char command[300];
            (void)snprintf(command, sizeof command, "rattleback run %.*s ",
                           (int)(dot - entry->d_name), entry->d_name);
            assert_non_null(strstr(child.out, command));
            ++count;
        }
    }
    (void)closedir(directory);
    assert_true(count >= 5);
    assert_null(strstr(child.out, "unreadable"));
    assert_non_null(strstr(child.out, "\nfree flight\n"));
    rbFreeChild(&child);
}

static void anotherFolderOfScenesCanBeNamed(void** state)
{
    (void)state;
    char setting[300];
    (void)snprintf(setting, sizeof setting, "RATTLEBACK_SCENES=%s", rbScratch(""));
    const rbChildOptions options = {.environment = setting};
    rbWriteText(rbScratch("mine.json"),
                "{\"rattleback\": 1, \"title\": \"my own\", \"bodies\": []}");
    rbWriteText(rbScratch("broken.json"), "{");
    rbChild child = rbRunProgramWith((const char* const[]){NULL}, &options);
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "rattleback run mine"));
    assert_non_null(strstr(child.out, "my own"));
    assert_non_null(strstr(child.out, "unreadable"));
    rbFreeChild(&child);
    const rbChildOptions wrong = {.environment = "RATTLEBACK_SCENES=/no/such/folder"};
    rbExpectFailure(rbRunProgramWith((const char* const[]){NULL}, &wrong), 2, "/no/such/folder");
}

static json_t* parse(const char* text)
{
    json_error_t error;
    json_t* root = json_loads(text, 0, &error);
    if (root == NULL) {
        print_error("line %d: %s\n%s\n", error.line, error.text, text);
    }
    assert_non_null(root);
    return root;
}

// validate: every comparison passes, and the rows are as in the design; the sweep of the tolerance
// is one of them (G-45).
static void validationPassesAndItsRowsAreComplete(void** state)
{
    (void)state;
    rbChild child = RUN("validate", "--json", "--quick");
    rbExpectSuccess(&child);
    json_t* rows = parse(child.out);
    assert_true(json_array_size(rows) > 80);
    assert_non_null(strstr(child.out, "\"convex-epsilon\""));
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t* row = json_array_get(rows, i);
        assert_true(json_is_string(json_object_get(row, "case")));
        assert_true(json_is_string(json_object_get(row, "quantity")));
        assert_true(json_is_number(json_object_get(row, "value")));
        // a bound has no truth, but every row says where its reference comes from
        bool isBound = json_is_true(json_object_get(row, "bound"));
        assert_true(json_is_number(json_object_get(row, "truth")) == !isBound);
        const char* source = json_string_value(json_object_get(row, "source"));
        assert_non_null(source);
        assert_string_not_equal(source, "unstated");
        assert_true(json_number_value(json_object_get(row, "error")) <=
                    json_number_value(json_object_get(row, "tolerance")));
        assert_true(json_is_true(json_object_get(row, "pass")));
    }
    json_decref(rows);
    rbFreeChild(&child);
    child = RUN("validate", "--list");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "tumbling-box"));
    rbFreeChild(&child);
}

static void benchRowsAreComplete(void** state)
{
    (void)state;
    const char* suite = rbTest_IsLong() ? "flight" : "math";
    rbChild child = RUN("bench", suite, "--json", "--csv", "rows.csv");
    rbExpectSuccess(&child);
    json_t* rows = parse(child.out);
    assert_true(json_array_size(rows) >= 10);
    static const char* const texts[] = {"suite", "case", "engine", "metric", "unit", "result"};
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t* row = json_array_get(rows, i);
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; ++k) {
            assert_true(json_is_string(json_object_get(row, texts[k])));
        }
        assert_true(json_number_value(json_object_get(row, "value")) > 0.0);
        assert_non_null(json_object_get(row, "error_max"));
    }
    json_decref(rows);
    rbFreeChild(&child);
    size_t size = 0;
    char* table = rbReadFile(rbScratch("rows.csv"), &size);
    assert_memory_equal(table, "suite,case,engine,metric,value,unit,result,error_max\n", 53);
    free(table);
}

RB_TEST_GROUP(test_usage, SCRATCH_TEST(everyVerbHasHelpWithExamples),
              SCRATCH_TEST(unknownWordsGetTheNearestKnownOne), SCRATCH_TEST(wrongUseIsExplained),
              SCRATCH_TEST(launchersOfSeveralProcessesAreRefused),
              SCRATCH_TEST(listingShowsEveryScene), SCRATCH_TEST(anotherFolderOfScenesCanBeNamed),
              SCRATCH_TEST(validationPassesAndItsRowsAreComplete),
              SCRATCH_TEST(benchRowsAreComplete));
