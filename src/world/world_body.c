// Bodies of a world: creation, reading and setting of state, impulses.
#include "world/world_joint.h"
#include "world/world_settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void rbInitBodyDef(rbBodyDef* def, uint32_t abi, size_t size)
{
    if (rbStampDef(def, RB_KIND_BODY, sizeof *def, abi, size)) {
        def->type = RB_BODY_DYNAMIC;
        def->orientation.w = 1.0;
    }
}

bool rbWorld_IsBodyAlive(const rbWorld* world, int index)
{
    return (world->bodyIds.generations.data[index] & 1u) == 1u;
}

int rbWorld_BodyIndex(const rbWorld* world, rbBodyId bodyId)
{
    RB_ASSERT(rbBody_IsValid(world, bodyId));
    (void)world;
    return (int)bodyId.index1 - 1;
}

rbBodyId rbWorld_BodyIdOf(const rbWorld* world, int index)
{
    return (rbBodyId){(uint32_t)index + 1u, world->bodyIds.generations.data[index]};
}

rbBodyId rbWorld_CompleteId(const rbWorld* world, rbBodyId reported)
{
    int index = (int)reported.index1 - 1;
    bool isAlive = index >= 0 && index < world->bodies.count && rbWorld_IsBodyAlive(world, index);
    return isAlive ? rbWorld_BodyIdOf(world, index) : (rbBodyId){0, 0};
}

bool rbBody_IsValid(const rbWorld* world, rbBodyId bodyId)
{
    return rbIdPool_IsAlive(&world->bodyIds, bodyId.index1, bodyId.generation);
}

const char* rbWorld_NameOfBody(int index, const void* context)
{
    const rbWorld* world = context;
    return world->bodies.data[index].name;
}

// Energies and distances are squares, and must be finite too.
static bool isUsable(rbVec3 v)
{
    return isfinite(rbLengthSquared(v));
}

static rbStatus validatePose(const char* name, rbTransform transform, rbVec3 linearVelocity,
                             rbVec3 angularVelocity, rbError* error)
{
    RB_INVALID_IF(!isUsable(transform.p), error,
                  "body \"%s\": position (%g, %g, %g) m must be finite", name, transform.p.x,
                  transform.p.y, transform.p.z);
    double norm = sqrt(rbDotQuat(transform.q, transform.q));
    RB_INVALID_IF(!(fabs(norm - 1.0) <= 1e-6), error,
                  "body \"%s\": orientation (%g, %g, %g, %g) has length %g; a unit quaternion w, "
                  "x, y, z is needed",
                  name, transform.q.w, transform.q.x, transform.q.y, transform.q.z, norm);
    RB_INVALID_IF(!isUsable(linearVelocity) || !isUsable(angularVelocity), error,
                  "body \"%s\": velocity (%g, %g, %g) m/s and angular velocity (%g, %g, %g) rad/s "
                  "must be finite",
                  name, linearVelocity.x, linearVelocity.y, linearVelocity.z, angularVelocity.x,
                  angularVelocity.y, angularVelocity.z);
    return RB_STATUS_OK;
}

// Values that a body leaves at zero come from the world.
static rbMotionSettings settingsOf(const rbWorld* world, const rbMotionSettings* requested)
{
    const rbMotionSettings* ours = &world->def.motion;
    return (rbMotionSettings){
        .type = requested->type == RB_MOTION_AUTO ? ours->type : requested->type,
        .step = requested->step == 0.0 ? ours->step : requested->step,
        .degree = requested->degree == 0 ? ours->degree : requested->degree,
        .tolerance = requested->tolerance == 0.0 ? ours->tolerance : requested->tolerance,
    };
}

