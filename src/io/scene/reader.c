// Table-driven reading of JSON objects: see reader.h.
#define _POSIX_C_SOURCE 200809L

#include "io/scene/reader.h"

#include "base/math/elementary.h"
#include "io/scene/nearest_name.h"
#include "io/scene/scene_keys.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rbReader_Push(rbReader* reader, const char* key)
{
    RB_ASSERT(key != NULL);
    RB_ASSERT(reader->partCount < RB_PLACE_PARTS_MAX);
    reader->parts[reader->partCount++] = (rbPlacePart){.key = key};
}

void rbReader_PushIndex(rbReader* reader, size_t index)
{
    RB_ASSERT(reader->partCount < RB_PLACE_PARTS_MAX);
    reader->parts[reader->partCount++] = (rbPlacePart){.index = index};
}

void rbReader_Pop(rbReader* reader)
{
    RB_ASSERT(reader->partCount > 0);
    reader->partCount -= 1;
}

void rbReader_SetSubject(rbReader* reader, const char* kind, const char* name)
{
    if (kind == NULL) {
        reader->subject[0] = '\0';
    } else {
        (void)snprintf(reader->subject, sizeof reader->subject, "%s \"%.80s\": ", kind, name);
    }
}

// Writes the JSON pointer of the current place, truncated if too long.
static void writePlace(const rbReader* reader, char* text, size_t capacity)
{
    RB_ASSERT(capacity > 0);
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < reader->partCount && used + 24 < capacity; ++i) {
        const rbPlacePart* part = &reader->parts[i];
        if (part->key == NULL) {
            used += (size_t)snprintf(text + used, capacity - used, "/%zu", part->index);
            continue;
        }
        text[used++] = '/';
        for (const char* c = part->key; *c != '\0' && used + 3 < capacity; ++c) {
            if (*c == '~' || *c == '/') {
                text[used++] = '~';
                text[used++] = *c == '~' ? '0' : '1';
            } else {
                text[used++] = *c;
            }
        }
        text[used] = '\0';
    }
}

static void setPlace(rbReader* reader)
{
    char place[sizeof reader->error->place];
    writePlace(reader, place, sizeof place);
    rbError_SetPlace(reader->error, reader->file, place);
    reader->error->line = 0;
    reader->error->column = 0;
}

rbStatus rbReader_Fail(rbReader* reader, rbStatus status, const char* format, ...)
{
    RB_ASSERT(status != RB_STATUS_OK);
    char text[sizeof reader->error->message];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    setPlace(reader);
    return rbError_Set(reader->error, status, "%s%s", reader->subject, text);
}

rbStatus rbReader_Adopt(rbReader* reader, rbStatus status, const char* remedy)
{
    RB_ASSERT(status != RB_STATUS_OK);
    char text[sizeof reader->error->message];
    (void)snprintf(text, sizeof text, "%s", reader->error->message);
    setPlace(reader);
    return rbError_Set(reader->error, status, "%s%s%s%s", reader->subject, text,
                       remedy != NULL ? "; " : "", remedy != NULL ? remedy : "");
}

void rbDescribeJson(const json_t* value, char* text, size_t capacity)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        (void)snprintf(text, capacity, "an object");
        break;
    case JSON_ARRAY:
        (void)snprintf(text, capacity, "an array of %zu element%s", json_array_size(value),
                       json_array_size(value) == 1 ? "" : "s");
        break;
    case JSON_STRING:
        (void)snprintf(text, capacity, "the string \"%.60s\"", json_string_value(value));
        break;
    case JSON_INTEGER:
        (void)snprintf(text, capacity, "the number %lld", (long long)json_integer_value(value));
        break;
    case JSON_REAL:
        (void)snprintf(text, capacity, "the number %.10g", json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        (void)snprintf(text, capacity, "%s", json_is_true(value) ? "true" : "false");
        break;
    case JSON_NULL:
        (void)snprintf(text, capacity, "null");
        break;
    }
}

