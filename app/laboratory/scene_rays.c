// The key "rays" of scenes: settings of the detector "rays" and of ray frames.
#include "laboratory/scene_rays.h"

#include "io/scene/scene_model.h"
#include "lab/rays/ray_settings.h"

#include <rattleback/lab_ray_detector.h>

#define FRAMES_COOKIE 0x6c61626672616d65u // "labframe"

rbRayFrameSettings rbSceneInfo_GetFrames(const rbSceneInfo* info)
{
    rbRayFrameSettings frames = rbDefaultRayFrameSettings();
    (void)rbExtraSettings_Get(&info->extra, FRAMES_COOKIE, &frames, sizeof frames);
    return frames;
}

const rbObjectKind rbRaysKind = {
    .name = "rays", .what = "\"rays\"", .settings = &rbRayFrameSettingList};

rbStatus rbReadRays(const rbSceneRow* row, rbReader* reader, const json_t* value, void* target)
{
    rbScene* scene = target;
    rbRayFrameSettings frames = rbSceneInfo_GetFrames(&scene->info);
    rbStatus status = rbReadFields(reader, value, row->kind, &frames);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbError own = {0};
    if (rbRayFrameSettings_Check(&frames, &own) != RB_STATUS_OK) {
        return rbReader_Fail(reader, own.status, "%s", own.message);
    }
    rbExtraSettings_Put(&scene->info.extra, FRAMES_COOKIE, &frames, sizeof frames);
    rbEventSettings_SetRays(&scene->info.event, &frames.rays);
    return RB_STATUS_OK;
}
