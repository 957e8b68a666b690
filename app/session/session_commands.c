// Commands of clients: the table of those that control the session, and replies.
#include "io/scene/nearest_name.h"
#include "session/session_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 10000.0 // frames by one command
#define SPEED_MIN 1e-9
#define SPEED_MAX 1e9
#define ID_MAX 64 // characters of the id of a command

// ----------------------------------------------------------------------------------------- replies

// JSON text of a string; bytes that are not UTF-8 (a truncated name) become question marks.
static char* quote(const char* text)
{
    json_t* string = json_string(text);
    if (string == NULL) {
        char plain[sizeof((rbError*)0)->message];
        (void)snprintf(plain, sizeof plain, "%s", text);
        for (char* c = plain; *c != '\0'; ++c) {
            *c = (char)((unsigned char)*c < 0x80 ? *c : '?');
        }
        string = json_string(plain);
    }
    char* quoted = json_dumps(string, JSON_ENCODE_ANY);
    json_decref(string);
    return quoted;
}

void rbReply_Set(rbReply* reply, const char* idJson, const char* error)
{
    char* quoted = quote(error != NULL ? error : "");
    bool isFit = quoted != NULL && strlen(quoted) < RB_REPLY_SIZE - ID_MAX - 64;
    reply->isOk = error == NULL;
    int size = snprintf(reply->text, sizeof reply->text,
                        "{\"type\":\"reply\",\"id\":%s,\"ok\":%s,\"error\":%s}",
                        idJson != NULL && strlen(idJson) <= ID_MAX ? idJson : "null",
                        error == NULL ? "true" : "false", isFit ? quoted : "\"refused\"");
    reply->size = (size_t)size;
    RB_ASSERT(reply->size < sizeof reply->text);
    free(quoted); // jansson's
}

// ---------------------------------------------------------------------------------------- commands

typedef struct CommandFields {
    const char* name;
    const json_t* id;
    double factor;
    double time;
    int64_t count;
    bool isOn;
} CommandFields;

typedef rbStatus CommandFn(rbSession* session, const CommandFields* fields, rbError* error);

static rbStatus play(rbSession* session, const CommandFields* fields, rbError* error)
{
    (void)fields;
    (void)error;
    session->hasStarted = true;
    if (!session->isPlaying) {
        session->isPlaying = true;
        session->hasEnded = false;
        // Beyond the end of the scene there is no other.
        if (rbWorld_GetTime(session->world) >= session->stopTime && !session->isLooping) {
            session->stopTime = INFINITY;
        }
        rbSession_Say(session, "");
        rbSession_RestartPace(session);
    }
    return RB_STATUS_OK;
}

// A page shows the scene: the clock starts with the first of them, so that nobody misses the start.
static rbStatus ready(rbSession* session, const CommandFields* fields, rbError* error)
{
    return session->hasStarted ? RB_STATUS_OK : play(session, fields, error);
}

// At the end of the duration, or where it is now if that is later, it begins again.
static rbStatus setLoop(rbSession* session, const CommandFields* fields, rbError* error)
{
    (void)error;
    double duration = rbScene_GetInfo(session->scene)->duration;
    session->isLooping = fields->isOn;
    if (session->isLooping && !isfinite(session->stopTime)) {
        session->stopTime = fmax(duration, rbWorld_GetTime(session->world));
    }
    return RB_STATUS_OK;
}

static rbStatus undo(rbSession* session, const CommandFields* fields, rbError* error)
{
    (void)fields;
    return rbSession_Undo(session, error);
}

static rbStatus redo(rbSession* session, const CommandFields* fields, rbError* error)
{
    (void)fields;
    return rbSession_Redo(session, error);
}

static rbStatus pauseSession(rbSession* session, const CommandFields* fields, rbError* error)
{
    (void)fields;
    (void)error;
    session->hasStarted = true;
    rbSession_Pause(session);
    return RB_STATUS_OK;
}

