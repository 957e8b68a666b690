// Reading recordings: see recording_format.h for the file.
//
// Opening walks over all chunks, verifies both checksums of each, decodes those of the header and
// notes where frames and events are. The walk ends at the first incomplete or damaged chunk; what
// precedes it is the recording. Frames are decoded chunk by chunk on request.
//
// The file is not trusted: every size is compared with the format's limits, with the rest of the
// file and with what zstd can produce from that many bytes before memory is allocated for it.
#include "base/core/memory.h"
#include "io/output/recording_format.h"
#include "io/scene/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define FAULT_MAX 320
#define FAULT_PLACE_MAX 96

// Where the bytes come from: a file, or memory if the descriptor is -1.
typedef struct ByteSource {
    int descriptor;
    const unsigned char* memory;
    uint64_t size;
} ByteSource;

// Memory that grows and is reused.
typedef struct Buffer {
    unsigned char* data;
    size_t capacity;
} Buffer;

typedef struct ChunkEntry {
    uint64_t offset; // of the header
    int64_t first;   // number of its first frame or event
    rbChunkHeader header;
} ChunkEntry;

typedef RB_ARRAY(ChunkEntry) ChunkArray;

struct rbRecording {
    ByteSource source;
    rbRecordingHeader header;
    rbRecordingInfo info;
    rbError trouble;
    rbArena texts; // what the header points to
    rbAttachment* attachments;
    size_t attachedBytes;
    size_t eventWords; // of a row of events, by the version of the file
    RB_ARRAY(rbRecordedAction) actions;
    size_t actedBytes;
    ChunkArray frameChunks;
    ChunkArray eventChunks;
    int frameChunk; // decoded in frameRows, -1 if none
    int eventChunk; // decoded in eventRows, -1 if none
    Buffer stored;
    Buffer raw;
    Buffer frameRows;
    Buffer eventRows;
    ZSTD_DCtx* decompressor;
};

// A chunk under inspection, and its fault.
typedef struct Inspection {
    ChunkEntry entry;
    uint64_t checksum; // of the previous header
    rbStatus status;
    bool isCutOff; // the file ends here
    char fault[FAULT_MAX];
} Inspection;

static void reserveBuffer(Buffer* buffer, size_t size)
{
    if (size > buffer->capacity) {
        rbFree(buffer->data, buffer->capacity);
        buffer->data = rbAlloc(size);
        buffer->capacity = size;
    }
}

static bool readAt(const ByteSource* source, uint64_t offset, void* target, size_t count)
{
    RB_ASSERT(offset <= source->size && count <= source->size - offset);
    if (source->descriptor < 0) {
        if (count > 0) {
            memcpy(target, source->memory + offset, count);
        }
        return true;
    }
    unsigned char* bytes = target;
    while (count > 0) {
        ssize_t done = pread(source->descriptor, bytes, count, (off_t)offset);
        if (done == 0) {
            errno = EIO; // the file became shorter
            return false;
        }
        if (done < 0 && errno != EINTR) {
            return false;
        }
        if (done > 0) {
            bytes += done;
            offset += (uint64_t)done;
            count -= (size_t)done;
        }
    }
    return true;
}

static bool fail(Inspection* inspection, rbStatus status, const char* format, ...) RB_PRINTF(3, 4);

static bool fail(Inspection* inspection, rbStatus status, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(inspection->fault, sizeof inspection->fault, format, arguments);
    va_end(arguments);
    inspection->status = status;
    return false;
}

// Reads the stored bytes of a chunk and verifies them.
static bool loadStored(rbRecording* recording, Inspection* inspection)
{
    const ChunkEntry* entry = &inspection->entry;
    size_t size = entry->header.storedSize;
    reserveBuffer(&recording->stored, size);
    if (!readAt(&recording->source, entry->offset + RB_RECORDING_CHUNK_HEADER_SIZE,
                recording->stored.data, size)) {
        return fail(inspection, RB_STATUS_IO, "it cannot be read: %s", strerror(errno));
    }
    if (rbHashPayload(recording->stored.data, size) != entry->header.payloadChecksum) {
        return fail(inspection, RB_STATUS_CORRUPT, "its content does not match its checksum");
    }
    return true;
}

