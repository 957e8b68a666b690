#include "render/picture_model.h"

#include "base/math/elementary.h"

#include <string.h>

// Deviation of the triangles from round surfaces at each level, as a fraction of the radius. A
// level is fine enough if its deviation is at most a quarter of a sample.
static const double levelDeviations[RB_SURFACE_LEVELS] = {0.0006, 0.0025, 0.01, 0.04};
#define DEVIATION_SAMPLES 0.25

#define CREASE_COSINE 0.77       // edges of more than 40 degrees stay sharp
#define TRIANGLES_WANTED 3000000 // in a frame: above this everything gets coarser
#define GROUND_RADII 2.5         // larger static shapes are ground, in radii of the view
#define USUAL_ROUGHNESS 0.62     // as in the viewer
#define UPWARD_COSINE 0.8        // planes whose normal is this close to vertical are ground too

// ------------------------------------------------------------------------------------- surfaces

// For each corner, the mean normal of the triangles at its vertex that are nearly coplanar with its
// own, weighted by area.
static void smoothNormals(rbSurface* surface)
{
    const rbTriangles* t = &surface->triangles;
    size_t corners = 3 * (size_t)t->triangleCount;
    int* starts = rbAllocZero((size_t)t->vertexCount + 2, sizeof *starts);
    int* around = rbAlloc(corners * sizeof *around);
    rbVec3* areas = rbAlloc((size_t)t->triangleCount * sizeof *areas);
    rbVec3* units = rbAlloc((size_t)t->triangleCount * sizeof *units);
    for (int i = 0; i < t->triangleCount; ++i) {
        rbVec3 a = t->vertices[t->triangles[i][0]];
        areas[i] = rbCross(rbSub(t->vertices[t->triangles[i][1]], a),
                           rbSub(t->vertices[t->triangles[i][2]], a));
        units[i] = rbNormalize(areas[i]);
        for (int k = 0; k < 3; ++k) {
            ++starts[t->triangles[i][k] + 2];
        }
    }
    for (int v = 2; v <= t->vertexCount + 1; ++v) {
        starts[v] += starts[v - 1];
    }
    for (int i = 0; i < t->triangleCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            around[starts[t->triangles[i][k] + 1]++] = i;
        }
    }
    for (int i = 0; i < t->triangleCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            int vertex = t->triangles[i][k];
            rbVec3 sum = RB_VEC3_ZERO;
            for (int j = starts[vertex]; j < starts[vertex + 1]; ++j) {
                if (rbDot(units[around[j]], units[i]) >= CREASE_COSINE) {
                    sum = rbAdd(sum, areas[around[j]]);
                }
            }
            surface->normals[i][k] = rbToFloat3(rbNormalize(sum));
        }
    }
    rbFree(starts, ((size_t)t->vertexCount + 2) * sizeof *starts);
    rbFree(around, corners * sizeof *around);
    rbFree(areas, (size_t)t->triangleCount * sizeof *areas);
    rbFree(units, (size_t)t->triangleCount * sizeof *units);
}

// NULL when the geometry has too many triangles at this level.
static rbSurface* makeSurface(const rbShownGeometry* shown, int level)
{
    rbSurface* surface = rbAllocZero(1, sizeof *surface);
    rbError error = {0};
    double deviation = levelDeviations[level] * shown->radius;
    if (rbGeometry_Triangulate(shown->geometry, deviation > 0.0 ? deviation : 1.0, 1.0,
                               &surface->triangles, &error) != RB_STATUS_OK) {
        rbFree(surface, sizeof *surface);
        return NULL;
    }
    size_t count = (size_t)surface->triangles.triangleCount;
    surface->normals = rbAlloc(count * sizeof *surface->normals);
    smoothNormals(surface);
    return surface;
}

static void freeSurface(rbSurface* surface)
{
    if (surface != NULL) {
        size_t count = (size_t)surface->triangles.triangleCount;
        rbFree(surface->normals, count * sizeof *surface->normals);
        rbFreeTriangles(&surface->triangles);
        rbFree(surface, sizeof *surface);
    }
}

// Shapes with flat faces are the same at all levels; they have one surface, the first.
static bool isRound(rbShapeType type)
{
    return type < RB_SHAPE_HULL && type != RB_SHAPE_BOX && type != RB_SHAPE_PLANE;
}

