// Writing recordings: see recording_format.h for the file.
//
// Frames and events are collected in tables of words; a full table is coded, compressed and
// appended as one chunk. All memory, including that of zstd, is allocated at creation, so that a
// running simulation allocates nothing for its recording.
#include "base/core/memory.h"
#include "io/output/continuation.h"
#include "io/output/output_file.h"
#include "io/output/recording_format.h"

#include <math.h>
#include <string.h>
#include <zstd.h>

// Frames per chunk: prediction and compression benefit from many, a truncated file loses what is
// not yet written, and memory use is a few times the chunk.
#define CHUNK_BYTES_AIM (1u << 20)
#define CHUNK_FRAMES_MIN 8u
#define CHUNK_FRAMES_MAX 64u
#define CHUNK_EVENTS 512u
#define CHUNK_ACTION_BYTES 65536u // actions are written when this many bytes have gathered

// Higher levels of zstd gain little on byte planes that are either zero or noise.
#define COMPRESSION_LEVEL 3

struct rbRecordingWriter {
    rbOutputFile file;
    int bodyCount;
    size_t frameWords;
    size_t framesPerChunk;
    size_t frameCount; // in the table
    size_t eventCount; // in the table
    uint64_t totalFrames;
    uint64_t totalEvents;
    uint64_t totalActions;
    uint64_t actionBytes; // of all actions
    double actionTime;    // s, of the last action
    uint32_t sequence;
    uint64_t checksum; // of the last chunk header
    uint64_t* frames;  // framesPerChunk rows of frameWords
    uint64_t events[CHUNK_EVENTS * RB_RECORDING_EVENT_WORDS];
    RB_ARRAY(unsigned char) actions; // as stored in a chunk
    uint32_t actionCount;            // number of them
    unsigned char* raw;              // coded table or texts
    size_t rawCapacity;
    unsigned char* stored; // chunk header and compressed bytes
    size_t storedCapacity;
    ZSTD_CCtx* compressor;
};

// Reserves memory for a chunk of rawSize bytes.
static void reserveChunk(rbRecordingWriter* writer, size_t rawSize)
{
    RB_ASSERT(rawSize <= RB_RECORDING_CHUNK_MAX);
    size_t storedSize = RB_RECORDING_CHUNK_HEADER_SIZE + ZSTD_compressBound(rawSize);
    if (rawSize > writer->rawCapacity) {
        rbFree(writer->raw, writer->rawCapacity);
        writer->raw = rbAlloc(rawSize);
        writer->rawCapacity = rawSize;
    }
    if (storedSize > writer->storedCapacity) {
        rbFree(writer->stored, writer->storedCapacity);
        writer->stored = rbAlloc(storedSize);
        writer->storedCapacity = storedSize;
    }
}

// Appends writer->raw as a chunk and hands it to the operating system.
static rbStatus writeChunk(rbRecordingWriter* writer, rbChunkType type, uint32_t count,
                           size_t rawSize, rbError* error)
{
    RB_ASSERT(rawSize <= writer->rawCapacity && rawSize <= RB_RECORDING_CHUNK_MAX);
    unsigned char* payload = writer->stored + RB_RECORDING_CHUNK_HEADER_SIZE;
    size_t capacity = writer->storedCapacity - RB_RECORDING_CHUNK_HEADER_SIZE;
    size_t size = ZSTD_compressCCtx(writer->compressor, payload, capacity, writer->raw, rawSize,
                                    COMPRESSION_LEVEL);
    rbChunkCodec codec = RB_CODEC_ZSTD;
    if (ZSTD_isError(size) || size >= rawSize) {
        memcpy(payload, writer->raw, rawSize);
        size = rawSize;
        codec = RB_CODEC_STORED;
    }
    rbChunkHeader header = {
        .tag = rbChunkTag(type),
        .sequence = writer->sequence,
        .count = count,
        .codec = (uint32_t)codec,
        .rawSize = (uint32_t)rawSize,
        .storedSize = (uint32_t)size,
        .payloadChecksum = rbHashPayload(payload, size),
    };
    rbEncodeChunkHeader(&header, writer->checksum, writer->stored);
    writer->checksum = header.headerChecksum;
    writer->sequence += 1;
    rbOutputFile_Write(&writer->file, writer->stored, RB_RECORDING_CHUNK_HEADER_SIZE + size);
    return rbOutputFile_Flush(&writer->file, error);
}

