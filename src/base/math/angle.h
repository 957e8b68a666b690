// Angles and full turns.
#pragma once

#include <rattleback/vecmath.h>

#include <math.h>

// An angle without its full turns, in [-pi, pi].
static inline double rbWrapAngle(double angle)
{
    return angle - 2.0 * RB_PI * floor(angle / (2.0 * RB_PI) + 0.5);
}

// An angle with as many full turns more or less as bring it nearest to another.
static inline double rbNearestTurn(double angle, double near)
{
    return angle + 2.0 * RB_PI * floor((near - angle) / (2.0 * RB_PI) + 0.5);
}
