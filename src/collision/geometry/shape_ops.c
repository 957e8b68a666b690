// The table, and the public functions that only look up a row.
#include "collision/geometry/shape_ops.h"

#include "base/core/float_mode.h"
#include "base/core/hash.h"
#include "base/core/memory.h"
#include "base/core/registered_rows.h"
#include "base/core/words.h"
#include "base/math/elementary.h"
#include "collision/geometry/polyhedron.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AS_ROW(type, row) [type] = &(row),
static const rbShapeOps* const shapeTable[] = {RB_SHAPE_ROWS(AS_ROW)};
_Static_assert(sizeof shapeTable / sizeof shapeTable[0] == RB_SHAPE_COUNT, "one row per shape");

RB_DEFINE_TABLE(rbShapeType, const rbShapeOps* rbGetShapeOps, RB_SHAPE_COUNT, shapeTable[index])
RB_DEFINE_WORDS(rbShapeType, "shape", rbShapeType_GetCount(),
                rbGetShapeOps((rbShapeType)index)->name)

rbStatus rbRegisterShapeOps(const rbShapeOps* ops, rbError* error)
{
    RB_ASSERT(ops != NULL);
    return RB_REGISTER_ROW(rbShapeType, "shape", ops, error);
}

int rbShapeOps_CountNumbers(const rbShapeOps* ops)
{
    int count = 0;
    for (int i = 0; i < ops->parameterCount; ++i) {
        count += ops->parameters[i].count;
    }
    RB_ASSERT(count <= RB_PARAMETERS_MAX);
    return count;
}

int rbGeometry_GetNumbers(const rbGeometry* geometry, double numbers[RB_PARAMETERS_MAX])
{
    const rbShapeOps* ops = rbGetShapeOps(geometry->type);
    RB_ASSERT(ops->parameters != NULL);
    int count = rbShapeOps_CountNumbers(ops);
    for (int i = 0; i < count; ++i) {
        double number = geometry->data.numbers[i];
        numbers[i] = (ops->halved >> i & 1u) != 0 ? 2.0 * number : number;
    }
    return count;
}

rbGeometry* rbAllocGeometry(rbShapeType type)
{
    rbGeometry* geometry = rbAllocZero(1, sizeof *geometry);
    geometry->type = type;
    geometry->data.type = type;
    geometry->isSolid = true;
    geometry->isBounded = true;
    atomic_init(&geometry->references, 1);
    return geometry;
}

rbGeometry* rbFinishGeometry(rbGeometry* geometry)
{
    const rbShapeOps* ops = rbGetShapeOps(geometry->type);
    uint64_t hash = rbHashBytes(RB_HASH_SEED, ops->name, strlen(ops->name));
    geometry->hash = ops->hash != NULL ? ops->hash(geometry, hash)
                                       : rbHashDoubles(hash, geometry->data.numbers,
                                                       (size_t)rbShapeOps_CountNumbers(ops));
    geometry->radius = geometry->isBounded ? ops->radius(geometry, RB_VEC3_ZERO) : INFINITY;
    return geometry;
}

static rbGeometry* createOfNumbers(rbShapeType type, const double* numbers)
{
    rbGeometry* geometry = rbAllocGeometry(type);
    int count = rbShapeOps_CountNumbers(rbGetShapeOps(type));
    memcpy(geometry->data.numbers, numbers, (size_t)count * sizeof(double));
    return rbFinishGeometry(geometry);
}

rbGeometry* rbCreatePrimitive(rbShapeType type, const double* lengths, rbError* error)
{
    const rbShapeOps* ops = rbGetShapeOps(type);
    int index = 0;
    for (int i = 0; i < ops->parameterCount; ++i) {
        for (int k = 0; k < ops->parameters[i].count; ++k, ++index) {
            char what[64];
            (void)snprintf(what, sizeof what, "%s of the %s", ops->lengths[index], ops->name);
            if (rbCheckLength(lengths[index], !ops->parameters[i].isLowOpen, what, error) !=
                RB_STATUS_OK) {
                return NULL;
            }
        }
    }
    return createOfNumbers(type, lengths);
}

