// Validates the definition of a joint, compiles it into parts in principal frames, and evaluates
// the parts, the freedoms they leave, and the limits of these.
#include "dynamics/joints/joint_model.h"

#include "base/math/elementary.h"
#include "base/math/quaternion.h"
#include "dynamics/joints/part_ops.h"

#include <stdio.h>

// Sine of the angle below which two axes count as parallel: the condition of a double rotation
// degrades by 1/sine, and below this a tolerance of 1e-6 cannot be met.
#define PARALLEL_SINE 1e-6

// Relative to the lengths involved: a measured distance below this is rounding.
#define ZERO_DISTANCE 1e-12

typedef struct Maker {
    const rbJointDef* def;
    const rbJointSide* sideA;
    const rbJointSide* sideB;
    rbRowPose poseA; // current principal frames
    rbRowPose poseB;
    rbQuat relative; // target orientation of B's principal frame in A's
    char title[256]; // of the joint, for messages
    rbError* error;
} Maker;

static rbRowPose findPose(const rbJointSide* side)
{
    rbTransform pose = rbMulTransforms(side->transform, side->principal);
    rbQuat q = rbNormalizeQuat(pose.q);
    return (rbRowPose){pose.p, q, rbMatFromQuat(q)};
}

static Maker begin(const rbJointDef* def, const rbJointSide* sideA, const rbJointSide* sideB,
                   rbError* error)
{
    Maker maker = {.def = def, .sideA = sideA, .sideB = sideB, .error = error};
    bool isKnown = (int)def->type >= 0 && (int)def->type < rbJointType_GetCount();
    snprintf(maker.title, sizeof maker.title, "joint \"%.60s\" (%s of \"%.60s\" and \"%.60s\")",
             def->name != NULL ? def->name : "", isKnown ? rbJointType_Name(def->type) : "unknown",
             sideA->name, sideB->name);
    return maker;
}

// Unit vector along a finite vector of any length; zero stays zero.
static rbVec3 findUnit(rbVec3 v)
{
    double largest = fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
    return largest > 0.0 ? rbNormalize(rbMakeVec3(v.x / largest, v.y / largest, v.z / largest)) : v;
}

// of: " of a part", or nothing.
static rbStatus validateVectors(const Maker* maker, const rbJointPart* part, const char* of)
{
    static const char* const names[] = {"anchorA", "anchorB", "axisA", "axisB"};
    const rbVec3 vectors[] = {part->anchorA, part->anchorB, part->axisA, part->axisB};
    for (int i = 0; i < 4; ++i) {
        rbVec3 v = vectors[i];
        RB_INVALID_IF(!rbIsFinite3(v), maker->error,
                      "%s: %s%s is [%g, %g, %g]; give finite numbers", maker->title, names[i], of,
                      v.x, v.y, v.z);
    }
    return RB_STATUS_OK;
}

// Converts the axes of a part to unit vectors in the bodies' frames.
static rbStatus resolveAxes(const Maker* maker, rbAxisUse use, rbJointPart* part)
{
    if (use == RB_AXIS_NONE) {
        part->axisA = rbMakeVec3(1.0, 0.0, 0.0);
        part->axisB = part->axisA;
        return RB_STATUS_OK;
    }
    RB_INVALID_IF(
        rbIsZero3(part->axisA), maker->error,
        "%s: axisA is zero; give a direction in the frame of \"%.60s\", such as [0, 0, 1]",
        maker->title, maker->sideA->name);
    part->axisA = findUnit(part->axisA);
    rbVec3 world = rbRotate(maker->sideA->transform.q, part->axisA);
    if (use == RB_AXIS_COMMON) {
        part->axisB = rbIsZero3(part->axisB) ? rbInvRotate(maker->sideB->transform.q, world)
                                             : findUnit(part->axisB);
        return RB_STATUS_OK;
    }
    RB_INVALID_IF(
        rbIsZero3(part->axisB), maker->error,
        "%s: axisB is zero; give a second axis in the frame of \"%.60s\", not parallel to axisA",
        maker->title, maker->sideB->name);
    part->axisB = findUnit(part->axisB);
    rbVec3 other = rbRotate(maker->sideB->transform.q, part->axisB);
    double sine = rbLength(rbCross(world, other));
    RB_INVALID_IF(sine < PARALLEL_SINE, maker->error,
                  "%s: axisA and axisB are parallel now (sine of their angle %g); turn one of "
                  "them, 90 degrees between them is best",
                  maker->title, sine);
    return RB_STATUS_OK;
}

