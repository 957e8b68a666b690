// Checkpoints of a run, and its continuation: the same bits and the same files as without the
// interruption. The file is described in docs/checkpoint-format.md.
//
// A continued run does what the first one did up to its start: it reads the scene, creates the
// world and prepares it. Then it opens its outputs at their places and restores totals and world.
#pragma once

#include "cli/outputs.h"
#include "io/output/checkpoint_file.h"

// What a run is made of. Everything here is borrowed.
typedef struct rbRunParts {
    const rbScene* scene;
    rbWorld* world;
    rbTally* tally;
    rbOutputs* outputs;
    rbActionPlayer* player;
} rbRunParts;

// How far a run is.
typedef struct rbRunPlace {
    int64_t frame;        // number of the next output
    rbStepReport partial; // of the advances toward it so far: steps, status and failed body
    double piece;         // s, see advanceListening in run.c
    double wallTime;      // s spent so far
} rbRunPlace;

// -------------------------------------------------------------------------------------- writing

// When and where a run writes checkpoints.
typedef struct rbCheckpoint {
    const char* path; // NULL: none
    double wallStep;  // s between two; INFINITY: not by the clock
    double timeStep;  // s, simulated; INFINITY: not by simulated time
    double lastWall;
    double nextTime;
    rbStateStream command; // parts of the file that stay the same
    rbStateStream build;
    rbStateStream identity;
} rbCheckpoint;

// Reads the options, and refuses what a checkpoint cannot continue; prints the reason. resumed: the
// file that the run continues, NULL: none. Without --checkpoint that one is written again.
bool rbCheckpoint_Choose(rbCheckpoint* checkpoint, const rbArguments* arguments,
                         const char* resumed);
// For a run that is ready to start. INVALID: it cannot be continued.
rbStatus rbCheckpoint_Begin(rbCheckpoint* checkpoint, const rbArguments* arguments,
                            const rbRunParts* run, rbError* error);
// Whether one is due; wall: s, the clock; time: s, simulated.
bool rbCheckpoint_IsDue(const rbCheckpoint* checkpoint, double wall, double time);
// Writes one; does nothing without a path. The world has no events that were not written.
rbStatus rbCheckpoint_Write(rbCheckpoint* checkpoint, const rbRunParts* run,
                            const rbRunPlace* place, rbError* error);
// The run is complete: its checkpoint is of no use anymore.
void rbCheckpoint_Delete(const rbCheckpoint* checkpoint);
void rbCheckpoint_Free(rbCheckpoint* checkpoint);

// ------------------------------------------------------------------------------------- resuming

// A checkpoint that was read, with the command line of the run.
typedef struct rbResume {
    rbCheckpointFile file;
    rbArguments arguments;                // of the run, and those given now that may differ
    const char* folder;                   // where it was started; inside the file
    char numbers[2][RB_NUMBER_TEXT_SIZE]; // the intervals of the run as words
} rbResume;

// Reads a checkpoint. Refuses, with a message and the remedy, what is not one, is damaged, of
// another version or build, or of another command line than the one given now. The strings of the
// arguments live as long as the resume. NULL after a failure.
rbResume* rbReadResume(const char* path, const rbArguments* given, rbError* error);
void rbDestroyResume(rbResume* resume); // NULL is fine
// The part of it that concerns the command line.
rbStatus rbResume_ReadCommand(rbResume* resume, const rbArguments* given, rbError* error);
// Refuses another scene than that of the checkpoint, or other files of it or actions.
rbStatus rbResume_CheckScene(rbResume* resume, const rbRunParts* run, rbError* error);
// Restores totals and world; the outputs are open at their places.
rbStatus rbResume_Load(rbResume* resume, const rbRunParts* run, rbRunPlace* place, rbError* error);
// Adds to an error where the run was started, if that is another folder than the present one.
void rbResume_NameFolder(const rbResume* resume, rbError* error);
