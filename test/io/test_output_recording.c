// Recordings: bit for bit, and robust against cuts, flips and full disks.
#include "io/output/recording_format.h"
#include "output_support.h"

#include <rattleback/output.h>

#include <inttypes.h>
#include <malloc.h>

#define BODIES_MAX 12

static char folder[SCRATCH_SIZE];
static char path[2 * SCRATCH_SIZE];
static char partPath[2 * SCRATCH_SIZE];

static int setup(void** state)
{
    (void)state;
    makeScratch(folder);
    (void)snprintf(path, sizeof path, "%s/run.rbr", folder);
    (void)snprintf(partPath, sizeof partPath, "%s/run.rbr.part", folder);
    return 0;
}

static int teardown(void** state)
{
    (void)state;
    removeScratch(folder);
    return 0;
}

// A frame with its own memory.
typedef struct OwnFrame {
    rbFrame frame;
    rbVec3 positions[BODIES_MAX];
    rbQuat orientations[BODIES_MAX];
    rbVec3 linearVelocities[BODIES_MAX];
    rbVec3 angularVelocities[BODIES_MAX];
} OwnFrame;

static void fillBits(rbRandom* random, void* target, size_t doubleCount)
{
    double* values = target;
    for (size_t i = 0; i < doubleCount; ++i) {
        values[i] = randomBits(random);
    }
}

static void makeFrame(rbRandom* random, int bodyCount, OwnFrame* own)
{
    size_t n = (size_t)bodyCount;
    own->frame = (rbFrame){
        .time = randomBits(random),
        .bodyCount = bodyCount,
        .positions = own->positions,
        .orientations = own->orientations,
        .linearVelocities = own->linearVelocities,
        .angularVelocities = own->angularVelocities,
    };
    fillBits(random, &own->frame.ledger, sizeof own->frame.ledger / sizeof(double));
    fillBits(random, own->positions, 3 * n);
    fillBits(random, own->orientations, 4 * n);
    fillBits(random, own->linearVelocities, 3 * n);
    fillBits(random, own->angularVelocities, 3 * n);
}

static void makeEvent(rbRandom* random, rbRecordedEvent* event)
{
    memset(event, 0, sizeof *event);
    event->time = randomBits(random);
    event->kind = (uint32_t)rbRandom_Bits(random);
    event->bodyA = (uint32_t)rbRandom_Bits(random);
    event->bodyB =
        rbRandom_Index(random, 3) == 0 ? RB_RECORDED_NO_BODY : (uint32_t)rbRandom_Index(random, 5);
    event->energyChange = randomBits(random);
    event->law = (uint32_t)rbRandom_Bits(random);
    event->history = (uint32_t)rbRandom_Bits(random);
    fillBits(random, event->values, RB_RECORDED_VALUES);
}

static void checkSameFrame(const rbFrame* a, const rbFrame* b)
{
    size_t n = (size_t)a->bodyCount;
    assert_int_equal(a->bodyCount, b->bodyCount);
    assert_memory_equal(&a->time, &b->time, sizeof(double));
    assert_memory_equal(&a->ledger, &b->ledger, sizeof a->ledger);
    if (n > 0) {
        assert_memory_equal(a->positions, b->positions, n * sizeof(rbVec3));
        assert_memory_equal(a->orientations, b->orientations, n * sizeof(rbQuat));
        assert_memory_equal(a->linearVelocities, b->linearVelocities, n * sizeof(rbVec3));
        assert_memory_equal(a->angularVelocities, b->angularVelocities, n * sizeof(rbVec3));
    }
}

static void checkSameEvent(const rbRecordedEvent* a, const rbRecordedEvent* b)
{
    assert_memory_equal(&a->time, &b->time, sizeof a->time);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->bodyA, b->bodyA);
    assert_int_equal(a->bodyB, b->bodyB);
    assert_memory_equal(&a->energyChange, &b->energyChange, sizeof a->energyChange);
    assert_int_equal(a->law, b->law);
    assert_int_equal(a->history, b->history);
    assert_memory_equal(a->values, b->values, sizeof a->values);
}

static const char* const names[BODIES_MAX] = {
    "ground",      "box", "",  "Kiste \"7\"", "\xc3\xa4", "a,b",
    "line\nbreak", "8",   "9", "10",          "11",       "12"};
static const unsigned char meshBytes[] = {'o', 0, 'b', 'j', 0xff, 0};

static rbRecordingHeader makeHeader(int bodyCount, const rbAttachment* attachments, int count)
{
    return (rbRecordingHeader){
        .sceneText = "{\"bodies\": []}",
        .settingsText = "{\"engine\": \"event\", \"duration\": 1}",
        .bodyNames = names,
        .bodyCount = bodyCount,
        .attachments = attachments,
        .attachmentCount = count,
    };
}

