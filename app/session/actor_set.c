// Changes parameters while a world runs: a table of targets, each with the keys of scene files and
// their setters.
//
// A value is read by the key tables of the scene format, so it has the same name, range and error
// message as in a file; null stands for "no limit" where a limit may be absent.
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"
#include "session/actor_state.h"
#include "world/world_engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A key that may be null, and its meaning in that case.
typedef struct NullKey {
    const char* key;
    double value;
} NullKey;

// True if the value is null and the key allows it: *number is set.
static bool takeNull(const rbActionCommand* command, const NullKey* keys, int count, double* number)
{
    for (int i = 0; i < count && json_is_null(command->fields->value); ++i) {
        if (strcmp(keys[i].key, command->fields->key) == 0) {
            *number = keys[i].value;
            return true;
        }
    }
    return false;
}

static rbStatus setWorld(const rbActionCommand* command, json_t* object)
{
    rbWorldDef def = {.gravity = rbWorld_GetGravity(command->world)};
    rbStatus status = rbReadFields(command->reader, object, &rbWorldKeys, &def);
    return status == RB_STATUS_OK
               ? rbWorld_SetGravity(command->world, def.gravity, command->reader->error)
               : status;
}

static rbStatus needStepEngine(const rbActionCommand* command)
{
    rbEngineType engine = rbWorld_GetEngineType(command->world);
    return rbEngineType_GetTraits(engine).isStepped
               ? RB_STATUS_OK
               : rbActionCommand_Fail(
                     command, "the engine of this world is \"%s\"; \"%s\" belongs to \"step\"",
                     rbEngineType_Name(engine), command->fields->target);
}