// Decompresses the loaded chunk into *raw.
static bool unpack(rbRecording* recording, Inspection* inspection, const unsigned char** raw)
{
    const rbChunkHeader* header = &inspection->entry.header;
    if (header->codec == RB_CODEC_STORED) {
        *raw = recording->stored.data;
        return true;
    }
    reserveBuffer(&recording->raw, header->rawSize);
    size_t size = ZSTD_decompressDCtx(recording->decompressor, recording->raw.data, header->rawSize,
                                      recording->stored.data, header->storedSize);
    if (ZSTD_isError(size) || size != header->rawSize) {
        return fail(inspection, RB_STATUS_CORRUPT, "it does not decompress to its %u bytes",
                    (unsigned)header->rawSize);
    }
    *raw = recording->raw.data;
    return true;
}

// Reads a text at *cursor and moves it past the text. False if the text passes end.
static bool takeText(const unsigned char** cursor, const unsigned char* end,
                     const unsigned char** bytes, size_t* length)
{
    if (end - *cursor < 4) {
        return false;
    }
    *length = rbGetWord32(*cursor);
    *bytes = *cursor + 4;
    if (*length > (size_t)(end - *bytes)) {
        return false;
    }
    *cursor = *bytes + *length;
    return true;
}

// Copies a text with a terminator to *target and moves it past. False if it has a zero byte.
static bool keepText(char** target, const unsigned char* bytes, size_t length, const char** text)
{
    if (length > 0 && memchr(bytes, 0, length) != NULL) {
        return false;
    }
    if (length > 0) {
        memcpy(*target, bytes, length);
    }
    (*target)[length] = '\0';
    *text = *target;
    *target += length + 1;
    return true;
}

// Reads count texts, which must fill the bytes up to end.
static bool takeTexts(rbRecording* recording, const unsigned char* cursor, const unsigned char* end,
                      size_t count, const char** texts)
{
    // Each text loses the four bytes of its length and gains a terminator.
    char* target = rbArena_Alloc(&recording->texts, (size_t)(end - cursor) + 1);
    for (size_t i = 0; i < count; ++i) {
        const unsigned char* bytes;
        size_t length;
        if (!takeText(&cursor, end, &bytes, &length) ||
            !keepText(&target, bytes, length, &texts[i])) {
            return false;
        }
    }
    return cursor == end;
}

static bool acceptInfo(rbRecording* recording, Inspection* inspection, const unsigned char* raw)
{
    const rbChunkHeader* header = &inspection->entry.header;
    if (header->rawSize < 8) {
        return fail(inspection, RB_STATUS_CORRUPT, "it is too short");
    }
    uint32_t bodyCount = rbGetWord32(raw);
    uint32_t attachmentCount = rbGetWord32(raw + 4);
    if (bodyCount > RB_RECORDING_BODY_MAX || attachmentCount > RB_RECORDING_ATTACHMENT_MAX) {
        return fail(inspection, RB_STATUS_LIMIT,
                    "it claims %u bodies and %u attachments; at most %d and %d are accepted",
                    (unsigned)bodyCount, (unsigned)attachmentCount, RB_RECORDING_BODY_MAX,
                    RB_RECORDING_ATTACHMENT_MAX);
    }
    size_t count = (size_t)bodyCount + 2;
    if (header->count != count || header->rawSize < 8 + 4 * count) {
        return fail(inspection, RB_STATUS_CORRUPT, "it has no room for the names of %u bodies",
                    (unsigned)bodyCount);
    }
    const char** texts = rbArena_Alloc(&recording->texts, count * sizeof *texts);
    if (!takeTexts(recording, raw + 8, raw + header->rawSize, count, texts)) {
        return fail(inspection, RB_STATUS_CORRUPT, "its texts are malformed");
    }
    recording->header.programVersion = texts[0];
    recording->header.settingsText = texts[1];
    recording->header.bodyNames = texts + 2;
    recording->header.bodyCount = (int)bodyCount;
    recording->header.attachmentCount = (int)attachmentCount;
    recording->attachments =
        rbArena_Alloc(&recording->texts, ((size_t)attachmentCount + 1) * sizeof(rbAttachment));
    recording->header.attachments = recording->attachments;
    return true;
}