static void checkHeader(const rbRecordingHeader* read, const rbRecordingHeader* written)
{
    assert_string_equal(read->programVersion, rbGetVersion());
    assert_string_equal(read->sceneText, written->sceneText);
    assert_string_equal(read->settingsText, written->settingsText);
    assert_int_equal(read->bodyCount, written->bodyCount);
    for (int i = 0; i < read->bodyCount; ++i) {
        assert_string_equal(read->bodyNames[i], written->bodyNames[i]);
    }
    assert_int_equal(read->attachmentCount, written->attachmentCount);
    for (int i = 0; i < read->attachmentCount; ++i) {
        assert_string_equal(read->attachments[i].name, written->attachments[i].name);
        assert_int_equal(read->attachments[i].byteCount, written->attachments[i].byteCount);
        if (read->attachments[i].byteCount > 0) {
            assert_memory_equal(read->attachments[i].bytes, written->attachments[i].bytes,
                                read->attachments[i].byteCount);
        }
    }
}

// Writes frames and events made from a seed, reads them back in order and at random.
static void roundTrip(uint64_t seed, int bodyCount, int frameCount, int eventsPerFrame)
{
    static const rbAttachment attachments[] = {{"mesh/a.obj", meshBytes, sizeof meshBytes},
                                               {"empty", NULL, 0}};
    rbRecordingHeader header = makeHeader(bodyCount, attachments, bodyCount % 3);
    rbError error = {0};
    (void)remove(path);
    rbRecordingWriter* writer = rbCreateRecording(path, &header, &error);
    assert_non_null(writer);
    rbRandom random = {seed};
    OwnFrame own;
    int eventCount = 0;
    for (int i = 0; i < frameCount; ++i) {
        makeFrame(&random, bodyCount, &own);
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &own.frame, &error), RB_STATUS_OK);
        for (int j = 0; j < eventsPerFrame; ++j) {
            rbRecordedEvent event;
            makeEvent(&random, &event);
            assert_int_equal(rbRecordingWriter_WriteEvents(writer, &event, 1, &error),
                             RB_STATUS_OK);
            eventCount += 1;
        }
        if (i % 37 == 36) {
            assert_int_equal(rbRecordingWriter_Flush(writer, &error), RB_STATUS_OK);
        }
    }
    assert_false(exists(path));
    assert_int_equal(rbRecordingWriter_Finish(writer, seed, &error), RB_STATUS_OK);
    assert_false(exists(partPath));
    rbRecording* recording = rbOpenRecording(path, &error);
    assert_non_null(recording);
    checkHeader(rbRecording_GetHeader(recording), &header);
    rbRecordingInfo info = rbRecording_GetInfo(recording);
    assert_int_equal(info.condition, RB_RECORDING_COMPLETE);
    assert_null(info.trouble);
    assert_int_equal(info.frameCount, frameCount);
    assert_int_equal(info.eventCount, eventCount);
    assert_int_equal(info.finalHash, seed);
    random.state = seed;
    int64_t eventIndex = 0;
    rbFrame frame;
    for (int i = 0; i < frameCount; ++i) {
        makeFrame(&random, bodyCount, &own);
        assert_int_equal(rbRecording_ReadFrame(recording, i, &frame, &error), RB_STATUS_OK);
        checkSameFrame(&frame, &own.frame);
        for (int j = 0; j < eventsPerFrame; ++j) {
            rbRecordedEvent written;
            rbRecordedEvent read;
            makeEvent(&random, &written);
            assert_int_equal(rbRecording_ReadEvents(recording, eventIndex++, 1, &read, &error),
                             RB_STATUS_OK);
            checkSameEvent(&read, &written);
        }
    }
    assert_int_equal(rbRecording_ReadFrame(recording, frameCount, &frame, NULL), RB_STATUS_INVALID);
    assert_int_equal(rbRecording_ReadFrame(recording, -1, &frame, NULL), RB_STATUS_INVALID);
    rbRecordedEvent none;
    assert_int_equal(rbRecording_ReadEvents(recording, eventCount, 1, &none, NULL),
                     RB_STATUS_INVALID);
    rbCloseRecording(recording);
}

// L-110, B-89
static void randomFramesComeBackBitForBit(void** state)
{
    (void)state;
    uint64_t before = rbGetAllocatedBytes();
    rbRandom random = {rbTest_Seed(41)};
    int count = rbTest_Count(60, 2000);
    for (int i = 0; i < count; ++i) {
        uint64_t seed = rbRandom_Bits(&random) | 1u;
        roundTrip(seed, rbRandom_Index(&random, BODIES_MAX + 1), rbRandom_Index(&random, 150),
                  rbRandom_Index(&random, 6));
    }
    roundTrip(7, 0, 0, 0);
    roundTrip(8, 2, 70, 40); // several chunks of events between two of frames
    assert_int_equal(rbGetAllocatedBytes(), before);
}

