// The claims in the scene texts of the theme "mechanisms", compared with closed forms and published
// values. Settings are those of the scenes: users who run them get the promised digits.
#include "scene_run.h"

#include <math.h>

#define PI 3.14159265358979323846
#define GRAVITY 9.81

static Run start(const char* name)
{
    return startRun("mechanisms", name);
}

// The same where joints are known to be open.
static void goOpen(const Run* run, double time)
{
    rbStatus status = rbWorld_AdvanceTo(run->world, time).status;
    assert_true(status == RB_STATUS_OK || status == RB_STATUS_NUMERICAL);
    checkNear(rbWorld_GetTime(run->world), time, 0.0);
}

// Ends a run: the joint errors met the settings, and the energy is accounted for.
static void finish(Run* run, double jointError, double energyDrift)
{
    rbStepStatistics statistics = rbWorld_GetStepStatistics(run->world);
    checkBelow(statistics.positionErrorMax, jointError);
    checkBelow(statistics.angleErrorMax, jointError);
    assert_int_equal(statistics.unmetSteps, 0);
    checkNear(rbWorld_GetLedger(run->world).energyDrift, 0.0, energyDrift);
    endRun(run);
}

// Simulated seconds of an expensive scene: all of them except under sanitizers.
static double getSeconds(double all)
{
    return rbTest_Count(10, 10) < 10 ? 0.1 * all : all;
}

// Complete elliptic integral of the first kind, by the arithmetic-geometric mean.
static double ellipticK(double k)
{
    double a = 1.0;
    double b = sqrt(1.0 - k * k);
    for (int i = 0; i < 8; ++i) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return PI / (2.0 * a);
}

static void pendulumIsThePublishedOne(void** state)
{
    (void)state;
    Run run = start("pendulum");
    go(&run, 1.0);
    checkNear(get(&run, "bob.center.x"), 0.986291751131875, 1e-10);
    checkNear(get(&run, "bob.center.z"), -0.165010853125541, 1e-10);
    go(&run, 5.0);
    checkNear(get(&run, "bob.center.x"), -0.942305435043757, 1e-10);
    checkNear(get(&run, "bob.center.z"), -0.334754338414001, 1e-10);
    finish(&run, 1e-12, 1e-10);
}

static void doublePendulumsAgreeAndPart(void** state)
{
    (void)state;
    Run run = start("double-pendulum");
    go(&run, 1.0);
    double upper = -0.62508769980639;
    double lower = -1.03458508568;
    checkNear(get(&run, "upper.center.x"), sin(upper), 1e-9);
    checkNear(get(&run, "upper.center.z"), -cos(upper), 1e-9);
    checkNear(get(&run, "lower.center.x"), sin(upper) + sin(lower), 1e-9);
    checkNear(get(&run, "lower.center.z"), -cos(upper) - cos(lower), 1e-9);
    go(&run, 2.0);
    checkNear(get(&run, "lowerTwin.center.x"), get(&run, "lower.center.x"), 1e-4);
    go(&run, 10.0);
    checkNear(get(&run, "lowerTwin.center.x"), get(&run, "lower.center.x"), 1e-3);
    double apart = 0.0;
    for (int k = 0; k <= 40; ++k) {
        double t = 20.0 + 0.25 * k;
        go(&run, t);
        apart = fmax(apart, fabs(get(&run, "lowerTwin.center.x") - get(&run, "lower.center.x")));
    }
    assert_true(apart > 1.0);
    finish(&run, 1e-12, 1e-7);
}

static void whippingChainStaysTogether(void** state)
{
    (void)state;
    Run run = start("chain-released");
    double time = getSeconds(2.0);
    go(&run, time);
    checkNear(get(&run, "end.z"), -0.5 * GRAVITY * time * time, 1e-6); // as if it were free
    go(&run, getSeconds(10.0));
    finish(&run, 1e-6, 0.05 * 122625.0); // M g L / 2, order 2
}

static void hangingChainHangsStill(void** state)
{
    (void)state;
    Run run = start("chain-hanging");
    double before = get(&run, "lowest.z");
    go(&run, 10.0);
    checkNear(get(&run, "lowest.z"), before, 1e-10);
    checkNear(get(&run, "lowest.x"), 0.0, 1e-10);
    checkRelative(fabs(get(&run, "hook.force.z")), 100.0 * 5.0 * GRAVITY, 1e-9);
    checkBelow(get(&run, "world.kinetic"), 1e-12);
    finish(&run, 1e-10, 1e-7);
}

