// Rays, moving shapes and overlaps in a world.
//
// Every query walks the tree of shapes, tests those whose boxes it hits, each in its own frame, and
// keeps the nearest; ties go to the body and shape created first, so that the result does not
// depend on the order of the walk.
#include "collision/geometry/shape_ops.h"
#include "world/world_query_tree.h"

#include <rattleback/collision.h>

#include <float.h>
#include <math.h>

// Relative to the coordinates: a ray that starts closer to a surface starts on it.
#define ON_SURFACE 1e-12
// Margin of boxes relative to the sizes of two bodies where gaps of 1e-9 count as contact.
#define CONTACT_SLACK 1e-8

rbQueryFilter rbDefaultQueryFilter(void)
{
    return (rbQueryFilter){.groups = UINT32_MAX, .mask = UINT32_MAX};
}

rbQueryCounts rbWorld_GetQueryCounts(const rbWorld* world)
{
    return world->queryTree != NULL ? world->queryTree->counts : (rbQueryCounts){0};
}

// What all queries have in common.
typedef struct Query {
    const rbWorld* world;
    rbQueryTree* tree;
    rbQueryFilter filter;
    rbStatus status;
    rbError* error;
} Query;

static rbStatus startQuery(rbWorld* world, const rbQueryFilter* filter, rbError* error,
                           Query* query)
{
    *query = (Query){.world = world,
                     .filter = filter != NULL ? *filter : rbDefaultQueryFilter(),
                     .status = RB_STATUS_OK,
                     .error = error};
    return rbWorld_UpdateQueryTree(world, &query->tree, error);
}

static bool isWanted(const Query* query, const rbQueryItem* item)
{
    const rbShapeDef* shape = &query->world->bodies.data[item->body].shapes.data[item->shape].def;
    const rbQueryFilter* filter = &query->filter;
    bool isIgnored = filter->ignored.index1 == (uint32_t)item->body + 1u &&
                     filter->ignored.generation == item->generation;
    return !isIgnored && (filter->groups & shape->mask) != 0 && (shape->groups & filter->mask) != 0;
}

// Whether hit a is reported before hit b; ties by body and shape.
static bool isNearer(const rbQueryHit* a, const rbQueryHit* b)
{
    if (a->distance != b->distance) {
        return a->distance < b->distance;
    }
    return a->bodyId.index1 != b->bodyId.index1 ? a->bodyId.index1 < b->bodyId.index1
                                                : a->shapeIndex < b->shapeIndex;
}

static rbBodyId getBodyId(const rbQueryItem* item)
{
    return (rbBodyId){(uint32_t)item->body + 1u, item->generation};
}

// ------------------------------------------------------------------------------------------ rays

typedef struct RayQuery {
    Query query;
    rbRay ray;            // of unit direction
    rbQueryHit best;      // null body: none yet
    rbQueryHitList* list; // of all hits; NULL: only the nearest is wanted
    bool isAnyHitEnough;
} RayQuery;

static rbStatus validateRay(const rbRay* ray, rbError* error)
{
    rbVec3 o = ray->origin;
    rbVec3 d = ray->direction;
    double largest = rbLargestComponent(d);
    if (!rbIsFinite3(o) || rbLargestComponent(o) > RB_LENGTH_MAX) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the ray starts at (%g, %g, %g) m; coordinates must be finite and at most %g", o.x, o.y,
            o.z, RB_LENGTH_MAX);
    }
    if (!rbIsFinite3(d) || largest == 0.0) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the direction of the ray is (%g, %g, %g); it must be finite and not zero", d.x, d.y,
            d.z);
    }
    if (!(ray->tMax >= 0.0)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the ray ends at t = %g; it must be at least 0, or infinite", ray->tMax);
    }
    return RB_STATUS_OK;
}

