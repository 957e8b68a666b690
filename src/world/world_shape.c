// Geometries and shapes of a world, and the mass that follows from them.
#include "world/world_engine.h"
#include "world/world_joint.h"
#include "world/world_settings.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void rbInitShapeDef(rbShapeDef* def, uint32_t abi, size_t size)
{
    if (rbStampDef(def, RB_KIND_SHAPE, sizeof *def, abi, size)) {
        def->transform.q.w = 1.0;
        def->material = *(const rbMaterial*)rbMaterialSettingList.defaults;
        def->groups = 1u;
        def->mask = UINT32_MAX;
    }
}

rbGeometryId rbWorld_AddGeometry(rbWorld* world, rbGeometry* geometry)
{
    RB_ENTER(world);
    rbGeometryId null = {0, 0};
    if (geometry == NULL) {
        return null;
    }
    int index = rbIdPool_Take(&world->geometryIds);
    rbGeometrySlot slot = {geometry, 0};
    rbArray_Put(world->geometries, index, slot);
    return (rbGeometryId){(uint32_t)index + 1u, world->geometryIds.generations.data[index]};
}

rbStatus rbWorld_DestroyGeometry(rbWorld* world, rbGeometryId geometryId, rbError* error)
{
    RB_ENTER(world);
    RB_REQUIRE(rbIdPool_IsAlive(&world->geometryIds, geometryId.index1, geometryId.generation),
               "geometry", geometryId, error);
    int index = (int)geometryId.index1 - 1;
    rbGeometrySlot* slot = &world->geometries.data[index];
    RB_INVALID_IF(slot->useCount > 0, error,
                  "the geometry is used by %d shapes; destroy their bodies first", slot->useCount);
    rbDestroyGeometry(slot->geometry);
    slot->geometry = NULL;
    rbIdPool_Release(&world->geometryIds, index);
    return RB_STATUS_OK;
}

const rbGeometry* rbWorld_GetGeometry(const rbWorld* world, rbGeometryId geometryId)
{
    RB_ASSERT(rbIdPool_IsAlive(&world->geometryIds, geometryId.index1, geometryId.generation));
    return world->geometries.data[geometryId.index1 - 1].geometry;
}

// m/s: faster belts are a mistake.
#define SURFACE_SPEED_MOST 1e12

static rbStatus validateSurface(rbVec3 velocity, rbError* error)
{
    RB_INVALID_IF(!(rbLength(velocity) <= SURFACE_SPEED_MOST), error,
                  "surfaceVelocity is (%g, %g, %g) m/s; it must be finite and at most %g m/s",
                  velocity.x, velocity.y, velocity.z, SURFACE_SPEED_MOST);
    return RB_STATUS_OK;
}

static rbStatus validateShape(const rbWorld* world, const rbShapeDef* def, rbError* error)
{
    RB_TRY(RB_CHECK_COOKIE(def, RB_KIND_SHAPE, error));
    RB_INVALID_IF(
        !rbIdPool_IsAlive(&world->geometryIds, def->geometry.index1, def->geometry.generation),
        error, "the shape refers to a geometry that does not exist");
    double norm = sqrt(rbDotQuat(def->transform.q, def->transform.q));
    RB_INVALID_IF(!isfinite(rbLengthSquared(def->transform.p)) || !(fabs(norm - 1.0) <= 1e-6),
                  error,
                  "the shape's position must be finite and its orientation a unit quaternion; its "
                  "length is %g",
                  norm);
    RB_TRY(validateSurface(def->surfaceVelocity, error));
    return rbSettingList_Check(&rbMaterialSettingList, &def->material, error);
}

int rbBody_CountSolid(const rbBody* body)
{
    int count = 0;
    RB_EACH_SOLID(shape, body) {
        count += 1;
    }
    return count;
}

bool rbBody_HasSensor(const rbBody* body)
{
    return rbBody_CountSolid(body) < body->shapes.count;
}

int rbBody_FindSolid(const rbBody* body, int part)
{
    RB_EACH_SOLID(shape, body) {
        if (part-- == 0) {
            return shapeIndex;
        }
    }
    RB_ASSERT(false);
    return body->shapes.count;
}

static rbStatus validateGroups(const rbBody* body, const rbShapeDef* def, rbError* error)
{
    if (def->isSensor || rbBody_CountSolid(body) == 0) {
        return RB_STATUS_OK;
    }
    const rbShapeDef* first = &body->shapes.data[rbBody_FindSolid(body, 0)].def;
    RB_INVALID_IF(def->groups != first->groups || def->mask != first->mask, error,
                  "groups %#" PRIx32 " and mask %#" PRIx32
                  " of the shape differ from those of the first, %#" PRIx32 " and %#" PRIx32
                  "; all shapes of a body must have the same",
                  def->groups, def->mask, first->groups, first->mask);
    return RB_STATUS_OK;
}

