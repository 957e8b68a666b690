// The ranks of a run: the only file that calls MPI. Everything here is collective, in the same
// order on all ranks, unless stated otherwise.
#pragma once

#include "base/core/memory.h"
#include "cluster/exact_sum.h"

#include <rattleback/cluster.h>

// Bytes for every rank and from every rank. Records are copied, so they need no alignment.
typedef RB_ARRAY(unsigned char) rbBytes;

typedef struct rbMail {
    rbBytes* out; // one per rank
    rbBytes in;   // all that came, ordered by rank
    int* inFirst; // per rank: where its bytes begin in it; one more for the end
    int rankCount;
} rbMail;

rbMail rbCreateMail(const rbRanks* ranks);
void rbDestroyMail(rbMail* mail);
// Empties what goes out.
void rbMail_Clear(rbMail* mail);
void rbMail_Write(rbMail* mail, int rank, const void* record, size_t size);
// The bytes that came from a rank.
const unsigned char* rbMail_Read(const rbMail* mail, int rank, size_t* size);

// Sends to all ranks, however few have something to say: when nobody knows who is near.
void rbRanks_Exchange(rbRanks* ranks, rbMail* mail);
// Some ranks, in ascending order.
typedef struct rbRankList {
    const int* data;
    int count;
} rbRankList;

// Sends one message to each of some ranks and receives one from each of some, possibly empty. Every
// rank that is sent to expects it. Not collective beyond these.
void rbRanks_ExchangeNear(rbRanks* ranks, rbMail* mail, rbRankList to, rbRankList from);

// Sums and extremes over all ranks, in place; all ranks get the same bits.
void rbRanks_SumExact(rbRanks* ranks, rbExactSum* sums, int count);
void rbRanks_SumIntegers(rbRanks* ranks, int64_t* values, int count);
void rbRanks_SumHash(rbRanks* ranks, uint64_t* hash); // modulo 2^64
void rbRanks_MaxIntegers(rbRanks* ranks, int64_t* values, int count);
void rbRanks_MaxNumbers(rbRanks* ranks, double* values, int count);
// One value of each rank, in the order of ranks.
void rbRanks_GatherNumber(rbRanks* ranks, double value, double* all);
// Bytes of all ranks on rank 0, in the order of ranks; empties the array on the others.
void rbRanks_GatherBytes(rbRanks* ranks, rbBytes* bytes);

// Messages sent, and seconds spent in MPI, by this rank since it began.
typedef struct rbTraffic {
    int64_t messages;    // to neighbors and others, without collective calls
    int64_t bytes;       // in them
    int64_t collectives; // calls of sums and extremes
    double waitTime;     // s
} rbTraffic;

// Of this rank; not collective.
rbTraffic rbRanks_GetTraffic(const rbRanks* ranks);

// A file that all ranks write or read together, by MPI-IO.
typedef struct rbRankFile rbRankFile;

// Creates a file under a temporary name, path and ".part". NULL with an error on all ranks.
rbRankFile* rbRankFile_Create(rbRanks* ranks, const char* path, rbError* error);
// Goes on with a file that has its temporary name already. NULL with an error on all ranks.
rbRankFile* rbRankFile_Continue(rbRanks* ranks, const char* path, rbError* error);
// NULL with an error on all ranks.
rbRankFile* rbRankFile_Open(rbRanks* ranks, const char* path, rbError* error);
int64_t rbRankFile_GetSize(rbRankFile* file); // bytes
// Each rank writes or reads bytes at a place of its own; a failure is kept for the end. Bytes that
// were not read are 0.
void rbRankFile_Write(rbRankFile* file, int64_t offset, const void* bytes, size_t size);
void rbRankFile_Read(rbRankFile* file, int64_t offset, void* bytes, size_t size);
// Closes a file that was read, or gives a file that is whole its name; the others are deleted. All
// ranks get the same status.
rbStatus rbRankFile_Close(rbRankFile* file, rbError* error);
