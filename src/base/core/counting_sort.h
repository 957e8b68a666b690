// Stable sorting by counting: linear where keys are small integers.
#pragma once

#include <stddef.h>
#include <string.h>

#define RB_SORT_BY(member, source, target, count, starts, keyCount)                            \
    rbSortByKey((source), (target), sizeof *(source), offsetof(__typeof__(*(source)), member), \
                (count), (starts), (keyCount))

// Sorts elements by an int member of value 0 .. keyCount - 1 from source to target. Of
// the keyCount + 1 starts the memory is the caller's. Inline: the sizes are constants.
__attribute__((always_inline)) static inline void rbSortByKey(const void* source, void* target,
                                                              size_t size, size_t keyOffset,
                                                              int count, int* starts, int keyCount)
{
    const char* elements = source;
    memset(starts, 0, (size_t)(keyCount + 1) * sizeof *starts);
    for (int i = 0; i < count; ++i) {
        starts[*(const int*)(const void*)&elements[(size_t)i * size + keyOffset] + 1] += 1;
    }
    for (int k = 0; k < keyCount; ++k) {
        starts[k + 1] += starts[k];
    }
    for (int i = 0; i < count; ++i) {
        const char* element = &elements[(size_t)i * size];
        int place = starts[*(const int*)(const void*)&element[keyOffset]]++;
        memcpy((char*)target + (size_t)place * size, element, size);
    }
}
