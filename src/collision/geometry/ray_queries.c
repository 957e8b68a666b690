// Ray queries: the first hit, any hit, many rays, negative parameters, entries only.
//
// A line that begins at a negative parameter is a ray from there, with its hits shifted back: the
// start is rounded, so a hit is accurate to a few units in the last place of the distance to the
// start.
#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"

#include <rattleback/shape.h>

#include <float.h>
#include <limits.h>
#include <math.h>

// Rays prepared together.
#define BATCH 64

// Rounding error of the distance of a start from a body, relative to the largest length.
#define START_ROUNDING (8.0 * DBL_EPSILON)

// The hit of a ray whose direction is a unit vector, without its point; t is a length.
static bool castUnitRay(const rbGeometry* geometry, const rbRay* ray, rbRayWish wish,
                        rbRayHit* hit);

// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static bool castAtChildren(const rbGeometry* geometry, const rbRay* ray, rbRayWish wish,
                           rbRayHit* hit)
{
    bool isHit = false;
    rbRay local = *ray;
    for (int i = 0; i < geometry->childCount && !(isHit && wish == RB_RAY_ANY); ++i) {
        const rbCompoundChild* child = &geometry->children[i];
        local.origin = rbInvTransformPoint(child->transform, ray->origin);
        local.direction = rbInvRotate(child->transform.q, ray->direction);
        rbUnitRay unit; // again: rotation leaves a rounding
        rbRayHit found = {0};
        if (!rbMakeUnitRay(&local, &unit) ||
            !castUnitRay(child->geometry, &unit.ray, wish, &found)) {
            continue;
        }
        found.t = found.t / unit.largest / unit.length;
        if (!isHit || found.t < hit->t) {
            isHit = true;
            *hit = found;
            hit->normal = rbRotate(child->transform.q, found.normal);
            hit->child = i;
        }
    }
    return isHit;
}

// NOLINTNEXTLINE(misc-no-recursion): as above.
static bool castUnitRay(const rbGeometry* geometry, const rbRay* ray, rbRayWish wish, rbRayHit* hit)
{
    if (geometry->type == RB_SHAPE_COMPOUND) {
        return castAtChildren(geometry, ray, wish, hit);
    }
    if (geometry->polyhedron != NULL) {
        return rbPolyhedron_CastRay(geometry, ray, wish, hit);
    }
    // the others are convex: a ray that leaves does not reenter
    return rbGetShapeOps(geometry->type)->castRay(geometry, ray, hit) &&
           (wish != RB_RAY_FRONT || rbDot(hit->normal, ray->direction) < 0.0);
}

bool rbGeometry_IsHit(const rbGeometry* geometry, const rbRay* ray)
{
    RB_ASSERT(geometry != NULL && ray != NULL);
    rbUnitRay unit;
    rbRayHit hit;
    return rbMakeUnitRay(ray, &unit) && castUnitRay(geometry, &unit.ray, RB_RAY_ANY, &hit);
}

// ------------------------------------------------------------------------------------- many rays

static const rbRayHit noHit = {.t = INFINITY};

// Casts up to BATCH rays at a shape with a tree.
static int castAtTree(const rbGeometry* geometry, const rbRay* rays, int count, rbRayHit* hits)
{
    const rbPolyhedron* p = geometry->polyhedron;
    rbUnitRay units[BATCH];
    rbRay ready[BATCH] = {{.tMax = 0.0}}; // otherwise gcc warns about uninitialized elements
    rbTreeHit found[BATCH];
    int places[BATCH];
    int readyCount = 0;
    for (int i = 0; i < count; ++i) {
        hits[i] = noHit;
        if (rbMakeUnitRay(&rays[i], &units[readyCount])) {
            ready[readyCount] = units[readyCount].ray;
            places[readyCount++] = i;
        }
    }
    rbBoxTree_CastRays(p->tree, rbPolyhedron_GetNormals(p), ready, readyCount, found);
    int hitCount = 0;
    for (int i = 0; i < readyCount; ++i) {
        if (found[i].triangle == INT_MAX) {
            continue;
        }
        const rbUnitRay* unit = &units[i];
        hits[places[i]] = (rbRayHit){
            .t = found[i].t / unit->largest / unit->length,
            .point = rbAddScaled(unit->ray.origin, found[i].t, unit->ray.direction),
            .normal = found[i].normal,
            .feature = found[i].face,
        };
        ++hitCount;
    }
    return hitCount;
}

int rbGeometry_CastRays(const rbGeometry* geometry, const rbRay* rays, int count, rbRayHit* hits)
{
    RB_ASSERT(geometry != NULL && count >= 0);
    RB_ASSERT(count == 0 || (rays != NULL && hits != NULL));
    int hitCount = 0;
    if (geometry->polyhedron != NULL && geometry->polyhedron->tree != NULL) {
        for (int i = 0; i < count; i += BATCH) {
            int size = count - i < BATCH ? count - i : BATCH;
            hitCount += castAtTree(geometry, rays + i, size, hits + i);
        }
        return hitCount;
    }
    for (int i = 0; i < count; ++i) {
        bool isHit = rbGeometry_CastRay(geometry, &rays[i], &hits[i]);
        hits[i] = isHit ? hits[i] : noHit;
        hitCount += isHit ? 1 : 0;
    }
    return hitCount;
}

// ----------------------------------------------------------------------------------------- lines

static bool castLine(const rbGeometry* geometry, const rbRay* ray, double tMin, rbRayWish wish,
                     rbRayHit* hit)
{
    RB_ASSERT(geometry != NULL && ray != NULL && hit != NULL);
    RB_ASSERT(!isnan(tMin) && !isnan(ray->tMax));
    *hit = (rbRayHit){0};
    rbUnitRay unit;
    if (!rbMakeUnitRay(ray, &unit)) {
        return false;
    }
    double start = tMin == 0.0 ? 0.0 : tMin * unit.largest * unit.length;
    if (geometry->isBounded && start < 0.0) {
        // the body begins later
        double reach = (rbLength(ray->origin) + geometry->radius) * (1.0 + START_ROUNDING);
        start = start < -reach ? -reach : start;
    }
    if (!isfinite(start)) {
        return false;
    }
    rbRay moved = unit.ray;
    if (start != 0.0) {
        moved.origin = rbAddScaled(unit.ray.origin, start, unit.ray.direction);
        moved.tMax -= start;
    }
    if (!(moved.tMax >= 0.0) || !castUnitRay(geometry, &moved, wish, hit)) {
        return false;
    }
    double t = hit->t + start;
    hit->point = rbAddScaled(moved.origin, hit->t, moved.direction);
    hit->t = t / unit.largest / unit.length;
    return true;
}

bool rbGeometry_CastRay(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit)
{
    return castLine(geometry, ray, 0.0, RB_RAY_FIRST, hit);
}

bool rbGeometry_CastLine(const rbGeometry* geometry, const rbRay* ray, double tMin, rbRayHit* hit)
{
    return castLine(geometry, ray, tMin, RB_RAY_FIRST, hit);
}

bool rbGeometry_CastFront(const rbGeometry* geometry, const rbRay* ray, double tMin, rbRayHit* hit)
{
    return castLine(geometry, ray, tMin, RB_RAY_FRONT, hit);
}
