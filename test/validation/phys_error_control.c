// Error control keeps its word: at every order and for every error asked, the motion is off by at
// most ten times as much, or the run says that it missed. Truths are references in reduced
// coordinates, closed forms, or, where there is none, fixed steps of order 8 and 10 that agree.
#include "base/core/random.h"
#include "mechanism_pairs.h"
#include "mechanism_reference.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

#define RATIO_MOST 10.0

static const rbVec3 rodEnd = {0.5, 0.0, 0.0};
static const rbVec3 axisZ = {0.0, 0.0, 1.0};

// A slider-crank in the plane z = 0: lengths and the angle and rate of the crank.
typedef struct SliderPlan {
    double crank;
    double rod;
    double angle;
    double rate;
} SliderPlan;

typedef union Plan {
    int count; // of pendulums or loops
    double angles[2];
    rbTopPlan top;
    rbPairPlan pair;
    SliderPlan slider;
} Plan;

typedef union Truth {
    rbReference reference;
    rbQuat turn;
    rbMechanism fine;
} Truth;

// A mechanism, and how far it is off its truth at the end.
typedef struct System {
    const char* name;
    double duration; // s
    rbMechanism (*make)(rbStepSettings settings, const Plan* plan);
    double (*off)(const rbMechanism* m, const Truth* truth); // m
    Plan plan;
    Truth truth;
} System;

static rbMechanism makePendulums(rbStepSettings settings, const Plan* plan)
{
    return rbMakePendulumWorld(settings, plan->angles, 2);
}

static rbMechanism makeFourBar(rbStepSettings settings, const Plan* plan)
{
    return rbMakeFourBarWorld(settings, plan->count);
}

static rbMechanism makeBricard(rbStepSettings settings, const Plan* plan)
{
    (void)plan;
    return rbMakeBricardWorld(settings);
}

static rbMechanism makeAndrews(rbStepSettings settings, const Plan* plan)
{
    (void)plan;
    return rbMakeAndrewsWorld(settings);
}

static rbMechanism makeGovernor(rbStepSettings settings, const Plan* plan)
{
    return rbMakeGovernorWorld(settings, plan->count > 0);
}

static rbMechanism makeTop(rbStepSettings settings, const Plan* plan)
{
    double rates[2];
    rbGetPrecessionRates(&plan->top, rates);
    return rbMakeTopWorld(settings, &plan->top, rates[0]);
}

static rbMechanism makePair(rbStepSettings settings, const Plan* plan)
{
    return rbMakePairWorld(settings, &plan->pair);
}

static rbMechanism makeSlider(rbStepSettings settings, const Plan* plan)
{
    const SliderPlan* p = &plan->slider;
    rbMechanism m = rbMakeMechanism(settings, rbMakeVec3(0.0, -9.81, 0.0));
    rbVec3 pin = {p->crank * cos(p->angle), p->crank * sin(p->angle), 0.0};
    double reach = sqrt(p->rod * p->rod - pin.y * pin.y);
    rbVec3 wrist = {pin.x + reach, 0.0, 0.0};
    rbVec3 speed = rbScale(p->rate, rbMakeVec3(-pin.y, pin.x, 0.0));
    // The wrist stays on y = 0.
    double turn = speed.y / reach;
    rbRodPlan crank = {
        1.0, 0.1, 0.01, RB_VEC3_ZERO, pin, rbScale(0.5, speed), rbScale(p->rate, axisZ)};
    rbRodPlan rod = {1.0, 0.1, 0.01, pin, wrist, RB_VEC3_ZERO, rbScale(-turn, axisZ)};
    rod.velocity = rbAdd(speed, rbCross(rod.spin, rbScale(0.5, rbSub(wrist, pin))));
    rbMassPlan piston = {.mass = 2.0, .moments = {0.1, 0.1, 0.1}, .center = wrist};
    piston.velocity = rbAdd(speed, rbCross(rod.spin, rbSub(wrist, pin)));
    int a = rbMechanism_AddRod(&m, &crank);
    int b = rbMechanism_AddRod(&m, &rod);
    int c = rbMechanism_AddBody(&m, &piston);
    (void)rbMechanism_AddHinge(&m, -1, a, RB_VEC3_ZERO, axisZ);
    (void)rbMechanism_AddHinge(&m, a, b, pin, axisZ);
    (void)rbMechanism_AddHinge(&m, b, c, wrist, axisZ);
    (void)rbMechanism_AddJoint(&m, RB_JOINT_PRISMATIC, -1, c, wrist, rbMakeVec3(1.0, 0.0, 0.0));
    return m;
}

