// Islands of many contacts that strike or jam: sweeps and Newton's method in turn.
//
// Sweeps find out which points open, stick and slide, but some motions they hardly change: jammed
// chains, a body wedged among others. Newton's method solves these at once, but only from sets that
// are nearly right. So, from the impulses x that sweeps left, with w = J v + b,
//   coupled   the sets of x - w / k (k: the mobility of the point, as a sweep would choose them)
//             are held and the linear equations solved, discs of friction following the normals;
//   convex    if that does not lower the residual: all discs are held, and the minimum of the
//             convex function of contact_newton.h is found for them; then sweeps adapt the discs,
// until the residual is within the tolerance or a limit of work is reached. The residual, the
// change that a sweep with the present velocities would make as an energy, may not grow. Every
// iterate that is measured lies in the cones and has exactly the velocities of its impulses.
//
// Random islands to 1e-8 m/s: it solves 398 of 399, contact_newton.c 393 of 400
// (prop_contact_newton). Where sweeps converge at all they are quicker in heaps of 1000 bodies,
// whose factorization costs 16 ms and more (`bench contacts --only solvers`); so many of them come
// first.
#pragma once

#include "dynamics/contact/contact_newton.h"

// Continues from the current velocities and impulses; without links. Like rbContactNewton_Solve.
double rbContactNewton_SolveInTurn(rbContactNewton* newton, const rbContactRun* run,
                                   const rbNewtonTask* task, int* rounds);