static bool acceptScene(rbRecording* recording, Inspection* inspection, const unsigned char* raw)
{
    if (!takeTexts(recording, raw, raw + inspection->entry.header.rawSize, 1,
                   &recording->header.sceneText)) {
        return fail(inspection, RB_STATUS_CORRUPT, "its text is malformed");
    }
    return true;
}

static bool acceptAttachment(rbRecording* recording, Inspection* inspection,
                             const unsigned char* raw)
{
    size_t size = inspection->entry.header.rawSize;
    const unsigned char* cursor = raw;
    const unsigned char* end = raw + size;
    const unsigned char* name;
    const unsigned char* bytes;
    size_t nameLength;
    size_t length;
    if (!takeText(&cursor, end, &name, &nameLength) || !takeText(&cursor, end, &bytes, &length) ||
        cursor != end) {
        return fail(inspection, RB_STATUS_CORRUPT, "its texts are malformed");
    }
    recording->attachedBytes += length;
    if (recording->attachedBytes > RB_RECORDING_ATTACHED_MAX) {
        return fail(inspection, RB_STATUS_LIMIT, "the attachments exceed %u bytes together",
                    RB_RECORDING_ATTACHED_MAX);
    }
    rbAttachment* attachment = &recording->attachments[inspection->entry.header.sequence - 2];
    char* target = rbArena_Alloc(&recording->texts, nameLength + 1 + length);
    if (!keepText(&target, name, nameLength, &attachment->name)) {
        return fail(inspection, RB_STATUS_CORRUPT, "its name has a zero byte");
    }
    if (length > 0) {
        memcpy(target, bytes, length);
    }
    attachment->bytes = target;
    attachment->byteCount = length;
    return true;
}

// True if a table of count rows has the raw size given in its header.
static bool hasTableSize(const rbChunkHeader* header, size_t columnCount)
{
    return header->count > 0 && header->count <= RB_RECORDING_CHUNK_MAX / (8 * columnCount) &&
           rbColumnCodeSize(header->count, columnCount) == header->rawSize;
}

static bool acceptFrames(rbRecording* recording, Inspection* inspection, const unsigned char* raw)
{
    (void)raw;
    if (!hasTableSize(&inspection->entry.header, rbFrameWordCount(recording->header.bodyCount))) {
        return fail(inspection, RB_STATUS_CORRUPT, "its size does not match %u frames of %d bodies",
                    (unsigned)inspection->entry.header.count, recording->header.bodyCount);
    }
    inspection->entry.first = recording->info.frameCount;
    recording->info.frameCount += inspection->entry.header.count;
    rbArray_Push(recording->frameChunks, inspection->entry);
    return true;
}

static bool acceptEvents(rbRecording* recording, Inspection* inspection, const unsigned char* raw)
{
    (void)raw;
    if (!hasTableSize(&inspection->entry.header, recording->eventWords)) {
        return fail(inspection, RB_STATUS_CORRUPT, "its size does not match %u events",
                    (unsigned)inspection->entry.header.count);
    }
    inspection->entry.first = recording->info.eventCount;
    recording->info.eventCount += inspection->entry.header.count;
    rbArray_Push(recording->eventChunks, inspection->entry);
    return true;
}

