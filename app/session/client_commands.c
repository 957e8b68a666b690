#include "session/client_commands.h"

const char* rbSelectForClient(rbStreamCursor* cursor, const rbStore* store, const json_t* json)
{
    const json_t* value = json_object_get(json, "body");
    if (value == NULL || json_is_null(value)) {
        rbStreamCursor_Select(cursor, -1);
        return NULL;
    }
    int number = -1;
    rbStore_Lock(store);
    if (json_is_string(value)) {
        number = rbStore_FindBodyByName(store, json_string_value(value));
    } else if (json_is_integer(value) && json_integer_value(value) >= 0 &&
               json_integer_value(value) < rbStore_GetBodyCount(store)) {
        number = (int)json_integer_value(value);
    }
    rbStore_Unlock(store);
    if (number < 0) {
        return "unknown body; give its name or its number, or null for none";
    }
    rbStreamCursor_Select(cursor, number);
    return NULL;
}

static bool readFlag(const json_t* json, const char* key, bool* value)
{
    const json_t* flag = json_object_get(json, key);
    *value = flag != NULL ? json_is_true(flag) : *value;
    return flag == NULL || json_is_boolean(flag);
}

const char* rbSetOverlaysForClient(rbStreamCursor* cursor, const json_t* json)
{
    bool hasContacts = cursor->hasContacts;
    bool hasJoints = cursor->hasJoints;
    bool hasRays = cursor->hasRays;
    if (!readFlag(json, "contacts", &hasContacts) || !readFlag(json, "joints", &hasJoints) ||
        !readFlag(json, "rays", &hasRays)) {
        return "contacts, joints and rays must be true or false";
    }
    rbStreamCursor_SetOverlays(cursor, hasContacts, hasJoints, hasRays);
    return NULL;
}
