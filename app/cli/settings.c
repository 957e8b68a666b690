// rattleback settings: the settings of scenes with their defaults, accepted values, units and
// meanings; for people, as parts of the schema, or as tables of the manual.
#include "cli/settings.h"

#include "base/core/memory.h"
#include "collision/geometry/shape_ops.h"
#include "dynamics/forces/force_table.h"
#include "io/scene/nearest_name.h"
#include "io/scene/scene_keys.h"
#include "world/world_settings.h"

#include <string.h>

// ---------------------------------------------------------------------------------------- JSON

static void writeValue(rbJson* json, const char* key, const rbSetting* setting,
                       const void* settings)
{
    if (setting->storage == RB_STORAGE_VECTOR) {
        rbVec3 vector;
        memcpy(&vector, (const char*)settings + setting->offset, sizeof vector);
        rbJson_Vec3(json, key, vector);
    } else if (setting->accepted.words != NULL) {
        int word = (int)rbSetting_GetNumber(setting, settings);
        rbJson_Text(json, key, rbWords_Name(setting->accepted.words, word));
    } else if (setting->storage == RB_STORAGE_SWITCH) {
        rbJson_Bool(json, key, rbSetting_GetNumber(setting, settings) != 0.0);
    } else {
        rbJson_Number(json, key, rbSetting_GetNumber(setting, settings));
    }
}

void rbJson_Settings(rbJson* json, const rbSettingList* list, const void* settings)
{
    rbJson_BeginObject(json, list->name);
    for (int i = 0; i < list->count; ++i) {
        if (list->rows[i].key != NULL) {
            writeValue(json, list->rows[i].key, &list->rows[i], settings);
        }
    }
    rbJson_End(json);
}

// -------------------------------------------------------------------------------------- schema

static void writeType(rbJson* json, const rbSetting* setting)
{
    static const char* const types[] = {
        [RB_STORAGE_NUMBER] = "number",  [RB_STORAGE_INTEGER] = "integer",
        [RB_STORAGE_SWITCH] = "boolean", [RB_STORAGE_WORD] = "string",
        [RB_STORAGE_SEED] = "integer",   [RB_STORAGE_VECTOR] = "array",
    };
    const char* type = setting->accepted.words != NULL ? "string" : types[setting->storage];
    if (setting->accepted.isInfinityFine) {
        rbJson_BeginArray(json, "type");
        rbJson_Text(json, NULL, type);
        rbJson_Text(json, NULL, "null");
        rbJson_End(json);
    } else {
        rbJson_Text(json, "type", type);
    }
}

static void writeRange(rbJson* json, const rbAccepted* accepted)
{
    if (accepted->step > 0.0) {
        rbJson_BeginArray(json, "enum");
        int count = rbAccepted_GetCount(accepted);
        for (int i = 0; i < count; ++i) {
            rbJson_Number(json, NULL, accepted->low + i * accepted->step);
        }
        rbJson_End(json);
        return;
    }
    rbJson_Number(json, accepted->isLowOpen ? "exclusiveMinimum" : "minimum", accepted->low);
    rbJson_Number(json, "maximum", accepted->high);
}

static void writeProperty(rbJson* json, const char* key, const rbSetting* setting,
                          const void* settings)
{
    const rbAccepted* accepted = &setting->accepted;
    char text[512];
    rbJson_BeginObject(json, key);
    writeType(json, setting);
    if (accepted->words != NULL) {
        rbJson_BeginArray(json, "enum");
        for (int i = 0; i < rbWords_GetCount(accepted->words); ++i) {
            rbJson_Text(json, NULL, rbWords_Name(accepted->words, i));
        }
        rbJson_End(json);
    } else if (setting->storage == RB_STORAGE_VECTOR) {
        rbJson_BeginObject(json, "items");
        rbJson_Text(json, "type", "number");
        writeRange(json, accepted);
        rbJson_End(json);
        rbJson_Integer(json, "minItems", 3);
        rbJson_Integer(json, "maxItems", 3);
    } else if (setting->storage != RB_STORAGE_SWITCH) {
        writeRange(json, accepted);
    }
    writeValue(json, "default", setting, settings);
    (void)snprintf(text, sizeof text, "%s%s%s", setting->unit, setting->unit[0] != '\0' ? ": " : "",
                   setting->meaning);
    rbJson_Text(json, "description", text);
    rbJson_End(json);
}

