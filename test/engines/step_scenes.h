// Small worlds for the tests of the step engine.
#pragma once

#include "rb_test.h"

#include <rattleback/rattleback.h>

#include <math.h>

static inline rbWorldDef stepWorldDef(double gravity, double step, int order)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.gravity = rbMakeVec3(0.0, 0.0, -gravity);
    def.step.step = step;
    def.step.order = order;
    return def;
}

static inline rbWorld* makeStepWorld(const rbWorldDef* def)
{
    rbError error = {0};
    rbWorld* world = rbCreateWorld(def, &error);
    if (world == NULL) {
        print_error("no world: %s\n", error.message);
        fail();
    }
    return world;
}

// A dynamic body with principal moments along its axes.
static inline rbBodyId addStepBody(rbWorld* world, double mass, rbVec3 moments, rbVec3 position,
                                   rbQuat orientation)
{
    rbError error = {0};
    rbMassProperties properties = {
        .volume = 1.0, .mass = mass, .inertia = {moments.x, moments.y, moments.z, 0.0, 0.0, 0.0}};
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_DYNAMIC;
    def.position = position;
    def.orientation = orientation;
    def.mass = &properties;
    rbBodyId id = rbCreateBody(world, &def, &error);
    if (RB_IS_NULL(id)) {
        print_error("no body: %s\n", error.message);
        fail();
    }
    return id;
}

static inline rbJointId addStepJoint(rbWorld* world, const rbJointDef* def)
{
    rbError error = {0};
    rbJointId id = rbCreateJoint(world, def, &error);
    if (RB_IS_NULL(id)) {
        print_error("no joint: %s\n", error.message);
        fail();
    }
    return id;
}

// A joint at a world point with a world axis; null bodies are the world.
static inline rbJointDef stepJointDef(const rbWorld* world, rbJointType type, rbBodyId bodyA,
                                      rbBodyId bodyB, rbVec3 anchor, rbVec3 axis)
{
    rbJointDef def = rbDefaultJointDef();
    def.type = type;
    def.bodyA = bodyA;
    def.bodyB = bodyB;
    rbJointDef_SetAnchor(&def, world, anchor);
    rbJointDef_SetAxis(&def, world, axis);
    return def;
}

#define RB_NO_BODY ((rbBodyId){0, 0})

// A chain of bars of 1 m along x, hung at the origin.
static inline void addStepChain(rbWorld* world, int count, rbJointType type, rbBodyId* bodies)
{
    for (int i = 0; i < count; ++i) {
        bodies[i] = addStepBody(world, 1.0, rbMakeVec3(0.002, 0.084, 0.085),
                                rbMakeVec3(i + 0.5, 0.0, 0.0), RB_QUAT_IDENTITY);
        rbVec3 axis = rbMakeVec3(0.0, 1.0, i % 2 == 0 ? 0.0 : 0.3);
        rbJointDef def = stepJointDef(world, type, i > 0 ? bodies[i - 1] : RB_NO_BODY, bodies[i],
                                      rbMakeVec3(i, 0.0, 0.0), axis);
        if (type == RB_JOINT_UNIVERSAL) {
            def.axisB = rbMakeVec3(0.2, 0.0, 1.0);
        }
        (void)addStepJoint(world, &def);
    }
}

#define RB_NET 8

// Balls in a plane, joined with their neighbors; the first row is exactly as long as the distance
// between the two nails it hangs on.
static inline void addStepNet(rbWorld* world, rbBodyId bodies[RB_NET][RB_NET])
{
    for (int j = 0; j < RB_NET; ++j) {
        for (int i = 0; i < RB_NET; ++i) {
            rbVec3 center = rbMakeVec3(0.5 * i, 0.5 * j, 0.0);
            bodies[j][i] =
                addStepBody(world, 1.0, rbMakeVec3(0.016, 0.016, 0.016), center, RB_QUAT_IDENTITY);
            rbVec3 left = rbMakeVec3(0.5 * i - 0.25, 0.5 * j, 0.0);
            rbVec3 back = rbMakeVec3(0.5 * i, 0.5 * j - 0.25, 0.0);
            if (i > 0) {
                rbJointDef def = stepJointDef(world, RB_JOINT_BALL, bodies[j][i - 1], bodies[j][i],
                                              left, RB_VEC3_ZERO);
                (void)addStepJoint(world, &def);
            }
            if (j > 0) {
                rbJointDef def = stepJointDef(world, RB_JOINT_BALL, bodies[j - 1][i], bodies[j][i],
                                              back, RB_VEC3_ZERO);
                (void)addStepJoint(world, &def);
            }
            if (j == 0 && (i == 0 || i == RB_NET - 1)) {
                rbJointDef def = stepJointDef(world, RB_JOINT_BALL, RB_NO_BODY, bodies[j][i],
                                              center, RB_VEC3_ZERO);
                (void)addStepJoint(world, &def);
            }
        }
    }
}
