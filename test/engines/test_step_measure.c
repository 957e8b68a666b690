// What contacts are like at the end of a step: each defect is seen, alone and among others.
#include "dynamics/engines/step/step_measure.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-6 // m/s

// A ball of 2 kg on a floor, which is body 0; the normal points up.
typedef struct Ball {
    rbContactBody bodies[2];
    rbContact contact;
    rbContactPoint point;
} Ball;

static Ball makeBall(void)
{
    rbVec3 up = {0.0, 0.0, 1.0};
    Ball ball = {.bodies[1] = {.invMass = 0.5, .invInertia = {5.0, 5.0, 5.0, 0.0, 0.0, 0.0}},
                 .contact = {.bodyA = 0,
                             .bodyB = 1,
                             .normal = up,
                             .tangents = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}},
                             .friction = 0.3,
                             .stiction = 0.5,
                             .pointCount = 1},
                 .point = {.armB = {0.0, 0.0, -0.1},
                           .impulse = {2.0, 0.6, -0.8},
                           .isClosed = true,
                           .isSticking = true}};
    return ball;
}

static double measure(Ball* ball)
{
    rbContactSet set = {&ball->contact, 1, &ball->point, 1};
    const int order[1] = {0};
    double all = rbMeasureSpeeds(&set, NULL, 1, ball->bodies, TOLERANCE);
    assert_true(all == rbMeasureSpeeds(&set, order, 1, ball->bodies, TOLERANCE));
    return all;
}

static void everyDefectOfSpeedsIsSeen(void** state)
{
    (void)state;
    Ball ball = makeBall();
    checkNear(measure(&ball), 0.0, 1e-15); // |T| = 1 = stiction * P, to rounding
    ball.bodies[1].velocity.z = -3e-4;
    checkNear(measure(&ball), 3e-4, 1e-15);
    ball.point.isClosed = false; // it has not arrived
    checkNear(measure(&ball), 0.0, 1e-15);
    ball = makeBall();
    ball.bodies[1].velocity = rbMakeVec3(3e-4, 4e-4, 0.0);
    checkNear(measure(&ball), 5e-4, 1e-15);
    ball.bodies[1].spin = rbMakeVec3(-4e-3, 3e-3, 0.0); // it rolls: w x arm = -v
    checkNear(measure(&ball), 0.0, 1e-15);
    ball.bodies[1].spin = RB_VEC3_ZERO;
    ball.point.isSticking = false; // it slides
    checkNear(measure(&ball), 0.0, 1e-15);
    ball.point.isSticking = true;
    ball.bodies[1].velocity.z = 1.0; // it bounces off
    checkNear(measure(&ball), 0.0, 1e-15);
    ball = makeBall();
    ball.point.impulse[1] = 1.6; // the cone: sqrt(1.6^2 + 0.8^2) - 1
    checkNear(measure(&ball), 0.5 * (sqrt(3.2) - 1.0), 1e-15);
    ball = makeBall();
    ball.point.impulse[0] = -0.1; // it pulls, with friction
    checkNear(measure(&ball), 0.5 * 1.05, 1e-15);
    ball.bodies[1].isFrozen = true;
    checkNear(measure(&ball), 0.0, 1e-15);
}

static void onlyPairsThatCameCloserCount(void** state)
{
    (void)state;
    static const double gaps[6] = {1e-3, -2e-4, -1e-3, 5e-5, -3e-4, 0.0};
    rbContact contacts[6] = {0};
    rbContactPoint points[6] = {0};
    rbContactSet set = {contacts, 6, points, 6};
    for (int i = 0; i < 6; ++i) {
        // pairs 0 1, 0 2 (two manifolds), 1 2, 3 4, 3 5
        static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 2}, {1, 2}, {3, 4}, {3, 5}};
        contacts[i] = (rbContact){.bodyA = pairs[i][0], .bodyB = pairs[i][1], .firstPoint = i};
        contacts[i].pointCount = 1;
        points[i].gap = gaps[i];
    }
    rbContact startContacts[6];
    rbContactPoint startPoints[6];
    memcpy(startContacts, contacts, sizeof contacts);
    memcpy(startPoints, points, sizeof points);
    rbContactSet start = {startContacts, 6, startPoints, 6};
    rbContactSet four = {contacts, 4, points, 4};
    checkNear(rbMeasureOverlap(&set, &start), 0.0, 0.0);
    points[2].gap = -5e-4; // deep, but separating
    points[4].gap = -3e-4;
    checkNear(rbMeasureOverlap(&set, &start), 0.0, 0.0);
    points[4].gap = -3.1e-4;
    checkNear(rbMeasureOverlap(&set, &start), 3.1e-4, 0.0);
    checkNear(rbMeasureOverlap(&four, &start), 0.0, 0.0);
    points[1].gap = -1.2e-3; // the other manifold of a pair that had 1e-3
    checkNear(rbMeasureOverlap(&set, &start), 1.2e-3, 0.0);
    contacts[5].bodyB = 6; // was not near at the start
    points[5].gap = -2e-3;
    checkNear(rbMeasureOverlap(&set, &start), 2e-3, 0.0);
}

RB_TEST_GROUP(test_step_measure, cmocka_unit_test(everyDefectOfSpeedsIsSeen),
              cmocka_unit_test(onlyPairsThatCameCloserCount));
