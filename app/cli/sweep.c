#define _XOPEN_SOURCE 700

// rattleback sweep: runs a scene over a grid of values, several processes at a time, and keeps the
// results in a table that a later call goes on with.
#include "base/core/hash.h"
#include "base/core/memory.h"
#include "base/core/timer.h"
#include "cli/inputs.h"
#include "cli/modules.h"
#include "cli/scenes.h"
#include "cli/signals.h"
#include "cli/sweep_table.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES_MAX 256
#define WAIT_MS 100          // between looks at signals, budgets and progress
#define WRITE_SHARE 10.0     // the table is written when this many times the last cost has passed
#define PROGRESS_INTERVAL 10 // s between two lines of a log

typedef struct Sweep {
    rbSweepPlan plan;
    rbSweepGrid grid;
    rbSweepTable table;
    const char* path; // of the table
    rbSweepChild children[PROCESSES_MAX];
    int processes;
    int running;
    int next;     // point to look at next
    int ready;    // rows that the table has
    int reused;   // of these, read from the file
    double wrote; // s, of the clock: when the table was written, and how long it took
    double cost;
    double showed; // s, of the clock: the last progress
    bool isShown;  // progress is wanted
    bool isTerminal;
} Sweep;

// ------------------------------------------------------------------------------------- preparing

// What every row of a table shares: scene, files, modules and settings.
static uint64_t hashStudy(const rbScene* scene)
{
    size_t size = 0;
    const char* text = rbScene_GetText(scene, &size);
    uint64_t hash = rbHashBytes(RB_HASH_SEED, text, size);
    for (int i = 0; i < rbScene_GetInfo(scene)->attachmentCount; ++i) {
        const char* name = NULL;
        const void* bytes = NULL;
        rbScene_GetAttachment(scene, i, &name, &bytes, &size);
        hash = rbHashBytes(hash, bytes, size);
    }
    uint64_t modules = rbHashModules();
    return rbHashBytes(hash, &modules, sizeof modules);
}

// A key none of whose values is accepted is a mistake, found before anything runs.
static rbStatus checkKeys(const rbSweepGrid* grid, rbScene* scene, rbError* error)
{
    for (int k = 0; k < grid->axisCount; ++k) {
        rbStatus status = RB_STATUS_INVALID;
        for (int i = 0; i < grid->axes[k].count && status != RB_STATUS_OK; ++i) {
            char text[1024];
            rbError refusal = {0};
            (void)snprintf(text, sizeof text, "%.500s=%.500s", grid->axes[k].key,
                           grid->axes[k].values[i]);
            status = rbScene_Override(scene, text, &refusal);
            *error = i == 0 ? refusal : *error;
        }
        if (status != RB_STATUS_OK) {
            char place[sizeof error->file];
            (void)snprintf(place, sizeof place, "--vary %.200s", grid->axes[k].key);
            rbError_SetPlace(error, place, NULL);
            return error->status;
        }
    }
    *error = (rbError){0};
    return RB_STATUS_OK;
}

static bool readOptions(Sweep* sweep, const rbArguments* arguments)
{
    double processes = (double)sysconf(_SC_NPROCESSORS_ONLN);
    processes = fmin(fmax(processes, 1.0), PROCESSES_MAX);
    sweep->plan.budget = INFINITY;
    double duration = 0.0;
    if (!rbArguments_GetNumber(arguments, "--processes", 1.0, PROCESSES_MAX, &processes) ||
        !rbArguments_GetNumber(arguments, "--budget", 1e-3, 1e9, &sweep->plan.budget) ||
        !rbArguments_GetNumber(arguments, "--duration", 1e-12, 1e12, &duration)) {
        return false;
    }
    if (processes != floor(processes)) {
        (void)rbFail("--processes is %g; it must be an integer", processes);
        return false;
    }
    sweep->processes = (int)processes;
    sweep->path = rbArguments_Get(arguments, "--out");
    sweep->path = sweep->path != NULL ? sweep->path : "-";
    if (strcmp(sweep->path, "-") == 0 && rbArguments_Has(arguments, "--json")) {
        (void)rbFail("the table and --json cannot share standard output; give --out FILE");
        return false;
    }
    sweep->isShown = !rbArguments_Has(arguments, "--quiet");
    sweep->isTerminal = isatty(STDERR_FILENO) == 1;
    return true;
}

