// Files that people give to the scene reader although they are something else.
#ifndef RB_SCENE_FOREIGN_FORMAT_H
#define RB_SCENE_FOREIGN_FORMAT_H

#include <rattleback/base.h>

#include <stdbool.h>

// True when bytes begin like a known format that is not a scene; the error then names the format
// and what to do.
bool rbIsForeignFormat(const char* bytes, size_t size, rbError* error);

#endif
