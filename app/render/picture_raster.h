// Rasterizes triangles into depth buffers: of the camera, with the number of the visible triangle,
// and of a light.
//
// A sample belongs to a triangle when its center lies between the edges, half-open, by the same
// arithmetic for both triangles of an edge: neighbors neither overlap nor leave gaps.
#pragma once

#include "render/picture_model.h"

typedef struct rbDepthBuffer {
    int width, height;
    float* depths;  // larger is nearer; -INFINITY: nothing
    int* numbers;   // of triangles; NULL: not requested
    double opacity; // of what is drawn: 1 fills all samples, less a part of them
    double shift;   // chooses which
} rbDepthBuffer;

// A corner in the buffer: x to the right, y down, in samples; z is linear over the buffer.
typedef struct rbCorner {
    double x, y, z;
} rbCorner;

void rbDepthBuffer_Clear(rbDepthBuffer* buffer);
void rbDepthBuffer_Fill(rbDepthBuffer* buffer, const rbCorner corners[3], int number);

// All triangles of a frame as the camera sees them; depths are 1 / distance along its axis.
void rbRasterizeCamera(const rbPictureFrame* frame, rbDepthBuffer* buffer);

// A distant light: its map is a square of half size RB_LIGHT_REACH around the center of the view.
// Depths are distances toward the light.
#define RB_LIGHT_REACH 2.5f

typedef struct rbLightFrame {
    rbFloat3 right, down, toLight; // unit, orthogonal
} rbLightFrame;

rbLightFrame rbMakeLightFrame(rbVec3 toLight);
void rbRasterizeLight(const rbPictureFrame* frame, const rbLightFrame* light,
                      rbDepthBuffer* buffer);
