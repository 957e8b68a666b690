#define _XOPEN_SOURCE 700

#include "cli/checkpoint.h"

#include "base/core/hash.h"
#include "base/core/memory.h"
#include "base/core/timer.h"
#include "cli/modules.h"
#include "io/output/output_file.h"
#include "session/action_bodies.h"

#include <rattleback/module.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WALL_STEP 60.0 // s between two checkpoints
#define COMMAND_WORDS_MAX (2 * RB_CLI_VALUES_MAX + 2)
#define START_ANEW "start the run anew without --resume"

// ------------------------------------------------------------------------------------- identity

// A hash of this program, because a snapshot is as in its memory; 0 where the system does not show
// it: then the version alone must match.
static uint64_t hashProgram(void)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    unsigned char* block = rbAlloc(65536);
    uint64_t hash = file >= 0 ? RB_HASH_SEED : 0;
    ssize_t got = file >= 0 ? 1 : 0;
    while (got > 0) {
        got = read(file, block, 65536);
        hash = got > 0 ? rbHashBytes(hash, block, (size_t)got) : hash;
    }
    rbFree(block, 65536);
    if (file >= 0) {
        (void)close(file);
    }
    return hash;
}

static void saveBuild(rbStateStream* stream)
{
    uint64_t hash = hashProgram();
    rbStateStream_PutText(stream, rbGetVersion());
    rbStateStream_Word(stream, &hash);
}

static rbStatus checkBuild(rbStateStream* stream, rbError* error)
{
    uint64_t hash = 0;
    const char* version = rbStateStream_TakeText(stream);
    rbStateStream_Word(stream, &hash);
    if (!rbStateStream_IsLoaded(stream)) {
        return rbError_Set(error, RB_STATUS_CORRUPT,
                           "the checkpoint is damaged (program); " START_ANEW);
    }
    if (strcmp(version, rbGetVersion()) != 0) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "the checkpoint was written by rattleback %.40s, this is %s; resume "
                           "with that program, or " START_ANEW,
                           version, rbGetVersion());
    }
    if (hash != hashProgram()) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "the checkpoint was written by another build of rattleback %s; resume "
                           "with that program, or " START_ANEW,
                           version);
    }
    return RB_STATUS_OK;
}

static uint64_t hashText(uint64_t hash, const char* text, size_t size)
{
    hash = rbHashBytes(hash, &size, sizeof size);
    return rbHashBytes(hash, text, size);
}

static uint64_t hashActions(const rbActions* actions)
{
    uint64_t hash = RB_HASH_SEED;
    for (int i = 0; i < actions->count; ++i) {
        hash = rbHashDoubles(hash, &actions->data[i].time, 1);
        hash = hashText(hash, actions->data[i].text, actions->data[i].size);
    }
    return hash;
}

// The scene, the actions, the modules, and the files of the scene by name.
static void saveIdentity(const rbRunParts* run, rbStateStream* stream)
{
    size_t size = 0;
    const char* text = rbScene_GetText(run->scene, &size);
    uint64_t hash = hashText(RB_HASH_SEED, text, size);
    int count = rbScene_GetInfo(run->scene)->attachmentCount;
    rbStateStream_Word(stream, &hash);
    hash = hashActions(&run->player->actions);
    rbStateStream_Word(stream, &hash);
    hash = rbHashModules();
    rbStateStream_Word(stream, &hash);
    rbStateStream_Int(stream, &count, 0, RB_RECORDING_ATTACHMENT_MAX);
    for (int i = 0; i < count; ++i) {
        const char* name = NULL;
        const void* bytes = NULL;
        rbScene_GetAttachment(run->scene, i, &name, &bytes, &size);
        hash = hashText(RB_HASH_SEED, bytes, size);
        rbStateStream_PutText(stream, name);
        rbStateStream_Word(stream, &hash);
    }
}

