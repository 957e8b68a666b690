// Bounds of the time of contact compared with the measured gap of thousands of moving pairs, and
// how often a pair must be measured until it touches.
#include "test/dynamics/sweep_pair.h"

// Kinds of movers, in addition to the shape types.
typedef enum Kind {
    KIND_SPHERE,
    KIND_ECCENTRIC, // sphere off its center of mass
    KIND_BOX,
    KIND_CAPSULE,
    KIND_CYLINDER,
    KIND_ELLIPSOID,
    KIND_HULL,
    KIND_ROUNDED, // a rounded box that grows or shrinks
    KIND_CONVEX_COUNT,
    KIND_MESH = KIND_CONVEX_COUNT,
    KIND_COMPOUND,
    KIND_PLANE,
    KIND_COUNT
} Kind;

static const struct {
    const char* name;
    rbShapeType type;
} kinds[KIND_COUNT] = {
    [KIND_SPHERE] = {"sphere", RB_SHAPE_SPHERE},
    [KIND_ECCENTRIC] = {"eccentric sphere", RB_SHAPE_SPHERE},
    [KIND_BOX] = {"box", RB_SHAPE_BOX},
    [KIND_CAPSULE] = {"capsule", RB_SHAPE_CAPSULE},
    [KIND_CYLINDER] = {"cylinder", RB_SHAPE_CYLINDER},
    [KIND_ELLIPSOID] = {"ellipsoid", RB_SHAPE_ELLIPSOID},
    [KIND_HULL] = {"hull", RB_SHAPE_HULL},
    [KIND_ROUNDED] = {"growing box", RB_SHAPE_BOX},
    [KIND_MESH] = {"mesh", RB_SHAPE_MESH},
    [KIND_COMPOUND] = {"compound", RB_SHAPE_COMPOUND},
    [KIND_PLANE] = {"plane", RB_SHAPE_PLANE},
};

// Two balls, a capsule and a box, like a toy with a stem.
static rbGeometry* makeToy(rbRandom* random)
{
    rbError error = {0};
    static const rbShapeType types[4] = {RB_SHAPE_SPHERE, RB_SHAPE_SPHERE, RB_SHAPE_CAPSULE,
                                         RB_SHAPE_BOX};
    rbCompoundChild children[4] = {{0}};
    int count = 1 + rbRandom_Index(random, 4);
    for (int i = 0; i < count; ++i) {
        children[i] = (rbCompoundChild){makeSample(random, types[i]),
                                        randomTransform(random, i == 0 ? 0.05 : 0.6), 0.0};
    }
    rbGeometry* toy = rbCreateCompound(children, count, &error);
    requireOk(toy, &error);
    for (int i = 0; i < count; ++i) {
        rbDestroyGeometry((rbGeometry*)children[i].geometry);
    }
    return toy;
}

// Moments of a random body: some symmetric, some spherical.
static rbVec3 randomMoments(rbRandom* random)
{
    double x2 = rbRandom_Range(random, 0.01, 1.0);
    double y2 = rbRandom_Unit(random) < 0.3 ? x2 : rbRandom_Range(random, 0.01, 1.0);
    double z2 = rbRandom_Unit(random) < 0.1 ? x2 : rbRandom_Range(random, 0.01, 1.0);
    return rbMakeVec3(y2 + z2, x2 + z2, x2 + y2);
}

static Mover makeMover(rbRandom* random, Kind kind)
{
    Mover mover = {.local = RB_TRANSFORM_IDENTITY, .isFree = rbRandom_Unit(random) < 0.7};
    mover.geometry = kind == KIND_COMPOUND ? makeToy(random) : makeSample(random, kinds[kind].type);
    if (kind != KIND_SPHERE && kind != KIND_PLANE && rbRandom_Unit(random) < 0.7) {
        mover.local = randomTransform(random, kind == KIND_ECCENTRIC ? 0.3 : 0.1);
    }
    if (kind == KIND_ROUNDED) {
        mover.rounding = rbRandom_Range(random, 0.1, 0.3);
        mover.growth = 0.3 * rbRandom_Symmetric(random);
    }
    double spin = rbExp(rbRandom_Range(random, log(0.1), log(1000.0)));
    mover.start.orientation = rbRandom_Quat(random);
    mover.start.velocity = randomVec3(random, 3.0);
    mover.start.spin =
        rbScale(rbRandom_Unit(random) < 0.1 ? 0.0 : spin, rbRandom_Direction(random));
    mover.body = (rbMotionBody){.mass = 1.0,
                                .moments = randomMoments(random),
                                .settings = {RB_MOTION_AUTO, 1e-3, 8, 1e-12}};
    if (rbRandom_Unit(random) < 0.6) {
        mover.body.acceleration = rbMakeVec3(0.0, 0.0, -9.81);
    }
    if (kind == KIND_PLANE) {
        mover.isFree = false;
        mover.start.spin = RB_VEC3_ZERO;
        mover.start.velocity =
            rbScale(rbRandom_Unit(random) < 0.5 ? 0.0 : 1.0, mover.start.velocity);
    }
    return mover;
}

