// What of a scene domains support: spheres that move, and bodies that contacts do not move.
//
// Uids of spheres are their order in the scene. Materials are those of the shapes, as far as they
// differ.
#include "cli/rank_scene.h"

#include "base/core/memory.h"
#include "base/core/status.h"

#include <math.h>

#define REMEDY "; such scenes run without mpirun"
#define DEFAULT_SWEEPS 20

typedef struct Reader {
    rbRankScene* read;
    const rbSceneInfo* info;
    rbRanks* ranks;
    bool hasSpheres;
    RB_ARRAY(int) shapeMaterials;
    bool isElastic; // all spheres so far have restitution 1 and no friction
    int wallCount;
} Reader;

// What concerns the scene as a whole.
static rbStatus checkScene(const rbSceneInfo* info, rbError* error)
{
    RB_REFUSE_IF(info->engineType != RB_ENGINE_STEP, RB_STATUS_UNSUPPORTED, error,
                 "the engine of this scene is \"%s\"; on ranks of MPI runs the engine \"step\" "
                 "only" REMEDY,
                 info->engine);
    RB_REFUSE_IF(info->forceCount > 0, RB_STATUS_UNSUPPORTED, error,
                 "this scene has forces besides gravity, which ranks of MPI do not support" REMEDY);
    RB_REFUSE_IF(info->jointCount + info->springCount > 0, RB_STATUS_UNSUPPORTED, error,
                 "this scene has joints or springs, which ranks of MPI do not support" REMEDY);
    RB_REFUSE_IF(!info->contact.isEnabled, RB_STATUS_UNSUPPORTED, error,
                 "contacts of this scene are not enabled; on ranks of MPI bodies collide: remove "
                 "contact.enabled");
    RB_REFUSE_IF(info->contact.restitution != RB_RESTITUTION_CONSTANT, RB_STATUS_UNSUPPORTED, error,
                 "contact.restitution of this scene is not \"constant\", which is all that ranks "
                 "of MPI support" REMEDY);
    RB_REFUSE_IF(info->step.accuracy == RB_ACCURACY_EXACT, RB_STATUS_UNSUPPORTED, error,
                 "step.accuracy is \"exact\"; ranks of MPI take steps of a given size" REMEDY);
    return RB_STATUS_OK;
}

static bool isSameMaterial(const rbMaterial* a, const rbMaterial* b)
{
    return a->restitution == b->restitution && a->friction == b->friction &&
           a->rolling == b->rolling && a->kind == b->kind;
}

int rbRankScene_FindMaterial(const rbRankScene* read, const rbMaterial* material)
{
    for (int i = 0; i < read->materialCount; ++i) {
        if (isSameMaterial(&read->materials[i], material)) {
            return i;
        }
    }
    return -1;
}

// The index of the material of a shape.
static rbStatus findMaterial(Reader* reader, const char* name, const rbShapeDef* shape, int* index,
                             rbError* error)
{
    const rbMaterial* material = &shape->material;
    RB_REFUSE_IF(material->stiction >= 0.0 && material->stiction != material->friction,
                 RB_STATUS_UNSUPPORTED, error,
                 "body \"%.60s\" has a stiction of its own; ranks of MPI know friction only: "
                 "remove stiction from its material",
                 name);
    RB_REFUSE_IF(material->spinning != 0.0, RB_STATUS_UNSUPPORTED, error,
                 "body \"%.60s\" has resistance against spinning; ranks of MPI know rolling only: "
                 "remove spinning from its material",
                 name);
    RB_REFUSE_IF(shape->isSensor, RB_STATUS_UNSUPPORTED, error,
                 "body \"%.60s\" has a sensor, which ranks of MPI do not support" REMEDY, name);
    RB_REFUSE_IF(shape->groups != 1 || shape->mask != UINT32_MAX, RB_STATUS_UNSUPPORTED, error,
                 "body \"%.60s\" collides with some groups only; on ranks of MPI all bodies "
                 "collide" REMEDY,
                 name);
    rbRankScene* read = reader->read;
    *index = rbRankScene_FindMaterial(read, material);
    RB_REFUSE_IF(*index < 0 && read->materialCount == RB_CLUSTER_MATERIALS_MAX, RB_STATUS_LIMIT,
                 error, "the scene has more than %d different materials", RB_CLUSTER_MATERIALS_MAX);
    if (*index < 0) {
        *index = read->materialCount;
        read->materials[read->materialCount++] = *material;
    }
    return RB_STATUS_OK;
}

static void extend(Reader* reader, rbBounds bounds)
{
    if (rbIsFinite3(bounds.lower) && rbIsFinite3(bounds.upper)) {
        rbBounds* region = &reader->read->region;
        region->lower = rbMin3(region->lower, bounds.lower);
        region->upper = rbMax3(region->upper, bounds.upper);
    }
}

