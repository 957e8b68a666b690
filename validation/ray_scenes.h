// The scenes of the thesis on rays (its chapter 4, with the corrections of our specification) and
// the output of its program.
#pragma once

#include "ray_metrics.h"
#include "validation.h"

#define RB_RAY_FRAME_RATE 24.0 // 1/s

// Vertices (0,1,0), (1,-1,1), (-1,-1,1), (0,-1,-1) as a closed mesh. The published sampler is
// denser toward the second corner of a triangle: in the base this is (0,-1,-1), the order that
// reproduces the statistics of the specification.
rbGeometry* rbMakeRayPyramid(rbError* error);

// As published: lattice, only the moving body casts rays.
rbRaySettings rbMakePublishedRays(int count);

// One body moves toward another one at rest.
typedef struct rbRayScene {
    const char* name;
    bool isMoverPyramid; // otherwise a ball of radius 1
    bool isTargetPyramid;
    rbVec3 mover; // m, start position
    rbVec3 target;
    rbVec3 velocity; // m/s
    double duration; // s
    rbVec3 point;    // m, exact
    rbVec3 normal;
    double way; // m
} rbRayScene;

typedef enum rbRaySceneName {
    RB_RAY_HEAD_ON, // E-01
    RB_RAY_OFFSET,  // E-02
    RB_RAY_TIP,     // E-03
    RB_RAY_BASE,    // E-04
    RB_RAY_VERTEX,  // E-05
    RB_RAY_EDGES,   // E-06
    RB_RAY_BULLET,  // E-12 at 1000 m/s
    RB_RAY_SCENE_COUNT
} rbRaySceneName;

extern const rbRayScene rbRayScenes[RB_RAY_SCENE_COUNT];

// Geometry and scratch memory of a scene.
typedef struct rbRayStage {
    const rbRayScene* scene;
    rbStraightPair pair;
    rbStraightContact truth;
    rbGeometry* shapes[2];
    void* scratch;
    rbError error; // the first failure
} rbRayStage;

rbRayStage rbOpenRayStage(rbRaySceneName name);
void rbRayStage_Close(rbRayStage* stage);
// One prediction, with its own emitters.
rbStraightContact rbRayStage_Cast(rbRayStage* stage, const rbRaySettings* settings);
rbRayErrors rbRayStage_Check(rbRayStage* stage, const rbStraightContact* found);

// Adds a bound named "scene: quantity"; one for the exact mode.
void rbAddRayBound(rbValidation* validation, const char* scene, const char* quantity, double value,
                   double bound);
// Adds a failure when the library rejected something.
void rbCheckRayError(rbValidation* validation, const char* scene, const rbError* error);

// Prints a table line: the published result (NULL: none), and ours.
typedef struct rbPrintedContact {
    int count;        // of rays
    bool isFound;     // false: the thesis found nothing
    rbVec3 point;     // m
    double agreement; // percent, as published
} rbPrintedContact;

void rbPrintRayHead(const rbValidation* validation);
void rbPrintRayLine(const rbValidation* validation, const rbPrintedContact* printed,
                    const rbStraightContact* found, const rbRayErrors* errors);
