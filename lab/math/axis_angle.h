// Rotations by an axis and an angle.
#pragma once

#include "base/math/elementary.h"
#include "base/math/quaternion.h"

#include <rattleback/base.h>

// Rotation by angle about the unit vector axis.
static inline rbQuat rbQuat_FromAxisAngle(rbVec3 axis, double angle)
{
    RB_ASSERT(rbIsUnit(axis));
    double s, c;
    rbSinCos(0.5 * angle, &s, &c);
    return (rbQuat){c, s * axis.x, s * axis.y, s * axis.z};
}