// *path: that of the body, made if its definition has one.
static rbStatus validateBody(const rbWorld* world, const rbBodyDef* def, rbPath** path,
                             rbError* error)
{
    const char* name = def->name != NULL ? def->name : "";
    RB_TRY(RB_CHECK_COOKIE(def, RB_KIND_BODY, error));
    RB_REFUSE_IF(strlen(name) >= RB_NAME_CAPACITY, RB_STATUS_LIMIT, error,
                 "the body name \"%.40s...\" has %zu bytes; the limit is %d", name, strlen(name),
                 RB_NAME_CAPACITY - 1);
    bool isTaken =
        name[0] != '\0' && rbNameTable_Find(&world->names, name, rbWorld_NameOfBody, world) >= 0;
    RB_INVALID_IF(isTaken, error, "a body named \"%s\" already exists; give each body its own name",
                  name);
    RB_INVALID_IF((unsigned)def->type >= RB_BODY_TYPE_COUNT, error,
                  "body \"%s\": there is no body type %d", name, (int)def->type);
    rbTransform transform = {def->position, def->orientation};
    RB_TRY(validatePose(name, transform, def->linearVelocity, def->angularVelocity, error));
    rbMotionSettings settings = settingsOf(world, &def->motion);
    rbError inner = {0};
    rbStatus status = rbSettingList_Check(&rbMotionSettingList, &settings, &inner);
    if (status == RB_STATUS_OK && def->mass != NULL && def->type == RB_BODY_DYNAMIC) {
        status = rbMassProperties_Validate(def->mass, &inner);
    }
    RB_REFUSE_IF(status != RB_STATUS_OK, status, error, "body \"%s\": %.400s", name, inner.message);
    const rbMassProperties* m = def->mass;
    double height = rbLength(world->def.gravity) *
                    (rbLength(def->position) + rbLength(m != NULL ? m->center : RB_VEC3_ZERO));
    RB_INVALID_IF(m != NULL && !isfinite(m->mass * (rbLengthSquared(def->linearVelocity) + height) +
                                         (m->inertia.xx + m->inertia.yy + m->inertia.zz) *
                                             rbLengthSquared(def->angularVelocity)),
                  error, "body \"%s\": with a mass of %g kg its energy is not finite", name,
                  m->mass);
    RB_INVALID_IF(!isfinite(def->growth), error, "body \"%s\": the growth %g m/s is not finite",
                  name, def->growth);
    RB_INVALID_IF(def->path != NULL && def->type != RB_BODY_KINEMATIC, error,
                  "body \"%s\" has a path; only kinematic bodies follow one", name);
    if (def->path != NULL) {
        transform.q = rbNormalizeQuat(transform.q);
        *path = rbPath_Create(def->path, transform, &inner);
        RB_REFUSE_IF(*path == NULL, inner.status, error, "body \"%s\": %.400s", name,
                     inner.message);
    }
    return RB_STATUS_OK;
}

rbBodyId rbCreateBody(rbWorld* world, const rbBodyDef* def, rbError* error)
{
    RB_ENTER(world);
    rbError reason = {0};
    rbPath* path = NULL;
    if (validateBody(world, def, &path, &reason) != RB_STATUS_OK) {
        rbWorld_LogRefusal(world, "a body", &reason, error);
        return (rbBodyId){0, 0};
    }
    rbTransform transform = {def->position, rbNormalizeQuat(def->orientation)};
    int index = rbIdPool_Take(&world->bodyIds);
    rbArray_Put(world->bodies, index, (rbBody){0});
    rbArray_Put(world->flights, index, (rbFlight){0});
    rbArray_Put(world->motions, index, (rbMotionBody){0});
    rbArray_Put(world->states, index, (rbMotionState){0});
    rbArray_Put(world->principals, index, RB_TRANSFORM_IDENTITY);
    world->aliveCount += 1;
    rbBody* body = &world->bodies.data[index];
    body->type = def->type;
    body->path = path;
    body->motion = def->motion;
    body->userData = def->userData;
    body->growth = def->growth;
    rbWorld_NoteChange(world);
    if (def->name != NULL) {
        (void)snprintf(body->name, sizeof body->name, "%s", def->name);
        rbNameTable_Insert(&world->names, body->name, index);
    }
    rbMotionBody* motion = &world->motions.data[index];
    motion->index = index;
    motion->context = world;
    motion->settings = settingsOf(world, &def->motion);
    if (def->mass != NULL && def->type == RB_BODY_DYNAMIC) {
        body->hasExplicitMass = true;
        body->hasMass = true;
        body->mass = *def->mass;
        motion->mass = def->mass->mass;
        rbMassProperties_Principal(&body->mass, &motion->moments, &world->principals.data[index]);
    }
    world->states.data[index] =
        rbWorld_InnerState(world, index, transform, def->linearVelocity, def->angularVelocity);
    if (path != NULL) {
        world->states.data[index] = rbWorld_StateAt(world, index, world->time);
    }
    if (body->hasMass) {
        rbWorld_RefreshLoads(world, index);
        rbWorld_StartFlight(world, index);
        world->energyReference += rbWorld_BodyEnergy(world, index, NULL);
    }
    return rbWorld_BodyIdOf(world, index);
}

