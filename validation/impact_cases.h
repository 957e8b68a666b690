// Impacts with known results and random ones, for the tests and the case `impacts`.
#pragma once

#include "base/core/random.h"

#include <rattleback/impact.h>

// A planar body, m = 1, J = 1/3, hits fixed ground with a point at (rx, ry) from its mass center,
// normal +y. Velocities and impulses: tangential, normal.
typedef struct rbPlanarImpact {
    const char* name;
    double rx, ry, friction, restitution, vt, vn;
    rbImpactLaw law;
    double pt, pn, vtAfter, vnAfter, energyChange;
} rbPlanarImpact;

const rbPlanarImpact* rbGetPlanarImpacts(int* count);

// The planar impact in a space whose x axis is rotated by angle from the tangent.
rbImpactInput rbMakePlanarInput(const rbPlanarImpact* impact, double angle);

// Painleve's rod, length 2h, J = m h^2/3, m = h = 1, one end sliding at an angle to the ground: the
// direction of sliding that can jam.
rbImpactInput rbMakeRodInput(double angle, double friction);
double rbGetRodThreshold(double angle);

// K = S B B^T S with random B and S = 10^(+-spread); nearly singular ones are skipped.
rbSym3 rbMakeRandomMatrix(rbRandom* random, double spread);
// A body of random mass, moments of inertia of a real body, orientation and motion.
rbImpactBody rbMakeRandomBody(rbRandom* random);
// An impact with all axes coupled: every second one from bodies, the others from random matrices;
// velocities with little or no slip, restitution 0, 1 and between, friction 0.02 to 5. The law is
// Newton's.
rbImpactInput rbMakeRandomImpact(rbRandom* random, double spread);

// Newton's cradle: five touching equal spheres in a row, the first moving at 1 m/s.
#define RB_CRADLE_BALLS 5
rbImpactsReport rbSwingCradle(rbImpactOrder order, double velocities[RB_CRADLE_BALLS]);

// Violations of a result of the library, each at most rounding when it is correct.
typedef struct rbImpactCheck {
    double cone;   // |p_t|/(mu p_z) - 1
    double motion; // u - u0 - K p, against the sum of its terms
    double work;   // work against (u + u0) p/2, over the works of the phases
    double energy; // total work over the works of the phases; positive: raised
    bool isApproaching;
    bool isFinite;
} rbImpactCheck;

rbImpactCheck rbCheckImpact(const rbImpactInput* input, const rbImpactResult* result);
