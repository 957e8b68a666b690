// Rays, moving shapes and overlaps in a world.
//
// Every query walks a tree of boxes over the shapes of the world, tests those whose boxes it hits,
// each in its own frame, and keeps the nearest; ties go to the body and shape created first, so
// that the result does not depend on the order of the walk.
//
// Every shape of a body is an item of the tree; the box of an unbounded one is as large as boxes
// can be. The tree lives as long as the world has the same shapes: motion only moves its boxes.
#include "base/math/quaternion.h"
#include "collision/broadphase/broad_phase.h"
#include "collision/geometry/shape_ops.h"
#include "world/world_state.h"

#include <rattleback/collision.h>
#include <rattleback/query.h>

#include <float.h>
#include <math.h>

// Relative to the coordinates: a ray that starts closer to a surface starts on it.
#define ON_SURFACE 1e-12
// Margin of boxes relative to the sizes of two bodies where gaps of 1e-9 count as contact.
#define CONTACT_SLACK 1e-8
// Margin of the box of an item relative to its size and position: queries run in the frames of
// shapes, and rounding must not lose a hit.
#define BOX_SLACK 1e-12

// A shape of a body in the world.
typedef struct Item {
    rbTransform pose;
    const rbGeometry* geometry; // borrowed from the world
    int body, shape;
    uint32_t generation; // of the body
} Item;

typedef struct rbQueryTree {
    RB_ARRAY(Item) items;      // by body and shape
    RB_ARRAY(rbBounds) bounds; // m, world, of items, a little larger than their shapes
    rbBroadPhase* boxes;       // the same
    rbIdList found, sorted;    // items, memory for results
    double sizeMax;            // m, largest extent of a bounded shape from its origin
    int64_t motions;           // motionCount of the world at the last update; -1: it failed
    rbQueryCounts counts;
    void* scratch; // of rbMeasureSeparation
} rbQueryTree;

rbQueryFilter rbDefaultQueryFilter(void)
{
    return (rbQueryFilter){.groups = UINT32_MAX, .mask = UINT32_MAX};
}

RB_DEFINE_GETTER(rbQueryCounts, rbWorld_GetQueryCounts, (const rbWorld* world),
                 world->queryTree != NULL ? world->queryTree->counts : (rbQueryCounts){0})

void rbDestroyQueryTree(rbQueryTree* tree)
{
    if (tree == NULL) {
        return;
    }
    rbArray_FreeAll(tree->items, tree->bounds);
    rbDestroyBroadPhase(tree->boxes);
    rbIdList_Free(&tree->found);
    rbIdList_Free(&tree->sorted);
    rbFree(tree->scratch, rbGetSeparationScratchSize());
    rbFree(tree, sizeof *tree);
}

// ---------------------------------------------------------------------------------------- update

static rbBounds findBounds(const Item* item)
{
    const rbVec3 most = {(double)FLT_MAX, (double)FLT_MAX, (double)FLT_MAX};
    rbBounds box = rbGeometry_GetBounds(item->geometry, item->pose);
    rbVec3 slack = rbScale(BOX_SLACK, rbMax3(rbAbs3(box.lower), rbAbs3(box.upper)));
    rbVec3 lower = rbSub(box.lower, slack), upper = rbAdd(box.upper, slack);
    return (rbBounds){rbMin3(rbMax3(lower, rbNeg(most)), most),
                      rbMax3(rbMin3(upper, most), rbNeg(most))};
}

// Updates the item of that number; true if it was of the same shape already.
static bool keepItem(rbQueryTree* tree, int number, const Item* item)
{
    if (number >= tree->items.count) {
        rbArray_Push(tree->items, *item);
        rbArray_Push(tree->bounds, findBounds(item));
        return false;
    }
    Item* old = &tree->items.data[number];
    bool isSame = old->body == item->body && old->shape == item->shape &&
                  old->generation == item->generation && old->geometry == item->geometry;
    if (!isSame || !rbIsSameTransform(old->pose, item->pose)) {
        *old = *item;
        tree->bounds.data[number] = findBounds(item);
        if (isSame) {
            (void)rbBroadPhase_Defer(tree->boxes, number, tree->bounds.data[number]);
        }
    }
    return isSame;
}

