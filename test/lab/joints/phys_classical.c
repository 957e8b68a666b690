// The comparison methods against closed forms, orders and conservation.
#include "base/math/elliptic.h"
#include "lab/math/axis_angle.h"
#include "mech_scenes.h"
#include "rb_test.h"

#include <math.h>
#include <stdio.h>

#define GRAVITY 9.81

static MechScene* createDown(void)
{
    return createScene(rbMakeVec3(0.0, 0.0, -GRAVITY));
}

// A body on a hinge about y at the origin, its center 0.7 m away, released at an angle from below.
static MechScene* createPendulum(double angle, double* period)
{
    const double mass = 2.0;
    const double arm = 0.7;
    const rbVec3 moments = {0.11, 0.23, 0.31};
    MechScene* scene = createDown();
    rbQuat turn = rbQuat_FromAxisAngle(rbMakeVec3(0, 1, 0), angle);
    int body = addBody(scene, mass, moments, rbRotate(turn, rbMakeVec3(0, 0, -arm)), turn);
    addJoint(scene, RB_JOINT_HINGE, 0, body, RB_VEC3_ZERO, rbMakeVec3(0, 1, 0));
    // T = 4 K(m) sqrt(I/(m g d)), m = sin^2(angle/2), I about the hinge.
    double inertia = moments.y + mass * arm * arm;
    double cosine = cos(0.5 * angle);
    *period = 4.0 * rbEllipticK(cosine * cosine) * sqrt(inertia / (mass * GRAVITY * arm));
    return scene;
}

// After half a period the pendulum is at rest at the opposite angle, after a quarter it is below.
// B-48, B-49, B-50
static void pendulumFollowsTheEllipticPeriod(void** state)
{
    (void)state;
    static const rbClassicalMethod methods[3] = {RB_CLASSICAL_MULTIPLIERS, RB_CLASSICAL_BARAFF,
                                                 RB_CLASSICAL_REDUCED};
    for (int k = 0; k < 3; ++k) {
        double period = 0.0;
        MechScene* scene = createPendulum(2.0, &period);
        rbStepSettings settings = makeSettings(4);
        runScene(scene, methods[k], &settings, 0.5 * period, 2000);
        rbVec3 end = scene->bodies[1].pose.position;
        checkNear(end.x, 0.7 * sin(2.0), 1e-10);
        checkNear(end.y, 0.0, 1e-12);
        checkNear(end.z, -0.7 * cos(2.0), 1e-10);
        checkBelow(rbLength(scene->bodies[1].velocity), 1e-10);
        runScene(scene, methods[k], &settings, 0.25 * period, 1000);
        checkNear(scene->bodies[1].pose.position.x, 0.0, 1e-10);
        checkNear(scene->bodies[1].pose.position.z, -0.7, 1e-10);
        destroyScene(scene);
    }
}

// A symmetric top in steady precession: I Omega^2 cos(theta) - C w3 Omega + m g l = 0, I about the
// point, C about the axis, w3 the spin along the axis.
// B-48, B-49
static void heavyTopPrecessesSteadily(void** state)
{
    (void)state;
    static const rbClassicalMethod methods[2] = {RB_CLASSICAL_MULTIPLIERS, RB_CLASSICAL_REDUCED};
    const double mass = 1.5;
    const double arm = 0.3;
    const double theta = 0.6;
    const double precession = 3.0;
    const rbVec3 moments = {0.05, 0.05, 0.02};
    double inertia = moments.x + mass * arm * arm;
    double w3 = (inertia * precession * precession * cos(theta) + mass * GRAVITY * arm) /
                (moments.z * precession);
    for (int k = 0; k < 2; ++k) {
        MechScene* scene = createDown();
        rbQuat turn = rbQuat_FromAxisAngle(rbMakeVec3(0, 1, 0), theta);
        rbVec3 axis = rbRotate(turn, rbMakeVec3(0, 0, 1));
        int body = addBody(scene, mass, moments, rbScale(arm, axis), turn);
        addJoint(scene, RB_JOINT_BALL, 0, body, RB_VEC3_ZERO, axis);
        // w = Omega z + (w3 - Omega cos(theta)) axis.
        rbVec3 w = rbAddScaled(rbMakeVec3(0, 0, precession), w3 - precession * cos(theta), axis);
        setSpin(scene, body, w);
        scene->bodies[body].velocity = rbCross(w, rbScale(arm, axis));
        rbStepSettings settings = makeSettings(8);
        runScene(scene, methods[k], &settings, 1.0, 1000);
        rbVec3 end = scene->bodies[body].pose.position;
        checkNear(end.x, arm * sin(theta) * cos(precession), 1e-10);
        checkNear(end.y, arm * sin(theta) * sin(precession), 1e-10);
        checkNear(end.z, arm * cos(theta), 1e-10);
        destroyScene(scene);
    }
}

