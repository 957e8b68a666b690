// Rows registered in tables at startup: numbered from COUNT, found by name, refused if their name
// is in use or they do not fit. Tests share the tables of the process.
#include "base/core/registered_rows.h"
#include "collision/broadphase/broad_phase.h"
#include "dynamics/engines/event/event_rows.h"
#include "rb_test.h"

#include <rattleback/collision.h>
#include <rattleback/lab.h>

#include <stdio.h>
#include <string.h>

static const char* const labBroadPhases[] = {"naive",    "cells",    "hash",
                                             "sweep-1d", "sweep-2d", "coherent-hash"};

static void laboratoryIsRegisteredOnce(void** state)
{
    (void)state;
    assert_int_equal(rbBroadPhaseType_GetCount(), RB_BROAD_COUNT);
    assert_int_equal(rbBroadPhaseType_Find("sweep-1d"), RB_BROAD_COUNT); // unknown
    assert_int_equal(rbPairMethod_GetCount(), RB_PAIR_COUNT);
    assert_string_equal(rbPairMethod_Name(RB_PAIR_COUNT), "unknown");
    rbError error = {0};
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(rbRegisterLaboratory(&error), RB_STATUS_OK);
        assert_int_equal(rbBroadPhaseType_GetCount(), RB_BROAD_COUNT + 6);
        assert_int_equal(rbPairMethod_GetCount(), RB_PAIR_COUNT + 2);
    }
    assert_string_equal(rbPairMethod_Name(rbPairMethod_Find("mpr")), "mpr");
    assert_string_equal(rbPairMethod_Name(rbPairMethod_Find("features")), "features");
    for (int i = 0; i < 6; ++i) {
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
        rbBroadRow row = rbBroadRowTree;
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
    static char names[RB_REGISTERED_MAX + 1][16];
    rbRegisteredRows rows = {0};
    for (int i = 0; i <= RB_REGISTERED_MAX; ++i) {
        (void)snprintf(names[i], sizeof names[i], "row%d", i);
        rbNewRow newRow = {"thing", names[i], &row, false};
        rbError error = {0};
        bool fits = i < RB_REGISTERED_MAX;
        assert_int_equal(rbRegisteredRows_Add(&rows, &newRow, &error),
                         fits ? RB_STATUS_OK : RB_STATUS_LIMIT);
        assert_int_equal(rows.count, fits ? i + 1 : RB_REGISTERED_MAX);
    }
}

// A row registered by a program is used like a built-in one.
static void registeredRowsFindPairs(void** state)
{
    (void)state;
    static rbBroadRow row;
    row = rbBroadRowTree;
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

// Measures spheres only, and counts its calls in the memory.
static rbStatus measureBalls(const rbSeparationInput* input, rbMethodMemory* memory,
                             rbSeparation* separation)
{
    if (rbGeometry_GetType(input->geometryA) != RB_SHAPE_SPHERE ||
        rbGeometry_GetType(input->geometryB) != RB_SHAPE_SPHERE) {
        return RB_STATUS_UNSUPPORTED;
    }
    double radii = rbGeometry_GetData(input->geometryA).sphere.radius +
                   rbGeometry_GetData(input->geometryB).sphere.radius;
    double distance = rbLength(input->transformBtoA.p) - radii;
    *separation = (rbSeparation){.distance = distance, .lower = distance, .upper = distance};
    if (memory != NULL) {
        memory->values[0] += 1.0;
        separation->iterations = (int)memory->values[0];
    }
    return RB_STATUS_OK;
}

static void methodsOfProgramsTakePart(void** state)
{
    (void)state;
    static double scratch[1 << 15];
    static const rbPairMethodRow row = {"balls", measureBalls, NULL};
    rbError error = {0};
    assert_int_equal(rbRegisterPairMethod(&row, &error), RB_STATUS_OK);
    assert_int_equal(rbRegisterPairMethod(&row, &error), RB_STATUS_INVALID);
    rbGeometry* ball = rbCreateSphere(0.5, &error);
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), &error);
    rbSeparationInput input = rbDefaultSeparationInput();
    input.method = rbPairMethod_Find("balls");
    input.geometryA = ball;
    input.geometryB = ball;
    input.transformBtoA.p = rbMakeVec3(3.0, 0.0, 0.0);
    rbSeparationCache cache = {0};
    rbSeparation s;
    for (int i = 1; i <= 2; ++i) {
        assert_int_equal(rbMeasureSeparation(&input, &cache, scratch, &s, &error), RB_STATUS_OK);
        checkNear(s.distance, 2.0, 0.0);
        assert_int_equal(s.iterations, i);
    }
    bool overlaps = true;
    assert_int_equal(rbTestOverlap(&input, 1.5, NULL, &overlaps, &error), RB_STATUS_OK);
    assert_false(overlaps);
    assert_int_equal(rbTestOverlap(&input, 2.5, NULL, &overlaps, &error), RB_STATUS_OK);
    assert_true(overlaps);
    input.geometryB = box;
    assert_int_equal(rbMeasureSeparation(&input, &cache, scratch, &s, &error),
                     RB_STATUS_UNSUPPORTED);
    assert_string_equal(error.message, "the method balls does not support sphere and box; use the "
                                       "method auto");
    rbDestroyGeometry(ball);
    rbDestroyGeometry(box);
}

RB_TEST_GROUP(test_registration, cmocka_unit_test(laboratoryIsRegisteredOnce),
              cmocka_unit_test(knownNamesAreRefused), cmocka_unit_test(fullTablesRefuse),
              cmocka_unit_test(registeredRowsFindPairs),
              cmocka_unit_test(eventRowsAreRegisteredByName),
              cmocka_unit_test(methodsOfProgramsTakePart));
