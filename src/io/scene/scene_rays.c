// How contact is found, and settings of prediction by rays.
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

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

rbStatus rbReadDetector(rbReader* reader, const char* word, rbDetector* detector)
{
    static const rbWordList list = {"detector", getDetectorName, RB_DETECTOR_COUNT};
    int index = (int)*detector;
    rbStatus status = rbReadWord(reader, "detector", word, &list, &index);
    *detector = (rbDetector)index;
    return status;
}

rbStatus rbReadRays(rbScene* scene, rbReader* reader, const json_t* object)
{
    static const rbWordList patterns = {"pattern of rays", getPatternName, RB_RAYS_PATTERN_COUNT};
    RB_ASSERT(scene != NULL);
    if (object == NULL) {
        return RB_STATUS_OK;
    }
    rbRaySettings* settings = &scene->info.event.rays;
    rbRaysFields fields = {.count = settings->count,
                           .isPerTriangle = settings->isPerTriangle,
                           .edges = settings->edgeCount,
                           .isOneWay = settings->isOneWay,
                           .refineRounds = settings->refineRounds,
                           .refineCount = settings->refineCount,
                           .tolerance = settings->tolerance,
                           .seed = (int64_t)settings->seed};
    int pattern = (int)settings->pattern;
    rbStatus status = rbReadFields(reader, object, &rbRaysKeys, &fields);
    if (status == RB_STATUS_OK && fields.pattern != NULL) {
        status = rbReadWord(reader, "pattern", fields.pattern, &patterns, &pattern);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    settings->pattern = (rbRayPattern)pattern;
    settings->count = (int)fields.count;
    settings->isPerTriangle = fields.isPerTriangle;
    settings->edgeCount = (int)fields.edges;
    settings->isOneWay = fields.isOneWay;
    settings->refineRounds = (int)fields.refineRounds;
    settings->refineCount = (int)fields.refineCount;
    settings->tolerance = fields.tolerance;
    settings->seed = (uint64_t)fields.seed;
    return RB_STATUS_OK;
}
