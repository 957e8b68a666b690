// When two bodies can meet: lower bounds on the time of contact that are never later than the true
// time (L-73 to L-76), and exact roots where the shapes allow.
//
// All times are measured from one instant, at which the motion of both bodies is given. A bound tau
// means: for every time in [0, tau) the bodies are farther apart than the requested level.
//
// The core of a shape is the shape without the ball it is rounded by: a point for a sphere, a
// segment for a capsule, the whole of other shapes; for a compound, the cores of its parts. A ball
// that rotates about its center does not approach anything, so only cores matter for rotation.
#pragma once

#include <rattleback/shape.h>
#include <rattleback/vecmath.h>

// Bounds on the motion of a body from an instant on, for a horizon.
// At time t after the instant, 0 <= t <= horizon:
//   center of mass  = center + t velocity + t^2/2 acceleration + (at most t velocitySlack
//                     + t^2/2 accelerationSlack, in any direction)
//   angular velocity = steadySpin + (at most wobble, in any direction), and it changes by at most
//                     spinRateMax per second
typedef struct rbSweepMotion {
    rbVec3 center;            // m
    rbVec3 velocity;          // m/s
    rbVec3 acceleration;      // m/s^2
    double velocitySlack;     // m/s; prescribed curves
    double accelerationSlack; // m/s^2; forces with a promised bound
    rbVec3 spin;              // rad/s, world, at the instant
    rbVec3 steadySpin;        // rad/s, world; of a free body 2E/L^2 times L
    double wobble;            // rad/s
    double spinMax;           // rad/s, largest |angular velocity|
    double spinRateMax;       // rad/s^2
    double horizon;           // s, INFINITY if the above holds forever
} rbSweepMotion;

// A body at the instant: its geometry, rounded by an additional ball.
typedef struct rbSweepBody {
    rbSweepMotion motion;
    rbTransform pose;           // of the geometry in the world, at the instant
    const rbGeometry* geometry; // any type; a plane only on bodies that do not rotate
    double radius;   // m, no point of the core is farther from the center of mass: rbGetCoreReach
    double rounding; // m, at the instant, of the ball added to the geometry (radiusA and radiusB of
                     // rbSeparationInput), in addition to the radius of a sphere or capsule
    double growth;   // m/s, of the rounding, any sign
} rbSweepBody;

// The result of a measurement at the instant.
typedef struct rbSweepGap {
    double lower;  // m, <= distance of the bodies (rounding included); > 0
    rbVec3 normal; // unit, from A to B; zero: none known
} rbSweepGap;

// Bounds the motion of a torque-free body: spin, steady spin, wobble, largest spin and its rate
// from the constants of the motion (L-75, sharper). spinLocal and moments (> 0) in principal axes,
// which orientation maps to the world. Holds forever.
void rbSweepMotion_SetFreeSpin(rbSweepMotion* motion, rbVec3 moments, rbQuat orientation,
                               rbVec3 spinLocal);

// The same for a body that rotates at a constant rate, or not at all.
void rbSweepMotion_SetSteadySpin(rbSweepMotion* motion, rbVec3 spin);

// Largest distance of a point of the core from a point of the frame of the geometry: 0 for a sphere
// about it, INFINITY for planes. O(vertices) for meshes, so cache it.
double rbGetCoreReach(const rbGeometry* geometry, rbVec3 point);

// Largest of the bounds below that apply; at most the smaller horizon; 0 if gap.lower <= level.
// turning: a guess of the rotation rate of the normal (rad/s; zero: none), which may be wrong:
// n0 x n1 / (t1 - t0) of the last two measurements of the pair. Where edge meets edge this makes
// repeated measurements converge fast; faces do not need it.
double rbBoundMeeting(const rbSweepBody* a, const rbSweepBody* b, const rbSweepGap* gap,
                      rbVec3 turning, double level);

// L-74 with gravity: no point of A approaches any point of B by more than
// |v| t + |a| t^2/2 + spins times radii. The only bound that needs no direction.
double rbBoundByPaths(const rbSweepBody* a, const rbSweepBody* b, double gap, double level);

