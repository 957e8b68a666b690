// The files a run writes, as one object: fed frame by frame, completed or abandoned together.
#ifndef RB_CLI_OUTPUTS_H
#define RB_CLI_OUTPUTS_H

#include "cli/frames.h"
#include "cli/plotting.h"
#include "cli/shooting.h"
#include "cli/tally.h"
#include "io/output/journal.h"
#include "server/page.h"

#include <rattleback/output.h>

// What to write; NULL means not.
typedef struct rbOutputPaths {
    const char* recording;
    const char* csv;
    const char* vtk; // a folder
    const char* plot;
    const char* journal;
    const char* page;
    rbShootingPlan shooting;
} rbOutputPaths;

#define RB_OUTPUT_FILES_MAX 8

typedef struct rbOutputs {
    rbOutputPaths paths;
    const rbScene* scene;
    rbRecordingWriter* recording;
    rbCsv* csv;
    rbVtk* vtk;
    rbPlotter* plotter;
    rbJournal* journal;
    rbPageWriter* page;
    rbShooting* shooting;
    double* values; // time and probes
    int valueCount;
} rbOutputs;

// Opens all writers. The head of the recording has the settings of the run and the names of all
// bodies that ever live; the scene and its files are filled in here.
rbStatus rbOutputs_Open(rbOutputs* outputs, const rbOutputPaths* paths, const rbScene* scene,
                        const rbWorld* world, const rbRecordingHeader* head, rbError* error);
// Writes the events that the world's journal holds now, to the recording, the journal and the page.
rbStatus rbOutputs_WriteEvents(rbOutputs* outputs, const rbWorld* world,
                               const rbFrameBuffer* buffer, rbError* error);
// Writes a frame to all of them.
rbStatus rbOutputs_Write(rbOutputs* outputs, const rbWorld* world, rbFrameBuffer* buffer,
                         const rbTally* tally, rbError* error);
// Completes all files. After a failure the rest is abandoned.
rbStatus rbOutputs_Finish(rbOutputs* outputs, const rbWorld* world, uint64_t hash, rbError* error);
// Leaves nothing behind but the .part of a recording. Harmless after Finish.
void rbOutputs_Abandon(rbOutputs* outputs);
// The files of a finished run for the summary; returns their count. A name made here goes to text.
int rbOutputs_List(const rbOutputs* outputs, const rbSceneInfo* info, rbWrittenFile* files,
                   char* text, size_t capacity);

#endif
