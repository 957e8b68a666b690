// Unit quaternions: conversions and exponential (B-06, L-08).
//
// Quaternions are (w, x, y, z) and rotate by q v q^-1; q and -q are the same rotation. Angles are
// in radians; axes are unit vectors.
#pragma once

#include <rattleback/vecmath.h>

// A caller's unit vector or quaternion may have drifted this far from length one.
#define RB_UNIT_TOLERANCE 1e-6

static inline bool rbIsUnit(rbVec3 v)
{
    return fabs(rbLengthSquared(v) - 1.0) < RB_UNIT_TOLERANCE;
}

static inline bool rbIsUnitQuat(rbQuat q)
{
    return fabs(rbDotQuat(q, q) - 1.0) < RB_UNIT_TOLERANCE;
}

static inline bool rbIsSameQuat(rbQuat a, rbQuat b)
{
    return a.w == b.w && a.x == b.x && a.y == b.y && a.z == b.z;
}

static inline bool rbIsSameTransform(rbTransform a, rbTransform b)
{
    return a.p.x == b.p.x && a.p.y == b.p.y && a.p.z == b.p.z && rbIsSameQuat(a.q, b.q);
}

// Unit quaternion of a rotation matrix, with w >= 0. Divides by the largest component, so that it
// is accurate for every rotation.
rbQuat rbQuat_FromMat(rbMat3 r);

// The smallest rotation that takes the unit vector a to the unit vector b. If they are opposite,
// the axis is some perpendicular of a.
rbQuat rbQuat_Between(rbVec3 a, rbVec3 b);

// Quaternion of a rotation vector (axis times angle), accurate to the last digits for tiny ones.
rbQuat rbQuat_Exp(rbVec3 rotationVector);
