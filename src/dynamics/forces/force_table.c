// The rows of the force table.
#include "dynamics/forces/force_table.h"

#include "base/core/registered_rows.h"
#include "base/core/words.h"

#include <rattleback/shape.h>

#include <math.h>
#include <stddef.h>

// All numbers of a force are finite and in their ranges.
static rbStatus checkNumbers(const rbForceDef* def, rbError* error)
{
    const rbForceRow* row = rbGetForceRow(def->type);
    for (int i = 0; i < row->parameterCount; ++i) {
        const rbParameter* parameter = &row->parameters[i];
        const double* values = (const void*)((const char*)def + parameter->offset);
        for (int k = 0; k < parameter->count; ++k) {
            RB_INVALID_IF(!(values[k] >= parameter->low && values[k] <= parameter->high), error,
                          "%s force: %s is %g %s; give a finite number from %g to %g", row->name,
                          parameter->key, values[k], parameter->unit, parameter->low,
                          parameter->high);
        }
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

static void addDrag(const rbForceDef* def, const rbForceInput* input, rbVec3* force, rbVec3* torque)
{
    rbVec3 v = input->linearVelocity;
    *force = rbAdd(*force, rbScale(-(def->linear + def->quadratic * rbLength(v)), v));
    *torque = rbAdd(*torque, rbScale(-def->angular, input->angularVelocity));
}

static void addCentral(const rbForceDef* def, const rbForceInput* input, rbVec3* force,
                       rbVec3* torque)
{
    (void)torque;
    rbVec3 r = rbSub(input->center, def->center);
    double distance2 = rbLengthSquared(r);
    if (distance2 > 0.0) {
        double factor = -input->mass * def->strength / (distance2 * sqrt(distance2));
        *force = rbAddScaled(*force, factor, r);
    }
}

static double centralPotential(const rbForceDef* def, double mass, rbVec3 position)
{
    double distance = rbDistance(position, def->center);
    return distance > 0.0 ? -mass * def->strength / distance : 0.0;
}

static rbStatus checkUser(const rbForceDef* def, rbError* error)
{
    RB_INVALID_IF(def->callback == NULL, error, "user force: there is no callback");
    RB_INVALID_IF(isnan(def->accelerationMax), error,
                  "user force: accelerationMax is NaN; give a bound in m/s^2 or -1 for none");
    return RB_STATUS_OK;
}

static void addUser(const rbForceDef* def, const rbForceInput* input, rbVec3* force, rbVec3* torque)
{
    def->callback(input, force, torque, def->context);
}

static double userBound(const rbForceDef* def, double mass)
{
    (void)mass;
    return def->accelerationMax >= 0.0 ? def->accelerationMax : INFINITY;
}

// ---------------------------------------------------------------------------------------- rows

#define LOAD_MAX 1e30 // N, N m, m^3/s^2: keeps every product of the dynamics far from overflow
#define AT(member) .offset = offsetof(rbForceDef, member)
#define VECTOR(max) .count = 3, .low = -(max), .high = (max)
#define FACTOR .count = 1, .low = 0.0, .high = LOAD_MAX

static const rbParameter constantParameters[] = {
    {"force", AT(force), VECTOR(LOAD_MAX), .unit = "N", .meaning = "at the center of mass"},
    {"torque", AT(torque), VECTOR(LOAD_MAX), .unit = "N m", .meaning = "torque"},
};

static const rbParameter dragParameters[] = {
    {"linear", AT(linear), FACTOR, .unit = "N s/m", .meaning = "force for each m/s of speed"},
    {"quadratic", AT(quadratic), FACTOR, .unit = "N s^2/m^2",
     .meaning = "force for each m^2/s^2 of squared speed"},
    {"angular", AT(angular), FACTOR, .unit = "N m s", .meaning = "torque for each rad/s"},
};

static const rbParameter centralParameters[] = {
    {"center", AT(center), VECTOR(RB_LENGTH_MAX), .unit = "m", .meaning = "point of attraction"},
    {"strength", AT(strength), .count = 1, .low = -LOAD_MAX, .high = LOAD_MAX, .isRequired = true,
     .unit = "m^3/s^2", .meaning = "k of m k / r^2; negative repels"},
};

#define PARAMETERS(list) .parameters = (list), .parameterCount = sizeof(list) / sizeof((list)[0])

static const rbForceRow forceTable[RB_FORCE_COUNT] = {
    [RB_FORCE_CONSTANT] = {.name = "constant",
                           .meaning = "The same force and torque all the time, world axes.",
                           PARAMETERS(constantParameters),
                           .check = checkNumbers,
                           .addConstant = constantLoad,
                           .potential = constantPotential,
                           .accelerationBound = constantBound},
    [RB_FORCE_DRAG] = {.name = "drag",
                       .meaning = "Force -(linear + quadratic |v|) v and torque -angular omega.",
                       PARAMETERS(dragParameters),
                       .check = checkNumbers,
                       .addVarying = addDrag},
    [RB_FORCE_CENTRAL] = {.name = "central",
                          .meaning = "Attraction m k / r^2 to a point.",
                          PARAMETERS(centralParameters),
                          .check = checkNumbers,
                          .addVarying = addCentral,
                          .potential = centralPotential},
    [RB_FORCE_USER] = {.name = "user",
                       .meaning = "A function of the program.",
                       .check = checkUser,
                       .addVarying = addUser,
                       .accelerationBound = userBound},
};
_Static_assert(sizeof forceTable / sizeof forceTable[0] == RB_FORCE_COUNT, "a row a force");

// --------------------------------------------------------------------------------------- table

RB_DEFINE_TABLE(rbForceType, const rbForceRow* rbGetForceRow, RB_FORCE_COUNT, &forceTable[index])
RB_DEFINE_WORDS(rbForceType, "force", rbForceType_GetCount(),
                rbGetForceRow((rbForceType)index)->name)

rbStatus rbRegisterForce(const rbForceRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    bool doesNothing = row->addConstant == NULL && row->addVarying == NULL;
    RB_INVALID_IF(
        doesNothing || row->parameterCount < 0 || row->parameterCount > RB_PARAMETERS_MAX, error,
        "the force \"%s\" needs addConstant or addVarying, and 0 to %d parameters, not %d",
        row->name != NULL ? row->name : "", RB_PARAMETERS_MAX, row->parameterCount);
    return RB_REGISTER_ROW(rbForceType, "force", row, error);
}

void rbForceRow_AddLoad(const rbForceRow* row, const rbForceDef* def, const rbForceInput* input,
                        rbLoad* load)
{
    if (row->addVarying == NULL) {
        return;
    }
    rbVec3 force = RB_VEC3_ZERO, torque = RB_VEC3_ZERO;
    row->addVarying(def, input, &force, &torque);
    load->force = rbAdd(load->force, force);
    load->torque = rbAdd(load->torque, torque);
    if (row->potential == NULL) {
        load->paid = rbAdd(load->paid, force);
        load->power += rbDot(force, input->linearVelocity) + rbDot(torque, input->angularVelocity);
    } else {
        load->power += rbDot(torque, input->angularVelocity);
    }
}

double rbForceRow_GetAccelerationBound(const rbForceRow* row, const rbForceDef* def, double mass)
{
    return row->accelerationBound != NULL ? row->accelerationBound(def, mass) : INFINITY;
}
