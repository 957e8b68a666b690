// Signed distance between a mesh and a convex shape, from searches for the nearest triangle.
//
// Depth. Let p be the displacement of the convex shape along a unit vector u. A search at p proves
// that the bodies are separate there; if their distance is g, they are separate at p - g as well,
// so that a few searches find where they touch. The first p comes from the triangles in the core:
// the highest point of each along u, within the ball about the core, less the lowest point of the
// core.
#include "collision/narrowphase/mesh_convex.h"

#include "collision/narrowphase/collide.h"

#include <float.h>
#include <math.h>

// Triangles in the core that are examined for the direction of the depth.
#define TOUCHING_MAX 64
// Searches for the displacement at which the bodies separate, and steps back from there.
#define PART_TRIES 4
#define BACK_STEPS 4
// Gaps below this fraction of the displacement do not justify another step.
#define BACK_TOLERANCE 1e-2
// Relative error of intermediate gaps: they are rounded down.
#define ROUGH_GAP 0.1
// A displacement at most this many times the lower bound is good enough.
#define NEAR_LEAST 1.02
// Relative error of the depth of a triangle.
#define EPA_TOLERANCE 1e-6
// Rounding of a pose moved by a depth, in units of the slack of a query.
#define MOVE_UNITS 8.0

// State of a depth search for a pair.
typedef struct Depth {
    const rbMeshConvex* pair;
    rbMeshQuery query; // at the pose of the input
    double radius;     // m, sum of all
    double slack;      // m, rounding error of a moved pose
    rbVec3 middle;     // m, center of the core
} Depth;

// A proven separating displacement.
typedef struct Displacement {
    rbVec3 direction;    // unit
    double length;       // m; INFINITY: none
    rbMeshNear touching; // nearest pair after this displacement
    bool hasTouching;
} Displacement;

static rbMeshQuery makeQuery(const rbMeshConvex* pair, rbConvex* core)
{
    bool isConvex = rbConvex_Make(pair->convex, pair->radiusConvex, core);
    RB_ASSERT(isConvex);
    (void)isConvex;
    rbMeshQuery query = rbMakeMeshQuery(pair->mesh, core, pair->transform);
    query.slack += 4.0 * DBL_EPSILON * (core->radius + pair->radiusMesh);
    return query;
}

// Is a core that does not intersect the surface inside the solid, given its nearest triangle?
static bool isInside(const rbMeshQuery* query, const rbMeshNear* nearest)
{
    return rbIsInMesh(query->mesh, nearest->b, nearest->a, nearest->triangle);
}

static rbMeshQuery moveQuery(const Depth* depth, rbVec3 direction, double length)
{
    RB_ASSERT(isfinite(length) && rbIsFinite3(direction));
    rbMeshQuery query = depth->query;
    query.translation = rbAddScaled(query.translation, length, direction);
    query.slack += 16.0 * DBL_EPSILON * length;
    query.relativeError = depth->radius > 0.0 ? 0.0 : ROUGH_GAP;
    query.budget = -1;
    query.hint = direction;
    return query;
}

// Are the bodies separate, or touching to rounding, after the displacement? Pairs beyond the radii
// are not searched.
static bool arePartedAt(const Depth* depth, rbVec3 direction, double length)
{
    rbMeshQuery query = moveQuery(depth, direction, length);
    query.limit = depth->radius - depth->slack;
    if (query.limit > 0.0) {
        query.enough = query.limit;
        if (rbSearchMesh(&query).nearest.triangle >= 0) {
            return false;
        }
    }
    return !rbIsPointInMesh(query.mesh, rbMeshQuery_GetPoint(&query));
}

// Largest product of a unit vector with points of the mesh.
static double findFront(const rbGeometry* mesh, rbVec3 u)
{
    const rbPolyhedron* p = mesh->polyhedron;
    rbVec3 middle = rbScale(0.5, rbAdd(p->upper, p->lower));
    rbVec3 half = rbScale(0.5, rbSub(p->upper, p->lower));
    return rbDot(u, middle) + rbDot(rbAbs3(u), half);
}

