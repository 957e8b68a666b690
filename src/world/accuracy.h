// Levels of accuracy of the step engine: rows of defaults for its settings and those of contacts.
#pragma once

#include "base/core/words.h"

#include <rattleback/world.h>

RB_DECLARE_WORDS(rbAccuracy);

// Sets what belongs to a level; other settings stay.
void rbAccuracy_Apply(rbAccuracy accuracy, rbStepSettings* step, rbContactSettings* contact);
// The index-th default of a level that differs from those of the lists of settings; false: no more.
bool rbAccuracy_GetDefault(rbAccuracy accuracy, int index, const char** object, const char** key,
                           double* value);
// Settings that contradict the level they are said to have.
rbStatus rbCheckAccuracy(const rbWorldDef* def, rbError* error);
