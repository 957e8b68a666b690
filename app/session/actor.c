// Applying actions to a world: the table of actions, numbers of bodies, and the simple ones.
//
// Every action is read by a table of its keys, validated, and only then applied.
#include "io/scene/nearest_name.h"
#include "io/scene/scene_keys.h"
#include "session/actor_state.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The limit of added bodies; each takes space in every frame of the history.
#define ADDED_BODIES_MAX 10000

// ------------------------------------------------------------------------------- life of an actor

rbActor* rbCreateActor(const rbScene* scene, const rbWorld* world)
{
    RB_ASSERT(scene != NULL && world != NULL);
    rbActor* actor = rbAllocZero(1, sizeof *actor);
    actor->scene = scene;
    int count = rbWorld_GetBodyCount(world);
    rbArray_Reserve(actor->bodies, count);
    actor->bodies.count = rbWorld_GetBodyIds(world, actor->bodies.data, count);
    actor->sceneBodyCount = actor->bodies.count;
    count = rbWorld_GetJointCount(world);
    rbArray_Reserve(actor->joints, count);
    actor->joints.count = rbWorld_GetJointIds(world, actor->joints.data, count);
    count = rbWorld_GetSpringCount(world);
    rbArray_Reserve(actor->springs, count);
    actor->springs.count = rbWorld_GetSpringIds(world, actor->springs.data, count);
    return actor;
}

void rbDestroyActor(rbActor* actor)
{
    if (actor == NULL) {
        return;
    }
    rbArray_Free(actor->bodies);
    rbArray_Free(actor->joints);
    rbArray_Free(actor->springs);
    rbArray_Free(actor->drags);
    rbArray_Free(actor->uses);
    rbFree(actor, sizeof *actor);
}

bool rbActor_WasTouched(const rbActor* actor)
{
    return actor->wasTouched;
}

bool rbActor_ChangedStructure(const rbActor* actor)
{
    return actor->hasOtherStructure;
}

int rbActor_CountStructures(const rbActor* actor)
{
    return actor->structureCount;
}

void rbActor_ForgetAllDrags(rbActor* actor)
{
    actor->drags.count = 0;
}

int rbActor_GetBodyCount(const rbActor* actor)
{
    return actor->bodies.count;
}

rbBodyId rbActor_GetBody(const rbActor* actor, int number)
{
    rbBodyId none = {0, 0};
    return number >= 0 && number < actor->bodies.count ? actor->bodies.data[number] : none;
}

int rbActor_FindBody(const rbActor* actor, rbBodyId bodyId)
{
    for (int i = 0; i < actor->bodies.count && !RB_IS_NULL(bodyId); ++i) {
        if (RB_ID_EQUALS(actor->bodies.data[i], bodyId)) {
            return i;
        }
    }
    return -1;
}

void rbActor_ReserveBodies(rbActor* actor, int count)
{
    actor->reserved = count > actor->reserved ? count : actor->reserved;
}

// ------------------------------------------------------------------------------------- complaints

bool rbActionCommand_HasKey(const rbActionCommand* command, const char* key)
{
    return json_object_get(command->root, key) != NULL;
}

rbStatus rbActionCommand_Fail(const rbActionCommand* command, const char* format, ...)
{
    char text[sizeof command->reader->error->message];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rbReader_Fail(command->reader, RB_STATUS_INVALID, "%s", text);
}

const char* rbActionCommand_Suggest(const char* word, rbCandidateFn* candidateFn, int count,
                                    const void* context, char hint[96])
{
    return rbSuggest(hint, 96, rbFindNearestName(word, candidateFn, count, context));
}

static const char* getBodyName(int index, const void* context)
{
    const rbActionCommand* command = context;
    rbBodyId bodyId = command->actor->bodies.data[index];
    return RB_IS_NULL(bodyId) ? "" : rbBody_GetName(command->world, bodyId);
}