static size_t textLength(const char* text)
{
    return text != NULL ? strlen(text) : 0;
}

static unsigned char* putText(unsigned char* target, const void* bytes, size_t length)
{
    rbPutWord32(target, (uint32_t)length);
    if (length > 0) {
        memcpy(target + 4, bytes, length);
    }
    return target + 4 + length;
}

static rbStatus writeInfo(rbRecordingWriter* writer, const rbRecordingHeader* header,
                          rbError* error)
{
    const char* version = rbGetVersion();
    size_t size = 8 + 4 + strlen(version) + 4 + textLength(header->settingsText);
    for (int i = 0; i < header->bodyCount; ++i) {
        size += 4 + textLength(header->bodyNames[i]);
    }
    if (size > RB_RECORDING_CHUNK_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the settings and the names of the %d bodies have %zu bytes; the "
                           "limit of a recording is %u",
                           header->bodyCount, size, RB_RECORDING_CHUNK_MAX);
    }
    reserveChunk(writer, size);
    rbPutWord32(writer->raw, (uint32_t)header->bodyCount);
    rbPutWord32(writer->raw + 4, (uint32_t)header->attachmentCount);
    unsigned char* target = putText(writer->raw + 8, version, strlen(version));
    target = putText(target, header->settingsText, textLength(header->settingsText));
    for (int i = 0; i < header->bodyCount; ++i) {
        target = putText(target, header->bodyNames[i], textLength(header->bodyNames[i]));
    }
    RB_ASSERT(target == writer->raw + size);
    return writeChunk(writer, RB_CHUNK_INFO, (uint32_t)header->bodyCount + 2u, size, error);
}

static rbStatus writeScene(rbRecordingWriter* writer, const char* text, rbError* error)
{
    size_t length = textLength(text);
    if (length > RB_RECORDING_TEXT_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the scene has %zu bytes; the limit of a recording is %d", length,
                           RB_RECORDING_TEXT_MAX);
    }
    reserveChunk(writer, 4 + length);
    (void)putText(writer->raw, text, length);
    return writeChunk(writer, RB_CHUNK_SCENE, 1, 4 + length, error);
}

static rbStatus writeAttachment(rbRecordingWriter* writer, const rbAttachment* attachment,
                                rbError* error)
{
    RB_ASSERT(attachment->bytes != NULL || attachment->byteCount == 0);
    size_t nameLength = textLength(attachment->name);
    size_t size = 8 + nameLength + attachment->byteCount;
    if (attachment->byteCount > RB_RECORDING_TEXT_MAX || size > RB_RECORDING_CHUNK_MAX) {
        return rbError_Set(
            error, RB_STATUS_LIMIT,
            "the attached file '%.100s' has %zu bytes; the limit of a recording is %d",
            nameLength > 0 ? attachment->name : "", attachment->byteCount, RB_RECORDING_TEXT_MAX);
    }
    reserveChunk(writer, size);
    unsigned char* target = putText(writer->raw, attachment->name, nameLength);
    (void)putText(target, attachment->bytes, attachment->byteCount);
    return writeChunk(writer, RB_CHUNK_ATTACHMENT, 2, size, error);
}

static rbStatus checkHeader(const rbRecordingHeader* header, rbError* error)
{
    RB_ASSERT(header->bodyCount >= 0 && header->attachmentCount >= 0);
    RB_ASSERT(header->bodyNames != NULL || header->bodyCount == 0);
    RB_ASSERT(header->attachments != NULL || header->attachmentCount == 0);
    if (header->bodyCount > RB_RECORDING_BODY_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the scene has %d bodies; the limit of a recording is %d",
                           header->bodyCount, RB_RECORDING_BODY_MAX);
    }
    if (header->attachmentCount > RB_RECORDING_ATTACHMENT_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the scene refers to %d files; the limit of a recording is %d",
                           header->attachmentCount, RB_RECORDING_ATTACHMENT_MAX);
    }
    size_t attached = 0;
    for (int i = 0; i < header->attachmentCount; ++i) {
        size_t size = header->attachments[i].byteCount;
        attached += size < RB_RECORDING_CHUNK_MAX ? size : RB_RECORDING_CHUNK_MAX;
    }
    if (attached > RB_RECORDING_ATTACHED_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the files the scene refers to have %zu bytes together; the limit of a "
                           "recording is %u",
                           attached, RB_RECORDING_ATTACHED_MAX);
    }
    return RB_STATUS_OK;
}

