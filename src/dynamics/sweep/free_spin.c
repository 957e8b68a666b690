// Bounds on the angular velocity w at all times, from the constants of a torque-free motion.
//
// Let I1 >= I2 >= I3 be the principal moments, L the angular momentum, 2E = w.L twice the energy.
// Since w.L is constant, w = (2E/L^2) L + perpendicular part: a steady spin and a wobble. With
//     D_j = L^2 - 2E I_j = sum_k I_k (I_k - I_j) w_k^2,    D_3 >= 0 >= D_1,
// which are sums of terms of one sign, eliminating w_3 or w_1 from the two constants gives
//     w_1^2 = (D_3 - I_2 (I_2 - I_3) u) / (I_1 (I_1 - I_3)),
//     w_3^2 = (-D_1 - I_2 (I_1 - I_2) u) / (I_3 (I_1 - I_3)),    u = w_2^2.
//
// Wobble: its square is |w|^2 - (2E/L)^2 = |w x L|^2 / L^2. |w|^2 is extremal where one component
// of w vanishes (its rate is proportional to w_1 w_2 w_3). There
//     wobble^2 = D_j (-D_i) / (I_i I_j L^2)    with i < j the components that are left.
// D_j/I_j = L^2/I_j - 2E grows with j, so the largest is that of w_2 = 0:
//     wobble^2 <= P / (I_1 I_3 L^2),    P = D_3 (-D_1).
// No difference of nearly equal numbers: 0 for spheres and about outer principal axes; for a
// symmetric top the constant |w x L|/L.
//
// Rate: dw/dt in the world has the body components ((I_2 - I_3)/I_1 w_2 w_3, ...). With p, r the
// parts of w_1^2 and w_3^2 that are lost to u, f = (I_2 - I_3)/(I_1 - I_3):
//     |dw/dt|^2 = P (B (1-p)(1-r) + A p (1-r) + C r (1-p)),
//     B = 1/(I_1 I_2^2 I_3),  A = f/(I_1^2 I_2 I_3),  C = (1-f)/(I_1 I_2 I_3^2),
// which is linear in p and in r, 0 <= p, r <= 1: at most P max(A, B, C). Exact for symmetric tops.
#include "base/math/matrix3.h"
#include "dynamics/motion/free_top.h"
#include "dynamics/sweep/sweep.h"

#include <float.h>

// Relative rounding of the results, which are products of a dozen rounded factors.
#define RELATIVE_SLACK (32.0 * DBL_EPSILON)

void rbSweepMotion_SetSteadySpin(rbSweepMotion* motion, rbVec3 spin)
{
    RB_ASSERT(motion != NULL && rbIsFinite3(spin));
    motion->spin = spin;
    motion->steadySpin = spin;
    motion->wobble = 0.0;
    motion->spinMax = rbLength(spin) * (1.0 + RELATIVE_SLACK);
    motion->spinRateMax = 0.0;
}

void rbSweepMotion_SetFreeSpin(rbSweepMotion* motion, rbVec3 moments, rbQuat orientation,
                               rbVec3 spinLocal)
{
    RB_ASSERT(moments.x > 0.0 && moments.y > 0.0 && moments.z > 0.0);
    RB_ASSERT(rbIsFinite3(spinLocal) && rbIsFiniteQuat(orientation));
    rbSweepMotion_SetSteadySpin(motion, rbRotate(orientation, spinLocal));
    int order[3];
    double m[3], w[3]; // largest moment first
    rbSortAxes(moments, order);
    for (int i = 0; i < 3; ++i) {
        m[i] = rbGetComponent(moments, order[i]);
        w[i] = rbGetComponent(spinLocal, order[i]);
    }
    // Only ratios of the moments matter; the largest is scaled to 1, so that powers stay in range.
    // Differences come first: they are exact where it matters.
    double largest = m[0];
    double m12 = (m[0] - m[1]) / largest, m23 = (m[1] - m[2]) / largest;
    double m13 = (m[0] - m[2]) / largest;
    m[0] = 1.0;
    m[1] /= largest;
    m[2] /= largest;
    rbVec3 momentumLocal = {moments.x / largest * spinLocal.x, moments.y / largest * spinLocal.y,
                            moments.z / largest * spinLocal.z};
    double momentumSquared = rbLengthSquared(momentumLocal);
    double energy2 = rbDot(spinLocal, momentumLocal);
    double d3 = m13 * w[0] * w[0] + m[1] * m23 * w[1] * w[1];
    double d1 = m[1] * m12 * w[1] * w[1] + m[2] * m13 * w[2] * w[2];
    bool isSteady =
        m23 * w[1] * w[2] == 0.0 && m13 * w[0] * w[2] == 0.0 && m12 * w[0] * w[1] == 0.0;
    if (isSteady || !(momentumSquared > 0.0)) {
        return; // rotation about a principal axis, which is constant
    }
    double product = sqrt(d3) * sqrt(d1);
    double rateB = 1.0 / (m[1] * sqrt(m[2]));
    double rateA = sqrt(m23 / m13) / sqrt(m[1] * m[2]); // m13 > 0: it is not a sphere
    double rateC = sqrt(m12 / m13) / (m[2] * sqrt(m[1]));
    double steady = energy2 / sqrt(momentumSquared);
    double wobble = product / sqrt(m[2] * momentumSquared);
    double spinMax = sqrt(steady * steady + wobble * wobble) * (1.0 + RELATIVE_SLACK);
    motion->steadySpin = rbRotate(orientation, rbScale(energy2 / momentumSquared, momentumLocal));
    // the steady spin is rounded as well
    motion->wobble = wobble * (1.0 + RELATIVE_SLACK) + RELATIVE_SLACK * spinMax;
    motion->spinMax = fmax(motion->spinMax, spinMax);
    motion->spinRateMax = product * fmax(rateB, fmax(rateA, rateC)) * (1.0 + RELATIVE_SLACK);
    RB_ASSERT(motion->spinMax >= 0.0 && motion->spinRateMax >= 0.0);
}
