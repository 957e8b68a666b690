// Cores: shapes without the ball they are rounded by. One row per type.
//
// In terms of heights, a ball moves with its center: the highest point of a rotating ball is always
// its radius above its center. So a sphere is a point and a capsule a segment, and the radius is
// added once, not along the rotated direction.
#include "dynamics/sweep/sweep_core.h"

#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"
#include "dynamics/sweep/sweep.h"

typedef rbCoreHeight HeightFn(const rbGeometry* geometry, const rbCoreProbe* probe);
// isQuick: the result may be too large, but costs O(1) per part.
typedef double ReachFn(const rbGeometry* geometry, rbVec3 point, bool isQuick);

typedef struct CoreRow {
    HeightFn* height;
    ReachFn* reach;
} CoreRow;

static const CoreRow* getRow(const rbGeometry* geometry);

static rbCoreHeight heightOfSphere(const rbGeometry* geometry, const rbCoreProbe* probe)
{
    (void)probe;
    return (rbCoreHeight){geometry->data.sphere.radius, 0.0};
}

static rbCoreHeight heightOfCapsule(const rbGeometry* geometry, const rbCoreProbe* probe)
{
    double end = copysign(geometry->data.capsule.halfLength, probe->direction.z);
    return (rbCoreHeight){end * probe->direction.z + geometry->data.capsule.radius,
                          end * probe->rate.z};
}

static rbCoreHeight heightOfShape(const rbGeometry* geometry, const rbCoreProbe* probe)
{
    rbVec3 point = rbGeometry_GetSupport(geometry, probe->direction);
    return (rbCoreHeight){rbDot(probe->direction, point), rbDot(probe->rate, point)};
}

static rbCoreHeight heightOfBox(const rbGeometry* geometry, const rbCoreProbe* probe)
{
    rbVec3 half = geometry->data.box.halfExtents;
    rbVec3 d = probe->direction;
    rbVec3 corner = {copysign(half.x, d.x), copysign(half.y, d.y), copysign(half.z, d.z)};
    return (rbCoreHeight){rbDot(d, corner), rbDot(probe->rate, corner)};
}

// By its table of supports: several times as fast as over the corners of all faces.
static rbCoreHeight heightOfHull(const rbGeometry* geometry, const rbCoreProbe* probe)
{
    const rbSupportTable* table = geometry->polyhedron->supports;
    bool climbs = table->vertexCount > RB_SUPPORT_SEARCH_MAX && table->canClimb;
    int vertex = climbs ? rbSupportTable_Climb(table, probe->direction, -1)
                        : rbSupportTable_Search(table, probe->direction);
    rbVec3 point = rbSupportTable_GetVertex(table, vertex);
    return (rbCoreHeight){rbDot(probe->direction, point), rbDot(probe->rate, point)};
}

static rbCoreHeight heightOfPlane(const rbGeometry* geometry, const rbCoreProbe* probe)
{
    (void)probe;
    RB_ASSERT(geometry->isBounded); // planes are evaluated along their own normal, elsewhere
    (void)geometry;
    return (rbCoreHeight){(double)INFINITY, 0.0};
}

// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static rbCoreHeight heightOfCompound(const rbGeometry* geometry, const rbCoreProbe* probe)
{
    rbCoreHeight best = {-(double)INFINITY, 0.0};
    for (int i = 0; i < geometry->childCount; ++i) {
        const rbCompoundChild* child = &geometry->children[i];
        rbTransform pose = child->transform;
        rbCoreProbe part = *probe;
        part.direction = rbInvRotate(pose.q, probe->direction);
        part.rate = rbInvRotate(pose.q, probe->rate);
        part.center = rbInvTransformPoint(pose, probe->center);
        rbCoreHeight own = rbGetCoreHeight(child->geometry, &part);
        own.height += rbDot(probe->direction, pose.p);
        own.rate += rbDot(probe->rate, pose.p);
        if (child->geometry->type != RB_SHAPE_COMPOUND) {
            double reach = getRow(child->geometry)->reach(child->geometry, part.center, true);
            reach = rbMinOf(reach, probe->reachMax);
            own.height += reach * probe->lift;
            own.rate += reach * probe->liftRate;
        }
        if (own.height > best.height) {
            best = own;
        }
    }
    return best;
}

static double reachOfSphere(const rbGeometry* geometry, rbVec3 point, bool isQuick)
{
    (void)geometry;
    (void)isQuick;
    return rbLength(point);
}

static double reachOfCapsule(const rbGeometry* geometry, rbVec3 point, bool isQuick)
{
    (void)isQuick;
    double z = fabs(point.z) + geometry->data.capsule.halfLength;
    return rbLength(rbMakeVec3(point.x, point.y, z));
}

static double reachOfShape(const rbGeometry* geometry, rbVec3 point, bool isQuick)
{
    (void)isQuick;
    return rbGeometry_GetRadius(geometry, point);
}

static double reachOfVertices(const rbGeometry* geometry, rbVec3 point, bool isQuick)
{
    return isQuick ? rbLength(point) + geometry->radius : rbGeometry_GetRadius(geometry, point);
}

// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static double reachOfCompound(const rbGeometry* geometry, rbVec3 point, bool isQuick)
{
    double largest = 0.0;
    for (int i = 0; i < geometry->childCount; ++i) {
        const rbCompoundChild* child = &geometry->children[i];
        rbVec3 local = rbInvTransformPoint(child->transform, point);
        largest = rbMaxOf(largest, getRow(child->geometry)->reach(child->geometry, local, isQuick));
    }
    return largest;
}

static const CoreRow coreTable[] = {
    [RB_FAMILY_BALL] = {heightOfSphere, reachOfSphere},
    [RB_FAMILY_ROD] = {heightOfCapsule, reachOfCapsule},
    [RB_FAMILY_BOX] = {heightOfBox, reachOfShape},
    [RB_FAMILY_SMOOTH] = {heightOfShape, reachOfShape},
    [RB_FAMILY_HULL] = {heightOfHull, reachOfVertices},
    [RB_FAMILY_TRIANGLES] = {heightOfShape, reachOfVertices},
    [RB_FAMILY_PLANE] = {heightOfPlane, reachOfShape},
    [RB_FAMILY_COMPOUND] = {heightOfCompound, reachOfCompound},
};
_Static_assert(sizeof coreTable / sizeof coreTable[0] == RB_FAMILY_COUNT, "one row a family");

static const CoreRow* getRow(const rbGeometry* geometry)
{
    return &coreTable[rbGeometry_GetFamily(geometry)];
}

// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
rbCoreHeight rbGetCoreHeight(const rbGeometry* geometry, const rbCoreProbe* probe)
{
    RB_ASSERT(rbIsFinite3(probe->direction) && rbIsFinite3(probe->rate));
    return getRow(geometry)->height(geometry, probe);
}

double rbGetCoreReachQuick(const rbGeometry* geometry, rbVec3 point)
{
    return getRow(geometry)->reach(geometry, point, true);
}

double rbGetCoreReach(const rbGeometry* geometry, rbVec3 point)
{
    RB_ASSERT(geometry != NULL && rbIsFinite3(point));
    return getRow(geometry)->reach(geometry, point, false);
}