// Finds a body by its number.
static rbStatus findNumbered(const rbActionCommand* command, double number, rbBodyId* bodyId)
{
    const rbActor* actor = command->actor;
    bool isNumber = number >= 0.0 && number < actor->bodies.count && floor(number) == number;
    *bodyId = rbActor_GetBody(actor, isNumber ? (int)number : -1);
    if (RB_IS_NULL(*bodyId)) {
        return rbActionCommand_Fail(
            command,
            "there is no body number %.10g; bodies have numbers 0 to %d, except "
            "deleted ones",
            number, actor->bodies.count - 1);
    }
    return RB_STATUS_OK;
}

rbStatus rbActionCommand_FindBody(const rbActionCommand* command, const char* verb,
                                  rbBodyId* bodyId)
{
    static const char* const typeNames[RB_BODY_TYPE_COUNT] = {"static", "kinematic", "dynamic"};
    const json_t* json = command->fields->body;
    rbStatus status = RB_STATUS_OK;
    if (json_is_string(json)) {
        const char* name = json_string_value(json);
        char hint[96];
        *bodyId = rbWorld_FindBody(command->world, name);
        if (RB_IS_NULL(*bodyId)) {
            return rbActionCommand_Fail(command, "there is no body \"%.64s\"%s", name,
                                        rbActionCommand_Suggest(name, getBodyName,
                                                                command->actor->bodies.count,
                                                                command, hint));
        }
    } else {
        status = findNumbered(command, json_number_value(json), bodyId);
    }
    if (status == RB_STATUS_OK && verb != NULL) {
        rbBodyType type = rbBody_GetType(command->world, *bodyId);
        if (type != RB_BODY_DYNAMIC) {
            return rbActionCommand_Fail(
                command, "body \"%s\" is %s and cannot be %s; choose a dynamic one",
                rbBody_GetName(command->world, *bodyId), typeNames[type], verb);
        }
    }
    return status;
}

// ------------------------------------------------------------------------------ push, spin, place

// Speeds beyond those accepted in scenes are mistakes.
static rbStatus validateSpeeds(const rbActionCommand* command, rbBodyId bodyId, rbVec3 linear,
                               rbVec3 angular)
{
    rbVec3 moments = rbBody_GetPrincipalMoments(command->world, bodyId, NULL);
    double least = fmin(moments.x, fmin(moments.y, moments.z));
    double speed = rbLength(linear) / rbBody_GetMass(command->world, bodyId).mass;
    double spin = rbLength(angular) / least;
    // written so that NaN and infinities fail
    if (!(speed <= RB_SCENE_SPEED_MAX) || !(spin <= RB_SCENE_SPEED_MAX)) {
        return rbActionCommand_Fail(command,
                                    "body \"%s\" would get %.3g m/s and %.3g rad/s; at most %g of "
                                    "both are accepted",
                                    rbBody_GetName(command->world, bodyId), speed, spin,
                                    RB_SCENE_SPEED_MAX);
    }
    return RB_STATUS_OK;
}

static rbStatus pushBody(const rbActionCommand* command)
{
    rbBodyId bodyId = {0, 0};
    rbStatus status = rbActionCommand_FindBody(command, "pushed", &bodyId);
    if (status != RB_STATUS_OK) {
        return status;
    }
    const rbActionFields* f = command->fields;
    rbVec3 arm = rbSub(f->point, rbBody_GetState(command->world, bodyId).center);
    status = validateSpeeds(command, bodyId, f->impulse, rbCross(arm, f->impulse));
    if (status == RB_STATUS_OK) {
        rbBody_ApplyImpulse(command->world, bodyId, f->impulse, f->point);
    }
    return status;
}

static rbStatus spinBody(const rbActionCommand* command)
{
    rbBodyId bodyId = {0, 0};
    rbStatus status = rbActionCommand_FindBody(command, "spun", &bodyId);
    if (status == RB_STATUS_OK) {
        status = validateSpeeds(command, bodyId, RB_VEC3_ZERO, command->fields->impulse);
    }
    if (status == RB_STATUS_OK) {
        rbBody_ApplyAngularImpulse(command->world, bodyId, command->fields->impulse);
    }
    return status;
}

