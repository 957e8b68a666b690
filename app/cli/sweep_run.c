#define _XOPEN_SOURCE 700

#include "cli/sweep_run.h"

#include "base/core/memory.h"
#include "base/core/timer.h"
#include "cli/frames.h"
#include "cli/scenes.h"
#include "cli/signals.h"
#include "cli/sweep_table.h"
#include "cli/verdict.h"

#include <rattleback/scene.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE 10.0 // s after its budget before a run that does not listen is killed

static const char* const words[RB_SWEEP_STATUS_COUNT] = {
    [RB_SWEEP_DONE] = "done",       [RB_SWEEP_MISSED] = "missed", [RB_SWEEP_FAILED] = "failed",
    [RB_SWEEP_REFUSED] = "refused", [RB_SWEEP_BUDGET] = "budget", [RB_SWEEP_CRASHED] = "crashed",
    [RB_SWEEP_STOPPED] = "stopped",
};

const char* rbSweepStatus_Name(rbSweepStatus status)
{
    RB_ASSERT(status < RB_SWEEP_STATUS_COUNT);
    return words[status];
}

rbSweepStatus rbSweepStatus_Find(const char* word, size_t length)
{
    int status = 0;
    while (status < RB_SWEEP_STATUS_COUNT &&
           (strlen(words[status]) != length || strncmp(words[status], word, length) != 0)) {
        ++status;
    }
    return (rbSweepStatus)status;
}

rbScene* rbOpenSweepScene(const rbSweepPlan* plan, int point, rbError* error)
{
    static const rbOption set = {"--set", "KEY=VALUE", ""};
    rbArguments* arguments = rbAllocZero(1, sizeof *arguments);
    char(*texts)[1024] = rbAllocZero(RB_SWEEP_KEYS_MAX + 1, sizeof *texts);
    *arguments = *plan->arguments;
    int count = plan->grid->axisCount;
    const char* duration = rbArguments_Get(plan->arguments, "--duration");
    rbScene* scene = NULL;
    for (int i = 0; i < count; ++i) {
        (void)snprintf(texts[i], sizeof texts[i], "%.500s=%.500s", plan->grid->axes[i].key,
                       rbSweepGrid_GetValue(plan->grid, point, i));
    }
    if (duration != NULL) {
        (void)snprintf(texts[count++], sizeof texts[0], "duration=%.100s", duration);
    }
    if (arguments->valueCount + count > RB_CLI_VALUES_MAX) {
        (void)rbError_Set(error, RB_STATUS_LIMIT, "too many options; the limit is %d",
                          RB_CLI_VALUES_MAX);
    } else {
        for (int i = 0; i < count; ++i) {
            arguments->values[arguments->valueCount].option = &set;
            arguments->values[arguments->valueCount++].value = texts[i];
        }
        scene = rbOpenSceneWithSettings(arguments, error);
    }
    rbFree(texts, (RB_SWEEP_KEYS_MAX + 1) * sizeof *texts);
    rbFree(arguments, sizeof *arguments);
    return scene;
}

// ----------------------------------------------------------------------------------- in the child

// The clock of the child; a stop function has no other way to know it.
typedef struct Watch {
    double end; // s
} Watch;

static bool isTimeOver(const Watch* watch)
{
    return isfinite(watch->end) && rbGetWallTime() > watch->end;
}

static bool mustStop(void* context)
{
    return rbSignals_IsStopAsked() || isTimeOver(context);
}

// A run in progress, with the values of the probes.
typedef struct Run {
    const rbSweepPlan* plan;
    rbScene* scene;
    rbWorld* world;
    rbTally tally;
    double* values; // last, least and greatest: columnCount each
    Watch watch;
} Run;

static void takeProbes(Run* run, bool isFirst)
{
    int count = run->plan->columnCount;
    double* last = run->values;
    double* least = last + count;
    double* most = least + count;
    (void)rbScene_EvaluateProbes(run->scene, run->world, last, count);
    for (int i = 0; i < count; ++i) {
        least[i] = isFirst || last[i] < least[i] ? last[i] : least[i];
        most[i] = isFirst || last[i] > most[i] ? last[i] : most[i];
    }
}

