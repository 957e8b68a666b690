// State as bytes. One function moves every field of an object through a stream, which counts the
// bytes, saves the fields or loads them: so the three cannot disagree. Bytes are as in memory.
#pragma once

#include "base/core/memory.h"

#include <math.h>
#include <string.h>

typedef struct rbByteStream {
    char* bytes;      // NULL: only counts
    size_t size;      // moved so far
    size_t capacity;  // of bytes; 0: enough. More is only counted, and refused when loading
    bool isLoading;   // from bytes to the object; never writes to bytes
    bool isComparing; // only compares them
    bool isDifferent; // the result
} rbByteStream;

// Refuses what is loaded unless this holds.
static inline void rbByteStream_Check(const rbByteStream* stream, bool isPossible)
{
    if (stream->isLoading && !isPossible) {
        rbReturnToGuard(RB_STATUS_CORRUPT, 0);
    }
}

// Refuses numbers that do not exist: they must be from least on and below end.
static inline void rbByteStream_CheckRange(const rbByteStream* stream, const int* numbers,
                                           int count, int least, int end)
{
    for (int i = 0; stream->isLoading && i < count; ++i) {
        rbByteStream_Check(stream, numbers[i] >= least && numbers[i] < end);
    }
}

// Whether there is room for so many more elements.
static inline bool rbByteStream_Holds(const rbByteStream* stream, size_t count, size_t size)
{
    return stream->capacity == 0 ||
           (stream->size <= stream->capacity && count <= (stream->capacity - stream->size) / size);
}

static inline void rbByteStream_Move(rbByteStream* stream, void* data, size_t size)
{
    bool isThere = rbByteStream_Holds(stream, size, 1);
    rbByteStream_Check(stream, isThere);
    if (stream->bytes != NULL && size > 0 && isThere) {
        char* place = stream->bytes + stream->size;
        if (stream->isComparing) {
            stream->isDifferent = stream->isDifferent || memcmp(place, data, size) != 0;
        } else {
            memcpy(stream->isLoading ? data : place, stream->isLoading ? place : data, size);
        }
    }
    stream->size += size;
}

// Refuses bools that are neither true nor false: consecutive ones, read as bytes.
static inline void rbByteStream_CheckFlags(const rbByteStream* stream, const void* flags,
                                           size_t count)
{
    for (size_t i = 0; stream->isLoading && i < count; ++i) {
        rbByteStream_Check(stream, ((const unsigned char*)flags)[i] <= 1);
    }
}

static inline void rbByteStream_MoveFlag(rbByteStream* stream, bool* flag, size_t size)
{
    unsigned char byte = 0;
    memcpy(&byte, flag, size);
    rbByteStream_Move(stream, &byte, size);
    rbByteStream_CheckFlags(stream, &byte, size);
    *flag = byte != 0;
}

#define RB_MOVE(stream, value)                \
    _Generic((value), bool                    \
             : rbByteStream_MoveFlag, default \
             : rbByteStream_Move)((stream), &(value), sizeof(value))

// Refuses doubles that are not finite. Small counts among them do not matter.
static inline void rbByteStream_CheckFinite(const rbByteStream* stream, const void* numbers,
                                            size_t size)
{
    for (size_t i = 0; stream->isLoading && i < size; i += sizeof(double)) {
        double number;
        memcpy(&number, (const char*)numbers + i, sizeof number);
        rbByteStream_Check(stream, isfinite(number));
    }
}

#define RB_MOVE_FINITE(stream, value) \
    (RB_MOVE(stream, value), rbByteStream_CheckFinite((stream), &(value), sizeof(value)))

// A count of elements of this size, which follow.
static inline void rbByteStream_MoveCount(rbByteStream* stream, int* count, size_t size)
{
    int moved = *count;
    RB_MOVE(stream, moved);
    rbByteStream_Check(stream, moved >= 0 && rbByteStream_Holds(stream, (size_t)moved, size));
    *count = moved;
}

// The count of an array and its elements.
#define RB_MOVE_ARRAY(stream, array)                                         \
    (rbByteStream_MoveCount((stream), &(array).count, sizeof *(array).data), \
     (void)rbArray_Reserve(array, (array).count),                            \
     rbByteStream_Move((stream), (array).data, (size_t)(array).count * sizeof *(array).data))
