// Elementary functions against long double (113 or 64 bits), at special values and hard arguments.
#include "base/core/random.h"
#include "base/math/elementary.h"
#include "base/math/float_bits.h"
#include "lab/math/hyperbolic.h"
#include "rb_test.h"

#include <rattleback/vecmath.h>

#include <float.h>
#include <math.h>

typedef struct Function {
    const char* name;
    double (*ours)(double);
    long double (*truth)(long double);
    int lowest, highest; // binades of the arguments
    double errorMax; // allowed error, in ulp: measured with 2 10^6 arguments, plus a small margin
} Function;

static double atanByTwo(double x)
{
    return rbAtan2(x, 1.0);
}

// The first of each pair of rows covers all binades, the second the critical ones.
static const Function functions[] = {
    {"rbSin", rbSin, sinl, -1074, 1024, 0.95},       {"rbSin", rbSin, sinl, -4, 23, 0.95},
    {"rbCos", rbCos, cosl, -1074, 1024, 0.95},       {"rbCos", rbCos, cosl, -4, 23, 0.95},
    {"rbAtan2", atanByTwo, atanl, -1074, 1024, 0.6}, {"rbAtan2", atanByTwo, atanl, -6, 6, 0.6},
    {"rbExp", rbExp, expl, -1074, 10, 0.8},          {"rbExp", rbExp, expl, -6, 10, 0.8},
    {"rbLog", rbLog, logl, -1074, 1024, 0.55},       {"rbLog", rbLog, logl, -3, 3, 0.55},
    {"rbCbrt", rbCbrt, cbrtl, -1074, 1024, 0.55},    {"rbCbrt", rbCbrt, cbrtl, -3, 3, 0.55},
    {"rbSinh", rbSinh, sinhl, -60, 10, 3.0},         {"rbSinh", rbSinh, sinhl, -3, 10, 3.0},
    {"rbCosh", rbCosh, coshl, -60, 10, 3.0},         {"rbTanh", rbTanh, tanhl, -60, 6, 3.0},
    {"rbTanh", rbTanh, tanhl, -4, 5, 3.0},           {"rbAcos", rbAcos, acosl, -60, 0, 3.0},
    {"rbAcos", rbAcos, acosl, -2, 0, 3.0},
};

// Distance of value from truth in units of the last place of truth. Below the normal range the unit
// is the smallest double; infinity counts as correct when the truth rounds to it.
static double errorInUlps(double value, long double truth)
{
    if (isnan(value) || isnan(truth)) {
        return isnan(value) && isnan(truth) ? 0.0 : (double)INFINITY;
    }
    if (isinf(value) || isinf(truth)) {
        return (double)truth == value ? 0.0 : (double)INFINITY;
    }
    if (truth == 0.0L) {
        return value == 0.0 ? 0.0 : (double)INFINITY;
    }
    int exponent;
    (void)frexpl(truth, &exponent);
    exponent = exponent < -1021 ? -1021 : exponent;
    return (double)fabsl(ldexpl((long double)value - truth, 53 - exponent));
}

// Random sign and mantissa, exponent in [lowest, highest).
static double randomArgument(rbRandom* random, int lowest, int highest)
{
    double mantissa = 1.0 + rbRandom_Unit(random);
    double size = ldexp(mantissa, lowest + rbRandom_Index(random, highest - lowest));
    return (rbRandom_Bits(random) & 1u) ? size : -size;
}

static void errorsStayBelowTheirBounds(void** state)
{
    (void)state;
    int count = rbTest_Count(200000, 10000000);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
        const Function* f = &functions[i];
        rbRandom random = {rbTest_Seed(i)};
        double worst = 0.0, worstAt = 0.0;
        for (int k = 0; k < count; ++k) {
            double x = randomArgument(&random, f->lowest, f->highest);
            double error = errorInUlps(f->ours(x), f->truth(x));
            if (error > worst) {
                worst = error;
                worstAt = x;
            }
        }
        print_message("%-7s 2^%-5d .. 2^%-5d  max %.4f ulp at %a\n", f->name, f->lowest, f->highest,
                      worst, worstAt);
        checkBelow(worst, f->errorMax);
    }
}

