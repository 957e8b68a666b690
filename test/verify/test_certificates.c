// Certificates of clean runs hold; files that are damaged, cut off or foreign get a message.
#include "base/core/random.h"
#include "certificate_words.h"
#include "rb_test.h"
#include "verify/model.h"
#include "verify/verify.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rbVReport report; // large

static void expectClean(const char* scene, const char* options)
{
    char message[RB_V_VERIFY_MESSAGE];
    size_t size;
    unsigned char* bytes = rbMakeCertificate(scene, options, &size);
    rbWriteBytes(rbScratchPath(), bytes, size);
    free(bytes);
    int result = rbVerifyCertificate(rbScratchPath(), &report, message);
    if (result != 0) {
        const rbVFailure* f = &report.failures[0];
        (void)fprintf(stderr, "%s: %s %s at %g s: %g, at most %g\n", scene, message, f->detail,
                      f->time, f->value, f->bound);
    }
    assert_int_equal(result, 0);
    assert_true(report.isComplete);
    assert_true(report.counts[RB_V_CLAIM_ENERGY][RB_V_CERTIFIED] > 0);
}

static void runsOfEveryEngineAreCertified(void** state)
{
    (void)state;
    static const char* const scenes[][2] = {
        {"tumbling-box", ""},
        {"torqued-wheel", ""},
        {"bouncing-ball", ""},
        {"rattleback", ""},
        {"dice", ""},
        {"newtons-cradle", ""},
        {"newtons-cradle-simultaneous", ""},
        {"newton-creates-energy", ""},
        {"billiard-break", "--duration 0.5"},
        {"hard-sphere-gas", "--duration 2"},
        {"haff-cooling", "--duration 2"},
        {"rays-tumbling", ""},
        {"rays-billiard", ""}, // smooth balls that spin
        {"interlocked-meshes", "--duration 0.2"},
        {"pendulum", ""},
        {"broken-ring", ""},
        {"spring-damping", ""},
        {"card-house", ""},
        {"pile-of-shapes", "--duration 1"},
        {"conveyor", ""},
        {"kinematic-carousel", ""},
        {"kepler", ""},
        {"cradle-on-hinges", ""},
        // small steps in single precision give energy, and contacts end within them
        {"pile-of-shapes", "--duration 0.6 --set step.accuracy=game"},
        {"pile-of-shapes", "--duration 0.6 --set step.accuracy=game --set step.step=0.0166"},
        {"linked-rings", "--duration 0.5 --set step.accuracy=game"},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; ++i) {
        expectClean(scenes[i][0], scenes[i][1]);
    }
}

// Every scene of the gallery: its beginning here, the whole of it by `make certify`.
static void theWholeGalleryIsCertified(void** state)
{
    (void)state;
    DIR* folder = opendir(RB_SOURCE_DIR "/scenes");
    assert_non_null(folder);
    int count = 0;
    for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char* end = strstr(entry->d_name, ".json");
        if (end == NULL) {
            continue;
        }
        char scene[256];
        (void)snprintf(scene, sizeof scene, "%.*s", (int)(end - entry->d_name), entry->d_name);
        expectClean(scene, rbTest_IsLong() ? "--duration 0.1" : "--duration 0.01");
        count += 1;
    }
    (void)closedir(folder);
    assert_true(count > 90);
}

