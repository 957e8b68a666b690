// The tables of loops and detectors.
#include "dynamics/engines/event/event_rows.h"

#include "base/core/registered_rows.h"

static const rbDetectorRow exactRow = {.name = "exact"};

static const rbEventLoopRow* const loops[RB_LOOP_COUNT] = {[RB_LOOP_BODIES] = &rbBodyLoopRow};
static const rbDetectorRow* const detectors[RB_DETECTOR_COUNT] = {[RB_DETECTOR_EXACT] = &exactRow};

static rbRegisteredRows registeredLoops;     // of rbEventLoopRow
static rbRegisteredRows registeredDetectors; // of rbDetectorRow

// ------------------------------------------------------------------------------------------ loops

int rbEventLoop_GetCount(void)
{
    return RB_LOOP_COUNT + registeredLoops.count;
}

const rbEventLoopRow* rbGetEventLoopRow(rbEventLoop loop)
{
    RB_ASSERT((int)loop >= 0 && (int)loop < rbEventLoop_GetCount());
    return loop < RB_LOOP_COUNT ? loops[loop] : registeredLoops.rows[loop - RB_LOOP_COUNT];
}

RB_DEFINE_WORDS(rbEventLoop, "loop", rbEventLoop_GetCount(),
                rbGetEventLoopRow((rbEventLoop)index)->name)

rbStatus rbRegisterEventLoop(const rbEventLoopRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_ASSERT(row->advance != NULL);
    bool isKnown = row->name != NULL && (int)rbEventLoop_Find(row->name) < rbEventLoop_GetCount();
    rbNewRow newRow = {"loop of events", row->name, row, isKnown};
    return rbRegisteredRows_Add(&registeredLoops, &newRow, error);
}

// -------------------------------------------------------------------------------------- detectors

int rbDetector_GetCount(void)
{
    return RB_DETECTOR_COUNT + registeredDetectors.count;
}

const rbDetectorRow* rbGetDetectorRow(rbDetector detector)
{
    RB_ASSERT((int)detector >= 0 && (int)detector < rbDetector_GetCount());
    return detector < RB_DETECTOR_COUNT ? detectors[detector]
                                        : registeredDetectors.rows[detector - RB_DETECTOR_COUNT];
}

RB_DEFINE_WORDS(rbDetector, "detector", rbDetector_GetCount(),
                rbGetDetectorRow((rbDetector)index)->name)

rbStatus rbRegisterDetector(const rbDetectorRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_ASSERT(row->canDetect != NULL);
    RB_ASSERT(row->predict != NULL);
    RB_ASSERT(row->handle != NULL);
    bool isKnown = row->name != NULL && (int)rbDetector_Find(row->name) < rbDetector_GetCount();
    rbNewRow newRow = {"detector", row->name, row, isKnown};
    return rbRegisteredRows_Add(&registeredDetectors, &newRow, error);
}
