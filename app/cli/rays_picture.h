// Pictures of the rays that found a collision: SVG, seen along an axis, and VTK in space.
#ifndef RB_CLI_RAYS_PICTURE_H
#define RB_CLI_RAYS_PICTURE_H

#include <rattleback/lab_ray_frames.h>

// The frame of a collision as a drawing: both bodies where the rays start and where they touch, all
// others as they are, the rays, their hits and the shortest. title may be "".
rbStatus rbDrawRays(const rbRayFrames* frames, const rbRayCollision* collision, const char* title,
                    const char* path, rbError* error);

// The same rays as lines of a VTK PolyData file (.vtp), with what each is.
rbStatus rbWriteRaysVtk(const rbRayFrames* frames, const rbRayCollision* collision,
                        const char* path, rbError* error);

#endif
