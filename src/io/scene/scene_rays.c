// How contact is found, and settings of prediction by rays.
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <string.h>

static const char* getDetectorName(int index, const void* context)
{
    (void)context;
    return rbDetector_Name((rbDetector)index);
}

static const char* getPatternName(int index, const void* context)
{
    (void)context;
    return rbRayPattern_Name((rbRayPattern)index);
}

static const char* getModeName(int index, const void* context)
{
    (void)context;
    return rbFrameMode_Name((rbFrameMode)index);
}

static const char* getBoxTestName(int index, const void* context)
{
    (void)context;
    return rbBoxTest_Name((rbBoxTest)index);
}

rbStatus rbReadDetector(rbReader* reader, const char* word, rbDetector* detector)
{
    const rbWordList list = {"detector", getDetectorName, rbDetector_GetCount()};
    int index = (int)*detector;
    rbStatus status = rbReadWord(reader, "detector", word, &list, &index);
    *detector = (rbDetector)index;
    return status;
}

// The keys of "rays" that hold words, in the order of the array they are read into.
enum {
    WORD_PATTERN,
    WORD_MODE,
    WORD_BOX_TEST,
    WORD_COUNT
};

static const rbWordRow wordRows[] = {
    [WORD_PATTERN] = {"pattern",
                      offsetof(rbRaysFields, pattern),
                      {"pattern of rays", getPatternName, RB_RAYS_PATTERN_COUNT}},
    [WORD_MODE] = {"mode",
                   offsetof(rbRaysFields, mode),
                   {"mode of frames", getModeName, RB_FRAMES_MODE_COUNT}},
    [WORD_BOX_TEST] = {"boxTest",
                       offsetof(rbRaysFields, boxTest),
                       {"test of boxes", getBoxTestName, RB_BOXES_TEST_COUNT}},
};
_Static_assert(sizeof wordRows / sizeof wordRows[0] == WORD_COUNT, "one row a word");

static rbRaysFields toFields(const rbRayFrameSettings* frames)
{
    const rbRaySettings* rays = &frames->rays;
    return (rbRaysFields){.count = rays->count,
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

static void fromFields(const rbRaysFields* fields, const int words[WORD_COUNT],
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

rbStatus rbReadRays(rbScene* scene, rbReader* reader, const json_t* object)
{
    RB_ASSERT(scene != NULL);
    rbRayFrameSettings* frames = &scene->info.frames;
    frames->rays = rbDefaultRaySettings();
    if (object == NULL) {
        return RB_STATUS_OK;
    }
    rbRaysFields fields = toFields(frames);
    int words[WORD_COUNT] = {[WORD_PATTERN] = (int)frames->rays.pattern,
                             [WORD_MODE] = (int)frames->mode,
                             [WORD_BOX_TEST] = (int)frames->boxTest};
    rbStatus status = rbReadFields(reader, object, &rbRaysKeys, &fields);
    if (status == RB_STATUS_OK) {
        status = rbReadWords(reader, wordRows, WORD_COUNT, &fields, words);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    fromFields(&fields, words, frames);
    rbDetectorSettings* detector = &scene->info.event.detectorSettings;
    memcpy(detector, &frames->rays, sizeof frames->rays); // as rbEventSettings_SetRays does
    rbError own = {0};
    if (rbRayFrameSettings_Check(frames, &own) != RB_STATUS_OK) {
        return rbReader_Fail(reader, own.status, "%s", own.message);
    }
    return RB_STATUS_OK;
}
