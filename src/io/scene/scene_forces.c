// Forces of a scene: a table of types with their keys.
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <stdio.h>
#include <string.h>

typedef struct ForceRow {
    rbForceType type;
    const rbObjectKind* kind;
} ForceRow;

static const ForceRow rows[] = {
    {RB_FORCE_CONSTANT, &rbForceConstantKeys},
    {RB_FORCE_DRAG, &rbForceDragKeys},
    {RB_FORCE_CENTRAL, &rbForceCentralKeys},
};
#define ROW_COUNT ((int)(sizeof rows / sizeof rows[0]))

static const char* getRowName(int index, const void* context)
{
    (void)context;
    return rbForceType_Name(rows[index].type);
}

static const ForceRow* findRow(rbReader* reader, const json_t* json)
{
    const json_t* type = json_object_get(json, "type");
    const char* word = json_is_string(type) ? json_string_value(type) : "";
    for (int i = 0; i < ROW_COUNT; ++i) {
        if (strcmp(getRowName(i, NULL), word) == 0) {
            return &rows[i];
        }
    }
    char hint[96];
    const char* nearest = rbFindNearestName(word, getRowName, ROW_COUNT, NULL);
    rbReader_Push(reader, "type");
    (void)rbReader_Fail(reader, RB_STATUS_INVALID,
                        "unknown type of force \"%.60s\"%s; known are \"constant\", \"drag\" and "
                        "\"central\"",
                        word, rbSuggest(hint, sizeof hint, nearest));
    return NULL;
}

// The body of a force must be there and dynamic.
static rbStatus resolveBody(const rbScene* scene, rbReader* reader, const char* name,
                            rbSceneForce* force)
{
    RB_ASSERT(name != NULL);
    RB_ASSERT(force->body == -1);
    rbReader_Push(reader, "body");
    if (!rbScene_FindBody(scene, name, &force->body, &force->copy)) {
        char hint[96];
        return rbReader_Fail(reader, RB_STATUS_NOT_FOUND, "there is no body \"%.60s\"%s", name,
                             rbSuggest(hint, sizeof hint, rbScene_GetNearestBody(scene, name)));
    }
    if (scene->bodies.data[force->body].type != RB_BODY_DYNAMIC) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "the body \"%.60s\" is not dynamic: forces do not move it", name);
    }
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

static rbStatus readForce(rbScene* scene, rbReader* reader, const json_t* json)
{
    RB_ASSERT(scene->info.forceCount <= RB_SCENE_FORCES_MAX);
    const ForceRow* row = findRow(reader, json);
    if (row == NULL) {
        return RB_STATUS_INVALID;
    }
    rbForceFields fields = {0};
    rbStatus status = rbReadFields(reader, json, row->kind, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbSceneForce force = {.def = rbDefaultForceDef(), .body = -1, .copy = -1};
    force.def.type = row->type;
    force.def.force = fields.force;
    force.def.torque = fields.torque;
    force.def.linear = fields.linear;
    force.def.quadratic = fields.quadratic;
    force.def.angular = fields.angular;
    force.def.center = fields.center;
    force.def.strength = fields.strength;
    if (fields.body != NULL) {
        status = resolveBody(scene, reader, fields.body, &force);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    bool isGroup = force.body >= 0 && force.copy < 0;
    scene->info.forceCount += isGroup ? scene->bodies.data[force.body].copyCount : 1;
    if (scene->info.forceCount > RB_SCENE_FORCES_MAX) {
        return rbReader_Fail(
            reader, RB_STATUS_LIMIT,
            "more than %d forces: leave \"body\" out to act on all bodies with one",
            RB_SCENE_FORCES_MAX);
    }
    rbArray_Push(scene->forces, force);
    return RB_STATUS_OK;
}

rbStatus rbReadForces(rbScene* scene, rbReader* reader, const json_t* array)
{
    RB_ASSERT(scene->forces.count == 0);
    if (json_array_size(array) > RB_SCENE_FORCE_ENTRIES_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT, "%zu forces; at most %d are accepted",
                             json_array_size(array), RB_SCENE_FORCE_ENTRIES_MAX);
    }
    for (size_t i = 0; i < json_array_size(array); ++i) {
        const json_t* json = json_array_get(array, i);
        rbReader_PushIndex(reader, i);
        rbStatus status = readForce(scene, reader, json);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_Pop(reader);
    }
    return RB_STATUS_OK;
}
