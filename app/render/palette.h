// Colors of what is drawn, as sRGB bytes. The page of the viewer has the same function
// (app/viewer/src/shapes.js).
#pragma once

#include "io/scene/scene_look.h"

#include <rattleback/body.h>

typedef struct rbColor {
    unsigned char r, g, b;
} rbColor;

// Color of the number-th body.
rbColor rbGetBodyColor(rbBodyType type, int number);
// The second tone of its markings, which show the rotation of round bodies.
rbColor rbGetMarkColor(rbColor color);

#define RB_COLOR_LINK (RB_LITERAL(rbColor){0x3b, 0x43, 0x50}) // joints and springs
#define RB_COLOR_GROUND (RB_LITERAL(rbColor){0xdc, 0xda, 0xd4})
#define RB_COLOR_GRID (RB_LITERAL(rbColor){0xb9, 0xb6, 0xae})
#define RB_COLOR_GRID_STRONG (RB_LITERAL(rbColor){0xa1, 0x9d, 0x94}) // every fifth line
#define RB_COLOR_SKY (RB_LITERAL(rbColor){0xb9, 0xcb, 0xdc})         // top of the background
#define RB_COLOR_HORIZON (RB_LITERAL(rbColor){0xee, 0xf2, 0xf5})

// How a surface is drawn: what the scene says, and what the program chooses.
typedef struct rbPaint {
    rbColor color;
    rbColor second; // of marks and patterns
    bool hasColor;  // the scene chose it
    bool hasRoughness;
    double opacity;   // 0: invisible, 1: opaque
    double roughness; // 0: a mirror, 1: chalk
    rbTextureType texture;
    double textureSize; // m
} rbPaint;

// The paint of a look; what the look does not have is chosen: usual is the color.
rbPaint rbMakePaint(const rbLook* look, rbColor usual);
bool rbPaint_HasPattern(const rbPaint* paint);
// Whether a place of a surface has the second color of the pattern, in the frame of the shape.
bool rbPaint_IsSecond(rbTextureType texture, double size, rbVec3 place);

// Which parts of a shape have the second tone, in its own frame.
typedef enum rbMarking {
    RB_MARKING_NONE,
    RB_MARKING_OCTANTS,   // x y z < 0
    RB_MARKING_QUADRANTS, // x y < 0
    RB_MARKING_COUNT
} rbMarking;

// Spheres and ellipsoids have octants; cylinders, cones and capsules quadrants.
rbMarking rbGetMarking(rbShapeType type);