static rbStatus setStep(const rbActionCommand* command, json_t* object)
{
    rbStepSettings step = rbWorld_GetStepSettings(command->world);
    rbContactSettings contact = rbWorld_GetContactSettings(command->world);
    rbAccuracy before = step.accuracy;
    rbStatus status = needStepEngine(command);
    if (status == RB_STATUS_OK) {
        status = rbReadStepSettings(command->reader, object, &step, &contact);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbError* error = command->reader->error;
    return step.accuracy != before ? rbWorld_SetSettings(command->world, &step, &contact, error)
                                   : rbWorld_SetStepSettings(command->world, &step, error);
}

static rbStatus setContact(const rbActionCommand* command, json_t* object)
{
    rbContactSettings settings = rbWorld_GetContactSettings(command->world);
    rbStatus status = needStepEngine(command);
    if (status == RB_STATUS_OK) {
        status = rbReadContactSettings(command->reader, object, &settings);
    }
    return status == RB_STATUS_OK
               ? rbWorld_SetContactSettings(command->world, &settings, command->reader->error)
               : status;
}

// --------------------------------------------------------------------------------------- materials

// The shape of one body with another value of a key.
static rbStatus setShape(const rbActionCommand* command, const json_t* object, rbBodyId bodyId,
                         int shape)
{
    rbMaterial material = rbBody_GetShape(command->world, bodyId, shape).material;
    rbStatus status = rbReadMaterialFields(command->reader, object, &material);
    return status == RB_STATUS_OK ? rbBody_SetMaterial(command->world, bodyId, shape, &material,
                                                       command->reader->error)
                                  : status;
}

// Which material of the scene a shape has; -1: none of them.
static int findMaterial(const rbActor* actor, int number, int shape)
{
    if (number < actor->sceneBodyCount) {
        return rbScene_GetShapeMaterial(actor->scene, number, shape);
    }
    for (int i = 0; i < actor->uses.count; ++i) {
        const rbMaterialUse* use = &actor->uses.data[i];
        if (use->shape == shape && RB_ID_EQUALS(use->bodyId, actor->bodies.data[number])) {
            return use->material;
        }
    }
    return -1;
}

// Walks all shapes that have a material, starting at *number and *shape.
static bool findUser(const rbActor* actor, const rbWorld* world, int material, int* number,
                     int* shape)
{
    for (; *number < actor->bodies.count; *number += 1, *shape = 0) {
        rbBodyId bodyId = actor->bodies.data[*number];
        int count = RB_IS_NULL(bodyId) ? 0 : rbBody_GetShapeCount(world, bodyId);
        for (; *shape < count; *shape += 1) {
            if (findMaterial(actor, *number, *shape) == material) {
                return true;
            }
        }
    }
    return false;
}

rbMaterial rbActor_GetMaterial(const rbActor* actor, const rbWorld* world, int index)
{
    const char* name = NULL;
    int number = 0;
    int shape = 0;
    return findUser(actor, world, index, &number, &shape)
               ? rbBody_GetShape(world, actor->bodies.data[number], shape).material
               : *rbScene_GetMaterial(actor->scene, index, &name);
}

void rbActor_NoteMaterials(rbActor* actor, rbWorld* world, rbBodyId bodyId)
{
    for (int shape = 0; shape < rbBody_GetShapeCount(world, bodyId); ++shape) {
        rbMaterial own = rbBody_GetShape(world, bodyId, shape).material;
        int index = rbScene_MatchMaterial(actor->scene, &own);
        if (index < 0) {
            continue;
        }
        rbMaterial now = rbActor_GetMaterial(actor, world, index);
        if (rbScene_MatchMaterial(actor->scene, &now) != index) {
            (void)rbBody_SetMaterial(world, bodyId, shape, &now, NULL);
        }
        rbArray_Push(actor->uses, ((rbMaterialUse){bodyId, shape, index}));
    }
}

static const char* getMaterialName(int index, const void* context)
{
    const char* name = NULL;
    (void)rbScene_GetMaterial(context, index, &name);
    return name;
}

static rbStatus setMaterial(const rbActionCommand* command, json_t* object)
{
    const rbActor* actor = command->actor;
    const char* name = json_string_value(command->fields->object);
    int count = rbScene_GetInfo(actor->scene)->materialCount;
    char hint[96];
    int index = 0;
    if (name == NULL) {
        return rbActionCommand_Fail(command, "a material must be named by \"name\", a string");
    }
    while (index < count && strcmp(getMaterialName(index, actor->scene), name) != 0) {
        index += 1;
    }
    if (index == count) {
        return rbActionCommand_Fail(
            command, "the scene has no material \"%.60s\"%s", name,
            rbActionCommand_Suggest(name, getMaterialName, count, actor->scene, hint));
    }
    int number = 0;
    int shape = 0;
    if (!findUser(actor, command->world, index, &number, &shape)) {
        return rbActionCommand_Fail(command, "no shape has the material \"%.60s\"", name);
    }
    rbStatus status = RB_STATUS_OK;
    do {
        status = setShape(command, object, actor->bodies.data[number], shape);
        // Shapes that differ in other settings may have accepted it before.
        command->actor->wasTouched = command->actor->wasTouched || status == RB_STATUS_OK;
        shape += 1;
    } while (status == RB_STATUS_OK && findUser(actor, command->world, index, &number, &shape));
    return status;
}

// Sets the mass, or a material property for all its shapes.
static rbStatus setBody(const rbActionCommand* command, json_t* object)
{
    rbActionCommand named = *command;
    rbActionFields fields = *command->fields;
    json_t* number = json_integer(fields.number);
    fields.body = fields.object != NULL ? fields.object : number;
    named.fields = &fields;
    rbBodyId bodyId = {0, 0};
    bool isMass = strcmp(fields.key, "mass") == 0;
    rbStatus status = rbActionCommand_FindBody(&named, isMass ? "given a mass" : NULL, &bodyId);
    if (status == RB_STATUS_OK && isMass) {
        rbBodyFields read = {.mass = 0.0};
        status = rbReadFields(command->reader, object, &rbBodyKeys, &read);
        if (status == RB_STATUS_OK) {
            status = rbBody_SetMass(command->world, bodyId, read.mass, command->reader->error);
        }
    } else if (status == RB_STATUS_OK) {
        int count = rbBody_GetShapeCount(command->world, bodyId);
        for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
            status = setShape(command, object, bodyId, i);
            command->actor->wasTouched = command->actor->wasTouched || status == RB_STATUS_OK;
        }
    }
    json_decref(number);
    return status;
}

// ----------------------------------------------------------------------------- joints and springs

static const char* getJointName(int index, const void* context)
{
    const rbActionCommand* command = context;
    rbJointId jointId = command->actor->joints.data[index];
    return rbJoint_IsValid(command->world, jointId) ? rbJoint_GetName(command->world, jointId) : "";
}

