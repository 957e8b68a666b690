// Settings of the step engine.
#include "io/scene/scene_joints.h"

#include <string.h>

#define DEFINE_WORDS(function, type, nameOf)                    \
    static const char* function(int index, const void* context) \
    {                                                           \
        (void)context;                                          \
        return nameOf((type)index);                             \
    }
DEFINE_WORDS(getSchemeName, rbStepScheme, rbStepScheme_Name)
DEFINE_WORDS(getMethodName, rbStepMethod, rbStepMethod_Name)
DEFINE_WORDS(getSolverName, rbSolverType, rbSolverType_Name)

rbStatus rbNeedStepEngine(const rbScene* scene, rbReader* reader, const json_t* array,
                          const char* what)
{
    if (json_array_size(array) == 0 || scene->info.engineTraits.holdsJoints) {
        return RB_STATUS_OK;
    }
    return rbReader_Fail(reader, RB_STATUS_INVALID,
                         "the engine \"%s\" knows no %s; set \"engine\": \"step\" or remove them",
                         scene->info.engine, what);
}

static rbStatus readWords(rbReader* reader, const rbStepFields* fields, rbStepSettings* settings)
{
    static const rbWordList schemes = {"scheme", getSchemeName, RB_SCHEME_COUNT};
    const rbWordList methods = {"method", getMethodName, rbStepMethod_GetCount()};
    const rbWordList solvers = {"solver", getSolverName, rbSolverType_GetCount()};
    int scheme = (int)settings->scheme;
    int method = (int)settings->method;
    int solver = (int)settings->solver;
    rbStatus status = RB_STATUS_OK;
    if (fields->scheme != NULL) {
        status = rbReadWord(reader, "scheme", fields->scheme, &schemes, &scheme);
    }
    if (status == RB_STATUS_OK && fields->method != NULL) {
        status = rbReadWord(reader, "method", fields->method, &methods, &method);
    }
    if (status == RB_STATUS_OK && fields->solver != NULL) {
        status = rbReadWord(reader, "solver", fields->solver, &solvers, &solver);
    }
    settings->scheme = (rbStepScheme)scheme;
    settings->method = (rbStepMethod)method;
    settings->solver = (rbSolverType)solver;
    return status;
}

static rbStatus judgeStep(rbReader* reader, const rbStepFields* fields)
{
    if (fields->order % 2 != 0) {
        rbReader_Push(reader, "order");
        return rbReader_Fail(reader, RB_STATUS_INVALID, "order is %d; expected 2, 4, 6, 8 or 10",
                             (int)fields->order);
    }
    if (fields->accuracy > 0.0 && fields->order < 4) {
        rbReader_Push(reader, "accuracy");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "accuracy is %.10g m with order %d; choosing the step needs order 4 "
                             "or more, set \"order\": 4",
                             fields->accuracy, (int)fields->order);
    }
    return RB_STATUS_OK;
}

rbStatus rbReadStep(rbScene* scene, rbReader* reader, const json_t* object)
{
    RB_ASSERT(scene != NULL);
    if (object == NULL) {
        return RB_STATUS_OK;
    }
    rbStepSettings* settings = &scene->info.step;
    rbStatus status = rbReadStepSettings(reader, object, settings);
    // An accuracy without a horizon is meant for the whole run.
    if (status == RB_STATUS_OK && settings->accuracy > 0.0 &&
        json_object_get(object, "horizon") == NULL) {
        settings->horizon = scene->info.duration;
    }
    return status;
}

rbStatus rbReadStepSettings(rbReader* reader, const json_t* object, rbStepSettings* settings)
{
    rbStepFields fields = {.step = settings->step,
                           .order = settings->order,
                           .tolerance = settings->tolerance,
                           .velocityTolerance = settings->velocityTolerance,
                           .accuracy = settings->accuracy,
                           .horizon = settings->horizon,
                           .iterationsMax = settings->iterationsMax,
                           .halvingsMax = settings->halvingsMax,
                           .impulseMax = settings->impulseMax,
                           .assembleTolerance = settings->assembleTolerance,
                           .isAssembleAllowed = settings->isAssembleAllowed,
                           .hasVelocityCorrection = !settings->isVelocityFree};
    rbStatus status = rbReadFields(reader, object, &rbStepKeys, &fields);
    if (status == RB_STATUS_OK) {
        status = judgeStep(reader, &fields);
    }
    if (status == RB_STATUS_OK) {
        status = readWords(reader, &fields, settings);
    }
    if (status == RB_STATUS_OK) {
        status = rbReadSceneRows(reader, object, &rbStepKeys, settings);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    settings->step = fields.step;
    settings->order = (int)fields.order;
    settings->tolerance = fields.tolerance;
    settings->velocityTolerance = fields.velocityTolerance;
    settings->accuracy = fields.accuracy;
    settings->horizon = fields.horizon;
    settings->iterationsMax = (int)fields.iterationsMax;
    settings->halvingsMax = (int)fields.halvingsMax;
    settings->impulseMax = fields.impulseMax;
    settings->assembleTolerance = fields.assembleTolerance;
    settings->isAssembleAllowed = fields.isAssembleAllowed;
    settings->isVelocityFree = !fields.hasVelocityCorrection;
    return RB_STATUS_OK;
}
