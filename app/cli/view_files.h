// Files that rattleback view opens besides the one on its command line: what a page sends, and the
// scene's own file when it was saved again.
#pragma once

#include "server/server.h"

#include <rattleback/output.h>
#include <rattleback/scene.h>

#include <stdbool.h>
#include <sys/stat.h>

// The scene of a page; files that it names must have come with it. NULL and an error.
rbScene* rbReadSentScene(const rbSentScene* sent, rbError* error);
// The recording of a page. NULL and an error.
rbRecording* rbReadSentRecording(const rbSentScene* sent, rbError* error);

// A file that is watched.
typedef struct rbWatch {
    char path[4096]; // "": none
    struct stat last;
} rbWatch;

void rbWatch_Start(rbWatch* watch, const char* path);
// Whether the file was written or replaced since the last call. A file that is missing or empty is
// being written.
bool rbWatch_HasChanged(rbWatch* watch);
