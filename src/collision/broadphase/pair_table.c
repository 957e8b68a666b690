// Chained hashing; entries are linked into the lists of both boxes.
#include "collision/broadphase/pair_table.h"

void rbPairTable_Free(rbPairTable* table)
{
    rbFree(table->entries, (size_t)table->capacity * sizeof *table->entries);
    rbFree(table->buckets, (size_t)table->bucketCapacity * sizeof *table->buckets);
    rbFree(table->firsts, (size_t)table->idCapacity * sizeof *table->firsts);
    *table = (rbPairTable){0};
}

// Makes all links -1.
static void clear(int32_t* links, int count)
{
    for (int i = 0; i < count; ++i) {
        links[i] = -1;
    }
}

void rbPairTable_Clear(rbPairTable* table)
{
    table->end = 0;
    table->count = 0;
    table->freeEntry1 = 0;
    clear(table->buckets, table->bucketCapacity);
    clear(table->firsts, table->idCapacity);
}

void rbPairTable_Reserve(rbPairTable* table, int idEnd)
{
    int old = table->idCapacity;
    if (idEnd > old) {
        table->firsts =
            rbGrowArray(table->firsts, &table->idCapacity, idEnd, sizeof *table->firsts);
        clear(table->firsts + old, table->idCapacity - old);
    }
}

static int32_t* getBucket(const rbPairTable* table, int a, int b)
{
    uint64_t key = ((uint64_t)(uint32_t)a << 32) | (uint32_t)b;
    key *= 0x9E3779B97F4A7C15u;
    return &table->buckets[(key ^ (key >> 32)) & ((uint64_t)table->bucketCapacity - 1)];
}

int rbPairTable_Find(const rbPairTable* table, int a, int b)
{
    if (table->bucketCapacity == 0) {
        return -1;
    }
    int low = a < b ? a : b, high = a < b ? b : a;
    int32_t e = *getBucket(table, low, high);
    while (e >= 0 && (table->entries[e].ids[0] != low || table->entries[e].ids[1] != high)) {
        e = table->entries[e].nextInBucket;
    }
    return e;
}

static void growBuckets(rbPairTable* table)
{
    int capacity = table->bucketCapacity > 0 ? 2 * table->bucketCapacity : 64;
    rbFree(table->buckets, (size_t)table->bucketCapacity * sizeof *table->buckets);
    table->buckets = rbAlloc((size_t)capacity * sizeof *table->buckets);
    table->bucketCapacity = capacity;
    clear(table->buckets, capacity);
    for (int e = 0; e < table->end; ++e) {
        rbPairEntry* entry = &table->entries[e];
        if (entry->ids[0] >= 0) {
            int32_t* bucket = getBucket(table, entry->ids[0], entry->ids[1]);
            entry->nextInBucket = *bucket;
            *bucket = e;
        }
    }
}

int rbPairTable_Add(rbPairTable* table, int a, int b)
{
    RB_ASSERT(a != b);
    RB_ASSERT(a >= 0 && a < table->idCapacity);
    RB_ASSERT(b >= 0 && b < table->idCapacity);
    int e = rbPairTable_Find(table, a, b);
    if (e >= 0) {
        return e;
    }
    if (table->count >= table->bucketCapacity) {
        growBuckets(table);
    }
    e = table->freeEntry1 - 1;
    if (e >= 0) {
        table->freeEntry1 = table->entries[e].nextInBucket;
    } else {
        table->entries =
            rbGrowArray(table->entries, &table->capacity, table->end + 1, sizeof *table->entries);
        e = table->end++;
    }
    rbPairEntry* entry = &table->entries[e];
    *entry = (rbPairEntry){.ids = {a < b ? a : b, a < b ? b : a}};
    int32_t* bucket = getBucket(table, entry->ids[0], entry->ids[1]);
    entry->nextInBucket = *bucket;
    *bucket = e;
    for (int side = 0; side < 2; ++side) {
        int32_t* first = &table->firsts[entry->ids[side]];
        entry->next[side] = *first;
        entry->previous[side] = -1;
        if (*first >= 0) {
            table->entries[*first >> 1].previous[*first & 1] = 2 * e + side;
        }
        *first = 2 * e + side;
    }
    ++table->count;
    return e;
}

void rbPairTable_Remove(rbPairTable* table, int entry)
{
    RB_ASSERT(entry >= 0 && entry < table->end);
    rbPairEntry* gone = &table->entries[entry];
    RB_ASSERT(gone->ids[0] >= 0);
    int32_t* link = getBucket(table, gone->ids[0], gone->ids[1]);
    while (*link != entry) {
        link = &table->entries[*link].nextInBucket;
    }
    *link = gone->nextInBucket;
    for (int side = 0; side < 2; ++side) {
        int32_t next = gone->next[side], previous = gone->previous[side];
        if (next >= 0) {
            table->entries[next >> 1].previous[next & 1] = previous;
        }
        if (previous >= 0) {
            table->entries[previous >> 1].next[previous & 1] = next;
        } else {
            table->firsts[gone->ids[side]] = next;
        }
    }
    gone->ids[0] = -1;
    gone->nextInBucket = table->freeEntry1;
    table->freeEntry1 = entry + 1;
    --table->count;
}
