// No output of a verb overwrites one of its inputs, and no two outputs share a name. Files are
// compared by identity, so that links and other spellings of a path are found too.
#pragma once

#include "cli/cli.h"

#include <rattleback/scene.h>

// Checks all outputs (paths of files to come; "-" is standard output) before anything is written.
// The inputs are the words of the command line, --actions, and the files of the scene, if there is
// one. False: a message was printed.
typedef struct rbOutputName {
    const char* option; // "--csv"
    const char* path;
} rbOutputName;

bool rbCheckOutputNames(const rbArguments* arguments, const rbScene* scene,
                        const rbOutputName* outputs, int count);
