// Checkpoint files: see checkpoint_file.h.
#include "io/output/checkpoint_file.h"

#include "base/core/hash.h"
#include "base/core/memory.h"
#include "io/output/bytes.h"
#include "io/output/output_file.h"
#include "io/scene/file_bytes.h"

#include <inttypes.h>
#include <stdio.h>

#define SIGNATURE_SIZE 8u
#define CHECKED_SIZE 24u // bytes of a head before its checksum

static const unsigned char signature[SIGNATURE_SIZE] = {0x89, 'R',  'B',  'K',
                                                        '\r', '\n', 0x1a, '\n'};

#define PART_ROW(name, tag, text) {tag, text},
static const struct {
    const char* tag;
    const char* text;
} rows[RB_CHECKPOINT_PART_COUNT] = {RB_CHECKPOINT_PARTS(PART_ROW)};

// ---------------------------------------------------------------------------------------- writing

static void makeHead(unsigned char* head, uint64_t size)
{
    memcpy(head, signature, SIGNATURE_SIZE);
    rbPutWord32(head + 8, RB_CHECKPOINT_VERSION);
    rbPutWord32(head + 12, RB_CHECKPOINT_PART_COUNT);
    rbPutWord64(head + 16, size);
    rbPutWord64(head + CHECKED_SIZE, rbHashBytes(RB_HASH_SEED, head, CHECKED_SIZE));
}

// previous: the head before it.
static void makePartHead(unsigned char* head, int part, const unsigned char* bytes, size_t size,
                         const unsigned char* previous)
{
    memcpy(head, rows[part].tag, 4);
    rbPutWord32(head + 4, 0);
    rbPutWord64(head + 8, size);
    rbPutWord64(head + 16, rbHashBytes(RB_HASH_SEED, bytes, size));
    rbPutWord64(head + CHECKED_SIZE,
                rbHashBytes(rbGetWord64(previous + CHECKED_SIZE), head, CHECKED_SIZE));
}

static uint64_t sizeOf(const rbCheckpointFile* file)
{
    uint64_t size = RB_CHECKPOINT_HEAD_SIZE;
    for (int i = 0; i < RB_CHECKPOINT_PART_COUNT; ++i) {
        size += RB_CHECKPOINT_HEAD_SIZE + file->parts[i].size;
    }
    return size;
}

rbStatus rbCheckpointFile_Write(const rbCheckpointFile* file, const char* path, rbError* error)
{
    rbOutputFile* output = rbAlloc(sizeof *output);
    rbStatus status = rbOutputFile_Open(output, path, error);
    if (status == RB_STATUS_OK) {
        output->enableSync = true;
        unsigned char heads[2][RB_CHECKPOINT_HEAD_SIZE];
        makeHead(heads[0], sizeOf(file));
        rbOutputFile_Write(output, heads[0], RB_CHECKPOINT_HEAD_SIZE);
        for (int i = 0; i < RB_CHECKPOINT_PART_COUNT; ++i) {
            const rbStateStream* part = &file->parts[i];
            makePartHead(heads[1], i, part->bytes, part->size, heads[0]);
            rbOutputFile_Write(output, heads[1], RB_CHECKPOINT_HEAD_SIZE);
            rbOutputFile_Write(output, part->bytes, part->size);
            memcpy(heads[0], heads[1], RB_CHECKPOINT_HEAD_SIZE);
        }
        status = rbOutputFile_Commit(output, error);
        rbSyncFolderOf(output->path);
    }
    rbFree(output, sizeof *output);
    return status;
}

// ---------------------------------------------------------------------------------------- reading

#define START_ANEW "start the run anew without --resume"

static rbStatus failDamaged(rbError* error, const char* what)
{
    return rbError_Set(error, RB_STATUS_CORRUPT,
                       "the checkpoint is damaged (%s); use a copy of it, or " START_ANEW, what);
}

static rbStatus failCut(rbError* error, uint64_t wanted, size_t size)
{
    return rbError_Set(error, RB_STATUS_CORRUPT,
                       "the checkpoint is cut off: it has %zu bytes of %" PRIu64
                       "; use a copy of it, or " START_ANEW,
                       size, wanted);
}

