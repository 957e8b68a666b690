// What the engines of a world have in common: validating, starting, advancing, and changes of
// parameters that they may refuse.
#include "world/world_engine.h"

#include "world/world_joint.h"
#include "world/world_settings.h"

#include <stdio.h>

static const rbEngineRow flightRow = {.name = "flight", .traits = {.isFlightOnly = true}};

static const rbEngineRow* const engineTable[RB_ENGINE_COUNT] = {
    [RB_ENGINE_FLIGHT] = &flightRow,
    [RB_ENGINE_EVENT] = &rbEventEngineRow,
    [RB_ENGINE_STEP] = &rbStepEngineRow,
};

RB_DEFINE_WORDS(rbEngineType, "engine", RB_ENGINE_COUNT, engineTable[index]->name)

rbEngineTraits rbEngineType_GetTraits(rbEngineType type)
{
    return (unsigned)type < RB_ENGINE_COUNT ? engineTable[type]->traits : (rbEngineTraits){0};
}

const rbEngineRow* rbWorld_GetEngineRow(const rbWorld* world)
{
    RB_ASSERT((unsigned)world->def.engine < RB_ENGINE_COUNT);
    return engineTable[world->def.engine];
}

void rbWorld_FreeEngine(rbWorld* world)
{
    const rbEngineRow* row = rbWorld_GetEngineRow(world);
    if (row->destroy != NULL) {
        row->destroy(world);
    }
    rbArray_Free(world->touched);
}

void rbWorld_ResetEngine(rbWorld* world)
{
    world->isEngineReady = false;
    world->touched.count = 0;
    const rbEngineRow* row = rbWorld_GetEngineRow(world);
    if (world->engine != NULL && row->reset != NULL) {
        row->reset(world);
    }
}

void rbWorld_NoteChange(rbWorld* world)
{
    const rbEngineRow* row = rbWorld_GetEngineRow(world);
    if (world->isEngineReady && row->leave != NULL) {
        row->leave(world);
    }
    world->isEngineReady = false;
    world->motionCount += 1;
}

void rbWorld_NoteFlight(rbWorld* world, int index)
{
    world->motionCount += 1;
    if (world->isEngineReady) {
        rbArray_Push(world->touched, index);
    }
}

void rbWorld_NoteJoint(rbWorld* world, int index)
{
    if (world->isEngineReady) {
        rbArray_Push(world->touched, -1 - index);
    }
}

bool rbWorld_IsOwned(const rbWorld* world, int index)
{
    return index < world->owned.count && world->owned.data[index] != 0;
}

const char* rbWorld_LabelBody(const rbWorld* world, int index, char text[RB_NAME_CAPACITY])
{
    return index < 0 ? "world" : rbChooseLabel(world->bodies.data[index].name, "body", index, text);
}

rbStatus rbWorld_NameOverlap(const rbWorld* world, const rbStartOverlap* overlap,
                             const char* section, rbError* error)
{
    RB_ASSERT(overlap->count > 0);
    char others[80] = "";
    if (overlap->count > 1) {
        (void)snprintf(others, sizeof others, "; at least %d more pair%s", overlap->count - 1,
                       overlap->count == 2 ? " overlaps" : "s overlap");
    }
    return rbError_Set(
        error, RB_STATUS_INVALID,
        "bodies \"%s\" and \"%s\" overlap by %.6g m at the start%s; move them apart, or let them "
        "be separated (in a scene \"%s\": {\"overlap\": \"separate\"})%s",
        RB_LABEL_BODY(world, overlap->a), RB_LABEL_BODY(world, overlap->b), overlap->depth, others,
        section,
        world->def.engine == RB_ENGINE_STEP
            ? ", or let bodies pass through each other (\"contact\": {\"enabled\": false})"
            : "");
}

// Joints that the engine of a world does not support are rejected, not ignored.
static rbStatus validateLinks(const rbWorld* world, const rbEngineRow* row, rbError* error)
{
    if (row->traits.holdsJoints || world->jointCount + world->springCount == 0) {
        return RB_STATUS_OK;
    }
    bool isJoint = world->jointCount > 0;
    int first = 0;
    while (isJoint ? world->joints.data[first] == NULL : world->springs.data[first] == NULL) {
        first += 1;
    }
    return rbError_Set(
        error, RB_STATUS_UNSUPPORTED,
        "%s \"%s\": the engine \"%s\" has no joints or springs; use the engine \"step\"",
        isJoint ? "joint" : "spring",
        isJoint ? RB_LABEL_JOINT(world, first) : RB_LABEL_SPRING(world, first), row->name);
}