// The distance that a part holds: the given one, or the current one.
static rbStatus resolveDistance(const Maker* maker, const rbPartOps* ops, double given,
                                rbPartModel* part)
{
    part->distance = 0.0;
    if (!ops->hasDistance) {
        return RB_STATUS_OK;
    }
    RB_INVALID_IF(!isfinite(given), maker->error,
                  "%s: distance is %g; give meters, or a negative number for the present distance",
                  maker->title, given);
    double smallest = 0.0;
    double distance = given;
    if (given < 0.0) {
        ops->errors(part, &maker->poseA, &maker->poseB, &distance);
        smallest = ZERO_DISTANCE * (rbDistance(maker->poseA.position, maker->poseB.position) +
                                    rbLength(part->pointA) + rbLength(part->pointB));
    }
    RB_INVALID_IF(
        !ops->isDistanceSigned && distance <= smallest, maker->error,
        "%s: the distance to hold is %g m, which has no direction; give more than 0 or use type %s",
        maker->title, distance, part->type == RB_JOINT_DISTANCE ? "ball" : "line");
    part->distance = distance;
    return RB_STATUS_OK;
}

// The angle between two axes is the angle to hold.
static void setAngle(rbPartModel* part, rbVec3 x, rbVec3 y)
{
    part->distance = rbAtan2(rbLength(rbCross(x, y)), rbDot(x, y));
    rbSinCos(part->distance, &part->sine, &part->cosine);
}

// Appends a part whose axes are resolved.
static rbStatus addPart(const Maker* maker, rbJointModel* model, const rbJointPart* source)
{
    const rbPartOps* ops = rbPartOps_Get(source->type);
    RB_INVALID_IF(model->partCount == RB_JOINT_PARTS_MAX || model->rowCount + ops->rowCount > 6,
                  maker->error,
                  "%s: its parts take away more than the 6 freedoms there are; leave part %d out",
                  maker->title, model->partCount + 1);
    const rbTransform principalA = maker->sideA->principal, principalB = maker->sideB->principal;
    rbPartModel* part = &model->parts[model->partCount];
    *part = (rbPartModel){.type = source->type, .relative = maker->relative};
    part->pointA = rbInvTransformPoint(principalA, source->anchorA);
    part->pointB = rbInvTransformPoint(principalB, source->anchorB);
    part->axisA = rbNormalize(rbInvRotate(principalA.q, source->axisA));
    part->axisB = rbNormalize(rbInvRotate(principalB.q, source->axisB));
    part->crossA[0] = rbPerpendicular(part->axisA);
    part->crossA[1] = rbCross(part->axisA, part->crossA[0]);
    rbStatus status = resolveDistance(maker, ops, source->distance, part);
    if (source->type == RB_JOINT_DOUBLE_ROTATION) {
        rbVec3 x = rbMulMV(maker->poseA.rotation, part->axisA);
        rbVec3 y = rbMulMV(maker->poseB.rotation, part->axisB);
        setAngle(part, x, y);
    }
    model->angleMask |= ops->angleMask << model->rowCount;
    model->rowCount += ops->rowCount;
    model->partCount += 1;
    return status;
}

// The stack of a type of the table.
static rbStatus addStack(const Maker* maker, rbJointModel* model)
{
    const rbJointDef* def = maker->def;
    const rbJointTypeRow* row = rbJointTypeRow_Get(def->type);
    rbJointPart part = {row->parts[0], def->anchorA, def->anchorB,
                        def->axisA,    def->axisB,   def->distance};
    RB_TRY(resolveAxes(maker, row->axisUse, &part));
    for (int i = 0; i < row->partCount; ++i) {
        part.type = row->parts[i];
        if (def->type == RB_JOINT_HINGE_POINTS && i == 1) {
            // A second point of the axis, 1 m away: its errors in m equal angles in rad.
            part.anchorA = rbAdd(part.anchorA, part.axisA);
            part.anchorB = rbAdd(part.anchorB, part.axisB);
        }
        RB_TRY(addPart(maker, model, &part));
    }
    return RB_STATUS_OK;
}

