// The rows of the force table one by one: values against their formulas, potentials as integrals of
// the force, bounds, and the range of every number.
#include "base/core/random.h"
#include "dynamics/forces/force_table.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/body.h>
#include <rattleback/shape.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static rbForceInput randomInput(rbRandom* random)
{
    return (rbForceInput){.center = rbScale(3.0, rbRandom_Direction(random)),
                          .linearVelocity = rbScale(2.0, rbRandom_Direction(random)),
                          .angularVelocity = rbScale(5.0, rbRandom_Direction(random)),
                          .mass = rbRandom_Range(random, 0.5, 4.0)};
}

static rbLoad loadOf(const rbForceDef* def, const rbForceInput* input)
{
    rbLoad load = {0};
    rbForceRow_AddLoad(rbGetForceRow(def->type), def, input, &load);
    return load;
}

// B-88: F = -(linear + quadratic |v|) v, T = -angular w; all of it is work.
static void dragIsAgainstTheMotion(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(81)};
    for (int i = 0; i < 50; ++i) {
        rbForceInput input = randomInput(&random);
        rbForceDef def = rbDefaultForceDef();
        def.type = RB_FORCE_DRAG;
        def.linear = rbRandom_Unit(&random);
        def.quadratic = rbRandom_Unit(&random);
        def.angular = rbRandom_Unit(&random);
        rbLoad load = loadOf(&def, &input);
        rbVec3 v = input.linearVelocity;
        rbVec3 w = input.angularVelocity;
        rbVec3 force = rbScale(-(def.linear + 2.0 * def.quadratic), v); // |v| = 2
        checkBelow(rbDistance(load.force, force), 1e-14);
        checkBelow(rbDistance(load.torque, rbScale(-def.angular, w)), 1e-14);
        checkBelow(rbDistance(load.paid, force), 1e-14);
        double power = -4.0 * (def.linear + 2.0 * def.quadratic) - 25.0 * def.angular;
        checkRelative(load.power, power, 1e-13);
    }
}

// B-88: the attraction is m k / r^2 toward the center, the derivative of its potential, and no
// work.
static void attractionIsTheGradientOfItsPotential(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(82)};
    for (int i = 0; i < 50; ++i) {
        rbForceInput input = randomInput(&random);
        rbForceDef def = rbDefaultForceDef();
        def.type = RB_FORCE_CENTRAL;
        def.center = rbScale(0.7, rbRandom_Direction(&random));
        def.strength = rbRandom_Range(&random, -2.0, 2.0);
        rbLoad load = loadOf(&def, &input);
        rbVec3 toward = rbSub(def.center, input.center);
        double r = rbLength(toward);
        double size = input.mass * def.strength / (r * r);
        checkBelow(rbDistance(load.force, rbScale(size / r, toward)), 1e-13);
        checkBelow(rbLength(load.torque) + rbLength(load.paid) + fabs(load.power), 0.0);
        const rbForceRow* row = rbGetForceRow(RB_FORCE_CENTRAL);
        checkRelative(row->potential(&def, input.mass, input.center), -size * r, 1e-13);
        input.center = def.center;
        checkBelow(rbLength(loadOf(&def, &input).force), 0.0);
        checkNear(row->potential(&def, input.mass, def.center), 0.0, 0.0);
        assert_true(rbForceRow_GetAccelerationBound(row, &def, 1.0) == INFINITY);
    }
}

static void constantLoadsAreAddedOnceAndHaveAPotential(void** state)
{
    (void)state;
    rbForceDef def = rbDefaultForceDef();
    assert_int_equal(def.type, RB_FORCE_CONSTANT);
    def.force = rbMakeVec3(2.0, -3.0, 6.0);
    def.torque = rbMakeVec3(-1.0, 4.0, 0.5);
    const rbForceRow* row = rbGetForceRow(def.type);
    rbVec3 force = {1.0, 1.0, 1.0};
    rbVec3 torque = {2.0, 2.0, 2.0};
    row->addConstant(&def, &force, &torque);
    checkBelow(rbDistance(force, rbMakeVec3(3.0, -2.0, 7.0)), 0.0);
    checkBelow(rbDistance(torque, rbMakeVec3(1.0, 6.0, 2.5)), 0.0);
    checkNear(row->potential(&def, 9.0, rbMakeVec3(1.0, 2.0, 3.0)), -(2.0 - 6.0 + 18.0), 0.0);
    checkNear(rbForceRow_GetAccelerationBound(row, &def, 2.0), 3.5, 1e-15); // |F| = 7
    // Constant rows are part of the flight and add nothing to the load of a moment.
    rbForceInput input = {.mass = 1.0, .linearVelocity = {1.0, 0.0, 0.0}};
    rbLoad load = loadOf(&def, &input);
    checkBelow(rbLength(load.force) + rbLength(load.torque) + fabs(load.power), 0.0);
}

