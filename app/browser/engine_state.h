// Shared by the files of the engine module: the last error, the files of scenes, and reading
// scenes.
#pragma once

#include "browser/engine.h"

#include <rattleback/scene.h>

// Sets the error that rbEngine_GetError tells.
void rbEngine_SetError(const rbError* error);

// Reads a scene whose files are those put in; NULL and the error set.
rbScene* rbEngine_ReadScene(const char* text, size_t size, const char* name);