// The sphere of a body; refuses other shapes.
static rbStatus readSphere(Reader* reader, rbBodyId bodyId, rbClusterSphere* sphere, rbError* error)
{
    const rbWorld* world = reader->read->world;
    const char* name = rbBody_GetName(world, bodyId);
    bool isOne = rbBody_GetShapeCount(world, bodyId) == 1;
    rbShapeDef shape = isOne ? rbBody_GetShape(world, bodyId, 0) : (rbShapeDef){0};
    rbShapeData data = {0};
    if (isOne) {
        data = rbGeometry_GetData(rbWorld_GetGeometry(world, shape.geometry));
    }
    RB_REFUSE_IF(
        !isOne || data.type != RB_SHAPE_SPHERE || rbLengthSquared(shape.transform.p) > 0.0,
        RB_STATUS_UNSUPPORTED, error,
        "body \"%.60s\" is not one sphere about its origin; on ranks of MPI only spheres move: "
        "make it a sphere, or static or kinematic, or run without mpirun",
        name);
    RB_TRY(findMaterial(reader, name, &shape, &sphere->material, error));
    RB_REFUSE_IF(rbLengthSquared(shape.surfaceVelocity) > 0.0, RB_STATUS_UNSUPPORTED, error,
                 "body \"%.60s\" moves and has a surfaceVelocity; on ranks of MPI only walls are "
                 "conveyors" REMEDY,
                 name);
    rbMassProperties mass = rbBody_GetMass(world, bodyId);
    double radius = data.sphere.radius;
    double inertia = 0.4 * mass.mass * radius * radius;
    RB_REFUSE_IF(!(fabs(mass.inertia.xx - inertia) <= 1e-6 * inertia &&
                   fabs(mass.inertia.yy - inertia) <= 1e-6 * inertia &&
                   fabs(mass.inertia.zz - inertia) <= 1e-6 * inertia),
                 RB_STATUS_UNSUPPORTED, error,
                 "body \"%.60s\" has not the inertia of a uniform sphere, which is all that ranks "
                 "of MPI support: remove its inertia",
                 name);
    rbBodyState state = rbBody_GetState(world, bodyId);
    sphere->position = state.center;
    sphere->orientation = state.transform.q;
    sphere->velocity = state.linearVelocity;
    sphere->spin = state.angularVelocity;
    sphere->radius = radius;
    sphere->mass = mass.mass;
    return RB_STATUS_OK;
}

// A wall: its materials, and where it is.
static rbStatus readWall(Reader* reader, rbBodyId bodyId, rbError* error)
{
    const rbWorld* world = reader->read->world;
    int count = rbBody_GetShapeCount(world, bodyId);
    rbTransform pose = rbBody_GetState(world, bodyId).transform;
    rbArray_SetCount(reader->shapeMaterials, count);
    for (int i = 0; i < count; ++i) {
        rbShapeDef shape = rbBody_GetShape(world, bodyId, i);
        RB_TRY(findMaterial(reader, rbBody_GetName(world, bodyId), &shape,
                            &reader->shapeMaterials.data[i], error));
        extend(reader, rbGeometry_GetBounds(rbWorld_GetGeometry(world, shape.geometry),
                                            rbMulTransforms(pose, shape.transform)));
    }
    return RB_STATUS_OK;
}

// Without a cluster finds out what there is; otherwise adds the walls and the share of this rank.
static rbStatus readBody(Reader* reader, rbBodyId bodyId, uint64_t uid, rbError* error)
{
    rbRankScene* read = reader->read;
    if (rbBody_GetType(read->world, bodyId) != RB_BODY_DYNAMIC) {
        ++reader->wallCount;
        RB_TRY(readWall(reader, bodyId, error));
        return read->cluster != NULL ? rbCluster_AddWall(read->cluster, read->world, bodyId,
                                                         reader->shapeMaterials.data, error)
                                     : RB_STATUS_OK;
    }
    rbClusterSphere sphere = {.uid = uid};
    RB_TRY(readSphere(reader, bodyId, &sphere, error));
    if (read->cluster == NULL) {
        const rbMaterial* material = &reader->read->materials[sphere.material];
        reader->isElastic =
            reader->isElastic && material->restitution == 1.0 && material->friction == 0.0;
        read->radiusMax = fmax(read->radiusMax, sphere.radius);
        extend(reader, (rbBounds){sphere.position, sphere.position});
    } else if (reader->hasSpheres && uid % (uint64_t)rbRanks_GetCount(reader->ranks) ==
                                         (uint64_t)rbRanks_GetIndex(reader->ranks)) {
        RB_TRY(rbCluster_AddSphere(read->cluster, &sphere, error));
    }
    return RB_STATUS_OK;
}