static void atan2ErrorStaysBelowOneUlp(void** state)
{
    (void)state;
    static const int reach[] = {3, 30, 1040};
    int count = rbTest_Count(200000, 10000000);
    for (size_t i = 0; i < sizeof reach / sizeof reach[0]; ++i) {
        rbRandom random = {rbTest_Seed(100 + i)};
        double worst = 0.0;
        for (int k = 0; k < count; ++k) {
            int highest = reach[i] < 1024 ? reach[i] : 1024;
            double x = randomArgument(&random, -reach[i], highest);
            double y = randomArgument(&random, -reach[i], highest);
            double error = errorInUlps(rbAtan2(y, x), atan2l(y, x));
            worst = error > worst ? error : worst;
        }
        print_message("rbAtan2 2^+-%d  max %.4f ulp\n", reach[i], worst);
        checkBelow(worst, 0.6);
    }
}

static void sinCosAgreesWithSinAndCos(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(200)};
    int count = rbTest_Count(100000, 1000000);
    for (int k = 0; k < count; ++k) {
        double x = randomArgument(&random, k % 2 == 0 ? -1074 : -3, k % 2 == 0 ? 1024 : 22);
        double s, c;
        rbSinCos(x, &s, &c);
        assert_true(rbBitsOf(s) == rbBitsOf(rbSin(x)));
        assert_true(rbBitsOf(c) == rbBitsOf(rbCos(x)));
        assert_true(rbBitsOf(rbSin(-x)) == rbBitsOf(-s));
        assert_true(rbBitsOf(rbCos(-x)) == rbBitsOf(c));
    }
}

static double worseOf(double worst, double x)
{
    double errorSin = errorInUlps(rbSin(x), sinl(x));
    double errorCos = errorInUlps(rbCos(x), cosl(x));
    worst = errorSin > worst ? errorSin : worst;
    return errorCos > worst ? errorCos : worst;
}

// Doubles m 2^e closest to a multiple of pi/2 for their exponent: m is the largest denominator
// below 2^53 of a convergent of the continued fraction of 2^e 2/pi. The worst of all is
// 6381956970095103 2^797.
static const struct {
    double m;
    int e;
} hardArguments[] = {
    {7074237752028440.0, -52}, {3205513981387887.0, -40}, {7763785107565477.0, -28},
    {2870426818492902.0, -16}, {6563124118766349.0, -4},  {2933955030474040.0, 8},
    {1654412418448821.0, 20},  {8451279557623493.0, 32},  {3974600632039681.0, 44},
    {2082991929535336.0, 56},  {2879696673057144.0, 68},  {5916243447979695.0, 80},
    {6101578227064009.0, 92},  {5072741893404345.0, 104}, {4051951787519022.0, 116},
    {2596048668509543.0, 128}, {3418520484665957.0, 140}, {2145770658771043.0, 152},
    {3810769716826462.0, 164}, {7466528859703118.0, 176}, {6104058850006511.0, 188},
    {2968866632713769.0, 200}, {3596101967464937.0, 212}, {4645009646166263.0, 224},
    {2799968093841253.0, 236}, {7958046405119485.0, 248}, {606290528017426.0, 260},
    {2485294218036873.0, 272}, {1820469973964705.0, 284}, {2655222361494129.0, 296},
    {2863231259746602.0, 308}, {5154143914632976.0, 320}, {3248891990805023.0, 332},
    {4811004023501788.0, 344}, {8510948914910667.0, 356}, {4828550309727193.0, 368},
    {1368595684526651.0, 380}, {3224748192014621.0, 392}, {3626481290428189.0, 404},
    {553808452063591.0, 416},  {4490582403060784.0, 428}, {8321201124673592.0, 440},
    {6197980835934673.0, 452}, {8902277580646708.0, 464}, {875675253546774.0, 476},
    {3805604809140548.0, 488}, {2558797577880767.0, 500}, {800357212446457.0, 512},
    {2621151107934991.0, 524}, {5476527292560994.0, 536}, {2185807080503257.0, 548},
    {2366477599189818.0, 560}, {699263844913386.0, 572},  {2987293809080729.0, 584},
    {8079548708821291.0, 596}, {43409129426407.0, 608},   {7175643128634292.0, 620},
    {8360820580228475.0, 632}, {2614846628939420.0, 644}, {2266844091944309.0, 656},
    {3440067153931281.0, 668}, {8364915140736329.0, 680}, {3934013901713615.0, 692},
    {3266987594455306.0, 704}, {7598398760996906.0, 716}, {5316818882368133.0, 728},
    {1172422935882110.0, 740}, {372687167078624.0, 752},  {3048536533649821.0, 764},
    {633803079408530.0, 776},  {5016195523085418.0, 788}, {6381956970095103.0, 797},
    {6381956970095103.0, 800}, {8160885118204141.0, 812}, {1855396267285817.0, 824},
    {8735281890741519.0, 836}, {1806485364926299.0, 848}, {2279940239825997.0, 860},
    {7934703333572866.0, 872}, {3703307206911359.0, 884}, {2169258183616577.0, 896},
    {4310902218759454.0, 908}, {6341570200889523.0, 920}, {6623962996349147.0, 932},
    {8444920710073313.0, 944}, {5466744517559360.0, 956}, {1907676126879519.0, 968},
    {6221301883130153.0, 970}};

