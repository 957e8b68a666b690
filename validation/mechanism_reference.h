// Reference motions of mechanisms, independent of the library: equations in reduced coordinates,
// written down by hand, integrated by extrapolation of order 20 in long double.
#pragma once

#include <rattleback/vecmath.h>

#define RB_REFERENCE_SIZE_MAX 16

// dy/dt of a system without explicit time; the meaning of the parameter depends on the system.
typedef void rbReferenceFn(const long double* y, long double* rate, long double parameter);

typedef struct rbReference {
    rbReferenceFn* rate;
    long double parameter;
    int size;          // of y, 1..RB_REFERENCE_SIZE_MAX
    long double step;  // s, grows and shrinks with the error
    long double bound; // a step whose last two columns differ by more is halved; 0: 1e-19
    long double error; // sum of the differences of the last two columns of the tableau so far
    long double y[RB_REFERENCE_SIZE_MAX];
    long double time; // s
} rbReference;

// Advances to a later time.
void rbReference_Advance(rbReference* reference, long double time);

// Point mass on a rod of length 1, y = (angle from straight down, rate).
rbReference rbMakePendulumReference(double gravity, double angle, double rate);
// Two point masses of 1 on rods of length 1, y = (angles from straight down, rates).
rbReference rbMakeDoublePendulumReference(double gravity, const double state[4]);

// Parallel motion of the N-four-bar: y = (angle of the cranks from upright, toward +x; rate).
rbReference rbMakeFourBarReference(int loops, double gravity, double rate);

// Andrews' squeezer: y = (q1..q7, rates), the equations of the Test Set for IVP Solvers with the
// multipliers eliminated (index 1).
typedef struct rbAndrewsTable {
    double mass[7];    // kg
    double inertia[7]; // kg m^2
    double xa, ya, xb, yb, xc, yc;
    double d, da, e, ea, rr, ra, ss, sa, sb, sc, sd, ta, tb, u, ua, ub, zf, zt, fa;
    double stiffness;  // N/m
    double restLength; // m
    double torque;     // N m
    double start[7];   // rad
    double end[7];     // rad, at 0.03 s
} rbAndrewsTable;

extern const rbAndrewsTable rbAndrews;

rbReference rbMakeAndrewsReference(void);
// The six closing conditions, m.
void rbGetAndrewsGaps(const long double q[7], long double gaps[6]);

// Bricard's loop as a chain of five hinges: y = (five angles, rates). Its sixth joint is closed by
// four of five conditions; the equation of motion is that of the single remaining freedom.
rbReference rbMakeBricardReference(void);
// Position of point 1..5 of the chain, m.
rbVec3 rbGetBricardPoint(const rbReference* reference, int point);
double rbGetBricardEnergy(const rbReference* reference);

// Parts of Bricard's loop that the world builder shares: points, and the axes of the six joints.
extern const rbVec3 rbBricardPoints[6];
extern const rbVec3 rbBricardAxes[6];

// Centrifugal governor driven by a constant torque: y = (angle of the spindle, angle of the arms
// from straight down, rates). Two arms with balls hang from pivots on the spindle; links of the
// same length connect the balls to a sleeve that slides on the spindle.
typedef struct rbGovernorTable {
    double gravity;        // m/s^2
    double length;         // m, of arms and links
    double pivot;          // m, distance of the pivots on spindle and sleeve from the axis
    double ball;           // kg, each, centered at the end of its arm
    double ballInertia;    // kg m^2
    double link;           // kg, each
    double linkTransverse; // kg m^2
    double linkAxial;      // kg m^2
    double sleeve;         // kg
    double sleeveInertia;  // kg m^2, about any axis
    double spindle;        // kg
    double spindleInertia; // kg m^2, about any axis
    double torque;         // N m, on the spindle
    double rate;           // rad/s, of the spindle at the start
    double angle;          // rad, of the arms at the start; they start at rest
} rbGovernorTable;

extern const rbGovernorTable rbGovernor;

rbReference rbMakeGovernorReference(void);
