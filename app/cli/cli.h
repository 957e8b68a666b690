// Shared by the files of the program: verbs and their options, exit codes, JSON and text output.
//
// A verb is a row of the table in main.c with its own file. To add one: write a file with a `const
// rbVerb`, declare it at the end of this header, and add it to the table.
#pragma once

#include <rattleback/base.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Exit codes of the program.
typedef enum rbExit {
    RB_EXIT_DONE = 0,
    RB_EXIT_NO = 1,        // negative result: a check, a comparison or a validation failed
    RB_EXIT_USAGE = 2,     // bad usage, bad input, or a file that cannot be written
    RB_EXIT_NUMERICAL = 3, // a computation missed its tolerance
} rbExit;

#define RB_CLI_VALUES_MAX 256

typedef struct rbOption {
    const char* name;     // with its dashes
    const char* argument; // name of the argument in the help; NULL for a flag
    const char* help;
} rbOption;

struct rbVerb;

// The option of verbs that read scenes; the program loads modules before it reads the options.
#define RB_MODULE_OPTION                                                                        \
    {                                                                                           \
        "--module", "FILE",                                                                     \
            "loads a module first, a shared library or, for 'run', a script in Python; can be " \
            "repeated"                                                                          \
    }

// A parsed command line. Texts are borrowed from argv.
typedef struct rbArguments {
    const struct rbVerb* verb;
    const char* words[RB_CLI_VALUES_MAX]; // words that are not options
    int wordCount;
    struct {
        const rbOption* option;
        const char* value;
    } values[RB_CLI_VALUES_MAX]; // options in the order given
    int valueCount;
} rbArguments;

typedef rbExit rbVerbFn(const rbArguments* arguments);

typedef struct rbVerb {
    const char* name;
    const char* words; // how the words are shown in the usage line, e.g. "SCENE"
    const char* help;  // one line
    const char* more;  // further lines of the help, or NULL
    rbVerbFn* run;
    int wordMin;
    int wordMax;
    const rbOption* options;
    int optionCount;
    const rbOption* (*getMoreOption)(int index); // options of a table, NULL after the last; or NULL
    const char* const* examples;                 // ends with NULL
} rbVerb;

// Parses argv (the words after the verb). On a mistake prints a message to stderr and returns
// false.
bool rbArguments_Parse(rbArguments* arguments, const rbVerb* verb, int count, char** words);
// True when the option was given.
bool rbArguments_Has(const rbArguments* arguments, const char* name);
// The last value given to an option, or NULL when it was not given.
const char* rbArguments_Get(const rbArguments* arguments, const char* name);
// A finite number from an option; *value is unchanged when the option was not given. Returns false,
// with a message on stderr, when the text is not a number or outside low..high.
bool rbArguments_GetNumber(const rbArguments* arguments, const char* name, double low, double high,
                           double* value);
// Threads of all worlds from --threads, the fallback without it; false, with a message on stderr,
// when it is no number of threads.
bool rbArguments_TakeThreads(const rbArguments* arguments, int fallback);
#define RB_OPTION_THREADS                                                                      \
    {                                                                                          \
        "--threads", "N",                                                                      \
            "threads of a step, the same bits for any number (default: one per core for 1000 " \
            "bodies and more)"                                                                 \
    }
// Prints the help of a verb.
void rbVerb_PrintHelp(const rbVerb* verb, FILE* file);

// The candidate nearest to a word by edit distance, or NULL when none is close.
const char* rbFindNearestWord(const char* word, const char* const* candidates, int count);

// Prints "rattleback: " and the message to stderr and returns RB_EXIT_USAGE.
rbExit rbFail(const char* format, ...) RB_PRINTF(1, 2);
// A text of a user (names, titles, messages with them) for a terminal: control characters, which a
// terminal would obey, are shown as \x1b. rbShow keeps its last four results.
void rbEscapeText(const char* text, char* escaped, size_t capacity);
const char* rbShow(const char* text);

// Prints an error of the library to stderr; returns the exit code for its status.
rbExit rbFailWith(const rbError* error);
// Flushes standard output: a full disk turns RB_EXIT_DONE into a failure.
rbExit rbFinishOutput(rbExit exit);

// A readable time span: "1.25 s", "340 us". Needs text of at least 32 bytes and returns it.
const char* rbFormatDuration(double seconds, char* text);
// "s" unless the count is 1.
const char* rbPlural(int64_t count);
// A readable count of bytes: "1.2 MB".
const char* rbFormatBytes(double bytes, char* text);

// A JSON writer. Keys are NULL inside arrays. Non-finite numbers become null.
#define RB_JSON_DEPTH_MAX 16
typedef struct rbJson {
    FILE* file;
    int depth;
    char brackets[RB_JSON_DEPTH_MAX];
    bool hasItems[RB_JSON_DEPTH_MAX];
} rbJson;

void rbJson_BeginObject(rbJson* json, const char* key);
void rbJson_BeginArray(rbJson* json, const char* key);
void rbJson_End(rbJson* json);
void rbJson_Number(rbJson* json, const char* key, double value);
void rbJson_Integer(rbJson* json, const char* key, int64_t value);
void rbJson_Bool(rbJson* json, const char* key, bool value);
void rbJson_Text(rbJson* json, const char* key, const char* text); // NULL becomes null
void rbJson_Vec3(rbJson* json, const char* key, rbVec3 value);
// An error as an object {status, file, line, column, place, message}.
void rbJson_Error(rbJson* json, const char* key, const rbError* error);

// The verbs.
extern const rbVerb rbVerbRun;
extern const rbVerb rbVerbCheck;
extern const rbVerb rbVerbInfo;
extern const rbVerb rbVerbDistance;
extern const rbVerb rbVerbReplay;
extern const rbVerb rbVerbValidate;
extern const rbVerb rbVerbBench;
extern const rbVerb rbVerbView;
extern const rbVerb rbVerbRays;
extern const rbVerb rbVerbSettings;
extern const rbVerb rbVerbVerify;
extern const rbVerb rbVerbSweep;

// Appends a verb, which must outlive the program. Refuses a name that is known, and more than fit.
rbStatus rbRegisterVerb(const rbVerb* verb, rbError* error);

// The program: finds the verb, reads its options, runs it; returns the exit code. A program that
// adds rows to the tables registers them first.
int rbProgram_Run(int argc, char** argv);
// Prints the example scenes by theme (the program without arguments).
rbExit rbListScenes(void);
// Prints only their names, one per line, for shell completion.
rbExit rbPrintSceneNames(void);
