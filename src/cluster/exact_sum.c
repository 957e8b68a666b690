// A double is an integer of 53 bits times a power of two: it is added to three limbs at its place.
// A limb of 64 bits holds 32 bits of the sum and the carries of 2^30 terms; carries move on when a
// sum is normalized, which is seldom.
#include "cluster/exact_sum.h"

#include "base/math/float_bits.h"

#include <rattleback/base.h>

#include <math.h>
#include <stdbool.h>

#define LIMB_BITS 32
#define LIMB_MASK 0xffffffffu
#define LIMB_BASE 4294967296 // 2^32
#define MANTISSA_BITS 53
#define LOWEST_EXPONENT (-1074) // of the last bit of the smallest double
#define EXPONENT_SPECIAL 0x7ff  // infinite or no number

static void addSpecial(rbExactSum* sum, uint64_t mantissa, bool isNegative)
{
    sum->nanCount += mantissa != 0;
    sum->plusCount += mantissa == 0 && !isNegative;
    sum->minusCount += mantissa == 0 && isNegative;
}

void rbExactSum_Add(rbExactSum* sum, double term)
{
    uint64_t bits = rbBitsOf(term);
    bool isNegative = bits >> 63 != 0;
    int exponent = (int)(bits >> 52) & EXPONENT_SPECIAL;
    uint64_t mantissa = bits & 0xfffffffffffffu;
    if (exponent == EXPONENT_SPECIAL) {
        addSpecial(sum, mantissa, isNegative);
        return;
    }
    // |term| = mantissa 2^(place - 1074)
    int place = exponent > 0 ? exponent - 1 : 0;
    mantissa |= exponent > 0 ? (uint64_t)1 << 52 : 0;
    int shift = place % LIMB_BITS;
    int64_t* limbs = &sum->limbs[place / LIMB_BITS];
    uint64_t low = mantissa << shift; // its upper bits, if it has more than 64, are the third part
    int64_t parts[3] = {(int64_t)(low & LIMB_MASK), (int64_t)(low >> LIMB_BITS),
                        shift > 0 ? (int64_t)(mantissa >> (64 - shift)) : 0};
    int64_t sign = isNegative ? -1 : 1;
    for (int i = 0; i < 3; ++i) {
        limbs[i] += sign * parts[i];
    }
    if (++sum->pending >= RB_EXACT_SUM_PENDING_MAX) {
        rbExactSum_Normalize(sum);
    }
}

void rbExactSum_Normalize(rbExactSum* sum)
{
    int64_t carry = 0;
    for (int i = 0; i < RB_EXACT_SUM_LIMBS - 1; ++i) {
        int64_t value = sum->limbs[i] + carry;
        int64_t low = (int64_t)((uint64_t)value & LIMB_MASK);
        carry = (value - low) / LIMB_BASE;
        sum->limbs[i] = low;
    }
    sum->limbs[RB_EXACT_SUM_LIMBS - 1] += carry;
    sum->pending = 0;
}

void rbExactSum_Merge(rbExactSum* sum, const rbExactSum* part)
{
    rbExactSum other = *part;
    rbExactSum_Normalize(&other);
    rbExactSum_Normalize(sum);
    for (int i = 0; i < RB_EXACT_SUM_LIMBS; ++i) {
        sum->limbs[i] += other.limbs[i];
    }
    sum->nanCount += other.nanCount;
    sum->plusCount += other.plusCount;
    sum->minusCount += other.minusCount;
    sum->pending = 2;
}

// ---------------------------------------------------------------------------------------- rounding

// Makes a sum positive and normalized; returns its sign.
static double takeMagnitude(rbExactSum* sum)
{
    rbExactSum_Normalize(sum);
    if (sum->limbs[RB_EXACT_SUM_LIMBS - 1] >= 0) {
        return 1.0;
    }
    for (int i = 0; i < RB_EXACT_SUM_LIMBS; ++i) {
        sum->limbs[i] = -sum->limbs[i];
    }
    rbExactSum_Normalize(sum);
    return -1.0;
}

// Bit at a place of a normalized sum.
static uint64_t bitAt(const rbExactSum* sum, int place)
{
    return ((uint64_t)sum->limbs[place / LIMB_BITS] >> (place % LIMB_BITS)) & 1u;
}

// Place of the highest bit; -1: the sum is zero.
static int findTop(const rbExactSum* sum)
{
    int limb = RB_EXACT_SUM_LIMBS - 1;
    while (limb >= 0 && sum->limbs[limb] == 0) {
        --limb;
    }
    int place = limb * LIMB_BITS + LIMB_BITS - 1;
    while (limb >= 0 && bitAt(sum, place) == 0) {
        --place;
    }
    return limb >= 0 ? place : -1;
}

static bool hasBitBelow(const rbExactSum* sum, int place)
{
    for (int i = 0; i < place; ++i) {
        if (bitAt(sum, i) != 0) {
            return true;
        }
    }
    return false;
}

double rbExactSum_Round(const rbExactSum* sum)
{
    if (sum->nanCount > 0 || (sum->plusCount > 0 && sum->minusCount > 0)) {
        return (double)NAN;
    }
    if (sum->plusCount > 0 || sum->minusCount > 0) {
        return sum->plusCount > 0 ? (double)INFINITY : -(double)INFINITY;
    }
    rbExactSum rest = *sum;
    double sign = takeMagnitude(&rest);
    // The last limb has more than 32 bits only after 2^78 terms of the largest size.
    RB_ASSERT(rest.limbs[RB_EXACT_SUM_LIMBS - 1] < LIMB_BASE);
    int top = findTop(&rest);
    int last = top >= MANTISSA_BITS ? top - MANTISSA_BITS + 1 : 0;
    uint64_t mantissa = 0;
    for (int place = top; place >= last; --place) {
        mantissa = mantissa << 1 | bitAt(&rest, place);
    }
    if (last > 0 && bitAt(&rest, last - 1) != 0) {
        bool isUp = (mantissa & 1u) != 0 || hasBitBelow(&rest, last - 1);
        mantissa += isUp ? 1 : 0; // 2^53 is a double as well
    }
    return sign * ldexp((double)mantissa, last + LOWEST_EXPONENT);
}
