#define _POSIX_C_SOURCE 200809L // strnlen

#include "io/scene/nearest_name.h"

#include <rattleback/base.h>

#include <stdbool.h>
#include <string.h>

#define WORD_MAX 64 // longer words are cut
#define PART_LETTERS \
    3 // a word with at least this many letters that occurs within a candidate
      // matches it

// Edit distance with unit costs for insertion, deletion, replacement and transposition of
// neighbors.
static int editDistance(const char* a, const char* b)
{
    int rows[3][WORD_MAX + 1];
    int lengthA = (int)strnlen(a, WORD_MAX);
    int lengthB = (int)strnlen(b, WORD_MAX);
    for (int j = 0; j <= lengthB; ++j) {
        rows[0][j] = j;
        rows[2][j] = 0;
    }
    for (int i = 1; i <= lengthA; ++i) {
        int* row = rows[i % 3];
        const int* above = rows[(i + 2) % 3];
        const int* twoAbove = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= lengthB; ++j) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            bool isSwap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (isSwap && twoAbove[j - 2] + 1 < best) {
                best = twoAbove[j - 2] + 1;
            }
            row[j] = best;
        }
    }
    return rows[lengthA % 3][lengthB];
}

const char* rbFindNearestName(const char* word, rbCandidateFn* candidateFn, int count,
                              const void* context)
{
    RB_ASSERT(word != NULL && count >= 0);
    const char* nearest = NULL;
    int nearestDistance = WORD_MAX;
    int length = (int)strnlen(word, WORD_MAX);
    for (int i = 0; i < count; ++i) {
        const char* candidate = candidateFn(i, context);
        int distance = editDistance(word, candidate);
        if (distance > 1 && length >= PART_LETTERS && strstr(candidate, word) != NULL) {
            distance = 1;
        }
        if (distance < nearestDistance) {
            nearestDistance = distance;
            nearest = candidate;
        }
    }
    // With more than half of the letters wrong, it is another word and not a typing error.
    return nearest != NULL && 2 * nearestDistance <= length + 1 ? nearest : NULL;
}

static const char* getWord(int index, const void* context)
{
    return ((const rbWords*)context)->nameOf(index);
}

const char* rbWords_FindNearest(const rbWords* words, const char* word)
{
    return rbFindNearestName(word, getWord, rbWords_GetCount(words), words);
}