// Where a ray hits a shape, in its frame; a start inside counts as a hit, one on the surface only
// if the ray enters the shape. isNear: it may start inside.
static bool meetShape(const rbGeometry* geometry, const rbRay* ray, bool isNear, rbRayHit* hit,
                      bool* isInside)
{
    *isInside = false;
    rbRay line = *ray;
    double near = ON_SURFACE * (rbLargestComponent(ray->origin) +
                                (geometry->isBounded ? geometry->radius : 0.0));
    if (isNear && rbGeometry_Contains(geometry, ray->origin)) {
        line.tMax = (double)INFINITY;
        bool isLeft = rbGeometry_CastRay(geometry, &line, hit);
        if (!isLeft || hit->t > near) {
            *isInside = true;
            *hit = (rbRayHit){.point = ray->origin, .normal = rbNeg(ray->direction)};
            return true;
        }
        if (rbDot(hit->normal, ray->direction) < 0.0) {
            return true; // on the surface, entering the body
        }
        line.origin = rbAddScaled(ray->origin, near, ray->direction);
        line.tMax = ray->tMax - near;
        if (!(line.tMax >= 0.0) || !rbGeometry_CastRay(geometry, &line, hit)) {
            return false;
        }
        hit->t += near;
        return rbDot(hit->normal, ray->direction) < 0.0;
    }
    return rbGeometry_CastRay(geometry, &line, hit);
}

static bool isInBox(const rbBounds* box, rbVec3 point)
{
    return point.x >= box->lower.x && point.y >= box->lower.y && point.z >= box->lower.z &&
           point.x <= box->upper.x && point.y <= box->upper.y && point.z <= box->upper.z;
}

// Puts a hit into the list, which stays sorted.
static void insertHit(rbQueryHitList* list, const rbQueryHit* hit)
{
    list->count += 1;
    int stored = list->count - 1 < list->capacity ? list->count - 1 : list->capacity;
    int at = stored;
    if (stored == list->capacity) {
        if (stored == 0 || !isNearer(hit, &list->hits[stored - 1])) {
            return;
        }
        at = stored - 1;
    }
    for (; at > 0 && isNearer(hit, &list->hits[at - 1]); --at) {
        list->hits[at] = list->hits[at - 1];
    }
    list->hits[at] = *hit;
}

static bool visitRay(void* context, rbQueryWalk* walk, const rbQueryItem* item)
{
    RayQuery* query = context;
    if (!isWanted(&query->query, item)) {
        return true;
    }
    query->query.tree->counts.shapeTests += 1;
    rbRay local = {rbInvTransformPoint(item->pose, query->ray.origin),
                   rbInvRotate(item->pose.q, query->ray.direction), query->ray.tMax};
    rbRayHit found;
    bool isInside;
    bool isNear = !item->geometry->isBounded || isInBox(&item->bounds, query->ray.origin);
    if (query->isAnyHitEnough && !isNear) {
        query->best.bodyId =
            rbGeometry_IsHit(item->geometry, &local) ? getBodyId(item) : query->best.bodyId;
        return RB_IS_NULL(query->best.bodyId);
    }
    if (!meetShape(item->geometry, &local, isNear, &found, &isInside)) {
        return true;
    }
    rbQueryHit hit = {
        .bodyId = getBodyId(item),
        .shapeIndex = item->shape,
        .feature = found.feature,
        .distance = found.t,
        .point = rbAddScaled(query->ray.origin, found.t, query->ray.direction),
        .normal = rbRotate(item->pose.q, found.normal),
        .isInside = isInside,
        .isExact = true,
    };
    if (query->list != NULL) {
        insertHit(query->list, &hit);
        return true;
    }
    if (RB_IS_NULL(query->best.bodyId) || isNearer(&hit, &query->best)) {
        query->best = hit;
        walk->limit = hit.distance;
    }
    return !query->isAnyHitEnough;
}

