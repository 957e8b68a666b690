// Levels of accuracy of the step engine: see world_settings.h.
#include "world/world_parameters.h"
#include "world/world_settings.h"

#include <string.h>

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
    rbStepSettings step = rbWorld_GetStepSettings(world);
    rbContactSettings contact = rbWorld_GetContactSettings(world);
    rbAccuracy_Apply(accuracy, &step, &contact);
    return rbWorld_SetSettings(world, &step, &contact, error);
}

rbStatus rbCheckAccuracy(const rbWorldDef* def, rbError* error)
{
    rbAccuracy accuracy = def->step.accuracy;
    const char* name = rbAccuracy_Name(accuracy);
    bool isExact = accuracy == RB_ACCURACY_EXACT;
    bool isGame = accuracy == RB_ACCURACY_GAME;
    if (isExact && !(def->step.errorMax > 0.0)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "step.accuracy is \"exact\", and step.errorMax is 0; set a positive one "
                           "(in C, rbWorldDef_SetAccuracy sets all that belongs to a level)");
    }
    if (!isExact && def->step.errorMax > 0.0) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "step.errorMax is %g m, and step.accuracy is \"%s\"; error control "
                           "belongs to \"exact\": set step.accuracy to it, or errorMax to 0",
                           def->step.errorMax, name);
    }
    if (isExact && def->step.order < 4) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "step.accuracy is \"exact\", and step.order is %d; error control needs order 4 or more",
            def->step.order);
    }
    if (isGame != (def->contact.substeps > 0)) {
        return rbError_Set(
            error, RB_STATUS_INVALID, "contact.substeps is %d, and step.accuracy is \"%s\"; %s",
            def->contact.substeps, name,
            isGame ? "\"game\" needs at least 1 (in C, rbWorldDef_SetAccuracy sets all that "
                     "belongs to a level)"
                   : "small steps belong to \"game\": set step.accuracy to it, or substeps to 0");
    }
    if (isGame && (def->contact.cone != RB_CONE_EXACT || def->contact.shockAfter > 0 ||
                   def->contact.method != RB_CONTACT_IMPULSES)) {
        return rbError_Set(
            error, RB_STATUS_UNSUPPORTED,
            "step.accuracy is \"game\"; contact.cone must then be \"exact\", contact.shockAfter 0 "
            "and contact.method \"impulses\"; they are \"%s\", %d and \"%s\"",
            rbFrictionCone_Name(def->contact.cone), def->contact.shockAfter,
            rbContactMethod_Name(def->contact.method));
    }
    return RB_STATUS_OK;
}
