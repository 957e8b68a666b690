#define _XOPEN_SOURCE 700

// rattleback run: simulates a scene, feeds the writers, ends with a summary.
#include "base/core/memory.h"
#include "base/core/timer.h"
#include "cli/action_player.h"
#include "cli/certificate_check.h"
#include "cli/checkpoint.h"
#include "cli/cli.h"
#include "cli/findings.h"
#include "cli/launcher.h"
#include "cli/modules.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/scenes.h"
#include "cli/scripts.h"
#include "cli/signals.h"
#include "cli/tally.h"
#include "cli/verdict.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define FIRST_PIECE 1e-6 // of an output step: length of the first advance
#define SETTINGS_SIZE 2048

typedef struct rbRun {
    rbScene* scene;
    rbSceneInfo info; // of the scene, after the options of the command line
    rbWorld* world;
    rbActionPlayer player; // user actions
    rbFrameBuffer buffer;
    rbOutputs outputs;
    rbTally tally;
    rbFindings* findings; // about the scene
    double startTime;     // wall clock
    rbStatus writeStatus; // of the events written between frames
    rbProgress progress;
    rbCheckpoint checkpoint;
    rbResume* resume; // the checkpoint that the run continues; NULL: none
    rbRunPlace place; // piece: s of simulated time per advance, see advanceListening
    bool isCertified; // every step is written down
    double stepEnd;   // s, of the step whose hooks were called before it; 0: between two steps
    bool isChecked;   // its certificate was
    bool isRefuted;   // and a claim failed
    char checked[512];
} rbRun;

static rbRunParts partsOf(rbRun* run)
{
    return (rbRunParts){run->scene, run->world, &run->tally, &run->outputs, &run->player};
}

// Writes a checkpoint. partial: what was done toward the next output.
static rbStatus keep(rbRun* run, const rbStepReport* partial, rbError* error)
{
    rbRunParts parts = partsOf(run);
    rbRunPlace place = run->place;
    place.partial = *partial;
    place.wallTime += rbGetWallTime() - run->startTime;
    return rbCheckpoint_Write(&run->checkpoint, &parts, &place, error);
}

// The same if one is due, or in any case. A run does not end because it cannot be continued.
static void keepOn(rbRun* run, const rbStepReport* partial, bool isForced)
{
    rbError error = {0};
    double time = rbWorld_GetTime(run->world);
    if ((isForced || rbCheckpoint_IsDue(&run->checkpoint, rbGetWallTime(), time)) &&
        keep(run, partial, &error) != RB_STATUS_OK) {
        (void)fprintf(
            stderr, "rattleback: warning: no checkpoint at t = %.9g s, the one before stays: %s\n",
            time, error.message);
    }
}

// Collects the events since the last call: an output step may produce more than fit into memory.
static rbStatus takeEvents(rbRun* run, rbError* error)
{
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(run->world, &count);
    rbActionPlayer_Follow(&run->player, &run->buffer);
    rbStatus status = rbOutputs_WriteEvents(&run->outputs, error);
    rbTally_AddEvents(&run->tally, events, count);
    rbWorld_ClearEvents(run->world);
    return status;
}

// Passes the current state of the world to the tally and the writers.
static rbStatus takeFrame(rbRun* run, const rbStepReport* report, rbError* error)
{
    run->tally.actionCount = run->player.next;
    rbTally_Add(&run->tally, report, run->world);
    return rbOutputs_WriteFrame(&run->outputs, error);
}

// The engine refused to continue, or cannot.
static bool isEnd(rbStatus status)
{
    return status == RB_STATUS_LIMIT || status == RB_STATUS_INVALID || status == RB_STATUS_MEMORY;
}

