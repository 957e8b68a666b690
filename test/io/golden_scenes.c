// Every scene of the repository for a moment, the second half of it in another world that a
// snapshot made: the bits of its state and of what a user reads, and the work that was done.
// golden_scenes.txt has a line per run, see golden_lines.h.
#include "golden_lines.h"

#include <dirent.h>

#define FILE_NAME "golden_scenes.txt"

static void advance(rbWorld* world, double time, const char* line)
{
    rbStepReport report = rbWorld_AdvanceTo(world, time);
    if (report.status != RB_STATUS_OK && report.status != RB_STATUS_NUMERICAL) {
        fail_msg("%s: %s", line, rbWorld_GetError(world).message);
    }
}

// A new world in the state of another, which is destroyed: snapshots forget nothing.
static rbWorld* goOnElsewhere(const rbScene* scene, rbWorld* first)
{
    rbError error = {0};
    size_t size = rbWorld_GetSnapshotSize(first);
    void* bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(rbWorld_TakeSnapshot(first, bytes, size, &error), RB_STATUS_OK);
    rbDestroyWorld(first);
    rbWorld* world = makeWorld(scene);
    if (rbWorld_RestoreSnapshot(world, bytes, size, &error) != RB_STATUS_OK) {
        fail_msg("%s", formatError(&error));
    }
    free(bytes);
    return world;
}

static rbWorld* runInTwoWorlds(const rbGoldenRun* run, uint64_t* numbers)
{
    rbWorld* first = makeWorld(run->scene);
    advance(first, 0.5 * run->seconds, run->line);
    *numbers = rbGolden_HashEvents(*numbers, first);
    rbWorld* world = goOnElsewhere(run->scene, first);
    advance(world, run->seconds, run->line);
    return world;
}

static void compareLines(const char* name)
{
    rbGolden_CompareLines(FILE_NAME, name, runInTwoWorlds);
}

static void flightsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    compareLines("flight");
}

static void eventsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    compareLines("event");
}

static void stepsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    compareLines("step");
}

// Each setting that chooses a method or changes its work, in a scene that it matters in.
static void settingsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    compareLines("settings");
}

// Steps far too large, with too few iterations: what is done when a method does not converge.
static void overloadedStepsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    compareLines("overload");
}

// Random settings, several at a time, in scenes that were not made for them.
static void variedSettingsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    compareLines("varied");
}

static bool isListed(const char* name)
{
    FILE* file = fopen(RB_SOURCE_DIR "/test/io/" FILE_NAME, "r");
    assert_non_null(file);
    char line[GOLDEN_LINE_SIZE];
    size_t length = strlen(name);
    bool isFound = false;
    while (!isFound && fgets(line, sizeof line, file) != NULL) {
        isFound = strncmp(line, name, length) == 0 && line[length] == ' ';
    }
    (void)fclose(file);
    return isFound;
}

static void everySceneIsListed(void** state)
{
    (void)state;
    DIR* folder = opendir(RB_SOURCE_DIR "/scenes");
    assert_non_null(folder);
    int missing = 0;
    for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char name[256];
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)(length - 5), entry->d_name);
        if (!isListed(name)) {
            print_error("%s is not in golden_scenes.txt\n", name);
            missing += 1;
        }
    }
    (void)closedir(folder);
    assert_int_equal(missing, 0);
}

RB_TEST_GROUP(golden_scenes, cmocka_unit_test(everySceneIsListed),
              cmocka_unit_test(flightsHaveTheSameBitsEverywhere),
              cmocka_unit_test(eventsHaveTheSameBitsEverywhere),
              cmocka_unit_test(stepsHaveTheSameBitsEverywhere),
              cmocka_unit_test(settingsHaveTheSameBitsEverywhere),
              cmocka_unit_test(overloadedStepsHaveTheSameBitsEverywhere),
              cmocka_unit_test(variedSettingsHaveTheSameBitsEverywhere));