static rbStatus failType(rbReader* reader, const json_t* value, const char* expected)
{
    char found[96];
    rbDescribeJson(value, found, sizeof found);
    return rbReader_Fail(reader, RB_STATUS_INVALID, "found %s; expected %s", found, expected);
}

const char* rbSuggest(char* text, size_t capacity, const char* nearest)
{
    RB_ASSERT(capacity > 0);
    text[0] = '\0';
    if (nearest != NULL) {
        (void)snprintf(text, capacity, "; did you mean \"%.64s\"?", nearest);
    }
    return text;
}

// "" for a setting that scenes do not have; NULL past the end.
static const char* getKeyName(int index, const void* context)
{
    const rbObjectKind* kind = context;
    int count = kind->settings != NULL ? kind->settings->count : 0;
    if (index < count) {
        return kind->settings->rows[index].key != NULL ? kind->settings->rows[index].key : "";
    }
    const rbKey* key = rbObjectKind_GetKey(kind, index - count);
    return key != NULL ? key->name : NULL;
}

// Lists all keys, for objects where no known key is similar.
static void listKeys(const rbObjectKind* kind, char* text, size_t capacity)
{
    size_t used = (size_t)snprintf(text, capacity, "; %s has the keys", kind->what);
    const char* name = NULL;
    for (int i = 0; (name = getKeyName(i, kind)) != NULL && used < capacity; ++i) {
        if (name[0] != '\0') {
            used += (size_t)snprintf(text + used, capacity - used, "%s %s", i > 0 ? "," : "", name);
        }
    }
}

static rbStatus failUnknownKey(rbReader* reader, const rbObjectKind* kind, const char* key)
{
    char hint[320];
    int count = 0;
    while (getKeyName(count, kind) != NULL) {
        ++count;
    }
    const char* nearest = rbFindNearestName(key, getKeyName, count, kind);
    if (nearest != NULL) {
        (void)rbSuggest(hint, sizeof hint, nearest);
    } else {
        listKeys(kind, hint, sizeof hint);
    }
    return rbReader_Fail(reader, RB_STATUS_INVALID, "unknown key \"%.60s\" in %s%s", key,
                         kind->what, hint);
}

static bool hasRange(const rbKey* key)
{
    return key->low != 0.0 || key->high != 0.0;
}

// Describes the numbers that a key accepts, as a clause.
static void describeRange(const rbKey* key, char* text, size_t capacity)
{
    if (key->rule != NULL) {
        (void)snprintf(text, capacity, "%s", key->rule);
    } else {
        (void)snprintf(text, capacity, "expected a number %s %.10g and <= %.10g%s%s",
                       key->isLowOpen ? ">" : ">=", key->low, key->high,
                       key->unit[0] != '\0' ? " " : "", key->unit);
    }
}

static rbStatus validateRange(rbReader* reader, const rbKey* key, double value)
{
    bool isLow = key->isLowOpen ? value <= key->low : value < key->low;
    if (!hasRange(key) || (!isLow && value <= key->high)) {
        return RB_STATUS_OK;
    }
    char range[200];
    describeRange(key, range, sizeof range);
    return rbReader_Fail(reader, RB_STATUS_INVALID, "%s is %.10g%s%s; %s", key->name, value,
                         key->unit[0] != '\0' ? " " : "", key->unit, range);
}

static rbStatus readNumber(rbReader* reader, const json_t* value, const rbKey* key, void* target)
{
    if (!json_is_number(value)) {
        return failType(reader, value, "a number");
    }
    double number = json_number_value(value);
    RB_ASSERT(isfinite(number));
    *(double*)target = number;
    return validateRange(reader, key, number);
}

// Integers up to 2^53; 1e9 counts as one.
static rbStatus readInteger(rbReader* reader, const json_t* value, const rbKey* key, void* target)
{
    if (!json_is_number(value)) {
        return failType(reader, value, "an integer");
    }
    double number = json_number_value(value);
    if (floor(number) != number) {
        return failType(reader, value, "an integer");
    }
    rbStatus status = validateRange(reader, key, number);
    if (status != RB_STATUS_OK) {
        return status;
    }
    RB_ASSERT(fabs(number) <= 0x1p53);
    *(int64_t*)target = (int64_t)number;
    return RB_STATUS_OK;
}

