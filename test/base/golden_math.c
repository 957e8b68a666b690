// The bits of matrices, quaternions, roots, steps of differential equations and elliptic functions,
// the same for every compiler, build type and machine; iterations count as well. That they are
// right is tested elsewhere.
#include "base/core/hash.h"
#include "base/core/random.h"
#include "base/math/elliptic.h"
#include "base/math/matrix3.h"
#include "base/math/ode.h"
#include "base/math/quaternion.h"
#include "base/math/roots.h"
#include "rb_test.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define CASES 4000

// Numbers are drawn one by one: compilers differ in the order of arguments.
static double draw(rbRandom* random)
{
    return rbRandom_Symmetric(random);
}

static rbVec3 drawVector(rbRandom* random)
{
    double x = draw(random), y = draw(random);
    return rbMakeVec3(x, y, draw(random));
}

static void checkHash(const char* what, uint64_t hash, uint64_t expected)
{
    if (hash != expected) {
        fail_msg("%s: hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u", what, hash, expected);
    }
}

static uint64_t hashVector(uint64_t hash, rbVec3 v)
{
    return rbHashDoubles(hash, (const double[]){v.x, v.y, v.z}, 3);
}

static uint64_t hashSymmetric(uint64_t hash, rbSym3 s)
{
    return rbHashDoubles(hash, (const double[]){s.xx, s.yy, s.zz, s.xy, s.xz, s.yz}, 6);
}

// --------------------------------------------------------------------------------------- matrices

// Positive definite, or nearly singular, or indefinite; with axes of very different size, up to the
// ends of the range of double; some entries zero.
static rbSym3 drawSymmetric(rbRandom* random, int kind)
{
    static const int decades[] = {0, 0, 20, 300, 500, 1010};
    rbVec3 a = drawVector(random), b = drawVector(random), c = drawVector(random);
    double thin = kind % 7 == 0 ? ldexp(1.0, -rbRandom_Index(random, 60)) : 1.0;
    double sign = kind % 11 == 0 ? -1.0 : 1.0;
    rbSym3 s = {
        a.x * a.x + b.x * b.x + thin * c.x * c.x,        a.y * a.y + b.y * b.y + thin * c.y * c.y,
        a.z * a.z + sign * b.z * b.z + thin * c.z * c.z, a.x * a.y + b.x * b.y + thin * c.x * c.y,
        a.x * a.z + b.x * b.z + thin * c.x * c.z,        a.y * a.z + b.y * b.z + thin * c.y * c.z};
    if (kind % 5 == 0) {
        s.xy = kind % 2 == 0 ? 0.0 : s.xy;
        s.xz = kind % 3 == 0 ? 0.0 : s.xz;
        s.yz = kind % 4 < 2 ? 0.0 : s.yz;
    }
    int range = decades[kind % 6];
    int common = range > 0 ? rbRandom_Index(random, 2 * range) - range : 0;
    double d[3];
    for (int k = 0; k < 3; ++k) {
        int own = kind % 4 == 0 && range < 400 ? rbRandom_Index(random, 40) - 20 : 0;
        d[k] = ldexp(1.0, common / 2 + own);
    }
    return (rbSym3){d[0] * s.xx * d[0], d[1] * s.yy * d[1], d[2] * s.zz * d[2],
                    d[0] * s.xy * d[1], d[0] * s.xz * d[2], d[1] * s.yz * d[2]};
}

static void matricesHaveTheSameBits(void** state)
{
    (void)state;
    rbRandom random = {71};
    uint64_t solved = RB_HASH_SEED, turned = RB_HASH_SEED, axes = RB_HASH_SEED;
    int refused = 0;
    for (int k = 0; k < CASES; ++k) {
        rbSym3 s = drawSymmetric(&random, k);
        rbSym3 inverse = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
        rbVec3 b = drawVector(&random), x = {7.0, 8.0, 9.0};
        bool isInverted = rbSym3_Invert(s, &inverse);
        assert_int_equal(rbSym3_Solve(s, b, &x), isInverted);
        refused += isInverted ? 0 : 1;
        solved = hashVector(hashSymmetric(solved, inverse), x);
        rbVec3 turn = drawVector(&random);
        rbMat3 r = rbMatFromQuat(rbQuat_Exp(rbScale(3.0, turn)));
        turned = hashSymmetric(turned, rbSym3_Rotate(s, r));
        turned = hashSymmetric(turned, rbSym3_FromPrincipal(b, r));
        rbEigen3 e = rbSym3_Diagonalize(s);
        axes = hashVector(hashVector(axes, e.values), e.axes.cx);
        axes = hashVector(hashVector(axes, e.axes.cy), e.axes.cz);
        axes = rbHashDoubles(axes, (const double[]){e.sweeps, e.converged}, 2);
    }
    assert_true(refused > CASES / 50 && refused < CASES / 4);
    checkHash("solved", solved, 0x3ebe29203c60528au);
    checkHash("turned", turned, 0x9399a3f34f86203cu);
    checkHash("axes", axes, 0x94aba63bb35119b3u);
}

// ------------------------------------------------------------------------------------ quaternions

