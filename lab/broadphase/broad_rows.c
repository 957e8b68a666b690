#include "lab/broadphase/broad_rows.h"

rbStatus rbRegisterLabBroadPhases(rbError* error)
{
    static const rbBroadRow* const rows[] = {&rbBroadRowNaive,   &rbBroadRowCells,
                                             &rbBroadRowHash,    &rbBroadRowSweep1D,
                                             &rbBroadRowSweep2D, &rbBroadRowCoherentHash};
    rbStatus status = RB_STATUS_OK;
    for (size_t i = 0; status == RB_STATUS_OK && i < sizeof rows / sizeof rows[0]; ++i) {
        status = rbRegisterBroadPhase(rows[i], error);
    }
    return status;
}