static rbExit prepare(Sweep* sweep, const rbArguments* arguments)
{
    rbError error = {0};
    rbStatus status = rbSweepGrid_Read(&sweep->grid, arguments, &error);
    if (status != RB_STATUS_OK || !readOptions(sweep, arguments)) {
        return status != RB_STATUS_OK ? rbFail("%s", error.message) : RB_EXIT_USAGE;
    }
    sweep->plan.arguments = arguments;
    sweep->plan.grid = &sweep->grid;
    rbSweepGrid none = {.pointCount = 1};
    rbSweepPlan plain = {arguments, &none, 0, INFINITY};
    rbScene* scene = rbOpenSweepScene(&plain, 0, &error);
    if (scene == NULL) {
        return rbFailWith(&error);
    }
    const rbOutputName output = {"--out", sweep->path};
    bool isGood = rbCheckOutputNames(arguments, scene, &output, 1);
    sweep->plan.columnCount = rbScene_GetInfo(scene)->columnCount;
    rbSweepTable_Init(&sweep->table, &sweep->grid, scene, hashStudy(scene));
    status = isGood ? checkKeys(&sweep->grid, scene, &error) : RB_STATUS_OK;
    if (isGood && status == RB_STATUS_OK && strcmp(sweep->path, "-") != 0) {
        status = rbSweepTable_Read(&sweep->table, sweep->path, &sweep->reused, &error);
        sweep->ready = sweep->reused;
    }
    rbDestroyScene(scene);
    return !isGood ? RB_EXIT_USAGE : status == RB_STATUS_OK ? RB_EXIT_DONE : rbFailWith(&error);
}

// --------------------------------------------------------------------------------------- running

static void showProgress(Sweep* sweep)
{
    double now = rbGetWallTime();
    double interval = sweep->isTerminal ? 0.1 : PROGRESS_INTERVAL;
    if (!sweep->isShown || now - sweep->showed < interval) {
        return;
    }
    sweep->showed = now;
    (void)fprintf(stderr, "%ssweep  %d of %d rows  %d running%s",
                  sweep->isTerminal ? "\r\033[K" : "rattleback: progress: ", sweep->ready,
                  sweep->grid.pointCount, sweep->running, sweep->isTerminal ? "" : "\n");
    (void)fflush(stderr);
}

// Writes the table unless the last time is so recent that writing would cost more than running.
static rbStatus keepTable(Sweep* sweep, bool isForced, rbError* error)
{
    double now = rbGetWallTime();
    bool isDue = now - sweep->wrote >= WRITE_SHARE * sweep->cost;
    if (strcmp(sweep->path, "-") == 0 || (!isForced && !isDue)) {
        return RB_STATUS_OK;
    }
    rbStatus status = rbSweepTable_Write(&sweep->table, sweep->path, error);
    sweep->wrote = rbGetWallTime();
    sweep->cost = sweep->wrote - now;
    return status;
}

static rbStatus startMore(Sweep* sweep, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < sweep->processes && status == RB_STATUS_OK; ++i) {
        while (sweep->next < sweep->grid.pointCount && sweep->table.rows[sweep->next] != NULL) {
            ++sweep->next;
        }
        if (sweep->children[i].pid == 0 && sweep->next < sweep->grid.pointCount &&
            !rbSignals_IsStopAsked()) {
            status = rbSweepChild_Start(&sweep->children[i], &sweep->plan, sweep->next, error);
            sweep->next += 1;
            sweep->running += status == RB_STATUS_OK ? 1 : 0;
        }
    }
    return status;
}

// Takes the row of a run that has ended.
static rbStatus take(Sweep* sweep, rbSweepChild* child, rbError* error)
{
    int point = child->point;
    rbSweepStatus status = rbSweepChild_Finish(child, &sweep->plan);
    sweep->running -= 1;
    if (status == RB_SWEEP_STOPPED) {
        rbFree(child->text, child->capacity);
        return RB_STATUS_OK;
    }
    rbSweepTable_Put(&sweep->table, point, child->text, child->capacity);
    sweep->ready += 1;
    return keepTable(sweep, false, error);
}

static void askToStop(const Sweep* sweep, int number)
{
    for (int i = 0; i < sweep->processes; ++i) {
        if (sweep->children[i].pid > 0) {
            (void)kill(sweep->children[i].pid, number);
        }
    }
}

