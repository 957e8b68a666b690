// Certificates, hostile ones too: any bytes give a verdict or a message. The first byte says what
// the others are: 0 a file; 1 records in columns, decompressed; otherwise words of blocks, which
// get headers with right checksums, so that the search is not stopped by them. A block: its tag (0
// to 2), the number of words (two bytes), the words.
#define _GNU_SOURCE
#include "verify/model.h"
#include "verify/verify.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static uint64_t hashBytes(uint64_t hash, const unsigned char* bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

static void put(unsigned char* bytes, uint64_t word, int count)
{
    for (int i = 0; i < count; ++i) {
        bytes[i] = (unsigned char)(word >> (8 * i));
    }
}

#define HASH_START 0xcbf29ce484222325u

static void writeBlocks(FILE* file, const uint8_t* data, size_t size)
{
    static const char tags[3][5] = {"MODL", "RECS", "DONE"};
    unsigned char signature[24] = {0x89, 'R', 'B', 'C', '\r', '\n', 0x1a, '\n', 4};
    uint64_t checksum = hashBytes(HASH_START, signature, 16);
    put(signature + 16, checksum, 8);
    (void)fwrite(signature, 1, sizeof signature, file);
    uint32_t sequence = 0;
    for (size_t at = 0; at + 3 <= size;) {
        size_t count = data[at + 1] | (size_t)data[at + 2] << 8;
        count = count < (size - at - 3) / 8 ? count : (size - at - 3) / 8;
        unsigned char head[40] = {0};
        unsigned char* planes = malloc(8 * count + 1);
        for (size_t i = 0; i < 8 * count; ++i) {
            planes[i % 8 * count + i / 8] = data[at + 3 + i];
        }
        memcpy(head, tags[data[at] % 3], 4);
        put(head + 4, sequence++, 4);
        size_t bound = ZSTD_compressBound(8 * count);
        unsigned char* stored = malloc(bound);
        size_t used = ZSTD_compress(stored, bound, planes, 8 * count, -5); // fast
        put(head + 12, 8 * count, 4);
        put(head + 16, used, 4);
        put(head + 24, hashBytes(HASH_START, stored, used), 8);
        checksum = hashBytes(checksum, head, 32);
        put(head + 32, checksum, 8);
        (void)fwrite(head, 1, sizeof head, file);
        (void)fwrite(stored, 1, used, file);
        free(planes);
        free(stored);
        at += 3 + 8 * count;
    }
}

static void decodeColumns(const uint8_t* data, size_t size)
{
    if (size < RB_V_COLUMNS_HEAD) {
        return;
    }
    size_t count = (size - RB_V_COLUMNS_HEAD) / 8;
    uint64_t* words = malloc(8 * count + 8);
    struct rbVColumns* columns = NULL;
    (void)rbVColumns_Decode(&columns, data, words, count);
    (void)rbVColumns_Decode(&columns, data, words, count); // with contexts
    free(columns);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size > 0 && data[0] == 1) {
        decodeColumns(data + 1, size - 1);
        return 0;
    }
    static rbVReport report;
    char path[64];
    char message[RB_V_VERIFY_MESSAGE];
    int memory = memfd_create("certificate", 0);
    FILE* file = memory >= 0 ? fdopen(dup(memory), "wb") : NULL;
    if (file == NULL || size == 0) {
        return 0;
    }
    if (data[0] == 0) {
        (void)fwrite(data + 1, 1, size - 1, file);
    } else {
        writeBlocks(file, data + 1, size - 1);
    }
    (void)fclose(file);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    int result = rbVerifyCertificate(path, &report, message);
    if ((result == 2) != (message[0] != '\0') ||
        (result == 1) != (result != 2 && report.failed > 0)) {
        abort(); // a refusal has a message, a failure is counted
    }
    (void)close(memory);
    return 0;
}