static rbStatus placeBody(const rbActionCommand* command)
{
    rbBodyId bodyId = {0, 0};
    rbStatus status = rbActionCommand_FindBody(command, NULL, &bodyId);
    if (status != RB_STATUS_OK) {
        return status;
    }
    const rbActionFields* f = command->fields;
    rbBodyState old = rbBody_GetState(command->world, bodyId);
    rbTransform transform = {
        rbActionCommand_HasKey(command, "position") ? f->position : old.transform.p,
        rbActionCommand_HasKey(command, "orientation") ? f->orientation : old.transform.q};
    rbVec3 velocity =
        rbActionCommand_HasKey(command, "velocity") ? f->velocity : old.linearVelocity;
    rbVec3 spin = rbActionCommand_HasKey(command, "angularVelocity") ? f->angularVelocity
                                                                     : old.angularVelocity;
    command->actor->hasOtherStructure = rbBody_GetType(command->world, bodyId) != RB_BODY_DYNAMIC;
    status =
        rbBody_SetState(command->world, bodyId, transform, velocity, spin, command->reader->error);
    // When the engine restarts it may refuse the pose.
    if (status == RB_STATUS_OK) {
        status = rbWorld_Prepare(command->world, command->reader->error);
        if (status != RB_STATUS_OK) {
            command->actor->wasTouched = true;
            (void)rbBody_SetState(command->world, bodyId, old.transform, old.linearVelocity,
                                  old.angularVelocity, NULL);
        }
    }
    return status;
}

// ----------------------------------------------------------------------------------- add and
// delete

// The number is the one in the log, or the next.
static rbStatus chooseNumber(const rbActionCommand* command, int* number)
{
    const rbActor* actor = command->actor;
    int next = actor->bodies.count > actor->reserved ? actor->bodies.count : actor->reserved;
    *number = next;
    if (rbActionCommand_HasKey(command, "number")) {
        *number = (int)command->fields->number;
        if (*number < actor->bodies.count) {
            return rbActionCommand_Fail(command, "the number %d is already used; the next is %d",
                                        *number, next);
        }
    }
    if (*number >= actor->sceneBodyCount + ADDED_BODIES_MAX) {
        return rbActionCommand_Fail(command, "%d bodies have been added, which is the limit",
                                    *number - actor->sceneBodyCount);
    }
    return RB_STATUS_OK;
}

static rbStatus addBody(const rbActionCommand* command)
{
    rbActor* actor = command->actor;
    int number = 0;
    char name[32];
    if (!json_is_object(command->fields->body)) {
        return rbActionCommand_Fail(command,
                                    "\"body\" must be an object as in the \"bodies\" of a scene, "
                                    "{\"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1}]}");
    }
    rbStatus status = chooseNumber(command, &number);
    if (status != RB_STATUS_OK) {
        return status;
    }
    actor->hasOtherStructure = true;
    (void)snprintf(name, sizeof name, "added-%d", number);
    char* text = json_dumps(command->fields->body, JSON_COMPACT | JSON_REAL_PRECISION(17));
    RB_ASSERT(text != NULL);
    rbBodyId bodyId = rbScene_AddBody(actor->scene, command->world, text, strlen(text), name,
                                      command->reader->error);
    free(text); // jansson's
    if (RB_IS_NULL(bodyId)) {
        // A body whose shape the world refused existed briefly.
        actor->wasTouched = true;
        return command->reader->error->status;
    }
    rbActor_NoteMaterials(actor, command->world, bodyId);
    status = rbWorld_Prepare(command->world, command->reader->error);
    if (status != RB_STATUS_OK) {
        actor->wasTouched = true;
        rbDestroyBody(command->world, bodyId);
        return status;
    }
    while (actor->bodies.count < number) {
        rbArray_Push(actor->bodies, ((rbBodyId){0, 0}));
    }
    rbArray_Push(actor->bodies, bodyId);
    return RB_STATUS_OK;
}