// Reads an action at *cursor and moves it past the action.
static bool takeAction(rbRecording* recording, Inspection* inspection, const unsigned char** cursor,
                       const unsigned char* end, char** target)
{
    const unsigned char* bytes;
    size_t length;
    rbRecordedAction action;
    if (end - *cursor < 8) {
        return fail(inspection, RB_STATUS_CORRUPT, "its actions are malformed");
    }
    action.time = rbDoubleOfBits(rbGetWord64(*cursor));
    *cursor += 8;
    if (!takeText(cursor, end, &bytes, &length) || length > RB_RECORDING_ACTION_MAX ||
        !keepText(target, bytes, length, &action.text)) {
        return fail(inspection, RB_STATUS_CORRUPT, "the text of an action is malformed");
    }
    int count = recording->actions.count;
    double last = count > 0 ? recording->actions.data[count - 1].time : action.time;
    if (!isfinite(action.time) || action.time < last) {
        return fail(inspection, RB_STATUS_CORRUPT, "the time %.17g s of an action follows %.17g s",
                    action.time, last);
    }
    rbArray_Push(recording->actions, action);
    return true;
}

static bool acceptActions(rbRecording* recording, Inspection* inspection, const unsigned char* raw)
{
    const rbChunkHeader* header = &inspection->entry.header;
    if (header->count == 0 || header->rawSize / 12 < header->count) {
        return fail(inspection, RB_STATUS_CORRUPT, "its size does not match %u actions",
                    (unsigned)header->count);
    }
    recording->actedBytes += header->rawSize;
    if (recording->actedBytes > RB_RECORDING_ACTED_MAX) {
        return fail(inspection, RB_STATUS_LIMIT, "the actions exceed %u bytes together",
                    RB_RECORDING_ACTED_MAX);
    }
    const unsigned char* cursor = raw;
    const unsigned char* end = raw + header->rawSize;
    char* target = rbArena_Alloc(&recording->texts, header->rawSize);
    int before = recording->actions.count;
    for (uint32_t i = 0; i < header->count; ++i) {
        if (!takeAction(recording, inspection, &cursor, end, &target)) {
            recording->actions.count = before;
            return false;
        }
    }
    if (cursor != end) {
        recording->actions.count = before;
        return fail(inspection, RB_STATUS_CORRUPT, "bytes follow its last action");
    }
    recording->info.actionCount = recording->actions.count;
    return true;
}

static bool acceptDone(rbRecording* recording, Inspection* inspection, const unsigned char* raw)
{
    bool hasActions = recording->info.formatVersion >= 3;
    if (inspection->entry.header.rawSize !=
        (hasActions ? RB_RECORDING_DONE_SIZE : RB_RECORDING_DONE_SIZE_2)) {
        return fail(inspection, RB_STATUS_CORRUPT, "it has the wrong size");
    }
    if (hasActions && rbGetWord64(raw + 24) != (uint64_t)recording->info.actionCount) {
        return fail(inspection, RB_STATUS_CORRUPT,
                    "it counts %" PRIu64 " actions, but the file has %" PRId64,
                    rbGetWord64(raw + 24), recording->info.actionCount);
    }
    if (rbGetWord64(raw) != (uint64_t)recording->info.frameCount ||
        rbGetWord64(raw + 8) != (uint64_t)recording->info.eventCount) {
        return fail(inspection, RB_STATUS_CORRUPT,
                    "it counts %" PRIu64 " frames and %" PRIu64 " events, but the file has %" PRId64
                    " and %" PRId64,
                    rbGetWord64(raw), rbGetWord64(raw + 8), recording->info.frameCount,
                    recording->info.eventCount);
    }
    recording->info.finalHash = rbGetWord64(raw + 16);
    return true;
}

// What to do with a chunk of each type; raw bytes are given only for types decoded at once.
static const struct {
    bool (*accept)(rbRecording*, Inspection*, const unsigned char*);
    bool isDecodedAtOnce;
} chunkOps[] = {
    [RB_CHUNK_INFO] = {acceptInfo, true},
    [RB_CHUNK_SCENE] = {acceptScene, true},
    [RB_CHUNK_ATTACHMENT] = {acceptAttachment, true},
    [RB_CHUNK_FRAMES] = {acceptFrames, false},
    [RB_CHUNK_EVENTS] = {acceptEvents, false},
    [RB_CHUNK_ACTIONS] = {acceptActions, true},
    [RB_CHUNK_DONE] = {acceptDone, true},
};
_Static_assert(sizeof chunkOps / sizeof chunkOps[0] == RB_CHUNK_COUNT, "one row a type");