static void framesAreReadInAnyOrder(void** state)
{
    (void)state;
    enum {
        FRAMES = 300
    };
    rbRecordingHeader header = makeHeader(1, NULL, 0);
    rbRecordingWriter* writer = rbCreateRecording(path, &header, NULL);
    assert_non_null(writer);
    OwnFrame own;
    rbRandom random = {rbTest_Seed(42)};
    rbRecordedEvent events[FRAMES * 5];
    memset(events, 0, sizeof events);
    for (int i = 0; i < FRAMES; ++i) {
        makeFrame(&random, 1, &own);
        own.frame.time = i;
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &own.frame, NULL), RB_STATUS_OK);
    }
    for (int i = 0; i < FRAMES * 5; ++i) {
        events[i].time = i;
    }
    assert_int_equal(rbRecordingWriter_WriteEvents(writer, events, FRAMES * 5, NULL), RB_STATUS_OK);
    assert_int_equal(rbRecordingWriter_Finish(writer, 0, NULL), RB_STATUS_OK);
    rbRecording* recording = rbOpenRecording(path, NULL);
    assert_non_null(recording);
    for (int i = 0; i < 500; ++i) {
        int index = rbRandom_Index(&random, FRAMES);
        rbFrame frame;
        assert_int_equal(rbRecording_ReadFrame(recording, index, &frame, NULL), RB_STATUS_OK);
        checkNear(frame.time, index, 0.0);
        int first = rbRandom_Index(&random, FRAMES * 5);
        int count = rbRandom_Index(&random, FRAMES * 5 - first + 1);
        rbRecordedEvent read[FRAMES * 5];
        assert_int_equal(rbRecording_ReadEvents(recording, first, count, read, NULL), RB_STATUS_OK);
        for (int j = 0; j < count; ++j) {
            checkNear(read[j].time, first + j, 0.0);
        }
    }
    rbCloseRecording(recording);
}

// The column code alone, on tables of every kind.
static void columnCodeInverts(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(43)};
    int count = rbTest_Count(2000, 50000);
    for (int c = 0; c < count; ++c) {
        uint64_t rows[20 * 9];
        uint64_t back[20 * 9];
        unsigned char bytes[9 + 8 * 20 * 9];
        size_t rowCount = 1 + (size_t)rbRandom_Index(&random, 20);
        size_t columnCount = 1 + (size_t)rbRandom_Index(&random, 9);
        for (size_t i = 0; i < rowCount; ++i) {
            for (size_t j = 0; j < columnCount; ++j) {
                uint64_t smooth = i * i * i * (j + 1) - 7 * i * i + rbRandom_Bits(&random) % 2;
                rows[i * columnCount + j] = j % 3 == 0 ? rbRandom_Bits(&random) : smooth;
            }
        }
        assert_int_equal(rbColumnCodeSize(rowCount, columnCount),
                         columnCount + 8 * rowCount * columnCount);
        rbEncodeColumns(rows, rowCount, columnCount, bytes);
        assert_true(rbDecodeColumns(bytes, rowCount, columnCount, back));
        assert_memory_equal(rows, back, rowCount * columnCount * sizeof rows[0]);
        bytes[columnCount - 1] = RB_RECORDING_ORDER_MAX + 1;
        assert_false(rbDecodeColumns(bytes, rowCount, columnCount, back));
    }
}

// A cubic through integers needs no bits after its first four words.
static void smoothColumnsHaveSmallResiduals(void** state)
{
    (void)state;
    enum {
        ROWS = 32
    };
    uint64_t rows[ROWS];
    unsigned char bytes[1 + 8 * ROWS];
    for (uint64_t i = 0; i < ROWS; ++i) {
        rows[i] = 1000000 - 777 * i + 55 * i * i - 3 * i * i * i;
    }
    rbEncodeColumns(rows, ROWS, 1, bytes);
    assert_int_equal(bytes[0], 4);
    for (size_t plane = 0; plane < 8; ++plane) {
        for (size_t i = 4; i < ROWS; ++i) {
            assert_int_equal(bytes[1 + plane * ROWS + i], 0);
        }
    }
}

