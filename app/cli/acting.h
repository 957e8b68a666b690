// User actions of a run: read from a file or a recording and applied at their times. Also tracks
// which bodies exist.
#ifndef RB_CLI_ACTING_H
#define RB_CLI_ACTING_H

#include "cli/frames.h"
#include "session/actions.h"

typedef struct rbActing {
    rbActions actions;
    rbActor* actor;         // NULL: there are no actions
    int next;               // the next action
    int written;            // actions already in the recording of the run
    const char** bodyNames; // of all bodies that ever exist, by number
    int bodyCount;
    char* addedNames; // stored one after another
    size_t addedSize;
} rbActing;

// From a file of JSON lines.
rbStatus rbActing_Read(rbActing* acting, const char* path, rbError* error);
// From a recording.
void rbActing_Take(rbActing* acting, const rbRecording* recording);
void rbActing_Free(rbActing* acting);

// Before the first advance: creates the actor and finds all bodies that will exist up to a time.
// The scene must outlive it.
rbStatus rbActing_Begin(rbActing* acting, const rbScene* scene, const rbWorld* world, double end,
                        rbError* error);
// Describes odd action times: between the steps of a step engine (0: it has none), or after the
// end. Empty: nothing is odd.
void rbActing_Note(const rbActing* acting, double step, double end, char* text, size_t capacity);

// Advances and applies the actions that are due; frames show which bodies exist. False: an action
// was refused, and the error names it.
bool rbActing_Advance(rbActing* acting, rbWorld* world, double time, rbStepReport* report,
                      rbError* error);
// Updates a frame buffer with the bodies that exist now.
void rbActing_Follow(const rbActing* acting, rbFrameBuffer* buffer);
// Writes the actions applied since the last call.
rbStatus rbActing_Write(rbActing* acting, rbRecordingWriter* writer, rbError* error);

#endif
