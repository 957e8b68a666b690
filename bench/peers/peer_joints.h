// The interface of an engine in the joints-peers suite: a mechanism of bodies with ball joints and
// hinges, stepping, and reading back poses and velocities.
//
// Every engine, including ours, is called through this table. The suite computes joint errors and
// energies from the poses and velocities read back, by the same function for all. C and C++.
#pragma once

#include "peer.h"

#ifdef __cplusplus
extern "C" {
#endif

// A body whose frame is that of its principal axes at its center of mass.
typedef struct rbPeerBody {
    double mass;               // kg
    double moments[3];         // kg m^2, principal
    double halfExtents[3];     // m, of a box around it, for engines that need a shape
    rbPeerPose pose;           // at the start
    double velocity[3];        // m/s
    double angularVelocity[3]; // rad/s, world
} rbPeerBody;

// A ball joint, or a hinge.
typedef struct rbPeerJoint {
    int bodyA; // -1: the world
    int bodyB;
    bool isHinge;
    double anchorA[3]; // m, frame of A (world coordinates when it is the world)
    double anchorB[3]; // m, frame of B
    double axisA[3];   // unit, of the hinge, frame of A
    double axisB[3];   // frame of B
} rbPeerJoint;

// Borrowed by the states created from it.
typedef struct rbJointScene {
    const char* name;
    rbPeerBody* bodies;
    int bodyCount;
    rbPeerJoint* joints;
    int jointCount;
    double gravity[3];  // m/s^2
    double energyScale; // J, the scale of energy errors
} rbJointScene;

typedef struct rbPeerBodyState {
    rbPeerPose pose;
    double velocity[3];        // m/s, of the center of mass
    double angularVelocity[3]; // rad/s, world
} rbPeerBodyState;

// A configuration of the engine.
typedef struct rbJointPeerRow {
    const char* name;
    int option;           // for the engine
    int iterations;       // likewise; 0: it has none
    bool isReduced;       // the joints of a tree cannot open in these coordinates
    bool isTreeOnly;      // mechanisms with loops are refused
    const void* settings; // for our own table
} rbJointPeerRow;

typedef struct rbJointPeer {
    const char* library;
    const rbJointPeerRow* rows;
    int rowCount;
    // NULL if the engine refuses the mechanism.
    void* (*create)(const rbJointScene* scene, const rbJointPeerRow* row, double step);
    // Runs some steps. False: the engine gave up.
    bool (*advance)(void* state, int stepCount);
    void (*read)(void* state, rbPeerBodyState* states);
    void (*destroy)(void* state);
} rbJointPeer;

#define RB_JOINT_PEER_ENTRY "rbGetJointPeer"
typedef const rbJointPeer* rbGetJointPeerFn(void);
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const rbJointPeer*
rbGetJointPeer(void);

#ifdef __cplusplus
}
#endif
