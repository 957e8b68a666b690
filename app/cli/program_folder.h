// Folders that are installed with the program.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// A folder of share/rattleback by its name, such as "scenes", next to the program: in ../share of
// an installed program, in share of one in a build folder. Without ".." and links, for messages.
bool rbFindProgramFolder(const char* name, char* folder, size_t capacity);
