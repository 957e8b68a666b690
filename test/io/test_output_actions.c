// Actions in recordings: user actions are read back as they were written.
#include "io/output/recording_format.h"
#include "output_support.h"

#include <rattleback/output.h>

#include <math.h>

static char folder[SCRATCH_SIZE];
static char path[2 * SCRATCH_SIZE];

static int setup(void** state)
{
    (void)state;
    makeScratch(folder);
    (void)snprintf(path, sizeof path, "%s/run.rbr", folder);
    return 0;
}

static int teardown(void** state)
{
    (void)state;
    removeScratch(folder);
    return 0;
}

static rbRecordingWriter* begin(void)
{
    rbRecordingHeader header = {.sceneText = "{}"};
    rbRecordingWriter* writer = rbCreateRecording(path, &header, NULL);
    assert_non_null(writer);
    return writer;
}

// Some text whose length and letters follow from a number.
static size_t makeText(rbRandom* random, char* text)
{
    size_t length = (size_t)rbRandom_Index(random, 2000);
    for (size_t i = 0; i < length; ++i) {
        text[i] = (char)(1 + rbRandom_Index(random, 255));
    }
    text[length] = '\0';
    return length;
}

static void randomActionsComeBack(void** state)
{
    (void)state;
    uint64_t seed = rbTest_Seed(81);
    int count = rbTest_Count(500, 5000);
    rbRandom random = {seed};
    char text[2048];
    rbRecordingWriter* writer = begin();
    rbFrame frame = {.bodyCount = 0};
    for (int i = 0; i < count; ++i) {
        (void)makeText(&random, text);
        int tick = i / 3; // several at a time
        rbRecordedAction action = {tick * 0.1, text};
        assert_int_equal(rbRecordingWriter_WriteActions(writer, &action, 1, NULL), RB_STATUS_OK);
        frame.time = action.time;
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &frame, NULL), RB_STATUS_OK);
    }
    assert_int_equal(rbRecordingWriter_Finish(writer, 7, NULL), RB_STATUS_OK);
    rbRecording* recording = rbOpenRecording(path, NULL);
    assert_non_null(recording);
    rbRecordingInfo info = rbRecording_GetInfo(recording);
    assert_int_equal(info.condition, RB_RECORDING_COMPLETE);
    assert_int_equal(info.formatVersion, 3);
    assert_int_equal(info.actionCount, count);
    int read = 0;
    const rbRecordedAction* actions = rbRecording_GetActions(recording, &read);
    assert_int_equal(read, count);
    random.state = seed;
    for (int i = 0; i < count; ++i) {
        (void)makeText(&random, text);
        int tick = i / 3;
        checkNear(actions[i].time, tick * 0.1, 0.0);
        assert_string_equal(actions[i].text, text);
    }
    rbCloseRecording(recording);
}

static void badActionsAreRefusedAndTheRunGoesOn(void** state)
{
    (void)state;
    static char large[RB_RECORDING_ACTION_MAX + 2];
    memset(large, 'x', sizeof large - 1);
    const struct {
        rbRecordedAction action;
        rbStatus status;
        const char* words;
    } cases[] = {
        {{0.5, "{}"}, RB_STATUS_INVALID, "must not decrease"},
        {{NAN, "{}"}, RB_STATUS_INVALID, "must not decrease"},
        {{INFINITY, "{}"}, RB_STATUS_INVALID, "not finite"},
        {{2.0, large}, RB_STATUS_LIMIT, "the limit of a recording is 65536"},
    };
    rbRecordingWriter* writer = begin();
    rbRecordedAction good = {1.0, NULL}; // no text counts as an empty one
    assert_int_equal(rbRecordingWriter_WriteActions(writer, &good, 1, NULL), RB_STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbError error = {0};
        assert_int_equal(rbRecordingWriter_WriteActions(writer, &cases[i].action, 1, &error),
                         cases[i].status);
        assert_non_null(strstr(error.message, cases[i].words));
    }
    large[RB_RECORDING_ACTION_MAX] = '\0';
    rbRecordedAction longest = {1.0, large};
    assert_int_equal(rbRecordingWriter_WriteActions(writer, &longest, 1, NULL), RB_STATUS_OK);
    assert_int_equal(rbRecordingWriter_Finish(writer, 0, NULL), RB_STATUS_OK);
    rbRecording* recording = rbOpenRecording(path, NULL);
    assert_non_null(recording);
    int count = 0;
    const rbRecordedAction* actions = rbRecording_GetActions(recording, &count);
    assert_int_equal(count, 2);
    assert_string_equal(actions[0].text, "");
    assert_int_equal(strlen(actions[1].text), RB_RECORDING_ACTION_MAX);
    rbCloseRecording(recording);
}

// A file in memory whose chunks are valid except for the content that a test inserts.
typedef struct Forgery {
    unsigned char bytes[4096];
    size_t size;
    uint64_t checksum;
    uint32_t sequence;
} Forgery;

static void forge(Forgery* file, rbChunkType type, uint32_t count, const void* raw, size_t size)
{
    rbChunkHeader header = {.tag = rbChunkTag(type),
                            .sequence = file->sequence++,
                            .count = count,
                            .codec = RB_CODEC_STORED,
                            .rawSize = (uint32_t)size,
                            .storedSize = (uint32_t)size,
                            .payloadChecksum = rbHashPayload(raw, size)};
    rbEncodeChunkHeader(&header, file->checksum, file->bytes + file->size);
    file->checksum = header.headerChecksum;
    file->size += RB_RECORDING_CHUNK_HEADER_SIZE;
    memcpy(file->bytes + file->size, raw, size);
    file->size += size;
}

