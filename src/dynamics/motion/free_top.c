// The free asymmetric top by Jacobi's elliptic functions.
//
// Problem: I w' = (I w) x w and q' = q (0, w)/2 in body axes, moments I1 >= I2 >= I3. The angular
// momentum L = I w is a constant vector of the world; in the body it moves along the curve where
// the sphere |L| = const intersects the energy ellipsoid, around the axis of largest moment if
// D = L^2 - 2 E I2 > 0, of smallest if D < 0. Call that axis polar (p), the other extreme one o,
// the middle one b. Then (van Zon and Schofield 2007 for the idea; re-derived)
//
//   w_p = A_p dn(u|m),  w_b = A_b sn(u|m),  w_o = A_o cn(u|m),   u = rate * t + phase.
//
// Precision. L^2 - 2 E I_k is never formed as a difference: with d_ij = I_i - I_j (exact when
// close)
//   P = |L^2 - 2 E I_o| = I_p d_po w_p^2 + I_b d_bo w_b^2     (both terms of one sign)
//   Q = |L^2 - 2 E I_p| = I_b d_pb w_b^2 + I_o d_po w_o^2
//   D =  L^2 - 2 E I_b  = I_1 d_12 w_1^2 - I_3 d_23 w_3^2     (the only true difference)
//   m = Q |d_bo| / (P |d_pb|),   m1 = |D d_po| / (P |d_pb|),   rate^2 = |d_pb| P / (I_1 I_2 I_3)
// so near the middle axis m1 has full precision, and D determines the side of the separatrix.
//
// Orientation. Let l = L/|L| in the body, S(l) the smallest rotation that takes l to the polar
// axis, and T(x) the rotation by x about it. Then q(t) = frame T(x(t)) S(l(t)) with a constant
// frame, so the world momentum is conserved to rounding for any error of x. The twist x has the
// rate (w_p + 2E/L) / (1 + l_p), which is bounded: no singularity as the body approaches a spin
// about its polar axis. It is x = psi - azimuth(l), psi the precession angle, and psi has the
// closed form
//   psi = (2E/L) t + s [ (slope) u + arg Theta(u + ia) ],   s = sign(I_p - I_o),
//   azimuth(l) = s atan2(|l_b| sn, |l_o| cn),
//   n = -(I_p |d_bo|) / (I_o |d_pb|),   cot^2 am(a | m1) = -m/n = I_o Q / (I_p P),
// where the slope is that of Jacobi's Zeta function. With theta series:
//   m <= 1/2: slope = (pi/2K) d/d(eta) log theta2(i eta, q), eta = pi a / 2K
//   m >  1/2: slope = Z(a|m1) = (pi/2K') d/d(alpha) log theta4(alpha, q'), alpha = pi a / 2K',
//             plus pi a / (2 K K') per u over whole periods, and Theta becomes theta2(alpha - i b,
//             q').
// All terms have the same sign, so nothing cancels in the symmetric and spherical limits.
#include "dynamics/motion/free_top.h"

#include "base/math/elementary.h"
#include "base/math/matrix3.h"

#include <rattleback/base.h>

#include <math.h>

// The invariants of a flight in scaled units (largest moment and spin component 1), by role.
typedef struct TopInvariants {
    double p, q, d;             // P, Q, D as defined at the top of the file
    double gapPB, gapPO, gapBO; // |differences of moments|
    double moment[3];           // middle, other, polar
    double spin[3];
    double energy2, momentum; // 2E, |L|
} TopInvariants;

static rbVec3 fromComponents(const double values[3], const int axes[3])
{
    double v[3];
    v[axes[0]] = values[0];
    v[axes[1]] = values[1];
    v[axes[2]] = values[2];
    return rbMakeVec3(v[0], v[1], v[2]);
}

