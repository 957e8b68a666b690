// What heaps, tables of names and pools of ids hold after a fixed history, slot by slot: a worse
// arrangement would answer the same, and only cost more. Also the clocks against those of the
// system.
#define _POSIX_C_SOURCE 200809L

#include "base/core/hash.h"
#include "base/core/heap.h"
#include "base/core/id_pool.h"
#include "base/core/name_table.h"
#include "base/core/random.h"
#include "base/core/timer.h"
#include "rb_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void checkHash(uint64_t hash, uint64_t expected)
{
    if (hash != expected) {
        fail_msg("hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u", hash, expected);
    }
}

static uint64_t hashInts(uint64_t hash, const int* values, int count)
{
    return rbHashBytes(hash, values, (size_t)count * sizeof *values);
}

static uint64_t hashHeap(uint64_t hash, const rbHeap* heap)
{
    uint64_t h = hashInts(hash, heap->places.data, heap->places.count);
    h = hashInts(h, (const int[]){heap->count, heap->nodes.count, heap->places.count}, 3);
    for (int i = 0; i < heap->count; ++i) {
        rbHeapNode node = rbHeap_GetNode(heap, i);
        h = rbHashDoubles(h, &node.key, 1);
        h = hashInts(h, &node.item, 1);
    }
    return h;
}

static void heapsAreArrangedTheSameWay(void** state)
{
    (void)state;
    rbRandom random = {61};
    rbHeap heap = {0};
    uint64_t hash = RB_HASH_SEED;
    for (int k = 0; k < 3000; ++k) {
        int item = rbRandom_Index(&random, 20 + k / 30);
        if (rbRandom_Index(&random, 3) == 0) {
            rbHeap_Remove(&heap, item);
        } else {
            rbHeap_Set(&heap, item, rbRandom_Index(&random, 40));
        }
        hash = hashHeap(hash, &heap);
        if (k % 1000 == 999) {
            while (!rbHeap_IsEmpty(&heap)) {
                rbHeap_Remove(&heap, rbHeap_Top(&heap).item);
            }
            hash = hashHeap(hash, &heap);
        }
    }
    rbHeap_Remove(&heap, 5000); // not there: nothing happens
    checkHash(hashHeap(hash, &heap), 0xbf99861c093797f0u);
    rbHeap_Free(&heap);
    assert_true(heap.count == 0 && heap.nodes.data == NULL && heap.places.data == NULL);
}

#define NAMES 120

static char names[NAMES][24];

static const char* nameOf(int index, const void* context)
{
    (void)context;
    return names[index];
}

static void tablesOfNamesAreFilledTheSameWay(void** state)
{
    (void)state;
    rbRandom random = {62};
    rbNameTable table = {0};
    bool isIn[NAMES] = {false};
    uint64_t hash = RB_HASH_SEED;
    for (int i = 0; i < NAMES; ++i) {
        (void)snprintf(names[i], sizeof names[i], "%s %d", i % 2 == 0 ? "box" : "cone", i);
    }
    rbNameTable_Insert(&table, "", 3); // no name
    assert_int_equal(table.capacity, 0);
    for (int k = 0; k < 1500; ++k) {
        int i = rbRandom_Index(&random, k < 8 ? 8 : NAMES);
        if (isIn[i]) {
            rbNameTable_Remove(&table, names[i], i);
        } else {
            rbNameTable_Insert(&table, names[i], i);
        }
        isIn[i] = !isIn[i];
        assert_int_equal(rbNameTable_Find(&table, names[i], nameOf, NULL), isIn[i] ? i : -1);
        rbNameTable_Remove(&table, names[i], i + 1); // another object
        rbNameTable_Remove(&table, "", i);
        hash = hashInts(hash, (const int[]){table.capacity, table.used}, 2);
        for (int s = 0; s < table.capacity; ++s) {
            hash = hashInts(hash, &table.slots[s].index1, 1);
        }
    }
    rbNameTable_Free(&table);
    assert_true(table.slots == NULL && table.capacity == 0 && table.used == 0);
    checkHash(hash, 0x338e17b86018f5b7u);
}

static void idsComeInTheSameOrder(void** state)
{
    (void)state;
    rbRandom random = {63};
    rbIdPool pool = {0};
    uint64_t hash = RB_HASH_SEED;
    for (int k = 0; k < 2000; ++k) {
        int index =
            pool.generations.count > 0 ? rbRandom_Index(&random, pool.generations.count) : 0;
        uint32_t generation = pool.generations.count > 0 ? pool.generations.data[index] : 0;
        bool isAlive = rbIdPool_IsAlive(&pool, (uint32_t)index + 1, generation);
        assert_int_equal(isAlive, generation % 2 == 1);
        assert_false(rbIdPool_IsAlive(&pool, (uint32_t)index + 1, generation + 1));
        if (isAlive && rbRandom_Index(&random, 20) < 9) {
            rbIdPool_Release(&pool, index);
        } else {
            index = rbIdPool_Take(&pool);
        }
        hash = hashInts(hash, &index, 1);
        hash = hashInts(hash, pool.freeSlots.data, pool.freeSlots.count);
        hash = rbHashBytes(hash, pool.generations.data,
                           (size_t)pool.generations.count * sizeof *pool.generations.data);
    }
    rbIdPool_Free(&pool);
    checkHash(hash, 0x00b0c9fdc2d5c6f4u);
}

static double readSystem(clockid_t clock)
{
    struct timespec time;
    assert_int_equal(clock_gettime(clock, &time), 0);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// A clock of ours is between two readings of the system's, whatever the fraction of the second.
static void clocksAreThoseOfTheSystem(void** state)
{
    (void)state;
    for (int i = 0; i < 2000; ++i) {
        double before = readSystem(CLOCK_MONOTONIC);
        double wall = rbGetWallTime();
        assert_true(before <= wall && wall <= readSystem(CLOCK_MONOTONIC));
        before = readSystem(CLOCK_THREAD_CPUTIME_ID);
        double own = rbGetThreadTime();
        assert_true(before <= own && own <= readSystem(CLOCK_THREAD_CPUTIME_ID));
    }
}

RB_TEST_GROUP(golden_containers, cmocka_unit_test(heapsAreArrangedTheSameWay),
              cmocka_unit_test(tablesOfNamesAreFilledTheSameWay),
              cmocka_unit_test(idsComeInTheSameOrder), cmocka_unit_test(clocksAreThoseOfTheSystem));
