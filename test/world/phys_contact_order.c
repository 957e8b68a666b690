// Orders 2, 4 and 6 with contacts, where what touches, sticks and slides does not change; and error
// control with contacts, against closed forms, in pieces, and where rounding prevents it.
#include "arrival_scenes.h"

#include <math.h>
#include <stdlib.h>

#define HALVINGS 4
#define FLOOR 1e-12 // m: rounding shows below

// A body on a plane, and what it does.
typedef struct Motion {
    const char* name;
    rbGeometry* (*make)(void);
    rbVec3 gravity;
    rbVec3 position; // of the center; z: above the plane, without the shell
    rbVec3 axis;     // of the orientation
    double angle;
    rbVec3 velocity;
    rbVec3 spin;
    double friction;
    double duration;    // s
    double coarsest[3]; // s, of orders 2, 4, 6
} Motion;

static rbGeometry* makeBlock(void)
{
    return rbCreateBox(rbMakeVec3(0.1, 0.08, 0.02), NULL);
}

static rbGeometry* makeBall(void)
{
    return rbCreateSphere(0.1, NULL);
}

static rbGeometry* makeCoin(void)
{
    return rbCreateCylinder(0.1, 0.005, NULL);
}

static rbGeometry* makeEgg(void)
{
    return rbCreateEllipsoid(rbMakeVec3(0.15, 0.1, 0.08), NULL);
}

static rbGeometry* makeRod(void)
{
    return rbCreateCapsule(0.02, 0.25, NULL);
}

static const Motion motions[] = {
    {"block that slides askew down a slope",
     makeBlock,
     {1.7, 0.0, -9.6},
     {0.0, 0.0, 0.02},
     {0.0, 0.0, 1.0},
     0.3,
     {1.0, 0.7, 0.0},
     {0.0, 0.0, 0.0},
     0.1,
     0.4,
     {0.05, 0.1, 0.1}},
    {"ball that slides in a curve",
     makeBall,
     {0.0, 0.0, -9.81},
     {0.0, 0.0, 0.1},
     {0.0, 0.0, 1.0},
     0.0,
     {2.0, 0.0, 0.0},
     {20.0, 0.0, 3.0},
     0.2,
     0.32,
     {0.02, 0.04, 0.04}},
    {"ball that rolls down a slope",
     makeBall,
     {1.7, 0.0, -9.6},
     {0.0, 0.0, 0.1},
     {0.0, 0.0, 1.0},
     0.0,
     {0.4, 0.3, 0.0},
     {-3.0, 4.0, 2.0},
     0.5,
     0.4,
     {0.04, 0.04, 0.04}},
    {"coin on its rim",
     makeCoin,
     {0.0, 0.0, -9.81},
     {0.06331547695274078, 0.0, 0.07521914263668814},
     {0.0, 1.0, 0.0},
     0.8,
     {0.0, 0.5643998580741486, 0.0},
     {-8.274541845205183, 0.0, 0.8777341166217649},
     2.0,
     0.2,
     {0.01, 0.02, 0.02}},
    {"rod that slides",
     makeRod,
     {0.0, 0.0, -9.81},
     {0.0, 0.0, 0.02 + 0.25 * 0.479425538604203},
     {0.0, 1.0, 0.0},
     0.5 + 1.5707963267948966,
     {3.0, 0.5, 0.0},
     {0.0, 0.0, 0.0},
     0.1,
     0.12,
     {0.01, 0.02, 0.06}},
    {"egg that rolls",
     makeEgg,
     {0.0, 0.0, -9.81},
     {0.0, 0.0, 0.08},
     {0.0, 0.0, 1.0},
     0.0,
     {0.0, 0.24, 0.0},
     {-3.0, 0.0, 0.0},
     2.0,
     0.4,
     {0.02, 0.04, 0.04}},
};
#define MOTIONS (sizeof motions / sizeof motions[0])

typedef struct End {
    rbVec3 center;
    rbVec3 point; // of the body
    int64_t lowOrder;
} End;

