#define _XOPEN_SOURCE 700

#include "cli/inputs.h"

#include "cli/scenes.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_SIZE 4096
#define PART_ENDING ".part" // of a file that is being written

// What tells one file from another: its own number, or, while it does not exist, the folder and the
// name.
typedef struct FileIdentity {
    bool isKnown;   // the file exists, or at least its folder
    bool isFile;    // it exists
    dev_t device;   // of the file, or of its folder
    ino_t number;   // likewise
    char name[256]; // in the folder
} FileIdentity;

static FileIdentity identify(const char* path)
{
    FileIdentity identity = {0};
    struct stat status;
    const char* slash = strrchr(path, '/');
    char folder[PATH_SIZE] = ".";
    if (stat(path, &status) == 0) {
        identity.isFile = S_ISREG(status.st_mode);
        identity.isKnown = identity.isFile;
    } else {
        if (slash != NULL) {
            (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
        }
        identity.isKnown = stat(folder, &status) == 0;
        (void)snprintf(identity.name, sizeof identity.name, "%.255s",
                       slash != NULL ? slash + 1 : path);
    }
    identity.device = identity.isKnown ? status.st_dev : 0;
    identity.number = identity.isKnown ? status.st_ino : 0;
    return identity;
}

static bool isSame(const FileIdentity* a, const FileIdentity* b)
{
    return a->isKnown && b->isKnown && a->isFile == b->isFile && a->device == b->device &&
           a->number == b->number && strcmp(a->name, b->name) == 0;
}

static FileIdentity identifyPart(const char* path)
{
    char part[PATH_SIZE];
    (void)snprintf(part, sizeof part, "%.4000s" PART_ENDING, path);
    return identify(part);
}

// Whether writing one path, by way of its .part, changes a file.
static bool changes(const char* output, const FileIdentity* file)
{
    FileIdentity whole = identify(output);
    FileIdentity part = identifyPart(output);
    return isSame(&whole, file) || isSame(&part, file);
}

static bool checkInput(const char* input, const rbOutputName* outputs, int count)
{
    FileIdentity identity = identify(input);
    for (int i = 0; identity.isFile && i < count; ++i) {
        if (changes(outputs[i].path, &identity)) {
            (void)rbFail("%s %s would overwrite %s, which is read; choose another name",
                         outputs[i].option, outputs[i].path, input);
            return false;
        }
    }
    return true;
}

// Two outputs with one name, or one with the name of the other's .part.
static bool checkPairs(const rbOutputName* outputs, int count)
{
    for (int i = 0; i < count; ++i) {
        FileIdentity own = identify(outputs[i].path);
        FileIdentity part = identifyPart(outputs[i].path);
        for (int k = 0; k < i; ++k) {
            if (changes(outputs[k].path, &own) || changes(outputs[k].path, &part)) {
                (void)rbFail("%s %s and %s %s are one file; give each output its own name",
                             outputs[k].option, outputs[k].path, outputs[i].option,
                             outputs[i].path);
                return false;
            }
        }
    }
    return true;
}

// The files that the scene names, next to its own.
static bool checkAttachments(const rbArguments* arguments, const rbScene* scene,
                             const rbOutputName* outputs, int count)
{
    char path[PATH_SIZE];
    if (!rbFindScenePath(arguments->words[0], path, sizeof path)) {
        return true;
    }
    if (!checkInput(path, outputs, count)) {
        return false;
    }
    const char* slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
    for (int i = 0; i < rbScene_GetInfo(scene)->attachmentCount; ++i) {
        const char* name = NULL;
        const void* bytes = NULL;
        size_t size = 0;
        char file[2 * PATH_SIZE];
        rbScene_GetAttachment(scene, i, &name, &bytes, &size);
        (void)snprintf(file, sizeof file, "%.*s%.4000s", name[0] == '/' ? 0 : folder, path, name);
        if (!checkInput(file, outputs, count)) {
            return false;
        }
    }
    return true;
}

bool rbCheckOutputNames(const rbArguments* arguments, const rbScene* scene,
                        const rbOutputName* outputs, int count)
{
    rbOutputName files[RB_CLI_VALUES_MAX];
    int fileCount = 0;
    for (int i = 0; i < count && fileCount < RB_CLI_VALUES_MAX; ++i) {
        if (outputs[i].path != NULL && strcmp(outputs[i].path, "-") != 0) {
            files[fileCount++] = outputs[i];
        }
    }
    bool isGood = checkPairs(files, fileCount);
    for (int i = 0; isGood && i < arguments->wordCount; ++i) {
        isGood = checkInput(arguments->words[i], files, fileCount);
    }
    const char* actions = rbArguments_Get(arguments, "--actions");
    isGood = isGood && (actions == NULL || checkInput(actions, files, fileCount));
    return isGood && (scene == NULL || checkAttachments(arguments, scene, files, fileCount));
}