// The output times of 'rattleback run', so that its hash and its probes are the same.
static rbSweepStatus simulate(Run* run)
{
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    int64_t last = (int64_t)ceil(info->duration / info->outputStep * (1.0 - 1e-12));
    for (int64_t k = 0; k <= last; ++k) {
        double time = k < last ? rbGetStepTime(k, info->outputStep) : info->duration;
        rbStepReport report = rbWorld_AdvanceTo(run->world, time);
        rbWorld_ClearEvents(run->world);
        if (report.status == RB_STATUS_STOPPED) {
            return rbSignals_IsStopAsked() ? RB_SWEEP_STOPPED : RB_SWEEP_BUDGET;
        }
        rbTally_Add(&run->tally, &report, run->world);
        takeProbes(run, k == 0);
        if (run->tally.isBroken || run->tally.ending.status != RB_STATUS_OK) {
            return RB_SWEEP_FAILED;
        }
    }
    return RB_SWEEP_DONE;
}

static rbSweepStatus judge(Run* run, rbSweepStatus status, char* text, size_t capacity)
{
    if (status == RB_SWEEP_BUDGET) {
        (void)snprintf(text, capacity, "took more than %g s and reached t = %g s",
                       run->plan->budget, rbWorld_GetTime(run->world));
        return status;
    }
    rbVerdict verdict = rbTally_Judge(&run->tally, run->world);
    (void)snprintf(text, capacity, "%s", verdict.text);
    return status == RB_SWEEP_DONE && verdict.exit != RB_EXIT_DONE ? RB_SWEEP_MISSED : status;
}

static void writeRow(const Run* run, rbSweepStatus status, const char* message, FILE* file)
{
    const rbLedger* end = &run->tally.end;
    double there = run->tally.energyThere;
    rbSweepRow_Text(file, words[status]);
    rbSweepRow_Text(file, message);
    rbSweepRow_Number(file, rbWorld_GetTime(run->world));
    (void)fprintf(file, ",%016" PRIx64, rbWorld_GetHash(run->world));
    rbSweepRow_Number(file, end->energy);
    rbSweepRow_Number(file, end->numericalEnergy);
    rbSweepRow_Number(file, there > 0.0 ? end->numericalEnergy / there : 0.0);
    (void)fprintf(file, ",%d", status == RB_SWEEP_DONE ? 1 : 0);
    int count = run->plan->columnCount;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            rbSweepRow_Number(file, run->values[k * count + i]);
        }
    }
}

// The row of a run that has no world, or whose process died.
static void writeEmptyRow(rbSweepStatus status, const char* message, int columnCount, FILE* file)
{
    rbSweepRow_Text(file, words[status]);
    rbSweepRow_Text(file, message);
    (void)fputs(",,,,,,0", file);
    for (int i = 0; i < 3 * columnCount; ++i) {
        (void)fputc(',', file);
    }
}

static rbStatus prepare(Run* run, int point, rbError* error)
{
    run->scene = rbOpenSweepScene(run->plan, point, error);
    run->world = run->scene != NULL ? rbScene_CreateWorld(run->scene, error) : NULL;
    if (run->world == NULL) {
        return error->status;
    }
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    if (info->columnCount != run->plan->columnCount) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "its probes have %d columns, those of the scene %d; give the scene "
                           "probes that all runs have",
                           info->columnCount, run->plan->columnCount);
    }
    rbWorld_EnableJournal(run->world, false);
    rbStatus status = rbScene_PrepareWorld(run->scene, run->world, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbFrameBuffer buffer = {0};
    rbFrameBuffer_Init(&buffer, run->world, rbWorld_GetBodyCount(run->world));
    rbTally_Init(&run->tally, info, run->world, buffer.bodyIds, buffer.bodyCount);
    rbFrameBuffer_Free(&buffer);
    return RB_STATUS_OK;
}