void rbDestroyBody(rbWorld* world, rbBodyId bodyId)
{
    RB_ENTER(world);
    int index = rbWorld_BodyIndex(world, bodyId);
    rbBody* body = &world->bodies.data[index];
    rbWorld_NoteChange(world);
    rbWorld_DestroyLinksOf(world, index);
    if (rbWorld_IsOwned(world, index)) {
        world->owned.data[index] = 0;
    }
    // Its energy and the work done on it leave the energy accounting with it.
    world->energyReference -=
        rbWorld_BodyEnergy(world, index, NULL) - world->states.data[index].work;
    rbNameTable_Remove(&world->names, body->name, index);
    for (int i = 0; i < body->shapes.count; ++i) {
        const rbShapeSlot* shape = &body->shapes.data[i];
        world->geometries.data[shape->def.geometry.index1 - 1].useCount -= 1;
        rbIdPool_Release(&world->shapeIds, shape->index);
    }
    rbArray_Free(body->shapes);
    while (body->firstForce1 != 0) {
        int force = body->firstForce1 - 1;
        body->firstForce1 = world->forces.data[force].next1;
        world->forces.data[force].def.cookie = 0;
        rbIdPool_Release(&world->forceIds, force);
    }
    rbPath_Destroy(body->path);
    *body = (rbBody){0};
    rbIdPool_Release(&world->bodyIds, index);
    world->aliveCount -= 1;
}

#define DEFINE_GETTER(type, name, member)                                 \
    RB_DEFINE_GETTER(type, name, (const rbWorld* world, rbBodyId bodyId), \
                     world->bodies.data[rbWorld_BodyIndex(world, bodyId)].member)
DEFINE_GETTER(const char*, rbBody_GetName, name)
DEFINE_GETTER(rbBodyType, rbBody_GetType, type)
DEFINE_GETTER(void*, rbBody_GetUserData, userData)
DEFINE_GETTER(double, rbBody_GetGrowth, growth)
DEFINE_GETTER(int, rbBody_GetShapeCount, shapes.count)

void rbBody_SetUserData(rbWorld* world, rbBodyId bodyId, void* userData)
{
    world->bodies.data[rbWorld_BodyIndex(world, bodyId)].userData = userData;
}

// The state given is that of the principal frame in the world.
rbBodyState rbWorld_PublicState(const rbWorld* world, int index, const rbMotionState* state)
{
    rbTransform principal = world->principals.data[index];
    rbBodyState out;
    out.transform.q = rbMulQuat(state->orientation, rbConjugate(principal.q));
    out.transform.p = rbSub(state->position, rbRotate(out.transform.q, principal.p));
    out.center = state->position;
    out.linearVelocity = state->velocity;
    out.angularVelocity = rbRotate(state->orientation, state->spin);
    out.angularVelocityLocal = rbRotate(principal.q, state->spin);
    return out;
}

rbMotionState rbWorld_InnerState(const rbWorld* world, int index, rbTransform transform,
                                 rbVec3 linearVelocity, rbVec3 angularVelocity)
{
    rbTransform principal = world->principals.data[index];
    bool isMoving = world->bodies.data[index].type == RB_BODY_DYNAMIC;
    rbMotionState state;
    state.orientation = rbMulQuat(transform.q, principal.q);
    state.position = rbTransformPoint(transform, principal.p);
    state.velocity = isMoving ? linearVelocity : RB_VEC3_ZERO;
    state.spin = rbInvRotate(state.orientation, isMoving ? angularVelocity : RB_VEC3_ZERO);
    state.work = world->states.data[index].work;
    return state;
}

rbMotionState rbWorld_StateAt(const rbWorld* world, int index, double time)
{
    rbMotionCounts counts = {0};
    const rbBody* body = &world->bodies.data[index];
    rbMotionState state = world->states.data[index];
    if (body->hasMass && rbWorld_IsOwned(world, index)) {
        if (time != world->time) {
            // Extrapolates as if its joints were gone from now on.
            const rbMotionBody* motion = &world->motions.data[index];
            rbFlight flight = {0};
            rbFlight_Start(&flight, motion, world->time, &state);
            rbFlight_Evaluate(&flight, motion, time, &state, &counts);
        }
    } else if (body->hasMass) {
        rbFlight_Evaluate(&world->flights.data[index], &world->motions.data[index], time, &state,
                          &counts);
    } else if (body->path != NULL) {
        rbPath_SetState(body->path, time, &state);
    }
    return state;
}

