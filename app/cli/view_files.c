#define _XOPEN_SOURCE 700

#include "cli/view_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------- what pages
// send

static const void* giveSentFile(const char* name, size_t* size, void* context)
{
    const rbSentScene* sent = context;
    if (sent->fileName == NULL || strcmp(name, sent->fileName) != 0) {
        return NULL; // files of this machine are none of a page's business
    }
    *size = sent->size;
    return sent->bytes;
}

rbScene* rbReadSentScene(const rbSentScene* sent, rbError* error)
{
    rbSentScene copy = *sent;
    rbSceneSource source = {.name = sent->name, .fileFn = giveSentFile, .context = &copy};
    return rbReadSceneText(sent->text, strlen(sent->text), &source, error);
}

static bool writeAll(int file, const void* bytes, size_t size)
{
    const char* next = bytes;
    while (size > 0) {
        ssize_t written = write(file, next, size);
        if (written <= 0) {
            return false;
        }
        next += written;
        size -= (size_t)written;
    }
    return true;
}

// The reader wants a file. It is deleted as soon as it is open.
rbRecording* rbReadSentRecording(const rbSentScene* sent, rbError* error)
{
    const char* folder = getenv("TMPDIR");
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/rattleback-XXXXXX",
                   folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) {
        (void)rbError_Set(error, RB_STATUS_IO, "the recording cannot be stored in %.200s", path);
        return NULL;
    }
    rbRecording* recording = NULL;
    if (writeAll(file, sent->bytes, sent->size)) {
        recording = rbOpenRecording(path, error);
        error->file[0] = '\0'; // a name that means nothing to the user
    } else {
        (void)rbError_Set(error, RB_STATUS_IO, "the recording cannot be stored: is the disk full?");
    }
    (void)close(file);
    (void)unlink(path);
    return recording;
}

// ------------------------------------------------------------------------------------------
// watching

void rbWatch_Start(rbWatch* watch, const char* path)
{
    (void)snprintf(watch->path, sizeof watch->path, "%s", path);
    if (stat(watch->path, &watch->last) != 0) {
        watch->path[0] = '\0';
    }
}

bool rbWatch_HasChanged(rbWatch* watch)
{
    struct stat now;
    if (watch->path[0] == '\0' || stat(watch->path, &now) != 0 || now.st_size == 0) {
        return false;
    }
    bool isSame = now.st_mtim.tv_sec == watch->last.st_mtim.tv_sec &&
                  now.st_mtim.tv_nsec == watch->last.st_mtim.tv_nsec &&
                  now.st_size == watch->last.st_size && now.st_ino == watch->last.st_ino;
    watch->last = now;
    return !isSame;
}
