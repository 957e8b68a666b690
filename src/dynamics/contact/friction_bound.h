// The bound on the friction of a point at a normal impulse: the disc of the exact cone, or the
// polygon of a pyramid, whose corners lie on it.
#pragma once

#include "base/math/elementary.h"

#include <rattleback/contact.h>

#include <math.h>

typedef struct rbFrictionBound {
    int facets;                                // of the pyramid; 0: the exact cone
    double normals[RB_FRICTION_FACETS_MAX][2]; // outward, of these
    double cosine;                             // distance of the facets in the unit circle
} rbFrictionBound;

static inline rbFrictionBound rbMakeFrictionBound(const rbContactSettings* settings)
{
    rbFrictionBound bound = {0};
    if (settings->cone == RB_CONE_PYRAMID) {
        int facets = settings->facets < 3 ? 3 : settings->facets;
        bound.facets = facets < RB_FRICTION_FACETS_MAX ? facets : RB_FRICTION_FACETS_MAX;
        bound.cosine = rbCos(RB_PI / bound.facets);
    }
    for (int i = 0; i < bound.facets; ++i) {
        double* n = bound.normals[i];
        rbSinCos(RB_PI * (2 * i + 1) / bound.facets, &n[1], &n[0]);
    }
    return bound;
}

// Projects q onto the bound at a radius; false: it was inside.
static inline bool rbFrictionBound_Project(const rbFrictionBound* bound, double radius, double q[2])
{
    RB_ASSERT(!(radius < 0.0));
    if (bound->facets == 0) {
        double square = q[0] * q[0] + q[1] * q[1];
        if (square <= radius * radius) {
            return false;
        }
        double scale = radius / sqrt(square);
        q[0] *= scale;
        q[1] *= scale;
        return true;
    }
    const double* n = bound->normals[0];
    for (int i = 1; i < bound->facets; ++i) {
        const double* own = bound->normals[i];
        n = own[0] * q[0] + own[1] * q[1] > n[0] * q[0] + n[1] * q[1] ? own : n;
    }
    if (n[0] * q[0] + n[1] * q[1] <= radius * bound->cosine) {
        return false;
    }
    double end = radius * sqrt(1.0 - bound->cosine * bound->cosine); // half of the facet
    double along = fmax(-end, fmin(end, n[0] * q[1] - n[1] * q[0]));
    q[0] = radius * bound->cosine * n[0] - along * n[1];
    q[1] = radius * bound->cosine * n[1] + along * n[0];
    return true;
}
