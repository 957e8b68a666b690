// Settings by lists: see settings.h.
#include "base/core/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------ values

double rbSetting_GetNumber(const rbSetting* setting, const void* settings)
{
    const void* place = (const char*)settings + setting->offset;
    switch (setting->storage) {
    case RB_STORAGE_NUMBER:
        return *(const double*)place;
    case RB_STORAGE_INTEGER:
    case RB_STORAGE_WORD:
        return *(const int*)place;
    case RB_STORAGE_SWITCH:
        return *(const unsigned char*)place; // more than 1 in forged snapshots
    case RB_STORAGE_SEED:
        return (double)*(const uint64_t*)place;
    case RB_STORAGE_VECTOR:
        break;
    }
    RB_ASSERT(false);
    return 0.0;
}

void rbSetting_SetNumber(const rbSetting* setting, void* settings, double value)
{
    void* place = (char*)settings + setting->offset;
    switch (setting->storage) {
    case RB_STORAGE_NUMBER:
        *(double*)place = value;
        break;
    case RB_STORAGE_INTEGER:
    case RB_STORAGE_WORD:
        *(int*)place = (int)value;
        break;
    case RB_STORAGE_SWITCH:
        *(bool*)place = value != 0.0;
        break;
    case RB_STORAGE_SEED:
        *(uint64_t*)place = (uint64_t)value;
        break;
    case RB_STORAGE_VECTOR:
        RB_ASSERT(false);
        break;
    }
}

// ------------------------------------------------------------------------------------- ranges

bool rbSetting_IsAccepted(const rbSetting* setting, double value)
{
    const rbAccepted* a = &setting->accepted;
    if (setting->storage == RB_STORAGE_SWITCH) {
        return value == 0.0 || value == 1.0;
    }
    if (a->words != NULL) {
        return value >= 0.0 && value < rbWords_GetCount(a->words);
    }
    bool isHigh = value > a->high && !(a->isInfinityFine && isinf(value));
    bool isLow = a->isLowOpen ? value <= a->low : value < a->low;
    bool isBetween = a->step > 0.0 && fmod(value - a->low, a->step) != 0.0;
    return !isnan(value) && !isLow && !isHigh && !isBetween;
}

const char* rbSetting_DescribeRange(const rbSetting* setting, char* text, size_t capacity)
{
    const rbAccepted* a = &setting->accepted;
    const char* space = setting->unit[0] != '\0' ? " " : "";
    if (a->step > 0.0) {
        size_t used = (size_t)snprintf(text, capacity, "expected %.10g", a->low);
        int count = rbAccepted_GetCount(a);
        for (int i = 1; i < count && used < capacity; ++i) {
            used += (size_t)snprintf(text + used, capacity - used, "%s %.10g",
                                     i + 1 == count ? " or" : ",", a->low + i * a->step);
        }
    } else {
        (void)snprintf(text, capacity, "expected a number %s %.10g and <= %.10g%s%s",
                       a->isLowOpen ? ">" : ">=", a->low, a->high, space, setting->unit);
    }
    return text;
}

static rbStatus checkNumber(const rbSettingList* list, const rbSetting* setting, double value,
                            rbError* error)
{
    char range[200];
    if (rbSetting_IsAccepted(setting, value)) {
        return RB_STATUS_OK;
    }
    RB_INVALID_IF(setting->accepted.words != NULL, error, "%s.%s: there is no %s number %d",
                  list->name, setting->member, setting->accepted.words->what, (int)value);
    return rbError_Set(error, RB_STATUS_INVALID, "%s.%s is %.10g%s%s; %s", list->name,
                       setting->member, value, setting->unit[0] != '\0' ? " " : "", setting->unit,
                       rbSetting_DescribeRange(setting, range, sizeof range));
}

rbStatus rbSettingList_Check(const rbSettingList* list, const void* settings, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < list->count && status == RB_STATUS_OK; ++i) {
        const rbSetting* setting = &list->rows[i];
        if (setting->storage != RB_STORAGE_VECTOR) {
            status = checkNumber(list, setting, rbSetting_GetNumber(setting, settings), error);
            continue;
        }
        double vector[3];
        memcpy(vector, (const char*)settings + setting->offset, sizeof vector);
        for (int k = 0; k < 3 && status == RB_STATUS_OK; ++k) {
            status = checkNumber(list, setting, vector[k], error);
        }
    }
    return status;
}

// --------------------------------------------------------------------------------------- keys

const rbSetting* rbSettingList_Find(const rbSettingList* list, const char* key)
{
    for (int i = 0; i < list->count; ++i) {
        if (list->rows[i].key != NULL && strcmp(list->rows[i].key, key) == 0) {
            return &list->rows[i];
        }
    }
    return NULL;
}

// Settings of registered rows, carried by value.

void rbExtraSettings_Put(rbExtraSettings* extra, uint64_t cookie, const void* settings, size_t size)
{
    RB_ASSERT(cookie != 0);
    RB_ASSERT(size <= sizeof extra->words);
    memset(extra, 0, sizeof *extra);
    extra->cookie = cookie;
    memcpy(extra->words, settings, size);
}

bool rbExtraSettings_Get(const rbExtraSettings* extra, uint64_t cookie, void* settings, size_t size)
{
    RB_ASSERT(cookie != 0);
    RB_ASSERT(size <= sizeof extra->words);
    if (extra->cookie != cookie) {
        return false;
    }
    memcpy(settings, extra->words, size);
    return true;
}