const rbSurface* rbPictureModel_GetSurface(rbPictureModel* model, int geometry, int level)
{
    RB_ASSERT(geometry >= 0 && geometry < model->geometries.count);
    RB_ASSERT(level >= 0 && level < RB_SURFACE_LEVELS);
    rbShownGeometry* shown = &model->geometries.data[geometry];
    level = isRound(rbGeometry_GetType(shown->geometry)) ? level : 0;
    if (shown->levels[level] == NULL) {
        shown->levels[level] = makeSurface(shown, level);
    }
    return shown->levels[level];
}

// ----------------------------------------------------------------------------------------- model

static size_t hashAddress(const rbGeometry* geometry)
{
    return (size_t)((uintptr_t)geometry >> 4) * (size_t)0x9E3779B97F4A7C15u;
}

static void growTable(rbPictureModel* model)
{
    int wanted = model->table.capacity > 0 ? 2 * model->table.capacity : 64;
    rbArray_Free(model->table);
    rbArray_Reserve(model->table, wanted);
    memset(model->table.data, 0, (size_t)model->table.capacity * sizeof *model->table.data);
    for (int i = 0; i < model->geometries.count; ++i) {
        size_t at = hashAddress(model->geometries.data[i].geometry);
        while (model->table.data[at % (size_t)model->table.capacity] != 0) {
            ++at;
        }
        model->table.data[at % (size_t)model->table.capacity] = i + 1;
    }
}

static int findGeometry(rbPictureModel* model, const rbGeometry* geometry)
{
    if (2 * model->geometries.count >= model->table.capacity) {
        growTable(model);
    }
    size_t at = hashAddress(geometry);
    int* slot = &model->table.data[at % (size_t)model->table.capacity];
    while (*slot != 0 && model->geometries.data[*slot - 1].geometry != geometry) {
        slot = &model->table.data[++at % (size_t)model->table.capacity];
    }
    if (*slot == 0) {
        rbShownGeometry shown = {.geometry = geometry,
                                 .radius = rbGeometry_GetRadius(geometry, RB_VEC3_ZERO),
                                 .isSolid = rbGeometry_IsSolid(geometry),
                                 .marking = rbGetMarking(rbGeometry_GetType(geometry))};
        rbArray_Push(model->geometries, shown);
        *slot = model->geometries.count;
    }
    return *slot - 1;
}

// The body of a shape, and its paint.
typedef struct Owner {
    int body, paint;
} Owner;

// Compounds are split into parts, so that their round parts get markings.
static void addGeometry(rbPictureModel* model, const Owner* owned, const rbGeometry* geometry,
                        rbTransform transform, int depth)
{
    int body = owned->body;
    rbShapeType type = rbGeometry_GetType(geometry);
    int count = 0;
    const rbCompoundChild* children = rbGeometry_GetChildren(geometry, &count);
    if (type == RB_SHAPE_COMPOUND && depth < RB_COMPOUND_DEPTH_MAX) {
        for (int i = 0; i < count; ++i) {
            addGeometry(model, owned, children[i].geometry,
                        rbMulTransforms(transform, children[i].transform), depth + 1);
        }
    } else if (type == RB_SHAPE_PLANE) {
        rbPlaneData plane = rbGeometry_GetData(geometry).plane;
        rbVec3 normal = rbRotate(transform.q, plane.normal);
        rbShownPlane shown = {body, normal, plane.offset + rbDot(normal, transform.p)};
        rbArray_Push(model->planes, shown);
    } else {
        rbShownShape shape = {findGeometry(model, geometry), body, owned->paint, transform};
        rbShownBody* owner = &model->bodies[body];
        double reach = rbLength(transform.p) + model->geometries.data[shape.geometry].radius;
        owner->radius = reach > owner->radius ? reach : owner->radius;
        rbArray_Push(model->shapes, shape);
    }
}

// Shapes, then visuals. Paints of visuals come after those of all bodies.
static void addBody(rbPictureModel* model, const rbWorld* world, const rbScene* scene, int index)
{
    rbBodyId id = model->bodies[index].id;
    Owner owned = {index, index};
    int shapeCount = rbBody_GetShapeCount(world, id);
    for (int k = 0; k < shapeCount; ++k) {
        rbShapeDef def = rbBody_GetShape(world, id, k);
        addGeometry(model, &owned, rbWorld_GetGeometry(world, def.geometry), def.transform, 0);
    }
    const char* name = rbBody_GetName(world, id);
    int visualCount = scene != NULL ? rbScene_GetVisualCount(scene, name) : 0;
    for (int k = 0; k < visualCount; ++k) {
        rbVisual visual = rbScene_GetVisual(scene, name, k);
        rbPaint paint = rbMakePaint(&visual.look, rbGetBodyColor(model->bodies[index].type, index));
        rbArray_Push(model->paints, paint);
        owned.paint = model->paints.count - 1;
        addGeometry(model, &owned, visual.geometry, visual.transform, 0);
    }
}

