// Steps in which the active set of contacts is held: the same points touch, stick and slide from
// the start to the end. Their conditions are then equations, and the error of the step has only
// even powers of its size, so that runs of such steps can be combined to higher orders
// (step_contact_order.c).
#pragma once

#include "dynamics/contact/contact.h"
#include "dynamics/engines/step/step_state.h"

// Rows of points that are held at once.
#define RB_HELD_ROWS_MAX 96

// A point that touches throughout a step.
typedef struct rbHeldPoint {
    const rbContact* contact; // of the set of the current stage
    rbContactPoint* point;
    const rbMechBody* bodies[2];
    rbVec3 place;      // m, world
    rbVec3 locals[2];  // m, in the frames of the bodies, at the start of the step
    rbVec3 push;       // impulse of a unit of the normal one: where it slides, with its friction
    rbVec3 friction;   // its tangential part at the start of the step
    double gap;        // m, to be left at the end of the flight
    double impulse[3]; // N s, of the current stage
    double total[3];   // of both, along the axes of the last
    bool isSticking;
    bool isDropped; // would pull: another point bears its share, or it opens
} rbHeldPoint;

// Equations of a stage, factored.
typedef struct rbHeldRows {
    int count;
    int points[RB_HELD_ROWS_MAX];
    int axes[RB_HELD_ROWS_MAX];
    double left[RB_HELD_ROWS_MAX * RB_HELD_ROWS_MAX];  // K V, by columns
    double right[RB_HELD_ROWS_MAX * RB_HELD_ROWS_MAX]; // V
    double squares[RB_HELD_ROWS_MAX];                  // of the singular values; 0: none
    double errors[RB_HELD_ROWS_MAX];
} rbHeldRows;

typedef struct rbHeldSet {
    RB_ARRAY(rbHeldPoint) points;
    RB_ARRAY(unsigned char) isHeldPoint; // per point of the set
    RB_ARRAY(rbContactBody) still;       // the bodies, at rest
    bool isGapKept;                      // gaps that earlier steps left stay
    rbHeldRows rows;
} rbHeldSet;

void rbHeldSet_Free(rbHeldSet* held);

// The points that touch at the node; false: not all of them can be held.
bool rbHeldStep_Collect(rbStepEngine* engine);
// Before runs of steps of size h or more: whether gaps are closed in them.
void rbHeldStep_Plan(rbStepEngine* engine, double h);
// One step of size h; false: the active set does not last, and the state is invalid.
bool rbHeldStep_Make(rbStepEngine* engine, const rbStepHost* host, double h);
// s, before other points may touch.
double rbHeldStep_GetReach(const rbStepEngine* engine);
