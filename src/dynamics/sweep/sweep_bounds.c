// Lower bounds on the time of contact. All are lower bounds on a gap as a function of time,
//     gap(t) >= d - V t - A t^2/2,
// and the first root of the right side, rounded down.
//
// Along a direction n, from A to B, with the relative motion c = cB - cA etc. of the centers:
//     gap(t) >= n.c + t n.v + t^2/2 n.a - h_A(t) - h_B(t),
// where h(t) is the extent of a body from its center toward the other one. For a point r of it
//     n.r(t) = n.r + t n.(w x r) + remainder = (n + t n x w).r + remainder.
// First order: n.(w x r) = (n x w).r is at most |w x n| |r| at any time. Second order: the time
// derivative of n.(w x r) is (n x w).(w x r) + n.(w' x r), at most M |r| with
//     M = |w x n| |w| + |w'|, so |remainder| <= t^2/2 M |r|,
// and the rest is the support of the core in the rotated direction n + t n x w: a convex function
// of t. So F(t), the gap without the terms in t^2, is concave: between two times it is above its
// chord, and the first root of chord + terms in t^2 is safe for any sign of these terms.
//
// |w x n| <= |steady x n| + wobble: a top that spins about n loses nothing.
//
// Where a face or an edge is perpendicular to n, its far corner approaches along n, although the
// other body is nowhere near that corner. There n must rotate with the feature. Relative to a frame
// that rotates with n at a constant rate u (perpendicular to n), a body spins with w - u, which
// changes by |w'| + |u x w| at most, and the centers have
//     d/dt n.c = n.v + (u x n).c,   d^2/dt^2 n.c = n.a + 2 (u x n).v - u^2 n.c.
// So the same form holds with other constants, which are valid for a short time T. Any u is safe;
// good choices are the spin of the body with the face, and the rotation of n since the last
// measurement.
//
// Rounding: differences of centers and velocities are exact to their own size, so the error of d, V
// and A is a few units of rounding of the lengths that enter them, which is subtracted.
#include "collision/convex/gjk.h"
#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"
#include "dynamics/sweep/sweep.h"

#include <float.h>

#define SLACK (16.0 * DBL_EPSILON)
// Maximum number of times at which support mappings are evaluated; fewer where the end of the safe
// interval is known to this relative accuracy.
#define PROBES_MAX 8
#define PROBE_QUALITY 0.03

// 0 for bodies that do not rotate, however large they are.
static double timesReach(double rate, double reach)
{
    return rate > 0.0 ? rate * reach : 0.0;
}

// First t >= 0 with d - speed t - acceleration t^2/2 <= 0, rounded down; INFINITY if never.
static double findRoot(double d, double speed, double acceleration)
{
    if (!(d > 0.0)) {
        return 0.0;
    }
    double square = speed * speed;
    double product = 2.0 * acceleration * d;
    // larger than the true one: the root is earlier
    double discriminant = square + product + SLACK * (square + fabs(product));
    double root = sqrt(rbMaxOf(discriminant, 0.0));
    double t = INFINITY;
    if (speed > 0.0 && discriminant >= 0.0) {
        t = 2.0 * d / (speed + root);
    } else if (speed <= 0.0 && acceleration > 0.0) {
        t = (root - speed) / acceleration;
    }
    return t * (1.0 - SLACK);
}

// The bounds on the motions hold no longer than this.
static double horizonOf(const rbSweepBody* a, const rbSweepBody* b)
{
    return rbMinOf(a->motion.horizon, b->motion.horizon);
}

double rbBoundByPaths(const rbSweepBody* a, const rbSweepBody* b, double gap, double level)
{
    RB_ASSERT(a != NULL && b != NULL);
    const rbSweepMotion* ma = &a->motion;
    const rbSweepMotion* mb = &b->motion;
    double speed = rbDistance(mb->velocity, ma->velocity) + timesReach(ma->spinMax, a->radius) +
                   timesReach(mb->spinMax, b->radius);
    double acceleration = rbDistance(mb->acceleration, ma->acceleration);
    speed += ma->velocitySlack + mb->velocitySlack + SLACK * speed;
    acceleration += ma->accelerationSlack + mb->accelerationSlack + SLACK * acceleration;
    double bound = findRoot(gap - level, speed + a->growth + b->growth, acceleration);
    return rbMinOf(bound, horizonOf(a, b));
}

