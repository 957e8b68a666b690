// The ranks of a run, by MPI 3.1. No call here decides anything about a result: sums are sums of
// integers, and everything else is moved.
//
// Errors of MPI itself end the run; the default handler of MPI names the rank and the cause.
#include "cluster/ranks.h"

#include "base/core/status.h"
#include "base/core/timer.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG_NEAR 1
#define EXIT_NUMERICAL 3

struct rbRanks {
    MPI_Comm comm;
    int index;
    int count;
    int* counts;           // four arrays of count for exchanges: sizes and offsets, out and in
    MPI_Request* requests; // count
    MPI_Status* statuses;  // of them; MPICH's constant for none is a warning of gcc
    rbBytes outgoing;      // of an exchange with all
    rbTraffic traffic;
};

// -------------------------------------------------------------------------------- begin and end

static void endMpi(void)
{
    int isFinal = 0;
    MPI_Finalized(&isFinal);
    if (!isFinal) {
        MPI_Finalize();
    }
}

static rbRanks* wrap(MPI_Comm comm)
{
    rbRanks* ranks = rbAllocZero(1, sizeof *ranks);
    ranks->comm = comm;
    MPI_Comm_rank(comm, &ranks->index);
    MPI_Comm_size(comm, &ranks->count);
    ranks->counts = rbAllocZero((size_t)ranks->count, 4 * sizeof(int));
    ranks->requests = rbAllocZero((size_t)ranks->count, sizeof(MPI_Request));
    ranks->statuses = rbAllocZero((size_t)ranks->count, sizeof(MPI_Status));
    return ranks;
}

rbRanks* rbOpenRanks(rbError* error)
{
    int isReady = 0;
    MPI_Initialized(&isReady);
    if (!isReady) {
        int provided = 0;
        if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
            (void)rbError_Set(error, RB_STATUS_UNSUPPORTED, "MPI cannot be initialized");
            return NULL;
        }
        (void)atexit(endMpi);
    }
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return wrap(comm);
}

rbRanks* rbRanks_Take(const rbRanks* ranks, int count)
{
    RB_ASSERT(count >= 1);
    MPI_Comm comm;
    MPI_Comm_split(ranks->comm, ranks->index < count ? 0 : MPI_UNDEFINED, ranks->index, &comm);
    return comm != MPI_COMM_NULL ? wrap(comm) : NULL;
}

rbRanks* rbRanks_Alone(const rbRanks* ranks)
{
    MPI_Comm comm;
    (void)ranks;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    return wrap(comm);
}

void rbCloseRanks(rbRanks* ranks)
{
    if (ranks == NULL) {
        return;
    }
    MPI_Comm_free(&ranks->comm);
    rbFree(ranks->counts, (size_t)ranks->count * 4 * sizeof(int));
    rbFree(ranks->requests, (size_t)ranks->count * sizeof(MPI_Request));
    rbFree(ranks->statuses, (size_t)ranks->count * sizeof(MPI_Status));
    rbArray_Free(ranks->outgoing);
    rbFree(ranks, sizeof *ranks);
}

int rbRanks_GetIndex(const rbRanks* ranks)
{
    return ranks->index;
}

int rbRanks_GetCount(const rbRanks* ranks)
{
    return ranks->count;
}

rbTraffic rbRanks_GetTraffic(const rbRanks* ranks)
{
    return ranks->traffic;
}

void rbRanks_Meet(rbRanks* ranks)
{
    MPI_Barrier(ranks->comm);
}

void rbRanks_Abort(const rbRanks* ranks, const char* message)
{
    (void)fprintf(stderr, "rattleback: rank %d: %s\n", ranks->index, message);
    (void)fflush(stderr);
    MPI_Abort(ranks->comm, EXIT_NUMERICAL);
    abort(); // MPI_Abort does not return
}

// --------------------------------------------------------------------------------------- agreement

rbStatus rbRanks_Agree(rbRanks* ranks, rbStatus status, rbError* error)
{
    // the lowest rank that failed, and the highest that did not
    int extremes[2] = {status == RB_STATUS_OK ? INT_MAX : ranks->index,
                       status == RB_STATUS_OK ? -ranks->index : 1};
    MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_INT, MPI_MIN, ranks->comm);
    int first = extremes[0];
    if (first == INT_MAX) {
        return RB_STATUS_OK;
    }
    rbError shared = {0};
    if (ranks->index == first && error != NULL) {
        shared = *error;
    }
    shared.status = status;
    MPI_Bcast(&shared, (int)sizeof shared, MPI_BYTE, first, ranks->comm);
    status = shared.status;
    if (error != NULL) {
        *error = shared;
        if (extremes[1] <= 0) { // otherwise it is the error of all
            (void)rbError_Set(error, status, "rank %d: %.*s", first,
                              (int)(sizeof shared.message - 32), shared.message);
        }
    }
    return status;
}

