// The table of methods that enforce the conditions of joints in a step. The built-in one,
// look-ahead impulses, is the step engine itself; others are registered at start-up and perform the
// step of a mechanism instead.
#pragma once

#include "base/core/words.h"
#include "dynamics/constraints/mechanism.h"

#include <rattleback/step.h>

// Fills force and torque of all bodies for their current state at a time, and sets the state of
// bodies that are not dynamic at that time (pose, velocity, angularVelocity). Must be pure.
typedef void rbMechForceFn(void* context, rbMechanism* mechanism, double time);

typedef struct rbMethodState rbMethodState;

// A row of the table.
typedef struct rbStepMethodRow {
    const char* name;
    // INVALID with a message if the method rejects settings.extra.
    rbStatus (*checkSettings)(const rbStepSettings* settings, rbError* error);
    // UNSUPPORTED with a message when the method does not support the mechanism.
    rbStatus (*check)(const struct rbStepMethodRow* row, const rbMechanism* mechanism,
                      rbError* error);
    // The method's data for a mechanism; NULL if check rejects it.
    rbMethodState* (*create)(const struct rbStepMethodRow* row, const rbMechanism* mechanism,
                             const rbStepSettings* settings);
    void (*destroy)(rbMethodState* state);
    // One step of size h > 0: pose, velocity and momentum of the dynamic bodies, a function of
    // their state alone. Does not allocate.
    void (*step)(rbMethodState* state, rbMechanism* mechanism, double time, double h,
                 rbMechForceFn* forces, void* context);
    const void* data; // private to the row
} rbStepMethodRow;

// The header of the method's data for a mechanism.
struct rbMethodState {
    const rbStepMethodRow* row;
};

// Adds a row to the table, at start-up (base/core/registered_rows.h). Rejected if the name is
// already known or the table is full.
rbStatus rbRegisterStepMethod(const rbStepMethodRow* row, rbError* error);

// NULL for RB_METHOD_IMPULSES.
const rbStepMethodRow* rbStepMethodRow_Get(rbStepMethod value);

RB_DECLARE_WORDS(rbStepMethod);