rbStatus rbResume_CheckScene(rbResume* resume, const rbRunParts* run, rbError* error)
{
    rbStateStream ours = {0};
    saveIdentity(run, &ours);
    rbStateStream present = rbMakeLoadingStream(ours.bytes, ours.size);
    rbStateStream* then = &resume->file.parts[RB_CHECKPOINT_SCENE];
    uint64_t hashes[3][2] = {{0}};
    const char* culprit = NULL;
    for (int i = 0; i < 3; ++i) { // scene, actions, modules
        rbStateStream_Word(&present, &hashes[i][0]);
        rbStateStream_Word(then, &hashes[i][1]);
    }
    culprit = hashes[0][0] != hashes[0][1] ? resume->arguments.words[0] : NULL;
    if (culprit == NULL && hashes[1][0] != hashes[1][1]) {
        culprit = rbArguments_Get(&resume->arguments, "--actions");
    }
    if (culprit == NULL && hashes[2][0] != hashes[2][1]) {
        culprit = rbArguments_Get(&resume->arguments, "--module");
        culprit = culprit != NULL ? culprit : "--module";
    }
    int counts[2] = {0, 0};
    rbStateStream_Int(&present, &counts[0], 0, RB_RECORDING_ATTACHMENT_MAX);
    rbStateStream_Int(then, &counts[1], 0, RB_RECORDING_ATTACHMENT_MAX);
    for (int i = 0; culprit == NULL && counts[0] == counts[1] && i < counts[0]; ++i) {
        const char* name = rbStateStream_TakeText(&present);
        const char* thenName = rbStateStream_TakeText(then);
        rbStateStream_Word(&present, &hashes[0][0]);
        rbStateStream_Word(then, &hashes[0][1]);
        bool isSame = strcmp(name, thenName) == 0 && hashes[0][0] == hashes[0][1];
        culprit = isSame ? NULL : name;
    }
    rbStatus status = RB_STATUS_OK;
    if (culprit != NULL) {
        status = rbError_Set(error, RB_STATUS_INVALID,
                             "'%.200s' is not as it was when the checkpoint was written; put it "
                             "back, or " START_ANEW,
                             culprit);
    } else if (!rbStateStream_IsLoaded(then) || counts[0] != counts[1]) {
        status =
            rbError_Set(error, RB_STATUS_CORRUPT, "the checkpoint is damaged (scene); " START_ANEW);
    }
    rbStateStream_Free(&ours);
    return status;
}

// ----------------------------------------------------------------------------- the command line

// Options that may differ when a run is continued.
static bool isFree(const char* name)
{
    static const char* const names[] = {"--resume", "--checkpoint", "--every",  "--every-simulated",
                                        "--quiet",  "--json",       "--threads"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

// The folder, the scene, and all other words: options and their values.
static void saveCommand(const rbArguments* arguments, const rbCheckpoint* checkpoint,
                        rbStateStream* stream)
{
    char folder[RB_OUTPUT_PATH_MAX];
    rbStateStream_PutText(stream, getcwd(folder, sizeof folder) != NULL ? folder : "");
    double steps[2] = {checkpoint->wallStep, checkpoint->timeStep};
    rbStateStream_Numbers(stream, steps, 2);
    rbStateStream_PutText(stream, arguments->words[0]);
    for (int i = 0; i < arguments->valueCount; ++i) {
        const rbOption* option = arguments->values[i].option;
        if (!isFree(option->name)) {
            rbStateStream_PutText(stream, option->name);
            if (option->argument != NULL) {
                rbStateStream_PutText(stream, arguments->values[i].value);
            }
        }
    }
}

typedef struct CommandWords {
    char* words[COMMAND_WORDS_MAX];
    int count;
} CommandWords;

static void addWord(CommandWords* list, const char* word)
{
    if (list->count < COMMAND_WORDS_MAX) {
        list->words[list->count++] = (char*)word; // the parser does not write to them
    }
}

// What the command line of the run had; the intervals come first, so that others can follow.
static bool loadCommand(rbResume* resume, CommandWords* list)
{
    static const char* const names[] = {"--every", "--every-simulated"};
    rbStateStream* stream = &resume->file.parts[RB_CHECKPOINT_COMMAND];
    resume->folder = rbStateStream_TakeText(stream);
    double steps[2] = {0.0, 0.0};
    rbStateStream_Numbers(stream, steps, 2);
    for (int i = 0; i < 2; ++i) {
        if (isfinite(steps[i])) {
            (void)rbFormatNumber(steps[i], resume->numbers[i]);
            addWord(list, names[i]);
            addWord(list, resume->numbers[i]);
        }
    }
    const char* scene = rbStateStream_TakeText(stream);
    bool isGood = scene[0] != '\0' && scene[0] != '-';
    addWord(list, scene);
    while (isGood && stream->place < stream->size && !stream->isBad) {
        const char* word = rbStateStream_TakeText(stream);
        isGood = !isFree(word) && strcmp(word, "--") != 0 && list->count < COMMAND_WORDS_MAX;
        addWord(list, word);
    }
    return isGood && rbStateStream_IsLoaded(stream);
}

static bool hadOption(const rbArguments* arguments, const char* name, const char* value)
{
    bool isFound = false;
    for (int i = 0; i < arguments->valueCount; ++i) {
        const char* other = arguments->values[i].value;
        bool isSame = value == NULL ? other == NULL : other != NULL && strcmp(value, other) == 0;
        isFound = isFound || (isSame && strcmp(arguments->values[i].option->name, name) == 0);
    }
    return isFound;
}

// The words given now may repeat those of the run, or leave them out.
static rbStatus compareCommands(const rbArguments* then, const rbArguments* given, rbError* error)
{
    if (given->wordCount > 0 && strcmp(given->words[0], then->words[0]) != 0) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the checkpoint is of a run of '%.150s', not of '%.150s'; leave out the "
                           "scene, or " START_ANEW,
                           then->words[0], given->words[0]);
    }
    for (int i = 0; i < given->valueCount; ++i) {
        const char* name = given->values[i].option->name;
        const char* value = given->values[i].value;
        if (!isFree(name) && !hadOption(then, name, value)) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "the run of the checkpoint did not have the option %s%s%.150s; "
                               "leave it out, or " START_ANEW,
                               name, value != NULL ? " " : "", value != NULL ? value : "");
        }
    }
    return RB_STATUS_OK;
}

