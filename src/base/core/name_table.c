#include "base/core/name_table.h"

#include "base/core/hash.h"
#include "base/core/memory.h"

#include <string.h>

static uint64_t hashName(const char* name)
{
    return rbHashBytes(RB_HASH_SEED, name, strlen(name));
}

int rbNameTable_Find(const rbNameTable* table, const char* name, rbNameOfFn* nameOf,
                     const void* context)
{
    if (table->capacity == 0) {
        return -1;
    }
    uint64_t hash = hashName(name);
    uint64_t mask = (uint64_t)table->capacity - 1;
    for (uint64_t i = hash & mask; table->slots[i].index1 != 0; i = (i + 1) & mask) {
        const rbNameSlot* slot = &table->slots[i];
        if (slot->index1 > 0 && slot->hash == hash &&
            strcmp(nameOf(slot->index1 - 1, context), name) == 0) {
            return slot->index1 - 1;
        }
    }
    return -1;
}

static void place(rbNameTable* table, rbNameSlot slot)
{
    uint64_t mask = (uint64_t)table->capacity - 1;
    uint64_t i = slot.hash & mask;
    while (table->slots[i].index1 != 0) {
        i = (i + 1) & mask;
    }
    table->slots[i] = slot;
    table->used += 1;
}

static void grow(rbNameTable* table)
{
    rbNameTable old = *table;
    table->capacity = old.capacity > 0 ? 2 * old.capacity : 16;
    table->slots = rbAllocZero((size_t)table->capacity, sizeof *table->slots);
    table->used = 0;
    for (int i = 0; i < old.capacity; ++i) {
        if (old.slots[i].index1 > 0) {
            place(table, old.slots[i]);
        }
    }
    rbFree(old.slots, (size_t)old.capacity * sizeof *old.slots);
}

void rbNameTable_Insert(rbNameTable* table, const char* name, int index)
{
    RB_ASSERT(index >= 0);
    if (name[0] == '\0') {
        return;
    }
    if (2 * (table->used + 1) > table->capacity) {
        grow(table);
    }
    place(table, (rbNameSlot){hashName(name), index + 1});
}

void rbNameTable_Remove(rbNameTable* table, const char* name, int index)
{
    uint64_t hash = hashName(name);
    uint64_t mask = (uint64_t)table->capacity - 1;
    for (uint64_t i = hash & mask; name[0] != '\0' && table->slots[i].index1 != 0;
         i = (i + 1) & mask) {
        if (table->slots[i].index1 == index + 1 && table->slots[i].hash == hash) {
            table->slots[i].index1 = -1;
            return;
        }
    }
}

void rbNameTable_Free(rbNameTable* table)
{
    rbFree(table->slots, (size_t)table->capacity * sizeof *table->slots);
    *table = (rbNameTable){0};
}