// rbWorld_Prepare between BeginMove and EndMove.
static rbStatus start(rbWorld* world, rbError* error)
{
    const rbEngineRow* row = rbWorld_GetEngineRow(world);
    rbError inner = {0};
    rbStatus status = validateLinks(world, row, &inner);
    if (world->isLost) {
        status = rbError_Set(&inner, RB_STATUS_MEMORY,
                             "the state of the world was lost when memory was exhausted; restore a "
                             "snapshot, or give worlds their own allocator, which keeps the state");
    }
    if (status == RB_STATUS_OK && row->start == NULL) {
        status = rbWorld_ListSensors(world, &inner); // engines that start do it then
    }
    if (status == RB_STATUS_OK && (row->start == NULL || world->isEngineReady)) {
        return RB_STATUS_OK;
    }
    if (status == RB_STATUS_OK) {
        world->motionCount += 1; // bodies may be moved to close joints, or separated
        status = row->start(world, &inner);
    }
    world->engineError = inner;
    if (error != NULL && status != RB_STATUS_OK) {
        *error = inner;
    }
    return status;
}

rbStatus rbWorld_Prepare(rbWorld* world, rbError* error)
{
    RB_ENTER(world);
    RB_USE_TASKS(NULL); // of this thread until now: back at the end, however it ends
    RB_GUARD(guard, NULL)
    {
        return rbWorld_Recover(world, &guard, error);
    }
    (void)rbUseTasks(rbWorld_ChooseTasks(world));
    rbWorld_BeginMove(world);
    rbStatus status = start(world, error);
    rbWorld_EndMove(world);
    return status;
}

rbStatus rbWorld_AdvanceEngine(rbWorld* world, double time, double* reached, rbBodyId* failedBody)
{
    const rbEngineRow* row = rbWorld_GetEngineRow(world);
    *reached = world->time;
    RB_TRY(start(world, NULL));
    world->engineError = (rbError){0};
    if (row->advance == NULL) {
        *reached = time;
        return RB_STATUS_OK;
    }
    return row->advance(world, time, reached, failedBody);
}

static bool askFilter(void* context, int a, int b)
{
    const rbWorld* world = context;
    return world->contactFilter(world, rbWorld_BodyIdOf(world, a), rbWorld_BodyIdOf(world, b),
                                world->contactFilterContext);
}

rbPairFilterFn* rbWorld_GetPairFilter(const rbWorld* world)
{
    return world->contactFilter != NULL ? askFilter : NULL;
}

void rbWorld_SetContactFilter(rbWorld* world, rbContactFilterFn* filter, void* context)
{
    world->contactFilter = filter;
    world->contactFilterContext = context;
    rbWorld_RenewContactFilter(world);
}

void rbWorld_RenewContactFilter(rbWorld* world)
{
    RB_ENTER(world);
    world->isFilterOther = true;
    rbWorld_NoteChange(world);
}

bool rbBody_IsResting(const rbWorld* world, rbBodyId bodyId)
{
    int index = rbWorld_BodyIndex(world, bodyId);
    const rbEngineRow* row = rbWorld_GetEngineRow(world);
    return world->engine != NULL && row->isResting != NULL && row->isResting(world, index);
}

void rbWorld_EnableJournal(rbWorld* world, bool isOn)
{
    world->def.event.isJournalOff = !isOn;
}

rbEngineAccounts rbWorld_GetAccounts(const rbWorld* world)
{
    rbEngineAccounts accounts = {.step = world->stepWork, .assemble = world->assembleWork};
    const rbEngineRow* row = rbWorld_GetEngineRow(world);
    if (world->engine != NULL && row->addWork != NULL) {
        row->addWork(world, &accounts);
    }
    return accounts;
}

#define SET_WORK(name) world->stepWork.name = accounts->step.name - counted.name;

void rbWorld_SetAccounts(rbWorld* world, const rbEngineAccounts* accounts)
{
    world->stepWork = (rbStepWork){0};
    rbStepWork counted = rbWorld_GetAccounts(world).step; // by the engine
    RB_STEP_WORKS(SET_WORK)
    world->assembleWork = accounts->assemble;
}

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
    rbStatus status = trial->bytes != NULL ? rbWorld_Prepare(world, error) : RB_STATUS_OK;
    if (status != RB_STATUS_OK) {
        rbWorld_UndoTrial(world, trial);
    }
    rbFree(trial->bytes, trial->size);
    trial->bytes = NULL;
    return status;
}

// ---------------------------------------------------------------------------- step settings

rbStatus rbWorld_SetSettings(rbWorld* world, const rbStepSettings* step,
                             const rbContactSettings* contact, rbError* error)
{
    RB_ENTER(world);
    rbWorldDef def = world->def;
    def.step = step != NULL ? *step : def.step;
    def.contact = contact != NULL ? *contact : def.contact;
    RB_TRY(rbCheckWorldDef(&def, error));
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
