#include "server/page.h"

#include "base/core/memory.h"
#include "io/output/bytes.h"
#include "io/output/output_file.h"
#include "server/page_bytes.h"
#include "session/stream.h"

#include <string.h>
#include <zlib.h>

#define PLAY_RATE 60.0                      // frames per second of playback
#define PLAY_TIME_MIN 6.0                   // s: shorter runs are played more slowly
#define OVERLAY_BYTES_MAX ((size_t)8 << 20) // contacts, joints and rays
#define DATA_BYTES_MAX ((size_t)1 << 30)    // compressed: no browser opens more
#define HISTORY_BYTES ((size_t)64 << 20)
#define GZIP_WINDOW (15 + 16) // how zlib selects gzip
#define MEMORY_LEVEL 8
#define PLACE "id=\"data\">" // the data of the page come after this

struct rbPageWriter {
    rbOutputFile file;
    rbStore* store;
    rbStreamCursor cursor;
    rbMessage message;
    z_stream packer;
    bool hasPacker;
    unsigned char* data; // compressed
    size_t size, capacity;
    size_t overlayBytes;
    double spacing;  // s between frames, at least
    double lastTime; // of the last frame
};

static rbStatus pack(rbPageWriter* writer, const void* bytes, size_t count, int flush,
                     rbError* error)
{
    z_stream* packer = &writer->packer;
    // zlib does not change its input but has no const for it
    union {
        const void* given;
        Bytef* taken;
    } input = {.given = bytes};
    packer->next_in = input.taken;
    packer->avail_in = (uInt)count;
    int result = Z_OK;
    do {
        if (writer->capacity - writer->size < 65536) {
            size_t capacity = 2 * writer->capacity + 131072;
            writer->data = rbGrow(writer->data, writer->capacity, capacity);
            writer->capacity = capacity;
        }
        packer->next_out = writer->data + writer->size;
        packer->avail_out = 65536;
        result = deflate(packer, flush);
        writer->size = (size_t)(packer->next_out - writer->data);
    } while (result == Z_OK &&
             (packer->avail_in > 0 || packer->avail_out == 0 || flush == Z_FINISH));
    if (writer->size > DATA_BYTES_MAX) {
        return rbError_Set(
            error, RB_STATUS_LIMIT,
            "the page has more than %zu MB of data, which no browser can open; write "
            "fewer outputs (--dt) or use --record",
            DATA_BYTES_MAX >> 20);
    }
    return RB_STATUS_OK;
}

static bool isState(const rbMessage* message)
{
    static const char start[] = "{\"type\":\"state\"";
    return message->isText && message->size >= sizeof start &&
           memcmp(rbMessage_GetBytes(message), start, sizeof start - 1) == 0;
}

// Appends everything that is new in the store.
static rbStatus takeMessages(rbPageWriter* writer, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    while (status == RB_STATUS_OK &&
           rbStream_Next(writer->store, &writer->cursor, &writer->message)) {
        const rbMessage* message = &writer->message;
        const unsigned char* bytes = rbMessage_GetBytes(message);
        RB_ASSERT(message->size > 0 && message->size <= UINT32_MAX);
        if (isState(message)) {
            continue; // a page plays on its own
        }
        unsigned char head[5];
        rbPutWord32(head, (uint32_t)message->size);
        head[4] = message->isText ? 1 : 0;
        status = pack(writer, head, sizeof head, Z_NO_FLUSH, error);
        if (status == RB_STATUS_OK) {
            status = pack(writer, bytes, message->size, Z_NO_FLUSH, error);
        }
        bool isOverlay =
            !message->isText && (bytes[0] == RB_MESSAGE_CONTACTS || bytes[0] == RB_MESSAGE_JOINTS ||
                                 bytes[0] == RB_MESSAGE_RAYS);
        writer->overlayBytes += isOverlay ? message->size : 0;
        if (writer->overlayBytes > OVERLAY_BYTES_MAX) {
            rbStreamCursor_SetOverlays(&writer->cursor, false, false, false);
        }
    }
    return status;
}

// A run is played in real time, short ones more slowly; takes as many frames as are visible then.
static double chooseSpacing(double duration)
{
    double played = duration > PLAY_TIME_MIN ? duration : PLAY_TIME_MIN;
    double frames = PLAY_RATE * played;
    frames = frames < RB_PAGE_FRAMES_MAX ? frames : RB_PAGE_FRAMES_MAX;
    return duration / frames;
}

