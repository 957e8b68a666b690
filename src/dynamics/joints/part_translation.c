// Parts that remove translations: ball, line, plane and their distance variants (B-13 to B-16).
//
// a: A's point, b: B's, d = b - a, s: centers of mass. Lines and planes are fixed to A, and so are
// all rows n, at the pose of the evaluation (E-03); those of a ball are A's own axes. The error n .
// d then changes by
//   n . (vB + wB x (b - sB)) - n . (vA + wA x (a - sA)) + (wA x n) . d
//     = n . (vB - vA) + ((b - sB) x n) . wB - ((b - sA) x n) . wA,
// so A's part acts at b itself. Where the joint holds, b is the foot point of the specification;
// elsewhere b is correct and the foot point is not: b yields the exact gradient, and a pair of
// impulses at one point conserves angular momentum for any gap.
#include "dynamics/joints/part_ops.h"

static rbVec3 worldPoint(const rbRowPose* pose, rbVec3 point)
{
    return rbAdd(pose->position, rbMulMV(pose->rotation, point));
}

// b relative to both centers of mass. The difference of the centers comes first: far from the
// origin it is exact, world coordinates of b are not.
typedef struct Arms {
    rbVec3 fromA;
    rbVec3 fromB;
} Arms;

static inline Arms findArms(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB)
{
    Arms arms;
    arms.fromB = rbMulMV(poseB->rotation, part->pointB);
    arms.fromA = rbAdd(rbSub(poseB->position, poseA->position), arms.fromB);
    return arms;
}

// A row along n with both impulses acting at b.
static inline void writeRow(rbRow* row, rbVec3 n, const Arms* arms)
{
    row->linear = n;
    row->angularA = rbCross(arms->fromA, n);
    row->angularB = rbCross(arms->fromB, n);
}

// b - a in the frame of A.
static inline rbVec3 findOffset(const rbPartModel* part, const rbRowPose* poseA,
                                const rbRowPose* poseB)
{
    Arms arms = findArms(part, poseA, poseB);
    return rbSub(rbMulMtV(poseA->rotation, arms.fromA), part->pointA);
}

static void writeBallRows(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                          rbRow* rows)
{
    Arms arms = findArms(part, poseA, poseB);
    writeRow(&rows[0], poseA->rotation.cx, &arms);
    writeRow(&rows[1], poseA->rotation.cy, &arms);
    writeRow(&rows[2], poseA->rotation.cz, &arms);
}

static void findBallErrors(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                           double* errors)
{
    rbVec3 offset = findOffset(part, poseA, poseB);
    errors[0] = offset.x;
    errors[1] = offset.y;
    errors[2] = offset.z;
}

static rbVec3 findAnchor(const rbPartModel* part, const rbRowPose* poseA, rbVec3 pointB)
{
    (void)pointB;
    return worldPoint(poseA, part->pointA);
}

static void writeLineRows(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                          rbRow* rows)
{
    Arms arms = findArms(part, poseA, poseB);
    writeRow(&rows[0], rbMulMV(poseA->rotation, part->crossA[0]), &arms);
    writeRow(&rows[1], rbMulMV(poseA->rotation, part->crossA[1]), &arms);
}

static void findLineErrors(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                           double* errors)
{
    rbVec3 offset = findOffset(part, poseA, poseB);
    errors[0] = rbDot(part->crossA[0], offset);
    errors[1] = rbDot(part->crossA[1], offset);
}

static rbVec3 findFootOnLine(const rbPartModel* part, const rbRowPose* poseA, rbVec3 pointB)
{
    rbVec3 a = worldPoint(poseA, part->pointA);
    rbVec3 axis = rbMulMV(poseA->rotation, part->axisA);
    return rbAddScaled(a, rbDot(axis, rbSub(pointB, a)), axis);
}

static void writePlaneRows(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                           rbRow* rows)
{
    Arms arms = findArms(part, poseA, poseB);
    writeRow(&rows[0], rbMulMV(poseA->rotation, part->axisA), &arms);
}

// The plane is the plane at distance 0.
static void findPlaneErrors(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                            double* errors)
{
    errors[0] = rbDot(part->axisA, findOffset(part, poseA, poseB)) - part->distance;
}