// Keys that the object got at start-up: objects that are defined elsewhere, or numbers.
static void writeRegistered(rbJson* json, const char* object)
{
    const rbSceneRow* row = NULL;
    for (int i = 0; (row = rbGetSceneRow(i)) != NULL; ++i) {
        if (strcmp(row->object, object) != 0) {
            continue;
        }
        rbJson_BeginObject(json, row->key.name);
        if (row->kind != NULL) {
            char reference[64];
            (void)snprintf(reference, sizeof reference, "#/$defs/%.40s", row->kind->name);
            rbJson_Text(json, "$ref", reference);
        } else {
            rbJson_Text(json, "type", "number");
            rbJson_Number(json, row->key.isLowOpen ? "exclusiveMinimum" : "minimum", row->key.low);
            rbJson_Number(json, "maximum", row->key.high);
            rbJson_Text(json, "description", row->key.unit);
        }
        rbJson_End(json);
    }
}

static void writeSchema(const rbSettingList* list, const void* settings, rbJson* json)
{
    rbJson_BeginObject(json, list->name);
    rbJson_Text(json, "type", "object");
    rbJson_Text(json, "description", list->meaning);
    rbJson_Bool(json, "additionalProperties", false);
    rbJson_BeginObject(json, "properties");
    for (int i = 0; i < list->count; ++i) {
        if (list->rows[i].key != NULL) {
            writeProperty(json, list->rows[i].key, &list->rows[i], settings);
        }
    }
    writeRegistered(json, list->name);
    rbJson_End(json);
    rbJson_End(json);
}

// ---------------------------------------------------------------------- rows of other tables

static void writeNumberRange(rbJson* json, const rbParameter* parameter)
{
    rbJson_Text(json, "type", "number");
    rbJson_Number(json, parameter->isLowOpen ? "exclusiveMinimum" : "minimum", parameter->low);
    rbJson_Number(json, "maximum", parameter->high);
}

static void writeParameter(rbJson* json, const rbParameter* parameter)
{
    char text[200];
    rbJson_BeginObject(json, parameter->key);
    if (parameter->count == 3) {
        rbJson_Text(json, "type", "array");
        rbJson_BeginObject(json, "items");
        writeNumberRange(json, parameter);
        rbJson_End(json);
        rbJson_Integer(json, "minItems", 3);
        rbJson_Integer(json, "maxItems", 3);
    } else {
        writeNumberRange(json, parameter);
    }
    (void)snprintf(text, sizeof text, "%s%s%s%s", parameter->unit,
                   parameter->unit[0] != '\0' ? ": " : "", parameter->meaning,
                   parameter->isRequired ? "" : "; default 0");
    rbJson_Text(json, "description", text);
    rbJson_End(json);
}

// A row of a table as an object with a type.
typedef struct TypedObject {
    const char* definition; // its name in the schema
    const char* type;
    const char* meaning;
    bool hasBody;
    const rbParameter* parameters;
    int parameterCount;
} TypedObject;

static void writeTyped(rbJson* json, const TypedObject* object)
{
    rbJson_BeginObject(json, object->definition);
    rbJson_Text(json, "type", "object");
    rbJson_Text(json, "description", object->meaning);
    rbJson_Bool(json, "additionalProperties", false);
    rbJson_BeginObject(json, "properties");
    rbJson_BeginObject(json, "type");
    rbJson_Text(json, "const", object->type);
    rbJson_End(json);
    if (object->hasBody) {
        rbJson_BeginObject(json, "body");
        rbJson_Text(json, "type", "string");
        rbJson_Text(json, "description",
                    "name of a body, or of all copies of one; default: every dynamic body");
        rbJson_End(json);
    }
    for (int i = 0; i < object->parameterCount; ++i) {
        writeParameter(json, &object->parameters[i]);
    }
    rbJson_End(json);
    rbJson_BeginArray(json, "required");
    rbJson_Text(json, NULL, "type");
    for (int i = 0; i < object->parameterCount; ++i) {
        if (object->parameters[i].isRequired) {
            rbJson_Text(json, NULL, object->parameters[i].key);
        }
    }
    rbJson_End(json);
    rbJson_End(json);
}

