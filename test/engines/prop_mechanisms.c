// Random mechanisms: trees and loops of mixed joints with masses up to a million times apart. No
// NaN, tolerances met or the shortfall reported, momentum of free mechanisms conserved to rounding.
#include "base/core/random.h"
#include "lab/math/random3.h"
#include "step_scenes.h"

#include <float.h>

#define BODIES_MAX 10
#define LOOPS_MAX 3

typedef struct Mechanism {
    rbWorld* world;
    rbBodyId bodies[BODIES_MAX];
    int bodyCount;
    int loopCount;
    bool isFree;
    double step; // s
} Mechanism;

static rbVec3 randomPoint(rbRandom* random, double size)
{
    return rbMakeVec3(size * rbRandom_Symmetric(random), size * rbRandom_Symmetric(random),
                      size * rbRandom_Symmetric(random));
}

static void addRandomJoint(rbRandom* random, rbWorld* world, rbBodyId bodyA, rbBodyId bodyB,
                           rbVec3 anchor)
{
    rbJointType type = (rbJointType)rbRandom_Index(random, RB_JOINT_PARTS);
    rbJointDef def = stepJointDef(world, type, bodyA, bodyB, anchor, rbRandom_Direction(random));
    if (type == RB_JOINT_UNIVERSAL || type == RB_JOINT_DOUBLE_ROTATION) {
        // The second axis is B's own: across the first.
        def.axisA = rbRandom_Direction(random);
        rbBodyState b = rbBody_GetState(world, bodyB);
        rbVec3 first = def.axisA;
        if (!RB_IS_NULL(bodyA)) {
            first = rbRotate(rbBody_GetState(world, bodyA).transform.q, def.axisA);
        }
        def.axisB = rbInvRotate(b.transform.q, rbPerpendicular(first));
    }
    if (type == RB_JOINT_DISTANCE || type == RB_JOINT_LINE_DISTANCE ||
        type == RB_JOINT_PLANE_DISTANCE) {
        rbVec3 shift = rbScale(0.5 + rbRandom_Unit(random), rbRandom_Direction(random));
        def.anchorB = rbAdd(def.anchorB, shift);
    }
    rbError error = {0};
    // A random choice may be degenerate (an axis through a point): then there is no joint.
    if (RB_IS_NULL(rbCreateJoint(world, &def, &error))) {
        print_message("%s: %s\n", rbJointType_Name(type), error.message);
    }
}

static Mechanism makeMechanism(rbRandom* random)
{
    static const int orders[] = {2, 2, 2, 4};
    static const double steps[] = {0.002, 0.002, 0.005, 1.0 / 60.0};
    Mechanism made = {.isFree = rbRandom_Index(random, 2) == 0};
    made.step = steps[rbRandom_Index(random, 4)];
    rbWorldDef def =
        stepWorldDef(made.isFree ? 0.0 : 9.81, made.step, orders[rbRandom_Index(random, 4)]);
    made.world = makeStepWorld(&def);
    made.bodyCount = 2 + rbRandom_Index(random, BODIES_MAX - 1);
    double spread = 3.0 * rbRandom_Unit(random);
    for (int i = 0; i < made.bodyCount; ++i) {
        double mass = pow(10.0, spread * rbRandom_Symmetric(random));
        rbVec3 box =
            rbMakeVec3(rbRandom_Range(random, 0.05, 0.4), rbRandom_Range(random, 0.05, 0.4),
                       rbRandom_Range(random, 0.05, 0.4));
        rbVec3 moments = rbMakeVec3(mass / 3.0 * (box.y * box.y + box.z * box.z),
                                    mass / 3.0 * (box.x * box.x + box.z * box.z),
                                    mass / 3.0 * (box.x * box.x + box.y * box.y));
        made.bodies[i] =
            addStepBody(made.world, mass, moments, randomPoint(random, 1.0), rbRandom_Quat(random));
        rbBodyState s = rbBody_GetState(made.world, made.bodies[i]);
        rbError error = {0};
        (void)rbBody_SetState(made.world, made.bodies[i], s.transform, randomPoint(random, 2.0),
                              randomPoint(random, 5.0), &error);
    }
    for (int i = made.isFree ? 1 : 0; i < made.bodyCount; ++i) {
        rbBodyId other = i == 0 ? RB_NO_BODY : made.bodies[rbRandom_Index(random, i)];
        addRandomJoint(random, made.world, other, made.bodies[i], randomPoint(random, 1.0));
    }
    made.loopCount = rbRandom_Index(random, 2) * rbRandom_Index(random, LOOPS_MAX + 1);
    for (int k = 0; k < made.loopCount && made.bodyCount > 2; ++k) {
        int i = rbRandom_Index(random, made.bodyCount);
        int j = (i + 1 + rbRandom_Index(random, made.bodyCount - 1)) % made.bodyCount;
        addRandomJoint(random, made.world, made.bodies[i], made.bodies[j],
                       randomPoint(random, 1.0));
    }
    return made;
}