static int64_t headerChunkCount(const rbRecording* recording)
{
    // Before INFO is read, attachmentCount is 0.
    return 2 + (int64_t)recording->header.attachmentCount;
}

// The type a chunk must have at its place, or RB_CHUNK_COUNT if its tag is not allowed there.
static rbChunkType findType(const rbRecording* recording, const rbChunkHeader* header)
{
    int64_t number = recording->info.chunkCount;
    int low = RB_CHUNK_FRAMES;
    int high = RB_CHUNK_DONE;
    if (number < headerChunkCount(recording)) {
        low = number < RB_CHUNK_ATTACHMENT ? (int)number : (int)RB_CHUNK_ATTACHMENT;
        high = low;
    }
    for (int type = low; type <= high; ++type) {
        bool isKnown = type != RB_CHUNK_ACTIONS || recording->info.formatVersion >= 3;
        if (isKnown && rbChunkTag((rbChunkType)type) == header->tag) {
            return (rbChunkType)type;
        }
    }
    return RB_CHUNK_COUNT;
}

static bool checkSizes(const rbRecording* recording, Inspection* inspection)
{
    const rbChunkHeader* header = &inspection->entry.header;
    uint64_t left =
        recording->source.size - inspection->entry.offset - RB_RECORDING_CHUNK_HEADER_SIZE;
    if (header->rawSize == 0 || header->storedSize == 0) {
        return fail(inspection, RB_STATUS_CORRUPT, "it is empty");
    }
    if (header->rawSize > RB_RECORDING_CHUNK_MAX || header->storedSize > RB_RECORDING_CHUNK_MAX ||
        header->rawSize / RB_RECORDING_RATIO_MAX > header->storedSize) {
        return fail(inspection, RB_STATUS_LIMIT,
                    "its sizes, %u bytes stored for %u, exceed the limits",
                    (unsigned)header->storedSize, (unsigned)header->rawSize);
    }
    if (header->codec >= RB_CODEC_COUNT ||
        (header->codec == RB_CODEC_STORED && header->storedSize != header->rawSize)) {
        return fail(inspection, RB_STATUS_CORRUPT, "its codec is unknown");
    }
    if (header->storedSize > left) {
        inspection->isCutOff = true;
        return fail(inspection, RB_STATUS_CORRUPT,
                    "the file ends inside it, after %" PRIu64 " of its %u bytes", left,
                    (unsigned)header->storedSize);
    }
    return true;
}

// Inspects and accepts the chunk at entry.offset. False at the end of the valid part.
static bool inspectChunk(rbRecording* recording, Inspection* inspection, rbChunkType* type)
{
    unsigned char bytes[RB_RECORDING_CHUNK_HEADER_SIZE];
    rbChunkHeader* header = &inspection->entry.header;
    uint64_t left = recording->source.size - inspection->entry.offset;
    if (left < sizeof bytes) {
        inspection->isCutOff = true;
        return fail(inspection, RB_STATUS_CORRUPT, "the file ends before it is complete");
    }
    if (!readAt(&recording->source, inspection->entry.offset, bytes, sizeof bytes)) {
        return fail(inspection, RB_STATUS_IO, "it cannot be read: %s", strerror(errno));
    }
    if (!rbDecodeChunkHeader(bytes, inspection->checksum, header)) {
        return fail(inspection, RB_STATUS_CORRUPT, "its header does not match its checksum");
    }
    *type = findType(recording, header);
    if (*type == RB_CHUNK_COUNT || header->sequence != (uint64_t)recording->info.chunkCount) {
        return fail(inspection, RB_STATUS_CORRUPT, "it is not the chunk that belongs here");
    }
    if (!checkSizes(recording, inspection) || !loadStored(recording, inspection)) {
        return false;
    }
    const unsigned char* raw = NULL;
    if (chunkOps[*type].isDecodedAtOnce && !unpack(recording, inspection, &raw)) {
        return false;
    }
    if (!chunkOps[*type].accept(recording, inspection, raw)) {
        return false;
    }
    recording->info.chunkCount += 1;
    inspection->checksum = header->headerChecksum;
    inspection->entry.offset += RB_RECORDING_CHUNK_HEADER_SIZE + header->storedSize;
    return true;
}