// The reduction has to find digits after a cancellation of up to 62 bits.
static void argumentsNextToMultiplesOfHalfPiReduceExactly(void** state)
{
    (void)state;
    double worst = 0.0;
    for (size_t i = 0; i < sizeof hardArguments / sizeof hardArguments[0]; ++i) {
        double x = ldexp(hardArguments[i].m, hardArguments[i].e);
        double s = fabs(rbSin(x)), c = fabs(rbCos(x));
        checkBelow(s < c ? s : c, 0x1p-50);
        worst = worseOf(worst, x);
        worst = worseOf(worst, -x);
    }
    // Every multiple that the three-part reduction handles; where it is too coarse it must detect
    // that.
    double closest = 1.0;
    for (int n = 1; n < 1050000; ++n) {
        double x = (double)((long double)n * 1.57079632679489661923132169163975144L);
        double s, c;
        rbSinCos(x, &s, &c);
        double small = (n & 1) != 0 ? fabs(c) : fabs(s);
        closest = small < closest ? small : closest;
        if (small < 0x1p-42 || n % 1000 == 0) {
            worst = worseOf(worst, x);
        }
    }
    print_message("next to multiples of pi/2: max %.4f ulp, closest %.3g\n", worst, closest);
    checkBelow(worst, 0.95);

    double hardest = 6381956970095103.0 * 0x1p797;
    checkRelative(rbCos(hardest), -4.68716592425462761112e-19, 1.2e-16);
    assert_true(rbSin(hardest) == 1.0);
    checkRelative(rbSin(RB_PI), 1.2246467991473531772e-16, 1.2e-16);
    checkRelative(rbCos(0.5 * RB_PI), 6.1232339957367658860e-17, 1.2e-16);
    checkRelative(rbSin(1e22), -0.8522008497671888017727, 1.2e-16);
    checkRelative(rbCos(DBL_MAX), -0.99998768942655996, 1.2e-16);
}

// The largest doubles and the border between the two reductions.
static void reductionIsRightAtItsBorders(void** state)
{
    (void)state;
    static const double borders[] = {
        0x1.921fb54442d18p-1, 1647099.0, 1647099.3, 0x1p-27, 0x1p1023, DBL_MAX};
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; ++i) {
        for (int side = -300; side <= 300; ++side) {
            double x = rbFromBits(rbBitsOf(borders[i]) + (uint64_t)(int64_t)side);
            if (isfinite(x)) {
                checkBelow(errorInUlps(rbSin(x), sinl(x)), 1.0);
                checkBelow(errorInUlps(rbCos(-x), cosl(x)), 1.0);
            }
        }
    }
}