static rbStatus readBodies(Reader* reader, rbError* error)
{
    const rbWorld* world = reader->read->world;
    int count = rbWorld_GetBodyCount(world);
    size_t size = (size_t)count * sizeof(rbBodyId);
    rbBodyId* ids = rbAlloc(size);
    (void)rbWorld_GetBodyIds(world, ids, count);
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        status = readBody(reader, ids[i], (uint64_t)i, error);
    }
    rbFree(ids, size);
    return status;
}

static rbStatus setPairs(Reader* reader, rbError* error)
{
    const rbContactSettings* rules = &reader->info->contact;
    for (int i = 0; i < reader->read->materialCount; ++i) {
        for (int k = 0; k <= i; ++k) {
            const rbMaterial* a = &reader->read->materials[i];
            const rbMaterial* b = &reader->read->materials[k];
            rbMaterialPair own;
            rbClusterPair pair = {
                .restitution =
                    rbCombineRestitution(rules->restitutionRule, a->restitution, b->restitution),
                .friction = rbCombineRule_Apply(rules->frictionRule, a->friction, b->friction),
                .rolling = fmax(a->rolling, b->rolling)};
            if (rbWorld_GetMaterialPair(reader->read->world, a->kind, b->kind, &own)) {
                pair.restitution = own.restitution;
                pair.friction = own.friction;
            }
            RB_TRY(rbCluster_SetPair(reader->read->cluster, i, k, &pair, error));
        }
    }
    return RB_STATUS_OK;
}

static rbStatus survey(Reader* reader, const rbScene* scene, rbError* error)
{
    rbRankScene* read = reader->read;
    double far = (double)INFINITY;
    read->region = (rbBounds){{far, far, far}, {-far, -far, -far}};
    RB_TRY(checkScene(reader->info, error));
    read->world = rbScene_CreateWorld(scene, error);
    if (read->world == NULL) {
        return error->status;
    }
    RB_TRY(readBodies(reader, error));
    RB_REFUSE_IF(read->radiusMax <= 0.0, RB_STATUS_UNSUPPORTED, error,
                 "this scene has no sphere that moves; add one, or an inlet (--inlet)");
    rbVec3 box = reader->info->periodicBox;
    read->isGas = reader->isElastic && reader->wallCount == 0 && box.x > 0.0 && box.y > 0.0 &&
                  box.z > 0.0 && rbLengthSquared(reader->info->gravity) == 0.0;
    return RB_STATUS_OK;
}

static rbStatus build(Reader* reader, rbError* error)
{
    rbRankScene* read = reader->read;
    const rbSceneInfo* info = reader->info;
    rbClusterDef def = rbDefaultClusterDef();
    def.step = info->step.step;
    def.radiusMax = read->radiusMax;
    def.periodicBox = info->periodicBox;
    // spheres will spread: the cells of the border are the slowest
    rbVec3 size = rbSub(read->region.upper, read->region.lower);
    double spread = 0.5 * fmax(size.x, fmax(size.y, size.z));
    def.low = rbSub(read->region.lower, rbMakeVec3(spread, spread, spread));
    def.high = rbAdd(read->region.upper, rbMakeVec3(spread, spread, spread));
    if (!read->isGas) {
        def.law = "granular";
        def.gravity = info->gravity;
        def.restSpeed = info->contact.restSpeed;
        int sweeps = info->contact.sweepsMax;
        def.sweeps = sweeps <= 1000 ? sweeps : DEFAULT_SWEEPS;
    }
    read->cluster = rbCreateCluster(reader->ranks, &def, error);
    rbStatus status = read->cluster != NULL ? RB_STATUS_OK : error->status;
    if (status == RB_STATUS_OK && !read->isGas) {
        status = setPairs(reader, error);
    }
    return status == RB_STATUS_OK ? readBodies(reader, error) : status;
}

rbStatus rbRankScene_Read(rbRankScene* read, rbRanks* ranks, const rbScene* scene, bool hasSpheres,
                          rbError* error)
{
    Reader reader = {.read = read,
                     .info = rbScene_GetInfo(scene),
                     .ranks = ranks,
                     .hasSpheres = hasSpheres,
                     .isElastic = true};
    *error = (rbError){0}; // reading a scene may leave the name of a file
    rbStatus status = rbRanks_Agree(ranks, survey(&reader, scene, error), error);
    if (status == RB_STATUS_OK) {
        status = rbRanks_Agree(ranks, build(&reader, error), error);
    }
    rbArray_Free(reader.shapeMaterials);
    return status;
}

void rbRankScene_Free(rbRankScene* read)
{
    rbDestroyCluster(read->cluster);
    rbDestroyWorld(read->world);
    *read = (rbRankScene){0};
}
