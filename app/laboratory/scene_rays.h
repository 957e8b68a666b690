// The key "rays" of scenes, and their bodies for ray frames.
#pragma once

#include "io/scene/reader.h"

#include <rattleback/lab_ray_frames.h>
#include <rattleback/scene.h>

// The keys of "rays", and what reads them into a scene (a row of reader.h): settings of frames, and
// of the detector "rays" in those of the event engine.
extern const rbObjectKind rbRaysKind;
rbStatus rbReadRays(const rbSceneRow* row, rbReader* reader, const json_t* value, void* target);

// Settings of frames on paths; the defaults if the scene has no "rays".
rbRayFrameSettings rbSceneInfo_GetFrames(const rbSceneInfo* info);

// The bodies of the scene, at rest or on paths, for ray frames; settings NULL: those of the scene.
// NULL and an error that names the body if one is dynamic, scattered or unsuitable for rays.
rbRayFrames* rbScene_CreateRayFrames(const rbScene* scene, const rbRayFrameSettings* settings,
                                     rbError* error);
