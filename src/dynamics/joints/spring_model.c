// A spring between two points as a row (B-31): the error is its length, so a positive elongation
// pulls A towards B. Damping acts on the rate of the same row, with the sign that takes energy out
// (E-04).
#include "dynamics/joints/joint_model.h"

void rbSpringModel_Rows(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                        rbRow* rows)
{
    const rbSpringModel* spring = data;
    RB_ASSERT(rbIsFinite3(spring->pointA) && rbIsFinite3(spring->pointB));
    rbVec3 rA = rbMulMV(poseA->rotation, spring->pointA);
    rbVec3 rB = rbMulMV(poseB->rotation, spring->pointB);
    rbVec3 gap = rbAdd(rbSub(poseB->position, poseA->position), rbSub(rB, rA));
    // Zero length leaves a zero row: no direction, no force.
    rbVec3 n = rbNormalize(gap);
    rows[0] = (rbRow){n, rbCross(rA, n), rbCross(rB, n)};
}

void rbSpringModel_Errors(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                          double* errors)
{
    const rbSpringModel* spring = data;
    RB_ASSERT(rbIsFinite3(spring->pointA) && rbIsFinite3(spring->pointB));
    rbVec3 rA = rbMulMV(poseA->rotation, spring->pointA);
    rbVec3 rB = rbMulMV(poseB->rotation, spring->pointB);
    errors[0] = rbLength(rbAdd(rbSub(poseB->position, poseA->position), rbSub(rB, rA)));
}
