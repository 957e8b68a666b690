// Ids of what was destroyed, and null ids, through every public function that takes one and returns
// a status: INVALID, a message that names the kind and the id, and a world that is as it was, also
// when something else has taken the place. Enumerators that do not exist are refused likewise.
#include "rb_test.h"

#include <rattleback/rattleback.h>

#include <limits.h>
#include <string.h>

typedef struct Ids {
    rbBodyId body;
    rbJointId hinge;
    rbJointId drag;
    rbSpringId spring;
    rbGeometryId geometry;
} Ids;

// A body on a hinge, on a spring and dragged, and a geometry that nothing uses.
static Ids addAll(rbWorld* world)
{
    Ids ids;
    rbBodyDef def = rbDefaultBodyDef();
    rbMassProperties mass = {.mass = 1.0, .inertia = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0}};
    def.mass = &mass;
    ids.body = rbCreateBody(world, &def, NULL);
    ids.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.1, NULL));
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.1, NULL));
    assert_false(RB_IS_NULL(rbCreateShape(world, ids.body, &shape, NULL)));
    rbJointDef hinge = rbDefaultJointDef();
    hinge.type = RB_JOINT_HINGE;
    hinge.bodyB = ids.body;
    hinge.freedoms[0].motor = (rbMotorDef){.type = RB_MOTOR_VELOCITY, .forceMax = 1.0};
    rbJointDef_SetAnchor(&hinge, world, RB_VEC3_ZERO);
    rbJointDef_SetAxis(&hinge, world, rbMakeVec3(0.0, 1.0, 0.0));
    ids.hinge = rbCreateJoint(world, &hinge, NULL);
    ids.drag = rbWorld_StartDrag(world, ids.body, rbMakeVec3(0.1, 0.0, 0.0), 1.0, NULL);
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyB = ids.body;
    spring.anchorA = rbMakeVec3(0.0, 0.0, 1.0);
    spring.stiffness = 1.0;
    ids.spring = rbCreateSpring(world, &spring, NULL);
    assert_false(RB_IS_NULL(ids.hinge) || RB_IS_NULL(ids.drag) || RB_IS_NULL(ids.spring));
    return ids;
}

static void removeAll(rbWorld* world, const Ids* ids)
{
    rbDestroyBody(world, ids->body); // with its joints and springs
    assert_int_equal(rbWorld_DestroyGeometry(world, ids->geometry, NULL), RB_STATUS_OK);
}

#define CALLS 14

// The answers of all calls with these ids; messages, where there are any, must name the kind.
static void callAll(rbWorld* world, const Ids* ids, rbStatus answers[CALLS])
{
    rbVec3 one = {1.0, 1.0, 1.0};
    rbMaterial iron = {.density = 7800.0, .stiction = -1.0};
    rbFreedomDef freedom = {.damping = 1.0};
    rbLimitDef limit = {.lower = -1.0, .upper = 1.0};
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = ids->geometry;
    rbError errors[CALLS] = {0};
    rbError* e = errors;
    rbStatus* a = answers;
    *a++ = rbBody_SetState(world, ids->body, RB_TRANSFORM_IDENTITY, one, one, e++);
    *a++ = rbBody_SetMaterial(world, ids->body, -1, &iron, e++);
    *a++ = rbBody_SetSurfaceVelocity(world, ids->body, -1, one, e++);
    *a++ = rbBody_SetMass(world, ids->body, 5.0, e++);
    *a++ = RB_IS_NULL(rbCreateShape(world, ids->body, &shape, e)) ? e->status : RB_STATUS_OK;
    ++e;
    *a++ = RB_IS_NULL(rbWorld_StartDrag(world, ids->body, one, 1.0, e)) ? e->status : RB_STATUS_OK;
    ++e;
    *a++ = rbJoint_SetMotorTarget(world, ids->hinge, 0, 1.0, e++);
    *a++ = rbJoint_SetFreedom(world, ids->hinge, 0, &freedom, e++);
    *a++ = rbJoint_SetLimit(world, ids->hinge, 0, &limit, e++);
    *a++ = rbJoint_SetVelocity(world, ids->drag, one, one, e++);
    *a++ = rbSpring_SetLaw(world, ids->spring, 5.0, 1.0, 1.0, e++);
    static const char* const kinds[] = {"body",  "body",  "body",  "body",  "body",  "",
                                        "joint", "joint", "joint", "joint", "spring"};
    for (int i = 0; i < e - errors; ++i) {
        if (answers[i] != RB_STATUS_OK && strstr(errors[i].message, kinds[i]) == NULL) {
            fail_msg("call %d does not name a %s: \"%s\"", i, kinds[i], errors[i].message);
        }
    }
    *a++ = rbBody_ApplyImpulse(world, ids->body, one, one);
    *a++ = rbBody_ApplyAngularImpulse(world, ids->body, one);
    *a++ = rbWorld_MoveDrag(world, ids->drag, one, 1.0);
}

