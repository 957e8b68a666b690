// How bodies of a scene look in pictures and in the viewer. It has no effect on the simulation, and
// the world does not know it.
#pragma once

#include <rattleback/scene.h>

#define RB_LOOK_COLOR_SIZE 8 // "#rrggbb" and its end

// Patterns of two colors, in the frame of a shape.
typedef enum rbTextureType {
    RB_TEXTURE_NONE,  // not given: round shapes have marks that show their rotation
    RB_TEXTURE_PLAIN, // one color
    RB_TEXTURE_CHECKER,
    RB_TEXTURE_STRIPES, // across z
    RB_TEXTURE_COUNT
} rbTextureType;

typedef struct rbLook {
    char color[RB_LOOK_COLOR_SIZE]; // "": chosen by the program
    bool hasOpacity, hasRoughness;
    double opacity;   // 0: invisible, 1: opaque
    double roughness; // 0: a mirror, 1: chalk
    rbTextureType texture;
    double textureSize;                    // m, of a square or of the width of a stripe
    char textureColor[RB_LOOK_COLOR_SIZE]; // second color; "": lighter than the first
} rbLook;

// A shape that is only drawn: without mass and contacts.
typedef struct rbVisual {
    const rbGeometry* geometry; // owned by the scene
    rbTransform transform;      // in the frame of its body
    rbLook look;                // its own, else that of its body
} rbVisual;

// NULL for RB_TEXTURE_NONE.
const char* rbTextureType_Name(rbTextureType type);

// The look of a body by its name; of a body that the scene does not have: nothing is given.
rbLook rbScene_GetLook(const rbScene* scene, const char* body);
// How many visuals a body has; 0 for a body that the scene does not have.
int rbScene_GetVisualCount(const rbScene* scene, const char* body);
rbVisual rbScene_GetVisual(const rbScene* scene, const char* body, int index);
// The group with which a viewer shows and hides a body; NULL: none.
const char* rbScene_GetViewGroup(const rbScene* scene, const char* body);