// After half a period of the mathematical pendulum the ball is on the other side.
static void heavyBallOnLightChainKeepsTime(void** state)
{
    (void)state;
    Run run = start("heavy-on-light");
    double half = 2.0 * ellipticK(sin(PI / 4.0)) * sqrt(10.0 / GRAVITY);
    double time = getSeconds(half);
    go(&run, time);
    if (time == half) {
        checkNear(get(&run, "ball.center.x"), -10.0, 1e-4); // the links weigh 1e-5 of the ball
        checkNear(get(&run, "ball.center.z"), 0.0, 1e-3);
    }
    finish(&run, 1e-10, 1.0); // of 2e8 J
}

// B-29
static void towedChainLeansByTheRatioOfDragAndWeight(void** state)
{
    (void)state;
    Run run = start("chain-dragged");
    go(&run, 20.0);
    double slope = 2.0 * 1.5 / (0.5 * GRAVITY);
    double length = 19.0 * 0.25; // between the centers of the first and the last link
    checkNear(get(&run, "highest.x") - get(&run, "lowest.x"),
              length * slope / sqrt(1.0 + slope * slope), 1e-5);
    checkNear(get(&run, "highest.z") - get(&run, "lowest.z"), length / sqrt(1.0 + slope * slope),
              1e-5);
    finish(&run, 1e-6, 1e-3);
}

static void treeAndNetStayTogether(void** state)
{
    (void)state;
    Run tree = start("tree");
    go(&tree, getSeconds(5.0));
    finish(&tree, 1e-6, 1.0);
    Run net = start("net");
    go(&net, getSeconds(2.0));
    finish(&net, 1e-6, 40.0);
}

// Hoecken's linkage: along its stroke, the pen deviates from the line by less than 1 mm.
static void fourBarDrawsAStraightLine(void** state)
{
    (void)state;
    Run run = start("four-bar");
    int count = 0;
    double worst = 0.0;
    double left = 1.0;
    double right = -1.0;
    for (int k = 0; k < 300; ++k) {
        double t = 0.02 * k;
        go(&run, t);
        double x = get(&run, "pen.x");
        double z = get(&run, "pen.z");
        if (z < 0.4015 && x > 0.0 && x < 0.4) {
            worst = fmax(worst, fabs(z - 0.4));
            ++count;
        }
        left = fmin(left, x);
        right = fmax(right, x);
    }
    assert_true(count > 120); // half of the time
    checkBelow(worst, 0.00098);
    assert_true(worst > 0.0008); // the line of the real linkage, not a better one
    checkNear(left, -0.0346, 5e-4);
    checkNear(right, 0.4346, 5e-4);
    finish(&run, 1e-10, 1e-8);
}

// Angle of the crank from the vertical: A a'' = B sin(a), by Runge-Kutta with tiny steps.
static double turnCranks(double count, double time)
{
    double ratio = ((count + 1.0) / 2.0 + count) * GRAVITY / ((count + 1.0) / 3.0 + count);
    double angle = 0.0;
    double rate = 1.0;
    int steps = 40000;
    double h = time / steps;
    for (int i = 0; i < steps; ++i) {
        double k1 = ratio * sin(angle);
        double k2 = ratio * sin(angle + 0.5 * h * rate);
        double k3 = ratio * sin(angle + 0.5 * h * (rate + 0.5 * h * k1));
        double k4 = ratio * sin(angle + h * (rate + 0.5 * h * k2));
        angle += h * (rate + h * (k1 + k2 + k3) / 6.0);
        rate += h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0;
    }
    return angle;
}

static void fourBarsInARowEndInTheRightPlace(void** state)
{
    (void)state;
    checkNear(sin(turnCranks(2.0, 10.0)), 0.328458111540815, 1e-9); // published
    static const struct {
        const char* name;
        double count;
    } rows[] = {{"n-four-bar-2", 2.0}, {"n-four-bar-40", 40.0}};
    for (int i = 0; i < 2; ++i) {
        Run run = start(rows[i].name);
        double time = i == 0 ? 10.0 : getSeconds(3.0);
        go(&run, time);
        double angle = turnCranks(rows[i].count, time);
        checkNear(get(&run, "pin.x"), sin(angle), 1e-9);
        checkNear(get(&run, "pin.z"), cos(angle), 1e-9);
        finish(&run, 1e-9, 1e-8);
    }
}

