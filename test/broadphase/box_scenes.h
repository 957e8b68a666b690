// Random boxes of several kinds, for tests of broad phases.
#pragma once

#include "base/core/random.h"

#include <rattleback/broadphase.h>

typedef struct rbBoxScene {
    const char* name;
    rbBounds (*make)(rbRandom* random); // a box anywhere
    double step;                        // m, size of a small move
} rbBoxScene;

extern const rbBoxScene rbBoxScenes[];
extern const int rbBoxSceneCount;

rbBounds rbMakeBoxAround(rbVec3 lower, rbVec3 edges);

// A box moved by up to step along each axis.
rbBounds rbShiftBounds(rbRandom* random, rbBounds box, double step);
