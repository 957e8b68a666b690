// The bits of the elementary functions, the same for every compiler, build type and machine.
#include "base/core/hash.h"
#include "base/core/random.h"
#include "base/math/elementary.h"
#include "lab/math/hyperbolic.h"
#include "rb_test.h"

#include <inttypes.h>
#include <math.h>

#define GOLDEN_COUNT 100000

typedef struct Golden {
    const char* name;
    double (*f)(double);
    int lowest, highest; // binades
    bool isPositive;
    uint64_t hash;
} Golden;

static double atanByTwo(double x)
{
    return rbAtan2(x, 1.0);
}

static double asinByTwo(double x)
{
    return rbAtan2(x, sqrt((1.0 - x) * (1.0 + x)));
}

static const Golden goldens[] = {
    {"rbSin", rbSin, -40, 1023, false, 0x2d192ffcecb0c790u},
    {"rbCos", rbCos, -40, 1023, false, 0x856835521d78409fu},
    {"rbSin", rbSin, -4, 12, false, 0x952c987dd8496cb5u},
    {"rbCos", rbCos, -4, 12, false, 0x87508e41e829b88fu},
    {"rbAtan2", atanByTwo, -30, 30, false, 0x6937388f4c2c1994u},
    {"rbExp", rbExp, -30, 10, false, 0xabaf162acaaf1765u},
    {"rbLog", rbLog, -1074, 1023, true, 0xe6e55bd59713f95du},
    {"rbLog", rbLog, -3, 3, true, 0x1278fcfc6c6c9441u},
    {"rbCbrt", rbCbrt, -1074, 1023, false, 0xfc4540de73a65e8fu},
    {"rbSinh", rbSinh, -20, 10, false, 0xaceecf446612babau},
    {"rbCosh", rbCosh, -20, 10, false, 0x0d039f05f30ecc69u},
    {"rbTanh", rbTanh, -20, 6, false, 0x6a3b260b1b3cf22cu},
    {"rbAtan2", asinByTwo, -20, 0, false, 0x01236e5a94d44dcfu},
    {"rbAcos", rbAcos, -20, 0, false, 0xcf0d7044df03ba6cu},
};

static double argument(rbRandom* random, const Golden* g)
{
    double mantissa = 1.0 + rbRandom_Unit(random);
    double x = ldexp(mantissa, g->lowest + rbRandom_Index(random, g->highest - g->lowest));
    bool isNegative = (rbRandom_Bits(random) & 1u) != 0 && !g->isPositive;
    return isNegative ? -x : x;
}

static void bitsAreTheSameEverywhere(void** state)
{
    (void)state;
    bool isSame = true;
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; ++i) {
        const Golden* g = &goldens[i];
        rbRandom random = {1000 + i};
        uint64_t hash = RB_HASH_SEED;
        for (int k = 0; k < GOLDEN_COUNT; ++k) {
            double value = g->f(argument(&random, g));
            hash = rbHashDoubles(hash, &value, 1);
        }
        if (hash != g->hash) {
            print_error("%s, row %zu: hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u\n",
                        g->name, i, hash, g->hash);
        }
        isSame = isSame && hash == g->hash;
    }
    assert_true(isSame);
}

static void bitsOfAtan2AreTheSameEverywhere(void** state)
{
    (void)state;
    rbRandom random = {7};
    uint64_t hash = RB_HASH_SEED;
    for (int k = 0; k < GOLDEN_COUNT; ++k) {
        double y = rbRandom_Symmetric(&random);
        double x = rbRandom_Symmetric(&random);
        x = ldexp(x, rbRandom_Index(&random, 40) - 20);
        double value = rbAtan2(y, x);
        hash = rbHashDoubles(hash, &value, 1);
    }
    assert_int_equal(hash, 0x27cb4d88582f72feu);
}

RB_TEST_GROUP(golden_elementary, cmocka_unit_test(bitsAreTheSameEverywhere),
              cmocka_unit_test(bitsOfAtan2AreTheSameEverywhere));
