// The key "rays" of scenes: settings of the detector "rays" and of ray frames.
#include "laboratory/scene_rays.h"

#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <rattleback/lab_ray_detector.h>

#include <string.h>

#define FRAMES_COOKIE 0x6c61626672616d65u // "labframe"

rbRayFrameSettings rbSceneInfo_GetFrames(const rbSceneInfo* info)
{
    rbRayFrameSettings frames = rbDefaultRayFrameSettings();
    (void)rbExtraSettings_Get(&info->extra, FRAMES_COOKIE, &frames, sizeof frames);
    return frames;
}

typedef struct RaysFields {
    const char* pattern;
    int64_t count;
    bool isPerTriangle;
    int64_t edges;
    bool isOneWay;
    int64_t refineRounds;
    int64_t refineCount;
    int64_t raysMax;
    double tolerance;
    int64_t seed;
    // of frames
    double frameRate;
    const char* mode;
    bool isAccelerated;
    const char* boxTest;
    int64_t boxRays;
    double angleMax;
    int64_t subPoints;
    int64_t chordSamples;
} RaysFields;

#define AT(member) .offset = offsetof(RaysFields, member)
#define NOT_NEGATIVE(max) .low = 0.0, .high = (max), .unit = ""

static const rbKey raysKeys[] = {
    {"pattern", RB_VALUE_STRING, AT(pattern), .unit = ""},
    {"count", RB_VALUE_INTEGER, AT(count), NOT_NEGATIVE(RB_RAYS_COUNT_MAX)},
    {"perTriangle", RB_VALUE_BOOLEAN, AT(isPerTriangle), .unit = ""},
    {"edges", RB_VALUE_INTEGER, AT(edges), NOT_NEGATIVE(1000.0)},
    {"oneWay", RB_VALUE_BOOLEAN, AT(isOneWay), .unit = ""},
    {"refineRounds", RB_VALUE_INTEGER, AT(refineRounds), NOT_NEGATIVE(64.0)},
    {"refineCount", RB_VALUE_INTEGER, AT(refineCount), .low = 1.0, .high = 10000.0, .unit = ""},
    {"raysMax", RB_VALUE_INTEGER, AT(raysMax), NOT_NEGATIVE(2147483647.0)},
    {"tolerance", RB_VALUE_NUMBER, AT(tolerance), .isLowOpen = true, .high = RB_SCENE_LENGTH_MAX,
     .unit = "m"},
    {"seed", RB_VALUE_INTEGER, AT(seed), NOT_NEGATIVE(0x1p53)},
    {"frameRate", RB_VALUE_NUMBER, AT(frameRate), .low = 1e-6, .high = 1e9, .unit = "1/s"},
    {"mode", RB_VALUE_STRING, AT(mode), .unit = ""},
    {"accelerated", RB_VALUE_BOOLEAN, AT(isAccelerated), .unit = ""},
    {"boxTest", RB_VALUE_STRING, AT(boxTest), .unit = ""},
    {"boxRays", RB_VALUE_INTEGER, AT(boxRays), .low = 1.0, .high = 100000.0, .unit = ""},
    {"angleMax", RB_VALUE_NUMBER, AT(angleMax), .high = 3.141592653589793, .unit = "rad"},
    {"subPoints", RB_VALUE_INTEGER, AT(subPoints), .low = 1.0, .high = 1000.0, .unit = ""},
    {"chordSamples", RB_VALUE_INTEGER, AT(chordSamples), NOT_NEGATIVE(10000.0)},
};
const rbObjectKind rbRaysKind = {.name = "rays",
                                 .what = "\"rays\"",
                                 .keys = raysKeys,
                                 .keyCount = sizeof raysKeys / sizeof raysKeys[0]};

static const char* getPatternName(int index)
{
    return index < RB_RAYS_PATTERN_COUNT ? rbRayPattern_Name((rbRayPattern)index) : NULL;
}

static const char* getModeName(int index)
{
    return index < RB_FRAMES_MODE_COUNT ? rbFrameMode_Name((rbFrameMode)index) : NULL;
}

static const char* getBoxTestName(int index)
{
    return index < RB_BOXES_TEST_COUNT ? rbBoxTest_Name((rbBoxTest)index) : NULL;
}

