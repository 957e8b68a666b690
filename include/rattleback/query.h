/// @file
/// Questions to a world: what a ray meets, what a moving shape meets, what overlaps.
///
/// Bodies are where they are at the world's time, whatever the engine and the type of the body.
/// Every shape of a body counts on its own, planes and compounds too. In a periodic world bodies
/// count once, at the positions that rbBody_GetState returns; their images do not. Bodies that grow
/// (rbBodyDef.growth) are not known at their size of the day: UNSUPPORTED once they have grown.
///
/// A tree of boxes over the shapes is brought up to date by the first query after anything moved,
/// which costs time in proportion to the bodies; a query itself costs about the logarithm of them.
/// Nothing is allocated once the world had a query of its kind. Answers do not depend on the tree:
/// they are those of asking every shape in turn.
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

/// Which bodies count: those with (groups & their mask) and (their groups & mask), as bodies meet
/// each other, without one of them. Make it with rbDefaultQueryFilter.
typedef struct rbQueryFilter {
    uint32_t groups;  ///< what the query is; all bits
    uint32_t mask;    ///< what it looks for; all bits
    rbBodyId ignored; ///< null: none
} rbQueryFilter;

/// All bits, no body ignored.
RB_API rbQueryFilter rbDefaultQueryFilter(void);

/// What a ray or a moving shape meets.
typedef struct rbQueryHit {
    rbBodyId bodyId; ///< null: nothing is met
    int shapeIndex;  ///< of the body, for rbBody_GetShape
    int feature;     ///< of the shape, rays only, as in rbRayHit
    double fraction; ///< of the translation; of a ray its parameter t
    double distance; ///< m, along the ray or the translation
    rbVec3 point;    ///< m, world; of a moving shape at contact
    rbVec3 normal;   ///< unit, outward of the body that is met
    bool isInside;   ///< it started inside the body: fraction 0; see below
    bool isExact;    ///< false: within the tolerance of rbSweepShapes
} rbQueryHit;

/// The first point of a body along a ray; of several at one place that of the body made first. A
/// ray that starts inside a body meets it at once: isInside, at its origin, the normal against its
/// direction. One that starts on a surface and leads away from the body does not meet it there.
/// Surfaces and soups have two sides and no inside. INVALID for origins and directions that are not
/// finite, a direction of zero, and tMax that is negative or NaN.
RB_API rbStatus rbWorld_CastRay(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                                rbQueryHit* hit, rbError* error);

/// Is there anything along the ray? Ends at the first body found.
RB_API rbStatus rbWorld_TestRay(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                                bool* isHit, rbError* error);

/// Hits of the caller; count is that of all found, the nearest capacity of them are stored.
typedef struct rbQueryHitList {
    rbQueryHit* hits; ///< array of the caller
    int capacity;     ///< of hits
    int count;        ///< of all hits found
} rbQueryHitList;

/// All shapes along a ray, each once, where the ray meets it first; sorted by distance, then in the
/// order of bodies and shapes.
RB_API rbStatus rbWorld_CastRayAll(rbWorld* world, const rbRay* ray, const rbQueryFilter* filter,
                                   rbQueryHitList* list, rbError* error);

/// A shape that is translated.
typedef struct rbShapeCast {
    const rbGeometry* geometry; ///< borrowed; bounded: planes are UNSUPPORTED
    rbTransform transform;      ///< at the start; quaternion of length 1 within 1e-6
    rbVec3 translation;         ///< m; zero: meets only what it overlaps
    double tolerance;           ///< m, as of rbSweepShapes; 0: 1e-10 of the sizes
} rbShapeCast;

/// The first body that a moving shape meets (rbSweepShapes). Where it overlaps a body at the start
/// it is inside: point and normal are those of the shortest way out. A shape that touches a body
/// meets it if it comes nearer.
RB_API rbStatus rbWorld_CastShape(rbWorld* world, const rbShapeCast* cast,
                                  const rbQueryFilter* filter, rbQueryHit* hit, rbError* error);

/// Bodies of the caller; count is that of all found, the first capacity of them, in the order of
/// rbWorld_GetBodyIds, are stored.
typedef struct rbQueryBodyList {
    rbBodyId* bodyIds; ///< array of the caller
    int capacity;      ///< of bodyIds
    int count;         ///< of all bodies found
} rbQueryBodyList;

/// All bodies that overlap or touch a bounded shape, gaps up to 1e-9 of the sizes included
/// (rbTestOverlap).
RB_API rbStatus rbWorld_OverlapShape(rbWorld* world, const rbGeometry* geometry,
                                     rbTransform transform, const rbQueryFilter* filter,
                                     rbQueryBodyList* list, rbError* error);

/// All bodies with a shape whose bounding box (rbGeometry_GetBounds) overlaps or touches a box: a
/// quick first look. Planes count unless their half space misses the box.
RB_API rbStatus rbWorld_OverlapBounds(rbWorld* world, rbBounds bounds, const rbQueryFilter* filter,
                                      rbQueryBodyList* list, rbError* error);

/// Work of all queries so far.
typedef struct rbQueryCounts {
    int64_t queries;    ///< made so far
    int64_t boxTests;   ///< boxes of the tree looked at
    int64_t shapeTests; ///< shapes looked at
    int64_t updates;    ///< times the tree was brought up to date
    int64_t builds;     ///< of these: times it was rebuilt
} rbQueryCounts;

/// Work of all queries so far.
RB_API rbQueryCounts rbWorld_GetQueryCounts(const rbWorld* world);

#ifdef __cplusplus
}
#endif

#endif