static void bricardStaysClosedAndMoves(void** state)
{
    (void)state;
    Run run = start("bricard");
    checkNear(rbWorld_GetLedger(run.world).energy, -29.43, 1e-12);
    double lowest = 0.0;
    for (int k = 0; k <= 100; ++k) {
        double t = 0.1 * k;
        go(&run, t);
        lowest = fmin(lowest, get(&run, "corner.y"));
    }
    assert_true(lowest < -1.05);
    finish(&run, 1e-12, 1e-8);
}

static void squeezerIsThePublishedOne(void** state)
{
    (void)state;
    Run run = start("andrews-squeezer");
    go(&run, 0.03);
    checkNear(get(&run, "beta"), 15.81077119629904 + 0.0617138900142764, 1e-6);
    checkNear(get(&run, "gamma"), 0.04082224013073101 - 0.455279819163070, 1e-6);
    checkNear(get(&run, "delta"), 0.5244099658805304 - 0.487364979543843, 1e-6);
    checkNear(get(&run, "epsilon"), 1.048080741042263 - 1.23054744454982, 1e-6);
    finish(&run, 1e-12, 1e-8);
}

// A flywheel smooths a crank, and both reach the requested mean speed.
static void flywheelEvensOutTheCrank(void** state)
{
    (void)state;
    Run run = start("slider-crank");
    go(&run, 4.0);
    double low[2] = {1e9, 1e9};
    double high[2] = {0.0, 0.0};
    static const char* const columns[] = {"withFlywheel", "without"};
    for (int k = 0; k < 250; ++k) {
        double t = 4.0 + 0.004 * k;
        go(&run, t);
        for (int i = 0; i < 2; ++i) {
            low[i] = fmin(low[i], get(&run, columns[i]));
            high[i] = fmax(high[i], get(&run, columns[i]));
        }
    }
    checkNear(0.5 * (low[0] + high[0]), 20.0, 1.0);
    checkBelow(high[0] - low[0], 0.08 * 20.0);
    assert_true(high[1] - low[1] > 5.0 * (high[0] - low[0]));
    assert_true(low[1] > 0.0);
    finish(&run, 1e-9, 1e-3);
}

// Height of the balls below the pivot: g (1 + M / m) / w^2, with the arms of 0.3 m.
static void governorFindsItsHeight(void** state)
{
    (void)state;
    Run run = start("governor");
    go(&run, 2.0);
    checkNear(get(&run, "sleeve"), 0.0, 1e-9);
    go(&run, 10.0);
    checkNear(get(&run, "drive.speed"), 12.0, 1e-9);
    double height = GRAVITY * 2.0 / (12.0 * 12.0);
    checkNear(0.6 - get(&run, "left.center.z"), height, 2e-6);
    finish(&run, 1e-9, 1e-4);
}

static void gyroscopePrecesses(void** state)
{
    (void)state;
    Run run = start("gyroscope");
    double nod = 0.0;
    for (int k = 0; k <= 500; ++k) {
        double t = 0.02 * k;
        go(&run, t);
        checkNear(get(&run, "turn"), 0.2 * PI * t, 1e-8);
        checkNear(get(&run, "tilt"), 0.0, 1e-8);
        nod = fmax(nod, fabs(get(&run, "nod")));
    }
    // a dip of 2 m g a J / L^2, J about the tilting axis: small; the mean rate is nearly the same
    assert_true(nod > 1e-3 && nod < 0.2);
    checkNear(get(&run, "turnReleased"), 2.0 * PI, 0.2);
    finish(&run, 1e-9, 1e-6);
}

// B-26, B-27, B-28
static void robotArmHoldsItsSetPoints(void** state)
{
    (void)state;
    Run run = start("robot-arm");
    static const struct {
        double time;
        double base;
        double shoulder;
        double elbow;
    } holds[] = {{6.0, PI / 2.0, 1.4, 0.2}, {10.0, 0.0, 0.0, 0.0}};
    for (int i = 0; i < 2; ++i) {
        go(&run, holds[i].time);
        checkNear(get(&run, "base.angle"), holds[i].base, 5e-3);
        checkNear(get(&run, "shoulder.angle"), holds[i].shoulder, 5e-3);
        checkNear(get(&run, "elbow.angle"), holds[i].elbow, 5e-3);
    }
    finish(&run, 1e-9, 1e-3);
}

