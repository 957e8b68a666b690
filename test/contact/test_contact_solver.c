// The contact solver: stacks, warm start, shock propagation, joints, pyramids, bad input.
#include "rb_test.h"
#include "solver_scene.h"

#include <math.h>

static SolverScene scene;

static const rbVec3 down = {0.0, 0.0, -9.81};

static rbContactSolver* startSolver(const rbContactSettings* settings)
{
    rbContactSolver* solver = rbCreateContactSolver(settings);
    rbContactRun run = sceneRun(&scene, 1.0 / 60.0);
    rbContactSolver_Prepare(solver, &run);
    return solver;
}

static double fastest(void)
{
    double most = 0.0;
    for (int i = 1; i < scene.bodyCount; ++i) {
        double speed = rbLength(scene.bodies[i].velocity);
        most = speed > most ? speed : most;
    }
    return most;
}

// B-75, B-93: the load of 20 cubes is found from a cold start, then kept: one sweep per stage.
static void columnRestsWithOneSweep(void** state)
{
    (void)state;
    beginScene(&scene);
    addColumn(&scene, 20, 0.5);
    rbContactSettings settings = sceneSettings();
    rbContactSolver* solver = startSolver(&settings);
    stepScene(&scene, solver, down, 1.0 / 60.0);
    assert_true(scene.positions.isMet);
    assert_true(scene.positions.sweeps > 1);
    assert_true(scene.positions.sweeps < 100);
    for (int i = 0; i < 60; ++i) {
        stepScene(&scene, solver, down, 1.0 / 60.0);
    }
    assert_int_equal(scene.positions.sweeps, 1);
    checkBelow(fastest(), 1e-6);
    double load = 0.0;
    for (int i = 0; i < 4; ++i) {
        load += scene.points[i].impulse[0];
        checkBelow(fabs(scene.points[i].gap), 1e-6);
    }
    checkRelative(load, 20.0 * 9.81 / 60.0, 1e-6);
    rbDestroyContactSolver(solver);
}

// B-93: with the same problem in every step both stages need one sweep, without warm start many.
static void warmStartNeedsOneSweep(void** state)
{
    (void)state;
    for (int isWarm = 0; isWarm < 2; ++isWarm) {
        beginScene(&scene);
        addColumn(&scene, 20, 0.5);
        rbContactSettings settings = sceneSettings();
        settings.isWarm = isWarm != 0;
        rbContactSolver* solver = startSolver(&settings);
        rbContactRun run = sceneRun(&scene, 1.0 / 60.0);
        rbContactSolved stages[2];
        for (int i = 0; i < 30; ++i) {
            kickScene(&scene, down, 1.0 / 120.0);
            rbContactSolver_BeginStep(solver, &run, settings.isWarm);
            stages[0] = rbContactSolver_Solve(solver, &run, false);
            kickScene(&scene, down, 1.0 / 120.0);
            stages[1] = rbContactSolver_Solve(solver, &run, true);
        }
        for (int i = 0; i < 2; ++i) {
            assert_true(stages[i].isMet);
            assert_true(isWarm != 0 ? stages[i].sweeps == 1 : stages[i].sweeps > 5);
        }
        rbDestroyContactSolver(solver);
    }
}

// B-75: heavy on light, solved to the tolerance and not by shock propagation.
static void heavyStandsOnLight(void** state)
{
    (void)state;
    static const double masses[] = {1e3, 1e6};
    for (int m = 0; m < 2; ++m) {
        double mass = masses[m];
        beginScene(&scene);
        addColumn(&scene, 2, 0.5);
        scene.bodies[2].invMass /= mass;
        scene.bodies[2].invInertia = (rbSym3){6.0 / mass, 6.0 / mass, 6.0 / mass, 0.0, 0.0, 0.0};
        rbContactSettings settings = sceneSettings();
        rbContactSolver* solver = startSolver(&settings);
        for (int i = 0; i < 60; ++i) {
            stepScene(&scene, solver, down, 1.0 / 60.0);
            assert_true(scene.positions.isMet);
            assert_false(scene.positions.isShocked);
        }
        checkBelow(fastest(), 1e-6);
        checkBelow(fabs(scene.places[2].z - 1.5), 2e-6);
        rbDestroyContactSolver(solver);
    }
}