static rbStatus readString(rbReader* reader, const json_t* value, const rbKey* key, void* target)
{
    (void)key;
    if (!json_is_string(value)) {
        return failType(reader, value, "a string");
    }
    *(const char**)target = json_string_value(value);
    return RB_STATUS_OK;
}

// Names appear in tables, paths of --set and CSV columns.
static rbStatus readName(rbReader* reader, const json_t* value, const rbKey* key, void* target)
{
    rbStatus status = readString(reader, value, key, target);
    if (status != RB_STATUS_OK) {
        return status;
    }
    const char* name = json_string_value(value);
    size_t length = json_string_length(value);
    if (length == 0) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "the name is empty; omit \"%s\" or "
                             "give it at least one character",
                             key->name);
    }
    if (length > RB_SCENE_NAME_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "the name \"%.20s...\" has %zu bytes; the limit is %d", name, length,
                             RB_SCENE_NAME_MAX);
    }
    for (const char* c = name; *c != '\0'; ++c) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f || strchr("\"\\/,", *c) != NULL) {
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "the name contains the character 0x%02x; control characters and "
                                 "\" \\ / , are not allowed",
                                 (unsigned)(unsigned char)*c);
        }
    }
    return RB_STATUS_OK;
}

static rbStatus readBoolean(rbReader* reader, const json_t* value, const rbKey* key, void* target)
{
    (void)key;
    if (!json_is_boolean(value)) {
        return failType(reader, value, "true or false");
    }
    *(bool*)target = json_is_true(value);
    return RB_STATUS_OK;
}

rbStatus rbReadNumbers(rbReader* reader, const json_t* array, double* values, size_t count,
                       double limit)
{
    if (!json_is_array(array) || json_array_size(array) != count) {
        char expected[48];
        (void)snprintf(expected, sizeof expected, "an array of %zu numbers", count);
        return failType(reader, array, expected);
    }
    for (size_t i = 0; i < count; ++i) {
        const json_t* element = json_array_get(array, i);
        rbReader_PushIndex(reader, i);
        if (!json_is_number(element)) {
            return failType(reader, element, "a number");
        }
        values[i] = json_number_value(element);
        if (limit > 0.0 && fabs(values[i]) > limit) {
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "found %.10g; expected a number from %g to %g", values[i], -limit,
                                 limit);
        }
        rbReader_Pop(reader);
    }
    return RB_STATUS_OK;
}

static rbStatus readVec3(rbReader* reader, const json_t* value, const rbKey* key, void* target)
{
    double v[3] = {0.0};
    rbStatus status = rbReadNumbers(reader, value, v, 3, 0.0);
    for (size_t i = 0; i < 3 && status == RB_STATUS_OK; ++i) {
        rbReader_PushIndex(reader, i);
        status = validateRange(reader, key, v[i]);
        if (status == RB_STATUS_OK) {
            rbReader_Pop(reader);
        }
    }
    if (status == RB_STATUS_OK) {
        *(rbVec3*)target = (rbVec3){v[0], v[1], v[2]};
    }
    return status;
}

// A rotation by an angle about an axis of any nonzero length.
static rbStatus readAxisAngle(rbReader* reader, const json_t* value, rbQuat* orientation)
{
    rbAxisAngleFields fields = {0};
    rbStatus status = rbReadFields(reader, value, &rbAxisAngleKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbVec3 axis = fields.axis;
    double largest = fmax(fabs(axis.x), fmax(fabs(axis.y), fabs(axis.z)));
    if (largest < 1e-100) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "the axis is zero; give any vector along the axis of the rotation");
    }
    axis = rbNormalize(rbScale(1.0 / largest, axis));
    double sine = 0.0;
    double cosine = 0.0;
    rbSinCos(0.5 * fields.angle, &sine, &cosine);
    rbQuat q = {cosine, sine * axis.x, sine * axis.y, sine * axis.z};
    *orientation = rbNormalizeQuat(q);
    return RB_STATUS_OK;
}

