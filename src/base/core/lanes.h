// Lanes: two doubles or four floats at a time. Each lane does the same operations as scalar code
// would, so the bits are the same on every machine. Also the largest of many doubles and its index.
#pragma once

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Doubles are processed in blocks of this size.
#define RB_LANES 8

typedef double rbLanePair __attribute__((vector_size(16), may_alias));
typedef long long rbLaneMask __attribute__((vector_size(16)));

static inline rbLanePair rbLanePair_Both(double x)
{
    return (rbLanePair){x, x};
}

// Loads two doubles; no alignment is required.
static inline rbLanePair rbLanePair_Load(const double from[2])
{
    rbLanePair pair;
    memcpy(&pair, from, sizeof(pair));
    return pair;
}

// Selects a where the mask is set, b elsewhere.
static inline rbLanePair rbLanePair_Choose(rbLaneMask mask, rbLanePair a, rbLanePair b)
{
    return (rbLanePair)((mask & (rbLaneMask)a) | (~mask & (rbLaneMask)b));
}

// If the two are unordered (NaN), b. Written out because compilers do not recognize that the
// machine has an instruction for this.
static inline rbLanePair rbLanePair_Max(rbLanePair a, rbLanePair b)
{
#ifdef __SSE2__
    return (rbLanePair)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    return rbLanePair_Choose(a > b, a, b);
#endif
}

static inline rbLanePair rbLanePair_Min(rbLanePair a, rbLanePair b)
{
#ifdef __SSE2__
    return (rbLanePair)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    return rbLanePair_Choose(a < b, a, b);
#endif
}

static inline rbLanePair rbLanePair_Abs(rbLanePair a)
{
    return (rbLanePair)((rbLaneMask)a & INT64_MAX);
}

typedef float rbQuad __attribute__((vector_size(16), may_alias));
typedef int32_t rbQuadMask __attribute__((vector_size(16)));

// Loads four floats; no alignment is required.
static inline rbQuad rbQuad_Load(const float from[4])
{
    rbQuad quad;
    memcpy(&quad, from, sizeof(quad));
    return quad;
}

// Selects a where the mask is set, b elsewhere.
static inline rbQuad rbQuad_Choose(rbQuadMask mask, rbQuad a, rbQuad b)
{
    return (rbQuad)((mask & (rbQuadMask)a) | (~mask & (rbQuadMask)b));
}

// As for pairs.
static inline rbQuad rbQuad_Max(rbQuad a, rbQuad b)
{
#ifdef __SSE2__
    return (rbQuad)_mm_max_ps((__m128)a, (__m128)b);
#else
    return rbQuad_Choose(a > b, a, b);
#endif
}

static inline rbQuad rbQuad_Min(rbQuad a, rbQuad b)
{
#ifdef __SSE2__
    return (rbQuad)_mm_min_ps((__m128)a, (__m128)b);
#else
    return rbQuad_Choose(a < b, a, b);
#endif
}

// Bit i: lane i is set.
static inline unsigned rbQuadMask_Bits(rbQuadMask mask)
{
#ifdef __SSE2__
    return (unsigned)_mm_movemask_ps((__m128)mask);
#else
    rbQuadMask bits = mask & (rbQuadMask){1, 2, 4, 8};
    return (unsigned)(bits[0] | bits[1] | bits[2] | bits[3]);
#endif
}

static inline rbQuad rbQuad_Abs(rbQuad a)
{
    return (rbQuad)((rbQuadMask)a & INT32_MAX);
}

// The largest values so far at even and at odd indices, and their indices.
typedef struct rbPeak {
    rbLanePair values;
    rbLaneMask at;
} rbPeak;

// Keeps the larger one in each lane, the first of equals.
static inline void rbPeak_Keep(rbPeak* peak, rbLanePair values, rbLaneMask at)
{
    rbLaneMask isLarger = values > peak->values;
    peak->at = (isLarger & at) | (~isLarger & peak->at);
    peak->values = rbLanePair_Choose(isLarger, values, peak->values);
}

// Indices of pair k of a block.
static inline rbLaneMask rbPeak_Place(long long k)
{
    return (rbLaneMask){2 * k, 2 * k + 1};
}

// The largest of four peaks, which are modified, and its index. Four chains run in parallel: a
// single one would wait for each comparison.
static inline int rbPeak_Choose(rbPeak peaks[4], double* value)
{
    rbPeak_Keep(&peaks[0], peaks[1].values, peaks[1].at);
    rbPeak_Keep(&peaks[2], peaks[3].values, peaks[3].at);
    rbPeak_Keep(&peaks[0], peaks[2].values, peaks[2].at);
    // swaps the lanes instead of choosing between them: half of the branches would be mispredicted
    rbPeak crossed = {{peaks[0].values[1], peaks[0].values[0]}, {peaks[0].at[1], peaks[0].at[0]}};
    rbPeak_Keep(&peaks[0], crossed.values, crossed.at);
    *value = peaks[0].values[0];
    return (int)peaks[0].at[0];
}