static End runMotion(const Motion* c, double step, int order)
{
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_STEP);
    def.gravity = c->gravity;
    def.step.order = order;
    def.step.tolerance = 1e-13;
    def.contact.tolerance = 1e-12;
    def.contact.velocityTolerance = 1e-12;
    def.contact.shell = 1e-10;
    rbWorld* world = makeArrivalWorld(&def);
    (void)addGround(world, 0.0, c->friction);
    rbError error = {0};
    rbBodyDef body = rbDefaultBodyDef();
    body.position = rbAdd(c->position, rbMakeVec3(0.0, 0.0, def.contact.shell));
    rbVec3 half = rbScale(sin(0.5 * c->angle), c->axis);
    body.orientation = (rbQuat){cos(0.5 * c->angle), half.x, half.y, half.z};
    body.linearVelocity = c->velocity;
    body.angularVelocity = c->spin;
    rbBodyId id = rbCreateBody(world, &body, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, c->make());
    shape.material.restitution = 0.0;
    shape.material.friction = c->friction;
    if (RB_IS_NULL(id) || RB_IS_NULL(rbCreateShape(world, id, &shape, &error))) {
        fail_msg("%s", error.message);
    }
    double before = rbWorld_GetLedger(world).energy;
    assert_int_equal(rbWorld_AdvanceTo(world, c->duration).status, RB_STATUS_OK);
    rbLedger ledger = rbWorld_GetLedger(world);
    if (order > 2) { // no numerical energy, but for the error of the motion
        checkNear(ledger.energy - before, ledger.frictionWork, 1e-4);
    }
    rbBodyState state = rbBody_GetState(world, id);
    End end = {state.center, rbTransformPoint(state.transform, rbMakeVec3(0.03, 0.02, 0.01)),
               rbWorld_GetContactStatistics(world).lowOrderSteps};
    rbDestroyWorld(world);
    return end;
}

// Orders above the floor of rounding.
static void ordersAreReached(void** state)
{
    (void)state;
    for (size_t i = 0; i < MOTIONS; ++i) {
        const Motion* c = &motions[i];
        End truth = runMotion(c, c->coarsest[2] / 64.0, 6);
        for (int order = 2; order <= 6; order += 2) {
            double last = INFINITY;
            double best = 0.0;
            for (int k = 0; k < HALVINGS; ++k) {
                double step = c->coarsest[order / 2 - 1] / (1 << k);
                End end = runMotion(c, step, order);
                double off =
                    rbDistance(end.center, truth.center) + rbDistance(end.point, truth.point);
                double seen = log2(last / off);
                print_message("%-36s order %d, step %.3g s: off by %.2e m, order %.2f, %lld steps "
                              "at order 2\n",
                              c->name, order, step, off, seen, (long long)end.lowOrder);
                if (order > 2) { // the first step shows what touches
                    assert_true(end.lowOrder <= 3);
                }
                bool isAbove = off > FLOOR;
                best = k > 0 && isAbove ? fmax(best, seen) : best;
                last = off;
            }
            checkBelow(order - 0.3, best);
        }
    }
}

// ------------------------------------------------------------------------------------------ exact

static rbWorldDef defineExact(double asked, double horizon)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    rbWorldDef_SetAccuracy(&def, RB_ACCURACY_EXACT);
    def.step.errorMax = asked;
    def.step.horizon = horizon;
    return def;
}

static rbBodyId addOn(rbWorld* world, rbGeometry* geometry, rbVec3 position, rbVec3 velocity,
                      double restitution, double friction)
{
    Flyer flyer = {.geometry = geometry,
                   .position = position,
                   .velocity = velocity,
                   .restitution = restitution,
                   .friction = friction};
    return addFlyer(world, &flyer);
}

// Slides, stops, and holds: v^2 / 2 mu g.
static void blocksStopWhereTheyShould(void** state)
{
    (void)state;
    for (int k = 0; k < 3; ++k) {
        double asked = k == 0 ? 1e-5 : k == 1 ? 1e-7 : 1e-9;
        rbWorldDef def = defineExact(asked, 1.0);
        rbWorld* world = makeArrivalWorld(&def);
        (void)addGround(world, 0.0, 0.5);
        double above = 0.02 + def.contact.shell;
        rbBodyId id = addOn(world, makeBlock(), rbMakeVec3(0.0, 0.0, above),
                            rbMakeVec3(1.2, 0.9, 0.0), 0.0, 0.5);
        assert_int_equal(rbWorld_AdvanceTo(world, 1.0).status, RB_STATUS_OK);
        double way = 1.5 * 1.5 / (2.0 * 0.5 * rbLength(def.gravity));
        rbBodyState end = rbBody_GetState(world, id);
        double off = rbDistance(end.center, rbMakeVec3(0.8 * way, 0.6 * way, above));
        rbStepStatistics s = rbWorld_GetStepStatistics(world);
        print_message(
            "[ asked %.0e m: off by %.1e m, estimated %.1e m, %lld steps, %lld at order 2 "
            "]\n",
            asked, off, s.accuracyEstimate, (long long)s.steps,
            (long long)rbWorld_GetContactStatistics(world).lowOrderSteps);
        checkBelow(off, asked);
        checkBelow(s.accuracyEstimate, asked);
        checkBelow(rbLength(end.linearVelocity), 1e-10);
        rbDestroyWorld(world);
    }
}

