// rattleback replay: runs a recording again and compares it bit by bit.
//
// The recording contains the scene and its files, so nothing else is read. The world is advanced to
// the time of each recorded frame, which is the sequence of advances made by 'run'; user actions in
// between are applied again.
#include "base/core/memory.h"
#include "cli/action_player.h"
#include "cli/cli.h"
#include "cli/modules.h"
#include "cli/recordings.h"
#include "cli/scenes.h"
#include "io/output/bytes.h"

#include <rattleback/output.h>
#include <rattleback/scene.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

// The result of a comparison; only the first difference.
typedef struct rbComparison {
    int64_t framesCompared;
    int64_t eventsCompared;
    int64_t eventsComputed;
    bool isDifferent;
    int64_t frame;
    double time;
    char body[64]; // empty: the ledger or the whole frame
    const char* field;
    double recorded;
    double computed;
} rbComparison;

// Compares two arrays of doubles bit by bit; returns the index of the first difference or -1. NaNs,
// of bodies that do not exist, are equal whatever their bits.
static int64_t findDifference(const void* a, const void* b, int64_t count)
{
    const double* x = a;
    const double* y = b;
    if (memcmp(x, y, (size_t)count * sizeof *x) == 0) {
        return -1;
    }
    for (int64_t i = 0; i < count; ++i) {
        bool areNumbers = !isnan(x[i]) || !isnan(y[i]);
        if (areNumbers && rbBitsOfDouble(x[i]) != rbBitsOfDouble(y[i])) {
            return i;
        }
    }
    return -1;
}

// A field of all bodies, recorded and computed.
typedef struct rbFieldPair {
    const char* name;
    const void* recorded;
    const void* computed;
    int width; // doubles per body
} rbFieldPair;

static void compareField(rbComparison* result, const rbFieldPair* pair, int64_t count,
                         const char* const* names)
{
    int64_t at = result->isDifferent
                     ? -1
                     : findDifference(pair->recorded, pair->computed, count * pair->width);
    if (at >= 0) {
        result->isDifferent = true;
        result->field = pair->name;
        result->recorded = ((const double*)pair->recorded)[at];
        result->computed = ((const double*)pair->computed)[at];
        if (names != NULL) {
            (void)snprintf(result->body, sizeof result->body, "%s", names[at / pair->width]);
        }
    }
}

static void compareFrames(rbComparison* result, const rbFrame* a, const rbFrame* b,
                          const char* const* names)
{
    const rbFieldPair fields[] = {
        {"position", a->positions, b->positions, 3},
        {"orientation", a->orientations, b->orientations, 4},
        {"linear velocity", a->linearVelocities, b->linearVelocities, 3},
        {"angular velocity", a->angularVelocities, b->angularVelocities, 3},
    };
    const rbFieldPair time = {"time", &a->time, &b->time, 1};
    const rbFieldPair ledger = {"ledger", &a->ledger, &b->ledger,
                                (int)(sizeof a->ledger / sizeof(double))};
    compareField(result, &time, 1, NULL);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && a->bodyCount > 0; ++i) {
        compareField(result, &fields[i], a->bodyCount, names);
    }
    compareField(result, &ledger, 1, NULL);
    result->time = a->time;
}

// A replay in progress.
typedef struct rbReplay {
    rbRecording* recording;
    rbRecordingInfo info;
    rbScene* scene;
    rbWorld* world;
    rbActionPlayer player;
    rbError refusal; // of an action that was accepted when recorded; status OK: none
    rbFrameBuffer buffer;
    rbComparison comparison;
    bool isHashDifferent;
    uint64_t hash;
} rbReplay;

static void noteEvents(rbComparison* result, const char* field, double recorded, double computed)
{
    result->isDifferent = true;
    result->field = field;
    result->recorded = recorded;
    result->computed = computed;
}

static void compareEvent(rbComparison* result, const rbRecordedEvent* a, const rbRecordedEvent* b,
                         bool hasDetails)
{
    const rbFieldPair fields[] = {
        {"time of an event", &a->time, &b->time, 1},
        {"energy of an event", &a->energyChange, &b->energyChange, 1},
        {"contact of an event", a->values, b->values, RB_RECORDED_VALUES},
    };
    size_t count = sizeof fields / sizeof fields[0];
    for (size_t i = 0; i < (hasDetails ? count : count - 1); ++i) {
        compareField(result, &fields[i], 1, NULL);
    }
    bool isSame = a->kind == b->kind && a->bodyA == b->bodyA && a->bodyB == b->bodyB &&
                  (!hasDetails || (a->law == b->law && a->history == b->history));
    if (!isSame && !result->isDifferent) {
        noteEvents(result, "kind, body, law or history of an event", a->kind, b->kind);
    }
}

