// Actions have their stated effect, in all three engines.
#include "base/core/memory.h"
#include "rb_test.h"
#include "server_support.h"

#include <math.h>
#include <string.h>

#define VEC "[%.17g,%.17g,%.17g]"
#define OF(v) (v).x, (v).y, (v).z

// B-91: the velocity changes by impulse over mass, the spin by the moment of the impulse.
static void pushesChangeVelocityByImpulseOverMass(void** state)
{
    (void)state;
    static const char* const stages[][2] = {
        {"bouncing-ball", "ball"}, {"tumbling-box", "box"}, {"robot-arm", "forearm"}};
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; ++s) {
        Stage stage = openStage(stages[s][0]);
        rbBodyId bodyId = rbWorld_FindBody(stage.world, stages[s][1]);
        double mass = rbBody_GetMass(stage.world, bodyId).mass;
        rbBodyState before = stateOf(&stage, stages[s][1]);
        rbVec3 impulse = {0.3 * mass, -0.2 * mass, 0.1 * mass};
        apply(&stage, "{\"do\":\"push\",\"body\":\"%s\",\"point\":" VEC ",\"impulse\":" VEC "}",
              stages[s][1], OF(before.center), OF(impulse));
        rbBodyState after = stateOf(&stage, stages[s][1]);
        rbVec3 change = rbSub(after.linearVelocity, before.linearVelocity);
        checkNear(rbDistance(change, rbScale(1.0 / mass, impulse)), 0.0, 1e-15);
        checkNear(rbDistance(after.angularVelocity, before.angularVelocity), 0.0, 1e-14);
        // an angular impulse L changes L, and the velocity not at all
        rbVec3 spin = {1e-4 * mass, 2e-4 * mass, -3e-4 * mass};
        rbVec3 momentum = rbWorld_GetLedger(stage.world).spinMomentum;
        apply(&stage, "{\"do\":\"spin\",\"body\":\"%s\",\"impulse\":" VEC "}", stages[s][1],
              OF(spin));
        rbVec3 gained = rbSub(rbWorld_GetLedger(stage.world).spinMomentum, momentum);
        checkNear(rbDistance(gained, spin) / rbLength(spin), 0.0, 1e-9);
        closeStage(&stage);
    }
}

static void placingKeepsWhatIsNotGiven(void** state)
{
    (void)state;
    Stage stage = openStage("bouncing-ball");
    (void)rbWorld_AdvanceTo(stage.world, 0.1);
    rbBodyState before = stateOf(&stage, "ball");
    apply(&stage, "{\"do\":\"place\",\"body\":1,\"position\":[1,2,3]}");
    rbBodyState after = stateOf(&stage, "ball");
    checkNear(rbDistance(after.transform.p, rbMakeVec3(1.0, 2.0, 3.0)), 0.0, 0.0);
    checkNear(rbDistance(after.linearVelocity, before.linearVelocity), 0.0, 1e-15);
    apply(&stage, "{\"do\":\"place\",\"body\":1,\"velocity\":[0,0,0],\"angularVelocity\":[0,0,7]}");
    after = stateOf(&stage, "ball");
    checkNear(rbDistance(after.transform.p, rbMakeVec3(1.0, 2.0, 3.0)), 0.0, 1e-15);
    checkNear(rbLength(after.linearVelocity), 0.0, 0.0);
    checkNear(after.angularVelocity.z, 7.0, 1e-14);
    closeStage(&stage);
}