static void twistAndPush(const rbForceInput* input, rbVec3* force, rbVec3* torque, void* context)
{
    *force = rbScale(*(const double*)context, input->linearVelocity);
    *torque = rbMakeVec3(0.0, 0.0, input->mass);
}

static void userForcesGetTheirStateAndKeepTheirBound(void** state)
{
    (void)state;
    double factor = -3.0;
    rbForceDef def = rbDefaultForceDef();
    def.type = RB_FORCE_USER;
    const rbForceRow* row = rbGetForceRow(def.type);
    rbError error = {0};
    assert_int_equal(row->check(&def, &error), RB_STATUS_INVALID);
    def.callback = twistAndPush;
    def.context = &factor;
    def.accelerationMax = -1.0;
    assert_int_equal(row->check(&def, &error), RB_STATUS_OK);
    assert_true(rbForceRow_GetAccelerationBound(row, &def, 2.0) == INFINITY);
    def.accelerationMax = 0.0;
    checkNear(rbForceRow_GetAccelerationBound(row, &def, 2.0), 0.0, 0.0);
    def.accelerationMax = 5.0;
    checkNear(rbForceRow_GetAccelerationBound(row, &def, 2.0), 5.0, 0.0);
    rbForceInput input = {.mass = 2.0, .linearVelocity = {1.0, 2.0, 0.0}};
    input.angularVelocity.z = 4.0;
    rbLoad load = {.force = {1.0, 0.0, 0.0}, .torque = {1.0, 0.0, 0.0}, .power = 7.0};
    rbForceRow_AddLoad(row, &def, &input, &load);
    checkBelow(rbDistance(load.force, rbMakeVec3(-2.0, -6.0, 0.0)), 0.0);
    checkBelow(rbDistance(load.torque, rbMakeVec3(1.0, 0.0, 2.0)), 0.0);
    checkBelow(rbDistance(load.paid, rbMakeVec3(-3.0, -6.0, 0.0)), 0.0);
    checkNear(load.power, 7.0 - 15.0 + 8.0, 1e-14);
    def.accelerationMax = NAN;
    assert_int_equal(row->check(&def, &error), RB_STATUS_INVALID);
}

// Every component of every parameter: its ends are accepted; what is beyond them, infinite or not a
// number is refused with the name of the parameter.
static void everyNumberHasItsRange(void** state)
{
    (void)state;
    int numbers = 0;
    for (int type = 0; type < RB_FORCE_COUNT; ++type) {
        const rbForceRow* row = rbGetForceRow((rbForceType)type);
        for (int i = 0; i < row->parameterCount; ++i) {
            const rbParameter* p = &row->parameters[i];
            assert_true(p->low < p->high);
            for (int k = 0; k < p->count; ++k) {
                rbForceDef def = rbDefaultForceDef();
                def.type = (rbForceType)type;
                double* value = (double*)(void*)((char*)&def + p->offset) + k;
                const double good[3] = {p->low, 0.0, p->high};
                const double bad[4] = {nextafter(p->low, -INFINITY), nextafter(p->high, INFINITY),
                                       -INFINITY, NAN};
                for (int g = 0; g < 3; ++g) {
                    *value = good[g];
                    assert_int_equal(row->check(&def, NULL), RB_STATUS_OK);
                }
                for (int b = 0; b < 4; ++b) {
                    rbError error = {0};
                    *value = bad[b];
                    assert_int_equal(row->check(&def, &error), RB_STATUS_INVALID);
                    assert_non_null(strstr(error.message, p->key));
                }
                ++numbers;
            }
        }
    }
    assert_int_equal(numbers, 3 + 3 + 1 + 1 + 1 + 3 + 1);
}

