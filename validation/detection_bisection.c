#include "detection_bisection.h"

#include <rattleback/base.h>

double rbBisectDetection(rbDetectFn* detect, const void* context, double stepEnd, int* rounds)
{
    RB_ASSERT(stepEnd > 0.0);
    double gap = 0.0;
    double step = 0.5;
    *rounds = 0;
    while (step > stepEnd) {
        gap += detect(context, gap) ? step : -step;
        step *= 0.5;
        ++*rounds;
    }
    return gap;
}
