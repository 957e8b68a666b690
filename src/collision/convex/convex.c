// Support mappings of cores: one row a shape, then scaling, sums and the difference of two bodies.
//
// Directions come in with their largest component of magnitude 1, so that squares neither overflow
// nor vanish. Polytopes answer with vertices only (ties go to the first), which makes the kernels
// end after finitely many steps on them.
#include "collision/convex/convex.h"

#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"

#include <math.h>

// Hulls with more vertices are climbed along their edges instead of being searched through.
#define CLIMB_VERTICES 24

static rbVec3 supportPoint(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    (void)convex;
    (void)direction;
    *vertex = 0;
    return RB_VEC3_ZERO;
}

static rbVec3 supportSegment(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    double half = convex->geometry->data.capsule.halfLength;
    *vertex = direction.z >= 0.0 ? 1 : 0;
    return rbMakeVec3(0.0, 0.0, direction.z >= 0.0 ? half : -half);
}

static rbVec3 supportBox(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    rbVec3 half = convex->geometry->data.box.halfExtents;
    *vertex =
        (direction.x >= 0.0 ? 1 : 0) | (direction.y >= 0.0 ? 2 : 0) | (direction.z >= 0.0 ? 4 : 0);
    return rbMakeVec3(direction.x >= 0.0 ? half.x : -half.x, direction.y >= 0.0 ? half.y : -half.y,
                      direction.z >= 0.0 ? half.z : -half.z);
}

// Cylinders, cones and ellipsoids: their own row of the shape table.
static rbVec3 supportSmooth(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    *vertex = -1;
    return rbGetShapeOps(convex->geometry->type)->support(convex->geometry, direction);
}

static rbVec3 supportSearch(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    const rbPolyhedron* p = convex->geometry->polyhedron;
    int best = 0;
    double highest = rbDot(direction, p->vertices[0]);
    for (int i = 1; i < p->vertexCount; ++i) {
        double height = rbDot(direction, p->vertices[i]);
        if (height > highest) {
            highest = height;
            best = i;
        }
    }
    *vertex = best;
    return p->vertices[best];
}

// From the hint upwards; a convex polytope has no other summit, and only strict gain moves on.
static rbVec3 supportClimb(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    const rbPolyhedron* p = convex->geometry->polyhedron;
    int here = *vertex >= 0 && *vertex < p->vertexCount ? *vertex : 0;
    double highest = rbDot(direction, p->vertices[here]);
    for (int from = -1; from != here;) {
        from = here;
        int count;
        const int* edges = rbPolyhedron_GetVertexEdges(p, from, &count);
        for (int i = 0; i < count; ++i) {
            const rbEdge* edge = &p->edges[edges[i]];
            int other = edge->v0 == from ? edge->v1 : edge->v0;
            double height = rbDot(direction, p->vertices[other]);
            if (height > highest) {
                highest = height;
                here = other;
            }
        }
    }
    *vertex = here;
    return p->vertices[here];
}

typedef struct CoreRow {
    rbCoreSupportFn* support; // NULL: no convex core
    bool isPolytope;
} CoreRow;

static const CoreRow coreTable[RB_SHAPE_COUNT] = {
    [RB_SHAPE_SPHERE] = {supportPoint, true},    [RB_SHAPE_BOX] = {supportBox, true},
    [RB_SHAPE_CAPSULE] = {supportSegment, true}, [RB_SHAPE_CYLINDER] = {supportSmooth, false},
    [RB_SHAPE_CONE] = {supportSmooth, false},    [RB_SHAPE_ELLIPSOID] = {supportSmooth, false},
    [RB_SHAPE_HULL] = {supportSearch, true},
};

