// All bodies and contacts in the order of uids, divided among ranks in pieces of similar size: what
// files contain, whoever owns what.
#pragma once

#include "cluster/domain.h"

typedef struct rbOrder {
    rbGrains grains;     // of this rank, ascending
    rbMemories memories; // likewise, by the lower uid and the other one
    int64_t firstGrain, grainCount;
    int64_t firstMemory, memoryCount; // before those of this rank, and of all ranks
} rbOrder;

// Sorts by samples. Collective.
void rbOrder_Collect(rbOrder* order, rbDomain* domain);
void rbOrder_Free(rbOrder* order);
