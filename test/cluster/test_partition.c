// The grid and the table of partitions.
#include "base/core/random.h"
#include "cluster/partition.h"
#include "rb_test.h"

#include <stdlib.h>
#include <string.h>

static rbCellGrid makeGrid(void)
{
    rbCellGrid grid;
    rbVec3 none = RB_VEC3_ZERO;
    assert_int_equal(rbCellGrid_Init(&grid, none, none, rbMakeVec3(7.3, 5.9, 12.4), 1.0, NULL),
                     RB_STATUS_OK);
    assert_int_equal(rbCellGrid_Count(&grid), 7 * 5 * 12);
    return grid;
}

static rbCell cellOf(const rbCellGrid* grid, int index)
{
    return (rbCell){{index % grid->counts[0], index / grid->counts[0] % grid->counts[1],
                     index / (grid->counts[0] * grid->counts[1])}};
}

// The code of a cell against its bits one by one; the order of 8 neighbors is a Z.
static void mortonCodesInterleaveBits(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1)};
    for (int k = 0; k < 1000; ++k) {
        rbCell cell;
        uint64_t truth = 0;
        for (int i = 0; i < 3; ++i) {
            cell.at[i] = rbRandom_Index(&random, RB_CELLS_PER_AXIS_MAX);
            for (int bit = 0; bit < 21; ++bit) {
                truth |= (uint64_t)(cell.at[i] >> bit & 1) << (3 * bit + i);
            }
        }
        assert_int_equal(rbMortonCode(cell), truth);
    }
}

// G-02a: every cell has one owner, pieces follow each other in Morton order, and no rank has more
// than its share and the heaviest cell.
static void mortonPiecesHaveEqualWeights(void** state)
{
    (void)state;
    rbCellGrid grid = makeGrid();
    rbRandom random = {rbTest_Seed(2)};
    int count = (int)rbCellGrid_Count(&grid);
    int64_t weights[512];
    int64_t heaviest = 0;
    int64_t total = 0;
    for (int i = 0; i < count; ++i) {
        weights[i] = 1 + rbRandom_Index(&random, 1000);
        heaviest = weights[i] > heaviest ? weights[i] : heaviest;
        total += weights[i];
    }
    for (int ranks = 1; ranks <= 40; ++ranks) {
        rbPartition partition;
        assert_int_equal(rbPartition_Init(&partition, "morton", &grid, ranks, NULL), RB_STATUS_OK);
        rbPartition_Build(&partition, weights);
        int64_t loads[40] = {0};
        for (int i = 0; i < count; ++i) {
            int owner = rbPartition_Owner(&partition, cellOf(&grid, i));
            assert_in_range(owner, 0, ranks - 1);
            loads[owner] += weights[i];
            for (int j = 0; j < i; ++j) {
                bool isBefore = rbMortonCode(cellOf(&grid, j)) < rbMortonCode(cellOf(&grid, i));
                int other = rbPartition_Owner(&partition, cellOf(&grid, j));
                assert_true(isBefore ? other <= owner : other >= owner);
            }
        }
        for (int r = 0; r < ranks; ++r) {
            assert_true(loads[r] <= total / ranks + heaviest + 1);
        }
        rbPartition_Free(&partition);
    }
}

static void moreRanksThanCellsLeaveSomeEmpty(void** state)
{
    (void)state;
    rbCellGrid grid;
    rbVec3 three = rbMakeVec3(3.0, 3.0, 3.0);
    assert_int_equal(rbCellGrid_Init(&grid, RB_VEC3_ZERO, RB_VEC3_ZERO, three, 1.0, NULL),
                     RB_STATUS_OK);
    rbPartition partition;
    assert_int_equal(rbPartition_Init(&partition, "morton", &grid, 100, NULL), RB_STATUS_OK);
    int owners[100] = {0};
    for (int i = 0; i < 27; ++i) {
        int owner = rbPartition_Owner(&partition, cellOf(&grid, i));
        assert_in_range(owner, 0, 99);
        assert_int_equal(owners[owner]++, 0);
    }
    rbPartition_Free(&partition);
}

static void randomPartitionsDifferAndUseAllRanks(void** state)
{
    (void)state;
    rbCellGrid grid = makeGrid();
    rbPartition partition;
    assert_int_equal(rbPartition_Init(&partition, "random", &grid, 8, NULL), RB_STATUS_OK);
    int before[512];
    int counts[8] = {0};
    int count = (int)rbCellGrid_Count(&grid);
    for (int i = 0; i < count; ++i) {
        before[i] = rbPartition_Owner(&partition, cellOf(&grid, i));
        ++counts[before[i]];
    }
    rbPartition_Build(&partition, NULL);
    int changed = 0;
    for (int i = 0; i < count; ++i) {
        changed += rbPartition_Owner(&partition, cellOf(&grid, i)) != before[i];
    }
    assert_true(changed > count / 2);
    for (int r = 0; r < 8; ++r) {
        assert_true(counts[r] > count / 16);
    }
    rbPartition_Free(&partition);
}

static void unusableGridsAndPartitionsAreRefused(void** state)
{
    (void)state;
    rbError error = {0};
    rbCellGrid grid = makeGrid();
    rbPartition partition;
    assert_int_equal(rbPartition_Init(&partition, "p4est", &grid, 2, &error),
                     RB_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.message, "not built"));
    assert_int_equal(rbPartition_Init(&partition, "hilbert", &grid, 2, &error),
                     RB_STATUS_NOT_FOUND);
    assert_non_null(strstr(error.message, "morton"));
    assert_int_equal(
        rbCellGrid_Init(&grid, RB_VEC3_ZERO, RB_VEC3_ZERO, rbMakeVec3(9.0, 2.9, 9.0), 1.0, &error),
        RB_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.message, "along y"));
    assert_non_null(strstr(error.message, "at least 3 m"));
}

// A position belongs to the cell that contains it, and cells at an open border extend to infinity.
static void positionsBelongToTheirCells(void** state)
{
    (void)state;
    rbCellGrid grid;
    assert_int_equal(rbCellGrid_Init(&grid, rbMakeVec3(-1.0, 0.0, 0.0), rbMakeVec3(9.0, 4.0, 0.0),
                                     rbMakeVec3(0.0, 0.0, 6.0), 2.0, NULL),
                     RB_STATUS_OK);
    rbCell cell = rbCellGrid_Find(&grid, rbMakeVec3(3.5, 100.0, -2.9));
    assert_int_equal(cell.at[0], 2);
    assert_int_equal(cell.at[1], 1);
    assert_int_equal(cell.at[2], 0);
    rbCell next;
    assert_true(rbCellGrid_Step(&grid, cell, (const int[]){0, 0, -1}, &next));
    assert_int_equal(next.at[2], 2);
    assert_false(rbCellGrid_Step(&grid, cell, (const int[]){0, 1, 0}, &next));
    // 0.5 m above the lower end of its cell in x, 0.1 m in z
    const int offset[] = {-1, 0, -1};
    double square = rbCellGrid_DistanceSquared(&grid, cell, offset, rbMakeVec3(3.5, 100.0, -2.9));
    checkNear(square, 0.26, 1e-12);
}

RB_TEST_GROUP(test_partition, cmocka_unit_test(mortonCodesInterleaveBits),
              cmocka_unit_test(mortonPiecesHaveEqualWeights),
              cmocka_unit_test(moreRanksThanCellsLeaveSomeEmpty),
              cmocka_unit_test(randomPartitionsDifferAndUseAllRanks),
              cmocka_unit_test(unusableGridsAndPartitionsAreRefused),
              cmocka_unit_test(positionsBelongToTheirCells));
