// Exact sums against integers of 128 bits and numbers of 113, in any order and in any parts;
// overflow, subnormals, ties, terms that are not finite.
#include "base/core/random.h"
#include "base/math/float_bits.h"
#include "cluster/exact_sum.h"
#include "rb_test.h"
#include "rb_wide.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

__extension__ typedef __int128 Integer;

#define TERMS 200

static double sumOf(const double* terms, int count)
{
    rbExactSum sum = {0};
    for (int i = 0; i < count; ++i) {
        rbExactSum_Add(&sum, terms[i]);
    }
    return rbExactSum_Round(&sum);
}

static void assertSameBits(double a, double b)
{
    assert_int_equal(rbBitsOf(a), rbBitsOf(b));
}

// Terms are multiples of 2^-60 below 2^60: an integer of 128 bits holds their sum. The conversion
// of the integer to double rounds once, to nearest even, like the sum.
static void sumsAreThoseOfIntegers(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1)};
    int cases = rbTest_Count(2000, 20000);
    for (int k = 0; k < cases; ++k) {
        Integer truth = 0;
        rbExactSum sum = {0};
        int count = 1 + rbRandom_Index(&random, TERMS);
        for (int i = 0; i < count; ++i) {
            int64_t mantissa = (int64_t)(rbRandom_Bits(&random) >> 11) - ((int64_t)1 << 52);
            int shift = rbRandom_Index(&random, 60);
            rbExactSum_Add(&sum, ldexp((double)mantissa, shift - 60));
            truth += (Integer)mantissa * ((Integer)1 << shift);
        }
        assertSameBits(rbExactSum_Round(&sum), ldexp((double)truth, -60));
    }
}

// A few terms of similar size add up without rounding in 113 bits.
static void sumsAreThoseOf113Bits(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(2)};
    int cases = rbTest_Count(20000, 200000);
    for (int k = 0; k < cases; ++k) {
        rbExactSum sum = {0};
        rbWide truth = 0;
        int scale = rbRandom_Index(&random, 1800) - 900;
        for (int i = 0; i < 8; ++i) {
            double term = ldexp(rbRandom_Symmetric(&random), scale + rbRandom_Index(&random, 50));
            rbExactSum_Add(&sum, term);
            truth += (rbWide)term;
        }
        assertSameBits(rbExactSum_Round(&sum), (double)truth);
    }
}

// Terms of all sizes, each with its negative, and one more: only that one is left, in any order.
static void cancellationLeavesTheRest(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3)};
    enum {
        COUNT = 2 * TERMS + 1
    };
    double terms[COUNT];
    for (int k = 0; k < rbTest_Count(300, 3000); ++k) {
        for (int i = 0; i < TERMS; ++i) {
            uint64_t bits = rbRandom_Bits(&random);
            bits &= ~((uint64_t)1 << 62); // below 2: no partial sum matters, all are exact
            terms[i] = rbFromBits(bits);
            terms[TERMS + i] = -terms[i];
        }
        double rest = ldexp(rbRandom_Symmetric(&random), rbRandom_Index(&random, 2000) - 1000);
        terms[COUNT - 1] = rest;
        for (int i = COUNT - 1; i > 0; --i) {
            int j = rbRandom_Index(&random, i + 1);
            double swapped = terms[i];
            terms[i] = terms[j];
            terms[j] = swapped;
        }
        assertSameBits(sumOf(terms, COUNT), rest);
    }
}

// G-02a: parts of a sum, however they are cut, merge to the same bits; also limb by limb, as ranks
// add them.
static void partsGiveTheBitsOfTheWhole(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4)};
    double terms[TERMS];
    for (int k = 0; k < rbTest_Count(300, 3000); ++k) {
        for (int i = 0; i < TERMS; ++i) {
            terms[i] = ldexp(rbRandom_Symmetric(&random), rbRandom_Index(&random, 400) - 200);
        }
        double whole = sumOf(terms, TERMS);
        int parts = 1 + rbRandom_Index(&random, 16);
        rbExactSum part[16] = {0};
        for (int i = 0; i < TERMS; ++i) {
            rbExactSum_Add(&part[rbRandom_Index(&random, parts)], terms[i]);
        }
        rbExactSum merged = {0};
        rbExactSum words = {0};
        for (int i = 0; i < parts; ++i) {
            rbExactSum_Merge(&merged, &part[i]);
            rbExactSum_Normalize(&part[i]);
            int64_t* to = (int64_t*)&words;
            const int64_t* from = (const int64_t*)&part[i];
            for (int j = 0; j < RB_EXACT_SUM_WORDS; ++j) {
                to[j] += from[j];
            }
        }
        assertSameBits(rbExactSum_Round(&merged), whole);
        assertSameBits(rbExactSum_Round(&words), whole);
    }
}

