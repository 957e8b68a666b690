// Methods kept for comparison (B-47 to B-51): penalty, Lagrange multipliers (dense, and in linear
// time after Baraff) and reduced coordinates. They are rows of the step engine's table of methods.
//
// All are integrated by RK4, or by a Runge-Kutta method of order 8 when settings.order is above 4.
// Rows that are not joints mean the same in all of them:
//   SPRING          a force, stiffness (error - rest) + damping rate
//   TRAVEL, limited a force, the one that would end the row's deviation from its speed within a
//                   step if nothing else held the bodies, cut at the limit: dry friction creeps
//   TRAVEL without  multipliers, baraff: a condition on velocities, C'' = -(C' - speed)/h;
//     a limit       penalty, reduced: the force above, not cut
// Angles of SPRING rows are continued from startErrors, which counts turns.
#ifndef RB_LAB_CLASSICAL_H
#define RB_LAB_CLASSICAL_H

#include "dynamics/solvers/step_method.h"

#include <rattleback/lab_joints.h>

// In the order in which they are registered.
typedef enum rbClassicalMethod {
    RB_CLASSICAL_PENALTY,
    RB_CLASSICAL_MULTIPLIERS,
    RB_CLASSICAL_BARAFF,
    RB_CLASSICAL_REDUCED,
    RB_CLASSICAL_COUNT
} rbClassicalMethod;

typedef struct rbClassical rbClassical;

// What differs between the methods.
typedef struct rbClassicalOps {
    const char* name;
    // INVALID with a message when the method cannot take the mechanism; NULL: it takes all.
    rbStatus (*check)(const rbMechanism* mechanism, rbError* error);
    void (*create)(rbClassical* classical, const rbMechanism* mechanism);
    void (*destroy)(rbClassical* classical);
    // Adds the forces of the joints to force and torque of the bodies, at their present state.
    // NULL: the method has a step of its own.
    void (*hold)(rbClassical* classical, rbMechanism* mechanism, double time);
    void (*step)(rbClassical* classical, rbMechanism* mechanism, double time, double h,
                 rbMechForceFn* forces, void* context); // NULL: the common one
} rbClassicalOps;

const rbClassicalOps* rbClassicalOps_Get(rbClassicalMethod method);

// Add the methods to the step engine's table, and the solver "cut" to that of solvers.
rbStatus rbRegisterClassicalMethods(rbError* error);
rbStatus rbRegisterCutSolver(rbError* error);

// Whether a method can take a mechanism. The error may be NULL.
rbStatus rbClassical_Check(rbClassicalMethod method, const rbMechanism* mechanism, rbError* error);

// NULL where rbClassical_Check refuses.
rbClassical* rbCreateClassical(rbClassicalMethod method, const rbMechanism* mechanism,
                               const rbStepSettings* settings);
void rbDestroyClassical(rbClassical* classical); // NULL is fine

// One step of size h > 0: pose, velocity and momentum of the dynamic bodies, a function of their
// state alone. Reduced coordinates drop the parts of it that the joints do not allow. Rows, masses,
// force and torque are left at the last stage. Does not allocate.
void rbClassical_Step(rbClassical* classical, rbMechanism* mechanism, double time, double h,
                      rbMechForceFn* forces, void* context);

#endif
