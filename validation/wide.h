// Arithmetic in 113 bits and small vectors of it, for references that share no code with the
// library: long double where it is IEEE quadruple precision (Arm), __float128 elsewhere.
#pragma once

#include <rattleback/vecmath.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>

#if LDBL_MANT_DIG == 113
typedef long double rbWide;
#else
__extension__ typedef __float128 rbWide;
#endif

typedef struct rbWide3 {
    rbWide x, y, z;
} rbWide3;

static inline rbWide rbWide_Abs(rbWide a)
{
    return a < 0 ? -a : a;
}

static inline rbWide rbWide_Max(rbWide a, rbWide b)
{
    return a > b ? a : b;
}

// Newton's steps from the double root double its digits twice: 53 -> 106 -> 113. The argument must
// be in the range of double.
static inline rbWide rbWide_Sqrt(rbWide a)
{
    rbWide root = sqrt((double)a);
    if (!(root > 0)) {
        return 0;
    }
    root = (root + a / root) / 2;
    return (root + a / root) / 2;
}

static inline rbWide3 rbWide3_From(rbVec3 v)
{
    return (rbWide3){v.x, v.y, v.z};
}

static inline rbVec3 rbWide3_Round(rbWide3 v)
{
    return (rbVec3){(double)v.x, (double)v.y, (double)v.z};
}

static inline rbWide3 rbWide3_Add(rbWide3 a, rbWide3 b)
{
    return (rbWide3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline rbWide3 rbWide3_Sub(rbWide3 a, rbWide3 b)
{
    return (rbWide3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline rbWide3 rbWide3_Scale(rbWide s, rbWide3 a)
{
    return (rbWide3){s * a.x, s * a.y, s * a.z};
}

// a + s b
static inline rbWide3 rbWide3_AddScaled(rbWide3 a, rbWide s, rbWide3 b)
{
    return (rbWide3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline rbWide rbWide3_Dot(rbWide3 a, rbWide3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline rbWide3 rbWide3_Cross(rbWide3 a, rbWide3 b)
{
    return (rbWide3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline rbWide rbWide3_Length(rbWide3 a)
{
    return rbWide_Sqrt(rbWide3_Dot(a, a));
}

static inline rbWide3 rbWide3_Unit(rbWide3 a)
{
    return rbWide3_Scale(1 / rbWide3_Length(a), a);
}

// A rotation matrix; its columns are the images of the axes.
typedef struct rbWideTurn {
    rbWide3 columns[3];
} rbWideTurn;

// Of the quaternion w, x, y, z, which need not be of length 1.
static inline rbWideTurn rbWideTurn_From(const rbWide q[4])
{
    rbWide s = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    rbWide xx = s * q[1] * q[1], yy = s * q[2] * q[2], zz = s * q[3] * q[3];
    rbWide xy = s * q[1] * q[2], yz = s * q[2] * q[3], zx = s * q[3] * q[1];
    rbWide wx = s * q[0] * q[1], wy = s * q[0] * q[2], wz = s * q[0] * q[3];
    return (rbWideTurn){{{1 - yy - zz, xy + wz, zx - wy},
                         {xy - wz, 1 - zz - xx, yz + wx},
                         {zx + wy, yz - wx, 1 - xx - yy}}};
}

static inline rbWideTurn rbWideTurn_FromQuat(rbQuat q)
{
    const rbWide parts[4] = {q.w, q.x, q.y, q.z};
    return rbWideTurn_From(parts);
}

static inline rbWide3 rbWideTurn_Apply(const rbWideTurn* turn, rbWide3 v)
{
    rbWide3 sum = rbWide3_Scale(v.x, turn->columns[0]);
    sum = rbWide3_AddScaled(sum, v.y, turn->columns[1]);
    return rbWide3_AddScaled(sum, v.z, turn->columns[2]);
}

static inline rbWide3 rbWideTurn_Undo(const rbWideTurn* turn, rbWide3 v)
{
    return (rbWide3){rbWide3_Dot(turn->columns[0], v), rbWide3_Dot(turn->columns[1], v),
                     rbWide3_Dot(turn->columns[2], v)};
}

// The rate of a quaternion that turns with a spin in world axes: 1/2 (0, spin) q.
static inline void rbWide_RateOfTurn(const rbWide q[4], rbWide3 spin, rbWide rate[4])
{
    rate[0] = (-spin.x * q[1] - spin.y * q[2] - spin.z * q[3]) / 2;
    rate[1] = (spin.x * q[0] + spin.y * q[3] - spin.z * q[2]) / 2;
    rate[2] = (spin.y * q[0] + spin.z * q[1] - spin.x * q[3]) / 2;
    rate[3] = (spin.z * q[0] + spin.x * q[2] - spin.y * q[1]) / 2;
}

// Solves the n x n system a x = b by elimination with pivots; a and b (n rows of `stride`) are
// overwritten, b becomes x.
void rbWide_Solve(rbWide* a, rbWide* b, int n, int stride);

#define RB_WIDE_SIZE_MAX 32

typedef void rbWideRateFn(const rbWide* y, rbWide* rate, const void* context);

// An initial value problem without explicit time, advanced by extrapolation of order 16.
typedef struct rbWideOde {
    rbWideRateFn* rate;
    const void* context;
    int size; // of y, 1..RB_WIDE_SIZE_MAX
    rbWide y[RB_WIDE_SIZE_MAX];
    rbWide time;    // s
    double step;    // s, suggested; grows and shrinks with the error
    double stepMax; // s
    double bound;   // largest difference of the last two columns in a step
} rbWideOde;

// One step of at most `longest` seconds; returns its length.
double rbWideOde_Step(rbWideOde* ode, double longest);