// The parts of a custom combination.
static rbStatus addFreeParts(const Maker* maker, rbJointModel* model)
{
    const rbJointDef* def = maker->def;
    RB_INVALID_IF(def->partCount < 1 || def->partCount > RB_JOINT_PARTS_MAX || def->parts == NULL,
                  maker->error,
                  "%s: it has %d parts; give 1 to %d that take away at most 6 freedoms",
                  maker->title, def->parts == NULL ? 0 : def->partCount, RB_JOINT_PARTS_MAX);
    for (int i = 0; i < def->partCount; ++i) {
        rbJointPart part = def->parts[i];
        RB_INVALID_IF((int)part.type < 0 || part.type >= RB_BASIC_JOINT_COUNT, maker->error,
                      "%s: part %d is of type %d; parts are of one of the %d basic types, from "
                      "ball to double-rotation",
                      maker->title, i + 1, (int)part.type, RB_BASIC_JOINT_COUNT);
        RB_TRY(validateVectors(maker, &part, " of a part"));
        RB_TRY(resolveAxes(maker, rbPartOps_Get(part.type)->axisUse, &part));
        RB_TRY(addPart(maker, model, &part));
    }
    return RB_STATUS_OK;
}

// The orientation of B's principal frame relative to A's that the joint holds, or that its angles
// are measured from.
static rbStatus resolveOrientation(Maker* maker)
{
    rbQuat q = maker->def->orientation;
    if (q.w == 0.0 && q.x == 0.0 && q.y == 0.0 && q.z == 0.0) {
        q = rbMulQuat(rbConjugate(maker->sideA->transform.q), maker->sideB->transform.q);
    } else if (!rbIsFiniteQuat(q) || !rbIsUnitQuat(q)) {
        return rbError_Set(maker->error, RB_STATUS_INVALID,
                           "%s: orientation [%g, %g, %g, %g] is not a unit quaternion; give [w, x, "
                           "y, z] of length 1, or nothing for the present orientation",
                           maker->title, q.w, q.x, q.y, q.z);
    }
    rbQuat fromPrincipalA = rbConjugate(maker->sideA->principal.q);
    q = rbMulQuat(rbMulQuat(fromPrincipalA, q), maker->sideB->principal.q);
    maker->relative = rbNormalizeQuat(q);
    return RB_STATUS_OK;
}

// ---------------------------------------------------------------------------------------- freedoms
// The remaining freedoms between two bodies, as numbers with rows: travel along an axis, angles
// about axes.
//
// An angle is the azimuth, about a unit axis x of one body, of a unit vector m of the other. With w
// the spin of m's body seen from x's,
//   angle' = (x x m) . (w x m) / |x x m|^2 = w . (x - c m) / (1 - c^2),   c = x . m,
// at every pose. For a hinge m is perpendicular to the axis, c = 0 and the row is x. For a
// universal joint m is the other axis y, c the cosine of their constant angle; (x - c y)/(1 - c^2)
// and (y - c x)/(1 - c^2) are dual to x and y, so that w = angle1' x + angle2' y, as required. The
// second angle is that of B about its own axis, so the azimuth, of x seen from B, has the opposite
// sense; w is A's spin seen from B, and the two signs cancel in the row.

// Sine squared below which an azimuth has no usable direction; the row stays below 1e6.
#define POLE_SINE_SQUARED 1e-12

// The part of v perpendicular to the unit axis, as a unit vector; an arbitrary perpendicular if v
// has none.
static rbVec3 findAcross(rbVec3 v, rbVec3 axis)
{
    rbVec3 across = rbAddScaled(v, -rbDot(v, axis), axis);
    return rbLengthSquared(across) > POLE_SINE_SQUARED ? rbNormalize(across)
                                                       : rbPerpendicular(axis);
}

static rbFreedomModel makeAngle(const rbPartModel* part, rbQuat relative)
{
    // Zero where B has the stated orientation. If that does not align the axes, the smallest
    // rotation that does is added.
    rbVec3 axisFromB = rbInvRotate(relative, part->axisA);
    rbQuat turn = rbQuat_Between(axisFromB, part->axisB);
    return (rbFreedomModel){
        .kind = RB_FREEDOM_ANGLE,
        .axis = part->axisA,
        .referenceA = part->crossA[0],
        .referenceB = rbRotate(turn, rbInvRotate(relative, part->crossA[0])),
    };
}

