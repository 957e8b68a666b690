// Free tops: a Taylor series in 113 bits for random bodies and near the separatrix, sines for
// symmetric bodies.
#include "base/core/random.h"
#include "flights.h"
#include "top_oracle.h"
#include "validation.h"

#define ROTATIONS 10.0

static const rbMotionSettings exactMotion = {
    .type = RB_MOTION_EXACT, .step = 1e-3, .degree = 8, .tolerance = 1e-12};

static rbBodyState flyTop(rbVec3 moments, rbVec3 spin, rbMotionSettings motion, double time)
{
    rbBodyId bodyId;
    rbWorld* world = rbMakeTop(moments, spin, motion, &bodyId);
    rbBodyState state = rbBody_GetStateAt(world, bodyId, time);
    rbDestroyWorld(world);
    return state;
}

typedef struct TopErrors {
    double spin; // relative
    double turn;
} TopErrors;

static TopErrors compareWithOracle(rbVec3 moments, rbVec3 spin, double time)
{
    rbBodyState state = flyTop(moments, spin, exactMotion, time);
    double q[4];
    double w[3];
    rbTopOracle(moments, spin, time, q, w);
    return (TopErrors){rbCompareVectors(state.angularVelocityLocal, rbMakeVec3(w[0], w[1], w[2])),
                       rbCompareOrientations(state.transform.q, (rbQuat){q[0], q[1], q[2], q[3]})};
}

static double logUniform(rbRandom* random, double lowDigits, double highDigits)
{
    return pow(10.0, rbRandom_Range(random, lowDigits, highDigits));
}

// ------------------------------------------------------------------------------------ random tops

// The shape of a random body. a, b, c are the second moments of its mass along its axes, which may
// be any positive numbers: the moments of inertia b + c, c + a, a + b then belong to a real body.
typedef enum rbTopKind {
    RB_TOP_GENERIC,
    RB_TOP_NEAR_SYMMETRIC,
    RB_TOP_NEAR_SPHERICAL,
    RB_TOP_SYMMETRIC,
    RB_TOP_COUNT
} rbTopKind;

static const char* const topNames[RB_TOP_COUNT] = {"generic", "near-symmetric", "near-spherical",
                                                   "symmetric"};

static rbVec3 makeMoments(rbRandom* random, rbTopKind kind)
{
    double m[3];
    for (int i = 0; i < 3; ++i) {
        m[i] = logUniform(random, -1.5, 0.0);
    }
    double closeness = logUniform(random, -15.0, -2.0);
    int pair = rbRandom_Index(random, 3);
    int next = (pair + 1) % 3;
    int third = (pair + 2) % 3;
    if (kind != RB_TOP_GENERIC) {
        m[next] = kind == RB_TOP_SYMMETRIC ? m[pair] : m[pair] * (1.0 + closeness);
    }
    if (kind == RB_TOP_NEAR_SPHERICAL) {
        m[third] = m[pair] * (1.0 - closeness * rbRandom_Unit(random));
    }
    return rbMakeVec3(m[1] + m[2], m[2] + m[0], m[0] + m[1]);
}

static rbVec3 makeSpin(rbRandom* random)
{
    rbVec3 direction;
    do {
        direction = rbMakeVec3(rbRandom_Symmetric(random), rbRandom_Symmetric(random),
                               rbRandom_Symmetric(random));
    } while (rbLengthSquared(direction) > 1.0 || rbLengthSquared(direction) < 1e-4);
    return rbScale(logUniform(random, -1.0, 1.5) / rbLength(direction), direction);
}

static void runRandom(rbValidation* validation)
{
    int count = validation->isQuick ? 100 : 1000;
    double spinErrors[RB_TOP_COUNT] = {0};
    double turnErrors[RB_TOP_COUNT] = {0};
    rbRandom random = {2007};
    for (int i = 0; i < count; ++i) {
        rbTopKind kind = (rbTopKind)(i % RB_TOP_COUNT);
        rbVec3 moments = makeMoments(&random, kind);
        rbVec3 spin = makeSpin(&random);
        double time = ROTATIONS * 2.0 * RB_PI / rbLength(spin);
        TopErrors errors = compareWithOracle(moments, spin, time);
        spinErrors[kind] = rbWorseError(spinErrors[kind], errors.spin);
        turnErrors[kind] = rbWorseError(turnErrors[kind], errors.turn);
    }
    rbValidation_Print(validation, "  %d random bodies and spins, largest differences\n", count);
    for (int kind = 0; kind < RB_TOP_COUNT; ++kind) {
        char quantity[96];
        (void)snprintf(quantity, sizeof quantity, "%s: spin, relative", topNames[kind]);
        rbValidation_AddBound(validation, quantity, spinErrors[kind], 1e-11);
        (void)snprintf(quantity, sizeof quantity, "%s: orientation", topNames[kind]);
        rbValidation_AddBound(validation, quantity, turnErrors[kind], 1e-11);
    }
}

