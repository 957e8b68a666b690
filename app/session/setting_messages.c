// Settings in messages: see setting_messages.h.
#include "session/setting_messages.h"

#include <string.h>

static void putValue(rbMessage* text, const char* key, const rbSetting* setting,
                     const void* settings)
{
    if (setting->storage == RB_STORAGE_VECTOR) {
        rbVec3 vector;
        memcpy(&vector, (const char*)settings + setting->offset, sizeof vector);
        rbMessage_PutVec3(text, key, vector);
    } else if (setting->accepted.words != NULL) {
        int word = (int)rbSetting_GetNumber(setting, settings);
        rbMessage_PutString(text, key, rbWords_Name(setting->accepted.words, word));
    } else if (setting->storage == RB_STORAGE_SWITCH) {
        rbMessage_PutBool(text, key, rbSetting_GetNumber(setting, settings) != 0.0);
    } else {
        rbMessage_PutNumber(text, key, rbSetting_GetNumber(setting, settings));
    }
}

void rbMessage_PutValues(rbMessage* text, const rbSettingList* list, const void* settings)
{
    for (int i = 0; i < list->count; ++i) {
        if (list->rows[i].key != NULL) {
            putValue(text, list->rows[i].key, &list->rows[i], settings);
        }
    }
}

void rbMessage_PutSettings(rbMessage* text, const rbSettingList* list, const void* settings)
{
    rbMessage_Key(text, list->name);
    rbMessage_Text(text, "{");
    rbMessage_PutValues(text, list, settings);
    rbMessage_Text(text, "}");
}

static void putWords(rbMessage* text, const rbWords* words)
{
    rbMessage_Key(text, "words");
    rbMessage_Text(text, "[");
    for (int i = 0; i < rbWords_GetCount(words); ++i) {
        rbMessage_Comma(text);
        rbMessage_String(text, rbWords_Name(words, i));
    }
    rbMessage_Text(text, "]");
}

static void describeSetting(rbMessage* text, const rbSettingList* list, const rbSetting* setting)
{
    static const char* const types[] = {
        [RB_STORAGE_NUMBER] = "number", [RB_STORAGE_INTEGER] = "integer",
        [RB_STORAGE_SWITCH] = "switch", [RB_STORAGE_WORD] = "word",
        [RB_STORAGE_SEED] = "integer",  [RB_STORAGE_VECTOR] = "vector",
    };
    const rbAccepted* accepted = &setting->accepted;
    rbMessage_Comma(text);
    rbMessage_Text(text, "{");
    rbMessage_PutString(text, "key", setting->key);
    rbMessage_PutString(text, "type", accepted->words != NULL ? "word" : types[setting->storage]);
    rbMessage_PutString(text, "unit", setting->unit);
    rbMessage_PutString(text, "meaning", setting->meaning);
    putValue(text, "default", setting, list->defaults);
    if (accepted->words != NULL) {
        putWords(text, accepted->words);
    } else if (setting->storage != RB_STORAGE_SWITCH) {
        rbMessage_PutNumber(text, "low", accepted->low);
        rbMessage_PutNumber(text, "high", accepted->high);
        rbMessage_PutNumber(text, "step", accepted->step);
        rbMessage_PutBool(text, "isLowOpen", accepted->isLowOpen);
    }
    rbMessage_Text(text, "}");
}

void rbMessage_DescribeSettings(rbMessage* text, const rbSettingList* list)
{
    rbMessage_Key(text, list->name);
    rbMessage_Text(text, "[");
    for (int i = 0; i < list->count; ++i) {
        if (list->rows[i].key != NULL) {
            describeSetting(text, list, &list->rows[i]);
        }
    }
    rbMessage_Text(text, "]");
}
