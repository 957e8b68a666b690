// Shared by replay and info: recordings.
#pragma once

#include <rattleback/output.h>
#include <rattleback/scene.h>

// "complete", "cut off" or "damaged".
const char* rbRecordingCondition_Text(rbRecordingCondition condition);

// Reads the scene stored in a recording; files it names are read from the recording. path is used
// in errors. The recording must outlive the scene.
rbScene* rbReadRecordedScene(const rbRecording* recording, const char* path, rbError* error);