rbGeometry* rbCreateGeometryOfType(rbShapeType type, const double* numbers, rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    RB_ASSERT(numbers != NULL);
    bool isKnown = (int)type >= 0 && (int)type < rbShapeType_GetCount();
    const rbShapeOps* ops = isKnown ? rbGetShapeOps(type) : NULL;
    RB_NULL_IF(ops == NULL || ops->parameters == NULL, error,
               "numbers do not describe a shape of type %s", rbShapeType_Name(type));
    if (ops->create != NULL) {
        return ops->create(numbers, error);
    }
    if (ops->convex == NULL) {
        double lengths[RB_PARAMETERS_MAX] = {0};
        for (int i = 0; i < rbShapeOps_CountNumbers(ops); ++i) {
            lengths[i] = (ops->halved >> i & 1u) != 0 ? 0.5 * numbers[i] : numbers[i];
        }
        return rbCreatePrimitive(type, lengths, error);
    }
    bool isGood = ops->convex->check == NULL || ops->convex->check(numbers, error) == RB_STATUS_OK;
    return isGood ? createOfNumbers(type, numbers) : NULL;
}

rbGeometry* rbGeometry_Retain(const rbGeometry* geometry)
{
    RB_ASSERT(geometry != NULL);
    // the reference count is the only mutable part of a geometry; geometries are always on the heap
    rbGeometry* owned = (rbGeometry*)geometry;
    int before = atomic_fetch_add_explicit(&owned->references, 1, memory_order_relaxed);
    RB_ASSERT(before > 0);
    (void)before;
    return owned;
}

void rbDestroyGeometry(rbGeometry* geometry)
{
    if (geometry == NULL) {
        return;
    }
    int before = atomic_fetch_sub_explicit(&geometry->references, 1, memory_order_acq_rel);
    RB_ASSERT(before > 0);
    if (before != 1) {
        return;
    }
    const rbShapeOps* ops = rbGetShapeOps(geometry->type);
    if (ops->release != NULL) {
        ops->release(geometry);
    }
    rbFree(geometry, sizeof *geometry);
}

rbStatus rbCheckLength(double length, bool zeroIsFine, const char* what, rbError* error)
{
    bool isGood = length >= RB_LENGTH_MIN && length <= RB_LENGTH_MAX;
    if (isGood || (zeroIsFine && length == 0.0)) {
        return RB_STATUS_OK;
    }
    return rbError_Set(error, RB_STATUS_INVALID,
                       "the %s is %g m; %sa length from %g to %g m is accepted", what, length,
                       zeroIsFine ? "0 or " : "", RB_LENGTH_MIN, RB_LENGTH_MAX);
}

rbBounds rbMakeBounds(rbVec3 center, rbVec3 halfSize)
{
    RB_ASSERT(halfSize.x >= 0.0 && halfSize.y >= 0.0 && halfSize.z >= 0.0);
    return (rbBounds){rbSub(center, halfSize), rbAdd(center, halfSize)};
}

rbBounds rbBoundPoints(const rbVec3* points, const int* indices, int count)
{
    RB_ASSERT(count > 0);
    rbVec3 lower = points[indices[0]], upper = lower;
    for (int i = 1; i < count; ++i) {
        lower = rbMin3(lower, points[indices[i]]);
        upper = rbMax3(upper, points[indices[i]]);
    }
    return (rbBounds){lower, upper};
}

rbVec3 rbDiscExtents(rbQuat q, double radius)
{
    RB_ASSERT(radius > 0.0);
    rbMat3 m = rbMatFromQuat(q);
    rbVec3 squares = rbAdd(rbMulEach(m.cx, m.cx), rbMulEach(m.cy, m.cy));
    return rbScale(radius, rbMakeVec3(sqrt(squares.x), sqrt(squares.y), sqrt(squares.z)));
}

uint64_t rbHashVec3(uint64_t hash, rbVec3 v)
{
    // adding +0 turns -0 into +0: the two are the same geometry
    const double values[3] = {v.x + 0.0, v.y + 0.0, v.z + 0.0};
    return rbHashDoubles(hash, values, 3);
}

#define RIM_CORNERS 8

void rbContactFeature_Add(rbContactFeature* feature, rbVec3 corner, int vertexId, int edgeId)
{
    RB_ASSERT(feature->count < RB_FEATURE_CORNERS_MAX);
    feature->corners[feature->count] = corner;
    feature->vertexIds[feature->count] = vertexId;
    feature->edgeIds[feature->count] = edgeId;
    ++feature->count;
}

void rbContactFeature_AddRim(rbContactFeature* feature, double radius, double z)
{
    double up = z > 0.0 ? 1.0 : -1.0;
    for (int k = 0; k < RIM_CORNERS; ++k) {
        double s, c;
        rbSinCos(2.0 * RB_PI / RIM_CORNERS * k, &s, &c);
        rbContactFeature_Add(feature, rbMakeVec3(radius * c, up * radius * s, z), k, k);
    }
    feature->normal = rbMakeVec3(0.0, 0.0, up);
    feature->faceId = z > 0.0 ? 2 : 1;
}

