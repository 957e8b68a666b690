// What replay and info share about recordings.
#ifndef RB_CLI_RECORDINGS_H
#define RB_CLI_RECORDINGS_H

#include <rattleback/output.h>
#include <rattleback/scene.h>

// "complete", "cut off" or "damaged".
const char* rbRecordingCondition_Text(rbRecordingCondition condition);

// Reads the scene inside a recording; the files it names are those inside. path is for errors. The
// recording must outlive the scene.
rbScene* rbReadRecordedScene(const rbRecording* recording, const char* path, rbError* error);

#endif