// Places B at a random distance from A, from touching to some lengths, flying roughly toward it.
static bool placePair(rbRandom* random, Truth* truth, Mover* a, Mover* b)
{
    startMover(a);
    startMover(b);
    rbVec3 direction = rbRandom_Direction(random);
    if (rbGeometry_GetType(a->geometry) == RB_SHAPE_PLANE) {
        direction = rbRotate(a->start.orientation, rbGeometry_GetData(a->geometry).plane.normal);
    }
    double size = a->size + b->size;
    b->start.position = rbScale(3.0 * size, direction);
    startMover(b);
    // nearer, until the gap is as small as requested
    double wanted = size * rbExp(rbRandom_Range(random, log(1e-5), 0.0));
    for (int i = 0; i < 20; ++i) {
        rbSeparation s = measureAt(truth, a, b, 0.0);
        if (s.lower <= 1.5 * wanted) {
            break;
        }
        b->start.position = rbAddScaled(b->start.position, -(s.lower - wanted), direction);
        startMover(b);
    }
    double approach = rbRandom_Range(random, -1.0, 10.0);
    b->start.velocity = rbAddScaled(b->start.velocity, -approach, direction);
    startMover(b);
    return measureAt(truth, a, b, 0.0).lower > 1e-7 * size;
}

static Kind randomKind(rbRandom* random, bool isConvex, bool isPlaneFine)
{
    if (isPlaneFine && rbRandom_Unit(random) < 0.2) {
        return KIND_PLANE;
    }
    int count = isConvex || rbRandom_Unit(random) < 0.6 ? (int)KIND_CONVEX_COUNT : (int)KIND_PLANE;
    return (Kind)rbRandom_Index(random, count);
}

static void freePair(Mover* a, Mover* b)
{
    rbDestroyGeometry(a->geometry);
    rbDestroyGeometry(b->geometry);
}

// The gap of a pair at time t must be above the level, except for the rounding of the poses. Where
// roundings shrink below zero the pair is not measured.
static void checkGap(Truth* truth, const Mover* a, const Mover* b, double t, double level)
{
    rbSeparation s = measureAt(truth, a, b, t);
    double turned = t * (rbLength(a->start.spin) + rbLength(b->start.spin));
    double path = t * (rbLength(a->start.velocity) + rbLength(b->start.velocity) + 10.0 * t);
    double rounding = 1e-14 * (a->size + b->size + path) * (1.0 + turned);
    if (!(s.upper >= level - rounding)) {
        print_error("at %.17g s: gap %.17g, level %g\n", t, s.upper, level);
    }
    assert_true(s.upper >= level - rounding);
}

#define SAMPLES 24

static void checkInterval(Truth* truth, const Mover* a, const Mover* b, double end, double level)
{
    for (int i = 1; i < SAMPLES; ++i) {
        checkGap(truth, a, b, end * i / SAMPLES, level);
    }
    for (int i = 0; i < 12; ++i) {
        checkGap(truth, a, b, end * (1.0 - ldexp(1.0, -5 - 4 * i)), level);
    }
    checkGap(truth, a, b, end, level);
}

// B-65, L-73, L-74: U-12.
static void noBoundIsLaterThanTheTruth(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5101)};
    Truth truth = {malloc(rbGetSeparationScratchSize()), 0};
    int count = rbTest_Count(6000, 200000);
    int pairs = 0;
    int directions = 0;
    for (int i = 0; i < count; ++i) {
        Mover a = makeMover(&random, randomKind(&random, false, true));
        Mover b = makeMover(&random, randomKind(&random, false, false));
        if (placePair(&random, &truth, &a, &b)) {
            rbSeparation s = measureAt(&truth, &a, &b, 0.0);
            rbSweepBody bodyA = sweepBodyAt(&a, 0.0);
            rbSweepBody bodyB = sweepBodyAt(&b, 0.0);
            rbSweepGap gap = {s.lower, s.normal};
            double level = rbRandom_Unit(&random) < 0.5 ? 0.0 : 0.3 * s.lower;
            double paths = rbBoundByPaths(&bodyA, &bodyB, s.lower, level);
            double second = rbBoundBySupports(&bodyA, &bodyB, s.normal, level);
            double all = rbBoundMeeting(&bodyA, &bodyB, &gap, RB_VEC3_ZERO, level);
            assert_true(paths > 0.0 && second >= 0.0);
            assert_true(all >= paths * (1.0 - 1e-12));
            // any guess of the rotation of the normal is safe
            rbVec3 turning = randomVec3(&random, rbLength(a.start.spin) + rbLength(b.start.spin));
            double turned = rbBoundMeeting(&bodyA, &bodyB, &gap, turning, level);
            double end = fmin(fmax(fmax(all, turned), second), 3.0);
            if (a.growth < 0.0 || b.growth < 0.0) {
                end = fmin(end, 0.3); // roundings from 0.1 shrink by 0.3 per second
            }
            checkInterval(&truth, &a, &b, end, level);
            ++pairs;
            directions += second > paths;
        }
        freePair(&a, &b);
    }
    print_message("%d pairs, %lld measurements; the direction helps %d\n", pairs, truth.count,
                  directions);
    assert_true(pairs > 8 * count / 10 && directions > pairs / 4);
    free(truth.scratch);
}

