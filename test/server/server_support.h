// Shared helpers of the tests of actions and sessions: a scene with its world and its actor.
#pragma once

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

// Applies an action that must be accepted.
void apply(const Stage* stage, const char* format, ...) RB_PRINTF(2, 3);
// Applies one that must be refused with a message that contains a text, and must leave no trace.
void refuse(const Stage* stage, const char* text, const char* sentence);

rbBodyState stateOf(const Stage* stage, const char* body);
