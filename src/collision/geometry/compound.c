// Several geometries as one (L-06, B-53), each with its pose and, optionally, its density.
//
// Compounds may nest; the depth is limited at creation, which bounds every recursion here.
#include "base/core/float_mode.h"
#include "base/core/hash.h"
#include "base/core/memory.h"
#include "collision/geometry/polyhedron.h"

// A quaternion this close to unit length is accepted and normalized.
#define UNIT_TOLERANCE 1e-6

static rbStatus checkChild(const rbCompoundChild* child, int index, rbError* error)
{
    RB_INVALID_IF(child->geometry == NULL, error, "child %d of the compound has no geometry",
                  index);
    rbQuat q = child->transform.q;
    RB_INVALID_IF(
        !rbIsPlace(child->transform.p), error,
        "child %d of the compound is at (%g, %g, %g); coordinates up to %g m are accepted", index,
        child->transform.p.x, child->transform.p.y, child->transform.p.z, RB_LENGTH_MAX);
    RB_INVALID_IF(!(fabs(rbDotQuat(q, q) - 1.0) <= UNIT_TOLERANCE), error,
                  "child %d of the compound is rotated by the quaternion (%g, %g, %g, %g); one of "
                  "length 1 is accepted",
                  index, q.w, q.x, q.y, q.z);
    RB_INVALID_IF(!(fabs(child->density) <= 1e30), error,
                  "child %d of the compound has the density %g kg/m^3; a value up to 1e30 is "
                  "accepted, 0 inherits",
                  index, child->density);
    RB_REFUSE_IF(child->geometry->depth >= RB_COMPOUND_DEPTH_MAX, RB_STATUS_LIMIT, error,
                 "child %d of the compound nests %d compounds; at most %d levels are accepted",
                 index, child->geometry->depth, RB_COMPOUND_DEPTH_MAX);
    return RB_STATUS_OK;
}

rbGeometry* rbCreateCompound(const rbCompoundChild* children, int count, rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    RB_NULL_IF(children == NULL || count < 1 || count > RB_COMPOUND_CHILDREN_MAX, error,
               "the compound has %d children; 1 to %d are accepted", count,
               RB_COMPOUND_CHILDREN_MAX);
    for (int i = 0; i < count; ++i) {
        if (checkChild(&children[i], i, error) != RB_STATUS_OK) {
            return NULL;
        }
    }
    rbGeometry* geometry = rbAllocGeometry(RB_SHAPE_COMPOUND);
    geometry->childCount = count;
    geometry->children = rbAlloc((size_t)count * sizeof(rbCompoundChild));
    for (int i = 0; i < count; ++i) {
        rbCompoundChild* child = &geometry->children[i];
        *child = children[i];
        child->geometry = rbGeometry_Retain(children[i].geometry);
        child->transform.q = rbNormalizeQuat(child->transform.q);
        child->density = child->density > 0.0 ? child->density : 0.0;
        int depth = child->geometry->depth + 1;
        geometry->depth = depth > geometry->depth ? depth : geometry->depth;
        geometry->isSolid = geometry->isSolid && child->geometry->isSolid;
        geometry->isBounded = geometry->isBounded && child->geometry->isBounded;
    }
    RB_ASSERT(geometry->depth <= RB_COMPOUND_DEPTH_MAX);
    return rbFinishGeometry(geometry);
}

static void releaseCompound(rbGeometry* geometry)
{
    for (int i = 0; i < geometry->childCount; ++i) {
        rbDestroyGeometry((rbGeometry*)geometry->children[i].geometry);
    }
    rbFree(geometry->children, (size_t)geometry->childCount * sizeof(rbCompoundChild));
}

