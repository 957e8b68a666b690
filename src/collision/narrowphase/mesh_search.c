// Branch and bound, depth first, the nearest child first.
//
// The bound of a box and the core is the gap along some direction, which never exceeds their
// distance. Three directions are tried, cheap ones first, until one proves that the box is farther
// away than the best known triangle: that of the best pair, along which the extent of the core is
// already known; that from the point of the box nearest to the center of the core; the normal of
// the box. Triangles are measured by GJK, or by closed forms against points and segments.
#include "collision/narrowphase/mesh_search.h"

#include "base/math/elementary.h"

#include <float.h>
#include <math.h>

// Pending slots: each step down leaves at most three.
#define STACK_MAX (3 * RB_BOX_DEPTH_MAX + RB_BOX_WIDTH)

// Rounding of distances relative to the scale: that of GJK.
#define ROUNDING_UNITS 16.0

// Unit vectors are shortened by this, so that gaps along them are never too large.
#define SHORT (1.0 - 4.0 * DBL_EPSILON)

// The sign of a normal is trusted if its product with a unit vector is at least this.
#define SIGN_MIN 1e-9

typedef struct Waiting {
    double bound; // m
    int slot;
} Waiting;

typedef struct Search Search;
typedef void MeasureFn(Search* search, int triangle, const rbVec3 corners[3], rbMeshNear* near);

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
    rbMeshList* list; // NULL: only the nearest is needed
    Waiting stack[STACK_MAX];
    int top;
    rbMeshAnswer answer;
};

