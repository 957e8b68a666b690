// Methods kept for comparison (B-47 to B-51): penalty, Lagrange multipliers (dense, and in linear
// time after Baraff) and reduced coordinates. They are rows of the step engine's table of methods.
//
// All are integrated by RK4, or by a Runge-Kutta method of order 8 when settings.order is above 4.
// Rows that are not joints have the same meaning in all of them:
//   SPRING          a force, stiffness (error - rest) + damping rate
//   TRAVEL, limited a force, the one that would cancel the row's deviation from its speed within a
//                   step if nothing else held the bodies, clamped to the limit: dry friction creeps
//   TRAVEL without  multipliers, baraff: a condition on velocities, C'' = -(C' - speed)/h;
//     a limit       penalty, reduced: the force above, not clamped
// Angles of SPRING rows are continued from startErrors, which counts turns.
#pragma once

#include "dynamics/solvers/step_method.h"

#include <rattleback/lab_joints.h>

// In the order of registration.
typedef enum rbClassicalMethod {
    RB_CLASSICAL_PENALTY,
    RB_CLASSICAL_MULTIPLIERS,
    RB_CLASSICAL_BARAFF,
    RB_CLASSICAL_REDUCED,
    RB_CLASSICAL_COUNT
} rbClassicalMethod;

typedef struct rbClassical rbClassical;

// The functions that differ between the methods.
typedef struct rbClassicalOps {
    const char* name;
    // INVALID with a message if the method does not support the mechanism; NULL: it supports all.
    rbStatus (*check)(const rbMechanism* mechanism, rbError* error);
    void (*create)(rbClassical* classical, const rbMechanism* mechanism);
    void (*destroy)(rbClassical* classical);
    // Adds the forces of the joints to force and torque of the bodies, at their current state.
    // NULL: the method has its own step.
    void (*hold)(rbClassical* classical, rbMechanism* mechanism, double time);
    void (*step)(rbClassical* classical, rbMechanism* mechanism, double time, double h,
                 rbMechForceFn* forces, void* context); // NULL: the common one
} rbClassicalOps;

const rbClassicalOps* rbClassicalOps_Get(rbClassicalMethod method);

// Register the methods with the step engine and the solver "cut" with the solvers.
rbStatus rbRegisterClassicalMethods(rbError* error);
rbStatus rbRegisterCutSolver(rbError* error);

// Whether a method supports a mechanism. The error may be NULL.
rbStatus rbClassical_Check(rbClassicalMethod method, const rbMechanism* mechanism, rbError* error);

// NULL if rbClassical_Check fails.
rbClassical* rbCreateClassical(rbClassicalMethod method, const rbMechanism* mechanism,
                               const rbStepSettings* settings);
void rbDestroyClassical(rbClassical* classical); // NULL is fine

// One step of size h > 0: updates pose, velocity and momentum of the dynamic bodies from their
// state alone. Reduced coordinates drop components that the joints do not allow. Rows, masses,
// force and torque are left at the last stage. Does not allocate.
void rbClassical_Step(rbClassical* classical, rbMechanism* mechanism, double time, double h,
                      rbMechForceFn* forces, void* context);
