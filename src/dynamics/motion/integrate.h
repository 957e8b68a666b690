// Steps of the Newton-Euler equations for the rows that have steps.
#pragma once

#include "dynamics/motion/flight.h"

// One step of size h from a time by a row with fixed steps (Euler, RK4, Taylor). Position and
// velocity are integrated only when the body has a load; the quaternion is returned normalized.
void rbIntegrate_Step(rbMotionType type, const rbMotionBody* body, double time, double h,
                      rbMotionState* state);

// Size of the first step of the adaptive row.
double rbIntegrate_FirstStep(const rbMotionBody* body, const rbMotionState* state);

// One accepted adaptive step, if it ends no later than a time: true if it was made. Otherwise the
// node is unchanged, except that its step may have shrunk.
bool rbIntegrate_Adaptive(const rbMotionBody* body, rbFlightNode* node, double time,
                          rbMotionCounts* counts);

// Adaptive steps that end exactly at a time.
void rbIntegrate_AdaptiveTo(const rbMotionBody* body, rbFlightNode* node, double time,
                            rbMotionCounts* counts);

// Taylor step of the rotation under a torque constant in the world, any degree up to
// RB_TAYLOR_DEGREE_MAX.
#define RB_TAYLOR_DEGREE_MAX 30
void rbIntegrate_Taylor(const rbMotionBody* body, double h, rbMotionState* state);
