#include "event_worlds.h"

#include "base/math/elementary.h"
#include "lab/math/axis_angle.h"

#include <math.h>

rbWorldDef rbEventWorldDef(double gravity)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_EVENT;
    def.gravity = rbMakeVec3(0.0, 0.0, -gravity);
    return def;
}

rbWorld* rbMakeEventWorld(const rbWorldDef* def)
{
    rbError error = {0};
    rbWorld* world = rbCreateWorld(def, &error);
    RB_ASSERT(world != NULL);
    return world;
}

rbBodyId rbAddPlanned(rbWorld* world, const rbBodyPlan* plan)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    rbQuat q = plan->orientation;
    bool isTurned = q.w != 0.0 || q.x != 0.0 || q.y != 0.0 || q.z != 0.0;
    def.name = plan->name;
    def.type = plan->isStatic ? RB_BODY_STATIC : RB_BODY_DYNAMIC;
    def.position = plan->position;
    def.orientation = isTurned ? q : RB_QUAT_IDENTITY;
    def.linearVelocity = plan->velocity;
    def.angularVelocity = plan->spin;
    rbBodyId body = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, plan->geometry);
    shape.material.restitution = plan->restitution;
    shape.material.friction = plan->friction;
    (void)rbCreateShape(world, body, &shape, &error);
    RB_ASSERT(error.status == RB_STATUS_OK);
    return body;
}

rbBodyId rbAddSlope(rbWorld* world, double angle, double restitution, double friction)
{
    rbVec3 normal = {rbSin(angle), 0.0, rbCos(angle)};
    rbBodyPlan plan = {.name = "slope",
                       .geometry = rbCreatePlane(normal, 0.0, NULL),
                       .isStatic = true,
                       .restitution = restitution,
                       .friction = friction};
    return rbAddPlanned(world, &plan);
}

rbBodyId rbAddBall(rbWorld* world, const char* name, double radius, rbVec3 position,
                   rbVec3 velocity)
{
    rbBodyPlan plan = {.name = name,
                       .geometry = rbCreateSphere(radius, NULL),
                       .position = position,
                       .velocity = velocity,
                       .restitution = 1.0};
    return rbAddPlanned(world, &plan);
}

rbQuat rbGetSlopeFrame(double angle)
{
    return rbQuat_FromAxisAngle(rbMakeVec3(0.0, 1.0, 0.0), angle);
}

rbEventSum rbSumEvents(const rbWorld* world, rbEventKind kind)
{
    rbEventSum sum = {.firstTime = NAN, .lastTime = NAN};
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    for (int i = 0; i < count; ++i) {
        if (events[i].kind != kind) {
            continue;
        }
        sum.firstTime = sum.count == 0 ? events[i].time : sum.firstTime;
        sum.count += 1;
        sum.impulse = rbAdd(sum.impulse, events[i].impulse);
        sum.energyGain += fmax(0.0, events[i].energyChange);
        sum.raiseMax = fmax(sum.raiseMax, events[i].energyChange);
        sum.lastTime = events[i].time;
        sum.approachSpeed = events[i].approachSpeed;
    }
    return sum;
}
