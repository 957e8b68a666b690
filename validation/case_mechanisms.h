// What the cases of mechanisms share.
#ifndef RB_VALIDATION_CASE_MECHANISMS_H
#define RB_VALIDATION_CASE_MECHANISMS_H

#include "mechanism_worlds.h"
#include "validation.h"

// Of all mechanisms at 1 ms: order 4 is the least asked for.
#define RB_MECHANISM_ORDER 6

// Tenths of a second that a mechanism runs: 10 s, or one with --quick.
int rbGetTenths(const rbValidation* validation);

// Adds a failure when a mechanism could not be built or run.
bool rbJudgeMechanism(rbValidation* validation, const rbMechanism* mechanism, const char* name);
// A bound with "name: quantity".
void rbAddNamed(rbValidation* validation, const char* name, const char* quantity, double value,
                double bound);
// What the engine says of its joints over the whole run, and what it took.
void rbAddClosure(rbValidation* validation, const rbMechanism* mechanism, const char* name,
                  double tolerance);

#endif
