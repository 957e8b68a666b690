// Settings objects of a scene: world, motion, event, step, contact.
#include "dynamics/engines/event/event_engine.h"
#include "io/scene/scene_joints.h"
#include "world/world_settings.h"

static rbStatus readSettings(rbReader* reader, const json_t* object, const rbObjectKind* kind,
                             void* settings)
{
    if (object == NULL) {
        return RB_STATUS_OK;
    }
    rbStatus status = rbReadFields(reader, object, kind, settings);
    return status == RB_STATUS_OK ? rbReadSceneRows(reader, object, kind, settings) : status;
}

rbStatus rbReadWorld(rbScene* scene, rbReader* reader, const json_t* object)
{
    rbWorldDef def = {.gravity = scene->info.gravity, .periodicBox = scene->info.periodicBox};
    rbStatus status = readSettings(reader, object, &rbWorldKeys, &def);
    scene->info.gravity = def.gravity;
    scene->info.periodicBox = def.periodicBox;
    return status;
}

rbStatus rbReadMotion(rbScene* scene, rbReader* reader, const json_t* object)
{
    return readSettings(reader, object, &rbMotionKeys, &scene->info.motion);
}

rbStatus rbReadEvent(rbScene* scene, rbReader* reader, const json_t* object)
{
    return readSettings(reader, object, &rbEventKeys, &scene->info.event);
}

rbStatus rbReadDetector(rbReader* reader, const char* word, rbDetector* detector)
{
    int index = (int)*detector;
    rbStatus status = rbReadWord(reader, "detector", word, &rbDetectorWords, &index);
    *detector = (rbDetector)index;
    return status;
}

rbStatus rbReadContact(rbScene* scene, rbReader* reader, const json_t* object)
{
    scene->info.hasContactObject = object != NULL;
    return rbReadContactSettings(reader, object, &scene->info.contact);
}

rbStatus rbReadContactSettings(rbReader* reader, const json_t* object, rbContactSettings* settings)
{
    return readSettings(reader, object, &rbContactKeys, settings);
}

rbStatus rbReadStepSettings(rbReader* reader, const json_t* object, rbStepSettings* step,
                            rbContactSettings* contact)
{
    const json_t* accuracy = json_object_get(object, "accuracy");
    if (json_is_number(accuracy)) {
        rbReader_Push(reader, "accuracy");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "found the number %.10g; expected \"game\", \"engineering\" or "
                             "\"exact\"; an error of the motion in m is \"errorMax\" of \"exact\": "
                             "{\"accuracy\": \"exact\", \"errorMax\": %.10g}",
                             json_number_value(accuracy), json_number_value(accuracy));
    }
    // A level sets defaults, and the other keys override them wherever they stand.
    const char* word = json_string_value(accuracy);
    if (word != NULL && rbAccuracy_Find(word) < RB_ACCURACY_COUNT) {
        rbAccuracy_Apply(rbAccuracy_Find(word), step, contact);
    }
    return readSettings(reader, object, &rbStepKeys, step);
}

rbStatus rbReadStep(rbScene* scene, rbReader* reader, const json_t* object)
{
    rbStepSettings* settings = &scene->info.step;
    rbStatus status = rbReadStepSettings(reader, object, settings, &scene->info.contact);
    // An error without a horizon applies to the whole run.
    if (settings->errorMax > 0.0 && json_object_get(object, "horizon") == NULL) {
        settings->horizon = scene->info.duration;
    }
    return status;
}

rbStatus rbNeedStepEngine(const rbScene* scene, rbReader* reader, const json_t* array,
                          const char* what)
{
    if (json_array_size(array) == 0 || scene->info.engineTraits.holdsJoints) {
        return RB_STATUS_OK;
    }
    return rbReader_Fail(reader, RB_STATUS_INVALID,
                         "the engine \"%s\" has no %s; set \"engine\": \"step\" or remove them",
                         scene->info.engine, what);
}