typedef double BoundFn(const rbSweepBody* a, const rbSweepBody* b, const rbSweepGap* gap,
                       rbVec3 turning, double level);

static double boundPaths(const rbSweepBody* a, const rbSweepBody* b, const rbSweepGap* gap,
                         rbVec3 turning, double level)
{
    (void)turning;
    return rbBoundByPaths(a, b, gap->lower, level);
}

static double boundSupports(const rbSweepBody* a, const rbSweepBody* b, const rbSweepGap* gap,
                            rbVec3 turning, double level)
{
    return fmax(rbBoundBySupports(a, b, gap->normal, level), boundPaths(a, b, gap, turning, level));
}

static double boundAlone(const rbSweepBody* a, const rbSweepBody* b, const rbSweepGap* gap,
                         rbVec3 turning, double level)
{
    (void)turning;
    return rbBoundMeeting(a, b, gap, RB_VEC3_ZERO, level);
}

// Measures, bounds and advances until the gap is below the tolerance or the time is over. Returns
// the number of measurements.
static int advance(Truth* truth, const Mover* a, const Mover* b, BoundFn* bound, double* time)
{
    double tolerance = 1e-9 * (a->size + b->size);
    double t = 0.0;
    double before = 0.0;
    rbVec3 normal = RB_VEC3_ZERO;
    int count = 0;
    while (count < 2000) {
        rbSeparation s = measureAt(truth, a, b, t);
        ++count;
        assert_true(s.upper > -1e-12 * (1.0 + a->size + b->size));
        if (s.distance <= tolerance || s.lower <= 0.5 * tolerance) {
            break; // meshes and smooth shapes near contact are known to their bounds only
        }
        rbSweepBody bodyA = sweepBodyAt(a, t);
        rbSweepBody bodyB = sweepBodyAt(b, t);
        rbSweepGap gap = {s.lower, s.normal};
        rbVec3 turning = RB_VEC3_ZERO;
        if (t > before) {
            turning = rbScale(1.0 / (t - before), rbCross(normal, s.normal));
        }
        before = t;
        normal = s.normal;
        double step = bound(&bodyA, &bodyB, &gap, turning, 0.5 * tolerance);
        assert_true(step > 0.0);
        t += step;
        if (t > 0.3) {
            break; // also before the roundings are gone
        }
    }
    *time = t;
    return count;
}

typedef struct Tally {
    long long sum, largest, pairs, contacts;
} Tally;

// L-76
static void repeatedBoundsConverge(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5102)};
    Truth truth = {malloc(rbGetSeparationScratchSize()), 0};
    static const struct {
        const char* name;
        BoundFn* bound;
    } rows[4] = {{"paths", boundPaths},
                 {"supports", boundSupports},
                 {"alone", boundAlone},
                 {"turning", rbBoundMeeting}};
    Tally convex[4] = {{0}};
    for (int kind = 0; kind < KIND_COUNT; ++kind) {
        Tally tallies[4] = {{0}};
        int count = rbTest_Count(300, 5000);
        for (int i = 0; i < count; ++i) {
            Mover a = makeMover(&random, (Kind)kind);
            Mover b = makeMover(&random, randomKind(&random, kind < KIND_CONVEX_COUNT, false));
            bool isPlaced = placePair(&random, &truth, &a, &b);
            double times[4];
            for (int row = 0; row < 4 && isPlaced; ++row) {
                if (row < 2 && i % 10 != 0) {
                    continue;
                }
                int needed = advance(&truth, &a, &b, rows[row].bound, &times[row]);
                tallies[row].sum += needed;
                tallies[row].pairs += 1;
                tallies[row].contacts += times[row] < 0.3;
                tallies[row].largest =
                    needed > tallies[row].largest ? needed : tallies[row].largest;
            }
            freePair(&a, &b);
        }
        print_message("%-16s", kinds[kind].name);
        for (int row = 0; row < 4; ++row) {
            print_message(" | %s mean %6.1f most %4lld", rows[row].name,
                          (double)tallies[row].sum / (double)tallies[row].pairs,
                          tallies[row].largest);
        }
        print_message(" | contacts %lld of %lld\n", tallies[3].contacts, tallies[3].pairs);
        for (int row = 2; row < 4 && kind < KIND_CONVEX_COUNT; ++row) {
            convex[row].sum += tallies[row].sum;
            convex[row].pairs += tallies[row].pairs;
        }
    }
    // spins are up to 1000 rad/s, and one in three has more than 50
    for (int row = 2; row < 4; ++row) {
        double mean = (double)convex[row].sum / (double)convex[row].pairs;
        print_message("convex pairs, %s: mean %.2f\n", rows[row].name, mean);
        checkBelow(mean, 20.0);
    }
    free(truth.scratch);
}

RB_TEST_GROUP(prop_sweep, cmocka_unit_test(noBoundIsLaterThanTheTruth),
              cmocka_unit_test(repeatedBoundsConverge));
