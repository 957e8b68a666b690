// The lists of the settings of rays and of frames on paths.
#ifndef RB_LAB_RAY_SETTINGS_H
#define RB_LAB_RAY_SETTINGS_H

#include "base/core/settings.h"

#include <rattleback/lab_ray_frames.h>

RB_DECLARE_WORDS(rbRayPattern);
RB_DECLARE_WORDS(rbBoxTest);

extern const rbSettingList rbRayFrameSettingList; // those of its rays first

#endif
