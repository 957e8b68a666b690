// Worlds for tests of queries, and queries of every shape, one by one.
#pragma once

#include "rb_test.h"
#include "test/collision/shape_samples.h"

#include <rattleback/collision.h>
#include <rattleback/rattleback.h>

#include <math.h>
#include <stdlib.h>

static inline rbWorld* makeQueryWorld(rbEngineType engine)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.gravity = RB_VEC3_ZERO;
    def.engine = engine;
    rbError error = {0};
    rbWorld* world = rbCreateWorld(&def, &error);
    requireOk(world, &error);
    return world;
}

static inline rbBodyId addBody(rbWorld* world, rbBodyType type, rbTransform pose)
{
    rbBodyDef def = rbDefaultBodyDef();
    def.type = type;
    def.position = pose.p;
    def.orientation = pose.q;
    rbError error = {0};
    rbBodyId id = rbCreateBody(world, &def, &error);
    assert_false(RB_IS_NULL(id));
    return id;
}

// Transfers the geometry to the world.
static inline void addShape(rbWorld* world, rbBodyId bodyId, rbGeometry* geometry,
                            rbTransform transform, const uint32_t groups[2])
{
    rbError error = {0};
    rbShapeDef def = rbDefaultShapeDef();
    def.geometry = rbWorld_AddGeometry(world, geometry);
    def.transform = transform;
    if (groups != NULL) {
        def.groups = groups[0];
        def.mask = groups[1];
    }
    bool isMade = !RB_IS_NULL(rbCreateShape(world, bodyId, &def, &error));
    if (!isMade) {
        print_error("%s\n", error.message);
    }
    assert_true(isMade);
}

static inline rbBodyId addSolid(rbWorld* world, rbBodyType type, rbVec3 place, rbGeometry* geometry)
{
    rbBodyId id = addBody(world, type, (rbTransform){place, RB_QUAT_IDENTITY});
    addShape(world, id, geometry, RB_TRANSFORM_IDENTITY, NULL);
    return id;
}

// Bodies of all kinds of shapes, types, groups and counts of shapes in a cube, and a floor below.
static inline rbWorld* makeCrowd(rbRandom* random, int count, double half)
{
    rbWorld* world = makeQueryWorld(RB_ENGINE_FLIGHT);
    for (int i = 0; i < count; ++i) {
        rbBodyType type = (rbBodyType)(i % 3);
        rbBodyId id = addBody(world, type, randomTransform(random, half));
        const uint32_t groups[2] = {1u << (i % 4), i % 7 == 0 ? 0x5u : 0xFFFFu};
        for (int k = 0; k <= i % 5 / 3; ++k) {
            rbShapeType shape = (rbShapeType)rbRandom_Index(random, RB_SHAPE_COUNT);
            bool isSurface = shape == RB_SHAPE_SOUP || shape == RB_SHAPE_PLANE;
            shape = isSurface && type == RB_BODY_DYNAMIC ? RB_SHAPE_BOX : shape;
            shape = shape == RB_SHAPE_PLANE ? RB_SHAPE_SPHERE : shape;
            rbTransform transform = randomTransform(random, 0.5);
            addShape(world, id, makeSample(random, shape), transform, groups);
        }
    }
    rbGeometry* floor = rbCreatePlane(rbMakeVec3(0, 0, 1), -1.5 * half, NULL);
    (void)addSolid(world, RB_BODY_STATIC, RB_VEC3_ZERO, floor);
    return world;
}

static inline void* getScratch(void)
{
    static void* scratch;
    if (scratch == NULL) {
        scratch = malloc(rbGetSeparationScratchSize());
    }
    return scratch;
}

// Iterates over the shapes of a world.
typedef struct ShapeCursor {
    rbBodyId bodyId;
    int shapeIndex;
    const rbGeometry* geometry;
    rbTransform pose;
    int body; // in the order of the world
} ShapeCursor;

typedef void VisitShapeFn(void* context, const ShapeCursor* cursor);

static inline void visitShapes(const rbWorld* world, const rbQueryFilter* filter,
                               VisitShapeFn* visit, void* context)
{
    int count = rbWorld_GetBodyCount(world);
    rbBodyId* ids = malloc(((size_t)count + 1) * sizeof *ids);
    rbWorld_GetBodyIds(world, ids, count);
    for (int i = 0; i < count; ++i) {
        if (RB_ID_EQUALS(ids[i], filter->ignored)) {
            continue;
        }
        rbTransform frame = rbBody_GetState(world, ids[i]).transform;
        for (int k = 0; k < rbBody_GetShapeCount(world, ids[i]); ++k) {
            rbShapeDef def = rbBody_GetShape(world, ids[i], k);
            if ((def.groups & filter->mask) == 0 || (def.mask & filter->groups) == 0) {
                continue;
            }
            ShapeCursor cursor = {ids[i], k, rbWorld_GetGeometry(world, def.geometry),
                                  rbMulTransforms(frame, def.transform), i};
            visit(context, &cursor);
        }
    }
    free(ids);
}
