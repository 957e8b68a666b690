#include "lab/rays/path_bend.h"

#include <math.h>

double rbPath_GetLength(const rbPath* path)
{
    return path->length;
}

// A bound on |p''| / |p'|^2, which is not less than the curvature, over the k-th span of a piece.
// p' is a quadratic: over the span it is within the hull of three vectors, so that its length is at
// least the least of their components along the middle one. INFINITY where that is not positive.
static double boundCurvature(const rbVec3 b[4], int k)
{
    double uA = (double)k / RB_PATH_SPANS;
    double uB = (double)(k + 1) / RB_PATH_SPANS;
    rbVec3 first = rbGetBezierDerivative(b, uA);
    rbVec3 last = rbGetBezierDerivative(b, uB);
    // The middle control vector of a quadratic from its ends and its middle.
    rbVec3 middle = rbScale(2.0, rbGetBezierDerivative(b, 0.5 * (uA + uB)));
    middle = rbAddScaled(middle, -0.5, rbAdd(first, last));
    rbVec3 along = rbNormalize(rbAdd(rbAdd(first, middle), last));
    double least = fmin(rbDot(first, along), fmin(rbDot(middle, along), rbDot(last, along)));
    // p'' is linear: its length is largest at an end.
    rbVec3 c = rbSub(rbAdd(b[0], b[2]), rbScale(2.0, b[1]));
    rbVec3 d = rbSub(rbAdd(b[1], b[3]), rbScale(2.0, b[2]));
    double bend = fmax(rbLength(rbAddScaled(rbScale(1.0 - uA, c), uA, d)),
                       rbLength(rbAddScaled(rbScale(1.0 - uB, c), uB, d)));
    return least > 0.0 ? 6.0 * bend / (least * least) : INFINITY;
}

double rbPath_GetAcceleration(const rbPath* path, double timeA, double timeB, double tolerance)
{
    RB_ASSERT(timeA <= timeB && tolerance > 0.0);
    if (path->type != RB_PATH_CURVE || !(path->speed > 0.0)) {
        return 0.0;
    }
    double travelA = rbPath_GetTravel(path, timeA);
    double travelB = rbPath_GetTravel(path, timeB);
    double shift = path->isClosed ? path->length * floor(travelA / path->length) : 0.0;
    int spans = path->pieceCount * RB_PATH_SPANS;
    int first = 0;
    int last = spans - 1;
    if (!path->isClosed || travelB - shift < path->length) {
        // One additional span on both sides, for the rounding of traveled lengths.
        double u;
        int piece = rbPath_Locate(path, travelA - shift, &u);
        first = piece * RB_PATH_SPANS + (int)(u * RB_PATH_SPANS) - 1;
        piece = rbPath_Locate(path, travelB - shift, &u);
        last = piece * RB_PATH_SPANS + (int)(u * RB_PATH_SPANS) + 1;
    }
    double curvature = 0.0;
    for (int i = first; i <= last; ++i) {
        // A closed curve continues at its other end.
        int k = path->isClosed ? (i + spans) % spans : i;
        if (k >= 0 && k < spans) {
            curvature =
                fmax(curvature, boundCurvature(path->pieces[k / RB_PATH_SPANS], k % RB_PATH_SPANS));
        }
    }
    return path->speed * path->speed * fmin(curvature, 2.0 / tolerance);
}

const rbVec3 (*rbPath_GetPieces(const rbPath* path, int* count))[4]
{
    *count = path->type == RB_PATH_CURVE ? path->pieceCount : 0;
    return (const rbVec3(*)[4])path->pieces;
}