// One tumbling body in free flight; exact enough to be smooth.
static void makeFlight(int step, OwnFrame* own)
{
    double t = 1e-3 * step;
    double c = cos(0.7 * t);
    double s = sin(0.7 * t);
    memset(own, 0, sizeof *own);
    own->frame = (rbFrame){
        .time = t,
        .bodyCount = 2,
        .positions = own->positions,
        .orientations = own->orientations,
        .linearVelocities = own->linearVelocities,
        .angularVelocities = own->angularVelocities,
    };
    own->frame.ledger.kineticTranslational = 0.5 * (1.0 + (3.0 - 9.81 * t) * (3.0 - 9.81 * t));
    own->frame.ledger.potential = 9.81 * (3 * t - 4.905 * t * t);
    own->frame.ledger.total = 5.0;
    own->frame.ledger.momentum = (rbVec3){1, 0, 3 - 9.81 * t};
    own->positions[0] = (rbVec3){t, 0.25, 3 * t - 4.905 * t * t};
    own->orientations[0] = (rbQuat){c, 0.6 * s, 0.0, 0.8 * s};
    own->linearVelocities[0] = (rbVec3){1, 0, 3 - 9.81 * t};
    own->angularVelocities[0] = (rbVec3){1.4 * 0.6, 0, 1.4 * 0.8};
    own->orientations[1] = RB_QUAT_IDENTITY; // the ground
}

static void smoothFlightCompresses(void** state)
{
    (void)state;
    enum {
        FRAMES = 4000
    };
    rbRecordingHeader header = makeHeader(2, NULL, 0);
    rbRecordingWriter* writer = rbCreateRecording(path, &header, NULL);
    assert_non_null(writer);
    OwnFrame own;
    for (int i = 0; i < FRAMES; ++i) {
        makeFlight(i, &own);
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &own.frame, NULL), RB_STATUS_OK);
    }
    assert_int_equal(rbRecordingWriter_Finish(writer, 0, NULL), RB_STATUS_OK);
    rbRecording* recording = rbOpenRecording(path, NULL);
    assert_non_null(recording);
    double raw = 8.0 * FRAMES * (double)rbFrameWordCount(2);
    double stored = (double)rbRecording_GetInfo(recording).byteCount;
    print_message("smooth flight: %.0f bytes of doubles stored in %.0f, ratio %.2f\n", raw, stored,
                  raw / stored);
    assert_true(raw / stored > 6.0);
    rbCloseRecording(recording);
}

static void writerAllocatesNothingAfterWarmUp(void** state)
{
    (void)state;
    rbRecordingHeader header = makeHeader(2, NULL, 0);
    rbRecordingWriter* writer = rbCreateRecording(path, &header, NULL);
    assert_non_null(writer);
    OwnFrame own;
    rbRecordedEvent event = {.kind = 3};
    uint64_t allocations = rbGetAllocationCount();
    size_t heap = 0;
    for (int i = 0; i < 3000; ++i) {
        makeFlight(i, &own);
        event.time = own.frame.time;
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &own.frame, NULL), RB_STATUS_OK);
        assert_int_equal(rbRecordingWriter_WriteEvents(writer, &event, 1, NULL), RB_STATUS_OK);
        if (i == 1000) {
            heap = mallinfo2().uordblks + mallinfo2().hblkhd; // zstd uses malloc itself
        }
    }
    assert_int_equal(mallinfo2().uordblks + mallinfo2().hblkhd, heap);
    assert_int_equal(rbGetAllocationCount(), allocations);
    rbRecordingWriter_Abandon(writer);
}

// A small complete recording of two chunks of frames and two of events, in memory.
static unsigned char* makeSmall(size_t* size, OwnFrame* frames, int frameCount)
{
    static const rbAttachment attachments[] = {{"mesh/a.obj", meshBytes, sizeof meshBytes}};
    rbRecordingHeader header = makeHeader(2, attachments, 1);
    rbRecordingWriter* writer = rbCreateRecording(path, &header, NULL);
    assert_non_null(writer);
    rbRandom random = {rbTest_Seed(44)};
    for (int i = 0; i < frameCount; ++i) {
        rbRecordedEvent event;
        if (i % 2 == 0) {
            makeFrame(&random, 2, &frames[i]);
        } else {
            makeFlight(i, &frames[i]);
        }
        makeEvent(&random, &event);
        rbRecordedAction action = {i, "{\"do\": \"pause\"}"};
        assert_int_equal(rbRecordingWriter_WriteActions(writer, &action, 1, NULL), RB_STATUS_OK);
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &frames[i].frame, NULL),
                         RB_STATUS_OK);
        assert_int_equal(rbRecordingWriter_WriteEvents(writer, &event, 1, NULL), RB_STATUS_OK);
        if (i == frameCount / 2) {
            assert_int_equal(rbRecordingWriter_Flush(writer, NULL), RB_STATUS_OK);
        }
    }
    assert_int_equal(rbRecordingWriter_Finish(writer, 99, NULL), RB_STATUS_OK);
    return (unsigned char*)readWhole(path, size);
}

