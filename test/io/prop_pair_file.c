// Random pairs written and read: every bit of the shapes, poses and answers is preserved.
#include "io/scene/shape_words.h"
#include "lab/math/random3.h"
#include "output_support.h"
#include "pair_support.h"
#include "pairs/pair_file.h"
#include "pairs/pair_log.h"

#include <rattleback/collision.h>
#include <rattleback/output.h>

#include <math.h>

#define PAIRS 400 // of a file

static const rbShapeType types[] = {
    RB_SHAPE_SPHERE, RB_SHAPE_BOX,       RB_SHAPE_CAPSULE, RB_SHAPE_CYLINDER,
    RB_SHAPE_CONE,   RB_SHAPE_ELLIPSOID, RB_SHAPE_PLANE,   RB_SHAPE_HULL,
};
#define TYPE_COUNT ((int)(sizeof types / sizeof types[0]))

// A rotated box with points on its faces, or a ball of points, stretched. noise moves the points
// off the faces, relative to the size of the box.
static rbGeometry* makeHardHull(rbRandom* random, double noise)
{
    rbVec3 points[40];
    rbQuat turn = rbRandom_Quat(random);
    bool isBox = rbRandom_Index(random, 2) == 0;
    rbVec3 size = {1.0, rbRandom_Range(random, 0.1, 1.0), rbRandom_Range(random, 0.1, 1.0)};
    int count = 8 + rbRandom_Index(random, 33);
    for (int i = 0; i < count; ++i) {
        rbVec3 p = rbRandom_Direction(random);
        if (isBox && i < 8) {
            p = rbMakeVec3(i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0);
        } else if (isBox) {
            double largest = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z)));
            p = rbScale((1.0 + noise * rbRandom_Symmetric(random)) / largest, p);
        }
        p = rbMakeVec3(p.x * size.x, p.y * size.y, p.z * size.z);
        points[i] = rbRotate(turn, p);
    }
    return rbCreateHull(points, count, NULL);
}

// Faces are merged within 1e-11 of the diameter: below and above that, a hull is determined by its
// vertices.
static double safeNoise(rbRandom* random)
{
    static const double noises[] = {0.0, 1e-16, 1e-13};
    return noises[rbRandom_Index(random, 3)];
}

// A shape of any type, of any size, or a compound of some.
static rbGeometry* makeShape(rbRandom* random, int depth)
{
    if (depth < 3 && rbRandom_Index(random, 8) == 0) {
        rbCompoundChild children[3] = {{0}};
        int count = 1 + rbRandom_Index(random, 3);
        for (int i = 0; i < count; ++i) {
            children[i] = (rbCompoundChild){makeShape(random, depth + 1),
                                            {rbRandom_Direction(random), rbRandom_Quat(random)},
                                            0.0};
        }
        rbGeometry* compound = rbCreateCompound(children, count, NULL);
        assert_non_null(compound);
        for (int i = 0; i < count; ++i) {
            rbDestroyGeometry((rbGeometry*)children[i].geometry);
        }
        return compound;
    }
    if (rbRandom_Index(random, 16) == 0) {
        rbGeometry* hull = makeHardHull(random, safeNoise(random));
        assert_non_null(hull);
        return hull;
    }
    return makeRandomShape(random, types[rbRandom_Index(random, TYPE_COUNT)]);
}

typedef struct Recorded {
    rbGeometry* a;
    rbGeometry* b;
    rbTransform transform;
    double severity;
} Recorded;

static rbSeparation measure(const rbGeometry* a, const rbGeometry* b, rbTransform transform,
                            void* scratch, rbStatus* status)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a;
    input.geometryB = b;
    input.transformBtoA = transform;
    rbSeparation separation;
    memset(&separation, 0, sizeof separation);
    *status = rbMeasureSeparation(&input, NULL, scratch, &separation, NULL);
    return separation;
}

static void checkReplay(const Recorded* recorded, const rbShapePair* pair, void* scratch)
{
    assert_int_equal(rbGeometry_GetHash(pair->a), rbGeometry_GetHash(recorded->a));
    assert_int_equal(rbGeometry_GetHash(pair->b), rbGeometry_GetHash(recorded->b));
    assert_memory_equal(&pair->transformBtoA, &recorded->transform, sizeof(rbTransform));
    assert_memory_equal(&pair->severity, &recorded->severity, sizeof(double));
    rbStatus before;
    rbStatus after;
    rbSeparation first = measure(recorded->a, recorded->b, recorded->transform, scratch, &before);
    rbSeparation second = measure(pair->a, pair->b, pair->transformBtoA, scratch, &after);
    assert_int_equal(before, after);
    if (before == RB_STATUS_OK) {
        assert_memory_equal(&first.distance, &second.distance, sizeof(double));
        assert_memory_equal(&first.lower, &second.lower, sizeof(double));
        assert_memory_equal(&first.upper, &second.upper, sizeof(double));
        assert_memory_equal(&first.normal, &second.normal, sizeof(rbVec3));
        assert_int_equal(first.iterations, second.iterations);
    }
}