// What the engine claims is checked, not only counted: each kind of claim in a scene that has it.
static void everyClaimIsExercised(void** state)
{
    (void)state;
    expectClean("dice", "");
    static const rbVClaim claims[] = {RB_V_CLAIM_ORDER, RB_V_CLAIM_FLIGHT,   RB_V_CLAIM_IMPULSE,
                                      RB_V_CLAIM_LAW,   RB_V_CLAIM_APPROACH, RB_V_CLAIM_MICRO,
                                      RB_V_CLAIM_CONE,  RB_V_CLAIM_GAIN,     RB_V_CLAIM_WORK,
                                      RB_V_CLAIM_REST,  RB_V_CLAIM_TOUCH,    RB_V_CLAIM_CAUSE,
                                      RB_V_CLAIM_APART, RB_V_CLAIM_BETWEEN,  RB_V_CLAIM_COUNTS};
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; ++i) {
        assert_true(report.counts[claims[i]][RB_V_CERTIFIED] > 0);
    }
    assert_true(report.counts[RB_V_CLAIM_BETWEEN][RB_V_SAMPLED] > 0);
    expectClean("pyramid", "--duration 0.1");
    assert_true(report.counts[RB_V_CLAIM_BALANCE][RB_V_CERTIFIED] > 0);
    assert_true(report.counts[RB_V_CLAIM_CONTACT][RB_V_CERTIFIED] > 0);
    expectClean("chain-hanging", "--duration 0.1");
    assert_true(report.counts[RB_V_CLAIM_JOINT][RB_V_CERTIFIED] > 0);
    expectClean("spring-damping", "--duration 0.1");
    assert_true(report.counts[RB_V_CLAIM_SPRING][RB_V_CERTIFIED] > 0);
    // what cannot be checked says so
    expectClean("falling-with-drag", "");
    assert_true(report.counts[RB_V_CLAIM_FLIGHT][RB_V_NOT_CHECKED] > 0);
    assert_true(report.reasons[RB_V_CLAIM_FLIGHT][0] != '\0');
}

static void expectRefusal(const unsigned char* bytes, size_t size, const char* part)
{
    char message[RB_V_VERIFY_MESSAGE];
    rbWriteBytes(rbScratchPath(), bytes, size);
    assert_int_equal(rbVerifyCertificate(rbScratchPath(), &report, message), 2);
    if (strstr(message, part) == NULL) {
        (void)fprintf(stderr, "\"%s\" lacks \"%s\"\n", message, part);
    }
    assert_non_null(strstr(message, part));
}

static void foreignAndCutFilesAreRefused(void** state)
{
    (void)state;
    size_t size;
    char message[RB_V_VERIFY_MESSAGE];
    unsigned char* bytes = rbMakeCertificate("bouncing-ball", "", &size);
    assert_int_equal(rbVerifyCertificate("/nowhere/x.rbc", &report, message), 2);
    assert_non_null(strstr(message, "opened"));
    expectRefusal((const unsigned char*)"{\"a\": 1}  ", 10, "not a certificate");
    expectRefusal(bytes, 0, "not a certificate");
    expectRefusal(bytes, 30, "no model");
    // what was written before an interruption is checked
    expectRefusal(bytes, size - 10, "cut off");
    assert_true(report.nodes > 0);
    assert_int_equal(report.failed, 0);
    assert_false(report.isComplete);
    bytes[8] = 9;
    expectRefusal(bytes, size, "version 9");
    free(bytes);
}

// Any bit and any end: a message or a verdict, no crash. Sanitizers watch.
static void damagedFilesAreRefused(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1)};
    char message[RB_V_VERIFY_MESSAGE];
    static const char* const scenes[] = {"newtons-cradle", "card-house", "spring-damping"};
    for (size_t s = 0; s < sizeof scenes / sizeof scenes[0]; ++s) {
        size_t size;
        unsigned char* bytes = rbMakeCertificate(scenes[s], "--duration 0.05", &size);
        int count = rbTest_Count(100, 2000);
        for (int i = 0; i < count; ++i) {
            size_t at = (size_t)(rbRandom_Bits(&random) % size);
            unsigned char before = bytes[at];
            bytes[at] ^= (unsigned char)(1u << rbRandom_Index(&random, 8));
            rbWriteBytes(rbScratchPath(), bytes, size);
            assert_int_equal(rbVerifyCertificate(rbScratchPath(), &report, message), 2);
            bytes[at] = before;
            rbWriteBytes(rbScratchPath(), bytes, (size_t)(rbRandom_Bits(&random) % size));
            assert_int_equal(rbVerifyCertificate(rbScratchPath(), &report, message), 2);
        }
        free(bytes);
    }
}

