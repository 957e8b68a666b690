// Memory, arrays, arena, ids, hashing, errors and random numbers.
#include "base/core/hash.h"
#include "base/core/id_pool.h"
#include "base/core/memory.h"
#include "base/core/name_table.h"
#include "base/core/random.h"
#include "base/core/timer.h"
#include "rb_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void allocationsAreCounted(void** state)
{
    (void)state;
    uint64_t count = rbGetAllocationCount(), bytes = rbGetAllocatedBytes();
    char* memory = rbAlloc(100);
    assert_int_equal(rbGetAllocationCount(), count + 1);
    assert_int_equal(rbGetAllocatedBytes(), bytes + 100);
    memset(memory, 7, 100);
    char* grown = rbGrow(memory, 100, 300);
    assert_int_equal(rbGetAllocatedBytes(), bytes + 300);
    assert_true(grown[0] == 7 && grown[99] == 7);
    char* shrunk = rbGrow(grown, 300, 10);
    assert_true(shrunk[9] == 7);
    rbFree(shrunk, 10);
    assert_int_equal(rbGetAllocatedBytes(), bytes);

    unsigned char* zeros = rbAllocZero(17, 3);
    for (int i = 0; i < 51; ++i) {
        assert_int_equal(zeros[i], 0);
    }
    rbFree(zeros, 51);
    rbFree(NULL, 0);
    assert_null(rbAlloc(0));
    assert_int_equal(rbGetAllocatedBytes(), bytes);
}

typedef struct HookCount {
    int allocs, frees;
    size_t sizeOfLast;
} HookCount;

static void* hookAlloc(size_t size, void* context)
{
    HookCount* c = context;
    c->allocs += 1;
    c->sizeOfLast = size;
    return malloc(size);
}

static void hookFree(void* memory, size_t size, void* context)
{
    HookCount* c = context;
    c->frees += 1;
    c->sizeOfLast = size;
    free(memory);
}

static void hooksReplaceTheAllocator(void** state)
{
    (void)state;
    HookCount c = {0};
    rbSetAllocator(hookAlloc, hookFree, &c);
    void* memory = rbAlloc(48);
    assert_true(c.allocs == 1 && c.sizeOfLast >= 48); // with a header
    size_t size = c.sizeOfLast;
    rbSetAllocator(NULL, NULL, NULL);
    rbFree(memory, 48); // returned to the allocator it came from
    assert_true(c.frees == 1 && c.sizeOfLast == size);
    rbFree(rbAlloc(16), 16);
    assert_true(c.allocs == 1 && c.frees == 1);
}

static void arraysGrowAndKeepTheirContent(void** state)
{
    (void)state;
    uint64_t bytes = rbGetAllocatedBytes(), allocations = rbGetAllocationCount();
    RB_ARRAY(int) a = {0};
    for (int i = 0; i < 100000; ++i) {
        rbArray_Push(a, 3 * i);
    }
    assert_int_equal(a.count, 100000);
    assert_true(a.capacity >= a.count);
    for (int i = 0; i < a.count; ++i) {
        assert_int_equal(a.data[i], 3 * i);
    }
    // Geometric growth: some 25 allocations, not 100000.
    assert_true(rbGetAllocationCount() - allocations < 40);
    int capacity = a.capacity;
    rbArray_Reserve(a, 10);
    assert_int_equal(a.capacity, capacity);
    rbArray_Reserve(a, capacity + 1);
    assert_true(a.capacity > capacity && a.data[99999] == 299997);
    rbArray_Free(a);
    assert_true(a.data == NULL && a.count == 0 && a.capacity == 0);
    assert_int_equal(rbGetAllocatedBytes(), bytes);
}

