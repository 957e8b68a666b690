// The lists of the settings of rays and of frames on paths.
#pragma once

#include "base/core/settings.h"

#include <rattleback/lab_ray_frames.h>

RB_DECLARE_WORDS(rbRayPattern);
RB_DECLARE_WORDS(rbBoxTest);

extern const rbSettingList rbRayFrameSettingList; // those of its rays first
