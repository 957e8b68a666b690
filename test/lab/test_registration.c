// Rows that tables take at start-up: numbered from COUNT on, found by name, refused if their
// name is known or they do not fit. Tests share the tables of the process.
#include "base/core/registered_rows.h"
#include "collision/broadphase/broad_phase.h"
#include "dynamics/engines/event/event_rows.h"
#include "rb_test.h"

#include <rattleback/lab.h>

#include <stdio.h>
#include <string.h>

static const char* const labBroadPhases[] = {"sweep-1d", "sweep-2d", "coherent-hash"};

static void laboratoryIsRegisteredOnce(void** state)
{
    (void)state;
    assert_int_equal(rbBroadPhaseType_GetCount(), RB_BROAD_COUNT);
    assert_int_equal(rbBroadPhaseType_Find("sweep-1d"), RB_BROAD_COUNT); // unknown
    rbError error = {0};
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(rbRegisterLaboratory(&error), RB_STATUS_OK);
        assert_int_equal(rbBroadPhaseType_GetCount(), RB_BROAD_COUNT + 3);
    }
    for (int i = 0; i < 3; ++i) {
        rbBroadPhaseType type = rbBroadPhaseType_Find(labBroadPhases[i]);
        assert_int_equal(type, RB_BROAD_COUNT + i);
        assert_string_equal(rbBroadPhaseType_Name(type), labBroadPhases[i]);
    }
}

static void knownNamesAreRefused(void** state)
{
    (void)state;
    assert_int_equal(rbRegisterLaboratory(NULL), RB_STATUS_OK);
    static const char* const names[] = {"auto", "tree", "sweep-1d", "", NULL};
    int count = rbBroadPhaseType_GetCount();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        rbError error = {0};
        rbBroadRow row = rbBroadRowNaive;
        row.name = names[i];
        assert_int_equal(rbRegisterBroadPhase(&row, &error), RB_STATUS_INVALID);
        assert_non_null(strstr(error.message, "broad phase"));
        assert_int_equal(rbBroadPhaseType_GetCount(), count);
    }
}

static void fullTablesRefuse(void** state)
{
    (void)state;
    static const int row = 7;
    static char names[RB_REGISTERED_MAX + 1][8];
    rbRegisteredRows rows = {0};
    for (int i = 0; i <= RB_REGISTERED_MAX; ++i) {
        (void)snprintf(names[i], sizeof names[i], "row%d", i);
        rbNewRow newRow = {"thing", names[i], &row, false};
        rbError error = {0};
        bool fits = i < RB_REGISTERED_MAX;
        assert_int_equal(rbRegisteredRows_Add(&rows, &newRow, &error),
                         fits ? RB_STATUS_OK : RB_STATUS_LIMIT);
        assert_int_equal(rbRegisteredRows_Find(&rows, names[i]), i);
        assert_int_equal(rows.count, fits ? i + 1 : RB_REGISTERED_MAX);
    }
}

// A row of a program takes part like a built-in one.
static void registeredRowsFindPairs(void** state)
{
    (void)state;
    static rbBroadRow row;
    row = rbBroadRowNaive;
    row.name = "mine";
    rbError error = {0};
    assert_int_equal(rbRegisterBroadPhase(&row, &error), RB_STATUS_OK);
    rbBroadPhase* broad = rbCreateBroadPhase(rbBroadPhaseType_Find("mine"), 0.0);
    rbBounds unit = {{0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}};
    rbBroadPhase_Place(broad, 0, unit, NULL);
    rbBroadPhase_Place(broad, 1, unit, NULL);
    rbIdList pairs = {0};
    rbBroadPhase_FindPairs(broad, &pairs);
    assert_int_equal(pairs.count, 2);
    rbIdList_Free(&pairs);
    rbDestroyBroadPhase(broad);
}

// Loops and detectors of the event engine.
static void eventRowsAreRegisteredByName(void** state)
{
    (void)state;
    assert_int_equal(rbRegisterLaboratory(NULL), RB_STATUS_OK);
    assert_true((int)rbDetector_Find("rays") >= RB_DETECTOR_COUNT);
    assert_true((int)rbEventLoop_Find("pairs") >= RB_LOOP_COUNT);
    assert_string_equal(rbEventLoop_Name(rbEventLoop_Find("all-pairs")), "all-pairs");
    static const rbEventLoop loops[] = {RB_LOOP_BODIES, RB_LOOP_COUNT};
    for (int i = 0; i < 2; ++i) {
        rbError error = {0};
        rbEventLoopRow row = *rbGetEventLoopRow(loops[i]);
        assert_int_equal(rbRegisterEventLoop(&row, &error), RB_STATUS_INVALID);
        assert_non_null(strstr(error.message, row.name));
    }
    rbError error = {0};
    rbDetectorRow rays = *rbGetDetectorRow(rbDetector_Find("rays"));
    assert_int_equal(rbRegisterDetector(&rays, &error), RB_STATUS_INVALID);
    int count = rbDetector_GetCount();
    static rbDetectorRow mine;
    mine = rays;
    mine.name = "mine";
    assert_int_equal(rbRegisterDetector(&mine, &error), RB_STATUS_OK);
    assert_int_equal(rbDetector_Find("mine"), count);
    assert_int_equal(rbDetector_Find("other"), count + 1);
}

RB_TEST_GROUP(test_registration, cmocka_unit_test(laboratoryIsRegisteredOnce),
              cmocka_unit_test(knownNamesAreRefused), cmocka_unit_test(fullTablesRefuse),
              cmocka_unit_test(registeredRowsFindPairs),
              cmocka_unit_test(eventRowsAreRegisteredByName));