void rbSortAxes(rbVec3 moments, int order[3])
{
    order[0] = 0;
    order[1] = 1;
    order[2] = 2;
    for (int pass = 0; pass < 3; ++pass) {
        int i = pass == 1 ? 1 : 0; // pairs (0,1), (1,2), (0,1)
        if (rbGetComponent(moments, order[i]) < rbGetComponent(moments, order[i + 1])) {
            int swap = order[i];
            order[i] = order[i + 1];
            order[i + 1] = swap;
        }
    }
}

// Smallest rotation that takes the unit vector l to the polar axis (times polarSign): axis l x p.
// In components (middle, other, polar), with 1 + l_p > 0 always.
static rbQuat swingToPolar(const rbFreeTop* top, const double l[3], double polarSign)
{
    rbVec3 direction = fromComponents(l, top->axes);
    double pole[3] = {0.0, 0.0, polarSign};
    rbVec3 axis = fromComponents(pole, top->axes);
    rbVec3 cross = rbCross(direction, axis);
    rbQuat swing = {1.0 + rbDot(direction, axis), cross.x, cross.y, cross.z};
    return rbNormalizeQuat(swing);
}

// An angle reduced by whole double turns, so that late times cost no more than early ones. 4 pi in
// two parts: the product of the first with up to 2^28 turns is exact.
static double reduceTurns(double angle)
{
    double turns = floor(angle * (0.25 / RB_PI) + 0.5);
    return (angle - turns * 0x1.921fb4p+3) - turns * 0x1.4442d18469899p-21;
}

// Coefficients for m <= 1/2. With e1 = q exp(2 eta), e2 = q exp(-2 eta), the real and imaginary
// part of theta4(z + i eta) are 1 + sum (-1)^k g_k cos 2kz and -sum (-1)^k h_k sin 2kz, k = 1..,
// with g_k, h_k = q^(k^2-k) (e1^k +- e2^k). e1 comes from K' - a, which stays finite as m goes to
// 0.
static void preparePhaseSmall(rbFreeTop* top, double minusN, double rho)
{
    const rbElliptic* e = &top->elliptic;
    // tan am(K' - a) = 1 / sqrt(-n), tan am(a) = 1 / sqrt(rho), both with the modulus m1.
    double normGap = sqrt(1.0 + minusN), normA = sqrt(1.0 + rho);
    double gap = rbEllipticF(1.0 / normGap, sqrt(minusN) / normGap, e->m);
    double a = rbEllipticF(1.0 / normA, sqrt(rho) / normA, e->m);
    double q = e->nome;
    double e1 = rbExp(-RB_PI * gap / e->quarter);
    double x = rbExp(-RB_PI * a / e->quarter); // exp(-2 eta)
    double e2 = q * x;
    double power = 1.0; // q^(k^2-k)
    double p1 = 1.0, p2 = 1.0;
    double step = 1.0; // q^(2k)
    for (int k = 0; k < RB_THETA_TERMS; ++k) {
        p1 *= e1;
        p2 *= e2;
        top->theta[k] = power * (p1 + p2);
        top->theta[RB_THETA_TERMS + k] = power * (p1 - p2);
        step *= q * q;
        power *= step;
    }
    // Logarithmic derivative of theta2(i eta): terms q^(k^2) e1^k -+ q^(k(k+1)) x^(k+1).
    double q2 = q * q, q4 = q2 * q2;
    double up[4] = {1.0, q * e1, q4 * e1 * e1, q4 * q4 * q * e1 * e1 * e1};
    double down[4] = {x, q2 * x * x, q4 * q2 * x * x * x, q4 * q4 * q4 * x * x * x * x};
    double numerator = 0.0, denominator = 0.0;
    for (int k = 3; k >= 0; --k) {
        numerator += (2 * k + 1) * (up[k] - down[k]);
        denominator += up[k] + down[k];
    }
    top->twistPerU = e->scale * numerator / denominator;
    top->twistPerPeriod = 2.0 * e->quarter * top->twistPerU - RB_PI;
}

