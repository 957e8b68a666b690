// The shadow comparison finds planted errors, logs them, and the log replays them bit by bit.
#include "elastic_gas.h"
#include "lab/math/random3.h"
#include "pairs/pair_file.h"
#include "rb_test.h"
#include "shadow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE 6.0

typedef struct Fixture {
    rbGeometry* ball;
    rbGeometry* box;
    char path[64];
} Fixture;

static int setUp(void** state)
{
    Fixture* f = calloc(1, sizeof *f);
    f->ball = rbCreateSphere(3.0, NULL);
    f->box = rbCreateBox(rbMakeVec3(3.0, 3.0, 3.0), NULL);
    (void)snprintf(f->path, sizeof f->path, "/tmp/rb_shadow_%ld.pairs", (long)getpid());
    (void)remove(f->path);
    *state = f;
    return 0;
}

static int tearDown(void** state)
{
    Fixture* f = *state;
    (void)remove(f->path);
    rbDestroyGeometry(f->ball);
    rbDestroyGeometry(f->box);
    free(f);
    return 0;
}

// The planted error: the answer number `at` of an opinion is changed.
typedef enum Plant {
    PLANT_SIGN,
    PLANT_NORMAL,
    PLANT_DEPTH,
    PLANT_BOUNDS,
    PLANT_NOTHING
} Plant;

typedef struct Planter {
    Plant plant;
    rbOpinion opinion;
    int at;   // the index of the contact
    int seen; // contacts so far
    bool isDone;
} Planter;

static void tamper(void* context, rbOpinion opinion, rbSeparation* s)
{
    Planter* planter = context;
    if (opinion != planter->opinion || !(s->distance < 0.0) || planter->seen++ != planter->at) {
        return;
    }
    planter->isDone = true;
    if (planter->plant == PLANT_SIGN) {
        s->distance = -s->distance;
    } else if (planter->plant == PLANT_NORMAL) {
        rbVec3 side = rbPerpendicular(s->normal);
        s->normal = rbNormalize(rbAddScaled(s->normal, 0.01, side)); // 0.57 degrees
    } else if (planter->plant == PLANT_DEPTH) {
        s->distance *= 1.0 + 1e-3;
    } else if (planter->plant == PLANT_BOUNDS) {
        s->lower -= 1e-6 * SIZE;
        s->upper = s->lower + 1e-9;
    }
}

static bool fileExists(const char* path)
{
    FILE* file = fopen(path, "rb");
    if (file != NULL) {
        (void)fclose(file);
    }
    return file != NULL;
}

// A sphere and a box in random positions, half of them overlapping; returns the planted pair.
typedef struct Story {
    rbShadow shadow;
    rbTransform pose;
    rbSeparation reference;
} Story;

static Story tell(const Fixture* f, Planter* planter, uint64_t salt)
{
    Story story = {.shadow = rbMakeShadow(SIZE, f->path)};
    story.shadow.tamper = tamper;
    story.shadow.tamperContext = planter;
    rbRandom random = {rbTest_Seed(salt)};
    for (int i = 0; i < 200; ++i) {
        rbTransform pose = {rbScale(rbRandom_Range(&random, 4.5, 8.5), rbRandom_Direction(&random)),
                            rbNormalizeQuat(rbRandom_Quat(&random))};
        bool wasDone = planter->isDone;
        rbSeparation s = rbShadow_Measure(&story.shadow, f->ball, f->box, pose);
        if (planter->isDone && !wasDone) {
            story.pose = pose;
            story.reference = s;
        }
    }
    assert_int_equal(story.shadow.pairTests, 200);
    assert_true(story.shadow.collisions > 20);
    return story;
}

static void checkReplay(const Fixture* f, const Story* story, const char* word)
{
    rbPairFile* file = NULL;
    rbError error = {0};
    if (rbReadPairFile(f->path, &file, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    int count = 0;
    const rbShapePair* pairs = rbPairFile_GetPairs(file, &count);
    assert_int_equal(count, 1);
    assert_memory_equal(&pairs[0].transformBtoA, &story->pose, sizeof(rbTransform));
    assert_non_null(strstr(pairs[0].remark, word));
    assert_true(pairs[0].severity > 0.0);
    void* scratch = rbAlloc(rbGetSeparationScratchSize());
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = pairs[0].a;
    input.geometryB = pairs[0].b;
    input.transformBtoA = pairs[0].transformBtoA;
    input.method = RB_PAIR_CLOSED_FORM;
    rbSeparation s;
    assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, NULL), RB_STATUS_OK);
    assert_true(s.distance == story->reference.distance);
    assert_memory_equal(&s.normal, &story->reference.normal, sizeof(rbVec3));
    rbFree(scratch, rbGetSeparationScratchSize());
    rbDestroyPairFile(file);
}