// Opens the bytes; checks that every frame it returns is right. Returns the number, -1 if refused.
static int64_t countGoodFrames(const unsigned char* bytes, size_t size, const OwnFrame* frames,
                               rbRecordingCondition* condition)
{
    rbError error = {0};
    rbRecording* recording = rbOpenRecordingMemory(bytes, size, &error);
    *condition = RB_RECORDING_CONDITION_COUNT;
    if (recording == NULL) {
        assert_int_not_equal(error.status, RB_STATUS_OK);
        assert_true(error.message[0] != '\0');
        return -1;
    }
    rbRecordingInfo info = rbRecording_GetInfo(recording);
    for (int64_t i = 0; i < info.frameCount; ++i) {
        rbFrame frame;
        assert_int_equal(rbRecording_ReadFrame(recording, i, &frame, &error), RB_STATUS_OK);
        checkSameFrame(&frame, &frames[i].frame);
    }
    int actionCount = 0;
    const rbRecordedAction* actions = rbRecording_GetActions(recording, &actionCount);
    assert_int_equal(info.actionCount, actionCount);
    assert_true(actionCount >= info.frameCount); // frames come after the events that led to them
    for (int i = 0; i < actionCount; ++i) {
        checkNear(actions[i].time, i, 0.0);
        assert_string_equal(actions[i].text, "{\"do\": \"pause\"}");
    }
    rbRecordedEvent events[64];
    assert_true(info.eventCount <= 64);
    assert_int_equal(rbRecording_ReadEvents(recording, 0, (int)info.eventCount, events, &error),
                     RB_STATUS_OK);
    if (info.condition != RB_RECORDING_COMPLETE) {
        assert_non_null(info.trouble);
        assert_non_null(strstr(info.trouble->place, "chunk "));
        assert_non_null(strstr(info.trouble->message, "at byte "));
        assert_int_equal(info.finalHash, 0);
    }
    *condition = info.condition;
    rbCloseRecording(recording);
    return info.frameCount;
}

// Cut after every byte: refused or opened as truncated, and the number of good frames only grows.
static void everyCutLeavesAPrefix(void** state)
{
    (void)state;
    enum {
        FRAMES = 9
    };
    OwnFrame frames[FRAMES];
    size_t size;
    unsigned char* bytes = makeSmall(&size, frames, FRAMES);
    int64_t last = -1;
    for (size_t cut = 0; cut <= size; ++cut) {
        // A copy of exactly that length, so that a sanitizer detects any read beyond it.
        unsigned char* copy = malloc(cut + (cut == 0));
        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        rbRecordingCondition condition;
        int64_t good = countGoodFrames(copy, cut, frames, &condition);
        free(copy);
        assert_true(good >= last);
        last = good;
        if (cut < size) {
            assert_true(good < 0 || condition == RB_RECORDING_CUT_OFF);
        } else {
            assert_int_equal(condition, RB_RECORDING_COMPLETE);
        }
    }
    assert_int_equal(last, FRAMES);
    free(bytes);
}

// Every byte changed, in every bit and entirely: never accepted as complete, and no wrong frame is
// read.
static void everyFlippedByteIsFound(void** state)
{
    (void)state;
    enum {
        FRAMES = 6
    };
    static const unsigned char masks[] = {1, 2, 4, 8, 16, 32, 64, 128, 255};
    OwnFrame frames[FRAMES];
    size_t size;
    unsigned char* bytes = makeSmall(&size, frames, FRAMES);
    int maskCount = rbTest_Count((int)sizeof masks, (int)sizeof masks);
    for (size_t at = 0; at < size; ++at) {
        for (int m = 0; m < maskCount; ++m) {
            bytes[at] ^= masks[m];
            rbRecordingCondition condition;
            int64_t good = countGoodFrames(bytes, size, frames, &condition);
            assert_true(good < 0 || condition == RB_RECORDING_DAMAGED);
            bytes[at] ^= masks[m];
        }
    }
    free(bytes);
}

// Removed or swapped chunks are detected although each is valid in itself.
static void missingChunkIsFound(void** state)
{
    (void)state;
    enum {
        FRAMES = 6
    };
    OwnFrame frames[FRAMES];
    size_t size;
    unsigned char* bytes = makeSmall(&size, frames, FRAMES);
    size_t at = RB_RECORDING_SIGNATURE_SIZE;
    int removed = 0;
    while (at < size) {
        size_t chunk = RB_RECORDING_CHUNK_HEADER_SIZE + rbGetWord32(bytes + at + 20);
        unsigned char* copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, bytes, at);
        memcpy(copy + at, bytes + at + chunk, size - at - chunk);
        rbRecordingCondition condition;
        (void)countGoodFrames(copy, size - chunk, frames, &condition);
        assert_int_not_equal(condition, RB_RECORDING_COMPLETE);
        free(copy);
        at += chunk;
        removed += 1;
    }
    assert_int_equal(at, size);
    assert_true(removed >= 7);
    bytes = realloc(bytes, size + 1);
    assert_non_null(bytes);
    bytes[size] = 0;
    rbRecordingCondition condition;
    assert_int_equal(countGoodFrames(bytes, size + 1, frames, &condition), FRAMES);
    assert_int_equal(condition, RB_RECORDING_DAMAGED);
    free(bytes);
}