// A checkpoint does not load modules: only who runs the program says what code it runs.
static rbStatus checkModules(const CommandWords* list, rbError* error)
{
    for (int i = 0; i + 1 < list->count; ++i) {
        bool isNeeded = strcmp(list->words[i], "--module") == 0;
        for (int k = 0; isNeeded && k < rbGetModuleCount(); ++k) {
            isNeeded = strcmp(rbGetModulePath(k), list->words[i + 1]) != 0;
        }
        if (isNeeded) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "the run of the checkpoint had the module %.200s; give it again: "
                               "--module %.200s",
                               list->words[i + 1], list->words[i + 1]);
        }
    }
    return RB_STATUS_OK;
}

rbStatus rbResume_ReadCommand(rbResume* resume, const rbArguments* given, rbError* error)
{
    CommandWords* list = rbAllocZero(1, sizeof *list);
    bool isGood = loadCommand(resume, list);
    rbStatus status = isGood ? checkModules(list, error) : RB_STATUS_OK;
    isGood = isGood && (status != RB_STATUS_OK || rbArguments_Parse(&resume->arguments, given->verb,
                                                                    list->count, list->words));
    if (!isGood) {
        status = rbError_Set(error, RB_STATUS_CORRUPT,
                             "the checkpoint is damaged (command line); " START_ANEW);
    }
    if (status == RB_STATUS_OK) {
        status = compareCommands(&resume->arguments, given, error);
    }
    for (int i = 0; i < given->valueCount && status == RB_STATUS_OK; ++i) {
        if (isFree(given->values[i].option->name) &&
            resume->arguments.valueCount < RB_CLI_VALUES_MAX) {
            resume->arguments.values[resume->arguments.valueCount++] = given->values[i];
        }
    }
    rbFree(list, sizeof *list);
    return status;
}

rbResume* rbReadResume(const char* path, const rbArguments* given, rbError* error)
{
    rbResume* resume = rbAllocZero(1, sizeof *resume);
    rbStatus status = rbCheckpointFile_Read(&resume->file, path, error);
    if (status == RB_STATUS_OK) {
        status = checkBuild(&resume->file.parts[RB_CHECKPOINT_BUILD], error);
    }
    if (status == RB_STATUS_OK) {
        status = rbResume_ReadCommand(resume, given, error);
    }
    if (status != RB_STATUS_OK) {
        rbDestroyResume(resume);
        return NULL;
    }
    return resume;
}

void rbDestroyResume(rbResume* resume)
{
    if (resume != NULL) {
        rbCheckpointFile_Free(&resume->file);
        rbFree(resume, sizeof *resume);
    }
}