void rbOutline_AddLine(rbOutline* outline, double r, double z)
{
    RB_ASSERT(outline->count < RB_OUTLINE_PIECES_MAX);
    const rbOutlinePiece* last = outline->count > 0 ? &outline->pieces[outline->count - 1] : NULL;
    double fromR = last != NULL ? last->r : 0.0, fromZ = last != NULL ? last->z : outline->startZ;
    double length = sqrt((r - fromR) * (r - fromR) + (z - fromZ) * (z - fromZ));
    if (length > 0.0) {
        outline->pieces[outline->count++] = (rbOutlinePiece){.r = r, .z = z, .length = length};
    }
}

void rbOutline_AddArc(rbOutline* outline, rbOutlinePiece arc)
{
    RB_ASSERT(outline->count < RB_OUTLINE_PIECES_MAX);
    RB_ASSERT(arc.angleB > arc.angleA);
    arc.isArc = true;
    arc.length = arc.radius * (arc.angleB - arc.angleA);
    outline->pieces[outline->count++] = arc;
}

#define DEFINE_GETTER(type, name, value)  \
    type name(const rbGeometry* geometry) \
    {                                     \
        RB_ASSERT(geometry != NULL);      \
        return (value);                   \
    }
DEFINE_GETTER(rbShapeType, rbGeometry_GetType, geometry->type)
DEFINE_GETTER(rbShapeData, rbGeometry_GetData, geometry->data)
DEFINE_GETTER(bool, rbGeometry_IsConvex, rbGetShapeOps(geometry->type)->isConvex)
DEFINE_GETTER(bool, rbGeometry_IsBounded, geometry->isBounded)
DEFINE_GETTER(bool, rbGeometry_IsSolid, geometry->isSolid)
DEFINE_GETTER(uint64_t, rbGeometry_GetHash, geometry->hash)

bool rbGeometry_GetMesh(const rbGeometry* geometry, rbMeshDef* mesh)
{
    RB_ASSERT(geometry != NULL && mesh != NULL);
    bool hasMesh = geometry->polyhedron != NULL;
    *mesh = hasMesh ? rbPolyhedron_GetDef(geometry->polyhedron) : (rbMeshDef){0};
    return hasMesh;
}

const rbCompoundChild* rbGeometry_GetChildren(const rbGeometry* geometry, int* count)
{
    RB_ASSERT(geometry != NULL && count != NULL);
    *count = geometry->childCount;
    return geometry->children;
}

rbBounds rbGeometry_GetBounds(const rbGeometry* geometry, rbTransform transform)
{
    RB_ASSERT(geometry != NULL);
    RB_ASSERT(rbIsFinite3(transform.p) && rbIsFiniteQuat(transform.q));
    return rbGetShapeOps(geometry->type)->bounds(geometry, transform);
}

rbVec3 rbGeometry_GetSupport(const rbGeometry* geometry, rbVec3 direction)
{
    RB_ASSERT(geometry != NULL);
    RB_ASSERT(rbIsFinite3(direction));
    double largest = rbLargestComponent(direction);
    rbVec3 scaled = {1.0, 0.0, 0.0};
    if (largest > 0.0) {
        // divisions, because 1/largest may overflow
        scaled = rbMakeVec3(direction.x / largest, direction.y / largest, direction.z / largest);
    }
    return rbGetShapeOps(geometry->type)->support(geometry, scaled);
}

bool rbGeometry_Contains(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry != NULL);
    RB_ASSERT(rbIsFinite3(point));
    return rbGetShapeOps(geometry->type)->contains(geometry, point);
}

double rbGeometry_GetRadius(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry != NULL);
    RB_ASSERT(rbIsFinite3(point));
    return rbGetShapeOps(geometry->type)->radius(geometry, point);
}

bool rbMakeUnitRay(const rbRay* ray, rbUnitRay* unit)
{
    RB_ASSERT(rbIsFinite3(ray->origin) && rbIsFinite3(ray->direction));
    double largest = rbLargestComponent(ray->direction);
    if (!(largest > 0.0)) {
        return false;
    }
    rbVec3 d = ray->direction;
    d = rbMakeVec3(d.x / largest, d.y / largest, d.z / largest);
    double length = rbLength(d);
    rbRay scaled = {ray->origin, rbScale(1.0 / length, d), ray->tMax * largest * length};
    *unit = (rbUnitRay){scaled, largest, length};
    return true;
}

