// What panels show: the parameters that can be set, as they are now, as JSON (message
// "parameters"). Keys are those of scene files; what has no limit is null.
#include "base/core/timer.h"
#include "session/session_state.h"
#include "session/setting_messages.h"
#include "world/world_settings.h"

#include <math.h>

static void putMaterials(rbMessage* text, const rbSession* session)
{
    rbMessage_Key(text, "materials");
    rbMessage_Text(text, "[");
    for (int i = 0; i < rbScene_GetInfo(session->scene)->materialCount; ++i) {
        const char* name = NULL;
        (void)rbScene_GetMaterial(session->scene, i, &name);
        rbMaterial material = rbActor_GetMaterial(session->actor, session->world, i);
        material.stiction = material.stiction < 0.0 ? material.friction : material.stiction;
        rbMessage_Comma(text);
        rbMessage_Text(text, "{");
        rbMessage_PutString(text, "name", name);
        rbMessage_PutValues(text, &rbMaterialSettingList, &material);
        rbMessage_Text(text, "}");
    }
    rbMessage_Text(text, "]");
}

static void putMotor(rbMessage* text, const rbMotorDef* motor, double target)
{
    rbMessage_Key(text, "motor");
    rbMessage_Text(text, "{");
    rbMessage_PutString(text, "type", rbMotorType_Name(motor->type));
    rbMessage_PutNumber(text, "target", target);
    rbMessage_PutNumber(text, "gain", motor->gain);
    rbMessage_PutNumber(text, "integralTime", motor->integralTime);
    rbMessage_PutNumber(text, "derivativeTime", motor->derivativeTime);
    rbMessage_PutNumber(text, "window", motor->window);
    rbMessage_PutNumber(text, "forceMax", motor->forceMax);
    rbMessage_Text(text, "}");
}

static void putFreedom(rbMessage* text, const rbWorld* world, rbJointId jointId, int freedom)
{
    rbFreedomDef def = rbJoint_GetFreedom(world, jointId, freedom);
    rbLimitDef limit = rbJoint_GetLimit(world, jointId, freedom);
    rbMessage_Comma(text);
    rbMessage_Text(text, "{");
    rbMessage_PutString(text, "kind",
                        rbJoint_IsFreedomAngle(world, jointId, freedom) ? "angle" : "travel");
    rbMessage_PutNumber(text, "stiffness", def.stiffness);
    rbMessage_PutNumber(text, "rest", def.rest);
    rbMessage_PutNumber(text, "damping", def.damping);
    rbMessage_PutNumber(text, "friction", def.friction);
    rbMessage_PutNumber(text, "lower", limit.lower);
    rbMessage_PutNumber(text, "upper", limit.upper);
    rbMessage_PutNumber(text, "restitution", limit.restitution);
    if (def.motor.type != RB_MOTOR_NONE) {
        putMotor(text, &def.motor, rbJoint_GetState(world, jointId).motorTargets[freedom]);
    }
    rbMessage_Text(text, "}");
}

// Panels with more joints and springs than this are useless.
#define LINKS_MAX 2000

// Joints that have something to set.
static void putJoints(rbMessage* text, const rbSession* session)
{
    rbMessage_Key(text, "joints");
    rbMessage_Text(text, "[");
    for (int i = 0; i < session->actor->joints.count && i < LINKS_MAX; ++i) {
        rbJointId jointId = session->actor->joints.data[i];
        int count = rbJoint_GetState(session->world, jointId).freedomCount;
        if (count == 0) {
            continue;
        }
        rbMessage_Comma(text);
        rbMessage_Text(text, "{");
        rbMessage_PutNumber(text, "number", i);
        rbMessage_Key(text, "freedoms");
        rbMessage_Text(text, "[");
        for (int f = 0; f < count; ++f) {
            putFreedom(text, session->world, jointId, f);
        }
        rbMessage_Text(text, "]}");
    }
    rbMessage_Text(text, "]");
}

static void putSprings(rbMessage* text, const rbSession* session)
{
    rbMessage_Key(text, "springs");
    rbMessage_Text(text, "[");
    for (int i = 0; i < session->actor->springs.count && i < LINKS_MAX; ++i) {
        rbSpringId springId = session->actor->springs.data[i];
        if (!rbSpring_IsValid(session->world, springId)) {
            continue;
        }
        rbSpringDef def = rbSpring_GetDef(session->world, springId);
        rbMessage_Comma(text);
        rbMessage_Text(text, "{");
        rbMessage_PutNumber(text, "number", i);
        rbMessage_PutNumber(text, "stiffness", def.stiffness);
        rbMessage_PutNumber(text, "damping", def.damping);
        rbMessage_PutNumber(text, "restLength", def.restLength);
        rbMessage_Text(text, "}");
    }
    rbMessage_Text(text, "]");
}

#define FOLLOW_INTERVAL 0.1 // s of wall time

// A number that changes when a set point does.
static double sumTargets(const rbSession* session)
{
    double sum = 0.0;
    for (int i = 0; i < session->actor->joints.count && i < LINKS_MAX; ++i) {
        rbJointState state = rbJoint_GetState(session->world, session->actor->joints.data[i]);
        for (int f = 0; f < state.freedomCount; ++f) {
            sum += (1.0 + i + 0.37 * f) * state.motorTargets[f];
        }
    }
    return sum;
}

void rbSession_FollowSchedules(rbSession* session)
{
    double now = rbGetWallTime();
    bool isGoing = session->isPlaying || session->stepsLeft > 0; // more frames come
    if (isGoing && now < session->targetsTime + FOLLOW_INTERVAL) {
        return;
    }
    session->targetsTime = now;
    if (sumTargets(session) != session->targetSum) {
        rbSession_ShowParameters(session);
    }
}

void rbSession_ShowParameters(rbSession* session)
{
    session->targetSum = sumTargets(session);
    rbMessage text = {0};
    rbMessage_Clear(&text, true);
    rbMessage_Text(&text, "{");
    rbMessage_PutString(&text, "type", "parameters");
    rbMessage_Key(&text, "world");
    rbMessage_Text(&text, "{");
    rbMessage_PutVec3(&text, "gravity", rbWorld_GetGravity(session->world));
    rbMessage_Text(&text, "}");
    if (rbEngineType_GetTraits(rbWorld_GetEngineType(session->world)).isStepped) {
        rbStepSettings step = rbWorld_GetStepSettings(session->world);
        rbContactSettings contact = rbWorld_GetContactSettings(session->world);
        rbMessage_PutSettings(&text, &rbStepSettingList, &step);
        if (contact.isEnabled) {
            rbMessage_PutSettings(&text, &rbContactSettingList, &contact);
        }
    }
    putMaterials(&text, session);
    putJoints(&text, session);
    putSprings(&text, session);
    rbMessage_Text(&text, "}");
    *rbMessage_Extend(&text, 1) = '\0';
    rbStore_SetParameters(session->store, (const char*)rbMessage_GetBytes(&text));
    rbMessage_Free(&text);
}