static double offPendulums(const rbMechanism* m, const Truth* truth)
{
    const long double* y = truth->reference.y;
    rbVec3 end = {(double)(sinl(y[0]) + sinl(y[1])), (double)(-cosl(y[0]) - cosl(y[1])), 0.0};
    return rbDistance(rbMechanism_GetState(m, 1).center, end);
}

static double offFourBar(const rbMechanism* m, const Truth* truth)
{
    const long double* y = truth->reference.y;
    rbVec3 pin = {(double)sinl(y[0]), (double)cosl(y[0]), 0.0};
    return rbDistance(rbMechanism_GetPoint(m, 0, rodEnd), pin);
}

static double offBricard(const rbMechanism* m, const Truth* truth)
{
    return rbDistance(rbMechanism_GetPoint(m, 2, rodEnd), rbGetBricardPoint(&truth->reference, 3));
}

static double offTop(const rbMechanism* m, const Truth* truth)
{
    return 0.5 * rbGetTurnBetween(rbMechanism_GetState(m, 0).transform.q, truth->turn);
}

static double offFine(const rbMechanism* m, const Truth* truth)
{
    double worst = 0.0;
    for (int i = 0; i < m->bodyCount; ++i) {
        double off = rbDistance(rbMechanism_GetState(m, i).center,
                                rbMechanism_GetState(&truth->fine, i).center);
        worst = fmax(worst, off);
    }
    return worst;
}

static void endSystem(System* system)
{
    if (system->off == offFine) {
        rbMechanism_Free(&system->truth.fine);
    }
}

static void setReference(System* system, rbReference reference)
{
    rbReference_Advance(&reference, system->duration);
    system->truth.reference = reference;
}

// Fixed steps as the truth: those of another order and size must agree.
static void setFine(System* system)
{
    double step = system->duration / 2048.0;
    system->off = offFine;
    system->truth.fine = system->make(rbMakeStepSettings(step, 8), &system->plan);
    rbMechanism other = system->make(rbMakeStepSettings(0.5 * step, 6), &system->plan);
    assert_true(rbMechanism_Advance(&system->truth.fine, system->duration));
    assert_true(rbMechanism_Advance(&other, system->duration));
    double noise = offFine(&other, &system->truth);
    rbMechanism_Free(&other);
    print_message("%s: truth to %.1g m\n", system->name, noise);
    checkBelow(noise, 1e-9);
}

// Runs a system, and checks what it claims. Returns achieved / asked.
static double checkClaim(const System* system, int order, double asked)
{
    rbStepSettings settings = rbMakeStepSettings(0.1 * fmin(system->duration, 1.0), order);
    settings.accuracy = RB_ACCURACY_EXACT;
    settings.errorMax = asked;
    settings.horizon = system->duration;
    rbMechanism m = system->make(settings, &system->plan);
    bool isMet = rbMechanism_Advance(&m, system->duration);
    rbStatus status = m.error.status;
    assert_true(isMet || status == RB_STATUS_NUMERICAL);
    m.error.status = RB_STATUS_OK;
    double ratio = system->off(&m, &system->truth) / asked;
    rbStepStatistics s = rbWorld_GetStepStatistics(m.world);
    print_message("%-24s order %2d, asked %.0e m: achieved/asked %.2g, estimate/asked %.2g, %lld "
                  "steps%s\n",
                  system->name, order, asked, ratio, s.accuracyEstimate / asked, (long long)s.steps,
                  isMet ? "" : ", says that it missed");
    rbMechanism_Free(&m);
    if (isMet) {
        assert_int_equal(s.settledSteps, 0);
        checkBelow(s.accuracyEstimate, 1.000001 * asked);
        checkBelow(ratio, RATIO_MOST);
    } else {
        assert_true(s.inaccurateSteps > 0);
    }
    return ratio;
}

