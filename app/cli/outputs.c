#define _XOPEN_SOURCE 700

#include "cli/outputs.h"

#include "base/core/memory.h"
#include "cli/inputs.h"
#include "io/output/state_stream.h"

#include <string.h>
#include <sys/stat.h>

static const char* getPath(const rbArguments* arguments, const rbOutputFormat* format)
{
    return rbArguments_Get(arguments, format->option.name);
}

static bool isStandardOutput(const rbArguments* arguments, const rbOutputFormat* format)
{
    const char* path = getPath(arguments, format);
    return format->allowsStandardOutput && path != NULL && strcmp(path, "-") == 0;
}

bool rbOutputs_Check(const rbArguments* arguments)
{
    bool isGood = true;
    const rbOutputFormat* format;
    for (int i = 0; isGood && (format = rbGetOutputFormat(i)) != NULL; ++i) {
        isGood = format->check == NULL || format->check(arguments);
    }
    return isGood;
}

bool rbOutputs_CheckNames(const rbArguments* arguments, const rbScene* scene)
{
    rbOutputName names[RB_OUTPUT_FORMATS_MAX];
    int count = 0;
    const rbOutputFormat* format;
    for (int i = 0; (format = rbGetOutputFormat(i)) != NULL; ++i) {
        names[count++] = (rbOutputName){format->option.name, getPath(arguments, format)};
    }
    return rbCheckOutputNames(arguments, scene, names, count);
}

bool rbOutputs_FindStandardOutput(const rbArguments* arguments, const char** option)
{
    *option = NULL;
    const rbOutputFormat* format;
    for (int i = 0; (format = rbGetOutputFormat(i)) != NULL; ++i) {
        if (isStandardOutput(arguments, format)) {
            if (*option != NULL) {
                (void)rbFail("%s - and %s - cannot share standard output", *option,
                             format->option.name);
                return false;
            }
            *option = format->option.name;
        }
    }
    return true;
}

bool rbOutputs_ChooseStep(const rbArguments* arguments, double* step)
{
    bool isGood = true;
    const rbOutputFormat* format;
    for (int i = 0; isGood && (format = rbGetOutputFormat(i)) != NULL; ++i) {
        if (format->chooseStep != NULL && getPath(arguments, format) != NULL) {
            isGood = format->chooseStep(arguments, step);
        }
    }
    return isGood;
}

bool rbOutputs_NeedEvents(const rbArguments* arguments)
{
    const rbOutputFormat* format;
    for (int i = 0; (format = rbGetOutputFormat(i)) != NULL; ++i) {
        if (format->writeEvents != NULL && getPath(arguments, format) != NULL) {
            return true;
        }
    }
    return false;
}

// Opens an output at its place in a checkpoint, whose next state must be its own.
static void* continueFormat(rbOutputs* outputs, const rbOutputFormat* format, const char* path,
                            rbError* error)
{
    rbStateStream* states = outputs->run.states;
    const char* kind = rbStateStream_TakeText(states);
    bool isOurs = format->save != NULL && strcmp(kind, format->kind) == 0;
    rbStateStream state = rbStateStream_TakeBlock(states);
    void* writer = NULL;
    if (isOurs && !states->isBad) {
        outputs->run.state = &state;
        writer = format->open(&outputs->run, path, error);
        outputs->run.state = NULL;
    }
    bool isLoaded = isOurs && !states->isBad && rbStateStream_IsLoaded(&state);
    if (writer != NULL && !isLoaded) {
        format->abandon(writer);
        writer = NULL;
    }
    if (!isLoaded && error->status == RB_STATUS_OK) {
        (void)rbError_Set(error, RB_STATUS_CORRUPT,
                          "the state of %s in the checkpoint is damaged; start the run anew "
                          "without --resume",
                          format->option.name);
    }
    return writer;
}

rbStatus rbOutputs_Open(rbOutputs* outputs, const rbOutputRun* run, rbError* error)
{
    memset(outputs, 0, sizeof *outputs);
    outputs->run = *run;
    outputs->run.valueCount = rbScene_GetInfo(run->scene)->columnCount + 1;
    outputs->values = rbAllocZero((size_t)outputs->run.valueCount, sizeof *outputs->values);
    outputs->run.values = outputs->values;
    outputs->run.frame = &outputs->frame;
    const rbOutputFormat* format;
    for (int i = 0; (format = rbGetOutputFormat(i)) != NULL; ++i) {
        const char* path = getPath(run->arguments, format);
        if (path != NULL) {
            outputs->run.format = format;
            outputs->writers[i] = run->states != NULL ? continueFormat(outputs, format, path, error)
                                                      : format->open(&outputs->run, path, error);
            if (outputs->writers[i] == NULL) {
                rbOutputs_Abandon(outputs);
                return error->status;
            }
        }
    }
    return RB_STATUS_OK;
}

