// The rows of the force table.
#include "dynamics/forces/force_ops.h"

#include <math.h>
#include <string.h>

static rbStatus judgeConstant(const rbForceDef* def, rbError* error)
{
    if (!rbIsFinite3(def->force) || !rbIsFinite3(def->torque)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "constant force: force (%g, %g, %g) N and torque (%g, %g, %g) N m must be "
            "finite",
            def->force.x, def->force.y, def->force.z, def->torque.x, def->torque.y, def->torque.z);
    }
    return RB_STATUS_OK;
}

static void constantLoad(const rbForceDef* def, rbVec3* force, rbVec3* torque)
{
    *force = rbAdd(*force, def->force);
    *torque = rbAdd(*torque, def->torque);
}

static double constantPotential(const rbForceDef* def, double mass, rbVec3 position)
{
    (void)mass;
    return -rbDot(def->force, position);
}

static double constantBound(const rbForceDef* def, double mass)
{
    return rbLength(def->force) / mass;
}

static rbStatus judgeDrag(const rbForceDef* def, rbError* error)
{
    double values[3] = {def->linear, def->quadratic, def->angular};
    for (int i = 0; i < 3; ++i) {
        if (!(values[i] >= 0.0) || !isfinite(values[i])) {
            return rbError_Set(
                error, RB_STATUS_INVALID,
                "drag: the coefficient %g is not accepted; it must be finite and not "
                "negative",
                values[i]);
        }
    }
    return RB_STATUS_OK;
}

static void applyDrag(const rbForceDef* def, const rbForceInput* input, rbLoad* load)
{
    rbVec3 v = input->linearVelocity;
    rbVec3 w = input->angularVelocity;
    rbVec3 force = rbScale(-(def->linear + def->quadratic * rbLength(v)), v);
    rbVec3 torque = rbScale(-def->angular, w);
    load->force = rbAdd(load->force, force);
    load->torque = rbAdd(load->torque, torque);
    load->paid = rbAdd(load->paid, force);
    load->power += rbDot(force, v) + rbDot(torque, w);
}

// Drag slows down, but how hard depends on a speed nobody bounds beforehand.
static double noBound(const rbForceDef* def, double mass)
{
    (void)def;
    (void)mass;
    return INFINITY;
}

static rbStatus judgeCentral(const rbForceDef* def, rbError* error)
{
    if (!rbIsFinite3(def->center) || !isfinite(def->strength)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "central force: its center and its strength %g m^3/s^2 must be finite",
                           def->strength);
    }
    return RB_STATUS_OK;
}

static void applyCentral(const rbForceDef* def, const rbForceInput* input, rbLoad* load)
{
    rbVec3 r = rbSub(input->center, def->center);
    double distance2 = rbLengthSquared(r);
    if (distance2 > 0.0) {
        double factor = -input->mass * def->strength / (distance2 * sqrt(distance2));
        load->force = rbAddScaled(load->force, factor, r);
    }
}

static double centralPotential(const rbForceDef* def, double mass, rbVec3 position)
{
    double distance = rbDistance(position, def->center);
    return distance > 0.0 ? -mass * def->strength / distance : 0.0;
}

static rbStatus judgeUser(const rbForceDef* def, rbError* error)
{
    if (def->callback == NULL) {
        return rbError_Set(error, RB_STATUS_INVALID, "user force: there is no callback");
    }
    if (isnan(def->accelerationMax)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "user force: accelerationMax is NaN; give a bound in m/s^2 or -1 for none");
    }
    return RB_STATUS_OK;
}

static void applyUser(const rbForceDef* def, const rbForceInput* input, rbLoad* load)
{
    rbVec3 force = RB_VEC3_ZERO;
    rbVec3 torque = RB_VEC3_ZERO;
    def->callback(input, &force, &torque, def->context);
    load->force = rbAdd(load->force, force);
    load->torque = rbAdd(load->torque, torque);
    load->paid = rbAdd(load->paid, force);
    load->power += rbDot(force, input->linearVelocity) + rbDot(torque, input->angularVelocity);
}

static double userBound(const rbForceDef* def, double mass)
{
    (void)mass;
    return def->accelerationMax >= 0.0 ? def->accelerationMax : INFINITY;
}

static const rbForceOps forceTable[RB_FORCE_COUNT] = {
    [RB_FORCE_CONSTANT] = {.name = "constant",
                           .judge = judgeConstant,
                           .constant = constantLoad,
                           .potential = constantPotential,
                           .accelerationBound = constantBound},
    [RB_FORCE_DRAG] = {.name = "drag",
                       .judge = judgeDrag,
                       .apply = applyDrag,
                       .accelerationBound = noBound},
    [RB_FORCE_CENTRAL] = {.name = "central",
                          .judge = judgeCentral,
                          .apply = applyCentral,
                          .potential = centralPotential,
                          .accelerationBound = noBound},
    [RB_FORCE_USER] = {.name = "user",
                       .judge = judgeUser,
                       .apply = applyUser,
                       .accelerationBound = userBound},
};
_Static_assert(sizeof forceTable / sizeof forceTable[0] == RB_FORCE_COUNT, "a row a force");

const rbForceOps* rbForceOps_Get(rbForceType type)
{
    RB_ASSERT((unsigned)type < RB_FORCE_COUNT);
    return &forceTable[type];
}

const char* rbForceType_Name(rbForceType type)
{
    return (unsigned)type < RB_FORCE_COUNT ? forceTable[type].name : "unknown";
}

rbForceType rbForceType_Find(const char* name)
{
    for (int i = 0; i < RB_FORCE_COUNT; ++i) {
        if (strcmp(name, forceTable[i].name) == 0) {
            return (rbForceType)i;
        }
    }
    return RB_FORCE_COUNT;
}
