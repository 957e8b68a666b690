#include "server_support.h"

#include "rb_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rbScene* openScene(const char* name)
{
    char path[512];
    rbError error = {0};
    (void)snprintf(path, sizeof path, "%s/scenes/%s.json", RB_SOURCE_DIR, name);
    rbScene* scene = rbReadScene(path, &error);
    if (scene == NULL) {
        fail_msg("%s: %s", path, error.message);
    }
    return scene;
}

Stage openStage(const char* name)
{
    rbError error = {0};
    Stage stage = {.scene = openScene(name)};
    stage.world = rbScene_CreateWorld(stage.scene, &error);
    assert_non_null(stage.world);
    assert_int_equal(rbScene_PrepareWorld(stage.scene, stage.world, &error), RB_STATUS_OK);
    stage.actor = rbCreateActor(stage.scene, stage.world);
    return stage;
}

void closeStage(Stage* stage)
{
    rbDestroyActor(stage->actor);
    rbDestroyWorld(stage->world);
    rbDestroyScene(stage->scene);
}

void apply(const Stage* stage, const char* format, ...)
{
    char text[4096];
    rbError error = {0};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (rbApplyAction(stage->actor, stage->world, text, &error) != RB_STATUS_OK) {
        fail_msg("%s: %s", text, error.message);
    }
}

void refuse(const Stage* stage, const char* text, const char* sentence)
{
    rbError error = {0};
    size_t size = rbWorld_GetSnapshotSize(stage->world);
    char* before = malloc(size);
    char* after = malloc(size);
    assert_true(before != NULL && after != NULL);
    assert_int_equal(rbWorld_TakeSnapshot(stage->world, before, size, NULL), RB_STATUS_OK);
    rbStatus status = rbApplyAction(stage->actor, stage->world, text, &error);
    if (status == RB_STATUS_OK) {
        fail_msg("taken: %s", text);
    }
    if (strstr(error.message, sentence) == NULL) {
        fail_msg("%s gave \"%s\", expected \"%s\"", text, error.message, sentence);
    }
    assert_int_equal(error.status, status);
    assert_int_equal(rbWorld_GetSnapshotSize(stage->world), size);
    assert_int_equal(rbWorld_TakeSnapshot(stage->world, after, size, NULL), RB_STATUS_OK);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
}

rbBodyState stateOf(const Stage* stage, const char* body)
{
    rbBodyId bodyId = rbWorld_FindBody(stage->world, body);
    assert_false(RB_IS_NULL(bodyId));
    return rbBody_GetState(stage->world, bodyId);
}
