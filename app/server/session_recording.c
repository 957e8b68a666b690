#include "server/session_recording.h"

#include "base/core/memory.h"
#include "base/core/timer.h"
#include "session/action_bodies.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SPEED_MIN 1e-6
#define SPEED_MAX 1e6
#define TICKS_PER_SECOND 60.0
#define EVENTS_AT_ONCE 256
#define FRAMES_AT_ONCE 64
#define OPENING_TIME 0.1  // s of reading before the first page gets an answer
#define READING_TIME 0.01 // s of reading from tick to tick

typedef struct rbPlayer {
    rbRecording* recording;
    rbScene* scene;
    rbWorld* world; // for shapes; it never moves
    rbStore* store;
    rbPlayState state;
    bool hasStarted; // played or paused: until then "ready" plays
    bool hasShown;   // a frame
    double wallTime; // s, when playTime was shown
    double playTime; // s, of the recording
    rbRecordingInfo info;
    int64_t nextFrame, nextEvent; // to be read
    double lastTime;              // s, of the last frame in the store
} rbPlayer;

static void destroyPlayer(void* object)
{
    rbPlayer* player = object;
    rbDestroyStore(player->store);
    rbDestroyWorld(player->world);
    rbDestroyScene(player->scene);
    rbCloseRecording(player->recording);
    rbFree(player, sizeof *player);
}

// ------------------------------------------------------------------------------------- filling

// A body that an action added or, if none did, one without shapes, to keep its number.
static rbBodyId makeBody(const rbPlayer* player, int number, rbError* error)
{
    int count = 0;
    const rbRecordedAction* actions = rbRecording_GetActions(player->recording, &count);
    for (int i = 0; i < count; ++i) {
        // Numbers are written into recorded actions.
        rbAddedBody added;
        if (rbReadAddedBody(actions[i].text, number, &added) && added.number == number) {
            rbBodyId bodyId = rbScene_AddBody(player->scene, player->world, added.text,
                                              strlen(added.text), added.name, error);
            rbAddedBody_Free(&added);
            return bodyId;
        }
        rbAddedBody_Free(&added);
    }
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_STATIC;
    return rbCreateBody(player->world, &def, error);
}

static rbStatus addBodies(rbPlayer* player, rbError* error)
{
    int count = rbRecording_GetHeader(player->recording)->bodyCount;
    for (int i = rbStore_GetBodyCount(player->store); i < count; ++i) {
        rbBodyId bodyId = makeBody(player, i, error);
        if (RB_IS_NULL(bodyId) ||
            rbStore_AddBody(player->store, player->world, bodyId, error) < 0) {
            return error->status;
        }
    }
    return RB_STATUS_OK;
}