// Waits for output of the runs, a signal or the clock.
static rbStatus attend(Sweep* sweep, rbError* error)
{
    struct pollfd ends[PROCESSES_MAX];
    rbSweepChild* owners[PROCESSES_MAX];
    int count = 0;
    for (int i = 0; i < sweep->processes; ++i) {
        rbSweepChild* child = &sweep->children[i];
        if (child->pid > 0) {
            if (rbSweepChild_IsLate(child, &sweep->plan)) {
                (void)kill(child->pid, SIGKILL);
            }
            owners[count] = child;
            ends[count++] = (struct pollfd){.fd = child->pipe, .events = POLLIN};
        }
    }
    rbStatus status = RB_STATUS_OK;
    if (poll(ends, (nfds_t)count, WAIT_MS) <= 0) {
        return status;
    }
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        if (ends[i].revents != 0 && !rbSweepChild_Read(owners[i])) {
            status = take(sweep, owners[i], error);
        }
    }
    return status;
}

static rbStatus runAll(Sweep* sweep, rbError* error)
{
    bool isAsked = false;
    sweep->showed = sweep->isTerminal ? 0.0 : rbGetWallTime();
    rbSignals_Catch();
    rbStatus status = startMore(sweep, error);
    while (status == RB_STATUS_OK && sweep->running > 0) {
        status = attend(sweep, error);
        if (status == RB_STATUS_OK) {
            status = startMore(sweep, error);
        }
        if (rbSignals_IsStopAsked() && !isAsked) {
            isAsked = true; // Ctrl-C reaches them by itself, a signal to this process does not
            askToStop(sweep, SIGTERM);
        }
        showProgress(sweep);
    }
    if (status != RB_STATUS_OK) { // the table cannot be written, or no process started
        askToStop(sweep, SIGKILL);
        for (int i = 0; i < sweep->processes; ++i) {
            if (sweep->children[i].pid > 0) {
                (void)rbSweepChild_Finish(&sweep->children[i], &sweep->plan);
                rbFree(sweep->children[i].text, sweep->children[i].capacity);
            }
        }
    }
    if (sweep->isShown && sweep->isTerminal) {
        (void)fputs("\r\033[K", stderr);
    }
    return status == RB_STATUS_OK ? keepTable(sweep, true, error) : status;
}

// ---------------------------------------------------------------------------------------- report

static void printJson(const Sweep* sweep, const int* counts, const char* scene)
{
    rbJson json = {.file = stdout};
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "scene", scene);
    rbJson_Text(&json, "table", sweep->path);
    rbJson_BeginArray(&json, "keys");
    for (int i = 0; i < sweep->grid.axisCount; ++i) {
        rbJson_Text(&json, NULL, sweep->grid.axes[i].key);
    }
    rbJson_End(&json);
    rbJson_Integer(&json, "points", sweep->grid.pointCount);
    rbJson_Integer(&json, "rows", sweep->ready);
    rbJson_Integer(&json, "reused", sweep->reused);
    for (int i = 0; i < RB_SWEEP_STOPPED; ++i) {
        rbJson_Integer(&json, rbSweepStatus_Name((rbSweepStatus)i), counts[i]);
    }
    rbJson_Bool(&json, "complete", sweep->ready == sweep->grid.pointCount);
    rbJson_End(&json);
}

static void print(const Sweep* sweep, const int* counts, const char* scene, FILE* file)
{
    (void)fprintf(file, "%s: %d of %d rows", rbShow(scene), sweep->ready, sweep->grid.pointCount);
    const char* separator = ": ";
    for (int i = 0; i < RB_SWEEP_STOPPED; ++i) {
        if (counts[i] > 0) {
            (void)fprintf(file, "%s%d %s", separator, counts[i],
                          rbSweepStatus_Name((rbSweepStatus)i));
            separator = ", ";
        }
    }
    if (sweep->reused > 0) {
        (void)fprintf(file, "; %d of them were in the table before", sweep->reused);
    }
    (void)fputc('\n', file);
    if (strcmp(sweep->path, "-") != 0) {
        (void)fprintf(file, "  %-18s%s\n", "table", rbShow(sweep->path));
    }
    if (sweep->ready < sweep->grid.pointCount) {
        (void)fprintf(file, "  %-18s%s\n", "stopped",
                      strcmp(sweep->path, "-") != 0 ? "the same command goes on with the rest"
                                                    : "with --out the rest could be run later");
    }
}

