// Output formats for other programs that draw: glTF (.glb) and USD (.usda), with the motion of all
// bodies. One frame for every output; --fps and --speed mean what they mean for videos.
#include "base/core/memory.h"
#include "cli/output_format.h"
#include "render/animation.h"

#include <string.h>

#define RATE 30

static bool readPlan(const rbArguments* arguments, rbAnimationDef* def)
{
    double rate = RATE;
    def->speed = 1.0;
    bool isGood = rbArguments_GetNumber(arguments, "--speed", 1e-9, 1e9, &def->speed) &&
                  rbArguments_GetNumber(arguments, "--fps", 1.0, 240.0, &rate);
    def->rate = (int)(rate + 0.5);
    return isGood;
}

static bool checkName(const rbArguments* arguments, const char* option, const char* ending)
{
    const char* path = rbArguments_Get(arguments, option);
    size_t length = path != NULL ? strlen(path) : 0;
    size_t tail = strlen(ending);
    if (path != NULL && strncmp(path, "/dev/", 5) != 0 &&
        (length <= tail || strcmp(path + length - tail, ending) != 0)) {
        (void)rbFail("%s is '%s'; the name must end in %s", option, path, ending);
        return false;
    }
    return true;
}

static bool checkGltf(const rbArguments* arguments)
{
    return checkName(arguments, "--gltf", ".glb");
}

static bool checkUsd(const rbArguments* arguments)
{
    return checkName(arguments, "--usd", ".usda");
}

// One output per frame.
static bool chooseAnimationStep(const rbArguments* arguments, double* step)
{
    rbAnimationDef def = {0};
    if (!readPlan(arguments, &def)) {
        return false;
    }
    *step = def.speed / def.rate;
    return true;
}

typedef struct AnimationWriter {
    rbAnimation* animation;
    const char* path;
    rbStatus (*write)(rbAnimation* animation, const char* path, rbError* error);
} AnimationWriter;

static void abandonAnimation(void* object)
{
    AnimationWriter* writer = object;
    rbDestroyAnimation(writer->animation);
    rbFree(writer, sizeof *writer);
}

static void* openAnimation(const rbOutputRun* run, const char* path, rbError* error)
{
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    rbAnimationDef def = {.title = info->title, .scene = run->scene};
    AnimationWriter* writer = rbAllocZero(1, sizeof *writer);
    writer->path = path;
    writer->write = run->format == &rbGltfFormat ? rbAnimation_WriteGltf : rbAnimation_WriteUsd;
    (void)readPlan(run->arguments, &def);
    writer->animation = rbCreateAnimation(&def, run->world, error);
    if (writer->animation == NULL) {
        abandonAnimation(writer);
        return NULL;
    }
    return writer;
}

static rbStatus writeAnimationFrame(void* object, const rbOutputRun* run, rbError* error)
{
    AnimationWriter* writer = object;
    return rbAnimation_Take(writer->animation, run->world, error);
}

static rbStatus finishAnimation(void* object, const rbOutputRun* run, rbError* error)
{
    AnimationWriter* writer = object;
    // a run that ends before its first output has a frame too
    rbStatus status = rbAnimation_Take(writer->animation, run->world, error);
    if (status == RB_STATUS_OK) {
        status = writer->write(writer->animation, writer->path, error);
    }
    abandonAnimation(writer);
    return status;
}

const rbOutputFormat rbGltfFormat = {
    .kind = "gltf",
    .option = {"--gltf", "FILE", "writes bodies and their motion as glTF (.glb), e.g. for Blender"},
    .check = checkGltf,
    .chooseStep = chooseAnimationStep,
    .open = openAnimation,
    .writeFrame = writeAnimationFrame,
    .finish = finishAnimation,
    .abandon = abandonAnimation,
};

const rbOutputFormat rbUsdFormat = {
    .kind = "usd",
    .option = {"--usd", "FILE", "writes bodies and their motion as USD text (.usda)"},
    .check = checkUsd,
    .chooseStep = chooseAnimationStep,
    .open = openAnimation,
    .writeFrame = writeAnimationFrame,
    .finish = finishAnimation,
    .abandon = abandonAnimation,
};