bool rbConvex_Make(const rbGeometry* geometry, double radius, rbConvex* convex)
{
    RB_ASSERT(geometry != NULL && radius >= 0.0);
    const CoreRow* row = &coreTable[geometry->type];
    if (row->support == NULL) {
        return false;
    }
    *convex = (rbConvex){.geometry = geometry,
                         .support = row->support,
                         .radius = radius,
                         .scale = {1.0, 1.0, 1.0},
                         .isPolytope = row->isPolytope};
    double outer = rbGeometry_GetRadius(geometry, RB_VEC3_ZERO);
    double own = geometry->type == RB_SHAPE_SPHERE    ? geometry->data.sphere.radius
                 : geometry->type == RB_SHAPE_CAPSULE ? geometry->data.capsule.radius
                                                      : 0.0;
    convex->radius += own;
    convex->size = outer - own;
    if (geometry->type == RB_SHAPE_HULL && geometry->polyhedron->vertexCount > CLIMB_VERTICES) {
        convex->support = supportClimb;
    }
    return true;
}

bool rbConvex_Scale(rbConvex* convex, rbVec3 scale)
{
    RB_ASSERT(scale.x > 0.0 && scale.y > 0.0 && scale.z > 0.0);
    bool isUniform = scale.x == scale.y && scale.y == scale.z;
    if (convex->radius > 0.0 && !isUniform) {
        return false;
    }
    convex->scale = rbMulEach(convex->scale, scale);
    convex->radius *= scale.x;
    convex->size *= fmax(scale.x, fmax(scale.y, scale.z));
    return true;
}

static double largestOf(rbVec3 v)
{
    return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
}

// Support of a core with its scale and summands: s(S A) along d is S s(A) along S d.
static rbVec3 supportOf(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    bool isPlain = convex->scale.x == 1.0 && convex->scale.y == 1.0 && convex->scale.z == 1.0;
    rbVec3 scaled = direction;
    if (!isPlain) {
        scaled = rbMulEach(convex->scale, direction);
        double largest = largestOf(scaled);
        scaled = rbMakeVec3(scaled.x / largest, scaled.y / largest, scaled.z / largest);
    }
    rbVec3 point = convex->support(convex, scaled, vertex);
    if (!isPlain) {
        point = rbMulEach(convex->scale, point);
    }
    // A sum of two polytopes has a vertex for each pair of vertices; its index is not kept.
    for (const rbConvex* part = convex->plus; part != NULL; part = part->plus) {
        int partVertex = -1;
        rbConvex alone = *part;
        alone.plus = NULL;
        point = rbAdd(point, supportOf(&alone, direction, &partVertex));
        *vertex = -1;
    }
    return point;
}

rbCso rbCso_Make(const rbConvex* a, const rbConvex* b, rbTransform transformBtoA)
{
    RB_ASSERT(rbIsFinite3(transformBtoA.p) && rbIsFiniteQuat(transformBtoA.q));
    rbCso cso = {
        .a = a, .b = b, .rotation = rbMatFromQuat(transformBtoA.q), .translation = transformBtoA.p};
    cso.scale = a->size + b->size + rbLength(transformBtoA.p);
    return cso;
}

rbCsoPoint rbCso_Support(const rbCso* cso, rbVec3 direction, int hints[2])
{
    RB_ASSERT(rbIsFinite3(direction));
    double largest = largestOf(direction);
    RB_ASSERT(largest > 0.0);
    double inverse = 1.0 / largest;
    rbVec3 d = isfinite(inverse) ? rbScale(inverse, direction)
                                 : rbMakeVec3(direction.x / largest, direction.y / largest,
                                              direction.z / largest);
    rbCsoPoint point = {.vertexA = hints != NULL ? hints[0] : -1,
                        .vertexB = hints != NULL ? hints[1] : -1};
    rbVec3 down = rbNeg(rbMulMtV(cso->rotation, d));
    point.a = supportOf(cso->a, d, &point.vertexA);
    rbVec3 b = supportOf(cso->b, down, &point.vertexB);
    point.b = rbAdd(rbMulMV(cso->rotation, b), cso->translation);
    point.w = rbSub(point.a, point.b);
    if (hints != NULL) {
        hints[0] = point.vertexA;
        hints[1] = point.vertexB;
    }
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
