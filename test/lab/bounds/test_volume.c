// The table of bounding volumes: names, known cases, region codes, bases of directions.
#include "lab/bounds/volume_rows.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <string.h>

// L-31
static void everyRowHasANameAndAllFunctions(void** state)
{
    (void)state;
    for (int i = 0; i < RB_VOLUME_COUNT; i++) {
        const rbVolumeRow* row = rbGetVolumeRow((rbVolumeType)i);
        assert_int_equal(rbVolumeType_Find(rbVolumeType_Name((rbVolumeType)i)), i);
        assert_true(row->size > 0 && row->size <= RB_VOLUME_SIZE_MAX);
        assert_true(row->fit && row->prepare && row->move && row->bound && row->center);
        assert_true(row->measure && row->contains);
    }
    assert_int_equal(rbVolumeType_Find("ball"), RB_VOLUME_COUNT);
    assert_string_equal(rbVolumeType_Name(RB_VOLUME_COUNT), "unknown");
}

static rbVolumeMeasure measureFit(rbVolumeType type, const rbVec3* points, int count)
{
    const rbVolumeRow* row = rbGetVolumeRow(type);
    double volume[RB_VOLUME_SIZE_MAX];
    row->fit(points, count, volume);
    return row->measure(volume);
}

static const rbVec3 cube[8] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                               {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};

// A cube is its own box and hull, and its sphere passes through its corners.
// L-32, L-38, L-39
static void cubesHaveTheMeasuresOfACube(void** state)
{
    (void)state;
    for (int i = RB_VOLUME_AABB; i <= RB_VOLUME_FDH26; i++) {
        rbVolumeMeasure m = measureFit((rbVolumeType)i, cube, 8);
        checkNear(m.volume, 8.0, 1e-12);
        checkNear(m.surface, 24.0, 1e-12);
        checkNear(m.diameter, 2.0 * sqrt(3.0), 1e-12);
    }
    rbVolumeMeasure m = measureFit(RB_VOLUME_SPHERE, cube, 8);
    checkNear(m.diameter, 2.0 * sqrt(3.0), 1e-12);
    checkNear(m.volume, 4.0 * RB_PI * sqrt(3.0), 1e-11);
    checkNear(m.surface, 12.0 * RB_PI, 1e-11);
}

// The octahedron (volume 4/3, surface 4 sqrt 3) and the cuboctahedron of edge sqrt 2 (volume 20/3,
// surface 12 + 4 sqrt 3) have the directions of the axes and corners as normals.
// L-32, L-38
static void fdhIsExactForItsOwnNormals(void** state)
{
    (void)state;
    rbVec3 octahedron[6], cuboctahedron[12];
    for (int i = 0; i < 6; i++) {
        octahedron[i] = rbFdhSet14.directions[i];
    }
    for (int i = 0; i < 12; i++) {
        cuboctahedron[i] = rbScale(sqrt(2.0), rbFdhSet18.directions[6 + i]);
    }
    rbVolumeType types[2] = {RB_VOLUME_FDH14, RB_VOLUME_FDH26};
    for (int i = 0; i < 2; i++) {
        rbVolumeMeasure m = measureFit(types[i], octahedron, 6);
        checkNear(m.volume, 4.0 / 3.0, 1e-12);
        checkNear(m.surface, 4.0 * sqrt(3.0), 1e-7); // slivers between rounded planes
        checkNear(m.diameter, 2.0, 1e-7);
        m = measureFit(types[i], cuboctahedron, 12);
        checkNear(m.volume, 20.0 / 3.0, 1e-12);
        checkNear(m.surface, 12.0 + 4.0 * sqrt(3.0), 1e-7);
        checkNear(m.diameter, 2.0 * sqrt(2.0), 1e-7);
    }
    // eighteen directions do not include the corners: the box with its edges cut
    rbVolumeMeasure box = measureFit(RB_VOLUME_FDH18, cube, 8);
    checkNear(box.volume, 8.0, 1e-12);
}

