// What the contacts of the step engine did in a run, and what a scene says of them.
#ifndef RB_CLI_TALLY_CONTACTS_H
#define RB_CLI_TALLY_CONTACTS_H

#include "cli/tally.h"

bool rbHasContacts(const rbSceneInfo* info);

// Of a scene: the settings in a line.
void rbDescribeContactSettings(const rbContactSettings* settings, char* text, size_t capacity);
// Of a world that is ready: near pairs and points at the start.
void rbDescribeContactStart(const rbWorld* world, char* text, size_t capacity);

// The sentence of a run whose contacts missed their tolerances: by how much, what to do.
void rbDescribeContactMiss(const rbTally* tally, const rbWorld* world, char* text, size_t capacity);

// Of a run.
void rbPrintContacts(const rbTally* tally, const rbWorld* world, FILE* file);
void rbWriteContacts(const rbTally* tally, const rbWorld* world, rbJson* json);
// Limits of joints in it; nothing where there are none.
void rbPrintLimits(const rbTally* tally, const rbWorld* world, FILE* file);
void rbWriteLimits(const rbWorld* world, rbJson* json);

#endif