static void idsAreReusedWithANewGeneration(void** state)
{
    (void)state;
    uint64_t bytes = rbGetAllocatedBytes();
    rbIdPool pool = {0};
    int a = rbIdPool_Take(&pool), b = rbIdPool_Take(&pool), c = rbIdPool_Take(&pool);
    assert_true(a == 0 && b == 1 && c == 2);
    uint32_t generationOfB = pool.generations.data[b];
    assert_true(rbIdPool_IsAlive(&pool, (uint32_t)b + 1, generationOfB));
    rbIdPool_Release(&pool, b);
    assert_false(rbIdPool_IsAlive(&pool, (uint32_t)b + 1, generationOfB));
    // Not even with the current generation of the free slot.
    assert_false(rbIdPool_IsAlive(&pool, (uint32_t)b + 1, pool.generations.data[b]));
    int d = rbIdPool_Take(&pool);
    assert_int_equal(d, b);
    assert_true(pool.generations.data[d] != generationOfB);
    assert_true(rbIdPool_IsAlive(&pool, (uint32_t)d + 1, pool.generations.data[d]));
    assert_false(rbIdPool_IsAlive(&pool, (uint32_t)d + 1, generationOfB));
    assert_false(rbIdPool_IsAlive(&pool, 0, 0));
    assert_false(rbIdPool_IsAlive(&pool, 0, 1));
    assert_false(rbIdPool_IsAlive(&pool, 4, 1));
    assert_false(rbIdPool_IsAlive(&pool, UINT32_MAX, 1));
    rbIdPool_Free(&pool);
    assert_int_equal(rbGetAllocatedBytes(), bytes);
}

// A random history of allocations and releases: an id is alive exactly when the model says so.
static void idPoolAgreesWithItsModel(void** state)
{
    (void)state;
    enum {
        IDS_MAX = 4000
    };
    static struct {
        uint32_t index1, generation;
        bool isAlive;
    } ids[IDS_MAX];
    rbIdPool pool = {0};
    rbRandom random = {rbTest_Seed(1)};
    int count = 0, alive = 0, slotsMax = 0;
    while (count < IDS_MAX) {
        int k = count > 0 ? rbRandom_Index(&random, count) : 0;
        if (count > 0 && rbRandom_Index(&random, 2) == 0 && ids[k].isAlive) {
            rbIdPool_Release(&pool, (int)ids[k].index1 - 1);
            ids[k].isAlive = false;
            --alive;
        } else {
            int index = rbIdPool_Take(&pool);
            ids[count].index1 = (uint32_t)index + 1;
            ids[count].generation = pool.generations.data[index];
            ids[count].isAlive = true;
            ++count;
            ++alive;
            slotsMax = alive > slotsMax ? alive : slotsMax;
        }
        for (int probe = 0; probe < 10; ++probe) {
            int j = count > 0 ? rbRandom_Index(&random, count) : 0;
            assert_int_equal(rbIdPool_IsAlive(&pool, ids[j].index1, ids[j].generation),
                             ids[j].isAlive);
        }
    }
    // Slots are reused: never more than the largest number alive together.
    assert_int_equal(pool.generations.count, slotsMax);
    rbIdPool_Free(&pool);
}

// Fixed values: a hash written to a file must stay the same later and on other machines.
static void hashesHaveFixedValues(void** state)
{
    (void)state;
    assert_int_equal(rbHashBytes(RB_HASH_SEED, "", 0), 0x4f43b61ebe0f3fa7u);
    assert_int_equal(rbHashBytes(RB_HASH_SEED, "rattleback", 10), 0x86356e0a16fcc2c8u);
    double values[3] = {1.0, -0.0, 3.25};
    assert_int_equal(rbHashDoubles(RB_HASH_SEED, values, 3), 0xfff923bab025a54bu);
    values[1] = 0.0;
    assert_int_not_equal(rbHashDoubles(RB_HASH_SEED, values, 3), 0xfff923bab025a54bu);
}

static void hashDependsOnEveryBit(void** state)
{
    (void)state;
    unsigned char bytes[61];
    rbRandom random = {rbTest_Seed(2)};
    for (size_t i = 0; i < sizeof bytes; ++i) {
        bytes[i] = (unsigned char)rbRandom_Bits(&random);
    }
    uint64_t hash = rbHashBytes(RB_HASH_SEED, bytes, sizeof bytes);
    double changed = 0.0;
    for (size_t i = 0; i < 8 * sizeof bytes; ++i) {
        bytes[i / 8] ^= (unsigned char)(1u << (i % 8));
        uint64_t other = rbHashBytes(RB_HASH_SEED, bytes, sizeof bytes);
        bytes[i / 8] ^= (unsigned char)(1u << (i % 8));
        assert_int_not_equal(other, hash);
        for (uint64_t d = other ^ hash; d != 0; d &= d - 1) {
            changed += 1.0;
        }
    }
    // About half of the 64 bits change.
    checkNear(changed / (8.0 * sizeof bytes), 32.0, 2.0);
    assert_int_not_equal(rbHashBytes(RB_HASH_SEED, bytes, 60), hash);
    // Trailing zeros count, and so does the division into parts.
    unsigned char zeros[9] = {0};
    for (size_t n = 0; n < 9; ++n) {
        assert_int_not_equal(rbHashBytes(RB_HASH_SEED, zeros, n),
                             rbHashBytes(RB_HASH_SEED, zeros, n + 1));
    }
    uint64_t inTwo = rbHashBytes(rbHashBytes(RB_HASH_SEED, bytes, 16), bytes + 16, 45);
    assert_int_not_equal(inTwo, hash);
}

