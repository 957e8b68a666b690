// How bodies of a scene look in pictures and in the viewer. It has no effect on the simulation, and
// the world does not know it.
#pragma once

#include <rattleback/scene.h>

#define RB_LOOK_COLOR_SIZE 8 // "#rrggbb" and its end

typedef struct rbLook {
    char color[RB_LOOK_COLOR_SIZE]; // "": chosen by the program
    bool hasOpacity, hasRoughness;
    double opacity;   // 0: invisible, 1: opaque
    double roughness; // 0: a mirror, 1: chalk
} rbLook;

// The look of a body by its name; of a body that the scene does not have: nothing is given.
rbLook rbScene_GetLook(const rbScene* scene, const char* body);
