// Collecting contact events, and random bodies in a closed room.
#pragma once

#include "base/core/random.h"
#include "base/math/quaternion.h"
#include "contact_scenes.h"

#include <string.h>

#define EVENTS_MAX 20000

// Events of several advances.
typedef struct EventLog {
    rbContactEvent events[EVENTS_MAX];
    int advances[EVENTS_MAX]; // of each, which advance reported it
    int advance;
    int count;
} EventLog;

static inline void collect(const rbWorld* world, EventLog* log)
{
    int count;
    const rbContactEvent* events = rbWorld_GetContactEvents(world, &count);
    assert_true(log->count + count <= EVENTS_MAX);
    if (count > 0) {
        memcpy(&log->events[log->count], events, (size_t)count * sizeof *events);
    }
    for (int i = log->count; i < log->count + count; ++i) {
        log->advances[i] = log->advance;
    }
    log->advance += 1;
    log->count += count;
}

// Advances in slices and collects.
static inline void run(rbWorld* world, double time, int slices, EventLog* log)
{
    double start = rbWorld_GetTime(world);
    for (int i = 1; i <= slices; ++i) {
        (void)rbWorld_AdvanceTo(world, start + (time - start) * i / slices);
        collect(world, log);
    }
}

static inline bool isSameId(rbBodyId a, rbBodyId b)
{
    return a.index1 == b.index1 && a.generation == b.generation;
}

static inline rbBodyId addSolidOf(rbWorld* world, const char* name, rbGeometry* geometry,
                                  const rbBodyDef* def, const rbShapeDef* shapeDef)
{
    rbError error = {0};
    rbBodyDef own = *def;
    own.name = name;
    rbShapeDef shape = *shapeDef;
    shape.geometry = rbWorld_AddGeometry(world, geometry);
    rbBodyId id = rbCreateBody(world, &own, &error);
    if (RB_IS_NULL(id) || RB_IS_NULL(rbCreateShape(world, id, &shape, &error))) {
        fail_msg("%s", error.message);
    }
    return id;
}

static inline rbBodyId addBall(rbWorld* world, const char* name, double radius, rbVec3 center,
                               const rbShapeDef* shape)
{
    rbBodyDef def = rbDefaultBodyDef();
    def.position = center;
    return addSolidOf(world, name, rbCreateSphere(radius, NULL), &def, shape);
}

static inline rbGeometry* makeAnyGeometry(rbRandom* random)
{
    switch (rbRandom_Index(random, 4)) {
    case 0:
        return rbCreateSphere(rbRandom_Range(random, 0.05, 0.12), NULL);
    case 1:
        return rbCreateBox(rbMakeVec3(rbRandom_Range(random, 0.05, 0.12),
                                      rbRandom_Range(random, 0.05, 0.12),
                                      rbRandom_Range(random, 0.05, 0.12)),
                           NULL);
    case 2:
        return rbCreateCapsule(rbRandom_Range(random, 0.04, 0.08),
                               rbRandom_Range(random, 0.04, 0.08), NULL);
    default:
        return rbCreateCylinder(rbRandom_Range(random, 0.05, 0.12),
                                rbRandom_Range(random, 0.05, 0.12), NULL);
    }
}

static inline rbVec3 anyVector(rbRandom* random, double size)
{
    return rbMakeVec3(size * rbRandom_Symmetric(random), size * rbRandom_Symmetric(random),
                      size * rbRandom_Symmetric(random));
}

// Bodies of any shape, apart from each other at the start, in a room of six half spaces.
#define ROOM_BODIES 6

typedef struct Room {
    rbWorld* world;
    rbBodyId bodies[ROOM_BODIES];
} Room;

static inline Room makeRoom(rbRandom* random, const rbWorldDef* def)
{
    static const char* const names[ROOM_BODIES] = {"a", "b", "c", "d", "e", "f"};
    static const char* const wallNames[6] = {"left", "right", "front", "back", "floor", "roof"};
    Room room = {.world = makeWorld(def)};
    rbShapeDef shape = rbDefaultShapeDef();
    shape.material.restitution = rbRandom_Unit(random);
    shape.material.friction = rbRandom_Unit(random);
    for (int i = 0; i < 6; ++i) {
        rbVec3 normal = RB_VEC3_ZERO;
        *(&normal.x + i / 2) = i % 2 == 0 ? 1.0 : -1.0;
        rbBodyDef wall = rbDefaultBodyDef();
        wall.type = RB_BODY_STATIC;
        double half = i / 2 == 2 ? 0.25 : 0.5;
        (void)addSolidOf(room.world, wallNames[i], rbCreatePlane(normal, -half, NULL), &wall,
                         &shape);
    }
    for (int i = 0; i < ROOM_BODIES; ++i) {
        rbBodyDef body = rbDefaultBodyDef();
        body.position = rbMakeVec3(0.32 * (i % 3 - 1), i < 3 ? -0.24 : 0.24, 0.0);
        rbQuat q = {rbRandom_Symmetric(random), rbRandom_Symmetric(random),
                    rbRandom_Symmetric(random), rbRandom_Symmetric(random)};
        body.orientation = rbNormalizeQuat(q);
        body.linearVelocity = anyVector(random, 3.0);
        body.angularVelocity = anyVector(random, 6.0);
        room.bodies[i] = addSolidOf(room.world, names[i], makeAnyGeometry(random), &body, &shape);
    }
    return room;
}
