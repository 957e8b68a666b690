// Bodies of a world that freeze when they rest, and wake when they must (B-94); snapshots of piles.
#include "contact_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOWER 3
#define PITCH (0.1 + SHELL)

static rbWorldDef defineCalmWorld(double freezeSpeed)
{
    rbWorldDef def = defineWorld();
    def.step.step = 2e-3;
    def.contact.freezeSpeed = freezeSpeed;
    def.contact.freezeTime = 0.1;
    return def;
}

typedef struct Towers {
    rbWorld* world;
    rbBodyId floor;
    rbBodyId near[TOWER];
    rbBodyId far[TOWER];
} Towers;

static Towers buildTowers(double freezeSpeed)
{
    rbWorldDef def = defineCalmWorld(freezeSpeed);
    Towers towers = {.world = makeWorld(&def)};
    towers.floor = addFloor(towers.world);
    for (int i = 0; i < TOWER; ++i) {
        towers.near[i] = addCube(towers.world, NULL, rbMakeVec3(0.003 * i, 0.0, SHELL + i * PITCH));
    }
    for (int i = 0; i < TOWER; ++i) {
        towers.far[i] = addCube(towers.world, NULL, rbMakeVec3(2.0, 0.0, SHELL + i * PITCH));
    }
    return towers;
}

static int countResting(const rbWorld* world, const rbBodyId ids[TOWER])
{
    int count = 0;
    for (int i = 0; i < TOWER; ++i) {
        count += rbBody_IsResting(world, ids[i]) ? 1 : 0;
    }
    return count;
}

static double differ(const rbWorld* a, const rbWorld* b, const rbBodyId ids[TOWER])
{
    double most = 0.0;
    for (int i = 0; i < TOWER; ++i) {
        rbVec3 d =
            rbSub(rbBody_GetState(a, ids[i]).transform.p, rbBody_GetState(b, ids[i]).transform.p);
        most = fmax(most, rbLength(d));
    }
    return most;
}

// B-94
static void towersThatStandFreezeAndCarryOn(void** state)
{
    (void)state;
    Towers towers = buildTowers(1e-3);
    Towers awake = buildTowers(0.0);
    advance(towers.world, 0.09);
    assert_int_equal(countResting(towers.world, towers.near), 0);
    advance(towers.world, 1.0);
    advance(awake.world, 1.0);
    assert_int_equal(countResting(towers.world, towers.near), TOWER);
    assert_int_equal(countResting(towers.world, towers.far), TOWER);
    assert_false(rbBody_IsResting(towers.world, towers.floor));
    assert_int_equal(rbWorld_GetContactStatistics(towers.world).frozenCount, 2 * TOWER);
    assert_int_equal(countResting(awake.world, awake.near), 0);
    checkBelow(differ(towers.world, awake.world, towers.near), 1e-7);
    // None of them moves at all, and their loads are reported as before.
    rbBodyState before = rbBody_GetState(towers.world, towers.near[1]);
    assert_true(rbLength(before.linearVelocity) == 0.0 && rbLength(before.angularVelocity) == 0.0);
    int64_t sweeps = rbWorld_GetContactStatistics(towers.world).positionSweeps;
    advance(towers.world, 3.0);
    rbBodyState after = rbBody_GetState(towers.world, towers.near[1]);
    assert_memory_equal(&before, &after, sizeof before);
    assert_true(rbWorld_GetContactStatistics(towers.world).positionSweeps == sweeps);
    for (int i = 0; i < TOWER; ++i) {
        rbBodyId other = i > 0 ? towers.near[i - 1] : towers.floor;
        int count = 0;
        double force = rbBody_GetContactForce(towers.world, towers.near[i], other, &count).z;
        checkNear(force, (TOWER - i) * CUBE_MASS * GRAVITY, 1e-3);
        assert_in_range(count, 3, 4);
    }
    checkBelow(fabs(rbWorld_GetLedger(towers.world).energyDrift), 1e-10);
    rbDestroyWorld(towers.world);
    rbDestroyWorld(awake.world);
}

