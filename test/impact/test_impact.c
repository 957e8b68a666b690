// Single impacts with known results.
#include "base/math/matrix3.h"
#include "impact_cases.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

static rbImpactResult resolve(rbImpactInput input)
{
    rbImpactResult result;
    rbResolveImpact(&input, &result);
    return result;
}

static void checkHistory(uint32_t history, const char* text)
{
    char buffer[RB_IMPACT_HISTORY_SIZE];
    assert_string_equal(rbImpactHistory_Format(history, buffer), text);
}

// L-87, L-91, L-92, L-93, L-96, B-70
static void planarTableIsMetInEveryDirection(void** state)
{
    (void)state;
    int count = 0;
    const rbPlanarImpact* rows = rbGetPlanarImpacts(&count);
    for (int i = 0; i < count; ++i) {
        for (int turn = 0; turn < 24; ++turn) {
            double angle = 2.0 * RB_PI * turn / 24.0;
            rbImpactInput input = rbMakePlanarInput(&rows[i], angle);
            rbImpactResult result = resolve(input);
            double c = cos(angle);
            double s = sin(angle);
            checkNear(c * result.impulse.x + s * result.impulse.y, rows[i].pt, 1e-9);
            checkNear(c * result.impulse.y - s * result.impulse.x, 0.0, 1e-9);
            checkNear(result.impulse.z, rows[i].pn, 1e-9);
            checkNear(c * result.velocity.x + s * result.velocity.y, rows[i].vtAfter, 1e-9);
            checkNear(result.velocity.z, rows[i].vnAfter, 1e-9);
            checkNear(result.normalWork + result.frictionWork, rows[i].energyChange, 1e-9);
            assert_int_equal(result.isEnergyRaised, rows[i].energyChange > 0.0);
            checkHistory(result.history, rows[i].energyChange > 0.0 ? "slide, stick, gainsEnergy"
                                         : rows[i].friction < 0.5   ? "slide, reverse"
                                                                    : "slide, stick");
        }
    }
}

// L-89, L-90: U-6, a solid sphere on a fixed plane.
static void sphereSlidesOrSticksByItsClosedForm(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1)};
    for (int i = 0; i < rbTest_Count(3000, 100000); ++i) {
        double mass = rbRandom_Range(&random, 0.1, 10.0);
        double radius = rbRandom_Range(&random, 0.1, 2.0);
        double turning = 2.5 / (mass * radius * radius);
        rbVec3 normal = rbRandom_Direction(&random);
        rbImpactBody ground = {0};
        rbImpactBody ball = {.inverseMass = 1.0 / mass,
                             .inverseInertia = {turning, turning, turning, 0.0, 0.0, 0.0},
                             .center = rbScale(radius, normal),
                             .velocity = rbRandom_Direction(&random),
                             .angularVelocity = rbRandom_Direction(&random)};
        rbMat3 frame = rbMakeContactFrame(normal);
        rbImpactInput input = {
            .matrix = rbMakeCollisionMatrix(&ground, &ball, RB_VEC3_ZERO, &frame),
            .velocity = rbMulMtV(frame, rbGetRelativeVelocity(&ground, &ball, RB_VEC3_ZERO)),
            .restitution = rbRandom_Unit(&random),
            .friction = rbRandom_Unit(&random),
            .law = (rbImpactLaw)(i % 3)};
        if (input.velocity.z >= 0.0) {
            continue;
        }
        checkRelative(input.matrix.xx, 3.5 / mass, 1e-14);
        checkRelative(input.matrix.yy, 3.5 / mass, 1e-14);
        checkRelative(input.matrix.zz, 1.0 / mass, 1e-14);
        rbImpactResult result = resolve(input);
        double slip = hypot(input.velocity.x, input.velocity.y);
        double lost = 3.5 * input.friction * (1.0 + input.restitution) * -input.velocity.z;
        checkNear(hypot(result.velocity.x, result.velocity.y), fmax(slip - lost, 0.0), 1e-13);
        checkNear(result.velocity.z, -input.restitution * input.velocity.z, 1e-14);
        checkHistory(result.history, slip > lost ? "slide" : "slide, stick");
        assert_int_equal(result.steps, 0);
    }
}

