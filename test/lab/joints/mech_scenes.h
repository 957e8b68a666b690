// Small hand-made mechanisms, without world and engine.
#pragma once

#include "base/core/random.h"
#include "dynamics/joints/joint_model.h"
#include "lab/joints/classical.h"
#include "lab/joints/reduced.h"

#define SCENE_BODIES_MAX 40
#define SCENE_BLOCKS_MAX 48
#define SCENE_ROWS_MAX 240

// Points into itself: do not copy.
typedef struct MechScene {
    rbMechanism mechanism;
    rbMechBody bodies[SCENE_BODIES_MAX]; // the first is the world
    rbRowBlock blocks[SCENE_BLOCKS_MAX];
    rbJointModel models[SCENE_BLOCKS_MAX];
    rbRow rows[SCENE_ROWS_MAX];
    rbRowMass masses[SCENE_BODIES_MAX];
    double compliance[SCENE_ROWS_MAX];
    double speeds[SCENE_ROWS_MAX];
    double limits[SCENE_ROWS_MAX];
    double startErrors[SCENE_ROWS_MAX];
    double impulses[SCENE_ROWS_MAX];
    rbVec3 gravity;
    rbVec3 carAcceleration; // of body 1, if it is not dynamic
} MechScene;

MechScene* createScene(rbVec3 gravity);
void destroyScene(MechScene* scene);

int addBody(MechScene* scene, double mass, rbVec3 moments, rbVec3 position, rbQuat orientation);
// A prescribed body: from rest with carAcceleration. Must be added first.
int addCar(MechScene* scene);
// A joint at a world point along a world axis; its block.
int addJoint(MechScene* scene, rbJointType type, int bodyA, int bodyB, rbVec3 point, rbVec3 axis);
// The first degree of freedom of a joint as a block of a kind.
int addFreedom(MechScene* scene, int joint, rbRowKind kind);
void setSpin(MechScene* scene, int body, rbVec3 angularVelocity);

// Links of random inertia, from a point at the origin. Types are drawn from the first typeCount of
// ball, hinge, prismatic, fixed. isFixed: attached to the world, otherwise free.
void buildRandomTree(MechScene* scene, rbRandom* random, int count, int typeCount, bool isFixed);
// A straight chain of equal rods of 1 m, 1 kg along x, attached to the world.
void buildChain(MechScene* scene, rbJointType type, int count);
// Random velocities that the joints allow. Only trees of joints that rbReduced supports.
void stirScene(MechScene* scene, rbRandom* random, double speed);

rbStepSettings makeSettings(int order);
// Steps of equal size up to a time.
void runScene(MechScene* scene, rbClassicalMethod method, const rbStepSettings* settings,
              double end, int steps);
void pullByGravity(void* context, rbMechanism* mechanism, double time);

double getEnergy(const MechScene* scene);
// Largest error of HOLD rows, and rate.
double getLargestError(const MechScene* scene);
double getLargestRate(MechScene* scene);
void getMomentum(const MechScene* scene, rbVec3* linear, rbVec3* angular);
// Largest distance of centers and of the ends of principal axes of 1 m.
double getDeviation(const MechScene* a, const MechScene* b);
