#include "render/animation.h"

#include <string.h>

#define SURFACE_LEVEL 1     // deviations of a quarter percent of the radius
#define GROUND_RADII 12.0   // half a side of a ground, in radii of the view
#define ROUGHNESS 0.55      // of a body that has none
#define STILL_DISTANCE 1e-7 // relative to the size of the view: a body that moves less stands still

// -------------------------------------------------------------------------------------- finishes

static bool isSameFinish(const rbFinish* a, const rbFinish* b)
{
    return a->color.r == b->color.r && a->color.g == b->color.g && a->color.b == b->color.b &&
           a->opacity == b->opacity && a->roughness == b->roughness && a->isPlain == b->isPlain &&
           a->isDoubleSided == b->isDoubleSided;
}

static int findFinish(rbAnimation* animation, rbFinish finish)
{
    for (int i = 0; i < animation->finishes.count; ++i) {
        if (isSameFinish(&animation->finishes.data[i], &finish)) {
            return i;
        }
    }
    rbArray_Push(animation->finishes, finish);
    return animation->finishes.count - 1;
}

int rbAnimation_GetMarkFinish(rbAnimation* animation, int finish)
{
    RB_ASSERT(finish >= 0 && finish < animation->finishes.count);
    rbFinish mark = animation->finishes.data[finish];
    mark.color = mark.isPlain ? mark.color : rbGetMarkColor(mark.color);
    return findFinish(animation, mark);
}

int rbAnimation_GetSideFinish(rbAnimation* animation, int finish, bool isDoubleSided)
{
    RB_ASSERT(finish >= 0 && finish < animation->finishes.count);
    rbFinish side = animation->finishes.data[finish];
    side.isDoubleSided = isDoubleSided;
    return findFinish(animation, side);
}

static int chooseFinish(rbAnimation* animation, int index)
{
    const rbPaint* paint = &animation->model.paints.data[index];
    rbFinish finish = {.color = paint->color,
                       .opacity = paint->opacity,
                       .roughness = paint->hasRoughness ? paint->roughness : ROUGHNESS,
                       .isPlain = paint->texture != RB_TEXTURE_NONE};
    return findFinish(animation, finish);
}

// ------------------------------------------------------------------------------------- animation

static char* copyText(const char* text)
{
    char* copy = rbAlloc(strlen(text) + 1);
    memcpy(copy, text, strlen(text) + 1);
    return copy;
}

static void freeText(char* text)
{
    rbFree(text, strlen(text) + 1);
}

rbAnimation* rbCreateAnimation(const rbAnimationDef* def, const rbWorld* world, rbError* error)
{
    RB_ASSERT(def != NULL && world != NULL && def->speed > 0.0 && def->rate > 0);
    rbAnimation* animation = rbAllocZero(1, sizeof *animation);
    animation->speed = def->speed;
    animation->rate = def->rate;
    animation->title = copyText(def->title);
    if (rbPictureModel_Init(&animation->model, world, def->scene, error) != RB_STATUS_OK) {
        rbDestroyAnimation(animation);
        return NULL;
    }
    rbView view;
    rbChooseView(world, def->scene, &view);
    animation->groundSize = GROUND_RADII * view.radius;
    int count = animation->model.bodyCount;
    int paintCount = animation->model.paints.count;
    animation->finishOf = rbAlloc((size_t)paintCount * sizeof *animation->finishOf);
    for (int i = 0; i < paintCount; ++i) {
        animation->finishOf[i] = chooseFinish(animation, i);
    }
    animation->names = rbAllocZero((size_t)count, sizeof *animation->names);
    for (int i = 0; i < count; ++i) {
        animation->names[i] = copyText(rbBody_GetName(world, animation->model.bodies[i].id));
    }
    return animation;
}

void rbDestroyAnimation(rbAnimation* animation)
{
    if (animation == NULL) {
        return;
    }
    size_t count = (size_t)animation->model.bodyCount;
    if (animation->finishOf != NULL) {
        size_t paintCount = (size_t)animation->model.paints.count;
        rbFree(animation->finishOf, paintCount * sizeof *animation->finishOf);
        for (size_t i = 0; i < count; ++i) {
            freeText(animation->names[i]);
        }
        rbFree(animation->names, count * sizeof *animation->names);
    }
    rbPictureModel_Free(&animation->model);
    freeText(animation->title);
    rbArray_Free(animation->finishes);
    rbArray_Free(animation->times);
    rbArray_Free(animation->poses);
    rbFree(animation, sizeof *animation);
}