// ----------------------------------------------------------------------------------------- cores

// Cores: shapes without the ball they are rounded by.
//
// In terms of heights, a ball moves with its center: the highest point of a rotating ball is always
// its radius above its center. So a sphere is a point and a capsule a segment, and the radius is
// added once, not along the rotated direction.

// A query of a geometry, in its frame: heights along direction + (later - now) rate.
typedef struct CoreProbe {
    rbVec3 direction, rate;
    rbVec3 center; // m, the center of mass, for the reach of parts
    // Every part of a compound is raised by its reach times this, with its rate: the most that the
    // rotation of points this far from the center may add.
    double lift, liftRate;
    double reachMax; // m, no part reaches farther
} CoreProbe;

// Height of the highest point, the radius of the ball about the core included once, for any length
// of the direction; and its derivative by the direction. Convex in direction and lift.
typedef struct CoreHeight {
    double height, rate;
} CoreHeight;

// Largest distance of a point of the core from a point. isQuick: the result may be too large, but
// costs O(1) per part.
// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static double reachOf(const rbGeometry* geometry, rbVec3 point, bool isQuick)
{
    rbShapeFamily family = rbGeometry_GetFamily(geometry);
    if (family == RB_FAMILY_COMPOUND) {
        double largest = 0.0;
        for (int i = 0; i < geometry->childCount; ++i) {
            const rbCompoundChild* child = &geometry->children[i];
            rbVec3 local = rbInvTransformPoint(child->transform, point);
            largest = rbMaxOf(largest, reachOf(child->geometry, local, isQuick));
        }
        return largest;
    }
    if (family == RB_FAMILY_ROD) {
        point.z = fabs(point.z) + geometry->data.capsule.halfLength;
    }
    return family == RB_FAMILY_BALL || family == RB_FAMILY_ROD ? rbLength(point)
           : isQuick && geometry->polyhedron != NULL           ? rbLength(point) + geometry->radius
                                                     : rbGeometry_GetRadius(geometry, point);
}

// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static CoreHeight heightOf(const rbGeometry* geometry, const CoreProbe* probe)
{
    rbShapeFamily family = rbGeometry_GetFamily(geometry);
    if (family == RB_FAMILY_COMPOUND) {
        CoreHeight best = {-(double)INFINITY, 0.0};
        for (int i = 0; i < geometry->childCount; ++i) {
            const rbCompoundChild* child = &geometry->children[i];
            rbTransform pose = child->transform;
            CoreProbe part = *probe;
            part.direction = rbInvRotate(pose.q, probe->direction);
            part.rate = rbInvRotate(pose.q, probe->rate);
            part.center = rbInvTransformPoint(pose, probe->center);
            CoreHeight own = heightOf(child->geometry, &part);
            own.height += rbDot(probe->direction, pose.p);
            own.rate += rbDot(probe->rate, pose.p);
            if (child->geometry->type != RB_SHAPE_COMPOUND) {
                double reach =
                    rbMinOf(reachOf(child->geometry, part.center, true), probe->reachMax);
                own.height += reach * probe->lift;
                own.rate += reach * probe->liftRate;
            }
            best = own.height > best.height ? own : best;
        }
        return best;
    }
    rbVec3 d = probe->direction;
    rbVec3 point = RB_VEC3_ZERO;
    double radius = 0.0;
    if (family == RB_FAMILY_BALL) {
        radius = geometry->data.sphere.radius;
    } else if (family == RB_FAMILY_ROD) {
        point.z = copysign(geometry->data.capsule.halfLength, d.z);
        radius = geometry->data.capsule.radius;
    } else if (family == RB_FAMILY_BOX) {
        rbVec3 half = geometry->data.box.halfExtents;
        point = rbMakeVec3(copysign(half.x, d.x), copysign(half.y, d.y), copysign(half.z, d.z));
    } else if (family == RB_FAMILY_HULL) {
        // several times as fast as over the corners of all faces
        const rbSupportTable* table = geometry->polyhedron->supports;
        point = rbSupportTable_GetVertex(table, rbSupportTable_Find(table, d, -1));
    } else {
        RB_ASSERT(geometry->isBounded); // planes are evaluated along their own normal, elsewhere
        point = rbGeometry_GetSupport(geometry, d);
    }
    return (CoreHeight){rbDot(d, point) + radius, rbDot(probe->rate, point)};
}

