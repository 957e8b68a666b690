// Changing one value of a scene by its place: "world.gravity=[0,0,0]", "/bodies/box/mass=2".
#include "io/scene/file_bytes.h"
#include "io/scene/nearest_name.h"
#include "io/scene/scene_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS_MAX 16
#define SEGMENT_SIZE 128
#define NAMES_MAX 256 // searched for the nearest name

// The path to a value.
typedef struct Way {
    int count;
    char segments[SEGMENTS_MAX][SEGMENT_SIZE];
} Way;

static rbStatus addSegment(Way* way, const char* text, size_t length, bool isPointer,
                           rbError* error)
{
    RB_ASSERT(way->count <= SEGMENTS_MAX);
    if (way->count == SEGMENTS_MAX || length >= SEGMENT_SIZE || length == 0) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the place has an empty or too long part, or more than %d parts",
                           SEGMENTS_MAX);
    }
    char* segment = way->segments[way->count++];
    size_t used = 0;
    for (size_t i = 0; i < length; ++i) {
        bool isEscape = isPointer && text[i] == '~' && i + 1 < length &&
                        (text[i + 1] == '0' || text[i + 1] == '1');
        segment[used++] = (char)(!isEscape ? text[i] : text[i + 1] == '0' ? '~' : '/');
        i += isEscape;
    }
    segment[used] = '\0';
    return RB_STATUS_OK;
}

// Splits "/a/b" at slashes, "a.b" at dots.
static rbStatus splitPlace(const char* place, size_t length, Way* way, rbError* error)
{
    bool isPointer = length > 0 && place[0] == '/';
    char separator = isPointer ? '/' : '.';
    size_t start = isPointer ? 1 : 0;
    for (size_t i = start; i <= length; ++i) {
        if (i == length || place[i] == separator) {
            rbStatus status = addSegment(way, place + start, i - start, isPointer, error);
            if (status != RB_STATUS_OK) {
                return status;
            }
            start = i + 1;
        }
    }
    return RB_STATUS_OK;
}

// The element of an array with that index or "name", -1 if there is none.
static long findElement(const json_t* array, const char* segment)
{
    char* end = NULL;
    if (segment[0] >= '0' && segment[0] <= '9') {
        long index = strtol(segment, &end, 10);
        if (*end == '\0') {
            return (size_t)index < json_array_size(array) ? index : -1;
        }
    }
    for (size_t i = 0; i < json_array_size(array); ++i) {
        const char* name = json_string_value(json_object_get(json_array_get(array, i), "name"));
        if (name != NULL && strcmp(name, segment) == 0) {
            return (long)i;
        }
    }
    return -1;
}

static rbStatus failElement(const json_t* array, const char* segment, rbError* error)
{
    return rbError_Set(error, RB_STATUS_NOT_FOUND,
                       "\"%s\" is neither an index (0 to %ld) nor the name of an element there",
                       segment, (long)json_array_size(array) - 1);
}

typedef struct NameList {
    const char* names[NAMES_MAX];
    int count;
} NameList;

static const char* getName(int index, const void* context)
{
    return ((const NameList*)context)->names[index];
}

// Objects whose keys are names chosen by the scene: an entry that does not exist is a typo, which
// no other check would notice.
static bool isNamed(const json_t* root, const json_t* object)
{
    return object == json_object_get(root, "materials") ||
           object == json_object_get(root, "geometries");
}

static rbStatus failName(json_t* object, const char* segment, rbError* error)
{
    NameList list = {.count = 0};
    const char* name = NULL;
    json_t* value = NULL;
    char hint[200];
    json_object_foreach(object, name, value)
    {
        if (list.count < NAMES_MAX) {
            list.names[list.count++] = name;
        }
    }
    const char* nearest = rbFindNearestName(segment, getName, list.count, &list);
    (void)rbSuggest(hint, sizeof hint, nearest);
    size_t used = 0;
    for (int i = 0; nearest == NULL && i < list.count && used < sizeof hint; ++i) {
        used += (size_t)snprintf(hint + used, sizeof hint - used, "%s %s",
                                 i == 0 ? "; it has" : ",", list.names[i]);
    }
    return rbError_Set(error, RB_STATUS_NOT_FOUND,
                       "nothing there is named \"%s\", and --set only changes what exists%s",
                       segment, hint);
}

