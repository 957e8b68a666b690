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
typedef float rbQuad __attribute__((vector_size(16), may_alias));
typedef int32_t rbQuadMask __attribute__((vector_size(16)));

// Written out because compilers do not recognize that the machine has instructions for these.
#ifdef __SSE2__
#define RB_LANES_MAX(Lanes, Raw, suffix, a, b) ((Lanes)_mm_max_##suffix((Raw)(a), (Raw)(b)))
#define RB_LANES_MIN(Lanes, Raw, suffix, a, b) ((Lanes)_mm_min_##suffix((Raw)(a), (Raw)(b)))
#else
#define RB_LANES_MAX(Lanes, Raw, suffix, a, b) Lanes##_Choose((a) > (b), a, b)
#define RB_LANES_MIN(Lanes, Raw, suffix, a, b) Lanes##_Choose((a) < (b), a, b)
#endif

// Of pairs and of quads. Load: no alignment is required. Choose: a where the mask is set, b
// elsewhere. Max, Min: if the two are unordered (NaN), b.
#define RB_DEFINE_LANES(Lanes, Mask, Scalar, magnitude, Raw, suffix)         \
    static inline Lanes Lanes##_Load(const Scalar from[16 / sizeof(Scalar)]) \
    {                                                                        \
        Lanes lanes;                                                         \
        memcpy(&lanes, from, sizeof(lanes));                                 \
        return lanes;                                                        \
    }                                                                        \
    static inline Lanes Lanes##_Choose(Mask mask, Lanes a, Lanes b)          \
    {                                                                        \
        return (Lanes)((mask & (Mask)a) | (~mask & (Mask)b));                \
    }                                                                        \
    static inline Lanes Lanes##_Max(Lanes a, Lanes b)                        \
    {                                                                        \
        return RB_LANES_MAX(Lanes, Raw, suffix, a, b);                       \
    }                                                                        \
    static inline Lanes Lanes##_Min(Lanes a, Lanes b)                        \
    {                                                                        \
        return RB_LANES_MIN(Lanes, Raw, suffix, a, b);                       \
    }                                                                        \
    static inline Lanes Lanes##_Abs(Lanes a)                                 \
    {                                                                        \
        return (Lanes)((Mask)a & (magnitude));                               \
    }
RB_DEFINE_LANES(rbLanePair, rbLaneMask, double, INT64_MAX, __m128d, pd)
RB_DEFINE_LANES(rbQuad, rbQuadMask, float, INT32_MAX, __m128, ps)

static inline rbLanePair rbLanePair_Both(double x)
{
    return (rbLanePair){x, x};
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
