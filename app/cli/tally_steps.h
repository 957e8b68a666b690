// What the step engine did in a run: steps, joints, tolerance and accuracy.
#ifndef RB_CLI_TALLY_STEPS_H
#define RB_CLI_TALLY_STEPS_H

#include "cli/tally.h"

// m and rad: what a joint may be off at the end of a step, as the engine takes it.
double rbGetJointTolerance(const rbSceneInfo* info);

// The sentence of a run that missed its tolerance: by how much, which joint, what to do.
void rbDescribeMiss(const rbTally* tally, const rbWorld* world, char* text, size_t capacity);

void rbPrintSteps(const rbTally* tally, const rbWorld* world, FILE* file);
void rbWriteSteps(const rbTally* tally, const rbWorld* world, rbJson* json);

#endif