// Tolerance for the norm of a quaternion: allows rounding to 6 digits, but not typos.
#define QUATERNION_NORM_SLACK 1e-6

static rbStatus readOrientation(rbReader* reader, const json_t* value, const rbKey* key,
                                void* target)
{
    (void)key;
    if (json_is_object(value)) {
        return readAxisAngle(reader, value, target);
    }
    if (!json_is_array(value)) {
        return failType(reader, value,
                        "a quaternion [w, x, y, z] or {\"axis\": [x, y, z], \"angle\": radians}");
    }
    double v[4] = {0.0};
    rbStatus status = rbReadNumbers(reader, value, v, 4, 1e100);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbQuat q = {v[0], v[1], v[2], v[3]};
    double norm = sqrt(rbDotQuat(q, q));
    if (norm < 1e-100) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "the quaternion is zero; [1, 0, 0, 0] means no rotation");
    }
    if (fabs(norm - 1.0) > QUATERNION_NORM_SLACK) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "the quaternion [w, x, y, z] has norm %.9g, not 1; normalized it "
                             "would be [%.17g, %.17g, %.17g, %.17g]",
                             norm, v[0] / norm, v[1] / norm, v[2] / norm, v[3] / norm);
    }
    // Dividing an exact [1, 0, 0, 0] by its norm does not change its bits.
    *(rbQuat*)target = rbNormalizeQuat(q);
    return RB_STATUS_OK;
}

static rbStatus readObject(rbReader* reader, const json_t* value, const rbKey* key, void* target)
{
    (void)key;
    if (!json_is_object(value)) {
        return failType(reader, value, "an object {...}");
    }
    *(const json_t**)target = value;
    return RB_STATUS_OK;
}

static rbStatus readArray(rbReader* reader, const json_t* value, const rbKey* key, void* target)
{
    (void)key;
    if (!json_is_array(value)) {
        return failType(reader, value, "an array [...]");
    }
    *(const json_t**)target = value;
    return RB_STATUS_OK;
}

static rbStatus readStringOrObject(rbReader* reader, const json_t* value, const rbKey* key,
                                   void* target)
{
    (void)key;
    if (!json_is_string(value) && !json_is_object(value)) {
        return failType(reader, value, "a name or an object {...}");
    }
    *(const json_t**)target = value;
    return RB_STATUS_OK;
}

static rbStatus readStringOrNumber(rbReader* reader, const json_t* value, const rbKey* key,
                                   void* target)
{
    (void)key;
    if (!json_is_string(value) && !json_is_number(value)) {
        return failType(reader, value, "a name or a number");
    }
    *(const json_t**)target = value;
    return RB_STATUS_OK;
}

static rbStatus readAny(rbReader* reader, const json_t* value, const rbKey* key, void* target)
{
    (void)reader;
    (void)key;
    *(const json_t**)target = value;
    return RB_STATUS_OK;
}

typedef rbStatus ReadFn(rbReader* reader, const json_t* value, const rbKey* key, void* target);

static ReadFn* const readFns[] = {
    [RB_VALUE_NUMBER] = readNumber,
    [RB_VALUE_INTEGER] = readInteger,
    [RB_VALUE_STRING] = readString,
    [RB_VALUE_NAME] = readName,
    [RB_VALUE_BOOLEAN] = readBoolean,
    [RB_VALUE_VEC3] = readVec3,
    [RB_VALUE_OBJECT] = readObject,
    [RB_VALUE_ARRAY] = readArray,
    [RB_VALUE_ORIENTATION] = readOrientation,
    [RB_VALUE_STRING_OR_OBJECT] = readStringOrObject,
    [RB_VALUE_STRING_OR_NUMBER] = readStringOrNumber,
    [RB_VALUE_ANY] = readAny,
};
_Static_assert(sizeof readFns / sizeof readFns[0] == RB_VALUE_KIND_COUNT, "one reader per kind");