// Advances to a time in pieces that take a fraction of a second, so that a signal is noticed even
// when an output step holds millions of integrator steps. The bits are the same with or without
// pieces, because sampling a flight does not change it. The piece starts small and doubles.
// Interpolating a step with contacts costs as much as the step: such steps are taken whole.
static double endOfPiece(const rbRun* run, double now)
{
    double end = fmin(now + run->place.piece, run->checkpoint.nextTime);
    double step = run->info.step.step;
    bool isEveryStep = run->isCertified && run->info.engineTraits.isStepped;
    if (isEveryStep || rbGetScriptCount() > 0) {
        int64_t next = (int64_t)floor(now / step + 1e-6) + 1;
        return rbGetStepTime(next, step);
    }
    return !rbWorld_HasContacts(run->world) || !(step > 0.0) ? end : step * ceil(end / step - 1e-9);
}

// The hooks of scripts, at times of the grid of steps: an output in the midst of a step calls none.
static rbStatus callBefore(rbRun* run, double time, double stepEnd, rbError* error)
{
    bool isMoving = time > rbWorld_GetTime(run->world); // not for the output at the start
    if (rbGetScriptCount() == 0 || run->stepEnd > 0.0 || !isMoving) {
        return RB_STATUS_OK;
    }
    run->stepEnd = stepEnd;
    return rbCallScripts(RB_SCRIPT_BEFORE_STEP, run->scene, run->world, error);
}

static rbStatus callAfter(rbRun* run, rbError* error)
{
    if (run->stepEnd == 0.0 || rbWorld_GetTime(run->world) < run->stepEnd) {
        return RB_STATUS_OK;
    }
    run->stepEnd = 0.0;
    return rbCallScripts(RB_SCRIPT_AFTER_STEP, run->scene, run->world, error);
}

// Advances by a piece, with its hooks, and collects its events.
static rbStepReport advancePiece(rbRun* run, double time, double stepEnd, rbError* error)
{
    rbStepReport report = {.status = RB_STATUS_STOPPED};
    run->writeStatus = callBefore(run, time, stepEnd, error);
    if (run->writeStatus == RB_STATUS_OK) {
        bool isDone = rbActionPlayer_Advance(&run->player, run->world, time, &report, error);
        run->writeStatus = isDone ? takeEvents(run, error) : error->status;
    }
    if (run->writeStatus == RB_STATUS_OK) {
        run->writeStatus = callAfter(run, error);
    }
    return report;
}

static rbStepReport advanceListening(rbRun* run, double time, rbError* error)
{
    rbStepReport total = run->place.partial;
    run->place.partial = (rbStepReport){0};
    bool isOver = false;
    do {
        double now = rbWorld_GetTime(run->world);
        double end = endOfPiece(run, now);
        bool isLast = !(time > end);
        double start = rbGetWallTime();
        rbStepReport report = advancePiece(run, isLast ? time : end, end, error);
        double spent = rbGetWallTime() - start;
        run->place.piece *= spent < 0.05 ? 2.0 : (spent > 0.2 ? 0.5 : 1.0);
        run->place.piece = fmin(run->place.piece, run->info.outputStep);
        report.integratorSteps += total.integratorSteps;
        report.rejectedSteps += total.rejectedSteps;
        if (total.status != RB_STATUS_OK) {
            report.status = total.status;
            report.failedBody = total.failedBody;
        }
        total = report;
        isOver = isEnd(report.status) || run->writeStatus != RB_STATUS_OK;
        // A piece too small to advance the time also ends the loop.
        if (!isLast && rbWorld_GetTime(run->world) == now) {
            run->place.piece = time - now;
        }
        rbProgress_Show(&run->progress, rbGetWallTime(), rbWorld_GetTime(run->world));
        // An advance that did not come to its end may have left another state.
        if (!isLast && rbWorld_GetTime(run->world) >= end && !isOver) {
            keepOn(run, &total, rbSignals_IsStopAsked());
        }
    } while (rbWorld_GetTime(run->world) < time && !rbSignals_IsStopAsked() && !isOver);
    return total;
}

