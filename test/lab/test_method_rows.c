// Methods of the step engine that are registered at startup, and their settings. Tests share the
// tables of the process.
#include "dynamics/solvers/step_method.h"
#include "rb_test.h"

#include <rattleback/lab.h>
#include <rattleback/lab_joints.h>
#include <rattleback/world.h>

#include <math.h>
#include <string.h>

static void laboratoryAddsStepMethodsInOrder(void** state)
{
    (void)state;
    static const char* const names[] = {"impulses", "penalty", "multipliers", "baraff", "reduced"};
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.step.method = RB_METHOD_COUNT;
    rbError error = {0};
    assert_null(rbCreateWorld(&def, &error)); // a core without the laboratory
    assert_int_equal(error.status, RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "step.method"));
    assert_int_equal(rbStepMethod_Find("penalty"), RB_METHOD_COUNT);
    def.step.method = RB_METHOD_IMPULSES;
    def.contact.isReacting = true;
    assert_null(rbCreateWorld(&def, &error));
    assert_non_null(strstr(error.message, "contact.jointReaction needs the laboratory"));
    def.contact.isReacting = false;
    def.step.method = RB_METHOD_COUNT;
    assert_int_equal(rbRegisterLaboratory(&error), RB_STATUS_OK);
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(rbStepMethod_Find(names[i]), i); // recordings contain these numbers
        assert_string_equal(rbStepMethod_Name((rbStepMethod)i), names[i]);
    }
    assert_int_equal(rbContactMethod_Find("penalty"), 1); // likewise
    rbWorld* world = rbCreateWorld(&def, &error);
    assert_non_null(world);
    rbDestroyWorld(world);
}

static void settingsOfMethodsAreChecked(void** state)
{
    (void)state;
    assert_int_equal(rbRegisterLaboratory(NULL), RB_STATUS_OK);
    const struct {
        rbClassicalSettings settings;
        const char* expected;
    } cases[] = {
        {{.baumgarteAlpha = -1.0, .penaltyFrequency = 1.0}, "step.baumgarteAlpha is -1"},
        {{.baumgarteBeta = NAN, .penaltyFrequency = 1.0}, "step.baumgarteBeta is nan"},
        {{.penaltyFrequency = 0.0}, "step.penaltyFrequency is 0"},
        {{.penaltyFrequency = 1.0, .penaltyDamping = INFINITY}, "step.penaltyDamping is inf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbError error = {0};
        rbWorldDef def = rbDefaultWorldDef();
        def.engine = RB_ENGINE_STEP;
        def.step.method = rbStepMethod_Find("multipliers");
        rbStepSettings_SetClassical(&def.step, &cases[i].settings);
        assert_null(rbCreateWorld(&def, &error));
        assert_int_equal(error.status, RB_STATUS_INVALID);
        assert_non_null(strstr(error.message, cases[i].expected));
    }
}

static void extraSettingsKnowWhoseTheyAre(void** state)
{
    (void)state;
    const double numbers[2] = {3.0, 4.0};
    double found[2] = {1.0, 2.0};
    rbExtraSettings extra = {0};
    assert_false(rbExtraSettings_Get(&extra, 7, found, sizeof found));
    rbExtraSettings_Put(&extra, 7, numbers, sizeof numbers);
    assert_false(rbExtraSettings_Get(&extra, 8, found, sizeof found));
    checkNear(found[0], 1.0, 0.0);
    assert_true(rbExtraSettings_Get(&extra, 7, found, sizeof found));
    assert_memory_equal(found, numbers, sizeof found);
}

// An external method: bodies of mechanisms move on straight lines, whatever the joints.
static rbStatus acceptAll(const rbStepMethodRow* row, const rbMechanism* mechanism, rbError* error)
{
    (void)row;
    (void)mechanism;
    (void)error;
    return RB_STATUS_OK;
}

static rbMethodState* createStraight(const rbStepMethodRow* row, const rbMechanism* mechanism,
                                     const rbStepSettings* settings)
{
    static rbMethodState state;
    (void)mechanism;
    (void)settings;
    state.row = row;
    return &state;
}

static void destroyStraight(rbMethodState* state)
{
    (void)state;
}

static void stepStraight(rbMethodState* state, rbMechanism* mechanism, double time, double h,
                         rbMechForceFn* forces, void* context)
{
    (void)state;
    (void)time;
    (void)forces;
    (void)context;
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        rbMechBody* body = &mechanism->bodies[i];
        if (body->isDynamic) {
            body->pose.position = rbAddScaled(body->pose.position, h, body->velocity);
        }
    }
}

static void methodsFromOutsideMoveMechanisms(void** state)
{
    (void)state;
    static const rbStepMethodRow row = {.name = "straight",
                                        .check = acceptAll,
                                        .create = createStraight,
                                        .destroy = destroyStraight,
                                        .step = stepStraight};
    rbError error = {0};
    assert_int_equal(rbRegisterStepMethod(&row, &error), RB_STATUS_OK);
    assert_int_equal(rbRegisterStepMethod(&row, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "\"straight\""));
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.step.method = rbStepMethod_Find("straight");
    rbWorld* world = rbCreateWorld(&def, &error);
    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.type = RB_BODY_DYNAMIC;
    bodyDef.position = rbMakeVec3(1.0, 0.0, 0.0);
    bodyDef.linearVelocity = rbMakeVec3(0.0, 2.0, 0.0);
    rbMassProperties mass = {.mass = 1.0, .inertia = {.xx = 1.0, .yy = 1.0, .zz = 1.0}};
    bodyDef.mass = &mass;
    rbBodyId body = rbCreateBody(world, &bodyDef, &error);
    rbJointDef joint = rbDefaultJointDef();
    joint.bodyB = body;
    joint.type = RB_JOINT_PLANE;
    joint.anchorB = RB_VEC3_ZERO;
    joint.anchorA = bodyDef.position;
    joint.axisA = rbMakeVec3(1.0, 0.0, 0.0);
    (void)rbCreateJoint(world, &joint, &error);
    assert_int_equal(rbWorld_Advance(world, 0.5).status, RB_STATUS_OK);
    checkNear(rbBody_GetState(world, body).center.y, 1.0, 1e-12);
    checkNear(rbBody_GetState(world, body).center.z, 0.0, 0.0); // without gravity
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_method_rows, cmocka_unit_test(laboratoryAddsStepMethodsInOrder),
              cmocka_unit_test(settingsOfMethodsAreChecked),
              cmocka_unit_test(extraSettingsKnowWhoseTheyAre),
              cmocka_unit_test(methodsFromOutsideMoveMechanisms));