// A rectangle is its own swept volume of radius 0; points on a sphere give the ball.
// L-40, L-32
static void rssFitsRectanglesAndBalls(void** state)
{
    (void)state;
    rbQuat q = rbNormalizeQuat((rbQuat){0.3, -0.5, 0.7, 0.2});
    rbVec3 points[200];
    for (int i = 0; i < 4; i++) {
        points[i] =
            rbRotate(q, rbMakeVec3((i & 1) != 0 ? 3.0 : -3.0, (i & 2) != 0 ? 1.0 : -1.0, 0.0));
    }
    rbVolumeMeasure m = measureFit(RB_VOLUME_RSS, points, 4);
    checkNear(m.volume, 0.0, 1e-11);
    checkNear(m.surface, 24.0, 1e-11);
    checkNear(m.diameter, 2.0 * sqrt(10.0), 1e-11);
    rbRandom random = {7};
    for (int i = 0; i < 200; i++) {
        points[i] = rbRandom_Direction(&random);
    }
    m = measureFit(RB_VOLUME_RSS, points, 200);
    // the radius is half the least extent here, which 200 points do not quite fill
    assert_true(m.volume >= 4.0 / 3.0 * RB_PI * 0.9 && m.volume <= 4.0 / 3.0 * RB_PI * 1.4);
}

// L-33
static void smallestSpheresOfKnownSets(void** state)
{
    (void)state;
    double s[4];
    rbVec3 tetrahedron[5] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}, {0.5, 0.5, -0.5}};
    rbFitSphere(tetrahedron, 5, s, NULL);
    checkNear(s[3], sqrt(3.0), 1e-12);
    checkNear(rbLength(rbLoad3(s)), 0.0, 1e-12);
    // obtuse triangle: the longest side is a diameter
    rbVec3 obtuse[3] = {{-2, 0, 5}, {2, 0, 5}, {0, 0.5, 5}};
    rbFitSphere(obtuse, 3, s, NULL);
    checkNear(s[3], 2.0, 1e-12);
    checkNear(s[2], 5.0, 1e-12);
    // acute triangle: its circumcircle
    rbVec3 acute[3] = {{1, 0, 0}, {-0.5, sqrt(0.75), 0}, {-0.5, -sqrt(0.75), 0}};
    rbFitSphere(acute, 3, s, NULL);
    checkNear(s[3], 1.0, 1e-12);
    rbFitSphere(acute, 1, s, NULL);
    assert_true(s[0] == 1.0 && s[1] == 0.0 && s[3] == 0.0);
}

// The handle of the screwdriver: a million facets at one end must not rotate the box. The axes are
// those of the hull's surface, so points inside and on its faces change nothing.
// L-36
static void denselyMeshedPlacesDoNotTurnTheBox(void** state)
{
    (void)state;
    rbQuat q = rbNormalizeQuat((rbQuat){0.9, 0.1, -0.4, 0.3});
    rbVec3 points[3008];
    for (int i = 0; i < 8; i++) {
        points[i] = rbRotate(q, rbMulEach(cube[i], rbMakeVec3(5.0, 2.0, 1.0)));
    }
    rbVolumeMeasure few = measureFit(RB_VOLUME_OBB, points, 8);
    checkNear(few.volume, 80.0, 1e-10);
    rbRandom random = {11};
    for (int i = 8; i < 3008; i++) {
        double t = rbRandom_Symmetric(&random);
        points[i] = rbRotate(q, rbMakeVec3(4.0 + t, 1.9, 0.9 * t * t));
    }
    rbVolumeMeasure many = measureFit(RB_VOLUME_OBB, points, 3008);
    checkNear(many.volume, 80.0, 1e-10);
}

// ----------------------------------------------------------------------------------- region codes

// U-1: seven regions, the most there can be.
// L-54
static void regionWalkOfALongDiagonal(void** state)
{
    (void)state;
    rbRegionWalk walk;
    rbWalkBoxRegions(rbMakeVec3(-2, -2, -2), rbMakeVec3(8, 5, 2), rbMakeVec3(1, 1, 1), &walk);
    double crossings[6] = {1.0 / 10, 1.0 / 7, 1.0 / 4, 3.0 / 10, 3.0 / 7, 3.0 / 4};
    int planes[6] = {0, 2, 4, 1, 3, 5};
    int codes[7] = {21, 20, 16, 0, 2, 10, 42};
    assert_int_equal(walk.crossingCount, 6);
    assert_int_equal(walk.codeCount, 7);
    for (int i = 0; i < 6; i++) {
        checkNear(walk.crossings[i], crossings[i], 1e-15);
        assert_int_equal(walk.planes[i], planes[i]);
    }
    for (int i = 0; i < 7; i++) {
        assert_int_equal(walk.codes[i], codes[i]);
    }
}

// U-3: 1000, 0000, 0010: through the window. Planes crossed at one place are crossed together.
// L-54
static void regionWalkThroughAWindow(void** state)
{
    (void)state;
    rbRegionWalk walk;
    rbWalkBoxRegions(rbMakeVec3(0, 1.5, 0), rbMakeVec3(1.5, 0, 0), rbMakeVec3(1, 1, 1), &walk);
    assert_int_equal(walk.codeCount, 3);
    assert_int_equal(walk.codes[0], 8);
    assert_int_equal(walk.codes[1], 0);
    assert_int_equal(walk.codes[2], 2);
    rbWalkBoxRegions(rbMakeVec3(-2, -2, -2), rbMakeVec3(2, 2, 2), rbMakeVec3(1, 1, 1), &walk);
    assert_int_equal(walk.codeCount, 3);
    assert_int_equal(walk.codes[1], 0);
}

