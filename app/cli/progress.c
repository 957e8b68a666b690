#include "cli/progress.h"

void rbProgress_Show(rbProgress* progress, double wall, double time)
{
    double interval = progress->isTerminal ? RB_PROGRESS_TERMINAL : RB_PROGRESS_LOG;
    if (progress->file == NULL || wall - progress->lastWall < interval) {
        return;
    }
    progress->lastWall = wall;
    double advanced = time - progress->startTime;
    double left = advanced > 0.0
                      ? (wall - progress->startWall) * (progress->duration - time) / advanced
                      : 0.0;
    (void)fprintf(progress->file, "%s%s  t = %.6g s of %g s  %3.0f %%  %.0f s left%s",
                  progress->isTerminal ? "\r\033[K" : "rattleback: progress: ", progress->name,
                  time, progress->duration, 100.0 * time / progress->duration, left,
                  progress->isTerminal ? "" : "\n");
    (void)fflush(progress->file);
    progress->hasLine = progress->isTerminal;
}

void rbProgress_End(rbProgress* progress)
{
    if (progress->hasLine) {
        (void)fputs("\r\033[K", progress->file);
    }
}