void rbResume_NameFolder(const rbResume* resume, rbError* error)
{
    char folder[RB_OUTPUT_PATH_MAX];
    if (getcwd(folder, sizeof folder) != NULL && strcmp(folder, resume->folder) != 0) {
        char message[sizeof error->message];
        memcpy(message, error->message, sizeof message);
        (void)rbError_Set(error, error->status, "%.300s (the run was started in '%.150s')", message,
                          resume->folder);
    }
}

// ----------------------------------------------------------------------------------- the totals

static void moveVector(rbStateStream* stream, rbVec3* vector)
{
    double values[3] = {vector->x, vector->y, vector->z};
    rbStateStream_Numbers(stream, values, 3);
    *vector = rbMakeVec3(values[0], values[1], values[2]);
}

static void moveBodyId(rbStateStream* stream, rbBodyId* bodyId)
{
    int64_t index1 = bodyId->index1;
    int64_t generation = bodyId->generation;
    rbStateStream_Integer(stream, &index1, 0, UINT32_MAX);
    rbStateStream_Integer(stream, &generation, 0, UINT32_MAX);
    *bodyId = (rbBodyId){(uint32_t)index1, (uint32_t)generation};
}

static void moveStatus(rbStateStream* stream, rbStatus* status)
{
    int number = (int)*status;
    rbStateStream_Int(stream, &number, 0, RB_STATUS_COUNT - 1);
    *status = (rbStatus)number;
}

static void moveError(rbStateStream* stream, rbError* error)
{
    moveStatus(stream, &error->status);
    rbStateStream_Int(stream, &error->line, 0, INT32_MAX);
    rbStateStream_Int(stream, &error->column, 0, INT32_MAX);
    rbStateStream_Text(stream, error->file, sizeof error->file);
    rbStateStream_Text(stream, error->place, sizeof error->place);
    rbStateStream_Text(stream, error->message, sizeof error->message);
}

static void moveDrift(rbStateStream* stream, rbDrift* drift)
{
    rbStateStream_Number(stream, &drift->energy);
    rbStateStream_Number(stream, &drift->momentum);
    rbStateStream_Number(stream, &drift->angularMomentum);
    rbStateStream_Number(stream, &drift->spin);
}

// A ledger is numbers alone.
static void moveLedger(rbStateStream* stream, rbLedger* ledger)
{
    _Static_assert(sizeof *ledger % sizeof(double) == 0 &&
                       offsetof(rbLedger, mass) == sizeof *ledger - sizeof(double),
                   "a ledger is an array of doubles");
    double values[sizeof *ledger / sizeof(double)];
    memcpy(values, ledger, sizeof values);
    rbStateStream_Numbers(stream, values, sizeof values / sizeof values[0]);
    memcpy(ledger, values, sizeof values);
}

// What a tally adds up; the rest is known at the start of a run.
static void moveTally(rbStateStream* stream, rbTally* tally)
{
    moveLedger(stream, &tally->end);
    moveVector(stream, &tally->massMoment);
    rbStateStream_Number(stream, &tally->energyScale);
    rbStateStream_Number(stream, &tally->energyThere);
    rbStateStream_Number(stream, &tally->energyDriftMost);
    rbStateStream_Number(stream, &tally->momentumScale);
    rbStateStream_Number(stream, &tally->angularScale);
    moveDrift(stream, &tally->drift);
    moveDrift(stream, &tally->driftMax);
    rbStateStream_Integer(stream, &tally->frames, 0, INT64_MAX);
    rbStateStream_Integer(stream, &tally->integratorSteps, 0, INT64_MAX);
    rbStateStream_Integer(stream, &tally->rejectedSteps, 0, INT64_MAX);
    for (int i = 0; i < RB_EVENT_COUNT; ++i) {
        rbStateStream_Integer(stream, &tally->eventCounts[i], 0, INT64_MAX);
    }
    rbStateStream_Integer(stream, &tally->eventCount, 0, INT64_MAX);
    rbStateStream_Int(stream, &tally->actionCount, 0, RB_ACTIONS_MAX);
    moveBodyId(stream, &tally->failedBody);
    rbStateStream_Flag(stream, &tally->hasContacts);
    rbStateStream_Flag(stream, &tally->isMissed);
    rbStateStream_Number(stream, &tally->failedTime);
    moveError(stream, &tally->miss);
}

