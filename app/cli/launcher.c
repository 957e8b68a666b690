// What the variables of launchers say. They are set whether or not the program knows MPI, so a
// program without it, or with another one than the launcher's, is noticed.
#include "cli/launcher.h"

#include <stdlib.h>
#include <string.h>

// The number of processes and the index of this one: OpenMPI; MPICH and others; Slurm.
static const char* const variables[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                           {"PMI_SIZE", "PMI_RANK"},
                                           {"SLURM_NTASKS", "SLURM_PROCID"}};
#define LAUNCHER_COUNT (sizeof variables / sizeof variables[0])

// A whole number from the environment; fallback: there is none.
static int readNumber(const char* name, int fallback)
{
    const char* text = getenv(name);
    char* end = NULL;
    long value = text != NULL ? strtol(text, &end, 10) : 0;
    bool isNumber = text != NULL && end != text && *end == '\0' && value >= 0 && value < 100000000;
    return isNumber ? (int)value : fallback;
}

bool rbIsLaunched(void)
{
    for (size_t i = 0; i < LAUNCHER_COUNT; ++i) {
        if (readNumber(variables[i][0], 0) > 0) {
            return true;
        }
    }
    return false;
}

int rbCountLaunched(const char** variable)
{
    for (size_t i = 0; i < LAUNCHER_COUNT; ++i) {
        int count = readNumber(variables[i][0], 1);
        if (count > 1) {
            *variable = variables[i][0];
            return count;
        }
    }
    return 1;
}

// True for the first of the processes, and where nobody says which one this is.
bool rbIsFirstProcess(void)
{
    for (size_t i = 0; i < LAUNCHER_COUNT; ++i) {
        if (readNumber(variables[i][0], 1) > 1) {
            return readNumber(variables[i][1], 0) == 0;
        }
    }
    return true;
}

bool rbCheckLauncher(const rbVerb* verb)
{
    const char* variable = NULL;
    int count = rbCountLaunched(&variable);
    if (count == 1) {
        return true;
    }
#ifdef RB_MPI
    if (strcmp(verb->name, "run") == 0 || strcmp(verb->name, "bench") == 0) {
        return true;
    }
    if (rbIsFirstProcess()) {
        (void)rbFail(
            "%s says that %d processes were started, and each would do all the work of "
            "'%s': only 'run' and 'bench cluster' work on several; start one process, or unset %s",
            variable, count, verb->name, variable);
    }
#else
    (void)verb;
    if (rbIsFirstProcess()) {
        (void)rbFail("%s says that %d processes were started, and this program was built without "
                     "MPI, so that each would do all the work: build it with RB_MPI=ON (see "
                     "docs/cluster.md), start one process, or unset %s",
                     variable, count, variable);
    }
#endif
    return false;
}
