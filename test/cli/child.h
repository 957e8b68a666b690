// Runs the built program as a child process, as a user would.
#pragma once

#include "rb_test.h"

#include <stddef.h>
#include <sys/types.h>

// The result of a finished program.
typedef struct rbChild {
    int exitCode; // -1 when a signal ended it
    char* out;
    char* err;
} rbChild;

// Options for starting a child, besides its arguments.
typedef struct rbChildOptions {
    const char* program;        // another program, NULL: rattleback
    const char* standardOutput; // a file to write to, NULL: output is captured
    long fileSizeMax;           // largest file size in bytes, 0: no limit
    const char* environment;    // one "NAME=VALUE" more, NULL: none
} rbChildOptions;

// A scratch folder for one test; every test starts with it and ends with rbRemoveScratch.
const char* rbMakeScratch(void);
void rbRemoveScratch(void);
// The same as set-up and tear-down of a test.
int rbSetUpScratch(void** state);
int rbTearDownScratch(void** state);
#define SCRATCH_TEST(name) cmocka_unit_test_setup_teardown(name, rbSetUpScratch, rbTearDownScratch)
// A path in that folder; the text stays valid for the next seven calls.
const char* rbScratch(const char* name);

// Runs the program with the given arguments, terminated by NULL, in the scratch folder.
rbChild rbRunProgram(const char* const* words);
rbChild rbRunProgramWith(const char* const* words, const rbChildOptions* options);
#define RUN(...) rbRunProgram((const char* const[]){__VA_ARGS__, NULL})
// Starts it and returns immediately; rbWaitChild waits for its end.
pid_t rbStartProgram(const char* const* words, const rbChildOptions* options);
rbChild rbWaitChild(pid_t pid);
void rbFreeChild(rbChild* child);

// The usual end of a test of a mistake: expects this exit code and one message on stderr that
// contains needle.
void rbExpectFailure(rbChild child, int exitCode, const char* needle);
// Expects exit code 0 and nothing on stderr.
void rbExpectSuccess(const rbChild* child);

// Runs it and reads the JSON on its standard output; the caller frees it (json_decref). Expects
// exit code 0 like rbExpectSuccess.
struct json_t* rbRunJson(int exitCode, const char* const* words);
#define RUN_JSON(...) rbRunJson(0, (const char* const[]){__VA_ARGS__, "--json", NULL})
// The number root[first][second], or root[first] where second is NULL; fails if there is none.
double rbNumberOf(const struct json_t* root, const char* first, const char* second);
// Fails unless a text contains all of some lines, or parts of lines.
void rbExpectLines(const char* text, const char* const* lines, size_t count);
#define EXPECT_LINES(text, lines) rbExpectLines(text, lines, sizeof(lines) / sizeof((lines)[0]))

void rbWriteFile(const char* path, const void* bytes, size_t size);
void rbWriteText(const char* path, const char* text);
// The whole file, zero-terminated; free() it.
char* rbReadFile(const char* path, size_t* size);
bool rbFileExists(const char* path);
