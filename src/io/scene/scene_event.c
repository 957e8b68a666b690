// Settings of the event engine and pairs of materials.
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- words

rbStatus rbReadWord(rbReader* reader, const char* key, const char* word, const rbWordList* list,
                    int* index)
{
    RB_ASSERT(word != NULL);
    int count = list->count;
    while (list->count == RB_WORDS_OPEN && list->getWord(count, NULL) != NULL) {
        ++count;
    }
    RB_ASSERT(count > 0);
    for (int i = 0; i < count; ++i) {
        if (strcmp(list->getWord(i, NULL), word) == 0) {
            *index = i;
            return RB_STATUS_OK;
        }
    }
    char hint[240];
    const char* nearest = rbFindNearestName(word, list->getWord, count, NULL);
    (void)rbSuggest(hint, sizeof hint, nearest);
    if (nearest == NULL) {
        size_t used = (size_t)snprintf(hint, sizeof hint, "; known are");
        for (int i = 0; i < count && used < sizeof hint; ++i) {
            const char* separator = i == 0 ? "" : i + 1 < count ? "," : " and";
            used += (size_t)snprintf(hint + used, sizeof hint - used, "%s %s", separator,
                                     list->getWord(i, NULL));
        }
    }
    rbReader_Push(reader, key);
    return rbReader_Fail(reader, RB_STATUS_INVALID, "unknown %s \"%.60s\"%s", list->what, word,
                         hint);
}

#define DEFINE_WORDS(function, type, nameOf)                    \
    static const char* function(int index, const void* context) \
    {                                                           \
        (void)context;                                          \
        return nameOf((type)index);                             \
    }
DEFINE_WORDS(getOrderName, rbImpactOrder, rbImpactOrder_Name)
DEFINE_WORDS(getLastingName, rbLastingContact, rbLastingContact_Name)

static const char* getLoopName(int index, const void* context)
{
    (void)context;
    return index < rbEventLoop_GetCount() ? rbEventLoop_Name((rbEventLoop)index) : NULL;
}

static const char* getDetectorName(int index, const void* context)
{
    (void)context;
    return rbDetector_Name((rbDetector)index);
}

rbStatus rbReadDetector(rbReader* reader, const char* word, rbDetector* detector)
{
    const rbWordList list = {"detector", getDetectorName, rbDetector_GetCount()};
    int index = (int)*detector;
    rbStatus status = rbReadWord(reader, "detector", word, &list, &index);
    *detector = (rbDetector)index;
    return status;
}

// Words that "contact" has too.
const char* rbGetLawWord(int index, const void* context)
{
    (void)context;
    return rbImpactLaw_Name((rbImpactLaw)index);
}

const char* rbGetBroadPhaseWord(int index, const void* context)
{
    (void)context;
    bool isThere = index < rbBroadPhaseType_GetCount();
    return isThere ? rbBroadPhaseType_Name((rbBroadPhaseType)index) : NULL;
}

const char* rbGetRuleWord(int index, const void* context)
{
    (void)context;
    return rbCombineRule_Name((rbCombineRule)index);
}

const char* rbGetOverlapWord(int index, const void* context)
{
    (void)context;
    return index == 0 ? "refuse" : "separate";
}

rbStatus rbReadWords(rbReader* reader, const rbWordRow* rows, int count, const void* fields,
                     int* indices)
{
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        const char* word = NULL;
        memcpy(&word, (const char*)fields + rows[i].offset, sizeof word);
        if (word != NULL) {
            status = rbReadWord(reader, rows[i].key, word, &rows[i].list, &indices[i]);
        }
    }
    return status;
}

// ------------------------------------------------------------------------------------- settings

// The keys of "event" that hold words, in the order of the array they are read into.
enum {
    WORD_LAW,
    WORD_ORDER,
    WORD_LASTING,
    WORD_LOOP,
    WORD_BROAD_PHASE,
    WORD_RESTITUTION,
    WORD_FRICTION,
    WORD_OVERLAP,
    WORD_COUNT
};