// The nearest points of the bodies after a displacement.
static void findTouching(const Depth* depth, Displacement* displacement)
{
    rbMeshQuery query = moveQuery(depth, displacement->direction, displacement->length);
    displacement->touching = rbSearchMesh(&query).nearest;
    displacement->hasTouching = displacement->touching.triangle >= 0;
    if (displacement->touching.meets) {
        displacement->touching.normal = displacement->direction; // to rounding
    }
}

// Translations after which a plane perpendicular to a direction separates the bodies; the shortest
// is used if it is shorter than the best known displacement, or if there is none.
static void tryPlanes(const Depth* depth, Displacement* best)
{
    rbMat3 r = depth->query.rotation;
    rbVec3 line = rbSub(depth->middle, depth->pair->mesh->polyhedron->tree->origin);
    double length = rbLength(line);
    const rbVec3 axes[7] = {{1.0, 0.0, 0.0},
                            {0.0, 1.0, 0.0},
                            {0.0, 0.0, 1.0},
                            r.cx,
                            r.cy,
                            r.cz,
                            length > 0.0 ? rbScale(1.0 / length, line) : r.cx};
    bool isBetter = false;
    for (int i = 0; i < 14; ++i) {
        rbVec3 u = i % 2 == 0 ? axes[i / 2] : rbNeg(axes[i / 2]);
        double low = rbMeshQuery_FindLow(&depth->query, u);
        double needed = findFront(depth->pair->mesh, u) - low + depth->radius + depth->slack;
        if (needed >= 0.0 && needed < best->length - depth->slack) {
            *best = (Displacement){.direction = u, .length = needed};
            isBetter = true;
        }
    }
    if (isBetter) {
        findTouching(depth, best);
    }
}

// The displacement needed along a direction, from an initial guess. Beyond the bounds of the mesh
// the bodies are separate in any case.
static Displacement findDisplacement(const Depth* depth, rbVec3 direction, double first)
{
    RB_ASSERT(fabs(rbLengthSquared(direction) - 1.0) < 1e-6);
    RB_ASSERT(first >= 0.0);
    double low = rbMeshQuery_FindLow(&depth->query, direction);
    double last = findFront(depth->pair->mesh, direction) - low + depth->radius + depth->slack;
    Displacement displacement = {direction, fmax(last, 0.0), {.triangle = -1}, false};
    double length = first + depth->slack;
    for (int i = 0; i < PART_TRIES && length < last; ++i) {
        rbMeshQuery query = moveQuery(depth, direction, length);
        rbMeshAnswer answer = rbSearchMesh(&query);
        const rbMeshNear* near = &answer.nearest;
        double gap = answer.lower - depth->radius;
        bool isApart = !near->meets && gap >= -depth->slack && !isInside(&query, near);
        if (!isApart) {
            length *= 2.0;
            continue;
        }
        for (int k = 0; k < BACK_STEPS && gap > BACK_TOLERANCE * length && gap < length; ++k) {
            query = moveQuery(depth, direction, length - gap);
            query.guess = near->triangle;
            rbMeshAnswer back = rbSearchMesh(&query);
            if (back.nearest.meets || back.lower - depth->radius < -depth->slack) {
                break;
            }
            length -= gap;
            answer = back;
            gap = answer.lower - depth->radius;
        }
        displacement.length = length;
        displacement.touching = answer.nearest;
        displacement.hasTouching = true;
        return displacement;
    }
    findTouching(depth, &displacement);
    return displacement;
}

// ------------------------------------------------------------------------- core in the surface

static rbVec3 areaOf(const rbVec3 corners[3])
{
    return rbCross(rbSub(corners[1], corners[0]), rbSub(corners[2], corners[0]));
}