bool rbRanks_IsSame(rbRanks* ranks, uint64_t value)
{
    uint64_t extremes[2] = {value, ~value};
    MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_UINT64_T, MPI_MAX, ranks->comm);
    return extremes[0] == ~extremes[1];
}

// -------------------------------------------------------------------------------- sums, extremes

static void reduce(rbRanks* ranks, void* values, int count, MPI_Datatype type, MPI_Op op)
{
    double start = rbGetWallTime();
    MPI_Allreduce(MPI_IN_PLACE, values, count, type, op, ranks->comm);
    ranks->traffic.waitTime += rbGetWallTime() - start;
    ++ranks->traffic.collectives;
}

void rbRanks_SumExact(rbRanks* ranks, rbExactSum* sums, int count)
{
    for (int i = 0; i < count; ++i) {
        rbExactSum_Normalize(&sums[i]);
    }
    reduce(ranks, sums, count * RB_EXACT_SUM_WORDS, MPI_INT64_T, MPI_SUM);
    for (int i = 0; i < count; ++i) {
        sums[i].pending = ranks->count;
    }
}

void rbRanks_SumIntegers(rbRanks* ranks, int64_t* values, int count)
{
    reduce(ranks, values, count, MPI_INT64_T, MPI_SUM);
}

void rbRanks_SumHash(rbRanks* ranks, uint64_t* hash)
{
    reduce(ranks, hash, 1, MPI_UINT64_T, MPI_SUM);
}

void rbRanks_MaxIntegers(rbRanks* ranks, int64_t* values, int count)
{
    reduce(ranks, values, count, MPI_INT64_T, MPI_MAX);
}

void rbRanks_MaxNumbers(rbRanks* ranks, double* values, int count)
{
    reduce(ranks, values, count, MPI_DOUBLE, MPI_MAX);
}

void rbRanks_GatherNumber(rbRanks* ranks, double value, double* all)
{
    MPI_Allgather(&value, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, ranks->comm);
    ++ranks->traffic.collectives;
}

// -------------------------------------------------------------------------------------------- mail

rbMail rbCreateMail(const rbRanks* ranks)
{
    size_t count = (size_t)ranks->count;
    return (rbMail){.out = rbAllocZero(count, sizeof(rbBytes)),
                    .inFirst = rbAllocZero(count + 1, sizeof(int)),
                    .rankCount = ranks->count};
}

void rbDestroyMail(rbMail* mail)
{
    for (int i = 0; i < mail->rankCount; ++i) {
        rbArray_Free(mail->out[i]);
    }
    rbArray_Free(mail->in);
    rbFree(mail->out, (size_t)mail->rankCount * sizeof(rbBytes));
    rbFree(mail->inFirst, ((size_t)mail->rankCount + 1) * sizeof(int));
    *mail = (rbMail){0};
}

void rbMail_Clear(rbMail* mail)
{
    for (int i = 0; i < mail->rankCount; ++i) {
        mail->out[i].count = 0;
    }
}

// Appends bytes; a message of 2 GiB is a limit of MPI.
static void append(rbBytes* bytes, const void* record, size_t size)
{
    RB_ASSERT(size <= (size_t)(INT_MAX - bytes->count));
    int count = bytes->count + (int)size;
    bytes->data = rbEnsureArray(bytes->data, &bytes->capacity, count, 1);
    if (size > 0) {
        memcpy(bytes->data + bytes->count, record, size);
    }
    bytes->count = count;
}

void rbMail_Write(rbMail* mail, int rank, const void* record, size_t size)
{
    RB_ASSERT(rank >= 0 && rank < mail->rankCount);
    append(&mail->out[rank], record, size);
}

const unsigned char* rbMail_Read(const rbMail* mail, int rank, size_t* size)
{
    *size = (size_t)(mail->inFirst[rank + 1] - mail->inFirst[rank]);
    return *size > 0 ? mail->in.data + mail->inFirst[rank] : NULL;
}

