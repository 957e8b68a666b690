// Bricard's loop in the five angles of the open chain P0 .. P5 (IFToMM A04).
//
// The sixth joint imposes five conditions on five angles, and one of them follows from the others:
// one freedom remains. With its direction n (J n = 0) and any p with J p = -J' q' the angles
// accelerate by p + s n, and the conditions do no work: n (M (p + s n) - Q) = 0 determines s.
#include "base/core/memory.h"
#include "mechanism_reference.h"

#include <math.h>
#include <string.h>

#define RODS 5
#define CONDITIONS 5
#define RANK 4

typedef long double rbReal;

typedef struct rbReal3 {
    rbReal x, y, z;
} rbReal3;

const rbVec3 rbBricardPoints[6] = {{0, 0, 0},  {1, 0, 0},  {1, -1, 0},
                                   {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
const rbVec3 rbBricardAxes[6] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};

static const rbReal rodMass = 1.0L;
static const rbReal rodAxial = 0.02L / 12.0L; // 1 x 0.1 x 0.1 m
static const rbReal rodTransverse = 1.01L / 12.0L;
static const rbReal gravity = 9.81L;

static rbReal3 makeReal3(rbVec3 v)
{
    rbReal3 r = {v.x, v.y, v.z};
    return r;
}

static rbReal3 addScaled(rbReal3 a, rbReal s, rbReal3 b)
{
    rbReal3 r = {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
    return r;
}

static rbReal3 cross(rbReal3 a, rbReal3 b)
{
    rbReal3 r = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    return r;
}

static rbReal dot(rbReal3 a, rbReal3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// v rotated about a unit axis (Rodrigues).
static rbReal3 turn(rbReal3 v, rbReal3 axis, rbReal angle)
{
    rbReal c = cosl(angle);
    rbReal3 r = {c * v.x, c * v.y, c * v.z};
    r = addScaled(r, sinl(angle), cross(axis, v));
    return addScaled(r, (1.0L - c) * dot(axis, v), axis);
}

// The open chain at given angles and rates. The last entries belong to the sixth joint.
typedef struct rbChain {
    rbReal3 point[RODS + 1]; // joints
    rbReal3 axis[RODS + 1];  // of the joints; of the sixth as the last rod carries it
    rbReal3 rod[RODS];       // from end to end, unit
    rbReal3 center[RODS];
    rbReal3 spin[RODS];
    rbReal3 velocity[RODS]; // of the centers
    rbReal3 spinBias[RODS]; // angular acceleration without that of the angles
    rbReal3 centerBias[RODS];
    rbReal3 pointBias; // of the end
} rbChain;

// A direction of the start position carried by the rod after a joint.
static rbReal3 carry(const rbReal* q, int rod, rbReal3 direction)
{
    for (int j = rod; j >= 0; --j) {
        direction = turn(direction, makeReal3(rbBricardAxes[j]), q[j]);
    }
    return direction;
}

static rbChain layOut(const rbReal* q, const rbReal* v)
{
    rbChain c = {0};
    rbReal3 zero = {0};
    rbReal3 pointVelocity = zero;
    rbReal3 pointBias = zero;
    for (int i = 0; i < RODS; ++i) {
        rbReal3 spinBefore = i > 0 ? c.spin[i - 1] : zero;
        rbReal3 biasBefore = i > 0 ? c.spinBias[i - 1] : zero;
        rbReal3 along = makeReal3(rbSub(rbBricardPoints[i + 1], rbBricardPoints[i]));
        // an axis is carried by the preceding rods, which its own angle does not move
        c.axis[i] = carry(q, i, makeReal3(rbBricardAxes[i]));
        c.rod[i] = carry(q, i, along);
        c.spin[i] = addScaled(spinBefore, v[i], c.axis[i]);
        c.spinBias[i] = addScaled(biasBefore, v[i], cross(spinBefore, c.axis[i]));
        c.center[i] = addScaled(c.point[i], 0.5L, c.rod[i]);
        c.point[i + 1] = addScaled(c.point[i], 1.0L, c.rod[i]);
        rbReal3 sweep = cross(c.spin[i], c.rod[i]);
        rbReal3 bias = addScaled(cross(c.spinBias[i], c.rod[i]), 1.0L, cross(c.spin[i], sweep));
        c.velocity[i] = addScaled(pointVelocity, 0.5L, sweep);
        c.centerBias[i] = addScaled(pointBias, 0.5L, bias);
        pointVelocity = addScaled(pointVelocity, 1.0L, sweep);
        pointBias = addScaled(pointBias, 1.0L, bias);
    }
    c.axis[RODS] = carry(q, RODS - 1, makeReal3(rbBricardAxes[RODS]));
    c.pointBias = pointBias;
    return c;
}

static rbReal3 mulInertia(const rbChain* c, int rod, rbReal3 w)
{
    rbReal3 r = {rodTransverse * w.x, rodTransverse * w.y, rodTransverse * w.z};
    return addScaled(r, (rodAxial - rodTransverse) * dot(c->rod[rod], w), c->rod[rod]);
}

static void fillMotion(const rbChain* c, rbReal mass[RODS][RODS], rbReal force[RODS])
{
    for (int i = 0; i < RODS; ++i) {
        rbReal3 down = {0.0L, -gravity, 0.0L};
        rbReal3 push = addScaled(down, -1.0L, c->centerBias[i]);
        rbReal3 moment = addScaled(cross(mulInertia(c, i, c->spin[i]), c->spin[i]), -1.0L,
                                   mulInertia(c, i, c->spinBias[i]));
        for (int j = 0; j <= i; ++j) {
            rbReal3 reach = cross(c->axis[j], addScaled(c->center[i], -1.0L, c->point[j]));
            rbReal3 turned = mulInertia(c, i, c->axis[j]);
            force[j] += rodMass * dot(reach, push) + dot(c->axis[j], moment);
            for (int k = 0; k <= i; ++k) {
                rbReal3 other = cross(c->axis[k], addScaled(c->center[i], -1.0L, c->point[k]));
                mass[j][k] += rodMass * dot(reach, other) + dot(turned, c->axis[k]);
            }
        }
    }
}

// Rows of the closing conditions and their bias: the end stays, its axis stays along x.
static void fillClosure(const rbChain* c, rbReal rows[CONDITIONS][RODS], rbReal bias[CONDITIONS])
{
    rbReal3 carried = c->axis[RODS];
    for (int j = 0; j < RODS; ++j) {
        rbReal3 reach = cross(c->axis[j], addScaled(c->point[RODS], -1.0L, c->point[j]));
        rbReal3 tilt = cross(c->axis[j], carried);
        rows[0][j] = reach.x;
        rows[1][j] = reach.y;
        rows[2][j] = reach.z;
        rows[3][j] = tilt.y;
        rows[4][j] = tilt.z;
    }
    rbReal3 w = c->spin[RODS - 1];
    rbReal3 tiltBias =
        addScaled(cross(c->spinBias[RODS - 1], carried), 1.0L, cross(w, cross(w, carried)));
    bias[0] = c->pointBias.x;
    bias[1] = c->pointBias.y;
    bias[2] = c->pointBias.z;
    bias[3] = tiltBias.y;
    bias[4] = tiltBias.z;
}

// Solves a 4 x 4 system for two right-hand sides by elimination with row exchange.
static void solveFour(rbReal a[RANK][RANK + 2])
{
    for (int k = 0; k < RANK; ++k) {
        int best = k;
        for (int i = k + 1; i < RANK; ++i) {
            best = fabsl(a[i][k]) > fabsl(a[best][k]) ? i : best;
        }
        for (int j = 0; j < RANK + 2; ++j) {
            rbReal keep = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = keep;
        }
        for (int i = 0; i < RANK; ++i) {
            rbReal factor = i != k ? a[i][k] / a[k][k] : 0.0L;
            for (int j = k; j < RANK + 2; ++j) {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    for (int k = 0; k < RANK; ++k) {
        a[k][RANK] /= a[k][k];
        a[k][RANK + 1] /= a[k][k];
    }
}

// Solutions of rows x = -bias: free of the homogeneous system, some of the whole. The fourth row is
// always omitted and the third angle is always the free one: the determinant of the rest stays
// above 0.98 during the motion from rest, while changing pivots would make the right-hand side
// discontinuous near the manifold, and the extrapolation would lose its order.
static void solveRankFour(rbReal rows[CONDITIONS][RODS], const rbReal bias[CONDITIONS],
                          rbReal free[RODS], rbReal some[RODS])
{
    static const int keptRows[RANK] = {0, 1, 2, 4};
    static const int keptAngles[RANK] = {0, 1, 3, 4};
    enum {
        FREE_ANGLE = 2
    };
    rbReal a[RANK][RANK + 2];
    for (int i = 0; i < RANK; ++i) {
        for (int j = 0; j < RANK; ++j) {
            a[i][j] = rows[keptRows[i]][keptAngles[j]];
        }
        a[i][RANK] = -rows[keptRows[i]][FREE_ANGLE];
        a[i][RANK + 1] = -bias[keptRows[i]];
    }
    solveFour(a);
    free[FREE_ANGLE] = 1.0L;
    some[FREE_ANGLE] = 0.0L;
    for (int i = 0; i < RANK; ++i) {
        free[keptAngles[i]] = a[i][RANK];
        some[keptAngles[i]] = a[i][RANK + 1];
    }
}

static void rateBricard(const long double* y, long double* rate, long double parameter)
{
    (void)parameter;
    rbChain chain = layOut(y, y + RODS);
    rbReal mass[RODS][RODS] = {{0}};
    rbReal force[RODS] = {0};
    rbReal rows[CONDITIONS][RODS];
    rbReal bias[CONDITIONS];
    rbReal free[RODS];
    rbReal some[RODS];
    fillMotion(&chain, mass, force);
    fillClosure(&chain, rows, bias);
    solveRankFour(rows, bias, free, some);
    rbReal push = 0.0L;
    rbReal weight = 0.0L;
    for (int i = 0; i < RODS; ++i) {
        push += free[i] * force[i];
        for (int j = 0; j < RODS; ++j) {
            push -= free[i] * mass[i][j] * some[j];
            weight += free[i] * mass[i][j] * free[j];
        }
    }
    for (int i = 0; i < RODS; ++i) {
        rate[i] = y[RODS + i];
        rate[RODS + i] = some[i] + push / weight * free[i];
    }
}

rbReference rbMakeBricardReference(void)
{
    rbReference r = {.rate = rateBricard, .size = 2 * RODS, .step = 0.05L};
    return r;
}

rbVec3 rbGetBricardPoint(const rbReference* reference, int point)
{
    RB_ASSERT(point >= 0 && point <= RODS);
    rbChain chain = layOut(reference->y, reference->y + RODS);
    return rbMakeVec3((double)chain.point[point].x, (double)chain.point[point].y,
                      (double)chain.point[point].z);
}

double rbGetBricardEnergy(const rbReference* reference)
{
    rbChain c = layOut(reference->y, reference->y + RODS);
    rbReal energy = 0.0L;
    for (int i = 0; i < RODS; ++i) {
        energy += rodMass * (0.5L * dot(c.velocity[i], c.velocity[i]) + gravity * c.center[i].y) +
                  0.5L * dot(c.spin[i], mulInertia(&c, i, c.spin[i]));
    }
    return (double)energy;
}
