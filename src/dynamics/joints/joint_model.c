// Validates the definition of a joint, compiles it into parts in principal frames, and evaluates
// the parts.
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

static void writeTitle(Maker* maker)
{
    const rbJointDef* def = maker->def;
    bool isKnown = (int)def->type >= 0 && (int)def->type < rbJointType_GetCount();
    snprintf(maker->title, sizeof maker->title, "joint \"%.60s\" (%s of \"%.60s\" and \"%.60s\")",
             def->name != NULL ? def->name : "", isKnown ? rbJointType_Name(def->type) : "unknown",
             maker->sideA->name, maker->sideB->name);
}

// Unit vector along a finite vector of any length; zero stays zero.
static rbVec3 findUnit(rbVec3 v)
{
    double largest = fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
    return largest > 0.0 ? rbNormalize(rbMakeVec3(v.x / largest, v.y / largest, v.z / largest)) : v;
}

static bool isZero(rbVec3 v)
{
    return v.x == 0.0 && v.y == 0.0 && v.z == 0.0;
}

// of: " of a part", or nothing.
static rbStatus validateVectors(const Maker* maker, const rbJointPart* part, const char* of)
{
    static const char* const names[] = {"anchorA", "anchorB", "axisA", "axisB"};
    const rbVec3 vectors[] = {part->anchorA, part->anchorB, part->axisA, part->axisB};
    for (int i = 0; i < 4; ++i) {
        rbVec3 v = vectors[i];
        if (!rbIsFinite3(v)) {
            return rbError_Set(maker->error, RB_STATUS_INVALID,
                               "%s: %s%s is [%g, %g, %g]; give finite numbers", maker->title,
                               names[i], of, v.x, v.y, v.z);
        }
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
    if (isZero(part->axisA)) {
        return rbError_Set(
            maker->error, RB_STATUS_INVALID,
            "%s: axisA is zero; give a direction in the frame of \"%.60s\", such as [0, 0, 1]",
            maker->title, maker->sideA->name);
    }
    part->axisA = findUnit(part->axisA);
    rbVec3 world = rbRotate(maker->sideA->transform.q, part->axisA);
    if (use == RB_AXIS_COMMON) {
        part->axisB = isZero(part->axisB) ? rbInvRotate(maker->sideB->transform.q, world)
                                          : findUnit(part->axisB);
        return RB_STATUS_OK;
    }
    if (isZero(part->axisB)) {
        return rbError_Set(maker->error, RB_STATUS_INVALID,
                           "%s: axisB is zero; give a second axis in the frame of \"%.60s\", not "
                           "parallel to axisA",
                           maker->title, maker->sideB->name);
    }
    part->axisB = findUnit(part->axisB);
    rbVec3 other = rbRotate(maker->sideB->transform.q, part->axisB);
    double sine = rbLength(rbCross(world, other));
    if (sine < PARALLEL_SINE) {
        return rbError_Set(maker->error, RB_STATUS_INVALID,
                           "%s: axisA and axisB are parallel now (sine of their angle %g); turn "
                           "one of them, 90 degrees between them is best",
                           maker->title, sine);
    }
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
    if (!isfinite(given)) {
        return rbError_Set(
            maker->error, RB_STATUS_INVALID,
            "%s: distance is %g; give meters, or a negative number for the present distance",
            maker->title, given);
    }
    double smallest = 0.0;
    double distance = given;
    if (given < 0.0) {
        ops->errors(part, &maker->poseA, &maker->poseB, &distance);
        smallest = ZERO_DISTANCE * (rbDistance(maker->poseA.position, maker->poseB.position) +
                                    rbLength(part->pointA) + rbLength(part->pointB));
    }
    if (!ops->isDistanceSigned && distance <= smallest) {
        return rbError_Set(maker->error, RB_STATUS_INVALID,
                           "%s: the distance to hold is %g m, which has no direction; give more "
                           "than 0 or use type %s",
                           maker->title, distance,
                           part->type == RB_JOINT_DISTANCE ? "ball" : "line");
    }
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
    if (model->partCount == RB_JOINT_PARTS_MAX || model->rowCount + ops->rowCount > 6) {
        return rbError_Set(
            maker->error, RB_STATUS_INVALID,
            "%s: its parts take away more than the 6 freedoms there are; leave part %d out",
            maker->title, model->partCount + 1);
    }
    const rbTransform principalA = maker->sideA->principal;
    const rbTransform principalB = maker->sideB->principal;
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
    rbStatus status = resolveAxes(maker, row->axisUse, &part);
    for (int i = 0; i < row->partCount && status == RB_STATUS_OK; ++i) {
        part.type = row->parts[i];
        if (def->type == RB_JOINT_HINGE_POINTS && i == 1) {
            // A second point of the axis, 1 m away: its errors in m equal angles in rad.
            part.anchorA = rbAdd(part.anchorA, part.axisA);
            part.anchorB = rbAdd(part.anchorB, part.axisB);
        }
        status = addPart(maker, model, &part);
    }
    return status;
}

// One part of a custom combination.
static rbStatus addFreePart(const Maker* maker, rbJointModel* model, const rbJointPart* source)
{
    rbJointPart part = *source;
    if ((int)part.type < 0 || part.type >= RB_BASIC_JOINT_COUNT) {
        return rbError_Set(maker->error, RB_STATUS_INVALID,
                           "%s: part %d is of type %d; parts are of one of the %d basic types, "
                           "from ball to double-rotation",
                           maker->title, model->partCount + 1, (int)part.type,
                           RB_BASIC_JOINT_COUNT);
    }
    const rbPartOps* ops = rbPartOps_Get(part.type);
    rbStatus status = validateVectors(maker, &part, " of a part");
    if (status == RB_STATUS_OK) {
        status = resolveAxes(maker, ops->axisUse, &part);
    }
    if (status == RB_STATUS_OK) {
        status = addPart(maker, model, &part);
    }
    return status;
}

static rbStatus addFreeParts(const Maker* maker, rbJointModel* model)
{
    const rbJointDef* def = maker->def;
    if (def->partCount < 1 || def->partCount > RB_JOINT_PARTS_MAX || def->parts == NULL) {
        return rbError_Set(maker->error, RB_STATUS_INVALID,
                           "%s: it has %d parts; give 1 to %d that take away at most 6 freedoms",
                           maker->title, def->parts == NULL ? 0 : def->partCount,
                           RB_JOINT_PARTS_MAX);
    }
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < def->partCount && status == RB_STATUS_OK; ++i) {
        status = addFreePart(maker, model, &def->parts[i]);
    }
    return status;
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

// --------------------------------------------------------- freedoms, motors, prescribed velocities

// A number and its accepted range.
typedef struct Number {
    const char* what;
    double value;
    double least;
    bool isLeastIn; // the least value itself is accepted
    bool isInfiniteAllowed;
} Number;

static rbStatus validateNumber(const Number* number, const char* title, rbError* error)
{
    double value = number->value;
    bool isHigh = number->isLeastIn ? value >= number->least : value > number->least;
    bool isBounded = isfinite(value) || (number->isInfiniteAllowed && value > 0.0);
    if (isHigh && isBounded) {
        return RB_STATUS_OK;
    }
    if (number->least == -INFINITY) {
        return rbError_Set(error, RB_STATUS_INVALID, "%s: %s is %g; give a finite number", title,
                           number->what, value);
    }
    return rbError_Set(error, RB_STATUS_INVALID, "%s: %s is %g; give a%s number %s %g%s", title,
                       number->what, value, number->isInfiniteAllowed ? "" : " finite",
                       number->isLeastIn ? "of at least" : "above", number->least,
                       number->isInfiniteAllowed ? ", or infinity for no limit" : "");
}

static rbStatus validateNumbers(const Number* numbers, int count, const char* title, rbError* error)
{
    RB_ASSERT(count > 0);
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        status = validateNumber(&numbers[i], title, error);
    }
    return status;
}