// The keys of "rays" that hold words, in the order of the array they are read into.
enum {
    WORD_PATTERN,
    WORD_MODE,
    WORD_BOX_TEST,
    WORD_COUNT
};

static const struct {
    const char* key;
    size_t offset; // of the text in the fields
    rbWords words;
} wordRows[] = {
    [WORD_PATTERN] = {"pattern",
                      offsetof(RaysFields, pattern),
                      {"pattern of rays", getPatternName}},
    [WORD_MODE] = {"mode", offsetof(RaysFields, mode), {"mode of frames", getModeName}},
    [WORD_BOX_TEST] = {"boxTest", offsetof(RaysFields, boxTest), {"test of boxes", getBoxTestName}},
};
_Static_assert(sizeof wordRows / sizeof wordRows[0] == WORD_COUNT, "one row per word");

static RaysFields toFields(const rbRayFrameSettings* frames)
{
    const rbRaySettings* rays = &frames->rays;
    return (RaysFields){.count = rays->count,
                        .isPerTriangle = rays->isPerTriangle,
                        .edges = rays->edgeCount,
                        .isOneWay = rays->isOneWay,
                        .refineRounds = rays->refineRounds,
                        .refineCount = rays->refineCount,
                        .raysMax = rays->raysMax,
                        .tolerance = rays->tolerance,
                        .seed = (int64_t)rays->seed,
                        .frameRate = frames->frameRate,
                        .isAccelerated = frames->isAccelerated,
                        .boxRays = frames->boxRays,
                        .angleMax = frames->angleMax,
                        .subPoints = frames->subPoints,
                        .chordSamples = frames->chordSamples};
}

static void fromFields(const RaysFields* fields, const int words[WORD_COUNT],
                       rbRayFrameSettings* frames)
{
    rbRaySettings* rays = &frames->rays;
    rays->pattern = (rbRayPattern)words[WORD_PATTERN];
    rays->count = (int)fields->count;
    rays->isPerTriangle = fields->isPerTriangle;
    rays->edgeCount = (int)fields->edges;
    rays->isOneWay = fields->isOneWay;
    rays->refineRounds = (int)fields->refineRounds;
    rays->refineCount = (int)fields->refineCount;
    rays->raysMax = (int)fields->raysMax;
    rays->tolerance = fields->tolerance;
    rays->seed = (uint64_t)fields->seed;
    frames->frameRate = fields->frameRate;
    frames->mode = (rbFrameMode)words[WORD_MODE];
    frames->isAccelerated = fields->isAccelerated;
    frames->boxTest = (rbBoxTest)words[WORD_BOX_TEST];
    frames->boxRays = (int)fields->boxRays;
    frames->angleMax = fields->angleMax;
    frames->subPoints = (int)fields->subPoints;
    frames->chordSamples = (int)fields->chordSamples;
}

rbStatus rbReadRays(const rbSceneRow* row, rbReader* reader, const json_t* value, void* target)
{
    rbScene* scene = target;
    rbRayFrameSettings frames = rbSceneInfo_GetFrames(&scene->info);
    RaysFields fields = toFields(&frames);
    int words[WORD_COUNT] = {[WORD_PATTERN] = (int)frames.rays.pattern,
                             [WORD_MODE] = (int)frames.mode,
                             [WORD_BOX_TEST] = (int)frames.boxTest};
    rbStatus status = rbReadFields(reader, value, row->kind, &fields);
    for (int i = 0; i < WORD_COUNT && status == RB_STATUS_OK; ++i) {
        const char* word = NULL;
        memcpy(&word, (const char*)&fields + wordRows[i].offset, sizeof word);
        if (word != NULL) {
            status = rbReadWord(reader, wordRows[i].key, word, &wordRows[i].words, &words[i]);
        }
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    fromFields(&fields, words, &frames);
    rbError own = {0};
    if (rbRayFrameSettings_Check(&frames, &own) != RB_STATUS_OK) {
        return rbReader_Fail(reader, own.status, "%s", own.message);
    }
    rbExtraSettings_Put(&scene->info.extra, FRAMES_COOKIE, &frames, sizeof frames);
    rbEventSettings_SetRays(&scene->info.event, &frames.rays);
    return RB_STATUS_OK;
}
