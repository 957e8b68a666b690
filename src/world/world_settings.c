// Settings of a world and its engines: see world_settings.h.
#include "world/world_settings.h"

#include "collision/broadphase/broad_phase.h"
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
    [RB_SCHEME_START] = "start", [RB_SCHEME_MIDDLE] = "middle"};
RB_DEFINE_WORDS(rbStepScheme, "scheme", RB_SCHEME_COUNT, schemeNames[index])

static const char* const coneNames[RB_CONE_COUNT] = {
    [RB_CONE_EXACT] = "exact",
    [RB_CONE_PYRAMID] = "pyramid",
};
RB_DEFINE_WORDS(rbFrictionCone, "cone of friction", RB_CONE_COUNT, coneNames[index])

static const char* const timeNames[RB_CONTACT_TIME_COUNT] = {
    [RB_CONTACT_TIME_STEP] = "step",
    [RB_CONTACT_TIME_INTERPOLATION] = "interpolation",
    [RB_CONTACT_TIME_BISECTION] = "bisection",
    [RB_CONTACT_TIME_AUTO] = "auto",
};
RB_DEFINE_WORDS(rbContactTime, "search for the time of contact", RB_CONTACT_TIME_COUNT,
                timeNames[index])

static const char* getOverlapWord(int index)
{
    static const char* const names[] = {"refuse", "separate"};
    return index < 2 ? names[index] : NULL;
}
static const rbWords rbOverlapWords = {"treatment of overlaps", getOverlapWord};

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

// ----------------------------------------------------------------------------- levels of accuracy

// A default that differs from that of the lists of settings, which are those of "engineering".
typedef struct RowDefault {
    bool isOfContact;
    const char* key;
    double value;
} RowDefault;

#define DEFAULTS_MAX 8

typedef struct AccuracyRow {
    const char* name;
    const char* promise;
    RowDefault defaults[DEFAULTS_MAX]; // up to the first without a key
} AccuracyRow;

static const AccuracyRow rows[RB_ACCURACY_COUNT] = {
    [RB_ACCURACY_GAME] =
        {
            .name = "game",
            .promise =
                "a bounded amount of work per step, stable, piles come to rest; no tolerance "
                "is promised, overlaps of millimeters are usual",
            .defaults = {{false, "step", 1.0 / 60.0},
                         {false, "tolerance", 1e-6},
                         {true, "substeps", 5},
                         {true, "sweepsMax", 10}},
        },
    [RB_ACCURACY_ENGINEERING] =
        {
            .name = "engineering",
            .promise =
                "gaps, slips and joints within 1e-5 m and 1e-4 m/s at the end of every step, "
                "or the run says so; no energy from nothing; motion that is not chaotic "
                "within 1e-3 of itself per second",
        },
    [RB_ACCURACY_EXACT] =
        {
            .name = "exact",
            .promise = "the step size is chosen to keep the error of the motion at the end of the "
                       "run below step.errorMax; no joint limits and sampled motors",
            .defaults = {{false, "step", 0.01},
                         {false, "order", 8},
                         {false, "errorMax", 1e-9},
                         {true, "shell", 1e-11},
                         {true, "tolerance", 1e-12},
                         {true, "velocityTolerance", 1e-11},
                         {true, "restSpeed", 1e-5}},
        },
};

RB_DEFINE_WORDS(rbAccuracy, "accuracy", RB_ACCURACY_COUNT, rows[index].name)

const char* rbAccuracy_GetPromise(rbAccuracy accuracy)
{
    RB_ASSERT((unsigned)accuracy < RB_ACCURACY_COUNT);
    return rows[accuracy].promise;
}

bool rbAccuracy_GetDefault(rbAccuracy accuracy, int index, const char** object, const char** key,
                           double* value)
{
    RB_ASSERT((unsigned)accuracy < RB_ACCURACY_COUNT && index >= 0);
    const RowDefault* row = index < DEFAULTS_MAX ? &rows[accuracy].defaults[index] : NULL;
    if (row == NULL || row->key == NULL) {
        return false;
    }
    *object = (row->isOfContact ? rbContactSettingList : rbStepSettingList).name;
    *key = row->key;
    *value = row->value;
    return true;
}

// Sets the keys of a row, to its values or back to the defaults of the lists.
static void setKeys(const AccuracyRow* row, bool isOwn, rbStepSettings* step,
                    rbContactSettings* contact)
{
    for (int i = 0; i < DEFAULTS_MAX && row->defaults[i].key != NULL; ++i) {
        const RowDefault* own = &row->defaults[i];
        const rbSettingList* list = own->isOfContact ? &rbContactSettingList : &rbStepSettingList;
        void* settings = own->isOfContact ? (void*)contact : (void*)step;
        const rbSetting* setting = rbSettingList_Find(list, own->key);
        RB_ASSERT(setting != NULL);
        double value = isOwn ? own->value : rbSetting_GetNumber(setting, list->defaults);
        rbSetting_SetNumber(setting, settings, value);
    }
}

