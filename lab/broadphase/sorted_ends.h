// Ends of intervals in a total order, and their sorting.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct rbEnd {
    double value;  // m
    int32_t owner; // 2 * id, + 1 for an upper end
} rbEnd;

// By value; lower ends before upper ones, so that touching intervals overlap; then by number.
static inline bool rbIsEndBefore(const rbEnd* a, const rbEnd* b)
{
    if (a->value != b->value) {
        return a->value < b->value;
    }
    if (((a->owner ^ b->owner) & 1) != 0) {
        return (a->owner & 1) == 0;
    }
    return a->owner < b->owner;
}

// Merge sort, O(n log n), O(n) for sorted input. scratch holds count ends.
void rbSortEnds(rbEnd* ends, rbEnd* scratch, int count);

// Number of ends that precede a given one.
int rbCountEndsBefore(const rbEnd* ends, int count, const rbEnd* given);
