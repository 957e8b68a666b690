#include "laboratory/scene_rows.h"

#include "io/scene/reader.h"
#include "laboratory/scene_rays.h"

#include <rattleback/lab.h>
#include <rattleback/lab_contact.h>
#include <rattleback/lab_joints.h>
#include <rattleback/module.h>

#include <stddef.h>
#include <string.h>

// --------------------------------------------------------------------- classical joint methods

typedef struct BaumgarteFields {
    double alpha;
    double beta;
} BaumgarteFields;

static const rbKey baumgarteKeys[] = {
    {"alpha", RB_VALUE_NUMBER, .offset = offsetof(BaumgarteFields, alpha), .high = 1e12,
     .unit = "1/s"},
    {"beta", RB_VALUE_NUMBER, .offset = offsetof(BaumgarteFields, beta), .high = 1e12,
     .unit = "1/s"},
};
static const rbObjectKind baumgarteKind = {
    .name = "baumgarte", .what = "\"baumgarte\"", .keys = baumgarteKeys, .keyCount = 2};

static rbStatus readBaumgarte(const rbSceneRow* row, rbReader* reader, const json_t* value,
                              void* target)
{
    rbStepSettings* step = target;
    rbClassicalSettings settings = rbStepSettings_GetClassical(step);
    BaumgarteFields fields = {settings.baumgarteAlpha, settings.baumgarteBeta};
    rbStatus status = rbReadFields(reader, value, row->kind, &fields);
    settings.baumgarteAlpha = fields.alpha;
    settings.baumgarteBeta = fields.beta;
    rbStepSettings_SetClassical(step, &settings);
    return status;
}

typedef struct PenaltyFields {
    double frequency;
    double damping;
} PenaltyFields;

static const rbKey penaltyKeys[] = {
    {"frequency", RB_VALUE_NUMBER, .isLowOpen = true, .offset = offsetof(PenaltyFields, frequency),
     .high = 1e12, .unit = "1/s"},
    {"damping", RB_VALUE_NUMBER, .offset = offsetof(PenaltyFields, damping), .high = 1e6,
     .unit = ""},
};
static const rbObjectKind penaltyKind = {
    .name = "penalty", .what = "\"penalty\"", .keys = penaltyKeys, .keyCount = 2};

static rbStatus readPenalty(const rbSceneRow* row, rbReader* reader, const json_t* value,
                            void* target)
{
    rbStepSettings* step = target;
    rbClassicalSettings settings = rbStepSettings_GetClassical(step);
    PenaltyFields fields = {settings.penaltyFrequency, settings.penaltyDamping};
    rbStatus status = rbReadFields(reader, value, row->kind, &fields);
    settings.penaltyFrequency = fields.frequency;
    settings.penaltyDamping = fields.damping;
    rbStepSettings_SetClassical(step, &settings);
    return status;
}

// -------------------------------------------------------------------------------- penalty contact

static rbStatus readPenaltyContact(const rbSceneRow* row, rbReader* reader, const json_t* value,
                                   void* target)
{
    rbContactSettings* contact = target;
    rbPenaltySettings settings = rbContactSettings_GetPenalty(contact);
    bool isDepth = strcmp(row->key.name, "penaltyDepth") == 0;
    rbStatus status =
        rbReadValue(reader, value, &row->key, isDepth ? &settings.depth : &settings.damping);
    rbContactSettings_SetPenalty(contact, &settings);
    return status;
}

// ----------------------------------------------------------------------------------- the table

static const rbSceneRow rows[] = {
    {"", {.name = "rays", .kind = RB_VALUE_OBJECT, .unit = ""}, &rbRaysKind, rbReadRays},
    {"step",
     {.name = "baumgarte", .kind = RB_VALUE_OBJECT, .unit = ""},
     &baumgarteKind,
     readBaumgarte},
    {"step", {.name = "penalty", .kind = RB_VALUE_OBJECT, .unit = ""}, &penaltyKind, readPenalty},
    {"contact",
     {.name = "penaltyDepth", .kind = RB_VALUE_NUMBER, .isLowOpen = true, .high = 1.0, .unit = "m"},
     NULL,
     readPenaltyContact},
    {"contact",
     {.name = "penaltyDamping", .kind = RB_VALUE_NUMBER, .high = 1.0, .unit = ""},
     NULL,
     readPenaltyContact},
};

rbStatus rbRegisterSceneLaboratory(rbError* error)
{
    static bool isRegistered = false;
    if (isRegistered) {
        return RB_STATUS_OK;
    }
    rbStatus status = rbRegisterLaboratory(error);
    for (size_t i = 0; status == RB_STATUS_OK && i < sizeof rows / sizeof rows[0]; ++i) {
        status = rbRegisterSceneRow(&rows[i], error);
    }
    rbSetModuleContactLaws(rbRegisterContactLaw);
    isRegistered = status == RB_STATUS_OK;
    return status;
}