double rbGetCoreReach(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry != NULL && rbIsFinite3(point));
    return reachOf(geometry, point, false);
}

// ----------------------------------------------------------------------------- along a direction

// One body as seen along a direction that points to the other one.
typedef struct Side {
    const rbSweepBody* body;
    bool isPlane, isCompound;
    rbVec3 center;    // m, in the frame of the geometry
    rbVec3 direction; // unit, in the frame of the geometry
    rbVec3 turning;   // rad/s, direction x spin in the frame of the geometry
    double lever;     // m, height of the center of mass over the origin of the geometry
    double turnMax;   // rad/s, of the direction relative to the body
    double bending;   // rad/s^2, M
    double ball;      // m, no point is farther from the center of mass, INFINITY for a plane
    double size;      // m, the reference for rounding errors
} Side;

// Two bodies along n: gap(t) >= d + t speed + t^2/2 acceleration - heights of the sides.
typedef struct Along {
    Side a, b;
    rbVec3 normal;       // unit, from A to B
    rbVec3 c, v, w;      // relative position, velocity and acceleration of the centers
    double d;            // m, between the centers, less the rounding radii
    double speed;        // m/s
    double acceleration; // m/s^2
} Along;

// Radius of a ball about the center of mass that contains a body, without its rounding radius.
static double ballOf(const rbSweepBody* body)
{
    const rbGeometry* geometry = body->geometry;
    rbShapeFamily family = rbGeometry_GetFamily(geometry);
    if (family == RB_FAMILY_COMPOUND) { // its balls may be of any size
        return rbDistance(body->motion.center, body->pose.p) + geometry->radius;
    }
    return family == RB_FAMILY_BALL  ? body->radius + geometry->data.sphere.radius
           : family == RB_FAMILY_ROD ? body->radius + geometry->data.capsule.radius
                                     : body->radius;
}

// Maximum total rotation of a direction: beyond it, the constants are too loose.
#define TURN_MAX 0.25

static Side makeSide(const rbSweepBody* body, rbVec3 direction)
{
    const rbSweepMotion* motion = &body->motion;
    const rbGeometry* geometry = body->geometry;
    rbTransform pose = body->pose;
    Side side = {.body = body,
                 .isPlane = geometry->type == RB_SHAPE_PLANE,
                 .isCompound = geometry->type == RB_SHAPE_COMPOUND};
    rbVec3 toCenter = rbSub(motion->center, pose.p);
    side.center = rbInvRotate(pose.q, toCenter);
    side.direction = rbInvRotate(pose.q, direction);
    side.turning = rbInvRotate(pose.q, rbCross(direction, motion->spin));
    side.lever = rbDot(direction, toCenter);
    double steady = rbLength(rbCross(motion->steadySpin, direction));
    side.turnMax = rbMinOf(steady + motion->wobble + SLACK * motion->spinMax, motion->spinMax);
    side.bending = side.turnMax * motion->spinMax + motion->spinRateMax;
    side.size = rbLength(toCenter) + fabs(body->rounding) +
                (side.isPlane ? fabs(geometry->data.plane.offset) : geometry->radius);
    side.ball = ballOf(body);
    return side;
}

// Height of the core over the center of mass at a time, to first order in the rotation, and with
// the remainder of each part of a compound.
static CoreHeight heightAt(const Side* side, double t)
{
    const rbGeometry* geometry = side->body->geometry;
    if (side->isPlane) {
        return (CoreHeight){geometry->data.plane.offset - side->lever, 0.0};
    }
    CoreProbe probe = {.direction = rbAddScaled(side->direction, t, side->turning),
                       .rate = side->turning,
                       .center = side->center,
                       .lift = 0.5 * t * t * side->bending,
                       .liftRate = t * side->bending,
                       .reachMax = side->body->radius};
    RB_ASSERT(rbIsFinite3(probe.direction) && rbIsFinite3(probe.rate));
    CoreHeight height = heightOf(geometry, &probe);
    height.height -= rbDot(probe.direction, side->center);
    height.rate -= rbDot(probe.rate, side->center);
    return height;
}

// The remainder that is the same for all points.
static double bendingOf(const Side* side)
{
    return side->isCompound ? 0.0 : timesReach(side->bending, side->body->radius);
}