static void damageIsReportedWithItsPlace(void** state)
{
    (void)state;
    enum {
        FRAMES = 6
    };
    OwnFrame frames[FRAMES];
    size_t size;
    unsigned char* bytes = makeSmall(&size, frames, FRAMES);
    // The last chunk is DONE.
    size_t place = RB_RECORDING_SIGNATURE_SIZE;
    while (memcmp(bytes + place, "DONE", 4) != 0) {
        place += RB_RECORDING_CHUNK_HEADER_SIZE + rbGetWord32(bytes + place + 20);
        assert_true(place < size);
    }
    bytes[size - 1] ^= 1;
    writeWhole(path, bytes, size);
    rbRecording* recording = rbOpenRecording(path, NULL);
    assert_non_null(recording);
    rbRecordingInfo info = rbRecording_GetInfo(recording);
    char expected[64];
    (void)snprintf(expected, sizeof expected, "chunk %" PRId64 " at byte %zu", info.chunkCount,
                   place);
    assert_string_equal(info.trouble->place, expected);
    assert_string_equal(info.trouble->file, path);
    assert_int_equal(info.trouble->status, RB_STATUS_CORRUPT);
    assert_int_equal(info.frameCount, FRAMES);
    rbCloseRecording(recording);
    free(bytes);
}

static void hugeClaimsAreRefusedWithoutMemory(void** state)
{
    (void)state;
    uint64_t before = rbGetAllocatedBytes();
    const uint32_t sizes[][2] = {{0xFFFFFFFFu, 4}, {4, 0xFFFFFFFFu}, {1u << 28, 100}};
    for (int i = 0; i < 3; ++i) {
        unsigned char bytes[RB_RECORDING_SIGNATURE_SIZE + RB_RECORDING_CHUNK_HEADER_SIZE + 4];
        memset(bytes, 0, sizeof bytes);
        uint64_t checksum;
        rbEncodeSignature(bytes, &checksum);
        rbChunkHeader header = {.tag = rbChunkTag(RB_CHUNK_INFO),
                                .count = 2,
                                .codec = RB_CODEC_ZSTD,
                                .rawSize = sizes[i][0],
                                .storedSize = sizes[i][1]};
        rbEncodeChunkHeader(&header, checksum, bytes + RB_RECORDING_SIGNATURE_SIZE);
        rbError error = {0};
        uint64_t allocations = rbGetAllocationCount();
        assert_null(rbOpenRecordingMemory(bytes, sizeof bytes, &error));
        assert_int_equal(error.status, RB_STATUS_LIMIT);
        assert_true(rbGetAllocationCount() - allocations <= 1); // the reader itself
    }
    assert_int_equal(rbGetAllocatedBytes(), before);
}

// Found by the fuzzer: a valid header with nothing behind it was accepted as a recording.
static void emptyChunksAreRefused(void** state)
{
    (void)state;
    for (uint32_t codec = RB_CODEC_STORED; codec <= RB_CODEC_COUNT; ++codec) {
        unsigned char bytes[RB_RECORDING_SIGNATURE_SIZE + RB_RECORDING_CHUNK_HEADER_SIZE];
        uint64_t checksum;
        rbEncodeSignature(bytes, &checksum);
        rbChunkHeader header = {.tag = rbChunkTag(RB_CHUNK_INFO),
                                .codec = codec,
                                .payloadChecksum = rbHashPayload(NULL, 0)};
        rbEncodeChunkHeader(&header, checksum, bytes + RB_RECORDING_SIGNATURE_SIZE);
        rbError error = {0};
        assert_null(rbOpenRecordingMemory(bytes, sizeof bytes, &error));
        assert_int_equal(error.status, RB_STATUS_CORRUPT);
    }
}

