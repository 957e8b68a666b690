// Settings of the frame system: defaults, names and validation.
#include "lab/rays/ray_settings.h"

static const char* const modeNames[RB_FRAMES_MODE_COUNT] = {
    [RB_FRAMES_STOP] = "stop",
    [RB_FRAMES_LOG] = "log",
};
RB_DEFINE_WORDS(rbFrameMode, "mode of frames", RB_FRAMES_MODE_COUNT, modeNames[index])

static const rbRayFrameSettings defaults = {.rays = {RB_RAY_SETTINGS(RB_SETTING_DEFAULT)},
                                            RB_RAY_FRAME_SETTINGS(RB_SETTING_DEFAULT)};

_Static_assert(offsetof(rbRayFrameSettings, rays) == 0, "offsets of rays are those of frames");
static const rbSetting rows[] = {
#define SETTINGS_STRUCT rbRaySettings
    RB_RAY_SETTINGS(RB_SETTING_ROW)
#undef SETTINGS_STRUCT
#define SETTINGS_STRUCT rbRayFrameSettings
        RB_RAY_FRAME_SETTINGS(RB_SETTING_ROW)};

const rbSettingList rbRayFrameSettingList = {
    .name = "rays",
    .meaning = "Settings of prediction by rays, and of frames on prescribed paths.",
    .defaults = &defaults,
    .size = sizeof defaults,
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
};

rbRayFrameSettings rbDefaultRayFrameSettings(void)
{
    return defaults;
}

rbStatus rbRayFrameSettings_Check(const rbRayFrameSettings* settings, rbError* error)
{
    rbStatus status = rbSettingList_Check(&rbRayFrameSettingList, settings, error);
    if (status == RB_STATUS_OK && settings->chordSamples > 0 && settings->angleMax == 0.0) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "a table of chords makes speeds vary, which no tolerance bounds; set "
                           "the angle between tangent and chord too (published: 0.436 rad)");
    }
    return status;
}