static rbStatus step(rbSession* session, const CommandFields* fields, rbError* error)
{
    (void)error;
    rbSession_Pause(session);
    rbSession_Say(session, "");
    session->hasStarted = true;
    session->hasEnded = false;
    session->stepsLeft = fields->count;
    rbSession_RestartPace(session);
    return RB_STATUS_OK;
}

static rbStatus setSpeed(rbSession* session, const CommandFields* fields, rbError* error)
{
    (void)error;
    session->speed = fields->factor;
    rbSession_RestartPace(session);
    return RB_STATUS_OK;
}

static rbStatus seek(rbSession* session, const CommandFields* fields, rbError* error)
{
    if (session->isInFrame) {
        rbSession_EndFrame(session);
    }
    if (!rbStore_Show(session->store, fields->time)) {
        return rbError_Set(error, RB_STATUS_NOT_FOUND, "seek: there is no frame yet");
    }
    if (session->hasEnded && rbSession_IsRewound(session)) {
        session->hasEnded = false;
        rbSession_Say(session, "");
    }
    rbSession_RestartPace(session);
    return RB_STATUS_OK;
}

static rbStatus reset(rbSession* session, const CommandFields* fields, rbError* error)
{
    (void)fields;
    rbSession_Pause(session);
    if (!rbSession_Reset(session, error)) {
        return error->status;
    }
    rbSession_ShowParameters(session);
    rbSession_RestartPace(session);
    return RB_STATUS_OK;
}

static rbStatus save(rbSession* session, const CommandFields* fields, rbError* error)
{
    (void)fields;
    if (session->recordingPath == NULL) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "save: this session has no recording file; start it with 'rattleback view "
            "SCENE --record FILE'");
    }
    return rbSession_SaveRecording(session, session->recordingPath, error);
}

#define AT(member) .offset = offsetof(CommandFields, member)
#define COMMON                                                         \
    {"do", RB_VALUE_STRING, AT(name), .isRequired = true, .unit = ""}, \
    {                                                                  \
        "id", RB_VALUE_ANY, AT(id), .unit = ""                         \
    }

static const rbKey plainKeys[] = {COMMON};
static const rbKey stepKeys[] = {
    COMMON,
    {"count", RB_VALUE_INTEGER, AT(count), .low = 1.0, .high = STEPS_MAX, .unit = ""},
};
static const rbKey speedKeys[] = {
    COMMON,
    {"factor", RB_VALUE_NUMBER, AT(factor), .isRequired = true, .low = SPEED_MIN, .high = SPEED_MAX,
     .unit = ""},
};
static const rbKey loopKeys[] = {
    COMMON,
    {"on", RB_VALUE_BOOLEAN, AT(isOn), .isRequired = true, .unit = ""},
};
static const rbKey seekKeys[] = {
    COMMON,
    {"time", RB_VALUE_NUMBER, AT(time), .isRequired = true, .low = -1e15, .high = 1e15,
     .unit = "s"},
};

typedef struct CommandRow {
    rbObjectKind kind;
    CommandFn* run;
} CommandRow;

#define ROW(text, keys, function)                                                             \
    {                                                                                         \
        {text, "\"" text "\"", keys, (int)(sizeof(keys) / sizeof((keys)[0])), NULL}, function \
    }

static const CommandRow rows[] = {
    ROW("play", plainKeys, play),   ROW("pause", plainKeys, pauseSession),
    ROW("step", stepKeys, step),    ROW("speed", speedKeys, setSpeed),
    ROW("seek", seekKeys, seek),    ROW("reset", plainKeys, reset),
    ROW("save", plainKeys, save),   ROW("ready", plainKeys, ready),
    ROW("loop", loopKeys, setLoop), ROW("undo", plainKeys, undo),
    ROW("redo", plainKeys, redo),
};
#define ROW_COUNT ((int)(sizeof rows / sizeof rows[0]))

