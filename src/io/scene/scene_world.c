// The world of a scene: geometries, bodies with all their copies, forces, joints and springs.
#include "base/core/float_mode.h"
#include "base/core/hash.h"
#include "base/core/random.h"
#include "io/scene/scene_joints.h"

#include <string.h>

// The state of creating a world.
typedef struct Maker {
    const rbScene* scene;
    rbWorld* world;
    rbError* error;
    rbGeometryId* geometryIds; // null until used
    rbBodyId* bodyIds;         // by index of the body in the world
} Maker;

// The pose and motion of one copy of a body.
typedef struct CopyState {
    rbVec3 offset; // of its path
    rbVec3 position;
    rbQuat orientation;
    rbVec3 velocity;
    rbVec3 spin;
} CopyState;

// Uniform in a ball, by rejection: no elementary functions, the same bits on every platform.
static rbVec3 drawInBall(rbRandom* random, double radius)
{
    RB_ASSERT(radius >= 0.0);
    for (;;) {
        rbVec3 v;
        v.x = rbRandom_Symmetric(random);
        v.y = rbRandom_Symmetric(random);
        v.z = rbRandom_Symmetric(random);
        if (rbLengthSquared(v) <= 1.0) {
            return rbScale(radius, v);
        }
    }
}

// Uniform over all rotations: a direction in four dimensions.
static rbQuat drawOrientation(rbRandom* random)
{
    for (;;) {
        rbQuat q;
        q.w = rbRandom_Symmetric(random);
        q.x = rbRandom_Symmetric(random);
        q.y = rbRandom_Symmetric(random);
        q.z = rbRandom_Symmetric(random);
        double square = rbDotQuat(q, q);
        if (square <= 1.0 && square > 1e-4) {
            return rbNormalizeQuat(q);
        }
    }
}

static void scatterCopy(const rbSceneBody* body, rbRandom* random, CopyState* state)
{
    rbVec3 box = body->scatterBox;
    state->offset.x = rbRandom_Range(random, -0.5 * box.x, 0.5 * box.x);
    state->offset.y = rbRandom_Range(random, -0.5 * box.y, 0.5 * box.y);
    state->offset.z = rbRandom_Range(random, -0.5 * box.z, 0.5 * box.z);
    state->orientation = drawOrientation(random);
    state->velocity = rbAdd(body->velocity, drawInBall(random, body->scatterSpeed));
    state->spin = rbAdd(body->spin, drawInBall(random, body->scatterSpin));
}

static CopyState placeCopy(const rbScene* scene, const rbSceneBody* body, int copy,
                           rbRandom* random)
{
    CopyState state = {
        .orientation = body->orientation, .velocity = body->velocity, .spin = body->spin};
    if (body->copyKind == RB_COPY_REPEAT) {
        int ix = copy % body->repeatCount[0];
        int row = copy / body->repeatCount[0];
        int iy = row % body->repeatCount[1];
        int iz = row / body->repeatCount[1];
        RB_ASSERT(iz < body->repeatCount[2]);
        state.offset = rbMulEach(body->repeatSpacing, (rbVec3){(double)ix, (double)iy, (double)iz});
    } else if (body->copyKind == RB_COPY_SCATTER) {
        scatterCopy(body, random, &state);
    }
    state.position = rbAdd(body->position, state.offset);
    if (body->copyKind == RB_COPY_TREE) {
        rbTransform transform =
            rbSceneTree_GetTransform(&scene->trees.data[body->tree], body->level, copy);
        state.position = transform.p;
        state.orientation = transform.q;
    }
    if (body->isSpinLocal) {
        state.spin = rbRotate(state.orientation, state.spin);
    }
    return state;
}