rbStatus rbPictureModel_Init(rbPictureModel* model, const rbWorld* world, const rbScene* scene,
                             rbError* error)
{
    *model = (rbPictureModel){0};
    model->ballGeometry = rbCreateSphere(1.0, error);
    if (model->ballGeometry == NULL) {
        return error->status;
    }
    model->bodyCount = rbWorld_GetBodyCount(world);
    rbBodyId* ids = rbAlloc((size_t)model->bodyCount * sizeof *ids);
    model->bodies = rbAllocZero((size_t)model->bodyCount, sizeof *model->bodies);
    (void)rbWorld_GetBodyIds(world, ids, model->bodyCount);
    for (int i = 0; i < model->bodyCount; ++i) {
        rbBodyType type = rbBody_GetType(world, ids[i]);
        rbLook look = {0};
        look = scene != NULL ? rbScene_GetLook(scene, rbBody_GetName(world, ids[i])) : look;
        rbPaint paint = rbMakePaint(&look, rbGetBodyColor(type, i));
        model->bodies[i] = (rbShownBody){.id = ids[i], .type = type};
        rbArray_Push(model->paints, paint);
    }
    for (int i = 0; i < model->bodyCount; ++i) {
        addBody(model, world, scene, i);
    }
    model->ball = findGeometry(model, model->ballGeometry);
    rbFree(ids, (size_t)model->bodyCount * sizeof *ids);
    for (int i = 0; i < model->geometries.count; ++i) {
        if (rbPictureModel_GetSurface(model, i, RB_SURFACE_LEVELS - 1) == NULL) {
            return rbError_Set(error, RB_STATUS_LIMIT,
                               "a shape has more than %d triangles, too many for a picture",
                               RB_TRIANGLES_MAX);
        }
    }
    return RB_STATUS_OK;
}

void rbPictureModel_Free(rbPictureModel* model)
{
    for (int i = 0; i < model->geometries.count; ++i) {
        for (int k = 0; k < RB_SURFACE_LEVELS; ++k) {
            freeSurface(model->geometries.data[i].levels[k]);
        }
    }
    rbArray_Free(model->geometries);
    rbArray_Free(model->shapes);
    rbArray_Free(model->planes);
    rbArray_Free(model->paints);
    rbArray_Free(model->table);
    rbFree(model->bodies, (size_t)model->bodyCount * sizeof *model->bodies);
    rbDestroyGeometry(model->ballGeometry);
    *model = (rbPictureModel){0};
}

// ----------------------------------------------------------------------------------------- frame

static float linearByte(unsigned char byte)
{
    double value = byte / 255.0;
    return (float)(value <= 0.04045 ? value / 12.92 : rbExp(2.4 * rbLog((value + 0.055) / 1.055)));
}

rbFloat3 rbLinearColor(rbColor color)
{
    return (rbFloat3){linearByte(color.r), linearByte(color.g), linearByte(color.b)};
}

void rbPictureFrame_SetCamera(rbPictureFrame* frame, const rbView* view, int width, int height)
{
    RB_ASSERT(view->radius > 0.0);
    double aspect = (double)width / height;
    double s, c;
    rbSinCos(0.5 * RB_VIEW_ANGLE, &s, &c);
    frame->center = view->center;
    frame->scale = 1.0 / view->radius;
    frame->up = view->up;
    frame->camera = rbScale(frame->scale, rbSub(rbView_GetCamera(view, aspect), view->center));
    frame->forward = rbNeg(view->direction);
    rbVec3 right = rbCross(frame->forward, view->up);
    // looking straight down: any direction will do
    frame->right = rbLength(right) > 1e-6 ? rbNormalize(right) : rbPerpendicular(frame->forward);
    frame->top = rbCross(frame->right, frame->forward);
    frame->tanY = s / c;
    frame->tanX = s / c * aspect;
}

