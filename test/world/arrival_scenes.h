// Arriving bodies: balls and boxes with a material, and floors.
#pragma once

#include "rb_test.h"

#include <rattleback/rattleback.h>

typedef struct Flyer {
    rbGeometry* geometry; // the world owns it
    rbVec3 position;
    rbVec3 velocity;
    rbVec3 spin; // world axes
    double density;
    double restitution;
    double friction;
    bool isStatic;
} Flyer;

static inline rbWorld* makeArrivalWorld(const rbWorldDef* def)
{
    rbError error = {0};
    rbWorld* world = rbCreateWorld(def, &error);
    if (world == NULL) {
        fail_msg("%s", error.message);
    }
    return world;
}

static inline rbWorldDef defineArrivals(double step, rbContactTime row)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.step.step = step;
    def.contact.contactTime = row;
    return def;
}

static inline rbBodyId addFlyer(rbWorld* world, const Flyer* flyer)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.type = flyer->isStatic ? RB_BODY_STATIC : RB_BODY_DYNAMIC;
    def.position = flyer->position;
    def.linearVelocity = flyer->velocity;
    def.angularVelocity = flyer->spin;
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, flyer->geometry);
    shape.material.restitution = flyer->restitution;
    shape.material.friction = flyer->friction;
    shape.material.density = flyer->density > 0.0 ? flyer->density : shape.material.density;
    if (RB_IS_NULL(id) || RB_IS_NULL(rbCreateShape(world, id, &shape, &error))) {
        fail_msg("%s", error.message);
    }
    return id;
}

static inline rbBodyId addGround(rbWorld* world, double restitution, double friction)
{
    Flyer floor = {.geometry = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL),
                   .restitution = restitution,
                   .friction = friction,
                   .isStatic = true};
    return addFlyer(world, &floor);
}
