// Suggestions for misspelled words: the nearest word of a list.
#ifndef RB_CORE_WORDS_H
#define RB_CORE_WORDS_H

// The index-th candidate.
typedef const char* rbCandidateFn(int index, const void* context);

// The candidate nearest to a word by edit distance, or one that contains it; NULL when none is near
// enough.
const char* rbFindNearestName(const char* word, rbCandidateFn* candidateFn, int count,
                              const void* context);

#endif
