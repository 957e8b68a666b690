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
#include "world/world_engine.h"
#include "world/world_state.h"

#include <math.h>

static const char* const schemeNames[RB_SCHEME_COUNT] = {
    [RB_SCHEME_START] = "start",
    [RB_SCHEME_MIDDLE] = "middle",
};
RB_DEFINE_WORDS(rbStepScheme, "scheme", RB_SCHEME_COUNT, schemeNames[index])

// --------------------------------------------------------------------------------------- lists

// Defaults, rows and list of SETTINGS_STRUCT, all of them from one macro of the public headers.
#define DEFINE_LIST(NAME, name_, SETTINGS, meaning_)                               \
    static const SETTINGS_STRUCT name_##Defaults = {SETTINGS(RB_SETTING_DEFAULT)}; \
    static const rbSetting name_##Rows[] = {SETTINGS(RB_SETTING_ROW)};             \
    const rbSettingList rb##NAME##SettingList = {                                  \
        .name = #name_,                                                            \
        .meaning = meaning_,                                                       \
        .defaults = &name_##Defaults,                                              \
        .size = sizeof name_##Defaults,                                            \
        .rows = name_##Rows,                                                       \
        .count = sizeof name_##Rows / sizeof name_##Rows[0],                       \
    }

#define SETTINGS_STRUCT rbMotionSettings
DEFINE_LIST(Motion, motion, RB_MOTION_SETTINGS, "How free flight is computed.");
#undef SETTINGS_STRUCT
#define SETTINGS_STRUCT rbEventSettings
DEFINE_LIST(Event, event, RB_EVENT_SETTINGS, "Settings of the event engine.");
#undef SETTINGS_STRUCT
#define SETTINGS_STRUCT rbStepSettings
DEFINE_LIST(Step, step, RB_STEP_SETTINGS, "Settings of the step engine.");
#undef SETTINGS_STRUCT
#define SETTINGS_STRUCT rbContactSettings
DEFINE_LIST(Contact, contact, RB_CONTACT_SETTINGS, "Contacts of the step engine.");
#undef SETTINGS_STRUCT
#define SETTINGS_STRUCT rbWorldDef
DEFINE_LIST(World, world, RB_WORLD_SETTINGS, "The space the bodies are in.");
#undef SETTINGS_STRUCT
#define SETTINGS_STRUCT rbMaterial
DEFINE_LIST(Material, material, RB_MATERIAL_SETTINGS, "What a shape is made of.");
#undef SETTINGS_STRUCT

rbContactSettings rbDefaultContactSettings(void)
{
    return contactDefaults;
}

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
