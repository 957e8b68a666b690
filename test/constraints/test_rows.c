// Responses of bodies and the matrix of a system of rows.
#include "base/core/random.h"
#include "base/math/matrix3.h"
#include "lab/joints/row_matrices.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>

static rbVec3 randomVec(rbRandom* random)
{
    return rbMakeVec3(2.0 * rbRandom_Unit(random) - 1.0, 2.0 * rbRandom_Unit(random) - 1.0,
                      2.0 * rbRandom_Unit(random) - 1.0);
}

static rbRowMass randomMass(rbRandom* random)
{
    rbVec3 inverse = rbMakeVec3(0.5 + rbRandom_Unit(random), 0.5 + rbRandom_Unit(random),
                                0.5 + rbRandom_Unit(random));
    rbRowMass mass = {.invMass = 0.1 + rbRandom_Unit(random), .isDynamic = true};
    mass.invInertia = rbSym3_FromPrincipal(inverse, rbMatFromQuat(rbRandom_Quat(random)));
    return mass;
}

static void checkVec(rbVec3 a, rbVec3 b)
{
    assert_true(rbDistance(a, b) < 1e-13);
}

// B-10: the effect of an impulse and an angular impulse on points and spin, by Newton and Euler.
static void responsesAreThoseOfNewtonAndEuler(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6010)};
    for (int i = 0; i < rbTest_Count(1000, 10000); ++i) {
        rbRowMass mass = randomMass(&random);
        rbVec3 rA = randomVec(&random);
        rbVec3 rB = randomVec(&random);
        rbVec3 p = randomVec(&random);
        rbVec3 l = randomVec(&random);
        rbVec3 spinOfP = rbMulSV(mass.invInertia, rbCross(rB, p));
        rbVec3 spinOfL = rbMulSV(mass.invInertia, l);
        rbVec3 pointOfP = rbAddScaled(rbCross(spinOfP, rA), mass.invMass, p);
        checkVec(rbMulMV(rbResponse_K(&mass, rA, rB), p), pointOfP);
        checkVec(rbMulMV(rbResponse_L(&mass), l), spinOfL);
        checkVec(rbMulMV(rbResponse_W(&mass, rB), p), spinOfP);
        checkVec(rbMulMV(rbResponse_U(&mass, rA), l), rbCross(spinOfL, rA));
    }
}

#define BODIES 5
#define BLOCKS 7
#define ROWS_MAX (BLOCKS * 3)

// the matrix is B W B^T, computed here row by row from its definition.
static void matrixIsThatOfItsRows(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6011)};
    for (int run = 0; run < rbTest_Count(300, 3000); ++run) {
        rbRowMass masses[BODIES];
        rbRowBlock blocks[BLOCKS] = {{0}};
        rbRow rows[ROWS_MAX];
        double compliance[ROWS_MAX] = {0.0};
        double matrix[ROWS_MAX * ROWS_MAX];
        int n = 0;
        for (int i = 0; i < BODIES; ++i) {
            masses[i] = randomMass(&random);
            if (i == 0) {
                masses[i] = (rbRowMass){0};
            }
        }
        for (int i = 0; i < BLOCKS; ++i) {
            blocks[i].bodyA = rbRandom_Index(&random, BODIES);
            blocks[i].bodyB = (blocks[i].bodyA + 1 + rbRandom_Index(&random, BODIES - 1)) % BODIES;
            blocks[i].firstRow = n;
            blocks[i].rowCount = 1 + rbRandom_Index(&random, 3);
            n += blocks[i].rowCount;
        }
        for (int i = 0; i < n; ++i) {
            rows[i] = (rbRow){randomVec(&random), randomVec(&random), randomVec(&random)};
        }
        rbRowSystem system = {BODIES, masses, BLOCKS, blocks, n, rows, compliance};
        rbRowSystem_Assemble(&system, matrix);
        // Column c: velocities after a unit impulse along row c, then the rates, "A minus B".
        for (int bc = 0; bc < BLOCKS; ++bc) {
            for (int c = blocks[bc].firstRow; c < blocks[bc].firstRow + blocks[bc].rowCount; ++c) {
                rbVec3 v[BODIES] = {{0}};
                rbVec3 w[BODIES] = {{0}};
                int a = blocks[bc].bodyA;
                int b = blocks[bc].bodyB;
                v[a] = rbScale(masses[a].invMass, rows[c].linear);
                w[a] = rbMulSV(masses[a].invInertia, rows[c].angularA);
                v[b] = rbScale(-masses[b].invMass, rows[c].linear);
                w[b] = rbMulSV(masses[b].invInertia, rbNeg(rows[c].angularB));
                for (int br = 0; br < BLOCKS; ++br) {
                    for (int k = 0; k < blocks[br].rowCount; ++k) {
                        int r = blocks[br].firstRow + k;
                        int i = blocks[br].bodyA;
                        int j = blocks[br].bodyB;
                        double rate = rbDot(rows[r].linear, rbSub(v[i], v[j])) +
                                      rbDot(rows[r].angularA, w[i]) - rbDot(rows[r].angularB, w[j]);
                        checkNear(matrix[c * n + r], rate, 1e-13);
                        checkNear(matrix[c * n + r], matrix[r * n + c], 1e-13);
                    }
                }
            }
        }
    }
}

RB_TEST_GROUP(test_rows, cmocka_unit_test(responsesAreThoseOfNewtonAndEuler),
              cmocka_unit_test(matrixIsThatOfItsRows));
