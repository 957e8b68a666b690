// Joints of touching bodies at the accuracy of a game: rows that small steps hold.
#include "contact_scenes.h"
#include "joint_scenes.h"
#include "lab/math/random3.h"

#include <math.h>
#include <stdlib.h>

#define FRAME (1.0 / 60.0)
#define LIMBS 4
// N m s/rad: a limb of 20 kg that hangs from its hinge comes to rest in seconds.
#define HINGE_DAMPING 1.0

static rbWorld* makeGame(rbVec3 gravity)
{
    rbWorldDef def = defineWorld();
    rbWorldDef_SetAccuracy(&def, RB_ACCURACY_GAME);
    def.gravity = gravity;
    return makeWorld(&def);
}

// No tolerance is promised, so none is missed.
static void play(rbWorld* world, int frames)
{
    for (int i = 0; i < frames; ++i) {
        assert_int_equal(rbWorld_Advance(world, FRAME).status, RB_STATUS_OK);
    }
}

static rbJointId connect(rbWorld* world, rbJointType type, rbBodyId a, rbBodyId b, rbVec3 anchor,
                         rbVec3 axis)
{
    rbJointDef def = rbDefaultJointDef();
    def.type = type;
    def.bodyA = a;
    def.bodyB = b;
    def.freedoms[0].damping = type == RB_JOINT_HINGE ? HINGE_DAMPING : 0.0;
    return join(world, &def, anchor, axis);
}

// A box stands on the floor and carries another one at its side: the joint carries its weight and
// the moment of it, the contacts both weights.
// B-80
static void jointsCarryWhatTouchesNothing(void** state)
{
    (void)state;
    rbWorld* world = makeGame(rbMakeVec3(0.0, 0.0, -GRAVITY));
    (void)addFloor(world);
    Piece foot = {.position = {0.0, 0.0, 0.2}, .size = {0.4, 0.4, 0.4}, .friction = 0.5};
    Piece arm = {.position = {0.31, 0.0, 0.3}, .size = {0.2, 0.2, 0.2}, .friction = 0.5};
    rbBodyId bodies[2] = {addPiece(world, &foot), addPiece(world, &arm)};
    rbJointId joint = connect(world, RB_JOINT_FIXED, bodies[0], bodies[1],
                              rbMakeVec3(0.2, 0.0, 0.3), rbMakeVec3(0.0, 0.0, 1.0));
    play(world, 240);
    double weight = rbBody_GetMass(world, bodies[1]).mass * GRAVITY;
    rbJointState loads = rbJoint_GetState(world, joint);
    checkNear(fabs(loads.force.z), weight, 1e-3 * weight);
    checkNear(fabs(loads.torque.y), 0.11 * weight, 5e-3 * weight);
    for (int i = 0; i < 2; ++i) {
        checkBelow(rbLength(rbBody_GetState(world, bodies[i]).linearVelocity), 1e-4);
    }
    checkBelow(rbWorld_GetStepStatistics(world).positionErrorMax, 1e-3);
    rbDestroyWorld(world);
}

// A row of boxes on hinges, about random axes across the row.
static void addDoll(rbWorld* world, rbRandom* random, rbVec3 place, rbBodyId limbs[LIMBS])
{
    rbQuat q = rbRandom_Quat(random);
    rbError error = {0};
    for (int i = 0; i < LIMBS; ++i) {
        Piece piece = {.size = {0.5, 0.2, 0.2}, .friction = 0.5};
        rbBodyDef def = rbDefaultBodyDef();
        def.position =
            rbAdd(place, rbRotate(q, rbMakeVec3(0.5 * i - 0.25 * (LIMBS - 1), 0.0, 0.0)));
        def.orientation = q;
        limbs[i] = rbCreateBody(world, &def, &error);
        assert_false(RB_IS_NULL(addShape(world, limbs[i], &piece, &error)));
    }
    for (int i = 1; i < LIMBS; ++i) {
        rbVec3 anchor = rbScale(0.5, rbAdd(rbBody_GetState(world, limbs[i - 1]).transform.p,
                                           rbBody_GetState(world, limbs[i]).transform.p));
        double angle = 6.3 * rbRandom_Unit(random);
        rbVec3 axis = rbRotate(q, rbMakeVec3(0.0, cos(angle), sin(angle)));
        (void)connect(world, RB_JOINT_HINGE, limbs[i - 1], limbs[i], anchor, axis);
    }
}

