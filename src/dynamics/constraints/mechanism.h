// A mechanism: bodies connected by rows, with the data of one step. Plain arrays owned by the
// engine; bodies that are not dynamic appear in every mechanism that touches them.
//
// A step from t to t + h: kicks at t (half of the forces, and the impulses required by look-ahead),
// free flight over h, kicks at t + h (the other half, and the impulses that stop relative motion
// along the rows).
#pragma once

#include "dynamics/constraints/rows.h"
#include "dynamics/motion/turn.h"

typedef struct rbMechBody {
    rbRowPose pose;              // at the current instant
    rbVec3 velocity;             // of the center of mass
    rbVec3 momentum;             // spin momentum, world axes; dynamic bodies
    rbRowPose ahead;             // where free flight leads in the step under way
    rbVec3 aheadVelocity;        // mean of the step: of bodies that are not dynamic
    rbVec3 aheadAngularVelocity; //   (of its path)
    rbVec3 lentVelocity;         // of dynamic bodies, while the two above hold something else; of
                                 // others the mean that rows that hold kick between in a stage
    rbVec3 lentMomentum;
    rbVec3 startVelocity; // of touching bodies, before what acts in the current half of a step
    rbVec3 startMomentum;
    rbVec3 angularVelocity; // now, of bodies that are not dynamic
    rbVec3 force;           // N, at the present instant, of loads
    rbVec3 torque;          // N m
    double mass;
    double invMass; // 0 unless dynamic
    rbVec3 moments, invMoments;
    rbTurn turn;
    double radius; // m, of the shapes: turns angles into meters for error estimates
    int index;     // of the body in the world; -1: the world itself
    bool isDynamic;
} rbMechBody;

typedef struct rbMechanism {
    rbMechBody* bodies;
    int bodyCount;
    rbRowBlock* blocks;
    int blockCount, rowCount;
    rbRow* rows;          // at the current poses
    rbRowMass* masses;    // at the current poses
    double* compliance;   // of the current stage
    double* speeds;       // TRAVEL rows: m/s or rad/s, prescribed rate (B minus A)
    double* limits;       // TRAVEL rows: N or N m, largest force; INFINITY: none
    double* startDamping; // SPRING rows: N s/m or N m s/rad that act on the mean rate of the step
    double* startErrors;  // errors at the start of the step
    double duration;      // s, of the current step
    double leftover;      // fraction of the initial errors that HOLD rows may keep over a step
    double* impulses;     // of the current stage, summed over its iterations
} rbMechanism;

rbRowSystem rbMechanism_GetSystem(const rbMechanism* mechanism);

// Masses and rows at the current poses.
void rbMechanism_Refresh(rbMechanism* mechanism);

// Angular velocity of a body at its current pose.
rbVec3 rbMechBody_GetSpin(const rbMechBody* body, const rbRowMass* mass);

// Free flight of one dynamic body over h from its current pose into ahead.
void rbMechBody_LookAhead(rbMechBody* body, double h);
// Free flight of all dynamic bodies.
void rbMechanism_LookAhead(rbMechanism* mechanism, double h);

// Errors of a block at the poses of ahead, TRAVEL blocks relative to startErrors and wrapped; HOLD
// blocks without the leftover of startErrors. Excludes the part due to speeds and springs.
void rbMechanism_ErrorsAhead(const rbMechanism* mechanism, int index, double* errors);

// Rates of a block's rows with the current velocities.
void rbMechanism_Rates(const rbMechanism* mechanism, int index, double* rates);

// 1/kg or 1/(kg m^2): the mobility of a row of a block at the current poses.
double rbMechanism_GetResponse(const rbMechanism* mechanism, const rbRowBlock* block, int row);

// Adds impulses x along the rows of a block to the velocities of its two bodies.
void rbMechanism_Apply(rbMechanism* mechanism, int index, const double* x);
