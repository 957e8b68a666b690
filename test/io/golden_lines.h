// Golden runs of scenes, a line each in a text file:
//   SCENE SECONDS [WORD ...] : STATE NUMBERS [COUNT=VALUE ...]
// STATE is the hash of the state at the end, NUMBERS that of what a user reads. Counts that are
// zero are left out. The laws of physics do not notice what only costs more, or what a tolerance
// covers: a block size, a bound that is too wide, a search that starts anew. The counts do. A
// change that is wanted: RB_TEST_GOLDEN=FILE writes all lines as they are now.
#pragma once

#include "scene_support.h"

#include <rattleback/rattleback.h>

#define GOLDEN_LINE_SIZE 2048

// A run as its line describes it.
typedef struct rbGoldenRun {
    const char* line; // for messages
    rbScene* scene;   // with the words PLACE=VALUE applied; owned
    double seconds;
    uint64_t seed; // of a word "seed=N", otherwise 0
} rbGoldenRun;

// Makes the world of a run, advances it and hashes the numbers on the way.
typedef rbWorld* rbGoldenRunFn(const rbGoldenRun* run, uint64_t* numbers);

// Runs the lines of a file of this folder that stand below the heading "[name]", and fails if one
// of them gives something else.
void rbGolden_CompareLines(const char* fileName, const char* name, rbGoldenRunFn* run);

// Continues a hash with the journal of a world.
uint64_t rbGolden_HashEvents(uint64_t hash, const rbWorld* world);

// Continues a hash with all that is not part of the state: accounts, probes, contacts, joints,
// springs, events of touch, errors as measured.
uint64_t rbGolden_HashNumbers(uint64_t hash, const rbScene* scene, const rbWorld* world);