static bool sameBits(double a, double b)
{
    return (isnan(a) && isnan(b)) || rbBitsOf(a) == rbBitsOf(b);
}

#define SAME(value, truth) assert_true(sameBits((value), (truth)))

static void specialValuesAreThoseOfC(void** state)
{
    (void)state;
    const double inf = (double)INFINITY, nan = (double)NAN;
    static double (*const odd[])(double) = {rbSin, atanByTwo, rbCbrt, rbSinh, rbTanh};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; ++i) {
        SAME(odd[i](0.0), 0.0);
        SAME(odd[i](-0.0), -0.0);
        SAME(odd[i](0x1p-1074),
             0x1p-1074 * (odd[i] == rbCbrt ? 0.0 : 1.0) + (odd[i] == rbCbrt ? 0x1p-358 : 0.0));
        SAME(odd[i](-0x1.8p-1030), -odd[i](0x1.8p-1030));
        SAME(odd[i](nan), nan);
    }
    static double (*const even[])(double) = {rbCos, rbCosh, rbExp};
    for (size_t i = 0; i < sizeof even / sizeof even[0]; ++i) {
        SAME(even[i](0.0), 1.0);
        SAME(even[i](-0.0), 1.0);
        SAME(even[i](0x1p-1074), 1.0);
        SAME(even[i](nan), nan);
    }
    SAME(rbSin(inf), nan);
    SAME(rbCos(-inf), nan);
    SAME(atanByTwo(inf), 0.5 * RB_PI);
    SAME(atanByTwo(-inf), -0.5 * RB_PI);
    SAME(rbAcos(1.0), 0.0);
    SAME(rbAcos(-1.0), RB_PI);
    SAME(rbAcos(0.0), 0.5 * RB_PI);
    SAME(rbAcos(-1.0000000001), nan);
    SAME(rbAcos(nan), nan);
    SAME(rbExp(inf), inf);
    SAME(rbExp(-inf), 0.0);
    SAME(rbExp(1.0), 2.718281828459045);
    SAME(rbExp(709.782712893385), inf);
    assert_true(rbExp(709.782712893383) < inf && rbExp(709.782712893383) > 1.79e308);
    SAME(rbExp(-745.2), 0.0);
    SAME(rbExp(-745.1), 0x1p-1074);
    SAME(rbLog(1.0), 0.0);
    SAME(rbLog(0.0), -inf);
    SAME(rbLog(-0.0), -inf);
    SAME(rbLog(inf), inf);
    SAME(rbLog(-1.0), nan);
    SAME(rbLog(-inf), nan);
    SAME(rbLog(nan), nan);
    SAME(rbLog(0x1p-1074), -744.4400719213812);
    SAME(rbCbrt(inf), inf);
    SAME(rbCbrt(-inf), -inf);
    SAME(rbCbrt(-27.0), -3.0);
    SAME(rbSinh(-inf), -inf);
    SAME(rbCosh(-inf), inf);
    SAME(rbTanh(inf), 1.0);
    SAME(rbTanh(-inf), -1.0);
    SAME(rbTanh(-40.0), -1.0);
}

static void atan2SpecialValuesAreThoseOfC(void** state)
{
    (void)state;
    static const double values[] = {0.0,  1.0,      0x1p-1074, 0x1p-1022, DBL_MAX,
                                    0.75, 0x1p-600, 0x1p600,   INFINITY,  NAN};
    size_t count = sizeof values / sizeof values[0];
    for (size_t i = 0; i < count; ++i) {
        for (size_t j = 0; j < count; ++j) {
            for (int signs = 0; signs < 4; ++signs) {
                double y = (signs & 1) ? -values[i] : values[i];
                double x = (signs & 2) ? -values[j] : values[j];
                double ours = rbAtan2(y, x);
                long double truth = atan2l(y, x);
                checkBelow(errorInUlps(ours, truth), 1.0);
                assert_true(isnan(ours) || (signbit(ours) != 0) == (signbit(y) != 0));
            }
        }
    }
}