static rbExit report(const Sweep* sweep, const rbArguments* arguments)
{
    int counts[RB_SWEEP_STATUS_COUNT] = {0};
    for (int i = 0; i < sweep->grid.pointCount; ++i) {
        if (sweep->table.rows[i] != NULL) {
            counts[rbSweepTable_GetStatus(&sweep->table, i)] += 1;
        }
    }
    rbError error = {0};
    bool isDirect = strcmp(sweep->path, "-") == 0;
    if (isDirect && rbSweepTable_Write(&sweep->table, "-", &error) != RB_STATUS_OK) {
        return rbFailWith(&error);
    }
    if (rbArguments_Has(arguments, "--json")) {
        printJson(sweep, counts, arguments->words[0]);
    } else if (sweep->isShown) {
        print(sweep, counts, arguments->words[0], isDirect ? stderr : stdout);
    }
    bool isNumerical = counts[RB_SWEEP_MISSED] + counts[RB_SWEEP_FAILED] + counts[RB_SWEEP_BUDGET] +
                           counts[RB_SWEEP_CRASHED] >
                       0;
    return isNumerical                    ? RB_EXIT_NUMERICAL
           : counts[RB_SWEEP_REFUSED] > 0 ? RB_EXIT_USAGE
                                          : RB_EXIT_DONE;
}

static rbExit runSweep(const rbArguments* arguments)
{
    rbError error = {0};
    Sweep* sweep = rbAllocZero(1, sizeof *sweep);
    rbExit exit = prepare(sweep, arguments);
    if (exit == RB_EXIT_DONE) {
        exit =
            runAll(sweep, &error) == RB_STATUS_OK ? report(sweep, arguments) : rbFailWith(&error);
    }
    if (sweep->table.rows != NULL) {
        rbSweepTable_Free(&sweep->table);
    }
    rbSweepGrid_Free(&sweep->grid);
    rbFree(sweep, sizeof *sweep);
    return exit;
}

static const rbOption options[] = {
    {"--vary", "KEY=VALUES",
     "a value of the scene and what it takes: A:B:N, A:B:N:log or V1,V2,...; can be repeated"},
    {"--out", "FILE", "the table, CSV; one that exists is continued; default standard output"},
    {"--processes", "N", "runs at a time; default: the processors of the machine"},
    {"--budget", "SECONDS", "time by the clock that a run may take; default: any"},
    {"--duration", "SECONDS", "overrides the simulated time of the scene"},
    {"--set", "KEY=VALUE", "changes a value of the scene for all runs; can be repeated"},
    RB_MODULE_OPTION,
    {"--json", NULL, "prints the summary as JSON"},
    {"--quiet", NULL, "prints no summary and no progress"},
};

static const char* const examples[] = {
    "rattleback sweep tippe-top --vary materials.wood.friction=0.1:0.5:5 --out top.csv",
    "rattleback sweep pendulum --vary world.gravity.2=-20:-1:20 --out pendulum.csv --processes 4",
    "rattleback sweep pyramid --vary step.step=1e-4:1e-2:5:log --budget 60 --out steps.csv",
    "rattleback sweep dice --vary event.law=newton,poisson,stronge --out laws.csv",
    NULL,
};

const rbVerb rbVerbSweep = {
    .name = "sweep",
    .words = "SCENE",
    .help = "runs a scene over a grid of values and makes a table of the results",
    .more =
        "Every combination of the values is a run of its own process and a row of the table, in\n"
        "the order of the grid: values, status, message, end time, hash, energy, numerical "
        "energy,\n"
        "whether all tolerances were met, and the last, least and greatest value of every probe "
        "at\n"
        "the output times. The table does not depend on the number of processes.\n"
        "\n"
        "Status: done; missed: a tolerance; failed: the engine ended early; refused: bad values;\n"
        "budget: it took too long; crashed. A row that is in the table is not run again: after\n"
        "Ctrl-C the same command goes on. A table of another scene or other keys is refused.\n"
        "\n"
        "Exit code 0: all rows are done; 2: bad usage, or a row was refused; 3: a row missed,\n"
        "failed, crashed or exceeded its budget.",
    .run = runSweep,
    .wordMin = 1,
    .wordMax = 1,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
