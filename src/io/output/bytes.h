// Little-endian words in byte arrays, the same on every machine.
#pragma once

#include <stdint.h>
#include <string.h>

static inline void rbPutWord32(unsigned char* bytes, uint32_t value)
{
    for (int i = 0; i < 4; ++i) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
}

static inline void rbPutWord64(unsigned char* bytes, uint64_t value)
{
    for (int i = 0; i < 8; ++i) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
}

static inline uint32_t rbGetWord32(const unsigned char* bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
        value |= (uint32_t)bytes[i] << (8 * i);
    }
    return value;
}

static inline uint64_t rbGetWord64(const unsigned char* bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

static inline uint64_t rbBitsOfDouble(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double rbDoubleOfBits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