// A column that shock propagation holds after 10 sweeps from a cold start.
static rbContactSolver* startShock(int count)
{
    beginScene(&scene);
    addColumn(&scene, count, 0.5);
    rbContactSettings settings = sceneSettings();
    settings.isWarm = false;
    settings.shockAfter = 10;
    return startSolver(&settings);
}

// B-78: 10 sweeps, then level by level from below: every level converges, bodies are free again.
static void shockPropagationHoldsAColumn(void** state)
{
    (void)state;
    rbContactSolver* solver = startShock(20);
    rbContactRun run = sceneRun(&scene, 1.0 / 60.0);
    kickScene(&scene, down, 1.0 / 120.0);
    rbContactSolver_BeginStep(solver, &run, false);
    rbContactSolved solved = rbContactSolver_Solve(solver, &run, false);
    assert_true(solved.isShocked);
    assert_true(solved.isMet);
    for (int i = 0; i < scene.bodyCount; ++i) {
        assert_false(scene.bodies[i].isFrozen);
        checkBelow(-scene.bodies[i].velocity.z / 60.0, (i + 1) * sceneSettings().tolerance);
    }
    // the same rows serve the next stage unchanged
    kickScene(&scene, down, 1.0 / 120.0);
    solved = rbContactSolver_Solve(solver, &run, true);
    assert_true(solved.isMet);
    checkBelow(fastest(), 21.0 * 1e-7);
    for (int i = 0; i < 300; ++i) {
        stepScene(&scene, solver, down, 1.0 / 60.0);
    }
    checkNear(scene.places[20].z, 19.5, 1e-4);
    rbDestroyContactSolver(solver);
}

// Moving bodies are not frozen: the lowest of ten cubes is struck upward, and they share its
// momentum. If it were frozen, each of them would leave with its whole speed.
static void shockPropagationSharesABlowFromBelow(void** state)
{
    (void)state;
    rbContactSolver* solver = startShock(10);
    rbContactRun run = sceneRun(&scene, 1.0 / 60.0);
    scene.bodies[1].velocity.z = 1.0;
    rbContactSolved solved = rbContactSolver_Solve(solver, &run, true);
    assert_true(solved.isShocked);
    double momentum = 0.0;
    for (int i = 1; i <= 10; ++i) {
        momentum += scene.bodies[i].velocity.z;
        checkNear(scene.bodies[i].velocity.z, 0.1, 0.05); // 0.1 if it converges
    }
    checkNear(momentum, 1.0, 1e-12);
    rbDestroyContactSolver(solver);
}

// Rest is relative to the ground: a platform that moves and turns carries a column like a static
// one.
static void shockPropagationRestsOnWhatMoves(void** state)
{
    (void)state;
    rbContactSolver* solver = startShock(20);
    rbContactRun run = sceneRun(&scene, 1.0 / 60.0);
    rbVec3 spin = rbMakeVec3(0.1, -0.05, 0.2);
    for (int i = 0; i < scene.bodyCount; ++i) {
        scene.bodies[i].spin = spin;
        scene.bodies[i].velocity =
            rbAdd(rbMakeVec3(3.0, -2.0, 1.0), rbCross(spin, scene.places[i]));
    }
    kickScene(&scene, down, 1.0 / 60.0);
    rbContactSolved solved = rbContactSolver_Solve(solver, &run, true);
    assert_true(solved.isShocked);
    assert_true(solved.isMet);
    for (int i = 1; i < scene.bodyCount; ++i) {
        rbVec3 wanted = rbAdd(rbMakeVec3(3.0, -2.0, 1.0), rbCross(spin, scene.places[i]));
        checkBelow(rbDistance(scene.bodies[i].velocity, wanted), 1e-6);
    }
    rbDestroyContactSolver(solver);
}

typedef struct Joint {
    SolverScene* scene;
    int calls;
} Joint;