// Shapes and forces that numbers describe.
static void writeTables(rbJson* json)
{
    rbTableKind kind;
    for (int i = 0; i < rbShapeType_GetCount(); ++i) {
        const rbShapeOps* ops = rbGetShapeOps((rbShapeType)i);
        if (rbMakeShapeKind((rbShapeType)i, &kind)) {
            writeTyped(json, &(TypedObject){kind.name, ops->name, ops->meaning, false,
                                            ops->parameters, ops->parameterCount});
        }
    }
    for (int i = 0; i < rbForceType_GetCount(); ++i) {
        const rbForceRow* row = rbGetForceRow((rbForceType)i);
        if (rbMakeForceKind((rbForceType)i, &kind)) {
            writeTyped(json, &(TypedObject){kind.name, row->name, row->meaning, true,
                                            row->parameters, row->parameterCount});
        }
    }
}

// ---------------------------------------------------------------------------------------- text

// Ends of ranges from here on only keep numbers from overflow.
#define LARGE 1e6

// "0.001", "true", "geometric", "[0, 0, -9.81]", "no limit".
static void describeValue(const rbSetting* setting, const void* settings, char* text,
                          size_t capacity)
{
    if (setting->storage == RB_STORAGE_VECTOR) {
        double v[3];
        memcpy(v, (const char*)settings + setting->offset, sizeof v);
        (void)snprintf(text, capacity, "[%g, %g, %g]", v[0], v[1], v[2]);
        return;
    }
    double number = rbSetting_GetNumber(setting, settings);
    if (setting->accepted.words != NULL) {
        (void)snprintf(text, capacity, "%s", rbWords_Name(setting->accepted.words, (int)number));
    } else if (setting->storage == RB_STORAGE_SWITCH) {
        (void)snprintf(text, capacity, "%s", number != 0.0 ? "true" : "false");
    } else if (setting->accepted.isInfinityFine && number > setting->accepted.high) {
        (void)snprintf(text, capacity, "no limit");
    } else {
        (void)snprintf(text, capacity, "%.10g", number);
    }
}

// "> 0", "0 to 1", "2, 4, 6", "true, false", "refuse, separate"; words between quotes.
static void describeAccepted(const rbSetting* setting, const char* quote, char* text,
                             size_t capacity)
{
    const rbAccepted* a = &setting->accepted;
    size_t used = 0;
    text[0] = '\0';
    if (a->words != NULL) {
        for (int i = 0; i < rbWords_GetCount(a->words) && used < capacity; ++i) {
            used += (size_t)snprintf(text + used, capacity - used, "%s%s%s%s", i > 0 ? ", " : "",
                                     quote, rbWords_Name(a->words, i), quote);
        }
    } else if (setting->storage == RB_STORAGE_SWITCH) {
        (void)snprintf(text, capacity, "%strue%s, %sfalse%s", quote, quote, quote, quote);
    } else if (a->step > 0.0) {
        int count = rbAccepted_GetCount(a);
        for (int i = 0; i < count && used < capacity; ++i) {
            used += (size_t)snprintf(text + used, capacity - used, "%s%g", i > 0 ? ", " : "",
                                     a->low + i * a->step);
        }
    } else if (a->high >= LARGE && a->low > -LARGE) {
        (void)snprintf(text, capacity, "%s %g", a->isLowOpen ? ">" : ">=", a->low);
    } else if (a->high < LARGE) {
        (void)snprintf(text, capacity, a->isLowOpen ? "> %g, at most %g" : "%g to %g", a->low,
                       a->high);
    } else {
        (void)snprintf(text, capacity, "any number");
    }
}

static void printText(const rbSettingList* list, const void* settings)
{
    (void)printf("%s: %s\n", list->name, list->meaning);
    for (int i = 0; i < list->count; ++i) {
        const rbSetting* setting = &list->rows[i];
        char value[64];
        char accepted[200];
        if (setting->key == NULL) {
            continue;
        }
        describeValue(setting, settings, value, sizeof value);
        describeAccepted(setting, "", accepted, sizeof accepted);
        (void)printf("  %-20s %s%s%s  (%s)\n  %-20s %s\n", setting->key, value,
                     setting->unit[0] != '\0' ? " " : "", setting->unit, accepted, "",
                     setting->meaning);
    }
}

static void printTable(const rbSettingList* list, const void* settings)
{
    (void)printf("| key | meaning | accepted | unit | default |\n|---|---|---|---|---|\n");
    for (int i = 0; i < list->count; ++i) {
        const rbSetting* setting = &list->rows[i];
        char value[64];
        char accepted[240];
        if (setting->key == NULL) {
            continue;
        }
        describeValue(setting, settings, value, sizeof value);
        describeAccepted(setting, "`", accepted, sizeof accepted);
        const char* quote =
            setting->accepted.words != NULL || setting->storage == RB_STORAGE_SWITCH ? "`" : "";
        (void)printf("| `%s` | %s | %s | %s | %s%s%s |\n", setting->key, setting->meaning, accepted,
                     setting->unit, quote, value, quote);
    }
}