static const rbWordRow wordRows[] = {
    [WORD_LAW] = {"law",
                  offsetof(rbEventFields, law),
                  {"law of impact", rbGetLawWord, RB_IMPACT_LAW_COUNT}},
    [WORD_ORDER] = {"order",
                    offsetof(rbEventFields, order),
                    {"order of impacts", getOrderName, RB_ORDER_COUNT}},
    [WORD_LASTING] = {"lasting",
                      offsetof(rbEventFields, lasting),
                      {"treatment of lasting contact", getLastingName, RB_LASTING_COUNT}},
    [WORD_LOOP] = {"loop", offsetof(rbEventFields, loop), {"loop", getLoopName, RB_WORDS_OPEN}},
    [WORD_BROAD_PHASE] = {"broadPhase",
                          offsetof(rbEventFields, broadPhase),
                          {"broad phase", rbGetBroadPhaseWord, RB_WORDS_OPEN}},
    [WORD_RESTITUTION] = {"combineRestitution",
                          offsetof(rbEventFields, combineRestitution),
                          {"rule of combination", rbGetRuleWord, RB_COMBINE_COUNT}},
    [WORD_FRICTION] = {"combineFriction",
                       offsetof(rbEventFields, combineFriction),
                       {"rule of combination", rbGetRuleWord, RB_COMBINE_COUNT}},
    [WORD_OVERLAP] = {"overlap",
                      offsetof(rbEventFields, overlap),
                      {"treatment of overlaps", rbGetOverlapWord, 2}},
};
_Static_assert(sizeof wordRows / sizeof wordRows[0] == WORD_COUNT, "one row a word");

