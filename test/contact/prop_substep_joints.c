// Rows of joints in small steps: one visit stops two bodies along all rows of a joint.
#include "base/math/matrix3.h"
#include "dynamics/contact/contact_factor.h"
#include "dynamics/contact/substep_joints.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#define DT (1.0 / 300.0)

typedef struct Pair {
    rbSubstepSide sides[2];
    rbSubstepBody bodies[3]; // slot 0 is immovable
    rbRow rows[RB_BLOCK_ROWS_MAX];
    int rowCount;
} Pair;

static rbVec3 draw(rbRandom* random)
{
    return rbMakeVec3(rbRandom_Symmetric(random), rbRandom_Symmetric(random),
                      rbRandom_Symmetric(random));
}

// Moments from 1 to 30 times each other, masses from 0.1 to 10 kg.
static rbSubstepSide drawSide(rbRandom* random, int slot)
{
    rbSubstepSide side = {.slot = slot};
    if (slot > 0) {
        rbMat3 axes = rbMatFromQuat(rbRandom_Quat(random));
        rbVec3 moments = rbMakeVec3(1.0 + 29.0 * rbRandom_Unit(random),
                                    1.0 + 29.0 * rbRandom_Unit(random), 10.0);
        rbSym3 inverse = rbSym3_FromPrincipal(moments, axes);
        side.factor = rbFactorInertia(&inverse);
        side.invMass = 0.1 + 9.9 * rbRandom_Unit(random);
    }
    return side;
}

static void setFloats(float to[4], rbVec3 v)
{
    to[0] = (float)v.x;
    to[1] = (float)v.y;
    to[2] = (float)v.z;
    to[3] = 0.0f;
}

// One body is immovable in every third pair.
static Pair drawPair(rbRandom* random, int index)
{
    Pair pair = {.rowCount = 1 + index % RB_BLOCK_ROWS_MAX};
    pair.sides[0] = drawSide(random, index % 3 == 0 ? 0 : 1);
    pair.sides[1] = drawSide(random, 2);
    for (int i = 0; i < pair.rowCount; ++i) {
        pair.rows[i] = (rbRow){draw(random), draw(random), draw(random)};
    }
    for (int k = 0; k < 2; ++k) {
        rbSubstepBody* body = &pair.bodies[pair.sides[k].slot];
        if (pair.sides[k].slot > 0) {
            setFloats(body->velocity, draw(random));
            setFloats(body->spin, draw(random));
            setFloats(body->moved, rbScale(DT, draw(random)));
            setFloats(body->turned, rbScale(DT, draw(random)));
        }
    }
    return pair;
}

static rbVec3 read(const float from[4])
{
    return rbMakeVec3((double)from[0], (double)from[1], (double)from[2]);
}

// Rate of a row in world axes, with displacements over a time; 0: without.
static double measureRow(const Pair* pair, const rbRow* row, double invStep)
{
    double rate = 0.0;
    for (int k = 0; k < 2; ++k) {
        const rbSubstepBody* body = &pair->bodies[pair->sides[k].slot];
        rbVec3 v = rbAddScaled(read(body->velocity), invStep, read(body->moved));
        rbVec3 y = rbAddScaled(read(body->spin), invStep, read(body->turned));
        rbVec3 w = rbMulFactor(&pair->sides[k].factor, (double[3]){y.x, y.y, y.z});
        double own = rbDot(row->linear, v) + rbDot(k == 0 ? row->angularA : row->angularB, w);
        rate += k == 0 ? -own : own;
    }
    return rate;
}

// B-80
static void oneVisitStopsAJoint(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x5b10)};
    int count = rbTest_Count(20000, 1000000);
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        Pair pair = drawPair(&random, i);
        bool isMoved = i % 2 == 0;
        rbSubstepJoint joint;
        rbSubstepJoint_Make(&joint, pair.rows, pair.rowCount, pair.sides);
        rbSubstepJointPass pass = {.invStep = isMoved ? (float)(1.0 / DT) : 0.0f};
        rbVec3 before = RB_VEC3_ZERO;
        for (int k = 0; k < 2; ++k) {
            double mass = pair.sides[k].slot > 0 ? 1.0 / pair.sides[k].invMass : 0.0;
            before = rbAddScaled(before, mass, read(pair.bodies[pair.sides[k].slot].velocity));
        }
        // a second visit removes the rounding of the first where rows are nearly dependent
        rbVisitSubstepJoints(&joint, 1, pair.bodies, &pass);
        rbVisitSubstepJoints(&joint, 1, pair.bodies, &pass);
        for (int r = 0; r < pair.rowCount; ++r) {
            double left = fabs(measureRow(&pair, &pair.rows[r], isMoved ? 1.0 / DT : 0.0));
            worst = fmax(worst, left);
        }
        rbVec3 after = RB_VEC3_ZERO;
        for (int k = 0; k < 2; ++k) {
            double mass = pair.sides[k].slot > 0 ? 1.0 / pair.sides[k].invMass : 0.0;
            after = rbAddScaled(after, mass, read(pair.bodies[pair.sides[k].slot].velocity));
        }
        if (pair.sides[0].slot > 0) {
            double size = rbLength(before) + rbLength(after) + 1.0;
            checkNear(rbLength(rbSub(after, before)), 0.0, 1e-5 * size);
        }
    }
    print_message("largest rate left %.3g m/s of speeds of 1 m/s\n", worst);
    checkBelow(worst, 1e-4);
}

// A row that depends on others is left out: impulses stay finite, and all rows are stopped.
static void dependentRowsAreLeftOut(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x5b11)};
    for (int i = 0; i < 1000; ++i) {
        Pair pair = drawPair(&random, 6 * i + 2);
        pair.rows[1] = pair.rows[0];
        pair.rows[2] = (rbRow){RB_VEC3_ZERO, RB_VEC3_ZERO, RB_VEC3_ZERO};
        rbSubstepJoint joint;
        rbSubstepJoint_Make(&joint, pair.rows, 3, pair.sides);
        rbSubstepJointPass pass = {.invStep = 0.0f};
        rbVisitSubstepJoints(&joint, 1, pair.bodies, &pass);
        checkNear(measureRow(&pair, &pair.rows[0], 0.0), 0.0, 1e-5);
        assert_true(joint.totals[1] == 0.0f && joint.totals[2] == 0.0f);
    }
}

RB_TEST_GROUP(prop_substep_joints, cmocka_unit_test(oneVisitStopsAJoint),
              cmocka_unit_test(dependentRowsAreLeftOut));