// False if there is no such direction: a compound that contains a plane is unbounded.
static bool makeAlong(const rbSweepBody* a, const rbSweepBody* b, rbVec3 normal, Along* along)
{
    const rbSweepMotion* ma = &a->motion;
    const rbSweepMotion* mb = &b->motion;
    const rbGeometry* ga = a->geometry;
    const rbGeometry* gb = b->geometry;
    rbVec3 n = normal;
    if (ga->type == RB_SHAPE_PLANE) {
        n = rbRotate(a->pose.q, ga->data.plane.normal);
    } else if (gb->type == RB_SHAPE_PLANE) {
        n = rbNeg(rbRotate(b->pose.q, gb->data.plane.normal));
    }
    bool isBoundedA = ga->isBounded || ga->type == RB_SHAPE_PLANE;
    bool isBoundedB = gb->isBounded || (gb->type == RB_SHAPE_PLANE && ga->isBounded);
    n = rbNormalize(n);
    if (!isBoundedA || !isBoundedB || !(rbLengthSquared(n) > 0.5)) {
        return false;
    }
    rbVec3 c = along->c = rbSub(mb->center, ma->center);
    rbVec3 v = along->v = rbSub(mb->velocity, ma->velocity);
    rbVec3 w = along->w = rbSub(mb->acceleration, ma->acceleration);
    along->normal = n;
    along->a = makeSide(a, n);
    along->b = makeSide(b, rbNeg(n));
    along->d = rbDot(n, c) - a->rounding - b->rounding -
               SLACK * (rbLength(c) + along->a.size + along->b.size);
    double turning =
        timesReach(along->a.turnMax, a->radius) + timesReach(along->b.turnMax, b->radius);
    along->speed = rbDot(n, v) - SLACK * (rbLength(v) + turning) - ma->velocitySlack -
                   mb->velocitySlack - a->growth - b->growth;
    along->acceleration =
        rbDot(n, w) - SLACK * rbLength(w) - ma->accelerationSlack - mb->accelerationSlack;
    return true;
}

// The same side for a direction that rotates at a constant rate, for a limited time.
static void turnSide(Side* side, rbVec3 direction, rbVec3 turning, double time)
{
    const rbSweepMotion* motion = &side->body->motion;
    rbVec3 spin = rbSub(motion->spin, turning);
    double turn = rbLength(turning);
    double rate = motion->spinRateMax + rbLength(rbCross(turning, motion->spin)) +
                  turn * (time * motion->spinRateMax + SLACK * motion->spinMax);
    rbVec3 against = rbCross(direction, spin);
    double rounding = SLACK * (motion->spinMax + turn);
    side->turning = rbInvRotate(side->body->pose.q, against);
    side->turnMax = rbLength(against) + time * rate + rounding;
    side->bending = side->turnMax * (rbLength(spin) + time * rate + rounding) + rate;
}

// Rotates the direction of bodies seen along n. Returns how long the result holds.
static double turnAlong(Along* along, rbVec3 n, rbVec3 turning)
{
    const rbSweepBody* a = along->a.body;
    const rbSweepBody* b = along->b.body;
    const rbSweepMotion* ma = &a->motion;
    const rbSweepMotion* mb = &b->motion;
    double turn = rbLength(turning) * (1.0 + SLACK);
    double time = TURN_MAX / (turn + ma->spinMax + mb->spinMax);
    time = rbMinOf(time, rbMinOf(ma->horizon, mb->horizon));
    turnSide(&along->a, n, turning, time);
    turnSide(&along->b, rbNeg(n), turning, time);
    double acceleration = rbLength(along->w) + ma->accelerationSlack + mb->accelerationSlack;
    double speed = rbLength(along->v) + ma->velocitySlack + mb->velocitySlack + time * acceleration;
    double distance = rbLength(along->c) + time * speed;
    along->speed += rbDot(rbCross(turning, n), along->c) - SLACK * turn * distance;
    // the slacks of the acceleration are already included
    along->acceleration -=
        turn * (time * acceleration + 2.0 * speed + turn * distance) * (1.0 + SLACK);
    return time;
}

// F as defined at the top of the file, less the level, and its derivative.
static CoreHeight gapAt(const Along* along, double t, double level)
{
    CoreHeight a = heightAt(&along->a, t), b = heightAt(&along->b, t);
    return (CoreHeight){along->d - level + t * along->speed - a.height - b.height,
                        along->speed - a.rate - b.rate};
}