void rbPictureFrame_AddInstance(rbPictureFrame* frame, const rbInstance* instance,
                                rbTransform transform, double scale)
{
    const rbTriangles* t = &instance->surface->triangles;
    rbInstance added = *instance;
    added.firstVertex = frame->vertices.count;
    added.firstTriangle = frame->owners.count;
    added.rotation = rbMatFromQuat(transform.q);
    rbArray_Reserve(frame->vertices, frame->vertices.count + t->vertexCount);
    rbArray_Reserve(frame->owners, frame->owners.count + t->triangleCount);
    rbVec3 origin = rbSub(transform.p, frame->center);
    for (int i = 0; i < t->vertexCount; ++i) {
        rbVec3 point = rbAdd(rbMulMV(added.rotation, rbScale(scale, t->vertices[i])), origin);
        frame->vertices.data[frame->vertices.count++] = rbToFloat3(rbScale(frame->scale, point));
    }
    for (int i = 0; i < t->triangleCount; ++i) {
        frame->owners.data[frame->owners.count++] = frame->instances.count;
    }
    rbArray_Push(frame->instances, added);
}

// The coarsest level whose deviation is not visible at this distance. Small objects outside the
// picture only cast shadows.
static int chooseLevel(const rbPictureFrame* frame, rbVec3 position, double radius, double samples)
{
    rbVec3 arm = rbSub(rbScale(frame->scale, rbSub(position, frame->center)), frame->camera);
    double depth = rbDot(arm, frame->forward);
    double size = radius * frame->scale;
    depth = depth > size ? depth : size;
    double seen = size / depth / frame->tanY * 0.5 * samples;
    int level = RB_SURFACE_LEVELS - 1;
    while (level > 0 && levelDeviations[level] * seen > DEVIATION_SAMPLES) {
        --level;
    }
    return level;
}

typedef struct Standing {
    rbTransform* poses;
    bool* areShown;
} Standing;

static long long countTriangles(rbPictureModel* model, const int* levels, int coarsening)
{
    long long count = 0;
    for (int i = 0; i < model->shapes.count; ++i) {
        int level = levels[i] + coarsening;
        level = level < RB_SURFACE_LEVELS ? level : RB_SURFACE_LEVELS - 1;
        const rbSurface* surface =
            rbPictureModel_GetSurface(model, model->shapes.data[i].geometry, level);
        count += surface != NULL ? surface->triangles.triangleCount : 0;
    }
    return count;
}

// Spheres that grow (rbBodyDef.growth) are drawn as large as they are now.
static double getScale(const rbWorld* world, const rbShownBody* body, double radius)
{
    double growth = rbBody_GetGrowth(world, body->id) * rbWorld_GetTime(world);
    return radius > 0.0 && growth > 0.0 ? 1.0 + growth / radius : 1.0;
}

// Highlights of smoother surfaces are stronger; static bodies have none unless the scene says so.
static float chooseGloss(const rbPaint* paint, bool isStatic)
{
    if (!paint->hasRoughness) {
        return isStatic ? 0.0f : RB_GLOSS;
    }
    return (float)((1.0 - paint->roughness) / (1.0 - USUAL_ROUGHNESS)) * RB_GLOSS;
}

static void addShapes(rbPictureFrame* frame, rbPictureModel* model, const rbWorld* world,
                      const Standing* standing, double samples)
{
    int* levels = rbAllocZero((size_t)model->shapes.count, sizeof *levels);
    for (int i = 0; i < model->shapes.count; ++i) {
        const rbShownShape* shape = &model->shapes.data[i];
        rbTransform pose = rbMulTransforms(standing->poses[shape->body], shape->transform);
        double radius = model->geometries.data[shape->geometry].radius;
        levels[i] = chooseLevel(frame, pose.p, radius, samples);
    }
    int coarsening = 0;
    while (coarsening < RB_SURFACE_LEVELS - 1 &&
           countTriangles(model, levels, coarsening) > TRIANGLES_WANTED) {
        ++coarsening;
    }
    for (int i = 0; i < model->shapes.count; ++i) {
        const rbShownShape* shape = &model->shapes.data[i];
        const rbShownBody* body = &model->bodies[shape->body];
        const rbShownGeometry* geometry = &model->geometries.data[shape->geometry];
        int level = levels[i] + coarsening;
        level = level < RB_SURFACE_LEVELS ? level : RB_SURFACE_LEVELS - 1;
        const rbSurface* surface = rbPictureModel_GetSurface(model, shape->geometry, level);
        const rbPaint* paint = &model->paints.data[shape->paint];
        if (surface == NULL || !standing->areShown[shape->body] || !(paint->opacity > 0.0)) {
            continue;
        }
        bool isStatic = body->type == RB_BODY_STATIC;
        bool isGround = isStatic && !paint->hasColor && paint->texture == RB_TEXTURE_NONE &&
                        geometry->radius * frame->scale > GROUND_RADII;
        bool isMarked = !isStatic && paint->texture == RB_TEXTURE_NONE;
        rbInstance instance = {
            .surface = surface,
            .color = rbLinearColor(isGround ? RB_COLOR_GROUND : paint->color),
            .markColor = rbLinearColor(paint->second),
            .marking = isMarked ? geometry->marking : RB_MARKING_NONE,
            .texture = paint->texture,
            .textureSize = paint->textureSize,
            .opacity = paint->opacity,
            .isSolid = geometry->isSolid,
            .isGround = isGround,
            .gloss = chooseGloss(paint, isStatic),
        };
        rbPictureFrame_AddInstance(frame, &instance,
                                   rbMulTransforms(standing->poses[shape->body], shape->transform),
                                   getScale(world, body, geometry->radius));
    }
    rbFree(levels, (size_t)model->shapes.count * sizeof *levels);
}