// The freedoms a type leaves, from its parts and the orientation of B's principal frame relative to
// A's at which angles are zero.
static void addFreedoms(rbJointModel* model, rbQuat relative)
{
    const rbJointTypeRow* row = rbJointTypeRow_Get(model->type);
    const rbPartModel* part = &model->parts[0];
    RB_ASSERT(row->freedomCount <= RB_JOINT_FREEDOMS_MAX);
    model->freedomCount = row->freedomCount;
    for (int i = 0; i < row->freedomCount; ++i) {
        model->freedoms[i] = row->freedoms[i] != RB_FREEDOM_TRAVEL
                                 ? makeAngle(part, relative)
                                 : (rbFreedomModel){.kind = RB_FREEDOM_TRAVEL,
                                                    .axis = part->axisA,
                                                    .pointA = part->pointA,
                                                    .pointB = part->pointB};
    }
    if (row->axisUse == RB_AXIS_TWO && row->freedomCount == 2) {
        // The cross of a universal joint rotates about A's axis, B about the cross.
        rbFreedomModel* first = &model->freedoms[0];
        first->referenceB = part->axisB;
        first->referenceA = findAcross(rbRotate(relative, part->axisB), part->axisA);
        rbFreedomModel* second = &model->freedoms[1];
        second->axis = part->axisB;
        second->isAxisOfB = true;
        second->referenceA = part->axisA;
        second->referenceB = findAcross(rbInvRotate(relative, part->axisA), part->axisB);
    }
}

// The axis of an angle and the vector about it, seen from the body that carries the axis.
typedef struct AngleView {
    const rbRowPose* carrier;
    const rbRowPose* other;
    rbVec3 zero;      // of the carrier
    rbVec3 reference; // of the other
} AngleView;

static AngleView viewAngle(const rbFreedomModel* freedom, const rbRowPose* poseA,
                           const rbRowPose* poseB)
{
    return freedom->isAxisOfB ? (AngleView){poseB, poseA, freedom->referenceB, freedom->referenceA}
                              : (AngleView){poseA, poseB, freedom->referenceA, freedom->referenceB};
}

static rbVec3 findAngleRow(const rbFreedomModel* freedom, const rbRowPose* poseA,
                           const rbRowPose* poseB)
{
    AngleView view = viewAngle(freedom, poseA, poseB);
    rbVec3 x = rbMulMV(view.carrier->rotation, freedom->axis);
    rbVec3 m = rbMulMV(view.other->rotation, view.reference);
    double sineSquared = rbLengthSquared(rbCross(x, m));
    return sineSquared > POLE_SINE_SQUARED
               ? rbScale(1.0 / sineSquared, rbAddScaled(x, -rbDot(x, m), m))
               : x;
}

static double findAngle(const rbFreedomModel* freedom, const rbRowPose* poseA,
                        const rbRowPose* poseB)
{
    AngleView view = viewAngle(freedom, poseA, poseB);
    rbVec3 m = rbMulMtV(view.carrier->rotation, rbMulMV(view.other->rotation, view.reference));
    double sine = rbDot(m, rbCross(freedom->axis, view.zero));
    return rbAtan2(freedom->isAxisOfB ? -sine : sine, rbDot(m, view.zero));
}

// Axes of both bodies in the world, and the unit vector perpendicular to both, about which one is
// rotated into the other; an arbitrary perpendicular where they are parallel.
static rbVec3 findSwing(const rbFreedomModel* freedom, const rbRowPose* poseA,
                        const rbRowPose* poseB, rbVec3* a, rbVec3* b)
{
    *a = rbMulMV(poseA->rotation, freedom->axis);
    *b = rbMulMV(poseB->rotation, freedom->referenceB);
    rbVec3 across = rbCross(*a, *b);
    return rbLengthSquared(across) > POLE_SINE_SQUARED ? rbNormalize(across) : rbPerpendicular(*a);
}

// Swing s about e, perpendicular to both axes: s' = w . e. B rotates about its axis, which follows
// the swing on the shortest path: with w = s' e + ... the rate of the twist is w . (a + b) / (1 + a
// . b), which is w . a where the axes agree.
static rbVec3 findSwingRow(const rbFreedomModel* freedom, const rbRowPose* poseA,
                           const rbRowPose* poseB)
{
    rbVec3 a, b;
    rbVec3 u = findSwing(freedom, poseA, poseB, &a, &b);
    if (freedom->kind == RB_FREEDOM_TWIST) {
        double sum = 1.0 + rbDot(a, b);
        u = sum > POLE_SINE_SQUARED ? rbScale(1.0 / sum, rbAdd(a, b)) : b;
    }
    return u;
}

static double findSwingAngle(const rbFreedomModel* freedom, const rbRowPose* poseA,
                             const rbRowPose* poseB)
{
    rbVec3 a, b;
    (void)findSwing(freedom, poseA, poseB, &a, &b);
    if (freedom->kind == RB_FREEDOM_SWING) {
        return rbAtan2(rbLength(rbCross(a, b)), rbDot(a, b));
    }
    rbQuat relative = rbMulQuat(rbConjugate(poseA->orientation), poseB->orientation);
    rbQuat q = rbMulQuat(relative, rbConjugate(freedom->neutral));
    double sine = rbDot(rbMakeVec3(q.x, q.y, q.z), freedom->axis);
    double sign = q.w < 0.0 ? -1.0 : 1.0; // both quaternions of a rotation
    return 2.0 * rbAtan2(sign * sine, sign * q.w);
}

