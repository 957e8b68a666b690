// Outputs that another writer continues: the same bytes as at once, and refusals that change
// nothing.
#include "base/core/memory.h"
#include "io/output/continuation.h"
#include "io/output/output_file.h"
#include "output_support.h"

#include <math.h>

static char folder[SCRATCH_SIZE];
static char path[2 * SCRATCH_SIZE];

static int setup(void** state)
{
    (void)state;
    makeScratch(folder);
    (void)snprintf(path, sizeof path, "%s/a", folder);
    return 0;
}

static int teardown(void** state)
{
    (void)state;
    removeScratch(folder);
    return 0;
}

// ------------------------------------------------------------------------------------ recordings

#define BODIES 2
#define FRAMES 150 // more than two chunks

static rbRecordingHeader makeHeader(void)
{
    static const char* const names[BODIES] = {"a", "b"};
    return (rbRecordingHeader){.sceneText = "{}", .bodyNames = names, .bodyCount = BODIES};
}

// A frame, three events before it, and now and then an action.
static void writeFrame(rbRecordingWriter* writer, int index)
{
    rbError error = {0};
    rbVec3 vectors[BODIES] = {{0.1 * index, 1.0, sin(index)}, {index, 0.0, cos(index)}};
    rbQuat turns[BODIES] = {{1.0, 0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    rbFrame frame = {.time = 0.1 * index,
                     .bodyCount = BODIES,
                     .positions = vectors,
                     .orientations = turns,
                     .linearVelocities = vectors,
                     .angularVelocities = vectors};
    rbRecordedAction action = {0.1 * index, "{\"do\":\"push\"}"};
    rbRecordedEvent events[3] = {{.time = 0.1 * index, .bodyA = 1, .energyChange = sin(index)}};
    if (index % 5 == 0) {
        assert_int_equal(rbRecordingWriter_WriteActions(writer, &action, 1, &error), RB_STATUS_OK);
    }
    assert_int_equal(rbRecordingWriter_WriteEvents(writer, events, 3, &error), RB_STATUS_OK);
    assert_int_equal(rbRecordingWriter_WriteFrame(writer, &frame, &error), RB_STATUS_OK);
}

// A recording that is saved after some frames and left after more of them, as by a crash, then
// continued. isDone: it was completed instead.
static char* writeInTwo(int saved, int left, bool isDone, size_t* size)
{
    rbError error = {0};
    rbRecordingHeader header = makeHeader();
    rbRecordingWriter* writer = rbCreateRecording(path, &header, &error);
    rbStateStream stream = {0};
    for (int i = 0; i < left; ++i) {
        if (i == saved) {
            assert_int_equal(rbRecordingWriter_Save(writer, &stream, &error), RB_STATUS_OK);
        }
        writeFrame(writer, i);
    }
    if (isDone) {
        assert_int_equal(rbRecordingWriter_Finish(writer, 1, &error), RB_STATUS_OK);
    } else {
        rbRecordingWriter_Abandon(writer);
    }
    rbStateStream loading = rbMakeLoadingStream(stream.bytes, stream.size);
    writer = rbContinueRecording(path, &header, &loading, &error);
    assert_non_null(writer);
    assert_true(rbStateStream_IsLoaded(&loading));
    for (int i = saved; i < FRAMES; ++i) {
        writeFrame(writer, i);
    }
    assert_int_equal(rbRecordingWriter_Finish(writer, 7, &error), RB_STATUS_OK);
    rbStateStream_Free(&stream);
    assert_int_equal(countEntries(folder), 1);
    return readWhole(path, size);
}

static void recordingsAreTheSame(void** state)
{
    (void)state;
    rbError error = {0};
    rbRecordingHeader header = makeHeader();
    rbRecordingWriter* writer = rbCreateRecording(path, &header, &error);
    for (int i = 0; i < FRAMES; ++i) {
        writeFrame(writer, i);
    }
    assert_int_equal(rbRecordingWriter_Finish(writer, 7, &error), RB_STATUS_OK);
    size_t size;
    char* whole = readWhole(path, &size);
    for (int saved = 0; saved < FRAMES; saved += 13) {
        size_t otherSize;
        int left = saved + 1 + 29 * saved % (FRAMES - saved);
        char* other = writeInTwo(saved, left, saved % 2 == 1, &otherSize);
        assert_int_equal(otherSize, size);
        assert_memory_equal(other, whole, size);
        free(other);
    }
    free(whole);
}

// ----------------------------------------------------------------------------------------- files

// Any cut of the bytes into writes, and any place, gives the same hash.
static void placesAreFoundAgain(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0xf11e)};
    rbOutputFile* file = rbAlloc(sizeof *file);
    for (int round = 0; round < rbTest_Count(60, 1000); ++round) {
        rbError error = {0};
        int total = rbRandom_Index(&random, 200000);
        int saved = rbRandom_Index(&random, total + 1);
        unsigned char* bytes = malloc((size_t)total + 1);
        for (int i = 0; i < total; ++i) {
            bytes[i] = (unsigned char)rbRandom_Bits(&random);
        }
        rbStateStream stream = {0};
        assert_int_equal(rbOutputFile_Open(file, path, &error), RB_STATUS_OK);
        for (int at = 0; at < saved;) {
            int part = 1 + rbRandom_Index(&random, 70000);
            part = part < saved - at ? part : saved - at;
            rbOutputFile_Write(file, bytes + at, (size_t)part);
            at += part;
        }
        assert_int_equal(rbOutputFile_Save(file, &stream, &error), RB_STATUS_OK);
        rbOutputFile_Write(file, "lost", (size_t)(round % 5));
        rbOutputFile_Abandon(file);
        rbStateStream loading = rbMakeLoadingStream(stream.bytes, stream.size);
        assert_int_equal(rbOutputFile_Continue(file, path, &loading, &error), RB_STATUS_OK);
        rbOutputFile_Write(file, bytes + saved, (size_t)(total - saved));
        assert_int_equal(rbOutputFile_Commit(file, &error), RB_STATUS_OK);
        size_t size;
        char* read = readWhole(path, &size);
        assert_int_equal(size, total);
        assert_memory_equal(read, bytes, size);
        free(read);
        free(bytes);
        rbStateStream_Free(&stream);
    }
    rbFree(file, sizeof *file);
}

