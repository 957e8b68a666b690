// gnuplot as a child process. The picture passes through us instead of gnuplot's own "set output":
// gnuplot does not notice a full disk, and a file name given to it would be part of the script.
#include "io/output/gnuplot.h"

#include "io/output/child_process.h"

#include <string.h>

rbStatus rbRunGnuplot(const char* script, size_t scriptSize, rbOutputFile* output, rbError* error)
{
    RB_ASSERT(script != NULL && scriptSize > 0);
    RB_ASSERT(output != NULL && output->descriptor >= 0);
    char program[] = "gnuplot";
    char noStartupFile[] = "-d";
    char standardInput[] = "-";
    char* const arguments[] = {program, noStartupFile, standardInput, NULL};
    rbChild child;
    rbStatus status = rbChild_Start(&child, arguments, output,
                                    "plots need the program gnuplot, which is not installed; "
                                    "install the package gnuplot-nox",
                                    error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    (void)rbChild_Feed(&child, script, scriptSize);
    status = rbChild_Finish(&child, error);
    if (status == RB_STATUS_OK && strstr(child.tail, "</svg>") == NULL) {
        return rbError_Set(error, RB_STATUS_IO, "gnuplot failed: it gave no reason");
    }
    return status;
}