rbMeshQuery rbMakeMeshQuery(const rbGeometry* mesh, const rbConvex* core, rbTransform transform)
{
    RB_ASSERT(mesh->polyhedron != NULL && mesh->polyhedron->tree != NULL);
    RB_ASSERT(core->plus == NULL && core->geometry != NULL);
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

double rbMeshQuery_FindLow(const rbMeshQuery* query, rbVec3 direction)
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

rbVec3 rbMeshQuery_GetPoint(const rbMeshQuery* query)
{
    const rbGeometry* geometry = query->core->geometry;
    bool isHull = geometry != NULL && geometry->type == RB_SHAPE_HULL;
    rbVec3 inside = isHull ? geometry->polyhedron->supports->center : RB_VEC3_ZERO;
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

static void measurePoint(Search* search, int triangle, const rbVec3 corners[3], rbMeshNear* near)
{
    (void)triangle;
    rbClosest closest = rbClosestOfPointTriangle(search->segment[0], corners);
    rbClosest flipped = {closest.b, closest.a, closest.squared, closest.partB, closest.partA};
    setNear(search, &flipped, near);
}

static void measureSegment(Search* search, int triangle, const rbVec3 corners[3], rbMeshNear* near)
{
    (void)triangle;
    double limit = search->best * search->best * (1.0 + 8.0 * DBL_EPSILON);
    rbClosest closest = rbClosestOfTriangles(corners, search->segment, limit);
    if (closest.squared < INFINITY) {
        setNear(search, &closest, near);
    }
}

static void measureCore(Search* search, int triangle, const rbVec3 corners[3], rbMeshNear* near)
{
    (void)triangle;
    // far from the bounding sphere of the core is far from the core
    rbVec3 c = search->middle;
    rbVec3 line = rbSub(c, rbClosestOfPointTriangle(c, corners).b);
    double apart = rbLength(line);
    double bound = apart - search->query->reach - search->query->slack;
    near->lower = fmax(bound, 0.0);
    if (bound >= search->best) {
        return;
    }
    for (int k = 0; k < 3; ++k) {
        search->triangle[k] = corners[k];
    }
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
    near->lower = gjk.lower;
    near->upper = gjk.upper;
    near->a = gjk.a;
    near->b = gjk.b;
    near->normal = gjk.normal;
    near->meets = gjk.overlaps;
    near->distance = gjk.overlaps ? 0.0 : rbDot(rbSub(gjk.b, gjk.a), gjk.normal);
    if (near->meets) {
        near->lower = 0.0;
    }
}

static void setHint(Search* search, rbVec3 direction)
{
    double length = rbLength(direction);
    if (length > DBL_MIN && isfinite(length)) {
        search->hint = rbScale(SHORT / length, direction);
        search->hintLow = rbMeshQuery_FindLow(search->query, search->hint) - search->query->slack;
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
    search->measure(search, triangle, corners, &near);
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
    if (isOver) {
        search->answer.stop = RB_MESH_ENOUGH;
    }
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
            best = fmax(best, rbMeshQuery_FindLow(query, u) - front);
        }
    }
    if (best < search->cut && !search->isPoint) {
        bool isAbove = rbDot(box.normal, rbSub(search->middle, box.center)) >= 0.0;
        rbVec3 u = isAbove ? box.normal : rbNeg(box.normal);
        double gap = rbMeshQuery_FindLow(query, u) - frontOf(&box, u) - query->slack;
        best = fmax(best, gap);
    }
    return fmax(best, 0.0);
}

// Opens a node: pushes its children, the nearest on top.
static void openNode(Search* search, int index)
{
    const rbBoxNode* node = &search->tree->nodes[index];
    const rbTiltedNode* tilted = &search->tree->tilted[index];
    int base = search->top;
    for (int i = 0; i < RB_BOX_WIDTH && node->child[i] != RB_BOX_EMPTY; ++i) {
        Waiting child = {boundBox(search, tilted, i), RB_BOX_WIDTH * index + i};
        if (child.bound >= search->cut) {
            search->left = fmin(search->left, child.bound);
            continue;
        }
        RB_ASSERT(search->top < STACK_MAX);
        int at = search->top++;
        for (; at > base && search->stack[at - 1].bound < child.bound; --at) {
            search->stack[at] = search->stack[at - 1];
        }
        search->stack[at] = child;
    }
}

// Measures a block; true if the search is over.
static bool testBlock(Search* search, int block)
{
    const rbMeshQuery* query = search->query;
    for (int i = 0; i < RB_BOX_WIDTH && search->tree->blocks[block].origins[i] >= 0; ++i) {
        if (query->budget >= 0 && search->answer.tests >= query->budget) {
            search->answer.stop = RB_MESH_BUDGET;
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
    search->stack[0] = (Waiting){0.0, 0};
    search->top = 1;
    while (search->top > 0) {
        Waiting next = search->stack[--search->top];
        if (next.bound >= search->cut) {
            search->left = fmin(search->left, next.bound);
            continue;
        }
        int child = rbBoxTree_GetChild(search->tree, next.slot);
        if (child >= 0) {
            openNode(search, child);
        } else if (testBlock(search, ~child)) {
            ++search->top; // its content is still unprocessed
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
    search->top = 0;
    search->answer = (rbMeshAnswer){.nearest = {.triangle = -1}, .stop = RB_MESH_DONE};
}

rbMeshAnswer rbSearchMesh(const rbMeshQuery* query)
{
    Search search;
    beginSearch(&search, query);
    bool hasGuess =
        query->guess >= 0 && query->guess < RB_BOX_WIDTH * search.tree->blockCount &&
        search.tree->blocks[query->guess / RB_BOX_WIDTH].origins[query->guess % RB_BOX_WIDTH] >= 0;
    if (!(hasGuess && query->budget != 0 && testTriangle(&search, query->guess))) {
        descend(&search);
    }
    rbMeshAnswer* answer = &search.answer;
    bool isFound = answer->nearest.triangle >= 0;
    answer->upper = isFound ? search.best : INFINITY;
    double lower = fmin(search.left, search.best);
    for (int i = 0; i < search.top; ++i) {
        lower = fmin(lower, search.stack[i].bound);
    }
    // a search that ended at the guess has not examined the rest
    answer->lower = answer->stop == RB_MESH_ENOUGH ? 0.0 : lower;
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

// Normal of the surface on the edge from one vertex to the other of a triangle, of any length.
static rbVec3 edgeNormal(const rbPolyhedron* p, int face, int v0, int v1)
{
    int count;
    const int* edges = rbPolyhedron_GetVertexEdges(p, v0, &count);
    for (int i = 0; i < count; ++i) {
        const rbEdge* e = &p->edges[edges[i]];
        if ((e->v0 == v0 && e->v1 == v1) || (e->v0 == v1 && e->v1 == v0)) {
            return rbAdd(p->normals[e->faceLeft], p->normals[e->faceRight]);
        }
    }
    return p->normals[face]; // a diagonal of a polygon
}

// Angle of a face at a vertex.
static double cornerAngle(const rbPolyhedron* p, int face, int vertex)
{
    int size = p->faceSizes[face];
    const int* loop = p->indices + p->faceStarts[face];
    for (int k = 0; k < size; ++k) {
        if (loop[k] == vertex) {
            rbVec3 here = p->vertices[vertex];
            rbVec3 next = rbSub(p->vertices[loop[(k + 1) % size]], here);
            rbVec3 last = rbSub(p->vertices[loop[(k + size - 1) % size]], here);
            double angle = rbAtan2(rbDot(p->normals[face], rbCross(next, last)), rbDot(next, last));
            return angle < 0.0 ? angle + 2.0 * RB_PI : angle;
        }
    }
    return 0.0;
}

static rbVec3 vertexNormal(const rbPolyhedron* p, int vertex)
{
    int count;
    const int* edges = rbPolyhedron_GetVertexEdges(p, vertex, &count);
    rbVec3 sum = RB_VEC3_ZERO;
    for (int i = 0; i < count; ++i) {
        // every face is reached through two of its edges
        const rbEdge* e = &p->edges[edges[i]];
        sum = rbAddScaled(sum, cornerAngle(p, e->faceLeft, vertex), p->normals[e->faceLeft]);
        sum = rbAddScaled(sum, cornerAngle(p, e->faceRight, vertex), p->normals[e->faceRight]);
    }
    return sum;
}

bool rbIsInMesh(const rbGeometry* mesh, rbVec3 point, rbVec3 nearest, int triangle)
{
    const rbPolyhedron* p = mesh->polyhedron;
    if (!mesh->isSolid || !rbIsInBounds(p, point)) {
        return false;
    }
    rbVec3 corners[3];
    rbGetMeshTriangle(mesh, triangle, corners);
    int origin = rbGetMeshOrigin(mesh, triangle);
    int face = p->faceOfTriangle[origin];
    rbFigurePart part = rbClosestOfPointTriangle(point, corners).partB;
    rbVec3 normal = p->normals[face];
    if (part.kind != RB_FIGURE_FACE && p->edges == NULL) {
        return rbGeometry_Contains(mesh, point);
    }
    if (part.kind == RB_FIGURE_EDGE) {
        const int* v = p->triangles[origin].v;
        normal = edgeNormal(p, face, v[part.index], v[(part.index + 1) % 3]);
    } else if (part.kind == RB_FIGURE_VERTEX) {
        normal = vertexNormal(p, p->triangles[origin].v[part.index]);
    }
    rbVec3 line = rbSub(point, nearest);
    double height = rbDot(normal, line);
    if (fabs(height) <= SIGN_MIN * rbLength(line) * rbLength(normal)) {
        return rbGeometry_Contains(mesh, point);
    }
    return height < 0.0;
}

bool rbIsPointInMesh(const rbGeometry* mesh, rbVec3 point)
{
    if (!mesh->isSolid || !rbIsInBounds(mesh->polyhedron, point)) {
        return false;
    }
    const rbVec3 origin = RB_VEC3_ZERO;
    rbConvex core;
    rbConvex_MakePoints(&origin, 1, 0.0, 0.0, &core);
    core.isExtents = true;
    rbMeshQuery query = {.mesh = mesh,
                         .core = &core,
                         .rotation = rbMatFromQuat(RB_QUAT_IDENTITY),
                         .translation = point,
                         .slack = ROUNDING_UNITS * DBL_EPSILON * (mesh->radius + rbLength(point)),
                         .limit = INFINITY,
                         .budget = -1,
                         .guess = -1};
    rbMeshAnswer answer = rbSearchMesh(&query);
    return answer.nearest.meets ||
           rbIsInMesh(mesh, point, answer.nearest.a, answer.nearest.triangle);
}
