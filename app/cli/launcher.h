// Programs that start several processes of this one: mpirun, mpiexec, srun.
#pragma once

#include "cli/cli.h"

// True if a launcher of MPI started this process, alone or with others.
bool rbIsLaunched(void);
// How many processes a launcher started; 1: none did. variable: what says so.
int rbCountLaunched(const char** variable);
// True for the first of the processes, and where nobody says which one this is.
bool rbIsFirstProcess(void);
// Whether a verb may run: several processes that do not know of each other would each do the whole
// work. Says so, once for all of them.
bool rbCheckLauncher(const rbVerb* verb);

#ifdef RB_MPI
// rattleback run on the ranks of MPI.
rbExit rbRunOnRanks(const rbArguments* arguments);
#endif