static rbStatus writeHeader(rbRecordingWriter* writer, const rbRecordingHeader* header,
                            rbError* error)
{
    unsigned char signature[RB_RECORDING_SIGNATURE_SIZE];
    rbEncodeSignature(signature, &writer->checksum);
    rbOutputFile_Write(&writer->file, signature, sizeof signature);
    rbStatus status = writeInfo(writer, header, error);
    if (status == RB_STATUS_OK) {
        status = writeScene(writer, header->sceneText, error);
    }
    for (int i = 0; i < header->attachmentCount && status == RB_STATUS_OK; ++i) {
        status = writeAttachment(writer, &header->attachments[i], error);
    }
    return status;
}

static void freeWriter(rbRecordingWriter* writer)
{
    (void)ZSTD_freeCCtx(writer->compressor);
    rbArray_Free(writer->actions);
    rbFree(writer->frames, writer->framesPerChunk * writer->frameWords * sizeof(uint64_t));
    rbFree(writer->raw, writer->rawCapacity);
    rbFree(writer->stored, writer->storedCapacity);
    rbFree(writer, sizeof *writer);
}

static size_t chooseFramesPerChunk(size_t frameWords)
{
    size_t frameSize = 8 * frameWords;
    size_t count = CHUNK_BYTES_AIM / frameSize;
    count = count < CHUNK_FRAMES_MIN ? CHUNK_FRAMES_MIN : count;
    count = count > CHUNK_FRAMES_MAX ? CHUNK_FRAMES_MAX : count;
    size_t fitting = (RB_RECORDING_CHUNK_MAX - frameWords) / frameSize;
    RB_ASSERT(fitting > 0);
    return count < fitting ? count : fitting;
}

// Allocates the memory of a run; that of the header, which may be large, is freed first.
static void reserveTables(rbRecordingWriter* writer, int bodyCount)
{
    rbFree(writer->raw, writer->rawCapacity);
    rbFree(writer->stored, writer->storedCapacity);
    writer->raw = NULL;
    writer->stored = NULL;
    writer->rawCapacity = 0;
    writer->storedCapacity = 0;
    writer->bodyCount = bodyCount;
    writer->frameWords = rbFrameWordCount(bodyCount);
    writer->framesPerChunk = chooseFramesPerChunk(writer->frameWords);
    writer->frames = rbAlloc(writer->framesPerChunk * writer->frameWords * sizeof(uint64_t));
    reserveChunk(writer, rbColumnCodeSize(writer->framesPerChunk, writer->frameWords));
    reserveChunk(writer, rbColumnCodeSize(CHUNK_EVENTS, RB_RECORDING_EVENT_WORDS));
    RB_ASSERT(writer->rawCapacity >= RB_RECORDING_DONE_SIZE);
}

static rbStatus startCompressor(rbRecordingWriter* writer, rbError* error)
{
    writer->compressor = ZSTD_createCCtx();
    return writer->compressor != NULL
               ? RB_STATUS_OK
               : rbError_Set(error, RB_STATUS_LIMIT, "out of memory for compressing a recording");
}

rbRecordingWriter* rbCreateRecording(const char* path, const rbRecordingHeader* header,
                                     rbError* error)
{
    RB_ASSERT(path != NULL);
    RB_ASSERT(header != NULL);
    if (checkHeader(header, error) != RB_STATUS_OK) {
        return NULL;
    }
    rbRecordingWriter* writer = rbAllocZero(1, sizeof *writer);
    if (rbOutputFile_Open(&writer->file, path, error) != RB_STATUS_OK) {
        rbFree(writer, sizeof *writer);
        return NULL;
    }
    if (startCompressor(writer, error) == RB_STATUS_OK &&
        writeHeader(writer, header, error) == RB_STATUS_OK) {
        reserveTables(writer, header->bodyCount);
        // From here on there is something worth keeping.
        writer->file.enableKeepPart = true;
        writer->file.enableSync = true;
        return writer;
    }
    rbOutputFile_Abandon(&writer->file);
    freeWriter(writer);
    return NULL;
}

