// Meshes against convex shapes and half spaces.
//
// The search for the nearest triangle: branch and bound, depth first, the nearest child first.
//
// The bound of a box and the core is the gap along some direction, which never exceeds their
// distance. Two directions are tried: that of the best pair, along which the extent of the core is
// already known, and that from the point of the box nearest to the center of the core. Triangles
// are measured by GJK, or by closed forms against points and segments.
//
// Signed distance between a mesh and a convex shape, from searches for the nearest triangle.
//
// Depth. Let p be the displacement of the convex shape along a unit vector u. A search at p proves
// that the bodies are separate there; if their distance is g, they are separate at p - g as well,
// so that a few searches find where they touch. The first p comes from the triangles in the core:
// the highest point of each along u, within the ball about the core, less the lowest point of the
// core.
#include "collision/narrowphase/mesh_convex.h"

#include "collision/narrowphase/collide.h"
#include "collision/narrowphase/manifold.h"

#include <float.h>
#include <math.h>

// --------------------------------------------------------------------------------------- search

typedef struct MeshAnswer {
    double lower, upper; // m; upper is INFINITY if no triangle is nearer than the limit
    rbMeshNear nearest;  // the triangle of upper
    rbStopReason stop;   // SURFACES: exact to rounding, CONVERGED: to the relative error, TOUCHES:
                         // a triangle is near enough or intersects the core, or BUDGET
    long long tests;     // triangles measured
} MeshAnswer;

// Rounding of distances relative to the scale: that of GJK.
#define ROUNDING_UNITS 16.0

// Unit vectors are shortened by this, so that gaps along them are never too large.
#define SHORT (1.0 - 4.0 * DBL_EPSILON)

// The sign of a normal is trusted if its product with a unit vector is at least this.
#define SIGN_MIN 1e-9

typedef struct Search Search;
typedef void MeasureFn(Search* search, const rbVec3 corners[3], rbMeshNear* near);

struct Search {
    const rbMeshQuery* query;
    const rbBoxTree* tree;
    MeasureFn* measure;
    bool isPoint;
    rbVec3 segment[3];  // m, the core if it is a point or a segment, as a flat triangle
    rbVec3 middle;      // m, center of the bounding sphere of the core
    rbVec3 shift;       // m, origin of the tree
    rbVec3 triangle[3]; // the core of one
    rbConvex triangleCore;
    rbCso cso;   // triangle and core
    double best; // m, upper bound of the result so far
    double cut;  // m, farther triangles are skipped
    double left; // m, least bound of the skipped parts
    rbVec3 hint; // at most unit
    double hintLow;
    rbMeshList* list;    // NULL: only the nearest is needed
    rbTreeTasks waiting; // keys are bounds, m, children slots
    MeshAnswer answer;
};

rbMeshQuery rbMakeMeshQuery(const rbGeometry* mesh, const rbConvex* core, rbTransform transform)
{
    RB_ASSERT(mesh->polyhedron != NULL && mesh->polyhedron->tree != NULL);
    RB_ASSERT(core->geometry != NULL);
    rbMeshQuery query = {.mesh = mesh,
                         .core = core,
                         .rotation = rbMatFromQuat(transform.q),
                         .translation = transform.p,
                         .reach = core->size,
                         .limit = INFINITY,
                         .budget = -1,
                         .guess = -1};
    if (core->geometry->type == RB_SHAPE_HULL) { // its origin may be anywhere
        const rbPolyhedron* p = core->geometry->polyhedron;
        double half = 0.5 * rbDistance(p->upper, p->lower) * (1.0 + 4.0 * DBL_EPSILON);
        if (half < query.reach) {
            query.reach = half;
            query.middle = rbScale(0.5, rbAdd(p->upper, p->lower));
        }
    }
    double scale = mesh->radius + core->size + rbLength(transform.p);
    query.slack = ROUNDING_UNITS * DBL_EPSILON * scale;
    return query;
}