// Ties the velocities of bodies 1 and 2 along x together.
static bool tie(void* context, double* error)
{
    Joint* joint = context;
    rbContactBody* bodies = joint->scene->bodies;
    double u = bodies[2].velocity.x - bodies[1].velocity.x;
    double p = -u / (bodies[1].invMass + bodies[2].invMass);
    bodies[1].velocity.x -= p * bodies[1].invMass;
    bodies[2].velocity.x += p * bodies[2].invMass;
    joint->calls += 1;
    *error = fabs(u);
    return fabs(u) <= 1e-10;
}

// B-80: two cubes side by side, one on ice, one with friction, tied together: both decelerate at
// half of mu g. The stage ends when the joint has converged too.
static void jointsTakePartInTheSweeps(void** state)
{
    (void)state;
    beginScene(&scene);
    for (int i = 0; i < 2; ++i) {
        rbVec3 place = rbMakeVec3(0.0, 2.0 * i, 0.5);
        int cube = addCube(&scene, place, 1.0, 1.0);
        (void)addContact(&scene, 0, cube, i == 0 ? 0.4 : 0.0, 1);
        addFace(&scene, rbMakeVec3(0.0, 2.0 * i, 0.0), 0.5);
        scene.bodies[cube].velocity.x = 3.0;
    }
    rbContactSettings settings = sceneSettings();
    rbContactSolver* solver = startSolver(&settings);
    Joint joint = {&scene, 0};
    rbContactRun run = sceneRun(&scene, 0.01);
    run.sweepJoints = tie;
    run.context = &joint;
    kickScene(&scene, down, 0.01);
    rbContactSolved solved = rbContactSolver_Solve(solver, &run, true);
    assert_true(solved.isMet);
    assert_int_equal(joint.calls, solved.sweeps);
    for (int i = 1; i <= 2; ++i) {
        checkNear(scene.bodies[i].velocity.x, 3.0 - 0.5 * 0.4 * 9.81 * 0.01, 1e-8);
        checkNear(scene.bodies[i].velocity.z, 0.0, 1e-8);
    }
    rbDestroyContactSolver(solver);
}

static rbVec3 slideOnPyramid(rbFrictionCone cone, int facets, double angle)
{
    beginScene(&scene);
    int ball = addBody(&scene, rbMakeVec3(0.0, 0.0, 0.1), 1.0, rbMakeVec3(1e9, 1e9, 1e9));
    (void)addContact(&scene, 0, ball, 0.5, 1);
    (void)addPoint(&scene, RB_VEC3_ZERO);
    scene.bodies[ball].velocity = rbMakeVec3(3.0 * cos(angle), 3.0 * sin(angle), -1.0);
    rbContactSettings settings = sceneSettings();
    settings.cone = cone;
    settings.facets = facets;
    rbContactSolver* solver = startSolver(&settings);
    rbContactRun run = sceneRun(&scene, 0.01);
    assert_true(rbContactSolver_Solve(solver, &run, true).isMet);
    rbDestroyContactSolver(solver);
    return rbMakeVec3(scene.points[0].impulse[1], scene.points[0].impulse[2], 0.0);
}

// B-76: in a pyramid of n facets the impulse is the one that brakes most: a corner, the first of
// which lies along the first tangent, or a point of a side perpendicular to the sliding; the error
// falls as 1/n.
static void pyramidApproachesTheCone(void** state)
{
    (void)state;
    double angle = 0.3;
    rbVec3 exact = slideOnPyramid(RB_CONE_EXACT, 0, angle);
    checkNear(exact.x, -0.5 * cos(angle), 1e-9);
    checkNear(exact.y, -0.5 * sin(angle), 1e-9);
    rbVec3 four = slideOnPyramid(RB_CONE_PYRAMID, 4, angle);
    checkNear(four.x, -0.5, 1e-9);
    checkNear(four.y, 0.0, 1e-9);
    for (int facets = 8; facets <= 64; facets *= 2) {
        rbVec3 t = slideOnPyramid(RB_CONE_PYRAMID, facets, angle);
        checkBelow(rbLength(t), 0.5 + 1e-9);
        checkBelow(0.5 * cos(RB_PI / facets), rbLength(t) + 1e-9);
        checkBelow(rbDistance(t, exact), 0.5 * RB_PI / facets + 1e-9);
    }
}