static rbStatus makeShapes(Maker* maker, const rbSceneBody* body, rbBodyId bodyId)
{
    RB_ASSERT(!RB_IS_NULL(bodyId));
    for (int i = 0; i < body->shapeCount; ++i) {
        const rbSceneShape* shape = &maker->scene->shapes.data[body->firstShape + i];
        rbGeometryId* geometryId = &maker->geometryIds[shape->geometry];
        if (RB_IS_NULL(*geometryId)) {
            // The world takes one reference, the scene keeps its own.
            *geometryId = rbWorld_AddGeometry(
                maker->world,
                rbGeometry_Retain(maker->scene->geometries.data[shape->geometry].geometry));
        }
        rbShapeDef def = rbDefaultShapeDef();
        def.geometry = *geometryId;
        def.transform = shape->transform;
        def.material = shape->material;
        def.groups = shape->groups;
        def.mask = shape->mask;
        def.surfaceVelocity = shape->surfaceVelocity;
        def.isSensor = shape->isSensor;
        if (RB_IS_NULL(rbCreateShape(maker->world, bodyId, &def, maker->error))) {
            return RB_STATUS_INVALID;
        }
    }
    return RB_STATUS_OK;
}

// Path points of a copy, moved by its offset, in the memory given.
static const rbVec3* movePoints(const rbPathDef* path, rbVec3 offset, rbVec3* moved)
{
    for (int i = 0; i < path->pointCount; ++i) {
        moved[i] = rbAdd(path->points[i], offset);
    }
    return moved;
}

static rbStatus makeCopy(Maker* maker, const rbSceneBody* body, int copy, const CopyState* state)
{
    RB_ASSERT(body->firstIndex + copy < maker->scene->info.bodyCount);
    char name[RB_SCENE_NAME_MAX + 1];
    rbSceneBody_WriteName(body, copy, name);
    rbBodyDef def = rbDefaultBodyDef();
    def.name = name;
    def.type = body->type;
    def.position = state->position;
    def.orientation = state->orientation;
    def.linearVelocity = state->velocity;
    def.angularVelocity = state->spin;
    def.growth = body->growth;
    def.mass = body->hasMass ? &body->mass : NULL;
    if (body->hasMotion) {
        def.motion = body->motion;
    }
    rbPathDef path = body->path;
    rbVec3* points = rbAlloc((size_t)path.pointCount * sizeof *points);
    if (body->hasPath) {
        path.points = movePoints(&body->path, state->offset, points);
        def.path = &path;
    }
    rbBodyId bodyId = rbCreateBody(maker->world, &def, maker->error);
    rbFree(points, (size_t)path.pointCount * sizeof *points);
    if (RB_IS_NULL(bodyId)) {
        return RB_STATUS_INVALID;
    }
    maker->bodyIds[body->firstIndex + copy] = bodyId;
    return makeShapes(maker, body, bodyId);
}

// Adds the file and the body to an error of the world.
static rbStatus adoptError(const Maker* maker, const char* list, int index, const char* name)
{
    RB_ASSERT(index >= 0);
    rbReader reader = {.error = maker->error, .file = maker->scene->file};
    rbReader_Push(&reader, list);
    rbReader_PushIndex(&reader, (size_t)index);
    // Some messages of the world already name the body.
    if (name != NULL && strncmp(maker->error->message, "body \"", 6) != 0) {
        rbReader_SetSubject(&reader, "body", name);
    }
    rbStatus status = maker->error->status;
    return rbReader_Adopt(&reader, status != RB_STATUS_OK ? status : RB_STATUS_INVALID, NULL);
}

static rbStatus makeBodies(Maker* maker)
{
    const rbScene* scene = maker->scene;
    for (int b = 0; b < scene->bodies.count; ++b) {
        const rbSceneBody* body = &scene->bodies.data[b];
        // The random numbers of a scattered body depend only on the seed and its name.
        rbRandom random = {
            rbHashBytes(RB_HASH_SEED ^ scene->info.seed, body->name, strlen(body->name))};
        for (int copy = 0; copy < body->copyCount; ++copy) {
            CopyState state = placeCopy(scene, body, copy, &random);
            if (makeCopy(maker, body, copy, &state) != RB_STATUS_OK) {
                return adoptError(maker, "bodies", b, body->name);
            }
        }
    }
    return RB_STATUS_OK;
}

