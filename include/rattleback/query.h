/// @file
/// Queries of a world: what a ray hits, what a moving shape hits, what overlaps.
///
/// Bodies are at their poses at the world's time, for any engine and type of body. Every shape of a
/// body counts separately, including planes and compounds. In a periodic world bodies count once,
/// at the positions that rbBody_GetState returns; their images do not. Growing bodies
/// (rbBodyDef.growth) are UNSUPPORTED once they have grown.
///
/// The first query after anything moved updates a tree of boxes over the shapes, in time
/// proportional to the number of bodies; a query itself costs about the logarithm of it. After the
/// first query of each kind nothing is allocated. Answers do not depend on the tree: they are the
/// same as if every shape were tested in turn.
#ifndef RATTLEBACK_QUERY_H
#define RATTLEBACK_QUERY_H

#include <rattleback/base.h>
#include <rattleback/body.h>
#include <rattleback/shape.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Which bodies count: those with (groups & their mask) and (their groups & mask), as for
/// collisions, except one ignored body. Make it with rbDefaultQueryFilter.
typedef struct rbQueryFilter {
    uint32_t groups;  ///< categories of the query; all bits
    uint32_t mask;    ///< categories it looks for; all bits
    rbBodyId ignored; ///< null: none
} rbQueryFilter;

/// All bits, no body ignored.
RB_API rbQueryFilter rbDefaultQueryFilter(void);

/// What a ray or a moving shape hits.
typedef struct rbQueryHit {
    rbBodyId bodyId; ///< null: nothing is hit
    int shapeIndex;  ///< of the body, for rbBody_GetShape
    int feature;     ///< of the shape, as in rbRayHit; rays only
    double fraction; ///< of the translation; for a ray its parameter t
    double distance; ///< m, along the ray or the translation
    rbVec3 point;    ///< m, world; for a moving shape at contact
    rbVec3 normal;   ///< unit, outward of the body hit
    bool isInside;   ///< it started inside the body: fraction 0; see below
    bool isExact;    ///< false: within the tolerance of rbSweepShapes
} rbQueryHit;

/// The first point of a body along a ray; if several bodies share it, that of the body created
/// first. A ray that starts inside a body hits it at once: isInside, at its origin, the normal
/// against its direction. A ray that starts on a surface and points away from the body does not hit
/// it there. Surfaces and soups have two sides and no inside. INVALID for origins and directions
/// that are not finite, a zero direction, and tMax that is negative or NaN.
RB_API rbStatus rbWorld_CastRay(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                                rbQueryHit* hit, rbError* error);

/// Does the ray hit anything? Ends at the first body found.
RB_API rbStatus rbWorld_TestRay(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                                bool* isHit, rbError* error);

/// Hits in an array of the caller; count includes all found; the nearest capacity are stored.
typedef struct rbQueryHitList {
    rbQueryHit* hits; ///< owned by the caller
    int capacity;     ///< size of hits
    int count;        ///< number of hits found
} rbQueryHitList;

/// All shapes along a ray, each once, where the ray first hits it; sorted by distance, then in the
/// order of bodies and shapes.
RB_API rbStatus rbWorld_CastRayAll(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                                   rbQueryHitList* list, rbError* error);

/// A shape that is translated.
typedef struct rbShapeCast {
    const rbGeometry* geometry; ///< borrowed; bounded: planes are UNSUPPORTED
    rbTransform transform;      ///< at the start; quaternion of length 1 within 1e-6
    rbVec3 translation;         ///< m; zero: hits only what it overlaps
    double tolerance;           ///< m, as for rbSweepShapes; 0: 1e-10 of the sizes
} rbShapeCast;

/// The first body that a moving shape hits (rbSweepShapes). If it overlaps a body at the start, it
/// is inside: point and normal are those of the shortest separating translation. A shape that
/// touches a body hits it if it approaches.
RB_API rbStatus rbWorld_CastShape(rbWorld* world, const rbShapeCast* cast,
                                  const rbQueryFilter* filter, rbQueryHit* hit, rbError* error);

/// Bodies in an array of the caller; count includes all found; the first capacity of them, in the
/// order of rbWorld_GetBodyIds, are stored.
typedef struct rbQueryBodyList {
    rbBodyId* bodyIds; ///< owned by the caller
    int capacity;      ///< size of bodyIds
    int count;         ///< number of bodies found
} rbQueryBodyList;

/// All bodies that overlap or touch a bounded shape, gaps up to 1e-9 of the sizes included
/// (rbTestOverlap).
RB_API rbStatus rbWorld_OverlapShape(rbWorld* world, const rbGeometry* geometry,
                                     rbTransform transform, const rbQueryFilter* filter,
                                     rbQueryBodyList* list, rbError* error);

/// All bodies with a shape whose bounding box (rbGeometry_GetBounds) overlaps or touches a box: a
/// quick first test. Planes count unless their half space misses the box.
RB_API rbStatus rbWorld_OverlapBounds(rbWorld* world, rbBounds bounds, const rbQueryFilter* filter,
                                      rbQueryBodyList* list, rbError* error);

/// Work of all queries so far.
typedef struct rbQueryCounts {
    int64_t queries;    ///< made so far
    int64_t boxTests;   ///< boxes of the tree tested
    int64_t shapeTests; ///< shapes tested
    int64_t updates;    ///< times the tree was updated
    int64_t builds;     ///< of these: times it was rebuilt
} rbQueryCounts;

/// Work of all queries so far.
RB_API rbQueryCounts rbWorld_GetQueryCounts(const rbWorld* world);

#ifdef __cplusplus
}
#endif

#endif