// Upper bound of the product of a unit vector with points of a triangle in the bounding sphere of
// the core.
static double findHeight(const Depth* depth, const rbVec3 corners[3], rbVec3 u)
{
    double highest = fmax(rbDot(u, corners[0]), fmax(rbDot(u, corners[1]), rbDot(u, corners[2])));
    rbVec3 area = areaOf(corners);
    double twice = rbLength(area);
    if (!(twice > 0.0)) {
        return highest;
    }
    // the plane of the triangle cuts a disc out of the sphere
    rbVec3 n = rbScale(1.0 / twice, area);
    double above = rbDot(n, rbSub(depth->middle, corners[0]));
    double reach = depth->query.reach;
    double disc = sqrt(fmax(reach * reach - above * above, 0.0));
    double cosine = rbDot(u, n);
    double sine = sqrt(fmax(1.0 - cosine * cosine, 0.0));
    double inDisc = rbDot(u, rbAddScaled(depth->middle, -above, n)) + disc * sine;
    return fmin(highest, inDisc);
}

static Displacement findTouchingDisplacement(const Depth* depth, const rbMeshNear* touching,
                                             int count, rbVec3 u)
{
    double highest = -INFINITY;
    for (int i = 0; i < count; ++i) {
        rbVec3 corners[3];
        rbGetMeshTriangle(depth->pair->mesh, touching[i].triangle, corners);
        highest = fmax(highest, findHeight(depth, corners, u));
    }
    double low = rbMeshQuery_FindLow(&depth->query, u);
    return findDisplacement(depth, u, fmax(highest - low, 0.0) + depth->radius);
}

// Mean normal of the triangles in the core, oriented toward the center of the core for surfaces
// without an inside. The zero vector if they have none.
static rbVec3 findMeanNormal(const Depth* depth, const rbMeshNear* touching, int count)
{
    double reach = depth->query.reach;
    rbVec3 sum = RB_VEC3_ZERO;
    double weight = 0.0;
    for (int i = 0; i < count; ++i) {
        rbVec3 corners[3];
        rbGetMeshTriangle(depth->pair->mesh, touching[i].triangle, corners);
        rbVec3 area = areaOf(corners);
        double twice = rbLength(area);
        double share = reach > 0.0 ? fmin(1.0, reach * reach / fmax(twice, DBL_MIN)) : 1.0;
        bool isBelow = rbDot(area, rbSub(depth->middle, corners[0])) < 0.0;
        share = isBelow && !depth->pair->mesh->isSolid ? -share : share;
        sum = rbAddScaled(sum, share, area);
        weight += fabs(share) * twice;
    }
    double length = rbLength(sum);
    return length > 1e-3 * weight ? rbScale(1.0 / length, sum) : RB_VEC3_ZERO;
}

// Depth of the triangle nearest to the center of the core: no shorter translation separates them.
static rbEpaResult findCoreDepth(const Depth* depth, const rbMeshNear* touching, int count)
{
    RB_ASSERT(count > 0 && depth->pair->scratch != NULL);
    int central = 0;
    double least = INFINITY;
    rbVec3 corners[3];
    for (int i = 0; i < count; ++i) {
        rbGetMeshTriangle(depth->pair->mesh, touching[i].triangle, corners);
        double square = rbClosestOfPointTriangle(depth->middle, corners).squared;
        central = square < least ? i : central;
        least = fmin(least, square);
    }
    rbGetMeshTriangle(depth->pair->mesh, touching[central].triangle, corners);
    rbConvex triangle;
    rbConvex_MakePoints(corners, 3, depth->pair->mesh->radius, 0.0, &triangle);
    rbCso cso = rbCso_Make(&triangle, depth->query.core, depth->pair->transform);
    rbGjkResult gjk = rbGjk_Distance(&cso, NULL, NULL);
    rbEpaSettings settings = rbDefaultEpaSettings();
    settings.relativeTolerance = EPA_TOLERANCE;
    return rbEpa_Depth(&cso, gjk.simplex, gjk.simplexCount, &settings, depth->pair->scratch);
}