// The tree of a world, up to date. UNSUPPORTED if a body has grown.
static rbStatus updateTree(rbWorld* world, rbQueryTree** tree, rbError* error)
{
    if (world->queryTree == NULL) {
        world->queryTree = rbAllocZero(1, sizeof *world->queryTree);
        world->queryTree->scratch = rbAlloc(rbGetSeparationScratchSize());
        world->queryTree->boxes = rbCreateBroadPhase(RB_BROAD_TREE, 0.0);
        world->queryTree->motions = -1;
    }
    rbQueryTree* own = world->queryTree;
    *tree = own;
    own->counts.queries += 1;
    if (own->motions == world->motionCount) {
        return RB_STATUS_OK;
    }
    bool isSame = own->motions >= 0;
    own->motions = -1;
    own->counts.updates += 1;
    own->sizeMax = 0.0;
    int number = 0;
    for (int i = 0; i < world->bodies.count; ++i) {
        const rbBody* body = &world->bodies.data[i];
        bool hasGrown = body->growth != 0.0 && world->time != 0.0;
        RB_REFUSE_IF(hasGrown && world->def.engine == RB_ENGINE_EVENT, RB_STATUS_UNSUPPORTED, error,
                     "body \"%s\" has grown by %g m: queries need shapes of constant size; give it "
                     "no growth",
                     body->name, body->growth * world->time);
        rbTransform frame = rbWorld_PublicState(world, i, &world->states.data[i]).transform;
        RB_EACH_SOLID(shape, body) {
            Item item = {
                .pose = rbMulTransforms(frame, shape->transform),
                .geometry = rbWorld_GetGeometry(world, shape->geometry),
                .body = i,
                .shape = shapeIndex,
                .generation = world->bodyIds.generations.data[i],
            };
            if (item.geometry->isBounded) {
                own->sizeMax = rbMaxOf(own->sizeMax, item.geometry->radius);
            }
            isSame = keepItem(own, number++, &item) && isSame;
        }
    }
    isSame = isSame && number == own->items.count;
    own->items.count = number;
    own->bounds.count = number;
    if (isSame) {
        own->boxes->row->refit(own->boxes);
    } else {
        own->counts.builds += 1;
        rbDestroyBroadPhase(own->boxes);
        own->boxes = rbCreateBroadPhase(RB_BROAD_TREE, 0.0);
        rbBroadPhase_PlaceAll(own->boxes, own->bounds.data, number);
    }
    own->motions = world->motionCount;
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------------ walk

typedef struct Query Query;

// Tests an item; false ends the walk.
typedef bool VisitFn(Query* query, const Item* item);

// What all queries have in common: a box that moves along a step through the tree. A ray has no
// size, a box at rest no step.
struct Query {
    rbBoxWalk walk; // its limit is a fraction of the step
    const rbWorld* world;
    rbQueryTree* tree;
    rbQueryFilter filter;
    VisitFn* visit;
    rbStatus status;
    rbError* error;
    rbVec3 center;   // m
    rbVec3 halfSize; // m
    rbVec3 inverse;  // of the components of the step; infinite where there is no motion
    double slack;    // m, bound on rounding errors
    rbQueryHit best; // null body: none yet
};

static rbStatus startQuery(Query* query, rbWorld* world, const rbQueryFilter* filter,
                           VisitFn* visit, rbError* error)
{
    query->world = world;
    query->filter = filter != NULL ? *filter : rbDefaultQueryFilter();
    query->visit = visit;
    query->status = RB_STATUS_OK;
    query->error = error;
    return updateTree(world, &query->tree, error);
}

// The fraction of the step at which the box meets another, INFINITY if it does not.
static double enterBox(const rbBoxWalk* walk, const rbBounds* box)
{
    const Query* query = (const Query*)walk;
    query->tree->counts.boxTests += 1;
    rbVec3 wide = {query->halfSize.x + query->slack, query->halfSize.y + query->slack,
                   query->halfSize.z + query->slack};
    rbVec3 low = rbSub(rbSub(box->lower, wide), query->center);
    rbVec3 high = rbSub(rbAdd(box->upper, wide), query->center);
    double span[2] = {0.0, walk->limit};
    rbEnterSlab(low.x, high.x, query->inverse.x, span);
    rbEnterSlab(low.y, high.y, query->inverse.y, span);
    rbEnterSlab(low.z, high.z, query->inverse.z, span);
    // allow for a slab thinner than the rounding of its two ends
    return span[0] <= span[1] + 4.0 * DBL_EPSILON * span[0] ? span[0] : (double)INFINITY;
}

static bool visitItem(rbBoxWalk* walk, int id)
{
    Query* query = (Query*)walk;
    const Item* item = &query->tree->items.data[id];
    const rbShapeDef* shape = &query->world->bodies.data[item->body].shapes.data[item->shape].def;
    const rbQueryFilter* filter = &query->filter;
    bool isIgnored = filter->ignored.index1 == (uint32_t)item->body + 1u &&
                     filter->ignored.generation == item->generation;
    if (isIgnored || (filter->groups & shape->mask) == 0 || (shape->groups & filter->mask) == 0) {
        return true;
    }
    query->tree->counts.shapeTests += 1;
    return query->visit(query, item);
}

static void setWalk(Query* query, rbVec3 center, rbVec3 halfSize, rbVec3 step, double limit)
{
    double largest = rbLargestComponent(center) + halfSize.x + halfSize.y + halfSize.z;
    query->center = center;
    query->halfSize = halfSize;
    query->inverse = rbMakeVec3(1.0 / step.x, 1.0 / step.y, 1.0 / step.z);
    query->slack = 16.0 * DBL_EPSILON * largest;
    query->walk = (rbBoxWalk){enterBox, visitItem, limit};
}

static void setBoxWalk(Query* query, const rbBounds* box, rbVec3 step)
{
    setWalk(query, rbScale(0.5, rbAdd(box->lower, box->upper)),
            rbScale(0.5, rbSub(box->upper, box->lower)), step, 1.0);
}

// Whether hit a is reported before hit b; ties by body and shape.
static bool isNearer(const rbQueryHit* a, const rbQueryHit* b)
{
    return a->distance != b->distance             ? a->distance < b->distance
           : a->bodyId.index1 != b->bodyId.index1 ? a->bodyId.index1 < b->bodyId.index1
                                                  : a->shapeIndex < b->shapeIndex;
}

static rbBodyId getBodyId(const Item* item)
{
    return (rbBodyId){(uint32_t)item->body + 1u, item->generation};
}

// Keeps a hit if it is the nearest so far; limit: the fraction of the step at which it is.
static void takeNearest(Query* query, const rbQueryHit* hit, double limit)
{
    if (RB_IS_NULL(query->best.bodyId) || isNearer(hit, &query->best)) {
        query->best = *hit;
        query->walk.limit = limit;
    }
}

// ------------------------------------------------------------------------------------------ rays

typedef struct RayQuery {
    Query query;
    rbRay ray;            // of unit direction
    double length;        // m, that its parameter as given counts as 1
    rbQueryHitList* list; // of all hits; NULL: only the nearest is wanted
    bool isAnyHitEnough;
} RayQuery;

static rbStatus validateRay(const rbRay* ray, rbError* error)
{
    rbVec3 o = ray->origin, d = ray->direction;
    double largest = rbLargestComponent(d);
    RB_INVALID_IF(!rbIsFinite3(o) || rbLargestComponent(o) > RB_LENGTH_MAX, error,
                  "the ray starts at (%g, %g, %g) m; coordinates must be finite and at most %g",
                  o.x, o.y, o.z, RB_LENGTH_MAX);
    RB_INVALID_IF(!rbIsFinite3(d) || largest == 0.0, error,
                  "the direction of the ray is (%g, %g, %g); it must be finite and not zero", d.x,
                  d.y, d.z);
    RB_INVALID_IF(!(ray->tMax >= 0.0), error,
                  "the ray ends at t = %g; it must be at least 0, or infinite", ray->tMax);
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

static bool visitRay(Query* base, const Item* item)
{
    RayQuery* query = (RayQuery*)base;
    rbRay local = {rbInvTransformPoint(item->pose, query->ray.origin),
                   rbInvRotate(item->pose.q, query->ray.direction), query->ray.tMax};
    rbRayHit found;
    bool isInside;
    rbBounds start = {query->ray.origin, query->ray.origin};
    bool isNear = rbDoBoxesOverlap(&base->tree->bounds.data[item - base->tree->items.data], &start);
    if (query->isAnyHitEnough && !isNear) {
        base->best.bodyId =
            rbGeometry_IsHit(item->geometry, &local) ? getBodyId(item) : base->best.bodyId;
        return RB_IS_NULL(base->best.bodyId);
    }
    if (!meetShape(item->geometry, &local, isNear, &found, &isInside)) {
        return true;
    }
    rbQueryHit hit = {
        .bodyId = getBodyId(item),
        .shapeIndex = item->shape,
        .feature = found.feature,
        .fraction = found.t / query->length,
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
    takeNearest(base, &hit, hit.distance);
    return !query->isAnyHitEnough;
}

// Casts a ray, in meters; the fractions of hits are parameters of the ray as given.
static rbStatus castRay(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                        RayQuery* query, rbError* error)
{
    RB_TRY(validateRay(ray, error));
    RB_TRY(startQuery(&query->query, world, filter, visitRay, error));
    rbUnitRay unit;
    (void)rbMakeUnitRay(ray, &unit); // its direction is not zero
    query->length = unit.length * unit.largest;
    query->ray = unit.ray;
    query->ray.tMax = ray->tMax > 0.0 ? unit.ray.tMax : 0.0;
    setWalk(&query->query, ray->origin, RB_VEC3_ZERO, query->ray.direction, query->ray.tMax);
    rbBroadPhase_Walk(query->query.tree->boxes, &query->query.walk);
    return RB_STATUS_OK;
}

rbStatus rbWorld_CastRay(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                         rbQueryHit* hit, rbError* error)
{
    RB_ENTER(world);
    RB_ASSERT(world != NULL && ray != NULL && hit != NULL);
    RayQuery query = {.list = NULL};
    rbStatus status = castRay(world, ray, filter, &query, error);
    *hit = status == RB_STATUS_OK ? query.query.best : (rbQueryHit){0};
    return status;
}

rbStatus rbWorld_TestRay(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter, bool* isHit,
                         rbError* error)
{
    RB_ENTER(world);
    RB_ASSERT(world != NULL && ray != NULL && isHit != NULL);
    RayQuery query = {.isAnyHitEnough = true};
    rbStatus status = castRay(world, ray, filter, &query, error);
    *isHit = status == RB_STATUS_OK && !RB_IS_NULL(query.query.best.bodyId);
    return status;
}

rbStatus rbWorld_CastRayAll(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                            rbQueryHitList* list, rbError* error)
{
    RB_ENTER(world);
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
    RB_INVALID_IF(
        !rbIsFinite3(transform.p) || rbLargestComponent(transform.p) > RB_LENGTH_MAX, error,
        "the shape of the query is at (%g, %g, %g) m; coordinates must be finite and at most %g",
        transform.p.x, transform.p.y, transform.p.z, RB_LENGTH_MAX);
    RB_INVALID_IF(!(fabs(length - 1.0) <= 1e-6), error,
                  "the quaternion of the query has length %g; it must have length 1", length);
    RB_REFUSE_IF(!geometry->isBounded, RB_STATUS_UNSUPPORTED, error,
                 "the shape of the query is or contains a plane; it must be bounded");
    return RB_STATUS_OK;
}

typedef struct CastQuery {
    Query query;
    const rbShapeCast* cast;
    rbTransform transform; // of unit quaternion
    double length;         // m, of the translation
} CastQuery;

static bool visitCast(Query* base, const Item* item)
{
    const CastQuery* query = (CastQuery*)base;
    const rbShapeCast* cast = query->cast;
    rbShapeSweep sweep;
    rbStatus status =
        rbSweepShapes(cast->geometry, rbInvMulTransforms(item->pose, query->transform),
                      rbInvRotate(item->pose.q, cast->translation), item->geometry, cast->tolerance,
                      base->tree->scratch, &sweep, base->error);
    if (status != RB_STATUS_OK) {
        base->status = status;
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
    takeNearest(base, &hit, sweep.fraction);
    return true;
}

rbStatus rbWorld_CastShape(rbWorld* world, const rbShapeCast* cast, const rbQueryFilter* filter,
                           rbQueryHit* hit, rbError* error)
{
    RB_ENTER(world);
    RB_ASSERT(world != NULL && cast != NULL && cast->geometry != NULL && hit != NULL);
    *hit = (rbQueryHit){0};
    rbVec3 step = cast->translation;
    RB_TRY(validatePlace(cast->geometry, cast->transform, error));
    RB_INVALID_IF(!rbIsFinite3(step) || rbLargestComponent(step) > RB_LENGTH_MAX, error,
                  "the translation of the query is (%g, %g, %g) m; its components must be finite "
                  "and at most %g",
                  step.x, step.y, step.z, RB_LENGTH_MAX);
    RB_INVALID_IF(!(cast->tolerance >= 0.0) || isinf(cast->tolerance), error,
                  "the tolerance of the query is %g m; it must be finite and at least 0",
                  cast->tolerance);
    CastQuery query = {.cast = cast,
                       .transform = {cast->transform.p, rbNormalizeQuat(cast->transform.q)},
                       .length = rbLength(step)};
    RB_TRY(startQuery(&query.query, world, filter, visitCast, error));
    rbBounds box = rbGeometry_GetBounds(cast->geometry, query.transform);
    setBoxWalk(&query.query, &box, step);
    rbBroadPhase_Walk(query.query.tree->boxes, &query.query.walk);
    if (query.query.status == RB_STATUS_OK) {
        *hit = query.query.best;
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
static bool isBoxAbovePlane(const Item* item, const rbBounds* box)
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

static bool visitOverlap(Query* base, const Item* item)
{
    const OverlapQuery* query = (OverlapQuery*)base;
    bool overlaps;
    if (query->geometry == NULL && !item->geometry->isBounded) {
        overlaps = !isBoxAbovePlane(item, &query->bounds);
    } else if (query->geometry == NULL) { // without the slack of the tree
        rbBounds own = rbGeometry_GetBounds(item->geometry, item->pose);
        overlaps = rbDoBoxesOverlap(&own, &query->bounds);
    } else {
        rbSeparationInput input = rbDefaultSeparationInput();
        input.geometryA = item->geometry;
        input.geometryB = query->geometry;
        input.transformBtoA = rbInvMulTransforms(item->pose, query->transform);
        rbStatus status = rbTestOverlap(&input, 0.0, NULL, &overlaps, base->error);
        if (status != RB_STATUS_OK) {
            base->status = status;
            return false;
        }
    }
    if (overlaps) {
        rbIdList_Push(&base->tree->found, (int)(item - base->tree->items.data));
    }
    return true;
}

// Walks the tree and lists the bodies found, each once.
static rbStatus findOverlaps(Query* query, rbQueryBodyList* list)
{
    rbQueryTree* tree = query->tree;
    tree->found.count = 0;
    rbBroadPhase_Walk(tree->boxes, &query->walk);
    if (query->status != RB_STATUS_OK) {
        return query->status;
    }
    rbIdList_Sort(&tree->found, 0, &tree->sorted);
    for (int i = 0; i < tree->found.count; ++i) {
        int body = tree->items.data[tree->found.ids[i]].body;
        if (i > 0 && tree->items.data[tree->found.ids[i - 1]].body == body) {
            continue;
        }
        if (list->count < list->capacity) {
            list->bodyIds[list->count] = rbWorld_BodyIdOf(query->world, body);
        }
        list->count += 1;
    }
    return RB_STATUS_OK;
}

rbStatus rbWorld_OverlapShape(rbWorld* world, const rbGeometry* geometry, rbTransform transform,
                              const rbQueryFilter* filter, rbQueryBodyList* list, rbError* error)
{
    RB_ENTER(world);
    RB_ASSERT(world != NULL && geometry != NULL && list != NULL);
    RB_ASSERT(list->capacity == 0 || list->bodyIds != NULL);
    list->count = 0;
    OverlapQuery query = {.geometry = geometry};
    RB_TRY(validatePlace(geometry, transform, error));
    RB_TRY(startQuery(&query.query, world, filter, visitOverlap, error));
    query.transform = (rbTransform){transform.p, rbNormalizeQuat(transform.q)};
    rbBounds box = rbGeometry_GetBounds(geometry, query.transform);
    setBoxWalk(&query.query, &box, RB_VEC3_ZERO);
    // margin for gaps that count as contact
    query.query.slack += CONTACT_SLACK * (geometry->radius + query.query.tree->sizeMax);
    return findOverlaps(&query.query, list);
}

rbStatus rbWorld_OverlapBounds(rbWorld* world, rbBounds bounds, const rbQueryFilter* filter,
                               rbQueryBodyList* list, rbError* error)
{
    RB_ENTER(world);
    RB_ASSERT(world != NULL && list != NULL);
    RB_ASSERT(list->capacity == 0 || list->bodyIds != NULL);
    list->count = 0;
    rbVec3 low = bounds.lower, high = bounds.upper;
    bool isOrdered = low.x <= high.x && low.y <= high.y && low.z <= high.z;
    RB_INVALID_IF(!rbIsFinite3(low) || !rbIsFinite3(high) || !isOrdered, error,
                  "the box of the query goes from (%g, %g, %g) to (%g, %g, %g) m; it must be "
                  "finite, with its lower corner below the upper",
                  low.x, low.y, low.z, high.x, high.y, high.z);
    OverlapQuery query = {.bounds = bounds};
    RB_TRY(startQuery(&query.query, world, filter, visitOverlap, error));
    setBoxWalk(&query.query, &bounds, RB_VEC3_ZERO);
    return findOverlaps(&query.query, list);
}