// ------------------------------------------------------------------------------------ settings

// Whether modules add words to a list.
static bool isOpen(const rbWords* words)
{
    static const char* const open[] = {"type of joint", "type of motor", "method of contact",
                                       "law of restitution"};
    bool isFound = false;
    for (size_t i = 0; i < sizeof open / sizeof open[0]; ++i) {
        isFound = isFound || strcmp(words->what, open[i]) == 0;
    }
    return isFound;
}

// Finds the index of a word at the current place.
static rbStatus findWord(rbReader* reader, const char* word, const rbWords* words, int* index)
{
    RB_ASSERT(word != NULL);
    int count = rbWords_GetCount(words);
    int found = rbWords_Find(words, word);
    if (found < count) {
        *index = found;
        return RB_STATUS_OK;
    }
    char hint[320];
    const char* nearest = rbWords_FindNearest(words, word);
    (void)rbSuggest(hint, sizeof hint, nearest);
    size_t used = strlen(hint);
    used += (size_t)snprintf(hint + used, sizeof hint - used, "%s",
                             isOpen(words) ? RB_MODULE_HINT : "");
    if (nearest == NULL) {
        used += (size_t)snprintf(hint + used, sizeof hint - used, "; expected");
        for (int i = 0; i < count && used < sizeof hint; ++i) {
            const char* separator = i == 0 ? "" : i + 1 < count ? "," : " or";
            used += (size_t)snprintf(hint + used, sizeof hint - used, "%s %s", separator,
                                     rbWords_Name(words, i));
        }
    }
    return rbReader_Fail(reader, RB_STATUS_INVALID, "unknown %s \"%.60s\"%s", words->what, word,
                         hint);
}

rbStatus rbReadWord(rbReader* reader, const char* key, const char* word, const rbWords* words,
                    int* index)
{
    rbReader_Push(reader, key);
    rbStatus status = findWord(reader, word, words, index);
    if (status == RB_STATUS_OK) {
        rbReader_Pop(reader);
    }
    return status;
}

// A setting as a key: both have a kind of value and a range.
static rbKey toKey(const rbSetting* setting)
{
    static const rbValueKind kinds[] = {
        [RB_STORAGE_NUMBER] = RB_VALUE_NUMBER,  [RB_STORAGE_INTEGER] = RB_VALUE_INTEGER,
        [RB_STORAGE_SWITCH] = RB_VALUE_BOOLEAN, [RB_STORAGE_WORD] = RB_VALUE_STRING,
        [RB_STORAGE_SEED] = RB_VALUE_INTEGER,   [RB_STORAGE_VECTOR] = RB_VALUE_VEC3,
    };
    const rbAccepted* accepted = &setting->accepted;
    return (rbKey){.name = setting->key,
                   .kind = accepted->words != NULL ? RB_VALUE_STRING : kinds[setting->storage],
                   .low = accepted->low,
                   .high = accepted->high,
                   .isLowOpen = accepted->isLowOpen,
                   .unit = setting->unit};
}

