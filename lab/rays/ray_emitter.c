// Construction of emitters: the parts of a geometry, their triangles, edges and numbers of points
//
#include "lab/rays/ray_emitter.h"

#include "base/core/memory.h"
#include "base/core/random.h"
#include "collision/geometry/half_edge.h"

// Up to this many directions of a sphere are stored (1.5 MB); more are computed for every cast.
#define DIRECTIONS_KEPT_MAX 65536

// Edges whose faces differ by less than this angle (rad) are flat: rays from them find nothing that
// rays from the faces would miss.
#define FLAT_ANGLE 1e-9

// Area of the shapes with exact ray starts; the others are made of triangles.
static double getRoundArea(const rbShapeData* data)
{
    switch ((int)data->type) {
    case RB_SHAPE_SPHERE:
        return RB_PI * data->sphere.radius * data->sphere.radius;
    case RB_SHAPE_CAPSULE:
        return 4.0 * RB_PI * data->capsule.radius *
               (data->capsule.radius + data->capsule.halfLength);
    case RB_SHAPE_CYLINDER:
        return 2.0 * RB_PI * data->cylinder.radius *
               (data->cylinder.radius + 2.0 * data->cylinder.halfLength);
    case RB_SHAPE_CONE: {
        double r = data->cone.radius;
        return RB_PI * r * (r + sqrt(r * r + data->cone.height * data->cone.height));
    }
    case RB_SHAPE_ELLIPSOID: {
        // the root mean square of the products of two axes: exact for spheres, enough for sharing
        rbVec3 a = data->ellipsoid.semiAxes;
        double bc = a.y * a.z;
        double ca = a.z * a.x;
        double ab = a.x * a.y;
        return 4.0 * RB_PI * sqrt((bc * bc + ca * ca + ab * ab) / 3.0);
    }
    default:
        return 0.0;
    }
}

static bool isRound(rbShapeType type)
{
    return type == RB_SHAPE_SPHERE || type == RB_SHAPE_CAPSULE || type == RB_SHAPE_CYLINDER ||
           type == RB_SHAPE_CONE || type == RB_SHAPE_ELLIPSOID;
}

static int countParts(const rbGeometry* geometry)
{
    int childCount;
    const rbCompoundChild* children = rbGeometry_GetChildren(geometry, &childCount);
    if (rbGeometry_GetType(geometry) != RB_SHAPE_COMPOUND) {
        return 1;
    }
    int count = 0;
    for (int i = 0; i < childCount; ++i) {
        count += countParts(children[i].geometry);
    }
    return count;
}

// Computes normals, the faces of every vertex and the edges that are not flat.
static void connectFaces(rbRayPart* part)
{
    const rbTriangles* mesh = &part->mesh;
    size_t faceCount = (size_t)mesh->triangleCount;
    size_t vertexCount = (size_t)mesh->vertexCount;
    part->normals = rbAlloc(faceCount * sizeof(rbVec3));
    part->vertexFaceStarts = rbAllocZero(vertexCount + 1, sizeof(int));
    part->vertexFaces = rbAlloc(3 * faceCount * sizeof(int));
    for (size_t f = 0; f < faceCount; ++f) {
        const int* v = mesh->triangles[f];
        rbVec3 a = mesh->vertices[v[0]];
        rbVec3 n = rbCross(rbSub(mesh->vertices[v[1]], a), rbSub(mesh->vertices[v[2]], a));
        part->area += 0.5 * rbLength(n);
        part->normals[f] = rbNormalize(n);
        for (int k = 0; k < 3; ++k) {
            ++part->vertexFaceStarts[v[k] + 1];
        }
    }
    for (size_t i = 0; i < vertexCount; ++i) {
        part->vertexFaceStarts[i + 1] += part->vertexFaceStarts[i];
    }
    // filled backward, which moves the ends of the ranges to their starts
    for (size_t f = faceCount; f-- > 0;) {
        for (int k = 0; k < 3; ++k) {
            int vertex = mesh->triangles[f][k];
            part->vertexFaces[--part->vertexFaceStarts[vertex + 1]] = (int)f;
        }
    }
    for (size_t i = 0; i < vertexCount; ++i) {
        part->vertexFaceStarts[i] = part->vertexFaceStarts[i + 1];
    }
    part->vertexFaceStarts[vertexCount] = 3 * mesh->triangleCount;
}

