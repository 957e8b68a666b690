// Forces of a world, gravity among them: creating them, and their effect on the flight of a body.
#include "world/world_settings.h"
#include "world/world_state.h"

void rbInitForceDef(rbForceDef* def, uint32_t abi, size_t size)
{
    if (rbStampDef(def, RB_KIND_FORCE, sizeof *def, abi, size)) {
        def->type = RB_FORCE_CONSTANT;
        def->accelerationMax = -1.0;
        def->torqueMax = -1.0;
    }
}

bool rbWorld_NextForce(const rbWorld* world, int index, rbForceCursor* cursor)
{
    while (cursor->next1 == 0 && cursor->chain < 2) {
        cursor->next1 =
            cursor->chain == 0 ? world->firstForce1 : world->bodies.data[index].firstForce1;
        cursor->chain += 1;
    }
    if (cursor->next1 == 0) {
        return false;
    }
    const rbForceSlot* slot = &world->forces.data[cursor->next1 - 1];
    cursor->next1 = slot->next1;
    cursor->def = &slot->def;
    cursor->row = rbGetForceRow(slot->def.type);
    return true;
}

// The state-dependent load of a body: called by the integrators at every stage.
static void variableLoad(const rbMotionBody* motion, const rbMotionState* state, double time,
                         rbLoad* load)
{
    const rbWorld* world = motion->context;
    rbForceInput input = {
        .time = time,
        .mass = motion->mass,
        .center = state->position,
        .orientation = state->orientation,
        .linearVelocity = state->velocity,
        .angularVelocity = rbRotate(state->orientation, state->spin),
        .bodyId = rbWorld_BodyIdOf(world, motion->index),
    };
    rbForceCursor cursor = {0};
    while (rbWorld_NextForce(world, motion->index, &cursor)) {
        rbForceRow_AddLoad(cursor.row, cursor.def, &input, load);
    }
    const rbVec3* held = world->bodies.data[motion->index].loads;
    load->force = rbAdd(load->force, held[0]);
    load->torque = rbAdd(load->torque, held[1]);
    load->paid = rbAdd(load->paid, held[0]);
    load->power += rbDot(held[0], input.linearVelocity) + rbDot(held[1], input.angularVelocity);
}

void rbWorld_RefreshLoads(rbWorld* world, int index)
{
    rbMotionBody* motion = &world->motions.data[index];
    rbVec3 force = RB_VEC3_ZERO;
    motion->torque = RB_VEC3_ZERO;
    motion->load = world->bodies.data[index].isLoaded ? variableLoad : NULL;
    rbForceCursor cursor = {0};
    while (rbWorld_NextForce(world, index, &cursor)) {
        if (cursor.row->addConstant != NULL) {
            cursor.row->addConstant(cursor.def, &force, &motion->torque);
        }
        motion->load = cursor.row->addVarying != NULL ? variableLoad : motion->load;
    }
    motion->acceleration = rbAddScaled(world->def.gravity, 1.0 / motion->mass, force);
}

// After the set of forces changed: new loads and flights for the affected bodies. A potential that
// is added or removed does no work, so the energy reference moves with it.
static void refreshBodies(rbWorld* world, rbBodyId bodyId)
{
    int first = RB_IS_NULL(bodyId) ? 0 : (int)bodyId.index1 - 1;
    int last = RB_IS_NULL(bodyId) ? world->bodies.count - 1 : first;
    for (int i = first; i <= last; ++i) {
        if (world->bodies.data[i].hasMass) {
            rbWorld_RefreshLoads(world, i);
            rbWorld_StartFlight(world, i);
        }
    }
}

rbStatus rbWorld_SetGravity(rbWorld* world, rbVec3 gravity, rbError* error)
{
    RB_ENTER(world);
    rbWorldDef def = world->def;
    def.gravity = gravity;
    RB_TRY(rbSettingList_Check(&rbWorldSettingList, &def, error));
    rbWorld_NoteChange(world);
    rbVec3 change = rbSub(gravity, world->def.gravity);
    for (int i = 0; i < world->bodies.count; ++i) {
        if (world->bodies.data[i].hasMass) {
            world->energyReference -=
                world->motions.data[i].mass * rbDot(change, world->states.data[i].position);
        }
    }
    world->def.gravity = gravity;
    refreshBodies(world, (rbBodyId){0, 0});
    return RB_STATUS_OK;
}