static rbVec3 findFootInPlane(const rbPartModel* part, const rbRowPose* poseA, rbVec3 pointB)
{
    rbVec3 a = worldPoint(poseA, part->pointA);
    rbVec3 normal = rbMulMV(poseA->rotation, part->axisA);
    return rbAddScaled(pointB, -rbDot(normal, rbSub(pointB, a)), normal);
}

// Unit vector along a gap; if there is no gap, an axis of A, so that an impulse can open it.
static rbVec3 findDirection(rbVec3 gap, const rbPartModel* part, const rbRowPose* poseA)
{
    double length = rbLength(gap);
    if (length > 0.0) {
        return rbScale(1.0 / length, gap);
    }
    return rbMulMV(poseA->rotation, part->crossA[0]);
}

// b - a in world axes.
static rbVec3 findGap(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB)
{
    rbVec3 rA = rbMulMV(poseA->rotation, part->pointA);
    rbVec3 rB = rbMulMV(poseB->rotation, part->pointB);
    return rbAdd(rbSub(poseB->position, poseA->position), rbSub(rB, rA));
}

static void writeDistanceRows(const rbPartModel* part, const rbRowPose* poseA,
                              const rbRowPose* poseB, rbRow* rows)
{
    rbVec3 rA = rbMulMV(poseA->rotation, part->pointA);
    rbVec3 rB = rbMulMV(poseB->rotation, part->pointB);
    rbVec3 n = findDirection(findGap(part, poseA, poseB), part, poseA);
    rows[0] = (rbRow){n, rbCross(rA, n), rbCross(rB, n)};
}

static void findDistanceErrors(const rbPartModel* part, const rbRowPose* poseA,
                               const rbRowPose* poseB, double* errors)
{
    errors[0] = rbLength(findGap(part, poseA, poseB)) - part->distance;
}

// The offset without its part along the line, in the frame of A.
static rbVec3 findGapToLine(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB)
{
    rbVec3 offset = findOffset(part, poseA, poseB);
    rbVec3 gap = rbScale(rbDot(part->crossA[0], offset), part->crossA[0]);
    return rbAddScaled(gap, rbDot(part->crossA[1], offset), part->crossA[1]);
}

static void writeLineDistanceRows(const rbPartModel* part, const rbRowPose* poseA,
                                  const rbRowPose* poseB, rbRow* rows)
{
    rbVec3 gap = rbMulMV(poseA->rotation, findGapToLine(part, poseA, poseB));
    Arms arms = findArms(part, poseA, poseB);
    writeRow(&rows[0], findDirection(gap, part, poseA), &arms);
}

static void findLineDistanceErrors(const rbPartModel* part, const rbRowPose* poseA,
                                   const rbRowPose* poseB, double* errors)
{
    errors[0] = rbLength(findGapToLine(part, poseA, poseB)) - part->distance;
}

const rbPartOps rbBallPart = {
    .rowCount = 3,
    .rows = writeBallRows,
    .errors = findBallErrors,
    .foot = findAnchor,
};

const rbPartOps rbLinePart = {
    .rowCount = 2,
    .axisUse = RB_AXIS_COMMON,
    .rows = writeLineRows,
    .errors = findLineErrors,
    .foot = findFootOnLine,
};

const rbPartOps rbPlanePart = {
    .rowCount = 1,
    .axisUse = RB_AXIS_COMMON,
    .rows = writePlaneRows,
    .errors = findPlaneErrors,
    .foot = findFootInPlane,
};

const rbPartOps rbDistancePart = {
    .rowCount = 1,
    .hasDistance = true,
    .rows = writeDistanceRows,
    .errors = findDistanceErrors,
    .foot = findAnchor,
};

const rbPartOps rbLineDistancePart = {
    .rowCount = 1,
    .axisUse = RB_AXIS_COMMON,
    .hasDistance = true,
    .rows = writeLineDistanceRows,
    .errors = findLineDistanceErrors,
    .foot = findFootOnLine,
};

const rbPartOps rbPlaneDistancePart = {
    .rowCount = 1,
    .axisUse = RB_AXIS_COMMON,
    .hasDistance = true,
    .isDistanceSigned = true,
    .rows = writePlaneRows,
    .errors = findPlaneErrors,
    .foot = findFootInPlane,
};
