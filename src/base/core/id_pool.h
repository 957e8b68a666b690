// Index and generation bookkeeping behind public ids: slots are reused, ids are not.
#pragma once

#include "base/core/memory.h"

#include <stdbool.h>

typedef struct rbIdPool {
    RB_ARRAY(uint32_t) generations; // even: free, odd: alive
    RB_ARRAY(int) freeSlots;        // last in, first out
} rbIdPool;

// Allocates a slot; the array of objects must grow when the index equals its count.
int rbIdPool_Take(rbIdPool* pool);
void rbIdPool_Release(rbIdPool* pool, int index);
bool rbIdPool_IsAlive(const rbIdPool* pool, uint32_t index1, uint32_t generation);
void rbIdPool_Free(rbIdPool* pool);
