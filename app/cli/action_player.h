// User actions of a run: read from a file or a recording and applied at their times. Also tracks
// which bodies exist.
#pragma once

#include "cli/frames.h"
#include "session/actions.h"

typedef struct rbActionPlayer {
    rbActions actions;
    rbActor* actor;         // NULL: there are no actions
    int next;               // the next action
    int written;            // actions already in the recording of the run
    const char** bodyNames; // of all bodies that ever exist, by number
    int bodyCount;
    char* addedNames; // stored one after another
    size_t addedSize;
} rbActionPlayer;

// From a file of JSON lines.
rbStatus rbActionPlayer_Read(rbActionPlayer* player, const char* path, rbError* error);
// From a recording.
void rbActionPlayer_Take(rbActionPlayer* player, const rbRecording* recording);
void rbActionPlayer_Free(rbActionPlayer* player);

// Before the first advance: creates the actor and finds all bodies that will exist up to a time.
// The scene must outlive it.
rbStatus rbActionPlayer_Begin(rbActionPlayer* player, const rbScene* scene, const rbWorld* world,
                              double end, rbError* error);
// Describes odd action times: between the steps of a step engine (0: it has none), or after the
// end. Empty: nothing is odd.
void rbActionPlayer_Note(const rbActionPlayer* player, double step, double end, char* text,
                         size_t capacity);

// Advances and applies the actions that are due; frames show which bodies exist. False: an action
// was refused, and the error names it.
bool rbActionPlayer_Advance(rbActionPlayer* player, rbWorld* world, double time,
                            rbStepReport* report, rbError* error);
// Updates a frame buffer with the bodies that exist now.
void rbActionPlayer_Follow(const rbActionPlayer* player, rbFrameBuffer* buffer);
// Writes the actions applied since the last call.
rbStatus rbActionPlayer_Write(rbActionPlayer* player, rbRecordingWriter* writer, rbError* error);
