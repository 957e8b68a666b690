#include "session/action_bodies.h"

#include "base/core/memory.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rbReadAddedBody(const char* actionText, int next, rbAddedBody* body)
{
    *body = (rbAddedBody){.number = -1};
    if (strstr(actionText, "add") == NULL) {
        return false; // most are moves of a drag
    }
    json_t* json = json_loads(actionText, 0, NULL);
    const char* what = json_string_value(json_object_get(json, "do"));
    json_t* object = json_object_get(json, "body");
    const json_t* requested = json_object_get(json, "number");
    json_int_t number = json_is_integer(requested) ? json_integer_value(requested) : next;
    bool isAdded = what != NULL && strcmp(what, "add") == 0 && json_is_object(object) &&
                   number >= 0 && number < RB_RECORDING_BODY_MAX;
    if (isAdded) {
        const char* name = json_string_value(json_object_get(object, "name"));
        body->number = (int)number;
        if (name != NULL) {
            (void)snprintf(body->name, sizeof body->name, "%s", name);
        } else {
            (void)snprintf(body->name, sizeof body->name, "added-%d", body->number);
        }
        body->text = json_dumps(object, JSON_COMPACT);
        isAdded = body->text != NULL;
    }
    json_decref(json);
    return isAdded;
}

void rbAddedBody_Free(rbAddedBody* body)
{
    free(body->text);
    body->text = NULL;
}

bool rbKeepsStructure(const char* actionText)
{
    static const char* const names[] = {"push", "spin", "set"};
    json_t* json = json_loads(actionText, 0, NULL);
    const char* what = json_string_value(json_object_get(json, "do"));
    bool isKept = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        isKept = isKept || (what != NULL && strcmp(what, names[i]) == 0);
    }
    json_decref(json);
    return isKept;
}