// All output times 0, dt, 2 dt, ... and the duration, unless a signal ends it earlier.
static rbStatus simulate(rbRun* run, rbError* error)
{
    double step = run->info.outputStep;
    double duration = run->info.duration;
    int64_t last = (int64_t)ceil(duration / step * (1.0 - 1e-12));
    rbStatus status = RB_STATUS_OK;
    for (int64_t k = run->place.frame; k <= last && status == RB_STATUS_OK; ++k) {
        run->place.frame = k;
        double time = k < last ? rbGetStepTime(k, step) : duration;
        rbStepReport report = advanceListening(run, time, error);
        status = run->writeStatus;
        // an advance that was given up leaves the state of the last frame
        bool isNew = k == 0 || rbWorld_GetTime(run->world) > rbGetStepTime(k - 1, step);
        if (status == RB_STATUS_OK && (isNew || report.status != RB_STATUS_STOPPED)) {
            status = takeFrame(run, &report, error);
        }
        if (run->tally.isBroken || isEnd(report.status)) {
            break; // no later state is meaningful
        }
        if (rbSignals_IsStopAsked() && (k < last || rbWorld_GetTime(run->world) < time)) {
            run->tally.isStopped = true;
        }
        bool isReached = rbWorld_GetTime(run->world) >= time;
        run->place.frame = k + 1;
        if (status == RB_STATUS_OK && isReached && k < last) {
            keepOn(run, &(rbStepReport){0}, run->tally.isStopped);
        }
        if (run->tally.isStopped) {
            break;
        }
    }
    rbProgress_End(&run->progress);
    return status;
}

static void writeSettings(const rbRun* run, char* text)
{
    char duration[RB_NUMBER_TEXT_SIZE];
    char step[RB_NUMBER_TEXT_SIZE];
    (void)rbFormatNumber(run->info.duration, duration);
    (void)rbFormatNumber(run->info.outputStep, step);
    size_t used = (size_t)snprintf(text, SETTINGS_SIZE, "{\"duration\": %s, \"outputStep\": %s",
                                   duration, step);
    char rows[RB_MODULE_ROWS_SIZE]; // what a replay needs besides the scene
    rbNameModuleRows(rows, sizeof rows);
    bool hasRows = rows[0] != '\0';
    (void)snprintf(text + used, SETTINGS_SIZE - used, "%s%s%s}", hasRows ? ", \"modules\": \"" : "",
                   rows, hasRows ? "\"" : "");
}

// Possible causes of a run that ended badly.
static void explain(const rbRun* run)
{
    for (int i = 0; i < run->tally.motors.count; ++i) {
        (void)rbFail("%s", run->tally.motors.texts[i]);
    }
}

static rbExit report(const rbRun* run, const rbArguments* arguments)
{
    rbOutputList list;
    rbOutputs_List(arguments, &run->info, &list);
    const char* taker = NULL;
    (void)rbOutputs_FindStandardOutput(arguments, &taker);
    FILE* file = taker != NULL ? stderr : stdout;
    if (rbArguments_Has(arguments, "--json")) {
        rbTally_WriteJson(&run->tally, run->world, list.files, list.count, file);
    } else if (!rbArguments_Has(arguments, "--quiet")) {
        rbTally_Print(&run->tally, run->world, file);
        rbTally_PrintFiles(list.files, list.count, file);
        if (run->isCertified && !run->isChecked) {
            (void)fprintf(file, "  %-18snot checked; %s %s\n", "certificate", "rattleback verify",
                          rbArguments_Get(arguments, "--certificate"));
        } else if (run->isChecked) {
            (void)fprintf(file, "  %-18s%s\n", "certificate", run->checked);
        }
    }
    if (run->isRefuted) {
        (void)rbFail("the certificate of the run is %s; see rattleback verify %s", run->checked,
                     rbArguments_Get(arguments, "--certificate"));
        return RB_EXIT_NO;
    }
    rbVerdict verdict = rbTally_Judge(&run->tally, run->world);
    if (verdict.text[0] != '\0') {
        (void)rbFail("%s", verdict.text);
        explain(run);
    }
    return verdict.exit;
}

