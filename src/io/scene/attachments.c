// Files of a scene: read once, from the former scene, a callback or the disk, and kept for
// recordings.
#include "io/scene/file_bytes.h"
#include "io/scene/scene_model.h"

#include <string.h>

static const rbSceneAttachment* findAttachment(const rbScene* scene, const char* name)
{
    for (int i = 0; scene != NULL && i < scene->attachments.count; ++i) {
        if (strcmp(scene->attachments.data[i].name, name) == 0) {
            return &scene->attachments.data[i];
        }
    }
    return NULL;
}

static void* copyBytes(const void* bytes, size_t size)
{
    void* copy = rbAlloc(size);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

// Loads a file that is not attached yet; the caller frees the bytes with rbFree.
static rbStatus loadBytes(const rbScene* scene, const char* name, void** bytes, size_t* size,
                          rbError* error)
{
    RB_ASSERT(*bytes == NULL);
    const rbSceneAttachment* former = findAttachment(scene->former, name);
    if (former != NULL) {
        *bytes = copyBytes(former->bytes, former->size);
        *size = former->size;
        return RB_STATUS_OK;
    }
    if (scene->fileFn == NULL) {
        char* path = rbJoinPath(scene->folder, name);
        rbStatus status = rbReadFileBytes(path, RB_SCENE_FILE_SIZE_MAX, bytes, size, error);
        rbFreeString(path);
        return status;
    }
    size_t given = 0;
    const void* source = scene->fileFn(name, &given, scene->fileContext);
    if (source == NULL) {
        return rbError_Set(error, RB_STATUS_NOT_FOUND, "the scene comes without this file");
    }
    if (given > RB_SCENE_FILE_SIZE_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT, "is too large; the limit is %zu MB",
                           RB_SCENE_FILE_SIZE_MAX >> 20);
    }
    *bytes = copyBytes(source, given);
    *size = given;
    return RB_STATUS_OK;
}

rbStatus rbScene_Attach(rbScene* scene, const char* name, const void** bytes, size_t* size,
                        rbError* error)
{
    RB_ASSERT(name != NULL);
    const rbSceneAttachment* known = findAttachment(scene, name);
    if (known == NULL) {
        rbSceneAttachment attachment = {0};
        rbStatus status = loadBytes(scene, name, &attachment.bytes, &attachment.size, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        attachment.name = rbCopyText(name, strlen(name));
        attachment.nameSize = strlen(name) + 1;
        rbArray_Push(scene->attachments, attachment);
        known = &scene->attachments.data[scene->attachments.count - 1];
    }
    *bytes = known->bytes;
    *size = known->size;
    return RB_STATUS_OK;
}

void rbScene_GetAttachment(const rbScene* scene, int index, const char** name, const void** bytes,
                           size_t* size)
{
    RB_ASSERT(scene != NULL);
    RB_ASSERT(index >= 0 && index < scene->attachments.count);
    const rbSceneAttachment* attachment = &scene->attachments.data[index];
    *name = attachment->name;
    *bytes = attachment->bytes;
    *size = attachment->size;
}
