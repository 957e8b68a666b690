// Several simultaneous impacts.
#include "impact_cases.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>
#include <stdio.h>

static void cradlePassesItsMotionOnOneByOne(void** state)
{
    (void)state;
    double v[RB_CRADLE_BALLS];
    rbImpactsReport report = rbSwingCradle(RB_ORDER_SEQUENTIAL, v);
    assert_true(report.isConverged);
    assert_int_equal(report.resolved, 4);
    for (int i = 0; i < RB_CRADLE_BALLS; ++i) {
        checkNear(v[i], i == 4 ? 1.0 : 0.0, 1e-12);
    }
}

static void cradleReboundsTogether(void** state)
{
    (void)state;
    double v[RB_CRADLE_BALLS];
    rbImpactsReport report = rbSwingCradle(RB_ORDER_SIMULTANEOUS, v);
    assert_true(report.isConverged);
    for (int i = 0; i < RB_CRADLE_BALLS; ++i) {
        checkNear(v[i], i == 0 ? -0.6 : 0.4, 1e-12);
    }
}

enum {
    PILE_BODIES = 8,
    PILE_CONTACTS = 16
};

typedef struct Pile {
    rbImpactBody bodies[PILE_BODIES]; // the first does not move
    rbImpactContact contacts[PILE_CONTACTS];
} Pile;

static Pile makePile(rbRandom* random, double friction, double restitution)
{
    Pile pile = {0};
    for (int i = 1; i < PILE_BODIES; ++i) {
        pile.bodies[i] = rbMakeRandomBody(random);
        pile.bodies[i].center =
            rbMakeVec3(rbRandom_Symmetric(random), rbRandom_Symmetric(random), i);
    }
    for (int i = 0; i < PILE_CONTACTS; ++i) {
        int b = 1 + i % (PILE_BODIES - 1);
        int a = b - 1;
        rbVec3 tilt = rbScale(0.2, rbRandom_Direction(random));
        pile.contacts[i] = (rbImpactContact){
            .a = a,
            .b = b,
            .point = rbMakeVec3(rbRandom_Symmetric(random), rbRandom_Symmetric(random), b - 0.5),
            .normal = rbNormalize(rbAdd(rbMakeVec3(0.0, 0.0, 1.0), tilt)),
            .restitution = restitution,
            .friction = friction,
            .law = (rbImpactLaw)(1 + i % 2)};
    }
    return pile;
}

static double getEnergy(const Pile* pile)
{
    double energy = 0.0;
    for (int i = 0; i < PILE_BODIES; ++i) {
        energy += rbGetKineticEnergy(&pile->bodies[i]);
    }
    return energy;
}

static double getApproach(const Pile* pile)
{
    double fastest = 0.0;
    for (int i = 0; i < PILE_CONTACTS; ++i) {
        const rbImpactContact* c = &pile->contacts[i];
        rbVec3 u = rbGetRelativeVelocity(&pile->bodies[c->a], &pile->bodies[c->b], c->point);
        fastest = fmax(fastest, -rbDot(u, c->normal));
    }
    return fastest;
}

// The work recorded at the contacts equals the change of the energy, and no contact is left
// approaching.
static void pilesEndWithoutApproachAndTheLedgerCloses(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(41)};
    int unsolved[RB_ORDER_COUNT] = {0};
    int count = rbTest_Count(300, 10000);
    for (int i = 0; i < count; ++i) {
        double friction = i % 3 == 0 ? 0.0 : 0.5 * rbRandom_Unit(&random);
        Pile start = makePile(&random, friction, 0.8 * rbRandom_Unit(&random));
        for (int j = 0; j < PILE_CONTACTS && i % 4 == 1; ++j) { // every contact its own
            start.contacts[j].restitution = rbRandom_Unit(&random);
            start.contacts[j].friction = rbRandom_Unit(&random);
        }
        for (int order = 0; order < RB_ORDER_COUNT; ++order) {
            Pile pile = start;
            double before = getEnergy(&pile);
            rbImpactsReport report =
                rbResolveImpacts(pile.bodies, pile.contacts, PILE_CONTACTS, (rbImpactOrder)order);
            double work = 0.0;
            for (int j = 0; j < PILE_CONTACTS; ++j) {
                const rbImpactContact* c = &pile.contacts[j];
                work += c->normalWork + c->frictionWork;
                double normal = rbDot(c->impulse, c->normal);
                double tangential = rbLength(rbAddScaled(c->impulse, -normal, c->normal));
                assert_true(normal >= 0.0);
                checkBelow(tangential, c->friction * normal + 1e-12);
            }
            double change = getEnergy(&pile) - before;
            checkNear(work, change, 1e-9 * before);
            checkBelow(change, 1e-12 * before);
            if (report.isConverged) {
                checkBelow(getApproach(&pile), 1e-10);
            }
            unsolved[order] += !report.isConverged;
        }
    }
    print_message("not converged: %d sequential, %d simultaneous of %d\n", unsolved[0], unsolved[1],
                  count);
    assert_true(unsolved[RB_ORDER_SIMULTANEOUS] <= count / 20);
}

