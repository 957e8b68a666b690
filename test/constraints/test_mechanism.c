// A mechanism of two bodies and one block: errors ahead, rates, response and impulses by hand.
#include "base/core/random.h"
#include "base/math/matrix3.h"
#include "dynamics/constraints/mechanism.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

// Errors of the blocks below: those at the poses ahead, as the data says.
static void statedErrors(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                         double* errors)
{
    (void)poseA;
    (void)poseB;
    memcpy(errors, data, 2 * sizeof(double));
}

// TRAVEL rows report the change since the start of the step; an angle is the turn nearest to the
// travel that was asked for, so that a drive may turn by more than half a turn in a step. Lengths
// are never wrapped. SPRING rows report the length beyond rest, HOLD rows all but the leftover.
static void errorsAheadContinueFromTheStart(void** state)
{
    (void)state;
    double ahead[2] = {9.5, 0.2};
    double start[3] = {1.0, 0.1, 5.0}; // the third is of a block that follows
    double speeds[3] = {2.0, 700.0, 3.0};
    double errors[3] = {0.0, 0.0, 77.0};
    rbMechBody bodies[2] = {{.index = 0}, {.index = 1}};
    rbRowBlock block = {.bodyA = 0,
                        .bodyB = 1,
                        .rowCount = 2,
                        .kind = RB_ROW_TRAVEL,
                        .angleMask = 2u,
                        .errors = statedErrors,
                        .data = ahead,
                        .rest = 0.25};
    rbMechanism mechanism = {.bodies = bodies,
                             .bodyCount = 2,
                             .blocks = &block,
                             .blockCount = 1,
                             .rowCount = 2,
                             .speeds = speeds,
                             .startErrors = start,
                             .duration = 0.01};
    // 7 rad were asked for; the pose says 0.1, that is 0.1 + 2 pi.
    rbMechanism_ErrorsAhead(&mechanism, 0, errors);
    checkNear(errors[0], 8.5, 1e-15);
    checkNear(errors[1], 0.1 + 2.0 * RB_PI, 1e-14);
    // The same block with its rows exchanged, then without angles.
    block.angleMask = 1u;
    rbMechanism_ErrorsAhead(&mechanism, 0, errors);
    checkNear(errors[0], 8.5 - 2.0 * RB_PI, 1e-14);
    checkNear(errors[1], 0.1, 1e-15);
    block.angleMask = 0u;
    rbMechanism_ErrorsAhead(&mechanism, 0, errors);
    checkNear(errors[0], 8.5, 1e-15);
    checkNear(errors[1], 0.1, 1e-15);
    // A spring has no speed: the turn nearest to where it was.
    block.kind = RB_ROW_SPRING;
    block.angleMask = 2u;
    ahead[1] = -3.0;
    start[1] = 3.0;
    rbMechanism_ErrorsAhead(&mechanism, 0, errors);
    checkNear(errors[0], 9.25, 1e-15);
    checkNear(errors[1], 2.0 * RB_PI - 3.0 - 0.25, 1e-14);
    block.kind = RB_ROW_HOLD;
    rbMechanism_ErrorsAhead(&mechanism, 0, errors);
    checkNear(errors[0], 9.5, 0.0);
    checkNear(errors[1], -3.0, 0.0);
    mechanism.leftover = 0.5;
    rbMechanism_ErrorsAhead(&mechanism, 0, errors);
    checkNear(errors[0], 9.0, 1e-15);
    checkNear(errors[1], -4.5, 1e-15);
    assert_true(errors[2] == 77.0);
}

static void statedRows(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                       rbRow* rows)
{
    (void)poseA;
    (void)poseB;
    memcpy(rows, data, 2 * sizeof(rbRow));
}

static rbMechBody randomBody(rbRandom* random, bool isDynamic)
{
    rbMechBody body = {.isDynamic = isDynamic};
    body.pose.orientation = rbRandom_Quat(random);
    body.pose.rotation = rbMatFromQuat(body.pose.orientation);
    body.pose.position = rbRandom_Direction(random);
    body.velocity = rbRandom_Direction(random);
    body.mass = isDynamic ? rbRandom_Range(random, 0.5, 3.0) : 0.0;
    body.invMass = isDynamic ? 1.0 / body.mass : 0.0;
    if (isDynamic) {
        body.moments = rbMakeVec3(1.0, 1.5, 2.0);
        body.invMoments = rbMakeVec3(1.0, 1.0 / 1.5, 0.5);
        body.turn = rbMakeTurn(body.moments);
        body.momentum = rbRandom_Direction(random);
    } else {
        body.angularVelocity = rbRandom_Direction(random);
    }
    return body;
}

// w = R I^-1 R^T L of a body, computed in its own axes.
static rbVec3 spinOf(const rbMechBody* body, rbVec3 momentum)
{
    rbVec3 local = rbInvRotate(body->pose.orientation, momentum);
    return rbRotate(body->pose.orientation, rbMulEach(local, body->invMoments));
}