// The store gets outlines: time and samples. The bodies of a frame are read again when it is shown.
static rbStatus takeFrames(rbPlayer* player, rbError* error)
{
    int64_t left = player->info.frameCount - player->nextFrame;
    int64_t end = player->nextFrame + (left < FRAMES_AT_ONCE ? left : FRAMES_AT_ONCE);
    while (player->nextFrame < end) {
        rbFrame frame;
        rbStatus status =
            rbRecording_ReadFrame(player->recording, player->nextFrame, &frame, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        if (isfinite(frame.time) && frame.time > player->lastTime) {
            rbStore_TakeRecordedOutline(player->store, &frame, player->nextFrame);
            player->lastTime = frame.time;
        }
        player->nextFrame += 1;
    }
    return RB_STATUS_OK;
}

static rbStatus takeEvents(rbPlayer* player, rbError* error)
{
    rbRecordedEvent events[EVENTS_AT_ONCE];
    int64_t left = player->info.eventCount - player->nextEvent;
    int count = left < EVENTS_AT_ONCE ? (int)left : EVENTS_AT_ONCE;
    if (count == 0) {
        return RB_STATUS_OK;
    }
    rbStatus status =
        rbRecording_ReadEvents(player->recording, player->nextEvent, count, events, error);
    if (status == RB_STATUS_OK) {
        rbStore_TakeRecordedEvents(player->store, events, count);
        player->nextEvent += count;
    }
    return status;
}

static bool isReading(const rbPlayer* player)
{
    return player->nextFrame < player->info.frameCount ||
           player->nextEvent < player->info.eventCount;
}

// Reads for some time, or until the store has a number of frames that reach a time.
static rbStatus readOn(rbPlayer* player, double seconds, double time, int64_t frameCount,
                       rbError* error)
{
    double start = rbGetWallTime();
    rbStatus status = RB_STATUS_OK;
    while (status == RB_STATUS_OK && isReading(player)) {
        bool isThere =
            player->lastTime >= time && rbStore_GetFrameCount(player->store) >= frameCount;
        if (isThere && rbGetWallTime() - start >= seconds) {
            return RB_STATUS_OK;
        }
        status = takeFrames(player, error);
        if (status == RB_STATUS_OK) {
            status = takeEvents(player, error);
        }
    }
    return status;
}

// The same while it plays: what cannot be read is said in a sentence, and the rest is left out.
static void readMore(rbPlayer* player, double seconds, double time, int64_t frameCount)
{
    rbError error = {0};
    if (readOn(player, seconds, time, frameCount, &error) != RB_STATUS_OK) {
        player->info.frameCount = player->nextFrame;
        player->info.eventCount = player->nextEvent;
        (void)snprintf(player->state.sentence, sizeof player->state.sentence,
                       "the recording ends at t = %.6g s: %.160s", player->lastTime, error.message);
    }
}

// ------------------------------------------------------------------------------------- playing

// The bodies of a frame come from the file.
static void showFrame(rbPlayer* player, int64_t index)
{
    rbFrame frame;
    rbError error = {0};
    int shown = rbStore_GetBodyCount(player->store);
    int64_t source = rbStore_GetFrameSource(player->store, index);
    if (rbRecording_ReadFrame(player->recording, source, &frame, &error) == RB_STATUS_OK) {
        frame.bodyCount = frame.bodyCount < shown ? frame.bodyCount : shown;
        rbStore_ShowRecorded(player->store, index, &frame);
    } else {
        (void)snprintf(player->state.sentence, sizeof player->state.sentence,
                       "the frame at t = %.6g s cannot be read: %.160s",
                       rbStore_GetFrameTime(player->store, index), error.message);
    }
}

static void showTime(rbPlayer* player, double time)
{
    double first = rbStore_GetFrameTime(player->store, 0);
    double end = rbStore_GetEndTime(player->store);
    player->playTime = fmin(fmax(time, first), end);
    player->wallTime = rbGetWallTime();
    int64_t index = rbStore_FindNearest(player->store, player->playTime);
    if (!player->hasShown ||
        rbStore_GetFrameTime(player->store, index) != rbStore_GetShownTime(player->store)) {
        player->hasShown = true;
        showFrame(player, index);
    }
}

static void sendState(rbPlayer* player)
{
    player->state.realTimeFactor = player->state.isPlaying ? player->state.speed : 0.0;
    rbStore_SetPlayState(player->store, &player->state);
}

// s, of the whole recording, most of which may not have been read.
static double findEnd(rbPlayer* player)
{
    rbFrame frame;
    rbError error = {0};
    int64_t last = player->info.frameCount - 1;
    bool isKnown = rbRecording_ReadFrame(player->recording, last, &frame, &error) == RB_STATUS_OK &&
                   isfinite(frame.time) && frame.time > player->lastTime;
    return isKnown ? frame.time : player->lastTime;
}

static void initState(rbPlayer* player)
{
    const rbRecordingInfo* info = &player->info;
    int64_t count = info->frameCount;
    double first = rbStore_GetFrameTime(player->store, 0);
    double end = findEnd(player);
    double duration = end - first;
    rbPlayState* state = &player->state;
    state->speed = duration > 0.0 ? rbChooseSpeed(duration) : 1.0;
    state->frameStep = count > 1 ? duration / (double)(count - 1) : 0.0;
    if (info->condition != RB_RECORDING_COMPLETE) {
        (void)snprintf(state->sentence, sizeof state->sentence,
                       "the recording is %s: it ends at t = %.6g s; the intact part is shown",
                       info->condition == RB_RECORDING_CUT_OFF ? "cut off" : "damaged", end);
    }
    showTime(player, first);
    sendState(player);
}

static bool tick(void* object)
{
    rbPlayer* player = object;
    if (isReading(player)) {
        readMore(player, READING_TIME, -INFINITY, 0);
        sendState(player); // with the end of what was read
    }
    if (!player->state.isPlaying) {
        return isReading(player);
    }
    double elapsed = rbGetWallTime() - player->wallTime;
    showTime(player, player->playTime + elapsed * player->state.speed);
    if (player->playTime >= rbStore_GetEndTime(player->store) && !isReading(player)) {
        if (player->state.isLooping) {
            showTime(player, -INFINITY);
        } else {
            player->state.isPlaying = false;
            player->state.hasEnded = true;
        }
        sendState(player);
    }
    return player->state.isPlaying || isReading(player);
}

static double getPause(void* object)
{
    (void)object;
    return 1.0 / TICKS_PER_SECOND;
}

// ------------------------------------------------------------------------------------ commands

// NULL: done; otherwise the reason why not.
typedef const char* CommandFn(rbPlayer* player, const json_t* command);

static const char* play(rbPlayer* player, const json_t* command)
{
    (void)command;
    bool isAtEnd = player->playTime >= rbStore_GetEndTime(player->store) && !isReading(player);
    showTime(player, isAtEnd ? -INFINITY : player->playTime);
    player->state.isPlaying = true;
    player->state.hasEnded = false;
    player->hasStarted = true;
    return NULL;
}

// A page shows it: the clock starts with the first of them.
static const char* ready(rbPlayer* player, const json_t* command)
{
    return player->hasStarted ? NULL : play(player, command);
}

static const char* setLoop(rbPlayer* player, const json_t* command)
{
    const json_t* isOn = json_object_get(command, "on");
    if (!json_is_boolean(isOn)) {
        return "\"on\" must be true or false";
    }
    player->state.isLooping = json_is_true(isOn);
    return NULL;
}

static const char* pausePlaying(rbPlayer* player, const json_t* command)
{
    (void)command;
    player->state.isPlaying = false;
    player->hasStarted = true;
    return NULL;
}

// The frame shown.
static int64_t findShown(const rbStore* store)
{
    double time = rbStore_GetShownTime(store);
    int64_t low = 0;
    int64_t high = rbStore_GetFrameCount(store);
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (rbStore_GetFrameTime(store, middle) <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static const char* step(rbPlayer* player, const json_t* command)
{
    const json_t* requested = json_object_get(command, "count");
    double count = requested == NULL ? 1.0 : json_number_value(requested);
    if ((requested != NULL && !json_is_number(requested)) || !(fabs(count) <= 1e9)) {
        return "\"count\" must be a number of frames: an integer, negative to go back";
    }
    int64_t index = findShown(player->store) + (int64_t)count;
    index = index < 0 ? 0 : index;
    readMore(player, 0.0, -INFINITY, index + 1);
    int64_t last = rbStore_GetFrameCount(player->store) - 1;
    index = index > last ? last : index;
    player->state.isPlaying = false;
    showTime(player, rbStore_GetFrameTime(player->store, index));
    return NULL;
}

static const char* setSpeed(rbPlayer* player, const json_t* command)
{
    const json_t* factor = json_object_get(command, "factor");
    double speed = json_number_value(factor);
    if (!json_is_number(factor) || !(speed >= SPEED_MIN && speed <= SPEED_MAX)) {
        return "\"factor\" must be a number from 1e-6 to 1e6: recorded seconds per second";
    }
    showTime(player, player->playTime);
    player->state.speed = speed;
    return NULL;
}

static const char* seek(rbPlayer* player, const json_t* command)
{
    const json_t* time = json_object_get(command, "time");
    if (!json_is_number(time) || !isfinite(json_number_value(time))) {
        return "\"time\" must be a number of seconds";
    }
    player->state.hasEnded = false;
    readMore(player, 0.0, json_number_value(time), 0);
    showTime(player, json_number_value(time));
    return NULL;
}

static const char* reset(rbPlayer* player, const json_t* command)
{
    (void)command;
    player->state.isPlaying = false;
    showTime(player, -INFINITY);
    return NULL;
}

static const char* refuseSave(rbPlayer* player, const json_t* command)
{
    (void)player;
    (void)command;
    return "this is already a recording; copy its file";
}

static const struct {
    const char* name;
    CommandFn* run;
} commands[] = {{"play", play},       {"pause", pausePlaying}, {"step", step},
                {"speed", setSpeed},  {"seek", seek},          {"reset", reset},
                {"save", refuseSave}, {"ready", ready},        {"loop", setLoop}};

static const char* runCommand(rbPlayer* player, const json_t* command, bool* isKnown)
{
    const char* name = json_string_value(json_object_get(command, "do"));
    *isKnown = true;
    for (size_t i = 0; name != NULL && i < sizeof commands / sizeof commands[0]; ++i) {
        if (strcmp(name, commands[i].name) == 0) {
            return commands[i].run(player, command);
        }
    }
    for (int i = 0; name != NULL && rbGetActionName(i) != NULL; ++i) {
        if (strcmp(name, rbGetActionName(i)) == 0) {
            return "this is a recording: it can be played, but nothing in it can be changed; open "
                   "its scene to act";
        }
    }
    *isKnown = false;
    return "unknown command; a recording supports play, pause, step, speed, seek and reset";
}

#define ID_SIZE_MAX 256

static void command(void* object, int client, const char* text, size_t size, rbReply* reply)
{
    rbPlayer* player = object;
    (void)client;
    json_t* root =
        size <= RB_ACTION_SIZE_MAX ? json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!json_is_object(root)) {
        rbReply_Set(reply, NULL, "a command must be one JSON object, {\"do\": name, ...}");
        reply->isMalformed = true;
        json_decref(root);
        return;
    }
    bool isKnown;
    const char* trouble = runCommand(player, root, &isKnown);
    char id[ID_SIZE_MAX + 1];
    const json_t* given = json_object_get(root, "id");
    size_t length =
        given != NULL ? json_dumpb(given, id, ID_SIZE_MAX, JSON_COMPACT | JSON_ENCODE_ANY) : 0;
    bool hasId = length > 0 && length <= ID_SIZE_MAX;
    id[hasId ? length : 0] = '\0';
    rbReply_Set(reply, hasId ? id : NULL, trouble);
    reply->isMalformed = !isKnown;
    json_decref(root);
    sendState(player);
}

static void leaveClient(void* object, int client)
{
    (void)object;
    (void)client;
}

static rbStatus save(void* object, const char* path, rbError* error)
{
    (void)object;
    return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                       "'%.200s' is not written: a recording is shown, not a simulation", path);
}

static rbStore* getStore(void* object)
{
    return ((rbPlayer*)object)->store;
}

rbStatus rbMakeRecordingSimulation(rbRecording* recording, rbScene* scene, rbSimulation* simulation,
                                   rbError* error)
{
    rbError inner = {0};
    rbPlayer* player = rbAllocZero(1, sizeof *player);
    player->info = rbRecording_GetInfo(recording);
    player->lastTime = -INFINITY;
    player->recording = recording;
    player->scene = scene;
    player->world = rbScene_CreateWorld(scene, &inner);
    player->store = player->world != NULL ? rbCreateStore(scene, player->world, &inner) : NULL;
    rbStatus status = player->store != NULL ? RB_STATUS_OK : inner.status;
    if (status == RB_STATUS_OK) {
        status = addBodies(player, &inner);
    }
    if (status == RB_STATUS_OK) {
        rbStore_DropAfter(player->store, -INFINITY);
        status = readOn(player, OPENING_TIME, -INFINITY, 1, &inner);
    }
    if (status == RB_STATUS_OK && rbStore_GetFrameCount(player->store) == 0) {
        status = rbError_Set(&inner, RB_STATUS_INVALID, "the recording has no frame to show");
    }
    if (status != RB_STATUS_OK) {
        if (error != NULL) {
            *error = inner;
        }
        destroyPlayer(player);
        return status;
    }
    initState(player);
    *simulation = (rbSimulation){.object = player,
                                 .getStore = getStore,
                                 .command = command,
                                 .leaveClient = leaveClient,
                                 .tick = tick,
                                 .getPause = getPause,
                                 .save = save,
                                 .destroy = destroyPlayer,
                                 .kind = "recording"};
    return RB_STATUS_OK;
}