// The same with right checksums: hostile content.
static void hostileContentDoesNoHarm(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(2)};
    char message[RB_V_VERIFY_MESSAGE];
    static const char* const scenes[] = {"newtons-cradle", "card-house", "spring-damping",
                                         "interlocked-meshes"};
    for (size_t s = 0; s < sizeof scenes / sizeof scenes[0]; ++s) {
        size_t size;
        unsigned char* bytes = rbMakeCertificate(scenes[s], "--duration 0.02", &size);
        rbWordFile file = rbReadWordFile(bytes, size);
        free(bytes);
        int count = rbTest_Count(100, 2000);
        for (int i = 0; i < count; ++i) {
            rbWordBlock* block = &file.blocks[rbRandom_Index(&random, file.count)];
            size_t at = (size_t)(rbRandom_Bits(&random) % block->count);
            uint64_t before = block->words[at];
            const uint64_t values[] = {rbRandom_Bits(&random),
                                       0,
                                       UINT64_MAX,
                                       before ^ UINT64_C(1) << 32,
                                       before + 1,
                                       rbNumberToWord(1e300),
                                       UINT64_C(0x7ff8000000000000),
                                       rbNumberToWord(-1.0),
                                       before ^ UINT64_C(1) << 62};
            block->words[at] = values[rbRandom_Index(&random, 9)];
            rbWriteWordFile(&file, rbScratchPath());
            (void)rbVerifyCertificate(rbScratchPath(), &report, message);
            block->words[at] = before;
        }
        rbFreeWordFile(&file);
    }
}

// Columns with any bytes changed decode to some words or are refused; they stay within their
// memory.
static void hostileColumnsDoNoHarm(void** state)
{
    (void)state;
    enum {
        WORDS = 18 + 36 + 13 // an event, a node with a state, four springs
    };
    rbRandom random = {rbTest_Seed(6)};
    int decoded = 0;
    for (int i = 0; i < rbTest_Count(2000, 100000); ++i) {
        unsigned char bytes[RB_V_COLUMNS_HEAD + 8 * WORDS] = {3, 0, 0, 0, 8};
        uint64_t words[WORDS];
        struct rbVColumns* columns = NULL;
        // heads of an event, a node and springs, as differences from 0
        const uint64_t heads[3] = {1 | UINT64_C(17) << 32, 6 | UINT64_C(35) << 32,
                                   5 | UINT64_C(12) << 32};
        for (size_t r = 0; r < 3; ++r) {
            for (size_t plane = 0; plane < 8; ++plane) {
                bytes[RB_V_COLUMNS_HEAD + plane * WORDS + r] =
                    (unsigned char)(2 * heads[r] >> (8 * plane));
            }
        }
        for (int k = rbRandom_Index(&random, 8); k > 0; --k) {
            bytes[rbRandom_Index(&random, (int)sizeof bytes)] =
                (unsigned char)rbRandom_Bits(&random);
        }
        for (int k = 0; k < 2; ++k) {
            decoded += rbVColumns_Decode(&columns, bytes, words, WORDS - 1) ? 1 : 0;
            decoded += rbVColumns_Decode(&columns, bytes, words, WORDS) ? 1 : 0;
        }
        free(columns);
    }
    assert_true(decoded > 0); // most are refused
}

RB_TEST_GROUP(test_certificates, cmocka_unit_test(runsOfEveryEngineAreCertified),
              cmocka_unit_test(theWholeGalleryIsCertified), cmocka_unit_test(everyClaimIsExercised),
              cmocka_unit_test(foreignAndCutFilesAreRefused),
              cmocka_unit_test(damagedFilesAreRefused), cmocka_unit_test(hostileContentDoesNoHarm),
              cmocka_unit_test(hostileColumnsDoNoHarm));
