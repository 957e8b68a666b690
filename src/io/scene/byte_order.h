// Numbers from bytes, independent of the byte order of the machine.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// An unsigned integer of size 1 to 8 bytes.
static inline uint64_t rbGetUnsigned(const unsigned char* bytes, int size, bool isBigEndian)
{
    uint64_t value = 0;
    for (int i = 0; i < size; ++i) {
        value = value << 8 | bytes[isBigEndian ? i : size - 1 - i];
    }
    return value;
}

static inline double rbGetFloat(const unsigned char* bytes, bool isBigEndian)
{
    uint32_t bits = (uint32_t)rbGetUnsigned(bytes, 4, isBigEndian);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static inline double rbGetDouble(const unsigned char* bytes, bool isBigEndian)
{
    uint64_t bits = rbGetUnsigned(bytes, 8, isBigEndian);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
