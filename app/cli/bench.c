// rattleback bench: runs the suites of bench/.
#define _POSIX_C_SOURCE 200809L // isatty
#include "bench.h"

#include "cli/cli.h"
#include "cli/launcher.h"
#include "io/output/output_file.h"

#include <rattleback/output.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

static const rbBenchSuite* findSuite(const char* name)
{
    int count = 0;
    const rbBenchSuite* const* suites = rbGetBenchSuites(&count);
    const char* names[64];
    for (int i = 0; i < count && i < 64; ++i) {
        names[i] = suites[i]->name;
        if (strcmp(name, names[i]) == 0) {
            return suites[i];
        }
    }
    const char* nearest = rbFindNearestWord(name, names, count);
    (void)rbFail("there is no suite '%s'; %s%s", name,
                 nearest != NULL ? "did you mean " : "'rattleback bench --list' lists them",
                 nearest != NULL ? nearest : "");
    return NULL;
}

static rbExit listSuites(void)
{
    int count = 0;
    const rbBenchSuite* const* suites = rbGetBenchSuites(&count);
    for (int i = 0; i < count; ++i) {
        (void)printf("%-14s %s\n", suites[i]->name, suites[i]->help);
    }
    return RB_EXIT_DONE;
}

// The part named by --only must belong to a single named suite.
static bool validatePart(const rbArguments* arguments, const char* part)
{
    if (part == NULL) {
        return true;
    }
    const rbBenchSuite* suite = arguments->wordCount == 1 ? findSuite(arguments->words[0]) : NULL;
    if (suite == NULL || suite->parts == NULL) {
        (void)rbFail("--only %s: name one suite that has parts, e.g. contacts", part);
        return false;
    }
    int count = 0;
    while (suite->parts[count] != NULL) {
        if (strcmp(suite->parts[count++], part) == 0) {
            return true;
        }
    }
    const char* nearest = rbFindNearestWord(part, suite->parts, count);
    (void)rbFail("the suite %s has no part '%s'; did you mean %s", suite->name, part,
                 nearest != NULL ? nearest : suite->parts[0]);
    return false;
}

static void runSuite(rbBench* bench, const rbBenchSuite* suite)
{
    bench->suite = suite->name;
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "%s: %s\n", suite->name, suite->help);
    }
    suite->run(bench);
    if (bench->text != NULL) {
        (void)fputc('\n', bench->text);
    }
}

static void printJson(const rbBench* bench)
{
    rbJson json = {.file = stdout};
    rbJson_BeginArray(&json, NULL);
    for (int i = 0; i < bench->rows.count; ++i) {
        const rbBenchRow* row = &bench->rows.data[i];
        rbJson_BeginObject(&json, NULL);
        rbJson_Text(&json, "suite", row->suite);
        rbJson_Text(&json, "case", row->caseName);
        rbJson_Text(&json, "engine", row->engine);
        rbJson_Text(&json, "metric", row->metric);
        rbJson_Number(&json, "value", row->value);
        rbJson_Text(&json, "unit", row->unit);
        rbJson_Text(&json, "result", row->result);
        rbJson_Number(&json, "error_max", row->errorMax);
        rbJson_End(&json);
    }
    rbJson_End(&json);
}

static void writeNumberCell(rbOutputFile* file, double value, const char* end)
{
    char text[RB_NUMBER_TEXT_SIZE] = "";
    if (isfinite(value)) {
        (void)rbFormatNumber(value, text);
    }
    rbOutputFile_Text(file, text);
    rbOutputFile_Text(file, end);
}

// Text cells are our own and contain no quotes; they are quoted because some contain commas.
static rbStatus writeCsv(const rbBench* bench, const char* path, rbError* error)
{
    rbOutputFile* file = rbAlloc(sizeof *file);
    rbStatus status = rbOutputFile_Open(file, path, error);
    if (status == RB_STATUS_OK) {
        rbOutputFile_Text(file, "suite,case,engine,metric,value,unit,result,error_max\n");
        for (int i = 0; i < bench->rows.count; ++i) {
            const rbBenchRow* row = &bench->rows.data[i];
            rbOutputFile_Print(file, "%s,\"%s\",\"%s\",\"%s\",", row->suite, row->caseName,
                               row->engine, row->metric);
            writeNumberCell(file, row->value, "");
            rbOutputFile_Print(file, ",%s,%s,", row->unit, row->result);
            writeNumberCell(file, row->errorMax, "\n");
        }
        status = rbOutputFile_Commit(file, error);
    }
    rbFree(file, sizeof *file);
    return status;
}

