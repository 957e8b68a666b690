// Pair files: incident logs and recordings of shape pairs, to be measured again. docs/pair-files.md
// describes the format; pair_log.h writes it.
//
//   rattleback pairs 1
//   hull wedge 0 0 0  1 0 0  0 1 0  0 0 1
//   box:1,1,1 hull:wedge  0.9 0 0  1 0 0 0  2e-9 a remark
#pragma once

#include <rattleback/base.h>
#include <rattleback/shape.h>
#include <rattleback/vecmath.h>

// Limits, checked before memory is allocated.
#define RB_PAIR_FILE_VERSION 1
#define RB_PAIR_FILE_SIZE_MAX ((size_t)2 << 30) // bytes
#define RB_PAIRS_MAX 10000000
#define RB_PAIR_NAME_MAX 63     // bytes of the name of a hull or a compound
#define RB_PAIR_PARTS_MAX 65536 // parts of a compound in all its levels

typedef struct rbShapePair {
    const rbGeometry* a; // owned by the file; the same words give the same geometry
    const rbGeometry* b;
    rbTransform transformBtoA; // the bits of the file, unit to 1e-6
    double severity;           // 0 if not given; may be INFINITY
    const char* remark;        // "" if not given
    const char* wordsA;        // as spelled in the file
    const char* wordsB;
    int line; // 1-based
} rbShapePair;

typedef struct rbPairFile rbPairFile;

// Reads a file. On failure *file is NULL and the error names the line, the value and the remedy.
rbStatus rbReadPairFile(const char* path, rbPairFile** file, rbError* error);

// The same from size bytes of text; name is used in errors.
rbStatus rbReadPairText(const char* name, const char* text, size_t size, rbPairFile** file,
                        rbError* error);

// The pairs in the order of the file, none if nothing was logged; they are valid as long as the
// file.
const rbShapePair* rbPairFile_GetPairs(const rbPairFile* file, int* count);

// Number of different geometries.
int rbPairFile_GetShapeCount(const rbPairFile* file);

void rbDestroyPairFile(rbPairFile* file); // NULL is fine
