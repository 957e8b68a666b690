// Free rotation in one step.
#include "base/core/random.h"
#include "dynamics/motion/free_top.h"
#include "dynamics/motion/turn.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>

typedef struct Top {
    rbVec3 moments;
    rbQuat orientation;
    rbVec3 momentum;
} Top;

static Top randomTop(rbRandom* random, bool isSymmetric)
{
    Top top;
    double a = 0.5 + rbRandom_Unit(random);
    double b = isSymmetric ? a : 0.5 + rbRandom_Unit(random);
    // A flat or long body, always physically possible.
    double c = fabs(a - b) + 0.1 + rbRandom_Unit(random) * (a + b - fabs(a - b) - 0.2);
    top.moments = rbRandom_Index(random, 2) == 0 ? rbMakeVec3(a, b, c) : rbMakeVec3(c, a, b);
    top.orientation = rbRandom_Quat(random);
    top.momentum = rbScale(3.0 * rbRandom_Unit(random), rbRandom_Direction(random));
    return top;
}

static double turnError(const Top* top, double time, int steps)
{
    rbTurn turn = rbMakeTurn(top->moments);
    rbQuat q = top->orientation;
    for (int i = 0; i < steps; ++i) {
        q = rbTurn_Step(&turn, q, top->momentum, time / steps);
    }
    rbVec3 local = rbInvRotate(top->orientation, top->momentum);
    rbVec3 spin =
        rbMakeVec3(local.x / top->moments.x, local.y / top->moments.y, local.z / top->moments.z);
    rbFreeTop exact = rbFreeTop_Make(top->moments, top->orientation, spin);
    rbQuat truth;
    rbFreeTop_Evaluate(&exact, time, &truth, &spin);
    double sign = rbDotQuat(q, truth) < 0.0 ? -1.0 : 1.0;
    rbQuat d = {q.w - sign * truth.w, q.x - sign * truth.x, q.y - sign * truth.y,
                q.z - sign * truth.z};
    return 2.0 * sqrt(rbDotQuat(d, d));
}

// B-08: one step of any size is exact where two moments are equal.
static void symmetricTopsTurnExactly(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6001)};
    for (int i = 0; i < rbTest_Count(2000, 20000); ++i) {
        Top top = randomTop(&random, true);
        assert_true(turnError(&top, 2.0, 1) < 1e-13);
    }
}

// B-08
static void asymmetricTopsTurnToSecondOrder(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6002)};
    double ratios = 0.0;
    int count = 0;
    for (int i = 0; i < rbTest_Count(200, 2000); ++i) {
        Top top = randomTop(&random, false);
        double coarse = turnError(&top, 1.0, 64);
        double fine = turnError(&top, 1.0, 128);
        if (coarse > 1e-8) {
            ratios += log2(coarse / fine);
            count += 1;
        }
    }
    print_message("mean order %.4f of %d\n", ratios / count, count);
    checkNear(ratios / count, 2.0, 0.05);
}

static void stepsBackUndoSteps(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6003)};
    for (int i = 0; i < rbTest_Count(2000, 20000); ++i) {
        Top top = randomTop(&random, rbRandom_Index(&random, 2) == 0);
        rbTurn turn = rbMakeTurn(top.moments);
        double h = 2.0 * rbRandom_Unit(&random);
        rbQuat q = rbTurn_Step(&turn, top.orientation, top.momentum, h);
        checkNear(rbDotQuat(q, q), 1.0, 1e-14);
        q = rbTurn_Step(&turn, q, top.momentum, -h);
        checkNear(fabs(rbDotQuat(q, top.orientation)), 1.0, 1e-13);
    }
}

RB_TEST_GROUP(test_turn, cmocka_unit_test(symmetricTopsTurnExactly),
              cmocka_unit_test(asymmetricTopsTurnToSecondOrder),
              cmocka_unit_test(stepsBackUndoSteps));
