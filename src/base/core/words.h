// Words that a user may have meant: the nearest of a list to a misspelt one.
#ifndef RB_CORE_WORDS_H
#define RB_CORE_WORDS_H

// The index-th candidate.
typedef const char* rbCandidateFn(int index, const void* context);

// The candidate nearest to a word by edit distance, or one that contains it; NULL when none is near
// enough to be meant.
const char* rbFindNearestName(const char* word, rbCandidateFn* candidateFn, int count,
                              const void* context);

#endif