rbBodyId rbMakeBody(const rbScene* scene, rbWorld* world, rbError* error)
{
    RB_ASSERT(scene->info.bodyCount == 1);
    const rbBodyId none = {0, 0};
    size_t geometrySize = (size_t)scene->geometries.count * sizeof(rbGeometryId);
    rbBodyId bodyId = none;
    Maker maker = {.scene = scene,
                   .world = world,
                   .error = error,
                   .geometryIds = rbAllocZero(1, geometrySize),
                   .bodyIds = &bodyId};
    rbStatus status = makeBodies(&maker);
    if (status != RB_STATUS_OK && !RB_IS_NULL(bodyId)) {
        rbDestroyBody(world, bodyId);
    }
    for (int i = 0; status != RB_STATUS_OK && i < scene->geometries.count; ++i) {
        if (!RB_IS_NULL(maker.geometryIds[i])) {
            (void)rbWorld_DestroyGeometry(world, maker.geometryIds[i], NULL);
        }
    }
    rbFree(maker.geometryIds, geometrySize);
    return status == RB_STATUS_OK ? bodyId : none;
}

static rbStatus makeForce(Maker* maker, const rbSceneForce* force, rbBodyId bodyId)
{
    rbForceDef def = force->def;
    def.body = bodyId;
    rbForceId forceId = rbCreateForce(maker->world, &def, maker->error);
    return RB_IS_NULL(forceId) ? RB_STATUS_INVALID : RB_STATUS_OK;
}

static rbStatus makeForces(Maker* maker)
{
    const rbScene* scene = maker->scene;
    for (int f = 0; f < scene->forces.count; ++f) {
        const rbSceneForce* force = &scene->forces.data[f];
        rbStatus status = RB_STATUS_OK;
        if (force->body < 0) {
            status = makeForce(maker, force, (rbBodyId){0, 0});
        } else {
            const rbSceneBody* body = &scene->bodies.data[force->body];
            int first = force->copy < 0 ? 0 : force->copy;
            int end = force->copy < 0 ? body->copyCount : first + 1;
            for (int copy = first; copy < end && status == RB_STATUS_OK; ++copy) {
                status = makeForce(maker, force, maker->bodyIds[body->firstIndex + copy]);
            }
        }
        if (status != RB_STATUS_OK) {
            return adoptError(maker, "forces", f, NULL);
        }
    }
    return RB_STATUS_OK;
}

static rbStatus pairMaterials(Maker* maker)
{
    const rbScene* scene = maker->scene;
    for (int i = 0; i < scene->materialPairs.count; ++i) {
        const rbSceneMaterialPair* pair = &scene->materialPairs.data[i];
        if (rbWorld_SetMaterialPair(maker->world, pair->kindA, pair->kindB, &pair->pair,
                                    maker->error) != RB_STATUS_OK) {
            return adoptError(maker, "materialPairs", i, NULL);
        }
    }
    return RB_STATUS_OK;
}

rbWorld* rbScene_CreateWorld(const rbScene* scene, rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    RB_ASSERT(scene != NULL);
    rbError ignored = {0};
    error = error != NULL ? error : &ignored;
    error->status = RB_STATUS_OK;
    rbWorldDef def = rbDefaultWorldDef();
    def.gravity = scene->info.gravity;
    def.periodicBox = scene->info.periodicBox;
    def.motion = scene->info.motion;
    def.engine = scene->info.engineType;
    def.event = scene->info.event;
    def.step = scene->info.step;
    def.contact = scene->info.contact;
    def.bodyCapacity = scene->info.bodyCount;
    rbWorld* world = rbCreateWorld(&def, error);
    if (world == NULL) {
        rbError_SetPlace(error, scene->file, "");
        return NULL;
    }
    size_t geometrySize = (size_t)scene->geometries.count * sizeof(rbGeometryId);
    size_t bodySize = (size_t)scene->info.bodyCount * sizeof(rbBodyId);
    Maker maker = {.scene = scene,
                   .world = world,
                   .error = error,
                   .geometryIds = rbAllocZero(1, geometrySize),
                   .bodyIds = rbAllocZero(1, bodySize)};
    rbStatus status = pairMaterials(&maker);
    if (status == RB_STATUS_OK) {
        status = makeBodies(&maker);
    }
    if (status == RB_STATUS_OK) {
        status = makeForces(&maker);
    }
    if (status == RB_STATUS_OK) {
        status = rbMakeLinks(scene, world, maker.bodyIds, error);
    }
    rbFree(maker.geometryIds, geometrySize);
    rbFree(maker.bodyIds, bodySize);
    if (status != RB_STATUS_OK) {
        rbDestroyWorld(world);
        return NULL;
    }
    return world;
}
