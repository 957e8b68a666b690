// What tests of actions and sessions share: a scene with its world and its actor.
#ifndef SERVER_SUPPORT_H
#define SERVER_SUPPORT_H

#include "session/actions.h"

typedef struct Stage {
    rbScene* scene;
    rbWorld* world;
    rbActor* actor;
} Stage;

// A scene of scenes/ by its name; fails the test if it cannot be opened.
rbScene* openScene(const char* name);
Stage openStage(const char* name);
void closeStage(Stage* stage);

// Applies an action that must be taken.
void apply(const Stage* stage, const char* format, ...) RB_PRINTF(2, 3);
// Applies one that must be refused with a sentence that holds a text, and must leave no trace.
void refuse(const Stage* stage, const char* text, const char* sentence);

rbBodyState stateOf(const Stage* stage, const char* body);

#endif