// Tables that are not full stay so: a chunk written early would make another file.
static void moveWriter(rbRecordingWriter* writer, rbStateStream* stream)
{
    int64_t counts[] = {(int64_t)writer->frameCount, (int64_t)writer->eventCount,
                        writer->actions.count, writer->actionCount, writer->sequence};
    rbStateStream_Integer(stream, &counts[0], 0, (int64_t)writer->framesPerChunk - 1);
    rbStateStream_Integer(stream, &counts[1], 0, CHUNK_EVENTS - 1);
    rbStateStream_Integer(stream, &counts[2], 0, CHUNK_ACTION_BYTES - 1);
    rbStateStream_Integer(stream, &counts[3], 0, CHUNK_ACTION_BYTES - 1);
    rbStateStream_Integer(stream, &counts[4], 0, UINT32_MAX);
    writer->frameCount = (size_t)counts[0];
    writer->eventCount = (size_t)counts[1];
    rbArray_Reserve(writer->actions, (int)counts[2]);
    writer->actions.count = (int)counts[2];
    writer->actionCount = (uint32_t)counts[3];
    writer->sequence = (uint32_t)counts[4];
    rbStateStream_Word(stream, &writer->totalFrames);
    rbStateStream_Word(stream, &writer->totalEvents);
    rbStateStream_Word(stream, &writer->totalActions);
    rbStateStream_Word(stream, &writer->actionBytes);
    rbStateStream_Number(stream, &writer->actionTime);
    rbStateStream_Word(stream, &writer->checksum);
    for (size_t i = 0; i < writer->frameCount * writer->frameWords && !stream->isBad; ++i) {
        rbStateStream_Word(stream, &writer->frames[i]);
    }
    for (size_t i = 0; i < writer->eventCount * RB_RECORDING_EVENT_WORDS && !stream->isBad; ++i) {
        rbStateStream_Word(stream, &writer->events[i]);
    }
    rbStateStream_Bytes(stream, writer->actions.data, (size_t)writer->actions.count);
}

rbStatus rbRecordingWriter_Save(rbRecordingWriter* writer, rbStateStream* stream, rbError* error)
{
    rbStatus status = rbOutputFile_Save(&writer->file, stream, error);
    if (status == RB_STATUS_OK) {
        moveWriter(writer, stream);
    }
    return status;
}

rbRecordingWriter* rbContinueRecording(const char* path, const rbRecordingHeader* header,
                                       rbStateStream* stream, rbError* error)
{
    RB_ASSERT(path != NULL && header != NULL);
    if (checkHeader(header, error) != RB_STATUS_OK) {
        return NULL;
    }
    rbRecordingWriter* writer = rbAllocZero(1, sizeof *writer);
    if (rbOutputFile_Continue(&writer->file, path, stream, error) != RB_STATUS_OK) {
        rbFree(writer, sizeof *writer);
        return NULL;
    }
    reserveTables(writer, header->bodyCount);
    moveWriter(writer, stream);
    rbStatus status = startCompressor(writer, error);
    if (status == RB_STATUS_OK && stream->isBad) {
        status = rbError_Set(error, RB_STATUS_CORRUPT, "the state of the recording is damaged");
    }
    if (status == RB_STATUS_OK) {
        writer->file.enableSync = true;
        return writer;
    }
    rbOutputFile_Abandon(&writer->file);
    freeWriter(writer);
    return NULL;
}

static rbStatus flushEvents(rbRecordingWriter* writer, rbError* error)
{
    if (writer->eventCount == 0) {
        return RB_STATUS_OK;
    }
    rbEncodeColumns(writer->events, writer->eventCount, RB_RECORDING_EVENT_WORDS, writer->raw);
    uint32_t count = (uint32_t)writer->eventCount;
    writer->eventCount = 0;
    return writeChunk(writer, RB_CHUNK_EVENTS, count,
                      rbColumnCodeSize(count, RB_RECORDING_EVENT_WORDS), error);
}

