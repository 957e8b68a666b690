// Bodies and joints for the tests of worlds.
#pragma once

#include "rb_test.h"

#include <rattleback/rattleback.h>

static inline rbBodyId addBody(rbWorld* world, const char* name, double massValue, rbVec3 position)
{
    rbError error = {0};
    rbMassProperties mass = {
        .volume = 1.0,
        .mass = massValue,
        .inertia = {0.03 * massValue, 0.02 * massValue, 0.04 * massValue, 0.0, 0.0, 0.0}};
    rbBodyDef def = rbDefaultBodyDef();
    def.name = name;
    def.position = position;
    def.mass = &mass;
    rbBodyId id = rbCreateBody(world, &def, &error);
    assert_false(RB_IS_NULL(id));
    return id;
}

static inline rbJointId join(rbWorld* world, rbJointDef* def, rbVec3 anchor, rbVec3 axis)
{
    rbError error = {0};
    rbJointDef_SetAnchor(def, world, anchor);
    rbJointDef_SetAxis(def, world, axis);
    rbJointId id = rbCreateJoint(world, def, &error);
    if (RB_IS_NULL(id)) {
        print_message("%s\n", error.message);
    }
    assert_false(RB_IS_NULL(id));
    return id;
}
