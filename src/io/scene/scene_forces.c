// Forces of a scene, driven by the table of forces.
#include "dynamics/forces/force_table.h"
#include "io/scene/nearest_name.h"
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <stdio.h>
#include <string.h>

// Names of the forces that scenes have.
typedef struct Known {
    const char* names[RB_FORCE_COUNT + RB_REGISTERED_MAX];
    int count;
} Known;

static const char* getName(int index, const void* context)
{
    return ((const Known*)context)->names[index];
}

// Writes "constant", "drag" or "central".
static void listNames(const Known* known, char* text, size_t capacity)
{
    size_t used = 0;
    for (int i = 0; i < known->count && used < capacity; ++i) {
        const char* separator = i == 0 ? "" : i + 1 < known->count ? ", " : " or ";
        used +=
            (size_t)snprintf(text + used, capacity - used, "%s\"%s\"", separator, known->names[i]);
    }
}

static rbStatus findType(rbReader* reader, const json_t* json, rbForceType* type)
{
    const json_t* value = json_object_get(json, "type");
    const char* word = json_is_string(value) ? json_string_value(value) : "";
    Known known = {.count = 0};
    for (int i = 0; i < rbForceType_GetCount(); ++i) {
        const rbForceRow* row = rbGetForceRow((rbForceType)i);
        if (row->parameters != NULL && strcmp(row->name, word) == 0) {
            *type = (rbForceType)i;
            return RB_STATUS_OK;
        }
        if (row->parameters != NULL) {
            known.names[known.count++] = row->name;
        }
    }
    char hint[96];
    char list[240];
    const char* nearest = rbFindNearestName(word, getName, known.count, &known);
    listNames(&known, list, sizeof list);
    rbReader_Push(reader, "type");
    return rbReader_Fail(reader, RB_STATUS_INVALID,
                         "unknown force type \"%.60s\"%s" RB_MODULE_HINT "; expected %s", word,
                         rbSuggest(hint, sizeof hint, nearest), list);
}

// The body of a force must exist and be dynamic.
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
                             "the body \"%.60s\" is not dynamic: forces cannot move it", name);
    }
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

static rbStatus readForce(rbScene* scene, rbReader* reader, const json_t* json)
{
    RB_ASSERT(scene->info.forceCount <= RB_SCENE_FORCES_MAX);
    rbForceType type = RB_FORCE_COUNT;
    rbStatus status = findType(reader, json, &type);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbTableKind kind;
    rbForceFields fields = {.def = rbDefaultForceDef()};
    (void)rbMakeForceKind(type, &kind);
    status = rbReadFields(reader, json, &kind.kind, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbSceneForce force = {.def = fields.def, .body = -1, .copy = -1};
    force.def.type = type;
    if (fields.body != NULL) {
        status = resolveBody(scene, reader, fields.body, &force);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    bool isGroup = force.body >= 0 && force.copy < 0;
    scene->info.forceCount += isGroup ? scene->bodies.data[force.body].copyCount : 1;
    if (scene->info.forceCount > RB_SCENE_FORCES_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "more than %d forces: omit \"body\" to act on all bodies with one",
                             RB_SCENE_FORCES_MAX);
    }
    rbArray_Push(scene->forces, force);
    return RB_STATUS_OK;
}

rbStatus rbReadForces(rbScene* scene, rbReader* reader, const json_t* array)
{
    RB_ASSERT(scene->forces.count == 0);
    if (json_array_size(array) > RB_SCENE_FORCE_ENTRIES_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT, "%zu forces; the limit is %d",
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
