// Snapshots whose words were replaced and whose checksum was corrected: refused with a message, and
// nothing has changed, or taken. Either way a true snapshot brings everything back.
#include "base/core/hash.h"
#include "event_scenes.h"

#include <inttypes.h>
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

// A box on a hinge with a limit, a ball on the ground, one on a spring in a sensor: all kinds of
// things that a snapshot holds, few of each.
static rbWorld* makeSmallScene(void)
{
    rbWorldDef def = rbDefaultWorldDef();
    rbWorld* world = rbCreateWorld(&def, NULL);
    rbBodyId ids[4];
    static const double heights[] = {0.0, 0.5, 0.25, 0.5};
    rbGeometry* const geometries[] = {rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL),
                                      rbCreateBox(rbMakeVec3(0.25, 0.25, 0.25), NULL),
                                      rbCreateSphere(0.25, NULL), rbCreateSphere(0.5, NULL)};
    for (int i = 0; i < 4; ++i) {
        rbBodyDef body = rbDefaultBodyDef();
        body.type = i == 0 ? RB_BODY_STATIC : RB_BODY_DYNAMIC;
        body.position = rbMakeVec3(1.0 * i, 0.0, heights[i]);
        body.linearVelocity.y = 0.25 * (i % 3);
        ids[i] = rbCreateBody(world, &body, NULL);
        rbShapeDef shape = rbDefaultShapeDef();
        shape.isSensor = i == 3;
        shape.geometry = rbWorld_AddGeometry(world, geometries[i]);
        assert_false(RB_IS_NULL(rbCreateShape(world, ids[i], &shape, NULL)));
        if (i == 3) { // a sensor that has mass
            shape.isSensor = false;
            shape.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.25, NULL));
            assert_false(RB_IS_NULL(rbCreateShape(world, ids[i], &shape, NULL)));
        }
    }
    rbJointDef hinge = rbDefaultJointDef();
    hinge.type = RB_JOINT_HINGE;
    hinge.bodyB = ids[1];
    hinge.limits[0].upper = 0.5;
    hinge.limits[0].lower = -0.5;
    rbJointDef_SetAnchor(&hinge, world, rbMakeVec3(0.5, 0.0, 0.5));
    rbJointDef_SetAxis(&hinge, world, rbMakeVec3(0.0, 0.0, 1.0));
    assert_false(RB_IS_NULL(rbCreateJoint(world, &hinge, NULL)));
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyA = ids[2];
    spring.bodyB = ids[3];
    spring.stiffness = 10.0;
    assert_false(RB_IS_NULL(rbCreateSpring(world, &spring, NULL)));
    return world;
}

// Every word, one more, one less, and far too large: which are refused is known. Asserts also check
// what only a forged snapshot can break, for example what the event engine has predicted, so builds
// with them end at the first such word.
static void everyWordIsRefusedOrTakenAsEver(void** state)
{
    (void)state;
#if defined(RB_ENABLE_ASSERT)
    skip();
#endif
    static const uint64_t expected[4] = {0xb98958f447720a7eu, 0x357c40500f008dc9u,
                                         0x2bb4a75717a8b431u, 0x444d1163a86d8499u};
    rbError error = {0};
    rbWorld* world = makeSmallScene();
    advance(world, 0.25);
    size_t size = rbWorld_GetSnapshotSize(world);
    unsigned char *bytes = malloc(size), *forged = malloc(size);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    uint64_t hash = rbWorld_GetHash(world);
    int differences = 0;
    for (int way = 0; way < 4; ++way) {
        uint64_t answers = RB_HASH_SEED;
        int refused = 0;
        for (size_t place = CHECKED_PLACE; place + 4 <= size; place += 4) {
            uint32_t word;
            memcpy(&word, bytes + place, sizeof word);
            word = way == 0 ? word + 1 : way == 1 ? word - 1 : way == 2 ? 0x7fffffffu : UINT32_MAX;
            memcpy(forged, bytes, size);
            forge(forged, size, place, word);
            rbStatus status = rbWorld_RestoreSnapshot(world, forged, size, &error);
            unsigned char answer = (unsigned char)status;
            answers = rbHashBytes(answers, &answer, 1);
            refused += status != RB_STATUS_OK ? 1 : 0;
            assert_true(status == RB_STATUS_OK || rbWorld_GetHash(world) == hash);
            if (status == RB_STATUS_OK) {
                assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_OK);
            }
        }
        if (answers != expected[way]) {
            print_error("way %d, %d of %zu refused: hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64
                        "u\n",
                        way, refused, size / 4, answers, expected[way]);
            differences += 1;
        }
    }
    assert_int_equal(differences, 0);
    free(bytes);
    free(forged);
    rbDestroyWorld(world);
}

static void checkRefusal(rbWorld* world, const void* bytes, size_t size, rbStatus expected,
                         const char* message)
{
    rbError error = {0};
    uint64_t hash = rbWorld_GetHash(world);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), expected);
    assert_string_equal(error.message, message);
    assert_true(rbWorld_GetHash(world) == hash);
}

// Buffers that are too small are not written to; what is cut off, damaged or of another world is
// named.
static void sizesAreKeptToTheByte(void** state)
{
    (void)state;
    rbError error = {0};
    rbWorld* world = makeSmallScene();
    advance(world, 0.25);
    size_t size = rbWorld_GetSnapshotSize(world);
    unsigned char* bytes = malloc(size + 64);
    char message[100];
    (void)snprintf(message, sizeof message, "the snapshot needs %zu bytes, the buffer has %zu",
                   size, size - 1);
    memset(bytes, 0x5a, size + 64);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, 0, &error), RB_STATUS_LIMIT);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size - 1, &error), RB_STATUS_LIMIT);
    assert_string_equal(error.message, message);
    assert_int_equal(bytes[size - 1], 0x5a);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size + 64, &error), RB_STATUS_OK);
    for (size_t i = size; i < size + 64; ++i) {
        assert_int_equal(bytes[i], 0x5a);
    }
    static const size_t short1[] = {0, 1, 16, 63};
    for (int i = 0; i < 4; ++i) {
        checkRefusal(world, bytes, short1[i], RB_STATUS_CORRUPT, "the snapshot is cut off");
    }
    checkRefusal(world, bytes, size - 1, RB_STATUS_CORRUPT, "the snapshot is cut off");
    checkRefusal(world, bytes, size / 2, RB_STATUS_CORRUPT, "the snapshot is cut off");
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size + 64, &error), RB_STATUS_OK);
    bytes[size - 1] ^= 1;
    checkRefusal(world, bytes, size, RB_STATUS_CORRUPT, "the snapshot is damaged");
    bytes[size - 1] ^= 1;
    bytes[CHECKSUM_PLACE] ^= 1;
    checkRefusal(world, bytes, size, RB_STATUS_CORRUPT, "the snapshot is damaged");
    bytes[CHECKSUM_PLACE] ^= 1;
    rbBodyDef body = rbDefaultBodyDef();
    assert_false(RB_IS_NULL(rbCreateBody(world, &body, NULL)));
    checkRefusal(world, bytes, size, RB_STATUS_INVALID,
                 "the bodies, joints or forces of the world differ from those of the snapshot");
    free(bytes);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_forged_snapshots, cmocka_unit_test(forgedWordsAreRefusedOrHarmless),
              cmocka_unit_test(hugeCountsAreRefused), cmocka_unit_test(whatIsNotFiniteIsRefused),
              cmocka_unit_test(otherVersionsAreRefusedByName),
              cmocka_unit_test(everyWordIsRefusedOrTakenAsEver),
              cmocka_unit_test(sizesAreKeptToTheByte));
