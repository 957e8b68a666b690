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

// Levels of accuracy of the step engine: rows of defaults for its settings and those of contacts.
RB_DECLARE_WORDS(rbAccuracy);

// Sets what belongs to a level; other settings stay.
void rbAccuracy_Apply(rbAccuracy accuracy, rbStepSettings* step, rbContactSettings* contact);
// The index-th default of a level that differs from those of the lists of settings; false: no more.
bool rbAccuracy_GetDefault(rbAccuracy accuracy, int index, const char** object, const char** key,
                           double* value);