// Size of all momenta, the scale for their sum.
static double momentumScale(const Mechanism* made, double* angular)
{
    double sum = 0.0;
    *angular = 0.0;
    for (int i = 0; i < made->bodyCount; ++i) {
        rbBodyState s = rbBody_GetState(made->world, made->bodies[i]);
        rbMassProperties mass = rbBody_GetMass(made->world, made->bodies[i]);
        double p = mass.mass * rbLength(s.linearVelocity);
        sum += p;
        *angular +=
            p * (1.0 + rbLength(s.center)) +
            (mass.inertia.xx + mass.inertia.yy + mass.inertia.zz) * rbLength(s.angularVelocity);
    }
    return sum;
}

typedef struct Tally {
    int unmet;
    int stopped;
    double momentum;
    double angular;
    double error;
} Tally;

static bool judge(const Mechanism* made, Tally* tally)
{
    rbWorld* world = made->world;
    rbError error = {0};
    rbStatus start = rbWorld_Prepare(world, &error);
    if (start != RB_STATUS_OK) {
        print_error("refused: %s\n", error.message);
        return false;
    }
    rbLedger before = rbWorld_GetLedger(world);
    double angularScale;
    double scale = momentumScale(made, &angularScale);
    rbStepReport report = {.status = RB_STATUS_OK};
    bool isShort = false;
    for (int k = 1; k <= 20 && report.status != RB_STATUS_LIMIT; ++k) {
        report = rbWorld_AdvanceTo(world, rbGetStepTime(k, made->step));
        isShort = isShort || report.status != RB_STATUS_OK;
        if (report.status == RB_STATUS_INVALID || report.status == RB_STATUS_UNSUPPORTED) {
            print_error("refused: %s\n", rbWorld_GetError(world).message);
            return false;
        }
        double angular;
        scale = fmax(scale, momentumScale(made, &angular));
        angularScale = fmax(angularScale, angular);
    }
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    double worst = fmax(s.positionErrorMax, s.angleErrorMax);
    bool isMet = worst <= 1e-6;
    tally->unmet += isMet ? 0 : 1;
    tally->stopped += report.status == RB_STATUS_LIMIT ? 1 : 0;
    if (!isfinite(report.ledger.energy) || (!isMet && !isShort)) {
        print_error("energy %g, error %g, status %d\n", report.ledger.energy, worst,
                    (int)report.status);
        return false;
    }
    if (made->isFree) {
        double linear = rbDistance(report.ledger.momentum, before.momentum) / scale;
        double angular =
            rbDistance(report.ledger.angularMomentum, before.angularMomentum) / angularScale;
        tally->momentum = fmax(tally->momentum, linear);
        tally->angular = fmax(tally->angular, angular);
        if (linear > 1e-12 || angular > 1e-12) {
            print_error("momentum %g, angular %g of their size\n", linear, angular);
            return false;
        }
    }
    tally->error = isMet ? fmax(tally->error, worst) : tally->error;
    return true;
}

static void randomMechanismsHoldOrSaySo(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6020)};
    Tally tally = {0};
    int failures = 0;
    int count = rbTest_Count(300, 100000);
    for (int i = 0; i < count; ++i) {
        uint64_t seed = rbRandom_Bits(&random);
        rbRandom own = {seed};
        Mechanism made = makeMechanism(&own);
        if (!judge(&made, &tally)) {
            print_error("mechanism %d, seed %llu: %d bodies, %d loops, %s\n", i,
                        (unsigned long long)seed, made.bodyCount, made.loopCount,
                        made.isFree ? "free" : "hung");
            failures += 1;
        }
        rbDestroyWorld(made.world);
    }
    print_message("%d mechanisms, %d short of the tolerance (said so), %d stopped, momentum %.2g, "
                  "angular %.2g, largest error within it %.2g\n",
                  count, tally.unmet, tally.stopped, tally.momentum, tally.angular, tally.error);
    assert_int_equal(failures, 0);
}

RB_TEST_GROUP(prop_mechanisms, cmocka_unit_test(randomMechanismsHoldOrSaySo));
