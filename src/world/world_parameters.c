// Parameters of a world that can be changed while it runs: the settings of the step engine, and
// trial changes.
#include "world/world_parameters.h"

#include "world/world_engine.h"
#include "world/world_settings.h"

// ------------------------------------------------------------------------------------- trials

rbWorldTrial rbWorld_BeginTrial(const rbWorld* world)
{
    rbWorldTrial trial = {.engineError = world->engineError};
    if (world->isEngineReady) {
        trial.size = rbWorld_GetSnapshotSize(world);
        trial.bytes = rbAlloc(trial.size);
        rbStatus status = rbWorld_TakeSnapshot(world, trial.bytes, trial.size, NULL);
        RB_ASSERT(status == RB_STATUS_OK);
        (void)status;
    }
    return trial;
}

void rbWorld_UndoTrial(rbWorld* world, rbWorldTrial* trial)
{
    if (trial->bytes != NULL) {
        rbStatus status = rbWorld_RestoreSnapshot(world, trial->bytes, trial->size, NULL);
        RB_ASSERT(status == RB_STATUS_OK);
        (void)status;
        world->engineError = trial->engineError;
        rbFree(trial->bytes, trial->size);
        trial->bytes = NULL;
    }
}

rbStatus rbWorld_EndTrial(rbWorld* world, rbWorldTrial* trial, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    if (trial->bytes != NULL) {
        status = rbWorld_Prepare(world, error);
    }
    if (status != RB_STATUS_OK) {
        rbWorld_UndoTrial(world, trial);
    }
    rbFree(trial->bytes, trial->size);
    trial->bytes = NULL;
    return status;
}

// ---------------------------------------------------------------------------- step settings

rbStepSettings rbWorld_GetStepSettings(const rbWorld* world)
{
    return world->def.step;
}

rbContactSettings rbWorld_GetContactSettings(const rbWorld* world)
{
    return world->def.contact;
}

rbStatus rbWorld_SetSettings(rbWorld* world, const rbStepSettings* step,
                             const rbContactSettings* contact, rbError* error)
{
    RB_USE_ALLOCATOR(world->def.allocator);
    rbWorldDef def = world->def;
    def.step = step != NULL ? *step : def.step;
    def.contact = contact != NULL ? *contact : def.contact;
    rbStatus status = rbCheckWorldDef(&def, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbWorldTrial trial = rbWorld_BeginTrial(world);
    rbWorld_NoteChange(world);
    world->def.step = def.step;
    world->def.contact = def.contact;
    world->areContactsOther = world->areContactsOther || contact != NULL;
    return rbWorld_EndTrial(world, &trial, error);
}

rbStatus rbWorld_SetStepSettings(rbWorld* world, const rbStepSettings* settings, rbError* error)
{
    RB_ASSERT(settings != NULL);
    return rbWorld_SetSettings(world, settings, NULL, error);
}

rbStatus rbWorld_SetContactSettings(rbWorld* world, const rbContactSettings* settings,
                                    rbError* error)
{
    RB_ASSERT(settings != NULL);
    return rbWorld_SetSettings(world, NULL, settings, error);
}
