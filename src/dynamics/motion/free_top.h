// The torque-free rigid body in closed form: orientation and spin at any later time, at constant
// cost.
//
// Frames: principal axes of the body through its center of mass ("body"), and the world. The spin
// is always given in body axes.
#pragma once

#include "base/math/elliptic.h"

#include <rattleback/vecmath.h>

// The data of one flight, prepared at its start. About 400 bytes; plain data, safe to copy.
typedef struct rbFreeTop {
    rbElliptic elliptic;
    double theta[2 * RB_THETA_TERMS]; // coefficients of the phase of theta(u + ia), see free_top.c
    double rate;                      // du/dt, 1/s; 0 for steady rotation about a fixed axis
    double phase;                     // u at the start
    double precession;                // 2E/L, rad/s
    double twistPerPeriod;            // rad per half period 2K of u, excluding the precession
    double twistPerU;                 // rad per u within one
    double twistStart;                // rad, the twist at the start
    double handed;     // +1 when the polar axis is the one of largest moment, otherwise -1
    double momentum;   // |L|, kg m^2/s
    rbVec3 amplitude;  // of l/|l| along (middle, other, polar) axis, signs included
    rbVec3 invMoments; // along x, y, z of the body
    int axes[4];       // body axis (0..2) in the role of middle, other, polar; 0: no padding
    rbQuat frame;      // orientation(t) = frame * twist about polar * swing(l(t))
    rbVec3 direction;  // steady rotation: the unit vector of L in the body
} rbFreeTop;

// Axes in order of decreasing moments.
void rbSortAxes(rbVec3 moments, int order[3]);

// Prepares a flight from the orientation and the body-frame spin at its start.
// moments are the principal moments, all > 0.
rbFreeTop rbFreeTop_Make(rbVec3 moments, rbQuat orientation, rbVec3 spinLocal);

// Orientation and spin (body axes) a time dt after the start; dt may be negative.
void rbFreeTop_Evaluate(const rbFreeTop* top, double dt, rbQuat* orientation, rbVec3* spinLocal);