// Over a third of a turn the toe stays level; in the rest it is lifted by more than 0.2 m.
static void jansensFootWalks(void** state)
{
    (void)state;
    Run run = start("jansen-leg");
    double low = 1.0;
    double high = -1.0;
    int flat = 0;
    int count = 0;
    go(&run, 2.0);
    double x = get(&run, "toe.x");
    for (int k = 0; k < 200; ++k, ++count) {
        double t = 2.0 + 0.01 * k;
        go(&run, t);
        double z = get(&run, "toe.z");
        low = fmin(low, z);
        high = fmax(high, z);
        flat += z < -0.9183 + 0.004 ? 1 : 0;
    }
    go(&run, 4.0); // one turn of 2 s
    checkNear(get(&run, "toe.x"), x, 1e-9);
    checkNear(low, -0.9183, 2e-4);
    assert_true(high - low > 0.2);
    assert_true(flat > count / 3);
    finish(&run, 1e-9, 1e-6);
}

// Redundant conditions change nothing: 60 of them or the 51 that suffice.
static void substitutedJointsMoveAlike(void** state)
{
    (void)state;
    Run full = start("three-loops");
    Run lean = start("three-loops-substituted");
    static const char* const columns[] = {"long3.center.x", "long3.center.z", "long1.center.x"};
    for (int k = 0; k <= 12; ++k) {
        double t = 0.25 * k;
        go(&full, t);
        go(&lean, t);
        for (int i = 0; i < 3; ++i) {
            checkNear(get(&lean, columns[i]), get(&full, columns[i]), 1e-7);
        }
        checkNear(get(&full, "long3.center.y"), 0.0, 1e-10);
    }
    rbStepStatistics fullStatistics = rbWorld_GetStepStatistics(full.world);
    assert_int_equal(fullStatistics.rowCount, 60);
    assert_int_equal(fullStatistics.redundantRows, 9);
    rbStepStatistics leanStatistics = rbWorld_GetStepStatistics(lean.world);
    assert_int_equal(leanStatistics.rowCount, 51);
    assert_int_equal(leanStatistics.redundantRows, 0);
    finish(&full, 1e-9, 1e-5);
    finish(&lean, 1e-9, 1e-5);
}

// x'' + c x' + k x = 0, k = 100, m = 1, from x = 0.1019 at rest; x is measured from equilibrium.
static double fallBack(double c, double from, double t)
{
    double half = 0.5 * c;
    double square = 100.0 - half * half;
    if (square > 1e-9) {
        double w = sqrt(square);
        return from * exp(-half * t) * (cos(w * t) + half / w * sin(w * t));
    }
    if (square > -1e-9) {
        return from * exp(-half * t) * (1.0 + half * t);
    }
    double w = sqrt(-square);
    double slow = -half + w;
    double fast = -half - w;
    return from * (fast * exp(slow * t) - slow * exp(fast * t)) / (fast - slow);
}

// B-31
static void dampedMassesFollowTheTextbook(void** state)
{
    (void)state;
    Run run = start("spring-damping");
    double rest = 0.8 + GRAVITY / 100.0;
    for (int k = 0; k <= 29; ++k) {
        double t = 0.1 + 0.1 * k;
        go(&run, t);
        checkNear(rest - get(&run, "ringing.length"), fallBack(2.0, rest - 1.0, t), 1e-8);
        checkNear(rest - get(&run, "returning.length"), fallBack(20.0, rest - 1.0, t), 1e-8);
        checkNear(rest - get(&run, "creeping.length"), fallBack(80.0, rest - 1.0, t), 1e-8);
    }
    finish(&run, 1e-9, 1e-7);
}

static void twoCardansRunEvenly(void** state)
{
    (void)state;
    Run run = start("cardan-shaft");
    double low = 1e9;
    double high = 0.0;
    for (int k = 0; k <= 300; ++k) {
        double t = 0.01 * k;
        go(&run, t);
        low = fmin(low, get(&run, "oneJoint"));
        high = fmax(high, get(&run, "oneJoint"));
        checkNear(get(&run, "twoJoints"), 10.0, 1e-8);
        // tan(out) = tan(in) cos(b), so the speed is w cos(b) / (1 - sin^2(b) sin^2(in))
        double in = sin(10.0 * t);
        double truth = 10.0 * sqrt(0.75) / (1.0 - 0.25 * in * in);
        checkNear(get(&run, "oneJoint"), truth, 1e-8);
    }
    checkNear(low, 10.0 * sqrt(0.75), 1e-2);
    checkNear(high, 10.0 / sqrt(0.75), 1e-2);
    finish(&run, 1e-9, 1e-6);
}

