// The measurements of packings: fill by a lattice compared with the volumes of bodies, overlaps
// compared with all pairs.
#include "packing_worlds.h"
#include "rb_test.h"

#include <math.h>

#define COUNT 60
#define SIDE 4

static rbPoured pour(rbPouredKind kind)
{
    rbPouringDef def = rbDefaultPouringDef(kind);
    def.count = COUNT;
    def.side = SIDE;
    def.settling = 0.5;
    rbPoured poured = rbPour(&def);
    if (poured.error.status != RB_STATUS_OK) {
        fail_msg("%s", poured.error.message);
    }
    assert_int_equal(poured.count, COUNT);
    return poured;
}

// G-43: in a space that contains all bodies
static void fillIsTheVolumeOfTheBodies(void** state)
{
    (void)state;
    for (int kind = 0; kind < RB_POURED_COUNT; ++kind) {
        rbPoured poured = pour((rbPouredKind)kind);
        double size = poured.def.size;
        double base = SIDE * size * SIDE * size;
        rbPouredSpace space = {.top = rbPoured_GetLevel(&poured, 1.0) + size};
        double cube = size * size * size;
        double ball = RB_PI / 6.0 * cube;
        double share = kind == RB_POURED_CUBES ? 1.0 : (kind == RB_POURED_MIXED ? 0.5 : 0.0);
        double volume = COUNT * (share * cube + (1.0 - share) * ball);
        // Overlaps count once: some parts in a thousand less.
        checkNear(rbPoured_GetFill(&poured, space) * base * space.top / volume, 1.0, 5e-3);
        rbPouredSpace none = {.walls = base};
        assert_true(isnan(rbPoured_GetFill(&poured, none)));
        assert_int_equal(rbPoured_CountEscaped(&poured), 0);
        rbPoured_Free(&poured);
    }
}

// G-43
static void overlapsAreThoseOfAllPairs(void** state)
{
    (void)state;
    rbPoured poured = pour(RB_POURED_SPHERES);
    rbPouredContacts found = rbPoured_Measure(&poured, RB_PAIR_AUTO);
    int count = 0;
    int depths[RB_DEPTH_BINS] = {0};
    double sum = 0.0;
    for (int i = 0; i < COUNT; ++i) {
        for (int k = i + 1; k < COUNT; ++k) {
            rbVec3 a = rbBody_GetState(poured.world, poured.ids[i]).center;
            rbVec3 b = rbBody_GetState(poured.world, poured.ids[k]).center;
            double depth = poured.def.size - rbDistance(a, b);
            count += depth > 0.0 ? 1 : 0;
            sum += fmax(0.0, depth);
            if (depth > 0.0) {
                double octaves = log2(depth / (RB_DEPTH_FIRST * poured.def.size));
                depths[(int)fmin(fmax(0.0, floor(octaves) + 1.0), RB_DEPTH_BINS - 1.0)] += 1;
            }
        }
    }
    assert_true(count > COUNT / 2);
    assert_int_equal(found.overlapCount, count);
    checkNear(found.mean, sum / count, 1e-14);
    assert_memory_equal(found.depths, depths, sizeof depths);
    assert_true(found.touchCount >= count);
    assert_int_equal(found.severalCount, 0);
    // The walls are planes at half the base from the middle, the floor is at 0.
    double half = 0.5 * SIDE * poured.def.size;
    int walls = 0;
    double deepest = 0.0;
    double speeds = 0.0;
    for (int i = 0; i < COUNT; ++i) {
        rbBodyState body = rbBody_GetState(poured.world, poured.ids[i]);
        rbVec3 c = body.center;
        double gaps[5] = {c.z, half - c.x, half + c.x, half - c.y, half + c.y};
        for (int k = 0; k < 5; ++k) {
            double depth = 0.5 * poured.def.size - gaps[k];
            walls += depth > 0.0 ? 1 : 0;
            sum += fmax(0.0, depth);
            deepest = fmax(deepest, depth);
        }
        for (int k = i + 1; k < COUNT; ++k) {
            rbVec3 other = rbBody_GetState(poured.world, poured.ids[k]).center;
            deepest = fmax(deepest, poured.def.size - rbDistance(c, other));
        }
        speeds += rbLengthSquared(body.linearVelocity);
    }
    assert_true(walls > SIDE);
    assert_int_equal(found.wallCount, walls);
    checkNear(found.meanWithAll, sum / (count + walls), 1e-14);
    checkNear(found.deepest, deepest, 1e-14);
    checkRelative(rbPoured_GetSpeed(&poured), sqrt(speeds / COUNT), 1e-12);
    // Half of the centers lie below the level of one half.
    double level = rbPoured_GetLevel(&poured, 0.5);
    int below = 0;
    for (int i = 0; i < COUNT; ++i) {
        below += rbBody_GetState(poured.world, poured.ids[i]).transform.p.z < level ? 1 : 0;
    }
    assert_int_equal(below, (COUNT - 1) / 2);
    int disagreeing = -1;
    checkBelow(rbPoured_CompareMethods(&poured, RB_PAIR_AUTO, RB_PAIR_ITERATIVE, &disagreeing),
               1.4e-15);
    assert_int_equal(disagreeing, 0);
    rbPoured_Free(&poured);
}

RB_TEST_GROUP(test_packing_worlds, cmocka_unit_test(fillIsTheVolumeOfTheBodies),
              cmocka_unit_test(overlapsAreThoseOfAllPairs));