// Time of the first event of a kind and a body; negative: there is none.
static double findEvent(const rbWorld* world, rbEventKind kind, rbBodyId body)
{
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    for (int i = 0; i < count; ++i) {
        if (events[i].kind == kind && events[i].bodyA.index1 == body.index1) {
            return events[i].time;
        }
    }
    return -1.0;
}

// B-94: a struck tower wakes in the step of the impact, as a whole; the other one keeps resting.
static void whatIsStruckWakes(void** state)
{
    (void)state;
    Towers towers = buildTowers(1e-3);
    Towers awake = buildTowers(0.0);
    rbVec3 high = rbMakeVec3(0.03, 0.0, TOWER * PITCH + 0.6);
    (void)addCube(towers.world, "falling", high);
    (void)addCube(awake.world, "falling", high);
    double arrival = sqrt(2.0 * 0.6 / GRAVITY);
    advance(towers.world, 2e-3 * floor((arrival - 0.01) / 2e-3));
    assert_int_equal(countResting(towers.world, towers.near), TOWER);
    rbWorld_ClearEvents(towers.world);
    // In steps of its own: here that of the impact is observed.
    double struck = -1.0;
    while (struck < 0.0 && rbWorld_GetTime(towers.world) < arrival + 0.01) {
        rbBodyState before = rbBody_GetState(towers.world, towers.near[0]);
        advance(towers.world, rbWorld_GetTime(towers.world) + 2e-3);
        struck = findEvent(towers.world, RB_EVENT_WAKE, towers.near[0]);
        rbBodyState after = rbBody_GetState(towers.world, towers.near[0]);
        bool isStill = rbDistance(before.center, after.center) == 0.0 &&
                       rbDistance(before.linearVelocity, after.linearVelocity) == 0.0 &&
                       rbDistance(before.angularVelocity, after.angularVelocity) == 0.0;
        assert_true(struck >= 0.0 || isStill);
    }
    checkNear(struck, arrival, 4e-3);
    checkNear(findEvent(towers.world, RB_EVENT_IMPACT, towers.near[2]), struck, 1e-12);
    assert_int_equal(countResting(towers.world, towers.near), 0);
    assert_int_equal(countResting(towers.world, towers.far), TOWER);
    advance(towers.world, arrival + 0.1);
    advance(awake.world, arrival + 0.1);
    checkBelow(differ(towers.world, awake.world, towers.near), 1e-5);
    rbDestroyWorld(towers.world);
    rbDestroyWorld(awake.world);
}

// One sweep for a tower, and a tolerance that it cannot meet: the largest gap is in the statistics,
// with the number of steps that missed.
static void missedGapsAreInTheStatistics(void** state)
{
    (void)state;
    rbWorldDef def = defineCalmWorld(0.0);
    def.contact.sweepsMax = 1;
    def.contact.tolerance = 1e-12;
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    for (int i = 0; i < 6; ++i) {
        (void)addCube(world, NULL, rbMakeVec3(0.01 * (i % 2), 0.0, SHELL + i * PITCH));
    }
    (void)rbWorld_AdvanceTo(world, 0.05);
    rbContactStatistics statistics = rbWorld_GetContactStatistics(world);
    print_message("gap %g m\n", statistics.gapErrorMax);
    assert_true(statistics.gapErrorMax > 1e-12 && statistics.gapErrorMax < 0.1);
    rbDestroyWorld(world);
}

// --------------------------------------------------------------------------- other reasons to wake

static void pushLater(const rbForceInput* input, rbVec3* force, rbVec3* torque, void* context)
{
    (void)torque;
    force->x += input->time > *(const double*)context ? 20.0 : 0.0;
}