// From the heights at the instant; or, for any rotation of a body, from the ball that contains it.
static double boundFirst(const Along* along, double level, double heightA, double heightB)
{
    double d = along->d - level;
    double turningA = timesReach(along->a.turnMax, along->a.body->radius);
    double turningB = timesReach(along->b.turnMax, along->b.body->radius);
    double ballA = along->a.ball, ballB = along->b.ball;
    double speed = -along->speed, acceleration = -along->acceleration;
    double best = findRoot(d - heightA - heightB, turningA + turningB + speed, acceleration);
    best = rbMaxOf(best, findRoot(d - ballA - heightB, turningB + speed, acceleration));
    best = rbMaxOf(best, findRoot(d - heightA - ballB, turningA + speed, acceleration));
    return rbMaxOf(best, findRoot(d - ballA - ballB, speed, acceleration));
}

// First time from low to high at which chord + t^2/2 acceleration may fall to 0; high if it does
// not. The chord leads from gapLow > -low^2/2 acceleration at low to gapHigh at high.
static double findChordRoot(double low, double gapLow, double high, double gapHigh,
                            double acceleration)
{
    double slope = (gapHigh - gapLow) / (high - low);
    // relative to low: value + s rate + s^2/2 acceleration, s = t - low
    double value = gapLow + 0.5 * acceleration * low * low;
    double rate = slope + acceleration * low;
    double s = findRoot(value, -rate, -acceleration);
    return s < high - low ? low + s * (1.0 - SLACK) : high;
}

// Widens the safe interval [0, low] by chords of the concave F.
static double widen(const Along* along, double level, double low, double horizon)
{
    double acceleration = along->acceleration - bendingOf(&along->a) - bendingOf(&along->b);
    double bad = horizon; // not evaluated, or not safe
    CoreHeight gap = gapAt(along, low, level);
    for (int i = 1; i < PROBES_MAX && low < bad; i += 2) {
        double value = gap.height + 0.5 * acceleration * low * low;
        if (!(value > 0.0)) {
            break; // the remainder costs more than it gains
        }
        // the tangent at low proves that the root cannot be later, unless the t^2 terms push the
        // bodies apart
        double high = low + (1.0 + PROBE_QUALITY) *
                                findRoot(value, -gap.rate - acceleration * low, -acceleration);
        if (!(high < bad)) {
            // no guess: far ahead, but by a factor that later chords can bridge
            high = bad < 16.0 * low ? bad : rbMinOf(sqrt(low) * sqrt(bad), 1e3 * low);
            high = rbMaxOf(high, low * (1.0 + PROBE_QUALITY));
        }
        CoreHeight gapHigh = gapAt(along, high, level);
        double safe = findChordRoot(low, gap.height, high, gapHigh.height, acceleration);
        bool isGood = safe - low > (1.0 - 2.0 * PROBE_QUALITY) * (high - low);
        if (safe >= high) {
            low = high;
            gap = gapHigh;
            continue;
        }
        low = safe;
        bad = high;
        if (isGood || !(safe > 0.0)) {
            break;
        }
        gap = gapAt(along, low, level);
    }
    return low;
}

// Only flat features gain from a direction that rotates with their body.
static bool hasFlats(const rbSweepBody* body)
{
    const rbShapeOps* ops = rbGetShapeOps(body->geometry->type);
    return !ops->isRound && ops->family != RB_FAMILY_PLANE;
}

// Widens the safe interval [0, low] by a rotating direction.
static double widenTurning(const Along* fixed, rbVec3 turning, double level, double low)
{
    Along along = *fixed;
    rbVec3 n = along.normal;
    rbVec3 across = rbAddScaled(turning, -rbDot(turning, n), n);
    if (!(rbLengthSquared(across) > 0.0)) {
        return low;
    }
    double time = turnAlong(&along, n, across);
    return low < time ? widen(&along, level, low, time) : low;
}

