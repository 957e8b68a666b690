// The remaining freedoms between two bodies, as numbers with rows: travel along an axis, angles
// about axes.
//
// An angle is the azimuth, about a unit axis x of one body, of a unit vector m of the other. With w
// the spin of m's body seen from x's,
//   angle' = (x x m) . (w x m) / |x x m|^2 = w . (x - c m) / (1 - c^2),   c = x . m,
// at every pose. For a hinge m is perpendicular to the axis, c = 0 and the row is x. For a
// universal joint m is the other axis y, c the cosine of their constant angle; (x - c y)/(1 - c^2)
// and (y - c x)/(1 - c^2) are dual to x and y, so that w = angle1' x + angle2' y, as required. The
// second angle is that of B about its own axis, so the azimuth, of x seen from B, has the opposite
// sense; w is A's spin seen from B, and the two signs cancel in the row.
#include "base/math/elementary.h"
#include "base/math/quaternion.h"
#include "dynamics/joints/part_ops.h"

// Sine squared below which an azimuth has no usable direction; the row stays below 1e6.
#define POLE_SINE_SQUARED 1e-12

// The part of v perpendicular to the unit axis, as a unit vector; an arbitrary perpendicular if v
// has none.
static rbVec3 findAcross(rbVec3 v, rbVec3 axis)
{
    rbVec3 across = rbAddScaled(v, -rbDot(v, axis), axis);
    return rbLengthSquared(across) > POLE_SINE_SQUARED ? rbNormalize(across)
                                                       : rbPerpendicular(axis);
}

static rbFreedomModel makeAngle(const rbPartModel* part, rbQuat relative)
{
    // Zero where B has the stated orientation. If that does not align the axes, the smallest
    // rotation that does is added.
    rbVec3 axisFromB = rbInvRotate(relative, part->axisA);
    rbQuat turn = rbQuat_Between(axisFromB, part->axisB);
    return (rbFreedomModel){
        .kind = RB_FREEDOM_ANGLE,
        .axis = part->axisA,
        .referenceA = part->crossA[0],
        .referenceB = rbRotate(turn, rbInvRotate(relative, part->crossA[0])),
    };
}

static rbFreedomModel makeTravel(const rbPartModel* part)
{
    return (rbFreedomModel){
        .kind = RB_FREEDOM_TRAVEL,
        .axis = part->axisA,
        .pointA = part->pointA,
        .pointB = part->pointB,
    };
}

void rbJointModel_AddFreedoms(rbJointModel* model, rbQuat relative)
{
    const rbJointTypeRow* row = rbJointTypeRow_Get(model->type);
    const rbPartModel* part = &model->parts[0];
    RB_ASSERT(row->freedomCount <= RB_JOINT_FREEDOMS_MAX);
    model->freedomCount = row->freedomCount;
    for (int i = 0; i < row->freedomCount; ++i) {
        bool isTravel = row->freedoms[i] == RB_FREEDOM_TRAVEL;
        model->freedoms[i] = isTravel ? makeTravel(part) : makeAngle(part, relative);
    }
    if (row->axisUse == RB_AXIS_TWO && row->freedomCount == 2) {
        // The cross of a universal joint rotates about A's axis, B about the cross.
        rbFreedomModel* first = &model->freedoms[0];
        first->referenceB = part->axisB;
        first->referenceA = findAcross(rbRotate(relative, part->axisB), part->axisA);
        rbFreedomModel* second = &model->freedoms[1];
        second->axis = part->axisB;
        second->isAxisOfB = true;
        second->referenceA = part->axisA;
        second->referenceB = findAcross(rbInvRotate(relative, part->axisA), part->axisB);
    }
}

static void writeAngleRow(const rbFreedomModel* freedom, const rbRowPose* poseA,
                          const rbRowPose* poseB, rbRow* row)
{
    const rbRowPose* carrier = freedom->isAxisOfB ? poseB : poseA;
    const rbRowPose* other = freedom->isAxisOfB ? poseA : poseB;
    rbVec3 reference = freedom->isAxisOfB ? freedom->referenceA : freedom->referenceB;
    rbVec3 x = rbMulMV(carrier->rotation, freedom->axis);
    rbVec3 m = rbMulMV(other->rotation, reference);
    double sineSquared = rbLengthSquared(rbCross(x, m));
    rbVec3 u = x;
    if (sineSquared > POLE_SINE_SQUARED) {
        u = rbScale(1.0 / sineSquared, rbAddScaled(x, -rbDot(x, m), m));
    }
    *row = (rbRow){RB_VEC3_ZERO, u, u};
}

