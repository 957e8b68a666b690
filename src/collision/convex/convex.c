// Support mappings of cores: one row a family of shapes, then the difference of two bodies.
//
// Polytopes return only vertices, so the kernels end after finitely many steps on them, and accept
// directions of any length; smooth cores square the direction and receive it with its largest
// component scaled to magnitude 1.
#include "collision/convex/convex.h"

#include "collision/convex/support.h"
#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"

#include <math.h>

// By the row of the shape table.
static rbVec3 supportSmooth(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    *vertex = -1;
    return rbGetShapeOps(convex->geometry->type)->support(convex->geometry, direction);
}

static rbVec3 supportHull(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    const rbSupportTable* table = convex->geometry->polyhedron->supports;
    *vertex = rbSupportTable_Find(table, direction, *vertex);
    return rbSupportTable_GetVertex(table, *vertex);
}

static rbVec3 supportPoints(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    int best = 0;
    double highest = rbDot(direction, convex->points[0]);
    for (int i = 1; i < convex->pointCount; ++i) {
        double height = rbDot(direction, convex->points[i]);
        best = height > highest ? i : best;
        highest = height > highest ? height : highest;
    }
    *vertex = best;
    return convex->points[best];
}

typedef struct CoreRow {
    rbCoreSupportFn* support; // NULL: no convex core
    bool isPolytope, isExtents;
} CoreRow;

// The kernels inline rbSupportExtents.
static const CoreRow coreTable[RB_FAMILY_COUNT] = {
    [RB_FAMILY_BALL] = {rbSupportExtents, true, true},
    [RB_FAMILY_BOX] = {rbSupportExtents, true, true},
    [RB_FAMILY_ROD] = {rbSupportExtents, true, true},
    [RB_FAMILY_SMOOTH] = {supportSmooth, false, false},
    [RB_FAMILY_HULL] = {supportHull, true, false},
};

bool rbConvex_Make(const rbGeometry* geometry, double radius, rbConvex* convex)
{
    RB_ASSERT(geometry != NULL && radius >= 0.0);
    rbShapeFamily family = rbGeometry_GetFamily(geometry);
    const CoreRow* row = &coreTable[family];
    if (row->support == NULL) {
        return false;
    }
    *convex = (rbConvex){.isExtents = row->isExtents,
                         .isPolytope = row->isPolytope,
                         .radius = radius,
                         .size = geometry->radius,
                         .support = row->support,
                         .geometry = geometry};
    if (family == RB_FAMILY_BOX) {
        convex->extents = geometry->data.box.halfExtents;
        convex->signMask = 7;
    } else if (family == RB_FAMILY_BALL) {
        convex->radius += geometry->data.sphere.radius;
        convex->size = 0.0;
    } else if (family == RB_FAMILY_ROD) {
        convex->radius += geometry->data.capsule.radius;
        convex->extents.z = geometry->data.capsule.halfLength;
        convex->signMask = 4;
        convex->size = geometry->data.capsule.halfLength;
    }
    return true;
}

rbConvex rbConvex_Of(const rbGeometry* geometry, double radius)
{
    rbConvex convex;
    bool isConvex = rbConvex_Make(geometry, radius, &convex);
    RB_ASSERT(isConvex);
    (void)isConvex;
    return convex;
}

void rbConvex_MakePoints(const rbVec3* points, int count, double size, double radius,
                         rbConvex* convex)
{
    RB_ASSERT(points != NULL && count >= 1);
    RB_ASSERT(size >= 0.0 && radius >= 0.0);
    *convex = (rbConvex){.isPolytope = true,
                         .radius = radius,
                         .size = size,
                         .support = supportPoints,
                         .points = points,
                         .pointCount = count};
}

bool rbConvex_FindVertex(const rbConvex* convex, int vertex, rbVec3* point)
{
    RB_ASSERT(!convex->isExtents);
    if (vertex < 0 || !convex->isPolytope) {
        return false;
    }
    if (convex->geometry == NULL) {
        *point = convex->points[vertex < convex->pointCount ? vertex : 0];
        return vertex < convex->pointCount;
    }
    const rbSupportTable* table = convex->geometry->polyhedron->supports;
    if (vertex >= table->vertexCount) {
        return false;
    }
    *point = rbSupportTable_GetVertex(table, vertex);
    return true;
}

rbVec3 rbBalanceDirection(rbVec3 d)
{
    double largest = fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
    double inverse = 1.0 / largest;
    return isfinite(inverse) ? rbScale(inverse, d)
                             : rbMakeVec3(d.x / largest, d.y / largest, d.z / largest);
}

rbCso rbCso_Make(const rbConvex* a, const rbConvex* b, rbTransform transformBtoA)
{
    RB_ASSERT(rbIsFinite3(transformBtoA.p) && rbIsFiniteQuat(transformBtoA.q));
    rbCso cso = {
        .a = a, .b = b, .rotation = rbMatFromQuat(transformBtoA.q), .translation = transformBtoA.p};
    cso.scale = a->size + b->size + rbLength(transformBtoA.p);
    cso.isExtents = a->isExtents && b->isExtents;
    return cso;
}

rbCsoPoint rbCso_Support(const rbCso* cso, rbVec3 direction, int hints[2])
{
    rbCsoPoint point;
    rbFindSupport(cso, direction, hints, &point);
    return point;
}

static const char* const stopTexts[RB_STOP_COUNT] = {
#define RB_STOP_TEXT(name, text) [RB_STOP_##name] = (text),
    RB_STOP_MAP(RB_STOP_TEXT)
#undef RB_STOP_TEXT
};

const char* rbStopReason_Text(rbStopReason reason)
{
    return (unsigned)reason < RB_STOP_COUNT ? stopTexts[reason] : "unknown";
}
