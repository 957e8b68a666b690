// Joints, springs and trees of a scene in memory, and what their readers share.
//
// A joint or a spring that has "repeat" stays one row here; scene_joint_world.c makes the copies.
// Names of bodies may hold the indices of the copy: "link[x+1]", "knot[x,y+1,z]".
#ifndef RB_SCENE_JOINTS_H
#define RB_SCENE_JOINTS_H

#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

// An index in a name: one of x, y, z of the copy plus a number, or a number alone.
typedef struct rbIndexTerm {
    int variable; // 0, 1, 2; -1: none
    int offset;
} rbIndexTerm;

// One of the two bodies of a joint or a spring.
struct rbSceneEnd {
    int body;      // template, -1: the world
    int termCount; // 0: a body without copies; 1: the number of the copy; 3: its place in the grid
    rbIndexTerm terms[3];
    bool isParent; // of a tree: copy k of a level hangs on copy k / 2 of the level above
};

// Where a vector is given.
typedef enum rbVectorMode {
    RB_VECTOR_ABSENT, // zero
    RB_VECTOR_WORLD,  // in world coordinates at the start
    RB_VECTOR_LOCAL,  // in the frame of the body
    RB_VECTOR_SAME    // where that of the other body is at the start
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
    int tree;      // whose joint it is, else -1
    int listIndex; // in "joints" or "trees"
};

struct rbSceneSpring {
    char name[RB_SCENE_NAME_MAX + 1];
    rbSceneEnd ends[2];
    rbSceneGrid grid;
    rbSpringDef def; // without name, bodies and anchors
    rbSceneVector anchors[2];
};

// A binary tree of boxes; its bodies hold a level and the index of it.
struct rbSceneTree {
    rbVec3 start;       // m, where the root hangs
    rbQuat orientation; // of the root: z along it, x toward the side
    double length;      // m, of the leaves
    double ratio;
    double angle; // rad, between two siblings
    double turn;  // rad
    int depth;
};

// scene_ends.c: the two bodies, and the grid of copies. Bodies that are absent, alone or unmoved
// are refused; copies of the joint whose bodies do not exist too.
rbStatus rbReadGrid(rbReader* reader, const json_t* repeat, const char* name, rbSceneGrid* grid);
rbStatus rbReadEnds(const rbScene* scene, rbReader* reader, const rbEndsFields* fields,
                    const rbSceneGrid* grid, rbSceneEnd ends[2]);
// Finds the body of a name that may hold indices, or the world.
rbStatus rbReadEnd(const rbScene* scene, rbReader* reader, const char* name, rbSceneEnd* end);
// Index of the body of a copy among the bodies of the world, -1: the world. False: there is none.
bool rbSceneEnd_Find(const rbScene* scene, const rbSceneEnd* end, const rbSceneGrid* grid, int copy,
                     int* body);
// Whether one of the two is the world or a body that nothing moves.
bool rbAreEndsAnchored(const rbScene* scene, const rbSceneEnd ends[2]);
rbVec3 rbSceneGrid_GetOffset(const rbSceneGrid* grid, int copy);
// The name of a copy, at most RB_SCENE_NAME_MAX bytes and the terminator.
void rbSceneGrid_WriteName(const rbSceneGrid* grid, const char* base, int copy, char* name);

// scene_joints.c: what a joint is, but for its name and bodies.
rbStatus rbReadJointKind(rbScene* scene, rbReader* reader, const json_t* json,
                         const rbJointFields* fields, rbSceneJoint* joint);
// The fields of a freedom along which nothing acts.
extern const rbFreedomFields rbNoFreedom;
// Puts it into the scene, with its copies among the counts.
void rbAddJoint(rbScene* scene, const rbSceneJoint* joint);
// Freedoms that joints of a type leave and motors act on, 0 to 2; whether one of them is an angle.
int rbGetFreedomCount(rbJointType type);
bool rbIsFreedomAngle(rbJointType type, int freedom);
// Both anchors must be known where a body is the world.
bool rbNeedsSecondAnchor(rbJointType type);

// scene_trees.c: the frame of a copy of a level, at the middle of the box.
rbTransform rbSceneTree_GetTransform(const rbSceneTree* tree, int level, int copy);

#endif