rbStatus rbGeometry_GetMass(const rbGeometry* geometry, double density,
                            rbMassProperties* properties, rbError* error)
{
    RB_ASSERT(geometry != NULL && properties != NULL);
    *properties = (rbMassProperties){0};
    RB_INVALID_IF(!(density > 0.0 && density <= 1e30), error,
                  "the density is %g kg/m^3; a value above 0 and up to 1e30 is accepted", density);
    const rbShapeOps* ops = rbGetShapeOps(geometry->type);
    if (ops->solid == NULL) {
        return ops->mass(geometry, density, properties, error);
    }
    rbSolidMass solid = ops->solid(geometry);
    RB_ASSERT(solid.volume > 0.0);
    double mass = density * solid.volume;
    rbVec3 i = rbScale(mass, solid.inertia);
    *properties = (rbMassProperties){
        solid.volume, mass, {0.0, 0.0, solid.centerZ}, {i.x, i.y, i.z, 0.0, 0.0, 0.0}};
    return RB_STATUS_OK;
}

void rbAddTriangles(const rbGeometry* geometry, const rbTriangulation* settings,
                    rbTriangleSink* sink)
{
    const rbShapeOps* ops = rbGetShapeOps(geometry->type);
    if (ops->triangulate != NULL) {
        ops->triangulate(geometry, settings, sink);
        return;
    }
    if (ops->getSemiAxes != NULL) {
        rbTriangleSink_AddEllipsoid(sink, ops->getSemiAxes(geometry), settings->deviation);
        return;
    }
    rbOutline outline = {0};
    ops->outline(geometry, &outline);
    double profile[RB_OUTLINE_PIECES_MAX + 1][2] = {{0.0, outline.startZ}};
    for (int i = 0; i < outline.count; ++i) {
        RB_ASSERT(!outline.pieces[i].isArc);
        profile[i + 1][0] = outline.pieces[i].r;
        profile[i + 1][1] = outline.pieces[i].z;
    }
    rbTriangleSink_AddLathed(sink, (const double(*)[2])profile, outline.count + 1, outline.radius,
                             settings->deviation);
}

rbStatus rbGeometry_Triangulate(const rbGeometry* geometry, double deviation, double planeHalfSize,
                                rbTriangles* triangles, rbError* error)
{
    RB_ASSERT(geometry != NULL && triangles != NULL);
    *triangles = (rbTriangles){0};
    RB_INVALID_IF(!(deviation > 0.0 && isfinite(deviation)), error,
                  "the deviation of the triangles is %g m; a finite value above 0 is accepted",
                  deviation);
    RB_TRY(geometry->isBounded
               ? RB_STATUS_OK
               : rbCheckLength(planeHalfSize, false, "half size of the displayed plane", error));
    rbTriangulation settings = {deviation, planeHalfSize};
    rbTriangleSink sink = {0};
    rbAddTriangles(geometry, &settings, &sink);
    if (!sink.isOverLimit) {
        size_t vertexBytes = (size_t)sink.vertices.count * sizeof(rbVec3);
        size_t triangleBytes = (size_t)sink.triangles.count * sizeof(rbIndex3);
        triangles->vertexCount = sink.vertices.count;
        triangles->triangleCount = sink.triangles.count;
        triangles->vertices = rbAlloc(vertexBytes);
        triangles->triangles = rbAlloc(triangleBytes);
        memcpy(triangles->vertices, sink.vertices.data, vertexBytes);
        memcpy(triangles->triangles, sink.triangles.data, triangleBytes);
    }
    rbArray_FreeAll(sink.vertices, sink.triangles);
    RB_REFUSE_IF(
        sink.isOverLimit, RB_STATUS_LIMIT, error,
        "the %s needs more than %d triangles for a deviation of %g m; use a larger deviation",
        rbShapeType_Name(geometry->type), RB_TRIANGLES_MAX, deviation);
    return RB_STATUS_OK;
}

void rbFreeTriangles(rbTriangles* triangles)
{
    RB_ASSERT(triangles != NULL);
    rbFree(triangles->vertices, (size_t)triangles->vertexCount * sizeof(rbVec3));
    rbFree(triangles->triangles, (size_t)triangles->triangleCount * sizeof(rbIndex3));
    *triangles = (rbTriangles){0};
}
