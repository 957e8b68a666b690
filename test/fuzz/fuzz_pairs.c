// Any bytes as a file of pairs: read, the first pairs measured, and all of them written again.
#include "base/core/memory.h"
#include "pairs/pair_file.h"
#include "pairs/pair_log.h"

#include <rattleback/collision.h>

#include <math.h>
#include <stdlib.h>

#define MEASURED_MAX 4 // pairs: the kernel has its own tests; this one tests the reader

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void measure(const rbShapePair* pair, void* scratch)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = pair->a;
    input.geometryB = pair->b;
    input.transformBtoA = pair->transformBtoA;
    rbSeparation separation;
    rbError error = {0};
    if (rbMeasureSeparation(&input, NULL, scratch, &separation, &error) != RB_STATUS_OK &&
        error.message[0] == '\0') {
        abort(); // every error has a message
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    rbPairFile* file = NULL;
    rbError error = {0};
    if (rbReadPairText("fuzz.pairs", (const char*)data, size, &file, &error) != RB_STATUS_OK) {
        if (error.status == RB_STATUS_OK || error.message[0] == '\0' || file != NULL) {
            abort();
        }
        return 0;
    }
    int count = 0;
    const rbShapePair* pairs = rbPairFile_GetPairs(file, &count);
    void* scratch = rbAlloc(rbGetSeparationScratchSize());
    for (int i = 0; i < count && i < MEASURED_MAX; ++i) {
        measure(&pairs[i], scratch);
    }
    rbFree(scratch, rbGetSeparationScratchSize());
    rbPairLog* log = rbOpenPairLog("/dev/null", &error);
    for (int i = 0; i < count && log != NULL; ++i) {
        rbPairLog_Add(log, pairs[i].a, pairs[i].b, pairs[i].transformBtoA, pairs[i].severity,
                      pairs[i].remark);
    }
    if (rbPairLog_Close(&log, true, &error) != RB_STATUS_OK) {
        abort(); // everything that was read can be written
    }
    rbDestroyPairFile(file);
    return 0;
}
