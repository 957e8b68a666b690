// Prescribed paths: straight lines and cubic curves at constant speed, with a constant rotation.
//
// A curve through the points P0..Pm has Hermite tangents d_i = factor (P_{i+1} - P_{i-1}) inside
// and given ones at its ends; each piece becomes a Bezier curve B0 = Pi, B1 = Pi + d_i/3, B2 =
// P_{i+1} - d_{i+1}/3, B3 = P_{i+1}. Constant speed needs arc length: every piece carries
// RB_PATH_SPANS + 1 cumulative lengths by Gauss-Legendre quadrature, and the parameter of a
// traveled length is found by bisection in the table and Newton's method with the same quadrature
// inside a span. So the speed is constant to about 1e-12, not to the 1e-3 of a chord table.
// Positions come from the traveled length, never from increments.
#include "dynamics/motion/path.h"

#include "base/core/memory.h"
#include "base/math/quaternion.h"

#include <math.h>

rbPathDef rbDefaultPathDef(void)
{
    return (rbPathDef){.type = RB_PATH_LINE, .tangentFactor = 0.5};
}

rbVec3 rbGetBezierDerivative(const rbVec3 b[4], double u)
{
    double v = 1.0 - u;
    rbVec3 d = rbScale(3.0 * v * v, rbSub(b[1], b[0]));
    d = rbAddScaled(d, 6.0 * v * u, rbSub(b[2], b[1]));
    return rbAddScaled(d, 3.0 * u * u, rbSub(b[3], b[2]));
}

// Arc length between two parameters of one piece, five point Gauss-Legendre.
static double arcLength(const rbVec3 b[4], double uA, double uB)
{
    static const double nodes[3] = {0.0, 0.53846931010568309, 0.90617984593866399};
    static const double weights[3] = {0.56888888888888889, 0.47862867049936647,
                                      0.23692688505618909};
    double center = 0.5 * (uA + uB);
    double half = 0.5 * (uB - uA);
    double sum = weights[0] * rbLength(rbGetBezierDerivative(b, center));
    for (int i = 1; i < 3; ++i) {
        sum += weights[i] * (rbLength(rbGetBezierDerivative(b, center - half * nodes[i])) +
                             rbLength(rbGetBezierDerivative(b, center + half * nodes[i])));
    }
    return half * sum;
}

static rbVec3 supportPoint(const rbPathDef* def, rbVec3 first, int i)
{
    return i == 0 ? first : def->points[i - 1];
}

// Hermite tangent at support point i of count.
static rbVec3 supportTangent(const rbPathDef* def, rbVec3 first, int i)
{
    int count = def->pointCount + 1;
    rbVec3 here = supportPoint(def, first, i % count);
    if (!def->isClosed && (i == 0 || i == count - 1)) {
        rbVec3 given = i == 0 ? def->startTangent : def->endTangent;
        rbVec3 secant = i == 0 ? rbSub(supportPoint(def, first, 1), here)
                               : rbSub(here, supportPoint(def, first, i - 1));
        return rbLengthSquared(given) > 0.0 ? given : secant;
    }
    rbVec3 next = supportPoint(def, first, (i + 1) % count);
    rbVec3 previous = supportPoint(def, first, (i + count - 1) % count);
    return rbScale(def->tangentFactor, rbSub(next, previous));
}

static rbStatus buildCurve(rbPath* path, const rbPathDef* def, rbError* error)
{
    int count = def->pointCount + 1;
    path->pieceCount = def->isClosed ? count : count - 1;
    path->pieces = rbAllocZero((size_t)path->pieceCount, sizeof path->pieces[0]);
    path->lengths = rbAllocZero((size_t)path->pieceCount * RB_PATH_SPANS + 1, sizeof(double));
    double total = 0.0;
    for (int i = 0; i < path->pieceCount; ++i) {
        rbVec3 p = supportPoint(def, path->start.p, i);
        rbVec3 q = supportPoint(def, path->start.p, (i + 1) % count);
        rbVec3* b = path->pieces[i];
        b[0] = p;
        b[1] = rbAddScaled(p, 1.0 / 3.0, supportTangent(def, path->start.p, i));
        b[2] = rbAddScaled(q, -1.0 / 3.0, supportTangent(def, path->start.p, i + 1));
        b[3] = q;
        for (int k = 0; k < RB_PATH_SPANS; ++k) {
            total += arcLength(b, (double)k / RB_PATH_SPANS, (double)(k + 1) / RB_PATH_SPANS);
            path->lengths[i * RB_PATH_SPANS + k + 1] = total;
        }
    }
    path->length = total;
    RB_INVALID_IF(!(total > 0.0) || !isfinite(total), error,
                  "the path has length %g m; its points must differ", total);
    return RB_STATUS_OK;
}

