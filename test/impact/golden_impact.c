// The same bits with every compiler: impacts for fixed inputs, hashed.
//
// The value changes when an algorithm changes on purpose; it must not change between compilers and
// levels of optimization. The inputs use no function of the C library.
#include "base/core/hash.h"
#include "base/core/random.h"
#include "rb_test.h"

#include <rattleback/lab_impact.h>

#include <inttypes.h>

// Changed when microcollisions that slide into a jam became impacts by the law, when gainsEnergy
// became part of the history, and when simultaneous impacts followed their laws (issue 22).
#define GOLDEN_SINGLE UINT64_C(0xce26fed44be37ed3)
#define GOLDEN_SEVERAL UINT64_C(0xc45af5128ee80454)

static uint64_t hashVector(uint64_t hash, rbVec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    return rbHashDoubles(hash, values, 3);
}

static rbVec3 draw(rbRandom* random)
{
    double x = rbRandom_Symmetric(random);
    double y = rbRandom_Symmetric(random);
    double z = rbRandom_Symmetric(random);
    return rbMakeVec3(x, y, z);
}

static void singleImpactsKeepTheirBits(void** state)
{
    (void)state;
    rbRandom random = {51};
    uint64_t hash = RB_HASH_SEED;
    for (int i = 0; i < 3000; ++i) {
        rbVec3 a = draw(&random);
        rbVec3 b = draw(&random);
        rbVec3 c = draw(&random);
        rbImpactInput input = {.matrix = {rbDot(a, a) + 0.01, rbDot(b, b) + 0.01,
                                          rbDot(c, c) + 0.01, rbDot(a, b), rbDot(a, c),
                                          rbDot(b, c)},
                               .velocity = draw(&random),
                               .restitution = rbRandom_Unit(&random),
                               .friction = 2.0 * rbRandom_Unit(&random),
                               .law = (rbImpactLaw)(i % 3),
                               .slideMethod = i % 10 == 9 ? rbGetSlideByVelocity() : NULL};
        input.velocity.z = input.velocity.z < 0.0 ? input.velocity.z : -input.velocity.z;
        rbMicrocollision micro = {.depth = rbRandom_Unit(&random), .boostMax = 5.0};
        rbImpactResult result;
        for (int j = 0; j < 2; ++j) {
            if (j == 0) {
                rbResolveImpact(&input, &result);
            } else {
                rbResolveMicrocollision(&input, &micro, &result);
            }
            const double works[3] = {result.normalWork, result.frictionWork,
                                     result.compressionWork};
            hash = hashVector(hashVector(hash, result.impulse), result.velocity);
            hash = rbHashDoubles(hash, works, 3);
            hash = rbHashBytes(hash, &result.history, sizeof result.history);
        }
    }
    if (hash != GOLDEN_SINGLE) {
        print_message("0x%016" PRIx64 "\n", hash);
    }
    assert_true(hash == GOLDEN_SINGLE);
}

static void severalImpactsKeepTheirBits(void** state)
{
    (void)state;
    enum {
        BODIES = 6,
        CONTACTS = 10
    };
    rbRandom random = {52};
    uint64_t hash = RB_HASH_SEED;
    for (int i = 0; i < 100; ++i) {
        rbImpactBody bodies[BODIES] = {{0}};
        rbImpactContact contacts[CONTACTS];
        for (int j = 1; j < BODIES; ++j) {
            rbSym3 inertia = {1.0 + rbRandom_Unit(&random), 2.0, 3.0, 0.1, 0.2, 0.3};
            bodies[j] = (rbImpactBody){.inverseMass = 0.5 + rbRandom_Unit(&random),
                                       .inverseInertia = inertia,
                                       .center = rbMakeVec3(0.0, 0.0, j),
                                       .velocity = draw(&random),
                                       .angularVelocity = draw(&random)};
        }
        for (int j = 0; j < CONTACTS; ++j) {
            int b = 1 + j % (BODIES - 1);
            rbVec3 point = rbAdd(rbMakeVec3(0.0, 0.0, b - 0.5), rbScale(0.5, draw(&random)));
            rbVec3 normal = rbAdd(rbMakeVec3(0.0, 0.0, 3.0), draw(&random));
            contacts[j] = (rbImpactContact){.a = b - 1,
                                            .b = b,
                                            .point = point,
                                            .normal = rbNormalize(normal),
                                            .restitution = 0.5,
                                            .friction = 0.3,
                                            .law = RB_IMPACT_STRONGE};
        }
        (void)rbResolveImpacts(bodies, contacts, CONTACTS, (rbImpactOrder)(i % 2));
        for (int j = 0; j < BODIES; ++j) {
            hash = hashVector(hashVector(hash, bodies[j].velocity), bodies[j].angularVelocity);
        }
    }
    if (hash != GOLDEN_SEVERAL) {
        print_message("0x%016" PRIx64 "\n", hash);
    }
    assert_true(hash == GOLDEN_SEVERAL);
}

RB_TEST_GROUP(golden_impact, cmocka_unit_test(singleImpactsKeepTheirBits),
              cmocka_unit_test(severalImpactsKeepTheirBits));
