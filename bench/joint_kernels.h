// The parts of a step of a mechanism, called one by one: the cost of each.
#pragma once

#include "joint_scenes.h"

typedef struct rbJointCosts {
    double factor;    // s: rows, masses, assembly and factorization
    double iteration; // s: one look-ahead iteration: flight, errors, solution, impulses
    double advance;   // s: flight of all bodies
} rbJointCosts;

// At the start of the scene, which has ball joints only, with steps of h.
rbJointCosts rbMeasureJointCosts(const rbJointScene* scene, rbSolverType solver, double h,
                                 double seconds);
