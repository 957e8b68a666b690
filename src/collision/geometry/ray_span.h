// The part of a line inside a convex set: where it enters and where it leaves. Rays against convex
// primitives are intersections and unions of such spans.
#pragma once

#include <rattleback/shape.h>

typedef struct rbRayEnd {
    double t;
    rbVec3 normal;
    int feature;
} rbRayEnd;

// in.t <= out.t; the ends may be infinite.
typedef struct rbRaySpan {
    rbRayEnd in, out;
} rbRaySpan;

static const rbRaySpan rbWholeLine = {{-INFINITY, {0.0, 0.0, 0.0}, 0},
                                      {INFINITY, {0.0, 0.0, 0.0}, 0}};

// Cuts the span to lower <= o + t d <= upper of one coordinate; axis unit vector and features of
// the lower and the upper face. False if nothing remains.
bool rbRaySpan_ClipSlab(rbRaySpan* span, const double line[2], const double range[2], rbVec3 axis,
                        const int features[2]);

// Cuts the span to |o + t d| <= radius; normals are left to the caller. feature is assigned to the
// ends that move. False if nothing remains. The line is first moved to its point nearest to the
// center, so that the origin may be far away without loss of digits.
bool rbRaySpan_ClipBall(rbRaySpan* span, rbVec3 o, rbVec3 d, double radius, int feature);

// Cuts the span to [tIn, tOut] with the feature for the ends that move.
bool rbRaySpan_Clip(rbRaySpan* span, double tIn, double tOut, int feature);

// The first end of the span on the ray.
bool rbRaySpan_GetHit(const rbRaySpan* span, const rbRay* ray, rbRayHit* hit);
