// Worlds that the host advances itself.
#include "base/core/memory.h"
#include "browser/engine_state.h"
#include "session/message.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct rbEngineWorld {
    rbScene* scene;
    rbWorld* world;
    rbMessage text;
    RB_ARRAY(double) values;
    RB_ARRAY(rbBodyId) ids;
    char hash[17];
};

rbEngineWorld* rbEngine_OpenWorld(const char* text, size_t size, const char* name)
{
    rbScene* scene = rbEngine_ReadScene(text, size, name);
    if (scene == NULL) {
        return NULL;
    }
    rbError error = {0};
    rbWorld* world = rbScene_CreateWorld(scene, &error);
    if (world != NULL) {
        rbWorld_EnableJournal(world, false);
    }
    if (world == NULL || rbScene_PrepareWorld(scene, world, &error) != RB_STATUS_OK) {
        rbEngine_SetError(&error);
        rbDestroyWorld(world);
        rbDestroyScene(scene);
        return NULL;
    }
    rbEngineWorld* result = rbAllocZero(1, sizeof *result);
    result->scene = scene;
    result->world = world;
    return result;
}

void rbEngine_CloseWorld(rbEngineWorld* world)
{
    if (world == NULL) {
        return;
    }
    rbDestroyWorld(world->world);
    rbDestroyScene(world->scene);
    rbMessage_Free(&world->text);
    rbArray_Free(world->values);
    rbArray_Free(world->ids);
    rbFree(world, sizeof *world);
}

static const char* finishText(rbMessage* text)
{
    rbMessage_Text(text, "}");
    rbMessage_Bytes(text, "", 1);
    return (const char*)rbMessage_GetBytes(text);
}

const char* rbEngine_GetInfo(rbEngineWorld* world)
{
    const rbSceneInfo* info = rbScene_GetInfo(world->scene);
    rbMessage* text = &world->text;
    rbMessage_Clear(text, true);
    rbMessage_Text(text, "{");
    rbMessage_PutString(text, "name", info->name);
    rbMessage_PutString(text, "title", info->title);
    rbMessage_PutString(text, "engine", info->engine);
    rbMessage_PutNumber(text, "duration", info->duration);
    rbMessage_PutNumber(text, "outputStep", info->outputStep);
    rbMessage_Key(text, "bodies");
    rbMessage_Text(text, "[");
    int count = rbWorld_GetBodyCount(world->world);
    rbArray_Reserve(world->ids, count);
    (void)rbWorld_GetBodyIds(world->world, world->ids.data, count);
    for (int i = 0; i < count; ++i) {
        rbMessage_Comma(text);
        rbMessage_String(text, rbBody_GetName(world->world, world->ids.data[i]));
    }
    rbMessage_Text(text, "]");
    return finishText(text);
}

int rbEngine_AdvanceTo(rbEngineWorld* world, double time)
{
    rbStepReport report = rbWorld_AdvanceTo(world->world, time);
    rbWorld_ClearEvents(world->world);
    if (report.status != RB_STATUS_OK) {
        rbError error = rbWorld_GetError(world->world);
        if (error.status == RB_STATUS_OK) {
            (void)rbError_Set(&error, report.status, "the world advanced only to t = %.9g s: %s",
                              report.time, rbStatus_Text(report.status));
        }
        rbEngine_SetError(&error);
    }
    return (int)report.status;
}

int rbEngine_Run(rbEngineWorld* world)
{
    const rbSceneInfo* info = rbScene_GetInfo(world->scene);
    int64_t last = (int64_t)ceil(info->duration / info->outputStep * (1.0 - 1e-12));
    int status = RB_STATUS_OK;
    // a missed tolerance is reported and does not end a run
    for (int64_t k = 0; k <= last && status != RB_STATUS_LIMIT && status != RB_STATUS_INVALID;
         ++k) {
        double time = k < last ? rbGetStepTime(k, info->outputStep) : info->duration;
        int now = rbEngine_AdvanceTo(world, time);
        status = now != RB_STATUS_OK ? now : status;
    }
    return status;
}

double rbEngine_GetTime(const rbEngineWorld* world)
{
    return rbWorld_GetTime(world->world);
}

const char* rbEngine_GetHash(rbEngineWorld* world)
{
    (void)snprintf(world->hash, sizeof world->hash, "%016" PRIx64, rbWorld_GetHash(world->world));
    return world->hash;
}

int rbEngine_GetBodyCount(const rbEngineWorld* world)
{
    return rbWorld_GetBodyCount(world->world);
}

int rbEngine_GetFieldWidth(int field)
{
    return field >= 0 && field < RB_FIELD_COUNT ? rbBodyField_Width((rbBodyField)field) : 0;
}

const double* rbEngine_ReadField(rbEngineWorld* world, int field)
{
    int width = rbEngine_GetFieldWidth(field);
    if (width == 0) {
        return NULL;
    }
    // at least one: memory of no size has no address
    rbArray_Reserve(world->values, 1 + width * rbWorld_GetBodyCount(world->world));
    rbWorld_ReadField(world->world, (rbBodyField)field, world->values.data, 0);
    return world->values.data;
}

bool rbEngine_WriteField(rbEngineWorld* world, int field, const double* values)
{
    rbError error = {0};
    rbStatus status = RB_STATUS_INVALID;
    if (rbEngine_GetFieldWidth(field) > 0) {
        status = rbWorld_WriteField(world->world, (rbBodyField)field, values, 0, &error);
    } else {
        (void)rbError_Set(&error, status, "there is no field %d", field);
    }
    if (status != RB_STATUS_OK) {
        rbEngine_SetError(&error);
    }
    return status == RB_STATUS_OK;
}

const char* rbEngine_GetLedger(rbEngineWorld* world)
{
    rbLedger ledger = rbWorld_GetLedger(world->world);
    const struct {
        const char* name;
        double value;
    } numbers[] = {
        {"kineticLinear", ledger.kineticLinear},
        {"kineticAngular", ledger.kineticAngular},
        {"potential", ledger.potential},
        {"springEnergy", ledger.springEnergy},
        {"energy", ledger.energy},
        {"work", ledger.work},
        {"impactWork", ledger.impactWork},
        {"frictionWork", ledger.frictionWork},
        {"microWork", ledger.microWork},
        {"motorWork", ledger.motorWork},
        {"dissipation", ledger.dissipation},
        {"numericalEnergy", ledger.numericalEnergy},
        {"energyScale", ledger.energyScale},
        {"mass", ledger.mass},
    };
    rbMessage* text = &world->text;
    rbMessage_Clear(text, true);
    rbMessage_Text(text, "{");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        rbMessage_PutNumber(text, numbers[i].name, numbers[i].value);
    }
    rbMessage_PutVec3(text, "momentum", ledger.momentum);
    rbMessage_PutVec3(text, "angularMomentum", ledger.angularMomentum);
    return finishText(text);
}