// Travel is measured as the distance from a plane.
static rbPartModel planeOf(const rbFreedomModel* freedom)
{
    return (rbPartModel){.type = RB_JOINT_PLANE,
                         .axisA = freedom->axis,
                         .pointA = freedom->pointA,
                         .pointB = freedom->pointB};
}

void rbFreedomModel_Rows(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                         rbRow* rows)
{
    const rbFreedomModel* freedom = data;
    RB_ASSERT(rbIsUnit(freedom->axis));
    if (freedom->kind != RB_FREEDOM_TRAVEL) {
        rbVec3 u = freedom->kind == RB_FREEDOM_ANGLE ? findAngleRow(freedom, poseA, poseB)
                                                     : findSwingRow(freedom, poseA, poseB);
        rows[0] = (rbRow){RB_VEC3_ZERO, u, u};
        return;
    }
    rbPartModel plane = planeOf(freedom);
    rbPartTable[RB_JOINT_PLANE].rows(&plane, poseA, poseB, rows);
}

void rbFreedomModel_Errors(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                           double* errors)
{
    const rbFreedomModel* freedom = data;
    RB_ASSERT(rbIsUnit(freedom->axis));
    if (freedom->kind != RB_FREEDOM_TRAVEL) {
        errors[0] = freedom->kind == RB_FREEDOM_ANGLE ? findAngle(freedom, poseA, poseB)
                                                      : findSwingAngle(freedom, poseA, poseB);
        return;
    }
    rbPartModel plane = planeOf(freedom);
    rbPartTable[RB_JOINT_PLANE].errors(&plane, poseA, poseB, errors);
}

// --------------------------------------------------------- drives: motors, prescribed velocities

// A number and its accepted range.
typedef struct Number {
    const char* what;
    double value, least;
    bool isLeastIn; // the least value itself is accepted
    bool isInfiniteAllowed;
} Number;

static rbStatus validateNumbers(const Number* numbers, int count, const char* title, rbError* error)
{
    RB_ASSERT(count > 0);
    for (const Number* n = numbers; n < numbers + count; ++n) {
        bool isHigh = n->isLeastIn ? n->value >= n->least : n->value > n->least;
        bool isBounded = isfinite(n->value) || (n->isInfiniteAllowed && n->value > 0.0);
        bool isGood = isHigh && isBounded;
        RB_INVALID_IF(!isGood && n->least == -INFINITY, error, "%s: %s is %g; give a finite number",
                      title, n->what, n->value);
        RB_INVALID_IF(!isGood, error, "%s: %s is %g; give a%s number %s %g%s", title, n->what,
                      n->value, n->isInfiniteAllowed ? "" : " finite",
                      n->isLeastIn ? "of at least" : "above", n->least,
                      n->isInfiniteAllowed ? ", or infinity for no limit" : "");
    }
    return RB_STATUS_OK;
}

static rbStatus validateSchedule(const rbMotorDef* motor, const char* title, rbError* error)
{
    RB_INVALID_IF(motor->scheduleCount < 0 || motor->scheduleCount > RB_SET_POINTS_MAX ||
                      (motor->scheduleCount > 0 && motor->schedule == NULL),
                  error, "%s: its motor has %d set points; give 0 to %d with an array", title,
                  motor->scheduleCount, RB_SET_POINTS_MAX);
    for (int i = 0; i < motor->scheduleCount; ++i) {
        const rbSetPoint* point = &motor->schedule[i];
        RB_INVALID_IF(!isfinite(point->time) || !isfinite(point->value), error,
                      "%s: set point %d of its motor is %g at %g s; give finite numbers", title,
                      i + 1, point->value, point->time);
        RB_INVALID_IF(i > 0 && point->time <= point[-1].time, error,
                      "%s: set point %d of its motor is at %g s, not after %g s; give set points "
                      "in rising order of time",
                      title, i + 1, point->time, point[-1].time);
    }
    return RB_STATUS_OK;
}

