// The lists of the settings of a world and its engines, their defaults and checks.
#pragma once

#include "base/core/settings.h"

#include <rattleback/world.h>

extern const rbSettingList rbWorldSettingList; // for rbWorldDef: gravity and periodicBox
extern const rbSettingList rbMotionSettingList;
extern const rbSettingList rbEventSettingList;
extern const rbSettingList rbStepSettingList;
extern const rbSettingList rbContactSettingList;
extern const rbSettingList rbMaterialSettingList; // of a shape

RB_DECLARE_WORDS(rbEngineType);
RB_DECLARE_WORDS(rbStepScheme);

// Checks ranges by the lists, then combinations. The settings of contacts that are off, or of an
// engine that is not used, are only checked one by one.
rbStatus rbCheckWorldDef(const rbWorldDef* def, rbError* error);