// The complementarity conditions of several impacts by Newton's law without friction, to 1e-12.
static void simultaneousLawMeetsItsConditions(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(42)};
    for (int i = 0; i < rbTest_Count(300, 10000); ++i) {
        double e = rbRandom_Unit(&random);
        Pile start = makePile(&random, 0.0, e);
        for (int j = 0; j < PILE_CONTACTS; ++j) {
            start.contacts[j].law = RB_IMPACT_NEWTON;
        }
        Pile pile = start;
        rbImpactsReport report =
            rbResolveImpacts(pile.bodies, pile.contacts, PILE_CONTACTS, RB_ORDER_SIMULTANEOUS);
        assert_true(report.isConverged);
        for (int j = 0; j < PILE_CONTACTS; ++j) {
            const rbImpactContact* c = &pile.contacts[j];
            double u0 =
                rbDot(rbGetRelativeVelocity(&start.bodies[c->a], &start.bodies[c->b], c->point),
                      c->normal);
            double u1 = rbDot(
                rbGetRelativeVelocity(&pile.bodies[c->a], &pile.bodies[c->b], c->point), c->normal);
            double w = u1 + e * fmin(u0, 0.0);
            double p = rbDot(c->impulse, c->normal);
            assert_true(w >= -1e-12);
            assert_true(p >= 0.0);
            checkBelow(fmin(w, p), 1e-12);
        }
    }
}

// Newton's law with different restitutions may raise the energy. The contacts where it does say so,
// after how they slid, and nobody else does.
static void newtonsGainsAreNamed(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(44)};
    int raised = 0;
    for (int i = 0; i < 300; ++i) {
        Pile pile = makePile(&random, i % 3 == 0 ? 0.0 : rbRandom_Unit(&random), 0.5);
        for (int j = 0; j < PILE_CONTACTS; ++j) {
            pile.contacts[j].law = RB_IMPACT_NEWTON;
            pile.contacts[j].restitution = rbRandom_Unit(&random);
        }
        double before = getEnergy(&pile);
        (void)rbResolveImpacts(pile.bodies, pile.contacts, PILE_CONTACTS, RB_ORDER_SIMULTANEOUS);
        bool isGain = getEnergy(&pile) > before * (1.0 + 1e-9);
        bool isNamed = false;
        for (int j = 0; j < PILE_CONTACTS; ++j) {
            const rbImpactContact* c = &pile.contacts[j];
            bool isHit = rbDot(c->impulse, c->normal) > 0.0;
            uint32_t last = c->history >> 4;
            assert_int_equal(last, isHit && c->isEnergyRaised ? RB_PHASE_GAINS : RB_PHASE_NONE);
            uint32_t first = c->history & 15u;
            assert_true(isHit ? (first == RB_PHASE_SMOOTH) == (c->friction == 0.0)
                              : c->history == 0);
            isNamed = isNamed || c->isEnergyRaised;
        }
        assert_true(isNamed || !isGain);
        raised += isNamed;
    }
    print_message("the energy rose in %d of 300\n", raised);
    assert_true(raised > 0);
}

// Several impacts by Stronge's law, each with its own restitution, without friction: compression is
// what e = 0 leaves, and restitution returns at most the sum of e^2 of the works of compression.
static void strongesLawBoundsWhatSeveralReturn(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(43)};
    int bounded = 0;
    int count = rbTest_Count(300, 10000);
    for (int i = 0; i < count; ++i) {
        Pile plastic = makePile(&random, 0.0, 0.0);
        Pile pile = plastic;
        double before = getEnergy(&pile);
        for (int j = 0; j < PILE_CONTACTS; ++j) {
            pile.contacts[j].law = RB_IMPACT_STRONGE;
            pile.contacts[j].restitution = rbRandom_Unit(&random);
        }
        rbImpactOrder order = RB_ORDER_SIMULTANEOUS;
        (void)rbResolveImpacts(plastic.bodies, plastic.contacts, PILE_CONTACTS, order);
        (void)rbResolveImpacts(pile.bodies, pile.contacts, PILE_CONTACTS, order);
        double returned = getEnergy(&pile) - getEnergy(&plastic);
        double share = 0.0;
        for (int j = 0; j < PILE_CONTACTS; ++j) {
            double e = pile.contacts[j].restitution;
            share += e * e * fmax(0.0, -plastic.contacts[j].normalWork);
        }
        checkBelow(returned, share + 1e-11 * before);
        bounded += returned >= share - 1e-11 * before;
    }
    print_message("restitution was bounded in %d of %d\n", bounded, count);
    assert_true(bounded > 0); // otherwise the test could not detect one
}

