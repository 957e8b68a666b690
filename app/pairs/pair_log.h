// Writes pair files (docs/pair-files.md): incident logs and recordings that `rattleback distance
// FILE` and rbReadPairFile reproduce with the same bits.
//
//   rbPairLog* log = rbOpenPairLog("incidents.pairs", &error);
//   rbPairLog_Add(log, box, ball, transformBtoA, depthError, "iterative against closed");
//   status = rbPairLog_Close(&log, true, &error);
//
// The pairs are kept in memory until the log is closed, about 100 bytes each plus their remarks:
// they can be sorted then, and a killed run leaves no partial file. Not thread-safe.
#pragma once

#include <rattleback/base.h>
#include <rattleback/shape.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>

typedef struct rbPairLog rbPairLog;

// Opens a temporary file next to path, renamed when the log is closed. NULL, with a message, when
// it cannot be created.
rbPairLog* rbOpenPairLog(const char* path, rbError* error);

// Adds a pair. The shapes are borrowed for the call; equal hulls and compounds are written once.
// severity: larger is worse, NaN and infinities count as the worst. remark may be NULL; line ends
// in it become blanks. Never fails: pairs that a file cannot hold (polyhedra, meshes, soups, poses
// that are not finite, more than RB_PAIRS_MAX) are left out and reported by rbPairLog_Close.
void rbPairLog_Add(rbPairLog* log, const rbGeometry* a, const rbGeometry* b,
                   rbTransform transformBtoA, double severity, const char* remark);

// Writes the file, worst pairs first if sortBySeverity (ties keep their order), otherwise in the
// order of the calls; renames it and frees the log. *log is NULL afterward, whatever happens; NULL
// is fine. IO: there is no file, and an older one of this name stays. UNSUPPORTED or LIMIT: the
// file is there, without the pairs that were left out; the error says how many and why.
rbStatus rbPairLog_Close(rbPairLog** log, bool sortBySeverity, rbError* error);