static rbStatus validateMotor(const rbMotorDef* motor, const char* title, rbError* error)
{
    if (motor->type == RB_MOTOR_NONE) {
        return RB_STATUS_OK;
    }
    RB_INVALID_IF((int)motor->type < 0 || (int)motor->type >= rbMotorType_GetCount(), error,
                  "%s: motor type %d does not exist; see rbMotorType", title, (int)motor->type);
    const Number numbers[] = {
        {"target of its motor", motor->target, -INFINITY, false, false},
        {"forceMax of its motor", motor->forceMax, 0.0, false, true},
        {"gain of its motor", motor->gain, 0.0, false, false},
        {"integralTime of its motor", motor->integralTime, 0.0, true, false},
        {"derivativeTime of its motor", motor->derivativeTime, 0.0, true, false},
        {"window of its motor", motor->window, 0.0, true, false},
    };
    // The velocity row has no controller.
    int count = motor->type == RB_MOTOR_VELOCITY ? 2 : (int)(sizeof numbers / sizeof numbers[0]);
    RB_TRY(validateNumbers(numbers, count, title, error));
    return validateSchedule(motor, title, error);
}

static rbStatus validateDrives(const rbJointDef* def, const char* title, int freedomCount,
                               rbError* error)
{
    RB_ASSERT(title != NULL);
    RB_ASSERT(freedomCount >= 0 && freedomCount <= RB_JOINT_FREEDOMS_MAX);
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX; ++i) {
        const rbFreedomDef* freedom = &def->freedoms[i];
        bool isDriven = freedom->stiffness != 0.0 || freedom->damping != 0.0 ||
                        freedom->friction != 0.0 || freedom->motor.type != RB_MOTOR_NONE;
        RB_INVALID_IF(i >= freedomCount && isDriven, error,
                      "%s: something acts along freedom %d, but this type has %d; use a hinge, "
                      "prismatic, cylindrical or universal joint",
                      title, i + 1, freedomCount);
        const Number numbers[] = {
            {"stiffness", freedom->stiffness, 0.0, true, false},
            {"rest", freedom->rest, -INFINITY, false, false},
            {"damping", freedom->damping, 0.0, true, false},
            {"friction", freedom->friction, 0.0, true, false},
        };
        if (i < freedomCount) {
            RB_TRY(validateNumbers(numbers, 4, title, error));
            RB_TRY(validateMotor(&freedom->motor, title, error));
        }
    }
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------------- model

rbStatus rbJointModel_Make(rbJointModel* model, const rbJointDef* def, const rbJointSide* sideA,
                           const rbJointSide* sideB, rbError* error)
{
    RB_ASSERT(model != NULL && def != NULL && sideA != NULL && sideB != NULL);
    RB_ASSERT(sideA->name != NULL && sideB->name != NULL);
    RB_ASSERT(rbIsFinite3(sideA->transform.p) && rbIsUnitQuat(sideA->transform.q));
    RB_ASSERT(rbIsFinite3(sideB->transform.p) && rbIsUnitQuat(sideB->transform.q));
    RB_ASSERT(rbIsUnitQuat(sideA->principal.q) && rbIsUnitQuat(sideB->principal.q));
    *model = (rbJointModel){.type = def->type};
    Maker maker = begin(def, sideA, sideB, error);
    RB_INVALID_IF((int)def->type < 0 || (int)def->type >= rbJointType_GetCount(), error,
                  "%s: type %d does not exist; see rbJointType", maker.title, (int)def->type);
    maker.poseA = findPose(sideA);
    maker.poseB = findPose(sideB);
    rbJointPart whole = {def->type, def->anchorA, def->anchorB, def->axisA, def->axisB, 0.0};
    RB_TRY(validateVectors(&maker, &whole, ""));
    RB_TRY(resolveOrientation(&maker));
    RB_TRY(def->type == RB_JOINT_PARTS ? addFreeParts(&maker, model) : addStack(&maker, model));
    addFreedoms(model, maker.relative);
    return validateDrives(def, maker.title, model->freedomCount, error);
}

// Rows and errors of all parts, one after the other.
#define DEFINE_OF_PARTS(name, Type, results)                                                   \
    void name(const void* data, const rbRowPose* poseA, const rbRowPose* poseB, Type* results) \
    {                                                                                          \
        const rbJointModel* model = data;                                                      \
        RB_ASSERT(model->partCount > 0);                                                       \
        for (int i = 0; i < model->partCount; ++i) {                                           \
            const rbPartOps* ops = rbPartOps_Get(model->parts[i].type);                        \
            ops->results(&model->parts[i], poseA, poseB, results);                             \
            results += ops->rowCount;                                                          \
        }                                                                                      \
    }
DEFINE_OF_PARTS(rbJointModel_Rows, rbRow, rows)
DEFINE_OF_PARTS(rbJointModel_Errors, double, errors)