// U-7; L-93
static void withoutFrictionTheLawsAgree(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(2)};
    for (int i = 0; i < rbTest_Count(3000, 100000); ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.0);
        double friction[2] = {0.0, 1e-200};
        for (int j = 0; j < 2; ++j) {
            input.friction = friction[j];
            input.law = (rbImpactLaw)(i % 3);
            rbImpactResult result = resolve(input);
            double truth = (1.0 + input.restitution) * -input.velocity.z / input.matrix.zz;
            checkRelative(result.impulse.z, truth, 1e-13);
            checkNear(result.velocity.z, -input.restitution * input.velocity.z,
                      1e-14 * -input.velocity.z);
            checkRelative(result.compressionWork,
                          -input.velocity.z * input.velocity.z / (2.0 * input.matrix.zz), 1e-13);
            double e = input.restitution;
            checkNear(result.normalWork / result.compressionWork, 1.0 - e * e, 1e-12);
        }
    }
}

// L-87
static void bodiesThatPartGetNoImpulse(void** state)
{
    (void)state;
    rbImpactInput input = {.matrix = {3.0, 2.0, 1.0, 0.1, 0.2, 0.3},
                           .velocity = {1.0, 2.0, 0.0},
                           .restitution = 0.5,
                           .friction = 0.5,
                           .law = RB_IMPACT_STRONGE};
    rbMicrocollision micro = {.depth = 0.5, .boostMax = 5.0, .leastSpeed = 1.0};
    for (int i = 0; i < 2; ++i) {
        rbImpactResult result = resolve(input);
        checkNear(rbLength(result.impulse), 0.0, 0.0);
        checkNear(rbDistance(result.velocity, input.velocity), 0.0, 0.0);
        checkHistory(result.history, "");
        rbResolveMicrocollision(&input, &micro, &result);
        checkNear(rbLength(result.impulse), 0.0, 0.0);
        input.velocity.z = 1e-3;
    }
}

// L-94: Painleve.
static void rodJamsAboveItsThreshold(void** state)
{
    (void)state;
    double least = INFINITY;
    for (int i = 1; i < 2000; ++i) {
        double angle = 0.5 * RB_PI * i / 2000.0;
        double threshold = rbGetRodThreshold(angle);
        rbImpactInput input = rbMakeRodInput(angle, 1.0);
        checkRelative(rbGetJamThreshold(&input), threshold, 1e-13);
        least = fmin(least, rbGetJamThreshold(&input));
        for (int side = 0; side < 2; ++side) {
            input.friction = threshold * (side == 0 ? 0.999 : 1.001);
            rbImpactResult result = resolve(input);
            assert_int_equal(result.isJam, side == 1);
            assert_true(result.velocity.z > 0.0);
            checkBelow(result.normalWork + result.frictionWork, 0.0);
        }
        // Dragged in the other direction it never jams.
        input.velocity.x = -1.0;
        assert_true(isinf(rbGetJamThreshold(&input)));
        assert_false(resolve(input).isJam);
    }
    checkNear(least, 4.0 / 3.0, 1e-6);
    checkNear(rbGetRodThreshold(atan(2.0)), 4.0 / 3.0, 1e-15);
    rbImpactInput still = {.matrix = {1.0, 1.0, 1.0, 0.0, 0.3, 0.0}, .velocity = {0.0, 0.0, -1.0}};
    assert_true(isinf(rbGetJamThreshold(&still)));
}