// Stiction above friction: a push between the two holds a resting block.
static void stictionHoldsMoreThanFriction(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        beginScene(&scene);
        addColumn(&scene, 1, 0.3);
        scene.contacts[0].stiction = 0.6;
        rbContactSettings settings = sceneSettings();
        rbContactSolver* solver = startSolver(&settings);
        rbVec3 pull = rbMakeVec3(i == 0 ? 5.0 : 6.5, 0.0, -9.81);
        for (int k = 0; k < 60; ++k) {
            stepScene(&scene, solver, pull, 1.0 / 60.0);
        }
        double truth = i == 0 ? 0.0 : 6.5 - 0.3 * 9.81;
        checkNear(scene.bodies[1].velocity.x, truth, 1e-6);
        rbDestroyContactSolver(solver);
    }
}

// Overlap is removed no faster than allowed, and leaves no speed.
static void overlapIsPartedSlowly(void** state)
{
    (void)state;
    beginScene(&scene);
    addColumn(&scene, 1, 0.5);
    for (int i = 0; i < 4; ++i) {
        scene.points[i].gap = -0.05;
    }
    rbContactSettings settings = sceneSettings();
    settings.partSpeed = 1.0;
    rbContactSolver* solver = startSolver(&settings);
    for (int i = 1; i <= 5; ++i) {
        stepScene(&scene, solver, down, 0.01);
        checkNear(scene.points[0].gap, -0.05 + 0.01 * i, 1e-6);
        checkBelow(fastest(), 1e-8);
    }
    rbDestroyContactSolver(solver);
}

// A gap that would close within the step is closed at its end; one that would not is unchanged.
static void gapsCloseAndNoMore(void** state)
{
    (void)state;
    beginScene(&scene);
    addColumn(&scene, 2, 0.0);
    for (int i = 0; i < 4; ++i) {
        scene.points[i].gap = 0.01;
        scene.points[4 + i].gap = 0.5;
    }
    scene.bodies[1].velocity.z = -2.0;
    scene.bodies[2].velocity.z = -3.0;
    rbContactSettings settings = sceneSettings();
    rbContactSolver* solver = startSolver(&settings);
    rbContactRun run = sceneRun(&scene, 0.01);
    rbContactSolver_BeginStep(solver, &run, true);
    assert_true(rbContactSolver_Solve(solver, &run, false).isMet);
    checkNear(scene.bodies[1].velocity.z, -1.0, 1e-4);
    checkNear(scene.bodies[2].velocity.z, -3.0, 0.0);
    assert_true(scene.points[4].impulse[0] == 0.0);
    rbDestroyContactSolver(solver);
}

// Points that are not closed keep their impulses in the velocity stage and take no part in it.
static void openPointsTakeNoPartInTheVelocityStage(void** state)
{
    (void)state;
    beginScene(&scene);
    addColumn(&scene, 1, 0.5);
    scene.points[1].isClosed = false;
    scene.points[1].impulse[0] = 7.0;
    scene.bodies[1].velocity.z = -1.0;
    rbContactSettings settings = sceneSettings();
    settings.isWarm = false;
    rbContactSolver* solver = startSolver(&settings);
    rbContactRun run = sceneRun(&scene, 0.01);
    assert_true(rbContactSolver_Solve(solver, &run, true).isMet);
    assert_true(scene.points[1].impulse[0] == 7.0);
    rbContactPoint* open = &scene.points[1];
    assert_true(fabs(rbContact_RelativeVelocity(scene.bodies, &scene.contacts[0], open).z) < 10.0);
    for (int i = 0; i < 4; ++i) {
        if (i != 1) {
            rbVec3 u =
                rbContact_RelativeVelocity(scene.bodies, &scene.contacts[0], &scene.points[i]);
            checkBelow(-u.z, 1e-8);
        }
    }
    rbDestroyContactSolver(solver);
}