// Reads a setting into its struct.
static rbStatus readSetting(rbReader* reader, const json_t* value, const rbSetting* setting,
                            void* settings)
{
    union {
        double number;
        int64_t integer;
        bool isOn;
        const char* word;
        rbVec3 vector;
    } read = {0.0};
    char range[200];
    int index = 0;
    if (setting->accepted.isInfinityFine && json_is_null(value)) {
        rbSetting_SetNumber(setting, settings, INFINITY);
        return RB_STATUS_OK;
    }
    rbKey key = toKey(setting);
    key.rule = rbSetting_DescribeRange(setting, range, sizeof range);
    rbStatus status = readFns[key.kind](reader, value, &key, &read);
    if (status == RB_STATUS_OK && key.kind == RB_VALUE_STRING) {
        status = findWord(reader, read.word, setting->accepted.words, &index);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (key.kind == RB_VALUE_VEC3) {
        memcpy((char*)settings + setting->offset, &read.vector, sizeof read.vector);
        return RB_STATUS_OK;
    }
    double number = key.kind == RB_VALUE_NUMBER    ? read.number
                    : key.kind == RB_VALUE_BOOLEAN ? (double)read.isOn
                    : key.kind == RB_VALUE_STRING  ? (double)index
                                                   : (double)read.integer;
    if (!rbSetting_IsAccepted(setting, number)) { // not one of its steps
        return rbReader_Fail(reader, RB_STATUS_INVALID, "%s is %.10g; %s", key.name, number, range);
    }
    rbSetting_SetNumber(setting, settings, number);
    return RB_STATUS_OK;
}

// ---------------------------------------------------------------------------------------- keys

// Keys that were renamed; recordings contain scenes as they were written.
static const struct {
    const char* former;
    const char* present;
} renamedKeys[] = {
    {"neighbours", "neighbors"},
};

rbStatus rbReadValue(rbReader* reader, const json_t* value, const rbKey* key, void* target)
{
    return readFns[key->kind](reader, value, key, target);
}

static bool hasKey(const rbObjectKind* kind, const char* name)
{
    const char* known = NULL;
    for (int i = 0; (known = getKeyName(i, kind)) != NULL; ++i) {
        if (strcmp(known, name) == 0) {
            return true;
        }
    }
    return false;
}

// The current name of a key, given the current or a former one; NULL: unknown key.
static const char* findPresentName(const rbObjectKind* kind, const char* name)
{
    if (hasKey(kind, name)) {
        return name;
    }
    for (size_t i = 0; i < sizeof renamedKeys / sizeof renamedKeys[0]; ++i) {
        if (strcmp(renamedKeys[i].former, name) == 0 && hasKey(kind, renamedKeys[i].present)) {
            return renamedKeys[i].present;
        }
    }
    return NULL;
}

// Reads one value of an object, at its place; registered keys are left to rbReadSceneRows.
static rbStatus readKnown(rbReader* reader, const json_t* value, const rbObjectKind* kind,
                          const char* name, void* fields)
{
    const rbSetting* setting =
        kind->settings != NULL ? rbSettingList_Find(kind->settings, name) : NULL;
    if (setting != NULL) {
        return readSetting(reader, value, setting, fields);
    }
    for (int i = 0; i < kind->keyCount; ++i) {
        const rbKey* key = &kind->keys[i];
        if (strcmp(key->name, name) == 0) {
            return rbReadValue(reader, value, key, (char*)fields + key->offset);
        }
    }
    return RB_STATUS_OK;
}

rbStatus rbReadFields(rbReader* reader, const json_t* object, const rbObjectKind* kind,
                      void* fields)
{
    RB_ASSERT(kind != NULL);
    RB_ASSERT(fields != NULL);
    if (!json_is_object(object)) {
        return failType(reader, object, kind->what);
    }
    const char* name = NULL;
    json_t* value = NULL;
    json_object_foreach((json_t*)object, name, value)
    {
        rbReader_Push(reader, name);
        const char* present = findPresentName(kind, name);
        if (present == NULL) {
            return failUnknownKey(reader, kind, name);
        }
        if (present != name && json_object_get(object, present) != NULL) {
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "\"%s\" is the former name of \"%s\", which is also given; remove "
                                 "one of them",
                                 name, present);
        }
        rbStatus status = readKnown(reader, value, kind, present, fields);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_Pop(reader);
    }
    for (int i = 0; i < kind->keyCount; ++i) {
        if (kind->keys[i].isRequired && json_object_get(object, kind->keys[i].name) == NULL) {
            return rbReader_Fail(reader, RB_STATUS_INVALID, "%s needs the key \"%s\"", kind->what,
                                 kind->keys[i].name);
        }
    }
    return RB_STATUS_OK;
}
