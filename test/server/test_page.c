// A page that replays a run: its decoded data are the frames of the world.
#include "base/core/memory.h"
#include "client.h"
#include "rb_test.h"
#include "server/page.h"
#include "server/page_bytes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define FRAMES 200

static int getDigit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char* place = strchr(digits, c);
    assert_true(c != '\0' && place != NULL);
    return (int)(place - digits);
}

static unsigned char* decodeBase64(const char* text, size_t length, size_t* size)
{
    assert_int_equal(length % 4, 0);
    unsigned char* bytes = malloc(length);
    *size = 0;
    for (size_t i = 0; i < length; i += 4) {
        int padding = (text[i + 2] == '=') + (text[i + 3] == '=');
        assert_true(padding == 0 || i + 4 == length);
        int word = getDigit(text[i]) << 18 | getDigit(text[i + 1]) << 12;
        word |= padding < 2 ? getDigit(text[i + 2]) << 6 : 0;
        word |= padding < 1 ? getDigit(text[i + 3]) : 0;
        for (int k = 0; k < 3 - padding; ++k) {
            bytes[(*size)++] = (unsigned char)(word >> (16 - 8 * k));
        }
    }
    return bytes;
}

static unsigned char* unzip(const unsigned char* bytes, size_t count, size_t* size)
{
    size_t capacity = (size_t)64 << 20;
    unsigned char* raw = malloc(capacity);
    unsigned char* copy = malloc(count);
    memcpy(copy, bytes, count);
    z_stream stream = {
        .next_in = copy, .avail_in = (uInt)count, .next_out = raw, .avail_out = (uInt)capacity};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    *size = capacity - stream.avail_out;
    assert_int_equal(inflateEnd(&stream), Z_OK);
    free(copy);
    return raw;
}

// Passes the records of the page's data to the client, one after the other.
static void feed(rbClientModel* client, const unsigned char* raw, size_t size)
{
    size_t at = 0;
    while (at < size) {
        assert_true(at + 5 <= size);
        size_t length = (size_t)raw[at] | (size_t)raw[at + 1] << 8 | (size_t)raw[at + 2] << 16 |
                        (size_t)raw[at + 3] << 24;
        assert_true(at + 5 + length <= size);
        rbClientModel_Take(client, raw + at + 5, length, raw[at + 4] != 0);
        at += 5 + length;
    }
}

static char* readAll(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char* text = malloc(*size + 1);
    assert_int_equal(fread(text, 1, *size, file), *size);
    text[*size] = '\0';
    (void)fclose(file);
    return text;
}

typedef struct Stage {
    rbScene* scene;
    rbWorld* world;
} Stage;

static Stage openStage(const char* name)
{
    char path[600];
    rbError error = {0};
    (void)snprintf(path, sizeof path, "%s/scenes/%s.json", RB_SOURCE_DIR, name);
    Stage stage = {.scene = rbReadScene(path, &error)};
    assert_non_null(stage.scene);
    stage.world = rbScene_CreateWorld(stage.scene, &error);
    assert_non_null(stage.world);
    return stage;
}

static void closeStage(Stage* stage)
{
    rbDestroyWorld(stage->world);
    rbDestroyScene(stage->scene);
}

static bool hasPage(void)
{
    return strstr((const char*)rbPageBytes, "id=\"data\">") != NULL;
}

// L-108
static void pageHoldsTheFramesOfARun(void** state)
{
    (void)state;
    if (!hasPage()) {
        skip();
    }
    rbError error = {0};
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/rb-test-page-%d.html", (int)getpid());
    Stage stage = openStage("rattleback");
    double duration = rbScene_GetInfo(stage.scene)->duration;
    rbPageWriter* writer = rbCreatePageWriter(path, stage.scene, stage.world, duration, &error);
    assert_non_null(writer);
    for (int i = 1; i <= FRAMES; ++i) {
        (void)rbWorld_AdvanceTo(stage.world, duration * i / FRAMES);
        rbWorld_ClearEvents(stage.world);
        rbRecordedEvent event = {.time = duration * i / FRAMES, .kind = RB_EVENT_IMPACT};
        rbPageWriter_TakeEvents(writer, &event, 1);
        assert_int_equal(rbPageWriter_TakeFrame(writer, stage.world, &error), RB_STATUS_OK);
    }
    assert_int_equal(rbPageWriter_Finish(writer, stage.world, &error), RB_STATUS_OK);

    size_t size = 0;
    char* page = readAll(path, &size);
    assert_true(size < 2000000);
    assert_true(size > rbPageSize);
    char* start = strstr(page, "id=\"data\">") + strlen("id=\"data\">");
    size_t length = strcspn(start, "<");
    // apart from the data it is the page of the program
    assert_memory_equal(page, rbPageBytes, (size_t)(start - page));
    assert_memory_equal(start + length, rbPageBytes + (start - page),
                        rbPageSize - (size_t)(start - page));
    size_t packedSize = 0;
    size_t rawSize = 0;
    unsigned char* packed = decodeBase64(start, length, &packedSize);
    unsigned char* raw = unzip(packed, packedSize, &rawSize);
    rbClientModel* client = rbCreateClientModel();
    feed(client, raw, rawSize);
    assert_string_equal(json_string_value(json_object_get(client->hello, "kind")), "page");
    assert_int_equal(client->counts[1], FRAMES + 1);
    assert_int_equal(client->rowCount, FRAMES + 1);
    assert_int_equal(client->eventCount, FRAMES);
    checkNear(client->time, duration, 1e-12);
    rbBodyState body = rbBody_GetState(stage.world, rbWorld_FindBody(stage.world, "rattleback"));
    checkNear(client->poses[1].position[0], body.transform.p.x, 1e-8);
    checkNear(client->poses[1].position[1], body.transform.p.y, 1e-8);
    checkNear(client->poses[1].position[2], body.transform.p.z, 1e-8);
    checkNear(fabs(client->poses[1].orientation[0]), fabs(body.transform.q.w), 1e-5);
    rbDestroyClientModel(client);
    free(raw);
    free(packed);
    free(page);
    (void)unlink(path);
    closeStage(&stage);
}

static void pagesHaveABoundedNumberOfFrames(void** state)
{
    (void)state;
    if (!hasPage()) {
        skip();
    }
    rbError error = {0};
    Stage stage = openStage("tumbling-box");
    rbPageWriter* writer = rbCreatePageWriter("/dev/full", stage.scene, stage.world, 1e4, &error);
    assert_non_null(writer);
    for (int i = 1; i <= 20000; ++i) {
        (void)rbWorld_AdvanceTo(stage.world, 0.5 * i);
        assert_int_equal(rbPageWriter_TakeFrame(writer, stage.world, &error), RB_STATUS_OK);
    }
    // the disk is full at the end
    assert_int_equal(rbPageWriter_Finish(writer, stage.world, &error), RB_STATUS_IO);
    assert_null(rbCreatePageWriter("/nowhere/a.html", stage.scene, stage.world, 1.0, &error));
    assert_int_equal(error.status, RB_STATUS_IO);
    closeStage(&stage);
}

RB_TEST_GROUP(test_page, cmocka_unit_test(pageHoldsTheFramesOfARun),
              cmocka_unit_test(pagesHaveABoundedNumberOfFrames));
