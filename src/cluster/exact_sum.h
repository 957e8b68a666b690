// Sums of doubles without rounding: the same bits for any order of the terms and any number of
// parts. A sum is a number of 2176 bits in limbs of 32 (a superaccumulator). Parts add up limb by
// limb, so that a plain sum of integers over ranks (MPI_SUM) is exact too.
#pragma once

#include <stdint.h>

// 2098 bits from 2^-1074 to 2^1024, and 78 for carries.
#define RB_EXACT_SUM_LIMBS 68
// Terms that fit between two normalizations: a limb takes 32 bits of each.
#define RB_EXACT_SUM_PENDING_MAX (1 << 30)

// Integers only: words of it may be summed over ranks, if every part was normalized before. Zero is
// an empty sum.
typedef struct rbExactSum {
    int64_t limbs[RB_EXACT_SUM_LIMBS]; // limb k counts 2^(32 k - 1074)
    int64_t nanCount;                  // terms that are not numbers
    int64_t plusCount, minusCount;     // infinite terms
    int64_t pending;                   // terms since the last normalization
} rbExactSum;

#define RB_EXACT_SUM_WORDS ((int)(sizeof(rbExactSum) / sizeof(int64_t)))

void rbExactSum_Add(rbExactSum* sum, double term);
// Adds another sum.
void rbExactSum_Merge(rbExactSum* sum, const rbExactSum* part);
// Makes all limbs smaller than 2^32 and not negative, except the last one, which has the sign.
void rbExactSum_Normalize(rbExactSum* sum);
// The sum, rounded once to the nearest double, ties to even; infinite where it is too large, or
// where a term is; NaN if a term is or if both infinities occur. A sum of zero is +0.
double rbExactSum_Round(const rbExactSum* sum);
