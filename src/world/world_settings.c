// Settings of a world and its engines: see world_settings.h.
#include "world/world_settings.h"

#include "collision/broadphase/broad_phase.h"
#include "dynamics/contact/contact_words.h"
#include "dynamics/engines/event/event_rows.h"
#include "dynamics/engines/step/contact_method.h"
#include "dynamics/impact/impact_words.h"
#include "dynamics/motion/flight.h"
#include "dynamics/solvers/solver.h"
#include "dynamics/solvers/step_method.h"
#include "world/accuracy.h"
#include "world/world_contact.h"
#include "world/world_state.h"

#include <math.h>

static const char* const schemeNames[RB_SCHEME_COUNT] = {
    [RB_SCHEME_START] = "start",
    [RB_SCHEME_MIDDLE] = "middle",
};
RB_DEFINE_WORDS(rbStepScheme, "scheme", RB_SCHEME_COUNT, schemeNames[index])

// --------------------------------------------------------------------------------------- lists

static const rbMotionSettings motionDefaults = {RB_MOTION_SETTINGS(RB_SETTING_DEFAULT)};
static const rbEventSettings eventDefaults = {RB_EVENT_SETTINGS(RB_SETTING_DEFAULT)};
static const rbStepSettings stepDefaults = {RB_STEP_SETTINGS(RB_SETTING_DEFAULT)};
static const rbContactSettings contactDefaults = {RB_CONTACT_SETTINGS(RB_SETTING_DEFAULT)};
static const rbWorldDef worldDefaults = {RB_WORLD_SETTINGS(RB_SETTING_DEFAULT)};
static const rbMaterial materialDefaults = {RB_MATERIAL_SETTINGS(RB_SETTING_DEFAULT)};

#define SETTINGS_STRUCT rbMotionSettings
static const rbSetting motionRows[] = {RB_MOTION_SETTINGS(RB_SETTING_ROW)};
#undef SETTINGS_STRUCT
#define SETTINGS_STRUCT rbEventSettings
static const rbSetting eventRows[] = {RB_EVENT_SETTINGS(RB_SETTING_ROW)};
#undef SETTINGS_STRUCT
#define SETTINGS_STRUCT rbStepSettings
static const rbSetting stepRows[] = {RB_STEP_SETTINGS(RB_SETTING_ROW)};
#undef SETTINGS_STRUCT
#define SETTINGS_STRUCT rbContactSettings
static const rbSetting contactRows[] = {RB_CONTACT_SETTINGS(RB_SETTING_ROW)};
#undef SETTINGS_STRUCT
#define SETTINGS_STRUCT rbWorldDef
static const rbSetting worldRows[] = {RB_WORLD_SETTINGS(RB_SETTING_ROW)};
#undef SETTINGS_STRUCT
#define SETTINGS_STRUCT rbMaterial
static const rbSetting materialRows[] = {RB_MATERIAL_SETTINGS(RB_SETTING_ROW)};
#undef SETTINGS_STRUCT

const rbSettingList rbMotionSettingList = {
    .name = "motion",
    .meaning = "How free flight is computed.",
    .defaults = &motionDefaults,
    .size = sizeof motionDefaults,
    .rows = motionRows,
    .count = sizeof motionRows / sizeof motionRows[0],
};

const rbSettingList rbEventSettingList = {
    .name = "event",
    .meaning = "Settings of the event engine.",
    .defaults = &eventDefaults,
    .size = sizeof eventDefaults,
    .rows = eventRows,
    .count = sizeof eventRows / sizeof eventRows[0],
};

const rbSettingList rbStepSettingList = {
    .name = "step",
    .meaning = "Settings of the step engine.",
    .defaults = &stepDefaults,
    .size = sizeof stepDefaults,
    .rows = stepRows,
    .count = sizeof stepRows / sizeof stepRows[0],
};

const rbSettingList rbContactSettingList = {
    .name = "contact",
    .meaning = "Contacts of the step engine.",
    .defaults = &contactDefaults,
    .size = sizeof contactDefaults,
    .rows = contactRows,
    .count = sizeof contactRows / sizeof contactRows[0],
};

rbContactSettings rbDefaultContactSettings(void)
{
    return contactDefaults;
}

const rbSettingList rbWorldSettingList = {
    .name = "world",
    .meaning = "The space the bodies are in.",
    .defaults = &worldDefaults,
    .size = sizeof worldDefaults,
    .rows = worldRows,
    .count = sizeof worldRows / sizeof worldRows[0],
};

const rbSettingList rbMaterialSettingList = {
    .name = "material",
    .meaning = "What a shape is made of.",
    .defaults = &materialDefaults,
    .size = sizeof materialDefaults,
    .rows = materialRows,
    .count = sizeof materialRows / sizeof materialRows[0],
};

#define SET_DEFAULT(type, member, key, fallback, accepted, unit, meaning) \
    def->member = worldDefaults.member;

void rbInitWorldDef(rbWorldDef* def, uint32_t abi, size_t size)
{
    if (!rbStampDef(def, RB_KIND_WORLD, sizeof *def, abi, size)) {
        return;
    }
    RB_WORLD_SETTINGS(SET_DEFAULT)
    def->motion = motionDefaults;
    def->engine = RB_ENGINE_STEP;
    def->event = eventDefaults;
    def->step = stepDefaults;
    def->contact = contactDefaults;
}

// ------------------------------------------------------------------------------------- checks

static rbStatus checkEvent(const rbEventSettings* s, rbError* error)
{
    rbStatus status = rbSettingList_Check(&rbEventSettingList, s, error);
    if (status == RB_STATUS_OK && rbGetDetectorRow(s->detector)->check != NULL) {
        status = rbGetDetectorRow(s->detector)->check(s, error);
    }
    return status;
}

static rbStatus checkStep(const rbStepSettings* s, rbError* error)
{
    rbStatus status = rbSettingList_Check(&rbStepSettingList, s, error);
    const rbStepMethodRow* row = status == RB_STATUS_OK ? rbStepMethodRow_Get(s->method) : NULL;
    return row != NULL && row->checkSettings != NULL ? row->checkSettings(s, error) : status;
}

rbStatus rbCheckWorldDef(const rbWorldDef* def, rbError* error)
{
    if ((unsigned)def->engine >= RB_ENGINE_COUNT) {
        return rbError_Set(error, RB_STATUS_INVALID, "there is no engine number %d",
                           (int)def->engine);
    }
    rbStatus status = rbSettingList_Check(&rbWorldSettingList, def, error);
    if (status == RB_STATUS_OK) {
        status = rbSettingList_Check(&rbMotionSettingList, &def->motion, error);
    }
    if (status == RB_STATUS_OK) {
        status = checkEvent(&def->event, error);
    }
    if (status == RB_STATUS_OK) {
        status = checkStep(&def->step, error);
    }
    if (status == RB_STATUS_OK) {
        status = rbCheckContacts(def, error);
    }
    if (status == RB_STATUS_OK) {
        status = rbCheckAccuracy(def, error);
    }
    return status;
}