// All orders, 1e-3 to 1e-9 m. Order 4 needs 1e5 steps and more below 1e-5 m.
static void checkClaims(const System* system)
{
    static const double asked[] = {1e-3, 1e-5, 1e-7, 1e-9};
    bool isLong = rbTest_IsLong();
    for (int order = 4; order <= 10; order += 2) {
        int count = order > 4 ? 4 : isLong ? 3 : 2;
        for (int i = isLong ? 0 : 1; i < count; i += isLong ? 1 : 2) {
            (void)checkClaim(system, order, asked[i]);
        }
    }
}

static void mechanismsAreAsAccurateAsTheyClaim(void** state)
{
    (void)state;
    System bricard = {.name = "bricard", .duration = 4.0, .make = makeBricard, .off = offBricard};
    rbReference reference = rbMakeBricardReference();
    reference.bound = 1e-13L;
    setReference(&bricard, reference);
    checkClaims(&bricard);
    System top = {.name = "top", .duration = 1.0, .make = makeTop, .off = offTop};
    double rates[2];
    top.plan.top = (rbTopPlan){
        .mass = 1.0, .length = 0.5, .i1 = 0.3, .i3 = 0.08, .spin = 100.0, .tilt = RB_PI / 6.0};
    rbGetPrecessionRates(&top.plan.top, rates);
    top.truth.turn = rbGetPrecession(&top.plan.top, rates[0], 1.0);
    checkClaims(&top);
    System andrews = {.name = "andrews", .duration = 0.03, .make = makeAndrews};
    setFine(&andrews);
    checkClaims(&andrews);
    endSystem(&andrews);
    System governor = {.name = "governor", .duration = 3.0, .make = makeGovernor};
    setFine(&governor);
    checkClaims(&governor);
    endSystem(&governor);
}

// The four-bar passes a position where it could branch off, five times; rounding is large there.
static void singularPositionsAreNotPassedByChance(void** state)
{
    (void)state;
    for (int loops = 2; loops <= (rbTest_IsLong() ? 4 : 2); loops += 2) {
        System system = {
            .name = "four-bar", .duration = 10.0, .make = makeFourBar, .off = offFourBar};
        system.plan.count = loops;
        setReference(&system, rbMakeFourBarReference(loops, 9.81, 1.0));
        checkClaims(&system);
    }
    System system = {.name = "four-bar", .duration = 10.0, .make = makeFourBar, .off = offFourBar};
    system.plan.count = 2;
    setReference(&system, rbMakeFourBarReference(2, 9.81, 1.0));
    (void)checkClaim(&system, 4, 1e-6);
    System governor = {.name = "driven governor", .duration = 3.0, .make = makeGovernor};
    governor.plan.count = 1;
    setFine(&governor);
    checkClaims(&governor);
    endSystem(&governor);
}

static void loadsOfEveryKindAreAsAccurateAsTheyClaim(void** state)
{
    (void)state;
    for (int load = 0; load < RB_PAIR_LOAD_COUNT; ++load) {
        bool isSampled = load == RB_PAIR_PID || load == RB_PAIR_TORQUE;    // refused
        bool isDry = load == RB_PAIR_FRICTION || load == RB_PAIR_STICKING; // below
        if (isSampled || isDry) {
            continue;
        }
        System system = {.name = rbPairLoadNames[load], .duration = 1.0, .make = makePair};
        system.plan.pair = (rbPairPlan){.type = RB_JOINT_HINGE, .load = (rbPairLoad)load};
        setFine(&system);
        checkClaims(&system);
        endSystem(&system);
    }
}