static double getEnergyError(rbClassicalMethod method, int order, int steps)
{
    rbRandom random = {7};
    MechScene* scene = createDown();
    buildRandomTree(scene, &random, 4, 2, true);
    stirScene(scene, &random, 2.0);
    double before = getEnergy(scene);
    rbStepSettings settings = makeSettings(order);
    runScene(scene, method, &settings, 0.5, steps);
    double error = fabs(getEnergy(scene) - before);
    destroyScene(scene);
    return error;
}

// Halving the step divides the error by 2^order: within half an order.
// B-48, B-49
static void energyErrorsFallWithTheOrder(void** state)
{
    (void)state;
    static const struct {
        rbClassicalMethod method;
        int order;
        int steps;
    } cases[] = {
        {RB_CLASSICAL_MULTIPLIERS, 4, 250},
        {RB_CLASSICAL_BARAFF, 4, 250},
        {RB_CLASSICAL_REDUCED, 4, 250},
        {RB_CLASSICAL_REDUCED, 8, 25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        double coarse = getEnergyError(cases[i].method, cases[i].order, cases[i].steps);
        double fine = getEnergyError(cases[i].method, cases[i].order, 2 * cases[i].steps);
        double order = log2(coarse / fine);
        printf("    %s, order %d: energy errors %.3g, %.3g J: order %.2f\n",
               rbClassicalOps_Get(cases[i].method)->name, cases[i].order, coarse, fine, order);
        assert_true(order > cases[i].order - 0.5);
        assert_true(coarse > 1e-12);
    }
}

// Without stabilization C'' = 0 lets errors of the joints grow with time; with it they stay.
// B-51
static void baumgarteStopsTheDrift(void** state)
{
    (void)state;
    double errors[2][2];
    for (int isStable = 0; isStable < 2; ++isStable) {
        MechScene* scene = createDown();
        buildChain(scene, RB_JOINT_BALL, 4);
        rbStepSettings settings = makeSettings(4);
        rbClassicalSettings classical = rbDefaultClassicalSettings();
        classical.baumgarteAlpha = isStable ? 50.0 : 0.0;
        classical.baumgarteBeta = isStable ? 50.0 : 0.0;
        rbStepSettings_SetClassical(&settings, &classical);
        for (int k = 0; k < 2; ++k) {
            runScene(scene, RB_CLASSICAL_MULTIPLIERS, &settings, k == 0 ? 1.0 : 9.0,
                     k == 0 ? 200 : 1800);
            errors[isStable][k] = getLargestError(scene);
        }
        destroyScene(scene);
    }
    printf("    largest error at 1 and 10 s: %.3g, %.3g m; with Baumgarte %.3g, %.3g m\n",
           errors[0][0], errors[0][1], errors[1][0], errors[1][1]);
    assert_true(errors[0][1] > 5.0 * errors[0][0]);
    assert_true(errors[1][1] < 0.02 * errors[0][1]);
}

// The stabilized error of a joint obeys C'' = -2 alpha C' - beta^2 C, whatever the weight: a body
// that starts apart from its pivot at its center comes back like the damped oscillator,
// C = C0 exp(-alpha t) (cos(w t) + alpha/w sin(w t)), w^2 = beta^2 - alpha^2. Both terms of the
// stabilization are in it.
// B-51
static void baumgarteErrorsAreDampedOscillators(void** state)
{
    (void)state;
    static const rbClassicalMethod methods[2] = {RB_CLASSICAL_MULTIPLIERS, RB_CLASSICAL_BARAFF};
    static const double alphas[2] = {0.0, 4.0};
    const rbVec3 start = {0.02, -0.03, 0.05};
    const double beta = 7.0;
    const double time = 0.6;
    for (int k = 0; k < 4; ++k) {
        double alpha = alphas[k / 2];
        MechScene* scene = createDown();
        int body = addBody(scene, 2.0, rbMakeVec3(0.1, 0.2, 0.3), RB_VEC3_ZERO, RB_QUAT_IDENTITY);
        addJoint(scene, RB_JOINT_BALL, 0, body, RB_VEC3_ZERO, rbMakeVec3(0, 0, 1));
        scene->bodies[body].pose.position = start;
        rbStepSettings settings = makeSettings(4);
        rbClassicalSettings classical = rbDefaultClassicalSettings();
        classical.baumgarteAlpha = alpha;
        classical.baumgarteBeta = beta;
        rbStepSettings_SetClassical(&settings, &classical);
        runScene(scene, methods[k % 2], &settings, time, 600);
        double w = sqrt(beta * beta - alpha * alpha);
        double factor = exp(-alpha * time) * (cos(w * time) + alpha / w * sin(w * time));
        checkBelow(rbDistance(scene->bodies[body].pose.position, rbScale(factor, start)), 1e-9);
        destroyScene(scene);
    }
}

// The gap of a hanging body under penalty is g/Omega^2 (alpha Omega^2 gap = weight, alpha = mass),
// and the motion of a pendulum tends to that of the joint like 1/Omega^2.
// B-47
static void penaltyTendsToTheJoint(void** state)
{
    (void)state;
    double deviations[3];
    for (int k = 0; k < 3; ++k) {
        rbStepSettings settings = makeSettings(4);
        rbClassicalSettings classical = rbDefaultClassicalSettings();
        classical.penaltyFrequency = 100.0 * (1 << k);
        rbStepSettings_SetClassical(&settings, &classical);
        MechScene* hanging = createDown();
        addBody(hanging, 3.0, rbMakeVec3(0.1, 0.1, 0.1), rbMakeVec3(0, 0, -1), RB_QUAT_IDENTITY);
        addJoint(hanging, RB_JOINT_BALL, 0, 1, RB_VEC3_ZERO, rbMakeVec3(0, 0, 1));
        runScene(hanging, RB_CLASSICAL_PENALTY, &settings, 0.5, 1000);
        double omega = classical.penaltyFrequency;
        checkRelative(getLargestError(hanging), GRAVITY / (omega * omega), 1e-9);
        destroyScene(hanging);
        double period = 0.0;
        MechScene* pendulum = createPendulum(2.0, &period);
        runScene(pendulum, RB_CLASSICAL_PENALTY, &settings, 0.5 * period, 4000);
        rbVec3 end = {0.7 * sin(2.0), 0.0, -0.7 * cos(2.0)};
        deviations[k] = rbDistance(pendulum->bodies[1].pose.position, end);
        destroyScene(pendulum);
    }
    printf("    pendulum after half a period, Omega 100, 200, 400: off by %.3g, %.3g, %.3g m\n",
           deviations[0], deviations[1], deviations[2]);
    assert_true(deviations[0] < 0.01);
    assert_true(deviations[1] < 0.6 * deviations[0]);
    assert_true(deviations[2] < 0.6 * deviations[1]);
}

// Forces of joints are internal: a free tree keeps its momenta, by penalty and multipliers to
// rounding (RK4 keeps linear invariants; r x p is quadratic, hence the smaller step), in reduced
// coordinates to the error of the steps.
// B-47, B-48, B-49, B-50
static void freeTreesKeepTheirMomenta(void** state)
{
    (void)state;
    static const rbClassicalMethod methods[4] = {RB_CLASSICAL_PENALTY, RB_CLASSICAL_MULTIPLIERS,
                                                 RB_CLASSICAL_BARAFF, RB_CLASSICAL_REDUCED};
    for (int k = 0; k < 4; ++k) {
        rbRandom random = {rbTest_Seed(61)};
        MechScene* scene = createScene(RB_VEC3_ZERO);
        buildRandomTree(scene, &random, 6, 4, false);
        stirScene(scene, &random, 1.0);
        rbVec3 p0;
        rbVec3 l0;
        rbVec3 p1;
        rbVec3 l1;
        getMomentum(scene, &p0, &l0);
        rbStepSettings settings = makeSettings(8);
        runScene(scene, methods[k], &settings, 0.5, 500);
        getMomentum(scene, &p1, &l1);
        checkBelow(rbDistance(p0, p1), 1e-9);
        checkBelow(rbDistance(l0, l1), 1e-9);
        destroyScene(scene);
    }
}

// A pivot with constant acceleration is a gravity field g - a: the pendulum under the car is the
// pendulum at rest in the other field.
// B-48, B-49
static void movedPivotIsATiltedField(void** state)
{
    (void)state;
    static const rbClassicalMethod methods[3] = {RB_CLASSICAL_MULTIPLIERS, RB_CLASSICAL_BARAFF,
                                                 RB_CLASSICAL_REDUCED};
    const rbVec3 acceleration = {3.0, 1.0, 0.5};
    for (int k = 0; k < 3; ++k) {
        MechScene* scenes[2];
        for (int isMoved = 0; isMoved < 2; ++isMoved) {
            rbVec3 gravity = rbMakeVec3(0.0, 0.0, -GRAVITY);
            MechScene* scene = createScene(isMoved ? gravity : rbSub(gravity, acceleration));
            scene->carAcceleration = isMoved ? acceleration : RB_VEC3_ZERO;
            addCar(scene);
            for (int i = 0; i < 2; ++i) {
                int body = addBody(scene, 1.0, rbMakeVec3(0.01, 0.08, 0.09),
                                   rbMakeVec3(i + 0.5, 0, 0), RB_QUAT_IDENTITY);
                addJoint(scene, RB_JOINT_BALL, body - 1, body, rbMakeVec3(i, 0, 0),
                         rbMakeVec3(0, 1, 0));
            }
            rbStepSettings settings = makeSettings(8);
            runScene(scene, methods[k], &settings, 1.0, 500);
            scenes[isMoved] = scene;
        }
        for (int i = 2; i < 4; ++i) {
            rbVec3 still = scenes[0]->bodies[i].pose.position;
            rbVec3 moved = rbSub(scenes[1]->bodies[i].pose.position, rbScale(0.5, acceleration));
            checkBelow(rbDistance(still, moved), 1e-9);
        }
        destroyScene(scenes[0]);
        destroyScene(scenes[1]);
    }
}

// A slider on a spring oscillates like cos(sqrt(k/m) t); with damping it follows the damped
// oscillation.
// B-48, B-49
static void springsSwingSliders(void** state)
{
    (void)state;
    static const rbClassicalMethod methods[3] = {RB_CLASSICAL_MULTIPLIERS, RB_CLASSICAL_BARAFF,
                                                 RB_CLASSICAL_REDUCED};
    for (int k = 0; k < 3; ++k) {
        MechScene* scene = createScene(RB_VEC3_ZERO);
        int body =
            addBody(scene, 2.0, rbMakeVec3(0.1, 0.2, 0.3), rbMakeVec3(0.5, 0, 0), RB_QUAT_IDENTITY);
        int rail = addJoint(scene, RB_JOINT_PRISMATIC, 0, body, rbMakeVec3(0.5, 0, 0),
                            rbMakeVec3(1, 0, 0));
        int spring = addFreedom(scene, rail, RB_ROW_SPRING);
        scene->blocks[spring].stiffness = 50.0;
        scene->blocks[spring].damping = 2.0;
        scene->blocks[spring].rest = -0.25;
        rbStepSettings settings = makeSettings(8);
        runScene(scene, methods[k], &settings, 1.0, 500);
        // m x'' + d x' + k (x - rest) = 0 from rest at x = 0.
        double decay = 2.0 / (2.0 * 2.0);
        double omega = sqrt(50.0 / 2.0 - decay * decay);
        double wave = cos(omega) + decay / omega * sin(omega);
        checkNear(scene->bodies[body].pose.position.x - 0.5, -0.25 + 0.25 * exp(-decay) * wave,
                  1e-11);
        destroyScene(scene);
    }
}

// A wheel brakes under dry friction with limit/I, and a motor without a limit holds its speed.
// B-47, B-48, B-49
static void travelRowsBrakeAndDrive(void** state)
{
    (void)state;
    static const rbClassicalMethod methods[4] = {RB_CLASSICAL_PENALTY, RB_CLASSICAL_MULTIPLIERS,
                                                 RB_CLASSICAL_BARAFF, RB_CLASSICAL_REDUCED};
    for (int k = 0; k < 4; ++k) {
        for (int isDriven = 0; isDriven < 2; ++isDriven) {
            MechScene* scene = createScene(RB_VEC3_ZERO);
            int body =
                addBody(scene, 2.0, rbMakeVec3(0.1, 0.2, 0.3), RB_VEC3_ZERO, RB_QUAT_IDENTITY);
            int hinge = addJoint(scene, RB_JOINT_HINGE, 0, body, RB_VEC3_ZERO, rbMakeVec3(0, 0, 1));
            int row = scene->blocks[addFreedom(scene, hinge, RB_ROW_TRAVEL)].firstRow;
            scene->limits[row] = isDriven ? INFINITY : 0.6;
            scene->speeds[row] = isDriven ? 4.0 : 0.0;
            setSpin(scene, body, rbMakeVec3(0, 0, isDriven ? 0.0 : 5.0));
            rbStepSettings settings = makeSettings(4);
            runScene(scene, methods[k], &settings, 1.0, 500);
            checkNear(scene->bodies[body].momentum.z / 0.3, isDriven ? 4.0 : 5.0 - 0.6 / 0.3, 1e-9);
            // Friction ends the motion and does not reverse it.
            runScene(scene, methods[k], &settings, 2.0, 1000);
            checkNear(scene->bodies[body].momentum.z / 0.3, isDriven ? 4.0 : 0.0, 1e-9);
            destroyScene(scene);
        }
    }
}

RB_TEST_GROUP(phys_classical, cmocka_unit_test(pendulumFollowsTheEllipticPeriod),
              cmocka_unit_test(heavyTopPrecessesSteadily),
              cmocka_unit_test(energyErrorsFallWithTheOrder),
              cmocka_unit_test(baumgarteStopsTheDrift),
              cmocka_unit_test(baumgarteErrorsAreDampedOscillators),
              cmocka_unit_test(penaltyTendsToTheJoint), cmocka_unit_test(freeTreesKeepTheirMomenta),
              cmocka_unit_test(movedPivotIsATiltedField), cmocka_unit_test(springsSwingSliders),
              cmocka_unit_test(travelRowsBrakeAndDrive));
