// Random directions and orientations, drawn as our benchmark scenes define them: the order of the
// draws is part of the definition.
#pragma once

#include "base/core/random.h"
#include "base/math/elementary.h"

#include <rattleback/vecmath.h>

// Unit vector, uniform on the sphere. Draws z first, then the angle.
static inline rbVec3 rbRandom_Direction(rbRandom* random)
{
    double z = rbRandom_Symmetric(random);
    double angle = 2.0 * RB_PI * rbRandom_Unit(random);
    double radius = sqrt(1.0 - z * z);
    double sine, cosine;
    rbSinCos(angle, &sine, &cosine);
    return rbMakeVec3(radius * cosine, radius * sine, z);
}

// Unit quaternion, uniform over the rotations (Shoemake). Draws the split first, then both angles.
static inline rbQuat rbRandom_Quat(rbRandom* random)
{
    double a = rbRandom_Unit(random);
    double b = 2.0 * RB_PI * rbRandom_Unit(random);
    double c = 2.0 * RB_PI * rbRandom_Unit(random);
    double sinB, cosB, sinC, cosC;
    rbSinCos(b, &sinB, &cosB);
    rbSinCos(c, &sinC, &cosC);
    double first = sqrt(1.0 - a);
    double second = sqrt(a);
    return (rbQuat){second * cosC, first * sinB, first * cosB, second * sinC};
}
