#include "lab/broadphase/sorted_ends.h"

#include <rattleback/base.h>

#include <string.h>

// Merges ends[begin .. middle-1] and ends[middle .. end-1], using scratch memory.
static void merge(rbEnd* ends, rbEnd* scratch, int begin, int middle, int end)
{
    if (rbIsEndBefore(&ends[middle - 1], &ends[middle])) {
        return; // already in order
    }
    memcpy(scratch, ends + begin, (size_t)(middle - begin) * sizeof *ends);
    int left = 0;
    int leftEnd = middle - begin;
    int right = middle;
    int to = begin;
    while (left < leftEnd && right < end) {
        ends[to++] = rbIsEndBefore(&ends[right], &scratch[left]) ? ends[right++] : scratch[left++];
    }
    memcpy(ends + to, scratch + left, (size_t)(leftEnd - left) * sizeof *ends);
}

void rbSortEnds(rbEnd* ends, rbEnd* scratch, int count)
{
    RB_ASSERT(count >= 0);
    for (int width = 1; width<count; width = width> count / 2 ? count : 2 * width) {
        for (int begin = 0; begin + width < count;) {
            int end = count - begin > 2 * width ? begin + 2 * width : count;
            merge(ends, scratch, begin, begin + width, end);
            begin = end;
        }
    }
}

int rbCountEndsBefore(const rbEnd* ends, int count, const rbEnd* given)
{
    int low = 0;
    int high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (rbIsEndBefore(&ends[middle], given)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
