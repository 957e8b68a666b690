// Penalty contact, a comparison method: against closed forms of the damped spring and against the
// impulses of the same engine.
#include "contact_worlds.h"
#include "rb_test.h"

#include <rattleback/lab_contact.h>

#include <math.h>
#include <string.h>

#define GRAVITY 9.81
#define RADIUS 0.5
#define DEPTH 1e-3
#define FREQUENCY sqrt(GRAVITY / DEPTH) // rad/s

static rbWorldDef definePenalty(double step, double depth, double damping)
{
    rbWorldDef def = rbPileWorldDef(step);
    rbPenaltySettings penalty = {.depth = depth, .damping = damping};
    def.contact.method = rbContactMethod_Find("penalty");
    rbContactSettings_SetPenalty(&def.contact, &penalty);
    return def;
}

static void advance(rbPile* pile, int64_t k)
{
    if (!rbPile_Advance(pile, k)) {
        fail_msg("%s: %s", rbStatus_Text(pile->error.status), pile->error.message);
    }
}

// A ball of 2 kg above a floor, its lowest point at a height above the shell.
static rbPile dropBall(const rbWorldDef* def, double height, double speed)
{
    rbPile pile = rbMakePile(def);
    (void)rbPile_AddSlope(&pile, 0.0, 0.5, 0.5);
    rbPilePlan plan = {.geometry = rbCreateSphere(RADIUS, &pile.error),
                       .mass = 2.0,
                       .position = {0.0, 0.0, RADIUS + pile.shell + height},
                       .velocity = {0.0, 0.0, -speed},
                       .friction = 0.5};
    (void)rbPile_Add(&pile, &plan);
    return pile;
}

// L-113: k = m g / depth
static void bodiesSinkByTheirWeightOverTheStiffness(void** state)
{
    (void)state;
    rbWorldDef def = definePenalty(1.0 / 60.0, DEPTH, 0.5);
    rbPile pile = dropBall(&def, 0.0, 0.0);
    advance(&pile, 120);
    rbBodyState ball = rbPile_GetState(&pile, 1);
    checkNear(ball.center.z, RADIUS + pile.shell - DEPTH, 1e-14);
    checkBelow(rbLength(ball.linearVelocity), 1e-12);
    rbContactView view;
    assert_int_equal(rbWorld_GetContacts(pile.world, &view, 1), 1);
    checkNear(fabs(view.force.z), 2.0 * GRAVITY, 1e-10);
    checkNear(view.gap, pile.shell - DEPTH, 1e-14);
    rbPile_Free(&pile);
    // Four points share the weight of a box.
    pile = rbMakePile(&def);
    (void)rbPile_AddSlope(&pile, 0.0, 0.5, 0.0);
    rbVec3 halves = {0.5, 0.4, 0.3};
    (void)rbPile_AddBox(&pile, halves, rbMakeVec3(0.0, 0.0, pile.shell), 0.5, 3.0);
    advance(&pile, 240);
    checkNear(rbPile_GetState(&pile, 1).center.z, halves.z + pile.shell - 0.25 * DEPTH, 1e-12);
    rbPile_Free(&pile);
}

// The fraction of its speed with which a ball leaves.
static double throwBall(double step, double damping)
{
    rbWorldDef def = definePenalty(step, DEPTH, damping);
    def.gravity = RB_VEC3_ZERO;
    rbPile pile = dropBall(&def, 0.5 * step, 1.0);
    advance(&pile, (int64_t)(1.2 * RB_PI / (FREQUENCY * sqrt(1.0 - damping * damping) * step)) + 3);
    double left = rbPile_GetState(&pile, 1).linearVelocity.z;
    rbPile_Free(&pile);
    return left;
}

// B-83: the force ends before the overlap does, since nothing pulls
static void ballsReboundAsTheDampedSpringSays(void** state)
{
    (void)state;
    static const double dampings[] = {0.0, 0.05, 0.2, 0.5, 0.9};
    for (size_t i = 0; i < sizeof dampings / sizeof dampings[0]; ++i) {
        double z = dampings[i];
        double e = exp(-z / sqrt(1.0 - z * z) * (RB_PI - 2.0 * asin(z)));
        double coarse = fabs(throwBall(4e-5, z) - e);
        double fine = fabs(throwBall(1e-5, z) - e);
        checkBelow(coarse, 1e-3);
        checkBelow(fine, 2.5e-4);
        checkBelow(fine, fmax(1e-6, 0.5 * coarse));
    }
}