// One step down. Missing objects are created; their reader checks the keys.
static rbStatus descend(json_t* root, json_t** value, const char* segment, rbError* error)
{
    RB_ASSERT(*value != NULL);
    if (json_is_array(*value)) {
        long index = findElement(*value, segment);
        if (index < 0) {
            return failElement(*value, segment, error);
        }
        *value = json_array_get(*value, (size_t)index);
        return RB_STATUS_OK;
    }
    if (!json_is_object(*value)) {
        char found[96];
        rbDescribeJson(*value, found, sizeof found);
        return rbError_Set(error, RB_STATUS_INVALID, "\"%s\" cannot be found inside %s", segment,
                           found);
    }
    json_t* child = json_object_get(*value, segment);
    if (child == NULL && isNamed(root, *value)) {
        return failName(*value, segment, error);
    }
    if (child == NULL) {
        child = json_object();
        if (json_object_set_new(*value, segment, child) != 0) {
            return rbError_Set(error, RB_STATUS_INVALID, "the place is not valid UTF-8");
        }
    }
    *value = child;
    return RB_STATUS_OK;
}

// Sets the last part of the path; takes ownership of the value.
static rbStatus setValue(json_t* parent, const char* segment, json_t* value, rbError* error)
{
    RB_ASSERT(value != NULL);
    bool isRemoval = json_is_null(value);
    if (json_is_array(parent)) {
        long index = findElement(parent, segment);
        if (index < 0) {
            json_decref(value);
            return failElement(parent, segment, error);
        }
        if (isRemoval) {
            json_decref(value);
            (void)json_array_remove(parent, (size_t)index);
        } else {
            (void)json_array_set_new(parent, (size_t)index, value);
        }
        return RB_STATUS_OK;
    }
    if (!json_is_object(parent)) {
        char found[96];
        rbDescribeJson(parent, found, sizeof found);
        json_decref(value);
        return rbError_Set(error, RB_STATUS_INVALID, "\"%s\" cannot be set inside %s", segment,
                           found);
    }
    if (isRemoval) {
        json_decref(value);
        (void)json_object_del(parent, segment);
        return RB_STATUS_OK;
    }
    if (json_object_set_new(parent, segment, value) != 0) {
        return rbError_Set(error, RB_STATUS_INVALID, "the place is not valid UTF-8");
    }
    return RB_STATUS_OK;
}

// JSON, or a bare string unless it begins like an array, an object or a quoted string.
static json_t* parseValue(const char* text, rbError* error)
{
    json_error_t jsonError;
    json_t* value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &jsonError);
    if (value != NULL) {
        return value;
    }
    if (text[0] == '[' || text[0] == '{' || text[0] == '"') {
        (void)rbError_Set(error, RB_STATUS_SYNTAX, "the value \"%.80s\" is not JSON: %.150s", text,
                          jsonError.text);
        return NULL;
    }
    value = json_string(text);
    if (value == NULL) {
        (void)rbError_Set(error, RB_STATUS_SYNTAX, "the value is not valid UTF-8");
    }
    return value;
}

rbStatus rbOverrideJson(json_t* root, const char* assignment, rbError* error)
{
    RB_ASSERT(json_is_object(root));
    RB_ASSERT(assignment != NULL);
    char name[80];
    (void)snprintf(name, sizeof name, "--set %.60s", assignment);
    rbError_SetPlace(error, name, "");
    const char* equals = strchr(assignment, '=');
    if (equals == NULL) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "has no \"=\"; expected PLACE=VALUE, such as world.gravity=[0,0,-1.62]");
    }
    Way way = {0};
    rbStatus status = splitPlace(assignment, (size_t)(equals - assignment), &way, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    json_t* parent = root;
    for (int i = 0; i + 1 < way.count; ++i) {
        status = descend(root, &parent, way.segments[i], error);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    const char* last = way.segments[way.count - 1];
    if (isNamed(root, parent) && json_object_get(parent, last) == NULL) {
        return failName(parent, last, error);
    }
    json_t* value = parseValue(equals + 1, error);
    if (value == NULL) {
        return RB_STATUS_SYNTAX;
    }
    return setValue(parent, last, value, error);
}
