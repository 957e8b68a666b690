#include "certificate_words.h"

#include "rb_test.h"
#include "verify/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#define HASH_START 0xcbf29ce484222325u

static uint64_t hashBytes(uint64_t hash, const unsigned char* bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

static void putWord(unsigned char* bytes, uint64_t word, int count)
{
    for (int i = 0; i < count; ++i) {
        bytes[i] = (unsigned char)(word >> (8 * i));
    }
}

const char* rbScratchPath(void)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/test_verify.%d.rbc", RB_BINARY_DIR, (int)getpid());
    return path;
}

static void runCommand(const char* command)
{
    pid_t child = fork();
    if (child == 0) {
        (void)execl("/bin/sh", "sh", "-c", command, (char*)NULL);
        _exit(127);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

unsigned char* rbMakeCertificate(const char* scene, const char* options, size_t* size)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/scenes/%s.json", RB_SOURCE_DIR, scene);
    return rbMakeCertificateOf(path, options, size);
}

unsigned char* rbMakeCertificateOf(const char* scenePath, const char* options, size_t* size)
{
    const char* path = rbScratchPath();
    char command[2048];
    (void)snprintf(command, sizeof command, "%s run %s %s --quiet --certificate %s", RB_PROGRAM,
                   scenePath, options, path);
    runCommand(command);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char* bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    (void)fclose(file);
    (void)remove(path);
    return bytes;
}

rbWordFile rbReadWordFile(const unsigned char* bytes, size_t size)
{
    static const char tags[3][5] = {"MODL", "RECS", "DONE"};
    rbWordFile file = {0};
    char message[RB_V_VERIFY_MESSAGE];
    rbVReader reader = {.message = message};
    rbWriteBytes(rbScratchPath(), bytes, size);
    assert_true(rbVReader_Open(&reader, rbScratchPath()));
    for (rbVBlock kind = rbVReader_Next(&reader); kind <= RB_V_BLOCK_DONE;
         kind = rbVReader_Next(&reader)) {
        file.blocks = realloc(file.blocks, (size_t)(file.count + 1) * sizeof *file.blocks);
        rbWordBlock* block = &file.blocks[file.count++];
        memcpy(block->tag, tags[kind], 4);
        block->count = reader.block.count;
        block->words = malloc(8 * block->count + 8);
        memcpy(block->words, reader.block.words, 8 * block->count);
    }
    rbVReader_Close(&reader);
    return file;
}

void rbFreeWordFile(rbWordFile* file)
{
    for (int i = 0; i < file->count; ++i) {
        free(file->blocks[i].words);
    }
    free(file->blocks);
    *file = (rbWordFile){0};
}

void rbWriteWordFile(const rbWordFile* file, const char* path)
{
    FILE* out = fopen(path, "wb");
    assert_non_null(out);
    unsigned char signature[24] = {0x89, 'R', 'B', 'C', '\r', '\n', 0x1a, '\n', 4};
    uint64_t checksum = hashBytes(HASH_START, signature, 16);
    putWord(signature + 16, checksum, 8);
    (void)fwrite(signature, 1, sizeof signature, out);
    for (int b = 0; b < file->count; ++b) {
        const rbWordBlock* block = &file->blocks[b];
        size_t size = 8 * block->count;
        unsigned char* planes = malloc(size + 8);
        for (size_t i = 0; i < block->count; ++i) {
            for (size_t plane = 0; plane < 8; ++plane) {
                planes[plane * block->count + i] = (unsigned char)(block->words[i] >> (8 * plane));
            }
        }
        unsigned char head[40] = {0};
        memcpy(head, block->tag, 4);
        putWord(head + 4, (uint64_t)b, 4);
        size_t bound = ZSTD_compressBound(size);
        unsigned char* stored = malloc(bound);
        size_t used = ZSTD_compress(stored, bound, planes, size, -5); // fast
        assert_false(ZSTD_isError(used));
        putWord(head + 12, size, 4);
        putWord(head + 16, used, 4);
        putWord(head + 24, hashBytes(HASH_START, stored, used), 8);
        checksum = hashBytes(checksum, head, 32);
        putWord(head + 32, checksum, 8);
        (void)fwrite(head, 1, sizeof head, out);
        (void)fwrite(stored, 1, used, out);
        free(planes);
        free(stored);
    }
    assert_int_equal(fclose(out), 0);
}

void rbWriteBytes(const char* path, const unsigned char* bytes, size_t size)
{
    FILE* out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

rbWordRecord* rbListRecords(const rbWordFile* file, uint32_t kind, int* count)
{
    rbWordRecord* list = NULL;
    int capacity = 0;
    *count = 0;
    for (int b = 0; b < file->count; ++b) {
        const rbWordBlock* block = &file->blocks[b];
        if (memcmp(block->tag, "RECS", 4) != 0) {
            continue;
        }
        for (size_t at = 0; at < block->count;) {
            uint32_t found = (uint32_t)block->words[at];
            size_t size = (size_t)(block->words[at] >> 32);
            if (kind == 0 || found == kind) {
                if (*count == capacity) {
                    capacity = 2 * capacity + 64;
                    list = realloc(list, (size_t)capacity * sizeof *list);
                }
                list[(*count)++] = (rbWordRecord){found, b, at, size};
            }
            at += 1 + size;
        }
    }
    return list;
}

double rbWordToNumber(uint64_t word)
{
    double number;
    memcpy(&number, &word, sizeof number);
    return number;
}

uint64_t rbNumberToWord(double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}
