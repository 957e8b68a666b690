#include "io/scene/scene_look.h"

#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <stdio.h>
#include <string.h>

#define TEXTURE_SIZE 0.1 // m, if the scene does not say

static const char* const textureNames[] = {[RB_TEXTURE_NONE] = NULL,
                                           [RB_TEXTURE_PLAIN] = "plain",
                                           [RB_TEXTURE_CHECKER] = "checker",
                                           [RB_TEXTURE_STRIPES] = "stripes"};
_Static_assert(sizeof textureNames / sizeof textureNames[0] == RB_TEXTURE_COUNT, "a name for each");

const char* rbTextureType_Name(rbTextureType type)
{
    RB_ASSERT(type >= 0 && type < RB_TEXTURE_COUNT);
    return textureNames[type];
}

static bool isColor(const char* text)
{
    return strlen(text) == RB_LOOK_COLOR_SIZE - 1 && text[0] == '#' &&
           strspn(text + 1, "0123456789abcdefABCDEF") == RB_LOOK_COLOR_SIZE - 2;
}

// NULL leaves the color as it is.
static rbStatus readColor(rbReader* reader, const char* text, char color[RB_LOOK_COLOR_SIZE])
{
    if (text == NULL) {
        return RB_STATUS_OK;
    }
    if (!isColor(text)) {
        rbReader_Push(reader, "color");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "color is \"%.40s\"; must be \"#rrggbb\", e.g. \"#d1495b\"", text);
    }
    (void)snprintf(color, RB_LOOK_COLOR_SIZE, "%.7s", text);
    return RB_STATUS_OK;
}

static rbStatus readTexture(rbReader* reader, const json_t* json, rbLook* look)
{
    rbTextureFields fields = {.size = TEXTURE_SIZE};
    rbReader_Push(reader, "texture");
    rbStatus status = rbReadFields(reader, json, &rbTextureKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    look->texture = RB_TEXTURE_NONE;
    for (int i = RB_TEXTURE_PLAIN; i < RB_TEXTURE_COUNT; ++i) {
        look->texture =
            strcmp(fields.type, textureNames[i]) == 0 ? (rbTextureType)i : look->texture;
    }
    if (look->texture == RB_TEXTURE_NONE) {
        rbReader_Push(reader, "type");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "unknown texture \"%.60s\"; expected \"plain\", \"checker\" or "
                             "\"stripes\"",
                             fields.type);
    }
    look->textureSize = fields.size;
    look->textureColor[0] = '\0'; // that of a body does not fit the texture of its visual
    status = readColor(reader, fields.color, look->textureColor);
    if (status == RB_STATUS_OK) {
        rbReader_Pop(reader);
    }
    return status;
}

// What is not given stays as it is in look.
static rbStatus readLook(rbReader* reader, const json_t* json, const rbLookFields* fields,
                         rbLook* look)
{
    rbStatus status = readColor(reader, fields->color, look->color);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (json_object_get(json, "opacity") != NULL) {
        look->hasOpacity = true;
        look->opacity = fields->opacity;
    }
    if (json_object_get(json, "roughness") != NULL) {
        look->hasRoughness = true;
        look->roughness = fields->roughness;
    }
    return fields->texture != NULL ? readTexture(reader, fields->texture, look) : RB_STATUS_OK;
}

static rbStatus readVisual(rbScene* scene, rbReader* reader, const json_t* json,
                           const rbLook* ofBody)
{
    rbVisualFields fields = {.orientation = RB_QUAT_IDENTITY};
    rbSceneVisual visual = {.look = *ofBody};
    rbStatus status = rbReadFields(reader, json, &rbVisualKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    status = readLook(reader, json, &fields.look, &visual.look);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbReader_Push(reader, "geometry");
    status = rbReadGeometry(scene, reader, fields.geometry, &visual.geometry);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (rbGeometry_GetType(scene->geometries.data[visual.geometry].geometry) == RB_SHAPE_PLANE) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "a visual cannot be a plane, which has no end; use a box");
    }
    rbReader_Pop(reader);
    visual.transform = (rbTransform){fields.position, fields.orientation};
    rbArray_Push(scene->visuals, visual);
    return RB_STATUS_OK;
}

rbStatus rbReadLooks(rbScene* scene, rbReader* reader, const json_t* json,
                     const rbBodyFields* fields, rbSceneBody* body)
{
    rbStatus status = readLook(reader, json, &fields->look, &body->look);
    body->viewGroup = fields->viewGroup;
    body->firstVisual = scene->visuals.count;
    if (status != RB_STATUS_OK || fields->visuals == NULL) {
        return status;
    }
    rbReader_Push(reader, "visuals");
    for (size_t i = 0; i < json_array_size(fields->visuals); ++i) {
        rbReader_PushIndex(reader, i);
        status = readVisual(scene, reader, json_array_get(fields->visuals, i), &body->look);
        if (status != RB_STATUS_OK) {
            return status;
        }
        body->visualCount += 1;
        rbReader_Pop(reader);
    }
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

// NULL: the scene does not have it.
static const rbSceneBody* findBody(const rbScene* scene, const char* name)
{
    int index = -1;
    int copy = 0;
    return rbScene_FindBody(scene, name, &index, &copy) ? &scene->bodies.data[index] : NULL;
}

rbLook rbScene_GetLook(const rbScene* scene, const char* body)
{
    const rbLook none = {0};
    const rbSceneBody* found = findBody(scene, body);
    return found != NULL ? found->look : none;
}

int rbScene_GetVisualCount(const rbScene* scene, const char* body)
{
    const rbSceneBody* found = findBody(scene, body);
    return found != NULL ? found->visualCount : 0;
}

rbVisual rbScene_GetVisual(const rbScene* scene, const char* body, int index)
{
    const rbSceneBody* found = findBody(scene, body);
    RB_ASSERT(found != NULL && index >= 0 && index < found->visualCount);
    const rbSceneVisual* visual = &scene->visuals.data[found->firstVisual + index];
    return (rbVisual){scene->geometries.data[visual->geometry].geometry, visual->transform,
                      visual->look};
}

const char* rbScene_GetViewGroup(const rbScene* scene, const char* body)
{
    const rbSceneBody* found = findBody(scene, body);
    return found != NULL ? found->viewGroup : NULL;
}