static rbStatus flushFrames(rbRecordingWriter* writer, rbError* error)
{
    if (writer->frameCount == 0) {
        return RB_STATUS_OK;
    }
    rbEncodeColumns(writer->frames, writer->frameCount, writer->frameWords, writer->raw);
    uint32_t count = (uint32_t)writer->frameCount;
    writer->frameCount = 0;
    return writeChunk(writer, RB_CHUNK_FRAMES, count, rbColumnCodeSize(count, writer->frameWords),
                      error);
}

static rbStatus flushActions(rbRecordingWriter* writer, rbError* error)
{
    if (writer->actionCount == 0) {
        return RB_STATUS_OK;
    }
    size_t size = (size_t)writer->actions.count;
    uint32_t count = writer->actionCount;
    reserveChunk(writer, size);
    memcpy(writer->raw, writer->actions.data, size);
    writer->actions.count = 0;
    writer->actionCount = 0;
    return writeChunk(writer, RB_CHUNK_ACTIONS, count, size, error);
}

rbStatus rbRecordingWriter_Flush(rbRecordingWriter* writer, rbError* error)
{
    RB_ASSERT(writer != NULL);
    if (writer->file.errorNumber != 0) {
        return rbOutputFile_Flush(&writer->file, error);
    }
    // Actions and events first: a reader that has a frame also has what led to it.
    rbStatus status = flushActions(writer, error);
    status = status == RB_STATUS_OK ? flushEvents(writer, error) : status;
    return status == RB_STATUS_OK ? flushFrames(writer, error) : status;
}

// Copies the numbers of the bodies of a frame, and NaN for those that it does not (yet) have.
static uint64_t* putBodies(uint64_t* target, const void* source, int width, int count, int all)
{
    size_t size = (size_t)count * (size_t)width;
    if (size > 0) {
        RB_ASSERT(source != NULL);
        memcpy(target, source, size * sizeof *target);
    }
    for (size_t i = size; i < (size_t)all * (size_t)width; ++i) {
        target[i] = rbBitsOfDouble(NAN);
    }
    return target + (size_t)all * (size_t)width;
}

rbStatus rbRecordingWriter_WriteFrame(rbRecordingWriter* writer, const rbFrame* frame,
                                      rbError* error)
{
    RB_ASSERT(writer != NULL && frame != NULL);
    RB_ASSERT(frame->bodyCount >= 0 && frame->bodyCount <= writer->bodyCount);
    _Static_assert(sizeof(rbVec3) == 24 && sizeof(rbQuat) == 32, "arrays of doubles");
    if (writer->file.errorNumber != 0) {
        return rbOutputFile_Flush(&writer->file, error);
    }
    int n = frame->bodyCount;
    int all = writer->bodyCount;
    uint64_t* row = writer->frames + writer->frameCount * writer->frameWords;
    const rbLedgerRow* ledger = &frame->ledger;
    const double head[RB_RECORDING_FRAME_WORDS] = {
        frame->time,
        ledger->kineticTranslational,
        ledger->kineticRotational,
        ledger->potential,
        ledger->work,
        ledger->total,
        ledger->momentum.x,
        ledger->momentum.y,
        ledger->momentum.z,
        ledger->angularMomentum.x,
        ledger->angularMomentum.y,
        ledger->angularMomentum.z,
    };
    memcpy(row, head, sizeof head);
    row += RB_RECORDING_FRAME_WORDS;
    row = putBodies(row, frame->positions, 3, n, all);
    row = putBodies(row, frame->orientations, 4, n, all);
    row = putBodies(row, frame->linearVelocities, 3, n, all);
    (void)putBodies(row, frame->angularVelocities, 3, n, all);
    writer->frameCount += 1;
    writer->totalFrames += 1;
    return writer->frameCount == writer->framesPerChunk ? rbRecordingWriter_Flush(writer, error)
                                                        : RB_STATUS_OK;
}

