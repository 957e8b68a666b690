// Pictures of the rays that found a collision: SVG, viewed along an axis, and VTK in 3D.
#pragma once

#include <rattleback/lab_ray_frames.h>

// Draws the frame of a collision: both bodies where the rays start and where they touch, all other
// bodies in place, the rays, their hits and the shortest ray. title may be "".
rbStatus rbDrawRays(const rbRayFrames* frames, const rbRayCollision* collision, const char* title,
                    const char* path, rbError* error);

// The same rays as lines of a VTK PolyData file (.vtp), with the kind of each.
rbStatus rbWriteRaysVtk(const rbRayFrames* frames, const rbRayCollision* collision,
                        const char* path, rbError* error);