static rbStatus checkHead(const unsigned char* bytes, size_t size, rbError* error)
{
    if (size < SIGNATURE_SIZE || memcmp(bytes, signature, SIGNATURE_SIZE) != 0) {
        return rbError_Set(error, RB_STATUS_SYNTAX,
                           "this is not a checkpoint; --resume needs a file that 'rattleback run "
                           "--checkpoint' wrote");
    }
    if (size < RB_CHECKPOINT_HEAD_SIZE) {
        return failCut(error, RB_CHECKPOINT_HEAD_SIZE, size);
    }
    if (rbGetWord64(bytes + CHECKED_SIZE) != rbHashBytes(RB_HASH_SEED, bytes, CHECKED_SIZE)) {
        return failDamaged(error, "head");
    }
    uint32_t version = rbGetWord32(bytes + 8);
    if (version != RB_CHECKPOINT_VERSION) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "the checkpoint has format version %u, this program reads %u; resume "
                           "with the program that wrote it, or " START_ANEW,
                           version, RB_CHECKPOINT_VERSION);
    }
    uint64_t wanted = rbGetWord64(bytes + 16);
    if (size < wanted) {
        return failCut(error, wanted, size);
    }
    if (size > wanted || rbGetWord32(bytes + 12) != RB_CHECKPOINT_PART_COUNT) {
        return failDamaged(error, "size");
    }
    return RB_STATUS_OK;
}

rbStatus rbCheckpointFile_Parse(rbCheckpointFile* file, const void* bytes, size_t size,
                                rbError* error)
{
    const unsigned char* start = bytes;
    memset(file, 0, sizeof *file);
    rbStatus status = checkHead(start, size, error);
    size_t at = RB_CHECKPOINT_HEAD_SIZE;
    uint64_t checksum = status == RB_STATUS_OK ? rbGetWord64(start + CHECKED_SIZE) : 0;
    for (int i = 0; i < RB_CHECKPOINT_PART_COUNT && status == RB_STATUS_OK; ++i) {
        const unsigned char* head = start + at;
        if (size - at < RB_CHECKPOINT_HEAD_SIZE) {
            return failDamaged(error, rows[i].text);
        }
        at += RB_CHECKPOINT_HEAD_SIZE;
        checksum = rbHashBytes(checksum, head, CHECKED_SIZE);
        uint64_t partSize = rbGetWord64(head + 8);
        if (rbGetWord64(head + CHECKED_SIZE) != checksum || memcmp(head, rows[i].tag, 4) != 0 ||
            partSize > size - at ||
            rbGetWord64(head + 16) != rbHashBytes(RB_HASH_SEED, start + at, (size_t)partSize)) {
            return failDamaged(error, rows[i].text);
        }
        file->parts[i] = rbMakeLoadingStream(start + at, (size_t)partSize);
        at += (size_t)partSize;
    }
    return status == RB_STATUS_OK && at != size ? failDamaged(error, "size") : status;
}

rbStatus rbCheckpointFile_Read(rbCheckpointFile* file, const char* path, rbError* error)
{
    void* bytes = NULL;
    size_t size = 0;
    memset(file, 0, sizeof *file);
    rbStatus status = rbReadFileBytes(path, RB_CHECKPOINT_SIZE_MAX, &bytes, &size, error);
    if (status == RB_STATUS_OK) {
        rbError_SetPlace(error, path, "");
        status = rbCheckpointFile_Parse(file, bytes, size, error);
        file->bytes = bytes;
        file->size = size;
    }
    return status;
}

void rbCheckpointFile_Free(rbCheckpointFile* file)
{
    for (int i = 0; i < RB_CHECKPOINT_PART_COUNT; ++i) {
        rbStateStream_Free(&file->parts[i]);
    }
    rbFree(file->bytes, file->size);
    memset(file, 0, sizeof *file);
}

bool rbIsCheckpoint(const char* path)
{
    char start[SIGNATURE_SIZE] = "";
    FILE* file = fopen(path, "rb");
    bool isOne = file != NULL && fread(start, 1, sizeof start, file) == sizeof start &&
                 memcmp(start, signature, sizeof start) == 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return isOne;
}
