// Functions shared by the mechanism cases.
#pragma once

#include "mechanism_worlds.h"
#include "validation.h"

// For all mechanisms at 1 ms: at least order 4 is required.
#define RB_MECHANISM_ORDER 6

// Tenths of a second that a mechanism runs: 10 s, or one with --quick.
int rbGetTenths(const rbValidation* validation);

// Adds a failure when a mechanism could not be built or run.
bool rbValidateMechanism(rbValidation* validation, const rbMechanism* mechanism, const char* name);
// Adds a bound named "name: quantity".
void rbAddNamed(rbValidation* validation, const char* name, const char* quantity, double value,
                double bound);
// Adds the engine's joint errors over the whole run, and prints its cost.
void rbAddClosure(rbValidation* validation, const rbMechanism* mechanism, const char* name,
                  double tolerance);
