// Joints and springs of a world, for internal use. Both are links between two bodies.
#pragma once

#include "world/world_state.h"

// A name for messages, even if it has none, as RB_LABEL_BODY.
const char* rbChooseLabel(const char* name, const char* what, int index,
                          char text[RB_NAME_CAPACITY]);
const char* rbWorld_LabelJoint(const rbWorld* world, int index, char text[RB_NAME_CAPACITY]);
const char* rbWorld_LabelSpring(const rbWorld* world, int index, char text[RB_NAME_CAPACITY]);
#define RB_LABEL_JOINT(world, index) rbWorld_LabelJoint(world, index, RB_LABEL_TEXT)
#define RB_LABEL_SPRING(world, index) rbWorld_LabelSpring(world, index, RB_LABEL_TEXT)

// The principal frame of a body in its own frame; of the world (-1): none.
rbTransform rbWorld_GetPrincipal(const rbWorld* world, int index);

#define RB_ALL_BODIES (-1)
// J, in the springs and joint springs attached to a body, or in all.
double rbWorld_GetElasticEnergy(const rbWorld* world, int index);

// A body is about to be destroyed; its principal frame changed (RB_ALL_BODIES: any may have).
void rbWorld_DestroyLinksOf(rbWorld* world, int index);
void rbWorld_RemakeLinksOf(rbWorld* world, int index);
void rbWorld_FreeLinks(rbWorld* world);

// Activates the motor of a freedom: the one defined, or, if the user set a target, one that holds
// it.
void rbJoint_ChooseMotor(rbJoint* joint, int freedom, double target);
// Changes the motor's definition except its schedule, and activates the motor.
void rbJoint_DefineMotor(rbJoint* joint, int freedom, const rbMotorDef* def);
// Present position of a freedom, angles unwrapped.
double rbWorld_GetFreedomPosition(const rbWorld* world, const rbJoint* joint, int freedom);
// Present position that a limit bounds.
double rbWorld_GetLimitPosition(const rbWorld* world, const rbJoint* joint, int freedom);
// m and rad, the gap that the run has left in a joint; changes to its bodies since the last
// advance do not count.
double rbWorld_GetLeftGap(const rbWorld* world, const rbJoint* joint);
