// Contacts with the reaction of joints: the effective masses of normals, and saved sweeps (B-81).
#include "contact_scenes.h"
#include "dynamics/engines/step/step_contact_state.h"
#include "lab/contact/joint_reaction.h"
#include "world/world_state.h"

#include <math.h>

#define LENGTH 1.0
#define FOOT 0.02 // m, edge of the foot at the far end

// A bar on a ball joint at the origin, with a foot on the floor.
static rbWorld* makeBar(bool isReacting, rbJointType type)
{
    rbWorldDef def = defineWorld();
    def.contact.isReacting = isReacting;
    def.contact.isWarm = false;
    rbWorld* world = makeWorld(&def);
    rbError error = {0};
    Piece floor = {.name = "floor", .position = {0.0, 0.0, -0.5 * FOOT - SHELL}};
    (void)addPiece(world, &floor);
    rbBodyId bar = addBody(world, "bar", 1.0, rbMakeVec3(0.5 * LENGTH, 0.0, 0.0));
    Piece foot = {.size = {FOOT, FOOT, FOOT}, .offset = {0.5 * LENGTH, 0.0, 0.0}};
    assert_false(RB_IS_NULL(addShape(world, bar, &foot, &error)));
    rbJointDef joint = rbDefaultJointDef();
    joint.type = type;
    joint.bodyB = bar;
    (void)join(world, &joint, RB_VEC3_ZERO, rbMakeVec3(0.0, 1.0, 0.0));
    if (rbWorld_Prepare(world, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    return world;
}

// About the joint the bar rotates with I = 0.03, 0.02 + 1/4, 0.04 + 1/4 kg m^2: a normal at r and
// one at s are coupled by (r x z) I^-1 (s x z). The reaction of the joint is the difference from
// the free bar.
// B-81
static void reactionIsThatOfABarOnABallJoint(void** state)
{
    (void)state;
    rbWorld* world = makeBar(true, RB_JOINT_BALL);
    advance(world, 5.0 * STEP);
    rbStepEngine* engine = world->engine;
    const rbStepContacts* c = engine->contacts;
    rbJointSweep joints = {.c = engine->contacts};
    double reaction[RB_MANIFOLD_POINTS_MAX * RB_MANIFOLD_POINTS_MAX];
    assert_int_equal(c->set.contactCount, 1);
    const rbContact* contact = &c->set.contacts[0];
    assert_int_equal(contact->pointCount, 4);
    rbMeasureJointReaction(&joints, 0, reaction);
    bool isB = c->bodies.data[contact->bodyB].invMass > 0.0;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            const rbContactPoint* points = &c->set.points[contact->firstPoint];
            rbVec3 r = isB ? points[i].armB : points[i].armA;
            rbVec3 s = isB ? points[j].armB : points[j].armA;
            double across = r.y * s.y / 0.03;
            double own = 1.0 + across + r.x * s.x / 0.02;
            double held = across + (r.x + 0.5) * (s.x + 0.5) / (0.02 + 0.25);
            checkNear(reaction[RB_MANIFOLD_POINTS_MAX * i + j], own - held, 1e-9);
        }
    }
    rbDestroyWorld(world);
}

// With the masses of the bar alone every sweep makes only partial progress; with its masses on the
// joint the first sweep solves it, and the second finds nothing to do.
// B-81
static void reactionSavesSweeps(void** state)
{
    (void)state;
    double sweeps[2][2];
    for (int i = 0; i < 2; ++i) {
        rbWorld* world = makeBar(i == 1, RB_JOINT_HINGE);
        advance(world, 0.2);
        rbContactStatistics s = rbWorld_GetContactStatistics(world);
        sweeps[i][0] = (double)s.positionSweeps / 200.0;
        sweeps[i][1] = (double)s.velocitySweeps / 200.0;
        rbContactView views[8];
        double moment = 0.0; // on the floor, about the hinge
        int count = rbWorld_GetContacts(world, views, 8);
        for (int k = 0; k < count; ++k) {
            moment += fabs(views[k].force.z) * views[k].point.x;
        }
        checkNear(moment, 0.5 * GRAVITY, 1e-4);
        assert_int_equal(s.unmetSteps, 0);
        print_message("sweeps per step %.2f (position), %.2f (velocity), %d stages as a whole\n",
                      sweeps[i][0], sweeps[i][1], (int)s.directStages);
        rbDestroyWorld(world);
    }
    assert_true(sweeps[1][0] < 0.5 * sweeps[0][0]);
    assert_true(sweeps[1][1] < 0.5 * sweeps[0][1]);
}

RB_TEST_GROUP(test_contact_reaction, cmocka_unit_test(reactionIsThatOfABarOnABallJoint),
              cmocka_unit_test(reactionSavesSweeps));