static rbStatus validateDef(const rbPathDef* def, rbError* error)
{
    RB_INVALID_IF((unsigned)def->type >= RB_PATH_COUNT, error,
                  "the path is of type %d, which does not exist; take a line or a curve",
                  (int)def->type);
    RB_INVALID_IF(!(def->speed >= 0.0) || !isfinite(def->speed), error,
                  "the path's speed is %g m/s; it must be finite and not negative", def->speed);
    RB_INVALID_IF(!rbIsFinite3(def->angularVelocity) || !isfinite(def->startTime), error,
                  "the path's angular velocity and start time must be finite");
    int least = def->type == RB_PATH_CURVE ? 1 : 0;
    int most = def->type == RB_PATH_CURVE ? RB_PATH_POINTS_MAX : 1;
    RB_INVALID_IF(def->pointCount < least || def->pointCount > most, error,
                  "the path has %d points after the body's position; %d to %d are accepted",
                  def->pointCount, least, most);
    for (int i = 0; i < def->pointCount; ++i) {
        RB_INVALID_IF(!rbIsFinite3(def->points[i]), error, "point %d of the path is not finite", i);
    }
    RB_INVALID_IF(!rbIsFinite3(def->startTangent) || !rbIsFinite3(def->endTangent) ||
                      !isfinite(def->tangentFactor),
                  error, "the path's tangents must be finite");
    return RB_STATUS_OK;
}

static rbStatus buildLine(rbPath* path, const rbPathDef* def, rbError* error)
{
    bool hasEnd = def->pointCount == 1;
    rbVec3 way = hasEnd ? rbSub(def->points[0], path->start.p) : def->direction;
    double length = rbLength(way);
    RB_INVALID_IF(def->speed > 0.0 && (!(length > 0.0) || !isfinite(length)), error,
                  "the line has no direction; give an end point away from the body's position or a "
                  "non-zero direction");
    path->direction = rbNormalize(way);
    path->length = hasEnd ? length : INFINITY;
    return RB_STATUS_OK;
}

rbPath* rbPath_Create(const rbPathDef* def, rbTransform start, rbError* error)
{
    if (validateDef(def, error) != RB_STATUS_OK) {
        return NULL;
    }
    rbPath* path = rbAllocZero(1, sizeof *path);
    *path = (rbPath){.type = def->type,
                     .speed = def->speed,
                     .startTime = def->startTime,
                     .isClosed = def->type == RB_PATH_CURVE && def->isClosed,
                     .start = start,
                     .angularVelocity = def->angularVelocity};
    rbStatus status =
        def->type == RB_PATH_CURVE ? buildCurve(path, def, error) : buildLine(path, def, error);
    if (status != RB_STATUS_OK) {
        rbPath_Destroy(path);
        return NULL;
    }
    return path;
}

void rbPath_Destroy(rbPath* path)
{
    if (path != NULL) {
        rbFree(path->pieces, (size_t)path->pieceCount * sizeof path->pieces[0]);
        size_t spans = path->lengths != NULL ? (size_t)path->pieceCount * RB_PATH_SPANS + 1 : 0;
        rbFree(path->lengths, spans * sizeof(double));
        rbFree(path, sizeof *path);
    }
}

// Whether the body has reached the end of its path; used everywhere in the same form, because
// rounding decides at the very end.
static bool hasEnded(const rbPath* path, double time)
{
    return !path->isClosed && !(path->speed * (time - path->startTime) < path->length);
}

bool rbPath_IsSteady(const rbPath* path, double time, double* horizon)
{
    *horizon = INFINITY;
    if (time < path->startTime) {
        *horizon = path->startTime - time;
        return true;
    }
    if (!(path->speed > 0.0) || hasEnded(path, time)) {
        return true;
    }
    if (!path->isClosed && isfinite(path->length)) {
        double left = path->startTime + path->length / path->speed - time;
        *horizon = fmax(left, nextafter(time, INFINITY) - time);
    }
    return path->type == RB_PATH_LINE;
}

double rbPath_GetTravel(const rbPath* path, double time)
{
    double travel = path->speed * (time - path->startTime);
    return travel <= 0.0 ? 0.0 : !path->isClosed && travel > path->length ? path->length : travel;
}