static void otherFilesAreRefused(void** state)
{
    (void)state;
    static const struct {
        const char* bytes;
        size_t size;
        rbStatus status;
    } cases[] = {
        {"", 0, RB_STATUS_SYNTAX},
        {"{\"bodies\": []}, a scene and no recording", 40, RB_STATUS_SYNTAX},
        {"\x89RBR", 4, RB_STATUS_CORRUPT},
        {"\x89RBR\n\x1a\n and more of a file that went through text mode", 40, RB_STATUS_SYNTAX},
    };
    for (int i = 0; i < 4; ++i) {
        rbError error = {0};
        assert_null(rbOpenRecordingMemory(cases[i].bytes, cases[i].size, &error));
        assert_int_equal(error.status, cases[i].status);
    }
    unsigned char bytes[RB_RECORDING_SIGNATURE_SIZE];
    uint64_t checksum;
    rbEncodeSignature(bytes, &checksum);
    rbPutWord32(bytes + 8, RB_RECORDING_VERSION + 1);
    rbPutWord64(bytes + 16, rbHashPayload(bytes, 16));
    rbError error = {0};
    assert_null(rbOpenRecordingMemory(bytes, sizeof bytes, &error));
    assert_int_equal(error.status, RB_STATUS_UNSUPPORTED);
    assert_null(rbOpenRecording(path, &error));
    assert_int_equal(error.status, RB_STATUS_NOT_FOUND);
    assert_null(rbOpenRecording(folder, &error));
    assert_int_equal(error.status, RB_STATUS_IO);
    writeWhole(partPath, "x", 1);
    assert_null(rbOpenRecording(path, &error));
    assert_non_null(strstr(error.message, ".part"));
}

// The seed of the fuzz target was written by version 1 of the format.
static void recordingsOfVersion1AreRead(void** state)
{
    (void)state;
    rbError error = {0};
    rbRecording* recording =
        rbOpenRecording(RB_SOURCE_DIR "/test/fuzz/corpus/recording/two.rbr", &error);
    assert_non_null(recording);
    rbRecordingInfo info = rbRecording_GetInfo(recording);
    assert_int_equal(info.formatVersion, 1);
    assert_int_equal(info.condition, RB_RECORDING_COMPLETE);
    assert_int_equal(info.frameCount, 100);
    assert_int_equal(info.eventCount, 34);
    for (int i = 0; i < 34; ++i) {
        rbRecordedEvent event;
        memset(&event, 0xff, sizeof event);
        assert_int_equal(rbRecording_ReadEvents(recording, i, 1, &event, &error), RB_STATUS_OK);
        checkNear(event.time, 0.01 * (3 * i), 0.0);
        assert_int_equal(event.kind, 1);
        assert_int_equal(event.bodyA, 0);
        assert_int_equal(event.bodyB, 1);
        assert_int_equal(event.law, 0);
        assert_int_equal(event.history, 0);
        for (int k = 0; k < RB_RECORDED_VALUES; ++k) {
            checkNear(event.values[k], 0.0, 0.0);
        }
    }
    rbFrame frame;
    assert_int_equal(rbRecording_ReadFrame(recording, 50, &frame, &error), RB_STATUS_OK);
    checkNear(frame.positions[1].x, 0.5, 0.0);
    rbCloseRecording(recording);
}

static void abandonedRecordingStaysReadable(void** state)
{
    (void)state;
    rbRecordingHeader header = makeHeader(2, NULL, 0);
    rbRecordingWriter* writer = rbCreateRecording(path, &header, NULL);
    assert_non_null(writer);
    OwnFrame own;
    for (int i = 0; i < 100; ++i) {
        makeFlight(i, &own);
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &own.frame, NULL), RB_STATUS_OK);
    }
    // Readable while it is written: the frames of the chunks written so far.
    rbRecording* recording = rbOpenRecording(partPath, NULL);
    assert_non_null(recording);
    assert_int_equal(rbRecording_GetInfo(recording).condition, RB_RECORDING_CUT_OFF);
    assert_int_equal(rbRecording_GetInfo(recording).frameCount, 64);
    rbCloseRecording(recording);
    rbRecordingWriter_Abandon(writer);
    assert_false(exists(path));
    recording = rbOpenRecording(partPath, NULL);
    assert_non_null(recording);
    assert_int_equal(rbRecording_GetInfo(recording).frameCount, 100);
    rbFrame frame;
    assert_int_equal(rbRecording_ReadFrame(recording, 99, &frame, NULL), RB_STATUS_OK);
    checkSameFrame(&frame, &own.frame);
    rbCloseRecording(recording);
}

