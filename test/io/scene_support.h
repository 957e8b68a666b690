// Shared helpers of the scene tests.
#pragma once

#include "rb_test.h"

#include <rattleback/scene.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Every scene of the repository.
static const char* const sceneNames[] = {
    "tumbling-box",
    "intermediate-axis",
    "near-separatrix",
    "symmetric-top",
    "spinning-plate",
    "kepler",
    "swarm",
    "shapes",
    "falling-with-drag",
    "kinematic-carousel",
    "torqued-wheel",
};
#define SCENE_COUNT (sizeof sceneNames / sizeof sceneNames[0])

// An error as the user sees it; a static text.
static inline const char* formatError(const rbError* error)
{
    static char text[1024];
    rbError_Format(error, text, sizeof text);
    return text;
}

// A text that is refused, and the expected error.
typedef struct Case {
    const char* text;
    rbStatus status;
    const char* expected; // part of the formatted error
} Case;

static inline void checkCase(const char* text, size_t size, rbStatus status, const char* expected)
{
    uint64_t before = rbGetAllocatedBytes();
    rbError error = {0};
    rbSceneSource source = {.name = "bad.json", .folder = RB_SOURCE_DIR "/scenes"};
    rbScene* scene = rbReadSceneText(text, size, &source, &error);
    if (scene != NULL) {
        fail_msg("accepted: %s", text);
    }
    const char* formatted = formatError(&error);
    if (error.status != status || strstr(formatted, expected) == NULL ||
        strncmp(formatted, "bad.json:", 9) != 0) {
        // Not only by fail_msg: cmocka truncates long messages.
        print_error("%s\n", text);
        fail_msg("gave %s: %s\nexpected %s: %s", rbStatus_Text(error.status), formatted,
                 rbStatus_Text(status), expected);
    }
    assert_int_equal(rbGetAllocatedBytes(), before);
}

static inline void checkCases(const Case* cases, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        checkCase(cases[i].text, strlen(cases[i].text), cases[i].status, cases[i].expected);
    }
}
#define CHECK_CASES(cases) checkCases(cases, sizeof(cases) / sizeof((cases)[0]))

static inline rbScene* readText(const char* text)
{
    rbError error = {0};
    rbSceneSource source = {.name = "test.json", .folder = RB_SOURCE_DIR "/scenes"};
    rbScene* scene = rbReadSceneText(text, strlen(text), &source, &error);
    if (scene == NULL) {
        print_error("%s\n", formatError(&error));
    }
    assert_non_null(scene);
    return scene;
}

static inline rbScene* readNamed(const char* name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/scenes/%s.json", RB_SOURCE_DIR, name);
    rbError error = {0};
    rbScene* scene = rbReadScene(path, &error);
    if (scene == NULL) {
        print_error("%s\n", formatError(&error));
    }
    assert_non_null(scene);
    return scene;
}

static inline rbWorld* makeWorld(const rbScene* scene)
{
    rbError error = {0};
    rbWorld* world = rbScene_CreateWorld(scene, &error);
    if (world == NULL) {
        print_error("%s\n", formatError(&error));
    }
    assert_non_null(world);
    return world;
}

// The value of a column by its name.
static inline double getColumn(const rbScene* scene, const rbWorld* world, const char* name)
{
    int count = 0;
    const rbProbeColumn* columns = rbScene_GetProbeColumns(scene, &count);
    double values[256];
    assert_true(count <= 256);
    assert_int_equal(rbScene_EvaluateProbes(scene, world, values, 256), count);
    for (int i = 0; i < count; ++i) {
        if (strcmp(columns[i].name, name) == 0) {
            return values[i];
        }
    }
    fail_msg("there is no column %s", name);
    return 0.0;
}

// A scene of one body with the given keys, and optional further text at the top level.
#define BODY(keys) "{\"rattleback\": 1, \"bodies\": [{\"name\": \"box\"" keys "}]}"
#define BALL ", \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.5}}]"
