// Totals of the step engine in a run: steps, joints, tolerance and accuracy.
#pragma once

#include "cli/tally.h"

// m and rad: the joint error allowed at the end of a step, as the engine uses it.
double rbGetJointTolerance(const rbSceneInfo* info);

// The message for a run that missed its tolerance: by how much, which joint, and the remedy.
void rbDescribeMiss(const rbTally* tally, const rbWorld* world, char* text, size_t capacity);

void rbPrintSteps(const rbTally* tally, const rbWorld* world, FILE* file);
// Whether the steps gave or took more energy than allowed, up to now.
bool rbIsEnergyMissed(const rbTally* tally, const rbWorld* world);
// What no cause in nature explains, and what is allowed.
void rbPrintNumericalEnergy(const rbTally* tally, const rbWorld* world, FILE* file);
void rbWriteSteps(const rbTally* tally, const rbWorld* world, rbJson* json);
