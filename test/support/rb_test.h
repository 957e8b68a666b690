// Included by every test file: cmocka, near-checks for doubles, seeds and counts.
//
// A file test_x.c ends with RB_TEST_GROUP(test_x, cmocka_unit_test(claimOne), ...); CMake links the
// files of a folder into one program and creates one CTest entry for every test.
//
// Levels, from the environment variable RB_TEST_LEVEL: "quick" (sanitizers: a tenth), "normal"
// (make test), "long" (make test-long: ten times, at most full), "full" (make test-full).
// The seed is printed; RB_TEST_SEED or --seed N sets it.
#pragma once

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <stdbool.h>

typedef struct rbTestGroup {
    const char* name;
    const struct CMUnitTest* tests;
    size_t count;
} rbTestGroup;

#define RB_TEST_GROUP(stem, ...)                                  \
    static const struct CMUnitTest stem##Cases[] = {__VA_ARGS__}; \
    extern const rbTestGroup rbTestGroup_##stem;                  \
    const rbTestGroup rbTestGroup_##stem = {#stem, stem##Cases,   \
                                            sizeof stem##Cases / sizeof stem##Cases[0]}

// Runs the groups, filtered and seeded by the command line. Called by the generated main.
int rbRunTests(int argc, char** argv, const rbTestGroup* const* groups, size_t count);

// Seed of this run, printed once by the first call; pass a different base number in each test.
uint64_t rbTest_Seed(uint64_t salt);

// Number of random cases at the current level.
int rbTest_Count(int normal, int full);

// True at the levels "long" and "full".
bool rbTest_IsLong(void);

// |value - truth| <= tolerance; prints both on failure, fails on NaN.
#define checkNear(value, truth, tolerance) \
    rbCheckNear((value), (truth), (tolerance), #value, __FILE__, __LINE__)

// |value - truth| <= tolerance * max(|truth|, tiny).
#define checkRelative(value, truth, tolerance) \
    rbCheckRelative((value), (truth), (tolerance), #value, __FILE__, __LINE__)

#define checkBelow(value, bound) rbCheckBelow((value), (bound), #value, __FILE__, __LINE__)

void rbCheckNear(double value, double truth, double tolerance, const char* what, const char* file,
                 int line);
void rbCheckRelative(double value, double truth, double tolerance, const char* what,
                     const char* file, int line);
void rbCheckBelow(double value, double bound, const char* what, const char* file, int line);
