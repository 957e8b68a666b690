// Free flight, integrated by Taylor series of Euler's equations in double-double arithmetic. The
// engine uses closed forms with elliptic functions, or Runge-Kutta: this shares no method with it.
#pragma once

#include "verify/model.h"

#define RB_V_ORDER_MAX 28

// A rotation at a time.
typedef struct rbVTurn {
    rbVDd q[4]; // w x y z
    rbVDd m[3]; // angular momentum about the center, axes of the body
    rbVDd t[3]; // torque, axes of the body
} rbVTurn;

// A body in flight: its state at a time, with the digits that doubles lack.
typedef struct rbVFlight {
    double time;
    double start; // s, when the flight began
    double angle; // rad, at most turned since then
    bool isHeld;
    rbVDd x[3]; // center
    rbVDd v[3];
    rbVTurn turn;
    // The series of the rotation from this state on, in doubles: nodes within it are evaluated.
    double turnTime;     // s, of turn; the others are at time
    double nextTime;     // s, of next
    rbVTurn next;        // at the end of the series
    double seriesLength; // s; 0: there is none
    int seriesOrder;
    double series[RB_V_ORDER_MAX + 1][7]; // of q and m
} rbVFlight;

// Begins a flight from a recorded state.
void rbVFlight_Begin(rbVFlight* flight, const rbVBody* body, double time, const rbVState* state,
                     bool isHeld);
// Advances it to a later time.
void rbVFlight_Advance(rbVFlight* flight, const rbVBody* body, double time);
// Its state in doubles.
rbVState rbVFlight_Get(const rbVFlight* flight, const rbVBody* body);
