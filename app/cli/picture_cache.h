// Pictures of the gallery, kept from one start of the program to the next: drawing one means
// running its scene. They are in $XDG_CACHE_HOME/rattleback (~/.cache/rattleback), and drawn again
// when the scene or the program has changed. Without such a folder nothing is kept, and nothing
// fails.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define RB_PICTURE_PATH_MAX 4096

// Pictures of the example scenes are made ahead (tools/gallery_pictures.mjs), so that the first
// start has them too. Their names hold a hash of the scene: one that has changed is drawn.

// The picture made ahead of a scene file, from rbAlloc; NULL: there is none, or it is of another
// text.
unsigned char* rbReadMadePicture(const char* scenePath, size_t* size);

// Where the picture of a scene file is kept; false: nowhere.
bool rbFindCachedPicture(const char* scenePath, char* path);
// Its bytes, from rbAlloc; NULL: there is none.
unsigned char* rbReadCachedPicture(const char* path, size_t* size);
void rbKeepPicture(const char* path, const unsigned char* bytes, size_t size);
