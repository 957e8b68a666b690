// Settings in what the program writes.
#pragma once

#include "base/core/settings.h"
#include "cli/cli.h"

// The values of a struct as an object under the name of its list, with the keys of scenes.
void rbJson_Settings(rbJson* json, const rbSettingList* list, const void* settings);