// paint: NULL, or of the body to which the plane belongs.
static void addPlane(rbPictureFrame* frame, rbVec3 normal, double offset, const rbPaint* paint)
{
    if (frame->planeCount >= RB_PLANES_MAX || (paint != NULL && !(paint->opacity > 0.0))) {
        return;
    }
    rbPlaneInstance plane = {.normal = normal,
                             .offset = (offset - rbDot(normal, frame->center)) * frame->scale,
                             .isUpward = rbDot(normal, frame->up) > UPWARD_COSINE,
                             .color = rbLinearColor(RB_COLOR_GROUND)};
    if (paint != NULL && (paint->hasColor || rbPaint_HasPattern(paint))) {
        plane.color = rbLinearColor(paint->color);
        plane.second = rbLinearColor(paint->second);
        plane.texture = paint->texture;
        plane.textureSize = rbPaint_HasPattern(paint) ? paint->textureSize * frame->scale : 0.0;
    }
    frame->planes[frame->planeCount++] = plane;
}

void rbPictureFrame_Fill(rbPictureFrame* frame, rbPictureModel* model, const rbWorld* world,
                         const rbView* view, const rbPictureDef* def)
{
    rbPictureFrame_SetCamera(frame, view, def->width, def->height);
    frame->vertices.count = 0;
    frame->instances.count = 0;
    frame->owners.count = 0;
    frame->planeCount = 0;
    size_t count = (size_t)model->bodyCount;
    Standing standing = {.poses = rbAlloc(count * sizeof *standing.poses),
                         .areShown = rbAllocZero(count, sizeof *standing.areShown)};
    for (int i = 0; i < model->bodyCount; ++i) {
        rbTransform pose = rbBody_GetState(world, model->bodies[i].id).transform;
        standing.areShown[i] = rbIsFinite3(pose.p) && rbIsFiniteQuat(pose.q);
        pose.p = standing.areShown[i] ? rbWorld_WrapPosition(world, pose.p, NULL) : RB_VEC3_ZERO;
        standing.poses[i] = pose;
    }
    addShapes(frame, model, world, &standing, (double)def->height * def->sampling);
    for (int i = 0; i < model->planes.count; ++i) {
        const rbShownPlane* plane = &model->planes.data[i];
        rbTransform pose = standing.poses[plane->body];
        rbVec3 normal = rbRotate(pose.q, plane->normal);
        addPlane(frame, normal, plane->offset + rbDot(normal, pose.p),
                 &model->paints.data[plane->body]);
    }
    if (isfinite(view->floor)) {
        addPlane(frame, view->up, view->floor, NULL);
    }
    rbFree(standing.poses, count * sizeof *standing.poses);
    rbFree(standing.areShown, count * sizeof *standing.areShown);
    rbPictureFrame_AddLinks(frame, model, world, def->hasLinks);
}

void rbPictureFrame_Free(rbPictureFrame* frame)
{
    rbArray_Free(frame->vertices);
    rbArray_Free(frame->instances);
    rbArray_Free(frame->owners);
    rbFree(frame->links.triangles.vertices,
           (size_t)frame->linkVertexCapacity * sizeof *frame->links.triangles.vertices);
    rbFree(frame->links.triangles.triangles,
           (size_t)frame->linkTriangleCapacity * sizeof *frame->links.triangles.triangles);
    rbFree(frame->links.normals,
           (size_t)frame->linkTriangleCapacity * sizeof *frame->links.normals);
    *frame = (rbPictureFrame){0};
}