// L-88
static void contactFrameIsRightHandedAndRepeats(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3)};
    for (int i = 0; i < 2000; ++i) {
        rbVec3 n =
            i < 6 ? rbMakeVec3(i % 3 == 0, i % 3 == 1, i % 3 == 2) : rbRandom_Direction(&random);
        n = i >= 3 && i < 6 ? rbNeg(n) : n;
        rbMat3 frame = rbMakeContactFrame(n);
        rbMat3 again = rbMakeContactFrame(n);
        assert_memory_equal(&frame, &again, sizeof frame);
        assert_memory_equal(&frame.cz, &n, sizeof n);
        checkNear(rbDistance(rbCross(frame.cx, frame.cy), frame.cz), 0.0, 1e-15);
        checkNear(rbLength(frame.cx), 1.0, 1e-15);
        checkNear(rbLength(frame.cy), 1.0, 1e-15);
        checkNear(rbDot(frame.cx, frame.cy), 0.0, 1e-15);
    }
}

// L-89, L-97: the matrix compared with the effect of unit impulses, momentum and energy.
static void impulsesChangeTheVelocityByTheMatrix(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4)};
    for (int i = 0; i < rbTest_Count(2000, 100000); ++i) {
        rbImpactBody a = rbMakeRandomBody(&random);
        rbImpactBody b = rbMakeRandomBody(&random);
        rbVec3 point = rbRandom_Direction(&random);
        rbMat3 frame = rbMakeContactFrame(rbRandom_Direction(&random));
        rbSym3 k = rbMakeCollisionMatrix(&a, &b, point, &frame);
        rbVec3 p = rbRandom_Direction(&random);
        rbVec3 world = rbMulMV(frame, p);
        rbVec3 before = rbGetRelativeVelocity(&a, &b, point);
        double energy = rbGetKineticEnergy(&a) + rbGetKineticEnergy(&b);
        rbVec3 momentum = rbAdd(rbScale(1.0 / a.inverseMass, a.velocity),
                                rbScale(1.0 / b.inverseMass, b.velocity));
        rbApplyContactImpulse(&a, &b, point, world);
        rbVec3 after = rbGetRelativeVelocity(&a, &b, point);
        double size = 1.0 + rbLength(after);
        rbVec3 change = rbMulMtV(frame, rbSub(after, before));
        checkNear(rbDistance(change, rbMulSV(k, p)), 0.0, 1e-13 * size);
        momentum = rbSub(momentum, rbAdd(rbScale(1.0 / a.inverseMass, a.velocity),
                                         rbScale(1.0 / b.inverseMass, b.velocity)));
        checkNear(rbLength(momentum), 0.0, 1e-13 * size);
        double gained = rbGetKineticEnergy(&a) + rbGetKineticEnergy(&b) - energy;
        checkNear(gained, 0.5 * rbDot(world, rbAdd(before, after)), 1e-12 * (energy + size));
    }
    rbImpactBody ground = {.velocity = {1.0, 2.0, 3.0}};
    checkNear(rbGetKineticEnergy(&ground), 0.0, 0.0);
    rbImpactBody slider = {.inverseMass = 0.5,
                           .inverseInertia = {0.0, 0.0, 4.0, 0.0, 0.0, 0.0},
                           .velocity = {1.0, 0.0, 0.0},
                           .angularVelocity = {0.0, 0.0, 2.0}};
    checkNear(rbGetKineticEnergy(&slider), 1.5, 1e-15);
}

