// The state of a run as bytes: see state_stream.h.
#include "io/output/state_stream.h"

#include "base/core/memory.h"
#include "io/output/bytes.h"

rbStateStream rbMakeLoadingStream(const void* bytes, size_t size)
{
    RB_ASSERT(bytes != NULL || size == 0);
    // a loading stream never writes to its bytes
    return (rbStateStream){.bytes = (unsigned char*)bytes, .size = size, .isLoading = true};
}

void rbStateStream_Free(rbStateStream* stream)
{
    if (!stream->isLoading) {
        rbFree(stream->bytes, stream->capacity);
    }
    *stream = (rbStateStream){0};
}

bool rbStateStream_IsLoaded(const rbStateStream* stream)
{
    RB_ASSERT(stream->isLoading);
    return !stream->isBad && stream->place == stream->size;
}

static void append(rbStateStream* stream, const void* bytes, size_t count)
{
    RB_ASSERT(!stream->isLoading);
    if (count > stream->capacity - stream->size) {
        size_t capacity = 2 * stream->capacity + count + 64;
        stream->bytes = rbGrow(stream->bytes, stream->capacity, capacity);
        stream->capacity = capacity;
    }
    if (count > 0) {
        memcpy(stream->bytes + stream->size, bytes, count);
    }
    stream->size += count;
}

// The next bytes; NULL, and the stream is bad from now on, if there are not so many.
static const unsigned char* take(rbStateStream* stream, size_t count)
{
    RB_ASSERT(stream->isLoading && stream->place <= stream->size);
    stream->isBad = stream->isBad || count > stream->size - stream->place;
    if (stream->isBad) {
        return NULL;
    }
    stream->place += count;
    return stream->bytes + (stream->place - count);
}

void rbStateStream_Bytes(rbStateStream* stream, void* bytes, size_t count)
{
    if (!stream->isLoading) {
        append(stream, bytes, count);
        return;
    }
    const unsigned char* source = take(stream, count);
    if (source != NULL && count > 0) {
        memcpy(bytes, source, count);
    } else if (count > 0) {
        memset(bytes, 0, count);
    }
}

void rbStateStream_Word(rbStateStream* stream, uint64_t* value)
{
    unsigned char bytes[8];
    rbPutWord64(bytes, *value);
    rbStateStream_Bytes(stream, bytes, sizeof bytes);
    *value = rbGetWord64(bytes);
}

void rbStateStream_Integer(rbStateStream* stream, int64_t* value, int64_t low, int64_t high)
{
    uint64_t word = (uint64_t)*value;
    rbStateStream_Word(stream, &word);
    *value = (int64_t)word;
    if (stream->isLoading && (*value < low || *value > high)) {
        stream->isBad = true;
        *value = low;
    }
    RB_ASSERT(*value >= low && *value <= high);
}

void rbStateStream_Int(rbStateStream* stream, int* value, int low, int high)
{
    int64_t wide = *value;
    rbStateStream_Integer(stream, &wide, low, high);
    *value = (int)wide;
}

void rbStateStream_Number(rbStateStream* stream, double* value)
{
    uint64_t bits = rbBitsOfDouble(*value);
    rbStateStream_Word(stream, &bits);
    *value = rbDoubleOfBits(bits);
}

void rbStateStream_Numbers(rbStateStream* stream, double* values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        rbStateStream_Number(stream, &values[i]);
    }
}

void rbStateStream_Flag(rbStateStream* stream, bool* value)
{
    int number = *value ? 1 : 0;
    rbStateStream_Int(stream, &number, 0, 1);
    *value = number == 1;
}

void rbStateStream_Text(rbStateStream* stream, char* text, size_t capacity)
{
    RB_ASSERT(capacity > 0);
    if (!stream->isLoading) {
        rbStateStream_PutText(stream, text);
        return;
    }
    const char* source = rbStateStream_TakeText(stream);
    size_t length = strlen(source);
    stream->isBad = stream->isBad || length >= capacity;
    length = stream->isBad ? 0 : length;
    memcpy(text, source, length);
    text[length] = '\0';
}

void rbStateStream_PutText(rbStateStream* stream, const char* text)
{
    append(stream, text, strlen(text) + 1);
}

const char* rbStateStream_TakeText(rbStateStream* stream)
{
    const unsigned char* start = stream->bytes + stream->place;
    size_t left = stream->size - stream->place;
    const unsigned char* end = left > 0 ? memchr(start, '\0', left) : NULL;
    size_t size = end != NULL ? (size_t)(end - start) + 1 : left + 1; // one too many: bad
    const unsigned char* text = take(stream, size);
    return text != NULL ? (const char*)text : "";
}

void rbStateStream_PutBlock(rbStateStream* stream, const rbStateStream* block)
{
    uint64_t size = block->size;
    rbStateStream_Word(stream, &size);
    append(stream, block->bytes, block->size);
}

rbStateStream rbStateStream_TakeBlock(rbStateStream* stream)
{
    uint64_t size = 0;
    rbStateStream_Word(stream, &size);
    // a size that does not fit is refused like any other beyond the end
    size_t wanted = (size_t)size == size ? (size_t)size : SIZE_MAX;
    const unsigned char* bytes = take(stream, wanted);
    return rbMakeLoadingStream(bytes, bytes != NULL ? wanted : 0);
}
