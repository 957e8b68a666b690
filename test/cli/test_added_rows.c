// Rows that a program adds to the tables at start-up: see added_rows.c.
#include "child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rbChildOptions withRows = {.program = RB_ADDED_ROWS};
#define RUN_ADDED(...) rbRunProgramWith((const char* const[]){__VA_ARGS__, NULL}, &withRows)

// The box goes up at 8 m/s against 9.8 m/s^2: in half a second 8 t - 4.9 t^2 = 2.775 m.
static void anAddedOutputIsWrittenListedAndExplained(void** state)
{
    (void)state;
    const char* path = rbScratch("height.txt");
    rbChild child = RUN_ADDED("run", "tumbling-box", "--duration", "0.5", "--height", path);
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "height.txt"));
    rbFreeChild(&child);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    double height = 0.0;
    double time = 0.0;
    assert_int_equal(fscanf(file, "%lf m after %lf s", &height, &time), 2);
    (void)fclose(file);
    checkNear(time, 0.5, 0.0);
    checkNear(height, 2.775, 1e-12);
    child = RUN_ADDED("run", "--help");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "--height FILE"));
    rbFreeChild(&child);
    child = RUN_ADDED("run", "tumbling-box", "--height", "/nowhere/height.txt");
    rbExpectFailure(child, 2, "cannot write /nowhere/height.txt");
    // the program itself has no such option
    rbExpectFailure(RUN("run", "tumbling-box", "--height", path), 2, "no option --height");
}

RB_TEST_GROUP(test_added_rows, SCRATCH_TEST(anAddedOutputIsWrittenListedAndExplained));