static void beginForgery(Forgery* file, uint32_t version)
{
    static const unsigned char info[16] = {0}; // no bodies, no attachments, two empty texts
    static const unsigned char scene[4] = {0};
    memset(file, 0, sizeof *file);
    rbEncodeSignature(file->bytes, &file->checksum);
    rbPutWord32(file->bytes + 8, version);
    file->checksum = rbHashPayload(file->bytes, 16);
    rbPutWord64(file->bytes + 16, file->checksum);
    file->size = RB_RECORDING_SIGNATURE_SIZE;
    forge(file, RB_CHUNK_INFO, 2, info, sizeof info);
    forge(file, RB_CHUNK_SCENE, 1, scene, sizeof scene);
}

static size_t putAction(unsigned char* target, double time, const char* text, size_t length)
{
    rbPutWord64(target, rbBitsOfDouble(time));
    rbPutWord32(target + 8, (uint32_t)length);
    memcpy(target + 12, text, length);
    return 12 + length;
}

static void checkForgery(Forgery* file, const char* words, int actionCount)
{
    rbRecording* recording = rbOpenRecordingMemory(file->bytes, file->size, NULL);
    assert_non_null(recording);
    rbRecordingInfo info = rbRecording_GetInfo(recording);
    int count = 0;
    (void)rbRecording_GetActions(recording, &count);
    assert_int_equal(count, actionCount);
    assert_int_equal(info.actionCount, actionCount);
    if (words == NULL) {
        assert_int_equal(info.condition, RB_RECORDING_COMPLETE);
    } else {
        assert_int_equal(info.condition, RB_RECORDING_DAMAGED);
        if (strstr(info.trouble->message, words) == NULL) {
            fail_msg("'%s' does not say '%s'", info.trouble->message, words);
        }
    }
    rbCloseRecording(recording);
}

// Valid checksums around nonsense.
static void forgedActionsAreFound(void** state)
{
    (void)state;
    unsigned char raw[256];
    unsigned char done[RB_RECORDING_DONE_SIZE] = {0};
    Forgery file;
    size_t size = putAction(raw, 1.0, "ab", 2);
    size_t both = size + putAction(raw + size, 2.0, "c", 1);
    const struct {
        double time;
        size_t length; // the size that the second text claims
        char letter;
        uint32_t count;
        size_t size;
        uint64_t counted;
        const char* words;
    } cases[] = {
        {2.0, 1, 'c', 2, both, 2, NULL},
        {2.0, 1, 'c', 2, both, 1, "counts 1 actions"},
        {0.5, 1, 'c', 2, both, 2, "follows"},
        {NAN, 1, 'c', 2, both, 2, "follows"},
        {2.0, 100, 'c', 2, both, 2, "malformed"},
        {2.0, 1, '\0', 2, both, 2, "malformed"},
        {2.0, 1, 'c', 1, both, 2, "bytes follow"},
        {2.0, 1, 'c', 3, both, 2, "does not match"},
        {2.0, 1, 'c', 0, both, 2, "does not match"},
        {2.0, 1, 'c', 2, size + 7, 2, "does not match"},
        {2.0, 1, 'c', 2, size + 10, 2, "malformed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        (void)putAction(raw + size, cases[i].time, &cases[i].letter, 1);
        rbPutWord32(raw + size + 8, (uint32_t)cases[i].length);
        beginForgery(&file, 3);
        forge(&file, RB_CHUNK_ACTIONS, cases[i].count, raw, cases[i].size);
        rbPutWord64(done + 24, cases[i].counted);
        forge(&file, RB_CHUNK_DONE, 1, done, sizeof done);
        bool isKept = cases[i].words == NULL || i == 1;
        checkForgery(&file, cases[i].words, isKept ? 2 : 0);
    }
    // Version 2 has no actions, and an end without their number.
    beginForgery(&file, 2);
    forge(&file, RB_CHUNK_ACTIONS, 1, raw, size);
    checkForgery(&file, "not the chunk that belongs here", 0);
    beginForgery(&file, 2);
    forge(&file, RB_CHUNK_DONE, 1, done, RB_RECORDING_DONE_SIZE_2);
    checkForgery(&file, NULL, 0);
    beginForgery(&file, 3);
    forge(&file, RB_CHUNK_DONE, 1, done, RB_RECORDING_DONE_SIZE_2);
    checkForgery(&file, "wrong size", 0);
}

// A seed of the fuzz target that was written by version 2 of the format.
static void recordingsOfVersion2AreRead(void** state)
{
    (void)state;
    rbRecording* recording =
        rbOpenRecording(RB_SOURCE_DIR "/test/fuzz/corpus/recording/two-2.rbr", NULL);
    assert_non_null(recording);
    rbRecordingInfo info = rbRecording_GetInfo(recording);
    assert_int_equal(info.formatVersion, 2);
    assert_int_equal(info.condition, RB_RECORDING_COMPLETE);
    assert_int_equal(info.frameCount, 100);
    assert_int_equal(info.eventCount, 34);
    assert_int_equal(info.actionCount, 0);
    rbRecordedEvent event;
    assert_int_equal(rbRecording_ReadEvents(recording, 33, 1, &event, NULL), RB_STATUS_OK);
    assert_int_equal(event.history, 0x21);
    rbCloseRecording(recording);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
RB_TEST_GROUP(test_output_actions, WITH_FOLDER(randomActionsComeBack),
              WITH_FOLDER(badActionsAreRefusedAndTheRunGoesOn),
              cmocka_unit_test(forgedActionsAreFound),
              cmocka_unit_test(recordingsOfVersion2AreRead));