static void errorsReadAsMessages(void** state)
{
    (void)state;
    rbError error = {0};
    char text[1000];
    assert_int_equal(rbError_Set(&error, RB_STATUS_INVALID, "mass of \"%s\" is %g", "ball", -1.0),
                     RB_STATUS_INVALID);
    rbError_Format(&error, text, sizeof text);
    assert_string_equal(text, "rattleback: mass of \"ball\" is -1");
    rbError_SetPlace(&error, "a.json", "/bodies/3");
    rbError_Format(&error, text, sizeof text);
    assert_string_equal(text, "a.json: /bodies/3: mass of \"ball\" is -1");
    error.line = 12;
    error.column = 5;
    rbError_Format(&error, text, sizeof text);
    assert_string_equal(text, "a.json:12:5: mass of \"ball\" is -1");
    rbError_SetPlace(&error, NULL, "/other");
    assert_string_equal(error.file, "a.json");
    assert_string_equal(error.place, "/other");

    // Too long for the fields: cut, terminated.
    char longText[2000];
    memset(longText, 'x', sizeof longText - 1);
    longText[sizeof longText - 1] = '\0';
    (void)rbError_Set(&error, RB_STATUS_LIMIT, "%s", longText);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    rbError_SetPlace(&error, longText, longText);
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
    char small[10];
    rbError_Format(&error, small, sizeof small);
    assert_int_equal(strlen(small), 9);

    // A NULL error is allowed.
    assert_int_equal(rbError_Set(NULL, RB_STATUS_IO, "lost"), RB_STATUS_IO);
    rbError_SetPlace(NULL, "a", "b");
}

static void everyStatusHasItsText(void** state)
{
    (void)state;
    for (int i = 0; i < RB_STATUS_COUNT; ++i) {
        const char* text = rbStatus_Text((rbStatus)i);
        assert_true(strlen(text) > 3);
        for (int j = 0; j < i; ++j) {
            assert_string_not_equal(text, rbStatus_Text((rbStatus)j));
        }
    }
    assert_string_equal(rbStatus_Text(RB_STATUS_OK), "done");
    assert_string_equal(rbStatus_Text((rbStatus)99), "unknown status");
    // major.minor.patch
    char* end = NULL;
    const char* version = rbGetVersion();
    for (int part = 0; part < 3; ++part) {
        assert_true(strtol(version, &end, 10) >= 0 && end > version);
        assert_int_equal(*end, part < 2 ? '.' : '\0');
        version = end + 1;
    }
}

// First outputs of splitmix64 for the seed 1234567, as published with the algorithm.
static void randomNumbersAreSplitmix64(void** state)
{
    (void)state;
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                        9817491932198370423u, 4593380528125082431u,
                                        16408922859458223821u};
    rbRandom random = {1234567};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; ++i) {
        assert_true(rbRandom_Bits(&random) == expected[i]);
    }
    rbRandom a = {5}, b = {5};
    for (int i = 0; i < 1000; ++i) {
        assert_true(rbRandom_Unit(&a) == (double)(rbRandom_Bits(&b) >> 11) * 0x1p-53);
    }
}

static void randomNumbersStayInTheirRanges(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3)};
    int histogram[10] = {0};
    double sum = 0.0;
    int count = 200000;
    for (int i = 0; i < count; ++i) {
        double u = rbRandom_Unit(&random), s = rbRandom_Symmetric(&random);
        double r = rbRandom_Range(&random, -3.0, 8.0);
        int k = rbRandom_Index(&random, 10);
        assert_true(0.0 <= u && u < 1.0);
        assert_true(-1.0 <= s && s < 1.0);
        assert_true(-3.0 <= r && r < 8.0);
        assert_in_range(k, 0, 9);
        histogram[k] += 1;
        sum += u;
    }
    checkNear(sum / count, 0.5, 5.0 * 0.2887 / sqrt((double)count));
    for (int k = 0; k < 10; ++k) {
        checkNear(histogram[k], 0.1 * count, 5.0 * sqrt(0.09 * count));
    }
}

