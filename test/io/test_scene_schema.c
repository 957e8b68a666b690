// docs/scene.schema.json describes the reader: the same objects, keys, required keys and kinds.
#include "io/scene/scene_keys.h"
#include "scene_support.h"

#include <rattleback/lab_ray_frames.h>

static json_t* loadSchema(void)
{
    json_error_t error;
    json_t* schema =
        json_load_file(RB_SOURCE_DIR "/docs/scene.schema.json", JSON_REJECT_DUPLICATES, &error);
    if (schema == NULL) {
        fail_msg("schema: %d: %s", error.line, error.text);
    }
    return schema;
}

// The definition of a kind of object: the root, or one of $defs.
static const json_t* findDefinition(const json_t* schema, const char* name)
{
    return name[0] == '\0' ? schema : json_object_get(json_object_get(schema, "$defs"), name);
}

static bool isRequired(const json_t* definition, const char* key)
{
    const json_t* required = json_object_get(definition, "required");
    for (size_t i = 0; i < json_array_size(required); ++i) {
        if (strcmp(json_string_value(json_array_get(required, i)), key) == 0) {
            return true;
        }
    }
    return false;
}

// Follows references to the definition of a value.
static const json_t* resolve(const json_t* schema, const json_t* value)
{
    const char* reference = json_string_value(json_object_get(value, "$ref"));
    return reference != NULL ? findDefinition(schema, reference + strlen("#/$defs/")) : value;
}

// Does the schema accept this kind of value?
static bool allowsKind(const json_t* schema, const json_t* property, rbValueKind kind)
{
    static const char* const types[] = {
        [RB_VALUE_NUMBER] = "number",   [RB_VALUE_INTEGER] = "integer",
        [RB_VALUE_STRING] = "string",   [RB_VALUE_NAME] = "string",
        [RB_VALUE_BOOLEAN] = "boolean", [RB_VALUE_VEC3] = "array",
        [RB_VALUE_OBJECT] = "object",   [RB_VALUE_ARRAY] = "array",
        [RB_VALUE_ORIENTATION] = "",    [RB_VALUE_STRING_OR_OBJECT] = "",
    };
    const json_t* value = resolve(schema, property);
    const json_t* choices = json_object_get(value, "oneOf");
    const char* type = json_string_value(json_object_get(value, "type"));
    const json_t* constant = json_object_get(value, "const");
    const json_t* words = json_object_get(value, "enum");
    if (type == NULL && choices != NULL) {
        bool isChoice = kind == RB_VALUE_ORIENTATION || kind == RB_VALUE_STRING_OR_OBJECT;
        return isChoice || allowsKind(schema, json_array_get(choices, 0), kind);
    }
    if (type == NULL) {
        const json_t* example = constant != NULL ? constant : json_array_get(words, 0);
        return kind == RB_VALUE_STRING ? json_is_string(example) : json_is_integer(example);
    }
    return strcmp(type, types[kind]) == 0;
}

static void everyKeyOfTheReaderIsInTheSchema(void** state)
{
    (void)state;
    json_t* schema = loadSchema();
    for (int k = 0; rbGetObjectKind(k) != NULL; ++k) {
        const rbObjectKind* kind = rbGetObjectKind(k);
        const json_t* definition = findDefinition(schema, kind->name);
        if (definition == NULL) {
            fail_msg("the schema has no definition of \"%s\"", kind->name);
        }
        const json_t* properties = json_object_get(definition, "properties");
        assert_true(json_is_false(json_object_get(definition, "additionalProperties")));
        const rbKey* row = NULL;
        for (int i = 0; (row = rbObjectKind_GetKey(kind, i)) != NULL; ++i) {
            const char* key = row->name;
            const json_t* property = json_object_get(properties, key);
            if (property == NULL) {
                fail_msg("the schema has no key \"%s\" in \"%s\"", key, kind->name);
            }
            if (isRequired(definition, key) != row->isRequired) {
                fail_msg("\"%s\" of \"%s\" is required by one only", key, kind->name);
            }
            if (!allowsKind(schema, property, row->kind)) {
                fail_msg("\"%s\" of \"%s\" is of another kind in the schema", key, kind->name);
            }
        }
    }
    json_decref(schema);
}

static const rbObjectKind* findKind(const char* name)
{
    for (int k = 0; rbGetObjectKind(k) != NULL; ++k) {
        if (strcmp(rbGetObjectKind(k)->name, name) == 0) {
            return rbGetObjectKind(k);
        }
    }
    return NULL;
}

static void checkKnown(const char* name, const json_t* definition)
{
    const char* key = NULL;
    json_t* value = NULL;
    const rbObjectKind* kind = findKind(name);
    const json_t* properties = json_object_get(definition, "properties");
    if (properties == NULL) {
        return; // a value or a choice, not an object of keys
    }
    if (kind != NULL && kind->settings != NULL) {
        return; // generated, see test_settings.c
    }
    if (kind == NULL) {
        fail_msg("the reader does not know the object \"%s\" of the schema", name);
        return;
    }
    json_object_foreach((json_t*)properties, key, value)
    {
        bool isKnown = false;
        const rbKey* row = NULL;
        for (int i = 0; (row = rbObjectKind_GetKey(kind, i)) != NULL; ++i) {
            isKnown = isKnown || strcmp(row->name, key) == 0;
        }
        if (!isKnown) {
            fail_msg("the reader does not know the key \"%s\" of \"%s\"", key, name);
        }
    }
}

static void everyKeyOfTheSchemaIsRead(void** state)
{
    (void)state;
    json_t* schema = loadSchema();
    const char* name = NULL;
    json_t* definition = NULL;
    checkKnown("", schema);
    json_object_foreach(json_object_get(schema, "$defs"), name, definition)
    {
        checkKnown(name, definition);
    }
    json_decref(schema);
}

