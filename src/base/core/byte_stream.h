// State as bytes. One function moves every field of an object through a stream, which counts the
// bytes, saves the fields or loads them: so the three cannot disagree. Bytes are as in memory.
#pragma once

#include "base/core/memory.h"

#include <string.h>

typedef struct rbByteStream {
    char* bytes;      // NULL: only counts
    size_t size;      // moved so far
    bool isLoading;   // from bytes to the object; never writes to bytes
    bool isComparing; // only compares them
    bool isDifferent; // the result
} rbByteStream;

static inline void rbByteStream_Move(rbByteStream* stream, void* data, size_t size)
{
    if (stream->bytes != NULL && size > 0) {
        char* place = stream->bytes + stream->size;
        if (stream->isComparing) {
            stream->isDifferent = stream->isDifferent || memcmp(place, data, size) != 0;
        } else {
            memcpy(stream->isLoading ? data : place, stream->isLoading ? place : data, size);
        }
    }
    stream->size += size;
}

#define RB_MOVE(stream, value) rbByteStream_Move((stream), &(value), sizeof(value))

// The count of an array and its elements.
#define RB_MOVE_ARRAY(stream, array)                                              \
    (RB_MOVE(stream, (array).count), (void)rbArray_Reserve(array, (array).count), \
     rbByteStream_Move((stream), (array).data, (size_t)(array).count * sizeof *(array).data))