// L-99, L-100
static void microcollisionReversesAsFarAsTheConeAllows(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5)};
    int full = 0;
    int part = 0;
    int boosted = 0;
    int jams = 0;
    for (int i = 0; i < rbTest_Count(5000, 200000); ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.0);
        input.law = (rbImpactLaw)(i % 3);
        rbMicrocollision micro = {.depth = rbRandom_Unit(&random), .boostMax = 5.0};
        rbImpactResult result;
        rbResolveMicrocollision(&input, &micro, &result);
        rbVec3 u = input.velocity;
        rbVec3 p = RB_VEC3_ZERO;
        rbVec3 stop = RB_VEC3_ZERO;
        assert_true(rbSym3_Solve(input.matrix, rbScale(-2.0, u), &p));
        assert_true(rbSym3_Solve(input.matrix, rbMakeVec3(-u.x, -u.y, -2.0 * u.z), &stop));
        double slack = 1e-12 * rbLength(p);
        double room = input.friction * p.z - hypot(p.x, p.y);
        double stopRoom = input.friction * stop.z - hypot(stop.x, stop.y);
        rbImpactCheck check = rbCheckImpact(&input, &result);
        checkBelow(check.cone, 1e-12);
        checkBelow(check.motion, 1e-12);
        char text[RB_IMPACT_HISTORY_SIZE];
        (void)rbImpactHistory_Format(result.history, text);
        if (rbIsSlidingIntoJam(&input, -u.z)) {
            rbImpactResult truth = resolve(input);
            checkNear(rbDistance(result.velocity, truth.velocity), 0.0, 0.0);
            checkNear(rbDistance(result.impulse, truth.impulse), 0.0, 0.0);
            assert_memory_equal(text, "boost, ", 7);
            assert_true(result.isJam);
            jams += 1;
        } else if (room > slack && stopRoom > slack) {
            checkNear(rbDistance(result.velocity, rbNeg(u)), 0.0, 0.0);
            checkNear(rbDistance(result.impulse, p), 0.0, 1e-13 * rbLength(p));
            checkNear(result.normalWork + result.frictionWork, 0.0, 0.0);
            assert_string_equal(text, "return");
            full += 1;
        } else if ((result.history & 15u) == RB_PHASE_RETURN) {
            // The largest possible impulse: on the rim of the cone, without gain of energy.
            double share = -result.velocity.x / u.x;
            assert_true(share >= 0.0 && share <= 1.0);
            checkNear(result.velocity.y, -share * u.y, 1e-12);
            checkNear(result.velocity.z, -u.z, 0.0);
            checkBelow(-1e-9, check.cone);
            checkBelow(result.normalWork + result.frictionWork, 0.0);
            assert_string_equal(text, "return, slide");
            part += 1;
        } else {
            rbImpactInput direct = input;
            direct.restitution += (5.0 - direct.restitution) * (micro.depth * micro.depth);
            rbImpactResult truth = resolve(direct);
            checkNear(rbDistance(result.velocity, truth.velocity), 0.0, 0.0);
            checkNear(rbDistance(result.impulse, truth.impulse), 0.0, 0.0);
            assert_memory_equal(text, "boost, ", 7);
            boosted += 1;
        }
    }
    assert_true(full > 0 && part > 0 && boosted > 0 && jams > 0);
}

// A straight blow, no slip at first, and too little friction to stick: sliding begins in the
// direction d with w - mu A d = lambda d and keeps it. So friction is at its limit all the time,
// and the slip at the end is exactly against it. L-92
static void slidingFromRestKeepsItsDirection(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(92)};
    int count = 0;
    double turned = 0.0;
    for (int i = 0; i < 2000; ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.3);
        rbSym3 k = input.matrix;
        double determinant = k.xx * k.yy - k.xy * k.xy;
        double x = (k.yy * k.xz - k.xy * k.yz) / determinant;
        double y = (k.xx * k.yz - k.xy * k.xz) / determinant;
        input.friction = rbRandom_Range(&random, 0.1, 0.9) * sqrt(x * x + y * y);
        input.velocity = rbMakeVec3(0.0, 0.0, -rbRandom_Range(&random, 0.1, 10.0));
        input.law = (rbImpactLaw)(i % 3);
        double pull = sqrt(k.xz * k.xz + k.yz * k.yz);
        if (!(input.friction > 1e-3) || input.friction * pull > 0.9 * k.zz || pull < 1e-3 * k.zz) {
            continue; // smooth, or it might jam
        }
        rbImpactResult result = resolve(input);
        rbVec3 p = result.impulse;
        double friction = sqrt(p.x * p.x + p.y * p.y);
        double slip =
            sqrt(result.velocity.x * result.velocity.x + result.velocity.y * result.velocity.y);
        checkRelative(friction, input.friction * p.z, 1e-9);
        double across = result.velocity.x * p.y - result.velocity.y * p.x;
        double along = result.velocity.x * p.x + result.velocity.y * p.y;
        checkBelow(fabs(across), 1e-8 * friction * slip);
        assert_true(along < 0.0);
        // Not the direction of w, except where the matrix is symmetric about the normal.
        turned = fmax(turned, fabs(k.xz * p.y - k.yz * p.x) / (pull * friction));
        ++count;
    }
    print_message("%d impacts, turned from w by up to %.2g\n", count, turned);
    assert_true(count > 200 && turned > 0.1);
}

