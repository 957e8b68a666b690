#define _XOPEN_SOURCE 700

#include "cli/picture_cache.h"

#include "base/core/hash.h"
#include "base/core/memory.h"
#include "io/scene/file_bytes.h"

#include <rattleback/scene.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PICTURE_SIZE_MAX ((size_t)8 << 20)

// The folder, made if it is missing.
static bool findFolder(char* folder, size_t capacity)
{
    const char* base = getenv("XDG_CACHE_HOME");
    const char* home = getenv("HOME");
    if (base != NULL && base[0] == '/') {
        (void)snprintf(folder, capacity, "%s", base);
    } else if (home != NULL && home[0] == '/') {
        (void)snprintf(folder, capacity, "%s/.cache", home);
    } else {
        return false;
    }
    (void)mkdir(folder, 0700);
    size_t size = strlen(folder);
    (void)snprintf(folder + size, capacity - size, "/rattleback");
    struct stat status;
    (void)mkdir(folder, 0700);
    return stat(folder, &status) == 0 && S_ISDIR(status.st_mode);
}

// A number that changes when the program is built again.
static uint64_t hashProgram(uint64_t hash)
{
    struct stat status;
    if (stat("/proc/self/exe", &status) == 0) {
        int64_t parts[] = {(int64_t)status.st_size, (int64_t)status.st_mtim.tv_sec,
                           (int64_t)status.st_mtim.tv_nsec};
        hash = rbHashBytes(hash, parts, sizeof parts);
    }
    return hash;
}

// Continues a hash over the text of a scene.
static bool hashScene(const char* path, uint64_t* hash)
{
    void* bytes = NULL;
    size_t size = 0;
    rbError error = {0};
    if (rbReadFileBytes(path, RB_SCENE_FILE_SIZE_MAX, &bytes, &size, &error) != RB_STATUS_OK) {
        return false;
    }
    *hash = rbHashBytes(*hash, bytes, size);
    rbFree(bytes, size);
    return true;
}

// FOLDER/NAME.json has its picture in FOLDER/pictures/NAME-HASH.png.
unsigned char* rbReadMadePicture(const char* scenePath, size_t* size)
{
    char path[RB_PICTURE_PATH_MAX];
    const char* slash = strrchr(scenePath, '/');
    const char* name = slash != NULL ? slash + 1 : scenePath;
    const char* dot = strrchr(name, '.');
    uint64_t hash = RB_HASH_SEED;
    if (dot == NULL || !hashScene(scenePath, &hash)) {
        return NULL;
    }
    int length =
        snprintf(path, sizeof path, "%.*spictures/%.*s-%016llx.png", (int)(name - scenePath),
                 scenePath, (int)(dot - name), name, (unsigned long long)hash);
    bool isWhole = length > 0 && (size_t)length < sizeof path;
    return isWhole ? rbReadCachedPicture(path, size) : NULL;
}

bool rbFindCachedPicture(const char* scenePath, char* path)
{
    char folder[RB_PICTURE_PATH_MAX - 64];
    uint64_t hash = hashProgram(RB_HASH_SEED);
    if (!findFolder(folder, sizeof folder) || !hashScene(scenePath, &hash)) {
        return false;
    }
    int length =
        snprintf(path, RB_PICTURE_PATH_MAX, "%s/%016llx.png", folder, (unsigned long long)hash);
    return length > 0 && length < RB_PICTURE_PATH_MAX;
}

unsigned char* rbReadCachedPicture(const char* path, size_t* size)
{
    static const unsigned char signature[] = {0x89, 'P', 'N', 'G'};
    void* bytes = NULL;
    rbError error = {0};
    if (rbReadFileBytes(path, PICTURE_SIZE_MAX, &bytes, size, &error) != RB_STATUS_OK) {
        return NULL;
    }
    if (*size < sizeof signature || memcmp(bytes, signature, sizeof signature) != 0) {
        rbFree(bytes, *size);
        return NULL;
    }
    return bytes;
}

// Another program may do the same now: the file appears complete, or not at all.
void rbKeepPicture(const char* path, const unsigned char* bytes, size_t size)
{
    char draft[RB_PICTURE_PATH_MAX + 32];
    (void)snprintf(draft, sizeof draft, "%s.%ld", path, (long)getpid());
    FILE* file = fopen(draft, "wb");
    if (file == NULL) {
        return;
    }
    bool isWritten = fwrite(bytes, 1, size, file) == size;
    isWritten = fclose(file) == 0 && isWritten;
    if (!isWritten || rename(draft, path) != 0) {
        (void)unlink(draft);
    }
}
