// Joints and springs of a world, for its other files. Both are links between two bodies.
#ifndef RB_WORLD_WORLD_JOINT_H
#define RB_WORLD_WORLD_JOINT_H

#include "world/world_state.h"

// A joint or spring that is to be made.
typedef struct rbLink {
    const char* what; // "joint", "spring"
    const char* name; // for messages, never NULL
    rbBodyId bodyA;
    rbBodyId bodyB;
} rbLink;

// Whether the bodies of a link exist, differ, and one of them can be moved; -1 is the world.
rbStatus rbWorld_ValidateLink(const rbWorld* world, const rbLink* link, int* indexA, int* indexB,
                              rbError* error);
// Whether a name (may be NULL) is short enough and its own among joints and springs.
rbStatus rbWorld_ValidateLinkName(const rbWorld* world, const rbLink* link, const char* name,
                                  rbError* error);
// Name of a joint (2 i) or spring (2 i + 1) for the table of names; the context is the world.
const char* rbWorld_NameOfLink(int index, const void* context);
// The name for people, also of one without.
const char* rbWorld_LabelJoint(const rbWorld* world, int index, char text[RB_NAME_CAPACITY]);
const char* rbWorld_LabelSpring(const rbWorld* world, int index, char text[RB_NAME_CAPACITY]);

// Pose of a body's frame, and center of mass with principal axes, at the world's time; -1: the
// world.
rbTransform rbWorld_GetFrame(const rbWorld* world, int index);
rbRowPose rbWorld_GetRowPose(const rbWorld* world, int index);
// An anchor in the frame of a body, seen from its principal frame.
rbVec3 rbWorld_ToPrincipal(const rbWorld* world, int index, rbVec3 anchor);
// Rate of a row with the present velocities of its bodies.
double rbWorld_GetRowRate(const rbWorld* world, int indexA, int indexB, const rbRow* row);

#define RB_ALL_BODIES (-1)
// J, in the springs and the springs of joints at a body, or of all.
double rbWorld_GetElasticEnergy(const rbWorld* world, int index);
double rbWorld_GetJointEnergy(const rbWorld* world, int index);
double rbSpring_GetEnergy(const rbWorld* world, const rbSpring* spring);

bool rbJoint_IsElastic(const rbJoint* joint);

// The body is about to go; the body has another principal frame (RB_ALL_BODIES: any may).
void rbWorld_DestroyLinksOf(rbWorld* world, int index);
void rbWorld_RemakeLinksOf(rbWorld* world, int index);
void rbSpring_Remake(const rbWorld* world, rbSpring* spring);
void rbWorld_DestroySpringAt(rbWorld* world, int index);
void rbWorld_FreeLinks(rbWorld* world);

// Puts the motor of a freedom in use: that of the definition, or, when a target was set from
// outside, one that holds it.
void rbJoint_ChooseMotor(rbJoint* joint, int freedom, double target);
// Other numbers of the definition, but for its schedule, and puts the motor in use.
void rbJoint_DefineMotor(rbJoint* joint, int freedom, const rbMotorDef* def);
// Position of a freedom now, turns counted.
double rbWorld_GetFreedomPosition(const rbWorld* world, int index, int freedom);
// What a limit bounds, now.
double rbWorld_GetLimitPosition(const rbWorld* world, int index, int freedom);
// m and rad, how far the run has left a joint open; what was done to its bodies since the last
// advance does not count.
double rbWorld_GetLeftGap(const rbWorld* world, int index);

#endif
