#include "dynamics/contact/substep_joints.h"

#include "dynamics/contact/contact_factor.h"

// A pivot below this fraction of its diagonal is rounding of single precision: the row depends on
// those before it.
#define PIVOT_LEAST 1e-6

static void narrow(float to[3], rbVec3 v)
{
    to[0] = (float)v.x;
    to[1] = (float)v.y;
    to[2] = (float)v.z;
}

// ---------------------------------------------------------------------------------------- building

// Inverse of a symmetric matrix by elimination of its pivots in turn. Dependent rows become zero.
static void invert(double k[RB_BLOCK_ROWS_MAX][RB_BLOCK_ROWS_MAX], int n)
{
    double diagonal[RB_BLOCK_ROWS_MAX];
    for (int i = 0; i < n; ++i) {
        diagonal[i] = k[i][i];
    }
    for (int p = 0; p < n; ++p) {
        bool isSound = k[p][p] > PIVOT_LEAST * diagonal[p];
        double scale = isSound ? 1.0 / k[p][p] : 0.0;
        for (int i = 0; i < n; ++i) {
            for (int j = 0; i != p && j < n; ++j) {
                k[i][j] -= j != p ? k[i][p] * scale * k[p][j] : 0.0;
            }
        }
        for (int i = 0; i < n; ++i) {
            k[i][p] *= i != p ? scale : 0.0;
            k[p][i] *= i != p ? -scale : 0.0;
        }
        k[p][p] = scale;
    }
}

rbSubstepJoint rbMakeSubstepJoint(const rbRow* rows, int rowCount, const rbSubstepSide sides[2])
{
    RB_ASSERT(rowCount > 0 && rowCount <= RB_BLOCK_ROWS_MAX);
    rbSubstepJoint joint = {.slots = {sides[0].slot, sides[1].slot}, .rowCount = rowCount};
    double k[RB_BLOCK_ROWS_MAX][RB_BLOCK_ROWS_MAX];
    rbVec3 angular[RB_BLOCK_ROWS_MAX][2];
    for (int i = 0; i < rowCount; ++i) {
        angular[i][0] = rbMulFactorTransposed(&sides[0].factor, rows[i].angularA);
        angular[i][1] = rbMulFactorTransposed(&sides[1].factor, rows[i].angularB);
        for (int j = 0; j <= i; ++j) {
            k[i][j] =
                (sides[0].invMass + sides[1].invMass) * rbDot(rows[i].linear, rows[j].linear) +
                rbDot(angular[i][0], angular[j][0]) + rbDot(angular[i][1], angular[j][1]);
            k[j][i] = k[i][j];
        }
        narrow(joint.linear[i], rows[i].linear);
        joint.kicks[i] = (float)rbDot(rows[i].linear, rbSub(sides[1].kick, sides[0].kick));
        for (int side = 0; side < 2; ++side) {
            narrow(joint.angular[i][side], angular[i][side]);
        }
    }
    invert(k, rowCount);
    for (int i = 0; i < rowCount; ++i) {
        for (int j = 0; j < rowCount; ++j) {
            joint.inverse[i][j] = (float)k[i][j];
        }
    }
    joint.invMasses[0] = (float)sides[0].invMass;
    joint.invMasses[1] = (float)sides[1].invMass;
    return joint;
}

// ------------------------------------------------------------------------------------------ visits

static inline float dot3(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Rates of the rows, with displacements turned into speeds of a small step.
static inline void measure(const rbSubstepJoint* joint, const rbSubstepBody* a,
                           const rbSubstepBody* b, const rbSubstepJointPass* pass, float* rates)
{
    float v[3];
    float yA[3];
    float yB[3];
    for (int k = 0; k < 3; ++k) {
        v[k] = (b->velocity[k] + pass->invStep * b->moved[k]) -
               (a->velocity[k] + pass->invStep * a->moved[k]);
        yA[k] = a->spin[k] + pass->invStep * a->turned[k];
        yB[k] = b->spin[k] + pass->invStep * b->turned[k];
    }
    for (int i = 0; i < joint->rowCount; ++i) {
        rates[i] = (dot3(joint->linear[i], v) - pass->freePart * joint->kicks[i]) +
                   (dot3(joint->angular[i][1], yB) - dot3(joint->angular[i][0], yA));
    }
}

static inline void push(const rbSubstepJoint* joint, const float* x, rbSubstepBody* a,
                        rbSubstepBody* b)
{
    for (int k = 0; k < 3; ++k) {
        float linear = 0.0f;
        float turnA = 0.0f;
        float turnB = 0.0f;
        for (int i = 0; i < joint->rowCount; ++i) {
            linear += x[i] * joint->linear[i][k];
            turnA += x[i] * joint->angular[i][0][k];
            turnB += x[i] * joint->angular[i][1][k];
        }
        a->velocity[k] += joint->invMasses[0] * linear;
        b->velocity[k] -= joint->invMasses[1] * linear;
        a->spin[k] += turnA;
        b->spin[k] -= turnB;
    }
}

void rbPushSubstepJoints(const rbSubstepJoint* joints, int count, rbSubstepBody* bodies)
{
    for (int i = 0; i < count; ++i) {
        const rbSubstepJoint* joint = &joints[i];
        push(joint, joint->impulses, &bodies[joint->slots[0]], &bodies[joint->slots[1]]);
    }
}

void rbVisitSubstepJoints(rbSubstepJoint* joints, int count, rbSubstepBody* bodies,
                          const rbSubstepJointPass* pass)
{
    for (int i = 0; i < count; ++i) {
        rbSubstepJoint* joint = &joints[i];
        rbSubstepBody* a = &bodies[joint->slots[0]];
        rbSubstepBody* b = &bodies[joint->slots[1]];
        float rates[RB_BLOCK_ROWS_MAX];
        float x[RB_BLOCK_ROWS_MAX];
        measure(joint, a, b, pass, rates);
        for (int r = 0; r < joint->rowCount; ++r) {
            x[r] = 0.0f;
            for (int c = 0; c < joint->rowCount; ++c) {
                x[r] += joint->inverse[r][c] * rates[c];
            }
            joint->impulses[r] += x[r];
            joint->totals[r] += pass->invStep > 0.0f ? 0.0f : joint->impulses[r];
        }
        push(joint, x, a, b);
    }
}
