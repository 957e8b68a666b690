// Snapshots whose words were replaced and whose checksum was corrected: refused with a message, and
// nothing has changed, or taken. Either way a true snapshot brings everything back.
#include "base/core/hash.h"
#include "event_scenes.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECKSUM_PLACE 8u // of the header: magic, version, checksum of all that follows
#define VERSION_PLACE 4u
#define CHECKED_PLACE 16u
#define SIZE_PLACE 24u

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
        for (int i = 0; i < rbTest_Count(400, 20000); ++i) {
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
        assert_true(taken > 0); // most words are numbers that can be
        free(bytes);
        free(forged);
        rbDestroyWorld(world);
    }
}

// Puts values that are not finite wherever the bytes have this number; returns how often they do.
static int forgeNumber(rbWorld* world, const unsigned char* bytes, size_t size, double number)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    int found = 0;
    uint64_t hash = rbWorld_GetHash(world);
    unsigned char* forged = malloc(size);
    uint64_t wanted;
    memcpy(&wanted, &number, sizeof wanted);
    for (size_t place = CHECKED_PLACE; place + sizeof number <= size; ++place) {
        uint64_t here;
        memcpy(&here, bytes + place, sizeof here);
        if (here != wanted) {
            continue;
        }
        ++found;
        for (int i = 0; i < 3; ++i) {
            rbError error = {0};
            memcpy(forged, bytes, size);
            memcpy(forged + place, &bad[i], sizeof bad[i]);
            uint32_t word;
            memcpy(&word, forged + place, sizeof word);
            forge(forged, size, place, word);
            rbStatus status = rbWorld_RestoreSnapshot(world, forged, size, &error);
            if (status != RB_STATUS_CORRUPT) {
                fail_msg("%g at byte %zu of %zu was taken for %.17g", bad[i], place, size, number);
            }
            assert_true(strlen(error.message) > 0);
            assert_true(rbWorld_GetHash(world) == hash);
        }
    }
    free(forged);
    return found;
}

// Poses, velocities, masses and moments that are not finite are refused wherever a snapshot has
// them, and the world goes on as if nothing had been tried.
static void whatIsNotFiniteIsRefused(void** state)
{
    (void)state;
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        rbError error = {0};
        rbRandom random = {7};
        rbWorldDef def = defineWorld();
        def.engine = (rbEngineType)engine;
        Room room = makeRoom(&random, &def);
        advance(room.world, 0.1);
        size_t size = rbWorld_GetSnapshotSize(room.world);
        unsigned char* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(room.world, bytes, size, &error), RB_STATUS_OK);
        for (int i = 0; i < ROOM_BODIES; ++i) {
            rbBodyState s = rbBody_GetState(room.world, room.bodies[i]);
            rbTransform frame;
            rbVec3 moments = rbBody_GetPrincipalMoments(room.world, room.bodies[i], &frame);
            double mass = rbBody_GetMass(room.world, room.bodies[i]).mass;
            const double numbers[] = {s.center.x,         s.center.y, s.transform.q.x,
                                      s.linearVelocity.x, moments.x,  mass};
            for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; ++k) {
                assert_true(forgeNumber(room.world, bytes, size, numbers[k]) > 0);
            }
        }
        advance(room.world, 0.15);
        uint64_t later = rbWorld_GetHash(room.world);
        assert_int_equal(rbWorld_RestoreSnapshot(room.world, bytes, size, &error), RB_STATUS_OK);
        advance(room.world, 0.15);
        assert_true(rbWorld_GetHash(room.world) == later);
        free(bytes);
        rbDestroyWorld(room.world);
    }
}

// A snapshot of another version is refused by its number, whatever else it holds.
static void otherVersionsAreRefusedByName(void** state)
{
    (void)state;
    rbError error = {0};
    rbWorld* world = makeScene(RB_ENGINE_STEP);
    size_t size = rbWorld_GetSnapshotSize(world);
    unsigned char* bytes = malloc(size);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    uint32_t version;
    memcpy(&version, bytes + VERSION_PLACE, sizeof version);
    version -= 1;
    memcpy(bytes + VERSION_PLACE, &version, sizeof version);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_CORRUPT);
    char expected[64];
    (void)snprintf(expected, sizeof expected, "the snapshot has version %u, not ", version);
    assert_memory_equal(error.message, expected, strlen(expected));
    bytes[0] ^= 1;
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_CORRUPT);
    assert_string_equal(error.message, "not a snapshot");
    free(bytes);
    rbDestroyWorld(world);
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
              cmocka_unit_test(hugeCountsAreRefused), cmocka_unit_test(whatIsNotFiniteIsRefused),
              cmocka_unit_test(otherVersionsAreRefusedByName));