// Touches the ground itself, not its shell, at the start; slides, and rolls from then on.
static void ballsRollWhenTheyHaveSlid(void** state)
{
    (void)state;
    double radius = 0.1;
    double speed = 3.5;
    rbWorldDef def = defineExact(1e-9, 1.0);
    double braking = 0.2 * rbLength(def.gravity);
    rbWorld* world = makeArrivalWorld(&def);
    (void)addGround(world, 0.0, 0.2);
    Flyer ball = {.geometry = makeBall(),
                  .position = rbMakeVec3(0.0, 0.0, radius),
                  .velocity = rbMakeVec3(speed, 0.0, 0.0),
                  .friction = 0.2};
    rbBodyId id = addFlyer(world, &ball);
    assert_int_equal(rbWorld_AdvanceTo(world, 1.0).status, RB_STATUS_OK);
    double rolls = 2.0 * speed / (7.0 * braking);
    double way = speed * rolls - 0.5 * braking * rolls * rolls + 5.0 / 7.0 * speed * (1.0 - rolls);
    checkNear(rbBody_GetState(world, id).center.x, way, 1e-9);
    rbDestroyWorld(world);
}

// Five bounces of a ball.
static void ballsBounceExactly(void** state)
{
    (void)state;
    double e = 0.7;
    for (int k = 0; k < 3; ++k) {
        double asked = k == 0 ? 1e-5 : k == 1 ? 1e-7 : 1e-9;
        rbWorldDef def = defineExact(asked, 2.0);
        rbWorld* world = makeArrivalWorld(&def);
        (void)addGround(world, e, 0.0);
        double shell = def.contact.shell;
        rbBodyId id = addOn(world, makeBall(), rbMakeVec3(0.0, 0.0, 1.1), RB_VEC3_ZERO, e, 0.0);
        assert_int_equal(rbWorld_AdvanceTo(world, 2.0).status, RB_STATUS_OK);
        double g = rbLength(def.gravity);
        double time = sqrt(2.0 * (1.0 - shell) / g);
        double speed = e * g * time;
        while (time + 2.0 * speed / g < 2.0) {
            time += 2.0 * speed / g;
            speed *= e;
        }
        double left = 2.0 - time;
        double height = 0.1 + shell + left * (speed - 0.5 * g * left);
        double off = fabs(rbBody_GetState(world, id).center.z - height);
        print_message("[ asked %.0e m: off by %.1e m, %lld collisions ]\n", asked, off,
                      (long long)rbWorld_GetContactStatistics(world).collisions);
        checkBelow(off, asked);
        rbDestroyWorld(world);
    }
}

// A pendulum beside a stack, and a box hinged to a lever that rests on the floor.
static rbWorld* makeMixed(const rbWorldDef* def, rbBodyId ids[3])
{
    rbError error = {0};
    rbWorld* world = makeArrivalWorld(def);
    (void)addGround(world, 0.0, 0.6);
    double shell = def->contact.shell;
    ids[0] = addOn(world, makeBlock(), rbMakeVec3(0.0, 0.0, 0.02 + shell), RB_VEC3_ZERO, 0.0, 0.6);
    ids[1] =
        addOn(world, makeBall(), rbMakeVec3(1.5, 0.0, 1.0), rbMakeVec3(0.0, 0.3, 0.0), 0.5, 0.6);
    ids[2] = addOn(world, makeEgg(), rbMakeVec3(0.0, 1.0, 0.08 + shell), rbMakeVec3(0.0, 0.24, 0.0),
                   0.0, 2.0);
    rbJointDef hinge = rbDefaultJointDef();
    hinge.type = RB_JOINT_BALL;
    hinge.bodyB = ids[1];
    hinge.anchorA = rbMakeVec3(1.0, 0.0, 1.0);
    hinge.anchorB = rbMakeVec3(-0.5, 0.0, 0.0);
    if (RB_IS_NULL(rbCreateJoint(world, &hinge, &error))) {
        fail_msg("%s", error.message);
    }
    return world;
}