// Coefficients for m > 1/2: sines and cosines of (2k+1) alpha.
static void preparePhaseLarge(rbFreeTop* top, double rho)
{
    const rbElliptic* e = &top->elliptic;
    double norm = sqrt(1.0 + rho);
    double a = rbEllipticF(1.0 / norm, sqrt(rho) / norm, e->m);
    double alpha = e->scale * a;
    for (int k = 0; k < RB_THETA_TERMS; ++k) {
        rbSinCos((2 * k + 1) * alpha, &top->theta[RB_THETA_TERMS + k], &top->theta[k]);
    }
    double q = e->nome;
    double q4 = q * q * q * q;
    double q9 = q4 * q4 * q;
    double s2, c2, s4, c4, s6, c6;
    rbSinCos(2.0 * alpha, &s2, &c2);
    rbSinCos(4.0 * alpha, &s4, &c4);
    rbSinCos(6.0 * alpha, &s6, &c6);
    double numerator = 4.0 * (q * s2 - 2.0 * q4 * s4 + 3.0 * q9 * s6);
    double denominator = 1.0 - 2.0 * (q * c2 - q4 * c4 + q9 * c6);
    top->twistPerU = e->scale * numerator / denominator;
    top->twistPerPeriod =
        isinf(e->quarter) ? 0.0 : 2.0 * e->quarter * top->twistPerU + 2.0 * alpha - RB_PI;
}

// l in (middle, other, polar) components for u in [-K, K], of unit length, and the bounded part of
// the twist, arg Theta(u + ia) - atan2(|l_b| sn, |l_o| cn), as one angle.
static double evaluateReduced(const rbFreeTop* top, double u, double l[3])
{
    const rbElliptic* e = &top->elliptic;
    const double* g = top->theta;
    const double* h = top->theta + RB_THETA_TERMS;
    double jacobi[3];
    double real, imaginary;
    if (e->isLarge) {
        rbThetaParts t = rbElliptic_ThetaParts(e, fabs(u));
        rbElliptic_SnCnDnLarge(e, &t, u, jacobi);
        real = g[0] * t.plus[0] + (g[1] * t.plus[1] + (g[2] * t.plus[2] + g[3] * t.plus[3]));
        imaginary =
            h[0] * t.minus[0] + (h[1] * t.minus[1] + (h[2] * t.minus[2] + h[3] * t.minus[3]));
        imaginary = copysign(imaginary, u);
    } else {
        double s, c;
        rbSinCos(e->scale * u, &s, &c);
        rbElliptic_SnCnDnSmall(e, s, c, jacobi);
        double s2 = 2.0 * s * c;
        double c2 = (c - s) * (c + s);
        double w = 2.0 * c2;
        double s4 = w * s2;
        double c4 = w * c2 - 1.0;
        double s6 = w * s4 - s2, c6 = w * c4 - c2, s8 = w * s6 - s4, c8 = w * c6 - c4;
        real = 1.0 - (g[0] * c2 - (g[1] * c4 - (g[2] * c6 - g[3] * c8)));
        imaginary = h[0] * s2 - (h[1] * s4 - (h[2] * s6 - h[3] * s8));
    }
    l[0] = top->amplitude.x * jacobi[0];
    l[1] = top->amplitude.y * jacobi[1];
    l[2] = top->amplitude.z * jacobi[2];
    double inverse = 1.0 / sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
    l[0] *= inverse;
    l[1] *= inverse;
    l[2] *= inverse;
    double y = fabs(top->amplitude.x) * jacobi[0], x = fabs(top->amplitude.y) * jacobi[1];
    return rbAtan2(imaginary * x - real * y, real * x + imaginary * y);
}

// The twist at u, excluding the precession, and l. u is reduced to [-K, K] by whole half periods;
// each turns the momentum by half a turn about the polar axis.
static double evaluateTwist(const rbFreeTop* top, double u, double l[3])
{
    double period = 2.0 * top->elliptic.quarter;
    double turns = isinf(period) ? 0.0 : floor(u / period + 0.5);
    double reduced = turns == 0.0 ? u : u - turns * period;
    double bounded = evaluateReduced(top, reduced, l);
    if (turns != 2.0 * floor(0.5 * turns)) {
        l[0] = -l[0];
        l[1] = -l[1];
    }
    return top->handed * (turns * top->twistPerPeriod + top->twistPerU * reduced + bounded);
}