// An added body falls correctly, has the material it names, collides, and is removed again.
static void addedBodiesLiveAndGo(void** state)
{
    (void)state;
    Stage stage = openStage("bouncing-ball");
    apply(&stage, "{\"do\":\"add\",\"body\":{\"position\":[3,0,2],\"shapes\":[{\"geometry\":"
                  "{\"type\":\"sphere\",\"radius\":0.1},\"material\":\"rubber\"}]}}");
    assert_int_equal(rbActor_GetBodyCount(stage.actor), 3);
    rbBodyId bodyId = rbActor_GetBody(stage.actor, 2);
    assert_string_equal(rbBody_GetName(stage.world, bodyId), "added-2");
    assert_int_equal(rbActor_FindBody(stage.actor, bodyId), 2);
    (void)rbWorld_AdvanceTo(stage.world, 0.5);
    checkNear(rbBody_GetState(stage.world, bodyId).center.z, 2.0 - 0.5 * 9.81 * 0.25, 1e-12);
    (void)rbWorld_AdvanceTo(stage.world, 1.0);
    assert_true(rbBody_GetState(stage.world, bodyId).linearVelocity.z > 0.0); // it bounced
    apply(&stage, "{\"do\":\"delete\",\"body\":\"added-2\"}");
    assert_int_equal(rbWorld_GetBodyCount(stage.world), 2);
    assert_true(RB_IS_NULL(rbActor_GetBody(stage.actor, 2)));
    refuse(&stage, "{\"do\":\"delete\",\"body\":2}", "there is no body number 2");
    // numbers are not reused, not even reserved ones
    rbActor_ReserveBodies(stage.actor, 7);
    apply(&stage, "{\"do\":\"add\",\"body\":{\"name\":\"seven\",\"position\":[3,0,2],\"shapes\":"
                  "[{\"geometry\":{\"type\":\"box\",\"size\":[1,1,1]}}]}}");
    assert_int_equal(rbActor_FindBody(stage.actor, rbWorld_FindBody(stage.world, "seven")), 7);
    refuse(&stage, "{\"do\":\"delete\",\"body\":5}", "there is no body number 5");
    closeStage(&stage);
}

// The pointer is reached, and the body stays there against gravity.
static void checkDrag(const char* scene, const char* body, double reached)
{
    Stage stage = openStage(scene);
    rbBodyState start = stateOf(&stage, body);
    rbVec3 target = rbAdd(start.center, rbMakeVec3(0.05, 0.02, 0.1));
    apply(&stage, "{\"do\":\"drag-start\",\"drag\":4,\"body\":\"%s\",\"point\":" VEC "}", body,
          OF(start.center));
    assert_int_equal(rbActor_GetDragCount(stage.actor), 1);
    for (int frame = 1; frame <= 60; ++frame) {
        apply(&stage, "{\"do\":\"drag-move\",\"drag\":4,\"point\":" VEC "}", OF(target));
        (void)rbWorld_AdvanceTo(stage.world, rbGetStepTime(frame, 1.0 / 60.0));
    }
    rbDragView view = rbActor_GetDrag(stage.actor, stage.world, 0);
    checkNear(rbDistance(view.point, target), 0.0, reached);
    apply(&stage, "{\"do\":\"drag-end\",\"drag\":4}");
    assert_int_equal(rbActor_GetDragCount(stage.actor), 0);
    assert_int_equal(rbWorld_GetJointCount(stage.world), rbScene_GetInfo(stage.scene)->jointCount);
    closeStage(&stage);
}

// B-30, in the engines without joints too
static void dragsReachThePointer(void** state)
{
    (void)state;
    checkDrag("bouncing-ball", "ball", 1e-6);
    checkDrag("tumbling-box", "box", 1e-6);
}

