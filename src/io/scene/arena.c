#include "io/scene/arena.h"

#include "base/core/memory.h"

struct rbArenaBlock {
    struct rbArenaBlock* next;
    size_t size;               // of the whole block, header included
    _Alignas(16) char bytes[]; // the memory handed out
};

void* rbArena_Alloc(rbArena* arena, size_t size)
{
    size_t blockSize = sizeof(struct rbArenaBlock) + size;
    struct rbArenaBlock* block = rbAlloc(blockSize);
    block->next = arena->blocks;
    block->size = blockSize;
    arena->blocks = block;
    return block->bytes;
}

void rbArena_Free(rbArena* arena)
{
    while (arena->blocks != NULL) {
        struct rbArenaBlock* block = arena->blocks;
        arena->blocks = block->next;
        rbFree(block, block->size);
    }
}
