// The state of a run as bytes of a checkpoint. One function moves every field of an object through
// a stream, which saves or loads it, so that the two cannot disagree. Numbers are little-endian,
// doubles their IEEE 754 bits.
//
// A loading stream trusts nothing: a value out of its range, or beyond the end, makes the stream
// bad, and every field from there on is zero. So an object may load everything and ask once.
#pragma once

#include <rattleback/base.h>

#include <stdbool.h>

typedef struct rbStateStream {
    unsigned char* bytes; // saving: own memory; loading: borrowed
    size_t size;          // bytes in all
    size_t capacity;      // of the memory, saving
    size_t place;         // of the next byte, loading
    bool isLoading;
    bool isBad; // loading: cut off, or a value that cannot be
} rbStateStream;

// A stream that loads borrowed bytes. One that saves begins as zero.
rbStateStream rbMakeLoadingStream(const void* bytes, size_t size);
// Frees the memory of a saving stream.
void rbStateStream_Free(rbStateStream* stream);
// Whether everything was loaded and every value was possible.
bool rbStateStream_IsLoaded(const rbStateStream* stream);

void rbStateStream_Bytes(rbStateStream* stream, void* bytes, size_t count);
void rbStateStream_Word(rbStateStream* stream, uint64_t* value);
void rbStateStream_Integer(rbStateStream* stream, int64_t* value, int64_t low, int64_t high);
void rbStateStream_Int(rbStateStream* stream, int* value, int low, int high);
void rbStateStream_Number(rbStateStream* stream, double* value);
void rbStateStream_Numbers(rbStateStream* stream, double* values, size_t count);
void rbStateStream_Flag(rbStateStream* stream, bool* value);
// A text with its terminator in a buffer of that capacity.
void rbStateStream_Text(rbStateStream* stream, char* text, size_t capacity);

// Saving: appends a text of any length. Loading: the text inside the bytes of the stream, which it
// borrows; "" if the stream is bad.
void rbStateStream_PutText(rbStateStream* stream, const char* text);
const char* rbStateStream_TakeText(rbStateStream* stream);
// The same for a block of bytes: a stream inside the stream.
void rbStateStream_PutBlock(rbStateStream* stream, const rbStateStream* block);
rbStateStream rbStateStream_TakeBlock(rbStateStream* stream);