static void namesAreFoundAndEmptyRowsRefused(void** state)
{
    (void)state;
    static const char* const names[] = {"constant", "drag", "central", "user"};
    for (int i = 0; i < RB_FORCE_COUNT; ++i) {
        assert_string_equal(rbForceType_Name((rbForceType)i), names[i]);
        assert_int_equal(rbForceType_Find(names[i]), i);
    }
    rbForceRow idle = *rbGetForceRow(RB_FORCE_CONSTANT);
    idle.name = "idle";
    idle.addConstant = NULL;
    rbForceRow broad = *rbGetForceRow(RB_FORCE_DRAG);
    broad.name = "broad";
    broad.parameterCount = RB_PARAMETERS_MAX + 1;
    rbForceRow narrow = broad;
    narrow.parameterCount = -1;
    const rbForceRow* const rows[] = {&idle, &broad, &narrow};
    for (int i = 0; i < 3; ++i) {
        rbError error = {0};
        assert_int_equal(rbRegisterForce(rows[i], &error), RB_STATUS_INVALID);
        char expected[160];
        (void)snprintf(expected, sizeof expected,
                       "the force \"%s\" needs addConstant or addVarying, and 0 to %d parameters, "
                       "not %d",
                       rows[i]->name, RB_PARAMETERS_MAX, rows[i]->parameterCount);
        assert_string_equal(error.message, expected);
    }
}

static void addTurning(const rbForceDef* def, const rbForceInput* input, rbVec3* force,
                       rbVec3* torque)
{
    (void)def;
    *force = rbAdd(*force, input->center);
    *torque = rbAdd(*torque, rbMakeVec3(1.0, -2.0, 3.0));
}

static double noPotential(const rbForceDef* def, double mass, rbVec3 position)
{
    (void)def;
    (void)mass;
    (void)position;
    return 0.0;
}

// A potential accounts for the force; what the torque does is work all the same.
static void torquesDoWorkBesidesAPotential(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(85)};
    rbForceInput input = randomInput(&random);
    rbForceDef def = rbDefaultForceDef();
    rbForceRow row = {.name = "turning", .addVarying = addTurning, .potential = noPotential};
    double turning = rbDot(rbMakeVec3(1.0, -2.0, 3.0), input.angularVelocity);
    rbLoad load = {0};
    rbForceRow_AddLoad(&row, &def, &input, &load);
    checkNear(load.power, turning, 1e-14);
    checkBelow(rbLength(load.paid), 0.0);
    row.potential = NULL;
    load = (rbLoad){0};
    rbForceRow_AddLoad(&row, &def, &input, &load);
    checkNear(load.power, turning + rbDot(input.center, input.linearVelocity), 1e-13);
    checkBelow(rbDistance(load.paid, input.center), 0.0);
}

// One of the two functions is enough; a name is taken once.
static void rowsWithOneFunctionAreAccepted(void** state)
{
    (void)state;
    static rbForceRow rows[2];
    rows[0] = *rbGetForceRow(RB_FORCE_CONSTANT);
    rows[0].name = "steady";
    rows[1] = *rbGetForceRow(RB_FORCE_DRAG);
    rows[1].name = "varying";
    for (int i = 0; i < 2; ++i) {
        assert_true((rows[i].addConstant == NULL) != (rows[i].addVarying == NULL));
        int count = rbForceType_GetCount();
        rbError error = {0};
        assert_int_equal(rbRegisterForce(&rows[i], &error), RB_STATUS_OK);
        assert_int_equal(rbForceType_Find(rows[i].name), count);
        assert_int_equal(rbRegisterForce(&rows[i], &error), RB_STATUS_INVALID);
        assert_int_equal(rbForceType_GetCount(), count + 1);
    }
}

RB_TEST_GROUP(test_forces, cmocka_unit_test(dragIsAgainstTheMotion),
              cmocka_unit_test(attractionIsTheGradientOfItsPotential),
              cmocka_unit_test(constantLoadsAreAddedOnceAndHaveAPotential),
              cmocka_unit_test(userForcesGetTheirStateAndKeepTheirBound),
              cmocka_unit_test(everyNumberHasItsRange),
              cmocka_unit_test(namesAreFoundAndEmptyRowsRefused),
              cmocka_unit_test(torquesDoWorkBesidesAPotential),
              cmocka_unit_test(rowsWithOneFunctionAreAccepted));
