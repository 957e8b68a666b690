// The program of docs/hello.md compiles (it is a target) and prints what the page says.
#include "child.h"

#include <stdlib.h>

static void helloPrintsWhatThePageSays(void** state)
{
    (void)state;
    size_t size = 0;
    char* expected = rbReadFile(RB_BINARY_DIR "/hello.txt", &size);
    assert_true(size > 20);
    (void)rbMakeScratch();
    const rbChildOptions options = {.program = RB_HELLO};
    rbChild child = rbRunProgramWith((const char* const[]){NULL}, &options);
    rbExpectSuccess(&child);
    assert_string_equal(child.out, expected);
    rbFreeChild(&child);
    rbRemoveScratch();
    free(expected);
}

RB_TEST_GROUP(test_hello, cmocka_unit_test(helloPrintsWhatThePageSays));