// Least product of a vector with points of the core.
static double findLow(const rbMeshQuery* query, rbVec3 direction)
{
    const rbConvex* core = query->core;
    double shift = rbDot(direction, query->translation);
    rbVec3 d = rbNeg(rbMulMtV(query->rotation, direction));
    double largest = fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
    if (!(largest > DBL_MIN)) {
        return shift;
    }
    rbVec3 balanced = core->isPolytope ? d : rbScale(1.0 / largest, d);
    int vertex = -1;
    return shift - rbDot(d, core->support(core, balanced, &vertex));
}

// A point in the core.
static rbVec3 getPoint(const rbMeshQuery* query)
{
    const rbGeometry* geometry = query->core->geometry;
    rbVec3 inside =
        geometry->type == RB_SHAPE_HULL ? geometry->polyhedron->supports->center : RB_VEC3_ZERO;
    return rbAdd(rbMulMV(query->rotation, inside), query->translation);
}

// --------------------------------------------------------------------------------- one triangle

static void setNear(const Search* search, const rbClosest* closest, rbMeshNear* near)
{
    double slack = search->query->slack;
    double distance = sqrt(closest->squared);
    near->meets = distance <= slack;
    near->distance = distance;
    near->lower = near->meets ? 0.0 : distance - slack;
    near->upper = distance + slack;
    near->a = closest->a;
    near->b = closest->b;
    if (distance > 0.0) {
        near->normal = rbScale(1.0 / distance, rbSub(closest->b, closest->a));
    }
}

static void measurePoint(Search* search, const rbVec3 corners[3], rbMeshNear* near)
{
    rbClosest closest = rbClosestOfPointTriangle(search->segment[0], corners);
    rbClosest flipped = {closest.b, closest.a, closest.squared, closest.partB, closest.partA};
    setNear(search, &flipped, near);
}

static void measureSegment(Search* search, const rbVec3 corners[3], rbMeshNear* near)
{
    double limit = search->best * search->best * (1.0 + 8.0 * DBL_EPSILON);
    rbClosest closest = rbClosestOfTriangles(corners, search->segment, limit);
    if (closest.squared < INFINITY) {
        setNear(search, &closest, near);
    }
}

static void measureCore(Search* search, const rbVec3 corners[3], rbMeshNear* near)
{
    // far from the bounding sphere of the core is far from the core
    rbVec3 c = search->middle;
    rbVec3 line = rbSub(c, rbClosestOfPointTriangle(c, corners).b);
    double apart = rbLength(line);
    double bound = apart - search->query->reach - search->query->slack;
    near->lower = fmax(bound, 0.0);
    if (bound >= search->best) {
        return;
    }
    rbCopyElements(search->triangle, corners, 3, sizeof *corners);
    rbGjkSettings settings = rbDefaultGjkSettings();
    settings.distanceMax = search->best;
    rbGjkCache start = {.direction = apart > search->query->slack ? line : search->hint};
    rbGjkResult gjk;
    rbGjk_Solve(&search->cso, &settings, &start, &gjk);
    near->lower = gjk.lower;
    near->normal = gjk.normal;
    if (gjk.reason == RB_STOP_APART) {
        return;
    }
    rbGjk_Tighten(&search->cso, &settings, &gjk);
    near->upper = gjk.upper;
    near->a = gjk.a;
    near->b = gjk.b;
    near->normal = gjk.normal;
    near->meets = gjk.overlaps;
    near->distance = gjk.overlaps ? 0.0 : rbDot(rbSub(gjk.b, gjk.a), gjk.normal);
    near->lower = gjk.overlaps ? 0.0 : gjk.lower;
}

static void setHint(Search* search, rbVec3 direction)
{
    double length = rbLength(direction);
    if (length > DBL_MIN && isfinite(length)) {
        search->hint = rbScale(SHORT / length, direction);
        search->hintLow = findLow(search->query, search->hint) - search->query->slack;
    }
}

