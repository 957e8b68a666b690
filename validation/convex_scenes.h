// The black-box scenes of the convex kernel: two bodies in touching contact, the second of
// which is pushed into the first, with the contact known in closed form.
//
// World frame, meters. The specification prints the contact normal from body 2 to body 1; here, as
// everywhere in the code, it points from body 1 to body 2.
#pragma once

#include <rattleback/collision.h>

// The nine of the thesis, and the crossed capsules that its text describes (E-27).
#define RB_CONVEX_SCENE_COUNT 10

typedef struct rbConvexScene {
    const char* name;
    rbGeometry* bodies[2];
    rbTransform poses[2]; // touching; of body 1 always at the origin
    rbVec3 move;          // unit, the direction in which body 2 moves into body 1
    rbVec3 normal;        // unit, from body 1 to body 2
    double depthRate;     // depth per unit of displacement
    rbVec3 point;         // a contact point when touching
    rbVec3 pointRate;     // its shift per unit of displacement
    rbVec3 isUnique;      // 1 for coordinates of the point that are unique, otherwise 0
    double size;          // m, edge or diameter of body 1
    double angleMax;      // degrees, allowed by the issue
} rbConvexScene;

void rbMakeConvexScenes(rbConvexScene scenes[RB_CONVEX_SCENE_COUNT]);
void rbFreeConvexScenes(rbConvexScene scenes[RB_CONVEX_SCENE_COUNT]);

// Pose of body 2 (order 0) or of body 1 (order 1) relative to the other one after the displacement.
rbTransform rbConvexScene_GetPose(const rbConvexScene* scene, double way, int order);
