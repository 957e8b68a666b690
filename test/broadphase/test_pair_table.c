// Tables of pairs compared with a matrix, link by link; sorting of lists of numbers at the ends of
// its ways.
#include "base/core/hash.h"
#include "base/core/random.h"
#include "collision/broadphase/broad_phase.h"
#include "collision/broadphase/pair_table.h"
#include "rb_test.h"

#include <inttypes.h>
#include <stdlib.h>

#define IDS 60

// Every list of an id has exactly its pairs, linked in both directions.
static void checkLists(const rbPairTable* table, int entries[IDS][IDS], int count)
{
    int seen = 0;
    assert_int_equal(table->count, count);
    for (int id = 0; id < IDS && id < table->idCapacity; ++id) {
        int32_t before = -1;
        for (int32_t link = table->firsts[id]; link >= 0;) {
            const rbPairEntry* entry = &table->entries[link >> 1];
            int side = link & 1;
            assert_int_equal(entry->ids[side], id);
            assert_int_equal(entry->previous[side], before);
            assert_true(entry->ids[0] < entry->ids[1]);
            assert_int_equal(entries[id][entry->ids[1 - side]], link >> 1);
            seen += 1;
            before = link;
            link = entry->next[side];
        }
    }
    assert_int_equal(seen, 2 * count);
}

static uint64_t hashTable(uint64_t hash, const rbPairTable* table)
{
    const int numbers[] = {table->end,      table->count,          table->freeEntry1,
                           table->capacity, table->bucketCapacity, table->idCapacity};
    uint64_t h = rbHashBytes(hash, numbers, sizeof numbers);
    h = rbHashBytes(h, table->buckets, (size_t)table->bucketCapacity * sizeof *table->buckets);
    for (int e = 0; e < table->end; ++e) {
        const rbPairEntry* entry = &table->entries[e];
        h = rbHashBytes(h, entry->ids, sizeof entry->ids);
        h = rbHashBytes(h, &entry->nextInBucket, sizeof entry->nextInBucket);
    }
    return h;
}

static void pairsComeAndGo(void** state)
{
    (void)state;
    static int entries[IDS][IDS];
    rbRandom random = {8200};
    rbPairTable table = {0};
    uint64_t bytes = rbGetAllocatedBytes(), hash = RB_HASH_SEED;
    assert_int_equal(rbPairTable_Find(&table, 1, 2), -1);
    for (int round = 0; round < 3; ++round) {
        int count = 0;
        for (int i = 0; i < IDS * IDS; ++i) {
            entries[i / IDS][i % IDS] = -1;
        }
        for (int k = 0; k < 2500; ++k) {
            int end = k < 400 ? 3 + k / 20 : IDS;
            int a = rbRandom_Index(&random, end), b = rbRandom_Index(&random, end);
            if (a == b) {
                continue;
            }
            rbPairTable_Reserve(&table, end);
            assert_int_equal(rbPairTable_Find(&table, a, b), entries[a][b]);
            bool isOut = entries[a][b] >= 0 && rbRandom_Index(&random, 3) != 0;
            if (isOut) {
                rbPairTable_Remove(&table, entries[a][b]);
                entries[a][b] = entries[b][a] = -1;
                --count;
            } else {
                int e = rbPairTable_Add(&table, a, b);
                assert_true(entries[a][b] < 0 || entries[a][b] == e);
                count += entries[a][b] < 0 ? 1 : 0;
                entries[a][b] = entries[b][a] = e;
            }
            assert_int_equal(rbPairTable_Find(&table, b, a), entries[a][b]);
            if (k % 10 == 0 || k < 100) {
                checkLists(&table, entries, count);
            }
            hash = hashTable(hash, &table);
        }
        rbPairTable_Clear(&table);
        assert_true(table.count == 0 && table.end == 0);
        assert_int_equal(rbPairTable_Find(&table, 1, 2), -1);
    }
    rbPairTable_Free(&table);
    assert_true(table.entries == NULL && table.capacity == 0 && table.bucketCapacity == 0);
    assert_true(rbGetAllocatedBytes() == bytes);
    const uint64_t expected = 0xf7d13d33f7c9738bu;
    if (hash != expected) {
        fail_msg("hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u", hash, expected);
    }
}

