// Joints, springs and trees of a scene in memory, and what their readers share.
//
// A joint or a spring that has "repeat" stays one row here; scene_joint_world.c makes the copies.
// Names of bodies may contain the indices of the copy: "link[x+1]", "knot[x,y+1,z]".
#pragma once

#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

// An index in a name: x, y or z of the copy plus a number, or just a number.
typedef struct rbIndexTerm {
    int variable; // 0, 1, 2; -1: none
    int offset;
} rbIndexTerm;

// One of the two bodies of a joint or a spring.
struct rbSceneEnd {
    int body;      // template, -1: the world
    int termCount; // 0: a body without copies; 1: index of the copy; 3: its position in the grid
    rbIndexTerm terms[3];
    bool isParent; // in a tree: copy k of a level is a child of copy k / 2 of the level above
};

// The frame in which a vector is given.
typedef enum rbVectorMode {
    RB_VECTOR_ABSENT, // zero
    RB_VECTOR_WORLD,  // in world coordinates at the start
    RB_VECTOR_LOCAL,  // in the frame of the body
    RB_VECTOR_SAME    // at the start the same as that of the other body
} rbVectorMode;

typedef struct rbSceneVector {
    rbVectorMode mode;
    rbVec3 v;
} rbSceneVector;

// Anchors and axes of both sides.
typedef struct rbScenePlace {
    rbSceneVector anchors[2];
    rbSceneVector axes[2];
} rbScenePlace;

struct rbSceneJoint {
    char name[RB_SCENE_NAME_MAX + 1];
    rbSceneEnd ends[2];
    rbSceneGrid grid;
    rbJointDef def; // without name, bodies, anchors and axes
    rbScenePlace place;
    rbJointPart parts[RB_JOINT_PARTS_MAX]; // without anchors and axes
    rbScenePlace partPlaces[RB_JOINT_PARTS_MAX];
    int tree;      // the tree it belongs to, else -1
    int listIndex; // in "joints" or "trees"
};

struct rbSceneSpring {
    char name[RB_SCENE_NAME_MAX + 1];
    rbSceneEnd ends[2];
    rbSceneGrid grid;
    rbSpringDef def; // without name, bodies and anchors
    rbSceneVector anchors[2];
};

// A binary tree of boxes; its bodies store their level and the index of the tree.
struct rbSceneTree {
    rbVec3 start;       // m, attachment point of the root
    rbQuat orientation; // of the root: z along it, x toward the side
    double length;      // m, of the leaves
    double ratio;
    double angle; // rad, between two siblings
    double turn;  // rad
    int depth;
};

// scene_ends.c: the two bodies, and the grid of copies. Missing bodies, a body joined to itself and
// pairs without a dynamic body are refused, as are copies whose bodies do not exist.
rbStatus rbReadGrid(rbReader* reader, const json_t* repeat, const char* name, rbSceneGrid* grid);
rbStatus rbReadEnds(const rbScene* scene, rbReader* reader, const rbEndsFields* fields,
                    const rbSceneGrid* grid, rbSceneEnd ends[2]);
// Finds the body with a name that may contain indices, or the world.
rbStatus rbReadEnd(const rbScene* scene, rbReader* reader, const char* name, rbSceneEnd* end);
// Index of the body of a copy among the bodies of the world, -1: the world. False if there is none.
bool rbSceneEnd_Find(const rbScene* scene, const rbSceneEnd* end, const rbSceneGrid* grid, int copy,
                     int* body);
// Whether one of the two is the world or a body that is not dynamic.
bool rbAreEndsAnchored(const rbScene* scene, const rbSceneEnd ends[2]);
rbVec3 rbSceneGrid_GetOffset(const rbSceneGrid* grid, int copy);
// The name of a copy, at most RB_SCENE_NAME_MAX bytes and the terminator.
void rbSceneGrid_WriteName(const rbSceneGrid* grid, const char* base, int copy, char* name);

// scene_joints.c: reads a joint except for its name and bodies.
rbStatus rbReadJointKind(rbScene* scene, rbReader* reader, const json_t* json,
                         const rbJointFields* fields, rbSceneJoint* joint);
// The fields of a freedom along which nothing acts.
extern const rbFreedomFields rbNoFreedom;
// Adds it to the scene and counts its copies.
void rbAddJoint(rbScene* scene, const rbSceneJoint* joint);
// Number of freedoms that motors can act on, 0 to 2; whether one of them is an angle.
int rbGetFreedomCount(rbJointType type);
bool rbIsFreedomAngle(rbJointType type, int freedom);
// Whether both anchors must be given when one body is the world.
bool rbNeedsSecondAnchor(rbJointType type);

// scene_trees.c: the frame of a copy of a level, at the center of the box.
rbTransform rbSceneTree_GetTransform(const rbSceneTree* tree, int level, int copy);