static void movePlace(rbStateStream* stream, rbRunPlace* place)
{
    rbStateStream_Integer(stream, &place->frame, 0, INT64_MAX);
    moveStatus(stream, &place->partial.status);
    rbStateStream_Integer(stream, &place->partial.integratorSteps, 0, INT64_MAX);
    rbStateStream_Integer(stream, &place->partial.rejectedSteps, 0, INT64_MAX);
    moveBodyId(stream, &place->partial.failedBody);
    rbStateStream_Number(stream, &place->piece);
    rbStateStream_Number(stream, &place->wallTime);
}

// -------------------------------------------------------------------------------------- writing

// A file of that name is never lost: it may be an input, or the checkpoint of another run.
static bool checkPath(const char* path, const char* resumed)
{
    struct stat status;
    if (stat(path, &status) != 0 || (resumed != NULL && strcmp(path, resumed) == 0)) {
        return true;
    }
    if (S_ISREG(status.st_mode) && rbIsCheckpoint(path)) {
        (void)rbFail("'%s' is the checkpoint of an unfinished run; continue it with 'rattleback "
                     "run --resume %s', delete it, or choose another name",
                     path, path);
    } else {
        (void)rbFail("--checkpoint is '%s', which exists and is not a checkpoint; choose another "
                     "name",
                     path);
    }
    return false;
}

bool rbCheckpoint_Choose(rbCheckpoint* checkpoint, const rbArguments* arguments,
                         const char* resumed)
{
    static const char* const details[] = {"--every", "--every-simulated"};
    const char* path = rbArguments_Get(arguments, "--checkpoint");
    path = path != NULL ? path : resumed;
    bool hasTime = rbArguments_Has(arguments, "--every-simulated");
    bool hasWall = rbArguments_Has(arguments, "--every");
    *checkpoint = (rbCheckpoint){.wallStep = hasTime && !hasWall ? INFINITY : WALL_STEP,
                                 .timeStep = INFINITY,
                                 .nextTime = INFINITY};
    for (int i = 0; path == NULL && i < 2; ++i) {
        if (rbArguments_Has(arguments, details[i])) {
            (void)rbFail("%s applies to checkpoints, but there is no --checkpoint FILE; add one",
                         details[i]);
            return false;
        }
    }
    if (!rbArguments_GetNumber(arguments, "--every", 0.0, 1e9, &checkpoint->wallStep) ||
        !rbArguments_GetNumber(arguments, "--every-simulated", 1e-12, 1e12,
                               &checkpoint->timeStep)) {
        return false;
    }
    if (path != NULL &&
        (!rbOutputs_CheckCheckpoint(arguments, path) || !checkPath(path, resumed))) {
        return false;
    }
    checkpoint->path = path;
    return true;
}

static void planNext(rbCheckpoint* checkpoint, double time)
{
    checkpoint->lastWall = rbGetWallTime();
    checkpoint->nextTime = INFINITY;
    if (isfinite(checkpoint->timeStep)) {
        double step = checkpoint->timeStep;
        checkpoint->nextTime = step * (floor(time / step * (1.0 + 1e-12)) + 1.0);
    }
}

rbStatus rbCheckpoint_Begin(rbCheckpoint* checkpoint, const rbArguments* arguments,
                            const rbRunParts* run, rbError* error)
{
    if (checkpoint->path == NULL) {
        return RB_STATUS_OK;
    }
    const rbActions* actions = &run->player->actions;
    for (int i = 0; i < actions->count; ++i) {
        if (!rbKeepsStructure(actions->data[i].text)) {
            return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                               "action %d changes bodies or joints, which a checkpoint cannot "
                               "restore: only \"push\", \"spin\" and \"set\" go with --checkpoint; "
                               "leave out one of them",
                               i + 1);
        }
    }
    saveBuild(&checkpoint->build);
    saveIdentity(run, &checkpoint->identity);
    saveCommand(arguments, checkpoint, &checkpoint->command);
    planNext(checkpoint, rbWorld_GetTime(run->world));
    return RB_STATUS_OK;
}

