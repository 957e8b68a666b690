// Reading whole files with a limit: see file_bytes.h.
#define _POSIX_C_SOURCE 200809L

#include "io/scene/file_bytes.h"

#include "base/core/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// Reads to the end of the stream; the size that the file system gives is only a first guess: a pipe
// has none, and a file may grow.
static rbStatus readStream(FILE* stream, size_t guess, size_t limit, void** bytes, size_t* size)
{
    size_t capacity = guess + 1;
    char* data = rbAlloc(capacity);
    size_t used = 0;
    rbStatus status = RB_STATUS_OK;
    for (;;) {
        size_t got = fread(data + used, 1, capacity - used, stream);
        used += got;
        if (used > limit) {
            status = RB_STATUS_LIMIT;
            break;
        }
        if (got == 0 || used < capacity) {
            if (ferror(stream)) {
                status = RB_STATUS_IO;
                break;
            }
            if (feof(stream)) {
                break;
            }
        }
        if (used == capacity) {
            size_t larger = 2 * capacity <= limit + 1 ? 2 * capacity : limit + 1;
            RB_ASSERT(larger > capacity);
            data = rbGrow(data, capacity, larger);
            capacity = larger;
        }
    }
    if (status != RB_STATUS_OK || used == 0) {
        rbFree(data, capacity);
        return status;
    }
    *bytes = rbGrow(data, capacity, used);
    *size = used;
    return RB_STATUS_OK;
}

rbStatus rbReadFileBytes(const char* path, size_t limit, void** bytes, size_t* size, rbError* error)
{
    RB_ASSERT(path != NULL);
    RB_ASSERT(limit > 0);
    *bytes = NULL;
    *size = 0;
    rbError_SetPlace(error, path, "");
    errno = 0;
    FILE* stream = fopen(path, "rb");
    if (stream == NULL) {
        int reason = errno;
        return rbError_Set(error, reason == ENOENT ? RB_STATUS_NOT_FOUND : RB_STATUS_IO,
                           reason == ENOENT ? "there is no such file (%s)" : "cannot be opened: %s",
                           strerror(reason));
    }
    struct stat info;
    if (fstat(fileno(stream), &info) != 0) {
        info.st_size = 0;
    } else if (S_ISDIR(info.st_mode)) {
        (void)fclose(stream);
        return rbError_Set(error, RB_STATUS_IO, "is a folder, not a file");
    }
    size_t guess = info.st_size > 0 ? (size_t)info.st_size : 4096;
    rbStatus status = RB_STATUS_LIMIT;
    if (guess <= limit) {
        errno = 0;
        status = readStream(stream, guess, limit, bytes, size);
    }
    int reason = errno;
    (void)fclose(stream);
    if (status == RB_STATUS_LIMIT) {
        return rbError_Set(error, status, "is too large; the limit is %zu MB", limit >> 20);
    }
    if (status != RB_STATUS_OK) {
        return rbError_Set(error, status, "cannot be read: %s", strerror(reason));
    }
    return RB_STATUS_OK;
}

char* rbJoinPath(const char* folder, const char* name)
{
    RB_ASSERT(name != NULL);
    if (folder == NULL || folder[0] == '\0' || name[0] == '/') {
        return rbCopyText(name, strlen(name));
    }
    size_t size = strlen(folder) + strlen(name) + 2;
    char* path = rbAlloc(size);
    bool hasSlash = folder[strlen(folder) - 1] == '/';
    (void)snprintf(path, size, "%s%s%s", folder, hasSlash ? "" : "/", name);
    // The caller frees strlen + 1 bytes, so the block must have just that size.
    return rbGrow(path, size, strlen(path) + 1);
}

char* rbCopyText(const char* text, size_t length)
{
    RB_ASSERT(text != NULL);
    char* copy = rbAlloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void rbFreeString(char* text)
{
    if (text != NULL) {
        rbFree(text, strlen(text) + 1);
    }
}
