// Forgeries that a clever cheat would make: every record agrees with every other, and yet the run
// is not that of the model. Each file is changed in its model only, or comes from another scene.
#include "base/core/random.h"
#include "certificate_words.h"
#include "rb_test.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rbVReport report; // large

// Where things are in the words of a model.
typedef struct ModelPlaces {
    size_t gravity;
    size_t bodies[64]; // the type, after the name
    size_t shapes[64]; // the first shape of a body; 0: none
    int bodyCount;
} ModelPlaces;

enum { // after the type of a body
    B_MASS = 2,
    B_CENTER,
    B_INERTIA = 6,
    B_FROM_SHAPES = 12,
    B_GROWTH,
    B_HELD,
    B_STATE,
    B_SHAPES = 28
};
enum { // of a shape
    S_POSITION = 2,
    S_DENSITY = 9,
    S_RESTITUTION,
    S_FRICTION,
    S_KIND = 13,
    S_GROUPS,
    S_SIZE = 18
};

static size_t skipText(const uint64_t* w, size_t at)
{
    return at + 1 + (size_t)(w[at] + 7) / 8;
}

static size_t skipGeometry(const uint64_t* w, size_t at)
{
    uint64_t type = w[at];
    at += 2;
    if (type <= 6) {
        at += type == 6 ? 4 : 3;
    } else if (type <= 10) {
        at += 1 + 3 * (size_t)w[at];
        size_t faces = (size_t)w[at++];
        for (size_t i = 0; i < faces; ++i) {
            at += 1 + (size_t)w[at];
        }
    } else {
        at += 1 + 9 * (size_t)w[at];
    }
    return at + 1;
}

static ModelPlaces findPlaces(const uint64_t* w)
{
    ModelPlaces p = {0};
    size_t at = skipText(w, 0);
    p.gravity = at + 2;
    at += 27;
    size_t count = (size_t)w[at++];
    for (size_t i = 0; i < count; ++i) {
        at = skipGeometry(w, at);
    }
    p.bodyCount = (int)w[at++];
    for (int i = 0; i < p.bodyCount && i < 64; ++i) {
        at = skipText(w, at);
        p.bodies[i] = at;
        size_t shapes = (size_t)w[at + B_SHAPES];
        p.shapes[i] = shapes > 0 ? at + B_SHAPES + 1 : 0;
        at += B_SHAPES + 1 + S_SIZE * shapes;
    }
    return p;
}

static int verify(const rbWordFile* file)
{
    char message[RB_V_VERIFY_MESSAGE];
    rbWriteWordFile(file, rbScratchPath());
    return rbVerifyCertificate(rbScratchPath(), &report, message);
}

static rbWordFile makeFile(const char* scene, const char* options)
{
    size_t size;
    unsigned char* bytes = rbMakeCertificate(scene, options, &size);
    rbWordFile file = rbReadWordFile(bytes, size);
    free(bytes);
    assert_int_equal(verify(&file), 0);
    return file;
}

// A number of the model times (1 + part), or plus it where it is nearly zero; the verifier must
// fail.
static int misses;
static void expectFound(const rbWordFile* file, size_t at, double part, const char* what)
{
    uint64_t* w = file->blocks[0].words;
    uint64_t before = w[at];
    double number = rbWordToNumber(before);
    w[at] = rbNumberToWord(fabs(number) < 1e-9 ? number + part : number * (1.0 + part));
    int result = verify(file);
    if (result != 1) {
        (void)fprintf(stderr, "%s at word %zu: result %d\n", what, at, result);
        misses += 1;
    }
    w[at] = before;
}

// The run of a world with another gravity, mass, inertia, start or material than it says.
static void runsOfAnotherModelAreFound(void** state)
{
    (void)state;
    static const char* const scenes[][2] = {{"dice", "--duration 0.6"},
                                            {"bouncing-ball", "--duration 0.6"},
                                            {"pile-of-shapes", "--duration 0.05"}};
    for (size_t s = 0; s < sizeof scenes / sizeof scenes[0]; ++s) {
        rbWordFile file = makeFile(scenes[s][0], scenes[s][1]);
        uint64_t* w = file.blocks[0].words;
        ModelPlaces p = findPlaces(w);
        bool isEvent = s < 2;
        expectFound(&file, p.gravity + 2, 1e-6, "gravity");
        for (int i = 0, done = 0; i < p.bodyCount && done < rbTest_Count(1, 8); ++i) {
            size_t body = p.bodies[i];
            if (w[body] != 2) {
                continue;
            }
            done += 1;
            expectFound(&file, body + B_MASS, 1e-6, "mass");
            if (w[body + B_FROM_SHAPES] == 1) { // explicit ones are the user's
                expectFound(&file, body + B_CENTER, 1e-6, "center of mass");
                expectFound(&file, body + B_INERTIA, 1e-6, "inertia");
                expectFound(&file, body + B_INERTIA + 3, 1e-6 * rbWordToNumber(w[body + B_INERTIA]),
                            "product of inertia");
                expectFound(&file, p.shapes[i] + S_DENSITY, 1e-6, "density");
            }
            expectFound(&file, body + B_STATE + (isEvent ? 0 : 7), 1e-6, "start");
            if (s == 1) { // it has one pair
                expectFound(&file, p.shapes[i] + S_RESTITUTION, 1e-5, "restitution");
            }
        }
        rbFreeWordFile(&file);
    }
    assert_int_equal(misses, 0);
}

