// The distance of two segments is attained between inner points of both or at an end of one of
// them. All five candidates are feasible points, so that a badly conditioned inner one (nearly
// parallel lines) can only lose against an end; and where it wins, the error of its parameters is
// rounding over the sine of the angle, which changes the distance by the square of rounding.
#include "collision/narrowphase/segments.h"

#include "collision/narrowphase/point_distance.h"

static double clampTo(double half, double s)
{
    return s < -half ? -half : (s > half ? half : s);
}

static void keepBetter(rbSegmentPair* best, const rbSegment* a, const rbSegment* b, double s,
                       double t)
{
    rbSegmentPair pair = {s, t, rbAddScaled(a->center, s, a->direction),
                          rbAddScaled(b->center, t, b->direction), 0.0};
    pair.distance = rbDistance(pair.pointA, pair.pointB);
    if (pair.distance < best->distance) {
        *best = pair;
    }
}

rbSegmentPair rbMeasureSegments(const rbSegment* a, const rbSegment* b)
{
    RB_ASSERT(a->half >= 0.0 && b->half >= 0.0);
    rbSegmentPair best = {.distance = INFINITY};
    rbVec3 between = rbSub(b->center, a->center);
    rbVec3 across = rbCross(a->direction, b->direction);
    double sine2 = rbLengthSquared(across);
    if (sine2 > 0.0) {
        double t = rbDot(rbCross(between, a->direction), across) / sine2;
        if (isfinite(t)) {
            // the nearest point to the clamped one, twice: keeps both feasible and consistent
            t = clampTo(b->half, t);
            rbVec3 toB = rbAddScaled(between, t, b->direction);
            double s = clampTo(a->half, rbDot(toB, a->direction));
            rbVec3 toA = rbSub(rbScale(s, a->direction), between);
            t = clampTo(b->half, rbDot(toA, b->direction));
            keepBetter(&best, a, b, s, t);
        }
    }
    for (int end = -1; end <= 1; end += 2) {
        double s = end * a->half;
        rbVec3 toA = rbSub(rbScale(s, a->direction), between);
        keepBetter(&best, a, b, s, clampTo(b->half, rbDot(toA, b->direction)));
    }
    for (int end = -1; end <= 1; end += 2) {
        double t = end * b->half;
        rbVec3 toB = rbAddScaled(between, t, b->direction);
        keepBetter(&best, a, b, clampTo(a->half, rbDot(toB, a->direction)), t);
    }
    return best;
}