// Prepares the user actions of the run and warns about odd times.
static rbStatus prepareActions(rbRun* run, const rbArguments* arguments, rbError* error)
{
    const char* path = rbArguments_Get(arguments, "--actions");
    rbStatus status = path != NULL ? rbActionPlayer_Read(&run->player, path, error) : RB_STATUS_OK;
    if (status == RB_STATUS_OK) {
        status =
            rbActionPlayer_Begin(&run->player, run->scene, run->world, run->info.duration, error);
    }
    char note[300];
    bool isStepped = run->info.engineTraits.isStepped;
    rbActionPlayer_Note(&run->player, isStepped ? run->info.step.step : 0.0, run->info.duration,
                        note, sizeof note);
    if (status == RB_STATUS_OK && note[0] != '\0' && !rbArguments_Has(arguments, "--quiet")) {
        (void)fprintf(stderr, "rattleback: %s\n", note);
    }
    return status;
}

#define WARNINGS_SHOWN 5

static void examine(rbRun* run)
{
    rbSceneFacts facts;
    run->findings = rbAllocZero(1, sizeof *run->findings);
    rbSceneFacts_Gather(&facts, run->world);
    rbFindings_ExamineMistakes(run->findings, &facts, &run->info, run->world);
    rbSceneFacts_Free(&facts);
}

// Prints likely mistakes to stderr before the run; the JSON summary lists all of them.
static void warn(const rbFindings* findings)
{
    for (int i = 0; i < findings->count && i < WARNINGS_SHOWN; ++i) {
        (void)fprintf(stderr, "rattleback: warning: %s\n", rbShow(findings->list[i].text));
    }
    int more = findings->errorCount + findings->warningCount - WARNINGS_SHOWN;
    if (more > 0) {
        (void)fprintf(stderr, "rattleback: %d more warning%s; 'rattleback check' lists them\n",
                      more, rbPlural(more));
    }
}

// Whether it came to its end: only then nothing is left to continue.
static bool isComplete(const rbRun* run)
{
    return !run->tally.isStopped && !run->tally.isBroken &&
           run->tally.ending.status == RB_STATUS_OK;
}

