// What a world tells is what it was given: forces, pairs of materials, springs, counts and names.
#include "rb_test.h"

#include <rattleback/rattleback.h>

#include <math.h>
#include <string.h>

static rbWorld* makeWorld(rbBodyId bodies[2])
{
    rbError error = {0};
    rbWorldDef def = rbDefaultWorldDef();
    rbWorld* world = rbCreateWorld(&def, &error);
    assert_non_null(world);
    for (int i = 0; i < 2; ++i) {
        rbMassProperties mass = {.volume = 1.0, .mass = 2.0 + i};
        mass.inertia = (rbSym3){0.4, 0.5, 0.6, 0.0, 0.0, 0.0};
        rbBodyDef body = rbDefaultBodyDef();
        body.name = i == 0 ? "left" : "right";
        body.mass = &mass;
        body.position = rbMakeVec3(3.0 * i, 0.0, 0.0);
        bodies[i] = rbCreateBody(world, &body, &error);
        assert_false(RB_IS_NULL(bodies[i]));
    }
    return world;
}

// In the order of their creation; slots of destroyed ones are reused, and no more are written than
// there is room for.
static void forcesAreTold(void** state)
{
    (void)state;
    rbBodyId bodies[2];
    rbWorld* world = makeWorld(bodies);
    rbForceId ids[3];
    for (int i = 0; i < 3; ++i) {
        rbForceDef def = rbDefaultForceDef();
        def.body = i == 2 ? (rbBodyId){0} : bodies[i];
        def.force.x = 1.0 + i;
        ids[i] = rbCreateForce(world, &def, NULL);
        assert_false(RB_IS_NULL(ids[i]));
    }
    rbForceDef found[4] = {{0}};
    assert_int_equal(rbWorld_GetForces(world, NULL, 0), 3);
    assert_int_equal(rbWorld_GetForces(world, found, 2), 3);
    assert_true(found[0].force.x == 1.0 && found[1].force.x == 2.0 && found[2].cookie == 0);
    rbDestroyForce(world, ids[1]);
    assert_int_equal(rbWorld_GetForces(world, found, 4), 2);
    assert_true(found[0].force.x == 1.0 && found[1].force.x == 3.0);
    assert_int_equal(found[0].body.index1, bodies[0].index1);
    assert_true(RB_IS_NULL(found[1].body));
    rbDestroyBody(world, bodies[0]); // with its force
    assert_int_equal(rbWorld_GetForces(world, found, 4), 1);
    assert_true(found[0].force.x == 3.0);
    rbDestroyWorld(world);
}

static void pairsOfMaterialsAreTold(void** state)
{
    (void)state;
    rbBodyId bodies[2];
    rbWorld* world = makeWorld(bodies);
    rbMaterialPair pair = {.restitution = 0.25, .friction = 0.75, .law = RB_IMPACT_NEWTON};
    assert_int_equal(rbWorld_SetMaterialPair(world, 1, 2, &pair, NULL), RB_STATUS_OK);
    pair.friction = 0.5;
    assert_int_equal(rbWorld_SetMaterialPair(world, 3, 3, &pair, NULL), RB_STATUS_OK);
    rbMaterialPair found = {0};
    assert_true(rbWorld_GetMaterialPair(world, 2, 1, &found));
    assert_true(found.restitution == 0.25 && found.friction == 0.75);
    assert_int_equal(found.law, RB_IMPACT_NEWTON);
    assert_true(rbWorld_GetMaterialPair(world, 3, 3, &found));
    assert_true(found.friction == 0.5);
    assert_false(rbWorld_GetMaterialPair(world, 1, 1, &found));
    assert_false(rbWorld_GetMaterialPair(world, 1, 3, &found));
    assert_false(rbWorld_GetMaterialPair(world, 3, 2, &found));
    pair.friction = 0.125; // the last one counts
    assert_int_equal(rbWorld_SetMaterialPair(world, 2, 1, &pair, NULL), RB_STATUS_OK);
    assert_true(rbWorld_GetMaterialPair(world, 1, 2, &found));
    assert_true(found.friction == 0.125);
    rbDestroyWorld(world);
}