// G-41, G-45
static void whatIsRecordedReplaysBitByBit(void** state)
{
    (void)state;
    char folder[SCRATCH_SIZE];
    char path[2 * SCRATCH_SIZE];
    makeScratch(folder);
    (void)snprintf(path, sizeof path, "%s/a.pairs", folder);
    uint64_t bytesBefore = rbGetAllocatedBytes();
    void* scratch = malloc(rbGetSeparationScratchSize());
    Recorded* recorded = malloc(PAIRS * sizeof *recorded);
    assert_non_null(scratch);
    assert_non_null(recorded);
    rbRandom random = {rbTest_Seed(45)};
    int rounds = rbTest_Count(3, 200);
    for (int round = 0; round < rounds; ++round) {
        rbError error = {0};
        rbPairLog* log = rbOpenPairLog(path, &error);
        assert_non_null(log);
        for (int i = 0; i < PAIRS; ++i) {
            Recorded* r = &recorded[i];
            r->a = makeShape(&random, 0);
            r->b = makeShape(&random, 0);
            r->transform = (rbTransform){rbRandom_Direction(&random), rbRandom_Quat(&random)};
            double scale = pow(10.0, rbRandom_Range(&random, -12.0, 12.0));
            r->transform.p =
                rbRandom_Index(&random, 2) == 0 ? rbScale(scale, r->transform.p) : r->transform.p;
            r->severity = rbRandom_Index(&random, 2) == 0 ? 0.0 : rbRandom_Unit(&random);
            rbPairLog_Add(log, r->a, r->b, r->transform, r->severity, NULL);
        }
        assert_int_equal(rbPairLog_Close(&log, false, &error), RB_STATUS_OK);
        rbPairFile* file = NULL;
        if (rbReadPairFile(path, &file, &error) != RB_STATUS_OK) {
            fail_msg("line %d: %s", error.line, error.message);
        }
        int count = 0;
        const rbShapePair* pairs = rbPairFile_GetPairs(file, &count);
        assert_int_equal(count, PAIRS);
        for (int i = 0; i < PAIRS; ++i) {
            checkReplay(&recorded[i], &pairs[i], scratch);
            rbDestroyGeometry(recorded[i].a);
            rbDestroyGeometry(recorded[i].b);
        }
        rbDestroyPairFile(file);
    }
    free(recorded);
    free(scratch);
    assert_int_equal(rbGetAllocatedBytes(), bytesBefore);
    removeScratch(folder);
}

static rbGeometry* refuseName(rbShapeType type, const char* name, void* context, rbError* error)
{
    (void)type;
    (void)name;
    (void)context;
    (void)error;
    return NULL;
}

// Shapes of all sizes and orientations, without a file in between.
static void shapesInWordsKeepTheirBits(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(46)};
    int cases = rbTest_Count(20000, 2000000);
    for (int i = 0; i < cases; ++i) {
        double n[RB_PARAMETERS_MAX];
        char text[RB_PARAMETERS_MAX * RB_NUMBER_TEXT_SIZE + 16];
        rbGeometry* shape = makeRandomShape(&random, types[rbRandom_Index(&random, 7)]);
        int count = rbGetShapeNumbers(shape, n);
        assert_true(count > 0);
        size_t used =
            (size_t)snprintf(text, sizeof text, "%s", rbShapeType_Name(rbGeometry_GetType(shape)));
        for (int k = 0; k < count; ++k) {
            text[used++] = k == 0 ? ':' : ',';
            used += (size_t)rbFormatNumber(n[k], text + used);
        }
        rbGeometry* again = rbMakeShapeOfWords(text, used, refuseName, NULL, NULL);
        assert_non_null(again);
        if (rbGeometry_GetHash(again) != rbGeometry_GetHash(shape)) {
            fail_msg("%s is not what it was", text);
        }
        rbDestroyGeometry(again);
        rbDestroyGeometry(shape);
    }
}

static bool isSameFromVertices(const rbGeometry* hull)
{
    rbMeshDef mesh;
    assert_true(rbGeometry_GetMesh(hull, &mesh));
    rbGeometry* again = rbCreateHull(mesh.vertices, mesh.vertexCount, NULL);
    bool isSame = again != NULL && rbGeometry_GetHash(again) == rbGeometry_GetHash(hull);
    rbDestroyGeometry(again);
    return isSame;
}

// A log writes the vertices of a hull, not the points it was made of.
static void hullsOfTheirVerticesAreTheSameHulls(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(47)};
    int cases = rbTest_Count(300, 20000);
    for (int i = 0; i < cases; ++i) {
        rbGeometry* hull = makeHardHull(&random, safeNoise(&random));
        assert_non_null(hull);
        assert_true(isSameFromVertices(hull));
        rbDestroyGeometry(hull);
    }
}

// Vertices at the merge tolerance: the log reports which hulls lose their bits.
static void hullsThatComeBackOtherwiseAreMarked(void** state)
{
    (void)state;
    char folder[SCRATCH_SIZE];
    char path[2 * SCRATCH_SIZE];
    makeScratch(folder);
    (void)snprintf(path, sizeof path, "%s/a.pairs", folder);
    rbRandom random = {rbTest_Seed(48)};
    for (int i = 0; i < 30; ++i) {
        rbGeometry* hull = makeHardHull(&random, 1e-10);
        if (hull == NULL) {
            continue; // too thin to be distinguished, which is reported
        }
        rbPairLog* log = rbOpenPairLog(path, NULL);
        rbPairLog_Add(log, hull, hull, RB_TRANSFORM_IDENTITY, 0.0, NULL);
        assert_int_equal(rbPairLog_Close(&log, false, NULL), RB_STATUS_OK);
        size_t size = 0;
        char* text = readWhole(path, &size);
        assert_int_equal(strstr(text, "# h1 ") == NULL, isSameFromVertices(hull));
        free(text);
        rbDestroyGeometry(hull);
    }
    removeScratch(folder);
}

RB_TEST_GROUP(prop_pair_file, cmocka_unit_test(hullsOfTheirVerticesAreTheSameHulls),
              cmocka_unit_test(hullsThatComeBackOtherwiseAreMarked),
              cmocka_unit_test(whatIsRecordedReplaysBitByBit),
              cmocka_unit_test(shapesInWordsKeepTheirBits));