// B-83: the work of springs, dampers and friction is recorded
static void penaltyLosesNoEnergyUnseen(void** state)
{
    (void)state;
    rbWorldDef def = definePenalty(1.0 / 60.0, DEPTH, 0.3);
    rbPile pile = dropBall(&def, 0.3, 0.0);
    assert_int_equal(rbBody_SetState(pile.world, pile.bodies[1],
                                     rbPile_GetState(&pile, 1).transform, rbMakeVec3(1.0, 0.5, 0.0),
                                     rbMakeVec3(0.0, 7.0, 1.0), &pile.error),
                     RB_STATUS_OK);
    advance(&pile, 200);
    rbLedger ledger = rbWorld_GetLedger(pile.world);
    checkBelow(ledger.frictionWork, -0.1);
    checkBelow(ledger.impactWork, -1.0);
    checkBelow(fabs(ledger.energyDrift), 1e-10);
    rbPile_Free(&pile);
}

// Displacement of a cube that brakes on a floor from 2 m/s with friction 0.5.
static double brake(const rbWorldDef* def)
{
    rbPile pile = rbMakeSlopeBlock(def, 0.0, 0.5);
    assert_int_equal(rbBody_SetState(pile.world, pile.bodies[1],
                                     rbPile_GetState(&pile, 1).transform, rbMakeVec3(2.0, 0.0, 0.0),
                                     RB_VEC3_ZERO, &pile.error),
                     RB_STATUS_OK);
    advance(&pile, (int64_t)(0.5 / def->step.step));
    double way = rbPile_GetState(&pile, 1).center.x;
    rbPile_Free(&pile);
    return way;
}

// B-83: springs become impulses as depth and step become small
static void penaltyApproachesImpulses(void** state)
{
    (void)state;
    double truth = 2.0 * 2.0 / (2.0 * 0.5 * GRAVITY);
    double last = INFINITY;
    for (int i = 0; i < 4; ++i) {
        double step = 2e-3 / (1 << i);
        rbWorldDef def = definePenalty(step, 1e-3 / (double)(1 << (2 * i)), 0.5);
        double springs = fabs(brake(&def) - truth);
        def.contact.method = RB_CONTACT_IMPULSES;
        double impulses = fabs(brake(&def) - truth);
        print_message("step %g: springs off by %.2g m, impulses by %.2g m\n", step, springs,
                      impulses);
        checkBelow(springs, 0.7 * last);
        checkBelow(impulses, 1e-6);
        last = springs;
    }
}

// B-83: queries between steps change nothing, and snapshots continue identically
static void penaltyLooksChangeNothing(void** state)
{
    (void)state;
    rbWorldDef def = definePenalty(0.01, DEPTH, 0.2);
    rbPile one = dropBall(&def, 0.01, 0.0);
    rbPile other = dropBall(&def, 0.01, 0.0);
    for (int k = 1; k <= 30; ++k) {
        double time = rbGetStepTime(k, def.step.step);
        assert_int_equal(rbWorld_AdvanceTo(one.world, time - 0.004).status, RB_STATUS_OK);
        double between = rbPile_GetState(&one, 1).center.z;
        advance(&one, k);
        advance(&other, k);
        checkBelow(fabs(between - rbPile_GetState(&one, 1).center.z), 0.004);
        assert_true(rbPile_GetState(&one, 1).center.z == rbPile_GetState(&other, 1).center.z);
    }
    rbPile_Free(&one);
    rbPile_Free(&other);
}

// B-83
static void whatPenaltyDoesNotKnowIsRefused(void** state)
{
    (void)state;
    rbError error = {0};
    rbWorldDef def = definePenalty(0.01, DEPTH, 0.2);
    def.contact.freezeSpeed = 0.1;
    assert_null(rbCreateWorld(&def, &error));
    assert_non_null(strstr(error.message, "freezing"));
    def = definePenalty(0.01, 1e-12, 0.2);
    assert_null(rbCreateWorld(&def, &error));
    assert_non_null(strstr(error.message, "penaltyDepth is 1e-12"));
    const double bad[][2] = {{0.0, 0.2}, {NAN, 0.2}, {DEPTH, -1.0}, {DEPTH, 1.5}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        def = definePenalty(0.01, bad[i][0], bad[i][1]);
        assert_null(rbCreateWorld(&def, &error));
        assert_int_equal(error.status, RB_STATUS_INVALID);
    }
    def = definePenalty(0.01, DEPTH, 0.2);
    rbPile cradle = rbMakeCradle(&def, 1, 0.1);
    assert_int_equal(rbWorld_Prepare(cradle.world, &error), RB_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.message, "the world has joints"));
    rbPile_Free(&cradle);
}

RB_TEST_GROUP(phys_penalty, cmocka_unit_test(bodiesSinkByTheirWeightOverTheStiffness),
              cmocka_unit_test(ballsReboundAsTheDampedSpringSays),
              cmocka_unit_test(penaltyLosesNoEnergyUnseen),
              cmocka_unit_test(penaltyApproachesImpulses),
              cmocka_unit_test(penaltyLooksChangeNothing),
              cmocka_unit_test(whatPenaltyDoesNotKnowIsRefused));