// All of the motion moves from the bobbing into the twisting and back.
static void wilberforceHandsTheEnergyOver(void** state)
{
    (void)state;
    Run run = start("wilberforce");
    static const double windows[3] = {0.0, 4.5, 9.5};
    double travel[3] = {0};
    double angle[3] = {0};
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 100; ++k) {
            double t = windows[i] + 0.01 * k;
            go(&run, t);
            travel[i] = fmax(travel[i], fabs(get(&run, "rail.travel")));
            angle[i] = fmax(angle[i], fabs(get(&run, "rail.angle")) * 0.1 / sqrt(2.0));
        }
    }
    checkNear(travel[0], 0.02, 1e-3);
    checkBelow(travel[1], 0.005);
    checkNear(angle[1], 0.02, 2e-3);
    checkNear(travel[2], 0.02, 2e-3);
    checkBelow(angle[2], 0.005);
    finish(&run, 1e-9, 1e-7);
}

// the ring closes without a jolt, and its momentum stays zero.
// B-41
static void brokenRingClosesGently(void** state)
{
    (void)state;
    Run run = start("broken-ring");
    assert_true(get(&run, "joint1.positionError") > 0.1);
    double fastest = 0.0;
    for (int k = 0; k <= 200; ++k) {
        double t = 0.01 * k;
        goOpen(&run, t);
        fastest = fmax(fastest, get(&run, "world.kinetic"));
    }
    checkBelow(get(&run, "joint1.positionError"), 1e-6);
    checkBelow(get(&run, "joint2.positionError"), 1e-6);
    checkBelow(get(&run, "joint3.positionError"), 1e-6);
    checkBelow(fastest, 1.0);
    checkBelow(rbLength(rbWorld_GetLedger(run.world).momentum), 1e-12);
    endRun(&run);
}

// B-82
static void stopsOfTheDoorCarryWhatLeansOnThem(void** state)
{
    (void)state;
    Run run = start("door-with-stop");
    go(&run, 8.0);
    checkNear(get(&run, "hinges.angle"), 0.0, 1e-8);
    checkNear(get(&run, "hinges.stop"), 6.0 * 0.5, 1e-6);
    checkNear(get(&run, "rail.travel"), -0.6, 1e-8);
    checkNear(get(&run, "rail.stop"), 8.4 * 9.81 * 0.8660254037844386, 1e-6);
    checkBelow(rbWorld_GetContactStatistics(run.world).limitExcess, 2e-9);
    finish(&run, 1e-12, 0.02);
}

RB_TEST_GROUP(
    phys_mechanism_scenes, cmocka_unit_test(pendulumIsThePublishedOne),
    cmocka_unit_test(doublePendulumsAgreeAndPart), cmocka_unit_test(whippingChainStaysTogether),
    cmocka_unit_test(hangingChainHangsStill), cmocka_unit_test(heavyBallOnLightChainKeepsTime),
    cmocka_unit_test(towedChainLeansByTheRatioOfDragAndWeight),
    cmocka_unit_test(treeAndNetStayTogether), cmocka_unit_test(fourBarDrawsAStraightLine),
    cmocka_unit_test(fourBarsInARowEndInTheRightPlace),
    cmocka_unit_test(bricardStaysClosedAndMoves), cmocka_unit_test(squeezerIsThePublishedOne),
    cmocka_unit_test(flywheelEvensOutTheCrank), cmocka_unit_test(governorFindsItsHeight),
    cmocka_unit_test(gyroscopePrecesses), cmocka_unit_test(robotArmHoldsItsSetPoints),
    cmocka_unit_test(jansensFootWalks), cmocka_unit_test(substitutedJointsMoveAlike),
    cmocka_unit_test(dampedMassesFollowTheTextbook), cmocka_unit_test(twoCardansRunEvenly),
    cmocka_unit_test(wilberforceHandsTheEnergyOver), cmocka_unit_test(brokenRingClosesGently),
    cmocka_unit_test(stopsOfTheDoorCarryWhatLeansOnThem));
