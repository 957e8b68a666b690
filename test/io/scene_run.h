// A scene of the repository that a test runs with its own settings.
#pragma once

#include "scene_support.h"

typedef struct Run {
    rbScene* scene;
    rbWorld* world;
} Run;

static inline Run startRun(const char* theme, const char* name)
{
    Run run = {.scene = readNamed(name)};
    assert_int_equal(rbScene_GetInfo(run.scene)->engineType, RB_ENGINE_STEP);
    assert_string_equal(rbScene_GetInfo(run.scene)->theme, theme);
    run.world = makeWorld(run.scene);
    return run;
}

// Scenes have ' where JSON has ", for the reader.
static inline Run startText(const char* text, const char* assignment)
{
    char json[4096];
    size_t size = strlen(text);
    assert_true(size < sizeof json);
    for (size_t i = 0; i <= size; ++i) {
        json[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    }
    Run run = {.scene = readText(json)};
    rbError error = {0};
    if (rbScene_Override(run.scene, assignment, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    run.world = makeWorld(run.scene);
    return run;
}

static inline void go(const Run* run, double time)
{
    rbStepReport report = rbWorld_AdvanceTo(run->world, time);
    if (report.status != RB_STATUS_OK) {
        rbError error = rbWorld_GetError(run->world);
        print_error("%s: %s\n", rbScene_GetInfo(run->scene)->name, formatError(&error));
    }
    assert_int_equal(report.status, RB_STATUS_OK);
}

static inline double get(const Run* run, const char* column)
{
    return getColumn(run->scene, run->world, column);
}

static inline void endRun(Run* run)
{
    rbDestroyWorld(run->world);
    rbDestroyScene(run->scene);
}