bool rbCheckpoint_IsDue(const rbCheckpoint* checkpoint, double wall, double time)
{
    return checkpoint->path != NULL &&
           (wall - checkpoint->lastWall >= checkpoint->wallStep || time >= checkpoint->nextTime);
}

static rbStatus saveWorld(const rbWorld* world, rbStateStream* stream, rbError* error)
{
    size_t size = rbWorld_GetSnapshotSize(world);
    void* bytes = rbAllocZero(1, size);
    rbStatus status = rbWorld_TakeSnapshot(world, bytes, size, error);
    if (status == RB_STATUS_OK) {
        rbStateStream_Bytes(stream, bytes, size);
    }
    rbFree(bytes, size);
    return status;
}

rbStatus rbCheckpoint_Write(rbCheckpoint* checkpoint, const rbRunParts* run,
                            const rbRunPlace* place, rbError* error)
{
    if (checkpoint->path == NULL) {
        return RB_STATUS_OK;
    }
    rbCheckpointFile file = {.parts = {[RB_CHECKPOINT_BUILD] = checkpoint->build,
                                       [RB_CHECKPOINT_COMMAND] = checkpoint->command,
                                       [RB_CHECKPOINT_SCENE] = checkpoint->identity}};
    rbStateStream* parts = file.parts;
    rbRunPlace now = *place;
    movePlace(&parts[RB_CHECKPOINT_STATE], &now);
    moveTally(&parts[RB_CHECKPOINT_STATE], run->tally);
    rbStateStream_Int(&parts[RB_CHECKPOINT_STATE], &run->player->next, 0, RB_ACTIONS_MAX);
    rbStateStream_Int(&parts[RB_CHECKPOINT_STATE], &run->player->written, 0, RB_ACTIONS_MAX);
    rbStatus status = rbOutputs_Save(run->outputs, &parts[RB_CHECKPOINT_OUTPUTS], error);
    if (status == RB_STATUS_OK) {
        status = saveWorld(run->world, &parts[RB_CHECKPOINT_WORLD], error);
    }
    if (status == RB_STATUS_OK) {
        status = rbCheckpointFile_Write(&file, checkpoint->path, error);
    }
    for (int i = RB_CHECKPOINT_STATE; i < RB_CHECKPOINT_PART_COUNT; ++i) {
        rbStateStream_Free(&parts[i]);
    }
    planNext(checkpoint, rbWorld_GetTime(run->world));
    return status;
}

void rbCheckpoint_Delete(const rbCheckpoint* checkpoint)
{
    if (checkpoint->path != NULL) {
        (void)unlink(checkpoint->path);
    }
}

void rbCheckpoint_Free(rbCheckpoint* checkpoint)
{
    rbStateStream_Free(&checkpoint->command);
    rbStateStream_Free(&checkpoint->build);
    rbStateStream_Free(&checkpoint->identity);
}

// ------------------------------------------------------------------------------------- resuming

rbStatus rbResume_Load(rbResume* resume, const rbRunParts* run, rbRunPlace* place, rbError* error)
{
    rbStateStream* state = &resume->file.parts[RB_CHECKPOINT_STATE];
    int actionCount = run->player->actions.count;
    movePlace(state, place);
    moveTally(state, run->tally);
    rbStateStream_Int(state, &run->player->next, 0, actionCount);
    rbStateStream_Int(state, &run->player->written, 0, actionCount);
    bool isGood = rbStateStream_IsLoaded(state) && place->piece > 0.0 && isfinite(place->piece) &&
                  isfinite(place->wallTime) &&
                  rbStateStream_IsLoaded(&resume->file.parts[RB_CHECKPOINT_OUTPUTS]);
    if (!isGood) {
        return rbError_Set(error, RB_STATUS_CORRUPT,
                           "the checkpoint is damaged (state of the run); " START_ANEW);
    }
    const rbStateStream* world = &resume->file.parts[RB_CHECKPOINT_WORLD];
    rbError inner = {0};
    if (rbWorld_RestoreSnapshot(run->world, world->bytes, world->size, &inner) != RB_STATUS_OK) {
        return rbError_Set(error, RB_STATUS_CORRUPT,
                           "the checkpoint is damaged (world): %.200s; " START_ANEW, inner.message);
    }
    rbWorld_ClearEvents(run->world);
    return RB_STATUS_OK;
}