// L-99
static void microcollisionLeavesWithTheLeastSpeed(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6)};
    for (int i = 0; i < rbTest_Count(3000, 100000); ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.0);
        input.law = (rbImpactLaw)(i % 3);
        input.friction = i % 5 == 0 ? 0.0 : input.friction;
        input.velocity = rbScale(1e-6 * rbRandom_Unit(&random), input.velocity);
        rbMicrocollision micro = {
            .depth = rbRandom_Unit(&random), .boostMax = 5.0, .leastSpeed = 1e-3};
        rbImpactResult result;
        rbResolveMicrocollision(&input, &micro, &result);
        rbImpactCheck check = rbCheckImpact(&input, &result);
        checkBelow(check.motion, 1e-12);
        assert_true(result.velocity.z >= 1e-3 - 1e-18);
        assert_true(result.velocity.z < 1.0001e-3 || result.frictionWork < 0.0);
    }
}

static void namesAreFoundAndUnknownOnesAreNot(void** state)
{
    (void)state;
    for (int i = 0; i < RB_IMPACT_LAW_COUNT; ++i) {
        assert_int_equal(rbImpactLaw_Find(rbImpactLaw_Name((rbImpactLaw)i)), i);
    }
    for (int i = 0; i < RB_ORDER_COUNT; ++i) {
        assert_int_equal(rbImpactOrder_Find(rbImpactOrder_Name((rbImpactOrder)i)), i);
    }
    for (int i = 0; i < RB_COMBINE_COUNT; ++i) {
        assert_int_equal(rbCombineRule_Find(rbCombineRule_Name((rbCombineRule)i)), i);
    }
    assert_int_equal(rbImpactLaw_Find("stronge"), RB_IMPACT_STRONGE);
    assert_int_equal(rbImpactLaw_Find("Stronge"), RB_IMPACT_LAW_COUNT);
    assert_int_equal(rbImpactOrder_Find(""), RB_ORDER_COUNT);
    assert_int_equal(rbCombineRule_Find("average"), RB_COMBINE_COUNT);
    assert_string_equal(rbImpactPhase_Name(RB_PHASE_REVERSE), "reverse");
    uint32_t longest = 0x33333333u; // eight times the longest word
    char text[RB_IMPACT_HISTORY_SIZE];
    assert_int_equal(strlen(rbImpactHistory_Format(longest, text)), 8 * 7 + 7 * 2);
}

// B-67 by name: e product, mu sum.
static void materialsCombineByNamedRules(void** state)
{
    (void)state;
    static const struct {
        const char* name;
        double truth; // of 0.25 and 0.81
    } rows[] = {{"product", 0.2025}, {"sum", 1.06}, {"geometric", 0.45},
                {"mean", 0.53},      {"min", 0.25}, {"max", 0.81}};
    for (int i = 0; i < RB_COMBINE_COUNT; ++i) {
        rbCombineRule rule = rbCombineRule_Find(rows[i].name);
        checkNear(rbCombineRule_Apply(rule, 0.25, 0.81), rows[i].truth, 1e-16);
        checkNear(rbCombineRule_Apply(rule, 0.81, 0.25), rows[i].truth, 1e-16);
        checkNear(rbCombineRestitution(rule, 0.25, 0.81), fmin(rows[i].truth, 1.0), 1e-16);
        if (rule != RB_COMBINE_PRODUCT && rule != RB_COMBINE_SUM) {
            checkNear(rbCombineRule_Apply(rule, 0.3, 0.3), 0.3, 0.0);
        }
    }
}