// Names of all commands, for suggestions: these, those of the server, the actions.
static const char* getCommandName(int index, const void* context)
{
    static const char* const others[] = {"select", "overlays", "open", "close"};
    int otherCount = (int)(sizeof others / sizeof others[0]);
    (void)context;
    if (index < ROW_COUNT) {
        return rows[index].kind.name;
    }
    return index < ROW_COUNT + otherCount ? others[index - ROW_COUNT]
                                          : rbGetActionName(index - ROW_COUNT - otherCount);
}

static int countCommands(void)
{
    int count = ROW_COUNT;
    while (getCommandName(count, NULL) != NULL) {
        count += 1;
    }
    return count;
}

static bool isAction(const char* name)
{
    for (int i = 0; rbGetActionName(i) != NULL; ++i) {
        if (strcmp(rbGetActionName(i), name) == 0) {
            return true;
        }
    }
    return false;
}

static rbStatus runRow(rbSession* session, const CommandRow* row, const json_t* root,
                       rbError* error)
{
    CommandFields fields = {.count = 1, .factor = 1.0};
    rbReader reader = {.error = error, .file = ""};
    rbStatus status = rbReadFields(&reader, root, &row->kind, &fields);
    if (status != RB_STATUS_OK) {
        char message[sizeof error->message];
        (void)snprintf(message, sizeof message, "%s: %.480s", row->kind.name, error->message);
        return rbError_Set(error, status, "%s", message);
    }
    status = row->run(session, &fields, error);
    rbSession_ShowState(session, false);
    return status;
}

static rbStatus runCommand(rbSession* session, int client, json_t* root, rbReply* reply,
                           rbError* error)
{
    const char* name = json_string_value(json_object_get(root, "do"));
    if (name == NULL) {
        reply->isMalformed = true;
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "a command must be a JSON object with the key \"do\", {\"do\": \"play\"}");
    }
    for (int i = 0; i < ROW_COUNT; ++i) {
        if (strcmp(rows[i].kind.name, name) == 0) {
            return runRow(session, &rows[i], root, error);
        }
    }
    if (isAction(name)) {
        (void)json_object_del(root, "id");
        return rbSession_Act(session, client, root, error);
    }
    char hint[96];
    reply->isMalformed = true;
    return rbError_Set(error, RB_STATUS_NOT_FOUND, "there is no command \"%.40s\"%s", name,
                       rbSuggest(hint, sizeof hint,
                                 rbFindNearestName(name, getCommandName, countCommands(), NULL)));
}

// The id that a client may put into its command, as JSON; NULL: none to return.
static char* takeId(const json_t* root)
{
    const json_t* id = json_object_get(root, "id");
    bool isFine = json_is_number(id) || (json_is_string(id) && json_string_length(id) <= 32);
    return isFine ? json_dumps(id, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;
}

void rbSession_Command(rbSession* session, int client, const char* text, size_t size,
                       rbReply* reply)
{
    RB_ASSERT(session != NULL && reply != NULL);
    static const rbJsonLimits limits = {RB_ACTION_DEPTH_MAX,
                                        "a command is a JSON object, {\"do\": \"play\"}"};
    rbError error = {0};
    reply->isMalformed = false;
    if (size > RB_ACTION_SIZE_MAX) {
        reply->isMalformed = true;
        rbReply_Set(reply, NULL, "the message is larger than 65536 bytes; send less at a time");
        return;
    }
    json_t* root = rbParseJson(text, size, &limits, &error);
    if (root == NULL) {
        reply->isMalformed = true;
        rbReply_Set(reply, NULL, error.message);
        return;
    }
    char* id = takeId(root);
    rbStatus status = runCommand(session, client, root, reply, &error);
    rbReply_Set(reply, id, status == RB_STATUS_OK ? NULL : error.message);
    free(id); // jansson's
    json_decref(root);
}