// G-41
static void plantedDisagreementIsFoundLoggedAndReplayable(void** state)
{
    const Fixture* f = *state;
    Planter planter = {PLANT_SIGN, RB_OPINION_ITERATIVE, 7, 0, false};
    Story story = tell(f, &planter, 410);
    assert_int_equal(story.shadow.disagreements, 1);
    assert_int_equal(story.shadow.missed, 1);
    assert_int_equal(story.shadow.incidents, 1);
    assert_int_equal(rbFreeShadow(&story.shadow, NULL), RB_STATUS_OK);
    checkReplay(f, &story, "missed contact by iterative");
}

// G-41
static void plantedErrorsOfNormalDepthAndBoundsAreFound(void** state)
{
    const Fixture* f = *state;
    Planter planter = {PLANT_NORMAL, RB_OPINION_ITERATIVE, 3, 0, false};
    Story story = tell(f, &planter, 411);
    rbErrorSummary angle =
        rbErrorSeries_Summarize(&story.shadow.errors[RB_OPINION_ITERATIVE].angle);
    checkNear(angle.max, 0.573, 0.001);
    assert_int_equal(story.shadow.incidents, 1);
    assert_int_equal(story.shadow.disagreements + story.shadow.contradictions, 0);
    assert_int_equal(rbFreeShadow(&story.shadow, NULL), RB_STATUS_OK);
    checkReplay(f, &story, "normal off by");

    planter = (Planter){PLANT_DEPTH, RB_OPINION_ITERATIVE, 5, 0, false};
    story = tell(f, &planter, 412);
    rbErrorSummary depth =
        rbErrorSeries_Summarize(&story.shadow.errors[RB_OPINION_ITERATIVE].depth);
    checkRelative(depth.max, -1e-3 * story.reference.distance / SIZE, 1e-6);
    assert_int_equal(story.shadow.incidents, 1);
    assert_int_equal(rbFreeShadow(&story.shadow, NULL), RB_STATUS_OK);
    checkReplay(f, &story, "iterative");

    planter = (Planter){PLANT_BOUNDS, RB_OPINION_ITERATIVE, 0, 0, false};
    story = tell(f, &planter, 413);
    assert_int_equal(story.shadow.contradictions, 1);
    assert_int_equal(rbFreeShadow(&story.shadow, NULL), RB_STATUS_OK);
    checkReplay(f, &story, "bounds");
}

// G-41
static void noIncidentLeavesNoFile(void** state)
{
    const Fixture* f = *state;
    Planter planter = {PLANT_NOTHING, RB_OPINION_ITERATIVE, 0, 0, false};
    Story story = tell(f, &planter, 414);
    assert_int_equal(story.shadow.incidents, 0);
    assert_true(story.shadow.calls >= 400); // at least the distance and the overlap test
    assert_int_equal(rbFreeShadow(&story.shadow, NULL), RB_STATUS_OK);
    assert_false(fileExists(f->path));
}

static void turnNormal(void* context, rbOpinion opinion, rbSeparation* s)
{
    (void)opinion;
    (void)context;
    s->normal = rbMakeVec3(s->normal.z, s->normal.x, s->normal.y);
}

// Two cubes with one center can separate along every axis: another normal of the same depth is not
// an error. Off the center it is one.
static void ambiguousNormalsAreCountedApart(void** state)
{
    const Fixture* f = *state;
    rbTransform pose = RB_TRANSFORM_IDENTITY;
    for (int round = 0; round < 2; ++round) {
        rbShadow shadow = rbMakeShadow(SIZE, NULL);
        shadow.tamper = turnNormal;
        pose.p.x = round == 0 ? 0.0 : 1e-3;
        rbSeparation s = rbShadow_Measure(&shadow, f->box, f->box, pose);
        checkNear(s.distance, -6.0 + pose.p.x, 1e-12);
        int answers = shadow.errors[RB_OPINION_ITERATIVE].depth.values.count +
                      shadow.errors[RB_OPINION_FEATURES].depth.values.count;
        assert_true(answers >= 1);
        if (round == 0) {
            assert_int_equal(shadow.ambiguous, answers);
            assert_int_equal(shadow.incidents, 0);
        } else {
            assert_int_equal(shadow.ambiguous, 0);
            assert_int_equal(shadow.incidents, answers);
        }
        (void)rbFreeShadow(&shadow, NULL);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setUp, tearDown)
RB_TEST_GROUP(test_shadow, TEST(plantedDisagreementIsFoundLoggedAndReplayable),
              TEST(plantedErrorsOfNormalDepthAndBoundsAreFound), TEST(noIncidentLeavesNoFile),
              TEST(ambiguousNormalsAreCountedApart));
