// Random numbers: splitmix64, the generator of our benchmark scenes. Same seed, same numbers.
#pragma once

#include <stdint.h>

typedef struct rbRandom {
    uint64_t state; // initially the seed
} rbRandom;

static inline uint64_t rbRandom_Bits(rbRandom* random)
{
    random->state += 0x9E3779B97F4A7C15u;
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Uniform in [0, 1), 53 bits.
static inline double rbRandom_Unit(rbRandom* random)
{
    return (double)(rbRandom_Bits(random) >> 11) * 0x1p-53;
}

// Uniform in [low, high).
static inline double rbRandom_Range(rbRandom* random, double low, double high)
{
    return low + (high - low) * rbRandom_Unit(random);
}

// Uniform in [-1, 1).
static inline double rbRandom_Symmetric(rbRandom* random)
{
    return 2.0 * rbRandom_Unit(random) - 1.0;
}

// Uniform in 0 .. count-1.
static inline int rbRandom_Index(rbRandom* random, int count)
{
    return (int)(rbRandom_Unit(random) * count);
}