static uint64_t hashQuaternion(uint64_t hash, rbQuat q)
{
    return rbHashDoubles(hash, (const double[]){q.w, q.x, q.y, q.z}, 4);
}

static rbVec3 unit(rbVec3 v)
{
    return rbScale(1.0 / sqrt(rbLengthSquared(v)), v);
}

static void quaternionsHaveTheSameBits(void** state)
{
    (void)state;
    rbRandom random = {72};
    uint64_t exponential = RB_HASH_SEED, matrix = RB_HASH_SEED, between = RB_HASH_SEED;
    for (int k = 0; k < CASES; ++k) {
        double size = ldexp(4.0, -(k % 5 == 0 ? k / 5 % 60 : k % 12));
        rbVec3 turn = rbScale(size, drawVector(&random));
        rbQuat q = rbQuat_Exp(turn);
        exponential = hashQuaternion(exponential, q);
        matrix = hashQuaternion(matrix, rbQuat_FromMat(rbMatFromQuat(q)));
        rbVec3 a = unit(drawVector(&random)), b = unit(drawVector(&random));
        // nearly equal, nearly opposite, and opposite
        b = k % 3 == 0 ? unit(rbAddScaled(a, size * size, b)) : b;
        b = k % 2 == 0 ? b : rbScale(-1.0, b);
        between = hashQuaternion(between, rbQuat_Between(a, b));
    }
    // half turns about an axis, where two or three components are equal
    for (int x = -1; x <= 1; ++x) {
        for (int y = -1; y <= 1; ++y) {
            for (int z = -1; z <= 1; ++z) {
                if (x != 0 || y != 0 || z != 0) {
                    rbVec3 n = unit(rbMakeVec3(x, y, z));
                    rbQuat q = {0.0, n.x, n.y, n.z};
                    matrix = hashQuaternion(matrix, rbQuat_FromMat(rbMatFromQuat(q)));
                    between = hashQuaternion(between, rbQuat_Between(n, rbScale(-1.0, n)));
                    between = hashQuaternion(between, rbQuat_Between(n, n));
                }
            }
        }
    }
    checkHash("exponential", exponential, 0x3874fd342afaaa6fu);
    checkHash("matrix", matrix, 0xe2333d52d7f8751cu);
    checkHash("between", between, 0xb404092bd1e9a12au);
}

// ------------------------------------------------------------------------------------------ roots

typedef struct Curve {
    int kind;
    double root, slope;
    uint64_t hash; // of the points
    int calls;
} Curve;

static double evaluate(double x, void* context)
{
    Curve* c = context;
    double u = c->slope * (x - c->root);
    c->hash = rbHashDoubles(c->hash, &x, 1);
    c->calls += 1;
    switch (c->kind) {
    case 0:
        return u;
    case 1:
        return u * (1.0 + u * u);
    case 2:
        return u * u * u;
    case 3:
        return u / (1.0 + fabs(u));
    case 4:
        return u < 0.0 ? -1.0 : 1.0;
    case 5:
        return u + 0.9 * u * fabs(u) + 1e-3 * floor(3.0 * u);
    case 6:
        return u == 0.0 ? (double)INFINITY : 1.0 / u;
    case 7:
        return c->calls == 9 ? (double)NAN : u * u * u;
    case 8:
        return u * u + 0.01; // no root
    default:
        return sqrt(fabs(u)) * (u < 0.0 ? -1.0 : 2.0);
    }
}

static void rootsAreFoundByTheSamePoints(void** state)
{
    (void)state;
    rbRandom random = {73};
    uint64_t hash = RB_HASH_SEED;
    int ends[4] = {0};
    for (int k = 0; k < CASES; ++k) {
        Curve curve = {.kind = k % 10, .hash = hash};
        double scale = ldexp(1.0, k % 9 == 0 ? rbRandom_Index(&random, 200) - 100 : 0);
        curve.root = k % 17 == 0 ? 0.0 : scale * draw(&random);
        double steep = 1.0 + rbRandom_Unit(&random);
        curve.slope = ldexp(steep, rbRandom_Index(&random, 30) - 15) / scale;
        double a = curve.root - scale * rbRandom_Unit(&random);
        double b = curve.root + scale * (k % 23 == 0 ? 0.0 : rbRandom_Unit(&random));
        double tolerance = k % 3 == 0 ? 0.0 : scale * ldexp(1.0, -rbRandom_Index(&random, 50));
        int most = k % 13 == 0 ? rbRandom_Index(&random, 12) : 200;
        rbRootResult r = k % 2 == 0 ? rbFindRoot(evaluate, &curve, a, b, tolerance, most)
                                    : rbFindRoot(evaluate, &curve, b, a, tolerance, most);
        const double numbers[5] = {r.x, r.f, r.other, r.iterations, (double)r.end};
        hash = rbHashDoubles(curve.hash, numbers, 5);
        ends[r.end] += 1;
    }
    for (int i = 0; i < 4; ++i) {
        assert_true(ends[i] > 50);
    }
    checkHash("roots", hash, 0x6e085ca3f3135bd3u);
}

// ----------------------------------------------------------------------------------------
// equations