// Distance, normal and points of bodies separated by a displacement; near holds the result without
// it.
static void setDisplacement(const Depth* depth, const Displacement* displacement,
                            const rbMeshNear* near, rbSeparation* s)
{
    RB_ASSERT(isfinite(displacement->length) && displacement->length >= 0.0);
    near = displacement->hasTouching ? &displacement->touching : near;
    double back = displacement->hasTouching ? -displacement->length : 0.0;
    rbVec3 n = displacement->hasTouching ? near->normal : displacement->direction;
    rbVec3 b = rbAddScaled(near->b, -depth->query.core->radius, n);
    s->normal = displacement->direction;
    s->distance = -displacement->length;
    s->lower = -displacement->length - depth->slack;
    s->pointA = rbAddScaled(near->a, depth->pair->radiusMesh, n);
    s->pointB = rbAddScaled(b, back, displacement->direction);
    s->faceA = rbGetMeshFace(depth->pair->mesh, near->triangle);
    s->reason = RB_STOP_ESTIMATE;
}

static void partTouching(const Depth* depth, const rbMeshNear* meeting, rbSeparation* s)
{
    rbMeshNear touching[TOUCHING_MAX];
    rbMeshQuery query = depth->query;
    query.limit = 2.0 * depth->query.slack;
    query.budget = -1;
    rbMeshList list = {.items = touching, .capacity = TOUCHING_MAX};
    rbCollectMesh(&query, &list);
    int count = list.count < TOUCHING_MAX ? list.count : TOUCHING_MAX;
    if (count == 0) { // rounding
        touching[0] = *meeting;
        count = 1;
    }
    rbVec3 mean = findMeanNormal(depth, touching, count);
    bool isPoint = depth->query.core->size == 0.0;
    rbEpaResult epa = {.lower = 0.0, .normal = rbNeg(mean)};
    if (!isPoint) {
        epa = findCoreDepth(depth, touching, count);
    }
    double least = fmax(epa.lower, 0.0) + depth->radius;
    Displacement best = {.length = INFINITY};
    if (rbLengthSquared(mean) > 0.0) {
        best = findTouchingDisplacement(depth, touching, count, mean);
    }
    bool isOneSided = isPoint && depth->pair->mesh->isSolid && best.length < INFINITY;
    if (best.length > NEAR_LEAST * least && !isOneSided && rbLengthSquared(epa.normal) > 0.5) {
        Displacement displacement = findTouchingDisplacement(depth, touching, count, epa.normal);
        best = displacement.length < best.length - depth->slack ? displacement : best;
    }
    if (!isOneSided || best.length > NEAR_LEAST * least) {
        tryPlanes(depth, &best);
    }
    setDisplacement(depth, &best, meeting, s);
    s->upper = -least + depth->slack + meeting->upper;
    s->lower = fmin(s->lower, s->upper);
    s->distance = fmin(s->distance, s->upper);
}

// ------------------------------------------------------------------------------------ the answer

static rbStopReason reasonOf(const rbMeshQuery* query, const rbMeshAnswer* answer)
{
    if (answer->stop == RB_MESH_BUDGET) {
        return RB_STOP_BUDGET;
    }
    return query->relativeError > 0.0 ? RB_STOP_CONVERGED : RB_STOP_SURFACES;
}

// A core that does not touch the surface: the distance of the bodies follows from that of the core.
static void setFromCore(const Depth* depth, const rbMeshAnswer* answer, rbSeparation* s)
{
    const rbMeshConvex* pair = depth->pair;
    const rbMeshQuery* query = &depth->query;
    const rbMeshNear* near = &answer->nearest;
    s->reason = reasonOf(query, answer);
    bool isExact = s->reason == RB_STOP_SURFACES;
    bool isDeep =
        isExact ? isInside(query, near) : rbIsPointInMesh(pair->mesh, rbMeshQuery_GetPoint(query));
    rbVec3 u = isDeep ? rbNeg(near->normal) : near->normal;
    double upper = (isDeep ? -answer->lower : answer->upper) - depth->radius + query->slack;
    if (isDeep && query->core->size > 0.0) {
        // all of it must pass through the surface
        double first = rbDot(u, near->a) - rbMeshQuery_FindLow(query, u) + depth->radius;
        Displacement displacement = findDisplacement(depth, u, first);
        tryPlanes(depth, &displacement);
        setDisplacement(depth, &displacement, near, s);
        s->upper = upper;
        return;
    }
    s->normal = u;
    s->distance = (isDeep ? -near->distance : near->distance) - depth->radius;
    s->lower = (isDeep ? -answer->upper : answer->lower) - depth->radius - query->slack;
    s->upper = upper;
    s->pointA = rbAddScaled(near->a, pair->radiusMesh, u);
    s->pointB = rbAddScaled(near->b, -query->core->radius, u);
    s->faceA = rbGetMeshFace(pair->mesh, near->triangle);
    if (s->lower > 0.0 || (s->upper > 0.0 && isExact)) {
        return;
    }
    // they overlap, or may: statements about the depth must be proven
    bool isSearched = s->reason != RB_STOP_BUDGET && s->upper <= 0.0;
    if (!isSearched || !arePartedAt(depth, u, -s->distance)) {
        Displacement displacement =
            findDisplacement(depth, u, isSearched ? -2.0 * s->distance : INFINITY);
        s->lower = fmin(s->lower, -displacement.length - depth->slack);
        s->reason = isSearched ? RB_STOP_ESTIMATE : s->reason;
    }
}