static rbStatus validateSchedule(const rbMotorDef* motor, const char* title, rbError* error)
{
    if (motor->scheduleCount < 0 || motor->scheduleCount > RB_SET_POINTS_MAX ||
        (motor->scheduleCount > 0 && motor->schedule == NULL)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "%s: its motor has %d set points; give 0 to %d with an array", title,
                           motor->scheduleCount, RB_SET_POINTS_MAX);
    }
    for (int i = 0; i < motor->scheduleCount; ++i) {
        const rbSetPoint* point = &motor->schedule[i];
        if (!isfinite(point->time) || !isfinite(point->value)) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "%s: set point %d of its motor is %g at %g s; give finite numbers",
                               title, i + 1, point->value, point->time);
        }
        if (i > 0 && point->time <= point[-1].time) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "%s: set point %d of its motor is at %g s, not after %g s; give set "
                               "points in rising order of time",
                               title, i + 1, point->time, point[-1].time);
        }
    }
    return RB_STATUS_OK;
}

static rbStatus validateMotor(const rbMotorDef* motor, const char* title, rbError* error)
{
    if (motor->type == RB_MOTOR_NONE) {
        return RB_STATUS_OK;
    }
    if ((int)motor->type < 0 || motor->type >= RB_MOTOR_COUNT) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "%s: motor type %d does not exist; see rbMotorType", title,
                           (int)motor->type);
    }
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
    rbStatus status = validateNumbers(numbers, count, title, error);
    return status == RB_STATUS_OK ? validateSchedule(motor, title, error) : status;
}