rbStatus rbReadEvent(rbScene* scene, rbReader* reader, const json_t* object)
{
    RB_ASSERT(scene != NULL);
    if (object == NULL) {
        return RB_STATUS_OK;
    }
    rbEventSettings* settings = &scene->info.event;
    rbEventFields fields = {.tolerance = settings->tolerance,
                            .restTime = settings->restTime,
                            .contactTime = settings->contactTime,
                            .eventsPerSecond = settings->eventsPerSecond};
    int words[WORD_COUNT] = {
        [WORD_LAW] = (int)settings->law,
        [WORD_ORDER] = (int)settings->order,
        [WORD_LASTING] = (int)settings->lasting,
        [WORD_LOOP] = (int)settings->loop,
        [WORD_BROAD_PHASE] = (int)settings->broadPhase,
        [WORD_RESTITUTION] = (int)settings->combineRestitution,
        [WORD_FRICTION] = (int)settings->combineFriction,
        [WORD_OVERLAP] = settings->isOverlapAllowed ? 1 : 0,
    };
    rbStatus status = rbReadFields(reader, object, &rbEventKeys, &fields);
    if (status == RB_STATUS_OK) {
        status = rbReadWords(reader, wordRows, WORD_COUNT, &fields, words);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    settings->law = (rbImpactLaw)words[WORD_LAW];
    settings->order = (rbImpactOrder)words[WORD_ORDER];
    settings->lasting = (rbLastingContact)words[WORD_LASTING];
    settings->loop = (rbEventLoop)words[WORD_LOOP];
    settings->broadPhase = (rbBroadPhaseType)words[WORD_BROAD_PHASE];
    settings->combineRestitution = (rbCombineRule)words[WORD_RESTITUTION];
    settings->combineFriction = (rbCombineRule)words[WORD_FRICTION];
    settings->isOverlapAllowed = words[WORD_OVERLAP] == 1;
    settings->tolerance = fields.tolerance;
    settings->restTime = fields.restTime;
    settings->contactTime = fields.contactTime;
    settings->eventsPerSecond = fields.eventsPerSecond;
    return RB_STATUS_OK;
}

// --------------------------------------------------------------------------- pairs of materials

// Pairs beyond those of all kinds would be double ones anyway.
#define PAIRS_MAX ((size_t)RB_MATERIAL_KINDS_MAX * RB_MATERIAL_KINDS_MAX)

// The kind of a named material, given to it when a pair first names it. Kind 0 is that of all
// materials in no pair.
static rbStatus takeKind(rbScene* scene, rbReader* reader, const char* name, int* kindCount,
                         int* kind)
{
    rbSceneMaterial* material = (rbSceneMaterial*)rbScene_FindMaterial(scene, name);
    if (material == NULL) {
        return rbFailMaterial(scene, reader, name);
    }
    if (material->material.kind == 0) {
        if (*kindCount == RB_MATERIAL_KINDS_MAX - 1) {
            return rbReader_Fail(reader, RB_STATUS_LIMIT,
                                 "the material \"%.60s\" would be the %dth in pairs; at most %d "
                                 "are accepted",
                                 name, *kindCount + 1, RB_MATERIAL_KINDS_MAX - 1);
        }
        *kindCount += 1;
        material->material.kind = *kindCount;
    }
    *kind = material->material.kind;
    return RB_STATUS_OK;
}

// The two names of a pair; they also become the subject of messages.
static rbStatus readNames(rbReader* reader, const json_t* json, const char* names[2])
{
    const json_t* array = json_object_get(json, "materials");
    for (size_t i = 0; i < 2; ++i) {
        names[i] = json_string_value(json_array_get(array, i));
    }
    if (json_array_size(array) == 2 && names[0] != NULL && names[1] != NULL) {
        char text[140];
        (void)snprintf(text, sizeof text, "%.60s, %.60s", names[0], names[1]);
        rbReader_SetSubject(reader, "material pair", text);
        return RB_STATUS_OK;
    }
    if (array == NULL) {
        return RB_STATUS_OK; // the reader of the keys says so
    }
    char found[96];
    rbDescribeJson(array, found, sizeof found);
    rbReader_Push(reader, "materials");
    return rbReader_Fail(reader, RB_STATUS_INVALID, "found %s; expected two names of \"materials\"",
                         found);
}

static rbStatus readPair(rbScene* scene, rbReader* reader, const json_t* json, int* kindCount)
{
    static const rbWordList laws = {"law of impact", rbGetLawWord, RB_IMPACT_LAW_COUNT};
    const char* names[2] = {NULL, NULL};
    rbStatus status = readNames(reader, json, names);
    rbMaterialPairFields fields = {0};
    if (status == RB_STATUS_OK) {
        status = rbReadFields(reader, json, &rbMaterialPairKeys, &fields);
    }
    int law = RB_IMPACT_LAW_COUNT;
    if (status == RB_STATUS_OK && fields.law != NULL) {
        status = rbReadWord(reader, "law", fields.law, &laws, &law);
    }
    int kinds[2] = {0, 0};
    for (size_t i = 0; i < 2 && status == RB_STATUS_OK; ++i) {
        rbReader_Push(reader, "materials");
        rbReader_PushIndex(reader, i);
        status = takeKind(scene, reader, names[i], kindCount, &kinds[i]);
        if (status == RB_STATUS_OK) {
            rbReader_Pop(reader);
            rbReader_Pop(reader);
        }
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    int low = kinds[0] < kinds[1] ? kinds[0] : kinds[1];
    int high = kinds[0] < kinds[1] ? kinds[1] : kinds[0];
    for (int i = 0; i < scene->materialPairs.count; ++i) {
        const rbSceneMaterialPair* former = &scene->materialPairs.data[i];
        if (former->kindA == low && former->kindB == high) {
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "the pair is given by /materialPairs/%d already; give it once", i);
        }
    }
    rbSceneMaterialPair pair = {low, high, {fields.restitution, fields.friction, (rbImpactLaw)law}};
    rbArray_Push(scene->materialPairs, pair);
    return RB_STATUS_OK;
}

rbStatus rbReadMaterialPairs(rbScene* scene, rbReader* reader, const json_t* array)
{
    RB_ASSERT(scene->materialPairs.count == 0);
    size_t count = json_array_size(array);
    int kindCount = 0;
    if (count > PAIRS_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "%zu pairs of materials; at most %zu are accepted", count, PAIRS_MAX);
    }
    for (size_t i = 0; i < count; ++i) {
        rbReader_PushIndex(reader, i);
        rbStatus status = readPair(scene, reader, json_array_get(array, i), &kindCount);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_SetSubject(reader, NULL, NULL);
        rbReader_Pop(reader);
    }
    return RB_STATUS_OK;
}
