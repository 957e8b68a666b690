// Table-driven reading of JSON objects. A row (rbKey) gives a key, the kind of its value, its range
// and unit, and where the value goes in a struct; rbReadFields fills the struct or reports
// precisely what is wrong. A test compares the same tables with docs/scene.schema.json.
#pragma once

#include "base/core/settings.h"

#include <rattleback/scene.h>

#include <jansson.h>

// A step of the path from the root to the current value.
typedef struct rbPlacePart {
    const char* key; // NULL: an index
    size_t index;
} rbPlacePart;

#define RB_PLACE_PARTS_MAX (RB_SCENE_DEPTH_MAX + 8)

// Where the reader is and where its errors go.
typedef struct rbReader {
    rbError* error;    // never NULL
    const char* file;  // for errors
    char subject[192]; // 'body "box": ', put before messages; "" for none
    int partCount;
    rbPlacePart parts[RB_PLACE_PARTS_MAX];
} rbReader;

void rbReader_Push(rbReader* reader, const char* key);
void rbReader_PushIndex(rbReader* reader, size_t index);
void rbReader_Pop(rbReader* reader);

// Sets the object that later messages are about; kind NULL: none.
void rbReader_SetSubject(rbReader* reader, const char* kind, const char* name);

// Sets the error with the current file, place and subject; returns status.
rbStatus rbReader_Fail(rbReader* reader, rbStatus status, const char* format, ...) RB_PRINTF(3, 4);

// Completes the message that the library left in reader->error with file, place and subject of
// the scene and a remedy (may be NULL).
rbStatus rbReader_Adopt(rbReader* reader, rbStatus status, const char* remedy);

typedef enum rbValueKind {
    RB_VALUE_NUMBER,           // double
    RB_VALUE_INTEGER,          // int64_t
    RB_VALUE_STRING,           // const char*
    RB_VALUE_NAME,             // const char*, limited in length and characters
    RB_VALUE_BOOLEAN,          // bool
    RB_VALUE_VEC3,             // rbVec3
    RB_VALUE_ORIENTATION,      // rbQuat, from [w, x, y, z] or {"axis", "angle"}
    RB_VALUE_OBJECT,           // const json_t*
    RB_VALUE_ARRAY,            // const json_t*
    RB_VALUE_STRING_OR_OBJECT, // const json_t*
    RB_VALUE_STRING_OR_NUMBER, // const json_t*
    RB_VALUE_ANY,              // const json_t*
    RB_VALUE_KIND_COUNT
} rbValueKind;

typedef struct rbKey {
    const char* name;
    rbValueKind kind;
    bool isRequired;
    bool isLowOpen;   // the lower bound itself is excluded
    size_t offset;    // in the struct of the object
    double low, high; // range of numbers and of the components of vectors; both 0: no range
    const char* unit; // "" for none
    const char* rule; // what is accepted, as a clause; NULL: derived from the range
} rbKey;

// The keys of one kind of object.
typedef struct rbObjectKind {
    const char* name; // of its definition in the schema
    const char* what; // "a body", for messages
    const rbKey* keys;
    int keyCount;
    const rbSettingList* settings; // instead of keys: fields is the struct of the list
} rbObjectKind;

// Reads the keys of an object into fields. Absent keys leave fields unchanged; unknown keys and
// values of the wrong kind or out of range are errors.
rbStatus rbReadFields(rbReader* reader, const json_t* object, const rbObjectKind* kind,
                      void* fields);

// A key registered for an object of scenes at startup, for settings that the reader does not know
// itself.
typedef struct rbSceneRow {
    const char* object;       // name of its kind: "" for the scene itself, "step", "contact"
    rbKey key;                // without an offset
    const rbObjectKind* kind; // the keys of its value; NULL: the value is not an object
    // Reads the value into what its object is read into: rbScene, rbStepSettings or
    // rbContactSettings. The reader is at the value.
    rbStatus (*read)(const struct rbSceneRow* row, rbReader* reader, const json_t* value,
                     void* target);
} rbSceneRow;

// Appends a row, at startup (base/core/registered_rows.h). Refused: a key that the object already
// has, an object that takes no rows, a full table.
rbStatus rbRegisterSceneRow(const rbSceneRow* row, rbError* error);
const rbSceneRow* rbGetSceneRow(int index); // NULL past the end
// Reads the registered keys that an object has, in the order of registration.
// rbReadFields accepts these keys and leaves them to this function.
rbStatus rbReadSceneRows(rbReader* reader, const json_t* parent, const rbObjectKind* kind,
                         void* target);
// The index-th key of a kind: its own (except settings), then the registered ones; NULL past the
// end.
const rbKey* rbObjectKind_GetKey(const rbObjectKind* kind, int index);

// Reads a value by its key; checks kind, range and rule.
rbStatus rbReadValue(rbReader* reader, const json_t* value, const rbKey* key, void* target);

// The index of a word under a key; unknown words are errors that suggest the nearest or list all.
rbStatus rbReadWord(rbReader* reader, const char* key, const char* word, const rbWords* words,
                    int* index);

// Reads an array of fixed length; each number within +-limit (0: no limit).
rbStatus rbReadNumbers(rbReader* reader, const json_t* array, double* values, size_t count,
                       double limit);

// A tree from text. The error has line and column; file and place stay.
typedef struct rbJsonLimits {
    int depthMax;         // nesting of values; the parser recurses
    const char* expected; // a clause for empty text: what is expected
} rbJsonLimits;
json_t* rbParseJson(const char* text, size_t size, const rbJsonLimits* limits, rbError* error);

// "an array of 2 elements", 'the string "abc"', "the number -1".
void rbDescribeJson(const json_t* value, char* text, size_t capacity);

// Writes "; did you mean "x"?" or "" to text and returns it.
const char* rbSuggest(char* text, size_t capacity, const char* nearest);