// Chooses the polar axis and computes the invariants from exact differences.
static TopInvariants computeInvariants(rbVec3 moments, rbVec3 spin, int axes[3])
{
    int order[3];
    rbSortAxes(moments, order);
    double scale = rbGetComponent(moments, order[0]);
    double j[3], w[3];
    for (int i = 0; i < 3; ++i) {
        j[i] = rbGetComponent(moments, order[i]) / scale;
        w[i] = rbGetComponent(spin, order[i]);
    }
    TopInvariants t;
    t.d = j[0] * (j[0] - j[1]) * w[0] * w[0] - j[2] * (j[1] - j[2]) * w[2] * w[2];
    int polar = t.d >= 0.0 ? 0 : 2;
    int roles[3] = {1, 2 - polar, polar};
    for (int i = 0; i < 3; ++i) {
        axes[i] = order[roles[i]];
        t.moment[i] = j[roles[i]];
        t.spin[i] = w[roles[i]];
    }
    t.gapPB = fabs(t.moment[2] - t.moment[0]);
    t.gapPO = fabs(t.moment[2] - t.moment[1]);
    t.gapBO = fabs(t.moment[0] - t.moment[1]);
    t.p = t.moment[2] * t.gapPO * t.spin[2] * t.spin[2] +
          t.moment[0] * t.gapBO * t.spin[0] * t.spin[0];
    t.q = t.moment[0] * t.gapPB * t.spin[0] * t.spin[0] +
          t.moment[1] * t.gapPO * t.spin[1] * t.spin[1];
    double momentum2 = 0.0;
    t.energy2 = 0.0;
    for (int i = 0; i < 3; ++i) {
        double momentum = t.moment[i] * t.spin[i];
        momentum2 += momentum * momentum;
        t.energy2 += momentum * t.spin[i];
    }
    t.momentum = sqrt(momentum2);
    return t;
}

// The elliptic part of a flight that is not steady; false when the phase is not finite.
static bool prepareElliptic(rbFreeTop* top, const TopInvariants* t, double spinScale)
{
    double denominator = t->p * t->gapPB;
    double m = fmin(1.0, t->q * t->gapBO / denominator);
    double m1 = fmin(1.0, fabs(t->d) * t->gapPO / denominator);
    top->elliptic = rbElliptic_Make(m, m1);
    top->rate = spinScale * sqrt(denominator / (t->moment[0] * t->moment[1] * t->moment[2]));
    top->handed = t->moment[2] > t->moment[1] ? 1.0 : -1.0;

    double polarSign = t->spin[2] < 0.0 ? -1.0 : 1.0;
    double order = (top->axes[1] + 1) % 3 == top->axes[0] ? 1.0 : -1.0; // of the axes x, y, z
    double middleSign = order * top->handed * polarSign;
    double amplitudeB = sqrt(t->q / (t->moment[0] * t->gapPB));
    double amplitudeO = sqrt(t->q / (t->moment[1] * t->gapPO));
    double amplitudeP = sqrt(t->p / (t->moment[2] * t->gapPO));
    top->amplitude.x = middleSign * t->moment[0] * amplitudeB / t->momentum;
    top->amplitude.y = t->moment[1] * amplitudeO / t->momentum;
    top->amplitude.z = polarSign * t->moment[2] * amplitudeP / t->momentum;

    double sine = t->spin[0] / (middleSign * amplitudeB);
    double cosine = t->spin[1] / amplitudeO;
    double norm = sqrt(sine * sine + cosine * cosine);
    top->phase = rbEllipticF(sine / norm, cosine / norm, m1);
    if (!isfinite(top->phase)) {
        return false;
    }
    double minusN = t->moment[2] * t->gapBO / (t->moment[1] * t->gapPB);
    double rho = t->moment[1] * t->q / (t->moment[2] * t->p);
    if (top->elliptic.isLarge) {
        preparePhaseLarge(top, rho);
    } else {
        preparePhaseSmall(top, minusN, rho);
    }
    return true;
}