// B-94: external changes of forces, supports and states.
static void changesFromOutsideWake(void** state)
{
    (void)state;
    rbError error = {0};
    // An impulse.
    Towers towers = buildTowers(1e-3);
    advance(towers.world, 0.5);
    rbVec3 center = rbBody_GetState(towers.world, towers.near[2]).transform.p;
    rbBody_ApplyImpulse(towers.world, towers.near[2], rbMakeVec3(1.0, 0.0, 0.0), center);
    advance(towers.world, 0.55);
    assert_true(rbBody_GetState(towers.world, towers.near[2]).transform.p.x > center.x + 1e-3);
    assert_int_equal(countResting(towers.world, towers.far), TOWER);
    rbDestroyWorld(towers.world);
    // A new force, and one that starts to act.
    double begin = 0.6;
    for (int i = 0; i < 2; ++i) {
        towers = buildTowers(1e-3);
        rbForceDef force = rbDefaultForceDef();
        force.body = towers.near[2];
        force.type = i == 0 ? RB_FORCE_CONSTANT : RB_FORCE_USER;
        force.force = rbMakeVec3(20.0, 0.0, 0.0);
        force.callback = pushLater;
        force.context = &begin;
        if (i == 0) {
            advance(towers.world, 0.6);
        }
        assert_false(RB_IS_NULL(rbCreateForce(towers.world, &force, &error)));
        advance(towers.world, 0.6);
        assert_true(countResting(towers.world, towers.near) == (i == 0 ? 0 : TOWER) || i == 0);
        advance(towers.world, 0.7);
        // 20 N against 0.25 * 9.81 N
        double way = rbBody_GetState(towers.world, towers.near[2]).transform.p.x - 0.006;
        checkNear(way, 0.5 * (20.0 - 0.25 * GRAVITY) * 0.01, 0.004);
        rbDestroyWorld(towers.world);
    }
    // A removed support.
    towers = buildTowers(1e-3);
    advance(towers.world, 0.5);
    rbDestroyBody(towers.world, towers.near[1]);
    advance(towers.world, 0.6);
    assert_true(rbBody_GetState(towers.world, towers.near[2]).transform.p.z < 0.22);
    advance(towers.world, 1.5);
    checkNear(rbBody_GetState(towers.world, towers.near[2]).transform.p.z, 0.15, 1e-3);
    assert_int_equal(rbWorld_GetContactStatistics(towers.world).frozenCount, 2 * TOWER - 1);
    rbDestroyWorld(towers.world);
    // A state that is set: a hole where a body was.
    towers = buildTowers(1e-3);
    advance(towers.world, 0.5);
    rbTransform away = {rbMakeVec3(0.0, 3.0, 0.05 + SHELL), RB_QUAT_IDENTITY};
    assert_int_equal(
        rbBody_SetState(towers.world, towers.near[0], away, RB_VEC3_ZERO, RB_VEC3_ZERO, &error),
        RB_STATUS_OK);
    advance(towers.world, 0.6);
    assert_true(rbBody_GetState(towers.world, towers.near[2]).transform.p.z < 0.24);
    assert_int_equal(countResting(towers.world, towers.far), TOWER);
    rbDestroyWorld(towers.world);
}

// B-94: an attraction depends on the position and is asked in every step; where it pulls a resting
// body as before, the body keeps resting, to the bit.
static void steadyPullsWakeNobody(void** state)
{
    (void)state;
    Towers towers = buildTowers(1e-3);
    rbForceDef pull = rbDefaultForceDef();
    pull.type = RB_FORCE_CENTRAL;
    pull.center = rbMakeVec3(0.0, 0.0, -100.0);
    pull.strength = 2e4; // 2 m/s^2 here
    assert_false(RB_IS_NULL(rbCreateForce(towers.world, &pull, NULL)));
    advance(towers.world, 0.6);
    rbBodyState before = rbBody_GetState(towers.world, towers.near[2]);
    for (int i = 1; i <= 20; ++i) {
        advance(towers.world, 0.6 + 0.01 * i);
        assert_int_equal(countResting(towers.world, towers.near), TOWER);
    }
    rbBodyState after = rbBody_GetState(towers.world, towers.near[2]);
    assert_memory_equal(&after.transform, &before.transform, sizeof before.transform);
    rbDestroyWorld(towers.world);
}

