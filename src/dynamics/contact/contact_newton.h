// Contacts of an island solved simultaneously, where sweeps are slow: stacks, large mass ratios.
//
// The impulses x of a stage and the velocities v it leaves satisfy
//   M (v - v0) = J^T (x - x0),   x = proj(x - r w),   w = J v + b,
// proj onto P >= 0 and the disc of friction, for any r > 0. With the x on the right held (augmented
// Lagrangian) and the discs those of the last P, the rest is the minimum of a convex function of v,
// found by Newton's method with a line search. Its matrix, M + J^T D J with D between 0 and r, has
// a block of 6 x 6 for every body and pair, whatever the number of points between them. A large r
// brings x to its fixed point in a few rounds; redundant points share the load. Joints take part
// with separate rows: x within limits, w + compliance (x - x0) = 0 inside of them.
#pragma once

#include "dynamics/contact/contact_solver.h"

typedef struct rbContactNewton rbContactNewton;

rbContactNewton* rbCreateContactNewton(void);
void rbDestroyContactNewton(rbContactNewton* newton); // NULL is fine

// A row of a joint.
typedef struct rbContactLink {
    int bodyA; // of the host, -1: the world
    int bodyB;
    double row[12];    // w = row . (velocity A, spin A, velocity B, spin B) + bias, of moved bodies
    double bias;       // m/s or rad/s
    double compliance; // m/s per N s
    double most;       // N s: the impulse stays within; INFINITY: no limit
    double impulse;    // N s: the impulse that has acted; acts along +row
} rbContactLink;

typedef struct rbNewtonTask {
    bool isOfPositions;
    double partSpeed; // m/s: overlap is undone no faster
    double tolerance; // m/s, of w
    double known;     // m/s, the largest error of another solution
    bool isMoving;    // being within the tolerance is enough
    rbContactLink* links;
    int linkCount;
} rbNewtonTask;

// Begins a stage as the sweeps do: impulses of a position stage have not acted yet and are a guess;
// those of a velocity stage have acted and will be about doubled. Or continues from the current
// velocities and impulses (run->isContinued). Without an improvement on the known solution,
// velocities and impulses stay unchanged. Returns the largest remaining error. rounds:
// factorizations are added.
double rbContactNewton_Solve(rbContactNewton* newton, const rbContactRun* run,
                             const rbNewtonTask* task, int* rounds);

// The same by sweeps and Newton's method in turn, see contact_hybrid.c; continues from the current
// velocities and impulses, without links.
double rbContactNewton_SolveInTurn(rbContactNewton* newton, const rbContactRun* run,
                                   const rbNewtonTask* task, int* rounds);