static double fallWithSpeed(const rbRestitutionInput* input)
{
    return input->restitution * input->mass / input->speed;
}

static double askForNothing(const rbRestitutionInput* input)
{
    (void)input;
    return NAN;
}

// Laws of restitution from outside: found by name, kept within 0..1, asked only where something
// rebounds.
static void lawsOfRestitutionAreRegistered(void** state)
{
    (void)state;
    static const rbRestitutionRow rows[] = {{"falling", "e m / v", fallWithSpeed},
                                            {"odd", "not a number", askForNothing},
                                            {"empty", "no function", NULL},
                                            {"constant", "a name that is taken", fallWithSpeed}};
    rbError error = {0};
    assert_int_equal(rbRestitutionLaw_GetCount(), RB_RESTITUTION_COUNT);
    assert_int_equal(rbRegisterRestitution(&rows[0], &error), RB_STATUS_OK);
    assert_int_equal(rbRegisterRestitution(&rows[1], &error), RB_STATUS_OK);
    for (int i = 2; i < 4; ++i) {
        assert_int_equal(rbRegisterRestitution(&rows[i], &error), RB_STATUS_INVALID);
        assert_non_null(strstr(error.message, rows[i].name));
    }
    rbRestitutionLaw falling = rbRestitutionLaw_Find("falling");
    rbRestitutionLaw odd = rbRestitutionLaw_Find("odd");
    assert_int_equal(falling, RB_RESTITUTION_COUNT);
    assert_string_equal(rbRestitutionLaw_Name(odd), "odd");
    assert_int_equal(rbRestitutionLaw_Find("none"), rbRestitutionLaw_GetCount());
    rbRestitutionInput input = {.restitution = 0.5, .speed = 4.0, .mass = 2.0};
    checkNear(rbRestitutionLaw_Apply(RB_RESTITUTION_CONSTANT, &input), 0.5, 0.0);
    checkNear(rbRestitutionLaw_Apply(falling, &input), 0.25, 0.0);
    checkNear(rbRestitutionLaw_Apply(odd, &input), 0.0, 0.0);
    input.speed = 1e-3;
    checkNear(rbRestitutionLaw_Apply(falling, &input), 1.0, 0.0);
    input.speed = -1.0; // they part
    checkNear(rbRestitutionLaw_Apply(falling, &input), 0.5, 0.0);
    input = (rbRestitutionInput){.restitution = 0.0, .speed = 1.0, .mass = 1.0};
    checkNear(rbRestitutionLaw_Apply(falling, &input), 0.0, 0.0);
}

RB_TEST_GROUP(test_impact, cmocka_unit_test(planarTableIsMetInEveryDirection),
              cmocka_unit_test(sphereSlidesOrSticksByItsClosedForm),
              cmocka_unit_test(withoutFrictionTheLawsAgree),
              cmocka_unit_test(bodiesThatPartGetNoImpulse),
              cmocka_unit_test(rodJamsAboveItsThreshold),
              cmocka_unit_test(contactFrameIsRightHandedAndRepeats),
              cmocka_unit_test(impulsesChangeTheVelocityByTheMatrix),
              cmocka_unit_test(microcollisionReversesAsFarAsTheConeAllows),
              cmocka_unit_test(slidingFromRestKeepsItsDirection),
              cmocka_unit_test(microcollisionLeavesWithTheLeastSpeed),
              cmocka_unit_test(namesAreFoundAndUnknownOnesAreNot),
              cmocka_unit_test(materialsCombineByNamedRules),
              cmocka_unit_test(lawsOfRestitutionAreRegistered));
