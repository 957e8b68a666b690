// The table of methods that keep bodies apart in the step engine. The built-in one, impulses, is
// the engine itself; others are registered at start-up and step touching bodies in its place.
#pragma once

#include "base/core/words.h"
#include "dynamics/contact/contact_solver.h"
#include "dynamics/engines/step/step_state.h"

#include <rattleback/contact.h>

// A row of the table.
typedef struct rbContactMethodRow {
    const char* name;
    bool isOfSingleBodies; // joints and springs are rejected
    // INVALID or UNSUPPORTED with a message for settings that the method rejects.
    rbStatus (*check)(const rbContactSettings* settings, rbError* error);
    // Number of parts of a step of size h, each with a contact search.
    int (*countParts)(const rbContactSettings* settings, double h);
    // Advances from the node to the end of a step.
    void (*advance)(rbStepContacts* c, const rbStepHost* host, double end);
    // Advances to a time within the step from the node; the state is restored afterward.
    void (*look)(rbStepContacts* c, const rbStepHost* host, double time);
} rbContactMethodRow;

// Adds a row to the table, at start-up (base/core/registered_rows.h). Fails if the name exists or
// the table is full.
rbStatus rbRegisterContactMethod(const rbContactMethodRow* row, rbError* error);

// NULL for RB_CONTACT_IMPULSES.
const rbContactMethodRow* rbContactMethodRow_Get(rbContactMethod value);

RB_DECLARE_WORDS(rbContactMethod);

// The reaction of joints (B-81), set at start-up; its context is an rbJointSweep. NULL: none, and
// rbContactSettings.isReacting is refused.
void rbSetJointReaction(rbReactionFn* function);
rbReactionFn* rbGetJointReaction(void);