// One byte that differs anywhere before the place, or a missing one, and a file that another run
// writes: refused, and nothing is changed.
static void otherBytesAreRefused(void** state)
{
    (void)state;
    rbError error = {0};
    char partPath[2 * SCRATCH_SIZE + 8];
    (void)snprintf(partPath, sizeof partPath, "%s.part", path);
    rbOutputFile* file = rbAlloc(sizeof *file);
    rbOutputFile* other = rbAlloc(sizeof *other);
    rbStateStream stream = {0};
    assert_int_equal(rbOutputFile_Open(file, path, &error), RB_STATUS_OK);
    for (int i = 0; i < 3000; ++i) {
        rbOutputFile_Print(file, "line %d\n", i);
    }
    assert_int_equal(rbOutputFile_Save(file, &stream, &error), RB_STATUS_OK);
    rbStateStream loading = rbMakeLoadingStream(stream.bytes, stream.size);
    assert_int_equal(rbOutputFile_Continue(other, path, &loading, &error), RB_STATUS_IO);
    assert_non_null(strstr(error.message, "another run is writing"));
    rbOutputFile_Abandon(file);
    size_t size;
    char* good = readWhole(partPath, &size);
    for (size_t i = 0; i < size; i += 997) {
        bool isCut = i % 2 == 1;
        good[i] ^= 4;
        FILE* part = fopen(partPath, "wb");
        assert_int_equal(fwrite(good, 1, isCut ? i : size, part), isCut ? i : size);
        (void)fclose(part);
        loading = rbMakeLoadingStream(stream.bytes, stream.size);
        assert_int_equal(rbOutputFile_Continue(file, path, &loading, &error), RB_STATUS_NOT_FOUND);
        assert_non_null(strstr(error.message, "put that file back"));
        size_t left;
        char* after = readWhole(partPath, &left);
        assert_int_equal(left, isCut ? i : size);
        assert_memory_equal(after, good, left);
        free(after);
        good[i] ^= 4;
    }
    free(good);
    rbStateStream_Free(&stream);
    rbFree(file, sizeof *file);
    rbFree(other, sizeof *other);
}

// --------------------------------------------------------------------------------------- streams

static void streamsTrustNothing(void** state)
{
    (void)state;
    rbStateStream saving = {0};
    int64_t number = 41;
    bool flag = true;
    rbStateStream_Integer(&saving, &number, 0, 100);
    rbStateStream_Flag(&saving, &flag);
    rbStateStream_PutText(&saving, "name");
    for (size_t size = 0; size <= saving.size; ++size) {
        rbStateStream loading = rbMakeLoadingStream(saving.bytes, size);
        char name[5];
        number = -1;
        rbStateStream_Integer(&loading, &number, 0, 100);
        rbStateStream_Flag(&loading, &flag);
        rbStateStream_Text(&loading, name, sizeof name);
        assert_int_equal(rbStateStream_IsLoaded(&loading), size == saving.size);
        assert_string_equal(name, size == saving.size ? "name" : "");
        assert_true(number >= 0 && number <= 100);
    }
    rbStateStream loading = rbMakeLoadingStream(saving.bytes, saving.size);
    rbStateStream_Integer(&loading, &number, 42, 100); // too small
    assert_true(loading.isBad && number == 42);
    loading = rbMakeLoadingStream(saving.bytes, saving.size);
    rbStateStream block = rbStateStream_TakeBlock(&loading); // of 41 bytes: there are not so many
    assert_true(loading.isBad && block.size == 0);
    char shorter[4];
    loading = rbMakeLoadingStream(saving.bytes + 16, saving.size - 16);
    rbStateStream_Text(&loading, shorter, sizeof shorter); // "name" does not fit
    assert_true(loading.isBad && shorter[0] == '\0');
    rbStateStream_Free(&saving);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
RB_TEST_GROUP(test_output_continue, FILE_TEST(recordingsAreTheSame), FILE_TEST(placesAreFoundAgain),
              FILE_TEST(otherBytesAreRefused), cmocka_unit_test(streamsTrustNothing));
