// The driver of the shadow test: it conserves energy and momentum and misses no candidate.
#include "elastic_gas.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

#define COUNT 60

static rbGas makeGas(const rbGeometry* const* shapes, int count, uint64_t salt)
{
    rbRandom random = {rbTest_Seed(salt)};
    const rbGasDef def = {shapes, count, COUNT, 0.2, 1.05, 1000.0};
    return rbCreateGas(&def, &random);
}

static rbVec3 momentumOf(const rbGas* gas, rbVec3* angular)
{
    rbVec3 sum = RB_VEC3_ZERO;
    *angular = RB_VEC3_ZERO;
    for (int i = 0; i < gas->count; ++i) {
        const rbGasBody* body = &gas->bodies[i];
        rbVec3 p = rbScale(1.0 / body->inverseMass, body->velocity);
        sum = rbAdd(sum, p);
        *angular = rbAdd(*angular, rbAdd(body->spin, rbCross(body->pose.p, p)));
    }
    return sum;
}

static void bouncesKeepEnergyAndMomenta(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 2.0, 3.0), NULL);
    rbGeometry* cone = rbCreateCone(2.0, 5.0, NULL);
    const rbGeometry* shapes[2] = {box, cone};
    rbGas gas = makeGas(shapes, 2, 430);
    rbRandom random = {rbTest_Seed(431)};
    double energy = rbGas_GetEnergy(&gas);
    rbVec3 angular;
    rbVec3 linear = momentumOf(&gas, &angular);
    int changed = 0;
    for (int i = 0; i < 1000; ++i) {
        rbGasBody* a = &gas.bodies[rbRandom_Index(&random, COUNT)];
        rbGasBody* b = &gas.bodies[rbRandom_Index(&random, COUNT)];
        if (a == b) {
            continue;
        }
        rbVec3 before = a->velocity;
        rbVec3 middle = rbScale(0.5, rbAdd(a->pose.p, b->pose.p));
        rbBounce(a, b, rbAdd(middle, rbRandom_Direction(&random)), rbRandom_Direction(&random));
        changed += rbDistance(before, a->velocity) > 0.0;
    }
    assert_true(changed > 300 && changed < 700); // those that approach
    rbVec3 angularAfter;
    rbVec3 linearAfter = momentumOf(&gas, &angularAfter);
    checkRelative(rbGas_GetEnergy(&gas), energy, 1e-11);
    checkBelow(rbDistance(linear, linearAfter), 1e-11 * sqrt(energy * COUNT * 100.0));
    checkBelow(rbDistance(angular, angularAfter), 1e-9 * sqrt(energy * COUNT * 100.0));
    rbDestroyGas(&gas);
    rbDestroyGeometry(box);
    rbDestroyGeometry(cone);
}

static void freeFlightKeepsTheEnergy(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 2.0, 3.0), NULL);
    const rbGeometry* shapes[1] = {box};
    rbGas gas = makeGas(shapes, 1, 432);
    double energy = rbGas_GetEnergy(&gas);
    for (int i = 0; i < 2000; ++i) {
        rbGas_Advance(&gas, 2e-4);
    }
    checkRelative(rbGas_GetEnergy(&gas), energy, 1e-5);
    rbDestroyGas(&gas);
    rbDestroyGeometry(box);
}

static bool hasPair(const rbGas* gas, int a, int b)
{
    int found = 0;
    for (int i = 0; i < gas->pairs.count; ++i) {
        found += gas->pairs.data[i].a == a && gas->pairs.data[i].b == b;
    }
    assert_true(found <= 1);
    return found == 1;
}

// The grid finds the same pairs as a search of all, each once.
static void gridFindsEveryCandidateOnce(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(3.0, NULL);
    rbGeometry* capsule = rbCreateCapsule(1.0, 4.0, NULL);
    const rbGeometry* shapes[2] = {ball, capsule};
    rbGas gas = makeGas(shapes, 2, 433);
    int total = 0;
    for (int round = 0; round < 20; ++round) {
        rbGas_Advance(&gas, 3e-3); // without bounces: bodies overlap and leave the cube
        rbGas_FindPairs(&gas);
        int expected = 0;
        for (int a = 0; a < COUNT; ++a) {
            for (int b = a + 1; b < COUNT; ++b) {
                const rbGasBody* x = &gas.bodies[a];
                const rbGasBody* y = &gas.bodies[b];
                double reach = 1.05 * (x->radius + y->radius);
                bool isNear = rbDistance(x->pose.p, y->pose.p) <= reach;
                assert_true(isNear == hasPair(&gas, a, b));
                expected += isNear;
            }
        }
        for (int i = 0; i < gas.pairs.count; ++i) {
            expected += gas.pairs.data[i].b < 0;
        }
        assert_int_equal(expected, gas.pairs.count);
        total += expected;
    }
    assert_true(total > 100);
    rbDestroyGas(&gas);
    rbDestroyGeometry(ball);
    rbDestroyGeometry(capsule);
}

// Bodies with their center of mass off the origin of the shape are placed by it.
static void bodiesStartApartAndInside(void** state)
{
    (void)state;
    rbGeometry* cone = rbCreateCone(2.0, 5.0, NULL);
    const rbGeometry* shapes[1] = {cone};
    rbGas gas = makeGas(shapes, 1, 434);
    for (int i = 0; i < COUNT; ++i) {
        rbBounds bounds = rbGeometry_GetBounds(cone, rbGasBody_GetShapePose(&gas.bodies[i]));
        assert_true(bounds.lower.x > -gas.half && bounds.upper.x < gas.half);
        assert_true(bounds.lower.z > -gas.half && bounds.upper.z < gas.half);
        rbVec3 center =
            rbTransformPoint(rbGasBody_GetShapePose(&gas.bodies[i]), rbMakeVec3(0.0, 0.0, -1.25));
        checkBelow(rbDistance(center, gas.bodies[i].pose.p), 1e-12);
    }
    rbDestroyGas(&gas);
    rbDestroyGeometry(cone);
}

RB_TEST_GROUP(test_elastic_gas, cmocka_unit_test(bouncesKeepEnergyAndMomenta),
              cmocka_unit_test(freeFlightKeepsTheEnergy),
              cmocka_unit_test(gridFindsEveryCandidateOnce),
              cmocka_unit_test(bodiesStartApartAndInside));