void rbRanks_Exchange(rbRanks* ranks, rbMail* mail)
{
    double start = rbGetWallTime();
    int n = ranks->count;
    int* outSizes = ranks->counts;
    int* outFirst = outSizes + n;
    int* inSizes = outFirst + n;
    ranks->outgoing.count = 0;
    for (int i = 0; i < n; ++i) {
        outSizes[i] = mail->out[i].count;
        outFirst[i] = ranks->outgoing.count;
        append(&ranks->outgoing, mail->out[i].data, (size_t)outSizes[i]);
        ranks->traffic.messages += outSizes[i] > 0 && i != ranks->index;
        ranks->traffic.bytes += i != ranks->index ? outSizes[i] : 0;
    }
    MPI_Alltoall(outSizes, 1, MPI_INT, inSizes, 1, MPI_INT, ranks->comm);
    mail->inFirst[0] = 0;
    for (int i = 0; i < n; ++i) {
        RB_ASSERT(inSizes[i] <= INT_MAX - mail->inFirst[i]);
        mail->inFirst[i + 1] = mail->inFirst[i] + inSizes[i];
    }
    rbArray_Reserve(mail->in, mail->inFirst[n] + 1);
    mail->in.count = mail->inFirst[n];
    MPI_Alltoallv(ranks->outgoing.data, outSizes, outFirst, MPI_BYTE, mail->in.data, inSizes,
                  mail->inFirst, MPI_BYTE, ranks->comm);
    ranks->traffic.waitTime += rbGetWallTime() - start;
    ranks->traffic.collectives += 2;
}

void rbRanks_ExchangeNear(rbRanks* ranks, rbMail* mail, rbRankList to, rbRankList from)
{
    double start = rbGetWallTime();
    for (int i = 0; i < to.count; ++i) {
        const rbBytes* out = &mail->out[to.data[i]];
        MPI_Isend(out->data, out->count, MPI_BYTE, to.data[i], TAG_NEAR, ranks->comm,
                  &ranks->requests[i]);
        ranks->traffic.bytes += out->count;
    }
    ranks->traffic.messages += to.count;
    // Ranks between those of the list sent nothing.
    mail->in.count = 0;
    int next = 0;
    for (int i = 0; i < from.count; ++i) {
        MPI_Status status;
        MPI_Message message;
        int size = 0;
        RB_ASSERT(from.data[i] >= next);
        while (next <= from.data[i]) {
            mail->inFirst[next++] = mail->in.count;
        }
        MPI_Mprobe(from.data[i], TAG_NEAR, ranks->comm, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &size);
        mail->in.data =
            rbEnsureArray(mail->in.data, &mail->in.capacity, mail->in.count + size + 1, 1);
        MPI_Mrecv(mail->in.data + mail->in.count, size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        mail->in.count += size;
    }
    while (next <= ranks->count) {
        mail->inFirst[next++] = mail->in.count;
    }
    MPI_Waitall(to.count, ranks->requests, ranks->statuses);
    ranks->traffic.waitTime += rbGetWallTime() - start;
}

void rbRanks_GatherBytes(rbRanks* ranks, rbBytes* bytes)
{
    int n = ranks->count;
    int* sizes = ranks->counts;
    int* first = sizes + n;
    rbBytes all = {0};
    MPI_Gather(&bytes->count, 1, MPI_INT, sizes, 1, MPI_INT, 0, ranks->comm);
    if (ranks->index == 0) {
        int64_t total = 0;
        for (int i = 0; i < n; ++i) {
            first[i] = (int)total;
            total += sizes[i];
            RB_ASSERT(total < INT_MAX);
        }
        rbArray_Reserve(all, (int)total + 1);
        all.count = (int)total;
    }
    MPI_Gatherv(bytes->data, bytes->count, MPI_BYTE, all.data, sizes, first, MPI_BYTE, 0,
                ranks->comm);
    rbArray_Free(*bytes);
    *bytes = all;
}

// ------------------------------------------------------------------------------------------- files

#define PATH_SIZE 4096

struct rbRankFile {
    rbRanks* ranks;
    MPI_File handle;
    char path[PATH_SIZE];
    char part[PATH_SIZE]; // its temporary name; empty: the file is read
    int code;             // the first failure of MPI on this rank
};

static rbStatus explain(rbRankFile* file, const char* what, rbError* error)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (file->code == MPI_SUCCESS) {
        return RB_STATUS_OK;
    }
    MPI_Error_string(file->code, text, &length);
    return rbError_Set(error, RB_STATUS_IO, "%s: cannot %s: %.200s", file->path, what, text);
}