// The rate of a row is n (vB - vA) + aB wB - aA wA. An impulse x along it pulls A forward and B
// back, changes the rate by -x times the response, and leaves bodies alone that are not dynamic.
static void impulsesChangeRatesByTheResponse(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6021)};
    for (int i = 0; i < 200; ++i) {
        rbMechBody bodies[2] = {randomBody(&random, i % 3 != 0), randomBody(&random, i % 3 != 1)};
        rbRow stated[2];
        for (int k = 0; k < 2; ++k) {
            stated[k] = (rbRow){rbRandom_Direction(&random), rbRandom_Direction(&random),
                                rbRandom_Direction(&random)};
        }
        rbRowBlock block = {.bodyA = 0,
                            .bodyB = 1,
                            .rowCount = 2,
                            .rows = statedRows,
                            .errors = statedErrors,
                            .data = stated};
        rbRow rows[2];
        rbRowMass masses[2] = {{.isDynamic = bodies[0].isDynamic},
                               {.isDynamic = bodies[1].isDynamic}};
        rbMechanism mechanism = {.bodies = bodies,
                                 .bodyCount = 2,
                                 .blocks = &block,
                                 .blockCount = 1,
                                 .rowCount = 2,
                                 .rows = rows,
                                 .masses = masses};
        rbMechanism_Refresh(&mechanism);
        rbMechBody before[2] = {bodies[0], bodies[1]};
        rbVec3 spins[2];
        double response = 0.0;
        for (int k = 0; k < 2; ++k) {
            rbVec3 arm = k == 0 ? stated[0].angularA : stated[0].angularB;
            spins[k] = bodies[k].isDynamic ? spinOf(&bodies[k], bodies[k].momentum)
                                           : bodies[k].angularVelocity;
            checkBelow(rbDistance(rbMechBody_GetSpin(&bodies[k], &masses[k]), spins[k]), 1e-14);
            if (bodies[k].isDynamic) {
                response += bodies[k].invMass + rbDot(arm, spinOf(&bodies[k], arm));
            }
        }
        double rates[2];
        rbMechanism_Rates(&mechanism, 0, rates);
        for (int k = 0; k < 2; ++k) {
            double rate = rbDot(stated[k].linear, rbSub(bodies[1].velocity, bodies[0].velocity)) +
                          rbDot(stated[k].angularB, spins[1]) - rbDot(stated[k].angularA, spins[0]);
            checkNear(rates[k], rate, 1e-14);
        }
        checkRelative(rbMechanism_GetResponse(&mechanism, &block, 0), response, 1e-13);
        const double x[2] = {rbRandom_Symmetric(&random), 0.0};
        rbMechanism_Apply(&mechanism, 0, x);
        double after[2];
        rbMechanism_Rates(&mechanism, 0, after);
        checkNear(after[0] - rates[0], -x[0] * response, 1e-13);
        for (int k = 0; k < 2; ++k) {
            double side = k == 0 ? 1.0 : -1.0;
            rbVec3 arm = k == 0 ? stated[0].angularA : stated[0].angularB;
            rbVec3 push = rbScale(side * x[0] * before[k].invMass, stated[0].linear);
            rbVec3 twist = rbScale(bodies[k].isDynamic ? side * x[0] : 0.0, arm);
            checkBelow(rbDistance(rbSub(bodies[k].velocity, before[k].velocity), push), 1e-14);
            checkBelow(rbDistance(rbSub(bodies[k].momentum, before[k].momentum), twist), 1e-14);
        }
    }
}

// Free flight: p + h v, and the rotation of the free top; bodies that are not dynamic stay.
static void lookAheadIsFreeFlight(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6022)};
    rbMechBody bodies[2] = {randomBody(&random, true), randomBody(&random, false)};
    rbMechanism mechanism = {.bodies = bodies, .bodyCount = 2};
    rbMechanism_LookAhead(&mechanism, 0.1);
    rbVec3 place = rbAddScaled(bodies[0].pose.position, 0.1, bodies[0].velocity);
    checkBelow(rbDistance(bodies[0].ahead.position, place), 1e-15);
    rbQuat turned =
        rbTurn_Step(&bodies[0].turn, bodies[0].pose.orientation, bodies[0].momentum, 0.1);
    checkNear(fabs(rbDotQuat(bodies[0].ahead.orientation, turned)), 1.0, 1e-15);
    rbMat3 rotation = rbMatFromQuat(turned);
    checkBelow(rbDistance(bodies[0].ahead.rotation.cy, rotation.cy), 1e-14);
    checkBelow(rbLength(bodies[1].ahead.position), 0.0);
}

RB_TEST_GROUP(test_mechanism, cmocka_unit_test(errorsAheadContinueFromTheStart),
              cmocka_unit_test(impulsesChangeRatesByTheResponse),
              cmocka_unit_test(lookAheadIsFreeFlight));