static void cubesHaveExactRoots(void** state)
{
    (void)state;
    for (int i = 1; i < 200000; i += 37) {
        double x = (double)i;
        assert_true(rbCbrt(x * x * x) == x);
        assert_true(rbCbrt(-x * x * x * 0x1p-900) == -x * 0x1p-300);
    }
}

// Neighbors across the joints of tables and intervals must not decrease by more than rounding: for
// functions within 1 ulp, a decrease of more than one ulp would reveal a wrong joint.
static void functionsAreMonotoneAcrossTheirJoints(void** state)
{
    (void)state;
    typedef struct Joint {
        double (*f)(double);
        double at;
    } Joint;
    Joint joints[400];
    int count = 0;
    for (int k = 8; k < 64; ++k) {
        joints[count++] = (Joint){atanByTwo, (k + 0.5) / 64.0};
    }
    for (int k = 46; k < 90; ++k) {
        joints[count++] = (Joint){rbLog, (k - 0.5) / 64.0};
    }
    for (int k = -40; k < 40; ++k) {
        joints[count++] = (Joint){rbExp, (k + 0.5) * 0.021660849392498290};
    }
    for (int k = -20; k < 20; ++k) {
        joints[count++] = (Joint){rbCbrt, ldexp(1.0, k)};
    }
    joints[count++] = (Joint){atanByTwo, 0.125};
    joints[count++] = (Joint){atanByTwo, 1.0};
    joints[count++] = (Joint){rbSin, 0.25 * RB_PI};
    joints[count++] = (Joint){rbSinh, 1.0};
    joints[count++] = (Joint){rbSinh, 709.0};
    joints[count++] = (Joint){rbTanh, 1.0};
    for (int i = 0; i < count; ++i) {
        double x = joints[i].at;
        double step = fabs(x) * DBL_EPSILON;
        double before = joints[i].f(x - 200.0 * step);
        for (int k = -199; k <= 200; ++k) {
            double value = joints[i].f(x + k * step);
            assert_true(value >= before - 3.0 * DBL_EPSILON * fabs(before));
            before = value;
        }
        assert_true(joints[i].f(x + 200.0 * step) > joints[i].f(x - 200.0 * step));
    }
}

static void exactPairsAddUp(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(400)};
    for (int i = 0; i < 20000; ++i) {
        double a = floor(rbRandom_Symmetric(&random) * 0x1p52);
        double b = floor(rbRandom_Symmetric(&random) * 0x1p52) * 0x1p-30;
        rbPair sum = rbTwoSum(a, b);
        assert_true((long double)sum.high + sum.low == (long double)a + b || LDBL_MANT_DIG < 100);
        assert_true(sum.high == a + b && fabs(sum.low) <= 0.5 * DBL_EPSILON * fabs(sum.high));
        rbPair product = rbTwoProduct(a, b);
        assert_true((long double)product.high + product.low == (long double)a * b ||
                    LDBL_MANT_DIG < 106);
        assert_true(fabs(product.low) <= 0.5 * DBL_EPSILON * fabs(product.high));
    }
}

RB_TEST_GROUP(
    test_elementary, cmocka_unit_test(errorsStayBelowTheirBounds),
    cmocka_unit_test(atan2ErrorStaysBelowOneUlp), cmocka_unit_test(sinCosAgreesWithSinAndCos),
    cmocka_unit_test(argumentsNextToMultiplesOfHalfPiReduceExactly),
    cmocka_unit_test(reductionIsRightAtItsBorders), cmocka_unit_test(specialValuesAreThoseOfC),
    cmocka_unit_test(atan2SpecialValuesAreThoseOfC), cmocka_unit_test(cubesHaveExactRoots),
    cmocka_unit_test(functionsAreMonotoneAcrossTheirJoints), cmocka_unit_test(exactPairsAddUp));
