// Actions of a run: read from a file or a recording, done at their times, and who comes and goes.
#ifndef RB_CLI_ACTING_H
#define RB_CLI_ACTING_H

#include "cli/frames.h"
#include "session/actions.h"

typedef struct rbActing {
    rbActions actions;
    rbActor* actor;         // NULL: there is nothing to be done
    int next;               // the next action
    int written;            // actions that are in the recording of the run
    const char** bodyNames; // of all bodies that ever live, by number
    int bodyCount;
    char* addedNames; // one after the other
    size_t addedSize;
} rbActing;

// From a file of JSON lines.
rbStatus rbActing_Read(rbActing* acting, const char* path, rbError* error);
// Those of a recording.
void rbActing_Take(rbActing* acting, const rbRecording* recording);
void rbActing_Free(rbActing* acting);

// Before the first advance: who acts, and which bodies will ever live up to a time. The scene must
// outlive it.
rbStatus rbActing_Begin(rbActing* acting, const rbScene* scene, const rbWorld* world, double end,
                        rbError* error);
// What is odd about the times: between the steps of a step engine (0: it has none), or after the
// end. Empty: nothing.
void rbActing_Note(const rbActing* acting, double step, double end, char* text, size_t capacity);

// Advances and does what is due on the way; frames show who lives. False: an action was refused,
// and the error names it.
bool rbActing_Advance(rbActing* acting, rbWorld* world, double time, rbStepReport* report,
                      rbError* error);
// Tells a frame buffer who lives now.
void rbActing_Follow(const rbActing* acting, rbFrameBuffer* buffer);
// Writes the actions done since the last call.
rbStatus rbActing_Write(rbActing* acting, rbRecordingWriter* writer, rbError* error);

#endif