// Total mass of the shapes of a body and of one to be added (NULL: none), in its frame.
static rbStatus sumMass(const rbWorld* world, const rbBody* body, const rbShapeDef* added,
                        rbMassProperties* sum, rbError* error)
{
    *sum = (rbMassProperties){0};
    int count = body->shapes.count + (added != NULL ? 1 : 0);
    for (int i = 0; i < count; ++i) {
        const rbShapeDef* shape = i < body->shapes.count ? &body->shapes.data[i].def : added;
        if (shape->isSensor) {
            continue;
        }
        rbMassProperties part;
        RB_TRY(rbGeometry_GetMass(rbWorld_GetGeometry(world, shape->geometry),
                                  shape->material.density, &part, error));
        part = rbMassProperties_Transform(&part, shape->transform);
        *sum = sum->mass > 0.0 ? rbMassProperties_Add(sum, &part) : part;
    }
    return rbMassProperties_Validate(sum, error);
}

// Changes the mass of a body; its public pose and the velocity of its center stay.
static void takeMass(rbWorld* world, int index, const rbMassProperties* mass)
{
    rbBody* body = &world->bodies.data[index];
    rbMotionBody* motion = &world->motions.data[index];
    rbWorld_NoteChange(world);
    rbBodyState before = rbWorld_PublicState(world, index, &world->states.data[index]);
    world->energyReference -= rbWorld_BodyEnergy(world, index, NULL);
    body->mass = *mass;
    body->hasMass = true;
    motion->mass = mass->mass;
    rbMassProperties_Principal(mass, &motion->moments, &world->principals.data[index]);
    world->states.data[index] = rbWorld_InnerState(world, index, before.transform,
                                                   before.linearVelocity, before.angularVelocity);
    rbWorld_RemakeLinksOf(world, index);
    rbWorld_RefreshLoads(world, index);
    rbWorld_StartFlight(world, index);
    world->energyReference += rbWorld_BodyEnergy(world, index, NULL);
}

static void updateRadius(rbWorld* world, int index)
{
    rbBody* body = &world->bodies.data[index];
    body->radius = 0.0;
    RB_EACH_SOLID(shape, body) {
        rbVec3 center = rbInvTransformPoint(shape->transform, world->principals.data[index].p);
        double radius = rbGeometry_GetRadius(rbWorld_GetGeometry(world, shape->geometry), center);
        body->radius = fmax(body->radius, radius);
    }
}

rbShapeId rbCreateShape(rbWorld* world, rbBodyId bodyId, const rbShapeDef* def, rbError* error)
{
    RB_ENTER(world);
    rbShapeId null = {0, 0};
    rbError reason = {0};
    if (!rbBody_IsValid(world, bodyId)) {
        (void)rbError_Set(&reason, RB_STATUS_INVALID, "the shape's body does not exist");
        rbWorld_LogRefusal(world, "a shape", &reason, error);
        return null;
    }
    int index = rbWorld_BodyIndex(world, bodyId);
    rbBody* body = &world->bodies.data[index];
    rbError inner = {0};
    rbMassProperties mass = {0};
    rbStatus status = validateShape(world, def, &inner);
    rbShapeDef unit = *def;
    unit.transform.q = rbNormalizeQuat(def->transform.q);
    status = status == RB_STATUS_OK ? validateGroups(body, def, &inner) : status;
    bool needsMass = body->type == RB_BODY_DYNAMIC && !body->hasExplicitMass && !def->isSensor;
    if (status == RB_STATUS_OK && needsMass) {
        status = sumMass(world, body, &unit, &mass, &inner);
    }
    if (status != RB_STATUS_OK) {
        (void)rbError_Set(&reason, status, "body \"%s\": %.400s", body->name, inner.message);
        rbWorld_LogRefusal(world, "a shape", &reason, error);
        return null;
    }
    rbShapeSlot slot = {unit, rbIdPool_Take(&world->shapeIds)};
    rbArray_Push(body->shapes, slot);
    world->geometries.data[unit.geometry.index1 - 1].useCount += 1;
    if (needsMass) {
        takeMass(world, index, &mass);
    }
    updateRadius(world, index);
    rbWorld_NoteChange(world);
    return (rbShapeId){(uint32_t)slot.index + 1u, world->shapeIds.generations.data[slot.index]};
}

