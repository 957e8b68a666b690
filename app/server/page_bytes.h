// The page of the viewer as one HTML file, inside the program: an installed binary needs no files.
#pragma once

#include <stddef.h>

extern const unsigned char rbPageBytes[]; // ends with a zero byte, which is not counted
extern const size_t rbPageSize;