// Casts a ray, in meters; the fractions of hits are parameters of the ray as given.
static rbStatus castRay(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                        RayQuery* query, rbError* error)
{
    rbStatus status = validateRay(ray, error);
    if (status == RB_STATUS_OK) {
        status = startQuery(world, filter, error, &query->query);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    double largest = rbLargestComponent(ray->direction);
    rbVec3 scaled = {ray->direction.x / largest, ray->direction.y / largest,
                     ray->direction.z / largest};
    double length = rbLength(scaled) * largest;
    query->ray =
        (rbRay){ray->origin, rbNormalize(scaled), ray->tMax > 0.0 ? ray->tMax * length : 0.0};
    rbQueryWalk walk =
        rbMakeQueryWalk(ray->origin, RB_VEC3_ZERO, query->ray.direction, query->ray.tMax);
    rbQueryTree_Walk(query->query.tree, &walk, visitRay, query);
    query->best.fraction = query->best.distance / length;
    for (int i = 0; query->list != NULL && i < query->list->count && i < query->list->capacity;
         ++i) {
        query->list->hits[i].fraction = query->list->hits[i].distance / length;
    }
    return RB_STATUS_OK;
}

rbStatus rbWorld_CastRay(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                         rbQueryHit* hit, rbError* error)
{
    RB_USE_ALLOCATOR(world->def.allocator);
    RB_ASSERT(world != NULL && ray != NULL && hit != NULL);
    RayQuery query = {.list = NULL};
    rbStatus status = castRay(world, ray, filter, &query, error);
    *hit = status == RB_STATUS_OK ? query.best : (rbQueryHit){0};
    return status;
}

rbStatus rbWorld_TestRay(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter, bool* isHit,
                         rbError* error)
{
    RB_USE_ALLOCATOR(world->def.allocator);
    RB_ASSERT(world != NULL && ray != NULL && isHit != NULL);
    RayQuery query = {.isAnyHitEnough = true};
    rbStatus status = castRay(world, ray, filter, &query, error);
    *isHit = status == RB_STATUS_OK && !RB_IS_NULL(query.best.bodyId);
    return status;
}

rbStatus rbWorld_CastRayAll(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                            rbQueryHitList* list, rbError* error)
{
    RB_USE_ALLOCATOR(world->def.allocator);
    RB_ASSERT(world != NULL && ray != NULL && list != NULL);
    RB_ASSERT(list->capacity == 0 || list->hits != NULL);
    list->count = 0;
    RayQuery query = {.list = list};
    return castRay(world, ray, filter, &query, error);
}

// ---------------------------------------------------------------------------------------- shapes

static rbStatus validatePlace(const rbGeometry* geometry, rbTransform transform, rbError* error)
{
    double length = sqrt(rbDotQuat(transform.q, transform.q));
    if (!rbIsFinite3(transform.p) || rbLargestComponent(transform.p) > RB_LENGTH_MAX) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the shape of the query is at (%g, %g, %g) m; coordinates must be "
                           "finite and at most %g",
                           transform.p.x, transform.p.y, transform.p.z, RB_LENGTH_MAX);
    }
    if (!(fabs(length - 1.0) <= 1e-6)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the quaternion of the query has length %g; it must have length 1",
                           length);
    }
    if (!geometry->isBounded) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "the shape of the query is or contains a plane; it must be bounded");
    }
    return RB_STATUS_OK;
}

static rbQueryWalk makeShapeWalk(const rbGeometry* geometry, rbTransform transform, rbVec3 step)
{
    rbBounds box = rbGeometry_GetBounds(geometry, transform);
    return rbMakeQueryWalk(rbScale(0.5, rbAdd(box.lower, box.upper)),
                           rbScale(0.5, rbSub(box.upper, box.lower)), step, 1.0);
}

typedef struct CastQuery {
    Query query;
    const rbShapeCast* cast;
    rbTransform transform; // of unit quaternion
    double length;         // m, of the translation
    rbQueryHit best;
} CastQuery;

static bool visitCast(void* context, rbQueryWalk* walk, const rbQueryItem* item)
{
    CastQuery* query = context;
    if (!isWanted(&query->query, item)) {
        return true;
    }
    query->query.tree->counts.shapeTests += 1;
    const rbShapeCast* cast = query->cast;
    rbShapeSweep sweep;
    rbStatus status =
        rbSweepShapes(cast->geometry, rbInvMulTransforms(item->pose, query->transform),
                      rbInvRotate(item->pose.q, cast->translation), item->geometry, cast->tolerance,
                      query->query.tree->scratch, &sweep, query->query.error);
    if (status != RB_STATUS_OK) {
        query->query.status = status;
        return false;
    }
    if (!sweep.isHit) {
        return true;
    }
    rbQueryHit hit = {
        .bodyId = getBodyId(item),
        .shapeIndex = item->shape,
        .fraction = sweep.fraction,
        .distance = sweep.fraction * query->length,
        .point = rbTransformPoint(item->pose, sweep.point),
        .normal = rbRotate(item->pose.q, sweep.normal),
        .isInside = sweep.isInside,
        .isExact = sweep.isExact,
    };
    if (RB_IS_NULL(query->best.bodyId) || isNearer(&hit, &query->best)) {
        query->best = hit;
        walk->limit = sweep.fraction;
    }
    return true;
}