// The number of a shape of a body; -1: all of them.
static rbStatus validateShapeNumber(const rbWorld* world, int slot, int index, rbError* error)
{
    int count = world->bodies.data[slot].shapes.count;
    RB_INVALID_IF(index < -1 || index >= count, error,
                  "body \"%s\" has %d shapes; there is no shape number %d",
                  RB_LABEL_BODY(world, slot), count, index);
    return RB_STATUS_OK;
}

rbStatus rbBody_SetMaterial(rbWorld* world, rbBodyId bodyId, int index, const rbMaterial* material,
                            rbError* error)
{
    RB_ENTER(world);
    RB_REQUIRE_BODY(world, bodyId, error);
    int slot = rbWorld_BodyIndex(world, bodyId);
    rbBody* body = &world->bodies.data[slot];
    rbError inner = {0};
    const char* name = RB_LABEL_BODY(world, slot);
    RB_TRY(validateShapeNumber(world, slot, index, error));
    rbStatus status = rbSettingList_Check(&rbMaterialSettingList, material, &inner);
    RB_REFUSE_IF(status != RB_STATUS_OK, status, error, "body \"%s\": %.400s", name, inner.message);
    bool isHeavier = false;
    size_t size = (size_t)body->shapes.count * sizeof *body->shapes.data;
    rbShapeSlot* before = rbAlloc(size);
    for (int i = 0; i < body->shapes.count; ++i) {
        rbMaterial* own = &body->shapes.data[i].def.material;
        before[i] = body->shapes.data[i];
        if (index < 0 || i == index) {
            isHeavier = isHeavier || own->density != material->density;
            *own = *material;
        }
    }
    rbMassProperties mass = {0};
    bool needsMass = isHeavier && body->type == RB_BODY_DYNAMIC && !body->hasExplicitMass &&
                     rbBody_CountSolid(body) > 0;
    status = needsMass ? sumMass(world, body, NULL, &mass, &inner) : status;
    if (status != RB_STATUS_OK) {
        memcpy(body->shapes.data, before, size);
        (void)rbError_Set(error, status, "body \"%s\": %.400s", name, inner.message);
    } else {
        rbWorld_NoteChange(world);
    }
    if (status == RB_STATUS_OK && needsMass) {
        takeMass(world, slot, &mass);
        updateRadius(world, slot);
    }
    rbFree(before, size);
    return status;
}

rbStatus rbBody_SetSurfaceVelocity(rbWorld* world, rbBodyId bodyId, int index, rbVec3 velocity,
                                   rbError* error)
{
    RB_ENTER(world);
    RB_REQUIRE_BODY(world, bodyId, error);
    int slot = rbWorld_BodyIndex(world, bodyId);
    rbBody* body = &world->bodies.data[slot];
    const char* name = RB_LABEL_BODY(world, slot);
    rbError inner = {0};
    RB_TRY(validateShapeNumber(world, slot, index, error));
    RB_INVALID_IF(validateSurface(velocity, &inner) != RB_STATUS_OK, error, "body \"%s\": %.400s",
                  name, inner.message);
    for (int i = 0; i < body->shapes.count; ++i) {
        if (index < 0 || i == index) {
            body->shapes.data[i].def.surfaceVelocity = velocity;
        }
    }
    rbWorld_NoteChange(world);
    return RB_STATUS_OK;
}

void rbBody_SetGroups(rbWorld* world, rbBodyId bodyId, uint32_t groups, uint32_t mask)
{
    RB_ENTER(world);
    rbBody* body = &world->bodies.data[rbWorld_BodyIndex(world, bodyId)];
    bool isOther = false;
    RB_EACH_SOLID(shape, body) {
        isOther = isOther || shape->groups != groups || shape->mask != mask;
        shape->groups = groups;
        shape->mask = mask;
    }
    if (isOther) {
        rbWorld_NoteChange(world);
    }
}