// Measures a triangle; true if the search is over.
static bool testTriangle(Search* search, int triangle)
{
    const rbMeshQuery* query = search->query;
    rbVec3 corners[3];
    rbGetMeshTriangle(query->mesh, triangle, corners);
    double front = fmax(rbDot(search->hint, corners[0]),
                        fmax(rbDot(search->hint, corners[1]), rbDot(search->hint, corners[2])));
    double bound = search->hintLow - front;
    if (bound >= search->cut) {
        search->left = fmin(search->left, bound);
        return false;
    }
    rbMeshList* list = search->list;
    if (list != NULL && list->visit != NULL && list->visit(list->context, triangle)) {
        return false;
    }
    ++search->answer.tests;
    rbMeshNear near = {.triangle = triangle, .upper = INFINITY, .lower = search->best};
    search->measure(search, corners, &near);
    search->left = fmin(search->left, near.lower);
    if (list != NULL) {
        if (near.upper < INFINITY && near.lower < search->cut) {
            if (list->count < list->capacity) {
                list->items[list->count] = near;
            }
            ++list->count;
        }
        return false;
    }
    if (near.upper < search->best) {
        search->best = near.upper;
        search->cut = near.upper * (1.0 - query->relativeError);
        search->answer.nearest = near;
        if (!near.meets) {
            setHint(search, near.normal);
        }
    } else if (search->answer.nearest.triangle < 0) {
        setHint(search, near.normal); // a direction that separates one triangle may separate others
    }
    bool isOver = near.meets || near.upper <= query->enough;
    search->answer.stop = isOver ? RB_STOP_TOUCHES : search->answer.stop;
    return isOver;
}

// ---------------------------------------------------------------------------------------- boxes

typedef struct Tilted {
    rbVec3 center; // m, in the frame of the mesh
    rbVec3 longAxis, wideAxis, normal;
    double thickness;
} Tilted;

// Largest product of a vector with points of a box.
static inline double frontOf(const Tilted* box, rbVec3 u)
{
    return rbDot(u, box->center) + fabs(rbDot(u, box->longAxis)) + fabs(rbDot(u, box->wideAxis)) +
           fabs(rbDot(u, box->normal)) * box->thickness;
}

static inline double clampTo(double x, double limit)
{
    return x > limit ? limit : (x < -limit ? -limit : x);
}

// From the point of a box nearest to a point, to that point; roughly.
static rbVec3 lineFrom(const Tilted* box, rbVec3 point)
{
    rbVec3 d = rbSub(point, box->center);
    double lengthX = rbLengthSquared(box->longAxis) + DBL_MIN;
    double lengthY = rbLengthSquared(box->wideAxis) + DBL_MIN;
    double x = clampTo(rbDot(d, box->longAxis), lengthX) / lengthX;
    double y = clampTo(rbDot(d, box->wideAxis), lengthY) / lengthY;
    double z = clampTo(rbDot(d, box->normal), box->thickness);
    d = rbAddScaled(d, -x, box->longAxis);
    d = rbAddScaled(d, -y, box->wideAxis);
    return rbAddScaled(d, -z, box->normal);
}

// Lower bound of the distance of a slot and the core; it need not be tight once it exceeds the cut.
static double boundBox(const Search* search, const rbTiltedNode* node, int place)
{
    const rbMeshQuery* query = search->query;
    const Tilted box = {rbAdd(rbPickLane(node->center, place), search->shift),
                        rbPickLane(node->longAxis, place), rbPickLane(node->wideAxis, place),
                        rbPickLane(node->normal, place), (double)node->thickness[place]};
    double best = search->hintLow - frontOf(&box, search->hint);
    if (best >= search->cut) {
        return best;
    }
    rbVec3 line = lineFrom(&box, search->middle);
    double length = rbLength(line);
    if (length > query->slack) {
        rbVec3 u = rbScale(SHORT / length, line);
        double front = frontOf(&box, u) + query->slack;
        best = fmax(best, rbDot(u, search->middle) - query->reach - front);
        if (best < search->cut && !search->isPoint) {
            best = fmax(best, findLow(query, u) - front);
        }
    }
    return fmax(best, 0.0);
}

