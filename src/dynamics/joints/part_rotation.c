// Parts that remove rotations: translation, direction, double rotation (B-17 to B-19).
//
// A row u means u . (wB - wA); it has no linear part. Errors are angles computed from sines, so
// that the common case, a joint that holds, needs no arc function: for |sine| below 0.0158 a short
// series yields the angle to the last bit or two.
#include "base/math/elementary.h"
#include "dynamics/joints/part_ops.h"

// asin(s)/s = 1 + s^2/6 + 3 s^4/40 + 5 s^6/112 + 35 s^8/1152 ..., s^2 <= SMALL_SINE_SQUARED; the
// first omitted term is 1.2e-16 there.
#define SMALL_SINE_SQUARED 2.5e-4

static inline double angleBySine(double sineSquared)
{
    double z = sineSquared;
    return 1.0 + z * (1.0 / 6.0 + z * (3.0 / 40.0 + z * (5.0 / 112.0)));
}

static inline void writeRow(rbRow* row, rbVec3 u)
{
    row->linear = RB_VEC3_ZERO;
    row->angularA = u;
    row->angularB = u;
}

// The rows are A's axes: the rotation vector in A's frame is constant when both bodies rotate
// together.
static void writeTranslationRows(const rbPartModel* part, const rbRowPose* poseA,
                                 const rbRowPose* poseB, rbRow* rows)
{
    (void)part;
    (void)poseB;
    writeRow(&rows[0], poseA->rotation.cx);
    writeRow(&rows[1], poseA->rotation.cy);
    writeRow(&rows[2], poseA->rotation.cz);
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

static void writeDirectionRows(const rbPartModel* part, const rbRowPose* poseA,
                               const rbRowPose* poseB, rbRow* rows)
{
    (void)poseB;
    writeRow(&rows[0], rbMulMV(poseA->rotation, part->crossA[0]));
    writeRow(&rows[1], rbMulMV(poseA->rotation, part->crossA[1]));
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
    rbVec3 x = rbMulMV(poseA->rotation, part->axisA);
    rbVec3 y = rbMulMV(poseB->rotation, part->axisB);
    rbVec3 z = rbCross(x, y);
    double length = rbLength(z);
    // Parallel axes: every perpendicular direction opens the angle.
    writeRow(&rows[0],
             length > 0.0 ? rbScale(1.0 / length, z) : rbMulMV(poseA->rotation, part->crossA[0]));
}

static void findDoubleRotationErrors(const rbPartModel* part, const rbRowPose* poseA,
                                     const rbRowPose* poseB, double* errors)
{
    rbVec3 x = rbMulMV(poseA->rotation, part->axisA);
    rbVec3 y = rbMulMV(poseB->rotation, part->axisB);
    double s = rbLength(rbCross(x, y));
    double c = rbDot(x, y);
    // Sine and cosine of the difference of angles.
    double sine = s * part->cosine - c * part->sine;
    double cosine = c * part->cosine + s * part->sine;
    double sineSquared = sine * sine;
    errors[0] = cosine > 0.0 && sineSquared <= SMALL_SINE_SQUARED ? sine * angleBySine(sineSquared)
                                                                  : rbAtan2(sine, cosine);
}

// Rotations have no location; the anchor of A is shown.
static rbVec3 findAnchor(const rbPartModel* part, const rbRowPose* poseA, rbVec3 pointB)
{
    (void)pointB;
    return rbAdd(poseA->position, rbMulMV(poseA->rotation, part->pointA));
}

const rbPartOps rbTranslationPart = {
    .rowCount = 3,
    .angleMask = 7,
    .rows = writeTranslationRows,
    .errors = findTranslationErrors,
    .foot = findAnchor,
};

const rbPartOps rbDirectionPart = {
    .rowCount = 2,
    .angleMask = 3,
    .axisUse = RB_AXIS_COMMON,
    .rows = writeDirectionRows,
    .errors = findDirectionErrors,
    .foot = findAnchor,
};

const rbPartOps rbDoubleRotationPart = {
    .rowCount = 1,
    .angleMask = 1,
    .axisUse = RB_AXIS_TWO,
    .rows = writeDoubleRotationRows,
    .errors = findDoubleRotationErrors,
    .foot = findAnchor,
};
