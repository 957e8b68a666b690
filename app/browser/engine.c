// The module itself: start, memory, errors and the files of scenes.
#include "browser/engine.h"

#include "base/core/memory.h"
#include "browser/engine_state.h"
#include "laboratory/scene_rows.h"
#include "session/message.h"

#include <stdio.h>
#include <string.h>

#define STRINGIFY(x) #x
#define TO_TEXT(x) STRINGIFY(x)

typedef struct File {
    char* name; // terminated
    void* bytes;
    size_t size;
} File;

// A module has one host, hence one state: the host makes a new module where it wants another.
static struct {
    RB_ARRAY(File) files;
    char missingFile[256];
    rbMessage error;
} module;

bool rbEngine_Start(void)
{
    rbError error = {0};
    if (rbRegisterSceneLaboratory(&error) != RB_STATUS_OK) {
        rbEngine_SetError(&error);
        return false;
    }
    return true;
}

const char* rbEngine_GetVersion(void)
{
    return TO_TEXT(RB_VERSION_MAJOR) "." TO_TEXT(RB_VERSION_MINOR) "." TO_TEXT(RB_VERSION_PATCH);
}

void* rbEngine_Alloc(size_t size)
{
    return rbAlloc(size);
}

void rbEngine_Free(void* memory, size_t size)
{
    rbFree(memory, size);
}

// ------------------------------------------------------------------------------------------ errors

void rbEngine_SetError(const rbError* error)
{
    char text[sizeof *error];
    rbError_Format(error, text, sizeof text);
    rbMessage* message = &module.error;
    rbMessage_Clear(message, true);
    rbMessage_Text(message, "{");
    rbMessage_PutString(message, "status", rbStatus_Text(error->status));
    rbMessage_PutNumber(message, "line", error->line);
    rbMessage_PutNumber(message, "column", error->column);
    rbMessage_PutString(message, "place", error->place);
    rbMessage_PutString(message, "text", text);
    rbMessage_Text(message, "}");
    rbMessage_Bytes(message, "", 1);
}

const char* rbEngine_GetError(void)
{
    return module.error.size > 0 ? (const char*)rbMessage_GetBytes(&module.error) : "{}";
}

// ------------------------------------------------------------------------------------------- files

static File* findFile(const char* name)
{
    for (int i = 0; i < module.files.count; ++i) {
        if (strcmp(module.files.data[i].name, name) == 0) {
            return &module.files.data[i];
        }
    }
    return NULL;
}

void rbEngine_PutFile(const char* name, void* bytes, size_t size)
{
    File* file = findFile(name);
    if (file == NULL) {
        size_t nameSize = strlen(name) + 1;
        File added = {.name = rbAlloc(nameSize)};
        memcpy(added.name, name, nameSize);
        rbArray_Push(module.files, added);
        file = &module.files.data[module.files.count - 1];
    }
    rbFree(file->bytes, file->size);
    file->bytes = bytes;
    file->size = size;
}

void rbEngine_DropFiles(void)
{
    for (int i = 0; i < module.files.count; ++i) {
        const File* file = &module.files.data[i];
        rbFree(file->bytes, file->size);
        rbFree(file->name, strlen(file->name) + 1);
    }
    rbArray_Free(module.files);
}

const char* rbEngine_GetMissingFile(void)
{
    return module.missingFile;
}

static const void* giveFile(const char* name, size_t* size, void* context)
{
    (void)context;
    const File* file = findFile(name);
    if (file == NULL) {
        (void)snprintf(module.missingFile, sizeof module.missingFile, "%s", name);
        return NULL;
    }
    *size = file->size;
    // an empty file is one, too
    return file->bytes != NULL ? file->bytes : "";
}

rbScene* rbEngine_ReadScene(const char* text, size_t size, const char* name)
{
    const rbSceneSource source = {.name = name, .fileFn = giveFile};
    rbError error = {0};
    module.missingFile[0] = '\0';
    rbScene* scene = rbReadSceneText(text, size, &source, &error);
    if (scene == NULL) {
        rbEngine_SetError(&error);
    }
    return scene;
}
