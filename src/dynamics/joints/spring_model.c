// A spring between two points as a row (B-31): the error is its length, so a positive elongation
// pulls A toward B. Damping acts on the rate of the same row, with the sign that removes energy
// (E-04).
#include "dynamics/joints/joint_model.h"

static rbVec3 findGap(const rbSpringModel* spring, const rbRowPose* poseA, const rbRowPose* poseB)
{
    RB_ASSERT(rbIsFinite3(spring->pointA) && rbIsFinite3(spring->pointB));
    rbVec3 rA = rbMulMV(poseA->rotation, spring->pointA);
    rbVec3 rB = rbMulMV(poseB->rotation, spring->pointB);
    return rbAdd(rbSub(poseB->position, poseA->position), rbSub(rB, rA));
}

static void writeRow(const rbSpringModel* spring, const rbRowPose* poseA, const rbRowPose* poseB,
                     rbVec3 n, rbRow* row)
{
    rbVec3 rA = rbMulMV(poseA->rotation, spring->pointA);
    rbVec3 rB = rbMulMV(poseB->rotation, spring->pointB);
    *row = (rbRow){n, rbCross(rA, n), rbCross(rB, n)};
}

void rbSpringModel_Rows(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                        rbRow* rows)
{
    const rbSpringModel* spring = data;
    // Zero length leaves a zero row: no direction, no force.
    writeRow(spring, poseA, poseB, rbNormalize(findGap(spring, poseA, poseB)), &rows[0]);
}

void rbSpringModel_Errors(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                          double* errors)
{
    const rbSpringModel* spring = data;
    errors[0] = rbLength(findGap(spring, poseA, poseB));
}

static void writeX(const void* data, const rbRowPose* poseA, const rbRowPose* poseB, rbRow* rows)
{
    writeRow(data, poseA, poseB, rbMakeVec3(1.0, 0.0, 0.0), &rows[0]);
}

static void findX(const void* data, const rbRowPose* poseA, const rbRowPose* poseB, double* errors)
{
    errors[0] = findGap(data, poseA, poseB).x;
}

static void writeY(const void* data, const rbRowPose* poseA, const rbRowPose* poseB, rbRow* rows)
{
    writeRow(data, poseA, poseB, rbMakeVec3(0.0, 1.0, 0.0), &rows[0]);
}

static void findY(const void* data, const rbRowPose* poseA, const rbRowPose* poseB, double* errors)
{
    errors[0] = findGap(data, poseA, poseB).y;
}

static void writeZ(const void* data, const rbRowPose* poseA, const rbRowPose* poseB, rbRow* rows)
{
    writeRow(data, poseA, poseB, rbMakeVec3(0.0, 0.0, 1.0), &rows[0]);
}

static void findZ(const void* data, const rbRowPose* poseA, const rbRowPose* poseB, double* errors)
{
    errors[0] = findGap(data, poseA, poseB).z;
}

const rbSpringAxisOps rbSpringAxes[3] = {{writeX, findX}, {writeY, findY}, {writeZ, findZ}};
