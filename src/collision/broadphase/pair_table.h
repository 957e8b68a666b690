// A table of pairs of boxes, each with a counter, and the partners of a box.
#pragma once

#include "base/core/memory.h"

#include <stdbool.h>
#include <stdint.h>

// Whether two bodies may form a pair; the same pair always gets the same answer. a < b.
typedef bool rbPairFilterFn(void* context, int a, int b);

// A pair is in the lists of both its boxes. A link is 2 * entry + side, -1 at the end.
typedef struct rbPairEntry {
    int32_t ids[2]; // ids[0] < ids[1]; ids[0] = -1: a free entry
    int32_t counter;
    int32_t nextInBucket; // or next free entry
    int32_t next[2];      // by side
    int32_t previous[2];
} rbPairEntry;

typedef struct rbPairTable {
    rbPairEntry* entries;
    int capacity;
    int end;            // entries used so far
    int count;          // pairs
    int32_t freeEntry1; // first of the free ones + 1; 0: none
    int32_t* buckets;
    int bucketCapacity; // a power of two
    int32_t* firsts;    // by id, first link
    int idCapacity;
} rbPairTable;

void rbPairTable_Free(rbPairTable* table);

// Removes all pairs, keeps the memory.
void rbPairTable_Clear(rbPairTable* table);

// Reserves memory for boxes below idEnd.
void rbPairTable_Reserve(rbPairTable* table, int idEnd);

// The entry of a pair, or -1. The order of the two does not matter.
int rbPairTable_Find(const rbPairTable* table, int a, int b);

// The entry of a pair; created with counter 0 if it is not in the table.
int rbPairTable_Add(rbPairTable* table, int a, int b);

void rbPairTable_Remove(rbPairTable* table, int entry);

// for (link = rbPairTable_First(t, id); link >= 0; link = rbPairTable_Next(t, link)) partner...
static inline int32_t rbPairTable_First(const rbPairTable* table, int id)
{
    return table->firsts[id];
}

static inline int32_t rbPairTable_Next(const rbPairTable* table, int32_t link)
{
    return table->entries[link >> 1].next[link & 1];
}

static inline int rbPairTable_Partner(const rbPairTable* table, int32_t link)
{
    return table->entries[link >> 1].ids[1 - (link & 1)];
}