const rbValidationCase rbCaseFreeTopRandom = {
    .name = "free-top-random",
    .help = "random bodies and spins, ten rotations: the closed form",
    .source = "Taylor series of degree 28 in 113 bits (1,000 bodies; --quick 100)",
    .truth = RB_TRUTH_SECOND_METHOD,
    .run = runRandom,
};

// ------------------------------------------------------------------------------------- separatrix

static void runSeparatrix(rbValidation* validation)
{
    int count = validation->isQuick ? 40 : 200;
    rbRandom random = {1834};
    double spinMax = 0.0;
    double turnMax = 0.0;
    for (int i = 0; i < count; ++i) {
        // distinct moments in a random order; the spin close to the axis of the middle one
        double m[3] = {logUniform(&random, -1.0, -0.6), logUniform(&random, -0.5, -0.1),
                       logUniform(&random, 0.0, 0.3)};
        double inertia[3] = {m[1] + m[2], m[2] + m[0], m[0] + m[1]}; // the middle one is [1]
        double size = logUniform(&random, -0.5, 1.0);
        double closeness = logUniform(&random, -9.0, -3.0);
        double angle = rbRandom_Range(&random, 0.0, 2.0 * RB_PI);
        double w[3] = {size * closeness * cos(angle), size, size * closeness * sin(angle)};
        int turn = rbRandom_Index(&random, 3);
        rbVec3 moments = {inertia[turn], inertia[(turn + 1) % 3], inertia[(turn + 2) % 3]};
        rbVec3 spin = {w[turn], w[(turn + 1) % 3], w[(turn + 2) % 3]};
        double time = ROTATIONS * 2.0 * RB_PI / size;
        TopErrors errors = compareWithOracle(moments, spin, time);
        spinMax = rbWorseError(spinMax, errors.spin);
        turnMax = rbWorseError(turnMax, errors.turn);
    }
    rbValidation_Print(validation, "  %d bodies spun about the middle axis within 1e-3 to 1e-9\n",
                       count);
    rbValidation_AddBound(validation, "largest difference of spin, relative", spinMax, 1e-9);
    rbValidation_AddBound(validation, "largest difference of orientation", turnMax, 1e-9);
}

const rbValidationCase rbCaseSeparatrix = {
    .name = "separatrix",
    .help = "spin about the middle axis within 1e-3 to 1e-9, ten rotations",
    .source = "Taylor series of degree 28 in 113 bits (200 bodies; --quick 40)",
    .truth = RB_TRUTH_SECOND_METHOD,
    .run = runSeparatrix,
};

// ---------------------------------------------------------------------------------- symmetric top

static rbQuat makeRotation(rbVec3 axis, double angle)
{
    rbVec3 v = rbScale(sin(0.5 * angle), rbNormalize(axis));
    rbQuat q = {cos(0.5 * angle), v.x, v.y, v.z};
    return q;
}

// With I1 = I2 the transverse spin rotates in the body at W = (I3 - I1) / I1 w3, the body precesses
// about L at |L| / I1 and rotates about its axis at -W.
static void runSymmetric(rbValidation* validation)
{
    static const struct {
        const char* name;
        double i1, i3;
    } tops[] = {{"pencil", 1.0, 0.05}, {"coin", 0.5, 0.999}, {"ball", 0.4, 0.4}};
    static const double times[] = {0.1, 1.0, 10.0, 100.0};
    for (size_t k = 0; k < sizeof tops / sizeof tops[0]; ++k) {
        double i1 = tops[k].i1;
        double i3 = tops[k].i3;
        rbVec3 spin = {1.5, 0.5, 4.0};
        rbVec3 momentum = {i1 * spin.x, i1 * spin.y, i3 * spin.z};
        double bodyRate = (i3 - i1) / i1 * spin.z;
        for (size_t n = 0; n < sizeof times / sizeof times[0]; ++n) {
            double t = times[n];
            rbBodyState state = flyTop(rbMakeVec3(i1, i1, i3), spin, exactMotion, t);
            double c = cos(bodyRate * t);
            double s = sin(bodyRate * t);
            rbVec3 w = {c * spin.x - s * spin.y, s * spin.x + c * spin.y, spin.z};
            rbQuat q = rbMulQuat(makeRotation(momentum, rbLength(momentum) / i1 * t),
                                 makeRotation(rbMakeVec3(0.0, 0.0, 1.0), -bodyRate * t));
            char quantity[96];
            (void)snprintf(quantity, sizeof quantity, "%s, t = %g s: spin, relative", tops[k].name,
                           t);
            rbValidation_AddBound(validation, quantity,
                                  rbCompareVectors(state.angularVelocityLocal, w), 1e-13);
            (void)snprintf(quantity, sizeof quantity, "%s, t = %g s: orientation", tops[k].name, t);
            rbValidation_AddBound(validation, quantity, rbCompareOrientations(state.transform.q, q),
                                  1e-13);
        }
    }
}

const rbValidationCase rbCaseSymmetricTop = {
    .name = "symmetric-top",
    .help = "pencil, coin and ball: precession and spin at constant rates",
    .source = "closed form with sines",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = runSymmetric,
};