static double gapOfBoxes(rbVec3 halfA, rbVec3 halfB, rbVec3 p)
{
    rbObbPair pair = {halfA, halfB, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, p, 0.0};
    return rbMeasureObbGap(&pair);
}

// U-4: the printed algorithm reports a separation of 2.9 for the rod through the plate. Both
// orders, and a box within a box.
// L-54
static void piercingBoxesHaveNoGap(void** state)
{
    (void)state;
    rbVec3 plate = {5, 5, 0.1}, rod = {0.2, 0.2, 3};
    assert_true(gapOfBoxes(plate, rod, RB_VEC3_ZERO) == 0.0);
    assert_true(gapOfBoxes(rod, plate, RB_VEC3_ZERO) == 0.0);
    assert_true(gapOfBoxes(plate, plate, RB_VEC3_ZERO) == 0.0);
    assert_true(gapOfBoxes(rbMakeVec3(5, 5, 5), rod, RB_VEC3_ZERO) == 0.0);
    assert_true(gapOfBoxes(rod, rbMakeVec3(5, 5, 5), RB_VEC3_ZERO) == 0.0);
    checkNear(gapOfBoxes(rod, plate, rbMakeVec3(0, 0, 4)), 0.9, 1e-14);
    checkNear(gapOfBoxes(rod, plate, rbMakeVec3(6, 7, 4)), sqrt(0.64 + 3.24 + 0.81), 1e-14);
}

// ------------------------------------------------------------------------------ fixed directions

typedef struct Basis {
    int index[3];
    rbVec3 rows[3]; // rows . c: weights of c times a positive number
} Basis;

static bool coneHolds(const Basis* basis, rbVec3 c, double least)
{
    return rbDot(basis->rows[0], c) >= least && rbDot(basis->rows[1], c) >= least &&
           rbDot(basis->rows[2], c) >= least;
}

static bool makeBasis(const rbFdhSet* set, const int index[3], Basis* basis)
{
    rbVec3 a = set->directions[index[0]];
    rbVec3 b = set->directions[index[1]];
    rbVec3 c = set->directions[index[2]];
    double det = rbDot(a, rbCross(b, c));
    double sign = det > 0.0 ? 1.0 : -1.0;
    memcpy(basis->index, index, sizeof basis->index);
    basis->rows[0] = rbScale(sign, rbCross(b, c));
    basis->rows[1] = rbScale(sign, rbCross(c, a));
    basis->rows[2] = rbScale(sign, rbCross(a, b));
    return fabs(det) > 1e-9;
}

static bool isRedundant(const rbFdhSet* set, const Basis* basis)
{
    for (int k = 0; k < set->count; k++) {
        bool isOwn = k == basis->index[0] || k == basis->index[1] || k == basis->index[2];
        if (!isOwn && coneHolds(basis, set->directions[k], -1e-9)) {
            return true;
        }
    }
    return false;
}

// All triples, tested one by one.
static int findBases(const rbFdhSet* set, Basis* bases, int capacity, int* regular)
{
    int count = 0;
    *regular = 0;
    for (int i = 0; i < set->count; i++) {
        for (int j = i + 1; j < set->count; j++) {
            for (int k = j + 1; k < set->count; k++) {
                int index[3] = {i, j, k};
                Basis basis;
                if (makeBasis(set, index, &basis)) {
                    (*regular)++;
                    if (!isRedundant(set, &basis)) {
                        assert_true(count < capacity);
                        bases[count++] = basis;
                    }
                }
            }
        }
    }
    return count;
}

// Is the basis, or its opposite, listed?
static int countListed(const rbFdhSet* set, const Basis* basis)
{
    int found = 0;
    for (int b = 0; b < set->baseCount; b++) {
        for (int flip = 0; flip < 2; flip++) {
            int hits = 0;
            for (int k = 0; k < 9; k++) {
                hits += (set->bases[b][k % 3] ^ flip) == basis->index[k / 3] ? 1 : 0;
            }
            found += hits == 3 ? 1 : 0;
        }
    }
    return found;
}

