// The inverse inertia as I^-1 = G G^T. With a spin w = G y, a row G^T c describes both what a
// direction c measures and what it moves.
#pragma once

#include "dynamics/contact/contact.h"

#include <math.h>

// A pivot of an inverse inertia below this fraction of its diagonal is rounding: no rotation there.
#define RB_PIVOT_LEAST 1e-14

// Lower triangular G of G G^T = s; the diagonal in xx, yy, zz. Directions without rotation have
// zero columns.
static inline rbSym3 rbFactorInertia(const rbSym3* s)
{
    rbSym3 g = {0};
    if (s->xx > 0.0) {
        g.xx = sqrt(s->xx);
        g.xy = s->xy / g.xx;
        g.xz = s->xz / g.xx;
    }
    double yy = s->yy - g.xy * g.xy;
    if (yy > RB_PIVOT_LEAST * s->yy) {
        g.yy = sqrt(yy);
        g.yz = (s->yz - g.xy * g.xz) / g.yy;
    }
    double zz = s->zz - g.xz * g.xz - g.yz * g.yz;
    if (zz > RB_PIVOT_LEAST * s->zz) {
        g.zz = sqrt(zz);
    }
    return g;
}

// G^T c.
static inline rbVec3 rbMulFactorTransposed(const rbSym3* g, rbVec3 c)
{
    return rbMakeVec3(g->xx * c.x + g->xy * c.y + g->xz * c.z, g->yy * c.y + g->yz * c.z,
                      g->zz * c.z);
}

// G y.
static inline rbVec3 rbMulFactor(const rbSym3* g, const double y[3])
{
    return rbMakeVec3(g->xx * y[0], g->xy * y[0] + g->yy * y[1],
                      g->xz * y[0] + g->yz * y[1] + g->zz * y[2]);
}

// y of G y = w; 0 in directions without rotation.
static inline rbVec3 rbSolveFactor(const rbSym3* g, rbVec3 w)
{
    double x = g->xx > 0.0 ? w.x / g->xx : 0.0;
    double y = g->yy > 0.0 ? (w.y - g->xy * x) / g->yy : 0.0;
    double z = g->zz > 0.0 ? (w.z - g->xz * x - g->yz * y) / g->zz : 0.0;
    return rbMakeVec3(x, y, z);
}
