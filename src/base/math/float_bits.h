// Bits of doubles, and exact sums and products as pairs high + low.
#pragma once

#include <stdint.h>
#include <string.h>

// Unevaluated sum; |low| is at most half a unit in the last place of high.
typedef struct rbPair {
    double high, low;
} rbPair;

static inline uint64_t rbBitsOf(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double rbFromBits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// 2^exponent for -1022 <= exponent <= 1023.
static inline double rbPowerOfTwo(int exponent)
{
    return rbFromBits((uint64_t)(exponent + 1023) << 52);
}

// a + b exactly, for |a| >= |b| or a = 0.
static inline rbPair rbFastTwoSum(double a, double b)
{
    double sum = a + b;
    return (rbPair){sum, b - (sum - a)};
}

// a + b exactly (Knuth).
static inline rbPair rbTwoSum(double a, double b)
{
    double sum = a + b;
    double partOfB = sum - a;
    return (rbPair){sum, (a - (sum - partOfB)) + (b - partOfB)};
}

// x as two halves of 26 bits (Veltkamp); |x| below 2^995.
static inline rbPair rbSplit(double x)
{
    double t = 134217729.0 * x; // 2^27 + 1
    double high = t - (t - x);
    return (rbPair){high, x - high};
}

// a b exactly (Dekker), barring overflow and underflow. Not by fma(): machines without the
// instruction would call a slow function.
static inline rbPair rbTwoProduct(double a, double b)
{
    double product = a * b;
    rbPair x = rbSplit(a), y = rbSplit(b);
    double low = ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low;
    return (rbPair){product, low};
}
