// Functions shared by the contact cases of the step engine.
#pragma once

#include "contact_worlds.h"
#include "validation.h"

#define RB_PILE_GRAVITY 9.81 // m/s^2

// Adds a failure when a pile could not be built or run.
bool rbCheckPile(rbValidation* validation, const rbPile* pile, const char* name);
// Prints the engine's statistics for the whole run.
void rbPrintPile(const rbValidation* validation, const rbPile* pile, const char* name);
// Adds a bound named "name: quantity".
void rbAddPileBound(rbValidation* validation, const char* name, const char* quantity, double value,
                    double bound);
