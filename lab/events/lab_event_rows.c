#include "lab/events/lab_event_rows.h"

rbStatus rbRegisterLabEventRows(rbError* error)
{
    rbStatus status = rbRegisterDetector(&rbRayDetectorRow, error);
    status = status == RB_STATUS_OK ? rbRegisterEventLoop(&rbPairLoopRow, error) : status;
    return status == RB_STATUS_OK ? rbRegisterEventLoop(&rbAllPairsLoopRow, error) : status;
}