// mode: of MPI.
static rbRankFile* openFile(rbRanks* ranks, const char* path, int mode, rbError* error)
{
    bool isNew = (mode & MPI_MODE_WRONLY) != 0;
    rbRankFile* file = rbAllocZero(1, sizeof *file);
    file->ranks = ranks;
    int size = snprintf(file->path, sizeof file->path, "%s", path);
    bool isLong = size < 0 || size >= PATH_SIZE - 8;
    if (isNew) {
        (void)snprintf(file->part, sizeof file->part, "%.4080s.part", path);
    }
    rbStatus status = RB_STATUS_OK;
    if (isLong) {
        status = rbError_Set(error, RB_STATUS_IO, "the name of a file is too long");
    } else {
        // all ranks get the same code
        file->code = MPI_File_open(ranks->comm, isNew ? file->part : file->path, mode,
                                   MPI_INFO_NULL, &file->handle);
        status = explain(file, isNew ? "create it" : "open it", error);
    }
    if (rbRanks_Agree(ranks, status, error) != RB_STATUS_OK) {
        rbFree(file, sizeof *file);
        return NULL;
    }
    return file;
}

rbRankFile* rbRankFile_Create(rbRanks* ranks, const char* path, rbError* error)
{
    rbRankFile* file = openFile(ranks, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, error);
    if (file != NULL) {
        file->code = MPI_File_set_size(file->handle, 0);
    }
    return file;
}

rbRankFile* rbRankFile_Continue(rbRanks* ranks, const char* path, rbError* error)
{
    return openFile(ranks, path, MPI_MODE_WRONLY, error);
}

rbRankFile* rbRankFile_Open(rbRanks* ranks, const char* path, rbError* error)
{
    return openFile(ranks, path, MPI_MODE_RDONLY, error);
}

int64_t rbRankFile_GetSize(rbRankFile* file)
{
    MPI_Offset size = 0;
    int code = MPI_File_get_size(file->handle, &size);
    file->code = file->code == MPI_SUCCESS ? code : file->code;
    return (int64_t)size;
}

static void keep(rbRankFile* file, int code, MPI_Status* status, int size)
{
    int count = 0;
    if (code == MPI_SUCCESS) {
        MPI_Get_count(status, MPI_BYTE, &count);
        code = count == size ? MPI_SUCCESS : MPI_ERR_IO;
    }
    file->code = file->code == MPI_SUCCESS ? code : file->code;
}

void rbRankFile_Write(rbRankFile* file, int64_t offset, const void* bytes, size_t size)
{
    RB_ASSERT(size < INT_MAX);
    MPI_Status status;
    int code = MPI_File_write_at_all(file->handle, offset, bytes, (int)size, MPI_BYTE, &status);
    keep(file, code, &status, (int)size);
}

void rbRankFile_Read(rbRankFile* file, int64_t offset, void* bytes, size_t size)
{
    RB_ASSERT(size < INT_MAX);
    MPI_Status status;
    if (size > 0) {
        memset(bytes, 0, size);
    }
    int code = MPI_File_read_at_all(file->handle, offset, bytes, (int)size, MPI_BYTE, &status);
    keep(file, code, &status, (int)size);
}

rbStatus rbRankFile_Close(rbRankFile* file, rbError* error)
{
    rbRanks* ranks = file->ranks;
    bool isNew = file->part[0] != '\0';
    if (isNew) {
        int code = MPI_File_sync(file->handle);
        file->code = file->code == MPI_SUCCESS ? code : file->code;
    }
    int code = MPI_File_close(&file->handle);
    file->code = file->code == MPI_SUCCESS ? code : file->code;
    rbStatus status = explain(file, isNew ? "write it" : "read it", error);
    status = rbRanks_Agree(ranks, status, error);
    if (isNew && ranks->index == 0) {
        if (status == RB_STATUS_OK && rename(file->part, file->path) != 0) {
            status = rbError_Set(error, RB_STATUS_IO, "%.1000s: cannot rename it to %.1000s",
                                 file->part, file->path);
        }
        if (status != RB_STATUS_OK) {
            (void)remove(file->part);
        }
    }
    status = rbRanks_Agree(ranks, status, error);
    rbFree(file, sizeof *file);
    return status;
}