// Islands are packed one after the other and do not affect each other; frozen bodies stay.
static void islandsAndFrozenBodiesStayApart(void** state)
{
    (void)state;
    beginScene(&scene);
    for (int i = 0; i < 3; ++i) {
        rbVec3 place = rbMakeVec3(3.0 * i, 0.0, 0.5);
        int cube = addCube(&scene, place, 1.0 + i, 1.0);
        (void)addContact(&scene, 0, cube, 0.5, 1);
        addFace(&scene, rbMakeVec3(3.0 * i, 0.0, 0.0), 0.5);
    }
    rbContactSettings settings = sceneSettings();
    rbContactSolver* solver = startSolver(&settings);
    static const int orders[3] = {2, 0, 1};
    for (int step = 0; step < 3; ++step) {
        rbContactRun all = sceneRun(&scene, 0.01);
        // woken between two stages of the same rows
        scene.bodies[3].isFrozen = step == 1;
        kickScene(&scene, down, 0.01);
        for (int i = 0; i < 3; ++i) {
            rbContactRun run = all;
            run.order = &orders[i];
            run.orderCount = 1;
            assert_true(rbContactSolver_Solve(solver, &run, true).isMet);
        }
        for (int i = 1; i <= 3; ++i) {
            double truth = i == 3 && step >= 1 ? -9.81 * 0.01 : 0.0;
            truth = step == 2 ? 0.0 : truth;
            checkNear(scene.bodies[i].velocity.z, truth, 1e-8);
        }
    }
    rbDestroyContactSolver(solver);
}

// Nothing to do, points without a size, friction of 1000, masses from 1e-12 to 1e12: bounded work
// and finite results. Non-finite values end a stage immediately.
static void badInputIsBounded(void** state)
{
    (void)state;
    rbContactSettings settings = sceneSettings();
    settings.sweepsMax = 50;
    beginScene(&scene);
    rbContactSolver* solver = startSolver(&settings);
    rbContactRun run = sceneRun(&scene, 0.01);
    assert_true(rbContactSolver_Solve(solver, &run, true).isMet);
    addColumn(&scene, 6, 1000.0);
    for (int i = 1; i <= 6; ++i) {
        double factor = (i & 1) != 0 ? 1e12 : 1e-12;
        rbContactBody* body = &scene.bodies[i];
        body->invMass *= factor;
        body->invInertia = (rbSym3){6.0 * factor, 6.0 * factor, 6.0 * factor, 0.0, 0.0, 0.0};
    }
    for (int i = 0; i < 4; ++i) {
        scene.points[4 + i].armA = RB_VEC3_ZERO;
        scene.points[4 + i].armB = RB_VEC3_ZERO;
    }
    rbContactSolver_Prepare(solver, &run);
    for (int i = 0; i < 20; ++i) {
        stepScene(&scene, solver, down, 0.01);
        assert_true(scene.positions.sweeps <= 50 && scene.velocities.sweeps <= 50);
        for (int k = 1; k <= 6; ++k) {
            assert_true(rbIsFinite3(scene.bodies[k].velocity));
            assert_true(rbIsFinite3(scene.bodies[k].spin));
        }
    }
    scene.bodies[1].velocity.x = NAN;
    assert_false(rbContactSolver_Solve(solver, &run, true).isMet);
    rbDestroyContactSolver(solver);
    rbDestroyContactSolver(NULL);
}

RB_TEST_GROUP(test_contact_solver, cmocka_unit_test(columnRestsWithOneSweep),
              cmocka_unit_test(warmStartNeedsOneSweep), cmocka_unit_test(heavyStandsOnLight),
              cmocka_unit_test(shockPropagationHoldsAColumn),
              cmocka_unit_test(shockPropagationSharesABlowFromBelow),
              cmocka_unit_test(shockPropagationRestsOnWhatMoves),
              cmocka_unit_test(jointsTakePartInTheSweeps),
              cmocka_unit_test(pyramidApproachesTheCone),
              cmocka_unit_test(stictionHoldsMoreThanFriction),
              cmocka_unit_test(overlapIsPartedSlowly), cmocka_unit_test(gapsCloseAndNoMore),
              cmocka_unit_test(openPointsTakeNoPartInTheVelocityStage),
              cmocka_unit_test(islandsAndFrozenBodiesStayApart),
              cmocka_unit_test(badInputIsBounded));
