// Convex solids that a program registers: all that the table of shapes needs, by their support
// function.
//
// Rays advance along supporting planes: where the nearest point of the solid is at a distance d in
// the direction n, the ray is outside of it until n . direction t = d. On smooth surfaces this is
// Newton's method and converges quadratically.
#include "collision/convex/gjk.h"
#include "collision/geometry/shape_ops.h"

#include <math.h>

#define RAY_STEPS_MAX 200
#define RAY_TOLERANCE 1e-12 // of the size of the solid and the distance of the ray

static const rbConvexShapeRow* getRow(const rbGeometry* geometry)
{
    return rbGetShapeOps(geometry->type)->convex;
}

static rbStatus massOfConvex(const rbGeometry* geometry, double density,
                             rbMassProperties* properties, rbError* error)
{
    *properties = getRow(geometry)->getMass(geometry->data.numbers, density);
    return rbMassProperties_Validate(properties, error);
}

static rbVec3 supportOfConvex(const rbGeometry* geometry, rbVec3 direction)
{
    return getRow(geometry)->support(geometry->data.numbers, direction);
}

static rbBounds boundsOfConvex(const rbGeometry* geometry, rbTransform transform)
{
    double lower[3], upper[3];
    const rbVec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int i = 0; i < 3; ++i) {
        rbVec3 local = rbInvRotate(transform.q, axes[i]);
        rbVec3 low = rbGeometry_GetSupport(geometry, rbNeg(local));
        rbVec3 high = rbGeometry_GetSupport(geometry, local);
        lower[i] = rbDot(axes[i], rbTransformPoint(transform, low));
        upper[i] = rbDot(axes[i], rbTransformPoint(transform, high));
    }
    return (rbBounds){{lower[0], lower[1], lower[2]}, {upper[0], upper[1], upper[2]}};
}

// That of its box: not less than the largest distance.
static double radiusOfConvex(const rbGeometry* geometry, rbVec3 point)
{
    rbBounds box = boundsOfConvex(geometry, RB_TRANSFORM_IDENTITY);
    return rbLength(rbMax3(rbAbs3(rbSub(box.upper, point)), rbAbs3(rbSub(point, box.lower))));
}

// From a point to the solid.
static rbGjkResult measurePoint(const rbConvex* solid, rbVec3 point)
{
    rbConvex body;
    rbConvex_MakePoints(&point, 1, rbLength(point), 0.0, &body);
    rbCso cso = rbCso_Make(&body, solid, RB_TRANSFORM_IDENTITY);
    return rbGjk_Distance(&cso, NULL, NULL);
}

static bool convexContains(const rbGeometry* geometry, rbVec3 point)
{
    rbConvex solid = rbConvex_Of(geometry, 0.0);
    rbGjkResult found = measurePoint(&solid, point);
    return found.overlaps || found.lower <= 0.0;
}

// Moves t from outside to where the ray enters the solid; false: it passes by, or not before tEnd.
static bool findEntry(const rbGeometry* geometry, const rbRay* ray, double tEnd, double* t,
                      rbVec3* normal)
{
    rbConvex solid = rbConvex_Of(geometry, 0.0);
    *normal = rbNeg(ray->direction);
    for (int i = 0; i < RAY_STEPS_MAX; ++i) {
        rbVec3 point = rbAddScaled(ray->origin, *t, ray->direction);
        rbGjkResult found = measurePoint(&solid, point);
        if (found.overlaps || found.upper <= RAY_TOLERANCE * (geometry->radius + rbLength(point))) {
            return true;
        }
        double speed = rbDot(found.normal, ray->direction);
        if (!(speed > 0.0) || *t > tEnd) {
            return false;
        }
        *normal = rbNeg(found.normal);
        *t += found.lower / speed;
    }
    return *t <= tEnd;
}

static bool castRayAtConvex(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit)
{
    hit->feature = 0;
    hit->t = 0.0;
    if (!convexContains(geometry, ray->origin)) {
        return findEntry(geometry, ray, ray->tMax, &hit->t, &hit->normal) && hit->t <= ray->tMax;
    }
    // From inside: where it leaves, which is where the ray from the other side enters.
    double far = 2.0 * (rbLength(ray->origin) + geometry->radius);
    rbRay back = {rbAddScaled(ray->origin, far, ray->direction), rbNeg(ray->direction), INFINITY};
    double t = 0.0;
    bool isFound = findEntry(geometry, &back, far, &t, &hit->normal);
    hit->t = far - t;
    return isFound && hit->t <= ray->tMax;
}

// A net of directions, and the support of each.
static void triangulateConvex(const rbGeometry* geometry, const rbTriangulation* settings,
                              rbTriangleSink* sink)
{
    int first = sink->vertices.count;
    rbTriangleSink_AddEllipsoid(sink, rbMakeVec3(1.0, 1.0, 1.0),
                                settings->deviation / geometry->radius);
    for (int i = first; i < sink->vertices.count; ++i) {
        sink->vertices.data[i] = rbGeometry_GetSupport(geometry, sink->vertices.data[i]);
    }
}

rbStatus rbRegisterConvexShape(const rbConvexShapeRow* row, rbError* error)
{
    static rbShapeOps rows[RB_REGISTERED_MAX];
    static int rowCount = 0;
    RB_ASSERT(row != NULL);
    int numberCount = 0;
    for (int i = 0; row->parameters != NULL && i < row->parameterCount; ++i) {
        numberCount += row->parameters[i].count;
    }
    RB_INVALID_IF(
        row->support == NULL || row->getMass == NULL || numberCount < 1 ||
            numberCount > RB_PARAMETERS_MAX,
        error, "the shape \"%s\" needs support, getMass and parameters of 1 to %d numbers, not %d",
        row->name != NULL ? row->name : "", RB_PARAMETERS_MAX, numberCount);
    RB_REFUSE_IF(rowCount == RB_REGISTERED_MAX, RB_STATUS_LIMIT, error,
                 "the shape \"%s\" does not fit: a table takes at most %d registered rows",
                 row->name != NULL ? row->name : "", RB_REGISTERED_MAX);
    rows[rowCount] = (rbShapeOps){.name = row->name,
                                  .meaning = row->meaning,
                                  .family = RB_FAMILY_SMOOTH,
                                  .isConvex = true,
                                  .isRound = row->isRound,
                                  .parameters = row->parameters,
                                  .parameterCount = row->parameterCount,
                                  .convex = row,
                                  .mass = massOfConvex,
                                  .support = supportOfConvex,
                                  .bounds = boundsOfConvex,
                                  .radius = radiusOfConvex,
                                  .contains = convexContains,
                                  .castRay = castRayAtConvex,
                                  .triangulate = triangulateConvex};
    rbStatus status = rbRegisterShapeOps(&rows[rowCount], error);
    rowCount += status == RB_STATUS_OK ? 1 : 0;
    return status;
}
