// Runs the fuzz target of checkpoints with changed copies of its seeds.
#include "base/core/random.h"
#include "rb_test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#define FOLDER RB_SOURCE_DIR "/test/fuzz/corpus/checkpoint"
#define SEEDS_MAX 16
#define SIZE_MAX_READ (1u << 20)

typedef struct Seed {
    uint8_t* bytes;
    size_t size;
} Seed;

static int readSeeds(Seed* seeds)
{
    DIR* directory = opendir(FOLDER);
    assert_non_null(directory);
    int count = 0;
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (entry->d_name[0] == '.' || count == SEEDS_MAX) {
            continue;
        }
        char path[600];
        (void)snprintf(path, sizeof path, "%s/%s", FOLDER, entry->d_name);
        FILE* file = fopen(path, "rb");
        assert_non_null(file);
        seeds[count].bytes = malloc(SIZE_MAX_READ);
        seeds[count].size = fread(seeds[count].bytes, 1, SIZE_MAX_READ, file);
        (void)fclose(file);
        ++count;
    }
    (void)closedir(directory);
    assert_true(count > 0);
    return count;
}

// Bytes and words, at random places and near the heads of parts, where sizes are.
static size_t change(uint8_t* bytes, size_t size, rbRandom* random)
{
    int changes = 1 + rbRandom_Index(random, 6);
    for (int i = 0; i < changes; ++i) {
        size_t at = (size_t)(rbRandom_Bits(random) % size);
        size_t from = (size_t)(rbRandom_Bits(random) % size);
        size_t length = 1 + (size_t)(rbRandom_Bits(random) % 16);
        length = length < size - at ? length : size - at;
        length = length < size - from ? length : size - from;
        switch (rbRandom_Index(random, 4)) {
        case 0:
            bytes[at] ^= (uint8_t)(1u << (rbRandom_Bits(random) % 8));
            break;
        case 1:
            memmove(bytes + at, bytes + from, length);
            break;
        case 2:
            memset(bytes + at, rbRandom_Index(random, 2) == 0 ? 0 : 255, length);
            break;
        default:
            bytes[at] = (uint8_t)rbRandom_Bits(random);
            break;
        }
    }
    return rbRandom_Index(random, 8) == 0 ? (size_t)(rbRandom_Bits(random) % size) : size;
}

static void anyBytesAreRefusedOrLoaded(void** state)
{
    (void)state;
    Seed seeds[SEEDS_MAX];
    int count = readSeeds(seeds);
    rbRandom random = {rbTest_Seed(0xc4ec)};
    for (int i = 0; i < count; ++i) {
        assert_int_equal(LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].size), 0);
    }
    for (int i = 0; i < rbTest_Count(1500, 30000); ++i) {
        const Seed* seed = &seeds[rbRandom_Index(&random, count)];
        uint8_t* bytes = malloc(seed->size);
        memcpy(bytes, seed->bytes, seed->size);
        size_t size = change(bytes, seed->size, &random);
        assert_int_equal(LLVMFuzzerTestOneInput(bytes, size), 0);
        free(bytes);
    }
    for (int i = 0; i < count; ++i) {
        free(seeds[i].bytes);
    }
}

RB_TEST_GROUP(prop_checkpoint_bytes, cmocka_unit_test(anyBytesAreRefusedOrLoaded));