static rbStatus massOfCompound(const rbGeometry* geometry, double density,
                               rbMassProperties* properties, rbError* error)
{
    rbMassProperties total = {0};
    for (int i = 0; i < geometry->childCount; ++i) {
        const rbCompoundChild* child = &geometry->children[i];
        double own = child->density > 0.0 ? child->density : density;
        rbMassProperties part;
        rbStatus status = rbGeometry_GetMass(child->geometry, own, &part, error);
        if (status != RB_STATUS_OK) {
            return rbError_Set(
                error, status,
                "child %d of the compound, a %s, has no mass; give the body a mass and inertia", i,
                rbShapeType_Name(child->geometry->type));
        }
        part = rbMassProperties_Transform(&part, child->transform);
        total = rbMassProperties_Add(&total, &part);
    }
    *properties = total;
    return RB_STATUS_OK;
}

static rbVec3 supportOfCompound(const rbGeometry* geometry, rbVec3 direction)
{
    rbVec3 best = RB_VEC3_ZERO;
    double largest = -INFINITY;
    for (int i = 0; i < geometry->childCount; ++i) {
        const rbCompoundChild* child = &geometry->children[i];
        rbVec3 local = rbInvRotate(child->transform.q, direction);
        rbVec3 point =
            rbTransformPoint(child->transform, rbGeometry_GetSupport(child->geometry, local));
        double value = rbDot(direction, point);
        if (value > largest) {
            largest = value;
            best = point;
        }
    }
    return best;
}

static rbBounds boundsOfCompound(const rbGeometry* geometry, rbTransform transform)
{
    rbBounds all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < geometry->childCount; ++i) {
        const rbCompoundChild* child = &geometry->children[i];
        rbTransform pose = rbMulTransforms(transform, child->transform);
        rbBounds part = rbGeometry_GetBounds(child->geometry, pose);
        all.lower = rbMin3(all.lower, part.lower);
        all.upper = rbMax3(all.upper, part.upper);
    }
    return all;
}

static double radiusOfCompound(const rbGeometry* geometry, rbVec3 point)
{
    double largest = 0.0;
    for (int i = 0; i < geometry->childCount; ++i) {
        const rbCompoundChild* child = &geometry->children[i];
        rbVec3 local = rbInvTransformPoint(child->transform, point);
        largest = rbMaxOf(largest, rbGeometry_GetRadius(child->geometry, local));
    }
    return largest;
}

static bool compoundContains(const rbGeometry* geometry, rbVec3 point)
{
    bool isInside = false;
    for (int i = 0; i < geometry->childCount && !isInside; ++i) {
        const rbCompoundChild* child = &geometry->children[i];
        isInside =
            rbGeometry_Contains(child->geometry, rbInvTransformPoint(child->transform, point));
    }
    return isInside;
}

static void triangulateCompound(const rbGeometry* geometry, const rbTriangulation* settings,
                                rbTriangleSink* sink)
{
    for (int i = 0; i < geometry->childCount; ++i) {
        const rbCompoundChild* child = &geometry->children[i];
        int first = sink->vertices.count;
        rbAddTriangles(child->geometry, settings, sink);
        for (int k = first; k < sink->vertices.count; ++k) {
            sink->vertices.data[k] = rbTransformPoint(child->transform, sink->vertices.data[k]);
        }
    }
}

static uint64_t hashCompound(const rbGeometry* geometry, uint64_t hash)
{
    for (int i = 0; i < geometry->childCount; ++i) {
        const rbCompoundChild* child = &geometry->children[i];
        rbQuat q = child->transform.q;
        const double values[5] = {q.w + 0.0, q.x + 0.0, q.y + 0.0, q.z + 0.0, child->density};
        hash = rbHashVec3(hash, child->transform.p);
        hash = rbHashDoubles(hash, values, 5);
        // the halves as doubles: exact, and independent of the byte order
        uint64_t own = child->geometry->hash;
        const double halves[2] = {(double)(own >> 32), (double)(own & 0xffffffffu)};
        hash = rbHashDoubles(hash, halves, 2);
    }
    return hash;
}

const rbShapeOps rbCompoundOps = {
    .name = "compound",
    .family = RB_FAMILY_COMPOUND,
    .mass = massOfCompound,
    .support = supportOfCompound,
    .bounds = boundsOfCompound,
    .radius = radiusOfCompound,
    .contains = compoundContains,
    .triangulate = triangulateCompound,
    .hash = hashCompound,
    .release = releaseCompound,
};