void rbJointModel_Rezero(rbJointModel* model, const rbRowPose* poseA, const rbRowPose* poseB)
{
    RB_ASSERT(model->partCount > 0);
    rbQuat relative = rbMulQuat(rbConjugate(poseA->orientation), poseB->orientation);
    for (int i = 0; i < model->partCount; ++i) {
        rbPartModel* part = &model->parts[i];
        rbVec3 axis = rbMulMV(poseA->rotation, part->axisA);
        part->relative = rbNormalizeQuat(relative);
        if (rbPartOps_Get(part->type)->axisUse == RB_AXIS_TWO) {
            setAngle(part, axis, rbMulMV(poseB->rotation, part->axisB));
        } else {
            part->axisB = rbNormalize(rbMulMtV(poseB->rotation, axis));
        }
    }
    // Two points represent the axis while B's points lie on it.
    if (model->type == RB_JOINT_HINGE_POINTS) {
        rbVec3 between = rbSub(model->parts[1].pointA, model->parts[0].pointA);
        rbVec3 local = rbMulMtV(poseB->rotation, rbMulMV(poseA->rotation, between));
        model->parts[1].pointB = rbAdd(model->parts[0].pointB, local);
    }
}

void rbJointModel_Points(const rbJointModel* model, const rbRowPose* poseA, const rbRowPose* poseB,
                         rbVec3* pointA, rbVec3* pointB, rbVec3* axis)
{
    RB_ASSERT(model->partCount > 0);
    // The first part that has a location; rotations have none.
    int shown = 0;
    while (shown < model->partCount - 1 && model->parts[shown].type >= RB_JOINT_TRANSLATION) {
        ++shown;
    }
    const rbPartModel* part = &model->parts[shown];
    *pointB = rbAdd(poseB->position, rbMulMV(poseB->rotation, part->pointB));
    *pointA = rbAdd(poseA->position, rbMulMV(poseA->rotation, part->pointA));
    const rbPartOps* ops = rbPartOps_Get(part->type);
    if (ops->angleMask == 0 && ops->axisUse == RB_AXIS_COMMON) {
        // The foot point on A's line or plane: B's point without its distance along the rows.
        rbRow rows[RB_BLOCK_ROWS_MAX];
        double errors[RB_BLOCK_ROWS_MAX];
        ops->rows(part, poseA, poseB, rows);
        ops->errors(part, poseA, poseB, errors);
        *pointA = *pointB;
        for (int i = 0; i < ops->rowCount; ++i) {
            *pointA = rbAddScaled(*pointA, -(errors[i] + part->distance), rows[i].linear);
        }
    }
    *axis = RB_VEC3_ZERO;
    for (int i = model->partCount - 1; i >= 0; --i) {
        if (rbPartOps_Get(model->parts[i].type)->axisUse != RB_AXIS_NONE) {
            *axis = rbMulMV(poseA->rotation, model->parts[i].axisA);
        }
    }
}

// ------------------------------------------------------------------------------------------ limits
// Which positions they bound, and whether a definition makes sense (B-82).

static bool isUsed(const rbLimitDef* limit)
{
    // NaN must be reported.
    return !(limit->lower == -INFINITY && limit->upper == INFINITY) ||
           !isfinite(limit->restitution);
}

static rbStatus validateLimit(const Maker* maker, int index, rbFreedomKind kind)
{
    const rbLimitDef* limit = &maker->def->limits[index];
    const char* unit = kind == RB_FREEDOM_TRAVEL ? "m" : "rad";
    RB_INVALID_IF(
        isnan(limit->lower) || isnan(limit->upper) || limit->lower == INFINITY ||
            limit->upper == -INFINITY,
        maker->error,
        "%s: limits %d are %g to %g %s; give finite numbers, or -infinity and infinity for none",
        maker->title, index + 1, limit->lower, limit->upper, unit);
    RB_INVALID_IF(limit->lower > limit->upper, maker->error,
                  "%s: the lower limit %g %s is above the upper one, %g %s; exchange them",
                  maker->title, limit->lower, unit, limit->upper, unit);
    RB_INVALID_IF(!(limit->restitution >= 0.0 && limit->restitution <= 1.0), maker->error,
                  "%s: the restitution of limits %d is %g; give 0 to 1", maker->title, index + 1,
                  limit->restitution);
    bool isLow = kind == RB_FREEDOM_SWING && limit->upper <= 0.0;
    bool isHigh = kind == RB_FREEDOM_SWING && limit->lower >= RB_PI;
    RB_INVALID_IF(isLow || isHigh, maker->error,
                  "%s: the angle of its cone is bounded by %g and %g rad; it is between 0 and pi",
                  maker->title, limit->lower, limit->upper);
    return RB_STATUS_OK;
}

