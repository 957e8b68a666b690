// Keys registered for objects of scenes at startup.
#include "base/core/registered_rows.h"
#include "io/scene/scene_keys.h"

#include <string.h>

static rbRegisteredRows registered; // of rbSceneRow

const rbSceneRow* rbGetSceneRow(int index)
{
    RB_ASSERT(index >= 0);
    return index < registered.count ? registered.rows[index] : NULL;
}

const rbKey* rbObjectKind_GetKey(const rbObjectKind* kind, int index)
{
    RB_ASSERT(index >= 0);
    if (index < kind->keyCount) {
        return &kind->keys[index];
    }
    int left = index - kind->keyCount;
    const rbSceneRow* row = NULL;
    for (int i = 0; (row = rbGetSceneRow(i)) != NULL; ++i) {
        if (strcmp(row->object, kind->name) == 0 && left-- == 0) {
            return &row->key;
        }
    }
    return NULL;
}

rbStatus rbRegisterSceneRow(const rbSceneRow* row, rbError* error)
{
    static const rbObjectKind* const kinds[] = {&rbSceneKeys, &rbStepKeys, &rbContactKeys};
    RB_ASSERT(row != NULL && row->read != NULL);
    const rbObjectKind* kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
        kind = strcmp(kinds[i]->name, row->object) == 0 ? kinds[i] : kind;
    }
    if (kind == NULL) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the key \"%s\" is for \"%s\"; only the scene itself, "
                           "\"step\" and \"contact\" accept keys at startup",
                           row->key.name, row->object);
    }
    bool isKnown =
        kind->settings != NULL && rbSettingList_Find(kind->settings, row->key.name) != NULL;
    const rbKey* key = NULL;
    for (int i = 0; (key = rbObjectKind_GetKey(kind, i)) != NULL; ++i) {
        isKnown = isKnown || strcmp(key->name, row->key.name) == 0;
    }
    rbNewRow newRow = {"key of scenes", row->key.name, row, isKnown};
    return rbRegisteredRows_Add(&registered, &newRow, error);
}

rbStatus rbReadSceneRows(rbReader* reader, const json_t* parent, const rbObjectKind* kind,
                         void* target)
{
    const rbSceneRow* row = NULL;
    for (int i = 0; (row = rbGetSceneRow(i)) != NULL; ++i) {
        const json_t* value = json_object_get(parent, row->key.name);
        if (value == NULL || strcmp(row->object, kind->name) != 0) {
            continue;
        }
        rbReader_Push(reader, row->key.name);
        const json_t* object = NULL;
        rbStatus status = row->key.kind == RB_VALUE_OBJECT
                              ? rbReadValue(reader, value, &row->key, &object)
                              : RB_STATUS_OK;
        if (status == RB_STATUS_OK) {
            status = row->read(row, reader, value, target);
        }
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_Pop(reader);
    }
    return RB_STATUS_OK;
}