static double findAngle(const rbFreedomModel* freedom, const rbRowPose* poseA,
                        const rbRowPose* poseB)
{
    const rbRowPose* carrier = freedom->isAxisOfB ? poseB : poseA;
    const rbRowPose* other = freedom->isAxisOfB ? poseA : poseB;
    rbVec3 zero = freedom->isAxisOfB ? freedom->referenceB : freedom->referenceA;
    rbVec3 reference = freedom->isAxisOfB ? freedom->referenceA : freedom->referenceB;
    rbVec3 m = rbMulMtV(carrier->rotation, rbMulMV(other->rotation, reference));
    double sine = rbDot(m, rbCross(freedom->axis, zero));
    return rbAtan2(freedom->isAxisOfB ? -sine : sine, rbDot(m, zero));
}

// Axes of both bodies in the world, and the unit vector perpendicular to both, about which one is
// rotated into the other; an arbitrary perpendicular where they are parallel.
static rbVec3 findSwing(const rbFreedomModel* freedom, const rbRowPose* poseA,
                        const rbRowPose* poseB, rbVec3* a, rbVec3* b)
{
    *a = rbMulMV(poseA->rotation, freedom->axis);
    *b = rbMulMV(poseB->rotation, freedom->referenceB);
    rbVec3 across = rbCross(*a, *b);
    return rbLengthSquared(across) > POLE_SINE_SQUARED ? rbNormalize(across) : rbPerpendicular(*a);
}

// Swing s about e, perpendicular to both axes: s' = w . e. B rotates about its axis, which follows
// the swing on the shortest path: with w = s' e + ... the rate of the twist is w . (a + b) / (1 + a
// . b), which is w . a where the axes agree.
static void writeSwingRow(const rbFreedomModel* freedom, const rbRowPose* poseA,
                          const rbRowPose* poseB, rbRow* row)
{
    rbVec3 a;
    rbVec3 b;
    rbVec3 u = findSwing(freedom, poseA, poseB, &a, &b);
    if (freedom->kind == RB_FREEDOM_TWIST) {
        double sum = 1.0 + rbDot(a, b);
        u = sum > POLE_SINE_SQUARED ? rbScale(1.0 / sum, rbAdd(a, b)) : b;
    }
    *row = (rbRow){RB_VEC3_ZERO, u, u};
}

static double findSwingAngle(const rbFreedomModel* freedom, const rbRowPose* poseA,
                             const rbRowPose* poseB)
{
    rbVec3 a;
    rbVec3 b;
    (void)findSwing(freedom, poseA, poseB, &a, &b);
    if (freedom->kind == RB_FREEDOM_SWING) {
        return rbAtan2(rbLength(rbCross(a, b)), rbDot(a, b));
    }
    rbQuat relative = rbMulQuat(rbConjugate(poseA->orientation), poseB->orientation);
    rbQuat q = rbMulQuat(relative, rbConjugate(freedom->neutral));
    double sine = rbDot(rbMakeVec3(q.x, q.y, q.z), freedom->axis);
    double sign = q.w < 0.0 ? -1.0 : 1.0; // both quaternions of a rotation
    return 2.0 * rbAtan2(sign * sine, sign * q.w);
}

// B's point seen from A's center of mass, world axes.
static rbVec3 findArm(const rbFreedomModel* freedom, const rbRowPose* poseA, const rbRowPose* poseB)
{
    return rbAdd(rbSub(poseB->position, poseA->position),
                 rbMulMV(poseB->rotation, freedom->pointB));
}

void rbFreedomModel_Rows(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                         rbRow* rows)
{
    const rbFreedomModel* freedom = data;
    RB_ASSERT(rbIsUnit(freedom->axis));
    if (freedom->kind == RB_FREEDOM_ANGLE) {
        writeAngleRow(freedom, poseA, poseB, rows);
        return;
    }
    if (freedom->kind != RB_FREEDOM_TRAVEL) {
        writeSwingRow(freedom, poseA, poseB, rows);
        return;
    }
    // As in a plane's row: both impulses act at B's point.
    rbVec3 n = rbMulMV(poseA->rotation, freedom->axis);
    rbVec3 fromB = rbMulMV(poseB->rotation, freedom->pointB);
    rows[0] = (rbRow){n, rbCross(findArm(freedom, poseA, poseB), n), rbCross(fromB, n)};
}

void rbFreedomModel_Errors(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                           double* errors)
{
    const rbFreedomModel* freedom = data;
    RB_ASSERT(rbIsUnit(freedom->axis));
    if (freedom->kind == RB_FREEDOM_ANGLE) {
        errors[0] = findAngle(freedom, poseA, poseB);
        return;
    }
    if (freedom->kind != RB_FREEDOM_TRAVEL) {
        errors[0] = findSwingAngle(freedom, poseA, poseB);
        return;
    }
    rbVec3 arm = rbMulMtV(poseA->rotation, findArm(freedom, poseA, poseB));
    errors[0] = rbDot(freedom->axis, rbSub(arm, freedom->pointA));
}