static rbStatus deleteBody(const rbActionCommand* command)
{
    rbActor* actor = command->actor;
    rbBodyId bodyId = {0, 0};
    rbStatus status = rbActionCommand_FindBody(command, NULL, &bodyId);
    if (status != RB_STATUS_OK) {
        return status;
    }
    actor->hasOtherStructure = true;
    rbActor_ForgetDrags(actor, bodyId);
    actor->bodies.data[rbActor_FindBody(actor, bodyId)] = (rbBodyId){0, 0};
    for (int i = actor->uses.count - 1; i >= 0; --i) {
        if (RB_ID_EQUALS(actor->uses.data[i].bodyId, bodyId)) {
            actor->uses.data[i] = actor->uses.data[--actor->uses.count];
        }
    }
    rbDestroyBody(command->world, bodyId);
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------------ tables

#define AT(member) .offset = offsetof(rbActionFields, member)
#define RANGE(max, theUnit) .low = -(max), .high = (max), .unit = (theUnit)
#define COUNT(member) AT(member), .low = 0.0, .high = 2147483647.0, .unit = ""
#define NO_UNIT .unit = ""

#define COMMON                                                      \
    {"do", RB_VALUE_STRING, AT(name), .isRequired = true, NO_UNIT}, \
    {                                                               \
        "refused", RB_VALUE_ANY, AT(refused), NO_UNIT               \
    }
#define BODY                                                                     \
    {                                                                            \
        "body", RB_VALUE_STRING_OR_NUMBER, AT(body), .isRequired = true, NO_UNIT \
    }

static const rbKey pushKeys[] = {
    COMMON,
    BODY,
    {"point", RB_VALUE_VEC3, AT(point), .isRequired = true, RANGE(RB_SCENE_LENGTH_MAX, "m")},
    {"impulse", RB_VALUE_VEC3, AT(impulse), .isRequired = true, RANGE(RB_SCENE_LOAD_MAX, "N s")},
};
static const rbKey spinKeys[] = {
    COMMON,
    BODY,
    {"impulse", RB_VALUE_VEC3, AT(impulse), .isRequired = true, RANGE(RB_SCENE_LOAD_MAX, "N m s")},
};
static const rbKey dragStartKeys[] = {
    COMMON,
    BODY,
    {"point", RB_VALUE_VEC3, AT(point), RANGE(RB_SCENE_LENGTH_MAX, "m")},
    {"kind", RB_VALUE_STRING, AT(kind), NO_UNIT},
    {"forceMax", RB_VALUE_NUMBER, AT(forceMax), .low = 0.0, .isLowOpen = true,
     .high = RB_SCENE_LOAD_MAX, .unit = "N"},
    {"drag", RB_VALUE_INTEGER, .isRequired = true, COUNT(drag)},
};
static const rbKey dragMoveKeys[] = {
    COMMON,
    {"drag", RB_VALUE_INTEGER, .isRequired = true, COUNT(drag)},
    {"point", RB_VALUE_VEC3, AT(point), RANGE(RB_SCENE_LENGTH_MAX, "m")},
    {"position", RB_VALUE_VEC3, AT(position), RANGE(RB_SCENE_LENGTH_MAX, "m")},
    {"orientation", RB_VALUE_ORIENTATION, AT(orientation), NO_UNIT},
    {"duration", RB_VALUE_NUMBER, AT(duration), .low = 1e-9, .high = 1e3, .unit = "s"},
};
static const rbKey dragEndKeys[] = {
    COMMON,
    {"drag", RB_VALUE_INTEGER, .isRequired = true, COUNT(drag)},
};
static const rbKey placeKeys[] = {
    COMMON,
    BODY,
    {"position", RB_VALUE_VEC3, AT(position), RANGE(RB_SCENE_LENGTH_MAX, "m")},
    {"orientation", RB_VALUE_ORIENTATION, AT(orientation), NO_UNIT},
    {"velocity", RB_VALUE_VEC3, AT(velocity), RANGE(RB_SCENE_SPEED_MAX, "m/s")},
    {"angularVelocity", RB_VALUE_VEC3, AT(angularVelocity), RANGE(RB_SCENE_SPEED_MAX, "rad/s")},
};
static const rbKey addKeys[] = {
    COMMON,
    {"body", RB_VALUE_OBJECT, AT(body), .isRequired = true, NO_UNIT},
    {"number", RB_VALUE_INTEGER, COUNT(number)},
};
static const rbKey deleteKeys[] = {COMMON, BODY};
static const rbKey setKeys[] = {
    COMMON,
    {"target", RB_VALUE_STRING, AT(target), .isRequired = true, NO_UNIT},
    {"name", RB_VALUE_STRING_OR_NUMBER, AT(object), NO_UNIT},
    {"number", RB_VALUE_INTEGER, COUNT(number)},
    {"freedom", RB_VALUE_INTEGER, AT(freedom), .low = 0.0, .high = RB_JOINT_FREEDOMS_MAX - 1,
     NO_UNIT},
    {"key", RB_VALUE_STRING, AT(key), .isRequired = true, NO_UNIT},
    {"value", RB_VALUE_ANY, AT(value), .isRequired = true, NO_UNIT},
};

typedef struct ActionRow {
    rbObjectKind kind; // its name is that of the action
    rbActionCommandFn* run;
} ActionRow;

#define ROW(text, keys, function)                                                             \
    {                                                                                         \
        {text, "\"" text "\"", keys, (int)(sizeof(keys) / sizeof((keys)[0])), NULL}, function \
    }

static const ActionRow actionRows[] = {
    ROW("push", pushKeys, pushBody),
    ROW("spin", spinKeys, spinBody),
    ROW("drag-start", dragStartKeys, rbStartDragCommand),
    ROW("drag-move", dragMoveKeys, rbMoveDragCommand),
    ROW("drag-end", dragEndKeys, rbEndDragCommand),
    ROW("place", placeKeys, placeBody),
    ROW("add", addKeys, addBody),
    ROW("delete", deleteKeys, deleteBody),
    ROW("set", setKeys, rbSetCommand),
};
#define ROW_COUNT ((int)(sizeof actionRows / sizeof actionRows[0]))

const char* rbGetActionName(int index)
{
    return index >= 0 && index < ROW_COUNT ? actionRows[index].kind.name : NULL;
}

static const char* getRowName(int index, const void* context)
{
    (void)context;
    return actionRows[index].kind.name;
}

static const ActionRow* findRow(rbReader* reader, const json_t* root)
{
    const char* name = json_string_value(json_object_get(root, "do"));
    if (name == NULL) {
        (void)rbReader_Fail(
            reader, RB_STATUS_INVALID,
            "an action must be an object with the key \"do\", {\"do\": \"push\", ...}");
        return NULL;
    }
    for (int i = 0; i < ROW_COUNT; ++i) {
        if (strcmp(actionRows[i].kind.name, name) == 0) {
            return &actionRows[i];
        }
    }
    char hint[96];
    (void)rbReader_Fail(reader, RB_STATUS_NOT_FOUND, "there is no action \"%.40s\"%s", name,
                        rbActionCommand_Suggest(name, getRowName, ROW_COUNT, NULL, hint));
    return NULL;
}

// The location of an error within the command becomes part of its message.
static void putPlaceIntoMessage(rbError* error, const char* name)
{
    char message[sizeof error->message];
    char place[64];
    (void)snprintf(place, sizeof place, "%.60s", error->place[0] == '/' ? error->place + 1 : "");
    (void)snprintf(message, sizeof message, "%s%s%s: %.430s", name, place[0] != '\0' ? " " : "",
                   place, error->message);
    (void)rbError_Set(error, error->status, "%s", message);
    rbError_SetPlace(error, "", "");
}

static rbActionFields makeFields(void)
{
    rbActionFields fields = {.kind = "point", .forceMax = 0.0, .duration = 1.0 / 30.0};
    return fields;
}

rbStatus rbReadAction(const json_t* root, rbActionFields* fields, rbError* error)
{
    rbError inner = {0};
    rbReader reader = {.error = &inner, .file = ""};
    const ActionRow* row = findRow(&reader, root);
    rbStatus status = inner.status;
    *fields = makeFields();
    if (row != NULL) {
        status = rbReadFields(&reader, root, &row->kind, fields);
        if (status != RB_STATUS_OK) {
            putPlaceIntoMessage(&inner, row->kind.name);
        }
    }
    return status == RB_STATUS_OK ? status : rbError_Set(error, status, "%s", inner.message);
}

static rbStatus applyRow(const ActionRow* row, const rbActionCommand* given)
{
    rbActionFields fields = makeFields();
    rbActionCommand command = *given;
    command.fields = &fields;
    rbStatus status = rbReadFields(command.reader, command.root, &row->kind, &fields);
    return status == RB_STATUS_OK ? row->run(&command) : status;
}

rbStatus rbApplyAction(rbActor* actor, rbWorld* world, const char* text, rbError* error)
{
    RB_ASSERT(actor != NULL && world != NULL && text != NULL);
    static const rbJsonLimits limits = {RB_ACTION_DEPTH_MAX,
                                        "an action is a JSON object, {\"do\": \"push\", ...}"};
    rbError inner = {0};
    actor->wasTouched = false;
    actor->hasOtherStructure = false;
    size_t size = strlen(text);
    if (size > RB_ACTION_SIZE_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the action has %zu bytes; at most %d are accepted", size,
                           RB_ACTION_SIZE_MAX);
    }
    json_t* root = rbParseJson(text, size, &limits, &inner);
    if (root == NULL) {
        return rbError_Set(error, inner.status, "%s", inner.message);
    }
    rbReader reader = {.error = &inner, .file = ""};
    const ActionRow* row = findRow(&reader, root);
    rbStatus status = inner.status;
    if (row != NULL) {
        rbActionCommand command = {.actor = actor, .world = world, .root = root, .reader = &reader};
        status = applyRow(row, &command);
        if (status != RB_STATUS_OK) {
            putPlaceIntoMessage(&inner, row->kind.name);
        }
    }
    // An action that was refused when recorded must be refused again.
    if (json_is_true(json_object_get(root, "refused"))) {
        bool isSame = status != RB_STATUS_OK && actor->wasTouched;
        status =
            isSame
                ? RB_STATUS_OK
                : rbError_Set(&inner, RB_STATUS_INVALID,
                              "the action was refused when it was recorded, but is accepted now");
    }
    json_decref(root);
    actor->structureCount += actor->hasOtherStructure ? 1 : 0;
    return status == RB_STATUS_OK ? status : rbError_Set(error, status, "%s", inner.message);
}