// Opens a node: pushes its children, the nearest on top.
static void openNode(Search* search, int index)
{
    const rbBoxNode* node = &search->tree->nodes[index];
    const rbTiltedNode* tilted = &search->tree->tilted[index];
    int base = search->waiting.count;
    for (int i = 0; i < RB_BOX_WIDTH && node->child[i] != RB_BOX_EMPTY; ++i) {
        rbTreeTask child = {boundBox(search, tilted, i), RB_BOX_WIDTH * index + i};
        if (child.key >= search->cut) {
            search->left = fmin(search->left, child.key);
            continue;
        }
        rbTreeTasks_Add(&search->waiting, base, child);
    }
}

// Measures a block; true if the search is over.
static bool testBlock(Search* search, int block)
{
    const rbMeshQuery* query = search->query;
    rbPoll();
    for (int i = 0; i < RB_BOX_WIDTH && search->tree->blocks[block].origins[i] >= 0; ++i) {
        if (query->budget >= 0 && search->answer.tests >= query->budget) {
            search->answer.stop = RB_STOP_BUDGET;
            return true;
        }
        if (testTriangle(search, RB_BOX_WIDTH * block + i)) {
            return true;
        }
    }
    return false;
}

static void descend(Search* search)
{
    rbTreeTasks* waiting = &search->waiting;
    rbTreeTasks_Add(waiting, 0, (rbTreeTask){0.0, 0});
    while (waiting->count > 0) {
        rbTreeTask next = waiting->tasks[--waiting->count];
        if (next.key >= search->cut) {
            search->left = fmin(search->left, next.key);
            continue;
        }
        int child = rbBoxTree_GetChild(search->tree, next.child);
        if (child >= 0) {
            openNode(search, child);
        } else if (testBlock(search, ~child)) {
            ++waiting->count; // its content is still unprocessed
            return;
        }
    }
}

static void beginSearch(Search* search, const rbMeshQuery* query)
{
    const rbConvex* core = query->core;
    RB_ASSERT(query->limit >= 0.0 && query->relativeError >= 0.0);
    search->query = query;
    search->tree = query->mesh->polyhedron->tree;
    search->shift = search->tree->origin;
    search->middle = rbAdd(rbMulMV(query->rotation, query->middle), query->translation);
    search->isPoint = core->isExtents && core->signMask == 0;
    bool isSegment = core->isExtents && core->signMask == 4;
    search->measure = search->isPoint ? measurePoint : (isSegment ? measureSegment : measureCore);
    if (search->isPoint || isSegment) {
        rbVec3 half = rbMulMV(query->rotation, core->extents);
        search->segment[0] = rbSub(query->translation, half);
        search->segment[1] = search->segment[2] = rbAdd(query->translation, half);
    } else {
        // the corners of each triangle, one after another
        search->triangle[0] = search->triangle[1] = search->triangle[2] = RB_VEC3_ZERO;
        rbConvex_MakePoints(search->triangle, 3, query->mesh->radius, 0.0, &search->triangleCore);
        search->cso = (rbCso){&search->triangleCore,
                              core,
                              query->rotation,
                              query->translation,
                              query->slack / (ROUNDING_UNITS * DBL_EPSILON),
                              false};
    }
    search->best = search->cut = search->left = query->limit;
    search->hint = RB_VEC3_ZERO;
    search->hintLow = 0.0;
    setHint(search, query->hint);
    search->list = NULL;
    search->waiting.count = 0;
    search->answer =
        (MeshAnswer){.nearest = {.triangle = -1},
                     .stop = query->relativeError > 0.0 ? RB_STOP_CONVERGED : RB_STOP_SURFACES};
}