// Dolls fall on the floor and on each other from 2 to 4 m: limbs stay in their sockets, and they
// come to lie. Nothing is promised at this accuracy; 100 pairs opened by at most 0.02 m, a tenth of
// a limb's thickness, and gained at most 1.1e-5 of the energy within 8 steps.
static void dollsFallAndLieStill(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0xd011)};
    int count = rbTest_Count(20, 1000);
    double gapMost = 0.0;
    double riseMost = 0.0;
    double speedMost = 0.0;
    for (int i = 0; i < count; ++i) {
        rbWorld* world = makeGame(rbMakeVec3(0.0, 0.0, -GRAVITY));
        (void)addFloor(world);
        rbBodyId limbs[2][LIMBS];
        addDoll(world, &random, rbMakeVec3(0.0, 0.0, 2.0), limbs[0]);
        addDoll(world, &random, rbMakeVec3(0.3, 0.2, 4.0), limbs[1]);
        play(world, 1);
        double start = rbWorld_GetLedger(world).energy;
        double before = start;
        for (int k = 0; k < 150; ++k) {
            play(world, 8);
            double energy = rbWorld_GetLedger(world).energy;
            riseMost = fmax(riseMost, (energy - before) / start);
            before = energy;
        }
        for (int k = 0; k < 2 * LIMBS; ++k) {
            rbBodyState limb = rbBody_GetState(world, limbs[k / LIMBS][k % LIMBS]);
            speedMost = fmax(speedMost, rbLength(limb.linearVelocity));
        }
        gapMost = fmax(gapMost, rbWorld_GetStepStatistics(world).positionErrorMax);
        rbDestroyWorld(world);
    }
    print_message("%d pairs of dolls: energy rises by at most %.3g of itself, joints open by at "
                  "most %.3g m, at most %.3g m/s at the end\n",
                  count, riseMost, gapMost, speedMost);
    checkBelow(riseMost, 1e-3);
    checkBelow(gapMost, 0.1);
    checkBelow(speedMost, 0.02);
}

typedef struct Momentum {
    rbVec3 linear;
    rbVec3 angular; // about the origin
    double size;    // kg m/s, sum of lengths
} Momentum;

static Momentum sumMomentum(const rbWorld* world, const rbBodyId* bodies, int count)
{
    Momentum sum = {.size = 0.0};
    for (int i = 0; i < count; ++i) {
        rbBodyState body = rbBody_GetState(world, bodies[i]);
        double mass = rbBody_GetMass(world, bodies[i]).mass;
        rbVec3 p = rbScale(mass, body.linearVelocity);
        // boxes of 0.5 x 0.2 x 0.2 m
        rbVec3 inertia = rbScale(mass / 12.0, rbMakeVec3(0.08, 0.29, 0.29));
        rbVec3 local = rbInvRotate(body.transform.q, body.angularVelocity);
        rbVec3 spin = rbRotate(body.transform.q, rbMulEach(inertia, local));
        sum.linear = rbAdd(sum.linear, p);
        sum.angular = rbAdd(sum.angular, rbAdd(spin, rbCross(body.transform.p, p)));
        sum.size += rbLength(p);
    }
    return sum;
}

