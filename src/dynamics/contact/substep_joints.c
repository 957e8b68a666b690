#include "dynamics/contact/substep_joints.h"

#include "dynamics/contact/contact_factor.h"

// A pivot below this fraction of its diagonal is rounding of single precision: the row depends on
// those before it.
#define PIVOT_LEAST 1e-6

static void narrow(float to[4], rbVec3 v)
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
            double part = k[i][p] * scale;
            for (int j = 0; i != p && j < RB_BLOCK_ROWS_MAX; ++j) {
                k[i][j] -= part * k[p][j];
            }
            k[i][p] = part;
        }
        for (int j = 0; j < RB_BLOCK_ROWS_MAX; ++j) {
            k[p][j] *= -scale;
        }
        k[p][p] = scale;
    }
}

void rbSubstepJoint_Make(rbSubstepJoint* joint, const rbRow* rows, int rowCount,
                         const rbSubstepSide sides[2])
{
    RB_ASSERT(rowCount > 0 && rowCount <= RB_BLOCK_ROWS_MAX);
    memset(joint, 0, sizeof *joint);
    joint->slots[0] = sides[0].slot;
    joint->slots[1] = sides[1].slot;
    joint->rowCount = rowCount;
    double k[RB_BLOCK_ROWS_MAX][RB_BLOCK_ROWS_MAX] = {{0.0}};
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
        narrow(joint->linear[i], rows[i].linear);
        joint->kicks[i] = (float)rbDot(rows[i].linear, rbSub(sides[1].kick, sides[0].kick));
        for (int side = 0; side < 2; ++side) {
            narrow(joint->angular[i][side], angular[i][side]);
        }
    }
    invert(k, rowCount);
    for (int i = 0; i < rowCount; ++i) {
        for (int j = 0; j < rowCount; ++j) {
            joint->inverse[i][j] = (float)k[j][i];
        }
    }
    joint->invMasses[0] = (float)sides[0].invMass;
    joint->invMasses[1] = (float)sides[1].invMass;
}

// ------------------------------------------------------------------------------------------ visits

// Rates of the rows, with displacements turned into speeds of a small step.
static inline void measure(const rbSubstepJoint* joint, const rbSubstepBody* a,
                           const rbSubstepBody* b, const rbSubstepJointPass* pass, rbQuad rates[2])
{
    rbQuad perStep = rbQuad_All(pass->invStep);
    rbQuad v = (rbQuad_Load(b->velocity) + perStep * rbQuad_Load(b->moved)) -
               (rbQuad_Load(a->velocity) + perStep * rbQuad_Load(a->moved));
    rbQuad yA = rbQuad_Load(a->spin) + perStep * rbQuad_Load(a->turned);
    rbQuad yB = rbQuad_Load(b->spin) + perStep * rbQuad_Load(b->turned);
    rbQuad terms[RB_SUBSTEP_ROWS] = {rbQuad_All(0.0f)}; // of the rows, by component
    for (int i = 0; i < joint->rowCount; ++i) {
        terms[i] = rbQuad_Load(joint->linear[i]) * v + (rbQuad_Load(joint->angular[i][1]) * yB -
                                                        rbQuad_Load(joint->angular[i][0]) * yA);
    }
    for (size_t half = 0; half < 2; ++half) {
        rbQuad* q = &terms[4 * half];
        rbTransposeQuads(q);
        rates[half] = ((q[0] + q[1]) + q[2]) -
                      rbQuad_All(pass->freePart) * rbQuad_Load(&joint->kicks[4 * half]);
    }
}

static inline void push(const rbSubstepJoint* joint, const float* x, rbSubstepBody* a,
                        rbSubstepBody* b)
{
    rbQuad linear = rbQuad_All(0.0f);
    rbQuad turnA = rbQuad_All(0.0f);
    rbQuad turnB = rbQuad_All(0.0f);
    for (int i = 0; i < joint->rowCount; ++i) {
        rbQuad xi = rbQuad_All(x[i]);
        linear += xi * rbQuad_Load(joint->linear[i]);
        turnA += xi * rbQuad_Load(joint->angular[i][0]);
        turnB += xi * rbQuad_Load(joint->angular[i][1]);
    }
    rbQuad_Store(a->velocity, rbQuad_Load(a->velocity) + rbQuad_All(joint->invMasses[0]) * linear);
    rbQuad_Store(b->velocity, rbQuad_Load(b->velocity) - rbQuad_All(joint->invMasses[1]) * linear);
    rbQuad_Store(a->spin, rbQuad_Load(a->spin) + turnA);
    rbQuad_Store(b->spin, rbQuad_Load(b->spin) - turnB);
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
        rbQuad rates[2];
        rbQuad x[2] = {rbQuad_All(0.0f), rbQuad_All(0.0f)};
        measure(joint, a, b, pass, rates);
        for (int c = 0; c < joint->rowCount; ++c) {
            rbQuad rate = rbQuad_All(rates[c / 4][c % 4]);
            x[0] += rbQuad_Load(joint->inverse[c]) * rate;
            x[1] += rbQuad_Load(joint->inverse[c] + 4) * rate;
        }
        for (size_t half = 0; half < 2; ++half) {
            float* impulses = &joint->impulses[4 * half];
            float* totals = &joint->totals[4 * half];
            rbQuad_Store(impulses, rbQuad_Load(impulses) + x[half]);
            if (!(pass->invStep > 0.0f)) {
                rbQuad_Store(totals, rbQuad_Load(totals) + rbQuad_Load(impulses));
            }
        }
        float pushes[RB_SUBSTEP_ROWS];
        memcpy(pushes, x, sizeof pushes);
        push(joint, pushes, a, b);
    }
}