#ifdef RB_MPI
// Several processes may only run the suite that knows of them; the first one prints.
static bool joinProcesses(const rbArguments* arguments)
{
    const char* variable = NULL;
    if (rbCountLaunched(&variable) == 1) {
        return true;
    }
    bool isFirst = rbIsFirstProcess();
    if (arguments->wordCount != 1 || strcmp(arguments->words[0], "cluster") != 0) {
        if (isFirst) {
            (void)rbFail("several processes were started (%s), and only 'bench cluster' works on "
                         "several",
                         variable);
        }
        return false;
    }
    return isFirst || freopen("/dev/null", "w", stdout) != NULL;
}
#endif

static rbExit runBench(const rbArguments* arguments)
{
#ifdef RB_MPI
    if (!joinProcesses(arguments)) {
        return RB_EXIT_USAGE;
    }
#endif
    if (rbArguments_Has(arguments, "--list")) {
        return listSuites();
    }
    if (!rbArguments_TakeThreads(arguments, 1)) {
        return RB_EXIT_USAGE;
    }
    bool isForMachines = rbArguments_Has(arguments, "--json");
    rbBench bench = {
        .text = isForMachines ? NULL : stdout,
        .progress = isatty(STDERR_FILENO) == 1 ? stderr : NULL,
        .isQuick = rbArguments_Has(arguments, "--quick"),
        .isAlone = rbArguments_Has(arguments, "--no-peers"),
        .plotFolder = rbArguments_Get(arguments, "--plots"),
        .only = rbArguments_Get(arguments, "--only"),
    };
    int count = 0;
    const rbBenchSuite* const* suites = rbGetBenchSuites(&count);
    for (int i = 0; i < arguments->wordCount; ++i) {
        if (findSuite(arguments->words[i]) == NULL) {
            return RB_EXIT_USAGE;
        }
    }
    if (!validatePart(arguments, bench.only)) {
        return RB_EXIT_USAGE;
    }
    for (int i = 0; i < arguments->wordCount; ++i) {
        runSuite(&bench, findSuite(arguments->words[i]));
    }
    if (arguments->wordCount == 0 && !bench.isQuick) {
        (void)fprintf(
            stderr,
            "rattleback: all %d suites run, for about an hour; name some to run only those "
            "('rattleback bench --list')\n",
            count);
    }
    for (int i = 0; i < count && arguments->wordCount == 0; ++i) {
        runSuite(&bench, suites[i]);
    }
    if (isForMachines) {
        printJson(&bench);
    }
    rbExit exit = RB_EXIT_DONE;
    rbError error = {0};
    const char* path = rbArguments_Get(arguments, "--csv");
    if (path != NULL && rbIsFirstProcess() && writeCsv(&bench, path, &error) != RB_STATUS_OK) {
        exit = rbFailWith(&error);
    }
    rbArray_Free(bench.rows);
    return exit;
}

static const rbOption options[] = {
    {"--list", NULL, "lists the suites"},
    {"--quick", NULL, "few cases and one repeat: a smoke test, not a measurement"},
    {"--only", "PART", "only one part of the suite, e.g. the pile pyramid20 of contacts"},
    {"--no-peers", NULL, "Rattleback only"},
    {"--csv", "FILE", "writes the rows as a table"},
    {"--plots", "DIR",
     "draws error against time, of accuracy and joints-peers, as SUITE.svg there"},
    {"--threads", "N",
     "threads of a step of ours (default 1: times are those of one core; the part threads of the "
     "suite contacts has its own)"},
    {"--json", NULL,
     "prints one array of {suite, case, engine, metric, value, unit, result, error_max}"},
};

static const char* const examples[] = {
    "rattleback bench convex",
    "rattleback bench flight",
    "rattleback bench contacts --only pyramid20",
    "rattleback bench math --json",
    "rattleback bench --csv bench/results/my-cpu/flight.csv",
    NULL,
};

const rbVerb rbVerbBench = {
    .name = "bench",
    .words = "[SUITE...]",
    .help = "measures speed and memory, compared with installed peers",
    .more =
        "Without a SUITE, runs all of them. Times are the minimum of the repeats. Peers are "
        "compared\n"
        "if their modules are next to the program: 'make bench' builds those that are installed.",
    .run = runBench,
    .wordMin = 0,
    .wordMax = RB_CLI_VALUES_MAX,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