// Dry friction reverses and sticks: truths are runs with error control that say how good they are.
static void dryFrictionIsAsAccurateAsItClaims(void** state)
{
    (void)state;
    for (int load = RB_PAIR_FRICTION; load <= RB_PAIR_STICKING; ++load) {
        System system = {.name = rbPairLoadNames[load], .duration = 1.0, .make = makePair};
        system.plan.pair = (rbPairPlan){.type = RB_JOINT_HINGE, .load = (rbPairLoad)load};
        system.off = offFine;
        rbStepSettings settings = rbMakeStepSettings(0.1, 8);
        settings.accuracy = RB_ACCURACY_EXACT;
        settings.errorMax = 1e-9;
        settings.horizon = 1.0;
        system.truth.fine = makePair(settings, &system.plan);
        (void)rbMechanism_Advance(&system.truth.fine, 1.0);
        system.truth.fine.error.status = RB_STATUS_OK;
        checkClaims(&system);
        endSystem(&system);
    }
}

static void randomStartsAreAsAccurateAsTheyClaim(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(512)};
    int count = rbTest_Count(6, 600);
    for (int i = 0; i < count; ++i) {
        int order = 4 + 2 * rbRandom_Index(&random, 4);
        double asked = order == 4 ? 1e-5 : 1e-9;
        asked *= exp(rbRandom_Unit(&random) * log(1e-3 / asked));
        System pair = {.name = "double pendulum",
                       .duration = 0.5 + rbRandom_Unit(&random),
                       .make = makePendulums,
                       .off = offPendulums};
        static const double zero[4] = {0};
        rbReference reference = rbMakeDoublePendulumReference(9.81, zero);
        for (int k = 0; k < 2; ++k) {
            pair.plan.angles[k] = RB_PI * (2.0 * rbRandom_Unit(&random) - 1.0);
            reference.y[k] = pair.plan.angles[k];
        }
        setReference(&pair, reference);
        (void)checkClaim(&pair, order, asked);
        System loops = {.name = "four-bar",
                        .duration = 0.5 + 3.0 * rbRandom_Unit(&random),
                        .make = makeFourBar,
                        .off = offFourBar};
        loops.plan.count = 1 + rbRandom_Index(&random, 4);
        setReference(&loops, rbMakeFourBarReference(loops.plan.count, 9.81, 1.0));
        (void)checkClaim(&loops, order, asked);
        System slider = {.name = "slider-crank", .duration = 1.0, .make = makeSlider};
        slider.plan.slider = (SliderPlan){.crank = 0.2 + 0.2 * rbRandom_Unit(&random),
                                          .rod = 0.6 + 0.5 * rbRandom_Unit(&random),
                                          .angle = 6.0 * rbRandom_Unit(&random),
                                          .rate = 12.0 * rbRandom_Unit(&random) - 6.0};
        setFine(&slider);
        (void)checkClaim(&slider, order, asked);
        endSystem(&slider);
    }
}

// A controller that is sampled once per step, and an order without an estimate: refused in words.
static void whatErrorControlCannotSeeIsRefused(void** state)
{
    (void)state;
    Plan plan = {.pair = {.type = RB_JOINT_HINGE, .load = RB_PAIR_PID}};
    rbStepSettings settings = rbMakeStepSettings(0.01, 8);
    settings.accuracy = RB_ACCURACY_EXACT;
    settings.errorMax = 1e-6;
    rbMechanism m = makePair(settings, &plan);
    assert_false(rbMechanism_Advance(&m, 0.1));
    assert_int_equal(m.error.status, RB_STATUS_UNSUPPORTED);
    assert_non_null(strstr(m.error.message, "sampled once per step"));
    rbMechanism_Free(&m);
    settings.order = 2;
    m = makePair(settings, &plan);
    assert_int_equal(m.error.status, RB_STATUS_INVALID);
    rbMechanism_Free(&m);
}

RB_TEST_GROUP(phys_error_control, cmocka_unit_test(mechanismsAreAsAccurateAsTheyClaim),
              cmocka_unit_test(singularPositionsAreNotPassedByChance),
              cmocka_unit_test(loadsOfEveryKindAreAsAccurateAsTheyClaim),
              cmocka_unit_test(dryFrictionIsAsAccurateAsItClaims),
              cmocka_unit_test(randomStartsAreAsAccurateAsTheyClaim),
              cmocka_unit_test(whatErrorControlCannotSeeIsRefused));