static MeshAnswer searchMesh(const rbMeshQuery* query)
{
    Search search;
    beginSearch(&search, query);
    bool hasGuess =
        query->guess >= 0 && query->guess < RB_BOX_WIDTH * search.tree->blockCount &&
        search.tree->blocks[query->guess / RB_BOX_WIDTH].origins[query->guess % RB_BOX_WIDTH] >= 0;
    if (!(hasGuess && query->budget != 0 && testTriangle(&search, query->guess))) {
        descend(&search);
    }
    MeshAnswer* answer = &search.answer;
    answer->upper = answer->nearest.triangle >= 0 ? search.best : INFINITY;
    double lower = fmin(search.left, search.best);
    for (int i = 0; i < search.waiting.count; ++i) {
        lower = fmin(lower, search.waiting.tasks[i].key);
    }
    // a search that ended at the guess has not examined the rest
    answer->lower = answer->stop == RB_STOP_TOUCHES ? 0.0 : lower;
    RB_ASSERT(answer->lower <= answer->upper);
    return *answer;
}

void rbCollectMesh(const rbMeshQuery* query, rbMeshList* list)
{
    RB_ASSERT(list->items != NULL && list->capacity > 0);
    RB_ASSERT(query->budget < 0);
    Search search;
    beginSearch(&search, query);
    search.list = list;
    list->count = 0;
    descend(&search);
}

// --------------------------------------------------------------------------------------- inside

bool rbIsInMesh(const rbGeometry* mesh, rbVec3 point, rbVec3 nearest, int triangle)
{
    const rbPolyhedron* p = mesh->polyhedron;
    if (!mesh->isSolid || !rbIsInBounds(p, point)) {
        return false;
    }
    rbVec3 corners[3];
    rbGetMeshTriangle(mesh, triangle, corners);
    rbVec3 line = rbSub(point, nearest);
    double height = rbDot(p->normals[rbGetMeshFace(mesh, triangle)], line);
    bool isFace = rbClosestOfPointTriangle(point, corners).partB.kind == RB_FIGURE_FACE;
    return !isFace || fabs(height) <= SIGN_MIN * rbLength(line) ? rbGeometry_Contains(mesh, point)
                                                                : height < 0.0;
}

double rbFindDepthInMesh(const rbGeometry* mesh, rbVec3 point)
{
    const rbGeometry ball = {.type = RB_SHAPE_SPHERE, .isSolid = true, .isBounded = true};
    rbConvex core = rbConvex_Of(&ball, 0.0);
    rbMeshQuery query = rbMakeMeshQuery(mesh, &core, (rbTransform){point, RB_QUAT_IDENTITY});
    MeshAnswer answer = searchMesh(&query);
    const rbMeshNear* near = &answer.nearest;
    return rbIsInMesh(mesh, point, near->a, near->triangle) ? answer.lower : -answer.upper;
}

// ------------------------------------------------------------------------------------- distance

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
    rbMeshNear touching; // nearest pair after this displacement; triangle -1: not found
} Displacement;

static rbMeshQuery makeQuery(const rbMeshConvex* pair, rbConvex* core)
{
    *core = rbConvex_Of(pair->convex, pair->radiusConvex);
    rbMeshQuery query = rbMakeMeshQuery(pair->mesh, core, pair->transform);
    query.slack += 4.0 * DBL_EPSILON * (core->radius + pair->radiusMesh);
    if (pair->cache != NULL) {
        query.hint = pair->cache->direction;
        query.guess = pair->cache->vertexB[0] - 1;
    }
    return query;
}

static void updateCache(const rbMeshConvex* pair, const rbMeshNear* nearest)
{
    if (pair->cache != NULL) {
        pair->cache->direction = nearest->meets ? RB_VEC3_ZERO : nearest->normal;
        pair->cache->vertexB[0] = nearest->triangle + 1;
        pair->cache->count = 0;
    }
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
        if (searchMesh(&query).nearest.triangle >= 0) {
            return false;
        }
    }
    return !rbGeometry_Contains(query.mesh, getPoint(&query));
}