static rbStatus findJoint(const rbActionCommand* command, rbJointId* jointId)
{
    const rbActor* actor = command->actor;
    const char* name = json_string_value(command->fields->object);
    if (name != NULL) {
        char hint[96];
        *jointId = rbWorld_FindJoint(command->world, name);
        return !RB_IS_NULL(*jointId)
                   ? RB_STATUS_OK
                   : rbActionCommand_Fail(command, "there is no joint \"%.64s\"%s", name,
                                          rbActionCommand_Suggest(name, getJointName,
                                                                  actor->joints.count, command,
                                                                  hint));
    }
    int64_t number = command->fields->number;
    if (number >= actor->joints.count ||
        !rbJoint_IsValid(command->world, actor->joints.data[number])) {
        return rbActionCommand_Fail(command, "there is no joint number %d; the scene has %d",
                                    (int)number, actor->joints.count);
    }
    *jointId = actor->joints.data[number];
    return RB_STATUS_OK;
}

static rbStatus setLimit(const rbActionCommand* command, rbJointId jointId,
                         const rbFreedomFields* fields)
{
    rbLimitDef limit = {fields->lower, fields->upper, fields->restitution};
    return rbJoint_SetLimit(command->world, jointId, (int)command->fields->freedom, &limit,
                            command->reader->error);
}

// The limits of a freedom, its spring, damping and friction. Ball joints have limits only.
static rbStatus setJoint(const rbActionCommand* command, json_t* object)
{
    static const NullKey nulls[] = {{"lower", -INFINITY}, {"upper", INFINITY}};
    static const char* const limitKeys[] = {"lower", "upper", "restitution"};
    int freedom = (int)command->fields->freedom;
    rbJointId jointId = {0, 0};
    rbStatus status = findJoint(command, &jointId);
    if (status != RB_STATUS_OK) {
        return status;
    }
    bool isLimit = false;
    for (size_t i = 0; i < sizeof limitKeys / sizeof limitKeys[0]; ++i) {
        isLimit = isLimit || strcmp(limitKeys[i], command->fields->key) == 0;
    }
    bool hasFreedom = freedom < rbJoint_GetState(command->world, jointId).freedomCount;
    if (!isLimit && !hasFreedom) {
        return rbActionCommand_Fail(command, "joint \"%s\" has no freedom number %d",
                                    rbJoint_GetName(command->world, jointId), freedom);
    }
    rbLimitDef limit = rbJoint_GetLimit(command->world, jointId, freedom);
    rbFreedomDef def = {0};
    if (hasFreedom) {
        def = rbJoint_GetFreedom(command->world, jointId, freedom);
    }
    rbFreedomFields fields = {def.stiffness, def.rest,    def.damping,       def.friction,
                              limit.lower,   limit.upper, limit.restitution, NULL};
    if (!takeNull(command, &nulls[0], 1, &fields.lower) &&
        !takeNull(command, &nulls[1], 1, &fields.upper)) {
        status = rbReadFields(command->reader, object, &rbFreedomKeys, &fields);
    }
    if (status != RB_STATUS_OK || isLimit) {
        return status == RB_STATUS_OK ? setLimit(command, jointId, &fields) : status;
    }
    def.stiffness = fields.stiffness;
    def.rest = fields.rest;
    def.damping = fields.damping;
    def.friction = fields.friction;
    return rbJoint_SetFreedom(command->world, jointId, freedom, &def, command->reader->error);
}

static rbStatus findMotor(const rbActionCommand* command, rbJointId* jointId)
{
    int freedom = (int)command->fields->freedom;
    rbStatus status = findJoint(command, jointId);
    if (status == RB_STATUS_OK &&
        (freedom >= rbJoint_GetState(command->world, *jointId).freedomCount ||
         rbJoint_GetFreedom(command->world, *jointId, freedom).motor.type == RB_MOTOR_NONE)) {
        return rbActionCommand_Fail(command, "joint \"%s\" has no motor on freedom %d",
                                    rbJoint_GetName(command->world, *jointId), freedom);
    }
    return status;
}

