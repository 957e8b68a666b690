// Light on the points of a picture: a sun with a disc and a sky of many points, each with a shadow
// map.
#pragma once

#include "render/picture_raster.h"

// A surface point that is visible in a pixel; it represents the similar samples of the pixel.
typedef struct rbShadePoint {
    rbFloat3 position;
    rbFloat3 normal; // unit, toward the camera's side
    rbFloat3 color;  // linear, times the fraction of the pixel
    float gloss;     // of the highlight, times the fraction of the pixel
    int pixel;
    int sky;          // index of its sky point
    float sun;        // mean over the sun of cosine times visibility
    float sunVisible; // mean visibility
} rbShadePoint;

// Points of a block of pixels share their sky light.
typedef struct rbSkyPoint {
    rbFloat3 position;
    rbFloat3 normal;
    int owner;     // the surface it lies on
    int next;      // in the same block of pixels, -1: none
    float reached; // sum of the weights of the points of the sky that reach it
    float whole;   // of all points
} rbSkyPoint;

typedef struct rbLitPoints {
    RB_ARRAY(rbShadePoint) points;
    RB_ARRAY(rbSkyPoint) skies;
} rbLitPoints;

// Computes the light of sun and sky. The work area holds RB_LIGHT_MAP_SIZE squared floats.
#define RB_LIGHT_MAP_SIZE 1024
void rbLightPoints(const rbPictureFrame* frame, rbLitPoints* lit, const rbPictureDef* def,
                   float* work);

// Light that leaves a point toward the camera.
rbFloat3 rbShadePoint_GetLight(const rbShadePoint* point, const rbPictureFrame* frame,
                               const rbLitPoints* lit);

// Direction to the center of the sun.
rbVec3 rbGetSunDirection(const rbPictureFrame* frame);