// The levels of accuracy, after the settings of the step engine.
static void printLevels(bool isTable)
{
    const char* quote = isTable ? "`" : "";
    (void)printf(isTable ? "\n| `accuracy` | promises | defaults that differ |\n|---|---|---|\n"
                         : "levels of accuracy, with the defaults that differ:\n");
    for (int i = 0; i < RB_ACCURACY_COUNT; ++i) {
        const char* object = NULL;
        const char* key = NULL;
        double value = 0.0;
        (void)printf(isTable ? "| `%s` | %s |" : "  %-20s %s;", rbAccuracy_Name((rbAccuracy)i),
                     rbAccuracy_GetPromise((rbAccuracy)i));
        for (int k = 0; rbAccuracy_GetDefault((rbAccuracy)i, k, &object, &key, &value); ++k) {
            (void)printf("%s %s%s.%s%s %g", k > 0 ? "," : "", quote, object, key, quote, value);
        }
        (void)printf(isTable ? " |\n" : "\n");
    }
}

// ---------------------------------------------------------------------------------------- verb

// The k-th list of settings; NULL after the last.
static const rbSettingList* getList(int index)
{
    for (int k = 0; rbGetObjectKind(k) != NULL; ++k) {
        const rbSettingList* list = rbGetObjectKind(k)->settings;
        if (list != NULL && index-- == 0) {
            return list;
        }
    }
    return NULL;
}

static const char* getListName(int index)
{
    const rbSettingList* list = getList(index);
    return list != NULL ? list->name : NULL;
}

static const rbWords listWords = {"object of settings", getListName};

static void printList(const rbSettingList* list, const rbArguments* arguments, rbJson* json)
{
    if (rbArguments_Has(arguments, "--json")) {
        writeSchema(list, list->defaults, json);
    } else if (rbArguments_Has(arguments, "--markdown")) {
        printTable(list, list->defaults);
    } else {
        printText(list, list->defaults);
    }
    if (list == &rbStepSettingList && !rbArguments_Has(arguments, "--json")) {
        printLevels(rbArguments_Has(arguments, "--markdown"));
    }
}

static rbExit run(const rbArguments* arguments)
{
    bool isJson = rbArguments_Has(arguments, "--json");
    int first = 0;
    int end = rbWords_GetCount(&listWords);
    if (arguments->wordCount > 0) {
        const char* word = arguments->words[0];
        const char* nearest = rbWords_FindNearest(&listWords, word);
        first = rbWords_Find(&listWords, word);
        if (first == end) {
            return rbFail("there is no object of settings '%s'%s%s%s", word,
                          nearest != NULL ? "; did you mean '"
                                          : "; 'rattleback settings' lists all",
                          nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
        }
        end = first + 1;
    }
    rbJson json = {.file = stdout};
    if (isJson) {
        rbJson_BeginObject(&json, NULL);
    }
    for (int i = first; i < end; ++i) {
        if (i > first && !isJson) {
            (void)printf("\n");
        }
        printList(getList(i), arguments, &json);
    }
    if (isJson && arguments->wordCount == 0) {
        writeTables(&json);
    }
    if (isJson) {
        rbJson_End(&json);
    }
    return RB_EXIT_DONE;
}

static const rbOption options[] = {
    {"--json", NULL, "as definitions of the JSON schema of scenes; those of shapes and forces too"},
    {"--markdown", NULL, "as tables of the manual"},
    RB_MODULE_OPTION,
};

static const char* const examples[] = {"rattleback settings", "rattleback settings contact",
                                       "rattleback settings step --json", NULL};

const rbVerb rbVerbSettings = {
    .name = "settings",
    .words = "[OBJECT]",
    .help = "lists the settings of scenes: defaults, accepted values, units, meanings",
    .more =
        "Objects: world, motion, material, event, step, contact and rays. A value is set in the\n"
        "scene file or by --set OBJECT.KEY=VALUE, of a material by materials.NAME.KEY=VALUE.\n",
    .run = run,
    .wordMin = 0,
    .wordMax = 1,
    .options = options,
    .optionCount = sizeof options / sizeof options[0],
    .examples = examples,
};
