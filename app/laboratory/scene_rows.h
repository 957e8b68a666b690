// Keys of scenes for the settings of the laboratory.
#pragma once

#include <rattleback/base.h>

// Registers the laboratory (lab.h) and the keys of its settings in scenes: "rays"; "baumgarte" and
// "penalty" of "step"; "penaltyDepth" and "penaltyDamping" of "contact". By one thread, before the
// first scene is read; further calls change nothing. The error may be NULL.
rbStatus rbRegisterSceneLaboratory(rbError* error);