static double potentialOf(const rbWorld* world, const rbForceDef* def)
{
    const rbForceRow* row = rbGetForceRow(def->type);
    int first = RB_IS_NULL(def->body) ? 0 : (int)def->body.index1 - 1;
    int last = RB_IS_NULL(def->body) ? world->bodies.count - 1 : first;
    double sum = 0.0;
    for (int i = first; row->potential != NULL && i <= last; ++i) {
        if (world->bodies.data[i].hasMass) {
            sum += row->potential(def, world->motions.data[i].mass, world->states.data[i].position);
        }
    }
    return sum;
}

// The place in the chain of a body, or of all bodies, that refers to a force; index1 0: its end,
// where forces are appended, so that they act in the order of creation.
static int* findPlace(rbWorld* world, rbBodyId bodyId, int index1)
{
    int* place = RB_IS_NULL(bodyId) ? &world->firstForce1
                                    : &world->bodies.data[bodyId.index1 - 1].firstForce1;
    while (*place != index1) {
        place = &world->forces.data[*place - 1].next1;
    }
    return place;
}

static rbStatus validateForce(const rbWorld* world, const rbForceDef* def, rbError* error)
{
    RB_TRY(RB_CHECK_COOKIE(def, RB_KIND_FORCE, error));
    RB_INVALID_IF((int)def->type < 0 || (int)def->type >= rbForceType_GetCount(), error,
                  "there is no force type %d", (int)def->type);
    RB_INVALID_IF(!RB_IS_NULL(def->body) && !rbBody_IsValid(world, def->body), error,
                  "the force acts on a body that does not exist");
    const rbForceRow* row = rbGetForceRow(def->type);
    return row->check != NULL ? row->check(def, error) : RB_STATUS_OK;
}

rbForceId rbCreateForce(rbWorld* world, const rbForceDef* def, rbError* error)
{
    RB_ENTER(world);
    rbError reason = {0};
    if (validateForce(world, def, &reason) != RB_STATUS_OK) {
        rbWorld_LogRefusal(world, "a force", &reason, error);
        return (rbForceId){0, 0};
    }
    int index = rbIdPool_Take(&world->forceIds);
    rbForceSlot slot = {.def = *def};
    rbArray_Put(world->forces, index, slot);
    *findPlace(world, def->body, 0) = index + 1;
    rbWorld_NoteChange(world);
    world->energyReference += potentialOf(world, def);
    refreshBodies(world, def->body);
    return (rbForceId){(uint32_t)index + 1u, world->forceIds.generations.data[index]};
}

void rbDestroyForce(rbWorld* world, rbForceId forceId)
{
    RB_ENTER(world);
    RB_ASSERT(rbIdPool_IsAlive(&world->forceIds, forceId.index1, forceId.generation));
    int index = (int)forceId.index1 - 1;
    rbForceDef def = world->forces.data[index].def;
    world->energyReference -= potentialOf(world, &def);
    *findPlace(world, def.body, index + 1) = world->forces.data[index].next1;
    rbWorld_NoteChange(world);
    world->forces.data[index].def.cookie = 0;
    rbIdPool_Release(&world->forceIds, index);
    refreshBodies(world, def.body);
}

int rbWorld_GetForces(const rbWorld* world, rbForceDef* defs, int capacity)
{
    RB_ASSERT(capacity == 0 || defs != NULL);
    int count = 0;
    for (int i = 0; i < world->forces.count; ++i) {
        if (world->forces.data[i].def.cookie != 0 && count++ < capacity) {
            defs[count - 1] = world->forces.data[i].def;
        }
    }
    return count;
}

double rbBody_GetAccelerationBound(const rbWorld* world, rbBodyId bodyId)
{
    int index = rbWorld_BodyIndex(world, bodyId);
    if (!world->bodies.data[index].hasMass) {
        return 0.0;
    }
    double mass = world->motions.data[index].mass;
    double bound =
        rbLength(world->def.gravity) + rbLength(world->bodies.data[index].loads[0]) / mass;
    rbForceCursor cursor = {0};
    while (rbWorld_NextForce(world, index, &cursor)) {
        bound += rbForceRow_GetAccelerationBound(cursor.row, cursor.def, mass);
    }
    return bound;
}
