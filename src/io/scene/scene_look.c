#include "io/scene/scene_look.h"

#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <stdio.h>
#include <string.h>

static bool isColor(const char* text)
{
    return strlen(text) == RB_LOOK_COLOR_SIZE - 1 && text[0] == '#' &&
           strspn(text + 1, "0123456789abcdefABCDEF") == RB_LOOK_COLOR_SIZE - 2;
}

rbStatus rbReadLook(rbReader* reader, const json_t* json, const rbBodyFields* fields, rbLook* look)
{
    if (fields->color != NULL && !isColor(fields->color)) {
        rbReader_Push(reader, "color");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "color is \"%.40s\"; must be \"#rrggbb\", e.g. \"#d1495b\"",
                             fields->color);
    }
    (void)snprintf(look->color, sizeof look->color, "%.7s",
                   fields->color != NULL ? fields->color : "");
    look->hasOpacity = json_object_get(json, "opacity") != NULL;
    look->hasRoughness = json_object_get(json, "roughness") != NULL;
    look->opacity = fields->opacity;
    look->roughness = fields->roughness;
    return RB_STATUS_OK;
}

rbLook rbScene_GetLook(const rbScene* scene, const char* body)
{
    const rbLook none = {0};
    int index = -1;
    int copy = 0;
    return rbScene_FindBody(scene, body, &index, &copy) ? scene->bodies.data[index].look : none;
}