// B-30: the joints hold to their tolerance while one of their bodies is dragged.
static void dragsGiveWayToJoints(void** state)
{
    (void)state;
    static const struct {
        const char* scene;
        const char* body;
        double tolerance; // m
    } rows[] = {{"robot-arm", "forearm", 1e-6},      {"double-pendulum", "lower", 1e-6},
                {"chain-hanging", "link[50]", 1e-6}, {"four-bar", "coupler", 1e-6},
                {"governor", "left", 1e-6},          {"door-with-stop", "door", 1e-6}};
    static const char* const kinds[] = {"point", "translate", "rotate"};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        for (int k = 0; k < 3; ++k) {
            Stage stage = openStage(rows[r].scene);
            rbVec3 start = stateOf(&stage, rows[r].body).center;
            apply(&stage,
                  "{\"do\":\"drag-start\",\"drag\":0,\"body\":\"%s\",\"kind\":\"%s\","
                  "\"point\":" VEC "}",
                  rows[r].body, kinds[k], OF(start));
            double worst = 0.0;
            for (int frame = 1; frame <= 20; ++frame) {
                double a = 0.1 * frame; // farther than the joints allow
                rbVec3 target = rbAdd(start, rbMakeVec3(a, -0.5 * a, 0.7 * a));
                if (k == 2) {
                    apply(&stage,
                          "{\"do\":\"drag-move\",\"drag\":0,\"orientation\":"
                          "{\"axis\":[1,2,-1],\"angle\":%.17g}}",
                          a);
                } else {
                    apply(&stage, "{\"do\":\"drag-move\",\"drag\":0,\"%s\":" VEC "}",
                          k == 0 ? "point" : "position", OF(target));
                }
                (void)rbWorld_AdvanceTo(stage.world, rbGetStepTime(frame, 1.0 / 60.0));
                rbJointId ids[256];
                int count = rbWorld_GetJointIds(stage.world, ids, 256);
                for (int i = 0; i < count; ++i) {
                    worst = fmax(worst, rbJoint_GetState(stage.world, ids[i]).positionError);
                }
            }
            checkBelow(worst, rows[r].tolerance);
            assert_true(rbDistance(stateOf(&stage, rows[r].body).center, start) > 1e-4 || k == 2 ||
                        strcmp(rows[r].body, "door") == 0); // pulled against its stop
            closeStage(&stage);
        }
    }
}

// B-91: parameters take effect from now on.
static void setsAct(void** state)
{
    (void)state;
    Stage stage = openStage("bouncing-ball");
    apply(&stage, "{\"do\":\"set\",\"target\":\"world\",\"key\":\"gravity\",\"value\":[0,0,0]}");
    rbVec3 velocity = stateOf(&stage, "ball").linearVelocity;
    (void)rbWorld_AdvanceTo(stage.world, 0.05);
    checkNear(rbDistance(stateOf(&stage, "ball").linearVelocity, velocity), 0.0, 1e-15);
    apply(&stage, "{\"do\":\"set\",\"target\":\"material\",\"name\":\"rubber\",\"key\":"
                  "\"restitution\",\"value\":0.125}");
    rbBodyId ball = rbWorld_FindBody(stage.world, "ball");
    checkNear(rbBody_GetShape(stage.world, ball, 0).material.restitution, 0.125, 0.0);
    // a new body has the current material
    apply(&stage, "{\"do\":\"add\",\"body\":{\"position\":[3,0,2],\"shapes\":[{\"geometry\":"
                  "{\"type\":\"sphere\",\"radius\":0.1},\"material\":\"rubber\"}]}}");
    checkNear(rbBody_GetShape(stage.world, rbActor_GetBody(stage.actor, 2), 0).material.restitution,
              0.125, 0.0);
    apply(&stage, "{\"do\":\"set\",\"target\":\"material\",\"name\":\"rubber\",\"key\":"
                  "\"restitution\",\"value\":1}");
    checkNear(rbBody_GetShape(stage.world, rbActor_GetBody(stage.actor, 2), 0).material.restitution,
              1.0, 0.0);
    apply(&stage,
          "{\"do\":\"set\",\"target\":\"body\",\"number\":1,\"key\":\"mass\",\"value\":42}");
    checkNear(rbBody_GetMass(stage.world, ball).mass, 42.0, 1e-12);
    closeStage(&stage);

    stage = openStage("robot-arm");
    apply(&stage, "{\"do\":\"set\",\"target\":\"motor\",\"name\":\"elbow\",\"key\":\"target\","
                  "\"value\":0.3}");
    rbJointId elbow = rbWorld_FindJoint(stage.world, "elbow");
    (void)rbWorld_AdvanceTo(stage.world, 3.0);
    rbJointState joint = rbJoint_GetState(stage.world, elbow);
    checkNear(joint.motorTargets[0], 0.3, 0.0);
    checkNear(joint.freedomPositions[0], 0.3, 0.05);
    apply(&stage,
          "{\"do\":\"set\",\"target\":\"motor\",\"number\":2,\"key\":\"gain\",\"value\":1}");
    checkNear(rbJoint_GetFreedom(stage.world, elbow, 0).motor.gain, 1.0, 0.0);
    apply(&stage, "{\"do\":\"set\",\"target\":\"motor\",\"number\":2,\"key\":\"forceMax\","
                  "\"value\":null}");
    assert_true(isinf(rbJoint_GetFreedom(stage.world, elbow, 0).motor.forceMax));
    apply(&stage, "{\"do\":\"set\",\"target\":\"joint\",\"number\":2,\"key\":\"damping\","
                  "\"value\":0.5}");
    checkNear(rbJoint_GetFreedom(stage.world, elbow, 0).damping, 0.5, 0.0);
    apply(&stage, "{\"do\":\"set\",\"target\":\"step\",\"key\":\"tolerance\",\"value\":1e-7}");
    checkNear(rbWorld_GetStepSettings(stage.world).tolerance, 1e-7, 0.0);
    closeStage(&stage);

    stage = openStage("wilberforce");
    apply(&stage, "{\"do\":\"set\",\"target\":\"spring\",\"name\":\"helix1\",\"key\":\"stiffness\","
                  "\"value\":3}");
    checkNear(rbSpring_GetDef(stage.world, rbWorld_FindSpring(stage.world, "helix1")).stiffness,
              3.0, 0.0);
    closeStage(&stage);

    stage = openStage("card-house");
    apply(&stage, "{\"do\":\"set\",\"target\":\"contact\",\"key\":\"cone\",\"value\":\"pyramid\"}");
    assert_int_equal(rbWorld_GetContactSettings(stage.world).cone, RB_CONE_PYRAMID);
    closeStage(&stage);
}

