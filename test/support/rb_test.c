#define _POSIX_C_SOURCE 200809L

#include "rb_test.h"

#include "base/core/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t givenSeed = 0;
static bool seedPrinted = false;

static const char* level(void)
{
    const char* text = getenv("RB_TEST_LEVEL");
    return text != NULL ? text : "normal";
}

uint64_t rbTest_Seed(uint64_t salt)
{
    if (givenSeed == 0) {
        const char* text = getenv("RB_TEST_SEED");
        givenSeed = text != NULL ? strtoull(text, NULL, 10) : 20261115u;
    }
    if (!seedPrinted) {
        seedPrinted = true;
        (void)fprintf(stderr, "seed %" PRIu64 " (repeat with --seed %" PRIu64 ")\n", givenSeed,
                      givenSeed);
    }
    // through the output function of the generator: otherwise neighboring seeds would be
    // neighboring states, and give the same numbers shifted by one
    rbRandom random = {givenSeed * 0x9E3779B97F4A7C15u + salt};
    return rbRandom_Bits(&random);
}

int rbTest_Count(int normal, int full)
{
    if (strcmp(level(), "quick") == 0) {
        return normal / 10 > 0 ? normal / 10 : 1;
    }
    if (strcmp(level(), "full") == 0) {
        return full;
    }
    if (strcmp(level(), "long") == 0) {
        return normal < full / 10 ? 10 * normal : full;
    }
    return normal;
}

bool rbTest_IsLong(void)
{
    return strcmp(level(), "long") == 0 || strcmp(level(), "full") == 0;
}

void rbCheckNear(double value, double truth, double tolerance, const char* what, const char* file,
                 int line)
{
    if (!(fabs(value - truth) <= tolerance)) {
        print_error("%s = %.17g, expected %.17g, off by %.3g, allowed %.3g\n", what, value, truth,
                    value - truth, tolerance);
        _fail(file, line);
    }
}

void rbCheckRelative(double value, double truth, double tolerance, const char* what,
                     const char* file, int line)
{
    rbCheckNear(value, truth, tolerance * (fabs(truth) > 1e-300 ? fabs(truth) : 1e-300), what, file,
                line);
}

void rbCheckBelow(double value, double bound, const char* what, const char* file, int line)
{
    if (!(value <= bound)) {
        print_error("%s = %.6g, allowed at most %.6g\n", what, value, bound);
        _fail(file, line);
    }
}

static void listTests(const rbTestGroup* const* groups, size_t count)
{
    for (size_t g = 0; g < count; ++g) {
        for (size_t i = 0; i < groups[g]->count; ++i) {
            (void)printf("%s %s\n", groups[g]->name, groups[g]->tests[i].name);
        }
    }
}

int rbRunTests(int argc, char** argv, const rbTestGroup* const* groups, size_t count)
{
    const char* onlyGroup = NULL;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--list") == 0) {
            listTests(groups, count);
            return 0;
        }
        if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            givenSeed = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--group") == 0 && i + 1 < argc) {
            onlyGroup = argv[++i];
        } else if (strcmp(argv[i], "--test") == 0 && i + 1 < argc) {
            cmocka_set_test_filter(argv[++i]);
        } else {
            (void)fprintf(stderr, "usage: %s [--list] [--seed N] [--group G] [--test NAME]\n",
                          argv[0]);
            return 2;
        }
    }
    int failures = 0;
    for (size_t g = 0; g < count; ++g) {
        if (onlyGroup == NULL || strcmp(onlyGroup, groups[g]->name) == 0) {
            failures += _cmocka_run_group_tests(groups[g]->name, groups[g]->tests, groups[g]->count,
                                                NULL, NULL);
        }
    }
    return failures == 0 ? 0 : 1;
}