// Another body, joint, drag, spring and geometry are in the places of the destroyed ones.
static void idsOfTheDestroyedChangeNothing(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    rbWorld* world = rbCreateWorld(&def, NULL);
    rbStatus answers[CALLS];
    Ids stale = addAll(world);
    callAll(world, &stale, answers);
    for (int i = 0; i < CALLS; ++i) {
        assert_int_equal(answers[i], RB_STATUS_OK);
    }
    removeAll(world, &stale);
    for (int round = 0; round < 2; ++round) { // empty places, then taken ones
        const Ids ids[] = {stale,
                           {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
                           {{9, 1}, {9, 1}, {9, 1}, {9, 1}, {9, 1}}};
        for (int k = 0; k < 3; ++k) {
            uint64_t hash = rbWorld_GetHash(world);
            double mass = rbWorld_GetLedger(world).mass;
            callAll(world, &ids[k], answers);
            for (int i = 0; i < CALLS; ++i) {
                assert_int_equal(answers[i], RB_STATUS_INVALID);
            }
            assert_true(rbWorld_GetHash(world) == hash && rbWorld_GetLedger(world).mass == mass);
        }
        if (round == 0) {
            (void)addAll(world);
        }
    }
    assert_int_equal(rbWorld_Advance(world, 0.01).status, RB_STATUS_OK);
    rbDestroyWorld(world);
}

static void aGeometryIsDestroyedOnce(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    rbWorld* world = rbCreateWorld(&def, NULL);
    rbGeometryId id = rbWorld_AddGeometry(world, rbCreateSphere(0.1, NULL));
    rbError error = {0};
    assert_int_equal(rbWorld_DestroyGeometry(world, id, &error), RB_STATUS_OK);
    assert_int_equal(rbWorld_DestroyGeometry(world, id, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "geometry"));
    assert_int_equal(rbWorld_DestroyGeometry(world, (rbGeometryId){0, 0}, NULL), RB_STATUS_INVALID);
    rbDestroyWorld(world);
}

static void enumeratorsThatDoNotExistAreRefused(void** state)
{
    (void)state;
    static const int numbers[] = {-1, 99, INT_MAX, INT_MIN};
    rbWorldDef def = rbDefaultWorldDef();
    rbWorld* world = rbCreateWorld(&def, NULL);
    (void)addAll(world);
    uint64_t hash = rbWorld_GetHash(world);
    for (int i = 0; i < 4; ++i) {
        rbError error = {0};
        rbPathDef path = rbDefaultPathDef();
        path.type = (rbPathType)numbers[i];
        rbBodyDef body = rbDefaultBodyDef();
        body.type = RB_BODY_KINEMATIC;
        body.path = &path;
        assert_true(RB_IS_NULL(rbCreateBody(world, &body, &error)));
        assert_non_null(strstr(error.message, "the path is of type"));
        assert_int_equal(rbWorld_SetAccuracy(world, (rbAccuracy)numbers[i], &error),
                         RB_STATUS_INVALID);
        assert_non_null(strstr(error.message, "no level of accuracy"));
        double values[8] = {0.0};
        assert_int_equal(rbWorld_WriteField(world, (rbBodyField)numbers[i], values, 0, &error),
                         RB_STATUS_INVALID);
        assert_non_null(strstr(error.message, "does not exist"));
        assert_string_equal(rbJointType_Name((rbJointType)numbers[i]), "unknown");
        assert_int_equal(rbJointType_GetRowCount((rbJointType)numbers[i]), 0);
        assert_string_equal(rbMeshIssueKind_Text((rbMeshIssueKind)numbers[i]), "unknown");
        assert_false(rbMeshIssueKind_IsError((rbMeshIssueKind)numbers[i]));
        assert_false(rbEngineType_GetTraits((rbEngineType)numbers[i]).holdsJoints);
        assert_true(rbWorld_GetHash(world) == hash);
    }
    rbDestroyWorld(world);
}

// Memory that no machine has must not end the program.
static void capacitiesOutOfRangeAreRefused(void** state)
{
    (void)state;
    static const int numbers[] = {-1, INT_MIN, INT_MAX};
    for (int i = 0; i < 3; ++i) {
        rbError error = {0};
        rbWorldDef def = rbDefaultWorldDef();
        def.bodyCapacity = numbers[i];
        assert_null(rbCreateWorld(&def, &error));
        assert_non_null(strstr(error.message, "bodyCapacity is"));
    }
}

RB_TEST_GROUP(test_misuse, cmocka_unit_test(idsOfTheDestroyedChangeNothing),
              cmocka_unit_test(aGeometryIsDestroyedOnce),
              cmocka_unit_test(enumeratorsThatDoNotExistAreRefused),
              cmocka_unit_test(capacitiesOutOfRangeAreRefused));