// Second order, from a safe interval [0, low].
static double boundSecond(const Along* along, rbVec3 turning, double level, double low)
{
    const rbSweepBody* a = along->a.body;
    const rbSweepBody* b = along->b.body;
    double horizon = horizonOf(a, b);
    double heightA = heightAt(&along->a, 0.0).height, heightB = heightAt(&along->b, 0.0).height;
    bool isParted = along->d - heightA - heightB > level;
    bool turns = along->a.turnMax > 0.0 || along->b.turnMax > 0.0;
    low = rbMaxOf(low, boundFirst(along, level, heightA, heightB));
    if (!isParted || !turns || !(low > 0.0) || low >= horizon) {
        return low;
    }
    low = widen(along, level, low, horizon);
    if (along->a.isPlane || along->b.isPlane || !(hasFlats(a) || hasFlats(b))) {
        return low;
    }
    low = widenTurning(along, turning, level, low);
    low = hasFlats(a) ? widenTurning(along, a->motion.spin, level, low) : low;
    return hasFlats(b) ? widenTurning(along, b->motion.spin, level, low) : low;
}

double rbBoundBySupports(const rbSweepBody* a, const rbSweepBody* b, rbVec3 normal, double level)
{
    RB_ASSERT(a != NULL && b != NULL && rbIsFinite3(normal));
    Along along;
    double bound =
        makeAlong(a, b, normal, &along) ? boundSecond(&along, RB_VEC3_ZERO, level, 0.0) : 0.0;
    return rbMinOf(bound, horizonOf(a, b));
}

// ------------------------------------------------------------------------------------------- all

// Where the center of a ball is the center of mass, rotation does not matter.
static bool isBall(const rbSweepBody* body)
{
    return body->geometry->type == RB_SHAPE_SPHERE &&
           body->radius <= SLACK * body->geometry->data.sphere.radius;
}

// The time when the bounding balls of the bodies meet, on the safe side: the exact time for
// spheres. 0 if they overlap, or the centers are not on known parabolas.
static double boundBalls(const rbSweepBody* a, const rbSweepBody* b, double level)
{
    const rbSweepMotion* ma = &a->motion;
    const rbSweepMotion* mb = &b->motion;
    double radii = ballOf(a) + ballOf(b);
    if (ma->accelerationSlack + mb->accelerationSlack > 0.0 || !isfinite(radii)) {
        return 0.0;
    }
    rbVec3 p = rbSub(mb->center, ma->center);
    double distance = rbLength(p);
    double size = distance + radii + fabs(a->rounding) + fabs(b->rounding) + fabs(level);
    double r = radii + a->rounding + b->rounding + level + SLACK * size;
    if (distance <= r && !(isBall(a) && isBall(b))) {
        return 0.0;
    }
    double growth = a->growth + b->growth + ma->velocitySlack + mb->velocitySlack;
    double t = rbSweepSpheres(p, rbSub(mb->velocity, ma->velocity),
                              rbSub(mb->acceleration, ma->acceleration), r, growth);
    return t * (1.0 - SLACK);
}

// ------------------------------------------------------------------------------------------ parts

// Bodies whose hulls are not separated, but which have convex parts: every pair of parts has its
// own direction. They meet when the first pair meets.
//
// A part moves with its body: it has the motion of the body, its own pose, and the reach of its own
// core about the center of mass of the body.

// More pairs of parts are not examined: they would cost more than another measurement.
#define PART_PAIRS_MAX 64
// Of the distance of parts; only its direction matters, and any is safe.
#define PART_TOLERANCE 1e-6

static int countParts(const rbSweepBody* body)
{
    return body->geometry->type == RB_SHAPE_COMPOUND ? body->geometry->childCount : 1;
}

static rbSweepBody makePart(const rbSweepBody* body, int index)
{
    if (body->geometry->type != RB_SHAPE_COMPOUND) {
        return *body;
    }
    const rbCompoundChild* child = &body->geometry->children[index];
    rbSweepBody part = *body;
    part.geometry = child->geometry;
    part.pose = rbMulTransforms(body->pose, child->transform);
    rbVec3 center = rbInvTransformPoint(part.pose, body->motion.center);
    // poses of parts are products
    double rounding =
        16.0 * DBL_EPSILON *
        (rbDistance(body->motion.center, body->pose.p) + rbLength(child->transform.p));
    part.radius = rbMinOf(body->radius, reachOf(child->geometry, center, true) + rounding);
    part.rounding += rounding;
    return part;
}

