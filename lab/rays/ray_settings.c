// Settings of prediction by rays: words, defaults and check, from their list.
#include "lab/rays/ray_settings.h"

static const char* const patternNames[RB_RAYS_PATTERN_COUNT] = {
    [RB_RAYS_UNIFORM] = "uniform",
    [RB_RAYS_LATTICE] = "lattice",
};
RB_DEFINE_WORDS(rbRayPattern, "pattern of rays", RB_RAYS_PATTERN_COUNT, patternNames[index])

static const rbRaySettings defaults = {RB_RAY_SETTINGS(RB_SETTING_DEFAULT)};

#define SETTINGS_STRUCT rbRaySettings
static const rbSetting rows[] = {RB_RAY_SETTINGS(RB_SETTING_ROW)};

rbRaySettings rbDefaultRaySettings(void)
{
    return defaults;
}

rbStatus rbRaySettings_Check(const rbRaySettings* settings, rbError* error)
{
    static const rbSettingList list = {
        .name = "rays", .rows = rows, .count = sizeof rows / sizeof rows[0]};
    return rbSettingList_Check(&list, settings, error);
}
