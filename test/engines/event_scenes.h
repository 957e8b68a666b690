// Small worlds for the tests of the event engine: a few lines of code make a scene.
#pragma once

#include "base/core/hash.h"
#include "base/core/memory.h"
#include "base/core/random.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/rattleback.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline rbWorldDef eventWorldDef(double gravity)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_EVENT;
    def.gravity = rbMakeVec3(0.0, 0.0, -gravity);
    return def;
}

static inline rbWorld* makeWorldOf(const rbWorldDef* def)
{
    rbError error = {0};
    rbWorld* world = rbCreateWorld(def, &error);
    if (world == NULL) {
        print_error("no world: %s\n", error.message);
        fail();
    }
    return world;
}

// The index-th place of a lattice with the given step, columns x rows in every layer.
static inline rbVec3 latticePlace(int index, int columns, int rows, double step)
{
    int column = index % columns;
    int row = index / columns % rows;
    int layer = index / columns / rows;
    return rbMakeVec3(step * column, step * row, step * layer);
}

// The properties of a body of a scene.
typedef struct Made {
    const char* name;
    rbVec3 position;
    rbVec3 velocity;
    rbVec3 spin;
    rbQuat orientation; // zero: not rotated
    double restitution;
    double friction;
    double density; // kg/m^3; zero: 1000
    int kind;
    double growth; // m/s
} Made;

// Adds a dynamic body, a static one (isFixed) or one on a path.
static inline rbBodyId addMade(rbWorld* world, const Made* made, rbGeometry* geometry,
                               rbBodyType type, const rbPathDef* path)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.name = made->name;
    def.type = type;
    def.path = path;
    def.position = made->position;
    if (made->orientation.w != 0.0) {
        def.orientation = rbNormalizeQuat(made->orientation);
    }
    def.linearVelocity = made->velocity;
    def.angularVelocity = made->spin;
    def.growth = made->growth;
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, geometry);
    shape.material.restitution = made->restitution;
    shape.material.friction = made->friction;
    shape.material.density = made->density > 0.0 ? made->density : 1000.0;
    shape.material.kind = made->kind;
    if (RB_IS_NULL(id) || RB_IS_NULL(rbCreateShape(world, id, &shape, &error))) {
        print_error("no body: %s\n", error.message);
        fail();
    }
    return id;
}

// A box of twelve triangles.
static inline rbGeometry* makeMeshBox(double edge)
{
    static const int indices[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                    2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    rbVec3 corners[8];
    for (int i = 0; i < 8; ++i) {
        corners[i] = rbMakeVec3((i & 1 ? 0.5 : -0.5) * edge, (i & 2 ? 0.45 : -0.45) * edge,
                                (i & 4 ? 0.4 : -0.4) * edge);
    }
    rbMeshDef def = {.vertices = corners, .vertexCount = 8, .indices = indices, .faceCount = 12};
    return rbCreateMesh(&def, NULL);
}

static inline rbBodyId addSphere(rbWorld* world, double radius, Made made)
{
    return addMade(world, &made, rbCreateSphere(radius, NULL), RB_BODY_DYNAMIC, NULL);
}

static inline rbBodyId addBox(rbWorld* world, double x, double y, double z, Made made)
{
    rbVec3 half = {0.5 * x, 0.5 * y, 0.5 * z};
    return addMade(world, &made, rbCreateBox(half, NULL), RB_BODY_DYNAMIC, NULL);
}

static inline rbBodyId addFixedBox(rbWorld* world, double x, double y, double z, Made made)
{
    rbVec3 half = {0.5 * x, 0.5 * y, 0.5 * z};
    return addMade(world, &made, rbCreateBox(half, NULL), RB_BODY_STATIC, NULL);
}

// The half space z <= 0.
static inline rbBodyId addFloor(rbWorld* world, double restitution, double friction)
{
    Made made = {.name = "floor", .restitution = restitution, .friction = friction};
    rbVec3 up = {0.0, 0.0, 1.0};
    return addMade(world, &made, rbCreatePlane(up, 0.0, NULL), RB_BODY_STATIC, NULL);
}

static inline void advanceFine(rbWorld* world, double time)
{
    rbStepReport report = rbWorld_AdvanceTo(world, time);
    if (report.status != RB_STATUS_OK) {
        print_error("status %d: %s\n", (int)report.status, rbWorld_GetError(world).message);
        fail();
    }
}

// The n-th event of a kind, NULL if there are fewer.
static inline const rbEvent* findEvent(const rbWorld* world, rbEventKind kind, int n)
{
    int count;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    for (int i = 0; i < count; ++i) {
        if (events[i].kind == kind && n-- == 0) {
            return &events[i];
        }
    }
    return NULL;
}

static inline int countEvents(const rbWorld* world, rbEventKind kind)
{
    int n = 0;
    while (findEvent(world, kind, n) != NULL) {
        ++n;
    }
    return n;
}

static inline void checkOverlap(const rbWorld* world)
{
    rbEventStatistics statistics = rbWorld_GetEventStatistics(world);
    checkBelow(statistics.overlapMax, statistics.tolerance);
}

// Every number of the journal, bit by bit.
static inline uint64_t hashJournal(const rbWorld* world)
{
    int count;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    uint64_t hash = RB_HASH_SEED;
    for (int i = 0; i < count; ++i) {
        const rbEvent* e = &events[i];
        double values[] = {e->time,
                           e->energyChange,
                           e->energyBefore,
                           e->frictionWork,
                           e->point.x,
                           e->point.y,
                           e->point.z,
                           e->normal.x,
                           e->normal.y,
                           e->normal.z,
                           e->impulse.x,
                           e->impulse.y,
                           e->impulse.z,
                           e->approachSpeed,
                           (double)e->kind,
                           (double)e->law,
                           (double)e->history,
                           (double)e->bodyA.index1,
                           (double)e->bodyB.index1};
        hash = rbHashDoubles(hash, values, sizeof values / sizeof values[0]);
    }
    return hash;
}
