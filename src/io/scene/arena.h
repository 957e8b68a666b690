// Arena: memory for data that is freed together.
#pragma once

#include <stddef.h>

// Blocks that are freed all together.
typedef struct rbArena {
    struct rbArenaBlock* blocks;
} rbArena;

// Memory aligned to 16 bytes, valid until the arena is freed.
void* rbArena_Alloc(rbArena* arena, size_t size);
void rbArena_Free(rbArena* arena);
