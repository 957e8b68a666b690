// Converts the bodies of a scene for the frame system: on paths, or at rest.
#include "io/scene/scene_model.h"
#include "laboratory/scene_rays.h"

// The shapes of a body as one geometry, a new reference.
static rbGeometry* joinShapes(const rbScene* scene, const rbSceneBody* body, rbError* error)
{
    const rbSceneShape* shapes = &scene->shapes.data[body->firstShape];
    const rbTransform* t = &shapes[0].transform;
    bool isPlain = body->shapeCount == 1 && rbLengthSquared(t->p) == 0.0 && t->q.w == 1.0;
    if (isPlain) {
        return rbGeometry_Retain(scene->geometries.data[shapes[0].geometry].geometry);
    }
    size_t size = (size_t)body->shapeCount * sizeof(rbCompoundChild);
    rbCompoundChild* children = rbAllocZero(1, size);
    for (int i = 0; i < body->shapeCount; ++i) {
        children[i].geometry = scene->geometries.data[shapes[i].geometry].geometry;
        children[i].transform = shapes[i].transform;
    }
    rbGeometry* compound = rbCreateCompound(children, body->shapeCount, error);
    rbFree(children, size);
    return compound;
}

static rbStatus validateBody(const rbSceneBody* body, rbError* error)
{
    if (body->type == RB_BODY_DYNAMIC) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "body \"%s\" is dynamic; frames of rays follow prescribed paths: make "
                           "it \"kinematic\" with a \"path\", or run the scene with \"engine\": "
                           "\"event\" and \"detector\": \"rays\"",
                           body->name);
    }
    if (body->copyKind == RB_COPY_SCATTER || body->copyKind == RB_COPY_TREE) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "body \"%s\" is scattered or part of a tree; ray frames need bodies "
                           "at fixed positions; of copies only \"repeat\" is allowed",
                           body->name);
    }
    return RB_STATUS_OK;
}

// The position of a copy of a grid relative to the first.
static rbVec3 offsetOf(const rbSceneBody* body, int copy)
{
    if (body->copyKind != RB_COPY_REPEAT) {
        return RB_VEC3_ZERO;
    }
    int ix = copy % body->repeatCount[0];
    int row = copy / body->repeatCount[0];
    int iy = row % body->repeatCount[1];
    int iz = row / body->repeatCount[1];
    return rbMulEach(body->repeatSpacing, (rbVec3){(double)ix, (double)iy, (double)iz});
}

static rbStatus addCopy(rbRayFrames* frames, const rbSceneBody* body, const rbGeometry* geometry,
                        int copy, rbError* error)
{
    char name[RB_SCENE_NAME_MAX + 1];
    rbSceneBody_WriteName(body, copy, name);
    rbVec3 offset = offsetOf(body, copy);
    rbPathDef path = body->path;
    size_t size = (size_t)path.pointCount * sizeof(rbVec3);
    rbVec3* points = rbAlloc(size);
    for (int i = 0; i < path.pointCount; ++i) {
        points[i] = rbAdd(path.points[i], offset);
    }
    path.points = points;
    rbFrameBodyDef def = {.name = name,
                          .geometry = geometry,
                          .transform = {rbAdd(body->position, offset), body->orientation},
                          .path = body->hasPath ? &path : NULL};
    rbStatus status = rbRayFrames_AddBody(frames, &def, error);
    rbFree(points, size);
    return status;
}

static rbStatus addBody(rbRayFrames* frames, const rbScene* scene, const rbSceneBody* body,
                        rbError* error)
{
    rbStatus status = validateBody(body, error);
    if (status != RB_STATUS_OK || body->shapeCount == 0) {
        return status; // without shapes nothing can touch it
    }
    rbGeometry* geometry = joinShapes(scene, body, error);
    if (geometry == NULL) {
        return error->status;
    }
    for (int copy = 0; copy < body->copyCount && status == RB_STATUS_OK; ++copy) {
        status = addCopy(frames, body, geometry, copy, error);
    }
    rbDestroyGeometry(geometry);
    return status;
}

rbRayFrames* rbScene_CreateRayFrames(const rbScene* scene, const rbRayFrameSettings* settings,
                                     rbError* error)
{
    rbError ignored = {0};
    error = error != NULL ? error : &ignored;
    rbRayFrameSettings own = rbSceneInfo_GetFrames(&scene->info);
    rbRayFrames* frames = rbCreateRayFrames(settings != NULL ? settings : &own, error);
    rbStatus status = frames != NULL ? RB_STATUS_OK : error->status;
    for (int i = 0; i < scene->bodies.count && status == RB_STATUS_OK; ++i) {
        status = addBody(frames, scene, &scene->bodies.data[i], error);
    }
    if (status != RB_STATUS_OK) {
        rbError_SetPlace(error, scene->file, "");
        rbDestroyRayFrames(frames);
        return NULL;
    }
    return frames;
}