// A pendulum on a joint does not disturb what rests and rolls, and is as exact.
static void mechanismsBesideContactsAreExact(void** state)
{
    (void)state;
    rbVec3 ends[3][3];
    for (int i = 0; i < 3; ++i) {
        double asked = i == 0 ? 1e-11 : i == 1 ? 1e-9 : 1e-6;
        rbWorldDef def = defineExact(asked, 0.5);
        rbBodyId ids[3];
        rbWorld* world = makeMixed(&def, ids);
        rbStatus status = rbWorld_AdvanceTo(world, 0.5).status;
        assert_true(status == RB_STATUS_OK || i == 0);
        for (int k = 0; k < 3; ++k) {
            ends[i][k] = rbBody_GetState(world, ids[k]).center;
            double off = rbDistance(ends[i][k], ends[0][k]);
            print_message("[ asked %.0e m: body %d off by %.1e m, %lld at order 2 ]\n", asked, k,
                          off, (long long)rbWorld_GetContactStatistics(world).lowOrderSteps);
            checkBelow(off, i == 0 ? 1.0 : asked);
        }
        rbDestroyWorld(world);
    }
}

// The chosen steps are part of the state: advances in pieces and snapshots change no bit.
static void piecesAndSnapshotsChangeNothing(void** state)
{
    (void)state;
    for (int order = 4; order <= 8; order += 2) {
        rbWorldDef def = defineExact(1e-7, 0.5);
        rbBodyId ids[3];
        def.step.order = order;
        if (order == 4) { // on the grid
            def.step.accuracy = RB_ACCURACY_ENGINEERING;
            def.step.errorMax = 0.0;
            def.step.step = 0.007;
        }
        rbWorld* one = makeMixed(&def, ids);
        rbWorld* other = makeMixed(&def, ids);
        for (int world = 0; world < 2; ++world) { // something that falls
            (void)addOn(world == 0 ? one : other, makeRod(), rbMakeVec3(0.0, -2.0, 0.4),
                        rbMakeVec3(0.5, 0.1, 0.0), 0.4, 0.3);
        }
        assert_int_equal(rbWorld_AdvanceTo(one, 0.5).status, RB_STATUS_OK);
        rbError error = {0};
        char* snapshot = NULL;
        size_t size = 0;
        uint64_t hash = 0;
        for (int i = 1; i <= 50; ++i) {
            assert_int_equal(rbWorld_AdvanceTo(other, 0.01 * i).status, RB_STATUS_OK);
            if (i == 21) {
                size = rbWorld_GetSnapshotSize(other);
                snapshot = malloc(size);
                assert_int_equal(rbWorld_TakeSnapshot(other, snapshot, size, &error), RB_STATUS_OK);
            }
            if (i == 34) {
                hash = rbWorld_GetHash(other);
            }
        }
        assert_true(rbWorld_GetHash(one) == rbWorld_GetHash(other));
        assert_int_equal(rbWorld_RestoreSnapshot(other, snapshot, size, &error), RB_STATUS_OK);
        assert_int_equal(rbWorld_AdvanceTo(other, 0.34).status, RB_STATUS_OK);
        assert_true(rbWorld_GetHash(other) == hash);
        assert_int_equal(rbWorld_AdvanceTo(other, 0.5).status, RB_STATUS_OK);
        assert_true(rbWorld_GetHash(one) == rbWorld_GetHash(other));
        free(snapshot);
        rbDestroyWorld(one);
        rbDestroyWorld(other);
    }
}

// What rounding does not allow is said.
static void missesAreReported(void** state)
{
    (void)state;
    rbWorldDef def = defineExact(1e-15, 0.2);
    rbBodyId ids[3];
    rbWorld* world = makeMixed(&def, ids);
    assert_int_equal(rbWorld_AdvanceTo(world, 0.2).status, RB_STATUS_NUMERICAL);
    assert_true(rbWorld_GetStepStatistics(world).inaccurateSteps > 0);
    checkBelow(1e-15, rbWorld_GetStepStatistics(world).accuracyEstimate);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(phys_contact_order, cmocka_unit_test(ordersAreReached),
              cmocka_unit_test(blocksStopWhereTheyShould),
              cmocka_unit_test(ballsRollWhenTheyHaveSlid), cmocka_unit_test(ballsBounceExactly),
              cmocka_unit_test(mechanismsBesideContactsAreExact),
              cmocka_unit_test(piecesAndSnapshotsChangeNothing),
              cmocka_unit_test(missesAreReported));
