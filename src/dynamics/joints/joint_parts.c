// The basic parts of joints: their rows and errors (B-13 to B-19); and springs.
#include "base/math/elementary.h"
#include "base/math/matrix3.h"
#include "dynamics/joints/part_ops.h"

// ------------------------------------------------------------------------------------ translations

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

// b relative to both centers of mass. The difference of the centers comes first: far from the
// origin it is exact, world coordinates of b are not.
typedef struct Arms {
    rbVec3 fromA, fromB;
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

static void findBallErrors(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                           double* errors)
{
    rbVec3 offset = findOffset(part, poseA, poseB);
    errors[0] = offset.x;
    errors[1] = offset.y;
    errors[2] = offset.z;
}

static void findLineErrors(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                           double* errors)
{
    rbVec3 offset = findOffset(part, poseA, poseB);
    errors[0] = rbDot(part->crossA[0], offset);
    errors[1] = rbDot(part->crossA[1], offset);
}

// The plane is the plane at distance 0.
static void findPlaneErrors(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                            double* errors)
{
    errors[0] = rbDot(part->axisA, findOffset(part, poseA, poseB)) - part->distance;
}

// Unit vector along a gap; if there is no gap, an axis of A, so that an impulse can open it.
static rbVec3 findDirection(rbVec3 gap, const rbPartModel* part, const rbRowPose* poseA)
{
    double length = rbLength(gap);
    return length > 0.0 ? rbScale(1.0 / length, gap) : rbMulMV(poseA->rotation, part->crossA[0]);
}

// Two points of bodies, from their centers of mass in world axes, and the gap from the first.
typedef struct Span {
    rbVec3 rA, rB, gap;
} Span;

static Span findSpan(rbVec3 pointA, rbVec3 pointB, const rbRowPose* poseA, const rbRowPose* poseB)
{
    Span span = {.rA = rbMulMV(poseA->rotation, pointA), .rB = rbMulMV(poseB->rotation, pointB)};
    span.gap = rbAdd(rbSub(poseB->position, poseA->position), rbSub(span.rB, span.rA));
    return span;
}

// A row along n with an impulse at each of the points.
static rbRow rowOfSpan(const Span* span, rbVec3 n)
{
    return (rbRow){n, rbCross(span->rA, n), rbCross(span->rB, n)};
}

static void writeDistanceRows(const rbPartModel* part, const rbRowPose* poseA,
                              const rbRowPose* poseB, rbRow* rows)
{
    Span span = findSpan(part->pointA, part->pointB, poseA, poseB);
    rows[0] = rowOfSpan(&span, findDirection(span.gap, part, poseA));
}

static void findDistanceErrors(const rbPartModel* part, const rbRowPose* poseA,
                               const rbRowPose* poseB, double* errors)
{
    Span span = findSpan(part->pointA, part->pointB, poseA, poseB);
    errors[0] = rbLength(span.gap) - part->distance;
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

// --------------------------------------------------------------------------------------- rotations

// Parts that remove rotations: translation, direction, double rotation (B-17 to B-19).
//
// A row u means u . (wB - wA); it has no linear part. Errors are angles computed from sines, so
// that the common case, a joint that holds, needs no arc function: for |sine| below 0.0158 a short
// series yields the angle to the last bit or two.

// asin(s)/s = 1 + s^2/6 + 3 s^4/40 + 5 s^6/112 + 35 s^8/1152 ..., s^2 <= SMALL_SINE_SQUARED; the
// first omitted term is 1.2e-16 there.
#define SMALL_SINE_SQUARED 2.5e-4

static inline double angleBySine(double sineSquared)
{
    double z = sineSquared;
    return 1.0 + z * (1.0 / 6.0 + z * (3.0 / 40.0 + z * (5.0 / 112.0)));
}

static inline void writeRotationRow(rbRow* row, rbVec3 u)
{
    row->linear = RB_VEC3_ZERO;
    row->angularA = u;
    row->angularB = u;
}

// Rotation vector, in A's frame, of the deviation of B from its target orientation: with G the
// world rotation of a body since the joint held, G_B G_A^-1 = q_B (q_A relative)^-1 (E-02); in A's
// frame, q_A^-1 times it times q_A = q_A^-1 q_B relative^-1.
static void findTranslationErrors(const rbPartModel* part, const rbRowPose* poseA,
                                  const rbRowPose* poseB, double* errors)
{
    rbQuat q = rbMulQuat(rbMulQuat(rbConjugate(poseA->orientation), poseB->orientation),
                         rbConjugate(part->relative));
    rbVec3 v = q.w < 0.0 ? rbMakeVec3(-q.x, -q.y, -q.z) : rbMakeVec3(q.x, q.y, q.z);
    double sineSquared = rbLengthSquared(v);
    double factor;
    if (sineSquared <= SMALL_SINE_SQUARED) {
        factor = 2.0 * angleBySine(sineSquared);
    } else {
        double sine = sqrt(sineSquared);
        factor = 2.0 * rbAtan2(sine, fabs(q.w)) / sine;
    }
    errors[0] = factor * v.x;
    errors[1] = factor * v.y;
    errors[2] = factor * v.z;
}

// Angle times axis of the rotation from A's axis x to B's, x2, along the transverse axes y and z of
// A. The axis is along c = x x x2, with c . y = -z . x2 and c . z = y . x2: c itself is not needed.
static void findDirectionErrors(const rbPartModel* part, const rbRowPose* poseA,
                                const rbRowPose* poseB, double* errors)
{
    rbVec3 x2 = rbMulMtV(poseA->rotation, rbMulMV(poseB->rotation, part->axisB));
    double cosine = rbDot(part->axisA, x2);
    double cy = -rbDot(part->crossA[1], x2);
    double cz = rbDot(part->crossA[0], x2);
    double sineSquared = cy * cy + cz * cz;
    if (cosine > 0.0 && sineSquared <= SMALL_SINE_SQUARED) {
        double factor = angleBySine(sineSquared);
        errors[0] = factor * cy;
        errors[1] = factor * cz;
        return;
    }
    double sine = sqrt(sineSquared);
    double angle = rbAtan2(sine, cosine);
    // Opposite axes: any rotation by pi will do.
    errors[0] = sine > 0.0 ? angle * (cy / sine) : angle;
    errors[1] = sine > 0.0 ? angle * (cz / sine) : 0.0;
}

// With alpha the angle from A's axis x to B's axis y, alpha' = z . (wB - wA) at every pose, z the
// unit vector along x x y.
static void writeDoubleRotationRows(const rbPartModel* part, const rbRowPose* poseA,
                                    const rbRowPose* poseB, rbRow* rows)
{
    rbVec3 x = rbMulMV(poseA->rotation, part->axisA), y = rbMulMV(poseB->rotation, part->axisB);
    rbVec3 z = rbCross(x, y);
    double length = rbLength(z);
    // Parallel axes: every perpendicular direction opens the angle.
    writeRotationRow(&rows[0], length > 0.0 ? rbScale(1.0 / length, z)
                                            : rbMulMV(poseA->rotation, part->crossA[0]));
}

static void findDoubleRotationErrors(const rbPartModel* part, const rbRowPose* poseA,
                                     const rbRowPose* poseB, double* errors)
{
    rbVec3 x = rbMulMV(poseA->rotation, part->axisA), y = rbMulMV(poseB->rotation, part->axisB);
    double s = rbLength(rbCross(x, y));
    double c = rbDot(x, y);
    // Sine and cosine of the difference of angles.
    double sine = s * part->cosine - c * part->sine;
    double cosine = c * part->cosine + s * part->sine;
    double sineSquared = sine * sine;
    errors[0] = cosine > 0.0 && sineSquared <= SMALL_SINE_SQUARED ? sine * angleBySine(sineSquared)
                                                                  : rbAtan2(sine, cosine);
}

// Rows along directions that are fixed to A, so that errors are constant when both bodies move
// together: A's own axes, the two across the axis of the part, or that axis.
static void writeFixedRows(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                           rbRow* rows)
{
    const rbPartOps* ops = rbPartOps_Get(part->type);
    const rbVec3* local = ops->rowCount == 1 ? &part->axisA : part->crossA;
    Arms arms = findArms(part, poseA, poseB);
    for (int i = 0; i < ops->rowCount; ++i) {
        rbVec3 n = ops->rowCount == 3 ? rbMat3_GetColumn(poseA->rotation, i)
                                      : rbMulMV(poseA->rotation, local[i]);
        if (ops->angleMask != 0) {
            writeRotationRow(&rows[i], n);
        } else {
            writeRow(&rows[i], n, &arms);
        }
    }
}

// ------------------------------------------------------------------------------------------- table

// Rows, which of them are angles (bits), use of axes, functions; then whether there is a distance.
#define PART(theRows, theAngles, use, write, find, ...)                                     \
    {                                                                                       \
        .rowCount = (theRows), .angleMask = (theAngles), .axisUse = (use), .rows = (write), \
        .errors = (find), __VA_ARGS__                                                       \
    }

const rbPartOps rbPartTable[RB_BASIC_JOINT_COUNT] = {
    [RB_JOINT_BALL] = PART(3, 0, RB_AXIS_NONE, writeFixedRows, findBallErrors, ),
    [RB_JOINT_LINE] = PART(2, 0, RB_AXIS_COMMON, writeFixedRows, findLineErrors, ),
    [RB_JOINT_PLANE] = PART(1, 0, RB_AXIS_COMMON, writeFixedRows, findPlaneErrors, ),
    [RB_JOINT_DISTANCE] =
        PART(1, 0, RB_AXIS_NONE, writeDistanceRows, findDistanceErrors, .hasDistance = true),
    [RB_JOINT_LINE_DISTANCE] = PART(1, 0, RB_AXIS_COMMON, writeLineDistanceRows,
                                    findLineDistanceErrors, .hasDistance = true),
    [RB_JOINT_PLANE_DISTANCE] = PART(1, 0, RB_AXIS_COMMON, writeFixedRows, findPlaneErrors,
                                     .hasDistance = true, .isDistanceSigned = true),
    [RB_JOINT_TRANSLATION] = PART(3, 7, RB_AXIS_NONE, writeFixedRows, findTranslationErrors, ),
    [RB_JOINT_DIRECTION] = PART(2, 3, RB_AXIS_COMMON, writeFixedRows, findDirectionErrors, ),
    [RB_JOINT_DOUBLE_ROTATION] =
        PART(1, 1, RB_AXIS_TWO, writeDoubleRotationRows, findDoubleRotationErrors, ),
};

// ----------------------------------------------------------------------------------------- springs
// A spring between two points as a row (B-31): the error is its length, so a positive elongation
// pulls A toward B. Damping acts on the rate of the same row, with the sign that removes energy
// (E-04).

static Span spanOf(const void* data, const rbRowPose* poseA, const rbRowPose* poseB)
{
    const rbSpringModel* spring = data;
    RB_ASSERT(rbIsFinite3(spring->pointA) && rbIsFinite3(spring->pointB));
    return findSpan(spring->pointA, spring->pointB, poseA, poseB);
}

void rbSpringModel_Rows(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                        rbRow* rows)
{
    Span span = spanOf(data, poseA, poseB);
    // Zero length leaves a zero row: no direction, no force.
    rows[0] = rowOfSpan(&span, rbNormalize(span.gap));
}

void rbSpringModel_Errors(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                          double* errors)
{
    errors[0] = rbLength(spanOf(data, poseA, poseB).gap);
}

// Rows and errors along an axis of the world.
#define AXIS(name, x, y, z)                                                                   \
    static void write##name(const void* data, const rbRowPose* poseA, const rbRowPose* poseB, \
                            rbRow* rows)                                                      \
    {                                                                                         \
        Span span = spanOf(data, poseA, poseB);                                               \
        rows[0] = rowOfSpan(&span, rbMakeVec3(x, y, z));                                      \
    }                                                                                         \
    static void find##name(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,  \
                           double* errors)                                                    \
    {                                                                                         \
        errors[0] = rbDot(rbMakeVec3(x, y, z), spanOf(data, poseA, poseB).gap);               \
    }

AXIS(X, 1.0, 0.0, 0.0)
AXIS(Y, 0.0, 1.0, 0.0)
AXIS(Z, 0.0, 0.0, 1.0)

const rbSpringAxisOps rbSpringAxes[3] = {{writeX, findX}, {writeY, findY}, {writeZ, findZ}};