void rbAccuracy_Apply(rbAccuracy accuracy, rbStepSettings* step, rbContactSettings* contact)
{
    RB_ASSERT((unsigned)accuracy < RB_ACCURACY_COUNT);
    for (int i = 0; i < RB_ACCURACY_COUNT; ++i) {
        setKeys(&rows[i], false, step, contact);
    }
    setKeys(&rows[accuracy], true, step, contact);
    step->accuracy = accuracy;
}

void rbWorldDef_SetAccuracy(rbWorldDef* def, rbAccuracy accuracy)
{
    rbAccuracy_Apply(accuracy, &def->step, &def->contact);
}

rbStatus rbWorld_SetAccuracy(rbWorld* world, rbAccuracy accuracy, rbError* error)
{
    RB_INVALID_IF((unsigned)accuracy >= RB_ACCURACY_COUNT, error,
                  "there is no level of accuracy number %d; take one of rbAccuracy", (int)accuracy);
    rbStepSettings step = rbWorld_GetStepSettings(world);
    rbContactSettings contact = rbWorld_GetContactSettings(world);
    rbAccuracy_Apply(accuracy, &step, &contact);
    return rbWorld_SetSettings(world, &step, &contact, error);
}

// Settings that contradict the level they are said to have.
static rbStatus checkAccuracy(const rbWorldDef* def, rbError* error)
{
    rbAccuracy accuracy = def->step.accuracy;
    const char* name = rbAccuracy_Name(accuracy);
    bool isExact = accuracy == RB_ACCURACY_EXACT, isGame = accuracy == RB_ACCURACY_GAME;
    RB_INVALID_IF(isExact && !(def->step.errorMax > 0.0), error,
                  "step.accuracy is \"exact\", and step.errorMax is 0; set a positive one (in C, "
                  "rbWorldDef_SetAccuracy sets all that belongs to a level)");
    RB_INVALID_IF(!isExact && def->step.errorMax > 0.0, error,
                  "step.errorMax is %g m, and step.accuracy is \"%s\"; error control belongs to "
                  "\"exact\": set step.accuracy to it, or errorMax to 0",
                  def->step.errorMax, name);
    RB_INVALID_IF(
        isExact && def->step.order < 4, error,
        "step.accuracy is \"exact\", and step.order is %d; error control needs order 4 or more",
        def->step.order);
    RB_INVALID_IF(
        isGame != (def->contact.substeps > 0), error,
        "contact.substeps is %d, and step.accuracy is \"%s\"; %s", def->contact.substeps, name,
        isGame ? "\"game\" needs at least 1 (in C, rbWorldDef_SetAccuracy sets all that belongs to "
                 "a level)"
               : "small steps belong to \"game\": set step.accuracy to it, or substeps to 0");
    RB_REFUSE_IF(
        isGame && (def->contact.cone != RB_CONE_EXACT || def->contact.shockAfter > 0 ||
                   def->contact.method != RB_CONTACT_IMPULSES),
        RB_STATUS_UNSUPPORTED, error,
        "step.accuracy is \"game\"; contact.cone must then be \"exact\", contact.shockAfter 0 and "
        "contact.method \"impulses\"; they are \"%s\", %d and \"%s\"",
        rbFrictionCone_Name(def->contact.cone), def->contact.shockAfter,
        rbContactMethod_Name(def->contact.method));
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------- checks

rbStatus rbCheckWorldDef(const rbWorldDef* def, rbError* error)
{
    RB_INVALID_IF((unsigned)def->engine >= RB_ENGINE_COUNT, error, "there is no engine number %d",
                  (int)def->engine);
    RB_TRY(rbSettingList_Check(&rbWorldSettingList, def, error));
    RB_TRY(rbSettingList_Check(&rbMotionSettingList, &def->motion, error));
    RB_TRY(rbSettingList_Check(&rbEventSettingList, &def->event, error));
    const rbDetectorRow* detector = rbGetDetectorRow(def->event.detector);
    RB_TRY(detector->check != NULL ? detector->check(&def->event, error) : RB_STATUS_OK);
    RB_TRY(rbSettingList_Check(&rbStepSettingList, &def->step, error));
    const rbStepMethodRow* method = rbStepMethodRow_Get(def->step.method);
    if (method != NULL && method->checkSettings != NULL) {
        RB_TRY(method->checkSettings(&def->step, error));
    }
    RB_TRY(rbCheckContacts(def, error));
    return checkAccuracy(def, error);
}
