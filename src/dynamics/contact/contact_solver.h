// Solving contacts by sweeps of impulses, with Coulomb friction on the exact cone (B-75 to B-78).
//
// Position stage: P >= 0, gap + h u.n >= 0, one of them zero; sticking: slip + h u.t = 0 while
// |T| <= stiction * P, else sliding with |T| = friction * P against u.t. Velocity stage, closed
// points: u.n >= target with P >= 0, u.t = 0 or sliding likewise. Rolling and spinning friction
// likewise on the relative spin. Aims at zero with at least one sweep acting, so that nothing
// creeps by the tolerance.
#ifndef RB_CONTACT_CONTACT_SOLVER_H
#define RB_CONTACT_CONTACT_SOLVER_H

#include "dynamics/contact/contact.h"

#include <rattleback/contact.h>

typedef struct rbContactSolver rbContactSolver;

rbContactSolver* rbCreateContactSolver(const rbContactSettings* settings);
void rbDestroyContactSolver(rbContactSolver* solver); // NULL is fine

// Joints of the same bodies take part in the sweeps (B-79, B-80): called after every sweep with the
// velocities as they are, changes them, returns its largest error before the call (m or m/s) and
// whether it is done. NULL: there are none.
typedef bool rbSweepJointsFn(void* context, double* error);

// What joints take from the normals of a contact (B-81): a unit impulse at point j, joints
// corrected after it, changes the speed of point i by [RB_MANIFOLD_POINTS_MAX i + j] less than it
// would without them, 1/kg.
typedef void rbReactionFn(void* context, int contact, double* reaction);

typedef struct rbContactRun {
    rbContactSet* set;
    const int* order; // contacts in the order of sweeps (an island, by levels); NULL: all
    int orderCount;
    rbContactBody* bodies;
    double h;         // s, of the step
    bool isContinued; // goes on from a solution that was not good enough: no first guess
    bool isMoving;    // it is known that bodies strike: to be within the tolerance is enough
    int sweepsMax;    // instead of that of the settings; 0: that
    double restSpeed; // m/s: the same
    rbSweepJointsFn* sweepJoints;
    rbReactionFn* react; // NULL: masses are those of the bodies alone
    void* context;
} rbContactRun;

typedef struct rbContactSolved {
    int sweeps;
    double gapError;  // m (position) or m/s (velocity): largest violation left, normal
    double slipError; // the same of sticking points; of sliding ones what their friction misses
    int worst;        // contact of it, -1: none
    bool isMet;       // both within the tolerance
    bool isShocked;   // shock propagation ended it
    bool isDirect;    // solved as a whole; the engine sets it
    bool isMoving;    // began far from met: bodies strike, and to be met is enough
} rbContactSolved;

// A step, as the engine calls it, on one set found at the poses of a node:
//   Prepare            masses at all points of the set; impulses are left as they are
//   SolveVelocities    ends the step before: impulses come in as the sums of its position stage,
//                      which have acted already, and go out as the sums of both stages
//   BeginStep          isWarm: impulses become half of what they are (two stages share them),
//                      which act at the start of SolvePositions; else zero
//   SolvePositions     the next step; then bodies fly, and contacts are found anew
// Solve works on an island: run->order names its contacts; Prepare and BeginStep take the whole set
// (run->order is not looked at). A set is prepared once for both stages.
void rbContactSolver_Prepare(rbContactSolver* solver, const rbContactRun* run);
void rbContactSolver_BeginStep(rbContactSolver* solver, const rbContactRun* run, bool isWarm);
rbContactSolved rbContactSolver_SolvePositions(rbContactSolver* solver, const rbContactRun* run);
rbContactSolved rbContactSolver_SolveVelocities(rbContactSolver* solver, const rbContactRun* run);

#endif
