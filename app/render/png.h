// PNG files with 8 bits per channel: red, green, blue.
#pragma once

#include <rattleback/base.h>

// Writes width x height pixels, rows from the top, as a file in memory that the caller frees with
// rbFree(*bytes, *size).
rbStatus rbEncodePng(const unsigned char* pixels, int width, int height, unsigned char** bytes,
                     size_t* size, rbError* error);

// The same to a file, which appears when it is complete.
rbStatus rbWritePng(const char* path, const unsigned char* pixels, int width, int height,
                    rbError* error);