static void fullDiskLeavesTheGoodFrames(void** state)
{
    (void)state;
    rbRecordingHeader header = makeHeader(BODIES_MAX, NULL, 0);
    static OwnFrame frames[400];
    rbRandom random = {rbTest_Seed(45)};
    struct rlimit old;
    limitFileSize(200000, &old);
    rbRecordingWriter* writer = rbCreateRecording(path, &header, NULL);
    rbError error = {0};
    rbStatus status = RB_STATUS_OK;
    int written = 0;
    for (int i = 0; i < 400 && writer != NULL && status == RB_STATUS_OK; ++i) {
        makeFrame(&random, BODIES_MAX, &frames[i]);
        status = rbRecordingWriter_WriteFrame(writer, &frames[i].frame, &error);
        written += 1;
    }
    rbStatus again =
        writer != NULL ? rbRecordingWriter_WriteFrame(writer, &frames[0].frame, NULL) : status;
    rbStatus end = writer != NULL ? rbRecordingWriter_Finish(writer, 1, NULL) : status;
    restoreFileSize(&old);
    assert_int_equal(status, RB_STATUS_IO);
    assert_int_equal(again, RB_STATUS_IO);
    assert_int_equal(end, RB_STATUS_IO);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, strerror(EFBIG)));
    assert_false(exists(path));
    rbRecording* recording = rbOpenRecording(partPath, NULL);
    assert_non_null(recording);
    rbRecordingInfo info = rbRecording_GetInfo(recording);
    assert_int_equal(info.condition, RB_RECORDING_CUT_OFF);
    assert_true(info.frameCount > 0 && info.frameCount < written);
    for (int64_t i = 0; i < info.frameCount; ++i) {
        rbFrame frame;
        assert_int_equal(rbRecording_ReadFrame(recording, i, &frame, NULL), RB_STATUS_OK);
        checkSameFrame(&frame, &frames[i].frame);
    }
    rbCloseRecording(recording);
}

// The limits of attachments are checked before a byte of them is read: a sum of exactly the limit
// passes on to the limit of one file, one byte more does not, and sizes of any magnitude do not
// overflow the sum.
static void attachmentsBeyondTheLimitsAreRefused(void** state)
{
    (void)state;
    const size_t most = RB_RECORDING_TEXT_MAX;
    const struct {
        size_t sizes[5];
        int count;
        const char* words;
    } cases[] = {
        {{most + 1, most, most, most - 1}, 4, "the attached file 'a.obj'"},
        {{most + 1, most, most, most}, 4, "together"},
        {{most, most, most, most, 1}, 5, "together"},
        {{SIZE_MAX, SIZE_MAX}, 2, "the attached file 'a.obj'"},
        {{SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}, 4, "together"},
    };
    static const unsigned char byte = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbAttachment attachments[5];
        for (int k = 0; k < 5; ++k) {
            attachments[k] = (rbAttachment){"a.obj", &byte, cases[i].sizes[k]};
        }
        rbRecordingHeader header = makeHeader(1, attachments, cases[i].count);
        rbError error = {0};
        uint64_t before = rbGetAllocatedBytes();
        assert_null(rbCreateRecording(path, &header, &error));
        assert_int_equal(error.status, RB_STATUS_LIMIT);
        assert_non_null(strstr(error.message, cases[i].words));
        assert_int_equal(rbGetAllocatedBytes(), before);
    }
}

static void unwritableRecordingIsRefused(void** state)
{
    (void)state;
    rbRecordingHeader header = makeHeader(1, NULL, 0);
    char below[2 * SCRATCH_SIZE];
    writeWhole(path, "x", 1);
    (void)snprintf(below, sizeof below, "%s/run.rbr/a.rbr", folder);
    const char* paths[] = {below, "/dev/full"};
    for (int i = 0; i < 2; ++i) {
        rbError error = {0};
        uint64_t before = rbGetAllocatedBytes();
        assert_null(rbCreateRecording(paths[i], &header, &error));
        assert_int_equal(error.status, RB_STATUS_IO);
        assert_non_null(strstr(error.message, paths[i]));
        assert_int_equal(rbGetAllocatedBytes(), before);
    }
    header.bodyCount = RB_RECORDING_BODY_MAX + 1;
    rbError error = {0};
    assert_null(rbCreateRecording(path, &header, &error));
    assert_int_equal(error.status, RB_STATUS_LIMIT);
    assert_int_equal(countEntries(folder), 1);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
RB_TEST_GROUP(test_output_recording, WITH_FOLDER(randomFramesComeBackBitForBit),
              WITH_FOLDER(framesAreReadInAnyOrder), cmocka_unit_test(columnCodeInverts),
              cmocka_unit_test(smoothColumnsHaveSmallResiduals),
              WITH_FOLDER(smoothFlightCompresses), WITH_FOLDER(writerAllocatesNothingAfterWarmUp),
              WITH_FOLDER(everyCutLeavesAPrefix), WITH_FOLDER(everyFlippedByteIsFound),
              WITH_FOLDER(missingChunkIsFound), WITH_FOLDER(damageIsReportedWithItsPlace),
              WITH_FOLDER(hugeClaimsAreRefusedWithoutMemory),
              cmocka_unit_test(emptyChunksAreRefused), WITH_FOLDER(otherFilesAreRefused),
              cmocka_unit_test(recordingsOfVersion1AreRead),
              WITH_FOLDER(abandonedRecordingStaysReadable),
              WITH_FOLDER(fullDiskLeavesTheGoodFrames),
              WITH_FOLDER(attachmentsBeyondTheLimitsAreRefused),
              WITH_FOLDER(unwritableRecordingIsRefused));
