#include "cluster/order.h"

#include <stdlib.h>
#include <string.h>

// Per rank: the largest piece is about 1/SAMPLES larger than the mean.
#define SAMPLES 32

static int compareUids(const void* a, const void* b)
{
    uint64_t x = *(const uint64_t*)a;
    uint64_t y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

// Grains begin with their uid, and memories with both.
static int compareMemories(const void* a, const void* b)
{
    const uint64_t* x = a;
    const uint64_t* y = b;
    return x[0] != y[0] ? compareUids(a, b) : compareUids(x + 1, y + 1);
}

// The uid from which the piece of each rank begins; the first piece begins at 0.
static void chooseSplits(rbDomain* domain, uint64_t* splits)
{
    int rankCount = rbRanks_GetCount(domain->ranks);
    size_t count = (size_t)domain->ownedCount;
    uint64_t* uids = rbAlloc(count * sizeof(uint64_t));
    for (size_t i = 0; i < count; ++i) {
        uids[i] = domain->grains.data[i].uid;
    }
    if (count > 0) {
        qsort(uids, count, sizeof(uint64_t), compareUids);
    }
    rbMail_Clear(&domain->mail);
    for (int r = 0; r < rankCount; ++r) {
        for (size_t k = 0; k < SAMPLES && count > 0; ++k) {
            rbMail_Write(&domain->mail, r, &uids[k * count / SAMPLES], sizeof(uint64_t));
        }
    }
    rbFree(uids, count * sizeof(uint64_t));
    rbRanks_Exchange(domain->ranks, &domain->mail);
    size_t total = (size_t)domain->mail.in.count / sizeof(uint64_t);
    uint64_t* samples = rbAlloc(total * sizeof(uint64_t));
    if (total > 0) {
        memcpy(samples, domain->mail.in.data, total * sizeof(uint64_t));
        qsort(samples, total, sizeof(uint64_t), compareUids);
    }
    for (int r = 0; r < rankCount; ++r) {
        splits[r] = r == 0 || total == 0 ? 0 : samples[(size_t)r * total / (size_t)rankCount];
    }
    rbFree(samples, total * sizeof(uint64_t));
}

static int findPiece(const uint64_t* splits, int count, uint64_t uid)
{
    int low = 0;
    for (int high = count; high - low > 1;) {
        int middle = low + (high - low) / 2;
        if (splits[middle] <= uid) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// How many come before those of this rank, and all.
static void count(rbRanks* ranks, int own, int64_t* first, int64_t* all)
{
    int rankCount = rbRanks_GetCount(ranks);
    double* counts = rbAlloc((size_t)rankCount * sizeof(double));
    rbRanks_GatherNumber(ranks, own, counts);
    *first = 0;
    *all = 0;
    for (int r = 0; r < rankCount; ++r) {
        *first += r < rbRanks_GetIndex(ranks) ? (int64_t)counts[r] : 0;
        *all += (int64_t)counts[r];
    }
    rbFree(counts, (size_t)rankCount * sizeof(double));
}

void rbOrder_Collect(rbOrder* order, rbDomain* domain)
{
    *order = (rbOrder){0};
    int rankCount = rbRanks_GetCount(domain->ranks);
    size_t size = (size_t)rankCount * sizeof(uint64_t);
    uint64_t* splits = rbAlloc(size);
    chooseSplits(domain, splits);
    rbMail_Clear(&domain->mail);
    for (int i = 0; i < domain->ownedCount; ++i) {
        const rbGrain* grain = &domain->grains.data[i];
        rbMail_Write(&domain->mail, findPiece(splits, rankCount, grain->uid), grain, sizeof *grain);
    }
    rbRanks_Exchange(domain->ranks, &domain->mail);
    rbArray_SetCount(order->grains, (int)((size_t)domain->mail.in.count / sizeof(rbGrain)));
    if (order->grains.count > 0) {
        memcpy(order->grains.data, domain->mail.in.data, (size_t)domain->mail.in.count);
        qsort(order->grains.data, (size_t)order->grains.count, sizeof(rbGrain), compareUids);
    }
    rbDomain_ListMemories(domain, &order->memories);
    rbMail_Clear(&domain->mail);
    for (int i = 0; i < order->memories.count; ++i) {
        const rbMemory* memory = &order->memories.data[i];
        rbMail_Write(&domain->mail, findPiece(splits, rankCount, memory->uidA), memory,
                     sizeof *memory);
    }
    rbRanks_Exchange(domain->ranks, &domain->mail);
    rbArray_SetCount(order->memories, (int)((size_t)domain->mail.in.count / sizeof(rbMemory)));
    if (order->memories.count > 0) {
        memcpy(order->memories.data, domain->mail.in.data, (size_t)domain->mail.in.count);
        qsort(order->memories.data, (size_t)order->memories.count, sizeof(rbMemory),
              compareMemories);
    }
    rbFree(splits, size);
    count(domain->ranks, order->grains.count, &order->firstGrain, &order->grainCount);
    count(domain->ranks, order->memories.count, &order->firstMemory, &order->memoryCount);
}

void rbOrder_Free(rbOrder* order)
{
    rbArray_FreeAll(order->grains, order->memories);
    *order = (rbOrder){0};
}
