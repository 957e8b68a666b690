// Limits of joints: which positions they bound, and whether a definition makes sense (B-82).
#include "base/math/quaternion.h"
#include "dynamics/joints/joint_model.h"

#include <math.h>
#include <stdio.h>

// An axis whose squared length is below this has no direction.
#define ZERO_AXIS_SQUARED 1e-200

typedef struct Maker {
    const rbJointDef* def;
    const rbJointSide* sideA;
    const rbJointSide* sideB;
    char title[128];
    rbError* error;
} Maker;

static bool isUsed(const rbLimitDef* limit)
{
    // NaN must be reported.
    return !(limit->lower == -INFINITY && limit->upper == INFINITY);
}

static const char* unitOf(rbFreedomKind kind)
{
    return kind == RB_FREEDOM_TRAVEL ? "m" : "rad";
}

static rbStatus validateLimit(const Maker* maker, int index, rbFreedomKind kind)
{
    const rbLimitDef* limit = &maker->def->limits[index];
    const char* unit = unitOf(kind);
    if (isnan(limit->lower) || isnan(limit->upper) || limit->lower == INFINITY ||
        limit->upper == -INFINITY) {
        return rbError_Set(maker->error, RB_STATUS_INVALID,
                           "%s: limits %d are %g to %g %s; give finite numbers, or -infinity and "
                           "infinity for none",
                           maker->title, index + 1, limit->lower, limit->upper, unit);
    }
    if (limit->lower > limit->upper) {
        return rbError_Set(maker->error, RB_STATUS_INVALID,
                           "%s: the lower limit %g %s is above the upper one, %g %s; exchange them",
                           maker->title, limit->lower, unit, limit->upper, unit);
    }
    if (!(limit->restitution >= 0.0 && limit->restitution <= 1.0)) {
        return rbError_Set(maker->error, RB_STATUS_INVALID,
                           "%s: the restitution of limits %d is %g; give 0 to 1", maker->title,
                           index + 1, limit->restitution);
    }
    bool isLow = kind == RB_FREEDOM_SWING && limit->upper <= 0.0;
    bool isHigh = kind == RB_FREEDOM_SWING && limit->lower >= RB_PI;
    if (isLow || isHigh) {
        return rbError_Set(
            maker->error, RB_STATUS_INVALID,
            "%s: the angle of its cone is bounded by %g and %g rad; it is between 0 and pi",
            maker->title, limit->lower, limit->upper);
    }
    return RB_STATUS_OK;
}

static bool isZero(rbVec3 v)
{
    return rbLengthSquared(v) < ZERO_AXIS_SQUARED;
}

// Swing and twist of a ball joint: axes in the frames of the bodies; B's defaults to A's at the
// current poses.
static rbStatus makeBall(const Maker* maker, rbLimitModel limits[2])
{
    const rbJointDef* def = maker->def;
    if (!rbIsFinite3(def->axisA) || !rbIsFinite3(def->axisB) || isZero(def->axisA)) {
        return rbError_Set(maker->error, RB_STATUS_INVALID,
                           "%s: limits of a ball joint need axisA, the axis of the cone in the "
                           "frame of \"%.60s\"; it is [%g, %g, %g]",
                           maker->title, maker->sideA->name, def->axisA.x, def->axisA.y,
                           def->axisA.z);
    }
    const rbTransform frameA = maker->sideA->transform;
    const rbTransform frameB = maker->sideB->transform;
    rbVec3 axisA = rbNormalize(def->axisA);
    rbVec3 axisB = isZero(def->axisB) ? rbInvRotate(frameB.q, rbRotate(frameA.q, axisA))
                                      : rbNormalize(def->axisB);
    rbQuat principalA = maker->sideA->principal.q;
    rbQuat principalB = maker->sideB->principal.q;
    rbQuat q = def->orientation;
    if (q.w == 0.0 && q.x == 0.0 && q.y == 0.0 && q.z == 0.0) {
        q = rbMulQuat(rbConjugate(frameA.q), frameB.q);
    }
    q = rbNormalizeQuat(rbMulQuat(rbMulQuat(rbConjugate(principalA), q), principalB));
    rbFreedomModel swing = {.kind = RB_FREEDOM_SWING,
                            .axis = rbNormalize(rbInvRotate(principalA, axisA)),
                            .referenceB = rbNormalize(rbInvRotate(principalB, axisB)),
                            .neutral = RB_QUAT_IDENTITY};
    // Like the angle of a hinge: zero where B has the stated orientation, aligned with the axis by
    // the smallest rotation.
    rbQuat turn = rbQuat_Between(rbInvRotate(q, swing.axis), swing.referenceB);
    rbFreedomModel twist = swing;
    twist.kind = RB_FREEDOM_TWIST;
    twist.neutral = rbNormalizeQuat(rbMulQuat(q, rbConjugate(turn)));
    limits[0].freedom = swing;
    limits[1].freedom = twist;
    return RB_STATUS_OK;
}

// The number of positions of a joint that can have limits.
static int countPlaces(const rbJointDef* def, const rbJointModel* model)
{
    return def->type == RB_JOINT_BALL ? 2 : model->freedomCount;
}

rbStatus rbMakeLimits(rbJointLimits* limits, const rbJointDef* def, const rbJointModel* model,
                      const rbJointSide* sideA, const rbJointSide* sideB, rbError* error)
{
    RB_ASSERT(limits != NULL && def != NULL && model != NULL);
    Maker maker = {.def = def, .sideA = sideA, .sideB = sideB, .error = error};
    int places = countPlaces(def, model);
    bool isAnyUsed = false;
    limits->count = 0;
    (void)snprintf(maker.title, sizeof maker.title, "joint \"%.60s\"",
                   def->name != NULL ? def->name : "");
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX; ++i) {
        isAnyUsed = isAnyUsed || isUsed(&def->limits[i]);
        if (i >= places && isUsed(&def->limits[i])) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "%s: limits %d are given, but a joint of type %s has %d; a ball "
                               "joint, hinge, prismatic, cylindrical or universal joint has some",
                               maker.title, i + 1, rbJointType_Name(def->type), places);
        }
    }
    if (!isAnyUsed) {
        return RB_STATUS_OK;
    }
    if (def->isVelocityOnly) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "%s: it holds a velocity only and cannot have limits; let it hold positions",
            maker.title);
    }
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