rbFreeTop rbFreeTop_Make(rbVec3 moments, rbQuat orientation, rbVec3 spinLocal)
{
    RB_ASSERT(moments.x > 0.0 && moments.y > 0.0 && moments.z > 0.0);
    RB_ASSERT(rbIsFinite3(moments) && rbIsFinite3(spinLocal) && rbIsFiniteQuat(orientation));
    rbFreeTop top = {0};
    top.invMoments = rbMakeVec3(1.0 / moments.x, 1.0 / moments.y, 1.0 / moments.z);
    top.frame = orientation;
    top.direction = rbMakeVec3(0.0, 0.0, 1.0);
    double spinScale = fmax(fabs(spinLocal.x), fmax(fabs(spinLocal.y), fabs(spinLocal.z)));
    if (spinScale == 0.0) {
        return top;
    }
    rbVec3 spin =
        rbMakeVec3(spinLocal.x / spinScale, spinLocal.y / spinScale, spinLocal.z / spinScale);
    TopInvariants t = computeInvariants(moments, spin, top.axes);
    top.momentum = fmax(moments.x, fmax(moments.y, moments.z)) * spinScale * t.momentum;
    top.precession = spinScale * t.energy2 / t.momentum;
    top.direction = rbNormalize(rbMulEach(moments, spin));
    // L x w = 0 in the body, or so close to a pure spin that the squares underflow.
    bool isSteady =
        (t.gapBO * t.spin[0] * t.spin[1] == 0.0 && t.gapPO * t.spin[1] * t.spin[2] == 0.0 &&
         t.gapPB * t.spin[2] * t.spin[0] == 0.0) ||
        t.q == 0.0 || t.p == 0.0 || t.gapPB == 0.0;
    if (isSteady || !prepareElliptic(&top, &t, spinScale)) {
        top.rate = 0.0;
        return top;
    }
    double l[3];
    top.twistStart = evaluateTwist(&top, top.phase, l);
    double polarSign = top.amplitude.z < 0.0 ? -1.0 : 1.0;
    top.frame = rbMulQuat(orientation, rbConjugate(swingToPolar(&top, l, polarSign)));
    return top;
}

void rbFreeTop_Evaluate(const rbFreeTop* top, double dt, rbQuat* orientation, rbVec3* spinLocal)
{
    if (top->rate == 0.0) { // steady: the spin axis is that of the momentum, the rate 2E/L
        double s, c;
        rbVec3 momentum = rbScale(top->momentum, top->direction), axis = top->direction;
        rbSinCos(0.5 * reduceTurns(top->precession * dt), &s, &c);
        rbQuat around = {c, s * axis.x, s * axis.y, s * axis.z};
        *orientation = rbNormalizeQuat(rbMulQuat(top->frame, around));
        *spinLocal = rbMulEach(momentum, top->invMoments);
        return;
    }
    double l[3];
    double twist = evaluateTwist(top, top->rate * dt + top->phase, l) - top->twistStart;
    double polarSign = top->amplitude.z < 0.0 ? -1.0 : 1.0;
    double s, c; // of half the angle about the polar axis
    rbSinCos(0.5 * reduceTurns(twist + top->precession * dt), &s, &c);
    rbVec3 u = fromComponents((double[3]){0.0, 0.0, s * polarSign}, top->axes);
    rbQuat turn = {c, u.x, u.y, u.z};
    rbQuat swing = swingToPolar(top, l, polarSign);
    *orientation = rbNormalizeQuat(rbMulQuat(rbMulQuat(top->frame, turn), swing));
    rbVec3 momentum = rbScale(top->momentum, fromComponents(l, top->axes));
    *spinLocal = rbMulEach(momentum, top->invMoments);
}