// The child computes its row, writes it and ends; memory ends with the process.
static void runChild(const rbSweepPlan* plan, int point, FILE* file)
{
    Run* run = rbAllocZero(1, sizeof *run);
    rbError error = {0};
    char message[900] = "";
    *run = (Run){.plan = plan,
                 .values = rbAllocZero((size_t)plan->columnCount * 3 + 1, sizeof(double)),
                 .watch = {rbGetWallTime() + plan->budget}};
    (void)rbUseStop((rbStop){mustStop, &run->watch});
    if (prepare(run, point, &error) != RB_STATUS_OK) {
        rbSweepStatus status = rbSignals_IsStopAsked()   ? RB_SWEEP_STOPPED
                               : isTimeOver(&run->watch) ? RB_SWEEP_BUDGET
                                                         : RB_SWEEP_REFUSED;
        (void)snprintf(message, sizeof message, "%s%s%s", error.place,
                       error.place[0] != '\0' ? ": " : "", error.message);
        writeEmptyRow(status, message, plan->columnCount, file);
    } else {
        rbSweepStatus status = judge(run, simulate(run), message, sizeof message);
        writeRow(run, status, message, file);
    }
}

// ---------------------------------------------------------------------------------- in the parent

rbStatus rbSweepChild_Start(rbSweepChild* child, const rbSweepPlan* plan, int point, rbError* error)
{
    int ends[2] = {-1, -1};
    (void)fflush(NULL); // or the child would write it again
    pid_t pid = pipe(ends) == 0 ? fork() : -1;
    if (pid < 0) {
        int reason = errno;
        (void)close(ends[0]);
        (void)close(ends[1]);
        return rbError_Set(error, RB_STATUS_IO,
                           "no process can be started for a run: %s; take fewer --processes",
                           strerror(reason));
    }
    if (pid == 0) {
        (void)close(ends[0]);
        FILE* file = fdopen(ends[1], "w");
        if (file != NULL) {
            runChild(plan, point, file);
        }
        bool isWritten = file != NULL && fflush(file) == 0;
        _exit(isWritten ? 0 : 1);
    }
    (void)close(ends[1]);
    *child =
        (rbSweepChild){.pid = pid, .point = point, .pipe = ends[0], .started = rbGetWallTime()};
    return RB_STATUS_OK;
}

bool rbSweepChild_Read(rbSweepChild* child)
{
    if (child->size + 1024 > child->capacity) {
        size_t capacity = 2 * child->capacity + 4096;
        char* text = rbAlloc(capacity);
        memcpy(text, child->text != NULL ? child->text : "", child->size);
        rbFree(child->text, child->capacity);
        child->text = text;
        child->capacity = capacity;
    }
    ssize_t got = read(child->pipe, child->text + child->size, child->capacity - child->size - 1);
    child->size += got > 0 ? (size_t)got : 0;
    return got > 0 || (got < 0 && errno == EINTR);
}

bool rbSweepChild_IsLate(const rbSweepChild* child, const rbSweepPlan* plan)
{
    return rbGetWallTime() > child->started + plan->budget + GRACE;
}

rbSweepStatus rbSweepChild_Finish(rbSweepChild* child, const rbSweepPlan* plan)
{
    int ended = 0;
    (void)close(child->pipe);
    while (waitpid(child->pid, &ended, 0) < 0 && errno == EINTR) {
    }
    bool isWhole = WIFEXITED(ended) && WEXITSTATUS(ended) == 0 && child->size > 0;
    child->pid = 0;
    if (!isWhole) {
        rbFree(child->text, child->capacity);
        char message[160];
        int number = WIFSIGNALED(ended) ? WTERMSIG(ended) : 0;
        bool isLate = number == SIGKILL && rbSweepChild_IsLate(child, plan);
        (void)snprintf(message, sizeof message,
                       isLate ? "did not end within its budget and was killed"
                              : "the process died (signal %d); run it alone to see why",
                       number);
        child->capacity = 512 + 3 * (size_t)plan->columnCount;
        child->text = rbAllocZero(1, child->capacity);
        FILE* file = fmemopen(child->text, child->capacity, "w");
        rbSweepStatus status = isLate ? RB_SWEEP_BUDGET : RB_SWEEP_CRASHED;
        if (file != NULL) {
            writeEmptyRow(status, message, plan->columnCount, file);
            (void)fclose(file);
        }
        return rbSignals_IsStopAsked() ? RB_SWEEP_STOPPED : status;
    }
    child->text[child->size] = '\0';
    const char* word = child->text + 1;
    return rbSweepStatus_Find(word, strcspn(word, ","));
}
