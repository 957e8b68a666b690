// Names of bodies: maps a name to an index in constant time.
#pragma once

#include <rattleback/base.h>

#define RB_NAME_CAPACITY 64

typedef struct rbNameSlot {
    uint64_t hash;
    int index1; // index + 1; 0: never used, -1: removed
} rbNameSlot;

// Open addressing. The names are stored by their owner, which is called to compare them.
typedef struct rbNameTable {
    rbNameSlot* slots;
    int capacity; // a power of two, or 0
    int used;     // occupied slots, removed ones included
} rbNameTable;

// Name of the object with an index.
typedef const char* rbNameOfFn(int index, const void* context);

// Index of a name, -1 if there is none.
int rbNameTable_Find(const rbNameTable* table, const char* name, rbNameOfFn* nameOf,
                     const void* context);
// The name must not be in the table yet; an empty one is not entered.
void rbNameTable_Insert(rbNameTable* table, const char* name, int index);
void rbNameTable_Remove(rbNameTable* table, const char* name, int index);
void rbNameTable_Free(rbNameTable* table);
