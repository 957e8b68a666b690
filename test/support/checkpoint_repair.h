// Corrects sizes and checksums of bytes like those of a checkpoint, so that tests of hostile files
// get past them. Written from the description of the format, not with the code that reads it.
#pragma once

#include "base/core/hash.h"
#include "io/output/bytes.h"

#include <stdbool.h>

#define REPAIR_HEAD 32u
#define REPAIR_PARTS 6

static inline void repairHead(unsigned char* head, uint64_t seed)
{
    rbPutWord64(head + 24, rbHashBytes(seed, head, 24));
}

// starts: of the bytes of each part, if not NULL; sizes likewise.
static inline void repairCheckpoint(unsigned char* bytes, size_t size, size_t* starts,
                                    size_t* sizes)
{
    static const char tags[REPAIR_PARTS][5] = {"BILD", "CMND", "SCEN", "STAT", "OUTP", "WRLD"};
    size_t at = REPAIR_HEAD;
    if (size < at) {
        return;
    }
    static const unsigned char signature[8] = {0x89, 'R', 'B', 'K', '\r', '\n', 0x1a, '\n'};
    memcpy(bytes, signature, sizeof signature);
    rbPutWord32(bytes + 8, 1);
    rbPutWord32(bytes + 12, REPAIR_PARTS);
    rbPutWord64(bytes + 16, size);
    repairHead(bytes, RB_HASH_SEED);
    const unsigned char* previous = bytes;
    for (int i = 0; i < REPAIR_PARTS && size - at >= REPAIR_HEAD; ++i) {
        unsigned char* head = bytes + at;
        size_t left = size - at - REPAIR_HEAD;
        uint64_t given = rbGetWord64(head + 8);
        bool isAll = i == REPAIR_PARTS - 1 || given > left;
        size_t partSize = isAll ? left : (size_t)given;
        at += REPAIR_HEAD;
        memcpy(head, tags[i], 4);
        rbPutWord64(head + 8, partSize);
        rbPutWord64(head + 16, rbHashBytes(RB_HASH_SEED, bytes + at, partSize));
        repairHead(head, rbGetWord64(previous + 24));
        previous = head;
        if (starts != NULL) {
            starts[i] = at;
            sizes[i] = partSize;
        }
        at += partSize;
    }
}