static rbStatus start(rbPageWriter* writer, const rbScene* scene, const rbWorld* world,
                      rbError* error)
{
    if (strstr((const char*)rbPageBytes, PLACE) == NULL) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "this program was built without the page of the viewer "
                           "(RB_VIEWER=OFF), so it cannot write pages");
    }
    if (deflateInit2(&writer->packer, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        return rbError_Set(error, RB_STATUS_LIMIT, "zlib cannot start");
    }
    writer->hasPacker = true;
    writer->store = rbCreateStore(scene, world, error);
    if (writer->store == NULL) {
        return error->status;
    }
    rbStore_SetHistory(writer->store, HISTORY_BYTES, 0);
    rbPlayState state = {.isPlaying = true, .speed = 1.0, .frameStep = writer->spacing};
    rbStore_SetPlayState(writer->store, &state);
    writer->cursor = (rbStreamCursor){.kind = "page", .isUnbounded = true};
    rbStreamCursor_SetOverlays(&writer->cursor, true, true, true);
    writer->lastTime = rbWorld_GetTime(world);
    return takeMessages(writer, error);
}

rbPageWriter* rbCreatePageWriter(const char* path, const rbScene* scene, const rbWorld* world,
                                 double duration, rbError* error)
{
    RB_ASSERT(scene != NULL && world != NULL && duration > 0.0);
    rbPageWriter* writer = rbAllocZero(1, sizeof *writer);
    writer->spacing = chooseSpacing(duration);
    if (rbOutputFile_Open(&writer->file, path, error) != RB_STATUS_OK) {
        rbFree(writer, sizeof *writer);
        return NULL;
    }
    if (start(writer, scene, world, error) != RB_STATUS_OK) {
        rbPageWriter_Abandon(writer);
        return NULL;
    }
    return writer;
}

static rbStatus takeFrame(rbPageWriter* writer, const rbWorld* world, rbError* error)
{
    writer->lastTime = rbWorld_GetTime(world);
    rbStatus status = rbStore_FollowBodies(writer->store, world, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbStore_TakeFrame(writer->store, world);
    return takeMessages(writer, error);
}

rbStatus rbPageWriter_TakeFrame(rbPageWriter* writer, const rbWorld* world, rbError* error)
{
    bool isDue = rbWorld_GetTime(world) >= writer->lastTime + writer->spacing * (1.0 - 1e-9);
    return isDue ? takeFrame(writer, world, error) : RB_STATUS_OK;
}

void rbPageWriter_TakeEvents(rbPageWriter* writer, const rbRecordedEvent* events, int count)
{
    rbStore_TakeRecordedEvents(writer->store, events, count);
}

static void writeBase64(rbOutputFile* file, const unsigned char* bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? bytes[i + 2] : 0);
        char text[4] = {digits[word >> 18], digits[word >> 12 & 63], '=', '='};
        text[2] = (char)(left > 1 ? digits[word >> 6 & 63] : '=');
        text[3] = (char)(left > 2 ? digits[word & 63] : '=');
        rbOutputFile_Write(file, text, sizeof text);
    }
}

rbStatus rbPageWriter_Finish(rbPageWriter* writer, const rbWorld* world, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    if (rbWorld_GetTime(world) > writer->lastTime) {
        status = takeFrame(writer, world, error);
    } else {
        status = takeMessages(writer, error);
    }
    if (status == RB_STATUS_OK) {
        status = pack(writer, "", 0, Z_FINISH, error);
    }
    if (status == RB_STATUS_OK) {
        const char* page = (const char*)rbPageBytes;
        const char* place = strstr(page, PLACE);
        RB_ASSERT(place != NULL);
        size_t before = (size_t)(place - page) + strlen(PLACE);
        rbOutputFile_Write(&writer->file, page, before);
        writeBase64(&writer->file, writer->data, writer->size);
        rbOutputFile_Write(&writer->file, page + before, rbPageSize - before);
        status = rbOutputFile_Commit(&writer->file, error);
    }
    rbPageWriter_Abandon(writer);
    return status;
}

void rbPageWriter_Abandon(rbPageWriter* writer)
{
    if (writer == NULL) {
        return;
    }
    rbOutputFile_Abandon(&writer->file);
    rbDestroyStore(writer->store);
    rbStreamCursor_Free(&writer->cursor);
    rbMessage_Free(&writer->message);
    if (writer->hasPacker) {
        (void)deflateEnd(&writer->packer);
    }
    rbFree(writer->data, writer->capacity);
    rbFree(writer, sizeof *writer);
}
