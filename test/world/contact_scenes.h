// Boxes on a floor for the tests of worlds with contacts.
#pragma once

#include "joint_scenes.h"

#define STEP 1e-3
#define GRAVITY 9.81
#define SHELL 1e-5

static inline rbWorldDef defineWorld(void)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.step.step = STEP;
    def.contact.hasEvents = true;
    return def;
}

static inline rbWorld* makeWorld(const rbWorldDef* def)
{
    rbError error = {0};
    rbWorld* world = rbCreateWorld(def, &error);
    if (world == NULL) {
        fail_msg("%s", error.message);
    }
    return world;
}

typedef struct Piece {
    const char* name;
    rbVec3 position;
    rbVec3 size;   // of a box; z 0: a plane
    rbVec3 offset; // of the shape in the body
    double restitution;
    double friction;
    uint32_t groups, mask; // 0: the defaults
} Piece;

static inline rbShapeId addShape(rbWorld* world, rbBodyId bodyId, const Piece* piece,
                                 rbError* error)
{
    rbShapeDef shape = rbDefaultShapeDef();
    rbGeometry* geometry = piece->size.z > 0.0
                               ? rbCreateBox(rbScale(0.5, piece->size), error)
                               : rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, error);
    shape.geometry = rbWorld_AddGeometry(world, geometry);
    shape.transform.p = piece->offset;
    shape.material.restitution = piece->restitution;
    shape.material.friction = piece->friction;
    shape.groups = piece->groups != 0 ? piece->groups : shape.groups;
    shape.mask = piece->mask != 0 ? piece->mask : shape.mask;
    return rbCreateShape(world, bodyId, &shape, error);
}

static inline rbBodyId addPiece(rbWorld* world, const Piece* piece)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.name = piece->name;
    def.type = piece->size.z > 0.0 ? RB_BODY_DYNAMIC : RB_BODY_STATIC;
    def.position = piece->position;
    rbBodyId id = rbCreateBody(world, &def, &error);
    assert_false(RB_IS_NULL(id));
    if (RB_IS_NULL(addShape(world, id, piece, &error))) {
        fail_msg("%s", error.message);
    }
    return id;
}

static inline rbBodyId addFloor(rbWorld* world)
{
    Piece floor = {.name = "floor", .restitution = 1.0, .friction = 1.0};
    return addPiece(world, &floor);
}

// A cube of 0.1 m and 1 kg whose lower face is at a height.
#define CUBE_MASS 1.0
static inline rbBodyId addCube(rbWorld* world, const char* name, rbVec3 foot)
{
    Piece cube = {.name = name,
                  .position = {foot.x, foot.y, foot.z + 0.05},
                  .size = {0.1, 0.1, 0.1},
                  .friction = 0.25};
    return addPiece(world, &cube);
}

static inline void advance(rbWorld* world, double time)
{
    rbStepReport report = rbWorld_AdvanceTo(world, time);
    if (report.status != RB_STATUS_OK) {
        fail_msg("%s", rbWorld_GetError(world).message);
    }
}
