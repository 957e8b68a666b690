// Properties of pairs of materials; materials get their kinds here.
#include "dynamics/impact/impact_words.h"
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <stdio.h>
#include <string.h>

// More pairs than this would contain duplicates anyway.
#define PAIRS_MAX ((size_t)RB_MATERIAL_KINDS_MAX * RB_MATERIAL_KINDS_MAX)

// The kind of a named material, assigned when a pair first refers to it. Kind 0 is shared by all
// materials without a pair.
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
                                 "the material \"%.60s\" is number %d in pairs; the limit is %d "
                                 "materials",
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
        return RB_STATUS_OK; // the key reader reports it
    }
    char found[96];
    rbDescribeJson(array, found, sizeof found);
    rbReader_Push(reader, "materials");
    return rbReader_Fail(reader, RB_STATUS_INVALID, "found %s; expected two material names", found);
}

static rbStatus readPair(rbScene* scene, rbReader* reader, const json_t* json, int* kindCount)
{
    const char* names[2] = {NULL, NULL};
    rbStatus status = readNames(reader, json, names);
    rbMaterialPairFields fields = {0};
    if (status == RB_STATUS_OK) {
        status = rbReadFields(reader, json, &rbMaterialPairKeys, &fields);
    }
    int law = RB_IMPACT_LAW_COUNT;
    if (status == RB_STATUS_OK && fields.law != NULL) {
        status = rbReadWord(reader, "law", fields.law, &rbImpactLawWords, &law);
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
                                 "the pair is already given by /materialPairs/%d; give it once", i);
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
        return rbReader_Fail(reader, RB_STATUS_LIMIT, "%zu pairs of materials; the limit is %zu",
                             count, PAIRS_MAX);
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
