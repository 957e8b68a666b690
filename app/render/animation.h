// The motion of a world for other programs: surfaces and colors of the bodies and their poses over
// time, as a glTF file (.glb: Blender, slides, browsers) or as USD text (.usda: film tools).
//
//   rbAnimation* animation = rbCreateAnimation(&def, world, &error);
//   status = rbAnimation_Take(animation, world, &error); // once for every frame
//   status = rbAnimation_WriteGltf(animation, "run.glb", &error);
//   rbDestroyAnimation(animation);
//
// Poses are kept until the file is written: both formats list all times of a body together. Between
// two frames other programs interpolate linearly, rotations along the shorter arc.
#pragma once

#include "render/picture_model.h"

#define RB_ANIMATION_BYTES_MAX ((size_t)1 << 31) // of poses and surfaces

typedef struct rbAnimationDef {
    const char* title;    // of the scene; copied
    double speed;         // simulated time over time of the animation, > 0
    int rate;             // frames per second, for programs that count frames
    const rbScene* scene; // for the looks of bodies; NULL: colors are chosen
} rbAnimationDef;

// The look of a surface: a material of the file.
typedef struct rbFinish {
    rbColor color;
    double opacity;   // 0: invisible, 1: opaque
    double roughness; // 0: a mirror, 1: chalk
    bool isPlain;     // no marks
    bool isDoubleSided;
} rbFinish;

typedef struct rbAnimation {
    rbPictureModel model;
    char* title;
    double speed;
    int rate;
    double groundSize; // m, half a side of the square that stands for a plane
    RB_ARRAY(rbFinish) finishes;
    int* finishOf;               // of each paint of the model: of bodies, then of visuals
    char** names;                // of each body
    RB_ARRAY(double) times;      // s of the animation
    RB_ARRAY(rbTransform) poses; // frame after frame, one for each body; q = 0: it does not exist
} rbAnimation;

rbAnimation* rbCreateAnimation(const rbAnimationDef* def, const rbWorld* world, rbError* error);
void rbDestroyAnimation(rbAnimation* animation); // NULL is fine
// Adds the state of the world at its time. LIMIT if the animation gets too large.
rbStatus rbAnimation_Take(rbAnimation* animation, const rbWorld* world, rbError* error);
// The pose of a body at a frame. A body that does not exist has the pose of its nearest frame.
rbTransform rbAnimation_GetPose(const rbAnimation* animation, int body, int frame);
bool rbAnimation_Exists(const rbAnimation* animation, int body, int frame);
// Whether a body moves at all, and whether it is always there.
bool rbAnimation_Moves(const rbAnimation* animation, int body);
bool rbAnimation_IsAlways(const rbAnimation* animation, int body);
// The surface of a shown shape, and which of its triangles have the second tone.
const rbSurface* rbAnimation_GetSurface(rbAnimation* animation, int geometry);
bool rbAnimation_IsMarked(const rbAnimation* animation, int geometry, int triangle);
// Index of the finish with the second tone of another, or with another side; added when needed.
int rbAnimation_GetMarkFinish(rbAnimation* animation, int finish);
int rbAnimation_GetSideFinish(rbAnimation* animation, int finish, bool isDoubleSided);
// The square of a plane in its body's frame, corners counterclockwise seen from outside.
void rbAnimation_GetSquare(const rbAnimation* animation, int plane, rbVec3 corners[4]);

// Writes a file, which appears when it is complete.
rbStatus rbAnimation_WriteGltf(rbAnimation* animation, const char* path, rbError* error);
rbStatus rbAnimation_WriteUsd(rbAnimation* animation, const char* path, rbError* error);