// Two dolls meet in free space: joints and contacts act on both bodies alike, in single precision.
// Angular momentum changes with the arms, which small steps keep: in a step of h by h v of the
// momentum, 0.08 m here.
static void momentumIsKept(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x3033)};
    int count = rbTest_Count(40, 1000);
    double worst = 0.0;
    double worstTurn = 0.0;
    for (int i = 0; i < count; ++i) {
        rbWorld* world = makeGame(RB_VEC3_ZERO);
        rbBodyId limbs[2 * LIMBS];
        addDoll(world, &random, rbMakeVec3(0.0, 0.0, 0.0), limbs);
        addDoll(world, &random, rbMakeVec3(0.1, 0.2, 2.5), limbs + LIMBS);
        for (int k = 0; k < 2 * LIMBS; ++k) {
            rbBodyState limb = rbBody_GetState(world, limbs[k]);
            rbVec3 velocity = rbMakeVec3(0.0, 0.0, k < LIMBS ? 1.0 : -4.0);
            rbError error = {0};
            assert_int_equal(
                rbBody_SetState(world, limbs[k], limb.transform, velocity, RB_VEC3_ZERO, &error),
                RB_STATUS_OK);
        }
        Momentum start = sumMomentum(world, limbs, 2 * LIMBS);
        play(world, 60);
        Momentum end = sumMomentum(world, limbs, 2 * LIMBS);
        worst = fmax(worst, rbLength(rbSub(end.linear, start.linear)) / start.size);
        worstTurn = fmax(worstTurn, rbLength(rbSub(end.angular, start.angular)) / start.size);
        rbDestroyWorld(world);
    }
    print_message("momentum changed by at most %.3g of itself, angular momentum by %.3g m of it\n",
                  worst, worstTurn);
    checkBelow(worst, 1e-5);
    checkBelow(worstTurn, 5.0 * FRAME);
}

// What joints answered to contacts is part of the state: a world continues from a snapshot with the
// same bits, also after it was asked for a time between two steps.
static void snapshotsContinueWithTheSameBits(void** state)
{
    (void)state;
    rbWorld* worlds[3];
    for (int i = 0; i < 3; ++i) {
        rbRandom random = {0x5a4e};
        rbBodyId limbs[LIMBS];
        worlds[i] = makeGame(rbMakeVec3(0.0, 0.0, -GRAVITY));
        (void)addFloor(worlds[i]);
        addDoll(worlds[i], &random, rbMakeVec3(0.0, 0.0, 1.2), limbs);
        addDoll(worlds[i], &random, rbMakeVec3(0.2, 0.1, 2.4), limbs);
        for (int k = 1; k <= 50; ++k) {
            if (i == 2) {
                (void)rbWorld_AdvanceTo(worlds[i], (k - 0.4) * FRAME);
            }
            (void)rbWorld_AdvanceTo(worlds[i], k * FRAME);
        }
    }
    assert_true(rbWorld_GetHash(worlds[2]) == rbWorld_GetHash(worlds[0]));
    rbError error = {0};
    size_t size = rbWorld_GetSnapshotSize(worlds[0]);
    void* bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(rbWorld_TakeSnapshot(worlds[0], bytes, size, &error), RB_STATUS_OK);
    for (int k = 51; k <= 100; ++k) {
        (void)rbWorld_AdvanceTo(worlds[1], k * FRAME);
    }
    assert_int_equal(rbWorld_RestoreSnapshot(worlds[1], bytes, size, &error), RB_STATUS_OK);
    for (int k = 51; k <= 100; ++k) {
        for (int i = 0; i < 3; ++i) {
            (void)rbWorld_AdvanceTo(worlds[i], k * FRAME);
        }
    }
    for (int i = 1; i < 3; ++i) {
        assert_true(rbWorld_GetHash(worlds[i]) == rbWorld_GetHash(worlds[0]));
    }
    free(bytes);
    for (int i = 0; i < 3; ++i) {
        rbDestroyWorld(worlds[i]);
    }
}

RB_TEST_GROUP(phys_capped_joints, cmocka_unit_test(jointsCarryWhatTouchesNothing),
              cmocka_unit_test(dollsFallAndLieStill), cmocka_unit_test(momentumIsKept),
              cmocka_unit_test(snapshotsContinueWithTheSameBits));
