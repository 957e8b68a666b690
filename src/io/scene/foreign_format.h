// Files given to the scene reader that are of another known format.
#pragma once

#include <rattleback/base.h>

#include <stdbool.h>

// True when bytes begin like a known format that is not a scene; the error then names the format
// and the remedy.
bool rbIsForeignFormat(const char* bytes, size_t size, rbError* error);
