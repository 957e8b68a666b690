// Any bytes as a scene: read, override, create its world when it is small, step it, destroy
// everything. The mesh files it names are two small ones in memory; the disk is not used.
#include "laboratory/scene_rows.h"

#include <rattleback/scene.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static const char box[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                          "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
static const char open[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

static const void* supply(const char* name, size_t* size, void* context)
{
    (void)context;
    const char* text = strcmp(name, "a.obj") == 0 ? box : strcmp(name, "b.obj") == 0 ? open : NULL;
    *size = text != NULL ? strlen(text) : 0;
    return text;
}

// Every error has a message.
static void checkError(const rbError* error)
{
    if (error->status == RB_STATUS_OK || error->message[0] == '\0') {
        abort();
    }
}

static void runScene(const rbScene* scene)
{
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    if (info->bodyCount > 1000 || info->forceCount > 100) {
        return;
    }
    rbError error = {0};
    rbWorld* world = rbScene_CreateWorld(scene, &error);
    if (world == NULL) {
        checkError(&error);
        return;
    }
    double values[64];
    (void)rbScene_EvaluateProbes(scene, world, values, 64);
    if (info->bodyCount <= 50 && rbWorld_Prepare(world, &error) != RB_STATUS_OK) {
        checkError(&error);
    }
    rbDestroyWorld(world);
}

// The text of a scene, read again, produces the same text.
static void checkText(const rbScene* scene, const rbSceneSource* source)
{
    size_t size = 0;
    const char* text = rbScene_GetText(scene, &size);
    rbScene* again = rbReadSceneText(text, size, source, NULL);
    if (again == NULL || strcmp(rbScene_GetText(again, NULL), text) != 0) {
        abort();
    }
    rbDestroyScene(again);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    rbError error = {0};
    (void)rbRegisterSceneLaboratory(NULL);
    rbSceneSource source = {.name = "fuzz.json", .fileFn = supply};
    // The bytes after a zero byte are an override.
    const uint8_t* zero = size > 0 ? memchr(data, 0, size) : NULL;
    size_t textSize = zero != NULL ? (size_t)(zero - data) : size;
    rbScene* scene = rbReadSceneText((const char*)data, textSize, &source, &error);
    if (scene == NULL) {
        checkError(&error);
        return 0;
    }
    if (zero != NULL) {
        char assignment[256];
        (void)snprintf(assignment, sizeof assignment, "%.*s", (int)(size - textSize - 1),
                       (const char*)zero + 1);
        if (rbScene_Override(scene, assignment, &error) != RB_STATUS_OK) {
            checkError(&error);
        }
    }
    checkText(scene, &source);
    runScene(scene);
    rbDestroyScene(scene);
    return 0;
}