// Opens the outputs and puts the run at its start, or where its checkpoint was written.
static rbStatus startRun(rbRun* run, const rbOutputRun* view, rbError* error)
{
    rbRunParts parts = partsOf(run);
    rbStatus status = rbCheckpoint_Begin(&run->checkpoint, view->arguments, &parts, error);
    if (status == RB_STATUS_OK && run->resume != NULL) {
        status = rbResume_CheckScene(run->resume, &parts, error);
    }
    if (status == RB_STATUS_OK) {
        status = rbOutputs_Open(&run->outputs, view, error);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbFrameBuffer_Init(&run->buffer, run->world, run->player.bodyCount);
    rbTally_Init(&run->tally, &run->info, run->world, run->buffer.bodyIds,
                 rbWorld_GetBodyCount(run->world));
    run->tally.findings = run->findings;
    run->place.piece = FIRST_PIECE * run->info.outputStep;
    if (run->resume != NULL) {
        status = rbResume_Load(run->resume, &parts, &run->place, error);
    }
    run->startTime = rbGetWallTime();
    rbEscapeText(run->info.name, run->progress.name, sizeof run->progress.name);
    run->progress.duration = run->info.duration;
    run->progress.startTime = rbWorld_GetTime(run->world);
    run->progress.startWall = run->startTime;
    run->progress.lastWall = run->startTime;
    // The first one shows that the run can be continued before it takes any time.
    return status == RB_STATUS_OK ? keep(run, &run->place.partial, error) : status;
}

// Checks the certificate if that was asked; the journal says in its last row whether it was.
static void checkCertificate(rbRun* run, const rbArguments* arguments)
{
    static rbCertificateCheck check;
    const char* journal = rbArguments_Get(arguments, "--journal");
    run->isChecked = rbArguments_Has(arguments, "--verify");
    (void)snprintf(run->checked, sizeof run->checked, "not checked");
    if (run->isChecked) {
        rbCheckCertificate(rbArguments_Get(arguments, "--certificate"), &check);
        rbCertificateCheck_Describe(&check, run->checked, sizeof run->checked);
        run->isRefuted = check.result != 0;
    }
    if (journal != NULL && strcmp(journal, "-") != 0 &&
        !rbNoteCertificate(journal, rbWorld_GetTime(run->world), run->checked)) {
        (void)rbFail("%s does not say whether the certificate was checked", journal);
    }
}

// Simulates the world of the run with its outputs. The scene and the world are owned by the caller.
static rbExit runWorld(rbRun* run, const rbArguments* arguments)
{
    rbError error = {0};
    char settings[SETTINGS_SIZE];
    if (rbArguments_Has(arguments, "--verify") && !rbArguments_Has(arguments, "--certificate")) {
        (void)rbFail("--verify needs --certificate FILE: it checks what that writes");
        return RB_EXIT_USAGE;
    }
    if (!rbOutputs_Check(arguments) || !rbOutputs_CheckNames(arguments, run->scene)) {
        return RB_EXIT_USAGE;
    }
    rbWorld_EnableJournal(run->world, rbOutputs_NeedEvents(arguments));
    run->isCertified = rbArguments_Has(arguments, "--certificate");
    rbWorld_EnableFlightStarts(run->world, run->isCertified);
    if (rbScene_PrepareWorld(run->scene, run->world, &error) != RB_STATUS_OK) {
        return rbFailWith(&error);
    }
    if (prepareActions(run, arguments, &error) != RB_STATUS_OK ||
        rbCallScripts(RB_SCRIPT_START, run->scene, run->world, &error) != RB_STATUS_OK) {
        return rbFailWith(&error);
    }
    examine(run);
    if (!rbArguments_Has(arguments, "--quiet") && !rbArguments_Has(arguments, "--json")) {
        warn(run->findings);
    }
    writeSettings(run, settings);
    const rbOutputRun view = {
        .arguments = arguments,
        .scene = run->scene,
        .world = run->world,
        .player = &run->player,
        .buffer = &run->buffer,
        .tally = &run->tally,
        .settingsText = settings,
        .states = run->resume != NULL ? &run->resume->file.parts[RB_CHECKPOINT_OUTPUTS] : NULL};
    rbSignals_Catch(); // before, nothing is lost
    rbStatus status = startRun(run, &view, &error);
    if (status != RB_STATUS_OK && run->resume != NULL) {
        rbResume_NameFolder(run->resume, &error);
    }
    if (status == RB_STATUS_OK) {
        status = simulate(run, &error);
    }
    if (status == RB_STATUS_OK) {
        status = rbCallScripts(RB_SCRIPT_FINISH, run->scene, run->world, &error);
    }
    if (status == RB_STATUS_OK) {
        run->tally.hash = rbWorld_GetHash(run->world);
        status = rbOutputs_Finish(&run->outputs, run->tally.hash, &error);
    }
    if (status == RB_STATUS_OK && isComplete(run)) {
        rbCheckpoint_Delete(&run->checkpoint);
    }
    run->tally.wallTime = run->place.wallTime + rbGetWallTime() - run->startTime;
    if (status == RB_STATUS_OK && run->isCertified) {
        checkCertificate(run, arguments);
    }
    rbOutputs_Abandon(&run->outputs);
    rbFrameBuffer_Free(&run->buffer);
    return status == RB_STATUS_OK ? report(run, arguments) : rbFailWith(&error);
}

// Options that override a value of the scene are applied to it, so that a recording contains them
// too.
static bool override(rbRun* run, const char* place, const char* value)
{
    char assignment[160];
    rbError error = {0};
    (void)snprintf(assignment, sizeof assignment, "%s=%.100s", place, value);
    if (rbScene_Override(run->scene, assignment, &error) != RB_STATUS_OK) {
        (void)rbFailWith(&error);
        return false;
    }
    return true;
}

// The scene validates duration and output step together, so a coarser step is set first: in
// between, the number of outputs is never larger than before or after.
static bool overrideTimes(rbRun* run, const rbArguments* arguments)
{
    double duration = 0.0;
    double step = 0.0;
    if (!rbArguments_GetNumber(arguments, "--duration", 1e-12, 1e12, &duration) ||
        !rbArguments_GetNumber(arguments, "--dt", 1e-12, 1e12, &step)) {
        return false;
    }
    if (!rbArguments_Has(arguments, "--dt") && !rbOutputs_ChooseStep(arguments, &step)) {
        return false;
    }
    bool isStepFirst = step > rbScene_GetInfo(run->scene)->outputStep;
    for (int i = 0; i < 2; ++i) {
        bool isStep = (i == 0) == isStepFirst;
        double value = isStep ? step : duration;
        char text[RB_NUMBER_TEXT_SIZE];
        (void)rbFormatNumber(value, text);
        if (value > 0.0 && !override(run, isStep ? "output.step" : "duration", text)) {
            return false;
        }
    }
    return true;
}

// What a script has done cannot be proved by a certificate, nor its memory kept in a checkpoint.
static bool checkScripts(const rbArguments* arguments)
{
    static const char* const refused[] = {"--certificate", "--checkpoint", "--resume"};
    bool isGood = true;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0] && rbGetScriptCount() > 0; ++i) {
        if (isGood && rbArguments_Has(arguments, refused[i])) {
            (void)rbFail("%s does not work with a module in Python (%s), whose memory is not part "
                         "of the state",
                         refused[i], rbGetScriptPath(0));
            isGood = false;
        }
    }
    return isGood;
}