static void findEdges(rbRayPart* part)
{
    const rbTriangles* mesh = &part->mesh;
    rbMeshDef def = {.vertices = mesh->vertices,
                     .vertexCount = mesh->vertexCount,
                     .indices = &mesh->triangles[0][0],
                     .faceCount = mesh->triangleCount};
    int cornerCount = 3 * mesh->triangleCount;
    rbHalfEdge* halves = rbSortHalfEdges(&def, cornerCount);
    part->edges = rbAlloc((size_t)cornerCount * sizeof(rbRayEdge));
    for (int first = 0; first < cornerCount;) {
        int end = rbGetEdgeEnd(halves, cornerCount, first);
        rbRayEdge edge = {halves[first].low, halves[first].high, halves[first].face,
                          end - first == 2 ? halves[first + 1].face : -1};
        bool isFlat = false;
        if (edge.face1 >= 0) {
            rbVec3 n0 = part->normals[edge.face0];
            rbVec3 n1 = part->normals[edge.face1];
            isFlat = rbDot(n0, n1) > 0.0 && rbLength(rbCross(n0, n1)) < FLAT_ANGLE;
        }
        if (!isFlat) {
            part->edges[part->edgeCount++] = edge;
        }
        first = end;
    }
    rbFree(halves, (size_t)cornerCount * sizeof(rbHalfEdge));
}

static rbStatus addParts(rbRayEmitter* emitter, const rbGeometry* geometry, rbTransform pose,
                         rbError* error)
{
    rbShapeType type = rbGeometry_GetType(geometry);
    if (type == RB_SHAPE_PLANE) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "a plane is unbounded and casts no rays; let the other body cast them");
    }
    if (type == RB_SHAPE_COMPOUND) {
        int childCount;
        const rbCompoundChild* children = rbGeometry_GetChildren(geometry, &childCount);
        for (int i = 0; i < childCount; ++i) {
            rbStatus status = addParts(emitter, children[i].geometry,
                                       rbMulTransforms(pose, children[i].transform), error);
            if (status != RB_STATUS_OK) {
                return status;
            }
        }
        return RB_STATUS_OK;
    }
    rbRayPart* part = &emitter->parts[emitter->partCount++];
    rbRandom random = {emitter->settings.seed + (uint64_t)emitter->partCount};
    part->geometry = geometry;
    part->pose = pose;
    part->data = rbGeometry_GetData(geometry);
    part->data.type = type;
    part->seed = rbRandom_Bits(&random);
    part->isFaceted = !isRound(type);
    part->isTwoSided = !rbGeometry_IsSolid(geometry);
    if (!part->isFaceted) {
        part->area = getRoundArea(&part->data);
        return RB_STATUS_OK;
    }
    rbStatus status = rbGeometry_Triangulate(geometry, 1.0, 1.0, &part->mesh, error);
    if (status == RB_STATUS_OK) {
        connectFaces(part);
        findEdges(part);
    }
    return status;
}

// How many of count points belong to the share from low to high of a whole; all shares add up.
static int64_t shareOut(double count, double low, double high, double whole)
{
    return (int64_t)(count * high / whole + 0.5) - (int64_t)(count * low / whole + 0.5);
}

// Points of every triangle: by area or, as published, the same number for all; at least one each,
// unless bundles follow, which find what few rays miss.
static int64_t countTrianglePoints(const rbRayEmitter* emitter, rbRayPart* part, double count)
{
    const rbRaySettings* settings = &emitter->settings;
    int triangleCount = part->mesh.triangleCount;
    part->pointStarts = rbAlloc((size_t)(triangleCount + 1) * sizeof(int));
    part->pointStarts[0] = 0;
    int64_t total = 0;
    double sum = 0.0;
    for (int f = 0; f < triangleCount; ++f) {
        const int* v = part->mesh.triangles[f];
        rbVec3 a = part->mesh.vertices[v[0]];
        double size = settings->pattern == RB_RAYS_LATTICE
                          ? part->area / triangleCount
                          : 0.5 * rbLength(rbCross(rbSub(part->mesh.vertices[v[1]], a),
                                                   rbSub(part->mesh.vertices[v[2]], a)));
        int64_t share = settings->isPerTriangle ? settings->count
                                                : shareOut(count, sum, sum + size, part->area);
        sum += size;
        total += share < 1 && settings->count > 0 && settings->refineRounds == 0 ? 1 : share;
        if (total > INT32_MAX / 2) {
            return total; // rejected by the caller
        }
        part->pointStarts[f + 1] = (int)total;
    }
    return total;
}

static int countPartStarts(const rbRayEmitter* emitter, const rbRayPart* part)
{
    int rims = part->data.type == RB_SHAPE_CYLINDER ? 2 : part->data.type == RB_SHAPE_CONE ? 1 : 0;
    int foremost = !part->isFaceted && part->data.type != RB_SHAPE_SPHERE ? 1 : 0;
    int apex = part->data.type == RB_SHAPE_CONE ? 1 : 0;
    return part->surfaceCount + part->mesh.vertexCount +
           part->edgeCount * emitter->settings.edgeCount + rims * part->rimCount + foremost + apex;
}

