#include "base/core/id_pool.h"

int rbIdPool_Take(rbIdPool* pool)
{
    if (pool->freeSlots.count > 0) {
        int index = pool->freeSlots.data[--pool->freeSlots.count];
        pool->generations.data[index] += 1;
        return index;
    }
    rbArray_Push(pool->generations, 1);
    return pool->generations.count - 1;
}

void rbIdPool_Release(rbIdPool* pool, int index)
{
    RB_ASSERT(0 <= index && index < pool->generations.count);
    RB_ASSERT((pool->generations.data[index] & 1u) == 1u);
    pool->generations.data[index] += 1;
    rbArray_Push(pool->freeSlots, index);
}

bool rbIdPool_IsAlive(const rbIdPool* pool, uint32_t index1, uint32_t generation)
{
    return index1 != 0 && index1 <= (uint32_t)pool->generations.count &&
           pool->generations.data[index1 - 1] == generation && (generation & 1u) == 1u;
}

void rbIdPool_Free(rbIdPool* pool)
{
    rbArray_FreeAll(pool->generations, pool->freeSlots);
}