static int compareInts(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

#define NUMBERS_MAX 80

// Different numbers below an end in any order: close together at the end, and some anywhere.
static void drawNumbers(rbRandom* random, int end, int* numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        int id = end - 1 - i;
        id = i % 3 == 0 && end > 300 ? rbRandom_Index(random, end - 100) : id;
        for (int k = 0; k < i; ++k) {
            id = numbers[k] == id ? end / 2 - 90 + i : id;
        }
        numbers[i] = id;
    }
    for (int i = count - 1; i > 0; --i) {
        int k = rbRandom_Index(random, i + 1), kept = numbers[i];
        numbers[i] = numbers[k];
        numbers[k] = kept;
    }
}

static void checkSorted(const int* numbers, int count, int first)
{
    int truth[NUMBERS_MAX];
    rbIdList list = {0}, scratch = {0};
    for (int i = 0; i < first; ++i) {
        rbIdList_Push(&list, 1000 - i);
    }
    for (int i = 0; i < count; ++i) {
        truth[i] = numbers[i];
        rbIdList_Push(&list, numbers[i]);
    }
    qsort(truth, (size_t)count, sizeof(int), compareInts);
    rbIdList_Sort(&list, first, &scratch);
    assert_int_equal(list.count, first + count);
    for (int i = 0; i < first; ++i) {
        assert_int_equal(list.ids[i], 1000 - i);
    }
    for (int i = 0; i < count; ++i) {
        assert_int_equal(list.ids[first + i], truth[i]);
    }
    assert_int_equal(scratch.capacity > 0, count > 32);
    rbIdList_Free(&list);
    rbIdList_Free(&scratch);
}

// Lists of 0 to 80 numbers, of one byte to four, behind others that stay; few numbers need no
// memory.
static void listsAreSortedFromTheFirstOn(void** state)
{
    (void)state;
    static const int ends[] = {80, 255, 256, 257, 65536, 65537, 1 << 24, (1 << 24) + 1, INT32_MAX};
    rbRandom random = {rbTest_Seed(81)};
    for (int e = 0; e < 9; ++e) {
        for (int count = 0; count <= NUMBERS_MAX; ++count) {
            int numbers[NUMBERS_MAX] = {0};
            drawNumbers(&random, ends[e], numbers, count);
            checkSorted(numbers, count, count % 4);
        }
    }
}

// Partners are found in order, or in any; without the box itself.
static void partnersExcludeTheBoxItself(void** state)
{
    (void)state;
    rbBroadPhase* broad = rbCreateBroadPhase(RB_BROAD_TREE, 0.0);
    rbIdList found = {0}, scratch = {0};
    for (int id = 0; id < 50; ++id) {
        double x = 0.1 * (id * 7 % 50);
        rbBroadPhase_PlaceAs(broad, id, (rbBounds){{x, 0.0, 0.0}, {x + 1.05, 1.0, 1.0}},
                             id % 2 == 0 ? RB_BROAD_BALL : RB_BROAD_BOX);
        assert_int_equal(broad->isIn[id], id % 2 == 0 ? RB_BROAD_BALL : RB_BROAD_BOX);
        assert_true(broad->count == id + 1 && broad->idEnd == id + 1);
    }
    rbIdList_Push(&found, 99); // stays
    int64_t candidates = rbBroadPhase_GetCounts(broad).candidates;
    rbBroadPhase_FindPartners(broad, 25, &found, &scratch);
    candidates = rbBroadPhase_GetCounts(broad).candidates - candidates;
    assert_int_equal(candidates, found.count - 1);
    assert_int_equal(found.ids[0], 99);
    int partners = 0;
    for (int id = 0; id < 50; ++id) {
        double apart = 0.1 * (id * 7 % 50) - 0.1 * (25 * 7 % 50);
        if (id != 25 && fabs(apart) < 1.05) {
            partners += 1;
            assert_int_equal(found.ids[partners], id);
        }
    }
    assert_int_equal(found.count, partners + 1);
    found.count = 0;
    rbBroadPhase_FindPartners(broad, 25, &found, NULL);
    assert_int_equal(found.count, partners);
    assert_false(rbBroadPhase_Has(broad, -1));
    assert_false(rbBroadPhase_Has(broad, 50));
    rbIdList_Free(&found);
    rbIdList_Free(&scratch);
    rbDestroyBroadPhase(broad);
}

RB_TEST_GROUP(test_pair_table, cmocka_unit_test(pairsComeAndGo),
              cmocka_unit_test(listsAreSortedFromTheFirstOn),
              cmocka_unit_test(partnersExcludeTheBoxItself));
