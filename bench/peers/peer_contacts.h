// The interface of an engine in the contacts suite: bodies with shapes and friction, stepping, and
// reading back poses and velocities.
//
// Every engine, including ours, is called through this table. The suite computes penetration,
// speeds and escapes from the poses and velocities read back, by the same functions for all. C and
// C++.
#pragma once

#include "peer_joints.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rbPeerColliderKind {
    RB_PEER_COLLIDER_SPHERE,   // size[0]: radius
    RB_PEER_COLLIDER_BOX,      // size: half extents
    RB_PEER_COLLIDER_CAPSULE,  // size[0]: radius, size[1]: half of the segment, along y
    RB_PEER_COLLIDER_HULL,     // points and faces
    RB_PEER_COLLIDER_MESH,     // points and triangles; does not move
    RB_PEER_COLLIDER_CYLINDER, // size[0]: radius, size[1]: half of the length, along z
    RB_PEER_COLLIDER_COUNT
} rbPeerColliderKind;

// A shape about the origin of its body.
typedef struct rbPeerCollider {
    rbPeerColliderKind kind;
    double size[3];            // m
    const double (*points)[3]; // m
    const int* faceSizes;      // corners of each face; 3 for all of a mesh
    const int* indices;        // corners of all faces, counter-clockwise from outside
    int pointCount;
    int faceCount;
    void* ours;          // the rbGeometry of the same shape
    rbPeerPose oursPose; // of that geometry in the frame of the body
} rbPeerCollider;

// A body in the frame of its principal axes at its center of mass.
typedef struct rbPeerContactBody {
    int collider;
    double mass;               // kg; 0: it does not move
    double moments[3];         // kg m^2, principal
    rbPeerPose pose;           // at the start
    double velocity[3];        // m/s
    double angularVelocity[3]; // rad/s, world
} rbPeerContactBody;

// Half space of a static body, for the measurements: inside where normal . x >= offset.
typedef struct rbPeerWall {
    double normal[3];
    double offset; // m
} rbPeerWall;

// Borrowed by the states created from it.
typedef struct rbContactScene {
    const char* name;
    rbPeerCollider* colliders;
    int colliderCount;
    rbPeerContactBody* bodies; // moving bodies first
    int bodyCount;
    int movingCount;
    rbPeerWall* walls;
    int wallCount;
    // Hinges: each moving body is the second body of at most one. Bodies so joined do not touch.
    rbPeerJoint* joints;
    int jointCount;
    double gravity[3];  // m/s^2
    double friction;    // of every pair
    double stiction;    // of sticking, >= friction; our engine only
    double restitution; // of every pair
    bool isTerrain;     // bodies rest on the height field of the terrain scene
} rbContactScene;

// A configuration of the engine.
typedef struct rbContactPeerRow {
    const char* name;
    int option;           // for the engine
    int iterations;       // likewise; 0: it has none
    int bodiesMax;        // scenes with more moving bodies would take too long; 0: no limit
    const void* settings; // for our own table
} rbContactPeerRow;

typedef struct rbContactPeer {
    const char* library;
    const rbContactPeerRow* rows;
    int rowCount;
    // NULL if the engine refuses the scene.
    void* (*create)(const rbContactScene* scene, const rbContactPeerRow* row, double step);
    // One step. False: the engine gave up.
    bool (*advance)(void* state);
    void (*read)(void* state, rbPeerBodyState* states); // of the moving bodies
    int (*countPoints)(void* state);                    // contacts in the last step
    void (*destroy)(void* state);
} rbContactPeer;

#define RB_CONTACT_PEER_ENTRY "rbGetContactPeer"
typedef const rbContactPeer* rbGetContactPeerFn(void);
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const rbContactPeer*
rbGetContactPeer(void);

#ifdef __cplusplus
}
#endif
