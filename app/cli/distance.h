// What the files of `rattleback distance` share: two shapes on the command line (distance.c), files
// of pairs (distance_file.c).
#ifndef RB_CLI_DISTANCE_H
#define RB_CLI_DISTANCE_H

#include "cli/cli.h"

#include <rattleback/collision.h>

// The method that an option names; *method stays when the option was not given. false, with a
// sentence that lists the methods, when there is none of that name.
bool rbReadMethod(const rbArguments* arguments, const char* option, rbPairMethod* method);

// An answer in full, as text and as members of a JSON object.
void rbPrintSeparation(const rbSeparation* separation);
void rbJson_Separation(rbJson* json, const rbSeparation* separation);

// True when the iteration ended before its bounds were narrow.
bool rbIsWide(const rbSeparation* separation);

// rattleback distance FILE. The input holds method and radii.
rbExit rbRunPairFile(const rbArguments* arguments, const rbSeparationInput* input);

#endif