static bool applyOptions(rbRun* run, const rbArguments* arguments)
{
    const char* engine = rbArguments_Get(arguments, "--engine");
    const char* taker = NULL;
    if (!rbOutputs_FindStandardOutput(arguments, &taker)) {
        return false;
    }
    if (taker != NULL && rbArguments_Has(arguments, "--json")) {
        (void)rbFail("%s - and --json cannot share standard output", taker);
        return false;
    }
    if ((engine != NULL && !override(run, "engine", engine)) || !overrideTimes(run, arguments)) {
        return false;
    }
    run->info = *rbScene_GetInfo(run->scene);
    return true;
}

static rbExit runScene(const rbArguments* arguments)
{
    rbError error = {0};
#ifdef RB_MPI
    if (rbIsLaunched() || rbArguments_Has(arguments, "--domains")) {
        return rbRunOnRanks(arguments);
    }
    static const char* const ofRanks[] = {"--inlet", "--outlet", "--region", "--hdf5"};
    for (size_t i = 0; i < sizeof ofRanks / sizeof ofRanks[0]; ++i) {
        if (rbArguments_Has(arguments, ofRanks[i])) {
            return rbFail("%s works on ranks of MPI: start with mpirun, or add --domains",
                          ofRanks[i]);
        }
    }
#endif
    const char* resumed = rbArguments_Get(arguments, "--resume");
    if (resumed == NULL && arguments->wordCount == 0) {
        return rbFail("run needs SCENE; for example: rattleback run tumbling-box");
    }
    if (!rbArguments_TakeThreads(arguments, 0) || !checkScripts(arguments)) {
        return RB_EXIT_USAGE;
    }
    rbRun* run = rbAllocZero(1, sizeof *run);
    rbExit exit = RB_EXIT_USAGE;
    bool isGood = true;
    if (resumed != NULL) {
        run->resume = rbReadResume(resumed, arguments, &error);
        isGood = run->resume != NULL;
        arguments = isGood ? &run->resume->arguments : arguments;
    }
    run->progress.file = rbArguments_Has(arguments, "--quiet") ? NULL : stderr;
    run->progress.isTerminal = isatty(STDERR_FILENO) == 1;
    run->scene = isGood ? rbOpenSceneWithSettings(arguments, &error) : NULL;
    if (run->scene == NULL) {
        exit = rbFailWith(&error);
    } else if (rbCheckpoint_Choose(&run->checkpoint, arguments, resumed) &&
               applyOptions(run, arguments)) {
        run->world = rbScene_CreateWorld(run->scene, &error);
        if (run->world == NULL) {
            exit = rbFailWith(&error);
        } else {
            exit = runWorld(run, arguments);
        }
    }
    rbActionPlayer_Free(&run->player);
    rbFree(run->findings, sizeof *run->findings);
    rbDestroyWorld(run->world);
    rbDestroyScene(run->scene);
    rbCheckpoint_Free(&run->checkpoint);
    rbDestroyResume(run->resume);
    rbFree(run, sizeof *run);
    return exit;
}

