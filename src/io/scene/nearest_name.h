// The word of a list that a user may have meant.
#pragma once

#include "base/core/words.h"

// For messages about a name that is not in a table that takes rows of modules.
#define RB_MODULE_HINT " (if a module has it, load that with --module FILE)"

// The index-th candidate.
typedef const char* rbCandidateFn(int index, const void* context);

// The candidate nearest to a word by edit distance, or one that contains it; NULL when none is near
// enough.
const char* rbFindNearestName(const char* word, rbCandidateFn* candidateFn, int count,
                              const void* context);

// The word of an enumeration nearest to another, NULL when none is near.
const char* rbWords_FindNearest(const rbWords* words, const char* word);
