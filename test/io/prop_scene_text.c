// Randomly damaged scenes: whatever is done to a text, it is read or refused with a message, and
// nothing leaks. A small version of test/fuzz/fuzz_scene.c, run with every test.
#include "base/core/random.h"
#include "scene_support.h"

// The text of a scene in memory owned by the test.
static char* loadText(const char* name, size_t* size)
{
    rbScene* scene = readNamed(name);
    const char* text = rbScene_GetText(scene, size);
    char* copy = malloc(*size + 64);
    memcpy(copy, text, *size);
    rbDestroyScene(scene);
    return copy;
}

// Values that are difficult for readers.
static const char* const nasty[] = {
    "-1",   "0",       "1e308", "1e-308",     "1e999",   "null",    "true", "[]",
    "{}",   "\"\"",    "-0.0",  "2147483648", "\"box\"", "[0,0,0]", "1e15", "NaN",
    "[[[[", "\\u0000", "}",     "]",          ",",       "\"",
};

static size_t mutate(rbRandom* random, char* text, size_t size)
{
    int changes = 1 + rbRandom_Index(random, 3);
    for (int i = 0; i < changes && size > 0; ++i) {
        size_t at = (size_t)(rbRandom_Unit(random) * (double)size);
        const char* word = nasty[rbRandom_Index(random, (int)(sizeof nasty / sizeof nasty[0]))];
        size_t length = strlen(word);
        switch (rbRandom_Index(random, 5)) {
        case 0: // cut
            size = at;
            break;
        case 1: // flip a bit
            text[at] = (char)(text[at] ^ (1 << rbRandom_Index(random, 8)));
            break;
        case 2: // remove a piece
            length = length < size - at ? length : size - at;
            memmove(text + at, text + at + length, size - at - length);
            size -= length;
            break;
        default: { // replace the next number
            while (at < size && (text[at] < '0' || text[at] > '9')) {
                ++at;
            }
            size_t end = at;
            while (end < size && strchr("0123456789.e-+", text[end]) != NULL && text[end] != '\0') {
                ++end;
            }
            if (length <= 20 && at < size) {
                memmove(text + at + length, text + end, size - end);
                memcpy(text + at, word, length);
                size = size + length - (end - at);
            }
            break;
        }
        }
    }
    return size;
}

static void damagedScenesAreReadOrRefused(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(72)};
    static const char* const names[] = {"tumbling-box", "kinematic-carousel", "falling-with-drag",
                                        "intermediate-axis"};
    int cases = rbTest_Count(1500, 100000);
    int accepted = 0;
    int refused = 0;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; ++n) {
        size_t size = 0;
        char* text = loadText(names[n], &size);
        char* work = malloc(size + 256);
        uint64_t before = rbGetAllocatedBytes();
        for (int i = 0; i < cases / 4; ++i) {
            memcpy(work, text, size);
            size_t newSize = mutate(&random, work, size);
            rbError error = {0};
            rbSceneSource source = {.name = "damaged", .folder = RB_SOURCE_DIR "/scenes"};
            rbScene* scene = rbReadSceneText(work, newSize, &source, &error);
            if (scene == NULL) {
                assert_true(error.status != RB_STATUS_OK && strlen(error.message) > 5);
                refused += 1;
            } else {
                if (rbScene_GetInfo(scene)->bodyCount < 1000) {
                    rbWorld* world = rbScene_CreateWorld(scene, &error);
                    assert_true(world != NULL || strlen(error.message) > 5);
                    rbDestroyWorld(world);
                }
                accepted += 1;
            }
            rbDestroyScene(scene);
            assert_int_equal(rbGetAllocatedBytes(), before);
        }
        free(work);
        free(text);
    }
    assert_true(accepted > 0 && refused > accepted / 10);
}

RB_TEST_GROUP(prop_scene_text, cmocka_unit_test(damagedScenesAreReadOrRefused));