static rbStatus describe(const rbRecording* recording, const Inspection* inspection, int64_t number,
                         rbError* error)
{
    char place[FAULT_PLACE_MAX];
    (void)snprintf(place, sizeof place, "chunk %" PRId64 " at byte %" PRIu64, number,
                   inspection->entry.offset);
    rbError_SetPlace(error, NULL, place);
    if (number < headerChunkCount(recording)) {
        return rbError_Set(error, inspection->status,
                           "the header of the recording is not usable: in %s, %s", place,
                           inspection->fault);
    }
    return rbError_Set(error, inspection->status,
                       "the recording is %s in %s: %s; the %" PRId64 " frames before it are good",
                       inspection->isCutOff ? "cut off" : "damaged", place, inspection->fault,
                       recording->info.frameCount);
}

// Walks over the file. Fails if its header is incomplete.
static rbStatus scan(rbRecording* recording, rbError* error)
{
    unsigned char signature[RB_RECORDING_SIGNATURE_SIZE];
    size_t size = recording->source.size < sizeof signature ? (size_t)recording->source.size
                                                            : sizeof signature;
    if (!readAt(&recording->source, 0, signature, size)) {
        return rbError_Set(error, RB_STATUS_IO, "the file cannot be read: %s", strerror(errno));
    }
    Inspection inspection = {.entry.offset = sizeof signature};
    uint32_t version = 0;
    rbStatus status = rbDecodeSignature(signature, size, &inspection.checksum, &version, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    recording->info.formatVersion = (int)version;
    recording->eventWords = version == 1 ? RB_RECORDING_EVENT_WORDS_1 : RB_RECORDING_EVENT_WORDS;
    rbChunkType type = RB_CHUNK_COUNT;
    bool isGood = true;
    while (isGood && type != RB_CHUNK_DONE) {
        isGood = inspectChunk(recording, &inspection, &type);
    }
    if (isGood && inspection.entry.offset != recording->source.size) {
        isGood = fail(&inspection, RB_STATUS_CORRUPT, "%" PRIu64 " bytes follow the end",
                      recording->source.size - inspection.entry.offset);
    }
    if (isGood) {
        return RB_STATUS_OK;
    }
    RB_ASSERT(inspection.status != RB_STATUS_OK);
    if (recording->info.chunkCount < headerChunkCount(recording)) {
        return describe(recording, &inspection, recording->info.chunkCount, error);
    }
    recording->info.finalHash = 0;
    recording->info.condition = inspection.isCutOff ? RB_RECORDING_CUT_OFF : RB_RECORDING_DAMAGED;
    (void)describe(recording, &inspection, recording->info.chunkCount, &recording->trouble);
    recording->info.trouble = &recording->trouble;
    return RB_STATUS_OK;
}

// Takes ownership of the source, also on failure.
static rbRecording* openSource(ByteSource source, const char* path, rbError* error)
{
    rbRecording* recording = rbAllocZero(1, sizeof *recording);
    recording->source = source;
    recording->info.byteCount = (int64_t)source.size;
    recording->frameChunk = -1;
    recording->eventChunk = -1;
    recording->decompressor = ZSTD_createDCtx();
    rbError_SetPlace(error, path, "");
    rbError_SetPlace(&recording->trouble, path, "");
    if (recording->decompressor == NULL) {
        (void)rbError_Set(error, RB_STATUS_LIMIT, "out of memory for decompressing a recording");
    } else if (scan(recording, error) == RB_STATUS_OK) {
        return recording;
    }
    rbCloseRecording(recording);
    return NULL;
}

rbRecording* rbOpenRecording(const char* path, rbError* error)
{
    RB_ASSERT(path != NULL);
    rbError_SetPlace(error, path, "");
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 && errno == ENOENT) {
        char partPath[4096];
        (void)snprintf(partPath, sizeof partPath, "%s.part", path);
        bool hasPart = stat(partPath, &status) == 0;
        (void)rbError_Set(error, RB_STATUS_NOT_FOUND,
                          "the recording '%.150s' does not exist%s%.150s%s", path,
                          hasPart ? ", but '" : "", hasPart ? partPath : "",
                          hasPart ? "' does: its run has not finished; use that name" : "");
        return NULL;
    }
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        (void)rbError_Set(error, RB_STATUS_IO, "cannot read '%.200s': %s", path, strerror(errno));
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
        return NULL;
    }
    if (!S_ISREG(status.st_mode)) {
        (void)close(descriptor);
        (void)rbError_Set(error, RB_STATUS_IO,
                          "cannot read '%.200s': it is not a regular file; give a .rbr file", path);
        return NULL;
    }
    ByteSource source = {descriptor, NULL, (uint64_t)status.st_size};
    return openSource(source, path, error);
}