// U-2: 232 regular triples of 14 directions, 48 of them bases, exactly 2 for every direction.
// L-58, L-38
static void basesOfDirectionsAreThoseFoundByTrial(void** state)
{
    (void)state;
    const rbFdhSet* sets[3] = {&rbFdhSet14, &rbFdhSet18, &rbFdhSet26};
    int regulars[3] = {232, 544, 1968}, counts[3] = {48, 80, 192};
    int least[3] = {2, 2, 3}, most[3] = {2, 4, 5};
    rbRandom random = {rbTest_Seed(201)};
    for (int s = 0; s < 3; s++) {
        static Basis bases[256];
        int regular;
        int count = findBases(sets[s], bases, 256, &regular);
        assert_int_equal(regular, regulars[s]);
        assert_int_equal(count, counts[s]);
        assert_int_equal(count, 2 * sets[s]->baseCount);
        for (int i = 0; i < count; i++) {
            assert_int_equal(countListed(sets[s], &bases[i]), 1);
        }
        for (int i = 0; i < sets[s]->count; i++) {
            rbVec3 d = sets[s]->directions[i];
            checkNear(rbLength(d), 1.0, 1e-15);
            assert_true(rbLength(rbAdd(d, sets[s]->directions[i ^ 1])) == 0.0);
        }
        for (int n = 0; n < 300; n++) {
            rbVec3 c = rbRandom_Direction(&random);
            int held = 0;
            for (int i = 0; i < count; i++) {
                held += coneHolds(&bases[i], c, 0.0) ? 1 : 0;
            }
            assert_true(held >= least[s] && held <= most[s]);
        }
    }
}

// U-2: |x|_D >= 0.806898 |x|, attained at (1, 0, sqrt 3 - 1).
// L-59
static void fdhNormLosesAtMostNineteenPercent(void** state)
{
    (void)state;
    double constant = 1.0 / sqrt(5.0 - 2.0 * sqrt(3.0));
    checkNear(constant, 0.806898, 1e-6);
    rbRandom random = {rbTest_Seed(202)};
    double least = 1.0;
    for (int n = 0; n < rbTest_Count(20000, 200000); n++) {
        rbVec3 x = n == 0 ? rbNormalize(rbMakeVec3(1.0, 0.0, sqrt(3.0) - 1.0))
                          : rbRandom_Direction(&random);
        double norm = 0.0;
        for (int i = 0; i < 14; i++) {
            double height = rbDot(rbFdhSet14.directions[i], x);
            norm = height > norm ? height : norm;
        }
        least = norm < least ? norm : least;
    }
    checkNear(least, constant, 1e-14);
}

// The boxes in hulls of fixed directions, so the row returns their distance.
// L-59, L-61
static void boundsOfAlignedCubesAreExact(void** state)
{
    (void)state;
    rbTransform moves[3] = {
        {{5, 0, 0}, {1, 0, 0, 0}}, {{5, 4, 0}, {1, 0, 0, 0}}, {{5, 4, 6}, {1, 0, 0, 0}}};
    double gaps[3] = {3.0, sqrt(9.0 + 4.0), sqrt(9.0 + 4.0 + 16.0)};
    for (int i = RB_VOLUME_AABB; i <= RB_VOLUME_FDH26; i++) {
        const rbVolumeRow* row = rbGetVolumeRow((rbVolumeType)i);
        double volume[RB_VOLUME_SIZE_MAX], moved[RB_VOLUME_SIZE_MAX];
        row->fit(cube, 8, volume);
        for (int k = 0; k < 3; k++) {
            rbVolumeMotion motion;
            row->prepare(moves[k], 10.0, &motion);
            row->move(&motion, volume, moved);
            double bound = row->bound(moved, volume);
            checkNear(bound, gaps[k], 1e-11);
            assert_true(bound <= gaps[k]);
        }
    }
}

RB_TEST_GROUP(test_volume, cmocka_unit_test(everyRowHasANameAndAllFunctions),
              cmocka_unit_test(cubesHaveTheMeasuresOfACube),
              cmocka_unit_test(fdhIsExactForItsOwnNormals),
              cmocka_unit_test(rssFitsRectanglesAndBalls),
              cmocka_unit_test(smallestSpheresOfKnownSets),
              cmocka_unit_test(denselyMeshedPlacesDoNotTurnTheBox),
              cmocka_unit_test(regionWalkOfALongDiagonal),
              cmocka_unit_test(regionWalkThroughAWindow), cmocka_unit_test(piercingBoxesHaveNoGap),
              cmocka_unit_test(basesOfDirectionsAreThoseFoundByTrial),
              cmocka_unit_test(fdhNormLosesAtMostNineteenPercent),
              cmocka_unit_test(boundsOfAlignedCubesAreExact));
