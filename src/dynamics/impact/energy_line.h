// Kinetic energy along a straight line between two sets of velocities, so that the excess fraction
// of a change can be undone. Internal to impacts and the solvers of contacts.
#pragma once

#include <rattleback/vecmath.h>

#include <math.h>

// T(s) - T(0) = slope s + square s^2, J.
typedef struct rbEnergyLine {
    double slope, square;
} rbEnergyLine;

// Adds coordinates with a mass (1 for spins scaled by the factor of the inertia).
static inline void rbEnergyLine_Add(rbEnergyLine* line, double mass, rbVec3 from, rbVec3 to)
{
    rbVec3 change = rbSub(to, from);
    line->slope += mass * rbDot(change, from);
    line->square += 0.5 * mass * rbDot(change, change);
}

static inline double rbEnergyLine_GetRise(const rbEnergyLine* line)
{
    return line->slope + line->square;
}

// The largest fraction, 0 .. 1, that raises the energy by no more than room >= 0.
static inline double rbEnergyLine_FindPart(const rbEnergyLine* line, double room)
{
    if (line->slope + line->square <= room) {
        return 1.0;
    }
    double root = sqrt(line->slope * line->slope + 4.0 * line->square * room);
    double part = line->slope > 0.0 ? 2.0 * room / (line->slope + root)
                                    : (root - line->slope) / (2.0 * line->square);
    return part > 0.0 ? fmin(part, 1.0) : 0.0;
}
