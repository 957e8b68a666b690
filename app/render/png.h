// PNG files with 8 bits per channel: red, green, blue, and alpha if wanted.
#pragma once

#include <rattleback/base.h>

// Pixels, rows from the top. Four channels: the last is alpha, the others are not multiplied by it.
typedef struct rbImage {
    const unsigned char* pixels;
    int width, height;
    int channels; // 3 or 4
} rbImage;

// Writes an image as a file in memory that the caller frees with rbFree(*bytes, *size).
rbStatus rbEncodePng(const rbImage* image, unsigned char** bytes, size_t* size, rbError* error);

// The same to a file, which appears when it is complete.
rbStatus rbWritePng(const char* path, const rbImage* image, rbError* error);
