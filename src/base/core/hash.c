// A multiply-and-fold hash: each eight byte word is mixed in with two multiplications.
#include "base/core/hash.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
    uint64_t z = hash ^ (word * 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 29)) * 0xBF58476D1CE4E5B9u;
    return z ^ (z >> 32);
}

uint64_t rbHashBytes(uint64_t hash, const void* bytes, size_t count)
{
    const unsigned char* p = bytes;
    uint64_t h = mix(hash, (uint64_t)count);
    while (count > 0) {
        size_t part = count < 8 ? count : 8;
        uint64_t word = 0;
        for (size_t i = 0; i < part; ++i) {
            word |= (uint64_t)p[i] << (8 * i);
        }
        h = mix(h, word);
        p += part;
        count -= part;
    }
    return h;
}

uint64_t rbHashDoubles(uint64_t hash, const double* values, size_t count)
{
    uint64_t h = hash;
    for (size_t i = 0; i < count; ++i) {
        uint64_t word;
        memcpy(&word, &values[i], sizeof word);
        h = mix(h, word);
    }
    return h;
}