rbRecording* rbOpenRecordingMemory(const void* bytes, size_t byteCount, rbError* error)
{
    RB_ASSERT(bytes != NULL || byteCount == 0);
    ByteSource source = {-1, bytes, byteCount};
    return openSource(source, "", error);
}

void rbCloseRecording(rbRecording* recording)
{
    if (recording == NULL) {
        return;
    }
    if (recording->source.descriptor >= 0) {
        (void)close(recording->source.descriptor);
    }
    (void)ZSTD_freeDCtx(recording->decompressor);
    rbArena_Free(&recording->texts);
    rbArray_Free(recording->actions);
    rbArray_Free(recording->frameChunks);
    rbArray_Free(recording->eventChunks);
    Buffer* buffers[] = {&recording->stored, &recording->raw, &recording->frameRows,
                         &recording->eventRows};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; ++i) {
        rbFree(buffers[i]->data, buffers[i]->capacity);
    }
    rbFree(recording, sizeof *recording);
}

const rbRecordingHeader* rbRecording_GetHeader(const rbRecording* recording)
{
    RB_ASSERT(recording != NULL);
    return &recording->header;
}

rbRecordingInfo rbRecording_GetInfo(const rbRecording* recording)
{
    RB_ASSERT(recording != NULL);
    return recording->info;
}

// The chunk that holds frame or event number index.
static int findChunk(const ChunkArray* chunks, int64_t index)
{
    int low = 0;
    int high = chunks->count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (chunks->data[middle].first <= index) {
            low = middle;
        } else {
            high = middle;
        }
    }
    RB_ASSERT(low < chunks->count && chunks->data[low].first <= index);
    return low;
}

// Decodes a table into rows.
static rbStatus loadTable(rbRecording* recording, const ChunkEntry* entry, size_t columnCount,
                          Buffer* rows, rbError* error)
{
    Inspection inspection = {.entry = *entry};
    size_t rowCount = entry->header.count;
    reserveBuffer(rows, rowCount * columnCount * sizeof(uint64_t));
    const unsigned char* raw = NULL;
    if (loadStored(recording, &inspection) && unpack(recording, &inspection, &raw) &&
        !rbDecodeColumns(raw, rowCount, columnCount, rows->data)) {
        (void)fail(&inspection, RB_STATUS_CORRUPT, "a column has an unknown prediction order");
    }
    if (inspection.status == RB_STATUS_OK) {
        return RB_STATUS_OK;
    }
    char place[FAULT_PLACE_MAX];
    (void)snprintf(place, sizeof place, "chunk %u at byte %" PRIu64,
                   (unsigned)entry->header.sequence, entry->offset);
    rbError_SetPlace(error, recording->trouble.file, place);
    return rbError_Set(error, inspection.status, "the recording is damaged in %s: %s", place,
                       inspection.fault);
}

