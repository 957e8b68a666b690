// Vectors as two lanes and a scalar. The same sums and products in the same order as those of
// rbVec3, hence the same bits except for the sign of zeros in cross products; two thirds of the
// operations, and two registers per vector, which matters where a dozen of them are alive.
#ifndef RB_CONVEX_LANE_VEC_H
#define RB_CONVEX_LANE_VEC_H

#include "base/core/lanes.h"

#include <rattleback/vecmath.h>

#include <math.h>

typedef struct rbLaneVec {
    rbLanePair xy;
    double z;
} rbLaneVec;

static inline rbLaneVec rbLaneVec_Make(rbVec3 v)
{
    return (rbLaneVec){{v.x, v.y}, v.z};
}

static inline rbVec3 rbLaneVec_Get(rbLaneVec v)
{
    return rbMakeVec3(v.xy[0], v.xy[1], v.z);
}

static inline rbLaneVec rbLaneVec_Add(rbLaneVec a, rbLaneVec b)
{
    return (rbLaneVec){a.xy + b.xy, a.z + b.z};
}

static inline rbLaneVec rbLaneVec_Sub(rbLaneVec a, rbLaneVec b)
{
    return (rbLaneVec){a.xy - b.xy, a.z - b.z};
}

static inline rbLaneVec rbLaneVec_Scale(double s, rbLaneVec a)
{
    return (rbLaneVec){s * a.xy, s * a.z};
}

// a + s b
static inline rbLaneVec rbLaneVec_AddScaled(rbLaneVec a, double s, rbLaneVec b)
{
    return (rbLaneVec){a.xy + s * b.xy, a.z + s * b.z};
}

static inline rbLaneVec rbLaneVec_Abs(rbLaneVec a)
{
    return (rbLaneVec){{fabs(a.xy[0]), fabs(a.xy[1])}, fabs(a.z)};
}

static inline double rbLaneVec_Dot(rbLaneVec a, rbLaneVec b)
{
    rbLanePair products = a.xy * b.xy;
    return products[0] + products[1] + a.z * b.z;
}

static inline double rbLaneVec_LengthSquared(rbLaneVec a)
{
    return rbLaneVec_Dot(a, a);
}

static inline rbLaneVec rbLaneVec_Cross(rbLaneVec a, rbLaneVec b)
{
    rbLanePair turned = a.xy * b.z - a.z * b.xy; // (-y, x) of the product
    return (rbLaneVec){{turned[1], -turned[0]}, a.xy[0] * b.xy[1] - a.xy[1] * b.xy[0]};
}

// The columns of a matrix.
typedef struct rbLaneMat {
    rbLaneVec cx, cy, cz;
} rbLaneMat;

static inline rbLaneMat rbLaneMat_Make(rbMat3 m)
{
    return (rbLaneMat){rbLaneVec_Make(m.cx), rbLaneVec_Make(m.cy), rbLaneVec_Make(m.cz)};
}

static inline rbLaneVec rbLaneMat_Mul(rbLaneMat m, rbLaneVec v)
{
    rbLaneVec sum = rbLaneVec_AddScaled(rbLaneVec_Scale(v.xy[0], m.cx), v.xy[1], m.cy);
    return rbLaneVec_AddScaled(sum, v.z, m.cz);
}

// Transpose times vector.
static inline rbLaneVec rbLaneMat_MulTransposed(rbLaneMat m, rbLaneVec v)
{
    return (rbLaneVec){{rbLaneVec_Dot(m.cx, v), rbLaneVec_Dot(m.cy, v)}, rbLaneVec_Dot(m.cz, v)};
}

#endif