static rbStatus setMotor(const rbActionCommand* command, json_t* object)
{
    static const NullKey nulls[] = {{"forceMax", INFINITY}};
    int freedom = (int)command->fields->freedom;
    rbJointId jointId = {0, 0};
    rbStatus status = findMotor(command, &jointId);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbFreedomDef def = rbJoint_GetFreedom(command->world, jointId, freedom);
    rbMotorDef* motor = &def.motor;
    rbMotorFields fields = {.gain = motor->gain,
                            .integralTime = motor->integralTime,
                            .derivativeTime = motor->derivativeTime,
                            .window = motor->window,
                            .forceMax = motor->forceMax,
                            .target = motor->target};
    // the table of keys asks for it
    (void)json_object_set_new(object, "type", json_string(rbMotorType_Name(motor->type)));
    if (!takeNull(command, nulls, 1, &fields.forceMax)) {
        status = rbReadFields(command->reader, object, &rbMotorKeys, &fields);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (strcmp(command->fields->key, "target") == 0) {
        return rbJoint_SetMotorTarget(command->world, jointId, freedom, fields.target,
                                      command->reader->error);
    }
    motor->gain = fields.gain;
    motor->integralTime = fields.integralTime;
    motor->derivativeTime = fields.derivativeTime;
    motor->window = fields.window;
    motor->forceMax = fields.forceMax;
    return rbJoint_SetFreedom(command->world, jointId, freedom, &def, command->reader->error);
}

static const char* getSpringName(int index, const void* context)
{
    const rbActionCommand* command = context;
    rbSpringId springId = command->actor->springs.data[index];
    return rbSpring_IsValid(command->world, springId) ? rbSpring_GetName(command->world, springId)
                                                      : "";
}

static rbStatus setSpring(const rbActionCommand* command, json_t* object)
{
    const rbActor* actor = command->actor;
    const char* name = json_string_value(command->fields->object);
    int64_t number = command->fields->number;
    rbSpringId springId = {0, 0};
    if (name != NULL) {
        springId = rbWorld_FindSpring(command->world, name);
    } else if (number < actor->springs.count &&
               rbSpring_IsValid(command->world, actor->springs.data[number])) {
        springId = actor->springs.data[number];
    }
    if (RB_IS_NULL(springId)) {
        char hint[96] = "";
        if (name != NULL) {
            (void)rbActionCommand_Suggest(name, getSpringName, actor->springs.count, command, hint);
            return rbActionCommand_Fail(command, "there is no spring \"%.64s\"%s", name, hint);
        }
        return rbActionCommand_Fail(command, "there is no spring number %d; the scene has %d",
                                    (int)number, actor->springs.count);
    }
    rbSpringDef def = rbSpring_GetDef(command->world, springId);
    rbSpringFields fields = {
        .restLength = def.restLength, .stiffness = def.stiffness, .damping = def.damping};
    rbStatus status = rbReadFields(command->reader, object, &rbSpringKeys, &fields);
    return status == RB_STATUS_OK
               ? rbSpring_SetLaw(command->world, springId, fields.stiffness, fields.damping,
                                 fields.restLength, command->reader->error)
               : status;
}

// ------------------------------------------------------------------------------------------- table

typedef struct SetTarget {
    const char* name;
    rbStatus (*set)(const rbActionCommand* command, json_t* object); // {key: value}
    const char* keys; // that can be changed, each with a space before and after; NULL: all
} SetTarget;

static const SetTarget targets[] = {
    {"world", setWorld, " gravity "},
    {"step", setStep, NULL},
    {"contact", setContact, NULL},
    {"material", setMaterial, NULL},
    {"body", setBody, " mass density restitution friction stiction rolling spinning "},
    {"joint", setJoint, " stiffness rest damping friction lower upper restitution "},
    {"motor", setMotor, " target gain integralTime derivativeTime window forceMax "},
    {"spring", setSpring, " stiffness damping restLength "},
};
#define TARGET_COUNT ((int)(sizeof targets / sizeof targets[0]))

static const char* getTargetName(int index, const void* context)
{
    (void)context;
    return targets[index].name;
}

static bool isKnown(const SetTarget* target, const char* key)
{
    char word[80];
    (void)snprintf(word, sizeof word, " %.60s ", key);
    return target->keys == NULL || strstr(target->keys, word) != NULL;
}

rbStatus rbSetCommand(const rbActionCommand* command)
{
    const rbActionFields* f = command->fields;
    char hint[96];
    int index = 0;
    while (index < TARGET_COUNT && strcmp(targets[index].name, f->target) != 0) {
        index += 1;
    }
    if (index == TARGET_COUNT) {
        return rbActionCommand_Fail(
            command,
            "there is no target \"%.40s\"%s; world, step, contact, material, body, "
            "joint, motor and spring are known",
            f->target, rbActionCommand_Suggest(f->target, getTargetName, TARGET_COUNT, NULL, hint));
    }
    if (!isKnown(&targets[index], f->key)) {
        return rbActionCommand_Fail(command,
                                    "the key \"%.60s\" of a %s cannot be set; these can:%s", f->key,
                                    f->target, targets[index].keys);
    }
    json_t* object = json_object();
    (void)json_object_set(object, f->key, (json_t*)f->value);
    rbStatus status = targets[index].set(command, object);
    json_decref(object);
    return status;
}