// A chain of a hundred spheres between the fastest and the slowest mode of the sweeps.
static void longChainConverges(void** state)
{
    (void)state;
    enum {
        BALLS = 101
    };
    static rbImpactBody balls[BALLS];
    static rbImpactContact contacts[BALLS - 1];
    for (int i = 0; i < BALLS; ++i) {
        balls[i] = (rbImpactBody){.inverseMass = 1.0, .center = rbMakeVec3(i, 0.0, 0.0)};
        if (i > 0) {
            contacts[i - 1] = (rbImpactContact){.a = i - 1,
                                                .b = i,
                                                .point = rbMakeVec3(i - 0.5, 0.0, 0.0),
                                                .normal = rbMakeVec3(1.0, 0.0, 0.0),
                                                .restitution = 1.0};
        }
    }
    balls[0].velocity.x = 1.0;
    rbImpactsReport report = rbResolveImpacts(balls, contacts, BALLS - 1, RB_ORDER_SIMULTANEOUS);
    assert_true(report.isConverged);
    // v0 = v - 1 and v0 + 100 v = 1.
    for (int i = 0; i < BALLS; ++i) {
        double v = 2.0 / BALLS;
        checkNear(balls[i].velocity.x, i == 0 ? v - 1.0 : v, 1e-11);
    }
    print_message("%d sweeps\n", report.resolved);
}

// A smooth ball that flies into a wedge, unfolded: a line crosses copies of the wedge, one for each
// bounce. The directions that leave it are within half its angle of the middle; from the angle
// theta, each bounce takes one angle of the wedge away.
static void ballsInAWedgeBounceByItsAngle(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(44)};
    int stopped = 0;
    for (int i = 0; i < rbTest_Count(200, 20000); ++i) {
        double wedge = i % 20 == 0 ? 1e-3 : rbRandom_Range(&random, 0.01, 1.5);
        double theta = rbRandom_Range(&random, 2.0, 3.1);
        double crossed = (theta - 0.5 * wedge) / wedge;
        if (fabs(crossed - nearbyint(crossed)) < 1e-4) {
            continue; // it leaves along a wall
        }
        rbVec3 velocity = {cos(theta), sin(theta), 0.0};
        double s = sin(0.5 * wedge);
        double c = cos(0.5 * wedge);
        rbImpactBody bodies[2] = {{0}, {.inverseMass = 2.0, .velocity = velocity}};
        rbImpactContact walls[2] = {{.b = 1, .normal = {s, -c, 0.0}, .restitution = 1.0},
                                    {.b = 1, .normal = {s, c, 0.0}, .restitution = 1.0}};
        rbImpactsReport report = rbResolveImpacts(bodies, walls, 2, RB_ORDER_SEQUENTIAL);
        int bounces = (int)ceil(crossed);
        if (bounces > 1400) {
            assert_false(report.isConverged);
            assert_int_equal(report.resolved, 1400); // 1000 and 200 per contact
            stopped += 1;
            continue;
        }
        assert_true(report.isConverged);
        assert_int_equal(report.resolved, bounces);
        double left = fabs(theta - bounces * wedge);
        checkNear(bodies[1].velocity.x, cos(left), 1e-11);
        checkNear(fabs(bodies[1].velocity.y), sin(left), 1e-11);
    }
    assert_true(stopped > 0);
}

// One contact alone: both orders agree with Newton's law without friction.
static void oneContactIsTheSameInBothOrders(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(43)};
    for (int i = 0; i < rbTest_Count(1000, 20000); ++i) {
        Pile pile = makePile(&random, 0.0, rbRandom_Unit(&random));
        Pile other = pile;
        (void)rbResolveImpacts(pile.bodies, pile.contacts, 1, RB_ORDER_SEQUENTIAL);
        (void)rbResolveImpacts(other.bodies, other.contacts, 1, RB_ORDER_SIMULTANEOUS);
        checkNear(rbDistance(pile.contacts[0].impulse, other.contacts[0].impulse), 0.0,
                  1e-12 * (1.0 + rbLength(pile.contacts[0].impulse)));
    }
}

RB_TEST_GROUP(phys_impacts, cmocka_unit_test(cradlePassesItsMotionOnOneByOne),
              cmocka_unit_test(cradleReboundsTogether),
              cmocka_unit_test(pilesEndWithoutApproachAndTheLedgerCloses),
              cmocka_unit_test(simultaneousLawMeetsItsConditions),
              cmocka_unit_test(newtonsGainsAreNamed),
              cmocka_unit_test(strongesLawBoundsWhatSeveralReturn),
              cmocka_unit_test(longChainConverges), cmocka_unit_test(ballsInAWedgeBounceByItsAngle),
              cmocka_unit_test(oneContactIsTheSameInBothOrders));