// A list written and read again is the same, to the bit of its times.
static void listsSurviveTheirText(void** state)
{
    (void)state;
    rbActions list = {0};
    rbActions read = {0};
    rbError error = {0};
    rbActions_Add(&list, 0.0, "{\"do\":\"push\"}");
    rbActions_Add(&list, 0.1, "{\"do\":\"spin\",\"impulse\":[0.1,1e-300,3]}");
    rbActions_Add(&list, 0.1, "{\"do\":\"add\",\"body\":{\"name\":\"\\u00e4\"}}");
    rbActions_Add(&list, 1.0 / 3.0, "{\"do\":\"delete\",\"body\":1}");
    size_t size = 0;
    char* text = rbActions_Format(&list, &size);
    assert_int_equal(strlen(text), size);
    assert_int_equal(rbActions_Parse(&read, text, size, &error), RB_STATUS_OK);
    assert_int_equal(read.count, 4);
    size_t again = 0;
    char* second = rbActions_Format(&read, &again);
    for (int i = 0; i < 4; ++i) {
        assert_memory_equal(&read.data[i].time, &list.data[i].time, sizeof(double));
    }
    assert_int_equal(rbActions_Parse(&list, second, again, &error), RB_STATUS_INVALID);
    assert_int_equal(error.line, 1); // its times would decrease
    assert_int_equal(list.count, 4);
    static const char* const bad[] = {"{\"time\":1",
                                      "{\"do\":1}",
                                      "[1]",
                                      "{\"time\":\"x\"}",
                                      "{\"time\":-1,\"do\":\"push\"}",
                                      "{\"time\":1}\n\n{\"time\":0.5}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        rbActions none = {0};
        assert_int_not_equal(rbActions_Parse(&none, bad[i], strlen(bad[i]), &error), RB_STATUS_OK);
        assert_int_equal(error.line, i == 5 ? 3 : 1);
        assert_int_equal(none.count, 0);
        rbActions_Free(&none);
    }
    rbFree(text, size + 1);
    rbFree(second, again + 1);
    rbActions_Free(&list);
    rbActions_Free(&read);
}

RB_TEST_GROUP(test_actions, cmocka_unit_test(pushesChangeVelocityByImpulseOverMass),
              cmocka_unit_test(placingKeepsWhatIsNotGiven), cmocka_unit_test(addedBodiesLiveAndGo),
              cmocka_unit_test(dragsReachThePointer), cmocka_unit_test(dragsGiveWayToJoints),
              cmocka_unit_test(setsAct), cmocka_unit_test(listsSurviveTheirText));
