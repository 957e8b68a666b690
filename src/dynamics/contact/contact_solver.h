// Solving contacts by sweeps of impulses, with Coulomb friction on the exact cone (B-75 to B-78).
//
// Position stage: P >= 0, gap + h u.n >= 0, one of them zero; sticking: slip + h u.t = 0 while |T|
// <= stiction * P, otherwise sliding with |T| = friction * P against u.t. Velocity stage, closed
// points: u.n >= target with P >= 0, u.t = 0 or sliding likewise. Rolling and spinning friction
// likewise on the relative spin. The target is zero, with at least one sweep acting, so that
// nothing creeps by the tolerance.
#pragma once

#include "dynamics/contact/contact.h"

#include <rattleback/contact.h>

#include <stddef.h>

typedef struct rbContactSolver rbContactSolver;

rbContactSolver* rbCreateContactSolver(const rbContactSettings* settings);
void rbDestroyContactSolver(rbContactSolver* solver); // NULL is fine

// Joints of the same bodies take part in the sweeps (B-79, B-80): called after every sweep with the
// current velocities, changes them, returns its largest error before the call (m or m/s) and
// whether it is done. NULL: there are none.
typedef bool rbSweepJointsFn(void* context, double* error);

// How joints reduce the response of the normals of a contact (B-81): a unit impulse at point j,
// followed by the joint correction, changes the speed of point i by [RB_MANIFOLD_POINTS_MAX i + j]
// less than without joints, 1/kg.
typedef void rbReactionFn(void* context, int contact, double* reaction);

// Islands of more bodies are large: solved with momentum, and by default to what is allowed.
#define RB_ISLAND_LARGE 256

// What large islands are solved to: at most what is allowed.
rbContactTolerance rbContactTolerance_Aim(rbContactTolerance allowed);
// The settings with the tolerances that islands which are not large are solved to: less where they
// are 0, since most of them are met as fast to that.
rbContactSettings rbAimContactSettings(const rbContactSettings* settings);

// Friction of a point that slides acts against its slip and this together, m/s along the tangents.
typedef struct rbSlipLead {
    double slip[2]; // 0: by its own slip alone
    double part;    // of the friction, that acts where slip is not 0
} rbSlipLead;

typedef struct rbContactRun {
    rbContactSet* set;
    const int* order; // contacts in the order of sweeps (an island, by levels); NULL: all
    int orderCount;
    rbContactBody* bodies;
    double h;         // s, of the step
    bool isContinued; // continues from a solution that was not good enough: no first guess
    bool isMoving;    // bodies are known to strike: being within the tolerance is enough
    int sweepsMax;    // replaces that of the settings; 0: that
    double restSpeed; // m/s: likewise
    rbContactTolerance allowed; // likewise, member by member
    const rbSlipLead* leads;    // by point of the set; NULL: none
    rbSweepJointsFn* sweepJoints;
    rbReactionFn* react; // NULL: masses are those of the bodies alone
    void* context;
} rbContactRun;

// The contacts of a run.
static inline int rbContactRun_GetCount(const rbContactRun* run)
{
    return run->order != NULL ? run->orderCount : run->set->contactCount;
}

// What is allowed in a run, m or m/s.
double rbContactRun_GetTolerance(const rbContactRun* run, const rbContactSettings* settings,
                                 bool isVelocity);

static inline int rbContactRun_GetContact(const rbContactRun* run, int i)
{
    return run->order != NULL ? run->order[i] : i;
}

typedef struct rbContactSolved {
    int sweeps;
    double gapError;   // m (position) or m/s (velocity): largest remaining violation, normal
    double slipError;  // the same for sticking points; for sliding ones the missing friction
    double jointError; // the same for joints; set by the engine where a stage is not met
    int worst;         // contact of it, -1: none
    bool isMet;        // both within the tolerance
    bool isShocked;    // shock propagation ended it
    bool isDirect;     // solved as a whole; set by the engine
    bool isMoving; // began far from converged: bodies strike, and meeting the tolerance is enough
} rbContactSolved;

// A step, as the engine calls it, on one set found at the poses of a node:
//   Prepare            masses at all points of the set; impulses stay unchanged
//   Solve, velocities  ends the previous step: impulses come in as the sums of its position stage,
//                      which have acted already, and go out as the sums of both stages
//   BeginStep          isWarm: impulses are halved (two stages share them) and act at the start of
//                      the position stage; otherwise zero
//   Solve, positions   the next step; then bodies fly, and contacts are found again
// Solve works on an island: run->order lists its contacts; Prepare and BeginStep work on the whole
// set (run->order is ignored). A set is prepared once for both stages.
void rbContactSolver_Prepare(rbContactSolver* solver, const rbContactRun* run);
void rbContactSolver_BeginStep(rbContactSolver* solver, const rbContactRun* run, bool isWarm);
rbContactSolved rbContactSolver_Solve(rbContactSolver* solver, const rbContactRun* run,
                                      bool isVelocity);
