// The 113-bit oracle itself: against published values, sines, and the two integrals of the motion.
#include "base/core/random.h"
#include "rb_test.h"
#include "top_oracle.h"

// B-07
static void oracleMatchesThePublishedBox(void** state)
{
    (void)state;
    const double i = 10.0 / 12.0;
    const rbVec3 moments = {i * 0.97, i * 0.82, i * 0.17};
    static const double truths[2][7] = {
        {3.423798441555, 2.819185438398, 3.928384449467, -0.713109996529, 0.352359391046,
         0.525184190888, -0.302487285739},
        {0.336649760784, -4.98493293519, 0.382181881305, 0.014628222353, -0.995446416876,
         -0.027380467566, 0.090126334863}};
    for (int k = 0; k < 2; ++k) {
        double q[4];
        double w[3];
        rbTopOracle(moments, rbMakeVec3(0.1, 5.0, 0.1), k + 1.0, q, w);
        double sign = q[0] * truths[k][3] < 0.0 ? -1.0 : 1.0;
        for (int c = 0; c < 3; ++c) {
            checkNear(w[c], truths[k][c], 1e-12);
        }
        for (int c = 0; c < 4; ++c) {
            checkNear(sign * q[c], truths[k][3 + c], 1e-12);
        }
    }
}

// World angular momentum and energy after a flight along the separatrix, to the last bits.
static void oracleConservesMomentumAndEnergy(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(71)};
    int count = rbTest_Count(6, 60);
    for (int n = 0; n < count; ++n) {
        double a = rbRandom_Range(&random, 0.1, 1.0);
        double b = rbRandom_Range(&random, 0.1, 1.0);
        double c = rbRandom_Range(&random, 0.1, 1.0);
        rbVec3 moments = {b + c, c + a, a + b};
        rbVec3 spin = {rbRandom_Symmetric(&random), rbRandom_Symmetric(&random),
                       rbRandom_Symmetric(&random)};
        double q[4];
        double w[3];
        rbTopOracle(moments, spin, 20.0, q, w);
        rbVec3 start = rbMulEach(moments, spin);
        rbVec3 local = {moments.x * w[0], moments.y * w[1], moments.z * w[2]};
        rbVec3 end = rbRotate((rbQuat){q[0], q[1], q[2], q[3]}, local);
        checkBelow(rbDistance(start, end), 1e-15 * rbLength(start));
        double energy = local.x * w[0] + local.y * w[1] + local.z * w[2];
        checkRelative(energy, rbDot(start, spin), 1e-15);
    }
}

// Two halves of a flight equal the whole flight, although the steps differ.
static void oracleIsIndependentOfItsSteps(void** state)
{
    (void)state;
    const rbVec3 moments = {1.0, 2.0, 2.5};
    const rbVec3 spin = {1e-9, 1.0, 1e-9};
    double whole[4], first[4], second[4], w[3], unused[3];
    rbTopOracle(moments, spin, 40.0, whole, unused);
    rbTopOracle(moments, spin, 17.3, first, w);
    rbTopOracle(moments, rbMakeVec3(w[0], w[1], w[2]), 40.0 - 17.3, second, unused);
    rbQuat q = rbMulQuat((rbQuat){first[0], first[1], first[2], first[3]},
                         (rbQuat){second[0], second[1], second[2], second[3]});
    // the state in the middle was rounded to 53 bits: the separatrix amplifies that
    checkNear(fabs(q.w * whole[0] + q.x * whole[1] + q.y * whole[2] + q.z * whole[3]), 1.0, 1e-14);
}

static void oracleMatchesTheSymmetricTop(void** state)
{
    (void)state;
    double i1 = 0.7;
    double i3 = 0.3;
    rbVec3 spin = {1.0, 0.0, 3.0};
    double rate = (i3 - i1) / i1 * spin.z;
    double q[4];
    double w[3];
    rbTopOracle(rbMakeVec3(i1, i1, i3), spin, 5.0, q, w);
    checkNear(w[0], cos(5.0 * rate), 1e-14);
    checkNear(w[1], sin(5.0 * rate), 1e-14);
    checkNear(w[2], 3.0, 1e-15);
    rbTopOracle(rbMakeVec3(i1, i1, i3), RB_VEC3_ZERO, 5.0, q, w);
    checkNear(q[0], 1.0, 0.0);
}

RB_TEST_GROUP(oracle_top, cmocka_unit_test(oracleMatchesThePublishedBox),
              cmocka_unit_test(oracleConservesMomentumAndEnergy),
              cmocka_unit_test(oracleIsIndependentOfItsSteps),
              cmocka_unit_test(oracleMatchesTheSymmetricTop));
