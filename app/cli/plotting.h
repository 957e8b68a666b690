// The plot of a run: the probes that the scene asks for, up to ten panels of them, each with its
// name and unit, over energy and momentum drift. Without probes: where the first bodies of a
// mechanism are, or how the first body spins. Keeps at most a few thousand samples however long the
// run is.
#ifndef RB_CLI_PLOTTING_H
#define RB_CLI_PLOTTING_H

#include "cli/tally.h"

typedef struct rbPlotter rbPlotter;

rbPlotter* rbCreatePlotter(const rbScene* scene, const rbWorld* world);
void rbDestroyPlotter(rbPlotter* plotter); // NULL is fine
// Takes a sample of the world now; values are those of the probes.
void rbPlotter_Add(rbPlotter* plotter, const rbWorld* world, const double* values,
                   const rbTally* tally);
rbStatus rbPlotter_Write(const rbPlotter* plotter, const char* path, rbError* error);

#endif
