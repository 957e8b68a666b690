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

// Where tables and reductions have their borders: multiples of pi/2 and of the steps of the tables,
// powers of two, the ends of the range, and the doubles next to them.
static double borderOf(const Golden* g, int k)
{
    int step = k / 3;
    double x = 0.0;
    if (step < 4000) {
        x = step * 1.5707963267948966;
    } else if (step < 12000) {
        x = (step - 4000) * 0.0078125;
    } else if (step < 14200) {
        x = ldexp(1.0, step - 13100);
    } else if (step < 16000) {
        x = (step - 14200) * 0.021660849392498290; // ln2/32
    } else {
        x = ldexp((step - 16000) * 1.5707963267948966, 18);
    }
    x = k % 3 == 0 ? x : nextafter(x, k % 3 == 1 ? -1e308 : 1e308);
    return step % 2 == 0 || g->isPositive ? x : -x;
}

static void bitsAreTheSameAtBorders(void** state)
{
    (void)state;
    static const uint64_t expected[] = {0x384122ef9c9db65bu, 0xbc391a8ac9fad3dcu,
                                        0x507bfde54394389fu, 0x8127d7ebbf110e00u,
                                        0xf9aa17e775c356f3u};
    static const Golden functions[] = {{.name = "rbSin", .f = rbSin},
                                       {.name = "rbCos", .f = rbCos},
                                       {.name = "rbExp", .f = rbExp},
                                       {.name = "rbLog", .f = rbLog, .isPositive = true},
                                       {.name = "rbAtan2", .f = atanByTwo}};
    int differences = 0;
    for (int i = 0; i < 5; ++i) {
        uint64_t hash = RB_HASH_SEED;
        for (int k = 0; k < 3 * 17000; ++k) {
            double value = functions[i].f(borderOf(&functions[i], k));
            value = isnan(value) ? 0.5 : value; // the signs of NaN differ
            hash = rbHashDoubles(hash, &value, 1);
        }
        if (hash != expected[i]) {
            print_error("%s: hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u\n",
                        functions[i].name, hash, expected[i]);
            differences += 1;
        }
    }
    assert_int_equal(differences, 0);
}

// All pairs of special values and sizes.
static void bitsOfAtan2AreTheSameAtItsEnds(void** state)
{
    (void)state;
    static const double sizes[] = {0.0,     0x1p-1074, 0x1p-1022, 0x1p-600, 0x1p-500,
                                   0x1p-60, 0x1p-59,   0.124,     0.125,    0.5,
                                   1.0,     1.0625,    2.0,       0x1p60,   0x1p61,
                                   0x1p500, 0x1p900,   0x1p901,   0x1p1023, INFINITY};
    enum {
        SIZES = sizeof sizes / sizeof sizes[0]
    };
    uint64_t hash = RB_HASH_SEED;
    for (int i = 0; i < 4 * SIZES * SIZES; ++i) {
        double y = sizes[i / 4 % SIZES], x = sizes[i / 4 / SIZES];
        double value = rbAtan2(i % 2 == 0 ? y : -y, i % 4 < 2 ? x : -x);
        double acos = rbAcos(i % 2 == 0 ? fmin(y, 1.0) : -fmin(y, 1.0));
        hash = rbHashDoubles(hash, &value, 1);
        hash = rbHashDoubles(hash, &acos, 1);
    }
    const uint64_t expected = 0x8b02842cdf01ffd2u;
    if (hash != expected) {
        fail_msg("hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u", hash, expected);
    }
}

RB_TEST_GROUP(golden_elementary, cmocka_unit_test(bitsAreTheSameEverywhere),
              cmocka_unit_test(bitsAreTheSameAtBorders),
              cmocka_unit_test(bitsOfAtan2AreTheSameAtItsEnds),
              cmocka_unit_test(bitsOfAtan2AreTheSameEverywhere));
