// Random satisfied joints of every type, at poses over their whole range.
#pragma once

#include "dynamics/joints/joint_model.h"
#include "lab/math/random3.h"

// The types of the table, and free combinations after them.
#define SAMPLE_COUNT (RB_JOINT_COUNT - 1 + 4)

typedef struct JointSample {
    const char* name;
    rbJointModel model;
    rbJointDef def;
    rbJointPart parts[3];
    rbTransform principalA; // principal frames in the bodies' frames
    rbTransform principalB;
    rbTransform bodyA; // bodies' frames when the joint was made
    rbTransform bodyB;
    rbRowPose madeA; // principal frames when the joint was made
    rbRowPose madeB;
    rbRowPose poseA; // and moved within the range of the joint; the degrees of freedom by:
    rbRowPose poseB;
    double moved[RB_JOINT_FREEDOMS_MAX]; // expected positions, angles within (-pi, pi)
} JointSample;

JointSample rbSampleJoint(rbRandom* random, int index);

rbVec3 rbSampleVector(rbRandom* random, double size);
rbTransform rbSampleTransform(rbRandom* random, double size);

// A pose moved by a translation and rotated in place by a rotation vector, world axes.
rbRowPose rbMovePose(const rbRowPose* pose, rbVec3 shift, rbVec3 turn);
// A pose moved by a rigid motion of space.
rbRowPose rbCarryPose(const rbRowPose* pose, rbTransform motion);
