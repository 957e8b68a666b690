// The support mapping of a difference, inline: for the inner loops of the kernels in this
// directory. All other callers use rbCso_Support.
#pragma once

#include "collision/convex/convex.h"
#include "collision/geometry/polyhedron.h"

// The direction with its largest component of magnitude 1: squares neither overflow nor vanish.
rbVec3 rbBalanceDirection(rbVec3 direction);

// Points, segments and boxes have their corners at +- extents, numbered as those of a box.
static inline rbVec3 rbSupportExtents(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    rbVec3 extents = convex->extents;
    *vertex = convex->signMask & ((direction.x >= 0.0 ? 1 : 0) | (direction.y >= 0.0 ? 2 : 0) |
                                  (direction.z >= 0.0 ? 4 : 0));
    return rbMakeVec3(direction.x >= 0.0 ? extents.x : -extents.x,
                      direction.y >= 0.0 ? extents.y : -extents.y,
                      direction.z >= 0.0 ? extents.z : -extents.z);
}

static inline rbVec3 rbSupportCore(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    return convex->isExtents ? rbSupportExtents(convex, direction, vertex)
                             : convex->support(convex, direction, vertex);
}

// Combines the points of the cores.
static inline void rbMakeCsoPoint(const rbCso* cso, rbVec3 onA, rbVec3 onB, rbCsoPoint* point)
{
    rbVec3 b = rbAdd(rbMulMV(cso->rotation, onB), cso->translation);
    point->w = rbSub(onA, b);
    point->a = onA;
    point->b = b;
}

// rbCso_Support.
static inline void rbFindSupport(const rbCso* cso, rbVec3 direction, int hints[2],
                                 rbCsoPoint* point)
{
    RB_ASSERT(rbIsFinite3(direction));
    RB_ASSERT(direction.x != 0.0 || direction.y != 0.0 || direction.z != 0.0);
    const rbConvex* a = cso->a;
    const rbConvex* b = cso->b;
    if (cso->isExtents) {
        rbVec3 cornerA = rbSupportExtents(a, direction, &point->vertexA);
        rbVec3 cornerB =
            rbSupportExtents(b, rbNeg(rbMulMtV(cso->rotation, direction)), &point->vertexB);
        rbMakeCsoPoint(cso, cornerA, cornerB, point);
        return;
    }
    if (!a->isPolytope || !b->isPolytope) {
        direction = rbBalanceDirection(direction);
    }
    int vertexA = hints != NULL ? hints[0] : -1, vertexB = hints != NULL ? hints[1] : -1;
    rbVec3 onA = rbSupportCore(a, direction, &vertexA);
    rbVec3 onB = rbSupportCore(b, rbNeg(rbMulMtV(cso->rotation, direction)), &vertexB);
    rbMakeCsoPoint(cso, onA, onB, point);
    point->vertexA = vertexA;
    point->vertexB = vertexB;
    if (hints != NULL) {
        hints[0] = vertexA;
        hints[1] = vertexB;
    }
}

// A vertex of a plain polytope core that is high along a direction, mostly the highest one.
static inline rbVec3 rbGuessCore(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    if (convex->isExtents) {
        return rbSupportExtents(convex, direction, vertex);
    }
    if (convex->geometry == NULL) {
        return convex->support(convex, direction, vertex);
    }
    const rbSupportTable* table = convex->geometry->polyhedron->supports;
    *vertex = rbSupportTable_Guess(table, direction);
    return rbSupportTable_GetVertex(table, *vertex);
}

// A point of the difference that is high along a direction, for plain polytopes.
static inline void rbGuessSupport(const rbCso* cso, rbVec3 direction, rbCsoPoint* point)
{
    rbVec3 onA = rbGuessCore(cso->a, direction, &point->vertexA);
    rbVec3 onB = rbGuessCore(cso->b, rbNeg(rbMulMtV(cso->rotation, direction)), &point->vertexB);
    rbMakeCsoPoint(cso, onA, onB, point);
}

// Vertex of any polytope core by its index; false if there is none.
static inline bool rbFindVertex(const rbConvex* convex, int vertex, rbVec3* point)
{
    if (convex->isExtents) {
        *point = rbGetBoxCorner(convex->extents, vertex);
        return (unsigned)vertex < 8;
    }
    return rbConvex_FindVertex(convex, vertex, point);
}