int rbPath_Locate(const rbPath* path, double travel, double* parameter)
{
    int low = 0, high = path->pieceCount * RB_PATH_SPANS;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        low = path->lengths[middle] <= travel ? middle : low;
        high = path->lengths[middle] <= travel ? high : middle;
    }
    int piece = low / RB_PATH_SPANS;
    const rbVec3* b = path->pieces[piece];
    double uA = (double)(low % RB_PATH_SPANS) / RB_PATH_SPANS;
    double uB = uA + 1.0 / RB_PATH_SPANS;
    double rest = travel - path->lengths[low];
    double span = path->lengths[low + 1] - path->lengths[low];
    double u = span > 0.0 ? uA + (uB - uA) * (rest / span) : uA;
    for (int i = 0; i < 8; ++i) {
        double speed = rbLength(rbGetBezierDerivative(b, u));
        double excess = arcLength(b, uA, u) - rest;
        if (!(speed > 0.0) || fabs(excess) <= 1e-15 * path->length) {
            break;
        }
        double next = u - excess / speed;
        u = next < uA ? uA : (next > uB ? uB : next);
    }
    *parameter = u;
    return piece;
}

void rbPath_Evaluate(const rbPath* path, double time, rbTransform* pose, rbVec3* velocity,
                     rbVec3* angularVelocity)
{
    double travel = rbPath_GetTravel(path, time);
    bool isMoving = path->speed > 0.0 && time >= path->startTime && !hasEnded(path, time);
    rbVec3 direction = path->direction;
    if (path->type == RB_PATH_CURVE) {
        double inside =
            path->isClosed ? travel - path->length * floor(travel / path->length) : travel;
        double u;
        int piece = rbPath_Locate(path, inside, &u);
        pose->p = rbGetBezierPoint(path->pieces[piece], u);
        direction = rbNormalize(rbGetBezierDerivative(path->pieces[piece], u));
    } else {
        pose->p = rbAddScaled(path->start.p, travel, direction);
    }
    *velocity = isMoving ? rbScale(path->speed, direction) : RB_VEC3_ZERO;
    rbVec3 turn = rbScale(time - path->startTime, path->angularVelocity);
    pose->q = time > path->startTime ? rbMulQuat(rbQuat_Exp(turn), path->start.q) : path->start.q;
    *angularVelocity = time >= path->startTime ? path->angularVelocity : RB_VEC3_ZERO;
}

void rbPath_SetState(const rbPath* path, double time, rbMotionState* state)
{
    rbTransform pose;
    rbVec3 angularVelocity;
    rbPath_Evaluate(path, time, &pose, &state->velocity, &angularVelocity);
    state->position = pose.p;
    state->orientation = pose.q;
    state->spin = rbInvRotate(pose.q, angularVelocity);
}

rbBounds rbPath_GetBounds(const rbPath* path, double timeA, double timeB)
{
    RB_ASSERT(timeA <= timeB);
    rbTransform poseA, poseB;
    rbVec3 velocity, spin;
    rbPath_Evaluate(path, timeA, &poseA, &velocity, &spin);
    rbPath_Evaluate(path, timeB, &poseB, &velocity, &spin);
    rbBounds bounds = {rbMin3(poseA.p, poseB.p), rbMax3(poseA.p, poseB.p)};
    if (path->type == RB_PATH_CURVE) {
        // Every point is in the ellipsoid of the points whose distances from both ends add up to
        // the way between these, which on a closed curve is at most its length.
        rbVec3 c = rbScale(0.5, rbSub(poseB.p, poseA.p));
        rbVec3 center = rbAdd(poseA.p, c);
        double way = rbPath_GetTravel(path, timeB) - rbPath_GetTravel(path, timeA);
        double half = 0.5 * fmin(way, path->length) + 1e-11 * path->length;
        double across = fmax(0.0, half * half - rbLengthSquared(c));
        rbVec3 reach = {sqrt(across + c.x * c.x), sqrt(across + c.y * c.y),
                        sqrt(across + c.z * c.z)};
        bounds = (rbBounds){rbSub(center, reach), rbAdd(center, reach)};
    }
    rbVec3 far = rbMax3(rbAbs3(bounds.lower), rbAbs3(bounds.upper));
    double slack = 1e-14 * (far.x + far.y + far.z); // rounding of positions
    rbVec3 step = {slack, slack, slack};
    return (rbBounds){rbSub(bounds.lower, step), rbAdd(bounds.upper, step)};
}