static bool isDriven(const rbFreedomDef* freedom)
{
    return freedom->stiffness != 0.0 || freedom->damping != 0.0 || freedom->friction != 0.0 ||
           freedom->motor.type != RB_MOTOR_NONE;
}

static rbStatus validateFreedom(const rbFreedomDef* freedom, const char* title, rbError* error)
{
    const Number numbers[] = {
        {"stiffness", freedom->stiffness, 0.0, true, false},
        {"rest", freedom->rest, -INFINITY, false, false},
        {"damping", freedom->damping, 0.0, true, false},
        {"friction", freedom->friction, 0.0, true, false},
    };
    rbStatus status = validateNumbers(numbers, 4, title, error);
    return status == RB_STATUS_OK ? validateMotor(&freedom->motor, title, error) : status;
}

static rbStatus validateVelocity(const rbJointDef* def, const char* title, rbError* error)
{
    const rbVec3 v = def->linearVelocity;
    const rbVec3 w = def->angularVelocity;
    if (!rbIsFinite3(v) || !rbIsFinite3(w)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "%s: its velocities are [%g, %g, %g] and [%g, %g, %g]; give finite numbers", title, v.x,
            v.y, v.z, w.x, w.y, w.z);
    }
    const Number forceMax = {"forceMax", def->forceMax, 0.0, false, true};
    return validateNumber(&forceMax, title, error);
}

static rbStatus validateDrives(const rbJointDef* def, const char* title, int freedomCount,
                               rbError* error)
{
    RB_ASSERT(title != NULL);
    RB_ASSERT(freedomCount >= 0 && freedomCount <= RB_JOINT_FREEDOMS_MAX);
    rbStatus status = def->isVelocityOnly ? validateVelocity(def, title, error) : RB_STATUS_OK;
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX && status == RB_STATUS_OK; ++i) {
        if (i < freedomCount) {
            status = validateFreedom(&def->freedoms[i], title, error);
        } else if (isDriven(&def->freedoms[i])) {
            status = rbError_Set(error, RB_STATUS_INVALID,
                                 "%s: something acts along freedom %d, but this type has %d; use a "
                                 "hinge, prismatic, cylindrical or universal joint",
                                 title, i + 1, freedomCount);
        }
    }
    return status;
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
    Maker maker = {.def = def, .sideA = sideA, .sideB = sideB, .error = error};
    writeTitle(&maker);
    if ((int)def->type < 0 || (int)def->type >= rbJointType_GetCount()) {
        return rbError_Set(error, RB_STATUS_INVALID, "%s: type %d does not exist; see rbJointType",
                           maker.title, (int)def->type);
    }
    maker.poseA = findPose(sideA);
    maker.poseB = findPose(sideB);
    rbJointPart whole = {def->type, def->anchorA, def->anchorB, def->axisA, def->axisB, 0.0};
    rbStatus status = validateVectors(&maker, &whole, "");
    if (status == RB_STATUS_OK) {
        status = resolveOrientation(&maker);
    }
    if (status == RB_STATUS_OK) {
        status =
            def->type == RB_JOINT_PARTS ? addFreeParts(&maker, model) : addStack(&maker, model);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbJointModel_AddFreedoms(model, maker.relative);
    return validateDrives(def, maker.title, model->freedomCount, error);
}

void rbJointModel_Rows(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                       rbRow* rows)
{
    const rbJointModel* model = data;
    RB_ASSERT(model->partCount > 0);
    for (int i = 0; i < model->partCount; ++i) {
        const rbPartOps* ops = rbPartOps_Get(model->parts[i].type);
        ops->rows(&model->parts[i], poseA, poseB, rows);
        rows += ops->rowCount;
    }
}

void rbJointModel_Errors(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                         double* errors)
{
    const rbJointModel* model = data;
    RB_ASSERT(model->partCount > 0);
    for (int i = 0; i < model->partCount; ++i) {
        const rbPartOps* ops = rbPartOps_Get(model->parts[i].type);
        ops->errors(&model->parts[i], poseA, poseB, errors);
        errors += ops->rowCount;
    }
}

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
    *pointA = rbPartOps_Get(part->type)->foot(part, poseA, *pointB);
    *axis = RB_VEC3_ZERO;
    for (int i = model->partCount - 1; i >= 0; --i) {
        if (rbPartOps_Get(model->parts[i].type)->axisUse != RB_AXIS_NONE) {
            *axis = rbMulMV(poseA->rotation, model->parts[i].axisA);
        }
    }
}