static const rbOption options[] = {
    {"--engine", "NAME", "overrides the engine of the scene"},
    {"--duration", "SECONDS", "overrides the simulated time of the scene"},
    {"--dt", "SECONDS", "time between outputs; does not change the motion"},
    {"--set", "KEY=VALUE",
     "changes a value of the scene, e.g. world.gravity.2=-1.6; can be repeated"},
    RB_MODULE_OPTION,
    {"--actions", "FILE",
     "user actions to replay, one JSON object per line: {\"time\": ..., \"do\": ...}; see "
     "docs/viewer-protocol.md"},
    {"--checkpoint", "FILE",
     "keeps the state of the run in FILE, for --resume; deleted when the run is complete"},
    {"--every", "SECONDS", "time by the clock between two checkpoints (default 60)"},
    {"--every-simulated", "SECONDS", "simulated time between two checkpoints"},
    {"--resume", "FILE",
     "continues the run of a checkpoint; scene and options are those of the run"},
    {"--verify", NULL, "checks the certificate when the run is complete; needs --certificate"},
    {"--json", NULL, "prints the summary as JSON"},
    {"--quiet", NULL, "prints no summary and no progress"},
#ifdef RB_MPI
    {"--domains", NULL, "spheres as on the ranks of MPI, also without mpirun: see docs/cluster.md"},
    {"--inlet", "'x,y,z,X,Y,Z rate=N radius=R material=NAME'",
     "on ranks of MPI: a source of spheres in a box; can be repeated"},
    {"--outlet", "x,y,z,X,Y,Z", "on ranks of MPI: a box where spheres leave; can be repeated"},
    {"--region", "x,y,z,X,Y,Z",
     "on ranks of MPI: a box whose averages are in the table of --csv; can be repeated"},
    {"--hdf5", "DIR", "on ranks of MPI: spheres in HDF5; open DIR/<scene>.xdmf in ParaView"},
#endif
    RB_OPTION_THREADS,
};

static const char* const examples[] = {
    "rattleback run tumbling-box",
    "rattleback run tumbling-box --plot box.svg --csv box.csv",
    "rattleback run tippe-top --journal top.csv",
    "rattleback run rattleback --html rattleback.html",
    "rattleback run pile-of-shapes --png pile.png --at 1.5 --size 960x540",
    "rattleback run wrecking-ball --mp4 wall.mp4 --speed 0.5",
    "rattleback run pendulum --actions push.jsonl --record pushed.rbr",
    "rattleback run tumbling-box --duration 1000 --dt 0.1 --record box.rbr",
    "rattleback run pendulum --module hold.py",
    "rattleback run wrecking-ball --record wall.rbr --checkpoint wall.rbk --every 600",
    "rattleback run --resume wall.rbk",
    "rattleback run tumbling-box --set motion.type=rk4 --set motion.step=0.001 --json",
    NULL,
};

const rbVerb rbVerbRun = {
    .name = "run",
    .words = "SCENE",
    .help = "simulates a scene and reports how accurate it was",
    .more = "SCENE is a file or the name of an example scene. Ctrl-C ends the run early;\n"
            "all files are still completed; the third one ends it at once, without files. Files\n"
            "appear under their name when they are complete.",
    .run = runScene,
    .wordMin = 0,
    .wordMax = 1,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .getMoreOption = rbGetOutputOption,
    .examples = examples,
};
