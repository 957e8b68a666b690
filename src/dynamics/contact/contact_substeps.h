// Contacts of a step that must be fast (a game's budget of sweeps): n small steps inside the step,
// with the contacts that were found at its start.
//
// Each of them: a fraction of the forces, the impulses of the previous one as a first guess, one
// sweep in which overlap pushes back as a stiff spring with a strong damper, displacement, one
// sweep without springs that removes the speed they added. Bodies fly with the mean velocity of the
// small steps and continue with the last one: overlap is undone without leaving speed, and bodies
// at rest stay still. Sweeps go over contacts four at a time.
//
// No rolling friction, no pyramids, no rebounds of what arrives: see CanSolve. Joints take part as
// substep_joints.h says.
#pragma once

#include "dynamics/contact/contact_solver.h"
#include "dynamics/contact/substep_joints.h"

typedef struct rbContactSubsteps rbContactSubsteps;

typedef struct rbSubstepsDone {
    rbContactSolved solved; // gapError: largest overlap at the end; slipError is 0
    double approach;        // m/s, remaining at points that carry load
    double frictionWork;    // J
    double impactWork;      // J
    double work;            // J, total work of contacts
} rbSubstepsDone;

// Rows of a joint that hold, between two bodies of the run of which one moves.
typedef struct rbSubstepsJoint {
    int bodies[2]; // A, B
    int rowCount;
    const rbRow* rows;
    double* reactions; // N or N m, by row: mean of the last step as a first guess, on A with +; of
                       // this step, out
} rbSubstepsJoint;

// Data of a step in addition to a run. Forces have already given bodies half of the kicks, and will
// give them the other half after the step.
typedef struct rbSubstepsTask {
    const rbContactRun* run; // order: contacts that CanSolve; impulses are those of BeginStep
    const rbVec3* kicks;     // m/s, by body: velocity change by forces in the whole step
    rbContactBody* flights;  // by body: velocity and spin of the flight, out
    double restSpeed;        // m/s
    const rbSubstepsJoint* joints;
    int jointCount;
} rbSubstepsTask;

rbContactSubsteps* rbCreateContactSubsteps(const rbContactSettings* settings);
void rbDestroyContactSubsteps(rbContactSubsteps* substeps); // NULL is fine

// Whether it can solve a contact, in a step of h.
bool rbContactSubsteps_CanSolve(const rbContactRun* run, int contact, double restSpeed);
// Velocities of bodies become those after the step minus half of their kicks; impulses become those
// of the whole step.
rbSubstepsDone rbContactSubsteps_Solve(rbContactSubsteps* substeps, const rbSubstepsTask* task);
