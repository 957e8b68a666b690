// Effective masses of contacts that include the reaction of joints (B-81), see
// rbContactSettings.isReacting.
#pragma once

#include <rattleback/base.h>

// An rbReactionFn; the context is an rbJointSweep.
void rbMeasureJointReaction(void* context, int contact, double* reaction);

rbStatus rbRegisterJointReaction(rbError* error);