// A mass that is explicit is said to be that of the shapes.
static void anInertiaThatShapesDoNotHaveIsFound(void** state)
{
    (void)state;
    rbWordFile file = makeFile("rattleback", "--duration 0.02");
    uint64_t* w = file.blocks[0].words;
    ModelPlaces p = findPlaces(w);
    assert_true(report.counts[RB_V_CLAIM_MASS][RB_V_NOT_CHECKED] > 0); // and says so
    int changed = 0;
    for (int i = 0; i < p.bodyCount; ++i) {
        if (w[p.bodies[i]] == 2 && w[p.bodies[i] + B_FROM_SHAPES] == 0) {
            w[p.bodies[i] + B_FROM_SHAPES] = 1;
            changed += 1;
        }
    }
    assert_int_equal(changed, 1);
    assert_int_equal(verify(&file), 1);
    assert_true(report.counts[RB_V_CLAIM_MASS][RB_V_FAILED] > 0);
    rbFreeWordFile(&file);
}

// A ball that flies through a plate of 1 mm between two output times: the scene ran with a mask
// that lets it pass, and the model then says that they collide.
static void aBodyThatPassesThroughIsFound(void** state)
{
    (void)state;
    static const char* const shapes[] = {
        "\"type\": \"sphere\", \"radius\": 0.02", "\"type\": \"box\", \"size\": [0.02, 0.03, 0.05]",
        "\"type\": \"capsule\", \"radius\": 0.004, \"length\": 0.01"};
    rbRandom random = {rbTest_Seed(5)};
    for (int i = 0; i < rbTest_Count(3, 30); ++i) {
        char scene[2048];
        char path[512];
        double speed = rbRandom_Range(&random, 20.0, 2000.0);
        (void)snprintf(scene, sizeof scene,
                       "{\"rattleback\": 1, \"name\": \"through\", \"engine\": \"event\", "
                       "\"duration\": 0.02, \"output\": {\"step\": 0.02}, \"world\": {\"gravity\": "
                       "[0, 0, 0]}, \"geometries\": {\"ball\": {%s}, \"plate\": {\"type\": "
                       "\"box\", \"size\": [0.001, 1, 1]}}, \"bodies\": [{\"name\": \"plate\", "
                       "\"shapes\": [{\"geometry\": \"plate\", \"mask\": 0}]}, {\"name\": "
                       "\"ball\", \"position\": [%.9g, 0.1, 0.05], \"velocity\": [%.9g, 0, 0], "
                       "\"spin\": [3, 20, 1], \"shapes\": [{\"geometry\": \"ball\"}]}]}",
                       shapes[i % 3], -0.01 * speed * rbRandom_Range(&random, 0.8, 1.2), speed);
        (void)snprintf(path, sizeof path, "%s.json", rbScratchPath());
        rbWriteBytes(path, (const unsigned char*)scene, strlen(scene));
        size_t size;
        unsigned char* bytes = rbMakeCertificateOf(path, "", &size);
        (void)remove(path);
        rbWordFile file = rbReadWordFile(bytes, size);
        free(bytes);
        assert_int_equal(verify(&file), 0);
        uint64_t* w = file.blocks[0].words;
        ModelPlaces p = findPlaces(w);
        w[p.shapes[0] + S_GROUPS] |= (uint64_t)UINT32_MAX << 32;
        assert_int_equal(verify(&file), 1);
        assert_true(report.counts[RB_V_CLAIM_BETWEEN][RB_V_FAILED] > 0);
        rbFreeWordFile(&file);
    }
}

// Everything that does not move lies deeper than it did in the run: impulses and forces act across
// a gap, and all else agrees.
static void pushesAcrossAGapAreFound(void** state)
{
    (void)state;
    static const struct {
        const char *scene, *options;
        double gap; // m
        rbVClaim claim;
    } runs[] = {
        {"bouncing-ball", "--duration 0.6", 1e-5, RB_V_CLAIM_TOUCH},
        {"dice", "--duration 0.6", 1e-5, RB_V_CLAIM_TOUCH},
        {"billiard-break", "--duration 0.1", 1e-5, RB_V_CLAIM_TOUCH},
        {"incline-of-ten", "--duration 0.05", 1e-4, RB_V_CLAIM_CONTACT},
        {"card-house", "--duration 0.1", 1e-4, RB_V_CLAIM_CONTACT},
        {"conveyor", "--duration 0.1", 1e-4, RB_V_CLAIM_CONTACT},
    };
    for (size_t s = 0; s < sizeof runs / sizeof runs[0]; ++s) {
        rbWordFile file = makeFile(runs[s].scene, runs[s].options);
        assert_true(report.counts[runs[s].claim][RB_V_CERTIFIED] > 0);
        uint64_t* w = file.blocks[0].words;
        ModelPlaces p = findPlaces(w);
        for (int i = 0; i < p.bodyCount; ++i) {
            if (w[p.bodies[i]] == 0 && p.shapes[i] > 0) {
                uint64_t* z = &w[p.shapes[i] + S_POSITION + 2];
                *z = rbNumberToWord(rbWordToNumber(*z) - runs[s].gap);
            }
        }
        assert_int_equal(verify(&file), 1);
        if (!(report.counts[runs[s].claim][RB_V_FAILED] > 0)) {
            (void)fprintf(stderr, "%s: not found\n", runs[s].scene);
            misses += 1;
        }
        rbFreeWordFile(&file);
    }
    assert_int_equal(misses, 0);
}

RB_TEST_GROUP(prop_forgery, cmocka_unit_test(runsOfAnotherModelAreFound),
              cmocka_unit_test(anInertiaThatShapesDoNotHaveIsFound),
              cmocka_unit_test(aBodyThatPassesThroughIsFound),
              cmocka_unit_test(pushesAcrossAGapAreFound));
