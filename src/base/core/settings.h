// Settings by lists. A settings struct is written once, as a list in its public header:
//
//   #define RB_FOO_SETTINGS(X)
//       X(double, speed, "speed", 1.0, RB_FROM(0.0, 1e12), "m/s", "how fast it goes")
//       ...
//
// a row a setting: C type, member, key in scene files (NULL: it is in none), default, accepted
// values, unit, meaning. The struct is made of it by RB_SETTING_FIELD (base.h), its defaults by
// RB_SETTING_DEFAULT and its table, rbSettingList, by RB_SETTING_ROW. All else works on the table:
// checking, reading scenes, changing worlds that run, JSON, the schema, the tables of the manual,
// the viewer's panel.
#pragma once

#include "base/core/status.h"
#include "base/core/words.h"

#include <stdbool.h>

// How a setting is stored.
typedef enum rbStorage {
    RB_STORAGE_NUMBER,  // double
    RB_STORAGE_INTEGER, // int
    RB_STORAGE_SWITCH,  // bool
    RB_STORAGE_WORD,    // an enumeration, of the size of an int
    RB_STORAGE_SEED,    // uint64_t, up to 2^53
    RB_STORAGE_VECTOR,  // three double
} rbStorage;

// What values a setting accepts.
typedef struct rbAccepted {
    double low, high;     // of numbers and of components of vectors
    double step;          // between them; 0: all
    bool isLowOpen;       // the lower end itself is not accepted
    bool isInfinityFine;  // beyond the upper end: no limit; null in JSON
    const rbWords* words; // NULL: numbers
} rbAccepted;

// Number of values of a range with a step: low + i * step for i below it.
static inline int rbAccepted_GetCount(const rbAccepted* accepted)
{
    return 1 + (int)((accepted->high - accepted->low) / accepted->step);
}

// clang-format off
#define RB_ANY {.low = 0.0, .high = 0.0}
#define RB_FROM(theLow, theHigh) {.low = (theLow), .high = (theHigh)}
#define RB_ABOVE(theLow, theHigh) {.low = (theLow), .high = (theHigh), .isLowOpen = true}
#define RB_ABOVE_OR_NONE(theLow, theHigh) {.low = (theLow), .high = (theHigh), .isLowOpen = true, .isInfinityFine = true}
#define RB_STEPS(theLow, theHigh, theStep) {.low = (theLow), .high = (theHigh), .step = (theStep)}
#define RB_WORDS(type) {.words = &type##Words}
#define RB_VECTOR(x, y, z) {(x), (y), (z)}
// clang-format on

typedef struct rbSetting {
    const char* key;    // in scene files and messages; NULL: not in scenes
    const char* member; // of the struct
    rbStorage storage;
    size_t offset; // in the struct
    rbAccepted accepted;
    const char* unit;    // "" for none
    const char* meaning; // a clause, without unit and default
} rbSetting;

typedef struct rbSettingList {
    const char* name;     // of the object in scene files
    const char* meaning;  // of the object, a sentence
    const void* defaults; // a struct
    size_t size;          // of the struct
    const rbSetting* rows;
    int count;
} rbSettingList;

#define RB_STORAGE_OF(type)                \
    _Generic(*(type*)NULL, double          \
             : RB_STORAGE_NUMBER, int      \
             : RB_STORAGE_INTEGER, bool    \
             : RB_STORAGE_SWITCH, uint64_t \
             : RB_STORAGE_SEED, default    \
             : sizeof(type) == 3 * sizeof(double) ? RB_STORAGE_VECTOR : RB_STORAGE_WORD)

#define RB_SETTING_DEFAULT(type, member, key, fallback, accepted, unit, meaning) .member = fallback,

// Within a file whose SETTINGS_STRUCT is the struct of the list.
#define RB_SETTING_ROW(type, member, key, fallback, accepted, unit, meaning) \
    {key, #member, RB_STORAGE_OF(type), offsetof(SETTINGS_STRUCT, member), accepted, unit, meaning},

// Row of a key, NULL if there is none.
const rbSetting* rbSettingList_Find(const rbSettingList* list, const char* key);
// The first setting out of its range: INVALID with a message that has object, value and range.
rbStatus rbSettingList_Check(const rbSettingList* list, const void* settings, rbError* error);

// A value: numbers, 0 and 1 of switches, the index of a word. Not of vectors.
double rbSetting_GetNumber(const rbSetting* setting, const void* settings);
void rbSetting_SetNumber(const rbSetting* setting, void* settings, double value);
// Whether a number, or a component, is accepted; NaN is not.
bool rbSetting_IsAccepted(const rbSetting* setting, double value);
// "expected a number > 0 and <= 1 m", cut to the capacity; text is returned.
const char* rbSetting_DescribeRange(const rbSetting* setting, char* text, size_t capacity);