// Ranges of numbers in the tables and in the schema.
static void rangesAreTheSame(void** state)
{
    (void)state;
    json_t* schema = loadSchema();
    int compared = 0;
    for (int k = 0; rbGetObjectKind(k) != NULL; ++k) {
        const rbObjectKind* kind = rbGetObjectKind(k);
        const json_t* properties =
            json_object_get(findDefinition(schema, kind->name), "properties");
        const rbKey* key = NULL;
        for (int i = 0; (key = rbObjectKind_GetKey(kind, i)) != NULL; ++i) {
            const json_t* property = json_object_get(properties, key->name);
            const char* lowName = key->isLowOpen ? "exclusiveMinimum" : "minimum";
            const json_t* low = json_object_get(property, lowName);
            const json_t* high = json_object_get(property, "maximum");
            if (key->kind == RB_VALUE_NUMBER && low != NULL && high != NULL) {
                checkNear(json_number_value(low), key->low, 0.0);
                checkNear(json_number_value(high), key->high, 0.0);
                compared += 1;
            }
        }
    }
    assert_true(compared > 15);
    json_decref(schema);
}

typedef const char* NameFn(int index);
#define DEFINE_NAMES(function, type, nameOf) \
    static const char* function(int index)   \
    {                                        \
        return nameOf((type)index);          \
    }
DEFINE_NAMES(nameEngine, rbEngineType, rbEngineType_Name)
DEFINE_NAMES(nameLaw, rbImpactLaw, rbImpactLaw_Name)
DEFINE_NAMES(nameDetector, rbDetector, rbDetector_Name)
DEFINE_NAMES(namePattern, rbRayPattern, rbRayPattern_Name)
DEFINE_NAMES(nameMode, rbFrameMode, rbFrameMode_Name)
DEFINE_NAMES(nameBoxTest, rbBoxTest, rbBoxTest_Name)
DEFINE_NAMES(nameMotor, rbMotorType, rbMotorType_Name)

static void wordsOfTheEnginesAreTheSame(void** state)
{
    (void)state;
    const struct {
        const char* object;
        const char* key;
        NameFn* name;
        int count;
    } lists[] = {
        {"", "engine", nameEngine, RB_ENGINE_COUNT},
        {"", "detector", nameDetector, rbDetector_GetCount()},
        {"rays", "pattern", namePattern, RB_RAYS_PATTERN_COUNT},
        {"rays", "mode", nameMode, RB_FRAMES_MODE_COUNT},
        {"rays", "boxTest", nameBoxTest, RB_BOXES_TEST_COUNT},
        {"materialPair", "law", nameLaw, RB_IMPACT_LAW_COUNT},
        {"motor", "type", nameMotor, RB_MOTOR_COUNT},
    };
    json_t* schema = loadSchema();
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i) {
        const json_t* properties =
            json_object_get(findDefinition(schema, lists[i].object), "properties");
        const json_t* words =
            json_object_get(resolve(schema, json_object_get(properties, lists[i].key)), "enum");
        assert_int_equal(json_array_size(words), lists[i].count);
        for (int k = 0; k < lists[i].count; ++k) {
            assert_string_equal(json_string_value(json_array_get(words, (size_t)k)),
                                lists[i].name(k));
        }
    }
    json_decref(schema);
}

// Types of joints: all names in their order, then aliases, each of which is supported; parts are of
// the basic types.
static void typesOfJointsAreTheSame(void** state)
{
    (void)state;
    static const struct {
        const char* object;
        int count;
    } lists[] = {{"joint", RB_JOINT_COUNT},
                 {"treeJoint", RB_JOINT_COUNT},
                 {"jointPart", RB_JOINT_DOUBLE_ROTATION + 1}};
    json_t* schema = loadSchema();
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i) {
        const json_t* properties =
            json_object_get(findDefinition(schema, lists[i].object), "properties");
        const json_t* words = json_object_get(json_object_get(properties, "type"), "enum");
        assert_true(json_array_size(words) > (size_t)lists[i].count);
        for (size_t k = 0; k < json_array_size(words); ++k) {
            const char* word = json_string_value(json_array_get(words, k));
            rbJointType type = rbJointType_Find(word);
            assert_true((int)type < lists[i].count);
            if (k < (size_t)lists[i].count) {
                assert_string_equal(word, rbJointType_Name((rbJointType)k));
            }
        }
    }
    json_decref(schema);
}

// The enumerated words of the schema are those that the program supports.
static void listsOfWordsAreTheSame(void** state)
{
    (void)state;
    json_t* schema = loadSchema();
    const json_t* probe = json_object_get(
        json_object_get(json_object_get(findDefinition(schema, "probe"), "properties"), "quantity"),
        "enum");
    assert_int_equal(json_array_size(probe), RB_PROBE_COUNT);
    for (int i = 0; i < RB_PROBE_COUNT; ++i) {
        assert_string_equal(json_string_value(json_array_get(probe, (size_t)i)),
                            rbProbeQuantity_Name((rbProbeQuantity)i));
    }
    json_decref(schema);
}

RB_TEST_GROUP(test_scene_schema, cmocka_unit_test(everyKeyOfTheReaderIsInTheSchema),
              cmocka_unit_test(everyKeyOfTheSchemaIsRead), cmocka_unit_test(rangesAreTheSame),
              cmocka_unit_test(wordsOfTheEnginesAreTheSame),
              cmocka_unit_test(typesOfJointsAreTheSame), cmocka_unit_test(listsOfWordsAreTheSame));