void rbMeasureMeshConvex(const rbMeshConvex* pair, rbSeparation* separation)
{
    rbConvex core;
    Depth depth = {.pair = pair, .query = makeQuery(pair, &core)};
    rbMeshQuery* query = &depth.query;
    depth.radius = core.radius + pair->radiusMesh;
    depth.middle = rbAdd(rbMulMV(query->rotation, query->middle), query->translation);
    query->relativeError = pair->relativeTolerance;
    query->budget = pair->budget > 0 ? pair->budget : -1;
    if (pair->cache != NULL) {
        query->hint = pair->cache->direction;
        query->guess = pair->cache->vertexB[0] - 1;
    }
    depth.slack = MOVE_UNITS * query->slack;
    rbMeshAnswer answer = rbSearchMesh(query);
    const rbMeshNear* near = &answer.nearest;
    if (answer.stop == RB_MESH_DONE && query->relativeError > 0.0 &&
        answer.lower <= depth.radius + depth.slack) {
        // rough bounds do not decide whether they overlap
        query->relativeError = 0.0;
        query->hint = near->normal;
        query->guess = near->triangle;
        answer = rbSearchMesh(query);
    }
    *separation = (rbSeparation){.faceB = -1};
    RB_ASSERT(near->triangle >= 0);
    if (near->meets) {
        partTouching(&depth, near, separation);
    } else {
        setFromCore(&depth, &answer, separation);
    }
    separation->iterations = (int)(answer.tests < INT32_MAX ? answer.tests : INT32_MAX);
    if (pair->cache != NULL) {
        pair->cache->direction = near->meets ? RB_VEC3_ZERO : near->normal;
        pair->cache->vertexB[0] = near->triangle + 1;
        pair->cache->count = 0;
    }
    RB_ASSERT(separation->lower <= separation->upper);
}

bool rbTestMeshConvex(const rbMeshConvex* pair, double margin)
{
    RB_ASSERT(margin >= 0.0);
    rbConvex core;
    rbMeshQuery query = makeQuery(pair, &core);
    // cases undecided because of rounding count as contact
    double limit = margin + core.radius + pair->radiusMesh + 4.0 * query.slack;
    rbVec3 middle = rbAdd(rbMulMV(query.rotation, query.middle), query.translation);
    const rbBoxTree* tree = pair->mesh->polyhedron->tree;
    if (rbDistance(middle, tree->origin) > tree->radius + query.reach + limit) {
        return false;
    }
    query.limit = query.enough = limit;
    if (pair->cache != NULL) {
        query.hint = pair->cache->direction;
        query.guess = pair->cache->vertexB[0] - 1;
    }
    rbMeshAnswer answer = rbSearchMesh(&query);
    if (answer.nearest.triangle < 0) {
        return rbIsPointInMesh(pair->mesh, rbMeshQuery_GetPoint(&query));
    }
    if (pair->cache != NULL) {
        pair->cache->vertexB[0] = answer.nearest.triangle + 1;
        pair->cache->direction = answer.nearest.meets ? RB_VEC3_ZERO : answer.nearest.normal;
        pair->cache->count = 0;
    }
    return true;
}
