// Vectors and matrices of the verifier, and double-double numbers: 106 bits as the unevaluated sum
// of two doubles (Dekker 1971; Knuth, volume 2). Nothing here comes from the engines.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define EPS 2.22e-16 // of doubles

typedef struct rbV3 {
    double x, y, z;
} rbV3;

typedef struct rbV4 {
    double w, x, y, z;
} rbV4;

// Symmetric: xx yy zz xy xz yz.
typedef struct rbVSym {
    double xx, yy, zz, xy, xz, yz;
} rbVSym;

typedef struct rbVPose {
    rbV3 p;
    rbV4 q;
} rbVPose;

static inline rbV3 make3(double x, double y, double z)
{
    return (rbV3){x, y, z};
}
static inline rbV3 add3(rbV3 a, rbV3 b)
{
    return (rbV3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline rbV3 sub3(rbV3 a, rbV3 b)
{
    return (rbV3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline rbV3 scale3(double s, rbV3 a)
{
    return (rbV3){s * a.x, s * a.y, s * a.z};
}
static inline rbV3 addScaled3(rbV3 a, double s, rbV3 b)
{
    return (rbV3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double dot3(rbV3 a, rbV3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline rbV3 cross3(rbV3 a, rbV3 b)
{
    return (rbV3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double length3(rbV3 a)
{
    return sqrt(dot3(a, a));
}
static inline rbV4 mul4(rbV4 a, rbV4 b)
{
    return (rbV4){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                  a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline rbV4 conjugate4(rbV4 q)
{
    return (rbV4){q.w, -q.x, -q.y, -q.z};
}
// rad, of the rotation between two orientations, while it is small.
static inline double angle4(rbV4 a, rbV4 b)
{
    rbV4 off = mul4(conjugate4(a), b);
    return 2.0 * length3((rbV3){off.x, off.y, off.z});
}
// Turns a vector by a quaternion of any length near 1.
static inline rbV3 turn3(rbV4 q, rbV3 v)
{
    rbV3 u = {q.x, q.y, q.z};
    rbV3 t = scale3(2.0, cross3(u, v));
    return add3(addScaled3(v, q.w, t), cross3(u, t));
}
static inline rbV3 turnBack3(rbV4 q, rbV3 v)
{
    return turn3(conjugate4(q), v);
}
static inline rbV3 mulSym(const rbVSym* m, rbV3 v)
{
    return (rbV3){m->xx * v.x + m->xy * v.y + m->xz * v.z, m->xy * v.x + m->yy * v.y + m->yz * v.z,
                  m->xz * v.x + m->yz * v.y + m->zz * v.z};
}

typedef struct rbVDd {
    double hi, lo;
} rbVDd;

static inline rbVDd ddOf(double a)
{
    return (rbVDd){a, 0.0};
}
static inline rbVDd ddSum(double a, double b)
{
    double s = a + b;
    double t = s - a;
    return (rbVDd){s, (a - (s - t)) + (b - t)};
}
static inline rbVDd ddQuick(double a, double b)
{
    double s = a + b;
    return (rbVDd){s, b - (s - a)};
}
static inline rbVDd ddAdd(rbVDd a, rbVDd b)
{
    rbVDd s = ddSum(a.hi, b.hi);
    return ddQuick(s.hi, s.lo + (a.lo + b.lo));
}
static inline rbVDd ddSub(rbVDd a, rbVDd b)
{
    return ddAdd(a, (rbVDd){-b.hi, -b.lo});
}
static inline rbVDd ddMul(rbVDd a, rbVDd b)
{
    double p = a.hi * b.hi;
    double e = fma(a.hi, b.hi, -p);
    return ddQuick(p, e + (a.hi * b.lo + a.lo * b.hi));
}
static inline rbVDd ddDiv(rbVDd a, rbVDd b)
{
    double q = a.hi / b.hi;
    rbVDd rest = ddSub(a, ddMul(b, ddOf(q)));
    double r = rest.hi / b.hi;
    rest = ddSub(rest, ddMul(b, ddOf(r)));
    return ddAdd(ddQuick(q, r), ddOf(rest.hi / b.hi));
}
static inline double ddValue(rbVDd a)
{
    return a.hi + a.lo;
}