rbStatus rbRecording_ReadFrame(rbRecording* recording, int64_t index, rbFrame* frame,
                               rbError* error)
{
    RB_ASSERT(recording != NULL && frame != NULL);
    if (index < 0 || index >= recording->info.frameCount) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "there is no frame %" PRId64 "; the recording has %" PRId64, index,
                           recording->info.frameCount);
    }
    size_t wordCount = rbFrameWordCount(recording->header.bodyCount);
    int chunk = findChunk(&recording->frameChunks, index);
    const ChunkEntry* entry = &recording->frameChunks.data[chunk];
    if (chunk != recording->frameChunk) {
        recording->frameChunk = -1;
        rbStatus status = loadTable(recording, entry, wordCount, &recording->frameRows, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        recording->frameChunk = chunk;
    }
    const double* row = (const double*)(void*)recording->frameRows.data +
                        (size_t)(index - entry->first) * wordCount;
    size_t n = (size_t)recording->header.bodyCount;
    const double* bodies = row + RB_RECORDING_FRAME_WORDS;
    *frame = (rbFrame){
        .time = row[0],
        .bodyCount = recording->header.bodyCount,
        .positions = (const rbVec3*)(const void*)bodies,
        .orientations = (const rbQuat*)(const void*)(bodies + 3 * n),
        .linearVelocities = (const rbVec3*)(const void*)(bodies + 7 * n),
        .angularVelocities = (const rbVec3*)(const void*)(bodies + 10 * n),
        .ledger = {row[1],
                   row[2],
                   row[3],
                   row[4],
                   row[5],
                   {row[6], row[7], row[8]},
                   {row[9], row[10], row[11]}},
    };
    return RB_STATUS_OK;
}

static rbRecordedEvent decodeEvent(const uint64_t* row, size_t wordCount)
{
    rbRecordedEvent event = {
        .time = rbDoubleOfBits(row[0]),
        .kind = (uint32_t)row[1],
        .bodyA = (uint32_t)(row[1] >> 32),
        .bodyB = (uint32_t)row[2],
        .law = (uint32_t)(row[2] >> 32),
        .energyChange = rbDoubleOfBits(row[3]),
    };
    RB_ASSERT(wordCount == RB_RECORDING_EVENT_WORDS || wordCount == RB_RECORDING_EVENT_WORDS_1);
    for (size_t i = 0; i < RB_RECORDED_VALUES && 4 + i < wordCount; ++i) {
        event.values[i] = rbDoubleOfBits(row[4 + i]);
    }
    if (wordCount == RB_RECORDING_EVENT_WORDS) {
        event.history = (uint32_t)row[4 + RB_RECORDED_VALUES];
    }
    return event;
}

rbStatus rbRecording_ReadEvents(rbRecording* recording, int64_t first, int count,
                                rbRecordedEvent* events, rbError* error)
{
    RB_ASSERT(recording != NULL && count >= 0);
    RB_ASSERT(events != NULL || count == 0);
    if (first < 0 || first > recording->info.eventCount ||
        count > recording->info.eventCount - first) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "there are no events %" PRId64 " to %" PRId64
                           "; the recording has %" PRId64,
                           first, first + count - 1, recording->info.eventCount);
    }
    for (int i = 0; i < count; ++i) {
        int chunk = recording->eventChunk;
        int64_t index = first + i;
        if (chunk < 0 || index < recording->eventChunks.data[chunk].first ||
            index - recording->eventChunks.data[chunk].first >=
                recording->eventChunks.data[chunk].header.count) {
            chunk = findChunk(&recording->eventChunks, index);
            recording->eventChunk = -1;
            rbStatus status = loadTable(recording, &recording->eventChunks.data[chunk],
                                        recording->eventWords, &recording->eventRows, error);
            if (status != RB_STATUS_OK) {
                return status;
            }
            recording->eventChunk = chunk;
        }
        const uint64_t* rows = (const uint64_t*)(void*)recording->eventRows.data;
        int64_t row = index - recording->eventChunks.data[chunk].first;
        events[i] = decodeEvent(rows + (size_t)row * recording->eventWords, recording->eventWords);
    }
    return RB_STATUS_OK;
}

const rbRecordedAction* rbRecording_GetActions(const rbRecording* recording, int* count)
{
    RB_ASSERT(recording != NULL && count != NULL);
    *count = recording->actions.count;
    return recording->actions.data;
}
