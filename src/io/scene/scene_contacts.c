// Settings of the contacts of the step engine.
#include "io/scene/scene_joints.h"

#define DEFINE_WORDS(function, type, nameOf)                    \
    static const char* function(int index, const void* context) \
    {                                                           \
        (void)context;                                          \
        return nameOf((type)index);                             \
    }
DEFINE_WORDS(getConeName, rbFrictionCone, rbFrictionCone_Name)
DEFINE_WORDS(getTimeName, rbContactTime, rbContactTime_Name)

static const char* getMethodName(int index, const void* context)
{
    (void)context;
    return index < rbContactMethod_GetCount() ? rbContactMethod_Name((rbContactMethod)index) : NULL;
}

// The keys that hold words, in the order of the array they are read into.
enum {
    WORD_METHOD,
    WORD_BROAD_PHASE,
    WORD_LAW,
    WORD_CONE,
    WORD_TIME,
    WORD_FRICTION,
    WORD_RESTITUTION,
    WORD_OVERLAP,
    WORD_COUNT
};

static const rbWordRow wordRows[] = {
    [WORD_METHOD] = {"method",
                     offsetof(rbContactFields, method),
                     {"method of contact", getMethodName, RB_WORDS_OPEN}},
    [WORD_BROAD_PHASE] = {"broadPhase",
                          offsetof(rbContactFields, broadPhase),
                          {"broad phase", rbGetBroadPhaseWord, RB_WORDS_OPEN}},
    [WORD_LAW] = {"law",
                  offsetof(rbContactFields, law),
                  {"law of impact", rbGetLawWord, RB_IMPACT_LAW_COUNT}},
    [WORD_CONE] = {"cone",
                   offsetof(rbContactFields, cone),
                   {"cone of friction", getConeName, RB_CONE_COUNT}},
    [WORD_TIME] = {"contactTime",
                   offsetof(rbContactFields, contactTime),
                   {"search for the time of contact", getTimeName, RB_CONTACT_TIME_COUNT}},
    [WORD_FRICTION] = {"combineFriction",
                       offsetof(rbContactFields, combineFriction),
                       {"rule of combination", rbGetRuleWord, RB_COMBINE_COUNT}},
    [WORD_RESTITUTION] = {"combineRestitution",
                          offsetof(rbContactFields, combineRestitution),
                          {"rule of combination", rbGetRuleWord, RB_COMBINE_COUNT}},
    [WORD_OVERLAP] = {"overlap",
                      offsetof(rbContactFields, overlap),
                      {"treatment of overlaps", rbGetOverlapWord, 2}},
};
_Static_assert(sizeof wordRows / sizeof wordRows[0] == WORD_COUNT, "one row a word");

static rbContactFields getFields(const rbContactSettings* settings)
{
    rbContactFields fields = {.isOn = !settings->isOff,
                              .shell = settings->shell,
                              .tolerance = settings->tolerance,
                              .velocityTolerance = settings->velocityTolerance,
                              .restSpeed = settings->restSpeed,
                              .partSpeed = settings->partSpeed,
                              .freezeSpeed = settings->freezeSpeed,
                              .freezeTime = settings->freezeTime,
                              .sweepsMax = settings->sweepsMax,
                              .shockAfter = settings->shockAfter,
                              .facets = settings->facets,
                              .isWarm = settings->isWarm,
                              .isReacting = settings->isReacting,
                              .areNeighborsMeeting = !settings->areNeighborsExcluded};
    return fields;
}

static void setFields(const rbContactFields* fields, const int words[WORD_COUNT],
                      rbContactSettings* settings)
{
    settings->isOff = !fields->isOn;
    settings->method = (rbContactMethod)words[WORD_METHOD];
    settings->broadPhase = (rbBroadPhaseType)words[WORD_BROAD_PHASE];
    settings->law = (rbImpactLaw)words[WORD_LAW];
    settings->cone = (rbFrictionCone)words[WORD_CONE];
    settings->contactTime = (rbContactTime)words[WORD_TIME];
    settings->frictionRule = (rbCombineRule)words[WORD_FRICTION];
    settings->restitutionRule = (rbCombineRule)words[WORD_RESTITUTION];
    settings->isOverlapAllowed = words[WORD_OVERLAP] == 1;
    settings->shell = fields->shell;
    settings->tolerance = fields->tolerance;
    settings->velocityTolerance = fields->velocityTolerance;
    settings->restSpeed = fields->restSpeed;
    settings->partSpeed = fields->partSpeed;
    settings->freezeSpeed = fields->freezeSpeed;
    settings->freezeTime = fields->freezeTime;
    settings->sweepsMax = (int)fields->sweepsMax;
    settings->shockAfter = (int)fields->shockAfter;
    settings->facets = (int)fields->facets;
    settings->isWarm = fields->isWarm;
    settings->isReacting = fields->isReacting;
    settings->areNeighborsExcluded = !fields->areNeighborsMeeting;
}

rbStatus rbReadContact(rbScene* scene, rbReader* reader, const json_t* object)
{
    RB_ASSERT(scene != NULL);
    if (object == NULL) {
        return RB_STATUS_OK;
    }
    scene->info.contact.isOff = false;
    return rbReadContactSettings(reader, object, &scene->info.contact);
}

rbStatus rbReadContactSettings(rbReader* reader, const json_t* object, rbContactSettings* settings)
{
    rbContactFields fields = getFields(settings);
    int words[WORD_COUNT] = {
        [WORD_METHOD] = (int)settings->method,
        [WORD_BROAD_PHASE] = (int)settings->broadPhase,
        [WORD_LAW] = (int)settings->law,
        [WORD_CONE] = (int)settings->cone,
        [WORD_TIME] = (int)settings->contactTime,
        [WORD_FRICTION] = (int)settings->frictionRule,
        [WORD_RESTITUTION] = (int)settings->restitutionRule,
        [WORD_OVERLAP] = settings->isOverlapAllowed ? 1 : 0,
    };
    rbStatus status = rbReadFields(reader, object, &rbContactKeys, &fields);
    if (status == RB_STATUS_OK) {
        status = rbReadWords(reader, wordRows, WORD_COUNT, &fields, words);
    }
    if (status == RB_STATUS_OK) {
        setFields(&fields, words, settings);
        status = rbReadSceneRows(reader, object, &rbContactKeys, settings);
    }
    return status;
}
