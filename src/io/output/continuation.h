// Outputs that another process continues, for checkpoints. Save makes what is written so far safe
// and moves the state of the writer through a saving stream; Continue opens the output again at the
// place in a loading stream, with the arguments it was created with. The file is then the same,
// byte by byte, as if it had been written at once. On failure nothing is changed.
#pragma once

#include "io/output/journal.h"
#include "io/output/state_stream.h"

#include <rattleback/output.h>

rbStatus rbCsv_Save(rbCsv* csv, rbStateStream* stream, rbError* error);
rbCsv* rbContinueCsv(const char* path, int columnCount, rbStateStream* stream, rbError* error);

rbStatus rbJournal_Save(rbJournal* journal, rbStateStream* stream, rbError* error);
rbJournal* rbContinueJournal(const char* path, rbStateStream* stream, rbError* error);

rbStatus rbRecordingWriter_Save(rbRecordingWriter* writer, rbStateStream* stream, rbError* error);
rbRecordingWriter* rbContinueRecording(const char* path, const rbRecordingHeader* header,
                                       rbStateStream* stream, rbError* error);

rbStatus rbVtk_Save(rbVtk* vtk, rbStateStream* stream, rbError* error);
// For writers just created: the files of the frames so far must exist.
rbStatus rbVtk_Continue(rbVtk* vtk, rbStateStream* stream, rbError* error);
