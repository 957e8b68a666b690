// The files a run writes, as one object: fed frame by frame, completed or abandoned together.
#pragma once

#include "cli/output_format.h"

typedef struct rbOutputs {
    rbOutputRun run;
    void* writers[RB_OUTPUT_FORMATS_MAX]; // by row; NULL: not requested, or finished
    double* values;                       // time and probes
    rbFrame frame;
} rbOutputs;

// Checks the options of all formats; prints the reason.
bool rbOutputs_Check(const rbArguments* arguments);
// The option of the format that writes to standard output; NULL: none. Two such formats are
// refused.
bool rbOutputs_FindStandardOutput(const rbArguments* arguments, const char** option);
// Whether no output has the name of another or of a file that is read; otherwise prints a message.
bool rbOutputs_CheckNames(const rbArguments* arguments, const rbScene* scene);
// Time between outputs (s) that a requested format needs; unchanged when none needs one.
bool rbOutputs_ChooseStep(const rbArguments* arguments, double* step);
// Whether a requested format writes events. Otherwise events use no memory.
bool rbOutputs_NeedEvents(const rbArguments* arguments);

// Opens the writers requested by the arguments. After a failure nothing is open.
rbStatus rbOutputs_Open(rbOutputs* outputs, const rbOutputRun* run, rbError* error);
// Writes the events that the world holds now.
rbStatus rbOutputs_WriteEvents(rbOutputs* outputs, rbError* error);
// Writes the current state.
rbStatus rbOutputs_WriteFrame(rbOutputs* outputs, rbError* error);
// Completes all files. After a failure the remaining ones are abandoned. hash: of the final state.
rbStatus rbOutputs_Finish(rbOutputs* outputs, uint64_t hash, rbError* error);
// Leaves nothing behind except the .part file of a recording. Harmless after Finish.
void rbOutputs_Abandon(rbOutputs* outputs);

// The files of a finished run for the summary.
typedef struct rbOutputList {
    rbWrittenFile files[RB_OUTPUT_FORMATS_MAX];
    int count;
    char text[8192]; // storage for generated names
} rbOutputList;
void rbOutputs_List(const rbArguments* arguments, const rbSceneInfo* info, rbOutputList* list);
