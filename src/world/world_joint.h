// Joints and springs of a world, for internal use. Both are links between two bodies.
#pragma once

#include "world/world_state.h"

// A joint or spring to be created.
typedef struct rbLink {
    const char* what; // "joint", "spring"
    const char* name; // may be NULL; for messages it becomes another then
    rbBodyId bodyA;
    rbBodyId bodyB;
} rbLink;

// Checks that the name is short enough and unique among joints and springs, that the bodies exist,
// differ, and one is dynamic; -1 is the world.
rbStatus rbWorld_ValidateLink(const rbWorld* world, rbLink* link, int* indexA, int* indexB,
                              rbError* error);
// Name of a joint (2 i) or spring (2 i + 1) for the table of names; the context is the world.
const char* rbWorld_NameOfLink(int index, const void* context);
// A name for messages, even if it has none, as RB_LABEL_BODY.
const char* rbChooseLabel(const char* name, const char* what, int index,
                          char text[RB_NAME_CAPACITY]);
const char* rbWorld_LabelJoint(const rbWorld* world, int index, char text[RB_NAME_CAPACITY]);
const char* rbWorld_LabelSpring(const rbWorld* world, int index, char text[RB_NAME_CAPACITY]);
#define RB_LABEL_JOINT(world, index) rbWorld_LabelJoint(world, index, RB_LABEL_TEXT)
#define RB_LABEL_SPRING(world, index) rbWorld_LabelSpring(world, index, RB_LABEL_TEXT)

// Pose of a body's frame, and its center of mass with principal axes, at the world's time; -1 is
// the world.
rbTransform rbWorld_GetFrame(const rbWorld* world, int index);
rbRowPose rbWorld_GetRowPose(const rbWorld* world, int index);
// Converts an anchor from the frame of a body to its principal frame.
rbVec3 rbWorld_ToPrincipal(const rbWorld* world, int index, rbVec3 anchor);
// Rate of a row with the present velocities of its bodies.
double rbWorld_GetRowRate(const rbWorld* world, int indexA, int indexB, const rbRow* row);

#define RB_ALL_BODIES (-1)
// J, in the springs and joint springs attached to a body, or in all.
double rbWorld_GetElasticEnergy(const rbWorld* world, int index);
double rbWorld_GetJointEnergy(const rbWorld* world, int index);
double rbSpring_GetEnergy(const rbWorld* world, const rbSpring* spring);

bool rbJoint_IsElastic(const rbJoint* joint);

// A body is about to be destroyed; its principal frame changed (RB_ALL_BODIES: any may have).
void rbWorld_DestroyLinksOf(rbWorld* world, int index);
void rbWorld_RemakeLinksOf(rbWorld* world, int index);
void rbSpring_Remake(const rbWorld* world, rbSpring* spring);
void rbWorld_DestroySpringAt(rbWorld* world, int index);
void rbWorld_FreeLinks(rbWorld* world);

// Activates the motor of a freedom: the one defined, or, if the user set a target, one that holds
// it.
void rbJoint_ChooseMotor(rbJoint* joint, int freedom, double target);
// Changes the motor's definition except its schedule, and activates the motor.
void rbJoint_DefineMotor(rbJoint* joint, int freedom, const rbMotorDef* def);
// Present position of a freedom, angles unwrapped.
double rbWorld_GetFreedomPosition(const rbWorld* world, int index, int freedom);
// Present position that a limit bounds.
double rbWorld_GetLimitPosition(const rbWorld* world, int index, int freedom);
// m and rad, the gap that the run has left in a joint; changes to its bodies since the last
// advance do not count.
double rbWorld_GetLeftGap(const rbWorld* world, int index);
