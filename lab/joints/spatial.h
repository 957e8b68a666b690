// Motions and forces of rigid bodies in six dimensions, for reduced coordinates. World axes; the
// reference point is stated where it is used: usually the center of mass of a body.
#pragma once

#include "base/math/matrix3.h"

// A motion: angular, and of the reference point. A force: torque about that point, and force.
typedef struct rbSpatial {
    rbVec3 w;
    rbVec3 v;
} rbSpatial;

// Inertia that maps motions to forces: torque = J w + H v, force = H^T w + M v.
typedef struct rbSpatialInertia {
    rbSym3 j;
    rbMat3 h;
    rbSym3 m;
} rbSpatialInertia;

static inline rbSpatial rbAddSpatial(rbSpatial a, rbSpatial b)
{
    return (rbSpatial){rbAdd(a.w, b.w), rbAdd(a.v, b.v)};
}

static inline rbSpatial rbAddScaledSpatial(rbSpatial a, double s, rbSpatial b)
{
    return (rbSpatial){rbAddScaled(a.w, s, b.w), rbAddScaled(a.v, s, b.v)};
}

static inline double rbDotSpatial(rbSpatial a, rbSpatial b)
{
    return rbDot(a.w, b.w) + rbDot(a.v, b.v);
}

// A motion seen at a point displaced by r.
static inline rbSpatial rbShiftMotion(rbSpatial a, rbVec3 r)
{
    return (rbSpatial){a.w, rbAdd(a.v, rbCross(a.w, r))};
}

// A force at a point c, expressed at the point c - r.
static inline rbSpatial rbShiftForce(rbSpatial a, rbVec3 r)
{
    return (rbSpatial){rbAdd(a.w, rbCross(r, a.v)), a.v};
}

static inline rbSpatial rbMulSpatial(const rbSpatialInertia* inertia, rbSpatial a)
{
    return (rbSpatial){rbAdd(rbMulSV(inertia->j, a.w), rbMulMV(inertia->h, a.v)),
                       rbAdd(rbMulMtV(inertia->h, a.w), rbMulSV(inertia->m, a.v))};
}

// s + f a a^T
static inline void rbAddSquare(rbSym3* s, double f, rbVec3 a)
{
    rbVec3 b = rbScale(f, a);
    s->xx += b.x * a.x;
    s->yy += b.y * a.y;
    s->zz += b.z * a.z;
    s->xy += b.x * a.y;
    s->xz += b.x * a.z;
    s->yz += b.y * a.z;
}

// inertia - f a a^T
static inline void rbSubtractSquare(rbSpatialInertia* inertia, double f, rbSpatial a)
{
    rbAddSquare(&inertia->j, -f, a.w);
    rbAddSquare(&inertia->m, -f, a.v);
    inertia->h.cx = rbAddScaled(inertia->h.cx, -f * a.v.x, a.w);
    inertia->h.cy = rbAddScaled(inertia->h.cy, -f * a.v.y, a.w);
    inertia->h.cz = rbAddScaled(inertia->h.cz, -f * a.v.z, a.w);
}

// Adds an inertia about c to one about c - r:
//   H' = H + [r] M,   J' = J - H [r] + [r] H^T - [r] M [r] = J + [r] H^T + ([r] H'^T)^T.
static inline void rbAddShiftedInertia(rbSpatialInertia* sum, const rbSpatialInertia* a, rbVec3 r)
{
    rbMat3 h = a->h;
    h.cx = rbAdd(h.cx, rbCross(r, rbMakeVec3(a->m.xx, a->m.xy, a->m.xz)));
    h.cy = rbAdd(h.cy, rbCross(r, rbMakeVec3(a->m.xy, a->m.yy, a->m.yz)));
    h.cz = rbAdd(h.cz, rbCross(r, rbMakeVec3(a->m.xz, a->m.yz, a->m.zz)));
    // Rows of H and H', crossed: column b of [r] H^T, row a of ([r] H'^T)^T.
    rbVec3 p1 = rbCross(r, rbMakeVec3(a->h.cx.x, a->h.cy.x, a->h.cz.x));
    rbVec3 p2 = rbCross(r, rbMakeVec3(a->h.cx.y, a->h.cy.y, a->h.cz.y));
    rbVec3 p3 = rbCross(r, rbMakeVec3(a->h.cx.z, a->h.cy.z, a->h.cz.z));
    rbVec3 q1 = rbCross(r, rbMakeVec3(h.cx.x, h.cy.x, h.cz.x));
    rbVec3 q2 = rbCross(r, rbMakeVec3(h.cx.y, h.cy.y, h.cz.y));
    rbVec3 q3 = rbCross(r, rbMakeVec3(h.cx.z, h.cy.z, h.cz.z));
    sum->m = rbAddSym(sum->m, a->m);
    sum->h.cx = rbAdd(sum->h.cx, h.cx);
    sum->h.cy = rbAdd(sum->h.cy, h.cy);
    sum->h.cz = rbAdd(sum->h.cz, h.cz);
    sum->j.xx += a->j.xx + p1.x + q1.x;
    sum->j.yy += a->j.yy + p2.y + q2.y;
    sum->j.zz += a->j.zz + p3.z + q3.z;
    sum->j.xy += a->j.xy + p2.x + q1.y;
    sum->j.xz += a->j.xz + p3.x + q1.z;
    sum->j.yz += a->j.yz + p3.y + q2.z;
}