// The result of GJK for two convex parts; otherwise the result for the whole bodies.
static rbSweepGap measureParts(const rbSweepBody* a, const rbSweepBody* b, const rbSweepGap* whole)
{
    rbConvex convexA, convexB;
    if (!rbConvex_Make(a->geometry, 0.0, &convexA) || !rbConvex_Make(b->geometry, 0.0, &convexB)) {
        return *whole;
    }
    rbGjkSettings settings = rbDefaultGjkSettings();
    settings.relativeTolerance = PART_TOLERANCE;
    rbCso cso = rbCso_Make(&convexA, &convexB, rbInvMulTransforms(a->pose, b->pose));
    rbGjkResult result = rbGjk_Distance(&cso, &settings, NULL);
    double radii = convexA.radius + convexB.radius + a->rounding + b->rounding;
    double lower = result.lower - radii - 16.0 * DBL_EPSILON * (radii + cso.scale);
    return (rbSweepGap){rbMaxOf(whole->lower, lower), rbRotate(a->pose.q, result.normal)};
}

// The least bound of all pairs of parts of two bodies, one of which is a compound; the measurement
// of the whole bodies is used where a pair of parts is not convex. 0 if there are too many pairs.
// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static double boundParts(const rbSweepBody* a, const rbSweepBody* b, const rbSweepGap* gap,
                         rbVec3 turning, double level)
{
    RB_ASSERT(gap->lower > level);
    int countA = countParts(a), countB = countParts(b);
    RB_ASSERT(a->geometry->type == RB_SHAPE_COMPOUND || b->geometry->type == RB_SHAPE_COMPOUND);
    if (countA > PART_PAIRS_MAX || countB > PART_PAIRS_MAX / countA) {
        return 0.0;
    }
    double least = INFINITY;
    for (int i = 0; i < countA; ++i) {
        rbSweepBody partA = makePart(a, i);
        for (int j = 0; j < countB; ++j) {
            rbSweepBody partB = makePart(b, j);
            double radii =
                partA.geometry->radius + partB.geometry->radius + partA.rounding + partB.rounding;
            double distance = rbDistance(partA.pose.p, partB.pose.p);
            double ofBalls = distance - radii - 16.0 * DBL_EPSILON * (distance + fabs(radii));
            double known = rbMaxOf(ofBalls, gap->lower);
            if (rbBoundByPaths(&partA, &partB, known, level) >= least) {
                continue; // far
            }
            rbSweepGap own = measureParts(&partA, &partB, gap);
            own.lower = rbMaxOf(own.lower, known);
            least = rbMinOf(least, rbBoundMeeting(&partA, &partB, &own, turning, level));
        }
    }
    return least;
}

// NOLINTNEXTLINE(misc-no-recursion): by parts, compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
double rbBoundMeeting(const rbSweepBody* a, const rbSweepBody* b, const rbSweepGap* gap,
                      rbVec3 turning, double level)
{
    RB_ASSERT(a != NULL && b != NULL && gap != NULL);
    RB_ASSERT(a->radius >= 0.0 && b->radius >= 0.0);
    RB_ASSERT(rbIsFinite3(gap->normal) && rbIsFinite3(turning));
    double horizon = horizonOf(a, b);
    RB_ASSERT(horizon >= 0.0);
    if (!(gap->lower > level)) {
        return 0.0;
    }
    double best = rbBoundByPaths(a, b, gap->lower, level);
    best = best < horizon ? rbMaxOf(best, boundBalls(a, b, level)) : best;
    if (best >= horizon || (isBall(a) && isBall(b))) {
        return rbMinOf(best, horizon);
    }
    Along along;
    double before = best;
    best = makeAlong(a, b, gap->normal, &along) ? boundSecond(&along, turning, level, best) : best;
    // nearest parts need not separate the hulls, but the line of the centers may
    bool isConvex = rbGeometry_IsConvex(a->geometry) && rbGeometry_IsConvex(b->geometry);
    rbVec3 line = rbSub(b->motion.center, a->motion.center);
    if (best == before && !isConvex && makeAlong(a, b, line, &along)) {
        best = boundSecond(&along, RB_VEC3_ZERO, level, best);
    }
    bool hasParts =
        a->geometry->type == RB_SHAPE_COMPOUND || b->geometry->type == RB_SHAPE_COMPOUND;
    best = best == before && hasParts ? rbMaxOf(best, boundParts(a, b, gap, turning, level)) : best;
    return rbMinOf(best, horizon);
}