static void springsAreTold(void** state)
{
    (void)state;
    rbBodyId bodies[2];
    rbWorld* world = makeWorld(bodies);
    rbSpringDef def = rbDefaultSpringDef();
    def.name = "coil";
    def.bodyA = bodies[0];
    def.bodyB = bodies[1];
    def.restLength = -1.0; // as the bodies are
    def.stiffness = 8.0;
    rbSpringId id = rbCreateSpring(world, &def, NULL);
    assert_false(RB_IS_NULL(id));
    assert_string_equal(rbSpring_GetName(world, id), "coil");
    assert_int_equal(rbSpring_GetBodyA(world, id).index1, bodies[0].index1);
    assert_int_equal(rbSpring_GetBodyB(world, id).index1, bodies[1].index1);
    assert_int_equal(rbWorld_FindSpring(world, "coil").index1, id.index1);
    assert_true(RB_IS_NULL(rbWorld_FindSpring(world, "rope")));
    rbSpringDef found = rbSpring_GetDef(world, id);
    assert_true(found.restLength == 3.0 && found.stiffness == 8.0 && found.damping == 0.0);
    assert_int_equal(rbWorld_GetSpringCount(world), 1);
    rbDestroyBody(world, bodies[1]); // with its springs
    assert_false(rbSpring_IsValid(world, id));
    assert_int_equal(rbWorld_GetSpringCount(world), 0);
    assert_string_equal(rbBody_GetName(world, bodies[0]), "left");
    assert_int_equal(rbWorld_FindBody(world, "left").index1, bodies[0].index1);
    assert_true(RB_IS_NULL(rbWorld_FindBody(world, "right")));
    rbDestroyWorld(world);
}

// A spring that is too stiff for the steps is named when the energy drifts beyond what is allowed.
static void stiffSpringsAreNamed(void** state)
{
    (void)state;
    rbBodyId bodies[2];
    rbWorld* world = makeWorld(bodies);
    rbStepSettings settings = rbWorld_GetStepSettings(world);
    settings.step = 0.05;
    settings.energyTolerance = 1e-9;
    assert_int_equal(rbWorld_SetStepSettings(world, &settings, NULL), RB_STATUS_OK);
    rbSpringDef def = rbDefaultSpringDef();
    def.name = "hard";
    def.bodyA = bodies[0];
    def.bodyB = bodies[1];
    def.restLength = 2.9;
    def.stiffness = 1500.0; // mass 1.2 kg: 35 rad/s, 1.8 rad per step
    assert_false(RB_IS_NULL(rbCreateSpring(world, &def, NULL)));
    (void)rbWorld_Advance(world, 2.0);
    rbStiffSpring stiff = rbWorld_FindStiffSpring(world);
    assert_int_equal(stiff.count, 1);
    assert_true(RB_IS_NULL(stiff.joint));
    checkRelative(stiff.period, 2.0 * RB_PI * sqrt(1.2 / 1500.0), 1e-6);
    char text[512] = "";
    double scale = 1e-3;
    bool isDrifting = fabs(rbWorld_GetLedger(world).energyDrift) > 1e-9 * scale;
    size_t length = rbWorld_DescribeNumericalEnergy(world, scale, text, sizeof text);
    assert_int_equal(length > 0, isDrifting);
    assert_true(!isDrifting || (length == strlen(text) && strstr(text, "spring \"hard\"") != NULL));
    assert_int_equal(rbWorld_DescribeNumericalEnergy(world, 1e30, text, sizeof text), 0);
    rbDestroyWorld(world);
}

// Counted are springs that turn by more than a radian per step and are not damped more than
// critically; the one with the shortest period is reported.
static void onlyStiffSpringsAreCounted(void** state)
{
    (void)state;
    static const struct {
        double turn, damping; // rad per step; of the critical damping
        bool isStiff;
    } cases[] = {{0.97, 0.0, false}, {1.03, 0.0, true}, {3.0, 0.9, true},
                 {3.0, 1.1, false},  {1.5, 0.3, true},  {0.1, 0.0, false}};
    rbBodyId bodies[2];
    rbWorld* world = makeWorld(bodies);
    double step = rbWorld_GetStepSettings(world).step;
    double mass = 1.2; // of 2 and 3 kg
    int count = 0;
    double turnMost = 0.0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        double rate = cases[i].turn / step;
        rbSpringDef def = rbDefaultSpringDef();
        def.bodyA = bodies[0];
        def.bodyB = bodies[1];
        def.restLength = -1.0;
        def.stiffness = mass * rate * rate;
        def.damping = cases[i].damping * 2.0 * mass * rate;
        assert_false(RB_IS_NULL(rbCreateSpring(world, &def, NULL)));
        assert_int_equal(rbWorld_Prepare(world, NULL), RB_STATUS_OK);
        bool isMost = cases[i].isStiff && cases[i].turn > turnMost;
        turnMost = isMost ? cases[i].turn : turnMost;
        count += cases[i].isStiff ? 1 : 0;
        rbStiffSpring stiff = rbWorld_FindStiffSpring(world);
        assert_int_equal(stiff.count, count);
        if (count > 0) {
            checkRelative(stiff.period, 2.0 * RB_PI * step / turnMost, 1e-6);
            checkRelative(stiff.stepMax, 0.35 * step / turnMost, 1e-6);
        }
    }
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_world_tells, cmocka_unit_test(forcesAreTold),
              cmocka_unit_test(pairsOfMaterialsAreTold), cmocka_unit_test(springsAreTold),
              cmocka_unit_test(stiffSpringsAreNamed), cmocka_unit_test(onlyStiffSpringsAreCounted));
