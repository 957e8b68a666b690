// Snapshots whose words were replaced and whose checksum was corrected: refused with a message, and
// nothing has changed, or taken. Either way a true snapshot brings everything back.
#include "base/core/hash.h"
#include "event_scenes.h"

#include <stdlib.h>

#define CHECKSUM_PLACE 8u // of the header: magic, version, checksum of all that follows
#define CHECKED_PLACE 16u
#define SIZE_PLACE 24u

// Numbers that are not finite end at an assertion where there are any, before anybody can refuse
// them: builds with assertions forge none.
#ifdef RB_ENABLE_ASSERT
#define FORGED_COUNT 0
#else
#define FORGED_COUNT rbTest_Count(400, 20000)
#endif

static rbWorld* makeScene(rbEngineType engine)
{
    rbRandom random = {7};
    rbWorldDef def = defineWorld();
    def.engine = engine;
    Room room = makeRoom(&random, &def);
    return room.world;
}

static void forge(unsigned char* bytes, size_t size, size_t place, uint32_t word)
{
    memcpy(bytes + place, &word, sizeof word);
    uint64_t checksum = rbHashBytes(RB_HASH_SEED, bytes + CHECKED_PLACE, size - CHECKED_PLACE);
    memcpy(bytes + CHECKSUM_PLACE, &checksum, sizeof checksum);
}

static void forgedWordsAreRefusedOrHarmless(void** state)
{
    (void)state;
    static const uint32_t words[] = {0, 1, 7, 1000, 0x7fffffff, 0x80000000, 0xffffffff};
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        rbError error = {0};
        rbRandom random = {rbTest_Seed(31 + (uint64_t)engine)};
        rbWorld* world = makeScene((rbEngineType)engine);
        advance(world, 0.1);
        size_t size = rbWorld_GetSnapshotSize(world);
        unsigned char* bytes = malloc(size);
        unsigned char* forged = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
        uint64_t hash = rbWorld_GetHash(world);
        int refused = 0, taken = 0;
        const int count = FORGED_COUNT;
        for (int i = 0; i < count; ++i) {
            int wordCount = (int)((size - CHECKED_PLACE) / 4);
            size_t place = CHECKED_PLACE + 4 * (size_t)rbRandom_Index(&random, wordCount);
            memcpy(forged, bytes, size);
            forge(forged, size, place, words[rbRandom_Index(&random, 7)]);
            error.message[0] = '\0';
            if (rbWorld_RestoreSnapshot(world, forged, size, &error) == RB_STATUS_OK) {
                ++taken;
                if (rbWorld_RestoreSnapshot(world, bytes, size, &error) != RB_STATUS_OK) {
                    fail_msg("after word %zu of %zu: %s", place / 4, size / 4, error.message);
                }
            } else {
                ++refused;
                assert_true(error.message[0] != '\0');
            }
            assert_true(rbWorld_GetHash(world) == hash);
        }
        advance(world, 0.15);
        uint64_t later = rbWorld_GetHash(world);
        assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_OK);
        advance(world, 0.15);
        assert_true(rbWorld_GetHash(world) == later);
        print_message("%s: %d refused, %d taken\n", rbEngineType_Name((rbEngineType)engine),
                      refused, taken);
        assert_true(taken > 0 || count == 0); // most words are numbers that can be
        free(bytes);
        free(forged);
        rbDestroyWorld(world);
    }
}

// Counts are never believed: those of the header and of the arrays of touches that follow.
static void hugeCountsAreRefused(void** state)
{
    (void)state;
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        rbError error = {0};
        rbWorld* world = makeScene((rbEngineType)engine);
        advance(world, 0.1);
        size_t size = rbWorld_GetSnapshotSize(world);
        unsigned char* bytes = malloc(size);
        uint64_t hash = rbWorld_GetHash(world);
        for (size_t place = CHECKED_PLACE; place < 64; place += 8) {
            assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
            forge(bytes, size, place + 4, 0x7fffffff); // the high half
            rbStatus status = rbWorld_RestoreSnapshot(world, bytes, size, &error);
            assert_true(status == RB_STATUS_OK || strlen(error.message) > 0);
            assert_true(status != RB_STATUS_OK || place != SIZE_PLACE);
            assert_true(rbWorld_GetHash(world) == hash);
        }
        free(bytes);
        rbDestroyWorld(world);
    }
}

RB_TEST_GROUP(test_forged_snapshots, cmocka_unit_test(forgedWordsAreRefusedOrHarmless),
              cmocka_unit_test(hugeCountsAreRefused));