static rbBodyId addPlate(rbWorld* world, double startTime, rbVec3 direction)
{
    rbError error = {0};
    rbPathDef path = rbDefaultPathDef();
    path.speed = 0.1;
    path.direction = direction;
    path.startTime = startTime;
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_KINEMATIC;
    def.path = &path;
    def.position = rbMakeVec3(0.0, 0.0, 0.95);
    rbBodyId plate = rbCreateBody(world, &def, &error);
    Piece piece = {.size = {0.5, 0.5, 0.1}, .friction = 1.0};
    assert_false(RB_IS_NULL(addShape(world, plate, &piece, &error)));
    return plate;
}

// B-94: a plate that starts to move carries the bodies resting on it, sideways and down.
static void supportsThatMoveWake(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = defineCalmWorld(1e-3);
        rbWorld* world = makeWorld(&def);
        rbVec3 direction = rbMakeVec3(i == 0 ? 1.0 : 0.0, 0.0, i == 0 ? 0.0 : -1.0);
        (void)addPlate(world, 0.5, direction);
        rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, 1.0 + SHELL));
        advance(world, 0.49);
        assert_true(rbBody_IsResting(world, cube));
        advance(world, 1.5);
        assert_false(rbBody_IsResting(world, cube));
        rbVec3 moved =
            rbSub(rbBody_GetState(world, cube).transform.p, rbMakeVec3(0.0, 0.0, 1.05 + SHELL));
        checkNear(rbDot(moved, direction), 0.1, 2e-3);
        rbDestroyWorld(world);
    }
}

// B-94: joined bodies rest and wake together; a motor keeps its bodies awake.
static void joinedBodiesFreezeTogether(void** state)
{
    (void)state;
    for (int i = 0; i < 3; ++i) {
        rbWorldDef def = defineCalmWorld(1e-3);
        rbWorld* world = makeWorld(&def);
        (void)addFloor(world);
        rbBodyId a = addCube(world, "a", rbMakeVec3(0.0, 0.0, SHELL));
        rbBodyId b = addCube(world, "b", rbMakeVec3(0.2, 0.0, SHELL));
        rbJointDef joint = rbDefaultJointDef();
        joint.type = RB_JOINT_HINGE;
        joint.bodyA = a;
        joint.bodyB = b;
        joint.freedoms[0].motor.type = i == 2 ? RB_MOTOR_VELOCITY : RB_MOTOR_NONE;
        joint.freedoms[0].motor.forceMax = 0.01;
        (void)join(world, &joint, rbMakeVec3(0.1, 0.0, 0.05), rbMakeVec3(0.0, 0.0, 1.0));
        advance(world, 0.5);
        assert_true(rbBody_IsResting(world, a) == (i < 2));
        assert_true(rbBody_IsResting(world, b) == (i < 2));
        if (i == 0) {
            rbVec3 center = rbBody_GetState(world, b).transform.p;
            rbBody_ApplyImpulse(world, b, rbMakeVec3(1.0, 0.0, 0.0), center);
        } else {
            // Struck from above.
            (void)addCube(world, "hammer", rbMakeVec3(0.24, 0.0, 0.3));
        }
        (void)rbWorld_AdvanceTo(world, 0.8);
        checkBelow(rbWorld_GetStepStatistics(world).positionErrorMax, 1e-6);
        double moved = rbLength(
            rbSub(rbBody_GetState(world, a).transform.p, rbMakeVec3(0.0, 0.0, 0.05 + SHELL)));
        assert_true(i > 0 || moved > 0.01);
        rbDestroyWorld(world);
    }
}

