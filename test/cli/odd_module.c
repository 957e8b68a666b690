// Modules that must be refused, and one with a second row for several tables: each is compiled from
// this file with another definition. See test_program_modules.c.
#include "base/core/float_mode.h"

#include <rattleback/module.h>

#include <stdlib.h>

#if defined(ODD_MODE)
// As the start-up code of a library built with fast-math.
__attribute__((constructor)) static void setMode(void)
{
    (void)rbFloatMode_Set(RB_FLOAT_MODE_BITS);
}
#endif

static void pushUp(const rbForceDef* def, const rbForceInput* input, rbVec3* force, rbVec3* torque)
{
    (void)def;
    (void)torque;
    force->z += input->mass;
#if defined(ODD_CRASH)
    if (def->numbers[0] == 2.0) {
        abort();
    }
#endif
}

static const rbParameter parameters[] = {
    {"strength", offsetof(rbForceDef, numbers), 1, 0.0, 1e3, false, false, "1", "not used", NULL}};

static rbForceRow force = {.name = "lift",
                           .meaning = "Pushes up.",
                           .parameters = parameters,
                           .parameterCount = 1,
                           .addVarying = pushUp};

#if defined(ODD_SECOND)
static double pushNothing(const rbMotorDef* def, const rbMotorInput* input, double memory[2])
{
    (void)def;
    (void)input;
    memory[0] += 1.0;
    return 0.0;
}

static const rbMotorRow motor = {"idle", "Does nothing.", pushNothing};
static const rbJointRow joint = {"glider", "A point on a line.", {"line", NULL}, {"travel", NULL}};

static void measureNothing(const rbProbeInput* input, double values[4])
{
    (void)input;
    values[0] = 7.0;
}

static const rbProbeRow probe = {"seven", "The number 7.", "1", RB_PROBE_OF_WORLD,
                                 1,       measureNothing};
#endif

#if defined(ODD_VERB)
static rbStatus runNothing(const rbVerbInput* input, rbError* error)
{
    (void)input;
    (void)error;
    return RB_STATUS_OK;
}
#elif defined(ODD_OPTION)
static void* openNothing(const rbOutputView* view, const char* path, rbError* error)
{
    (void)view;
    (void)path;
    (void)error;
    return NULL;
}

static rbStatus finishNothing(void* writer, const rbOutputView* view, rbError* error)
{
    (void)writer;
    (void)view;
    (void)error;
    return RB_STATUS_OK;
}

static void abandonNothing(void* writer)
{
    (void)writer;
}
#endif

static rbStatus registerRows(const rbModuleHost* host, rbError* error)
{
#if defined(ODD_TAKEN)
    force.name = "drag";
#elif defined(ODD_JOINT)
    static const rbJointRow stacked = {"stacked", "", {"ball", "hinge"}, {NULL, NULL}};
    return host->registerJoint(&stacked, error);
#elif defined(ODD_VERB)
    static const char* const examples[] = {"rattleback run", NULL};
    static const rbVerbRow verb = {"run", "", "", 0, 0, NULL, 0, examples, runNothing};
    return host->registerVerb(&verb, error);
#elif defined(ODD_OPTION)
    static const rbOutputRow output = {"twice",     "--csv", "FILE",        "taken",
                                       openNothing, NULL,    finishNothing, abandonNothing};
    return host->registerOutput(&output, error);
#elif defined(ODD_FAILS)
    return host->rbError_Set(error, RB_STATUS_IO, "the table of winds is not on this machine");
#elif defined(ODD_SILENT)
    (void)host;
    (void)error;
    return RB_STATUS_IO;
#elif defined(ODD_SECOND)
    rbStatus status = host->registerMotor(&motor, error);
    status = status == RB_STATUS_OK ? host->registerJoint(&joint, error) : status;
    status = status == RB_STATUS_OK ? host->registerProbe(&probe, error) : status;
    if (status != RB_STATUS_OK) {
        return status;
    }
#endif
    return host->registerForce(&force, error);
}

#if !defined(ODD_NO_ENTRY)
rbStatus rbModule_Register(const rbModuleHost* host, rbModuleBuild* build, rbError* error)
{
    if (host != NULL) {
        return registerRows(host, error);
    }
    rbModuleBuild_Fill(build);
#if defined(ODD_ABI)
    build->abi -= 1;
#elif defined(ODD_SIZE)
    build->sizes[RB_MODULE_STRUCT_rbForceRow] += 8;
#elif defined(ODD_COUNT)
    build->structCount += 1;
#endif
    return RB_STATUS_OK;
}
#else
RB_MODULE_EXPORT rbStatus otherName(const rbModuleHost* host, rbError* error);
rbStatus otherName(const rbModuleHost* host, rbError* error)
{
    return registerRows(host, error);
}
#endif