rbStatus rbBody_SetMass(rbWorld* world, rbBodyId bodyId, double mass, rbError* error)
{
    RB_ENTER(world);
    RB_REQUIRE_BODY(world, bodyId, error);
    int index = rbWorld_BodyIndex(world, bodyId);
    rbBody* body = &world->bodies.data[index];
    const char* name = RB_LABEL_BODY(world, index);
    RB_INVALID_IF(!body->hasMass, error,
                  "body \"%s\" has no mass to change; only dynamic bodies have one", name);
    double factor = mass / body->mass.mass;
    double energy = factor * (1.0 + fabs(rbWorld_BodyEnergy(world, index, NULL)));
    RB_INVALID_IF(!(mass > 0.0) || !isfinite(mass) || !isfinite(energy), error,
                  "body \"%s\": the mass is %g kg; it must be positive, and finite like its energy",
                  name, mass);
    rbMassProperties scaled = body->mass;
    rbSym3 old = scaled.inertia;
    scaled.mass = mass;
    scaled.inertia = (rbSym3){factor * old.xx, factor * old.yy, factor * old.zz,
                              factor * old.xy, factor * old.xz, factor * old.yz};
    rbError inner = {0};
    rbStatus status = rbMassProperties_Validate(&scaled, &inner);
    RB_REFUSE_IF(status != RB_STATUS_OK, status, error, "body \"%s\": %.400s", name, inner.message);
    body->hasExplicitMass = true;
    takeMass(world, index, &scaled);
    return RB_STATUS_OK;
}

rbShapeDef rbBody_GetShape(const rbWorld* world, rbBodyId bodyId, int index)
{
    const rbBody* body = &world->bodies.data[rbWorld_BodyIndex(world, bodyId)];
    RB_ASSERT(0 <= index && index < body->shapes.count);
    return body->shapes.data[index].def;
}

RB_DEFINE_GETTER(void*, rbBody_GetShapeUserData, (const rbWorld* world, rbBodyId id, int index),
                 rbBody_GetShape(world, id, index).userData)

void rbBody_SetShapeUserData(rbWorld* world, rbBodyId bodyId, int index, void* userData)
{
    rbBody* body = &world->bodies.data[rbWorld_BodyIndex(world, bodyId)];
    RB_ASSERT(0 <= index && index < body->shapes.count);
    body->shapes.data[index].def.userData = userData;
}

// ---------------------------------------------------------------------------- for the engines

// The compound of a body with several shapes.
static const rbGeometry* getMerged(rbWorld* world, int index, rbError* error)
{
    const rbBody* body = &world->bodies.data[index];
    rbArray_Fill(world->merged, index + 1, (rbMergedSlot){0});
    rbMergedSlot* slot = &world->merged.data[index];
    int count = rbBody_CountSolid(body);
    uint32_t generation = world->bodyIds.generations.data[index];
    if (slot->geometry != NULL && slot->shapeCount == count && slot->generation == generation) {
        return slot->geometry;
    }
    rbDestroyGeometry(slot->geometry);
    rbCompoundChild* children = rbAllocZero((size_t)count, sizeof *children);
    int child = 0;
    RB_EACH_SOLID(shape, body) {
        children[child].geometry = rbWorld_GetGeometry(world, shape->geometry);
        children[child++].transform = shape->transform;
    }
    *slot = (rbMergedSlot){rbCreateCompound(children, count, error), count, generation};
    rbFree(children, (size_t)count * sizeof *children);
    return slot->geometry;
}

rbStatus rbWorld_MergeShapes(rbWorld* world, int index, rbMergedShapes* merged, rbError* error)
{
    const rbBody* body = &world->bodies.data[index];
    RB_ASSERT(rbWorld_IsBodyAlive(world, index));
    int count = rbBody_CountSolid(body);
    *merged = (rbMergedShapes){.transform = RB_TRANSFORM_IDENTITY, .count = count};
    if (count == 0) {
        return RB_STATUS_OK;
    }
    world->mergedMaterials.count = 0;
    RB_EACH_SOLID(shape, body) {
        rbArray_Push(world->mergedMaterials, shape->material);
    }
    const rbShapeDef* first = &body->shapes.data[rbBody_FindSolid(body, 0)].def;
    merged->materials = world->mergedMaterials.data;
    merged->groups = first->groups;
    merged->mask = first->mask;
    merged->transform = rbInvertTransform(world->principals.data[index]);
    if (count == 1) {
        merged->geometry = rbWorld_GetGeometry(world, first->geometry);
        merged->transform = rbMulTransforms(merged->transform, first->transform);
    } else {
        merged->geometry = getMerged(world, index, error);
    }
    if (merged->geometry == NULL) {
        return RB_STATUS_INVALID;
    }
    RB_REFUSE_IF(
        body->hasMass && !rbGeometry_IsBounded(merged->geometry), RB_STATUS_UNSUPPORTED, error,
        "body \"%s\" is dynamic and has a plane; only static and kinematic bodies may have one",
        body->name);
    return RB_STATUS_OK;
}

void rbWorld_FreeMerged(rbWorld* world)
{
    for (int i = 0; i < world->merged.count; ++i) {
        rbDestroyGeometry(world->merged.data[i].geometry);
    }
    rbArray_FreeAll(world->merged, world->mergedMaterials);
}