// Swing and twist of a ball joint: axes in the frames of the bodies; B's defaults to A's at the
// current poses.
static rbStatus makeBall(Maker* maker, rbLimitModel limits[2])
{
    const rbJointDef* def = maker->def;
    RB_INVALID_IF(rbIsZero3(def->axisA), maker->error,
                  "%s: limits of a ball joint need axisA, the axis of the cone in the frame of "
                  "\"%.60s\"; it is zero",
                  maker->title, maker->sideA->name);
    rbJointPart part = {.axisA = def->axisA, .axisB = def->axisB};
    (void)resolveAxes(maker, RB_AXIS_COMMON, &part);
    rbQuat principalA = maker->sideA->principal.q, principalB = maker->sideB->principal.q;
    rbStatus status = resolveOrientation(maker);
    rbFreedomModel swing = {.kind = RB_FREEDOM_SWING,
                            .axis = rbNormalize(rbInvRotate(principalA, part.axisA)),
                            .referenceB = rbNormalize(rbInvRotate(principalB, part.axisB)),
                            .neutral = RB_QUAT_IDENTITY};
    // Like the angle of a hinge: zero where B has the stated orientation, aligned with the axis by
    // the smallest rotation.
    rbQuat turn = rbQuat_Between(rbInvRotate(maker->relative, swing.axis), swing.referenceB);
    rbFreedomModel twist = swing;
    twist.kind = RB_FREEDOM_TWIST;
    twist.neutral = rbNormalizeQuat(rbMulQuat(maker->relative, rbConjugate(turn)));
    limits[0].freedom = swing;
    limits[1].freedom = twist;
    return status;
}

rbStatus rbMakeLimits(rbJointLimits* limits, const rbJointDef* def, const rbJointModel* model,
                      const rbJointSide* sideA, const rbJointSide* sideB, rbError* error)
{
    RB_ASSERT(limits != NULL && def != NULL && model != NULL);
    Maker maker = begin(def, sideA, sideB, error);
    int places = def->type == RB_JOINT_BALL ? 2 : model->freedomCount;
    bool isAnyUsed = false;
    limits->count = 0;
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX; ++i) {
        isAnyUsed = isAnyUsed || isUsed(&def->limits[i]);
        RB_INVALID_IF(i >= places && isUsed(&def->limits[i]), error,
                      "%s: limits %d are given, but a joint of type %s has %d; a ball joint, "
                      "hinge, prismatic, cylindrical or universal joint has some",
                      maker.title, i + 1, rbJointType_Name(def->type), places);
    }
    if (!isAnyUsed) {
        return RB_STATUS_OK;
    }
    RB_INVALID_IF(def->isVelocityOnly, error,
                  "%s: it holds a velocity only and cannot have limits; let it hold positions",
                  maker.title);
    rbStatus status = def->type == RB_JOINT_BALL ? makeBall(&maker, limits->models) : RB_STATUS_OK;
    for (int i = 0; i < places && status == RB_STATUS_OK; ++i) {
        rbLimitModel* limit = &limits->models[i];
        if (def->type != RB_JOINT_BALL) {
            limit->freedom = model->freedoms[i];
        }
        limit->anchorB = model->parts[0].pointB;
        limit->lower = def->limits[i].lower;
        limit->upper = def->limits[i].upper;
        limit->restitution = def->limits[i].restitution;
        if (limit->freedom.kind == RB_FREEDOM_SWING) {
            // The position is never outside of these.
            limit->lower = limit->lower > 0.0 ? limit->lower : -INFINITY;
            limit->upper = limit->upper < RB_PI ? limit->upper : INFINITY;
        }
        status = validateLimit(&maker, i, limit->freedom.kind);
    }
    limits->count = status == RB_STATUS_OK ? places : 0;
    return status;
}

double rbLimitModel_ChooseTurn(const rbLimitModel* limit, double angle)
{
    RB_ASSERT(limit != NULL && isfinite(angle));
    double turn = 2.0 * RB_PI;
    if (!rbLimitModel_IsTurning(limit) || (angle >= limit->lower && angle <= limit->upper)) {
        return angle;
    }
    double chosen = angle < limit->lower ? angle + turn * ceil((limit->lower - angle) / turn)
                                         : angle - turn * ceil((angle - limit->upper) / turn);
    return chosen >= limit->lower && chosen <= limit->upper ? chosen : angle;
}