rbStatus rbRecordingWriter_WriteEvents(rbRecordingWriter* writer, const rbRecordedEvent* events,
                                       int count, rbError* error)
{
    RB_ASSERT(writer != NULL);
    RB_ASSERT(count >= 0);
    RB_ASSERT(events != NULL || count == 0);
    if (writer->file.errorNumber != 0) {
        return rbOutputFile_Flush(&writer->file, error);
    }
    for (int i = 0; i < count; ++i) {
        const rbRecordedEvent* event = &events[i];
        uint64_t* row = writer->events + writer->eventCount * RB_RECORDING_EVENT_WORDS;
        row[0] = rbBitsOfDouble(event->time);
        row[1] = (uint64_t)event->kind | (uint64_t)event->bodyA << 32;
        row[2] = (uint64_t)event->bodyB | (uint64_t)event->law << 32;
        row[3] = rbBitsOfDouble(event->energyChange);
        for (int j = 0; j < RB_RECORDED_VALUES; ++j) {
            row[4 + j] = rbBitsOfDouble(event->values[j]);
        }
        row[4 + RB_RECORDED_VALUES] = event->history;
        writer->eventCount += 1;
        writer->totalEvents += 1;
        if (writer->eventCount == CHUNK_EVENTS) {
            rbStatus status = flushEvents(writer, error);
            if (status != RB_STATUS_OK) {
                return status;
            }
        }
    }
    return RB_STATUS_OK;
}

static rbStatus checkAction(const rbRecordingWriter* writer, const rbRecordedAction* action,
                            size_t length, rbError* error)
{
    if (!(action->time >= writer->actionTime) && writer->totalActions > 0) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "an action at t = %.17g s follows one at %.17g s; times must not "
                           "decrease",
                           action->time, writer->actionTime);
    }
    if (!isfinite(action->time)) {
        return rbError_Set(error, RB_STATUS_INVALID, "the time %g s of an action is not finite",
                           action->time);
    }
    if (length > RB_RECORDING_ACTION_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "an action has %zu bytes; the limit of a recording is %d", length,
                           RB_RECORDING_ACTION_MAX);
    }
    if (writer->actionBytes + 12 + length > RB_RECORDING_ACTED_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the actions together exceed %u bytes, the limit of a recording",
                           RB_RECORDING_ACTED_MAX);
    }
    return RB_STATUS_OK;
}

rbStatus rbRecordingWriter_WriteActions(rbRecordingWriter* writer, const rbRecordedAction* actions,
                                        int count, rbError* error)
{
    RB_ASSERT(writer != NULL);
    RB_ASSERT(count >= 0);
    RB_ASSERT(actions != NULL || count == 0);
    if (writer->file.errorNumber != 0) {
        return rbOutputFile_Flush(&writer->file, error);
    }
    for (int i = 0; i < count; ++i) {
        size_t length = textLength(actions[i].text);
        rbStatus status = checkAction(writer, &actions[i], length, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        int place = writer->actions.count;
        int size = 12 + (int)length;
        rbArray_Reserve(writer->actions, place + size);
        writer->actions.count += size;
        rbPutWord64(writer->actions.data + place, rbBitsOfDouble(actions[i].time));
        (void)putText(writer->actions.data + place + 8, actions[i].text, length);
        writer->actionCount += 1;
        writer->actionBytes += (uint64_t)size;
        writer->actionTime = actions[i].time;
        writer->totalActions += 1;
        if (writer->actions.count >= (int)CHUNK_ACTION_BYTES) {
            status = flushActions(writer, error);
            if (status != RB_STATUS_OK) {
                return status;
            }
        }
    }
    return RB_STATUS_OK;
}

rbStatus rbRecordingWriter_Finish(rbRecordingWriter* writer, uint64_t finalHash, rbError* error)
{
    RB_ASSERT(writer != NULL);
    rbStatus status = rbRecordingWriter_Flush(writer, error);
    if (status == RB_STATUS_OK) {
        rbPutWord64(writer->raw, writer->totalFrames);
        rbPutWord64(writer->raw + 8, writer->totalEvents);
        rbPutWord64(writer->raw + 16, finalHash);
        rbPutWord64(writer->raw + 24, writer->totalActions);
        status = writeChunk(writer, RB_CHUNK_DONE, 1, RB_RECORDING_DONE_SIZE, error);
    }
    if (status == RB_STATUS_OK) {
        status = rbOutputFile_Commit(&writer->file, error);
    } else {
        rbOutputFile_Abandon(&writer->file);
    }
    freeWriter(writer);
    return status;
}

void rbRecordingWriter_Abandon(rbRecordingWriter* writer)
{
    if (writer != NULL) {
        if (!writer->file.isUncut) {
            (void)rbRecordingWriter_Flush(writer, NULL);
        }
        rbOutputFile_Abandon(&writer->file);
        freeWriter(writer);
    }
}
