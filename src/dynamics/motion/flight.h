// The flight of a dynamic body between two changes of its velocity: a record of the state at its
// start, from which the state at any later time follows.
//
// Frames: position and velocity are of the center of mass in the world; orientation maps principal
// axes to the world; spin is the angular velocity in principal axes.
#pragma once

#include "base/core/words.h"
#include "dynamics/motion/free_top.h"

#include <rattleback/body.h>

// Numbers only, in the order of the unknowns of an integration.
typedef struct rbMotionState {
    rbQuat orientation;
    rbVec3 spin;
    double work; // J, done by loads without a potential since the body was created
    rbVec3 position, velocity;
} rbMotionState;

// Force and torque about the center of mass, world axes, and the power of loads without potential.
typedef struct rbLoad {
    rbVec3 force, torque;
    rbVec3 paid; // part of the force that has no potential; torques never have one
    double power;
} rbLoad;

typedef struct rbMotionBody rbMotionBody;

// Loads that are not constant: adds the load at a state and time. Must be pure.
typedef void rbLoadFn(const rbMotionBody* body, const rbMotionState* state, double time,
                      rbLoad* load);

// The body's data for its flight. Constant during the flight.
struct rbMotionBody {
    double mass;               // kg, > 0
    rbVec3 moments;            // kg m^2, principal, > 0
    rbVec3 acceleration;       // m/s^2, constant: gravity and constant forces
    rbVec3 torque;             // N m, constant, world axes
    rbLoadFn* load;            // NULL: only the constant loads act
    void* context;             // for load, in addition to the index
    int index;                 // of the body
    rbMotionSettings settings; // type: the requested row, AUTO allowed
};

// State of an integration: the last committed step of its own grid, which outputs do not disturb.
typedef struct rbFlightNode {
    double time;
    double step;   // size of the next step
    int64_t index; // steps since the start
    rbMotionState state;
    // Scales for the error estimate of the adaptive row: where the flight began, highest speeds.
    rbVec3 origin;
    double spinMax, speedMax;
} rbFlightNode;

typedef struct rbFlight {
    double startTime; // of the flight and of the position and velocity in start
    double turnTime;  // of the orientation and spin in start; earlier after rbFlight_Redirect
    rbMotionState start;
    rbMotionType type; // the row in use, never AUTO
    bool isFallback;   // another row was requested, but the loads do not allow it
    union {
        rbFreeTop top;     // RB_MOTION_EXACT
        rbFlightNode node; // the others
    } row;
} rbFlight;

// Work counts of evaluations and commits; accumulated over calls.
typedef struct rbMotionCounts {
    int64_t accepted, rejected;
    bool isInaccurate; // a step at the smallest size missed the tolerance
} rbMotionCounts;

// Starts a flight at a time and state; selects the row.
void rbFlight_Start(rbFlight* flight, const rbMotionBody* body, double time,
                    const rbMotionState* state);

// A new flight of a body after an impulse through its center: the translation starts again, the
// rotation continues. Only for the exact row.
static inline void rbFlight_Redirect(rbFlight* flight, double time, rbVec3 position,
                                     rbVec3 velocity)
{
    RB_ASSERT(flight->type == RB_MOTION_EXACT);
    RB_ASSERT(rbIsFinite3(position) && rbIsFinite3(velocity));
    flight->startTime = time;
    flight->start.position = position;
    flight->start.velocity = velocity;
}

// State at any time not before the start of the flight (for the exact row: any time). Changes
// nothing; the bits do not depend on what was evaluated or committed before.
void rbFlight_Evaluate(const rbFlight* flight, const rbMotionBody* body, double time,
                       rbMotionState* state, rbMotionCounts* counts);

// Commits the progress of the integration, so that later evaluations are cheap.
void rbFlight_Commit(rbFlight* flight, const rbMotionBody* body, double time,
                     rbMotionCounts* counts);

// The box of p + v t + a t^2/2 between two times.
rbBounds rbBoundsOfParabola(rbVec3 p, rbVec3 v, rbVec3 a, const double times[2]);

// A box that contains the center of mass between two times; without state-dependent loads.
rbBounds rbFlight_GetBounds(const rbFlight* flight, const rbMotionBody* body, double timeA,
                            double timeB);

RB_DECLARE_WORDS(rbMotionType);