rbBodyState rbBody_GetState(const rbWorld* world, rbBodyId bodyId)
{
    int index = rbWorld_BodyIndex(world, bodyId);
    return rbWorld_PublicState(world, index, &world->states.data[index]);
}

rbBodyState rbBody_GetStateAt(const rbWorld* world, rbBodyId bodyId, double time)
{
    RB_ASSERT(isfinite(time));
    int index = rbWorld_BodyIndex(world, bodyId);
    rbMotionState state = rbWorld_StateAt(world, index, time);
    return rbWorld_PublicState(world, index, &state);
}

rbVec3 rbBody_GetPointAt(const rbWorld* world, rbBodyId bodyId, rbVec3 localPoint, double time)
{
    return rbTransformPoint(rbBody_GetStateAt(world, bodyId, time).transform, localPoint);
}

rbVec3 rbBody_GetDirectionAt(const rbWorld* world, rbBodyId bodyId, rbVec3 localDirection,
                             double time)
{
    return rbRotate(rbBody_GetStateAt(world, bodyId, time).transform.q, localDirection);
}

rbVec3 rbBody_GetPointVelocity(const rbWorld* world, rbBodyId bodyId, rbVec3 worldPoint)
{
    rbBodyState state = rbBody_GetState(world, bodyId);
    rbVec3 arm = rbSub(worldPoint, state.center);
    return rbAdd(state.linearVelocity, rbCross(state.angularVelocity, arm));
}

void rbWorld_StartFlight(rbWorld* world, int index)
{
    rbFlight* flight = &world->flights.data[index];
    rbMotionState state = world->states.data[index];
    bool wasFallback = flight->isFallback;
    rbFlight_Start(flight, &world->motions.data[index], world->time, &state);
    rbWorld_NoteFlight(world, index);
    if (flight->isFallback && !wasFallback) {
        rbWorld_AddEvent(world, RB_EVENT_FALLBACK, index, 0.0);
        rbWorld_Log(world, RB_LOG_WARNING,
                    "body \"%s\" uses the integrator %s instead of %s, because of its loads",
                    world->bodies.data[index].name, rbMotionType_Name(flight->type),
                    rbMotionType_Name(world->motions.data[index].settings.type));
    }
}

// Applies a state set by the user; the journal records the change in energy. INVALID: the energy
// would not be finite, and nothing changes.
static rbStatus changeState(rbWorld* world, int index, const rbMotionState* state, rbEventKind kind,
                            rbError* error)
{
    bool hasMass = world->bodies.data[index].hasMass;
    rbMotionState former = world->states.data[index];
    double before = rbWorld_BodyEnergy(world, index, NULL) + rbWorld_GetElasticEnergy(world, index);
    world->states.data[index] = *state;
    double change =
        rbWorld_BodyEnergy(world, index, NULL) + rbWorld_GetElasticEnergy(world, index) - before;
    if (!isfinite(change) || !isUsable(state->velocity) || !isUsable(state->spin)) {
        world->states.data[index] = former;
        rbError reason = {0};
        (void)rbError_Set(&reason, RB_STATUS_INVALID,
                          "body \"%s\": its velocity or energy would not be finite",
                          world->bodies.data[index].name);
        rbWorld_LogRefusal(world, rbEventKind_Name(kind), &reason, error);
        return RB_STATUS_INVALID;
    }
    if (!hasMass) {
        rbWorld_NoteChange(world); // the engine has the pose from its registration
    }
    world->externalWork += change;
    if (hasMass) {
        rbWorld_StartFlight(world, index);
        rbWorld_AddEvent(world, kind, index, change);
    }
    return RB_STATUS_OK;
}

