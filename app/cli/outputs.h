// The files a run writes, as one object: fed frame by frame, completed or abandoned together.
#ifndef RB_CLI_OUTPUTS_H
#define RB_CLI_OUTPUTS_H

#include "cli/output_format.h"

typedef struct rbOutputs {
    rbOutputRun run;
    void* writers[RB_OUTPUT_FORMATS_MAX]; // by row; NULL: not asked for, or ended
    double* values;                       // time and probes
    rbFrame frame;
} rbOutputs;

// Checks the options of all formats; prints the reason.
bool rbOutputs_Check(const rbArguments* arguments);
// The option of the format that writes to standard output; NULL: none. Two of them are refused.
bool rbOutputs_FindStandardOutput(const rbArguments* arguments, const char** option);
// Time between outputs (s) that a format asked for needs; stays when none does.
bool rbOutputs_ChooseStep(const rbArguments* arguments, double* step);
// Whether a format asked for writes events. Events that nobody reads take no memory.
bool rbOutputs_NeedEvents(const rbArguments* arguments);

// Opens the writers that the arguments ask for. After a failure nothing is open.
rbStatus rbOutputs_Open(rbOutputs* outputs, const rbOutputRun* run, rbError* error);
// Writes the events that the world holds now.
rbStatus rbOutputs_WriteEvents(rbOutputs* outputs, rbError* error);
// Writes the state of now.
rbStatus rbOutputs_WriteFrame(rbOutputs* outputs, rbError* error);
// Completes all files. After a failure the rest is abandoned. hash: of the final state.
rbStatus rbOutputs_Finish(rbOutputs* outputs, uint64_t hash, rbError* error);
// Leaves nothing behind but the .part of a recording. Harmless after Finish.
void rbOutputs_Abandon(rbOutputs* outputs);

// The files of a finished run for the summary.
typedef struct rbOutputList {
    rbWrittenFile files[RB_OUTPUT_FORMATS_MAX];
    int count;
    char text[8192]; // names that are made here
} rbOutputList;
void rbOutputs_List(const rbArguments* arguments, const rbSceneInfo* info, rbOutputList* list);

#endif
