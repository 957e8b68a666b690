// Closest points of two segments.
#ifndef RB_NARROWPHASE_SEGMENTS_H
#define RB_NARROWPHASE_SEGMENTS_H

#include <rattleback/vecmath.h>

// Points center + s direction, |s| <= half.
typedef struct rbSegment {
    rbVec3 center;
    rbVec3 direction; // unit
    double half;      // >= 0
} rbSegment;

typedef struct rbSegmentPair {
    double s, t; // parameters on the first and the second segment
    rbVec3 pointA, pointB;
    double distance;
} rbSegmentPair;

// Exact to rounding for crossing, parallel, collinear and degenerate segments. Where the pair is
// not unique, the first of: inner points, ends of A, ends of B.
rbSegmentPair rbMeasureSegments(const rbSegment* a, const rbSegment* b);

#endif