rbStatus rbWorld_CastShape(rbWorld* world, const rbShapeCast* cast, const rbQueryFilter* filter,
                           rbQueryHit* hit, rbError* error)
{
    RB_USE_ALLOCATOR(world->def.allocator);
    RB_ASSERT(world != NULL && cast != NULL && cast->geometry != NULL && hit != NULL);
    *hit = (rbQueryHit){0};
    rbVec3 step = cast->translation;
    rbStatus status = validatePlace(cast->geometry, cast->transform, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (!rbIsFinite3(step) || rbLargestComponent(step) > RB_LENGTH_MAX) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the translation of the query is (%g, %g, %g) m; its components must be "
                           "finite and at most %g",
                           step.x, step.y, step.z, RB_LENGTH_MAX);
    }
    if (!(cast->tolerance >= 0.0) || isinf(cast->tolerance)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the tolerance of the query is %g m; it must be finite and at least 0",
                           cast->tolerance);
    }
    CastQuery query = {.cast = cast,
                       .transform = {cast->transform.p, rbNormalizeQuat(cast->transform.q)},
                       .length = rbLength(step)};
    status = startQuery(world, filter, error, &query.query);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbQueryWalk walk = makeShapeWalk(cast->geometry, query.transform, step);
    rbQueryTree_Walk(query.query.tree, &walk, visitCast, &query);
    if (query.query.status == RB_STATUS_OK) {
        *hit = query.best;
    }
    return query.query.status;
}

// -------------------------------------------------------------------------------------- overlaps

typedef struct OverlapQuery {
    Query query;
    const rbGeometry* geometry; // NULL: only the boxes of bodies are tested
    rbTransform transform;
    rbBounds bounds;
} OverlapQuery;

// Is the box outside the half-space of a plane?
static bool isBoxAbovePlane(const rbQueryItem* item, const rbBounds* box)
{
    if (item->geometry->type != RB_SHAPE_PLANE) {
        return false;
    }
    rbVec3 normal = rbRotate(item->pose.q, item->geometry->data.plane.normal);
    double offset = item->geometry->data.plane.offset + rbDot(normal, item->pose.p);
    rbVec3 lowest = {normal.x > 0.0 ? box->lower.x : box->upper.x,
                     normal.y > 0.0 ? box->lower.y : box->upper.y,
                     normal.z > 0.0 ? box->lower.z : box->upper.z};
    return rbDot(normal, lowest) > offset;
}

// Do the boxes overlap, without the slack of the tree?
static bool doBoundsMeet(const rbQueryItem* item, const rbBounds* box)
{
    if (!item->geometry->isBounded) {
        return !isBoxAbovePlane(item, box);
    }
    rbBounds own = rbGeometry_GetBounds(item->geometry, item->pose);
    return own.lower.x <= box->upper.x && own.upper.x >= box->lower.x &&
           own.lower.y <= box->upper.y && own.upper.y >= box->lower.y &&
           own.lower.z <= box->upper.z && own.upper.z >= box->lower.z;
}

static bool visitOverlap(void* context, rbQueryWalk* walk, const rbQueryItem* item)
{
    (void)walk;
    OverlapQuery* query = context;
    rbQueryTree* tree = query->query.tree;
    if (!isWanted(&query->query, item)) {
        return true;
    }
    tree->counts.shapeTests += 1;
    bool overlaps;
    if (query->geometry == NULL) {
        overlaps = doBoundsMeet(item, &query->bounds);
    } else {
        rbSeparationInput input = rbDefaultSeparationInput();
        input.geometryA = item->geometry;
        input.geometryB = query->geometry;
        input.transformBtoA = rbInvMulTransforms(item->pose, query->transform);
        rbStatus status = rbTestOverlap(&input, 0.0, NULL, &overlaps, query->query.error);
        if (status != RB_STATUS_OK) {
            query->query.status = status;
            return false;
        }
    }
    if (overlaps) {
        rbArray_Push(tree->found, item->body);
    }
    return true;
}

