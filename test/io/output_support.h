// Shared helpers of the output tests: a scratch folder, whole files, random bits, failing writes.
#pragma once

#include "base/core/random.h"
#include "io/output/bytes.h"
#include "rb_test.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRATCH_SIZE 256

// Creates a folder for one test.
static inline void makeScratch(char* folder)
{
    (void)snprintf(folder, SCRATCH_SIZE, "/tmp/rb_output_XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static inline bool isSpecialEntry(const char* name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

// Entries of a folder.
static inline int countEntries(const char* folder)
{
    int count = 0;
    DIR* directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        count += isSpecialEntry(entry->d_name) ? 0 : 1;
    }
    (void)closedir(directory);
    return count;
}

static inline int removeEntry(const char* path, const struct stat* status, int kind,
                              struct FTW* place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

// Deletes a folder and everything in it.
static inline void removeScratch(const char* folder)
{
    assert_int_equal(nftw(folder, removeEntry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline bool exists(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

// A whole file, zero-terminated; the caller frees it.
static inline char* readWhole(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    assert_true(length >= 0);
    rewind(file);
    char* bytes = malloc((size_t)length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)length, file), (size_t)length);
    bytes[length] = '\0';
    (void)fclose(file);
    *size = (size_t)length;
    return bytes;
}

static inline void writeWhole(const char* path, const void* bytes, size_t size)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// Any double: ordinary, tiny, huge, zeros of both signs, infinities, NaNs with payload.
static inline double randomBits(rbRandom* random)
{
    static const uint64_t special[] = {0,
                                       0x8000000000000000u,
                                       0x7FF0000000000000u,
                                       0xFFF0000000000000u,
                                       0x7FF8000000000000u,
                                       0xFFF8000000001234u,
                                       0x7FF0000000000001u,
                                       1};
    if (rbRandom_Index(random, 4) == 0) {
        return rbDoubleOfBits(special[rbRandom_Index(random, 8)]);
    }
    if (rbRandom_Index(random, 2) == 0) {
        return rbRandom_Symmetric(random);
    }
    return rbDoubleOfBits(rbRandom_Bits(random));
}

// After this call, files of this process cannot grow beyond size; writes fail with EFBIG.
static inline void limitFileSize(rlim_t size, struct rlimit* old)
{
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, old), 0);
    limit = *old;
    limit.rlim_cur = size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static inline void restoreFileSize(const struct rlimit* old)
{
    assert_int_equal(setrlimit(RLIMIT_FSIZE, old), 0);
}
