// Contacts of the step engine: totals of a run, and the contact settings of a scene.
#pragma once

#include "cli/tally.h"

// For a scene: the settings as a line.
void rbDescribeContactSettings(const rbContactSettings* settings, char* text, size_t capacity);
// For a prepared world: near pairs and points at the start.
void rbDescribeContactStart(const rbWorld* world, char* text, size_t capacity);

// The message for a run whose contacts missed their tolerances: by how much, and the remedy.
void rbDescribeContactMiss(const rbTally* tally, const rbWorld* world, char* text, size_t capacity);

// For a run.
// "; 2 raised the energy by Newton's law, 0.24 J"; nothing for none.
void rbPrintRaises(int64_t count, double energy, FILE* file);
void rbPrintContacts(const rbTally* tally, const rbWorld* world, FILE* file);
void rbWriteContacts(const rbTally* tally, const rbWorld* world, rbJson* json);
// Joint limits in a run; prints nothing when there are none.
void rbPrintLimits(const rbTally* tally, const rbWorld* world, FILE* file);
void rbWriteLimits(const rbWorld* world, rbJson* json);

// Whether bodies that overlapped at the start and were to be separated still overlap.
bool rbHasOverlapLeft(const rbTally* tally, const rbWorld* world);