// Sorts in ascending order, without allocation (Shell sort).
static void sortNumbers(int* numbers, int count)
{
    for (int gap = count / 2; gap > 0; gap /= 2) {
        for (int i = gap; i < count; ++i) {
            int number = numbers[i];
            int at = i;
            for (; at >= gap && numbers[at - gap] > number; at -= gap) {
                numbers[at] = numbers[at - gap];
            }
            numbers[at] = number;
        }
    }
}

// Walks the tree and lists the bodies found, each once.
static rbStatus findOverlaps(OverlapQuery* query, rbQueryWalk* walk, rbQueryBodyList* list)
{
    rbQueryTree* tree = query->query.tree;
    tree->found.count = 0;
    rbQueryTree_Walk(tree, walk, visitOverlap, query);
    if (query->query.status != RB_STATUS_OK) {
        return query->query.status;
    }
    sortNumbers(tree->found.data, tree->found.count);
    for (int i = 0; i < tree->found.count; ++i) {
        int body = tree->found.data[i];
        if (i > 0 && tree->found.data[i - 1] == body) {
            continue;
        }
        if (list->count < list->capacity) {
            list->bodyIds[list->count] = rbWorld_BodyIdOf(query->query.world, body);
        }
        list->count += 1;
    }
    return RB_STATUS_OK;
}

rbStatus rbWorld_OverlapShape(rbWorld* world, const rbGeometry* geometry, rbTransform transform,
                              const rbQueryFilter* filter, rbQueryBodyList* list, rbError* error)
{
    RB_USE_ALLOCATOR(world->def.allocator);
    RB_ASSERT(world != NULL && geometry != NULL && list != NULL);
    RB_ASSERT(list->capacity == 0 || list->bodyIds != NULL);
    list->count = 0;
    OverlapQuery query = {.geometry = geometry};
    rbStatus status = validatePlace(geometry, transform, error);
    if (status == RB_STATUS_OK) {
        status = startQuery(world, filter, error, &query.query);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    query.transform = (rbTransform){transform.p, rbNormalizeQuat(transform.q)};
    rbQueryWalk walk = makeShapeWalk(geometry, query.transform, RB_VEC3_ZERO);
    // margin for gaps that count as contact
    walk.slack += CONTACT_SLACK * (geometry->radius + query.query.tree->sizeMax);
    return findOverlaps(&query, &walk, list);
}

rbStatus rbWorld_OverlapBounds(rbWorld* world, rbBounds bounds, const rbQueryFilter* filter,
                               rbQueryBodyList* list, rbError* error)
{
    RB_USE_ALLOCATOR(world->def.allocator);
    RB_ASSERT(world != NULL && list != NULL);
    RB_ASSERT(list->capacity == 0 || list->bodyIds != NULL);
    list->count = 0;
    rbVec3 low = bounds.lower;
    rbVec3 high = bounds.upper;
    bool isOrdered = low.x <= high.x && low.y <= high.y && low.z <= high.z;
    if (!rbIsFinite3(low) || !rbIsFinite3(high) || !isOrdered) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the box of the query goes from (%g, %g, %g) to (%g, %g, %g) m; it must "
                           "be finite, with its lower corner below the upper",
                           low.x, low.y, low.z, high.x, high.y, high.z);
    }
    OverlapQuery query = {.bounds = bounds};
    rbStatus status = startQuery(world, filter, error, &query.query);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbQueryWalk walk = rbMakeQueryWalk(rbScale(0.5, rbAdd(low, high)),
                                       rbScale(0.5, rbSub(high, low)), RB_VEC3_ZERO, 1.0);
    return findOverlaps(&query, &walk, list);
}