rbStatus rbOutputs_Save(rbOutputs* outputs, rbStateStream* stream, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    const rbOutputFormat* format;
    for (int i = 0; status == RB_STATUS_OK && (format = rbGetOutputFormat(i)) != NULL; ++i) {
        if (outputs->writers[i] != NULL) {
            rbStateStream state = {0};
            status = format->save(outputs->writers[i], &state, error);
            rbStateStream_PutText(stream, format->kind);
            rbStateStream_PutBlock(stream, &state);
            rbStateStream_Free(&state);
        }
    }
    return status;
}

bool rbOutputs_CheckCheckpoint(const rbArguments* arguments, const char* checkpointPath)
{
    const rbOutputFormat* format;
    for (int i = 0; (format = rbGetOutputFormat(i)) != NULL; ++i) {
        const char* path = getPath(arguments, format);
        if (path != NULL && format->save == NULL) {
            (void)rbFail("%s cannot be continued after a restart, so it does not go with "
                         "--checkpoint; leave out one of them, or write a recording (--record), "
                         "which 'rattleback view' shows",
                         format->option.name);
            return false;
        }
        if (path != NULL && isStandardOutput(arguments, format)) {
            (void)rbFail("%s - cannot be continued after a restart, so it does not go with "
                         "--checkpoint; give a file name",
                         format->option.name);
            return false;
        }
        if (path != NULL && strcmp(path, checkpointPath) == 0) {
            (void)rbFail("--checkpoint and %s name the same file '%s'; choose two",
                         format->option.name, path);
            return false;
        }
    }
    return true;
}

rbStatus rbOutputs_WriteEvents(rbOutputs* outputs, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    const rbOutputFormat* format;
    for (int i = 0; status == RB_STATUS_OK && (format = rbGetOutputFormat(i)) != NULL; ++i) {
        if (outputs->writers[i] != NULL && format->writeEvents != NULL) {
            status = format->writeEvents(outputs->writers[i], &outputs->run, error);
        }
    }
    return status;
}

// Evaluates values that several formats need only once.
static void prepareFrame(rbOutputs* outputs)
{
    const rbOutputRun* run = &outputs->run;
    bool needsProbes = false;
    bool needsPoses = false;
    const rbOutputFormat* format;
    for (int i = 0; (format = rbGetOutputFormat(i)) != NULL; ++i) {
        bool isOpen = outputs->writers[i] != NULL;
        needsProbes = needsProbes || (isOpen && format->needsProbes);
        needsPoses = needsPoses || (isOpen && format->needsPoses);
    }
    if (needsProbes) {
        outputs->values[0] = rbWorld_GetTime(run->world);
        (void)rbScene_EvaluateProbes(run->scene, run->world, outputs->values + 1,
                                     run->valueCount - 1);
    }
    if (needsPoses) {
        outputs->frame = rbFrameBuffer_Capture(run->buffer, run->world);
    }
}

rbStatus rbOutputs_WriteFrame(rbOutputs* outputs, rbError* error)
{
    prepareFrame(outputs);
    rbStatus status = RB_STATUS_OK;
    const rbOutputFormat* format;
    for (int i = 0; status == RB_STATUS_OK && (format = rbGetOutputFormat(i)) != NULL; ++i) {
        if (outputs->writers[i] != NULL && format->writeFrame != NULL) {
            status = format->writeFrame(outputs->writers[i], &outputs->run, error);
        }
    }
    return status;
}

rbStatus rbOutputs_Finish(rbOutputs* outputs, uint64_t hash, rbError* error)
{
    outputs->run.hash = hash;
    rbStatus status = RB_STATUS_OK;
    const rbOutputFormat* format;
    for (int i = 0; status == RB_STATUS_OK && (format = rbGetOutputFormat(i)) != NULL; ++i) {
        if (outputs->writers[i] != NULL) {
            status = format->finish(outputs->writers[i], &outputs->run, error);
            outputs->writers[i] = NULL;
        }
    }
    rbOutputs_Abandon(outputs);
    return status;
}

void rbOutputs_Abandon(rbOutputs* outputs)
{
    const rbOutputFormat* format;
    for (int i = 0; (format = rbGetOutputFormat(i)) != NULL; ++i) {
        if (outputs->writers[i] != NULL) {
            format->abandon(outputs->writers[i]);
            outputs->writers[i] = NULL;
        }
    }
    rbFree(outputs->values, (size_t)outputs->run.valueCount * sizeof *outputs->values);
    outputs->values = NULL;
}

static double getFileSize(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (double)status.st_size : 0.0;
}

void rbOutputs_List(const rbArguments* arguments, const rbSceneInfo* info, rbOutputList* list)
{
    list->count = 0;
    size_t used = 0;
    const rbOutputFormat* format;
    for (int i = 0; (format = rbGetOutputFormat(i)) != NULL; ++i) {
        const char* path = getPath(arguments, format);
        if (path != NULL && strcmp(path, "-") != 0) {
            if (format->nameFile != NULL && used + 1 < sizeof list->text) {
                char* text = list->text + used;
                format->nameFile(path, info, text, sizeof list->text - used);
                used += strlen(text) + 1;
                path = text;
            }
            list->files[list->count++] = (rbWrittenFile){format->kind, path, getFileSize(path)};
        }
    }
}