// Each derivative depends on the time and on other unknowns.
static void derive(double t, const double* x, double* derivative, void* context)
{
    int count = *(const int*)context;
    for (int i = 0; i < count; ++i) {
        double next = x[(i + 1) % count], last = x[(i + count - 1) % count];
        derivative[i] = (0.3 + t) * next - 0.7 * last * x[i] + t * t - 0.1 * i;
    }
}

static void stepsHaveTheSameBits(void** state)
{
    (void)state;
    static const uint64_t expected[3] = {0xbe69ebcebedba3e5u, 0x9fbf46c50f4b70e6u,
                                         0x1f8051b9629f66bau};
    assert_null(rbGetOdeMethod(-1));
    assert_null(rbGetOdeMethod(3));
    for (int m = 0; m < 3; ++m) {
        const rbOdeMethod* method = rbGetOdeMethod(m);
        rbRandom random = {74};
        uint64_t hash = rbHashBytes(RB_HASH_SEED, method->name, strlen(method->name));
        const int facts[3] = {method->order, method->stages, method->hasErrorEstimate};
        hash = rbHashBytes(hash, facts, sizeof facts);
        for (int k = 0; k < 400; ++k) {
            int count = 1 + k % RB_ODE_UNKNOWNS_MAX;
            rbOdeSystem system = {.count = count, .function = derive, .context = &count};
            double x[RB_ODE_UNKNOWNS_MAX];
            for (int i = 0; i < count; ++i) {
                x[i] = draw(&random);
            }
            double t = draw(&random), h = 0.2 * draw(&random);
            rbOdeStepResult result;
            memset(&result, 0, sizeof result);
            rbOde_Step(method, &system, t, h, x, &result);
            hash = rbHashDoubles(hash, result.x, RB_ODE_UNKNOWNS_MAX);
            hash = rbHashDoubles(hash, result.error, RB_ODE_UNKNOWNS_MAX);
        }
        checkHash(method->name, hash, expected[m]);
    }
}

// ------------------------------------------------------------------------------------------
// elliptic

static uint64_t hashElliptic(uint64_t hash, const rbElliptic* e, double fraction)
{
    const double facts[] = {
        e->m,     e->m1,       e->quarter,  e->quarterComplement, e->nome, (double)e->isLarge,
        e->scale, e->snFactor, e->cnFactor, e->dnFactor};
    double values[3] = {0.0, 0.0, 0.0};
    uint64_t h = rbHashDoubles(hash, facts, 10);
    if (e->isLarge) {
        double quarter = isinf(e->quarter) ? 30.0 : e->quarter;
        rbThetaParts parts = rbElliptic_ThetaParts(e, fabs(fraction) * quarter);
        rbElliptic_SnCnDnLarge(e, &parts, fraction, values);
        h = rbHashDoubles(h, parts.plus, RB_THETA_TERMS);
        h = rbHashDoubles(h, parts.minus, RB_THETA_TERMS);
        h = rbHashDoubles(h, (const double[]){parts.e, parts.x, parts.v}, 3);
    } else {
        double sine = fraction, cosine = sqrt(1.0 - fraction * fraction);
        rbElliptic_SnCnDnSmall(e, sine, cosine, values);
    }
    return rbHashDoubles(h, values, 3);
}

static void ellipticFunctionsHaveTheSameBits(void** state)
{
    (void)state;
    rbRandom random = {75};
    uint64_t functions = RB_HASH_SEED, integrals = RB_HASH_SEED;
    for (int k = 0; k < CASES; ++k) {
        double small =
            k % 50 == 0 ? 0.0 : ldexp(rbRandom_Unit(&random), -(k % 3 == 0 ? k % 70 : 0));
        small = k % 101 == 0 ? 0.5 : small;
        double m = k % 2 == 0 ? small : 1.0 - small;
        double m1 = k % 2 == 0 ? 1.0 - small : small;
        m1 = k % 77 == 1 ? 1e-300 : m1;
        rbElliptic e = rbElliptic_Make(m, m1);
        functions = hashElliptic(functions, &e, draw(&random));
        double sine = draw(&random), cosine = sqrt(1.0 - sine * sine);
        sine = k % 19 == 0 ? 0.0 : k % 29 == 0 ? copysign(1.0, sine) : sine;
        cosine = k % 19 == 0 ? 1.0 : k % 29 == 0 ? 0.0 : cosine;
        cosine = k % 4 < 2 ? cosine : -cosine;
        const double values[2] = {rbEllipticK(m1), rbEllipticF(sine, cosine, m1)};
        integrals = rbHashDoubles(integrals, values, 2);
    }
    checkHash("functions", functions, 0x164b099afb93780bu);
    checkHash("integrals", integrals, 0x333ed760ec929856u);
}

RB_TEST_GROUP(golden_math, cmocka_unit_test(matricesHaveTheSameBits),
              cmocka_unit_test(quaternionsHaveTheSameBits),
              cmocka_unit_test(rootsAreFoundByTheSamePoints),
              cmocka_unit_test(stepsHaveTheSameBits),
              cmocka_unit_test(ellipticFunctionsHaveTheSameBits));