static rbStatus countStarts(rbRayEmitter* emitter, rbError* error)
{
    rbRaySettings* settings = &emitter->settings;
    double whole = 0.0;
    for (int i = 0; i < emitter->partCount; ++i) {
        whole += emitter->parts[i].area;
    }
    double sum = 0.0;
    int64_t surface = 0;
    int64_t total = 0;
    for (int i = 0; i < emitter->partCount; ++i) {
        rbRayPart* part = &emitter->parts[i];
        int64_t share = shareOut(settings->count, sum, sum + part->area, whole);
        sum += part->area;
        share = share < 1 && settings->count > 0 ? 1 : share;
        part->requestedCount = (int)share;
        if (part->data.type == RB_SHAPE_SPHERE) {
            share = rbCountSphereDirections(settings->pattern, part->requestedCount);
        } else if (part->isFaceted) {
            share = countTrianglePoints(emitter, part, (double)share);
        }
        surface += share;
        total += share + part->mesh.vertexCount + (int64_t)part->edgeCount * settings->edgeCount;
        if (surface > RB_RAYS_COUNT_MAX + (int64_t)RB_TRIANGLES_MAX || total > INT32_MAX / 2) {
            return rbError_Set(error, RB_STATUS_LIMIT,
                               "the body would cast more than %d rays from its faces or %d in "
                               "all; reduce the count, or count per body instead of per triangle",
                               RB_RAYS_COUNT_MAX, INT32_MAX / 2);
        }
        part->surfaceCount = (int)share;
        int rim = (int)(2.0 * sqrt((double)share) + 0.999);
        part->rimCount = rim > settings->edgeCount ? rim : settings->edgeCount;
        emitter->count += countPartStarts(emitter, part);
    }
    double radius = rbGeometry_GetRadius(emitter->geometry, RB_VEC3_ZERO);
    double spacing = surface > 0 ? sqrt(whole / (double)surface) : 2.0 * radius;
    emitter->spacing = spacing < 2.0 * radius ? spacing : 2.0 * radius;
    return RB_STATUS_OK;
}

// Stores the directions of a sphere's points, which are the same for every cast.
static void keepDirections(rbRayEmitter* emitter)
{
    for (int i = 0; i < emitter->partCount; ++i) {
        rbRayPart* part = &emitter->parts[i];
        if (part->data.type != RB_SHAPE_SPHERE || part->surfaceCount > DIRECTIONS_KEPT_MAX) {
            continue;
        }
        part->directions = rbAlloc((size_t)part->surfaceCount * sizeof(rbVec3));
        for (int k = 0; k < part->surfaceCount; ++k) {
            part->directions[k] =
                rbGetSphereDirection(emitter->settings.pattern, part->requestedCount, k);
        }
    }
}

rbRayEmitter* rbCreateRayEmitter(const rbGeometry* geometry, const rbRaySettings* settings,
                                 rbError* error)
{
    RB_ASSERT(geometry != NULL && settings != NULL);
    if (rbRaySettings_Check(settings, error) != RB_STATUS_OK) {
        return NULL;
    }
    rbRayEmitter* emitter = rbAllocZero(1, sizeof *emitter);
    emitter->geometry = rbGeometry_Retain(geometry);
    emitter->settings = *settings;
    emitter->partCapacity = countParts(geometry);
    emitter->parts = rbAllocZero((size_t)emitter->partCapacity, sizeof(rbRayPart));
    if (addParts(emitter, geometry, RB_TRANSFORM_IDENTITY, error) != RB_STATUS_OK ||
        countStarts(emitter, error) != RB_STATUS_OK) {
        rbDestroyRayEmitter(emitter);
        return NULL;
    }
    keepDirections(emitter);
    return emitter;
}

void rbDestroyRayEmitter(rbRayEmitter* emitter)
{
    if (emitter == NULL) {
        return;
    }
    for (int i = 0; i < emitter->partCount; ++i) {
        rbRayPart* part = &emitter->parts[i];
        size_t faceCount = (size_t)part->mesh.triangleCount;
        size_t vertexCount = (size_t)part->mesh.vertexCount;
        rbFree(part->normals, faceCount * sizeof(rbVec3));
        rbFree(part->pointStarts, (faceCount + 1) * sizeof(int));
        rbFree(part->vertexFaceStarts, (vertexCount + 1) * sizeof(int));
        rbFree(part->vertexFaces, 3 * faceCount * sizeof(int));
        rbFree(part->edges, 3 * faceCount * sizeof(rbRayEdge));
        rbFree(part->directions, (size_t)part->surfaceCount * sizeof(rbVec3));
        rbFreeTriangles(&part->mesh);
    }
    rbFree(emitter->parts, (size_t)emitter->partCapacity * sizeof(rbRayPart));
    rbDestroyGeometry(emitter->geometry);
    rbFree(emitter, sizeof *emitter);
}

int rbRayEmitter_GetCount(const rbRayEmitter* emitter)
{
    return emitter->count;
}