// ------------------------------------------------------------------------------------- snapshots

// A forming pile, with resting and flying bodies: continuing from a snapshot gives the same bits,
// with and without freezing.
static void pilesGoOnFromSnapshots(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        Towers towers = buildTowers(i == 0 ? 0.0 : 1e-3);
        rbWorld* world = towers.world;
        rbError error = {0};
        Piece stone = {.size = {0.08, 0.1, 0.12}, .restitution = 0.25, .friction = 0.25};
        for (int k = 0; k < 6; ++k) {
            stone.position = rbMakeVec3(0.02 * (k % 3), 0.01 * k, 0.5 + 0.17 * k);
            (void)addPiece(world, &stone);
        }
        (void)rbWorld_AdvanceTo(world, 0.4);
        assert_int_equal(countResting(world, towers.far), i * TOWER);
        size_t size = rbWorld_GetSnapshotSize(world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
        uint64_t expected[3];
        for (int k = 0; k < 3; ++k) {
            (void)rbWorld_AdvanceTo(world, 0.6 + 0.3 * k);
            expected[k] = rbWorld_GetHash(world);
        }
        double drift = rbWorld_GetLedger(world).energyDrift;
        assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_OK);
        assert_int_equal(countResting(world, towers.far), i * TOWER);
        for (int k = 0; k < 3; ++k) {
            (void)rbWorld_AdvanceTo(world, 0.6 + 0.3 * k);
            assert_true(rbWorld_GetHash(world) == expected[k]);
        }
        checkNear(rbWorld_GetLedger(world).energyDrift, drift, 1e-12);
        free(bytes);
        rbDestroyWorld(world);
    }
}

#define COURSES 24

// B-75, B-93: solved by one sweep in each stage, it must not build up from step to step.
static void highWallsStayCalmAtALooseTolerance(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    def.step.step = 5e-3;
    def.contact.tolerance = 1e-5;
    def.contact.velocityTolerance = 1e-3;
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyId top = {0};
    for (int i = 0; i < COURSES; ++i) {
        int count = i % 2 == 0 ? 11 : 10;
        for (int k = 0; k < count; ++k) {
            Piece brick = {.position = {(k - 0.5 * (count - 1)) * (1.0 + SHELL), 0.0,
                                        0.15 + SHELL + i * (0.3 + SHELL)},
                           .size = {1.0, 0.4, 0.3},
                           .friction = 0.2};
            top = addPiece(world, &brick);
        }
    }
    advance(world, 0.1);
    rbContactStatistics first = rbWorld_GetContactStatistics(world);
    advance(world, 0.6);
    rbContactStatistics last = rbWorld_GetContactStatistics(world);
    double position = (double)(last.positionSweeps - first.positionSweeps) / 100.0;
    double velocity = (double)(last.velocitySweeps - first.velocitySweeps) / 100.0;
    print_message("%.2f and %.2f sweeps per step, top at %.2e m/s\n", position, velocity,
                  rbLength(rbBody_GetState(world, top).linearVelocity));
    assert_int_equal(last.directStages, first.directStages);
    assert_true(position < 1.5 && velocity < 1.5);
    assert_true(rbLength(rbBody_GetState(world, top).linearVelocity) < 1e-4);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_world_rest, cmocka_unit_test(highWallsStayCalmAtALooseTolerance),
              cmocka_unit_test(towersThatStandFreezeAndCarryOn),
              cmocka_unit_test(whatIsStruckWakes), cmocka_unit_test(changesFromOutsideWake),
              cmocka_unit_test(steadyPullsWakeNobody),
              cmocka_unit_test(missedGapsAreInTheStatistics),
              cmocka_unit_test(supportsThatMoveWake), cmocka_unit_test(joinedBodiesFreezeTogether),
              cmocka_unit_test(pilesGoOnFromSnapshots));
