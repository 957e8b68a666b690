// Spinning toys on a table, as a second algorithm for the event engine: one smooth body that keeps
// one point of contact with the plane z = 0 (E-01 to E-05).
//
// The event engine uses only impacts; here there are none. The height of the body is not an
// unknown: it follows from the orientation, so the contact can neither open nor sink. The normal
// force follows from the second derivative of that constraint; when it becomes negative the body
// would lift off, the model ends there and reports it. Friction is Coulomb's, made smooth at a
// speed v_r far below the speeds of interest: force = -mu N u / sqrt(u^2 + v_r^2) for the slip u.
//
// SI units, z up. The body frame is the frame of the geometry (center of the ellipsoid, center of
// the disc with its axis along z) as in scene files; quaternions map it to the world.
#pragma once

#include <rattleback/vecmath.h>

#include <stdbool.h>

typedef enum rbToySurface {
    RB_TOY_ELLIPSOID, // a sphere has three equal semi-axes
    RB_TOY_DISC,      // rims of a cylinder; touches at the lowest point of the lower rim
    RB_TOY_SURFACE_COUNT
} rbToySurface;

typedef struct rbToy {
    rbToySurface surface;
    rbVec3 semiAxes;  // m, of the ellipsoid
    double radius;    // m, of the disc
    double thickness; // m, distance between the two rims; 0: one rim in the plane z = 0 of the body
    double mass;      // kg
    rbVec3 center;    // m, center of mass in the body frame
    rbSym3 inertia;   // kg m^2, about the center of mass, body axes; elements of the matrix
    double friction;
    double gravity; // m/s^2, downwards

    // The initial state, in contact. Height and vertical velocity follow from the contact.
    rbQuat orientation;
    rbVec3 velocity; // m/s, of the center of mass; z is ignored
    rbVec3 spin;     // rad/s, world axes

    double slipScale; // m/s, v_r; the time constant of sticking is about v_r / (3 mu g)
    double tolerance; // relative, of a step
} rbToy;

// No shape, no mass; g = 9.81, mu = 0.5, v_r = 1e-4, tolerance 1e-10, upright and at rest.
rbToy rbDefaultToy(void);

typedef struct rbToyState {
    double time;
    rbVec3 position;    // m, of the origin of the body frame
    rbVec3 center;      // m, of the center of mass
    rbVec3 contact;     // m
    rbQuat orientation; // w, x, y, z
    rbVec3 velocity;    // m/s, of the center of mass
    rbVec3 spin;        // rad/s, world axes
    rbVec3 slip;        // m/s, velocity of the material point in contact
    double normalForce; // N
    double energy;      // J, kinetic plus potential above the plane
} rbToyState;

typedef enum rbToyEnd {
    RB_TOY_REACHED, // the last requested time
    RB_TOY_LIFTED,  // the normal force became negative, or friction jams the contact (Painleve)
    RB_TOY_TIPPED,  // the disc stands on both rims: an impact follows
    RB_TOY_FAILED,  // the tolerance needs too small a step, as when a disc falls flat
    RB_TOY_END_COUNT
} rbToyEnd;

typedef struct rbToyResult {
    rbToyEnd end;
    double time; // end time
    int count;   // states written
    int steps;   // of the integrator
    double normalForceMin;
} rbToyResult;

// The states at the given times (s, ascending, >= 0). Stops early where the model ends: see count.
// One second of motion costs about 0.03 s at v_r = 1e-4 and mu g = 5, in proportion to 1 / v_r.
rbToyResult rbSimulateToy(const rbToy* toy, const double* times, int count, rbToyState* states);

// First time in (0, until] when the vertical component of the unit vector `axis` of the body passes
// `level`, to 1e-9 s; negative if it does not, or if the model ends before.
double rbFindToyCrossing(const rbToy* toy, rbVec3 axis, double level, double until);

// Vertical component of a unit vector of the body.
static inline double rbToyState_GetCosine(const rbToyState* state, rbVec3 axis)
{
    return rbRotate(state->orientation, axis).z;
}

// The toys of the specification at their start, section 4.1; slip scale and tolerance as default.
// The tippe top has its figure axis along +z of the body, tilted by 0.1 rad.
rbToy rbMakeTippeTop(double friction, double spin);
// Hole along +y of the body, one rim.
rbToy rbMakeCoin(void);
// Long axis along +x of the body.
rbToy rbMakeEgg(void);
// Round side along -z, long axis along x; isMirrored: the dense quadrants are those with xy > 0.
rbToy rbMakeRattleback(double spin, bool isMirrored);
