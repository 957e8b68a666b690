// Stable sorting by counting: linear where keys are small integers.
#pragma once

#include <stddef.h>
#include <string.h>

// Sorts elements by an int member of value 0 .. keyCount - 1 from source to target. Of the
// keyCount + 1 starts the memory is the caller's.
#define RB_SORT_BY(member, source, target, count, starts, keyCount)                    \
    rbSortByKey(&(rbSortedArray){(source), sizeof *(source), (size_t)(count),          \
                                 offsetof(__typeof__(*(source)), member), (keyCount)}, \
                (target), (starts))

typedef struct rbSortedArray {
    const void* elements;
    size_t size; // of an element
    size_t count;
    size_t keyOffset; // of the key in an element
    int keyCount;
} rbSortedArray;

// Inline: the sizes are constants.
__attribute__((always_inline)) static inline void rbSortByKey(const rbSortedArray* source,
                                                              void* target, int* starts)
{
    const char* keys = (const char*)source->elements + source->keyOffset;
    memset(starts, 0, (size_t)(source->keyCount + 1) * sizeof *starts);
    for (size_t i = 0; i < source->count; ++i) {
        starts[*(const int*)(const void*)&keys[i * source->size] + 1] += 1;
    }
    for (int k = 0; k < source->keyCount; ++k) {
        starts[k + 1] += starts[k];
    }
    for (size_t i = 0; i < source->count; ++i) {
        int place = starts[*(const int*)(const void*)&keys[i * source->size]]++;
        memcpy((char*)target + (size_t)place * source->size,
               (const char*)source->elements + i * source->size, source->size);
    }
}
