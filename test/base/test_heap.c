// The heap and the queue with changing keys compared with a linear search.
#include "base/core/heap.h"
#include "base/core/random.h"
#include "rb_test.h"

#include <math.h>

#define ITEMS 300

// The item of the least key, the smaller number where keys are equal; -1 if there is none.
static int findLeast(const double* keys, int count)
{
    int least = -1;
    for (int i = 0; i < count; ++i) {
        if (!isnan(keys[i]) && (least < 0 || keys[i] < keys[least])) {
            least = i;
        }
    }
    return least;
}

static void theTopIsTheLeastWhateverHappened(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(41)};
    rbHeap heap = {0};
    double keys[ITEMS];
    for (int i = 0; i < ITEMS; ++i) {
        keys[i] = NAN;
    }
    int count = rbTest_Count(20000, 1000000);
    for (int k = 0; k < count; ++k) {
        int item = rbRandom_Index(&random, ITEMS);
        double choice = rbRandom_Unit(&random);
        if (choice < (k / 1000 % 2 == 0 ? 0.2 : 0.6)) {
            rbHeap_Remove(&heap, item);
            keys[item] = NAN;
        } else {
            // few different keys, so that ties are common, and some infinite ones
            keys[item] = choice > 0.95 ? (double)INFINITY : rbRandom_Index(&random, 50);
            rbHeap_Set(&heap, item, keys[item]);
        }
        int least = findLeast(keys, ITEMS);
        assert_int_equal(rbHeap_IsEmpty(&heap), least < 0);
        assert_int_equal(rbHeap_Has(&heap, item), !isnan(keys[item]));
        if (least >= 0) {
            assert_int_equal(rbHeap_Top(&heap).item, least);
            assert_true(rbHeap_Top(&heap).key == keys[least]);
        }
        if (k < 20000 || k % 1000 == 0) {
            assert_true(rbHeap_IsValid(&heap));
        }
    }
    rbHeap_Free(&heap);
    assert_true(rbHeap_IsEmpty(&heap) && rbHeap_IsValid(&heap));
    rbHeap_Set(&heap, 7, 1.0);
    assert_int_equal(rbHeap_Top(&heap).item, 7);
    rbHeap_Free(&heap);
}

#define QUEUED 6000

// As in a simulation: the least gets a later key, and few others change.
static void theQueueReturnsItemsInOrder(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(43)};
    rbQueue queue = {.horizon = -INFINITY};
    static double keys[QUEUED];
    for (int i = 0; i < QUEUED; ++i) {
        keys[i] = rbRandom_Index(&random, 1000);
        rbQueue_Set(&queue, i, keys[i]);
    }
    int most = 0;
    uint64_t allocations = rbGetAllocationCount();
    for (int k = 0; k < 20000; ++k) {
        assert_true(rbQueue_HasNext(&queue));
        most = queue.soon.count > most ? queue.soon.count : most;
        rbHeapNode top = rbHeap_Top(&queue.soon);
        assert_int_equal(top.item, findLeast(keys, QUEUED));
        assert_true(top.key == keys[top.item]);
        int items[2] = {top.item, rbRandom_Index(&random, QUEUED)};
        for (int i = 0; i < 2; ++i) {
            // equal keys are common; every hundredth item is taken out for a while
            double key = top.key + rbRandom_Index(&random, 1000);
            keys[items[i]] = rbRandom_Index(&random, 100) == 0 ? NAN : key;
            if (isnan(keys[items[i]])) {
                rbQueue_Remove(&queue, items[i]);
                assert_true(isinf(rbQueue_GetKey(&queue, items[i])));
            } else {
                rbQueue_Set(&queue, items[i], key);
                assert_true(rbQueue_GetKey(&queue, items[i]) == key);
            }
        }
        assert_true(k % 100 != 0 || rbHeap_IsValid(&queue.soon));
    }
    assert_in_range(most, 1, QUEUED / 4); // few are in the heap
    assert_true(rbGetAllocationCount() == allocations);
    rbQueue_Free(&queue);
    assert_false(rbQueue_HasNext(&queue));
}

// A node that comes before its parent, or an item whose place is wrong, is noticed.
static void damageIsNoticed(void** state)
{
    (void)state;
    rbHeap heap = {0};
    for (int i = 0; i < 40; ++i) {
        rbHeap_Set(&heap, i, 40.0 - i);
    }
    assert_true(rbHeap_IsValid(&heap));
    for (int i = 0; i < 40; ++i) {
        rbHeapNode* node = &heap.nodes.data[i + RB_HEAP_OFFSET];
        rbHeapNode kept = *node;
        node->key = i == 0 ? 1e3 : -1.0;
        assert_false(rbHeap_IsValid(&heap));
        *node = kept;
        int* place = &heap.places.data[i];
        *place += 1;
        assert_false(rbHeap_IsValid(&heap));
        *place -= 1;
        assert_true(rbHeap_IsValid(&heap));
    }
    rbHeap_Free(&heap);
}

RB_TEST_GROUP(test_heap, cmocka_unit_test(theTopIsTheLeastWhateverHappened),
              cmocka_unit_test(theQueueReturnsItemsInOrder), cmocka_unit_test(damageIsNoticed));