// Along a direction n, from A to B, in which the hulls of the bodies are separated: the centers'
// part is an exact parabola, and the support mappings are evaluated in the direction rotated with
// the bodies, so that repeated measurements converge quadratically. 0 if the hulls are not
// separated by more than the level along n. If one body is a plane, its normal is used for n.
double rbBoundBySupports(const rbSweepBody* a, const rbSweepBody* b, rbVec3 normal, double level);

// rbSweepSpheres where a is not zero: the first root of a polynomial of degree 4.
double rbSweepFallingSpheres(rbVec3 p, rbVec3 v, rbVec3 a, double r, double growth);

// First time >= 0 at which |p + v t + a t^2/2| <= r + growth t with the two approaching each other
// or, at rest, about to; so 0 if they overlap and approach. If they overlap and separate, it is the
// time they return: when they meet again or, still overlapping, begin to approach again. INFINITY
// if never, and once the radius has shrunk to zero. Exact to rounding of p and r.
static inline double rbSweepSpheres(rbVec3 p, rbVec3 v, rbVec3 a, double r, double growth)
{
    if (a.x != 0.0 || a.y != 0.0 || a.z != 0.0) {
        return rbSweepFallingSpheres(p, v, a, r, growth);
    }
    // f(t) = |p + v t|^2 - (r + growth t)^2 = c + 2 b t + square t^2
    double b = rbDot(p, v) - r * growth;
    double square = rbLengthSquared(v) - growth * growth;
    if (b >= 0.0 && square >= 0.0) {
        return (double)INFINITY;
    }
    double c = rbLengthSquared(p) - r * r;
    if (c <= 0.0 && b < 0.0) {
        return r >= 0.0 ? 0.0 : (double)INFINITY;
    }
    // b^2 - square c without cancellation, by Lagrange's identity.
    rbVec3 sides = rbAddScaled(rbScale(r, v), -growth, p);
    double discriminant = rbLengthSquared(sides) - rbLengthSquared(rbCross(p, v));
    if (discriminant < 0.0 && c > 0.0) {
        return (double)INFINITY;
    }
    double root = discriminant > 0.0 ? sqrt(discriminant) : 0.0;
    double t = b < 0.0 ? c / (root - b) : (b + root) / -square;
    return r + growth * t >= 0.0 ? t : (double)INFINITY;
}

// The same, bit for bit, for spheres that neither fall nor grow: the inner loop of gases.
static inline double rbSweepFreeSpheres(rbVec3 p, rbVec3 v, double r)
{
    double b = rbDot(p, v);
    if (b >= 0.0) {
        return (double)INFINITY;
    }
    double c = rbLengthSquared(p) - r * r;
    if (c <= 0.0) {
        return 0.0;
    }
    rbVec3 sides = rbScale(r, v);
    double discriminant = rbLengthSquared(sides) - rbLengthSquared(rbCross(p, v));
    return discriminant < 0.0 ? (double)INFINITY : c / (sqrt(discriminant) - b);
}

// First time >= 0 at which h + s t + c t^2/2 <= 0 with it falling, or about to; so 0 if h <= 0 and
// s < 0, or s = 0 and c < 0. If h <= 0 and it rises: when it falls below 0 again or, never having
// been above, begins to fall. INFINITY if never. Stable.
static inline double rbSweepHeight(double h, double s, double c)
{
    if (s >= 0.0 && c >= 0.0) {
        return (double)INFINITY;
    }
    if (h <= 0.0 && s < 0.0) {
        return 0.0;
    }
    double discriminant = s * s - 2.0 * c * h;
    if (discriminant < 0.0 && h > 0.0) {
        return (double)INFINITY;
    }
    double root = discriminant > 0.0 ? sqrt(discriminant) : 0.0;
    return s < 0.0 ? 2.0 * h / (root - s) : (s + root) / -c;
}