// Compares the journal of this advance with the next recorded events.
static rbStatus compareEvents(rbReplay* replay, rbError* error)
{
    rbComparison* result = &replay->comparison;
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(replay->world, &count);
    for (int i = 0; i < count && !result->isDifferent; ++i) {
        if (result->eventsCompared == replay->info.eventCount) {
            break; // a recording that is cut off may lack its last events
        }
        rbRecordedEvent recorded;
        rbStatus status =
            rbRecording_ReadEvents(replay->recording, result->eventsCompared, 1, &recorded, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbRecordedEvent computed = rbFrameBuffer_ConvertEvent(&replay->buffer, &events[i]);
        // recordings of version 1 have only kind, bodies and energy
        compareEvent(result, &recorded, &computed, replay->info.formatVersion > 1);
        ++result->eventsCompared;
    }
    result->eventsComputed += count;
    rbWorld_ClearEvents(replay->world);
    return RB_STATUS_OK;
}

static rbStatus compareAll(rbReplay* replay, rbError* error)
{
    rbComparison* result = &replay->comparison;
    const char* const* names = rbRecording_GetHeader(replay->recording)->bodyNames;
    rbStatus status = RB_STATUS_OK;
    for (int64_t k = 0; k < replay->info.frameCount && !result->isDifferent; ++k) {
        rbFrame recorded;
        status = rbRecording_ReadFrame(replay->recording, k, &recorded, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbStepReport advanced;
        result->frame = k;
        if (!rbActionPlayer_Advance(&replay->player, replay->world, recorded.time, &advanced,
                                    &replay->refusal)) {
            result->isDifferent = true;
            return RB_STATUS_OK;
        }
        rbActionPlayer_Follow(&replay->player, &replay->buffer);
        rbFrame computed = rbFrameBuffer_Capture(&replay->buffer, replay->world);
        compareFrames(result, &recorded, &computed, names);
        if (!result->isDifferent) {
            status = compareEvents(replay, error);
        }
        if (status != RB_STATUS_OK) {
            return status;
        }
        ++result->framesCompared;
    }
    // a recording that is cut off may have more or fewer events than its last frame
    if (!result->isDifferent && replay->info.condition == RB_RECORDING_COMPLETE &&
        result->eventsComputed != replay->info.eventCount) {
        noteEvents(result, "number of events", (double)replay->info.eventCount,
                   (double)result->eventsComputed);
    }
    replay->hash = rbWorld_GetHash(replay->world);
    replay->isHashDifferent = replay->info.condition == RB_RECORDING_COMPLETE &&
                              replay->info.finalHash != 0 && replay->info.finalHash != replay->hash;
    return status;
}

// The world as it was when the recording began.
static rbStatus recreateWorld(rbReplay* replay, const char* path, rbError* error)
{
    const rbRecordingHeader* header = rbRecording_GetHeader(replay->recording);
    if (strstr(header->settingsText, RB_SCRIPT_ROW) != NULL) {
        rbError_SetPlace(error, path, NULL);
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "modules in Python acted on this run, which a recording does not "
                           "contain; compare the hashes of two runs instead");
    }
    replay->scene = rbReadRecordedScene(replay->recording, path, error);
    if (replay->scene == NULL) {
        return error->status;
    }
    replay->world = rbScene_CreateWorld(replay->scene, error);
    rbStatus status = replay->world != NULL
                          ? rbScene_PrepareWorld(replay->scene, replay->world, error)
                          : error->status;
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbActionPlayer_Take(&replay->player, replay->recording);
    status = rbActionPlayer_Begin(&replay->player, replay->scene, replay->world, INFINITY, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    // The recording may list bodies that no action creates.
    int count = replay->player.bodyCount;
    bool isFine =
        replay->player.actor != NULL ? count <= header->bodyCount : count == header->bodyCount;
    if (!isFine) {
        rbError_SetPlace(error, path, NULL);
        return rbError_Set(error, RB_STATUS_CORRUPT,
                           "the recording has %d bodies, its scene and actions %d; it was not made "
                           "by 'rattleback run' or 'rattleback view'",
                           header->bodyCount, count);
    }
    return RB_STATUS_OK;
}

static void describeDifference(const rbReplay* replay, char* text, size_t capacity)
{
    const rbComparison* result = &replay->comparison;
    if (replay->refusal.status != RB_STATUS_OK) {
        (void)snprintf(text, capacity, "before frame %" PRId64 " %.440s", result->frame,
                       replay->refusal.message);
    } else if (result->isDifferent) {
        (void)snprintf(
            text, capacity, "frame %" PRId64 ", t = %.17g s, %s%s%s: recorded %.17g, now %.17g",
            result->frame, result->time, result->body, result->body[0] != '\0' ? " " : "",
            result->field, result->recorded, result->computed);
    } else {
        (void)snprintf(text, capacity,
                       "all frames are equal, but the final hash is %016" PRIx64
                       ", recorded %016" PRIx64,
                       replay->hash, replay->info.finalHash);
    }
}

static void printJson(const rbReplay* replay, const char* path, const char* difference)
{
    rbJson json = {.file = stdout};
    char hash[32];
    (void)snprintf(hash, sizeof hash, "%016" PRIx64, replay->hash);
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "recording", path);
    rbJson_Text(&json, "condition", rbRecordingCondition_Text(replay->info.condition));
    rbJson_Integer(&json, "framesCompared", replay->comparison.framesCompared);
    rbJson_Integer(&json, "eventsCompared", replay->comparison.eventsCompared);
    rbJson_Integer(&json, "actionsDone", replay->player.next);
    rbJson_Bool(&json, "equal", difference == NULL);
    rbJson_Text(&json, "firstDifference", difference);
    rbJson_Text(&json, "hash", hash);
    rbJson_End(&json);
}

static rbExit report(const rbReplay* replay, const rbArguments* arguments)
{
    const char* path = arguments->words[0];
    bool isEqual = !replay->comparison.isDifferent && !replay->isHashDifferent;
    char difference[512] = "";
    if (!isEqual) {
        describeDifference(replay, difference, sizeof difference);
    }
    if (rbArguments_Has(arguments, "--json")) {
        printJson(replay, path, isEqual ? NULL : difference);
    } else if (isEqual) {
        char actions[48] = "";
        if (replay->player.next > 0) {
            (void)snprintf(actions, sizeof actions, " after %d actions", replay->player.next);
        }
        (void)printf("%s: %" PRId64 " frames and %" PRId64 " events equal%s, bit by bit%s\n", path,
                     replay->comparison.framesCompared, replay->comparison.eventsCompared, actions,
                     replay->info.finalHash != 0 ? "; final hash equal" : "");
    }
    if (!isEqual) {
        (void)rbFail("%s differs: %s", path, difference);
    }
    if (replay->info.condition != RB_RECORDING_COMPLETE) {
        (void)fprintf(stderr,
                      "rattleback: %s is %s: %s; the %" PRId64 " frames before were compared\n",
                      path, rbRecordingCondition_Text(replay->info.condition),
                      replay->info.trouble->message, replay->comparison.framesCompared);
    }
    return isEqual ? RB_EXIT_DONE : RB_EXIT_NO;
}

static rbExit runReplay(const rbArguments* arguments)
{
    rbError error = {0};
    rbReplay replay = {0};
    replay.recording = rbOpenRecording(arguments->words[0], &error);
    if (replay.recording == NULL) {
        return rbFailWith(&error);
    }
    replay.info = rbRecording_GetInfo(replay.recording);
    rbStatus status = recreateWorld(&replay, arguments->words[0], &error);
    if (status == RB_STATUS_OK) {
        rbFrameBuffer_Init(&replay.buffer, replay.world,
                           rbRecording_GetHeader(replay.recording)->bodyCount);
        status = compareAll(&replay, &error);
    }
    rbExit exit = status == RB_STATUS_OK ? report(&replay, arguments) : rbFailWith(&error);
    if (status == RB_STATUS_OK && exit == RB_EXIT_DONE &&
        replay.info.condition != RB_RECORDING_COMPLETE) {
        exit = RB_EXIT_USAGE; // missing or wrong bytes are bad input, even when the rest is equal
    }
    rbFrameBuffer_Free(&replay.buffer);
    rbActionPlayer_Free(&replay.player);
    rbDestroyWorld(replay.world);
    rbDestroyScene(replay.scene);
    rbCloseRecording(replay.recording);
    return exit;
}

static const rbOption options[] = {
    {"--json", NULL, "prints the result as JSON"},
    RB_MODULE_OPTION,
};

static const char* const examples[] = {
    "rattleback replay box.rbr",
    "rattleback replay box.rbr.part      # from a run that was killed",
    NULL,
};

const rbVerb rbVerbReplay = {
    .name = "replay",
    .words = "RECORDING",
    .help = "runs a recording again and compares it bit by bit",
    .more =
        "Exit code 0: every recorded frame is identical; 1: there are differences, the first is\n"
        "named; 2: the file is cut off, damaged or not a recording. The intact part of such a\n"
        "file is still compared. Recorded user actions are applied again.",
    .run = runReplay,
    .wordMin = 1,
    .wordMax = 1,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