// Between values a partial sum may exceed the largest double; the rounding of the end decides.
static void overflowIsThatOfTheEnd(void** state)
{
    (void)state;
    const double there[] = {DBL_MAX, DBL_MAX, DBL_MAX, -DBL_MAX, -DBL_MAX};
    assertSameBits(sumOf(there, 5), DBL_MAX);
    assertSameBits(sumOf(there, 2), (double)INFINITY);
    const double below[] = {-DBL_MAX, -DBL_MAX};
    assertSameBits(sumOf(below, 2), -(double)INFINITY);
    // half a unit in the last place of the largest double is 2^970: a tie, and even is infinite
    const double tie[] = {DBL_MAX, 0x1p970};
    assertSameBits(sumOf(tie, 2), (double)INFINITY);
    const double almost[] = {DBL_MAX, 0x1p970, -0x1p-1074};
    assertSameBits(sumOf(almost, 3), DBL_MAX);
}

static void tiesGoToEven(void** state)
{
    (void)state;
    const double down[] = {1.0, 0x1p-53};
    assertSameBits(sumOf(down, 2), 1.0);
    const double up[] = {1.0 + 0x1p-52, 0x1p-53};
    assertSameBits(sumOf(up, 2), 1.0 + 0x1p-51);
    const double above[] = {1.0, 0x1p-53, 0x1p-1074};
    assertSameBits(sumOf(above, 3), 1.0 + 0x1p-52);
    const double below[] = {-1.0, -0x1p-53, 0x1p-1074};
    assertSameBits(sumOf(below, 3), -1.0);
}

static void smallestDoublesCount(void** state)
{
    (void)state;
    const double tiny[] = {0x1p-1074, 0x1p-1074, 0x1p-1074};
    assertSameBits(sumOf(tiny, 3), 0x1.8p-1073);
    const double border[] = {DBL_MIN, -0x1p-1074};
    assertSameBits(sumOf(border, 2), DBL_MIN - 0x1p-1074);
    assertSameBits(sumOf(NULL, 0), 0.0);
    const double zeros[] = {-0.0, -0.0};
    assertSameBits(sumOf(zeros, 2), 0.0);
}

static void termsThatAreNotFiniteDecide(void** state)
{
    (void)state;
    const double plus[] = {1.0, (double)INFINITY, -DBL_MAX};
    assert_true(sumOf(plus, 3) == (double)INFINITY);
    const double minus[] = {1.0, -(double)INFINITY, DBL_MAX};
    assert_true(sumOf(minus, 3) == -(double)INFINITY);
    const double both[] = {(double)INFINITY, -(double)INFINITY};
    assert_true(isnan(sumOf(both, 2)));
    const double nan[] = {1.0, (double)NAN};
    assert_true(isnan(sumOf(nan, 2)));
}

// A limb that has taken all the terms it can: the state after 2^30 - 1 equal terms, written down
// directly; one more term must not be lost.
static void fullLimbsCarry(void** state)
{
    (void)state;
    const double term = -(0x1p53 - 1.0) * 0x1p-1070;
    rbExactSum sum = {0};
    rbExactSum_Add(&sum, term);
    for (int i = 0; i < RB_EXACT_SUM_LIMBS; ++i) {
        sum.limbs[i] *= RB_EXACT_SUM_PENDING_MAX - 1;
    }
    sum.pending = RB_EXACT_SUM_PENDING_MAX - 1;
    rbExactSum_Add(&sum, term);
    assert_int_equal(sum.pending, 0);
    assertSameBits(rbExactSum_Round(&sum), term * RB_EXACT_SUM_PENDING_MAX);
}

RB_TEST_GROUP(test_exact_sum, cmocka_unit_test(sumsAreThoseOfIntegers),
              cmocka_unit_test(sumsAreThoseOf113Bits), cmocka_unit_test(cancellationLeavesTheRest),
              cmocka_unit_test(partsGiveTheBitsOfTheWhole),
              cmocka_unit_test(overflowIsThatOfTheEnd), cmocka_unit_test(tiesGoToEven),
              cmocka_unit_test(smallestDoublesCount), cmocka_unit_test(termsThatAreNotFiniteDecide),
              cmocka_unit_test(fullLimbsCarry));
