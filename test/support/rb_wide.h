// A number of 113 bits or more for oracles: long double where it has them (Arm), otherwise
// __float128 (x86, where long double has 64).
#pragma once

#include <float.h>
#include <math.h>

#if LDBL_MANT_DIG >= 113
typedef long double rbWide;
#else
__extension__ typedef __float128 rbWide;
#endif

static inline rbWide rbWideAbs(rbWide x)
{
    return x < 0 ? -x : x;
}

static inline rbWide rbWideMax(rbWide a, rbWide b)
{
    return a < b ? b : a;
}

static inline rbWide rbWideMin(rbWide a, rbWide b)
{
    return b < a ? b : a;
}

// Two steps of Newton from long double double its digits twice.
static inline rbWide rbWideSqrt(rbWide x)
{
    if (!(x > 0) || x > (rbWide)LDBL_MAX) {
        return x;
    }
    rbWide root = (rbWide)sqrtl((long double)x);
    for (int i = 0; i < 2 && root > 0; ++i) {
        root = (root + x / root) / 2;
    }
    return root;
}