// The displacement along a unit vector after which a plane separates the bounds of the mesh from
// the core.
static double findLast(const Depth* depth, rbVec3 u)
{
    const rbPolyhedron* p = depth->pair->mesh->polyhedron;
    rbVec3 middle = rbScale(0.5, rbAdd(p->upper, p->lower));
    rbVec3 half = rbScale(0.5, rbSub(p->upper, p->lower));
    double front = rbDot(u, middle) + rbDot(rbAbs3(u), half);
    return front - findLow(&depth->query, u) + depth->radius + depth->slack;
}

// The nearest points of the bodies after a displacement.
static void findTouching(const Depth* depth, Displacement* displacement)
{
    rbMeshQuery query = moveQuery(depth, displacement->direction, displacement->length);
    displacement->touching = searchMesh(&query).nearest;
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
        double needed = findLast(depth, u);
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
    double last = findLast(depth, direction);
    Displacement displacement = {.direction = direction, .length = fmax(last, 0.0)};
    double length = first + depth->slack;
    for (int i = 0; i < PART_TRIES && length < last; ++i) {
        rbMeshQuery query = moveQuery(depth, direction, length);
        MeshAnswer answer = searchMesh(&query);
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
            MeshAnswer back = searchMesh(&query);
            if (back.nearest.meets || back.lower - depth->radius < -depth->slack) {
                break;
            }
            length -= gap;
            answer = back;
            gap = answer.lower - depth->radius;
        }
        displacement.length = length;
        displacement.touching = answer.nearest;
        return displacement;
    }
    findTouching(depth, &displacement);
    return displacement;
}

// ------------------------------------------------------------------------- core in the surface