rbStatus rbAnimation_Take(rbAnimation* animation, const rbWorld* world, rbError* error)
{
    double time = rbWorld_GetTime(world) / animation->speed;
    int frames = animation->times.count;
    if (frames > 0 && !(time > animation->times.data[frames - 1])) {
        return RB_STATUS_OK; // an output at the same time: the first state is kept
    }
    int count = animation->model.bodyCount;
    size_t bytes = (size_t)(frames + 1) * (size_t)count * sizeof(rbTransform);
    if (bytes > RB_ANIMATION_BYTES_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "an animation of %d bodies has at most %d frames; use a lower --fps, a "
                           "higher --speed or a shorter --duration",
                           count, frames);
    }
    for (int i = 0; i < count; ++i) {
        rbTransform pose = {RB_VEC3_ZERO, {0.0, 0.0, 0.0, 0.0}};
        if (rbBody_IsValid(world, animation->model.bodies[i].id)) {
            pose = rbBody_GetState(world, animation->model.bodies[i].id).transform;
        }
        bool isFinite = rbIsFinite3(pose.p) && rbIsFiniteQuat(pose.q);
        pose = isFinite ? pose : (rbTransform){RB_VEC3_ZERO, {0.0, 0.0, 0.0, 0.0}};
        rbArray_Push(animation->poses, pose);
    }
    rbArray_Push(animation->times, time);
    return RB_STATUS_OK;
}

static const rbTransform* getKept(const rbAnimation* animation, int body, int frame)
{
    RB_ASSERT(frame >= 0 && frame < animation->times.count);
    RB_ASSERT(body >= 0 && body < animation->model.bodyCount);
    return &animation->poses
                .data[(size_t)frame * (size_t)animation->model.bodyCount + (size_t)body];
}

static bool isThere(const rbTransform* pose)
{
    return pose->q.w != 0.0 || pose->q.x != 0.0 || pose->q.y != 0.0 || pose->q.z != 0.0;
}

bool rbAnimation_Exists(const rbAnimation* animation, int body, int frame)
{
    return isThere(getKept(animation, body, frame));
}

rbTransform rbAnimation_GetPose(const rbAnimation* animation, int body, int frame)
{
    for (int i = frame; i >= 0; --i) {
        if (isThere(getKept(animation, body, i))) {
            return *getKept(animation, body, i);
        }
    }
    for (int i = frame + 1; i < animation->times.count; ++i) {
        if (isThere(getKept(animation, body, i))) {
            return *getKept(animation, body, i);
        }
    }
    return RB_TRANSFORM_IDENTITY;
}

bool rbAnimation_IsAlways(const rbAnimation* animation, int body)
{
    for (int i = 0; i < animation->times.count; ++i) {
        if (!rbAnimation_Exists(animation, body, i)) {
            return false;
        }
    }
    return true;
}

bool rbAnimation_Moves(const rbAnimation* animation, int body)
{
    rbTransform first = rbAnimation_GetPose(animation, body, 0);
    double size = STILL_DISTANCE * animation->groundSize / GROUND_RADII;
    for (int i = 1; i < animation->times.count; ++i) {
        rbTransform pose = rbAnimation_GetPose(animation, body, i);
        double turned = 1.0 - fabs(pose.q.w * first.q.w + pose.q.x * first.q.x +
                                   pose.q.y * first.q.y + pose.q.z * first.q.z);
        if (rbLength(rbSub(pose.p, first.p)) > size || turned > 1e-12) {
            return true;
        }
    }
    return false;
}

// -------------------------------------------------------------------------------------- surfaces

const rbSurface* rbAnimation_GetSurface(rbAnimation* animation, int geometry)
{
    const rbSurface* surface = NULL;
    // the coarsest level was made by rbPictureModel_Init
    for (int level = SURFACE_LEVEL; surface == NULL && level < RB_SURFACE_LEVELS; ++level) {
        surface = rbPictureModel_GetSurface(&animation->model, geometry, level);
    }
    return surface;
}

bool rbAnimation_IsMarked(const rbAnimation* animation, int geometry, int triangle)
{
    const rbShownGeometry* shown = &animation->model.geometries.data[geometry];
    if (shown->marking == RB_MARKING_NONE) {
        return false;
    }
    const rbSurface* surface = NULL;
    for (int level = SURFACE_LEVEL; surface == NULL && level < RB_SURFACE_LEVELS; ++level) {
        surface = shown->levels[level];
    }
    RB_ASSERT(surface != NULL && triangle < surface->triangles.triangleCount);
    const int* corners = surface->triangles.triangles[triangle];
    rbVec3 sum = RB_VEC3_ZERO;
    for (int k = 0; k < 3; ++k) {
        sum = rbAdd(sum, surface->triangles.vertices[corners[k]]);
    }
    double product = shown->marking == RB_MARKING_OCTANTS ? sum.x * sum.y * sum.z : sum.x * sum.y;
    return product < 0.0;
}

void rbAnimation_GetSquare(const rbAnimation* animation, int plane, rbVec3 corners[4])
{
    const rbShownPlane* shown = &animation->model.planes.data[plane];
    rbVec3 middle = rbScale(shown->offset, shown->normal);
    rbVec3 right = rbScale(animation->groundSize, rbPerpendicular(shown->normal));
    rbVec3 top = rbCross(shown->normal, right);
    corners[0] = rbSub(rbSub(middle, right), top);
    corners[1] = rbSub(rbAdd(middle, right), top);
    corners[2] = rbAdd(rbAdd(middle, right), top);
    corners[3] = rbAdd(rbSub(middle, right), top);
}
