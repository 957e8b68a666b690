// Pictures of a world by a small renderer of our own: no graphics hardware, no browser, the same
// pixels on every machine.
//
// Bodies are triangles in a z-buffer with several samples per pixel; light comes from a sun with a
// disc and from many points of the sky, each with its own shadow map, so that shadows are soft and
// corners dark. A picture of 1280 x 720 takes a few tenths of a second.
//
//   rbPictureDef def = rbDefaultPictureDef(1280, 720);
//   rbPicture* picture = rbCreatePicture(&def, world, &error);
//   rbChooseView(world, NULL, &view);
//   rbPicture_Draw(picture, world, &view);
//   status = rbWritePng("world.png", rbPicture_GetPixels(picture), 1280, 720, &error);
#pragma once

#include "render/view.h"

#include <rattleback/scene.h>
#include <rattleback/world.h>

#define RB_PICTURE_SIZE_MIN 16
#define RB_PICTURE_SIZE_MAX 8192

typedef struct rbPictureDef {
    int width, height;    // pixels, RB_PICTURE_SIZE_MIN to _MAX
    int sampling;         // 1 to 4: samples along each side of a pixel; 2
    int sunCount;         // 1 to 64: points of the sun's disc; 6
    int skyCount;         // 0 to 256: points of the sky that cast shadows; 20
    bool hasLinks;        // joints and springs are drawn; true
    bool isClear;         // no sky and no planes: they are transparent; false
    const rbScene* scene; // for looks and visuals; NULL: colors are chosen
} rbPictureDef;

rbPictureDef rbDefaultPictureDef(int width, int height);

typedef struct rbPicture rbPicture;

// Makes the triangles of the world's bodies. As long as the picture lives the world keeps its
// bodies and shapes. NULL and an error if the size is out of range or shapes have too many
// triangles.
rbPicture* rbCreatePicture(const rbPictureDef* def, const rbWorld* world, rbError* error);
void rbDestroyPicture(rbPicture* picture); // NULL is fine

// Draws the world as it is now. Bodies whose state is not finite are left out.
void rbPicture_Draw(rbPicture* picture, const rbWorld* world, const rbView* view);

// Width times height times red, green, blue, and alpha of a clear picture; rows from the top; valid
// until the next drawing.
const unsigned char* rbPicture_GetPixels(const rbPicture* picture);

// Where a point of the world is in a picture of this size, in pixels from the top left corner;
// false when it is behind the camera.
bool rbView_Project(const rbView* view, int width, int height, rbVec3 point, double* x, double* y);

// A PNG file in memory; freed with rbFree(bytes, size).
typedef struct rbPng {
    unsigned char* bytes;
    size_t size;
} rbPng;

// A picture of a scene at a time. If the simulation takes longer than about half a second of CPU
// time, it stops early, and the picture shows the time reached.
rbStatus rbDrawScene(const rbScene* scene, double time, int width, int height, rbPng* png,
                     rbError* error);