static void clockDoesNotRunBackward(void** state)
{
    (void)state;
    double before = rbGetWallTime();
    for (int i = 0; i < 1000; ++i) {
        double now = rbGetWallTime();
        assert_true(now >= before);
        before = now;
    }
}

#define NAME_COUNT 500
#define NAME_SIZE 24

static const char* nameOf(int index, const void* context)
{
    return (const char*)context + NAME_SIZE * (size_t)index;
}

// Names come and go at random; a plain list says which are there. Removed slots are used up until
// the table grows, and every growth keeps the rest.
static void namesAreFoundWhileTheTableGrows(void** state)
{
    (void)state;
    static char names[NAME_COUNT][NAME_SIZE];
    bool isThere[NAME_COUNT] = {false};
    rbNameTable table = {0};
    rbRandom random = {rbTest_Seed(12)};
    uint64_t before = rbGetAllocatedBytes();
    for (int i = 0; i < NAME_COUNT; ++i) {
        (void)snprintf(names[i], sizeof names[i], "body %d", i);
    }
    assert_int_equal(rbNameTable_Find(&table, "body 0", nameOf, names), -1);
    for (int step = 0; step < 4000; ++step) {
        int i = rbRandom_Index(&random, step < 40 ? 20 : NAME_COUNT);
        if (isThere[i]) {
            rbNameTable_Remove(&table, names[i], i);
        } else {
            rbNameTable_Insert(&table, names[i], i);
        }
        isThere[i] = !isThere[i];
        for (int k = 0; k < (step < 200 ? NAME_COUNT : 5); ++k) {
            int j = step < 200 ? k : rbRandom_Index(&random, NAME_COUNT);
            assert_int_equal(rbNameTable_Find(&table, names[j], nameOf, names),
                             isThere[j] ? j : -1);
        }
        assert_true(2 * table.used <= table.capacity);
    }
    assert_int_equal(rbNameTable_Find(&table, "body", nameOf, names), -1);
    rbNameTable_Free(&table);
    assert_int_equal(table.capacity, 0);
    assert_int_equal(rbGetAllocatedBytes(), before);
}

// The guard receives the size of the request and passes it on; what was allocated under it is
// freed as a whole.
static void guardsTellWhatWasAskedFor(void** state)
{
    (void)state;
    uint64_t bytes = rbGetAllocatedBytes();
    rbBlock* list = NULL;
    volatile bool isBack = false;
    RB_GUARD(guard, &list)
    {
        isBack = true;
    }
    if (!isBack) {
        (void)rbAlloc(100);
        (void)rbAlloc(1000);
        rbReturnToGuard(RB_STATUS_MEMORY, 123456789);
    }
    rbError error = {0};
    assert_int_equal(rbGuard_Explain(&guard, &error), RB_STATUS_MEMORY);
    assert_non_null(strstr(error.message, " 123456789 bytes"));
    rbGuard_End(&guard);
    rbFreeBlocks(&list);
    assert_int_equal(rbGetAllocatedBytes(), bytes);
}

RB_TEST_GROUP(test_core, cmocka_unit_test(guardsTellWhatWasAskedFor),
              cmocka_unit_test(allocationsAreCounted), cmocka_unit_test(hooksReplaceTheAllocator),
              cmocka_unit_test(arraysGrowAndKeepTheirContent),
              cmocka_unit_test(idsAreReusedWithANewGeneration),
              cmocka_unit_test(idPoolAgreesWithItsModel), cmocka_unit_test(hashesHaveFixedValues),
              cmocka_unit_test(hashDependsOnEveryBit), cmocka_unit_test(errorsReadAsMessages),
              cmocka_unit_test(everyStatusHasItsText), cmocka_unit_test(randomNumbersAreSplitmix64),
              cmocka_unit_test(randomNumbersStayInTheirRanges),
              cmocka_unit_test(namesAreFoundWhileTheTableGrows),
              cmocka_unit_test(clockDoesNotRunBackward));