// Upper bound of the height along a unit vector of a triangle in the bounding sphere of the core.
static double findHeight(const Depth* depth, const rbVec3 corners[3], rbVec3 u)
{
    double highest = fmax(rbDot(u, corners[0]), fmax(rbDot(u, corners[1]), rbDot(u, corners[2])));
    rbVec3 area = rbCrossOfCorners(corners);
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
    double low = findLow(&depth->query, u);
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
        rbVec3 area = rbCrossOfCorners(corners);
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

// Distance, normal and points of bodies separated by a displacement; near: the result without it.
static void setDisplacement(const Depth* depth, const Displacement* displacement,
                            const rbMeshNear* near, rbSeparation* s)
{
    RB_ASSERT(isfinite(displacement->length) && displacement->length >= 0.0);
    bool hasTouching = displacement->touching.triangle >= 0;
    near = hasTouching ? &displacement->touching : near;
    double back = hasTouching ? -displacement->length : 0.0;
    rbVec3 n = hasTouching ? near->normal : displacement->direction;
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
    rbEpaResult epa = isPoint ? (rbEpaResult){.lower = 0.0, .normal = rbNeg(mean)}
                              : findCoreDepth(depth, touching, count);
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

// A core that does not touch the surface: the distance of the bodies follows from that of the core.
static void setFromCore(const Depth* depth, const MeshAnswer* answer, rbSeparation* s)
{
    const rbMeshConvex* pair = depth->pair;
    const rbMeshQuery* query = &depth->query;
    const rbMeshNear* near = &answer->nearest;
    s->reason = answer->stop;
    bool isExact = s->reason == RB_STOP_SURFACES;
    bool isDeep =
        isExact ? isInside(query, near) : rbGeometry_Contains(pair->mesh, getPoint(query));
    rbVec3 u = isDeep ? rbNeg(near->normal) : near->normal;
    double upper = (isDeep ? -answer->lower : answer->upper) - depth->radius + query->slack;
    if (isDeep && query->core->size > 0.0) {
        // all of it must pass through the surface
        double first = rbDot(u, near->a) - findLow(query, u) + depth->radius;
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

// ------------------------------------------------------------------------------------- shortest

// The triangles within reach of the moved core.
static bool collectPlanes(rbParting* parting, double reach)
{
    const Depth* depth = parting->context;
    rbMeshQuery query = depth->query;
    query.translation = rbAdd(query.translation, parting->translation);
    query.limit = reach + depth->radius;
    rbMeshList list = {.items = (rbMeshNear*)(parting->planes + parting->capacity),
                       .capacity = parting->capacity};
    rbCollectMesh(&query, &list);
    for (int i = 0; i < list.count && i < list.capacity; ++i) {
        rbVec3 n = list.items[i].normal, corners[3];
        rbGetMeshTriangle(query.mesh, list.items[i].triangle, corners);
        double front = fmax(rbDot(n, corners[0]), fmax(rbDot(n, corners[1]), rbDot(n, corners[2])));
        (void)rbParting_Add(parting, n, findLow(&query, n) - front - depth->radius);
    }
    return list.count <= list.capacity;
}

// From a separating translation to a local minimum of the length.
static void shorten(Depth* depth, rbSeparation* s)
{
    depth->query.relativeError = 0.0;
    depth->query.budget = -1;
    rbMeshQuery query = moveQuery(depth, s->normal, -s->lower);
    query.relativeError = 0.0;
    rbParting parting = {
        .collect = collectPlanes,
        .context = depth,
        .planes = (rbHalfSpace*)depth->pair->scratch,
        .capacity = (int)(sizeof(rbEpaScratch) / (sizeof(rbHalfSpace) + sizeof(rbMeshNear))),
        .size = query.mesh->radius + query.core->size + depth->radius,
        .translation = rbScale(-s->lower, s->normal)};
    rbParting_Shorten(&parting, searchMesh(&query).lower - depth->radius);
    double length = rbLength(parting.translation), upper = s->upper;
    Displacement best = {.direction = rbScale(1.0 / length, parting.translation), .length = length};
    if (length > depth->slack && length < -s->lower) {
        findTouching(depth, &best);
        setDisplacement(depth, &best, &best.touching, s);
        s->upper = upper;
        s->lower = fmin(s->lower, upper);
        s->distance = fmin(s->distance, upper);
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
    depth.slack = MOVE_UNITS * query->slack;
    MeshAnswer answer = searchMesh(query);
    const rbMeshNear* near = &answer.nearest;
    if (answer.stop == RB_STOP_CONVERGED && answer.lower <= depth.radius + depth.slack) {
        // rough bounds do not decide whether they overlap
        query->relativeError = 0.0;
        query->hint = near->normal;
        query->guess = near->triangle;
        answer = searchMesh(query);
    }
    *separation = (rbSeparation){.faceB = -1};
    RB_ASSERT(near->triangle >= 0);
    if (near->meets && pair->wish == RB_DEPTH_NONE) {
        separation->lower = -(pair->mesh->radius + pair->convex->radius +
                              rbLength(pair->transform.p) + depth.radius);
        separation->reason = RB_STOP_TOUCHES;
    } else if (near->meets) {
        partTouching(&depth, near, separation);
    } else {
        setFromCore(&depth, &answer, separation);
    }
    if (pair->wish == RB_DEPTH_SHORTEST && separation->reason == RB_STOP_ESTIMATE) {
        shorten(&depth, separation);
    }
    separation->iterations = (int)(answer.tests < INT32_MAX ? answer.tests : INT32_MAX);
    updateCache(pair, near);
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
    MeshAnswer answer = searchMesh(&query);
    if (answer.nearest.triangle < 0) {
        return rbGeometry_Contains(pair->mesh, getPoint(&query));
    }
    updateCache(pair, &answer.nearest);
    return true;
}

// ---------------------------------------------------------------------------------- half spaces

// A mesh over a half space: only its vertices matter, and the tree finds the low ones.

// Points waiting to be reduced.
#define POINTS_MAX 64
// Vertices closer to each other than this fraction of the size are merged.
#define SAME_POINT 1e-9

// Low vertices, for contacts.
typedef struct Sweep {
    const rbMeshConvex* pair;
    const rbSeparation* separation;
    rbVec3 up;  // unit, out of the half space
    double cut; // m, higher vertices are skipped
    rbManifold* manifold;
    rbManifoldPoint points[POINTS_MAX];
    int count;
} Sweep;

static void addPoint(Sweep* sweep, rbVec3 vertex, double height, int index)
{
    const rbSeparation* s = sweep->separation;
    double radius = sweep->pair->radiusMesh;
    vertex = rbAddScaled(vertex, radius, s->normal);
    double distance = s->distance + height - radius - rbDot(sweep->up, s->pointA);
    for (int i = 0; i < sweep->count; ++i) {
        if (rbDistance(sweep->points[i].pointA, vertex) <= SAME_POINT * sweep->pair->mesh->radius) {
            return;
        }
    }
    if (sweep->count == POINTS_MAX) {
        sweep->count = rbReduceRegion(sweep->points, sweep->count, 0.0, sweep->manifold);
    }
    sweep->points[sweep->count++] =
        (rbManifoldPoint){vertex, rbAddScaled(vertex, distance, s->normal), distance,
                          rbMakeFeatureId(RB_MEETING_VERTEX_A, index, 0)};
}

static void visitBlock(Sweep* sweep, const rbTriangleBlock* block)
{
    for (int i = 0; i < RB_BOX_WIDTH && block->origins[i] >= 0; ++i) {
        rbVec3 corners[3];
        rbTriangleBlock_Get(block, i, corners);
        const int* v = sweep->pair->mesh->polyhedron->triangles[block->origins[i]].v;
        for (int k = 0; k < 3; ++k) {
            double height = rbDot(sweep->up, corners[k]);
            if (height <= sweep->cut) {
                addPoint(sweep, corners[k], height, v[k]);
            }
        }
    }
}

void rbMeasureMeshPlane(const rbGeometry* mesh, const rbGeometry* plane, rbTransform transform,
                        rbSeparation* separation)
{
    RB_ASSERT(plane->type == RB_SHAPE_PLANE && mesh->polyhedron->tree != NULL);
    rbVec3 up = rbRotate(transform.q, plane->data.plane.normal);
    int face;
    rbVec3 lowest = rbPolyhedron_FindFarthest(mesh->polyhedron, rbNeg(up), &face);
    double distance = rbDot(up, rbSub(lowest, transform.p)) - plane->data.plane.offset;
    double scale = rbLength(lowest) + rbLength(transform.p) + fabs(plane->data.plane.offset);
    *separation = rbMakeClosedForm(distance, rbNeg(up), lowest, scale);
    separation->faceA = face;
    separation->faceB = -1;
}

void rbFindMeshPlaneContacts(const rbMeshConvex* pair, const rbSeparation* separation,
                             double threshold, rbManifold* manifold)
{
    rbVec3 up = rbNeg(separation->normal);
    *manifold = (rbManifold){
        .normal = separation->normal, .childA = separation->childA, .childB = separation->childB};
    Sweep sweep = {.pair = pair, .separation = separation, .up = up, .manifold = manifold};
    // the witness is a vertex: it comes first and is kept
    double base = rbDot(up, separation->pointA) + pair->radiusMesh;
    sweep.cut = base + fmax(threshold - separation->distance, 0.0);
    rbReachWalk walk;
    rbReachWalk_Start(&walk, pair->mesh->polyhedron->tree, separation->normal);
    const rbTriangleBlock* block;
    while ((block = rbReachWalk_Next(&walk, -sweep.cut)) != NULL) {
        visitBlock(&sweep, block);
    }
    (void)rbReduceRegion(sweep.points, sweep.count, 0.0, manifold);
}
