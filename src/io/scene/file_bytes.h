// Reading whole files with a limit.
#pragma once

#include <rattleback/base.h>

#include <stdbool.h>

// Reads a file of at most limit bytes into memory that the caller frees with rbFree(bytes, size).
// An empty file gives NULL and size 0. The error names the file; folders are refused.
rbStatus rbReadFileBytes(const char* path, size_t limit, void** bytes, size_t* size,
                         rbError* error);

// folder/name, or name alone when it is absolute or the folder is empty. The caller frees it with
// rbFree(path, strlen(path) + 1).
char* rbJoinPath(const char* folder, const char* name);

// Copies of strings, freed by rbFreeString.
char* rbCopyText(const char* text, size_t length);
void rbFreeString(char* text);