rbStatus rbBody_SetState(rbWorld* world, rbBodyId bodyId, rbTransform transform,
                         rbVec3 linearVelocity, rbVec3 angularVelocity, rbError* error)
{
    RB_ENTER(world);
    RB_REQUIRE_BODY(world, bodyId, error);
    int index = rbWorld_BodyIndex(world, bodyId);
    const rbBody* body = &world->bodies.data[index];
    RB_INVALID_IF(body->type == RB_BODY_KINEMATIC && body->path != NULL, error,
                  "body \"%s\" follows its path; its state cannot be set", body->name);
    RB_TRY(validatePose(body->name, transform, linearVelocity, angularVelocity, error));
    rbTransform unit = {transform.p, rbNormalizeQuat(transform.q)};
    rbMotionState state = rbWorld_InnerState(world, index, unit, linearVelocity, angularVelocity);
    return changeState(world, index, &state, RB_EVENT_SET_STATE, error);
}

static rbStatus applyImpulses(rbWorld* world, int index, rbVec3 linear, rbVec3 angular)
{
    if (!world->bodies.data[index].hasMass) {
        return RB_STATUS_OK;
    }
    const rbMotionBody* motion = &world->motions.data[index];
    rbMotionState state = world->states.data[index];
    rbVec3 local = rbInvRotate(state.orientation, angular);
    state.velocity = rbAddScaled(state.velocity, 1.0 / motion->mass, linear);
    state.spin.x += local.x / motion->moments.x;
    state.spin.y += local.y / motion->moments.y;
    state.spin.z += local.z / motion->moments.z;
    return changeState(world, index, &state, RB_EVENT_IMPULSE, NULL);
}

rbStatus rbBody_ApplyImpulse(rbWorld* world, rbBodyId bodyId, rbVec3 impulse, rbVec3 worldPoint)
{
    RB_ENTER(world);
    RB_REQUIRE_BODY(world, bodyId, NULL);
    int index = rbWorld_BodyIndex(world, bodyId);
    rbVec3 arm = rbSub(worldPoint, world->states.data[index].position);
    return applyImpulses(world, index, impulse, rbCross(arm, impulse));
}

rbStatus rbBody_ApplyAngularImpulse(rbWorld* world, rbBodyId bodyId, rbVec3 impulse)
{
    RB_ENTER(world);
    RB_REQUIRE_BODY(world, bodyId, NULL);
    return applyImpulses(world, rbWorld_BodyIndex(world, bodyId), RB_VEC3_ZERO, impulse);
}

rbMassProperties rbBody_GetMass(const rbWorld* world, rbBodyId bodyId)
{
    const rbBody* body = &world->bodies.data[rbWorld_BodyIndex(world, bodyId)];
    return body->hasMass ? body->mass : (rbMassProperties){0};
}

rbVec3 rbBody_GetPrincipalMoments(const rbWorld* world, rbBodyId bodyId, rbTransform* frame)
{
    int index = rbWorld_BodyIndex(world, bodyId);
    if (frame != NULL) {
        *frame = world->principals.data[index];
    }
    return world->motions.data[index].moments;
}

rbMotionType rbBody_GetMotion(const rbWorld* world, rbBodyId bodyId, bool* isFallback)
{
    const rbFlight* flight = &world->flights.data[rbWorld_BodyIndex(world, bodyId)];
    if (isFallback != NULL) {
        *isFallback = flight->isFallback;
    }
    return flight->type;
}

bool rbBody_GetMotionBounds(const rbWorld* world, rbBodyId bodyId, double timeA, double timeB,
                            rbBounds* bounds)
{
    RB_ASSERT(timeA <= timeB);
    int index = rbWorld_BodyIndex(world, bodyId);
    const rbBody* body = &world->bodies.data[index];
    rbVec3 center = world->states.data[index].position;
    *bounds = (rbBounds){center, center};
    if (body->hasMass) {
        if (world->motions.data[index].load != NULL) {
            return false;
        }
        rbFlight flight = world->flights.data[index];
        if (rbWorld_IsOwned(world, index)) {
            rbFlight_Start(&flight, &world->motions.data[index], world->time,
                           &world->states.data[index]);
        }
        *bounds = rbFlight_GetBounds(&flight, &world->motions.data[index], timeA, timeB);
    } else if (body->path != NULL) {
        *bounds = rbPath_GetBounds(body->path, timeA, timeB);
    }
    rbVec3 reach = rbMakeVec3(body->radius, body->radius, body->radius);
    bounds->lower = rbSub(bounds->lower, reach);
    bounds->upper = rbAdd(bounds->upper, reach);
    return isfinite(body->radius);
}