// Advancing to the current time would already notify the engine of the actions so far: actions of
// one time are reported together, as originally.
static rbStepReport advance(rbWorld* world, double time)
{
    if (rbWorld_GetTime(world) < time) {
        return rbWorld_AdvanceTo(world, time);
    }
    rbStepReport report = {.time = rbWorld_GetTime(world),
                           .bodyCount = rbWorld_GetBodyCount(world),
                           .ledger = rbWorld_GetLedger(world)};
    return report;
}

rbStepReport rbAdvanceWithActions(rbActor* actor, rbWorld* world, const rbActions* actions,
                                  int* next, double time, rbError* error)
{
    rbStepReport missed = {.status = RB_STATUS_OK};
    while (*next < actions->count && actions->data[*next].time <= time) {
        const rbAction* action = &actions->data[*next];
        rbStepReport report = advance(world, action->time);
        if (rbWorld_GetTime(world) < action->time) {
            return report; // the engine does not come that far
        }
        missed = missed.status == RB_STATUS_OK ? report : missed;
        rbStatus status = rbApplyAction(actor, world, action->text, error);
        if (status != RB_STATUS_OK) {
            report.status = status;
            return report;
        }
        *next += 1;
    }
    rbStepReport report = advance(world, time);
    if (report.status == RB_STATUS_OK && missed.status == RB_STATUS_NUMERICAL) {
        report.status = missed.status;
        report.failedBody = missed.failedBody;
    }
    return report;
}
